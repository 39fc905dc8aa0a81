"""Sums in two numbers each, so that adding in any order agrees to rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_PIECE = 1 << 16  # numbers that are added at once: they stay in the cache


def exact(values: Floats) -> Floats:
    """Begin a sum, shape (2, ...): the number, and what rounding has lost of it."""
    return np.stack([values, np.zeros_like(values)])


def value_of(total: Floats) -> Floats:
    """Give a sum as one number."""
    value: Floats = total[0] + total[1]
    return value


def add(one: Floats, two: Floats) -> Floats:
    """Add sums of shape (2, ...) into a new one; commutes to the bit.

    The error of ``a + b`` is found by Knuth's TwoSum.
    """
    total = np.empty_like(one)
    shape = (2, -1)
    flat = total.reshape(shape), one.reshape(shape), two.reshape(shape)
    for start in range(0, flat[0].shape[1], _PIECE):
        part = slice(start, start + _PIECE)
        out, (a, a_lost), (b, b_lost) = (each[:, part] for each in flat)
        high = a + b
        seen = high - a
        low = (a - (high - seen)) + (b - seen)
        low += a_lost + b_lost
        out[0] = high + low
        out[1] = low - (out[0] - high)
    return total
