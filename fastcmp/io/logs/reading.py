"""Reading of logs: files found, recognised, and read in threads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.core.progress import reporting
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.io.logs.format import NoItemValuesError
from fastcmp.io.logs.recognition import nothing_message, recognise, several_message
from fastcmp.io.logs.walk import find_files, pointer_message
from fastcmp.io.logs.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastcmp.io.logs.format import LogFormat, LogOptions, Reading
    from fastcmp.io.logs.part import LogPart
    from fastcmp.io.logs.recognition import Recognised
    from fastcmp.io.logs.walk import Found, Ignored

    #: Raises, or takes note.
    Complain = Callable[[str], None]

#: Options that one format alone takes.
_OWN_OPTIONS = {"filter": "lm_eval", "ids": "swe_bench"}


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
    found = _without_ids(find_files(path), options.ids)
    for pointer in found.pointers:
        complain(pointer_message(pointer))
    recognition = recognise(found.files, options, format_)
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
        _check_options(each.format, options, complain)
    with (
        reporting(progress, "reading", unit="files") as report,
        ThreadPool(threads, report, stoppable=True) as pool,
    ):
        read = [_read(each, options, pool, complain) for each in recognition.found]
    n_files = sum(len(each.files) for each in recognition.found)
    return Logs(tuple(read), ignored, n_files)


def _without_ids(found: Found, ids: object) -> Found:
    """Leave out the file of all ids, which is read, and is no log."""
    if not isinstance(ids, Path):
        return found
    other = [file for file in found.files if file.path.resolve() != ids.resolve()]
    return found._replace(files=tuple(other))


def _check_options(format_: LogFormat, options: LogOptions, complain: Complain) -> None:
    """Refuse an option that the format does not take."""
    for name, owner in _OWN_OPTIONS.items():
        if getattr(options, name) is not None and format_.name != owner:
            complain(
                f"{name}= is an option of {owner}, and path holds logs of "
                f"{format_.title} ({format_.name}): leave it out"
            )


def _read(found: Recognised, options: LogOptions, pool: ThreadPool, complain: Complain) -> Read:
    """Read the files of a format; the first in order that is wrong is named."""
    try:
        readings = found.format.readings(found.files, options)
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
    without = tuple(
        path for path in _without(found, parts) if not any(path in said for said in remarks)
    )
    return Read(found.format, _wanted(parts, options), without, tuple(remarks))


def _tried(numbered: tuple[int, Reading]) -> tuple[Sequence[LogPart], ValueError | None]:
    """Read one run; what is wrong with it is kept."""
    try:
        return numbered[1](), None
    except ValueError as error:
        return (), error


def _wanted(parts: Sequence[LogPart], options: LogOptions) -> tuple[LogPart, ...]:
    """Leave out tasks that were not asked for."""
    wanted = options.tasks
    return tuple(part for part in parts if wanted is None or part.task in wanted)


def _without(found: Recognised, parts: Sequence[LogPart]) -> tuple[str, ...]:
    """Name files with values that gave no part."""
    sources = {path for part in parts for path in (part.source, *part.files)}
    return tuple(
        str(file.path) for file in found.values if not sources & {file.path, *file.path.parents}
    )


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
