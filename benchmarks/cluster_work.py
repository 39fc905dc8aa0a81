"""Blocks that worker processes make for themselves."""

import numpy as np

M = 100  # models


def make_labels(seed, n):
    """Draw a block, quickly: a hundred shifts of one row of mistakes."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 10, n).astype(np.uint8)
    wrong = (rng.random(2 * n, dtype=np.float32) < 0.2).view(np.uint8)
    shifts = rng.integers(0, n, M)
    return y_true, np.stack([(y_true + wrong[s : s + n]) % 10 for s in shifts])


def make_scores(seed, n):
    """Draw a block of normal scores of two classes."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n).astype(np.uint8)
    return y_true, rng.standard_normal(n, dtype=np.float32) + y_true
