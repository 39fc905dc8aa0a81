"""Samples in cells: by true class and what one model, or two, predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import or_
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_counts, check_classes, check_total
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import scale_exponent
from fastcmp.core.records import are_confusions, are_labelled
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints
from fastcmp.counts.label_counts import LabelTable, count_cells, count_labels
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.labels import encode, in_order, sorted_codes
from fastcmp.inputs.scores import read_weights
from fastcmp.kernels.count_draws import cell_tables


class ClusterCells(NamedTuple):
    """Cells by cluster: those of cluster c are from starts[c] to starts[c + 1]."""

    starts: Ints
    #: Place of the cell, and samples of the cluster in it.
    places: Ints
    samples: Ints

    @property
    def n(self) -> int:
        """Number of clusters."""
        return int(self.starts.size) - 1


class Drawn(NamedTuple):
    """Draws of a block."""

    #: Counts of the cells, shape (R, S), and their tables, (R, M, K, K).
    draws: Floats
    tables: Floats
    #: How often each cluster occurs, negative if exchanged; None without clusters.
    times: Floats | None = None
    #: Probability of each draw; None where all have the same.
    weights: Floats | None = None


class Cells(NamedTuple):
    """Samples of one or two models by true class and predictions."""

    #: Shape (S, 1 + M), in ascending order.
    codes: Ints
    #: Samples of each cell, or their weights.
    counts: NDArray[Any]
    n_classes: int
    clusters: ClusterCells | None = None
    #: Sums of squared weights of each cell; None where samples are counted.
    squares: Floats | None = None

    @property
    def n_models(self) -> int:
        """1 or 2."""
        return int(self.codes.shape[1]) - 1

    @property
    def n(self) -> float:
        """Number of samples, or their weight."""
        return float(self.counts.sum())

    @property
    def df(self) -> float:
        """The degrees of freedom of t: infinite without clusters."""
        return math.inf if self.clusters is None else float(max(self.clusters.n - 1, 1))

    def table(self, model: int = 0) -> Floats:
        """The confusion matrix of a model, (K, K)."""
        k = self.n_classes
        flat = self.codes[:, 0] * k + self.codes[:, 1 + model]
        weights = self.counts.astype(np.float64)
        return np.asarray(np.bincount(flat, weights, k * k).reshape(k, k))

    def tables(self, draws: Floats, out: Floats | None = None) -> Floats:
        """The confusion matrices of draws (R, S): (R, M, K, K)."""
        if out is None:
            shape = len(draws), self.n_models, self.n_classes, self.n_classes
            out = np.empty(shape)
        cell_tables(self.codes, draws, out)
        return out

    @property
    def same(self) -> bool:
        """Whether two models predict the same for all samples."""
        return bool((self.codes[:, 1] == self.codes[:, 2]).all())

    def as_drawn(self) -> Drawn:
        """The data as one draw."""
        draws = self.counts[np.newaxis].astype(np.float64)
        times = None if self.clusters is None else np.ones((1, self.clusters.n))
        return Drawn(draws, self.tables(draws), times)

    def pick(self, values: Floats) -> Floats:
        """Entries of (R, M, K, K) that belong to each cell, of a minus b: (R, S)."""
        t, *predicted = self.codes.T
        picked = values[:, 0, t, predicted[0]]
        if not predicted[1:]:
            return picked
        with np.errstate(invalid="ignore"):  # both may be infinite
            return picked - values[:, 1, t, predicted[1]]

    def reordered(self, place: Sequence[int], n_classes: int) -> Cells:
        """Renumber the classes: class i becomes ``place[i]``."""
        codes = np.asarray(place, np.int64)[self.codes]
        order = np.lexsort(codes.T[::-1])
        squares = None if self.squares is None else self.squares[order]
        clusters = self.clusters
        if clusters is not None:
            at = np.empty_like(order)
            at[order] = np.arange(order.size)
            clusters = clusters._replace(places=at[clusters.places])
        return Cells(codes[order], self.counts[order], n_classes, clusters, squares)

    def alone(self, model: int) -> Cells:
        """The cells of one model of two by itself."""
        table = self.table(model).astype(self.counts.dtype)
        return cells_of_table(table)

    def exchanged(self) -> Cells:
        """Call the second model the first."""
        codes = self.codes[:, [0, 2, 1]]
        order = np.lexsort(codes.T[::-1])
        return self._replace(codes=codes[order], counts=self.counts[order])

    def mean_square(self, u: Floats, *, within_classes: bool = False) -> float:
        """Sum the squares of what samples, or clusters, contribute, over n**2.

        `u` is what a sample of each cell contributes, of mean 0; within classes their
        means are taken off.
        """
        total = self.n
        if self.clusters is not None:
            starts, places, samples = self.clusters
            sums = np.add.reduceat(samples * u[places], starts[:-1])
            c = self.clusters.n
            return float(sums @ sums) / total**2 * c / max(c - 1, 1)
        if within_classes:
            t, k = self.codes[:, 0], self.n_classes
            sizes = np.bincount(t, self.counts, k)
            sums = np.bincount(t, self.counts * u, k)
            u = u - np.divide(sums, sizes, out=np.zeros(k), where=sizes > 0)[t]
        weights = self.counts if self.squares is None else self.squares
        return float(weights @ (u * u)) / total**2

    def standard_error(self, u: Floats, how: str, *, within_classes: bool = False) -> float:
        """The standard error by `how`, of what a sample of each cell contributes."""
        if not np.isfinite(u).all():
            return math.nan
        square, n = self.mean_square(u, within_classes=within_classes), self.n
        if how == "jackknife" and n > 1:
            square *= n / (n - 1.0)
        return math.sqrt(square)


def cells_of_table(table: NDArray[Any]) -> Cells:
    """The cells of a confusion matrix, or of counts [true, a, b]."""
    places = table.nonzero()
    return Cells(np.array(places).T.copy(), table[places], len(table))


def gather_cells(
    codes: ArrayLike, counts: ArrayLike, n_classes: int, clusters: ColumnLike | None = None
) -> Cells:
    """Add up equal cells and sort them.

    `codes`, (L, 2) or (L, 3), hold true class and predictions; `clusters`, (L,), the
    number of the cluster of each row, where there are clusters.
    """
    rows, samples = np.asarray(codes, np.int64), np.asarray(counts, np.int64)
    kept = samples > 0
    rows, samples = rows[kept], samples[kept]
    base = n_classes ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    keys, places, total = _add_up(rows @ base, samples)
    cells = Cells(keys[:, np.newaxis] // base % n_classes, total, n_classes)
    if clusters is None:
        return cells
    numbers = np.unique(np.asarray(clusters)[kept], return_inverse=True)[1]
    keys, _, total = _add_up(numbers * len(cells.codes) + places, samples)
    first = np.flatnonzero(np.diff(keys // len(cells.codes), prepend=-1))
    starts = np.append(first, keys.size).astype(np.int64)
    of_clusters = ClusterCells(starts, keys % len(cells.codes), total)
    return cells._replace(clusters=of_clusters)


def _add_up(keys: Ints, samples: Ints) -> tuple[Ints, Ints, Ints]:
    """The different keys, where each stands, and their samples."""
    distinct, places = np.unique(keys, return_inverse=True)
    total = np.zeros(distinct.size, np.int64)
    np.add.at(total, places, samples)
    return distinct, places, total


# Counts as users hand them in: confusion matrices, and counts of two models.


#: A confusion matrix is then 0.5 GB, and a metric takes some of that size.
MOST_CLASSES = 8192


def check_classes_fit(k: int) -> None:
    """Refuse so many classes that they are hardly classes."""
    if k > MOST_CLASSES:
        raise BadValueError(
            f"`y_true` and predictions hold {k} different labels, and metrics take at most "
            f"{MOST_CLASSES} classes: are these labels?"
        )


def read_square(raw: object, name: str, n_axes: int) -> Any:
    """Checked counts of K classes, with leading axes; other shapes are refused."""
    counts = as_counts(raw, name)
    shape = counts.shape[-n_axes:]
    if counts.ndim < n_axes or len(set(shape)) != 1 or 0 in shape:
        expected = ", ".join(["K"] * n_axes)
        raise BadValueError(f"`{name}` must have shape ({expected})", counts.shape)
    if n_axes == 2 and counts.ndim > 2:
        raise BadValueError(f"`{name}` must be one matrix", f"shape {counts.shape}")
    check_total(counts, name, n_axes)
    if not counts.size or not (counts.sum(axis=tuple(range(-n_axes, 0))) > 0).all():
        raise BadValueError(f"`{name}` must hold samples", "none")
    return counts


def read_classes(classes: Classes | None, k: int) -> tuple[Any, ...]:
    """The checked labels of K classes."""
    if classes is None:
        return tuple(range(k))
    check_classes(classes)
    named = tuple(np.asarray(classes, dtype=object).tolist())
    if len(named) != k or len(set(named)) != k:
        raise BadValueError(f"`classes` must name {k} different classes", repr(classes))
    return named


# Labels of one model or two, or what was counted of them, become cells.


_TABLED = 1 << 12  # codes up to which a confusion matrix is counted at once
_BYTE = 1 << 8


class Counted(NamedTuple):
    """Samples in cells, and what a record says of them."""

    cells: Cells
    #: The label of each class.
    classes: tuple[Any, ...]
    n_samples: int
    n_missing: int = 0
    n_excluded: int = 0
    #: Classes that only samples of weight 0 have or are predicted to be: all, and those of
    #: the truth.
    weightless: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ())

    def cells_of(self, classes: tuple[Any, ...]) -> Cells:
        """The cells in another order of classes, which may be more."""
        if classes == self.classes:
            return self.cells
        place = [classes.index(label) for label in self.classes]
        return self.cells.reordered(place, len(classes))


def count_samples(
    y_true: Any,
    models: dict[str, Any],
    *,
    groups: object = None,
    sample_weight: object = None,
    workers: int | None = None,
) -> Counted:
    """Count samples by true class and predictions, and perhaps by cluster."""
    if groups is not None and sample_weight is not None:
        raise BadValueError("pass one of `groups=` and `sample_weight=`")
    plain = groups is None and sample_weight is None
    if plain and len(models) == 2:
        return of_label_table(count_labels(y_true, *models.values(), workers=workers))
    labels = encode(y_true, models, missing=None, least=1)
    dropped = (labels.n_samples, labels.n_missing, labels.n_excluded)
    columns, k = (labels.y_true, *labels.preds), len(labels.classes)
    if k == _BYTE:  # of single bytes, whatever they hold
        k = 1 + max(int(column.max()) for column in columns)
    if plain and k <= _TABLED:
        table = np.zeros((k, k), np.int64)
        kernels.count_agreement(labels.y_true, labels.preds[0], table)
        table, classes = without_empty(table, labels.classes, in_order=True)
        return Counted(cells_of_table(table), classes, *dropped)
    labels = in_order(labels)
    columns, classes = (labels.y_true, *labels.preds), tuple(labels.classes)
    k = len(classes)
    check_classes_fit(k)
    if plain:
        return Counted(Cells(*count_cells(columns, k), k), classes, *dropped)
    if groups is not None:
        n = labels.n_samples if labels.kept is None else labels.kept.size
        item_groups = read_item_groups(
            n, groups=groups, keep=labels.kept, indexed=("y_true", y_true)
        )
        assert item_groups.clusters is not None
        n_clusters = len(item_groups.clusters.labels)
        rows, samples = count_cells([item_groups.clusters.codes, *columns], max(k, n_clusters))
        return Counted(gather_cells(rows[:, 1:], samples, k, rows[:, 0]), classes, *dropped)
    read = SimpleNamespace(positive=labels.y_true, kept=labels.kept, y_true=y_true)
    weights = read_weights(sample_weight, read)
    assert weights is not None
    weights = np.ldexp(weights, -scale_exponent(weights))
    # Weights, and squared weights, by cell.
    keys = np.ravel_multi_index(
        [column.astype(np.int64) for column in columns], (k,) * len(columns)
    )
    kinds, places = np.unique(keys, return_inverse=True)
    codes = np.stack(np.unravel_index(kinds, (k,) * len(columns)), axis=1)
    sums = np.bincount(places, weights, kinds.size)
    squares = np.bincount(places, weights * weights, kinds.size)
    kept = sums > 0
    cells = Cells(codes[kept].astype(np.int64), sums[kept], k, None, np.asarray(squares[kept]))
    # Classes of samples without weight: all, and those of the truth.
    of_all = np.setdiff1d(np.arange(k), cells.codes)
    of_truth = np.setdiff1d(labels.y_true, cells.codes[:, 0])
    weightless = tuple(classes[i] for i in of_all), tuple(classes[i] for i in of_truth)
    return Counted(cells, classes, *dropped, weightless)


def without_empty(
    counts: Ints, classes: Sequence[Any], *, in_order: bool = False
) -> tuple[Ints, tuple[Any, ...]]:
    """Counts ``[true, predicted, ...]`` of the classes that occur, and these."""
    axes = set(range(counts.ndim))
    seen = (np.logical_or.reduce(counts, axis=tuple(axes - {axis})) for axis in axes)
    (used,) = reduce(or_, seen).nonzero()
    places = sorted_codes(classes, used) if in_order else used.tolist()
    if places != list(range(len(counts))):
        counts = np.ascontiguousarray(counts[np.ix_(*[places] * counts.ndim)])
    return counts, tuple(classes[code] for code in places)


def of_label_table(table: LabelTable) -> Counted:
    """The cells of counts of two models."""
    check_classes_fit(len(table.classes))
    *codes, counts = table.nonzero()
    cells = Cells(np.stack(codes, axis=1).astype(np.int64), counts, len(table.classes))
    return Counted(cells, tuple(table.classes), table.n_samples, table.n_missing, table.n_excluded)


def of_array(counts: Ints, classes: Classes | None) -> Counted:
    """The cells of one array of counts, of classes named 0 to K - 1 unless given.

    Of more than two that are not named, a class that never occurs is no class of the data,
    as with labels.
    """
    names = read_classes(classes, len(counts))
    if classes is None and len(counts) > 2:
        counts, names = without_empty(counts, names)
    return Counted(cells_of_table(counts), names, int(counts.sum()))


def of_counts(counts: object, classes: Classes | None) -> tuple[list[Counted], tuple[int, ...]]:
    """Counts of two models, of labels, a stream or arrays, and their leading axes."""
    if isinstance(counts, LabelTable) or are_labelled(counts):
        if classes is not None:
            raise BadValueError(
                "`classes=` are the labels of an array, and these counts have theirs"
            )
        table = counts if isinstance(counts, LabelTable) else counts.label_table()
        return [of_label_table(table)], ()
    tensors = read_square(counts, "counts", 3)
    several = tensors.reshape(-1, *tensors.shape[-3:])
    return [of_array(tensor, classes) for tensor in several], tensors.shape[:-3]


def of_confusion(table: object, classes: Classes | None) -> Counted:
    """Counts of a confusion matrix, from an array or from a stream."""
    if not are_confusions(table):
        return of_array(read_square(table, "table", 2), classes)
    if len(table.names or ()) != 1:
        raise BadValueError(
            f"`table` is of {len(table.names or ())} models",
            remedy=": pass counts.matrix(model) and classes=counts.classes",
        )
    if classes is not None:
        raise BadValueError(
            "`classes` are those of the counts", remedy=": pass `classes=` to ConfusionCounts"
        )
    dropped = (table.n_samples, table.n_missing, table.n_excluded)
    return Counted(cells_of_table(table.matrix(0)), tuple(table.classes), *dropped)
