"""Sign-flip tests of items and clusters: two models, and all pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import stats
from reference_cases import ALTERNATIVES, cases

from fastcmp import compare_means, mean_difference

NAMES = {code: name for name, code in ALTERNATIVES.items()} | {0: "two-sided"}
BOTH = pytest.mark.parametrize("studentized", [False, True])


def flip_test(values, **options):
    options = {"method": "permutation", "n_resamples": 999, "rng": 1} | options
    return mean_difference(*values, **options)


def flip_tests(values, **options):
    options = {"method": "permutation", "adjust": "none", "rng": 3} | options
    return compare_means(values, **options)


def spread(sums, sizes):
    """Values of items, and their clusters, that have given sums in clusters of these sizes."""
    sizes = np.asarray(sizes, int)
    values = np.zeros((len(sums), sizes.sum()))
    values[:, np.cumsum(sizes) - sizes] = sums
    return values, np.repeat(np.arange(sizes.size), sizes)


def pvalue_at(sums, sizes, shift, alternative, *, studentized):
    """Return the exact p-value after a shift of the differences, with fractions."""
    shift = Fraction(shift)
    d = [Fraction(a) - Fraction(b) for a, b in sums.T]
    left = [x - shift * int(n) for x, n in zip(d, sizes, strict=True)]
    if not studentized:
        return naive.sign_flips(left, alternative)
    factors = [[Fraction(1)] * len(left)]
    return naive.student_flips([left], [list(map(int, sizes))], factors, alternative=alternative)


# References.


@pytest.mark.parametrize(
    "test", ["signflip_exact", "signflip_exact_cluster", "signflip_studentized_cluster"]
)
def test_references(test):
    for case in cases(test):
        given, options = case["input"], case["options"]
        more = {"groups": given["cluster"]} if "cluster" in given else {}
        if "studentized" in test:
            more |= {"studentized": True, "variance": options["variance"].lower()}
        alternative = NAMES[ALTERNATIVES[options["alternative"]]]
        found = flip_test((given["a"], given["b"]), alternative=alternative, **more)
        expected = case["expected"]
        assert found.pvalue == pytest.approx(expected["pvalue"], rel=1e-12)
        if "studentized" in test:
            assert found.statistic == pytest.approx(expected["statistic"], rel=1e-9)
        elif "difference" in expected:
            assert found.statistic == pytest.approx(expected["difference"])


# Oracles.


@BOTH
@pytest.mark.parametrize("alternative", [0, 1, -1])
@pytest.mark.parametrize("seed", [1, 2])
def test_exact_intervals_are_where_the_pvalue_passes_alpha(seed, alternative, studentized):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 8)
    sums = rng.integers(-6, 12, (2, 8)).astype(float)
    values, groups = spread(sums, sizes)
    options = {"alternative": NAMES[alternative], "studentized": studentized}
    found = flip_test(values, groups=groups, confidence_level=0.9, variance="cr0", **options)
    low, high = found.interval
    assert [math.isinf(low), math.isinf(high)] == [alternative < 0, alternative > 0]
    # Of one side the level is that of this side.
    level = Fraction(1, 10)
    for end, outwards in ((low, -1), (high, 1)):
        if math.isinf(end):
            continue
        step = 1e-7 * max(1.0, abs(end)) * outwards
        far, near = (
            pvalue_at(sums, sizes, x, alternative, studentized=studentized)
            for x in (end + step, end - step)
        )
        assert far <= level < near


@settings(max_examples=10)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 1, -1]),
    st.sampled_from([(1, 3), (1, 1), (7, 12), (3, 7)]),
    st.booleans(),
)
def test_strata_by_all_signs(seed, alternative, weights, studentized):
    sizes, strata = [4, 1, 2, 3, 3, 1, 5], np.repeat([0, 1], [7, 12])
    sums = np.random.default_rng(seed).integers(-5, 9, (2, 7)).astype(float)
    values, groups = spread(sums, sizes)
    options = {"alternative": NAMES[alternative], "studentized": studentized}
    options |= {"strata": strata, "stratum_weights": dict(enumerate(weights))}
    found = flip_test(
        values, groups=groups, **options, **({"variance": "cr1"} if studentized else {})
    )
    shares = [Fraction(x, sum(weights)) for x in weights]
    d = sums[0] - sums[1]
    if studentized:
        wanted = naive.student_flips(
            [d[:3].tolist(), d[3:].tolist()],
            [sizes[:3], sizes[3:]],
            [[Fraction(3, 2)] * 3, [Fraction(4, 3)] * 4],
            shares,
            alternative,
        )
    else:
        scaled = [Fraction(x) * shares[k > 2] / (7, 12)[k > 2] for k, x in enumerate(d)]
        wanted = naive.sign_flips(scaled, alternative)
        assert found.statistic == pytest.approx(float(sum(scaled)))
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-12)


@BOTH
def test_pairs_by_all_signs(studentized):
    sizes = np.array([3, 1, 2, 2, 5, 1, 1])
    sums = np.random.default_rng(8).integers(-5, 9, (4, 7)).astype(float)
    values, groups = spread(sums, sizes)
    options = {"groups": groups, "studentized": studentized, "variance": "cr0"}
    found = flip_tests(values, **options)
    for k, (a, b) in enumerate(found.pairs):
        one = flip_test(values[[a, b]], **options)
        ends = [*one.interval, one.statistic, one.pvalue]
        np.testing.assert_allclose([*found.interval[k], found.statistic[k], found.pvalue[k]], ends)
        wanted = pvalue_at(sums[[a, b]], sizes, 0, 0, studentized=studentized)
        assert found.pvalue[k] == pytest.approx(float(wanted), rel=1e-12)


# Laws.


@BOTH
def test_intervals_agree_with_random_pvalues(studentized):
    rng = np.random.default_rng(9)
    # More than those of which all signs are looked at.
    groups = np.repeat(np.arange(45), rng.integers(1, 9, 45))
    values = rng.normal(size=(2, groups.size))
    options = {"groups": groups, "studentized": studentized, "n_resamples": 400}
    low, high = flip_test(values, **options).interval
    for end, outwards in ((low, -1e-6), (high, 1e-6)):
        step = outwards * (high - low)
        far, near = (
            flip_test((values[0] - shift, values[1]), **options).pvalue
            for shift in (end + step, end - step)
        )
        assert far <= 0.05 < near


def test_equal_sizes_need_no_t():
    values = np.random.default_rng(7).normal(size=(5, 90))
    plain, student = (flip_tests(values, studentized=x) for x in (False, True))
    np.testing.assert_array_equal(plain.pvalue, student.pvalue)
    np.testing.assert_array_equal(plain.interval, student.interval)
    for (a, b), t in zip(student.pairs, student.statistic, strict=True):
        assert t == pytest.approx(stats.ttest_rel(values[a], values[b]).statistic)


@pytest.mark.parametrize("step", [0.1, 1e-6, 1 / 3, 2.0**-20, "f4", 1e8])
def test_values_on_a_grid_are_as_whole_numbers(step):
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 11, (3, 40))
    groups = np.append(rng.integers(0, 12, 38), [0, 11])
    if step == "f4":
        values = (whole / 10).astype(np.float32)
    else:
        values = whole / 4 + step if step > 1 else whole * step
    for known in (groups, None):
        found, wanted = (flip_tests(x, groups=known) for x in (values, whole))
        assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-12)


@BOTH
def test_two_models_that_are_equal_or_a_constant_apart(studentized):
    rng = np.random.default_rng(1)
    groups = np.append(rng.integers(0, 25, 98), [0, 1])
    values = rng.normal(size=100)
    found = flip_test((values, values), groups=groups, studentized=studentized)
    assert (found.statistic, found.pvalue, tuple(found.interval)) == (0.0, 1.0, (0.0, 0.0))
    apart = flip_test(([0.1] * 100, [0.0] * 100), groups=groups, studentized=studentized)
    assert abs(apart.difference - 0.1) < 1e-15
    assert apart.pvalue <= 1 / 1000
