"""Power and sample sizes of accuracies against a margin."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import kernels
from fastcmp.kernels import GREATER, LESS, Status, tango_test
from fastcmp.planning import detectable_difference, power, sample_size

HYPOTHESES = ("noninferiority", "superiority", "equivalence")


# Reference.


@parametrize("noninferiority_paired_power")
def test_power_is_that_of_other_programs(case):
    known = {name: case["input"][name] for name in ("p10", "p01", "margin", "alpha")}
    known["n"] = case["input"]["n_pairs"]
    assert power(**known, method="tango-score").power == expected(case, "power")
    assert power(**known, method="normal").power == expected(case, "power_normal")


@parametrize("noninferiority_paired_sample_size")
def test_sample_size_is_the_closed_form(case):
    known = {name: case["input"][name] for name in ("p10", "p01", "margin", "alpha")}
    plan = sample_size(**known, power=case["input"]["power"], method="normal")
    assert plan.n_exact == expected(case, "n_pairs")
    assert plan.n == case["expected"]["n_pairs_ceil"]
    assert power(n=plan.n, **known).power == expected(case, "exact_power_at_ceil")


# Oracle.


def shows(a, b, n, margin, alpha, hypothesis):
    pvalues = {
        "noninferiority": [(-margin, GREATER)],
        "superiority": [(margin, GREATER)],
        "equivalence": [(-margin, GREATER), (margin, LESS)],
    }[hypothesis]
    return all(tango_test(a, b, n, d, side).pvalue <= alpha for d, side in pvalues)


@given(
    *(st.integers(1, 12), st.tuples(st.floats(0, 0.5), st.floats(0, 0.5))),
    *(st.sampled_from([0.05, 0.2, 0.5, 0.9]), st.sampled_from([0.05, 0.2, 0.6])),
    st.sampled_from(HYPOTHESES),
)
def test_power_is_the_probability_of_the_tables(n, p, margin, alpha, hypothesis):
    found = kernels.margin_power(n, *p, margin, alpha, HYPOTHESES.index(hypothesis))
    wanted = sum(
        stats.multinomial.pmf([a, b, n - a - b], n, [*p, max(1 - sum(p), 0)])
        for a, b in itertools.product(range(n + 1), repeat=2)
        if a + b <= n and shows(a, b, n, margin, alpha, hypothesis)
    )
    assert found == pytest.approx(wanted, rel=1e-10, abs=1e-12)


# Laws.


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_sample_sizes_are_the_first_with_the_power(hypothesis):
    known = {"p10": 0.12, "p01": 0.05 if hypothesis == "superiority" else 0.11}
    known |= {"margin": 0.04, "hypothesis": hypothesis}
    plan = sample_size(**known)
    tried = np.arange(1, plan.n + 1)
    assert np.argmax(power(n=tried, **known).power >= 0.8) == plan.n - 1
    assert sample_size(**known, method="normal").n == pytest.approx(plan.n, rel=0.1)


@pytest.mark.parametrize("method", ["tango", "normal"])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_the_questions_have_one_answer(method, hypothesis):
    known = {"margin": 0.05, "hypothesis": hypothesis, "method": method}
    p = {"p10": 0.15, "p01": 0.05 if hypothesis == "superiority" else 0.14}
    needed = sample_size(**p, **known)
    assert power(n=needed.n, **p, **known).power == needed.power >= 0.8
    if hypothesis == "equivalence":
        with pytest.raises(ValueError, match="no smallest difference"):
            detectable_difference(n=500, discordant=0.2, **known)
        return
    found = detectable_difference(n=500, discordant=0.2, **known)
    again = power(n=500, discordant=0.2, difference=found.difference, **known)
    assert again.power == pytest.approx(0.8, rel=1e-8)


def test_equivalence_has_two_sides():
    options = {"n": 400, "margin": 0.05, "hypothesis": "equivalence"}
    for method in ("tango", "normal"):
        one, two = (
            power(p10=a, p01=b, method=method, **options).power
            for a, b in ((0.06, 0.05), (0.05, 0.06))
        )
        assert one == pytest.approx(two, rel=1e-12)
    # Without a difference each side may fail half as often.
    plan = sample_size(p10=0.05, p01=0.05, margin=0.05, hypothesis="equivalence", method="normal")
    one_side = sample_size(p10=0.05, p01=0.05, margin=0.05, power=0.9, method="normal")
    assert plan.n_exact == pytest.approx(one_side.n_exact, rel=1e-12)


def test_a_claim_that_is_wrong_needs_infinitely_many():
    for method in ("tango", "normal"):
        plan = sample_size(p10=0.05, p01=0.15, margin=0.05, method=method)
        assert plan.n == np.inf
        assert plan.status == Status.UNDEFINED
        found = detectable_difference(n=10, discordant=0.2, margin=0.01, method=method)
        assert np.isnan(found.difference)


REFUSED = {
    "negative": ({"margin": -0.1}, "margin must be > 0"),
    "no margin": ({"hypothesis": "superiority"}, "needs margin="),
    "not asked": ({"hypothesis": "difference", "margin": 0.1}, "takes no margin"),
    "less": ({"margin": 0.1, "alternative": "less"}, "alternative='less' has no"),
    "method": ({"margin": 0.1, "method": "midp"}, "method='midp' is not for .*: tango, normal"),
    "conditional": (
        {"margin": 0.1, "conditional": True},
        "conditional=True has no meaning with a margin",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_margins_are_refused(what):
    options, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        power(n=100, p10=0.1, p01=0.1, **options)
