"""A whole page: from records to one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.core.atomic_files import check_place, replacing
from fastcmp.core.escaping import visible
from fastcmp.report.contents import blocks_of
from fastcmp.report.headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastcmp.core.records import Record

_TEMPLATES = Path(__file__).parent / "templates"


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
    path = Path(path)
    check_place(path)
    page = to_page(records, title=title, command=command, data=data)
    with replacing(path) as file:
        file.write(page.encode())


def to_page(
    records: Mapping[str, Record],
    *,
    title: str = "",
    command: str = "",
    data: Iterable[tuple[str, int, str]] = (),
) -> str:
    """Give the page as text: the same for the same records."""
    environment = _environment()
    parts: list[dict[str, Any]] = [
        {
            "name": name,
            "question": record.sections()[0].title,
            "answer": headline(record),
            "blocks": blocks_of(record),
        }
        for name, record in records.items()
    ]
    blocks = [block for part in parts for block in part["blocks"]]
    styles = _texts("style.css", *(name for block in blocks for name in block.styles))
    scripts = _texts("page.js", *(name for block in blocks for name in block.scripts))
    page: str = environment.get_template("page.html.j2").render(
        title=title or "Model comparison",
        parts=parts,
        command=command,
        data=tuple(data),
        styles=[environment.filters["trusted"](text) for text in styles],
        scripts=[environment.filters["trusted"](text) for text in scripts],
        policy=_policy(styles, scripts),
    )
    return page


def _texts(*names: str) -> list[str]:
    """Read templates that are no templates: styles and scripts, each once."""
    return [(_TEMPLATES / name).read_text("utf-8") for name in dict.fromkeys(names)]


def _policy(styles: list[str], scripts: list[str]) -> str:
    """Allow the page its own styles and scripts, by their hashes, and nothing else.

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
def _environment() -> Any:
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        message = "a report needs Jinja2: pip install 'fastcmp[report]'"
        raise ImportError(message) from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {
        "json": lambda value: Markup(to_json(value)),
        "trusted": Markup,
    }
    return environment


def to_json(value: Any) -> str:
    """Write JSON that may stand in a script element: no tag, no entity, no new line."""
    text = json.dumps(_shown(value), separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _shown(value: Any) -> Any:
    """Make control characters in all strings visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _shown(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(part) for part in value]
    return value
