"""Wide tables: numbers by columns are values only where the user says so."""

import pytest
from log_parts import FORMATS, parts_in


def test_it_must_be_said_that_numbers_are_values():
    with pytest.raises(ValueError, match=r"values=True.*y_true"):
        parts_in("wide", FORMATS / "wide_values")


def test_true_labels_are_no_values(tmp_path):
    (tmp_path / "a.csv").write_text("id,y_true,a,b\n1,0,1,0\n")
    with pytest.raises(ValueError, match="column 'y_true', true labels"):
        parts_in("wide", tmp_path, values=True)


def test_what_is_known_of_items(tmp_path):
    text = "item,task,cluster,a,b\nx,t,p,1,\ny,t,p,0,1\nz,u,q,1,true\n"
    (tmp_path / "a.csv").write_text(text)
    parts = parts_in("wide", tmp_path, values=True)
    assert [(part.model, part.task) for part in parts] == [
        *(("a", "t"), ("a", "u"), ("b", "t"), ("b", "u"))
    ]
    assert parts[2].items == ["x", "y"]
    assert parts[2].clusters == ["p", "p"]
    assert parts[2].status == [2, 0]


def test_rows_without_items_are_numbered_in_one_file_alone(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    (part, _) = parts_in("wide", tmp_path, values=True)
    assert part.items == ["0", "1"]
    assert "no column of items" in part.said
    (tmp_path / "b.csv").write_text("c,d\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="no column of items, by which several"):
        parts_in("wide", tmp_path, values=True)


def test_a_table_of_models_by_data_sets(tmp_path):
    (tmp_path / "a.csv").write_text("dataset,tree,forest\np,0.5,0.6\nq,0.7,0.8\n")
    parts = parts_in("wide", tmp_path, values=True)
    assert [(part.model, part.items, part.unit) for part in parts] == [
        *(("tree", ["p", "q"], "task"), ("forest", ["p", "q"], "task"))
    ]
