"""Tails of t and F: the closed forms beside SciPy's functions and 40 digits."""

import math

import numpy as np
import pytest
from libraries import mpmath, special

from fastcmp.kernels import snedecor_tail, student_tails

N = 400
STATISTICS = [0.0, 1e-300, 1e-9, *np.geomspace(1e-4, 1e4, N), 1e30, 1e200]
DEGREES = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 10.0, 14.0, 29.0, 98.0, 99.0, 100.0]
OTHERS = [0.3, 4.5, 101.0, 1e6]


def exact(df1, df2, ratio):
    """Integrate to 40 digits, from the end that is small."""
    with mpmath.workdps(40):
        y = mpmath.mpf(df2) / (df2 + mpmath.mpf(df1) * mpmath.mpf(ratio))
        half = mpmath.mpf(df2) / 2, mpmath.mpf(df1) / 2
        return float(mpmath.betainc(*half, 0, y, regularized=True))


@pytest.mark.parametrize("df", DEGREES + OTHERS)
def test_student_equals_scipy(df):
    found = [student_tails(df, t) for t in STATISTICS]
    wanted = 2 * special.stdtr(df, -np.array(STATISTICS))
    # For df = 1 SciPy 1.17 takes 1e-9 for 0; the digits of ours are tested below.
    wanted[2] = found[2] if df == 1 else wanted[2]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=0)
    assert found == [student_tails(df, -t) for t in STATISTICS]
    assert found[0] == 1


@pytest.mark.parametrize("df1", [*DEGREES, 7.0, *OTHERS])
@pytest.mark.parametrize("df2", [1.0, 2.0, 5.0, 10.0, 99.0, 4.5])
def test_snedecor_equals_scipy(df1, df2):
    ratios = STATISTICS[::5]
    found = [snedecor_tail(df1, df2, ratio) for ratio in ratios]
    wanted = special.fdtrc(df1, df2, ratios)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-300)
    assert found[0] == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("t", [1e-9, 0.01, 0.7, 2.0, 2.7, 9.0, 1e5])
def test_student_has_thirteen_digits(df, t):
    wanted = exact(1, df, t * t)
    assert student_tails(df, t) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("degrees", [(10, 5), (7, 5), (2, 3), (9, 99), (100, 100)])
@pytest.mark.parametrize("ratio", [1e-9, 0.1, 1.0, 2.0, 4.0, 6.0, 30.0, 1e6])
def test_snedecor_has_thirteen_digits(degrees, ratio):
    wanted = exact(*degrees, ratio)
    found = snedecor_tail(*map(float, degrees), ratio)
    assert found == pytest.approx(wanted, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("df", DEGREES)
def test_tails_fall(df):
    """The two ways to compute them join without a step up."""
    t = np.geomspace(0.1, 20, 20_000)
    assert np.diff([student_tails(df, x) for x in t]).max() <= 0
    assert np.diff([snedecor_tail(df, 5.0, x) for x in t]).max() <= 0


def test_ends():
    for df in (1.0, 4.0, 5.0, 4.5):
        assert student_tails(df, math.inf) == student_tails(df, -math.inf) == 0
        assert math.isnan(student_tails(df, math.nan))
        assert snedecor_tail(df, 5.0, math.inf) == 0
        assert math.isnan(snedecor_tail(df, 5.0, math.nan))
    for df in (0.0, -1.0, -4.0, math.nan):
        assert math.isnan(student_tails(df, 1.0))
        assert math.isnan(snedecor_tail(df, 5.0, 1.0))
        assert math.isnan(snedecor_tail(4.0, df, 1.0))
