"""Runs of HELM: folders with per_instance_stats.json and run_spec.json."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.io.logs.entries import at, mapping, number, text, written
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart
from fastcmp.io.logs.json_lines import entries, read
from fastcmp.io.logs.parts import Answer, Failure, parts_of
from fastcmp.io.logs.words import UNSCORED

Means = Mapping[tuple[str, str], list[float]]


class _Stat(msgspec.Struct):
    """A statistic, of an instance or of a run."""

    name: Any = None
    count: Any = None
    sum: Any = msgspec.UNSET


class _Instance(msgspec.Struct):
    """The statistics of an instance in one trial."""

    instance_id: Any = None
    train_trial_index: Any = 0
    perturbation: Any = None
    stats: list[_Stat] | None = None


class _Asked(msgspec.Struct):
    """An instance, or a state that holds one."""

    id: Any = None
    input: Any = None
    perturbation: Any = None
    instance: Any = None


def _is_number(value: object) -> bool:
    return number(value) is not None or (isinstance(value, float) and math.isnan(value))


def read_means(path: Path, memory_limit: int) -> dict[tuple[str, str], list[float]]:
    """Read stats.json: by metric and split the means, one for each part of a split."""
    means: dict[tuple[str, str], list[float]] = {}
    for stat in entries(path, memory_limit, _Stat):
        name = mapping(stat.name)
        is_mean = _is_number(stat.count) and _is_number(stat.sum) and stat.count > 0
        if name and not name.get("perturbation") and is_mean:
            key = (str(name.get("name")), str(name.get("split") or ""))
            means.setdefault(key, []).append(stat.sum / stat.count)
    return means


def read_texts(path: Path, memory_limit: int, key: str | None) -> dict[str, str]:
    """Read the text of each instance that is not perturbed.

    Of instances.json, or of the array `key` of scenario_state.json.
    """
    question_by_id: dict[str, str] = {}
    for entry in entries(path, memory_limit, _Asked, key):
        one = entry.instance if key else msgspec.structs.asdict(entry)
        prompt = at(one, "input")
        question = prompt.get("text") if isinstance(prompt, dict) else prompt
        if isinstance(question, str) and question and not at(one, "perturbation"):
            question_by_id.setdefault(str(at(one, "id")), question)
    return question_by_id


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


def _lacks_values(file: LogFile) -> bool:
    """Whether a file stands for a run whose values are not there."""
    keys, name = file.keys, file.path.name
    is_spec = name == _SPEC and "adapter_spec" in keys
    return is_spec or (name == "display_predictions.json" and "instance_id" in keys)


def _has_values(file: LogFile) -> bool:
    """Recognise statistics of instances.

    A run that lacks them counts as values, so that it is refused, not passed over.
    """
    if {"instance_id", "stats"} <= file.keys and _STATS.search(file.head):
        return True
    if _lacks_values(file):
        return not file.path.with_name(_VALUES).is_file()
    return file.path.name == _VALUES and file.head.strip() == b"[]"


def _is_beside(file: LogFile) -> bool:
    if _lacks_values(file):
        return True
    of_run = any(file.path.with_name(name).is_file() for name in (_VALUES, _SPEC))
    return of_run and _BESIDE.fullmatch(file.path.name) is not None


def _group(values: Sequence[LogFile], *_: object) -> list[tuple[LogFile]]:
    """One file of statistics at a time; a run that has none is refused."""
    with_values = [file for file in values if not _lacks_values(file)]
    complete = {file.path.parent for file in with_values}
    return [(file,) for file in values if file in with_values or file.path.parent not in complete]


def _read(file: LogFile, options: LogOptions) -> list[LogPart]:
    """Read the values of one run."""
    path, limit, metric = file.path, options.memory_limit, options.metric
    if _lacks_values(file):
        raise ValueError(
            f"{path}: no {_VALUES} beside it, so there is no value of an instance: the "
            "run has not finished, or the file was not copied"
        )
    model, task, settings = _spec(file, limit)
    if options.tasks is not None and task not in options.tasks:
        return []
    means: Means = _read_side(file, "stats.json", read_means, limit)
    texts: dict[str, str] = _read_side(file, "instances.json", read_texts, limit, None)
    texts = texts or _read_side(file, "scenario_state.json", read_texts, limit, "request_states")
    rows, names, n_perturbed = read_instances(path, limit, metric)
    if metric is not None and metric not in names:
        rows, names, n_perturbed = read_instances(path, limit, None)
    metrics = sorted(names, key=_rank)
    if not metrics:
        raise ValueError(f"{path}: no instance has a statistic; the run gave nothing")
    if metric is not None and metric not in metrics and any(name == metric for name, _ in means):
        raise ValueError(
            f"{path}: {metric!r} is in stats.json, of all instances together; no instance has a "
            "value of it, so models cannot be compared by it. Instances have "
            f"{visible(', '.join(metrics))}"
        )
    metrics = [metric] if metric in metrics else metrics
    in_split = {(split, name) for (split, *_), stats in rows.items() for name in stats}
    answers = [
        Answer(
            model=model,
            task=task,
            subset=split,
            item=instance,
            repeat=trial,
            values={name: _value(stats.get(name)) for name in metrics if (split, name) in in_split},
            identity=texts.get(instance),
        )
        for (split, instance, trial), stats in rows.items()
    ]
    remarks = []
    if n_perturbed:
        remarks.append(f"{path}: {n_perturbed} records of perturbed instances are left out")
    if not texts:
        remarks.append(
            f"{path}: no texts of instances beside it (instances.json or "
            "scenario_state.json), so they are matched by their ids alone"
        )
    template = LogPart(
        source=path,
        hashed="instance.input.text",
        run=str(path.parent),
        settings=settings,
        remarks=tuple(remarks),
    )
    return [_described(part, means) for part in parts_of(answers, template)]


def read_instances(
    path: Path, memory_limit: int, metric: str | None
) -> tuple[dict[tuple[str, str, int], dict[str, tuple[float, float]]], dict[str, None], int]:
    """Counts and sums by split, instance and trial; all metrics; how many are perturbed.

    Of one metric alone where it is named. Records of one instance, a record for each
    class of metrics, become one.
    """
    rows: dict[tuple[str, str, int], dict[str, tuple[float, float]]] = {}
    names: dict[str, None] = {}
    n_perturbed = 0
    for entry in entries(path, memory_limit, _Instance):
        if entry.perturbation:
            n_perturbed += 1
            continue
        instance, trial = entry.instance_id, entry.train_trial_index
        if not isinstance(instance, str | int) or type(trial) is not int or not 0 <= trial < 2**31:
            raise ValueError(
                f"{path}: wanted records with instance_id and train_trial_index, got "
                f"{str(entry)[:80]}"
            )
        if entry.stats is None:
            raise BadValueError(
                f"{path}: instance {instance!r}: wanted a list `stats`, as in "
                "per_instance_stats.json"
            )
        here: dict[str, dict[str, tuple[float, float]]] = {}
        for stat in entry.stats:
            about, count = stat.name, stat.count
            total = 0 if stat.sum is msgspec.UNSET else stat.sum
            if not isinstance(about, dict) or not isinstance(name := about.get("name"), str):
                raise ValueError(f"{path}: a statistic without a name: {str(stat)[:80]}")
            if about.get("perturbation"):
                continue
            split = str(about.get("split") or "")
            if split not in here:
                here[split] = rows.setdefault((split, str(instance), trial), {})
            names[name] = None
            if metric not in (None, name):
                continue
            if not _is_number(count) or count < 0 or not _is_number(total):
                raise ValueError(
                    f"{path}: instance {instance!r}: {visible(name)} has count {count!r} "
                    f"and sum {total!r}; wanted numbers"
                )
            stats_before = here[split].setdefault(name, (count, total))
            if stats_before != (count, total) and not math.isnan(total):
                raise ValueError(
                    f"{path}: instance {instance!r}, trial {trial}, has {visible(name)} twice: "
                    f"{stats_before[1]:g} and {total:g}"
                )
    return rows, names, n_perturbed


def _value(statistic: tuple[float, float] | None) -> float | Failure | None:
    """The mean of a statistic, if there is one."""
    if statistic is None:
        return None
    count, total = statistic
    return total / count if count else Failure("count 0", UNSCORED)


def _rank(metric: str) -> int:
    """Put scores first, and what a run counts of itself last."""
    return 2 if _LOWER.fullmatch(metric) or _COUNTED.match(metric) else not _HIGHER.match(metric)


def _spec(file: LogFile, memory_limit: int) -> tuple[str, str, dict[str, str]]:
    """Read model, task and settings from run_spec.json."""
    path = file.path.with_name(_SPEC)
    if not _is_inside(path, file):
        raise ValueError(
            f"{file.path}: no {_SPEC} beside it, which names the model and the task; "
            "copy the whole folder of the run"
        )
    spec = read(path, memory_limit)
    name, model = text(at(spec, "name")), text(at(spec, "adapter_spec", "model"))
    if not name or not model:
        raise ValueError(f"{path}: wanted name and adapter_spec.model, which name the run")
    fields = {
        "adapter": "method",
        "few-shots": "max_train_instances",
        "trials": "num_train_trials",
        "instructions": "instructions",
        "outputs": "num_outputs",
        "instances at most": "max_eval_instances",
    }
    settings = {key: at(spec, "adapter_spec", field) for key, field in fields.items()}
    scenario, _, all_arguments = name.partition(":")
    models = ("model=", "model_deployment=")
    arguments = ",".join(x for x in all_arguments.split(",") if x and not x.startswith(models))
    return model, f"{scenario}:{arguments}" if arguments else scenario, written(settings)


def _is_inside(path: Path, file: LogFile) -> bool:
    """Whether there is such a file, and not by a link out of the folder."""
    return path.is_file() and path.resolve().is_relative_to(file.root.resolve())


def _read_side(file: LogFile, name: str, reader: Any, *args: object) -> Any:
    """Read another file of the run; nothing where there is none."""
    path = file.path.with_name(name)
    return reader(path, *args) if _is_inside(path, file) else {}


def _described(part: LogPart, means: Means) -> LogPart:
    """A part with what the run says of its metric and split."""
    lower = _LOWER.fullmatch(part.metric) is not None
    remarks = part.remarks
    if not lower and not _HIGHER.fullmatch(part.metric):
        remarks += (
            f"{part.source}: the run does not say whether more of {part.metric!r} is "
            "better; it is taken so",
        )
    stated = means.get((part.metric, part.subset), [])
    repeats = np.zeros(1) if part.repeats is None else part.repeats[~np.isnan(part.values)]
    even = np.unique(np.unique(repeats, return_counts=True)[1]).size == 1  # else another mean
    instances = means.get(("num_instances", part.subset))
    trials = int(x) if (x := part.settings.get("trials", "1")).isdecimal() else 1
    return replace(
        part,
        lower_is_better=lower,
        n_stated=round(sum(instances) * trials) if instances else None,
        mean_stated=stated[0] if len(stated) == 1 and even else None,
        remarks=remarks,
    )


FORMATS = (
    LogFormat(
        name="helm",
        title="HELM",
        values=(_has_values,),
        beside=(_is_beside,),
        read=_read,
        group=_group,
        names=r"(per_instance_stats|run_spec|scenario_state)\.json",
    ),
)
