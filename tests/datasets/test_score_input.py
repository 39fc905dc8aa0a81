"""Scores of models on tasks: read from all that holds them, or refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastcmp
from fastcmp.core.protocols import ScoreTable
from fastcmp.datasets import friedman, task_bootstrap
from fastcmp.datasets.score_input import higher_is_better, read_scores

SCORES = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]])
FRAME = pd.DataFrame(SCORES.T, columns=["a", "b"], index=["x", "y", "z"])


class Results:
    def __init__(self, lower=False):
        self.lower = lower

    def task_scores(self):
        return ScoreTable(("a", "b"), ("x", "y", "z"), SCORES, self.lower)


@pytest.mark.parametrize(
    ("scores", "tasks"),
    [
        (dict(zip("ab", SCORES, strict=True)), ("task_0", "task_1", "task_2")),
        (FRAME, ("x", "y", "z")),
        ({"a": FRAME["a"], "b": FRAME["b"]}, ("x", "y", "z")),
        (FRAME.reset_index(drop=True), ("task_0", "task_1", "task_2")),
        (pl.DataFrame(SCORES.T, schema=["a", "b"]), ("task_0", "task_1", "task_2")),
        (pa.table({"a": SCORES[0], "b": SCORES[1]}), ("task_0", "task_1", "task_2")),
        (Results(), ("x", "y", "z")),
    ],
)
def test_models_and_tasks_have_names(scores, tasks):
    table = read_scores(scores)
    assert table.names == ("a", "b")
    assert table.tasks == tasks
    assert np.array_equal(table.scores, SCORES)


def test_rows_of_arrays_and_lists_are_models():
    for scores in (SCORES, SCORES.tolist(), [list(row) for row in SCORES]):
        table = read_scores(scores, ["a", "b"], ["t", "u", "v"])
        assert (table.names, table.tasks) == (("a", "b"), ("t", "u", "v"))
        assert np.array_equal(table.scores, SCORES)


def test_whole_numbers_that_count_up_are_scores():
    assert read_scores([range(1, 8), range(7, 0, -1)]).scores[0, 6] == 7


def test_signs():
    assert np.array_equal(higher_is_better(read_scores(SCORES, lower_is_better=True)), -SCORES)
    assert np.array_equal(higher_is_better(read_scores(Results(lower=True))), -SCORES)
    assert np.array_equal(
        higher_is_better(read_scores(Results(lower=True), lower_is_better=True)), -SCORES
    )
    with pytest.raises(ValueError, match="lower_is_better must be False"):
        read_scores(Results(), lower_is_better=True)


def test_missing_scores_are_kept_or_refused():
    scores = SCORES.copy()
    scores[1, 2] = np.nan
    assert np.isnan(read_scores(scores).scores[1, 2])
    with pytest.raises(ValueError, match=r"model_1 on task_2; pass missing=.*2 of 3"):
        task_bootstrap(scores)
    with pytest.raises(ValueError, match=r"model_1 on task_2; leave models or tasks"):
        friedman(scores)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[0.1, 0.2]], {}, "at least 2 models, got 1"),
        ([[0.1], [0.2]], {}, "at least two tasks, got 1"),
        ([[0.1, 0.2], [0.1]], {}, "model_1 has 1, model_0 has 2"),
        ([[0.1, np.inf], [0.2, 0.3]], {}, "got inf of model_0 on task_1"),
        (np.zeros((2, 3, 4)), {}, "average over folds"),
        (np.zeros((2, 3, 4)).tolist(), {}, "average over folds"),
        (dict.fromkeys("ab", np.zeros((3, 4))), {}, "average over folds"),
        (pd.DataFrame({"id": range(7), "a": [0.5] * 7}), {}, "id counts from 0 to 6"),
        (np.zeros(3), {}, r"must be of shape"),
        (SCORES, {"names": ["a", "a"]}, "more than once"),
        (SCORES, {"names": ["a"]}, "each of the 2 models"),
        (SCORES, {"tasks": ["a", "b", "b"]}, r"tasks must .* \['b'\] more than once"),
        (SCORES, {"tasks": ["a"]}, "each of the 3 tasks"),
        (pd.concat([FRAME, FRAME["a"]], axis=1), {}, r"\['a'\] more than once"),
        ({"a": FRAME["a"], "b": FRAME["b"][::-1]}, {}, "in another order"),
    ],
)
def test_refusals(scores, options, message):
    with pytest.raises(ValueError, match=message):
        read_scores(scores, **options)


@pytest.mark.parametrize("scores", [[["a", "b"], ["c", "d"]], "scores", {"a": 1}])
def test_no_numbers(scores):
    with pytest.raises((TypeError, ValueError), match=r"scores|model_0"):
        read_scores(scores)
    with pytest.raises(TypeError, match="index of a frame, its only column of text, or tasks="):
        read_scores(FRAME.reset_index().assign(source="csv"))
    with pytest.raises(TypeError, match="tasks must be a sequence"):
        read_scores(SCORES, tasks="abc")


def test_single_precision_holds_the_decimals_written():
    assert np.array_equal(read_scores(SCORES.astype(np.float32)).scores, SCORES)


@pytest.mark.parametrize(
    "library",
    [
        dict,
        pd.DataFrame,
        lambda data: pd.DataFrame(data, index=range(5, 8)),
        lambda data: pd.DataFrame(data).astype({"dataset": "category"}),
        pl.DataFrame,
        pa.table,
    ],
)
def test_a_column_with_the_names_of_the_data_sets(library):
    data = {"dataset": ["iris", "wine", "yeast"], "a": [0.9, 0.8, 0.7], "b": [0.8, 0.9, 0.6]}
    table = read_scores(library(data))
    assert table.names == ("a", "b")
    assert table.tasks == ("iris", "wine", "yeast")
    assert table.scores.tolist() == [data["a"], data["b"]]
    found = fastcmp.compare_datasets(library(data))
    assert found.names == ("a", "b")
    with pytest.raises(ValueError, match=r"tasks must .*'iris'\] more than once"):
        read_scores(library(data | {"dataset": ["iris", "iris", "yeast"]}))
    assert read_scores(library(data), names=["x", "y"]).names == ("x", "y")
