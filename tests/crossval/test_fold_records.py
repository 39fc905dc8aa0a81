"""Every record of cross-validation: printed, as a table, and read back from JSON."""

import json

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import fastcmp
from fastcmp import designs, from_dict

RNG = np.random.default_rng(4)
Y = RNG.choice(["ja", "nein"], 60)
X = RNG.normal(size=(60, 2)) + 1.5 * (Y == "ja")[:, None]
NB, STUMP = GaussianNB(), DecisionTreeClassifier(max_depth=1)
TWO = fastcmp.compare_cv(
    NB, STUMP, X, Y, test=["kfold-t", "bcv-mcnemar", "alpaydin-f", "bayle-z"], rng=1
)
F1 = fastcmp.compare_cv(
    NB, STUMP, X, Y == "ja", test="kfold-t", scoring="f1", names=("n\u00e4ive", "b"), rng=1
)
MANY = fastcmp.compare_cv_all([NB, STUMP, DummyClassifier()], X, Y, rng=1)
TABLES = RNG.integers(1, 30, (3, 5, 2, 2, 2))
RECORDS = {
    "two models": TWO,
    "another score": F1,
    "many models": MANY,
    "runs": TWO.runs,
    "runs with scores": F1.runs,
    "run": TWO.runs.runs[0],
    "design": designs.repeated_holdout(3, test_size=1 / 3, rng=2**61 + 1),
    "t": TWO.tests["kfold-t"],
    "batch of t": fastcmp.dietterich_t(RNG.normal(size=(2, 3, 5, 2))),
    "no tests": fastcmp.kfold_t(np.empty((0, 4))),
    "F": TWO.tests["alpaydin-f"],
    "z": TWO.tests["bayle-z"],
    "one-sided": fastcmp.kfold_t([0.1, 0.2, 0.4], alternative="larger"),
    "without spread": fastcmp.kfold_t([0.1, 0.1]),
    "chi-square": fastcmp.naive_mcnemar(TABLES[:, 0]),
    "BCV": TWO.tests["bcv-mcnemar"],
    "batch of BCV": fastcmp.bcv_mcnemar(TABLES, rho2=0.3),
}
every_record = pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)


@every_record
def test_records_are_read_back(record):
    plain = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    again = from_dict(plain)
    assert type(again) is type(record)
    assert again == record
    assert again.to_dict() == record.to_dict()


@every_record
def test_records_are_printed_and_tabulated(record):
    assert "\n" not in repr(record)
    assert max(map(len, str(record).splitlines())) <= 80
    assert record.summary()
    assert record.to_markdown()
    assert record.to_latex() is not None
    assert record._repr_html_().startswith("<div>")
    columns = record.columns()
    (size,) = {len(column) for column in columns.values()}
    for library in ("pandas", "polars"):
        assert record.to_frame(library).shape == (size, len(columns))


@pytest.mark.parametrize(
    ("name", "distribution", "df"),
    [
        ("t", "t", 9),
        ("F", "F", (10, 5)),
        ("z", "normal", None),
        ("chi-square", "chi2", 2),
        ("BCV", "chi2", 1),
    ],
)
def test_what_the_statistic_is_referred_to(name, distribution, df):
    record = RECORDS[name]
    assert (record.distribution, record.df) == (distribution, df)


def test_differences_have_one_sign():
    gap = TWO.difference
    assert gap == pytest.approx(np.subtract(*TWO.scores().mean(axis=(1, 2))))
    assert TWO.better == ("a" if gap > 0 else "b")
    for name, record in TWO.tests.items():
        scores = TWO.scores(name)
        assert record.measure == "accuracy"
        assert record.difference == pytest.approx(np.subtract(*scores.mean((1, 2))))
        assert record.better == ("a" if record.difference > 0 else "b")
    assert F1.measure == F1.tests["kfold-t"].measure == "f1"
    x = RECORDS["batch of t"]
    assert x.difference.shape == x.estimate.shape == (2, 3)
    assert (x.better == np.where(x.difference > 0, "a", "b")).all()
    naive = RECORDS["chi-square"]
    only_a, only_b = TABLES[:, 0, :, 0, 1].sum(1), TABLES[:, 0, :, 1, 0].sum(1)
    expected = (only_a - only_b) / TABLES[:, 0].sum((1, 2, 3))
    np.testing.assert_allclose(naive.difference, expected)


def test_dietterich_tests_one_difference_of_ten():
    x = RNG.normal(size=(5, 2))
    record = fastcmp.dietterich_t(x)
    assert record.estimate == x[0, 0]
    assert record.difference == pytest.approx(x.mean())


def test_the_seed_repeats_a_comparison():
    assert TWO.seed == MANY.seed == 1
    drawn = fastcmp.compare_cv_all([NB, STUMP], X, Y, rng=np.random.default_rng(5))
    assert fastcmp.compare_cv_all([NB, STUMP], X, Y, rng=drawn.seed) == drawn


def test_the_picture():
    plt.switch_backend("Agg")
    assert TWO.plot(test="alpaydin-f").get_xlabel()
    plt.close("all")


def test_tables_of_scores_and_predictions():
    frame = F1.runs.to_frame()
    assert frame.groupby("model").score.mean()["b"] == pytest.approx(F1.scores()[1].mean())
    frame = TWO.runs.runs[0].to_frame()
    truth = TWO.runs.y[frame["sample"]]
    right = (frame.prediction == truth).groupby([frame.model, frame.fold]).mean()
    np.testing.assert_allclose(right.to_numpy().reshape(2, 10), TWO.scores()[:, 0])


def test_options_are_spelled_freely():
    x = [0.1, 0.3, 0.2]
    plain = fastcmp.kfold_t(x, alternative="two-sided")
    assert fastcmp.kfold_t(x, alternative="Two_Sided") == plain
    assert RECORDS["one-sided"].alternative == "greater"
    assert fastcmp.bcv_mcnemar(TABLES, alternative="smaller").alternative == "less"
    right = fastcmp.compare_cv(NB, STUMP, X, Y, test="KFold T", alternative="right")
    assert (list(right.tests), right.alternative) == (["kfold-t"], "greater")
    assert right.test("kfold_t", alternative="LARGER") == right.tests["kfold-t"]
    assert RECORDS["BCV"].posterior("Q_a") == RECORDS["BCV"].posterior("qa")
