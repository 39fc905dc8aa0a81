"""What all commands share: which files to read, and how to write a record."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fastcmp.cli.tables import csv_text, parquet_bytes
from fastcmp.core.atomic_files import check_place, naming, replacing
from fastcmp.core.escaping import visible
from fastcmp.core.render import to_html, to_latex, to_markdown, to_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from fastcmp.core.report import Section


class Record(Protocol):
    """What can be written in every format."""

    def sections(self) -> list[Section]:
        """Describe the record."""

    def columns(self) -> dict[str, Any]:
        """Lay it out as columns."""

    def to_dict(self) -> dict[str, Any]:
        """Give plain Python objects."""


def _html(result: Record) -> str:
    """Write a page of its own, in the encoding that it says."""
    head = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>fastcmp</title>\n'
    return head + to_html(result.sections())


_FORMATS: dict[str, Callable[[Record], str | bytes]] = {
    "table": lambda result: to_text(result.sections()),
    "markdown": lambda result: to_markdown(result.sections()),
    "latex": lambda result: to_latex(result.sections()),
    "html": _html,
    "csv": csv_text,
    "json": lambda result: json.dumps(result.to_dict(), indent=1, allow_nan=False),
    "parquet": parquet_bytes,
}
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def add_input(add: Callable[..., Any], examples: Iterable[str]) -> None:
    """Add the options that say what to read.

    Parameters
    ----------
    add : callable
        A parser's ``add_argument``.
    examples : iterable of str
        Names of the bundled files.
    """
    add(
        "files",
        nargs="*",
        metavar="FILE",
        type=Path,
        help="prediction files, or folders of files that are parts of one table",
    )
    add("--example", choices=tuple(examples), help="use bundled real predictions")
    add("--target", metavar="COL", help="column of the true labels (y_true)")
    add("--id", metavar="COL", help="column of sample ids, to join files by (id)")
    add("--drop", nargs="+", default=(), metavar="COL", help="columns to leave out")


def add_output(add: Callable[..., Any]) -> None:
    """Add the options that say how and where to write.

    Parameters
    ----------
    add : callable
        A parser's ``add_argument``.
    """
    add(
        "--format",
        choices=tuple(_FORMATS),
        help="how to write (as the extension of --output says, or table)",
    )
    add(
        "--output",
        type=Path,
        metavar="FILE",
        help="where to write (the terminal); .md, .tex, .html, .csv, .json and "
        ".parquet choose the format",
    )


def say(lines: Iterable[str], kind: str = "") -> None:
    """Tell the user something on standard error.

    Parameters
    ----------
    lines : iterable of str
        Sentences.
    kind : str
        What to put before each.
    """
    for line in lines:
        print(f"fastcmp: {kind}{visible(line)}", file=sys.stderr)


def chosen_files(options: argparse.Namespace, example: Callable[[str], Path]) -> Any:
    """List the files to read.

    Parameters
    ----------
    options : argparse.Namespace
        With ``files`` and ``example``.
    example : callable
        From the name of an example to its path.

    Returns
    -------
    list of pathlib.Path
        At least one.

    Raises
    ------
    ValueError
        If there are none, or both files and an example.
    """
    if options.example is not None:
        if options.files:
            message = "pass prediction files or --example, not both"
            raise ValueError(message)
        return [example(options.example)]
    if not options.files:
        message = "pass a prediction file, or --example digits"
        raise ValueError(message)
    return options.files


def check_places(options: argparse.Namespace, keep: object = None) -> None:
    """Refuse places that cannot be written to, or would destroy other files.

    Parameters
    ----------
    options : argparse.Namespace
        With ``files`` and ``output``, and perhaps ``cost``, ``checkpoint`` and
        ``plot``.
    keep : object
        What to keep; a path is a file that will be written.

    Raises
    ------
    OSError
        If there can be no file at a place.
    ValueError
        If a place is that of what is read, or would be read with its folder next time,
        or two places are the same, or the format is not that of the place.
    """
    from fastcmp.io.formats import is_part

    _format(options)
    given = vars(options)
    read = _places_of([*options.files, given.get("cost")])
    written: dict[Path, str] = {}
    for name in ("output", "keep", "checkpoint", "plot"):
        path = keep if name == "keep" else given.get(name)
        if not isinstance(path, Path) or (name == "output" and _is_stream(path)):
            continue
        check_place(path)
        place = Path(os.path.realpath(path))
        if place in read or (place.parent in read and is_part(place)):
            message = f"--{name} would write {path} over what is read, or beside it"
            raise ValueError(message)
        if place in written:
            message = f"--{written[place]} and --{name} would both write {path}"
            raise ValueError(message)
        written[place] = name


def _places_of(paths: Iterable[Path | None]) -> set[Path]:
    """Find the real places of files, and of those in folders."""
    found: list[Path] = []
    for path in paths:
        if path is not None:
            found.append(path)
            if path.is_dir():
                found += filter(Path.is_file, path.iterdir())
    return {Path(os.path.realpath(path)) for path in found}


def _is_stream(path: Path) -> bool:
    """Tell a terminal, a pipe or the like, also where it leads to a file."""
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or path.absolute().parent in (Path("/dev"), Path("/dev/fd"))


def _format(options: argparse.Namespace) -> str:
    """Tell how to write: as --format says, or the extension of --output."""
    path, asked = options.output, options.format
    by_suffix = None if path is None else _SUFFIXES.get(path.suffix.lower())
    if asked is not None and by_suffix not in (None, asked):
        message = (
            f"--format {asked} contradicts --output {path}, whose extension means "
            f"{by_suffix}: leave out --format, or name another file"
        )
        raise ValueError(message)
    if asked == "parquet" and path is None:
        message = "--format parquet needs a file to write to (--output FILE)"
        raise ValueError(message)
    return asked or by_suffix or "table"


def write(result: Record, options: argparse.Namespace) -> None:
    """Write a record as the options say.

    Parameters
    ----------
    result : Record
        What was found.
    options : argparse.Namespace
        With ``format`` and ``output``.
    """
    form = _format(options)
    if options.output is None and form == "table" and sys.stdout.isatty():
        _draw(result.sections())
        return
    text = _FORMATS[form](result)
    if options.output is None:
        print(text)
    else:
        _write_file(options.output, text)


def _write_file(path: Path, content: str | bytes) -> None:
    """Write a file, at once or not at all; a stream is written to its end."""
    if isinstance(content, str):
        content = (content + "\n").encode()
    with naming(path), path.open("ab") if _is_stream(path) else replacing(path) as file:
        file.write(content)


def _draw(sections: list[Section]) -> None:
    """Draw on a terminal: tables as wide as it is, and headings that stand out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for section in sections:
        console.print(Text(visible(section.title), style="bold"))
        for line in section.text:
            console.print(Text(visible(line)))
        if section.columns:
            table = Table(box=None, pad_edge=False, header_style="dim")
            for j, name in enumerate(section.columns):
                side = "right" if section.is_numeric(j) else "left"
                table.add_column(Text(visible(name)), justify=side)
            for row in section.rows:
                table.add_row(*(Text(visible(cell)) for cell in row))
            console.print(table)
        for line in section.notes:
            console.print(Text(visible(line), style="dim"))
        console.print()
