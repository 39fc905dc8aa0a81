"""Clusters and strata of samples, for the variance of a metric of counts.

A metric is a sum of influences to first order, so its variance is one of a sum of
samples or clusters, taken about the mean of their stratum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.inputs.labels import code_type
from fastcmp.paired.stratified_mcnemar import per_sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.inputs.item_groups import ItemGroups
    from fastcmp.pairwise.metric_samples import MetricSamples

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class MetricUnits(NamedTuple):
    """What samples are drawn as."""

    #: Cluster of each sample; None where each is its own.
    clusters: Ints | None
    n_clusters: int
    #: Samples of each stratum, shape (H,).
    sizes: Ints
    #: Stratum of each cluster; None for one stratum, or where they lie across strata.
    of_cluster: Ints | None
    #: Whether there are strata, and whether clusters lie across them.
    stratified: bool = False
    crossed: bool = False

    @property
    def df(self) -> float:
        """Degrees of freedom: clusters less strata; infinite for single samples."""
        if self.clusters is None:
            return np.inf
        strata = 1 if self.of_cluster is None else self.sizes.size
        return float(self.n_clusters - strata)

    def factors(self, *, corrected: bool) -> Floats:
        """Give what squares count in each stratum: u / (u - 1) of u units."""
        if self.clusters is None:
            sizes = self.sizes if corrected else None
        elif self.of_cluster is None:
            sizes = np.array([self.n_clusters])
        else:
            sizes = np.bincount(self.of_cluster)
        if sizes is None:
            return np.ones(self.sizes.size)
        return np.asarray(sizes / np.maximum(sizes - 1.0, 1.0))

    @property
    def centred(self) -> bool:
        """Whether each sample is taken about the mean of its stratum."""
        return self.stratified and self.of_cluster is None

    def about_means(self, sums: Floats) -> Floats:
        """Take the mean of its stratum off the sum of each cluster; scale by factors.

        The squares then add up to the variance; `sums` has the shape (C,).
        """
        root = np.sqrt(self.factors(corrected=True))
        if self.of_cluster is None:
            return np.asarray(sums * root[0])
        means = np.bincount(self.of_cluster, sums) / np.bincount(self.of_cluster)
        rest: Floats = (sums - means[self.of_cluster]) * root[self.of_cluster]
        return rest


def single_samples(n: int) -> MetricUnits:
    """Describe samples without clusters or strata."""
    return MetricUnits(None, 0, np.array([n]), None)


def with_units(samples: MetricSamples, found: ItemGroups) -> tuple[MetricSamples, MetricUnits]:
    """Add clusters and strata: rows of the tables are then strata and classes."""
    n, strata = samples.n_samples, found.strata
    sizes, of_cluster = np.array([n]), None
    if strata is not None:
        sizes = np.bincount(strata.codes)
        weights = per_sample(found.stratum_weights, sizes)
        rows = strata.codes * samples.n_codes + samples.rows
        n_rows = sizes.size * samples.n_codes
        samples = replace(
            samples,
            rows=rows.astype(code_type(n_rows)),
            weights=np.ones(sizes.size) if weights is None else weights * n,
        )
    if found.clusters is None:
        units = MetricUnits(None, 0, sizes, None, strata is not None)
        return samples, units
    codes, n_clusters = found.clusters.codes, len(found.clusters.labels)
    if strata is not None and not found.crossed:
        of_cluster = np.zeros(n_clusters, np.int64)
        of_cluster[codes] = strata.codes
    units = MetricUnits(codes, n_clusters, sizes, of_cluster, strata is not None, found.crossed)
    return samples, units
