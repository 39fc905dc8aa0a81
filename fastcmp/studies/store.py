"""Replicates of a study: run in parts, kept on disk, gone on with after a stop.

A replicate is a pure function of the seed and its number, so neither the parts, nor
the workers, nor a stop in between change any result.
"""

from __future__ import annotations

import json
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.crew import check_workers, parts
from fastcmp.progress import Progress, reporting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    #: From the first replicate of a part, and the one after its last, to their rows.
    Work = Callable[[int, int], NDArray[np.float64]]


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
            Rows, shape (n, width), and which of them are there, shape (n,).

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to a study with other settings.
        """
        rows, done = np.full((n, width), np.nan), np.zeros(n, bool)
        if not self.path.exists():
            return rows, done
        try:
            with np.load(self.path, allow_pickle=False) as saved:
                settings = json.loads(str(saved["settings"]))
                old_rows, old_done = saved["rows"], saved["done"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            message = (
                f"{self.path} is no partial result of a study, or is damaged "
                f"({error}): delete it to start anew"
            )
            raise ValueError(message) from None
        for name, value in json.loads(self._settings()).items():
            if settings.get(name) != value:
                message = (
                    f"{self.path} holds a study with {name} = {settings.get(name)!r}, "
                    f"asked for was {value!r}: delete it, or write elsewhere"
                )
                raise ValueError(message)
        both = min(n, len(old_done))
        rows[:both], done[:both] = old_rows[:both], old_done[:both]
        return rows, done

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
    """
    rows, done = np.full((n, width), np.nan), np.zeros(n, bool)
    if store is not None:
        rows, done = store.load(n, width)
    open_parts = [each for each in parts(n, part) if not done[each].all()]
    with (
        reporting(progress, "replicates") as report,
        _workers(check_workers(workers), threads=threads) as run,
    ):
        report(int(done.sum()), n)
        for each, answer in run(work, open_parts):
            rows[each], done[each] = answer, True
            if store is not None:
                store.save(rows, done)
            report(int(done.sum()), n)
    return rows


@contextmanager
def _workers(count: int, *, threads: bool) -> Iterator[Any]:
    """Give a way to run parts of the work: here, on threads, or in processes."""
    if count == 1:
        yield _run_here
        return
    import joblib

    backend = "threading" if threads else "loky"
    with joblib.Parallel(
        n_jobs=count, backend=backend, return_as="generator_unordered"
    ) as pool:
        yield lambda work, tasks: pool(
            joblib.delayed(_run_part)(work, each) for each in tasks
        )


def _run_part(work: Work, each: slice) -> tuple[slice, NDArray[np.float64]]:
    return each, work(each.start, each.stop)


def _run_here(
    work: Work, tasks: list[slice]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    for each in tasks:
        yield _run_part(work, each)
