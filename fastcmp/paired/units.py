"""Clusters and strata of samples, and variances of differences of accuracy by them.

A unit is a cluster, or the part of a cluster in a stratum. All but two methods are a
square: `unit_rows` gives each model a row, and the variance of a difference is the
squared distance of two rows. A row of differences does as well as one of a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_interval
from fastcmp.core.typing import ColumnLike, Floats, Ints, Numbers
from fastcmp.counts.units import VARIANCES
from fastcmp.inputs.item_groups import ItemGroups, read_item_groups
from fastcmp.kernels.cluster_means import cluster_factors
from fastcmp.paired.margins import BoundedUnits, bounded_interval
from fastcmp.paired.mcnemar_counts import difference_intervals

if TYPE_CHECKING:
    from fastcmp.inputs.labels import Labels


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
        per_sample = self.weights / per_stratum
        self.stratum_sizes, self.sample_weights = (
            np.repeat(x, stops - self.starts) for x in (per_stratum, per_sample)
        )
        #: Samples of each cluster.
        self.cluster_sizes = self.by_cluster(sizes)
        self._leverage: dict[str, tuple[Floats, Floats]] = {}

    def strata(self) -> Iterator[tuple[Any, Floats, float]]:
        """The units, their sizes and the weight of each stratum."""
        for place, weight in zip(self.places, self.weights.tolist(), strict=True):
            yield place, self.sizes[place], weight

    def leverage(self, method: str) -> tuple[Floats, Floats]:
        """Weight of each unit's squared residual, and degrees of freedom of each stratum."""
        if method not in self._leverage:
            by_stratum = [leverage(sizes, method) for _, sizes, _ in self.strata()]
            factors = np.concatenate([one for one, _ in by_stratum])
            self._leverage[method] = factors, np.array([df for _, df in by_stratum])
        return self._leverage[method]

    def score(self, sums: Floats) -> float:
        """Mean of sums over units, weighted by stratum."""
        return float(self.sample_weights @ sums)

    def by_stratum(self, values: Floats) -> Floats:
        """Sums of the values of the units of each stratum, shape (U,) to (H,)."""
        return np.add.reduceat(values, self.starts)

    def by_cluster(self, parts: Floats) -> Floats:
        """Sums of the parts of each cluster, shape (U,) to (G,)."""
        if not self.crossed:
            return parts
        assert self.cluster is not None
        return np.bincount(self.cluster, parts).astype(np.float64)


def leverage(sizes: Floats, method: str) -> tuple[Floats, float]:
    """Weights of squared residual sums of a stratum's clusters, and degrees of freedom."""
    factors = np.empty(sizes.size)
    df = cluster_factors(sizes, sizes, VARIANCES[method], factors)
    return factors, df


def residuals(sums: Floats, units: Units) -> Floats:
    """Sums of units less those expected from their strata, of one row.

    What only rounding leaves is 0, so that a variance of 0 is known for what it is.
    """
    counts = np.diff(np.append(units.starts, sums.size))
    totals = np.repeat(units.by_stratum(sums), counts)
    residual = sums - units.sizes * (totals / units.stratum_sizes)
    noise = 8 * np.finfo(float).eps * np.maximum.reduceat(units.sizes, units.starts)
    largest = np.maximum.reduceat(np.abs(residual), units.starts)
    if np.any(largest <= noise):
        residual[np.repeat(largest <= noise, counts)] = 0.0
    return np.asarray(residual)


def sandwich_rows(sums: Floats, units: Units, method: str) -> Floats:
    """Rows whose squared length is a sandwich variance; one row, shape (U,)."""
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
        residual = means - score
        if np.abs(residual).max() <= 8 * np.finfo(float).eps:
            residual = np.zeros_like(residual)
        return float(score), residual / np.sqrt(g * (g - 1.0))
    mean = sums.sum() / units.n
    factor = np.sqrt(g / (g - 1.0)) / units.n
    if method == "obuchowski":
        return float(mean), sums * factor
    # (s - n m)**2 + s**2 = 2 (s - n m / 2)**2 + (n m)**2 / 2
    half = 0.5 * mean
    tail = half * np.sqrt(sizes @ sizes)
    return float(mean), np.append(sums - sizes * half, tail) * factor


def combine(parts: Floats, degrees_of: Floats) -> tuple[Any, Any]:
    """Sum of variances of strata, shape (H, ...), and its degrees of freedom (Satterthwaite)."""
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
    units: Units, proportions: Floats, squares: Numbers, n_discordant: Numbers
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


# McNemar's test where samples come in clusters: estimates, intervals and cautions.


#: The intervals for the difference that may be chosen.
INTERVALS = (*SANDWICH, "obuchowski", "modified-obuchowski", "score")
#: The interval that goes with a test, where it is of another name.
INTERVAL_OF = {
    "durkalski": "cluster-weighted",
    "yang": "modified-obuchowski",
    "eliasziw": "score",
    "mcnemar": "cr2",
}
#: What a method is called in print.
CLUSTERED_NAMES = {
    "cr2": "clusters, CR2",
    "cr0": "clusters, CR0",
    "cr1": "clusters, CR1",
    "cr3": "clusters, CR3",
    "obuchowski": "clusters, Obuchowski",
    "yang": "clusters, Yang, Sun and Hardin",
    "durkalski": "clusters, Durkalski",
    "cluster-weighted": "clusters of equal weight",
    "eliasziw": "clusters, Eliasziw and Donner",
    "mcnemar": "clusters ignored",
}
_FEW_DEGREES = 5
_FEW_CLUSTERS = 10
_LARGE_CLUSTER = 1 / 3


class Estimate(NamedTuple):
    """A difference of scores, its variance, and the degrees of freedom of that."""

    difference: float
    variance: float
    #: None where the normal distribution is the reference.
    df: float | None

    @property
    def statistic(self) -> float:
        """The difference over its standard error; 0 where neither is there."""
        return float(standardized(np.array(self.difference), np.array(self.variance)))


def estimate(cells: Ints, units: Units, method: str) -> Estimate:
    """A difference and its variance from counts by unit, shape (4, U).

    The cells are both right, only a, only b, both wrong.
    """
    sums = (cells[1] - cells[2]).astype(np.float64)
    if method in ("eliasziw", "mcnemar"):
        variance = float(cells[1:3].sum()) / units.n**2
        if method == "eliasziw":
            variance *= design_factor(cells, units, "discordant")
        return Estimate(float(sums.sum()) / units.n, variance, None)
    difference, row = unit_rows(sums, units, method)
    df = sandwich_df(row, units, method) if method in SANDWICH else None
    return Estimate(difference, float(row @ row), df)


def design_factor(cells: Ints, units: Units, average: str) -> float:
    """Inflate the variance of independent samples by 1 + (n_c - 1) rho.

    n_c averages the discordant samples of a cluster for the test of Eliasziw and
    Donner, and all of its samples for the score interval of Yang et al.
    """
    discordant = cells[1] + cells[2]
    total = float(discordant.sum())
    if total == 0.0:
        return 1.0
    squares = (cells.astype(np.float64) ** 2 / units.sizes).sum()
    rho = float(eliasziw_correlation(units, cells.sum(axis=1) / units.n, squares, total))
    counted = discordant if average == "discordant" else units.sizes
    counted = counted.astype(np.float64)
    return 1.0 + (float(counted @ counted / counted.sum()) - 1.0) * rho


def constant_pvalue(difference: Numbers, n_units: Numbers, alternative: str = "two-sided") -> Any:
    """Exact p-values of sign flips where the difference is the same in all units.

    It is the most extreme one of the 2**n_units that may be.
    """
    if alternative == "two-sided":
        return np.minimum(np.exp2(1.0 - n_units), 1.0)
    expected = 1.0 if alternative == "greater" else -1.0
    return np.where(np.sign(difference) == expected, np.exp2(-1.0 * n_units), 1.0)[()]


def bounded_units(sums: Floats, units: Units, method: str) -> BoundedUnits:
    """Sums of differences of each cluster, weighted as the method does."""
    if method in CLUSTER_WEIGHTED:
        return BoundedUnits(sums / units.sizes, np.ones(sums.size))
    weights = units.sample_weights
    return BoundedUnits(units.by_cluster(sums * weights), units.by_cluster(units.sizes * weights))


def standardized(difference: Floats, variance: Floats) -> Floats:
    """Differences over standard errors: 0 / 0 is 0, anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference / np.sqrt(variance)
    return np.where((variance == 0.0) & (difference == 0.0), 0.0, ratio) + 0.0


def cluster_interval(cells: Ints, units: Units, method: str, level: float) -> tuple[float, float]:
    """Ends of a two-sided interval for the difference.

    "score" is Tango's, of counts that are divided by the design factor. Without any
    variance they are Gaffke's, of means by cluster between -1 and 1.
    """
    if method == "score":
        shrunk = cells.sum(axis=1) / design_factor(cells, units, "all")
        ends = difference_intervals(shrunk[:, np.newaxis], "tango", level)
        return ends[0].item(), ends[1].item()
    sums = (cells[1] - cells[2]).astype(np.float64)
    g, n = units.n_clusters, units.n
    if method in ("obuchowski", "modified-obuchowski"):
        difference, df = float(sums.sum()) / n, None
        squares = ((sums - units.sizes * difference) ** 2).sum()
        if method == "modified-obuchowski":
            squares = 0.5 * (squares + ((sums - sums.mean()) ** 2).sum())
        variance = float(squares * g / (g - 1.0) / n**2)
    else:
        difference, variance, df = estimate(cells, units, method)
        df = g - 1.0 if method == "cluster-weighted" else df
    if variance == 0.0:
        ends = bounded_interval(bounded_units(sums, units, method), level)
        return ends[0].item(), ends[1].item()
    return t_interval(difference, math.sqrt(variance), level, df=df, limits=(-1.0, 1.0))


def cluster_cautions(units: Units, method: str) -> tuple[str, ...]:
    """Cautions about a test from the number and the sizes of clusters."""
    sentences = []
    if (effective := leverage(units.cluster_sizes, "cr2")[1]) < _FEW_DEGREES:
        sentences.append(
            f"The {units.n_clusters} clusters are worth {effective:.1f} degrees of "
            "freedom: too few for a test to rely on."
        )
    if (largest := units.cluster_sizes.max() / units.n) > _LARGE_CLUSTER:
        sentences.append(
            f"One cluster holds {100 * largest:.0f}% of the samples: the result is largely its own."
        )
    if method == "obuchowski" and units.n_clusters <= _FEW_CLUSTERS:
        sentences.append(f"With {units.n_clusters} clusters Obuchowski's test rarely rejects.")
    if method == "mcnemar":
        sentences.append(
            "Clusters are ignored: where samples of a cluster are alike, equal models "
            "are found different far too often."
        )
    return tuple(sentences)


# Clusters and strata of samples whose labels are encoded.


class Sampling(NamedTuple):
    """What the user says of the samples, as it came."""

    groups: ColumnLike | None = None
    strata: ColumnLike | None = None
    stratum_weights: Any = "items"

    @property
    def plain(self) -> bool:
        """Whether there are neither clusters nor strata."""
        return self.groups is None and self.strata is None

    def read(self, y_true: object, labels: Labels) -> ItemGroups:
        """Read the clusters and strata of the samples that are compared."""
        n = labels.n_samples if labels.kept is None else labels.kept.size
        return read_item_groups(n, **self._asdict(), keep=labels.kept, indexed=("y_true", y_true))

    def refuse_weights(self) -> None:
        """Refuse weights of strata where there are no strata."""
        if self.stratum_weights != "items":
            raise BadValueError(
                f"`stratum_weights={self.stratum_weights!r}` is for strata",
                remedy=": pass `strata=`",
            )


#: Neither clusters nor strata.
EVERY_SAMPLE = Sampling()


class SampleUnits(NamedTuple):
    """The unit of each sample: a cluster, or the part of a cluster in a stratum."""

    codes: Ints
    units: Units
    #: Names of the strata; empty where there are none.
    strata: tuple[str, ...]


def units_of(groups: ItemGroups) -> SampleUnits:
    """Units of clusters, and perhaps strata."""
    clusters, layers = groups.clusters, groups.strata
    assert clusters is not None
    if layers is None:
        sizes = np.bincount(clusters.codes)
        return SampleUnits(clusters.codes, Units(sizes.astype(np.float64)), ())
    # A unit is a cluster in a stratum, in the order of the strata.
    both = layers.codes * len(clusters.labels) + clusters.codes
    kinds, codes, sizes = np.unique(both, return_inverse=True, return_counts=True)
    stratum, cluster = np.divmod(kinds, len(clusters.labels))
    weights = groups.stratum_weights
    units = Units(sizes.astype(np.float64), cluster, stratum, weights)
    names = tuple(map(str, layers.labels))
    return SampleUnits(codes.reshape(-1).astype(np.int64), units, names)


def check_defined(method: str, units: Units, strata: tuple[str, ...]) -> None:
    """Refuse a method that is not defined for these strata."""
    if strata and method not in WITH_STRATA:
        raise BadValueError(
            f"`method={method!r}` is not defined for clusters in strata",
            remedy=f": use one of {WITH_STRATA}, or leave out `strata=`",
        )
    if units.crossed and method not in CROSSED:
        raise BadValueError(
            f"`method={method!r}` needs clusters that lie within strata, and some lie in several",
            remedy=": use `method='cr1'`",
        )


def default_method(units: Units) -> str:
    """CR2, or CR1 where clusters lie in several strata."""
    return "cr1" if units.crossed else "cr2"
