"""Frozen records of single tests. They keep the counts that they came from."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.report import (
    Section,
    format_interval,
    interval_name,
    to_html,
    to_text,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ConfidenceInterval(NamedTuple):
    """The two ends of an interval, numbers or arrays of one shape."""

    low: Any
    high: Any


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, float) and first != first:  # noqa: PLR0124  # NaN
        return bool(second != second)  # noqa: PLR0124
    return bool(first == second)


class Printed:
    """A record that prints as text in a terminal and as HTML in a notebook."""

    __slots__ = ()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What there is to say, in order.
        """
        raise TypeError(type(self).__name__)

    def __eq__(self, other: object) -> bool:
        """Compare all fields; arrays are equal where all entries are, NaN included."""
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_same, self._values(), other._values()))

    def __hash__(self) -> int:
        """Hash all fields; arrays have no hash."""
        return hash(tuple(self._values()))

    def _values(self) -> list[Any]:
        return [
            getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
        ]

    def __str__(self) -> str:
        """Render as text."""
        return to_text(self.sections())

    def _repr_html_(self) -> str:
        return to_html(self.sections())


def unwrap(flat: NDArray[Any], shape: tuple[int, ...]) -> Any:
    """Give answers the shape of the question: numbers for numbers.

    Parameters
    ----------
    flat : ndarray
        Answers in C order.
    shape : tuple of int
        Shape of the question.

    Returns
    -------
    ndarray or number
        The answers in that shape; a Python number for ``()``.
    """
    return flat.reshape(shape) if shape else flat.item()


def effect_sentence(
    difference: float, interval: ConfidenceInterval, alternative: str
) -> str:
    """Say which model did better, and how surely.

    Parameters
    ----------
    difference : float
        Accuracy of a minus that of b.
    interval : ConfidenceInterval
        For it, at the level 0.95.
    alternative : str
        Of the test that the interval belongs to.

    Returns
    -------
    str
        A sentence.
    """
    points = 100 * difference
    low, high = interval
    shown = format_interval(100 * low, 100 * high, digits=2, sign="+")
    if difference == 0:
        lead = "Both models are right equally often"
    else:
        better, worse = ("a", "b") if difference > 0 else ("b", "a")
        lead = (
            f"Model {better} is right on {abs(points):.2f} % more of the samples than "
            f"model {worse}"
        )
    name = interval_name(0.95, alternative)
    return f"{lead}: accuracy of a minus b {points:+.2f} points, {name} {shown}."


def dropped_sentences(n_missing: int, n_excluded: int) -> tuple[str, ...]:
    """Say which samples were left out.

    Parameters
    ----------
    n_missing, n_excluded : int
        Samples without a true label, and of classes that were not chosen.

    Returns
    -------
    tuple of str
        No, one or two sentences.
    """
    sentences = []
    if n_missing:
        sentences.append(f"{n_missing} samples without a true label were dropped.")
    if n_excluded:
        sentences.append(f"{n_excluded} samples of other classes were dropped.")
    return tuple(sentences)
