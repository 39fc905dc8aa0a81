"""All pairs of means against definitions pair by pair, other programs, and laws."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_designs import Design, Found, designs, draw_values, naive
from libraries import pa, pd, pl
from reference_cases import agree, cases, parametrize
from scipy import stats

import fastcmp
from fastcmp import compare_means, mean_difference

VARIANCES = ("cr0", "cr1", "cr2", "cr3")
DEGREES = ("satterthwaite", "clusters", "normal")
CODES = {"CR0": "cr0", "CR1": "cr1", "CR2": "cr2", "CR3": "cr3", "item": "cr2"}
DF = {"clusters_minus_1": "clusters", "normal": "normal"}
#: Small examples have more models than items.
pytestmark = pytest.mark.filterwarnings("ignore:values holds")


def options_of(case):
    """Options of `compare_means` and `mean_difference` from those of a case."""
    given = case["options"]
    found = {"variance": CODES[given["variance"]]} if "variance" in given else {}
    if given.get("reference") == "normal":
        found["df"] = "normal"
    elif "df" in given:
        found["df"] = DF.get(given["df"], given["df"])
    items = case["input"]
    for name, key in (("groups", "cluster"), ("strata", "stratum")):
        if key in items:
            found[name] = items[key]
    for name in ("weights", "stratum_weights"):
        if name in items:
            found[name] = items[name]
    return found


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
        result = compare_means(values, missing="pairwise", **options_of(case))
        near = {"rtol": case["tolerance"]["rtol"], "atol": case["tolerance"]["atol"]}
        i, j = result.pairs.T
        np.testing.assert_allclose(result.difference, np.array(wanted["difference"])[i, j], **near)
        np.testing.assert_allclose(result.standard_error, np.array(wanted["se"])[i, j], **near)
        same = np.array(wanted["se"])[i, j] == 0
        assert (result.standard_error[same] == 0).all()
        assert (result.pvalue[same] == 1).all()
        if test == "missing_pairs":
            assert (result.n_items_of_pairs == np.array(wanted["n"])[i, j]).all()


#: Models beside the two of a case, so that more than one pair is tested at once.
OTHERS = 5


def beside_others(case):
    """Put two models among others."""
    pair = np.array([case["input"][x] for x in "ab"], float)
    values = np.random.default_rng(1).normal(pair.mean(), 1, (OTHERS, pair.shape[1]))
    values[[3, 1]] = pair
    return values


TWO = (
    *("items_paired_t", "items_clustered_mean", "weighted_mean"),
    *("stratified_mean", "stratified_mean_crossed_clusters"),
)


def two_sided(test):
    """Cases of two models that can be compared."""
    return [
        case
        for case in cases(test)
        if case["options"].get("alternative") == "unequal" and "error" not in case["expected"]
    ]


@pytest.mark.parametrize("test", TWO)
def test_two_models_alone_and_among_others(test):
    for case in two_sided(test):
        pair = np.array([case["input"]["b"], case["input"]["a"]])
        for values, chosen in ((beside_others(case), (3, 1)), (pair, (1, 0))):
            result = compare_means(values, **options_of(case), pairs=[chosen])
            agree(case, result, "difference", "statistic", "pvalue", standard_error="se")
            if "ci" not in case["expected"]:
                continue
            assert case["options"].get("confidence", 0.95) == 0.95
            limits = case["expected"]["ci"]
            if np.isin(values, (0, 1)).all():
                limits = np.clip(limits, -1, 1)
            assert result.interval[0] == pytest.approx(limits, rel=1e-9, abs=1e-12)


@parametrize("macro_mean_random_tasks")
def test_tasks_as_a_random_sample(case):
    result = compare_means(
        beside_others(case), groups=case["input"]["task"], average="clusters", pairs=[(3, 1)]
    )
    agree(case, result, "difference", "df", "pvalue", standard_error="se", interval="ci")


@parametrize("pass_at_k_paired")
def test_answers_of_unequal_number(case):
    given, k = case["input"], case["options"]["k"]
    answers = {}
    for x in "ab":
        n = given[f"n_samples_{x}"]
        answers[x] = np.arange(n) < np.array(given[f"n_correct_{x}"])[:, None]
    result = compare_means(answers, repeats="pass@k", k=k)
    agree(case, result, "difference", "df", "statistic", "pvalue", standard_error="se")


@parametrize("repeats_components_pair")
def test_mean_answers(case):
    result = compare_means(np.array([case["input"]["a"], case["input"]["b"]]))
    agree(case, result, "difference", "pvalue", standard_error="se")
    agree(case, result.variance_components, "omega2")


@pytest.mark.parametrize(
    "options", [{"groups": True}, {"strata": True}, {"weights": True}], ids=str
)
@pytest.mark.parametrize("function", [compare_means, mean_difference])
def test_a_record_shows_one_standard_error(function, options):
    rng = np.random.default_rng(3)
    tasks = np.repeat(np.arange(12), 5)
    answers = rng.random((2, 60, 4)) < np.clip(0.5 + rng.normal(0, 0.3, (2, 12, 1)), 0, 1)[:, tasks]
    known = {name: tasks + (name == "weights") for name in options}
    result = compare_means(answers, **known)
    if function is mean_difference:
        result = mean_difference(*answers, **known)
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


@given(designs(), st.integers(0, 2**20))
def test_pairs_with_items_of_their_own(drawn, seed):
    values, design = drawn
    gone = np.random.default_rng(seed).random(values.shape) < 0.1
    gone[:, ::2] = False  # whole strata and clusters are asked for below
    values[gone] = np.nan
    agreed = "cr1" if design.crossed else "cr2"
    result = compare_means(values, **design.options, missing="pairwise", workers=1)
    for p, (i, j) in enumerate(result.pairs):
        both = ~np.isnan(values[i] - values[j])
        own = design.on(both)
        if not enough(design, own, both.sum()):
            continue
        own = own._replace(stratum_weights=shares(design))
        wanted = naive(values[i, both], values[j, both], own, agreed)
        assert result.difference[p] == pytest.approx(wanted.difference, rel=1e-9, abs=1e-9)
        assert result.standard_error[p] ** 2 == pytest.approx(wanted.variance, rel=1e-7, abs=1e-15)
        if gone.any():
            assert result.n_items_of_pairs[p] == both.sum()


def enough(design, own, n):
    """Whether a variance can be estimated on the items of a pair."""
    if n < 2:
        return False
    units = np.arange(n) if own.groups is None else own.groups
    if np.unique(units).size < 2:
        return False
    if own.strata is None:
        return True
    if set(own.strata) != set(design.strata):
        return False
    return design.crossed or all(
        np.unique(units[own.strata == h]).size > 1 for h in set(own.strata)
    )


def shares(design):
    """The weights of the strata, of all items."""
    if design.strata is None or isinstance(design.stratum_weights, dict):
        return design.stratum_weights
    labels = np.unique(design.strata).tolist()
    weights = np.ones(design.strata.size) if design.weights is None else design.weights
    if design.stratum_weights == "equal":
        return dict.fromkeys(labels, 1.0)
    return {h: float(weights[design.strata == h].sum()) for h in labels}


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
    if not enough(design, design.on(rest), n - 1):
        return
    common = compare_means(holes, **design.options, missing="common")
    left = compare_means(values[:, rest], **design.on(rest).options)
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


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
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


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.uint8, np.int64, np.int8])
def test_types_of_values(table, dtype):
    values = table.astype(dtype) if dtype is np.float32 else (table > 0).astype(dtype)
    own, doubles = compare_means(values), compare_means(values.astype(float))
    assert own.pvalue == pytest.approx(doubles.pvalue, rel=1e-9)
    assert own.difference == pytest.approx(doubles.difference, rel=1e-12, abs=1e-16)
    assert (own.only_a is None) == (dtype is np.float32)


def test_bits_are_values(table):
    values = (table > 0).astype(float)
    bits = compare_means(values)
    assert bits.only_a is not None
    values[:, 0] = 0.0
    values[0, 0] = 1e-9  # no longer 0 or 1
    again = compare_means(values)
    assert again.only_a is None
    whole = compare_means(np.where(values == 1e-9, 0.0, values))
    assert again.pvalue == pytest.approx(whole.pvalue, rel=1e-5)
    assert again.standard_error == pytest.approx(whole.standard_error, rel=1e-5)


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


@pytest.mark.parametrize("method", ["t", "permutation", "bootstrap", "wilcoxon"])
def test_threads_do_not_matter(table, design, method):
    options = design.options | {"method": method, "rng": 1, "n_resamples": 199}
    values = table
    if method != "t":
        values, options["groups"] = table[:7, :600], None if method == "wilcoxon" else design.groups
        for name in ("groups", "strata", "weights"):
            if options.get(name) is not None:
                options[name] = options[name][:600]
        if design.weights is not None or design.crossed or method == "wilcoxon":
            options = {"method": method, "rng": 1, "n_resamples": 199}
    one, *others = (compare_means(values, **options, workers=w) for w in (1, 4, 7))
    assert all(one == other for other in others)


def test_order_of_items_and_models(table, design):
    order = np.random.default_rng(1).permutation(3001)
    result = compare_means(table, **design.options)
    shuffled = compare_means(table[:, order], **design.on(order).options)
    assert shuffled.pvalue == pytest.approx(result.pvalue, rel=1e-7)
    assert shuffled.standard_error == pytest.approx(result.standard_error, rel=1e-8)
    turned = compare_means(table[::-1], **design.options)
    i, j = turned.pairs.T
    places = [result.pairs.tolist().index([10 - b, 10 - a]) for a, b in zip(i, j, strict=True)]
    assert turned.difference == pytest.approx(-result.difference[places], abs=1e-14)
    assert turned.pvalue == pytest.approx(result.pvalue[places], rel=1e-7)


def test_twins_and_constant_differences(table, design):
    values = np.stack(
        [table[0], table[1], table[0], np.round(table[0], 3) + 0.5, np.round(table[0], 3)]
    )
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


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("difference", [1e-9, 0.1])
def test_two_models_a_constant_apart_have_no_variance(table, design, size, difference):
    first = table[0] * size
    pair = first, first + difference * size
    alone = mean_difference(*pair, **design.options)
    together = compare_means(np.stack(pair), **design.options)
    assert together.standard_error[0] == alone.standard_error == 0.0
    assert together.pvalue[0] == alone.pvalue


# What is kept, and which pairs.


@pytest.mark.parametrize("method", ["t", "permutation", "bootstrap", "wilcoxon"])
def test_some_pairs_are_those_of_all(table, method, tmp_path):
    given = {"method": method, "n_resamples": 199, "rng": 3, "adjust": "bh"}
    values = table[:6, :200]
    everything = compare_means(values, **given)
    own = compare_means(values, **given, keep="significant")
    places = [everything.pairs.tolist().index(pair) for pair in own.pairs.tolist()]
    for name in ("pvalue", "pvalue_adjusted", "interval", "standard_error", "difference"):
        np.testing.assert_array_equal(getattr(own, name), getattr(everything, name)[places])
    assert own.n_significant == everything.n_significant
    some = compare_means(values, **given, keep=3)
    places = [everything.pairs.tolist().index(pair) for pair in some.pairs.tolist()]
    np.testing.assert_array_equal(some.pvalue, everything.pvalue[places])
    assert len(places) == 3
    compare_means(values, **given, keep=tmp_path / "all.npy")
    rows = np.load(tmp_path / "all.npy")
    np.testing.assert_array_equal(rows["pvalue"], everything.pvalue)
    chosen = compare_means(values, **given, pairs=[(4, 1), (0, 5)])
    back = everything.pairs.tolist().index([1, 4])
    assert chosen.difference[0] == -everything.difference[back]
    assert chosen.pvalue[0] == pytest.approx(everything.pvalue[back], rel=1e-12)
    control = compare_means(values, **given, control="model_2")
    assert control.pairs[:, 0].tolist() == [2] * 5
    assert control.control == "model_2"


# Where values come from.


def forms(values):
    """The same values from several libraries."""
    named = dict(zip("abcd", values, strict=True))
    long = {
        "item": np.tile(np.arange(values.shape[1]), 4),
        "model": np.repeat(list("abcd"), values.shape[1]),
        "value": values.ravel(),
    }
    return {
        "mapping": named,
        "lists": {k: v.tolist() for k, v in named.items()},
        "pandas": pd.DataFrame(named),
        "nullable": pd.DataFrame(named).convert_dtypes(),
        "polars": pl.DataFrame(named),
        "pyarrow": pa.table(named),
        "long": fastcmp.from_long(long),
        "strided": {k: np.repeat(v, 2)[::2] for k, v in named.items()},
    }


def test_libraries_agree(table):
    values = np.round(table[:4, :60], 3)
    wanted = compare_means(values, names=list("abcd"), groups=np.arange(60) // 3)
    for name, own in forms(values).items():
        found = compare_means(own, groups=np.arange(60) // 3)
        assert found == wanted, name


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
    assert "items that both models have" in words(
        np.where(calm() > 2, np.nan, calm()), missing="pairwise"
    )


def test_a_difference_without_variance_is_said():
    values = np.stack([calm()[0], np.round(calm()[1], 3), np.round(calm()[1], 3) + 0.5])
    assert "No variance" in words(values)
    assert "No variance" not in words(values[:2])
    assert "No variance" not in words(np.stack([calm()[0], calm()[1], calm()[1]]))


# The record.


def test_the_record_counts_units(table, design):
    result = compare_means(table[:4], **design.options)
    groups, strata = design.groups, design.strata
    assert result.n_clusters == (None if groups is None else np.unique(groups).size)
    assert result.n_strata == (None if strata is None else np.unique(strata).size)
    assert max(map(len, str(result).splitlines())) <= 80


@pytest.mark.parametrize("method", ["t", "permutation", "bootstrap"])
@pytest.mark.parametrize("name", ["plain", "clusters", "strata", "weights"])
def test_two_models_are_shown_in_full(table, method, name):
    values, design = table[:2, :210], DESIGNS[name](np.arange(210))
    values = np.round(values, 2)
    result = compare_means(values, method=method, **design.options, rng=5, n_resamples=499)
    pair = result.pair
    assert pair.difference == pytest.approx(result.difference[0], rel=1e-12)
    assert pair.standard_error == pytest.approx(result.standard_error[0], rel=1e-9)
    assert pair.statistic == pytest.approx(result.statistic[0], rel=1e-9)
    slack = 0.08 if method == "permutation" else 1e-12  # exact for two, drawn for many
    assert pair.pvalue == pytest.approx(result.pvalue[0], abs=slack)
    assert [pair.mean_a, pair.mean_b] == pytest.approx(result.score, rel=1e-12)
    alone = fastcmp.mean_difference(
        *values, method=method, **design.options, rng=5, n_resamples=499
    )
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


def test_losses_are_never_re_signed(table):
    more, less = (compare_means(table, lower_is_better=x) for x in (False, True))
    np.testing.assert_array_equal(more.difference, less.difference)
    np.testing.assert_array_equal(more.pvalue, less.pvalue)
    assert less.measure == "mean loss"
    assert more.best[0] != less.best[0]
    assert np.argmin(less.score) == int(less.best[0].removeprefix("model_"))
