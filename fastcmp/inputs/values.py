"""One value for each model and item, from whatever library it comes, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_size, choose, warn
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import scale_exponent
from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Form, Section, table_of, written
from fastcmp.core.sentences import answer, how
from fastcmp.core.threads import parts
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.inputs.columns import read_values as read_column_of_values
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns
from fastcmp.kernels.item_values import _PLAIN, FINITE, NOT_FINITE, ZERO_ONE, _kind_of_values

#: What to make of a missing value.
POLICIES = ("raise", "common", "pairwise", "wrong")
_EXAMPLES = 3
_TRUTH = "y_true"
_IDS = 6  # items: fewer may ascend by chance
_LOOKED_AT = 1 << 21  # values that one task looks at
_FEW = 1 << 12  # values, up to which a kernel is faster than two passes of NumPy
_SOME, _USUAL = 64, 1e-30  # values of a column, of which one is above this in size


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Values of M models on n items."""

    names: tuple[str, ...]
    #: One array a model, float64, float32 or uint8, shape (n,); NaN where a value is
    #: missing and `present` is given.
    columns: tuple[NDArray[Any], ...]
    #: The same as one array, shape (M, n), where they came so.
    matrix: NDArray[Any] | None
    #: Whether all values are 0 or 1.
    binary: bool
    #: Whether they are 0 or 1, or means of such: differences are between -1 and 1.
    bounded: bool = False
    #: Which items were kept of those that came; None for all.
    kept: Flags | None = None
    #: Which values there are, shape (M, n), where pairs have items of their own.
    present: Flags | None = None
    #: Missing values of each model, before they were dealt with; empty for none.
    n_missing: tuple[int, ...] = ()
    #: The columns are what the user gave divided by 2**exponent: 0, unless values are
    #: so large or small that their powers would overflow or vanish.
    exponent: int = 0

    @property
    def n_items(self) -> int:
        """Number of items that are compared."""
        return int(self.columns[0].size)

    @property
    def n_dropped(self) -> int:
        """Number of items that were dropped."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))


def read_values(
    values: Any,
    missing: str = "raise",
    argument: str = "values",
    run: Callable[[Callable[[slice], None], Sequence[slice]], None] | None = None,
    items: object = None,
) -> Values:
    """Read and check values; `run` does tasks, in threads where there are several.

    `items` are the labels of the items, where these have any.

    Raises ValueError for missing values without a policy, infinite ones, fewer than two
    models or items and unequal lengths, TypeError for entries that are not numbers.
    """
    missing = choose(missing, "missing", POLICIES)
    named = named_columns(values, argument)
    check_size(len(named), argument, "models")
    check_indexes(named)
    titles = [visible(name) for name, _ in named]
    # An array whose rows are the columns as they came, or as whole numbers 0 and 1.
    table: Any = None
    if type(values) is np.ndarray and values.flags.c_contiguous:
        if values.dtype in (np.float32, np.float64):
            table = values
        elif (
            values.dtype.kind in "biu"
            and values.ndim == 2
            and 0 <= values.min(initial=0) <= values.max(initial=0) <= 1
        ):
            table = values.astype(np.uint8, copy=False)
    columns = [raw for _, raw in named] if table is None else [*table]
    if table is None:
        columns = [as_values(raw, title) for raw, title in zip(columns, titles, strict=True)]
    n = columns[0].size
    for title, column in zip(titles, columns, strict=True):
        if column.size != n:
            raise BadValueError(
                f"{title} has {column.size} values, {titles[0]} has {n}: all models need a "
                "value for the same items (from_long joins a long table by item)",
                argument=argument,
            )
    if n < 2:
        raise BadValueError(f"`{argument}` must hold at least two items", n)
    if len(columns) > n and not has_names(values):
        warn(
            f"{argument} holds {len(columns)} models on {n} items: models come first; pass "
            f"{argument}.T if its rows are items, or `names=` if they are models"
        )
    # An array has a kind as a whole.
    pieces = columns
    if table is not None:
        flat = table.reshape(-1)
        pieces = [flat[part] for part in parts(flat.size, _LOOKED_AT)]
    kinds = [NOT_FINITE] * len(pieces)

    def look(some: slice) -> None:
        kinds[some] = map(_kind_of, pieces[some])

    if run is None or len(columns) * n <= _LOOKED_AT:
        look(slice(None))
    else:
        run(look, parts(len(pieces), max(1, _LOOKED_AT // pieces[0].size)))
    names = tuple(name for name, _ in named)
    refuse_ids(titles, columns, argument)
    if NOT_FINITE in kinds:
        return _scaled(_with_missing(names, titles, columns, missing, items))
    binary = kinds.count(ZERO_ONE) == len(kinds)
    matrix = None if columns[0].dtype == np.uint8 else table
    read = Values(names=names, columns=tuple(columns), matrix=matrix, binary=binary, bounded=binary)
    # Columns of values of a usual size are not looked at once more.
    if any(abs(x[0]) > _USUAL or (np.abs(x[:_SOME]) > _USUAL).any() for x in columns):
        return read
    return _scaled(read)


def _kind_of(column: NDArray[Any]) -> int:
    """Whether all values are 0 or 1, of a usual size, or neither; large columns by their ends."""
    if column.size > _FEW and column.dtype.kind == "f":
        low, high = float(column.min()), float(column.max())
        if not -_PLAIN < low <= high < _PLAIN:  # also where one is missing
            return NOT_FINITE
        if not {low, high} <= {0.0, 1.0}:
            return FINITE
    return _kind_of_values(column)


def _scaled(read: Values) -> Values:
    """Values divided by a power of two where their powers would overflow or vanish."""
    exponent = 0 if read.binary else scale_exponent(*read.columns)
    if not exponent:
        return read
    columns = tuple(np.ldexp(column, -exponent) for column in read.columns)
    return replace(read, columns=columns, matrix=None, exponent=exponent)


def refuse_ids(titles: list[str], columns: list[NDArray[Any]], argument: str) -> None:
    """Refuse true labels and ids among the models."""
    for title, column in zip(titles, columns, strict=True):
        problem = ""
        if title == _TRUTH:
            problem = "is what true labels are called"
        if _ascends(column):
            problem = f"counts from {column[0]:g} to {column[-1]:g}, as ids do"
        if problem:
            raise BadValueError(
                f"`{argument}` must hold models only, and {title} {problem}",
                remedy=": leave this column out",
            )


def _ascends(column: NDArray[Any]) -> bool:
    """Whether each value is one more than that before it."""
    if column.size < _IDS or column[0] + 1 != column[1]:
        return False
    with np.errstate(invalid="ignore"):  # infinite values are refused elsewhere
        return all((np.diff(x) == 1).all() for x in (column[:_IDS], column))


def as_values(raw: object, name: str) -> NDArray[Any]:
    """A column as float64, float32 or, for 0 and 1, uint8; NaN for missing."""
    if type(raw) is np.ndarray and raw.ndim == 1:
        native = raw.dtype.newbyteorder("=")
        if native.kind == "b":
            return np.ascontiguousarray(raw).view(np.uint8)
        if native.kind in "iu" and raw.size and raw.min() >= 0 and raw.max() <= 1:
            return np.ascontiguousarray(raw, np.uint8)
        if native.kind == "f" and native.itemsize in (4, 8):
            return np.ascontiguousarray(raw, native)
    return read_column_of_values(raw, name)


def _with_missing(
    names: tuple[str, ...],
    titles: list[str],
    columns: list[NDArray[Any]],
    missing: str,
    items: object,
) -> Values:
    """Refuse infinite values, and deal with missing ones."""
    for title, column in zip(titles, columns, strict=True):
        infinite = np.flatnonzero(np.isinf(column))
        if infinite.size:
            raise BadValueError(
                f"{title} has the value {column[infinite[0]]} for item {infinite[0]} "
                f"({infinite.size} in all): values must be finite"
            )
    present = np.stack([~np.isnan(column) for column in columns])
    n_missing = tuple(int(n) for n in np.count_nonzero(~present, axis=1))
    if not any(n_missing):
        return Values(names=names, columns=tuple(columns), matrix=None, binary=False)
    if missing == "raise":
        _refuse_missing(titles, present, n_missing, items)
    kept: Flags | None = None
    if missing == "wrong":
        columns = [np.nan_to_num(column) for column in columns]
    elif missing == "common":
        kept = np.asarray(present.all(axis=0))
        if np.count_nonzero(kept) < 2:
            raise BadValueError(
                f"`values` must have at least two items that all {len(columns)} models have",
                np.count_nonzero(kept),
                ": compare_means with `missing='pairwise'` compares each two models on the items "
                "of both",
            )
        columns = [np.ascontiguousarray(column[kept]) for column in columns]
    elif not present.any(axis=1).all():
        lacking = titles[int(np.argmin(present.any(axis=1)))]
        raise BadValueError(f"{lacking} has no value at all: leave this model out")
    bounded = all(_kind_of_values(c[~np.isnan(c)]) == ZERO_ONE for c in columns)
    return Values(
        names=names,
        columns=tuple(columns),
        matrix=None,
        binary=bounded and missing != "pairwise",
        bounded=bounded,
        kept=kept,
        present=present if missing == "pairwise" else None,
        n_missing=n_missing,
    )


def _refuse_missing(
    titles: list[str], present: Flags, n_missing: tuple[int, ...], items: Any
) -> None:
    """Refuse missing values: how many, of which models and items."""
    lacking = [i for i, n in enumerate(n_missing) if n]
    firsts = [int(np.argmin(present[i])) for i in lacking[:_EXAMPLES]]
    examples = ", ".join(
        f"{titles[i]} lacks {n_missing[i]} "
        f"(first: item {first if items is None else repr(items[first])})"
        for i, first in zip(lacking, firsts, strict=False)
    )
    more = f" and {len(lacking) - _EXAMPLES} more models" * (len(lacking) > _EXAMPLES)
    raise BadValueError(
        f"values: {sum(n_missing)} missing, {examples}{more}",
        remedy="; pass `missing='common'` for the items that all models have, 'wrong' to count "
        "them as 0, or in compare_means 'pairwise' for those that both models of a pair have",
    )


# One value for each item and model, with what is known of the items.


_SHOWN = 3  # examples


class MissingItems(NamedTuple):
    """Items that one model has no value for."""

    model: str
    n_items: int
    #: The first three.
    examples: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemTable(Record):
    """Values of M models for n items, each answered once or several times."""

    #: Models, M of them.
    names: tuple[str, ...]
    #: What each item is called, shape (n,).
    items: NDArray[Any]
    #: NaN where a model has no value, shape (M, n); with repeats (M, n, R), the answers
    #: to an item first and then NaN.
    values: Floats
    #: How many of `values` are answers, shape (M, n); a NaN among them is a missing
    #: value. None without repeats.
    n_answers: Ints | None = None
    #: Cluster of each item, shape (n,), or None.
    groups: NDArray[Any] | None = None
    #: Stratum (task, subset) of each item, shape (n,), or None.
    strata: NDArray[Any] | None = None
    #: Weight of each item, shape (n,), or None.
    weights: Floats | None = None

    @property
    def has_value(self) -> Flags:
        """Whether each model has all its answers to each item, one at least, shape (M, n)."""
        return ~np.isnan(self.means)

    @property
    def means(self) -> Floats:
        """Mean answer to each item, NaN where there is none or one is missing, (M, n)."""
        if self.n_answers is None:
            return self.values
        is_answer = np.arange(self.values.shape[2]) < self.n_answers[:, :, None]
        sums = np.where(is_answer, self.values, 0.0).sum(axis=2)
        with np.errstate(invalid="ignore"):
            means: Floats = sums / self.n_answers
        return means

    @property
    def missing(self) -> tuple[MissingItems, ...]:
        """Models without a value for some items, and for which."""
        has_value = self.has_value
        missing = []
        for name, row in zip(self.names, has_value, strict=True):
            lacking = np.flatnonzero(~row)
            if lacking.size:
                examples = tuple(self.items[lacking[:_SHOWN]].tolist())
                missing.append(MissingItems(name, lacking.size, examples))
        return tuple(missing)

    def columns(self) -> dict[str, list[Any]]:
        """A row a model.

        Returns
        -------
        dict of str to list
            Model, number of items with a value and without one, number of answers, and
            the mean over the items that have a value.
        """
        has_value = self.has_value
        present = has_value.sum(axis=1)
        answers = np.count_nonzero(~np.isnan(self.values.reshape(len(has_value), -1)), axis=1)
        sums = np.where(has_value, self.means, 0.0).sum(axis=1)
        with np.errstate(invalid="ignore"):
            means = sums / present
        return {
            "model": list(self.names),
            "n_items": present.tolist(),
            "n_missing": (len(self.items) - present).tolist(),
            "n_answers": answers.tolist(),
            "mean": means.tolist(),
        }

    def _entries(self) -> dict[str, Any]:
        """The entries of `to_dict` that are for reading."""
        entries: dict[str, Any] = {"n_items": len(self.items), "models": self.columns()}
        for name in ("groups", "strata"):
            labels = getattr(self, name)
            entries[f"n_{name}"] = None if labels is None else len(set(labels.tolist()))
        return {name: readable(value) for name, value in entries.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row a model.
        """
        columns = self.columns()
        forms: dict[str, Form] = {"model": visible, "items": "", "missing": "", "answers": ""}
        forms["mean"] = ".4f"
        cells = map(written, columns.values(), forms.values())
        return [
            table_of(
                answer(f"{len(self.names)} models, {len(self.items)} items"),
                dict(zip(forms, cells, strict=True)),
                text=self._sentences(),
                notes=missing_sentences(self.missing, len(self.items)),
                most=None,
            )
        ]

    def _sentences(self) -> list[str]:
        """Sentences on how often items were answered, and how they are grouped."""
        sentences = []
        if self.n_answers is not None:
            least, most = int(self.n_answers.min()), int(self.n_answers.max())
            number = f"{most}" if least == most else f"{least} to {most}"
            sentences.append(f"Answers to an item by a model: {number}.")
        for name, labels in (("groups", self.groups), ("strata", self.strata)):
            if labels is not None:
                sentences.append(how(f"The items are in {len(set(labels.tolist()))} {name}."))
        if self.weights is not None:
            low, high = self.weights.min(), self.weights.max()
            sentences.append(f"Weights of items are from {low:.4g} to {high:.4g}.")
        return sentences


def missing_sentences(missing: tuple[MissingItems, ...], n: int) -> tuple[str, ...]:
    """Sentences on models that lack a value, for how many of the n items, with examples."""
    sentences = [
        f"{visible(items.model)} has no value for {items.n_items} of {n} items, such as "
        f"{', '.join(map(repr, items.examples))}."
        for items in missing[:_SHOWN]
    ]
    if len(missing) > _SHOWN:
        sentences.append(f"{len(missing) - _SHOWN} more models lack values too.")
    return tuple(sentences)
