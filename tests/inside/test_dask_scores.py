"""The bins that Dask's blocks of scores are counted in, few and small."""

import numpy as np
import pytest
from dask_work import make_scores
from libraries import da

from fastcmp import auc
from fastcmp.scores import dask_areas


@pytest.mark.parametrize("room", [1000, 1 << 22, pytest.param(20, marks=pytest.mark.full)])
@pytest.mark.parametrize("order", ["drawn", "sorted"])
@pytest.mark.parametrize("light", [1, 1 << 12])
def test_scores_in_many_pieces(monkeypatch, room, order, light):
    pytest.importorskip("dask.array")
    # Bins are laid by few of the scores, and pieces are small: much is left to them.
    monkeypatch.setattr(dask_areas, "_RANGE", room)
    monkeypatch.setattr(dask_areas, "_LIGHT", light)
    monkeypatch.setattr(dask_areas, "_SAMPLE", 20)
    y_true, scores = make_scores(1, 5000)
    scores[1, ::3] = 0.0
    scores[1, 1::6] = -0.0
    scores[2, :9] = [np.inf, -np.inf, 0, np.inf, -np.inf, 1e38, -1e38, 1e-45, 0]
    if order == "sorted":
        rank = np.argsort(scores[2])
        y_true, scores = y_true[rank], scores[:, rank]
    areas = auc(da.from_array(y_true, chunks=400), da.from_array(scores, chunks=(3, 400)))
    np.testing.assert_array_equal(areas, auc(y_true, scores))
