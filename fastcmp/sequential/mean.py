"""Means of bounded values by betting: they may be looked at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag, as_level, as_proportion, keep_side
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.inputs.value_column import read_values
from fastcmp.sequential.mean_result import MeanEvalueResult
from fastcmp.sequential.options import read_bets, read_bounds, read_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_METHODS = ("bets", "empirical-bernstein")


def read_bounded(raw: Any, bounds: tuple[float, float], least: int) -> Floats:
    """Check values that must lie within bounds."""
    values = read_values(raw, "differences")
    if values.size < least:
        message = f"differences must hold at least {least} value, got none"
        raise ValueError(message)
    inside = (values >= bounds[0]) & (values <= bounds[1])
    if not inside.all():
        message = f"differences must lie within bounds, {bounds}, got {values[~inside][0]}"
        raise ValueError(message)
    return values


def mean_test(
    differences: ArrayLike,
    *,
    mean0: float = 0.0,
    bounds: Sequence[float] = (-1.0, 1.0),
    bets: Sequence[float] | None = None,
    alternative: str = "two-sided",
    method: str = "bets",
    confidence_level: float = 0.95,
    truncation: float = 0.5,
    running_intersection: bool = False,
) -> MeanEvalueResult:
    """Test the mean of bounded values, valid whenever and however often one looks.

    Parameters
    ----------
    differences : array-like of float, shape (n,)
        All values so far: differences of two models' grades or losses, or any values
        that cannot be outside of `bounds`.
    mean0 : float
        The mean of the null hypothesis.
    bounds : sequence of 2 floats
        Smallest and largest possible value: of differences of values in [0, 1] these
        are -1 and 1.
    bets : sequence of float, optional
        Constant bets r, which multiply the wealth by 1 + r (x - mean0) for each value
        x; the e-value is their mean wealth. By default 24 on each side, from the
        largest one that is possible on, each smaller by the root of 2.
    alternative : {"two-sided", "greater", "less"}
        "greater": the mean is above `mean0`. Only bets on that side are made.
    method : {"bets", "empirical-bernstein"}
        Of the interval: the means that the bets by default do not reject, in any order
        of the values; or a predictable plug-in bound, which depends on the order and is
        mostly wider.
    confidence_level : float
        Of the interval, in (0, 1).
    truncation : float
        Of the empirical Bernstein bound: the largest bet, in (0, 1).
    running_intersection : bool
        Of the same: whether the ends are the best ones of all times so far.

    Returns
    -------
    MeanEvalueResult
        The e-value, and an interval that is valid at every look.

    Raises
    ------
    ValueError
        If a value lies outside of the bounds, there is none, bets could make the wealth
        negative, or an option is unknown or out of range.
    TypeError
        If values are not numbers.

    See Also
    --------
    MeanLooks : The same while values come in.

    Notes
    -----
    O(n) for each bet and, for the interval, each of some twenty means. The two limits
    have half of the error each, so that an interval can hold `mean0` where the e-value
    just reaches 1 / (1 - confidence_level).

    References
    ----------
    .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
       betting", J. Royal Statistical Society B 86 (2024) 1-27.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.sequential import mean_test
    >>> result = mean_test(np.resize([0.5, 0.0, -0.25, 0.25], 400))
    >>> bool(result.evalue > 1e6), result.mean
    (True, 0.125)
    >>> round(result.low, 4), round(result.high, 4)
    (0.0767, 0.1733)
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    method = choose(method, "method", _METHODS)
    ends = read_bounds(bounds)
    mean = read_mean(mean0, ends)
    level = as_level(confidence_level, alternative)
    largest = as_proportion(truncation, "truncation")
    best_of_all = as_flag(running_intersection, "running_intersection")
    wagers = read_bets(bets, mean, ends, alternative)
    values = read_bounded(differences, ends, 1)
    wealth = np.zeros(wagers.size)
    kernels.bet_on_values(values, mean, wagers, wealth)
    if method == "bets":
        centre, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
        scaled = np.clip((values - centre) / half, -1.0, 1.0)
        interval = kernels.anytime_mean_interval(scaled, level)
        found = tuple(centre + half * end for end in interval)
    else:
        found = _empirical_bernstein(values, ends, level, largest, best_of_all)
    low, high = keep_side(found, alternative, ends)
    return MeanEvalueResult(
        log_evalue=float(kernels.log_mean_exp(wealth)),
        mean=float(np.mean(values)),
        mean0=mean,
        low=low,
        high=high,
        confidence_level=float(confidence_level),
        method=method,
        n_samples=values.size,
        bounds=ends,
        alternative=alternative,
    )


def _empirical_bernstein(
    values: Floats,
    bounds: tuple[float, float],
    level: float,
    truncation: float,
    best_of_all: bool,  # noqa: FBT001
) -> tuple[float, float]:
    """Bound a mean from both sides, each with half of the error."""
    width = bounds[1] - bounds[0]
    scaled = np.clip((values - bounds[0]) / width, 0.0, 1.0)
    ends = []
    for side in (scaled, 1.0 - scaled):
        limits = np.empty(values.size)
        options = (0.5 * (1.0 - level), truncation)
        kernels.empirical_bernstein_limits(side, *options, limits)
        ends.append(float(limits.max() if best_of_all else limits[-1]))
    return bounds[0] + width * ends[0], bounds[1] - width * ends[1]
