"""All pairs at once: the same answers as pair by pair, for any number of threads."""

import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from itertools import combinations

import naive
import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st
from same_bits import assert_same

from fastcmp import adjust, compare_all, load_digits, mcnemar

ADJUSTMENTS = ("holm", "none", "hommel", "bh")
METHODS = ("midp", "exact", "asymptotic", "corrected", "unconditional")


def simulate(n_models, n, n_classes=4, seed=0):
    """Make true labels and those of models that differ in skill and share mistakes."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(n_classes, size=n, dtype=np.uint8)
    hard = rng.random(n)
    skill = np.linspace(0.2, 0.9, n_models)[:, None]
    right = hard + 0.5 * rng.random((n_models, n)) < 1.2 * skill
    wrong = (y_true + rng.integers(1, n_classes, (n_models, n))) % n_classes
    return y_true, np.where(right, y_true, wrong).astype(np.uint8)


@pytest.fixture(scope="module")
def big():
    """Give labels for which threads really start, and the answer of one thread."""
    labels = simulate(200, 20_000)
    return labels, compare_all(*labels, workers=1)


# The same as pair by pair.


@given(
    *(st.integers(2, 12), st.integers(2, 300), st.integers(2, 5), st.sampled_from(METHODS[:4])),
    *(st.sampled_from(ADJUSTMENTS), st.integers(0, 10**6)),
)
def test_equals_a_loop_over_pairs(n_models, n, n_classes, method, adjustment, seed):
    y_true, preds = simulate(n_models, n, n_classes, seed)
    result = compare_all(y_true, preds, method=method, adjust=adjustment, alpha=0.1)
    pairs = list(combinations(range(n_models), 2))
    assert [tuple(pair) for pair in result.pairs.tolist()] == pairs
    single = [mcnemar(y_true, preds[i], preds[j], method=method) for i, j in pairs]
    smaller = [min(s.only_a, s.only_b) for s in single]
    binomial = method in ("midp", "exact")
    expect = smaller if binomial else [s.statistic for s in single]
    assert result.statistic.tolist() == expect
    assert (result.distribution, result.df) == (("binomial", None) if binomial else ("chi2", 1))
    for name in ("pvalue", "only_a", "only_b", "difference"):
        assert getattr(result, name).tolist() == [getattr(s, name) for s in single], name
    intervals = [list(s.confidence_interval(0.9)) for s in single]
    np.testing.assert_allclose(result.interval, intervals, rtol=1e-12, atol=1e-15)
    expect = adjust([s.pvalue for s in single], method=adjustment)
    np.testing.assert_array_equal(result.pvalue_adjusted, expect)
    assert result.significant.tolist() == (expect <= 0.1).tolist()
    assert result.correct.tolist() == (y_true == preds).sum(axis=1).tolist()
    assert result.accuracy.tolist() == (y_true == preds).mean(axis=1).tolist()
    wilson = [naive.wilson(int(g), n, 0.9) for g in result.correct]
    np.testing.assert_allclose(result.score_interval, wilson, atol=1e-10)


@pytest.mark.parametrize("n_models", [2, 3, 5, 63, 64, 65, 130])
def test_counts_at_the_edges_of_tiles_and_words(n_models):
    for n in (2, 63, 64, 65, 513):
        y_true, preds = simulate(n_models, n)
        result = compare_all(y_true, preds)
        right = (preds == y_true).astype(np.int64)
        i, j = np.triu_indices(n_models, 1)
        both = (right @ right.T)[i, j]
        with case(n):
            assert result.pairs.tolist() == np.stack([i, j], axis=1).tolist()
            assert result.only_a.tolist() == (right.sum(axis=1)[i] - both).tolist()
            assert result.only_b.tolist() == (right.sum(axis=1)[j] - both).tolist()


def test_long_rows_span_several_panels():
    y_true, preds = simulate(5, 300_000)
    result = compare_all(y_true, preds)
    right = preds == y_true
    for (i, j), a, b in zip(result.pairs, result.only_a, result.only_b, strict=True):
        assert a == np.count_nonzero(right[i] & ~right[j])
        assert b == np.count_nonzero(right[j] & ~right[i])


# Chosen pairs.


def test_pairs_by_name_and_by_index():
    y_true, preds = load_digits()
    everything = compare_all(y_true, preds)
    names = list(preds)
    chosen = [("mlp", "knn_3"), (0, 9), (np.int64(3), "mlp"), ("svm_rbf", 2)]
    result = compare_all(y_true, preds, pairs=chosen)
    expect = [(names.index("mlp"), 1), (0, 9), (3, names.index("mlp")), (0, 2)]
    assert [tuple(pair) for pair in result.pairs.tolist()] == expect
    for field in ("only_a", "only_b", "difference", "pvalue", "statistic"):
        full = everything.matrix(field)
        assert getattr(result, field).tolist() == [full[pair] for pair in expect], field
    np.testing.assert_array_equal(result.pvalue_adjusted, adjust(result.pvalue, method="holm"))
    as_array = compare_all(y_true, preds, pairs=np.array(expect))
    assert_same(as_array, result)


def test_control_is_compared_with_all_others():
    y_true, preds = load_digits()
    everything = compare_all(y_true, preds)
    place = list(preds).index("mlp")
    others = [i for i in range(10) if i != place]
    for control in ("mlp", place, np.uint8(place)):
        result = compare_all(y_true, preds, control=control)
        assert result.pairs.tolist() == [[place, i] for i in others]
        assert result.difference.tolist() == everything.matrix("difference")[place, others].tolist()
        np.testing.assert_array_equal(result.pvalue_adjusted, adjust(result.pvalue, method="holm"))


# Threads.


@pytest.mark.parametrize("workers", [7, None])
def test_any_number_of_workers_gives_the_same_bits(big, workers):
    labels, expect = big
    assert_same(compare_all(*labels, workers=workers), expect)


def test_sixteen_threads_may_call_it_at_once(big):
    (y_true, preds), expect = big
    small = simulate(9, 500)
    alone = compare_all(*small)
    with ThreadPoolExecutor(16) as pool:
        calls = [
            pool.submit(compare_all, *(small if i % 4 else (y_true, preds)), workers=2)
            for i in range(16)
        ]
        for i, call in enumerate(calls):
            assert_same(call.result(), alone if i % 4 else expect)


def test_memory():
    n_models, n = 300, 200_000
    y_true = np.random.default_rng(0).integers(10, size=n, dtype=np.uint8)
    preds = np.tile(y_true, (n_models, 1))
    for i, row in enumerate(preds):
        row[i :: i + 2] = 11
    compare_all(y_true[:100], preds[:, :100], workers=2)  # compiles
    tracemalloc.start()
    try:
        result = compare_all(y_true, preds, workers=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    outputs = sum(
        value.nbytes
        for field in fields(result)
        if isinstance(value := getattr(result, field.name), np.ndarray)
    )
    bits = n_models * n / 8
    assert preds.nbytes + peak < 1.5 * (preds.nbytes + bits + outputs)
    assert peak < 2 * (bits + outputs) + 2_000_000  # no copy of the labels at all


# Laws.


def test_whole_numbers_as_names():
    y_true, preds = [0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    named = dict(zip((10, 20, 30), preds, strict=True))
    assert compare_all(y_true, named, control=20).pairs[:, 0].tolist() == [1, 1]
    assert compare_all(y_true, named, control=2).pairs[:, 0].tolist() == [2, 2]
    shifted = dict(zip((1, 0, 2), preds, strict=True))
    assert compare_all(y_true, shifted, control=2).pairs[:, 0].tolist() == [2, 2]
    assert compare_all(y_true, shifted, control="0").pairs[:, 0].tolist() == [1, 1]
    wanted = "control 0 is the name of one model and the place of another: pass '0'"
    with pytest.raises(ValueError, match=wanted):
        compare_all(y_true, shifted, control=0)


def test_missing_and_excluded_samples_are_counted():
    y_true = ["a", "b", None, "c", "a", "b"]
    preds = {"m": ["a", None, "a", "a", "c", "b"], "k": ["b", "b", "a", "c", "a", "b"]}
    result = compare_all(y_true, preds, classes=["a", "b"], missing="wrong")
    assert (result.n_samples, result.n_missing, result.n_excluded) == (4, 1, 1)
    assert result.correct.tolist() == [2, 3]
    assert (result.only_a.tolist(), result.only_b.tolist()) == ([1], [2])


# Progress.


@pytest.mark.parametrize("workers", [1, 4])
def test_progress_rises_to_the_total(big, workers):
    (y_true, preds), expect = big
    seen = []
    result = compare_all(y_true, preds, workers=workers, progress=lambda *steps: seen.append(steps))
    assert_same(result, expect)
    done, totals = zip(*seen, strict=True)
    assert len(set(totals)) == 1
    assert list(done) == sorted(done)
    assert 0 <= done[0] < done[-1] == totals[0]
    assert all(type(step) is int for steps in seen for step in steps)


def test_progress_bar_leaves_standard_output_alone(big, capsys):
    (y_true, preds), expect = big
    assert_same(compare_all(y_true, preds, progress=True), expect)
    for silent in (None, False):
        assert_same(compare_all(y_true, preds, progress=silent), expect)
    assert capsys.readouterr().out == ""


def test_progress_bar_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(ImportError, match=r"^progress=True needs rich: pip install "):
        compare_all(*load_digits(), progress=True)


def test_pairs_and_a_control_exclude_each_other():
    with pytest.raises(ValueError, match="pairs and control exclude each other"):
        compare_all(*load_digits(), pairs=[(0, 1)], control=0)
