"""The exact p-value of Friedman's test, by all orders of the models in each task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.kernels.friedman_exact import (
    add_orders,
    count_orders,
    list_orders,
    reach_with_orders,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST = 10_000_000  # states times orders of a task
_QUICK = 10_000_000  # of all tasks together, where nobody asked: about a second
_QUICK_MODELS = 10
#: States after t tasks of 2, 3, ... models, divided by t**(M - 1), as counted.
_DENSITY = (1.0, 0.5, 0.7, 1.3, 3.4, 10.0, 40.0, 160.0, 640.0)
_LARGEST = 2**63


def exact_pvalue(ranks: NDArray[np.float64], *, quick: bool) -> float | None:
    """Find P(sum R_j**2 >= observed), given the midranks of each task, shape (M, D).

    The state is the sorted vector of rank sums over the tasks seen so far. Where that
    takes too long the answer is None if it was to be `quick`, else a ValueError.
    """
    m, n = ranks.shape
    if quick and m > _QUICK_MODELS:
        return None
    doubled = np.rint(2.0 * ranks.T).astype(np.int64)
    observed = int((doubled.sum(axis=0) ** 2).sum())
    rows = np.sort(doubled, axis=1)
    shift = int(rows[:, 0].sum())
    rows -= rows[:, :1]
    ways = [count_orders(row) for row in rows]
    # Tasks on which models are tied in many ways come last, when there are many states.
    order = [t for t in np.argsort(ways)[::-1].tolist() if ways[t] > 1]
    if not order:
        return 1.0
    if quick and _expected_work(m, [ways[t] for t in order]) > _QUICK:
        return None
    base = int(rows.max(axis=1).sum()) + 1
    keys, chances, total, work = np.zeros(1, np.int64), np.ones(1), 0, 0.0
    orders, listed = np.empty((0, m), np.int64), rows[0] - 1
    for t in order:
        step = keys.size * ways[t]
        work += step
        if base ** (m - 1) >= _LARGEST or step > _MOST or (quick and work > _QUICK):
            if quick:
                return None
            raise ValueError(
                f"method='exact' takes too long for {m} models and {n} tasks: use "
                "'monte-carlo' or 'iman-davenport'"
            )
        if not np.array_equal(rows[t], listed):
            orders, listed = np.empty((int(ways[t]), m), np.int64), rows[t]
            list_orders(rows[t], orders)
        if t == order[-1]:
            break
        keys, chances = add_orders(keys, chances, orders, base, total)
        total += int(rows[t].sum())
    return float(reach_with_orders(keys, chances, orders, base, total, shift, observed))


def _expected_work(m: int, ways: list[float]) -> float:
    """Estimate the states times orders of all tasks, without ties."""
    n = len(ways)
    return _DENSITY[m - 2] * float(n) ** m / m * sum(ways) / n
