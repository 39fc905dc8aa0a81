"""Counting that is stopped in every way goes on, and ends with the same answer."""

import os
import signal
import time
import tracemalloc

import numpy as np
import pytest
from children import started
from libraries import csv, feather, pa, parquet

from fastcmp.cli import main
from fastcmp.core.saved_states import read_state, write_state
from fastcmp.io import mapped
from fastcmp.io import text as io_text
from fastcmp.io.counting import _KIND, Checkpoint, count_files, signals_held
from fastcmp.io.stream import PredictionStream
from fastcmp.stream import PairCounts

LIMIT = 10**9
# The program itself, with small blocks, and saving after each of them.
SLOW = """
import sys
from fastcmp.io import counting, mapped, text
from fastcmp.cli import main
counting._SECONDS = counting._SHARE = 0
mapped._ROWS = (1, 200)
text._BLOCK = 2_000
counting._GATHERED = 5_000
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 60_000)
    table = {"y_true": truth}
    for i in range(4):
        wrong = rng.random(truth.size) < 0.1 + 0.02 * i
        table[f"m{i}"] = np.where(wrong, (truth + 1) % 3, truth)
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.table(table), path, row_group_size=7_000)
    return path


@pytest.fixture
def saved(tmp_path):
    return tmp_path / "counts.checkpoint"


def stop(number, path, saved, *options):
    """Send the program a signal when it has saved a few times."""
    words = ["compare", path, "--checkpoint", saved, *options]
    limit = time.monotonic() + 120
    with started(SLOW, *words) as process:
        while position_in(saved) is None or position_in(saved)[0][0] < 1_000:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def position_in(saved):
    return read_state(saved, _KIND)[1]["position"] if saved.exists() else None


def answer(capsys, *words):
    code = main(["compare", *map(str, words), "--format", "json"])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGKILL, -9),
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full),
    ],
)
def test_the_same_command_goes_on_after_a_stop(capsys, path, saved, number, code):
    expect = answer(capsys, path)
    assert stop(number, path, saved) == (code, "", "")
    done = position_in(saved)[0][0]
    assert 1_000 <= done < 60_000
    assert Checkpoint(saved, read_state(saved, _KIND)[1]["inputs"]).load()[0].n_samples == done
    assert answer(capsys, path, "--checkpoint", saved) == expect
    assert not saved.exists()


def counted(path, saved, limit=None, **inputs):
    """Count with a checkpoint, `limit` blocks at most before an error."""
    stream = PredictionStream([path])
    progress = None
    if limit is not None:
        left = iter(range(limit))

        def progress(done, total):
            if next(left, None) is None:
                message = "the disk is gone"
                raise ValueError(message)

    return count_files(
        stream,
        PairCounts(stream.names),
        memory_limit=LIMIT,
        checkpoint=Checkpoint(saved, stream.inputs() | inputs),
        progress=progress,
    )


@pytest.fixture
def stopped(path, saved, monkeypatch):
    """A checkpoint in the middle of the file."""
    monkeypatch.setattr(mapped, "_ROWS", (1, 1_000))
    with pytest.raises(ValueError, match="the disk is gone"):
        counted(path, saved, limit=20)
    assert position_in(saved)[0][0] == 21_000
    return saved


def test_an_error_keeps_what_was_counted(path, stopped):
    expect = PairCounts()
    table = parquet.read_table(path)
    expect.update(table["y_true"], table.drop_columns("y_true"))
    for _ in range(2):  # the second time nothing is left to read
        assert counted(path, stopped) == expect
    assert position_in(stopped)[0][0] == 60_000


def test_other_input_is_refused(path, stopped, tmp_path):
    with pytest.raises(ValueError, match="for other input: missing differs; remove it"):
        counted(path, stopped, missing="wrong")
    other = tmp_path / "q.parquet"
    other.write_bytes(path.read_bytes())
    with pytest.raises(ValueError, match=r"q\.parquet was not among the files"):
        counted(other, stopped)
    with pytest.raises(ValueError, match="models differs"):
        count_files(
            stream := PredictionStream([path], models=["m1", "m0"]),
            PairCounts(stream.names),
            memory_limit=LIMIT,
            checkpoint=Checkpoint(stopped, stream.inputs()),
        )
    os.utime(path, ns=(1, 1))
    with pytest.raises(ValueError, match=r"p\.parquet has changed since"):
        counted(path, stopped)


def test_a_folder_that_has_changed_is_refused(path, saved, tmp_path):
    place = tmp_path / "parts"
    place.mkdir()
    for name in ("a.parquet", "b.parquet"):
        (place / name).write_bytes(path.read_bytes())
    assert counted(place, saved).n_samples == 120_000
    (place / "c.parquet").write_bytes(path.read_bytes())
    with pytest.raises(ValueError, match=r"c\.parquet was not among the files"):
        counted(place, saved)
    (place / "c.parquet").unlink()
    (place / "a.parquet").unlink()
    with pytest.raises(ValueError, match=r"a\.parquet is no longer among the files"):
        counted(place, saved)


def test_a_file_that_is_no_checkpoint_is_refused_and_kept(path, saved):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"p\.parquet is not a checkpoint that fastcmp"):
        counted(path, path)
    assert path.read_bytes() == before
    PairCounts(2).save(saved)
    with pytest.raises(ValueError, match="holds PairCounts, not a checkpoint; remove it"):
        counted(path, saved)


def test_a_damaged_checkpoint_is_refused(path, stopped):
    content = stopped.read_bytes()
    for damaged in (content[:-9], content[:200], content.replace(b"p.parq", b"q.parq")):
        stopped.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"counts\.checkpoint .*"):
            counted(path, stopped)


def changed(settings, path, value):
    """A copy of nested lists and mappings with one of their parts replaced."""
    if not path:
        return value
    first, *rest = path
    if isinstance(settings, dict):
        if value is ABSENT and not rest:
            return {key: held for key, held in settings.items() if key != first}
        return settings | {first: changed(settings[first], rest, value)}
    kind = type(settings)
    return kind(
        changed(held, rest, value) if i == first else held for i, held in enumerate(settings)
    )


ABSENT = object()
FIELDS = [
    *(("kind",), ("state",), *(("state", name) for name in ("names", "classes", "missing"))),
    *(("state", "names", 1), ("inputs",), ("inputs", "models"), ("inputs", "files")),
    *(("inputs", "files", 0), ("inputs", "files", 0, 0), ("position",), ("position", 0)),
    *(("position", 0, 0), ("position", 0, 1), ("position", 1)),
    *(("position", 1, k) for k in range(4)),
]
WRONG = [ABSENT, None, -1, 10**9, 1.5, True, "x", "PairCounts", [], [[1]], {}, {"a": 1}]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: ".".join(map(str, field)))
def test_a_checkpoint_of_right_checksum_and_wrong_content(path, stopped, field):
    kind, settings, arrays = read_state(stopped, _KIND)
    for value in WRONG:
        try:
            wrong = changed(settings, field, value)
            write_state(stopped, kind, wrong, arrays)
        except TypeError:  # no part of a list is absent
            continue
        if wrong == settings or (field[-1] == 2 and value == 10**9):
            continue  # Parquet files are read by rows, not by bytes
        tracemalloc.start()
        with pytest.raises(ValueError, match=r"checkpoint (has the ch|was sav)"):
            counted(path, stopped)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 50e6, value


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.parquet", "p.arrow"])
def test_places_that_are_not_in_a_file(monkeypatch, path, tmp_path, name):
    monkeypatch.setattr(io_text, "_BLOCK", 2_000)
    table = parquet.read_table(path)[:500]
    place = tmp_path / f"other.{name}"
    if name.endswith("arrow"):
        feather.write_feather(table, place, compression="uncompressed")
    elif name.endswith("parquet"):
        parquet.write_table(table, place)
    else:
        with pa.output_stream(str(place)) as stream:
            csv.write_csv(table, stream)
    stream = PredictionStream([place])
    end = list(stream.rows(LIMIT))[-1].position
    assert list(stream.rows(LIMIT, end)) == []
    rows, n_bytes = end[1][1:3]
    places = [(rows, n_bytes + 1), (rows, n_bytes - 1)] if n_bytes else [(rows + 1, 0)]
    for wrong in places:
        with pytest.raises(ValueError, match=r"p\.\w+.* no row .* to go on from"):
            list(stream.rows(LIMIT, [[rows, []], [0, *wrong, 0, None]]))


@pytest.fixture
def default_interrupt():
    """Let SIGINT interrupt, also where the tests were started with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_second_interrupt_is_not_held(default_interrupt):
    with signals_held(active=True) as came:
        assert came() is None
        signal.raise_signal(signal.SIGINT)
        assert came() == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with signals_held(active=False) as came, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert came() is None
