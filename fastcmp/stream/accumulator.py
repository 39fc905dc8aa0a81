"""What all accumulators share: they merge, add, compare, pickle, save and load."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.threads import new_lock

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager

    from numpy.typing import DTypeLike, NDArray

    Arrays = dict[str, NDArray[Any]]


_KIND = FileKind(
    None,
    "a file of an accumulator of fastcmp.stream",
    "take another file, or count the samples of this one anew",
)


class Accumulator(ABC):
    """A state that grows by blocks of samples.

    A subclass says what its state consists of: `_settings`, `_arrays` and `_restore`.
    By default two states merge where their settings agree, and their arrays are added.

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

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Tell all that is no array: names, options and labels."""

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

    def merge(self, other: Self) -> Self:
        """Add what another accumulator has counted.

        Parameters
        ----------
        other : same type
            One with the same settings; it stays as it is.

        Returns
        -------
        same type
            This accumulator, which has changed.

        Raises
        ------
        ValueError
            If their settings differ.
        TypeError
            If it is of another type.
        """
        if type(other) is not type(self):
            message = (
                f"a {type(self).__name__} merges with its own kind, got "
                f"{type(other).__name__}"
            )
            raise TypeError(message)
        # As it is now: two locks held together might wait for each other for ever.
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
        """Hold on to the state, which other threads may replace meanwhile."""
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

    def _join(self, other: Self) -> None:
        """Add a state that fits."""
        theirs = other._arrays()
        for name, mine in self._arrays().items():
            np.add(mine, theirs[name], out=mine)

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
        """Tell whether kind, settings and arrays are the same."""
        if type(other) is not type(self):
            return NotImplemented
        one, two = self._now(), other._now()
        mine, theirs = one._arrays(), two._arrays()
        return (
            one._settings() == two._settings()
            and mine.keys() == theirs.keys()
            and all(_same(array, theirs[name]) for name, array in mine.items())
        )

    def __copy__(self) -> Self:
        return self.copy()

    def __sizeof__(self) -> int:
        """Tell schedulers what it takes, so that they know what moving it costs."""
        return object.__sizeof__(self) + int(getattr(self, "n_bytes", 0))

    def __reduce__(self) -> tuple[Any, ...]:
        now = self._now()
        return _rebuild, (type(self), now._settings(), now._arrays())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n_samples} samples>"


class BlockState(Protocol):
    """What the state of an accumulator of blocks holds, beside its counts."""

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


def load(path: str | os.PathLike[str]) -> Accumulator:
    """Read an accumulator of any kind from a file.

    Parameters
    ----------
    path : str or path
        A file that ``save`` wrote.

    Returns
    -------
    Accumulator
        Of the kind that was saved.

    Raises
    ------
    ValueError
        If the file is damaged, foreign, or of another version of the format.
    OSError
        If it cannot be read.

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
    return restored(path, *read_state(path, _KIND))


def restored(
    path: str | os.PathLike[str], kind: str, settings: dict[str, Any], arrays: Arrays
) -> Accumulator:
    """Make an accumulator of what a file held, if samples can have led to it.

    Parameters
    ----------
    path : str or path
        The file.
    kind : str
        Name of the accumulator.
    settings, arrays : dict
        Its state.

    Returns
    -------
    Accumulator
        Of that kind.

    Raises
    ------
    ValueError
        If a part of the state is missing, of another form, or impossible.
    """
    home = import_module("fastcmp.stream")
    if kind not in home.__all__ or kind in {"ScoreMap", "load"}:
        message = f"{path} holds {kind}, which this fastcmp does not know"
        raise ValueError(message)
    try:
        state: Accumulator = getattr(home, kind)._restore(settings, arrays)
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


def stored(
    arrays: Arrays, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.int64
) -> NDArray[Any]:
    """Take one array of a saved state, of the form that it must have.

    Parameters
    ----------
    arrays : dict
        All arrays by name.
    name : str
        The one that is wanted.
    shape : tuple of int
        Its shape.
    dtype : dtype
        Its type.

    Returns
    -------
    ndarray
        The array, in the byte order of this machine.

    Raises
    ------
    ValueError
        If it is missing, or of another form.
    """
    wanted = np.dtype(dtype)
    array = arrays.get(name)
    if array is None:
        message = f"{name} is missing"
        raise ValueError(message)
    if array.shape != shape or array.dtype.newbyteorder("=") != wanted:
        message = (
            f"{name} must be {wanted} of shape {shape}, got {array.dtype} of shape "
            f"{array.shape}"
        )
        raise ValueError(message)
    return np.asarray(array, wanted)


def _rebuild(kind: type[Accumulator], settings: dict[str, Any], arrays: Arrays) -> Any:
    """Unpickle; a buffer that came by itself may not be written to."""
    own = {
        name: array if array.flags.writeable else array.copy()
        for name, array in arrays.items()
    }
    return kind._restore(settings, own)


def _same(one: NDArray[Any], two: NDArray[Any]) -> bool:
    return one.dtype == two.dtype and np.array_equal(one, two)
