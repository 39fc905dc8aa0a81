"""The commands for predicted labels: `compare` and `holdout`."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastcmp
from fastcmp.cli.fits import refuse
from fastcmp.cli.log_options import LOGS
from fastcmp.cli.logs import compare_battles, compare_logs, compare_task_table, kind_of
from fastcmp.cli.metrics import METRICS, draws_together, metric_of
from fastcmp.cli.options import (
    Command,
    Option,
    columns_of,
    engine_options,
    memory_of,
    option,
    passed,
)
from fastcmp.cli.output import (
    TWO_MODELS,
    WRITTEN,
    check_places,
    chosen_files,
    files_of,
    only,
    say,
    take_names,
    write,
)
from fastcmp.cli.sums import compare_by_sums
from fastcmp.cli.values import VALUES, compare_values
from fastcmp.core.checks import choose
from fastcmp.data import EXAMPLES, demsar_path, example_path, logs_path
from fastcmp.inputs.cost_matrix import naming_cost, read_cost, refuse_cost, required_cost

if TYPE_CHECKING:
    from fastcmp.io.predictions import Predictions

_MISSING = ("raise", "wrong", "common")


def read_labels(options: argparse.Namespace, files: Any = None, models: Any = None) -> Predictions:
    """Read files of predictions as a whole, all or some."""
    from fastcmp.io.label_check import check_whole
    from fastcmp.io.predictions import read_predictions

    read = read_predictions(
        files or chosen_files(options, example_path),
        **columns_of(options) | ({"models": models} if models else {}),
        names=options.names if files is None else (),
        missing=options.missing,
    )
    say(read.remarks)
    if options.cost is None:  # else the costs name the classes
        check_whole(read.y_true, read.preds, options.target or "y_true")
    return read


def _read_cost(options: argparse.Namespace) -> Any:
    from fastcmp.io.sources import read_table

    if options.cost is None:
        return None
    table = read_table(options.cost, labels=())
    if table.num_columns == table.num_rows + 1:  # the first column names classes
        table = read_table(options.cost, labels=table.column_names[:1])
    return table


def _compare(options: argparse.Namespace) -> None:
    from fastcmp.pairwise.engine import read_keep

    keep = read_keep(int(options.keep) if options.keep.isdecimal() else options.keep)
    _take_example(options)
    take_names(options)
    options.usual_adjust = options.adjust is None  # tests over tasks have their own
    options.adjust = options.adjust or "holm"
    is_wide, is_long = options.values is not None, options.long is not None
    if options.sums is not None:
        kind = "sums"
    elif is_wide and is_long:
        raise ValueError("pass --values or --long, not both")
    elif is_wide or is_long:
        form = "--values" if is_wide else "--long"
        kind = "wide values" if is_wide else "long values"
        if options.over is not None:
            form, kind = "--values or --long", "scores of tasks"
        if options.files:
            raise ValueError(f"{form} names the file to read, got {options.files[0]} as well")
    else:
        kind = kind_of(options)
    refuse(options, kind, *(["a long file"] if is_long else []))
    _COMPARED[kind](options, keep)


def _take_example(options: argparse.Namespace) -> None:
    """Put the files of an example in the place of those that a user names."""
    if options.example not in ("logs", "demsar"):
        return
    if options.files or options.values is not None or options.long is not None:
        raise ValueError("pass files or --example, not both")
    if options.example == "logs":
        options.files = [logs_path()]
    else:
        options.values, options.over = demsar_path(), "tasks"
    options.example = None


def _take_folder(options: argparse.Namespace) -> None:
    """Put the files of a folder in its place where each holds the one model of a column."""
    from fastcmp.io.chosen import ID, TARGET, index_columns
    from fastcmp.io.formats import parts_of
    from fastcmp.io.sources import Source

    if len(options.files) != 1 or not options.files[0].is_dir() or options.checkpoint is not None:
        return
    parts = parts_of(options.files[0])
    types = Source(parts[0]).types
    used = {options.target or TARGET, options.id or ID, *options.drop, *index_columns([types], ())}
    if len(parts) > 1 and len(set(options.models or types.keys() - used)) == 1:
        options.files, options.names = parts, [None] * len(parts)


def _compare_labels(options: argparse.Namespace, keep: str | int | Path) -> None:
    from fastcmp.cli.counts import count_predictions
    from fastcmp.pairwise.compare_all import TESTS, check_method
    from fastcmp.pairwise.engine import read_options

    by_metric = options.metric is not None
    if not by_metric:
        refuse(options, "labels without --metric")
        if not draws_together(options):
            refuse(options, "labels without --metric or max-T")
    if options.example or (options.files and all(path.exists() for path in options.files)):
        refuse(options, "predictions")
    for name in ("test", "cost") if by_metric else ():
        if getattr(options, name) is not None:
            raise ValueError(f"pass --metric or --{name}, not both")
    _take_folder(options)
    options.missing = choose(options.missing, "missing", _MISSING)
    options.test = choose(options.test or "mcnemar", "test", TESTS)
    check_places(options, keep)
    cost = _read_cost(options)
    draws = passed(options, "n_resamples", rng="seed")
    names = ("test", "method", "adjust", "alpha", "simultaneous", "workers", "control")
    arguments: dict[str, Any] = passed(options, *names) | draws | {"cost": cost}
    if by_metric:
        metric_of(options, [])
    # What the options do not permit is refused before hours of reading.
    kind = "metric" if by_metric else options.test
    method = check_method(kind, options.method)
    adjustment = passed(options, "adjust", "alpha", "simultaneous")
    read_options(kind, method, keep=keep, **adjustment, **draws)
    matrix = None
    if kind == "cost":
        matrix = required_cost(cost, None, _policy(options))
    else:
        refuse_cost(cost)
    counts, checkpoint, n_outside = count_predictions(options, matrix, memory_of(options))
    arguments |= engine_options(options, keep)
    if counts is not None:
        if by_metric:
            arguments["metric"] = metric_of(options, counts.classes)
        result = fastcmp.compare_all(counts=counts, **arguments)
        result = replace(result, n_outside=n_outside)
    else:
        read = read_labels(options)
        if by_metric:
            labels = read.y_true.drop_null().unique().to_pylist()
            arguments["metric"] = metric_of(options, labels)
        result = fastcmp.compare_all(read.y_true, read.preds, missing=_policy(options), **arguments)
    write(result, options)
    if checkpoint is not None:
        checkpoint.remove()


_COMPARED = {
    "labels": _compare_labels,
    "wide values": compare_values,
    "long values": compare_values,
    "scores of tasks": compare_task_table,
    "logs": compare_logs,
    "battles": compare_battles,
    "sums": compare_by_sums,
}


def _policy(options: argparse.Namespace) -> str:
    """Policy for predictions that are missing in what was read: after "common" none are."""
    return "raise" if options.missing == "common" else str(options.missing)


def _holdout(options: argparse.Namespace) -> None:
    from fastcmp.inputs.labels import encode

    same = options.models is not None and options.models[0] == options.models[1]
    if same and not options.unpaired:
        raise ValueError(f"--models names {options.models[0]} twice")
    check_places(options)
    take_names(options)
    options.missing = choose(options.missing, "missing", _MISSING)
    if options.unpaired:
        _unpaired(options)
        return
    read = read_labels(options)
    first, second = only(read, 2, TWO_MODELS)
    cost = _read_cost(options)
    # Here errors and warnings name the columns; below they would name a and b.
    if cost is None:
        encode(read.y_true, read.preds, missing=_policy(options))
    else:
        matrix = read_cost(cost)
        with naming_cost(matrix, None):
            encode(read.y_true, read.preds, classes=matrix.classes, missing=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = fastcmp.compare_labels(
            read.y_true,
            read.preds[first],
            read.preds[second],
            **passed(options, "method", "alternative", "alpha"),
            cost=cost,
            missing=_policy(options),
            names=(first, second),
        )
    write(result, options)


def _unpaired(options: argparse.Namespace) -> None:
    """Compare two models, each on the samples of a file of its own."""
    if options.cost is not None:
        raise ValueError("--unpaired compares error rates: leave --cost out")
    files = chosen_files(options, example_path)
    if len(files) != 2:
        raise ValueError(f"--unpaired needs two files, one for each model, got {len(files)}")
    data, names = [], []
    for i, file in enumerate(files):
        read = read_labels(options, [file], options.models and [options.models[i]])
        (name,) = only(read, 1, f"name the model of each file (--models A B): {file} has")
        names.append(options.names[i] or name)
        data.append((read.y_true, read.preds[name]))
    if names[0] == names[1]:
        names = [Path(file).name.partition(".")[0] for file in files]
    result = fastcmp.compare_unpaired(
        *data,
        method=options.method or "auto",
        **passed(options, "alternative", "alpha"),
        missing=_policy(options),
        names=("a", "b") if names[0] == names[1] else (names[0], names[1]),
    )
    write(result, options)


_LABELS = "; NAME=FILE names the one model of a file"
_LACKING = option(
    "missing",
    "missing predictions, and samples that a file lacks: raise, wrong, or common: "
    "only samples that all models have (raise)",
)
COMPARE = Command(
    *("compare", _compare, "compare all models of prediction files or logs in pairs"),
    "Compare all models of one or several prediction files, or of logs of evaluation harnesses: a "
    "leaderboard, and which models differ significantly.",
    (
        *(*files_of((*EXAMPLES, "logs", "demsar"), _LABELS), "cost", _LACKING),
        *("models", "alpha", "control", "workers", option("adjust", default=None)),
        Option("test", "", "mcnemar: accuracy; cost (mcnemar)"),
        option(
            "method",
            "variant of the test (midp; for costs likelihood; for metrics jackknife; for values t)",
        ),
        Option(
            *("simultaneous", "flag"), "intervals of differences that hold for all pairs at once"
        ),
        Option(
            *("checkpoint", "FILE"),
            "save the counts here every few seconds and when stopped; the same "
            "command continues from them, and removes the file at the end",
        ),
        option(
            "memory-limit",
            "memory for files that are joined by id, and for counts of costs; larger "
            "files must be sorted by id (4GB). If given, it limits the answer too",
        ),
        Option(
            *("keep", "<all|significant|K|FILE>"),
            "pairs in the answer: all, those that differ significantly, those of the "
            "K best models, or all in a file (.npy or .parquet); decisions always come "
            "from all pairs (all)",
            "all",
        ),
        Option(
            *("pairs", "<A:B>+"),
            "pairs whose difference, interval and p-value to print, such as knn:svm, or "
            "all; p-values stay adjusted for all pairs that are tested",
            (),
        ),
        option("plot", "draw the leaderboard (.png, .pdf, .svg)"),
        Option(
            *("plot-kind", "leaderboard|pvalues|critical-difference"),
            "what --plot draws (leaderboard)",
            "leaderboard",
        ),
        *(*WRITTEN, METRICS, VALUES, LOGS),
    ),
    epilog="Formats by extension: .csv .tsv .jsonl .parquet .arrow; text may be "
    "compressed (.csv.gz). One row a sample, one column a model. Files may be "
    "larger than memory: one file is read in blocks, and so are several whose ids "
    "ascend. Lines whose types change late in a file are read again as a whole.",
)
HOLDOUT = Command(
    *("holdout", _holdout, "decide between two models, by error rate or by cost"),
    "Decide which of two models of a prediction file is better, by their error rates or by what "
    "their mistakes cost.",
    (
        *(*files_of(EXAMPLES, _LABELS), "cost", _LACKING),
        option("models", "the two columns (the only two)", form="COL COL"),
        option("method", "midp, exact, ... (midp); with --cost likelihood, chi-square"),
        "alternative",
        option("alpha", "significance level (0.05)"),
        Option(
            *("unpaired", "flag"),
            "two files, one for each model, which was tested on the samples of its "
            "file; --method is that of fastcmp.compare_unpaired (auto)",
        ),
        *WRITTEN,
    ),
    epilog="A cost file has a header with the predicted classes and a first column "
    "with the true ones; costs are 0 where they agree.",
)
