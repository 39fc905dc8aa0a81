"""Predictions that cannot be labels of the truth: an error or a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import warn
from fastcmp.core.sentences import MUCH_OUTSIDE
from fastcmp.inputs.columns import Column, ascending, kind_of, listed

_SURE = 6  # samples: fewer may share no label by chance
_PART = 1 << 14
_PART_1 = 1 << 9  # the first, in which most often all classes are


def refuse_scores(
    true: Column, models: Sequence[Column], classes: Sequence[Any] | None = None
) -> None:
    """Refuse fractions as predictions where the truth and the classes hold none."""
    if all(model.integers is not None for model in models):
        return
    if _fraction(true.distinct) is not None:
        return
    if classes is not None and _fraction(classes) is not None:
        return
    for model in models:
        if (found := _fraction(model.distinct)) is not None:
            raise ValueError(
                f"{model.name} holds {found!r}, which is no label of {true.name} "
                f"({true.examples()}): scores and probabilities go to "
                "fastcmp.auc or fastcmp.delong, or become labels by a cutoff (scores "
                ">= 0.5); grades of items, such as partial credit, go to "
                "fastcmp.compare_means"
            )


def check_predictions(
    true: Column, models: Sequence[Column], codes: Sequence[NDArray[Any]], distinct: Sequence[Any]
) -> tuple[int, ...]:
    """Count each model's predictions that are no labels of the truth; refuse too many.

    Refused is a model none of whose labels is one of the truth, or all of whose labels
    are once 1 is added or subtracted; not where the truth has few samples or one label
    only, and spelling is not the cause.
    """
    y_true = codes[0]
    high = int(np.maximum.reduce(y_true))
    # Most often the truth has all codes from 0, and the models have no others.
    from_0 = high < _PART_1 and 0 not in np.bincount(y_true[:_PART_1], minlength=high + 1).tolist()
    if from_0 and all(np.maximum.reduce(own) <= high for own in codes[1:]):
        return ()
    used = _used(y_true)
    n_outside = tuple(_count_outside(own, used, len(distinct)) for own in codes[1:])
    if not any(n_outside):
        return ()
    much = []
    for model, own, n in zip(models, codes[1:], n_outside, strict=True):
        if n == 0:
            continue
        n_labels = int(np.count_nonzero(own != len(distinct)))
        several = used.size > 1 and y_true.size >= _SURE
        if n == n_labels:
            _refuse_strangers(true, model, several=several)
        if isinstance(distinct, range) and several:
            _refuse_shifted(true, model, y_true, own, used)
        if n > MUCH_OUTSIDE * n_labels:
            much.append((model, n / n_labels))
    if much:
        _warn(true, much)
    return n_outside


def check_chosen(
    true: Column, models: Sequence[Column], codes: Sequence[NDArray[Any]], n_classes: int
) -> None:
    """Refuse a model none of whose labels is a chosen class or a label of the truth."""
    known: set[Any] | None = None
    for model, own in zip(models, codes, strict=True):
        if own.min() < n_classes:
            continue
        known = set(true.labels()) if known is None else known
        found = model.labels()
        if len(model) >= _SURE and found and known.isdisjoint(found):
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
    """Cut codes, which are to be indices of 8 bytes, so that these need no memory."""
    return (codes[i : i + _PART] for i in range(0, codes.size, _PART))


def _count_outside(codes: NDArray[Any], used: NDArray[Any], absent: int) -> int:
    """Count codes that are neither among those used nor that of a missing label."""
    if not codes.size:
        return 0
    first, last, high = int(used[0]), int(used[-1]), int(codes.max())
    if used.size == last - first + 1 and high <= last and int(codes.min()) >= first:
        return 0  # at the speed of memory
    return codes.size - int(np.count_nonzero(np.isin(codes, [*used.tolist(), absent])))


def _refuse_strangers(true: Column, model: Column, *, several: bool) -> None:
    """Refuse a model that shares no label with the truth, unless that has one only."""
    known, found = true.labels(), model.labels()
    differs = spelling(known, found)
    if not (several or differs):
        return
    message = (
        f"{model.name} predicts none of the labels of {true.name}: it holds "
        f"{listed(found)}, and {true.name} {listed(known)}"
    )
    if differs:
        message += f", which differ in {differs}: make them equal"
    else:
        message += " (if they are labels nevertheless, pass classes= with all)"
    raise ValueError(message)


def spelling(known: Iterable[Any], found: Iterable[Any]) -> str:
    """Say how the spelling of labels differs, where that is all that differs."""
    ways: dict[str, Callable[[Any], str]] = {
        "type": str,
        "upper and lower case": lambda label: str(label).casefold(),
        "spaces around them": lambda label: str(label).strip(),
        "case and spaces": lambda label: str(label).strip().casefold(),
    }
    for what, way in ways.items():
        if not set(map(way, known)).isdisjoint(map(way, found)):
            return what
    return ""


def _refuse_shifted(
    true: Column, model: Column, y_true: NDArray[Any], own: NDArray[Any], used: NDArray[Any]
) -> None:
    """Refuse whole numbers that count from 1 where the truth counts from 0, or so."""
    for step in (1, -1):
        first, last = int(used[0]) + step, int(used[-1]) + step
        if int(own.min()) < first or int(own.max()) > last:
            continue
        moved = own.astype(np.int64) - step
        shifted = int(np.count_nonzero(moved == y_true))
        right = int(np.count_nonzero(own == y_true))
        sure = shifted == own.size or shifted - right >= _SURE
        if sure and shifted > right and np.isin(moved, used).all():
            raise ValueError(
                f"{model.name} counts its labels from another number than "
                f"{true.name}: it holds {model.examples()}, and {true.name} "
                f"{true.examples()}; {right} of {own.size} are right as they are, and "
                f"{shifted} with {-step:+d} (if they are labels nevertheless, pass "
                "classes= with all)"
            )


def _warn(true: Column, much: list[tuple[Column, float]]) -> None:
    known = set(true.labels())
    shown = []
    for model, proportion in much[:3]:
        strangers = [x for x in model.labels() if x not in known]
        shown.append(f"{model.name} ({100 * proportion:.1f}%: {listed(strangers)})")
    others = f" and {len(much) - 3} more models" if len(much) > 3 else ""
    warn(
        f"labels that {true.name} does not hold are predicted by {', '.join(shown)}"
        f"{others}; they count as wrong. {true.name} holds {listed(ascending(known))}"
        " (if this is right, pass classes= with all labels)"
    )


def _fraction(labels: Iterable[Any]) -> Any:
    """Find a number that is not whole; None where there is none, or no number."""
    found = None
    for label in labels:
        if kind_of(label) != "number":
            return None
        # A complex number is no score either.
        other = isinstance(label, (int, complex, np.integer, np.bool_))
        whole = other or label % 1 == 0
        if found is None and not whole:
            found = label
    return found
