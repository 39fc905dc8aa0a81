"""Two accuracies on different samples: SciPy's and statsmodels' numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportions_ztest,
)
from statsmodels.stats.proportion import (
    test_proportions_2indep as of_statsmodels,
)

from fastcmp import (
    accuracy_unpaired,
    accuracy_unpaired_from_counts,
    proportion_z,
)

ALTERNATIVES = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
CASES = [(84, 100, 92, 100), (56, 70, 48, 80), (9, 10, 3, 10), (0, 20, 2, 31)]
CASES += [(10, 10, 0, 20), (5, 29, 0, 29), (7, 7, 8, 9)]


@pytest.mark.parametrize("counts", CASES)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_score_test(counts, alternative):
    a, n_a, b, n_b = counts
    result = accuracy_unpaired_from_counts(*counts, alternative=alternative)
    z, p = proportions_ztest([a, b], [n_a, n_b], alternative=ALTERNATIVES[alternative])
    assert (result.statistic, result.pvalue) == pytest.approx((z, p), rel=1e-12)
    with np.errstate(all="ignore"):
        other = of_statsmodels(
            *counts,
            method="score",
            compare="diff",
            correction=False,
            alternative=ALTERNATIVES[alternative],
        )
    assert result.pvalue == pytest.approx(other.pvalue, rel=1e-6)
    if alternative == "two-sided":
        table = [[a, n_a - a], [b, n_b - b]]
        chi2 = stats.chi2_contingency(table, correction=False)
        assert result.statistic**2 == pytest.approx(chi2.statistic, rel=1e-12)
    if n_a == n_b:
        same = proportion_z(n_a - a, n_b - b, n_a, alternative=alternative)
        assert result.pvalue == pytest.approx(same.pvalue, rel=1e-12)


@pytest.mark.parametrize("counts", CASES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_newcombes_interval(counts, level):
    result = accuracy_unpaired_from_counts(*counts)
    expected = confint_proportions_2indep(*counts, method="newcomb", alpha=1 - level)
    assert result.confidence_interval(level) == pytest.approx(expected, abs=1e-12)
    low, high = expected
    one = (1 + level) / 2
    greater = accuracy_unpaired_from_counts(*counts, alternative="greater")
    assert greater.confidence_interval(one) == pytest.approx((low, 1), abs=1e-9)
    less = accuracy_unpaired_from_counts(*counts, alternative="less")
    assert less.confidence_interval(one) == pytest.approx((-1, high), abs=1e-9)


def test_models_exchanged_and_counts_in_arrays():
    a, n_a, b, n_b = np.array(CASES).T
    result = accuracy_unpaired_from_counts(a, n_a, b, n_b)
    turned = accuracy_unpaired_from_counts(b, n_b, a, n_a)
    np.testing.assert_allclose(result.statistic, -turned.statistic)
    np.testing.assert_array_equal(result.pvalue, turned.pvalue)
    np.testing.assert_array_equal(result.difference, -turned.difference)
    low, high = result.confidence_interval()
    np.testing.assert_allclose(low, -turned.confidence_interval().high)
    for k, case in enumerate(CASES):
        single = accuracy_unpaired_from_counts(*case)
        assert single.pvalue == pytest.approx(result.pvalue[k], rel=1e-14)
        assert single.confidence_interval() == pytest.approx((low[k], high[k]))
    assert "7 tests, shape (7,)" in str(result)
    assert accuracy_unpaired_from_counts(a, n_a, 3, 9).pvalue.shape == (7,)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("counts", [(5, 5, 9, 9), (0, 5, 0, 9)])
def test_all_or_none_right(counts, alternative):
    result = accuracy_unpaired_from_counts(*counts, alternative=alternative)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)


def test_labels_are_counted():
    y_a, pred_a = ["x", "y", None, "y"], ["x", "x", "x", "y"]
    y_b, pred_b = [1, 2, 2, 2, 1], [1, 2, 2, 1, 1]
    result = accuracy_unpaired(y_a, pred_a, y_b, pred_b, alternative="less")
    assert (result.correct_a, result.n_a, result.correct_b, result.n_b) == (2, 3, 4, 5)
    assert result.n_missing == 1
    wanted = accuracy_unpaired_from_counts(2, 3, 4, 5, alternative="less")
    assert result.pvalue == wanted.pvalue
    text = str(result)
    assert "Accuracy of a 0.6667 on 3 samples, of b 0.8000 on 5." in text
    assert "one-sided 95% CI [-100.00, " in " ".join(text.split())
    assert "1 samples without a true label were dropped." in text


@pytest.mark.parametrize(
    ("counts", "options", "error", "says"),
    [
        ((5, 4, 1, 2), {}, ValueError, "correct_a must be at most n_a, got 5"),
        ((0, 0, 1, 2), {}, ValueError, "n_a must be at least 1"),
        ((1, 2, 1, 0), {}, ValueError, "n_b must be at least 1"),
        ((1, 2, -1, 2), {}, ValueError, "correct_b must not be negative"),
        ((1, 2, 0.5, 2), {}, ValueError, "correct_b must be whole numbers"),
        ((1, 2, "1", 2), {}, TypeError, "correct_b must be whole numbers"),
        (([1, 1], [2, 2], [1, 1, 1], 2), {}, ValueError, "broadcast"),
        ((1, 2, 1, 2), {"alternative": "more"}, ValueError, "alternative"),
    ],
)
def test_refusals(counts, options, error, says):
    with pytest.raises(error, match=says):
        accuracy_unpaired_from_counts(*counts, **options)


def test_refused_labels():
    with pytest.raises(ValueError, match="pred_b has 2 labels, y_b has 3"):
        accuracy_unpaired([0, 1], [0, 1], [0, 1, 1], [0, 1])
    with pytest.raises(TypeError, match="never be equal"):
        accuracy_unpaired([0, 1], ["0", "1"], [0, 1], [0, 1])
    with pytest.raises(ValueError, match="pred_a has no prediction at row 1"):
        accuracy_unpaired([0, 1], [0, None], [0, 1], [0, 1])


def test_classes_and_missing_predictions_as_in_mcnemar():
    y_a, pred_a = ["x", "y", "z", "x"], ["x", None, "z", "z"]
    y_b, pred_b = ["x", "y", "y"], ["x", "y", "z"]
    options = {"classes": ["x", "y"], "missing": "Wrong"}
    result = accuracy_unpaired(y_a, pred_a, y_b, pred_b, **options)
    assert (result.correct_a, result.n_a, result.correct_b, result.n_b) == (1, 3, 2, 3)
    assert (result.n_missing, result.n_excluded) == (0, 1)
    assert "1 samples of other classes were dropped." in str(result)
    with pytest.raises(ValueError, match=r"^pred_a has no prediction at row 1"):
        accuracy_unpaired(y_a, pred_a, y_b, pred_b)
