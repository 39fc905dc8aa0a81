"""McNemar's test where samples are in strata, such as the tasks of a benchmark."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.paired.margins import BoundedUnits

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_SUMS = 1 << 22  # different values of a sum: a second or so
_MOST_TABLES = 1 << 23
_SAME = 1e-12  # relative difference of sums that rounding alone makes


def weighted_z(only_a: Floats, only_b: Floats, weights: Floats) -> float:
    """Divide the weighted sum of differences by its standard error under H0."""
    variance = float(weights**2 @ (only_a + only_b))
    if variance == 0.0:
        return 0.0
    return float(weights @ (only_a - only_b)) / math.sqrt(variance)


def weighted_exact(
    only_a: Ints, only_b: Ints, weights: Floats, alternative: str, *, mid: bool
) -> float:
    """Find the p-value over all signs of the discordant samples, by convolution.

    With `mid`, what was observed counts half.
    """
    gain = only_a - only_b
    observed = float(weights @ gain)
    if alternative == "less":
        observed = -observed  # the distribution is symmetric
    counts = [
        (int(n), float(w))
        for n, w in zip(only_a + only_b, weights, strict=True)
        if n > 0 and w > 0.0
    ]
    if not counts:
        return 1.0
    sums, chances = np.zeros(1), np.ones(1)
    noise = _SAME * sum(n * w for n, w in counts)
    for n, weight in sorted(counts, reverse=True):
        if sums.size * (n + 1) > _MOST_SUMS:
            raise ValueError(
                "method='exact' takes too long for weighted strata with "
                f"{int((only_a + only_b).sum())} discordant samples: use "
                "method='asymptotic', which is close at that size"
            )
        pmf = [kernels.binomial_half(float(k), float(n)).pmf for k in range(n + 1)]
        steps = weight * (2.0 * np.arange(n + 1) - n)
        sums, chances = _merged(
            np.add.outer(sums, steps).ravel(), np.outer(chances, pmf).ravel(), noise
        )
    if alternative == "two-sided":
        observed = abs(observed)
    tail = chances[sums >= observed - noise].sum()
    if mid:
        tail -= 0.5 * chances[np.abs(sums - observed) <= noise].sum()
    # The distribution is symmetric: the other side has the same probability.
    return float(min(2.0 * tail if alternative == "two-sided" else tail, 1.0))


def stratum_units(only_a: Ints, only_b: Ints, sizes: Ints, weights: Floats) -> BoundedUnits:
    """Units of the weighted difference: samples of each stratum, counted by difference.

    From counts by stratum, shape (..., H).
    """
    gain = np.concatenate([weights, -weights, 0.0 * weights])
    count = np.concatenate([only_a, only_b, sizes - only_a - only_b], axis=-1)
    return BoundedUnits(gain, np.tile(weights, 3), count.astype(np.float64))


def _merged(sums: Floats, chances: Floats, noise: float) -> tuple[Floats, Floats]:
    """Add up the chances of sums that are equal but for rounding."""
    order = np.argsort(sums, kind="stable")
    sums, chances = sums[order], chances[order]
    first = np.flatnonzero(np.append(True, np.diff(sums) > noise))
    return sums[first], np.add.reduceat(chances, first)


def heterogeneity(only_a: Ints, only_b: Ints) -> tuple[float, int, float]:
    """Pearson's test that strata share one odds ratio: chi-square, d.o.f., p-value.

    Strata without discordant samples say nothing, and do not count.
    """
    used = only_a + only_b > 0
    a, b = only_a[used].astype(np.float64), only_b[used].astype(np.float64)
    df = max(a.size - 1, 0)
    n, total_a, total_b = a + b, a.sum(), b.sum()
    if df == 0 or total_a == 0.0 or total_b == 0.0:
        return 0.0, df, 1.0
    # Both columns of a row are off by the same number.
    off = a - n * (total_a / (total_a + total_b))
    scale = (total_a + total_b) ** 2 / (total_a * total_b)
    statistic = float((off**2 / n).sum() * scale)
    return statistic, df, kernels.chdtrc(float(df), statistic)


def any_difference(only_a: Ints, only_b: Ints) -> tuple[float, int, float]:
    """McNemar's chi-squares of all strata added: chi-square, d.o.f., p-value."""
    n = only_a + only_b
    used = n > 0
    gain = (only_a - only_b)[used].astype(np.float64)
    df = int(np.count_nonzero(used))
    if df == 0:
        return 0.0, 0, 1.0
    statistic = float((gain**2 / n[used]).sum())
    return statistic, df, kernels.chdtrc(float(df), statistic)


def exact_heterogeneity(only_a: Ints, only_b: Ints) -> float:
    """Fisher's exact test of strata by discordant counts, after Freeman and Halton.

    Tables with the same margins that are no more probable than the one observed.
    """
    from scipy.special import gammaln

    used = only_a + only_b > 0
    rows = np.stack([only_a[used], only_b[used]], axis=1).astype(np.float64)
    n, total = rows.sum(axis=1), rows[:, 0].sum()

    def log_ways(taken: Floats, of: float) -> Floats:
        ways = gammaln(of + 1) - gammaln(taken + 1) - gammaln(of - taken + 1)
        return np.asarray(ways)

    # A state is the sum so far and the log of the number of ways; equal ones are one.
    sums, logs, times = np.zeros(1), np.zeros(1), np.ones(1)
    left = n.sum()
    for size in n.tolist():
        left -= size
        if sums.size * (size + 1) > _MOST_TABLES:
            raise ValueError(
                f"the exact test of {n.size} strata with {int(n.sum())} discordant "
                "samples takes too long: heterogeneity_pvalue is close at that size"
            )
        taken = np.arange(size + 1)
        sums = np.add.outer(sums, taken).ravel()
        logs = np.add.outer(logs, log_ways(taken, size)).ravel()
        times = np.repeat(times, taken.size)
        fits = (sums <= total) & (sums + left >= total)
        sums, logs, times = _merged_states(sums[fits], logs[fits], times[fits])
    everything = float(log_ways(np.array(total), n.sum()))
    observed = sum(float(log_ways(a, a + b)) for a, b in rows)
    extreme = logs <= observed + 1e-7  # as R's fisher.test
    return float(min((times * np.exp(logs - everything))[extreme].sum(), 1.0))


def _merged_states(sums: Floats, logs: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
    keys = np.stack([sums, np.round(logs, 9)], axis=1)
    _, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return (sums[first], logs[first], np.bincount(where.ravel(), times).astype(np.float64))


def per_sample(weights: Floats, sizes: Ints) -> Floats | None:
    """Divide weights of strata by their sizes; None where all samples count alike."""
    each = weights / sizes
    return None if np.ptp(each) <= 1e-12 * each.max() else each
