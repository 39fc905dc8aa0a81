"""Metrics of a confusion matrix: values, influences, and one sample left out."""

import math
from fractions import Fraction
from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from libraries import mpmath
from strategies import square_tables

from fastcmp import kernels
from fastcmp.kernels.metric_jackknife import metric_errors
from fastcmp.kernels.metric_slopes import mean_rate_limits

RATES = (
    {"recall": kernels.RECALL, "precision": kernels.PRECISION}
    | {"specificity": kernels.SPECIFICITY, "npv": kernels.NPV, "fbeta": kernels.F_BETA}
    | {"jaccard": kernels.JACCARD, "fowlkes_mallows": kernels.FOWLKES_MALLOWS}
    | {"informedness": kernels.INFORMEDNESS, "markedness": kernels.MARKEDNESS}
    | {"lr_plus": kernels.LR_PLUS, "lr_minus": kernels.LR_MINUS}
    | {"diagnostic_odds_ratio": kernels.ODDS_RATIO}
)
WHOLE = {
    "accuracy": kernels.ACCURACY,
    "mcc": kernels.MCC,
    "kappa": kernels.KAPPA,
    "scott_pi": kernels.SCOTT_PI,
    "cost": kernels.COST,
}
AVERAGES = {"one": kernels.ONE_CLASS, "macro": kernels.MACRO, "weighted": kernels.WEIGHTED} | {
    "micro": kernels.MICRO,
    "geometric": kernels.GEOMETRIC,
    "of_means": kernels.OF_MEANS,
}
NO_PENALTY = np.empty((0, 0))


class Asked(NamedTuple):
    """A metric as the kernels take it, and by the names of the definitions."""

    name: str
    average: str
    spec: kernels.MetricSpec
    listed: np.ndarray
    penalty: np.ndarray

    def arguments(self, table):
        return np.array(table, float), self.spec, self.listed, self.penalty

    def counted(self, table):
        """List the classes that an average is over."""
        rows, columns = np.sum(table, axis=1), np.sum(table, axis=0)
        called = (self.spec.labels == kernels.UNION) & (columns > 0)
        seen = (self.spec.labels == kernels.LISTED) | (rows > 0) | called
        return np.flatnonzero(seen & (self.listed > 0)).tolist()

    def value(self, table, counted, number=Fraction):
        """Compute the metric by its definition; None where it has none."""
        if not np.sum(table):
            return None
        table = [[number(cell) for cell in row] for row in table]
        if self.name in WHOLE:
            penalty = None
            if self.penalty.size:
                penalty = [[Fraction(cell) for cell in row] for row in self.penalty]
                if number is not Fraction:
                    penalty = self.penalty.tolist()
            return naive.agreement(table, self.name, penalty)
        zero, beta = self.spec.zero_division, number(self.spec.beta)
        zero = None if math.isnan(zero) else number(zero)
        if self.average == "one":
            cells = naive.one_against_rest(table, self.spec.label)
            found = naive.confusion_rate(self.name, cells, beta)
            return zero if found is None and self.name in WITH_ZERO else found
        return naive.average_of_rates(table, self.name, self.average, counted, beta, zero)

    def number(self, table):
        """Compute the metric by its definition; NaN where it has none."""
        value = self.value(np.asarray(table).tolist(), self.counted(table))
        return math.nan if value is None else float(value)


WITH_ZERO = RATES.keys() - naive.WITHOUT_ZERO


@st.composite
def metrics(draw, k):
    """Draw a metric of K classes."""
    name = draw(st.sampled_from([*RATES, *WHOLE]))
    average = "one"
    if name in RATES:
        known = [each for each in AVERAGES if each not in ("geometric", "of_means")]
        known += ["geometric"] * (name in WITH_ZERO) + ["of_means"] * (name == "fbeta")
        average = draw(st.sampled_from(known))
    penalty = NO_PENALTY
    if name == "cost" or (name == "kappa" and draw(st.booleans())):
        flat = draw(st.lists(st.integers(0, 9), min_size=k * k, max_size=k * k))
        penalty = np.array(flat, float).reshape(k, k)
        if name == "kappa":
            np.fill_diagonal(penalty, 0.0)
    spec = kernels.MetricSpec(
        (RATES | WHOLE)[name],
        AVERAGES[average],
        draw(st.integers(0, k - 1)),
        draw(st.sampled_from([0.5, 1.0, 2.0])),
        draw(st.sampled_from([0.0, 1.0, math.nan])),
        draw(st.sampled_from([kernels.UNION, kernels.TRUTH, kernels.LISTED])),
    )
    listed = draw(st.lists(st.integers(0, 1), min_size=k, max_size=k))
    return Asked(name, average, spec, np.array(listed, np.uint8), penalty)


@st.composite
def metrics_of_tables(draw, **sizes):
    table = draw(square_tables(**sizes))
    return draw(metrics(len(table))), table


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)


@given(drawn=metrics_of_tables())
def test_equals_the_definition(drawn):
    asked, table = drawn
    assert kernels.metric_value(*asked.arguments(table)) == close(asked.number(table))


@given(drawn=metrics_of_tables(max_classes=4, largest=6))
def test_without_a_sample_equals_the_definition(drawn):
    asked, table = drawn
    out = np.empty(table.shape)
    kernels.metric_leave_one_out(*asked.arguments(table), out)
    for t, y in np.ndindex(table.shape):
        less = table.copy()
        less[t, y] -= 1
        expected = asked.number(less) if table[t, y] else math.nan
        assert out[t, y] == close(expected), (t, y)


@given(drawn=metrics_of_tables(max_classes=4))
def test_influences_are_derivatives(drawn):
    asked, table = drawn
    # At the edge of being defined a metric has no derivative.
    assume(table.sum() > 0 and len(table) > 1)
    constant = (table.sum(axis=1) == table.sum()).any() or (
        (table.sum(axis=0) == table.sum()).any()
    )
    assume(asked.name not in ("mcc", "kappa", "scott_pi") or not constant)
    value, counted = asked.value(table.tolist(), asked.counted(table)), None
    out = np.empty(table.shape)
    found = kernels.metric_influence(*asked.arguments(table), out)
    assert found == close(asked.number(table))
    if value is None:
        assert np.isnan(out).all()
        return
    if asked.average == "geometric" and value == 0:
        assert not out.any()
        return
    counted = asked.counted(table)
    shares = table / table.sum()
    assert (shares * out).sum() == pytest.approx(0.0, abs=1e-11 * (1 + abs(out).max()))

    def function(moved):
        # Empty cells stay empty: what has no samples stays without.
        kept = np.where(table > 0, np.array(moved, object), mpmath.mpf(0)).tolist()
        return asked.value(kept, counted, mpmath.mpf)

    expected = naive.influence_by_digits(table.tolist(), function)
    known = table > 0
    scale = 1e-11 * (1.0 + abs(expected[known]).max())
    np.testing.assert_allclose(out[known], expected[known], rtol=1e-10, atol=scale)


def every_metric(k, labels=kernels.UNION):
    """List all metrics of K classes once, without zero_division."""
    penalty = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) * 1.5
    listed = np.ones(k, np.uint8)
    for name, code in (RATES | WHOLE).items():
        weighted = [NO_PENALTY, penalty] if name == "kappa" else [NO_PENALTY]
        for costs in [penalty] if name == "cost" else weighted:
            for average in AVERAGES if name in RATES else ["one"]:
                if average == "geometric" and name not in WITH_ZERO:
                    continue
                if average != "one" and RATES[name] >= kernels.LR_PLUS:
                    continue  # sums of what has no bound cancel
                if average == "of_means" and name != "fbeta":
                    continue
                spec = kernels.MetricSpec(code, AVERAGES[average], k - 1, labels=labels)
                yield Asked(name, average, spec, listed, costs)


def names_of(asked):
    return f"{asked.name}-{asked.average}{'-penalty' * bool(asked.penalty.size)}"


BIG = 2**50
#: Counts near the largest that float64 holds, and classes of one sample in a billion.
EXTREME = {
    "2**53": [[BIG, 3, 5], [7, 4 * BIG, 11], [BIG // 3, 2, 2 * BIG]],
    "rare positive": [[10**9, 3], [1, 1]],
    "rare negative": [[1, 1], [2, 10**9]],
    "rare negative, all right": [[1, 0], [0, 10**9]],
    "one rare call": [[1, 10**9], [0, 1]],
    "rare class of three": [[10**9, 2, 0], [3, 10**5, 0], [0, 1, 1]],
    "nothing to do with the truth": [[25 * 10**7 + 1, 25 * 10**7], [25 * 10**7] * 2],
}


@pytest.mark.parametrize("name", EXTREME)
def test_nothing_cancels(name):
    whole = np.array(EXTREME[name], object)
    for asked in every_metric(len(whole)):
        # To some units in the last place of 1, or of the value if that is larger.
        close = pytest.approx(asked.number(whole), rel=2e-15, abs=2e-15, nan_ok=True)
        assert kernels.metric_value(*asked.arguments(whole)) == close, names_of(asked)
        out = np.empty(whole.shape)
        kernels.metric_leave_one_out(*asked.arguments(whole), out)
        for t, y in zip(*np.nonzero(whole), strict=True):
            less = whole.copy()
            less[t, y] -= 1
            assert out[t, y] == pytest.approx(
                asked.number(less), rel=4e-15, abs=4e-15, nan_ok=True
            ), (names_of(asked), t, y)


@pytest.mark.parametrize("n", [3, 7, 11, 49, 10**6 + 3, 10**9 + 7])
def test_the_last_sample_of_a_class_leaves_nothing(n):
    table = np.array([[n, 0], [0, 1]], float)
    for asked in every_metric(2):
        if asked.name not in ("mcc", "kappa", "scott_pi"):
            continue
        out = np.empty((2, 2))
        kernels.metric_leave_one_out(*asked.arguments(table), out)
        expected = 0.0 if asked.name == "mcc" else math.nan
        assert out[1, 1] == pytest.approx(expected, abs=0.0, nan_ok=True), asked.name


@given(drawn=metrics_of_tables(max_classes=4), jackknife=st.booleans())
def test_errors_follow_from_influences(drawn, jackknife):
    asked, table = drawn
    table, *of = asked.arguments(table)
    psi, left, out = np.empty(table.shape), np.full(table.shape, np.nan), np.empty((1, 2))
    kernels.metric_influence(table, *of, psi)
    n, moves = table.sum(), bool(((psi != 0.0) & (table > 0.0)).any())
    assume(n > 1)
    u = psi
    if jackknife:
        kernels.metric_leave_one_out(table, *of, left)
        left = np.where(table > 0.0, left, 0.0)
        u = np.where(table > 0.0, (n - 1.0) * ((table * left).sum() / n - left), 0.0)
    metric_errors(table[np.newaxis], *of, jackknife, out)
    error = np.sqrt((table * u * u).sum() / (n * (n - jackknife)))
    assert out[0].tolist() == [pytest.approx(error, rel=1e-9, abs=1e-12, nan_ok=True), moves]


@given(table=square_tables(max_classes=5), rate=st.sampled_from(["recall", "jaccard", "npv"]))
def test_limits_of_means_of_rates_by_their_correlations(table, rate):
    table, code, z = np.array(table, float), RATES[rate], 1.96
    k, d, r, c, n = len(table), np.diagonal(table), table.sum(1), table.sum(0), table.sum()
    x, size = {"recall": (d, r), "jaccard": (d, r + c - d), "npv": (n - r - c + d, n - c)}[rate]
    classes = np.flatnonzero(size > 0)
    assume(classes.size)
    smooth, psi = table + 2.0 / k**2, np.empty((classes.size, k, k))
    for label, out in zip(classes.tolist(), psi, strict=True):
        spec = kernels.MetricSpec(code, kernels.ONE_CLASS, label)
        kernels.metric_influence(smooth, spec, np.ones(k, np.uint8), NO_PENALTY, out)
    covariance = np.einsum("iab,jab,ab->ij", psi, psi, smooth)
    with np.errstate(invalid="ignore"):
        correlations = covariance / np.sqrt(np.outer(*[np.diagonal(covariance)] * 2))
    p, m = x[classes] / size[classes], size[classes]
    half = z * np.sqrt(p * (1 - p) / m + z**2 / (4 * m**2))
    low, high = ((p + z**2 / (2 * m) + s * half) / (1 + z**2 / m) for s in (-1, 1))
    down, up = (p - low) / classes.size, (high - p) / classes.size
    expected = p.mean() - np.sqrt(down @ correlations @ down)
    expected = expected, p.mean() + np.sqrt(up @ correlations @ up)
    weights, spec = (
        np.full(classes.size, 1.0 / classes.size),
        kernels.MetricSpec(code, kernels.MACRO),
    )
    found = mean_rate_limits(table, spec, classes, x[classes], m, weights, z, False)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7, nan_ok=True)


def test_many_tables_are_each_as_alone():
    tables = np.random.default_rng(1).integers(0, 9, (5, 3, 3)).astype(float)
    for asked in every_metric(3):
        rest = asked.arguments(tables[0])[1:]
        values, psi = np.empty(5), np.empty((5, 3, 3))
        kernels.metric_values(tables, *rest, values)
        kernels.metric_influences(tables, *rest, psi)
        for b, table in enumerate(tables):
            alone = np.empty((3, 3))
            assert kernels.metric_influence(table, *rest, alone) == close(values[b])
            np.testing.assert_array_equal(psi[b], alone)


RATE = kernels.MetricSpec(kernels.F_BETA, kernels.MACRO)
ONES = np.ones(2, np.uint8)
TABLE = np.array([[4.0, 1.0], [2.0, 3.0]])
NONSENSE = {
    "no samples": (np.zeros((2, 2)), RATE, ONES, NO_PENALTY),
    "no classes": (np.empty((0, 0)), RATE, np.empty(0, np.uint8), NO_PENALTY),
    "negative": (np.array([[4.0, -1.0], [2.0, 3.0]]), RATE, ONES, NO_PENALTY),
    "nan": (np.array([[4.0, np.nan], [2.0, 3.0]]), RATE, ONES, NO_PENALTY),
    "no such metric": (TABLE, kernels.MetricSpec(99), ONES, NO_PENALTY),
    "no such average": (TABLE, RATE._replace(average=6), ONES, NO_PENALTY),
    "no such class": (TABLE, kernels.MetricSpec(0, label=2), ONES, NO_PENALTY),
    "beta below 0": (TABLE, RATE._replace(beta=-1.0), ONES, NO_PENALTY),
    "list of other length": (TABLE, RATE, np.ones(3, np.uint8), NO_PENALTY),
    "cost without costs": (TABLE, kernels.MetricSpec(kernels.COST), ONES, NO_PENALTY),
    "costs of other size": (TABLE, kernels.MetricSpec(kernels.COST), ONES, np.ones((3, 3))),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_gives_nan(name):
    table, *rest = NONSENSE[name]
    psi, less = np.zeros(table.shape), np.zeros(table.shape)
    kernels.metric_influence(table, *rest, psi)
    kernels.metric_leave_one_out(table, *rest, less)
    assert np.isnan([psi, less]).all()
    assert math.isnan(kernels.metric_value(table, *rest))


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_of_sums_that_cannot_be(rate):
    wrong = np.tile([3.0, 4.0, 5.0, 20.0], (9, 1))
    wrong[0], wrong[1:3, 0], wrong[3, 1:3] = 0.0, (-1.0, 5.0), (2.0, 5.0)
    wrong[4, 1], wrong[5, 2] = 21.0, 21.0
    wrong[[6, 7, 8], [0, 1, 3]] = math.nan
    for sums in wrong:
        assert math.isnan(kernels.class_rate(RATES[rate], *sums)), sums


@pytest.mark.parametrize("weight", [0.99999, 0.1, 1 / 3])
def test_sums_of_weights_leave_no_negatives(weight):
    """What rounding leaves of no true negatives is none."""
    table = np.array([[0.0, 1.0], [1.0, 1.0]]) * weight
    for name in ("specificity", "lr_minus", "npv"):
        expected = math.nan if name == "lr_minus" else 0.0
        found = kernels.metric_value(table, kernels.MetricSpec(RATES[name]), ONES, NO_PENALTY)
        assert found == pytest.approx(expected, abs=0.0, nan_ok=True), name
    assert kernels.class_rate(kernels.SPECIFICITY, 2.0**52, 2.0**52, 2.0**52, 2.0**52 + 1) == 1
