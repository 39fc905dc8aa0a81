"""Many models on the same samples, all pairs at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_share, warn
from fastcmp.core.memory import read_size
from fastcmp.core.options import choose
from fastcmp.core.progress import Progress, reporting
from fastcmp.core.protocols import are_labelled, are_paired
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.counts.pairs import choose_pairs, model_index
from fastcmp.inputs.cost_matrix import read_cost, refuse_cost
from fastcmp.inputs.labels import encode
from fastcmp.paired.cost_differences import check_options
from fastcmp.paired.mcnemar import METHODS
from fastcmp.pairwise.accuracy_tests import judge_accuracies, judge_joint_counts
from fastcmp.pairwise.adjust import ADJUSTMENTS, promise
from fastcmp.pairwise.cost_tests import encode_costs, judge_costs
from fastcmp.pairwise.cost_tests_from_counts import judge_cost_counts
from fastcmp.pairwise.engine import Judged, Options, judge_pairs, read_keep
from fastcmp.pairwise.result import PairwiseResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike

    from fastcmp.core.protocols import LabelledCounts, PairedCounts
    from fastcmp.counts.pairs import Judge

_TESTS = ("mcnemar", "cost")
_COUNTS: dict[str, Callable[[Any], bool]] = {
    "PairCounts": are_paired,
    "LabelCounts": are_labelled,
}
_THREADS_PAY = 1 << 22  # words of pairs; below it one thread is faster
_NEVER_RIGHT = 100  # samples of which a model should have got one right
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
        "unconditional", as in `mcnemar`; for costs "likelihood" (default) or
        "chi-square", as in `cost_test`.
    cost : array-like of shape (K, K), mapping or frame, optional
        For ``test="cost"``: the cost of each mistake, as in `cost_test`.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
    alpha : float
        Error rate of the decisions, in (0, 1); what it bounds, `adjust` decides.
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
    keep : {"all", "significant"}, int or Path
        Which pairs the record keeps. Ten thousand models are fifty million pairs, and
        6 GB: "significant" keeps those told apart, a number k those among the k best
        models, and a path writes all to a ``.npy`` file, which the record then maps
        into memory, or to a ``.parquet`` file. Decisions, ranking and ties come from
        all pairs in any case, at 44 bytes a pair while they are worked out.
    memory_limit : int or str, optional
        Bytes, or such as "4GB", that the answer may take; what would take more is
        refused before the work begins, but for significant pairs, whose number is known
        when all are tested. By default what the machine has left.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs. Where
        not all is kept, pairs that are kept or written are judged, and counted, twice.

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
    if test == "mcnemar":
        refuse_cost(cost)
    method = check_method(test, method)
    options = _read_options(adjust, alpha, keep, memory_limit, test)
    threads = check_workers(workers)
    if test == "cost":
        labels, matrix = encode_costs(y_true, preds, cost, classes, missing)
    else:
        labels = encode(y_true, preds, classes=classes, missing=missing)
    chosen = choose_pairs(labels.names, pairs, control)
    n_models, n = len(labels.names), labels.n_samples
    n_pairs = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
    if n_pairs * n // 64 < _THREADS_PAY:
        threads = 1
    level = 1 - options.alpha
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        judge: Judge
        if test == "cost":
            tested = check_options(method)
            judge = judge_costs(labels, matrix, tested, level, n_pairs, pool)
        else:
            judge = judge_accuracies(labels, method, level, pool)
        judged = judge_pairs(judge, chosen, labels.names, options, pool)
    told = {
        "n_missing": labels.n_missing,
        "n_excluded": labels.n_excluded,
        "n_outside": labels.n_outside,
    }
    found = _record(judge, judged, labels.names, options, (test, method), told)
    return _with_control(found, control)


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
    method = check_method(test, method)
    options = _read_options(adjust, alpha, keep, memory_limit, test)
    threads = check_workers(workers)
    chosen = choose_pairs(names, pairs, control)
    if len(names) ** 2 < _COUNTED_PAIRS:
        threads = 1
    judge = _judge_counts(counts, cost, method, 1 - options.alpha)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        judged = judge_pairs(judge, chosen, names, options, pool)
    told = {"n_missing": counts.n_missing, "n_excluded": counts.n_excluded}
    found = _record(judge, judged, names, options, (test, method), told)
    return _with_control(found, control)


def _judge_counts(counts: Any, cost: Any, method: str, level: float) -> Judge:
    if are_paired(counts):
        refuse_cost(cost)
        return judge_joint_counts(counts.joint, counts.n_samples, method, level)
    if cost is None:
        message = "LabelCounts need cost=, the matrix of costs"
        raise ValueError(message)
    matrix = read_cost(cost, counts.classes)
    return judge_cost_counts(counts, matrix, check_options(method), level)


def check_counts(
    counts: Any,
    kinds: Mapping[str, Callable[[Any], bool]] = _COUNTS,
) -> tuple[str, ...]:
    """Refuse counts of which nothing can be said.

    Parameters
    ----------
    counts : fastcmp.stream.PairCounts or fastcmp.stream.LabelCounts
        What a stream has gathered.
    kinds : mapping of str to callable
        What it may be, by the name of the class in `fastcmp.stream`.

    Returns
    -------
    tuple of str
        The models.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples.
    TypeError
        If they are no such counts.
    """
    if not any(are_such(counts) for are_such in kinds.values()):
        wanted = " or ".join(f"fastcmp.stream.{name}" for name in kinds)
        kind = f"{type(counts).__module__}.{type(counts).__name__}"
        message = f"counts must be a {wanted}, got {kind}"
        raise TypeError(message)
    names = counts.names or ()
    if len(names) < 2 or counts.n_samples < 2:
        message = (
            "counts must hold at least 2 models and 2 samples, got "
            f"{len(names)} and {counts.n_samples}"
        )
        raise ValueError(message)
    if are_paired(counts) and counts.n_samples >= _NEVER_RIGHT:
        never = [names[i] for i in np.flatnonzero(counts.correct == 0)]
        if never:
            warn(
                f"{', '.join(never[:3])} ({len(never)} of {len(names)} models) got "
                f"none of {counts.n_samples} samples right: are the labels spelled as "
                "those of y_true (case, spaces, type)?"
            )
    return names


def check_method(test: str, method: str | None) -> str:
    """Choose the variant of a test.

    Parameters
    ----------
    test : {"mcnemar", "cost"}
        The test.
    method : str or None
        What the user passed; None for the default.

    Returns
    -------
    str
        The variant.

    Raises
    ------
    ValueError
        If there is no such variant.
    """
    if test == "cost":
        method = "likelihood" if method is None else method
        check_options(method)
        return method
    method = "midp" if method is None else method
    return str(choose(method, "method", METHODS))


def _read_options(
    adjust: str, alpha: float, keep: object, memory_limit: Any, test: str
) -> Options:
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    return Options(
        adjust=adjust,
        alpha=as_share(alpha, "alpha"),
        keep=read_keep(keep),
        memory_limit=None if memory_limit is None else read_size(memory_limit),
        gain=-1 if test == "cost" else 1,
    )


def _record(  # all that a record holds
    judge: Judge,
    judged: Judged,
    names: tuple[str, ...],
    options: Options,
    test: tuple[str, str],
    told: dict[str, Any],
) -> PairwiseResult:
    columns = judged.columns
    return PairwiseResult(
        statistic=columns.statistic,
        pvalue=columns.pvalue,
        pvalue_adjusted=judged.pvalue_adjusted,
        pairs=judged.pairs,
        only_a=columns.only_a,
        only_b=columns.only_b,
        difference=columns.difference,
        interval=np.stack([columns.low, columns.high], axis=1),
        names=names,
        correct=judge.correct,
        score=judge.score,
        score_interval=judge.score_interval,
        measure="cost" if test[0] == "cost" else "accuracy",
        n_samples=judge.n_samples,
        test=test[0],
        method=test[1],
        adjust=options.adjust,
        alpha=options.alpha,
        rule=promise(options.adjust, options.alpha),
        kept=options.keep,
        all_verdicts=judged.verdicts,
        **told,
    )


def _with_control(result: PairwiseResult, control: int | str | None) -> PairwiseResult:
    """Name the control, which the user gave by name or place."""
    if control is None:
        return result
    first = model_index(control, result.names, "control")
    return replace(result, control=result.names[first])
