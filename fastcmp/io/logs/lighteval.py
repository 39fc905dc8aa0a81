"""Details of lighteval: Parquet files with a row for each document and metric."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import LogFormat
from fastcmp.io.logs.lighteval_results import Results, place, results_of
from fastcmp.io.logs.lighteval_rows import Documents, is_new, is_old, read_documents
from fastcmp.io.logs.part import LogPart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastcmp.io.logs.file import LogFile
    from fastcmp.io.logs.format import LogOptions, Reading


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    """Recognise details by their columns, and the results of a run by their keys."""
    if file.head.startswith(b"PAR1"):
        names = _columns(file.path)
        if is_new(names) or is_old(names):
            return "values"
        return "beside" if "config_general" in names else ""
    named = file.path.name.startswith("results_")
    return "beside" if named and "config_general" in file.keys else ""


def _columns(path: Path) -> tuple[str, ...]:
    """Names of the columns of a Parquet file; none where it is damaged."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise ImportError(
            f"{path}: reading Parquet needs pyarrow: pip install 'fastcmp[cli]'"
        ) from error
    try:
        return tuple(parquet.read_schema(path).names)
    except (ArrowException, OSError):
        # Its schema stands at the end: by its name alone is a cut file known.
        return ("full_prompt", "metrics") if path.name.startswith("details_") else ()


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read one task of one run at a time."""
    beside = [file for file in files if file.path.suffix == ".json"]
    return [
        partial(_read, file.path, beside, options) for file in files if _holds(file) == "values"
    ]


def _read(path: Path, beside: Sequence[LogFile], options: LogOptions) -> list[LogPart]:
    """Read the values of one file."""
    found = read_documents(path, options.memory_limit)
    if not found:
        raise ValueError(f"{path}: no documents; the run gave nothing")
    results, remark = results_of(path, beside, options.memory_limit)
    remarks = (remark,) if remark else ()
    parts: list[LogPart] = []
    for own, documents in found.items():
        task = own or place(path).task
        if options.tasks is not None and task not in options.tasks:
            continue
        _check(path, task, documents, results, options.metric)
        wanted = options.metric in documents.metrics
        parts += [
            _part(path, task, metric, documents, (results, remarks))
            for metric in documents.metrics
            if not wanted or metric == options.metric
        ]
    return parts


def _check(
    path: Path, task: str, documents: Documents, results: Results, metric: str | None
) -> None:
    """Refuse fewer documents than the run says, and metrics without numbers."""
    n, stated = len(documents.rows), results.n_docs(task)
    if stated is not None and n < stated:
        raise ValueError(
            f"{path}: {n:,} documents of task {task!r}, but the run says {stated:,} "
            "(effective_num_docs): the file is cut off"
        )
    if metric in documents.others or not documents.metrics:
        names = visible(", ".join(sorted(documents.others))) or "no metric"
        raise ValueError(
            f"{path}: {names}: no document has a number; such metrics are of a whole "
            "task, and models cannot be compared by them. Documents have "
            f"{visible(', '.join(documents.metrics)) or 'no other metric'}"
        )


def _part(
    path: Path,
    task: str,
    metric: str,
    documents: Documents,
    of_run: tuple[Results, tuple[str, ...]],
) -> LogPart:
    """Make the part of one metric of one task."""
    results, remarks = of_run
    own = place(path)
    values = np.full(len(documents.rows), np.nan)
    column = documents.metrics[metric]
    values[list(column)] = list(column.values())
    missing = np.isnan(values)
    reasons = {
        row: "NaN" if row in column else f"no {metric}" for row in np.flatnonzero(missing).tolist()
    }
    summary = results.summary(task, metric)
    is_mean = "mean" in summary
    if not is_mean:
        remarks += (
            f"{path}: the run states the {visible(summary)} of {metric!r}; the "
            "comparison is of means",
        )
    return LogPart(
        model=results.model or own.model,
        task=task,
        metric=metric,
        items=_items(documents),
        values=values,
        status=np.where(missing, 2, 0).astype(np.uint8),
        reasons=reasons,
        item_hash=fingerprint(documents.texts),
        hashed="query, choices and gold_index",
        lower_is_better=results.lower_is_better(task, metric),
        source=path,
        run=own.stamp or str(path.parent),
        created=own.stamp,
        n_stated=results.n_docs(task),
        mean_stated=results.mean(task, metric) if is_mean else None,
        settings=results.settings(task),
        remarks=remarks,
    )


def _items(documents: Documents) -> Any:
    """Ids as whole numbers where all are written so, else as text."""
    ids = list(documents.rows)
    if all(str(item).isdecimal() and len(item) < 19 for item in ids):
        numbers = np.array(ids, dtype=np.int64)
        if numbers.astype(str).tolist() == ids:  # "01" is not 1
            return numbers
    return ids


FORMAT = LogFormat(
    name="lighteval",
    title="lighteval",
    holds=_holds,
    readings=_readings,
    names=r"details_.*\.parquet",
)
