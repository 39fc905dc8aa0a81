"""`fastcmp report`: what the function gives, of files; errors in one line."""

import json

import numpy as np
import pytest
from commands import refused, run, written

import fastcmp


@pytest.fixture
def words(tmp_path):
    """Write a file of words, and tell what it holds."""
    rng = np.random.default_rng(5)
    known = np.array(["cat", "dog", "eel"])
    y_true = known[rng.integers(0, 3, 300)]
    preds = {
        name: np.where(rng.random(300) < p, y_true, known[rng.integers(0, 3, 300)])
        for name, p in (("a", 0.8), ("b", 0.5))
    }
    return written(tmp_path / "p.csv", y_true=y_true, **preds), y_true, preds


@pytest.mark.parametrize("control", [None, "b"])
@pytest.mark.parametrize("limit", ["4GB", "1kB"])
def test_files_are_read_whole_or_in_blocks(capsys, words, control, limit, tmp_path):
    path, y_true, preds = words
    more = () if control is None else ("--control", control)
    saved = tmp_path / "report.json"
    code, out, err = run(
        capsys,
        *("report", path, *more, "--labels", "dog,cat", "--positive", "cat"),
        *("--memory-limit", limit, "--output", saved),
    )
    assert (code, out, err) == (0, "", "")
    wanted = fastcmp.classification_report(
        y_true, preds, control=control, labels=["dog", "cat"], positive="cat"
    )
    found = fastcmp.from_dict(json.loads(saved.read_text()))
    assert found == wanted


def test_wrong_options_are_refused(capsys):
    for message, *options in (
        ("--control names no model 'zz'", "--control", "zz"),
        ("at least 2 models", "--models", "mlp", "--control", "mlp"),
        ("--metrics must be one of accuracy", "--metrics", "magic"),
        ("pass it as --overall", "--metrics", "mcc"),
        ("--overall must be of all 10 classes", "--overall", "f1"),
        ("--labels must be classes of the data", "--labels", "77,x"),
        ("--positive must be one of 0, 1", "--positive", "cat"),
        ("--alpha must lie in", "--alpha", "3"),
        ("zero-division", "--zero-division", "2"),
        ("no/such", "--output", "no/such/r.json"),
    ):
        assert message in refused(capsys, "report", "--example", "digits", *options), options


def test_wrong_files_are_refused(capsys, tmp_path):
    path = tmp_path / "p.csv"
    for text, message in (
        ("y_true,a\n0,0.2\n1,0.7\n0,0.1\n1,0.9\n", "no label of"),
        ("y_true,a\n0,0\n", "at least 2 samples"),
        ("y_true,a\n0,0\n1,\n0,1\n", "no prediction at row 1"),
        ("y_true\n0\n1\n", "at least 1 model"),
    ):
        path.write_text(text)
        for more in ((), ("--memory-limit", "1kB")):
            assert message in refused(capsys, "report", path, *more), text


def test_models_and_options(capsys):
    for names, words, options in (
        (["mlp"], "", {}),
        (["svm_rbf", "knn_3", "mlp"], "", {}),
        (
            ["svm_rbf", "knn_3", "mlp"],
            "--control mlp --labels 3,1,4 --metrics f2 specificity --overall mcc --adjust bh "
            "--alpha 0.2 --digits 3 --zero-division nan --confidence-level 0.9",
            {
                "control": "mlp",
                "labels": [3, 1, 4],
                "metrics": ["f2", "specificity"],
                "overall": ["mcc"],
                "adjust": "bh",
                "alpha": 0.2,
                "digits": 3,
                "zero_division": np.nan,
                "confidence_level": 0.9,
            },
        ),
    ):
        found = run(capsys, "report", "--example", "digits", "--models", *names, *words.split())
        y_true, preds = fastcmp.load_digits()
        chosen = {name: preds[name] for name in names}
        wanted = fastcmp.classification_report(y_true, chosen, **options)
        assert found == (0, f"{wanted.summary()}\n", "")
