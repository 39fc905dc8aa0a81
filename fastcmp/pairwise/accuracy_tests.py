"""McNemar's tests of many pairs of models: single, clustered and stratified samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import Draws
from fastcmp.core.numbers import t_interval, t_tail
from fastcmp.core.threads import BlasThreads, ThreadPool, check_memory
from fastcmp.core.typing import Floats, Ints, Pairs
from fastcmp.counts.pairs import Block, PairColumns, RightBits, tile_side
from fastcmp.inputs.labels import Labels
from fastcmp.kernels.bits import allocate_words, cluster_squares
from fastcmp.kernels.intervals import wilson_interval_many
from fastcmp.paired.margins import BoundedUnits, bounded_interval, stratum_units
from fastcmp.paired.mcnemar_counts import (
    choose_method,
    difference_intervals,
    evaluate_counts,
    per_sample,
    weighted_exact,
)
from fastcmp.paired.units import (
    CLUSTER_WEIGHTED,
    SANDWICH,
    Sampling,
    Units,
    bounded_units,
    check_defined,
    cluster_cautions,
    combine,
    default_method,
    eliasziw_correlation,
    sandwich_df,
    standardized,
    unit_rows,
    units_of,
)
from fastcmp.pairwise.counted_pairs import PairCells
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.joint_draws import BitPart, Joint, bit_flips, joint_of_spread, row_flips
from fastcmp.pairwise.mean_tests import PairMeans, assemble_tests, mean_intervals
from fastcmp.pairwise.model_estimates import RowDistances

_BINOMIAL = ("midp", "exact")
_POOLED = (
    "Strata that count by their samples drop out of McNemar's test: the p-values are "
    "those without strata. mcnemar tests whether strata agree."
)


def sampled_tests(
    labels: Labels,
    y_true: object,
    sampling: Sampling,
    method: str,
    level: float,
    pairs: Pairs | None,
    pool: ThreadPool,
) -> tuple[PairTests, dict[str, Any]]:
    """Tests of pairs by clusters, by weighted strata, or by single samples.

    And what a record says of the samples, by the names of its fields. The samples decide
    about a method that is "".
    """
    about: dict[str, Any] = {}
    if not sampling.plain:
        groups = sampling.read(y_true, labels)
        strata = groups.strata
        if groups.clusters is not None:
            codes, units, crossing = units_of(groups)
            method = method or default_method(units)
            check_defined(method, units, crossing)
            return clustered_tests(labels, codes, units, method, level, pairs, pool), {
                "method": method,
                "n_clusters": units.n_clusters,
                "n_strata": None if strata is None else len(strata.labels),
                "cautions": cluster_cautions(units, method),
            }
        assert strata is not None
        weights = per_sample(groups.stratum_weights, np.bincount(strata.codes))
        method = choose_method(method or None, weighted=weights is not None)
        if weights is not None:
            tests = stratified_tests(labels, strata.codes, weights, method, level, pool)
            return tests, {"method": method, "n_strata": len(strata.labels)}
        about["cautions"] = (_POOLED,)
    bits = RightBits.pack(labels, pool)
    return accuracy_tests(bits, labels.y_true.size, method, level), {"method": method, **about}


def accuracy_tests(
    right: RightBits | Ints, n: int, method: str, confidence_level: float
) -> PairTests:
    """Tests of pairs by the samples that only the first, only the second got right.

    `right` has which samples each model got right, or ``[i, j]``, how many models i and j
    both got right.
    """

    def test(only_a: Ints, only_b: Ints) -> tuple[Floats, Floats]:
        return evaluate_counts(only_a, only_b, np.int64(n), method, "two-sided")[:2]

    cells: PairCells | None = None
    if isinstance(right, RightBits):
        correct, discordant, samples = right.correct, right.discordant, [BitPart(right, n)]
        cells = PairCells(right, n, lambda only_a, only_b: test(only_a, only_b)[1])
    else:
        joint, samples = right, []
        correct = np.ascontiguousarray(np.diagonal(joint))

        def discordant(block: Block) -> tuple[Ints, Ints]:
            i, j = block.pairs.T
            both = joint[i, j]
            return correct[i] - both, correct[j] - both

    def columns(block: Block) -> PairColumns:
        only_a, only_b = discordant(block)
        statistic, pvalue = test(only_a, only_b)
        both = correct[block.pairs[:, 0]] - only_a
        cells = (both, only_a, only_b, n - both - only_a - only_b)
        low, high = difference_intervals(cells, "newcombe", confidence_level)
        difference = (only_a - only_b) / n
        return PairColumns(only_a, only_b, difference, low, high, statistic, pvalue)

    def spread(block: Block) -> tuple[Floats, Floats, float]:
        only_a, only_b = discordant(block)
        difference = (only_a - only_b) / n
        squares = (only_a + only_b) / n - difference**2
        return difference, squares / (n - 1.0), n - 1.0

    def if_equal(block: Block) -> tuple[Floats, Floats, float]:
        only_a, only_b = discordant(block)
        return (only_a - only_b) / n, (only_a + only_b) / float(n) ** 2, np.inf

    def flips(draws: Draws, pool: ThreadPool) -> Joint:
        if samples:
            return bit_flips(samples, draws)
        # Normal numbers with the variances of sums with random signs.
        return joint_of_spread(if_equal, correct.size, tile_side(0), draws, pool)

    binomial, score_interval = method in _BINOMIAL, np.empty((correct.size, 2))
    wilson_interval_many(correct, n, confidence_level, score_interval)
    return PairTests(
        n_samples=n,
        correct=correct,
        score=correct / n,
        score_interval=score_interval,
        distribution="binomial" if binomial else "chi2",
        df=None if binomial else 1,
        side=tile_side(n),
        pvalues=lambda block: test(*discordant(block))[1],
        columns=columns,
        spread=spread,
        limits=(-1.0, 1.0),
        cells=cells,
        flips=flips,
    )


def stratified_tests(
    labels: Labels, codes: Ints, weights: Floats, method: str, level: float, pool: ThreadPool
) -> PairTests:
    """Tests of pairs by right answers in each stratum, of which a sample has a weight."""
    n, sizes = labels.n_samples, np.bincount(codes)
    places = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    packed = []
    for place in places:
        preds = tuple(pred[place] for pred in labels.preds)
        packed.append(
            RightBits.pack(replace(labels, y_true=labels.y_true[place], preds=preds), pool)
        )
    weights = weights / (weights @ sizes)  # of a sample; those of all samples add up to 1
    right = np.stack([bits.correct for bits in packed])
    score = weights @ right

    def discordant(block: Block) -> tuple[Ints, Ints]:
        """Samples that only the first, only the second got right, (H, p)."""
        only_a, only_b = zip(*(bits.discordant(block) for bits in packed), strict=True)
        return np.stack(only_a), np.stack(only_b)

    def total(counts: Ints, power: int = 1) -> Floats:
        """Weighted sums over strata, (p,): not by BLAS, whose bits depend on the block."""
        return np.asarray(np.add.accumulate(weights[:, np.newaxis] ** power * counts, axis=0)[-1])

    def variance_of(gain: Ints, squares: Ints) -> tuple[Floats, Floats]:
        """Variance and degrees of freedom of weighted means, from sums, (H, p)."""
        n = sizes[:, np.newaxis]
        factor = weights[:, np.newaxis] * n
        parts = factor**2 * np.maximum(squares / n - (gain / n) ** 2, 0.0) / (n - 1)
        return combine(parts, np.asarray(sizes - 1.0))

    def bounded(block: Block) -> BoundedUnits:
        only_a, only_b = (x.T for x in discordant(block))
        return stratum_units(only_a, only_b, sizes, weights)

    def spread(block: Block) -> tuple[Floats, Floats, Floats]:
        only_a, only_b = discordant(block)
        return total(only_a - only_b), *variance_of(only_a - only_b, only_a + only_b)

    def test(block: Block) -> tuple[Ints, Ints, Floats, Floats]:
        only_a, only_b = discordant(block)
        gain = total(only_a - only_b)
        z = standardized(gain, total(only_a + only_b, 2))
        if method == "asymptotic":
            return only_a, only_b, z * z, np.asarray(t_tail(z, "two-sided"))
        pvalue = [
            weighted_exact(a, b, weights, "two-sided", mid=method == "midp")
            for a, b in zip(only_a.T, only_b.T, strict=True)
        ]
        return only_a, only_b, gain, np.array(pvalue)

    def columns(block: Block) -> PairColumns:
        only_a, only_b, statistic, pvalue = test(block)
        variance, df = variance_of(only_a - only_b, only_a + only_b)
        i, j = block.pairs.T
        difference = score[i] - score[j]
        low, high = t_interval(difference, np.sqrt(variance), level, df=df, limits=(-1.0, 1.0))
        if (still := np.flatnonzero(variance == 0.0)).size:
            units = bounded(Block(np.arange(still.size), block.pairs[still]))
            low[still], high[still] = bounded_interval(units, level)
        counts = (only_a.sum(axis=0), only_b.sum(axis=0))
        return PairColumns(*counts, difference, low, high, statistic, pvalue)

    variance, df = variance_of(right, right)
    n_effective = float(1.0 / (weights**2 @ sizes))
    samples = list(map(BitPart, packed, sizes.tolist(), weights.tolist()))
    return PairTests(
        n_samples=n,
        correct=right.sum(axis=0),
        score=score,
        score_interval=mean_intervals(score, variance, df, level, (n, n_effective)),
        distribution="chi2" if method == "asymptotic" else "permutation",
        df=1 if method == "asymptotic" else None,
        side=tile_side(n),
        pvalues=lambda block: test(block)[-1],
        columns=columns,
        spread=spread,
        limits=(-1.0, 1.0),
        bounded=bounded,
        flips=lambda draws, _: bit_flips(samples, draws),
    )


# Samples that come in clusters.


_FEW_PAIRS = 4  # chosen pairs per model up to which no product of all is worth it


def clustered_tests(
    labels: Labels,
    codes: Ints,
    units: Units,
    method: str,
    level: float,
    pair_indices: Pairs | None,
    pool: ThreadPool,
) -> PairTests:
    """Tests of pairs by the right answers of each model in each cluster."""
    n_models, n = len(labels.names), int(units.n)
    wide = units.sizes.size + (pair_indices is None) * n_models * (2 if units.n_strata > 1 else 1)
    check_memory(
        8.0 * n_models * wide,
        None,
        f"the right answers of {n_models} models in {units.n_clusters} clusters",
        "compare fewer models, or pass `pairs=`",
    )
    bits, sums = count_by_cluster(labels, codes, units, pool)
    by_pair, sandwich = method in ("eliasziw", "mcnemar"), method in SANDWICH
    plain = units.n_strata == 1 and method not in CLUSTER_WEIGHTED
    score, ends, rows = _score_models(sums, units, method, level, pool)
    degrees, strata, df = np.zeros(0), dict[str, Any](), np.inf
    if sandwich:
        df = units.n_clusters - 1.0
        if not units.crossed:
            degrees = units.leverage(method)[1]
            df = float(degrees[0])
            if units.n_strata > 1:
                strata = {"parts": units.places, "degrees": degrees}
    distances: Any = None
    if not by_pair:
        together = pair_indices is None or len(pair_indices) > _FEW_PAIRS * n_models
        distances = RowDistances(rows, _noise(units, method), all_pairs=together, **strata)

    def means(block: Block) -> PairMeans:
        only_a, only_b = bits.discordant(block)
        i, j = block.pairs.T
        difference = (only_a - only_b) / n if plain else score[i] - score[j]
        pair_df = np.array([df])
        if by_pair:
            variance = _of_discordance(bits, sums, units, method, block, only_a, only_b)
        else:
            variance = distances(block.pairs)
            pair_df = distances.df(block.pairs, variance) if strata else pair_df
        return PairMeans(difference, variance, pair_df, only_a, only_b)

    adding: list[Floats] = []  # what clusters add to the scores, once it is asked for

    def gains(i: Any, j: Any) -> Floats:
        if not adding:
            adding.append(_contributions(bits, units, method))
        return np.asarray(adding[0][i] - adding[0][j])

    def bounded(block: Block) -> BoundedUnits:
        weight = bounded_units(units.sizes, units, method).weight
        return BoundedUnits(gains(*block.pairs.T), weight)

    def exact(i: int, j: int) -> float:
        signs = np.sign(gains(i, j))
        return float(signs.size) if abs(signs.sum()) == signs.size else np.nan

    def df_of_pairs(pairs: Pairs, _: PairColumns) -> dict[str, Any]:
        return {"df": distances.df(pairs, distances(pairs))}

    accuracy = bits.correct / n if plain else score
    tests = assemble_tests(
        *(n, accuracy, ends, means, level),
        shared_df=None if strata else df,
        exact=exact,
        bounded=bounded,
    )

    def squared(block: Block) -> PairColumns:
        of_z = tests.columns(block)
        return of_z._replace(statistic=of_z.statistic**2)

    tests_of_z = tests if sandwich else replace(tests, columns=squared, distribution="chi2", df=1)
    return replace(
        tests_of_z,
        correct=bits.correct,
        details=df_of_pairs if strata else None,
        with_errors=False,
        flips=lambda draws, pool: row_flips(_contributions(bits, units, method), draws, pool),
        # A correlation of its own for each pair is that of no draws of all models.
        spread=None if method == "eliasziw" else tests.spread,
    )


def count_by_cluster(
    labels: Labels, codes: Ints, units: Units, pool: ThreadPool
) -> tuple[RightBits, Floats]:
    """Right answers as bits in the order of units, and their counts by unit, shape (M, U)."""
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

    pool.run(count, range(n_models), steps=0)
    return bits, sums


def _contributions(bits: RightBits, units: Units, method: str) -> Floats:
    """What each cluster adds to the score of each model, shape (M, G)."""
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


def _score_models(
    sums: Floats, units: Units, method: str, level: float, pool: ThreadPool
) -> tuple[Floats, Floats, Floats]:
    """The score of each model, its interval, and its row, whose squared distances are variances.

    Rows take the place of the sums where they fit.
    """
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

    with BlasThreads(1):  # for each of ours
        pool.run(score_one, range(len(sums)), steps=0)
    sizes = int(units.n), float(bounded_units(units.sizes, units, method).n_effective)
    return score, mean_intervals(score, variance, df, level, sizes), rows


def _noise(units: Units, method: str) -> float:
    """A bound of the variance that rounding alone makes of equal differences."""
    tiny = 8 * np.finfo(float).eps
    if method == "cluster-weighted":
        return float(tiny**2 / units.n_clusters)
    if method not in SANDWICH:
        return 0.0
    factors = 1.0 if units.crossed else units.leverage(method)[0]
    return float((factors * (tiny * units.sample_weights * units.sizes) ** 2).sum())


def _of_discordance(
    bits: RightBits,
    sums: Floats,
    units: Units,
    method: str,
    block: Block,
    only_a: Ints,
    only_b: Ints,
) -> Floats:
    """Variances from the discordant samples of pairs, cluster by cluster."""
    n, total = units.n, (only_a + only_b).astype(np.float64)
    variance = total / n**2
    if method == "eliasziw":
        pairs = block.pairs.astype(np.int64)
        squares = np.empty((2, len(pairs)))
        stops = np.cumsum(units.sizes).astype(np.int64)
        cluster_squares(bits.words, stops, sums, pairs, squares)
        both = bits.correct[pairs[:, 0]] - only_a
        cells = np.stack([both, only_a, only_b, n - both - only_a - only_b]) / n
        rho = eliasziw_correlation(units, cells, squares[0], total)
        factor = 1.0 + (squares[1] / np.maximum(total, 1.0) - 1.0) * rho
        variance *= np.where(total > 0, factor, 1.0)
    return variance
