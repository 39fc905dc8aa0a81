"""How often a test errs at any of many looks: at most as often as it says."""

import math

import numba
import numpy as np
import pytest

from fastcmp.kernels import (
    anytime_difference_interval,
    bet_on_values,
    empirical_bernstein_limits,
    log_mean_exp,
    mcnemar_log_evalue,
    mcnemar_midp,
)
from fastcmp.sequential import PairLooks
from fastcmp.stream import PairCounts

pytestmark = pytest.mark.full

ALPHA = 0.05
LIMIT = -math.log(ALPHA)
RUNS = 2000
# Five standard errors above 5 %, so that the seed does not decide.
MOST = ALPHA + 5 * math.sqrt(ALPHA * (1 - ALPHA) / RUNS)


@numba.njit
def seeded(seed):
    np.random.seed(seed)  # noqa: NPY002  # numba's own generator


@numba.njit
def uniform():
    return np.random.random()  # noqa: NPY002


@numba.njit
def crossings(n, p_a, p_b, alternative, seed):
    """Runs in which an e-value, and a mid-p value, was ever extreme."""
    seeded(seed)
    found = np.zeros(3)
    for _ in range(RUNS):
        a = b = 0
        crossed = np.zeros(3)
        for i in range(1, n + 1):
            u = uniform()
            a += u < p_a
            b += p_a <= u < p_a + p_b
            if mcnemar_log_evalue(a, b, 0.5, 0.5, alternative) >= LIMIT:
                crossed[0] = 1
            if i % (n // 30) == 0:
                crossed[1] = max(crossed[1], mcnemar_midp(a, b, alternative).pvalue <= ALPHA)
                low, high = anytime_difference_interval(a, b, i, 1 - ALPHA)
                if not low <= p_a - p_b <= high:
                    crossed[2] = 1
        found += crossed
    return found / RUNS


@pytest.mark.parametrize("alternative", [0, 1, -1])
@pytest.mark.parametrize("p", [0.02, 0.2, 0.5])
def test_mcnemar_at_every_sample(p, alternative):
    evalue, midp, interval = crossings(600, p, p, alternative, 1)
    assert 0.003 < evalue <= MOST
    assert interval <= MOST
    assert midp > 2 * ALPHA  # what peeking costs a test that is made for one look


@pytest.mark.parametrize(("p_a", "p_b"), [(0.3, 0.1), (0.02, 0.0), (0.9, 0.1)])
def test_intervals_of_a_difference(p_a, p_b):
    assert 0 < crossings(400, p_a, p_b, 0, 2)[2] + 0.01 <= MOST


@numba.njit
def mean_crossings(bets, mean, n, seed):
    """Runs in which bets on values won, or a limit was ever above the mean."""
    seeded(seed)
    won = above = 0
    limits, x = np.empty(n), np.empty(n)
    for _ in range(RUNS):
        # Skewed: mostly a little above, seldom far below.
        for i in range(n):
            x[i] = -0.9 if uniform() < 0.1 else 0.1
        wealth = np.zeros(bets.size)
        ever = False
        for i in range(n):
            bet_on_values(x[i : i + 1], mean, bets, wealth)
            ever |= log_mean_exp(wealth) >= LIMIT
        won += ever
        empirical_bernstein_limits((x + 1) / 2, ALPHA, 0.5, limits)
        above += (limits > (mean + 1) / 2).any()
    return won / RUNS, above / RUNS


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_bets_on_a_skewed_mean(alternative):
    up = np.array([0.02, 0.1, 0.25, 0.45, 0.7])
    sides = {"greater": up, "less": -up, "two-sided": np.concatenate([up, -up])}
    won, above = mean_crossings(sides[alternative], 0.0, 300, 3)
    assert 0.001 < won <= MOST
    assert above <= MOST


@pytest.mark.parametrize("adjust", ["e-holm", "e-bh"])
def test_any_false_decision_about_equal_models(adjust):
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(300):
        counts, state = PairCounts(6), PairLooks(adjust=adjust, alpha=0.2)
        ever = False
        for _ in range(6):
            easy = rng.random(60)
            right = rng.random((6, 60)) < easy  # equally good, and correlated
            ever |= state.look(counts.update([1] * 60, right.astype(int))).n_significant > 0
        wrong += ever
    assert wrong <= 300 * 0.2
