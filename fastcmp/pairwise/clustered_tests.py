"""McNemar's tests of many pairs of models on samples that come in clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step
from fastcmp.counts.correct_bits import RightBits
from fastcmp.kernels.bits import allocate_words, cluster_squares
from fastcmp.paired.bounded_margins import BoundedUnits
from fastcmp.paired.cluster_variance import (
    CLUSTER_WEIGHTED,
    SANDWICH,
    Units,
    eliasziw_correlation,
    sandwich_df,
    unit_rows,
)
from fastcmp.paired.clustered_tests import bounded_units
from fastcmp.pairwise.joint_draws import row_flips
from fastcmp.pairwise.mean_tests import ModelMeans, PairMeans, assemble_tests, mean_intervals
from fastcmp.pairwise.row_distances import RowDistances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Block, PairColumns
    from fastcmp.inputs.labels import Labels
    from fastcmp.pairwise.joint_draws import Joint
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.pair_tests import PairTests

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_FEW_PAIRS = 4  # chosen pairs per model up to which no product of all is worth it


class _Models(NamedTuple):
    """What a method makes of the models one by one."""

    score: Floats
    #: Ends of the interval of each score, shape (M, 2).
    ends: Floats
    #: The row of each, whose squared distances are variances.
    rows: Floats


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
    wide = units.sizes.size + (chosen is None) * n_models * (2 if units.n_strata > 1 else 1)
    check_memory(
        8.0 * n_models * wide,
        None,
        f"the right answers of {n_models} models in {units.n_clusters} clusters",
        "compare fewer models, or pass pairs=",
    )
    bits, sums = count_by_cluster(labels, codes, units, pool)
    models = _models(sums, units, method, level, pool)
    if method in ("eliasziw", "mcnemar"):
        tests = _by_discordance(bits, sums, units, models, method, level)
    else:
        tests = _by_rows(bits, units, models, method, level, chosen)

    def flips(draws: Draws, pool: ThreadPool) -> Joint:
        return row_flips(_contributions(bits, units, method), draws, pool)

    # A correlation of its own for each pair is that of no draws of all models.
    spread = None if method == "eliasziw" else tests.spread
    return replace(tests, flips=flips, spread=spread)


def count_by_cluster(
    labels: Labels, codes: Ints, units: Units, pool: ThreadPool
) -> tuple[RightBits, Floats]:
    """Pack right answers in the order of units; count them by unit, shape (M, U)."""
    n_models, n = len(labels.names), labels.n_samples
    order: Any = slice(None)
    if np.any(np.diff(codes) < 0):
        order = np.argsort(codes, kind="stable")
    y_true, ends = labels.y_true[order], np.cumsum(units.sizes).astype(np.int64)
    bits = RightBits(allocate_words(n_models, n), np.empty(n_models, np.int64))
    sums = np.empty((n_models, ends.size))

    def count(i: int) -> None:
        pred, row = labels.preds[i][order], bits.words[i]
        bits.correct[i] = kernels.pack_equal(y_true, pred, row)
        kernels.cluster_bits(row, ends, sums[i])

    pool.run(count, range(n_models), steps=no_step)
    return bits, sums


def _contributions(bits: RightBits, units: Units, method: str) -> Floats:
    """Give what each cluster adds to the score of each model, shape (M, G)."""
    ends = np.cumsum(units.sizes).astype(np.int64)
    weights = units.sample_weights
    if method in CLUSTER_WEIGHTED:
        weights = 1.0 / units.sizes
    rows = np.empty((bits.correct.size, units.n_clusters))
    sums = np.empty(ends.size)
    for row, words in zip(rows, bits.words, strict=False):
        kernels.cluster_bits(words, ends, sums)
        row[:] = units.by_cluster(sums * weights)
    return rows


def _models(sums: Floats, units: Units, method: str, level: float, pool: ThreadPool) -> _Models:
    """Score the models; their rows take the place of the sums where they fit."""
    of_score = method if method in SANDWICH else "cr2"
    if method in CLUSTER_WEIGHTED:
        of_score = "cluster-weighted"
    score, variance, df = np.empty((3, len(sums)))
    rows, by_row = sums, method not in ("eliasziw", "mcnemar")
    if method == "yang" or units.crossed:
        rows = np.empty((len(sums), unit_rows(sums[0], units, method)[1].size))

    def score_one(i: int) -> None:
        score[i], row = unit_rows(sums[i], units, of_score)
        variance[i], df[i] = row @ row, units.n_clusters - 1.0
        if of_score in SANDWICH:
            df[i] = sandwich_df(row, units, of_score)
        if by_row:
            same = of_score == method
            rows[i] = row if same else unit_rows(sums[i], units, method)[1]

    pool.run(score_one, range(len(sums)), steps=no_step)
    sizes = int(units.n), float(bounded_units(units.sizes, units, method).n_effective)
    return _Models(score, mean_intervals(score, variance, df, level, sizes), rows)


def _by_rows(  # the models, and how they are tested
    bits: RightBits,
    units: Units,
    models: _Models,
    method: str,
    level: float,
    chosen: NDArray[np.int32] | None,
) -> PairTests:
    """Find variances as squared distances of rows."""
    n_models, n, score = len(models.score), int(units.n), models.score
    df, strata = np.inf, dict[str, Any]()
    if method in SANDWICH:
        df = units.n_clusters - 1.0
        if not units.crossed:
            within = units.leverage(method)[1]
            df = float(within[0])
            if units.n_strata > 1:
                strata = {"parts": units.places, "degrees": within}
    all_pairs = chosen is None or len(chosen) > _FEW_PAIRS * n_models
    noise = _noise(units, method)
    distances = RowDistances(models.rows, noise, all_pairs=all_pairs, **strata)
    plain = units.n_strata == 1 and method not in CLUSTER_WEIGHTED

    def found(block: Block) -> PairMeans:
        only_a, only_b = bits.discordant(block)
        i, j = block.pairs.T
        difference = (only_a - only_b) / n if plain else score[i] - score[j]
        variance = distances(block.pairs)
        own = distances.df(block.pairs, variance) if strata else np.array([df])
        return PairMeans(difference, variance, own, only_a, only_b)

    if not strata:
        return _tests(bits, units, models, found, method, level, df)

    def details(pairs: NDArray[np.int32], _: PairColumns) -> dict[str, Any]:
        return {"df": distances.df(pairs, distances(pairs))}

    tests = _tests(bits, units, models, found, method, level, None)
    return replace(tests, details=details)


def _noise(units: Units, method: str) -> float:
    """Bound the variance that rounding alone makes of equal differences."""
    tiny = 8 * np.finfo(float).eps
    if method == "cluster-weighted":
        return float(tiny**2 / units.n_clusters)
    if method not in SANDWICH:
        return 0.0
    factors = 1.0 if units.crossed else units.leverage(method)[0]
    return float((factors * (tiny * units.sample_weights * units.sizes) ** 2).sum())


def _by_discordance(
    bits: RightBits, sums: Floats, units: Units, models: _Models, method: str, level: float
) -> PairTests:
    """Find variances from the discordant samples of pairs, cluster by cluster."""
    stops, n = np.cumsum(units.sizes).astype(np.int64), units.n

    def found(block: Block) -> PairMeans:
        only_a, only_b = bits.discordant(block)
        total = (only_a + only_b).astype(np.float64)
        difference, variance = (only_a - only_b) / n, total / n**2
        if method == "eliasziw":
            pairs = block.pairs.astype(np.int64)
            squares = np.empty((2, len(pairs)))
            cluster_squares(bits.words, stops, sums, pairs, squares)
            both = bits.correct[pairs[:, 0]] - only_a
            cells = np.stack([both, only_a, only_b, n - both - only_a - only_b]) / n
            rho = eliasziw_correlation(units, cells, squares[0], total)
            factor = 1.0 + (squares[1] / np.maximum(total, 1.0) - 1.0) * rho
            variance *= np.where(total > 0, factor, 1.0)
        return PairMeans(difference, variance, np.array([np.inf]), only_a, only_b)

    return _tests(bits, units, models, found, method, level, np.inf)


def _tests(  # the models and pairs, and what is known of them
    bits: RightBits,
    units: Units,
    models: _Models,
    found: Callable[[Block], PairMeans],
    method: str,
    level: float,
    df: float | None,
) -> PairTests:
    plain = units.n_strata == 1 and method not in CLUSTER_WEIGHTED
    n = int(units.n)
    rows: list[Floats] = []
    score = bits.correct / n if plain else models.score

    def gains(i: Any, j: Any) -> Floats:
        if not rows:
            rows.append(_contributions(bits, units, method))
        return np.asarray(rows[0][i] - rows[0][j])

    def bounded(block: Block) -> BoundedUnits:
        weight = bounded_units(units.sizes, units, method).weight
        return BoundedUnits(gains(*block.pairs.T), weight)

    def exact(i: int, j: int) -> float:
        signs = np.sign(gains(i, j))
        return float(signs.size) if abs(signs.sum()) == signs.size else np.nan

    means = ModelMeans(n, score, models.ends, score)
    tests = assemble_tests(means, found, level, df, exact, bounded)
    tests = replace(tests, correct=bits.correct, details=None)
    if method in SANDWICH:
        return tests

    def columns(block: Block) -> PairColumns:
        of_z = tests.columns(block)
        return of_z._replace(statistic=of_z.statistic**2)

    return replace(tests, columns=columns, distribution="chi2", df=1)
