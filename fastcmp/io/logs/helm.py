"""Runs of HELM: folders with per_instance_stats.json and run_spec.json."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastcmp.core.render import visible
from fastcmp.io.logs import json_lines
from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Reading

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

Sum = tuple[float, float]
Means = Mapping[tuple[str, str], list[float]]


@dataclass(slots=True)
class Split:
    """What a run holds of one split."""

    #: Rows by instance and number of the trial.
    rows: dict[tuple[str, int], int] = field(default_factory=dict)
    #: Of each metric the rows that have it.
    metrics: dict[str, dict[int, Sum]] = field(default_factory=dict)


@dataclass(slots=True)
class Instances:
    """What a run holds: its splits, and what was left out."""

    splits: dict[str, Split] = field(default_factory=dict)
    #: Names of all metrics of instances.
    metrics: dict[str, None] = field(default_factory=dict)
    n_perturbed: int = 0


def read_instances(path: Path, memory_limit: int, metric: str | None) -> Instances:
    """Read the statistics of instances; of one metric alone where it is named.

    Records of one instance, a record for each class of metrics, become one.
    """
    found = Instances()
    for entry in json_lines.entries(path, memory_limit):
        if entry.get("perturbation"):
            found.n_perturbed += 1
            continue
        key = _key(entry, path)
        for name, split_name, stat in _stats(entry, path):
            split = found.splits.setdefault(split_name, Split())
            row = split.rows.setdefault(key, len(split.rows))
            found.metrics[name] = None
            if metric is None or name == metric:
                _add(split.metrics.setdefault(name, {}), row, stat, (key, name, path))
    return found


def _key(entry: Mapping[str, Any], path: Path) -> tuple[str, int]:
    """Instance and trial of a record."""
    instance = entry.get("instance_id")
    trial = entry.get("train_trial_index", 0)
    if not isinstance(instance, str | int) or type(trial) is not int or not 0 <= trial < 2**31:
        raise ValueError(
            f"{path}: wanted records with instance_id and train_trial_index, got {str(entry)[:80]}"
        )
    return str(instance), trial


def _stats(entry: Mapping[str, Any], path: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield metric, split and numbers, without those of perturbed instances."""
    stats = entry.get("stats")
    if not isinstance(stats, list):
        raise ValueError(  # noqa: TRY004
            f"{path}: instance {entry.get('instance_id')!r}: wanted a list `stats`, as "
            "in per_instance_stats.json"
        )
    for stat in stats:
        name = stat.get("name") if isinstance(stat, dict) else None
        if not isinstance(name, dict) or not isinstance(name.get("name"), str):
            raise ValueError(f"{path}: a statistic without a name: {str(stat)[:80]}")  # noqa: TRY004
        if not name.get("perturbation"):
            yield name["name"], str(name.get("split") or ""), stat


def _add(
    column: dict[int, Sum],
    row: int,
    stat: Mapping[str, Any],
    what: tuple[tuple[str, int], str, Path],
) -> None:
    """Add a statistic; it may come again, but not with another value."""
    (instance, trial), name, path = what
    count: Any = stat.get("count")
    total: Any = stat.get("sum", 0)
    if not _is_number(count) or count < 0 or not _is_number(total):
        raise ValueError(
            f"{path}: instance {instance!r}: {visible(name)} has count {count!r} "
            f"and sum {total!r}; wanted numbers"
        )
    known = column.setdefault(row, (count, total))
    if known != (count, total) and not math.isnan(total):
        raise ValueError(
            f"{path}: instance {instance!r}, trial {trial}, has {visible(name)} twice: "
            f"{known[1]:g} and {total:g}"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_means(path: Path, memory_limit: int) -> dict[tuple[str, str], list[float]]:
    """Read stats.json: by metric and split the means, one for each part of a split."""
    found: dict[tuple[str, str], list[float]] = {}
    for stat in json_lines.entries(path, memory_limit):
        name = stat.get("name")
        if not isinstance(name, dict) or name.get("perturbation"):
            continue
        count, total = stat.get("count"), stat.get("sum")
        if _is_number(count) and _is_number(total) and count > 0:
            key = (str(name.get("name")), str(name.get("split") or ""))
            found.setdefault(key, []).append(total / count)
    return found


def read_texts(path: Path, memory_limit: int, key: str | None) -> dict[str, str]:
    """Read the text of each instance that is not perturbed.

    Of instances.json, or of the array `key` of scenario_state.json.
    """
    found: dict[str, str] = {}
    for entry in json_lines.entries(path, memory_limit, key):
        instance = entry if key is None else entry.get("instance")
        if not isinstance(instance, dict) or instance.get("perturbation"):
            continue
        given = instance.get("input")
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and text:
            found.setdefault(str(instance.get("id")), text)
    return found


_VALUES, _SPEC = "per_instance_stats.json", "run_spec.json"
_STATS = re.compile(rb'"stats"\s*:\s*\[')  # in display_predictions.json it is a mapping
_BESIDE = re.compile(r"(stats|instances|scenario|scenario_state|display_\w+|annotations)\.json")
#: Where less is better, as in the schemata of HELM, and what is surely a score.
_LOWER = re.compile(
    r"inference_.*runtime|perplexity|bits_per_byte|training_\w+_cost|ece_\w+|"
    r"toxic_frac|expected_max_toxicity|max_toxicity_probability|\w*error\w*|num_\w+|"
    r"stereotyp\w+|bias_metric\w*"
)
_HIGHER = re.compile(
    r"\w*(match|f1|rouge|bleu|accuracy|correct|pass|ndcg|recall|rr|score|"
    r"equiv|similarity)\w*(@\d+)?",
    re.IGNORECASE,
)


_COUNTED = re.compile(r"finish_reason|prompt_|batch_|training_|logprob|max_prob|inference_|none$")


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    """Recognise statistics of instances; the other files of a run by their names.

    A run that lacks them counts as values, so that it is refused, not passed over.
    """
    name = file.path.name
    if {"instance_id", "stats"} <= file.keys and _STATS.search(file.head):
        return "values"
    if name == _VALUES and file.head.strip() == b"[]":
        return "values"
    has_values = file.path.with_name(_VALUES).is_file()
    if (name == _SPEC and "adapter_spec" in file.keys) or (
        name == "display_predictions.json" and "instance_id" in file.keys
    ):
        return "beside" if has_values else "values"
    of_run = has_values or file.path.with_name(_SPEC).is_file()
    return "beside" if of_run and _BESIDE.fullmatch(name) else ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read one file of statistics at a time, and refuse runs that have none."""
    held = [file for file in files if _holds(file) == "values"]
    complete = {file.path.parent for file in held if not _lacks_values(file)}
    return [
        partial(_read, file, options)
        for file in held
        if not _lacks_values(file) or file.path.parent not in complete
    ]


def _lacks_values(file: LogFile) -> bool:
    """Tell whether a file stands for a run whose values are not there."""
    return file.path.name in (_SPEC, "display_predictions.json")


def _read(file: LogFile, options: LogOptions) -> list[LogPart]:
    """Read the values of one run."""
    path = file.path
    if _lacks_values(file):
        raise ValueError(
            f"{path}: no {_VALUES} beside it, so there is no value of an instance: the "
            "run has not finished, or the file was not copied"
        )
    model, task, settings = _spec(file, options.memory_limit)
    if options.tasks is not None and task not in options.tasks:
        return []
    means = _read_side(file, "stats.json", read_means, options.memory_limit)
    found = _instances(path, options, means)
    shared = {
        "model": model,
        "task": task,
        "hashed": "instance.input.text",
        "source": path,
        "run": str(path.parent),
        "settings": settings,
    }
    texts = _texts(file, options.memory_limit)
    remarks = _remarks(path, found, texts)
    return [
        _part(found.splits[split], (split, metric), shared, (means, texts, remarks))
        for split in found.splits
        for metric in sorted(found.splits[split].metrics, key=_rank)
    ]


def _rank(metric: str) -> int:
    """Put scores first, and what a run counts of itself last."""
    return 2 if _LOWER.fullmatch(metric) or _COUNTED.match(metric) else not _HIGHER.match(metric)


def _instances(path: Path, options: LogOptions, means: Means) -> Instances:
    """Read the metric that is asked for; all where no instance has it."""
    found = read_instances(path, options.memory_limit, options.metric)
    if not found.splits:
        raise ValueError(f"{path}: no instance has a statistic; the run gave nothing")
    if options.metric is not None and options.metric not in found.metrics:
        if any(name == options.metric for name, _ in means):
            raise ValueError(
                f"{path}: {options.metric!r} is in stats.json, of all instances "
                "together; no instance has a value of it, so models cannot be "
                f"compared by it. Instances have {visible(', '.join(found.metrics))}"
            )
        found = read_instances(path, options.memory_limit, None)
    return found


def _remarks(path: Path, found: Instances, texts: Mapping[str, str]) -> list[str]:
    """Say what was left out, and what could not be checked."""
    remarks = []
    if found.n_perturbed:
        remarks.append(f"{path}: {found.n_perturbed} records of perturbed instances are left out")
    if not texts:
        remarks.append(
            f"{path}: no texts of instances beside it (instances.json or "
            "scenario_state.json), so they are matched by their ids alone"
        )
    return remarks


def _spec(file: LogFile, memory_limit: int) -> tuple[str, str, dict[str, str]]:
    """Read model, task and settings from run_spec.json."""
    path = file.path.with_name(_SPEC)
    if not _is_inside(path, file):
        raise ValueError(
            f"{file.path}: no {_SPEC} beside it, which names the model and the task; "
            "copy the whole folder of the run"
        )
    spec = json_lines.read(path, memory_limit)
    adapter = spec.get("adapter_spec") if isinstance(spec, dict) else None
    name = spec.get("name") if isinstance(spec, dict) else None
    model = adapter.get("model") if isinstance(adapter, dict) else None
    if not (isinstance(name, str) and isinstance(model, str) and name and model):
        raise ValueError(f"{path}: wanted name and adapter_spec.model, which name the run")
    wanted = {
        "adapter": "method",
        "few-shots": "max_train_instances",
        "trials": "num_train_trials",
        "instructions": "instructions",
        "outputs": "num_outputs",
        "instances at most": "max_eval_instances",
    }
    settings = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, field in wanted.items()
        if (value := adapter.get(field)) is not None  # type: ignore[union-attr]
    }
    return model, _task(name), settings


def _task(name: str) -> str:
    """Name of a run without its model."""
    scenario, _, given = name.partition(":")
    kept = [
        one
        for one in given.split(",")
        if one and not one.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _is_inside(path: Path, file: LogFile) -> bool:
    """Tell whether there is such a file, and not by a link out of the folder."""
    return path.is_file() and path.resolve().is_relative_to(file.root.resolve())


def _read_side(file: LogFile, name: str, read: Any, *args: Any) -> Any:
    """Read another file of the run; nothing where there is none."""
    path = file.path.with_name(name)
    return read(path, *args) if _is_inside(path, file) else {}


def _texts(file: LogFile, memory_limit: int) -> dict[str, str]:
    """Read the texts of instances, from the smaller file that has them."""
    found: dict[str, str] = _read_side(file, "instances.json", read_texts, memory_limit, None)
    return found or _read_side(
        file, "scenario_state.json", read_texts, memory_limit, "request_states"
    )


def _part(
    split: Split,
    names: tuple[str, str],
    shared: Mapping[str, Any],
    beside: tuple[Means, Mapping[str, str], Sequence[str]],
) -> LogPart:
    """Make the part of one metric of one split."""
    split_name, metric = names
    means, texts, remarks = beside
    values, reasons = _values(split, metric)
    ids = [instance for instance, _ in split.rows]
    trials = np.array([trial for _, trial in split.rows], dtype=np.int32)
    stated = means.get((metric, split_name), [])
    lower = _LOWER.fullmatch(metric) is not None
    if not lower and not _HIGHER.fullmatch(metric):
        remarks = [
            *remarks,
            f"{shared['source']}: the run does not say whether more of {metric!r} is "
            "better; it is taken so",
        ]
    _, counts = np.unique(trials[~np.isnan(values)], return_counts=True)
    even = np.unique(counts).size == 1  # else the mean over trials is another one
    return LogPart(
        subset=split_name,
        metric=metric,
        items=ids,
        values=values,
        repeats=trials if trials.any() else None,
        status=np.where(np.isnan(values), 2, 0).astype(np.uint8),
        reasons=reasons,
        item_hash=fingerprint(texts.get(instance) for instance in ids) if texts else None,
        lower_is_better=lower,
        n_stated=_n_stated(means, split_name, shared["settings"]),
        mean_stated=stated[0] if len(stated) == 1 and even else None,
        remarks=tuple(remarks),
        **shared,
    )


def _values(split: Split, metric: str) -> tuple[np.ndarray[Any, Any], dict[int, str]]:
    """Mean of each row, and why it has none."""
    column = split.metrics[metric]
    values = np.full(len(split.rows), np.nan)
    reasons = dict.fromkeys(range(len(split.rows)) - column.keys(), f"no {metric}")
    for row, (count, total) in column.items():
        if count:
            values[row] = total / count
        if not count or np.isnan(values[row]):
            reasons[row] = "NaN" if count else "count 0"
    return values, reasons


def _n_stated(means: Means, split: str, settings: Mapping[str, str]) -> int | None:
    """Instances of a split, times trials, as stats.json has them."""
    counts = means.get(("num_instances", split))
    if not counts:
        return None
    trials = settings.get("trials", "1")
    return round(sum(counts) * (int(trials) if trials.isdecimal() else 1))


FORMAT = LogFormat(
    name="helm",
    title="HELM",
    holds=_holds,
    readings=_readings,
    names=r"(per_instance_stats|run_spec|scenario_state)\.json",
)
