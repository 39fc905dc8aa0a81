"""McNemar's test where samples come in clusters: estimates, intervals and cautions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.numbers import t_ppf
from fastcmp.paired.margins import BoundedUnits, bounded_interval
from fastcmp.paired.mcnemar_counts import difference_intervals
from fastcmp.paired.units import (
    CLUSTER_WEIGHTED,
    SANDWICH,
    Units,
    eliasziw_correlation,
    leverage,
    sandwich_df,
    unit_rows,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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


def estimate(cells: Ints, units: Units, method: str) -> Estimate:
    """Estimate a difference and its variance from counts by unit, shape (4, U).

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


def constant_pvalue(difference: Any, n_units: Any, alternative: str = "two-sided") -> Any:
    """Exact p-values of sign flips where the difference is the same in all units.

    It is the most extreme one of the 2**n_units that may be.
    """
    if alternative == "two-sided":
        return np.minimum(np.exp2(1.0 - n_units), 1.0)
    expected = 1.0 if alternative == "greater" else -1.0
    return np.where(np.sign(difference) == expected, np.exp2(-1.0 * n_units), 1.0)[()]


def bounded_units(sums: Floats, units: Units, method: str) -> BoundedUnits:
    """Weigh the sums of differences of each cluster as the method does."""
    if method in CLUSTER_WEIGHTED:
        return BoundedUnits(sums / units.sizes, np.ones(sums.size))
    weights = units.sample_weights
    return BoundedUnits(units.by_cluster(sums * weights), units.by_cluster(units.sizes * weights))


def standardized(difference: Floats, variance: Floats) -> Floats:
    """Divide by standard errors: 0 / 0 is 0, anything else over 0 is infinite."""
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
    half = float(-t_ppf(0.5 * (1.0 - level), df)) * math.sqrt(variance)
    return max(difference - half, -1.0), min(difference + half, 1.0)


def cluster_cautions(units: Units, method: str) -> tuple[str, ...]:
    """Say what the number and sizes of clusters make of a test."""
    found = []
    if (effective := leverage(units.cluster_sizes, "cr2")[1]) < _FEW_DEGREES:
        found.append(
            f"The {units.n_clusters} clusters are worth {effective:.1f} degrees of "
            "freedom: too few for a test to rely on."
        )
    if (largest := units.cluster_sizes.max() / units.n) > _LARGE_CLUSTER:
        found.append(
            f"One cluster holds {100 * largest:.0f}% of the samples: the result is largely its own."
        )
    if method == "obuchowski" and units.n_clusters <= _FEW_CLUSTERS:
        found.append(f"With {units.n_clusters} clusters Obuchowski's test rarely rejects.")
    if method == "mcnemar":
        found.append(
            "Clusters are ignored: where samples of a cluster are alike, equal models "
            "are found different far too often."
        )
    return tuple(found)
