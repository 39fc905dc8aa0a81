"""Whether predictions are labels of the truth at all, checked block by block.

A column of scores, weights or ids is no model, and none of its values is right. What is
kept are the distinct true labels, and of each model the predictions that are not among
them; the true ones may still come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.render import visible
from fastcmp.core.saved_states import from_plain, to_plain
from fastcmp.inputs.columns import Column, ascending, kind_of, listed, read_column
from fastcmp.inputs.labels import SURE, is_shifted, spelling
from fastcmp.io.chosen import advice, titled

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_KEPT = 1_000_000  # labels of all models together that are remembered one by one
_MODELS = 3  # that a warning lists
#: Proportion of the predictions of a model that may not be labels of the truth.
MUCH = 0.1
_LISTED = 1_000  # true labels of a model that are remembered one by one

#: Model, number of predictions, the true labels among them (None: some), others, and how many
#: are equal to the true label, to it plus 1, and to it minus 1 (where there are others).
Seen = tuple[str, int, set[Any] | None, dict[Any, int], tuple[int, ...]]


class Outside(NamedTuple):
    """Predictions that are no labels of the truth."""

    #: How many of each model; empty where not all samples were looked at.
    n_outside: tuple[int, ...]
    #: What to say of models with many; empty where there is none.
    warning: str


@dataclass(slots=True)
class _Tally:
    n: int = 0
    #: True labels that it predicted; None where they are not listed.
    inside: set[Any] | None = field(default_factory=set)
    #: Other predictions, by label.
    outside: dict[Any, int] = field(default_factory=dict)
    #: Other predictions that are not remembered by label.
    n_more: int = 0
    #: Predictions equal to the true label, to it plus 1, to it minus 1, in blocks with others.
    n_equal: tuple[int, ...] = (0, 0, 0)


class LabelCheck:
    """Labels of models, held against the true ones."""

    def __init__(self, names: Iterable[str], target: str) -> None:
        self._target = target
        self._tallies = {name: _Tally() for name in names}
        self._true: set[Any] = set()
        self._span: tuple[int, int] | None = None  # where all whole numbers are true
        self._left = _KEPT
        self._complete = True

    def look(self, y_true: object, preds: Mapping[str, Any]) -> tuple[set[Any], list[Seen]]:
        """Look at a block, without keeping anything of it."""
        true = read_column(y_true, self._target)
        is_known = None
        if (absent := true.missing()) is not None:
            is_known = ~absent
            true = true.take(is_known)
        labels = set() if self._covers(true.integers) else set(_counted(true))
        truth = self._true | labels if labels else self._true
        tallies: list[Seen] = []
        scores: dict[str, float] = {}
        for name, raw in preds.items():
            if is_known is None and self._covers(raw):
                tallies.append((name, raw.size, None, {}, (0, 0, 0)))
                continue
            column = read_column(raw, name)
            if is_known is not None:
                column = column.take(is_known)
            counts = _counted(column)
            outside = {x: k for x, k in counts.items() if x not in truth}
            if len(truth) > 1:
                scores |= _fractions(name, outside)
            inside = counts.keys() - outside.keys()
            n_equal = _equal_if_moved(true, column) if outside else (0, 0, 0)
            tallies.append((name, sum(counts.values()), inside, outside, n_equal))
        self._refuse_scores(scores, truth)
        return labels, tallies

    def keep(self, block: tuple[set[Any], list[Seen]]) -> None:
        """Add what was found in a block."""
        labels, tallies = block
        if not labels <= self._true:
            self._true |= labels
            self._span = _span(self._true)
        for name, n, inside, outside, n_equal in tallies:
            tally = self._tallies[name]
            tally.n += n
            tally.n_equal = tuple(map(sum, zip(tally.n_equal, n_equal, strict=True)))
            if tally.inside is not None:
                tally.inside = None if inside is None else tally.inside | inside
                if len(tally.inside or ()) > _LISTED:
                    tally.inside = None
            for label, count in outside.items():
                if label in tally.outside:
                    tally.outside[label] += count
                elif self._left:
                    tally.outside[label] = count
                    self._left -= 1
                else:
                    tally.n_more += count

    def relabel(self, text_of: Callable[[Any], str]) -> None:
        """Take labels that were numbers so far for the texts that they were written as."""
        self._true, self._span = set(map(text_of, self._true)), None
        for tally in self._tallies.values():
            if tally.inside is not None:
                tally.inside = set(map(text_of, tally.inside))
            tally.outside = {text_of(label): n for label, n in tally.outside.items()}

    def finish(self) -> Outside:
        """Refuse or warn of models, by all labels that were kept."""
        if not self._complete or not self._true:
            return Outside((), "")
        n_outside, much = [], []
        scores: dict[str, Any] = {}
        foreign: dict[str, set[Any]] = {}
        for name, tally in self._tallies.items():
            outside = {x: k for x, k in tally.outside.items() if x not in self._true}
            scores |= _fractions(name, outside, text=True)
            n = tally.n_more + sum(outside.values())
            if tally.inside is not None:
                predicted = tally.inside | tally.outside.keys()
                if self._is_foreign(predicted, tally):
                    foreign[name] = predicted
            if n > MUCH * tally.n:
                much.append(f"{visible(name)} ({100 * n / tally.n:.1f}%: {_listed(outside)})")
            n_outside.append(n)
        self._refuse_scores(scores, self._true)
        self._refuse_foreign(foreign)
        counted = tuple(n_outside) if any(n_outside) else ()
        warning = ""
        if much:
            others = f" and {len(much) - _MODELS} more models" if len(much) > _MODELS else ""
            warning = (
                f"labels that {self._target} does not hold are predicted by "
                f"{', '.join(much[:_MODELS])}{others}; they count as wrong"
            )
        return Outside(counted, warning)

    def state(self) -> dict[str, Any] | None:
        """All that is kept, for a checkpoint; None where labels cannot be written."""
        models = [
            [
                *(name, tally.n, tally.n_more),
                None if tally.inside is None else list(tally.inside),
                *(list(tally.outside), list(tally.outside.values()), list(tally.n_equal)),
            ]
            for name, tally in self._tallies.items()
        ]
        try:
            return to_plain({"true": list(self._true), "models": models})  # type: ignore[no-any-return]
        except TypeError:
            return None

    def restore(self, state: dict[str, Any] | None) -> None:
        """Go on from a checkpoint."""
        if state is None:
            self._complete = False
            return
        state = from_plain(state)
        self._true = set(state["true"])
        self._span = _span(self._true)
        for name, n, n_more, labels_inside, labels, counts, n_equal in state["models"]:
            outside = dict(zip(labels, counts, strict=True))
            inside = None if labels_inside is None else set(labels_inside)
            self._tallies[name] = _Tally(n, inside, outside, n_more, tuple(n_equal))
            self._left -= len(outside)

    def _covers(self, array: object) -> bool:
        """Whether an array of whole numbers holds true labels only, as its ends show."""
        if self._span is None or type(array) is not np.ndarray or not array.size:
            return False
        if array.dtype.kind not in "bui" or array.ndim != 1:
            return False
        low, high = self._span
        if np.maximum.reduce(array) > high:
            return False
        unsigned = low <= 0 and array.dtype.kind in "bu"
        return unsigned or bool(np.minimum.reduce(array) >= low)

    def _refuse_scores(self, scores: dict[str, Any], truth: set[Any]) -> None:
        """Refuse fractions where no true label is one."""
        if not scores or any(_is_fraction(x) or _is_fraction_text(x) for x in truth):
            return
        name, score = next(iter(scores.items()))
        example = score if isinstance(score, str) else f"{score:.6g}"
        raise ValueError(
            f"{titled(name)} holds {example}, which is no label of {self._target!r} "
            f"({_listed(truth)}): scores are compared by `fastcmp roc`; to leave "
            f"columns out pass {advice(*scores)}, or choose by --models"
        )

    def _refuse_foreign(self, foreign: dict[str, set[Any]]) -> None:
        """Refuse models that share no label with the truth, and say what differs."""
        if not foreign:
            return
        name, predicted = next(iter(foreign.items()))
        moved = predicted & self._true
        differs = "counts its labels from another number than" if moved else "shares no label with"
        raise ValueError(
            f"{titled(name)} {differs} {self._target!r}: it holds "
            f"{_listed(predicted)}, {self._target!r} holds {_listed(self._true)}"
            f"{_difference(predicted, self._true)}; if it is a model, convert its labels; to "
            f"leave columns out pass {advice(*foreign)}, or choose by --models"
        )

    def _is_foreign(self, predicted: set[Any], tally: _Tally) -> bool:
        """Whether no predicted label is a true one, or all are the true ones plus or minus 1.

        1 and 2 for 0 and 1 share a label, and mean other classes by it, if more predictions are
        right when moved. Of few samples, or one true label, only another spelling is certain.
        """
        if not predicted:
            return False
        several = len(self._true) > 1 and tally.n >= SURE
        if not predicted & self._true:
            return several or bool(_difference(predicted, self._true))
        if not several or _span(predicted) is None or _span(self._true) is None:
            return False
        n_right, *moved = tally.n_equal
        return any(
            is_shifted(n_right, n_moved, tally.n) and {x + step for x in self._true} >= predicted
            for step, n_moved in zip((1, -1), moved, strict=True)
        )


def _counted(column: Column) -> dict[Any, int]:
    """Count the labels of a column that are not missing."""
    factors = column.factorized()
    counts = np.bincount(factors.positions() + 1, minlength=len(factors.distinct) + 1)
    is_truth = column.integers is not None and column.integers.dtype == bool
    labels = map(bool, factors.distinct) if is_truth else factors.distinct
    pairs = zip(labels, counts[1:].tolist(), strict=True)
    return {label: count for label, count in pairs if count}


def _equal_if_moved(true: Column, model: Column) -> tuple[int, int, int]:
    """How many predictions are equal to the true label, to it plus 1, and to it minus 1."""
    if true.integers is None or model.integers is None:
        return 0, 0, 0
    step = model.integers.astype(np.int64) - true.integers.astype(np.int64)
    n_right, n_above, n_below = (int(np.count_nonzero(step == x)) for x in (0, 1, -1))
    return n_right, n_above, n_below


def _span(labels: set[Any]) -> tuple[int, int] | None:
    """The ends of labels that are all the whole numbers between them."""
    if not labels or not all(isinstance(x, (bool, int)) for x in labels):
        return None
    low, high = int(min(labels)), int(max(labels))
    return (low, high) if high - low + 1 == len(labels) else None


def _fractions(name: str, labels: Iterable[Any], *, text: bool = False) -> dict[str, Any]:
    """One of the labels that has a fraction, by name; nothing if there is none.

    Numbers beside words are text in a file of text.
    """
    for label in labels:
        if _is_fraction(label) or (text and _is_fraction_text(label)):
            return {name: label}
    return {}


def _is_fraction(label: object) -> bool:
    return isinstance(label, float) and not label.is_integer()


def _is_fraction_text(label: object) -> bool:
    if not isinstance(label, str) or "." not in label:
        return False
    return _NUMBER.fullmatch(label) is not None and not float(label).is_integer()


def _listed(labels: Iterable[Any]) -> str:
    return listed(ascending(labels))


def _difference(predicted: set[Any], truth: set[Any]) -> str:
    """What would make labels equal, in brackets, or an empty text."""
    if predicted & truth:
        return " (they differ by 1 throughout)"
    if {kind_of(x) for x in predicted} != {kind_of(x) for x in truth}:
        return " (they differ in type)"
    what = spelling(truth, predicted)
    return f" (they differ in {what})" if what else ""


def check_whole(y_true: object, preds: Mapping[str, Any], target: str) -> None:
    """Refuse columns that cannot be models of files that were read as a whole."""
    check = LabelCheck(preds, target)
    check.keep(check.look(y_true, preds))
    check.finish()
