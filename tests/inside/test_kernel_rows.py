"""Kernels over many rows give, row by row, the bits of the public kernel; the engines call them."""

import numpy as np
import pytest
from both_tiers import both_tiers  # noqa: F401

from fastcmp import kernels
from fastcmp.kernels import DEGENERATE, INVALID, OK, cost, unpaired
from fastcmp.kernels.cost import CHI_SQUARE as COST_CHI_SQUARE
from fastcmp.kernels.fold_tables import bcv_mcnemar_many, naive_mcnemar_many, proportion_z_many
from fastcmp.kernels.fold_tests import (
    ALPAYDIN_F,
    CALIBRATED_F,
    DIETTERICH_T,
    YILDIZ_T,
    bayle_z_many,
    conservative_z_many,
    fold_t_many,
    two_fold_many,
)
from fastcmp.kernels.intervals import (
    BONETT_PRICE,
    NEWCOMBE,
    TANGO,
    WALD,
    difference_interval_many,
    tango_margin_many,
)
from fastcmp.kernels.paired import mcnemar_many

sides = pytest.mark.parametrize("side", [kernels.TWO_SIDED, kernels.GREATER, kernels.LESS])
same = np.testing.assert_array_equal
#: Both right, only a, only b, both wrong; none, nothing discordant, and impossible.
CELLS = np.random.default_rng(1).poisson(8.0, (4, 30))
CELLS[:, :3] = np.array([[0, 7, -5], [0, 0, 2], [0, 0, 3], [0, 2, 1]])


@sides
def test_mcnemar(side):
    _, only_a, only_b, _ = CELLS
    names = {"EXACT": "exact", "MIDP": "midp", "ASYMPTOTIC": "asymptotic", "CORRECTED": "corrected"}
    for method, name in names.items():
        (statistic, pvalue), status = np.empty((2, 30)), np.empty(30, np.uint8)
        code = getattr(kernels, method)
        mcnemar_many(only_a - 2, only_b - 2, code, side, statistic, pvalue, status)
        kernel = getattr(kernels, f"mcnemar_{name}")
        for i in range(30):
            one = kernel(only_a[i] - 2, only_b[i] - 2, side)
            same((statistic[i], pvalue[i], status[i]), one)
        assert {OK, INVALID} <= set(status.tolist())


def test_intervals_of_a_difference():
    of_three = {
        WALD: kernels.wald_interval,
        TANGO: kernels.tango_interval,
        BONETT_PRICE: kernels.bonett_price_interval,
    }
    for method in (WALD, NEWCOMBE, TANGO, BONETT_PRICE):
        low, high = np.empty((2, 30))
        difference_interval_many(*CELLS, method, 0.9, low, high)
        for i, cells in enumerate(CELLS.T):
            one = of_three.get(method, kernels.newcombe_interval)
            arguments = (*cells[1:3], cells.sum()) if method in of_three else cells
            same((low[i], high[i]), one(*arguments, 0.9))
        assert np.isnan(low).sum() == np.isnan(high).sum() == 2
        difference_interval_many(*CELLS, method, 1.5, low, high)
        assert np.isnan([low, high]).all()


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("method", [cost.LIKELIHOOD, COST_CHI_SQUARE])
def test_costs(method, smoothing):
    rng = np.random.default_rng(2)
    values, group = np.array([-3.0, -1.0, 0.0, 0.5, 3.0]), rng.integers(0, 5, 12)
    cells = smoothing * np.bincount(group, minlength=5).astype(float)
    counts = rng.poisson(2.0, (8, 12))
    counts[1] = 0
    counts[2, values[group] < 0.0] = 0
    results, status = np.empty((8, 4)), np.empty(8, np.uint8)
    largest, flag = (3.0, True) if method == cost.LIKELIHOOD else (0.0, True)
    options = method, largest, flag
    cost.cost_test_many(counts, group, values, cells, options, results, status)
    for row, found, its in zip(counts, results, status, strict=True):
        weights = cells + np.bincount(group, row, 5)
        if not (row * values[group]).any():  # smoothing alone is no evidence
            assert (*found, its) == (0.0, 1.0, 0.0, 0.0, DEGENERATE)
        else:
            if method == cost.LIKELIHOOD:
                one = kernels.cost_likelihood(values, weights, largest)
            else:
                one = kernels.cost_chi_square(values, weights, flag)
            same(found, [one.statistic, one.pvalue, one.multiplier, float(one.at_bound)])
            assert its == one.status
    intervals = {
        cost.COST_PROFILE: kernels.cost_profile_interval,
        cost.COST_WALD: kernels.cost_wald_interval,
    }
    for code, interval in intervals.items():
        for largest in (3.0, 10.0, 2.9):
            ends = np.empty((8, 2))
            cost.cost_interval_many(counts, group, values, (code, largest, 0.9), ends)
            for row, found in zip(counts, ends, strict=True):
                weights = np.bincount(group, row, 5)
                same(found, interval(values, weights, float(row.sum()), largest, 0.9))
        assert np.isnan(ends).all()


@sides
def test_folds(side):
    rng = np.random.default_rng(4)
    rows = rng.normal(0.01, 0.1, (9, 10))
    rows[0], rows[1], rows[2, 3] = 0.0, 0.25, np.nan
    cuts, folds, halves = rows.reshape(-1, 5, 2), np.arange(10) % 3, rng.normal(size=(9, 2, 2, 10))
    for many, arguments, one in (
        (two_fold_many, (cuts, DIETTERICH_T), lambda i: kernels.dietterich_t(cuts[i], side)),
        (two_fold_many, (cuts, YILDIZ_T), lambda i: kernels.yildiz_t(cuts[i], side)),
        (two_fold_many, (cuts, ALPAYDIN_F), lambda i: kernels.alpaydin_f(cuts[i])),
        (two_fold_many, (cuts, CALIBRATED_F), lambda i: kernels.calibrated_f(cuts[i])),
        (fold_t_many, (rows, 1 / 90, 9.0), lambda i: kernels.kfold_t(rows[i], side)),
        (
            conservative_z_many,
            (rows, halves),
            lambda i: kernels.conservative_z(rows[i], halves[i], side),
        ),
        (fold_t_many, (rows, 1 / 100, np.inf), lambda i: kernels.bayle_z_out(rows[i], side)),
        (bayle_z_many, (rows, folds, 3), lambda i: kernels.bayle_z_in(rows[i], folds, 3, side)),
    ):
        out, status = np.empty((4, 9)), np.empty(9, np.uint8)
        many(*arguments, side, out, status)
        same([(*out[:, i], status[i]) for i in range(9)], [one(i) for i in range(9)])


@sides
def test_tables_of_folds(side):
    tables = np.random.default_rng(1).poisson(3.0, (40, 6, 2, 2))
    tables[::3], tables[4, 2, 0, 1] = 0, -500
    means, results, status = np.empty((40, 2, 2)), np.empty((40, 2)), np.empty(40, np.uint8)
    factor = kernels.bcv_factor(3, 0.5, 0.5)
    bcv_mcnemar_many(tables, factor, side, means, results, status)
    np.testing.assert_allclose(means, tables.mean(axis=1), rtol=1e-15)
    assert set(status.tolist()) == {OK, DEGENERATE, INVALID}
    for i, mean in enumerate(means):
        same((*results[i], status[i]), kernels.bcv_mcnemar(mean[0, 1], mean[1, 0], factor, side))
    out = np.empty((4, 40))
    naive_mcnemar_many(tables, out, status)
    for i, folds in enumerate(tables):
        one = kernels.naive_mcnemar(folds)
        same((*out[:, i], status[i]), (*one[:2], np.nan, np.nan, one.status))
    table = tables[:, 0]
    proportion_z_many(table, side, out, status)
    for i, cells in enumerate(table):
        one = kernels.proportion_z(cells[1].sum(), cells[:, 1].sum(), cells.sum(), side)
        same((*out[:, i], status[i]), one)


@pytest.mark.parametrize("margin", [0.02, 0.3])
def test_margins(margin):
    _, only_a, only_b, _ = CELLS[:, 3:]
    n = CELLS[:, 3:].sum(axis=0)
    found = np.empty((10, n.size))
    tango_margin_many(only_a, only_b, n, np.full(n.size, margin), 0.05, found)
    for i, table in enumerate(zip(only_a, only_b, n, strict=True)):
        lower = kernels.tango_test(*table, -margin, kernels.GREATER)
        upper = kernels.tango_test(*table, margin, kernels.LESS)
        above = kernels.tango_test(*table, margin, kernels.GREATER)
        same(found[:2, i], [lower.statistic, upper.statistic])
        same(found[2:5, i], [lower.pvalue, upper.pvalue, above.pvalue])
        same(found[5:7, i], kernels.tango_interval(*table, 0.95))
        assert found[7:9, i] == pytest.approx(kernels.tango_interval(*table, 0.9), rel=1e-12)
        if distance := table[0] - table[1] + table[2] * margin:
            assert found[9, i] == pytest.approx((distance / lower.statistic) ** 2)


def test_unpaired():
    rng = np.random.default_rng(5)
    n = rng.integers(1, 90, (2, 40))
    counts = np.array([rng.integers(0, n[0] + 1), n[0], rng.integers(0, n[1] + 1), n[1]])
    shift, counts[:, 7] = rng.uniform(-0.9, 0.9, 40), -1
    z, pvalue, status = np.empty(40), np.empty(40), np.empty(40, np.uint8)
    unpaired.miettinen_nurminen_many(counts, shift, kernels.LESS, z, pvalue, status)
    intervals = {
        unpaired.UNPAIRED_NEWCOMBE: kernels.newcombe_unpaired_interval,
        unpaired.MIETTINEN_NURMINEN: kernels.miettinen_nurminen_interval,
    }
    for i, cells in enumerate(counts.T):
        one = kernels.miettinen_nurminen(*cells, shift[i], kernels.LESS)
        same([z[i], pvalue[i], status[i]], one)
    for method, interval in intervals.items():
        low, high = np.empty((2, 40))
        unpaired.unpaired_interval_many(counts, (method, 0.9), low, high)
        same(np.stack([low, high], axis=1), [interval(*cells, 0.9) for cells in counts.T])
