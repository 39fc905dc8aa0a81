"""`fastcmp compare --over tasks`: one score for each model and task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.cli.log_options import OF_LABELS, OF_LOGS, given, refuse_given
from fastcmp.cli.output import check_places, say, write

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    from fastcmp.core.records import Record
    from fastcmp.datasets.datasets_result import DatasetsResult

#: Columns that usually name the tasks of a table.
_TASKS = ("task", "dataset", "data set", "data_set", "dataset_name", "benchmark")
#: Those that usually name models, and hold scores, of a long table.
_MODELS = ("model", "method", "framework", "classifier_name", "classifier")
_SCORES = ("value", "score", "accuracy", "correct")
_OF_VALUES = ("variance", "df", "interval", "average", "repeats", "k", "weights",
              "stratum_weights", "groups", "n_resamples", "seed")  # fmt: skip


def dataset_options(options: argparse.Namespace) -> dict[str, Any]:
    """Give what `compare_datasets` takes of the options."""
    if options.simultaneous:
        raise ValueError("--simultaneous does not go with --over tasks")
    chosen = {
        "method": options.method,
        "omnibus": options.omnibus,
        "adjust": None if options.usual_adjust else options.adjust,
        "alpha": options.alpha,
        "control": options.control,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def compare_task_table(options: argparse.Namespace, keep: Any) -> None:
    """Compare a table of scores, a row a task, or several that are averaged."""
    if options.values is not None and options.long is not None:
        raise ValueError("pass --values or --long, not both")
    if options.files:
        raise ValueError(f"--values or --long names the file to read, got {options.files[0]}")
    others = [name for name in OF_LABELS if name not in ("id", "drop")]
    others += [*OF_LOGS, *_OF_VALUES, "metric", "ties", "ridge"]
    refuse_given(options, others, "does not go with --over tasks and a table of scores")
    if keep != "all":
        raise ValueError("--keep does not go with --over tasks: all pairs are kept")
    check_places(options)
    chosen = dataset_options(options)
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
            **chosen,
        ),
        options,
    )


def compare_scores(scores: Any, **options: Any) -> Record:
    """Compare models over tasks."""
    from fastcmp.datasets import compare_datasets

    found = compare_datasets(scores, **options)
    if (least := _least(found)) > found.alpha:
        say([
            f"with {found.n_tasks} tasks no adjusted p-value of this test is below "
            f"{least:.2g}: no pair can differ significantly at {found.alpha:g}; "
            "compare items, or more tasks"
        ])  # fmt: skip
    return found


def _least(result: DatasetsResult) -> float:
    """Bound the least adjusted p-value of tests that go by signs and ranks."""
    if result.method not in ("wilcoxon", "sign"):
        return 0.0
    times = result.n_pairs if result.adjust in ("holm", "bonferroni") else 1
    return min(1.0, 2.0 ** (1 - result.n_tasks) * times)


def mean_by_task(
    tasks: list[str], scores: NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64]]:
    """Average rows of one task, shape (M, rows) -> (M, D); NaN stays."""
    titles = list(dict.fromkeys(tasks))
    number = {title: i for i, title in enumerate(titles)}
    places = np.array([number[task] for task in tasks])
    n = np.bincount(places, minlength=len(titles))
    sums = np.array([np.bincount(places, row, len(titles)) for row in scores])
    # One score is itself, to the last bit.
    return titles, sums / n


def _wide(
    options: argparse.Namespace,
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Read a file with a column a model."""
    from fastcmp.inputs.values import as_values
    from fastcmp.io.sources import Source
    from fastcmp.io.values import ValueFile

    for name in given(options, ("item", "model", "value", "repeat")):
        raise ValueError(f"--{name} is for long files: pass --long FILE")
    column = options.strata or options.id or _usual(Source(options.values).types)
    others = {} if column is None else {"--id": column}
    file = ValueFile(options.values, models=options.models, others=others, drop=options.drop)
    say(file.remarks)
    values, known = file.table()
    scores = np.array([as_values(x, name) for name, x in values.items()], np.float64)
    tasks = [f"row {i + 1}" for i in range(scores.shape[1])]
    if column is not None:
        tasks = _names(known["--id"].to_pylist(), column, options)
    else:
        say(["no column names the tasks, so each row is one (--id COL)"])
    return list(values), tasks, scores


def _long(
    options: argparse.Namespace,
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Read a file with a row for each model and task."""
    from fastcmp.inputs.long_tables import from_long
    from fastcmp.io.sources import Source
    from fastcmp.io.values import read_long

    types = Source(options.long).types
    task = options.strata or options.item or _usual(types)
    columns = {
        "--item": options.item or task or "item",
        "--model": options.model or _usual(types, _MODELS) or "model",
        "--value": options.value or _usual(types, _SCORES) or "value",
        "--repeat": options.repeat,
        "--strata": options.strata,
    }
    labels = [option for option in columns if option != "--value"]
    frame = read_long(options.long, columns, labels)
    named = {"item": "--item", "model": "--model", "value": "--value"}
    named |= {"repeat": "--repeat", "stratum": "--strata"}
    try:
        table = from_long(frame, **{k: columns[option] for k, option in named.items()})
    except (ValueError, TypeError) as error:
        raise type(error)(
            f"{options.long}: {str(error).removeprefix('frame').lstrip(': ')}"
        ) from None
    values = np.asarray(table.values, np.float64)
    if values.ndim > 2:
        known = ~np.isnan(values)
        n = known.sum(axis=2)
        sums = np.where(known, values, 0.0).sum(axis=2)
        values = np.where(n > 0, sums / np.maximum(n, 1), np.nan)
    own = table.items if table.strata is None else table.strata
    names = list(table.names)
    if options.models is not None:
        values = values[[_place(name, names, options) for name in options.models]]
        names = list(options.models)
    return names, _names(own.tolist(), columns["--item"], options), values


def _place(name: str, names: list[str], options: argparse.Namespace) -> int:
    if name not in names:
        known = ", ".join(names[:10])
        raise ValueError(f"{options.long} has no model {name!r} (--models), but {known}")
    return names.index(name)


def _usual(columns: Any, names: tuple[str, ...] = _TASKS) -> str | None:
    """Find a column that is called as those of tasks usually are, or as others."""
    return next((name for name in columns if name.lower() in names), None)


def _names(labels: list[Any], column: str, options: argparse.Namespace) -> list[str]:
    """Check the names of tasks."""
    missing = sum(label is None or str(label) == "" for label in labels)
    if missing:
        path = options.values if options.values is not None else options.long
        raise ValueError(f"{path}: column {column!r} names no task in {missing} rows")
    return [str(label) for label in labels]
