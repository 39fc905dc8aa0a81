"""Shares of right calls, from counts that no array of labels could hold."""

from libraries import mpmath

from fastcmp.scores.paired_measures import predictive_value_test


def test_predictive_values_of_huge_counts():
    # All but a few calls are right: 1 - pooled must not be a difference.
    right, wrong = (2**52, 3, 1), (5, 2, 7)
    found = predictive_value_test("ppv", right, wrong, "two-sided", weighted=False)
    with mpmath.workdps(60):
        n_a, n_b = mpmath.mpf(2**52 + 3 + 5 + 2), mpmath.mpf(2**52 + 1 + 5 + 7)
        v_a, v_b = (2**52 + 3) / n_a, (2**52 + 1) / n_b
        pooled = (2**53 + 4) / (n_a + n_b)
        both, only_a, only_b = (
            r * (1 - pooled) ** 2 + w * pooled**2 for r, w in zip(right, wrong, strict=True)
        )
        variance = only_a / n_a**2 + only_b / n_b**2
        variance += both * (1 / n_a - 1 / n_b) ** 2
        assert abs(found.statistic**2 / ((v_a - v_b) ** 2 / variance) - 1) < 1e-12
