"""Many models compared from counts that a stream has gathered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from fastcmp.core.progress import Progress, reporting
from fastcmp.core.protocols import are_paired
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.counts.pairs import choose_pairs
from fastcmp.inputs.cost_matrix import read_cost, refuse_cost
from fastcmp.paired.cost_differences import check_options
from fastcmp.pairwise.accuracy_tests import accuracy_tests_from_counts
from fastcmp.pairwise.comparing import (
    draw_for,
    name_control,
    read_options,
    record_of,
    with_ranks,
)
from fastcmp.pairwise.cost_tests_from_counts import cost_tests_from_counts
from fastcmp.pairwise.count_checks import check_counts
from fastcmp.pairwise.engine import run_tests
from fastcmp.pairwise.margins import against
from fastcmp.pairwise.metric_options import read_metric
from fastcmp.pairwise.rank_intervals import rank_fields
from fastcmp.pairwise.sampled_tests import SampledTests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastcmp.core.protocols import LabelledCounts, PairedCounts
    from fastcmp.metrics.choice import Metric
    from fastcmp.pairwise.engine import Options
    from fastcmp.pairwise.metric_comparison import MetricTests
    from fastcmp.pairwise.pair_tests import PairTests
    from fastcmp.pairwise.result import PairwiseResult

_COUNTED_PAIRS = 1 << 14  # pairs from counts that are worth threads


def compare_all_from_counts(
    counts: PairedCounts | LabelledCounts,
    *,
    metric: Any = None,
    method: str | None = None,
    cost: Any = None,
    n_resamples: int = 9999,
    rng: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    margin: float | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> PairwiseResult:
    """Compare many models from counts that a stream has gathered.

    Parameters
    ----------
    counts : fastcmp.stream.PairCounts or fastcmp.stream.LabelCounts
        Samples that each two models classified rightly, to compare accuracies; or those
        of all pairs by true and predicted classes, to compare costs or a metric.
    metric : str, callable or Metric, optional
        For `LabelCounts`: compare by a metric, as in `compare_all`.
    method : str, optional
        Variant of the test, as in `compare_all`.
    cost : array-like of shape (K, K), mapping or frame, optional
        For `LabelCounts`: the cost of each mistake, in the order of their classes.
    n_resamples : int
        Draws of ``adjust="maxt"`` and of simultaneous intervals; for a metric those of
        permutation and bootstrap too.
    rng : int, numpy.random.Generator or None
        Where they come from.
    adjust : str
        Adjustment for the number of pairs, as in `compare_all`; "maxt" by normal
        numbers that have the covariance of the models.
    alpha : float
        Error rate of the decisions, in (0, 1).
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once.
    rank_intervals : {"decisions", "simultaneous", "marginal"}
        Where the intervals of ranks come from, as in `compare_all`.
    margin : float, optional
        As in `compare_all`.
    pairs : sequence of pairs, optional
        Compare only these.
    control : int or str, optional
        Compare only this model with all others: the answer is a table against it.
    keep : str, int or Path
        Which pairs to keep, as in `compare_all`.
    memory_limit : int or str, optional
        As in `compare_all`.
    workers : int, optional
        Threads.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    PairwiseResult
        To the bit what `compare_all` finds on the same samples, of a metric to
        rounding, but for the draws of "maxt"; `n_outside` is empty, for blocks do not
        know all labels of the truth.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, `cost` is missing or has no
        place, or as in `compare_all`.
    TypeError
        If `counts` is something else.

    Examples
    --------
    >>> from fastcmp import compare_all_from_counts, load_digits
    >>> from fastcmp.stream import PairCounts
    >>> y_true, preds = load_digits()
    >>> compare_all_from_counts(PairCounts().update(y_true, preds)).best[0]
    'svm_rbf'
    """
    names = check_counts(counts)
    test = "mcnemar" if are_paired(counts) else "cost"
    chosen_metric = None
    if metric is not None:
        chosen_metric, test = _read_metric(counts, metric, cost), "metric"
    options = read_options(test, method, adjust, alpha, keep, memory_limit)
    options = against(options, margin)
    if chosen_metric is not None:
        options = replace(options, lower_is_better=chosen_metric.lower_is_better)
    options, draws = draw_for(options, simultaneous, n_resamples, rng)
    options = with_ranks(options, rank_intervals, rng)
    threads = check_workers(workers)
    chosen = choose_pairs(names, pairs, control)
    if len(names) ** 2 < _COUNTED_PAIRS and not (draws or options.all_together):
        threads = 1
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        made: MetricTests | SampledTests
        if chosen_metric is not None:
            from fastcmp.pairwise.metric_comparison import How, compare_counts

            how = How(chosen_metric, options.method, 1 - options.alpha, draws)
            made = compare_counts(cast("LabelledCounts", counts), how, pool)
        else:
            tests = _tests_of_counts(counts, cost, options)
            made = SampledTests(tests, options.method)
        kept = run_tests(made.tests, chosen, names, options, pool)
        ranks = rank_fields(made.tests, options, pool)
    control = name_control(chosen, control, counts)
    more = made.of_record() | ranks
    return record_of(made.tests, kept, counts, options, control, made.record, more)


def _read_metric(counts: Any, metric: Any, cost: Any) -> Metric:
    """Read the metric; refuse counts that do not know classes."""
    if are_paired(counts):
        raise ValueError(
            "metric= needs counts by class, fastcmp.stream.LabelCounts; PairCounts "
            "know only which samples are right"
        )
    return read_metric(metric, "mcnemar", cost)


def _tests_of_counts(counts: Any, cost: Any, options: Options) -> PairTests:
    method, level = options.method, 1 - options.alpha
    if are_paired(counts):
        refuse_cost(cost)
        return accuracy_tests_from_counts(counts.joint, counts.n_samples, method, level)
    if cost is None:
        raise ValueError("LabelCounts need cost=, the matrix of costs, or metric=")
    matrix = read_cost(cost, counts.classes)
    return cost_tests_from_counts(counts, matrix, check_options(method), level)
