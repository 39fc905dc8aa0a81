"""The area under the ROC curve for more than two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.areas import auc
from fastcmp.checks import as_numbers, check_choice
from fastcmp.columns import read_column
from fastcmp.models import check_indexes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def auc_multiclass(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    method: str = "ovr",
    average: str = "macro",
    classes: Sequence[Any] | None = None,
) -> float:
    """Average the areas of all classes, or of all pairs of classes.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped.
    scores : array-like, shape (n, K)
        A column a class, as ``predict_proba`` gives them.
    method : {"ovr", "ovo"}
        Each class against the rest, or Hand and Till's mean over pairs of classes.
    average : {"macro", "weighted"}
        Plain mean, or by the frequency of the class, or of the two classes.
    classes : sequence, optional
        Labels of the columns; by default the distinct true labels, sorted.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If shapes do not fit, a score is NaN, or a class has no sample.
    TypeError
        If scores are not numbers.

    References
    ----------
    .. [1] D. J. Hand, R. J. Till, "A simple generalisation of the area under the ROC
       curve for multiple class classification problems", Machine Learning 45 (2001)
       171-186.

    Examples
    --------
    >>> from fastcmp import auc_multiclass
    >>> scores = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]]
    >>> round(auc_multiclass(["a", "b", "c", "c"], scores, method="ovo"), 4)
    0.875
    """
    check_choice(method, "method", ("ovr", "ovo"))
    check_choice(average, "average", ("macro", "weighted"))
    codes, names, columns = _read_classes(y_true, scores, classes)
    counts = np.bincount(codes, minlength=len(names))
    if not counts.all():
        empty = [label for label, n in zip(names, counts, strict=True) if not n]
        message = f"y_true holds no sample of {empty[:10]}"
        raise ValueError(message)
    areas, weights = [], []
    for i in range(len(names)):
        if method == "ovr":
            areas.append(auc(codes == i, columns[i]))
            weights.append(counts[i])
            continue
        for j in range(i):
            both = (codes == i) | (codes == j)
            first = codes[both] == i
            one = auc(first, columns[i][both])
            other = auc(~first, columns[j][both])
            areas.append((one + other) / 2)
            weights.append(counts[i] + counts[j])
    chosen = weights if average == "weighted" else None
    return float(np.average(areas, weights=chosen))


def _read_classes(
    y_true: ArrayLike, scores: ArrayLike, classes: Sequence[Any] | None
) -> tuple[NDArray[np.int64], list[Any], list[NDArray[Any]]]:
    truth = read_column(y_true, "y_true")
    table = as_numbers(scores, "scores")
    if table.ndim != 2 or len(table) != len(truth):
        message = (
            f"scores must be of shape (n, K) with n = {len(truth)} samples, got "
            f"{table.shape}"
        )
        raise ValueError(message)
    check_indexes([("y_true", y_true), ("scores", scores)])
    rows = np.arange(len(truth))
    if (absent := truth.missing()) is not None:
        truth, table, rows = truth.take(~absent), table[~absent], rows[~absent]
    if np.isnan(table).any():
        sample, column = np.argwhere(np.isnan(table))[0]
        message = f"scores has NaN for sample {rows[sample]}, column {column}"
        raise ValueError(message)
    truth = truth.factorized()
    found = [truth.distinct[code] for code in np.unique(truth.positions())]
    names = sorted(found) if classes is None else list(classes)
    if len(set(names)) < len(names):
        message = f"classes must differ, got {names[:10]}"
        raise ValueError(message)
    if len(names) != table.shape[1] or len(names) < 2:
        message = (
            f"scores has {table.shape[1]} columns for {len(names)} classes "
            f"{names[:10]}: pass classes= with the labels of the columns"
        )
        raise ValueError(message)
    if unknown := [label for label in found if label not in names]:
        message = f"y_true holds {unknown[0]!r}, which is not among the classes"
        raise ValueError(message)
    place = [names.index(x) if x in names else -1 for x in truth.distinct]
    codes = np.array(place)[truth.positions()]
    return codes, names, [np.ascontiguousarray(column) for column in table.T]
