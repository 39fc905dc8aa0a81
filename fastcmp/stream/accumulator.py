"""What all accumulators share: they merge, add, compare, pickle, save and load."""

from __future__ import annotations

import os
import reprlib
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core import render
from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import new_lock
from fastcmp.stream.saved_checks import require, saved_labels, saved_names

Arrays = dict[str, NDArray[Any]]

_KIND = FileKind(
    None,
    "a file of an accumulator of fastcmp.stream",
    "take another file, or count the samples of this one anew",
)


class Accumulator(ABC):
    """A state that grows by blocks of samples.

    A subclass says what its state consists of: a `State` whose fields declare how they
    merge and are saved, beside the options of its constructor. Two states merge where
    their settings agree.

    What changes is one attribute, replaced by one assignment while `_lock` is held:
    threads may update and merge at the same time, and readers need no lock.
    """

    #: Settings that `_join` brings together itself, so that they need not agree.
    _JOINED: ClassVar[frozenset[str]] = frozenset()
    _lock: AbstractContextManager[object]
    #: Replaced by one assignment, so that an interrupt never leaves half a block.
    _state: Any
    #: Keywords of the constructor, checked, by which an equal one is made.
    _options: dict[str, Any]
    #: Whether `_state` has names of models, which are saved with the options.
    _NAMED: ClassVar[bool] = True

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make the lock, which is never copied or saved."""
        made = super().__new__(cls)
        made._lock = new_lock()
        return made

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples that were counted."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...] | None:
        """The models by name; None while they are unknown."""

    def _settings(self) -> dict[str, Any]:
        """All that is no array: names, options and labels."""
        return {**({"names": self._state.names} if self._NAMED else {}), **self._options}

    def _arrays(self) -> Arrays:
        """Arrays of the state by name: themselves where possible, not copies."""
        arrays: Arrays = self._state.arrays()
        return arrays

    def _sizes(self, names: tuple[str, ...] | None) -> dict[str, int]:
        """Sizes by which the arrays of the state are declared."""
        return {"m": len(names or ())}

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """Accumulator of a state; the arrays become its own."""
        options = {name: value for name, value in settings.items() if name != "names"}
        if "classes" in options:
            options["classes"] = saved_labels(options, "classes")
        made = cls(**options)
        require(made._settings().keys() == settings.keys(), "settings are missing")
        others = {"names": saved_names(settings)} if cls._NAMED else {}
        sizes = made._sizes(others.get("names"))
        made._state = made._state.restore(arrays, sizes, **others)
        return made

    @abstractmethod
    def _check(self) -> None:
        """Refuse a state, read from a file, to which no samples can have led."""

    def _join(self, other: Self) -> None:
        """Add a state that fits."""
        state, theirs = self._state, other._state
        if not self._NAMED or None not in (state.names, theirs.names):
            self._state = state.plus(theirs)
        elif theirs.names is not None:
            self._state = other.copy()._state

    def merge(self, other: Self) -> Self:
        """Add what another accumulator has counted.

        Parameters
        ----------
        other : same type
            One with the same settings; it stays as it is.

        Returns
        -------
        same type
            This accumulator, which holds the samples of both now.

        Raises
        ------
        ValueError
            If their settings differ.
        TypeError
            If it is of another type.
        """
        if type(other) is not type(self):
            raise TypeError(
                f"a {type(self).__name__} merges with its own kind, got {type(other).__name__}"
            )
        # Its state as it is now: two threads that hold both locks could block forever.
        theirs = other._now()
        with self._lock:
            self._check_fit(theirs)
            self._join(theirs)
        return self

    def copy(self) -> Self:
        """Copy the state.

        Returns
        -------
        same type
            One that changes on its own.
        """
        now = self._now()
        arrays = {name: array.copy() for name, array in now._arrays().items()}
        return self._restore(now._settings(), arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, at once or not at all.

        Parameters
        ----------
        path : str or path
            The file. An older one is replaced when the new one is complete.

        Raises
        ------
        TypeError
            If a class is of a type that is not saved.
        OSError
            If it cannot be written.
        """
        now = self._now()
        write_state(path, type(self).__name__, now._settings(), now._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a state from a file.

        Parameters
        ----------
        path : str or path
            A file that `save` wrote.

        Returns
        -------
        same type
            What was saved.

        Raises
        ------
        ValueError
            If the file is damaged, foreign, or of another kind of accumulator.
        OSError
            If it cannot be read.
        """
        found = load(path)
        if not isinstance(found, cls):
            raise ValueError(  # noqa: TRY004  # the file is wrong, not the type
                f"{path} holds {type(found).__name__}, wanted {cls.__name__}"
            )
        return found

    def _now(self) -> Self:
        """Keep the state as it is now; other threads may replace it meanwhile."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def _check_fit(self, other: Self) -> None:
        mine, theirs = self._settings(), other._settings()
        for name, value in mine.items():
            if name not in self._JOINED and theirs[name] != value:
                raise ValueError(
                    f"{type(self).__name__} merge where {name} agrees, got "
                    f"{reprlib.repr(value)} and {reprlib.repr(theirs[name])}"
                )
        if self._NAMED:
            self._check_names(self.names, other.names)

    def _check_names(self, mine: tuple[str, ...] | None, theirs: tuple[str, ...] | None) -> None:
        """Refuse names of other models."""
        if mine is None or theirs is None or mine == theirs:
            return
        what = "names agree"
        if sorted(mine) == sorted(theirs):
            what = "names come in the same order (pass names= to both)"
        raise ValueError(
            f"{type(self).__name__} merge where {what}, got {mine[:3]} and {theirs[:3]}"
        )

    def __add__(self, other: Any) -> Self:
        """Merge into a new accumulator."""
        if type(other) is not type(self):
            return NotImplemented
        return self.copy().merge(other)

    def __radd__(self, other: Any) -> Self:
        """Let `sum` begin with 0."""
        if isinstance(other, int) and other == 0:
            return self.copy()
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        """Compare kind, settings and arrays."""
        if type(other) is not type(self):
            return NotImplemented
        one, two = self._now(), other._now()
        same = one._settings() == two._settings()
        return same and same_arrays(one._arrays(), two._arrays())

    def __copy__(self) -> Self:
        return self.copy()

    def __sizeof__(self) -> int:
        """Say what it takes: schedulers decide by it where to move what."""
        return object.__sizeof__(self) + int(getattr(self, "n_bytes", 0))

    def __reduce__(self) -> tuple[Any, ...]:
        now = self._now()
        return _rebuild, (type(self), now._settings(), now._arrays())

    def _title(self) -> str:
        n, m = self.n_samples, len(self.names or ())
        models = f" of {m} model{'s' * (m > 1)}" if m else ""
        return f"{type(self).__name__}: {n} sample{'s' * (n != 1)}{models}"

    def _sections(self) -> list[Section]:
        """Describe the state, as it is printed and as a notebook shows it."""
        return [Section(title=self._title())]

    def __repr__(self) -> str:
        return f"<{self._title()}>"

    def __str__(self) -> str:
        shown = render.shortened(self._now()._sections())
        return render.to_text(shown, render.terminal_width())

    def _repr_html_(self) -> str:
        return render.to_html(render.shortened(self._now()._sections()))


class BlockState(Protocol):
    """What the state of every accumulator of blocks holds."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The models by name; None before the first block, where none were given."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of samples counted, without a true label, and of other classes."""


class BlockCounts(Accumulator):
    """Counts of the samples of models, block by block."""

    _state: BlockState

    @property
    def names(self) -> tuple[str, ...] | None:
        """The models by name; None before the first block, where none were given."""
        return self._state.names

    @property
    def n_models(self) -> int:
        """Number of models, M; 0 before the first block, where none were given."""
        return len(self._state.names or ())

    @property
    def n_samples(self) -> int:
        """Number of samples that were counted."""
        return int(self._state.totals[0])

    @property
    def n_missing(self) -> int:
        """Number of samples dropped because the true label is missing."""
        return int(self._state.totals[1])

    @property
    def n_excluded(self) -> int:
        """Number of samples dropped because the true label is not a chosen class."""
        return int(sum(self._state.totals[2:]))

    def _sections(self) -> list[Section]:
        columns, rows = self._table()
        text = dropped_sentences(self.n_missing, self.n_excluded)
        table: dict[str, Any] = {"columns": columns, "rows": rows} if rows else {}
        return [Section(title=self._title(), text=text, **table)]

    @abstractmethod
    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Give what is shown of each model: names of columns, and rows."""


def accuracy_table(
    names: tuple[str, ...] | None, correct: NDArray[np.int64], n_samples: int
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Show how many samples each model got right."""
    pairs = zip(names or (), correct.tolist(), strict=True)
    return ("model", "right", "accuracy"), tuple(
        (name, str(right), f"{right / n_samples:.4f}" if n_samples else "-")
        for name, right in pairs
    )


def load(path: str | os.PathLike[str]) -> Accumulator:
    """Read an accumulator of any kind from a file.

    Parameters
    ----------
    path : str or path
        A file that an accumulator's ``save`` wrote.

    Returns
    -------
    Accumulator
        Of the kind that was saved, such as PairCounts or ValueMoments, and equal to it.
        It can be updated, merged and saved again.

    Raises
    ------
    ValueError
        If the file is damaged, holds something else, is of another version of the
        format, or holds counts to which no samples can have led.
    OSError
        If it cannot be read.

    Notes
    -----
    A file holds settings and numbers, and no code: one from an unknown source can be
    refused, but does no harm. No array is made larger than the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fastcmp import stream
    >>> counts = stream.PairCounts().update([0, 1], {"a": [0, 1], "b": [0, 0]})
    >>> with TemporaryDirectory() as folder:
    ...     counts.save(Path(folder, "part.counts"))
    ...     stream.load(Path(folder, "part.counts")) == counts
    True
    """
    kind, settings, arrays = read_state(path, _KIND)
    homes = map(import_module, ("fastcmp.stream", "fastcmp.sequential"))
    found = next((getattr(x, kind) for x in homes if kind in x.__all__), None)
    if not isinstance(found, type) or not issubclass(found, Accumulator):
        raise ValueError(f"{path} holds {kind}, which this fastcmp does not know")  # noqa: TRY004
    try:
        state = found._restore(settings, arrays)
        state._check()
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise ValueError(f"{path} holds no valid {kind}: {error}") from error
    return state


def same_arrays(one: Arrays, two: Arrays) -> bool:
    """Compare names, types and entries."""
    return one.keys() == two.keys() and all(
        array.dtype == two[name].dtype and np.array_equal(array, two[name])
        for name, array in one.items()
    )


def _rebuild(kind: type[Accumulator], settings: dict[str, Any], arrays: Arrays) -> Any:
    """Unpickle; a buffer that was pickled apart may be read-only."""
    own = {name: array if array.flags.writeable else array.copy() for name, array in arrays.items()}
    return kind._restore(settings, own)
