"""The option `--report`: what a command found as one page of HTML."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fastcmp.core.saved_states import check_place
from fastcmp.report import PAGES

if TYPE_CHECKING:
    from fastcmp.core.records import Record

#: Options that say where to write, and change nothing of what is written.
_PLACES = ("--report", "--output")
#: Options that name files to read, beside `files`.
READ = ("cost", "values", "long", "ids")
_TITLES = {
    "compare": "Comparison of models",
    "holdout": "Comparison of two models",
    "gate": "Gate",
    "watch": "Comparison of models while data grow",
    "plan": "Plan of a test",
    "report": "Classification report",
    "roc": "ROC curves",
    "cutpoint": "Cutoffs",
    "lift": "Lift",
    "inspect": "Contents of logs",
}
_MOST_NAMED = 3  # files in a title


class Fingerprint(NamedTuple):
    """What tells whether a file, or a folder of files, is the same."""

    name: str
    size: int
    sha256: str


def check_page(path: Path | None) -> None:
    """Refuse a report that could not be written, before long work."""
    if path is None:
        return
    if path.suffix.lower() not in PAGES:
        raise ValueError(f"--report must end in .html or .htm, got {path}")
    if find_spec("jinja2") is None:
        raise ImportError("--report needs Jinja2: pip install 'fastcmp[report]'")
    check_place(path)


def write_page(
    records: Mapping[str, Record],
    options: argparse.Namespace,
    data: Sequence[Fingerprint] | None = None,
    *,
    about: str = "",
) -> None:
    """Write a report, where --report asks for one.

    `data` are those of what was read; `about` is said of all records.
    """
    if options.report is None:
        return
    from fastcmp.report.page import write_report

    words = options.words
    write_report(
        records,
        options.report,
        title=". ".join(filter(None, (_title(words[0], options), about))),
        command=as_typed(words),
        data=tuple(_fingerprints(options) if data is None else data),
    )


def as_typed(words: Sequence[str]) -> str:
    """Write a command as it was typed, but for where the answer goes.

    Examples
    --------
    >>> from fastcmp.cli.pages import as_typed
    >>> as_typed(["compare", "my file.csv", "--alpha", "0.1", "--report", "x.html"])
    "fastcmp compare 'my file.csv' --alpha 0.1"
    """
    words_kept = ["fastcmp"]
    skip = False
    for word in words:
        option, equals, _ = word.partition("=")
        # What argparse accepted is no beginning of another option's name.
        is_place = len(option) > 2 and any(x.startswith(option) for x in _PLACES)
        if not skip and not is_place:
            words_kept.append(word)
        skip = not skip and is_place and not equals
    return shlex.join(words_kept)


def _title(command: str, options: argparse.Namespace) -> str:
    """Title of the page: the command, and the files."""
    names = [path.name or str(path) for path in _read(options)]
    if len(names) > _MOST_NAMED:
        names = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    of = f": {', '.join(names)}" if names else ""
    return f"{_TITLES.get(command, 'fastcmp')}{of}"


def _read(options: argparse.Namespace) -> list[Path]:
    """List the files and folders that a command read."""
    from fastcmp.data import example_path, scores_path

    option_values = vars(options)
    named = [*options.files, *(option_values.get(name) for name in READ)]
    paths = [Path(path) for path in named if path is not None]
    if paths or (example := option_values.get("example")) is None:
        return paths
    of_scores = options.words[0] in ("roc", "cutpoint", "lift")
    return [scores_path(example) if of_scores else example_path(example)]


def _fingerprints(options: argparse.Namespace) -> Iterable[Fingerprint]:
    """Size and SHA-256 of each file read; of a folder, of all its files."""
    option_values = vars(options)
    outputs = {_place(option_values[name]) for name in ("output", "keep", "plot", "curve")
               if isinstance(option_values.get(name), Path)}  # fmt: skip
    for path in _read(options):
        if path.is_dir():
            yield _of_folder(path, outputs)
        elif path.is_file():
            yield fingerprint(path)
        else:  # a pipe, which was read to its end
            yield Fingerprint(_name(path), 0, "")


def fingerprint(path: Path, name: Path | None = None) -> Fingerprint:
    """Size and SHA-256 of a file, perhaps by another name."""
    import hashlib

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return Fingerprint(_name(name or path), file.tell(), digest.hexdigest())


def _of_folder(folder: Path, outputs: set[Path]) -> Fingerprint:
    """Take the lines that `sha256sum` would write of the files, in their order."""
    import hashlib

    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix.lower() not in PAGES and _place(path) not in outputs
    ]
    digest, size = hashlib.sha256(), 0
    for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        print_of_file = fingerprint(path)
        inside = path.relative_to(folder).as_posix()
        digest.update(f"{print_of_file.sha256}  {inside}\n".encode("utf-8", "surrogateescape"))
        size += print_of_file.size
    word = "file" if len(files) == 1 else "files"
    name = f"{_name(folder)} ({len(files)} {word})"
    return Fingerprint(name, size, digest.hexdigest())


def _name(path: Path) -> str:
    """Name a file as the user did; bundled ones without the folder of the package."""
    from fastcmp.data import example_path

    bundled = example_path("digits").parent
    return path.name if path.is_relative_to(bundled) else str(path)


def _place(path: Path) -> Path:
    return Path(os.path.realpath(path))
