"""Exact permutation tests of two classes, without looking at each configuration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.core.options import ALTERNATIVES
from fastcmp.metrics.derived import AdjustedForChance
from fastcmp.metrics.estimators import KernelEstimator

if TYPE_CHECKING:
    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.estimators import Estimator


def rises_with_hits(estimator: Estimator) -> bool:
    """Tell whether a metric rises, or falls, with the samples predicted rightly."""
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    # Markedness and ratios are undefined at an end, and a rate of 1 for 0/0 is a jump.
    return (
        isinstance(estimator, KernelEstimator)
        and estimator.n_classes == 2
        and not kernels.MARKEDNESS <= estimator.spec.metric <= kernels.ODDS_RATIO
        and estimator.spec.zero_division == 0.0
    )


def exact_pvalue(estimator: Estimator, cells: Cells, alternative: str) -> float | None:
    """Compute the p-value of the exact permutation test; None where it takes all."""
    if not rises_with_hits(estimator) or cells.clusters is not None:
        return None
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    assert isinstance(estimator, KernelEstimator)
    counts = np.zeros((2, 2, 2))
    counts[tuple(cells.codes.T)] = cells.counts
    if not counts.any(axis=(1, 2)).all():
        return None
    pvalue = kernels.two_class_exchange_pvalue(
        counts, estimator.spec, estimator.listed, estimator.penalty, ALTERNATIVES[alternative]
    )
    return None if math.isnan(pvalue) else pvalue
