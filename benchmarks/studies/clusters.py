"""Size of tests of clustered items and repeated answers: docs/studies/clusters.md.

    python -m benchmarks.studies.clusters

Two models that are equally good, compared at 5 %, again and again. One loop of compiled
kernels, about a minute on one core.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fastcmp.kernels import (
    CR0,
    CR1,
    CR2,
    TWO_SIDED,
    clustered_mean,
    draw_units,
    mean_t,
    percentile_interval,
    resampled_mean,
    sign_flip_whole,
    studentized_interval,
)

ALPHA, RUNS, BOOTSTRAPS, DRAWS = 0.05, 4_000, 2_000, 999
#: Clusters, and how many items they have.
SIZES = {"equal, 25": 0, "1 to 49": 1, "one of 40%": 2}
CLUSTERS = (5, 10, 20, 50)
#: What a value is, and how clusters differ.
KINDS = {"right or wrong": 0, "grades": 1, "grades, skewed": 2}
TESTS = (
    "plain t",
    "CR0, z",
    "CR1, t(G - 1)",
    "CR2, t",
    "sign flips",
    "t of cluster means",
    "percentile",
    "bootstrap-t",
)
MARKS = 4  # points of a grade
GIFT = 1.0  # standard deviation over clusters, in logits


@njit
def draw_sizes(rng, kind, sizes):
    """Draw how many items each cluster has."""
    for g in range(sizes.size):
        sizes[g] = 25.0
        if kind == 1:  # many small ones, few large ones
            sizes[g] = math.floor(50.0 ** rng.random())
    if kind == 2:
        sizes[0] = round(25.0 * (sizes.size - 1) * 2 / 3)


@njit
def draw_differences(rng, sizes, kind, sums):
    """Draw differences of items; return their sum of squares, and give cluster sums.

    What is easy in a cluster is so for both models (`ease`), and either of them has a
    feel for some clusters (`gift`). Their means over clusters are equal.
    """
    squares = 0.0
    for g in range(sizes.size):
        ease = rng.normal()
        gift = GIFT * rng.normal(), GIFT * rng.normal()
        if kind == 2:  # model a fails a few clusters altogether, and gains in others
            gift = 0.8 - 8.0 * (rng.random() < 0.1), 0.0
        sums[g] = 0.0
        for _ in range(int(sizes[g])):
            item = rng.normal()
            d = 0
            for m in range(2):
                if kind == 2:
                    chance = 0.5 + 0.05 * gift[m]
                else:
                    chance = 1.0 / (1.0 + math.exp(-(ease + gift[m] + item)))
                for _ in range(1 if kind == 0 else MARKS):
                    d += (1 - 2 * m) * (rng.random() < chance)
            sums[g] += d
            squares += d * d
    return squares


@njit
def rejects(difference, variance, df):
    return mean_t(difference, variance, df, TWO_SIDED)[1] <= ALPHA


@njit
def bootstraps(sums, sizes, seed, counts, draws):
    """Tell whether the percentile and the bootstrap-t interval leave out 0."""
    strata, one = np.zeros(sums.size, np.int64), np.ones(1)
    mean, error = resampled_mean(sums, sizes, strata, one, np.ones(sums.size))
    draw_units(strata, seed, 0, counts)
    kept = 0
    for r in range(counts.shape[0]):
        draws[0, r], spread = resampled_mean(sums, sizes, strata, one, counts[r])
        if spread > 0.0:
            draws[1, kept] = (draws[0, r] - mean) / spread
            kept += 1
    low, high = percentile_interval(np.sort(draws[0]))
    first, last = studentized_interval(np.sort(draws[1, :kept]), mean, error)
    return low > 0.0 or high < 0.0, first > 0.0 or last < 0.0


@njit
def cluster_size(rng, n_clusters, kinds, runs, n_bootstraps):
    """Count how often each test rejects, of so many runs."""
    sizes_kind, kind = kinds
    counted = np.zeros(8)
    sizes, sums = np.empty(n_clusters), np.empty(n_clusters)
    one = np.ones(n_clusters)
    counts, draws = np.empty((DRAWS, n_clusters)), np.empty((2, DRAWS))
    for run in range(runs):
        draw_sizes(rng, sizes_kind, sizes)
        squares = draw_differences(rng, sizes, kind, sums)
        n = sizes.sum()
        mean, variance, _ = clustered_mean(sums, sizes, sizes, CR0)
        plain = (squares - n * mean * mean) / (n - 1.0) / n
        counted[0] += rejects(mean, plain, n - 1.0)
        counted[1] += rejects(mean, variance, math.inf)
        mean, variance, _ = clustered_mean(sums, sizes, sizes, CR1)
        counted[2] += rejects(mean, variance, n_clusters - 1.0)
        counted[3] += rejects(*clustered_mean(sums, sizes, sizes, CR2))
        whole = sums.astype(np.int64)
        counted[4] += sign_flip_whole(whole, TWO_SIDED).pvalue <= ALPHA
        counted[5] += rejects(*clustered_mean(sums / sizes, one, one, CR2))
        if run < n_bootstraps:
            found = bootstraps(sums, sizes, run, counts, draws)
            counted[6] += found[0]
            counted[7] += found[1]
    counted[:6] /= runs
    counted[6:] /= max(n_bootstraps, 1)
    return counted


@njit
def repeats_size(rng, n_items, n_answers, runs):
    """Count rejections of t on items' means, on all answers, and for the same items."""
    counted = np.zeros(3)
    d, own, chance = np.empty(n_items), np.empty(2), np.empty(2)
    for _ in range(runs):
        squares = noise = 0.0
        for i in range(n_items):
            item = rng.normal()
            for m in range(2):
                chance[m] = 1.0 / (1.0 + math.exp(-(item + rng.normal())))
                own[m] = 0.0
            for _ in range(n_answers):
                a = rng.random() < chance[0]
                b = rng.random() < chance[1]
                own[0] += a
                own[1] += b
                squares += a != b
            d[i] = (own[0] - own[1]) / n_answers
            for m in range(2):
                p = own[m] / n_answers
                noise += p * (1.0 - p) / (n_answers - 1.0)
        mean, n = d.mean(), n_items * n_answers
        spread = d.var() / (n_items - 1.0)
        counted[0] += rejects(mean, spread, n_items - 1.0)
        pooled = (squares - n * mean * mean) / (n - 1.0) / n
        counted[1] += rejects(mean, pooled, n - 1.0)
        counted[2] += rejects(mean, noise / n_items**2, math.inf)
    return counted / runs


def row(first, rates):
    """Write a row of a table, rates in per cent."""
    cells = [*first, *(f"{100 * rate:.1f}" for rate in rates)]
    return "| " + " | ".join(cells) + " |"


def head(first):
    """Write the head of a table."""
    return "\n".join([f"| {' | '.join(first)} |", "|---" * len(first) + "|"])


def main(runs=RUNS, n_bootstraps=BOOTSTRAPS, seed=1):
    """Print the tables."""
    for kind, code in KINDS.items():
        print(f"\n{kind}\n\n" + head(("G", "items of a cluster", *TESTS)))
        for sizes, sizes_code in SIZES.items():
            for n_clusters in CLUSTERS if sizes_code < 2 else CLUSTERS[2:3]:
                kinds = sizes_code, code
                rng = np.random.default_rng(seed)
                found = cluster_size(rng, n_clusters, kinds, runs, n_bootstraps)
                print(row((str(n_clusters), sizes), found), flush=True)
    print("\nanswers\n\n" + head(("items", "answers", "averaged", "pooled", "same")))
    for n_answers in (2, 8, 32):
        found = repeats_size(np.random.default_rng(seed), 50, n_answers, runs)
        print(row(("50", str(n_answers)), found), flush=True)


if __name__ == "__main__":
    main()
