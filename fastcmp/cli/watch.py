"""The command `watch`: follow a growing file, and say when it is decided."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fastcmp.cli.options import Command, Option, passed
from fastcmp.cli.output import check_places
from fastcmp.cli.pages import fingerprint, write_page
from fastcmp.core.errors import ArgumentError
from fastcmp.core.render import visible
from fastcmp.core.saved_states import check_place

if TYPE_CHECKING:
    from fastcmp.sequential.pair_looks import PairLooks, PairLooksResult
    from fastcmp.stream import PairCounts

_OPEN = 1
_MEMORY = 4_000_000_000


def _watch(options: argparse.Namespace) -> int:
    from fastcmp.io.text import GrowingFile

    for name in ("every", "for_"):
        seconds = getattr(options, name)
        if seconds is not None and not 0.0 < seconds < float("inf"):
            raise ValueError(f"--{name.strip('_')} must be a number of seconds, got {seconds}")
    options.files = [options.file]
    check_places(options)
    looks = _begin(options)
    growing = GrowingFile(options.file)
    stop = None if options.for_ is None else time.monotonic() + options.for_
    while True:
        if growing.grown():
            with growing.rows() as path:
                counts = _count(path, options) if path.stat().st_size else None
                data = [fingerprint(path, options.file)] if options.report else []
            if counts is not None:
                result = looks.look(counts)
                if options.state is not None:
                    looks.save(options.state)
                decided = _say(result, options)
                write_page({"": result}, options, data)
                if decided:
                    return 0
        if options.once:
            break
        left = options.every
        if stop is not None:
            left = min(left, stop - time.monotonic())
            if left <= 0:
                break
        time.sleep(left)
    print(f"not decided after {looks.n_samples:,} samples")
    return _OPEN


def _begin(options: argparse.Namespace) -> PairLooks:
    """Begin, or go on from a saved state."""
    from fastcmp.sequential import PairLooks
    from fastcmp.stream import load

    fresh = PairLooks(adjust=options.adjust, alpha=options.alpha)
    if options.state is None:
        return fresh
    check_place(options.state)
    if not options.state.exists():
        return fresh
    looks = load(options.state)
    if not isinstance(looks, PairLooks):
        raise TypeError(
            f"--state {options.state} holds {type(looks).__name__}, not the looks of "
            "`fastcmp watch`"
        )
    for name in ("adjust", "alpha"):
        was, value = getattr(looks, name), getattr(fresh, name)
        if was != value:
            raise ValueError(f"--state {options.state} was begun with --{name} {was}, not {value}")
    return looks


def _count(path: Path, options: argparse.Namespace) -> PairCounts | None:
    """Count all rows so far; None where they are fewer than two."""
    from fastcmp.inputs.labels import TooFewError
    from fastcmp.io.counting import count_files
    from fastcmp.io.formats import NoRowsError
    from fastcmp.io.stream import PredictionStream
    from fastcmp.stream import PairCounts

    arguments = passed(options, "target", "models", "drop")
    try:
        rows = PredictionStream([path], **arguments)
        counts = PairCounts(rows.names, missing=options.missing)
        count_files(rows, counts, memory_limit=_MEMORY)
    except (NoRowsError, TooFewError):
        return None
    except ArgumentError:
        raise
    except ValueError as error:
        raise type(error)(str(error).replace(str(path), str(options.file))) from None
    return counts


def _say(result: PairLooksResult, options: argparse.Namespace) -> bool:
    """Print what a look found; tell whether it is decided."""
    n = f"{result.n_samples:,} samples"
    best = result.best

    def say(text: str) -> None:
        print(visible(text), flush=True)

    if len(result.names) == 2:
        pair = result.pair(0, 1)
        low, high = (100 * end for end in pair.confidence_interval(1 - options.alpha))
        first, second = result.names
        say(
            f"{n}: {first} minus {second} {100 * pair.difference:+.2f} percentage "
            f"points [{low:+.2f}, {high:+.2f}], E = {pair.evalue:.4g}, "
            f"p = {result.pvalue[0]:.4g}"
        )
        done = result.n_significant == 1
        if done:
            say(f"decided after {n}: {best[0]} is better")
        return done
    best_names = ", ".join(best[:5]) + (f" and {len(best) - 5} more" * (len(best) > 5))
    n_pairs = result.pvalue.size
    say(f"{n}: {result.n_significant} of {n_pairs} pairs decided; best: {best_names}")
    done = len(best) == 1
    if options.until == "all":
        done = result.n_significant == n_pairs
    if done:
        say(f"decided after {n}: {best[0]} is the best")
        if sys.stdout.isatty():
            print(result)
    return done


WATCH = Command(
    *("watch", _watch, "follow a growing file of predictions, and say when it is decided"),
    "Follow a file of predictions that grows (.csv, .tsv, .jsonl). Each time there are new rows "
    "all are counted, and the models compared by tests that stay valid however often one looks.",
    (
        Option("file", "FILE", "the file; a column a model"),
        *("target", "models", "drop", "missing", "alpha", "report"),
        Option(
            *("adjust", "", "e-holm: no false decision at any look; e-bh: few false ones (e-holm)"),
            "e-holm",
        ),
        Option(
            *("until", "best|all"),
            "decided when one model is the best, or all pairs are (best)",
            "best",
        ),
        Option("every", "SECONDS:float", "when to look (5)", 5.0),
        Option("for", "SECONDS:float", "when to stop", dest="for_"),
        Option("once", "flag", "look once, and stop"),
        Option(*("state", "FILE", "where to keep what earlier looks found, and to go on from")),
    ),
    epilog="Exit code: 0 decided, 1 not decided when it stopped, 64 bad input (also a "
    "missing file), 70 an error of the program.",
    fixed={"id": None, "files": [], "output": None, "format": None},
)
