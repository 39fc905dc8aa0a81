"""Losses by item, against scikit-learn's means of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import pd

from fastcmp import brier_values, log_loss_values

Y = np.array([0, 1, 1, 0, 1, 0])
P = np.array([0.1, 0.8, 0.7, 0.35, 0.45, 0.6])
K3 = np.array(["b", "a", "c", "a"])
P3 = np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.4, 0.4, 0.2]])
BOTH = pytest.mark.parametrize("function", [brier_values, log_loss_values])


def chances(seed, n, k, dtype=np.float64):
    """Draw labels and probabilities of K classes, some of them 0 and 1."""
    generator = np.random.default_rng(seed)
    table = generator.dirichlet(np.full(k, 0.3), n).astype(dtype)
    table[0] = np.eye(k)[0]
    labels = np.append(np.arange(k), generator.integers(0, k, n - k))
    return labels, table


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([np.float32, np.float64]))
def test_means_are_those_of_scikit_learn(seed, k, dtype):
    from sklearn.metrics import brier_score_loss, log_loss

    labels, table = chances(seed, 20, k, dtype)
    near = 1e-6 if dtype == np.float32 else 1e-13
    found = brier_values(labels, table)
    assert found.shape == (20,)
    assert found.dtype == np.float64
    assert found.mean() == pytest.approx(brier_score_loss(labels, table), rel=near)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = log_loss_values(labels, table)
        assert found.mean() == pytest.approx(log_loss(labels, table), rel=near)


@BOTH
def test_classes_lay_out_the_columns(function):
    other = function(K3, P3[:, [2, 0, 1]], classes=["c", "a", "b"])
    np.testing.assert_allclose(other, function(K3, P3), rtol=1e-14)
    wide = np.insert(P3, 1, 0.0, axis=1)
    found = function(K3, wide, classes=["a", "aa", "b", "c"])
    np.testing.assert_allclose(found, function(K3, P3), rtol=1e-14)


@BOTH
def test_positive_is_the_class_of_one_column(function):
    words = np.where(Y == 1, "yes", "no")
    wanted = function(Y, P)
    np.testing.assert_allclose(function(Y, np.stack([1 - P, P], axis=1)), wanted, atol=1e-14)
    np.testing.assert_array_equal(function(words, P, positive="yes"), wanted)
    np.testing.assert_array_equal(function(words, P, classes=["no", "yes"]), wanted)
    turned = function(words, 1 - P, classes=["no", "yes"], positive="no")
    np.testing.assert_allclose(turned, wanted, rtol=1e-12)


@BOTH
def test_several_models(function):
    one, two = function(Y, P), function(Y, P[::-1])
    np.testing.assert_array_equal(function(Y, np.array([P, P[::-1]])), [one, two])
    found = function(Y, {"m": P, "n": P[::-1]})
    assert list(found) == ["m", "n"]
    np.testing.assert_array_equal(list(found.values()), [one, two])
    found = function(Y, pd.DataFrame({"m": P, "n": P[::-1]}))
    np.testing.assert_array_equal(list(found.values()), [one, two])
    wide = np.stack([1 - P, P], axis=1)
    np.testing.assert_allclose(function(Y, np.array([wide, wide[::-1]])), [one, two])
    # A mapping may hold both shapes.
    found = function(Y, {"m": P, "n": wide})
    np.testing.assert_allclose(found["n"], one)


def test_a_probability_of_0_is_clipped_as_scikit_learn_does_and_said():
    with pytest.warns(UserWarning, match=r"for b \(2, to a loss of 36\.04\): such"):
        found = log_loss_values(Y, {"a": P, "b": [0.1, 0, 0, 0.2, 0.5, 0.5]})
    assert found["b"][1] == -np.log(np.finfo(np.float64).eps)
    with pytest.warns(UserWarning, match=r"to a loss of 15\.94"):
        log_loss_values([0, 1], np.float32([0.5, 0.0]))
    with pytest.warns(UserWarning, match=r"to a loss of 4\.605"):
        found = log_loss_values([0, 1], [0.5, 0.0], eps=0.01)
    assert found[1] == -np.log(0.01)
    with pytest.raises(ValueError, match="infinite for 1 items of probabilities, the first of th"):
        log_loss_values([0, 1], [0.5, 0.0], eps=0)
    np.testing.assert_array_equal(log_loss_values([0, 1], [0.5, 1.0], eps=0)[1], 0.0)


REFUSED = {
    "above 1": (Y, P + 0.3, {}, "one of probabilities is 1.1 for item 1"),
    "NaN": (Y, np.where(P == 0.7, np.nan, P), {}, "is missing for item 2"),
    "sums": (K3, P3 * 0.9, {}, "must add up to 1: .* item 0 add up to 0.9 .so for 4"),
    "classes": (K3, P3, {"classes": ["a", "b", "d"]}, "y_true holds 'c', which is not"),
    "too few classes": (K3[:2], P3[:2], {}, "has 3 columns for 2 classes"),
    "missing labels": ([0, None, 1], P[:3], {}, "y_true is missing for 1 of 3 .* 1:"),
    "three classes": (K3, P[:4], {}, "y_true must hold two classes, got 3"),
    "three names": (Y, P, {"classes": [0, 1, 2]}, "classes must be two"),
    "positive of columns": (K3, P3, {"positive": "a"}, "positive belongs to"),
}


@BOTH
@pytest.mark.parametrize("what", REFUSED)
def test_refused(function, what):
    labels, table, options, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        function(labels, table, **options)
    with pytest.raises(ValueError, match="has the classes as columns"):
        function(Y, pd.DataFrame({0: 1 - P, 1: P}))
