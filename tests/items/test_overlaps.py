"""Overlaps of masks, against scikit-learn's F1 of each image."""

import numpy as np
import pytest

from fastcmp import compare_means, dice_values


def test_each_image_has_the_f1_of_its_pixels():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(1)
    truth = rng.random((9, 6, 5)) < rng.random((9, 1, 1))
    masks = np.stack([truth ^ (rng.random(truth.shape) < x) for x in (0.1, 0.3)])
    found = dice_values(truth, masks)
    for values, model in zip(found, masks, strict=True):
        wanted = [f1_score(t.ravel(), p.ravel()) for t, p in zip(truth, model, strict=True)]
        assert values == pytest.approx(wanted)
    named = dice_values(truth.tolist(), {"a": masks[0].astype(float), "b": masks[1]})
    assert np.array_equal([*named.values()], found)
    assert compare_means(named).best == ("a",)


def test_two_empty_masks_agree_unless_left_out():
    truth, masks = np.zeros((2, 4), bool), np.zeros((1, 2, 4), bool)
    truth[1, 0] = True
    assert dice_values(truth, masks).tolist() == [[1.0, 0.0]]
    left_out = dice_values(truth, masks, empty=np.nan)
    assert np.isnan(left_out[0, 0])
    assert left_out[0, 1] == 0.0
