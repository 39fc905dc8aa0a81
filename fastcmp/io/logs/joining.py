"""Answers of several models joined by item and repeat, never by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.io.logs.runs import repeats_of, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.io.logs.part import LogPart

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
        """Give the place of each, -1 where it is unknown."""
        if self._table is not None and self._table.size:
            inside = (items >= self._low) & (items < self._low + self._table.size)
            places = self._table[np.where(inside, items - self._low, 0)]
            return np.where(inside, places, -1)
        if not self.items.size:
            return np.full(items.size, -1)
        places = np.searchsorted(self.items, items).clip(max=self.items.size - 1)
        return np.where(self.items[places] == items, places, -1)

    def with_more(self, items: Places) -> _Numbers:
        """Add items."""
        return _Numbers(np.union1d(self.items, items))


class _Texts:
    """Where texts stand among known ones, which stay in order."""

    def __init__(self, items: Sequence[str]) -> None:
        self.items = list(dict.fromkeys(items))
        self._places = {item: place for place, item in enumerate(self.items)}

    def find(self, items: Sequence[str]) -> Places:
        """Give the place of each, -1 where it is unknown."""
        get = self._places.get
        return np.fromiter((get(item, -1) for item in items), np.int64, len(items))

    def with_more(self, items: Sequence[str]) -> _Texts:
        """Add items."""
        return _Texts([*self.items, *items])


@dataclass(frozen=True, slots=True)
class Joint:
    """What several models answered of one task and subset, by item and repeat.

    A key is ``place of the item * number of repeats + place of the repeat``.
    """

    parts: tuple[LogPart, ...]
    #: Items of any model, n of them, and repeats, R.
    items: NDArray[np.int64] | list[str]
    repeats: NDArray[np.int32]
    #: The key of each row, of each part.
    keys: tuple[Places, ...]
    #: Rows of a key that a part has a second time, of each part; most are empty.
    twice: tuple[Places, ...]

    def item_of(self, key: int) -> str:
        """Name the item of a key."""
        return str(self.items[key // len(self.repeats)])

    def repeat_of(self, key: int) -> int:
        """Give the repeat of a key."""
        return int(self.repeats[key % len(self.repeats)])

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
            own = np.zeros(self.n_keys, np.int32)
            own[keys] = same if keys is first else 1
            n += own
        return n


def join(parts: Sequence[LogPart]) -> Joint:
    """Find the items and repeats of parts of the same task and subset."""
    lists = _alike([part.items for part in parts])
    first = lists[0]
    numbers = isinstance(first, np.ndarray)
    index: Any = _Numbers(first) if numbers else _Texts(first)
    found = [index.find(first)]
    grown = False
    for items in lists[1:]:
        if _same(items, first):
            found.append(found[0])
            continue
        places = index.find(items)
        if (places < 0).any():
            new = np.flatnonzero(places < 0)
            more = items[new] if numbers else [items[i] for i in new.tolist()]
            index, grown = index.with_more(more), True
        found.append(places)
    if grown:  # places have moved
        moved = index.find(first)
        found = [
            moved if places is found[0] else index.find(items)
            for places, items in zip(found, lists, strict=True)
        ]
    return _with_repeats(parts, index.items, found)


def _with_repeats(parts: Sequence[LogPart], items: Any, places: Sequence[Places]) -> Joint:
    """Make keys of items and repeats."""
    own = [None if part.repeats is None else repeats_of(part) for part in parts]
    if all(each is None for each in own):
        known, keys = np.zeros(1, np.int32), list(places)
    else:
        lists = [repeats_of(part) for part in parts]
        known = _distinct(lists)
        keys = []
        for part_places, repeats in zip(places, lists, strict=True):
            same = part_places is places[0] and np.array_equal(repeats, lists[0])
            if same and keys:
                keys.append(keys[0])
                continue
            codes = np.searchsorted(known, repeats)
            keys.append(part_places * known.size + codes)
    twice: list[Places] = []
    for each in keys:
        again = twice and each is keys[0]
        twice.append(twice[0] if again else _rows_twice(each))
    return Joint(tuple(parts), items, known, tuple(keys), tuple(twice))


def _distinct(lists: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Give the repeats that any part has, in order."""
    known = np.unique(lists[0])
    for repeats in lists[1:]:
        if not np.array_equal(repeats, lists[0]):
            known = np.union1d(known, repeats)
    return known.astype(np.int32)


def _rows_twice(keys: Places) -> Places:
    """Find rows whose key has been before."""
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


def _alike(lists: Sequence[Any]) -> list[Any]:
    """Make all items whole numbers, or all text."""
    if all(isinstance(items, np.ndarray) and items.dtype.kind in "iu" for items in lists):
        return [items.astype(np.int64, copy=False) for items in lists]
    return [items if isinstance(items, list) else texts(items) for items in lists]


def _same(items: Any, others: Any) -> bool:
    if isinstance(items, np.ndarray):
        return items is others or np.array_equal(items, others)
    return items is others or items == others
