"""Benchmarks of agents: Harbor and terminal-bench, tau-bench and tau2-bench, SWE-bench."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.io.formats import model_name
from fastcmp.io.logs.entries import at, named, objects, seconds, text, whole
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Sign, grouped
from fastcmp.io.logs.json_lines import read, read_object, rows_of
from fastcmp.io.logs.parts import Answer, Failure, model_of, parts_of
from fastcmp.io.logs.tables import as_labels
from fastcmp.io.logs.words import counted
from fastcmp.io.sources import read_table

# Harbor: a folder for each trial of a job. terminal-bench 0.x: a file for all trials of a run.


_ATTEMPT = re.compile(r"\.(\d{1,6})-of-\d+")
_STAMP = re.compile(r"[\d_T:.-]+")
_RUN = Sign(keys="results", holds=(b'"is_resolved"', b'"trial_name"'))  # of terminal-bench


def _group_harbor(
    values: Sequence[LogFile], beside: Sequence[LogFile], _: LogOptions
) -> list[tuple[list[Path], Path, Path | None]]:
    """Take the trials of a job together; a run of terminal-bench is a file."""

    def job_of(file: LogFile) -> Path:
        return file.path if _RUN(file) else file.path.parent.parent

    totals = {file.path.parent: file.path for file in beside}
    jobs = {job: [file.path for file in paths] for job, paths in grouped(values, job_of).items()}
    return [
        (paths, job, totals.get(job.parent if paths == [job] else job))
        for job, paths in jobs.items()
    ]


def _read_harbor(
    files: Sequence[Path], job: Path, total: Path | None, options: LogOptions
) -> list[LogPart]:
    """Read the trials of a job, or a run of terminal-bench."""
    limit = options.memory_limit
    about = {} if total is None else read_object(total, limit)
    if files == [job]:
        return _read_terminal_bench(job, about, limit)
    trials = [(path, read_object(path, limit)) for path in files]
    left = [whole(at(about, "stats", f"n_{what}_trials")) or 0 for what in ("pending", "running")]
    left.append(whole(about.get("n_pending_trials")) or 0)
    stated = whole(about.get("n_total_trials")) or 0
    if any(left) or len(trials) < stated:
        there = f"{len(trials)} there"
        lacking = f"{counted(max(left), 'trial')} pending or running" if any(left) else there
        raise ValueError(
            f"{total}: the job has {counted(stated, 'trial')}, {lacking}: let it end (harbor job "
            "resume), or copy all its folders"
        )
    trials.sort(key=lambda trial: text(trial[1].get("trial_name")))  # repeats have no number
    answers = [_trial(trial, path) for path, trial in trials]
    metrics = {name for answer in answers for name in answer.values}
    means: dict[Any, Any] = {}
    runs = {
        (answer.model, answer.task): trial
        for answer, (_, trial) in zip(answers, trials, strict=True)
    }
    for run, trial in runs.items():
        # Harbor states one mean for each agent, model and data set, an error as 0.
        agent = at(trial, "agent_info")
        names = (at(agent, "name"), at(agent, "model_info", "name"), trial.get("source"))
        key = "__".join(text(name) for name in names if text(name))
        entries = at(about, "stats", "evals", key, "metrics")
        for entry in entries if isinstance(entries, list) and len(metrics) == 1 else ():
            mean = at(entry, "value") if at(entry, "name") == "mean" else at(entry, "mean")
            means.setdefault((*run, *metrics), mean)
    remark = f"{job}: no result.json of the job is there: that all trials are cannot be seen"
    versions = {text(at(trial, "agent_info", "version")) for _, trial in trials} - {""}
    part = LogPart(
        source=job,
        files=tuple(files),
        run=str(job),
        created=min(text(trial.get("started_at")) for _, trial in trials),
        hashed="task_checksum",
        settings={"agent version": ", ".join(sorted(versions))} if versions else {},
        remarks=() if total else (remark,),
    )
    return parts_of(answers, part, means=means)


def _trial(trial: dict[str, Any], path: Path) -> Answer:
    """A trial of Harbor as an answer."""
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


def _read_terminal_bench(path: Path, about: dict[str, Any], limit: int) -> list[LogPart]:
    """Read results.json, with what run_metadata.json beside it says."""
    content = read_object(path, limit)
    names = [text(about.get(key)) for key in ("agent_name", "model_name")]
    model, remarks = "/".join(names), []
    if not all(names):  # one agent_name may stand for two models
        folders = (folder.name for folder in path.absolute().parents)
        model = next((name for name in folders if not _STAMP.fullmatch(name)), path.stem)
        remarks.append(
            f"{path}: no run_metadata.json names the model: it is called {model!r}, as its folder"
        )
    answers = []
    for row in objects(content.get("results"), path, "results"):
        resolved = row.get("is_resolved")  # failure_mode stands on resolved trials too
        attempt = _ATTEMPT.search(text(row.get("trial_name")))
        tokens = ("total_input_tokens", "total_output_tokens")
        times = [row.get(f"trial_{what}_at") for what in ("started", "ended")]
        failed = Failure(text(row.get("failure_mode")) or "no result")
        answer = Answer(
            model=model,
            task=text(about.get("dataset_name")),
            item=named(row.get("task_id"), path, "task_id"),
            values={} if resolved is None else {"resolved": resolved},
            costs={name: row.get(name) for name in tokens} | {"seconds": seconds(*times)},
            error=failed if resolved is None else None,
            repeat=int(attempt[1]) - 1 if attempt else None,
            identity=text(row.get("instruction")) or None,
        )
        answers.append(answer)
    n_attempts, n_items = whole(about.get("n_attempts")) or 1, len({x.item for x in answers})
    if n_items < (n_tasks := whole(about.get("dataset_size")) or 0):
        remark = f"{path}: the run is of {counted(n_tasks, 'task')}, and {n_items} are there"
        remarks.append(remark)
    version = text(about.get("dataset_version"))
    part = LogPart(
        source=path,
        run=text(about.get("run_id")) or str(path),
        created=text(about.get("start_time")),
        hashed="instruction",
        n_stated=n_attempts * n_items,
        settings={"dataset version": version} if version else {},
        remarks=tuple(remarks),
    )
    return parts_of(answers, part, means={(model, "resolved"): content.get("accuracy")})


# tau-bench: a list of rewards. tau2-bench: simulations with their tasks.


def _read_tau(file: LogFile, options: LogOptions) -> list[LogPart]:
    path, limit = file.path, options.memory_limit
    content = read(path, limit)
    if isinstance(content, dict):
        return _read_tau2(content, path, limit)
    answers, model = [], model_of(path)
    for row in objects(content, path, "the file"):
        why = at(row, "info", "error")  # whose reward is 0
        answer = Answer(
            model=model,
            item=named(row.get("task_id"), path, "task_id"),
            repeat=whole(row.get("trial")),
            values={} if why else {"reward": row.get("reward")},
            error=Failure(str(why)) if why else None,
            identity=at(row, "info", "task"),
        )
        answers.append(answer)
    remark = f"{path}: tau-bench names no model: it is called {model!r}, as its file or folder"
    return parts_of(answers, LogPart(source=path, hashed="info.task", remarks=(remark,)))


def _read_tau2(content: dict[str, Any], path: Path, limit: int) -> list[LogPart]:
    info = content.get("info")
    rows = content.get("simulations")
    if not rows and isinstance(content.get("simulation_index"), list):
        paths = sorted((path.parent / "simulations").glob("*.json"))
        rows = [read_object(file, limit) for file in paths]
        if len(rows) < (n := len(content["simulation_index"])):
            raise ValueError(f"{path}: simulation_index lists {n}, simulations/ has {len(rows)}")
    tasks = objects(content.get("tasks"), path, "tasks")
    identity = {text(str(task.get("id"))): task for task in tasks}
    user = text(at(info, "user_info", "llm"))
    agent, model = (text(at(info, "agent_info", key)) for key in ("implementation", "llm"))
    name = model or model_of(path)
    answers = []
    for row in objects(rows, path, "simulations"):
        item = named(row.get("task_id"), path, "task_id")
        end = text(row.get("termination_reason"))
        reward = at(row, "reward_info", "reward")
        if reward is None and end == "max_steps":
            reward = 0.0
        is_error = end == "infrastructure_error" or reward is None
        answer = Answer(
            model=name if agent in ("", "llm_agent") else f"{agent}/{name}",
            task=text(at(info, "environment_info", "domain_name")),
            item=item,
            repeat=whole(row.get("trial")),
            values={} if is_error else {"reward": reward},
            costs={key: row.get(key) for key in ("agent_cost", "duration")},
            error=Failure(end or "no reward") if is_error else None,
            identity=[identity.get(item), user],
        )
        answers.append(answer)
    part = LogPart(
        source=path,
        run=str(path),
        created=text(content.get("timestamp")),
        hashed="the task or user_info.llm",
        n_stated=len(tasks) * (whole(at(info, "num_trials")) or 1),
        remarks=() if model else (f"{path}: agent_info.llm names no model: its file does",),
    )
    return parts_of(answers, part)


# SWE-bench and Multi-SWE-bench: which issues a model resolved. Three forms: lists of ids without
# those that were not resolved; details by id; and the report of a run, whose lists make up all ids.


Counts = dict[str, set[str]]  # ids, by why they are not resolved

#: Names of files that say nothing of a model: the folder does.
_PLAIN = {"results", "report", "final_report", "per_instance_details"}
_FIRST = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\{)')
_NAMED = "SWE-bench: models are named by their files or folders"
_ID = "instance_id"
_LIMIT = 1 << 30  # bytes of a list of ids


def _has_verdicts(file: LogFile) -> bool:
    """Whether the value of the first key is an object that says whether it is resolved."""
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    match = _FIRST.match(head)
    if match is None:
        return False
    try:
        entry = json.JSONDecoder().raw_decode(head[match.end() :].decode("utf-8", "replace"))[0]
    except (ValueError, RecursionError):
        return False
    return isinstance(at(entry, "resolved"), bool)


def _group_swe_bench(
    values: Sequence[LogFile], *_: object
) -> list[tuple[list[LogFile], str, list[Path]]]:
    """Take each file; of a model's details and its list of ids, the details."""
    details = {_folder(f.path) for f in values if f.path.stem == "per_instance_details"}
    single: dict[Path, list[LogFile]] = {}  # reports of an instance each, by run
    lists: dict[Path, Path] = {}
    undivided = []
    for file in values:
        folder = file.path.absolute().parent
        if file.path.stem == "report" and folder.name in file.keys:
            single.setdefault(folder.parent, []).append(file)
        elif file.path.stem == "results" and _folder(file.path) in details:
            lists[_folder(file.path)] = file.path
        else:
            undivided.append(file)
    runs = []
    for file in undivided:
        stem, folder = model_name(file.path).removesuffix(".json"), _folder(file.path)
        model = folder.name if stem in _PLAIN else stem.rpartition(".")[0] or stem
        runs.append(([file], model, [x for where, x in lists.items() if where == folder]))
    return runs + [(reports, folder.name, []) for folder, reports in single.items()]


def _folder(path: Path) -> Path:
    """The folder that is called as the model."""
    parent = path.absolute().parent
    return parent.parent if parent.name == "results" else parent


def _read_swe_bench(
    files: Sequence[LogFile], model: str, others: Sequence[Path], options: LogOptions
) -> list[LogPart]:
    path = files[0].path if len(files) == 1 else files[0].path.parents[1]
    content: dict[str, Any] = {}
    for file in files:
        content |= read_object(file.path, options.memory_limit)
    full_ids = None if options.ids is None else read_ids(options.ids)
    lists = {k: list(map(str, v)) for k, v in content.items() if isinstance(v, list)}
    if "total_instances" in content:
        resolved, all_ids, counts = _of_report(content, lists, full_ids, path)
    elif lists:
        resolved, all_ids, counts = _of_lists(lists, full_ids, path)
    else:
        for name, entry in content.items():
            if not isinstance(is_resolved := at(entry, "resolved"), bool):
                raise ValueError(
                    f"{path}: 'resolved' of {name} must be true or false, got "
                    f"{json.dumps(is_resolved)[:60]}"
                )
        resolved = [name for name, entry in content.items() if entry["resolved"]]
        all_ids, counts = list(content), {}
    if full_ids is not None:
        if strange := [name for name in all_ids if name not in full_ids]:
            raise BadValueError(
                f"{path} holds {len(strange)} ids that `ids=` does not "
                f"({', '.join(strange[:3])}): is it the list of another benchmark?"
            )
        counts["not in the file"] = full_ids.keys() - set(all_ids)
        all_ids = list(full_ids)
    won = set(resolved)
    # Not resolved without an attempt that ran through.
    lost = ", ".join(f"{len(names)} {what}" for what, names in counts.items() if names)
    remark = f"{model}: {lost}: counted as not resolved (0)"
    part = LogPart(
        source=path,
        files=tuple(others),
        model=model,
        metric="resolved",
        items=all_ids,
        values=np.array([item in won for item in all_ids], np.float64),
        clusters=[_project(item) for item in all_ids],
        remarks=(_NAMED, remark) if lost else (_NAMED,),
    )
    return [part]


def _project(name: str) -> str:
    """What an id begins with: the owner or project."""
    mark = next((mark for mark in ("__", ":pr-") if mark in name), None)
    return name.partition(mark)[0] if mark else name


def _of_report(
    content: dict[str, Any],
    lists: dict[str, list[str]],
    full_ids: Collection[str] | None,
    path: Path,
) -> tuple[list[str], list[str], Counts]:
    """What is resolved, all ids, and why others are not, by a report."""
    resolved = _resolved(lists, ("resolved_ids", "resolved"), path)
    every = [x for key in lists if key.endswith("_ids") or key == "resolved" for x in lists[key]]
    all_ids = list(dict.fromkeys(every))
    n_stated = content["total_instances"]
    if full_ids is None and len(all_ids) != n_stated:
        raise BadValueError(
            f"{path}: the report says that there are {n_stated} instances, but its lists hold "
            f"{len(all_ids)}",
            remedy=": pass the full list of ids (`ids=`)",
        )
    stated = content.get("resolved_instances", len(resolved))
    if stated != len(resolved):
        raise ValueError(
            f"{path}: the report says that {stated} instances are resolved, but lists "
            f"{len(resolved)}"
        )
    both = set(resolved) & set(lists.get("unresolved_ids", ()))
    if both:
        raise ValueError(f"{path}: {min(both)} is both resolved and unresolved")
    failed = set(all_ids) - set(resolved)
    submitted = set(lists.get("submitted_ids", all_ids))
    counts = {
        "with an error": failed & set(lists.get("error_ids", ())),
        "with an empty patch": failed & set(lists.get("empty_patch_ids", ())),
        "not submitted": set(all_ids) - submitted,
        "not completed": failed & submitted & set(lists.get("incomplete_ids", ())),
    }
    return resolved, all_ids, counts


def _of_lists(
    lists: dict[str, list[str]], full_ids: Collection[str] | None, path: Path
) -> tuple[list[str], list[str], Counts]:
    """The same by lists of ids, of which those that were not resolved are none."""
    resolved = _resolved(lists, ("resolved", "resolved_ids"), path)
    if full_ids is None:
        raise BadValueError(
            f"{path} lists what is resolved; not resolved is the complement of the full list "
            "of ids, which is not in this file",
            remedy=": pass it (`ids=`: a file with an id a line, or the ids)",
        )
    all_ids = list(dict.fromkeys(x for names in lists.values() for x in names))
    counts = {
        f"with {name.replace('_', ' ')}": set(lists.get(name, ())) - set(resolved)
        for name in ("no_generation", "no_logs")
    }
    return resolved, all_ids, counts


def _resolved(lists: dict[str, list[str]], keys: Sequence[str], path: Path) -> list[str]:
    """List what is resolved."""
    key = next((key for key in keys if key in lists), None)
    if key is None:
        raise ValueError(f"{path} has no list {keys[0]!r}: what is resolved is not said")
    if len(set(lists[key])) < len(lists[key]):
        raise ValueError(f"{path}: {key!r} holds an id twice")
    return lists[key]


def read_ids(ids: Path | Sequence[str]) -> dict[str, None]:
    """The full list of ids: as they are, or in a file of text, JSON or columns."""
    names: Sequence[Any] = () if isinstance(ids, Path) else ids
    if isinstance(ids, Path):
        if ids.suffix in (".csv", ".tsv", ".parquet", ".arrow"):
            names = as_labels(read_table(ids).column(_ID)).at()
        elif ids.suffix in (".json", ".jsonl"):
            entries = read(ids, _LIMIT) if ids.suffix == ".json" else rows_of(ids, [_ID], _LIMIT)
            names = [named(at(x, _ID) if isinstance(x, dict) else x, ids, "an id") for x in entries]
        else:
            lines = ids.read_text(encoding="utf-8-sig").splitlines()
            names = [line.strip() for line in lines if line.strip()]
    all_ids = dict.fromkeys(map(str, names))
    if not names or len(all_ids) < len(names):
        what = "an id twice" if names else "no ids"
        where = ids if isinstance(ids, Path) else "ids"
        raise ValueError(f"{where} must list all ids, each once, got {what}")
    return all_ids


_REPORT = "completed_ids|resolved_ids|submitted_ids|resolved|completed_instances|resolved_instances"
FORMATS = (
    LogFormat(
        name="harbor",
        title="Harbor or terminal-bench",
        values=(
            Sign(keys="task_name trial_name task_checksum|trial_uri|agent_info|verifier_result"),
            _RUN,
        ),
        beside=(Sign(keys="n_total_trials stats"), Sign(keys="agent_name n_attempts")),
        read=_read_harbor,
        group=_group_harbor,
        alone="copy result.json of each trial beside that of its job, or results.json of the run",
    ),
    LogFormat(
        name="tau_bench",
        title="tau-bench or tau2-bench",
        values=(
            Sign(keys="task_id reward info", pattern=rb"\A(?:\xef\xbb\xbf)?\s*\["),
            Sign(keys="info", holds=(b'"num_trials"', b'"user_info"')),
        ),
        beside=(Sign(keys="task_id trial termination_reason"),),
        read=_read_tau,
        alone="simulations need results.json of their run, in the folder above",
    ),
    LogFormat(
        name="swe_bench",
        title="SWE-bench",
        values=(
            Sign(keys=f"total_instances {_REPORT}"),
            Sign(keys="no_generation no_logs"),
            Sign(keys="resolved|resolved_ids", pattern=rb'"resolved(?:_ids)?"\s*:\s*\['),
            _has_verdicts,
        ),
        read=_read_swe_bench,
        group=_group_swe_bench,
    ),
)
