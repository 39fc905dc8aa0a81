"""The rates of two models that are proportions of the same samples, as paired counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.metrics.estimators import KernelEstimator
from fastcmp.paired.accuracy_margins import SMALL

if TYPE_CHECKING:
    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator


def paired_counts(estimator: Estimator, cells: Cells) -> tuple[int, int, int] | None:
    """Samples that only a has right, that only b has, and all of an accuracy or recall.

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


def paired_interval(
    counts: tuple[int, int, int], level: float
) -> tuple[tuple[float, float], str]:
    """Interval of a difference of proportions, as `accuracy_margins` has it, and its name."""
    if counts[2] <= SMALL and level > 0.5:
        out = np.empty(9)
        kernels.tango_exact_margins(*counts, 0.5, 1.0 - level, 0.0, out)
        return (float(out[5]), float(out[6])), "exact"
    return tuple(kernels.tango_interval(*counts, level)), "score"
