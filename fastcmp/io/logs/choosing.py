"""Which metric of each task, and which run of each model, is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadTypeError
from fastcmp.core.render import visible
from fastcmp.core.typing import Ints
from fastcmp.io.logs.format import LogPart, grouped
from fastcmp.io.logs.reading import Complain
from fastcmp.io.logs.words import a_task, counted, listed, task_label

Wanted = str | Mapping[str, str] | None


def label_of(part: LogPart) -> str:
    """Name the task of a part."""
    return task_label(part.task, part.subset)


# The metric of each task.


_LISTED = 20  # metrics in a message


def read_metric(metric: object) -> Wanted:
    """Read what a user passed as metric."""
    if metric is None or (isinstance(metric, str) and metric):
        return metric
    if isinstance(metric, Mapping) and all(
        isinstance(word, str) for pair in metric.items() for word in pair
    ):
        return dict(metric)
    raise BadTypeError(
        "`metric` must be the name of a metric, a mapping task -> name, or None", repr(metric)
    )


def choose_metrics(
    parts: Sequence[LogPart], metric_named: Wanted, complain: Complain
) -> tuple[list[LogPart], list[str]]:
    """Keep the values of one metric a task, and say which is taken or not there."""
    tasks = grouped(parts, lambda part: part.task)
    named = metric_named if isinstance(metric_named, Mapping) else {}
    if unknown := [task for task in named if task not in tasks]:
        complain(
            f"`metric` names tasks that are not there: {listed(unknown)}; there are "
            f"{listed(tasks, _LISTED)}"
        )
    somewhere = any(_like(metric_named, _metrics_of(task_parts)) for task_parts in tasks.values())
    kept: list[LogPart] = []
    remarks: list[str] = []
    for task, task_parts in tasks.items():
        name = metric_named.get(task) if isinstance(metric_named, Mapping) else metric_named
        if isinstance(metric_named, str) and somewhere:
            metric_names = _metrics_of(task_parts)
            if not _like(metric_named, metric_names):
                remarks.append(_left_out(task_parts[0], metric_named, metric_names))
                continue
        metric = _chosen(task, task_parts, name, complain)
        metric_parts = [part for part in task_parts if part.metric == metric]
        check_models(task_parts, metric_parts, metric, complain)
        kept += metric_parts
        if not metric_parts:
            continue
        having = {part.subset for part in metric_parts}
        subsets = grouped(
            (x for x in task_parts if x.subset not in having), lambda part: part.subset
        )
        remarks += [
            _left_out(subset_parts[0], metric, _metrics_of(subset_parts))
            for subset_parts in subsets.values()
        ]
        others = [other for other in _metrics_of(task_parts) if other != metric]
        if others and name is None:
            remarks.append(
                f"the metric is {visible(metric)}, the main one of these files; there are also "
                f"{listed(others, _LISTED)}"
            )
    return kept, remarks


def _metrics_of(parts: Sequence[LogPart]) -> list[str]:
    return list(dict.fromkeys(part.metric for part in parts))


def _left_out(part: LogPart, metric: str, metrics: Sequence[str]) -> str:
    return (
        f"task {visible(label_of(part))} has no metric {visible(metric)}: left out (it has "
        f"{listed(metrics, _LISTED)})"
    )


def _like(metric: object, metrics: Sequence[str]) -> list[str]:
    """The metrics that a name may mean: lm_eval names one with its filter."""
    if not isinstance(metric, str):
        return []
    if metric in metrics:
        return [metric]
    like = [name for name in metrics if name.partition(",")[0] == metric]
    return like + [name for name in metrics if metric.partition(",")[0] == name]


def _chosen(task: str, parts: Sequence[LogPart], metric: str | None, complain: Complain) -> str:
    """Choose the metric of a task; "" where there is none."""
    metrics = _metrics_of(parts)
    names = listed(metrics, _LISTED)
    if metric is None:
        heads = dict.fromkeys(part.metric for part in parts if part.is_headline)
        if len(metrics) == 1 or len(heads) == 1:
            return metrics[0] if len(metrics) == 1 else next(iter(heads))
        gains = list(dict.fromkeys(part.metric for part in parts if not part.lower_is_better))
        if len(gains) > 1 and all(_are_same(parts, gains[0], gain) for gain in gains[1:]):
            return gains[0]
        complain(f"`metric`: there are several{a_task(task)}: {names}. Choose one by `metric=`")
        return ""
    like = _like(metric, metrics)
    if len(like) == 1:
        return like[0]
    complain(f"`metric`: there is no {visible(metric)}{a_task(task)}, but {names}")
    return ""


def _are_same(parts: Sequence[LogPart], first: str, other: str) -> bool:
    """Whether two metrics have the same values throughout, as pass and score often have."""
    one, two = (
        {(x.source, x.model, x.subset): x.values for x in parts if x.metric == name}
        for name in (first, other)
    )
    return one.keys() == two.keys() and all(
        np.array_equal(values, two[part], equal_nan=True) for part, values in one.items()
    )


def check_models(
    parts: Sequence[LogPart], metric_parts: Sequence[LogPart], metric: str, complain: Complain
) -> None:
    """Refuse a model that has other metrics of a task, but not this one."""
    if not metric:
        return
    having = {part.model for part in metric_parts}
    for part in parts:
        if part.model not in having:
            own_metrics = [other.metric for other in parts if other.model == part.model]
            complain(
                f"{part.source}: {visible(part.model)} has no {visible(metric)}"
                f"{a_task(part.task)}, which {visible(metric_parts[0].model)} has, but "
                f"{listed(dict.fromkeys(own_metrics), _LISTED)}: choose a metric that all "
                "models have"
            )
            return


# Runs: what of one model on one task belongs together.


#: What `runs=` takes.
RUNS = ("raise", "latest", "repeats")


def one_run_each(
    parts: Sequence[LogPart], policy: str, complain: Complain
) -> tuple[list[LogPart], list[str]]:
    """One part a model, task and subset, and remarks."""
    kept: list[LogPart] = []
    remarks: list[str] = []
    for group in grouped(parts, lambda part: (part.model, part.task)).values():
        run_parts, remark = _of_group(group, policy, complain)
        remarks += remark
        kept += map(joined, grouped(run_parts, lambda part: part.subset).values())
    return kept, remarks


def _of_group(
    parts: list[LogPart], policy: str, complain: Complain
) -> tuple[list[LogPart], list[str]]:
    """Choose among the runs of a model on a task."""
    if len(parts) == 1:
        return parts, []
    runs = grouped(parts, lambda part: part.run or str(part.source))
    remarks: list[str] = []
    for run, run_parts in runs.items():
        runs[run], remark = _no_copies(run_parts, policy, complain)
        remarks += remark
    if len(runs) == 1:
        return runs[next(iter(runs))], remarks
    if not any(part.run for part in parts) and _are_disjoint(parts):
        return parts, remarks  # a table in several files
    ordered = sorted(
        runs.values(), key=lambda run_parts: (run_parts[0].created, run_parts[0].source)
    )
    what = f"{visible(parts[0].model)}{a_task(parts[0].task, 'on')}"
    files = [run_parts[0].source for run_parts in ordered]
    if policy == "repeats":
        remarks.append(f"{len(runs)} runs of {what} are taken as repeats.")
        return _as_repeats(ordered), remarks
    if policy == "latest":
        if ordered[-1][0].created > ordered[-2][0].created:
            remarks.append(
                f"Of {len(runs)} runs of {what} the latest is taken, {files[-1]}; left "
                f"out: {listed(files[:-1])}."
            )
            return ordered[-1], remarks
        complain(
            f"two runs of {what}, {files[-2]} and {files[-1]}, do not say which of "
            "them is later: take one file away"
        )
        return ordered[-1], remarks
    n, take = ("two", "one") if len(runs) == 2 else (str(len(runs)), "others")
    named = f"{files[0]} and {files[1]}" if len(runs) == 2 else listed(files, 5)
    complain(
        f"{n} runs of {what}: {named}. Take {take} away, or pass `runs='latest'` or "
        "`runs='repeats'`"
    )
    return ordered[-1], remarks


def _no_copies(
    parts: list[LogPart], policy: str, complain: Complain
) -> tuple[list[LogPart], list[str]]:
    """Refuse a run that is there twice, in two files; equal ones may be one."""
    by_file = grouped(parts, lambda part: str(part.source))
    if len(by_file) == 1 or _are_disjoint(parts):
        return parts, []
    first, second, *_ = by_file
    what = f"{visible(parts[0].model)}{a_task(parts[0].task, 'on')}"
    if policy == "latest" and all(
        _are_equal(file_parts, by_file[first]) for file_parts in by_file.values()
    ):
        n = counted(len(by_file) - 1, "copy").replace("copys", "copies")
        return by_file[first], [f"{n} of a run of {what} left out, such as {second}."]
    complain(f"one run of {what} is there twice: {first} and {second}. Take one away")
    return by_file[first], []


def _are_equal(parts: Sequence[LogPart], others: Sequence[LogPart]) -> bool:
    """Whether two files hold the same values."""
    return len(parts) == len(others) and all(
        a.subset == b.subset
        and texts(a.items) == texts(b.items)
        and np.array_equal(a.values, b.values, equal_nan=True)
        for a, b in zip(parts, others, strict=True)
    )


def _are_disjoint(parts: Iterable[LogPart]) -> bool:
    """Whether no item is answered in two parts."""
    all_keys: set[tuple[str, str, int]] = set()
    n = 0
    for part in parts:
        part_keys = set(zip(texts(part.items), repeats_of(part).tolist(), strict=True))
        n += len(part_keys)
        all_keys.update((part.subset, *key) for key in part_keys)
    return len(all_keys) == n


def _as_repeats(runs: Sequence[Sequence[LogPart]]) -> list[LogPart]:
    """Answers of several runs, each with repeats of its own."""
    renumbered: list[LogPart] = []
    start = 0
    for run_parts in runs:
        numbers = [repeats_of(part) for part in run_parts]
        low = min((int(repeats.min()) for repeats in numbers if repeats.size), default=0)
        high = max((int(repeats.max()) for repeats in numbers if repeats.size), default=0)
        renumbered += [
            replace(part, repeats=(repeats - low + start).astype(np.int32))
            for part, repeats in zip(run_parts, numbers, strict=True)
        ]
        start += high - low + 1
    return renumbered


def texts(items: Ints | Sequence[str]) -> list[str]:
    """Write items as text, which is their identity."""
    if isinstance(items, np.ndarray):
        items = items.tolist()
    return list(map(str, items))


def repeats_of(part: LogPart) -> NDArray[np.int32]:
    """The repeats of a part."""
    if part.repeats is None:
        return np.zeros(len(part.values), np.int32)
    return part.repeats


def joined(parts: Sequence[LogPart]) -> LogPart:
    """Join parts of one model, task and subset into one."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    sizes = [len(part.values) for part in parts]
    starts = np.cumsum([0, *sizes]).tolist()
    # Parts of one file and of several runs state their own rows; files of one run may each
    # state those of the run.
    stated = [part.n_stated for part in parts if part.n_stated is not None]
    of_one_run = len({part.run for part in parts}) == 1 and bool(first.run)
    n_stated = max(stated, default=0) if of_one_run else sum(stated)
    are_whole = all(isinstance(part.items, np.ndarray) for part in parts)
    return replace(
        first,
        items=np.concatenate([np.asarray(part.items) for part in parts])
        if are_whole
        else [item for part in parts for item in texts(part.items)],
        values=np.concatenate([part.values for part in parts]),
        repeats=np.concatenate([repeats_of(part) for part in parts]),
        status=filled([part.status for part in parts], sizes, np.uint8(0)),
        attempts=filled([part.attempts for part in parts], sizes, np.int32(1)),
        item_hash=filled([part.item_hash for part in parts], sizes, _NO_HASH),
        prompt_hash=filled([part.prompt_hash for part in parts], sizes, _NO_HASH),
        clusters=None
        if any(part.clusters is None for part in parts)
        else [entry for part in parts for entry in part.clusters or ()],
        reasons={
            start + row: why
            for start, part in zip(starts, parts, strict=False)
            for row, why in part.reasons.items()
        },
        n_stated=n_stated if len(stated) == len(parts) else None,
        mean_stated=None,
        remarks=tuple(dict.fromkeys(entry for part in parts for entry in part.remarks)),
    )


_NO_HASH = np.uint64(0)


def filled(arrays: Sequence[Any], shapes: Sequence[Any], fill: np.generic, axis: int = 0) -> Any:
    """Join arrays; where one is None it is filled, and where all are there is none."""
    if all(array is None for array in arrays):
        return None
    arrays_filled = [
        np.full(shape, fill) if array is None else array
        for array, shape in zip(arrays, shapes, strict=True)
    ]
    return np.concatenate(arrays_filled, axis)
