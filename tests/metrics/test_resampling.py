"""Permutation tests, bootstrap and ABC of metrics, against samples one by one."""

import itertools
import math

import numpy as np
import pytest
from count_metrics import BY_NAME, sample_codes
from hypothesis import example, given
from hypothesis import strategies as st
from libraries import stats
from reference_cases import parametrize

from fastcmp import compare_metric, metric
from fastcmp.kernels import DEGENERATE, bca_levels

SIDES = ("two-sided", "greater", "less")
INTERVALS = ("percentile", "bca", "basic", "studentized")
NAN = {"zero_division": math.nan}


def tensor(y_true, a, b, k):
    counts = np.zeros((k, k, k), int)
    np.add.at(counts, (y_true, a, b), 1)
    return counts


def difference(name, y_true, a, b, k):
    counts = tensor(y_true, a, b, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, two = BY_NAME[name](np.stack([counts.sum(axis=2), counts.sum(axis=1)]) * 1.0)
    return one - two


# Permutation.


def by_samples(name, y_true, a, b, k, clusters):
    """Exchange samples, or clusters, in all ways: p-values of the three sides."""
    statistics = []
    for flips in itertools.product((False, True), repeat=clusters.max() + 1):
        flipped = np.array(flips)[clusters]
        one, two = np.where(flipped, b, a), np.where(flipped, a, b)
        statistics.append(difference(name, y_true, one, two, k))
    t = np.array(statistics)
    slack = 1e-9 * max(1, abs(t[0])) if np.isfinite(t[0]) else 0.0
    inside = np.abs(t) < abs(t[0]) - slack, t < t[0] - slack, t > t[0] + slack
    return t[0], [1 - each.mean() for each in inside]


samples = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=5)
OF_TWO = ("f1", "precision")
OF_ALL = ("accuracy", "f1_macro", "balanced_accuracy", "kappa", "mcc", "kappa_quadratic")


@given(samples, st.sampled_from([*OF_TWO, *OF_ALL]), st.integers(2, 3))
@example([(0, 0, 1), (1, 0, 1), (1, 0, 1), (1, 1, 0)], "precision", 2)  # undefined
def test_all_exchanges_of_samples(rows, name, k):
    k = 2 if name in OF_TWO else k
    y_true, a, b = np.array(rows).T % k
    y_true, a, b = (np.append(x, range(k)) for x in (y_true, a, b))  # all classes occur
    wanted, pvalues = by_samples(name, y_true, a, b, k, np.arange(y_true.size))
    for alternative, pvalue in zip(SIDES, pvalues, strict=True):
        options = {"metric": name, "alternative": alternative, "n_resamples": 9, **NAN}
        found = compare_metric(y_true, a, b, method="exact", **options)
        if np.array_equal(a, b):  # also where the metric of both is undefined
            assert (found.difference, found.pvalue, found.status) == (0.0, 1.0, DEGENERATE)
        elif math.isnan(wanted):
            assert math.isnan(found.pvalue)
        else:
            assert found.difference == pytest.approx(wanted, abs=1e-12)
            assert found.pvalue == pytest.approx(pvalue, rel=1e-12)
            assert found.n_discordant == np.count_nonzero(a != b)


@given(samples, st.lists(st.integers(0, 4), min_size=10, max_size=10))
def test_all_exchanges_of_clusters(rows, clusters):
    y_true, a, b = (np.append(x, range(3)) for x in np.array(rows).T)
    clusters = np.unique([0, *clusters[: y_true.size - 2], 5], return_inverse=True)[1]
    _, pvalues = by_samples("accuracy", y_true, a, b, 3, clusters)
    changed = {c for c, x, y in zip(clusters, a, b, strict=True) if x != y}
    for alternative, pvalue in zip(SIDES, pvalues, strict=True):
        options = {"groups": clusters * 7 + 3, "alternative": alternative, "n_resamples": 9}
        found = compare_metric(y_true, a, b, method="exact", **options)
        if found.n_discordant:
            assert found.pvalue == pytest.approx(pvalue, rel=1e-12)
            assert found.n_configurations == 2 ** len(changed)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("studentized", [False, True])
def test_random_exchanges_are_near_the_exact_test(clustered, studentized):
    codes = sample_codes(60, 2, 3)
    for alternative in SIDES:
        options = {"metric": "mcc", "alternative": alternative, "studentized": studentized}
        options["groups"] = np.arange(60) % 11 if clustered else None
        exact = compare_metric(*codes, method="exact", **options)
        options |= {"method": "permutation", "n_resamples": 1499, "rng": 5}
        found = compare_metric(*codes, **options)
        assert found.pvalue != exact.pvalue
        assert found.pvalue * 1500 == pytest.approx(round(found.pvalue * 1500))
        error = math.sqrt(found.pvalue * (1 - found.pvalue) / 1499)
        assert abs(found.pvalue - exact.pvalue) < 4 * error + 1 / 1499
    assert compare_metric(*codes, **options, workers=4) == found


def test_a_random_pvalue_counts_the_data():
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0, 1] = counts[1, 1, 0] = 300
    options = {"method": "permutation", "n_resamples": 99, "rng": 1}
    assert compare_metric(counts=counts, **options).pvalue == 0.01
    exact = compare_metric(counts=counts, method="exact", workers=4)
    assert exact.pvalue == pytest.approx(0.5**599, rel=1e-9)


def test_two_classes_are_exact_for_many_samples():
    # With fixed calls of class 0, F1 is a matter of the calls of class 1.
    n = 10**7
    counts = np.array([[[n, 0], [0, 0]], [[n, 50_000_000], [50_012_345, n]]])
    found = compare_metric(counts=counts, metric="f1", method="exact")
    wanted = stats.binomtest(50_000_000, 100_012_345).pvalue
    assert found.pvalue == pytest.approx(wanted, rel=1e-9)


def test_configurations_of_many_samples():
    counts = np.array([[[900, 110], [130, 0]], [[0, 110], [130, 400]]])
    one = compare_metric(counts=counts, metric="f1", method="exact")
    assert one.n_configurations == 241**2
    assert compare_metric(counts=counts, metric="f1", method="exact", workers=4) == one
    with pytest.raises(ValueError, match="too many configurations"):
        compare_metric(*sample_codes(3000, 3, 1), metric="kappa", method="exact")


def test_studentized_statistics_without_a_variance():
    # All of a is right and all of b wrong: the difference is 1, and has no variance.
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0, 1], counts[1, 1, 0] = 3, 4
    options = {"method": "exact", "studentized": True}
    assert compare_metric(counts=counts, **options).pvalue == pytest.approx(2 / 2**7)
    assert compare_metric(counts=counts, alternative="less", **options).pvalue == 1.0


# Bootstrap.


def counts_of(case):
    counts = np.zeros([case["input"]["K"]] * 3, int)
    for *cell, n in case["input"]["cells"]:
        counts[tuple(cell)] = n
    return counts


@parametrize("metric_bootstrap_ideal")
def test_reference_of_many_draws(case):
    options = {"metric": case["options"]["metric"], "method": "bootstrap", "rng": 1}
    found = compare_metric(counts=counts_of(case), n_resamples=20_000, **options)
    assert found.standard_error == pytest.approx(case["expected"]["se"], rel=4 / 40_000**0.5)


@parametrize("metric_bootstrap_bca_levels")
def test_reference_levels(case):
    given, wanted = case["input"], case["expected"]
    draws = given["n_below"], given["n_equal"], given["n_resamples"]
    found = bca_levels(*draws, wanted["acceleration"], case["options"]["confidence"])
    assert found == pytest.approx([wanted[x] for x in ("lower_level", "upper_level", "z0")])


def test_draws_within_classes():
    # Recalls of a fixed number of samples: their mean has this variance.
    t, a, b = sample_codes(90, 3, 5)
    options = {"method": "bootstrap", "n_resamples": 8000, "rng": 2}
    d = (t == a).astype(float) - (t == b)
    near = {"rel": 4 * (2 / 8000) ** 0.5}
    found = compare_metric(t, a, b, metric="balanced_accuracy", within_classes=True, **options)
    wanted = sum(d[t == k].var() / np.sum(t == k) for k in range(3)) / 9
    assert found.standard_error**2 == pytest.approx(wanted, **near)
    # Accuracy varies less than without classes.
    found = compare_metric(t, a, b, within_classes=True, **options)
    squares = sum(((d[t == k] - d[t == k].mean()) ** 2).sum() for k in range(3))
    assert found.standard_error**2 == pytest.approx(squares / 8100, **near)
    found = compare_metric(t, a, b, **options)
    assert found.standard_error**2 == pytest.approx(d.var() / 90, **near)
    with pytest.raises(ValueError, match="clusters are drawn as a whole"):
        compare_metric(t, a, b, groups=t, within_classes=True, **options)


@pytest.mark.parametrize("kind", INTERVALS)
def test_intervals_as_scipy(kind):
    t, a, b = sample_codes(150, 2, 9)
    options = {"method": "bootstrap", "interval": kind, "n_resamples": 6000, "rng": 4}
    d = (t == a) * 1.0 - (t == b)
    found = compare_metric(t, a, b, **options)
    error = d.std() / 150**0.5
    assert found.standard_error == pytest.approx(error, rel=0.05)
    rng = np.random.default_rng(5)
    if kind == "studentized":
        drawn = d[rng.integers(0, 150, (6000, 150))]
        z = (drawn.mean(axis=1) - d.mean()) / drawn.std(axis=1) * 150**0.5
        wanted = d.mean() - error * np.quantile(z, [0.975, 0.025])
    else:
        method = {"bca": "BCa"}.get(kind, kind)
        made = stats.bootstrap((d,), np.mean, n_resamples=6000, rng=rng, method=method)
        wanted = tuple(made.confidence_interval)
    # The next possible mean; means above have smaller standard errors.
    tolerance = (2 if kind == "studentized" else 1.01) / 150
    assert found.interval == pytest.approx(tuple(wanted), abs=tolerance)


@pytest.mark.parametrize("by", ["classes", "clusters"])
def test_bca_within_classes_and_of_clusters(by):
    """The difference of recalls in a mean, or of accuracy; draws and acceleration by hand."""
    rng = np.random.default_rng(4)
    t = np.repeat([0, 1, 2], [12, 30, 18])
    a, b = (np.where(rng.random(60) < x, t, (t + 1) % 3) for x in (1.0, 0.9))
    d, groups = (t == a) * 1.0 - (t == b), np.sort(rng.integers(0, 14, 60))
    options = {"method": "bootstrap", "interval": "bca", "n_resamples": 30_000, "rng": 2}
    if by == "classes":
        found = compare_metric(t, a, b, metric="balanced_accuracy", within_classes=True, **options)
        parts = [d[t == k] for k in range(3)]
        u = np.concatenate([(x - x.mean()) / x.size for x in parts])
        draws = sum(x[rng.integers(0, x.size, (30_000, x.size))].mean(axis=1) for x in parts) / 3
    else:
        found = compare_metric(t, a, b, groups=groups, **options)
        sums = np.bincount(groups, d)
        sums, sizes = sums[np.unique(groups)], np.bincount(groups)[np.unique(groups)]
        without = (d.sum() - sums) / (60 - sizes)
        u = without.mean() - without
        drawn = rng.integers(0, sizes.size, (30_000, sizes.size))
        draws = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    acceleration = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    below, equal = np.sum(draws < found.difference - 1e-9), np.sum(draws <= found.difference + 1e-9)
    for a, agrees in ((acceleration, True), (0.0, False), (-acceleration, False)):
        low, high, _ = bca_levels(below, equal - below, 30_000, a, 0.95)
        wanted = pytest.approx(tuple(np.quantile(draws, [low, high])), abs=0.006)
        assert (found.interval == wanted) is agrees


def test_undefined_draws_are_left_out():
    # b seldom calls class 1: without a call its precision is undefined.
    counts = np.zeros((2, 2, 2), int)
    counts[0, 0, 0], counts[1, 1, 0], counts[1, 1, 1] = 20, 10, 2
    options = {"metric": "precision", "method": "bootstrap", "n_resamples": 2000, "rng": 1, **NAN}
    found = compare_metric(counts=counts, **options)
    assert np.isfinite(found.interval).all()
    assert any("undefined in" in caution for caution in found.cautions)
    counts[1, 1, 1] = 9
    found = compare_metric(counts=counts, **options)
    assert not any("undefined in" in caution for caution in found.cautions)


@pytest.mark.parametrize("kind", INTERVALS)
def test_infinite_draws_are_left_out(kind):
    # Without the one false positive of b its likelihood ratio is infinite.
    counts = np.array([[[30, 1], [2, 0]], [[10, 3], [3, 12]]])
    options = {"metric": "lr_plus", "method": "bootstrap", "rng": 1, "n_resamples": 1000}
    found = compare_metric(counts=counts, interval=kind, **options)
    assert found.interval.low < found.difference < found.interval.high < math.inf
    assert found.ratio_interval.low < found.ratio < found.ratio_interval.high < math.inf


# ABC.


@parametrize("metric_abc_interval")
def test_abc_reference(case):
    options = {"metric": case["options"]["metric"], "method": "abc"}
    options["confidence_level"] = case["options"]["confidence"]
    if "confusion" in case["input"]:
        found = metric(table=case["input"]["confusion"], **options)
    else:
        found = compare_metric(counts=counts_of(case), **options)
    wanted = case["expected"]
    # The values have 30 digits: closer than the tolerance of difference quotients.
    near = {"rel": 1e-7, "abs": 1e-9}
    assert found.standard_error == pytest.approx(wanted["se"], **near)
    assert found.interval == pytest.approx((wanted["lower"], wanted["upper"]), **near)


def test_abc_of_a_mean_and_of_many_samples():
    # Of a mean, the interval is that of the acceleration alone.
    found = metric([0] * 7 + [1] * 3, [0] * 5 + [1] * 5, method="abc")
    error = math.sqrt(0.16 / 10)
    a = (1 - 2 * 0.8) / (6 * math.sqrt(10 * 0.16))
    w = a + stats.norm.ppf([0.025, 0.975])
    assert found.interval == pytest.approx(tuple(0.8 + error * w / (1 - a * w) ** 2), rel=1e-7)
    counts = np.array([[[148, 9], [14, 7]], [[3, 5], [4, 10]]])
    few, many = (
        compare_metric(counts=counts * n, metric="f1", method="abc").standard_error
        for n in (1000, 10**7)
    )
    assert many == pytest.approx(few / 100, rel=1e-9)
