"""How `fastcmp compare` reads its files: counted block by block, or read whole."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.cli.options import columns_of, too_large
from fastcmp.cli.output import chosen_files, say
from fastcmp.core.threads import in_words
from fastcmp.counts.pairs import choose_pairs
from fastcmp.data import example_path
from fastcmp.inputs.cost_matrix import CostMatrix
from fastcmp.pairwise.compare_all import check_counted
from fastcmp.pairwise.cost_tests import LEVELS
from fastcmp.stream import LabelCounts, PairCounts
from fastcmp.stream.class_counts import is_dense

if TYPE_CHECKING:
    from fastcmp.io.counting import Checkpoint
    from fastcmp.io.stream import PredictionStream

_COPIES = 4  # all tables, those of some blocks, their sum, and the blocks themselves


class Counted(NamedTuple):
    """What was counted."""

    #: None where the files are to be read as a whole.
    counts: Any
    #: To be removed when the answer is written.
    checkpoint: Checkpoint | None
    #: Predictions of each model that are not labels of the truth; empty where unknown.
    n_outside: tuple[int, ...] = ()


def count_predictions(
    options: argparse.Namespace, matrix: CostMatrix | None, memory_limit: int
) -> Counted:
    """Count the files of a command block by block, where that is possible."""
    predictions = opened(options)
    n_files = len(chosen_files(options, example_path))
    size = predictions.size_in_memory()
    if options.missing == "common":
        if size > memory_limit:
            raise too_large("--missing common reads the files as a whole,", size, memory_limit)
        return _whole(options, "--missing common reads the files as a whole")
    if n_files > 1 and size <= memory_limit:
        return _whole(options, "files that fit into --memory-limit are joined there")
    if options.metric is not None:
        if size <= memory_limit and options.checkpoint is None:
            return Counted(None, None)
        check_counted(options.missing)
    if why := _uncountable(predictions.names, matrix, memory_limit):
        if size > memory_limit:
            why, instead = f"{why}, and reading the files as a whole", ", or compare fewer models"
            raise too_large(why, size, memory_limit, f"{instead} (--models)")
        return _whole(options, f"{why}, so the files are read as a whole")
    checkpoint = _checkpoint(options, predictions, matrix)
    counts = _empty(options, predictions, matrix)
    counts, n_outside = counted(options, predictions, counts, memory_limit, matrix, checkpoint)
    return Counted(counts, checkpoint, n_outside)


def opened(options: argparse.Namespace, **more: Any) -> PredictionStream:
    """The files of a command, to be counted."""
    from fastcmp.io.stream import PredictionStream

    files = chosen_files(options, example_path)
    save_memory()
    predictions = PredictionStream(files, **columns_of(options), names=options.names, **more)
    choose_pairs(predictions.names, None, options.control)
    return predictions


def counted(
    options: argparse.Namespace,
    predictions: PredictionStream,
    counts: Any,
    memory_limit: int,
    matrix: CostMatrix | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Any, tuple[int, ...]]:
    """The counts of all files, and predictions that are no labels of the truth; says remarks."""
    from fastcmp.io.counting import count_files

    counts = count_files(
        predictions,
        counts,
        memory_limit=memory_limit,
        matrix=matrix,
        checkpoint=checkpoint,
        workers=options.workers,
        progress=sys.stderr.isatty(),
    )
    say(predictions.plan.remarks)
    if matrix is not None:  # the costs name the classes
        return counts, ()
    n_outside, warning = predictions.labels.finish()
    say((warning,) if warning else (), "warning: ")
    return counts, n_outside


def save_memory() -> None:
    """Let Arrow return freed memory at once: its own pool keeps 20 MB to 100 MB."""
    import pyarrow as pa

    if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ:
        pa.set_memory_pool(pa.system_memory_pool())


def _whole(options: argparse.Namespace, why: str) -> Counted:
    """Answer that files are to be read as a whole; say so if --checkpoint is lost."""
    if options.checkpoint is not None:
        say([f"--checkpoint is not used: {why}"])
    return Counted(None, None)


def _uncountable(names: tuple[str, ...], matrix: CostMatrix | None, memory_limit: int) -> str:
    """Why costs cannot be computed from counts; an empty text where they can."""
    if matrix is None:
        return ""
    k, n_pairs = len(matrix.values), len(names) * (len(names) - 1) // 2
    if (n_costs := np.unique(matrix.values).size) > LEVELS:
        return f"there are {n_costs} different costs, too many to count"
    size = _COPIES * 8 * n_pairs * k**3
    if size > memory_limit or not is_dense((n_pairs, k, k, k)):
        return f"counting {n_pairs} pairs by {k} classes takes {in_words(size)}"
    return ""


def _empty(
    options: argparse.Namespace, predictions: PredictionStream, matrix: CostMatrix | None
) -> PairCounts | LabelCounts:
    if options.metric is not None:
        return LabelCounts(predictions.names)
    if matrix is None:
        return PairCounts(predictions.names, missing=options.missing)
    return LabelCounts(predictions.names, classes=matrix.classes)


def _checkpoint(
    options: argparse.Namespace, predictions: PredictionStream, matrix: CostMatrix | None
) -> Checkpoint | None:
    from fastcmp.io.counting import Checkpoint

    if options.checkpoint is None:
        return None
    test = options.test if options.metric is None else "metric"
    inputs: dict[str, Any] = {"test": test} | predictions.inputs()
    if matrix is None:
        inputs["missing"] = options.missing
    else:
        inputs["classes"] = list(matrix.classes or ())
    return Checkpoint(options.checkpoint, inputs)
