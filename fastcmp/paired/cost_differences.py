"""Samples grouped by the difference of costs, on which cost-sensitive tests rest."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag
from fastcmp.core.options import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.counts.label_table import LabelTable
    from fastcmp.kernels import CostOutcome

METHOD_NAMES = {"likelihood": "likelihood ratio", "chi-square": "chi-square"}
METHODS = tuple(METHOD_NAMES)
_SUPPORTS = ("all", "observed")
_LEVELS = 2048  # different costs whose differences are all listed
_CELLS = 1 << 24  # cells whose differences are all listed


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """Which test of equal costs, checked."""

    method: str
    smoothing: float
    nonnegative: bool
    support: str


def check_options(
    method: str,
    smoothing: float | None = None,
    nonnegative: bool = False,  # noqa: FBT001, FBT002  # passed on
    support: str = "all",
) -> CostOptions:
    """Check the options of `fastcmp.cost_test`, and fill in the default smoothing."""
    method = choose(method, "method", METHODS)
    support = choose(support, "support", _SUPPORTS)
    if as_flag(nonnegative, "nonnegative") and method == "likelihood":
        raise ValueError(
            "nonnegative=True is for method='chi-square': those of the likelihood "
            "ratio are never negative"
        )
    if support == "observed" and method == "chi-square":
        raise ValueError("support='observed' is for method='likelihood'")
    if smoothing is None:
        smoothing = 0.0 if method == "likelihood" else 1.0
    if isinstance(smoothing, bool) or not isinstance(smoothing, Real):
        raise TypeError(f"smoothing must be a number >= 0, got {smoothing!r}")
    if not 0.0 <= smoothing < np.inf:
        raise ValueError(f"smoothing must be finite and >= 0, got {smoothing}")
    return CostOptions(
        method=method,
        smoothing=float(smoothing),
        nonnegative=nonnegative,
        support=support,
    )


def fold(
    counts: LabelTable, cost: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """List the differences of the cells where the costs differ, and their samples."""
    t, a, b, samples = counts.nonzero()
    d = cost[t, a] - cost[t, b]
    return d[d != 0], samples[d != 0].astype(np.float64)


def cell_differences(cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """List cost[t, a] - cost[t, b] of all K**3 cells, in C order of [t, a, b]."""
    return (cost[:, :, None] - cost[:, None, :]).ravel()


def evaluate(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    cost: NDArray[np.float64],
    options: CostOptions,
) -> CostOutcome:
    """Test one pair of models from the lists that `fold` gives."""
    largest, smoothing = float(cost.max()), options.smoothing
    if not weights.any():
        # Smoothing is symmetric: alone it shows no difference.
        return kernels.cost_chi_square(values, weights, nonnegative=False)
    if options.method == "likelihood":
        values, weights = _smoothed(values, weights, cost, smoothing)
        reach = largest if options.support == "all" else 0.0
        return kernels.cost_likelihood(values, weights, reach)
    # The statistic needs only the sum of d**2 over the cells that smoothing fills, and
    # the sign condition only the largest d. So two values stand for all of them.
    unit = cost / largest
    square = 2.0 * (len(cost) * (unit**2).sum() - (unit.sum(axis=1) ** 2).sum())
    pair = np.full(2, 0.5 * smoothing * square)
    outcome = kernels.cost_chi_square(
        np.append(values, [-largest, largest]),
        np.append(weights, pair),
        options.nonnegative,
    )
    if outcome.at_bound and smoothing:
        values, weights = _smoothed(values, weights, cost, smoothing)
        outcome = kernels.cost_chi_square(values, weights, nonnegative=True)
    return outcome


def _smoothed(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    cost: NDArray[np.float64],
    smoothing: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Append the differences of all cells, with what smoothing adds to each."""
    if smoothing == 0.0:
        return values, weights
    d, cells = _positive_differences(cost)
    values = np.concatenate([values, d, -d])
    return values, np.concatenate([weights, smoothing * cells, smoothing * cells])


def _positive_differences(
    cost: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """List differences above 0, and how many of the K**3 cells have each.

    The negative ones mirror them. Cells are counted by the two costs that they
    subtract, from how often each cost stands in each row, without listing the cells.
    """
    k = len(cost)
    levels, code = np.unique(cost, return_inverse=True)
    if levels.size <= _LEVELS:
        present = np.zeros((k, levels.size))
        np.add.at(present, (np.arange(k)[:, None], code.reshape(k, k)), 1.0)
        cells = np.tril(present.T @ present, -1)
        high, low = np.nonzero(cells)
        return levels[high] - levels[low], cells[high, low]
    if k**3 <= _CELLS:
        d = cell_differences(cost)
        d = d[d > 0]
        return d, np.ones(d.size)
    raise ValueError(
        f"smoothing needs too much memory for a cost matrix of {k} classes with "
        f"{levels.size} different costs: use smoothing=0"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CostGroups:
    """Cells of a table, grouped by their difference of costs."""

    #: The distinct differences, ascending, shape (D,).
    values: NDArray[np.float64]
    #: Position in `values` of each cell's difference, shape (C,).
    group: NDArray[np.int64]
    #: What smoothing of 1 adds to each difference, shape (D,).
    cells: NDArray[np.float64]
    #: The largest cost.
    largest: float


def group_cells(
    differences: NDArray[np.float64], cells: NDArray[np.float64], largest: float
) -> CostGroups:
    """Group the cells of a table once, for many tables.

    `cells` says how many of the K**3 cells each one stands for.
    """
    values, group = np.unique(differences, return_inverse=True)
    group = group.ravel()
    return CostGroups(
        values=values,
        group=group,
        cells=np.bincount(group, cells, values.size).astype(np.float64),
        largest=largest,
    )


def groups_of(cost: NDArray[np.float64]) -> CostGroups:
    """Group the cells [t, a, b] of a tensor of counts, in C order."""
    d = cell_differences(cost)
    return group_cells(d, np.ones(d.size), float(cost.max()))


def evaluate_many(
    counts: NDArray[np.int64], groups: CostGroups, options: CostOptions
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Test many pairs of models, counts (P, C), against one cost matrix.

    Gives (P, 4): statistics, p-values, multipliers, whether at a bound; and statuses.
    """
    from fastcmp.kernels.cost import CHI_SQUARE, LIKELIHOOD, cost_test_many

    results = np.empty((len(counts), 4))
    status = np.empty(len(counts), np.uint8)
    code = LIKELIHOOD if options.method == "likelihood" else CHI_SQUARE
    reach = groups.largest if options.support == "all" else 0.0
    cost_test_many(
        counts,
        groups.group,
        groups.values,
        options.smoothing * groups.cells,
        (code, reach, options.nonnegative),
        results,
        status,
    )
    return results, status


def intervals_many(
    counts: NDArray[np.int64], groups: CostGroups, method: str, confidence_level: float
) -> NDArray[np.float64]:
    """Bound the differences of many pairs, counts (P, C): both ends, shape (P, 2)."""
    from fastcmp.kernels.cost import COST_PROFILE, COST_WALD, cost_interval_many

    ends = np.empty((len(counts), 2))
    code = COST_PROFILE if method == "profile" else COST_WALD
    options = (code, groups.largest, confidence_level)
    cost_interval_many(counts, groups.group, groups.values, options, ends)
    return ends
