"""Predictions of the AutoML benchmark: a file for each task and fold, without ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import (
    STATUS,
    LogFormat,
    LogOptions,
    LogPart,
    NoItemValuesError,
    Reading,
)
from fastcmp.io.logs.tables import LogTable, check_once, read_json, template

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

#: <framework>.<benchmark>.<constraint>.<mode>.<stamp>
_RUN = re.compile(r"(.+?)\.[^.]+\.[^.]+\.[^.]+\.(\d{8}T\d{6})")


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    if {"predictions", "truth"} <= set(file.columns):
        return "values"
    is_metadata = file.path.name == "metadata.json"
    return "beside" if is_metadata and {"framework", "fold"} <= file.keys else ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read the folds of a framework and task together."""
    runs: dict[tuple[str, ...], list[tuple[int, LogFile]]] = {}
    for file in files:
        if file.columns:
            *run, fold = _described(file.path)
            runs.setdefault(tuple(run), []).append((int(fold), file))

    def reading(run: tuple[str, ...], folds: list[tuple[int, LogFile]]) -> Reading:
        return lambda: [_read(run, sorted(folds, key=lambda own: own[0]), options)]

    return [reading(run, folds) for run, folds in runs.items()]


def _described(path: Path) -> tuple[str, str, str, str, str]:
    """Tell model, task, run, its time and the fold, by metadata.json or the path."""
    folder = path.absolute().parent
    fold, task = folder.name, folder.parent.name
    run = folder.parents[1].name
    if run == "predictions":
        run = folder.parents[2].name
    found = _RUN.fullmatch(run)
    model, created = found.groups() if found else (run, "")
    beside = folder / "metadata.json"
    if beside.is_file():
        known = read_json(beside)
        model = str(known.get("framework", model))
        task = str(known.get("name", task))
        fold = str(known.get("fold", fold))
    if not fold.isdecimal():
        raise ValueError(
            f"{path}: the fold is told by the path, <run>/predictions/<task>/<fold>/"
            f"predictions.csv, but {fold!r} is no number"
        )
    return model, task, run, created, fold


def _read(
    run: tuple[str, ...], folds: Sequence[tuple[int, LogFile]], options: LogOptions
) -> LogPart:
    model, task, name, created = run
    items: list[str] = []
    columns: dict[str, list[Any]] = {"values": [], "item_hash": [], "status": []}
    for fold, file in folds:
        own = _read_fold(file, task, options)
        items += [f"{fold}:{row}" for row in range(own["values"].size)]
        for key, column in own.items():
            columns[key].append(column)
    status = np.concatenate(columns["status"])
    part = template(
        folds[0][1].path,
        files=tuple(file.path for _, file in folds),
        model=model,
        task=task,
        metric="acc",
        items=items,
        values=np.concatenate(columns["values"]),
        status=status if status.any() else None,
        reasons=dict.fromkeys(np.flatnonzero(status).tolist(), "no prediction"),
        item_hash=np.concatenate(columns["item_hash"]),
        hashed="truth",
        run=name,
        created=created,
    )
    check_once(part)
    return part


def _read_fold(file: LogFile, task: str, options: LogOptions) -> dict[str, Any]:
    """Compare predictions with the truth, row by row."""
    names = ("predictions", "truth")
    table = LogTable(file, names, limit=options.memory_limit)
    truth = table.labels("truth", complete=True)
    predicted = table.labels("predictions")
    classes = set(file.columns) - set(names)
    if not classes:
        message = (
            f"{file.path} has no columns of classes beside predictions and truth, so "
            "it is of a regression task: there is no right or wrong; compare the "
            "scores in results.csv"
        )
        raise NoItemValuesError(message, task)
    right = np.equal(np.array(predicted.at(), object), np.array(truth.at(), object))
    absent = predicted.codes < 0
    return {
        "values": np.where(absent, np.nan, right.astype(np.float64)),
        "item_hash": fingerprint(truth.texts)[truth.codes],
        "status": np.where(absent, STATUS.index("error"), 0).astype(np.uint8),
    }


FORMAT = LogFormat(
    name="amlb_predictions",
    title="predictions of the AutoML benchmark",
    holds=_holds,
    readings=_readings,
)
