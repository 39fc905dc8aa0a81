"""Values of wanted keys in a file of JSON lines, as columns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fastcmp.io.logs.grades import grade
from fastcmp.io.logs.json_blocks import read_blocks, refuse_line
from fastcmp.kernels.json_columns import hash_bytes, hash_spans, read_numbers, read_whole
from fastcmp.kernels.json_fields import ABSENT, ARRAY, ESCAPED, NULL, NUMBER, OBJECT, TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from fastcmp.io.logs.json_blocks import Block, Key

_TEXTS = (TEXT, ESCAPED)


class Column(Protocol):
    """Values of a key, filled block by block."""

    def add(self, block: Block, k: int) -> None:
        """Take the values of some lines."""

    def finish(self) -> None:
        """Join what was taken."""


@dataclass(slots=True)
class Ids:
    """Identities: whole numbers where all are, else texts; none may be missing."""

    key: str
    values: NDArray[np.int64] | list[str] = field(default_factory=list)
    _blocks: list[NDArray[np.int64] | list[str]] = field(default_factory=list)

    def add(self, block: Block, k: int) -> None:
        """Take the values of some lines."""
        spans, kinds = block.column(k)
        whole = np.empty(kinds.size, np.int64)
        if read_whole(block.data, spans, kinds, whole):
            self._blocks.append(whole)
            return
        texts = []
        for row, kind in enumerate(kinds.tolist()):
            if kind not in (NUMBER, *_TEXTS):
                problem = f"{self.key} must be a number or text, and "
                problem += "is not there" if kind == ABSENT else "is neither"
                refuse_line(block.path, int(block.lines[row]), problem)
            texts.append(_text(block, row, k))
        self._blocks.append(texts)

    def finish(self) -> None:
        """Join what was taken."""
        whole = [b for b in self._blocks if isinstance(b, np.ndarray)]
        if len(whole) == len(self._blocks):
            self.values = np.concatenate([np.zeros(0, np.int64), *whole])
        else:
            self.values = [str(value) for block in self._blocks for value in block]
        self._blocks.clear()


@dataclass(slots=True)
class Numbers:
    """Numbers; true is 1, false 0; NaN where there is none. Grades are numbers too."""

    values: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    #: Kinds of `fastcmp.kernels.json_fields`.
    kinds: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    #: Row and text of the first that is a text and no grade.
    strange: tuple[int, str] | None = None
    _blocks: list[tuple[Any, Any]] = field(default_factory=list)
    _n: int = 0

    def add(self, block: Block, k: int) -> None:
        """Take the values of some lines."""
        spans, kinds = block.column(k)
        values, left = np.empty(kinds.size), np.empty(kinds.size, np.uint8)
        if read_numbers(block.data, spans, kinds, values, left):
            for row in np.flatnonzero(left).tolist():
                if kinds[row] == NUMBER:
                    values[row] = float(block.written(row, k))
                elif kinds[row] in _TEXTS:
                    text = _text(block, row, k)
                    found = grade(text)
                    if found is not None:
                        values[row] = found
                    elif self.strange is None:
                        self.strange = self._n + row, text
        self._n += kinds.size
        self._blocks.append((values, kinds))

    def finish(self) -> None:
        """Join what was taken."""
        if self._blocks:
            self.values = np.concatenate([values for values, _ in self._blocks])
            self.kinds = np.concatenate([kinds for _, kinds in self._blocks])
        self._blocks.clear()


@dataclass(slots=True)
class Words:
    """Texts of which few differ, as codes; what is no text is as it is written."""

    codes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    #: The text of each code, None for null and what is absent.
    names: list[str | None] = field(default_factory=list)
    _known: dict[str | None, int] = field(default_factory=dict)
    _blocks: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, block: Block, k: int) -> None:
        """Take the values of some lines."""
        hashes, first, codes = _different(_hashes(block, k))
        own = np.empty(first.size, np.int64)
        for i in np.argsort(first).tolist():
            name = _text(block, int(first[i]), k) if hashes[i] else None
            own[i] = self._known.setdefault(name, len(self._known))
        self._blocks.append(own[codes])

    def finish(self) -> None:
        """Join what was taken."""
        self.codes = np.concatenate([np.zeros(0, np.int64), *self._blocks])
        self.names = list(self._known)
        self._blocks.clear()


@dataclass(slots=True)
class Prints:
    """Fingerprints of values, 0 for null, absent and an empty list.

    Equal texts have equal ones however they are written, and so have equal lists. A
    list of one text is that text.
    """

    values: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    _blocks: list[NDArray[np.uint64]] = field(default_factory=list)

    def add(self, block: Block, k: int) -> None:
        """Take the values of some lines."""
        written = _hashes(block, k)
        kinds = block.kinds[:, k]
        complex_ = np.isin(kinds, (ESCAPED, ARRAY, OBJECT))
        if complex_.any():
            rows = np.flatnonzero(complex_)
            _, first, codes = _different(written[rows])
            parsed = [_print(_parsed(block, row, k)) for row in rows[first].tolist()]
            written[rows] = np.array(parsed, np.uint64)[codes]
        self._blocks.append(written)

    def finish(self) -> None:
        """Join what was taken."""
        self.values = np.concatenate([np.zeros(0, np.uint64), *self._blocks])
        self._blocks.clear()


@dataclass(slots=True)
class Notes:
    """Texts that few lines have, by row; what is no text is as it is written."""

    values: dict[int, str] = field(default_factory=dict)
    _n: int = 0

    def add(self, block: Block, k: int) -> None:
        """Take the values of some lines."""
        kinds = block.kinds[:, k]
        for row in np.flatnonzero((kinds != ABSENT) & (kinds != NULL)).tolist():
            self.values[self._n + row] = _text(block, row, k)
        self._n += kinds.size

    def finish(self) -> None:
        """Do nothing: all is there."""


def read_columns(path: Path, columns: Mapping[Key, Column], memory_limit: int) -> NDArray[np.int64]:
    """Fill columns from the lines of a file; return the number of each line."""
    places, blocks = read_blocks(path, list(columns), memory_limit)
    lines = [np.zeros(0, np.int64)]
    for block in blocks:
        for key, column in columns.items():
            column.add(block, places[key])
        lines.append(block.lines)
    for column in columns.values():
        column.finish()
    return np.concatenate(lines)


def combine(*prints: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Make one fingerprint of several; 0 where all are."""
    mixed = prints[0].copy()
    for each in prints[1:]:
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) ^ each
    return mixed


def _hashes(block: Block, k: int) -> NDArray[np.uint64]:
    """Hash values as they are written."""
    spans, kinds = block.column(k)
    out = np.empty(kinds.size, np.uint64)
    hash_spans(block.data, spans, kinds, out)
    return out


def _different(hashes: NDArray[np.uint64]) -> tuple[Any, Any, Any]:
    """Find which hashes there are, the first row of each, and the code of each row."""
    if hashes.size and (hashes == hashes[0]).all():
        return hashes[:1], np.zeros(1, np.int64), np.zeros(hashes.size, np.int64)
    return np.unique(hashes, return_index=True, return_inverse=True)


def _text(block: Block, row: int, k: int) -> str:
    """Take a text; what is no text is as it is written."""
    written = block.written(row, k)
    if block.kinds[row, k] == ESCAPED:
        return str(json.loads(f'"{written}"'))
    return written


def _parsed(block: Block, row: int, k: int) -> Any:
    """Parse a text, a list or an object."""
    if block.kinds[row, k] == ESCAPED:
        return _text(block, row, k)
    return json.loads(block.written(row, k))


def _print(value: Any) -> int:
    """Hash a text, a list or an object."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if value == []:
        return 0
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    return int(hash_bytes(data, 0, data.size))


def groups(*words: Words) -> list[tuple[tuple[str | None, ...], NDArray[np.int64]]]:
    """Find the rows of each combination of words, in the order they are first seen."""
    code = np.zeros(words[0].codes.size, np.int64)
    for word in words:
        _, code = np.unique(code * len(word.names) + word.codes, return_inverse=True)
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    rows = np.split(order, starts[1:]) if order.size else []
    return [
        (tuple(word.names[word.codes[own[0]]] for word in words), own)
        for own in sorted(rows, key=lambda own: int(own[0]))
    ]
