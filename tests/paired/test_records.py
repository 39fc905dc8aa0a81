"""What all records of two models have in common."""

import json

import numpy as np
import pytest

from fastcmp import (
    accuracy_unpaired_from_counts,
    bowker_from_counts,
    compare_labels,
    cost_test_from_counts,
    from_dict,
    mcnemar_from_counts,
    stuart_maxwell_from_counts,
)

COST = [[0, 1], [5, 0]]
CELLS = [[[77, 12], [9, 24]], [[8, 11], [5, 69]]]
TABLE = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]
FOUR = {"both_right": [40, 4], "both_wrong": [8, 0]}
Y, A, B = (np.arange(90) // k % 3 for k in (30, 29, 23))
METHODS = ("midp", "exact", "asymptotic", "corrected", "unconditional")

#: Records, with the number of tests that each holds.
RECORDS = {
    **{
        f"mcnemar {method} {alternative}": (
            mcnemar_from_counts([11, 3], [1, 3], method=method, alternative=alternative, **FOUR),
            2,
        )
        for method in METHODS
        for alternative in ("two-sided", "greater", "less")
    },
    "discordant counts": (mcnemar_from_counts(11, 1), 1),
    "nothing": (mcnemar_from_counts(0, 0, both_right=0, both_wrong=0), 1),
    "costs": (cost_test_from_counts([CELLS, np.zeros((2, 2, 2), int)], COST), 2),
    "hold-out": (compare_labels(Y, A, B, names=("tree", "svm")), 1),
    "one-sided": (compare_labels(Y, A, B, method="asymptotic", alternative="less"), 1),
    "bowker": (bowker_from_counts(TABLE), 1),
    "stuart-maxwell": (stuart_maxwell_from_counts(TABLE), 1),
    "unpaired": (accuracy_unpaired_from_counts([56, 9, 3], 70, 48, 80), 3),
}


@pytest.fixture(params=RECORDS.values(), ids=RECORDS)
def record_and_size(request):
    return request.param


def test_json_and_back(record_and_size):
    record, _ = record_and_size
    written = json.dumps(record.to_dict(), allow_nan=False)
    assert from_dict(json.loads(written)) == record


def test_printing(record_and_size):
    record, _ = record_and_size
    assert len(repr(record).splitlines()) == 1
    assert len(repr(record)) < 260
    assert max(map(len, str(record).splitlines())) <= 80
    assert str(record).split() == record.summary().split()


def test_frames(record_and_size):
    record, size = record_and_size
    frame = record.to_frame()
    assert len(frame) == size
    assert frame["pvalue"].tolist() == pytest.approx(np.ravel(record.pvalue).tolist(), nan_ok=True)
    assert set(frame["distribution"]) == {record.distribution}


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
