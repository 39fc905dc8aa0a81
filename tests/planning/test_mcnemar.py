"""Power, sample sizes and detectable differences of McNemar's test."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import kernels
from fastcmp.kernels import Status
from fastcmp.planning import detectable_difference, power, sample_size

ENUMERATED = ("midp", "exact", "asymptotic", "corrected")
NORMAL = ("connor", "miettinen", "lachenbruch")
TIES = 1 + 1e-12


# Reference.


def options_of(case):
    """Translate a reference case to the arguments of the public functions."""
    given, options = case["input"], case["options"]
    if "p_small" in given:
        probabilities = {"p10": given["p_large"], "p01": given["p_small"]}
    else:
        names = ("p10", "p01", "accuracy_a", "accuracy_b")
        probabilities = {name: given[name] for name in names if name in given}
        if "p_discordant" in given:
            probabilities["discordant"] = given["p_discordant"]
    method = options["method"]
    for known in ("Lachenbruch", "Miettinen second", "normal", "exact"):
        if known in method:
            method = known.split()[0].lower()
            break
    sides = {"two.sided": "two-sided", "one.sided": "greater"}
    found = {
        "alpha": given["alpha"],
        "alternative": sides.get(options["alternative"], options["alternative"]),
        "method": method,
    }
    if "right" in options.get("tails", ""):
        found["tails"] = options["tails"]
    return probabilities | found


@parametrize("mcnemar_power")
def test_power_is_that_of_other_programs(case):
    plan = power(n=case["input"]["n_pairs"], **options_of(case))
    assert plan.power == expected(case, "power")


@parametrize("mcnemar_sample_size")
def test_sample_size_is_that_of_other_programs(case):
    options = options_of(case)
    plan = sample_size(power=case["input"]["power"], **options)
    if "n_min" in case["expected"]:
        wanted = [case["expected"][f"n_{which}"] for which in ("min", "mid", "max")]
        assert plan.n.tolist() == wanted
        return
    if plan.n_exact is not None:
        assert plan.n_exact == expected(case, "n_pairs")
        assert plan.n == case["expected"]["n_pairs_ceil"]
        return
    assert plan.n == case["expected"]["n_pairs"]
    assert plan.power == expected(case, "power")
    below = power(n=plan.n - 1, **options)
    assert below.power == expected(case, "power_at_n_minus_1")


@parametrize("mcnemar_minimum_detectable")
def test_differences_are_roots_of_the_power(case):
    given = case["input"]
    plan = detectable_difference(n=given["n_pairs"], power=given["power"], **options_of(case))
    assert plan.difference == expected(case, "difference")


SIZES = {  # p10, p01: Connor, Miettinen, mid-p, asymptotic, exact, corrected
    (0.45, 0.05): (23, 20, 21, 21, 25, 25),
    (0.30, 0.05): (42, 38, 39, 39, 45, 47),
    (0.15, 0.05): (155, 148, 152, 145, 168, 169),
    (0.06, 0.03): (783, 765, 769, 765, 830, 835),
}


@pytest.mark.parametrize("p", SIZES)
def test_the_published_table_of_sample_sizes(p):
    methods = ("connor", "miettinen", "midp", "asymptotic", "exact", "corrected")
    found = [sample_size(p10=p[0], p01=p[1], method=method).n for method in methods]
    assert tuple(found) == SIZES[p]


# Oracle.


def rejects(only_a, only_b, method, alternative, alpha):
    found = getattr(kernels, f"mcnemar_{method}")(only_a, only_b, alternative)
    return found.pvalue <= alpha * TIES


def enumerated(n, p, alpha, method, alternative, wanted=rejects):
    """Add up the probabilities of the tables in which the test rejects."""
    cells = [*p, max(1 - sum(p), 0)]
    return sum(
        stats.multinomial.pmf([a, b, n - a - b], n, cells)
        for a, b in itertools.product(range(n + 1), repeat=2)
        if a + b <= n and wanted(a, b, method, alternative, alpha)
    )


shares = st.sampled_from([0.05, 0.01, 0.1, 0.3, 0.0625, 0.8])
probabilities = st.tuples(
    st.floats(0.0, 0.5, allow_subnormal=False), st.floats(0.0, 0.5, allow_subnormal=False)
)
codes = st.sampled_from([0, 1, -1])


@given(st.integers(1, 12), probabilities, shares, st.sampled_from(ENUMERATED), codes)
def test_power_is_the_probability_of_the_tables_that_reject(n, p, alpha, method, code):
    found = kernels.mcnemar_power(n, *p, alpha, getattr(kernels, method.upper()), code, True)
    assert found == pytest.approx(enumerated(n, p, alpha, method, code), rel=1e-10, abs=1e-12)


@given(st.integers(1, 12), probabilities, st.sampled_from(ENUMERATED))
def test_the_right_direction_alone(n, p, method):
    assume(p[0] > p[1])

    def right(a, b, *rest):
        return a > b and rejects(a, b, *rest)

    plan = power(n=n, p10=p[0], p01=p[1], method=method, tails="right-direction")
    wanted = enumerated(n, p, 0.05, method, 0, right)
    assert plan.power == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@given(
    *(st.tuples(st.integers(0, 15), st.integers(0, 15)), st.integers(1, 12), probabilities),
    *(st.sampled_from(ENUMERATED), codes),
)
def test_interim_power_counts_the_samples_so_far(seen, n, p, method, code):
    def in_the_end(a, b, *rest):
        return rejects(a + seen[0], b + seen[1], *rest)

    found = kernels.mcnemar_interim_power(*seen, n, p, 0.05, getattr(kernels, method.upper()), code)
    wanted = enumerated(n, p, 0.05, method, code, in_the_end)
    assert found == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@given(st.integers(1, 40), probabilities, st.sampled_from(ENUMERATED), codes)
def test_conditional_power_is_a_binomial_tail(m, p, method, code):
    assume(sum(p) > 0.01)
    assume(min(p) == 0 or min(p) > 1e-300)  # below, SciPy overflows
    alternative = {0: "two-sided", 1: "greater", -1: "less"}[code]
    plan = power(n=m, p10=p[0], p01=p[1], method=method, alternative=alternative, conditional=True)
    counts = np.arange(m + 1)
    chances = stats.binom.pmf(counts, m, p[0] / sum(p))
    hits = [rejects(a, m - a, method, code, 0.05) for a in counts]
    assert plan.power == pytest.approx(chances @ hits, rel=1e-9, abs=1e-12)


# Laws.


@pytest.mark.parametrize("method", [*ENUMERATED, *NORMAL])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_three_questions_have_one_answer(method, alternative):
    options = {"method": method, "alternative": alternative}
    gap = detectable_difference(n=150, discordant=0.25, power=0.85, **options)
    there = power(n=150, difference=gap.difference, discordant=0.25, **options)
    assert there.power == pytest.approx(0.85, rel=1e-9)
    needed = sample_size(p10=0.17, p01=0.08, power=0.85, **options)
    assert power(n=needed.n, p10=0.17, p01=0.08, **options).power >= 0.85
    assert power(n=needed.n - 1, p10=0.17, p01=0.08, **options).power < 0.85
    assert needed.power == power(n=needed.n, p10=0.17, p01=0.08, **options).power


@given(
    *(st.floats(0.05, 0.9), st.floats(0.2, 1.0), st.sampled_from(ENUMERATED)),
    *(st.sampled_from([0.05, 0.01]), st.floats(0.55, 0.95)),
)
def test_sample_sizes_are_the_first_with_the_power(pd, part, method, alpha, wanted):
    p10, p01 = pd * (1 + part) / 2, pd * (1 - part) / 2
    n = sample_size(p10=p10, p01=p01, power=wanted, alpha=alpha, method=method).n
    assume(n < 2000)
    tried = np.arange(max(n // 2, 1), n + 1)
    found = power(n=tried, p10=p10, p01=p01, alpha=alpha, method=method).power
    assert tried[np.argmax(found >= wanted)] == n


def test_everything_broadcasts():
    p10, alpha = np.array([[0.1], [0.2]]), np.array([0.01, 0.05, 0.1])
    for method in ("midp", "connor"):
        plan = sample_size(p10=p10, p01=0.05, alpha=alpha, method=method)
        assert plan.n.shape == plan.power.shape == plan.alpha.shape == (2, 3)
        for i, j in np.ndindex(2, 3):
            alone = sample_size(p10=p10[i, 0], p01=0.05, alpha=alpha[j], method=method)
            assert plan.n[i, j] == alone.n
            assert plan.power[i, j] == alone.power


# Edge cases.


@pytest.mark.parametrize("method", [*ENUMERATED, *NORMAL])
def test_no_difference_needs_infinitely_many_samples(method):
    plan = sample_size(p10=0.1, p01=0.1, method=method)
    assert plan.n == np.inf
    assert plan.status == Status.UNDEFINED
    assert "No number of samples" in str(plan)
    found = power(n=10_000, p10=0.1, p01=0.1, method=method).power
    assert found == pytest.approx(0.05, abs=1e-15 if method in NORMAL else 0.006)
    wrong = sample_size(p10=0.1, p01=0.2, alternative="greater", method=method)
    assert wrong.n == np.inf


@pytest.mark.parametrize("method", [*ENUMERATED, *NORMAL])
def test_only_one_model_is_ever_right_alone(method):
    plan = sample_size(p10=0.2, p01=0.0, method=method)
    assert 20 < plan.n < 60
    assert plan.power >= 0.8
    certain = power(n=30, p10=1.0, p01=0.0, method=method)
    assert certain.power == pytest.approx(1.0, abs=1e-3)
    assert power(n=30, p10=0.0, p01=0.0, method=method).power == 0
    assert power(n=30, p10=0.0, p01=0.0, method=method).status == Status.DEGENERATE


def test_huge_plans_end():
    with pytest.raises(ValueError, match="pass method='connor', which is as good there"):
        sample_size(p10=0.100005, p01=0.1, method="midp")
    assert sample_size(p10=0.100005, p01=0.1, method="connor").n > 6e10
    assert power(n=10**9, p10=0.1001, p01=0.1, method="exact").power > 0.999


@pytest.mark.parametrize("conditional", [False, True])
def test_samples_of_both_tails_are_enumerated_too(conditional):
    options = {"p10": 0.15, "p01": 0.05, "conditional": conditional}
    assert sample_size(**options, tails="both").n == sample_size(**options).n


@pytest.mark.parametrize("method", ["connor", "miettinen", "lachenbruch"])
def test_both_tails_are_searched_for_without_a_closed_form(method):
    options = {"method": method, "tails": "both", "alpha": 0.2}
    plan = sample_size(p10=0.08, p01=0.05, power=0.3, **options)
    powers = power(n=[plan.n - 1, plan.n], p10=0.08, p01=0.05, **options).power
    assert powers[0] < 0.3 <= powers[1]
    assert plan.n < sample_size(p10=0.08, p01=0.05, power=0.3, method=method, alpha=0.2).n
    plan = detectable_difference(n=100, discordant=0.12, power=0.3, **options)
    again = power(n=100, difference=plan.difference, discordant=0.12, **options)
    assert again.power == pytest.approx(0.3, abs=1e-12)
