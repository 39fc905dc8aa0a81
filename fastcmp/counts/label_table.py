"""The record of `count_labels`, and how cells of counts are added."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.inputs.cost_matrix import in_units, read_cost

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_ARRAY = 1 << 28  # entries: 2 GB

Cells = tuple[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LabelTable(Record):
    """Samples by true class, class predicted by a and class predicted by b.

    Counts of several parts of the data may be added where their classes agree.
    """

    #: Samples: ``counts[t, a, b]``, shape (K, K, K), for few classes; for many
    #: ``counts[i]`` samples in the cell ``cells[i]``.
    counts: NDArray[np.int64]
    #: The label of each class.
    classes: tuple[Any, ...]
    #: For many classes: true class, class predicted by a and by b of each cell,
    #: ascending, shape (C, 3).
    cells: NDArray[np.int64] | None = None
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

    def to_dense(self) -> NDArray[np.int64]:
        """Give all counts as one array.

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
    def confusion_a(self) -> NDArray[np.int64]:
        """Confusion matrix of a: samples by true and predicted class, shape (K, K)."""
        t, a, _, counts = self.nonzero()
        return self._table(t, a, counts)

    @property
    def confusion_b(self) -> NDArray[np.int64]:
        """Confusion matrix of b: samples by true and predicted class, shape (K, K)."""
        t, _, b, counts = self.nonzero()
        return self._table(t, b, counts)

    def _table(self, t: Any, p: Any, counts: Any) -> NDArray[np.int64]:
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
        """Average the costs of both models' mistakes.

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
        values, exponent = in_units(read_cost(cost, self.classes).values)
        t, a, b, counts = self.nonzero()
        n = self.n_samples or math.nan
        sums = float(counts @ values[t, a]), float(counts @ values[t, b])
        return math.ldexp(sums[0] / n, exponent), math.ldexp(sums[1] / n, exponent)

    def __add__(self, other: Any) -> LabelTable:
        """Add the counts of two parts of the data."""
        if not isinstance(other, LabelTable):
            return NotImplemented
        if self.classes != other.classes:
            raise ValueError(
                "counts can be added where their classes agree; pass the same classes= "
                "to count_labels"
            )
        cells: NDArray[np.int64] | None = None
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

    def __radd__(self, other: Any) -> LabelTable:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def columns(self) -> dict[str, Any]:
        """Give the cells that hold samples, as columns.

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
        return [Section(title="Counts by true and predicted classes", text=text)]


def add_cells(
    cells: list[NDArray[np.int64]], counts: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add up the counts of equal cells, and sort the cells."""
    rows, samples = np.concatenate(cells), np.concatenate(counts)
    if len(rows) == 0:
        return rows, samples
    order = np.lexsort(rows.T[::-1])
    rows, samples = rows[order], samples[order]
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    return rows[first], np.add.reduceat(samples, first)
