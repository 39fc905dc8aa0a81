"""JSON files: read whole within a limit, or an array's entries one by one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = 1 << 22  # characters that are read at once
_SPACE = re.compile(r"[\s,]*")


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
                at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
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
