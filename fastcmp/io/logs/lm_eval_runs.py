"""What an lm_eval results file says of a run: model, tasks, metrics, directions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fastcmp.io.logs.json_values import read_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

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

    def of(self, section: str) -> dict[str, Any]:
        """Give a section; an empty one where it is not there."""
        found = self.content.get(section)
        return found if isinstance(found, dict) else {}

    def about(self, section: str, task: str) -> Any:
        """Give what a section says of a task."""
        return self.of(section).get(task)

    @cached_property
    def tasks(self) -> list[str]:
        """Tasks and groups that the file has results of."""
        return list(dict.fromkeys([*self.of("results"), *self.of("configs")]))

    @cached_property
    def without_samples(self) -> list[str]:
        """Tasks that have results, and no file of samples; groups of tasks have none."""
        having = {task_of(path, self) for path in self.samples}
        groups = {name for name, own in self.of("group_subtasks").items() if own}
        groups.update(self.of("groups"))
        tasks = [task for task in self.of("results") if self.samples and self.metrics(task)]
        return [task for task in tasks if task not in groups | having]

    @property
    def is_old(self) -> bool:
        """Whether doc_id may be a position: --samples before 0.4.9 made it one."""
        numbers = re.findall(r"\d+", str(self.content.get("lm_eval_version") or ""))
        chosen = self.of("config").get("samples")
        return bool(chosen) and [int(n) for n in numbers[:3]] < [0, 4, 9]

    @cached_property
    def model(self) -> tuple[str, str]:
        """Give the name of the model, and a sentence where the file has none."""
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
        """Tell this run from others, and when it was saved."""
        if stamp:
            return stamp, stamp.replace(":", "-")
        date = self.content.get("date")
        created = ""
        if isinstance(date, (int, float)):
            created = datetime.fromtimestamp(date, UTC).isoformat()
        return str(self.path or self.folder), created

    def metrics(self, task: str) -> dict[str, list[str]]:
        """List the metrics of a task, each with its filters."""
        found: dict[str, list[str]] = {}
        for key, value in (self.about("results", task) or {}).items():
            name, comma, filter_ = key.rpartition(",")
            is_number = isinstance(value, (int, float)) or value == "N/A"
            if comma and is_number and not name.endswith("_stderr"):
                found.setdefault(name, []).append(filter_)
        return found

    def stated_mean(self, task: str, metric: str, filter_: str) -> float | None:
        """Give the figure of a metric, if it is a mean."""
        for each in self._metric_list(task):
            if each.get("metric") == metric:
                aggregation = each.get("aggregation", "mean")
                if aggregation not in _MEANS:
                    return None
        value = (self.about("results", task) or {}).get(f"{metric},{filter_}")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        return None

    def direction(self, task: str, metric: str) -> tuple[bool, str]:
        """Tell whether lower is better, and a sentence where the file does not say."""
        found = (self.about("higher_is_better", task) or {}).get(metric)
        if found is None:
            stated = [
                each.get("higher_is_better")
                for each in self._metric_list(task)
                if each.get("metric") == metric
            ]
            found = next((each for each in stated if each is not None), None)
        if found is not None:
            return not found, ""
        lower = metric in _ERRORS
        word = "lower" if lower else "higher"
        return lower, (
            f"The run does not say whether higher values of {metric} are better: "
            f"{word} ones are taken as better."
        )

    def stated_n(self, task: str) -> int | None:
        """Tell how many samples the task has."""
        found = self.about("n-samples", task)
        n = found.get("effective") if isinstance(found, dict) else None
        return n if isinstance(n, int) else None

    def settings(self, task: str) -> dict[str, str]:
        """Tell what is reported where models differ."""
        found = {
            "few-shots": self.about("n-shot", task),
            "task version": self.about("versions", task),
            "lm_eval version": self.content.get("lm_eval_version"),
        }
        return {name: str(value) for name, value in found.items() if value is not None}

    def _metric_list(self, task: str) -> Iterable[dict[str, Any]]:
        """List what the configuration of a task says of its metrics."""
        found = (self.about("configs", task) or {}).get("metric_list")
        return [each for each in found or () if isinstance(each, dict)]


def _named_in(arguments: Any) -> str:
    """Find the name of a model in its arguments, as lm_eval does."""
    if isinstance(arguments, str):
        pairs = [pair.partition("=") for pair in arguments.split(",")]
        arguments = {name.strip(): value for name, _, value in pairs}
    if isinstance(arguments, dict):
        for key in _NAMED_BY:
            if isinstance(found := arguments.get(key), str) and found:
                return found
    return ""


def stamp_of(path: Path) -> str:
    """Find the time in the name of a file; "" where there is none."""
    found = _STAMP.findall(path.name)
    return str(found[-1]) if found else ""


def results_of(samples: Path, results: Sequence[Path]) -> Path | None:
    """Find the results file of a file of samples: of its stamp, and its folder."""
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
    """Find the task in the name of a file of samples; it must be in the results."""
    stem = samples.name
    while stem.endswith((".gz", ".jsonl", ".json")):
        stem = stem.rpartition(".")[0]
    stem = _STAMP.sub("", stem).strip("_")
    name = stem.partition("samples_")[2] or stem
    if results.path is None:
        return name
    plain = {_plain(task): task for task in results.tasks}
    whole = plain.get(_plain(name))
    if whole is not None:
        return whole
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
    found, wanted = (re.sub(r"[\W_]+", "", text) for text in (prefix, arguments))
    if found != wanted:
        raise ValueError(
            f"{samples}: {results.path} is of a run with model_args {arguments!r}, "
            "which is not in the name of these samples: a later run overwrote it. Keep "
            "each run in a folder of its own"
        )


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)
