"""The command line: from prediction files to an answer.

Exit codes: 0 done, 2 bad input with one line that says what is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import fastcmp
from fastcmp.data import EXAMPLES, example_path
from fastcmp.report import Section, to_csv, to_latex, to_markdown, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastcmp.holdout_result import HoldoutResult
    from fastcmp.io import Predictions
    from fastcmp.pairwise import PairwiseResult

    Result = PairwiseResult | HoldoutResult

_BAD_INPUT = 2
_INTERRUPTED = 130
_FORMATS: dict[str, Callable[[Result], str]] = {
    "table": lambda result: to_text(result.sections()),
    "markdown": lambda result: to_markdown(result.sections()),
    "latex": lambda result: to_latex(result.sections()),
    "csv": lambda result: to_csv(result.columns()).rstrip("\n"),
    "json": lambda result: json.dumps(result.to_dict(), indent=1, allow_nan=False),
}


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(_BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="fastcmp", description="Which classifier is really better?")
    parser.add_argument(
        "--version", action="version", version=f"fastcmp {fastcmp.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_compare(commands)
    _add_holdout(commands)
    return parser


def _add_compare(commands: Any) -> None:
    compare = commands.add_parser(
        "compare",
        help="compare all models of prediction files in pairs",
        description="Compare all models of one or several prediction files: a "
        "leaderboard, who beats whom, and who cannot be told apart.",
        epilog="Formats by extension: .csv .tsv .jsonl .parquet .arrow; text may be "
        "compressed (.csv.gz). One row a sample, one column a model.",
    )
    add = compare.add_argument
    _add_input(add)
    add("--models", nargs="+", metavar="COL", help="columns to compare (all others)")
    add("--test", default="mcnemar", help="mcnemar: accuracy; cost (mcnemar)")
    add("--method", help="variant of the test (midp; for costs likelihood)")
    add("--adjust", default="holm", help="adjustment for many pairs (holm)")
    add("--alpha", type=float, default=0.05, help="error rate of decisions (0.05)")
    add("--control", metavar="COL", help="compare only this model with all others")
    add("--workers", type=int, help="threads (as many as processors)")
    _add_output(add)
    compare.set_defaults(run=_compare)


def _add_holdout(commands: Any) -> None:
    holdout = commands.add_parser(
        "holdout",
        help="decide between two models, by error rate or by cost",
        description="Decide which of two models of a prediction file is better, by "
        "their error rates or by what their mistakes cost.",
        epilog="A cost file has a header with the predicted classes and a first column "
        "with the true ones; costs are 0 where they agree.",
    )
    add = holdout.add_argument
    _add_input(add)
    add("--models", nargs=2, metavar="COL", help="the two columns (the only two)")
    add("--test", help="asymptotic, exact, midp (midp; with costs asymptotic)")
    add(
        "--alternative",
        default="two-sided",
        help="two-sided, greater (the first is better), less (two-sided)",
    )
    add("--alpha", type=float, default=0.05, help="significance level (0.05)")
    add("--cost-test", default="likelihood", help="likelihood, chi-square (likelihood)")
    _add_output(add)
    holdout.set_defaults(run=_holdout)


def _add_input(add: Callable[..., Any]) -> None:
    add("files", nargs="*", metavar="FILE", type=Path, help="prediction files")
    add("--example", choices=tuple(EXAMPLES), help="compare bundled real predictions")
    add("--target", metavar="COL", help="column of the true labels (y_true)")
    add("--id", metavar="COL", help="column of sample ids, to join files by (id)")
    add("--cost", metavar="FILE", type=Path, help="what each mistake costs")
    add("--missing", default="raise", help="missing predictions: raise, wrong (raise)")


def _add_output(add: Callable[..., Any]) -> None:
    add("--format", choices=tuple(_FORMATS), default="table", help="how to write")
    add("--output", type=Path, metavar="FILE", help="where to write (the terminal)")


def _read(options: argparse.Namespace) -> Predictions:
    from fastcmp.io import read_predictions

    files = options.files
    if options.example is not None:
        if files:
            message = "pass prediction files or --example, not both"
            raise ValueError(message)
        files = [example_path(options.example)]
    if not files:
        message = "pass a prediction file, or --example digits"
        raise ValueError(message)
    return read_predictions(
        files, target=options.target, models=options.models, id_column=options.id
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
    _write(result, options)


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
    _write(result, options)


def _write(result: Result, options: argparse.Namespace) -> None:
    if options.output is None and options.format == "table" and sys.stdout.isatty():
        _draw(result.sections())
        return
    text = _FORMATS[options.format](result)
    if options.output is None:
        print(text)
    else:
        options.output.write_text(text + "\n", encoding="utf-8")


def _draw(sections: list[Section]) -> None:
    """Draw on a terminal: tables as wide as it is, and headings that stand out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for section in sections:
        console.print(Text(section.title, style="bold"))
        for line in section.text:
            console.print(Text(line))
        if section.columns:
            table = Table(box=None, pad_edge=False, header_style="dim")
            for j, name in enumerate(section.columns):
                side = "right" if section.is_numeric(j) else "left"
                table.add_column(Text(name), justify=side)
            for row in section.rows:
                table.add_row(*map(Text, row))
            console.print(table)
        for line in section.notes:
            console.print(Text(line, style="dim"))
        console.print()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code.
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except BrokenPipeError:
        # The reader of our output left, as `| head` does: nothing to complain about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"fastcmp: {_one_line(error)}", file=sys.stderr)
        return _BAD_INPUT
    return 0


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
