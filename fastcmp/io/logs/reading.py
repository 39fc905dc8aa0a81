"""The formats of logs: which of them the files of a path are of, and the reading of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from fastcmp.core.checks import choose
from fastcmp.core.threads import ThreadPool, check_workers, reporting
from fastcmp.io.logs.files import Ignored, LogFile, find_files
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, NoItemValuesError
from fastcmp.io.logs.words import counted, listed

Complain = Callable[[str], None]

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

    found: tuple[Recognised, ...]
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
    return [each for module in modules for each in module.FORMATS]


def recognise(files: Sequence[LogFile], options: LogOptions, format_: str | None) -> Recognition:
    """Ask each format, in order, for each file."""
    known = formats()
    from fastcmp.io.logs.heads import damage, data_kind  # needs pyarrow, as formats do

    if format_ is not None:
        name = choose(format_, "format", [each.name for each in known])
        known = [each for each in known if each.name == name]
    values: dict[str, list[LogFile]] = {}
    beside: list[tuple[LogFile, list[LogFormat]]] = []
    unknown: list[LogFile] = []
    for file in files:
        first = next((each for each in known if each.holds(file)), None)
        if first is not None:
            values.setdefault(first.name, []).append(file)
        elif near := [each for each in known if any(shows(file) for shows in each.beside)]:
            beside.append((file, near))
        else:
            unknown.append(file)
    stray: list[LogFile] = []  # tables in a folder of logs of a harness, unless asked for
    if not options.columns and not options.values and values.keys() - set(_TABLES):
        for name in _TABLES:
            own = values.pop(name, [])
            stray += [file for file in own if not file.is_named]
            if named := [file for file in own if file.is_named]:
                values[name] = named
    unknown += stray
    # What files of no known look are, by what was asked for.
    forced = "long" if options.columns else "wide" if options.values else ""
    forced = known[0].name if format_ is not None else forced
    if forced and unknown and not values:
        values[forced], unknown = unknown, []
    logs = [*(file for own in values.values() for file in own), *(file for file, _ in beside)]
    kinds = {data_kind(file.path) for file in logs} - {None}
    names = [each.names for each in known if each.names]
    damaged, ignored = [], []
    otherwise = f"not of {known[0].title}" if len(known) == 1 else "of no known format"
    for file in unknown:
        name, kind = file.path.name, data_kind(file.path)
        is_log = kind in kinds or (file.is_named and kind)
        if (is_log or any(re.fullmatch(each, name) for each in names)) and (why := damage(file)):
            damaged.append(Ignored(str(file.path), why))
            continue
        said = (text for pattern, text in _OTHERS.items() if re.fullmatch(pattern, name.lower()))
        why = _STRAY if file in stray else next(said, otherwise) if file.size else "empty"
        ignored.append(Ignored(str(file.path), why))
    alone = []
    for file, claimed in beside:
        if not any(each.name in values for each in claimed):
            alone.append((claimed[0], file.path))
            why = f"beside values of {claimed[0].title}, which are not there"
            ignored.append(Ignored(str(file.path), why))
    found = []
    for each in known:
        if own := sorted(values.get(each.name, ()), key=lambda file: str(file.path)):
            near_it = tuple(file for file, claimed in beside if each in claimed)
            found.append(Recognised(each, tuple(own), near_it))
    return Recognition(tuple(found), tuple(ignored), tuple(alone), tuple(damaged))


def several_message(found: Sequence[Recognised]) -> str:
    """Say that a folder holds several formats."""
    held = listed(
        f"{each.format.title} ({each.format.name}; "
        f"{counted(len(each.values), 'file')}, the first {each.values[0].path})"
        for each in found
    )
    return (
        f"path holds logs of several formats: {held}. Name one by format=, or a folder "
        "that holds one"
    )


def nothing_message(path: Any, recognition: Recognition) -> str:
    """Say that nothing can be read."""
    where = path if isinstance(path, (str, PathLike)) else listed(path)
    if recognition.alone:
        kind, file = recognition.alone[0]
        return (
            f"{file} is of {kind.title}, but the files with a value for each item are "
            f"not there: {kind.alone}"
        )
    if not recognition.ignored:
        return f"path: {where} holds no files"
    shown = listed(f"{each.path} ({each.why})" for each in recognition.ignored)
    n = counted(len(recognition.ignored), "file")
    known = ", ".join(each.name for each in formats())
    return (
        f"path: {where} holds no log of a known format; {n} looked at: {shown}. Known "
        f"formats: {known}. Tables need columns item, model and value (columns=, with "
        "{'model': ''} where a file is a model), or a "
        "column a model (values=True), as fastcmp compare --values FILE takes"
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


def refuse(message: str) -> None:
    """Complain of what does not fit together by an error."""
    raise ValueError(message)


def read_logs(
    path: Any,
    options: LogOptions,
    format_: str | None,
    workers: int | None,
    progress: Any,
    complain: Complain = refuse,
) -> Logs:
    """Find the files of a path, recognise and read them."""
    threads = check_workers(workers)
    found = find_files(path)
    for pointer in found.pointers:
        complain(
            f"{pointer}: a Git LFS pointer, not the file itself; fetch it, as by `git lfs pull`"
        )
    files = found.files
    if isinstance(options.ids, Path):  # the file of all ids is read, and is no log
        all_ids = options.ids.resolve()
        files = tuple(file for file in files if file.path.resolve() != all_ids)
    recognition = recognise(files, options, format_)
    ignored = (*found.ignored, *recognition.ignored)
    recognition = recognition._replace(ignored=ignored)
    for path_, why in recognition.damaged:
        complain(
            f"{path_} {why}, and is a log by its name or by the files beside it: copy or fetch "
            "it again, or take it away"
        )
    if not recognition.found and not recognition.damaged:
        complain(nothing_message(path, recognition))
    if len(recognition.found) > 1:
        complain(several_message(recognition.found))
    for each in recognition.found:
        for name, owners in _OWN_OPTIONS.items():
            if getattr(options, name) is not None and each.format.name not in owners:
                complain(
                    f"{name}= is an option of {' and '.join(owners)}, and path holds logs of "
                    f"{each.format.title} ({each.format.name}): leave it out"
                )
    with (
        reporting(progress, "reading", unit="files") as report,
        ThreadPool(threads, report, stoppable=True) as pool,
    ):
        read = [_read(each, options, pool, complain) for each in recognition.found]
    n_files = sum(len(each.values) + len(each.beside) for each in recognition.found)
    return Logs(tuple(read), ignored, n_files)


def _read(found: Recognised, options: LogOptions, pool: ThreadPool, complain: Complain) -> Read:
    """Read the files of a format; the first in order that is wrong is named."""
    try:
        given = (found.values, found.beside, options)
        each = found.format.group(*given) if found.format.group else zip(found.values)
        readings = [partial(found.format.read, *args, options) for args in each]
    except ValueError as error:
        complain(str(error))
        return Read(found.format, (), ())
    pool.expect(len(readings))
    answers: dict[int, tuple[Sequence[LogPart], ValueError | None]] = {}
    numbered = list(enumerate(readings))
    for (i, _), answer in pool.answers(_tried, numbered):
        answers[i] = answer
    parts: list[LogPart] = []
    remarks: list[str] = []
    tasks = {part.task for some, _ in answers.values() for part in some if len(part.values)}
    for i in range(len(readings)):
        some, problem = answers[i]
        lacks_values = isinstance(problem, NoItemValuesError) and problem.task not in tasks
        if lacks_values and tasks and options.tasks is None:
            remarks.append(f"Left out: {problem}")
        elif problem is not None:
            complain(str(problem))
        parts += some
    sources = {path for part in parts for path in (part.source, *part.files)}
    gave_none = (
        str(file.path) for file in found.values if not sources & {file.path, *file.path.parents}
    )
    without = tuple(path for path in gave_none if not any(path in said for said in remarks))
    kept = (part for part in parts if options.tasks is None or part.task in options.tasks)
    return Read(found.format, tuple(kept), without, tuple(remarks))


def _tried(
    numbered: tuple[int, Callable[[], Iterable[LogPart]]],
) -> tuple[Sequence[LogPart], ValueError | None]:
    """Read one run; what is wrong with it is kept."""
    try:
        return list(numbered[1]()), None
    except ValueError as error:
        return (), error


def without_remark(logs: Logs, tasks: Sequence[str] | None) -> tuple[str, ...]:
    """Say which files gave nothing of what was asked for."""
    remarks = tuple(remark for read in logs.read for remark in read.remarks)
    files = [file for read in logs.read for file in read.without]
    if not files:
        return remarks
    n = counted(len(files), "file")
    are = f"{n} {'is' if len(files) == 1 else 'are'} of other tasks: skipped"
    what = f"{n} without values of items" if tasks is None else are
    return (*remarks, f"{what} ({listed(files)}).")
