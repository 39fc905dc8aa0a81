"""A whole page: from records to one file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.core.atomic_files import check_place, replacing
from fastcmp.report.contents import blocks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastcmp.core.records import Record

_TEMPLATES = Path(__file__).parent / "templates"


def write_report(
    records: Mapping[str, Record], path: str | Path, *, title: str = ""
) -> None:
    """Write records, each below its heading, into a file, at once or not at all."""
    path = Path(path)
    check_place(path)
    page = to_page(records, title=title)
    with replacing(path) as file:
        file.write(page.encode())


def to_page(records: Mapping[str, Record], *, title: str = "") -> str:
    """Give the page as text: the same for the same records."""
    parts = [(name, blocks_of(record)) for name, record in records.items()]
    page: str = (
        _environment()
        .get_template("page.html.j2")
        .render(title=title or "fastcmp", parts=parts)
    )
    return page


def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        message = "a report needs Jinja2: pip install 'fastcmp[report]'"
        raise ImportError(message) from None
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
