"""McNemar's test: is one of two models right more often on the same samples?"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import LARGEST_COUNT, as_counts
from fastcmp.core.options import choose
from fastcmp.core.protocols import PairedCounts, are_paired
from fastcmp.core.records import unwrap
from fastcmp.inputs.labels import Labels, encode
from fastcmp.kernels.paired import ASYMPTOTIC, CORRECTED, EXACT, MIDP, mcnemar_many
from fastcmp.paired.mcnemar_result import McNemarResult

if TYPE_CHECKING:
    from collections.abc import Sequence

_CODES = {
    "midp": MIDP,
    "exact": EXACT,
    "asymptotic": ASYMPTOTIC,
    "corrected": CORRECTED,
}
METHODS = (*_CODES, "unconditional")
_UNCONDITIONAL_WORK = 400_000_000  # samples of all tables: one or two minutes
ALTERNATIVES = {
    "two-sided": kernels.TWO_SIDED,
    "greater": kernels.GREATER,
    "less": kernels.LESS,
}

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Statuses = NDArray[np.uint8]


def mcnemar(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str = "midp",
    alternative: str = "two-sided",
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> McNemarResult:
    """McNemar's test of two models on the same samples.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of any type that can be compared. Samples with a missing one are
        dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    method : {"midp", "exact", "asymptotic", "corrected", "unconditional"}
        Mid-p test, exact conditional test, normal approximation, the same with
        Edwards' continuity correction, or Suissa and Shuster's exact unconditional
        test (up to 2 million samples).
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.

    Returns
    -------
    McNemarResult
        Statistic, p-value, the table, accuracies and intervals.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two, or an option is
        unknown.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(n): one pass over the codes.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12 (1947) 153-157.
    .. [2] M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional",
       BMC Medical Research Methodology 13 (2013) 91.

    Examples
    --------
    >>> from fastcmp import mcnemar
    >>> y_true = ["cat", "dog", "dog", "cat", "dog", "cat"]
    >>> pred_a = ["cat", "dog", "dog", "cat", "dog", "dog"]
    >>> pred_b = ["dog", "cat", "dog", "dog", "dog", "dog"]
    >>> result = mcnemar(y_true, pred_a, pred_b)
    >>> result.pvalue
    0.125
    >>> result.table.tolist()
    [[2, 3], [0, 1]]
    """
    _check_options(method, alternative)
    labels = _encode_pair(y_true, pred_a, pred_b, classes, missing)
    table = _table(labels)
    cells = table.ravel().reshape(4, 1)
    statistic, pvalue, status = evaluate_counts(
        cells[1], cells[2], table.sum(), method, alternative
    )
    both_right, only_a, only_b, both_wrong = table.ravel().tolist()
    return McNemarResult(
        statistic=statistic.item(),
        pvalue=pvalue.item(),
        status=status.item(),
        only_a=only_a,
        only_b=only_b,
        both_right=both_right,
        both_wrong=both_wrong,
        method=method,
        alternative=alternative,
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
        n_outside=labels.n_outside,
    )


def mcnemar_from_counts(
    only_a: ArrayLike | PairedCounts | None = None,
    only_b: ArrayLike | None = None,
    *,
    table: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    method: str = "midp",
    alternative: str = "two-sided",
) -> McNemarResult:
    """McNemar's test from counts, of any shape.

    Parameters
    ----------
    only_a, only_b : array-like of int
        Samples that only model a, only model b, classified rightly. The arrays are
        broadcast against each other. A `fastcmp.stream.PairCounts` alone stands for
        all four counts, of two models or of all pairs (in the order of
        ``np.triu_indices(M, 1)``), and so does a 2 x 2 table.
    table : array-like of int, shape (..., 2, 2), optional
        All four counts at once, as `mcnemar_table` gives them: rows a right, a wrong;
        columns b right, b wrong.
    both_right, both_wrong : array-like of int, optional
        Samples that both classified rightly, wrongly. The unconditional test,
        accuracies and intervals for the difference need them.
    method : {"midp", "exact", "asymptotic", "corrected", "unconditional"}
        As in `mcnemar`.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.

    Returns
    -------
    McNemarResult
        Arrays of the broadcast shape, or numbers for numbers.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, do not broadcast, a table is
        not of shape (..., 2, 2), or an option is unknown; for the unconditional test
        also if there are more than 2 million samples.
    TypeError
        If counts are not numbers, are absent, or are given twice.

    Examples
    --------
    >>> from fastcmp import mcnemar_from_counts
    >>> mcnemar_from_counts([11, 25, 0], [1, 15, 0]).pvalue.round(4).tolist()
    [0.0034, 0.1173, 1.0]
    >>> round(mcnemar_from_counts(table=[[873, 16], [3, 7]]).pvalue, 4)
    0.0026
    """
    _check_options(method, alternative)
    given: dict[str, Any] = {
        "only_a": only_a,
        "only_b": only_b,
        "both_right": both_right,
        "both_wrong": both_wrong,
        "table": table,
    }
    given, dropped = _given_counts(given)
    counts = _broadcast({name: as_counts(raw, name) for name, raw in given.items()})
    shape = counts["only_a"].shape
    flat = {name: np.ravel(x) for name, x in counts.items()}
    _check_total(flat)
    n = None
    if "both_right" in flat and "both_wrong" in flat:
        n = sum(flat.values(), np.zeros((), np.int64))
    statistic, pvalue, status = evaluate_counts(
        flat["only_a"], flat["only_b"], n, method, alternative
    )
    return McNemarResult(
        statistic=unwrap(statistic, shape),
        pvalue=unwrap(pvalue, shape),
        status=unwrap(status, shape),
        **{name: unwrap(x, shape) for name, x in flat.items()},
        method=method,
        alternative=alternative,
        **dropped,
    )


def _given_counts(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Collect the counts by name, and how many samples a stream has dropped."""
    given = {name: counts for name, counts in given.items() if counts is not None}
    first = given.get("only_a")
    if are_paired(first):
        if len(given) > 1:
            message = f"PairCounts come alone, got {', '.join([*given][1:])} as well"
            raise TypeError(message)
        dropped = {"n_missing": first.n_missing, "n_excluded": first.n_excluded}
        return first.paired_counts(), dropped
    if "only_b" not in given and _is_table(first):
        given["table"] = given.pop("only_a")
    if "table" in given:
        if len(given) > 1:
            message = f"a table holds all four counts: it comes alone, not {[*given]}"
            raise TypeError(message)
        return _cells(given["table"]), {}
    if not {"only_a", "only_b"} <= set(given):
        message = (
            f"{'only_b' if 'only_a' in given else 'only_a'} must be whole numbers, got "
            "None: counts come as only_a and only_b, or as table=, of shape (2, 2)"
        )
        raise TypeError(message)
    return given, {}


def _is_table(counts: Any) -> bool:
    """Tell a 2 x 2 table from counts of one kind."""
    with suppress(ValueError):  # ragged lists
        return counts is not None and np.shape(counts) == (2, 2)
    return False


def _cells(table: Any) -> dict[str, Any]:
    """Take the four counts out of one or more tables."""
    cells = as_counts(table, "table")
    if cells.shape[-2:] != (2, 2):
        message = f"table must be of shape (..., 2, 2), got {cells.shape}"
        raise ValueError(message)
    names = ("both_right", "only_a", "only_b", "both_wrong")
    flat = cells.reshape(*cells.shape[:-2], 4)
    return {name: flat[..., i] for i, name in enumerate(names)}


def _check_options(method: str, alternative: str) -> None:
    method = choose(method, "method", METHODS)
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))


def _broadcast(counts: dict[str, Ints]) -> dict[str, Ints]:
    try:
        arrays = np.broadcast_arrays(*counts.values())
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in counts.items())
        message = f"counts must broadcast to one shape, got {shapes}"
        raise ValueError(message) from None
    return dict(zip(counts, arrays, strict=True))


def _check_total(flat: dict[str, Ints]) -> None:
    total = sum(x.astype(np.float64) for x in flat.values())
    if np.size(total) and np.max(total) > LARGEST_COUNT:
        names = " + ".join(flat)
        message = f"{names} must be at most 2**53, got {np.max(total):.6g}"
        raise ValueError(message)


def evaluate_counts(
    only_a: Ints, only_b: Ints, n: Ints | np.int64 | None, method: str, alternative: str
) -> tuple[Floats, Floats, Statuses]:
    """Test many pairs of checked counts: the one path to every McNemar p-value.

    Parameters
    ----------
    only_a, only_b : ndarray of int64, shape (P,)
        Discordant counts.
    n : ndarray of int64, shape (P,) or (), or None
        All samples; only the unconditional test asks for them.
    method, alternative : str
        As in `mcnemar`, checked.

    Returns
    -------
    tuple of ndarray, shape (P,)
        Statistics, p-values and statuses.

    Raises
    ------
    ValueError
        If the unconditional test lacks `n`, or has too many samples.
    """
    tail = ALTERNATIVES[alternative]
    if method == "unconditional":
        return _unconditional(only_a, only_b, n, tail)
    statistic, pvalue = np.empty(only_a.size), np.empty(only_a.size)
    status = np.empty(only_a.size, np.uint8)
    mcnemar_many(only_a, only_b, _CODES[method], tail, statistic, pvalue, status)
    return statistic, pvalue, status


def _unconditional(
    only_a: Ints, only_b: Ints, n: Ints | np.int64 | None, tail: int
) -> tuple[Floats, Floats, Statuses]:
    if n is None:
        message = "method='unconditional' needs both_right and both_wrong"
        raise ValueError(message)
    if n.size and n.max() > kernels.UNCONDITIONAL_MAX_N:
        message = (
            f"method='unconditional' takes at most {kernels.UNCONDITIONAL_MAX_N} "
            f"samples, got {n.max()}: use method='midp', which is close at that size"
        )
        raise ValueError(message)
    # It costs up to a second: once for each table that differs.
    tables = np.stack(np.broadcast_arrays(only_a, only_b, n), axis=1)
    distinct, where = np.unique(tables, axis=0, return_inverse=True)
    if distinct[:, 2].sum() > _UNCONDITIONAL_WORK:
        message = (
            f"method='unconditional' takes too long for {len(distinct)} different "
            f"tables of {distinct[:, 2].max()} samples: use method='midp', which is "
            "close at that size"
        )
        raise ValueError(message)
    outcomes = [kernels.mcnemar_unconditional(a, b, m, tail) for a, b, m in distinct]
    statistic, pvalue, status = np.array(outcomes).reshape(-1, 3)[where.ravel()].T
    return statistic.copy(), pvalue.copy(), status.astype(np.uint8)


def mcnemar_table(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> Ints:
    """Count on which samples two models are right.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    classes : sequence, optional
        As in `mcnemar`.
    missing : {"raise", "wrong"}
        As in `mcnemar`.

    Returns
    -------
    ndarray of int64, shape (2, 2)
        Rows: a right, a wrong; columns: b right, b wrong. ``table[0, 1]`` counts the
        samples that only a got right.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two.
    TypeError
        If labels cannot be compared.

    Examples
    --------
    >>> from fastcmp import mcnemar_table
    >>> mcnemar_table([0, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1]).tolist()
    [[1, 2], [1, 0]]
    """
    return _table(_encode_pair(y_true, pred_a, pred_b, classes, missing))


def _encode_pair(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    classes: Sequence[Any] | None,
    missing: str,
) -> Labels:
    models = {"pred_a": pred_a, "pred_b": pred_b}
    return encode(y_true, models, classes=classes, missing=missing)


def _table(labels: Labels) -> Ints:
    table = np.zeros((2, 2), np.int64)
    pred_a, pred_b = labels.preds
    kernels.count_paired(labels.y_true, pred_a, pred_b, table)
    return table
