"""Sentences about comparisons of means: the test, the items, what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

#: What an interval of a mean alone is called.
INTERVAL_NAMES = {"t": "Student's t", "normal": "normal"}
_VARIANCES = {
    "cr0": "plain cluster-robust standard errors, CR0",
    "cr1": "cluster-robust standard errors, CR1",
    "cr2": "bias-reduced cluster-robust standard errors, CR2",
    "cr3": "jackknife standard errors of clusters, CR3",
}
_BOOTSTRAPS = {
    "studentized": "studentized",
    "percentile": "percentile",
    "bca": "BCa",
    "basic": "basic",
}


def test_name(result: Any) -> str:
    """Name the test of a pair."""
    clusters = result.n_clusters is not None
    unit = "clusters" if clusters else "items"
    if result.method == "permutation":
        kind = "studentized sign flips" if result.studentized else "sign flips"
        return f"{kind} of {unit} ({draws(result)})"
    if result.method == "bootstrap":
        kind = _BOOTSTRAPS[result.interval_method]
        return f"{kind} bootstrap of {unit} ({draws(result)})"
    if result.method == "wilcoxon":
        return "Wilcoxon's signed-rank test"
    normal = result.distribution == "normal"
    name = "z test of the mean difference" if normal else "paired t test"
    return f"{name} ({_VARIANCES[result.variance]})" if clusters else name


def draws(result: Any) -> str:
    """Say how many draws there were."""
    if not result.n_resamples:
        return "exact"
    return f"{result.n_resamples} draws, seed {result.seed}"


def values_sentences(result: Any) -> tuple[str, ...]:
    """Say how items belong together, and what was made of missing values."""
    found = []
    if result.n_strata is not None:
        found.append(
            f"Means are over {result.n_strata} strata with fixed weights: what is said "
            "holds for these strata."
        )
    n_missing = int(np.sum(result.n_missing_values))
    if n_missing:
        what = {
            "common": f"{result.n_dropped} items that some model lacks were dropped",
            "pairwise": "each pair is compared on the items of both",
            "wrong": "they count as 0",
        }[result.missing]
        found.append(f"{n_missing} values are missing: {what}.")
    return tuple(found)
