"""The command `inspect`: what logs hold, before anything is computed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.cli.log_options import (
    add_reading_options,
    in_log_options,
    paths_of,
    problem_lines,
    reading_options,
)
from fastcmp.cli.output import add_output, check_places, write
from fastcmp.data import logs_path

if TYPE_CHECKING:
    import argparse


def add_inspect(commands: Any) -> None:
    """Add `fastcmp inspect`."""
    inspect = commands.add_parser(
        "inspect",
        help="say what logs of evaluation harnesses hold",
        description="Say what a folder of logs holds: format, models, tasks, items, "
        "metrics, errors, and what does not fit together. Nothing is compared.",
    )
    add = inspect.add_argument
    add("files", nargs="*", metavar="PATH", type=Path, help="files and folders of logs")
    add("--example", choices=("logs",), help="look at bundled logs")
    add_reading_options(add)
    add("--workers", type=int, help="threads (as many as processors)")
    add("--memory-limit", metavar="SIZE", help="memory for files read as a whole (4GB)")
    add_output(add)
    inspect.set_defaults(run=_inspect)


def _inspect(options: argparse.Namespace) -> None:
    from fastcmp.io.logs.inspection import inspect_results

    if options.example is not None:
        if options.files:
            raise ValueError("pass a file or folder of logs or --example, not both")
        options.files = [logs_path()]
    if not options.files:
        raise ValueError("pass a file or folder of logs, or --example logs")
    check_places(options)
    with in_log_options():
        found = inspect_results(paths_of(options), **reading_options(options))
    write(replace(found, problems=problem_lines(found.problems)), options)
