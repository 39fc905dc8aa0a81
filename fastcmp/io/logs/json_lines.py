"""Values of wanted keys in a file of JSON lines, as columns.

A file may be larger than memory, and a line as long as the memory limit. What the scan
is not sure of is parsed by `json`, which says what is wrong with it.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from gzip import BadGzipFile, GzipFile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.io.logs.grades import grade
from fastcmp.io.logs.sniffing import first_keys
from fastcmp.kernels.json_columns import hash_bytes, hash_spans, read_numbers, read_whole
from fastcmp.kernels.json_fields import (
    ABSENT,
    ARRAY,
    ESCAPED,
    NULL,
    NUMBER,
    OBJECT,
    TEXT,
    scan_lines,
)

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

Key: TypeAlias = str | tuple[str, str]

_BLOCK = 1 << 22  # characters that are read at once
_GAP = re.compile(r"[\s,]*")


def parse(data: bytes, where: str) -> Any:
    """Parse JSON; bare NaN is a number. `where` begins the message of an error."""
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from error
    except RecursionError as error:
        raise ValueError(f"{where}: JSON that is nested too deep") from error
    except ValueError as error:
        raise ValueError(
            f"{where}: no whole JSON ({error}); the file is cut off or damaged"
        ) from error


def read(path: Path, memory_limit: int) -> Any:
    """Parse a file that takes no more than so many bytes."""
    size = path.stat().st_size
    if size > memory_limit:
        raise ValueError(
            f"{path}: {size:,} bytes, more than memory_limit = {memory_limit:,}; raise "
            "memory_limit if there is as much memory"
        )
    return parse(path.read_bytes(), str(path))


def read_object(path: Path, memory_limit: int) -> dict[str, Any]:
    """Parse a file that must hold an object."""
    found = read(path, memory_limit)
    if not isinstance(found, dict):
        raise ValueError(f"{path}: is not a JSON object, but {type(found).__name__}")  # noqa: TRY004  # of data
    return found


def entries(path: Path, memory_limit: int, key: str | None = None) -> Iterator[Any]:
    """Yield the objects of the array that a file is, or has at `key`, one by one.

    Only the one that is read takes memory, `memory_limit` characters at most.
    """
    decode = json.JSONDecoder().raw_decode
    count = 0
    with path.open(encoding="utf-8-sig") as file:
        try:
            text = file.read(_BLOCK)
            at = _start(text, key, path)
            while True:
                at = _GAP.match(text, at).end()  # type: ignore[union-attr]
                if text[at : at + 1] == "]":
                    return
                try:
                    entry, at = decode(text, at)
                except ValueError:
                    whole = False
                else:
                    whole = True
                if whole and isinstance(entry, dict):
                    count += 1
                    yield entry
                    continue
                # Twice as much each time, lest a large entry is parsed often.
                more = file.read(max(_BLOCK, len(text) - at))
                if whole or not more or len(text) - at > memory_limit:
                    raise ValueError(
                        f"{path}: entry {count + 1} is no whole JSON object; the file "
                        "is cut off or damaged"
                    )
                text, at = text[at:] + more, 0
        except (UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"{path}: entry {count + 1} cannot be read: {error}") from error


def _start(text: str, key: str | None, path: Path) -> int:
    """Where the first entry of the array begins."""
    pattern = r"\s*\[" if key is None else rf'.*?"{re.escape(key)}"\s*:\s*\['
    found = re.match(pattern, text, re.DOTALL)
    if found is None:
        what = "a JSON array" if key is None else f"a JSON object with an array {key!r}"
        raise ValueError(f"{path}: wanted {what}, got {text[:40]!r}")
    return found.end()


# Files of JSON lines, scanned block by block: only wanted values are looked at.


_MARGIN = 16  # bytes that the scan may look at behind the last line
_ROW = 200  # bytes of a line, to guess how many there are
_LINE_FEED, _SPACE = 10, 32
_HIGHS = np.uint64(0x8080808080808080)
_BOM = b"\xef\xbb\xbf"
_NOT_UTF8 = "is not UTF-8: is the file of another encoding, or cut off?"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file, without those that are empty."""

    path: Path
    data: NDArray[np.uint8]
    #: Where wanted values begin and end, shape (n, K, 2), and their kinds, (n, K).
    spans: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    #: Number of each line, from 1.
    lines: NDArray[np.int64]

    def column(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Take spans and kinds of a wanted key."""
        spans = np.ascontiguousarray(self.spans[:, k])
        return spans, np.ascontiguousarray(self.kinds[:, k])

    def written(self, row: int, k: int) -> str:
        """Take a value as it is written, a text without its quotes."""
        start, stop = self.spans[row, k]
        return self.data[start:stop].tobytes().decode()


class _Keys:
    """Wanted keys, as the scan takes them: a key of an object follows the object."""

    def __init__(self, wanted: Sequence[Key]) -> None:
        outer = [key if isinstance(key, str) else key[0] for key in wanted]
        #: Keys of a line, then of objects.
        self.all: list[Key] = list(dict.fromkeys(outer))
        self.all += dict.fromkeys(key for key in wanted if not isinstance(key, str))
        names = [(key if isinstance(key, str) else key[1]).encode() for key in self.all]
        lengths = np.array([len(name) for name in names], np.int64)
        parents = [-1 if isinstance(k, str) else self.all.index(k[0]) for k in self.all]
        begins = np.cumsum(lengths) - lengths
        holds = [k in parents for k in range(len(names))]
        table = np.array([begins, lengths, parents, holds], np.int64)
        self.table = np.ascontiguousarray(table.T)
        self.names = np.frombuffer(b"".join(names) or b" ", np.uint8)


def refuse_line(path: Path, line: int, problem: str) -> NoReturn:
    """Raise an error that names file and line."""
    raise ValueError(f"{path}, line {line}: {problem}")


def check_once(
    path: Path, items: Sequence[str], lines: NDArray[np.int64], of: str, why: str = ""
) -> None:
    """Refuse an item that is there twice; `of` says whose, and what it is called."""
    seen: dict[str, int] = {}
    for item, line in zip(items, lines.tolist(), strict=True):
        if item in seen:
            problem = f"{of} {visible(item)} twice, here and in line {seen[item]}{why}"
            refuse_line(path, line, problem)
        seen[item] = line


@contextmanager
def open_lines(path: Path) -> Iterator[BinaryIO]:
    """Open a file of lines, compressed by gzip or not; reading it may fail."""
    with path.open("rb") as plain:
        compressed = plain.read(2) == _GZIP
        plain.seek(0)
        try:
            if not compressed:
                yield plain
                return
            with GzipFile(fileobj=plain) as file:
                yield cast("BinaryIO", file)
        except (EOFError, BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{path}: cut off or damaged ({error}); copy or fetch it again"
            ) from error


def head_keys(file: LogFile) -> frozenset[str]:
    """List the keys of the first line, also of a file compressed by gzip."""
    if not file.head.startswith(_GZIP):
        return file.keys
    with suppress(zlib.error):
        unpack = zlib.decompressobj(wbits=31).decompress
        return first_keys(unpack(file.head, len(file.head)))
    return frozenset()


def first_entry(path: Path, memory_limit: int) -> dict[str, Any]:
    """Parse the first line, or the first entry of an array."""
    if is_array(path):
        return _array(path, memory_limit)[0]
    with open_lines(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(memory_limit), b"")):
            if text := line.removeprefix(_BOM).strip():
                return parse_line(path, number + 1, text)
    raise ValueError(f"{path}: holds no lines")


def is_array(path: Path) -> bool:
    """Tell whether a file is a JSON array, instead of lines."""
    with open_lines(path) as file:
        return file.read(1 << 12).removeprefix(_BOM).lstrip().startswith(b"[")


def _array(path: Path, memory_limit: int) -> list[dict[str, Any]]:
    """Parse an array of objects as a whole."""
    with open_lines(path) as file:
        content = file.read(memory_limit + 1)
    if len(content) > memory_limit:
        raise ValueError(
            f"{path}: an array of more than memory_limit ({memory_limit:,}) bytes, "
            "which is parsed as a whole: raise memory_limit to read it"
        )
    found = parse(content, str(path))
    for i, entry in enumerate(found):
        if not isinstance(entry, dict):
            raise ValueError(f"{path}: entry {i + 1} of its array is not an object")  # noqa: TRY004
    if not found:
        raise ValueError(f"{path}: holds an empty array")
    return cast("list[dict[str, Any]]", found)


def read_blocks(
    path: Path, wanted: Sequence[Key], memory_limit: int
) -> tuple[dict[Key, int], Iterator[Block]]:
    """Read a file block by block; the first tells where each key is in a block.

    A block is overwritten by the next one.
    """
    keys = _Keys(wanted)
    return {key: k for k, key in enumerate(keys.all)}, _blocks(path, keys, memory_limit)


def _blocks(path: Path, keys: _Keys, memory_limit: int) -> Iterator[Block]:
    line = 1
    lines = None
    if is_array(path):  # an entry becomes a line
        entries = _array(path, memory_limit)
        lines = "\n".join([_rewritten(each, keys.all) for each in entries]).encode()
        del entries
    for data, stop in _pieces(path, lines, memory_limit):
        _check_utf8(path, data, stop, line)
        start = 0
        while start < stop:
            block, start, n_lines = _scan(path, data, (start, stop), keys, line)
            if block is not None:
                yield block
            line += n_lines


def _pieces(
    path: Path, lines: bytes | None, memory_limit: int
) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Read whole lines, each piece into the same buffer; a line feed ends it."""
    buffer = np.zeros(_BLOCK + _MARGIN, np.uint8)
    kept, is_first = 0, True
    with open_lines(path) if lines is None else BytesIO(lines) as file:
        while True:
            n = file.readinto(memoryview(buffer)[kept:-_MARGIN])  # type: ignore[attr-defined, arg-type]
            if is_first and buffer[:3].tobytes() == _BOM:
                buffer[:3] = _SPACE
            is_first = False
            if n == 0:
                if kept:
                    buffer[kept] = _LINE_FEED
                    yield buffer[: kept + 1 + _MARGIN], kept + 1
                return
            stop = _after_last_line_feed(buffer, kept, kept + n)
            kept += n - stop
            if stop:
                yield buffer[: stop + _MARGIN], stop
                buffer[:kept] = buffer[stop : stop + kept].copy()
            elif kept >= buffer.size - _MARGIN:
                buffer = _grown(path, buffer, memory_limit)


def _after_last_line_feed(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """Find where the line begins that is not whole yet; 0: all is one line."""
    step = 1 << 12
    while stop > start:
        begin = max(start, stop - step)
        found = np.flatnonzero(data[begin:stop] == _LINE_FEED)
        if found.size:
            return begin + int(found[-1]) + 1
        stop = begin
    return 0


def _grown(path: Path, buffer: NDArray[np.uint8], limit: int) -> NDArray[np.uint8]:
    """Make a buffer of twice the size for a long line."""
    if 2 * buffer.size > max(limit, 4 * _BLOCK):
        raise ValueError(
            f"{path}: has a line of more than {buffer.size:,} bytes; to read it, raise "
            f"memory_limit (now {limit:,} bytes)"
        )
    larger = np.zeros(2 * buffer.size, np.uint8)
    larger[: buffer.size] = buffer
    return larger


def _check_utf8(path: Path, data: NDArray[np.uint8], stop: int, line: int) -> None:
    """Refuse bytes that are not UTF-8."""
    words = data[: (stop + 7) // 8 * 8].view(np.uint64)
    if not np.bitwise_or.reduce(words) & _HIGHS:
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, stop, 1 << 16):
        end = min(stop, start + (1 << 16))
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start:end].tobytes(), final=end == stop)
        except UnicodeDecodeError as error:
            bad = start - kept + error.start
            before = int(np.count_nonzero(data[:bad] == _LINE_FEED))
            refuse_line(path, line + before, _NOT_UTF8)


def _scan(
    path: Path, data: NDArray[np.uint8], limits: tuple[int, int], keys: _Keys, line: int
) -> tuple[Block | None, int, int]:
    """Scan some lines; return where the next one begins, and how many there were."""
    n_keys = len(keys.all)
    n = (limits[1] - limits[0]) // _ROW + 16
    spans = np.empty((n, n_keys, 2), np.int64)
    kinds = np.empty((n, n_keys), np.uint8)
    lines = np.empty((n, 4), np.int64)
    n_rows, end, n_lines = scan_lines(data, limits, keys.names, keys.table, spans, kinds, lines)
    if not n_rows:
        return None, end, n_lines
    lines = lines[:n_rows]
    block = Block(path, data, spans[:n_rows], kinds[:n_rows], line + lines[:, 2])
    if lines[:, 3].any():
        block = _parsed_lines(block, lines, keys)
    return block, end, n_lines


def _parsed_lines(block: Block, lines: NDArray[np.int64], keys: _Keys) -> Block:
    """Parse lines that the scan is not sure of, and write wanted values anew."""
    texts = []
    for (start, stop, _, unsure), number in zip(lines, block.lines, strict=True):
        line = block.data[start:stop].tobytes()
        if unsure:
            found = parse_line(block.path, int(number), line)
            line = _rewritten(found, keys.all).encode()
        texts.append(line)
    whole = b"\n".join([*texts, b""])
    data = np.zeros(len(whole) + _MARGIN, np.uint8)
    data[: len(whole)] = np.frombuffer(whole, np.uint8)
    again = np.empty_like(lines)
    spans, kinds = np.empty_like(block.spans), np.empty_like(block.kinds)
    scan_lines(data, (0, len(whole)), keys.names, keys.table, spans, kinds, again)
    if again[:, 3].any():
        number = int(block.lines[int(np.argmax(again[:, 3]))])
        refuse_line(block.path, number, "holds values that are nested too deeply")
    return Block(block.path, data, spans, kinds, block.lines)


def _rewritten(found: Mapping[str, Any], keys: Sequence[Key]) -> str:
    """Write the wanted keys of a line, and those of its objects, without escapes."""
    inner: dict[str, list[str]] = {}
    for key in keys:
        if not isinstance(key, str):
            inner.setdefault(key[0], []).append(key[1])
    pairs = []
    for key in keys:
        if isinstance(key, str) and key in found:
            value = found[key]
            nested = key in inner and isinstance(value, dict)
            text = _rewritten(value, inner[key]) if nested else json.dumps(value)
            pairs.append(f'"{key}": {text}')
    return "{" + ", ".join(pairs) + "}"


def parse_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Parse a line that must be an object."""
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError:
        refuse_line(path, number, _NOT_UTF8)
    except (ValueError, RecursionError) as error:
        why = f"is not valid JSON ({error})"
        if isinstance(error, RecursionError):
            why = "is nested too deeply"
        refuse_line(path, number, f"{why}: is the file damaged, or cut off?")
    if not isinstance(found, dict):
        refuse_line(path, number, f"is not a JSON object, but {line[:40]!r}")
    return found


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
