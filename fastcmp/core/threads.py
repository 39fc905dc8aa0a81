"""Threads that share the work of one call; no other module starts threads."""

from __future__ import annotations

import os
from _thread import get_ident, start_new_thread
from contextlib import suppress
from ctypes import c_ulong, py_object, pythonapi
from numbers import Integral
from queue import SimpleQueue
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from fastcmp.core.progress import Progress


def check_workers(workers: int | None) -> int:
    """Choose the number of threads: as many as there are processors for None."""
    if workers is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, Integral):
        raise TypeError(f"workers must be a whole number, got {workers!r}")
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    return int(workers)


def parts(n: int, size: int) -> list[slice]:
    """Cut ``range(n)`` into slices of at most `size`."""
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def new_lock() -> AbstractContextManager[object]:
    """Make a lock that a thread can take again while it holds it."""
    return RLock()


def _one(_: object) -> int:
    return 1


def no_step(_: object) -> int:
    """Count a task as no step of the progress."""
    return 0


def _work(tasks: SimpleQueue[Any], ended: list[object], busy: set[int], _: object) -> None:
    """Do tasks until the pool ends; the last argument lives as long as the thread."""
    with suppress(SystemExit):  # it was stopped
        while not ended and _do(tasks.get(), busy):
            pass
    tasks.put(None)  # no other thread waits for a task


def _do(order: Any, busy: set[int]) -> bool:
    if not isinstance(order, tuple):
        return False
    work, task, answers = order
    try:
        busy.add(get_ident())
        answer = work(task)
        busy.discard(get_ident())
        answers.put((task, answer, None))
    except BaseException as error:  # noqa: BLE001  # raised in the calling thread
        busy.discard(get_ident())
        answers.put((task, None, error))
    return True


class ThreadPool:
    """Threads that work through tasks; the first error ends the work.

    With one thread the tasks are done in the calling thread. `report` is called with
    the steps done and all steps.

    The calling thread may be interrupted at any moment. It therefore takes no lock of
    `threading` or `concurrent.futures`: they are partly Python code, which an interrupt
    can leave locked. If not even `__exit__` is reached, the threads end when the pool
    is freed.

    A pool that is `stoppable` does not wait for long tasks when it is left by an error or
    an interrupt: the next line of Python in them raises SystemExit.
    """

    def __init__(
        self, threads: int, report: Progress | None = None, *, stoppable: bool = False
    ) -> None:
        self.threads = threads
        self._stoppable = stoppable
        self._busy: set[int] = set()
        self._report = report
        self._n_steps = 0
        self._done = 0
        self._started: list[Thread] = []
        self._starts: SimpleQueue[None] = SimpleQueue()
        self._n_starts = 0
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._ended: list[object] = []  # holds something at the end
        # Functions written in C: none that an interrupt could keep from being called.
        self._on_loss = (ref(self, self._ended.append), ref(self, self._tasks.put))

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.append(None)
        for _ in range(len(self._started) + 1):  # a thread that is stopped puts none
            self._tasks.put(None)
        if not self._started:
            return
        if self._stoppable and exc[0] is not None:
            for ident in list(self._busy):
                pythonapi.PyThreadState_SetAsyncExc(c_ulong(ident), py_object(SystemExit))
        try:
            for _ in range(self._n_starts):
                self._starts.get()
            self._join()
        except BaseException:  # an interrupt leaves no thread behind
            self._join()
            raise
        finally:
            # Freed here, a callback of `threading` might swallow an interrupt.
            start_new_thread(self._started.clear, ())

    def _join(self) -> None:
        for thread in self._started:
            if thread.is_alive():
                thread.join()

    def expect(self, steps: int) -> None:
        """Announce steps before they are done, for the report."""
        self._n_steps += steps

    def run(
        self,
        work: Callable[..., None],
        tasks: Iterable[Any],
        steps: Callable[[Any], int] = _one,
        *,
        here: bool = False,
    ) -> None:
        """Do all tasks, in any order; `steps` tells how many steps a task is.

        With `here` the calling thread does them all: handing over a task costs some 50
        us, more than it gains where all tasks together take milliseconds.
        """
        for task, _ in self._answers(work, tasks, here=here):
            self._count(steps(task))

    def answers(
        self, work: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Do all tasks, and yield each with its answer as soon as it is done."""
        for task, answer in self._answers(work, tasks):
            self._count(1)
            yield task, answer

    def _answers(
        self, work: Callable[[Any], Any], tasks: Iterable[Any], *, here: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        if self.threads == 1 or here:
            for task in tasks:
                yield task, work(task)
            return
        answers: SimpleQueue[Any] = SimpleQueue()
        n = 0
        for n, task in enumerate(tasks, 1):  # noqa: B007
            self._tasks.put((work, task, answers))
        self._start(min(n, self.threads), answers)
        for _ in range(n):
            task, answer, error = answers.get()
            if error is not None:
                try:
                    raise error
                finally:
                    del error  # its traceback holds this frame
            yield task, answer
            del task, answer  # not kept while the next one is waited for

    def _start(self, n: int, answers: SimpleQueue[Any]) -> None:
        """Start what is missing of n threads, from a thread: `start` takes locks."""
        shared = self._tasks, self._ended, self._busy, self._on_loss
        missing = [Thread(target=_work, args=shared) for _ in range(n - len(self._started))]
        self._started += missing

        def start() -> None:
            try:
                for thread in missing:
                    thread.start()
            except RuntimeError as error:  # the system has no more threads
                answers.put((None, None, error))
            starts.put(None)

        starts = self._starts
        if missing:
            start_new_thread(start, ())
            self._n_starts += 1

    def _count(self, steps: int) -> None:
        self._done += steps
        if self._report is not None and steps:
            self._report(self._done, self._n_steps)
