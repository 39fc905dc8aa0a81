"""Margin tests of means of differences that lie between -1 and 1, by clusters or weights.

Right and wrong answers differ by -1, 0 or 1, and so do their means by cluster. A normal
or t interval of such means errs far too often where few clusters differ: with 10
clusters of which a model fails 8% as a whole, none is seen failing in 43% of the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.kernels import bounded_means
from fastcmp.paired.margin_statistics import (
    Estimated,
    MarginOptions,
    Tails,
    make_tests,
    plain,
    samples_needed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests

    Floats = NDArray[np.float64]


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

    def rows(self) -> Iterator[Any]:
        """Give the units of each pair, as kernels take them."""
        arrays = np.broadcast_arrays(*(np.atleast_2d(np.asarray(x, np.float64)) for x in self))
        return zip(*map(np.ascontiguousarray, arrays), strict=True)

    @property
    def n_effective(self) -> Any:
        """Number of units, the heaviest counting as one, shape (P,)."""
        heaviest = np.where(self.count > 0.0, self.weight, 0.0).max(axis=-1)
        with np.errstate(invalid="ignore"):  # a pair without any unit
            return (self.count * self.weight).sum(axis=-1) / heaviest


def bounded_score(units: BoundedUnits, at: float) -> Floats:
    """Compute normal scores of the p-values of H0: the mean is `at` or less, shape (P,)."""
    return np.array([bounded_means.bounded_score(g, w, k, at) for g, w, k in units.rows()])


def bounded_interval(units: BoundedUnits, level: float) -> tuple[Floats, Floats]:
    """Compute both ends of intervals for the means, shape (P,)."""
    alpha, turned = 0.5 * (1.0 - level), units._replace(gain=-units.gain)
    low, high = (
        np.array([bounded_means.bounded_limit(g, w, k, alpha) for g, w, k in x.rows()])
        for x in (units, turned)
    )
    return low, 0.0 - high


def bounded_margins(
    parts: Iterable[BoundedUnits],
    of: Estimated,
    options: MarginOptions,
    unit: str,
    largest: float = 1.0,
) -> MarginTests:
    """Test differences whose units are bounded against a margin, and decide.

    Differences lie between -`largest` and `largest`; units hold them in this unit.
    The units of some pairs at a time. Where there are too few no test can decide: a model
    that fails a share of them as large as the margin, each as a whole, shows none that
    fails with a probability above alpha.
    """
    from scipy.special import ndtr

    margin, rows = float(options.margin) / largest, []
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
    gain = options.gain(of.difference)
    needed = samples_needed(gain, options.margin, (spread,) * 3, options)
    needed = needed + fewest * n / n_effective
    reason = ""
    if (short := n_effective < fewest).any():
        least = float(np.min(n_effective[short]))
        reason = (
            f"this margin needs at least {np.ceil(fewest):.0f} {unit}, and these are worth "
            f"{least:.4g}: a model that fails {100 * margin:.3g}% of all may fail none of so few"
        )
    intervals = [
        ConfidenceInterval(*(plain(largest * end) for end in tests[k : k + 2])) for k in (5, 7)
    ]
    return make_tests(
        of,
        options,
        Tails(*tests[:5]),
        (intervals[0], intervals[1]),
        np.where(needed > n, needed, np.inf),
        method="bounded",
        reason=reason,
    )
