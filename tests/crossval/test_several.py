"""Cross-validation on several data sets: one path, seeds, checkpoints, saved scores."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import fastcmp
from fastcmp import compare_cv_all, compare_folds, designs, nadeau_bengio_t
from fastcmp.core.protocols import are_task_scores
from fastcmp.crossval.several import seed_of


def draw(seed, n=40):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + y[:, None], y


DATA = {"one": draw(1), "two": draw(2), "three": draw(3, 50)}
MODELS = {
    "bayes": GaussianNB(),
    "stump": DecisionTreeClassifier(max_depth=1),
    "tree": DecisionTreeClassifier(),
}
DESIGN = designs.repeated_kfold(2, 3, rng=5)
OPTIONS = {"test": "bouckaert-frank-t", "design": DESIGN, "rng": 3}


@pytest.fixture(scope="module")
def several():
    return compare_cv_all(MODELS, DATA, **OPTIONS)


class Counted(GaussianNB):
    """A classifier that counts its fits."""

    fits = 0

    def fit(self, X, y):
        Counted.fits += 1
        return super().fit(X, y)


def test_each_data_set_is_compared_as_alone(several):
    for name, (X, y) in DATA.items():
        alone = compare_cv_all(MODELS, X, y, **OPTIONS | {"rng": seed_of(3, name)})
        assert several.results[name] == alone
    assert several.names == tuple(MODELS)
    assert several.tasks == tuple(DATA)
    assert several.seed == 3


def test_seeds_do_not_depend_on_the_other_data_sets(several):
    fewer = compare_cv_all(MODELS, {"two": DATA["two"]}, **OPTIONS)
    assert fewer.results["two"] == several.results["two"]
    default = compare_cv_all(MODELS, {"two": DATA["two"]}, rng=3)
    other = compare_cv_all(MODELS, {"2": DATA["two"]}, rng=3)
    assert default.results["two"] != other.results["2"]


def test_one_score_for_each_data_set(several):
    assert are_task_scores(several)
    names, tasks, scores, lower = several.task_scores()
    assert (names, tasks, lower) == (several.names, several.tasks, False)
    for row, name in zip(scores.T, tasks, strict=True):
        assert np.array_equal(row, several.results[name].score)
    folds, *_, ratio = several.fold_table()
    assert folds.shape == (3, 3, 2, 3)
    assert np.allclose(ratio, 1 / 2)


def test_the_marked_table_has_the_tests_of_each_data_set(several):
    table = several.task_table(baseline="tree")
    for t, result in enumerate(several.results.values()):
        assert np.allclose(table.pvalue[:, t], result.pvalue)
    assert table.tasks == several.tasks
    assert table.baseline == "tree"


def test_over_data_sets_one_score_for_each_is_compared(several, monkeypatch):
    def compare(scores, **options):
        return scores.task_scores(), options

    monkeypatch.setattr(fastcmp, "compare_datasets", compare)
    found, options = several.over_datasets(alpha=0.1)
    assert np.array_equal(found.scores, several.scores)
    assert options == {"alpha": 0.1}


def test_folds_are_no_data_sets(several):
    assert several.over_datasets().scores.shape == (3, 3)
    assert "folds are no data sets" in " ".join(str(several).split())


def test_the_ratio_of_random_splits():
    design = designs.repeated_holdout(4, test_size=0.25, rng=1)
    result = compare_cv_all(MODELS, *DATA["one"], test="resampled-t", design=design)
    assert np.isclose(result.test_train_ratio, 10 / 30)
    assert result.fold_scores.shape == (3, 4, 1)


# Checkpoints.


def test_finished_data_sets_are_not_fitted_again(tmp_path, several):
    models = {"bayes": GaussianNB(), "counted": Counted()}
    broken = {**DATA, "three": (DATA["three"][0], np.zeros(50))}
    Counted.fits = 0
    with pytest.raises(ValueError, match="data set 'three': y must have at least 2"):
        compare_cv_all(models, broken, checkpoint=tmp_path, **OPTIONS)
    assert Counted.fits == 12
    resumed = compare_cv_all(models, DATA, checkpoint=tmp_path, **OPTIONS)
    assert Counted.fits == 18
    assert resumed == compare_cv_all(models, DATA, **OPTIONS)
    Counted.fits = 0
    seen = []
    again = compare_cv_all(
        *(models, DATA),
        checkpoint=str(tmp_path),
        alpha=0.1,
        adjust="bh",
        progress=lambda *steps: seen.append(steps),
        **OPTIONS,
    )
    assert (Counted.fits, again.results["one"].adjust) == (0, "bh")
    assert again.results["one"].runs == resumed.results["one"].runs


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"rng": 4}, "seed"),
        ({"scoring": "f1_macro"}, "scoring"),
        ({"design": designs.repeated_kfold(2, 3, rng=6)}, "designs"),
        ({"models": {**MODELS, "tree": DecisionTreeClassifier(max_depth=2)}}, "models"),
        ({"X": {"one": draw(9)}}, "data"),
        ({"groups": {"one": np.arange(40) // 2}}, "data"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, change, key):
    call = {"models": MODELS, "X": {"one": DATA["one"]}, "checkpoint": tmp_path}
    compare_cv_all(**call, **OPTIONS)
    with pytest.raises(ValueError, match=rf"fastcmp was made with other {key}"):
        compare_cv_all(**call | OPTIONS | change)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    call = {"models": MODELS, "X": {"a/b": DATA["one"]}, "checkpoint": tmp_path}
    compare_cv_all(**call, **OPTIONS)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="is damaged"):
        compare_cv_all(**call, **OPTIONS)
    with pytest.raises(ValueError, match="must be a folder"):
        compare_cv_all(**call | {"checkpoint": file}, **OPTIONS)


def test_progress_is_of_all_data_sets():
    seen = []
    compare_cv_all(*(MODELS, DATA), progress=lambda *steps: seen.append(steps), **OPTIONS)
    assert seen[-1] == (54, 54)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": DATA["one"][0]}, "y must be given"),
        ({"X": {}}, "at least one data set"),
        ({"X": {"one": DATA["one"][0]}}, "pair .X, y. for each data set"),
        ({"y": DATA["one"][1]}, "one data set where y is given"),
        ({"groups": np.arange(40)}, "groups must be a mapping"),
        ({"groups": {"other": np.arange(40)}}, "groups must be of the data sets"),
    ],
)
def test_wrong_data_sets_are_refused(change, words):
    with pytest.raises((TypeError, ValueError), match=words):
        compare_cv_all(**{"models": MODELS, "X": DATA} | OPTIONS | change)


def test_a_checkpoint_is_for_several():
    with pytest.raises(ValueError, match="checkpoint is for several"):
        compare_cv_all(MODELS, *DATA["one"], checkpoint="here")


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


def test_splits_are_nadeau_and_bengios_test():
    splits = np.random.default_rng(1).normal(size=(3, 7))
    with pytest.raises(ValueError, match="test_train_ratio must be given"):
        compare_folds(splits)
    result = compare_folds(splits, test_train_ratio=0.25, control=1)
    alone = nadeau_bengio_t(splits[1] - splits[[0, 2]], n_train=4, n_test=1)
    assert np.allclose(result.pvalue, alone.pvalue)
    assert result.control == "model_1"


def test_losses_are_better_where_they_are_lower():
    losses = np.random.default_rng(2).normal([[[0]], [[5]]], size=(2, 1, 9))
    assert compare_folds(losses, lower_is_better=True).best == ("model_0",)
    assert compare_folds(losses).best == ("model_1",)


@pytest.fixture(scope="module")
def search():
    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}
    scoring = ["accuracy", "f1"]
    made = GridSearchCV(
        DecisionTreeClassifier(random_state=1), grid, scoring=scoring, cv=5, refit=False
    )
    return made.fit(*draw(7, 80)).cv_results_


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_the_models_of_a_search(search, form):
    result = compare_folds(form(search), metric="f1", test_train_ratio=1 / 4)
    wanted = np.stack([search[f"split{k}_test_f1"] for k in range(5)], axis=1)
    assert np.array_equal(result.fold_scores[:, 0], wanted)
    assert result.names[0] == "criterion=gini, max_depth=1"
    assert np.allclose(result.score, search["mean_test_f1"])
    with pytest.raises(ValueError, match=r"metric must be one of \['accuracy', 'f1'\]"):
        compare_folds(search, test_train_ratio=1 / 4)
    with pytest.raises(ValueError, match="test_train_ratio must be given"):
        compare_folds(search, metric="f1")


def test_searches_on_several_data_sets(search):
    options = {"metric": "accuracy", "test_train_ratio": 1 / 4}
    result = compare_folds({"a": search, "b": search}, **options)
    assert result.tasks == ("a", "b")
    table = result.task_table(alpha=0.2)
    assert np.allclose(table.pvalue[:, 0], result.results["a"].pvalue)


def test_the_answers_of_cross_validate():
    found = {name: cross_validate(model, *DATA["one"], cv=4) for name, model in MODELS.items()}
    result = compare_folds(found, test_train_ratio=1 / 3)
    wanted = np.stack([each["test_score"] for each in found.values()])
    assert np.array_equal(result.fold_scores[:, 0], wanted)
    several = compare_folds({"x": found, "y": found}, test_train_ratio=1 / 3)
    assert several.tasks == ("x", "y")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"a": [1, 2, 3], "b": [1, np.nan, 2]}, "nan for b in fold 1"),
        ({"a": [1, 2, 3], "b": [1, 2]}, "same folds for all models"),
        ({"a": [1, 2, 3]}, "at least 2 models"),
        (np.zeros((2, 3, 4, 5)), "task_table"),
        ({"x": np.zeros((2, 2, 3)), "y": np.zeros((3, 2, 3))}, "same models on all data sets"),
        ({"params": [{}, {}], "split0_test_s": [1, 2]}, "more than once"),
    ],
)
def test_wrong_scores_are_refused(scores, words):
    with pytest.raises((TypeError, ValueError), match=words):
        compare_folds(scores, test_train_ratio=0.5)


def test_models_in_another_order_are_matched_by_name():
    first = {"a": [[1, 2, 3]], "b": [[2, 2, 2]]}
    second = {"b": [[5, 5, 6]], "a": [[1, 3, 2]]}
    result = compare_folds({"x": first, "y": second})
    assert result.scores.tolist() == [[2, 2], [2, 16 / 3]]


def test_other_numbers_of_folds_have_no_marked_table():
    result = compare_folds({"x": np.eye(3)[:2][:, None], "y": np.eye(4)[:2][:, None]})
    with pytest.raises(ValueError, match="different repetitions and folds"):
        result.task_table()


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="'a'"):
        compare_cv_all({"a": SimpleNamespace(), "b": GaussianNB()}, DATA)
