"""Variances of differences of accuracy where samples come in clusters, or in strata.

A unit is a cluster, or the part of a cluster in a stratum. All but two methods are a
square: `unit_rows` gives each model a row, and the variance of a difference is the
squared distance of two rows. A row of differences does as well as one of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.counts.item_units import VARIANCES
from fastcmp.kernels.cluster_means import cluster_factors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

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
        #: The units of each stratum.
        self.places: list[Any] = [slice(None)]
        if stratum is not None:
            self.places = [np.flatnonzero(stratum == h) for h in range(n_strata)]
        #: Samples of each cluster.
        self.cluster_sizes = self.by_cluster(sizes)
        self._leverage: dict[str, list[tuple[Floats, float]]] = {}

    def strata(self) -> Iterator[tuple[Any, Floats, float]]:
        """Give the units, their sizes and the weight of each stratum."""
        for place, weight in zip(self.places, self.weights.tolist(), strict=True):
            yield place, self.sizes[place], weight

    def leverage(self, method: str) -> list[tuple[Floats, float]]:
        """Weigh squared residual sums, and give the d.o.f., stratum by stratum."""
        if method not in self._leverage:
            self._leverage[method] = [
                leverage(sizes, method) for _, sizes, _ in self.strata()
            ]
        return self._leverage[method]

    def degrees(self, method: str) -> Floats:
        """Degrees of freedom within each stratum; they depend on sizes only."""
        return np.array([df for _, df in self.leverage(method)])

    def scores(self, sums: Floats) -> Floats:
        """Average sums over units, shape (..., U), weighted by stratum."""
        parts = [
            sums[..., place].sum(axis=-1) * (weight / sizes.sum())
            for place, sizes, weight in self.strata()
        ]
        return np.sum(parts, axis=0)  # type: ignore[no-any-return]

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
    """Subtract from each unit of a row what its stratum leads to expect.

    What only rounding leaves is 0, so that a variance of 0 is known for what it is.
    """
    found = np.empty_like(sums)
    for place, sizes, _ in units.strata():
        own = sums[..., place]
        mean = own.sum(axis=-1, keepdims=True) / sizes.sum()
        rest = own - sizes * mean
        noise = 8 * np.finfo(float).eps * sizes.max()
        if np.abs(rest).max(initial=0.0) <= noise:
            rest = np.zeros_like(rest)
        found[..., place] = rest
    return found


def sandwich_rows(sums: Floats, units: Units, method: str) -> Floats:
    """Make rows whose squared length is a sandwich variance; one row, shape (U,)."""
    rows = residuals(sums, units)
    for h, (place, sizes, weight) in enumerate(units.strata()):
        rows[place] *= weight / sizes.sum()
        if not units.crossed:
            rows[place] *= np.sqrt(units.leverage(method)[h][0])
    if units.crossed:
        g = units.n_clusters
        rows = units.by_cluster(rows) * (g / (g - 1.0)) ** (0.5 * (method == "cr1"))
    return rows


def unit_rows(sums: Floats, units: Units, method: str) -> tuple[float, Floats]:
    """Give the score that a method compares, and the row of its variance.

    `sums` are right answers of a model in each unit, or those of a less those of b.
    """
    sizes, g = units.sizes, units.n_clusters
    if method in SANDWICH:
        return float(units.scores(sums)), sandwich_rows(sums, units, method)
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
    within = units.degrees(method)
    if within.size == 1:
        return float(within[0])
    parts = np.array([row[place] @ row[place] for place in units.places])
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
