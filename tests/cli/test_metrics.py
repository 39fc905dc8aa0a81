"""`fastcmp compare --metric`: whole files, files in blocks, refusals."""

import numpy as np
import pytest
from commands import answer, refused
from libraries import pd

from fastcmp import compare_all, make_metric

N = 400
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def frame():
    y = RNG.choice(["no", "yes", "maybe"], N, p=[0.5, 0.3, 0.2])
    columns = {"y_true": y}
    for name, right in (("a", 0.9), ("b", 0.8), ("c", 0.6)):
        other = RNG.choice(["no", "yes", "maybe"], N)
        columns[name] = np.where(RNG.random(N) < right, y, other)
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("labels") / "preds.csv"
    frame.to_csv(place, index=False)
    return place


def in_memory(frame, **options):
    return compare_all(frame["y_true"], frame.drop(columns="y_true"), **options)


@pytest.mark.parametrize("blocks", [False, True])
def test_metrics_of_files(capsys, frame, path, tmp_path, blocks):
    more = ["--checkpoint", tmp_path / "state"] if blocks else []
    found = answer(capsys, "compare", path, "--metric", "f1", "--average", "macro", *more)
    wanted = in_memory(frame, metric="f1_macro")
    assert (found["record"], found["metric"]) == ("MetricsResult", "f1_macro")
    assert found["pairs"]["pvalue"] == pytest.approx(wanted.pvalue.tolist())
    assert found["leaderboard"]["macro F1"] == wanted.leaderboard.score.tolist()
    assert not (tmp_path / "state").exists()


def test_options_of_metrics(capsys, frame, path):
    found = answer(
        capsys, "compare", path, "--metric", "precision_macro", "--labels", "no", "yes",
        "--zero-division", "nan", "--method", "delta", "--control", "b",
    )  # fmt: skip
    metric = make_metric("precision_macro", labels=["no", "yes"], zero_division=float("nan"))
    wanted = in_memory(frame, metric=metric, method="delta", control="b")
    assert found["pairs"]["pvalue"] == pytest.approx(wanted.pvalue.tolist())
    drawn = answer(
        capsys, "compare", path, "--metric", "mcc", "--method", "bootstrap",
        "--n-resamples", "99", "--seed", "5",
    )  # fmt: skip
    wanted = in_memory(frame, metric="mcc", method="bootstrap", n_resamples=99, rng=5)
    assert drawn["pairs"]["low"] == pytest.approx(wanted.interval[:, 0].tolist())
    assert drawn["seed"] == 5


@pytest.mark.parametrize("labels", [["0", "1"], ["true", "false"], ["x", "y"]])
def test_the_positive_class(capsys, tmp_path, labels):
    y = RNG.choice(labels, 60)
    columns = {"y_true": y, "a": np.where(RNG.random(60) < 0.8, y, labels[0])}
    columns["b"] = np.where(RNG.random(60) < 0.6, y, labels[1])
    pd.DataFrame(columns).to_csv(tmp_path / "two.csv", index=False)
    options = ("--metric", "f1", "--positive", labels[0])
    found = answer(capsys, "compare", tmp_path / "two.csv", *options)
    metric = make_metric("f1", positive=labels[0])
    wanted = compare_all(y, [columns["a"], columns["b"]], metric=metric)
    assert found["pairs"]["pvalue"] == pytest.approx(wanted.pvalue.tolist())


def test_refused(capsys, path, tmp_path):
    for said, *options in (
        ("--average", "--metric", "f1"),
        ("--metric must be one of accuracy", "--metric", "nope"),
        ("needs two classes", "--metric", "f1", "--positive", "yes"),
        ("pass --metric or --test, not both", "--metric", "mcc", "--test", "cost"),
        ("--positive is for --metric NAME", "--positive", "yes"),
        ("--zero-division", "--metric", "precision_macro", "--zero-division", "2"),
        ("larger --memory-limit", "--metric", "mcc", "--memory-limit", "1k"),
        (
            "--missing must be 'raise' where samples are counted",
            *("--metric", "mcc", "--missing", "wrong", "--checkpoint", tmp_path / "state"),
        ),
    ):
        assert said in refused(capsys, "compare", path, *options), options
    err = refused(capsys, "compare", "--values", path, "--metric", "mcc")
    assert "--metric is for predicted labels" in err
