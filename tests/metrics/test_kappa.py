"""Cohen's kappa and Scott's pi: values, standard errors, intervals and tests."""

from math import atanh, isnan, nan, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import pd, pl, stats
from reference_cases import agree, cases, expected, parametrize
from strategies import square_tables

from fastcmp import cohen_kappa, count_labels
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED

WEIGHTS = (None, "linear", "quadratic")
#: What is here of the metrics that references name.
METRICS = {
    "kappa": {},
    "kappa_linear": {"weights": "linear"},
    "kappa_quadratic": {"weights": "quadratic"},
    "scott_pi": {"method": "scott"},
}
TABLE = [[26, 5, 4, 0, 0], [13, 7, 7, 3, 0], [3, 7, 7, 8, 1], [0, 3, 5, 8, 2]]
TABLE += [[0, 0, 1, 2, 8]]


def raters_of(table):
    """Make the labels of two raters whose table it is."""
    k = len(table)
    return np.repeat(np.indices((k, k)).reshape(2, -1), np.ravel(table), axis=1)


def naive(table, v, pooled):
    """Kappa by its definition, from weights of disagreement."""
    table = np.asarray(table, float)
    n = table.sum()
    r, c = table.sum(axis=1) / n, table.sum(axis=0) / n
    if pooled:
        r = c = (r + c) / 2
    cells = list(np.ndindex(table.shape))
    observed = sum(v[i, j] * table[i, j] for i, j in cells) / n
    by_chance = sum(v[i, j] * r[i] * c[j] for i, j in cells)
    return 1 - observed / by_chance if by_chance else nan


def naive_error(table, v, pooled):
    """The delta method with numerical derivatives by each cell."""
    table = np.asarray(table, float)
    variance = 0.0
    for cell in np.ndindex(table.shape):
        if table[cell]:
            step = 1e-5 * table[cell]
            up, down = table.copy(), table.copy()
            up[cell] += step
            down[cell] -= step
            slope = (naive(up, v, pooled) - naive(down, v, pooled)) / (2 * step)
            variance += table[cell] * slope**2
    return sqrt(variance)


def naive_null_error(table, v, pooled):
    """The same at the table that is expected by chance."""
    table = np.asarray(table, float)
    n = table.sum()
    r, c = table.sum(axis=1), table.sum(axis=0)
    if pooled:
        r = c = (r + c) / 2
    return naive_error(np.outer(r, c) / n, v, pooled)


def matrix_of(weights, k):
    apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    return {None: 1.0 * (apart > 0), "linear": apart, "quadratic": apart**2}[weights]


# References.


@parametrize("kappa_null_test")
def test_null_tests_against_references(case):
    options = case["options"]
    found = cohen_kappa(
        table=case["input"]["confusion"],
        weights=options["weights"],
        alternative=options["alternative"],
    )
    agree(case, found, "value", "statistic", "pvalue", standard_error_null="se_null")


@pytest.mark.parametrize(
    "case",
    [case for case in cases("metric_se") if case["options"]["metric"] in METRICS],
    ids=lambda case: case["id"],
)
def test_standard_errors_against_references(case):
    options = case["options"]
    found = cohen_kappa(
        table=case["input"]["confusion"],
        **METRICS[options["metric"]],
        interval="wald",
        confidence_level=options["confidence"],
    )
    agree(case, found, "value", standard_error="se")
    assert found.interval.low == expected(case, "lower")
    assert found.interval.high == expected(case, "upper")


# Other programs, and definitions.


@given(
    square_tables(max_classes=4),
    st.sampled_from(["linear", "quadratic", None, "own"]),
    st.sampled_from(["cohen", "scott"]),
)
def test_standard_errors_are_derivatives(table, weights, method):
    k, pooled = len(table), method == "scott"
    if not table.sum():
        return
    if weights == "own":
        rng = np.random.default_rng(int(table.sum()))
        weights = v = rng.random((k, k)) * (1 - np.eye(k))
        if not v.any():
            return
    else:
        v = matrix_of(weights, k)
    found = cohen_kappa(table=table, weights=weights, method=method)
    value = naive(table, v, pooled)
    assert found.value == pytest.approx(value, abs=1e-9, nan_ok=True)
    if found.status != OK:
        return
    wanted = naive_error(table, v, pooled), naive_null_error(table, v, pooled)
    got = found.standard_error, found.standard_error_null
    assert got == pytest.approx(wanted, rel=1e-4, abs=1e-8)
    assert found.statistic == pytest.approx(value / wanted[1], rel=1e-4, abs=1e-7)


def test_intervals():
    z = stats.norm.isf(0.05)
    two = cohen_kappa(table=TABLE, confidence_level=0.9)
    k, se = two.value, two.standard_error
    half = z * se / (1 - k * k)
    ends = tanh(atanh(k) - half), tanh(atanh(k) + half)
    assert tuple(two.interval) == pytest.approx(ends)
    more, less = (cohen_kappa(table=TABLE, alternative=x) for x in ("greater", "less"))
    assert more.interval == (pytest.approx(ends[0]), 1)
    assert less.interval == (-1, pytest.approx(ends[1]))


@pytest.mark.full
def test_one_sided_sizes_of_the_null_test():
    rng = np.random.default_rng(3)
    share = np.outer([0.5, 0.3, 0.2], [0.4, 0.4, 0.2])
    draws = rng.multinomial(200, share.ravel(), size=2000).reshape(-1, 3, 3)
    for weights in (None, "quadratic"):
        found = [
            cohen_kappa(table=x, weights=weights, alternative="greater").pvalue
            for x in draws[:1000]
        ]
        assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.02)


# Edges.


@pytest.mark.parametrize("table", [[[9]], [[9, 0], [0, 0]], [[0, 0], [0, 0]]])
@pytest.mark.parametrize("method", ["cohen", "scott"])
def test_chance_that_always_agrees_is_undefined(table, method):
    found = cohen_kappa(table=table, method=method)
    assert found.status == UNDEFINED
    numbers = (found.value, found.standard_error, found.standard_error_null)
    assert np.isnan([*numbers, found.statistic, found.pvalue, *found.interval]).all()
    assert "undefined" in str(found)
    assert isnan(cohen_kappa([2, 2, 2], [2, 2, 2]).value)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_rater_of_one_label_agrees_as_by_chance(weights):
    for table in ([[5, 3, 1], [0, 0, 0], [0, 0, 0]], [[0, 7, 0], [0, 1, 0], [0, 4, 0]]):
        found = cohen_kappa(table=table, weights=weights)
        assert (found.value, found.statistic, found.pvalue) == (0, 0, 1)
        assert found.standard_error == found.standard_error_null == 0
        assert found.status == DEGENERATE
        assert np.isnan(found.interval).all()
        assert "one label only" in str(found)
    assert cohen_kappa(table=[[5, 3], [0, 0]], method="scott").status == OK


@pytest.mark.parametrize("interval", ["atanh", "wald"])
def test_a_standard_error_of_0_gives_no_interval(interval):
    for table, value in (([[5, 0], [0, 4]], 1), ([[0, 5], [5, 0]], -1)):
        found = cohen_kappa(table=table, interval=interval)
        assert (found.value, found.standard_error) == (value, 0)
        assert np.isnan(found.interval).all()
        assert found.status == OK
        assert 0 < found.pvalue < 0.05
        assert "gives no interval" in str(found)


def test_huge_counts():
    table = np.array(TABLE) * 10**13
    found = cohen_kappa(table=table)
    small = cohen_kappa(table=TABLE)
    assert found.value == pytest.approx(small.value, rel=1e-12)
    assert found.standard_error * sqrt(1e13) == pytest.approx(small.standard_error)
    rare = cohen_kappa(table=[[10**15, 0], [0, 1]])
    assert (rare.value, rare.standard_error) == (1, 0)


# Labels.


def test_labels_and_tables_agree():
    a, b = raters_of(TABLE)
    expect = cohen_kappa(table=TABLE, weights="linear")
    words = np.array(["ant", "bee", "cat", "dog", "eel"])
    for x, y in ((a.astype(float).tolist(), b), (pd.Series(a), pl.Series(b)), (a - 7, b - 7)):
        found = cohen_kappa(x, y, weights="linear")
        assert (found.value, found.pvalue) == (expect.value, expect.pvalue)
    named = cohen_kappa(words[a], words[b], weights="linear", labels=list(words))
    assert named.value == expect.value
    assert named.labels == tuple(words)
    turned = cohen_kappa(words[a], words[b], weights="linear", labels=words[::-1])
    assert turned.value == pytest.approx(expect.value)
    assert turned.table.tolist() == np.array(TABLE)[::-1, ::-1].tolist()
    models = count_labels(words[a], words[a], words[b])
    assert cohen_kappa(table=models).labels == tuple(words)
    assert str(expect).startswith("Cohen's kappa (linear weights)")
    assert str(cohen_kappa(table=TABLE, method="scott")).startswith("Scott's pi")


def test_a_gap_in_the_order_of_the_labels():
    from sklearn.metrics import cohen_kappa_score

    a, b = [1, 1, 2, 2, 5, 5, 5, 2], [1, 2, 2, 5, 5, 5, 2, 2]
    closed = cohen_kappa(a, b, weights="linear")
    wide = cohen_kappa(a, b, weights="linear", labels=[1, 2, 3, 4, 5])
    assert closed.value == pytest.approx(cohen_kappa_score(a, b, weights="linear"))
    theirs = cohen_kappa_score(a, b, weights="linear", labels=[1, 2, 3, 4, 5])
    assert wide.value == pytest.approx(theirs)
    assert closed.value != pytest.approx(wide.value)
    assert "labels= with all of them keeps the gaps" in " ".join(str(closed).split())
    assert "gaps" not in str(wide)
    assert cohen_kappa(a, b, labels=[1, 2, 3, 4, 5]).value == pytest.approx(cohen_kappa(a, b).value)


def test_items_with_other_labels_are_left_out_and_counted():
    a, b = [0, 1, 2, 1, 0, 2], [0, 1, 1, 2, 1, 2]
    found = cohen_kappa(a, b, labels=[0, 1])
    assert found.n_excluded == 3
    assert found.value == cohen_kappa([0, 1, 0], [0, 1, 1]).value
    assert "3 items with other labels were left out." in str(found)


def test_words_have_no_order():
    a = ["low", "high", "mid", "low", "mid"]
    b = ["low", "mid", "mid", "low", "high"]
    with pytest.raises(ValueError, match=r"^labels must be given in their order for"):
        cohen_kappa(a, b, weights="linear")
    found = cohen_kappa(a, b, weights="linear", labels=["low", "mid", "high"])
    assert found.value == cohen_kappa([0, 2, 1, 0, 1], [0, 1, 1, 0, 2], weights="linear").value
    assert cohen_kappa(a, b).status == OK  # without weights there is no order
    two = cohen_kappa(["no", "yes", "no"], ["no", "yes", "yes"], weights="quadratic")
    assert two.status == OK
    with pytest.raises(ValueError, match=r"^rater_a and the others hold \d+ different"):
        cohen_kappa(*np.random.default_rng(0).random((2, 5000)))
