"""Is the expected cost of two models equal? From counts grouped by cost difference.

The difference of one sample is d = cost[t, a] - cost[t, b], positive if a cost more.
Both tests depend on the counts only through how many samples have each value of d, so
they take two lists: the values of d and the number of samples with each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastcmp._jit import helper, inlined, kernel
from fastcmp.kernels.cost_root import find_multiplier
from fastcmp.kernels.special import _unit_of, log1pmx, square
from fastcmp.kernels.status import DEGENERATE, INVALID, NOT_CONVERGED, OK, UNDEFINED

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, StatusArray

#: Codes of the tests, for `cost_test_many`.
LIKELIHOOD: Final = 0
CHI_SQUARE: Final = 1


class CostOutcome(NamedTuple):
    """The answer of a cost-sensitive test."""

    statistic: float
    pvalue: float
    status: int
    #: The fitted number of samples with difference d is w / (1 + multiplier d) for the
    #: likelihood ratio, w (1 - multiplier d) for the chi-square.
    multiplier: float
    #: Whether the multiplier is at the end of its range: the likelihood puts mass on
    #: the largest difference, unobserved, or the chi-square fits an empty cell.
    at_bound: bool


@helper
def _undecided(status: int) -> CostOutcome:
    return CostOutcome(math.nan, math.nan, status, math.nan, False)


@helper
def _decided(statistic: float, multiplier: float, at_bound: bool) -> CostOutcome:
    pvalue = math.erfc(math.sqrt(0.5 * statistic))
    return CostOutcome(statistic, pvalue, OK, multiplier, at_bound)


class _Sums(NamedTuple):
    """What both tests need first; NaN if a weight or a value is impossible."""

    #: The largest -d and d with w > 0, and a unit of d for what follows; 0 for none.
    below: float
    above: float
    unit: float
    #: Sum of w d and of w d**2, with d in that unit.
    first: float
    second: float


@inlined
def _sums(values: FloatArray, weights: FloatArray) -> _Sums:
    below = above = 0.0
    for i in range(values.size):
        d, w = values[i], float(weights[i])
        if not (w >= 0.0 and math.isfinite(w) and math.isfinite(d)):
            return _Sums(0.0, 0.0, math.nan, 0.0, 0.0)
        if w > 0.0:
            below = max(below, -d)
            above = max(above, d)
    unit = max(below, above)
    first = second = 0.0
    if unit > 0.0:
        unit = _unit_of(unit)
        per_unit = 1.0 / unit
        for i in range(values.size):
            w = float(weights[i])
            if w > 0.0:  # the unit may be too small for the others
                x = values[i] * per_unit
                first += w * x
                second += w * x * x
    return _Sums(below, above, unit, first, second)


@inlined
def _likelihood(
    values: FloatArray,
    weights: FloatArray,
    largest: float,
    x: FloatArray,
    w: FloatArray,
) -> CostOutcome:
    """Compute the test; `x` and `w` are buffers of the size of `values`."""
    sums = _sums(values, weights)
    observed = largest == 0.0
    if math.isnan(sums.unit) or not 0.0 <= largest < math.inf:
        return _undecided(INVALID)
    if not observed and max(sums.below, sums.above) > largest:
        return _undecided(INVALID)
    if sums.unit == 0.0:
        return CostOutcome(0.0, 1.0, DEGENERATE, 0.0, False)
    if sums.first == 0.0:
        return CostOutcome(0.0, 1.0, OK, 0.0, False)
    # In x = d / unit the multiplier is in (0, 1], and the pole or the bound at 1.
    if sums.first > 0.0:
        unit = sums.below if observed else largest
    else:
        unit = -sums.above if observed else -largest
    if unit == 0.0:
        return _undecided(UNDEFINED)
    first = sums.first * (sums.unit / unit)
    if max(sums.below, sums.above) < 1e-100 * abs(unit):
        # Squares vanish beside the differences, and logarithms are linear.
        return _decided(2.0 * first, 1.0 / unit, True)
    size = 0
    for i in range(values.size):
        if weights[i] > 0.0 and values[i] != 0.0:
            x[size] = values[i] / unit
            w[size] = weights[i]
            size += 1
    root = find_multiplier(x, w, size, first)
    if math.isnan(root.multiplier):
        return _undecided(NOT_CONVERGED)
    # log(1 + y) is y/(1 + y), whose sum is the equation, and something >= 0, which is
    # -log1pmx(-y/(1 + y)): nothing cancels where y is small.
    half = root.theta * root.value
    for i in range(size):
        one_plus = 1.0 + root.theta * x[i] if x[i] > 0.0 else 1.0 + x[i] - root.rest * x[i]
        y = root.theta * x[i]
        if abs(y) > 0.15:
            half += w[i] * (math.log(one_plus) - y / one_plus)
        else:
            half -= w[i] * log1pmx(-y / one_plus)
    return _decided(2.0 * half, root.multiplier / unit, root.rest == 0.0)


@kernel
def cost_likelihood(values: FloatArray, weights: FloatArray, largest: float) -> CostOutcome:
    """Likelihood ratio test of equal expected costs.

    Parameters
    ----------
    values : ndarray of float64, shape (D,)
        Differences d = cost[t, a] - cost[t, b], in any order, perhaps repeated.
    weights : ndarray of float64 or int64, shape (D,)
        Samples with each; those with d = 0 may be left out.
    largest : float
        The largest difference that is possible, the largest cost. 0 restricts the
        fitted distribution to the observed differences.

    Returns
    -------
    CostOutcome
        ``statistic`` = 2 sum of w log(1 + multiplier d), which is chi-square with one
        degree of freedom for many samples. Statistic 0 and p-value 1 if costs are
        equal, ``DEGENERATE`` if no sample has d != 0. NaN and ``UNDEFINED`` if
        ``largest`` is 0 and all differences have one sign; NaN and ``INVALID`` for
        negative weights or a difference beyond ``largest``.

    Notes
    -----
    The multiplier is the root of the sum of w d / (1 + multiplier d), or the end of its
    range, -1/largest or 1/largest, if the sum has no root inside: then the fitted
    distribution has mass on a difference that was not observed.

    References
    ----------
    .. [1] A. B. Owen, "Empirical likelihood ratio confidence intervals for a single
       functional", Biometrika 75 (1988) 237-249.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cost_likelihood
    >>> values, weights = np.array([1.0, -1.0]), np.array([10.0, 2.0])
    >>> outcome = cost_likelihood(values, weights, 5.0)
    >>> round(outcome.statistic, 4), outcome.at_bound
    (2.7539, True)
    """
    return _likelihood(values, weights, largest, np.empty(values.size), np.empty(values.size))


@kernel
def cost_chi_square(
    values: FloatArray,
    weights: FloatArray,
    nonnegative: bool,
) -> CostOutcome:
    """Chi-square test of equal expected costs.

    Parameters
    ----------
    values : ndarray of float64, shape (D,)
        Differences d = cost[t, a] - cost[t, b], in any order, perhaps repeated.
    weights : ndarray of float64 or int64, shape (D,)
        Samples with each, smoothing included; those with d = 0 may be left out.
    nonnegative : bool
        Whether fitted counts must not be negative.

    Returns
    -------
    CostOutcome
        ``statistic`` = min over m of the sum of (w - m)**2 / w with sum of m d = 0.
        Edge cases as in `cost_likelihood`.

    Notes
    -----
    Without the sign condition m = w (1 - multiplier d), and the statistic is
    (sum of w d)**2 / (sum of w d**2). With it m = w max(0, 1 - multiplier d): the
    condition is a convex, piecewise linear equation in the multiplier, which Newton's
    method solves exactly, from below, in a few steps.

    References
    ----------
    .. [1] J. Neyman, "Contribution to the theory of the chi-square test", Proc. First
       Berkeley Symposium (1949) 239-273.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import cost_chi_square
    >>> values, weights = np.array([1.0, -1.0]), np.array([35.0, 1.0])
    >>> round(cost_chi_square(values, weights, False).statistic, 4)
    32.1111
    """
    sums = _sums(values, weights)
    if math.isnan(sums.unit):
        return _undecided(INVALID)
    if sums.unit == 0.0:
        return CostOutcome(0.0, 1.0, DEGENERATE, 0.0, False)
    if sums.first == 0.0:
        return CostOutcome(0.0, 1.0, OK, 0.0, False)
    multiplier = sums.first / sums.second
    steepest = sums.above if multiplier > 0.0 else sums.below
    if not nonnegative or abs(multiplier) * (steepest / sums.unit) < 1.0:
        return _decided(sums.first * multiplier, multiplier / sums.unit, False)
    for _ in range(values.size + 2):
        first = second = statistic = 0.0
        for i in range(values.size):
            w = float(weights[i])
            if w == 0.0:
                continue
            x = values[i] / sums.unit
            if multiplier * x < 1.0:
                first += w * x
                second += w * x * x
                statistic += w * square(multiplier * x)
            else:
                statistic += w
        # The rest is linear; its root is further out, or already found.
        new = first / second if second > 0.0 else multiplier
        if not abs(new) > abs(multiplier) * (1.0 + 1e-15):
            return _decided(statistic, multiplier / sums.unit, True)
        multiplier = new
    return _undecided(NOT_CONVERGED)


@kernel
def cost_test_many(
    counts: IntArray,
    group: IntArray,
    values: FloatArray,
    cells: FloatArray,
    options: tuple[int, float, bool],
    results: FloatArray,
    status: StatusArray,
) -> None:
    """Test many tables of counts against one cost matrix.

    Parameters
    ----------
    counts : ndarray of int64, shape (P, C)
        Samples in each cell of each table.
    group : ndarray of int64, shape (C,)
        Position in `values` of each cell's difference.
    values : ndarray of float64, shape (D,)
        The distinct differences.
    cells : ndarray of float64, shape (D,)
        What is added to the samples with each difference, where there are any: the
        smoothing, as much to d as to -d.
    options : tuple of int, float and bool
        ``LIKELIHOOD`` or ``CHI_SQUARE``; `largest` of `cost_likelihood`; `nonnegative`
        of `cost_chi_square`.
    results : ndarray of float64, shape (P, 4)
        Receives statistics, p-values, multipliers, and whether at a bound.
    status : ndarray of uint8, shape (P,)
        Receives a `Status` for each.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import CHI_SQUARE, cost_test_many
    >>> counts, group = np.array([[35, 1, 9], [4, 4, 0]]), np.array([1, 0, 2])
    >>> values, cells = np.array([-1.0, 1.0, 0.0]), np.zeros(3)
    >>> results, status = np.empty((2, 4)), np.empty(2, np.uint8)
    >>> options = (CHI_SQUARE, 1.0, False)
    >>> cost_test_many(counts, group, values, cells, options, results, status)
    >>> results[:, 0].round(4).tolist()
    [32.1111, 0.0]
    """
    method, largest, nonnegative = options
    weights, x, w = np.empty((3, values.size))
    for p in range(counts.shape[0]):
        weights[:] = cells
        differ = False
        for c in range(group.size):
            weights[group[c]] += counts[p, c]
            differ |= counts[p, c] > 0 and values[group[c]] != 0.0
        if not differ:
            # The smoothing is symmetric: alone it is no evidence.
            outcome = CostOutcome(0.0, 1.0, DEGENERATE, 0.0, False)
        elif method == LIKELIHOOD:
            outcome = _likelihood(values, weights, largest, x, w)
        else:
            outcome = cost_chi_square(values, weights, nonnegative)
        results[p, 0] = outcome.statistic
        results[p, 1] = outcome.pvalue
        results[p, 2] = outcome.multiplier
        results[p, 3] = outcome.at_bound
        status[p] = outcome.status
