"""Threads that share the work of one call. No other module starts any."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from numbers import Integral
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

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


def new_lock() -> AbstractContextManager[object]:
    """Make a lock that one thread holds at a time, as often as it likes.

    Returns
    -------
    context manager
        Held within a ``with`` statement.
    """
    return threading.RLock()


def _one(_: object) -> int:
    return 1


def no_step(_: object) -> int:
    """Count a task as none, which its report does not speak of.

    Parameters
    ----------
    _ : object
        The task.

    Returns
    -------
    int
        Zero.
    """
    return 0


class Crew:
    """Threads that work through tasks; the first error ends the work.

    Parameters
    ----------
    threads : int
        How many; with 1 the tasks are done in the calling thread.
    report : callable, optional
        Called with the steps done and all steps; a task is one step as a rule.
    """

    def __init__(self, threads: int, report: Progress | None = None) -> None:
        self.threads = threads
        self._report = report
        self._n_steps = 0
        self._done = 0
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def expect(self, steps: int) -> None:
        """Announce steps before they are done, for the report.

        Parameters
        ----------
        steps : int
            How many; a task is one if `run` is not told otherwise.
        """
        self._n_steps += steps

    def run(
        self,
        work: Callable[..., None],
        tasks: Iterable[Any],
        steps: Callable[[Any], int] = _one,
        *,
        here: bool = False,
    ) -> None:
        """Do all tasks, in any order.

        Parameters
        ----------
        work : callable
            Called with one task, from any thread.
        tasks : iterable
            What there is to do.
        steps : callable, optional
            How much a task counts in the report, if not 1.
        here : bool
            Whether the calling thread is to do them all: handing over a task costs some
            50 us, more than it gains where all take milliseconds.
        """
        for task, _ in self._answers(work, tasks, here=here):
            self._count(steps(task))

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
        for task, answer in self._answers(work, tasks):
            self._count(1)
            yield task, answer

    def _answers(
        self, work: Callable[[Any], Any], tasks: Iterable[Any], *, here: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        if self._pool is None or here:
            for task in tasks:
                yield task, work(task)
            return
        futures = {self._pool.submit(work, task): task for task in tasks}
        for future in as_completed(futures):
            # Popped, so that answers do not pile up.
            yield futures.pop(future), future.result()

    def _count(self, steps: int) -> None:
        self._done += steps
        if self._report is not None and steps:
            self._report(self._done, self._n_steps)
