"""Margin tests of two models by metrics of their counts.

Samples get exponential weights, as in Rubin's Bayesian bootstrap, and one more sample, the
worst that there could have been, adds its influence with such a weight: Gaffke's bound,
which for one proportion is about Clopper and Pearson's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import ConfidenceInterval
from fastcmp.core.threads import ThreadPool
from fastcmp.core.typing import Flags, Floats
from fastcmp.kernels.item_bootstrap import cluster_cells
from fastcmp.kernels.margins_exact import tango_exact_margins
from fastcmp.metrics.bootstrap import evaluate_draws, measure
from fastcmp.metrics.cells import Cells, Drawn
from fastcmp.metrics.estimators import AdjustedForChance, Estimator, KernelEstimator, UserEstimator
from fastcmp.metrics.pair_tests import Pair
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import (
    SMALL,
    Estimated,
    MarginOptions,
    accuracy_margins,
    as_margin,
    as_margin_alpha,
    as_margins,
    make_tests,
    samples_needed,
)

#: Numbers of tables and draws beyond which fewer are drawn, and how few at least.
_WORK, _LEAST = 1 << 29, 499
_OF_USERS = 1_999  # draws where a user's function is evaluated
#: Why there may be no limits.
NO_VALUE = "the metric is 0/0 for one of the models, or says nothing without samples of a class"
_SMOOTH = 0.5  # samples that are right, and wrong, added to each class


class Bounds(NamedTuple):
    """What a difference may be: draws that err to the lower, and to the upper side."""

    #: Ascending, shape (R,).
    low: Floats
    high: Floats
    #: Of all differences that there may be.
    limits: tuple[float, float]

    def pvalue_lower(self, at: float) -> float:
        """P-value of H0: the difference is `at` or less."""
        return _tail(self.low, at)

    def pvalue_upper(self, at: float) -> float:
        """P-value of H0: the difference is `at` or more."""
        return _tail(-self.high[::-1], -at)

    def interval(self, level: float) -> tuple[float, float]:
        """Both ends of the interval, which inverts the tests."""
        alpha = 0.5 * (1.0 - level)
        low, high = _quantile(self.low, alpha), -_quantile(-self.high[::-1], alpha)
        least, most = self.limits
        return float(np.maximum(low, least)), float(np.minimum(high, most))


def _fitted(draws: Floats) -> tuple[int, float, float]:
    """Number of draws in the lower tail, where it begins, and its mean excess.

    Beyond these draws the tail is taken for exponential, which is on the safe side.
    """
    k = min(max(10, draws.size // 100), draws.size)
    start = float(draws[k - 1])
    return k, start, float(np.mean(start - draws[:k])) if math.isfinite(start) else math.inf


def _tail(draws: Floats, at: float) -> float:
    if math.isnan(draws[0]):
        return math.nan
    below = int(np.searchsorted(draws, at, "right"))
    k, start, excess = _fitted(draws)
    if below >= k or not 0.0 < excess < math.inf:
        return (below + 1.0) / (draws.size + 1.0)
    return (k + 1.0) / (draws.size + 1.0) * math.exp(-(start - at) / excess)


def _quantile(draws: Floats, alpha: float) -> float:
    k, start, excess = _fitted(draws)
    place = alpha * (draws.size + 1.0) - 1.0
    if place >= k or not 0.0 < excess < math.inf:
        return float(draws[max(math.ceil(place) - 1, 0)])
    return start - excess * math.log((k + 1.0) / (draws.size + 1.0) / alpha)


def bounded_draws(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    within_classes: bool = False,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[Bounds]:
    """Drawn differences of several metrics, with the same weights.

    Fewer than `n_resamples` where classes are many, or a user's function is slow.
    """
    if not estimators:
        return []
    work = len(cells.codes) + cells.n_models * cells.n_classes**2
    n = min(n_resamples, max(_LEAST, _WORK // work))
    if any(isinstance(estimator, UserEstimator) for estimator in estimators):
        n = min(n, _OF_USERS)
    values, extra = np.empty((len(estimators), n)), np.empty(n)
    t, counts = cells.codes[:, 0], cells.counts.astype(np.float64)
    sizes, places = cells.table(0).sum(axis=1), np.arange(t.size)
    of_sample = np.ones(t.size) if cells.squares is None else cells.squares / counts
    # The same weights where the models are exchanged.
    turned = cells.codes[:, [0, 2, 1]]
    order = np.lexsort(turned.T[::-1])
    as_turned = np.column_stack([turned, counts])[order].tolist()
    as_given = np.column_stack([cells.codes, counts]).tolist()
    if as_given <= as_turned:
        order = places

    def fill(part: slice, draws: Floats) -> tuple[Floats | None, None]:
        bits = np.random.Philox(key=seed, counter=[0, 0, 0, part.start])
        random, times = np.random.Generator(bits), None
        extra[part] = random.standard_exponential(len(draws))
        if cells.clusters is not None:
            times = random.standard_exponential((len(draws), cells.clusters.n))
            cluster_cells(*cells.clusters, places, times, draws)
            draws *= of_sample
        else:  # also a sum of weighted exponential numbers is nearly gamma
            shape = (counts / of_sample)[order]
            draws[:, order] = of_sample[order] * random.standard_gamma(shape, draws.shape)
        if within_classes:
            of_class = np.eye(cells.n_classes)[t]
            draws *= (sizes / np.maximum(draws @ of_class, 1e-300))[:, t]
        return times, None

    def take(part: slice, drawn: Drawn) -> None:
        for e, estimator in enumerate(estimators):
            values[e, part] = measure(estimator, drawn.tables)

    evaluate_draws(cells, n, fill, take, pool)
    bounds = []
    for estimator, differences in zip(estimators, values, strict=True):
        worst, best = _extremes(estimator, cells, sizes)
        least, most = estimator.entry.limits
        with np.errstate(invalid="ignore"):
            low, high = differences + worst * extra, differences + best * extra
        low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
        alone = np.count_nonzero(sizes) < 2 and estimator.needs_two_classes
        if alone or low.min() == low.max():  # no sample could change the metric
            low[:] = high[:] = np.nan
        low, high = np.sort(low), np.sort(high)
        if as_given == as_turned:
            low = 0.5 * (low - high[::-1])
            high = -low[::-1]
        bounds.append(Bounds(low, high, (least - most, most - least)))
    return bounds


def _extremes(estimator: Estimator, cells: Cells, sizes: Floats) -> tuple[float, float]:
    """What the worst and the best sample, or cluster, that there may be would add.

    By the influences at tables to each of whose classes half a sample that is predicted
    rightly is added, and half a wrong one: each possible prediction has one.
    """
    k = cells.n_classes
    tables = np.stack([cells.table(0), cells.table(1)])
    others = np.tile(sizes if np.count_nonzero(sizes) > 1 else tables.sum(axis=(0, 1)), (k, 1))
    np.fill_diagonal(others, 0.0)
    total = others.sum(axis=1, keepdims=True)
    added = np.divide(_SMOOTH * others, total, out=np.zeros((k, k)), where=total > 0.0)
    added[np.diag_indices(k)] = _SMOOTH
    added[sizes == 0.0] = 0.0
    smooth = tables + added
    possible = smooth > 0.0
    psi = estimator.influences(smooth) / smooth.sum(axis=(1, 2))[:, np.newaxis, np.newaxis]
    if np.isnan(psi[possible]).any():  # a user's function without a derivative here
        for m, i, j in np.argwhere(possible).tolist():
            more = smooth[m].copy()
            more[i, j] += 1.0
            psi[m, i, j] = estimator.value(more) - estimator.value(smooth[m])
    least = np.where(possible, psi, np.inf).min(axis=2)
    most = np.where(possible, psi, -np.inf).max(axis=2)
    occurs = sizes > 0.0
    worst, best = np.zeros(k), np.zeros(k)
    worst[occurs], best[occurs] = (least[0] - most[1])[occurs], (most[0] - least[1])[occurs]
    squares = cells.counts if cells.squares is None else cells.squares
    if cells.clusters is not None:
        starts, places, samples = cells.clusters
        samples = samples * (squares / cells.counts)[places]
        sums = [
            np.add.reduceat(samples * of_class[cells.codes[places, 0]], starts[:-1])
            for of_class in (worst, best)
        ]
        return float(sums[0].min()), float(sums[1].max())
    weight = np.zeros(k)
    np.maximum.at(weight, cells.codes[:, 0], squares / cells.counts)
    return float((weight * worst).min()), float((weight * best).max())


# Proportions of two models: paired counts of the same samples, and MOVER of several.


def paired_parts(estimator: Estimator, cells: Cells) -> list[tuple[list[int], float]] | None:
    """Proportions of the same samples whose weighted differences are that of the metric.

    Samples that both models have right, only a, only b and neither, and the weight of each
    proportion. None where the metric is of another form, and of weights and clusters.
    """
    if cells.clusters is not None or cells.squares is not None:
        return None
    t, a, b = cells.codes.T
    if isinstance(estimator, AdjustedForChance):
        k, parts = np.unique(t).size, paired_parts(estimator.base, cells)
        if k < 2 or parts is None:
            return None
        return [(counts, weight / (1.0 - 1.0 / k)) for counts, weight in parts]
    if not isinstance(estimator, KernelEstimator):
        return None
    spec, of = estimator.spec, list[tuple[Flags, Flags, Flags, float]]()
    k = spec.label
    if spec.metric == kernels.ACCURACY:
        of.append((np.ones(t.size, np.bool_), a == t, b == t, 1.0))
    elif spec.metric == kernels.RECALL and spec.average == kernels.MACRO:
        # Weights by class would be estimates too: no fixed sum of proportions.
        tables = np.stack([cells.table(0), cells.table(1)])
        averaged = estimator.averaged(tables)
        assert averaged is not None
        occurs = averaged[0] & (tables[0].sum(axis=1) > 0)
        n = np.count_nonzero(occurs if math.isnan(spec.zero_division) else averaged[0])
        if not n or not np.array_equal(*averaged):
            return None
        of += [(t == k, a == k, b == k, 1.0 / n) for k in np.flatnonzero(occurs).tolist()]
    elif spec.average != kernels.ONE_CLASS:
        return None
    elif spec.metric == kernels.RECALL:
        of.append((t == k, a == k, b == k, 1.0))
    elif spec.metric == kernels.SPECIFICITY:
        of.append((t != k, a != k, b != k, 1.0))
    elif spec.metric == kernels.INFORMEDNESS:
        of += [(t == k, a == k, b == k, 1.0), (t != k, a != k, b != k, 1.0)]
    else:
        return None
    pieces = []
    for samples, of_a, of_b, weight in of:
        kinds = (of_a & of_b, of_a & ~of_b, of_b & ~of_a, ~of_a & ~of_b)
        pieces.append(([int(cells.counts[samples & kind].sum()) for kind in kinds], weight))
    return pieces if all(sum(counts) for counts, _ in pieces) else None


def paired_counts(estimator: Estimator, cells: Cells) -> tuple[int, int, int] | None:
    """Numbers of samples that only a has right, that only b has, and of all that count.

    None where the metric is no proportion of samples that are the same for both models.
    """
    if not isinstance(estimator, KernelEstimator) or estimator.spec.average != kernels.ONE_CLASS:
        return None
    parts = paired_parts(estimator, cells)
    if parts is None or len(parts) > 1:
        return None
    ((both, only_a, only_b, neither), _) = parts[0]
    return only_a, only_b, both + only_a + only_b + neither


def paired_interval(counts: tuple[int, int, int], level: float) -> tuple[tuple[float, float], str]:
    """Interval of a difference of proportions, as `accuracy_margins` has it, and its name."""
    if counts[2] <= SMALL and level > 0.5:
        out = np.empty(9)
        tango_exact_margins(*counts, 0.5, 1.0 - level, 0.0, out)
        return (float(out[5]), float(out[6])), "exact"
    low, high = kernels.tango_interval(*counts, level)
    return (low, high), "score"


def newcombe_limits(estimator: Estimator, cells: Cells, level: float) -> tuple[float, float] | None:
    """Limits of the difference of two models, by Zou and Donner's MOVER.

    None where the metric is no mean of proportions of different samples.
    """
    parts = paired_parts(estimator, cells)
    if parts is None:
        return None
    middle = down = up = 0.0
    for (both, only_a, only_b, neither), weight in parts:
        rate = (only_a - only_b) / (both + only_a + only_b + neither)
        low, high = kernels.newcombe_interval(both, only_a, only_b, neither, level)
        middle += weight * rate
        down += (weight * (rate - low)) ** 2
        up += (weight * (high - rate)) ** 2
    return middle - math.sqrt(down), middle + math.sqrt(up)


#: Fields that are no array where they are the same for all.
_OFTEN_SAME = ("method", "measure", "alpha", "strict", "margin", "lower_is_better")


def read_margins(margin: Any, alpha: object) -> MarginOptions | None:
    """The checked margin, or one for each metric; None for none."""
    level = as_margin_alpha(alpha)
    if margin is None:
        return None
    margins = as_margins(margin)
    if margins.ndim > 1:
        raise BadValueError(
            "`margin` must be a number, or one for each metric", f"the shape {margins.shape}"
        )
    return MarginOptions(margins, level)


def margin_test(
    pair: Pair,
    bounds: Bounds | None,
    against: MarginOptions,
    *,
    standard_error: float,
    pvalue: float,
    alternative: str = "two-sided",
) -> MarginTests:
    """Tests of a difference against a margin: of proportions as accuracies, else by `bounds`."""
    estimator, cells = pair.estimator, pair.cells
    least, most = estimator.entry.limits
    margin = as_margin(against.margin, most - least)
    against = against._replace(lower_is_better=estimator.entry.lower_is_better)
    counts = paired_counts(estimator, cells)
    if counts is not None:
        tests = accuracy_margins(
            counts, against, pvalue=pvalue, alternative=alternative, measure=estimator.title
        )
        more = tests.n_more  # of the samples that count
        return tests if not more else replace(tests, n_more=math.ceil(more * cells.n / counts[2]))
    of = Estimated(
        pair.difference,
        standard_error,
        n_samples=cells.n,
        pvalue=pvalue,
        alternative=alternative,
        measure=estimator.title,
    )
    lower = upper = better = math.nan
    ends = [(math.nan, math.nan)] * 2
    if bounds is not None and not math.isnan(pair.difference):
        lower, upper = bounds.pvalue_lower(-margin), bounds.pvalue_upper(margin)
        better = bounds.pvalue_lower(margin)
        if estimator.entry.lower_is_better:
            better = bounds.pvalue_upper(-margin)
        ends = [bounds.interval(1 - against.alpha), bounds.interval(1 - 2 * against.alpha)]
    spread = standard_error * math.sqrt(cells.n)
    needed = samples_needed(against.gain(pair.difference), margin, (spread,) * 3, against)
    return make_tests(
        of,
        against,
        # As normal scores, so that they can be compared with those of other measures.
        (-ndtri(lower), ndtri(upper), lower, upper, better),
        (ConfidenceInterval(*ends[0]), ConfidenceInterval(*ends[1])),
        # A decision that the variance promises and is not there needs some more.
        np.where((needed > cells.n) & ~np.isnan(lower), needed, np.nan),
        method="dirichlet",
        reason=NO_VALUE if math.isnan(lower) else "",
    )


def stacked_margins(tests: list[MarginTests], shape: tuple[int, ...]) -> MarginTests:
    """One record of arrays, from many of numbers."""
    first = tests[0]
    columns: dict[str, Any] = {}
    for field in fields(MarginTests):
        values = [getattr(test, field.name) for test in tests]
        if field.name == "reason":
            columns[field.name] = max(values, key=len)
        elif field.name in ("interval", "inner_interval"):
            both = np.array(values, np.float64).reshape(*shape, 2)
            columns[field.name] = ConfidenceInterval(both[..., 0], both[..., 1])
        elif field.name in _OFTEN_SAME:
            same = values.count(values[0]) == len(tests)
            columns[field.name] = values[0] if same else np.reshape(values, shape)
        elif all(value is None for value in values):
            columns[field.name] = None
        else:
            numbers = [np.nan if x is None else x for x in values]
            columns[field.name] = np.array(numbers).reshape(shape)
    return type(first)(**columns)
