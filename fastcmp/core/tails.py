"""Tails of the standard normal distribution, of arrays."""

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
