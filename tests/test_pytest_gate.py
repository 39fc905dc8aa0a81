"""The fixture `model_gate` in a project of its own: what passes, what fails, and what is said."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

TEST = """
import os
import numpy as np

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 3, 400)
NOISE = RNG.random(400)
WRONG = float(os.environ.get("WRONG", 0.1))
OWN = np.random.default_rng(int(os.environ.get("SEED", 5))).random(400)
PRED = np.where(OWN < WRONG, (Y + 1) % 3, Y)
ORDER = RNG.permutation(400) if os.environ.get("ORDER") else np.arange(400)
N = int(os.environ.get("N", 400))
IDS = np.array([f"item {i}" for i in range(400)])[ORDER][:N]
Y, PRED = Y[ORDER][:N], PRED[ORDER][:N]
Y = np.where(np.arange(N) < int(os.environ.get("CHANGED", 0)), 7, Y)


def test_labels(model_gate):
    model_gate(Y, PRED, ids=IDS, margin=0.03)


def test_metric(model_gate):
    model_gate(Y, PRED, ids=IDS, margin=0.05, metric="f1_macro", allow_cannot_tell=True)


def test_values(model_gate):
    loss = (NOISE * (1 + WRONG))[ORDER][:N]
    model_gate(values=loss, ids=IDS, margin=0.05, lower_is_better=True, name="loss")
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_model.py").write_text(TEST)

    def run(*words, **variables):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "fastcmp.pytest_gate", *words],
            cwd=folder,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    run.folder = folder
    return run


def test_from_no_baseline_to_a_model_that_is_worse(project):
    code, out = project()
    assert code == 1
    assert "there is no baseline" in out
    assert "pytest --fastcmp-update keeps this run as one" in out
    assert not (project.folder / "fastcmp_baselines").exists()

    assert project("--fastcmp-update")[0] == 0
    kept = project.folder / "fastcmp_baselines"
    names = {path.name for path in kept.iterdir()}
    assert names == {
        f"test_model-test_{x}.{kind}"
        for x in ("labels", "metric", "values-loss")
        for kind in ("arrow", "json")
    }
    summary = json.loads((kept / "test_model-test_labels.json").read_text())
    assert summary["n_items"] == 400
    assert 0.87 < summary["accuracy"] < 0.93

    # The same model, its items in another order.
    code, out = project("--junitxml=junit.xml", ORDER="1")
    assert code == 0, out
    (suite,) = ET.parse(project.folder / "junit.xml").getroot()
    told = {
        (case.get("name"), x.get("name")): x.get("value")
        for case in suite
        for x in case.iter("property")
    }
    assert told["test_labels", "fastcmp_accuracy_outcome"] == "not worse"
    assert told["test_labels", "fastcmp_accuracy_difference"] == "0.0"
    assert told["test_values", "fastcmp_loss_margin"] == "0.05"

    code, out = project(WRONG="0.3")
    assert code == 1
    assert "3 failed" in out
    assert "against the baseline test_model-test_labels.arrow: worse" in out
    assert "To accept it nevertheless: pytest --fastcmp-update" in out
    assert "Traceback" not in out

    # Slightly worse: the items are too few, which only one of the tests allows.
    code, out = project(WRONG="0.12", SEED="6")
    assert code == 1
    assert "cannot tell" in out
    assert "FAILED test_model.py::test_labels" in out
    assert "test_metric" not in out


def test_other_items_and_other_truth(project):
    assert project("--fastcmp-update")[0] == 0
    code, out = project(N="390")
    assert code == 1
    assert "10 of its items are missing (item 390, item 391, item 392, ...)" in out
    assert project(CHANGED="2")[0] == 1
    assert "2 items have other true labels" in project(CHANGED="2")[1]


def test_workers_do_not_write(project):
    code, out = project("-p", "xdist", "-n", "1", "--fastcmp-update")
    assert code == 1
    assert "run it without -n" in out
    assert not (project.folder / "fastcmp_baselines").exists()


def test_what_is_no_comparison(project):
    (project.folder / "test_model.py").write_text(
        """
import pytest

@pytest.mark.parametrize("given", [
    {}, {"y_true": [0]}, {"y_true": [0, 1], "y_pred": [0, 1], "values": [1, 2]},
])
def test_data(model_gate, given):
    with pytest.raises(TypeError, match="one of them"):
        model_gate(**given, margin=0.1)

def test_ids(model_gate):
    with pytest.raises(ValueError, match="ids must differ"):
        model_gate([0, 1], [0, 1], ids=["a", "a"], margin=0.1)
    with pytest.raises(ValueError, match="id has 1 items"):
        model_gate([0, 1], [0, 1], ids=["a"], margin=0.1)
"""
    )
    code, out = project()
    assert code == 0, out
