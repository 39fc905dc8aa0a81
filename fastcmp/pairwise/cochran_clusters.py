"""Cochran's Q where samples come in clusters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.paired.cluster_variance import unit_rows
from fastcmp.pairwise.clustered_tests import count_by_cluster

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.labels import Labels
    from fastcmp.paired.sample_units import SampleUnits


class ClusteredOutcome(NamedTuple):
    """Q of right answers by cluster, and Wald's statistic with its F form."""

    q: float
    pvalue: float
    wald: float
    wald_pvalue: float
    f: float
    f_pvalue: float
    status: int


def clustered_q(
    labels: Labels, sampled: SampleUnits, pool: ThreadPool
) -> tuple[ClusteredOutcome, NDArray[np.int64]]:
    """Compare all models by their right answers in each cluster, and count these.

    Q permutes the models within clusters, as a whole; for clusters of one it is
    Cochran's. Wald's statistic has the CR1 covariance of the accuracies; NaN where that
    of their differences has no inverse.
    """
    units, m = sampled.units, len(labels.names)
    bits, sums = count_by_cluster(labels, sampled.codes, units, pool)
    centred = sums - sums.mean(axis=0)
    within = float((centred**2).sum())
    noise = (8 * np.finfo(float).eps * units.sizes.max()) ** 2 * centred.size
    if within <= noise:
        none = ClusteredOutcome(0.0, 1.0, 0.0, 1.0, 0.0, 1.0, kernels.DEGENERATE)
        return none, bits.correct
    df = m - 1.0
    q = df * float((centred.sum(axis=1) ** 2).sum()) / within
    wald = _wald(sums, sampled)
    left = units.n_clusters - df
    f, f_pvalue = math.nan, math.nan
    if left > 0.0:
        f = wald * left / ((units.n_clusters - 1.0) * df)
        f_pvalue = kernels.snedecor_tail(df, left, f)
    wald_pvalue = kernels.chdtrc(df, wald)
    pvalue = kernels.chdtrc(df, q)
    found = ClusteredOutcome(q, pvalue, wald, wald_pvalue, f, f_pvalue, kernels.OK)
    return found, bits.correct


def _wald(sums: NDArray[np.float64], sampled: SampleUnits) -> float:
    """Divide the differences of accuracies by their CR1 covariance."""
    found = [unit_rows(own, sampled.units, "cr1") for own in sums]
    score = np.array([each[0] for each in found])
    rows = np.stack([each[1] for each in found])
    difference, spread = score[1:] - score[0], rows[1:] - rows[0]
    if np.linalg.matrix_rank(spread, rtol=1e-10) < len(spread):
        return math.nan
    # With spread' = Q R the covariance is R' R.
    triangle = np.asarray(np.linalg.qr(spread.T, mode="r"))
    return float((np.linalg.solve(triangle.T, difference) ** 2).sum())
