"""`fastcmp doctor`: what it finds, and what it says where something is wrong."""

import json
import subprocess
import sys

import commands

import fastcmp


def run(capsys, *options):
    code, out, err = commands.run(capsys, "doctor", *options)
    assert err == ""
    return code, out


def test_all_is_well(capsys):
    code, out = run(capsys)
    assert code == 0
    assert out.startswith(f"fastcmp {fastcmp.__version__} works.\n\nMachine\nPython: ")
    code, out = run(capsys, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert (found["works"], found["problems"], found["cache_writable"]) == (True, [], True)
    assert found["cache_kernels"] > 0
    assert found["cache_bytes"] > 1000 * found["cache_kernels"]
    assert found["first_answer_seconds"] > 0


def test_without_numba_it_still_says_so():
    program = """
import sys
sys.modules["numba"] = None
sys.modules["llvmlite"] = None
sys.modules["pyarrow"] = None
from fastcmp.cli import main
sys.exit(main(["doctor"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "No answer can be computed (ModuleNotFoundError: " in done.stdout
    assert "Processor: unknown" in done.stdout
