"""What does not fit together among the answers of models to the items of a task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.core.typing import Ints
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
    """Refuse what no policy can mend."""
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
        amounts = "" if first == second else f"; the values are {first:g} and {second:g}"
        more = f"; {rows.size} rows are such" if rows.size > 1 else ""
        more += f" ({part.twice})" if part.twice else ""
        complain(
            f"{part.source}: {visible(part.model)} has item "
            f"{visible(joint.item_of(key))}{repeat} twice"
            f"{a_task(label_of(part), 'in')}{amounts}{more}"
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
            f"{visible(less.model)} lacks {_named(joint, absent, had)}{a_task(label_of(part))}, "
            f"which {visible(more.model)} has" + (f" ({less.lacking})" if less.lacking else "")
            for less, had, more, absent in ((part, keys, base, here), (base, first, part, there))
            if absent.size
        ]
        if clauses:
            complain(
                f"{'; '.join(clauses)} ({base.source}; {part.source}). Pass `items='common'` to "
                "compare on what all models have"
            )
            return


def _named(joint: Joint, keys: Ints, less: Ints) -> str:
    """Count items, or answers to them, that a part lacks, and name the first three."""
    n_repeats = len(joint.repeats)
    is_known = np.zeros(len(joint.items), np.bool_)
    is_known[less // n_repeats] = True
    items = np.unique(keys // n_repeats)
    if is_known[items].any():  # some are answered, not as often
        examples = [
            f"{visible(joint.item_of(key))} (repeat {joint.repeat_of(key)})"
            for key in keys[:SHOWN].tolist()
        ]
        n, what = keys.size, "answer"
    else:
        examples = [visible(str(joint.items[i])) for i in items[:SHOWN].tolist()]
        n, what = items.size, "item"
    if n == 1:
        return f"{'the answer to ' if what == 'answer' else ''}item {examples[0]}"
    return f"{counted(n, what)}, such as {', '.join(examples)},"


def _fingerprints(
    joint: Joint, name: str
) -> tuple[NDArray[np.uint64], list[tuple[LogPart, Ints, LogPart]]]:
    """Fingerprints by key, and the parts in which they differ from those of another part."""
    prints_by_key = np.zeros(joint.n_keys, np.uint64)
    owner = np.zeros(joint.n_keys, np.int32)
    differing = []
    for i, (part, keys) in enumerate(zip(joint.parts, joint.keys, strict=True)):
        prints = getattr(part, name)
        if prints is None:
            continue
        before = prints_by_key[keys]
        other = keys[(before != 0) & (prints != 0) & (before != prints)]
        if other.size:
            differing.append((part, other, joint.parts[int(owner[other[0]])]))
        new = before == 0
        if new.any():
            prints_by_key[keys[new]] = prints[new]
            owner[keys[new]] = i
    return prints_by_key, differing


def check_hashes(joint: Joint, complain: Complain) -> None:
    """Refuse items that are something else for another model, or in another repeat."""
    if all(part.item_hash is None for part in joint.parts):
        return
    prints_by_key, differing = _fingerprints(joint, "item_hash")
    for part, keys, base in differing[:1]:
        more = f" ({keys.size} of {len(part.values)} rows)" if keys.size > 1 else ""
        complain(
            f"item {visible(joint.item_of(int(keys[0])))}{a_task(label_of(part))} is another "
            f"document for {visible(part.model)} ({part.source}) than for "
            f"{visible(base.model)} ({base.source}): {part.hashed} differs{more}"
        )
        return
    table = prints_by_key.reshape(-1, len(joint.repeats))
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
    cluster_of_item: NDArray[np.object_] | None = None
    first: LogPart | None = None
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        if part.clusters is None:
            continue
        clusters = np.array(part.clusters, dtype=object)
        places = keys // len(joint.repeats)
        if first is None or cluster_of_item is None:
            first, cluster_of_item = part, np.full(len(joint.items), None, dtype=object)
        before = cluster_of_item[places]
        other = np.flatnonzero((before != clusters) & (before != np.array(None)))
        if other.size:
            row = int(other[0])
            complain(
                f"item {visible(joint.item_of(int(keys[row])))}"
                f"{a_task(label_of(part))} is in cluster {visible(str(clusters[row]))} for "
                f"{visible(part.model)} ({part.source}), and in "
                f"{visible(str(before[row]))} for {visible(first.model)} "
                f"({first.source})"
            )
            return
        cluster_of_item[places] = clusters


def check_directions(parts: Sequence[LogPart], complain: Complain) -> None:
    """Refuse a metric that is an error for one model and a score for another."""
    for part in parts[1:]:
        if part.lower_is_better != parts[0].lower_is_better:
            low, high = sorted((part, parts[0]), key=lambda x: x.lower_is_better)[::-1]
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
        lacks = [key for key, parts_by_model in groups.items() if name not in parts_by_model]
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
            f"{visible(other.model)} has ({other.source}){more}. Pass `items='common'` "
            "to compare on tasks that all models have, or choose them by `task=`"
        )
        return


# What is reported of logs that fit together: prompts, settings, stated means.


#: How far a stated mean may lie from that of the values: it is rounded.
_ROUNDED = 5.1e-5


def prompt_remarks(joint: Joint) -> list[str]:
    """A remark on the number of items whose prompts differ between models."""
    if all(part.prompt_hash is None for part in joint.parts):
        return []
    _, differing = _fingerprints(joint, "prompt_hash")
    if not differing:
        return []
    differs = np.zeros(joint.n_keys, np.bool_)
    for _, keys, _ in differing:
        differs[keys] = True
    other = [part.model for part, _, _ in differing]
    base = next(x for x in joint.parts if x.prompt_hash is not None)
    by_item = differs.reshape(-1, len(joint.repeats)).any(axis=1)
    return [
        f"prompt_hash differs in {by_item.sum()} of {counted(len(joint.items), 'item')}"
        f"{a_task(label_of(base))} between {visible(base.model)} and {listed(other)}: "
        "they were asked the same in other words."
    ]


def setting_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Remarks on settings of the same task that differ between models."""
    values_by_setting: dict[tuple[str, str], dict[str, list[str]]] = {}
    for part in parts:
        for name, value in part.settings.items():
            models_by_value = values_by_setting.setdefault((part.task, name), {})
            models = models_by_value.setdefault(value, [])
            if part.model not in models:
                models.append(part.model)
    tasks_by_remark: dict[str, list[tuple[str, str]]] = {}
    for (task, name), models_by_value in values_by_setting.items():
        if len(models_by_value) > 1:
            differing = "; ".join(
                f"{visible(value)} ({listed(models)})" for value, models in models_by_value.items()
            )
            tasks_by_remark.setdefault(f"{name} differs between models: {differing}", []).append(
                (task, name)
            )
    remarks = []
    for text, tasks in tasks_by_remark.items():
        names = listed(task for task, _ in tasks if task)
        remarks.append(f"{text}{f', on task {names}' if names else ''}.")
    return remarks


def mean_remarks(parts: Iterable[LogPart]) -> list[str]:
    """Remarks on runs that state another mean than that of their values."""
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
    """Remarks on how the runs' own means count answers without a value."""
    models_by_policy: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        codes, stated = status_of(part), part.mean_stated
        if codes is None or stated is None or math.isnan(stated):
            continue
        mean, mean_missing_as_0, *_ = _means(part)
        fits = [abs(x - stated) <= _ROUNDED for x in (mean, mean_missing_as_0)]
        if fits[0] != fits[1]:
            policy = "counts them as 0" if fits[1] else "leaves them out"
            model_counts = models_by_policy.setdefault((part.metric, policy), [])
            model_counts.append(f"{visible(part.model)} ({int((codes > 0).sum())})")
    return [
        f"Answers without a value of {visible(metric)}: the logs' own mean {policy}, of "
        f"{listed(dict.fromkeys(models))}."
        for (metric, policy), models in models_by_policy.items()
    ]


def _means(part: LogPart) -> list[float]:
    """The means of values that a run may state: without missing ones, with them as 0, ..."""
    values = part.values
    if part.status is not None:
        values = np.where(part.status == 0, values, np.nan)
    is_known = ~np.isnan(values)
    if not is_known.any():
        return [math.nan, 0.0]
    filled = np.where(is_known, values, 0.0)
    means = [float(filled.sum() / is_known.sum()), float(filled.mean())]
    if part.repeats is not None:
        _, places = np.unique(np.asarray(part.items), return_inverse=True)
        sums = np.bincount(places.ravel(), filled)
        n = np.bincount(places.ravel(), is_known)
        means.append(float((sums[n > 0] / n[n > 0]).mean()))
    return means


def direction_remarks(parts: Iterable[LogPart]) -> list[str]:
    """A remark on the metrics whose values are negated."""
    metrics = dict.fromkeys(part.metric for part in parts if part.lower_is_better)
    if not metrics:
        return []
    names = listed(metrics)
    return [f"Of {names} lower is better: values are negated, so that higher is."]
