"""Clusters and strata of samples, and variances of differences of accuracy by them.

A unit is a cluster, or the part of a cluster in a stratum. All but two methods are a
square: `unit_rows` gives each model a row, and the variance of a difference is the
squared distance of two rows. A row of differences does as well as one of a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.counts.units import VARIANCES
from fastcmp.inputs.item_groups import ItemGroups, read_item_groups
from fastcmp.kernels.cluster_means import cluster_factors

if TYPE_CHECKING:
    from fastcmp.inputs.labels import Labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Sandwich variances, referred to Student's t.
SANDWICH = ("cr2", "cr0", "cr1", "cr3")
#: Tests of the mean over clusters, in which each counts once.
CLUSTER_WEIGHTED = ("durkalski", "cluster-weighted")
#: All methods; the first is the default.
CLUSTERED = (*SANDWICH, "obuchowski", "yang", *CLUSTER_WEIGHTED, "eliasziw", "mcnemar")
#: Which may be used where there are strata.
WITH_STRATA = SANDWICH
#: Which may be used where a cluster lies in several strata.
CROSSED = ("cr1", "cr0")


class Units:
    """What clusters and strata are made of, without regard to the models."""

    def __init__(
        self,
        sizes: Floats,
        cluster: Ints | None = None,
        stratum: Ints | None = None,
        stratum_weights: Floats | None = None,
    ) -> None:
        #: Samples of each unit, shape (U,), all positive.
        self.sizes = sizes
        #: Cluster and stratum of each unit, from 0 on; None for one unit a cluster, one
        #: stratum.
        self.cluster, self.stratum = cluster, stratum
        n_strata = 1 if stratum is None else int(stratum.max()) + 1
        self.weights = np.ones(1) if stratum_weights is None else stratum_weights
        self.n_strata = n_strata
        self.n = float(sizes.sum())
        self.n_clusters = sizes.size if cluster is None else int(cluster.max()) + 1
        #: Whether a cluster lies in several strata.
        self.crossed = self.n_clusters < sizes.size
        #: The first unit of each stratum: units are in the order of strata.
        self.starts = np.zeros(1, np.int64)
        if stratum is not None:
            self.starts = np.searchsorted(stratum, np.arange(n_strata))
        stops = np.append(self.starts[1:], sizes.size)
        #: The units of each stratum.
        self.places = [slice(*ends) for ends in np.stack([self.starts, stops], 1)]
        #: Samples of the stratum of each unit, and what one of them counts.
        per_stratum = np.add.reduceat(sizes, self.starts)
        each = self.weights / per_stratum
        self.stratum_sizes, self.sample_weights = (
            np.repeat(x, stops - self.starts) for x in (per_stratum, each)
        )
        #: Samples of each cluster.
        self.cluster_sizes = self.by_cluster(sizes)
        self._leverage: dict[str, tuple[Floats, Floats]] = {}

    def strata(self) -> Iterator[tuple[Any, Floats, float]]:
        """The units, their sizes and the weight of each stratum."""
        for place, weight in zip(self.places, self.weights.tolist(), strict=True):
            yield place, self.sizes[place], weight

    def leverage(self, method: str) -> tuple[Floats, Floats]:
        """Weigh the squared residual of each unit; give the d.o.f. of each stratum."""
        if method not in self._leverage:
            each = [leverage(sizes, method) for _, sizes, _ in self.strata()]
            factors = np.concatenate([one for one, _ in each])
            self._leverage[method] = factors, np.array([df for _, df in each])
        return self._leverage[method]

    def score(self, sums: Floats) -> float:
        """Average sums over units, weighted by stratum."""
        return float(self.sample_weights @ sums)

    def by_stratum(self, values: Floats) -> Floats:
        """Add up the values of the units of each stratum, shape (U,) to (H,)."""
        return np.add.reduceat(values, self.starts)

    def by_cluster(self, parts: Floats) -> Floats:
        """Add up the parts of each cluster, shape (U,) to (G,)."""
        if not self.crossed:
            return parts
        assert self.cluster is not None
        return np.bincount(self.cluster, parts).astype(np.float64)


def leverage(sizes: Floats, method: str) -> tuple[Floats, float]:
    """Weigh the squared residual sums of the clusters of a stratum; give the d.o.f."""
    factors = np.empty(sizes.size)
    df = cluster_factors(sizes, sizes, VARIANCES[method], factors)
    return factors, df


def residuals(sums: Floats, units: Units) -> Floats:
    """Subtract from each unit what its stratum leads to expect, of one row.

    What only rounding leaves is 0, so that a variance of 0 is known for what it is.
    """
    counts = np.diff(np.append(units.starts, sums.size))
    totals = np.repeat(units.by_stratum(sums), counts)
    found = sums - units.sizes * (totals / units.stratum_sizes)
    noise = 8 * np.finfo(float).eps * np.maximum.reduceat(units.sizes, units.starts)
    rest = np.maximum.reduceat(np.abs(found), units.starts)
    if np.any(rest <= noise):
        found[np.repeat(rest <= noise, counts)] = 0.0
    return np.asarray(found)


def sandwich_rows(sums: Floats, units: Units, method: str) -> Floats:
    """Make rows whose squared length is a sandwich variance; one row, shape (U,)."""
    rows = residuals(sums, units) * units.sample_weights
    if units.crossed:
        g = units.n_clusters
        rows = units.by_cluster(rows) * (g / (g - 1.0)) ** (0.5 * (method == "cr1"))
        return np.asarray(rows)
    return np.asarray(rows * np.sqrt(units.leverage(method)[0]))


def unit_rows(sums: Floats, units: Units, method: str) -> tuple[float, Floats]:
    """The score that a method compares, and the row of its variance.

    `sums` are right answers of a model in each unit, or those of a less those of b.
    """
    sizes, g = units.sizes, units.n_clusters
    if method in SANDWICH:
        return units.score(sums), sandwich_rows(sums, units, method)
    if method in CLUSTER_WEIGHTED:
        means = sums / sizes
        score = means.mean()
        if method == "durkalski":
            return float(score), means / g
        rest = means - score
        if np.abs(rest).max() <= 8 * np.finfo(float).eps:
            rest = np.zeros_like(rest)
        return float(score), rest / np.sqrt(g * (g - 1.0))
    mean = sums.sum() / units.n
    factor = np.sqrt(g / (g - 1.0)) / units.n
    if method == "obuchowski":
        return float(mean), sums * factor
    # (s - n m)**2 + s**2 = 2 (s - n m / 2)**2 + (n m)**2 / 2
    half = 0.5 * mean
    tail = half * np.sqrt(sizes @ sizes)
    return float(mean), np.append(sums - sizes * half, tail) * factor


def combine(parts: Floats, degrees_of: Floats) -> tuple[Any, Any]:
    """Add variances of strata, shape (H, ...), by Satterthwaite's approximation."""
    total = parts.sum(axis=0)
    shape = (-1,) + (1,) * (parts.ndim - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = total * total / (parts * parts / degrees_of.reshape(shape)).sum(axis=0)
    # Without any variance the degrees of freedom mean nothing: those of the design.
    return total, np.where(total > 0.0, df, degrees_of.sum())


def sandwich_df(row: Floats, units: Units, method: str) -> float:
    """Degrees of freedom of the sandwich variance that a row is of."""
    if units.crossed:
        return units.n_clusters - 1.0
    within = units.leverage(method)[1]
    if within.size == 1:
        return float(within[0])
    parts = units.by_stratum(row * row)
    return float(combine(parts, within)[1])


def eliasziw_correlation(
    units: Units, proportions: Floats, squares: Any, n_discordant: Any
) -> Floats:
    """Correlation of discordance within clusters, 0 where it is not positive.

    `proportions` of the four cells, shape (4, ...): both right, only a, only b, both
    wrong; `squares` is the sum over clusters and cells of the squared counts divided by
    the size of the cluster. Eliasziw and Donner (1991), eqs. 2 to 5.
    """
    k, n = units.n_clusters, units.n
    mean = n / k
    if mean == 1.0:  # clusters of one
        return np.zeros(np.shape(squares))
    spread = ((units.sizes - mean) ** 2).sum() / (k * (k - 1.0) * mean)
    between = (squares - n * (proportions**2).sum(axis=0)) / k
    within = (n - squares) / (k * (mean - 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        all_cells = (between - within) / (between + (mean - spread - 1.0) * within)
        rho = all_cells / (all_cells + n_discordant / n * (1.0 - all_cells))
    return np.where(all_cells > 0.0, rho, 0.0)


# Clusters and strata of samples whose labels are encoded.


class Sampling(NamedTuple):
    """What the user says of the samples, as it came."""

    groups: Any = None
    strata: Any = None
    stratum_weights: Any = "items"

    @property
    def plain(self) -> bool:
        """Whether there are neither clusters nor strata."""
        return self.groups is None and self.strata is None

    def read(self, y_true: Any, labels: Labels) -> ItemGroups:
        """Read the clusters and strata of the samples that are compared."""
        n = labels.n_samples if labels.kept is None else labels.kept.size
        return read_item_groups(n, **self._asdict(), keep=labels.kept, indexed=("y_true", y_true))

    def refuse_weights(self) -> None:
        """Refuse weights of strata where there are no strata."""
        if self.stratum_weights != "items":
            raise ValueError(
                f"stratum_weights={self.stratum_weights!r} is for strata: pass strata="
            )


#: Neither clusters nor strata.
EVERY_SAMPLE = Sampling()


class SampleUnits(NamedTuple):
    """The unit of each sample: a cluster, or the part of a cluster in a stratum."""

    codes: Ints
    units: Units
    #: Names of the strata; empty where there are none.
    strata: tuple[str, ...]


def units_of(found: ItemGroups) -> SampleUnits:
    """Make units of clusters, and perhaps strata."""
    clusters, layers = found.clusters, found.strata
    assert clusters is not None
    if layers is None:
        sizes = np.bincount(clusters.codes)
        return SampleUnits(clusters.codes, Units(sizes.astype(np.float64)), ())
    # A unit is a cluster in a stratum, in the order of the strata.
    both = layers.codes * len(clusters.labels) + clusters.codes
    kinds, codes, sizes = np.unique(both, return_inverse=True, return_counts=True)
    stratum, cluster = np.divmod(kinds, len(clusters.labels))
    weights = found.stratum_weights
    units = Units(sizes.astype(np.float64), cluster, stratum, weights)
    names = tuple(map(str, layers.labels))
    return SampleUnits(codes.reshape(-1).astype(np.int64), units, names)


def check_defined(method: str, units: Units, strata: tuple[str, ...]) -> None:
    """Refuse a method that is not defined for these strata."""
    if strata and method not in WITH_STRATA:
        raise ValueError(
            f"method={method!r} is not defined for clusters in strata: use one of "
            f"{WITH_STRATA}, or leave out strata="
        )
    if units.crossed and method not in CROSSED:
        raise ValueError(
            f"method={method!r} needs clusters that lie within strata, and some lie in "
            "several: use method='cr1'"
        )


def default_method(units: Units) -> str:
    """Choose CR2, or CR1 where clusters lie in several strata."""
    return "cr1" if units.crossed else "cr2"
