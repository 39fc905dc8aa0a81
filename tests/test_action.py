"""The action for pull requests: its steps, run by bash as a runner does, in a clean environment."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "gate"
BASH = shutil.which("bash")
#: In the place of GitHub's own program: it says what was asked, and has one comment.
GH = """#!/usr/bin/env bash
echo "$@" >>"$CALLS"
if [ -n "${READ_ONLY:-}" ] && [ "$2" = --method ]; then exit 1; fi
if [ "$2" = --paginate ]; then echo "${COMMENT:-}"; fi
"""


def steps():
    """Name and script of each step, and the inputs that it takes by its environment."""
    text = (ACTION / "action.yml").read_text()
    parts = text.split("    - name: ")[1:]
    found = {}
    for part in parts:
        lines = part.splitlines()
        (run,) = [x.partition("run: ")[2] for x in lines if x.strip().startswith("run: ")]
        env = dict(x.strip().split(": ", 1) for x in lines if x.startswith("        "))
        found[lines[0]] = run, env
    return found


@pytest.fixture
def job(tmp_path):
    """Run the steps of a job; the variables are those of a runner, and the inputs'."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "gh").write_text(GH)
    (bin_folder / "gh").chmod(0o755)
    for name in ("python", "fastcmp"):
        own = Path(sys.executable).parent / name
        (bin_folder / name).symlink_to(own if own.exists() else sys.executable)
    for name in ("temp", "work"):
        (tmp_path / name).mkdir()

    def run(step, **variables):
        files = {x: tmp_path / x for x in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "CALLS")}
        known = {
            "PATH": f"{bin_folder}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_REPOSITORY": "someone/models",
            **{name: str(path) for name, path in files.items()},
            **{x: os.environ[x] for x in ("NUMBA_CACHE_DIR", "PYTHONPATH") if x in os.environ},
        }
        script, _ = steps()[step]
        done = subprocess.run(
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=tmp_path / "work",
            env=known | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        told = {name: path.read_text() if path.exists() else "" for name, path in files.items()}
        outputs = dict(line.split("=", 1) for line in told["GITHUB_OUTPUT"].splitlines())
        return done, outputs, told

    run.folder = tmp_path / "work"
    return run


def files(folder, wrong):
    """Two files of predictions of 400 samples; the new model errs on some more."""
    rows = [(i, i % 3) for i in range(400)]
    for name, errors in (("base", 20), ("new model", 20 + wrong)):
        lines = [f"{i},{y},{(y + (i * 7 % 400 < errors)) % 3}" for i, y in rows]
        (folder / f"{name}.csv").write_text("\n".join(["id,y_true,pred", *lines]) + "\n")


INPUTS = {"BASELINE": "base.csv", "CANDIDATE": "new model.csv", "MARGIN": "3pp"}
INPUTS |= {"METRIC": "accuracy f1_macro", "OPTIONS": "--average macro"}


def test_the_inputs_of_each_step_come_by_the_environment():
    found = steps()
    assert list(found) == ["Install", "Compare", "Comment", "Decide"]
    assert all("${{" not in script for script, _ in found.values())
    assert INPUTS.keys() <= found["Compare"][1].keys()
    for name in ("gate", "comment", "decide"):
        assert f"{name}.sh" in "".join(script for script, _ in found.values())


def test_a_pull_request_that_passes(job):
    files(job.folder, 0)
    done, outputs, told = job("Compare", **INPUTS)
    assert done.returncode == 0, done.stderr
    assert (outputs["outcome"], outputs["exit-status"]) == ("not worse", "0")
    assert told["GITHUB_STEP_SUMMARY"].startswith("<!-- fastcmp-gate -->")
    assert "macro" in told["GITHUB_STEP_SUMMARY"]
    report = Path(outputs["report"])
    assert json.loads((report / "gate.json").read_text())["outcome"] == "not worse"
    assert ET.parse(report / "gate.xml").getroot().get("failures") == "0"

    comment = {"NUMBER": "7", "REPORT": str(report), "GH_TOKEN": "t"}
    assert job("Comment", **comment)[0].returncode == 0
    _, _, told = job("Comment", **comment, COMMENT="91")
    first, made, _, updated = told["CALLS"].splitlines()
    assert first.startswith("api --paginate repos/someone/models/issues/7/comments")
    assert "--method POST repos/someone/models/issues/7/comments" in made
    assert "--method PATCH repos/someone/models/issues/comments/91" in updated
    # Of a fork: the token may only read.
    done, _, _ = job("Comment", **comment, READ_ONLY="1")
    assert (done.returncode, done.stdout.startswith("::notice::no comment")) == (0, True)

    fail_on = {"FAIL_ON": "worse, cannot tell"}
    assert job("Decide", OUTCOME=outputs["outcome"], **fail_on)[0].returncode == 0
    assert job("Decide", OUTCOME="cannot tell", **fail_on)[0].returncode == 1
    assert job("Decide", OUTCOME="cannot tell", FAIL_ON="worse")[0].returncode == 0


def test_a_model_that_is_worse_and_bad_input(job):
    files(job.folder, 60)
    done, outputs, _ = job("Compare", **INPUTS)
    assert done.returncode == 0, done.stderr
    assert (outputs["outcome"], outputs["exit-status"]) == ("worse", "1")
    done, _, _ = job("Decide", OUTCOME="worse", FAIL_ON="worse, cannot tell")
    assert (done.returncode, done.stdout) == (1, "::error::the new model: worse\n")
    done, _, _ = job("Compare", **INPUTS | {"CANDIDATE": "none; touch hacked"})
    assert done.returncode == 64
    assert "none; touch hacked" in done.stderr
    assert not (job.folder / "hacked").exists()
