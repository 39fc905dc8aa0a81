"""Expected costs of many models, pair by pair.

What a prediction costs takes few different values, the levels of the cost matrix. A
model is kept as the level of each sample, and a pair as the table of both levels: all
that the tests need, in L x L cells instead of K x K x K.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fastcmp import kernels
from fastcmp.core.threads import no_step
from fastcmp.counts.pair_tables import PairTables
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.inputs.cost_matrix import (
    CostMatrix,
    check_fit,
    in_units,
    naming_cost,
    required_cost,
)
from fastcmp.inputs.label_order import in_order
from fastcmp.inputs.labels import Labels, encode
from fastcmp.paired.cost_differences import (
    CostGroups,
    CostOptions,
    evaluate,
    evaluate_many,
    group_cells,
    intervals_many,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

#: Different costs; beyond, the differences of each pair are sorted, and counts refused.
LEVELS = 256
#: Models of a side of a tile, at most.
SIDE = 32


class Prices(NamedTuple):
    """What predictions cost."""

    cost: NDArray[np.float64]
    #: The distinct costs, ascending, shape (L,).
    levels: NDArray[np.float64]
    #: ``code[t, p]`` is the position of ``cost[t, p]`` in `levels`.
    code: NDArray[np.int64]
    #: Differences of two levels; None where there are too many.
    groups: CostGroups | None


class Losses(NamedTuple):
    """What the predictions of each of M models cost."""

    #: Cost per sample and its interval, shape (M, 3).
    losses: NDArray[np.float64]
    #: Rightly classified samples, shape (M,).
    correct: NDArray[np.int64]


def encode_costs(
    y_true: Any, preds: Any, cost: Any, classes: Sequence[Any] | None, missing: str
) -> tuple[Labels, CostMatrix]:
    """Encode labels in the order of a cost matrix.

    Parameters
    ----------
    y_true, preds : array-like
        True and predicted labels, as in `fastcmp.compare_all`.
    cost : array-like of shape (K, K), mapping or frame
        Costs of mistakes.
    classes : sequence or None
        Which classes, in the order of `cost`.
    missing : str
        Must be "raise": a missing prediction has no cost.

    Returns
    -------
    tuple of Labels and CostMatrix
        Both of the same classes.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    matrix = required_cost(cost, classes, missing)
    with naming_cost(matrix, classes):
        labels = encode(y_true, preds, classes=matrix.classes, missing=None)
    if matrix.classes is None:
        labels = in_order(labels)
    check_fit(matrix, labels.classes, labels.n_excluded, classes)
    return labels, matrix


class _Judgement(Protocol):
    """A way to test the pairs of a block."""

    def __call__(self, block: Block, *, intervals: bool) -> _Found:
        """Test them, with or without intervals."""


class CostJudge:
    """Test pairs of models for equal expected cost.

    Parameters
    ----------
    n_samples : int
        How many samples there are.
    losses : Losses
        What the predictions of each model cost.
    judge : callable
        From a `Block` and whether intervals are wanted to what is found of its pairs.
    side : int
        Models of a side of a tile, at most.
    """

    def __init__(
        self,
        n_samples: int,
        losses: Losses,
        judge: _Judgement,
        side: int,
    ) -> None:
        self.n_samples, self.correct, self.side = n_samples, losses.correct, side
        self.score = _evened(losses.losses[:, 0])
        self.score_interval = losses.losses[:, 1:]
        self._judge = judge

    def pvalues(self, block: Block) -> NDArray[np.float64]:
        """Test the pairs of a block.

        Parameters
        ----------
        block : Block
            Pairs of models.

        Returns
        -------
        ndarray of float64, shape (p,)
            P-values.
        """
        return self._judge(block, intervals=False).pvalue

    def outcomes(self, block: Block) -> PairColumns:
        """Test the pairs of a block, and bound their differences.

        Parameters
        ----------
        block : Block
            Pairs of models.

        Returns
        -------
        PairColumns
            All that a record tells of them.
        """
        found = self._judge(block, intervals=True)
        difference = self.score[block.pairs[:, 0]] - self.score[block.pairs[:, 1]]
        return PairColumns(
            found.only_a,
            found.only_b,
            difference,
            found.low,
            found.high,
            found.statistic,
            found.pvalue,
        )


def judge_costs(  # what is judged, how, and by whom
    labels: Labels,
    matrix: CostMatrix,
    options: CostOptions,
    confidence_level: float,
    n_pairs: int,
    pool: ThreadPool,
) -> CostJudge:
    """Look up what all predictions cost, and judge pairs by these.

    Parameters
    ----------
    labels : Labels
        Codes in the order of the matrix.
    matrix : CostMatrix
        Costs of mistakes.
    options : CostOptions
        Which test.
    confidence_level : float
        Of all intervals, which are of profile likelihood.
    n_pairs : int
        How many pairs are going to be judged.
    pool : ThreadPool
        Who looks them up.

    Returns
    -------
    CostJudge
        With costs per sample as scores.
    """
    prices = read_prices(matrix.values)
    n_models, n, size = len(labels.names), labels.n_samples, prices.levels.size
    rows = np.empty((n_models, n), np.uint8 if size <= LEVELS else np.int32)
    found = Losses(np.empty((n_models, 3)), np.empty(n_models, np.int64))
    code = prices.code.ravel().astype(rows.dtype)

    def price(i: int) -> None:
        y_true, pred = labels.y_true, labels.preds[i]
        np.take(code, y_true.astype(np.int64) * len(prices.cost) + pred, out=rows[i])
        found.correct[i] = np.count_nonzero(y_true == pred)
        used = np.bincount(rows[i], minlength=size)
        found.losses[i] = loss_of(prices, used, confidence_level)

    pool.run(price, range(n_models), steps=no_step)
    levels = (options, confidence_level)
    if prices.groups is None:
        return CostJudge(n, found, _by_sorting(prices, rows, *levels), SIDE)
    tables = PairTables(tuple(rows), size, n_pairs)
    pool.run(tables.pack, tables.packing, steps=no_step)
    judge = by_tables(prices, tables.count, *levels)
    return CostJudge(n, found, judge, min(SIDE, tables.side))


def read_prices(cost: NDArray[np.float64]) -> Prices:
    """Find the levels of a cost matrix.

    Parameters
    ----------
    cost : ndarray of float64, shape (K, K)
        A checked cost matrix.

    Returns
    -------
    Prices
        Levels, and which one each prediction has.
    """
    k = len(cost)
    levels, code = np.unique(cost, return_inverse=True)
    code = code.reshape(k, k)
    groups = None
    if levels.size <= LEVELS:
        present = np.zeros((k, levels.size))
        np.add.at(present, (np.arange(k)[:, None], code), 1.0)
        differences = (levels[:, None] - levels).ravel()
        groups = group_cells(differences, (present.T @ present).ravel(), levels[-1])
    return Prices(cost, levels, code.astype(np.int64), groups)


def loss_of(
    prices: Prices, used: NDArray[np.int64], confidence_level: float
) -> tuple[float, float, float]:
    """Average the cost of one model's predictions, and bound it.

    Parameters
    ----------
    prices : Prices
        The levels.
    used : ndarray of int64, shape (L,)
        How many predictions are of each level.
    confidence_level : float
        Of the interval.

    Returns
    -------
    tuple of three floats
        The mean, and the interval.
    """
    n = int(used.sum())
    # Costs lie in [0, largest]; about the middle that is the range of the interval.
    half = 0.5 * prices.levels[-1]
    interval = kernels.cost_profile_interval(
        prices.levels - half, used.astype(np.float64), float(n), half, confidence_level
    )
    units, exponent = in_units(prices.levels)
    loss = math.ldexp(math.fsum(used * units) / n, exponent)
    return loss, interval.low + half, interval.high + half


def _evened(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make equal what differs only by rounding: such as costs of 0.3 and 3 x 0.1."""
    order = np.argsort(losses)
    ascending = losses[order]
    # No cost is negative, so a sum of products is off by three roundings at most.
    rises = np.diff(ascending) > 8 * np.finfo(np.float64).eps * ascending[1:]
    first = np.maximum.accumulate(
        np.where(np.append(True, rises), np.arange(order.size), 0)
    )
    evened = np.empty_like(losses)
    evened[order] = ascending[first]
    return evened


class _Found(NamedTuple):
    """What is found of some pairs."""

    #: Samples on which the first, the second, costs less.
    only_a: NDArray[np.int64]
    only_b: NDArray[np.int64]
    statistic: NDArray[np.float64]
    pvalue: NDArray[np.float64]
    #: Intervals; NaN where they were not asked for.
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def by_tables(
    prices: Prices,
    count: Callable[[Block], NDArray[np.int64]],
    options: CostOptions,
    confidence_level: float,
) -> _Judgement:
    """Test pairs by tables of the levels of both models.

    Parameters
    ----------
    prices : Prices
        Few enough levels that their differences are grouped.
    count : callable
        From a `Block` to its tables, shape (p, L, L).
    options : CostOptions
        Which test.
    confidence_level : float
        Of all intervals.

    Returns
    -------
    callable
        As `CostJudge` wants it.
    """
    assert prices.groups is not None
    groups = prices.groups

    def judge(block: Block, *, intervals: bool) -> _Found:
        tables = count(block)
        flat = tables.reshape(len(tables), -1)
        results, _ = evaluate_many(flat, groups, options)
        ends = np.full((len(tables), 2), np.nan)
        if intervals:
            ends = intervals_many(flat, groups, "profile", confidence_level)
        return _Found(
            only_a=np.triu(tables, 1).sum(axis=(1, 2)),
            only_b=np.tril(tables, -1).sum(axis=(1, 2)),
            statistic=results[:, 0],
            pvalue=results[:, 1],
            low=ends[:, 0],
            high=ends[:, 1],
        )

    return judge


def _by_sorting(
    prices: Prices,
    rows: NDArray[Any],
    options: CostOptions,
    confidence_level: float,
) -> _Judgement:
    """Test pairs by the differences of the costs of each sample."""

    def judge_one(pair: NDArray[np.int32], *, intervals: bool) -> tuple[float, ...]:
        cost_a, cost_b = (prices.levels[rows[model]] for model in pair)
        values, counts = np.unique(cost_a - cost_b, return_counts=True)
        weights = counts.astype(np.float64)
        unequal = values != 0
        outcome = evaluate(values[unequal], weights[unequal], prices.cost, options)
        low = high = np.nan
        if intervals:
            low, high = kernels.cost_profile_interval(
                values, weights, float(cost_a.size), prices.levels[-1], confidence_level
            )
        below, above = counts[values < 0].sum(), counts[values > 0].sum()
        return below, above, outcome.statistic, outcome.pvalue, low, high

    def judge(block: Block, *, intervals: bool) -> _Found:
        each = [judge_one(pair, intervals=intervals) for pair in block.pairs]
        return _Found(*map(np.array, zip(*each, strict=True)))

    return judge
