"""Scores of scikit-learn by split."""

import json

import numpy as np
import pytest
from cases import refuses
from libraries import pd, sklearn
from log_parts import parts_in


@pytest.fixture(scope="module")
def iris():
    return sklearn.datasets.load_iris(return_X_y=True)


def test_what_cross_validate_gives(iris, tmp_path):
    scores = sklearn.model_selection.cross_validate(
        sklearn.tree.DecisionTreeClassifier(max_depth=1), *iris, scoring=["accuracy", "f1_macro"]
    )
    pd.DataFrame(scores).to_csv(tmp_path / "table.csv")
    lists = {name: column.tolist() for name, column in scores.items()}
    (tmp_path / "tree.json").write_text(json.dumps(lists))
    pd.DataFrame(scores).to_json(tmp_path / "frame.json")
    parts = parts_in("scikit_learn", tmp_path)
    assert [part.model for part in parts] == ["frame"] * 2 + ["table"] * 2 + ["tree"] * 2
    for part in parts:
        np.testing.assert_allclose(part.values, scores[part.metric], rtol=1e-9)
    assert {part.metric for part in parts} == {"test_accuracy", "test_f1_macro"}


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_what_a_search_gives(iris, tmp_path, suffix):
    grid = sklearn.model_selection.GridSearchCV(
        sklearn.tree.DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=11
    )
    found = grid.fit(*iris).cv_results_
    path = tmp_path / f"search.{suffix}"
    frame = pd.DataFrame(found)
    frame.to_csv(path) if suffix == "csv" else frame.to_json(path)
    parts = parts_in("scikit_learn", path)
    assert [part.model for part in parts] == [f"{{'max_depth': {i}}}" for i in (1, 2)]
    for i, part in enumerate(parts):
        assert part.items == list(range(11))
        expected = [found[f"split{k}_test_score"][i] for k in range(11)]
        np.testing.assert_allclose(part.values, expected, rtol=1e-9)


def test_failed_fits_and_settings_twice(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("fit_time,score_time,test_score\n1,1,0.5\n1,1,\n")
    (part,) = parts_in("scikit_learn", path)
    assert part.status == [0, 1]
    refuses(ValueError, "the fit failed", parts_in, "scikit_learn", path, errors="raise")
    path.write_text("params,split0_test_score\n{},1\n{},2\n")
    refuses(ValueError, r"parameters \{\} twice", parts_in, "scikit_learn", path)
    path = tmp_path / "b.json"
    path.write_text('{"fit_time": [1], "score_time": [1], "test_score": 3}')
    refuses(ValueError, "'test_score' must be a list, got 3", parts_in, "scikit_learn", path)
