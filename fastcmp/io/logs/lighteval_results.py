"""The files of results that lighteval writes beside its details."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.io.logs import json_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from fastcmp.io.logs.file import LogFile

_STAMP = r"\d{4}-\d\d-\d\dT[\d.:-]+"
_DETAILS = re.compile(rf"details_(?P<task>.+)_(?P<stamp>{_STAMP})\.parquet", re.DOTALL)
_RESULTS = re.compile(rf"results_(?P<stamp>{_STAMP})\.json")


class Place(NamedTuple):
    """What the path of a file tells: model, time and task; "" where it does not."""

    model: str
    stamp: str
    task: str


def place(path: Path) -> Place:
    """Take model, time and task from a path: details/<model>/<time>/details_...."""
    found = _DETAILS.fullmatch(path.name) or _RESULTS.fullmatch(path.name)
    stamp = found["stamp"] if found else ""
    parts = list(path.parent.parts)
    if parts and re.fullmatch(_STAMP, parts[-1]):
        stamp = stamp or parts[-1]
        parts.pop()
    for top in ("details", "results"):
        if top in parts:
            at = len(parts) - parts[::-1].index(top)
            return Place("/".join(parts[at:]), stamp, _task(found))
    # A repository of details on the Hugging Face Hub: details_<organisation>__<model>.
    name = parts[-1] if parts else ""
    if name.startswith("details_"):
        name = name.removeprefix("details_").replace("__", "/", 1)
    return Place(name, stamp, _task(found))


def _task(found: re.Match[str] | None) -> str:
    """Task of the name of a file."""
    return found.groupdict().get("task", "") if found else ""


class Results:
    """The results of one run; empty where there is no such file."""

    def __init__(self, found: Any) -> None:
        self._found: Mapping[str, Any] = found if isinstance(found, dict) else {}

    def _mapping(self, *keys: str) -> Mapping[str, Any]:
        """Give a mapping within mappings, an empty one where it lacks."""
        found: Any = self._found
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def model(self) -> str:
        """Name of the model, "" where there is none."""
        general = self._mapping("config_general")
        inner = self._mapping("config_general", "model_config")
        return str(general.get("model_name") or inner.get("model_name") or "")

    def mean(self, task: str, metric: str) -> float | None:
        """Mean of a metric over a task."""
        found = self._mapping("results", task).get(metric)
        if not isinstance(found, int | float) or not math.isfinite(found):
            return None
        return float(found)

    def _config(self, task: str) -> Mapping[str, Any]:
        """Find the settings of a task, named with or without its few-shots."""
        return self._mapping("config_tasks", task) or self._mapping(
            "config_tasks", task.rpartition("|")[0]
        )

    def n_docs(self, task: str) -> int | None:
        """Give the number of documents that were asked."""
        found = self._config(task).get("effective_num_docs")
        return found if isinstance(found, int) and found > 0 else None

    def _of_metric(self, task: str, metric: str, key: str) -> Any:
        """Find a setting of a metric; some have several metrics in one entry."""
        config = self._config(task)
        listed = config.get("metrics") or config.get("metric") or ()
        for one in listed if isinstance(listed, list) else ():
            found = one.get(key) if isinstance(one, dict) else None
            if isinstance(found, dict):
                if metric in found:
                    return found[metric]
            elif isinstance(one, dict) and one.get("metric_name") == metric:
                return found
        return None

    def lower_is_better(self, task: str, metric: str) -> bool:
        """Tell whether the run says that less is better."""
        return self._of_metric(task, metric, "higher_is_better") is False

    def summary(self, task: str, metric: str) -> str:
        """Name what the run makes of the values of documents, such as "mean"."""
        return str(self._of_metric(task, metric, "corpus_level_fn") or "mean")

    def settings(self, task: str) -> dict[str, str]:
        """Collect what is reported where models differ."""
        general, config = self._mapping("config_general"), self._config(task)
        versions = self._mapping("versions")
        given = {
            "few-shots": config.get("num_fewshots"),
            "task version": config.get("version", versions.get(task)),
            "max samples": general.get("max_samples"),
            "few-shot seeds": general.get("num_fewshot_seeds"),
        }
        return {key: str(value) for key, value in given.items() if value is not None}


def results_of(details: Path, files: Iterable[LogFile], memory_limit: int) -> tuple[Results, str]:
    """Find the results of a file of details; a sentence where the name is made up.

    Runs of several models may have one time: the model must be the same too, unless
    there is one file of that time alone.
    """
    own = place(details)
    same_time = [file.path for file in files if place(file.path).stamp == own.stamp]
    paths = [path for path in same_time if place(path).model == own.model]
    if not paths and len(same_time) == 1:
        paths = same_time
    for path in paths:
        results = Results(json_values.read(path, memory_limit))
        if results.model:
            return results, ""
    return Results(None), f"{details}: the model is named after the folder, {own.model}"
