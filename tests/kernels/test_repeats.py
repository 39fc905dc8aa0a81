"""pass@k, pass^k and G-pass@k against exact rationals."""

from fractions import Fraction
from math import comb, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected, parametrize

from fastcmp import kernels

counts = st.integers(1, 40).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))
)


def exact_pass_at_k(correct, samples, k):
    return 1 - Fraction(comb(samples - correct, k), comb(samples, k))


def exact_pass_hat_k(correct, samples, k):
    return Fraction(comb(correct, k), comb(samples, k))


def exact_g_pass(correct, samples, k, share):
    ways = sum(
        comb(correct, j) * comb(samples - correct, k - j)
        for j in range(1, k + 1)
        if Fraction(j, k) >= share
    )
    return Fraction(ways, comb(samples, k))


def exact_variance(h, correct, samples, k):
    return h(correct, samples, k) ** 2 - h(correct, samples, 2 * k)


@given(counts)
def test_pass_at_k_and_pass_hat_k(triple):
    near = {"rel": 1e-13, "abs": 0}
    wanted = float(exact_pass_at_k(*triple))
    assert kernels.pass_at_k(*triple) == pytest.approx(wanted, **near)
    wanted = float(exact_pass_hat_k(*triple))
    assert kernels.pass_hat_k(*triple) == pytest.approx(wanted, **near)


@given(counts, st.integers(0, 20))
def test_g_pass_at_k(triple, twentieths):
    wanted = float(exact_g_pass(*triple, Fraction(twentieths, 20)))
    found = kernels.g_pass_at_k(*triple, twentieths / 20)
    assert found == pytest.approx(wanted, rel=1e-12, abs=0)


@given(counts)
def test_variances(triple):
    correct, samples, k = triple
    if 2 * k > samples:
        assert np.isnan(kernels.pass_at_k_variance(*triple))
        assert np.isnan(kernels.pass_hat_k_variance(*triple))
        return
    wanted = float(exact_variance(exact_pass_hat_k, *triple))
    near = {"rel": 1e-12, "abs": 0}
    assert kernels.pass_hat_k_variance(*triple) == pytest.approx(wanted, **near)
    mirrored = samples - correct, samples, k
    assert kernels.pass_at_k_variance(*mirrored) == kernels.pass_hat_k_variance(*triple)


def test_large_counts_keep_their_digits():
    # 1 - (1 - 1e-12) would keep four of them.
    assert kernels.pass_at_k(1, 10**12, 1) == pytest.approx(1e-12, rel=1e-13)
    wanted = float(exact_pass_at_k(3, 10**6, 7))
    assert kernels.pass_at_k(3, 10**6, 7) == pytest.approx(wanted, rel=1e-13)
    wanted = float(exact_variance(exact_pass_hat_k, 10**4 - 1, 10**4, 3))
    found = kernels.pass_hat_k_variance(10**4 - 1, 10**4, 3)
    assert found == pytest.approx(wanted, rel=1e-12)
    wanted = float(exact_g_pass(600, 2000, 500, Fraction(1, 2)))
    assert wanted < 1e-20
    found = kernels.g_pass_at_k(600, 2000, 500, 0.5)
    assert found == pytest.approx(wanted, rel=1e-10, abs=0)


def test_a_proportion_is_compared_as_it_is_written():
    # 0.6 * 5 rounds to 3.0000000000000004 in other orders; 3 of 5 is enough.
    for tau, k, least in ((0.6, 5, 3), (0.7, 10, 7), (0.1, 30, 3), (0.29, 100, 29)):
        assert kernels.g_pass_at_k(least, k, k, tau) == 1.0
        assert kernels.g_pass_at_k(least - 1, k, k, tau) == 0.0


@pytest.mark.parametrize(
    "triple", [(-1, 5, 2), (6, 5, 2), (2, 5, 0), (2, 5, 6), (0, 0, 1), (2, 5, -1)]
)
def test_out_of_range_is_nan(triple):
    for name in ("pass_at_k", "pass_hat_k", "pass_at_k_variance", "pass_hat_k_variance"):
        assert np.isnan(getattr(kernels, name)(*triple))
    assert np.isnan(kernels.g_pass_at_k(*triple, 0.5))


@pytest.mark.parametrize("tau", [-0.1, 1.1, nan])
def test_a_proportion_out_of_range_is_nan(tau):
    assert np.isnan(kernels.g_pass_at_k(2, 5, 2, tau))


def items_of(case):
    correct = case["input"]["n_correct"]
    samples = np.broadcast_to(case["input"]["n_samples"], len(correct)).tolist()
    return list(zip(correct, samples, strict=True))


def assert_each(case, kernel, *options):
    found = [kernel(c, n, *options) for c, n in items_of(case)]
    assert found == expected(case, "per_item")
    assert np.mean(found) == expected(case, "mean")


@parametrize("pass_at_k")
def test_pass_at_k_of_others(case):
    assert_each(case, kernels.pass_at_k, case["options"]["k"])


@parametrize("pass_hat_k")
def test_pass_hat_k_of_others(case):
    assert_each(case, kernels.pass_hat_k, case["options"]["k"])


@parametrize("g_pass_at_k_tau")
def test_g_pass_at_k_of_others(case):
    assert_each(case, kernels.g_pass_at_k, case["options"]["k"], case["options"]["tau"])


@parametrize("pass_within_item_variance")
def test_variances_of_others(case):
    of = {"pass^k": kernels.pass_hat_k_variance, "pass@k": kernels.pass_at_k_variance}
    kernel = of[case["options"]["metric"]]
    found = [kernel(c, n, case["options"]["k"]) for c, n in items_of(case)]
    assert found == expected(case, "per_item")
