"""Areas for more than two classes, against scikit-learn and definitions."""

from math import nan

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from strategies import modest

from fastcmp import auc, auc_multiclass

METHODS = pytest.mark.parametrize("method", ["ovr", "ovo"])
AVERAGES = pytest.mark.parametrize("average", ["macro", "weighted"])


@st.composite
def problems(draw):
    """Draw labels of 3 to 6 classes, all of them used, and probabilities."""
    k = draw(st.integers(3, 6))
    n = draw(st.integers(k, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.permutation(np.append(np.arange(k), rng.integers(0, k, n - k)))
    scores = rng.integers(1, draw(st.sampled_from([3, 1000])) + 1, (n, k)).astype(float)
    return y_true, scores / scores.sum(axis=1, keepdims=True)


@METHODS
@AVERAGES
@modest(60)
@given(problems())
def test_equals_scikit_learn(method, average, drawn):
    y_true, scores = drawn
    peer = sklearn.metrics.roc_auc_score(
        y_true, scores, multi_class=method, average=average
    )
    found = auc_multiclass(y_true, scores, method=method, average=average)
    assert isinstance(found, float)
    assert found == pytest.approx(peer, rel=1e-12)


EXAMPLE = np.random.default_rng(3).random((40, 3))
LABELS = np.append([0, 1, 2], np.random.default_rng(4).choice(3, 37, p=[0.6, 0.3, 0.1]))


@METHODS
@AVERAGES
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pd.Categorical])
def test_labels_of_any_type(method, average, make):
    options = {"method": method, "average": average}
    wanted = auc_multiclass(LABELS, EXAMPLE, **options)
    for names in (["a", "b", "c"], [-5, 2, 11], [0.25, 0.5, 7.0]):
        y_true = make([names[i] for i in LABELS])
        assert auc_multiclass(y_true, EXAMPLE, **options) == wanted
        assert auc_multiclass(y_true, EXAMPLE, classes=names, **options) == wanted
        classes = np.array(names)[[2, 0, 1]]
        mixed = EXAMPLE[:, [2, 0, 1]]
        found = auc_multiclass(y_true, mixed, classes=classes, **options)
        assert found == pytest.approx(wanted, rel=1e-14)


@METHODS
def test_frames_are_tables(method):
    wanted = auc_multiclass(LABELS, EXAMPLE, method=method)
    for table in (pd.DataFrame(EXAMPLE), EXAMPLE.tolist(), np.asfortranarray(EXAMPLE)):
        assert auc_multiclass(LABELS, table, method=method) == wanted


def test_the_mean_is_that_of_the_classes():
    areas = [auc(np.equal(LABELS, i), EXAMPLE[:, i]) for i in range(3)]
    assert auc_multiclass(LABELS, EXAMPLE) == pytest.approx(np.mean(areas))
    weighted = np.average(areas, weights=np.bincount(LABELS))
    found = auc_multiclass(LABELS, EXAMPLE, average="weighted")
    assert found == pytest.approx(weighted)


@METHODS
def test_two_classes(method):
    y_true = LABELS > 0
    one = EXAMPLE[:, 0]
    both = np.column_stack([-one, one])
    assert auc_multiclass(y_true, both, method=method) == pytest.approx(
        auc(y_true, one)
    )


@METHODS
def test_monotone_transforms_change_nothing(method):
    wanted = auc_multiclass(LABELS, EXAMPLE, method=method)
    assert auc_multiclass(LABELS, np.log(EXAMPLE), method=method) == wanted
    ranks = np.argsort(np.argsort(EXAMPLE, axis=0), axis=0)
    assert auc_multiclass(LABELS, ranks, method=method) == wanted


@METHODS
def test_missing_labels_are_dropped(method):
    y_true = [None if i % 7 == 6 else int(x) for i, x in enumerate(LABELS)]
    kept = np.array([label is not None for label in y_true])
    scores = EXAMPLE.copy()
    scores[6] = nan
    found = auc_multiclass(y_true, scores, method=method)
    assert found == auc_multiclass(LABELS[kept], EXAMPLE[kept], method=method)


@METHODS
def test_perfect_and_worst(method):
    table = np.eye(3)[LABELS]
    assert auc_multiclass(LABELS, table, method=method) == 1
    assert auc_multiclass(LABELS, -table, method=method) == 0
    assert auc_multiclass(LABELS, 0 * table, method=method) == 0.5


@pytest.mark.parametrize(
    ("y_true", "scores", "options", "message"),
    [
        ([0, 1], np.ones((3, 2)), {}, r"shape \(n, K\) with n = 2 samples"),
        ([0, 1], [1, 2], {}, r"shape \(n, K\)"),
        ([0, 1, 1], np.ones((3, 3)), {}, "3 columns for 2 classes .* pass classes="),
        ([0, 1, 2], np.ones((3, 2)), {}, "2 columns for 3 classes"),
        ([0, 0, 0], np.ones((3, 1)), {}, "1 columns for 1 classes"),
        ([0, 1, 2], np.ones((3, 3)), {"classes": [0, 1]}, "3 columns for 2 classes"),
        ([0, 1, 1], np.ones((3, 3)), {"classes": [0, 1, 2]}, r"no sample of \[2\]"),
        ([0, 1, 5], np.ones((3, 3)), {"classes": [0, 1, 2]}, "holds 5, which is not"),
        ([0, 1, 2], np.ones((3, 3)), {"method": "both"}, "method must be one of"),
        ([0, 1, 2], np.ones((3, 3)), {"average": "micro"}, "average must be one of"),
    ],
    ids=str,
)
def test_bad_input(y_true, scores, options, message):
    with pytest.raises(ValueError, match=message):
        auc_multiclass(y_true, scores, **options)


def test_classes_that_repeat_are_refused():
    with pytest.raises(ValueError, match="classes"):
        auc_multiclass(["a", "b"], np.ones((2, 3)), classes=["a", "b", "a"])


@METHODS
def test_nan_is_refused_with_its_sample(method):
    scores = EXAMPLE.copy()
    scores[5, 1] = nan
    with pytest.raises(ValueError, match="NaN for sample 5"):
        auc_multiclass(LABELS, scores, method=method)


@METHODS
def test_masked_scores_are_refused(method):
    masked = np.ma.array(EXAMPLE, mask=EXAMPLE > 0.9)
    with pytest.raises(TypeError, match="masked"):
        auc_multiclass(LABELS, masked, method=method)


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="scores must be numbers"):
        auc_multiclass([0, 1, 2], EXAMPLE[:3].astype(str))
