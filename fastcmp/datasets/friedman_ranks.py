"""Friedman's test that all models do equally well on many tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_resamples, as_seed
from fastcmp.core.options import choose
from fastcmp.core.progress import Progress, reporting
from fastcmp.core.threads import ThreadPool, check_workers, no_step, parts
from fastcmp.datasets.friedman_exact import exact_pvalue
from fastcmp.datasets.omnibus_result import OmnibusTest
from fastcmp.datasets.reading import read_data
from fastcmp.datasets.task_ranks import rank_tasks
from fastcmp.kernels.special import chdtrc, fdtrc
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.kernels.task_ranks import rank_sum_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

METHODS = ("auto", "exact", "chi2", "iman-davenport", "monte-carlo")
TIES = ("corrected", "uncorrected")
_CELLS = 1 << 20  # scores that are put in order together


def friedman(
    scores: Any,
    *,
    method: str = "auto",
    ties: str = "corrected",
    lower_is_better: bool = False,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    n_resamples: int = 9999,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> OmnibusTest:
    """Friedman's test that all models do equally well on many tasks.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping or frame
        One score for each model and task, as for `compare_datasets`; none missing.
    method : {"auto", "exact", "chi2", "iman-davenport", "monte-carlo"}
        Where the p-value comes from: all orders of the models in each task, given its
        ties; chi-square; Iman and Davenport's F, which errs less often; or random
        orders. "auto" is exact where that takes about a second, else F.
    ties : {"corrected", "uncorrected"}
        Whether the statistic knows of tied ranks.
    lower_is_better : bool
        Whether scores are errors or losses.
    names, tasks : sequence of str, optional
        Names of the models, and of the tasks.
    n_resamples : int
        Draws of "monte-carlo".
    rng : int, numpy.random.Generator or None
        Where they come from.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    OmnibusTest
        Statistic and p-value of the method; chi-square, F and Kendall's W of all.

    Raises
    ------
    ValueError
        If there are fewer than two models or tasks, a score is missing or infinite, or
        an exact p-value would take too long.
    TypeError
        If scores are no numbers.

    Notes
    -----
    Chi-square is (M-1) sum (R_j - D(M+1)/2)**2 / (sum r**2 - D M (M+1)**2 / 4) with M -
    1 degrees of freedom, for rank sums R_j; F = (D-1) chi2 / (D(M-1) - chi2) with M - 1
    and (M-1)(D-1); W = chi2 / (D(M-1)). If all models tie on all tasks these are 0, and
    p is 1. Scores are tied within 8 units in the last place of the task's largest.

    References
    ----------
    .. [1] M. Friedman, "The use of ranks to avoid the assumption of normality implicit
       in the analysis of variance", JASA 32 (1937) 675-701.
    .. [2] R. L. Iman, J. M. Davenport, "Approximations of the critical region of the
       Friedman statistic", Communications in Statistics A9 (1980) 571-595.

    Examples
    --------
    >>> from fastcmp.datasets import friedman
    >>> scores = [[0.9, 0.8, 0.7, 0.9], [0.8, 0.7, 0.6, 0.8], [0.7, 0.6, 0.5, 0.6]]
    >>> test = friedman(scores)
    >>> test.statistic, round(test.pvalue, 6), test.kendall_w
    (8.0, 0.00463, 1.0)
    """
    method = choose(method, "method", METHODS)
    ties = choose(ties, "ties", TIES)
    n_resamples = as_resamples(n_resamples)
    seed = as_seed(rng)
    data = read_data(scores, lower_is_better=lower_is_better, names=names, tasks=tasks)
    with (
        reporting(progress, "drawing", unit="draws") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        ranks = rank_tasks(data.gains, pool)
        given = Draws(method, n_resamples, seed)
        return friedman_of_ranks(ranks, data.gains.names, given, pool, ties=ties)


class Draws(NamedTuple):
    """Where the p-value comes from."""

    method: str = "auto"
    n_resamples: int = 9999
    seed: int | None = None


class RankSums(NamedTuple):
    """Sums over the ranks, as whole numbers."""

    #: M, D.
    n_models: int
    n_tasks: int
    #: Twice the rank sums, shape (M,).
    doubled: NDArray[np.int64]
    #: Four times the sum of squared deviations of rank sums, and of ranks.
    between: int
    within: int

    @classmethod
    def of(cls, ranks: Floats, *, corrected: bool = True) -> RankSums:
        """Add up ranks, shape (M, D)."""
        m, n = ranks.shape
        doubled = np.rint(2.0 * ranks.sum(axis=1)).astype(np.int64)
        between = int(((doubled - n * (m + 1)) ** 2).sum())
        within = n * m * (m * m - 1) // 3
        if corrected:
            within = round(float(((2.0 * ranks - (m + 1)) ** 2).sum()))
        return cls(m, n, doubled, between, within)

    @property
    def chi2(self) -> float:
        """Friedman's chi-square."""
        return (self.n_models - 1) * self.between / self.within if self.within else 0.0

    @property
    def left(self) -> int:
        """D (M - 1) - chi2, times `within`: 0 where all tasks agree."""
        return (self.n_models - 1) * (self.n_tasks * self.within - self.between)

    @property
    def f(self) -> float:
        """Iman and Davenport's F."""
        if not self.within:
            return 0.0
        top = (self.n_tasks - 1) * (self.n_models - 1) * self.between
        return top / self.left if self.left > 0 else float("inf")


def friedman_of_ranks(
    ranks: Floats,
    names: tuple[str, ...],
    given: Draws,
    pool: ThreadPool,
    *,
    ties: str = "corrected",
) -> OmnibusTest:
    """Test ranks, shape (M, D), without missing ones."""
    sums = RankSums.of(ranks, corrected=ties == "corrected")
    m, n = ranks.shape
    f_df = (m - 1, (m - 1) * (n - 1))
    f_pvalue = 0.0 if sums.f == float("inf") else float(fdtrc(*f_df, sums.f))
    found: dict[str, Any] = {
        "chi2": (sums.chi2, float(chdtrc(m - 1.0, sums.chi2)), m - 1, "chi2"),
        "iman-davenport": (sums.f, f_pvalue, f_df, "F"),
    }
    method = given.method
    if method in ("auto", "exact"):
        exact = exact_pvalue(ranks, quick=method == "auto")
        method = "iman-davenport" if exact is None else "exact"
        found["exact"] = (sums.chi2, exact, None, "permutation")
    elif method == "monte-carlo":
        drawn = _drawn_pvalue(ranks, given, pool)
        found[method] = (sums.chi2, drawn, None, "permutation")
    if not sums.within:
        found[method] = (0.0, 1.0, *found[method][2:])
    statistic, pvalue, df, distribution = found[method]
    draws = method == "monte-carlo"
    return OmnibusTest(
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        distribution=distribution,
        status=OK if sums.within else DEGENERATE,
        test="friedman",
        method=method,
        ties=ties,
        names=names,
        n_tasks=n,
        mean_rank=sums.doubled / (2.0 * n),
        chi2_statistic=sums.chi2,
        chi2_pvalue=found["chi2"][1],
        f_statistic=sums.f,
        f_df=f_df,
        f_pvalue=f_pvalue,
        kendall_w=sums.chi2 / (n * (m - 1)),
        n_resamples=given.n_resamples if draws else None,
        seed=given.seed if draws else None,
    )


def _drawn_pvalue(ranks: Floats, given: Draws, pool: ThreadPool) -> float:
    """Put the models of each task in random orders."""
    doubled = np.ascontiguousarray(np.rint(2.0 * ranks.T), np.int64)
    observed = int((doubled.sum(axis=0) ** 2).sum())
    squares = np.empty(given.n_resamples, np.int64)
    seed = given.seed or 0

    def draw(some: slice) -> None:
        rank_sum_draws(doubled, seed, some.start, squares[some])

    tasks = parts(given.n_resamples, max(1, min(1024, _CELLS // doubled.size)))
    pool.run(draw, tasks, steps=no_step)
    reached = int(np.count_nonzero(squares >= observed))
    return (reached + 1) / (given.n_resamples + 1)
