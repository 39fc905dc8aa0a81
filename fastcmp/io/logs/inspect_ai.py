"""Logs of Inspect: .eval files (zip; deflate or zstd) and .json files."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import LogFormat
from fastcmp.io.logs.inspect_run import n_stated, read_run
from fastcmp.io.logs.inspect_scores import (
    column,
    headline,
    mean_of_items,
    sources,
    stated_mean,
)
from fastcmp.io.logs.metrics import without_values
from fastcmp.io.logs.part import LogPart
from fastcmp.io.logs.zips import Archive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fastcmp.io.logs.file import LogFile
    from fastcmp.io.logs.format import LogOptions, Reading
    from fastcmp.io.logs.inspect_run import Run
    from fastcmp.io.logs.inspect_scores import Source

    #: Arguments of each task, and the file that was read first.
    TaskArgs = dict[str, tuple[str, Path]]

_BESIDE = ("logs.json", "eval-set.json")  # indexes of a folder of logs
_MEMBERS = ("header.json", "_journal/start.json")


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    """Recognise a log by the names in the zip, or by the keys of the JSON."""
    if file.head.startswith(b"PK\x03\x04"):
        length = int.from_bytes(file.head[26:28], "little")
        first = file.head[30 : 30 + length].decode("utf-8", "replace")
        return "values" if first in _MEMBERS or _lists_members(file) else ""
    keys = file.keys
    # A long list of ids may hide `plan`.
    if "eval" in keys and ("plan" in keys or ("status" in keys and b'"task"' in file.head)):
        return "values"
    if file.path.name in _BESIDE and file.head.lstrip()[:1] in (b"{", b"["):
        return "beside"
    return ""


def _lists_members(file: LogFile) -> bool:
    """Tell whether the directory of a zip names what a log has."""
    try:
        with Archive(file.path, 0) as archive:
            return any(name in archive.members for name in _MEMBERS)
    except ValueError:
        return False


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read one log at a time."""
    args: TaskArgs = {}
    return [partial(_read, file.path, options, args) for file in files if _holds(file) == "values"]


def _read(path: Path, options: LogOptions, args: TaskArgs) -> list[LogPart]:
    """Read the values of one run."""
    run = read_run(path, options.memory_limit, options.tasks)
    if not run.samples:
        return []
    _same_args(run, args)
    found = sources(run)
    chosen = [options.metric] if options.metric in found else list(found)
    head = headline(run, found)
    if head is not None and head[0] in chosen:
        chosen.sort(key=lambda name: name != head[0])  # so that remarks have a part
    shared: dict[str, Any] = {
        "model": run.spec["model"],
        "task": run.spec["task"],
        "items": _items(run),
        "repeats": np.array([s.epoch for s in run.samples], dtype=np.int32),
        "item_hash": fingerprint(s.text for s in run.samples),
        "hashed": "input and target",
        "source": path,
        "run": _identity(run.spec),
        "created": _created(run.spec.get("created")),
        "n_stated": n_stated(run),
        "settings": _settings(run),
    }
    if options.metric is not None and options.metric not in found:
        about = {name: shared[name] for name in ("model", "task", "source")}
        return without_values(found, **about)
    parts: list[LogPart] = []
    for name in chosen:
        try:
            parts.append(_part(run, name, found[name], shared, head))
        except ValueError as error:
            if head is None or name in (head[0], options.metric):
                raise
            left = replace(parts[0], remarks=(*parts[0].remarks, f"Left out: {error}"))
            parts[0] = left
    return parts


def _part(
    run: Run,
    name: str,
    source: Source,
    shared: Mapping[str, Any],
    head: tuple[str, str] | None,
) -> LogPart:
    """Make the part of one metric."""
    values = column(run, source)
    stated = stated_mean(run, source)
    mean, even = mean_of_items([s.item for s in run.samples], values)
    remarks: list[str] = []
    if not even:
        # The mean of the values is not the mean over items: compared here.
        if stated is not None and not np.isclose(mean, stated, rtol=1e-6, atol=1e-9):
            remarks.append(
                f"{run.path}: the run states a mean {visible(name)} of {stated:.6g}, "
                f"its samples have {mean:.6g}"
            )
        stated = None
    kept = sum(
        bool(s.error) and not code for s, code in zip(run.samples, values.status, strict=True)
    )
    if kept:
        remarks.append(
            f"{run.path}: {kept} samples ended with an error and have a score of "
            f"{name!r} nevertheless; it is kept"
        )
    is_headline = head is not None and head[0] == name
    if head is not None and is_headline and head[1] not in ("", "mean", "accuracy"):
        remarks.append(
            f"{run.path}: the headline is the {visible(head[1])} of {name!r}; the "
            "comparison is of means"
        )
    return LogPart(
        metric=name,
        values=np.array(values.values),
        status=np.array(values.status, dtype=np.uint8),
        reasons=values.reasons,
        mean_stated=stated,
        is_headline=is_headline,
        remarks=tuple(remarks),
        **shared,
    )


def _items(run: Run) -> Any:
    """Ids as whole numbers where all are, else as text."""
    ids = [sample.item for sample in run.samples]
    if all(type(item) is int and abs(item) < 2**63 for item in ids):
        return np.array(ids, dtype=np.int64)
    return [str(item) for item in ids]


def _same_args(run: Run, args: TaskArgs) -> None:
    """Refuse a task that another run was given other arguments of."""
    task = run.spec["task"]
    given = json.dumps(run.spec.get("task_args") or {}, sort_keys=True)
    first, other = args.setdefault(task, (given, run.path))
    if first != given:
        raise ValueError(
            f"{run.path}: task {task!r} was run with task_args {given[:200]}, in "
            f"{other} with {first[:200]}: these are two tasks; read the logs of one"
        )


def _identity(spec: Mapping[str, Any]) -> str:
    """Say which run it is; old logs have no eval_id."""
    return str(
        spec.get("eval_id") or "/".join(str(spec.get(key, "")) for key in ("run_id", "task_id"))
    )


def _created(text: Any) -> str:
    """Time of a run, as text that sorts."""
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return str(text or "")
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _settings(run: Run) -> dict[str, str]:
    """Collect what is reported where models differ."""
    spec, config = run.spec, run.config
    given = {
        "task version": spec.get("task_version"),
        "task_args": spec.get("task_args") or None,
        "solver": spec.get("solver"),
        "epochs": config.get("epochs"),
        "message limit": config.get("message_limit"),
        "token limit": config.get("token_limit"),
    }
    return {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in given.items()
        if value is not None
    }


FORMAT = LogFormat(
    name="inspect", title="Inspect", holds=_holds, readings=_readings, names=r".*\.eval"
)
