"""Numbers that a user passes: checked, or refused by name."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Above it a float64 no longer holds every whole number.
LARGEST_COUNT = 2**53


def as_numbers(raw: ArrayLike, name: str, what: str = "numbers") -> NDArray[Any]:
    """Convert to an array of integers or floats.

    Parameters
    ----------
    raw : array-like
        What the user passed.
    name : str
        The argument.
    what : str
        What was wanted.

    Returns
    -------
    ndarray
        Of an integer or float type.

    Raises
    ------
    TypeError
        If it holds something else, or is ragged.
    """
    if np.ma.is_masked(raw):
        message = f"{name} must be {what}, got a masked array with missing entries"
        raise TypeError(message)
    try:
        array = np.asarray(raw)
    except ValueError:
        message = f"{name} must be {what}, got lists of different lengths"
        raise TypeError(message) from None
    if array.dtype.kind not in "iuf":
        message = f"{name} must be {what}, got {array.dtype} values"
        raise TypeError(message)
    return array


def as_counts(raw: ArrayLike, name: str) -> NDArray[np.int64]:
    """Convert to counts.

    Parameters
    ----------
    raw : array-like of int
        Whole numbers; floats without a fraction will do.
    name : str
        The argument.

    Returns
    -------
    ndarray of int64
        A copy.

    Raises
    ------
    ValueError
        If a number is negative, fractional or above 2**53.
    TypeError
        If it holds no numbers.
    """
    if isinstance(raw, int) and raw > LARGEST_COUNT:  # NumPy might make it an object
        message = f"{name} must be at most 2**53, got {raw}"
        raise ValueError(message)
    array = as_numbers(raw, name, "whole numbers")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        bad = array[~(array == np.trunc(array))].flat[0]
        message = f"{name} must be whole numbers, got {bad}"
        raise ValueError(message)
    if array.min() < 0:
        message = f"{name} must not be negative, got {array.min()}"
        raise ValueError(message)
    if array.max() > LARGEST_COUNT:
        message = f"{name} must be at most 2**53, got {array.max()}"
        raise ValueError(message)
    return array.astype(np.int64)


def as_share(value: Any, name: str) -> float:
    """Check an error rate or a confidence level.

    Parameters
    ----------
    value : float
        What the user passed.
    name : str
        The argument.

    Returns
    -------
    float
        A number in (0, 1).

    Raises
    ------
    ValueError
        If it lies outside.
    TypeError
        If it is no number.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        message = f"{name} must be a number in (0, 1), got {value!r}"
        raise TypeError(message)
    share = float(value)
    # 1 - alpha is the level of an interval, and must lie inside as well.
    if not 0.0 < share < 1.0 or 1.0 - share == 1.0:
        message = f"{name} must lie in (0, 1), got {value}"
        raise ValueError(message)
    return share


def check_choice(value: Any, name: str, known: tuple[str | None, ...]) -> None:
    """Refuse an option that is not among the known ones.

    Parameters
    ----------
    value : str
        What the user passed.
    name : str
        The argument.
    known : tuple of str or None
        What is possible.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    if value not in known:
        message = f"{name} must be one of {known}, got {value!r}"
        raise ValueError(message)
