"""Estimates with covariances for tests of what follows from them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


def spread(covariance):
    """The standard error of each difference by the definition."""
    own = np.diagonal(covariance)
    variance = own[:, None] + own - 2.0 * np.asarray(covariance)
    variance[variance < 1e-9 * (own[:, None] + own)] = 0.0
    np.fill_diagonal(variance, 0.0)
    return np.sqrt(variance)


def random_estimates(n_models, seed, closeness=1.0):
    """Make estimates, and a covariance that is not diagonal."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_models, n_models + 2)) * rng.uniform(0.5, 2.0, (n_models, 1))
    covariance = root @ root.T / 100.0 + 0.05
    return closeness * rng.normal(size=n_models), covariance


@st.composite
def estimates(draw, most=6):
    """Make up to `most` models, far apart or close together."""
    n_models = draw(st.integers(2, most))
    seed = draw(st.integers(0, 2**20))
    return random_estimates(n_models, seed, draw(st.sampled_from([0.2, 0.7, 2.0])))


def losses_of(case):
    """The losses of a reference case, (n, M), also where patterns are counted."""
    given = case["input"]
    if "losses" in given:
        return np.array(given["losses"], float)
    patterns = given["error_patterns"]
    rows = [each["pattern"] for each in patterns]
    counts = [each["count"] for each in patterns]
    return np.repeat(np.array(rows, float), counts, axis=0)
