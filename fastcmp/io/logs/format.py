"""A format of logs: how its files are recognised and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.typing import Floats, Ints
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.words import UNSCORED

Entry = TypeVar("Entry")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """Values of one model on one subset of one task by one metric, in one file.

    Rows come in any order; each is the answer of the model to one item, of n rows.
    """

    model: str = ""
    #: Task and subset, "" where the format has none.
    task: str = ""
    subset: str = ""
    metric: str = ""
    #: Identity of each item within its task and subset: whole numbers, or text.
    items: Ints | Sequence[str] = ()
    #: As they stand in the file, NaN where there is none, shape (n,).
    values: Floats = field(default_factory=lambda: np.zeros(0))
    #: Epoch, trial or seed, shape (n,); None: all are 0.
    repeats: NDArray[np.int32] | None = None
    #: Codes of `STATUS`, shape (n,), and what NaN means where they do not say.
    status: NDArray[np.uint8] | None = None
    missing: int = UNSCORED
    #: Why there is no value, by row.
    reasons: Mapping[int, str] = field(default_factory=dict)
    #: Answers that a value is the mean of, shape (n,); None: one each.
    attempts: NDArray[np.int32] | None = None
    #: Cluster of each item; None where the format has none.
    clusters: Sequence[str] | None = None
    #: Fingerprints of what an item is (refused where they differ), and of what the
    #: model was asked (reported), 0 where there is none, shape (n,). See `json_lines.prints`.
    item_hash: NDArray[np.uint64] | None = None
    prompt_hash: NDArray[np.uint64] | None = None
    #: What `item_hash` comes of, in the words of the format, such as "doc_hash".
    hashed: str = "hash"
    lower_is_better: bool = False
    #: Whether the file names this metric as the one to look at.
    is_headline: bool = False
    #: What an item is: an "item" (a question, a row), a whole "task" or data set, or a
    #: "split" of a cross-validation.
    unit: str = "item"
    #: The file, for messages; the run, which tells which of two it is; its time, which
    #: sorts as text, for `runs="latest"`.
    source: Path
    #: All files that it was read from, where there are several.
    files: tuple[Path, ...] = ()
    run: str = ""
    created: str = ""
    #: What the run itself says: number of rows, and mean of the values.
    n_stated: int | None = None
    mean_stated: float | None = None
    #: What is reported where models differ: few-shots, version of the task, ...
    settings: Mapping[str, str] = field(default_factory=dict)
    #: What the task was run with, where that makes it another task.
    variant: str = ""
    #: Why items may be lacking that other models have, in a clause.
    lacking: str = ""
    #: What to do where an item is there twice, in a clause.
    twice: str = ""
    #: Sentences for the user: a name made up, rows left out, ...
    remarks: tuple[str, ...] = ()


class NoItemValuesError(ValueError):
    """A run of a task has no value for each item: left out where only other tasks have."""

    def __init__(self, message: str, task: str) -> None:
        super().__init__(message)
        self.task = task


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What a user asked for, as far as it concerns the reading of files."""

    #: Metric, or that of each task, and tasks that are wanted; None: all. An importer may
    #: leave others out; other metrics only where the wanted one is there, else it names those
    #: that are (`metrics.without_values`).
    metric_wanted: str | Mapping[str, str] | None = None
    tasks: tuple[str, ...] | None = None
    #: lm_eval: which of several filters.
    filter: str | None = None
    #: SWE-bench, trec_eval: all ids.
    ids: Path | Sequence[str] | None = None
    #: TabArena: "raise" or "keep" imputed rows.
    imputed: str = "raise"
    #: Wide files: whether numbers are values of models.
    values: bool = False
    #: Tables: names of columns by what they are: item, model, value, task, ...
    columns: Mapping[str, str] = field(default_factory=dict)
    #: What to make of what does not fit together, as `read_results` takes it.
    items: str = "same"
    errors: str = "raise"
    runs: str = "raise"
    #: Bytes that a member of an archive, or a file that is read as a whole, may take.
    memory_limit: int = 4_000_000_000

    @property
    def metric(self) -> str | None:
        """The one metric that is wanted of all tasks."""
        return self.metric_wanted if isinstance(self.metric_wanted, str) else None


class Sign:
    """What the beginning of a file shows, all of it.

    Names are separated by blanks, and `a|b` is one of two. `keys` are those of the first JSON
    object, `without` what it must lack, `columns` those of a table; `name` is a regular
    expression for the name of the file; its first 64 kB hold texts, and match a `pattern`;
    `is_cut` asks that there is more of it.
    """

    def __init__(
        self,
        *,
        keys: str = "",
        without: str = "",
        columns: str = "",
        name: str = "",
        holds: tuple[bytes, ...] = (),
        pattern: bytes = b"",
        is_cut: bool = False,
    ) -> None:
        self._keys, self._without, self._columns = (
            [frozenset(one.split("|")) for one in names.split()]
            for names in (keys, without, columns)
        )
        self._name, self._pattern = re.compile(name), re.compile(pattern)
        self._holds, self._is_cut = holds, is_cut

    def __call__(self, file: LogFile) -> bool:
        """Whether a file shows it."""
        return not (
            any(names.isdisjoint(file.keys) for names in self._keys)
            or any(not names.isdisjoint(file.keys) for names in self._without)
            or (self._name.pattern and not self._name.fullmatch(file.path.name))
            or any(names.isdisjoint(file.columns) for names in self._columns)
            or any(text not in file.head for text in self._holds)
            or not self._pattern.search(file.head)
            or (self._is_cut and file.is_whole)
        )


Group = Callable[[Sequence[LogFile], Sequence[LogFile], LogOptions], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """A format, as `fastcmp.io.logs.recognition` lists it."""

    #: What `format=` takes, such as "lm_eval".
    name: str
    #: What the harness is called, such as "LM Evaluation Harness".
    title: str
    #: What shows, any of it, that a file holds values of items, or stands beside such files.
    values: Sequence[Callable[[LogFile], bool]]
    beside: Sequence[Callable[[LogFile], bool]] = ()
    #: Reads what is read at once: a file with values, or what `group` gives, and the options.
    read: Callable[..., Iterable[LogPart]]
    #: Cuts files with values, and those beside them, into arguments of `read`.
    #: None: each file with values by itself.
    group: Group | None = None
    #: Regular expression of names that only files of this format have; "" for none.
    names: str = ""
    #: What to do where only files beside the values are there.
    alone: str = "have the harness write them, and name their folder"

    def holds(self, file: LogFile) -> bool:
        """Whether a file holds values of items."""
        return any(shows(file) for shows in self.values)


def grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    """The entries by their key, in order."""
    groups: dict[Key, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups
