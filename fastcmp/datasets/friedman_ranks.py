"""Friedman's test that all models do equally well on many tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_resamples, as_seed, choose
from fastcmp.core.records import Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.threads import Progress, ThreadPool, check_workers, no_step, parts, reporting
from fastcmp.datasets.reading import read_data
from fastcmp.datasets.task_ranks import rank_tasks
from fastcmp.kernels.friedman_exact import add_orders, count_orders, list_orders, reach_with_orders
from fastcmp.kernels.special import chdtrc, fdtrc
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.kernels.task_ranks import rank_sum_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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


# The record of a test that all models do equally well on many tasks.


_SHOWN = 20  # models that are printed
_NAMES = {
    "friedman": "Friedman's test",
    "quade": "Quade's test",
    "aligned": "Friedman's test of aligned ranks",
    "skillings-mack": "Skillings and Mack's test",
}
_SYMBOLS = {"chi2": "chi-square", "F": "F", "permutation": "chi-square"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OmnibusTest(Record):
    """The test that M models do equally well, from one score a model and task."""

    #: What `distribution` is applied to.
    statistic: float
    pvalue: float
    #: Degrees of freedom, one number or, of F, two; None for permutations.
    df: Any = None
    #: "chi2", "F", or "permutation", where the p-value comes from orders of the models.
    distribution: str
    #: A `fastcmp.kernels.Status`: DEGENERATE where all models tie on all tasks.
    status: int
    #: "friedman", "quade", "aligned" or "skillings-mack".
    test: str
    #: Of Friedman's test: "exact", "chi2", "iman-davenport" or "monte-carlo".
    method: str
    #: "corrected" or "uncorrected": whether the statistic knows of ties.
    ties: str = "corrected"
    names: tuple[str, ...]
    n_tasks: int
    #: Mean rank of each model, shape (M,), 1 for the best; of "aligned" the mean rank
    #: among all aligned scores. Of the tasks that have the model.
    mean_rank: NDArray[np.float64]
    #: Sums S of Quade's test, or A of Skillings and Mack's, shape (M,); else None.
    weighted_sum: Any = None
    #: Of Friedman's test, whatever the method: chi-square, Iman and Davenport's F,
    #: their p-values, and Kendall's coefficient of concordance W. None for others.
    chi2_statistic: float | None = None
    chi2_pvalue: float | None = None
    f_statistic: float | None = None
    f_df: Any = None
    f_pvalue: float | None = None
    kendall_w: float | None = None
    #: Draws of "monte-carlo", and the seed that repeats them.
    n_resamples: int | None = None
    seed: int | None = None

    @property
    def sentence(self) -> str:
        """The test in one sentence."""
        how = ""
        if self.test == "friedman" and self.method == "iman-davenport":
            how = " (Iman and Davenport's F)"
        elif self.method == "exact":
            how = " (exact)"
        elif self.method == "monte-carlo":
            how = f" ({self.n_resamples} draws, seed {self.seed})"
        degrees = ""
        if self.df is not None:
            numbers = [f"{x:g}" for x in np.atleast_1d(self.df)]
            degrees = f" with {' and '.join(numbers)} d.o.f."
        agreement = ""
        if self.kendall_w is not None:
            agreement = f"; Kendall's W = {self.kendall_w:.3f}"
        return (
            f"{_NAMES[self.test]}{how}: {_SYMBOLS[self.distribution]} = "
            f"{self.statistic:.4g}{degrees}, p = {format_pvalue(self.pvalue)}"
            f"{agreement}."
        )

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, mean rank and weighted sum.
        """
        columns: dict[str, Any] = {"model": list(self.names), "mean_rank": self.mean_rank}
        if self.weighted_sum is not None:
            columns["weighted_sum"] = self.weighted_sum
        return columns

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, and the mean ranks.
        """
        text = [
            f"{len(self.names)} models on {self.n_tasks} data sets",
            "H0: all models do equally well, so that in each data set any order of "
            "them is equally likely",
            self.sentence,
        ]
        if self.status == DEGENERATE:
            text.append("All models tie on all data sets: there is nothing to test.")
        order = np.argsort(self.mean_rank, kind="stable")[:_SHOWN].tolist()
        more = len(self.names) - len(order)
        table = Section(
            title="Mean ranks, 1 for the best",
            columns=("model", "mean rank"),
            rows=tuple((self.names[i], f"{self.mean_rank[i]:.3f}") for i in order),
            notes=(f"... and {more} more models.",) if more > 0 else (),
        )
        title = "Do any of these models differ?"
        return [Section(title=title, text=tuple(text)), table]


# Friedman's test that all models do equally well on many tasks.


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
