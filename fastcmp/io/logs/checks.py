"""What does not fit together among the answers of models to the items of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.words import SHOWN, a_task, counted, listed, task_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.io.logs.joining import Joint
    from fastcmp.io.logs.part import LogPart
    from fastcmp.io.logs.reading import Complain


def label_of(part: LogPart) -> str:
    """Name the task of a part."""
    return task_label(part.task, part.subset)


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
        repeat = "" if part.repeats is None else f", repeat {joint.repeat_of(key)},"
        before = np.flatnonzero(keys[: rows[0]] == key)[0]
        first, second = part.values[[before, rows[0]]].tolist()
        said = "" if first == second else f"; the values are {first:g} and {second:g}"
        more = f"; {rows.size} rows are such" if rows.size > 1 else ""
        complain(
            f"{part.source}: {visible(part.model)} has item "
            f"{visible(joint.item_of(key))}{repeat} twice"
            f"{a_task(label_of(part), 'in')}{said}{more}"
        )


def check_same_items(joint: Joint, complain: Complain) -> None:
    """Refuse models that were asked other items, or the same ones more often."""
    first = joint.keys[0]
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        if keys is first:
            continue
        here, there = _only(joint, first, keys)
        if here.size or there.size:
            complain(_other_items(joint, part, here, there))
            return


def _only(
    joint: Joint, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the keys of the one part only, and of the other only."""
    has = np.zeros((2, joint.n_keys), np.bool_)
    has[0, first] = True
    has[1, second] = True
    return np.flatnonzero(has[0] & ~has[1]), np.flatnonzero(has[1] & ~has[0])


def _other_items(
    joint: Joint, part: LogPart, here: NDArray[np.int64], there: NDArray[np.int64]
) -> str:
    """Say how many items the first part has only, and how many another one."""
    base = joint.parts[0]
    clauses = []
    own = dict(zip(map(id, joint.parts), joint.keys, strict=True))
    for less, more, keys in ((part, base, here), (base, part, there)):
        if keys.size:
            clauses.append(
                f"{visible(less.model)} lacks {_named(joint, keys, own[id(less)])}"
                f"{a_task(label_of(part))}, which {visible(more.model)} has"
            )
    return (
        f"{'; '.join(clauses)} ({base.source}; {part.source}). Pass items='common' to "
        "compare on what all models have"
    )


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


def check_hashes(joint: Joint, complain: Complain) -> None:
    """Refuse items that are something else for another model."""
    if all(part.item_hash is None for part in joint.parts):
        return
    known = np.zeros(joint.n_keys, np.uint64)
    owner = np.zeros(joint.n_keys, np.int32)
    for i, (part, keys) in enumerate(zip(joint.parts, joint.keys, strict=True)):
        if part.item_hash is None:
            continue
        before = known[keys]
        other = (before != 0) & (part.item_hash != 0) & (before != part.item_hash)
        if other.any():
            rows = np.flatnonzero(other)
            complain(_other_document(joint, part, keys[rows], owner))
            return
        new = before == 0
        if new.any():
            known[keys[new]] = part.item_hash[new]
            owner[keys[new]] = i
    _check_repeats(joint, known, complain)


def _check_repeats(joint: Joint, known: NDArray[np.uint64], complain: Complain) -> None:
    """Refuse repeats of an item that are of something else."""
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


def _other_document(
    joint: Joint, part: LogPart, keys: NDArray[np.int64], owner: NDArray[np.int32]
) -> str:
    """Say which item is another one for a model."""
    key = int(keys[0])
    base = joint.parts[int(owner[key])]
    more = f" ({keys.size} of {len(part.values)} rows)" if keys.size > 1 else ""
    return (
        f"item {visible(joint.item_of(key))}{a_task(label_of(part))} is another "
        f"document for {visible(part.model)} ({part.source}) than for "
        f"{visible(base.model)} ({base.source}): {part.hashed} differs{more}"
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
