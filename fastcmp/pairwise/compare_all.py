"""Many models on the same samples, all pairs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_share
from fastcmp.core.memory import read_size
from fastcmp.core.options import choose
from fastcmp.core.progress import Progress, reporting
from fastcmp.core.protocols import are_paired
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.counts.pairs import choose_pairs
from fastcmp.inputs.cost_matrix import read_cost, refuse_cost
from fastcmp.inputs.labels import encode
from fastcmp.inputs.model_names import with_names
from fastcmp.paired.cost_differences import check_options
from fastcmp.paired.sample_units import EVERY_SAMPLE, Sampling
from fastcmp.pairwise.accuracy_tests import accuracy_tests_from_counts
from fastcmp.pairwise.adjust import ADJUSTMENTS, promise
from fastcmp.pairwise.cost_tests import cost_tests, encode_costs
from fastcmp.pairwise.cost_tests_from_counts import cost_tests_from_counts
from fastcmp.pairwise.count_checks import check_counts
from fastcmp.pairwise.engine import KeptPairs, Options, read_keep, run_tests
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.sampled_tests import (
    SampledTests,
    check_sampled_method,
    sampled_tests,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from fastcmp.core.protocols import LabelledCounts, PairedCounts
    from fastcmp.pairwise.pair_tests import PairTests

_TESTS = ("mcnemar", "cost")
_THREADS_PAY = 1 << 22  # words of pairs; below them one thread is faster
_COUNTED_PAIRS = 1 << 14  # pairs from counts that are worth threads


def compare_all(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    preds: Any,
    *,
    test: str = "mcnemar",
    method: str | None = None,
    cost: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    names: Sequence[str] | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> PairwiseResult:
    """Compare many models on the same samples, all pairs at once.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of any type that can be compared. Samples with a missing one are
        dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models.
    test : {"mcnemar", "cost"}
        What is compared: accuracies, or expected costs.
    method : str, optional
        Variant of the test: "midp" (default), "exact", "asymptotic", "corrected" or
        "unconditional", with `groups` "cr2" (default), "obuchowski", ..., with weighted
        `strata` "asymptotic" (default), "exact" or "midp", all as in `mcnemar`; for
        costs "likelihood" (default) or "chi-square", as in `cost_test`.
    cost : array-like of shape (K, K), mapping or frame, optional
        For ``test="cost"``: the cost of each mistake, as in `cost_test`.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
    alpha : float
        Error rate of the decisions, in (0, 1); `adjust` says what it bounds. Intervals
        have the level 1 - alpha.
    pairs : sequence of pairs, optional
        Compare only these, by name or index. All others are "not tested": no letters
        of ties are given, and `best` are the tested models that lost no tested pair.
    control : int or str, optional
        Compare only this model with all others: the answer is a table against it.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error, and refused where it would need a cost.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient, as in `mcnemar`. All
        intervals are then of the same standard errors as the tests. "durkalski" and
        "cluster-weighted" rank models by their mean accuracy over clusters.
    strata : array-like, shape (n,), optional
        Stratum of each sample, such as its task.
    stratum_weights : {"items", "equal"} or mapping, optional
        What strata count in the accuracies: by their samples, equally, or a weight for
        each.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.
    keep : {"all", "significant"}, int or Path
        Which pairs the record keeps. Ten thousand models are fifty million pairs, and
        6 GB: "significant" keeps those that are significantly different, a number k
        those among the k best models, and a path writes all to a ``.npy`` file, which
        the record then maps into memory, or to a ``.parquet`` file. Decisions, ranking
        and ties follow from all pairs in any case, at 44 bytes a pair while they are
        worked out.
    memory_limit : int or str, optional
        Bytes, or such as "4GB", that the answer may take; by default what the machine
        has left. What would take more is refused before the work begins; for
        significant pairs, when their number is known.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs. Where
        not all is kept, pairs that are kept or written are tested, and counted, twice.

    Returns
    -------
    PairwiseResult
        Counts, differences, p-values, decisions, leaderboard and groups of ties.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, lengths differ, names repeat,
        labels are missing, an option is unknown, or the answer does not fit into
        memory.
    TypeError
        If labels cannot be compared.
    OSError
        If a file cannot be written.

    Notes
    -----
    O(M n) to encode and pack, M**2 n / 128 popcounts, O(P log P) to adjust. Memory:
    n / 8 bytes a model, 72 bytes a pair that is kept and 44 while it is adjusted.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian J. Statistics 6 (1979) 65-70.

    Examples
    --------
    >>> from fastcmp import compare_all, load_digits
    >>> result = compare_all(*load_digits())
    >>> result.best
    ('svm_rbf', 'knn_3', 'extra_trees', 'random_forest', 'mlp')
    """
    test = choose(test, "test", _TESTS)
    sampling = Sampling(groups, strata, stratum_weights)
    options = read_options(
        test, method, adjust, alpha, keep, memory_limit, sampling=sampling
    )
    threads, level = check_workers(workers), 1 - options.alpha
    preds = with_names(preds, names, "preds")
    if test == "cost":
        labels, matrix = encode_costs(y_true, preds, cost, classes, missing)
    else:
        refuse_cost(cost)
        labels = encode(y_true, preds, classes=classes, missing=missing)
    chosen = choose_pairs(labels.names, pairs, control)
    n_models = len(labels.names)
    n_pairs = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
    if not threads_pay(n_pairs, labels.n_samples):
        threads = 1
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        if test == "cost":
            equal_costs = check_options(options.method)
            tests = cost_tests(labels, matrix, equal_costs, level, n_pairs, pool)
            sampled = SampledTests(tests, options.method)
        else:
            how = options.method or None
            sampled = sampled_tests(labels, y_true, sampling, how, level, chosen, pool)
        kept = run_tests(sampled.tests, chosen, labels.names, options, pool)
    control = _control(chosen, control, labels)
    more = sampled.of_record()
    return record_of(sampled.tests, kept, labels, options, control, more=more)


def compare_all_from_counts(  # noqa: PLR0913  # options, all by keyword
    counts: PairedCounts | LabelledCounts,
    *,
    method: str | None = None,
    cost: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
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
        of all pairs by true and predicted classes, to compare costs.
    method : str, optional
        Variant of the test, as in `compare_all`.
    cost : array-like of shape (K, K), mapping or frame, optional
        For `LabelCounts`: the cost of each mistake, in the order of their classes.
    adjust : str
        Adjustment for the number of pairs.
    alpha : float
        Error rate of the decisions, in (0, 1).
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
        To the bit what `compare_all` finds on the same samples; `n_outside` is empty,
        for blocks do not know all labels of the truth.

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
    options = read_options(test, method, adjust, alpha, keep, memory_limit)
    threads = check_workers(workers)
    chosen = choose_pairs(names, pairs, control)
    if len(names) ** 2 < _COUNTED_PAIRS:
        threads = 1
    tests = _tests_of_counts(counts, cost, options)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        kept = run_tests(tests, chosen, names, options, pool)
    return record_of(tests, kept, counts, options, _control(chosen, control, counts))


def _tests_of_counts(counts: Any, cost: Any, options: Options) -> PairTests:
    method, level = options.method, 1 - options.alpha
    if are_paired(counts):
        refuse_cost(cost)
        return accuracy_tests_from_counts(counts.joint, counts.n_samples, method, level)
    if cost is None:
        message = "LabelCounts need cost=, the matrix of costs"
        raise ValueError(message)
    matrix = read_cost(cost, counts.classes)
    return cost_tests_from_counts(counts, matrix, check_options(method), level)


def _control(chosen: Any, control: int | str | None, source: Any) -> str | None:
    """Name the control, which is the first of each chosen pair."""
    return None if control is None else source.names[chosen[0, 0]]


def check_method(
    test: str, method: str | None, sampling: Sampling = EVERY_SAMPLE
) -> str:
    """Check the variant of a test; "" where the samples decide."""
    if sampling.plain:
        sampling.refuse_weights()
    if test == "cost":
        if not sampling.plain:
            name = "strata" if sampling.groups is None else "groups"
            message = f"{name}= is for test='mcnemar', costs know no clusters or strata"
            raise ValueError(message)
        return check_options("likelihood" if method is None else method).method
    return check_sampled_method(method, sampling) or ""


def read_options(
    test: str,
    method: str | None,
    adjust: str,
    alpha: float,
    keep: object = "all",
    memory_limit: Any = None,
    *,
    sampling: Sampling = EVERY_SAMPLE,
) -> Options:
    """Check the options of a comparison."""
    return Options(
        test=test,
        method=check_method(test, method, sampling),
        adjust=choose(adjust, "adjust", ADJUSTMENTS),
        alpha=as_share(alpha, "alpha"),
        keep=read_keep(keep),
        memory_limit=None if memory_limit is None else read_size(memory_limit),
    )


def threads_pay(n_pairs: int, n_samples: int) -> bool:
    """Tell whether pairs take so long that several threads are faster than one."""
    return n_pairs * n_samples // 64 >= _THREADS_PAY


def record_of(  # the tests, what is kept, and what the record says beside
    tests: PairTests,
    kept: KeptPairs,
    source: Any,
    options: Options,
    control: str | None = None,
    record: type[PairwiseResult] = PairwiseResult,
    more: Mapping[str, Any] | None = None,
) -> PairwiseResult:
    """Make the record; `source` has the names of the models and what was dropped."""
    columns = kept.columns
    fields: dict[str, Any] = {
        "statistic": columns.statistic,
        "pvalue": columns.pvalue,
        "pvalue_adjusted": kept.pvalue_adjusted,
        "df": tests.df,
        "distribution": tests.distribution,
        "pairs": kept.pairs,
        "difference": columns.difference,
        "interval": np.stack([columns.low, columns.high], axis=1),
        "names": source.names,
        "correct": tests.correct,
        "score": tests.score,
        "score_interval": tests.score_interval,
        "measure": "cost" if options.test == "cost" else "accuracy",
        "n_samples": tests.n_samples,
        "test": options.test,
        "method": options.method,
        "adjust": options.adjust,
        "alpha": options.alpha,
        "rule": promise(options.adjust, options.alpha),
        "n_missing": source.n_missing,
        "n_excluded": source.n_excluded,
        "n_outside": getattr(source, "n_outside", ()),
        "kept": options.keep,
        "all_decisions": kept.decisions,
        "control": control,
    }
    if tests.correct is not None:
        fields |= {"only_a": columns.only_a, "only_b": columns.only_b}
    if tests.details is not None:
        fields |= tests.details(kept.pairs, columns)
    return record(**fields | dict(more or {}))
