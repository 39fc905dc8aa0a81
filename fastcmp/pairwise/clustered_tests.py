"""McNemar's tests of many pairs of models on samples that come in clusters."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step
from fastcmp.counts.correct_bits import RightBits
from fastcmp.counts.pairs import PairColumns
from fastcmp.kernels.clustered_mcnemar import cluster_squares
from fastcmp.paired.cluster_variance import (
    CLUSTER_WEIGHTED,
    SANDWICH,
    Units,
    combine,
    degrees,
    eliasziw_correlation,
    leverage,
    unit_rows,
)
from fastcmp.paired.clustered_tests import quantile, standardized, tail
from fastcmp.pairwise.pair_tests import PairTests
from fastcmp.pairwise.row_distances import RowDistances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Block
    from fastcmp.inputs.labels import Labels

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_SIDE = 128  # models of a side of a tile, at most
_FEW_PAIRS = 4  # chosen pairs per model up to which no product of all is worth it


class _Spread(NamedTuple):
    """What a method makes of the models one by one."""

    score: Floats
    #: Ends of the interval of each score, shape (M, 2).
    ends: Floats
    #: Variance of the difference of each pair of a block, and degrees of freedom.
    variance: Callable[[Block, Ints], tuple[Floats, Any]]
    #: Degrees of freedom of all pairs, None for the normal distribution; NaN where
    #: each pair has its own.
    df: float | None


def clustered_tests(  # the samples, how they are tested, and by which threads
    labels: Labels,
    codes: Ints,
    units: Units,
    method: str,
    level: float,
    chosen: NDArray[np.int32] | None,
    pool: ThreadPool,
) -> PairTests:
    """Test pairs by the right answers of each model in each cluster."""
    n_models = len(labels.names)
    wide = units.sizes.size + (chosen is None) * n_models * (
        2 if units.n_strata > 1 else 1
    )
    check_memory(
        8.0 * n_models * wide,
        None,
        f"the right answers of {n_models} models in {units.n_clusters} clusters",
        "compare fewer models, or pass pairs=",
    )
    if method == "eliasziw":
        labels, codes = _by_cluster(labels, codes)
    bits = RightBits.pack(labels, pool)
    sums = np.zeros((n_models, units.sizes.size))

    def count(i: int) -> None:
        kernels.cluster_sums(labels.y_true, labels.preds[i], codes, sums[i])

    pool.run(count, range(n_models), steps=no_step)
    if method in ("eliasziw", "mcnemar"):
        spread = _by_discordance(bits, sums, units, method, level)
    else:
        spread = _by_rows(sums, units, method, level, chosen)
    return _tests(bits, labels.n_samples, units, method, level, spread)


def _by_cluster(labels: Labels, codes: Ints) -> tuple[Labels, Ints]:
    """Put samples into the order of their clusters."""
    order = np.argsort(codes, kind="stable")
    preds = tuple(pred[order] for pred in labels.preds)
    return replace(labels, y_true=labels.y_true[order], preds=preds), codes[order]


def _score_interval(
    sums: Floats, units: Units, method: str, level: float
) -> tuple[float, tuple[float, float], Floats]:
    """Score one model; give the ends of its interval, and the row of the score."""
    score, row = unit_rows(sums, units, method)
    df: float
    if units.crossed or method in CLUSTER_WEIGHTED:
        df = units.n_clusters - 1.0
    else:
        within = np.array([degrees(sizes, method) for _, sizes, _ in units.strata()])
        parts = np.array([row[place] @ row[place] for place in units.places])
        df = float(combine(parts, within)[1])
    half = float(quantile(level, df)) * math.sqrt(row @ row)
    return score, (max(score - half, 0.0), min(score + half, 1.0)), row


def _by_rows(
    sums: Floats,
    units: Units,
    method: str,
    level: float,
    chosen: NDArray[np.int32] | None,
) -> _Spread:
    """Find variances as squared distances of rows, which take the place of the sums."""
    n_models = len(sums)
    of_score = method if method in SANDWICH else "cr2"
    if method in CLUSTER_WEIGHTED:
        of_score = "cluster-weighted"
    score, ends = np.empty(n_models), np.empty((n_models, 2))
    longer = method == "yang" or units.crossed
    rows = sums
    if longer:
        width = unit_rows(sums[0], units, method)[1].size
        rows = np.empty((n_models, width))
    for i in range(n_models):
        score[i], ends[i], row = _score_interval(sums[i], units, of_score, level)
        if of_score != method:
            row = unit_rows(sums[i], units, method)[1]
        rows[i] = row
    all_pairs = chosen is None or len(chosen) > _FEW_PAIRS * n_models
    in_strata = units.n_strata > 1 and not units.crossed
    within = (
        np.array([degrees(s, method) for _, s, _ in units.strata()])
        if (method in SANDWICH and not units.crossed)
        else None
    )
    distances = RowDistances(
        rows,
        _noise(units, method),
        all_pairs=all_pairs,
        parts=units.places if in_strata else None,
        degrees=within,
    )
    df: float | None = None
    if method in SANDWICH:
        df = units.n_clusters - 1.0 if within is None else float(within[0])
        df = np.nan if in_strata else df

    def variance(block: Block, _: Ints) -> tuple[Floats, Any]:
        found = distances(block.pairs)
        return found, distances.df(block.pairs, found) if in_strata else df

    return _Spread(score, ends, variance, df)


def _noise(units: Units, method: str) -> float:
    """Bound the variance that rounding alone makes of equal differences."""
    tiny = 8 * np.finfo(float).eps
    if method == "cluster-weighted":
        return float(tiny**2 / units.n_clusters)
    if method not in SANDWICH:
        return 0.0
    total = 0.0
    for _, sizes, weight in units.strata():
        inflated = sizes if units.crossed else sizes * np.sqrt(leverage(sizes, method))
        total += float(((tiny * weight / sizes.sum() * inflated) ** 2).sum())
    return total


def _by_discordance(
    bits: RightBits, sums: Floats, units: Units, method: str, level: float
) -> _Spread:
    """Find variances from the discordant samples of pairs, cluster by cluster."""
    found = [_score_interval(own, units, "cr2", level)[:2] for own in sums]
    score = np.array([each[0] for each in found])
    ends = np.array([each[1] for each in found])
    stops = np.cumsum(units.sizes).astype(np.int64)
    right, n = bits.correct, units.n

    def variance(block: Block, counts: Ints) -> tuple[Floats, Any]:
        total = (counts[0] + counts[1]).astype(np.float64)
        plain = total / n**2
        if method == "mcnemar":
            return plain, None
        pairs = block.pairs.astype(np.int64)
        squares = np.empty((2, len(pairs)))
        cluster_squares(bits.words, stops, sums, pairs, squares)
        both = right[pairs[:, 0]] - counts[0]
        cells = np.stack([both, *counts, n - both - counts[0] - counts[1]]) / n
        rho = eliasziw_correlation(units, cells, squares[0], total)
        average = squares[1] / np.maximum(total, 1.0)
        return plain * np.where(total > 0, 1.0 + (average - 1.0) * rho, 1.0), None

    return _Spread(score, ends, variance, None)


def _tests(
    bits: RightBits, n: int, units: Units, method: str, level: float, spread: _Spread
) -> PairTests:
    plain = units.n_strata == 1 and method not in CLUSTER_WEIGHTED
    score, once = spread.score, spread.df is None or not np.isnan(spread.df)
    width = quantile(level, spread.df) if once else None

    def test(block: Block) -> tuple[Ints, Floats, Floats, Any, Floats, Floats]:
        counts = np.stack(bits.discordant(block))
        i, j = block.pairs.T
        difference = (counts[0] - counts[1]) / n if plain else score[i] - score[j]
        variance, df = spread.variance(block, counts)
        statistic = standardized(difference, variance)
        pvalue = tail(statistic, df, "two-sided")
        if df is None:
            statistic = statistic * statistic
        return counts, difference, variance, df, statistic, pvalue

    def columns(block: Block) -> PairColumns:
        counts, difference, variance, df, statistic, pvalue = test(block)
        half = (quantile(level, df) if width is None else width) * np.sqrt(variance)
        low, high = (np.clip(difference + x, -1.0, 1.0) for x in (-half, half))
        only_a, only_b = counts
        return PairColumns(only_a, only_b, difference, low, high, statistic, pvalue)

    def details(pairs: NDArray[np.int32]) -> dict[str, Any]:
        block = _chosen_block(pairs)
        return {"df": spread.variance(block, np.zeros((2, 0), np.int64))[1]}

    return PairTests(
        n_samples=n,
        correct=bits.correct,
        score=bits.correct / n if plain else score,
        score_interval=spread.ends,
        distribution="t" if method in SANDWICH else "chi2",
        df=spread.df if method in SANDWICH else 1,
        side=_SIDE,
        pvalues=lambda block: test(block)[-1],
        columns=columns,
        details=None if once else details,
    )


def _chosen_block(pairs: NDArray[np.int32]) -> Block:
    from fastcmp.counts.pairs import Block

    return Block(slice(0, len(pairs)), pairs)
