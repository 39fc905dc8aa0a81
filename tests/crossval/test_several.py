"""Cross-validation on several data sets: one path, seeds, checkpoints, saved scores."""

from functools import cache

import numpy as np
import pytest

import fastcmp
from fastcmp import compare_cv_all, compare_folds, designs, fold_test


def draw(seed, n=40):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + y[:, None], y


@cache
def data():
    return {"one": draw(1), "two": draw(2), "three": draw(3, 50)}


def models(max_depth=None):
    from cv_models import NB
    from sklearn.tree import DecisionTreeClassifier

    stump, tree = (DecisionTreeClassifier(max_depth=depth) for depth in (1, max_depth))
    return {"bayes": NB, "stump": stump, "tree": tree}


def compare(seed=5, **change):
    """The models on all data sets, or on others, with other options."""
    design = designs.repeated_kfold(2, 3, rng=seed)
    options = {"models": models(), "X": data(), "test": "bouckaert-frank-t", "design": design}
    return compare_cv_all(**options | {"rng": 3} | change)


@pytest.fixture(scope="module")
def several():
    return compare()


def test_each_data_set_is_compared_as_alone(several):
    for name, (X, y) in data().items():
        found = several.results[name]
        assert found == compare(X=X, y=y, rng=found.seed)
    assert several.names == ("bayes", "stump", "tree")
    assert several.tasks == tuple(data())
    assert several.seed == 3
    two, seen = data()["two"], []
    alone = compare(X={"two": two}, progress=lambda *steps: seen.append(steps))
    assert alone.results["two"] == several.results["two"]
    assert compare(X={"2": two}).results["2"].seed != several.results["two"].seed
    assert seen == [(done, 18) for done in range(1, 19)]


def test_one_score_for_each_data_set(several):
    names, tasks, scores, lower = several.task_scores()
    assert (names, tasks, lower) == (several.names, several.tasks, False)
    for row, name in zip(scores.T, tasks, strict=True):
        assert np.array_equal(row, several.results[name].score)
    folds, *_, ratio = several.fold_table()
    assert folds.shape == (3, 3, 2, 3)
    assert np.allclose(ratio, 1 / 2)
    table = several.task_table(baseline="tree")
    for t, result in enumerate(several.results.values()):
        assert np.allclose(table.pvalue[:, t], result.pvalue)
    assert (table.tasks, table.baseline) == (several.tasks, "tree")
    found = several.over_datasets(alpha=0.1)
    assert found == fastcmp.compare_datasets(several, alpha=0.1)
    assert "folds are no data sets" in " ".join(str(several).split())


# Checkpoints.


def test_finished_data_sets_are_not_fitted_again(tmp_path):
    from cv_models import DONE, NB, Watched

    def fits(**change):
        DONE.clear()
        found = compare(**{"models": {"bayes": NB, "counted": Watched()}} | change)
        return found, len(DONE.get("a", ()))

    broken = {**data(), "three": (data()["three"][0], np.zeros(50))}
    with pytest.raises(ValueError, match="data set 'three': y must have at least 2"):
        fits(X=broken, checkpoint=tmp_path)
    assert len(DONE["a"]) == 12
    resumed, n_fits = fits(checkpoint=tmp_path)
    assert n_fits == 6
    assert resumed == fits()[0]
    again, n_fits = fits(checkpoint=str(tmp_path), alpha=0.1, adjust="bh")
    assert (n_fits, again.results["one"].adjust) == (0, "bh")
    assert again.results["one"].runs == resumed.results["one"].runs


@pytest.mark.parametrize("key", ["seed", "scoring", "designs", "models", "data", "groups"])
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, key):
    one = {"X": {"one": data()["one"]}, "checkpoint": tmp_path}
    compare(**one)
    change = {
        "seed": {"rng": 4},
        "scoring": {"scoring": "f1_macro"},
        "designs": {"seed": 6},
        "models": {"models": models(max_depth=2)},
        "data": {"X": {"one": draw(9)}},
        "groups": {"groups": {"one": np.arange(40) // 2}},
    }[key]
    key = "data" if key == "groups" else key
    with pytest.raises(ValueError, match=rf"fastcmp was made with other {key}"):
        compare(**one | change)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    call = {"X": {"a/b": data()["one"]}, "checkpoint": tmp_path}
    compare(**call)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="is damaged"):
        compare(**call)
    with pytest.raises(ValueError, match="must be a folder"):
        compare(**call | {"checkpoint": file})


def test_wrong_data_sets_are_refused():
    X, y = data()["one"]
    for change, words in (
        ({"X": X}, "y must be given"),
        ({"X": {}}, "at least one data set"),
        ({"X": {"one": X}}, "pair .X, y. for each data set"),
        ({"y": y}, "one data set where y is given"),
        ({"groups": np.arange(40)}, "groups must be a mapping"),
        ({"groups": {"other": np.arange(40)}}, "groups must be of the data sets"),
        ({"X": X, "y": y, "checkpoint": "here"}, "checkpoint is for several"),
        ({"models": {"a": object(), "b": models()["bayes"]}}, "'a'"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            compare(**change)


# Saved scores.


def test_saved_scores_are_compared_as_fitted_ones(several):
    one = several.results["one"]
    saved = compare_folds(dict(zip(one.names, one.fold_scores, strict=True)))
    for field in ("pvalue", "statistic", "pvalue_adjusted", "difference"):
        assert np.allclose(getattr(saved, field), getattr(one, field), atol=1e-15)
    assert np.allclose(saved.interval, one.interval)
    assert saved.best == one.best
    tables = {name: x.fold_scores for name, x in several.results.items()}
    again = compare_folds(tables)
    assert np.allclose(again.scores, several.scores)
    assert again.tasks == several.tasks
    named = {"x": {"a": [[1, 2, 3]], "b": [[2, 2, 2]]}, "y": {"b": [[5, 5, 6]], "a": [[1, 3, 2]]}}
    assert compare_folds(named).scores.tolist() == [[2, 2], [2, 16 / 3]]
    uneven = compare_folds({"x": np.eye(3)[:2][:, None], "y": np.eye(4)[:2][:, None]})
    with pytest.raises(ValueError, match="different repetitions and folds"):
        uneven.task_table()


def test_splits_are_nadeau_and_bengios_test():
    splits = np.random.default_rng(1).normal(size=(3, 7))
    with pytest.raises(ValueError, match="test_train_ratio must be given"):
        compare_folds(splits)
    result = compare_folds(splits, test_train_ratio=0.25, control=1)
    alone = fold_test(splits[1] - splits[[0, 2]], "nadeau-bengio-t", n_train=4, n_test=1)
    assert np.allclose(result.pvalue, alone.pvalue)
    assert result.control == "model_1"


@pytest.fixture(scope="module")
def search():
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}
    tree, scoring = DecisionTreeClassifier(random_state=1), ["accuracy", "f1"]
    made = GridSearchCV(tree, grid, scoring=scoring, cv=5, refit=False)
    return made.fit(*draw(7, 80)).cv_results_


def test_the_models_of_a_search(search):
    import pandas as pd

    frame = compare_folds(pd.DataFrame(search), metric="f1", test_train_ratio=1 / 4)
    result = compare_folds(search, metric="f1", test_train_ratio=1 / 4)
    wanted = np.stack([search[f"split{k}_test_f1"] for k in range(5)], axis=1)
    assert np.array_equal(result.fold_scores[:, 0], wanted)
    assert result == frame
    assert result.names[0] == "criterion=gini, max_depth=1"
    assert np.allclose(result.score, search["mean_test_f1"])
    with pytest.raises(ValueError, match=r"metric must be one of \['accuracy', 'f1'\]"):
        compare_folds(search, test_train_ratio=1 / 4)
    with pytest.raises(ValueError, match="test_train_ratio must be given"):
        compare_folds(search, metric="f1")


def test_the_answers_of_cross_validate():
    from sklearn.model_selection import cross_validate

    one = data()["one"]
    found = {name: cross_validate(model, *one, cv=4) for name, model in models().items()}
    result = compare_folds(found, test_train_ratio=1 / 3)
    wanted = np.stack([each["test_score"] for each in found.values()])
    assert np.array_equal(result.fold_scores[:, 0], wanted)
    several = compare_folds({"x": found, "y": found}, test_train_ratio=1 / 3)
    assert several.tasks == ("x", "y")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"a": [1, 2, 3], "b": [1, float("nan"), 2]}, "nan for b in fold 1"),
        ({"a": [1, 2, 3], "b": [1, 2]}, "same folds for all models"),
        ({"a": [1, 2, 3]}, "at least 2 models"),
        ({"params": [{}, {}], "split0_test_s": [1, 2]}, "more than once"),
        (np.zeros((2, 3, 4, 5)), "task_table"),
        ({"x": np.zeros((2, 2, 3)), "y": np.zeros((3, 2, 3))}, "same models on all data sets"),
    ],
)
def test_wrong_scores_are_refused(scores, words):
    with pytest.raises((TypeError, ValueError), match=words):
        compare_folds(scores, test_train_ratio=0.5)
