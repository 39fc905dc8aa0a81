"""Two accuracies on different samples: SciPy's and statsmodels' numbers."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import stats
from reference_cases import expected, parametrize

import fastcmp
from fastcmp import accuracy_unpaired

ALTERNATIVES = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}
CASES = [(84, 100, 92, 100), (56, 70, 48, 80), (9, 10, 3, 10), (0, 20, 2, 31)]
CASES += [(10, 10, 0, 20), (5, 29, 0, 29), (7, 7, 8, 9)]


@pytest.mark.parametrize("counts", CASES)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_score_test(counts, alternative):
    from statsmodels.stats.proportion import proportions_ztest

    a, n_a, b, n_b = counts
    result = accuracy_unpaired(counts=counts, alternative=alternative)
    z, p = proportions_ztest([a, b], [n_a, n_b], alternative=ALTERNATIVES[alternative])
    assert (result.statistic, result.pvalue) == pytest.approx((z, p), rel=1e-12)


def test_labels_are_counted():
    y_a, pred_a = ["x", "y", None, "y"], ["x", "x", "x", "y"]
    y_b, pred_b = [1, 2, 2, 2, 1], [1, 2, 2, 1, 1]
    result = accuracy_unpaired(y_a, pred_a, y_b, pred_b, alternative="less")
    assert (result.correct_a, result.n_a, result.correct_b, result.n_b) == (2, 3, 4, 5)
    assert result.n_missing == 1
    wanted = accuracy_unpaired(counts=(2, 3, 4, 5), alternative="less")
    assert result.pvalue == wanted.pvalue
    assert "Accuracy of a 0.6667 on 3 samples, of b 0.8000 on 5." in str(result)


# Other methods.

#: What the cases call them.
NAMES = {
    "newcombe hybrid score": "newcombe",
    "miettinen-nurminen score": "miettinen-nurminen",
    "Barnard, pooled z": "barnard",
    "Barnard, unpooled z": "barnard-unpooled",
    "Boschloo": "boschloo",
}
EXACT = ("boschloo", "barnard", "barnard-unpooled")


def counts_of(case):
    return tuple(case["input"][name] for name in ("correct_a", "n_a", "correct_b", "n_b"))


def of_case(case, **options):
    chosen = case["options"]
    return accuracy_unpaired(
        counts=counts_of(case),
        alternative=chosen.get("alternative", "two-sided"),
        null_difference=chosen.get("null_difference", 0.0),
        **options,
    )


@parametrize("unpaired_difference_ci")
def test_reference_intervals(case):
    method = NAMES[case["options"]["method"]]
    result = of_case(case)
    low, high = result.confidence_interval(case["options"]["confidence"], method)
    assert result.difference == expected(case, "estimate")
    assert (low, high) == (expected(case, "lower"), expected(case, "upper"))


@parametrize("unpaired_exact_test")
def test_reference_exact_tests(case):
    result = of_case(case, method=NAMES[case["options"]["method"]])
    assert result.pvalue == expected(case, "pvalue")
    assert result.distribution == "binomial"


@parametrize("unpaired_noninferiority")
def test_reference_noninferiority(case):
    margin = -case["options"]["null_difference"]
    result = of_case(case, method=NAMES[case["options"]["method"]], margin=margin)
    tests = result.margins
    assert tests.noninferiority_statistic == expected(case, "statistic")
    assert tests.noninferiority_pvalue == expected(case, "pvalue")
    shifted = accuracy_unpaired(
        counts=counts_of(case), method="mn", null_difference=-margin, alternative="greater"
    )
    assert shifted.statistic == expected(case, "statistic")
    assert shifted.pvalue == expected(case, "pvalue")


def test_scipy_doubles_boschloos_pvalue():
    for counts in CASES[2:]:
        a, n_a, b, n_b = counts
        theirs = stats.boschloo_exact([[a, b], [n_a - a, n_b - b]]).pvalue
        ours = accuracy_unpaired(counts=counts, method="boschloo", two_sided="doubled")
        assert ours.pvalue == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(
    ("n_a", "shift", "method"),
    [
        (200, 0.0, "boschloo"),
        (200, -0.1, "barnard"),
        (201, 0.0, "miettinen-nurminen"),
        (201, 0.1, "miettinen-nurminen"),
    ],
)
def test_the_recommended_test(n_a, shift, method):
    options = {"alternative": "less", "null_difference": shift}
    result = accuracy_unpaired(counts=(150, n_a, 90, 120), method="auto", **options)
    assert result.method == method
    chosen = accuracy_unpaired(counts=(150, n_a, 90, 120), method=method, **options)
    assert result == chosen


@pytest.mark.parametrize("method", [*EXACT, "miettinen-nurminen", "auto"])
def test_arrays_by_every_method(method):
    few = CASES[2::2]
    options = {"method": method}
    if method in ("barnard", "miettinen-nurminen"):
        options["margin"] = 0.1
    a, n_a, b, n_b = np.array(few).T
    result = accuracy_unpaired(counts=(a, n_a, b, n_b), **options)
    low, high = result.confidence_interval(0.9)
    for k, case in enumerate(few):
        one = accuracy_unpaired(counts=case, **options)
        assert result.statistic[k] == one.statistic
        assert result.pvalue[k] == one.pvalue
        assert (low[k], high[k]) == one.confidence_interval(0.9)
        if "margin" in options:
            assert result.margins.decision[k] == one.margins.decision
            for name in ("pvalue_lower", "pvalue_upper", "superiority_pvalue"):
                whole, single = (getattr(x.margins, name) for x in (result, one))
                assert whole[k] == single


@pytest.mark.full
def test_margins_keep_their_level_in_sets_of_uneven_sizes():
    n_a, n_b, worse, better = 200, 20, 0.93, 0.98
    wrong = 0.0
    for right_a in range(180, 199, 3):
        for right_b in range(17, 21):
            counts = (right_a, n_a, right_b, n_b)
            found = accuracy_unpaired(counts=counts, margin=0.05).margins
            chance = stats.binom.pmf(right_a, n_a, worse) * stats.binom.pmf(right_b, n_b, better)
            wrong += chance * found.margin_met
            assert not found.margin_met or found.inner_interval.low > -0.05
    assert found.method == "exact"
    assert wrong < 0.05 / 2  # a third of the tables; of score tests 0.065 in all


@pytest.mark.parametrize("method", ["miettinen-nurminen", "barnard"])
def test_margins_are_tests_of_two_differences(method):
    counts, margin = (14, 15, 6, 16), 0.15
    result = accuracy_unpaired(counts=counts, method=method, margin=margin)
    for shift, side, names in (
        (-margin, "greater", ("statistic_lower", "pvalue_lower")),
        (margin, "less", ("statistic_upper", "pvalue_upper")),
        (margin, "greater", ("statistic_upper", "superiority_pvalue")),
    ):
        test = accuracy_unpaired(
            counts=counts, method=method, null_difference=shift, alternative=side
        )
        shown = tuple(getattr(result.margins, name) for name in names)
        assert shown == (test.statistic, test.pvalue)
    inverted = "exact" if method == "barnard" else method
    assert result.margins.interval == result.confidence_interval(0.95, inverted)
    assert result.margins.inner_interval == result.confidence_interval(0.9, inverted)
    assert result.margins.decision == "better"
    assert "Decision with a margin of 15 percentage points: better" in str(result)


def test_five_decisions():
    for counts, decision in (
        ((95, 100, 80, 100), "better"),
        ((80, 100, 95, 100), "worse"),
        ((900, 1000, 901, 1000), "equivalent"),
        ((465, 500, 450, 500), "not worse"),
        ((9, 10, 9, 10), "cannot tell"),
    ):
        options = {"method": "mn" if counts[1] > 10 else "auto", "margin": 0.05}
        result = accuracy_unpaired(counts=counts, **options)
        assert result.margins.decision == decision
        turned = accuracy_unpaired(counts=(*counts[2:], *counts[:2]), **options)
        mirrored = {"better": "worse", "worse": "better", "not worse": "cannot tell"}
        assert turned.margins.decision == mirrored.get(decision, decision)


def test_refused_options():
    for counts, options, says in (
        ((5, 7, 4, 8), {"null_difference": 1.0, "method": "mn"}, r"lie in \(-1, 1\), got 1"),
        ((5, 7, 4, 8), {"null_difference": 0.1}, "must be 0 with method='score'"),
        ((5, 7, 4, 8), {"null_difference": 0.1, "method": "boschloo"}, "must be 0 with method="),
        ((5, 7, 4, 8), {"margin": 0.1, "alpha": 0.5}, r"alpha must be below 0\.5"),
        ((5, 4, 1, 2), {}, "correct_a must be at most n_a, got 5"),
        (([1, 1], [2, 2], [1, 1, 1], 2), {}, "broadcast"),
        ((3, 5001, 4, 8), {"method": "boschloo"}, "takes at most 5000 samples"),
    ):
        with pytest.raises(ValueError, match=says):
            accuracy_unpaired(counts=counts, **options)
    with pytest.raises(ValueError, match="takes at most 5000 samples"):
        accuracy_unpaired(counts=(3, 5001, 4, 8)).confidence_interval(method="exact")


TABLES = [
    (56, 70, 48, 80),
    (9, 10, 3, 10),
    (0, 10, 3, 10),
    (5, 10, 0, 12),
    (0, 10, 0, 10),
    (10, 10, 10, 10),
    (10, 10, 7, 9),
    (990, 1000, 19, 20),
]


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_odds_ratios_as_scipy(table):
    a, n_a, b, n_b = table
    theirs = stats.contingency.odds_ratio([[a, n_a - a], [b, n_b - b]])
    for side in ("two-sided", "greater", "less"):
        result = accuracy_unpaired(counts=table, alternative=side)
        wanted = theirs.confidence_interval(0.9, alternative=side)
        assert result.odds_ratio_interval(0.9) == pytest.approx(wanted, rel=1e-6)
    sample = stats.contingency.odds_ratio([[a, n_a - a], [b, n_b - b]], kind="sample")
    assert result.odds_ratio == pytest.approx(sample.statistic, nan_ok=True)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_ratios_are_those_that_the_score_test_does_not_reject(table):
    a, n_a, b, n_b = table
    result = accuracy_unpaired(counts=table)
    low, high = result.ratio_interval()
    turned = accuracy_unpaired(counts=(b, n_b, a, n_a)).ratio_interval()
    with np.errstate(divide="ignore", invalid="ignore"):
        mirrored = np.divide(1, turned.high), np.divide(1, turned.low)
        assert result.ratio == pytest.approx(np.divide(a / n_a, b / n_b), nan_ok=True)
    assert (low, high) == pytest.approx(mirrored)
    grid = np.linspace(1e-9, 1 - 1e-9, 400_001)
    for end in (low, high):
        if not 0 < end < np.inf:
            continue
        rate_b = grid[grid * end < 1]  # the likeliest of all on a grid
        rate_a = rate_b * end
        likelihood = a * np.log(rate_a) + (n_a - a) * np.log1p(-rate_a)
        likelihood += b * np.log(rate_b) + (n_b - b) * np.log1p(-rate_b)
        p, q = rate_a[likelihood.argmax()], rate_b[likelihood.argmax()]
        variance = p * (1 - p) / n_a + end**2 * q * (1 - q) / n_b
        z = (a / n_a - end * b / n_b) / np.sqrt(variance * (n_a + n_b) / (n_a + n_b - 1))
        assert abs(z) == pytest.approx(stats.norm.isf(0.025), rel=2e-3)


def test_ratios_of_arrays_and_in_the_report():
    many = accuracy_unpaired(counts=np.array(TABLES).T)
    assert "8 tests, shape (8,)" in str(many)
    for i, table in enumerate(TABLES):
        one = accuracy_unpaired(counts=table)
        for name in ("ratio_interval", "odds_ratio_interval"):
            whole, single = getattr(many, name)(), getattr(one, name)()
            assert (whole.low[i], whole.high[i]) == pytest.approx(single)
    assert (many.ratio_interval().low[4], many.ratio_interval().high[4]) == (0, np.inf)
    text = str(fastcmp.compare_unpaired((56, 70), (48, 80)))
    assert "ratio of accuracies, 95% CI" in text
    assert "2.667 [1.2091, 6.0399]" in text
