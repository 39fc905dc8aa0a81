"""Sign-flip tests of one vector of differences, beside all signs written out."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_cases import ALTERNATIVES, cases, cells, parametrize
from scipy import stats

from fastcmp.kernels import (
    DEGENERATE,
    INVALID,
    OK,
    SIGN_FLIP_MAX_FLOATS,
    SIGN_FLIP_MAX_SUM,
    flip_sums,
    mcnemar_exact,
    random_signs,
    sign_flip_floats,
    sign_flip_whole,
)

alternatives = st.sampled_from([0, 1, -1])
whole_numbers = st.lists(st.integers(-12, 12), min_size=1, max_size=9)
N_DRAWS = 9999


def signs_of(words, n):
    """Unpack words of signs as 1 and -1, shape (draws, n)."""
    bits = words[:, None, :] >> np.arange(64, dtype=np.uint64)[None, :, None]
    bits = (bits & np.uint64(1)).reshape(-1, words.shape[1])[:n]
    return 2 * bits.T.astype(np.int64) - 1


# Oracles.


@given(whole_numbers, alternatives)
def test_whole_numbers_by_all_signs(differences, alternative):
    found = sign_flip_whole(np.array(differences), alternative)
    wanted = naive.sign_flips(differences, alternative)
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-14)
    assert found.statistic == sum(differences)
    assert found.status == (OK if any(differences) else DEGENERATE)


@given(whole_numbers, alternatives, st.sampled_from([1.0, 0.1, 0.01, 1 / 3, 1e8]))
def test_floats_by_all_signs_whatever_the_rounding(differences, alternative, step):
    found = sign_flip_floats(np.array(differences) * step, alternative)
    wanted = naive.sign_flips(differences, alternative)
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-14)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), alternatives)
def test_floats_without_ties(differences, alternative):
    flipped = naive.sign_flips(differences, alternative)
    near = [x * (1 - 1e-9) for x in differences]
    # Exact fractions know no rounding: sums that nearly tie are left out.
    assume(min(map(abs, differences)) > 1e-6)
    assume(flipped == naive.sign_flips([*near[:1], *differences[1:]], alternative))
    found = sign_flip_floats(np.array(differences), alternative)
    assert found.pvalue == pytest.approx(float(flipped), rel=1e-14)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (64, 5), (70, 1), (130, 4), (200, 47)])
def test_sums_with_signs_are_a_matrix_product(n, k):
    values = np.random.default_rng(n).normal(size=(n, k))
    words, out = np.empty((-(-n // 64), 37), np.uint64), np.empty((k, 37))
    random_signs(5, 3, 0, words)
    flip_sums(values, words, out)
    np.testing.assert_allclose(out, (signs_of(words, n) @ values).T, atol=1e-12)


# References.


@parametrize("signflip_exact")
def test_exact_cases(case):
    a, b = np.array(case["input"]["a"]), np.array(case["input"]["b"])
    alternative = ALTERNATIVES[case["options"]["alternative"]]
    wanted = case["expected"]["pvalue"]
    assert sign_flip_floats(a - b, alternative).pvalue == pytest.approx(wanted)
    whole = np.rint(1000 * (a - b)).astype(np.int64)
    assert sign_flip_whole(whole, alternative).pvalue == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("b", "c"),
    [cells(case)[1:3] for case in cases("mcnemar_exact") if sum(cells(case)) < 10**5],
)
def test_right_or_wrong_is_the_exact_mcnemar_test(b, c):
    differences = np.repeat([1, -1, 0], [b, c, 10])
    for alternative in (0, 1, -1):
        found = sign_flip_whole(differences, alternative)
        assert found.pvalue == mcnemar_exact(b, c, alternative).pvalue


# Laws.


def test_signs_do_not_depend_on_where_a_block_begins():
    whole, part = np.empty((3, 9), np.uint64), np.empty((1, 4), np.uint64)
    random_signs(6, 0, 0, whole)
    random_signs(6, 5, 2, part)
    np.testing.assert_array_equal(part, whole[2:, 5:])
    assert len(np.unique(whole)) == whole.size


@given(whole_numbers)
def test_both_kernels_agree_and_sides_mirror(differences):
    values = np.array(differences)
    for alternative in (0, 1, -1):
        one = sign_flip_whole(values, alternative).pvalue
        assert one == pytest.approx(sign_flip_whole(-values, -alternative).pvalue)
        assert one == pytest.approx(sign_flip_whole(7 * values, alternative).pvalue)
        floats = sign_flip_floats(values / 8, alternative).pvalue
        assert one == pytest.approx(floats, rel=1e-14)


def test_all_differences_of_one_sign_have_the_least_pvalue():
    for n in (5, 40):
        found = sign_flip_floats(np.random.default_rng(n).random(n) + 0.1, 0)
        assert found.pvalue == 2.0 ** (1 - n)
    many = sign_flip_whole(np.arange(1, 200), 1)
    assert many.pvalue == pytest.approx(2.0**-199, rel=1e-13)


def test_as_scipy_of_many_whole_numbers():
    # The signed ranks are the flips of 1, 2, ..., n.
    rng = np.random.default_rng(3)
    differences = rng.permutation(np.arange(1, 41)) * rng.choice([-1, 1], 40)
    wanted = stats.wilcoxon(differences, method="exact").pvalue
    assert sign_flip_whole(differences, 0).pvalue == pytest.approx(wanted, rel=1e-12)


def test_a_sum_that_only_rounding_makes_is_none():
    found = sign_flip_floats(np.array([0.1, 0.2, -0.3]), 0)
    assert found.pvalue == 1.0


# Edges.


def test_no_difference():
    zeros = np.zeros(4)
    assert sign_flip_whole(np.zeros(4, np.int64), 0) == (0.0, 1.0, DEGENERATE)
    assert sign_flip_floats(zeros, 0) == (0.0, 1.0, DEGENERATE)


def test_too_many_differences_are_invalid():
    found = sign_flip_floats(np.ones(SIGN_FLIP_MAX_FLOATS + 1), 0)
    assert math.isnan(found.pvalue)
    assert found.status == INVALID
    found = sign_flip_whole(np.array([SIGN_FLIP_MAX_SUM, 1]), 0)
    assert math.isnan(found.pvalue)
    assert found.status == INVALID
