"""Arrays of states: how they add up, and what they must be like when read from a file.

A file may have a right checksum and have been written by something else. Names, labels
and counts are checked one by one, and arrays are never made larger than the file.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastcmp.core.checks import LARGEST_COUNT
from fastcmp.stream.blocks import check_names


def require(condition: object, message: str) -> None:
    """Refuse a state with a ValueError where a condition does not hold."""
    if not condition:
        raise ValueError(message)


def stored(
    arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...], dtype: DTypeLike = np.int64
) -> NDArray[Any]:
    """Take one array of a saved state, of the shape and type that it must have."""
    wanted = np.dtype(dtype)
    array = arrays.get(name)
    if array is None:
        raise ValueError(f"{name} is missing")
    if array.shape != shape or array.dtype.newbyteorder("=") != wanted:
        raise ValueError(
            f"{name} must be {wanted} of shape {shape}, got {array.dtype} of shape {array.shape}"
        )
    return np.asarray(array, wanted)


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
        require(all(label == label for label in labels), wrong)  # noqa: PLR0124  # NaN
    return labels


def check_totals(totals: NDArray[np.int64], *, begun: bool) -> None:
    """Refuse impossible numbers of samples; before the first block there are none."""
    sizes = totals.tolist()
    possible = min(sizes) >= 0 and sum(sizes) <= (LARGEST_COUNT if begun else 0)
    require(possible, f"totals must be numbers of samples, got {sizes}")


def check_within(counts: NDArray[np.int64], low: Any, high: Any, name: str = "counts") -> None:
    """Refuse counts outside of their bounds."""
    possible = np.all((counts >= low) & (counts <= high))
    require(possible, f"{name} must be numbers of samples that fit the others")


class Declared(NamedTuple):
    """What is declared of an array of a state."""

    #: Length of each axis: a number, the name of a size, or None for any.
    shape: tuple[int | str | None, ...]
    dtype: Any
    #: How it is saved: "array"; "bits" of booleans; "upper" or "symmetric", the upper
    #: triangle of the last two axes.
    form: str
    #: Whether the arrays of parts are added; else that of the first part is kept.
    added: bool

    def lengths(self, sizes: dict[str, int], anything: int = 0) -> tuple[int, ...]:
        """Length of each axis; of an axis of any length `anything`."""
        return tuple(
            anything if x is None else sizes[x] if isinstance(x, str) else x for x in self.shape
        )


def summed(*shape: int | str | None, dtype: Any = np.int64, form: str = "array") -> Declared:
    """Declare an array of a `State` that is the sum of those of the parts."""
    return Declared(shape, dtype, form, added=True)


def kept(*shape: int | str | None, dtype: Any = np.int64, form: str = "array") -> Declared:
    """Declare an array of a `State` that parts which are merged with it do not change."""
    return Declared(shape, dtype, form, added=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """Arrays that one assignment replaces, so that an interrupt never leaves half a block.

    Each array is annotated with `summed` or `kept`; other fields are settings.
    """

    _declared: ClassVar[dict[str, Declared]]

    def __init_subclass__(cls) -> None:
        """Read the annotations, once a class."""
        hints = get_type_hints(cls, include_extras=True)
        annotated = {name: getattr(hint, "__metadata__", None) for name, hint in hints.items()}
        cls._declared = {name: notes[0] for name, notes in annotated.items() if notes}

    @classmethod
    def begin(cls, sizes: dict[str, int], **others: Any) -> Self:
        """State without samples, whose axes have these sizes."""
        zeros = {
            name: np.zeros(declared.lengths(sizes), declared.dtype)
            for name, declared in cls._declared.items()
        }
        return cls(**zeros, **others)

    def plus(self, other: Self) -> Self:
        """State of both parts; commutes to the bit but for what is kept."""
        return replace(
            self,
            **{
                name: getattr(self, name) + getattr(other, name)
                for name, declared in self._declared.items()
                if declared.added
            },
        )

    @property
    def n_bytes(self) -> int:
        """Memory that the arrays take."""
        return sum(int(getattr(self, name).nbytes) for name in self._declared)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays by name, in the form in which they are saved."""
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
    def restore(cls, arrays: dict[str, NDArray[Any]], sizes: dict[str, int], **others: Any) -> Self:
        """State of saved arrays."""
        state = {}
        for name, declared in cls._declared.items():
            known = arrays.get(name)
            anything = len(known) if known is not None and known.ndim else 0
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
        return cls(**state, **others)
