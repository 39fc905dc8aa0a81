"""Tests of equal expected costs of many pairs of models, from counts by class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.counts.pairs import places_of
from fastcmp.pairwise.cost_tests import (
    LEVELS,
    SIDE,
    CostLevels,
    ModelCosts,
    mean_cost,
    read_levels,
    tests_of_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.protocols import LabelledCounts
    from fastcmp.counts.pairs import Block
    from fastcmp.inputs.cost_matrix import CostMatrix
    from fastcmp.paired.cost_differences import CostOptions
    from fastcmp.pairwise.pair_tests import PairTests

_COUNTED = 1 << 20  # cells of the counts of a tile


def cost_tests_from_counts(
    counts: LabelledCounts,
    matrix: CostMatrix,
    options: CostOptions,
    confidence_level: float,
) -> PairTests:
    """Test pairs by counts of true and predicted classes, as `cost_tests` by samples.

    The matrix is in the order of the classes; too many different costs are a
    ValueError.
    """
    costs = read_levels(matrix.values)
    size = costs.levels.size
    if costs.groups is None:
        raise ValueError(f"cost must hold at most {LEVELS} different costs for counts, got {size}")
    m, k = len(counts.names or ()), len(costs.cost)
    models = ModelCosts(counts.n_samples, np.empty((m, 3)), np.empty(m, np.int64))
    for i in range(m):
        # Each model is the first or the second of some pair.
        other = 1 if i == 0 else 0
        pair = np.array([(min(i, other), max(i, other))])
        cells, samples = counts.cells(int(places_of(pair, m)[0]))
        y_true, pred = cells[:, 0], cells[:, 1 if i < other else 2]
        used = np.zeros(size, np.int64)
        np.add.at(used, costs.code[y_true, pred], samples)
        models.correct[i] = samples[y_true == pred].sum()
        models.means[i] = mean_cost(costs, used, confidence_level)
    table = (_summed if counts.is_dense else _added)(counts, costs)

    def count(block: Block) -> NDArray[np.int64]:
        tables = table(places_of(np.sort(block.pairs, axis=1), m))
        turned = block.pairs[:, 0] > block.pairs[:, 1]
        tables[turned] = tables[turned].transpose(0, 2, 1)
        return tables

    side = min(SIDE, max(4, int((_COUNTED / k**3) ** 0.5) // 4 * 4))
    return tests_of_tables(costs, models, count, side, options, confidence_level)


def _summed(
    counts: LabelledCounts, costs: CostLevels
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Make tables of two levels of dense counts."""
    size, tensors = costs.levels.size, counts.counts
    # Cells in the order of their two levels, so that one sum gives a table.
    cells = (costs.code[:, :, None] * size + costs.code[:, None, :]).ravel()
    order = np.argsort(cells, kind="stable")
    present, starts = np.unique(cells[order], return_index=True)

    def table(places: NDArray[np.int64]) -> NDArray[np.int64]:
        flat = tensors[places].reshape(places.size, -1)[:, order]
        tables = np.zeros((places.size, size * size), np.int64)
        tables[:, present] = np.add.reduceat(flat, starts, axis=1)
        return tables.reshape(-1, size, size)

    return table


def _added(
    counts: LabelledCounts, costs: CostLevels
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Make the same tables of the cells that hold samples."""
    size = costs.levels.size

    def table(places: NDArray[np.int64]) -> NDArray[np.int64]:
        tables = np.zeros((places.size, size, size), np.int64)
        for own, place in zip(tables, places.tolist(), strict=True):
            cells, samples = counts.cells(place)
            y_true, a, b = cells.T
            np.add.at(own, (costs.code[y_true, a], costs.code[y_true, b]), samples)
        return tables

    return table
