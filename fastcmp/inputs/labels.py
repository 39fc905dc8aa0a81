"""Labels of any type become codes that all columns share, or an error.

Whole numbers in range pass through as they are; everything else is factorized once a
column, and only the distinct labels are compared in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_classes, check_size, choose, warn
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.sentences import MUCH_OUTSIDE
from fastcmp.core.typing import Classes, Flags, Ints
from fastcmp.inputs.columns import (
    Column,
    ascending,
    check_kinds,
    hashable,
    kind_of,
    listed,
    read_column,
)
from fastcmp.inputs.model_names import check_indexes, named_columns, refuse_truth

_MISSING_RULES = ("raise", "wrong")
_NO_PREDICTION = "{name} has no prediction at row {row} ({n} missing{among})"
_WAY_OUT = "; pass `missing='wrong'` to count a missing prediction as an error of the model"


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
    #: The label of each code; one less than `n_codes` where the last code has no label.
    classes: Sequence[Any]
    #: Samples dropped because the true label is missing.
    n_missing: int
    #: Samples dropped because the true label is not among the chosen classes.
    n_excluded: int
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, classes were chosen, or a block of a stream was read.
    n_outside: tuple[int, ...] = ()
    #: Which of the samples that were given are compared; None for all.
    kept: Flags | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples that are compared."""
        return int(self.y_true.size)


def encode(
    y_true: object,
    preds: object,
    *,
    classes: Classes | None = None,
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
    named = named_columns(preds, "preds")
    true = read_column(y_true, truth)
    check_size(len(named), "preds", "models", least)
    models = [read_column(raw, name) for name, raw in named]
    _check_lengths(true, models)
    refuse_truth(y_true, preds, named, truth)
    check_indexes([(truth, y_true), *named])
    kept, n_missing, n_excluded = None, 0, 0
    if (absent := true.missing()) is not None:
        kept, n_missing = ~absent, int(np.count_nonzero(absent))
        true, models = true.take(kept), [model.take(kept) for model in models]
    columns = [true, *models]
    plain = _as_shared_integers(columns) if classes is None else None
    if plain is not None:  # whole numbers are of one kind, and none is missing
        codes, highest, distinct = plain
        n_codes = len(distinct)
    else:
        if classes is None and (least or not _may_hold_floats(y_true)):
            refuse_scores(true, models)
        _check_kinds(columns, classes)
        if classes is not None and missing is not None:
            refuse_scores(true, models, classes)
        if missing != "wrong":
            for model in models:
                model.refuse_missing(_NO_PREDICTION, kept, _WAY_OUT if missing else "")
        codes, distinct = _share(columns, classes)
        highest, n_codes = None, len(distinct) + 1
        inside = codes[0] < len(distinct)
        n_excluded = int(inside.size - np.count_nonzero(inside))
        for model, predicted in zip(models, codes[1:], strict=True) if missing is None else ():
            outside = np.flatnonzero(inside & (predicted == len(distinct)))
            if outside.size:
                column = model.factorized()
                label = column.distinct[column.positions()[outside[0]]]
                raise BadValueError(
                    f"{model.name} predicts {label!r}, which is not among the classes "
                    f"({outside.size} such predictions{{among}})"
                )
        if n_excluded:
            codes = [row[inside] for row in codes]
            kept = np.ones(inside.size, np.bool_) if kept is None else kept.copy()
            kept[kept] = inside
    n_outside: tuple[int, ...] = ()
    if least:
        check_enough(true.name, codes[0].size, n_missing + n_excluded)
        if classes is None:
            n_outside = check_predictions(true, models, codes, distinct, highest)
        else:
            check_chosen(true, models, codes[1:], len(distinct))
    return Labels(
        y_true=codes[0],
        preds=tuple(codes[1:]),
        names=tuple(dict(named)),
        n_codes=n_codes,
        classes=distinct,
        n_missing=n_missing,
        n_excluded=n_excluded,
        n_outside=n_outside,
        kept=kept,
    )


def encode_predictions(
    pred_a: object, pred_b: object, *, classes: Classes | None = None
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Encode what two models predicted, without true labels.

    Codes are below the number that comes with them, and in the order of `classes` where
    it is given; samples with a prediction outside `classes` are left out.
    """
    columns = [read_column(pred_a, "pred_a"), read_column(pred_b, "pred_b")]
    _check_lengths(columns[0], columns[1:])
    check_indexes([("pred_a", pred_a), ("pred_b", pred_b)])
    _check_kinds(columns, classes)
    for column in columns:
        column.refuse_missing(_NO_PREDICTION, remedy=_WAY_OUT)
    plain = _as_shared_integers(columns) if classes is None else None
    (a, b), distinct = (plain[0], plain[2]) if plain else _share(columns, classes)
    inside = (a < len(distinct)) & (b < len(distinct))
    kept = int(np.count_nonzero(inside))
    check_enough("pred_a", kept, len(columns[0]) - kept)
    return a[inside], b[inside], len(distinct)


def _may_hold_floats(raw: object) -> bool:
    """Whether other blocks of the same truth may hold fractions."""
    kind = str(getattr(raw, "dtype", getattr(raw, "type", "float"))).lower()
    return any(x in kind for x in ("float", "double", "decimal", "object", "null"))


def _check_lengths(truth: Column, models: list[Column]) -> None:
    n = len(truth)
    wrong = [model for model in models if len(model) != n]
    if not wrong:
        return
    message = f"{wrong[0].name} has {len(wrong[0])} labels, `{truth.name}` has {n}"
    if len(models) == n and all(len(model) == len(wrong[0]) for model in models):
        message += "; models come first: pass preds.T"
    raise BadValueError(message)


class TooFewError(BadValueError):
    """Fewer than two samples."""


def check_enough(name: str, n: int, n_dropped: int) -> None:
    """Refuse fewer than two samples."""
    if n < 2:
        what = "sample" if n == 1 else "samples"
        left = f" after {n_dropped} were dropped" if n_dropped else ""
        raise TooFewError(f"`{name}` must hold at least 2 samples", f"{n} {what}{left}")


def _check_kinds(columns: list[Column], classes: Classes | None) -> None:
    check_kinds(columns)
    if classes is not None:
        check_classes(classes)
        kind, kind_of_truth = read_column(list(classes), "classes").kind(), columns[0].kind()
        if kind != kind_of_truth and "" not in (kind, kind_of_truth):
            raise BadTypeError(
                f"`classes` holds {kind} labels and {columns[0].name} {kind_of_truth} labels"
            )


def _as_shared_integers(
    columns: list[Column],
) -> tuple[list[NDArray[Any]], list[int] | None, Sequence[Any]] | None:
    """Use whole numbers as their own codes: no sort, and no copy of single bytes.

    Codes, the highest of each column where it was looked for, and the label of each code;
    None where a column holds something else.
    """
    arrays = [column.integers for column in columns if column.integers is not None]
    if len(arrays) < len(columns):
        return None
    types = {array.dtype.char for array in arrays}
    if types <= {"B", "?"}:
        single = [np.ascontiguousarray(array).view(np.uint8) for array in arrays]
        return single, None, (False, True, *range(2, 256)) if types == {"?"} else range(256)
    highest, codes, signed = [], [], False
    for array in arrays:  # read without their signs, negative numbers are the largest
        top = _highest(array.view(_unsigned(array.dtype))) if array.size else 0
        signed = signed or top >> (8 * array.itemsize - 1) > 0
        highest.append(top)
        codes.append(array.astype(code_type(top + 1), "C"))  # while it is in the cache
    low, high = 0, max(highest)
    if signed:
        sized = [array for array in arrays if array.size]
        low = min(0, *(int(array.min()) for array in sized))
        high = max(int(array.max()) for array in sized)
    n_codes = high - low + 1
    if n_codes >= 1 << 31:
        return None
    if low < 0:
        codes = [array.astype(np.int64) - low for array in arrays]
    dtype = code_type(n_codes)
    shared = [array.astype(dtype, copy=False) for array in codes]
    return shared, None if signed else highest, range(low, high + 1)


_FEW = 1 << 12


def _highest(array: NDArray[Any]) -> int:
    """The largest of whole numbers; of few by its place, in a third of the time of ``max``."""
    # Where nothing may be written `argmax` copies all.
    return array.item(array.argmax()) if array.size < _FEW else int(array.max())


@cache
def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same whole numbers without a sign."""
    return np.dtype(dtype.str.replace("i", "u"))


def code_type(n_codes: int) -> type[np.uint8 | np.uint16 | np.int32]:
    """The smallest type of codes: uint8, uint16 or int32."""
    if n_codes <= 256:
        return np.uint8
    return np.uint16 if n_codes <= 65536 else np.int32


def _share(
    columns: list[Column], classes: Classes | None
) -> tuple[list[NDArray[Any]], Sequence[Any]]:
    """Codes, equal for equal labels; one more is for labels that are missing or left out."""
    index: dict[Any, int] = {}
    labels: dict[Any, Any] = {}  # as they were given
    if classes is not None:
        for key, label in zip(hashable(classes), classes, strict=True):
            if key in index:
                raise BadValueError("`classes` must differ", f"{label!r} twice")
            index[key], labels[key] = len(index), label
        if len(index) < 2:
            raise BadValueError("`classes` must name at least 2 classes", list(classes))
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
    """Entries of a table at single bytes: six times as fast as to index an array."""
    table = bytes(index.get(label, len(index)) for label in range(256))
    single = [np.ascontiguousarray(array).view(np.uint8) for array in arrays]
    return [np.frombuffer(bytearray(x).translate(table), np.uint8) for x in single]


def _compact(codes: list[NDArray[Any]], n_codes: int) -> list[NDArray[Any]]:
    """Store codes in the smallest type, with n_codes itself for 'none of them'."""
    dtype = code_type(n_codes + 1)
    return [np.where(column < 0, n_codes, column).astype(dtype) for column in codes]


# Classes in the order of their labels, without those that never occur.


_MARKS = 1 << 24  # codes up to which those in use are marked, not sorted


def sorted_codes(classes: Sequence[Any], codes: Ints) -> list[int]:
    """Codes sorted by their labels, where these have an order."""
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


# Predictions that cannot be labels of the truth: an error or a warning.


SURE = 6  # samples: fewer may share no label by chance
_PART = 1 << 14
_PART_1 = 1 << 9  # the first, in which most often all classes are


def refuse_scores(true: Column, models: Sequence[Column], classes: Classes | None = None) -> None:
    """Refuse fractions as predictions where the truth and the classes hold none."""
    if all(model.integers is not None for model in models):
        return
    if _fraction(true.distinct) is not None:
        return
    if classes is not None and _fraction(classes) is not None:
        return
    for model in models:
        if (fraction := _fraction(model.distinct)) is not None:
            raise BadValueError(
                f"{model.name} holds {fraction!r}, which is no label of {true.name} "
                f"({true.examples()}): scores and probabilities go to fastcmp.auc or "
                "fastcmp.delong, or become labels by a cutoff (scores >= 0.5); grades of "
                "items, such as partial credit, go to fastcmp.compare_means"
            )


def check_predictions(
    true: Column,
    models: Sequence[Column],
    codes: Sequence[NDArray[Any]],
    distinct: Sequence[Any],
    highest: list[int] | None,
) -> tuple[int, ...]:
    """Number of each model's predictions that are not labels of the truth; refuse too many.

    Refused is a model none of whose labels is one of the truth, or all of whose labels
    are once 1 is added or subtracted; not where the truth has few samples or one label
    only, and spelling is not the cause.
    """
    y_true = codes[0]
    highest = highest or [_highest(predicted) for predicted in codes]
    high = highest[0]
    # Most often the truth has all codes from 0, and the models have no others.
    from_0 = high < _PART_1 and 0 not in np.bincount(y_true[:_PART_1], minlength=high + 1).tolist()
    if from_0 and max(highest) <= high:
        return ()
    used = _used(y_true)
    n_outside = tuple(_count_outside(predicted, used, len(distinct)) for predicted in codes[1:])
    if not any(n_outside):
        return ()
    much = []
    for model, predicted, n in zip(models, codes[1:], n_outside, strict=True):
        if n == 0:
            continue
        n_labels = int(np.count_nonzero(predicted != len(distinct)))
        several = used.size > 1 and y_true.size >= SURE
        if n == n_labels:
            _refuse_strangers(true, model, several=several)
        if isinstance(distinct, range) and several:
            _refuse_shifted(true, model, y_true, predicted, used)
        if n > MUCH_OUTSIDE * n_labels:
            much.append((model, n / n_labels))
    if much:
        _warn(true, much)
    return n_outside


def check_chosen(
    true: Column, models: Sequence[Column], codes: Sequence[NDArray[Any]], n_classes: int
) -> None:
    """Refuse a model none of whose labels is a chosen class or a label of the truth."""
    true_labels: set[Any] | None = None
    for model, predicted in zip(models, codes, strict=True):
        if predicted.min() < n_classes:
            continue
        true_labels = set(true.labels()) if true_labels is None else true_labels
        labels = model.labels()
        if len(model) >= SURE and labels and true_labels.isdisjoint(labels):
            refuse_scores(true, [model])
            _refuse_strangers(true, model, several=True)


def _used(codes: NDArray[Any]) -> NDArray[Any]:
    """List the codes that occur, ascending."""
    if codes.dtype == np.uint8:
        marks = np.zeros(256, np.int64)
        n = int(codes.max()) - int(codes.min()) + 1
        for part in _parts(codes):
            marks += np.bincount(part, minlength=256)
            if np.count_nonzero(marks) == n:
                break
        return np.flatnonzero(marks)
    return np.unique(codes)


def _parts(codes: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Parts of codes, so small that they need little memory as indices of 8 bytes."""
    return (codes[i : i + _PART] for i in range(0, codes.size, _PART))


_FEW_CODES = 16


def _count_outside(codes: NDArray[Any], used: NDArray[Any], absent: int) -> int:
    """Number of codes that are neither among those used nor that of a missing label."""
    if not codes.size:
        return 0
    first, last, high = int(used[0]), int(used[-1]), int(codes.max())
    if used.size == last - first + 1 and high <= last and int(codes.min()) >= first:
        return 0  # at the speed of memory
    valid = [*used.tolist(), absent]
    if len(valid) <= _FEW_CODES:  # a comparison takes a fiftieth of the time of a table
        return codes.size - sum(int(np.count_nonzero(codes == code)) for code in valid)
    return codes.size - int(np.count_nonzero(np.isin(codes, valid)))


def _refuse_strangers(true: Column, model: Column, *, several: bool) -> None:
    """Refuse a model that shares no label with the truth, unless that has one only."""
    true_labels, predicted = true.labels(), model.labels()
    differs = spelling(true_labels, predicted)
    if not (several or differs):
        return
    message = (
        f"{model.name} predicts none of the labels of `{true.name}`: it holds "
        f"{listed(predicted)}, and `{true.name}` {listed(true_labels)}"
    )
    if differs:
        remedy = f", which differ in {differs}: make them equal"
    else:
        remedy = " (if they are labels nevertheless, pass `classes=` with all)"
    raise BadValueError(message, remedy=remedy)


def spelling(true_labels: Iterable[Any], predicted: Iterable[Any]) -> str:
    """How the spelling of labels differs, where nothing else differs; else ""."""
    ways: dict[str, Callable[[Any], str]] = {
        "type": str,
        "upper and lower case": lambda label: str(label).casefold(),
        "spaces around them": lambda label: str(label).strip(),
        "case and spaces": lambda label: str(label).strip().casefold(),
    }
    for what, way in ways.items():
        if not set(map(way, true_labels)).isdisjoint(map(way, predicted)):
            return what
    return ""


def is_shifted(n_right: int, n_shifted: int, n: int) -> bool:
    """Whether so many more of n predictions are right when moved by 1 that chance explains none."""
    return n_shifted > n_right and (n_shifted == n or n_shifted - n_right >= SURE)


def _refuse_shifted(
    true: Column, model: Column, y_true: NDArray[Any], predicted: NDArray[Any], used: NDArray[Any]
) -> None:
    """Refuse whole numbers that count from 1 where the truth counts from 0, or so."""
    for step in (1, -1):
        first, last = int(used[0]) + step, int(used[-1]) + step
        if int(predicted.min()) < first or int(predicted.max()) > last:
            continue
        moved = predicted.astype(np.int64) - step
        shifted = int(np.count_nonzero(moved == y_true))
        right = int(np.count_nonzero(predicted == y_true))
        if is_shifted(right, shifted, predicted.size) and np.isin(moved, used).all():
            raise BadValueError(
                f"{model.name} counts its labels from another number than {true.name}: it "
                f"holds {model.examples()}, and {true.name} {true.examples()}; {right} of "
                f"{predicted.size} are right as they are, and {shifted} with {-step:+d} (if "
                "they are labels nevertheless, pass `classes=` with all)"
            )


def _warn(true: Column, much: list[tuple[Column, float]]) -> None:
    true_labels = set(true.labels())
    examples = []
    for model, proportion in much[:3]:
        strangers = [x for x in model.labels() if x not in true_labels]
        examples.append(f"{model.name} ({100 * proportion:.1f}%: {listed(strangers)})")
    others = f" and {len(much) - 3} more models" if len(much) > 3 else ""
    warn(
        f"labels that `{true.name}` does not hold are predicted by {', '.join(examples)}"
        f"{others}; they count as wrong. `{true.name}` holds {listed(ascending(true_labels))}"
        " (if this is right, pass `classes=` with all labels)"
    )


def _fraction(labels: Iterable[Any]) -> Any:
    """A number that is not whole; None where all are whole, or a label is not a number."""
    fraction = None
    for label in labels:
        if kind_of(label) != "number":
            return None
        # A complex number is no score either.
        other = isinstance(label, (int, complex, np.integer, np.bool_))
        whole = other or label % 1 == 0
        if fraction is None and not whole:
            fraction = label
    return fraction
