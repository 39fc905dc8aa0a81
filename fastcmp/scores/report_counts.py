"""Confusion matrices of models on the same samples, and pairs with a control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_counts, check_total
from fastcmp.core.records import are_confusions, are_labelled
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.label_counts import LabelTable, count_cells
from fastcmp.counts.pairs import model_index, places_of
from fastcmp.inputs.labels import Labels, encode, in_order, sorted_codes
from fastcmp.inputs.model_names import check_distinct_names, has_names, with_names
from fastcmp.metrics.cells import Cells, cells_of_table, check_classes_fit, read_classes

Ints = NDArray[np.int64]

_FEW = 16  # codes for which tables with empty classes are cheaper than new codes
_TABLED = 1 << 12  # classes up to which a matrix is counted at once
_CUBED = 1 << 7  # the same of the counts of two models
_ONE_NAME = "model"  # of a model without a name, and what an error calls it


class ReportCounts(NamedTuple):
    """Samples of several models by true and predicted class."""

    names: tuple[str, ...]
    #: The label of each class.
    classes: tuple[Any, ...]
    #: Of each model alone.
    cells: tuple[Cells, ...]
    #: Of each model together with the control, which comes second; None for the control
    #: itself, and no entries without one.
    pairs: tuple[Cells | None, ...]
    control: int | None
    n_samples: int
    n_missing: int = 0
    n_excluded: int = 0

    def arranged(self, classes: Sequence[Any]) -> ReportCounts:
        """Put the classes in another order, perhaps with more of them."""
        if tuple(classes) == self.classes:
            return self
        index = {label: i for i, label in enumerate(classes)}
        place, k = [index[label] for label in self.classes], len(classes)
        return self._replace(
            classes=tuple(classes),
            cells=tuple(cells.reordered(place, k) for cells in self.cells),
            pairs=tuple(None if pair is None else pair.reordered(place, k) for pair in self.pairs),
        )


def count_models(
    y_true: Any, preds: Any, names: Any, control: Any, pool: ThreadPool
) -> ReportCounts:
    """Count the predictions of one model, or of several."""
    if is_one_model(preds):
        named = with_names([preds], names, "preds")
        labels = encode(y_true, {"preds": preds}, missing=None, least=1)
        chosen = tuple(named) if names is not None else (_ONE_NAME,)
    else:
        several = with_names(preds, names, "preds")
        labels = encode(y_true, several, missing=None, least=1)
        chosen = labels.names
    place = _place_of(control, chosen)
    columns = (labels.y_true, *labels.preds)
    k = 1 + max(int(column.max()) for column in columns)
    if k > _FEW:
        labels = in_order(labels)
        k = len(labels.classes)
    check_classes_fit(k)
    cells, pairs = _counted(labels, k, place, pool)
    found = ReportCounts(
        chosen,
        tuple(labels.classes[:k]),
        cells,
        pairs,
        place,
        labels.n_samples,
        labels.n_missing,
        labels.n_excluded,
    )
    return _without_empty(found)


def is_one_model(preds: Any) -> bool:
    """Tell the labels of one model from those of several."""
    if has_names(preds):
        return False
    if isinstance(preds, (list, tuple)):
        return not any(hasattr(x, "__len__") and not isinstance(x, (str, bytes))
                       for x in preds)  # fmt: skip
    return np.ndim(preds if hasattr(preds, "ndim") else np.asarray(preds)) == 1


def _place_of(control: Any, names: tuple[str, ...]) -> int | None:
    """Find the control among the models."""
    if control is None:
        return None
    if len(names) < 2:
        raise ValueError(f"control= needs at least 2 models, got {list(names)}")
    return model_index(control, names, "control")


def _counted(
    labels: Labels, k: int, control: int | None, pool: ThreadPool
) -> tuple[tuple[Cells, ...], tuple[Cells | None, ...]]:
    """Count each model; with a control from its counts together with it."""
    true, preds = labels.y_true, labels.preds
    places = range(len(preds))
    pool.expect(len(preds) - (control is not None))
    if control is None:
        alone = dict(pool.answers(lambda i: _count_one(true, preds[i], k), places))
        return tuple(alone[i] for i in places), ()
    by, others = preds[control], [i for i in places if i != control]
    both = dict(pool.answers(lambda i: _count_two(true, preds[i], by, k), others))
    pairs = tuple(both.get(i) for i in places)
    return _alone(pairs), pairs


def _count_one(true: NDArray[Any], pred: NDArray[Any], k: int) -> Cells:
    if k > _TABLED:
        return Cells(*count_cells((true, pred), k), k)
    table = np.zeros((k, k), np.int64)
    kernels.count_agreement(true, pred, table)
    return cells_of_table(table)


def _count_two(true: NDArray[Any], pred: NDArray[Any], by: NDArray[Any], k: int) -> Cells:
    if k > _CUBED:
        return Cells(*count_cells((true, pred, by), k), k)
    table = np.zeros((k, k, k), np.int64)
    kernels.count_labels(true, pred, by, table)
    return cells_of_table(table)


def _alone(pairs: Sequence[Cells | None]) -> tuple[Cells, ...]:
    """Take each model by itself out of its counts together with the control."""
    others = [pair for pair in pairs if pair is not None]
    return tuple(others[0].alone(1) if pair is None else pair.alone(0) for pair in pairs)


def _without_empty(found: ReportCounts) -> ReportCounts:
    """Leave out classes that are neither true nor predicted, and sort the others."""
    k = len(found.classes)
    seen = np.zeros(k, bool)
    for cells in found.cells:
        seen[cells.codes] = True
    used = sorted_codes(found.classes, np.flatnonzero(seen))
    if used == list(range(k)):
        return found
    index = {code: i for i, code in enumerate(used)}
    place = [index.get(code, -1) for code in range(k)]
    move: Callable[[Cells], Cells] = lambda x: x.reordered(place, len(used))  # noqa: E731
    return found._replace(
        classes=tuple(found.classes[code] for code in used),
        cells=tuple(map(move, found.cells)),
        pairs=tuple(None if pair is None else move(pair) for pair in found.pairs),
    )


def read_report_counts(counts: Any, classes: Any, names: Any, control: Any) -> ReportCounts:
    """Take counts of a stream, of two models, or confusion matrices."""
    if isinstance(counts, LabelTable) or are_labelled(counts):
        found = _of_pairs(counts, names, control)
    elif are_confusions(counts):
        found = _of_confusions(counts, names)
    else:
        return _of_tables(counts, classes, names, control)
    if classes is not None:
        raise ValueError(f"classes= are those of the {type(counts).__name__} itself")
    if control is not None and not found.pairs:
        raise ValueError(_no_pairs(type(counts).__name__))
    if not found.n_samples:
        raise ValueError("counts must hold samples, got none")
    return found


def _no_pairs(kind: str) -> str:
    return (
        "control= needs counts of pairs, such as fastcmp.stream.LabelCounts: "
        f"{kind} tells of each model alone"
    )


def _named(names: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Models with the names that the user chose."""
    return tuple(with_names(dict.fromkeys(known), names, "counts"))


def _of_pairs(counts: Any, names: Any, control: Any) -> ReportCounts:
    """Take a `LabelTable`, or counts of a stream by pairs of models."""
    if isinstance(counts, LabelTable):
        known: tuple[str, ...] = ("a", "b")
        *codes, sizes = counts.nonzero()
        pairs = [(np.stack(codes, axis=1), sizes)]
    else:
        known = counts.names or ()
        pairs = None
    chosen, k = _named(names, known), len(counts.classes)
    check_classes_fit(k)
    place = _place_of(control, chosen)
    by, m = place or 0, len(known)

    def with_control(i: int) -> Cells | None:
        if i == by:
            return None
        (at,) = places_of(np.array([sorted((i, by))]), m).tolist()
        cells, own = counts.cells(at) if pairs is None else pairs[at]
        cells = np.asarray(cells, np.int64)
        pair = Cells(cells, np.asarray(own), k)
        return pair if i < by else pair.exchanged()

    made = tuple(with_control(i) for i in range(m))
    return ReportCounts(
        chosen,
        tuple(counts.classes),
        _alone(made) if m else (),
        made if place is not None else (),
        place,
        counts.n_samples,
        counts.n_missing,
        counts.n_excluded,
    )


def _of_confusions(counts: Any, names: Any) -> ReportCounts:
    """Take confusion matrices of a stream."""
    known = counts.names or ()
    check_classes_fit(len(counts.classes))
    return ReportCounts(
        _named(names, known),
        tuple(counts.classes),
        tuple(cells_of_table(counts.matrix(i)) for i in range(len(known))),
        (),
        None,
        counts.n_samples,
        counts.n_missing,
        counts.n_excluded,
    )


def _of_tables(raw: Any, classes: Any, names: Any, control: Any) -> ReportCounts:
    """Take one confusion matrix, or one of each model, on the same samples."""
    tables = as_counts(raw, "counts")
    if tables.ndim not in (2, 3) or len({0, *tables.shape[-2:]}) != 2:
        raise ValueError(
            "counts must have shape (K, K) or (M, K, K), or be counts of a stream, got "
            f"{tables.shape}"
        )
    check_total(tables, "counts", 2)
    single, tables = tables.ndim == 2, tables.reshape(-1, *tables.shape[-2:])
    sizes = tables.sum(axis=2)
    if not sizes.any():
        raise ValueError("counts must hold samples, got none")
    if (sizes != sizes[0]).any():
        raise ValueError(
            "counts must be of the same samples: the samples of each class differ between models"
        )
    known = (_ONE_NAME,) if single else [f"model_{i}" for i in range(len(tables))]
    chosen = _named(names, tuple(known))
    check_distinct_names(list(chosen), "names")
    if _place_of(control, chosen) is not None:
        raise ValueError(_no_pairs("a confusion matrix"))
    labels = read_classes(classes, tables.shape[-1])
    cells = tuple(map(cells_of_table, tables))
    found = ReportCounts(chosen, labels, cells, (), None, int(sizes[0].sum()))
    return found if classes is not None else _without_empty(found)
