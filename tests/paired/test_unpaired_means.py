"""Two means on different samples: Welch's test, as SciPy and R have it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import accuracy_unpaired, means_unpaired
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED

SIDES = ("two-sided", "greater", "less")
numbers = st.floats(-100, 100).map(lambda x: round(x, 3))
columns = st.lists(numbers, min_size=2, max_size=30).filter(lambda x: len(set(x)) > 1)


@parametrize("unpaired_mean")
def test_reference(case):
    options = case["options"]
    result = means_unpaired(
        **{f"values_{name}": values for name, values in case["input"].items()},
        alternative=options["alternative"],
        null_difference=options["null_difference"],
    )
    low, high = result.interval
    assert result.statistic == expected(case, "statistic")
    assert result.df == expected(case, "df")
    assert result.pvalue == expected(case, "pvalue")
    assert low == expected(case, "lower")
    if case["expected"]["upper"] == "inf":
        assert high == math.inf
    else:
        assert high == expected(case, "upper")


@pytest.mark.parametrize("side", SIDES)
@given(columns, columns)
def test_scipy(side, a, b):
    result = means_unpaired(a, b, alternative=side, confidence_level=0.9)
    theirs = stats.ttest_ind(a, b, equal_var=False, alternative=side)
    assert result.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-12)
    assert result.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)
    assert result.df == pytest.approx(theirs.df, rel=1e-9)
    ends = list(theirs.confidence_interval(0.9))
    if np.isin([*a, *b], (0, 1)).all():  # which the difference of two means cannot leave
        ends = np.clip(ends, -1, 1).tolist()
    assert list(result.interval) == pytest.approx(ends, rel=1e-9)
    assert (result.status, result.distribution) == (OK, "t")


@given(columns, columns, st.floats(0.1, 5))
def test_margins_are_shifted_tests(a, b, margin):
    assume(not {*a, *b} <= {0, 1})  # whose margins are those of accuracies
    tests = means_unpaired(a, b, margin=margin).margins
    lower, upper, more = (
        means_unpaired(a, b, null_difference=shift, alternative=side)
        for shift, side in ((-margin, "greater"), (margin, "less"), (margin, "greater"))
    )
    assert tests.statistic_lower == pytest.approx(lower.statistic, rel=1e-9, abs=1e-9)
    assert tests.pvalue_lower == pytest.approx(lower.pvalue, rel=1e-7, abs=1e-300)
    assert tests.pvalue_upper == pytest.approx(upper.pvalue, rel=1e-7, abs=1e-300)
    assert tests.superiority_pvalue == pytest.approx(more.pvalue, rel=1e-7, abs=1e-300)
    assert tests.method == "t"


@pytest.mark.parametrize("side", SIDES)
def test_without_variance(side):
    same = means_unpaired([0.1] * 30, [0.1] * 7, alternative=side)
    assert (same.statistic, same.pvalue, same.status) == (0.0, 1.0, DEGENERATE)
    apart = means_unpaired([1, 1, 1], [0.5, 0.5], alternative=side)
    # One of the 10 ways to deal out five values.
    assert apart.pvalue == pytest.approx(1.0 if side == "less" else 0.1)
    assert np.isnan([apart.statistic, *apart.interval]).all()
    assert apart.status == DEGENERATE
    assert "exact permutation test" in str(apart)
    even = means_unpaired([1, 1, 1], [0.5] * 3, alternative=side)
    assert even.pvalue == pytest.approx({"two-sided": 0.1, "greater": 0.05, "less": 1}[side])
    one = means_unpaired([1, 1, 1], [0.5, 0.7], alternative=side)
    given = (1.0, 0.0, 3, 0.6, math.sqrt(0.02), 2)
    theirs = stats.ttest_ind_from_stats(*given, equal_var=False, alternative=side)
    assert one.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)


def test_one_value_has_no_variance():
    result = means_unpaired([3.0], [1.0, 2.0, 4.0], margin=0.5)
    assert np.isnan([result.statistic, result.pvalue, *result.interval]).all()
    assert result.status == UNDEFINED
    assert result.margins.decision == "cannot tell"
    assert "no variance: the test has no answer" in str(result)
    # 0.85 - 0.9 + 0.05 is not 0.
    result = means_unpaired([0.85] * 3, [0.9] * 3, null_difference=-0.05)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)


def test_missing_values():
    a, b = [0.5, None, 0.75, 1.0], [0.25, 0.5, math.nan]
    with pytest.raises(ValueError, match=r"values_a: 1 values are missing \(first: sample 1"):
        means_unpaired(a, b)
    dropped = means_unpaired(a, b, missing="drop")
    assert (dropped.n_a, dropped.n_b, dropped.n_missing_values) == (3, 2, (1, 1))
    assert dropped.mean_a == 0.75
    assert "2 values are missing: they were left out." in str(dropped)
    wrong = means_unpaired(a, b, missing="wrong")
    assert (wrong.n_a, wrong.mean_a, wrong.mean_b) == (4, 0.5625, 0.25)
    with pytest.raises(ValueError, match="values_b must hold at least one value"):
        means_unpaired(a, [None, math.nan], missing="drop")


def test_words():
    text = str(means_unpaired([1, 2, 4], [2, 0.5], names=("old", "new"), margin=2))
    assert "old has a higher mean than new: 2.333 on 3 samples, 1.25 on 2 others" in text
    assert "Decision with a margin of 2: not worse" in text
    shifted = means_unpaired([1, 2, 4], [2, 0.5], null_difference=-1, alternative="less")
    assert "(H0: a minus b is at least -1)" in str(shifted)
    losses = means_unpaired([1, 2, 4], [2, 0.5], lower_is_better=True)
    assert (losses.measure, losses.better) == ("mean loss", "b")
    result = means_unpaired([True, False, True], [False, True])
    assert "accuracy_unpaired compares such means" in result.cautions[0]


@pytest.mark.parametrize("side", SIDES)
def test_margins_of_rates_are_those_of_accuracies(side):
    a, b = np.repeat([1, 0], [45, 5]), np.repeat([1, 0], [56, 4])
    found = means_unpaired(a, b, margin=0.1, alternative=side).margins
    counts = accuracy_unpaired(counts=(45, 50, 56, 60), margin=0.1, method="mn")
    for name in ("pvalue_lower", "pvalue_upper", "interval", "inner_interval"):
        assert getattr(found, name) == pytest.approx(getattr(counts.margins, name), rel=1e-9)
    losses = means_unpaired(1 - a, 1 - b, margin=0.1, lower_is_better=True).margins
    assert losses.noninferiority_pvalue == pytest.approx(found.noninferiority_pvalue)
    assert losses.interval.low == pytest.approx(-found.interval.high)
    # None of either model fails: no variance, and no claim.
    assert means_unpaired([1] * 20, [1] * 20, margin=0.05).margins.decision == "cannot tell"
