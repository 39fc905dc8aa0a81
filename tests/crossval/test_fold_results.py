"""Two classifiers, and many, compared by cross-validation."""

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from cases import thinned
from libraries import stats

from fastcmp import adjust, compare_cv, compare_cv_all, designs
from fastcmp.records import CVComparison, CVPairwiseResult

TESTS = (
    *("resampled-t", "kfold-t", "bouckaert-frank-t", "nadeau-bengio-t", "dietterich-t"),
    *("bouckaert-t", "yildiz-t", "blocked-t", "alpaydin-f", "calibrated-f", "proportion-z"),
    *("conservative-z", "bayle-z", "holdout-mcnemar", "naive-mcnemar", "bcv-mcnemar"),
)
NO_INTERVAL = {"dietterich-t", "alpaydin-f", "calibrated-f", "naive-mcnemar"}


def models():
    from cv_models import KNN, NB, STUMP, DummyClassifier

    return {"bayes": NB, "stump": STUMP, "knn": KNN, "majority": DummyClassifier()}


@cache
def data():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=80)
    return rng.normal(size=(80, 3)) + 1.1 * y[:, None] * [1, 0.8, 0], y


def cv(*, of=("bayes", "stump"), **options):
    """Two models compared."""
    return compare_cv(*(models()[name] for name in of), *data(), **options)


def cv_all(of=None, **options):
    """All models compared, or others."""
    return compare_cv_all(models() if of is None else of, *data(), **options)


# Two models.


def test_the_record():
    result = cv(test=["kfold-t", "bcv-mcnemar"], rng=1)
    assert isinstance(result, CVComparison)
    assert list(result.tests) == ["kfold-t", "bcv-mcnemar"]
    assert result.pvalue == result.tests["kfold-t"].pvalue
    nb, stump = result.scores().mean(axis=(1, 2))
    assert result.difference == pytest.approx(nb - stump)
    assert result.better == ("a" if nb > stump else "b")
    assert f"The accuracy of {result.better} is" in str(result)
    assert result.scores("bcv-mcnemar").shape == (2, 5, 2)
    assert (result.scores("naive-mcnemar") == result.scores()).all()
    with pytest.raises(ValueError, match="name it in test="):
        result.scores("dietterich-t")
    with pytest.raises(ValueError, match="test must be one of"):
        result.scores("t")
    assert list(cv(rng=1).tests) == ["bcv-mcnemar"]


def test_measures():
    from sklearn.metrics import f1_score, make_scorer

    def dollars(model, X, y):
        return 3.0

    own = make_scorer(f1_score)
    options = {"test": "kfold-t", "design": designs.kfold(4, rng=1)}
    names = {None: "accuracy", "f1_macro": "f1_macro", dollars: "dollars", own: "score"}
    for scoring, name in names.items():
        assert cv(scoring=scoring, **options).measure == name
    one, other = (cv(scoring=scoring, **options).tests["kfold-t"] for scoring in ("f1", own))
    assert one == replace(other, measure="f1")


def test_designs_of_ones_own():
    own = designs.kfold(5, stratify=True, rng=7)
    result = cv(test="kfold-t", design=own, rng=1)
    assert result.runs.runs[0].design == own
    other = cv(test="kfold-t", design=[own], rng=2)
    assert other.tests == result.tests
    two = [designs.two_fold(3, blocked=True, rng=1), own]
    both = cv(test=["kfold-t", "bcv-mcnemar"], design=two)
    assert both.tests["kfold-t"] == result.tests["kfold-t"]
    assert both.tests["bcv-mcnemar"].n_replicates == 3
    assert both.test("bayle-z").n_folds == 5
    with pytest.raises(ValueError, match=r"'dietterich-t' needs two_fold\(5\), 5 rando"):
        cv(test=["kfold-t", "dietterich-t"], design=two)
    with pytest.raises(ValueError, match="stratify is for the default designs"):
        cv(design=two[0], stratify=True)


def test_twins():
    tests = [x for x in TESTS if x not in ("conservative-z", "bouckaert-t", "bouckaert-frank-t")]
    result = cv(of=("bayes", "bayes"), test=tests, rng=1)
    for name, record in result.tests.items():
        assert (record.pvalue, record.statistic) == (1, 0), name
    assert "a and b score the same on average." in str(result)


# Many models.


@pytest.mark.parametrize("name", thinned(TESTS, 4))
def test_all_pairs_equal_each_pair(name):
    three = ["bayes", "stump", "majority"]
    result = cv_all({name: models()[name] for name in three}, test=name, rng=1, adjust="hommel")
    assert isinstance(result, CVPairwiseResult)
    expect = list(combinations(three, 2))
    assert [(result.names[i], result.names[j]) for i, j in result.pairs] == expect
    for at, (a, b) in enumerate(expect):
        single = cv(of=(a, b), test=name, rng=1)
        record = single.tests[name]
        assert result.statistic[at] == pytest.approx(record.statistic, rel=1e-12)
        assert result.pvalue[at] == pytest.approx(record.pvalue, rel=1e-12)
        means = single.scores()[:, :15].mean(axis=(1, 2))
        assert result.difference[at] == pytest.approx(means[0] - means[1], abs=1e-12)
        assert result.score[result.pairs[at]] == pytest.approx(means, rel=1e-12)
        if name in NO_INTERVAL:
            assert np.isnan(result.interval[at]).all()
        else:
            ends = record.confidence_interval(0.95)
            assert result.interval[at] == pytest.approx(ends, rel=1e-9)
    assert (result.pvalue_adjusted == adjust(result.pvalue, method="hommel")).all()
    assert f" on {result.method}" in result.summary()
    assert "p-values adjusted for 3 pairs" in result.summary()


def test_intervals_of_the_scores_by_hand():
    result = cv_all(test="kfold-t", rng=1, alpha=0.1)
    scores = result.runs.scores(result.runs.runs[0])[:, 0]
    (run,) = result.runs.runs
    assert (run.n_train, run.n_test) == (72, 8)
    half = np.sqrt((1 / 10 + 8 / 72) * scores.var(axis=1, ddof=1)) * stats.t.ppf(0.95, 9)
    ends = np.clip(scores.mean(axis=1)[:, None] + np.outer(half, [-1, 1]), 0, 1)
    np.testing.assert_allclose(result.score_interval, ends, rtol=1e-9)
    assert "(corrected resampled t)" in result.summary()


def test_intervals_of_one_split():
    result = cv_all(test="holdout-mcnemar", rng=1)
    (run,) = result.runs.runs
    for score, ends in zip(result.score, result.score_interval.tolist(), strict=True):
        right = stats.binomtest(round(score * run.n_test), run.n_test)
        wilson = right.proportion_ci(method="wilson")
        np.testing.assert_allclose(ends, wilson, rtol=1e-9)
    assert "(Wilson)" in result.summary()
    options = {"test": "conservative-z", "design": designs.paired_halves(3, 1, rng=1)}
    one, scored = cv_all(**options), cv_all(scoring="balanced_accuracy", **options)
    assert np.isfinite(one.score_interval).all()
    assert np.isnan(scored.score_interval).all()
    assert "none from a single split" in scored.summary()


def test_scores_within_halves_are_no_scores():
    both = {name: models()[name] for name in ("bayes", "stump")}
    halves = designs.paired_halves(4, 5, rng=1)
    result = cv_all(both, test="conservative-z", design=halves)
    scores = result.runs.scores(result.runs.runs[0])[:, :5]
    np.testing.assert_allclose(result.score, scores.mean(axis=(1, 2)), rtol=1e-13)
    low, high = result.interval[0]
    assert low < result.difference[0] < high
    assert (low + high) / 2 == pytest.approx(result.difference[0], rel=1e-9)
    assert result.difference[0] == pytest.approx(result.score[0] - result.score[1], abs=1e-14)


def test_scores_that_do_not_vary_have_no_interval():
    from sklearn.dummy import DummyClassifier

    labels = np.repeat([0, 1], 20)
    exact = {"always": DummyClassifier(), "ever": DummyClassifier(strategy="prior")}
    design = designs.kfold(4, stratify=True, rng=1)
    result = compare_cv_all(exact, data()[0][:40], labels, test="kfold-t", design=design)
    assert np.isnan(result.score_interval).all()
    board = result.to_dict()["leaderboard"]
    assert board["low"] == board["high"] == [None, None]
    assert board["accuracy"] == [0.5, 0.5]
    assert "nan" not in str(result)
    assert result.leaderboard.rank.tolist() == [1, 1]


def test_other_scores():
    def cost(model, X, y):
        return float((model.predict(X) == y).mean())

    def accuracy(model, X, y):
        return 100 * cost(model, X, y)

    options = {"test": "kfold-t", "design": designs.kfold(5, rng=1), "rng": 1}
    result = cv_all(scoring="f1", **options)
    assert result.measure == result.leaderboard.measure == "f1"
    assert "f1" in result.to_dict()["leaderboard"]
    assert "Each 95% CI of f1" in result.summary()
    with pytest.raises(ValueError, match="compared by f1, not by accuracy"):
        _ = result.accuracy
    plain = cv_all(**options)
    for scoring, unit in ((cost, 1), (accuracy, 100)):
        named = cv_all(scoring=scoring, **options)
        assert named.leaderboard.names == plain.leaderboard.names
        assert named.best == plain.best
        np.testing.assert_allclose(named.score, unit * plain.score)
        assert (named.leaderboard.interval[0] > 0.5 * unit).all()


def test_control_and_pairs():
    options = {"test": "kfold-t", "design": designs.kfold(5, rng=1), "rng": 1}
    whole, control = cv_all(**options), cv_all(control="knn", **options)
    assert control.pairs.tolist() == [[2, 0], [2, 1], [2, 3]]
    assert (control.score == whole.score).all()
    matrix = whole.matrix("pvalue")
    assert control.pvalue.tolist() == [matrix[i, j] for i, j in control.pairs]
    assert (control.control, whole.control) == ("knn", None)
    assert "Which model is better than knn?" in str(control)
    assert control.against_control()["pvalue"].size == 3
    some = cv_all(pairs=[("majority", 1), (0, "knn")], **options)
    assert some.pairs.tolist() == [[3, 1], [0, 2]]
    assert some.difference[0] == -whole.matrix("difference")[1, 3]
    assert some.runs == whole.runs


def test_nobody_wins_a_draw():
    # F is large where halves agree and cuts do not, whatever the mean.
    from sklearn.dummy import DummyClassifier

    class Plays(DummyClassifier):
        pass

    design = designs.two_fold(5, rng=3)
    near = 1 - 2**-7
    signs = iter([1, near, near, 1, -1, -near, -near, -1, 0, 0])
    found = {}

    def score(model, X, y):
        key = y.tobytes() + X.tobytes()
        if key not in found:
            found[key] = next(signs)
        return float(found[key]) if isinstance(model, Plays) else 0.0

    both = {"player": Plays(), "other": DummyClassifier()}
    result = cv_all(both, test="alpaydin-f", design=design, scoring=score)
    assert result.difference.tolist() == [0.0]
    assert result.significant.tolist() == [True]
    assert [part.tolist() for part in result.decided] == [[], []]
    assert result.leaderboard.rank_interval.tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("of", "options", "message"),
    [
        ([], {}, "models must hold at least 2 classifiers, got 0"),
        (["bayes"], {}, "models must hold at least 2 classifiers, got 1"),
        (["bayes", "stump"], {"test": ["kfold-t"]}, "test must be the name of one test"),
        (["bayes", "stump"], {"control": "nobody"}, "control names no model 'nobody'"),
        (["bayes", "stump"], {"control": 0, "pairs": [(0, 1)]}, "pairs and control exclude each"),
    ],
)
def test_bad_models_and_options(of, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cv_all([models()[name] for name in of], **options)
    with pytest.raises(ValueError, match=r"different names, got \['1', '1'\]"):
        cv_all({1: models()["bayes"], "1": models()["stump"]})
