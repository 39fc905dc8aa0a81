"""Tests that all models do equally well on many tasks: by ranks, sizes, or with gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_resamples, as_seed, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record, TaskScores
from fastcmp.core.sections import MODEL, Column, Section, format_pvalue
from fastcmp.core.sentences import differ_sentence, null_sentence
from fastcmp.core.threads import Progress, ThreadPool, check_workers, parts, reporting
from fastcmp.core.typing import Floats, Ints, ModelsLike, Seed
from fastcmp.datasets.battles import components
from fastcmp.datasets.reading import Gains, rank_tasks, read_data
from fastcmp.kernels.friedman_exact import add_orders, count_orders, list_orders, reach_with_orders
from fastcmp.kernels.special import chdtrc, fdtrc
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.kernels.task_ranks import midranks_sorted, rank_sum_draws

_NAMES = {
    "friedman": "Friedman's test",
    "quade": "Quade's test",
    "aligned": "Friedman's test of aligned ranks",
    "skillings-mack": "Skillings and Mack's test",
}
_SYMBOLS = {"chi2": "chi-square", "F": "F", "permutation": "chi-square"}
METHODS = ("auto", "exact", "chi2", "iman-davenport", "monte-carlo")
TIES = ("corrected", "uncorrected")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OmnibusTest(Record):
    """The test that M models do equally well, from one score a model and task."""

    _blocks = "selection:mean_ranks"
    _opening = "All models were compared at once by {record._named}."

    _cites = (
        (
            "test",
            {
                "friedman": "friedman",
                "aligned": "friedman",
                "quade": "quade",
                "skillings-mack": "skillings",
            },
        ),
        ("method", {"iman-davenport": "iman"}),
    )

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
    mean_rank: Floats
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

    _columns = (MODEL, Column("mean_rank", form=".3f"), Column("weighted_sum"))

    @property
    def _named(self) -> str:
        """The test, and where its p-value comes from."""
        how = ""
        if self.test == "friedman" and self.method == "iman-davenport":
            how = " (Iman and Davenport's F)"
        elif self.method == "exact":
            how = " (exact)"
        elif self.method == "monte-carlo":
            how = f" ({self.n_resamples} draws, seed {self.seed})"
        return f"{_NAMES[self.test]}{how}"

    @property
    def sentence(self) -> str:
        """The test in one sentence."""
        degrees = ""
        if self.df is not None:
            numbers = [f"{x:g}" for x in np.atleast_1d(self.df)]
            degrees = f" with {' and '.join(numbers)} d.o.f."
        agreement = ""
        if self.kendall_w is not None:
            agreement = f"; Kendall's W = {self.kendall_w:.3f}"
        return (
            f"{self._named}: {_SYMBOLS[self.distribution]} = "
            f"{self.statistic:.4g}{degrees}, p = {format_pvalue(self.pvalue)}"
            f"{agreement}."
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, and the mean ranks.
        """
        text = [
            f"{len(self.names)} models on {self.n_tasks} data sets",
            null_sentence(
                "all models do equally well, so that in each data set any order of them is "
                "equally likely"
            ),
            self.sentence,
        ]
        if self.status == DEGENERATE:
            text.append("All models tie on all data sets: there is nothing to test.")
        order = np.argsort(self.mean_rank, kind="stable").tolist()
        table = self._printed("Mean ranks, 1 for the best", "model mean_rank", order=order)
        title = "Do any of these models differ?"
        return [Section(title=title, text=tuple(text)), table]

    def _headline(self) -> str:
        return differ_sentence(self)


def friedman(
    scores: ModelsLike | TaskScores,
    *,
    method: str = "auto",
    ties: str = "corrected",
    lower_is_better: bool = False,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
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
        If scores are not numbers.

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
    return _test(
        choose(method, "method", METHODS),
        *(scores, lower_is_better, names, tasks, workers),
        ties=ties,
        draws=read_draws(n_resamples, rng),
        progress=progress,
    )


def quade(
    scores: ModelsLike | TaskScores,
    *,
    lower_is_better: bool = False,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    workers: int | None = None,
) -> OmnibusTest:
    """Quade's test that all models do equally well: tasks count by their ranges.

    Scores of different tasks must be comparable in size.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping or frame
        One score for each model and task, as for `compare_datasets`; none missing.
    lower_is_better : bool
        Whether scores are errors or losses.
    names, tasks : sequence of str, optional
        Names of the models, and of the tasks.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    OmnibusTest
        F with M - 1 and (M-1)(D-1) degrees of freedom.

    Raises
    ------
    ValueError
        If there are fewer than two models or tasks, or a score is missing or infinite.
    TypeError
        If scores are not numbers.

    Notes
    -----
    With Q_t the rank of the range of task t and S_jt = Q_t (r_jt - (M+1)/2), F = (D-1)
    B / (A - B), where A = sum S_jt**2 and B = sum_j (sum_t S_jt)**2 / D. If all models
    tie on all tasks, F is 0 and p 1; if all tasks order the models alike, in the same
    proportions, F is infinite and p is (1/M!)**(D-1), the proportion of all orders.

    References
    ----------
    .. [1] D. Quade, "Using weighted rankings in the analysis of complete blocks with
       additive block effects", JASA 74 (1979) 680-683.

    Examples
    --------
    >>> from fastcmp.datasets import quade
    >>> test = quade([[0.9, 0.8, 0.7, 0.9], [0.8, 0.6, 0.3, 0.9], [0.7, 0.7, 0.5, 0.6]])
    >>> round(test.statistic, 4), test.df, round(test.pvalue, 4)
    (2.9726, (2, 6), 0.1267)
    """
    return _test("quade", scores, lower_is_better, names, tasks, workers)


def aligned_ranks(
    scores: ModelsLike | TaskScores,
    *,
    ties: str = "corrected",
    lower_is_better: bool = False,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    workers: int | None = None,
) -> OmnibusTest:
    """Friedman's test of aligned ranks: scores less their task's mean, ranked together.

    Scores of different tasks must be comparable in size.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping or frame
        One score for each model and task, as for `compare_datasets`; none missing.
    ties : {"corrected", "uncorrected"}
        Whether the statistic knows of tied ranks; the published one does not.
    lower_is_better : bool
        Whether scores are errors or losses.
    names, tasks : sequence of str, optional
        Names of the models, and of the tasks.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    OmnibusTest
        Chi-square with M - 1 degrees of freedom; mean ranks are among all M D scores.

    Raises
    ------
    ValueError
        If there are fewer than two models or tasks, or a score is missing or infinite.
    TypeError
        If scores are not numbers.

    Notes
    -----
    T = (M-1) (sum R_j**2 - M D**2 (M D + 1)**2 / 4) / (S - sum_t R_t**2 / M), for rank
    sums R_j of models and R_t of tasks, and S the sum of squared ranks.

    References
    ----------
    .. [1] J. L. Hodges, E. L. Lehmann, "Rank methods for combination of independent
       experiments in analysis of variance", Annals of Mathematical Statistics 33 (1962)
       482-497.

    Examples
    --------
    >>> from fastcmp.datasets import aligned_ranks
    >>> test = aligned_ranks([[0.9, 0.8, 0.7], [0.8, 0.6, 0.3], [0.7, 0.7, 0.5]])
    >>> round(test.statistic, 4), test.df, round(test.pvalue, 4)
    (4.5439, 2, 0.1031)
    """
    return _test("aligned", scores, lower_is_better, names, tasks, workers, ties=ties)


def skillings_mack(
    scores: ModelsLike | TaskScores,
    *,
    lower_is_better: bool = False,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    workers: int | None = None,
) -> OmnibusTest:
    """Skillings and Mack's test that all models do equally well, some scores missing.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping or frame
        One score for each model and task, as for `compare_datasets`; None or NaN where
        there is none.
    lower_is_better : bool
        Whether scores are errors or losses.
    names, tasks : sequence of str, optional
        Names of the models, and of the tasks.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    OmnibusTest
        Chi-square with M - 1 degrees of freedom; `weighted_sum` holds A.

    Raises
    ------
    ValueError
        If there are fewer than two models or tasks, a score is infinite, or the models
        fall into groups that have no task in common.
    TypeError
        If scores are not numbers.

    Notes
    -----
    A_j = sum_t sqrt(12 / (k_t + 1)) (r_jt - (k_t + 1)/2) over the tasks that have the
    model, k_t models each; T = A' K+ A, K the Laplacian of the counts of common tasks.
    Of complete scores without ties it is Friedman's; it is not corrected for ties.

    References
    ----------
    .. [1] J. H. Skillings, G. A. Mack, "On the use of a Friedman-type statistic in
       balanced and unbalanced block designs", Technometrics 23 (1981) 171-177.

    Examples
    --------
    >>> from fastcmp.datasets import skillings_mack
    >>> nan = float("nan")
    >>> test = skillings_mack([[0.9, 0.8, 0.7], [0.8, nan, 0.3], [0.7, 0.7, 0.5]])
    >>> round(test.statistic, 4), test.df, round(test.pvalue, 4)
    (3.9865, 2, 0.1362)
    """
    return _test("skillings-mack", scores, lower_is_better, names, tasks, workers)


#: How many draws "monte-carlo" makes, and their seed; None for one of the system's.
Draws = tuple[int, int | None]


def read_draws(n_resamples: object, rng: Seed) -> Draws:
    """Check how many draws there are, and where they come from."""
    return as_resamples(n_resamples), None if rng is None else as_seed(rng)


def _test(
    method: str,
    scores: ModelsLike | TaskScores,
    lower_is_better: object,
    names: Sequence[str] | None,
    tasks: Sequence[str] | None,
    workers: int | None,
    *,
    ties: str = "corrected",
    draws: Draws = (0, None),
    progress: object = None,
) -> OmnibusTest:
    """Read the scores, rank them within tasks, and test."""
    ties = choose(ties, "ties", TIES)
    missing = "pairs" if method == "skillings-mack" else "raise"
    data = read_data(
        scores,
        lower_is_better=lower_is_better,
        missing=missing,
        names=names,
        tasks=tasks,
        policies=(missing,),
    )
    with (
        reporting(progress, "drawing", unit="draws") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        ranks = rank_tasks(data.gains, pool)
        return omnibus_test(method, data.gains, ranks, pool, ties=ties, draws=draws)


def omnibus_test(
    method: str,
    gains: Gains,
    ranks: Floats,
    pool: ThreadPool,
    *,
    ties: str = "corrected",
    draws: Draws,
) -> OmnibusTest:
    """Test ranks, shape (M, D), by one of `METHODS` or another test."""
    if method == "skillings-mack" or not gains.complete:
        return _skillings_mack(gains, ranks)
    if method == "quade":
        return _quade(gains, ranks)
    if method == "aligned":
        return _aligned(gains, ties)
    return _friedman(method, gains, ranks, pool, ties, draws)


def _record(
    gains: Gains,
    statistic: float,
    df: Any,
    *,
    degenerate: bool,
    pvalue: float | None = None,
    **fields: Any,
) -> OmnibusTest:
    """The record; without a p-value that of F for two degrees of freedom, else of chi-square."""
    if degenerate:
        statistic, pvalue = 0.0, 1.0
    if pvalue is None:
        pvalue = _tail(statistic, df)
    distribution = "permutation" if df is None else "chi2" if np.ndim(df) == 0 else "F"
    return OmnibusTest(
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        distribution=distribution,
        status=DEGENERATE if degenerate else OK,
        names=gains.names,
        **{"n_tasks": len(gains.tasks), **fields},
    )


def _tail(statistic: float, df: Any) -> float:
    """P-value of F for two degrees of freedom, else of chi-square."""
    if statistic == math.inf:
        return 0.0
    if np.ndim(df) == 0:
        return float(chdtrc(float(df), statistic))
    return float(fdtrc(df[0], df[1], statistic))


# Friedman's test.


class RankSums(NamedTuple):
    """Sums over the ranks, as whole numbers."""

    #: Twice the rank sums, shape (M,).
    doubled: Ints
    #: Four times the sum of squared deviations of rank sums, and of ranks.
    between: int
    within: int
    #: D (M - 1) - chi2, times `within`: 0 where all tasks agree.
    left: int


def rank_sums(ranks: Floats, *, corrected: bool = True) -> RankSums:
    """Sums of ranks (M, D), and of their squared deviations, in whole numbers."""
    m, n = ranks.shape
    doubled = np.rint(2.0 * ranks.sum(axis=1)).astype(np.int64)
    between = int(((doubled - n * (m + 1)) ** 2).sum())
    within = n * m * (m * m - 1) // 3
    if corrected:
        within = round(float(((2.0 * ranks - (m + 1)) ** 2).sum()))
    return RankSums(doubled, between, within, (m - 1) * (n * within - between))


def _friedman(
    method: str, gains: Gains, ranks: Floats, pool: ThreadPool, ties: str, draws: Draws
) -> OmnibusTest:
    m, n = ranks.shape
    sums = rank_sums(ranks, corrected=ties == "corrected")
    chi2 = f = 0.0
    if sums.within:
        chi2 = (m - 1) * sums.between / sums.within
        f = (n - 1) * (m - 1) * sums.between / sums.left if sums.left > 0 else math.inf
    f_df = (m - 1, (m - 1) * (n - 1))
    pvalue = n_resamples = seed = None
    if method in ("auto", "exact"):
        pvalue = _exact_pvalue(ranks, quick=method == "auto")
        method = "iman-davenport" if pvalue is None else "exact"
    elif method == "monte-carlo":
        n_resamples, seed = draws[0], as_seed(draws[1])
        pvalue = _drawn_pvalue(ranks, n_resamples, seed, pool)
    return _record(
        gains,
        f if method == "iman-davenport" else chi2,
        {"chi2": m - 1, "iman-davenport": f_df}.get(method),
        degenerate=not sums.within,
        pvalue=pvalue,
        test="friedman",
        method=method,
        ties=ties,
        mean_rank=ranks.mean(axis=1),
        chi2_statistic=chi2,
        chi2_pvalue=_tail(chi2, m - 1),
        f_statistic=f,
        f_df=f_df,
        f_pvalue=_tail(f, f_df),
        kendall_w=chi2 / (n * (m - 1)),
        n_resamples=n_resamples,
        seed=seed,
    )


_CELLS = 1 << 20  # scores that are put in order together


def _drawn_pvalue(ranks: Floats, n_resamples: int, seed: int, pool: ThreadPool) -> float:
    """P-value over random orders of the models of each task."""
    doubled = np.ascontiguousarray(np.rint(2.0 * ranks.T), np.int64)
    observed = int((doubled.sum(axis=0) ** 2).sum())
    squares = np.empty(n_resamples, np.int64)

    def draw(part: slice) -> None:
        rank_sum_draws(doubled, seed, part.start, squares[part])

    size = max(1, min(1024, _CELLS // doubled.size))
    pool.run(draw, parts(n_resamples, size), steps=0)
    return (int(np.count_nonzero(squares >= observed)) + 1) / (n_resamples + 1)


_MOST = 10_000_000  # states times orders of a task
_QUICK = 10_000_000  # of all tasks together, where nobody asked: about a second
_QUICK_MODELS = 10
#: States after t tasks of 2, 3, ... models, divided by t**(M - 1), as counted.
_DENSITY = (1.0, 0.5, 0.7, 1.3, 3.4, 10.0, 40.0, 160.0, 640.0)
_LARGEST = 2**63


def _exact_pvalue(ranks: Floats, *, quick: bool) -> float | None:
    """P(sum R_j**2 >= observed), given the midranks of each task, shape (M, D).

    The state is the sorted vector of rank sums over the tasks seen so far. Where that
    takes too long the answer is None if it was to be `quick`, else a ValueError.
    """
    m, n = ranks.shape
    if quick and m > _QUICK_MODELS:
        return None
    # States times orders of all tasks, without ties; an order at a time it is too long already.
    n_open = np.count_nonzero(ranks.max(axis=0) != ranks.min(axis=0))
    expected = _DENSITY[m - 2] * float(n_open) ** m / m if quick else 0.0
    if 2.0 * expected > _QUICK:
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
    if expected * sum(ways[t] for t in order) / len(order) > _QUICK:
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
            raise BadValueError(
                f"`method='exact'` takes too long for {m} models and {n} tasks",
                remedy=": use 'monte-carlo' or 'iman-davenport'",
            )
        if not np.array_equal(rows[t], listed):
            orders, listed = np.empty((int(ways[t]), m), np.int64), rows[t]
            list_orders(rows[t], orders)
        if t == order[-1]:
            break
        keys, chances = add_orders(keys, chances, orders, base, total)
        total += int(rows[t].sum())
    return float(reach_with_orders(keys, chances, orders, base, total, shift, observed))


# The other tests.


def rank_all(values: Floats, gaps: Floats) -> tuple[Floats, float]:
    """Rank numbers; two neighbours are tied up to the larger of their gaps.

    Gives the ranks and the sum of t**3 - t over ties.
    """
    order = np.argsort(values)
    apart = gaps[order]
    apart[1:] = np.maximum(apart[1:], apart[:-1])
    ranks = np.empty(values.size)
    ties = midranks_sorted(values[order], order, apart, ranks)
    return ranks, ties


def quade_sums(gains: Gains, ranks: Floats) -> tuple[Floats, float, float]:
    """Sums S, shape (M,), higher is worse; A; and A - B, 0 where all tasks agree."""
    m, n = ranks.shape
    ranges = gains.values.max(axis=0) - gains.values.min(axis=0)
    weight, _ = rank_all(ranges, 2.0 * gains.tolerance)
    weighted = weight * (ranks - 0.5 * (m + 1))
    sums = weighted.sum(axis=1)
    a = float((weighted**2).sum())
    alike = bool((weighted == weighted[:, :1]).all())
    return sums, a, 0.0 if alike else a - float((sums**2).sum()) / n


def _quade(gains: Gains, ranks: Floats) -> OmnibusTest:
    m, n = ranks.shape
    sums, a, left = quade_sums(gains, ranks)
    pvalue = None if left else math.exp(-(n - 1) * math.lgamma(m + 1))
    return _record(
        gains,
        (n - 1) * (a - left) / left if left else math.inf,
        (m - 1, (m - 1) * (n - 1)),
        degenerate=a == 0.0,
        pvalue=pvalue,
        test="quade",
        method="F",
        mean_rank=ranks.mean(axis=1),
        weighted_sum=sums,
    )


def aligned(gains: Gains) -> tuple[Floats, float, float]:
    """Ranks of scores less the means of their tasks, among all, shape (M, D), 1 for the best.

    Also the sum of their squared deviations from the mean of their task, and that of
    t**3 - t over ties.
    """
    x = gains.values
    # Times M, so that decimals stay whole numbers.
    worse = x.sum(axis=0) - len(x) * x
    gaps = np.broadcast_to(len(x) * gains.tolerance, x.shape)
    flat, ties = rank_all(worse.ravel(), gaps.ravel())
    ranks = flat.reshape(x.shape)
    return ranks, float(((ranks - ranks.mean(axis=0)) ** 2).sum()), ties


def _aligned(gains: Gains, ties: str) -> OmnibusTest:
    ranks, within, tied = aligned(gains)
    m, n = ranks.shape
    sums = ranks.sum(axis=1) - 0.5 * n * (m * n + 1.0)
    left = within + tied / 12.0 if ties == "uncorrected" else within
    degenerate = within <= 1e-12 * ranks.size**3
    return _record(
        gains,
        0.0 if degenerate else (m - 1) * float((sums**2).sum()) / left,
        m - 1,
        degenerate=degenerate,
        test="aligned",
        method="chi2",
        ties=ties,
        mean_rank=ranks.mean(axis=1),
    )


def _skillings_mack(gains: Gains, ranks: Floats) -> OmnibusTest:
    """Test ranks, NaN for missing ones."""
    m, names = len(ranks), gains.names
    present = ~np.isnan(ranks)
    k = np.count_nonzero(present, axis=0)
    present &= k >= 2
    deviation = np.where(present, ranks - 0.5 * (k + 1), 0.0)
    sums = (np.sqrt(12.0 / (k + 1.0)) * deviation).sum(axis=1)
    both = present.astype(np.float64) @ present.T.astype(np.float64)
    np.fill_diagonal(both, 0.0)
    groups = components(both, "weak")
    if len(groups) > 1:
        members = [names[i] for i in groups[1][:3]]
        raise BadValueError(
            "`scores` must link all models by common tasks",
            f"groups without any: {members} and {names[0]!r} are in different ones",
            "; leave one group out",
        )
    laplacian = np.diag(both.sum(axis=1)) - both
    # The Laplacian of a connected graph plus 11'/M has the inverse K+ + 11'/M.
    solved = np.linalg.solve(laplacian + 1.0 / m, sums)
    return _record(
        gains,
        float(sums @ solved),
        m - 1,
        degenerate=not deviation.any(),
        test="skillings-mack",
        method="chi2",
        ties="uncorrected",
        n_tasks=int(np.count_nonzero(k >= 2)),
        mean_rank=np.nanmean(np.where(present, ranks, np.nan), axis=1),
        weighted_sum=sums,
    )
