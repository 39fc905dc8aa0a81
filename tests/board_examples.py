"""Comparisons of several models, for the tests of their pages."""

from functools import cache

import numpy as np

import fastcmp


@cache
def many(m, n=400, seed=1):
    """Labels and predictions of models from good to bad."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    wrong = rng.random((m, n)) < np.linspace(0.1, 0.5, m)[:, None]
    return y, np.where(wrong, (y + 1) % 5, y)


def values():
    x = np.random.default_rng(2).normal(size=(6, 40)) * 1e-3
    x[1] = x[0]
    return x


def scores():
    return np.random.default_rng(3).normal(size=(5, 9)).round(1)


EXAMPLES = {
    "two": lambda: fastcmp.compare_all(*many(8)[:2]),
    "accuracies": lambda: fastcmp.compare_all(*many(8)),
    "chi-squared": lambda: fastcmp.compare_all(*many(8), method="asymptotic"),
    "control": lambda: fastcmp.compare_all(*many(8), control=3, margin=0.05),
    "margin": lambda: fastcmp.compare_all(*many(8), margin=0.05, adjust="bh"),
    "some pairs": lambda: fastcmp.compare_all(*many(8), pairs=[(5, 1), (1, 2), (7, 0)]),
    "significant": lambda: fastcmp.compare_all(*many(8), keep="significant"),
    "best": lambda: fastcmp.compare_all(*many(8), keep=3),
    "equal": lambda: fastcmp.compare_all(many(8)[0], [many(8)[1][0]] * 4),
    "undefined": lambda: fastcmp.compare_all(
        [0, 0, 1, 1], {"a": [0, 0, 1, 1], "b": [0, 0, 0, 0], "c": [0, 1, 1, 1]}, metric="markedness"
    ),
    "means": lambda: fastcmp.compare_means(values()),
    "far means": lambda: fastcmp.compare_means(values() * 1e9),
    "tasks": lambda: fastcmp.compare_datasets(scores(), method="wilcoxon"),
    "ranks": lambda: fastcmp.compare_datasets(scores(), method="nemenyi"),
    "costs": lambda: fastcmp.compare_all(*many(8), test="cost", cost=1.0 - np.eye(5)),
}


@cache
def record(name):
    return EXAMPLES[name]()
