"""The commands on predicted labels: `compare` and `holdout`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastcmp
from fastcmp.cli_output import add_input, add_output, chosen_files, write
from fastcmp.data import EXAMPLES, example_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from fastcmp.io import Predictions


def add_compare(commands: Any) -> None:
    """Add `fastcmp compare`.

    Parameters
    ----------
    commands : object
        The parser's subparsers.
    """
    compare = commands.add_parser(
        "compare",
        help="compare all models of prediction files in pairs",
        description="Compare all models of one or several prediction files: a "
        "leaderboard, who beats whom, and who cannot be told apart.",
        epilog="Formats by extension: .csv .tsv .jsonl .parquet .arrow; text may be "
        "compressed (.csv.gz). One row a sample, one column a model.",
    )
    add = compare.add_argument
    _add_labels(add)
    add("--models", nargs="+", metavar="COL", help="columns to compare (all others)")
    add("--test", default="mcnemar", help="mcnemar: accuracy; cost (mcnemar)")
    add("--method", help="variant of the test (midp; for costs likelihood)")
    add("--adjust", default="holm", help="adjustment for many pairs (holm)")
    add("--alpha", type=float, default=0.05, help="error rate of decisions (0.05)")
    add("--control", metavar="COL", help="compare only this model with all others")
    add("--workers", type=int, help="threads (as many as processors)")
    add_output(add)
    compare.set_defaults(run=_compare)


def add_holdout(commands: Any) -> None:
    """Add `fastcmp holdout`.

    Parameters
    ----------
    commands : object
        The parser's subparsers.
    """
    holdout = commands.add_parser(
        "holdout",
        help="decide between two models, by error rate or by cost",
        description="Decide which of two models of a prediction file is better, by "
        "their error rates or by what their mistakes cost.",
        epilog="A cost file has a header with the predicted classes and a first column "
        "with the true ones; costs are 0 where they agree.",
    )
    add = holdout.add_argument
    _add_labels(add)
    add("--models", nargs=2, metavar="COL", help="the two columns (the only two)")
    add("--test", help="asymptotic, exact, midp (midp; with costs asymptotic)")
    add(
        "--alternative",
        default="two-sided",
        help="two-sided, greater (the first is better), less (two-sided)",
    )
    add("--alpha", type=float, default=0.05, help="significance level (0.05)")
    add("--cost-test", default="likelihood", help="likelihood, chi-square (likelihood)")
    add_output(add)
    holdout.set_defaults(run=_holdout)


def _add_labels(add: Callable[..., Any]) -> None:
    add_input(add, EXAMPLES)
    add("--cost", metavar="FILE", type=Path, help="what each mistake costs")
    add("--missing", default="raise", help="missing predictions: raise, wrong (raise)")


def _read(options: argparse.Namespace) -> Predictions:
    from fastcmp.io import read_predictions

    return read_predictions(
        chosen_files(options, example_path),
        target=options.target,
        models=options.models,
        id_column=options.id,
    )


def _read_cost(options: argparse.Namespace) -> Any:
    from fastcmp.io import read_table

    return None if options.cost is None else read_table(options.cost)


def _compare(options: argparse.Namespace) -> None:
    read = _read(options)
    result = fastcmp.compare_all(
        read.y_true,
        read.preds,
        test=options.test,
        method=options.method,
        cost=_read_cost(options),
        adjust=options.adjust,
        alpha=options.alpha,
        control=options.control,
        missing=options.missing,
        workers=options.workers,
        progress=sys.stderr.isatty(),
    )
    write(result, options)


def _holdout(options: argparse.Namespace) -> None:
    from fastcmp.labels import encode

    if options.models is not None and options.models[0] == options.models[1]:
        message = f"--models names {options.models[0]} twice"
        raise ValueError(message)
    read = _read(options)
    if len(read.preds) != 2:
        found = ", ".join(list(read.preds)[:10])
        message = f"name the two models to compare (--models A B); there are: {found}"
        raise ValueError(message)
    first, second = read.preds
    # Whatever cannot be compared is refused by the names that the user knows.
    encode(read.y_true, read.preds, missing=options.missing)
    result = fastcmp.compare_labels(
        read.y_true,
        read.preds[first],
        read.preds[second],
        test=options.test,
        alternative=options.alternative,
        alpha=options.alpha,
        cost=_read_cost(options),
        cost_test=options.cost_test,
        missing=options.missing,
        names=(first, second),
    )
    write(result, options)
