"""Functions of sorted numbers: the same as with one sort of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import small_if_interpreted

from fastcmp import adjust
from fastcmp.core.threads import ThreadPool
from fastcmp.pairwise import adjust as adjustments
from fastcmp.pairwise import sorting
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked
from fastcmp.pairwise.sorting import apply_sorted, apply_steps, monotone

pvalues = st.one_of(
    st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 5e-324, 1e-9, 0.5, 0.5])
)


@pytest.fixture
def small_parts(monkeypatch):
    """Let a few numbers take the way of millions."""
    monkeypatch.setattr(adjustments, "_LARGE", 1)
    monkeypatch.setattr(sorting, "_PART", 7)
    monkeypatch.setattr(sorting, "_BUCKETS", 5)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("method", ADJUSTMENTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_adjusted_as_by_one_sort(method, threads):
    @given(st.lists(pvalues, max_size=60))
    def check(values):
        values = np.array(values, float)
        with ThreadPool(threads) as pool:
            found = adjust_checked(values.copy(), method, pool)
        np.testing.assert_array_equal(found, adjust(values, method))

    check()


@pytest.mark.usefixtures("small_parts")
def test_nan_stays_nan():
    values = np.array([0.01, np.nan, 0.2, 0.0, np.nan])
    with ThreadPool(2) as pool:
        found = adjust_checked(values, "holm", pool)
    np.testing.assert_array_equal(found, [0.03 * 2 / 3, np.nan, 0.2, 0.0, np.nan])


@pytest.mark.full
@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_millions(method):
    n = small_if_interpreted(3_000_000, 2_000)
    rng = np.random.default_rng(5)
    values = rng.random(n)
    values[: n // 2] = 10.0 ** (-330 * rng.random(n // 2))  # zeros among them
    rng.shuffle(values)
    kept = values.copy()
    with ThreadPool(2) as pool:
        found = adjust_checked(values, method, pool)
    assert values.tobytes() == kept.tobytes()
    assert np.array_equal(found, adjust(values, method))
    with ThreadPool(2) as pool:
        again = adjust_checked(values, method, pool, in_place=True)
    assert again.tobytes() == found.tobytes()


@pytest.mark.usefixtures("small_parts")
@given(st.lists(pvalues, max_size=80))
def test_any_function_of_the_sorted_numbers(values):
    values = np.array(values, float)
    found = values.copy()
    with ThreadPool(2) as pool:
        apply_sorted(found, lambda x: np.cumsum(x) * (x > 0), pool)
    for value, answer in zip(values, found, strict=True):
        wanted = values[values <= value].sum()
        tied = np.sum(values == value)
        if tied == 1:
            assert answer == pytest.approx(wanted if value > 0 else 0)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("within", ["below", "above"])
def test_all_zeros(within):
    found = np.zeros(50)
    with ThreadPool(2) as pool:
        apply_steps(found, lambda x, _: x, within, pool)
    assert found.tolist() == [0.0] * 50


def test_monotone():
    bounds = [0.1, 0.3, 0.2, 0.6, 0.5]
    assert monotone(np.array(bounds), "below").tolist() == [0.1, 0.3, 0.3, 0.6, 0.6]
    assert monotone(np.array(bounds), "above").tolist() == [0.1, 0.2, 0.2, 0.5, 0.5]
