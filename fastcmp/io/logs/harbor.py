"""Jobs of Harbor, a folder for each trial, and runs of terminal-bench, a file for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fastcmp.io.logs.answers import Answer, Failure, parts_of
from fastcmp.io.logs.entries import at, named, objects, seconds, text, whole
from fastcmp.io.logs.file import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Reading
from fastcmp.io.logs.json_lines import read_object
from fastcmp.io.logs.tables import template
from fastcmp.io.logs.words import counted

_ATTEMPT = re.compile(r"\.(\d{1,6})-of-\d+")
_STAMP = re.compile(r"[\d_T:.-]+")
_TRIAL = {"task_checksum", "trial_uri", "agent_info", "verifier_result"}


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    keys = file.keys
    if {"task_name", "trial_name"} <= keys and keys & _TRIAL:
        return "values"
    if _is_run(file):
        return "values"
    is_total = {"n_total_trials", "stats"} <= keys or {"agent_name", "n_attempts"} <= keys
    return "beside" if is_total else ""


def _is_run(file: LogFile) -> bool:
    """Tell whether a file is a run of terminal-bench."""
    return "results" in file.keys and b'"is_resolved"' in file.head and b'"trial_name"' in file.head


def _readings(files: Sequence[LogFile], options: LogOptions) -> Sequence[Reading]:
    jobs: dict[Path, list[Path]] = {}
    totals = {file.path.parent: file.path for file in files if _holds(file) == "beside"}
    limit, readings = options.memory_limit, []
    for file in files:
        if _is_run(file):
            readings.append(partial(_read_run, file.path, totals.get(file.path.parent), limit))
        elif _holds(file) == "values":
            jobs.setdefault(file.path.parent.parent, []).append(file.path)
    return readings + [
        partial(_read, job, own, totals.get(job), limit) for job, own in jobs.items()
    ]


def _read(job: Path, files: Sequence[Path], total: Path | None, limit: int) -> list[LogPart]:
    """Read the trials of a job."""
    about = {} if total is None else read_object(total, limit)
    trials = [(path, read_object(path, limit)) for path in files]
    _check_whole(about, len(trials), total)
    trials.sort(key=lambda each: text(each[1].get("trial_name")))  # repeats have no number
    answers = [_answer(trial, path) for path, trial in trials]
    metrics = {name for answer in answers for name in answer.values}
    means: dict[Any, Any] = {}
    evals = at(about, "stats", "evals")
    models = {answer.model: trial for answer, (_, trial) in zip(answers, trials, strict=True)}
    for model, trial in models.items():
        # Harbor states one mean for each agent, model and data set, an error as 0.
        about_it = at(trial, "agent_info")
        names = (at(about_it, "name"), at(about_it, "model_info", "name"), trial.get("source"))
        stated = at(evals, "__".join(text(name) for name in names if text(name)), "metrics")
        for each in stated if isinstance(stated, list) and len(metrics) == 1 else ():
            mean = at(each, "value") if at(each, "name") == "mean" else at(each, "mean")
            means.setdefault((model, *metrics), mean)
    said = f"{job}: no result.json of the job is there: that all trials are cannot be seen"
    times = [text(trial.get("started_at")) for _, trial in trials]
    versions = {text(at(trial, "agent_info", "version")) for _, trial in trials} - {""}
    empty = template(
        job,
        files=tuple(files),
        run=str(job),
        created=min(times),
        hashed="task_checksum",
        settings={"agent version": ", ".join(sorted(versions))} if versions else {},
        remarks=() if total else (said,),
    )
    return parts_of(answers, empty, means=means)


def _check_whole(about: dict[str, Any], n: int, path: Path | None) -> None:
    """Refuse a job that has not ended, or of which trials are lacking."""
    stats = about.get("stats")
    left = [whole(at(stats, f"n_{what}_trials")) or 0 for what in ("pending", "running")]
    left.append(whole(about.get("n_pending_trials")) or 0)
    stated = whole(about.get("n_total_trials")) or 0
    if any(left) or n < stated:
        lacking = f"{counted(max(left), 'trial')} pending or running" if any(left) else f"{n} there"
        raise ValueError(
            f"{path}: the job has {counted(stated, 'trial')}, {lacking}: let it end (harbor job "
            "resume), or copy all its folders"
        )


def _answer(trial: dict[str, Any], path: Path) -> Answer:
    """A trial as an answer."""
    agent, model = (at(trial, "agent_info", *keys) for keys in (("name",), ("model_info",)))
    names = [named(agent, path, "agent_info.name"), at(model, "provider"), at(model, "name")]
    rewards = at(trial, "verifier_result", "rewards")
    error = None
    if not isinstance(rewards, dict) or not rewards:  # an exception with a reward is a value
        error = Failure(text(at(trial, "exception_info", "exception_type")) or "no reward")
    took = ("n_input_tokens", "n_output_tokens", "cost_usd")
    costs = {name: at(trial, "agent_result", name) for name in took}
    return Answer(
        model="/".join(text(name) for name in names if text(name)),
        task=text(trial.get("source")),
        item=named(trial.get("task_name"), path, "task_name"),
        values=rewards if error is None else {},
        costs=costs | {"seconds": seconds(trial.get("started_at"), trial.get("finished_at"))},
        error=error,
        identity=text(trial.get("task_checksum")) or None,
    )


# terminal-bench 0.x: results.json, with run_metadata.json beside it.


def _read_run(path: Path, metadata: Path | None, limit: int) -> list[LogPart]:
    content = read_object(path, limit)
    about: dict[str, Any] = {} if metadata is None else read_object(metadata, limit)
    rows = objects(content.get("results"), path, "results")
    names = [text(about.get(key)) for key in ("agent_name", "model_name")]
    model, remarks = "/".join(names), ()
    if not all(names):  # one agent_name may stand for two models
        folders = (folder.name for folder in path.absolute().parents)
        model = next((name for name in folders if not _STAMP.fullmatch(name)), path.stem)
        said = (
            f"{path}: no run_metadata.json names the model: it is called {model!r}, as its folder"
        )
        remarks = (said,)  # type: ignore[assignment]
    answers = [_attempt(row, model, text(about.get("dataset_name")), path) for row in rows]
    n_attempts = whole(about.get("n_attempts")) or 1
    version = text(about.get("dataset_version"))
    empty = template(
        path,
        run=text(about.get("run_id")) or str(path),
        created=text(about.get("start_time")),
        hashed="instruction",
        n_stated=n_attempts * len({answer.item for answer in answers}),
        settings={"dataset version": version} if version else {},
        remarks=remarks,
    )
    return parts_of(answers, empty, means={(model, "resolved"): content.get("accuracy")})


def _attempt(row: dict[str, Any], model: str, task: str, path: Path) -> Answer:
    """A trial as an answer."""
    resolved = row.get("is_resolved")
    attempt = _ATTEMPT.search(text(row.get("trial_name")))
    names = ("total_input_tokens", "total_output_tokens")
    times = [row.get(f"trial_{what}_at") for what in ("started", "ended")]
    error = Failure(text(row.get("failure_mode")) or "no result") if resolved is None else None
    return Answer(
        model=model,
        task=task,
        item=named(row.get("task_id"), path, "task_id"),
        # failure_mode stands on resolved trials too.
        values={} if resolved is None else {"resolved": resolved},
        costs={name: row.get(name) for name in names} | {"seconds": seconds(*times)},
        error=error,
        repeat=int(attempt[1]) - 1 if attempt else None,
        identity=text(row.get("instruction")) or None,
    )


FORMAT = LogFormat(
    name="harbor",
    title="Harbor or terminal-bench",
    holds=_holds,
    readings=_readings,
    alone="copy result.json of each trial beside that of its job, or results.json of the run",
)
