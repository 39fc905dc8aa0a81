"""Limits and tests of a difference of two areas that hold with few samples of a class.

DeLong's variance is 0 where both models separate the classes, and much too small where
samples that a model fails on are rare and none was drawn. Here each area has Wilson's
limits for as many independent samples as its variance stands for, and these limits are
combined as Zou and Donner do (MOVER).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.paired.margin_statistics import Estimated, Tails, make_tests, plain, samples_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions

    Floats = NDArray[np.float64]

_PRIOR = 2.0  # failed samples that stand for what was not observed


class Areas(NamedTuple):
    """Areas of two models, or of many pairs, as proportions of the largest possible."""

    a: Any
    b: Any
    variance_a: Any
    variance_b: Any
    correlation: Any
    #: Samples, or clusters, of the rarer class.
    n_a: Any
    n_b: Any

    @property
    def df(self) -> Any:
        """Degrees of freedom of the critical values."""
        return np.minimum(self.n_a, self.n_b) - 1.0

    @property
    def mirrored(self) -> Areas:
        """The same with the models exchanged."""
        return Areas(
            *(self.b, self.a, self.variance_b, self.variance_a),
            *(self.correlation, self.n_b, self.n_a),
        )


def _failed(area: Any, n: Any) -> Any:
    """Count the samples of the rarer class that an area is short of 1, or of 0."""
    return n * np.minimum(area, 1.0 - area)


def _wilson(area: Any, variance: Any, n: Any, critical: Any) -> tuple[Any, Any]:
    """Wilson's limits for the number of samples that the variance stands for.

    The variance of an area is at most area (1 - area) / n. Where few samples failed the
    estimate is drawn towards this bound.
    """
    inside = area * (1.0 - area)
    ratio = np.where(inside > 0.0, n * variance / np.where(inside > 0.0, inside, 1.0), 1.0)
    failed = _failed(area, n)
    effective = n * (failed + _PRIOR) / (failed * ratio + _PRIOR)
    k = critical**2 / effective
    middle = (area + 0.5 * k) / (1.0 + k)
    spread = critical / (1.0 + k) * np.sqrt((inside + 0.25 * k) / effective)
    return middle - spread, middle + spread


def lower_limit(areas: Areas, critical: Any) -> Any:
    """Lower limit of the difference, for a critical value of Student's t."""
    a, b = areas.a, areas.b
    low, _ = _wilson(a, areas.variance_a, areas.n_a, critical)
    _, high = _wilson(b, areas.variance_b, areas.n_b, critical)
    failed = _failed(a, areas.n_a) + _failed(b, areas.n_b)
    correlation = areas.correlation * failed / (failed + _PRIOR)
    down, up = a - low, high - b
    squared = down**2 + up**2 - 2.0 * correlation * down * up
    return np.maximum(a - b - np.sqrt(np.maximum(squared, 0.0)), -1.0)


def area_interval(areas: Areas, level: float) -> ConfidenceInterval:
    """Two-sided interval for the difference."""
    from scipy.special import stdtrit

    critical = stdtrit(areas.df, 0.5 * (1.0 + level))
    return ConfidenceInterval(
        lower_limit(areas, critical) + 0.0, -lower_limit(areas.mirrored, critical) + 0.0
    )


def area_tail(areas: Areas, shift: Any) -> tuple[Any, Any]:
    """Statistic and p-value of H0: the difference is at most `shift`.

    The statistic is the critical value with which the limit of the difference on this
    side is `shift`.
    """
    from scipy.special import stdtr

    below = np.asarray(areas.a - areas.b < shift)
    parts = [np.where(below, y, x) for x, y in zip(areas, areas.mirrored, strict=True)]
    turned, limit = Areas(*parts), np.where(below, -np.asarray(shift), shift)
    low, high = np.zeros(limit.shape), np.ones(limit.shape)  # of critical / (1 + critical)
    for _ in range(48):
        middle = np.minimum(0.5 * (low + high), 1.0 - 1e-8)
        above = lower_limit(turned, middle / (1.0 - middle)) > limit
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    statistic = np.where(below, -1.0, 1.0) * low / (1.0 - low)
    return statistic, stdtr(areas.df, -statistic)


def area_margins(
    areas: Areas,
    options: MarginOptions,
    standard_error: Any,
    *,
    n_samples: Any,
    measure: str,
    alternative: str = "two-sided",
    largest: float = 1.0,
    pvalue: Any = None,
) -> MarginTests:
    """Test differences against a margin, in units of the `largest` area.

    `pvalue` is that of equality, from which better and worse follow; for None they
    follow from the same limits as all else.
    """
    difference = np.asarray(areas.a - areas.b)
    margin = options.margin / largest
    lower, pvalue_lower = area_tail(areas, -margin)
    upper, pvalue_upper = area_tail(areas.mirrored, -margin)
    superiority = area_tail(areas, margin)[1]
    if pvalue is None:
        tails = area_tail(areas, 0.0)[1], area_tail(areas.mirrored, 0.0)[1]
        sides = {"greater": tails[0], "less": tails[1]}
        pvalue = sides.get(alternative, np.minimum(2.0 * np.minimum(*tails), 1.0))
    intervals = []
    for level in (1.0 - options.alpha, 1.0 - 2.0 * options.alpha):
        ends = area_interval(areas, level)
        intervals.append(ConfidenceInterval(*(plain(largest * end) for end in ends)))
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = largest * np.abs((difference + margin) / lower)
    error = np.asarray(standard_error, np.float64)
    observed, n = np.where(error > 0.0, error, reach), np.sqrt(float(n_samples))
    spreads = (observed * n, reach * n, observed * n)
    needed = samples_needed(largest * difference, options.margin, spreads, options)
    return make_tests(
        Estimated(
            largest * difference,
            plain(error),
            n_samples=n_samples,
            pvalue=pvalue,
            alternative=alternative,
            measure=measure,
        ),
        options,
        Tails(lower, -upper, pvalue_lower, pvalue_upper, superiority),
        (intervals[0], intervals[1]),
        needed,
        method="mover",
        df=plain(areas.df),
    )
