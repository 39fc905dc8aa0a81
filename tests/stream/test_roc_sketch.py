"""ROC curves from blocks: points of the true curve, and a sure bound between them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cases import refuses
from hypothesis import given
from hypothesis import strategies as st

import fastcmp
from fastcmp import stream
from fastcmp.stream import RocSketch, ScoreCounts, ScoreMap


def two_classes(n, seed=3, digits=None):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    y_true[:2] = 0, 1
    scores = rng.normal(size=n) + y_true
    return y_true, scores if digits is None else scores.round(digits)


def as_points(curve):
    return set(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True))


samples = st.tuples(st.integers(2, 60), st.integers(0, 2**32), st.integers(0, 2))


@given(samples, st.lists(st.floats(-3, 3), max_size=6))
def test_every_point_is_one_of_the_whole_curve(drawn, edges):
    y_true, scores = two_classes(*drawn)
    sketch = RocSketch(ScoreMap(np.unique(edges))).update(y_true, scores)
    curve, whole = sketch.curve(), fastcmp.roc_curve(y_true, scores)
    assert as_points(curve) <= as_points(whole)
    for fpr, tpr, cutoff in zip(*curve, strict=True):
        called = scores >= cutoff
        assert tpr == called[y_true == 1].mean()
        assert fpr == called[y_true == 0].mean()


@given(samples, st.lists(st.floats(-3, 3), max_size=6))
def test_the_whole_curve_lies_within_the_gap(drawn, edges):
    y_true, scores = two_classes(*drawn)
    sketch = RocSketch(ScoreMap(np.unique(edges))).update(y_true, scores)
    curve, whole = sketch.curve(), fastcmp.roc_curve(y_true, scores)
    # Between these both are straight; at a vertical part their upper ends are read.
    at = np.union1d(curve.fpr, whole.fpr)
    off = np.abs(curve.interpolate(at) - whole.interpolate(at))
    assert off.max() <= sketch.gap() + 1e-12


def test_the_gap_is_reached():
    # One bin holds all: the diagonal, while the curve goes up first.
    sketch = RocSketch(ScoreMap([9.0])).update([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0])
    assert sketch.curve().fpr.tolist() == [0.0, 1.0]
    assert sketch.gap() == 1.0


def test_rounded_scores_give_the_curve_itself():
    y_true, scores = two_classes(500, digits=1)
    sketch = RocSketch().update(y_true, scores)
    curve, whole = sketch.curve(), fastcmp.roc_curve(y_true, scores)
    assert sketch.gap() == 0
    for one, other in zip(curve, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_gaussian_scores_leave_a_small_gap():
    y_true, scores = two_classes(200_000)
    sketch = RocSketch()
    for part in np.array_split(np.arange(y_true.size), 7):
        sketch.update(y_true[part], scores[part])
    # Between two edges lies less than one positive in a thousand.
    assert 0 < sketch.gap() < 1e-3
    fpr, tpr, _ = sketch.curve()
    area = np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2
    assert area == pytest.approx(sketch.auc.auc, abs=1e-12)


def test_sketches_merge_and_are_saved_as_what_they_are(tmp_path):
    y_true, scores = two_classes(300)
    models = {"a": scores, "b": scores**2}
    begin = RocSketch().update(y_true, models).like()
    assert type(begin) is RocSketch
    one = begin.copy().update(y_true[:99], {k: v[:99] for k, v in models.items()})
    two = begin.copy().update(y_true[99:], {k: v[99:] for k, v in models.items()})
    whole = begin.copy().update(y_true, models)
    assert one + two == two + one == sum([one, two]) == whole
    whole.save(tmp_path / "sketch")
    found = stream.load(tmp_path / "sketch")
    assert type(found) is RocSketch
    assert found == whole == pickle.loads(pickle.dumps(whole))
    assert found.gap("a") == whole.gap("a")
    with pytest.raises(ValueError, match="holds RocSketch, wanted PairCounts"):
        stream.PairCounts.load(tmp_path / "sketch")
    refuses(TypeError, "merges with its own kind", whole.merge, ScoreCounts())


def test_a_model_must_be_named_where_there_are_several():
    y_true, scores = two_classes(20)
    sketch = RocSketch().update(y_true, [scores, -scores])
    assert sketch.curve("model_1").tpr[-1] == 1
    assert sketch.curve(1).tpr.tolist() == sketch.curve("model_1").tpr.tolist()
    refuses(ValueError, "model must name one of", sketch.curve)
    for model in ("model_2", 2):
        refuses(ValueError, "model names no model", sketch.curve, model)
    refuses(ValueError, "both classes", RocSketch().update([1, 1], [0.1, 0.2]).curve)
