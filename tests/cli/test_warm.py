"""`fastcmp warm`, and the line on a terminal where a command has to compile."""

import os
import re
import subprocess
import sys
from importlib import import_module

import pytest

from fastcmp.cli import main

COMMAND = [sys.executable, "-m", "fastcmp"]
MESSAGE = "fastcmp: compiling kernels, once, some seconds"


def test_nothing_is_compiled_twice(capsys):
    kinds = ("labels", "scores")
    assert main(["warm", *kinds]) == 0
    capsys.readouterr()
    assert main(["warm", *kinds]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"Compiled 0 kernels in [\d.]+ s\. .+ holds \d+, [\d.]+ MB\.\n", out)
    assert [line.split(",")[0] for line in err.splitlines()] == [
        "fastcmp: labels: 0 kernels",
        "fastcmp: scores: 0 kernels",
    ]


def refused(capsys, *arguments):
    assert main(["warm", *arguments]) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_kinds_that_do_not_exist(capsys):
    wanted = "fastcmp: KIND must be one of labels, metrics, values, scores, tasks, plan"
    assert refused(capsys, "label") == f"{wanted}, got 'label'\n"


def test_without_the_compiler():
    done = subprocess.run(
        [*COMMAND, "warm"],
        env=os.environ | {"FASTCMP_COMPILE": "never"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 64
    assert "NUMBA_DISABLE_JIT or FASTCMP_COMPILE is set" in done.stderr


@pytest.mark.full
@pytest.mark.parametrize("kind", ["labels", "metrics", "values", "scores", "tasks", "plan"])
def test_every_kind_runs(capsys, kind):
    assert main(["warm", kind]) == 0
    assert capsys.readouterr().out.startswith("Compiled ")


def on_a_terminal(*arguments, **environment):
    """Run the program with standard error on a terminal; return what it shows there."""
    pty = import_module("pty")
    ours, its = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=its,
        env=os.environ | environment,
    ) as process:
        os.close(its)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # Linux says so where the other end is closed
            pass
        finally:
            os.close(ours)
        assert process.wait(timeout=60) == 0
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_only_the_first_command_says_that_it_compiles(tmp_path):
    options = ["holdout", "--example", "digits", "--models", "mlp", "knn_3"]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path), "FASTCMP_COMPILE": "always"}
    assert on_a_terminal(*options, **cache) == f"{MESSAGE}\n"
    assert on_a_terminal(*options, **cache) == ""
    cache["NUMBA_CACHE_DIR"] = str(tmp_path / "other")
    on_a_terminal("warm", "labels", **cache)
    shown = on_a_terminal("compare", "--example", "digits", **cache)
    assert MESSAGE not in shown  # a bar, where the machine is busy
