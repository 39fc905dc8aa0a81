"""Normal tails and Wilson's interval, of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal_tail(z: Any, alternative: str) -> Any:
    """Give the p-value of a standard normal statistic.

    Parameters
    ----------
    z : float or ndarray
        The statistic.
    alternative : {"two-sided", "greater", "less"}
        Which tail.

    Returns
    -------
    float or ndarray
        P-values.
    """
    from scipy.special import ndtr

    if alternative == "two-sided":
        return 2.0 * ndtr(-np.abs(z))
    return ndtr(-z) if alternative == "greater" else ndtr(z)


def wilson_interval(rate: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Give Wilson's interval of a proportion; at 0 and 1 its ends are exact."""
    middle = rate + 0.5 * z * z / n
    half = z * np.sqrt(rate * (1 - rate) / n + 0.25 * (z / n) ** 2)
    low, high = (end / (1 + z * z / n) for end in (middle - half, middle + half))
    return np.where(rate == 0, 0.0, low), np.where(rate == 1, 1.0, high)
