"""Arithmetic that many modules share: exact sums, scaling, tails and intervals of t and z."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.typing import Floats, Ints, Numbers

_PIECE = 1 << 16  # numbers that are added at once: they stay in the cache


def exact(values: Floats) -> Floats:
    """Begin a sum, shape (2, ...): the number, and what rounding has lost of it."""
    return np.stack([values, np.zeros_like(values)])


def value_of(total: Floats) -> Floats:
    """A sum as one number."""
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
        out, (a, a_lost), (b, b_lost) = (array[:, part] for array in flat)
        high = a + b
        b_rounded = high - a
        low = (a - (high - b_rounded)) + (b - b_rounded)
        low += a_lost + b_lost
        out[0] = high + low
        out[1] = low - (out[0] - high)
    return total


# Values of any size, divided by a power of two so that their powers can be computed.


#: Values up to 2**100 have fourth powers, and from 2**-100 on, that floats can hold.
_SAFE = 100
_OF_MARGINS = ("margin", "difference", "standard_error", "interval", "inner_interval")


def scale_exponent(*arrays: NDArray[Any] | float) -> int:
    """Exponent e for which values / 2**e are at most 1; 0 where they need no scaling.

    Divide by ``np.ldexp(values, -e)``, which is exact, and multiply results that have
    the unit of the values by `scaled_back`. NaN is passed over; values must be finite.
    """
    largest = max(float(np.fmax.reduce(np.abs(x), axis=None)) for x in arrays if np.size(x))
    exponent = math.frexp(largest)[1] if math.isfinite(largest) else 0
    return exponent if largest > 0.0 and abs(exponent) > _SAFE else 0


def scaled_back(record: Any, exponent: int, names: tuple[str, ...]) -> Any:
    """Multiply the fields of a record that have the unit of the values by 2**exponent."""
    if not exponent:
        return record
    return replace(record, **{name: times(getattr(record, name), exponent) for name in names})


def times(value: Any, exponent: int) -> Any:
    """Multiply a number, array, interval or margin tests by 2**exponent; None stays None."""
    if value is None or (exponent == 0 and isinstance(value, float)):
        return value
    if isinstance(value, Record):  # of margin tests
        return scaled_back(value, exponent, _OF_MARGINS)
    if isinstance(value, ConfidenceInterval):
        return ConfidenceInterval(*(times(end, exponent) for end in value))
    with np.errstate(over="ignore"):
        product = np.ldexp(value, exponent)
    return product if np.ndim(product) else float(product)


# Tails and quantiles of t and of the normal distribution, and intervals by them.


def t_tail(t: Numbers, alternative: str, df: Numbers | None = None) -> Any:
    """P-value of Student's t, or of a normal z for None or infinite degrees of freedom.

    Parameters
    ----------
    t : float or ndarray
        The statistic.
    alternative : {"two-sided", "greater", "less"}
        Which tail.
    df : float, ndarray or None
        Degrees of freedom.

    Returns
    -------
    float or ndarray
        P-values.
    """
    if alternative == "two-sided":
        return 2.0 * t_cdf(-np.abs(t), df)
    return t_cdf(-t if alternative == "greater" else t, df)


def t_cdf(t: object, df: object) -> Any:
    """Distribution function of Student's t; of the normal for None or infinite `df`."""
    import scipy.special

    return _by_df(scipy.special.ndtr, scipy.special.stdtr, t, df)


def t_ppf(probability: object, df: object) -> Any:
    """Quantile of Student's t; of the normal for None or infinite `df`."""
    import scipy.special

    return _by_df(scipy.special.ndtri, scipy.special.stdtrit, probability, df)


def _by_df(of_normal: Any, of_t: Any, x: Any, df: Any) -> Any:
    if df is None or (isinstance(df, float) and df == math.inf):
        return of_normal(x)
    if isinstance(df, float) and isinstance(x, float):
        return of_t(df, x)
    with np.errstate(invalid="ignore"):
        values = of_t(df, x)
    if not isinstance(df, float) and np.any(infinite := np.isinf(df)):
        values = np.where(infinite, of_normal(x), values)
    return values


def t_interval(
    estimate: Numbers,
    error: Numbers,
    confidence_level: float,
    alternative: str = "two-sided",
    df: object = None,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> ConfidenceInterval:
    """Interval for an estimate with a standard error, within limits; by z for no `df`.

    One-sided where the alternative is: its other end is a limit.
    """
    half = -t_ppf(0.5 * (1.0 - as_level(confidence_level, alternative)), df) * error
    ends = np.maximum(estimate - half, limits[0]), np.minimum(estimate + half, limits[1])
    return ConfidenceInterval(*keep_side(ends, alternative, limits))


def wilson_interval(rate: Numbers, n: Numbers | Ints, z: float) -> tuple[Any, Any]:
    """Wilson's interval of a proportion; at 0 and 1 its ends are exact."""
    middle = rate + 0.5 * z * z / n
    half, size = z * np.sqrt(rate * (1 - rate) / n + 0.25 * (z / n) ** 2), 1 + z * z / n
    low, high = (middle - half) / size, (middle + half) / size
    return np.where(rate == 0, 0.0, low), np.where(rate == 1, 1.0, high)
