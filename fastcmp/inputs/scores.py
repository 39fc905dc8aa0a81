"""Scores of models and true labels of two classes, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fastcmp.core.checks import as_numbers
from fastcmp.core.escaping import visible
from fastcmp.inputs.binary_labels import split_classes
from fastcmp.inputs.columns import read_column
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns
from fastcmp.kernels.score_bins import pack_order, unpack_order

if TYPE_CHECKING:
    from numpy.typing import NDArray


_EXACT = 2**53  # whole numbers up to this are exact in float64


class _Samples(Protocol):
    """Samples, some of which were kept."""

    @property
    def positive(self) -> NDArray[Any]: ...
    @property
    def kept(self) -> NDArray[np.bool_] | None: ...
    @property
    def y_true(self) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of one or more models for samples of two classes."""

    #: 1 for positives, 0 for negatives, uint8, shape (n,).
    positive: NDArray[np.uint8]
    #: One array a model, float32 or float64, shape (n,), without NaN.
    columns: tuple[NDArray[Any], ...]
    #: For columns that hold ranks instead, the distinct scores; None for others.
    distinct: tuple[NDArray[Any] | None, ...]
    names: tuple[str, ...]
    #: Whether the user gave one vector of scores, not several models.
    single: bool
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    #: Which samples were kept; None where no true label is missing.
    kept: NDArray[np.bool_] | None
    #: The true labels as they came; other columns must have their pandas index.
    y_true: Any = None

    @property
    def n_missing(self) -> int:
        """Number of samples dropped because the true label is missing."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))

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
    scores: Any,
    positive: Any = None,
    *,
    single: bool = False,
    truth: str = "y_true",
) -> Scores:
    """Read true labels of two classes and the scores of one or more models.

    With `single` only one vector of scores will do.
    """
    true = read_column(y_true, truth)
    is_single, named = named_scores(scores)
    if not named:
        raise ValueError("scores must hold at least one model, got none")
    if single and not is_single:
        raise ValueError("score must be one-dimensional, one score a sample")
    titled = [(visible(name), raw) for name, raw in named]
    converted = [as_scores(raw, name) for name, raw in titled]
    columns = [column for column, _ in converted]
    for (name, _), column in zip(titled, columns, strict=True):
        if column.shape != (len(true),):
            message = f"{name} has {column.size} scores, {truth} has {len(true)} labels"
            if not is_single and len(columns) == len(true):
                message += "; models come first: pass scores.T"
            raise ValueError(message)
    check_indexes([(truth, y_true), *named])
    kept = None
    if (absent := true.missing()) is not None:
        kept = ~absent
        true = true.take(kept)
        columns = [column[kept] for column in columns]
    flags, labels = split_classes(true, positive)
    for (name, _), column in zip(titled, columns, strict=True):
        _refuse_nan(column, name)
    return Scores(
        positive=flags.view(np.uint8),
        columns=tuple(columns),
        distinct=tuple(distinct for _, distinct in converted),
        names=tuple(name for name, _ in named),
        single=is_single,
        labels=labels,
        kept=kept,
        y_true=y_true,
    )


def named_scores(scores: Any) -> tuple[bool, list[tuple[str, Any]]]:
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


def as_scores(raw: Any, name: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Convert to float32 or float64 without moving a score past another.

    Scores with more digits than these types hold become ranks; the distinct scores come
    with them.
    """
    if np.ma.is_masked(raw):
        raise ValueError(f"{name} has masked scores: drop these samples")
    try:
        array = np.asarray(raw)
    except ValueError:
        raise TypeError(
            f"{name} must be one score a sample, got lists of different lengths"
        ) from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    kind, size = array.dtype.kind, array.dtype.itemsize
    native = array.dtype.newbyteorder("=")
    if native in (np.float32, np.float64):
        return np.ascontiguousarray(array, native), None
    if kind == "b" or (kind in "fiu" and size <= 2):
        return array.astype(np.float32), None
    if kind in "fiu":
        if size <= 4 or _fits(array):
            return array.astype(np.float64), None
        # Ranks order as the scores do, where these have more digits than a float64.
        distinct, ranks = np.unique(array, return_inverse=True)
        ranks = ranks.astype(np.float64)
        if kind == "f":
            ranks[np.isnan(array)] = np.nan
        return ranks, distinct
    if kind == "V" and array.dtype.names is None and size <= 2:
        try:
            return array.astype(np.float32), None  # bfloat16 and its like
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} must be numbers, got {array.dtype} values")


def _fits(array: NDArray[Any]) -> bool:
    """Tell whether a float64 holds all scores as they are."""
    if array.dtype.kind == "f":
        return bool(np.all((array == array.astype(np.float64)) | np.isnan(array)))
    return not array.size or bool(array.max() <= _EXACT and array.min() >= -_EXACT)


def _refuse_nan(column: NDArray[Any], name: str) -> None:
    # A sum is NaN where a score is; opposite infinities are looked at once more.
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.add.reduce(column, dtype=np.float64)
    if np.isnan(total):
        where = np.flatnonzero(np.isnan(column))
        if where.size:
            raise ValueError(f"{name} has NaN for sample {where[0]} ({where.size} in all)")


def read_weights(weights: Any, read: _Samples) -> NDArray[np.float64] | None:
    """Check the weights of samples, and leave out those of dropped ones."""
    if weights is None:
        return None
    array = as_numbers(weights, "sample_weight").astype(np.float64)
    n = read.positive.size if read.kept is None else read.kept.size
    if array.shape != (n,):
        raise ValueError(f"sample_weight must be of shape ({n},), got {array.shape}")
    check_indexes([("y_true", read.y_true), ("sample_weight", weights)])
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        raise ValueError(
            f"sample_weight must be finite and >= 0, got {array[bad][0]} for sample "
            f"{np.flatnonzero(bad)[0]}"
        )
    array = np.asarray(array if read.kept is None else array[read.kept])
    if not array.any():
        raise ValueError("sample_weight must not be 0 for all samples")
    return array


def order_of(column: NDArray[Any]) -> NDArray[np.int64]:
    """Find the ascending order of scores; equal ones come in any order."""
    bits = max(1, (column.size - 1).bit_length())
    words = np.empty(column.size, np.uint64)
    pack_order(column.astype(np.float64).view(np.uint64), bits, words)
    words.sort()
    order = np.empty(column.size, np.int64)
    if not unpack_order(words, bits, column, order):
        order = np.argsort(column, kind="stable")
    return order
