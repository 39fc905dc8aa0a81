"""Areas for more than two classes, against scikit-learn and definitions."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import auc, average_precision


@st.composite
def problems(draw):
    """Draw labels of 3 to 6 classes, all of them used, and probabilities."""
    k = draw(st.integers(3, 6))
    n = draw(st.integers(k, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.permutation(np.append(np.arange(k), rng.integers(0, k, n - k)))
    scores = rng.integers(1, draw(st.sampled_from([3, 1000])) + 1, (n, k)).astype(float)
    return y_true, scores / scores.sum(axis=1, keepdims=True)


@given(problems())
def test_pairs_equal_scikit_learn(drawn):
    from sklearn.metrics import roc_auc_score

    y_true, scores = drawn
    for average in ("macro", "weighted"):
        peer = roc_auc_score(y_true, scores, multi_class="ovo", average=average)
        found = auc(y_true, scores, multiclass="ovo", average=average)
        assert isinstance(found, float)
        assert found == pytest.approx(peer, rel=1e-12)


def example():
    labels = np.random.default_rng(4).choice(3, 37, p=[0.6, 0.3, 0.1])
    return np.append([0, 1, 2], labels), np.random.default_rng(3).random((40, 3))


def area(y_true, scores, **options):
    return auc(y_true, scores, **{"multiclass": "ovr"} | options)


@pytest.mark.parametrize("method", ["ovr", "ovo"])
def test_labels_of_any_type(method):
    labels, table = example()
    wanted = auc(labels, table, multiclass=method)
    for names in (["a", "b", "c"], [-5, 2, 11], [0.25, 0.5, 7.0]):
        y_true = [names[i] for i in labels]
        assert auc(y_true, table, multiclass=method) == wanted
        classes, mixed = np.array(names)[[2, 0, 1]], table[:, [2, 0, 1]]
        found = auc(y_true, mixed, classes=classes, multiclass=method)
        assert found == pytest.approx(wanted, rel=1e-14)
    y_true = [None if i % 7 == 6 else int(x) for i, x in enumerate(labels)]
    kept = np.array([label is not None for label in y_true])
    table[6] = nan
    found = auc(y_true, table, multiclass=method)
    assert found == auc(labels[kept], table[kept], multiclass=method)


# As scikit-learn averages.


@st.composite
def labels_of_samples(draw):
    """Draw an indicator matrix whose rows and columns hold 0 and 1, and scores."""
    n, k = draw(st.integers(4, 40)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = (rng.random((n, k)) < 0.4).astype(draw(st.sampled_from([int, bool])))
    y_true[:, 0], y_true[:, 1] = 0, 1
    y_true[0], y_true[1] = 0, 1
    y_true[0, 0], y_true[1, 1] = 1, 0
    y_true[2, :2] = [1, 0]
    digits = draw(st.sampled_from([0, 1, 12]))
    scores = rng.normal(size=(n, k)).round(digits)
    weights = rng.integers(1, 9, n) / 4 if draw(st.booleans()) else None
    return y_true, scores, weights


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
@given(problems(), st.integers(0, 99), st.booleans())
def test_classes_equal_scikit_learn(average, drawn, seed, weighted):
    from sklearn.metrics import average_precision_score, roc_auc_score

    y_true, scores = drawn
    weights = np.random.default_rng(seed).random(len(scores)) if weighted else None
    options = {"average": average, "sample_weight": weights}
    peer = roc_auc_score(y_true, scores, multi_class="ovr", **options)
    np.testing.assert_allclose(auc(y_true, scores, **options, multiclass="ovr"), peer, rtol=1e-10)
    for average_ in (average, "samples") if average is None else (average,):
        options["average"] = average_
        peer = average_precision_score(y_true, scores, **options)
        np.testing.assert_allclose(average_precision(y_true, scores, **options), peer, rtol=1e-10)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", "samples", None])
@given(labels_of_samples())
def test_indicators_equal_scikit_learn(average, drawn):
    from sklearn.metrics import average_precision_score, roc_auc_score

    y_true, scores, weights = drawn
    used = np.ones(len(y_true), bool)
    if average == "samples":  # where a sample has all labels or none there is no area
        used = (y_true.sum(axis=1) > 0) & (y_true.sum(axis=1) < y_true.shape[1])
        y_true, scores = y_true[used], scores[used]
        weights = None if weights is None else weights[used]
    options = {"average": average, "sample_weight": weights}
    for ours, theirs in ((area, roc_auc_score), (average_precision, average_precision_score)):
        peer = theirs(y_true.astype(int), scores, **options)
        np.testing.assert_allclose(ours(y_true, scores, **options), peer, rtol=1e-10)


def test_pairs_of_classes_without_an_average():
    labels, table = example()
    areas = auc(labels, table, multiclass="ovo", average=None)
    for value, (i, j) in zip(areas, [(0, 1), (0, 2), (1, 2)], strict=True):
        both = np.isin(labels, [i, j])
        one = auc(labels[both] == i, table[both, i])
        other = auc(labels[both] == j, table[both, j])
        assert value == (one + other) / 2
    assert auc(labels, table, multiclass="ovo") == pytest.approx(areas.mean())


def test_weights_of_samples_without_a_label_are_dropped():
    labels, table = example()
    weights = np.arange(1.0, 41)
    for function in (area, average_precision):
        found = function([None, *labels[1:]], table, sample_weight=weights)
        assert found == function(labels[1:], table[1:], sample_weight=weights[1:])


INDICATOR = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])


@pytest.mark.parametrize("function", [area, average_precision])
@pytest.mark.parametrize(
    ("y_true", "options", "message"),
    [
        (2 * INDICATOR, {}, r"must hold 0 and 1, .* got 2"),
        (INDICATOR[:, :2], {}, r"of the shape of y_true, \(3, 2\), got \(3, 3\)"),
        (INDICATOR, {"classes": [1, 2, 3]}, "classes names labels of y_true of shape"),
        (INDICATOR * [[1], [1], [0]], {"average": "samples"}, "for sample 2: "),
        (INDICATOR * [1, 1, 0], {}, r"y_true holds no sample of \[2\]"),
        ([0, 1, 2], {"sample_weight": [1, 1, 0]}, r"no sample of \[2\]"),
        ([0, 1], {}, r"n = 2 "),
        ([0, 1, 1], {}, "3 columns for 2 classes|the positive one only"),
        ([0, 1, 2], {"classes": [0, 1]}, "3 columns for 2 classes"),
        ([0, 1, 1], {"classes": [0, 1, 2]}, r"no sample of \[2\]"),
        ([0, 1, 5], {"classes": [0, 1, 2]}, "holds 5, which is not"),
    ],
)
def test_what_cannot_be_averaged(function, y_true, options, message):
    with pytest.raises(ValueError, match=message):
        function(y_true, np.eye(3) + 0.1, **options)


def test_options_that_do_not_go_together():
    labels, table = example()
    with pytest.raises(ValueError, match="multiclass='ovo' compares pairs of classes"):
        auc(labels, table, multiclass="ovo", average="micro")
    with pytest.raises(ValueError, match="multiclass='ovo' compares pairs of classes"):
        auc(INDICATOR, table[:3], multiclass="ovo")
    with pytest.raises(ValueError, match="positive= is for two classes"):
        average_precision(labels, table, positive=1)
    with pytest.raises(ValueError, match="classes= names the columns"):
        average_precision([0, 1, 1], [0.1, 0.2, 0.3], classes=[0, 1])
