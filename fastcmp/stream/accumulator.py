"""What all accumulators share: they merge, add, compare, pickle, save and load."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from fastcmp.core import render
from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import new_lock

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]


_KIND = FileKind(
    None,
    "a file of an accumulator of fastcmp.stream",
    "take another file, or count the samples of this one anew",
)


class Accumulator(ABC):
    """A state that grows by blocks of samples.

    A subclass says what its state consists of: `_settings`, `_arrays` and `_restore`.
    Two states merge where their settings agree.

    What changes is one attribute, replaced by one assignment while `_lock` is held:
    threads may update and merge at the same time, and readers need no lock.
    """

    #: Settings that `_join` brings together itself, so that they need not agree.
    _JOINED: ClassVar[frozenset[str]] = frozenset()
    _lock: AbstractContextManager[object]

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

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Give all that is no array: names, options and labels."""

    @abstractmethod
    def _arrays(self) -> Arrays:
        """Give the arrays of the state by name: themselves, not copies."""

    @classmethod
    @abstractmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """Make an accumulator of a state; the arrays become its own."""

    @abstractmethod
    def _check(self) -> None:
        """Refuse a state, read from a file, to which no samples can have led."""

    @abstractmethod
    def _join(self, other: Self) -> None:
        """Add a state that fits."""

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
            message = (
                f"a {type(self).__name__} merges with its own kind, got {type(other).__name__}"
            )
            raise TypeError(message)
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
            message = f"{path} holds {type(found).__name__}, wanted {cls.__name__}"
            raise ValueError(message)  # noqa: TRY004  # the file is wrong, not the type
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
                message = (
                    f"{type(self).__name__} merge where {name} agrees, got "
                    f"{reprlib.repr(value)} and {reprlib.repr(theirs[name])}"
                )
                raise ValueError(message)

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

    #: Replaced by one assignment, so that an interrupt never leaves half a block.
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
        message = f"{path} holds {kind}, which this fastcmp does not know"
        raise ValueError(message)  # noqa: TRY004  # the file is wrong, not the type
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
        message = f"{path} holds no valid {kind}: {error}"
        raise ValueError(message) from error
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
