"""How often the truth is t and two models predict a and b: all that two columns say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.counts.label_table import LabelTable, add_cells
from fastcmp.inputs.label_order import in_order, sorted_codes
from fastcmp.inputs.labels import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_DENSE_CLASSES = 128  # 16 MB of counts; beyond it they are sparse
_KEYED_CLASSES = 1 << 21  # a cell's number then fits in 63 bits
_CHUNK = 1 << 22  # samples that are sorted at a time
_FEW = 1 << 12  # samples that tell the number of classes as a rule
_PART = 1 << 21  # samples that are worth a thread


def count_labels(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    workers: int | None = None,
) -> LabelTable:
    """Count samples by true class and by the classes that two models predicted.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted; none may be missing.
    classes : sequence, optional
        Classes to count, in this order; samples whose true label is another are left
        out, and a prediction of another is refused. By default all labels found in the
        three columns, sorted.
    workers : int, optional
        Threads for millions of samples; by default as many as there are processors.

    Returns
    -------
    LabelTable
        Dense up to 128 classes, sparse beyond: never more cells than samples there.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing or not among the classes, or there
        are fewer than two samples.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(n) for few classes, O(n log n) for many.

    Examples
    --------
    >>> from fastcmp import count_labels
    >>> counts = count_labels(["x", "y", "y"], ["x", "y", "x"], ["x", "x", "x"])
    >>> counts.classes, counts.counts[1].tolist()
    (('x', 'y'), [[1, 0], [1, 0]])
    """
    threads = check_workers(workers)
    models = {"pred_a": pred_a, "pred_b": pred_b}
    labels = encode(y_true, models, classes=classes, missing=None)
    columns = (labels.y_true, *labels.preds)
    names = labels.classes
    if classes is None and labels.y_true.dtype == np.uint8:
        # Single bytes come with 256 possible classes. The first samples tell how many
        # there are as a rule, and the counting itself whether that was right.
        names = names[: 1 + max(int(column[:_FEW].max()) for column in columns)]
    dropped: dict[str, Any] = {"n_missing": labels.n_missing, "n_excluded": labels.n_excluded}
    counts = None
    if len(names) <= _DENSE_CLASSES:
        counts = _count_dense(columns, len(names), threads)
    if counts is None and classes is None:
        labels = in_order(labels)
        names, columns = labels.classes, (labels.y_true, *labels.preds)
        if len(names) <= _DENSE_CLASSES:
            counts = _count_dense(columns, len(names), threads)
    if counts is None:
        cells, sparse = count_cells(columns, len(names))
        return LabelTable(classes=tuple(names), cells=cells, counts=sparse, **dropped)
    if classes is None:
        seen = counts.any(axis=(1, 2)) | counts.any(axis=(0, 2)) | counts.any((0, 1))
        used = sorted_codes(names, np.flatnonzero(seen))
        names = [names[code] for code in used]
        counts = np.ascontiguousarray(counts[np.ix_(used, used, used)])
    return LabelTable(classes=tuple(names), counts=counts, **dropped)


def _count_dense(
    columns: tuple[NDArray[Any], ...], k: int, threads: int
) -> NDArray[np.int64] | None:
    """Count in private tables, a thread each; None if a code is not below k."""
    n = columns[0].size
    cuts = parts(n, -(-n // max(1, min(threads, n // _PART))))
    private = [np.zeros((k, k, k), np.int64) for _ in cuts]
    counted = [0] * len(cuts)

    def count(i: int) -> None:
        t, a, b = (column[cuts[i]] for column in columns)
        counted[i] = kernels.count_labels(t, a, b, private[i])

    with ThreadPool(len(cuts)) as pool:
        pool.run(count, range(len(cuts)))
    return sum(private[1:], private[0]) if sum(counted) == n else None


def count_cells(
    columns: Sequence[NDArray[Any]], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count how often codes occur together, for many classes.

    Gives the combinations that occur, ascending, and the samples of each.
    """
    all_cells, all_counts = [], []
    for start in range(0, columns[0].size, _CHUNK):
        some = [column[start : start + _CHUNK] for column in columns]
        if k < _KEYED_CLASSES:
            keys = some[0].astype(np.int64)
            for column in some[1:]:
                keys = keys * k + column
            keys, counts = np.unique(keys, return_counts=True)
            places = np.unravel_index(keys, (k,) * len(some))
            cells = np.stack(places, axis=1).astype(np.int64, copy=False)
        else:
            cells = np.stack(some, axis=1).astype(np.int64)
            cells, counts = add_cells([cells], [np.ones(len(cells), np.int64)])
        all_cells.append(cells)
        all_counts.append(counts)
    if len(all_cells) == 1:
        return all_cells[0], all_counts[0].astype(np.int64)
    none = np.zeros((0, len(columns)), np.int64)
    return add_cells([none, *all_cells], [none[:, 0], *all_counts])
