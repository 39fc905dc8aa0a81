"""Recalls of two models: paired counts of the same samples, and MOVER of several classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.kernels.margins_exact import tango_exact_margins
from fastcmp.metrics.derived import AdjustedForChance
from fastcmp.metrics.estimators import KernelEstimator
from fastcmp.paired.accuracy_margins import SMALL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


def paired_counts(estimator: Estimator, cells: Cells) -> tuple[int, int, int] | None:
    """Count the samples that only a has right, that only b has, and all that count.

    None where the metric is no proportion of samples that are the same for both models,
    and of weighted samples and clusters.
    """
    counted = cells.clusters is None and cells.squares is None
    if not counted or not isinstance(estimator, KernelEstimator):
        return None
    (t, a, b), spec = cells.codes.T, estimator.spec
    if spec.metric == kernels.ACCURACY:
        kept, right_a, right_b = np.ones(t.size, np.bool_), a == t, b == t
    elif spec.average != kernels.ONE_CLASS:
        return None
    elif spec.metric == kernels.RECALL:
        kept, right_a, right_b = t == spec.label, a == spec.label, b == spec.label
    elif spec.metric == kernels.SPECIFICITY:
        kept, right_a, right_b = t != spec.label, a != spec.label, b != spec.label
    else:
        return None
    n = int(cells.counts[kept].sum())
    only_a, only_b = (
        int(cells.counts[kept & own & ~other].sum())
        for own, other in ((right_a, right_b), (right_b, right_a))
    )
    return (only_a, only_b, n) if n else None


def paired_interval(counts: tuple[int, int, int], level: float) -> tuple[tuple[float, float], str]:
    """Interval of a difference of proportions, as `accuracy_margins` has it, and its name."""
    if counts[2] <= SMALL and level > 0.5:
        out = np.empty(9)
        tango_exact_margins(*counts, 0.5, 1.0 - level, 0.0, out)
        return (float(out[5]), float(out[6])), "exact"
    low, high = kernels.tango_interval(*counts, level)
    return (low, high), "score"


class _Part(NamedTuple):
    """Samples of which the proportion predicted rightly has a weight."""

    counts: Floats  # both right, only a, only b, both wrong
    weight: float


def newcombe_limits(estimator: Estimator, cells: Cells, level: float) -> tuple[float, float] | None:
    """Give limits of the difference of two models, by Zou and Donner's MOVER.

    None where the metric is no mean of proportions of different samples.
    """
    if cells.clusters is not None or cells.squares is not None:
        return None
    factor = 1.0
    if isinstance(estimator, AdjustedForChance):
        k = np.count_nonzero(np.bincount(cells.codes[:, 0], minlength=1))
        if k < 2:
            return None
        factor, estimator = 1.0 / (1.0 - 1.0 / k), estimator.base
    if not isinstance(estimator, KernelEstimator):
        return None
    parts = _parts(estimator, cells)
    if parts is None:
        return None
    middle = down = up = 0.0
    for counts, weight in parts:
        both, only_a, only_b, none = (int(count) for count in counts)
        rate = (only_a - only_b) / (both + only_a + only_b + none)
        low, high = kernels.newcombe_interval(both, only_a, only_b, none, level)
        middle += weight * rate
        down += (weight * (rate - low)) ** 2
        up += (weight * (high - rate)) ** 2
    low, high = middle - math.sqrt(down), middle + math.sqrt(up)
    return factor * low, factor * high


def _parts(estimator: KernelEstimator, cells: Cells) -> list[_Part] | None:
    """List the proportions whose weighted differences are that of the metric."""
    spec, (t, a, b) = estimator.spec, cells.codes.T
    one = np.zeros(t.size, np.int64)
    if spec.metric == kernels.ACCURACY:
        return [_Part(_paired(cells, one, a == t, b == t)[0], 1.0)]
    if spec.average == kernels.ONE_CLASS:
        k = spec.label
        found = []
        if spec.metric in (kernels.RECALL, kernels.INFORMEDNESS):
            found.append(_Part(_paired(cells, t != k, a == k, b == k)[0], 1.0))
        if spec.metric in (kernels.SPECIFICITY, kernels.INFORMEDNESS):
            found.append(_Part(_paired(cells, t == k, a != k, b != k)[0], 1.0))
        known = found and all(part.counts.sum() > 0 for part in found)
        return found if known else None
    # Weights by class are estimates too: no fixed sum of proportions.
    if spec.metric != kernels.RECALL or spec.average != kernels.MACRO:
        return None
    tables = cells.table(0), cells.table(1)
    averaged, other = (estimator.averaged(table) for table in tables)
    if averaged is None or other is None or not np.array_equal(averaged, other):
        return None
    sizes = tables[0].sum(axis=1)
    if math.isnan(spec.zero_division):
        averaged = averaged & (sizes > 0)
    if not averaged.any():
        return None
    weights = averaged / averaged.sum()
    paired = _paired(cells, t, a == t, b == t)
    used = np.flatnonzero((weights > 0) & (sizes > 0))
    return [_Part(paired[k], float(weights[k])) for k in used]


def _paired(cells: Cells, part: NDArray[np.int64], a: Flags, b: Flags) -> Floats:
    """Count which of two models are right in each part, (parts, 4)."""
    places = 4 * part.astype(np.int64) + 2 * ~a + ~b
    size = 4 * max(cells.n_classes, 1 + int(part.max(initial=0)))
    counts = np.bincount(places, cells.counts.astype(np.float64), size)
    return np.asarray(counts.reshape(-1, 4))
