"""SciPy's special functions from compiled code, and the shared step of root search."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import mpmath, special
from numba import njit

from fastcmp import kernels
from fastcmp.kernels import log1pmx
from fastcmp.kernels.special import truncated_mean, truncated_survival


@njit
def itp_step(low, f_low, high, f_high, i):
    return kernels.special.itp_step(low, f_low, high, f_high, i)


POSITIVE = [1e-300, 1e-9, 0.3, 1.0, 2.5, 40.0, 1e4, 1e9]
SHARES = [0.0, 1e-300, 1e-9, 0.025, 0.5, 0.975, 1.0]
DEGREES = [1.0, 2.0, 3.5, 10.0, 1e5]
GRIDS = {
    "ndtri": (SHARES,),
    "chdtrc": (DEGREES, [0.0, *POSITIVE, math.inf]),
    "fdtrc": (DEGREES, DEGREES, [0.0, *POSITIVE]),
    "betainc": (DEGREES, DEGREES, SHARES),
    "gammainc": (DEGREES, DEGREES),
    "betaincinv": (DEGREES, DEGREES, SHARES),
    "stdtr": (DEGREES, [*(-x for x in POSITIVE), 0.0, *POSITIVE]),
    "stdtrit": (DEGREES, [1e-300, 1e-9, 0.025, 0.5, 0.975]),
}


@pytest.mark.parametrize("name", GRIDS)
def test_equals_scipy(name):
    points = list(product(*GRIDS[name]))
    found = [getattr(kernels, name)(*point) for point in points]
    wanted = getattr(special, name)(*np.array(points).T)
    np.testing.assert_array_equal(found, wanted)
    assert len(set(found)) > 1


def test_every_special_function_is_tested():
    import scipy.special

    names = vars(scipy.special)
    assert {name for name in kernels.__all__ if name in names} == set(GRIDS)


def exact_log1pmx(x):
    with mpmath.workdps(700):  # x**2 / 2 may lie 600 digits below x
        return mpmath.log1p(mpmath.mpf(x)) - x


@given(
    st.floats(-1.0, 1.0, exclude_min=True)
    | st.floats(-0.2, 0.2)
    | st.floats(-1.0, 1e6, exclude_min=True)
    | st.floats(-308.0, -1.0).map(lambda e: 10.0**e)
    | st.floats(-308.0, -1.0).map(lambda e: -(10.0**e))
    | st.floats(-16.0, 0.0).map(lambda e: 10.0**e - 1.0).filter(lambda x: x > -1.0)
)
def test_log1pmx_has_all_digits(x):
    found, wanted = log1pmx(x), exact_log1pmx(x)
    assert found <= 0.0
    # Squares of tiny numbers are subnormal, or 0.
    assert found == pytest.approx(float(wanted), rel=3e-15, abs=1e-307)


@given(
    *(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6), st.floats(0, 1e300) | st.just(math.inf)),
    *(st.floats(-1e300, -1e-300) | st.just(-math.inf), st.integers(0, 119)),
)
def test_a_step_stays_in_its_bracket(low, width, f_low, f_high, i):
    high = low + width
    reach = 0.5 * (high - low) if i < 60 else 0.0
    proposal = itp_step(low, f_low, high, f_high, i)
    assert low <= proposal <= high
    middle = 0.5 * (low + high)
    slack = 4.0 * np.spacing(max(abs(low), abs(high)))
    assert abs(proposal - middle) <= reach + slack


widths = st.floats(-0.1, 12) | st.floats(-308.0, 0.0).map(lambda e: 10.0**e)


@given(st.floats(-12, 12), widths, widths)
def test_survival_between_two_ends(z, below, above):
    found = truncated_survival(z, below, above)
    if below <= 0 or above <= 0:
        assert found == (below <= 0)
        return
    with mpmath.workdps(400):
        low, at, high = (mpmath.ncdf(mpmath.mpf(z) + x) for x in (-below, 0, above))
        assert found == pytest.approx(float((high - at) / (high - low)), rel=1e-8, abs=1e-8)


@given(st.floats(-2, 2), st.floats(0.05, 0.95), st.floats(0.1, 3), st.floats(0.1, 3))
def test_mean_between_two_ends(x, probability, below, above):
    ends = x - below, x + above
    mean = truncated_mean(x, 0.5, math.inf, ends, probability, (x - 60.0, x + 60.0), math.inf)
    z = (x - mean) / 0.5
    assert truncated_survival(z, 2 * below, 2 * above) == pytest.approx(probability, abs=1e-9)
    rate = 0.5 + 0.2 * x
    of_rate = truncated_mean(rate, 0.0, 100.0, (0.0, 1.0), probability, (0.0, 1.0), 3.0)
    assert abs(rate - of_rate) <= 3.0 * math.sqrt(of_rate * (1.0 - of_rate) / 100.0) + 1e-9
