"""Statistics of the instances of a HELM run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastcmp.core.escaping import visible
from fastcmp.io.logs import json_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    #: Count and sum.
    Sum = tuple[float, float]


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
    for entry in json_values.entries(path, memory_limit):
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
    for stat in json_values.entries(path, memory_limit):
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
    for entry in json_values.entries(path, memory_limit, key):
        instance = entry if key is None else entry.get("instance")
        if not isinstance(instance, dict) or instance.get("perturbation"):
            continue
        given = instance.get("input")
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and text:
            found.setdefault(str(instance.get("id")), text)
    return found
