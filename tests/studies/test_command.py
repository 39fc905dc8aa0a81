"""`python -m benchmarks.studies`: files, stops and refusals."""

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
from studies.__main__ import main
from studies.run import Options, table5

ROOT = Path(__file__).parents[2]
EPSILON = ["table5", "--replications", "60", "--workers", "1"]
IRIS = ["--dataset", "iris", "--sets", "8", "--workers", "1"]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "deep" / "studies"


def run(capsys, *words):
    """The exit code, and what is printed on standard output and error."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code
    return code, *capsys.readouterr()


def refused(capsys, *words):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    return err


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_table_on_the_terminal_and_files_in_the_folder(capsys, folder):
    code, out, err = run(capsys, *EPSILON, "--folder", str(folder))
    study = table5(Options(replications=60, workers=1))
    assert (code, out, err) == (0, f"{study}\n", "")
    assert names_in(folder) == [
        f"table5-epsilon.{kind}" for kind in ("csv", "md", "png", "rows", "svg")
    ]
    text = (folder / "table5-epsilon.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["type_i_error"]) for row in rows] == study.rate.tolist()
    text = (folder / "table5-epsilon.md").read_text()
    command = "python -m benchmarks.studies table5 --replications 60 --seed 1"
    assert f"Made by `{command}` with fastcmp" in text
    assert "| 5x2 BCV McNemar |" in text
    for kind in ("png", "svg"):
        assert command.encode() in (folder / f"table5-epsilon.{kind}").read_bytes()


@pytest.mark.parametrize(("name", "stem"), [("power", "power-iris"), ("errors", "errors-iris")])
def test_curves(capsys, folder, name, stem):
    options = [*IRIS, "--steps", "3", "--replications", "2", "--folder", str(folder)]
    code, out, err = run(capsys, name, *options)
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
    words = ["table5", "--dataset", "iris", "--sets", "4"]
    words += ["--replications", "12", "--workers", workers]
    command = [sys.executable, "-m", "benchmarks.studies", *words]
    program = "import sys; from benchmarks.studies.__main__ import main; sys.exit(main())"
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": paths}
    options = {"start_new_session": True, "env": environment}
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
        done = subprocess.run(
            [*command, "--folder", str(folder)], check=True, capture_output=True, env=environment
        )
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
        assert said in refused(capsys, *words.split(), "--folder", tmp_path / "out")


def test_without_scikit_learn(capsys, folder, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("sklearn", "sklearn.tree", "sklearn.datasets"):
        monkeypatch.setitem(sys.modules, name, None)
    options = ["table5", *IRIS, "--folder", str(folder)]
    error = refused(capsys, *options)
    assert "needs scikit-learn: pip install 'fastcmp[cv]'" in error
    # The epsilon data need no models.
    assert run(capsys, *EPSILON, "--folder", str(folder))[0] == 0


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
