"""The command `report`: precision, recall and F1 of each class, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import fastcmp
from fastcmp.cli.labels import read_labels
from fastcmp.cli.metrics import ZERO_DIVISION, classes_of
from fastcmp.cli.options import Command, Option, memory_of, option, passed
from fastcmp.cli.output import WRITTEN, check_places, chosen_files, files_of, write
from fastcmp.data import EXAMPLES, example_path

if TYPE_CHECKING:
    pass


def _report(options: argparse.Namespace) -> None:
    from fastcmp.scores.classification_report import COLUMNS, read_chosen, read_report_options

    check_places(options)
    limit = memory_of(options)
    tests = passed(options, "digits", "confidence_level", "adjust", "alpha")
    arguments = tests | passed(options, "metrics", "workers", "control")
    arguments |= {"overall": list(options.overall)}
    arguments |= {"zero_division": ZERO_DIVISION[options.zero_division]}
    zero = arguments["zero_division"]
    read_chosen(options.metrics or COLUMNS, arguments["overall"], "union", None, zero)
    read_report_options(**tests)
    words = None if options.labels is None else options.labels.split(",")
    counts = _count(options, limit)
    if counts is not None:
        arguments |= classes_of(options, words, list(counts.classes))
        result = fastcmp.classification_report(counts=counts, **arguments)
    else:
        read = read_labels(options)
        columns = (read.y_true, *read.preds.values())
        labels = dict.fromkeys(x for column in columns for x in column.unique().to_pylist())
        arguments |= classes_of(options, words, [x for x in labels if x is not None])
        result = fastcmp.classification_report(read.y_true, read.preds, **arguments)
    write(result, options)


def _count(options: argparse.Namespace, limit: int) -> Any:
    """Count the files block by block; None where they are to be read as a whole.

    With a control this counts all pairs of models, so only where it must.
    """
    from fastcmp.cli.counts import counted, opened
    from fastcmp.stream import ConfusionCounts, LabelCounts

    predictions = opened(options, least=1 if options.control is None else 2)
    size = predictions.size_in_memory()
    n_files = len(chosen_files(options, example_path))
    if (n_files > 1 or options.control is not None) and size <= limit:
        return None
    kind = ConfusionCounts if options.control is None else LabelCounts
    return counted(options, predictions, kind(predictions.names), limit)[0]


REPORT = Command(
    *("report", _report, "precision, recall and F1 of each class, with intervals"),
    "The classification report of one model or of several: precision, recall and F1 of each class "
    "and their averages, with intervals; with --control, marks where a model is significantly "
    "better (+) or worse (-).",
    (
        *files_of(EXAMPLES),
        option("models", "columns to report (all others)"),
        option("control", "compare all other models with this one"),
        Option("metrics", "NAME+", "columns: rates of classes (precision recall f1)"),
        Option(
            *("overall", "NAME+"),
            "rows of metrics of all classes, such as mcc, kappa, balanced_accuracy",
            (),
        ),
        Option(
            *("labels", "A,B"),
            "classes to report, in this order; or union (of truth and predictions), truth (union)",
        ),
        option("positive", "the only class that gets a row"),
        Option(
            *("zero-division", "|".join(ZERO_DIVISION)),
            "a rate without samples; nan leaves it out of averages (0)",
            "0",
        ),
        Option("digits", "int", "decimal places to print (2)", 2),
        Option("confidence-level", "float", "of the intervals (0.95)", 0.95),
        option("adjust", "adjustment for many differences (holm)"),
        option("alpha", "error rate of the marks (0.05)"),
        option(
            "memory-limit",
            "memory for files that are read as a whole: several, or with --control (4GB)",
        ),
        *("workers", *WRITTEN),
    ),
    epilog="Formats by extension: .csv .tsv .jsonl .parquet .arrow; text may be "
    "compressed (.csv.gz). One row a sample, one column a model. Files may be "
    "larger than memory: they are read in blocks then.",
    fixed={"names": (), "missing": "raise", "cost": None},
)
