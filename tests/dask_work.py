"""Blocks for Dask's workers, in a module that other processes find too."""

import os
import signal
import time
from pathlib import Path

import numpy as np


def make_block(seed, n, m=4, k=3):
    """Draw true labels and predictions."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(k, size=n)
    preds = np.where(rng.random((m, n)) < 0.6, y_true, rng.integers(k, size=(m, n)))
    return y_true, preds


def make_scores(seed, n, m=3):
    """Draw two classes and scores, float32, some of them equal."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(2, size=n)
    scores = (rng.normal(size=(m, n)) + 0.7 * y_true).astype(np.float32)
    scores[0] = np.round(scores[0], 2)
    return y_true, scores


def make_or_die(make, flag, seed, n):
    """Make a block; whoever is the first to be asked for number 5 is killed."""
    flag = Path(flag)
    if seed == 5 and not flag.exists():
        flag.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)  # so that others are in the middle of something
    return make(seed, n)
