"""The order of scores by sorted words."""

from itertools import product
from math import inf

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401
from cases import case
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.inputs.scores import order_of
from fastcmp.kernels.score_bins import pack_order, unpack_order


def index_bits(n):
    return max(1, (n - 1).bit_length())


def unpacked(scores):
    """Return whether the order was finished, and the order."""
    words, order = np.empty(scores.size, np.uint64), np.empty(scores.size, np.int64)
    bits = index_bits(scores.size)
    pack_order(scores.astype(np.float64).view(np.uint64), bits, words)
    words.sort()
    return bool(unpack_order(words, bits, scores, order)), order


def assert_ascending(order, scores):
    assert sorted(order.tolist()) == list(range(scores.size))
    along = scores[order]
    assert np.all(along[:-1] <= along[1:])


def neighbours(start, n):
    """List floats one after the other: only their last bits differ."""
    return start * (1.0 + np.arange(n) * 2.0**-52)


SPECIAL = [-inf, -1.7e308, -1.0, -2.3e-308, -5e-324, -0.0, 0.0, 5e-324, 2.3e-308]
SPECIAL += [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 1.7e308, inf]
scores64 = st.lists(
    st.one_of(st.sampled_from(SPECIAL), st.floats(allow_nan=False)), max_size=60
).map(lambda drawn: np.array(drawn, np.float64))
scores32 = st.lists(st.floats(allow_nan=False, width=32), max_size=60).map(
    lambda drawn: np.array(drawn, np.float32)
)


@given(st.one_of(scores64, scores32))
def test_order_ascends(scores):
    done, order = unpacked(scores)
    assert done
    assert_ascending(order, scores)
    assert_ascending(order_of(scores), scores)


@pytest.mark.parametrize("start", [1.0, -1.0, 5e300, -3e-300, 1.7])
@pytest.mark.parametrize("n", [2, 3, 17, 50, 65])
def test_scores_that_differ_in_the_last_bits(n, start):
    # With 17 scores 5 bits go to the index: all of them proportion their prefix.
    scores = np.random.default_rng(n).permutation(neighbours(start, n))
    done, order = unpacked(scores)
    assert done
    assert_ascending(order, scores)


@pytest.mark.parametrize("n", [100])
def test_too_many_scores_with_one_prefix_are_left_to_argsort(n):
    big = 1 << 20
    scores = np.zeros(big)
    scores[:n] = neighbours(1.0, n)[::-1]
    scores[n:] = np.linspace(2.0, 3.0, big - n)
    done, _ = unpacked(scores)
    assert not done
    assert_ascending(order_of(scores), scores)


@pytest.mark.parametrize("n", [66, 200])
def test_a_long_run_with_one_lower_at_its_end(n):
    scores = np.full(n, 1.0 + 2**-52)
    scores[-1] = 1.0
    assert_ascending(order_of(scores), scores)
    assert order_of(scores)[0] == n - 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_order_of_any_size(dtype):
    for n, digits in product((0, 1, 2, 3, 255, 256, 257, 5000), (0, 2, 15)):
        scores = np.random.default_rng(n).normal(size=n).round(digits).astype(dtype)
        done, order = unpacked(scores)
        with case(n, digits):
            assert done
            assert_ascending(order, scores)
            assert_ascending(order_of(scores), scores)
