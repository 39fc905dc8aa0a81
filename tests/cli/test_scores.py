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
    assert (code, out) == (64, "")
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
    assert out.rstrip("\n") == result.summary().rstrip("\n")
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
    assert [row["model"] for row in rows[:2]] == ["a", "b"]
    assert float(rows[0]["auc"]) == pytest.approx(5 / 6)
    err = refused(capsys, "roc", ill)
    assert "pass --positive" in err
    assert "--positive sick" in refused(capsys, "roc", ill, "--positive", "sick")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["1.0", "0.0"], ["1", "1.0", "1e0"]),
        (["1", "0"], ["1", "1.0"]),
        (["true", "false"], ["true", "True", "TRUE"]),
        (["2020-01-02", "2020-01-01"], ["2020-01-02"]),
    ],
)
def test_the_positive_class_as_people_write_it(capsys, tmp_path, labels, names):
    path = tmp_path / "p.csv"
    yes, no = labels
    path.write_text(f"y_true,s\n{yes},3\n{no},1\n,9\n{yes},4\n{no},3\n")
    for name in names:
        words = ("roc", path, "--positive", name, "--format", "csv")
        code, out, err = run(capsys, *words)
        assert (code, err) == (0, "")
        assert float(next(csv.DictReader(io.StringIO(out)))["auc"]) == 0.875
    assert "--positive z is not" in refused(capsys, "roc", path, "--positive", "z")


@pytest.mark.parametrize("models", [["mlp"], ["mlp", "knn_3"]])
def test_roc_has_intervals_of_a_level(capsys, models):
    words = ("roc", *DIGITS, "--scores", *models)
    for more, said in (
        (["--alpha", "nan"], "alpha must lie in (0, 1), got nan"),
        (["--alpha", 2], "alpha must lie in (0, 1), got 2.0"),
        (["--adjust", "z"], "adjust must be one of"),
    ):
        assert said in refused(capsys, *words, *more)
    is_eight, scores = fastcmp.load_digits_scores()
    result = fastcmp.delong(is_eight, {name: scores[name] for name in models})
    assert run(capsys, *words)[1] == f"{result.summary()}\n"
    ends = result.confidence_interval(0.8, "logit")
    _, out, _ = run(capsys, *words, "--alpha", 0.2)
    assert "80% CI (logit)" in out
    assert "95%" not in out
    assert f"[{ends.low[0]:.4f}, {ends.high[0]:.4f}]" in out
    if len(models) == 2:
        low, high = result.compare().confidence_interval(0.8)
        assert f"80% CI [{low:+.4f}, {high:+.4f}]" in out
    _, out, _ = run(capsys, *words, "--alpha", 0.2, "--format", "csv")
    row = next(csv.DictReader(io.StringIO(out)))
    assert (float(row["low"]), float(row["high"])) == (ends.low[0], ends.high[0])
    _, out, _ = run(capsys, *words, "--alpha", 0.2, "--format", "json")
    assert json.loads(out)["models"]["low"] == ends.low.tolist()


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
    assert "Optimal cutoff (accuracy)" in out
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
def test_places_that_are_refused(capsys, tmp_path, ill, command):
    words = (command, ill, "--scores", "a", "--positive", "ill")
    before, same = ill.read_bytes(), tmp_path / "x.png"
    (tmp_path / "folder.png").mkdir()
    for more, said in (
        (["--output", ill], f"--output would write {ill} over what is read"),
        (["--plot", ill], f"--plot would write {ill} over what is read"),
        (["--plot", same, "--output", same], "--output and --plot would both write"),
        (["--plot", tmp_path / "folder.png"], "folder.png: Is a directory"),
        (["--plot", tmp_path / "no" / "x.png"], "x.png: No such file or directory"),
        (["--plot", tmp_path / "x.txt"], "--plot must end in one of ."),
        (["--plot", tmp_path / "dirout"], ".png, "),
    ):
        assert said in refused(capsys, *words, *more), more
    assert ill.read_bytes() == before
    assert "no column 'zz' (--scores)" in refused(capsys, command, ill, "--scores", "zz")


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
