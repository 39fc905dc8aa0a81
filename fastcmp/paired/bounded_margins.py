"""Margin tests of means of differences that lie between -1 and 1, by clusters or weights.

Right and wrong answers differ by -1, 0 or 1, and so do their means by cluster. A normal
or t interval of such means errs far too often where few clusters differ: with 10
clusters of which a model fails 8% as a whole, none is seen failing in 43% of the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.paired.margin_statistics import (
    Estimated,
    MarginOptions,
    Tails,
    make_tests,
    plain,
    samples_needed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests

    Floats = NDArray[np.float64]

_STEPS = 60  # of a search that halves its range in the worst case
_NEAR_ZERO = 1e-4  # of a normal score, where a quotient becomes its limit


class BoundedUnits(NamedTuple):
    """Differences of two models by unit: what they sum to, and the most they could.

    A row a pair of models, a column a unit; either may be one for all.
    """

    #: Weighted sums of the differences of each unit, shape (P, J).
    gain: Floats
    #: Sum of the weights of each unit: its gain lies between -weight and weight.
    weight: Floats
    #: Units of this kind.
    count: Any = 1.0

    @property
    def extra(self) -> Any:
        """Weight of the unit that is added, shape (P,): that of the heaviest.

        A mean weight would do where weights say nothing about differences; models that
        fail heavy units alone would pass up to four times too often.
        """
        return np.where(self.count > 0.0, self.weight, 0.0).max(axis=-1)

    @property
    def n_effective(self) -> Any:
        """Number of units, the heaviest counting as one, shape (P,)."""
        return (self.count * self.weight).sum(axis=-1) / self.extra


def bounded_score(units: BoundedUnits, at: Any) -> Floats:
    """Compute normal scores of the p-values of H0: the mean is `at` or less, shape (P,).

    Gaffke's bound: units get exponential weights E, and one more unit, with the least
    difference there may be, joins them; the p-value is the chance that the weighted
    mean is `at` or less, that is P(sum a E <= 0) with a = gain - at * weight. With
    units of 0 and 1 alone it is Clopper and Pearson's. By Lugannani and Rice's saddle
    point in Barndorff-Nielsen's form; relative error 3%, on the safe side.
    """
    at = np.asarray(at, np.float64)
    gain, weight, count = np.broadcast_arrays(*map(np.atleast_2d, units))
    n_rows = np.broadcast_shapes(gain.shape[:1], at.shape)[0]
    last = np.broadcast_to(-(1.0 + at) * units.extra, n_rows)[:, np.newaxis]
    a = np.concatenate([gain - at[..., np.newaxis] * weight, last], axis=1)
    count = np.broadcast_to(np.append(count, np.ones((len(count), 1)), axis=1), a.shape)
    a = np.where(count > 0.0, a, 0.0)
    a /= np.maximum(np.abs(a).max(axis=1, keepdims=True), np.finfo(float).tiny)
    largest, least = a.max(axis=1), a.min(axis=1)
    score = np.where(largest <= 1e-12, np.inf, -np.inf)
    inside = np.flatnonzero((largest > 1e-12) & (least < -1e-12))
    a, count = a[inside], count[inside]
    low, high, t = 1.0 / least[inside], 1.0 / largest[inside], np.zeros(inside.size)
    slope, curve = t, t
    for _ in range(_STEPS):  # the root of the slope of the cumulant generating function
        q = a / (1.0 - a * t[:, np.newaxis])
        slope, curve = (count * q).sum(axis=1), (count * q * q).sum(axis=1)
        if (np.abs(slope) <= 1e-9 * np.sqrt(curve)).all():
            break
        low, high = np.where(slope < 0.0, t, low), np.where(slope < 0.0, high, t)
        step = t - slope / curve
        t = np.where((low < step) & (step < high), step, 0.5 * (low + high))
    q = a / (1.0 - a * t[:, np.newaxis])
    cumulant = -(count * np.log1p(-a * t[:, np.newaxis])).sum(axis=1)
    curve = (count * q * q).sum(axis=1)
    w = np.sign(t) * np.sqrt(np.maximum(-2.0 * cumulant, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = w + np.log(t * np.sqrt(curve) / w) / w
    limit = -(count * q**3).sum(axis=1) / (3.0 * curve**1.5)
    score[inside] = np.where(np.abs(w) < _NEAR_ZERO, limit, found)
    return score


def bounded_limit(units: BoundedUnits, alpha: float) -> Floats:
    """Lower limits for the means that hold with the probability 1 - alpha, shape (P,)."""
    from scipy.special import ndtri

    score = bounded_score(units, -1.0 + 1e-9)
    low, high = np.full(score.size, -1.0), np.ones(score.size)
    at, off = 0.5 * (low + high), score
    before, off_before = low + 1e-9, score - ndtri(alpha)
    for _ in range(_STEPS):
        off = bounded_score(units, at) - ndtri(alpha)
        low, high = np.where(off < 0.0, at, low), np.where(off < 0.0, high, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = at - off * (at - before) / (off - off_before)
        before, off_before = at, off
        at = np.where((low < step) & (step < high), step, 0.5 * (low + high))
        if (np.abs(at - before) <= 1e-10).all():
            break
    return np.where(at < -1.0 + 1e-8, -1.0, at)


def bounded_interval(units: BoundedUnits, level: float) -> tuple[Floats, Floats]:
    """Both ends of intervals for the means, shape (P,)."""
    turned = units._replace(gain=-units.gain)
    alpha = 0.5 * (1.0 - level)
    return bounded_limit(units, alpha), 0.0 - bounded_limit(turned, alpha)


def bounded_margins(
    parts: Iterable[BoundedUnits], of: Estimated, options: MarginOptions, unit: str
) -> MarginTests:
    """Test differences whose units are bounded against a margin, and decide.

    The units of some pairs at a time. Where there are too few no test can decide: a model
    that fails a share of them as large as the margin, each as a whole, shows none that
    fails with a probability above alpha.
    """
    from scipy.special import ndtr

    margin, rows = float(options.margin), []
    for units in parts:
        turned = units._replace(gain=-units.gain)
        lower, upper = (-bounded_score(x, -margin) for x in (units, turned))
        better = -bounded_score(turned if options.lower_is_better else units, margin)
        found = [lower, -upper, ndtr(-lower), ndtr(-upper), ndtr(-better)]
        for alpha in (options.alpha, 2.0 * options.alpha):
            found += bounded_interval(units, 1.0 - alpha)
        rows.append(np.stack(np.broadcast_arrays(*found, units.n_effective)))
    shape = np.shape(of.difference)
    *tests, n_effective = np.concatenate(rows or [np.empty((10, 0))], axis=1)
    tests, n_effective = [x.reshape(shape) for x in tests], n_effective.reshape(shape)
    # So many units of which none fails are needed, and more where differences vary.
    fewest = np.log(options.one_sided) / np.log1p(-margin)
    n = np.asarray(of.n_samples, np.float64)
    spread = of.standard_error * np.sqrt(n)
    needed = samples_needed(options.gain(of.difference), margin, (spread,) * 3, options)
    needed = needed + fewest * n / n_effective
    reason = ""
    if (short := n_effective < fewest).any():
        least = float(np.min(n_effective[short]))
        reason = (
            f"this margin needs at least {np.ceil(fewest):.0f} {unit}, and these are worth "
            f"{least:.4g}: a model that fails {100 * margin:.3g}% of all may fail none of so few"
        )
    intervals = [ConfidenceInterval(*map(plain, tests[k : k + 2])) for k in (5, 7)]
    return make_tests(
        of,
        options,
        Tails(*tests[:5]),
        (intervals[0], intervals[1]),
        np.where(needed > n, needed, np.inf),
        method="bounded",
        reason=reason,
    )
