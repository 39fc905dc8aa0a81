"""The exact distribution of the difference of two models' rank sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_numbers, as_whole
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.records import unwrap
from fastcmp.kernels.friedman_exact import add_difference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MOST = 4e9  # steps: some seconds


def friedman_pair_exact(
    rank_sum_difference: ArrayLike,
    n_models: int,
    n_tasks: int,
    *,
    alternative: str = "two-sided",
) -> Any:
    """Test exactly the difference of the rank sums of two of M models, without ties.

    With ties `compare_datasets` with ``method="exact"`` takes those of each task.

    Parameters
    ----------
    rank_sum_difference : array-like of int
        Rank sum of the second model minus that of the first: positive where the first
        is better.
    n_models, n_tasks : int
        M and D: ranks within each task are 1, ..., M.
    alternative : {"two-sided", "greater", "less"}
        "greater": the first model is better.

    Returns
    -------
    float or ndarray
        P-values, in the shape of the differences.

    Raises
    ------
    ValueError
        If a difference is no whole number or larger than D (M - 1), there are fewer
        than two models, no task, or it would take too long.
    TypeError
        If differences are no numbers.

    Notes
    -----
    O(D**2 M) steps: differences within a task, u = 1 - M, ..., M - 1 but not 0, have
    the weights M - abs(u).

    References
    ----------
    .. [1] R. Eisinga, T. Heskes, B. Pelzer, M. Te Grotenhuis, "Exact p-values for
       pairwise comparison of Friedman rank sums", BMC Bioinformatics 18 (2017) 68.

    Examples
    --------
    >>> from fastcmp.datasets import friedman_pair_exact
    >>> round(friedman_pair_exact(100, n_models=100, n_tasks=100), 7)
    0.8085251
    """
    side = choose(alternative, "alternative", tuple(ALTERNATIVES))
    m = as_whole(n_models, "n_models", 2)
    n = as_whole(n_tasks, "n_tasks", 1)
    given = as_numbers(rank_sum_difference, "rank_sum_difference")
    if given.size and not (np.abs(given) <= n * (m - 1)).all():
        bad = given[~(np.abs(given) <= n * (m - 1))].flat[0]
        raise ValueError(
            f"rank_sum_difference must lie within D (M - 1) = {n * (m - 1)} of 0, got {bad}"
        )
    if not np.array_equal(given, np.trunc(given)):
        raise ValueError(
            "rank_sum_difference must be whole numbers, as without ties; with ties use "
            "compare_datasets(..., method='exact')"
        )
    gain = given.astype(np.int64)
    tails = _tails(np.tile(np.arange(1, m + 1), (n, 1)))
    reach = tails.size // 2
    at = {"two-sided": np.abs(gain), "greater": gain, "less": -gain}[side]
    pvalue = tails[at + reach]
    if side == "two-sided":
        pvalue = np.where(gain == 0, 1.0, np.minimum(1.0, 2.0 * pvalue))
    return unwrap(np.asarray(pvalue), given.shape)


def difference_tails(doubled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give P(difference >= d), d = -R, ..., R, for doubled midranks, shape (M, D)."""
    return _tails(np.sort(doubled.T, axis=1))


def _tails(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Add up ranks of tasks, each row ascending; ValueError where that takes long."""
    if _steps(rows) > _MOST:
        n, m = rows.shape
        raise ValueError(
            f"method='exact' takes too long for {m} models and {n} tasks: use 'normal'"
        )
    chances = np.ones(1)
    for row in rows:
        if row[-1] > row[0]:
            chances = add_difference(chances, row)
    # From the small end, and by symmetry P(>= d) = P(<= -d).
    return np.cumsum(chances)[::-1].copy()


def _steps(rows: NDArray[np.int64]) -> float:
    """Bound how many steps the convolution takes."""
    m = rows.shape[1]
    spread = 2.0 * (rows[:, -1] - rows[:, 0])
    even = (np.diff(rows, axis=1) == rows[:, 1:2] - rows[:, :1]).all(axis=1)
    each = np.where(even, 4.0, np.minimum(spread, float(m) * m))
    return float((np.cumsum(spread) * each).sum() + m * m * np.count_nonzero(~even))
