"""Who is right with whom, against a product of matrices; and what takes the counts."""

import numpy as np
import pytest
from cases import refuses
from hypothesis import given
from hypothesis import strategies as st
from libraries import pa, pd, pl

from fastcmp import compare_all, load_digits, mcnemar, mcnemar_table
from fastcmp.stream import PairCounts


def right_of(y_true, preds):
    return np.array([np.equal(y_true, pred) for pred in preds], np.int64)


def assert_counts(counts, y_true, preds):
    """Hold a state against the definition, for labels without gaps."""
    right = right_of(y_true, preds)
    assert counts.n_models == len(preds)
    assert counts.n_samples == len(y_true)
    assert counts.joint.tolist() == (right @ right.T).tolist()
    assert counts.joint_upper.tolist() == np.triu(right @ right.T).tolist()
    assert counts.correct.tolist() == right.sum(axis=1).tolist()
    for array in (counts.joint, counts.joint_upper, counts.correct):
        assert array.dtype == np.int64


def models(m, n, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(k, size=n)
    preds = np.where(rng.random((m, n)) < 0.5, y_true, rng.integers(k, size=(m, n)))
    return y_true, preds


@given(
    m=st.integers(1, 14),
    n=st.one_of(st.integers(0, 600), st.sampled_from([64, 512, 1024])),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(["u1", "i8", "u2", "f8", "U1", "?", ">i4"]),
)
def test_any_block_against_a_product(m, n, seed, dtype):
    y_true, preds = models(m, n, seed=seed)
    y_true, preds = y_true.astype(dtype), preds.astype(dtype)
    assert_counts(PairCounts().update(y_true, preds), y_true, preds)


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize(("m", "n"), [(1, 3000), (129, 3000), (257, 1500), (2, 9_000_000)])
def test_tiles_and_threads(m, n, workers):
    rng = np.random.default_rng(m)
    y_true = rng.integers(3, size=n, dtype=np.uint8)
    preds = rng.integers(3, size=(m, n), dtype=np.uint8)
    counts = PairCounts().update(y_true, preds, workers=workers)
    right = (preds == y_true).astype(np.float32)
    np.testing.assert_array_equal(counts.joint, [row @ right.T for row in right])


def test_attributes():
    counts = PairCounts()
    assert (counts.names, counts.n_models, counts.n_samples) == (None, 0, 0)
    assert counts.joint.shape == (0, 0)
    counts.update([0, 1], [[0, 1], [1, 1], [0, 0]])
    assert counts.names == ("model_0", "model_1", "model_2")
    assert counts.n_bytes == 8 * 9 + 24
    assert PairCounts(3).names == counts.names
    assert PairCounts(["x", "y"]).joint.tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="read-only"):
        counts.joint_upper[0, 0] = 3
    for copy in (counts.joint, counts.correct):
        copy[:] = 99
    assert_counts(counts, [0, 1], [[0, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "arrow"])
def test_frames_whose_columns_come_in_any_order(library):
    box = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[library]
    y_true, preds = models(3, 50)
    named = dict(zip("abc", preds, strict=True))
    counts = PairCounts().update(y_true[:20], box({n: p[:20] for n, p in named.items()}))
    counts.update(y_true[20:], box({name: named[name][20:] for name in "cab"}))
    assert counts.names == ("a", "b", "c")
    assert_counts(counts, y_true, preds)


@pytest.mark.parametrize("classes", [["a", "b"], [0, 1], [True, False], [0.5, 1]])
def test_empty_blocks_of_every_kind(classes):
    counts = PairCounts(2, classes=classes).update(classes, [classes, classes[::-1]])
    before = counts.copy()
    counts.update([], [[], []])
    for dtype in (np.uint8, bool, np.int64, float, "U1", object):
        counts.update(np.array([], dtype), np.zeros((2, 0), dtype))
    assert counts == before


@pytest.mark.parametrize("classes", [[0, 1], [1, 3, 0], range(7), [True, False]])
@pytest.mark.parametrize("missing", ["raise", "wrong"])
def test_single_bytes_and_chosen_classes(classes, missing):
    y_true, preds = models(3, 300, 5)
    states = [
        PairCounts(classes=classes, missing=missing).update(truth, columns)
        for dtype in (np.uint8, np.int64, float, object)
        for truth, columns in [(y_true.astype(dtype), preds.astype(dtype))]
    ]
    assert all(state == states[0] for state in states)
    kept = np.isin(y_true, list(classes))
    assert states[0].n_excluded == 300 - kept.sum()
    assert_counts(states[0], y_true[kept], preds[:, kept])
    two = y_true > 2, preds > 2
    state = PairCounts(classes=[True, False]).update(*two)
    assert_counts(state, *two)
    state = PairCounts(classes=classes).update(two[0][::-2], two[1][:, ::-2])
    assert_counts(state, two[0][::-2], two[1][:, ::-2])


def test_missing_labels_and_other_classes():
    y_true = ["a", None, "b", "c", "a", None]
    preds = {"m": ["a", "a", None, "c", "b", None], "k": ["a", "b", "b", "b", "c", "a"]}
    options = {"classes": ["a", "b"], "missing": "wrong"}
    whole = PairCounts(**options).update(y_true, preds)
    assert (whole.n_samples, whole.n_missing, whole.n_excluded) == (3, 2, 1)
    assert whole.joint.tolist() == [[1, 1], [1, 2]]
    parts = [
        PairCounts(**options).update([y], {name: [p[i]] for name, p in preds.items()})
        for i, y in enumerate(y_true)
    ]
    assert sum(parts) == whole
    refuses(ValueError, r"^m has no prediction at row 2 ", PairCounts().update, y_true, preds)
    result = mcnemar(table=whole)
    direct = mcnemar(y_true, preds["m"], preds["k"], **options)
    assert result == direct


# The tests that take the counts.


@pytest.mark.parametrize("method", ["midp", "exact", "corrected", "unconditional"])
def test_two_models_as_mcnemar(method):
    y_true, preds = models(2, 90)
    counts = PairCounts().update(y_true, preds)
    table = mcnemar_table(y_true, *preds)
    assert list(counts.paired_counts().values()) == table.ravel().tolist()
    result = mcnemar(table=counts, method=method, alternative="less")
    assert result == mcnemar(y_true, *preds, method=method, alternative="less")
    assert type(result.pvalue) is float


def test_all_pairs_as_compare_all():
    y_true, preds = load_digits()
    counts = PairCounts()
    for start in range(0, len(y_true), 100):
        rows = slice(start, start + 100)
        counts.update(y_true[rows], {name: p[rows] for name, p in preds.items()})
    result = mcnemar(table=counts)
    expect = compare_all(y_true, preds)
    assert result.pvalue.tolist() == expect.pvalue.tolist()
    assert result.only_a.tolist() == expect.only_a.tolist()
    assert result.only_b.tolist() == expect.only_b.tolist()
    first, second = list(preds.values())[-2:]
    last = mcnemar_table(y_true, first, second)
    assert result.table[-1].tolist() == last.tolist()
    assert set(result.n_samples) == {len(y_true)}


def test_what_is_refused():
    two = PairCounts().update([0, 1], [[0, 1], [1, 1]])
    for other in ({"both_right": 3}, {"both_wrong": 3}, {"only_b": 3}):
        refuses(TypeError, "^a table holds all four counts", mcnemar, table=two, **other)
    for few in (PairCounts(), PairCounts(1)):
        refuses(ValueError, r"^PairCounts must hold at least 2 models", mcnemar, table=few)
