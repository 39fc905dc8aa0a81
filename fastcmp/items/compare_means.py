"""Many models compared by the means of their values per item, all pairs at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fastcmp.core.progress import Progress, reporting
from fastcmp.core.threads import ThreadPool, check_workers, no_step
from fastcmp.counts.pairs import choose_pairs
from fastcmp.items.cautions import cautions_of_pairs
from fastcmp.items.mean_comparisons import (
    draw_together,
    engine_options,
    means_record,
    name_control,
    rank_together,
)
from fastcmp.items.mean_data import Items, MeanData, MeanOptions, fields_of, read_data, read_options
from fastcmp.items.mean_difference import difference_record
from fastcmp.items.mean_methods import mean_tests
from fastcmp.pairwise.engine import Options, run_tests
from fastcmp.pairwise.margins import against
from fastcmp.pairwise.rank_intervals import rank_fields

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from fastcmp.items.means_result import MeansResult


def compare_means(
    values: Any,
    *,
    method: str = "t",
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    stratum_weights: Any = "items",
    weights: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    repeats: str = "mean",
    k: int | None = None,
    average: str = "items",
    variance: str | None = None,
    df: str = "satterthwaite",
    studentized: bool = False,
    interval: str | None = None,
    n_resamples: int = 9999,
    rng: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    margin: float | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> MeansResult:
    """Compare many models by the means of their values on the same items.

    A value is whatever was measured of a model on one item: right or wrong, a grade, a
    loss. All pairs are tested at once.

    Parameters
    ----------
    values : array-like of shape (M, n) or (M, n, R), mapping, frame or ItemTable
        Numbers or bools: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models, or what `from_long`
        made of a long table. With a third axis there are R answers to each item.
    method : {"t", "permutation", "bootstrap", "wilcoxon"}
        Paired t test, with clusters by cluster-robust standard errors; flips of the
        signs of the differences of items or clusters; bootstrap of items or clusters;
        Wilcoxon's signed-rank test, which is no test of means.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient. Clusters are taken
        as independent, items of a cluster are not.
    strata : array-like, shape (n,), optional
        The stratum of each item, such as its task or subset.
    stratum_weights : {"items", "equal"} or mapping
        What the mean of each stratum counts: as many as it has items, all the same, or
        a number for each.
    weights : array-like, shape (n,), optional
        Importance of each item. Counts of equal items are no weights: repeat the items.
    lower_is_better : bool
        Whether values are losses. They are never re-signed.
    missing : {"raise", "common", "pairwise", "wrong"}
        What to make of missing values: refuse them; compare on the items that all
        models have; compare each pair on the items that both have; count them as 0.
    repeats : {"mean", "pass@k", "pass^k"}
        How the answers to an item become its value: their mean, the probability that
        one of k is right, or that all k are; unbiased.
    k : int, optional
        For "pass@k" and "pass^k".
    average : {"items", "clusters"}
        Whether each item counts the same, or each cluster by its mean.
    variance : {"cr0", "cr1", "cr2", "cr3"}, optional
        How residuals of clusters are scaled up; by default CR2, and CR1 where clusters
        lie across strata.
    df : {"satterthwaite", "clusters", "normal"}
        Degrees of freedom of t: Bell and McCaffrey's, one less than there are clusters
        (less one for each further stratum), or the normal distribution instead.
    studentized : bool
        Whether permuted means are divided by their standard errors.
    interval : {"studentized", "percentile", "bca", "basic", "hodges-lehmann"}, optional
        Kind of the bootstrap intervals, "studentized" by default. Wilcoxon's test has
        none by default; with "hodges-lehmann" the differences are Hodges and Lehmann's
        estimates, with their intervals, which takes several times as long.
    n_resamples : int
        Draws of permutation and bootstrap, of ``adjust="maxt"`` and of simultaneous
        intervals.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
        "maxt" (step-down) and "single-step" flip the signs of items or clusters, the
        same for all models, so that they know how alike these are, and have more power.
    alpha : float
        Error rate of the decisions, in (0, 1). Intervals have the level 1 - alpha.
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once, whatever the
        method: difference +- c standard errors, where c is the quantile of the largest
        of all.
    rank_intervals : {"decisions", "simultaneous", "marginal"}
        Where the intervals of ranks come from, as in `compare_all`.
    margin : float, optional
        The largest difference of means that does not matter: adds tests of all pairs
        against it, adjusted together, and a decision about each, as ``margins``; needs
        ``keep="all"``. By t; values of 0 and 1 as in `compare_all`.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    keep : {"all", "significant"}, int or Path
        Which pairs the record keeps, as in `compare_all`.
    memory_limit : int or str, optional
        As in `compare_all`.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    MeansResult
        Differences, p-values, decisions, leaderboard and groups of ties.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, a stratum has one unit only, or an
        option is unknown.
    TypeError
        If values are no numbers: labels go to `compare_all`.
    OSError
        If a file cannot be written.

    Notes
    -----
    For t one matrix product, O(M**2 n), or O(M n + M**2 G) with G clusters; the degrees
    of freedom follow from the sizes of clusters, and are one number for all pairs
    except with several strata or missing values. Values are not copied as a whole.

    References
    ----------
    .. [1] E. Miller, "Adding error bars to evals", arXiv:2411.00640 (2024).
    .. [2] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear
       regression with multi-stage samples", Survey Methodology 28 (2002) 169-181.

    Examples
    --------
    >>> from fastcmp import compare_means
    >>> values = {"a": [1.0, 0.5, 1.0, 0.8], "b": [0.5, 0.25, 0.5, 0.1]}
    >>> result = compare_means(values)
    >>> result.pvalue.round(4).tolist()
    [0.0132]
    """
    spec = read_options(
        method=method,
        variance=variance,
        df=df,
        studentized=studentized,
        interval=interval,
        repeats=repeats,
        k=k,
        average=average,
        missing=missing,
        lower_is_better=lower_is_better,
        n_resamples=n_resamples,
        rng=rng,
    )
    options = engine_options(spec.method, lower_is_better, adjust, alpha, keep, memory_limit)
    options = against(options, margin)
    options = draw_together(options, spec, simultaneous, rng)
    options = rank_together(options, spec, rank_intervals)
    items = Items(groups, strata, stratum_weights, weights)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        data = read_data(values, names, items, spec, _runner(pool))
        known = data.values.names
        chosen = choose_pairs(known, pairs, control)
        tests = mean_tests(data, spec, 1 - options.alpha, pool)
        kept = run_tests(tests, chosen, known, options, pool)
        more = _of_data(data, spec, options, pool) | rank_fields(tests, options, pool)
    control = name_control(known, chosen, control)
    made = means_record(tests, kept, known, options, control, more)
    return replace(made, cautions=cautions_of_pairs(made, data, spec, chosen))


def _runner(pool: ThreadPool) -> Any:
    """Run tasks that are no steps of the progress."""
    return partial(pool.run, steps=no_step)


def _of_data(
    data: MeanData, spec: MeanOptions, options: Options, pool: ThreadPool
) -> dict[str, Any]:
    """Give what the record says beside the tests."""
    found = {**fields_of(data, spec), "measure": spec.measure, "seed": None}
    if spec.method in ("permutation", "bootstrap"):
        found |= {"n_resamples": spec.n_resamples, "seed": spec.seed}
    two = len(data.values.names) == 2 and data.values.present is None
    if two and spec.method != "wilcoxon":
        level = 1 - options.alpha
        found["pair"] = difference_record(data, spec, "two-sided", level, pool)
    return found
