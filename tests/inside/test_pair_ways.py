"""However pairs are counted, and by however many threads, the answer is the same."""

from functools import partial
from threading import Thread

import numpy as np
import pytest
from same_bits import assert_same

from fastcmp import compare_all
from fastcmp.core import threads
from fastcmp.counts import pair_tables, value_sums
from fastcmp.pairwise import adjust, cost_tests, counted_pairs, metric_tests
from fastcmp.stream import LabelCounts, class_counts

COST = [[0, 0.3, 2, 7.5], [0.1, 0, 0.2, 1], [40, 3, 0, 0], [1.5, 1, 0.3, 0]]
LIKELIHOOD = {"test": "cost", "cost": COST}
CHI_SQUARE = LIKELIHOOD | {"method": "chi-square"}
F1 = {"metric": "f1_macro"}
#: What a pair is tested by, and what to change so that it is counted in one way.
WAYS = {
    "costs sorted": (LIKELIHOOD, cost_tests, "LEVELS", 1),
    "costs sorted, chi-square": (CHI_SQUARE, cost_tests, "LEVELS", 1),
    "costs by slices": (LIKELIHOOD, pair_tables, "slices_pay", lambda *_: True),
    "costs by samples": (LIKELIHOOD, pair_tables, "slices_pay", lambda *_: False),
    "costs by samples, chi-square": (CHI_SQUARE, pair_tables, "slices_pay", lambda *_: False),
    "metric by cells": (F1, metric_tests, "_CELL", -1e9),
    "metric by samples": (F1, metric_tests, "_COMPARE", -1e9),
    "metric by products": (F1, metric_tests, "_LOOK_UP", -1e9),
    "jackknife by samples": (F1 | {"method": "jackknife"}, metric_tests, "_COMPARE", -1e9),
    "pooled by samples": (F1 | {"method": "pooled"}, metric_tests, "slices_pay", lambda *_: False),
}


#: Other tests, of 400 samples.
OTHERS = {
    "mcnemar": lambda _: {},
    "clusters": lambda i: {"groups": i // 9},
    "clusters of a metric": lambda i: F1 | {"groups": i // 9},
    "clusters in strata": lambda i: {"groups": i // 4, "strata": i // 200},
    "clusters across strata": lambda i: {"groups": i // 9, "strata": i % 3},
    "strata": lambda i: {"strata": i % 3},
    "weighted strata": lambda i: {"strata": i % 3, "stratum_weights": "equal"},
}


def simulate(n_models=9, n=400):
    rng = np.random.default_rng(3)
    y_true = rng.integers(4, size=n)
    right = rng.random((n_models, n)) < np.linspace(0.4, 0.9, n_models)[:, None]
    return y_true, np.where(right, y_true, rng.integers(4, size=(n_models, n)))


@pytest.mark.parametrize("some", [{}, {"control": 3}, {"pairs": [(4, 1), (0, 5)]}], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_each_way_counts_the_same(way, some, monkeypatch):
    options, *change = WAYS[way]
    expect = compare_all(*simulate(), **options, **some)
    monkeypatch.setattr(*change)
    result = compare_all(*simulate(), **options, **some)
    names = ("pairs", "statistic", "pvalue", "difference", "interval", "score_interval")
    for name in (*names, "standard_error" if "metric" in options else "only_a"):
        ours, theirs = getattr(result, name), getattr(expect, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("way", [*WAYS, *OTHERS])
def test_any_number_of_workers_gives_the_same_bits(way, monkeypatch):
    options, *change = WAYS.get(way) or (OTHERS[way](np.arange(400)),)
    if change:
        monkeypatch.setattr(*change)
    monkeypatch.setattr("fastcmp.pairwise.compare_all._THREADS_PAY", 1)
    seen, one = [], compare_all(*simulate(24), **options, workers=1)
    tell = partial(lambda seen, *steps: seen.append(steps), seen)
    assert_same(compare_all(*simulate(24), **options, workers=3, progress=tell), one)
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {seen[-1][0]}


def test_threads_really_start(monkeypatch):
    begun = []

    class Counted(Thread):
        def start(self):
            begun.append(self)
            super().start()

    monkeypatch.setattr(threads, "Thread", Counted)
    monkeypatch.setattr("fastcmp.pairwise.compare_all._THREADS_PAY", 1)
    compare_all(*simulate(200), workers=4)
    assert len(begun) == 4


def test_single_precision_for_many_products(monkeypatch):
    monkeypatch.setattr(metric_tests, "_LOOK_UP", -1e9)
    exact = compare_all(*simulate(), **F1)
    monkeypatch.setattr(metric_tests, "_LARGE", 0)
    monkeypatch.setattr(value_sums, "_LEAST", 16)
    monkeypatch.setattr(value_sums, "_BLOCK", 1)
    single = compare_all(*simulate(), **F1)
    np.testing.assert_allclose(single.standard_error, exact.standard_error, rtol=1e-5)
    assert (single.standard_error != exact.standard_error).any()


@pytest.mark.parametrize("method", ["jackknife", "delta", "pooled"])
def test_sparse_tables_of_a_stream(method, monkeypatch):
    y_true, preds = simulate(5)
    expect = compare_all(counts=LabelCounts().update(y_true, preds), **F1, method=method)
    monkeypatch.setattr(class_counts, "_DENSE_ALL", 1)
    counts = LabelCounts().update(y_true, preds)
    assert not counts.is_dense
    found = compare_all(counts=counts, **F1, method=method)
    np.testing.assert_allclose(found.standard_error, expect.standard_error, rtol=1e-12)
    np.testing.assert_allclose(found.pvalue, expect.pvalue, rtol=1e-9)


@pytest.mark.parametrize("keep", ["significant", 5])
@pytest.mark.parametrize("method", ["midp", "exact", "asymptotic", "corrected"])
def test_pairs_counted_by_cell_are_adjusted_and_decided_the_same(method, keep, monkeypatch):
    """To the bit, over several tiles, for all adjustments that go by ranks."""
    labels = simulate(2 * counted_pairs._SIDE // 3, 90)
    for name in {*adjust.BY_RANK} - {"nemenyi"}:
        options = {"adjust": name, "method": method, "keep": keep, "alpha": 0.2}
        expect = compare_all(*labels, **options)
        with monkeypatch.context() as patch:
            patch.setattr(counted_pairs.PairCells, "serves", lambda *_: True)
            patch.setattr(counted_pairs, "_SIDE", 128)
            results = [compare_all(*labels, **options, workers=w) for w in (1, 2)]
        for result in results:
            assert result == expect
            np.testing.assert_array_equal(result.decisions, expect.decisions)


def test_pairs_counted_by_cell_have_simultaneous_intervals(monkeypatch):
    options = {"keep": 5, "simultaneous": True, "n_resamples": 99, "rng": 1}
    expect = compare_all(*simulate(20), **options)
    monkeypatch.setattr(counted_pairs.PairCells, "serves", lambda *_: True)
    assert compare_all(*simulate(20), **options) == expect
    assert expect.critical_value is not None


def test_cells_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(counted_pairs.PairCells, "serves", lambda *_: True)
    monkeypatch.setattr(threads, "available_memory", lambda: 100_000)
    monkeypatch.setattr(threads, "_LITTLE", 0)
    with pytest.raises(ValueError, match=r"decisions about 44850 pairs would take .*fewer models"):
        compare_all(*simulate(300), keep=2)
    monkeypatch.setattr(threads, "available_memory", lambda: 2_000_000)
    with pytest.raises(ValueError, match=r"significant pairs would take .*pass keep="):
        compare_all(*simulate(300), keep="significant", adjust="none", alpha=0.9999)
