"""E-values and their intervals, against integrals with fifty digits."""

import math

import evalue_oracles as oracle
import pytest
from cases import case, thinned
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import kernels
from fastcmp.kernels import GREATER, LESS, TWO_SIDED

SIDES = (TWO_SIDED, GREATER, LESS)
PRIORS = ((0.5, 0.5), (1.0, 1.0), (2.0, 5.0), (0.01, 3.0), (30.0, 0.2), (150.0, 160.0))
FAR = [
    *((0, 7), (7, 0), (10, 2), (2, 10), (1, 0), (100, 100), (67, 133), (133, 67)),
    *((0, 5000), (5000, 0), (3, 500), (10**6, 10**5)),
]
CLOSE = [(10**5, 10**5), (10**5, 101_000)]
counts = st.integers(0, 400)
priors = st.floats(0.05, 20.0)


def near(found, wanted, relative=1e-13, absolute=3e-12):
    """Compare logarithms, whose errors are relative errors of e-values."""
    assert abs(found - float(wanted)) <= relative * abs(float(wanted)) + absolute


@pytest.mark.parametrize("prior", thinned(PRIORS, 3))
def test_mcnemar_by_its_integral(prior):
    for b, c in [*FAR, *CLOSE] if prior == PRIORS[0] else FAR:
        for side in SIDES:
            with case(b, c, side):
                found = kernels.mcnemar_log_evalue(b, c, *prior, side)
                near(found, oracle.mcnemar_log_evalue(b, c, prior, side))


@given(counts, counts, priors, priors, st.sampled_from(SIDES))
def test_mcnemar_by_its_integral_anywhere(b, c, s, t, side):
    found = kernels.mcnemar_log_evalue(b, c, s, t, side)
    near(found, oracle.mcnemar_log_evalue(b, c, (s, t), side))


@pytest.mark.parametrize(("b", "c"), [(10**12, 10**12 + 3 * 10**6), (2**52, 2**52 - 1)])
def test_counts_as_large_as_floats_count(b, c):
    near(kernels.mcnemar_log_evalue(b, c), oracle.mcnemar_log_evalue(b, c))


@given(counts, counts)
def test_the_sides_of_a_symmetric_prior_average_to_both(b, c):
    both, up, down = (math.exp(kernels.mcnemar_log_evalue(b, c, 0.5, 0.5, x)) for x in SIDES)
    assert both == pytest.approx((up + down) / 2, rel=1e-12)
    assert up == pytest.approx(math.exp(kernels.mcnemar_log_evalue(c, b, 0.5, 0.5, LESS)))


def test_nothing_seen_and_one_win_are_no_evidence():
    assert kernels.mcnemar_log_evalue(0, 0) == 0.0
    assert kernels.mcnemar_log_evalue(0, 0, 2.0, 3.0, GREATER) == 0.0
    assert kernels.mcnemar_log_evalue(1, 0) == pytest.approx(0.0, abs=1e-14)
    wins = [kernels.mcnemar_log_evalue(b, 0) for b in range(8)]
    assert [x >= math.log(20) for x in wins] == [False] * 7 + [True]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("prior", [(0.5, 0.5), (2.0, 5.0)])
def test_the_expectation_is_one_after_any_number_of_samples(prior, side):
    """Over all sequences: at one half, and for one side also beyond it at most 1."""
    for m in range(12):
        wins = range(m + 1)
        evalues = [math.exp(kernels.mcnemar_log_evalue(b, m - b, *prior, side)) for b in wins]
        for p in (0.5, 0.5 - 0.2 * side, 0.5 - 0.49 * side):
            chances = [math.comb(m, b) * p**b * (1 - p) ** (m - b) for b in wins]
            mean = math.fsum(map(math.prod, zip(chances, evalues, strict=True)))
            assert mean <= 1 + 1e-12
            if p == 0.5:
                assert mean == pytest.approx(1.0, rel=1e-12)


def test_the_next_sample_is_a_fair_bet():
    for b, c in FAR:
        for side in SIDES:
            now, won, lost = (
                kernels.mcnemar_log_evalue(b + x, c + y, 0.5, 0.5, side)
                for x, y in ((0, 0), (1, 0), (0, 1))
            )
            mean = 0.5 * (math.exp(won - now) + math.exp(lost - now))
            assert mean == pytest.approx(1.0, rel=1e-9)


def test_proportions_that_are_not_rejected():
    for b, c in [*FAR, (2, 2)]:
        for s, t in PRIORS:
            low, high = kernels.anytime_proportion_interval(b, c, s, t, 0.9)
            top = b / (b + c)
            assert low <= top <= high
            for end, beyond in ((low, -1e-6), (high, 1e-6)):
                for shift in (beyond, -beyond):
                    at = end + shift * abs(end - top)
                    if not 0.0 < at < 1.0:
                        continue
                    log_e = b * math.log(0.5 / at) + c * math.log(0.5 / (1 - at))
                    log_e += kernels.mcnemar_log_evalue(b, c, s, t)
                    with case(b, c, s, t, at):
                        assert (log_e > math.log(10)) == (shift == beyond)
    assert kernels.anytime_proportion_interval(0, 0, 0.5, 0.5, 0.95) == (0.0, 1.0)
    assert kernels.anytime_proportion_interval(0, 9, 0.5, 0.5, 0.95).low == 0.0
    assert kernels.anytime_proportion_interval(9, 0, 0.5, 0.5, 0.95).high == 1.0


@given(counts, counts, priors, st.floats(0.5, 0.999))
def test_the_interval_excludes_one_half_where_the_test_does(b, c, s, level):
    low, high = kernels.anytime_proportion_interval(b, c, s, s, level)
    margin = kernels.mcnemar_log_evalue(b, c, s, s) + math.log1p(-level)
    if abs(margin) > 1e-9:
        assert (low < 0.5 < high) == (margin < 0)
    mirrored = kernels.anytime_proportion_interval(c, b, s, s, level)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-14)


# All pairs by look-ups.
