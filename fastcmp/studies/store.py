"""Replicates of a study: run in parts, kept on disk, gone on with after a stop.

A replicate is a pure function of the seed and its number, so neither the parts, nor
the workers, nor a stop in between change any result.
"""

from __future__ import annotations

import json
import time
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.progress import Progress, reporting
from fastcmp.core.threads import ThreadPool, check_workers, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    #: From the first replicate of a part, and the one after its last, to their rows.
    Work = Callable[[int, int], NDArray[np.float64]]

#: Seconds between two writes of all rows: after each part, they would take longer than
#: the work where there are many.
_PAUSE = 2.0
#: What reading a file can raise that holds something else, or not all of it.
_DAMAGED = (
    AttributeError,
    EOFError,
    KeyError,
    OSError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Where the rows of a study are kept between runs."""

    path: Path
    #: All that a row depends on, but for its number.
    settings: dict[str, Any]

    def load(self, n: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Read what earlier runs have left.

        Parameters
        ----------
        n : int
            How many replicates are wanted.
        width : int
            Numbers in a row.

        Returns
        -------
        tuple of ndarray
            Rows, shape (N, width), and which of them are there, shape (N,); N is n, or
            more if the file has more.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to a study with other settings.
        """
        if not self.path.exists():
            return np.full((n, width), np.nan), np.zeros(n, bool)
        settings, old_rows, old_done = self._read()
        wanted = json.loads(self._settings())
        for name in sorted(wanted | settings):
            if settings.get(name) != wanted.get(name):
                message = (
                    f"{self.path} holds a study with {name} = {settings.get(name)!r}, "
                    f"asked for was {wanted.get(name)!r}: delete it, or write elsewhere"
                )
                raise ValueError(message)
        if old_rows.shape != (old_done.size, width):
            message = (
                f"{self.path} holds rows of shape {old_rows.shape}, asked for were "
                f"{width} numbers a row: delete it, or write elsewhere"
            )
            raise ValueError(message)
        size = max(n, old_done.size)
        rows, done = np.full((size, width), np.nan), np.zeros(size, bool)
        rows[: old_done.size], done[: old_done.size] = old_rows, old_done
        return rows, done

    def _read(self) -> tuple[dict[str, Any], NDArray[Any], NDArray[np.bool_]]:
        """Read the file, whatever it holds."""
        try:
            # Opened here: of a damaged file NumPy forgets to close what it opened.
            with self.path.open("rb") as file, np.load(file) as saved:
                settings = dict(json.loads(str(saved["settings"])))
                return settings, saved["rows"], saved["done"].astype(bool)
        except _DAMAGED as error:
            message = (
                f"{self.path} is no partial result of a study, or is damaged "
                f"({error}): delete it to start anew"
            )
            raise ValueError(message) from None

    def save(self, rows: NDArray[np.float64], done: NDArray[np.bool_]) -> None:
        """Write all rows; whoever stops this leaves the last state behind.

        Parameters
        ----------
        rows : ndarray of float64, shape (n, width)
            What is known.
        done : ndarray of bool, shape (n,)
            Which rows are.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".tmp")
        with fresh.open("wb") as file:
            np.savez_compressed(
                file, rows=rows, done=done, settings=np.array(self._settings())
            )
        fresh.replace(self.path)

    def _settings(self) -> str:
        return json.dumps(self.settings, sort_keys=True)


def run_replicates(  # noqa: PLR0913  # options, all by keyword
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
    """Run all replicates that are not there yet.

    Parameters
    ----------
    work : callable
        From two numbers, first replicate and the one after the last, to their rows,
        shape (last - first, width).
    n : int
        How many replicates.
    width : int
        Numbers in a row.
    part : int
        Replicates that are run, and saved, together.
    store : Store, optional
        Where to look for earlier rows, and to keep these.
    workers : int, optional
        Processes or threads; by default as many as there are processors.
    threads : bool
        Whether threads will do: for work that holds no lock.
    progress : bool or callable, optional
        True draws a bar; a function is called with the replicates done and all.

    Returns
    -------
    ndarray of float64, shape (n, width)
        The same for any `part` and any number of workers.

    Raises
    ------
    ValueError
        If the store belongs to another study.
    OSError
        If it cannot be written; this is found out before any work.
    ImportError
        If there are several processes and joblib is missing.
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
    """Cut what is not done into parts."""
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
    """Give a function that writes the rows, at once or not too often."""
    last = time.monotonic()

    def keep(*, at_once: bool) -> None:
        nonlocal last
        if store is not None and (at_once or time.monotonic() - last > _PAUSE):
            store.save(rows, done)
            last = time.monotonic()

    return keep


@contextmanager
def _workers(count: int, *, threads: bool) -> Iterator[Any]:
    """Give a way to run parts of the work: here, on threads, or in processes."""
    if threads or count == 1:
        with ThreadPool(count) as pool:
            yield lambda work, tasks: pool.answers(partial(_run_part, work), tasks)
        return
    try:
        import joblib
    except ImportError:
        message = f"{count} processes need joblib: pip install 'fastcmp[cv]', or take 1"
        raise ImportError(message) from None
    with joblib.Parallel(n_jobs=count, return_as="generator_unordered") as pool:
        yield lambda work, tasks: pool(
            joblib.delayed(_with_task)(work, each) for each in tasks
        )


def _run_part(work: Work, each: slice) -> NDArray[np.float64]:
    return work(each.start, each.stop)


def _with_task(work: Work, each: slice) -> tuple[slice, NDArray[np.float64]]:
    return each, _run_part(work, each)
