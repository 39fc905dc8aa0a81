"""Expected costs of many models, pair by pair.

What a prediction costs takes few different values, the levels of the cost matrix. A
model is kept as the level of each sample, and a pair as the table of both levels: all
that the tests need, in L x L cells instead of K x K x K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.cost_matrix import CostMatrix, check_fit, naming_cost, read_cost
from fastcmp.differences import (
    CostGroups,
    CostOptions,
    evaluate,
    evaluate_many,
    group_cells,
    intervals_many,
)
from fastcmp.label_order import in_order
from fastcmp.label_tensors import PairTables
from fastcmp.labels import Labels, encode
from fastcmp.pairs import Block, PairColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.crew import Crew


_LEVELS = 256  # beyond it the differences of each pair are sorted instead
_SIDE = 32  # models of a side of a tile, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prices:
    """What each model's predictions cost."""

    cost: NDArray[np.float64]
    #: The distinct costs, ascending, shape (L,).
    levels: NDArray[np.float64]
    #: ``code[t, p]`` is the position of ``cost[t, p]`` in `levels`.
    code: NDArray[np.int32]
    #: Positions in `levels`, one row a model, shape (M, n); filled by `_price`.
    rows: NDArray[np.uint8 | np.int32]
    #: Differences of two levels; None where there are too many.
    groups: CostGroups | None
    #: Cost per sample and its interval, shape (M, 3), and rightly classified samples,
    #: shape (M,); filled by `_price`.
    losses: NDArray[np.float64]
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
    if cost is None:
        message = "test='cost' needs cost=, the matrix of costs"
        raise ValueError(message)
    if missing != "raise":
        message = f"test='cost' permits only missing='raise', got {missing!r}"
        raise ValueError(message)
    matrix = read_cost(cost, classes)
    with naming_cost(matrix, classes):
        labels = encode(y_true, preds, classes=matrix.classes, missing=None)
    if matrix.classes is None:
        labels = in_order(labels)
    check_fit(matrix, labels.classes, labels.n_excluded, classes)
    return labels, matrix


class CostJudge:
    """Test pairs of models for equal expected cost.

    Parameters
    ----------
    prices : _Prices
        What each model's predictions cost.
    options : CostOptions
        Which test.
    confidence_level : float
        Of all intervals, which are of profile likelihood.
    tables : PairTables or None
        Tables of the levels of pairs; None where the levels are too many.
    """

    def __init__(
        self,
        prices: _Prices,
        options: CostOptions,
        confidence_level: float,
        tables: PairTables | None,
    ) -> None:
        self._prices, self._options, self._level = prices, options, confidence_level
        self._tables = tables
        self.side = _SIDE if tables is None else min(_SIDE, tables.side)
        self.n_samples = prices.rows.shape[1]
        self.correct = prices.correct
        self.score = prices.losses[:, 0]
        self.score_interval = prices.losses[:, 1:]

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
        return self.outcomes(block).pvalue

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
        tables = None if self._tables is None else self._tables.count(block)
        options = (self._options, self._level)
        found = _judge(self._prices, block.pairs, tables, *options)
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


def judge_costs(
    labels: Labels,
    matrix: CostMatrix,
    options: CostOptions,
    confidence_level: float,
    crew: Crew,
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
        Of all intervals.
    crew : Crew
        Who looks them up.

    Returns
    -------
    CostJudge
        With costs per sample as scores.
    """
    n_models = len(labels.names)
    prices = _prepare(matrix.values, n_models, labels.n_samples)

    def price(i: int) -> None:
        _price(prices, labels, i, confidence_level)

    crew.run(price, range(n_models), steps=_no_step)
    tables = None
    if prices.groups is not None:
        n_pairs = n_models * (n_models - 1) // 2
        tables = PairTables(tuple(prices.rows), prices.levels.size, n_pairs)
        crew.run(tables.pack, tables.packing, steps=_no_step)
    return CostJudge(prices, options, confidence_level, tables)


def _no_step(_: object) -> int:
    return 0


def _prepare(cost: NDArray[np.float64], n_models: int, n_samples: int) -> _Prices:
    """Make room for the costs of many models."""
    k = len(cost)
    levels, code = np.unique(cost, return_inverse=True)
    code = code.reshape(k, k)
    groups = None
    if levels.size <= _LEVELS:
        present = np.zeros((k, levels.size))
        np.add.at(present, (np.arange(k)[:, None], code), 1.0)
        differences = (levels[:, None] - levels).ravel()
        groups = group_cells(differences, (present.T @ present).ravel(), levels[-1])
    dtype = np.uint8 if levels.size <= _LEVELS else np.int32
    return _Prices(
        cost=cost,
        levels=levels,
        code=code.astype(np.int32),
        rows=np.empty((n_models, n_samples), dtype),
        groups=groups,
        losses=np.empty((n_models, 3)),
        correct=np.empty(n_models, np.int64),
    )


def _price(prices: _Prices, labels: Labels, i: int, confidence_level: float) -> None:
    """Look up what the predictions of one model cost."""
    y_true, pred = labels.y_true, labels.preds[i]
    k = len(prices.cost)
    table = prices.code.ravel().astype(prices.rows.dtype)
    np.take(table, y_true.astype(np.int64) * k + pred, out=prices.rows[i])
    prices.correct[i] = np.count_nonzero(y_true == pred)
    used = np.bincount(prices.rows[i], minlength=prices.levels.size)
    # Costs lie in [0, largest]; about the middle that is the range of the interval.
    half = 0.5 * prices.levels[-1]
    interval = kernels.cost_profile_interval(
        prices.levels - half,
        used.astype(np.float64),
        float(y_true.size),
        half,
        confidence_level,
    )
    loss = used @ prices.levels / y_true.size
    prices.losses[i] = loss, interval.low + half, interval.high + half


class _Found(NamedTuple):
    """What is found of some pairs."""

    #: Samples on which the first, the second, costs less.
    only_a: NDArray[np.int64]
    only_b: NDArray[np.int64]
    statistic: NDArray[np.float64]
    pvalue: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def _judge(
    prices: _Prices,
    pairs: NDArray[np.int32],
    tables: NDArray[np.int64] | None,
    options: CostOptions,
    confidence_level: float,
) -> _Found:
    """Test some pairs of models, by tables of levels or sample by sample."""
    if tables is None or prices.groups is None:
        each = [
            _judge_sorted(prices, pair, options, confidence_level) for pair in pairs
        ]
        return _Found(*map(np.array, zip(*each, strict=True)))
    flat = tables.reshape(len(pairs), -1)
    results, _ = evaluate_many(flat, prices.groups, options)
    ends = intervals_many(flat, prices.groups, "profile", confidence_level)
    return _Found(
        only_a=np.triu(tables, 1).sum(axis=(1, 2)),
        only_b=np.tril(tables, -1).sum(axis=(1, 2)),
        statistic=results[:, 0],
        pvalue=results[:, 1],
        low=ends[:, 0],
        high=ends[:, 1],
    )


def _judge_sorted(
    prices: _Prices,
    pair: NDArray[np.int32],
    options: CostOptions,
    confidence_level: float,
) -> tuple[float, ...]:
    cost_a, cost_b = (prices.levels[prices.rows[model]] for model in pair)
    values, counts = np.unique(cost_a - cost_b, return_counts=True)
    weights = counts.astype(np.float64)
    unequal = values != 0
    outcome = evaluate(values[unequal], weights[unequal], prices.cost, options)
    low, high = kernels.cost_profile_interval(
        values, weights, float(cost_a.size), prices.levels[-1], confidence_level
    )
    below, above = counts[values < 0].sum(), counts[values > 0].sum()
    return below, above, outcome.statistic, outcome.pvalue, low, high
