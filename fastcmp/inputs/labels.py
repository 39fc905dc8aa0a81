"""Labels of any type become codes that all columns share, or an error.

Whole numbers in range pass through as they are; everything else is factorized once a
column, and only the distinct labels are compared in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_classes, choose
from fastcmp.inputs.columns import Column, check_kinds, hashable, read_column
from fastcmp.inputs.label_checks import check_chosen, check_predictions, refuse_scores
from fastcmp.inputs.model_names import check_indexes, named_columns, refuse_truth

_MISSING_RULES = ("raise", "wrong")


@dataclass(slots=True, kw_only=True)
class Labels:
    """True and predicted labels as codes of one type: equal codes are equal labels."""

    #: True codes, shape (n,).
    y_true: NDArray[Any]
    #: Predicted codes of each model, M arrays of shape (n,).
    preds: tuple[NDArray[Any], ...]
    #: Names of the models.
    names: tuple[str, ...]
    #: Codes are below this number.
    n_codes: int
    #: The label of each code; one less than `n_codes` where the last is none of them.
    classes: Sequence[Any]
    #: Samples dropped because the true label is missing.
    n_missing: int
    #: Samples dropped because the true label is not among the chosen classes.
    n_excluded: int
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, classes were chosen, or a block of a stream was read.
    n_outside: tuple[int, ...] = ()
    #: Which of the samples that were given are compared; None for all.
    kept: NDArray[np.bool_] | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples that are compared."""
        return int(self.y_true.size)


def encode(
    y_true: Any,
    preds: Any,
    *,
    classes: Sequence[Any] | None = None,
    missing: str | None = "raise",
    truth: str = "y_true",
    least: int = 2,
) -> Labels:
    """Encode true and predicted labels with shared codes.

    Samples without a true label are dropped and counted, and so are those of other
    classes than `classes`. With ``missing=None`` a prediction outside `classes` is
    refused: what is counted needs a class. `least` is how many samples, and models,
    there must be; 0 for a block of a stream, of which only what is certain is refused.
    """
    if missing is not None:
        missing = choose(missing, "missing", _MISSING_RULES)
    names, true, models, kept = _read(y_true, preds, truth, least)
    n_missing = 0 if kept is None else kept.size - len(true)
    columns = [true, *models]
    plain = _as_shared_integers(columns) if classes is None else None
    if plain is None:  # whole numbers are of one kind, and none is missing
        if classes is None and (least or not _may_hold_floats(y_true)):
            refuse_scores(true, models)
        _check_kinds(columns, classes)
        if classes is not None and missing is not None:
            refuse_scores(true, models, classes)
        if missing != "wrong":
            rows = None if kept is None else np.flatnonzero(kept)
            _refuse_missing(models, rows, way_out=missing == "raise")
    codes, distinct = plain or _share(columns, classes)
    n_codes, n_excluded = len(distinct), 0
    if plain is None:
        inside = codes[0] < n_codes
        n_excluded = int(inside.size - np.count_nonzero(inside))
        if missing is None:
            _refuse_outside(models, codes[1:], inside, n_codes)
        if n_excluded:
            codes = [column[inside] for column in codes]
            kept = _narrowed(kept, inside)
        n_codes += 1
    n_outside: tuple[int, ...] = ()
    if least:
        check_enough(true.name, codes[0].size, n_missing + n_excluded)
        if classes is None:
            n_outside = check_predictions(true, models, codes, distinct)
        else:
            check_chosen(true, models, codes[1:], len(distinct))
    return Labels(
        y_true=codes[0],
        preds=tuple(codes[1:]),
        names=names,
        n_codes=n_codes,
        classes=distinct,
        n_missing=n_missing,
        n_excluded=n_excluded,
        n_outside=n_outside,
        kept=kept,
    )


def _narrowed(kept: NDArray[np.bool_] | None, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep of the samples that were kept only those inside."""
    if kept is None:
        return inside
    narrowed = kept.copy()
    narrowed[kept] = inside
    return narrowed


def _read(
    y_true: Any, preds: Any, truth: str, least: int
) -> tuple[tuple[str, ...], Column, list[Column], NDArray[np.bool_] | None]:
    """Read all columns, named; where true labels are missing, which rows are kept."""
    named = named_columns(preds, "preds")
    true = read_column(y_true, truth)
    if len(named) < least:
        raise ValueError(f"preds must hold at least {least} models, got {len(named)}")
    models = [read_column(raw, name) for name, raw in named]
    _check_lengths(true, models)
    refuse_truth(y_true, preds, named, truth)
    check_indexes([(truth, y_true), *named])
    names = tuple(name for name, _ in named)
    if (absent := true.missing()) is None:
        return names, true, models, None
    kept = ~absent
    return names, true.take(kept), [model.take(kept) for model in models], kept


def encode_predictions(
    pred_a: Any, pred_b: Any, *, classes: Sequence[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Encode what two models predicted, without true labels.

    Codes are below the number that comes with them, and in the order of `classes` where
    it is given; samples with a prediction outside `classes` are left out.
    """
    columns = [read_column(pred_a, "pred_a"), read_column(pred_b, "pred_b")]
    _check_lengths(columns[0], columns[1:])
    check_indexes([("pred_a", pred_a), ("pred_b", pred_b)])
    _check_kinds(columns, classes)
    _refuse_missing(columns, None, way_out=True)
    plain = _as_shared_integers(columns) if classes is None else None
    (a, b), distinct = plain or _share(columns, classes)
    inside = (a < len(distinct)) & (b < len(distinct))
    kept = int(np.count_nonzero(inside))
    check_enough("pred_a", kept, len(columns[0]) - kept)
    return a[inside], b[inside], len(distinct)


def _may_hold_floats(raw: Any) -> bool:
    """Tell whether other blocks of the same truth may hold fractions."""
    kind = str(getattr(raw, "dtype", getattr(raw, "type", "float"))).lower()
    return any(x in kind for x in ("float", "double", "decimal", "object", "null"))


def _check_lengths(truth: Column, models: list[Column]) -> None:
    n = len(truth)
    wrong = next((model for model in models if len(model) != n), None)
    if wrong is None:
        return
    message = f"{wrong.name} has {len(wrong)} labels, {truth.name} has {n}"
    if len(models) == n and all(len(model) == len(wrong) for model in models):
        message += "; models come first: pass preds.T"
    raise ValueError(message)


def check_enough(name: str, n: int, n_dropped: int) -> None:
    """Refuse fewer than two samples."""
    if n < 2:
        what = "sample" if n == 1 else "samples"
        left = f" after {n_dropped} were dropped" if n_dropped else ""
        raise ValueError(f"{name} must hold at least 2 samples, got {n} {what}{left}")


def _check_kinds(columns: list[Column], classes: Sequence[Any] | None) -> None:
    check_kinds(columns)
    if classes is not None:
        check_classes(classes)
        kind, wanted = read_column(list(classes), "classes").kind(), columns[0].kind()
        if kind != wanted and "" not in (kind, wanted):
            raise TypeError(f"classes holds {kind} labels and {columns[0].name} {wanted} labels")


def _refuse_missing(models: list[Column], rows: NDArray[Any] | None, *, way_out: bool) -> None:
    for model in models:
        absent = model.missing()
        if absent is not None:
            row = int(np.flatnonzero(absent)[0])
            row = row if rows is None else int(rows[row])
            message = (
                f"{model.name} has no prediction at row {row} "
                f"({np.count_nonzero(absent)} missing in all)"
            )
            if way_out:
                message += (
                    "; pass missing='wrong' to count a missing prediction as an error of the model"
                )
            raise ValueError(message)


def _refuse_outside(
    models: list[Column], codes: list[NDArray[Any]], inside: NDArray[np.bool_], n_codes: int
) -> None:
    for model, own in zip(models, codes, strict=True):
        outside = np.flatnonzero(inside & (own == n_codes))
        if outside.size:
            found = model.factorized()
            label = found.distinct[found.positions()[outside[0]]]
            raise ValueError(
                f"{model.name} predicts {label!r}, which is not among the classes "
                f"({outside.size} such predictions)"
            )


def _as_shared_integers(columns: list[Column]) -> tuple[list[NDArray[Any]], Sequence[Any]] | None:
    """Use whole numbers as their own codes: no sort, and no copy of single bytes.

    None where a column holds something else.
    """
    arrays = [column.integers for column in columns if column.integers is not None]
    if len(arrays) < len(columns):
        return None
    types = {array.dtype.char for array in arrays}
    if types <= {"B", "?"}:
        single = [np.ascontiguousarray(array).view(np.uint8) for array in arrays]
        return single, (False, True, *range(2, 256)) if types == {"?"} else range(256)
    low, high, codes = 0, 0, []
    for array in arrays:  # read without their signs, negative numbers are the largest
        unsigned = array.view(array.dtype.str.replace("i", "u"))
        top = int(np.maximum.reduce(unsigned, initial=0))
        low, high = min(low, -(top >> (8 * array.itemsize - 1))), max(high, top)
        codes.append(array.astype(code_type(top + 1), order="C"))  # while it is in the cache
    if low < 0:
        sized = [array for array in arrays if array.size]
        low = min(0, *(int(array.min()) for array in sized))
        high = max(int(array.max()) for array in sized)
    n_codes = high - low + 1
    if n_codes > np.iinfo(np.int32).max:
        return None
    dtype = code_type(n_codes)
    if low < 0:
        codes = [array.astype(np.int64) - low for array in arrays]
    return [array.astype(dtype, copy=False) for array in codes], range(low, high + 1)


def code_type(n_codes: int) -> type[np.uint8 | np.uint16 | np.int32]:
    """Choose the smallest type of codes: uint8, uint16 or int32."""
    if n_codes <= 256:
        return np.uint8
    return np.uint16 if n_codes <= 65536 else np.int32


def _share(
    columns: list[Column], classes: Sequence[Any] | None
) -> tuple[list[NDArray[Any]], Sequence[Any]]:
    """Give equal labels equal codes; one more is for what is missing or left out."""
    index: dict[Any, int] = {}
    labels: dict[Any, Any] = {}  # as they were given
    if classes is not None:
        for key, label in zip(hashable(classes), classes, strict=True):
            if key in index:
                raise ValueError(f"classes must differ, got {label!r} twice")
            index[key], labels[key] = len(index), label
        if len(index) < 2:
            raise ValueError(f"classes must name at least 2 classes, got {list(classes)}")
        arrays = [column.integers for column in columns if column.integers is not None]
        if len(arrays) == len(columns) and len(index) < 256:
            single = [array for array in arrays if array.dtype in (np.uint8, np.bool_)]
            if len(single) == len(columns):
                return _translate(single, index), tuple(index)
    coded = []
    for column in (column.factorized() for column in columns):
        keys = hashable(column.distinct)
        if classes is None:
            places = [index.setdefault(key, len(index)) for key in keys]
            for key, label in zip(keys, column.distinct, strict=True):
                labels.setdefault(key, label)
        else:
            places = [index.get(key, -1) for key in keys]
        # The last entry is what code -1 finds.
        lookup = np.array([*places, -1], np.int64)
        coded.append(lookup[column.positions()])
    return _compact(coded, len(index)), tuple(labels.values())


def _translate(arrays: list[NDArray[Any]], index: dict[Any, int]) -> list[NDArray[np.uint8]]:
    """Look single bytes up in a table: six times as fast as to index an array."""
    table = bytes(index.get(label, len(index)) for label in range(256))
    single = [np.ascontiguousarray(array).view(np.uint8) for array in arrays]
    return [np.frombuffer(bytearray(x).translate(table), np.uint8) for x in single]


def _compact(codes: list[NDArray[Any]], n_codes: int) -> list[NDArray[Any]]:
    """Store codes in the smallest type, with n_codes itself for 'none of them'."""
    dtype = code_type(n_codes + 1)
    return [np.where(column < 0, n_codes, column).astype(dtype) for column in codes]


# Classes in the order of their labels, without those that never occur.


_MARKS = 1 << 24  # codes up to which those in use are marked, not sorted


def sorted_codes(classes: Sequence[Any], codes: NDArray[np.int64]) -> list[int]:
    """Sort codes by their labels, where these have an order."""
    listed: list[int] = codes.tolist()
    try:
        return sorted(listed, key=classes.__getitem__)
    except TypeError:
        return listed


def in_order(labels: Labels) -> Labels:
    """Leave out classes that never occur, and sort the others."""
    columns = (labels.y_true, *labels.preds)
    names: Sequence[Any] = labels.classes
    if len(names) > _MARKS:
        seen, codes = np.unique(np.stack(columns), return_inverse=True)
        columns = tuple(codes.reshape(len(columns), -1))
        names = [names[code] for code in seen.tolist()]
    marks = np.zeros(len(names) + 1, bool)
    for column in columns:
        marks[column] = True
    used = sorted_codes(names, np.flatnonzero(marks))
    place = np.zeros(len(names) + 1, code_type(len(used)))
    place[used] = np.arange(len(used))
    y_true, *preds = (place[column] for column in columns)
    return replace(
        labels,
        y_true=y_true,
        preds=tuple(preds),
        n_codes=len(used),
        classes=[names[code] for code in used],
    )
