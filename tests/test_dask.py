"""Blocks in Dask's collections, against the same tests in memory."""

import enum
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cases import case, refuses
from dask_work import make_block, make_or_die, make_scores
from hypothesis import given
from hypothesis import strategies as st
from libraries import da, dask, dd, pa, pd, pl
from same_bits import assert_same

import fastcmp
from fastcmp import compare_means

COST = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [1.0, 3.0, 0.0]])


@pytest.fixture(autouse=True)
def _here(request):
    """Compute in this thread, but for tests that have a cluster."""
    pytest.importorskip("dask.array")
    pytest.importorskip("dask.dataframe")
    if "cluster" in request.fixturenames:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_close_delong(ours, theirs):
    """Areas are the same to the bit; sums of products differ by their rounding."""
    assert np.array_equal(ours.auc, theirs.auc)
    scale = np.diag(theirs.covariance).max()
    assert np.abs(ours.covariance - theirs.covariance).max() <= 1e-14 * scale
    for name in ("names", "labels", "n_positives", "n_negatives", "n_missing"):
        assert getattr(ours, name) == getattr(theirs, name)


@st.composite
def cuts(draw, n, most=5):
    """Draw sizes of blocks that add up to n, some of them empty."""
    ends = draw(st.lists(st.integers(0, n), max_size=most - 1))
    return tuple(np.diff([0, *sorted(ends), n]).tolist())


@st.composite
def cut_arrays(draw, make):
    """Draw samples and two ways to cut them: true labels, and models."""
    n = draw(st.integers(2, 300))
    m = draw(st.integers(2, 5))
    y_true, rows = make(draw(st.integers(0, 10**6)), n, m)
    of_models = draw(st.sampled_from([(m,), (1, m - 1), (1,) * m]))
    truth = da.from_array(y_true, chunks=(draw(cuts(n)),))
    return y_true, rows, truth, da.from_array(rows, chunks=(of_models, draw(cuts(n))))


# Arrays.


@given(cut_arrays(make_block), st.integers(2, 4))
def test_pairs_of_any_cut(arrays, split_every):
    y_true, preds, truth, rows = arrays
    options = {"method": "exact", "adjust": "bh", "alpha": 0.1}
    ours = fastcmp.dask.compare_all(truth, rows, split_every=split_every, **options)
    assert_same(ours, fastcmp.compare_all(y_true, preds, **options))
    ours = fastcmp.dask.cochrans_q(truth, rows, post_hoc="midp", method="f")
    assert_same(ours, fastcmp.cochrans_q(y_true, preds, post_hoc="midp", method="f"))


@given(cut_arrays(make_block), st.booleans())
def test_label_counts_of_any_cut(arrays, given_classes):
    y_true, preds, truth, rows = arrays
    classes = [2, 0, 1] if given_classes else None
    ours = fastcmp.dask.count_labels(truth, rows[1], rows[0], classes=classes)
    theirs = fastcmp.count_labels(y_true, preds[1], preds[0], classes=classes)
    assert_same(ours, theirs)


@pytest.mark.full
@given(
    cut_arrays(make_scores),
    st.sampled_from(["f2", "f4", "f8", ">f4", "i8"]),
    st.sampled_from(["half", "concordant", "discordant"]),
)
def test_areas_of_any_cut(arrays, dtype, ties):
    y_true, scores, truth, rows = arrays
    if len(set(y_true.tolist())) < 2:
        ours = fastcmp.dask.auc(truth, rows, on_single_class="nan")
        assert np.isnan(ours).all()
        refuses(ValueError, "AUC needs both classes", fastcmp.dask.auc, truth, rows)
        return
    scores, rows = scores.astype(dtype), rows.astype(dtype)
    ours = fastcmp.dask.auc(truth, rows, ties=ties)
    assert_same(ours, fastcmp.auc(y_true, scores, ties=ties))
    ours = fastcmp.dask.auc(truth, rows[0], positive=0)
    assert_same(ours, fastcmp.auc(y_true, scores[0], positive=0))
    if min(np.bincount(y_true)) > 1:
        ours = fastcmp.dask.delong(truth, rows)
        assert_close_delong(ours, fastcmp.delong(y_true, scores))


def refused(function, *cases):
    """Each call is refused, by words that a message has: the words, data, and options."""
    for words, data, options in cases:
        with case(words), pytest.raises((TypeError, ValueError), match=words):
            function(*data, **options)


def make_blocks(n=300):
    """Draw labels x, y and z, predictions of four models, and both in delayed blocks."""
    rng = np.random.default_rng(4)
    y_true = rng.choice(["x", "y", "z"], n)
    preds = np.where(rng.random((4, n)) < 0.7, y_true, rng.choice(["x", "y"], n))
    parts = (slice(0, 90), slice(90, 91), slice(91, n))
    return y_true, preds, [dask.delayed((y_true[part], preds[:, part])) for part in parts]


def test_blocks_that_are_looked_at_may_be_empty():
    y_true, scores = make_scores(3, 100)
    blocks = [dask.delayed((y_true[:0], scores[0, :0]))] * 40
    blocks[7] = dask.delayed((y_true, scores[0]))
    assert fastcmp.dask.auc(blocks) == fastcmp.auc(y_true, scores[0])
    blocks[7] = blocks[0]
    refuses(ValueError, "at least one sample, got none", fastcmp.dask.auc, blocks)


def test_one_model_has_one_area():
    y_true, scores = make_scores(2, 50)
    truth, rows = da.from_array(y_true, chunks=20), da.from_array(scores, chunks=20)
    assert type(fastcmp.dask.auc(truth, rows[0])) is float
    assert fastcmp.dask.auc(truth, rows[:1]).shape == (1,)
    assert fastcmp.dask.auc(truth, {"a": rows[0]}).shape == (1,)
    assert fastcmp.dask.delong(truth, rows[0]).names == ("scores",)
    listed = dask.delayed((y_true.tolist(), scores[0].tolist()))
    assert type(fastcmp.dask.auc([listed])) is float
    single = fastcmp.dask.auc(truth * 0, rows[0], on_single_class="nan")
    assert type(single) is float
    assert math.isnan(single)


def test_missing_and_chosen_labels():
    y_true = np.array([0.0, 1, 2, np.nan, 1, 0, 2, 1])
    preds = np.array([[0.0, 1, 0, 1, np.nan, 0, 1, 1], [1.0, 1, 0, 0, 1, 0, 0, 0]])
    options = {"missing": "wrong", "classes": [0, 1]}
    truth, rows = da.from_array(y_true, chunks=3), da.from_array(preds, chunks=(1, 2))
    ours = fastcmp.dask.compare_all(truth, rows, **options)
    assert (ours.n_missing, ours.n_excluded) == (1, 2)
    assert_same(ours, fastcmp.compare_all(y_true, preds, **options))
    with pytest.raises(ValueError, match=r"block 2 \(from sample 4\): model_0 has no"):
        fastcmp.dask.compare_all(truth, rows)


def test_mappings_of_arrays():
    y_true, preds = fastcmp.load_digits()
    truth = da.from_array(y_true, chunks=100)
    sizes = iter(range(101, 899, 70))
    blocks = {name: da.from_array(x, chunks=next(sizes)) for name, x in preds.items()}
    ours = fastcmp.dask.compare_all(truth, blocks, control="mlp", keep=3)
    assert_same(ours, fastcmp.compare_all(y_true, preds, control="mlp", keep=3))
    assert ours.control == "mlp"
    two = {name: blocks[name] for name in ("mlp", "knn_3")}
    ours = fastcmp.dask.compare_all(y_true, two, names=["knn_3", "mlp"])
    assert ours.names == ("knn_3", "mlp")


def test_lengths_that_differ():
    truth, rows = da.zeros(10, chunks=5), da.zeros((2, 11), chunks=5)
    refused(
        fastcmp.dask.compare_all,
        ("y_true has 10 entries, the models have 11", (truth, rows), {}),
        (r"pass preds\.T", (truth, rows[:, :10].T), {}),
        (r"preds must be a Dask array of 1 or 2 dim", (truth, da.zeros((2, 2, 2))), {}),
        (r"must be of shape \(M, n\)", (truth, da.zeros(10)), {}),
    )


def test_sizes_that_are_unknown():
    y_true, preds = make_block(4, 90)
    truth, rows = da.from_array(y_true, chunks=30), da.from_array(preds, chunks=(2, 30))
    even = np.arange(90) % 2 == 0
    cut = da.from_array(even, chunks=30)
    ours = fastcmp.dask.compare_all(truth[cut], rows[:, cut])
    assert_same(ours, fastcmp.compare_all(y_true[even], preds[:, even]))
    wanted = "y_true has 2 blocks of unknown sizes against 3 of the models: call comp"
    with pytest.raises(ValueError, match=wanted):
        fastcmp.dask.compare_all(truth.rechunk(45)[cut.rechunk(45)], rows[:, cut])
    with pytest.raises(ValueError, match=r"block \d: model_0 has 15 labels, y_true"):
        fastcmp.dask.compare_all(truth[cut | (truth == 0)], rows[:, cut])


# Frames.


def frame_of(y_true, preds):
    columns = {"y": y_true, **{f"m{i}": row for i, row in enumerate(preds)}}
    return pd.DataFrame(columns)


@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from(["i8", "str", "cat"]))
def test_frames(seed, n_partitions, kind):
    y_true, preds = make_block(seed, 60)
    frame = frame_of(y_true, preds)
    if kind != "i8":
        frame = frame.map(lambda label: f"class {label}")
    if kind == "cat":
        frame = frame.astype("category")
    blocks = dd.from_pandas(frame, npartitions=n_partitions)
    models = frame.drop(columns="y")
    ours = fastcmp.dask.compare_all(blocks, target="y")
    assert_same(ours, fastcmp.compare_all(frame["y"], models))
    ours = fastcmp.dask.count_labels(blocks, "m2", "m1", target="y")
    assert_same(ours, fastcmp.count_labels(frame["y"], frame["m2"], frame["m1"]))
    ours = fastcmp.dask.count_labels(blocks, target="y")
    assert_same(ours, fastcmp.count_labels(frame["y"], frame["m0"], frame["m1"]))
    chosen = fastcmp.dask.cochrans_q(blocks, target="y", names=["m3", "m0", "m1"])
    assert_same(chosen, fastcmp.cochrans_q(frame["y"], models[["m3", "m0", "m1"]]))


def test_frames_without_divisions_and_with_empty_partitions(tmp_path):
    y_true, preds = make_block(6, 300)
    frame = frame_of(y_true, preds).assign(id=np.arange(300))
    for i, part in enumerate((frame[:200], frame[200:200], frame[200:])):
        part.to_parquet(tmp_path / f"part-{i}.parquet")
    blocks = dd.read_parquet(tmp_path)
    assert not blocks.known_divisions
    models = [f"m{i}" for i in range(4)]
    ours = fastcmp.dask.compare_all(blocks[blocks.id > 20], target="y", names=models)
    theirs = fastcmp.compare_all(y_true[21:], frame[models][21:])
    assert_same(ours, theirs)


def test_scores_in_frames():
    y_true, scores = make_scores(8, 500)
    frame = frame_of(np.where(y_true, "ill", "well"), scores)
    blocks = dd.from_pandas(frame, npartitions=4)
    models = frame.drop(columns="y")
    ours = fastcmp.dask.auc(blocks, target="y", positive="ill")
    assert_same(ours, fastcmp.auc(frame["y"], models, positive="ill"))
    ours = fastcmp.dask.delong(blocks, target="y", positive="ill")
    assert_close_delong(ours, fastcmp.delong(frame["y"], models, positive="ill"))


def test_categories_that_differ():
    one = pd.DataFrame({"y": ["a", "b"], "p": ["a", "a"], "q": ["b", "b"]})
    two = pd.DataFrame({"y": ["c", "b"], "p": ["c", "c"], "q": ["b", "c"]})
    parts = [dask.delayed(part.astype("category")) for part in (one, two)]
    whole = pd.concat([one, two])
    ours = fastcmp.dask.compare_all(parts, target="y")
    assert_same(ours, fastcmp.compare_all(whole["y"], whole[["p", "q"]]))
    ours = fastcmp.dask.count_labels(parts, "p", "q", target="y")
    assert_same(ours, fastcmp.count_labels(whole["y"], whole["p"], whole["q"]))


def test_frames_that_are_refused():
    frame = dd.from_pandas(frame_of(*make_block(0, 20)), npartitions=2)
    columns = pd.DataFrame({"y": [0, 1, 0, 1], 0: [1, 2, 3, 4], "0": [4, 3, 2, 1]})
    y, of_frames = {"target": "y"}, "of a Dask DataFrame pass target="
    refused(
        fastcmp.dask.compare_all,
        (r"target must name .* got 'truth'", (frame,), {"target": "truth"}),
        (r"the frame has no columns \['m9'\]", (frame,), y | {"names": ["m1", "m9"]}),
        ("names must be those of models, got the tar", (frame,), y | {"names": ["m1", "y"]}),
        (of_frames, (frame["y"], None), y),
        (of_frames, (frame, da.zeros((2, 20))), y),
    )
    refused(
        fastcmp.dask.auc,
        (r"target must name the column .* got None", (frame,), {}),
        (r"one name a model, got \['0'\] more", (dd.from_pandas(columns, npartitions=1),), y),
    )


# Delayed blocks.


@pytest.mark.parametrize(
    "options",
    [
        {"test": "cost", "cost": COST},
        {"test": "cost", "cost": COST, "method": "chi-square"},
        {"test": "cost", "cost": {"x": [0, 1, 2], "z": [5, 0, 1], "y": [1, 3, 0]}},
        {"metric": "f1_macro", "method": "jackknife"},
        {"metric": "f1_macro", "method": "bootstrap", "n_resamples": 50, "rng": 3},
    ],
)
def test_costs_and_metrics(options):
    y_true, preds, blocks = make_blocks()
    found = fastcmp.dask.compare_all(blocks, names=4, **options)
    wanted = fastcmp.compare_all(y_true, preds, **options)
    if "cost" in options:
        assert_same(found, wanted)
        return
    for name in ("score", "score_interval", "pvalue", "standard_error", "interval"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name))
    assert (found.metric, found.seed) == (wanted.metric, wanted.seed)


def test_costs_and_metrics_that_are_refused():
    data, by_cost = (make_blocks()[2],), {"test": "cost", "cost": COST}
    named = {"x": [0, 1], "y": [5, 0]}
    refused(
        fastcmp.dask.compare_all,
        ("needs cost=, the matrix", data, {"test": "cost"}),
        ("cost is for test='cost'", data, {"cost": COST}),
        ("permits only missing='raise'", data, by_cost | {"missing": "wrong"}),
        ("cost", data, by_cost | {"cost": COST[:2, :2]}),
        ("samples have another true label", data, by_cost | {"cost": named}),
        ("missing must be 'raise'", data, {"metric": "mcc", "missing": "wrong"}),
        ("metric must be one of", data, {"metric": "nope"}),
        ("pass metric= or test=", data, {"metric": "mcc", "test": "cost"}),
    )


@pytest.mark.parametrize("kind", ["pairs", "named", "pandas", "polars", "pyarrow"])
def test_delayed_blocks(kind):
    made = [make_block(seed, n) for seed, n in enumerate((40, 0, 1, 70))]
    y_true = np.concatenate([block[0] for block in made])
    preds = np.concatenate([block[1] for block in made], axis=1)
    models = [f"m{i}" for i in range(4)]
    target, names = "y", models
    if kind == "pairs":
        target = None
    elif kind == "named":
        target, names = None, None
        made = [(y, dict(zip(models, rows, strict=True))) for y, rows in made]
    else:
        make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
        made = [make[kind](frame_of(*block).to_dict("list")) for block in made]
    blocks = [dask.delayed(block) for block in made]
    ours = fastcmp.dask.compare_all(blocks, target=target, names=names)
    assert_same(ours, fastcmp.compare_all(y_true, dict(zip(models, preds, strict=True))))
    ours = fastcmp.dask.count_labels(blocks, 3, 1, target=target)
    assert_same(ours, fastcmp.count_labels(y_true, preds[3], preds[1]))


def test_columns_in_another_order():
    one = frame_of(*make_block(1, 30))
    two = frame_of(*make_block(2, 30))[["m3", "y", "m1", "m0", "m2"]]
    blocks = [dask.delayed(one), dask.delayed(two)]
    with pytest.raises(ValueError, match=r"in the same order \(pass names= to both"):
        fastcmp.dask.compare_all(blocks, target="y")
    with pytest.raises(ValueError, match=r"in the same order \(pass names="):
        fastcmp.dask.delong([dask.delayed(f.assign(y=[0, 1] * 15)) for f in (one, two)], target="y")
    names = ["m0", "m1", "m2", "m3"]
    whole = pd.concat([one, two])
    ours = fastcmp.dask.compare_all(blocks, target="y", names=names)
    assert_same(ours, fastcmp.compare_all(whole["y"], whole[names]))


def test_errors_name_the_block():
    good, bad = ([0, 1], {"a": [0, 1], "b": [0, 0]}), ([0, 1], {"a": [0], "b": [0, 0]})

    def blocks(*made):
        return [dask.delayed(block) for block in made]

    strings = ([0, 1], {"a": ["x", "y"], "b": ["x", "y"]})
    refused(
        fastcmp.dask.compare_all,
        ("block 2: a has 1 labels, y_true has 2", (blocks(good, good, bad),), {}),
        ("block 0: a holds", (blocks(strings),), {}),
        (r"block 0: a block must be a pair", (blocks([1, 2, 3]),), {}),
        (r"block 0: the block has no column 'y'", (blocks(good[1]),), {"target": "y"}),
    )
    wanted = r"block 0: the block has no columns \['c'\], only \['a', 'b'\]"
    refused(
        fastcmp.dask.count_labels,
        ("block 0: there is no model 2", (blocks(good), 0, 2), {}),
        (wanted, (blocks(good), "a", "c"), {}),
    )
    scores = blocks(*(([0, 1], [0.0, x]) for x in (1.0, np.nan)))
    for function in (fastcmp.dask.auc, fastcmp.dask.delong):
        refused(function, ("block 1: scores has NaN for sample 1", (scores,), {}))


def test_scores_of_several_narrow_types():
    y_true = np.array([0, 1, 1, 0])
    scores = [np.array([1, 2, -2, 0], "i1"), np.array([3, 70, 1, 700], "u2")]
    scores += [np.array([0.5, 2, 1, 0], "f2"), np.array([3, 7000, 1, 4], "i2")]
    for some in (scores[:2], scores[2:], scores):
        blocks = [dask.delayed((y_true, block)) for block in some]
        whole = np.concatenate([block.astype(float) for block in some])
        ours = fastcmp.dask.auc(blocks)
        assert ours == fastcmp.auc(np.tile(y_true, len(some)), whole)


def test_labels_of_other_types():
    diagnosis = enum.Enum("Diagnosis", ["ILL", "WELL"])
    for one, two in (
        (frozenset({1}), frozenset({2})),
        (diagnosis.ILL, diagnosis.WELL),
        ("ill", np.str_("well")),
    ):
        parts = [([one, two, one], [0.0, 1.0, 0.5]), ([two, one, two], [1.0, 0.0, 0.25])]
        y_true, scores = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
        blocks = [dask.delayed(part) for part in parts]
        for positive in (one, two):
            expect = fastcmp.auc(y_true, scores, positive=positive)
            assert fastcmp.dask.auc(blocks, positive=positive) == expect
            assert fastcmp.dask.delong(blocks, positive=positive).auc[0] == expect


def test_samples_that_change_between_passes():
    asked = iter(range(100))

    def changing():
        return make_scores(next(asked), 20_000)

    blocks = [dask.delayed(changing, pure=False)()]
    for function in (fastcmp.dask.auc, fastcmp.dask.delong):
        refuses(ValueError, "must be the same whenever they are comp", function, blocks)


def test_options_are_refused_before_anything_is_computed():
    def never():
        raise AssertionError

    blocks = [dask.delayed(never)()]
    for function, *places, options in (
        *(
            (fastcmp.dask.compare_all, options)
            for options in (
                {"method": "fisher"},
                {"adjust": "fisher"},
                {"alpha": 2.0},
                {"keep": "few"},
                {"memory_limit": "much"},
                {"classes": [1, 1]},
                {"missing": "drop"},
                {"names": ["a", "a"]},
                {"split_every": 1},
                {"control": "c", "names": ["a", "b"]},
            )
        ),
        (fastcmp.dask.cochrans_q, {"method": "exact"}),
        (fastcmp.dask.auc, {"ties": "third"}),
        (fastcmp.dask.count_labels, 0, 1, {"classes": [1, 1]}),
    ):
        refused(function, (next(iter(options)), (blocks, *places), options))


def test_collections_that_are_refused():
    pairs, no_array = [([0, 1], [[0, 1], [0, 1]])], "data must be a Dask array with another"
    refused(
        fastcmp.dask.compare_all,
        *((no_array, (data,), {}) for data in (np.zeros(3), "blocks", None)),
        ("data must be a list of delayed blocks", (pairs,), {}),
        ("at least one delayed block", ([],), {}),
        ("target is for frames", (da.zeros(4), da.zeros((2, 4))), {"target": "y"}),
        ("at least one model, got none", (da.zeros(4), {}), {}),
    )
    one = [dask.delayed(([0], [[0], [1]]))]
    refused(fastcmp.dask.count_labels, ("at least 2 samples, got 1", (one,), {}))
    y_true, row = da.zeros(4, chunks=2), da.ones(4, chunks=2)
    refused(
        fastcmp.dask.auc,
        (
            r"preds has no columns \['model_0', 'model_1'",
            *((y_true, {"a": row, "b": row}), {"names": 2}),
        ),
        (r"one name a model, got \['0'\] more than", (y_true, {0: row, "0": row}), {}),
    )


def test_memory_of_delong_is_refused_before_it_is_taken():
    y_true, scores = make_scores(0, 1000)
    blocks = [dask.delayed((y_true, scores))]
    wanted = "to rank 1000 scores of a model in one task would take .* memory_limit is"
    refuses(ValueError, wanted, fastcmp.dask.delong, blocks, memory_limit=55_000)
    assert fastcmp.dask.delong(blocks, memory_limit=57_000).n_missing == 0
    with pytest.raises(ValueError, match="at least 2 samples of each class, got 1 wit"):
        fastcmp.dask.delong([dask.delayed(([0, 0, 1], [1, 2, 3]))])


def test_arrays_of_one_source_read_it_once():
    y_true, preds = make_block(0, 100)
    read = []

    def load(block):
        read.append(1)
        return block

    rows = da.from_array(np.vstack([y_true, preds]), chunks=(5, 25)).map_blocks(
        load, dtype=y_true.dtype, meta=np.zeros((0, 0), y_true.dtype)
    )
    fastcmp.dask.compare_all(rows[0], rows[1:])
    assert len(read) == 4


def test_threads_of_dask():
    y_true, preds = make_block(9, 5000)
    truth, rows = da.from_array(y_true, chunks=50), da.from_array(preds, chunks=(2, 70))
    with dask.config.set(scheduler="threads", num_workers=4):
        ours = fastcmp.dask.compare_all(truth, rows)
    assert_same(ours, fastcmp.compare_all(y_true, preds))


# Means of values per item.


def make_values(seed, n, m=4):
    """Draw values, clusters and weights."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 9, n)
    values = rng.normal(size=(m, n)) + rng.normal(size=9)[groups]
    return values, groups, rng.random(n) + 0.1


def assert_close_means(ours, theirs):
    """Sums of products differ by their rounding."""
    assert (ours.names, ours.n_samples) == (theirs.names, theirs.n_samples)
    assert ours.best == theirs.best
    for name in ("difference", "pvalue", "pvalue_adjusted", "standard_error"):
        one, two = (x.to_dict()["pairs"][name] for x in (ours, theirs))
        np.testing.assert_allclose(one, two, 1e-10, 1e-13)


@given(st.data(), st.integers(0, 10**6), st.booleans(), st.integers(2, 4))
def test_means_of_any_cut(data, seed, clustered, split_every):
    values, groups, weights = make_values(seed, 60)
    given = {"groups": groups, "weights": weights} if clustered else {}
    blocks = da.from_array(values, chunks=((1, 3), data.draw(cuts(60))))
    others = {
        name: da.from_array(raw, chunks=(data.draw(cuts(60)),)) for name, raw in given.items()
    }
    options = {"adjust": "bh", "variance": "cr1", "lower_is_better": True}
    ours = fastcmp.dask.compare_means(blocks, **others, split_every=split_every, **options)
    assert_close_means(ours, compare_means(values, **given, **options))


def test_means_of_frames_and_delayed_blocks():
    values, groups, weights = make_values(1, 90)
    frame = pd.DataFrame({f"m{i}": row for i, row in enumerate(values)})
    models = list(frame)
    frame["g"], frame["w"] = groups, weights
    blocks = dd.from_pandas(frame, npartitions=4)
    theirs = compare_means(frame[models], groups=groups, weights=weights)
    ours = fastcmp.dask.compare_means(blocks, groups="g", weights="w")
    assert_close_means(ours, theirs)
    columns = {
        name: da.from_array(frame[name].to_numpy(), chunks=30 + i) for i, name in enumerate(models)
    }
    named = {"groups": da.from_array(groups, chunks=17)}
    ours = fastcmp.dask.compare_means(columns, **named, control="m1")
    theirs = compare_means(frame[models], groups=groups, control="m1")
    assert_close_means(ours, theirs)
    three = ["m3", "m0", "m1"]
    listed = [dask.delayed(frame[:20]), dask.delayed(frame[20:])]
    for data in (blocks, listed):
        ours = fastcmp.dask.compare_means(data, groups="g", names=three)
        assert_close_means(ours, compare_means(frame[three], groups=groups))
    listed = [dask.delayed(values[:, :9]), dask.delayed(values[:, 9:].tolist())]
    assert_close_means(fastcmp.dask.compare_means(listed), compare_means(values))


def test_dask_is_loaded_when_it_is_needed_and_knows_what_counts_take():
    code = (
        "import sys, fastcmp\n"
        "fastcmp.dask\n"
        "assert 'dask' not in sys.modules\n"
        "assert fastcmp.dask.compare_all.__module__ == 'fastcmp.dask.comparisons'\n"
        "sys.modules['dask'] = None\n"
        "try: fastcmp.dask.auc([])\n"
        "except ImportError as error: assert 'fastcmp[dask]' in str(error)\n"
        "else: assert False\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert fastcmp.dask.__all__ == sorted(fastcmp.dask.__all__)
    counts = fastcmp.stream.PairCounts(100)
    assert dask.sizeof.sizeof(counts) >= 8 * 100**2
    counts = fastcmp.stream.ScoreCounts().update(*(x.ravel() for x in make_scores(0, 100, 1)))
    assert dask.sizeof.sizeof(counts) >= counts.n_bytes > 1e6


def test_means_that_are_refused():
    values, groups, _ = make_values(2, 40)
    rows, frame = (da.from_array(values, chunks=20), pd.DataFrame(values.T, columns=[*"abcd"]))
    frame = dd.from_pandas(frame.assign(g=groups), npartitions=2)
    few, all_of_them = (da.from_array(x, chunks=5) for x in (groups[:9], groups))
    lacking = values.copy()
    lacking[1, 33] = np.nan
    refused(
        fastcmp.dask.compare_means,
        ("data must be a Dask array, a mapping to", (values,), {}),
        ("data must be a Dask array of 2 dimensions", (rows[0],), {}),
        ("groups has 9 entries, the models have 40", (rows,), {"groups": few}),
        ("groups must name a column where data are fra", (frame,), {"groups": all_of_them}),
        (r"the frame has no columns \['h'\]", (frame,), {"groups": "h"}),
        (
            r"block 0: the block has no columns \['g'\]",
            *(([dask.delayed(values)],), {"groups": "g"}),
        ),
        *((f"^{x} must be one of", (rows,), {x: "x"}) for x in ("variance", "df", "adjust")),
        (r"^control names no model 'z'", (rows,), {"control": "z"}),
        (
            r"block 1 \(from sample 20\): model_1 has nan",
            *((da.from_array(lacking, chunks=(4, 20)),), {}),
        ),
    )


# Two worker processes.


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.mark.full
def test_cluster(cluster):
    assert len(cluster.scheduler_info()["workers"]) == 2
    y_true, preds = gathered(make_block, 12, 1000)
    blocks = [dask.delayed(make_block)(seed, 1000) for seed in range(12)]
    ours = fastcmp.dask.compare_all(blocks, split_every=3)
    assert_same(ours, fastcmp.compare_all(y_true, preds))
    truth, rows = da.from_array(y_true, chunks=999), da.from_array(preds, chunks=1500)
    ours = fastcmp.dask.cochrans_q(truth, rows)
    assert_same(ours, fastcmp.cochrans_q(y_true, preds))
    frame = dd.from_pandas(frame_of(y_true, preds), npartitions=5)
    ours = fastcmp.dask.count_labels(frame, "m3", "m0", target="y")
    assert_same(ours, fastcmp.count_labels(y_true, preds[3], preds[0]))
    lacking = [dask.delayed(make_block)(0, 9), dask.delayed(([0, 1], [[0, None], [1, 1]]))]
    refused(fastcmp.dask.compare_all, ("block 1: model_0 has no prediction", (lacking,), {}))

    y_true, scores = gathered(make_scores, 6, 2000)
    blocks = [dask.delayed(make_scores)(seed, 2000) for seed in range(6)]
    assert_same(fastcmp.dask.auc(blocks), fastcmp.auc(y_true, scores))
    assert_close_delong(fastcmp.dask.delong(blocks), fastcmp.delong(y_true, scores))

    values, groups, _ = make_values(4, 3000)
    rows, clusters = (da.from_array(values, chunks=500), da.from_array(groups, chunks=700))
    ours = fastcmp.dask.compare_means(rows, groups=clusters, split_every=3)
    assert_close_means(ours, compare_means(values, groups=groups))


def gathered(make, n_blocks, n):
    """The samples of several blocks as one."""
    made = [make(seed, n) for seed in range(n_blocks)]
    return np.concatenate([x[0] for x in made]), np.concatenate([x[1] for x in made], axis=1)


@pytest.mark.full
@pytest.mark.parametrize("function", ["compare_all", "auc"])
def test_a_killed_worker(cluster, tmp_path, function):
    draw = make_scores if function == "auc" else make_block
    flag = tmp_path / "killed"
    make = dask.delayed(partial(make_or_die, draw, str(flag)), pure=False)
    ours = getattr(fastcmp.dask, function)([make(seed, 3000) for seed in range(12)])
    killed = int(flag.read_text())
    assert killed != os.getpid()
    assert not Path(f"/proc/{killed}").exists()
    assert_same(ours, getattr(fastcmp, function)(*gathered(draw, 12, 3000)))
