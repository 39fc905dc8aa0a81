"""Answers of several models joined by item and repeat, never by position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Floats, Ints
from fastcmp.io.logs.choosing import filled, label_of, repeats_of, texts
from fastcmp.io.logs.format import LogPart
from fastcmp.io.logs.reading import Complain
from fastcmp.io.logs.results import Results
from fastcmp.io.logs.words import ERROR, STATUS, a_task, counted, listed

Places = NDArray[np.int64]

_DENSE = 8  # numbers up to so many times their count are looked up in a table


class _Numbers:
    """Where whole numbers stand among known ones, which are in order."""

    def __init__(self, items: Places) -> None:
        self.items = items if _is_rising(items) else np.unique(items)
        low, high = (int(items.min()), int(items.max())) if items.size else (0, -1)
        self._low = low
        self._table: Places | None = None
        if high - low < _DENSE * items.size + 64:
            self._table = np.full(high - low + 1, -1)
            self._table[self.items - low] = np.arange(self.items.size)

    def find(self, items: Places) -> Places:
        """The place of each, -1 where it is unknown."""
        if self._table is not None and self._table.size:
            inside = (items >= self._low) & (items < self._low + self._table.size)
            places = self._table[np.where(inside, items - self._low, 0)]
            return np.where(inside, places, -1)
        if not self.items.size:
            return np.full(items.size, -1)
        places = np.searchsorted(self.items, items).clip(max=self.items.size - 1)
        return np.where(self.items[places] == items, places, -1)


class _Texts:
    """Where texts stand among known ones, which stay in order."""

    def __init__(self, items: Sequence[str]) -> None:
        self.items = list(dict.fromkeys(items))
        self._places = {item: place for place, item in enumerate(self.items)}

    def find(self, items: Sequence[str]) -> Places:
        """The place of each, -1 where it is unknown."""
        return np.fromiter(map(self._places.get, items, repeat(-1)), np.int64, len(items))


@dataclass(frozen=True, slots=True)
class Joint:
    """What several models answered of one task and subset, by item and repeat.

    A key is ``place of the item * number of repeats + place of the repeat``.
    """

    parts: tuple[LogPart, ...]
    #: Items of any model, n of them, and repeats, R.
    items: Ints | list[str]
    repeats: NDArray[np.int32]
    #: The key of each row, of each part.
    keys: tuple[Places, ...]
    #: Rows of a key that a part has a second time, of each part; most are empty.
    twice: tuple[Places, ...]

    def item_of(self, key: int) -> str:
        """Name the item of a key."""
        return str(self.items[key // len(self.repeats)])

    def repeat_of(self, key: int) -> int:
        """The repeat of a key."""
        return int(self.repeats[key % len(self.repeats)])

    def by_model(self, counts: Iterable[int]) -> str:
        """List the models that have a count, with it."""
        pairs = zip(self.parts, counts, strict=True)
        return listed(f"{visible(part.model)} ({n})" for part, n in pairs if n)

    @property
    def n_keys(self) -> int:
        """Number of keys that there may be."""
        return len(self.items) * len(self.repeats)

    def present(self) -> NDArray[np.int32]:
        """Count the parts that have each key."""
        n = np.zeros(self.n_keys, np.int32)
        first = self.keys[0]
        same = sum(keys is first for keys in self.keys)
        for keys in (first, *(keys for keys in self.keys if keys is not first)):
            part_counts = np.zeros(self.n_keys, np.int32)
            part_counts[keys] = same if keys is first else 1
            n += part_counts
        return n


def join(parts: Sequence[LogPart]) -> Joint:
    """The items and repeats of parts of the same task and subset, joined."""
    lists: list[Any] = [part.items for part in parts]
    if all(isinstance(items, np.ndarray) and items.dtype.kind in "iu" for items in lists):
        lists = [items.astype(np.int64, copy=False) for items in lists]
    else:  # all as text
        lists = [items if isinstance(items, list) else texts(items) for items in lists]
    first = lists[0]
    others = [items for items in lists[1:] if not _same(items, first)]
    index: Any
    if isinstance(first, np.ndarray):
        index = _Numbers(np.concatenate([first, *others]) if others else first)
    else:
        index = _Texts([item for items in (first, *others) for item in items])
    first_places = index.find(first)
    places = [first_places if _same(items, first) else index.find(items) for items in lists]
    distinct_repeats, keys = np.zeros(1, np.int32), places
    if any(part.repeats is not None for part in parts):
        repeats = [repeats_of(part) for part in parts]
        other = [of_part for of_part in repeats[1:] if not np.array_equal(of_part, repeats[0])]
        distinct_repeats = np.unique(np.concatenate([repeats[0], *other])).astype(np.int32)
        keys = []
        for part_places, of_part in zip(places, repeats, strict=True):
            if keys and part_places is first_places and np.array_equal(of_part, repeats[0]):
                keys.append(keys[0])
            else:
                keys.append(
                    part_places * distinct_repeats.size + np.searchsorted(distinct_repeats, of_part)
                )
    twice = {id(keys_of): _rows_twice(keys_of) for keys_of in keys}
    return Joint(
        tuple(parts), index.items, distinct_repeats, tuple(keys), tuple(twice[id(x)] for x in keys)
    )


def _rows_twice(keys: Places) -> Places:
    """Rows whose key was in an earlier row."""
    if _is_rising(keys):
        return keys[:0]
    has = np.zeros(int(keys.max(initial=-1)) + 1, np.bool_)
    has[keys] = True
    if np.count_nonzero(has) == keys.size:
        return keys[:0]
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    again = order[1:][ordered[1:] == ordered[:-1]]
    return np.sort(again)


def _is_rising(numbers: Places) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def _same(items: Any, others: Any) -> bool:
    if isinstance(items, np.ndarray):
        return items is others or np.array_equal(items, others)
    return items is others or items == others


# Answers that have no value: refused, counted as wrong, or left out.


#: What `errors=` and `items=` take.
ERRORS = ("raise", "wrong", "drop")
ITEMS = ("same", "common")


class Block(NamedTuple):
    """Answers of all models to the items of one task and subset."""

    #: Key of each column, K of them.
    keys: Ints
    #: NaN where there is none, shape (M, K).
    values: Floats
    #: Codes of `STATUS`, shape (M, K); None: all are "ok".
    status: NDArray[np.uint8] | None
    #: Shape (M, K); None: one each.
    attempts: NDArray[np.int32] | None


def status_of(part: LogPart) -> NDArray[np.uint8] | None:
    """Why values are missing, shape (n,); a NaN without a reason is unscored."""
    unscored = np.isnan(part.values)
    if part.status is None and not unscored.any():
        return None
    status = np.zeros(len(unscored), np.uint8) if part.status is None else part.status
    if unscored.any():
        status = np.where((status == 0) & unscored, np.uint8(part.missing), status)
    return status if status.any() else None


def scatter(joint: Joint, keys: Ints) -> Block:
    """Put the answers of each model in the columns of some keys, which are in order."""
    shape = len(joint.parts), len(keys)
    column = np.full(joint.n_keys, -1)
    column[keys] = np.arange(len(keys))
    values = np.empty(shape)
    status: NDArray[np.uint8] | None = None
    attempts: NDArray[np.int32] | None = None
    first = None
    places: Any = None
    plain = False
    for i, (part, part_keys) in enumerate(zip(joint.parts, joint.keys, strict=True)):
        if part_keys is not first:
            first, places = part_keys, column[part_keys]
            plain = len(part_keys) == len(keys) and np.array_equal(part_keys, keys)
        rows: Any = slice(None) if plain else np.flatnonzero(places >= 0)
        to: Any = slice(None) if plain else places[rows]
        values[i, to] = part.values[rows]
        if part.lower_is_better:
            np.subtract(0.0, values[i], out=values[i])  # no -0.0
        codes = status_of(part)
        if codes is not None:
            status = np.zeros(shape, np.uint8) if status is None else status
            status[i, to] = codes[rows]
        if part.attempts is not None:
            attempts = np.ones(shape, np.int32) if attempts is None else attempts
            attempts[i, to] = part.attempts[rows]
    if status is not None:
        values[status != 0] = np.nan
    return Block(keys, values, status, attempts)


def check_answers(joint: Joint, kept: Ints, complain: Complain) -> None:
    """Refuse answers without a value, naming the first and counting all."""
    is_kept = np.zeros(joint.n_keys, np.bool_)
    is_kept[kept] = True
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        status = status_of(part)
        if status is None:
            continue
        rows = np.flatnonzero((status != 0) & is_kept[keys])
        if not rows.size:
            continue
        row = int(rows[0])
        key = int(keys[row])
        answer_name = f"item {visible(joint.item_of(key))}"
        if part.repeats is not None:
            answer_name += f", repeat {joint.repeat_of(key)}"
        why = STATUS[int(status[row])]
        if reason := part.reasons.get(row):
            why += f": {visible(str(reason))}"
        complain(
            f"{part.source}: {visible(part.model)} has no value of "
            f"{visible(part.metric)} for {answer_name}"
            f"{a_task(label_of(part))} ({why}); it lacks {rows.size} of {len(keys)}. "
            "Pass `errors='wrong'` to count such answers as 0, or `errors='drop'` to leave "
            "their items out for all models"
        )
        return


def count_wrong(block: Block, joint: Joint, complain: Complain) -> list[str]:
    """Count answers without a value as 0, in place."""
    if block.status is None:
        return []
    part = joint.parts[0]
    present = block.values[block.status == 0]
    if any(x.lower_is_better for x in joint.parts) or (present < 0).any():
        complain(
            f"`errors='wrong'` counts an answer that is missing as 0, which is not the "
            f"worst value of {visible(part.metric)}{a_task(label_of(part))}: pass "
            "`errors='drop'`"
        )
    missing = block.status != 0
    block.values[missing] = 0.0
    n_missing, of = counted(int(missing.sum()), "answer"), joint.by_model(missing.sum(axis=1))
    return [f"{n_missing} without a value{a_task(label_of(part))} counted as 0, of {of}."]


def drop(block: Block, joint: Joint) -> tuple[Block, list[str]]:
    """Leave out items to which some model has an answer without a value."""
    if block.status is None:
        return block, []
    n_repeats = len(joint.repeats)
    places = block.keys // n_repeats
    gone = np.zeros((len(joint.parts), len(joint.items)), np.bool_)
    for i, row in enumerate(block.status):
        gone[i, places[row != 0]] = True
    out = np.logical_or.reduce(gone)
    is_kept = ~out[places]
    if not is_kept.any():
        raise BadValueError(
            f"`errors='drop'` leaves no item{a_task(label_of(joint.parts[0]))}: to each some "
            "model has no value"
        )
    remark = (
        f"{counted(int(out.sum()), 'item')}{a_task(label_of(joint.parts[0]))} left "
        f"out, because of answers without a value of {joint.by_model(gone.sum(axis=1))}."
    )
    attempts = None if block.attempts is None else block.attempts[:, is_kept]
    return Block(block.keys[is_kept], block.values[:, is_kept], None, attempts), [remark]


def common_remark(joint: Joint, keys: Ints) -> list[str]:
    """A remark on the number of items that some model lacks, and on these models."""
    n_repeats = len(joint.repeats)
    present = joint.present() > 0
    n_any, n_kept = int(present.sum()), len(keys)
    if n_any == n_kept:
        return []
    n_items = len(joint.items) - np.unique(keys // n_repeats).size
    what = counted(n_items, "item")
    if n_any - n_kept != n_items:
        what += f" ({n_any - n_kept} answers)"
    return [
        f"{what}{a_task(label_of(joint.parts[0]))} left out, which some models lack: "
        f"{joint.by_model([max(n_any - len(keys_of), 0) for keys_of in joint.keys])}."
    ]


# Tasks, joined each for itself, beside each other in one record.


def assemble(blocks: Sequence[tuple[Block, Joint]], **fields: Any) -> Results:
    """Put answers to several tasks in one table."""
    items: list[Any] = []
    clusters: list[Any] = []
    columns: list[Places] = []
    n_items = 0
    for block, joint in blocks:
        places = block.keys // len(joint.repeats)
        if len(places) == len(joint.items) and len(joint.repeats) == 1:
            rows_kept, numbers = places, np.arange(places.size)
        else:
            rows_kept, numbers = np.unique(places, return_inverse=True)
        all_items = joint.items
        items.append(
            all_items[rows_kept]
            if isinstance(all_items, np.ndarray)
            else [all_items[i] for i in rows_kept.tolist()]
        )
        columns.append(numbers.ravel() + n_items)
        n_items += rows_kept.size
        named = next((x for x in zip(joint.parts, joint.keys, strict=True) if x[0].clusters), None)
        clusters.append(None)
        if named is not None:  # from the first model that names them
            of_items = np.full(len(all_items), None, dtype=object)
            of_items[named[1] // len(joint.repeats)] = list(named[0].clusters or ())
            clusters[-1] = of_items[rows_kept]
    sizes = list(map(len, items))
    if not all(isinstance(of_task, np.ndarray) for of_task in items):  # all as text
        items = [np.array(texts(of_task), dtype=object) for of_task in items]
    if has_clusters := any(of_task is not None for of_task in clusters):
        clusters = [  # a task without them has each item for itself
            np.array([f"{task}:{i}" for i in range(size)], dtype=object)
            if of_task is None
            else of_task
            for task, (of_task, size) in enumerate(zip(clusters, sizes, strict=True))
        ]
    parts = [joint.parts for _, joint in blocks]
    counts = np.zeros((2, len(parts[0]), len(blocks)), np.int64)  # errors, answers without a score
    for task, models in enumerate(parts):
        for model, part in enumerate(models):
            if (status := status_of(part)) is not None:
                n_errors = np.count_nonzero(status == ERROR)
                counts[:, model, task] = n_errors, np.count_nonzero(status) - n_errors
    shapes = [block.values.shape for block, _ in blocks]
    answers = [block.values for block, _ in blocks]
    return Results(
        tasks=tuple((of_task[0].task, of_task[0].subset) for of_task in parts),
        metrics=tuple(of_task[0].metric for of_task in parts),
        items=np.concatenate(items),
        item_tasks=np.repeat(np.arange(len(sizes)), sizes),
        columns_items=np.concatenate(columns),
        repeats=np.concatenate(
            [joint.repeats[block.keys % len(joint.repeats)] for block, joint in blocks]
        ),
        answers=answers[0] if len(answers) == 1 else np.concatenate(answers, axis=1),
        status=filled([block.status for block, _ in blocks], shapes, np.uint8(0), axis=1),
        attempts=filled([block.attempts for block, _ in blocks], shapes, np.int32(1), axis=1),
        clusters=np.concatenate(clusters) if has_clusters else None,
        sources=tuple(tuple(str(part.source) for part in row) for row in zip(*parts, strict=True)),
        unit=parts[0][0].unit,
        negated=tuple(of_task[0].lower_is_better for of_task in parts),
        task_errors=counts[0],
        task_unscored=counts[1],
        n_left_out=sum(len(joint.items) for _, joint in blocks) - n_items,
        **fields,
    )
