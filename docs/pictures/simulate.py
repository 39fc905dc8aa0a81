"""The simulations behind the pictures of concepts: loops of fastcmp's own kernels."""

from __future__ import annotations

import math

import numpy as np
from numba import njit  # noqa: TID251  # a user's own loop

from fastcmp.kernels import (
    CR2,
    TWO_SIDED,
    binomial_half,
    bonett_price_interval,
    clustered_mean,
    count_bits,
    count_common_bits,
    mcnemar_asymptotic,
    mcnemar_corrected,
    mcnemar_exact,
    mcnemar_log_evalue,
    mcnemar_midp,
    mean_t,
    newcombe_interval,
    pack_equal,
    random_binomial,
    tango_interval,
    wald_interval,
)

ALPHA = 0.05
LIKENESS = 0.7  # of all items, those that are as hard for each model


@njit
def leaderboards(rng, accuracies, n_runs, n_items):
    """Draw test sets; give p-values of all pairs (R, P), correct predictions (R, M)."""
    n_models = accuracies.size
    truth, pred = np.zeros(n_items, np.uint8), np.empty((n_models, n_items), np.uint8)
    words = np.empty((n_models, (n_items + 63) // 64), np.uint64)
    pvalues = np.empty((n_runs, n_models * (n_models - 1) // 2))
    correct = np.empty((n_runs, n_models), np.int64)
    for run in range(n_runs):
        for i in range(n_items):
            shared, hardness = rng.random() < LIKENESS, rng.random()
            for m in range(n_models):
                at = hardness if shared else rng.random()
                pred[m, i] = at >= accuracies[m]
        for m in range(n_models):
            pack_equal(truth, pred[m], words[m])
            correct[run, m] = count_bits(words[m])
        pair = 0
        for a in range(n_models):
            for b in range(a + 1, n_models):
                both = count_common_bits(words[a], words[b])
                only_a, only_b = correct[run, a] - both, correct[run, b] - both
                pvalues[run, pair] = mcnemar_midp(only_a, only_b).pvalue
                pair += 1
    return pvalues, correct


@njit
def intervals(seed, n_sets, n, p10, p01, level):
    """Draw paired counts; give ends (S, 4, 2): Newcombe, Tango, Bonett-Price, Wald."""
    ends = np.empty((n_sets, 4, 2))
    for s in range(n_sets):
        only_a = random_binomial(seed, s, 0, n, p10)
        rest = n - only_a
        only_b = random_binomial(seed, s, 1, rest, p01 / (1.0 - p10))
        right = random_binomial(seed, s, 2, rest - only_b, 0.9)
        wrong = n - only_a - only_b - right
        one = newcombe_interval(right, only_a, only_b, wrong, level)
        ends[s, 0] = one.low, one.high
        one = tango_interval(only_a, only_b, n, level)
        ends[s, 1] = one.low, one.high
        one = bonett_price_interval(only_a, only_b, n, level)
        ends[s, 2] = one.low, one.high
        one = wald_interval(only_a, only_b, n, level)
        ends[s, 3] = one.low, one.high
    return ends


@njit
def looks(rng, n_runs, n, n_looks, discordant):
    """Draw runs of two equal models; give how many were decided by each look (2, L)."""
    decided = np.zeros((2, n_looks))
    for _ in range(n_runs):
        only_a = only_b = 0
        midp = evalue = False
        for i in range(1, n + 1):
            u = rng.random()
            only_a += u < discordant / 2
            only_b += u >= 1.0 - discordant / 2
            if i % (n // n_looks) == 0:
                midp |= mcnemar_midp(only_a, only_b).pvalue <= ALPHA
                evalue |= mcnemar_log_evalue(only_a, only_b) >= -math.log(ALPHA)
                decided[0, i * n_looks // n - 1] += midp
                decided[1, i * n_looks // n - 1] += evalue
    return decided / n_runs


@njit
def clusters(rng, n_runs, n_clusters, size):
    """Compare two equal models on clusters; give how often mid-p and CR2 reject."""
    sums, sizes = np.empty(n_clusters), np.full(n_clusters, float(size))
    rejected = np.zeros(2)
    for _ in range(n_runs):
        only_a = only_b = 0
        for g in range(n_clusters):
            first, second, sums[g] = rng.normal(), rng.normal(), 0.0
            for _ in range(size):
                item = rng.normal()
                a = rng.random() < 1.0 / (1.0 + math.exp(-1.0 - item - first))
                b = rng.random() < 1.0 / (1.0 + math.exp(-1.0 - item - second))
                only_a += a and not b
                only_b += b and not a
                sums[g] += int(a) - int(b)
        rejected[0] += mcnemar_midp(only_a, only_b).pvalue <= ALPHA
        mean, variance, df = clustered_mean(sums, sizes, sizes, CR2)
        rejected[1] += mean_t(mean, variance, df, TWO_SIDED)[1] <= ALPHA
    return rejected / n_runs


@njit
def sizes(n, discordant):
    """Give how often exact, mid-p, asymptotic and corrected test reject equal models.

    Exactly: all numbers of discordant samples among n, and all ways to split them.
    """
    rejected, log_odds = np.zeros(4), math.log(discordant / (1.0 - discordant))
    for d in range(n + 1):
        log = math.lgamma(n + 1) - math.lgamma(d + 1) - math.lgamma(n - d + 1)
        chance = math.exp(log + d * log_odds + n * math.log1p(-discordant))
        for a in range(d + 1):
            p = chance * binomial_half(a, d).pmf
            rejected[0] += p * (mcnemar_exact(a, d - a).pvalue <= ALPHA)
            rejected[1] += p * (mcnemar_midp(a, d - a).pvalue <= ALPHA)
            rejected[2] += p * (mcnemar_asymptotic(a, d - a).pvalue <= ALPHA)
            rejected[3] += p * (mcnemar_corrected(a, d - a).pvalue <= ALPHA)
    return rejected
