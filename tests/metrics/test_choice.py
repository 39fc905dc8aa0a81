"""Which metric: names, options that do not fit, and functions that users wrote."""

from __future__ import annotations

import ast
import copy
import math
import pickle
import re

import numpy as np
import pytest
from cases import case
from hypothesis import given
from strategies import square_tables

from fastcmp import make_metric, metric

TABLE = np.array([[57.0, 4.0, 10.0], [3.0, 43.0, 6.0], [3.0, 2.0, 22.0]])
TWO = np.array([[157.0, 21.0], [8.0, 14.0]])


def bind(made, k=3):
    return made.bind(made.classes_of(range(k)))


def own(function, k=3):
    """Bind a user's function to K classes."""
    (estimator,) = bind(make_metric(function), k)
    return estimator


# Names.


#: Full names, titles and other spellings of metrics.
SPELLINGS = {
    "f1": ("F1", "F1", "f1_score", "f_1", "f1.0", "F-measure"),
    "f1_macro": ("macro F1", "macro F1", "F1-Macro", "f1macro", "MacroF1", "f1_score_macro"),
    "f2": ("F2",),
    "f0.5_weighted": ("weighted F0.5",),
    "f2_micro": ("micro F2", "F 2 micro"),
    "f1_of_means": ("F1 of mean precision and recall",),
    "f2_of_means": ("F2 of mean precision and recall",),
    "accuracy": ("accuracy", "accuracy_score"),
    "balanced_accuracy": ("balanced accuracy", "balanced-accuracy", "balanced_accuracy_score"),
    "mcc": ("MCC", "matthews_corrcoef"),
    "kappa": ("Cohen's kappa", "cohen_kappa_score", "Cohen's kappa"),
    "kappa_linear": ("linearly weighted kappa", "linearly weighted kappa"),
    "kappa_quadratic": ("quadratically weighted kappa", "quadratic_weighted_kappa"),
    "scott_pi": ("Scott's pi", "Scott's pi"),
    "recall": ("recall", "sensitivity"),
    "precision": ("precision", "PPV"),
    "recall_weighted": ("weighted recall", "weighted sensitivity"),
    "diagnostic_odds_ratio": ("diagnostic odds ratio", "dor"),
    "lr_plus": ("positive likelihood ratio", "LR+"),
    "lr_minus": ("negative likelihood ratio", "lr-"),
    "informedness": ("informedness", "Youden's J"),
    "jaccard_macro": ("macro Jaccard", "iou_macro"),
}


@pytest.mark.parametrize("full_name", SPELLINGS)
def test_names_are_spelled_in_many_ways(full_name):
    title, *spellings = SPELLINGS[full_name]
    for written in (full_name, *spellings):
        made = make_metric(written)
        assert (made.full_name, made.title) == (full_name, title)
        assert made == make_metric(full_name)


def all_names():
    """Names of all metrics, as an error lists them."""
    with pytest.raises(ValueError, match="metric must be one of") as caught:
        make_metric("nope")
    return ast.literal_eval(re.search(r"\(.*?\)", str(caught.value))[0])


def test_what_is_shown_can_be_asked_for():
    for name in all_names():
        options = {"fbeta": {"beta": 2.0}, "cost": {"cost": 1 - np.eye(3)}}.get(name, {})
        again = {} if name == "fbeta" else options
        for average in ("binary", "micro", "macro", "weighted", "of_means"):
            with case(name, average):
                try:
                    made = make_metric(name, average=average, **options)
                except ValueError:
                    continue
                assert make_metric(made.title, **again) == made
                assert make_metric(made.full_name, **again) == made


def test_beta_in_the_name_and_beside_it():
    assert make_metric("fbeta", beta=2) == make_metric("f2")
    assert make_metric("f2", beta=2) == make_metric("f2")
    assert make_metric("f1", beta=1) == make_metric("f1")
    assert make_metric("f1_of_means", beta=2) == make_metric("f2_of_means")
    assert make_metric("fbeta", beta=1).full_name == "f1"


# What does not fit.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f1_macro_micro"}, "metric must be one of"),
        ({"metric": "roc_auc"}, "of predicted labels, got 'roc_auc': .* by fastcmp.delong"),
        ({"metric": "neg_log_loss"}, r"\(fastcmp.log_loss_values\), which fastcmp.compare_means"),
        ({"metric": "Brier score"}, r"\(fastcmp.brier_values\)"),
        ({"metric": "f1_macro", "average": "micro"}, "differ: pass one"),
        ({"metric": "mcc", "average": None}, "'mcc': it is of all"),
        ({"metric": "lr+", "average": "macro"}, r"takes \('binary',\)"),
        ({"metric": "fbeta"}, "'fbeta' needs a beta: name it"),
        ({"metric": "f2", "beta": 3}, "differ: pass one of them"),
        ({"metric": "f0"}, "beta must be above 0"),
        ({"metric": "f1", "cost": [[0, 1], [1, 0]]}, "cost is for metric"),
        ({"metric": "f1", "weights": "linear"}, "weights are for metric"),
        ({"metric": "weighted_kappa"}, "'weighted_kappa' needs weights"),
        (
            {"metric": "kappa", "weights": [[1, 0.5], [0.5, 1]]},
            "must be 0 where .* on the diagonal",
        ),
        (
            {"metric": np.trace, "average": "macro"},
            "average= is for metrics by name; metric is a f",
        ),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        make_metric(**options)


@pytest.mark.parametrize(
    ("asked", "classes", "message"),
    [
        ({"metric": "f1"}, "abc", "needs two classes, got 3: pass average='macro'"),
        ({"metric": "lr_plus"}, range(3), "got 3: pass average=None for each class"),
        ({"metric": "f1"}, "ab", r"pass positive= \(or metric=make_metric, with it\)"),
        ({"metric": "f1", "positive": "c"}, "ab", "positive must be among .*, got 'c'"),
        ({"metric": "f1"}, (0,), "the positive class does not occur"),
        ({"metric": "f1_macro", "labels": [3, 4]}, (0, 1), "labels must hold classes of"),
        ({"metric": "mcc", "labels": [0]}, (0, 1), "labels= must list all classes"),
        ({"metric": "cost", "cost": [[0, 1], [1, 0]]}, range(3), "cost is 2 x 2, but classes na"),
        ({"metric": "kappa", "weights": [[0, 1], [1, 0]]}, range(3), "weights is 2 x 2, but cl"),
        ({"metric": "f1_macro", "prevalence": 0.2}, range(3), "prevalence must name 3"),
        ({"metric": "accuracy", "prevalence": [0.5, 0.6]}, (0, 1), "that add up to 1"),
        ({"metric": "accuracy", "prevalence": [1.5, -0.5]}, (0, 1), "proportions"),
        ({"metric": "accuracy", "prevalence": {2: 1.0}}, (0, 1), r"prevalence names \[2"),
        ({"metric": "accuracy", "prevalence": 0.3}, ("a", "b"), "pass positive="),
    ],
)
def test_data_that_do_not_fit(asked, classes, message):
    def bind_to_them():
        made = make_metric(**asked)
        return made.bind(made.classes_of(tuple(classes)))

    with pytest.raises(ValueError, match=message):
        bind_to_them()


# The record of a choice.


def test_it_prints_what_was_asked():
    class Made:
        def __call__(self, table):
            return table[0, 0]

    made = make_metric("f1_macro", labels=["b", "a"], zero_division=math.nan)
    for metric_, shown in (
        (make_metric("fbeta", beta=2, average="macro"), "Metric('f2_macro')"),
        (make_metric("f1", average=None), "Metric('f1', average=None)"),
        (made, "Metric('f1_macro', labels=('b', 'a'), zero_division=nan)"),
        (make_metric("f1", positive="yes"), "Metric('f1', positive='yes')"),
        (make_metric(lambda _: 0.0), "Metric('lambda')"),
        (make_metric(np.trace), "Metric('trace')"),
        (make_metric(Made()), "Metric('Made')"),
    ):
        assert repr(metric_) == shown
    assert len(repr(make_metric("cost", cost=1 - np.eye(50)))) < 80


SAME = [
    *({"metric": "f1"}, {"metric": "f1", "average": None}, {"metric": "f1", "prevalence": 0.3}),
    {"metric": "f1", "zero_division": math.nan},
    *({"metric": "f1_macro", "labels": labels} for labels in (["a", "b"], ["b", "a"])),
    {"metric": "f1", "prevalence": {0: 0.7, 1: 0.3}},
    *({"metric": "cost", "cost": x} for x in ([[0, 1], [2, 0]], {0: {1: 1}, 1: {0: 3}})),
    {"metric": "kappa", "weights": np.array([[0.0, 1.0], [2.0, 0.0]])},
    {"metric": np.trace},
]


def test_equal_where_the_same_was_asked():
    for i, first in enumerate(SAME):
        for j, second in enumerate(SAME):
            made, other = make_metric(**first), make_metric(**copy.deepcopy(second))
            assert (made == other) == (i == j), (first, second)
            if i == j:
                assert hash(made) == hash(other)
        made = make_metric(**first)
        assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made
        assert make_metric(made) is made
        with pytest.raises(AttributeError):
            made.beta = 2.0
    assert make_metric("f1") != "f1"
    with pytest.raises(ValueError, match="average= is for metrics by name; metric is a Metric"):
        make_metric(make_metric("f1"), average="macro")
    array = make_metric("cost", cost=np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert array == make_metric("cost", cost=[[0, 1], [2, 0]])


def test_estimators_tell_their_names():
    each = bind(make_metric("f1", average=None))
    assert [one.name for one in each] == ["f1[0]", "f1[1]", "f1[2]"]
    assert [one.title for one in each] == ["F1[0]", "F1[1]", "F1[2]"]
    listed = make_metric("f1", average=None, labels=[2, 0])
    assert [one.name for one in bind(listed)] == ["f1[2]", "f1[0]"]
    (one,) = bind(make_metric("precision_macro", prevalence=[0.2, 0.3, 0.5]))
    assert one.title == "macro precision at the given prevalence"
    assert make_metric("lr_minus").lower_is_better
    assert make_metric("kappa", weights=1 - np.eye(3)).title == "weighted kappa"


# Users' functions.


def with_abs(table):
    """Ask how far false alarms and misses are apart: abs() loses complex parts."""
    return table[0, 0] / table.sum() + abs(table[1, 2] - table[2, 1]) / table.sum()


def with_real_parts(table):
    """Lose the derivative without a word."""
    return np.real(table[2, 2]) / np.real(table[2].sum())


def compiled_recall(table):
    return table[1, 1] / table[1].sum()


FUNCTIONS = {each.__name__: each for each in (with_abs, with_real_parts)}
#: Rare classes, where steps must be small.
RARE = np.array([[1e6, 30.0, 8.0], [7.0, 10.0, 9.0], [2.0, 4.0, 12.0]])


@pytest.mark.parametrize("name", [*FUNCTIONS, "compiled", "compiled for floats"])
def test_derivatives_of_functions(name):
    """They are those of tiny steps in long arithmetic, less their mean."""
    import numba

    types = () if name == "compiled" else ("f8(f8[:, ::1])",)
    function = FUNCTIONS.get(name) or numba.njit(*types)(compiled_recall)
    estimator = own(function)
    for table in (TABLE, RARE):
        expected = {
            "with_abs": with_abs_by_hand(table),
            "with_real_parts": recall_slopes(table, 2),
        }.get(name, recall_slopes(table, 1))
        psi = estimator.influence(table)
        np.testing.assert_allclose(psi, expected, rtol=2e-7, atol=1e-6)
        assert (table * psi).sum() / table.sum() == pytest.approx(0.0, abs=1e-9)
        assert estimator.check(table) is estimator


def recall_slopes(table, k):
    return bind(make_metric("recall", average=None))[k].influence(table)


def with_abs_by_hand(table):
    n = table.sum()
    slopes = np.zeros((3, 3))
    slopes[0, 0] = 1.0
    slopes[1, 2] = np.sign(table[1, 2] - table[2, 1])
    slopes[2, 1] = -slopes[1, 2]
    return slopes - (table * slopes).sum() / n


@pytest.mark.parametrize("name", ["mcc", "kappa", "f1_macro", "gmean", "scott_pi"])
def test_a_function_is_as_the_registry(name):
    """Value, influences and one sample left out of a metric written anew."""
    (known,) = bind(make_metric(name))
    written = own(lambda table: known.value(np.ascontiguousarray(table.real)))
    assert written.value(TABLE) == known.value(TABLE)
    # Steps of 0.3 % and the fourth order: nine digits.
    np.testing.assert_allclose(
        written.influence(TABLE), known.influence(TABLE), rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(
        written.leave_one_out(TABLE[np.newaxis]), known.leave_one_out(TABLE[np.newaxis]), rtol=1e-12
    )


def test_where_there_is_no_derivative():
    """A step function has none; NaN, and not 0."""
    bent = own(lambda table: float(table[0, 0] % 7.0 > 3.0) + table[1, 1] * 0.0)
    steps = own(lambda table: np.floor(table.sum(axis=0)[0].real) / table.sum().real)
    assert np.isnan(steps.influence(TABLE)).all()
    assert bent.value(TABLE) in (0.0, 1.0)


def spoiling(table):
    table[0, 0] = 0.0
    return table[1, 1] / table.sum()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda table: table, r"must return one number, got shape \(2, 2\)"),
        (lambda _: None, "must return one number, got None"),
        (lambda _: "0.5", "must return one number, got '0.5'"),
        (lambda table: table[0, 0] + 0j, "must return one number"),
        (lambda table: 1 / float(table[0, 1] * 0), "is NaN for the counts"),
        (lambda table: table[0, 0] / (table[0, 1] * 0) * 0, "is NaN for the counts"),
        (lambda table: table[9, 9], "must take a confusion matrix, .* IndexError"),
        (lambda y_true, y_pred: 0.5, "must take a confusion matrix"),  # noqa: ARG005
        (spoiling, "must leave the confusion matrix as it is"),
        (lambda t: np.random.default_rng().random() * t[0, 0], "a function of the counts alone"),
    ],
)
def test_functions_that_are_no_metrics(function, message):
    with pytest.raises(ValueError, match=message):
        metric([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], metric=function)


def test_division_by_zero_is_undefined():
    """Python's numbers raise where NumPy's warn; neither stops a bootstrap."""
    tables = np.array([[[0.0, 0.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 2.0]]])
    for function in (
        lambda table: float(table[0, 0]) / float(table[0].sum()),
        lambda table: table[0, 0] / table[0].sum(),
    ):
        found = own(function, 2).values(tables)
        assert math.isnan(found[0])
        assert found[1] == 0.5


# Metrics made of others.


@given(table=square_tables(max_classes=4, largest=7))
def test_adjusted_for_chance(table):
    """Balanced accuracy on another scale, also without a sample."""
    table = table.astype(float)
    (adjusted,) = bind(make_metric("adjusted_balanced_accuracy"), len(table))
    (plain,) = bind(make_metric("balanced_accuracy"), len(table))
    n_true = np.count_nonzero(table.sum(axis=1))
    if n_true < 2:
        assert np.isnan([adjusted.value(table), *adjusted.influence(table).ravel()]).all()
        return
    np.testing.assert_allclose(
        adjusted.influence(table) * (1 - 1 / n_true), plain.influence(table), atol=1e-12
    )
    (without,) = adjusted.leave_one_out(table[np.newaxis])
    for t, y in np.argwhere(table).tolist():
        less = table.copy()
        less[t, y] -= 1
        k = np.count_nonzero(less.sum(axis=1))
        expected = (plain.value(less) - 1 / k) / (1 - 1 / k) if k > 1 else math.nan
        assert without[t, y] == pytest.approx(expected, abs=1e-13, nan_ok=True)
        assert adjusted.value(less) == pytest.approx(expected, abs=1e-13, nan_ok=True)


SHARES = [0.2, 0.3, 0.5]


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "kappa", "mcc", "recall_macro"])
def test_influences_at_other_proportions(name):
    """They are those of a function that scales the classes first."""
    (plain,) = bind(make_metric(name))
    (scaled,) = bind(make_metric(name, prevalence=SHARES))
    rows = TABLE.sum(axis=1)

    def written(table):
        weights = np.array(SHARES) / table.sum(axis=1) * table.sum()
        return plain.value(np.ascontiguousarray(table * weights[:, np.newaxis]))

    by_hand = own(written)
    found, wanted = scaled.influence(TABLE), by_hand.influence(TABLE)
    assert scaled.value(TABLE) == pytest.approx(written(TABLE), rel=1e-14)
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)
    (without,) = scaled.leave_one_out(TABLE[np.newaxis])
    np.testing.assert_allclose(without, by_hand.leave_one_out(TABLE[np.newaxis])[0], rtol=1e-12)
    # Within each class they add up to 0: its number of samples does not matter.
    np.testing.assert_allclose((TABLE * found).sum(axis=1), 0, atol=1e-10)
    (own_shares,) = bind(make_metric(name, prevalence=rows / rows.sum()))
    assert own_shares.value(TABLE) == pytest.approx(plain.value(TABLE), rel=1e-13)


def test_a_class_that_should_occur_and_does_not():
    table = TABLE.copy()
    table[1] = 0.0
    (scaled,) = bind(make_metric("accuracy", prevalence=SHARES))
    found = scaled.values(np.stack([table, TABLE, 0 * TABLE]))
    assert np.isnan(found).tolist() == [True, False, True]
    assert np.isnan(scaled.influence(table)).all()
    (other,) = bind(make_metric("accuracy", prevalence=[0.4, 0.0, 0.6]))
    assert other.value(table) == pytest.approx(other.value(TABLE), rel=1e-15)


def test_proportions_of_two_classes():
    for shares, positive in [(0.3, None), ([0.7, 0.3], None), ({0: 0.7, 1: 0.3}, 1)]:
        made = make_metric("precision", prevalence=shares, positive=positive)
        (estimator,) = bind(made, 2)
        se, sp = 14 / 22, 157 / 178
        bayes = 0.3 * se / (0.3 * se + 0.7 * (1 - sp))
        assert estimator.value(TWO) == pytest.approx(bayes, rel=1e-14)


# What is said of classes.


def flags(made, table):
    (estimator,) = bind(make_metric(**made), len(table))
    tables = table[np.newaxis]
    marks = estimator.averaged(tables), estimator.without_samples(tables)
    return [None if each is None else np.flatnonzero(each).tolist() for each in marks]


def test_classes_that_are_averaged_and_those_without_samples():
    table = np.array([[3.0, 1.0, 0, 0], [2, 4, 1, 0], [0] * 4, [0] * 4])
    assert flags({"metric": "f1_macro"}, table) == [[0, 1, 2], []]
    assert flags({"metric": "recall_macro"}, table) == [[0, 1, 2], [2]]
    assert flags({"metric": "recall_macro", "labels": "truth"}, table) == [[0, 1], []]
    assert flags({"metric": "f1_macro", "labels": [3, 0, 1, 2]}, table)[0] == [0, 1, 2, 3]
    assert flags({"metric": "recall_micro"}, table) == [[0, 1, 2], []]
    assert flags({"metric": "balanced_accuracy"}, table) == [[0, 1], []]
    assert flags({"metric": "adjusted_balanced_accuracy"}, table) == [[0, 1], []]
    assert flags({"metric": "mcc"}, table) == [None, None]
    assert flags({"metric": np.trace}, table) == [None, None]
    shares = [0.5, 0.5, 0.0, 0.0]
    asked = {"metric": "precision_macro", "prevalence": shares}
    assert flags(asked, table) == [[0, 1, 2], []]
