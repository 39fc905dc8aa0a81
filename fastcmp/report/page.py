"""A whole page: from records to one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp import __version__
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record, brief
from fastcmp.core.render import MOST_ROWS, more_rows, shortened, visible
from fastcmp.core.saved_states import check_place, replacing, to_plain
from fastcmp.report import PAGES
from fastcmp.report.blocks import Block, Text, blocks_of
from fastcmp.report.methods import numbered

#: Spaces at which a line should not end: within "p = 0.05" and intervals.
_TOGETHER = re.compile(r"(?<=\bp) (?==)|(?<=p =) |(?<=CI) (?=\[)|(?<=\d,) (?=[-+\d.]+\])")
#: Names such as "org/model-7b", at whose hyphens and slashes no line should end.
_NAME = re.compile(r"(?=\S*[A-Za-z]{2})[^\s,;:()]+[-/][^\s,;:()]*[^\s,;:().][,;:.)]*")
_FOLDER = Path(__file__).parent / "templates"
#: Styles of pages, and of what a notebook shows.
_STYLES = ("colours.css", "tables.css")


def texts_of(names: Iterable[str]) -> list[str]:
    """Read styles or scripts, each once, in the order in which they are first named."""
    return [(_FOLDER / name).read_text("utf-8") for name in dict.fromkeys(names)]


def policy_of(styles: list[str], scripts: list[str]) -> str:
    """Allow a page its own styles and scripts, by their hashes, and nothing else.

    Not even the attribute ``style``, nor handlers of events in attributes.
    """
    return (
        f"default-src 'none'; script-src {_hashes(scripts)}; "
        f"style-src {_hashes(styles)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hashes(texts: list[str]) -> str:
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    return " ".join(f"'sha256-{base64.b64encode(x).decode()}'" for x in digests)


@cache
def environment() -> Any:
    """Make what writes templates, in which all values are escaped."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise ImportError("a report needs Jinja2: pip install 'fastcmp[report]'") from None
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda x: visible(x) if isinstance(x, str) and not isinstance(x, Markup) else x,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "json": lambda value: Markup(to_json(value)),
        "trusted": Markup,
        "unbroken": lambda text: unbroken(_TOGETHER.sub("\u00a0", text)),
    }

    def unbroken(text: str) -> Any:
        """Keep names with hyphens on one line, where they fit into one."""
        parts, end = [], 0
        for name in _NAME.finditer(text):
            parts.append(Markup.escape(visible(text[end : name.start()])))
            parts.append(Markup('<span class="name">{}</span>').format(visible(name[0])))
            end = name.end()
        return Markup("").join([*parts, Markup.escape(visible(text[end:]))])

    return templates


def to_json(value: object) -> str:
    """Write JSON that may stand in a script element: no tag, no entity, no new line."""
    text = json.dumps(_shown(value), separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _shown(value: object) -> Any:
    """Make control characters in all strings visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _shown(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(part) for part in value]
    return value


# What a page was made from: versions of programs, and fingerprints of numbers.


_PART = 1 << 22  # bytes of an array that are hashed at once


@cache
def versions() -> dict[str, str]:
    """The versions of what the numbers depend on, by name."""
    others = {name: version(name.lower()) for name in ("NumPy", "SciPy", "Numba")}
    return {"fastcmp": __version__, "Python": platform.python_version(), **others}


def fingerprint(records: Iterable[Record]) -> str:
    """The SHA-256 of all fields of records, the same on any machine."""
    digest = hashlib.sha256()
    for record in records:
        for part in _bytes_of(record):
            digest.update(part)
    return digest.hexdigest()


def _bytes_of(value: object) -> Iterator[bytes]:
    """Write a value with its type and its length, so that no two look the same."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufMm":
        little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
        yield f"{little.dtype.str}{little.shape}".encode()
        flat = little.reshape(-1)
        step = max(1, _PART // max(1, little.itemsize))
        for start in range(0, flat.size, step):
            yield flat[start : start + step].tobytes()
    elif isinstance(value, Record):
        yield type(value).__name__.encode()
        yield from _bytes_of(value._fields())
    elif isinstance(value, dict):
        yield f"dict{len(value)}".encode()
        for key, part in value.items():
            yield from _bytes_of(key)
            yield from _bytes_of(part)
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__}{len(value)}".encode()
        for part in value:
            yield from _bytes_of(part)
    else:
        yield _plain(value)


def _plain(value: object) -> bytes:
    try:
        return json.dumps(to_plain(value)).encode()
    except TypeError:  # a label of a type that is not saved either
        return type(value).__name__.encode()


_SEVERAL = "Comparison of models"  # the title of a page of several records


def write_report(
    records: Mapping[str, Record],
    path: str | Path,
    *,
    title: str = "",
    command: str = "",
    data: Iterable[tuple[str, int, str]] = (),
) -> None:
    """Write records, each below its heading, into a file, at once or not at all.

    `command` is the command line or the call that made the records; `data` has the
    name, the size and the SHA-256 of each file that was read.
    """
    path = _checked(path)
    if not isinstance(title, str):
        raise BadTypeError("`title` must be text", brief(title))
    page = to_page(records, title=title, command=command, data=data)
    with replacing(path) as file:
        file.write(page.encode())


def _checked(path: object) -> Path:
    """The path of a page, checked before long work."""
    if not isinstance(path, (str, os.PathLike)):
        raise BadTypeError("`path` must be a path such as 'report.html'", brief(path))
    place = Path(path)
    check_place(place)
    if place.suffix.lower() not in PAGES:
        raise BadValueError("`path` must end in .html or .htm", repr(str(path)))
    return place


def to_page(
    records: Mapping[str, Record],
    *,
    title: str = "",
    command: str = "",
    data: Iterable[tuple[str, int, str]] = (),
) -> str:
    """The page as text: the same for the same records."""
    templates = environment()
    parts = [_part(name, record) for name, record in records.items()]
    blocks = [block for part in parts for block in part["blocks"]]
    styles = texts_of([*_STYLES, "style.css", *(x for block in blocks for x in block.styles)])
    scripts = texts_of(["page.js", *(x for block in blocks for x in block.scripts)])
    (theme,) = texts_of(["theme.js"])
    methods, references = numbered({name: _answering(x) for name, x in records.items()})
    trusted = templates.filters["trusted"]
    page: str = templates.get_template("page.html.j2").render(
        title=title or (parts[0]["question"] if len(parts) == 1 else _SEVERAL),
        parts=parts,
        methods=methods,
        references=references,
        command=command,
        data=tuple(data),
        fingerprint=fingerprint(records.values()),
        versions=versions(),
        theme=trusted(theme),
        styles=list(map(trusted, styles)),
        scripts=list(map(trusted, scripts)),
        policy=policy_of(styles, [theme, *scripts]),
    )
    return page


def _answering(record: Any) -> Record:
    """The record itself, or the comparison that `fastcmp.compare` chose."""
    result: Record = getattr(record, "result", record)
    return result


def _part(name: str, record: Record) -> dict[str, Any]:
    inner = _answering(record)
    question, answer = inner.sections()[0].title, inner._reported._headline()
    if answer.rstrip(".") == question:
        answer = ""
    blocks = blocks_of(inner)
    if inner is not record:
        taken_for = record.sections()[0]
        blocks.append(Text(title=taken_for.title, section=taken_for))
    return {"name": name, "question": question, "answer": answer, "blocks": blocks}


def to_fragment(record: Record) -> str:
    """The answer, the tables and the pictures of a record, as a notebook shows them.

    That is what needs no script, with the first rows of long tables.
    """
    part = _part("", record)
    blocks = [_first_rows(block) for block in part["blocks"] if not block.needs_script]
    files = [*_STYLES, "notebook.css", *(x for block in blocks for x in block.styles)]
    templates = environment()
    fragment: str = templates.get_template("fragment.html.j2").render(
        part=part | {"blocks": blocks},
        prefix=f"f{fingerprint([record])[:8]}",
        styles=templates.filters["trusted"]("".join(texts_of(files)).replace(":root", "&")),
    )
    return fragment


def _first_rows(block: Any) -> Block:
    """A block with the first rows of its table, and a note that says where the others are."""
    if hasattr(block, "section"):
        block = replace(block, section=shortened(block.section))
    for name in {"rows", "bars"} & {field.name for field in fields(block)}:
        more = len(rows := getattr(block, name)) - MOST_ROWS
        if more > 0:
            note = f"{more_rows(more)} {block.note}".rstrip()
            block = replace(block, note=note, **{name: rows[:MOST_ROWS]})
    return replace(block, more=()) if hasattr(block, "more") else block  # type: ignore[no-any-return]
