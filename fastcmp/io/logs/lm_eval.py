"""Logs of the LM Evaluation Harness, and of lmms-eval: samples and results files.

A file of samples is JSON lines, before 0.4.3 a JSON array. Its model, task, directions
and number of samples are those of the results file of the same run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Flags
from fastcmp.io.formats import model_name
from fastcmp.io.logs.entries import at, combine, mapping, number, prints, whole, written
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, NoItemValuesError, Sign
from fastcmp.io.logs.json_lines import (
    ARRAY,
    NOT_THERE,
    OBJECT,
    PLAIN_IDS,
    PLAIN_NUMBERS,
    PLAIN_PRINTS,
    TEXT,
    Convert,
    Key,
    Plain,
    first_entry,
    ids,
    numbers,
    read_columns,
    read_object,
    words,
)
from fastcmp.io.logs.words import ABSENT, UNSCORED, counted, listed

#: When a run was saved, in names of files: of lm_eval, and of lmms-eval.
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?|(?<!\d)\d{8}_\d{6}(?!\d)")
#: Where lm_eval looks for the name of a model in its arguments, in this order.
_NAMED_BY = ("peft", "delta", "pretrained", "model", "path", "engine")
#: Metrics of lm_eval that are errors, in files that do not say so.
_ERRORS = (
    *("perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"),
    *("brier_score", "brier_score_fn", "ter", "wer", "cer"),
)
_MEANS = ("mean", "nanmean")


class Results:
    """A results file; or, without one, what the folder says."""

    def __init__(self, path: Path | None, folder: Path, memory_limit: int) -> None:
        self.path, self.folder = path, folder
        self._memory_limit = memory_limit
        #: All files of samples of this run; empty where only some tasks are read.
        self.samples: list[Path] = []

    @cached_property
    def content(self) -> dict[str, Any]:
        """What the file holds; nothing without a file."""
        return {} if self.path is None else read_object(self.path, self._memory_limit)

    def of(self, *keys: str) -> dict[str, Any]:
        """A section, or what one says of a task; an empty one where it is not there."""
        return mapping(self.content, *keys)

    @cached_property
    def tasks(self) -> list[str]:
        """Tasks and groups that the file has results of."""
        return list(dict.fromkeys([*self.of("results"), *self.of("configs")]))

    @cached_property
    def without_samples(self) -> list[str]:
        """Tasks that have results, and no file of samples; groups of tasks have none."""
        having = {task_of(path, self) for path in self.samples}
        groups = {name for name, subtasks in self.of("group_subtasks").items() if subtasks}
        groups.update(self.of("groups"))
        tasks = [task for task in self.of("results") if self.samples and self.metrics(task)]
        return [task for task in tasks if task not in groups | having]

    @property
    def is_old(self) -> bool:
        """Whether doc_id may be a position: --samples before 0.4.9 made it one."""
        numbers = re.findall(r"\d+", str(self.content.get("lm_eval_version") or ""))
        samples = self.of("config").get("samples")
        return bool(samples) and [int(n) for n in numbers[:3]] < [0, 4, 9]

    @cached_property
    def model(self) -> tuple[str, str]:
        """The name of the model, and a sentence where the file has none."""
        name = self.content.get("model_name")
        if isinstance(name, str) and name.strip():
            return name, ""
        arguments = self.of("config").get("model_args")
        if name := _named_in(arguments):
            return name, ""
        source = self.of("config").get("model")
        if isinstance(source, str) and source.strip() and not arguments:
            return source, f"The model is named {source!r}, as config.model says."
        name = self.folder.resolve().name
        return name, f"No file names the model of {self.folder}: it is called {name!r}."

    def run(self, stamp: str) -> tuple[str, str]:
        """Identity of this run, and when it was saved."""
        if stamp:
            return stamp, stamp.replace(":", "-")
        date = self.content.get("date")
        created = ""
        if isinstance(date, (int, float)):
            created = datetime.fromtimestamp(date, UTC).isoformat()
        return str(self.path or self.folder), created

    def metrics(self, task: str) -> dict[str, list[str]]:
        """List the metrics of a task, each with its filters."""
        filters_of_metric: dict[str, list[str]] = {}
        for key, value in self.of("results", task).items():
            name, comma, filter_ = key.rpartition(",")
            is_number = isinstance(value, (int, float)) or value == "N/A"
            if comma and is_number and not name.endswith("_stderr"):
                filters_of_metric.setdefault(name, []).append(filter_)
        return filters_of_metric

    def stated_mean(self, task: str, metric: str, filter_: str) -> float | None:
        """The figure of a metric, if it is a mean."""
        listed = self._of_metric(task, metric, "aggregation")
        is_mean = all(aggregation in _MEANS for aggregation in listed)
        return number(self.of("results", task).get(f"{metric},{filter_}")) if is_mean else None

    def direction(self, task: str, metric: str) -> tuple[bool, str]:
        """Whether lower is better, and a sentence where the file does not say."""
        higher_is_better = at(self.content, "higher_is_better", task, metric)
        if higher_is_better is None:
            higher_is_better = next(iter(self._of_metric(task, metric, "higher_is_better")), None)
        if higher_is_better is not None:
            return not higher_is_better, ""
        lower = metric in _ERRORS
        word = "lower" if lower else "higher"
        return lower, (
            f"The run does not say whether higher values of {metric} are better: "
            f"{word} ones are taken as better."
        )

    def settings(self, task: str) -> dict[str, str]:
        """Settings that are reported where models differ."""
        reported = {
            "few-shots": at(self.content, "n-shot", task),
            "task version": at(self.content, "versions", task),
            "lm_eval version": self.content.get("lm_eval_version"),
        }
        return written(reported)

    def _of_metric(self, task: str, metric: str, key: str) -> list[Any]:
        """What the configuration of a task says of a metric, where it does."""
        listed = self.of("configs", task).get("metric_list")
        entries = listed if isinstance(listed, list) else ()
        settings = (at(entry, key) for entry in entries if at(entry, "metric") == metric)
        return [setting for setting in settings if setting is not None]


def _named_in(arguments: object) -> str:
    """Name of a model by its arguments, as lm_eval finds it."""
    if isinstance(arguments, str):
        pairs = [pair.partition("=") for pair in arguments.split(",")]
        arguments = {name.strip(): value for name, _, value in pairs}
    if isinstance(arguments, dict):
        for key in _NAMED_BY:
            if isinstance(name_given := arguments.get(key), str) and name_given:
                return name_given
    return ""


def stamp_of(path: Path) -> str:
    """The time in the name of a file; "" where there is none."""
    stamps = _STAMP.findall(path.name)
    return str(stamps[-1]) if stamps else ""


def results_of(samples: Path, results: Sequence[Path]) -> Path | None:
    """The results file of a file of samples: of the same time and folder."""
    stamp = stamp_of(samples)
    same = [path for path in results if stamp_of(path) == stamp]
    for folder in samples.parents[:2]:
        near = [path for path in same if path.parent == folder]
        if len(near) > 1:
            raise ValueError(
                f"{samples}: two files may hold its results, {near[0]} and {near[1]}; take one away"
            )
        if near:
            return near[0]
    return None


def task_of(samples: Path, results: Results) -> str:
    """The task in the name of a file of samples; it must be in the results."""
    stem = model_name(samples).removesuffix(".json")
    stem = _STAMP.sub("", stem).strip("_")
    name = stem.partition("samples_")[2] or stem
    if results.path is None:
        return name
    plain = {_plain(task): task for task in results.tasks}
    task_of_name = plain.get(_plain(name))
    if task_of_name is not None:
        return task_of_name
    # Before 0.4.3 the arguments of the model stand before the task.
    ends = [t for p, t in plain.items() if stem == name and _plain(name).endswith(p)]
    if ends:
        task = max(ends, key=len)
        _check_arguments(samples, stem[: -len(task)], results)
        return task
    raise ValueError(
        f"{samples}: the task of its name, {name!r}, is not in {results.path}: are "
        "these files of one run, and was neither renamed?"
    )


def _check_arguments(samples: Path, prefix: str, results: Results) -> None:
    """Refuse results.json of another model: before 0.4.3 each run overwrote it."""
    arguments = results.of("config").get("model_args")
    if not isinstance(arguments, str) or not prefix:
        return
    arguments_in_name, arguments_of_run = (
        re.sub(r"[\W_]+", "", text) for text in (prefix, arguments)
    )
    if arguments_in_name != arguments_of_run:
        raise ValueError(
            f"{samples}: {results.path} is of a run with model_args {arguments!r}, "
            "which is not in the name of these samples: a later run overwrote it. Keep "
            "each run in a folder of its own"
        )


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


_KEYS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"),
    *("metrics", "doc_hash", "prompt_hash", "target_hash", "input", "sample_len"),
)
_HASHES = ("doc_hash", "target_hash", "prompt_hash")
#: Why a metric has no value for each item.
_WRONG = {
    ARRAY: "values of {name} are lists, from which its figure for the whole task comes",
    OBJECT: "values of {name} are objects, from which its figure for the whole task comes",
    TEXT: "{name} of line {line} is no number, but a text",
}


@dataclass(frozen=True, slots=True)
class _Run:
    """A file of samples, and what is known of it before it is read."""

    path: Path
    results: Results
    task: str
    #: What was asked for, and its metric and filter; None: not asked for.
    metric_asked: str | None
    metric: str | None
    filter: str | None

    def refuse(self, problem: str, *, lacks_values: bool = False) -> NoReturn:
        """Raise an error that names the file and the task."""
        message = f"{self.path}: task {visible(self.task)} {problem}"
        raise NoItemValuesError(message, self.task) if lacks_values else BadValueError(message)


def _group(
    values: Sequence[LogFile], beside: Sequence[LogFile], options: LogOptions
) -> list[tuple[Path, Results]]:
    """Samples with their results; those of one run share them."""
    limit = options.memory_limit
    results_by_path = {file.path: Results(file.path, file.path.parent, limit) for file in beside}
    pairs = []
    for file in values:
        results_path = results_of(file.path, list(results_by_path))
        results = (
            results_by_path[results_path]
            if results_path
            else Results(None, file.path.parent, limit)
        )
        if options.tasks is None:
            results.samples.append(file.path)
        pairs.append((file.path, results))
    return pairs


def _read(path: Path, results: Results, options: LogOptions) -> list[LogPart]:
    """Read a file of samples."""
    task = task_of(path, results)
    if options.tasks is not None and task not in options.tasks:
        return []
    metric_asked = options.metric_wanted
    if not isinstance(metric_asked, str):
        metric_asked = (metric_asked or {}).get(task)
    metric, comma, filter_ = (metric_asked or "").rpartition(",")
    if not comma:
        metric, filter_ = filter_, ""
    filter_ = filter_ or options.filter or ""
    run = _Run(path, results, task, metric_asked, metric or None, filter_ or None)
    first = first_entry(path, options.memory_limit)
    names = _metrics(run, first)
    if run.metric is not None and names and run.metric not in names:
        about = LogPart(model=results.model[0], task=task, source=path)
        return [replace(about, metric=name) for name in names]  # to be named
    metric_names = names if run.metric is None else [run.metric]
    columns: dict[Key, Convert] = {name: numbers for name in metric_names if name}
    plain: dict[Key, Plain] = dict.fromkeys(columns, PLAIN_NUMBERS) | {"doc_id": PLAIN_IDS}
    plain |= {name: PLAIN_PRINTS for name in _HASHES if name in first}
    columns |= {"doc_id": list, **dict.fromkeys(_HASHES, prints)}
    if "filter" in first:
        columns["filter"] = words()
    columns_read, lines = read_columns(path, columns, options.memory_limit, plain)
    items = ids(path, "doc_id", columns_read["doc_id"], lines)
    filter_taken, rows = _chosen_rows(run, items, columns_read.get("filter"))
    if isinstance(items, np.ndarray):
        items = items[rows]
    elif not isinstance(rows, slice):
        items = [items[row] for row in np.flatnonzero(rows).tolist()]
    good: list[str] = []
    problems: list[str] = []
    for name in filter(None, metric_names):
        instead = columns_read[name][1, rows]
        if not (instead == NOT_THERE).all():
            wrong = np.flatnonzero(instead > NOT_THERE)
            (problems if wrong.size else good).append(name)
            if wrong.size:
                line = lines[rows][wrong[0]]
                problems[-1] = _WRONG[int(instead.max())].format(name=visible(name), line=line)
    if not good:
        why = f"has no value for each item: {'; '.join(problems) or 'no metric'}"
        run.refuse(why, lacks_values=True)
    doc, target, prompt = (
        columns_read[f"{what}_hash"][rows] for what in ("doc", "target", "prompt")
    )
    has_hash = doc.any() or target.any()
    remarks = _remarks(run, has_hash=has_hash)
    if problems:
        remarks.append(f"{path}: left out: {'; '.join(problems)}.")
    run_name, created = results.run(stamp_of(path))
    settings = results.settings(task) | ({"filter": filter_taken} if filter_taken else {})
    parts = []
    for name in good:
        values, instead = columns_read[name][:, rows]
        lower, remark = results.direction(task, name)
        missing = np.where(instead == NOT_THERE, ABSENT, UNSCORED)
        long = f"{name},{filter_taken or 'none'}"
        part = LogPart(
            model=results.model[0],
            task=task,
            metric=long if long == metric_asked else name,
            items=items,
            values=values,
            status=np.where(np.isnan(values), missing, 0).astype(np.uint8),
            item_hash=combine(doc, target) if has_hash else None,
            prompt_hash=prompt,
            hashed="doc_hash or target_hash",
            lower_is_better=lower,
            source=path,
            run=run_name,
            created=created,
            n_stated=whole(at(results.content, "n-samples", task, "effective")),
            mean_stated=results.stated_mean(task, name, filter_taken or "none"),
            settings=settings,
            remarks=(*remarks, remark) if remark else tuple(remarks),
        )
        parts.append(part)
    return parts


def _metrics(run: _Run, first: dict[str, Any]) -> list[str]:
    """List the metrics that lines may have."""
    listed = first.get("metrics")
    if isinstance(listed, list) and all(isinstance(name, str) for name in listed):
        names = listed
    elif run.results.path is not None:
        names = list(run.results.metrics(run.task))
    else:
        names = [name for name in first if name not in _KEYS]
    if set(names) == {"bypass"}:
        why = "was run with --predict_only: its answers have no scores"
        run.refuse(why, lacks_values=True)
    return [name for name in names if name != "bypass"]


def _chosen_rows(
    run: _Run, items: object, filters: Sequence[str | None] | None
) -> tuple[str, slice | Flags]:
    """Choose the rows of one filter; "" where neither file names it."""
    if filters is not None and any(filters):
        names = list(dict.fromkeys(name or "none" for name in dict.fromkeys(filters)))
    else:
        filters_of_metric = run.results.metrics(run.task)
        names = list(
            dict.fromkeys(
                name for filters_listed in filters_of_metric.values() for name in filters_listed
            )
        )
        if len(names) > 1:
            run.refuse(
                f"has several filters ({', '.join(map(visible, names))}), and its lines do "
                "not say of which one they are, as lm_eval writes them from 0.4.7 on: run "
                "it again by a newer lm_eval"
            )
        different, counts = np.unique(np.array(items), return_counts=True)
        if (counts > 1).any():
            first = visible(str(different[counts > 1][0]))
            why = "" if names else ", and no results file names the filters"
            run.refuse(
                f"has doc_id {first} twice, in lines that do not say of which filter they are{why}"
            )
    filter_names, several = ", ".join(map(visible, names)), len(names) > 1
    if several and run.filter is None:
        run.refuse(f"has several filters ({filter_names}): choose one, as by `filter={names[0]!r}`")
    is_any = not several and (run.filter == "none" or names in (["none"], []))
    if run.filter not in (None, *names) and not is_any:
        run.refuse(f"has no filter {visible(run.filter or '')}; it has {filter_names}")
    if several:
        return str(run.filter), np.array([(name or "none") == run.filter for name in filters or ()])
    return (names[0] if names else ""), slice(None)


def _remarks(run: _Run, *, has_hash: bool) -> list[str]:
    """Remarks on what is missing or doubtful."""
    remarks = [run.results.model[1]] if run.results.model[1] else []
    if run.results.path is None:
        remarks.append(f"{run.path} has no results file beside it.")
    elif run.results.is_old:
        remarks.append(
            f"{run.path}: lm_eval before 0.4.9 was run with --samples, and its doc_id "
            "are positions among these."
        )
    if lacking := run.results.without_samples:
        remarks.append(
            f"{run.results.path} has results of {counted(len(lacking), 'task')} without a file of "
            f"samples: left out ({listed(lacking)})."
        )
    if not has_hash:
        remarks.append(f"{run.path} has no doc_hash: that documents are the same is not checked.")
    return remarks


FORMATS = (
    LogFormat(
        name="lm_eval",
        title="LM Evaluation Harness",
        values=(
            Sign(keys="doc_id filtered_resps"),
            Sign(keys="doc_id doc", is_cut=True),  # a long document
        ),
        beside=(
            Sign(keys="results configs n-shot"),
            Sign(keys="results", holds=(b'"alias":',), is_cut=True),
        ),
        read=_read,
        group=_group,
        alone="let lm_eval write samples by --log_samples, and name their folder",
        names=r"(.*_)?(samples|results)_.*\.jsonl?(\.\w+)?",
    ),
)
