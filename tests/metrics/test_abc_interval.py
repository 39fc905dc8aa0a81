"""Efron's ABC interval."""

import math

import numpy as np
import pytest
from count_metrics import METRICS, read_cells, sample_codes
from reference_cases import parametrize
from scipy import stats

from fastcmp.kernels import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.abc_interval import abc_interval
from fastcmp.metrics.cells import gather_cells


@parametrize("metric_abc_interval")
def test_reference(case):
    options = case["options"]
    found = abc_interval(
        METRICS[options["metric"]],
        read_cells(case),
        confidence_level=options["confidence"],
    )
    names = {
        "difference": found.estimate,
        "value": found.estimate,
        "se": found.standard_error,
        "acceleration": found.acceleration,
        "z0": found.z0,
        "lower": found.low,
        "upper": found.high,
    }
    for name, wanted in case["expected"].items():
        # The values have 30 digits: closer than the tolerance of difference quotients.
        assert names[name] == pytest.approx(wanted, rel=1e-7, abs=1e-9), name
    assert found.status == OK


def efron(name, cells, level):
    """Work the interval out with weights of samples, by differences of the metric."""
    codes = np.repeat(cells.codes, cells.counts, axis=0)
    n = len(codes)

    def evaluate(weights):
        tables = np.zeros((2, cells.n_classes, cells.n_classes))
        np.add.at(tables[0], (codes[:, 0], codes[:, 1]), weights)
        np.add.at(tables[1], (codes[:, 0], codes[:, 2]), weights)
        return METRICS[name].values(tables) @ [1, -1]

    flat, step = np.full(n, 1 / n), 0.001 / n
    own = np.eye(n)
    up = np.array([evaluate((1 - step) * flat + step * own[i]) for i in range(n)])
    down = np.array([evaluate((1 + step) * flat - step * own[i]) for i in range(n)])
    middle = evaluate(flat)
    slopes, bends = (up - down) / (2 * step), (up - 2 * middle + down) / step**2
    error = math.sqrt((slopes**2).sum()) / n
    a = (slopes**3).sum() / (6 * (slopes**2).sum() ** 1.5)
    d = slopes / (n * n * error)
    ends = evaluate(flat + step * d), evaluate(flat - step * d)
    curvature = (ends[0] - 2 * middle + ends[1]) / (2 * step**2 * error)
    gamma = bends.sum() / (2 * n * n * error) - curvature
    z0 = stats.norm.ppf(2 * stats.norm.cdf(a) * stats.norm.cdf(-gamma))
    w = z0 + stats.norm.ppf([0.5 - level / 2, 0.5 + level / 2])
    return [evaluate(flat + x * d) for x in w / (1 - a * w) ** 2]


@pytest.mark.parametrize("name", ["f1_macro", "mcc"])
def test_by_samples(name):
    codes = np.column_stack(sample_codes(25, 3, 3))
    cells = gather_cells(codes, np.ones(25), 3)
    found = abc_interval(METRICS[name], cells, confidence_level=0.9)
    assert (found.low, found.high) == pytest.approx(efron(name, cells, 0.9), rel=1e-4)


def test_means_have_no_curvature():
    # Of a mean, the interval is that of the acceleration alone.
    cells = gather_cells([[0, 0], [0, 1], [1, 1]], [50, 20, 30], 2)
    found = abc_interval(METRICS["accuracy"], cells)
    p, n = 0.8, 100
    error = math.sqrt(p * (1 - p) / n)
    assert found.standard_error == pytest.approx(error)
    a = (1 - 2 * p) / (6 * math.sqrt(n * p * (1 - p)))
    assert found.acceleration == pytest.approx(a)
    assert found.z0 == pytest.approx(a, rel=1e-6)
    w = a + stats.norm.ppf([0.025, 0.975])
    wanted = p + error * w / (1 - a * w) ** 2
    assert (found.low, found.high) == pytest.approx(wanted, rel=1e-7)


def test_many_samples_keep_their_digits():
    counts = np.array([148, 9, 14, 7, 3, 5, 4, 10])
    codes = np.array(np.unravel_index(np.arange(8), (2, 2, 2))).T
    cells = gather_cells(codes, counts * 10**7, 2)
    found = abc_interval(METRICS["f1"], cells)
    few = abc_interval(METRICS["f1"], gather_cells(codes, counts * 1000, 2))
    root = math.sqrt(10**4)
    assert found.standard_error == pytest.approx(few.standard_error / root, rel=1e-9)
    assert found.acceleration == pytest.approx(few.acceleration / root, rel=1e-9)
    assert found.z0 == pytest.approx(few.z0 / root, rel=1e-3)


def test_exchanged_models_and_logarithms():
    codes = np.column_stack(sample_codes(80, 2, 3))
    cells = gather_cells(codes, np.ones(80), 2)
    one = abc_interval(METRICS["f1"], cells)
    two = abc_interval(METRICS["f1"], gather_cells(codes[:, [0, 2, 1]], np.ones(80), 2))
    # z0 changes its sign to the first order.
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low), abs=1e-4)
    # Of one model the interval transforms with its scale, but for the third order.
    single = gather_cells(codes[:, :2], np.ones(80), 2)
    plain, log = (abc_interval(METRICS["f1"], single, log=log) for log in (False, True))
    assert log.estimate == pytest.approx(math.log(plain.estimate))
    assert log.standard_error == pytest.approx(plain.standard_error / plain.estimate)
    ends = math.exp(log.low), math.exp(log.high)
    assert ends == pytest.approx((plain.low, plain.high), abs=0.002)


def test_one_sided_equal_and_undefined():
    cells = gather_cells(np.column_stack(sample_codes(50, 2, 3)), np.ones(50), 2)
    both = abc_interval(METRICS["f1"], cells, confidence_level=0.9)
    greater = abc_interval(METRICS["f1"], cells, alternative="greater")
    assert (greater.low, greater.high) == (pytest.approx(both.low), math.inf)
    same = gather_cells([[0, 0, 0], [1, 0, 0], [1, 1, 1]], [5, 5, 9], 2)
    found = abc_interval(METRICS["f1"], same)
    assert (found.low, found.high, found.status) == (0.0, 0.0, DEGENERATE)
    perfect = gather_cells([[0, 0], [1, 1]], [5, 9], 2)
    found = abc_interval(METRICS["accuracy"], perfect)
    assert (found.low, found.high, found.status) == (1.0, 1.0, DEGENERATE)
    none = gather_cells([[0, 0, 0], [1, 0, 1]], [5, 5], 2)
    found = abc_interval(METRICS["precision"], none)
    assert math.isnan(found.low)
    assert found.status == UNDEFINED
