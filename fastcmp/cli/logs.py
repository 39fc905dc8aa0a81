"""The commands on logs of evaluation tools: `compare LOGS`, by task, and `inspect`."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fastcmp
from fastcmp.cli.boards import Boards
from fastcmp.cli.fits import options_given, refuse
from fastcmp.cli.log_options import (
    READING,
    paths_of,
    problem_lines,
    reading_options,
    results_options,
)
from fastcmp.cli.options import Command, Option, memory_of, passed
from fastcmp.cli.output import WRITTEN, check_places, say, write
from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.typing import Floats
from fastcmp.data import logs_path
from fastcmp.io.logs.words import counted, listed

if TYPE_CHECKING:
    from fastcmp.datasets.comparison import DatasetsResult
    from fastcmp.io.logs.results import Results

#: Columns that usually name the tasks of a table.
_TASKS = ("task", "dataset", "data set", "data_set", "dataset_name", "benchmark")
#: Those that usually name models, and hold scores, of a long table.
_MODELS = ("model", "method", "framework", "classifier_name", "classifier")
_SCORES = ("value", "score", "accuracy", "correct")


def dataset_options(options: argparse.Namespace) -> dict[str, Any]:
    """What `compare_datasets` takes of the options."""
    if options.simultaneous:
        raise ValueError("--simultaneous does not go with --over tasks")
    adjustment = () if options.usual_adjust else ("adjust",)
    return passed(options, "method", "omnibus", "alpha", "control", *adjustment)


def compare_task_table(options: argparse.Namespace, keep: str | int | Path) -> None:
    """Compare a table of scores, a row a task, or several that are averaged."""
    if keep != "all":
        raise ValueError("--keep does not go with --over tasks: all pairs are kept")
    check_places(options)
    arguments = dataset_options(options)
    if options.values is not None:
        names, tasks, scores = _wide(options)
    else:
        names, tasks, scores = _long(options)
    titles, means = mean_by_task(tasks, scores)
    if len(titles) < len(tasks):
        say([f"{len(tasks)} rows of {len(titles)} tasks: the mean of each task counts"])
    write(
        compare_scores(
            dict(zip(names, means, strict=True)),
            tasks=titles,
            lower_is_better=bool(options.lower_is_better),
            missing=options.missing,
            **arguments,
        ),
        options,
    )


def compare_scores(scores: Any, **options: Any) -> Record:
    """Compare models over tasks."""
    from fastcmp.datasets import compare_datasets

    record = compare_datasets(scores, **options)
    if (least := _least(record)) > record.alpha:
        say([
            f"with {record.n_tasks} tasks no adjusted p-value of this test is below "
            f"{least:.2g}: no pair can differ significantly at {record.alpha:g}; "
            "compare items, or more tasks"
        ])  # fmt: skip
    return record


def _least(result: DatasetsResult) -> float:
    """Bound the least adjusted p-value of tests that go by signs and ranks."""
    if result.method not in ("wilcoxon", "sign"):
        return 0.0
    times = result.n_pairs if result.adjust in ("holm", "bonferroni") else 1
    return min(1.0, 2.0 ** (1 - result.n_tasks) * times)


def mean_by_task(tasks: list[str], scores: Floats) -> tuple[list[str], Floats]:
    """Average rows of one task, shape (M, rows) -> (M, D); NaN stays."""
    titles = list(dict.fromkeys(tasks))
    number = {title: i for i, title in enumerate(titles)}
    places = np.array([number[task] for task in tasks])
    n = np.bincount(places, minlength=len(titles))
    sums = np.array([np.bincount(places, row, len(titles)) for row in scores])
    # One score is itself, to the last bit.
    return titles, sums / n


def _wide(options: argparse.Namespace) -> tuple[list[str], list[str], Floats]:
    """Read a file with a column a model."""
    from fastcmp.inputs.values import as_values
    from fastcmp.io.predictions import ValueFile
    from fastcmp.io.sources import Source

    for name in options_given(options, "@long"):
        raise ValueError(f"--{name} is for long files: pass --long FILE")
    column = options.strata or options.id or _usual(Source(options.values).types)
    others = {} if column is None else {"--id": column}
    file = ValueFile(options.values, models=options.models, others=others, drop=options.drop)
    say(file.remarks)
    values, other_columns = file.table()
    scores = np.array([as_values(x, name) for name, x in values.items()], np.float64)
    tasks = [f"row {i + 1}" for i in range(scores.shape[1])]
    if column is not None:
        tasks = _names(other_columns["--id"].to_pylist(), column, options)
    else:
        say(["no column names the tasks, so each row is one (--id COL)"])
    return list(values), tasks, scores


def _long(options: argparse.Namespace) -> tuple[list[str], list[str], Floats]:
    """Read a file with a row for each model and task."""
    from fastcmp.cli.values import table_of
    from fastcmp.io.sources import Source

    types = Source(options.long).types
    task = options.strata or options.item or _usual(types)
    columns = {
        "item": options.item or task or "item",
        "model": options.model or _usual(types, _MODELS) or "model",
        "value": options.value or _usual(types, _SCORES) or "value",
        "repeat": options.repeat,
        "strata": options.strata,
    }
    table = table_of(options, columns)
    values = np.asarray(table.values, np.float64)
    if values.ndim > 2:
        is_known = ~np.isnan(values)
        n = is_known.sum(axis=2)
        sums = np.where(is_known, values, 0.0).sum(axis=2)
        values = np.where(n > 0, sums / np.maximum(n, 1), np.nan)
    items = table.items if table.strata is None else table.strata
    return list(table.names), _names(items.tolist(), columns["item"], options), values


def _usual(columns: Iterable[str], names: tuple[str, ...] = _TASKS) -> str | None:
    """The first column with a usual name of tasks, or one of other `names`."""
    return next((name for name in columns if name.lower() in names), None)


def _names(labels: list[Any], column: str, options: argparse.Namespace) -> list[str]:
    """Check the names of tasks."""
    missing = sum(label is None or str(label) == "" for label in labels)
    if missing:
        path = options.values if options.values is not None else options.long
        raise ValueError(f"{path}: column {column!r} names no task in {missing} rows")
    return [str(label) for label in labels]


# `fastcmp compare` for logs: leaderboards of all items, of each task, over tasks.


#: Options of `compare_means`, whose presence asks for it.
_MEANS = ("variance", "df", "interval", "average", "repeats", "k", "stratum_weights")
#: Extensions of files that could be read as logs.
_READ = (".json", ".jsonl", ".csv", ".tsv", ".parquet", ".arrow", ".eval", ".arff")
OVER = "Over tasks"
_WHY_OVER = {
    "task": "each item is a whole task here: models are compared over tasks",
    "split": "splits of a data set share training data: models are compared over data "
    "sets, by the mean of each",
}


def compare_logs(options: argparse.Namespace, keep: str | int | Path) -> None:
    """Compare the models of logs."""
    from fastcmp.pairwise.engine import read_options

    check_places(options, keep)
    _check_folders(options)
    if options.over is None:  # which has adjustments of its own
        read_options("mcnemar", "", **passed(options, "adjust", "alpha"))
    if options.pareto is not None:
        refuse(options, "logs by several metrics")
        write(_worth_their_cost(options), options)
        return
    arguments = {"keep": keep, "progress": sys.stderr.isatty()}
    if isinstance(keep, Path) and (options.by or options.over):
        raise ValueError("--keep FILE is for one leaderboard, without --by and --over")
    results = _results(options)
    say(results.remarks)
    if options.lower_is_better and results.lower_is_better:
        raise ValueError(
            "--lower-is-better: the logs say themselves that less of this metric is "
            "better, and its values were negated; leave out the option"
        )
    write(_answer(results, options, arguments), options, _title(results))


def _results(options: argparse.Namespace, **changes: object) -> Results:
    """Read the logs that are named."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*by the run's own account")  # a remark
        return fastcmp.read_results(paths_of(options), **results_options(options) | changes)


def read_metrics(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Results]:
    """Read several metrics of the same logs, and say once what these are."""
    by_metric: dict[str, Results] = {}
    for name in names:
        results = _results(options, metric=name)
        say([remark for remark in results.remarks if not by_metric or "recognised" not in remark])
        by_metric[name] = results
    return by_metric


def _worth_their_cost(options: argparse.Namespace) -> Record:
    """Compare by several metrics at once."""
    from fastcmp.estimates.pareto import pareto_set

    criteria: dict[str, Any] = {}
    lower = []
    names = [name.strip() for name in options.pareto.split(",")]
    read = read_metrics(options, [name.removeprefix("-") for name in names])
    for name, (metric, results) in zip(names, read.items(), strict=True):
        values = results.values()
        if all(results.negated) and results.negated:  # as they are in the logs
            values = replace(values, values=-values.values)
            lower.append(metric)
        elif name.startswith("-"):
            lower.append(metric)
        criteria[metric] = values
    shared = passed(options, "adjust", "alpha", "workers")
    return pareto_set(criteria, lower_is_better=lower, **shared)


def _title(results: Results) -> str:
    """Name the metrics and the tasks."""
    names = tuple(dict.fromkeys(results.metrics))
    title = f"Metric{'' if len(names) == 1 else 's'}: {', '.join(map(visible, names))}"
    n = len(results.task_names)
    return f"{title}; {n} tasks: {listed(results.task_names, 10)}" if n > 1 else title


def _answer(results: Results, options: argparse.Namespace, arguments: dict[str, Any]) -> Record:
    """Compare as --by and --over say."""
    boards: dict[str, Record] = {}
    if options.by is not None:
        if results.unit == "task":
            raise ValueError(
                "--by task needs several items of each task, and these logs hold one score "
                "for each: leave it out, or pass --over tasks"
            )
        for (task, subset), title in zip(results.tasks, results.task_names, strict=True):
            part = results.select(task=task, subset=subset)
            boards[f"Task {title}"] = _of_items(part, options, arguments)
        if len(boards) > 1:
            say([f"each leaderboard of a task has an error rate of {options.alpha:g}"])
    over = options.over is not None
    n = len(results.task_names)
    are_tasks = results.unit == "task" or (results.unit == "split" and n > 1)
    if not over and not boards and are_tasks:
        say([_WHY_OVER[results.unit]])
        over = True
    if over:
        boards[OVER] = _over_tasks(results, options)
    else:
        refuse(options, "logs not over tasks")
    if not boards:
        if options.stratum_weights is None and n > 1:
            say([
                f"{len(results.items)} items of {n} tasks together, each item counts the same; "
                "--by task: a leaderboard for each; --over tasks: tasks count, not items"
            ])  # fmt: skip
        return _of_items(results, options, arguments)
    if len(boards) == 1:
        return next(iter(boards.values()))
    return Boards(boards=boards)


def _of_items(results: Results, options: argparse.Namespace, arguments: dict[str, Any]) -> Record:
    """Compare right and wrong answers, or means of values."""
    results = _without_one_cluster(results)
    names = ("adjust", "alpha", "simultaneous", "control", "workers", "memory_limit", "n_resamples")
    shared = passed(options, *names, rng="seed") | arguments
    if options.over is None and options.method is not None:  # else it is that of tasks
        shared["method"] = options.method
    of_means = passed(options, *_MEANS)
    if options.lower_is_better:
        of_means["lower_is_better"] = True
    if not of_means:
        counted_once = results.is_right_or_wrong and results.is_answered_once
        if results.clusters is None and counted_once:
            shared["strata"] = None  # they drop out of McNemar's test
        record: Record = results.compare(**shared)
        return record
    if "stratum_weights" in of_means:
        from fastcmp.cli.values import stratum_weights

        of_means["stratum_weights"] = stratum_weights(options, list(results.task_names))
    if results.unit == "split":
        results.compare()  # which refuses them
    from fastcmp.items.compare_means import compare_means

    return compare_means(results.values(), **shared, **of_means)


def _without_one_cluster(results: Results) -> Results:
    """Take items as independent where all are in one cluster, and say so."""
    if results.clusters is None or len(set(results.clusters.tolist())) > 1:
        return results
    (cluster,) = set(results.clusters.tolist())
    say([
        f"all items are in one cluster ({cluster}), from which no variance can be "
        "estimated: they are taken as independent"
    ])  # fmt: skip
    return replace(results, clusters=None)


def _over_tasks(results: Results, options: argparse.Namespace) -> Record:
    """Compare the means of tasks."""
    if results.unit == "item" and len(results.tasks) < 2:
        raise ValueError(
            f"--over tasks needs at least 2 tasks, and these logs hold one "
            f"({results.task_names[0] or 'without a name'}): leave it out"
        )
    arguments = dataset_options(options)
    if not options.lower_is_better:
        return compare_scores(results, **arguments)
    table = results.task_scores()
    scores = dict(zip(table.names, table.scores, strict=True))
    return compare_scores(scores, tasks=table.tasks, lower_is_better=True, **arguments)


def _check_folders(options: argparse.Namespace) -> None:
    """Refuse to write what the next command would read as a log."""
    path = options.output
    if path is None or path.suffix.lower() not in _READ:
        return
    place = Path(os.path.realpath(path))
    for folder in options.files:
        if folder.is_dir() and place.is_relative_to(os.path.realpath(folder)):
            raise ValueError(f"--output would write {path} into {folder}, which is read")


# The command `inspect`: what logs hold, before anything is computed.


def _inspect(options: argparse.Namespace) -> None:
    from fastcmp.io.logs.inspection import inspect_results

    if options.example is not None:
        if options.files:
            raise ValueError("pass a file or folder of logs or --example, not both")
        options.files = [logs_path()]
    if not options.files:
        raise ValueError("pass a file or folder of logs, or --example logs")
    check_places(options)
    contents = inspect_results(paths_of(options), **reading_options(options))
    write(replace(contents, problems=problem_lines(contents.problems)), options)


# What `fastcmp compare` was given: predicted labels, logs, or battles.


#: Extensions that only logs have.
_OF_LOGS = (".eval", ".json", ".zip", ".arff")


def kind_of(options: argparse.Namespace) -> str:
    """The kind of the files, "labels", "logs" or "battles"; prints what was recognised.

    Files that hold a column of true labels are predictions, whatever else they look
    like; and so are those that nothing else recognises.
    """
    paths = options.files
    if not paths or options.example is not None or not all(p.exists() for p in paths):
        return "labels"
    options_of_logs = options_given(options, "@logs @tasks over @long")
    if not options_of_logs and (options_given(options, "@labels") or holds_truth(paths)):
        return "labels"
    return _recognised(paths, options, options_of_logs)


def holds_truth(paths: Sequence[Path]) -> bool:
    """Whether files of predictions have a column of true labels."""
    from fastcmp.io.chosen import TARGET
    from fastcmp.io.formats import parts_of
    from fastcmp.io.sources import Source

    for path in paths:
        try:
            if TARGET in Source(parts_of(path)[0]).types:
                return True
        except (ValueError, OSError, NotImplementedError):
            continue  # no file of predictions
    return False


def _recognised(
    paths: Sequence[Path], options: argparse.Namespace, options_of_logs: Sequence[str]
) -> str:
    """Ask the formats of logs."""
    from fastcmp.io.logs.files import find_files
    from fastcmp.io.logs.format import LogOptions
    from fastcmp.io.logs.reading import recognise

    files_found = find_files(paths)
    columns = {name: name for name in options_given(options, "@long")}
    log_options = LogOptions(columns=columns)
    recognition = recognise(files_found.files, log_options, options.log_format)
    names = [logs.format.name for logs in recognition.recognised]
    if names == ["wide"] and not options_of_logs:  # perhaps labels, whose truth is elsewhere
        return "labels"
    if names == ["battles"]:
        say([f"recognised {counted(len(recognition.recognised[0].values), 'file')} of battles"])
        return "battles"
    if names:
        formats = ", ".join(
            f"{logs.format.title} ({logs.format.name}, {counted(len(logs.values), 'file')})"
            for logs in recognition.recognised
        )
        say([f"recognised logs of {formats}"])
        return "logs"
    unknown = files_found.files and not any(map(_is_read, paths))
    if options_of_logs or files_found.pointers or recognition.alone or unknown:
        return "logs"  # which says what is wrong with them
    return "labels"


def _is_read(path: Path) -> bool:
    """Whether files of predictions could be here, by their extensions."""
    from fastcmp.io.formats import is_part

    if path.is_dir():
        return any(file.is_file() and is_part(file) for file in path.iterdir())
    return path.suffix.lower() not in _OF_LOGS


# `fastcmp compare` for battles: strengths by Bradley and Terry's model.


def compare_battles(options: argparse.Namespace, keep: str | int | Path) -> None:
    """Rank the models of files of battles."""
    from fastcmp.datasets import bradley_terry_from_battles

    if options.simultaneous or keep != "all" or options.missing != "raise":
        raise ValueError("--simultaneous, --keep and --missing do not go with battles")
    check_places(options)
    limit = memory_of(options)
    names = ("ridge", "adjust", "alpha", "control", "n_resamples", "workers")
    arguments = passed(options, *names, ties_as="ties", rng="seed")
    arguments["progress"] = sys.stderr.isatty()
    battles = _read(options, limit)
    if len(set(battles["item"].tolist())) < 2:
        say(["battles have no items of their own, and are taken as independent"])
        arguments["group"] = None
    write(bradley_terry_from_battles(battles, **arguments), options)


def _read(options: argparse.Namespace, limit: int) -> dict[str, Any]:
    """Read all files, one after the other."""
    from fastcmp.io.logs.battles import FORMATS, read_battles
    from fastcmp.io.logs.files import find_files

    files = [file for file in find_files(options.files).files if FORMATS[0].holds(file)]
    tables = [read_battles(file.path, memory_limit=limit) for file in files]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


INSPECT = Command(
    *("inspect", _inspect, "say what logs of evaluation harnesses hold"),
    "Say what a folder of logs holds: format, models, tasks, items, metrics, errors, and what does "
    "not fit together. Nothing is compared.",
    (
        Option("files", "*PATH", "files and folders of logs"),
        Option("example", "logs|", "look at bundled logs"),
        *(*READING, "workers", "memory-limit", *WRITTEN),
    ),
)
