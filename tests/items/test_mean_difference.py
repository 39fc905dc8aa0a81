"""Two means against definitions, other programs, and laws."""

import numpy as np
import pytest
from cases import case as named
from hypothesis import given
from hypothesis import strategies as st
from item_designs import designs, naive
from reference_cases import agree, cases, expected, parametrize

import fastcmp
from fastcmp import compare_means, mean_difference, means_unpaired
from fastcmp.kernels import Status

VARIANCES = {"CR0": "cr0", "CR1": "cr1", "CR2": "cr2", "CR3": "cr3", "item": "cr2"}
DEGREES = {"clusters_minus_1": "clusters"}
SIDES = {"unequal": "two-sided", "greater": "greater", "less": "less"}
TESTS = (
    *("items_paired_t", "items_paired_z", "items_clustered_mean", "weighted_mean"),
    *("stratified_mean", "stratified_mean_crossed_clusters"),
)


def compared(case, **more):
    """Compare the two models of a case."""
    given, items = case["options"], case["input"]
    found = {"alternative": SIDES[given.get("alternative", "unequal")]}
    if "variance" in given:
        found["variance"] = VARIANCES[given["variance"]]
    df = "normal" if given.get("reference") == "normal" else given.get("df")
    if df is not None:
        found["df"] = DEGREES.get(df, df)
    names = {"cluster": "groups", "stratum": "strata"}
    for name in ("cluster", "stratum", "weights", "stratum_weights"):
        if name in items:
            found[names.get(name, name)] = items[name]
    level = given.get("confidence", 0.95)
    return mean_difference(items["a"], items["b"], confidence_level=level, **found | more)


@pytest.mark.parametrize("case", [x for test in TESTS for x in cases(test)], ids=lambda x: x["id"])
def test_like_other_programs(case):
    if "error" in case["expected"]:
        with pytest.raises(ValueError, match=r"at least (two|2) items"):
            compared(case)
        return
    result = compared(case)
    agree(case, result, "difference", "statistic", "pvalue", standard_error="se")
    if "df" in case["expected"]:
        assert result.df == expected(case, "df")
    if "df_design" in case["expected"]:
        assert compared(case, df="clusters").df == expected(case, "df_design")
    if "effective_items" in case["expected"]:
        assert result.n_effective == expected(case, "effective_items")
    if "ci" in case["expected"]:
        limits = [float(end) for end in case["expected"]["ci"]]
        if np.isin((case["input"]["a"], case["input"]["b"]), (0, 1)).all():
            limits = np.clip(limits, -1, 1).tolist()
        assert result.interval == pytest.approx(limits, rel=1e-9, abs=1e-12)


@parametrize("miller_standard_errors")
def test_standard_errors_of_miller(case):
    a, b, clusters = (case["input"][x] for x in ("a", "b", "cluster"))
    plain = mean_difference(a, b)
    agree(case, plain, "correlation", standard_error="se_paired")
    agree(case, plain, standard_error_a="se_clt_a", standard_error_b="se_clt_b")
    unpaired = np.hypot(plain.standard_error_a, plain.standard_error_b)
    assert unpaired == expected(case, "se_unpaired")
    clustered = mean_difference(a, b, groups=clusters, variance="cr0", df="normal")
    assert clustered.standard_error == expected(case, "se_paired_clustered")
    # His equation 4 adds to the plain variance, which has another divisor.
    excess = plain.standard_error_a / np.sqrt(len(a))
    equation_4 = np.hypot(clustered.standard_error_a, excess)
    assert equation_4 == expected(case, "se_clustered_eq4_a")


@parametrize("macro_mean_random_tasks")
def test_tasks_as_a_random_sample(case):
    a, b, tasks = (case["input"][x] for x in ("a", "b", "task"))
    result = mean_difference(a, b, groups=tasks, average="clusters")
    agree(case, result, "difference", "df", "statistic", "pvalue")
    agree(case, result, standard_error="se", interval="ci")


@parametrize("pass_at_k_paired")
def test_answers_of_unequal_number(case):
    given, k = case["input"], case["options"]["k"]
    answers = [
        np.arange(given[f"n_samples_{x}"]) < np.array(given[f"n_correct_{x}"])[:, None]
        for x in "ab"
    ]
    values = [
        fastcmp.pass_at_k(given[f"n_correct_{x}"], given[f"n_samples_{x}"], k=k) for x in "ab"
    ]
    for result in (mean_difference(*answers, repeats="pass@k", k=k), mean_difference(*values)):
        agree(case, result, "difference", "df", "statistic", "pvalue", standard_error="se")


@parametrize("repeats_components_pair")
def test_mean_answers(case):
    result = mean_difference(case["input"]["a"], case["input"]["b"])
    agree(case, result, "difference", "df", "statistic", "pvalue", standard_error="se")
    agree(case, result.variance_components, "omega2")


# Definitions and laws.

sides = st.sampled_from([("two-sided", 0), ("greater", 1), ("less", -1)])
kinds = st.sampled_from(["cr0", "cr1", "cr2", "cr3"])
degrees = st.sampled_from(["satterthwaite", "clusters", "normal"])


@given(designs(), kinds, degrees, sides)
def test_every_design(drawn, variance, df, side):
    (a, b, *_), design = drawn
    variance = "cr1" if design.crossed else variance
    result = mean_difference(
        a, b, variance=variance, df=df, alternative=side[0], **design.options, rng=1
    )
    wanted = naive(a, b, design, variance, df)
    size = max(np.abs(a).max(), np.abs(b).max())
    assert result.difference == pytest.approx(wanted.difference, rel=1e-9, abs=4e-16 * size)
    assert result.standard_error == pytest.approx(wanted.variance**0.5, rel=1e-8, abs=1e-15 * size)
    degrees = np.inf if result.df is None else result.df
    assert degrees == pytest.approx(wanted.df, rel=1e-6)
    found = wanted._replace(
        difference=result.difference, variance=result.standard_error**2, df=degrees
    )
    if result.standard_error > 0 or not result.difference:  # else the exact test's
        assert result.pvalue == pytest.approx(found.pvalue(side[1]), rel=1e-9, abs=1e-300)
    level = 0.95 if side[1] == 0 else 0.90
    ends = list(found.ends(level))
    bounded = np.isin((a, b), (0, 1)).all()
    if bounded:
        ends = np.clip(ends, -1, 1)
    if side[1]:
        ends[1 if side[1] > 0 else 0] = side[1] * (1 if bounded else np.inf)
    if result.standard_error > 0 or not (bounded or result.difference):
        assert list(result.interval) == pytest.approx(ends, rel=1e-9, abs=1e-12 * size)
    for mean, error, x in (
        (result.mean_a, result.standard_error_a, a),
        (result.mean_b, result.standard_error_b, b),
    ):
        alone = naive(x, np.zeros_like(x), design, variance, df)
        assert mean == pytest.approx(alone.difference, rel=1e-12)
        assert error == pytest.approx(alone.variance**0.5, rel=1e-7, abs=1e-14 * size)


@given(designs())
def test_a_model_and_itself(drawn):
    (a, *_), design = drawn
    result = mean_difference(a, a.copy(), **design.options)
    assert (result.difference, result.standard_error, result.statistic) == (0, 0, 0)
    assert result.pvalue == 1
    assert result.status == Status.DEGENERATE
    if np.isin(a, (0, 1)).all():
        assert -1 <= result.interval.low == -result.interval.high < 0
    else:
        assert result.interval == (0, 0)
    assert result.better is None
    assert not any("variance" in caution for caution in result.cautions)


# The record.


def test_flips_beside_where_t_alone_is_not_safe():
    a, b = np.random.default_rng(1).normal(size=(2, 60))
    assert mean_difference(a, b).signflip_pvalue is None
    few = mean_difference(a[:12], b[:12])
    assert few.signflip_pvalue == mean_difference(a[:12], b[:12], method="permutation").pvalue
    assert any("skewed" in x for x in few.cautions)
    assert mean_difference(a, b, groups=np.arange(60) // 3).signflip_pvalue is not None
    a[3] = 1000.0
    skewed = mean_difference(a, b)
    assert skewed.signflip_pvalue > skewed.pvalue / 3
    assert any("so skewed" in x for x in skewed.cautions)


def test_a_difference_without_variance():
    a, b = np.array([0.5, 0.75, 1.5]), np.array([0.25, 0.5, 1.25])
    for side, pvalue in (("two-sided", 0.25), ("greater", 0.125), ("less", 1.0)):
        result = mean_difference(a, b, alternative=side)
        assert result.difference == 0.25
        assert np.isnan([result.statistic, *result.interval]).all()
        assert (result.pvalue, result.status) == (pvalue, Status.DEGENERATE)
        assert result.cautions[-1] == (
            "No variance was observed: the p-value is of the exact permutation test."
        )
        assert result.signflip_pvalue == pvalue
        assert "nan" not in str(result)
        turned = {"greater": "less", "less": "greater"}.get(side, side)
        assert mean_difference(-a, -b, alternative=turned).pvalue == pvalue


def test_right_and_wrong_on_all_items():
    result = mean_difference([1, 1, 1], [0, 0, 0])
    assert (result.pvalue, result.status) == (0.25, Status.DEGENERATE)
    assert result.interval.high == 1
    assert -1 < result.interval.low < 0
    assert compare_means([[1, 1, 1], [0, 0, 0]]).pvalue == 0.25


def test_the_record_fits():
    a, b = np.random.default_rng(1).normal(size=(2, 40))
    result = mean_difference(
        *(a, b),
        groups=np.arange(40) // 2,
        strata=np.arange(40) // 10,
        names=("a model of a rather long name", "b" * 40),
        lower_is_better=True,
    )
    assert max(map(len, str(result).splitlines())) <= 80
    assert result.better == ("a" if result.difference < 0 else "b")
    assert (result.n_items, result.n_clusters, result.n_strata) == (40, 20, 4)
    assert result.largest_cluster == pytest.approx(0.05)


def test_the_design_effect():
    a, b = np.random.default_rng(1).normal(size=(2, 40))
    groups = np.arange(40) // 4
    plain, own = mean_difference(a, b), mean_difference(a, b, groups=groups)
    ratio = (own.standard_error / plain.standard_error) ** 2
    assert own.design_effect == pytest.approx(ratio)
    assert plain.design_effect == 1
    weights = np.repeat([1.0, 3.0], 20)
    assert mean_difference(a, b, weights=weights).n_effective == pytest.approx(32)
    assert plain.n_effective is None


# Scale: values, and weights, of any size.

_GROUPS, _STRATA = [i // 4 for i in range(40)], [i // 20 for i in range(40)]
_WEIGHTS = [1.0 + i % 5 for i in range(40)]


def drawn_values():
    return np.random.default_rng(7).normal(size=(4, 40))


def _pair(values, **options):
    result = mean_difference(values[0], values[1], rng=1, n_resamples=499, **options)
    return result, (result.mean_a, result.standard_error_a, *result.interval)


def _unpaired(values, **options):
    result = means_unpaired(values[0], values[1, :30], **options)
    return result, (result.mean_a, *result.interval, result.null_difference)


def _many(values, **options):
    if options.get("missing"):
        values = np.where(np.arange(40) % 9 == np.arange(4)[:, np.newaxis], np.nan, values)
    result = compare_means(values, rng=1, n_resamples=499, **options)
    return result, (*result.score, *result.score_interval.ravel(), *result.interval.ravel())


#: Functions of values, by name: a record, and numbers in the unit of the values.
SCALED = {
    "pair": (_pair, {"margin": 0.5}),
    "pair, clusters": (_pair, {"groups": _GROUPS, "margin": 0.5}),
    "pair, strata": (_pair, {"strata": _STRATA, "stratum_weights": "equal"}),
    "pair, weights": (_pair, {"weights": _WEIGHTS, "margin": 0.5}),
    "pair, permutation": (_pair, {"method": "permutation"}),
    "pair, bootstrap": (_pair, {"method": "bootstrap"}),
    "unpaired": (_unpaired, {"null_difference": 0.1, "margin": 0.5}),
    "many": (_many, {"margin": 0.5}),
    "many, clusters": (_many, {"groups": _GROUPS, "adjust": "maxt", "simultaneous": True}),
    "many, permutation": (_many, {"method": "permutation"}),
    "many, bootstrap": (_many, {"method": "bootstrap"}),
    "many, wilcoxon": (_many, {"method": "wilcoxon", "interval": "hodges-lehmann"}),
    "many, missing": (_many, {"missing": "pairwise", "margin": 0.5}),
}


@pytest.mark.parametrize("name", SCALED)
def test_values_of_any_size(name):
    compare, options = SCALED[name]
    wanted, plain = compare(drawn_values(), **options)
    for power in (-300, -109, 162, 300):
        scale = 10.0**power
        units = {k: scale * options[k] for k in ("margin", "null_difference") if k in options}
        found, numbers = compare(drawn_values() * scale, **options | units)
        unit = scale if "permutation" in name else 1.0  # then it is the difference itself
        with named(power):
            assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-9)
            assert found.statistic / unit == pytest.approx(wanted.statistic, rel=1e-9)
            assert wanted.df is None or found.df == pytest.approx(wanted.df, rel=1e-9)
            assert found.difference / scale == pytest.approx(wanted.difference, rel=1e-9)
            error = found.standard_error / scale
            assert error == pytest.approx(wanted.standard_error, rel=1e-9)
            assert np.array(numbers) / scale == pytest.approx(np.array(plain), rel=1e-9)
            if wanted.margins is not None:
                own, other = found.margins, wanted.margins
                assert own.pvalue_lower == pytest.approx(other.pvalue_lower, rel=1e-9)
                ends = np.divide(own.interval, scale)
                assert ends == pytest.approx(np.array(other.interval), rel=1e-9)
                assert np.array_equal(own.decision, other.decision)
                assert own.margin == 0.5 * scale


@pytest.mark.parametrize("power", [-300, 150])
def test_weights_of_any_size(power):
    drawn = drawn_values()
    for compare, values in ((mean_difference, drawn[:2]), (compare_means, (drawn,))):
        for more in ({}, {"groups": _GROUPS}, {"strata": _STRATA}):
            wanted = compare(*values, weights=_WEIGHTS, **more)
            found = compare(*values, weights=np.multiply(_WEIGHTS, 10.0**power), **more)
            for field in ("pvalue", "statistic", "difference", "standard_error"):
                own = getattr(found, field)
                assert own == pytest.approx(getattr(wanted, field), rel=1e-9)


def test_pairs_in_a_file_have_the_unit_of_the_values(tmp_path):
    path = tmp_path / "pairs.npy"
    compare_means(drawn_values() * 1e-200, keep=path)
    rows, wanted = np.load(path), compare_means(drawn_values())
    assert rows["difference"] / 1e-200 == pytest.approx(wanted.difference)
    assert rows["high"] / 1e-200 == pytest.approx(wanted.interval[:, 1])
    assert rows["pvalue"] == pytest.approx(wanted.pvalue)


# Intervals of right and wrong answers.

RATES = {
    "plain": {},
    "clusters": {"groups": [i // 2 for i in range(20)]},
    "weights": {"weights": [1.0 + i % 3 for i in range(20)]},
    "strata": {"strata": [i // 10 for i in range(20)], "stratum_weights": "equal"},
    "missing": {"missing": "pairwise"},
    "cluster means": {"groups": [i // 2 for i in range(20)], "average": "clusters"},
    "normal": {"df": "normal"},
}


@pytest.mark.parametrize("name", RATES)
def test_intervals_of_rates_end_at_the_limits_of_the_measure(name):
    a, b = (np.arange(20) != 3).astype(float), (np.arange(20) % 7 != 3).astype(float)
    many = [a, b, np.ones(20), np.zeros(20)]
    if name == "missing":
        many[1] = np.where(np.arange(20) == 19, np.nan, b)
    else:
        for side in ("two-sided", "greater", "less"):
            found = mean_difference(a, b, alternative=side, **RATES[name])
            assert found.interval.low == -1 if side == "less" else found.interval.low > -1
            assert found.interval.high == 1 if side == "greater" else found.interval.high < 1
    result = compare_means(many, **RATES[name])
    low, high = result.score_interval.T
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (high - low > 0.01).all()
    assert (np.abs(result.interval) <= 1).all()
