"""`fastcmp compare --sums`: metrics of sums over items, of a long table or of logs."""

from __future__ import annotations

import argparse
from pathlib import Path

from fastcmp.cli.fits import refuse
from fastcmp.cli.logs import read_metrics
from fastcmp.cli.options import passed
from fastcmp.cli.output import check_places, write
from fastcmp.core.errors import ArgumentError

_OF_ITEMS = ("groups", "strata", "weights", "slices")
_SHARED = ("method", "adjust", "alpha", "simultaneous", "control", "workers", "n_resamples",
           "lower_is_better")  # fmt: skip


def compare_by_sums(options: argparse.Namespace, keep: str | int | Path) -> None:
    """Compare models by a metric of sums."""
    from fastcmp.estimates.sum_metrics import read_metric
    from fastcmp.estimates.sums import compare_sums

    if keep != "all":
        raise ValueError("--keep does not go with --sums: all pairs are kept")
    check_places(options)
    metric, _, text = options.sums.partition(":")
    columns = [name.strip() for name in text.split(",")] if text else None
    try:
        named = read_metric(metric, None, None).named
    except ArgumentError as error:
        raise error.but(demand="`sums` must be one of") from None
    if columns is None and isinstance(named, str):
        columns = named.split()
    arguments = passed(options, *_SHARED, rng="seed")
    files = options.files if options.long is None else [options.long, *options.files]
    if not files:
        raise ValueError("--sums needs a long table, or a file or folder of logs")
    model = options.model or "model"
    if options.long is None and not _is_table(files, model, columns):
        refuse(options, "sums of logs")
        if columns is None:
            raise ValueError(
                f"--sums {metric} of logs needs the names of their metrics: {metric}:NAME,NAME"
            )
        stats = read_metrics(options, columns)
    else:
        from fastcmp.io.sources import read_table

        refuse(options, "sums of a table")
        if len(files) > 1:
            raise ValueError(f"--sums reads one long table, got {files[1]} as well")
        arguments |= {"item": options.item or "item", "model": model}
        arguments |= {name: getattr(options, name) for name in _OF_ITEMS}
        labels = [arguments[name] for name in ("item", "model", "groups", "strata", "slices")]
        stats = read_table(files[0], labels=labels)
    try:
        write(compare_sums(stats, metric=metric, columns=columns, **arguments), options)
    except ArgumentError as error:
        remedy = error.args[2].replace("`columns=[...]`", f"--sums {metric}:COL,...")
        raise error.renamed("stats", files[0], remedy=remedy) from None


def _is_table(files: list[Path], model: str, columns: list[str] | None) -> bool:
    """Whether one file has a column of models, and some of the sums."""
    from fastcmp.io.sources import Source

    try:
        types = Source(files[0]).types if len(files) == 1 and files[0].is_file() else {}
    except (ValueError, OSError, NotImplementedError):
        return False  # no table
    return model in types and (columns is None or any(name in types for name in columns))
