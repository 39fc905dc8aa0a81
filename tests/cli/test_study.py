"""`fastcmp study`: files, formats, stops and refusals."""

import csv
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from children import started
from commands import refused, run

from fastcmp.studies import Options, table5

EPSILON = ["study", "table5", "--replications", "60", "--workers", "1"]
IRIS = ["--dataset", "iris", "--sets", "8", "--workers", "1"]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "deep" / "studies"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_table_on_the_terminal_and_files_in_the_folder(capsys, folder):
    code, out, err = run(capsys, *EPSILON, "--folder", str(folder))
    study = table5(Options(replications=60, workers=1))
    assert (code, out, err) == (0, f"{study.summary()}\n", "")
    assert names_in(folder) == [
        f"table5-epsilon.{kind}" for kind in ("csv", "md", "png", "rows", "svg")
    ]
    text = (folder / "table5-epsilon.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["type_i_error"]) for row in rows] == study.rate.tolist()
    text = (folder / "table5-epsilon.md").read_text()
    command = "fastcmp study table5 --replications 60 --seed 1"
    assert f"Made by `{command}` with fastcmp" in text
    assert "| 5x2 BCV McNemar |" in text
    for kind in ("png", "svg"):
        assert command.encode() in (folder / f"table5-epsilon.{kind}").read_bytes()


@pytest.mark.parametrize(("name", "stem"), [("power", "power-iris"), ("errors", "errors-iris")])
def test_curves(capsys, folder, name, stem):
    options = [*IRIS, "--steps", "3", "--replications", "2", "--folder", str(folder)]
    code, out, err = run(capsys, "study", name, *options)
    assert (code, err) == (0, "")
    assert "upsilon" in out
    kinds = {"csv", "md", "png", "svg"} | ({"rows"} if name == "power" else set())
    assert names_in(folder) == sorted(f"{stem}.{kind}" for kind in kinds)
    made = "--dataset iris --replications 2 --seed 1 --steps 3 --sets 8"
    assert made in (folder / f"{stem}.md").read_text()


# Stops.


@pytest.mark.full
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_process_that_is_interrupted(tmp_path, workers):
    words = ["study", "table5", "--dataset", "iris", "--sets", "4"]
    words += ["--replications", "12", "--workers", workers, "--format", "csv"]
    command = [sys.executable, "-m", "fastcmp", *words]
    program = "from fastcmp.cli import run; run()"
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    options = {"start_new_session": True}
    with started(program, *words, "--folder", stopped, **options) as process:
        file = stopped / "table5-iris.rows"
        while not file.exists():
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    # A worker process that a signal meets while it starts complains for itself.
    assert "stopped: the same command continues\n" in err
    assert workers == "2" or err.count("\n") == 1
    for folder in (stopped, whole):
        done = subprocess.run([*command, "--folder", str(folder)], check=True, capture_output=True)
        assert done.stderr == b""
    names = [folder / "table5-iris.csv" for folder in (stopped, whole)]
    assert names[0].read_bytes() == names[1].read_bytes()


# Refusals.


def test_bad_options(capsys, tmp_path):
    for words, said in (
        ("tables", "invalid choice: 'tables'"),
        ("table5 --dataset exp7", "dataset must be one of"),
        ("table5 --replications many", "invalid int value"),
        ("table5 --workers 0", "workers must be at least 1, got 0"),
        ("power --dataset epsilon", "fixed error rates"),
        ("table5 --dataset letter", "letter needs path"),
        ("table5 --dataset mnist --path none", "none"),
        ("correlations --replications 1", "replications must be at least 2"),
    ):
        assert said in refused(capsys, "study", *words.split(), "--folder", tmp_path / "out")


def test_without_matplotlib(capsys, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, *EPSILON, "--folder", str(folder))
    assert code == 0
    assert "Type I errors, epsilon" in out
    assert err == "no picture: pip install 'fastcmp[plot]'\n"
    assert names_in(folder) == [f"table5-epsilon.{x}" for x in ("csv", "md", "rows")]


def test_without_scikit_learn(capsys, folder, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("sklearn", "sklearn.tree", "sklearn.datasets"):
        monkeypatch.setitem(sys.modules, name, None)
    options = ["study", "table5", *IRIS, "--folder", str(folder)]
    error = refused(capsys, *options)
    assert "needs scikit-learn: pip install 'fastcmp[cv]'" in error
    # The epsilon data need no models.
    assert run(capsys, *EPSILON, "--folder", str(folder))[0] == 0


@pytest.mark.full
def test_the_command_of_the_benchmarks(tmp_path):
    """It is a line that names the folder: run from a copy, so that none is written."""
    root = Path(__file__).parents[2]
    copy = tmp_path / "benchmarks" / "studies"
    copy.mkdir(parents=True)
    for path in (root / "benchmarks" / "studies").glob("*.py"):
        (copy / path.name).write_text(path.read_text())
    words = ["table5", "--replications", "50", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.studies", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(root)])},
        check=True,
        capture_output=True,
        text=True,
    )
    assert "50 data sets" in done.stdout
    assert "table5-epsilon.md" in names_in(tmp_path / "docs" / "studies")


def test_folders_that_cannot_be(capsys, tmp_path, folder):
    file = tmp_path / "file"
    file.write_text("in the way")
    assert str(file) in refused(capsys, *EPSILON, "--folder", str(file))
    assert str(file) in refused(capsys, *EPSILON, "--folder", str(file / "below"))
    folder.mkdir(parents=True)
    (folder / "table5-epsilon.rows").write_text("not a saved state")
    error = refused(capsys, *EPSILON, "--folder", str(folder))
    assert "table5-epsilon.rows is not a file of partial results" in error
    assert "delete it to start anew" in error
    (folder / "table5-epsilon.rows").unlink()
    run(capsys, *EPSILON, "--folder", str(folder))
    error = refused(capsys, *EPSILON, "--seed", "2", "--folder", str(folder))
    assert "seed = 1, asked for was 2" in error
