"""Logs of the LM Evaluation Harness, and of lmms-eval: samples and results files.

A file of samples is JSON lines, before 0.4.3 a JSON array. Its model, task, directions
and number of samples are those of the results file of the same run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.format import LogFormat, NoItemValuesError
from fastcmp.io.logs.json_blocks import first_entry, head_keys
from fastcmp.io.logs.json_lines import (
    Ids,
    Numbers,
    Prints,
    Words,
    combine,
    read_columns,
)
from fastcmp.io.logs.lm_eval_runs import Results, results_of, stamp_of, task_of
from fastcmp.io.logs.metrics import without_values
from fastcmp.io.logs.part import LogPart
from fastcmp.io.logs.words import counted, listed
from fastcmp.kernels.json_fields import ABSENT, ARRAY, OBJECT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fastcmp.io.logs.file import LogFile
    from fastcmp.io.logs.format import LogOptions, Reading
    from fastcmp.io.logs.json_blocks import Key
    from fastcmp.io.logs.json_lines import Column

_KEYS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"),
    *("metrics", "doc_hash", "prompt_hash", "target_hash", "input", "sample_len"),
)
_UNSCORED, _ABSENT = 2, 3  # of `STATUS`


@dataclass(frozen=True, slots=True)
class _Run:
    """A file of samples, and what is known of it before it is read."""

    path: Path
    results: Results
    task: str
    #: What was asked for, and its metric and filter; None: not asked for.
    asked: str | None
    metric: str | None
    filter: str | None

    def refuse(self, problem: str, *, lacks_values: bool = False) -> NoReturn:
        """Raise an error that names the file and the task."""
        message = f"{self.path}: task {visible(self.task)} {problem}"
        raise NoItemValuesError(message, self.task) if lacks_values else ValueError(message)


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    keys = head_keys(file)
    if "doc_id" in keys and "filtered_resps" in keys:
        return "values"
    is_cut = file.size > len(file.head)
    if {"doc_id", "doc"} <= keys and is_cut:  # a long document
        return "values"
    if "results" not in keys:
        return ""
    if {"configs", "n-shot"} <= keys or (is_cut and b'"alias":' in file.head):
        return "beside"
    return ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    beside = [file.path for file in files if _holds(file) == "beside"]
    samples = [file for file in files if file.path not in set(beside)]
    opened = {path: Results(path, path.parent, options.memory_limit) for path in beside}
    if not samples:
        raise ValueError(
            f"{beside[0]}: only results of whole tasks are here, no samples; let "
            "lm_eval write them by --log_samples"
        )
    return [_reading(file.path, opened, options) for file in samples]


def _reading(path: Path, opened: dict[Path, Results], options: LogOptions) -> Reading:
    found = results_of(path, list(opened))
    if found is not None:
        results = opened[found]
    else:
        results = Results(None, path.parent, options.memory_limit)
    if options.tasks is None:
        results.samples.append(path)
    return partial(_read, path, results, options)


def _read(path: Path, results: Results, options: LogOptions) -> list[LogPart]:
    """Read a file of samples."""
    task = task_of(path, results)
    if options.tasks is not None and task not in options.tasks:
        return []
    asked = options.asked or options.metric
    if not isinstance(asked, str):
        asked = (asked or {}).get(task)
    metric, comma, filter_ = (asked or "").rpartition(",")
    if not comma:
        metric, filter_ = filter_, ""
    filter_ = filter_ or options.filter or ""
    run = _Run(path, results, task, asked, metric or None, filter_ or None)
    first = first_entry(path, options.memory_limit)
    names = _metrics(run, first)
    if run.metric is not None and names and run.metric not in names:
        about = {"model": results.model[0], "task": task, "source": path}
        return without_values(names, **about)
    wanted = names if run.metric is None else [run.metric]
    ids, filters, prints = Ids("doc_id"), Words(), [Prints(), Prints(), Prints()]
    metrics = {name: Numbers() for name in wanted if name}
    columns: dict[Key, Column] = {"doc_id": ids}
    columns.update(metrics)
    if "filter" in first:
        columns["filter"] = filters
    hashes = ("doc_hash", "target_hash", "prompt_hash")
    columns |= dict(zip(hashes, prints, strict=True))
    lines = read_columns(path, columns, options.memory_limit)
    chosen, rows = _chosen_rows(run, ids, filters if "filter" in first else None)
    shared = _shared(run, ids, prints, rows)
    return _parts(run, metrics, (chosen, rows, lines), shared)


def _metrics(run: _Run, first: dict[str, Any]) -> list[str]:
    """List the metrics that lines may have."""
    listed = first.get("metrics")
    if isinstance(listed, list) and all(isinstance(name, str) for name in listed):
        names = listed
    elif run.results.path is not None:
        names = list(run.results.metrics(run.task))
    else:
        names = [name for name in first if name not in _KEYS]
    if set(names) == {"bypass"}:
        why = "was run with --predict_only: its answers have no scores"
        run.refuse(why, lacks_values=True)
    return [name for name in names if name != "bypass"]


def _chosen_rows(
    run: _Run, ids: Ids, filters: Words | None
) -> tuple[str, slice | NDArray[np.bool_]]:
    """Choose the rows of one filter; "" where neither file names it."""
    if filters is not None and len(filters.names) > 1:
        names = [name or "" for name in filters.names]
        if run.filter is None:
            run.refuse(
                f"has several filters ({', '.join(map(visible, names))}): choose one, "
                f"as by filter={names[0]!r}"
            )
        if run.filter not in names:
            _refuse_filter(run, names)
        return run.filter, filters.codes == names.index(run.filter)
    if filters is not None and filters.names:
        names = [filters.names[0] or "none"]
    else:
        names = _filters_of(run)
        _check_twice(run, ids, names)
    if run.filter not in (None, "none") and names not in ([run.filter], ["none"], []):
        _refuse_filter(run, names)
    return (names[0] if names else ""), slice(None)


def _refuse_filter(run: _Run, names: Sequence[str]) -> NoReturn:
    known = ", ".join(map(visible, names))
    run.refuse(f"has no filter {visible(run.filter or '')}; it has {known}")


def _filters_of(run: _Run) -> list[str]:
    """List the filters of the results; one is all that lines without may have."""
    found = run.results.metrics(run.task)
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    if len(names) > 1:
        run.refuse(
            f"has several filters ({', '.join(map(visible, names))}), and its lines do "
            "not say of which one they are, as lm_eval writes them from 0.4.7 on: run "
            "it again by a newer lm_eval"
        )
    return names


def _check_twice(run: _Run, ids: Ids, names: Sequence[str]) -> None:
    """Refuse documents that lines without a filter hold twice."""
    values, counts = np.unique(np.array(ids.values), return_counts=True)
    if (counts > 1).any():
        first = visible(str(values[counts > 1][0]))
        why = "" if names else ", and no results file names the filters"
        run.refuse(
            f"has doc_id {first} twice, in lines that do not say of which filter they are{why}"
        )


def _shared(run: _Run, ids: Ids, prints: Sequence[Prints], rows: Any) -> dict[str, Any]:
    """Collect what the parts of all metrics have in common."""
    values = ids.values
    items: Any = values[rows] if not isinstance(values, list) else values
    if isinstance(values, list) and not isinstance(rows, slice):
        items = [values[row] for row in np.flatnonzero(rows).tolist()]
    doc, target, prompt = (each.values[rows] for each in prints)
    name, created = run.results.run(stamp_of(run.path))
    return {
        "model": run.results.model[0],
        "task": run.task,
        "items": items,
        "item_hash": combine(doc, target) if doc.any() or target.any() else None,
        "prompt_hash": prompt if prompt.any() else None,
        "hashed": "doc_hash or target_hash",
        "source": run.path,
        "run": name,
        "created": created,
        "n_stated": run.results.stated_n(run.task),
    }


def _remarks(run: _Run, shared: dict[str, Any]) -> list[str]:
    """Say what was not there, or is doubtful."""
    remarks = [run.results.model[1]] if run.results.model[1] else []
    if run.results.path is None:
        remarks.append(f"{run.path} has no results file beside it.")
    elif run.results.is_old:
        remarks.append(
            f"{run.path}: lm_eval before 0.4.9 was run with --samples, and its doc_id "
            "are positions among these."
        )
    if lacking := run.results.without_samples:
        remarks.append(
            f"{run.results.path} has results of {counted(len(lacking), 'task')} without a file of "
            f"samples: left out ({listed(lacking)})."
        )
    if shared["item_hash"] is None:
        remarks.append(f"{run.path} has no doc_hash: that documents are the same is not checked.")
    return remarks


def _parts(
    run: _Run,
    metrics: dict[str, Numbers],
    kept: tuple[str, Any, NDArray[np.int64]],
    shared: dict[str, Any],
) -> list[LogPart]:
    """Make a part of each metric that has a value for each item."""
    chosen, rows, lines = kept
    good: list[str] = []
    problems: list[str] = []
    for name, column in metrics.items():
        kinds = column.kinds[rows]
        if kinds.size and not (kinds == ABSENT).all():
            problem = _problem(name, column, rows, lines)
            (problems if problem else good).append(problem or name)
    if not lines.size:
        run.refuse("has no samples")
    if not good:
        why = f"has no value for each item: {'; '.join(problems) or 'no metric'}"
        run.refuse(why, lacks_values=True)
    remarks = _remarks(run, shared)
    if problems:
        remarks.append(f"{run.path}: left out: {'; '.join(problems)}.")
    return [_part(run, name, chosen, metrics[name], rows, shared, remarks) for name in good]


def _problem(name: str, column: Numbers, rows: Any, lines: NDArray[np.int64]) -> str:
    """Say why a metric has no value for each item; "" where it has."""
    for kind, what in ((ARRAY, "lists"), (OBJECT, "objects")):
        if (column.kinds[rows] == kind).any():
            return (
                f"values of {visible(name)} are {what}, from which its figure for the "
                "whole task comes"
            )
    if column.strange is not None:
        row, text = column.strange
        return f"{visible(name)} of line {lines[row]} is no number, but {text[:40]!r}"
    return ""


def _part(
    run: _Run,
    name: str,
    chosen: str,
    column: Numbers,
    rows: Any,
    shared: dict[str, Any],
    remarks: Sequence[str],
) -> LogPart:
    """Make the part of a metric."""
    values, kinds = column.values[rows], column.kinds[rows]
    lower, remark = run.results.direction(run.task, name)
    missing = np.isnan(values)
    status = None
    if missing.any():
        unscored = np.where(kinds == ABSENT, _ABSENT, _UNSCORED)
        status = np.where(missing, unscored, 0).astype(np.uint8)
    settings = run.results.settings(run.task)
    long = f"{name},{chosen or 'none'}"
    return LogPart(
        metric=long if long == run.asked else name,
        values=values,
        status=status,
        lower_is_better=lower,
        mean_stated=run.results.stated_mean(run.task, name, chosen or "none"),
        settings=settings | ({"filter": chosen} if chosen else {}),
        remarks=(*remarks, remark) if remark else tuple(remarks),
        **shared,
    )


FORMAT = LogFormat(
    name="lm_eval",
    title="LM Evaluation Harness",
    holds=_holds,
    readings=_readings,
    names=r"(.*_)?(samples|results)_.*\.jsonl?(\.gz)?",
)
