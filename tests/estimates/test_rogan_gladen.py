"""Rates corrected by error rates of a judge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference_cases import parametrize

from fastcmp import compare_means, rogan_gladen

KNOWN = {"positives": 60, "judged_right": 57, "negatives": 40, "judged_wrong": 34}


def assert_agree(case, **found):
    for name, value in found.items():
        wanted = case["expected"][name]
        assert_allclose(np.squeeze(value), wanted, rtol=case["tolerance"]["rtol"], atol=1e-12)


@parametrize("rogan_gladen")
def test_labels_inside(case):
    judge, human = (np.array(case["input"][x], float) for x in ("judge", "human"))
    result = rogan_gladen(judge, human)
    assert_agree(case, estimate=result.estimate, se=result.standard_error)
    assert_agree(case, sensitivity=result.sensitivity, specificity=result.specificity)
    # The usual formula, which takes both sets of items as different ones, says more.
    f, y = judge[~np.isnan(human)], human[~np.isnan(human)]
    apart = {"positives": y.sum(), "judged_right": (f * y).sum(), "negatives": (1 - y).sum()}
    apart["judged_wrong"] = ((1 - f) * (1 - y)).sum()
    error = rogan_gladen(judge, calibration=apart).standard_error
    assert_agree(case, se_if_taken_as_independent=error)
    assert error > result.standard_error


@parametrize("rogan_gladen_interval")
def test_intervals(case):
    given = {"counts": (case["input"]["judged_right"], case["input"]["n_items"])}
    given["calibration"] = case["input"]["calibration"]
    for method in ("lang_reiczigel", "fieller"):
        result = rogan_gladen(**given, interval=method)
        assert_agree(case, estimate=result.estimate, se=result.standard_error)
        assert_agree(case, estimate_clipped=np.clip(result.estimate, 0, 1))
        assert_agree(case, **{method: result.interval})


@parametrize("rogan_gladen_covariance")
def test_shared_error_rates(case):
    result = rogan_gladen(case["input"]["judge"], calibration=case["input"]["calibration"])
    assert_agree(case, estimates=result.estimate, covariance=result.covariance)
    pairs = compare_means(result)
    assert_agree(case, difference_01=pairs.difference[0], se_01=pairs.standard_error[0])
    assert "keep the order" in str(result)
    own = {"a": KNOWN, "b": KNOWN}
    judge = dict(zip("ab", case["input"]["judge"], strict=False))
    apart = rogan_gladen(judge, calibration=own)
    same = rogan_gladen(judge, calibration=KNOWN)
    assert_allclose(np.diagonal(apart.covariance), np.diagonal(same.covariance))
    assert apart.covariance[0, 1] < same.covariance[0, 1]


def test_fieller_inverts_the_test():
    result = rogan_gladen(counts=(30, 90), calibration=KNOWN, interval="fieller")
    se, false, p = 57 / 60, 6 / 40, 1 / 3
    for end in result.interval[0]:
        gap = p - false - end * (se - false)
        variance = p * (1 - p) / 90 + end**2 * se * (1 - se) / 60
        variance += (1 - end) ** 2 * false * (1 - false) / 40
        assert_allclose(gap**2, 1.959963984540054**2 * variance, rtol=1e-9)
    # All that the test does not reject, by looking.
    grid = np.linspace(0, 1, 100_001)
    for seed in range(40):
        draw = np.random.default_rng(seed)
        n1, n0, n = draw.integers(4, 30, 3)
        s, w, k = (
            draw.integers(n1 // 2, n1 + 1),
            draw.integers(n0 // 2, n0 + 1),
            draw.integers(n + 1),
        )
        se, false, p = s / n1, 1 - w / n0, k / n
        if se <= false:
            continue
        known = {"positives": n1, "judged_right": s, "negatives": n0, "judged_wrong": w}
        spread = p * (1 - p) / n + grid**2 * se * (1 - se) / n1
        spread += (1 - grid) ** 2 * false * (1 - false) / n0
        kept = grid[(p - false - grid * (se - false)) ** 2 <= 3.841458820694124 * spread]
        found = rogan_gladen(counts=(k, n), calibration=known, interval="fieller").interval[0]
        if kept.size:
            assert_allclose(found, [kept.min(), kept.max()], atol=2e-5)
    blunt = {"positives": 9, "judged_right": 5, "negatives": 9, "judged_wrong": 5}
    nothing = rogan_gladen(counts=(30, 60), calibration=blunt, interval="fieller")
    assert nothing.interval.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"counts": (3, 9), "calibration": KNOWN | {"judged_right": 5}}, "more often"),
        ({"counts": (3, 9), "calibration": KNOWN | {"judged_right": 99}}, "at most as many"),
        ({"counts": (9, 3), "calibration": KNOWN}, "judged right, items"),
        ({"judge": [0.5, 1.0, 0.0], "calibration": KNOWN}, "0 and 1"),
        ({"judge": {"a": [1, 0]}, "calibration": {"a": KNOWN, "b": KNOWN}}, "models of judge"),
        ({"judge": [1, 1, 0], "human": [1, 1, None]}, "right .* and wrong"),
        ({"judge": [1, 1, 0], "human": [1, 1, 0], "interval": "fieller"}, "by other items"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(ValueError, match=words):
        rogan_gladen(**given)
    with pytest.raises(TypeError, match="exclude each other"):
        rogan_gladen([1, 0, 1])


def test_no_variance_is_no_interval():
    known = {"positives": 9, "judged_right": 9, "negatives": 9, "judged_wrong": 9}
    result = rogan_gladen(counts=(9, 9), calibration=known, interval="delta")
    assert result.estimate[0] == 1.0
    assert np.isnan(result.interval).all()
    assert "No variance" in str(result)
    assert 0.0 < rogan_gladen(counts=(9, 9), calibration=known).interval[0, 0] < 1.0


@pytest.mark.parametrize("interval", ["lang-reiczigel", "fieller", "delta"])
def test_an_interval_outside_is_told(interval):
    result = rogan_gladen(counts=(0, 90), calibration=KNOWN, interval=interval)
    assert result.interval.tolist() == [[0.0, 0.0]]
    assert "only its end is left" in str(result)


def test_an_estimate_outside_is_told():
    result = rogan_gladen(counts=(1, 50), calibration=KNOWN)
    assert result.estimate[0] < 0.0
    assert result.interval[0, 0] == 0.0
    assert "outside" in str(result)
