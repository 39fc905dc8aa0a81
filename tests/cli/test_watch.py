"""`fastcmp watch`: a growing file, whole rows only, saved looks, exit status."""

import threading
import time

import commands
import numpy as np
import pytest

from fastcmp.sequential import PairLooks
from fastcmp.stream import PairCounts


def run(capsys, *words):
    return commands.run(capsys, "watch", *words)


def rows(n, seed, accuracies=(0.9, 0.7)):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    preds = [np.where(rng.random(n) < p, y_true, 1 - y_true) for p in accuracies]
    table = np.column_stack([y_true, *preds])
    return "".join(",".join(map(str, row)) + "\n" for row in table.tolist())


def test_whole_rows_are_counted_as_they_come(capsys, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,b\n" + rows(10, 1) + "1,")
    code, out, err = run(capsys, path, "--once", "--alpha", "1e-9")
    assert (code, err) == (1, "")
    assert out.startswith("10 samples: a minus b")
    assert out.endswith("not decided after 10 samples\n")

    def write():
        for seed in range(2, 40):
            time.sleep(0.02)
            with path.open("a") as file:
                file.write("1,1\n" + rows(10, seed) + "1,")

    writer = threading.Thread(target=write)
    writer.start()
    code, out, _ = run(capsys, path, "--every", "0.05", "--for", "60")
    writer.join()
    assert code == 0
    lines = out.splitlines()
    assert lines[-1].endswith(": a is better")
    assert lines[-1].startswith("decided after ")


def test_a_look_says_what_the_state_says(capsys, tmp_path):
    path = tmp_path / "p.csv"
    text = rows(200, 5, (0.9, 0.8, 0.7))
    path.write_text("y_true,a,b,c\n" + text)
    table = np.array([line.split(",") for line in text.split()]).astype(int)
    counts = PairCounts(["a", "b", "c"]).update(table[:, 0], table[:, 1:].T)
    wanted = PairLooks().look(counts)
    out = run(capsys, path, "--once")[1]
    assert f"{wanted.n_significant} of 3 pairs decided" in out
    assert ", ".join(wanted.best) in out


def test_looks_are_saved_and_go_on(capsys, tmp_path):
    path, state = tmp_path / "p.csv", tmp_path / "looks"
    path.write_text("y_true,a,b\n" + rows(300, 3))
    options = (path, "--once", "--state", state)
    code, _out, _ = run(capsys, *options)
    assert code == 0
    # Much that speaks against a does not take back what was decided.
    with path.open("a") as file:
        file.write(rows(300, 4, (0.6, 0.9)))
    assert run(capsys, *options)[0] == 0
    code, _, err = run(capsys, *options, "--alpha", "0.2")
    assert code == 64
    assert "was begun with --alpha 0.05, not 0.2" in err
    path.write_text("y_true,a,b\n" + rows(10, 3))
    code, _, err = run(capsys, *options)
    assert code == 64
    assert "counts must not shrink" in err


def test_bad_input_exits_with_64(capsys, tmp_path):
    for arguments, wanted in (
        *((["--every", "0"], "--every must be a number of seconds"), (["--for", "-1"], "--for")),
        *((["--alpha", "2"], "--alpha"), (["--adjust", "holm"], "--adjust must be one of")),
        *((["--target", "truth"], "(--target)"), (["--until", "never"], "--until")),
        (["--nothing"], "unrecognized arguments: --nothing"),
    ):
        path = tmp_path / "p.csv"
        path.write_text("y_true,a,b\n" + rows(10, 1))
        code, out, err = run(capsys, path, "--once", *arguments)
        assert (code, out) == (64, "")
        assert wanted in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("rows", ["", "1,1,0\n"])
def test_a_file_with_fewer_than_two_rows_waits(capsys, tmp_path, rows):
    path = tmp_path / "p.csv"
    path.write_text(f"y_true,a,b\n{rows}")
    code, out, err = run(capsys, path, "--once")
    assert (code, out, err) == (1, "not decided after 0 samples\n", "")
