"""Two models on different samples, decided: one report of three measures."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import fastcmp
from fastcmp import accuracy_unpaired, compare_unpaired, delong_unpaired, means_unpaired


def pairs(*, scores=False):
    """True labels with predictions, or with scores, of two models on other samples."""
    rng = np.random.default_rng(4)
    y_a, y_b = rng.integers(0, 2, 25), rng.integers(0, 2, 30)
    preds = y_a ^ (rng.random(25) < 0.2), y_b ^ (rng.random(30) < 0.35)
    values = y_a + rng.normal(size=25), y_b + rng.normal(size=30)
    a, b = values if scores else preds
    return (y_a, a), (y_b, b)


def words(result):
    return " ".join(str(result).split())


def test_accuracies():
    a, b = pairs()
    result = compare_unpaired(a, b, margin=0.1)
    wanted = fastcmp.accuracy_unpaired(*a, *b, method="auto", margin=0.1)
    assert result.comparison == wanted
    assert (result.method, result.measure) == ("boschloo", "accuracy")
    assert (result.pvalue, result.statistic) == (wanted.pvalue, wanted.statistic)
    assert result.interval == wanted.confidence_interval()
    assert result.margins == wanted.margins
    assert (result.n_a, result.n_b) == (25, 30)
    assert result.reject == (result.pvalue <= 0.05)
    counted = compare_unpaired(
        *((int(np.sum(y == pred)), y.size) for y, pred in (a, b)), margin=0.1
    )
    assert counted == result


def test_the_report():
    result = compare_unpaired((56, 70), (48, 80), names=("old", "new"))
    text = words(result)
    assert text.startswith(
        "Which model is better? old is right on 80.00% of its samples, new on 60.00%; "
        "the difference is significant (Boschloo's exact test, p = 0.010). "
        "Different samples: the models were tested on 70 and 80 samples."
    )
    assert "samples of new 80" in text
    areas = compare_unpaired(*pairs(scores=True), measure="auc")
    assert "The AUC of a is" in words(areas)
    assert areas.to_dict()["decision"].endswith(f"p = {areas.pvalue:.3f}).")


def test_one_sided_claims():
    for side, loss in product(("greater", "less"), (False, True)):
        options = {"measure": "mean", "lower_is_better": loss, "alternative": side}
        result = compare_unpaired([5, 6, 7], [1, 2, 3], **options)
        first, second = ("a", "b") if (side == "greater") != loss else ("b", "a")
        how = "is significantly" if side == "greater" else "is not significantly"
        assert f"{first} {how} better than {second}" in words(result)
        assert result.better == ("b" if loss else "a")


def test_the_same_samples_need_a_paired_test():
    a, b = pairs()
    same = compare_unpaired(a, (a[0], a[0]))
    assert "a paired test has more power: mcnemar" in words(same)
    areas = compare_unpaired((a[0], np.arange(25)), (a[0], -np.arange(25)), measure="auc")
    assert "a paired test has more power: delong" in words(areas)
    assert compare_unpaired(a, b).cautions == ()
    assert compare_unpaired((3, 9), (3, 9)).cautions == ()


def test_options_go_through():
    a, b = ((["x", "y", None, "z"], ["x", "x", "x", "z"]), (["x", "y", "y"], ["x", None, "y"]))
    result = compare_unpaired(a, b, classes=["x", "y"], missing="wrong", method="score")
    counts = (1, 2, 2, 3)
    assert result.comparison.pvalue == accuracy_unpaired(counts=counts).pvalue
    assert result.n_missing == 1
    assert "1 samples without a true label were dropped." in words(result)
    dropped = compare_unpaired([1, None, 3], [2, 5], measure="mean", missing="drop")
    assert (dropped.n_a, dropped.n_missing) == (2, 1)


def test_refused_options():
    for options, says in (
        ({"positive": 1}, "positive is for measure='auc', got 'accuracy'"),
        ({"lower_is_better": True}, "lower_is_better is for measure='mean'"),
        ({"measure": "auc", "classes": [0, 1]}, "classes is for measure='accuracy'"),
        ({"missing": "drop"}, "missing must be one of"),
        ({"measure": "mean", "method": "score"}, "method must be one of"),
        ({"alternative": "less", "alpha": 0.6}, r"alpha must be below 0\.5 for a one"),
    ):
        with pytest.raises(ValueError, match=says):
            compare_unpaired(*pairs(), **options)


def test_means_and_areas():
    (y_a, a), (y_b, b) = pairs(scores=True)
    result = compare_unpaired(a, b, measure="mean", alpha=0.1, margin=0.5)
    assert result.comparison == means_unpaired(a, b, confidence_level=0.9, alpha=0.1, margin=0.5)
    assert (result.method, result.df) == ("welch", result.comparison.df)
    assert result.margins == result.comparison.margins
    for method, chosen in (("auto", "t"), ("normal", "normal")):
        result = compare_unpaired((y_a, a), (y_b, b), measure="AUC", method=method, margin=0.1)
        wanted = delong_unpaired(y_a, a, y_b, b, method=chosen)
        assert result.comparison == wanted
        assert (result.method, result.difference) == (chosen, wanted.difference)
        assert result.interval == wanted.confidence_interval()
        assert (result.n_a, result.n_b) == (25, 30)
        tests = delong_unpaired(y_a, a, y_b, b, method=chosen, margin=0.1).margins
        assert result.margins == tests
