"""Work for other processes, in a module that they find too."""

import numpy as np

import fastcmp
from fastcmp import stream


def labels(n_models=60, n=4_000, seed=0):
    """Make true labels and those of models that differ in skill."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(4, size=n, dtype=np.uint8)
    right = rng.random((n_models, n)) < np.linspace(0.4, 0.9, n_models)[:, None]
    return y_true, np.where(right, y_true, (y_true + 1) % 4).astype(np.uint8)


def scores(n_models=4, n=4_000, seed=0):
    """Make labels of two classes and scores of models."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(2, size=n, dtype=np.uint8)
    return y_true, rng.normal(size=(n_models, n)) + y_true


def compare_accuracies(seed):
    return fastcmp.compare_all(*labels(seed=seed), workers=3)


def compare_costs(seed):
    cost = 1.0 - np.eye(4)
    cost[0] *= 3
    return fastcmp.compare_all(*labels(5, seed=seed), test="cost", cost=cost, workers=2)


def compare_agreement(seed):
    return fastcmp.compare_predictions(*labels(9, seed=seed), workers=2)


def compare_areas(seed):
    return fastcmp.delong(*scores(seed=seed), workers=2)


def resample_areas(seed):
    options = {"n_resamples": 60, "rng": seed, "workers": 2}
    return fastcmp.auc_bootstrap(*scores(2, 500, seed), **options)


def count_pairs(seed):
    y_true, preds = labels(seed=seed)
    counts = stream.PairCounts().update(y_true, preds, workers=2)
    return fastcmp.compare_all(counts=counts, workers=2)


def count_scores(seed):
    return stream.ScoreCounts().update(*scores(n=30_000, seed=seed), workers=2)


#: What is called in the parent and in its children.
WORK = {
    work.__name__: work
    for work in (
        *(compare_accuracies, compare_costs, compare_agreement, compare_areas, resample_areas),
        *(count_pairs, count_scores),
    )
}


def call(name):
    """Do one piece of work."""
    return WORK[name](seed=4)
