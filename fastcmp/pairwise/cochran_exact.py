"""The exact p-value of Cochran's Q, by all permutations of right and wrong."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.inputs.labels import Labels

_MAX_WORK = 20_000_000  # states times ways: some seconds
_MAX_CELLS = 40_000_000  # entries of the states after a sample: a gigabyte or so


def exact_pvalue(labels: Labels) -> float:
    """Find P(sum S_j**2 >= observed) if right and wrong are permuted in each sample.

    The state is the sorted vector of column sums S_j over the samples seen so far;
    only samples on which the models differ move it.
    """
    right = np.stack([codes == labels.y_true for codes in labels.preds])
    n_models = right.shape[0]
    row_sums = right.sum(axis=0)
    mixed = (row_sums > 0) & (row_sums < n_models)
    observed = int((right[:, mixed].sum(axis=1) ** 2).sum())
    states = np.zeros((1, n_models), np.int64)
    weights = np.ones(1)
    base = int(np.count_nonzero(mixed)) + 1  # a column sum is below it
    work = 0 if base**n_models < 2**63 else _MAX_WORK
    for size in np.sort(row_sums[mixed]).tolist():
        ways = len(states) * comb(n_models, size)
        work += ways
        if work > _MAX_WORK or ways * n_models > _MAX_CELLS:
            raise ValueError(
                f"method='exact' takes too long for {n_models} models and {base - 1} "
                "samples on which they differ: use method='asymptotic', which is close "
                "at that size"
            )
        states, weights = _permute(states, weights, size, base)
    reached = (states**2).sum(axis=1) >= observed
    return float(min(weights[reached].sum() / weights.sum(), 1.0))


def _permute(
    states: NDArray[np.int64], weights: NDArray[np.float64], size: int, base: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add one sample on which `size` models, any of them, are right."""
    n_models = states.shape[1]
    ways = np.zeros((comb(n_models, size), n_models), np.int64)
    for way, members in zip(ways, combinations(range(n_models), size), strict=True):
        way[list(members)] = 1
    # Models are exchangeable, so states that differ in order only are one.
    after = np.sort(states[:, None, :] + ways, axis=2).reshape(-1, n_models)
    shared = np.repeat(weights / len(ways), len(ways))
    keys = after @ base ** np.arange(n_models)
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    return after[first], np.bincount(where, shared).astype(np.float64)
