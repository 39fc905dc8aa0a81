"""E-values by definition: sums with fifty digits, and lists of subsets."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import mpmath as mp

mp.mp.dps = 50


def log_beta(x, y):
    return mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y)


def _log_half_beta(x, y):
    """Log of the regularised incomplete beta function at one half."""
    if x < y:
        return mp.log1p(-mp.exp(_log_half_beta(y, x)))
    total, term, i = mp.mpf(0), mp.mpf(1), 0
    while term > mp.mpf(10) ** -45 * (total + 1):
        total += term
        term *= (x + y + i) / (2 * (x + 1 + i))
        i += 1
    return mp.log(total / x) - (x + y) * mp.log(2) - log_beta(x, y)


def mcnemar_log_evalue(only_a, only_b, prior=(0.5, 0.5), alternative=0):
    b, c, s, t = map(mp.mpf, (only_a, only_b, *prior))
    log_e = (b + c) * mp.log(2) + log_beta(b + s, c + t) - log_beta(s, t)
    if alternative == 0:
        return log_e
    if alternative < 0:
        b, c, s, t = c, b, t, s
    return log_e + _log_half_beta(c + t, b + s) - _log_half_beta(t, s)


def difference_log_evalue(only_a, only_b, n, difference):
    """The arcsine mixture, by as many Chebyshev nodes as make it exact."""
    mu = (1 + mp.mpf(difference)) / 2
    size = n // 2 + 1
    total = mp.mpf(0)
    for k in range(1, size + 1):
        u = (1 + mp.cos((2 * k - 1) * mp.pi / (2 * size))) / 2
        up, down = u / mu, (1 - u) / (1 - mu)
        total += up**only_a * down**only_b * ((up + down) / 2) ** (n - only_a - only_b)
    return mp.log(total / size)


def dirichlet_log_evalue(only_a, only_b, n, difference, prior):
    """Log marginal likelihood less the largest one with that difference, by search."""
    counts = (only_a, only_b, n - only_a - only_b)
    whole = [mp.mpf(x) + a for x, a in zip(counts, prior, strict=True)]
    marginal = sum(map(mp.loggamma, whole)) - mp.loggamma(sum(whole))
    marginal -= sum(map(mp.loggamma, prior)) - mp.loggamma(mp.mpf(sum(prior)))
    d = mp.mpf(difference)
    low, high = max(mp.mpf(0), -d), (1 - d) / 2

    def likelihood(q):
        parts = zip(counts, (q + d, q, 1 - 2 * q - d), strict=True)
        return sum(x * mp.log(p) if x else mp.mpf(0) for x, p in parts if x)

    for _ in range(230):  # concave in q
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if likelihood(a) < likelihood(b) else (low, b)
    return marginal - likelihood((low + high) / 2)


def bets_log_evalue(values, mean, bets):
    total = mp.mpf(0)
    for bet in bets:
        wealth = mp.mpf(1)
        for x in values:
            wealth *= 1 + mp.mpf(float(bet)) * (mp.mpf(float(x)) - mp.mpf(float(mean)))
        total += wealth
    return mp.log(total / len(bets))


def closed_means(evalues):
    """Smallest mean of any set of e-values that holds each."""
    exact = list(map(Fraction, evalues))
    adjusted = []
    for k, own in enumerate(exact):
        others = exact[:k] + exact[k + 1 :]
        means = (
            (own + sum(some)) / (1 + size)
            for size in range(len(exact))
            for some in combinations(others, size)
        )
        adjusted.append(float(min(means)))
    return adjusted


def e_bh(evalues, alpha):
    """Which hypotheses the step-up procedure rejects."""
    m = len(evalues)
    order = sorted(range(m), key=lambda i: -evalues[i])
    rejected = 0
    for k in range(1, m + 1):
        if k * evalues[order[k - 1]] / m >= 1 / alpha:
            rejected = k
    return sorted(order[:rejected])
