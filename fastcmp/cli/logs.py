"""`fastcmp compare` for logs: leaderboards of all items, of each task, over tasks."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastcmp
from fastcmp.cli.boards import Boards
from fastcmp.cli.log_options import (
    OF_LABELS,
    in_log_options,
    paths_of,
    refuse_given,
    results_options,
)
from fastcmp.cli.output import check_places, say, write
from fastcmp.cli.over_tasks import compare_scores, dataset_options
from fastcmp.core.escaping import visible
from fastcmp.io.logs.words import listed

if TYPE_CHECKING:
    import argparse

    from fastcmp.core.records import Record
    from fastcmp.io.logs.results import Results

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


def compare_logs(options: argparse.Namespace, keep: Any) -> None:
    """Compare the models of logs."""
    refuse_given(options, OF_LABELS, "works only with predicted labels; these are logs")
    refuse_given(options, ("weights", "ties", "ridge"), "does not go with logs")
    check_places(options, keep)
    _check_folders(options)
    _try_options(options)
    chosen = {"keep": keep, "progress": sys.stderr.isatty()}
    if isinstance(keep, Path) and (options.by or options.over):
        raise ValueError("--keep FILE is for one leaderboard, without --by and --over")
    with in_log_options(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*by the run's own account")  # a remark
        results = fastcmp.read_results(paths_of(options), **results_options(options))
    say(results.remarks)
    _check_direction(results, options)
    write(_answer(results, options, chosen), options, _title(results))


def _title(results: Results) -> str:
    """Name the metrics and the tasks."""
    names = tuple(dict.fromkeys(results.metrics))
    title = f"Metric{'' if len(names) == 1 else 's'}: {', '.join(map(visible, names))}"
    n = len(results.task_names)
    return f"{title}; {n} tasks: {listed(results.task_names, 10)}" if n > 1 else title


def _answer(results: Results, options: argparse.Namespace, chosen: dict[str, Any]) -> Record:
    """Compare as --by and --over say."""
    boards: dict[str, Record] = {}
    if options.by is not None:
        _check_items(results)
        for (task, subset), title in zip(results.tasks, results.task_names, strict=True):
            part = results.select(task=task, subset=subset)
            boards[f"Task {title}"] = _of_items(part, options, chosen)
        if len(boards) > 1:
            say([f"each leaderboard of a task has an error rate of {options.alpha:g}"])
    over = options.over is not None
    if not over and not boards and _are_tasks(results):
        say([_WHY_OVER[results.unit]])
        over = True
    if over:
        boards[OVER] = _over_tasks(results, options)
    if not boards:
        if options.stratum_weights is None:
            _say_together(results)
        return _of_items(results, options, chosen)
    if len(boards) == 1:
        return next(iter(boards.values()))
    return Boards(boards=boards)


def _are_tasks(results: Results) -> bool:
    """Tell whether values are scores of whole tasks, or of splits of several."""
    return results.unit == "task" or (results.unit == "split" and len(results.tasks) > 1)


def _check_items(results: Results) -> None:
    """Refuse to compare within tasks that are items themselves."""
    if results.unit == "task":
        raise ValueError(
            "--by task needs several items of each task, and these logs hold one score "
            "for each: leave it out, or pass --over tasks"
        )


def _say_together(results: Results) -> None:
    """Say that items of several tasks are compared together."""
    n = len(results.task_names)
    if n > 1:
        say([
            f"{len(results.items)} items of {n} tasks together, each item counts the "
            "same; --by task: a leaderboard for each; --over tasks: tasks count, not "
            "items"
        ])  # fmt: skip


def _of_items(results: Results, options: argparse.Namespace, chosen: dict[str, Any]) -> Record:
    """Compare right and wrong answers, or means of values."""
    results = _without_one_cluster(results)
    shared = {
        "method": options.method if options.over is None else None,
        "adjust": options.adjust,
        "alpha": options.alpha,
        "simultaneous": options.simultaneous,
        "control": options.control,
        "workers": options.workers,
        "memory_limit": options.memory_limit,
        "n_resamples": options.n_resamples,
        "rng": options.seed,
        **chosen,
    }
    shared = {name: value for name, value in shared.items() if value is not None}
    of_means = {name: getattr(options, name) for name in _MEANS}
    of_means = {name: x for name, x in of_means.items() if x is not None}
    if options.lower_is_better:
        of_means["lower_is_better"] = True
    if not of_means:
        if results.clusters is None and _is_for_mcnemar(results):
            shared["strata"] = None  # they drop out of McNemar's test
        found: Record = results.compare(**shared)
        return found
    if "stratum_weights" in of_means:
        from fastcmp.cli.values import stratum_weights

        names = list(results.task_names)
        of_means["stratum_weights"] = stratum_weights(options, names)
    if results.unit == "split":
        results.compare()  # which refuses them
    from fastcmp.items.compare_means import compare_means

    return compare_means(results.values(), **shared, **of_means)


def _is_for_mcnemar(results: Results) -> bool:
    """Tell whether each item has one answer, right or wrong."""
    return results.is_right_or_wrong and results.is_answered_once


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
    chosen = dataset_options(options)
    if not options.lower_is_better:
        return compare_scores(results, **chosen)
    table = results.task_scores()
    scores = dict(zip(table.names, table.scores, strict=True))
    return compare_scores(scores, tasks=table.tasks, lower_is_better=True, **chosen)


def _check_direction(results: Results, options: argparse.Namespace) -> None:
    """Refuse --lower-is-better where the logs know themselves what is better."""
    if options.lower_is_better and results.lower_is_better:
        raise ValueError(
            "--lower-is-better: the logs say themselves that less of this metric is "
            "better, and its values were negated; leave out the option"
        )


def _try_options(options: argparse.Namespace) -> None:
    """Refuse what the options do not permit before long reading."""
    labels = (0, 1, 1)
    other = {"adjust": options.adjust, "alpha": options.alpha}
    if options.over is None:  # which has adjustments of its own
        fastcmp.compare_all(labels, {"a": labels, "b": labels}, **other)


def _check_folders(options: argparse.Namespace) -> None:
    """Refuse to write what the next command would read as a log."""
    path = options.output
    if path is None or path.suffix.lower() not in _READ:
        return
    place = Path(os.path.realpath(path))
    for folder in options.files:
        if folder.is_dir() and place.is_relative_to(os.path.realpath(folder)):
            raise ValueError(f"--output would write {path} into {folder}, which is read")
