"""Tables of many pairs, by slices and sample by sample, in blocks."""

import naive
import numpy as np
import pytest

from fastcmp.core.threads import ThreadPool
from fastcmp.counts import pair_tables
from fastcmp.counts.pair_tables import PairTables, all_label_counts, slices_pay
from fastcmp.counts.pairs import all_pairs
from fastcmp.inputs.labels import encode

both_ways = pytest.mark.parametrize("sliced", [True, False], ids=["slices", "samples"])


@pytest.fixture
def choose(monkeypatch):
    """Force how to count; return the function that does."""

    def chosen(sliced):
        monkeypatch.setattr(pair_tables, "slices_pay", lambda *_: sliced)

    return chosen


def simulate(n_models, n, k, seed=0, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    y_true, *preds = rng.integers(0, k, (n_models + 1, n)).astype(dtype)
    return y_true, tuple(preds)


def folded(tables, n_pairs, shape, chosen=None, threads=1):
    """Collect the tables of all blocks, each pair once."""
    found = np.full((n_pairs, *shape), -1)

    def put(block, counts):
        assert (found[block.where] == -1).all()
        found[block.where] = counts

    with ThreadPool(threads) as pool:
        tables.fold(chosen, pool, put)
    return found


def tensor(y_true, a, b, k):
    counts = np.zeros((k, k, k), np.int64)
    np.add.at(counts, (y_true, a, b), 1)
    return counts


# Tables.


@both_ways
@pytest.mark.parametrize(("threads", "n_models"), [(1, 2), (2, 5), (7, 33)])
def test_all_pairs_with_the_truth(choose, sliced, threads, n_models):
    choose(sliced)
    y_true, preds = simulate(n_models, 130, 3)
    pairs = all_pairs(n_models)
    tables = PairTables(preds, 3, len(pairs), y_true=y_true)
    found = folded(tables, len(pairs), (3, 3, 3), threads=threads)
    for table, (i, j) in zip(found, pairs, strict=True):
        np.testing.assert_array_equal(table, tensor(y_true, preds[i], preds[j], 3))


@both_ways
@pytest.mark.parametrize(("k", "dtype"), [(1, np.uint8), (2, np.uint8), (17, np.uint16)])
def test_chosen_pairs_without_the_truth(choose, sliced, dtype, k):
    choose(sliced and k > 1)
    _, preds = simulate(6, 200, k, dtype=dtype)
    chosen = np.array([[5, 0], [2, 3], [1, 4]], np.int32)
    found = folded(PairTables(preds, k, 3), 3, (k, k), chosen)
    for table, (i, j) in zip(found, chosen, strict=True):
        np.testing.assert_array_equal(table, naive.agreement_table(preds[i], preds[j], k))


@both_ways
def test_small_blocks_give_the_same(choose, monkeypatch, sliced):
    choose(sliced)
    y_true, preds = simulate(11, 90, 4)
    whole = folded(PairTables(preds, 4, 55, y_true=y_true), 55, (4, 4, 4))
    monkeypatch.setattr(pair_tables, "_CELLS", 200)
    small = PairTables(preds, 4, 55, y_true=y_true)
    assert small.side == 4
    np.testing.assert_array_equal(folded(small, 55, (4, 4, 4), threads=2), whole)


# The rule.


@pytest.mark.parametrize(
    ("n_models", "n_samples", "n_classes", "n_truths", "wanted"),
    [
        (100, 100_000, 2, 2, True),
        (100, 100_000, 10, 10, True),
        (100, 100_000, 10, 1, True),
        (100, 100_000, 40, 40, False),  # too many products
        (2, 100_000, 3, 3, False),  # one pair does not pay the sorting
        (100, 100, 12, 12, False),  # every true class has few samples
        (100, 100_000, 1, 1, False),
        (100, 100_000, 257, 1, False),
        (100, 10**10, 20, 1, False),  # slices would take more than the codes
    ],
)
def test_slices_where_they_pay(n_models, n_samples, n_classes, n_truths, wanted):
    n_pairs = n_models * (n_models - 1) // 2
    assert slices_pay(n_models, n_pairs, n_samples, n_classes, n_truths) == wanted


# All pairs from labels.


def test_what_does_not_fit_is_refused():
    labels = encode([0, 1], np.zeros((100, 2), int), classes=list(range(200)), missing=None)
    with pytest.raises(ValueError, match=r"4950 pairs by 200 classes need 317 GB"):
        all_label_counts(labels, 1)
