"""`fastcmp compare` for battles: strengths by Bradley and Terry's model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.cli.log_options import OF_LABELS, OF_LOGS, refuse_given
from fastcmp.cli.output import check_places, say, write
from fastcmp.core.memory import read_size

if TYPE_CHECKING:
    import argparse

_NOT = ("over", "omnibus", "metric", "weights", "strata", "method", "models", "item",
        "model", "value", "repeat", "variance", "df", "interval", "average", "repeats",
        "k", "lower_is_better", "stratum_weights", "groups")  # fmt: skip


def compare_battles(options: argparse.Namespace) -> None:
    """Rank the models of files of battles."""
    from fastcmp.datasets import bradley_terry_from_battles

    others = [name for name in OF_LOGS if name != "log_format"]
    refuse_given(options, (*OF_LABELS, *others, *_NOT), "does not go with battles")
    if options.simultaneous or options.keep != "all" or options.missing != "raise":
        raise ValueError("--simultaneous, --keep and --missing do not go with battles")
    check_places(options)
    limit = read_size(options.memory_limit or "4GB", "--memory-limit")
    chosen: dict[str, Any] = {
        "ties_as": options.ties,
        "ridge": options.ridge,
        "adjust": options.adjust,
        "alpha": options.alpha,
        "control": options.control,
        "n_resamples": options.n_resamples,
        "rng": options.seed,
        "workers": options.workers,
        "progress": sys.stderr.isatty(),
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    battles = _read(options, limit)
    if len(set(battles["item"].tolist())) < 2:
        say(["battles have no items of their own, and are taken as independent"])
        chosen["group"] = None
    write(bradley_terry_from_battles(battles, **chosen), options)


def _read(options: argparse.Namespace, limit: int) -> dict[str, Any]:
    """Read all files, one after the other."""
    from fastcmp.io.logs.battles import FORMAT, read_battles
    from fastcmp.io.logs.walk import find_files

    files = [file for file in find_files(options.files).files if FORMAT.holds(file)]
    tables = [read_battles(file.path, memory_limit=limit) for file in files]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
