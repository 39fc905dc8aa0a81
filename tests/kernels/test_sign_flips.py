"""Sign-flip tests of one vector of differences, beside all signs written out."""

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_cases import cases, cells

from fastcmp import kernels

alternatives = st.sampled_from([0, 1, -1])
whole_numbers = st.lists(st.integers(-12, 12), min_size=1, max_size=9)


def signs_of(words, n):
    """Unpack words of signs as 1 and -1, shape (draws, n)."""
    bits = words[:, None, :] >> np.arange(64, dtype=np.uint64)[None, :, None]
    bits = (bits & np.uint64(1)).reshape(-1, words.shape[1])[:n]
    return 2 * bits.T.astype(np.int64) - 1


# Oracles.


@given(whole_numbers, alternatives)
def test_whole_numbers_by_all_signs(differences, alternative):
    found = kernels.sign_flip_whole(np.array(differences), alternative)
    wanted = naive.sign_flips(differences, alternative)
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-14)
    assert found.statistic == sum(differences)
    assert found.status == (kernels.OK if any(differences) else kernels.DEGENERATE)


@given(whole_numbers, alternatives, st.sampled_from([1.0, 0.1, 0.01, 1 / 3, 1e8]))
def test_floats_by_all_signs_whatever_the_rounding(differences, alternative, step):
    found = kernels.sign_flip_floats(np.array(differences) * step, alternative)
    wanted = naive.sign_flips(differences, alternative)
    assert found.pvalue == pytest.approx(float(wanted), rel=1e-14)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), alternatives)
def test_floats_without_ties(differences, alternative):
    flipped = naive.sign_flips(differences, alternative)
    near = [x * (1 - 1e-9) for x in differences]
    # Exact fractions know no rounding: sums that nearly tie are left out.
    assume(min(map(abs, differences)) > 1e-6)
    assume(flipped == naive.sign_flips([*near[:1], *differences[1:]], alternative))
    found = kernels.sign_flip_floats(np.array(differences), alternative)
    assert found.pvalue == pytest.approx(float(flipped), rel=1e-14)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (64, 5), (70, 1), (130, 4), (200, 47)])
def test_sums_with_signs_are_a_matrix_product(n, k):
    values = np.random.default_rng(n).normal(size=(n, k))
    words, out = np.empty((-(-n // 64), 37), np.uint64), np.empty((k, 37))
    kernels.random_signs(5, 3, 0, words)
    kernels.flip_sums(values, words, out)
    np.testing.assert_allclose(out, (signs_of(words, n) @ values).T, atol=1e-12)


# References.


@pytest.mark.parametrize(
    ("b", "c"), [cells(case)[1:3] for case in cases("mcnemar_exact") if sum(cells(case)) < 10**5]
)
def test_right_or_wrong_is_the_exact_mcnemar_test(b, c):
    differences = np.repeat([1, -1, 0], [b, c, 10])
    for alternative in (0, 1, -1):
        found = kernels.sign_flip_whole(differences, alternative)
        assert found.pvalue == kernels.mcnemar_exact(b, c, alternative).pvalue


# Laws.


def test_signs_do_not_depend_on_where_a_block_begins():
    whole, part = np.empty((3, 9), np.uint64), np.empty((1, 4), np.uint64)
    kernels.random_signs(6, 0, 0, whole)
    kernels.random_signs(6, 5, 2, part)
    np.testing.assert_array_equal(part, whole[2:, 5:])
    assert len(np.unique(whole)) == whole.size


def test_all_differences_of_one_sign_have_the_least_pvalue():
    for n in (5, 40):
        found = kernels.sign_flip_floats(np.random.default_rng(n).random(n) + 0.1, 0)
        assert found.pvalue == 2.0 ** (1 - n)
    many = kernels.sign_flip_whole(np.arange(1, 200), 1)
    assert many.pvalue == pytest.approx(2.0**-199, rel=1e-13)


def test_a_sum_that_only_rounding_makes_is_none():
    found = kernels.sign_flip_floats(np.array([0.1, 0.2, -0.3]), 0)
    assert found.pvalue == 1.0


# Edges.
