"""Threads that share the work of one call; no other module starts threads."""

from __future__ import annotations

import os
import re
import sys
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from ctypes import CDLL, c_ulong, py_object, pythonapi
from functools import cache
from numbers import Integral
from pathlib import Path
from queue import SimpleQueue
from reprlib import repr as shortened
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, ref

from fastcmp.core.errors import BadTypeError, BadValueError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def check_workers(workers: int | None) -> int:
    """Choose the number of threads: as many as there are processors for None."""
    if workers is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, Integral):
        raise BadTypeError("`workers` must be a whole number", repr(workers))
    if workers < 1:
        raise BadValueError("`workers` must be at least 1", workers)
    return int(workers)


def parts(n: int, size: int) -> list[slice]:
    """Cut ``range(n)`` into slices of at most `size`."""
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def new_lock() -> AbstractContextManager[object]:
    """Make a lock that a thread can take again while it holds it."""
    return RLock()


# The threads of BLAS, which products start beside ours, and which wait for each other.

#: Limits that hold now, and what BLAS had before.
_limits: WeakSet[BlasThreads] = WeakSet()
_usual: dict[str, int] = {}
_blas_lock = new_lock()
_LIGHT, _HEAVY = 1e4, 1e9  # multiplications for which one thread does, and some 50 ms of them


def _in_child() -> None:
    """Forget the limits, and the lock, of threads that a forked process does not have."""
    global _limits, _blas_lock
    _limits, _blas_lock = WeakSet(), new_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class BlasThreads:
    """Lets BLAS have no more threads than that, where NumPy and SciPy bring OpenBLAS.

    The number must follow from the data, and not from `workers`: sums of some functions of
    BLAS have other last bits in several threads.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> None:
        _limit_blas("add", self)

    def __exit__(self, *_: object) -> None:
        _limit_blas("discard", self)


def blas_for(work: float) -> AbstractContextManager[None]:
    """One thread of BLAS for so many multiplications, where these are few.

    On a loaded machine two threads wait for each other many times as long as they work. Of
    very few BLAS makes one thread itself.
    """
    return BlasThreads(1) if _LIGHT < work < _HEAVY else nullcontext()


def _limit_blas(change: str, limit: BlasThreads) -> None:
    """Set the threads of BLAS to the fewest of all limits, where it is known how."""
    with _blas_lock:
        blas = {x: _openblas(x) for x in ("numpy", "scipy") if f"{x}.linalg" in sys.modules}
        getattr(_limits, change)(limit)
        for package, functions in blas.items():
            if functions is not None:
                _usual.setdefault(package, functions[0]())
                functions[1](min((_usual[package], *(x.threads for x in _limits))))
                if not _limits:
                    del _usual[package]


@cache
def _openblas(package: str) -> tuple[Any, Any] | None:
    """What tells, and what sets, the number of threads of the library of a package."""
    home = Path(str(sys.modules[package].__file__)).parent
    for folder in (home.parent / f"{package}.libs", home / ".dylibs"):
        for path in folder.glob("*openblas*"):
            library = CDLL(str(path))
            for end in ("64_", ""):
                with suppress(AttributeError):
                    names = (f"scipy_openblas_{x}_num_threads{end}" for x in ("get", "set"))
                    return getattr(library, next(names)), getattr(library, next(names))
    return None


def _work(tasks: SimpleQueue[Any], ended: list[object], busy: set[int], _: object) -> None:
    """Do tasks until the pool ends; the last argument lives as long as the thread."""
    with suppress(SystemExit):  # it was stopped
        while not ended and _do(tasks.get(), busy):
            pass
    tasks.put(None)  # no other thread waits for a task


def _do(order: object, busy: set[int]) -> bool:
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
        steps: int | Callable[[Any], int] = 1,
        *,
        here: bool = False,
    ) -> None:
        """Do all tasks, in any order; `steps` is, or tells, how many steps of progress one is.

        With `here` the calling thread does them all: handing over a task costs some 50
        us, more than it gains where all tasks together take milliseconds.
        """
        if self.threads == 1 or here:
            for task in tasks:
                work(task)
                if steps:
                    self._count(steps if isinstance(steps, int) else steps(task))
            return
        for task, _ in self._answers(work, tasks):
            if steps:
                self._count(steps if isinstance(steps, int) else steps(task))

    def answers(
        self, work: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Do all tasks, and yield each with its answer as soon as it is done."""
        for task, answer in self._answers(work, tasks):
            self._count(1)
            yield task, answer

    def _answers(
        self, work: Callable[[Any], Any], tasks: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        if self.threads == 1:
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


# How much memory work may take, checked before it begins.


_UNITS = ("", "K", "M", "G", "T")
_SIZE = re.compile(r"([0-9]*\.?[0-9]+(?:E[+-]?[0-9]+)?)\s*(?:([KMGT])(i?))?B?", re.IGNORECASE)
_LITTLE = 64e6  # bytes
_LARGEST = 2.0**63  # bytes that a computer of 64 bits can count
#: Where Linux tells the memory that is left, of the machine and of a container.
_MACHINE = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")
#: Folder, limit, use, and what of it is cache, of both versions of control groups.
_GROUPS = (
    ("", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def read_size(size: int | str, name: str = "memory_limit") -> int:
    """Read bytes: a number, or text with a unit, as "500 MB", "1.5 GiB", "1e9"."""
    text = str(size).strip()
    match = None if isinstance(size, bool) else _SIZE.fullmatch(text)
    n_bytes = 0.0
    if match is not None:
        number, unit, binary = match.groups(default="")
        step = 1024 if binary else 1000
        n_bytes = float(number) * step ** _UNITS.index(unit.upper())
    if not 1 <= n_bytes < _LARGEST:
        raise BadValueError(f"`{name}` must be a size such as '4GB', or bytes", shortened(size))
    return int(n_bytes)


def in_words(n_bytes: float) -> str:
    """Write a size with a fitting unit, such as "3.6 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 999.5:  # more is written as 1 of the next unit
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB" if n_bytes < 999.5 else f"{n_bytes:.0f} TB"


def available_memory() -> int | None:
    """Ask how many bytes can be taken without swapping; None where nothing tells."""
    sizes = [size for size in (_left_in_machine(), _left_in_container()) if size is not None]
    return min(sizes, default=None)


def _left_in_machine() -> int | None:
    try:
        lines = _MACHINE.read_text().splitlines()
        line_found = next(line for line in lines if line.startswith("MemAvailable:"))
        return 1024 * int(line_found.split()[1])
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _left_in_container() -> int | None:
    for folder, limit, used, cached in _GROUPS:
        place = _CONTAINER / folder
        try:
            left = int((place / limit).read_text()) - int((place / used).read_text())
        except (OSError, ValueError):  # no container, or one without a limit
            continue
        # The kernel gives up copies of files that nobody read of late.
        return max(left + _count_in(place / "memory.stat", cached), 0)
    return None


def _count_in(path: Path, name: str) -> int:
    """A number by its name; 0 where the file has none."""
    try:
        numbers = dict(line.split() for line in path.read_text().splitlines())
        return int(numbers[name])
    except (OSError, ValueError, KeyError):
        return 0


def check_draws(n_resamples: int, numbers: float, limit: int | None = None, of: str = "") -> None:
    """Refuse more draws, of some numbers each, than there is memory for."""
    check_memory(
        8.0 * n_resamples * numbers,
        limit,
        f"{n_resamples} draws{of}",
        "pass a smaller n_resamples, or fewer models",
    )


def check_memory(needed: float, limit: int | None, what: str, advice: str) -> None:
    """Refuse work that takes more bytes than its limit, or than are free.

    A little memory is not asked for: that takes 60 us, a tenth of a small comparison.
    """
    if limit is None and needed < _LITTLE:
        return
    bound = available_memory() if limit is None else limit
    if bound is not None and needed > bound:
        size = in_words(bound)
        bound_text = f"{size} are free" if limit is None else f"memory_limit is {size}"
        raise BadValueError(
            f"{what} would take {in_words(needed)} of memory, {bound_text}: {advice}",
            argument="memory_limit",
        )


# Progress of long work, drawn by rich or passed to a function.


#: Called with the steps done and all steps.
Progress = Callable[[int, int], None]


def check_progress(progress: object) -> None:
    """Refuse what is neither a boolean, a function nor None, even if the work is short."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        kind = type(progress).__name__
        raise BadTypeError("`progress` must be True, a function or None", kind)


def reporting(progress: object, title: str, *, unit: str = "") -> AbstractContextManager[Progress]:
    """Open what `progress` asks for: a bar, a callable, or nothing.

    Gives a callable, to be called with the steps done and all steps; `unit` is what a
    step is, such as "pairs".
    """
    check_progress(progress)
    if progress is True:
        return _bar(title, unit)
    return nullcontext(progress if callable(progress) else lambda _done, _total: None)


@contextmanager
def _bar(title: str, unit: str) -> Iterator[Progress]:
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import ProgressColumn
        from rich.text import Text
    except ImportError:
        raise ImportError("progress=True needs rich: pip install 'fastcmp[cli]'") from None

    class Rate(ProgressColumn):  # type: ignore[misc]  # rich is not looked into
        """Steps a second, with a letter for thousands, millions, billions."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{_short(speed)} {unit}/s")

    columns = Bar.get_default_columns()
    rate = (Rate(),) if unit else ()
    in_notebook = Console().is_jupyter  # where rich draws nothing without ipywidgets
    console = Console(stderr=True, force_jupyter=False, force_terminal=in_notebook or None)
    with Bar(*columns, *rate, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _short(number: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {letter}"
    return f"{number:.3g}"
