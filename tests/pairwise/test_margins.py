"""Margins of all pairs: adjusted together, decided, and the same as pair by pair."""

from functools import cache

import numpy as np
import pytest

import fastcmp
from fastcmp.stream import ValueMoments

METHODS = ("jackknife", "pooled", "delta")
NAMES = ("svm_rbf", "knn_3", "mlp", "naive_bayes")


@cache
def digits():
    return fastcmp.load_digits()


def truth():
    return digits()[0]


def some():
    return {name: digits()[1][name] for name in NAMES}


@cache
def table():
    return np.random.default_rng(3).normal(size=(4, 60)) + np.array([[0], [0.05], [0.1], [2]])


def scores():
    binary = np.arange(240) % 2
    return binary, np.random.default_rng(4).normal(size=(3, 240)) * [[1], [1.2], [5]] + binary


def costs():
    cost = 1.0 + np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    np.fill_diagonal(cost, 0)
    return cost


def same_tests(found, each):
    """Those of all pairs are those of each pair."""
    for name in ("statistic_lower", "statistic_upper", "pvalue_lower", "pvalue_upper"):
        wanted = [getattr(x, name) for x in each]
        assert getattr(found, name) == pytest.approx(wanted, rel=1e-6), name
    for k in (0, 1):
        wanted = [x.inner_interval[k] for x in each]
        assert found.inner_interval[k] == pytest.approx(wanted, rel=1e-6)


# Pair by pair.


def each_pair(result, compare):
    """Margin tests of each pair, by a function of two predictions."""
    columns = list(some().values())
    return [compare(columns[i], columns[j]).margins for i, j in result.pairs.tolist()]


#: Options of `compare_all` of 899 samples, how pairs are tested, and by which function of two.
OPTIONS = {
    **{name: ({"method": name}, "score", fastcmp.mcnemar) for name in ("midp", "exact")},
    **{
        name: ({"method": name, "groups": 9}, "bounded", fastcmp.mcnemar)
        for name in ("cr2", "cr0", "obuchowski", "eliasziw")
    },
    "strata": ({"strata": 3, "stratum_weights": "equal"}, "bounded", fastcmp.mcnemar),
    **{name: ({"metric": "mcc", "method": name}, None, fastcmp.compare_metric) for name in METHODS},
    **{
        name: ({"method": name}, "bounded", fastcmp.cost_test)
        for name in ("likelihood", "chi-square")
    },
}


@pytest.mark.parametrize("name", OPTIONS)
def test_all_pairs_are_those_of_each(name):
    options, method, function = OPTIONS[name]
    margin = 0.3 if function is fastcmp.cost_test else 0.02
    known = {"groups": lambda n: np.arange(899) // n, "strata": lambda n: truth() % n}
    options = {k: known[k](x) if k in known else x for k, x in options.items()}
    own = options | ({"method": "jackknife"} if name == "pooled" else {})
    if function is fastcmp.cost_test:
        options, own = options | {"test": "cost", "cost": costs()}, {"cost": costs()}
    result = fastcmp.compare_all(truth(), some(), margin=margin, adjust="none", **options)
    each = each_pair(result, lambda a, b: function(truth(), a, b, margin=margin, **own))
    same_tests(result.margins, each)
    assert result.margins.lower_is_better == (function is fastcmp.cost_test)
    if method:
        assert result.margins.method == method
    if method == "score":
        assert result.margins.decision.tolist() == [x.decision for x in each]
        assert result.margins.n_more.tolist() == [x.n_more for x in each]


def test_few_samples_are_tested_exactly():
    small = fastcmp.compare_all(truth()[:99], [x[:99] for x in some().values()], margin=0.1)
    assert small.margins.method == "exact"


OF_VALUES = {
    "clusters": lambda i: {"groups": i // 9},
    "weights": lambda i: {"weights": 1.0 + i % 5},
    "strata": lambda _: {"strata": truth() % 3, "stratum_weights": "equal"},
    "both": lambda i: {"groups": i // 9, "strata": truth() % 2, "stratum_weights": "equal"},
    "cluster means": lambda i: {"groups": i // 9, "average": "clusters"},
}


@pytest.mark.parametrize("design", OF_VALUES)
def test_right_answers_as_values(design):
    values = {name: (some()[name] == truth()) * 1 for name in NAMES[:3]}
    less = {"lower_is_better": design in ("clusters", "strata")}
    options = {"margin": 0.1, **less, **OF_VALUES[design](np.arange(899))}
    result = fastcmp.compare_means(values, **options)
    columns = list(values.values())
    each = [
        fastcmp.mean_difference(columns[i], columns[j], **options).margins for i, j in result.pairs
    ]
    same_tests(result.margins, each)
    assert result.margins.method == "bounded"


def test_perfect_models_in_few_clusters():
    values, groups = np.ones((3, 40), int), np.arange(40) // 4
    for found in (
        fastcmp.compare_all(values[0], values.copy() * 1.0, groups=groups, margin=0.05).margins,
        fastcmp.compare_means(values, groups=groups, margin=0.05).margins,
    ):
        assert (found.decision == "cannot tell").all()
        assert "at least 59 clusters" in found.reason


@pytest.mark.parametrize("options", [{}, {"lower_is_better": True}, {"df": "normal"}])
def test_means(options):
    result = fastcmp.compare_means(table(), margin=0.5, **options)
    each = [
        fastcmp.mean_difference(table()[i], table()[j], margin=0.5, **options).margins
        for i, j in result.pairs
    ]
    same_tests(result.margins, each)
    drawn = fastcmp.compare_means(table(), margin=0.5, method="permutation", rng=1, **options)
    same_tests(drawn.margins, each)
    if "df" not in options:
        moments = ValueMoments().update(table())
        streamed = fastcmp.compare_means(moments, margin=0.5, **options)
        same_tests(streamed.margins, each)


def test_means_with_missing_values_and_of_zeros_and_ones():
    values = table().copy()
    values[0, 5] = values[2, :9] = np.nan
    result = fastcmp.compare_means(values, missing="pairwise", margin=0.5)
    each = [
        fastcmp.mean_difference(values[i], values[j], missing="common", margin=0.5).margins
        for i, j in result.pairs
    ]
    same_tests(result.margins, each)
    right = {name: pred == truth() for name, pred in some().items()}
    found = fastcmp.compare_means(right, margin=0.02).margins
    assert found.method == "score"
    wanted = fastcmp.compare_all(truth(), some(), margin=0.02).margins
    assert found.pvalue_lower.tolist() == wanted.pvalue_lower.tolist()
    wrong = fastcmp.compare_means(
        {name: ~x for name, x in right.items()}, margin=0.02, lower_is_better=True
    )
    assert wrong.margins.noninferiority_pvalue.tolist() == (wanted.noninferiority_pvalue.tolist())


def test_areas():
    areas = fastcmp.delong(*scores())
    result = areas.pairwise(margin=0.1)
    each = [areas.compare(i, j, margin=0.1).margins for i, j in result.pairs.tolist()]
    same_tests(result.margins, each)
    control = areas.pairwise(margin=0.1, control=2)
    assert control.margins.pvalue_lower[0] == pytest.approx(each[1].pvalue_upper)


# Adjusted together, and decided.


@pytest.mark.parametrize("adjust", ["holm", "bh", "maxt", "shaffer"])
def test_both_tests_of_all_pairs_are_one_family(adjust):
    result = fastcmp.compare_all(truth(), some(), margin=0.02, adjust=adjust, rng=1)
    found, used = result.margins, adjust if adjust == "bh" else "holm"
    both = np.concatenate([found.pvalue_lower, found.pvalue_upper])
    wanted = fastcmp.adjust(both, method=used)
    adjusted = np.concatenate([found.pvalue_lower_adjusted, found.pvalue_upper_adjusted])
    assert adjusted == pytest.approx(wanted, rel=1e-12)
    assert found.n_more is None
    check_decisions(result)


def check_decisions(result):
    found, alpha = result.margins, result.alpha
    gain = result.difference * (-1 if result.less_is_better else 1)
    better = result.significant & (gain > 0)
    worse = result.significant & (gain < 0)
    assert ((found.decision == "better") == better).all()
    assert ((found.decision == "worse") == worse).all()
    columns = result.columns()
    assert (found.margin_met == (columns["noninferiority_pvalue_adjusted"] <= alpha)).all()
    within = columns["equivalence_pvalue_adjusted"] <= alpha
    assert (found.within_margin == within).all()
    assert ((found.decision == "equivalent") == (within & ~better & ~worse)).all()
    assert result.n_equivalent == np.count_nonzero(found.decision == "equivalent")


def test_against_a_control():
    result = fastcmp.compare_all(*digits(), margin=0.02, control="mlp")
    table = result.against_control()
    for model, decision, outcome in zip(
        table["model"], table["decision"], table["result"], strict=True
    ):
        row, column = result.names.index(model), result.names.index("mlp")
        assert result.matrix("decision")[row, column] == decision
        assert (decision == outcome) == (decision in ("better", "worse"))
    assert len(result.margins.decision) == 9
    text = " ".join(str(result).split())
    assert "models beside mlp: 2 better, 1 not worse, 2 equivalent, 2 worse, 2" in text
    assert "The 18 one-sided tests against the margin are Tango's score tests" in text
    assert result.matrix("decision")[0, 1] == ""


def test_record():
    result = fastcmp.compare_all(truth(), some(), margin=0.02)
    assert list(result.columns()["decision"]) == result.margins.decision.tolist()
    said = "with a margin of 2 percentage points, the first of a pair"
    assert said in " ".join(str(result).split())
    plain = fastcmp.compare_all(truth(), some())
    assert plain.margins is None
    assert "decision" not in plain.columns()
    with pytest.raises(ValueError, match=r"n_equivalent needs .* margin="):
        _ = plain.n_equivalent
    with pytest.raises(ValueError, match=r"field 'decision' needs .* margin="):
        plain.matrix("decision")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 1}, "margin must be below 1, the largest possible difference"),
        ({"margin": 0.02, "keep": 2}, "needs keep='all', got keep=2"),
        ({"margin": 0.02, "alpha": 0.5}, r"alpha must be below 0\.5"),
        ({"margin": 2, "metric": "mcc"}, "margin must be below 2"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        fastcmp.compare_all(truth(), some(), **options)


def test_refusals_of_means():
    with pytest.raises(ValueError, match="margin= is of means"):
        fastcmp.compare_means(table(), margin=0.1, method="wilcoxon")
    with pytest.raises(ValueError, match="margin must be below 1"):
        fastcmp.compare_means(table() > 0, margin=1)
    with pytest.raises(ValueError, match="margin must be below 1"):
        fastcmp.delong(*scores()).pairwise(margin=1)
