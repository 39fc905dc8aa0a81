"""Samples in cells: by true class and what one model, or two, predicted."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    as_counts,
    as_numbers,
    as_proportion,
    check_classes,
    check_total,
    choose,
)
from fastcmp.core.numbers import scale_exponent
from fastcmp.core.records import are_labelled
from fastcmp.counts.label_counts import LabelTable, count_cells, count_labels
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.cost_matrix import read_cost
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.labels import Labels, encode, in_order, sorted_codes
from fastcmp.inputs.scores import read_weights
from fastcmp.kernels.count_draws import cell_tables

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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

    def table(self, model: int = 0) -> Floats:
        """Make the confusion matrix of a model, (K, K)."""
        k = self.n_classes
        flat = self.codes[:, 0] * k + self.codes[:, 1 + model]
        weights = self.counts.astype(np.float64)
        return np.asarray(np.bincount(flat, weights, k * k).reshape(k, k))

    def tables(self, draws: Floats, out: Floats | None = None) -> Floats:
        """Make the confusion matrices of draws (R, S): (R, M, K, K)."""
        if out is None:
            shape = len(draws), self.n_models, self.n_classes, self.n_classes
            out = np.empty(shape)
        cell_tables(self.codes, draws, out)
        return out

    def as_drawn(self) -> Drawn:
        """The data as one draw."""
        draws = self.counts[np.newaxis].astype(np.float64)
        times = None if self.clusters is None else np.ones((1, self.clusters.n))
        return Drawn(draws, self.tables(draws), times)

    def pick(self, values: Floats) -> Floats:
        """Take from (R, M, K, K) what belongs to each cell, of a minus b: (R, S)."""
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
        """Take one model of two by itself."""
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
        if self.clusters is not None:
            starts, places, samples = self.clusters
            sums = np.add.reduceat(samples * u[places], starts[:-1])
            c = self.clusters.n
            return float(sums @ sums) / self.n**2 * c / max(c - 1, 1)
        if within_classes:
            t, k = self.codes[:, 0], self.n_classes
            sizes = np.bincount(t, self.counts, k)
            sums = np.bincount(t, self.counts * u, k)
            u = u - np.divide(sums, sizes, out=np.zeros(k), where=sizes > 0)[t]
        weights = self.counts if self.squares is None else self.squares
        return float(weights @ (u * u)) / self.n**2


def cells_of_table(table: NDArray[Any]) -> Cells:
    """List the cells of a confusion matrix, or of counts [true, a, b]."""
    places = np.nonzero(table)
    return Cells(np.stack(places, axis=1), table[places], len(table))


def gather_cells(
    codes: ArrayLike, counts: ArrayLike, n_classes: int, clusters: ArrayLike | None = None
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
    own = ClusterCells(starts, keys % len(cells.codes), total)
    return cells._replace(clusters=own)


def _add_up(keys: Ints, samples: Ints) -> tuple[Ints, Ints, Ints]:
    """The different keys, where each stands, and their samples."""
    found, places = np.unique(keys, return_inverse=True)
    total = np.zeros(found.size, np.int64)
    np.add.at(total, places, samples)
    return found, places, total


# Counts as users hand them in: confusion matrices, and counts of two models.


#: A confusion matrix is then 0.5 GB, and a metric takes some of that size.
MOST_CLASSES = 8192


def check_classes_fit(k: int) -> None:
    """Refuse so many classes that they are hardly classes."""
    if k > MOST_CLASSES:
        raise ValueError(
            f"y_true and predictions hold {k} different labels, and metrics take at "
            f"most {MOST_CLASSES} classes: are these labels?"
        )


def read_square(raw: Any, name: str, n_axes: int) -> Any:
    """Read counts of K classes, with leading axes; refuse other shapes."""
    counts = as_counts(raw, name)
    shape = counts.shape[-n_axes:]
    if counts.ndim < n_axes or len(set(shape)) != 1 or 0 in shape:
        wanted = ", ".join(["K"] * n_axes)
        raise ValueError(f"{name} must have shape ({wanted}), got {counts.shape}")
    if n_axes == 2 and counts.ndim > 2:
        raise ValueError(f"{name} must be one matrix, got shape {counts.shape}")
    check_total(counts, name, n_axes)
    if not counts.size or not (counts.sum(axis=tuple(range(-n_axes, 0))) > 0).all():
        raise ValueError(f"{name} must hold samples, got none")
    return counts


def read_classes(classes: Sequence[Any] | None, k: int) -> tuple[Any, ...]:
    """Read the labels of K classes."""
    if classes is None:
        return tuple(range(k))
    check_classes(classes)
    named = tuple(np.asarray(classes, dtype=object).tolist())
    if len(named) != k or len(set(named)) != k:
        raise ValueError(f"classes must name {k} different classes, got {classes!r}")
    return named


# Labels of one model or two become cells of counts, with their classes in order.


_TABLED = 1 << 12  # codes up to which a confusion matrix is counted at once


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

    def averaging(self, metric: Metric) -> Metric:
        """Average over classes without any weight too, as scikit-learn does."""
        if not isinstance(metric.labels, str) or metric.average not in ("macro", "weighted"):
            return metric
        of_truth = metric.labels == "truth"
        if not self.weightless[of_truth]:
            return metric
        table = self.cells.table().sum(axis=1)
        known = [x for x, n in zip(self.classes, table, strict=True) if n > 0 or not of_truth]
        return replace(metric, labels=tuple(dict.fromkeys((*known, *self.weightless[of_truth]))))


class _Weighted(NamedTuple):
    """What `read_weights` asks for."""

    positive: NDArray[Any]
    kept: NDArray[np.bool_] | None
    y_true: Any


def count_samples(
    y_true: Any,
    models: dict[str, Any],
    *,
    groups: Any = None,
    sample_weight: Any = None,
    workers: int | None = None,
) -> Counted:
    """Count samples by true class and predictions, and perhaps by cluster."""
    if groups is not None and sample_weight is not None:
        raise ValueError("pass one of groups= and sample_weight=")
    if groups is None and sample_weight is None and len(models) == 2:
        return of_label_table(count_labels(y_true, *models.values(), workers=workers))
    labels = encode(y_true, models, missing=None, least=1)
    dropped = (labels.n_samples, labels.n_missing, labels.n_excluded)
    if groups is None and sample_weight is None:
        table, classes = _confusion(labels)
        return Counted(cells_of_table(table), classes, *dropped)
    labels = in_order(labels)
    codes = [labels.y_true, *labels.preds]
    classes, k = tuple(labels.classes), len(labels.classes)
    check_classes_fit(k)
    if sample_weight is not None:
        read = _Weighted(labels.y_true, labels.kept, y_true)
        weights = read_weights(sample_weight, read)
        assert weights is not None
        weights = np.ldexp(weights, -scale_exponent(weights))
        cells = _weigh(codes, weights, k)
        columns = [column[weights > 0] for column in codes]
        some = set(np.unique(np.concatenate(columns)).tolist())
        true = set(np.unique(columns[0]).tolist())
        seen = np.unique(codes[0]).tolist()
        weightless = (
            tuple(classes[code] for code in range(k) if code not in some),
            tuple(classes[code] for code in seen if code not in true),
        )
        return Counted(cells, classes, *dropped, weightless)
    n = labels.n_samples if labels.kept is None else labels.kept.size
    found = read_item_groups(n, groups=groups, keep=labels.kept, indexed=("y_true", y_true))
    assert found.clusters is not None
    n_clusters = len(found.clusters.labels)
    rows, samples = count_cells([found.clusters.codes, *codes], max(k, n_clusters))
    cells = gather_cells(rows[:, 1:], samples, k, rows[:, 0])
    return Counted(cells, classes, *dropped)


def _confusion(labels: Labels) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Count the confusion matrix of one model, of the classes that occur."""
    columns = labels.y_true, labels.preds[0]
    names, k = labels.classes, 1 + max(int(column.max()) for column in columns)
    if k > _TABLED:
        labels = in_order(labels)
        columns, names = (labels.y_true, labels.preds[0]), labels.classes
        k = len(names)
        check_classes_fit(k)
    table = np.zeros((k, k), np.int64)
    kernels.count_agreement(*columns, table)
    used = sorted_codes(names, np.flatnonzero(table.any(axis=0) | table.any(axis=1)))
    if used != list(range(k)):
        table = np.ascontiguousarray(table[np.ix_(used, used)])
    return table, tuple(names[code] for code in used)


def _weigh(codes: Sequence[NDArray[Any]], weights: NDArray[np.float64], k: int) -> Cells:
    """Add up weights, and squared weights, by cell."""
    keys = codes[0].astype(np.int64)
    for column in codes[1:]:
        keys = keys * k + column
    kinds, places = np.unique(keys, return_inverse=True)
    cells = np.stack(np.unravel_index(kinds, (k,) * len(codes)), axis=1)
    sums = np.bincount(places, weights, kinds.size)
    squares = np.bincount(places, weights * weights, kinds.size)
    kept = sums > 0
    return Cells(cells[kept].astype(np.int64), sums[kept], k, None, np.asarray(squares[kept]))


def of_label_table(table: LabelTable) -> Counted:
    """Take the cells of counts of two models."""
    check_classes_fit(len(table.classes))
    *codes, counts = table.nonzero()
    cells = Cells(np.stack(codes, axis=1).astype(np.int64), counts, len(table.classes))
    dropped = (table.n_samples, table.n_missing, table.n_excluded)
    return Counted(cells, tuple(table.classes), *dropped)


def read_label_table(counts: Any) -> LabelTable | None:
    """Take a `LabelTable`, or counts of a stream of two models; None for an array."""
    if isinstance(counts, LabelTable):
        return counts
    if are_labelled(counts):
        table = counts.label_table()
        assert isinstance(table, LabelTable)
        return table
    return None


def arranged(counted: Counted, classes: tuple[Any, ...]) -> Cells:
    """Put the cells in another order of classes, which may be more."""
    if classes == counted.classes:
        return counted.cells
    place = [classes.index(label) for label in counted.classes]
    return counted.cells.reordered(place, len(classes))


# Proportions of classes that a user names.


_ROUNDING = 1e-9


def check_prevalence(raw: Any) -> Any:
    """Check what can be checked before the classes are known."""
    if isinstance(raw, Real):
        return as_proportion(raw, "prevalence")
    if raw is not None and not isinstance(raw, Mapping):
        as_numbers(raw, "prevalence")
    return raw


def read_prevalences(raw: Any, classes: Sequence[Any], positive: Any = None) -> NDArray[np.float64]:
    """Read the proportion of each class; of two perhaps that of the positive one."""
    k = len(classes)
    if isinstance(raw, Real):
        proportion = as_proportion(raw, "prevalence")
        if k != 2:
            raise ValueError(f"prevalence must name {k} proportions, one a class, got {raw}")
        label, _ = positive_label(list(classes), positive)
        proportions = np.full(2, 1.0 - proportion)
        proportions[list(classes).index(label)] = proportion
        return proportions
    if isinstance(raw, Mapping):
        if unknown := [label for label in raw if label not in classes]:
            raise ValueError(f"prevalence names {unknown[:5]}, not among {list(classes)[:10]}")
        raw = [raw.get(label, 0.0) for label in classes]
    proportions = as_numbers(raw, "prevalence").astype(np.float64)
    if proportions.shape != (k,):
        raise ValueError(f"prevalence must have shape ({k},), got {proportions.shape}")
    if not (np.isfinite(proportions) & (proportions >= 0)).all() or not (
        abs(proportions.sum() - 1.0) <= _ROUNDING
    ):
        raise ValueError(f"prevalence must be proportions that add up to 1, got {raw!r}")
    return proportions


# What disagreements count: costs, and the weights of kappa.


_POWERS = {"kappa_linear": 1.0, "kappa_quadratic": 2.0}


def choose_penalties(name: str, spelled: str, cost: Any, weights: Any) -> tuple[str, Any]:
    """Check costs, or the weights of kappa; give the metric's name, and a matrix."""
    if weights is not None and name != "kappa":
        raise ValueError(f"weights are for metric 'kappa', got {name!r}")
    if cost is not None and name != "cost":
        raise ValueError(f"cost is for metric 'cost', got {name!r}")
    if spelled == "weighted_kappa" and weights is None:
        raise ValueError(
            "metric 'weighted_kappa' needs weights: take kappa_linear or kappa_quadratic"
        )
    if name == "cost" and cost is None:
        raise ValueError("metric 'cost' needs cost=, the matrix of costs")
    if isinstance(weights, str):
        return f"kappa_{choose(weights, 'weights', ('linear', 'quadratic'))}", None
    matrix = cost if weights is None else weights
    if matrix is not None:
        with _naming(name):
            read = read_cost(matrix)
        if read.classes is None:
            matrix = read.values  # a copy
    return name, matrix


def penalties_of(name: str, matrix: Any, classes: Sequence[Any]) -> NDArray[np.float64]:
    """Tell what each disagreement counts; empty where all count alike."""
    if name in _POWERS:
        places = np.arange(float(len(classes)))
        apart = np.abs(np.subtract.outer(places, places))
        return np.asarray(apart ** _POWERS[name])
    if matrix is None:
        return np.empty((0, 0))
    with _naming(name):
        return read_cost(matrix, classes).values


@contextmanager
def _naming(name: str) -> Generator[None, None, None]:
    """Say of weights of kappa what would be said of costs."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if name == "cost":
            raise
        raise type(error)(
            f"{str(error).replace('cost', 'weights')} (weights say what a disagreement "
            "counts, and are 0 on the diagonal)"
        ) from None
