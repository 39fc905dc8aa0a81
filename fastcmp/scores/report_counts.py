"""Confusion matrices of models on the same samples, and pairs with a control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_counts, check_total
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import are_confusions, are_labelled
from fastcmp.core.threads import ThreadPool
from fastcmp.core.typing import Classes
from fastcmp.counts.label_counts import LabelTable, count_cells
from fastcmp.counts.pairs import model_index, places_of
from fastcmp.inputs.labels import encode, in_order, sorted_codes
from fastcmp.inputs.model_names import check_distinct_names, has_names, with_names
from fastcmp.metrics.cells import Cells, cells_of_table, check_classes_fit, read_classes

_FEW = 16  # codes for which tables with empty classes are cheaper than new codes
_TABLED = 1 << 12  # classes up to which a matrix is counted at once
_CUBED = 1 << 7  # the same of the counts of two models
_ONE_NAME = "model"  # of a model without a name, and what an error calls it


class ReportCounts(NamedTuple):
    """Samples of several models by true and predicted class."""

    names: tuple[str, ...]
    #: The label of each class.
    classes: tuple[Any, ...]
    #: Of each model together with the control, which comes second; of the control itself,
    #: and of all without one, of the model alone.
    cells: tuple[Cells, ...]
    control: int | None
    n_samples: int
    n_missing: int = 0
    n_excluded: int = 0

    def arranged(self, classes: Sequence[Any]) -> ReportCounts:
        """Counts with the classes in another order, with more or without those of no sample."""
        if tuple(classes) == self.classes:
            return self
        index = {label: i for i, label in enumerate(classes)}
        place, k = [index.get(label, -1) for label in self.classes], len(classes)
        cells = tuple(model_cells.reordered(place, k) for model_cells in self.cells)
        return self._replace(classes=tuple(classes), cells=cells)

    def without_empty(self) -> ReportCounts:
        """Counts of the classes that are true or predicted, sorted."""
        seen = np.zeros(len(self.classes), bool)
        for model_cells in self.cells:
            seen[model_cells.codes] = True
        used = sorted_codes(self.classes, np.flatnonzero(seen))
        return self.arranged([self.classes[code] for code in used])


def count_models(
    y_true: object, preds: object, names: object, control: object, pool: ThreadPool
) -> ReportCounts:
    """Counts of the predictions of one model, or of several."""
    if _is_one_model(preds):
        named = with_names([preds], names, "preds")
        labels = encode(y_true, {"preds": preds}, missing=None, least=1)
        model_names = tuple(named) if names is not None else (_ONE_NAME,)
    else:
        several = with_names(preds, names, "preds")
        labels = encode(y_true, several, missing=None, least=1)
        model_names = labels.names
    place = _place_of(control, model_names)
    k = 1 + max(int(column.max()) for column in (labels.y_true, *labels.preds))
    if k > _FEW:
        labels = in_order(labels)
        k = len(labels.classes)
    check_classes_fit(k)
    true, columns = labels.y_true, labels.preds
    others = [i for i in range(len(columns)) if i != place]

    def count(i: int) -> Cells:
        if k > (_TABLED if place is None else _CUBED):
            by = () if place is None else (columns[place],)
            return Cells(*count_cells((true, columns[i], *by), k), k)
        if place is None:
            table = np.zeros((k, k), np.int64)
            kernels.count_agreement(true, columns[i], table)
        else:
            table = np.zeros((k, k, k), np.int64)
            kernels.count_labels(true, columns[i], columns[place], table)
        return cells_of_table(table)

    pool.expect(len(others))
    cells = _with_control(dict(pool.answers(count, others)), place)
    dropped = labels.n_samples, labels.n_missing, labels.n_excluded
    counted = ReportCounts(model_names, tuple(labels.classes[:k]), cells, place, *dropped)
    return counted.without_empty()


def _with_control(others: dict[int, Cells], control: int | None) -> tuple[Cells, ...]:
    """Cells of all models in their order, with the control alone out of another one's."""
    if control is not None:
        others[control] = next(iter(others.values())).alone(1)
    return tuple(others[i] for i in sorted(others))


def _is_one_model(preds: Any) -> bool:
    """Whether these are the labels of one model, not of several."""
    if has_names(preds):
        return False
    if isinstance(preds, (list, tuple)):
        return not any(hasattr(x, "__len__") and not isinstance(x, (str, bytes))
                       for x in preds)  # fmt: skip
    return np.ndim(preds if hasattr(preds, "ndim") else np.asarray(preds)) == 1


def _place_of(control: Any, names: tuple[str, ...]) -> int | None:
    """Index of the control among the models."""
    if control is None:
        return None
    if len(names) < 2:
        raise BadValueError("`control=` needs at least 2 models", list(names))
    return model_index(control, names, "control")


def read_report_counts(
    counts: Any, classes: Classes | None, names: Any, control: object
) -> ReportCounts:
    """Counts of a stream, of two models, or of confusion matrices."""
    kind = type(counts).__name__
    of_pairs = isinstance(counts, LabelTable) or are_labelled(counts)
    if not of_pairs and not are_confusions(counts):
        return _of_tables(counts, classes, names, control)
    in_counts = ("a", "b") if isinstance(counts, LabelTable) else counts.names or ()
    model_names, k, m = _named(names, in_counts), len(counts.classes), len(in_counts)
    check_classes_fit(k)
    place, cells = None, tuple[Cells, ...]()
    if of_pairs:
        place = _place_of(control, model_names)
        by = place or 0

        def with_control(i: int) -> Cells:
            if isinstance(counts, LabelTable):
                *codes, sizes = counts.nonzero()
                pair = Cells(np.stack(codes, axis=1).astype(np.int64), sizes, k)
            else:
                (at,) = places_of(np.array([sorted((i, by))]), m).tolist()
                codes, sizes = counts.cells(at)
                pair = Cells(np.asarray(codes, np.int64), np.asarray(sizes), k)
            return pair if i < by else pair.exchanged()

        if m:
            cells = _with_control({i: with_control(i) for i in range(m) if i != by}, by)
        if place is None:
            cells = tuple(x if i == by else x.alone(0) for i, x in enumerate(cells))
    else:
        cells = tuple(cells_of_table(counts.matrix(i)) for i in range(m))
    if classes is not None:
        raise BadValueError(f"`classes=` are those of the {kind} itself")
    if control is not None and not of_pairs:
        raise BadValueError(_no_pairs(kind))
    if not counts.n_samples:
        raise BadValueError("`counts` must hold samples", "none")
    dropped = counts.n_samples, counts.n_missing, counts.n_excluded
    return ReportCounts(model_names, tuple(counts.classes), cells, place, *dropped)


def _no_pairs(kind: str) -> str:
    return (
        "`control=` needs counts of pairs, such as fastcmp.stream.LabelCounts: "
        f"{kind} tells of each model alone"
    )


def _named(names: object, in_counts: Sequence[str]) -> tuple[str, ...]:
    """Models with the names that the user chose."""
    return tuple(with_names(dict.fromkeys(in_counts), names, "counts"))


def _of_tables(raw: object, classes: Any, names: object, control: object) -> ReportCounts:
    """Counts of one confusion matrix, or one of each model, on the same samples."""
    tables = as_counts(raw, "counts")
    if tables.ndim not in (2, 3) or len({0, *tables.shape[-2:]}) != 2:
        raise BadValueError(
            "`counts` must have shape (K, K) or (M, K, K), or be counts of a stream", tables.shape
        )
    check_total(tables, "counts", 2)
    single, tables = tables.ndim == 2, tables.reshape(-1, *tables.shape[-2:])
    sizes = tables.sum(axis=2)
    if not sizes.any():
        raise BadValueError("`counts` must hold samples", "none")
    if (sizes != sizes[0]).any():
        raise BadValueError(
            "`counts` must be of the same samples: the samples of each class differ between models"
        )
    numbered = (_ONE_NAME,) if single else [f"model_{i}" for i in range(len(tables))]
    model_names = _named(names, tuple(numbered))
    check_distinct_names(list(model_names), "names")
    if _place_of(control, model_names) is not None:
        raise BadValueError(_no_pairs("a confusion matrix"))
    labels = read_classes(classes, tables.shape[-1])
    cells = tuple(map(cells_of_table, tables))
    read = ReportCounts(model_names, labels, cells, None, int(sizes[0].sum()))
    return read if classes is not None else read.without_empty()
