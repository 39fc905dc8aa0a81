"""Tests that all models do equally well: by sizes of differences, or with gaps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import choose
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.datasets.friedman_ranks import TIES, OmnibusTest
from fastcmp.datasets.reading import read_data
from fastcmp.datasets.task_ranks import rank_all, rank_tasks
from fastcmp.datasets.win_tables import components
from fastcmp.kernels.special import chdtrc, fdtrc
from fastcmp.kernels.status import DEGENERATE, OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.datasets.task_ranks import Gains

    Floats = NDArray[np.float64]


def quade(
    scores: Any,
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
        If scores are no numbers.

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
    data = read_data(scores, lower_is_better=lower_is_better, names=names, tasks=tasks)
    with ThreadPool(check_workers(workers)) as pool:
        return quade_of_ranks(rank_tasks(data.gains, pool), data.gains)


def aligned_ranks(
    scores: Any,
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
        If scores are no numbers.

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
    ties = choose(ties, "ties", TIES)
    data = read_data(scores, lower_is_better=lower_is_better, names=names, tasks=tasks)
    with ThreadPool(check_workers(workers)):
        found = AlignedRanks.of(data.gains)
    return found.test(data.gains.names, ties)


def skillings_mack(
    scores: Any,
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
        If scores are no numbers.

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
    data = read_data(
        scores,
        lower_is_better=lower_is_better,
        missing="pairs",
        names=names,
        tasks=tasks,
        policies=("pairs",),
    )
    with ThreadPool(check_workers(workers)) as pool:
        return skillings_of_ranks(rank_tasks(data.gains, pool), data.gains.names)


class QuadeSums(NamedTuple):
    """What Quade's test and that of its pairs are made of."""

    #: Shape (M,); higher is worse.
    sums: Floats
    a: float
    #: A - B, 0 where all tasks agree.
    left: float

    @classmethod
    def of(cls, ranks: Floats, gains: Gains) -> QuadeSums:
        """Weigh ranks, shape (M, D), by the ranks of the tasks' ranges."""
        m, n = ranks.shape
        ranges = gains.gains.max(axis=0) - gains.gains.min(axis=0)
        weight, _ = rank_all(ranges, 2.0 * gains.tolerance)
        weighted = weight * (ranks - 0.5 * (m + 1))
        sums = weighted.sum(axis=1)
        a = float((weighted**2).sum())
        alike = bool((weighted == weighted[:, :1]).all())
        left = 0.0 if alike else a - float((sums**2).sum()) / n
        return cls(sums, a, left)


def quade_of_ranks(ranks: Floats, gains: Gains) -> OmnibusTest:
    """Test ranks, shape (M, D), without missing ones."""
    m, n = ranks.shape
    found = QuadeSums.of(ranks, gains)
    df = (m - 1, (m - 1) * (n - 1))
    if found.a == 0.0:
        statistic, pvalue = 0.0, 1.0
    elif found.left == 0.0:
        statistic, pvalue = math.inf, math.exp(-(n - 1) * math.lgamma(m + 1))
    else:
        statistic = (n - 1) * (found.a - found.left) / found.left
        pvalue = float(fdtrc(*df, statistic))
    return OmnibusTest(
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        distribution="F",
        status=OK if found.a else DEGENERATE,
        test="quade",
        method="F",
        names=gains.names,
        n_tasks=n,
        mean_rank=ranks.mean(axis=1),
        weighted_sum=found.sums,
    )


class AlignedRanks(NamedTuple):
    """Ranks of scores less the means of their tasks, among all, shape (M, D)."""

    ranks: Floats
    ties: float

    @classmethod
    def of(cls, gains: Gains) -> AlignedRanks:
        """Rank all M D scores together, 1 for the best."""
        m, _ = gains.shape
        x = gains.gains
        # Times M, so that decimals stay whole numbers.
        worse = x.sum(axis=0) - m * x
        gaps = np.broadcast_to(m * gains.tolerance, x.shape)
        ranks, ties = rank_all(worse.ravel(), gaps.ravel())
        return cls(ranks.reshape(x.shape), ties)

    @property
    def within(self) -> float:
        """Sum of squared deviations of ranks from the mean of their task."""
        own = self.ranks - self.ranks.mean(axis=0)
        return float((own**2).sum())

    def test(self, names: tuple[str, ...], ties: str = "corrected") -> OmnibusTest:
        """Test that the mean ranks of all models are equal."""
        m, n = self.ranks.shape
        sums = self.ranks.sum(axis=1) - 0.5 * n * (m * n + 1.0)
        left = self.within
        if ties == "uncorrected":
            left += self.ties / 12.0
        degenerate = self.within <= 1e-12 * self.ranks.size**3
        statistic = 0.0 if degenerate else (m - 1) * float((sums**2).sum()) / left
        return OmnibusTest(
            statistic=statistic,
            pvalue=1.0 if degenerate else float(chdtrc(m - 1.0, statistic)),
            df=m - 1,
            distribution="chi2",
            status=DEGENERATE if degenerate else OK,
            test="aligned",
            method="chi2",
            ties=ties,
            names=names,
            n_tasks=n,
            mean_rank=self.ranks.mean(axis=1),
        )


def skillings_of_ranks(ranks: Floats, names: tuple[str, ...]) -> OmnibusTest:
    """Test ranks, shape (M, D), NaN for missing ones."""
    m = len(ranks)
    present = ~np.isnan(ranks)
    k = np.count_nonzero(present, axis=0)
    present &= k >= 2
    deviation = np.where(present, ranks - 0.5 * (k + 1), 0.0)
    sums = (np.sqrt(12.0 / (k + 1.0)) * deviation).sum(axis=1)
    both = present.astype(np.float64) @ present.T.astype(np.float64)
    np.fill_diagonal(both, 0.0)
    groups = components(both, "weak")
    if len(groups) > 1:
        some = [names[i] for i in groups[1][:3]]
        raise ValueError(
            "scores must link all models by common tasks, got groups without any: "
            f"{some} and {names[0]!r} are in different ones; leave one group out"
        )
    laplacian = np.diag(both.sum(axis=1)) - both
    degenerate = not deviation.any()
    # The Laplacian of a connected graph plus 11'/M has the inverse K+ + 11'/M.
    found = np.linalg.solve(laplacian + 1.0 / m, sums)
    statistic = 0.0 if degenerate else float(sums @ found)
    mean = np.full(m, np.nan)
    some_tasks = np.flatnonzero(present.any(axis=1))
    mean[some_tasks] = np.nanmean(np.where(present, ranks, np.nan)[some_tasks], axis=1)
    return OmnibusTest(
        statistic=statistic,
        pvalue=1.0 if degenerate else float(chdtrc(m - 1.0, statistic)),
        df=m - 1,
        distribution="chi2",
        status=DEGENERATE if degenerate else OK,
        test="skillings-mack",
        method="chi2",
        ties="uncorrected",
        names=names,
        n_tasks=int(np.count_nonzero(k >= 2)),
        mean_rank=mean,
        weighted_sum=sums,
    )
