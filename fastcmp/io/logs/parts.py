"""Rows of tables, and answers one by one, and the parts of one model, task and metric in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.core.typing import Floats, Ints
from fastcmp.io.formats import model_name
from fastcmp.io.logs.entries import number, prints
from fastcmp.io.logs.format import LogPart, grouped
from fastcmp.io.logs.tables import Labels, as_labels, grade
from fastcmp.io.logs.words import ERROR, UNSCORED

#: Names of files and folders that say nothing of a model.
_PLAIN = {
    *("", "eval_results_table", "eval_results", "results", "result", "samples", "output"),
    *("logs", "artifacts"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of a table, each a value of a model for an item, shape (n,) each."""

    model: Labels
    item: Labels
    values: Floats
    metric: Labels
    task: Labels | None = None
    subset: Labels | None = None
    repeats: NDArray[np.int32] | None = None
    status: NDArray[np.uint8] | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)
    attempts: NDArray[np.int32] | None = None
    clusters: Labels | None = None
    item_hash: NDArray[np.uint64] | None = None
    prompt_hash: NDArray[np.uint64] | None = None


_TWICE = (
    "keep one; of a long table, the column in which they differ may be a task, subset, metric or "
    "repeat"
)


def parts_of_rows(rows: Rows, template: LogPart) -> list[LogPart]:
    """One part for each model, task, subset and metric, with what the template says of all."""
    key = np.zeros(rows.values.size, np.int64)
    for column in (rows.model, rows.task, rows.subset, rows.metric):
        if column is not None and np.ptp(column.codes):
            if key.any():
                key = np.unique(key, return_inverse=True)[1] * (len(column.texts) + 1)
            key = key + column.codes
    if np.abs(key).max(initial=0) < 1 << 15:  # which NumPy sorts in linear time
        key = key.astype(np.int16)
    order = np.argsort(key, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    groups.sort(key=lambda group: int(group[0]))
    why = np.array(sorted(rows.reasons), np.int64)
    parts: list[LogPart] = []
    items: Sequence[str] = ()
    codes = rows.item.codes[:0]
    for group in groups:
        first = group[:1]
        before, codes = codes, rows.item.codes[group]
        if not parts or not np.array_equal(codes, before):  # else in the same order as before
            items = rows.item.at(group)
        failed_rows = np.flatnonzero(np.isin(group, why)).tolist() if why.size else ()
        part = replace(
            template,
            model=rows.model.at(first)[0],
            task=(rows.task.at(first)[0] if rows.task else "") or template.task,
            subset=rows.subset.at(first)[0] if rows.subset else "",
            metric=rows.metric.at(first)[0],
            items=items,
            values=rows.values[group],
            repeats=_cut(rows.repeats, group),
            status=_cut(rows.status, group),
            reasons={row: rows.reasons[int(group[row])] for row in failed_rows},
            attempts=_cut(rows.attempts, group),
            clusters=rows.clusters.at(group) if rows.clusters else None,
            item_hash=_cut(rows.item_hash, group),
            prompt_hash=_cut(rows.prompt_hash, group),
            twice=template.twice or _TWICE,
        )
        parts.append(part)
    return parts


def _cut(column: NDArray[Any] | None, rows: Ints) -> Any:
    return None if column is None else column[rows]


class Failure(str):
    """Why an answer has no value: by an error, or as it was given no score."""

    __slots__ = ("status",)
    status: int

    def __new__(cls, why: str, status: int = ERROR) -> Self:
        """Make one of text."""
        failure = super().__new__(cls, why)
        failure.status = status
        return failure


@dataclass(slots=True, kw_only=True)
class Answer:
    """The answer of a model to an item, with all its values."""

    model: str
    item: str
    task: str = ""
    subset: str = ""
    cluster: str = ""
    #: Numbers, booleans or grades by metric; None or a `Failure` where there is none.
    values: Mapping[str, Any] = field(default_factory=dict)
    #: Cost, tokens, time by name: lower is better.
    costs: Mapping[str, Any] = field(default_factory=dict)
    #: Why it has no value by any metric.
    error: Failure | None = None
    #: None where the file has no number: repeats are counted in the order of the file.
    repeat: int | None = None
    #: What the item is, and what the model was asked: anything that JSON knows.
    identity: Any = None
    prompt: Any = None


def parts_of(
    answers: Iterable[Answer], template: LogPart, *, means: Mapping[Any, Any] | None = None
) -> list[LogPart]:
    """One part for each model, task, subset and metric.

    `means` are stated by (model, metric), or by (model, task, metric).
    """
    every = list(answers)
    if not every:
        raise ValueError(f"{template.source}: holds no answers: was the run ended early?")
    scored: dict[str, set[tuple[str, str]]] = {}  # items that have a metric
    costs: dict[str, None] = {}
    for answer in every:
        costs.update(dict.fromkeys(answer.costs))
        if answer.error is None:
            for name in answer.values:
                scored.setdefault(name, set()).add((answer.task, answer.item))
    if not scored:
        reason = next(
            (entry_of.error for entry_of in every if entry_of.error is not None), "no metric"
        )
        raise ValueError(
            f"{template.source}: none of {len(every)} answers has a value "
            f"({visible(reason[:80])}): take the file away, or run it again"
        )
    scored_items = set().union(*scored.values())
    costs = {name: None for name in costs if name not in scored}
    places, metrics = [], []  # of each value: the number of its answer, and its metric
    runs = grouped(range(len(every)), lambda i: (every[i].model, every[i].task, every[i].subset))
    for answers_of_run in runs.values():
        for name, items in scored.items():
            for i in answers_of_run:
                answer, item = every[i], (every[i].task, every[i].item)
                lacks = answer.error is not None or not answer.values
                if name in answer.values or (lacks and (item in items or item not in scored_items)):
                    places.append(i)
                    metrics.append(name)
        places += answers_of_run * len(costs)
        metrics += [name for name in costs for _ in answers_of_run]
    values, status = np.full(len(places), np.nan), np.zeros(len(places), np.uint8)
    reasons: dict[int, str] = {}
    for row, (i, name) in enumerate(zip(places, metrics, strict=True)):
        answer = every[i]
        entry = (answer.costs if name in costs else answer.values).get(name)
        why = entry if isinstance(entry, Failure) else answer.error
        if name in costs and entry:  # what a failure took is known, where it is not 0
            why = None
        if why is None:
            values[row] = grade(entry, template.source, name)
            if math.isnan(values[row]):
                status[row] = UNSCORED
                if not isinstance(entry, str):  # an empty cell says nothing
                    reasons[row] = f"no {name}" if entry is None else "NaN"
        else:
            status[row], reasons[row] = why.status, str(why)[:200]
    rows = np.array(places, np.int64)

    def labels(texts: list[str]) -> Labels | None:
        return as_labels(texts).take(rows) if any(texts) else None

    def hashes(entries: list[Any]) -> NDArray[np.uint64] | None:
        fingerprints = prints(entries)
        return fingerprints[rows] if fingerprints.any() else None

    cells = Rows(
        model=as_labels([entry_of.model for entry_of in every]).take(rows),
        item=as_labels([entry_of.item for entry_of in every]).take(rows),
        task=labels([entry_of.task for entry_of in every]),
        subset=labels([entry_of.subset for entry_of in every]),
        metric=as_labels(metrics),
        values=values,
        repeats=_repeats(every, template.source)[rows],
        status=status,
        reasons=reasons,
        clusters=labels([entry_of.cluster for entry_of in every]),
        item_hash=hashes([entry_of.identity for entry_of in every]),
        prompt_hash=hashes([entry_of.prompt for entry_of in every]),
    )
    stated_means, parts = means or {}, []
    for part in parts_of_rows(cells, template):
        is_cost = part.metric in costs
        if is_cost and np.isnan(part.values).all():
            continue
        stated = stated_means.get((part.model, part.metric))
        stated = stated_means.get((part.model, part.task, part.metric), stated)
        described = replace(
            part,
            repeats=_said(part.repeats),
            status=_said(part.status),
            item_hash=_said(part.item_hash),
            prompt_hash=_said(part.prompt_hash),
            mean_stated=None if is_cost else number(stated),
            is_headline=not is_cost and len(scored) == 1,
            lower_is_better=is_cost,
        )
        parts.append(described)
    return parts


def _said(column: NDArray[Any] | None) -> Any:
    """A column that says something; else None."""
    return column if column is not None and column.any() else None


def _repeats(answers: Iterable[Answer], path: Path) -> NDArray[np.int32]:
    """Number the repeats of each item, by the file or in its order."""
    n_answers: dict[tuple[str, ...], int] = {}
    repeats = []
    for answer in answers:
        key = (answer.model, answer.task, answer.subset, answer.item)
        n = n_answers.get(key, 0)
        n_answers[key] = n + 1
        repeats.append(n if answer.repeat is None else answer.repeat)
    if any(abs(repeat) >= 1 << 31 for repeat in repeats):
        raise ValueError(f"{path}: a repeat must be a number below 2,147,483,648")
    return np.array(repeats, np.int32)


def model_of(path: Path, *ends: str) -> str:
    """Name a model by its file without what it ends with, or by its folder."""
    stem = model_name(path.absolute()).removesuffix(".json")
    for end in ends:
        stem = stem.removesuffix(end)
    folders = [folder.name for folder in path.absolute().parents]
    return next((name for name in (stem, *folders) if name.strip("._").lower() not in _PLAIN), stem)
