"""Brute-force oracles: each is the definition written out, obviously right and slow.

Nothing here imports fastcmp. Counts are exact integers and fractions as far as the
definition allows; tails of continuous distributions come from scipy.stats.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, expm1, fsum, inf, log1p, nan, sqrt

import numpy as np
from libraries import mpmath, optimize, stats


def sign(x):
    return (x > 0) - (x < 0)


# McNemar. `alternative` is 0 (two-sided), 1 (a is better) or -1, as in the kernels.


def half_binomial(k, n):
    """Return P(X <= k) and P(X = k) of Bin(n, 1/2), exactly."""
    ways = sum(comb(n, i) for i in range(k + 1))
    return Fraction(ways, 2**n), Fraction(comb(n, k), 2**n)


def far_half_binomial(k, n):
    """Return P(X < k) + P(X = k)/2 and P(X = k) to 25 digits, k <= n/2."""
    with mpmath.workdps(60):
        ways = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1)
        point = mpmath.exp(ways - mpmath.loggamma(n - k + 1) - n * mpmath.log(2))
    with mpmath.workdps(30):
        term, total = mpmath.mpf(1), mpmath.mpf("0.5")
        for i in range(k, 0, -1):
            term *= mpmath.mpf(i) / (n - i + 1)
            total += term
            if term < total * mpmath.mpf("1e-25"):
                break
        return total * point, point


def favourable(only_a, only_b, alternative):
    """Return the count that is small when the alternative is true."""
    return {0: min(only_a, only_b), 1: only_b, -1: only_a}[alternative]


def mcnemar_exact(only_a, only_b, alternative=0):
    if only_a + only_b == 0:
        return Fraction(1)
    k = favourable(only_a, only_b, alternative)
    at_most, _ = half_binomial(k, only_a + only_b)
    return min(at_most if alternative else 2 * at_most, Fraction(1))


def mcnemar_midp(only_a, only_b, alternative=0):
    if only_a + only_b == 0:
        return Fraction(1)
    k = favourable(only_a, only_b, alternative)
    at_most, point = half_binomial(k, only_a + only_b)
    mid = at_most - point / 2
    return mid if alternative else 2 * mid


def mcnemar_statistic(only_a, only_b, correction=0):
    if only_a + only_b == 0:
        return Fraction(0)
    distance = max(abs(only_a - only_b) - correction, 0)
    return Fraction(distance**2, only_a + only_b)


def mcnemar_asymptotic(only_a, only_b, alternative=0, correction=0):
    if only_a + only_b == 0:
        return 1.0
    z = sqrt(mcnemar_statistic(only_a, only_b, correction)) * sign(only_a - only_b)
    if alternative == 0:
        return 2.0 * stats.norm.sf(abs(z))
    return stats.norm.sf(z) if alternative == 1 else stats.norm.cdf(z)


# Suissa and Shuster's unconditional test.


def extreme_given_discordant(only_a, only_b, n, alternative=0):
    """Return P(as extreme | k discordant) for k = 0..n, all tables enumerated."""

    def statistic(x, y):
        # As a fraction, signed in favour of the alternative; 0 / 1 for no discordant.
        distance = abs(x - y) if alternative == 0 else alternative * (x - y)
        return distance * abs(distance), max(x + y, 1)

    top, bottom = statistic(only_a, only_b)
    found = []
    for k in range(n + 1):
        ways = 0
        for x in range(k + 1):
            t, b = statistic(x, k - x)
            if t * bottom >= top * b:
                ways += comb(k, x)
        found.append(Fraction(ways, 2**k))
    return found


def mixture(coefficients, pi):
    """Return sum of coefficients[k] * P(Bin(n, pi) = k) for each pi."""
    k = np.arange(len(coefficients))
    pi = np.atleast_1d(pi)
    return coefficients @ stats.binom.pmf(k[:, np.newaxis], len(k) - 1, pi)


def mcnemar_unconditional(only_a, only_b, n, alternative=0, cells=2000):
    """Maximise over a grid of pi, then within the cells beside each local maximum."""
    fractions = extreme_given_discordant(only_a, only_b, n, alternative)
    coefficients = np.array([float(a) for a in fractions])
    # Even in the angle, since hills are narrow near the ends of [0, 1].
    grid = np.sin(np.linspace(0.0, np.pi / 2, cells + 1)) ** 2
    values = mixture(coefficients, grid)
    best = values.max()
    for i in range(1, cells):
        if values[i] >= max(values[i - 1], values[i + 1]) and values[i] > 0.9 * best:
            top = optimize.minimize_scalar(
                lambda pi, scale=best: -mixture(coefficients, pi)[0] / scale,
                bounds=(grid[i - 1], grid[i + 1]),
                method="bounded",
                options={"xatol": 1e-10},
            )
            best = max(best, -top.fun * best)
    return best


# Tables and matrices.


def paired_table(y_true, pred_a, pred_b):
    table = [[0, 0], [0, 0]]
    for y, a, b in zip(y_true, pred_a, pred_b, strict=True):
        table[int(a != y)][int(b != y)] += 1
    return table


def agreement_table(pred_a, pred_b, n_classes):
    table = [[0] * n_classes for _ in range(n_classes)]
    for a, b in zip(pred_a, pred_b, strict=True):
        table[a][b] += 1
    return table


# Intervals.


def quantile(level):
    return stats.norm.ppf(0.5 + level / 2)


def wilson(successes, n, level):
    """Solve (successes/n - p)**2 = z**2 p (1 - p) / n, a quadratic in p."""
    with mpmath.workdps(50):
        share, square = mpmath.mpf(successes) / n, mpmath.mpf(quantile(level)) ** 2 / n
        a, b, c = 1 + square, -2 * share - square, share**2
        root = mpmath.sqrt(b * b - 4 * a * c)
        return float((-b - root) / (2 * a)), float((-b + root) / (2 * a))


def wald(only_a, only_b, n, level):
    d = Fraction(only_a - only_b, n)
    variance = (Fraction(only_a + only_b, n) - d**2) / n
    spread = quantile(level) * sqrt(variance)
    return max(float(d) - spread, -1.0), min(float(d) + spread, 1.0)


def bonett_price(only_a, only_b, n, level):
    return wald(only_a + 1, only_b + 1, n + 2, level)


def newcombe(both_right, only_a, only_b, both_wrong, level):
    n = both_right + only_a + only_b + both_wrong
    p1, p2 = (both_right + only_a) / n, (both_right + only_b) / n
    l1, u1 = wilson(both_right + only_a, n, level)
    l2, u2 = wilson(both_right + only_b, n, level)
    association = Fraction(both_right * both_wrong - only_a * only_b)
    if association > Fraction(n, 2):
        association -= Fraction(n, 2)
    elif association >= 0:
        association = Fraction(0)
    margins = (both_right + only_a) * (only_b + both_wrong)
    margins *= (both_right + only_b) * (only_a + both_wrong)
    phi = float(association) / sqrt(margins) if margins else 0.0
    down = (p1 - l1) ** 2 + (u2 - p2) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2)
    up = (p2 - l2) ** 2 + (u1 - p1) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1)
    d = (only_a - only_b) / n
    return d - sqrt(max(down, 0)), d + sqrt(max(up, 0))


def tango_score(only_a, only_b, n, delta):
    """Return the score statistic for H0: difference = delta, to 50 digits."""
    with mpmath.workdps(50):
        delta = mpmath.mpf(delta)
        a = 2 * n
        b = -only_a - only_b + (2 * n - only_a + only_b) * delta
        c = -only_b * delta * (1 - delta)
        q = (mpmath.sqrt(b * b - 4 * a * c) - b) / (2 * a)
        variance = n * (2 * q + delta * (1 - delta))
        distance = only_a - only_b - n * delta
        if variance <= 0:
            return mpmath.inf * sign(distance) if distance else mpmath.mpf(0)
        return distance / mpmath.sqrt(variance)


def tango(only_a, only_b, n, level):
    z, d = quantile(level), (only_a - only_b) / n

    def excess(delta):
        return float(min(abs(tango_score(only_a, only_b, n, delta)), 1e6)) - z

    low = optimize.brentq(excess, -1, d, xtol=1e-15) if d > -1 else -1.0
    high = optimize.brentq(excess, d, 1, xtol=1e-15) if d < 1 else 1.0
    return low, high


def odds_ratio(only_a, only_b, level, weight):
    """Invert both binomial tails in the logarithm of the odds.

    What was observed counts with `weight`: 1 is Clopper and Pearson's interval, 1/2
    the mid-p interval.
    """
    n = only_a + only_b

    def tail(log_odds, counts):
        p, q = 1 / (1 + exp(-log_odds)), 1 / (1 + exp(log_odds))
        parts = [comb(n, i) * p**i * q ** (n - i) for i in counts]
        return weight * comb(n, only_a) * p**only_a * q**only_b + fsum(parts)

    def solve(counts):
        def excess(log_odds):
            return tail(log_odds, counts) - (1 - level) / 2

        return exp(optimize.brentq(excess, -40, 40, xtol=1e-14, rtol=1e-14))

    low = solve(range(only_a + 1, n + 1)) if only_a else 0.0
    high = solve(range(only_a)) if only_b else inf
    return low, high


# More than two models or classes.


def cochrans_q(right):
    """Return Q and its p-value from a 0/1 matrix with models in its rows."""
    rows = [[int(x) for x in row] for row in right]
    k = len(rows)
    correct = [sum(row) for row in rows]
    of_sample = [sum(sample) for sample in zip(*rows, strict=True)]
    total = sum(correct)
    within = sum(s * (k - s) for s in of_sample)
    if within == 0:
        return Fraction(0), 1.0
    between = sum((g - Fraction(total, k)) ** 2 for g in correct)
    q = k * (k - 1) * between / within
    return q, stats.chi2.sf(float(q), k - 1)


def looneys_f(right):
    """Return F and its p-value from the sums of squares of a two-way layout."""
    rows = [[int(x) for x in row] for row in right]
    k, n = len(rows), len(rows[0])
    total = sum(map(sum, rows))
    mean = Fraction(total**2, n * k)
    models = Fraction(sum(sum(row) ** 2 for row in rows), n) - mean
    samples = [sum(sample) for sample in zip(*rows, strict=True)]
    residual = total - mean - models - (Fraction(sum(s * s for s in samples), k) - mean)
    if models + residual == 0:
        return 0.0, 1.0
    if residual == 0:
        return inf, 0.0
    f = float((models / (k - 1)) / (residual / ((k - 1) * (n - 1))))
    return f, stats.f.sf(f, k - 1, (k - 1) * (n - 1))


def bowker(table):
    """Return the statistic, its degrees of freedom and the p-value."""
    statistic, df = Fraction(0), 0
    for i, j in combinations(range(len(table)), 2):
        x, y = int(table[i][j]), int(table[j][i])
        if x + y > 0:
            statistic += Fraction((x - y) ** 2, x + y)
            df += 1
    return statistic, df, stats.chi2.sf(float(statistic), df) if df else 1.0


def stuart_maxwell(table):
    """Return the statistic, its degrees of freedom and the p-value."""
    table = np.asarray(table, float)
    d = table.sum(axis=1) - table.sum(axis=0)
    covariance = -(table + table.T)
    margins = table.sum(axis=1) + table.sum(axis=0)
    np.fill_diagonal(covariance, margins - 2 * np.diag(table))
    df = int(np.linalg.matrix_rank(covariance))
    statistic = d @ np.linalg.pinv(covariance) @ d
    return statistic, df, stats.chi2.sf(statistic, df) if df else 1.0


def bhapkar(table):
    """Return Wald's statistic with the observed covariance, d.o.f. and p-value.

    NaN where that covariance has a smaller rank than under the hypothesis.
    """
    table = np.asarray(table, float)
    n = table.sum()
    _, df, _ = stuart_maxwell(table)
    if df == 0:
        return 0.0, 0, 1.0
    a, b = table.sum(axis=1), table.sum(axis=0)
    d = a - b
    # n times the covariance of the indicators of a's class minus those of b's.
    covariance = np.diag(a + b) - table - table.T - np.outer(d, d) / n
    if np.linalg.matrix_rank(covariance, tol=1e-9 * n) < df:
        return nan, df, nan
    statistic = d @ np.linalg.pinv(covariance) @ d
    return statistic, df, stats.chi2.sf(statistic, df)


# Adjusted p-values.


def step_down(pvalues, single):
    """Let `single(p, m)` treat the i-th smallest as the smallest of m - i + 1."""
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    adjusted, highest = [0.0] * len(pvalues), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, single(pvalues[i], len(pvalues) - rank))
        adjusted[i] = min(highest, 1.0)
    return adjusted


def step_up(pvalues, factor):
    """Multiply the i-th smallest by `factor(i)`; no larger p-value may end smaller."""
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    adjusted, lowest = [0.0] * len(pvalues), 1.0
    for rank in range(len(pvalues), 0, -1):
        i = order[rank - 1]
        lowest = min(lowest, pvalues[i] * factor(rank))
        adjusted[i] = lowest
    return adjusted


def bonferroni_once(p, m):
    return min(m * p, 1.0)


def sidak_once(p, m):
    return float(1 - (1 - Fraction(p)) ** m)


def simes(pvalues):
    ranked = enumerate(sorted(pvalues), start=1)
    return min(len(pvalues) * p / rank for rank, p in ranked)


def hommel(pvalues):
    """Close Simes' test; the worst set of s with p is p and the s - 1 largest others.

    That is so because Simes' p-value rises with each p-value of the set.
    """
    adjusted = []
    for i, p in enumerate(pvalues):
        others = sorted(pvalues[:i] + pvalues[i + 1 :], reverse=True)
        sets = [[p, *others[:size]] for size in range(len(pvalues))]
        adjusted.append(max(map(simes, sets)))
    return adjusted


def closed_simes(pvalues):
    """Close Simes' test over every set of hypotheses there is."""
    m = len(pvalues)
    adjusted = [0.0] * m
    for size in range(1, m + 1):
        for chosen in combinations(range(m), size):
            value = simes([pvalues[i] for i in chosen])
            for i in chosen:
                adjusted[i] = max(adjusted[i], value)
    return adjusted


def finner(pvalues):
    """The largest of 1 - (1 - p)^(m / rank) among the p-values that are no larger."""
    ranked = list(enumerate(sorted(pvalues), start=1))
    m = len(pvalues)
    return [
        max(-expm1(m / rank * log1p(-q)) if q < 1 else 1.0 for rank, q in ranked if q <= p)
        for p in pvalues
    ]


def li(pvalues):
    """Compare each p-value with the largest; one that rounding alone holds below 1 is 1."""
    largest = max(pvalues)
    return [p / (p + 1 - largest) if largest < 1 - 1e-12 else 1.0 for p in pvalues]


def adjust(pvalues, method):
    """Adjust by the name that R's p.adjust or statsmodels gives the method."""
    m = len(pvalues)
    if method in {"bonferroni", "sidak"}:
        once = bonferroni_once if method == "bonferroni" else sidak_once
        return [once(p, m) for p in pvalues]
    if method in {"holm", "holm-sidak"}:
        return step_down(pvalues, bonferroni_once if method == "holm" else sidak_once)
    if method == "hommel":
        return hommel(pvalues)
    if method == "finner":
        return finner(pvalues)
    if method == "li":
        return li(pvalues)
    harmonic = fsum(1 / i for i in range(1, m + 1)) if method == "BY" else 1.0
    factors = {
        "hochberg": lambda rank: m - rank + 1,
        "BH": lambda rank: m / rank,
        "BY": lambda rank: m / rank * harmonic,
    }
    return step_up(pvalues, factors[method])


# Costs. `values` are cost differences, `weights` the samples with each of them.


def label_table(y_true, pred_a, pred_b, n_classes):
    table = np.zeros((n_classes, n_classes, n_classes), np.int64)
    for t, a, b in zip(y_true, pred_a, pred_b, strict=True):
        table[int(t), int(a), int(b)] += 1
    return table


def observed(values, weights):
    """Return pairs of value and positive weight, equal values merged."""
    merged = {}
    for d, w in zip(map(float, values), weights, strict=True):
        if w > 0:
            merged[d] = merged.get(d, Fraction(0)) + Fraction(float(w))
    return list(merged.items())


def likelihood_of_mean_0(pairs, low, high):
    """Return statistic, multiplier and whether that is at a bound.

    Bisection of the likelihood equation, in mpmath's precision; `low` and `high` are
    the smallest and the largest value that is possible.
    """
    pairs = [(d, w) for d, w in pairs if d != 0]

    def slope(multiplier):
        return mpmath.fsum(w * d / (1 + multiplier * d) for d, w in pairs)

    def statistic(multiplier):
        return 2 * mpmath.fsum(w * mpmath.log(1 + multiplier * d) for d, w in pairs)

    total = slope(mpmath.mpf(0))
    if total == 0:
        return mpmath.mpf(0), mpmath.mpf(0), False
    end = -1 / (low if total > 0 else high)
    has_pole = any(d in {low, high} and end * d < 0 for d, _ in pairs)
    if not has_pole and slope(end) * sign(total) >= 0:
        return statistic(end), end, True
    near, far = mpmath.mpf(0), end
    for _ in range(180):
        middle = (near + far) / 2
        if slope(middle) * sign(total) > 0:
            near = middle
        else:
            far = middle
    return statistic(near), near, False


def as_mpf(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def cost_likelihood(values, weights, low, high):
    """Test that the mean difference is 0."""
    with mpmath.workdps(60):
        pairs = [(mpmath.mpf(d), as_mpf(w)) for d, w in observed(values, weights)]
        return likelihood_of_mean_0(pairs, mpmath.mpf(low), mpmath.mpf(high))


def cost_profile(values, weights, n, largest, mean):
    """Test any mean: all differences move, those of the samples without one too."""
    with mpmath.workdps(60):
        pairs = observed(values, weights)
        pairs.append((0.0, Fraction(n) - sum(w for _, w in pairs)))
        shifted = [(mpmath.mpf(d) - mean, as_mpf(w)) for d, w in pairs if w > 0]
        low, high = -mpmath.mpf(largest) - mean, mpmath.mpf(largest) - mean
        return likelihood_of_mean_0(shifted, low, high)


def cost_likelihood_primal(values, weights, low, high, method):
    """Maximise the likelihood itself: statistic per sample, and whether that converged.

    The unknowns are the probabilities of all observed differences, of 0 and of the two
    extremes, the observed ones relative to their share.
    """
    merged = {float(d): float(w) for d, w in observed(values, weights)}
    for d in (0.0, float(low), float(high)):
        merged.setdefault(d, 0.0)
    d = np.array(list(merged)) / max(abs(low), abs(high))
    share = np.array(list(merged.values()))
    share /= share.sum()
    unit = np.where(share > 0, share, 1.0)
    seen = share > 0

    def loss(u):
        return -np.sum(share[seen] * np.log(u[seen]))

    def gradient(u):
        return np.where(seen, -share / np.where(seen, u, 1.0), 0.0)

    def hessian(u):
        return np.diag(np.where(seen, share / np.where(seen, u, 1.0) ** 2, 0.0))

    rows = np.array([unit, unit * d])
    start = np.where(seen, 0.5, 0.5 / max(1, np.sum(~seen)))
    box = optimize.Bounds(np.where(seen, 1e-9, 0.0), np.full(d.size, np.inf))
    options = {"maxiter": 3000}
    if method == "SLSQP":
        options["ftol"] = 1e-15
        constraints = {"type": "eq", "fun": lambda u: rows @ u - [1.0, 0.0], "jac": lambda _: rows}
        more = {}
    else:
        # Its gtol is met long before the barrier is low.
        options |= {"gtol": 1e-30, "xtol": 1e-10, "barrier_tol": 1e-11}
        constraints = optimize.LinearConstraint(rows, [1.0, 0.0], [1.0, 0.0])
        more = {"hess": hessian}
    found = optimize.minimize(
        loss,
        start,
        jac=gradient,
        method=method,
        bounds=box,
        constraints=constraints,
        options=options,
        **more,
    )
    if method == "SLSQP":
        return 2.0 * found.fun, found.success
    return 2.0 * found.fun, max(found.constr_violation, found.barrier_parameter) < 1e-11


def cost_chi_square(values, weights):
    """Minimise the sum of (w - m)**2 / w with m >= 0 and the sum of m d 0, exactly.

    Whatever cells are empty, the others follow in closed form: all choices are tried.
    """
    pairs = [(Fraction(d), w) for d, w in observed(values, weights) if d != 0]
    total = sum((w for _, w in pairs), Fraction(0))
    best = total
    for size in range(1, len(pairs) + 1):
        for kept in combinations(pairs, size):
            multiplier = sum(w * d for d, w in kept) / sum(w * d * d for d, w in kept)
            if all(multiplier * d <= 1 for d, _ in kept):
                inside = sum(w * (multiplier * d) ** 2 for d, w in kept)
                emptied = total - sum(w for _, w in kept)
                best = min(best, inside + emptied)
    return best


def cost_wald(values, weights, n, level):
    """Return the ends before they are clipped."""
    n = Fraction(n)
    pairs = observed(values, weights)
    mean = sum((w * Fraction(d) for d, w in pairs), Fraction(0)) / n
    square = sum((w * Fraction(d) ** 2 for d, w in pairs), Fraction(0)) / n
    spread = quantile(level) * sqrt((square - mean**2) / n)
    return float(mean) - spread, float(mean) + spread


# Scores of negatives and positives: every pair is looked at.


def pair_table(negatives, positives):
    """Return the numbers of pairs in which the positive is higher, equal, lower."""
    found = [0, 0, 0]
    for x in positives:
        for y in negatives:
            found[0 if x > y else 1 if x == y else 2] += 1
    return found


def sweep_table(negatives, positives):
    """Map each distinct score to how many of either class reach it, descending."""
    together = sorted({float(x) for x in [*negatives, *positives]}, reverse=True)
    return {
        at: (sum(float(y) >= at for y in negatives), sum(x >= at for x in positives))
        for at in together
    }


def weighted_auc(flags, scores, weights, tied):
    """Divide the weight of the concordant pairs by that of all; ties count `tied`."""
    won = total = Fraction(0)
    for i, j in np.ndindex(len(flags), len(flags)):
        if flags[i] and not flags[j]:
            weight = Fraction(weights[i]) * Fraction(weights[j])
            share = {1: Fraction(1), 0: Fraction(tied), -1: Fraction(0)}
            total += weight
            won += weight * share[sign(float(scores[i]) - float(scores[j]))]
    return won / total


def structural_components(flags, scores):
    """Return V10, one a positive, and V01, one a negative, as fractions."""
    positives = [x for x, flag in zip(scores, flags, strict=True) if flag]
    negatives = [x for x, flag in zip(scores, flags, strict=True) if not flag]
    half = {1: Fraction(1), 0: Fraction(1, 2), -1: Fraction(0)}
    kernel = [[half[sign(float(x) - float(y))] for y in negatives] for x in positives]
    v10 = [sum(row) / len(negatives) for row in kernel]
    v01 = [sum(column) / len(positives) for column in zip(*kernel, strict=True)]
    return v10, v01


def delong_covariance(flags, models):
    """Write DeLong's equations out: S10 / m + S01 / n, exactly."""
    parts = [structural_components(flags, scores) for scores in models]
    auc = [sum(v10) / len(v10) for v10, _ in parts]
    found = np.empty((len(models), len(models)), object)
    for r, s in np.ndindex(found.shape):
        total = Fraction(0)
        for side in (0, 1):
            one, other = parts[r][side], parts[s][side]
            products = [(x - auc[r]) * (y - auc[s]) for x, y in zip(one, other, strict=True)]
            total += sum(products) / (len(one) - 1) / len(one)
        found[r, s] = total
    return auc, found


def obuchowski_covariance(flags, models, groups):
    """Write Obuchowski's equations of 1997 out, exactly.

    Clusters i = 1..I hold m_i positives and n_i negatives; I10 clusters have positives
    and I01 have negatives, m and n are the totals. With the sums over a cluster
    V10(X_i.) and V01(Y_i.), and A_i = V10(X_i.) - m_i auc, B_i = V01(Y_i.) - n_i auc:
    S10 = I10 / ((I10 - 1) m) sum A A', S01 = I01 / ((I01 - 1) n) sum B B',
    S11 = I / (I - 1) sum A B', and the covariance is
    S10 / m + S01 / n + (S11 + S11') / (m n).
    """
    labels = sorted(set(groups))
    of_positives = [g for g, flag in zip(groups, flags, strict=True) if flag]
    of_negatives = [g for g, flag in zip(groups, flags, strict=True) if not flag]
    m, n, clusters = len(of_positives), len(of_negatives), len(labels)
    i10, i01 = len(set(of_positives)), len(set(of_negatives))
    a, b, auc = [], [], []
    for scores in models:
        v10, v01 = structural_components(flags, scores)
        area = sum(v10) / m
        auc.append(area)
        for sums, values, members in ((a, v10, of_positives), (b, v01, of_negatives)):
            sums.append(
                [
                    sum((v for v, h in zip(values, members, strict=True) if h == g), 0)
                    - members.count(g) * area
                    for g in labels
                ]
            )
    found = np.empty((len(models), len(models)), object)
    for r, s in np.ndindex(found.shape):

        def dot(x, y):
            return sum((p * q for p, q in zip(x, y, strict=True)), Fraction(0))

        s10 = Fraction(i10, (i10 - 1) * m) * dot(a[r], a[s])
        s01 = Fraction(i01, (i01 - 1) * n) * dot(b[r], b[s])
        s11 = Fraction(clusters, clusters - 1) * (dot(a[r], b[s]) + dot(b[r], a[s]))
        found[r, s] = s10 / m + s01 / n + s11 / (m * n)
    return auc, found


# Sign flips: with exact fractions, over all signs.


def sign_flips(differences, alternative=0):
    """Return the probability that flipped differences have as extreme a sum."""
    values = [Fraction(d) for d in differences]
    total = sum(values)
    flipped = [
        sum(s * d for s, d in zip(signs, values, strict=True))
        for signs in product((1, -1), repeat=len(values))
    ]
    return share_as_extreme(flipped, total, alternative)


def share_as_extreme(values, observed, alternative):
    """Return the proportion of values as extreme as the observed one."""
    extreme = {
        0: lambda value: abs(value) >= abs(observed),
        1: lambda value: value >= observed,
        -1: lambda value: value <= observed,
    }[alternative]
    return Fraction(sum(map(extreme, values)), len(values))


def signed_t_square(differences, sizes, factors, weights=None):
    """Return the square of t with the sign of t; lists of strata of fractions."""
    total = variance = Fraction(0)
    weights = weights or [Fraction(1)] * len(differences)
    strata = zip(differences, sizes, factors, weights, strict=True)
    for d, n, f, weight in strata:
        mean = Fraction(sum(d), sum(n))
        residuals = [x - size * mean for x, size in zip(d, n, strict=True)]
        scale = Fraction(weight) / sum(n)
        total += scale * sum(d)
        each = zip(f, residuals, strict=True)
        variance += scale**2 * sum(factor * r * r for factor, r in each)
    if total == 0:
        return Fraction(0)
    return sign(total) * (total**2 / variance if variance else inf)


def student_flips(differences, sizes, factors, weights=None, alternative=0):
    """Return the probability that flipped differences have as extreme a t."""
    strata = [[Fraction(x) for x in d] for d in differences]
    factors = [[Fraction(x) for x in f] for f in factors]
    observed = signed_t_square(strata, sizes, factors, weights)
    n = sum(map(len, strata))
    found = []
    for signs in product((1, -1), repeat=n):
        left = iter(signs)
        flipped = [[next(left) * x for x in d] for d in strata]
        found.append(signed_t_square(flipped, sizes, factors, weights))
    return share_as_extreme(found, observed, alternative)


# Metrics of a confusion matrix, ``table[true][predicted]``: of fractions, or of
# mpmath's numbers, from how many samples fall where.


#: Rates to which ``zero_division`` does not apply.
WITHOUT_ZERO = {*("informedness", "markedness"), *("lr_plus", "lr_minus", "diagnostic_odds_ratio")}


def one_against_rest(table, k):
    """Return true positives, misses, false alarms and true negatives of class k."""
    classes = range(len(table))
    tp = table[k][k]
    fn = sum(table[k][y] for y in classes if y != k)
    fp = sum(table[t][k] for t in classes if t != k)
    tn = sum(table[t][y] for t in classes for y in classes if k not in (t, y))
    return tp, fn, fp, tn


def share(part, rest, zero=None):
    """Return part / (part + rest), or `zero`."""
    return part / (part + rest) if part + rest else zero


def square_root(x):
    return mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator if is_whole(x) else x)


def is_whole(x):
    return isinstance(x, (int, Fraction))


def confusion_rate(rate, cells, beta=1, zero=None):
    """Return a rate of one class from its four cells; `zero` or None without any."""
    tp, fn, fp, tn = cells
    shares = {
        "recall": (tp, fn),
        "precision": (tp, fp),
        "specificity": (tn, fp),
        "npv": (tn, fn),
        "fbeta": ((1 + beta**2) * tp, beta**2 * fn + fp),
        "jaccard": (tp, fn + fp),
    }
    if rate in shares:
        return share(*shares[rate], zero)
    if rate == "fowlkes_mallows":
        below = (tp + fn) * (tp + fp)
        return tp / square_root(below) if below else zero
    if rate in ("informedness", "markedness"):
        pair = {"i": ("recall", "specificity"), "m": ("precision", "npv")}[rate[0]]
        parts = [confusion_rate(part, cells) for part in pair]
        return None if None in parts else sum(parts) - 1
    top, below = {
        "lr_plus": (tp * (fp + tn), fp * (tp + fn)),
        "lr_minus": (fn * (fp + tn), tn * (tp + fn)),
        "diagnostic_odds_ratio": (tp * tn, fp * fn),
    }[rate]
    return top / below if below else None


def average_of_rates(table, rate, average, counted, beta=1, zero=None):
    """Return an average of rates over the `counted` classes; None if undefined.

    A rate without samples is `zero`, or left out where that is None.
    """
    every = {k: one_against_rest(table, k) for k in counted}
    if average == "micro":
        sums = [sum(cells[i] for cells in every.values()) for i in range(4)]
        return confusion_rate(rate, sums, beta, zero)
    if average == "of_means":
        means = [
            average_of_rates(table, part, "macro", counted, 1, zero)
            for part in ("precision", "recall")
        ]
        if None in means:
            return None
        p, r = means
        return (1 + beta**2) * p * r / (beta**2 * p + r) if p or r else 0 * p
    rates = {k: confusion_rate(rate, cells, beta, zero) for k, cells in every.items()}
    if rate in WITHOUT_ZERO and (None in rates.values() or not rates):
        return None
    rates = {k: value for k, value in rates.items() if value is not None}
    weights = {k: sum(table[k]) if average == "weighted" else 1 for k in rates}
    if sum(weights.values()) == 0:
        return None if rate in WITHOUT_ZERO else zero
    if average == "geometric":
        value = mpmath.mpf(1)
        for each in rates.values():
            value *= square_root(each * each) ** (mpmath.mpf(1) / len(rates))
        return value
    return sum(weights[k] * rates[k] for k in rates) / sum(weights.values())


def agreement(table, metric, penalty=None):
    """Return a metric of the whole matrix; None if undefined."""
    classes = range(len(table))
    n = sum(map(sum, table))
    cells = list(product(classes, classes))
    share_of = {(t, y): table[t][y] / n for t, y in cells}
    truth = [sum(share_of[t, y] for y in classes) for t in classes]
    calls = [sum(share_of[t, y] for t in classes) for y in classes]
    if metric == "cost":
        return sum(penalty[t][y] * share_of[t, y] for t, y in cells)
    right = sum(share_of[k, k] for k in classes)
    if metric == "accuracy":
        return right
    if metric == "mcc":
        above = right - sum(truth[k] * calls[k] for k in classes)
        spread = (1 - sum(r * r for r in truth)) * (1 - sum(c * c for c in calls))
        return above / square_root(spread) if spread else 0 * above
    if penalty is None:
        penalty = [[int(t != y) for y in classes] for t in classes]
    if metric == "scott_pi":
        truth = calls = [(r + c) / 2 for r, c in zip(truth, calls, strict=True)]
    seen = sum(penalty[t][y] * share_of[t, y] for t, y in cells)
    chance = sum(penalty[t][y] * truth[t] * calls[y] for t, y in cells)
    return 1 - seen / chance if chance else None


def influence_by_digits(table, function):
    """Return how each cell moves a metric, from differences in 60 digits.

    The derivative by the proportion of a cell's samples; `function` is of a table of
    mpmath's numbers, in which it must not change under a common factor.
    """
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -25
        whole = [[mpmath.mpf(cell) for cell in row] for row in table]
        n = sum(map(sum, whole))
        found = np.zeros(np.shape(table))
        for t, y in np.ndindex(found.shape):
            moved = [[row[:] for row in whole] for _ in range(2)]
            moved[0][t][y] += step * n
            moved[1][t][y] -= step * n
            high, low = map(function, moved)
            found[t, y] = (high - low) / (2 * step)
        return found


# Random words.


def splitmix(seed, replicate, k):
    """Word k of a replicate: SplitMix64 in Python's integers."""

    def mix(x):
        x %= 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    step = 0x9E3779B97F4A7C15
    return mix(mix(seed + (replicate + 1) * step) + (k + 1) * step)
