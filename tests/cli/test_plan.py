"""`fastcmp plan`: what the functions say, errors in terms of options, and pictures."""

import json
import sys

import commands
import numpy as np
import pytest

import fastcmp
from fastcmp import planning


def run(capsys, line):
    return commands.run(capsys, "plan", *line.split())


CELLS = {"p10": 0.15, "p01": 0.05}
CURVES = {"correlation_positives": 0.5, "correlation_negatives": 0.4, "ratio": 2}
BOARD = {"n_resamples": 50, "rng": 3}
SAME = {
    "--p10 0.15 --p01 5% --power 0.8": lambda: planning.sample_size(**CELLS),
    "--n 500 --power 90% --discordant 10%": lambda: planning.detectable_difference(
        n=500, power=0.9, discordant=0.1
    ),
    "--accuracy 0.80 82% --agreement 0.9": lambda: planning.sample_size(
        accuracy_a=0.8, accuracy_b=0.82, agreement=0.9
    ),
    "--p10 0.05 --p01 0.05 --margin 1pp --hypothesis equivalence --method normal": lambda: (
        planning.sample_size(
            p10=0.05, p01=0.05, margin=0.01, hypothesis="equivalence", method="normal"
        )
    ),
    "--p10 0.15 --p01 0.05 --n 20 --conditional --tails right-direction": lambda: planning.power(
        n=20, conditional=True, tails="right-direction", **CELLS
    ),
    "--so-far 12 5 80 --n 100": lambda: planning.power(n=100, so_far=(12, 5, 80)),
    "--test mean --sd 0.5 --difference 0.02 --lower-is-better --margin 0.1": lambda: (
        planning.sample_size("mean", sd=0.5, difference=0.02, lower_is_better=True, margin=0.1)
    ),
    "--test auc-paired --auc-a 85% --auc-b 0.75 --ratio 2 --correlation-positives 0.5 "
    "--correlation-negatives 0.4 --fpr-range 0 20% --method binormal": lambda: planning.sample_size(
        "auc-paired", auc_a=0.85, auc_b=0.75, fpr_range=(0, 0.2), method="binormal", **CURVES
    ),
    "--test cv --accuracy 0.9 0.8 --agreement 0.8 --n 60 --n-resamples 50 --seed 3": lambda: (
        planning.power("cv", accuracy_a=0.9, accuracy_b=0.8, agreement=0.8, n=60, **BOARD)
    ),
    "--test leaderboard --accuracies 0.9 80% 0.7 --agreement 0.8 --find 0 2 "
    "--n 50 90 --adjust holm --n-resamples 50 --seed 3": lambda: planning.power(
        "leaderboard", accuracies=[0.9, 0.8, 0.7], agreement=0.8, find=(0, 2), n=[50, 90], **BOARD
    ),
}


@pytest.mark.parametrize("line", SAME)
def test_it_says_what_the_function_says(line, capsys):
    code, out, err = run(capsys, line)
    assert (code, err) == (0, "")
    assert out == SAME[line]().summary() + "\n"


def test_options_of_several_values_are_all_combinations(capsys):
    line = "--difference 2pp 5pp --discordant 0.15 --power 0.8 0.9 --format json"
    code, out, _ = run(capsys, line)
    found = fastcmp.from_dict(json.loads(out))
    expected = planning.sample_size(difference=[[0.02], [0.05]], discordant=0.15, power=[0.8, 0.9])
    assert code == 0
    np.testing.assert_array_equal(found.n, expected.n)


@pytest.fixture
def pilot(tmp_path):
    rng = np.random.default_rng(4)
    y, draw = rng.integers(0, 2, 300), rng.random(300)
    models = {f"m{i}": np.where(draw < x, y, 1 - y) for i, x in enumerate((0.9, 0.8))}
    models["m2"] = np.where(rng.random(300) < 0.7, y, 1 - y)
    path = tmp_path / "pilot.csv"
    lines = zip(y, *models.values(), strict=True)
    rows = ["truth,m0,m1,m2", *(",".join(map(str, row)) for row in lines)]
    path.write_text("\n".join(rows) + "\n")
    return path, y, models


def test_a_pilot_from_files(pilot, capsys):
    path, y, models = pilot
    line = f"--pilot {path} --target truth --models m1 m0 --power 0.9"
    code, out, err = run(capsys, line)
    expected = fastcmp.mcnemar(y, models["m1"], models["m0"]).sample_size(power=0.9)
    assert (code, err) == (0, "fastcmp: a is m1, b is m0\n")
    assert out == expected.summary() + "\n"
    line = f"--pilot {path} --target truth --models m1 m0 --n 99 --power 0.9"
    _, out, _ = run(capsys, line)
    assert out.startswith("Difference\nWith 99 samples, 90% power to detect a difference of ")
    line = f"--pilot {path} --target truth --test leaderboard --n 99 --seed 1"
    code, out, err = run(capsys, line)
    expected = fastcmp.compare_all(y, models).power(n=99, rng=1)
    assert (code, err) == (0, "")
    assert out == expected.summary() + "\n"


WRONG = {
    "": "--p10 and --p01, or --difference and --discordant, or --accuracy with at most one of",
    "--p10 15 --p01 5": "--p10 must lie in [0, 1], got 15: write 0.15 for 15%",
    "--accuracy 0.8 0.9 --agreement 0.9 --kappa 0.5": "got --accuracy, --agreement, --kappa",
    "--accuracy 0.8 0.82 --agreement 0.3": "--agreement does not fit the accuracies: it must lie",
    "--accuracy 0.8 1 --correlation 0.9": "--accuracy is 0 or 1: give --agreement",
    "--p10 0.1 --p01 0.05 --n 12.5": "--n must be whole numbers from 1 to 2**53, got 12.5",
    "--p10 0.8 --p01 0.5": "--p10 and --p01 must add up to at most 1, got 1.3",
    "--n 100 --power 0.8": "--discordant, --agreement, or --p10 and --p01 must be given to find",
    "--p10 0.1 --p01 0.1 --margin -1pp": "--margin must be > 0 and finite, got -0.01",
    "--p10 0.1 --p01 0.1 --hypothesis equivalence": "--hypothesis equivalence needs --margin",
    "--p10 0.1 --p01 0.1 --method tango": "--method tango is not for --hypothesis difference, wh",
    "--p10 0.1 --p01 0.1 --so-far 10 5 100": "--so-far is for power: pass the samples to co",
    "--pilot-counts 0 0 100 --n 50": "larger pilot, or plan from --p10 and --p01",
    "--test mcnemer --p10 0.1 --p01 0.05": "--test must be one of mcnemar, mean, mean-unpaired, ",
    "--test cost --sd 3 --accuracy 0.8 0.9": "--accuracy is no option of --test cost, which takes",
    "--test mean --difference 0.02": "--sd, or --variance-between and what belongs to it, or --s",
    "--test leaderboard --accuracies 0.8 0.9 --agreement 0.8 --n 100 --power 0.8": (
        "--test leaderboard finds --n or --power: pass one of them"
    ),
    "--models a b --p10 0.1 --p01 0.2": "--models is for --pilot",
    "--test mean --sd 1 --difference 0.1 --example digits": "leaderboard, got mean",
    "--p10 0.1 --p01 0.2 --curve x.foo": "--curve must end in one of ",
    "--example digits": "name the two models to compare (--models A B), of ",
}


@pytest.mark.parametrize("line", WRONG)
def test_errors_are_one_line_on_options(line, capsys):
    assert WRONG[line] in commands.refused(capsys, "plan", *line.split())


def test_a_curve_is_drawn(capsys, tmp_path):
    path = tmp_path / "power.svg"
    code, out, _ = run(capsys, f"--p10 0.15 --p01 0.05 --curve {path}")
    assert code == 0
    assert out.startswith("Sample size\n")
    assert "<svg" in path.read_text()
    code, _, err = run(capsys, f"--p10 0.1 --p01 0.2 --curve {path} --output {path}")
    assert (code, err) == (64, f"fastcmp: --output and --curve would both write {path}\n")


def test_a_curve_needs_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    code, out, err = run(capsys, f"--p10 0.1 --p01 0.2 --curve {tmp_path / 'x.png'}")
    message = "fastcmp: drawing needs matplotlib: pip install 'fastcmp[plot]'\n"
    assert (code, out, err) == (64, "", message)
