"""What each method of McNemar's test makes of counts by cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.tails import normal_tail
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED
from fastcmp.paired.bounded_margins import BoundedUnits, bounded_interval
from fastcmp.paired.cluster_variance import (
    CLUSTER_WEIGHTED,
    SANDWICH,
    Units,
    eliasziw_correlation,
    sandwich_df,
    unit_rows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: Intervals for the difference that belong to no method of the test.
ONLY_INTERVALS = ("modified-obuchowski", "score")
_BY_METHOD = {
    "durkalski": "cluster-weighted",
    "yang": "modified-obuchowski",
    "eliasziw": "score",
    "mcnemar": "cr2",
}


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


def evaluate(cells: Ints, units: Units, method: str, alternative: str) -> dict[str, Any]:
    """Test counts by unit; give statistic, p-value, degrees of freedom and status."""
    difference, variance, df = estimate(cells, units, method)
    signed = standardized(np.array([difference]), np.array([variance]))
    pvalue = tail(signed, df, alternative).item()
    statistic, status = signed.item(), OK
    if variance == 0.0:
        pvalue, status = 1.0, DEGENERATE
        if difference != 0.0:
            signs = np.sign(units.by_cluster((cells[1] - cells[2]) * units.sample_weights))
            n_units = signs.size if abs(signs.sum()) == signs.size else np.nan
            statistic, pvalue = np.nan, float(constant_pvalue(difference, n_units, alternative))
            status = UNDEFINED if np.isnan(pvalue) else DEGENERATE
    if df is None and alternative == "two-sided":
        statistic, df = statistic * statistic, 1
    return {"statistic": statistic, "pvalue": pvalue, "df": df, "status": status}


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


def tail(statistic: Floats, df: Any, alternative: str) -> Floats:
    """Give p-values of Student's t, or of the normal distribution for ``df=None``."""
    if df is None:
        return np.asarray(normal_tail(statistic, alternative))
    from scipy.special import stdtr

    if alternative == "two-sided":
        return np.asarray(2.0 * stdtr(df, -np.abs(statistic)))
    return np.asarray(stdtr(df, statistic if alternative == "less" else -statistic))


def quantile(level: float, df: Any) -> Any:
    """Give the standard errors on either side of an interval of this level."""
    from scipy.special import ndtri, stdtrit

    upper = 0.5 * (1.0 - level)
    return -ndtri(upper) if df is None else -stdtrit(df, upper)


def interval(cells: Ints, units: Units, method: str, level: float) -> tuple[float, float]:
    """Give the ends of a two-sided interval for the difference.

    Without any variance they are Gaffke's, of means by cluster between -1 and 1.
    """
    if method == "score":
        return _score_interval(cells, units, level)
    difference, variance, df = interval_estimate(cells, units, method)
    if variance == 0.0:
        sums = (cells[1] - cells[2]).astype(np.float64)
        low, high = bounded_interval(bounded_units(sums, units, method), level)
        return low.item(), high.item()
    half = float(quantile(level, df)) * math.sqrt(variance)
    return max(difference - half, -1.0), min(difference + half, 1.0)


def interval_estimate(cells: Ints, units: Units, method: str) -> Estimate:
    """Estimate what an interval is made of; "score" has none."""
    if method not in ("obuchowski", "modified-obuchowski"):
        found = estimate(cells, units, method)
        if method == "cluster-weighted":
            found = found._replace(df=units.n_clusters - 1.0)
        return found
    sums = (cells[1] - cells[2]).astype(np.float64)
    g, n = units.n_clusters, units.n
    difference = float(sums.sum()) / n
    squares = ((sums - units.sizes * difference) ** 2).sum()
    if method == "modified-obuchowski":
        squares = 0.5 * (squares + ((sums - sums.mean()) ** 2).sum())
    return Estimate(difference, float(squares * g / (g - 1.0) / n**2), None)


def _score_interval(cells: Ints, units: Units, level: float) -> tuple[float, float]:
    """Tango's interval of counts that are divided by the design factor."""
    from fastcmp.paired.difference_intervals import difference_intervals

    shrunk = cells.sum(axis=1) / design_factor(cells, units, "all")
    low, high = difference_intervals(shrunk[:, np.newaxis], "tango", level)
    return low.item(), high.item()


def interval_of(method: str) -> str:
    """Name the interval that goes with a method of the test."""
    return _BY_METHOD.get(method, method)
