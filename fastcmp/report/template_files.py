"""The files that pages are made of: templates, styles and scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.core.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Spaces at which a line should not end: within "p = 0.05" and intervals.
_TOGETHER = re.compile(r"(?<=\bp) (?==)|(?<=p =) |(?<=CI) (?=\[)|(?<=\d,) (?=[-+\d.]+\])")
#: Names such as "org/model-7b", at whose hyphens and slashes no line should end.
_NAME = re.compile(r"(?=\S*[A-Za-z]{2})[^\s,;:()]+[-/][^\s,;:()]*[^\s,;:().][,;:.)]*")
_FOLDER = Path(__file__).parent / "templates"


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
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
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

    return made


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
