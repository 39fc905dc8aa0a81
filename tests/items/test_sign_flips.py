"""Sign-flip tests of units: two models, and all pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import ALTERNATIVES, parametrize
from scipy import stats

from fastcmp.core.threads import ThreadPool
from fastcmp.counts.pairs import Block, all_pairs
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.items.flipped_units import read_units
from fastcmp.items.sign_flips import flip_test, flip_tests, least_pvalue
from fastcmp.kernels import mcnemar_exact
from fastcmp.pairwise.pair_tests import PairTests

NAMES = {code: name for name, code in ALTERNATIVES.items()} | {0: "two-sided"}
DEFAULTS = {
    "alternative": "two-sided",
    "studentized": False,
    "n_resamples": naive.small_if_interpreted(999, 99),
    "seed": 1,
    "confidence_level": 0.95,
}


@pytest.fixture(autouse=True)
def _few_if_interpreted(monkeypatch):
    most = naive.small_if_interpreted(1 << 20, 1 << 9)
    monkeypatch.setattr("fastcmp.items.sign_flips._ALL_OF_ONE", most)


def units_of(values, groups=None):
    """Sum values of models (M, n) over groups."""
    values = np.array(values, float)
    _, at = np.unique(np.arange(values.shape[1]) if groups is None else groups, return_inverse=True)
    sums = np.stack([np.bincount(at, row) for row in values])
    n = sums.shape[1]
    return UnitSums(sums, np.bincount(at) * 1.0, np.zeros(n, np.int64), np.ones(1))


def base_of(units):
    """Make the test that the sign flips take the place of."""
    scale = units.weights / np.bincount(units.strata, units.sizes)
    score = (units.sums * scale[units.strata]).sum(axis=1)
    return PairTests(
        n_samples=units.sizes.size,
        correct=None,
        score=score,
        score_interval=np.full((score.size, 2), np.nan),
        distribution="t",
        df=3,
        side=8,
        pvalues=None,
        columns=None,
    )


def all_columns(units, threads=1, size=7, **options):
    """Test all pairs, some at a time."""
    options = {"studentized": False, "n_resamples": 200, "seed": 3} | options
    pairs = all_pairs(len(units.sums))
    with ThreadPool(threads) as pool:
        tests = flip_tests(units, base_of(units), level=0.9, pool=pool, **options)
        tasks = [slice(i, i + size) for i in range(0, len(pairs), size)]
        blocks = [Block(task, pairs[task]) for task in tasks]
        found = dict(pool.answers(lambda i: tests.columns(blocks[i]), range(len(tasks))))
        for i, block in enumerate(blocks):
            np.testing.assert_array_equal(tests.pvalues(block), found[i].pvalue)
    assert (tests.distribution, tests.df) == ("permutation", None)
    return [
        np.concatenate(column)
        for column in zip(*(found[i][:7] for i in sorted(found)), strict=True)
    ]


def stratified(seed, sizes=((4, 1, 2), (3, 3, 1, 5)), weights=(0.5, 0.5), models=2):
    rng = np.random.default_rng(seed)
    n = sum(map(len, sizes))
    strata = np.repeat(np.arange(len(sizes)), list(map(len, sizes)))
    sums = rng.integers(-5, 9, (models, n)).astype(float)
    return UnitSums(sums, np.concatenate(sizes) * 1.0, strata, np.array(weights))


def pvalue_at(units, shift, alternative, *, studentized):
    """Return the exact p-value after a shift of the differences, with fractions."""
    shift = Fraction(shift)
    d = [Fraction(a) - Fraction(b) for a, b in units.sums.T]
    left = [x - shift * int(n) for x, n in zip(d, units.sizes, strict=True)]
    sizes = [[int(n) for n in units.sizes]]
    if not studentized:
        return naive.sign_flips(left, alternative)
    factors = [[Fraction(1)] * len(left)]
    return naive.student_flips([left], sizes, factors, alternative=alternative)


# References.


@parametrize("signflip_exact")
def test_exact_cases(case):
    units = units_of([case["input"]["a"], case["input"]["b"]])
    alternative = NAMES[ALTERNATIVES[case["options"]["alternative"]]]
    found = flip_test(units, **DEFAULTS | {"alternative": alternative})
    assert found.statistic == pytest.approx(case["expected"]["difference"])
    assert found.pvalue == pytest.approx(case["expected"]["pvalue"], rel=1e-12)
    assert found.n_resamples == 0


@parametrize("signflip_exact_cluster")
def test_clusters(case):
    values = case["input"]["a"], case["input"]["b"]
    units = units_of(values, case["input"]["cluster"])
    alternative = NAMES[ALTERNATIVES[case["options"]["alternative"]]]
    found = flip_test(units, **DEFAULTS | {"alternative": alternative})
    assert found.pvalue == pytest.approx(case["expected"]["pvalue"], rel=1e-12)


@parametrize("signflip_studentized_cluster")
def test_studentized_clusters(case):
    values = case["input"]["a"], case["input"]["b"]
    units = units_of(values, case["input"]["cluster"])
    alternative = NAMES[ALTERNATIVES[case["options"]["alternative"]]]
    options = {"alternative": alternative, "studentized": True}
    variance = case["options"]["variance"].lower()
    found = flip_test(units, **DEFAULTS | options, variance=variance)
    assert found.statistic == pytest.approx(case["expected"]["statistic"], rel=1e-9)
    assert found.pvalue == pytest.approx(case["expected"]["pvalue"], rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_as_scipy(alternative):
    a, b = np.random.default_rng(4).normal(size=(2, 11))
    wanted = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative=alternative,
    )
    found = flip_test(units_of([a, b]), **DEFAULTS | {"alternative": alternative})
    assert found.statistic == pytest.approx(wanted.statistic)
    assert found.pvalue == pytest.approx(wanted.pvalue)


# Oracles.


@pytest.mark.parametrize("studentized", [False, True])
@pytest.mark.parametrize("alternative", [0, 1, -1])
@pytest.mark.parametrize("seed", [1, 2])
def test_exact_intervals_are_where_the_pvalue_passes_alpha(seed, alternative, studentized):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 8).astype(float)
    sums = rng.integers(-6, 12, (2, 8)).astype(float)
    units = UnitSums(sums, sizes, np.zeros(8, np.int64), np.ones(1))
    options = {"alternative": NAMES[alternative], "studentized": studentized}
    found = flip_test(units, **DEFAULTS | options | {"confidence_level": 0.9})
    ends = [(found.low, -1), (found.high, 1)]
    assert [math.isinf(end) for end, _ in ends] == [alternative < 0, alternative > 0]
    for end, outwards in ends:
        if math.isinf(end):
            continue
        step = 1e-7 * max(1.0, abs(end)) * outwards
        far, near = (
            pvalue_at(units, x, alternative, studentized=studentized)
            for x in (end + step, end - step)
        )
        assert far <= Fraction(1, 10) < near


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([0, 1, -1]))
def test_strata_studentized_by_all_signs(seed, alternative):
    units = stratified(seed, weights=(0.25, 0.75))
    ends = [slice(0, 3), slice(3, 7)]
    d = units.sums[0] - units.sums[1]
    factors = [[Fraction(3, 2)] * 3, [Fraction(4, 3)] * 4]
    wanted = naive.student_flips(
        [d[own].tolist() for own in ends],
        [units.sizes[own].astype(int).tolist() for own in ends],
        factors,
        [Fraction(1, 4), Fraction(3, 4)],
        alternative,
    )
    options = {"alternative": NAMES[alternative], "studentized": True}
    found = flip_test(units, **DEFAULTS | options)
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("weights", [(0.5, 0.5), (7 / 19, 12 / 19), (0.3, 0.7)])
@pytest.mark.parametrize("alternative", [0, 1, -1])
def test_strata_by_all_signs(weights, alternative):
    units = stratified(5, weights=weights)
    d = units.sums[0] - units.sums[1]
    scale = [Fraction(w).limit_denominator(100) for w in weights]
    scaled = [Fraction(x) * scale[h] / (7, 12)[h] for x, h in zip(d, units.strata, strict=True)]
    found = flip_test(units, **DEFAULTS | {"alternative": NAMES[alternative]})
    wanted = naive.sign_flips(scaled, alternative)
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-12)
    assert found.statistic == pytest.approx(float(sum(scaled)))


@pytest.mark.parametrize("studentized", [False, True])
def test_pairs_by_all_signs(studentized):
    units = stratified(8, ((3, 1, 2, 2, 5, 1, 1),), (1.0,), models=4)
    columns = all_columns(units, studentized=studentized)
    for k, (a, b) in enumerate(all_pairs(4)):
        pair = units._replace(sums=units.sums[[a, b]])
        options = {"studentized": studentized, "confidence_level": 0.9}
        one = flip_test(pair, **DEFAULTS | options)
        found = [column[k] for column in columns]
        np.testing.assert_allclose(found[3:], [one.low, one.high, *one[:2]])
        wanted = pvalue_at(pair, 0, 0, studentized=studentized)
        assert found[6] == pytest.approx(float(wanted), rel=1e-12)
        assert found[:2] == [-1, -1]


# Laws.


@pytest.mark.parametrize("studentized", [False, True])
def test_random_intervals_come_near_those_of_t(studentized):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 300)) + np.array([[0.2], [0.0]])
    units = units_of(values, np.repeat(np.arange(60), 5))
    options = {"n_resamples": 5000, "studentized": studentized}
    found = flip_test(units, **DEFAULTS | options)
    d = (units.sums[0] - units.sums[1]) / 5
    low, high = stats.ttest_1samp(d, 0).confidence_interval()
    assert found.low == pytest.approx(low, abs=0.1 * (high - low))
    assert found.high == pytest.approx(high, abs=0.1 * (high - low))
    assert found.n_resamples == 5000


@pytest.mark.parametrize("studentized", [False, True])
def test_intervals_agree_with_random_pvalues(studentized):
    rng = np.random.default_rng(9)
    # More than those of which all signs are looked at.
    sizes = rng.integers(1, 9, 45).astype(float)
    sums = rng.normal(size=(2, 45)) * sizes
    units = UnitSums(sums, sizes, np.zeros(45, np.int64), np.ones(1))
    options = DEFAULTS | {"studentized": studentized, "n_resamples": 400}
    found = flip_test(units, **options)

    def pvalue_of(shift):
        moved = units._replace(sums=np.stack([sums[0] - shift * sizes, sums[1]]))
        return flip_test(moved, **options).pvalue

    width = found.high - found.low
    for end, outwards in ((found.low, -1e-6), (found.high, 1e-6)):
        assert pvalue_of(end + outwards * width) <= 0.05
        assert pvalue_of(end - outwards * width) > 0.05


def test_models_exchanged():
    units = stratified(3)
    options = DEFAULTS | {"studentized": True}
    for alternative, other in (("two-sided",) * 2, ("greater", "less")):
        one = flip_test(units, **options | {"alternative": alternative})
        mirrored = units._replace(sums=units.sums[::-1])
        two = flip_test(mirrored, **options | {"alternative": other})
        found = -two.statistic, two.pvalue, -two.high, -two.low
        assert one[:4] == pytest.approx(found)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("studentized", [False, True])
def test_the_same_for_any_number_of_workers(studentized, clustered):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(9, 150))
    units = units_of(values, rng.integers(0, 40, 150) if clustered else None)
    one = all_columns(units, studentized=studentized)
    for threads, size in ((4, 5), (7, 100)):
        other = all_columns(units, threads, size, studentized=studentized)
        for column, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(column, same)


def test_right_or_wrong_is_the_exact_mcnemar_test():
    values = np.random.default_rng(6).integers(0, 2, (4, 500))
    columns = all_columns(units_of(values))
    for k, (a, b) in enumerate(all_pairs(4)):
        d = values[a] - values[b]
        wanted = mcnemar_exact(int((d > 0).sum()), int((d < 0).sum()), 0).pvalue
        assert columns[6][k] == wanted


def test_equal_sizes_need_no_t():
    values = np.random.default_rng(7).normal(size=(5, 90))
    plain = all_columns(units_of(values))
    student = all_columns(units_of(values), studentized=True)
    for k in (2, 3, 4, 6):
        np.testing.assert_array_equal(plain[k], student[k])
    for k, (a, b) in enumerate(all_pairs(5)):
        t = stats.ttest_rel(values[a], values[b]).statistic
        assert student[5][k] == pytest.approx(t)


@pytest.mark.parametrize("studentized", [False, True])
def test_two_models_that_are_equal(studentized):
    rng = np.random.default_rng(1)
    values = rng.normal(size=30)
    units = units_of([values, values], rng.integers(0, 25, 30))
    found = flip_test(units, **DEFAULTS | {"studentized": studentized})
    assert (found.statistic, found.pvalue, found.n_nonzero) == (0.0, 1.0, 0)
    assert found.low == found.high == 0.0


def test_a_difference_that_never_varies():
    sizes = np.random.default_rng(5).integers(1, 9, 30).astype(float)
    sums = np.stack([0.1 * sizes, 0.0 * sizes])
    units = UnitSums(sums, sizes, np.zeros(30, np.int64), np.ones(1))
    found = flip_test(units, **DEFAULTS | {"studentized": True})
    assert found.statistic == math.inf
    assert found.pvalue == 1 / (DEFAULTS["n_resamples"] + 1)
    assert found.low == found.high == pytest.approx(0.1)


# Steps that values are multiples of.


@pytest.mark.parametrize("step", [1, 1 / 8, 0.1, 0.01, 1e-6, 1 / 3, 1 / 7, 0.025, 2.0**-20])
def test_values_on_a_grid_are_whole_numbers(step):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 50, (3, 40)) * step
    units = units_of(values, rng.integers(0, 12, 40))
    read = read_units(units)
    assert read.whole
    difference = (read.values[0] - read.values[1]).sum() / read.total_size
    means = units.sums.sum(axis=1) / 40
    assert difference == pytest.approx(means[0] - means[1])


def test_single_precision_and_large_offsets_are_on_a_grid():
    graded = np.random.default_rng(2).integers(0, 11, (2, 50))
    assert read_units(units_of((graded / 10).astype(np.float32))).whole
    assert read_units(units_of(graded / 4 + 1e8)).whole


def test_other_values_are_not_whole_numbers():
    assert not read_units(units_of(np.random.default_rng(3).random((2, 50)))).whole


@pytest.mark.parametrize(("n", "alternative"), [(6, "two-sided"), (5, "less")])
def test_least_pvalue(n, alternative):
    assert least_pvalue(n, alternative) == 1 / 32
    assert least_pvalue(0, alternative) == 1.0
