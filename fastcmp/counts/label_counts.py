"""How often the truth is t and two models predict a and b: all that two columns say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import answer, dropped_sentences
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.core.typing import Classes, ColumnLike, Ints
from fastcmp.inputs.cost_matrix import in_units, read_cost
from fastcmp.inputs.labels import encode, in_order, sorted_codes

_LARGEST_ARRAY = 1 << 28  # entries: 2 GB

Cells = tuple[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LabelTable(Record):
    """Samples by true class, class predicted by a and class predicted by b.

    Counts of several parts of the data may be added where their classes agree.
    """

    _opening = "Samples were counted by their true class and by what the two models predict."

    #: Samples: ``counts[t, a, b]``, shape (K, K, K), for few classes; for many
    #: ``counts[i]`` samples in the cell ``cells[i]``.
    counts: Ints
    #: The label of each class.
    classes: tuple[Any, ...]
    #: For many classes: true class, class predicted by a and by b of each cell,
    #: ascending, shape (C, 3).
    cells: Ints | None = None
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    @property
    def n_samples(self) -> int:
        """Number of samples that were counted."""
        return int(self.counts.sum())

    def nonzero(self) -> Cells:
        """List the cells that hold samples.

        Returns
        -------
        tuple of four ndarray, shape (C,)
            True class, class predicted by a, class predicted by b, and samples.
        """
        if self.cells is None:
            t, a, b = np.nonzero(self.counts)
            return t, a, b, self.counts[t, a, b]
        t, a, b = self.cells.T
        return t, a, b, self.counts

    def to_dense(self) -> Ints:
        """All counts as one array.

        Returns
        -------
        ndarray of int64, shape (K, K, K)
            ``[t, a, b]``, a copy.

        Raises
        ------
        ValueError
            If it would take more than 2 GB.
        """
        k = self.n_classes
        if k**3 > _LARGEST_ARRAY:
            raise ValueError(
                f"to_dense needs {8 * k**3 / 1e9:.3g} GB for {k} classes: use nonzero()"
            )
        t, a, b, counts = self.nonzero()
        dense = np.zeros((k, k, k), np.int64)
        dense[t, a, b] = counts
        return dense

    @property
    def confusion_a(self) -> Ints:
        """Confusion matrix of a: samples by true and predicted class, shape (K, K)."""
        t, a, _, counts = self.nonzero()
        return self._table(t, a, counts)

    @property
    def confusion_b(self) -> Ints:
        """Confusion matrix of b: samples by true and predicted class, shape (K, K)."""
        t, _, b, counts = self.nonzero()
        return self._table(t, b, counts)

    def _table(self, t: Any, p: Any, counts: Any) -> Ints:
        k = self.n_classes
        if k**2 > _LARGEST_ARRAY:
            raise ValueError(
                f"a confusion matrix of {k} classes needs {8 * k**2 / 1e9:.3g} GB: use nonzero()"
            )
        table = np.zeros((k, k), np.int64)
        np.add.at(table, (t, p), counts)
        return table

    @property
    def errors(self) -> tuple[float, float]:
        """Error rates of a and b."""
        t, a, b, counts = self.nonzero()
        n = self.n_samples or math.nan
        return int(counts[t != a].sum()) / n, int(counts[t != b].sum()) / n

    def losses(self, cost: Any) -> tuple[float, float]:
        """Mean costs of both models' mistakes.

        Parameters
        ----------
        cost : array-like of shape (K, K), mapping or frame
            As in `cost_test`, in the order of `classes` where it names none.

        Returns
        -------
        tuple of two float
            Expected cost of a and of b, per sample; NaN without samples.

        Raises
        ------
        ValueError
            If the matrix is no cost matrix of these classes.

        Examples
        --------
        >>> from fastcmp import count_labels
        >>> counts = count_labels([0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1])
        >>> counts.losses([[0, 1], [5, 0]])
        (1.25, 0.25)
        """
        return self._losses(read_cost(cost, self.classes).values)

    def _losses(self, cost: NDArray[np.float64]) -> tuple[float, float]:
        """The same by a checked matrix."""
        values, exponent = in_units(cost)
        t, a, b, counts = self.nonzero()
        n = self.n_samples or math.nan
        sums = float(counts @ values[t, a]), float(counts @ values[t, b])
        return math.ldexp(sums[0] / n, exponent), math.ldexp(sums[1] / n, exponent)

    def __add__(self, other: object) -> LabelTable:
        """Add the counts of two parts of the data."""
        if not isinstance(other, LabelTable):
            return NotImplemented
        if self.classes != other.classes:
            raise BadValueError(
                "`counts` can be added where their classes agree",
                remedy="; pass the same `classes=` to count_labels",
            )
        cells: Ints | None = None
        if self.cells is None or other.cells is None:
            counts = self.counts + other.counts
        else:
            cells, counts = add_cells([self.cells, other.cells], [self.counts, other.counts])
        return replace(
            self,
            counts=counts,
            cells=cells,
            n_missing=self.n_missing + other.n_missing,
            n_excluded=self.n_excluded + other.n_excluded,
        )

    def __radd__(self, other: object) -> LabelTable:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def columns(self) -> dict[str, Any]:
        """The cells that hold samples, as columns.

        Returns
        -------
        dict of str to list
            Labels "true", "a" and "b", and "samples".
        """
        *codes, counts = self.nonzero()
        labels = [[self.classes[i] for i in column.tolist()] for column in codes]
        columns = (*labels, counts.tolist())
        return dict(zip(("true", "a", "b", "samples"), columns, strict=True))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        error_a, error_b = self.errors
        text = (
            f"{self.n_samples} samples of {self.n_classes} classes, in "
            f"{self.nonzero()[3].size} different cells",
            f"a is wrong on {100 * error_a:.2f}%, b on {100 * error_b:.2f}%",
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        return [Section(title=answer("Counts by true and predicted classes"), text=text)]


def add_cells(cells: list[Ints], counts: list[Ints]) -> tuple[Ints, Ints]:
    """Sorted cells, each once, with the sums of their counts."""
    rows, samples = np.concatenate(cells), np.concatenate(counts)
    if len(rows) == 0:
        return rows, samples
    order = np.lexsort(rows.T[::-1])
    rows, samples = rows[order], samples[order]
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    return rows[first], np.add.reduceat(samples, first)


_DENSE_CLASSES = 128  # 16 MB of counts; beyond it they are sparse
_KEYED_CLASSES = 1 << 21  # a cell's number then fits in 63 bits
_CHUNK = 1 << 22  # samples that are sorted at a time
_FEW = 1 << 12  # samples that tell the number of classes as a rule
_PART = 1 << 21  # samples that are worth a thread


def count_labels(
    y_true: ColumnLike,
    pred_a: ColumnLike,
    pred_b: ColumnLike,
    *,
    classes: Classes | None = None,
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
        counts = count_dense(columns, len(names), threads)
    if counts is None and classes is None:
        labels = in_order(labels)
        names, columns = labels.classes, (labels.y_true, *labels.preds)
        if len(names) <= _DENSE_CLASSES:
            counts = count_dense(columns, len(names), threads)
    if counts is None:
        cells, sparse = count_cells(columns, len(names))
        return LabelTable(classes=tuple(names), cells=cells, counts=sparse, **dropped)
    if classes is None:
        seen = counts.any(axis=(1, 2)) | counts.any(axis=(0, 2)) | counts.any((0, 1))
        used = sorted_codes(names, np.flatnonzero(seen))
        names = [names[code] for code in used]
        counts = np.ascontiguousarray(counts[np.ix_(used, used, used)])
    return LabelTable(classes=tuple(names), counts=counts, **dropped)


def count_dense(columns: tuple[NDArray[Any], ...], k: int, threads: int) -> Ints | None:
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


def count_cells(columns: Sequence[NDArray[Any]], k: int) -> tuple[Ints, Ints]:
    """Cells of codes that occur together, and their counts, for many classes.

    Gives the combinations that occur, ascending, and the samples of each.
    """
    all_cells, all_counts = [], []
    for start in range(0, columns[0].size, _CHUNK):
        block = [column[start : start + _CHUNK] for column in columns]
        if k < _KEYED_CLASSES:
            keys = block[0].astype(np.int64)
            for column in block[1:]:
                keys = keys * k + column
            keys, counts = np.unique(keys, return_counts=True)
            places = np.unravel_index(keys, (k,) * len(block))
            cells = np.stack(places, axis=1).astype(np.int64, copy=False)
        else:
            cells = np.stack(block, axis=1).astype(np.int64)
            cells, counts = add_cells([cells], [np.ones(len(cells), np.int64)])
        all_cells.append(cells)
        all_counts.append(counts)
    if len(all_cells) == 1:
        return all_cells[0], all_counts[0].astype(np.int64)
    none = np.zeros((0, len(columns)), np.int64)
    return add_cells([none, *all_cells], [none[:, 0], *all_counts])
