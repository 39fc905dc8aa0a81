"""Metrics of confusion counts in plain NumPy."""

import numpy as np


def _parts(tables):
    shares = tables / tables.sum(axis=(-2, -1), keepdims=True)
    right = np.diagonal(shares, axis1=-2, axis2=-1)
    return shares, right, shares.sum(axis=-1), shares.sum(axis=-2)


def accuracy(tables):
    return _parts(tables)[1].sum(axis=-1)


def f1(tables):
    _, d, r, c = _parts(tables)
    return 2 * d[..., 1] / (r + c)[..., 1]


def f1_macro(tables):
    """Over the classes that occur in truth or predictions."""
    _, d, r, c = _parts(tables)
    seen = (r + c) != 0
    own = np.where(seen, 2 * d / np.where(seen, r + c, 1), 0)
    return own.sum(axis=-1) / seen.sum(axis=-1)


def precision(tables):
    _, d, _, c = _parts(tables)
    return d[..., 1] / c[..., 1]


def balanced_accuracy(tables):
    _, d, r, _ = _parts(tables)
    seen = r != 0
    return np.where(seen, d / np.where(seen, r, 1), 0).sum(axis=-1) / seen.sum(axis=-1)


def kappa(tables):
    _, d, r, c = _parts(tables)
    chance = (r * c).sum(axis=-1)
    return (d.sum(axis=-1) - chance) / (1 - chance)


def _weighted_kappa(tables, power):
    shares, _, r, c = _parts(tables)
    i = np.arange(shares.shape[-1])
    cost = np.abs(i[:, None] - i) ** power
    chance = np.einsum("...i,ij,...j->...", r, cost, c)
    return 1 - (shares * cost).sum(axis=(-2, -1)) / chance


def kappa_linear(tables):
    return _weighted_kappa(tables, 1)


def kappa_quadratic(tables):
    return _weighted_kappa(tables, 2)


def mcc(tables):
    """0 where 0 / 0."""
    _, d, r, c = _parts(tables)
    top = d.sum(axis=-1) - (r * c).sum(axis=-1)
    below = (1 - (r * r).sum(axis=-1)) * (1 - (c * c).sum(axis=-1))
    defined = below > 1e-14
    return np.where(defined, top / np.sqrt(np.where(defined, below, 1)), 0)


BY_NAME = {
    each.__name__: each
    for each in (
        *(accuracy, f1, f1_macro, precision, balanced_accuracy, kappa, mcc),
        *(kappa_linear, kappa_quadratic),
    )
}


def sample_codes(n, k, seed):
    """Draw classes and the predictions of two models, right three times in four."""
    rng = np.random.default_rng(seed)
    y_true, a, b = rng.integers(0, k, (3, n))
    right = rng.random((2, n)) < [[0.6], [0.5]]
    return y_true, np.where(right[0], y_true, a), np.where(right[1], y_true, b)
