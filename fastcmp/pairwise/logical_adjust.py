"""P-values of all pairs, adjusted by which pairs can be equal together."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.inputs.scores import order_of
from fastcmp.kernels.multiplicity import bergmann_hommel, fewest_models

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Adjustments for all pairs of models, which equality follows for one another.
LOGICAL = ("shaffer", "bergmann-hommel")
#: Models that Bergmann and Hommel's adjustment takes at most: 4,213,597 partitions.
MOST_MODELS = 12
_LARGE = 1 << 17  # pairs; below, np.argsort is as fast as `order_of`


def check_all_pairs(method: str, n_models: int, *, chosen: bool) -> None:
    """Refuse an adjustment for all pairs where there are others, or too many."""
    if method not in LOGICAL:
        return
    if chosen:
        raise ValueError(
            f"adjust={method!r} is for all pairs of models: with pairs= or control= use 'holm'"
        )
    _check_models(method, n_models)


def _check_models(method: str, n_models: int) -> None:
    if method == "bergmann-hommel" and n_models > MOST_MODELS:
        raise ValueError(
            f"'bergmann-hommel' looks at all partitions of at most {MOST_MODELS} "
            f"models, got {n_models}: use 'shaffer'"
        )


def logical_pvalues(pvalues: Floats, method: str) -> Floats:
    """Adjust p-values of all pairs, shape (P,); one that is NaN counts as 1."""
    n_models = _count_models(pvalues.size, method)
    _check_models(method, n_models)
    p = np.where(np.isnan(pvalues), 1.0, pvalues)
    order = order_of(p) if p.size >= _LARGE else np.argsort(p)
    if method == "shaffer":
        bounds = p[order] * _most_true(n_models)[p.size - np.arange(p.size)]
    else:
        bounds = bergmann_hommel(p, n_models)[order]
    # None is below that of a smaller p-value; those of equal ones are equal.
    np.maximum.accumulate(bounds, out=bounds)
    last = np.flatnonzero(np.diff(p[order], append=np.inf))
    bounds = np.repeat(bounds[last], np.diff(last, prepend=-1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(bounds, 1.0)
    adjusted[np.isnan(pvalues)] = np.nan
    return adjusted


def _count_models(n_pairs: int, method: str) -> int:
    """Find how many models have so many pairs."""
    n_models = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if n_models * (n_models - 1) // 2 != n_pairs:
        raise ValueError(
            f"method={method!r} needs p-values of all pairs of M models, M (M - 1) / 2 "
            f"of them, got {n_pairs}"
        )
    return n_models


@lru_cache(maxsize=8)
def _most_true(n_models: int) -> Floats:
    """Give the most hypotheses that can be true together of at most 0, 1, ..., P."""
    fewest = fewest_models(n_models * (n_models - 1) // 2)
    possible = np.where(fewest <= n_models, np.arange(fewest.size), 0)
    return np.maximum.accumulate(possible).astype(np.float64)
