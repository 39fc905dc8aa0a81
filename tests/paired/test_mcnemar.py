"""McNemar's test from labels and from counts, and all that its record says."""

from dataclasses import replace
from fractions import Fraction
from math import inf

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import ALTERNATIVES, cases, cells, expected, parametrize
from strategies import alternatives, codes, count_pairs, levels, tables

from fastcmp import mcnemar, mcnemar_from_counts, mcnemar_table
from fastcmp.kernels import DEGENERATE, OK, UNCONDITIONAL_MAX_N

METHODS = ("midp", "exact", "asymptotic", "corrected", "unconditional")
NAMES = {0: "two-sided", 1: "greater", -1: "less"}
INTERVALS = ("wald", "newcombe", "tango", "bonett-price", "agresti-min")


def from_table(table, **options):
    both_right, only_a, only_b, both_wrong = table
    return mcnemar_from_counts(
        only_a, only_b, both_right=both_right, both_wrong=both_wrong, **options
    )


def labels_of(table):
    """Make labels whose table it is, of three classes in some order."""
    right_a = np.repeat([True, True, False, False], table)
    right_b = np.repeat([True, False, True, False], table)
    order = np.random.default_rng(0).permutation(right_a.size)
    y_true = np.arange(right_a.size) % 3
    a, b = (np.where(right, y_true, (y_true + 1) % 3) for right in (right_a, right_b))
    return y_true[order], a[order], b[order]


# What the p-values are.


#: What the cases call them; other rules for ties and corrections are not offered.
REFERENCES = {
    "mcnemar_exact": ("exact", None),
    "mcnemar_midp": ("midp", "fagerland: 1-0.5*f(n12)"),
    "mcnemar_asymptotic": ("asymptotic", "yates_half"),
    "mcnemar_unconditional": ("unconditional", None),
}


@pytest.mark.parametrize("test", REFERENCES)
def test_against_references(test):
    method, not_offered = REFERENCES[test]
    for case in cases(test):
        if not_offered in case["options"].values():
            continue
        alternative = NAMES[ALTERNATIVES[case["options"]["alternative"]]]
        corrected = case["options"].get("correction") == "edwards"
        options = {"method": "corrected" if corrected else method, "alternative": alternative}
        result = from_table(cells(case), **options)
        assert result.pvalue == expected(case, "pvalue")
        if "statistic" in case["expected"]:
            assert result.statistic == expected(case, "statistic")
        if sum(cells(case)) < 10**6:
            assert mcnemar(*labels_of(cells(case)), **options) == result


@given(count_pairs(200), alternatives)
def test_all_methods_against_their_definitions(pair, alternative):
    a, b = pair
    for method, oracle in {
        "midp": naive.mcnemar_midp,
        "exact": naive.mcnemar_exact,
        "asymptotic": naive.mcnemar_asymptotic,
        "corrected": lambda *x: naive.mcnemar_asymptotic(*x, correction=1),
    }.items():
        options = {"method": method, "alternative": NAMES[alternative]}
        result = mcnemar_from_counts(a, b, **options)
        assert result.pvalue == pytest.approx(float(oracle(a, b, alternative)), rel=1e-9)
        chi_square = naive.mcnemar_statistic(a, b, int(method == "corrected"))
        root = naive.sign(a - b) * float(chi_square) ** 0.5
        assert result.zscore == pytest.approx(root, rel=1e-12)
        if method in ("midp", "exact"):
            expect = {0: min(a, b), 1: b, -1: a}[alternative]
        else:
            expect = root if alternative else float(chi_square)
        assert result.statistic == pytest.approx(expect, rel=1e-12)
        assert result.status == (DEGENERATE if a + b == 0 else OK)


@pytest.mark.parametrize("sign", [0, 1, -1])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("a", "b"), [(11, 1), (3, 20), (7, 7), (0, 4)])
def test_the_statistic_and_its_distribution_give_the_pvalue(a, b, method, sign):
    alternative = NAMES[sign]
    result = from_table((30, a, b, 9), method=method, alternative=alternative)
    statistic = result.statistic
    binomial = stats.binom(a + b, 0.5)
    if result.distribution == "binomial":
        pvalue = binomial.cdf(statistic)
        pvalue -= 0.5 * binomial.pmf(statistic) if method == "midp" else 0.0
        pvalue = min(1.0, 2 * pvalue) if alternative == "two-sided" else pvalue
    elif result.distribution == "chi2":
        pvalue = stats.chi2.sf(statistic, result.df)
    elif result.distribution == "normal":
        pvalue = stats.norm.sf(sign * statistic)
    else:
        assert (result.distribution, method) == ("trinomial", "unconditional")
        return
    assert result.df == (1 if result.distribution == "chi2" else None)
    assert result.pvalue == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(11, 1), (3, 20), (25, 15), (7, 7), (400, 310)])
def test_peers_agree(a, b):
    import mlxtend.evaluate
    from statsmodels.stats import contingency_tables

    table = [[50, a], [b, 9]]
    for exact, method in [(True, "exact"), (False, "asymptotic")]:
        result = mcnemar_from_counts(a, b, method=method)
        peer = contingency_tables.mcnemar(table, exact=exact, correction=False)
        assert result.pvalue == pytest.approx(peer.pvalue, rel=1e-9)
        assert result.statistic == pytest.approx(peer.statistic, rel=1e-12)
        _, pvalue = mlxtend.evaluate.mcnemar(np.array(table), exact=exact, corrected=False)
        assert result.pvalue == pytest.approx(pvalue, rel=1e-9)
    if a != b:  # peers count a correction that changes the sign of the difference
        chi2, pvalue = mlxtend.evaluate.mcnemar(np.array(table), corrected=True)
        result = mcnemar_from_counts(a, b, method="corrected")
        assert (result.statistic, result.pvalue) == pytest.approx((chi2, pvalue))


def test_the_table_is_laid_out_as_that_of_mlxtend():
    from mlxtend.evaluate import mcnemar_table as peer

    y_true, a, b = np.random.default_rng(1).integers(4, size=(3, 500))
    table = mcnemar_table(y_true, a, b)
    assert table.tolist() == peer(y_true, a, b).tolist()
    assert table.dtype == np.int64


@parametrize("contingency_from_labels")
def test_table_against_references(case):
    labels = (case["input"][name] for name in ("y", "model1", "model2"))
    table = mcnemar_table(*labels).ravel().tolist()
    assert table == np.ravel(case["expected"]["table"]).tolist()


@given(codes())
def test_labels_are_counted(drawn):
    if drawn.shape[1] < 2:
        with pytest.raises(ValueError, match=r"^y_true must hold at least 2 samples"):
            mcnemar(*drawn)
        return
    table = naive.paired_table(*drawn.tolist())
    assert mcnemar_table(*drawn).tolist() == table
    result = mcnemar(*drawn)
    assert result.table.tolist() == table
    counted = from_table([*table[0], *table[1]])
    assert replace(result, n_outside=()) == counted


# Laws.


@given(tables(10**6), st.sampled_from(METHODS[:4]))
def test_swapping_the_models_mirrors_the_answer(table, method):
    both_right, only_a, only_b, both_wrong = table
    mirror = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
    for alternative, other in mirror.items():
        ab = from_table(table, method=method, alternative=alternative)
        swapped = (both_right, only_b, only_a, both_wrong)
        ba = from_table(swapped, method=method, alternative=other)
        assert ab.pvalue == ba.pvalue
        signed = ab.distribution == "normal"
        assert ab.statistic == (-ba.statistic if signed else ba.statistic)
        assert ab.difference == -ba.difference
        assert {ab.better, ba.better} in ({"a", "b"}, {None})
        assert ab.zscore == -ba.zscore
        assert ab.accuracy_a == ba.accuracy_b


# From counts: shapes and types.


@pytest.mark.parametrize("method", METHODS)
def test_arrays_are_answered_one_by_one(method):
    only_a = np.array([[3, 0, 7], [2, 2, 30]])
    only_b = np.array([1, 0, 9])
    result = from_table((20, only_a, only_b, np.array([[4], [5]])), method=method)
    assert result.pvalue.shape == result.statistic.shape == result.status.shape == (2, 3)
    assert result.table.shape == (2, 3, 2, 2)
    low, high = result.confidence_interval(0.9)
    odds_low, odds_high = result.odds_ratio_interval(0.9)
    for i, j in np.ndindex(2, 3):
        table = (20, int(only_a[i, j]), int(only_b[j]), 4 + i)
        one = from_table(table, method=method)
        assert one.pvalue == result.pvalue[i, j]
        assert one.statistic == result.statistic[i, j]
        assert one.accuracy_a == result.accuracy_a[i, j]
        assert one.difference == result.difference[i, j]
        assert one.table.tolist() == result.table[i, j].tolist()
        assert one.confidence_interval(0.9) == (low[i, j], high[i, j])
        assert one.odds_ratio_interval(0.9) == (odds_low[i, j], odds_high[i, j])
        assert repr(float(one.odds_ratio)) == repr(float(result.odds_ratio[i, j]))


def test_who_did_better_in_arrays():
    pairs = mcnemar_from_counts([3, 1, 2], [1, 3, 2])
    assert pairs.better.tolist() == ["a", "b", None]
    with pytest.raises(ValueError, match=r"^counts must broadcast to one shape, got only_a \(2,"):
        mcnemar_from_counts([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"^only_a \+ only_b \+ both_right must be at most"):
        mcnemar_from_counts(2**52, [1, 2**52], both_right=2**52)


def test_numbers_in_numbers_out():
    for only_a in (3, 3.0, np.int8(3), np.uint64(3), np.array(3)):
        result = from_table((10, only_a, 1, 2))
        intervals = *result.confidence_interval(), *result.odds_ratio_interval()
        numbers = result.statistic, result.pvalue, result.difference, result.odds_ratio, *intervals
        assert {type(x) for x in numbers} == {float}
        assert {type(x) for x in (result.only_a, result.n_samples, result.status)} == {int}
    assert mcnemar(*labels_of((10, 3, 1, 2))) == result


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_no_tests_at_all(shape):
    nothing = np.zeros(shape, int)
    for method in METHODS:
        result = from_table((nothing, nothing, 1, 1), method=method)
        assert result.pvalue.shape == shape
        assert result.confidence_interval().low.shape == shape
        assert result.odds_ratio_interval().high.shape == shape


BAD_COUNTS = [
    (-inf, ValueError, "must not be negative, got -inf"),
    ([3, -7], ValueError, "must not be negative, got -7"),
    ([1.0, 2.25], ValueError, "must be whole numbers, got 2.25"),
    (inf, ValueError, r"must be at most 2\*\*53, got inf"),
    (2**53 + 1, ValueError, r"must be at most 2\*\*53, got 9007199254740993"),
    (2**70, ValueError, r"must be at most 2\*\*53, got 1180591620717411303424"),
    (True, TypeError, "must be whole numbers, got bool values"),
    ([[1, 2], [3]], (TypeError, ValueError), "must be "),
]


@pytest.mark.parametrize(("bad", "error", "said"), BAD_COUNTS, ids=lambda x: str(x)[:20])
@pytest.mark.parametrize("place", ["only_a", "only_b", "both_right", "both_wrong"])
def test_bad_counts(bad, error, said, place):
    counts = {"only_a": 1, "only_b": 2, "both_right": 3, "both_wrong": 4}
    counts[place] = bad
    with pytest.raises(error, match=f"^{place} {said}"):
        mcnemar_from_counts(counts.pop("only_a"), counts.pop("only_b"), **counts)


def test_unknown_options_list_the_known_ones():
    result = from_table((40, 11, 1, 8))
    for call, name, known in (
        (lambda x: mcnemar([0, 1], [0, 1], [1, 1], method=x), "method", METHODS),
        (lambda x: mcnemar_from_counts(1, 2, alternative=x), "alternative", NAMES.values()),
        (lambda x: result.confidence_interval(method=x), "method", INTERVALS),
        (lambda x: result.odds_ratio_interval(method=x), "method", ("exact", "midp")),
    ):
        with pytest.raises(ValueError, match=rf"^{name} must be one of .*, got 'mid'") as e:
            call("mid")
        assert all(repr(word) in str(e.value) for word in known)
    for spelled, method in (("mid-p", "midp"), ("MIDP", "midp"), ("Edwards", "corrected")):
        result = mcnemar_from_counts(1, 2, method=spelled, alternative="larger")
        assert result == mcnemar_from_counts(1, 2, method=method, alternative="greater")


def test_bad_labels():
    for function in (mcnemar, mcnemar_table):
        with pytest.raises(ValueError, match=r"^y_true must hold at least 2 samples, got 1"):
            function([1], [1], [1])
        with pytest.raises(ValueError, match=r"^pred_a has no prediction at row 1"):
            function([1, 0], [1, None], [1, 0])
        with pytest.raises(TypeError, match=r"^pred_b holds str labels and y_true"):
            function([1, 0], [1, 0], ["a", "b"])


def test_missing_and_excluded_samples():
    y_true = ["a", "b", None, "c", "a", "b"]
    a = ["a", "b", "a", "c", "b", None]
    b = ["b", "b", "a", "c", "b", "b"]
    options = {"classes": ["a", "b"], "missing": "wrong"}
    result = mcnemar(y_true, a, b, **options)
    assert (result.n_missing, result.n_excluded, result.n_samples) == (1, 1, 4)
    assert result.table.tolist() == mcnemar_table(y_true, a, b, **options).tolist()
    assert result.table.tolist() == [[1, 1], [1, 1]]
    assert "1 samples without a true label were dropped." in str(result)
    assert "1 samples of other classes were dropped." in str(result)


# The unconditional test.


@pytest.mark.parametrize("alternative", [0, 1, -1])
def test_unconditional_against_enumeration(alternative):
    tables = [(4, 3, 1, 2), (0, 5, 0, 4), (9, 0, 0, 1), (2, 1, 6, 1), (4, 3, 1, 2)]
    result = from_table(np.array(tables).T, method="unconditional", alternative=NAMES[alternative])
    for (r, a, b, w), pvalue in zip(tables, result.pvalue, strict=True):
        oracle = naive.mcnemar_unconditional(a, b, r + a + b + w, alternative)
        assert pvalue == pytest.approx(oracle, rel=1e-7)


@pytest.mark.parametrize("extra", [{}, {"both_right": 3}, {"both_wrong": 3}])
def test_unconditional_needs_all_counts(extra):
    wanted = r"^method='unconditional' needs both_right and both_wrong$"
    with pytest.raises(ValueError, match=wanted):
        mcnemar_from_counts(3, 1, method="unconditional", **extra)


def test_unconditional_refuses_what_is_too_large():
    n = UNCONDITIONAL_MAX_N
    wanted = rf"^method='unconditional' takes at most {n} samples, got {n + 1}: use"
    with pytest.raises(ValueError, match=wanted) as caught:
        from_table((n - 4, [4, 4], 1, 0), method="unconditional")
    assert "method='midp'" in str(caught.value)


# The record.


@given(tables(10**9))
def test_what_follows_from_the_table(table):
    both_right, only_a, only_b, both_wrong = table
    n = sum(table)
    result = from_table(table)
    assert result.n_samples == n
    assert result.table.tolist() == [[both_right, only_a], [only_b, both_wrong]]
    assert result.accuracy_a == (both_right + only_a) / n
    assert result.accuracy_b == (both_right + only_b) / n
    assert result.difference == pytest.approx(result.accuracy_a - result.accuracy_b, abs=1e-15)
    assert result.statistic == min(only_a, only_b)
    chi_square = float(naive.mcnemar_statistic(only_a, only_b))
    assert result.zscore**2 == pytest.approx(chi_square)
    assert naive.sign(float(result.zscore)) == naive.sign(only_a - only_b)


def test_odds_ratio():
    for only_a, only_b, ratio in ((6, 3, 2.0), (0, 3, 0.0), (3, 0, inf), (0, 0, np.nan)):
        result = mcnemar_from_counts(only_a, only_b)
        assert result.odds_ratio == pytest.approx(ratio, nan_ok=True)
        assert not result.odds_ratio_interval()[0] > ratio


ORACLES = {
    "wald": lambda r, a, b, w, level: naive.wald(a, b, r + a + b + w, level),
    "newcombe": naive.newcombe,
    "tango": lambda r, a, b, w, level: naive.tango(a, b, r + a + b + w, level),
    "bonett-price": lambda r, a, b, w, level: naive.bonett_price(a, b, r + a + b + w, level),
    "agresti-min": lambda r, a, b, w, level: naive.wald(
        a + Fraction(1, 2), b + Fraction(1, 2), r + a + b + w + 2, level
    ),
}


@given(tables(300), levels, st.sampled_from(INTERVALS))
def test_intervals_against_their_definitions(table, level, method):
    interval = from_table(table).confidence_interval(level, method)
    oracle = ORACLES[method](*table, level)
    assert tuple(interval) == pytest.approx(oracle, abs=1e-8)
    assert interval.low <= interval.high


@parametrize("paired_difference_ci")
def test_intervals_against_references(case):
    names = {"newcombe10": "newcombe", "bonett_price": "bonett-price", "agresti_min": "agresti-min"}
    method, level = case["options"]["method"], case["options"]["confidence"]
    low, high = from_table(cells(case)).confidence_interval(level, names.get(method, method))
    assert low == expected(case, "lower")
    assert high == expected(case, "upper")


@given(count_pairs(60), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_odds_ratio_intervals_against_their_definitions(pair, level):
    for method, weight in (("exact", 1), ("midp", 0.5)):
        interval = mcnemar_from_counts(*pair).odds_ratio_interval(level, method)
        if sum(pair):
            oracle = naive.odds_ratio(*pair, level, weight)
            assert tuple(interval) == pytest.approx(oracle, rel=1e-6)
        else:
            assert tuple(interval) == (0.0, inf)


@pytest.mark.parametrize("given", [{}, {"both_right": 5}, {"both_wrong": 5}])
def test_what_needs_all_counts_says_so(given):
    result = mcnemar_from_counts(3, 1, **given)
    for name in ("table", "n_samples", "accuracy_a", "accuracy_b", "difference", "effect"):
        with pytest.raises(ValueError, match=r"needs all four counts: pass both_right="):
            getattr(result, name)
    with pytest.raises(ValueError, match=r"needs all four counts"):
        result.confidence_interval()
    assert result.odds_ratio == 3
    assert (result.better, result.measure) == ("a", "accuracy")
    assert "Only a is right on 3 samples, only b on 1." in str(result)


@pytest.mark.parametrize(
    ("table", "lead"),
    [
        ((70, 15, 5, 10), "Model a is more accurate by 10.00 percentage points ("),
        ((70, 5, 15, 10), "Model b is more accurate by 10.00 percentage points ("),
        ((70, 5, 5, 20), "Both models are right equally often ("),
    ],
)
def test_effect_says_which_model_is_better(table, lead):
    result = from_table(table)
    low, high = result.confidence_interval()
    assert result.effect.startswith(lead)
    ends = f"95% CI [{100 * low:+.2f}, {100 * high:+.2f}]"
    assert result.effect.endswith(f"(a minus b, {ends}).")


def test_unconditional_refuses_what_takes_minutes():
    only_a = np.arange(1, 301)
    with pytest.raises(ValueError, match=r"too long for 300 different tables .*'midp'"):
        from_table((2_000_000 - only_a, only_a, 0, 0), method="unconditional")
