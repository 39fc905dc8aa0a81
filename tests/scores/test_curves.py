"""Thresholds and the curves made from them, against scikit-learn and definitions."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastcmp
from fastcmp import average_precision, det_curve, precision_recall_curve, roc_curve, threshold_sweep


def metrics():
    """The peer, imported where it is asked."""
    from sklearn import metrics

    return metrics


@st.composite
def problems(draw, largest=40, weighted=None):
    """Draw labels of both classes, scores with ties or without, and weights."""
    n = draw(st.integers(2, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.integers(0, 2, n)
    y_true[rng.permutation(n)[:2]] = 0, 1
    digits = draw(st.sampled_from([0, 1, 12]))
    scores = rng.normal(size=n).round(digits)
    if draw(st.booleans()):
        scores = scores.astype(np.float32)
    if weighted is None:
        weighted = draw(st.booleans())
    weights = rng.integers(1, 5, n) / 2 if weighted else None
    return y_true, scores, weights


# The sweep.


@given(problems(weighted=False))
def test_sweep_equals_its_definition(drawn):
    y_true, scores, _ = drawn
    sweep = threshold_sweep(y_true, scores)
    np.testing.assert_array_equal(sweep.thresholds, np.unique(scores)[::-1])
    assert sweep.thresholds.dtype == scores.dtype
    for k, at in enumerate(sweep.thresholds):
        called = scores >= at
        table = metrics().confusion_matrix(y_true, called, labels=[0, 1])
        found = [[sweep.tn[k], sweep.fp[k]], [sweep.fn[k], sweep.tp[k]]]
        assert found == table.tolist()
    assert sweep.tp.dtype == sweep.fp.dtype == np.int64
    assert (sweep.n_positives, sweep.n_negatives) == (sum(y_true), sum(1 - y_true))


@given(problems(weighted=False), st.integers(0, 99))
def test_whole_weights_repeat_samples(drawn, seed):
    y_true, scores, _ = drawn
    times = np.random.default_rng(seed).integers(1, 4, len(scores))
    one = threshold_sweep(y_true, scores, sample_weight=times)
    other = threshold_sweep(np.repeat(y_true, times), np.repeat(scores, times))
    for name in ("thresholds", "tp", "fp", "tn", "fn", "n_positives", "n_negatives"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# ROC curves.


def test_one_class_has_no_curve():
    for function, message in (
        (roc_curve, "both classes: y_true holds no positives"),
        (det_curve, "needs both classes"),
        (precision_recall_curve, "precision and recall need positives"),
        (average_precision, "precision and recall need positives"),
    ):
        with pytest.raises(ValueError, match=message):
            function([0, 0, 0], [1, 2, 3])
        with pytest.raises(ValueError, match=r"needs both classes|need positives"):
            function([0, 1, 0], [1, 2, 3], sample_weight=[1, 0, 1])


# Infinite scores, and what each threshold means.


@st.composite
def extreme_problems(draw):
    """Draw problems some of whose scores are infinite, and some weights 0."""
    y_true, scores, weights = draw(problems())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = scores.copy()
    for value in (inf, -inf):
        scores[rng.random(scores.size) < draw(st.sampled_from([0, 0.2]))] = value
    if weights is not None and draw(st.booleans()):
        weights = weights * (rng.random(scores.size) < 0.7)
        assume(all(weights[y_true == label].any() for label in (0, 1)))
    return y_true, scores, weights


def rates(y_true, called, weights):
    weights = np.ones(len(y_true)) if weights is None else weights
    return [
        weights[called & (y_true == label)].sum() / weights[y_true == label].sum()
        for label in (0, 1)
    ]


@pytest.mark.parametrize("drop", [False, True])
@given(extreme_problems())
def test_every_threshold_gives_its_point(drop, drawn):
    y_true, scores, weights = drawn
    options = {"sample_weight": weights, "drop_intermediate": drop}
    roc = roc_curve(y_true, scores, **options)
    det = det_curve(y_true, scores, **options)
    points = [*zip(*roc, strict=True)]
    points += [(fpr, 1 - fnr, at) for fpr, fnr, at in zip(*det, strict=True)]
    for fpr, tpr, at in points:
        assert (fpr, tpr) == pytest.approx(rates(y_true, scores >= at, weights))
    assert len(np.unique(roc.thresholds)) == len(roc.thresholds)
    curve = precision_recall_curve(y_true, scores, **options)
    for precision, recall, at in zip(
        curve.precision[:-1], curve.recall[:-1], curve.thresholds, strict=True
    ):
        called = scores >= at
        used = called if weights is None else called & (weights > 0)
        share = np.average(y_true[used], weights=None if weights is None else weights[used])
        assert (precision, recall) == pytest.approx((share, rates(y_true, called, weights)[1]))


@given(problems())
def test_step_is_the_best_cutoff_and_interpolate_joins_points_by_lines(drawn):
    y_true, scores, weights = drawn
    curve = roc_curve(y_true, scores, sample_weight=weights)
    at = np.concatenate([np.linspace(0, 1, 23), curve.fpr])
    best = [curve.tpr[curve.fpr <= x].max() for x in at]
    assert curve.step(at).tolist() == best
    assert curve.step(at[3]) == best[3]
    wanted = np.interp(at, curve.fpr, curve.tpr)
    for k, x in enumerate(at):
        if x in curve.fpr:  # the highest of a vertical line
            wanted[k] = curve.tpr[curve.fpr == x].max()
    found = curve.interpolate(at)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert np.all(found >= best)
    assert curve.interpolate(at[7]) == found[7]


def test_no_number_lies_above_infinity():
    curve = roc_curve([0, 0, 1, 1], [inf, 1, 2, 3])
    assert curve.fpr.tolist() == [0, 0.5, 0.5, 0.5, 1]
    assert curve.tpr.tolist() == [0, 0, 0.5, 1, 1]
    assert np.isnan(curve.thresholds[0])
    assert curve.thresholds[1:].tolist() == [inf, 3, 2, 1]
    assert np.isnan(det_curve([0, 0, 1, 1], [inf, 1, 2, 3]).thresholds[-1])
    curve = det_curve(["n", "y", "y", "n", None], [0.1, 0.9, 0.3, 0.4, nan], positive="y")
    assert curve.fpr.tolist() == [0.5, 0.5, 0]
    assert curve.fnr.tolist() == [0, 0.5, 0.5]
    sweep = threshold_sweep(["n", "y", "y"], [1, 2, 2], positive="y")
    assert "2 distinct scores of 2 positives ('y') and 1 negatives ('n')" in str(sweep)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("name", ["roc_curve", "det_curve", "precision_recall_curve"])
@given(extreme_problems())
def test_curves_equal_those_of_scikit_learn(name, drop, drawn):
    y_true, scores, weights = drawn
    options = {"sample_weight": weights, "drop_intermediate": drop}
    scores = np.clip(scores, -50, 50)  # scikit-learn refuses infinite ones
    peer = getattr(metrics(), name)(y_true, scores, **options)
    found = getattr(fastcmp, name)(y_true, scores, **options)
    for one, other in zip(found, peer, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
        assert one.dtype == np.float64
    thinned = getattr(fastcmp, name)(y_true, scores, drop_intermediate=True)
    full = getattr(fastcmp, name)(y_true, scores)
    assert set(zip(*thinned[:2], strict=True)) <= set(zip(*full[:2], strict=True))


@given(extreme_problems())
def test_areas_equal_those_of_scikit_learn(drawn):
    y_true, scores, weights = drawn
    scores, options = np.clip(scores, -50, 50), {"sample_weight": weights}
    peer = metrics().average_precision_score(y_true, scores, **options)
    found = average_precision(y_true, scores, **options)
    assert isinstance(found, float)
    assert found == pytest.approx(peer, rel=1e-12)
    assert 0 < found <= 1
    peer = metrics().roc_auc_score(y_true, scores, **options)
    assert fastcmp.auc(y_true, scores, **options) == pytest.approx(peer, rel=1e-12)
