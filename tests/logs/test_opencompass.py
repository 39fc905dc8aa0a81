"""OpenCompass: which answers are right is in results, where details were dumped."""

import json

import numpy as np
import pytest
from log_parts import parts_in

pytestmark = pytest.mark.filterwarnings("ignore:.*by the run's own account")


def write(folder, name, details, kind="results", **others):
    path = folder / kind / "m" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"accuracy": 50.0, "details": details} | others))
    return path


def test_details_by_number_and_replicas(tmp_path):
    details = {
        "type": "GEN",
        "0": {"is_correct": True},
        "1": {"correct": [True, False], "answer": ["x", "x"]},
    }
    write(tmp_path, "toy", details)
    (part,) = parts_in("opencompass", tmp_path)
    assert part.items == ["0", "1", "1"]
    assert part.repeats == [0, 0, 1]
    assert part.values.tolist() == [1, 1, 0]


def test_parts_of_a_data_set(tmp_path):
    for i in range(11):
        write(tmp_path, f"toy_{i}", {"0": {"correct": i % 2 == 0}})
    write(tmp_path, "other_3", {"0": {"correct": True}})
    parts = {part.task: part for part in parts_in("opencompass", tmp_path)}
    assert set(parts) == {"toy", "other_3"}
    assert parts["toy"].items == ["0", *(f"{i}:0" for i in range(1, 11))]
    np.testing.assert_array_equal(parts["toy"].values, 1 - np.arange(11) % 2)


def test_a_data_set_without_details_may_be_left_out(tmp_path):
    write(tmp_path, "toy", {"0": {"correct": True}})
    path = write(tmp_path, "other", None)
    path.write_text('{"accuracy": 50.0}')
    with pytest.raises(ValueError, match="does not say which answers are right"):
        parts_in("opencompass", tmp_path)
    (part,) = parts_in("opencompass", tmp_path, task="toy")
    assert part.task == "toy"


def test_what_is_refused(tmp_path):
    for details, match in (
        ([{"pred": 1}], "item 0 hold neither 'correct' nor 'is_correct'"),
        ([], "no details of items"),
        ([{"example_abbr": "a", "correct": True}] * 2, "has item a twice"),
        ([{"correct": "maybe"}], "'maybe'"),
    ):
        write(tmp_path, "toy", details)
        with pytest.raises(ValueError, match=match):
            parts_in("opencompass", tmp_path)
