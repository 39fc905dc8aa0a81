"""Step-down max-T, held against its definition, and normal tails against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats

from fastcmp import kernels

SIDES = {kernels.TWO_SIDED: np.abs, kernels.GREATER: np.positive, kernels.LESS: np.negative}


def by_definition(draws, pairs, inverse, least, side):
    """Compare the largest of the first p + 1 statistics of each draw, for each p."""
    statistics = SIDES[side]((draws[pairs[:, 0]] - draws[pairs[:, 1]]).T * inverse)
    first = [statistics[:, : p + 1].max(axis=1) for p in range(len(pairs))]
    return [np.count_nonzero(x >= low) for x, low in zip(first, least, strict=True)]


@given(
    st.integers(2, 6),
    st.integers(1, 40),
    st.sampled_from([kernels.TWO_SIDED, kernels.GREATER, kernels.LESS]),
    st.integers(0, 2**31),
)
def test_step_down_is_that_of_the_definition(n_models, n_draws, side, seed):
    rng = np.random.default_rng(seed)
    draws = rng.integers(-3, 4, (n_models, n_draws)).astype(float)
    i, j = np.triu_indices(n_models, 1)
    order = rng.permutation(i.size)
    pairs = np.stack([i, j], axis=1).astype(np.int32)[order]
    inverse = rng.choice([0.0, 0.5, 1.0], i.size)
    least = np.sort(rng.integers(-2, 4, i.size)).astype(float)
    counts, largest = np.full(i.size, 7), np.empty(n_draws)
    kernels.step_down(draws, pairs, inverse, least, side, counts, largest)
    assert (counts - 7).tolist() == by_definition(draws, pairs, inverse, least, side)
    ends = SIDES[side]((draws[pairs[:, 0]] - draws[pairs[:, 1]]).T * inverse)
    assert largest.tolist() == ends.max(axis=1).tolist()


def directions(rank, n_draws):
    numbers = np.empty((n_draws, rank))
    kernels.random_normals(3, 0, 0, numbers)
    return numbers, np.sqrt((numbers**2).sum(axis=1))


@pytest.mark.parametrize("df", [np.inf, 7.0])
@pytest.mark.parametrize("x", [1e-9, 0.3, 2.0, 9.0])
def test_one_statistic_has_its_own_tail(x, df):
    """A linear function of the numbers of unit length is normal, or t."""
    numbers, radii = directions(1, 400)
    law = stats.norm if df == np.inf else stats.t(df)
    both = kernels.radial_tail(x, np.abs(numbers[:, 0]), radii, 1.0, df)
    assert both == pytest.approx(2 * law.sf(x), rel=1e-9)
    # As many up as down: the half that rises reaches x, of -x all but the half.
    signed = np.concatenate([numbers[:, 0], -numbers[:, 0]])
    for side in (x, -x):
        one = kernels.radial_tail(side, signed, np.tile(radii, 2), 1.0, df)
        assert one == pytest.approx(law.sf(side), rel=1e-9)


@pytest.mark.parametrize("df", [np.inf, 5.0])
def test_the_larger_of_two_independent_ones(df):
    numbers, radii = directions(2, 4000)
    largest = np.abs(numbers).max(axis=1)
    found = kernels.radial_tail(2.236477, largest, radii, 2.0, df)
    if df == np.inf:
        wanted = 1 - (1 - 2 * stats.norm.sf(2.236477)) ** 2
        assert found == pytest.approx(wanted, abs=5e-4)
    else:
        # By counting, with a common scale.
        scale = np.sqrt(df / stats.chi2(df).isf(np.linspace(0, 1, 4002)[1:-1]))
        again = np.random.default_rng(1).permutation(scale)
        assert found == pytest.approx(np.mean(largest * again >= 2.236477), abs=0.015)
    quantile = kernels.radial_quantile(largest, radii, 2.0, df, found)
    assert quantile == pytest.approx(2.236477, rel=1e-9)


def test_nothing_varies():
    nothing = np.zeros(5)
    assert kernels.radial_quantile(nothing, nothing + 1.0, 1.0, np.inf, 0.05) == 0.0
    assert kernels.radial_tail(0.5, nothing, nothing + 1.0, 1.0, np.inf) == 0.0
    assert kernels.radial_tail(0.0, nothing, nothing + 1.0, 1.0, np.inf) == 1.0


@pytest.mark.parametrize("side", [kernels.TWO_SIDED, kernels.GREATER, kernels.LESS])
def test_step_down_tails_are_those_of_growing_sets(side):
    rng = np.random.default_rng(9)
    root = rng.normal(size=(4, 3))
    numbers, radii = directions(3, 200)
    draws = np.ascontiguousarray(root @ numbers.T)
    i, j = np.triu_indices(4, 1)
    pairs = np.stack([i, j], axis=1).astype(np.int32)
    inverse, statistic = rng.random(6) + 0.2, np.sort(rng.normal(size=6))
    tails = np.empty(6)
    how = (3.0, 9.0, side)
    kernels.step_down_tails(draws, radii, pairs, inverse, statistic, how, tails)
    for p in range(6):
        counts, largest = np.zeros(p + 1, np.int64), np.empty(200)
        some = (pairs[: p + 1], inverse[: p + 1], statistic[: p + 1])
        kernels.step_down(draws, *some, side, counts, largest)
        wanted = kernels.radial_tail(statistic[p], largest, radii, 3.0, 9.0)
        assert tails[p] == pytest.approx(wanted, rel=1e-12)
