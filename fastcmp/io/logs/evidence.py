"""What is reported of logs that fit together: prompts, settings, stated means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.checks import label_of
from fastcmp.io.logs.words import a_task, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastcmp.io.logs.joining import Joint
    from fastcmp.io.logs.part import LogPart

#: How far a stated mean may lie from that of the values: it is rounded.
_ROUNDED = 5.1e-5


def prompt_remarks(joint: Joint) -> list[str]:
    """Say in how many items models were asked something else."""
    known = np.zeros(joint.n_keys, np.uint64)
    differs = np.zeros(joint.n_keys, np.bool_)
    other = []
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        if part.prompt_hash is None:
            continue
        before = known[keys]
        differ = (before != 0) & (part.prompt_hash != 0) & (before != part.prompt_hash)
        if differ.any():
            other.append(part.model)
            differs[keys[differ]] = True
        known[keys] = np.where(before == 0, part.prompt_hash, before)
    if not other:
        return []
    base = next(each for each in joint.parts if each.prompt_hash is not None)
    by_item = differs.reshape(-1, len(joint.repeats)).any(axis=1)
    return [
        f"prompt_hash differs in {by_item.sum()} of {counted(len(joint.items), 'item')}"
        f"{a_task(label_of(base))} between {visible(base.model)} and {listed(other)}: "
        "they were asked the same in other words."
    ]


def setting_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Say which settings of the same task differ between models."""
    seen: dict[tuple[str, str], dict[str, list[str]]] = {}
    for part in parts:
        for name, value in part.settings.items():
            held = seen.setdefault((part.task, name), {})
            models = held.setdefault(value, [])
            if part.model not in models:
                models.append(part.model)
    found: dict[str, list[tuple[str, str]]] = {}
    for (task, name), held in seen.items():
        if len(held) > 1:
            shown = "; ".join(
                f"{visible(value)} ({listed(models)})" for value, models in held.items()
            )
            found.setdefault(f"{name} differs between models: {shown}", []).append((task, name))
    remarks = []
    for text, tasks in found.items():
        names = listed(task for task, _ in tasks if task)
        remarks.append(f"{text}{f', on task {names}' if names else ''}.")
    return remarks


def mean_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Say which runs state a mean that is not that of their values."""
    remarks = []
    for part in parts:
        stated = part.mean_stated
        if stated is None or math.isnan(stated) or not len(part.values):
            continue
        means = _means(part)
        if not any(abs(mean - stated) <= _ROUNDED for mean in means):
            remarks.append(
                f"{part.source}: {visible(part.metric)} of {visible(part.model)}"
                f"{a_task(label_of(part), 'on')} is {stated:.6g} by the run's own "
                f"account, and the mean of its values is {means[0]:.6g}: it is another "
                "mean, or values are left out"
            )
    return remarks


def _means(part: LogPart) -> list[float]:
    """Give the means of values that a run may state."""
    values = part.values
    if part.status is not None:
        values = np.where(part.status == 0, values, np.nan)
    known = ~np.isnan(values)
    if not known.any():
        return [math.nan]
    filled = np.where(known, values, 0.0)
    means = [float(filled.sum() / known.sum()), float(filled.mean())]
    if part.repeats is not None:
        _, places = np.unique(np.asarray(part.items), return_inverse=True)
        sums = np.bincount(places.ravel(), filled)
        n = np.bincount(places.ravel(), known)
        means.append(float((sums[n > 0] / n[n > 0]).mean()))
    return means


def part_remarks(parts: Sequence[LogPart]) -> list[str]:
    """Give what importers say of their parts, each sentence once."""
    return list(dict.fromkeys(each for part in parts for each in part.remarks))


def direction_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Say which values are negated."""
    metrics = dict.fromkeys(part.metric for part in parts if part.lower_is_better)
    if not metrics:
        return []
    names = listed(metrics)
    return [f"Of {names} lower is better: values are negated, so that higher is."]
