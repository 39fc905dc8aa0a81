"""Labels of one model or two become cells of counts, with their classes in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.protocols import are_labelled
from fastcmp.core.scaling import scale_exponent
from fastcmp.counts.label_counts import count_cells, count_labels
from fastcmp.counts.label_table import LabelTable
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.label_order import in_order, sorted_codes
from fastcmp.inputs.labels import encode
from fastcmp.inputs.scores import read_weights
from fastcmp.metrics.cells import Cells, cells_of_table, gather_cells
from fastcmp.metrics.tables import check_classes_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.inputs.labels import Labels
    from fastcmp.metrics.choice import Metric

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
