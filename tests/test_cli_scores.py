"""The commands on scores, run in this process."""

import csv
import io
import json

import pytest

import fastcmp
from fastcmp.cli import main

DIGITS = ("--example", "digits")


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, *words):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("fastcmp: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture
def ill(tmp_path):
    path = tmp_path / "ill.csv"
    rows = ["well,0.1,3", "well,0.4,1", "ill,0.35,2", "ill,0.8,5", "ill,0.9,4"]
    path.write_text("y_true,a,b\n" + "\n".join(rows) + "\n")
    return path


def test_roc_of_many_models(capsys):
    code, out, _ = run(capsys, "roc", *DIGITS)
    is_eight, scores = fastcmp.load_digits_scores()
    result = fastcmp.delong(is_eight, scores).pairwise()
    assert code == 0
    assert out.rstrip("\n") == str(result).rstrip("\n")
    assert "DeLong's test" in out


@pytest.mark.parametrize("models", [["mlp"], ["mlp", "knn_3"]])
def test_roc_of_one_and_two(capsys, models):
    code, out, _ = run(capsys, "roc", *DIGITS, "--scores", *models)
    assert code == 0
    assert ("DeLong's test" in out) == (len(models) == 2)
    code, out, _ = run(capsys, "roc", *DIGITS, "--scores", *models, "--format", "json")
    told = json.loads(out)
    assert told["models"]["model"] == models
    assert ("pvalue" in told) == (len(models) == 2)


def test_a_named_positive_class(capsys, ill):
    words = ("roc", ill, "--positive", "ill", "--format", "csv")
    code, out, _ = run(capsys, *words)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["model"] for row in rows] == ["a", "b"]
    assert float(rows[0]["auc"]) == pytest.approx(5 / 6)
    err = refused(capsys, "roc", ill)
    assert "pass positive=" in err
    assert "positive='sick'" in refused(capsys, "roc", ill, "--positive", "sick")


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
@pytest.mark.parametrize("command", ["roc", "cutpoint", "lift"])
def test_every_format(capsys, tmp_path, command, form):
    words = (command, *DIGITS, "--scores", "mlp", "--format", form)
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert out.strip()
    path = tmp_path / "out"
    assert run(capsys, *words, "--output", path) == (0, "", "")
    assert path.read_text().strip() == out.strip()


def test_cutpoint(capsys, ill):
    words = ("cutpoint", ill, "--positive", "ill", "--scores", "a")
    code, out, _ = run(capsys, *words, "--criterion", "accuracy")
    assert code == 0
    assert "Where to cut (accuracy)" in out
    code, out, _ = run(capsys, *words, "--criterion", "cost", "--cost-fn", 9)
    assert code == 0
    assert "0.35" in out
    assert "name one column of scores" in refused(capsys, "cutpoint", ill)
    assert "criterion" in refused(capsys, *words, "--criterion", "best")


def test_lift(capsys, ill):
    words = ("lift", ill, "--positive", "ill", "--scores", "b")
    code, out, _ = run(capsys, *words, "--groups", 5)
    assert code == 0
    assert "Lift by group" in out
    assert "groups" in refused(capsys, *words, "--groups", 6)
    assert "ties" in refused(capsys, *words, "--groups", 2, "--ties", "none")


@pytest.mark.parametrize("command", ["roc", "cutpoint", "lift"])
def test_plots(capsys, tmp_path, command):
    path = tmp_path / "picture.png"
    words = (command, *DIGITS, "--scores", "mlp", "--plot", path)
    code, _, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert path.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("command", ["roc", "cutpoint", "lift"])
def test_what_is_refused(capsys, tmp_path, command):
    assert "pass a prediction file" in refused(capsys, command)
    assert "No such file" in refused(capsys, command, tmp_path / "none.csv")
    path = tmp_path / "text.csv"
    path.write_text("y_true,a\n0,x\n1,y\n")
    assert "numbers" in refused(capsys, command, path)
    path.write_text("y_true,a\n0,1\n1,\n0,2\n")
    assert "a" in refused(capsys, command, path)
    path.write_text("y_true,a\n1,1\n1,2\n1,3\n")
    assert refused(capsys, command, path)
