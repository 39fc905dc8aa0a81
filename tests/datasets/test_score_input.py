"""Scores of models on tasks: read from all that holds them, or refused."""

import numpy as np
import pytest

from fastcmp import compare_datasets
from fastcmp.datasets import friedman, task_bootstrap, task_table

SCORES = [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]]


def read(scores, **options):
    found = compare_datasets(scores, **options)
    return found.names, found.tasks, found.scores.tolist()


def frame():
    import pandas as pd

    return pd.DataFrame(np.transpose(SCORES), columns=["a", "b"], index=["x", "y", "z"])


def losses():
    """A record of the losses of each fold."""
    folds = np.array(SCORES)[:, :, None, None] + np.array([-0.05, 0.05])
    return task_table(folds, names=list("ab"), tasks=list("xyz"), lower_is_better=True)


def made(kind):
    import polars as pl
    import pyarrow as pa

    columns = dict(zip("ab", SCORES, strict=True))
    return {
        "mapping": lambda: columns,
        "frame": frame,
        "series": lambda: {"a": frame()["a"], "b": frame()["b"]},
        "numbered": lambda: frame().reset_index(drop=True),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
    }[kind]()


@pytest.mark.parametrize("kind", ["mapping", "frame", "series", "numbered", "polars", "pyarrow"])
def test_models_and_tasks_have_names(kind):
    tasks = ("x", "y", "z") if kind in ("frame", "series") else ("task_0", "task_1", "task_2")
    assert read(made(kind)) == (("a", "b"), tasks, SCORES)


def test_rows_of_arrays_and_lists_are_models():
    for scores in (np.array(SCORES), SCORES, np.array(SCORES, np.float32)):
        found = read(scores, names=["a", "b"], tasks=["t", "u", "v"])
        assert found == (("a", "b"), ("t", "u", "v"), SCORES)
    assert read([range(1, 8), range(7, 0, -1)])[2][0][6] == 7


def test_records_know_which_way_is_better():
    known = compare_datasets(losses())
    assert (known.names, known.tasks) == (("a", "b"), ("x", "y", "z"))
    plain = compare_datasets(SCORES, lower_is_better=True)
    np.testing.assert_array_equal(known.ranks, plain.ranks)
    np.testing.assert_array_equal(
        known.ranks, compare_datasets(losses(), lower_is_better=True).ranks
    )
    assert known.pvalue == pytest.approx(plain.pvalue)
    assert not (known.ranks == compare_datasets(SCORES).ranks).all()
    gains = task_table(np.array(SCORES)[:, :, None, None] + [-0.05, 0.05])
    with pytest.raises(ValueError, match="lower_is_better must be False"):
        compare_datasets(gains, lower_is_better=True)


def test_missing_scores_are_refused():
    scores = [SCORES[0], [0.3, 0.1, None]]
    with pytest.raises(ValueError, match=r"model_1 on task_2; pass missing=.*2 of 3"):
        task_bootstrap(scores)
    with pytest.raises(ValueError, match=r"model_1 on task_2; leave models or tasks"):
        friedman(scores)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[0.1, 0.2]], {}, "at least 2 models, got 1"),
        ([[0.1], [0.2]], {}, "at least two tasks, got 1"),
        ([[0.1, None], [None, 0.3]], {"missing": "tasks"}, "at least two tasks that all 2 mod"),
        ([[0.1, 0.2], [0.1]], {}, "model_1 has 1, model_0 has 2"),
        ([[0.1, float("inf")], [0.2, 0.3]], {}, "got inf of model_0 on task_1"),
        ([[[0.1, 0.2]] * 3] * 2, {}, "average over folds"),
        ({"a": [[0.1, 0.2]] * 3, "b": [[0.1, 0.2]] * 3}, {}, "average over folds"),
        (SCORES, {"tasks": ["a", "b", "b"]}, r"tasks must .* \['b'\] more than once"),
    ],
)
def test_refusals(scores, options, message):
    with pytest.raises(ValueError, match=message):
        read(scores, **options)


def test_frames_that_are_refused():
    import pandas as pd

    for scores, message in (
        (pd.DataFrame({"id": range(7), "a": [0.5] * 7}), "id counts from 0 to 6"),
        (pd.concat([frame(), frame()["a"]], axis=1), r"\['a'\] more than once"),
        ({"a": frame()["a"], "b": frame()["b"][::-1]}, "in another order"),
        (frame().reset_index().assign(source="csv"), "its only column of text, or tasks="),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            read(scores)


@pytest.mark.parametrize("kind", ["mapping", "frame", "category", "polars", "pyarrow"])
def test_a_column_with_the_names_of_the_data_sets(kind):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    make = {
        "mapping": dict,
        "frame": lambda data: pd.DataFrame(data, index=range(5, 8)),
        "category": lambda data: pd.DataFrame(data).astype({"dataset": "category"}),
        "polars": pl.DataFrame,
        "pyarrow": pa.table,
    }[kind]
    data = {"dataset": ["iris", "wine", "yeast"], "a": [0.9, 0.8, 0.7], "b": [0.8, 0.9, 0.6]}
    assert read(make(data)) == (("a", "b"), ("iris", "wine", "yeast"), [data["a"], data["b"]])
    with pytest.raises(ValueError, match=r"tasks must .*'iris'\] more than once"):
        read(make(data | {"dataset": ["iris", "iris", "yeast"]}))
    assert read(make(data), names=["x", "y"])[0] == ("x", "y")
