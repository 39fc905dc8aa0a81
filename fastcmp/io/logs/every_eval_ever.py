"""Logs in the schema of Every Eval Ever: samples, and an aggregate beside them.

The value is `evaluation.score`: `is_correct` is true for what is partly right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.render import visible
from fastcmp.io.logs.entries import at, combine, number, prints, text, texts, whole
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Sign
from fastcmp.io.logs.json_lines import (
    NOT_THERE,
    Convert,
    Key,
    ids,
    numbers,
    read_columns,
    read_object,
    refuse_line,
    words,
)
from fastcmp.io.logs.parts import Rows, parts_of_rows
from fastcmp.io.logs.tables import as_labels
from fastcmp.io.logs.words import ERROR, UNSCORED

_TWICE = (
    "of Inspect's epochs the converter writes the mean each time. Read the logs of Inspect "
    "themselves"
)
_LABELS = {"model": "model_id", "task": "evaluation_name", "metric": "evaluation_result_id"}
_OF_RUN = ("evaluation_id", "schema_version")


def _group(
    values: Sequence[LogFile], beside: Sequence[LogFile], _: LogOptions
) -> list[tuple[Path, Path | None]]:
    """Samples with their aggregate, by name."""
    aggregates = {file.path for file in beside}
    paths = [file.path for file in values]
    stems = [path.name.partition(".")[0].removesuffix("_samples") for path in paths]
    near = [path.with_name(f"{stem}.json") for path, stem in zip(paths, stems, strict=True)]
    return [
        (path, aggregate if aggregate in aggregates else None)
        for path, aggregate in zip(paths, near, strict=True)
    ]


def _read(path: Path, aggregate: Path | None, options: LogOptions) -> list[LogPart]:
    """Read a file of samples: parts for each model, evaluation and metric."""
    about = {} if aggregate is None else read_object(aggregate, options.memory_limit)
    columns: dict[Key, Convert] = {name: words() for name in (*_LABELS.values(), *_OF_RUN)}
    columns |= {"sample_id": list, "sample_hash": prints, ("evaluation", "score"): numbers}
    columns |= {("input", "reference"): prints, ("input", "raw"): prints, "error": texts}
    fields, lines = read_columns(path, columns, options.memory_limit)
    values, instead = fields["evaluation", "score"]
    if (wrong := np.flatnonzero(instead > NOT_THERE)).size:
        problem = "evaluation.score must be a number, got a text, a list or an object"
        refuse_line(path, int(lines[wrong[0]]), problem)
    labels = {what: as_labels(fields[name]) for what, name in _LABELS.items()}
    for what in ("model", "task"):
        if (lacking := np.flatnonzero(labels[what].codes < 0)).size:
            refuse_line(path, int(lines[lacking[0]]), f"has no {_LABELS[what]}")
    reasons = {row: why for row, why in enumerate(fields["error"]) if why is not None}
    status = np.where(np.isnan(values), UNSCORED, 0).astype(np.uint8)
    status[list(reasons)] = ERROR
    rows = Rows(
        model=labels["model"],
        task=labels["task"],
        metric=labels["metric"],
        item=as_labels([*map(str, ids(path, "sample_id", fields["sample_id"], lines))]),
        values=np.where(status == 0, values, np.nan),
        status=status,
        reasons=reasons,
        item_hash=fields["input", "reference"],
        prompt_hash=combine(fields["input", "raw"], fields["sample_hash"]),
    )
    run, version = (next(filter(None, fields[name]), "") for name in _OF_RUN)
    created = about.get("evaluation_timestamp") or about.get("retrieved_timestamp")
    harness = " ".join(text(at(about, "eval_library", key)) for key in ("name", "version")).strip()
    settings = {"schema": version, "harness": harness}
    whole_file = LogPart(
        source=path,
        hashed="input.reference",
        twice=_TWICE,
        run=run,
        created="" if created is None else str(created),
        settings={name: value for name, value in settings.items() if value},
    )
    parts = parts_of_rows(rows, whole_file)
    n_stated = whole(at(about, "detailed_evaluation_results", "total_rows"))
    if len(parts) > 1 and n_stated is not None and lines.size < n_stated:
        raise ValueError(
            f"{path}: {aggregate} says that there are {n_stated} rows, and "
            f"{lines.size} are there: the file is cut off"
        )
    n_stated = n_stated if len(parts) == 1 else None
    task_parts = [part for part in parts if options.tasks is None or part.task in options.tasks]
    return [replace(_described(part, about, version), n_stated=n_stated) for part in task_parts]


def _described(part: LogPart, about: Mapping[str, Any], version: str) -> LogPart:
    """A part with what the aggregate says of its evaluation, and what is doubtful."""
    path, task, metric = part.source, part.task, part.metric
    key, result_name = ("evaluation_result_id", metric) if metric else ("evaluation_name", task)
    listed = about.get("evaluation_results")
    results = listed if isinstance(listed, list) else []
    same = [result_listed for result_listed in results if at(result_listed, key) == result_name]
    if not metric and len(same) > 1:
        raise ValueError(
            f"{path}: samples of {visible(task)} have no evaluation_result_id, and "
            f"its aggregate has {len(same)} results of that name: which one the "
            "scores are of is not said"
        )
    result = same[0] if len(same) == 1 else {}
    names = (metric, at(result, "evaluation_result_id"), at(result, "metric_config", "metric_id"))
    metric = next((str(name) for name in names if name), "score")
    lower = at(result, "metric_config", "lower_is_better")
    remarks = []
    library = part.settings.get("harness", "").lower().replace("-", "_")
    if not about:
        remarks.append(f"{path} has no aggregate beside it: higher scores are taken as better.")
    elif lower is None:
        remarks.append(
            f"{path}: its aggregate does not say whether lower values of "
            f"{metric} are better: higher ones are taken as better."
        )
    if library.startswith(("lm_eval", "lm_evaluation")) and not np.nansum(part.values):
        remarks.append(
            f"{path}: all scores are 0, which its converter from lm_eval also writes "
            "for a metric that has no value for each item."
        )
    if "helm" in library and "0.2.1" in version:
        remarks.append(f"{path}: schema 0.2.1 holds exact match in the place of HELM's metric.")
    return replace(
        part,
        metric=metric,
        lower_is_better=lower is True,
        mean_stated=number(at(result, "score_details", "score")),
        remarks=tuple(remarks),
    )


FORMATS = (
    LogFormat(
        name="every_eval_ever",
        title="Every Eval Ever",
        values=(Sign(keys="sample_id evaluation_name model_id"),),
        beside=(
            Sign(keys="evaluation_results model_info"),
            Sign(keys="schema_version evaluation_id", holds=(b'"model_info"',)),
        ),
        read=_read,
        group=_group,
        names=r".*_samples\.jsonl(\.\w+)?",
    ),
)
