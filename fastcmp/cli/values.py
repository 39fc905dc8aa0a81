"""`fastcmp compare` for values per item: wide files, and long ones."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.cli.options import Group, Option, engine_options, memory_of, option, passed, too_large
from fastcmp.cli.output import check_places, say, write
from fastcmp.core.errors import ArgumentError
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


def compare_values(options: argparse.Namespace, keep: str | int | Path) -> None:
    """Compare the means of a wide or a long file."""
    from fastcmp.items.compare_means import pair_options
    from fastcmp.items.mean_data import MeanOptions

    is_wide = options.long is None
    if options.stratum_weights is not None and options.strata is None:
        raise ValueError("--stratum-weights needs --strata")
    delattr(options, "long" if is_wide else "values")  # errors do not speak of it
    check_places(options, keep)
    limit = memory_of(options)
    names = ("lower_is_better", "adjust", "alpha", "simultaneous", "workers", "control")
    arguments = passed(options, *names)
    tests = passed(options, "method", *_OPTIONS[:-1], rng="seed")
    # What the options do not permit is refused before hours of reading.
    spec = MeanOptions(**tests, missing=options.missing)
    pair_options(spec, options.seed, **passed(options, "adjust", "alpha", "simultaneous"))
    spec.check_items(options.groups, options.strata, options.weights)
    if options.slices is not None:
        spec.refuse_slices(strata=options.strata, weights=options.weights)
    arguments |= engine_options(options, keep)
    if is_wide:
        result = _compare_wide(options, arguments, tests, limit)
    else:
        result = _compare_long(options, arguments | tests, limit)
    write(result, options)


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
        raise too_large(f"{why} needs all values at once, which would take", size, limit)
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
    from fastcmp.io.predictions import long_size
    from fastcmp.items.compare_means import compare_means

    if (size := long_size(options.long)) > limit:
        why = "a long file is read as a whole, which would take"
        raise too_large(why, size, limit, ", or a wide file (--values)")
    columns = {name: getattr(options, name) or usual for name, usual in _LONG.items()}
    columns |= {name: getattr(options, name) for name in _ITEMS if name != "slices"}
    table = table_of(options, columns)
    if table.strata is not None:
        arguments["stratum_weights"] = stratum_weights(options, table.strata)
    return compare_means(table, **arguments, missing=options.missing)


def table_of(options: argparse.Namespace, columns: dict[str, Any]) -> ItemTable:
    """What --long holds of the models that are asked for, in columns by their options."""
    from fastcmp.inputs.long_tables import from_long
    from fastcmp.io.chosen import no_column
    from fastcmp.io.predictions import read_long

    by_option = {f"--{name}": column for name, column in columns.items()}
    labels = [option for option in by_option if option not in ("--value", "--weights")]
    frame = read_long(options.long, by_option, labels)
    names = {"groups": "group", "strata": "stratum", "weights": "weight"}
    try:
        table = from_long(frame, **{names.get(name, name): x for name, x in columns.items()})
    except ArgumentError as error:
        demand = error.args[0].removeprefix("`frame`").lstrip(": ")
        raise error.but(demand=f"{options.long}: {demand}") from None
    if options.models is None:
        return table
    for name in options.models:
        if name not in table.names:
            long = str(options.long)
            raise ValueError(no_column(name, table.names, long, "--models", "model"))
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
