"""All pairs of many models: tiles of pairs, worked through by a crew of threads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.checks import as_share, check_choice
from fastcmp.crew import Crew, check_workers
from fastcmp.labels import Labels, encode
from fastcmp.multiplicity import ADJUSTMENTS, promise
from fastcmp.multiplicity import adjust as adjust_pvalues
from fastcmp.paired import METHODS, evaluate_counts
from fastcmp.pairwise import PairwiseResult
from fastcmp.progress import Progress, reporting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_TESTS = ("mcnemar",)
_TILE = 128  # models a side, at most; a multiple of kernels.TILE_ROWS
_PAIRS = 64  # chosen pairs that are counted in one task
_CHUNK = 16_384  # pairs whose p-values are one task
_PACKED = 1 << 22  # samples whose packing is one task
_THREADS_PAY = 1 << 22  # words of pairs; below it one thread is faster


def compare_all(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    preds: Any,
    /,
    *,
    test: str = "mcnemar",
    method: str = "midp",
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
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
    test : {"mcnemar"}
        What is compared: accuracies.
    method : {"midp", "exact", "asymptotic", "corrected", "unconditional"}
        Variant of the test, as in `mcnemar`.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
    alpha : float
        Error rate of the decisions, in (0, 1); what it bounds, `adjust` decides.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the steps done and all steps.

    Returns
    -------
    PairwiseResult
        Counts, differences, p-values, decisions, leaderboard and groups of ties.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, lengths differ, names repeat,
        labels are missing, or an option is unknown.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(M n) to encode and pack, M**2 n / 128 popcounts, O(P log P) to adjust. Memory:
    n / 8 bytes a model and some 100 bytes a pair.

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
    check_choice(test, "test", _TESTS)
    check_choice(method, "method", METHODS)
    check_choice(adjust, "adjust", ADJUSTMENTS)
    alpha = as_share(alpha, "alpha")
    threads = check_workers(workers)
    labels = encode(y_true, preds, classes=classes, missing=missing)
    chosen = _chosen_pairs(labels.names, pairs, control)
    n_models, n = len(labels.names), labels.n_samples
    n_pairs = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
    if n_pairs * n // 64 < _THREADS_PAY:
        threads = 1
    plan = _Plan(
        pack=_parts(n_models, max(1, _PACKED // n)),
        count=_tiles(n_models, threads) if chosen is None else _parts(n_pairs, _PAIRS),
        judge=_parts(n_pairs, _CHUNK),
    )
    with (
        reporting(progress, "comparing") as report,
        Crew(threads, report, plan.n_tasks) as crew,
    ):
        counts = _count(labels, chosen, plan, crew)
        statistic, pvalue, interval = _judge(counts, method, 1 - alpha, plan, crew)
    return PairwiseResult(
        statistic=statistic,
        pvalue=pvalue,
        pvalue_adjusted=adjust_pvalues(pvalue, adjust),
        pairs=counts.pairs,
        only_a=counts.only_a,
        only_b=counts.only_b,
        difference=(counts.only_a - counts.only_b) / n,
        interval=interval,
        names=labels.names,
        correct=counts.correct,
        accuracy_interval=np.array(
            [kernels.wilson_interval(right, n, 1 - alpha) for right in counts.correct]
        ),
        n_samples=n,
        test=test,
        method=method,
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The tasks of each stage."""

    #: Models whose rows are packed together.
    pack: list[slice]
    #: Tiles of models, or parts of the chosen pairs.
    count: list[tuple[int, int, int, int]] | list[slice]
    #: Parts of the pairs.
    judge: list[slice]

    @property
    def n_tasks(self) -> int:
        return len(self.pack) + len(self.count) + len(self.judge)


@dataclass(frozen=True, slots=True)
class _Counts:
    """What all tests of pairs start from."""

    n_samples: int
    #: Rightly classified samples of each model, shape (M,).
    correct: NDArray[np.int64]
    #: Models of each pair, shape (P, 2), and the samples only one of them got right.
    pairs: NDArray[np.int32]
    only_a: NDArray[np.int64]
    only_b: NDArray[np.int64]


def _count(
    labels: Labels, chosen: NDArray[np.int32] | None, plan: _Plan, crew: Crew
) -> _Counts:
    n_models = len(labels.names)
    words, correct = _pack(labels, plan, crew)
    pairs = _all_pairs(n_models) if chosen is None else chosen
    only_a, only_b = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)

    def count_tile(tile: tuple[int, int, int, int]) -> None:
        kernels.discordant_tile(words, correct, tile, only_a, only_b)

    def count_part(part: slice) -> None:
        some = pairs[part].astype(np.int64)
        kernels.discordant_pairs(words, correct, some, only_a[part], only_b[part])

    crew.run(count_tile if chosen is None else count_part, plan.count)
    return _Counts(labels.n_samples, correct, pairs, only_a, only_b)


def _pack(
    labels: Labels, plan: _Plan, crew: Crew
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    n_models = len(labels.names)
    words = kernels.allocate_words(n_models, labels.n_samples)
    correct = np.empty(n_models, np.int64)

    def pack(part: slice) -> None:
        for i in range(part.start, part.stop):
            kernels.pack_equal(labels.y_true, labels.preds[i], words[i])
            correct[i] = kernels.count_bits(words[i])

    crew.run(pack, plan.pack)
    return words, correct


def _tiles(n_models: int, threads: int) -> list[tuple[int, int, int, int]]:
    """Cut the pairs into squares: large ones, but several for each thread."""
    rows = -(-n_models // (4 * threads * kernels.TILE_ROWS))
    side = min(_TILE, rows * kernels.TILE_ROWS)
    starts = range(0, n_models, side)
    return [
        (i, min(i + side, n_models), j, min(j + side, n_models))
        for i in starts
        for j in starts
        if j >= i
    ]


def _parts(n: int, size: int) -> list[slice]:
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def _judge(
    counts: _Counts, method: str, confidence_level: float, plan: _Plan, crew: Crew
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Statistic, p-value and Newcombe's interval for the difference of each pair."""
    n_pairs, n = len(counts.pairs), counts.n_samples
    statistic, pvalue = np.empty(n_pairs), np.empty(n_pairs)
    interval = np.empty((n_pairs, 2))
    options = (kernels.NEWCOMBE, confidence_level)

    def judge(part: slice) -> None:
        only_a, only_b = counts.only_a[part], counts.only_b[part]
        statistic[part], pvalue[part], _ = evaluate_counts(
            only_a, only_b, np.int64(n), method, "two-sided"
        )
        right = counts.correct[counts.pairs[part, 0]] - only_a
        wrong = n - right - only_a - only_b
        low, high = np.empty(only_a.size), np.empty(only_a.size)
        kernels.difference_interval_many(
            right, only_a, only_b, wrong, options, low, high
        )
        interval[part, 0], interval[part, 1] = low, high

    crew.run(judge, plan.judge)
    return statistic, pvalue, interval


def _all_pairs(n_models: int) -> NDArray[np.int32]:
    pairs = np.empty((n_models * (n_models - 1) // 2, 2), np.int32)
    start = 0
    for i in range(n_models - 1):
        end = start + n_models - 1 - i
        pairs[start:end, 0] = i
        pairs[start:end, 1] = np.arange(i + 1, n_models)
        start = end
    return pairs


def _chosen_pairs(
    names: tuple[str, ...],
    pairs: Sequence[tuple[int | str, int | str]] | None,
    control: int | str | None,
) -> NDArray[np.int32] | None:
    if pairs is not None and control is not None:
        message = "pairs and control exclude each other: pass one of them"
        raise ValueError(message)
    if control is not None:
        first = _model_index(control, names, "control")
        others = [i for i in range(len(names)) if i != first]
        return np.array([(first, i) for i in others], np.int32)
    if pairs is None:
        return None
    if not isinstance(pairs, Iterable):
        message = f"pairs must be a sequence of pairs of models, got {pairs!r}"
        raise TypeError(message)
    chosen = [_pair_indices(pair, names) for pair in pairs]
    if not chosen:
        message = "pairs must name at least one pair, got none"
        raise ValueError(message)
    unordered = [frozenset(pair) for pair in chosen]
    if len(set(unordered)) < len(unordered):
        twice = next(
            p for p, u in zip(chosen, unordered, strict=True) if unordered.count(u) > 1
        )
        message = (
            f"pairs must differ, got {names[twice[0]]} and {names[twice[1]]} twice"
        )
        raise ValueError(message)
    return np.array(chosen, np.int32)


def _pair_indices(pair: Any, names: tuple[str, ...]) -> tuple[int, int]:
    if isinstance(pair, str) or np.size(pair) != 2:
        message = f"pairs must be pairs of models, got {pair!r}"
        raise ValueError(message)
    i, j = (_model_index(model, names, "pairs") for model in pair)
    if i == j:
        message = f"pairs must be of two models, got {names[i]} with itself"
        raise ValueError(message)
    return i, j


def _model_index(model: int | str, names: tuple[str, ...], argument: str) -> int:
    if isinstance(model, Integral) and not isinstance(model, bool):
        if 0 <= model < len(names):
            return int(model)
    elif model in names:
        return names.index(model)
    known = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    message = f"{argument} names no model {model!r}; there are {known}"
    raise ValueError(message)
