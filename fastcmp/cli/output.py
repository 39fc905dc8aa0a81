"""What all commands share: which files to read, and how to write a record."""

from __future__ import annotations

import errno
import json
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fastcmp.report import Section, to_csv, to_latex, to_markdown, to_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable


class Record(Protocol):
    """What can be written in every format."""

    def sections(self) -> list[Section]:
        """Describe the record."""

    def columns(self) -> dict[str, Any]:
        """Lay it out as columns."""

    def to_dict(self) -> dict[str, Any]:
        """Give plain Python objects."""


_FORMATS: dict[str, Callable[[Record], str]] = {
    "table": lambda result: to_text(result.sections()),
    "markdown": lambda result: to_markdown(result.sections()),
    "latex": lambda result: to_latex(result.sections()),
    "csv": lambda result: to_csv(result.columns()).rstrip("\n"),
    "json": lambda result: json.dumps(result.to_dict(), indent=1, allow_nan=False),
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


def add_output(add: Callable[..., Any]) -> None:
    """Add the options that say how and where to write.

    Parameters
    ----------
    add : callable
        A parser's ``add_argument``.
    """
    add("--format", choices=tuple(_FORMATS), default="table", help="how to write")
    add("--output", type=Path, metavar="FILE", help="where to write (the terminal)")


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


def check_output(options: argparse.Namespace) -> None:
    """Refuse a place that cannot be written to, before long work.

    Parameters
    ----------
    options : argparse.Namespace
        With ``output``.

    Raises
    ------
    FileNotFoundError
        If its folder does not exist.
    """
    if options.output is not None:
        check_folder(options.output)


def check_folder(path: Path) -> None:
    """Refuse a file whose folder does not exist.

    Parameters
    ----------
    path : Path
        A file that will be written.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def write(result: Record, options: argparse.Namespace) -> None:
    """Write a record as the options say.

    Parameters
    ----------
    result : Record
        What was found.
    options : argparse.Namespace
        With ``format`` and ``output``.
    """
    if options.output is None and options.format == "table" and sys.stdout.isatty():
        _draw(result.sections())
        return
    text = _FORMATS[options.format](result)
    if options.output is None:
        print(text)
    else:
        _write_file(options.output, text + "\n")


def _write_file(path: Path, text: str) -> None:
    """Write a file, at once or not at all."""
    part = path
    if not path.exists() or path.is_file():  # no terminal, and no pipe
        part = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        part.write_text(text, encoding="utf-8")
        if part != path:
            part.replace(path)
    except OSError as error:
        # The message names the file that was asked for.
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        if part != path:
            part.unlink(missing_ok=True)


def _draw(sections: list[Section]) -> None:
    """Draw on a terminal: tables as wide as it is, and headings that stand out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for section in sections:
        console.print(Text(section.title, style="bold"))
        for line in section.text:
            console.print(Text(line))
        if section.columns:
            table = Table(box=None, pad_edge=False, header_style="dim")
            for j, name in enumerate(section.columns):
                side = "right" if section.is_numeric(j) else "left"
                table.add_column(Text(name), justify=side)
            for row in section.rows:
                table.add_row(*map(Text, row))
            console.print(table)
        for line in section.notes:
            console.print(Text(line, style="dim"))
        console.print()
