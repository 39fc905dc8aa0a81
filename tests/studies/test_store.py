"""Replicates in parts: stops, damage and workers change no number."""

import json
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from children import started
from studies.store import Store, run_replicates
from study_work import fail_late, rows_of

from fastcmp.core.saved_states import write_state

SETTINGS = {"study": "test", "seed": 1, "values": [0.1, 0.2]}
WIDTH = 2


class Recorder:
    """Work that remembers what it was asked for, and can fail."""

    def __init__(self, fails_at=None, error=KeyboardInterrupt):
        self.asked = []
        self.fails_at = fails_at
        self.error = error

    def __call__(self, first, last):
        if self.fails_at is not None and first <= self.fails_at < last:
            raise self.error
        self.asked += range(first, last)
        return rows_of(first, last)


@pytest.fixture
def store(tmp_path):
    return Store(path=tmp_path / "folder" / "study.rows", settings=SETTINGS)


def run(work, n, store=None, *, part=3, workers=1, **options):
    return run_replicates(work, n, WIDTH, part=part, store=store, workers=workers, **options)


@pytest.mark.parametrize(
    ("part", "workers", "threads"), [(1, 1, False), (4, 2, True), (4, 2, False), (100, 2, True)]
)
def test_parts_and_workers_change_nothing(store, part, workers, threads):
    found = run(rows_of, 23, store, part=part, workers=workers, threads=threads)
    np.testing.assert_array_equal(found, rows_of(0, 23))
    kept, done = store.load(23, WIDTH)
    np.testing.assert_array_equal(kept, found)
    assert done.all()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_going_on_after_a_stop(store, error):
    with pytest.raises(error):
        run(Recorder(fails_at=7, error=error), 20, store)
    # Two parts of three were done, and no time passed between them and the stop.
    assert store.load(20, WIDTH)[1].sum() == 6
    second = Recorder()
    found = run(second, 20, store)
    np.testing.assert_array_equal(found, rows_of(0, 20))
    assert second.asked == list(range(6, 20))


@pytest.mark.parametrize("threads", [False, True])
def test_a_worker_that_fails_keeps_the_rows_of_others(store, threads):
    work = partial(fail_late, 15)
    with pytest.raises(RuntimeError, match="late"):
        run(work, 20, store, workers=2, threads=threads)
    rows, done = store.load(20, WIDTH)
    assert not done[15:18].any()
    np.testing.assert_array_equal(rows[done], rows_of(0, 20)[done])
    found = run(rows_of, 20, store, workers=2, threads=threads)
    np.testing.assert_array_equal(found, rows_of(0, 20))


def test_holes_are_filled(store):
    done = np.ones(20, bool)
    done[[2, 3, 9, 19]] = False
    rows = rows_of(0, 20)
    rows[~done] = np.nan
    store.save(rows, done)
    work = Recorder()
    np.testing.assert_array_equal(run(work, 20, store, part=100), rows_of(0, 20))
    assert work.asked == [2, 3, 9, 19]


# Files that are something else.


def spoil_by_cutting(path):
    path.write_bytes(path.read_bytes()[:-40])


def spoil_the_middle(path):
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle - 20 : middle + 20] = b"\xff" * 40
    path.write_bytes(raw)


def write_words(path):
    path.write_text("no saved state")


def writer(name, settings, **arrays):
    return lambda path: write_state(path, name, settings, arrays)


GOOD = {"rows": np.zeros((3, WIDTH)), "done": np.ones(3, bool)}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        spoil_by_cutting,
        spoil_the_middle,
        write_words,
        writer("Checkpoint", SETTINGS, **GOOD),
        writer("Study", [1], **GOOD),
        writer("Study", SETTINGS),
        writer("Study", SETTINGS, rows=np.zeros((3, 2)), done=np.ones(3)),
        writer("Study", SETTINGS, rows=np.zeros((3, 2)), done=np.ones((3, 1), bool)),
        writer("Study", SETTINGS, rows=np.zeros((3, 2), int), done=np.ones(3, bool)),
        writer("Study", SETTINGS, rows=np.zeros((2, 2)), done=np.ones(3, bool)),
    ],
)
def test_damaged_files_are_refused_before_any_work(store, spoil):
    rng = np.random.default_rng(1)
    store.save(rng.random((200, WIDTH)), np.ones(200, bool))
    spoil(store.path)
    before, work = store.path.read_bytes(), Recorder()
    with pytest.raises(ValueError, match=r"study\.rows .*delete it"):
        run(work, 300, store)
    assert work.asked == []
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 2}, "seed = 1, asked for was 2"),
        ({"values": [0.1, 0.3]}, r"values = \[0.1, 0.2\], asked for was \[0.1, 0.3\]"),
        ({"omega": 0.3}, "omega = None, asked for was 0.3"),
        ({"study": "other"}, "study = 'test', asked for was 'other'"),
    ],
)
def test_other_settings_are_refused(store, change, said):
    run(rows_of, 4, store)
    other = Store(path=store.path, settings=SETTINGS | change)
    with pytest.raises(ValueError, match=rf"study\.rows holds .*{said}.*write elsewhere"):
        run(rows_of, 4, other)


# Processes that are ended from outside.

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
SCRIPT = (
    f"import sys; sys.path.append({BENCHMARKS!r})"
    """
import time
from pathlib import Path
import numpy as np
from studies import store
store._PAUSE = 0.0

def work(first, last):
    time.sleep(0.02)
    return np.arange(first, last, dtype=float)[:, None] ** 2

path, settings, workers, kind = sys.argv[1:]
import json
kept = store.Store(path=Path(path), settings=json.loads(settings))
tell = lambda done, n: print(done, flush=True)
store.run_replicates(work, 400, 1, part=2, store=kept, workers=int(workers),
                     threads=kind == "threads", progress=tell)
"""
)


@pytest.mark.parametrize(
    ("sign", "workers", "kind"),
    [
        (signal.SIGKILL, 1, "threads"),
        (signal.SIGINT, 2, "threads"),
        pytest.param(signal.SIGINT, 2, "processes", marks=pytest.mark.full),
    ],
)
def test_going_on_after_the_process_was_ended(tmp_path, sign, workers, kind):
    path, settings = tmp_path / "study.rows", {"study": "squares"}
    arguments = [path, json.dumps(settings), workers, kind]
    with started(SCRIPT, *arguments) as process:
        while int(process.stdout.readline()) < 20:
            pass
        process.send_signal(sign)
        process.stdout.read()
        process.stderr.read()
        assert process.wait(30) != 0
    store = Store(path=path, settings=settings)
    rows, done = store.load(400, 1)
    expected = np.arange(400.0)[:, None] ** 2
    # The last part told may not be written yet where it was killed.
    assert 18 <= done.sum() < 400
    np.testing.assert_array_equal(rows[done], expected[done])
    asked = []

    def work(first, last):
        asked.extend(range(first, last))
        return expected[first:last]

    found = run_replicates(work, 400, 1, part=50, store=store, workers=1)
    np.testing.assert_array_equal(found, expected)
    assert sorted(asked) == np.flatnonzero(~done).tolist()
