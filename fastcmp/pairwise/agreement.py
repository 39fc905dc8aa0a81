"""How alike do many models predict? Agreement, shared errors, symmetry of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_proportion
from fastcmp.core.options import choose
from fastcmp.core.progress import Progress, reporting
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.counts.correct_bits import RightBits
from fastcmp.counts.pair_tables import PairTables
from fastcmp.counts.pairs import Block, all_pairs, choose_pairs
from fastcmp.inputs.label_order import in_order
from fastcmp.inputs.labels import Labels, encode
from fastcmp.inputs.model_names import with_names
from fastcmp.kernels.symmetry import symmetry_many
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, promise
from fastcmp.pairwise.agreement_result import AgreementResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Ints = NDArray[np.int64]

_MOST_CLASSES = 4096  # a table of that many classes takes 130 MB
_THREADS_PAY = 1 << 20  # predictions of pairs; below it one thread is faster


def compare_predictions(
    y_true: ArrayLike,
    preds: Any,
    *,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> AgreementResult:
    """Compare what many models predict, all pairs at once.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`, of either test.
    alpha : float
        Error rate of the decisions, in (0, 1); what it bounds, `adjust` decides.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is refused.
    missing : {"raise"}
        A missing prediction is an error: agreement needs a class.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs.

    Returns
    -------
    AgreementResult
        Of each pair: disagreement, Cohen's kappa, Yule's Q, correlation and double
        faults, Bowker's and Stuart and Maxwell's tests.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, or more than 4096 classes,
        lengths differ, names repeat, labels are missing, or an option is unknown.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    For few classes (K - 1)**2 n / 64 popcounts a pair, otherwise O(n); the tables of
    all pairs are never held at once.

    References
    ----------
    .. [1] L. I. Kuncheva, C. J. Whitaker, "Measures of diversity in classifier
       ensembles and their relationship with the ensemble accuracy", Machine Learning 51
       (2003) 181-207.
    .. [2] J. Cohen, "A coefficient of agreement for nominal scales", Educational and
       Psychological Measurement 20 (1960) 37-46.

    Examples
    --------
    >>> from fastcmp import compare_predictions, load_digits
    >>> result = compare_predictions(*load_digits())
    >>> alike = result.kappa.argmax()
    >>> [result.names[i] for i in result.pairs[alike]], f"{result.kappa[alike]:.3f}"
    (['extra_trees', 'random_forest'], '0.985')
    """
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    alpha = as_proportion(alpha, "alpha")
    threads = check_workers(workers)
    choose(missing, "missing", ("raise",))
    preds = with_names(preds, names, "preds")
    labels = encode(y_true, preds, classes=classes, missing=None)
    if classes is None:
        labels = in_order(labels)
    if len(labels.classes) > _MOST_CLASSES:
        raise ValueError(
            f"compare_predictions takes at most {_MOST_CLASSES} classes, got {len(labels.classes)}"
        )
    chosen = choose_pairs(labels.names, pairs, control)
    n_models = len(labels.names)
    which = all_pairs(n_models) if chosen is None else chosen
    if len(which) * labels.n_samples < _THREADS_PAY:
        threads = 1
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        bits = RightBits.pack(labels, pool)
        found = _measure_all(labels, chosen, bits, pool)
    return AgreementResult(
        **found,
        bowker_pvalue_adjusted=adjust_checked(found["bowker_pvalue"], adjust),
        stuart_maxwell_pvalue_adjusted=adjust_checked(found["stuart_maxwell_pvalue"], adjust),
        pairs=which,
        correct=bits.correct,
        names=labels.names,
        classes=tuple(labels.classes),
        n_samples=labels.n_samples,
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
        n_outside=labels.n_outside,
    )


def _measure_all(
    labels: Labels, chosen: NDArray[np.int32] | None, bits: RightBits, pool: ThreadPool
) -> dict[str, Any]:
    """Measure all pairs, block by block; fields are those of `AgreementResult`."""
    n_models, k, n = len(labels.names), len(labels.classes), labels.n_samples
    n_pairs = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
    none = np.empty(0, np.int64)
    everything = {
        name: np.empty((n_pairs, *column.shape[1:]), column.dtype)
        for name, column in _measure(np.empty((0, k, k), int), none, none, none, n)
    }

    def measure(block: Block, counts: Ints) -> None:
        only_a, only_b = bits.discordant(block)
        both = bits.correct[block.pairs[:, 0]] - only_a
        for name, column in _measure(counts, only_a, only_b, both, n):
            everything[name][block.where] = column

    PairTables(labels.preds, k, n_pairs).fold(chosen, pool, measure)
    return everything


def _measure(
    tables: Ints, only_a: Ints, only_b: Ints, both: Ints, n: int
) -> Iterable[tuple[str, Any]]:
    """Measure some pairs from their tables, shape (p, K, K): fields and columns."""
    differ = n - np.trace(tables, axis1=1, axis2=2)
    margin_a, margin_b = tables.sum(axis=2) + 0.0, tables.sum(axis=1) + 0.0
    # By chance; all terms are positive, so that nothing cancels.
    expected = (margin_a * (n - margin_b)).sum(axis=1)
    right = both.astype(np.float64)
    wrong = n - right - only_a - only_b
    same, crossed = right * wrong, only_a.astype(np.float64) * only_b
    spread_a = (right + only_a) * (wrong + only_b)
    spread_b = (right + only_b) * (wrong + only_a)
    with np.errstate(invalid="ignore"):
        kappa = np.where(expected > 0, 1 - n * (differ / expected), np.nan)
        q_statistic = (same - crossed) / (same + crossed)
        correlation = (same - crossed) / np.sqrt(spread_a * spread_b)
    exchange, exchange_counts = _exchanges(tables)
    return {
        "disagreement": differ / n,
        "kappa": kappa,
        "only_a": only_a,
        "only_b": only_b,
        "q_statistic": q_statistic,
        "correlation": correlation,
        "double_fault": wrong / n,
        **_test("bowker", tables),
        **_test("stuart_maxwell", tables),
        "exchange": exchange,
        "exchange_counts": exchange_counts,
    }.items()


def _test(name: str, tables: Ints) -> dict[str, Any]:
    results, df = np.empty((len(tables), 2)), np.empty(len(tables), np.int64)
    status = np.empty(len(tables), np.uint8)
    symmetry_many(tables, name == "stuart_maxwell", results, df, status)
    statistic, pvalue = results.T
    return {f"{name}_statistic": statistic, f"{name}_df": df, f"{name}_pvalue": pvalue}


def _exchanges(tables: Ints) -> tuple[Ints, Ints]:
    """Find the cell of each table that adds most to Bowker's statistic."""
    reverse = tables.transpose(0, 2, 1)
    excess = np.maximum(tables - reverse, 0)
    part = excess * (excess / np.maximum(tables + reverse, 1))
    k = tables.shape[1]
    largest = part.reshape(-1, k * k).argmax(axis=1)
    a, b = np.divmod(largest, k)
    p = np.arange(len(tables))
    found = part[p, a, b] > 0
    cells = np.where(found[:, None], np.stack([a, b], axis=1), -1)
    counts = np.stack([tables[p, a, b], tables[p, b, a]], axis=1)
    return cells, np.where(found[:, None], counts, 0)
