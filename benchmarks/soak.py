"""Reliability under load: mixed calls from threads and processes, with faults injected.

    python benchmarks/soak.py --minutes 30

Eight threads and four processes call the public functions at the same time, with random
sizes; every answer is held against a serial oracle. Processes are killed and started
again, disks are full, files are cut off, programs are stopped in the middle. At the end
memory must not have grown, and no thread, process or temporary file may be left.

Each job is a function of the seed and its number: ``--seed 5 --job 123`` repeats one.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import io
import multiprocessing.util
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).resolve().parent
# The oracles are those of the tests; worker processes find them too.
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import numpy as np  # noqa: E402
from soak_calls import CALLS  # noqa: E402
from soak_faults import QUICK, SLOW  # noqa: E402

THREADS, PROCESSES = 8, 4
JOBS = {job.__name__: job for job in (*CALLS, *QUICK, *SLOW)}
#: How often each is chosen: programs of their own take a second or two.
SHARES = np.array([20] * len(CALLS) + [8] * len(QUICK) + [2] * len(SLOW), float)
#: The last third may take so much more memory than the second, in MB and as a share.
MARGIN = 40, 0.1
MOST = 1500  # MB, the five processes together, each with numba in it
PATIENCE = 150  # seconds for jobs to end


#: Memory of the threads' process and of the first other one, and the sum over all.
Sample = tuple[float, float, float]

# Jobs.


def choose(seed: int, number: int) -> tuple[str, np.random.Generator]:
    """Tell what a job does, and with which random numbers."""
    rng = np.random.default_rng([seed, number])
    return str(rng.choice(list(JOBS), p=SHARES / SHARES.sum())), rng


def do_job(seed: int, number: int) -> tuple[str, int]:
    """Do a job; return its name, and how many answers it has checked."""
    name, rng = choose(seed, number)
    with tempfile.TemporaryDirectory(prefix=f"job-{number}-") as folder:
        return name, JOBS[name](rng, Path(folder))


def memory_of(pid: int) -> tuple[float, float]:
    """Give the memory of a process in MB: what no file holds, and its share of all."""
    with contextlib.suppress(OSError, KeyError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        sizes = dict(line.split()[:2] for line in text.splitlines()[1:])
        return int(sizes["Anonymous:"]) / 1024, int(sizes["Pss:"]) / 1024
    return 0.0, 0.0


@dataclass
class Tally:
    """What has been done, by threads and processes together."""

    calls: Counter[str] = field(default_factory=Counter)
    checks: int = 0
    kills: int = 0
    failures: list[str] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def add(self, name: str, checks: int) -> None:
        """Count a job that went well."""
        with self.lock:
            self.calls[name] += 1
            self.checks += checks

    def fail(self, seed: int, number: int, trace: str) -> None:
        """Keep what went wrong, with how to repeat it."""
        name = choose(seed, number)[0]
        again = f"python {Path(__file__).name} --seed {seed} --job {number}"
        with self.lock:
            self.failures.append(f"{name} failed; again: {again}\n{trace}")


# Threads.


def work_in_thread(seed: int, first: int, end: float, tally: Tally) -> None:
    """Do jobs until the time is over."""
    number = first
    while time.time() < end and not tally.failures:
        try:
            tally.add(*do_job(seed, number))
        except BaseException:  # noqa: BLE001  # whatever it is, it is reported
            tally.fail(seed, number, traceback.format_exc())
        number += THREADS + PROCESSES


# Processes.


def work_in_process(seed: int, first: int, end: float, pipe: Connection) -> None:
    """Do jobs until the time is over, and report each."""
    os.setsid()  # it is killed with the programs it has started
    tempfile.tempdir = tempfile.mkdtemp(prefix="worker-")
    sys.stderr = io.StringIO()
    if first == THREADS:  # the one whose memory is watched
        warm_up(seed, (*CALLS, *QUICK))
    pipe.send(("ready", tempfile.tempdir, 0))
    number = first
    while time.time() < end:
        try:
            pipe.send((number, *do_job(seed, number)))
        except BaseException:  # noqa: BLE001  # whatever it is, it is reported
            pipe.send((number, traceback.format_exc(), -1))
            return
        number += THREADS + PROCESSES
    Path(tempfile.tempdir).rmdir()  # fails where something is left


class Worker:
    """A process that does jobs, and is started again when it was killed."""

    def __init__(self, seed: int, first: int, end: float, tally: Tally) -> None:
        self._seed, self._end, self._tally = seed, end, tally
        self._next = first
        # Two ways to start that are safe while threads run.
        method = "spawn" if first == THREADS + 1 else "forkserver"
        self._context: Any = multiprocessing.get_context(method)
        self._context.set_forkserver_preload(["__main__"])  # memory that is shared
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = self._context.Pipe(duplex=False)
        arguments = (self._seed, self._next, self._end, theirs)
        self.process = self._context.Process(target=work_in_process, args=arguments)
        self.process.start()
        theirs.close()
        self.folder: Path | None = None
        self.ended = False

    def listen(self) -> None:
        """Take a report; where it has ended, notice."""
        try:
            number, name, checks = self.pipe.recv()
        except (EOFError, OSError):
            self.ended = True
            return
        if number == "ready":
            self.folder = Path(name)
        elif checks < 0:
            self._tally.fail(self._seed, number, name)
        else:
            self._tally.add(name, checks)
            self._next = number + THREADS + PROCESSES

    def kill(self) -> None:
        """Kill it in the middle of a job, which another one does again."""
        if self.folder is None or self.ended:
            return
        self.stop()
        self._tally.kills += 1
        self._start()

    def stop(self) -> None:
        """Kill it, with the programs that it has started."""
        if self.folder is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.join(PATIENCE)
        self.pipe.close()
        if self.folder is not None:
            shutil.rmtree(self.folder)  # what it could not tidy up


# The run.


def watch(workers: list[Worker], end: float, tally: Tally) -> list[Sample]:
    """Take reports, kill processes, and measure memory; until the end."""
    samples = []
    pause = min(15.0, max(2.0, (end - time.time()) / 10))
    victim, next_kill, next_sample = 1, time.time() + pause, time.time()
    next_line = time.time() + 60
    while time.time() < end and not tally.failures:
        open_pipes = {w.pipe: w for w in workers if not w.ended}
        for pipe in wait(list(open_pipes), timeout=0.2):
            open_pipes[pipe].listen()
        if time.time() >= next_sample:
            give_back()
            pids = [os.getpid(), *(worker.process.pid for worker in workers)]
            own, shares = zip(*map(memory_of, pids), strict=True)
            warm = own[1] if workers[0].folder is not None else 0.0
            samples.append((own[0], warm, sum(shares)))
            next_sample = time.time() + 2
        if time.time() >= next_line and samples:
            sizes = "threads {:.0f} MB, process 1 {:.0f} MB, all {:.0f} MB".format(*samples[-1])
            left = (end - time.time()) / 60
            print(f"{left:3.0f} minutes left: {tally.calls.total()} calls; {sizes}", flush=True)
            next_line += 60
        if time.time() >= next_kill:
            workers[victim].kill()
            victim = victim % (PROCESSES - 1) + 1  # the first one is left in peace
            next_kill = time.time() + pause
    return samples


def finish(workers: list[Worker], threads: list[Any], tally: Tally) -> None:
    """Wait for the last jobs."""
    limit = time.time() + PATIENCE
    for worker in workers:
        while not worker.ended and time.time() < limit and not tally.failures:
            if worker.pipe.poll(0.2):
                worker.listen()
        worker.process.join(1 if tally.failures else PATIENCE)
        if worker.process.exitcode != 0 and not tally.failures:
            tally.failures.append(f"a process ended with {worker.process.exitcode}")
        if worker.process.exitcode is None:
            worker.stop()
    for thread in threads:
        thread.join(max(1.0, limit - time.time()))
        if thread.is_alive():
            faulthandler.dump_traceback(sys.__stderr__)
            tally.failures.append("a thread hangs")


def give_back() -> None:
    """Give free memory back to the system, where the C library can: it is not held."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def grown(samples: list[float]) -> tuple[list[float], bool]:
    """Memory of each third of the run, and whether the last has more than the second.

    In the first third, types that are called often enough for it get machine code.
    """
    thirds = [statistics.median(x) for x in np.array_split(samples, min(3, len(samples)))]
    return thirds, thirds[-1] > thirds[-2:][0] * (1 + MARGIN[1]) + MARGIN[0]


def check_memory(samples: list[Sample], tally: Tally) -> list[str]:
    """Hold memory against the limits, and put it into words."""
    lines = []
    for i, who in enumerate(("threads", "process 1")):
        # A process that has not begun counts for 0.
        thirds, too_much = grown([row[i] for row in samples if row[i]] or [0.0])
        lines.append(f"memory of {who}, by thirds: {', '.join(f'{x:.0f}' for x in thirds)} MB")
        if too_much:
            tally.failures.append(f"{lines[-1]}: it has grown")
    peak = max(row[2] for row in samples)
    lines.append(f"peak of all: {peak:.0f} MB of {MOST}")
    if peak > MOST:
        tally.failures.append(lines[-1])
    return lines


def warm_up(seed: int, jobs: Iterable[Any]) -> None:
    """Call each once, so that what is loaded and compiled counts for no growth."""
    for i, job in enumerate(jobs):
        with tempfile.TemporaryDirectory() as folder:
            job(np.random.default_rng([seed, 10**9 + i]), Path(folder))


def soak(minutes: float, seed: int) -> tuple[Tally, list[str]]:
    """Run everything at once; return what was done, and lines on memory."""
    tally, end = Tally(), time.time() + 60 * minutes
    warm_up(seed, JOBS.values())
    workers = [Worker(seed, THREADS + i, end, tally) for i in range(PROCESSES)]
    threads = [
        threading.Thread(target=work_in_thread, args=(seed, i, end, tally)) for i in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    samples = watch(workers, end, tally)
    finish(workers, threads, tally)
    return tally, check_memory(samples, tally) if samples else []


def run(minutes: float, seed: int) -> tuple[Tally, list[str]]:
    """Run in a folder of temporary files of our own; nothing may be left in it."""
    before = set(threading.enumerate())
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        multiprocessing.util.get_temp_dir()  # kept until the end, so not in ours
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        with contextlib.redirect_stderr(io.StringIO()):
            tally, lines = soak(minutes, seed)
        if left := [path.name for path in Path(folder).iterdir()]:
            tally.failures.append(f"temporary files are left: {left}")
    if alive := set(threading.enumerate()) - before:
        tally.failures.append(f"threads are left: {alive}")
    if children := multiprocessing.active_children():
        tally.failures.append(f"processes are left: {children}")
    return tally, lines


def report(tally: Tally, lines: list[str]) -> None:
    """Print the summary."""
    for name in JOBS:
        print(f"{tally.calls[name]:8} {name}")
    faults = sum(tally.calls[job.__name__] for job in (*QUICK, *SLOW))
    print(
        f"{tally.calls.total()} calls, {tally.checks} answers checked, "
        f"{faults} faults, {tally.kills} processes killed"
    )
    print(*lines, sep="\n")
    print(*tally.failures, "FAILED" if tally.failures else "all is well", sep="\n")


def main() -> int:
    """Read the options and run."""
    if "MALLOC_ARENA_MAX" not in os.environ:
        # Else the C library keeps a heap for each of the threads.
        few = os.environ | {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
        os.execve(sys.executable, [sys.executable, *sys.argv], few)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, help="for the random sizes (the time)")
    parser.add_argument("--job", type=int, help="do this job only")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    if options.job is not None:
        print(*do_job(seed, options.job))
        return 0
    tally, lines = run(options.minutes, seed)
    report(tally, lines)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
