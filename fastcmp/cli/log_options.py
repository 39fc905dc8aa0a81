"""Options of `fastcmp compare` and `inspect` for logs, and what they mean."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from fastcmp.cli.fits import options_given, options_of
from fastcmp.cli.messages import in_options
from fastcmp.cli.options import Group, Option, memory_of, passed

#: Columns of a long table, as `read_results` and the options call them.
_COLUMNS = {"item": "item", "model": "model", "value": "value", "repeat": "repeat",
            "strata": "task", "groups": "group"}  # fmt: skip


READING = (
    Option("task", "NAME+", "only these tasks"),
    Option("filter", "NAME", "which filter of answers (lm_eval)"),
    Option("log-format", "NAME", "read files of this format only"),
    Option("ids", "FILE", "all ids, a line each (SWE-bench, trec_eval)"),
)
#: Options of `fastcmp compare` for logs and many tasks.
LOGS = Group(
    "logs of evaluation harnesses, and many tasks",
    (
        Option("by", "task|", "a leaderboard for each task, instead of one of all items"),
        Option(
            *("over", "tasks|"),
            "a leaderboard over tasks: one score for each model and task; --method "
            "is that of fastcmp.compare_datasets (wilcoxon). Tables of --values or --long "
            "have a row for each task then",
        ),
        Option(
            *("pareto", "METRICS"),
            "which models are worth their cost, by several metrics: accuracy,-seconds, "
            "where - stands before a metric of which less is better",
        ),
        Option("omnibus", "NAME", "test of all models over tasks"),
        *READING,
        Option("items", "", "same, or common: only items that all models have (same)"),
        Option("errors", "", "answers without a value: raise, wrong, or drop the item (raise)"),
        Option("runs", "", "several runs of a model: raise, latest, repeats (raise)"),
        Option("imputed", "", "imputed rows of TabArena: raise, keep (raise)"),
        Option("ties", "", "of battles: half, ignored, davidson (half)"),
        Option("ridge", "float", "of battles: penalty of strengths (0)"),
    ),
    "A file or folder of logs is recognised by what it holds: see fastcmp inspect. "
    "--metric names the metric, or that of each task (gsm8k=exact_match,arc=acc).",
)


def reading_options(options: argparse.Namespace) -> dict[str, Any]:
    """What `inspect_results` takes of the options."""
    read = passed(options, "task", "filter", "ids", "workers", format="log_format")
    read["memory_limit"] = memory_of(options)
    read["progress"] = sys.stderr.isatty()
    if columns := {
        _COLUMNS[name]: getattr(options, name) for name in options_given(options, _COLUMNS)
    }:
        read["columns"] = columns
    return read


def results_options(options: argparse.Namespace) -> dict[str, Any]:
    """What `read_results` takes of the options."""
    errors = options.errors
    if options.missing == "common":
        options.items = "common"
    elif options.missing != "raise":
        if errors not in (None, options.missing):
            raise ValueError(f"pass --errors {errors} or --missing {options.missing}, not both")
        errors = options.missing
    arguments = reading_options(options) | passed(options, "items", "runs", "models", "imputed")
    own_arguments = {"metric": read_metric(options.metric), "errors": errors}
    return arguments | {name: value for name, value in own_arguments.items() if value is not None}


def paths_of(options: argparse.Namespace) -> Any:
    """The path that a user named, or the paths."""
    return options.files[0] if len(options.files) == 1 else options.files


def read_metric(text: str | None) -> str | dict[str, str] | None:
    """Read the name of a metric, or those of tasks.

    Examples
    --------
    >>> from fastcmp.cli.log_options import read_metric
    >>> read_metric("gsm8k=exact_match,arc=acc")
    {'gsm8k': 'exact_match', 'arc': 'acc'}
    """
    if text is None or "=" not in text:
        return text
    metric_of_task = {}
    for word in text.split(","):
        task, _, name = word.rpartition("=")
        if not task or not name:
            raise ValueError(
                f"--metric must be a name, or TASK=NAME,TASK=NAME for each task, got {text!r}"
            )
        metric_of_task[task.strip()] = name.strip()
    return metric_of_task


def problem_lines(problems: Iterable[str]) -> tuple[str, ...]:
    """Write what keeps logs from being compared in terms of `fastcmp compare`."""
    all_options = Namespace(**dict.fromkeys((*options_of("@logs metric memory_limit"), *_COLUMNS)))
    return tuple(in_options(line, all_options) for line in problems)
