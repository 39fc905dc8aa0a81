"""The formats of logs: which of them the files of a path are of, and the reading of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from fastcmp.core.checks import choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import ThreadPool, check_workers, reporting
from fastcmp.io.logs.files import Ignored, LogFile, find_files
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, NoItemValuesError
from fastcmp.io.logs.words import counted, listed

Complain = Callable[[str | ValueError], None]

#: Modules of `fastcmp.io.logs`, each with its `FORMATS`, in the order in which files are tried.
_MODULES = (
    *("inspect_ai", "lighteval", "helm", "lm_eval", "every_eval_ever", "json_answers", "agents"),
    *("trec_eval", "automl", "battles", "table_formats"),
)
#: Formats that any table may look like.
_TABLES = ("long", "wide")
#: What other files are, by their names.
_OTHERS = {
    r".*\.(zip|7z|rar|xz|tgz|tar(\.\w+)?)": "an archive: unpack it, and name its folder",
    r".*\.(xlsx?|ods)": "a workbook: save its table as CSV",
}
_STRAY = "a table beside logs of a harness; name the file itself to read it"


class Recognised(NamedTuple):
    """Files of one format."""

    format: LogFormat
    #: Those that hold values, and those beside them.
    values: tuple[LogFile, ...]
    beside: tuple[LogFile, ...]


class Recognition(NamedTuple):
    """What the files of a folder are."""

    recognised: tuple[Recognised, ...]
    ignored: tuple[Ignored, ...]
    #: Formats of files that stand beside values, where no values are.
    alone: tuple[tuple[LogFormat, Path], ...]
    #: Files that are logs by their names or their neighbours, and cannot be read.
    damaged: tuple[Ignored, ...]


def formats() -> list[LogFormat]:
    """All formats, in the order in which a file is tried."""
    try:
        modules = [import_module(f"fastcmp.io.logs.{name}") for name in _MODULES]
    except ModuleNotFoundError as error:
        if error.name not in ("pyarrow", "msgspec"):
            raise
        raise ImportError(f"logs are read by {error.name}: pip install 'fastcmp[cli]'") from None
    return [log_format for module in modules for log_format in module.FORMATS]


def recognise(files: Sequence[LogFile], options: LogOptions, format_: str | None) -> Recognition:
    """Ask each format, in order, for each file."""
    known_formats = formats()
    from fastcmp.io.logs.heads import damage, data_kind  # needs pyarrow, as formats do

    if format_ is not None:
        name = choose(format_, "format", [log_format.name for log_format in known_formats])
        known_formats = [log_format for log_format in known_formats if log_format.name == name]
    values: dict[str, list[LogFile]] = {}
    beside: list[tuple[LogFile, list[LogFormat]]] = []
    unknown: list[LogFile] = []
    for file in files:
        first = next((log_format for log_format in known_formats if log_format.holds(file)), None)
        if first is not None:
            values.setdefault(first.name, []).append(file)
        elif near := [
            log_format
            for log_format in known_formats
            if any(shows(file) for shows in log_format.beside)
        ]:
            beside.append((file, near))
        else:
            unknown.append(file)
    stray: list[LogFile] = []  # tables in a folder of logs of a harness, unless asked for
    if not options.columns and not options.values and values.keys() - set(_TABLES):
        for name in _TABLES:
            files_of_format = values.pop(name, [])
            stray += [file for file in files_of_format if not file.is_named]
            if named := [file for file in files_of_format if file.is_named]:
                values[name] = named
    unknown += stray
    # What files of no known look are, by what was asked for.
    forced = "long" if options.columns else "wide" if options.values else ""
    forced = known_formats[0].name if format_ is not None else forced
    if forced and unknown and not values:
        values[forced], unknown = unknown, []
    logs = [
        *(file for files_of_format in values.values() for file in files_of_format),
        *(file for file, _ in beside),
    ]
    kinds = {data_kind(file.path) for file in logs} - {None}
    names = [log_format.names for log_format in known_formats if log_format.names]
    damaged, ignored = [], []
    otherwise = (
        f"not of {known_formats[0].title}" if len(known_formats) == 1 else "of no known format"
    )
    for file in unknown:
        name, kind = file.path.name, data_kind(file.path)
        is_log = kind in kinds or (file.is_named and kind)
        if (is_log or any(re.fullmatch(log_format, name) for log_format in names)) and (
            why := damage(file)
        ):
            damaged.append(Ignored(str(file.path), why))
            continue
        explanations = (
            text for pattern, text in _OTHERS.items() if re.fullmatch(pattern, name.lower())
        )
        why = _STRAY if file in stray else next(explanations, otherwise) if file.size else "empty"
        ignored.append(Ignored(str(file.path), why))
    alone = []
    for file, claimed in beside:
        if not any(log_format.name in values for log_format in claimed):
            alone.append((claimed[0], file.path))
            why = f"beside values of {claimed[0].title}, which are not there"
            ignored.append(Ignored(str(file.path), why))
    recognised = []
    for log_format in known_formats:
        if files_of_format := sorted(
            values.get(log_format.name, ()), key=lambda file: str(file.path)
        ):
            near_it = tuple(file for file, claimed in beside if log_format in claimed)
            recognised.append(Recognised(log_format, tuple(files_of_format), near_it))
    return Recognition(tuple(recognised), tuple(ignored), tuple(alone), tuple(damaged))


def several_message(recognised: Sequence[Recognised]) -> str:
    """The message that a folder holds several formats."""
    formats_listed = listed(
        f"{one.format.title} ({one.format.name}; "
        f"{counted(len(one.values), 'file')}, the first {one.values[0].path})"
        for one in recognised
    )
    return (
        f"`path` holds logs of several formats: {formats_listed}. Name one by `format=`, or a "
        "folder that holds one"
    )


def nothing_message(path: str | Path, recognition: Recognition) -> str:
    """The message that nothing can be read."""
    where = path if isinstance(path, (str, PathLike)) else listed(path)
    if recognition.alone:
        kind, file = recognition.alone[0]
        return (
            f"{file} is of {kind.title}, but the files with a value for each item are "
            f"not there: {kind.alone}"
        )
    if not recognition.ignored:
        return f"`path`: {where} holds no files"
    ignored = listed(
        f"{file_ignored.path} ({file_ignored.why})" for file_ignored in recognition.ignored
    )
    n = counted(len(recognition.ignored), "file")
    names = ", ".join(log_format.name for log_format in formats())
    return (
        f"`path`: {where} holds no log of a known format; {n} looked at: {ignored}. Known "
        f"formats: {names}. Tables need columns item, model and value (`columns=`, with "
        "{'model': ''} where a file is a model), or a "
        "column a model (`values=True`), as fastcmp compare --values FILE takes"
    )


# Reading, in threads.


#: Options that some formats alone take.
_OWN_OPTIONS = {"filter": ("lm_eval",), "ids": ("swe_bench", "trec_eval")}


class Read(NamedTuple):
    """What was read of files of one format."""

    format: LogFormat
    parts: tuple[LogPart, ...]
    #: Files with values that gave none.
    without: tuple[str, ...]
    #: What is left out of the other files, and why.
    remarks: tuple[str, ...] = ()


class Logs(NamedTuple):
    """What was read below a path."""

    read: tuple[Read, ...]
    ignored: tuple[Ignored, ...]
    n_files: int


def refuse(problem: str | ValueError) -> None:
    """Complain of what does not fit together by an error."""
    raise BadValueError(problem) if isinstance(problem, str) else problem


def read_logs(
    path: str | Path,
    options: LogOptions,
    format_: str | None,
    workers: int | None,
    progress: object,
    complain: Complain = refuse,
) -> Logs:
    """The logs below a path, recognised and read."""
    threads = check_workers(workers)
    files_below = find_files(path)
    for pointer in files_below.pointers:
        complain(
            f"{pointer}: a Git LFS pointer, not the file itself; fetch it, as by `git lfs pull`"
        )
    files = files_below.files
    if isinstance(options.ids, Path):  # the file of all ids is read, and is no log
        all_ids = options.ids.resolve()
        files = tuple(file for file in files if file.path.resolve() != all_ids)
    recognition = recognise(files, options, format_)
    ignored = (*files_below.ignored, *recognition.ignored)
    recognition = recognition._replace(ignored=ignored)
    for path_, why in recognition.damaged:
        complain(
            f"{path_} {why}, and is a log by its name or by the files beside it: copy or fetch "
            "it again, or take it away"
        )
    if not recognition.recognised and not recognition.damaged:
        complain(nothing_message(path, recognition))
    if len(recognition.recognised) > 1:
        complain(several_message(recognition.recognised))
    for recognised in recognition.recognised:
        for name, owners in _OWN_OPTIONS.items():
            if getattr(options, name) is not None and recognised.format.name not in owners:
                complain(
                    f"`{name}=` is an option of {' and '.join(owners)}, and path holds logs of "
                    f"{recognised.format.title} ({recognised.format.name}): leave it out"
                )
    with (
        reporting(progress, "reading", unit="files") as report,
        ThreadPool(threads, report, stoppable=True) as pool,
    ):
        read = [_read(recognised, options, pool, complain) for recognised in recognition.recognised]
    n_files = sum(
        len(recognised.values) + len(recognised.beside) for recognised in recognition.recognised
    )
    return Logs(tuple(read), ignored, n_files)


def _read(
    recognised: Recognised, options: LogOptions, pool: ThreadPool, complain: Complain
) -> Read:
    """Read the files of a format; the first in order that is wrong is named."""
    try:
        arguments = (recognised.values, recognised.beside, options)
        groups = (
            recognised.format.group(*arguments)
            if recognised.format.group
            else zip(recognised.values)
        )
        readings = [partial(recognised.format.read, *args, options) for args in groups]
    except ValueError as error:
        complain(error)
        return Read(recognised.format, (), ())
    pool.expect(len(readings))
    answers: dict[int, tuple[Sequence[LogPart], ValueError | None]] = {}
    numbered = list(enumerate(readings))
    for (i, _), answer in pool.answers(_tried, numbered):
        answers[i] = answer
    parts: list[LogPart] = []
    remarks: list[str] = []
    tasks = {
        part.task for file_parts, _ in answers.values() for part in file_parts if len(part.values)
    }
    for i in range(len(readings)):
        file_parts, problem = answers[i]
        lacks_values = isinstance(problem, NoItemValuesError) and problem.task not in tasks
        if lacks_values and tasks and options.tasks is None:
            remarks.append(f"Left out: {problem}")
        elif problem is not None:
            complain(problem)
        parts += file_parts
    sources = {path for part in parts for path in (part.source, *part.files)}
    gave_none = (
        str(file.path)
        for file in recognised.values
        if not sources & {file.path, *file.path.parents}
    )
    without = tuple(path for path in gave_none if not any(path in remark for remark in remarks))
    kept = (part for part in parts if options.tasks is None or part.task in options.tasks)
    return Read(recognised.format, tuple(kept), without, tuple(remarks))


def _tried(
    numbered: tuple[int, Callable[[], Iterable[LogPart]]],
) -> tuple[Sequence[LogPart], ValueError | None]:
    """Read one run; what is wrong with it is kept."""
    try:
        return list(numbered[1]()), None
    except ValueError as error:
        return (), error


def without_remark(logs: Logs, tasks: Sequence[str] | None) -> tuple[str, ...]:
    """Remarks on the files without values of the tasks to read."""
    remarks = tuple(remark for read in logs.read for remark in read.remarks)
    files = [file for read in logs.read for file in read.without]
    if not files:
        return remarks
    n = counted(len(files), "file")
    are = f"{n} {'is' if len(files) == 1 else 'are'} of other tasks: skipped"
    what = f"{n} without values of items" if tasks is None else are
    return (*remarks, f"{what} ({listed(files)}).")
