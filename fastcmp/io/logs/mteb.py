"""MTEB: scores of embedding models by task, split and subset."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Reading
from fastcmp.io.logs.tables import check_once, check_size, grade, read_json, template

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

_META = "model_meta.json"


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    if file.path.name == _META:
        return "beside"
    keys = file.keys
    # Keys are sorted in many files, and scores are long.
    is_task = "scores" in keys and keys & {"task_name", "mteb_version"}
    return "values" if "dataset_revision" in keys and is_task else ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read the tasks of a model and revision together."""
    runs: dict[Path, list[LogFile]] = {}
    for file in files:
        if file.path.name != _META:
            runs.setdefault(file.path.absolute().parent, []).append(file)

    def reading(folder: Path, own: list[LogFile]) -> Reading:
        return lambda: [_read(folder, own, options)]

    return [reading(folder, own) for folder, own in runs.items()]


def _read(folder: Path, files: Sequence[LogFile], options: LogOptions) -> LogPart:
    metric = options.metric or "main_score"
    found: list[tuple[str, str, float, str]] = []
    versions = set()
    for file in sorted(files, key=lambda own: own.path.name):
        check_size(file, options.memory_limit)
        content = read_json(file.path)
        task = str(content.get("task_name", file.path.stem))
        revision = str(content["dataset_revision"])
        versions.add(str(content.get("mteb_version", "")))
        for split, subset, value in _scores(content, metric, file.path):
            found.append((f"{task}/{split}/{subset}", task, value, revision))
    items, tasks, values, revisions = zip(*found, strict=True)
    part = template(
        files[0].path if len(files) == 1 else files[0].path.parent,
        model=_model(folder),
        metric=metric,
        items=list(items),
        values=np.array(values),
        clusters=list(tasks),
        item_hash=fingerprint(revisions),
        hashed="dataset_revision",
        run=folder.name,
        unit="task",
        settings={"mteb_version": ", ".join(sorted(versions))},
        status=_status(values),
    )
    check_once(part)
    return part


def _status(values: Sequence[float]) -> Any:
    missing = np.isnan(values)
    return np.where(missing, 2, 0).astype(np.uint8) if missing.any() else None


def _scores(content: dict[str, Any], metric: str, path: Path) -> Iterator[tuple[str, str, float]]:
    """List the scores of a task: split, subset and value."""
    n = 0
    for split, entries in content["scores"].items():
        for entry in entries:
            if metric not in entry:
                known = ", ".join(k for k, v in entry.items() if type(v) is float)
                raise ValueError(f"{path} has no {metric!r} in {split}; there are: {known}")
            value = entry[metric]
            value = math.nan if value is None else grade(value, path, metric)
            yield split, str(entry.get("hf_subset", "default")), value
            n += 1
    if not n:
        raise ValueError(f"{path} holds no scores")


def _model(folder: Path) -> str:
    """Name the model: by model_meta.json, or by <org>__<model>/<revision>."""
    meta = folder / _META
    if meta.is_file():
        name = read_json(meta).get("name")
        if name:
            return str(name)
    return folder.parent.name.replace("__", "/", 1)  # as MTEB writes them


FORMAT = LogFormat(name="mteb", title="MTEB", holds=_holds, readings=_readings)
