"""Tests of equal expected costs of many pairs of models.

What a prediction costs takes few different values, the levels of the cost matrix. A
model is kept as the level of each sample, and a pair as the table of both levels: all
that the tests need, in L x L cells instead of K x K x K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import Draws
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import LabelledCounts
from fastcmp.core.threads import ThreadPool
from fastcmp.core.typing import Classes, Floats, Ints
from fastcmp.counts.pair_tables import PairTables
from fastcmp.counts.pairs import Block, PairColumns, places_of
from fastcmp.inputs.cost_matrix import CostMatrix, check_fit, in_units, naming_cost
from fastcmp.inputs.labels import Labels, encode, in_order
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.paired.cost_test import (
    CostGroups,
    CostOptions,
    evaluate,
    evaluate_many,
    group_cells,
    intervals_many,
)
from fastcmp.paired.margins import BoundedUnits
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.joint_draws import Joint, joint_of_spread

#: Different costs; beyond, the differences of each pair are sorted, and counts refused.
LEVELS = 256
#: Models of a side of a tile, at most.
SIDE = 32
_ROUNDING = 1e-12  # of squares: what is left of a variance below it


class CostLevels(NamedTuple):
    """What predictions can cost."""

    cost: Floats
    #: The distinct costs, ascending, shape (L,).
    levels: Floats
    #: ``code[t, p]`` is the position of ``cost[t, p]`` in `levels`.
    code: Ints
    #: Differences of two levels; None where there are too many.
    groups: CostGroups | None


def encode_costs(
    y_true: object, preds: object, matrix: CostMatrix, classes: Classes | None
) -> Labels:
    """Labels in the order of a cost matrix; a ValueError if they do not fit."""
    with naming_cost(matrix, classes):
        labels = encode(y_true, preds, classes=matrix.classes, missing=None)
    if matrix.classes is None:
        labels = in_order(labels)
    check_fit(matrix, labels.classes, labels.n_excluded, classes)
    return labels


def cost_tests(
    labels: Labels,
    matrix: CostMatrix,
    options: CostOptions,
    confidence_level: float,
    n_pairs: int,
    pool: ThreadPool,
) -> PairTests:
    """Tests of pairs by what all predictions cost."""
    costs = read_levels(matrix.values)
    n_models, n, size = len(labels.names), labels.n_samples, costs.levels.size
    rows = np.empty((n_models, n), np.uint8 if size <= LEVELS else np.int32)
    means, correct = np.empty((n_models, 3)), np.empty(n_models, np.int64)
    code = costs.code.ravel().astype(rows.dtype)

    def look_up(i: int) -> None:
        y_true, pred = labels.y_true, labels.preds[i]
        np.take(code, y_true.astype(np.int64) * len(costs.cost) + pred, out=rows[i])
        correct[i] = np.count_nonzero(y_true == pred)
        means[i] = mean_cost(costs, np.bincount(rows[i], minlength=size), confidence_level)

    pool.run(look_up, range(n_models), steps=0)
    models = n, means, correct
    if costs.groups is not None:
        tables = PairTables(tuple(rows), size, n_pairs)
        pool.run(tables.pack, tables.packing, steps=0)
        side = min(SIDE, tables.side)
        return _of_tables(costs, models, tables.count, side, options, confidence_level)
    largest = costs.levels[-1]

    def gains(block: Block) -> list[Floats]:
        return [costs.levels[rows[i]] - costs.levels[rows[j]] for i, j in block.pairs.tolist()]

    def test(gain: Floats, *, intervals: bool) -> tuple[float, ...]:
        values, counts = np.unique(gain, return_counts=True)
        weights = counts.astype(np.float64)
        unequal = values != 0
        outcome = evaluate(values[unequal], weights[unequal], costs.cost, options)
        ends = (np.nan, np.nan)
        if intervals:
            arguments = values, weights, float(n), largest, confidence_level
            ends = kernels.cost_profile_interval(*arguments)
        below, above = counts[values < 0].sum(), counts[values > 0].sum()
        return below, above, np.nan, *ends, outcome.statistic, outcome.pvalue

    def columns(block: Block, *, intervals: bool) -> PairColumns:
        tests = [test(gain, intervals=intervals) for gain in gains(block)]
        return PairColumns(*map(np.array, zip(*tests, strict=True)))

    def squared(block: Block) -> tuple[Floats, Floats]:
        total, squares = np.array([(d.sum(), d @ d) for d in gains(block)]).reshape(-1, 2).T
        return total, squares

    def bounded(block: Block) -> BoundedUnits:
        return BoundedUnits(np.stack(gains(block)) / largest, np.ones((1, 1)))

    return _tests(*models, columns, squared, bounded, TILE_ROWS, largest)


def read_levels(cost: Floats) -> CostLevels:
    """The levels of a checked cost matrix."""
    k = len(cost)
    levels, code = np.unique(cost, return_inverse=True)
    code = code.reshape(k, k)
    groups = None
    if levels.size <= LEVELS:
        present = np.zeros((k, levels.size))
        np.add.at(present, (np.arange(k)[:, None], code), 1.0)
        differences = (levels[:, None] - levels).ravel()
        groups = group_cells(differences, (present.T @ present).ravel(), levels[-1])
    return CostLevels(cost, levels, code.astype(np.int64), groups)


def mean_cost(costs: CostLevels, used: Ints, confidence_level: float) -> tuple[float, float, float]:
    """The mean cost of one model, from the number of predictions of each level.

    The mean, and the ends of its interval.
    """
    n = int(used.sum())
    # Costs lie in [0, largest]; about the middle that is the range of the interval.
    half = 0.5 * costs.levels[-1]
    interval = kernels.cost_profile_interval(
        costs.levels - half, used.astype(np.float64), float(n), half, confidence_level
    )
    units, exponent = in_units(costs.levels)
    mean = math.ldexp(math.fsum(used * units) / n, exponent)
    return mean, interval.low + half, interval.high + half


def _evened(means: Floats) -> Floats:
    """Values, equal where they differ only by rounding, as 0.3 and 3 x 0.1."""
    order = np.argsort(means)
    ascending = means[order]
    # No cost is negative, so a sum of products is off by three roundings at most.
    rises = np.diff(ascending) > 8 * np.finfo(np.float64).eps * ascending[1:]
    first = np.maximum.accumulate(np.where(np.append(True, rises), np.arange(order.size), 0))
    evened = np.empty_like(means)
    evened[order] = ascending[first]
    return evened


def _tests(
    n_samples: int,
    means: Floats,
    correct: Ints,
    columns: Callable[..., PairColumns],
    squared: Callable[[Block], tuple[Floats, Floats]],
    bounded: Callable[[Block], BoundedUnits],
    side: int,
    largest: float,
) -> PairTests:
    """Tests of pairs of models with these mean costs and their intervals, shape (M, 3).

    `columns` has all of a block but the differences, with intervals or without; `squared` the
    sums of differences of costs, and of their squares.
    """
    score, n = _evened(means[:, 0]), float(n_samples)

    def apart(block: Block) -> Floats:
        i, j = block.pairs.T
        return np.asarray(score[i] - score[j])

    def spread(block: Block) -> tuple[Floats, Floats, float]:
        total, squares = squared(block)
        left = squares - total * total / n
        variance = np.where(left > _ROUNDING * squares, left, 0.0) / n**2
        return apart(block), variance, np.inf

    def if_equal(block: Block) -> tuple[Floats, Floats, float]:
        return apart(block), squared(block)[1] / n**2, np.inf

    def flips(draws: Draws, pool: ThreadPool) -> Joint:
        # Normal numbers with the variances of sums with random signs.
        return joint_of_spread(if_equal, score.size, side, draws, pool)

    return PairTests(
        n_samples=n_samples,
        correct=correct,
        score=score,
        score_interval=means[:, 1:],
        distribution="chi2",
        df=1,
        side=side,
        pvalues=lambda block: columns(block, intervals=False).pvalue,
        columns=lambda block: columns(block, intervals=True)._replace(difference=apart(block)),
        spread=spread,
        bounded=bounded,
        flips=flips,
        limits=(-float(largest), float(largest)),
    )


def _of_tables(
    costs: CostLevels,
    models: tuple[int, Floats, Ints],
    count: Callable[[Block], Ints],
    side: int,
    options: CostOptions,
    confidence_level: float,
) -> PairTests:
    """Tests of pairs by tables of the levels of both; `count` gives those of a block."""
    assert costs.groups is not None
    groups, largest = costs.groups, costs.levels[-1]
    values = np.subtract.outer(costs.levels, costs.levels).ravel()

    def flat(block: Block) -> Ints:
        return count(block).reshape(len(block.pairs), -1)

    def columns(block: Block, *, intervals: bool) -> PairColumns:
        tables = count(block)
        cells = tables.reshape(len(tables), -1)
        results, _ = evaluate_many(cells, groups, options)
        ends = np.full((len(tables), 2), np.nan)
        if intervals:
            ends = intervals_many(cells, groups, "profile", confidence_level)
        below = np.triu(tables, 1).sum(axis=(1, 2))
        above = np.tril(tables, -1).sum(axis=(1, 2))
        return PairColumns(below, above, ends[:, 0], *ends.T, *results.T[:2])

    def squared(block: Block) -> tuple[Floats, Floats]:
        cells = flat(block)
        return np.asarray(cells @ values), np.asarray(cells @ values**2)

    def bounded(block: Block) -> BoundedUnits:
        gain, where = np.unique(values / largest, return_inverse=True)
        times = np.stack([np.bincount(where, row, gain.size) for row in flat(block)])
        return BoundedUnits(gain[np.newaxis], np.ones((1, 1)), times)

    return _tests(*models, columns, squared, bounded, side, largest)


# Tests of equal expected costs of many pairs of models, from counts by class.


_COUNTED = 1 << 20  # cells of the counts of a tile


def cost_tests_from_counts(
    counts: LabelledCounts, matrix: CostMatrix, options: CostOptions, confidence_level: float
) -> PairTests:
    """Tests of pairs by counts of true and predicted classes, as `cost_tests` by samples.

    The matrix is in the order of the classes; too many different costs are a
    ValueError.
    """
    costs = read_levels(matrix.values)
    size = costs.levels.size
    if costs.groups is None:
        raise BadValueError(f"`cost` must hold at most {LEVELS} different costs for counts", size)
    m, k = len(counts.names or ()), len(costs.cost)
    means, correct = np.empty((m, 3)), np.empty(m, np.int64)
    for i in range(m):
        # Each model is the first or the second of some pair.
        other = 1 if i == 0 else 0
        pair = np.array([(min(i, other), max(i, other))])
        cells, samples = counts.cells(int(places_of(pair, m)[0]))
        y_true, pred = cells[:, 0], cells[:, 1 if i < other else 2]
        used = np.zeros(size, np.int64)
        np.add.at(used, costs.code[y_true, pred], samples)
        correct[i] = samples[y_true == pred].sum()
        means[i] = mean_cost(costs, used, confidence_level)
    # Cells of dense counts in the order of their two levels, so that one sum gives a table.
    both = (costs.code[:, :, None] * size + costs.code[:, None, :]).ravel()
    order = np.argsort(both, kind="stable")
    present, starts = np.unique(both[order], return_index=True)

    def count(block: Block) -> Ints:
        places = places_of(np.sort(block.pairs, axis=1), m)
        tables = np.zeros((places.size, size, size), np.int64)
        if counts.is_dense:
            tensors = counts.counts[places].reshape(places.size, -1)[:, order]
            tables.reshape(-1, size * size)[:, present] = np.add.reduceat(tensors, starts, axis=1)
        else:
            for table, place in zip(tables, places.tolist(), strict=True):
                cells, samples = counts.cells(place)
                y_true, a, b = cells.T
                np.add.at(table, (costs.code[y_true, a], costs.code[y_true, b]), samples)
        turned = block.pairs[:, 0] > block.pairs[:, 1]
        tables[turned] = tables[turned].transpose(0, 2, 1)
        return tables

    side = min(SIDE, max(4, int((_COUNTED / k**3) ** 0.5) // 4 * 4))
    models = counts.n_samples, means, correct
    return _of_tables(costs, models, count, side, options, confidence_level)
