"""A format of logs: how its files are recognised and read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from fastcmp.io.logs.file import LogFile
    from fastcmp.io.logs.part import LogPart

    #: Reads one run or file; called in a thread.
    Reading = Callable[[], Sequence[LogPart]]


class NoItemValuesError(ValueError):
    """A run of a task has no value for each item: left out where only other tasks have."""

    def __init__(self, message: str, task: str) -> None:
        super().__init__(message)
        self.task = task


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What a user asked for, as far as it concerns the reading of files."""

    #: Metric and tasks that are wanted; None: all. An importer may leave others out;
    #: other metrics only where the wanted one is there, else it names those that are
    #: (`metrics.without_values`).
    metric: str | None = None
    #: The metric that was asked for in the words of the user, also a name by task; for
    #: formats that have two names for one.
    asked: str | Mapping[str, str] | None = None
    tasks: tuple[str, ...] | None = None
    #: lm_eval: which of several filters.
    filter: str | None = None
    #: SWE-bench: all ids.
    ids: Path | Sequence[str] | None = None
    #: TabArena: "raise" or "keep" imputed rows.
    imputed: str = "raise"
    #: Wide files: whether numbers are values of models.
    values: bool = False
    #: Tables: names of columns by what they are: item, model, value, task, ...
    columns: Mapping[str, str] = field(default_factory=dict)
    #: Bytes that a member of an archive, or a file that is read as a whole, may take.
    memory_limit: int = 4_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """A format, as `fastcmp.io.logs.registry` lists it."""

    #: What `format=` takes, such as "lm_eval".
    name: str
    #: What the harness is called, such as "LM Evaluation Harness".
    title: str
    #: Whether a file holds values of items, or stands beside such files; by content.
    holds: Callable[[LogFile], Literal["values", "beside", ""]]
    #: Cuts the files of this format, those beside included, into what is read at once.
    readings: Callable[[Sequence[LogFile], LogOptions], Sequence[Reading]]
    #: Regular expression of names that only files of this format have; "" for none.
    names: str = ""
