"""Bins of scores, against NumPy's bisection among the edges."""

from math import inf, nan

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.kernels.score_bins import count_score_bins, find_score_bins
from fastcmp.stream.score_map import make_tables

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
SPECIAL = (-inf, -3e38, -1.5, -1e-40, -0.0, 0.0, 1e-40, 0.25, 1.0, 3e38, inf)


def bits(scores):
    return scores.view(np.uint32 if scores.dtype == np.float32 else np.uint64)


def neighbours(values):
    """The next numbers above and below as well."""
    up, down = np.array([inf, -inf], values.dtype)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([values, np.nextafter(values, up), np.nextafter(values, down)])


@st.composite
def scores_and_edges(draw):
    """Draw edges, spread or crowded in one cell, and scores on and beside them."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 80))
    kind = draw(st.sampled_from(["normal", "special", "crowded", "levels", "wide"]))
    if kind == "normal":
        edges = rng.normal(size=n)
    elif kind == "special":
        edges = rng.choice(SPECIAL, n)
    elif kind == "crowded":
        edges = 1.0 - rng.integers(0, 100, n) * 2.0 ** draw(st.sampled_from([-24, -50]))
    elif kind == "levels":
        edges = rng.integers(-9, 9, n) / 8
    else:
        edges = rng.normal(size=n) * 10.0 ** rng.integers(-37, 37, n)
    edges = np.unique(edges.astype(dtype)) + dtype(0)
    scores = np.concatenate(
        [neighbours(edges), np.array(SPECIAL, dtype), rng.normal(size=9).astype(dtype)]
    )
    return scores, edges


@given(scores_and_edges())
def test_bins_equal_a_bisection(drawn):
    scores, edges = drawn
    bins = np.empty(scores.size, np.int64)
    assert find_score_bins(bits(scores), make_tables(edges), bins) == scores.size
    np.testing.assert_array_equal(bins, np.searchsorted(edges, scores, side="right"))


@given(scores_and_edges(), st.integers(0, 2**32 - 1))
def test_counts_equal_bincount(drawn, seed):
    scores, edges = drawn
    labels = np.random.default_rng(seed).choice([3, 7], scores.size)
    counters = np.zeros(2 * edges.size + 2, np.uint32)
    at = count_score_bins(bits(scores), labels, np.array([3, 7]), make_tables(edges), counters)
    cells = 2 * np.searchsorted(edges, scores, side="right") + (labels == 7)
    assert at == scores.size
    np.testing.assert_array_equal(counters, np.bincount(cells, minlength=counters.size))


@DTYPES
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("at", [0, 700, 1023, 1024, 1500])
def test_the_first_nan_is_told(dtype, sign, at):
    scores = np.linspace(-1, 1, 1600).astype(dtype)
    scores[at] = scores[1550] = np.copysign(dtype(nan), dtype(sign))
    tables = make_tables(np.array([0, 0.5], dtype))
    labels, pair = np.zeros(1600, np.uint8), np.array([0, 1], np.uint8)
    assert find_score_bins(bits(scores), tables, np.empty(1600, np.int64)) == at
    counters = np.zeros(6, np.uint32)
    assert count_score_bins(bits(scores), labels, pair, tables, counters) == at


@pytest.mark.parametrize("at", [0, 1023, 1024, 1500])
def test_the_first_stranger_is_told(at):
    scores = np.linspace(-1, 1, 1600).astype(np.float32)
    labels = np.arange(1600) % 2
    labels[at] = labels[1550] = 2
    scores[1560] = nan
    counters, tables = np.zeros(4, np.uint32), make_tables(np.zeros(1, np.float32))
    pair = np.array([0, 1])
    assert count_score_bins(bits(scores), labels, pair, tables, counters) == at


@DTYPES
def test_parts_of_one_width_need_no_bisection(dtype):
    # Sixteen parts of [1, 1 + 2**-k), the first cell above 1.
    cell = 7 if dtype == np.float32 else 4
    edges = (1 + np.arange(17) * 2.0 ** (-cell - 4)).astype(dtype)
    tables = make_tables(edges)
    assert tables.steps == 0
    assert tables.width.max() == 16
    moved = edges.copy()
    moved[3] = np.nextafter(moved[3], dtype(2))
    assert make_tables(moved).steps == 1
