"""Intervals and tests of a metric of drawn counts, compiled: what the study counts."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fastcmp.kernels import (
    F_BETA,
    KAPPA,
    MACRO,
    MCC,
    RECALL,
    MetricSpec,
    bca_interval,
    binomial_half,
    cell_tables,
    draw_cells,
    metric_influence,
    metric_leave_one_out,
    metric_value,
    metric_values,
    newcombe_interval,
    percentile_interval,
    swap_cells,
    wilson_interval,
)

LEVEL, Z = 0.95, 1.959963984540054
#: Intervals of one model, of a difference, and tests, in the order of the answers.
ONE = ("delta", "jackknife", "default", "bca")
PAIR = ("delta", "jackknife", "newcombe", "percentile", "bca")
TESTS = ("delta z", "pooled z", "permutation")
KINDS = (
    *(("one model", how) for how in ONE),
    *(("difference", how) for how in PAIR),
    *(("test", how) for how in TESTS),
)


@njit
def cells_of(counts, swapped):
    """List the cells with samples, or with samples after an exchange, and partners."""
    k = counts.shape[0]
    codes, numbers = np.empty((k**3, 3), np.int64), np.empty(k**3, np.int64)
    place = np.full(counts.shape, -1)
    s = 0
    for t in range(k):
        for a in range(k):
            for b in range(k):
                if counts[t, a, b] + swapped * counts[t, b, a] > 0:
                    codes[s] = t, a, b
                    numbers[s], place[t, a, b] = counts[t, a, b], s
                    s += 1
    partner = np.empty(s, np.int64)
    for i in range(s):
        t, a, b = codes[i]
        partner[i] = place[t, b, a]
    return codes[:s].copy(), numbers[:s].copy(), partner


@njit
def enumerate_two(counts, partner):
    """Write half of all exchanges of two classes, and their chances: the others are
    the same with the models exchanged.
    """
    pairs, m = np.empty(2, np.int64), np.zeros(2, np.int64)
    g = 0
    for s in range(counts.size):
        if partner[s] > s:
            pairs[g], m[g] = s, counts[s] + counts[partner[s]]
            g += 1
    n = (m[0] + 1) * (m[1] + 1)
    draws = np.empty(((n + 1) // 2, counts.size))
    chances = np.full(len(draws), 2.0)
    chances[n // 2 :] = 1.0  # where there is a middle one
    for r in range(len(draws)):
        draws[r] = counts
        for i in range(g):
            x = r // (m[1] + 1) if i == 0 else r % (m[1] + 1)
            draws[r, pairs[i]], draws[r, partner[pairs[i]]] = x, m[i] - x
            chances[r] *= binomial_half(float(x), float(m[i])).pmf
    return draws, chances


@njit
def differences(draws, codes, spec, k):
    """Evaluate draws of cells: the metric of a, and of a minus that of b."""
    tables = np.empty((len(draws), 2, k, k))
    cell_tables(codes, draws, tables)
    values = np.empty(2 * len(draws))
    listed = np.ones(k, np.uint8)
    metric_values(tables.reshape(-1, k, k), spec, listed, np.empty((0, 0)), values)
    return values[::2].copy(), values[::2] - values[1::2]


@njit
def permutation(draws, chances, codes, spec, k, difference):
    """P-value of a permutation test: exact with chances, else of random exchanges."""
    beyond = 0.0
    limit = abs(difference) - 1e-9 * max(1.0, abs(difference))
    found = differences(draws, codes, spec, k)[1]
    for r in range(found.size):
        if not abs(found[r]) < limit:
            beyond += chances[r] if chances.size else 1.0
    return beyond if chances.size else (beyond + 1.0) / (found.size + 1.0)


@njit
def deviations(table, spec, jackknife):
    """What a sample of each cell contributes to the metric."""
    listed, psi = np.ones(len(table), np.uint8), np.empty(table.shape)
    if not jackknife:
        metric_influence(table, spec, listed, np.empty((0, 0)), psi)
        return psi
    metric_leave_one_out(table, spec, listed, np.empty((0, 0)), psi)
    n = mean = 0.0
    for x, own in zip(table.flat, psi.flat):  # noqa: B905  # numba
        if x > 0.0:
            n, mean = n + x, mean + x * own
    return (n - 1.0) * (mean / n - psi)


@njit
def mean_square(u, weights, power):
    """Sum a power of what samples contribute; cells without samples have none."""
    total = 0.0
    for s in range(u.size):
        if weights[s] > 0.0:
            total += weights[s] * u[s] ** power
    return total


@njit
def picked(codes, psi_a, psi_b, one):
    u = np.empty(len(codes))
    for s in range(len(codes)):
        t, a, b = codes[s]
        u[s] = psi_a[t, a] - (0.0 if one else psi_b[t, b])
    return u


@njit
def spread(u, counts, jackknife):
    n = counts.sum()
    square = mean_square(u, counts, 2) / n**2
    return math.sqrt(square * n / (n - 1.0) if jackknife else square)


@njit
def acceleration(u, counts):
    square = mean_square(u, counts, 2)
    return mean_square(u, counts, 3) / (6.0 * square**1.5) if square > 1e-28 else 0.0


@njit
def on_scale(value, error, scale):
    """Give limits that are symmetric on the logit scale, 0, or Fisher's, 1."""
    if not -scale < value < 1.0:
        return math.nan, math.nan
    if scale == 1:
        middle, step = math.atanh(value), Z * error / (1.0 - value**2)
        return math.tanh(middle - step), math.tanh(middle + step)
    middle = math.log(value / (1.0 - value))
    step = Z * error / (value * (1.0 - value))
    return 1.0 / (1.0 + math.exp(step - middle)), 1.0 / (1.0 + math.exp(-step - middle))


@njit
def as_f1(jaccard):
    return 2.0 * jaccard / (1.0 + jaccard)


@njit
def mover(table, value, recalls):
    """Combine Wilson's limits of recalls, or of F1, of all classes."""
    down = up = 0.0
    used = 0
    for k in range(len(table)):
        d, r, c = table[k, k], table[k].sum(), table[:, k].sum()
        trials = r if recalls else r + c - d
        if trials > 0.0:
            p, (low, high) = d / trials, wilson_interval(d, trials, LEVEL)
            if not recalls:
                p, low, high = (2 * p / (1 + p), 2 * low / (1 + low), 2 * high / (1 + high))
            down, up, used = down + (p - low) ** 2, up + (high - p) ** 2, used + 1
    return value - math.sqrt(down) / used, value + math.sqrt(up) / used


@njit
def newcombe(codes, counts, k, difference):
    """Combine Newcombe's limits of the differences of recalls."""
    four = np.zeros((k, 4), np.int64)
    for s in range(len(codes)):
        t, a, b = codes[s]
        four[t, 2 * (a != t) + (b != t)] += counts[s]
    down = up = 0.0
    used = 0
    for t in range(k):
        both, only_a, only_b, none = four[t]
        n = both + only_a + only_b + none
        if n > 0:
            low, high = newcombe_interval(both, only_a, only_b, none, LEVEL)
            d, used = (only_a - only_b) / n, used + 1
            down, up = down + (d - low) ** 2, up + (high - d) ** 2
    return difference - math.sqrt(down) / used, difference + math.sqrt(up) / used


@njit
def resampled_ends(values, estimate, u, counts, bca):
    """Make the percentile or the BCa interval; draws without a value are left out."""
    kept = np.sort(values[np.isfinite(values)])
    if kept.size == 0 or math.isnan(estimate):
        return math.nan, math.nan
    if not bca:
        return percentile_interval(kept, LEVEL)
    slack = 1e-12 * max(abs(kept[0]), abs(kept[-1]), abs(estimate))
    low, high, _ = bca_interval(kept, estimate, acceleration(u, counts), LEVEL, slack)
    return low, high


@njit
def z_pvalue(difference, error):
    """Test by z; without a standard error there is no answer."""
    if not error > 0.0:
        return math.nan
    return math.erfc(abs(difference) / error / math.sqrt(2.0))


@njit
def tests_of(codes, counts, swaps, psi, spec, k, estimates):
    """P-values of the z tests and of the permutation test."""
    difference, error, value = estimates
    if not np.any(codes[:, 1] != codes[:, 2]):
        return 1.0, 1.0, 1.0
    if math.isnan(value):
        return math.nan, math.nan, math.nan
    u, total = picked(codes, psi, psi, False), 0.0
    for s in range(u.size):
        total += counts[s] * u[s]
    pooled = z_pvalue(total, math.sqrt(mean_square(u, counts, 2)))
    cells, draws, chances = swaps
    exact = permutation(draws, chances, cells, spec, k, difference)
    return z_pvalue(difference, error), pooled, exact


@njit
def answer(cells, draws, swaps, how, tables, ends, pvalues):
    """Write the intervals of one data set, (9, 2), and the p-values, (3,)."""
    (codes, counts), spec, k = cells, how, tables.shape[1]
    scale = 1 if spec.metric in (MCC, KAPPA) else 0
    a, b = tables
    psi_a, psi_b = deviations(a, spec, False), deviations(b, spec, False)
    jack_a, jack_b = deviations(a, spec, True), deviations(b, spec, True)
    psi = deviations(a + b, spec, False)
    listed = np.ones(k, np.uint8)
    value = metric_value(a, spec, listed, np.empty((0, 0)))
    d = value - metric_value(b, spec, listed, np.empty((0, 0)))
    of_a, of_both = differences(draws, codes, spec, k)
    # One model.
    u = picked(codes, jack_a, jack_a, True)
    error = spread(picked(codes, psi_a, psi_a, True), counts, False)
    jackknife = spread(u, counts, True)
    ends[0] = value - Z * error, value + Z * error
    ends[1] = on_scale(value, jackknife, scale)
    ends[2] = ends[1]
    if spec.metric == F_BETA and spec.average != MACRO:
        d1, r1, c1 = a[1, 1], a[1].sum(), a[:, 1].sum()
        if r1 + c1 > 0.0:
            low, high = wilson_interval(d1, r1 + c1 - d1, LEVEL)
            ends[2] = as_f1(low), as_f1(high)
    elif spec.metric == RECALL or (scale == 0 and value * (1.0 - value) == 0.0):
        ends[2] = mover(a, value, spec.metric == RECALL)
    ends[3] = resampled_ends(of_a, value, u, counts, True)
    # The difference.
    u = picked(codes, jack_a, jack_b, False)
    error = spread(picked(codes, psi_a, psi_b, False), counts, False)
    jackknife = spread(u, counts, True)
    ends[4] = d - Z * error, d + Z * error
    ends[5] = d - Z * jackknife, d + Z * jackknife
    ends[6] = math.nan
    if spec.metric == RECALL:
        ends[6] = newcombe(codes, counts, k, d)
    ends[7] = resampled_ends(of_both, d, u, counts, False)
    ends[8] = resampled_ends(of_both, d, u, counts, True)
    found = tests_of(codes, counts, swaps, psi, spec, k, (d, error, d))
    pvalues[0], pvalues[1], pvalues[2] = found


@njit
def resampled(tensor, seed, n_draws):
    """Draw the cells of a data set again: samples, and exchanges of the models."""
    codes, counts, _ = cells_of(tensor, 0)
    draws = np.empty((n_draws, counts.size))
    draw_cells(counts, np.zeros(counts.size, np.int64), seed, 0, draws)
    more, numbers, partner = cells_of(tensor, 1)
    if len(tensor) == 2:
        return (codes, counts), draws, (more, *enumerate_two(numbers, partner))
    swaps = np.empty((n_draws, numbers.size))
    swap_cells(numbers, partner, seed, 0, swaps)
    return (codes, counts), draws, (more, swaps, np.empty(0))


@njit
def simulate(tensors, metrics, truths, n_draws, seed):
    """Count what was wrong, and what there was not, (metrics, kinds, 2)."""
    counted = np.zeros((len(metrics), 12, 2), np.int64)
    ends, pvalues = np.empty((9, 2)), np.empty(3)
    for run in range(len(tensors)):
        cells, draws, swaps = resampled(tensors[run], seed + run, n_draws)
        k = tensors.shape[1]
        tables = np.zeros((1, 2, k, k))
        cell_tables(cells[0], cells[1].astype(np.float64).reshape(1, -1), tables)
        for m in range(len(metrics)):
            metric, average, labels = metrics[m]
            spec = MetricSpec(metric, average, 1, 1.0, 0.0, labels)
            answer(cells, draws, swaps, spec, tables[0], ends, pvalues)
            for i in range(9):
                wanted = truths[m] if i < 4 else 0.0
                low, high = ends[i]
                counted[m, i, 0] += low > wanted + 1e-12 or high < wanted - 1e-12
                counted[m, i, 1] += math.isnan(low) or math.isnan(high)
            for i in range(3):
                counted[m, 9 + i, 0] += pvalues[i] <= 1.0 - LEVEL + 1e-12
                counted[m, 9 + i, 1] += math.isnan(pvalues[i])
    return counted
