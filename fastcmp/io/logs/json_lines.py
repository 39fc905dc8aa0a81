"""Values of wanted keys in a file of JSON lines, as columns.

A file may be larger than memory, and a line as long as the memory limit. What msgspec
does not take (NaN, say) is parsed by `json`, which says what is wrong with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, TypeAlias, TypeVar, cast

import msgspec
import numpy as np
from msgspec import UNSET

from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats, Ints
from fastcmp.io.logs.entries import grade, text_prints, texts
from fastcmp.io.logs.files import opened

Key: TypeAlias = str | tuple[str, str]
Entry = TypeVar("Entry")

_BLOCK = 1 << 18  # bytes that are read at once: a cache holds them
_AT_ONCE = 1 << 28  # bytes of an array that is parsed as a whole
_GAP = re.compile(r"[\s,]*")


def parse(data: bytes | bytearray, where: str) -> Any:
    """Parse JSON; bare NaN is a number. `where` begins the message of an error."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(data)
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
    """Parse a file that takes no more than so many bytes, unpacked."""
    content = bytearray()
    with opened(path) as file:
        while piece := file.read(_BLOCK):
            content += piece
            if len(content) > memory_limit:
                raise BadValueError(
                    f"{path}: more than `memory_limit=` allows, {memory_limit:,} bytes, and it "
                    "is parsed as a whole; raise `memory_limit=` if there is as much memory"
                )
    return parse(content, str(path))


def read_object(path: Path, memory_limit: int) -> dict[str, Any]:
    """Parse a file that must hold an object."""
    content = read(path, memory_limit)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: is not a JSON object, but {type(content).__name__}")
    return content


def entries(
    path: Path, memory_limit: int, kind: type[Entry], key: str | None = None
) -> Iterator[Entry]:
    """Yield the objects of the array that a file is, or has at `key`, as structs of a kind.

    Of a large file only the one that is read takes memory, `memory_limit` characters at most.
    """
    if path.stat().st_size <= min(memory_limit, _AT_ONCE):
        outer: Any = list[kind]  # type: ignore[valid-type]
        if key is not None:
            outer = msgspec.defstruct("Outer", [("rows", outer)], rename={"rows": key})
        try:
            content = msgspec.json.decode(path.read_bytes(), type=outer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # also bare NaN
            pass
        else:
            yield from content if key is None else content.rows
            return
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
                    is_complete = False
                else:
                    is_complete = True
                if is_complete and isinstance(entry, dict):
                    count += 1
                    yield msgspec.convert(entry, kind)
                    continue
                # Twice as much each time, lest a large entry is parsed often.
                more = file.read(max(_BLOCK, len(text) - at))
                if is_complete or not more or len(text) - at > memory_limit:
                    raise ValueError(
                        f"{path}: entry {count + 1} is no whole JSON object; the file "
                        "is cut off or damaged"
                    )
                text, at = text[at:] + more, 0
        except (UnicodeDecodeError, RecursionError, msgspec.ValidationError) as error:
            raise ValueError(f"{path}: entry {count + 1} cannot be read: {error}") from error


def _start(text: str, key: str | None, path: Path) -> int:
    """Where the first entry of the array begins."""
    pattern = r"\s*\[" if key is None else rf'.*?"{re.escape(key)}"\s*:\s*\['
    match = re.match(pattern, text, re.DOTALL)
    if match is None:
        what = "a JSON array" if key is None else f"a JSON object with an array {key!r}"
        raise ValueError(f"{path}: wanted {what}, got {text[:40]!r}")
    return match.end()


# Files of JSON lines, read block by block: only wanted values are kept.


_BOM, _LINE_FEED = b"\xef\xbb\xbf", 10
_NOT_UTF8 = "is not UTF-8: is the file of another encoding, or cut off?"
#: What a number's place may hold instead of one.
NOT_THERE, ARRAY, OBJECT, TEXT = 1, 2, 3, 4
_INSTEAD = {type(UNSET): NOT_THERE, list: ARRAY, dict: OBJECT, str: TEXT, int: TEXT}
_LARGEST = 10**300
Convert = Callable[[Sequence[Any]], Any]


def refuse_line(path: Path, line: int, problem: str) -> NoReturn:
    """Raise an error that names file and line."""
    raise ValueError(f"{path}, line {line}: {problem}")


def first_entry(path: Path, memory_limit: int) -> dict[str, Any]:
    """Parse the first line, or the first entry of an array."""
    if is_array(path):
        return _array(path, memory_limit)[0]
    with opened(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(memory_limit), b"")):
            if text := line.removeprefix(_BOM).strip():
                return parse_line(path, number + 1, text)
    raise ValueError(f"{path}: holds no lines")


def is_array(path: Path) -> bool:
    """Whether a file is a JSON array, instead of lines."""
    with opened(path) as file:
        return file.read(1 << 12).removeprefix(_BOM).lstrip().startswith(b"[")


def _array(path: Path, memory_limit: int) -> list[dict[str, Any]]:
    """Parse an array of objects as a whole."""
    content = read(path, memory_limit)
    for i, entry in enumerate(content):
        if not isinstance(entry, dict):
            raise ValueError(f"{path}: entry {i + 1} of its array is not an object")
    if not content:
        raise ValueError(f"{path}: holds an empty array")
    return cast("list[dict[str, Any]]", content)


class Plain(NamedTuple):
    """A type that the values of a key have in most files, and what becomes of such values.

    A block in which msgspec finds nothing else needs no look at the type of each value.
    """

    kind: Any
    convert: Convert
    #: What stands for a value that is not there, where one may lack.
    default: Any = msgspec.NODEFAULT


class Block(NamedTuple):
    """Values of wanted keys in some lines of a file, without those that are empty."""

    #: Number of each line, from 1.
    lines: Ints
    values: Mapping[Key, Sequence[Any]]
    #: Whether all are of their `Plain` types.
    is_plain: bool


def read_blocks(
    path: Path, keys: Sequence[Key], memory_limit: int, plain: Mapping[Key, Plain] | None = None
) -> Iterator[Block]:
    """Read a file block by block."""
    outer = list(dict.fromkeys(key if isinstance(key, str) else key[0] for key in keys))
    fields = {f"k{i}": name for i, name in enumerate(outer)}

    def struct(kinds: Mapping[Key, Plain]) -> Any:
        anything = Plain(Any, list, UNSET)
        of_fields = {field: kinds.get(name, anything) for field, name in fields.items()}
        types = [(field, row.kind, row.default) for field, row in of_fields.items()]
        return msgspec.defstruct("Row", types, rename=fields, gc=False, kw_only=True)

    row = struct({})
    decoder = msgspec.json.Decoder(row)
    plain_decoder = msgspec.json.Decoder(struct(plain)) if plain else None

    def by_json(number: int, line: bytes) -> Any:
        try:
            return decoder.decode(line)
        except (msgspec.DecodeError, RecursionError):
            entry_of_line = parse_line(path, number, line)
            return made(entry_of_line)

    def made(entry: Mapping[str, Any]) -> Any:
        return row(**{field: entry.get(name, UNSET) for field, name in fields.items()})

    def block(rows: Sequence[Any], lines: Ints, *, is_plain: bool = False) -> Block:
        columns = {name: [*map(attrgetter(field), rows)] for field, name in fields.items()}
        values: dict[Key, Sequence[Any]] = {}
        for key in keys:
            values[key] = (
                columns[key]
                if isinstance(key, str)
                else [
                    cell.get(key[1], UNSET) if isinstance(cell, dict) else UNSET
                    for cell in columns[key[0]]
                ]
            )
        return Block(lines, values, is_plain)

    if is_array(path):
        rows = [made(entry) for entry in _array(path, memory_limit)]
        yield block(rows, np.arange(1, len(rows) + 1))
        return
    first = 1
    for data in _pieces(path, memory_limit):
        n = int(np.count_nonzero(np.frombuffer(data, np.uint8) == _LINE_FEED))
        try:
            if not data.isascii():
                data.decode()
            try:
                rows = (plain_decoder or decoder).decode_lines(data)
            except msgspec.ValidationError:
                plain_decoder, rows = None, decoder.decode_lines(data)
            lines = np.arange(first, first + n)
        except UnicodeDecodeError as error:
            refuse_line(path, first + data.count(b"\n", 0, error.start), _NOT_UTF8)
        except (msgspec.DecodeError, RecursionError):
            rows = []
        is_plain = plain_decoder is not None and len(rows) == n
        if len(rows) != n:  # also empty lines, which are not rows
            texts = [(first + i, text) for i, text in enumerate(data.split(b"\n")) if text.strip()]
            rows = [by_json(number, text) for number, text in texts]
            lines = np.array([number for number, _ in texts], np.int64)
        yield block(rows, lines, is_plain=is_plain)
        first += n


def _pieces(path: Path, memory_limit: int) -> Iterator[bytes]:
    """Read whole lines, some MB at once; each piece ends with a line feed."""
    unfinished, n_bytes = b"", _BLOCK
    with opened(path) as file:
        data = file.read(n_bytes).removeprefix(_BOM)
        while data:
            stop = data.rfind(b"\n") + 1
            if stop:
                yield b"".join((unfinished, memoryview(data)[:stop]))
                unfinished, n_bytes = data[stop:], _BLOCK
            else:  # twice as much each time, lest a long line is copied often
                unfinished += data
                n_bytes = len(unfinished)
                if 2 * n_bytes > max(memory_limit, 4 * _BLOCK):
                    raise BadValueError(
                        f"{path}: has a line of more than {n_bytes:,} bytes; to read it, raise "
                        f"`memory_limit=` (now {memory_limit:,} bytes)"
                    )
            data = file.read(n_bytes)
    if unfinished.strip():
        yield unfinished + b"\n"


def parse_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Parse a line that must be an object."""
    try:
        entry = json.loads(line.decode())
    except UnicodeDecodeError:
        refuse_line(path, number, _NOT_UTF8)
    except (ValueError, RecursionError) as error:
        why = f"is not valid JSON ({error})"
        if isinstance(error, RecursionError):
            why = "is nested too deeply"
        refuse_line(path, number, f"{why}: is the file damaged, or cut off?")
    if not isinstance(entry, dict):
        refuse_line(path, number, f"is not a JSON object, but {line[:40]!r}")
    return entry


# What becomes of the values of a key, block by block.


def numbers(values: Sequence[Any]) -> Floats:
    """Numbers, NaN where there is none, and what is there instead, shape (2, n).

    True is 1, false 0; grades are numbers too.
    """
    both = np.zeros((2, len(values)))
    if set(map(type, values)) <= {int, float, bool}:
        with suppress(OverflowError):
            both[0] = values
            return both
    for row, cell in enumerate(values):
        value = grade(cell) if isinstance(cell, str) else cell
        if not isinstance(value, (int, float)) or (
            isinstance(value, int) and abs(value) > _LARGEST
        ):
            value = None
            both[1, row] = _INSTEAD.get(type(cell), 0)
        both[0, row] = math.nan if value is None else value
    return both


_FINITE = Annotated[float, msgspec.Meta(gt=-1e300, lt=1e300)]
_WHOLE = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
#: Of `list`, where `ids` are made of it, of `entries.prints`, of `numbers` and of `or_none`.
PLAIN_IDS = Plain(_WHOLE, lambda values: np.fromiter(values, np.int64, len(values)))
PLAIN_PRINTS = Plain(str, text_prints)
PLAIN_NUMBERS = Plain(
    _FINITE | bool,
    lambda values: np.stack([np.fromiter(values, np.float64, len(values)), np.zeros(len(values))]),
)
PLAIN_VALUES = Plain(
    _FINITE | bool | None, lambda values: np.fromiter(values, np.float64, len(values)), None
)


def or_none(values: Sequence[Any]) -> list[Any]:
    """The values, None where there is none."""
    return [None if value is UNSET else value for value in values]


def words() -> Convert:
    """Texts of which few differ, each kept once; what is no text is written as JSON."""
    distinct: dict[str | None, str | None] = {}

    def convert(values: Sequence[Any]) -> list[str | None]:
        column = texts(values)
        if column and column.count(column[0]) == len(column):
            return [distinct.setdefault(column[0], column[0])] * len(column)
        return [distinct.setdefault(text, text) for text in column]

    return convert


def read_columns(
    path: Path,
    columns: Mapping[Key, Convert],
    memory_limit: int,
    plain: Mapping[Key, Plain] | None = None,
) -> tuple[dict[Key, Any], Ints]:
    """What becomes of the values of each key, and the number of each line."""
    blocks: dict[Key, list[Any]] = {key: [] for key in columns}
    sooner = {**columns, **{key: value.convert for key, value in (plain or {}).items()}}
    lines = [np.zeros(0, np.int64)]
    for block in read_blocks(path, list(columns), memory_limit, plain):
        for key, convert in (sooner if block.is_plain else columns).items():
            blocks[key].append(convert(block.values[key]))
        lines.append(block.lines)
    if len(lines) == 1:
        raise ValueError(f"{path}: holds no lines")
    joined: dict[Key, Any] = {}
    for key, converted in blocks.items():
        if all(isinstance(values, np.ndarray) for values in converted):
            joined[key] = np.concatenate(converted, axis=-1)
        else:
            lists = (  # NaN of an array stands for None
                np.where(np.isnan(x), np.array(None), x).tolist()
                if isinstance(x, np.ndarray)
                else x
                for x in converted
            )
            joined[key] = [*chain.from_iterable(lists)]
    return joined, np.concatenate(lines)


def ids(path: Path, key: str, values: Sequence[Any], lines: Ints) -> Ints | list[str]:
    """Identities: whole numbers where all are, else texts; none may be missing."""
    if isinstance(values, np.ndarray):
        return values
    kinds = set(map(type, values))
    if kinds == {int}:
        with suppress(OverflowError):
            return np.array(values, np.int64)
    if not kinds <= {int, float, str}:
        row = next(i for i, x in enumerate(values) if type(x) not in (int, float, str))
        problem = "is not there" if values[row] is UNSET else "is neither"
        refuse_line(path, int(lines[row]), f"{key} must be a number or text, and {problem}")
    return [*map(str, values)]


def rows_of(path: Path, keys: Sequence[str], memory_limit: int) -> Iterator[dict[str, Any]]:
    """Objects of JSON lines or of an array, with some of their keys."""
    for block in read_blocks(path, keys, memory_limit):
        for row in zip(*(block.values[key] for key in keys), strict=True):
            yield {k: x for k, x in zip(keys, row, strict=True) if x is not UNSET}
