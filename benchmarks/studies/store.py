"""Replicates of a study: run in parts, saved on disk, resumed after a stop.

A replicate is a pure function of the seed and its number, so neither the parts, nor
the workers, nor a stop in between change any result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.threads import Progress, ThreadPool, check_workers, parts, reporting

#: From the first replicate of a part, and the one after its last, to their rows.
Work = Callable[[int, int], NDArray[np.float64]]

#: Seconds between two writes of all rows: with many rows, a write takes longer than a
#: part.
_PAUSE = 2.0
_KIND = FileKind(
    "Study", "a file of partial results of a study", "delete it to start anew, or write elsewhere"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Where the rows of a study are kept between runs."""

    path: Path
    #: All that a row depends on, except its number.
    settings: dict[str, Any]

    def load(self, n: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Read the rows of earlier runs, and which of at least `n` are done.

        Raises ValueError for a file that is damaged, or of a study with other settings.
        """
        if not self.path.exists():
            return np.full((n, width), np.nan), np.zeros(n, bool)
        _, settings, arrays = read_state(self.path, _KIND)
        if problem := self._problem(settings, arrays, width):
            raise ValueError(f"{self.path} holds {problem}; {_KIND.advice}")
        n_old = arrays["done"].size
        size = max(n, n_old)
        rows, done = np.full((size, width), np.nan), np.zeros(size, bool)
        rows[:n_old], done[:n_old] = arrays["rows"], arrays["done"]
        return rows, done

    def _problem(self, settings: Any, arrays: Any, width: int) -> str | None:
        """Say in which way a file is not of this study."""
        if not isinstance(settings, dict) or {*arrays} != {"rows", "done"}:
            return "no settings and rows"
        for name in sorted(self.settings | settings):
            old, wanted = settings.get(name), self.settings.get(name)
            if old != wanted:
                return f"a study with {name} = {old!r}, asked for was {wanted!r}"
        rows, done = arrays["rows"], arrays["done"]
        if (rows.dtype, done.dtype, done.ndim) != (np.float64, np.bool_, 1):
            return f"rows of {rows.dtype}, wanted were float64"
        if rows.shape != (done.size, width):
            return f"rows of shape {rows.shape}, asked for were {width} numbers a row"
        return None

    def save(self, rows: NDArray[np.float64], done: NDArray[np.bool_]) -> None:
        """Write all rows; a stop meanwhile leaves the file as it was."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_state(self.path, "Study", self.settings, {"rows": rows, "done": done})


def run_replicates(
    work: Work,
    n: int,
    width: int,
    *,
    part: int,
    store: Store | None = None,
    workers: int | None = None,
    threads: bool = False,
    progress: bool | Progress | None = None,
) -> NDArray[np.float64]:
    """Run all replicates that are not done yet, and give the rows of all.

    `work` gives the rows of a part; `part` replicates are run, and saved, together.
    With `threads`, for work that holds no lock, no processes are started. The answer is
    the same for any `part` and any number of workers. Raises OSError before any work
    where the store cannot be written.
    """
    rows, done = np.full((n, width), np.nan), np.zeros(n, bool)
    if store is not None:
        rows, done = store.load(n, width)
    tasks = _missing(done[:n], part)
    if not tasks:
        return rows[:n]
    keep = _keeper(store, rows, done)
    keep(at_once=True)
    with (
        reporting(progress, "replicates") as report,
        _workers(check_workers(workers), threads=threads) as run,
    ):
        report(int(done[:n].sum()), n)
        try:
            for each, answer in run(work, tasks):
                rows[each], done[each] = answer, True
                keep(at_once=False)
                report(int(done[:n].sum()), n)
        finally:
            keep(at_once=True)
    return rows[:n]


def _missing(done: NDArray[np.bool_], part: int) -> list[slice]:
    """Cut the replicates that are not done into parts."""
    missing = np.flatnonzero(~done)
    stretches = np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1)
    return [
        slice(int(stretch[each][0]), int(stretch[each][-1]) + 1)
        for stretch in stretches
        for each in parts(len(stretch), part)
    ]


def _keeper(
    store: Store | None, rows: NDArray[np.float64], done: NDArray[np.bool_]
) -> Callable[..., None]:
    """Make a function that writes the rows, at once or every few seconds."""
    last = time.monotonic()

    def keep(*, at_once: bool) -> None:
        nonlocal last
        if store is not None and (at_once or time.monotonic() - last > _PAUSE):
            store.save(rows, done)
            last = time.monotonic()

    return keep


@contextmanager
def _workers(count: int, *, threads: bool) -> Iterator[Any]:
    """A function that runs parts of the work on threads or in processes."""
    if threads or count == 1:
        with ThreadPool(count) as pool:
            yield lambda work, tasks: pool.answers(partial(_run_part, work), tasks)
        return
    try:
        import joblib
    except ImportError:
        raise ImportError(
            f"{count} processes need joblib: pip install 'fastcmp[cv]', or take 1"
        ) from None
    with joblib.Parallel(n_jobs=count, return_as="generator_unordered") as pool:
        yield lambda work, tasks: pool(joblib.delayed(_with_task)(work, each) for each in tasks)


def _run_part(work: Work, each: slice) -> NDArray[np.float64]:
    return work(each.start, each.stop)


def _with_task(work: Work, each: slice) -> tuple[slice, NDArray[np.float64]]:
    return each, _run_part(work, each)
