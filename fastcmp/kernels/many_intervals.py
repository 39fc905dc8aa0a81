"""Intervals of the differences of many pairs: a kernel for each method."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastcmp._jit import kernel
from fastcmp.kernels.intervals import (
    NEWCOMBE,
    TANGO,
    WALD,
    _impossible,
    _newcombe,
    _normal_quantile,
    _wald,
)
from fastcmp.kernels.status import Interval
from fastcmp.kernels.tango_score import _tango

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray


@kernel
def difference_interval_many(
    both_right: IntArray,
    only_a: IntArray,
    only_b: IntArray,
    both_wrong: IntArray,
    options: tuple[int, float],
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Compute intervals for many differences, written into the two output arrays.

    Parameters
    ----------
    both_right, only_a, only_b, both_wrong : ndarray of int64, shape (P,)
        The cells of each table.
    options : tuple of int and float
        ``WALD``, ``NEWCOMBE``, ``TANGO`` or ``BONETT_PRICE``, and the confidence level.
    low, high : ndarray of float64, shape (P,)
        Receive the ends.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TANGO, difference_interval_many
    >>> cells = np.array([[43], [0], [1], [0]])
    >>> low, high = np.empty(1), np.empty(1)
    >>> difference_interval_many(*cells, (TANGO, 0.90), low, high)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([-0.095662], [0.036517])
    """
    method, level = options
    if method == NEWCOMBE:
        newcombe_many(both_right, only_a, only_b, both_wrong, level, low, high)
    elif method == TANGO:
        tango_many(both_right, only_a, only_b, both_wrong, level, low, high)
    elif method == WALD:
        wald_many(both_right, only_a, only_b, both_wrong, level, low, high)
    else:
        bonett_price_many(both_right, only_a, only_b, both_wrong, level, low, high)


@kernel
def newcombe_many(
    both_right: IntArray,
    only_a: IntArray,
    only_b: IntArray,
    both_wrong: IntArray,
    confidence_level: float,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """`difference_interval_many` by one method, all that is compiled for it."""
    z = _normal_quantile(confidence_level)
    for i in range(only_a.size):
        right, a = float(both_right[i]), float(only_a[i])
        b, wrong = float(only_b[i]), float(both_wrong[i])
        ends = Interval(math.nan, math.nan)
        if not _impossible(right, a, b, wrong, z):
            ends = _newcombe(right, a, b, wrong, z)
        low[i], high[i] = ends.low, ends.high


@kernel
def tango_many(
    both_right: IntArray,
    only_a: IntArray,
    only_b: IntArray,
    both_wrong: IntArray,
    confidence_level: float,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """`difference_interval_many` by one method, all that is compiled for it."""
    z = _normal_quantile(confidence_level)
    for i in range(only_a.size):
        right, a = float(both_right[i]), float(only_a[i])
        b, wrong = float(only_b[i]), float(both_wrong[i])
        ends = Interval(math.nan, math.nan)
        if not _impossible(right, a, b, wrong, z):
            ends = _tango(a, b, right + a + b + wrong, z)
        low[i], high[i] = ends.low, ends.high


@kernel
def wald_many(
    both_right: IntArray,
    only_a: IntArray,
    only_b: IntArray,
    both_wrong: IntArray,
    confidence_level: float,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """`difference_interval_many` by one method, all that is compiled for it."""
    z = _normal_quantile(confidence_level)
    for i in range(only_a.size):
        right, a = float(both_right[i]), float(only_a[i])
        b, wrong = float(only_b[i]), float(both_wrong[i])
        ends = Interval(math.nan, math.nan)
        if not _impossible(right, a, b, wrong, z):
            ends = _wald(a, b, right + a + b + wrong, z)
        low[i], high[i] = ends.low, ends.high


@kernel
def bonett_price_many(
    both_right: IntArray,
    only_a: IntArray,
    only_b: IntArray,
    both_wrong: IntArray,
    confidence_level: float,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """`difference_interval_many` by one method, all that is compiled for it."""
    z = _normal_quantile(confidence_level)
    for i in range(only_a.size):
        right, a = float(both_right[i]), float(only_a[i])
        b, wrong = float(only_b[i]), float(both_wrong[i])
        ends = Interval(math.nan, math.nan)
        if not _impossible(right, a, b, wrong, z):
            ends = _wald(a + 1.0, b + 1.0, right + a + b + wrong + 2.0, z)
        low[i], high[i] = ends.low, ends.high
