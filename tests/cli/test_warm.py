"""`fastcmp warm`, and the line on a terminal where a command has to compile."""

import io
import logging
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest

from fastcmp import _jit
from fastcmp.cli import compiling, main, warm
from fastcmp.kernels import binomial_half

COMMAND = [sys.executable, "-m", "fastcmp"]
MESSAGE = "fastcmp: compiling kernels, once, some seconds"


class Terminal(io.StringIO):
    def isatty(self):
        return True


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


def test_a_folder_that_cannot_be_written(capsys, monkeypatch):
    monkeypatch.setattr("fastcmp._cache.cache_directory", lambda: None)
    assert "set NUMBA_CACHE_DIR to a folder that can be" in refused(capsys)


def test_without_the_compiler(capsys, monkeypatch):
    jit = import_module("fastcmp._jit")
    monkeypatch.setattr(jit, "INTERPRETED", True)
    assert "NUMBA_DISABLE_JIT or FASTCMP_COMPILE is set" in refused(capsys)


def test_without_the_library_that_reads_files(capsys, monkeypatch):
    monkeypatch.setattr(warm, "find_spec", lambda _: None)
    monkeypatch.setitem(warm._COMMANDS, "scores", ("compare /nonexistent.csv",))
    assert main(["warm", "scores"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("fastcmp: for calls from Python only: reading files needs ")


@pytest.mark.full
@pytest.mark.parametrize("kind", warm._COMMANDS)
def test_every_kind_runs(capsys, kind):
    assert main(["warm", kind]) == 0
    assert capsys.readouterr().out.startswith("Compiled ")


def test_a_command_that_fails_is_an_error(capsys, monkeypatch):
    monkeypatch.setitem(warm._COMMANDS, "plan", ("compare /nonexistent.csv",))
    assert main(["warm", "plan"]) == 70
    assert "No such file" in capsys.readouterr().err


@pytest.fixture
def unheard(monkeypatch):
    """The logger before anybody has been told."""
    monkeypatch.setattr(_jit, "_waited", 0.0)
    own, known = logging.Logger("own"), logging.getLogger  # pytest does not listen to it
    chosen = {"fastcmp.compiling": own}
    monkeypatch.setattr(logging, "getLogger", lambda x=None: chosen.get(x) or known(x))


@pytest.mark.usefixtures("unheard")
@pytest.mark.parametrize(("stream", "wanted"), [(Terminal, f"{MESSAGE}\n"), (io.StringIO, "")])
def test_the_line_is_for_people_and_said_once(monkeypatch, stream, wanted):
    monkeypatch.setattr("sys.stderr", stream())
    _jit._tell(0.9)
    assert sys.stderr.getvalue() == ""
    _jit._tell(0.9)
    _jit._tell(0.9)
    assert sys.stderr.getvalue() == wanted


@pytest.mark.usefixtures("unheard")
def test_it_says_if_nothing_is_kept(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr("fastcmp._cache.cache_directory", lambda: None)
    _jit._tell(2.0)
    assert "each time anew: see fastcmp doctor" in sys.stderr.getvalue()


def test_each_kernel_that_is_compiled_is_counted(monkeypatch):
    # A kernel that no run has cached, and one that has been compiled by then.
    fresh = _jit.kernel(lambda x: x + 1)
    with monkeypatch.context() as patch:
        patch.setattr("fastcmp._compiler.cache_directory", lambda: None)
        assert fresh.compiled
    with _jit.always_compiled(), compiling.counting() as names:
        fresh(1)
        fresh(2)
        binomial_half(3, 4)
        binomial_half(3, 4)
    assert names[0] == "compiling <lambda>"
    assert names.count("compiling <lambda>") == 1


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


@pytest.mark.full
def test_what_is_warm_is_not_compiled_again(tmp_path):
    program = """
import sys
from fastcmp.cli import main
from fastcmp.cli.compiling import counting
with counting() as names:
    code = main(sys.argv[1:])
sys.exit(code or min(len(names), 99))
"""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "FASTCMP_COMPILE": "always"},
            capture_output=True,
            check=False,
            timeout=200,
        ).returncode

    compare = ("compare", "--example", "digits")
    assert run("warm", "labels") > 10
    assert run(*compare) == 0
