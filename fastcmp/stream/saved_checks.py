"""What a state that was read from a file must be like, before anything is made of it.

A file may have a right checksum and have been written by something else. Names, labels
and counts are looked at one by one, and arrays are never made larger than the file.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import LARGEST_COUNT
from fastcmp.stream.blocks import check_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


def require(condition: object, message: str) -> None:
    """Refuse a state.

    Parameters
    ----------
    condition : object
        What must hold.
    message : str
        What is wrong otherwise.

    Raises
    ------
    ValueError
        If it does not hold.
    """
    if not condition:
        raise ValueError(message)


def saved_names(settings: dict[str, Any], key: str = "names") -> tuple[str, ...] | None:
    """Read the names of models.

    Parameters
    ----------
    settings : dict
        Settings of a saved state.
    key : str
        Which of them.

    Returns
    -------
    tuple of str or None
        Different names.

    Raises
    ------
    ValueError
        If they are something else.
    """
    names = settings[key]
    wrong = f"{key} must be different names or None, got {reprlib.repr(names)}"
    require(names is None or isinstance(names, tuple), wrong)
    return check_names(names)


def saved_labels(settings: dict[str, Any], key: str) -> tuple[Any, ...] | None:
    """Read labels of classes.

    Parameters
    ----------
    settings : dict
        Settings of a saved state.
    key : str
        Which of them.

    Returns
    -------
    tuple or None
        Different labels.

    Raises
    ------
    ValueError
        If they are something else.
    TypeError
        If they are no labels.
    """
    labels: tuple[Any, ...] | None = settings[key]
    wrong = f"{key} must be different labels or None, got {reprlib.repr(labels)}"
    require(labels is None or isinstance(labels, tuple), wrong)
    if labels is not None:
        require(len(set(labels)) == len(labels), wrong)
        require(all(label == label for label in labels), wrong)  # noqa: PLR0124  # NaN
    return labels


def check_totals(totals: NDArray[np.int64], *, begun: bool) -> None:
    """Refuse impossible numbers of samples.

    Parameters
    ----------
    totals : ndarray of int64
        Samples that were counted, and dropped for several reasons.
    begun : bool
        Whether models are known, without which no sample is counted.

    Raises
    ------
    ValueError
        If one is negative, or they are more than 2**53.
    """
    sizes = totals.tolist()
    possible = min(sizes) >= 0 and sum(sizes) <= (LARGEST_COUNT if begun else 0)
    require(possible, f"totals must be numbers of samples, got {sizes}")


def check_within(
    counts: NDArray[np.int64], low: Any, high: Any, name: str = "counts"
) -> None:
    """Refuse counts outside of their bounds.

    Parameters
    ----------
    counts : ndarray of int64
        What was saved.
    low, high : int or ndarray of int64
        The bounds.
    name : str
        The array.

    Raises
    ------
    ValueError
        If one lies outside.
    """
    possible = np.all((counts >= low) & (counts <= high))
    require(possible, f"{name} must be numbers of samples that fit the others")
