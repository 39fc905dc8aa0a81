"""Battles: who won, however it is spelled."""

import json

import pytest
from libraries import pd
from log_parts import FORMATS, parts_in

from fastcmp import read_battles

WINNERS = {
    1.0: ["model_a", "a", "A", "left", "large", "Model_A"],
    0.0: ["model_b", "b", "B", "right", "small", "RIGHT"],
    0.5: ["tie", "Tie", "draw", "tie (bothbad)", "both bad", "bothbad", "tie (both bad)"],
}


def battle(winner, **others):
    return {"model_a": "large", "model_b": "small", "winner": winner} | others


def test_all_spellings(tmp_path):
    rows, path = [battle(name) for names in WINNERS.values() for name in names], tmp_path / "x.json"
    path.write_text(json.dumps(rows, indent=1))
    expected = [value for value, names in WINNERS.items() for _ in names]
    assert read_battles(path)["result"].tolist() == expected


def test_what_is_read_is_read_again(tmp_path):
    first = read_battles(FORMATS / "battles" / "battles.csv")
    pd.DataFrame(first).to_csv(tmp_path / "again.csv", index=False)
    again = read_battles(str(tmp_path / "again.csv"))
    assert {k: v.tolist() for k, v in again.items()} == {k: v.tolist() for k, v in first.items()}


def test_what_is_refused(tmp_path):
    path = tmp_path / "battles.jsonl"
    for rows, match in (
        ([battle("tie"), battle("nobody")], "'nobody' in row 1 is neither"),
        ([battle(None)], "column 'winner' is empty"),
        ([battle("tie", model_b="large")], "large meets itself in row 0"),
        ([battle("a", model_b="a")], "'a' in row 0 may mean more than one thing"),
        ([battle("tie", weight=0)], "weights must be above 0, got 0.0 in row 0"),
        ([{"model_a": "x", "winner": "tie"}], "must have the columns model_a, model_b"),
        ([{"model_a": "x", "model_b": "y", "result": 2}], "must be 1, 0.5 or 0, got 2"),
    ):
        path.write_text("\n".join(map(json.dumps, rows)))
        with pytest.raises(ValueError, match=match) as caught:
            read_battles(path)
        assert str(caught.value).startswith(str(path))


def test_battles_are_no_values():
    with pytest.raises(ValueError, match="bradley_terry_from_battles"):
        parts_in("battles", FORMATS / "battles")
