"""Faults for the soak test: cut files, full disks, stops; the answer is right or none.

Like the calls, every function takes a random generator and an empty folder, and returns
how many answers it has checked.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import soak_calls
from same_bits import assert_same

import fastcmp
from fastcmp import stream
from fastcmp.cli import main
from fastcmp.core.saved_states import read_state
from fastcmp.io import counting

#: Seconds after which a program hangs.
PATIENCE = 120

# Everything is called once, so that kernels are ready, before the disk is full.
FULL_DISK = """
import resource, sys
import fastcmp
from fastcmp import stream
from fastcmp.cli import main
y_true, preds = fastcmp.load_digits()
folder, limit = sys.argv[1], int(sys.argv[2])
counts = stream.LabelCounts().update(y_true, preds)
fastcmp.compare_all(y_true, preds)
writers = [
    lambda: counts.save(f"{folder}/old.counts"),
    lambda: fastcmp.compare_all(y_true, preds, keep=f"{folder}/pairs.npy"),
    lambda: fastcmp.compare_all(y_true, preds, keep=f"{folder}/pairs.parquet"),
]
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for write in writers:
    try:
        write()
    except OSError as error:
        print(type(error).__name__, error.errno)
    else:
        print("written")
"""

# The program itself, with small blocks, and saving after each of them.
SLOWLY = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from fastcmp.io import counting, mapped
from fastcmp.cli import main
counting._SECONDS = counting._SHARE = 0
mapped._ROWS = (1, 40)
sys.exit(main(sys.argv[1:]))
"""


def run(code, *words, **options) -> Any:
    """Run a program to its end."""
    command = [sys.executable, "-c", code, *map(str, words)]
    options = {"stdout": subprocess.PIPE} | options
    return subprocess.run(
        command, check=False, text=True, timeout=PATIENCE, stderr=subprocess.PIPE, **options
    )


def cut_counts(rng, folder) -> int:
    """Counts that were cut off, or changed by one bit, are refused."""
    y_true, preds = soak_calls.labels(rng)
    path = folder / "part.counts"
    stream.PairCounts().update(y_true, preds).save(path)
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
    for damaged in (whole[: rng.integers(len(whole))], bytes(changed)):
        path.write_bytes(damaged)
        try:
            stream.load(path)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017  # no pytest here
        else:
            message = "damaged counts were loaded"
            raise AssertionError(message)
    return 2


def cut_predictions(rng, folder) -> int:
    """Files that end too early are refused, and no answer is written."""
    form = str(rng.choice(["parquet", "csv.gz"]))
    path, out = folder / f"cut.{form}", folder / "answer.json"
    soak_calls.write_table(soak_calls.draw_table(rng), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: rng.integers(1, len(whole))])
    assert main(["compare", str(path), "--output", str(out)]) == 64
    assert [p.name for p in folder.iterdir()] == [path.name]
    return 2


def stopped_progress(rng, folder) -> int:
    """An interrupt in the middle ends the call, and harms no later one."""
    y_true, preds = soak_calls.many_labels(rng)
    left = int(rng.integers(1, 4))

    def stop(*_) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    kept = folder / "pairs.npy"
    with suppress(KeyboardInterrupt):
        fastcmp.compare_all(y_true, preds, workers=3, progress=stop, keep=kept)
        message = "it was not stopped"
        raise AssertionError(message)
    assert not list(folder.iterdir())
    again = fastcmp.compare_all(y_true, preds, workers=3)
    assert_same(again, fastcmp.compare_all(y_true, preds, workers=1))
    return 2


def full_disk(rng, folder) -> int:
    """What cannot be written is an error; old files stay, and no others are left."""
    stream.PairCounts(["a", "b"]).save(folder / "old.counts")
    before = (folder / "old.counts").read_bytes()
    done = run(FULL_DISK, folder, rng.integers(1, 1000))
    assert done.stdout.split("\n") == ["OSError 27"] * 3 + [""], done
    assert [path.name for path in folder.iterdir()] == ["old.counts"]
    assert (folder / "old.counts").read_bytes() == before
    return 3


def full_output(rng, folder) -> int:
    """A full standard output is said in one line."""
    path = folder / "all.parquet"
    soak_calls.write_table(soak_calls.draw_table(rng, fewest=100), path)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = run(SLOWLY, "compare", path, stdout=full)
    assert done.returncode != 0
    assert done.stderr.startswith("fastcmp: "), done
    assert done.stderr.count("\n") == 1, done
    return 1


def stop_and_go_on(rng, folder) -> int:
    """A command stopped at any time goes on from its checkpoint."""
    table = soak_calls.draw_table(rng, fewest=100)
    table = table.take(np.resize(np.arange(len(table)), 20_000))
    path, saved, out = (folder / name for name in ("all.parquet", "saved", "out.json"))
    soak_calls.write_table(table, path)
    words = ["compare", path, "--checkpoint", saved, "--format", "json", "--output", out]
    command = [sys.executable, "-c", SLOWLY, *map(str, words)]
    number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    with subprocess.Popen(command, stderr=subprocess.PIPE) as started:
        try:
            wait_for_rows(started, saved, int(rng.integers(1, 15_000)))
            started.send_signal(int(number))
            said = started.communicate(timeout=PATIENCE)[1]
        finally:
            started.kill()
    assert said == b"", said
    # Past the end of the work, SIGTERM ends Python itself.
    over = started.returncode == -signal.SIGTERM and out.exists()
    assert over or started.returncode in (0, 130, 143, -signal.SIGKILL), started.returncode
    if started.returncode and not over:
        assert not out.exists()
        assert main(list(map(str, words))) == 0
    assert json.loads(out.read_text()) == json.loads(json.dumps(soak_calls.answer_of(table)))
    left = {p.name for p in folder.iterdir()} - {"all.parquet", "out.json"}
    killed = started.returncode == -signal.SIGKILL  # perhaps while it saved
    assert all(killed and name.endswith(".part") for name in left), left
    return 2


def wait_for_rows(started, saved, rows) -> None:
    """Wait until so many rows are counted, or the program has ended."""
    limit = time.monotonic() + PATIENCE
    while started.poll() is None and time.monotonic() < limit:
        with suppress(FileNotFoundError):  # it is gone when all is done
            position = read_state(saved, counting._KIND)[1]["position"]
            if position is not None and position[0][0] >= rows:
                return
        time.sleep(0.02)


#: Faults within a process, and such as need a program of their own.
QUICK = (cut_counts, cut_predictions, stopped_progress)
SLOW = (full_disk, full_output, stop_and_go_on)
