"""What does not fit together among the answers of models to the items of a task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.io.logs.choosing import label_of
from fastcmp.io.logs.format import LogPart
from fastcmp.io.logs.joining import Joint, status_of
from fastcmp.io.logs.reading import Complain
from fastcmp.io.logs.words import SHOWN, a_task, counted, listed, task_label


def check_part(part: LogPart, complain: Complain) -> None:
    """Refuse infinite values, and fewer rows than the run says."""
    task = a_task(label_of(part))
    if infinite := int(np.isinf(part.values).sum()):
        row = int(np.flatnonzero(np.isinf(part.values))[0])
        complain(
            f"{part.source}: values of {visible(part.metric)} must be finite, got "
            f"{infinite} infinite ones, the first for item "
            f"{visible(str(part.items[row]))}{task}"
        )
    n = len(part.values)
    if part.n_stated is not None and n < part.n_stated:
        complain(
            f"{part.source}: the run of {visible(part.model)} says that it has "
            f"{part.n_stated} samples{task}, and {n} are there: the file is cut off, "
            "or the run has not ended"
        )
    if n == 0:
        complain(f"{part.source}: {visible(part.model)} has no samples{task}")


def check_variants(parts: Iterable[LogPart], complain: Complain) -> None:
    """Refuse runs of what is another task in each."""
    first: dict[str, LogPart] = {}
    for part in parts:
        base = first.setdefault(part.task, part)
        if part.variant != base.variant:
            complain(
                f"{part.source}: task {part.task!r} was run with {part.variant[:200]}, in "
                f"{base.source} with {base.variant[:200]}: these are two tasks; read the "
                "logs of one"
            )
            return


def check_joint(joint: Joint, complain: Complain) -> None:
    """Refuse what no policy makes good."""
    check_directions(joint.parts, complain)
    check_twice(joint, complain)
    check_hashes(joint, complain)
    check_clusters(joint, complain)


def check_twice(joint: Joint, complain: Complain) -> None:
    """Refuse a model that has a key twice."""
    for part, keys, rows in zip(joint.parts, joint.keys, joint.twice, strict=True):
        if not rows.size:
            continue
        key = int(keys[rows[0]])
        repeat = "" if part.repeats is None else f", repeat {joint.repeat_of(key)}"
        before = np.flatnonzero(keys[: rows[0]] == key)[0]
        first, second = part.values[[before, rows[0]]].tolist()
        said = "" if first == second else f"; the values are {first:g} and {second:g}"
        more = f"; {rows.size} rows are such" if rows.size > 1 else ""
        more += f" ({part.twice})" if part.twice else ""
        complain(
            f"{part.source}: {visible(part.model)} has item "
            f"{visible(joint.item_of(key))}{repeat} twice"
            f"{a_task(label_of(part), 'in')}{said}{more}"
        )


def check_same_items(joint: Joint, complain: Complain) -> None:
    """Refuse models that were asked other items, or the same ones more often."""
    base, first = joint.parts[0], joint.keys[0]
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        if keys is first:
            continue
        has = np.zeros((2, joint.n_keys), np.bool_)
        has[0, first] = True
        has[1, keys] = True
        here, there = np.flatnonzero(has[0] & ~has[1]), np.flatnonzero(has[1] & ~has[0])
        clauses = [
            f"{visible(less.model)} lacks {_named(joint, absent, own)}{a_task(label_of(part))}, "
            f"which {visible(more.model)} has" + (f" ({less.lacking})" if less.lacking else "")
            for less, own, more, absent in ((part, keys, base, here), (base, first, part, there))
            if absent.size
        ]
        if clauses:
            complain(
                f"{'; '.join(clauses)} ({base.source}; {part.source}). Pass items='common' to "
                "compare on what all models have"
            )
            return


def _named(joint: Joint, keys: NDArray[np.int64], less: NDArray[np.int64]) -> str:
    """Count items, or answers to them, that a part lacks, and name the first three."""
    n_repeats = len(joint.repeats)
    known = np.zeros(len(joint.items), np.bool_)
    known[less // n_repeats] = True
    items = np.unique(keys // n_repeats)
    if known[items].any():  # some are answered, not as often
        shown = [
            f"{visible(joint.item_of(key))} (repeat {joint.repeat_of(key)})"
            for key in keys[:SHOWN].tolist()
        ]
        n, what = keys.size, "answer"
    else:
        shown = [visible(str(joint.items[i])) for i in items[:SHOWN].tolist()]
        n, what = items.size, "item"
    if n == 1:
        return f"{'the answer to ' if what == 'answer' else ''}item {shown[0]}"
    return f"{counted(n, what)}, such as {', '.join(shown)},"


def _fingerprints(
    joint: Joint, name: str
) -> tuple[NDArray[np.uint64], list[tuple[LogPart, NDArray[np.int64], LogPart]]]:
    """Fingerprints by key, and the parts in which they differ from those of another part."""
    known = np.zeros(joint.n_keys, np.uint64)
    owner = np.zeros(joint.n_keys, np.int32)
    differing = []
    for i, (part, keys) in enumerate(zip(joint.parts, joint.keys, strict=True)):
        own = getattr(part, name)
        if own is None:
            continue
        before = known[keys]
        other = keys[(before != 0) & (own != 0) & (before != own)]
        if other.size:
            differing.append((part, other, joint.parts[int(owner[other[0]])]))
        new = before == 0
        if new.any():
            known[keys[new]] = own[new]
            owner[keys[new]] = i
    return known, differing


def check_hashes(joint: Joint, complain: Complain) -> None:
    """Refuse items that are something else for another model, or in another repeat."""
    if all(part.item_hash is None for part in joint.parts):
        return
    known, differing = _fingerprints(joint, "item_hash")
    for part, keys, base in differing[:1]:
        more = f" ({keys.size} of {len(part.values)} rows)" if keys.size > 1 else ""
        complain(
            f"item {visible(joint.item_of(int(keys[0])))}{a_task(label_of(part))} is another "
            f"document for {visible(part.model)} ({part.source}) than for "
            f"{visible(base.model)} ({base.source}): {part.hashed} differs{more}"
        )
        return
    table = known.reshape(-1, len(joint.repeats))
    high = table.max(axis=1, keepdims=True)
    other = np.flatnonzero(((table != 0) & (table != high)).any(axis=1))
    if other.size:
        part = joint.parts[0]
        names = listed(str(joint.items[i]) for i in other[: SHOWN + 1].tolist())
        complain(
            f"{part.source}: repeats of {counted(other.size, 'item')} ({names})"
            f"{a_task(label_of(part))} are not of the same document: {part.hashed} "
            "differs"
        )


def check_clusters(joint: Joint, complain: Complain) -> None:
    """Refuse items that are in another cluster for another model."""
    known: NDArray[np.object_] | None = None
    first: LogPart | None = None
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        if part.clusters is None:
            continue
        own = np.array(part.clusters, dtype=object)
        places = keys // len(joint.repeats)
        if first is None or known is None:
            first, known = part, np.full(len(joint.items), None, dtype=object)
        before = known[places]
        other = np.flatnonzero((before != own) & (before != np.array(None)))
        if other.size:
            row = int(other[0])
            complain(
                f"item {visible(joint.item_of(int(keys[row])))}"
                f"{a_task(label_of(part))} is in cluster {visible(str(own[row]))} for "
                f"{visible(part.model)} ({part.source}), and in "
                f"{visible(str(before[row]))} for {visible(first.model)} "
                f"({first.source})"
            )
            return
        known[places] = own


def check_directions(parts: Sequence[LogPart], complain: Complain) -> None:
    """Refuse a metric that is an error for one model and a score for another."""
    for part in parts[1:]:
        if part.lower_is_better != parts[0].lower_is_better:
            low, high = sorted((part, parts[0]), key=lambda each: each.lower_is_better)[::-1]
            complain(
                f"{visible(part.metric)}{a_task(label_of(part))}: lower is better for "
                f"{visible(low.model)} ({low.source}), and higher for "
                f"{visible(high.model)} ({high.source})"
            )
            return


def check_tasks(
    groups: dict[tuple[str, str], dict[str, LogPart]], names: Sequence[str], complain: Complain
) -> None:
    """Refuse models that lack tasks which others have."""
    for name in names:
        lacks = [key for key, own in groups.items() if name not in own]
        if not lacks:
            continue
        task = task_label(*lacks[0])
        other = next(iter(groups[lacks[0]].values()))
        more = ""
        if len(lacks) > 1:
            tasks = listed(task_label(*key) for key in lacks)
            more = f" ({len(lacks)} of {len(groups)} tasks: {tasks})"
        complain(
            f"{visible(name)} has no values of task {visible(task)}, which "
            f"{visible(other.model)} has ({other.source}){more}. Pass items='common' "
            "to compare on tasks that all models have, or choose them by task="
        )
        return


# What is reported of logs that fit together: prompts, settings, stated means.


#: How far a stated mean may lie from that of the values: it is rounded.
_ROUNDED = 5.1e-5


def prompt_remarks(joint: Joint) -> list[str]:
    """Say in how many items models were asked something else."""
    if all(part.prompt_hash is None for part in joint.parts):
        return []
    _, differing = _fingerprints(joint, "prompt_hash")
    if not differing:
        return []
    differs = np.zeros(joint.n_keys, np.bool_)
    for _, keys, _ in differing:
        differs[keys] = True
    other = [part.model for part, _, _ in differing]
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


def policy_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Say what the runs' own means make of answers without a value."""
    made: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        codes, stated = status_of(part), part.mean_stated
        if codes is None or stated is None or math.isnan(stated):
            continue
        mean, mean_missing_as_0, *_ = _means(part)
        fits = [abs(each - stated) <= _ROUNDED for each in (mean, mean_missing_as_0)]
        if fits[0] != fits[1]:
            policy = "counts them as 0" if fits[1] else "leaves them out"
            said = made.setdefault((part.metric, policy), [])
            said.append(f"{visible(part.model)} ({int((codes > 0).sum())})")
    return [
        f"Answers without a value of {visible(metric)}: the logs' own mean {policy}, of "
        f"{listed(dict.fromkeys(models))}."
        for (metric, policy), models in made.items()
    ]


def _means(part: LogPart) -> list[float]:
    """The means of values that a run may state: without missing ones, with them as 0, ..."""
    values = part.values
    if part.status is not None:
        values = np.where(part.status == 0, values, np.nan)
    known = ~np.isnan(values)
    if not known.any():
        return [math.nan, 0.0]
    filled = np.where(known, values, 0.0)
    means = [float(filled.sum() / known.sum()), float(filled.mean())]
    if part.repeats is not None:
        _, places = np.unique(np.asarray(part.items), return_inverse=True)
        sums = np.bincount(places.ravel(), filled)
        n = np.bincount(places.ravel(), known)
        means.append(float((sums[n > 0] / n[n > 0]).mean()))
    return means


def direction_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Say which values are negated."""
    metrics = dict.fromkeys(part.metric for part in parts if part.lower_is_better)
    if not metrics:
        return []
    names = listed(metrics)
    return [f"Of {names} lower is better: values are negated, so that higher is."]
