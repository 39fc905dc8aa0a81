"""A whole page: from records to one file that needs nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.core.atomic_files import check_place, replacing
from fastcmp.core.fields import brief
from fastcmp.report import PAGES
from fastcmp.report.contents import blocks_of
from fastcmp.report.headline import headline
from fastcmp.report.methods import numbered
from fastcmp.report.provenance import fingerprint, versions
from fastcmp.report.template_files import environment, policy_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastcmp.core.records import Record

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
        raise TypeError(f"title must be text, got {brief(title)}")
    page = to_page(records, title=title, command=command, data=data)
    with replacing(path) as file:
        file.write(page.encode())


def _checked(path: Any) -> Path:
    """Refuse what is no place for a page, before long work."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a path such as 'report.html', got {brief(path)}")
    place = Path(path)
    check_place(place)
    if place.suffix.lower() not in PAGES:
        raise ValueError(f"path must end in .html or .htm, got {str(path)!r}")
    return place


def to_page(
    records: Mapping[str, Record],
    *,
    title: str = "",
    command: str = "",
    data: Iterable[tuple[str, int, str]] = (),
) -> str:
    """Give the page as text: the same for the same records."""
    made = environment()
    parts = [_part(name, record) for name, record in records.items()]
    blocks = [block for part in parts for block in part["blocks"]]
    styles = texts_of(["style.css", *(x for block in blocks for x in block.styles)])
    scripts = texts_of(["page.js", *(x for block in blocks for x in block.scripts)])
    (theme,) = texts_of(["theme.js"])
    methods, references = numbered(records)
    trusted = made.filters["trusted"]
    page: str = made.get_template("page.html.j2").render(
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


def _part(name: str, record: Record) -> dict[str, Any]:
    question, answer = record.sections()[0].title, headline(record)
    if answer.rstrip(".") == question:
        answer = ""
    return {
        "name": name,
        "question": question,
        "answer": answer,
        "blocks": blocks_of(record),
    }
