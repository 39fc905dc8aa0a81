"""What logs hold, as a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.core.sentences import answer
from fastcmp.io.logs.words import counted, task_label

_SHOWN = 10  # problems, remarks or files that are printed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LogContents(Record):
    """What logs hold, and what of it does not fit together."""

    #: Formats that were found.
    formats: tuple[str, ...]
    #: Files that were read.
    n_files: int
    #: A row for each model, task, subset, metric and file, by column: format, model,
    #: task, subset, metric, n_items, n_answers, n_errors, n_unscored, source.
    answers: dict[str, tuple[Any, ...]]
    #: Why `read_results` would refuse them, in sentences.
    problems: tuple[str, ...] = ()
    #: What is to be known of them, in sentences.
    remarks: tuple[str, ...] = ()
    #: Files that are not read, and why.
    ignored: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return tuple(dict.fromkeys(self.answers["model"]))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks."""
        return tuple(dict.fromkeys(self.answers["task"]))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics."""
        return tuple(dict.fromkeys(self.answers["metric"]))

    def columns(self) -> dict[str, Any]:
        """A row for each model, task, subset, metric and file.

        Returns
        -------
        dict of str to list
            Format, model, task, subset, metric, numbers of items, answers, errors and
            answers without a score, and the file.
        """
        return {name: list(column) for name, column in self.answers.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Tasks with their metrics, models, problems, and files that are not read.
        """
        title = ", ".join(
            (
                counted(self.n_files, "file"),
                counted(len(self.names), "model"),
                counted(len(self.tasks), "task"),
                counted(len(self.metrics), "metric"),
            )
        )
        formats = ", ".join(self.formats) or "none known"
        sections = [Section(title=answer(title), text=(f"Format: {formats}.",))]
        if self.names:
            sections += [self._tasks(), self._models()]
        fits = "Nothing that keeps these logs from being compared."
        sections.append(Section(title="Problems", text=_first(self.problems) or (fits,)))
        for name, sentences in (("Remarks", self.remarks), ("Not read", self.ignored)):
            if sentences:
                sections.append(Section(title=name, text=_first(sentences)))
        return sections

    def _rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.answers.values(), strict=True))

    def _tasks(self) -> Section:
        """A row for each task, subset and metric."""
        groups: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
        for row in self._rows():
            groups.setdefault((row[0], *row[2:5]), []).append(row)
        rows = []
        for (kind, task, subset, metric), metric_rows in groups.items():
            name = visible(task_label(task, subset)) or "-"
            counts = [_range(row[i] for row in metric_rows) for i in (5, 6)]
            lacking = [str(sum(row[i] for row in metric_rows)) for i in (7, 8)]
            n_models = str(len({row[1] for row in metric_rows}))
            entry = (name, visible(metric), n_models, *counts, *lacking)
            rows.append((*entry, kind) if len(self.formats) > 1 else entry)
        columns: tuple[str, ...] = ("task", "metric", "models", "items", "answers")
        columns += ("errors", "unscored")
        if len(self.formats) > 1:
            columns += ("format",)
        return Section(title="Tasks", columns=columns, rows=tuple(rows))

    def _models(self) -> Section:
        """A row a model; answers are those of its first metric a task."""
        rows = []
        for name in self.names:
            model_rows = [row for row in self._rows() if row[1] == name]
            tasks = {row[2:4]: row for row in reversed(model_rows)}
            answers, errors, unscored = (sum(row[i] for row in tasks.values()) for i in (6, 7, 8))
            n = [len(tasks), answers, errors, unscored]
            rows.append((visible(name), *map(str, n)))
        columns = ("model", "tasks", "answers", "errors", "unscored")
        return Section(title="Models", columns=columns, rows=tuple(rows))


def _range(numbers: Iterable[int]) -> str:
    """Write a number, or the least and the largest."""
    least, *_, most = sorted(values) if len(values := list(numbers)) > 1 else values * 2
    return str(least) if least == most else f"{least} to {most}"


def _first(sentences: Sequence[str]) -> tuple[str, ...]:
    """The first few of many sentences."""
    lines = [f"- {sentence}" for sentence in sentences[:_SHOWN]]
    if len(sentences) > _SHOWN:
        lines.append(f"... and {len(sentences) - _SHOWN} more.")
    return tuple(lines)
