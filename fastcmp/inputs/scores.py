"""Scores of models and true labels of two classes, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers, as_weights, check_classes, check_size, warn
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Classes, ColumnLike, Flags, Floats, Ints, Label
from fastcmp.inputs.binary_labels import split_classes
from fastcmp.inputs.columns import Column, read_column
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns, ordered_columns
from fastcmp.kernels.score_bins import pack_order, sort_words, unpack_order

_MANY = 1 << 11  # words, from which on digits are sorted faster than words
_EXACT = 2**53  # whole numbers up to this are exact in float64


@dataclass(slots=True, kw_only=True)
class ScoreBlock:
    """Scores of one or more models for some samples, without those that have no true label."""

    names: tuple[str, ...]
    #: One array a model, float32 or float64, and the types they came in.
    columns: tuple[NDArray[Any], ...]
    kinds: tuple[np.dtype[Any], ...]
    truth: Column
    #: Which samples were kept; None where no true label is missing.
    kept: Flags | None
    #: Whether the user gave one vector of scores, not several models.
    single: bool = False
    #: For columns that hold ranks instead, the distinct scores; None for others.
    distinct: tuple[NDArray[Any] | None, ...] = ()

    @property
    def n_samples(self) -> int:
        """Number of samples that are left."""
        return len(self.truth)

    @property
    def n_missing(self) -> int:
        """Number of samples without a true label."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))

    def refuse_nan(self, model: int) -> None:
        """Refuse the scores of a model if one is NaN."""
        column = self.columns[model]
        if np.isnan(np.maximum.reduce(column, initial=-np.inf)):
            absent = np.flatnonzero(np.isnan(column))
            row = absent[0] if self.kept is None else np.flatnonzero(self.kept)[absent[0]]
            raise BadValueError(
                f"{visible(self.names[model])} has NaN for sample {row} ({absent.size} in all)"
            )


def read_block(
    y_true: object,
    scores: object,
    names: tuple[str, ...] | None = None,
    *,
    truth: str = "y_true",
    single: bool = False,
    ranked: bool = False,
) -> ScoreBlock:
    """Read true labels and scores, the models in the order of `names` where these are known.

    NaN may be among the scores. With `single` only one vector of scores will do.
    """
    true = read_column(y_true, truth)
    is_single, named = named_scores(scores)
    if single and not is_single:
        raise BadValueError("`score` must be one-dimensional, one score a sample")
    if not is_single:
        named = list(ordered_columns(scores, names, "scores").items())
    elif names is not None:
        named = list(ordered_columns([scores], names, "scores").items())
    read = [as_scores(raw, visible(name), ranked=ranked) for name, raw in named]
    for (name, _), (column, _, _) in zip(named, read, strict=True):
        if column.shape != (len(true),):
            message = f"{visible(name)} has {column.size} scores, `{truth}` has {len(true)} labels"
            if not is_single and len(named) == len(true):
                message += "; models come first: pass scores.T"
            raise BadValueError(message)
    check_indexes([(truth, y_true), *named])
    kept = None
    if (absent := true.missing()) is not None:
        kept = ~absent
        true = true.take(kept)
    return ScoreBlock(
        names=tuple(name for name, _ in named),
        columns=tuple(x if kept is None else x[kept] for x, _, _ in read),
        kinds=tuple(kind for _, kind, _ in read),
        truth=true,
        kept=kept,
        single=is_single,
        distinct=tuple(distinct for _, _, distinct in read),
    )


@dataclass(slots=True, kw_only=True)
class Scores(ScoreBlock):
    """Scores for samples of two classes, without NaN."""

    #: 1 for positives, 0 for negatives, uint8, shape (n,).
    positive: NDArray[np.uint8]
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    #: The true labels as they came; other columns must have their pandas index.
    y_true: ColumnLike | None = None

    @property
    def n_positives(self) -> int:
        """Number of positives."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_negatives(self) -> int:
        """Number of negatives."""
        return self.positive.size - self.n_positives


def read_scores(
    y_true: Any,
    scores: object,
    positive: Label = None,
    *,
    single: bool = False,
    truth: str = "y_true",
) -> Scores:
    """Read true labels of two classes and the scores of one or more models.

    With `single` only one vector of scores will do.
    """
    block = read_block(y_true, scores, truth=truth, single=single, ranked=True)
    flags, labels = split_classes(block.truth, positive)
    for model in range(len(block.names)):
        block.refuse_nan(model)
    return Scores(
        positive=flags.view(np.uint8),
        columns=block.columns,
        kinds=block.kinds,
        truth=block.truth,
        distinct=block.distinct,
        names=block.names,
        single=block.single,
        labels=labels,
        kept=block.kept,
        y_true=y_true,
    )


def named_scores(scores: object) -> tuple[bool, list[tuple[str, Any]]]:
    """List the scores of one or more models with their names.

    Also tells whether they are one vector, which is named "scores".
    """
    nested = isinstance(scores, (list, tuple)) and any(
        hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in scores
    )
    if not has_names(scores) and not nested:
        array = scores if hasattr(scores, "ndim") else np.asanyarray(scores)
        if array.ndim == 1:
            return True, [("scores", scores)]
    return False, named_columns(scores, "scores")


def as_scores(
    raw: object, name: str, *, ranked: bool = False
) -> tuple[NDArray[Any], np.dtype[Any], NDArray[Any] | None]:
    """Scores as float32 or float64, without moving one past another.

    Gives the type of at most 16 bits in which they came, else that of the array. Scores with
    more digits than these types hold become ranks where they may be `ranked`, with the distinct
    scores.
    """
    if np.ma.is_masked(raw):
        raise BadValueError(f"`{name}` has masked scores: drop these samples")
    try:
        array = np.asarray(raw)
    except ValueError:
        raise BadTypeError(
            f"`{name}` must be one score a sample", "lists of different lengths"
        ) from None
    if array.ndim != 1:
        raise BadValueError(f"`{name}` must be one-dimensional", f"shape {array.shape}")
    kind, size = array.dtype.kind, array.dtype.itemsize
    native = array.dtype.newbyteorder("=")
    if native in (np.float32, np.float64):
        return np.ascontiguousarray(array, native), native, None
    if kind == "b" or (kind in "fiu" and size <= 2):
        return array.astype(np.float32), np.dtype(np.uint8) if kind == "b" else native, None
    if kind in "fiu":
        if size <= 4 or _fits(array):
            return array.astype(np.float64), np.dtype(np.float64), None
        if not ranked:
            raise BadValueError(
                f"`{name}` must be numbers that a float64 holds",
                f"{array.dtype} with more digits",
                ": convert them",
            )
        distinct, ranks = np.unique(array, return_inverse=True)
        ranks = ranks.astype(np.float64)
        if kind == "f":
            ranks[np.isnan(array)] = np.nan
        return ranks, ranks.dtype, distinct
    if kind == "V" and array.dtype.names is None and size <= 2:
        try:
            column = array.astype(np.float32)  # bfloat16 and its like
        except (TypeError, ValueError):
            pass
        else:
            return column, native if native.name == "bfloat16" else column.dtype, None
    raise BadTypeError(f"`{name}` must be numbers", f"{array.dtype} values")


def _fits(array: NDArray[Any]) -> bool:
    """Whether a float64 holds all scores as they are."""
    if array.dtype.kind == "f":
        return bool(np.all((array == array.astype(np.float64)) | np.isnan(array)))
    return not array.size or bool(array.max() <= _EXACT and array.min() >= -_EXACT)


class _Samples(Protocol):
    """Samples, some of which were kept."""

    @property
    def positive(self) -> NDArray[Any]: ...
    @property
    def kept(self) -> Flags | None: ...
    @property
    def y_true(self) -> Any: ...


def read_weights(weights: object, read: _Samples) -> Floats | None:
    """Check the weights of samples, and leave out those of dropped ones."""
    if weights is None:
        return None
    n = read.positive.size if read.kept is None else read.kept.size
    array = as_weights(weights, "sample_weight", n, "sample")
    check_indexes([("y_true", read.y_true), ("sample_weight", weights)])
    array = np.asarray(array if read.kept is None else array[read.kept])
    if not array.any():
        raise BadValueError("`sample_weight` must not be 0 for all samples")
    return array


def order_of(column: NDArray[Any]) -> Ints:
    """The ascending order of scores; equal ones come in any order."""
    bits = max(1, (column.size - 1).bit_length())
    words = np.empty(column.size, np.uint64)
    pack_order(column.astype(np.float64).view(np.uint64), bits, words)
    if column.size < _MANY:
        words.sort()
    else:
        sort_words(words, bits)
    order = np.empty(column.size, np.int64)
    if not unpack_order(words, bits, column, order):
        order = np.argsort(column, kind="stable")
    return order


# Scores that point the other way: areas clearly below one half are warned of.


_CLEARLY = 3.5  # standard errors below one half
_NEARLY_ALL = 0.9  # of the models


def effective_sizes(read: Scores, weights: Floats) -> tuple[float, float]:
    """Kish's effective number of positives and of negatives."""
    parts = [weights[read.positive == flag] for flag in (1, 0)]
    parts = [part / part.max() for part in parts]
    one, other = (float(part.sum() ** 2 / (part**2).sum()) for part in parts)
    return one, other


def warn_of_direction(areas: Floats, read: Scores, weights: Floats | None = None) -> None:
    """Warn the caller of a public function where the scores point the other way."""
    sizes: tuple[float, float] = (read.n_positives, read.n_negatives)
    if weights is not None:
        sizes = effective_sizes(read, weights)
    if sentence := _wrong_direction(areas, *sizes, read.labels):
        warn(sentence)


def direction_sentences(record: Any) -> tuple[str, ...]:
    """A sentence of a record where scores point the other way, else nothing."""
    sizes = record.n_positives, record.n_negatives
    sentence = _wrong_direction(np.atleast_1d(record.auc), *sizes, record.labels)
    return (sentence[0].upper() + sentence[1:] + ".",) if sentence else ()


def _wrong_direction(areas: Floats, n1: float, n0: float, labels: tuple[Any, Any]) -> str:
    """A sentence where nearly all areas are clearly below one half, or none."""
    if not (n1 and n0):
        return ""
    # The standard error of the area where scores say nothing.
    error = np.sqrt((n1 + n0 + 1) / (12 * n1 * n0))
    below = areas < 0.5 - _CLEARLY * error
    if below.mean() < _NEARLY_ALL:
        return ""
    what = f"the area under the ROC curve is {areas[0]:.3g}, clearly below one half"
    if areas.size > 1:
        what = (
            f"the areas of {np.count_nonzero(below)} of {areas.size} models are "
            f"clearly below one half ({areas.min():.3g} to {areas[below].max():.3g})"
        )
    yes, no = labels
    return (
        f"{what}: higher scores must indicate the positive class, here {yes!r}; if lower "
        f"ones do, negate the scores; if higher ones indicate {no!r}, pass `positive={no!r}`"
    )


# Scores for each of several classes, or labels, of a sample: read and checked.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """Scores of samples for each of K classes, or of K labels."""

    #: Which classes, or labels, a sample has, shape (n, K).
    positive: Flags
    #: Shape (n, K), without NaN.
    scores: NDArray[Any]
    names: list[Any]
    #: Which of all samples have a true label.
    kept: Flags
    #: Shape (n,); None where samples have none.
    weights: Floats | None
    #: The true labels as they came; other columns must have their pandas index.
    y_true: ColumnLike | None = None


def has_columns(raw: Any) -> bool:
    """Whether there is a column for each of several classes."""
    try:
        return np.ndim(raw if hasattr(raw, "ndim") else np.asarray(raw)) == 2
    except ValueError:  # ragged
        return False


def read_class_scores(
    y_true: object, scores: ArrayLike, classes: Classes | None, sample_weight: ArrayLike | None
) -> ClassScores:
    """Read labels of several classes, or an indicator matrix, and their scores."""
    table = as_numbers(scores, "scores")
    check_indexes([("y_true", y_true), ("scores", scores)])
    if has_columns(y_true):
        positive, names = _read_indicator(y_true, table, classes)
        kept = np.ones(len(table), np.bool_)
    else:
        positive, names, kept = _read_classes(y_true, table, classes)
        table = table[kept]
    if np.isnan(table).any():
        sample, column = np.argwhere(np.isnan(table))[0]
        row = np.flatnonzero(kept)[sample]
        raise BadValueError(f"`scores` has NaN for sample {row}, column {column}")
    options: dict[str, Any] = {"positive": positive, "scores": table, "names": names}
    options["y_true"] = y_true
    read = ClassScores(kept=kept, weights=None, **options)
    weights = read_weights(sample_weight, read)
    return ClassScores(kept=kept, weights=weights, **options)


def _read_indicator(
    y_true: object, table: NDArray[Any], classes: object
) -> tuple[Flags, list[Any]]:
    if classes is not None:
        raise BadValueError("`classes` names labels of `y_true` of shape (n,): y_true is of (n, K)")
    array = np.asarray(y_true)
    if array.shape != table.shape or not array.size:
        raise BadValueError(f"`scores` must be of the shape of y_true, {array.shape}", table.shape)
    wrong = ~np.isin(array, [0, 1])
    if wrong.any():
        raise BadValueError(
            "`y_true` of shape (n, K) must hold 0 and 1, whether a sample has each label",
            array[wrong][0],
        )
    return array.astype(np.bool_), list(range(array.shape[1]))


def _read_classes(
    y_true: object, table: NDArray[Any], classes: Classes | None
) -> tuple[Flags, list[Any], Flags]:
    truth = read_column(y_true, "y_true")
    if table.ndim != 2 or len(table) != len(truth):
        raise BadValueError(
            f"`scores` must be of shape (n, K) with n = {len(truth)} samples, as many as "
            "`y_true` has labels",
            table.shape,
        )
    absent = truth.missing()
    kept = np.ones(len(truth), np.bool_) if absent is None else ~absent
    truth = truth.take(kept).trimmed()
    check_size(len(truth), "y_true", "sample", 1)
    truth.kind()
    names = class_columns(truth, classes, table.shape[1], "scores")
    return truth.places(names)[:, None] == np.arange(len(names)), names, kept


def class_columns(truth: Column, classes: object, n_columns: int, name: str) -> list[Any]:
    """The label of each column, among which all true labels are."""
    labels = known_classes(truth, classes)
    if len(labels) != n_columns or n_columns < 2:
        raise BadValueError(
            f"`{name}` has {n_columns} columns for {len(labels)} classes {labels[:10]}",
            remedy=": pass `classes=` with the labels of the columns",
        )
    refuse_unknown(truth, labels)
    return labels


def known_classes(truth: Column, classes: Any) -> list[Any]:
    """The classes that were given, or all true labels, ascending."""
    if classes is not None:
        check_classes(classes)
    labels = truth.labels() if classes is None else list(classes)
    if len(set(labels)) < len(labels):
        raise BadValueError("`classes` must differ", labels[:10])
    return labels


def refuse_unknown(truth: Column, labels: list[Any]) -> None:
    """Refuse true labels that are not among the classes."""
    if unknown := [label for label in truth.trimmed().distinct if label not in labels]:
        raise BadValueError(
            f"`{truth.name}` holds {unknown[0]!r}, which is not among the classes {labels[:10]}"
        )
