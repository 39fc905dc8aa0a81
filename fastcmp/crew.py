"""Threads that share the work of one call. No other module starts any."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from numbers import Integral
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fastcmp.progress import Progress


def check_workers(workers: int | None) -> int:
    """Choose how many threads to use.

    Parameters
    ----------
    workers : int or None
        What the user passed; None for as many as there are processors.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If it is less than 1.
    TypeError
        If it is no whole number.
    """
    if workers is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, Integral):
        message = f"workers must be a whole number, got {workers!r}"
        raise TypeError(message)
    if workers < 1:
        message = f"workers must be at least 1, got {workers}"
        raise ValueError(message)
    return int(workers)


def parts(n: int, size: int) -> list[slice]:
    """Cut a range into parts.

    Parameters
    ----------
    n, size : int
        Its length, and that of a part at most.

    Returns
    -------
    list of slice
        In order.
    """
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


class Crew:
    """Threads that work through tasks; the first error ends the work.

    Parameters
    ----------
    threads : int
        How many; with 1 the tasks are done in the calling thread.
    report : callable, optional
        Called with the tasks done and all tasks.
    """

    def __init__(self, threads: int, report: Progress | None = None) -> None:
        self.threads = threads
        self._report = report
        self._n_tasks = 0
        self._done = 0
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def expect(self, n_tasks: int) -> None:
        """Announce tasks before they are run, for the report.

        Parameters
        ----------
        n_tasks : int
            How many.
        """
        self._n_tasks += n_tasks

    def run(self, work: Callable[..., None], tasks: Iterable[Any]) -> None:
        """Do all tasks, in any order.

        Parameters
        ----------
        work : callable
            Called with one task, from any thread.
        tasks : iterable
            What there is to do.
        """
        for _ in self.answers(work, tasks):
            pass

    def answers(
        self, work: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Do all tasks, and hand over what each gives as soon as it is done.

        Parameters
        ----------
        work : callable
            Called with one task, from any thread.
        tasks : iterable
            What there is to do.

        Yields
        ------
        tuple
            A task and its answer, in any order.
        """
        if self._pool is None:
            for task in tasks:
                answer = work(task)
                self._count_one()
                yield task, answer
            return
        futures = {self._pool.submit(work, task): task for task in tasks}
        for future in as_completed(futures):
            answer = future.result()
            self._count_one()
            yield futures[future], answer

    def _count_one(self) -> None:
        self._done += 1
        if self._report is not None:
            self._report(self._done, self._n_tasks)
