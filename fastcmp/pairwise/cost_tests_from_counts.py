"""Expected costs of many models, pair by pair, from counts by class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.counts.pairs import places_of
from fastcmp.pairwise.cost_tests import (
    LEVELS,
    SIDE,
    CostJudge,
    Losses,
    Prices,
    by_tables,
    loss_of,
    read_prices,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.protocols import LabelledCounts
    from fastcmp.counts.pairs import Block
    from fastcmp.inputs.cost_matrix import CostMatrix
    from fastcmp.paired.cost_differences import CostOptions

_COUNTED = 1 << 20  # cells of the counts of a tile


def judge_cost_counts(
    counts: LabelledCounts,
    matrix: CostMatrix,
    options: CostOptions,
    confidence_level: float,
) -> CostJudge:
    """Judge pairs by counts of true and predicted classes.

    Parameters
    ----------
    counts : fastcmp.stream.LabelCounts
        Of all pairs.
    matrix : CostMatrix
        Costs of mistakes, in the order of the classes.
    options : CostOptions
        Which test.
    confidence_level : float
        Of all intervals.

    Returns
    -------
    CostJudge
        As from `judge_costs` on the same samples.

    Raises
    ------
    ValueError
        If there are too many different costs.
    """
    prices = read_prices(matrix.values)
    size = prices.levels.size
    if prices.groups is None:
        message = (
            f"cost must hold at most {LEVELS} different costs for counts, got {size}"
        )
        raise ValueError(message)
    m, k = len(counts.names or ()), len(prices.cost)
    found = Losses(np.empty((m, 3)), np.empty(m, np.int64))
    for i in range(m):
        # Each model is the first or the second of some pair.
        other = 1 if i == 0 else 0
        pair = np.array([(min(i, other), max(i, other))])
        cells, samples = counts.cells(int(places_of(pair, m)[0]))
        y_true, pred = cells[:, 0], cells[:, 1 if i < other else 2]
        used = np.zeros(size, np.int64)
        np.add.at(used, prices.code[y_true, pred], samples)
        found.correct[i] = samples[y_true == pred].sum()
        found.losses[i] = loss_of(prices, used, confidence_level)
    table = _summed(counts, prices) if counts.is_dense else _added(counts, prices)

    def count(block: Block) -> NDArray[np.int64]:
        tables = table(places_of(np.sort(block.pairs, axis=1), m))
        turned = block.pairs[:, 0] > block.pairs[:, 1]
        tables[turned] = tables[turned].transpose(0, 2, 1)
        return tables

    judge = by_tables(prices, count, options, confidence_level)
    side = max(4, int((_COUNTED / k**3) ** 0.5) // 4 * 4)
    return CostJudge(counts.n_samples, found, judge, min(SIDE, side))


def _summed(
    counts: LabelledCounts, prices: Prices
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Make tables of two levels of dense counts."""
    size, tensors = prices.levels.size, counts.counts
    # Cells in the order of their two levels, so that one sum gives a table.
    cells = (prices.code[:, :, None] * size + prices.code[:, None, :]).ravel()
    order = np.argsort(cells, kind="stable")
    present, starts = np.unique(cells[order], return_index=True)

    def table(places: NDArray[np.int64]) -> NDArray[np.int64]:
        flat = tensors[places].reshape(places.size, -1)[:, order]
        tables = np.zeros((places.size, size * size), np.int64)
        tables[:, present] = np.add.reduceat(flat, starts, axis=1)
        return tables.reshape(-1, size, size)

    return table


def _added(
    counts: LabelledCounts, prices: Prices
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Make the same tables of the cells that hold samples."""
    size = prices.levels.size

    def table(places: NDArray[np.int64]) -> NDArray[np.int64]:
        tables = np.zeros((places.size, size, size), np.int64)
        for own, place in zip(tables, places.tolist(), strict=True):
            cells, samples = counts.cells(place)
            y_true, a, b = cells.T
            np.add.at(own, (prices.code[y_true, a], prices.code[y_true, b]), samples)
        return tables

    return table
