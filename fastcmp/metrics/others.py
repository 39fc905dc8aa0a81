"""Predictions that are none of the classes: a column without a row, in no average."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.metrics.derived import AdjustedForChance
from fastcmp.metrics.estimators import KernelEstimator

if TYPE_CHECKING:
    from fastcmp.metrics.estimators import Estimator

#: Rates and agreements that know such predictions; for the others they would be right.
_WITH_OTHERS = (
    *(kernels.RECALL, kernels.PRECISION, kernels.F_BETA, kernels.JACCARD),
    *(kernels.FOWLKES_MALLOWS, kernels.ACCURACY, kernels.MCC, kernels.KAPPA),
    kernels.SCOTT_PI,
)


def with_others(estimator: Estimator) -> Estimator:
    """Add a last class for them; raise ValueError where they have no place."""
    k = estimator.n_classes + 1
    if isinstance(estimator, AdjustedForChance):
        return replace(estimator, n_classes=k, base=with_others(estimator.base))
    if isinstance(estimator, KernelEstimator):
        spec = estimator.spec
        if spec.metric in _WITH_OTHERS and not estimator.penalty.size:
            listed = np.append(estimator.listed, np.uint8(0))
            return replace(estimator, n_classes=k, listed=listed)
    raise ValueError(
        f"metric {estimator.name!r} has no place for predictions that are none of the "
        "classes: with it missing='wrong' counts none, and classes= must name all"
    )
