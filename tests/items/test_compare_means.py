"""All pairs of means against definitions pair by pair, other programs, and laws."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from cases import case as named
from hypothesis import given
from hypothesis import strategies as st
from item_designs import Design, Found, designs, draw_values, naive
from libraries import stats
from reference_cases import cases

from fastcmp import compare_means, mean_difference

VARIANCES = ("cr0", "cr1", "cr2", "cr3")
DEGREES = ("satterthwaite", "clusters", "normal")
#: Small examples have more models than items.
pytestmark = pytest.mark.filterwarnings("ignore:values holds")


def pairs_of(result):
    """What the record says of each pair."""
    df = result.df
    df = [np.inf if df is None else df] * len(result.pairs) if np.ndim(df) == 0 else df
    columns = result.difference, result.standard_error**2, df, result.pvalue
    return zip(result.pairs.tolist(), *columns, result.interval.tolist(), strict=True)


def agrees(result, values, design, variance="cr2", df="satterthwaite"):
    """Compare each pair of the record with its definition."""
    size = np.abs(values).max()
    for (i, j), difference, found, degrees, pvalue, ends in pairs_of(result):
        both = ~np.isnan(values[i] - values[j])
        wanted = naive(values[i, both], values[j, both], design.on(both), variance, df)
        assert difference == pytest.approx(wanted.difference, rel=1e-9, abs=4e-16 * size)
        # What 64 bits hold of values that are far from 0.
        slack = 1e-12 * size * abs(wanted.variance) ** 0.5
        assert found == pytest.approx(wanted.variance, rel=1e-8, abs=slack)
        assert degrees == pytest.approx(wanted.df, rel=1e-6)
        # Of what was found, so that no digit is asked for twice.
        own = Found(difference, found, degrees)
        bounded = np.isin(values[~np.isnan(values)], (0, 1)).all()
        if found > 0 or not difference:  # else the exact test's
            assert pvalue == pytest.approx(own.pvalue(), rel=1e-9, abs=1e-300)
        if found > 0 or not (bounded or difference):
            limits = np.clip(own.ends(), -1, 1) if bounded else own.ends()
            assert list(ends) == pytest.approx(list(limits), rel=1e-9, abs=1e-12 * size)


# References.


@pytest.mark.parametrize("test", ["items_all_pairs_clustered", "missing_pairs"])
def test_all_pairs_like_pair_by_pair(test):
    for case in cases(test):
        values, wanted = np.array(case["input"]["values"], float).T, case["expected"]
        variance = {"item": "cr2"}.get(case["options"]["variance"], "cr1")
        options = {"groups": case["input"].get("cluster"), "variance": variance}
        result = compare_means(values, missing="pairwise", **options)
        near = {"rtol": case["tolerance"]["rtol"], "atol": case["tolerance"]["atol"]}
        i, j = result.pairs.T
        np.testing.assert_allclose(result.difference, np.array(wanted["difference"])[i, j], **near)
        np.testing.assert_allclose(result.standard_error, np.array(wanted["se"])[i, j], **near)
        same = np.array(wanted["se"])[i, j] == 0
        assert (result.standard_error[same] == 0).all()
        assert (result.pvalue[same] == 1).all()
        if test == "missing_pairs":
            assert (result.n_items_of_pairs == np.array(wanted["n"])[i, j]).all()


@pytest.mark.parametrize("name", ["groups", "strata", "weights"])
def test_a_record_shows_one_standard_error(name):
    rng = np.random.default_rng(3)
    tasks = np.repeat(np.arange(12), 5)
    answers = rng.random((2, 60, 4)) < np.clip(0.5 + rng.normal(0, 0.3, (2, 12, 1)), 0, 1)[:, tasks]
    known = {name: tasks + (name == "weights")}
    for result in (compare_means(answers, **known), mean_difference(*answers, **known)):
        assert result.variance_components is None
        assert "SE items only" not in str(result)


# Definitions.


@given(designs(), st.sampled_from(VARIANCES), st.sampled_from(DEGREES))
def test_every_design(drawn, variance, df):
    values, design = drawn
    variance = "cr1" if design.crossed else variance
    result = compare_means(
        values, **design.options, variance=variance, df=df, workers=1, adjust="none"
    )
    agrees(result, values, design, variance, df)


@given(designs(crossed=False), st.integers(0, 2**20))
def test_common_items_and_wrong_ones(drawn, seed):
    values, design = drawn
    n = values.shape[1]
    holes = np.where(np.arange(n) == seed % n, np.nan, values)
    holes[1:] = values[1:]
    whole = compare_means(np.nan_to_num(holes), **design.options)
    wrong = compare_means(holes, **design.options, missing="wrong")
    np.testing.assert_array_equal(wrong.pvalue, whole.pvalue)
    assert wrong.n_missing_values == (1, *[0] * (len(values) - 1))
    rest = np.arange(n) != seed % n
    strata = np.zeros(n) if design.strata is None else design.strata
    if set(strata) != set(strata[rest]):
        return
    try:
        left = compare_means(values[:, rest], **design.on(rest).options)
    except ValueError:  # too few are left for a variance
        with pytest.raises(ValueError, match="at least"):
            compare_means(holes, **design.options, missing="common")
        return
    common = compare_means(holes, **design.options, missing="common")
    np.testing.assert_array_equal(common.pvalue, left.pvalue)
    assert (common.n_dropped, common.n_samples) == (1, n - 1)


# The ways through the package: all give the same.


@pytest.fixture
def table():
    """Values of items of several models, two of them the same, and hard items."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=3001) + 0.3 * rng.normal(size=(11, 3001))
    values[7] = values[2]
    return values


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("models", [11, 40])
def test_ways_to_the_products(table, models, offset):
    # Products of few models are formed in other ways than those of many.
    values = np.resize(table, (models, 3001))
    if models > 11:
        values = values + np.random.default_rng(1).normal(size=(models, 1)) / 8
    values = np.round(values * 2**20) / 2**20 + offset  # no digit is lost by adding
    result = compare_means(values)
    if models == 11:
        agrees(result, values, Design())
    else:
        d = values[result.pairs[:, 0]] - values[result.pairs[:, 1]]
        near = {"rtol": 1e-8, "atol": 1e-11 * (1 + offset / 1e4)}
        np.testing.assert_allclose(result.difference, d.mean(axis=1), **near)
        np.testing.assert_allclose(result.standard_error, d.std(axis=1, ddof=1) / 3001**0.5, **near)
        return
    twins = result.pairs.tolist().index([2, 7])
    assert result.difference[twins] == result.standard_error[twins] == 0
    assert result.pvalue[twins] == 1
    assert result.score[2] == result.score[7]


DESIGNS = {
    "plain": lambda _: Design(),
    "clusters": lambda i: Design(i // 7),
    "strata": lambda i: Design(None, i % 3, "equal"),
    "both": lambda i: Design(i % 300, i % 3),
    "across": lambda i: Design(i // 7, i % 3, crossed=True),
    "weights": lambda i: Design(weights=1.0 + i % 5),
}


@pytest.fixture(params=DESIGNS)
def design(request):
    return DESIGNS[request.param](np.arange(3001))


def test_twins_and_constant_differences(table, design):
    values = np.stack([*table[[0, 1, 0]], np.round(table[0], 3) + 0.5, np.round(table[0], 3)])
    result = compare_means(values, **design.options)
    found = dict(zip(map(tuple, result.pairs.tolist()), range(10), strict=True))
    twins, apart = found[0, 2], found[3, 4]
    assert result.difference[twins] == result.statistic[twins] == 0
    assert result.standard_error[twins] == 0
    assert result.pvalue[twins] == 1
    assert result.difference[apart] == pytest.approx(0.5)
    assert result.standard_error[apart] == 0
    assert np.isnan([result.statistic[apart], *result.interval[apart]]).all()
    n_units = values.shape[1] if design.groups is None else len(np.unique(design.groups))
    assert result.pvalue[apart] == 2.0 ** (1 - n_units)


def test_two_models_a_constant_apart_have_no_variance(table, design):
    for size, difference in product((1e-6, 1.0, 1e6), (1e-9, 0.1)):
        first = table[0] * size
        pair = first, first + difference * size
        alone = mean_difference(*pair, **design.options)
        together = compare_means(np.stack(pair), **design.options)
        with named(size, difference):
            assert together.standard_error[0] == alone.standard_error == 0.0
            assert together.pvalue[0] == alone.pvalue


# What is kept, and which pairs.


@pytest.mark.parametrize("method", ["t", "permutation", "bootstrap", "wilcoxon"])
def test_some_pairs_are_those_of_all(table, method, tmp_path):
    given = {"method": method, "n_resamples": 199, "rng": 3, "adjust": "bh"}
    values = table[:6, :200]
    everything = compare_means(values, **given)
    places = {tuple(pair): i for i, pair in enumerate(everything.pairs.tolist())}
    for keep in ("significant", 3):
        own = compare_means(values, **given, keep=keep)
        at = [places[tuple(pair)] for pair in own.pairs.tolist()]
        assert len(at) == (own.n_significant if keep == "significant" else 3)
        for name in ("pvalue", "pvalue_adjusted", "interval", "standard_error", "difference"):
            np.testing.assert_array_equal(getattr(own, name), getattr(everything, name)[at])
    compare_means(values, **given, keep=tmp_path / "all.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "all.npy")["pvalue"], everything.pvalue)
    chosen = compare_means(values, **given, pairs=[(4, 1), (0, 5)])
    assert chosen.difference[0] == -everything.difference[places[1, 4]]
    assert chosen.pvalue[0] == pytest.approx(everything.pvalue[places[1, 4]], rel=1e-12)
    control = compare_means(values, **given, control="model_2")
    assert control.pairs[:, 0].tolist() == [2] * 5
    assert control.control == "model_2"


# Where values come from.


# Cautions.


@cache
def calm():
    values = draw_values("normal", 3, 60, np.random.default_rng(0))
    values.flags.writeable = False
    return values


def words(values=None, **options):
    """All cautions as one text."""
    result = compare_means(calm() if values is None else values, **options, n_resamples=99, rng=1)
    for caution in result.cautions:
        assert " ".join(caution.split()[:3]) in str(result)
    return " ".join(result.cautions)


CAUTIONS = {
    "degrees of freedom": lambda i: {"groups": i // 20},
    "One cluster holds": lambda i: {"groups": np.minimum(i // 2, 15)},
    "Normal quantiles": lambda i: {"df": "normal", "groups": i // 2},
    "too short": lambda i: {"method": "bootstrap", "interval": "bca", "groups": i // 2},
    "no two-sided p-value is below": lambda i: {"method": "permutation", "groups": i // 15},
    "not a test of means": lambda _: {"method": "wilcoxon"},
}


@pytest.mark.parametrize("phrase", CAUTIONS)
def test_cautions_where_they_belong(phrase):
    items = np.arange(60)
    assert phrase in words(**CAUTIONS[phrase](items))
    for other, options in CAUTIONS.items():
        if phrase not in (other, "degrees of freedom"):
            assert phrase not in words(**options(items))


def test_no_caution_without_a_reason():
    assert words() == ""
    assert words(groups=np.arange(60) // 2) == ""
    assert words(method="bootstrap") == ""
    assert words(method="permutation") == ""
    # Many small strata have many degrees of freedom together.
    assert words(groups=np.arange(60) // 2, strata=np.arange(60) // 6) == ""


def test_few_items_and_skew():
    assert "no test of means is safe" in words(calm()[:, :20])
    assert "no test" not in words(calm()[:, :20], groups=np.arange(20))
    skewed = calm().copy()
    skewed[0, 5] += 1000
    assert "2 pairs are so skewed" in words(skewed)
    assert "skewed" not in words(skewed, pairs=[(1, 2)])
    assert "skewed" not in words(skewed, method="permutation")
    holes = np.where(calm() > 2, np.nan, calm())
    assert "items that both models have" in words(holes, missing="pairwise")
    values = np.stack([calm()[0], np.round(calm()[1], 3), np.round(calm()[1], 3) + 0.5])
    assert "No variance" in words(values)
    assert "No variance" not in words(np.stack([*values[:2], values[1]]))


# The record.


@pytest.mark.parametrize(
    ("method", "name"),
    [("t", "plain"), ("t", "strata"), ("permutation", "clusters"), ("bootstrap", "weights")],
)
def test_two_models_are_shown_in_full(table, method, name):
    values, design = np.round(table[:2, :210], 2), DESIGNS[name](np.arange(210))
    options = {"method": method, "rng": 5, "n_resamples": 499} | design.options
    result = compare_means(values, **options)
    pair = result.pair
    assert pair.difference == pytest.approx(result.difference[0], rel=1e-12)
    assert pair.standard_error == pytest.approx(result.standard_error[0], rel=1e-9)
    assert pair.statistic == pytest.approx(result.statistic[0], rel=1e-9)
    slack = 0.08 if method == "permutation" else 1e-12  # exact for two, drawn for many
    assert pair.pvalue == pytest.approx(result.pvalue[0], abs=slack)
    assert [pair.mean_a, pair.mean_b] == pytest.approx(result.score, rel=1e-12)
    alone = mean_difference(*values, **options)
    assert (alone.pvalue, alone.interval) == (pair.pvalue, pair.interval)


def test_intervals_of_each_mean():
    """Student's; of rates Wilson's, for the independent items that would vary as much."""
    values, groups = np.random.default_rng(3).normal(size=(3, 60)), np.arange(60) // 5
    for x, ends in zip(values, compare_means(values).score_interval.tolist(), strict=True):
        assert ends == pytest.approx(list(stats.ttest_1samp(x, 0).confidence_interval()))
    right = (values > np.array([[-0.5], [0.3], [-9.0]])).astype(float)  # the last always
    rate = right.mean(axis=1)
    sums = np.array([np.bincount(groups, x - p) for x, p in zip(right, rate, strict=True)]) / 60
    variance = 12 / 11 * (sums**2).sum(axis=1)
    n = np.append(np.minimum((rate * (1 - rate))[:2] / variance[:2], 60), 12)
    options = {"groups": groups, "variance": "cr1"}
    for df, q in (("normal", stats.norm.isf(0.025)), ("clusters", stats.t.isf(0.025, 11))):
        found = compare_means(right, **options, df=df).score_interval
        middle = (rate + q**2 / 2 / n) / (1 + q**2 / n)
        half = q / (1 + q**2 / n) * np.sqrt(rate * (1 - rate) / n + q**2 / 4 / n**2)
        np.testing.assert_allclose(found, np.stack([middle - half, middle + half], 1), atol=1e-12)
