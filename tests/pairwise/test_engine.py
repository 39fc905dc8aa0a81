"""What is kept of the pairs is the same as of all, and the ranking does not change."""

import json
import signal
import sys
import time

import numpy as np
import pytest
from children import started

from fastcmp import cochrans_q, compare_all, compare_all_from_counts, from_dict
from fastcmp.stream import LabelCounts, PairCounts

COLUMNS = ("only_a", "only_b", "difference", "interval", "statistic", "pvalue")
COLUMNS = (*COLUMNS, "pvalue_adjusted", "significant")
COST = [[0, 3, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
TESTS = [{}, {"test": "cost", "cost": COST}]


def simulate(n_models=23, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(4, size=n, dtype=np.uint8)
    skill = np.linspace(0.5, 0.9, n_models)[:, None]
    right = 0.5 * rng.random(n) + 0.5 * rng.random((n_models, n)) < skill
    wrong = (y_true + rng.integers(1, 4, (n_models, n))) % 4
    return y_true, np.where(right, y_true, wrong).astype(np.uint8)


@pytest.fixture(scope="module", params=TESTS, ids=["mcnemar", "cost"])
def whole(request):
    """Give labels, options, and the answer of which all is kept."""
    n_models, n = (23, 2000)
    labels = simulate(n_models, n)
    return labels, request.param, compare_all(*labels, **request.param)


def assert_part(result, expect, places):
    """Hold what was kept against the same pairs of the whole answer."""
    np.testing.assert_array_equal(result.pairs, expect.pairs[places])
    for name in COLUMNS:
        found, wanted = getattr(result, name), getattr(expect, name)[places]
        np.testing.assert_array_equal(found, wanted, err_msg=name)
    assert_same_ranking(result, expect)


def assert_same_ranking(result, expect):
    assert result.n_pairs == expect.n_pairs
    assert result.n_significant == expect.n_significant
    np.testing.assert_array_equal(result.decisions, expect.decisions)
    assert result.leaderboard.names == expect.leaderboard.names
    ranks = expect.leaderboard.rank_interval
    np.testing.assert_array_equal(result.leaderboard.rank_interval, ranks)
    assert result.tie_groups == expect.tie_groups
    assert result.best == expect.best


@pytest.mark.parametrize("workers", [1, 3])
def test_the_significant_pairs(whole, workers):
    labels, options, expect = whole
    result = compare_all(*labels, **options, keep="significant", workers=workers)
    assert 0 < len(result.pairs) < len(expect.pairs)
    assert_part(result, expect, np.flatnonzero(expect.significant))
    assert "Kept: the" in str(result)


@pytest.mark.parametrize("k", [2, 5, 1000])
def test_the_pairs_of_the_best_models(whole, k):
    labels, options, expect = whole
    result = compare_all(*labels, **options, keep=k)
    best = set(expect.leaderboard.models[:k].tolist())
    inside = [i for i, pair in enumerate(expect.pairs.tolist()) if set(pair) <= best]
    assert_part(result, expect, inside)
    assert f"pairs of the {k} best models" in str(result)


def test_a_file_of_rows(whole, tmp_path):
    labels, options, expect = whole
    path = tmp_path / "pairs.npy"
    result = compare_all(*labels, **options, keep=path, workers=2)
    assert_part(result, expect, slice(None))
    rows = np.load(path, mmap_mode="r")
    assert isinstance(result.pvalue.base, np.memmap)
    np.testing.assert_array_equal(rows["significant"], expect.significant)
    np.testing.assert_array_equal(rows["models"], expect.pairs)
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.npy"]
    assert f"All pairs are in {path}." in result.summary()
    assert from_dict(result.to_dict()) == result
    assert result.to_dict()["kept"] == str(path)


def test_a_parquet_file(whole, tmp_path):
    import pyarrow.parquet as pq

    labels, options, expect = whole
    path = str(tmp_path / "pairs.parquet")
    result = compare_all(*labels, **options, keep=path, workers=2)
    assert_same_ranking(result, expect)
    assert len(result.pairs) == len(result.pvalue) == 0
    assert pq.read_table(path).to_pydict() == expect.to_frame("pyarrow").to_pydict()


@pytest.mark.parametrize("keep", ["all", "significant", 3, "pairs.npy"])
@pytest.mark.parametrize("some", [{"control": 2}, {"pairs": [(4, 1), (0, 7), (1, 8)]}])
def test_chosen_pairs(whole, some, keep, tmp_path):
    labels, options, _ = whole
    expect = compare_all(*labels, **options, **some)
    kept = tmp_path / keep if "." in str(keep) else keep
    result = compare_all(*labels, **options, **some, keep=kept)
    assert_same_ranking(result, expect)
    places = np.arange(len(expect.pairs))
    if keep == "significant":
        places = np.flatnonzero(expect.significant)
    elif keep == 3:
        best = expect.leaderboard.models[:3]
        places = np.flatnonzero(np.isin(expect.pairs, best).all(axis=1))
    assert_part(result, expect, places)


@pytest.mark.parametrize("method", ["midp", "exact", "unconditional"])
@pytest.mark.parametrize("keep", ["all", "significant", 4])
def test_counts_of_a_stream_give_the_same_bits(method, keep):
    y_true, preds = simulate(9, 500)
    counts = PairCounts()
    for part in (slice(0, 7), slice(7, 8), slice(8, None)):
        counts.update(y_true[part], preds[:, part])
    result = compare_all_from_counts(counts, method=method, keep=keep)
    expect = compare_all(y_true, preds, method=method, keep=keep)
    assert_part(result, expect, slice(None))
    np.testing.assert_array_equal(result.score_interval, expect.score_interval)
    assert str(result) == str(expect)


@pytest.mark.parametrize("control", ["c", 2])
def test_counts_of_a_stream_know_their_control(control):
    y_true, preds = simulate(4, 100)
    named = dict(zip("abcd", preds, strict=True))
    counts = PairCounts().update(y_true, named)
    result = compare_all_from_counts(counts, control=control)
    assert result.control == "c"
    expect = compare_all(y_true, named, control=control)
    assert json.dumps(result.to_dict()) == json.dumps(expect.to_dict())


@pytest.mark.parametrize("keep", ["all", "significant", 5])
def test_a_test_without_an_answer_decides_nothing(keep):
    y_true, preds = simulate(5, 300)
    preds[3] = 0  # no positive call: its likelihood ratio is 0/0
    result = compare_all(y_true > 1, preds > 1, metric="lr_plus", keep=keep)
    assert result.n_pairs == 6
    untested = np.eye(5, dtype=bool)
    untested[3] = untested[:, 3] = True
    np.testing.assert_array_equal(result.decisions == 3, untested)
    assert not result.all_pairs_tested


@pytest.mark.parametrize("method", ["likelihood", "chi-square"])
@pytest.mark.parametrize("some", [{}, {"keep": 4}, {"control": 3}, {"pairs": [(4, 1), (0, 7)]}])
def test_counts_of_labels_give_the_same_costs(method, some):
    y_true, preds = simulate(9, 500)
    counts = LabelCounts(classes=[0, 1, 2, 3])
    for part in (slice(0, 60), slice(60, None)):
        counts.update(y_true[part], preds[:, part])
    result = compare_all_from_counts(counts, cost=COST, method=method, **some)
    expect = compare_all(y_true, preds, test="cost", cost=COST, method=method, **some)
    assert_part(result, expect, slice(None))
    assert result.correct.tolist() == expect.correct.tolist()
    np.testing.assert_array_equal(result.score, expect.score)
    np.testing.assert_array_equal(result.score_interval, expect.score_interval)
    assert result.control == expect.control
    assert str(result) == str(expect)


@pytest.mark.parametrize("some", [{}, {"pairs": [(2, 0), (1, 2)]}])
def test_sparse_counts_give_the_same_costs(some):
    rng = np.random.default_rng(4)
    y_true = rng.integers(130, size=300)
    preds = np.where(rng.random((3, 300)) < 0.6, y_true, rng.integers(130, size=300))
    cost = np.array([0.0, 1.0, 2.5, 3.0])[np.add.outer(range(130), range(130)) % 4]
    np.fill_diagonal(cost, 0)
    counts = LabelCounts(classes=range(130)).update(y_true, preds)
    options = {"cost": cost, **some}
    result = compare_all_from_counts(counts, **options)
    expect = compare_all(y_true, preds, test="cost", classes=range(130), **options)
    assert_part(result, expect, slice(None))
    assert not counts.is_dense
    np.testing.assert_array_equal(result.score, expect.score)


def test_counts_that_do_not_fit():
    y_true, preds = simulate(3, 20)
    pairs, labels = PairCounts().update(y_true, preds), LabelCounts()
    with pytest.raises(ValueError, match="cost is for test='cost'"):
        compare_all_from_counts(pairs, cost=COST)
    with pytest.raises(ValueError, match="at least 2 models and 2 samples, got 0 and"):
        compare_all_from_counts(labels)
    labels.update(y_true, preds)
    with pytest.raises(ValueError, match="need cost=, the matrix of costs"):
        compare_all_from_counts(labels)
    with pytest.raises(TypeError, match=r"be a fastcmp.stream.PairCounts, got fastcmp"):
        cochrans_q(counts=labels)
    with pytest.raises(TypeError, match=r"LabelCounts, got numpy.ndarray"):
        compare_all_from_counts(preds)
    many = 1.0 * np.arange(400).reshape(20, 20)
    np.fill_diagonal(many, 0)
    labels = LabelCounts(classes=range(20)).update(y_true, preds)
    with pytest.raises(ValueError, match="at most 256 different costs for counts, got"):
        compare_all_from_counts(labels, cost=many)


@pytest.mark.parametrize("method", ["asymptotic", "f"])
def test_cochrans_q_of_a_stream(method):
    y_true, preds = simulate(9, 500)
    counts = sum(
        PairCounts().update(y_true[part], preds[:, part])
        for part in (slice(0, 30), slice(30, None))
    )
    result = cochrans_q(counts=counts, method=method, post_hoc="exact")
    expect = cochrans_q(y_true, preds, method=method, post_hoc="exact")
    assert str(result) == str(expect)
    assert (result.statistic, result.pvalue) == (expect.statistic, expect.pvalue)
    assert result.f_pvalue == expect.f_pvalue
    with pytest.raises(ValueError, match="method must be"):
        cochrans_q(counts=counts, method="exact")


# Memory.


def test_refused_before_memory_is_gone():
    labels = simulate(30, 50)
    with pytest.raises(
        ValueError,
        match=r"comparing 435 pairs would take 51.4 kB of "
        r"memory, memory_limit is 50 kB: keep='significant'",
    ):
        compare_all(*labels, memory_limit="50 kB")
    assert compare_all(*labels, memory_limit="50 kB", keep=5).n_pairs == 435
    for many in (30, 10**9):
        with pytest.raises(ValueError, match=r"would take 51\.4 kB of memory"):
            compare_all(*labels, memory_limit="50 kB", keep=many)
    with pytest.raises(ValueError, match="memory_limit is 15 kB: pass pairs="):
        compare_all(*labels, memory_limit=15_000, keep=5)


def test_significant_pairs_that_are_too_many():
    labels = simulate(30, 3000)
    with pytest.raises(ValueError, match=r"keeping \d+ significant pairs would take"):
        compare_all(*labels, keep="significant", memory_limit="21 kB")


@pytest.mark.parametrize("keep", ["all", 5, "x.npy", "x.parquet"])
def test_progress_tells_all_steps_from_the_start(tmp_path, keep):
    seen = []
    kept = tmp_path / keep if str(keep).startswith("x") else keep
    compare_all(*simulate(30, 50), keep=kept, progress=lambda *x: seen.append(x))
    done, totals = zip(*seen, strict=True)
    passes = {"all": 435, 5: 435 + 10}.get(keep, 2 * 435)
    assert set(totals) == {passes}
    assert list(done) == sorted(done)
    assert done[-1] == passes


# Files.


@pytest.mark.parametrize("name", ["pairs.npy", "pairs.parquet"])
def test_a_folder_that_is_not_there(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        compare_all(*simulate(3, 20), keep=tmp_path / "none" / name)


@pytest.mark.parametrize("name", ["pairs.npy", "pairs.parquet"])
def test_after_an_error_nothing_is_left(tmp_path, name):
    path = tmp_path / name
    path.write_text("the old file")

    def fail(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_all(*simulate(30, 100), keep=path, progress=fail)
    assert path.read_text() == "the old file"
    assert list(tmp_path.iterdir()) == [path]


# Ctrl-C.

INTERRUPTED = """
import threading, time
import numpy as np
import fastcmp
rng = np.random.default_rng(0)
y_true = np.zeros(400_000, np.uint8)
preds = rng.integers(2, size=(700, 400_000), dtype=np.uint8)
fastcmp.compare_all(y_true[:100], preds[:5, :100], keep=3)
print("ready", flush=True)
try:
    while True:
        fastcmp.compare_all(y_true, preds, keep=3, workers=2)
except KeyboardInterrupt:
    print("stopped", len(threading.enumerate()), flush=True)
"""


@pytest.mark.full
@pytest.mark.timeout(120)
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_stops_soon_and_leaves_no_threads():
    with started(INTERRUPTED, stderr=None) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped 1\n"
        # Half a second is promised; this machine may be at other work.
        assert time.monotonic() - start < 2
        assert process.wait(60) == 0
