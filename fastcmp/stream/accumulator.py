"""What all accumulators share: they merge, add, compare, pickle, save and load.

A file may have a right checksum and have been written by something else. Names, labels
and counts are checked one by one, and arrays are never made larger than the file.
"""

from __future__ import annotations

import os
import reprlib
from abc import ABC
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastcmp._lazy import public_class
from fastcmp.core import render
from fastcmp.core.checks import LARGEST_COUNT, as_whole
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import new_lock
from fastcmp.core.typing import Classes, Ints, Numbers
from fastcmp.inputs.columns import is_missing
from fastcmp.inputs.labels import encode

Arrays = dict[str, NDArray[Any]]


def check_names(names: int | Sequence[str] | None) -> tuple[str, ...] | None:
    """Read the names that models shall have, or their number; None for unknown ones."""
    if names is None:
        return None
    if isinstance(names, Integral) and not isinstance(names, bool):
        return tuple(f"model_{i}" for i in range(as_whole(names, "names", 1)))
    needed = "`names` must be a number of models or a sequence of different strings"
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise BadTypeError(needed, repr(names))
    listed = tuple(names)
    if bad := [name for name in listed if not isinstance(name, str)]:
        raise BadTypeError(needed, repr(bad[0]))
    if not listed or len(set(listed)) < len(listed):
        twice = sorted(name for name, n in Counter(listed).items() if n > 1)[:10]
        raise BadValueError(needed, f"{twice} more than once" if twice else "none")
    return tuple(map(str, listed))  # np.str_ would not be saved as a string


def check_classes(classes: Classes | None, missing: str | None) -> tuple[Any, ...] | None:
    """Check these options of `encode` before the first block comes."""
    encode([], [[]], classes=classes, missing=missing, least=0)
    return None if classes is None else tuple(classes)


# Arrays of states: how they add up, and what they must be like when read from a file.


def require(condition: object, message: str) -> None:
    """Refuse a state with a ValueError where a condition does not hold."""
    if not condition:
        raise ValueError(message)


def stored(
    arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...], dtype: DTypeLike = np.int64
) -> NDArray[Any]:
    """One array of a saved state, of the shape and type that it must have."""
    needed = np.dtype(dtype)
    array = arrays.get(name)
    if array is None:
        raise BadValueError(f"`{name}` is missing")
    if array.shape != shape or array.dtype.newbyteorder("=") != needed:
        raise BadValueError(
            f"`{name}` must be {needed} of shape {shape}", f"{array.dtype} of shape {array.shape}"
        )
    return np.asarray(array, needed)


def saved_names(settings: dict[str, Any], key: str = "names") -> tuple[str, ...] | None:
    """Read the names of models: different ones, or None."""
    names = settings[key]
    wrong = f"{key} must be different names or None, got {reprlib.repr(names)}"
    require(names is None or isinstance(names, tuple), wrong)
    return check_names(names)


def saved_labels(settings: dict[str, Any], key: str) -> tuple[Any, ...] | None:
    """Read labels of classes: different ones, or None."""
    labels: tuple[Any, ...] | None = settings[key]
    wrong = f"{key} must be different labels or None, got {reprlib.repr(labels)}"
    require(labels is None or isinstance(labels, tuple), wrong)
    if labels is not None:
        require(len(set(labels)) == len(labels), wrong)
        require(not any(map(is_missing, labels)), wrong)
    return labels


def check_totals(totals: Ints, *, begun: bool) -> None:
    """Refuse impossible numbers of samples; before the first block there are none."""
    sizes = totals.tolist()
    possible = min(sizes) >= 0 and sum(sizes) <= (LARGEST_COUNT if begun else 0)
    require(possible, f"totals must be numbers of samples, got {sizes}")


def check_within(counts: Ints, low: Numbers, high: Numbers, name: str = "counts") -> None:
    """Refuse counts outside of their bounds."""
    possible = np.all((counts >= low) & (counts <= high))
    require(possible, f"{name} must be numbers of samples that fit the others")


# A state declares of each field how it merges; how it is saved, checked and read follows.


class Setting(NamedTuple):
    """A field that is not an array."""

    #: "agree": it must be the same in parts that merge; "first": the same, or None before
    #: the first block; "joined": what `State.plus` makes of both.
    merge: str
    #: Reads it from the settings of a file, by its name.
    read: Callable[[dict[str, Any], str], Any]


NAMES = Setting("first", saved_names)
LABELS = Setting("joined", lambda settings, key: saved_labels(settings, key) or ())
FIXED = Setting("agree", lambda settings, key: settings[key])


class Declared(NamedTuple):
    """An array of a state."""

    #: "sum" of the parts; "looks", which only one of the parts may have; "custom", which
    #: the `plus` of the class merges.
    merge: str
    #: Length of each axis: a number, the name of a size, or None for any.
    shape: tuple[int | str | None, ...]
    dtype: Any = np.int64
    #: How it is saved: "array"; "bits" of booleans; "upper" or "symmetric", the upper
    #: triangle of the last two axes.
    form: str = "array"

    def lengths(self, sizes: dict[str, int], anything: int = 0) -> tuple[int, ...]:
        """Length of each axis; of an axis of any length `anything`."""
        return tuple(
            anything if x is None else sizes[x] if isinstance(x, str) else x for x in self.shape
        )


def summed(*shape: int | str | None, dtype: object = np.int64, form: str = "array") -> Declared:
    """Declare an array that is the sum of those of the parts."""
    return Declared("sum", shape, dtype, form)


def custom(*shape: int | str | None, dtype: object = np.int64, form: str = "array") -> Declared:
    """Declare an array that the class merges itself."""
    return Declared("custom", shape, dtype, form)


def looks(*shape: int | str | None, dtype: object = np.int64) -> Declared:
    """Declare what looks have found, which does not merge."""
    return Declared("looks", shape, dtype)


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Fields that one assignment replaces, so that an interrupt never leaves half a block.

    Each is annotated with how it merges. Arrays are never changed in place.
    """

    _declared: ClassVar[dict[str, Declared]]
    _set: ClassVar[dict[str, Setting]]
    #: None before the first block, where no models were named.
    names: tuple[str, ...] | None = None

    def __init_subclass__(cls) -> None:
        """Read the annotations, once a class."""
        hints = get_type_hints(cls, include_extras=True).items()
        notes = {name: x.__metadata__[0] for name, x in hints if hasattr(x, "__metadata__")}
        cls._declared = {name: x for name, x in notes.items() if isinstance(x, Declared)}
        cls._set = {name: x for name, x in notes.items() if isinstance(x, Setting)}

    @classmethod
    def begin(cls, sizes: dict[str, Any], **others: Any) -> Self:
        """State without samples, whose axes have these sizes."""
        zeros = {
            name: np.zeros(declared.lengths(sizes), declared.dtype)
            for name, declared in cls._declared.items()
        }
        return cls(**others | zeros)

    def check_fit(self, other: Self, kind: str) -> None:
        """Refuse a state that accumulators of a kind may not merge with this one."""
        for name, setting in self._set.items():
            mine, theirs = getattr(self, name), getattr(other, name)
            may_be_absent = setting.merge == "first" and None in (mine, theirs)
            if setting.merge == "joined" or may_be_absent or mine == theirs:
                continue
            what = f"{name} agree{'' if name.endswith('s') else 's'}"
            if name == "names" and sorted(mine) == sorted(theirs):
                what = "names come in the same order (pass names= to both)"
            got = f"{reprlib.repr(mine)} and {reprlib.repr(theirs)}"
            raise ValueError(f"{kind} merge where {what}, got {got}")
        if any(x.merge == "looks" and len(getattr(other, k)) for k, x in self._declared.items()):
            raise ValueError(
                f"{kind} merge before the other one has looked: merge first, and look at their sum"
            )

    def merged(self, other: Self) -> Self:
        """State of both parts, which fit; one without models has no samples."""
        if (self.names is None) != (other.names is None):
            return other if self.names is None else self
        return self.plus(other)

    def plus(self, other: Self) -> Self:
        """State of both parts, of the same models; commutes to the bit but for looks."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name, declared in self._declared.items()
            if declared.merge == "sum"
        }
        return replace(self, **sums)

    @property
    def n_bytes(self) -> int:
        """Memory that the arrays take."""
        return sum(int(getattr(self, name).nbytes) for name in self._declared)

    def settings(self) -> dict[str, Any]:
        """Settings: all that is not an array, by name."""
        return {name: getattr(self, name) for name in self._set}

    def arrays(self) -> Arrays:
        """Arrays by name, in the form in which they are saved: themselves where possible."""
        arrays = {}
        for name, declared in self._declared.items():
            array = getattr(self, name)
            if declared.form == "bits":
                array = np.packbits(array)
            elif declared.form != "array":
                rows = [array[..., i, i:] for i in range(array.shape[-1])]
                none = np.zeros((*array.shape[:-2], 0), array.dtype)
                array = np.concatenate([none, *rows], axis=-1)
            arrays[name] = array
        return arrays

    @classmethod
    def restore(cls, values: dict[str, Any], arrays: Arrays, sizes: dict[str, Any]) -> Self:
        """State of settings that were read, and of saved arrays, which become its own."""
        state = dict(values)
        for name, declared in cls._declared.items():
            saved = arrays.get(name)
            anything = len(saved) if saved is not None and saved.ndim else 0
            shape, dtype = declared.lengths(sizes, anything), declared.dtype
            if declared.form == "array":
                state[name] = stored(arrays, name, shape, dtype)
            elif declared.form == "bits":
                bits = stored(arrays, name, (-(-shape[0] // 8),), np.uint8)
                state[name] = np.unpackbits(bits, count=shape[0]).astype(bool)
            else:
                m = shape[-1]
                triangle = stored(arrays, name, (*shape[:-2], m * (m + 1) // 2), dtype)
                matrix, start = np.zeros(shape, dtype), 0
                for i in range(m):
                    row = triangle[..., start : start + m - i]
                    matrix[..., i, i:] = row
                    if declared.form == "symmetric":
                        matrix[..., i:, i] = row
                    start += m - i
                state[name] = matrix
        return cls(**state)

    def same(self, other: Self) -> bool:
        """Whether settings, and types and entries of arrays, are equal."""
        one, two = self.arrays(), other.arrays()
        settings = self.settings() == other.settings() and one.keys() == two.keys()
        return settings and all(
            array.dtype == two[name].dtype and np.array_equal(array, two[name])
            for name, array in one.items()
        )

    def check(self) -> None:
        """Refuse a state, read from a file, to which no samples can have led."""


_KIND = FileKind(
    None,
    "a file of an accumulator of fastcmp.stream",
    "take another file, or count the samples of this one anew",
)
_MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Accumulator(ABC):
    """A state that grows by blocks of samples.

    A subclass says what its `State` consists of, whose fields declare how they merge
    and are saved, and the options of its constructor, which agree where two merge.

    What changes is one attribute, replaced by one assignment while `_lock` is held:
    threads may update and merge at the same time, and readers need no lock.
    """

    _lock: AbstractContextManager[object]
    #: Replaced by one assignment, so that an interrupt never leaves half a block.
    _state: Any
    #: Keywords of the constructor, checked, by which an equal one is made.
    _options: dict[str, Any]

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __new__(cls, *_: object, **__: object) -> Self:
        """An accumulator with a lock, which is never copied or saved."""
        accumulator = super().__new__(cls)
        accumulator._lock, accumulator._options = new_lock(), {}
        return accumulator

    @property
    def names(self) -> tuple[str, ...] | None:
        """The models by name; None before the first block, where none were given."""
        return self._state.names

    @property
    def n_models(self) -> int:
        """Number of models, M; 0 before the first block, where none were given."""
        return len(self.names or ())

    @property
    def n_samples(self) -> int:
        """Number of samples that were counted."""
        return int(self._state.totals[0])

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes."""
        return self._state.n_bytes

    def _settings(self) -> dict[str, Any]:
        """Settings: names, what was found, and options."""
        return {**self._state.settings(), **self._options}

    def _arrays(self) -> Arrays:
        """Arrays of the state by name: themselves where possible, not copies."""
        return self._state.arrays()

    def _sizes(self, values: dict[str, Any]) -> dict[str, Any]:
        """Sizes by which the arrays of the state are declared, of the settings of a state."""
        return {"m": len(values.get("names") or ())}

    @classmethod
    def _constructor(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Keywords of the constructor, of the settings that are not fields of a state."""
        options = {k: x for k, x in settings.items() if k not in {"names", "ids"}}
        if "classes" in options:
            options["classes"] = saved_labels(options, "classes")
        return options

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """Accumulator of a state; the arrays become its own."""
        accumulator = cls(**cls._constructor(settings))
        state = accumulator._state
        values = {name: field.read(settings, name) for name, field in state._set.items()}
        accumulator._state = state.restore(values, arrays, accumulator._sizes(values))
        return accumulator

    @classmethod
    def _checked(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """Accumulator of a file, or a refusal where no samples can have led to it."""
        accumulator = cls._restore(settings, arrays)
        require(accumulator._settings() == settings, "settings do not fit each other")
        accumulator._check()
        return accumulator

    def _check(self) -> None:
        """Refuse a state, read from a file, to which no samples can have led."""
        self._state.check()

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
        theirs, kind = other._state, type(self).__name__
        with self._lock:
            for name, value in self._options.items():
                if other._options[name] != value:
                    raise ValueError(
                        f"{kind} merge where {name} agrees, got "
                        f"{reprlib.repr(value)} and {reprlib.repr(other._options[name])}"
                    )
            self._state.check_fit(theirs, kind)
            self._state = self._state.merged(theirs)
        return self

    def copy(self) -> Self:
        """Copy the state.

        Returns
        -------
        same type
            One that changes on its own.
        """
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._lock = new_lock()
        return copied

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
        now = self.copy()
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
        accumulator = load(path)
        if not isinstance(accumulator, cls):
            raise ValueError(  # noqa: TRY004  # the file is wrong, not the type
                f"{path} holds {type(accumulator).__name__}, wanted {cls.__name__}"
            )
        return accumulator

    def __add__(self, other: object) -> Self:
        """Merge into a new accumulator."""
        if type(other) is not type(self):
            return NotImplemented
        return self.copy().merge(other)

    def __radd__(self, other: object) -> Self:
        """Let `sum` begin with 0."""
        if isinstance(other, int) and other == 0:
            return self.copy()
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        """Compare kind, settings and arrays."""
        if type(other) is not type(self):
            return NotImplemented
        return self._options == other._options and self._state.same(other._state)

    def __copy__(self) -> Self:
        return self.copy()

    def __sizeof__(self) -> int:
        """Bytes that it takes: schedulers decide by them where to move data."""
        return object.__sizeof__(self) + self.n_bytes

    def __reduce__(self) -> tuple[Any, ...]:
        now = self.copy()
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
        sections = render.in_passing(self.copy()._sections())
        return render.to_text(sections, render.terminal_width())

    def _repr_html_(self) -> str:
        return render.to_html(render.in_passing(self.copy()._sections()))


class BlockCounts(Accumulator):
    """Counts of the samples of models, block by block."""

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

    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Names of columns and rows to be shown: samples that each model got right."""
        n = self.n_samples
        rows = zip(self.names or (), self.correct.tolist(), strict=True)  # type: ignore[attr-defined]
        return ("model", "right", "accuracy"), tuple(
            (name, str(right), f"{right / n:.4f}" if n else "-") for name, right in rows
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
    accumulator_class = public_class(kind)
    if not isinstance(accumulator_class, type) or not issubclass(accumulator_class, Accumulator):
        raise ValueError(f"{path} holds {kind}, which this fastcmp does not know")  # noqa: TRY004
    try:
        return accumulator_class._checked(settings, arrays)
    except _MALFORMED as error:
        raise ValueError(f"{path} holds no valid {kind}: {error}") from error


def _rebuild(kind: type[Accumulator], settings: dict[str, Any], arrays: Arrays) -> Any:
    """Unpickle; a buffer that was pickled apart may be read-only."""
    writable = {
        name: array if array.flags.writeable else array.copy() for name, array in arrays.items()
    }
    return kind._restore(settings, writable)
