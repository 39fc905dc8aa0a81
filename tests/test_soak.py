"""The soak test in its short form: load, faults, and nothing left."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[1] / "benchmarks" / "soak.py"


def soak(*options):
    command = [sys.executable, str(SOAK), *map(str, options)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=400)


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and starts forkservers")
def test_soak():
    done = soak("--minutes", 0.7)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "all is well"
    assert done.stderr == ""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and starts forkservers")
def test_a_job_can_be_repeated():
    first, second = (soak("--seed", 3, "--job", 8) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
