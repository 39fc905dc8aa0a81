"""What `fastcmp compare` was given: predicted labels, logs, or battles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.cli.log_options import OF_LABELS, OF_TASKS, given, in_log_options
from fastcmp.cli.output import say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

#: Extensions that only logs have.
_OF_LOGS = (".eval", ".json", ".zip", ".arff")
#: Columns of a long table, whose names say that files are no labels.
_COLUMNS = ("item", "model", "value", "repeat")


def kind_of(options: argparse.Namespace) -> str:
    """Tell "labels", "logs" or "battles", and print what was recognised.

    Files that hold a column of true labels are predictions, whatever else they look
    like; and so are those that nothing else recognises.
    """
    paths = options.files
    if not paths or options.example is not None or not all(p.exists() for p in paths):
        return "labels"
    asked = given(options, (*OF_TASKS, *_COLUMNS))
    if not asked and (given(options, OF_LABELS) or holds_truth(paths)):
        return "labels"
    return _recognised(paths, options, asked)


def holds_truth(paths: Sequence[Path]) -> bool:
    """Tell whether files of predictions have a column of true labels."""
    from fastcmp.io.chosen import TARGET
    from fastcmp.io.formats import parts_of
    from fastcmp.io.sources import Source

    for path in paths:
        try:
            if TARGET in Source(parts_of(path)[0]).types:
                return True
        except (ValueError, OSError, NotImplementedError):
            continue  # no file of predictions
    return False


def _recognised(paths: Sequence[Path], options: argparse.Namespace, asked: Sequence[str]) -> str:
    """Ask the formats of logs."""
    from fastcmp.io.logs.format import LogOptions
    from fastcmp.io.logs.recognition import recognise
    from fastcmp.io.logs.walk import find_files

    found = find_files(paths)
    columns = {name: name for name in given(options, _COLUMNS)}
    wanted = LogOptions(columns=columns)
    with in_log_options():
        recognition = recognise(found.files, wanted, options.log_format)
    names = [each.format.name for each in recognition.found]
    if names == ["wide"] and not asked:  # perhaps labels, whose truth is elsewhere
        return "labels"
    if names == ["battles"]:
        n = len(recognition.found[0].values)
        say([f"recognised {n} {_files(n)} of battles"])
        return "battles"
    if names:
        said: list[Any] = []
        for each in recognition.found:
            n = len(each.values)
            said.append(f"{each.format.title} ({each.format.name}, {n} {_files(n)})")
        say([f"recognised logs of {', '.join(said)}"])
        return "logs"
    unknown = found.files and not any(map(_is_read, paths))
    if asked or found.pointers or recognition.alone or unknown:
        return "logs"  # which says what is wrong with them
    return "labels"


def _is_read(path: Path) -> bool:
    """Tell whether files of predictions could be here, by their extensions."""
    from fastcmp.io.formats import is_part

    if path.is_dir():
        return any(file.is_file() and is_part(file) for file in path.iterdir())
    return path.suffix.lower() not in _OF_LOGS


def _files(n: int) -> str:
    return "file" if n == 1 else "files"
