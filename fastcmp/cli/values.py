"""`fastcmp compare` for values per item: wide files, and long ones."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.cli.log_options import refuse_given
from fastcmp.cli.metrics import DRAWS, OF_METRIC, SHARED, draws_together
from fastcmp.cli.options import Group, Option, option, passed
from fastcmp.cli.output import check_places, say, write
from fastcmp.core.threads import in_words, read_size
from fastcmp.counts.pairs import choose_pairs
from fastcmp.inputs.cost_matrix import as_labels

if TYPE_CHECKING:
    from fastcmp.inputs.values import ItemTable

#: Options for the columns of the items, whatever the form of the file.
_ITEMS = ("groups", "strata", "weights", "slices")
#: Those for the columns of a long file, with the names that are usual.
_LONG = {"item": "item", "model": "model", "value": "value", "repeat": None}
#: Options of `compare_means` alone.
_OPTIONS = ("variance", "df", "interval", "average", "repeats", "k", "n_resamples", "seed")
#: What belongs to labels.
_LABELS = ("example", "target", "cost", "test", "checkpoint", "metric", *OF_METRIC)


VALUES = Group(
    "values per item",
    (
        Option("values", "FILE", "one row an item, a column a model"),
        Option("long", "FILE", "one row for each item and model"),
        *(
            Option(
                *(name, "COL"),
                f"column of the {name} in a long file" + (f" ({usual})" if usual else ""),
            )
            for name, usual in _LONG.items()
        ),
        Option(
            *("sums", "<METRIC[:COL,...]>"),
            "compare by a metric of sums, such as wer:errors,words or cost_per_solved: of a "
            "long table with these columns, or of logs with these metrics",
        ),
        option("groups", "column of clusters of items"),
        Option("strata", "COL", "column of strata (tasks)", also=("--stratum",)),
        Option("weights", "COL", "column of weights of items", also=("--weight",)),
        Option("slices", "COL", "column of labels: compare within each slice too"),
        Option("stratum-weights", "WEIGHT+", "items, equal, or STRATUM=NUMBER for each (items)"),
        Option("lower-is-better", "flag?", "values are losses"),
        Option("variance", "", "cr0, cr1, cr2 or cr3 (cr2)"),
        Option("df", "", "degrees of freedom: satterthwaite, clusters, normal (satterthwaite)"),
        Option("interval", "", "of the bootstrap: studentized, percentile, bca, basic"),
        Option("average", "", "mean over items or clusters (items)"),
        Option("repeats", "", "answers to an item: mean, pass@k, pass^k (mean)"),
        Option("k", "int", "of pass@k and pass^k"),
        Option(
            *("n-resamples", "N:int"), "flips or draws (9999), of labels too with --adjust maxt"
        ),
        Option("seed", "int", "seed of flips and draws"),
    ),
    "Compare means of values (right or wrong, grades, losses) in place of labels.",
)


def has_values(options: argparse.Namespace, kind: str = "labels") -> bool:
    """Whether values are compared; refuse what does not go together."""
    wide, long = options.values is not None, options.long is not None
    if wide and long:
        raise ValueError("pass --values or --long, not both")
    if not wide and not long and kind != "labels":
        return False
    if not wide and not long:
        names = ("lower_is_better", "stratum_weights", *_ITEMS, *_LONG, *_OPTIONS)
        allowed: tuple[str, ...] = SHARED
        if options.metric is None:
            allowed = DRAWS if draws_together(options) else ()
        refuse_given(
            options,
            [name for name in names if name not in allowed],
            "is for values per item: pass --values FILE or --long FILE",
        )
        return False
    form = "--values" if wide else "--long"
    if options.files:
        raise ValueError(f"{form} names the file to read, got {options.files[0]} as well")
    refuse_given(options, _LABELS, f"is for predicted labels, and does not go with {form}")
    if wide:
        refuse_given(options, _LONG, "is for long files: pass --long FILE")
    else:
        refuse_given(options, ("slices",), "is for wide files: pass --values FILE")
        why = "does not go with --long: name columns by --item, --model and --value"
        refuse_given(options, ("id", "drop"), why)
    if options.stratum_weights is not None and options.strata is None:
        raise ValueError("--stratum-weights needs --strata")
    delattr(options, "long" if wide else "values")  # errors do not speak of it
    return True


def compare_values(options: argparse.Namespace, keep: str | int | Path, usual_limit: str) -> None:
    """Compare the means of a wide or a long file."""
    check_places(options, keep)
    limit = read_size(options.memory_limit or usual_limit, "--memory-limit")
    names = ("lower_is_better", "adjust", "alpha", "simultaneous", "workers", "control")
    arguments = passed(options, *names)
    tests = passed(options, "method", *_OPTIONS[:-1], rng="seed")
    _check(options, tests)
    arguments |= {
        "keep": keep,
        "memory_limit": None if options.memory_limit is None else limit,
        "progress": sys.stderr.isatty(),
    }
    if "values" in vars(options):
        result = _compare_wide(options, arguments, tests, limit)
    else:
        result = _compare_long(options, arguments | tests, limit)
    write(result, options)


def _check(options: argparse.Namespace, tests: dict[str, Any]) -> None:
    """Refuse what the options do not permit before hours of reading."""
    from fastcmp.items.compare_means import pair_options
    from fastcmp.items.mean_data import MeanOptions

    spec = MeanOptions(**tests, missing=options.missing)
    adjustment = passed(options, "adjust", "alpha", "simultaneous")
    pair_options(spec, options.seed, **adjustment)
    spec.check_items(options.groups, options.strata, options.weights)
    if options.slices is not None:
        spec.refuse_slices(strata=options.strata, weights=options.weights)


def _compare_wide(
    options: argparse.Namespace, arguments: dict[str, Any], tests: dict[str, Any], limit: int
) -> Any:
    from fastcmp.cli.counts import save_memory
    from fastcmp.io.predictions import ValueFile
    from fastcmp.items.compare_means import compare_means
    from fastcmp.stream import ValueMoments

    others = {f"--{x}": getattr(options, x) for x in _ITEMS if getattr(options, x)}
    file = ValueFile(
        options.values,
        models=options.models,
        id_column=options.id,
        others=others,
        weights=options.weights,
        drop=options.drop,
    )
    choose_pairs(tuple(file.names), None, options.control)
    say(file.remarks)
    if (size := file.size_in_memory()) <= limit:
        values, other_columns = file.table()
        items = {option[2:]: column for option, column in other_columns.items()}
        if "strata" in items:
            items["stratum_weights"] = stratum_weights(options, items["strata"])
        return compare_means(values, **arguments, **tests, **items, missing=options.missing)
    if why := _whole_only(options, tests):
        raise ValueError(
            f"{why} needs all values at once, which would take {in_words(size)} "
            f"(--memory-limit is {in_words(limit)}): pass a larger --memory-limit"
        )
    save_memory()
    moments = ValueMoments(file.names, groups="ids" if options.groups else None)
    file.sum_up(moments, progress=arguments["progress"])
    summed = ("variance", "df", "n_resamples", "rng")
    tests = {name: tests[name] for name in summed if name in tests}
    return compare_means(moments, **arguments, **tests)


def _whole_only(options: argparse.Namespace, tests: dict[str, Any]) -> str:
    """Name an option that sums over blocks do not know."""
    for name in ("strata", "slices"):
        if getattr(options, name) is not None:
            return f"--{name}"
    if options.missing != "raise":
        return f"--missing {options.missing}"
    usual = {"method": "t", "average": "items", "repeats": "mean"}
    for name, value in usual.items():
        if tests.get(name, value) != value:
            return f"--{name} {tests[name]}"
    return ""


def _compare_long(options: argparse.Namespace, arguments: dict[str, Any], limit: int) -> Any:
    from fastcmp.io.predictions import long_size, read_long
    from fastcmp.items.compare_means import compare_means

    if (size := long_size(options.long)) > limit:
        raise ValueError(
            f"a long file is read as a whole, which would take {in_words(size)} "
            f"(--memory-limit is {in_words(limit)}): pass a larger --memory-limit, or "
            "a wide file (--values)"
        )
    columns = {f"--{name}": getattr(options, name) or x for name, x in _LONG.items()}
    columns |= {f"--{name}": getattr(options, name) for name in _ITEMS if name != "slices"}
    labels = [option for option in columns if option not in ("--value", "--weights")]
    frame = read_long(options.long, columns, labels)
    named: dict[str, Any] = {name: columns[f"--{name}"] for name in _LONG}
    named |= dict(zip(("group", "stratum", "weight"), _items(options), strict=True))
    table = table_of(frame, named, options)
    if table.strata is not None:
        arguments["stratum_weights"] = stratum_weights(options, table.strata)
    return compare_means(table, **arguments, missing=options.missing)


def _items(options: argparse.Namespace) -> list[str | None]:
    return [getattr(options, name) for name in _ITEMS if name != "slices"]


def table_of(frame: object, named: dict[str, Any], options: argparse.Namespace) -> ItemTable:
    """What a long file holds of the models that are asked for."""
    from fastcmp.inputs.long_tables import from_long
    from fastcmp.io.chosen import no_column

    try:
        table = from_long(frame, **named)
    except (ValueError, TypeError) as error:
        raise type(error)(
            f"{options.long}: {str(error).removeprefix('frame').lstrip(': ')}"
        ) from None
    if options.models is None:
        return table
    for name in options.models:
        if name not in table.names:
            message = no_column(name, table.names, str(options.long), "--models")
            raise ValueError(message.replace(" column ", " model ", 1))
    rows = [table.names.index(name) for name in options.models]
    n_answers = None if table.n_answers is None else table.n_answers[rows]
    return replace(
        table, names=tuple(options.models), values=table.values[rows], n_answers=n_answers
    )


def stratum_weights(options: argparse.Namespace, strata: object) -> Any:
    """Read --stratum-weights: a word, or a number for each stratum."""
    words = options.stratum_weights
    if words is None:
        return "items"
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    strata_names = (strata.unique() if hasattr(strata, "unique") else np.asarray(strata)).tolist()
    names, numbers = [], []
    for word in words:
        name, _, number = word.rpartition("=")
        try:
            numbers.append(float(number))
        except ValueError:
            raise ValueError(
                "--stratum-weights must be items, equal, or STRATUM=NUMBER for each "
                f"stratum, got {word!r}"
            ) from None
        names.append(name)
    return dict(zip(as_labels(names, strata_names), numbers, strict=True))
