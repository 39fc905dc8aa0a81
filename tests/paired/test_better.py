"""One sign and one better model, whatever the record of two models."""

import numpy as np
import pytest

from fastcmp import (
    accuracy_unpaired_from_counts,
    compare_labels,
    cost_test_from_counts,
    mcnemar_from_counts,
)

COST = [[0, 1], [5, 0]]
CELLS = [[[77, 12], [9, 24]], [[8, 11], [5, 69]]]


@pytest.mark.parametrize("cost", [None, COST], ids=["accuracy", "cost"])
def test_one_sign_for_one_question(cost):
    tables = {"both_right": 40, "both_wrong": 8}
    counts = [[[40, 11], [1, 8]], [[0, 0], [0, 0]]]
    single = mcnemar_from_counts(11, 1, **tables)
    if cost:
        single = cost_test_from_counts(counts, cost)
    cells = np.repeat(np.indices((2, 2)).reshape(2, -1), [40, 11, 1, 8], axis=1)
    both = compare_labels(np.zeros(60, int), *cells, classes=[0, 1], cost=cost)
    assert both.difference == single.difference
    assert both.measure == single.measure == ("cost" if cost else "accuracy")
    assert both.better == single.better == "a"
    assert (both.difference < 0) == (cost is not None)
    assert both.interval == single.confidence_interval(0.95)


def test_who_did_better_in_arrays():
    pairs = mcnemar_from_counts([3, 1, 2], [1, 3, 2])
    assert pairs.better.tolist() == ["a", "b", None]
    unpaired = accuracy_unpaired_from_counts([3, 1, 2], 4, [1, 3, 2], 4)
    assert unpaired.better.tolist() == ["a", "b", None]
    cells = [CELLS, np.swapaxes(CELLS, 1, 2)]
    assert cost_test_from_counts(cells, COST).better.tolist() == ["b", "a"]
