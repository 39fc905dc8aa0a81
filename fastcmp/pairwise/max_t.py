"""P-values and critical values from the largest of all statistics of a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.options import ALTERNATIVES
from fastcmp.core.threads import new_lock, no_step, parts
from fastcmp.inputs.scores import order_of
from fastcmp.kernels.max_t import radial_quantile, step_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.pairwise.joint_draws import Joint

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Pairs = NDArray[np.int32]

#: Draws that are compared together: their numbers stay in a second-level cache.
_DRAWS = 128
_LARGE = 1 << 17  # pairs; below, np.argsort is as fast
#: By so much a statistic may be smaller than another that it equals but for rounding.
_TOLERANCE = 1e-9


def joint_pvalues(  # the pairs, and how they are tested
    joint: Joint,
    pairs: Pairs,
    statistic: Floats,
    inverse: Floats,
    pool: ThreadPool,
    *,
    down: bool = True,
    alternative: str = "two-sided",
) -> Floats:
    """Adjust for all pairs by the largest statistic of each draw; NaN stays NaN.

    A p-value is the proportion of draws in which the largest statistic, of the pair and
    all less extreme ones, reaches that of the pair; none is below that of a more
    extreme pair. Not `down`, the largest is over all pairs.
    """
    known = np.flatnonzero(~np.isnan(statistic))
    size = towards(statistic[known], alternative)
    order = order_of(size) if size.size >= _LARGE else np.argsort(size)
    least = size[order]
    least -= _TOLERANCE * (1.0 + np.abs(least))
    least[np.isnan(least)] = np.inf  # inf - inf
    places = known[order]
    counts, largest = count_draws(
        joint, pairs[places], inverse[places], least, alternative, pool
    )
    if down:
        np.maximum.accumulate(counts[::-1], out=counts[::-1])
    else:
        counts = joint.n_draws - np.searchsorted(np.sort(largest), least)
    adjusted = np.full(statistic.size, np.nan)
    adjusted[places] = (counts + joint.added) / (joint.n_draws + joint.added)
    return adjusted


def towards(statistic: Floats, alternative: str) -> Floats:
    """Turn statistics so that larger ones are more extreme."""
    if alternative == "two-sided":
        return np.abs(statistic)
    return -statistic if alternative == "less" else statistic.copy()


def count_draws(  # the draws, the pairs in order, and what to count
    joint: Joint,
    pairs: Pairs,
    inverse: Floats,
    least: Floats,
    alternative: str,
    pool: ThreadPool,
) -> tuple[Ints, Floats]:
    """Count as `kernels.step_down` does; give the largest statistic of each draw."""
    pairs, code = np.ascontiguousarray(pairs), ALTERNATIVES[alternative]
    counts, largest = np.zeros(len(pairs), np.int64), np.empty(joint.n_draws)
    lock = new_lock()

    def count(some: slice) -> None:
        nonlocal counts
        own = np.zeros_like(counts)
        drawn = np.ascontiguousarray(joint.draws(some))
        step_down(drawn, pairs, inverse, least, code, own, largest[some])
        with lock:
            counts += own

    pool.run(count, parts(joint.n_draws, _DRAWS), steps=no_step)
    return counts, largest


def critical_value(
    joint: Joint, pairs: Pairs, inverse: Floats, level: float, pool: ThreadPool
) -> float:
    """Find what no pair's absolute statistic exceeds with a probability of `level`.

    Of normal draws the directions only are random, and their lengths are integrated.
    """
    assert joint.radii is not None
    none = np.zeros(len(pairs))
    _, largest = count_draws(joint, pairs, inverse, none, "two-sided", pool)
    return float(
        radial_quantile(largest, joint.radii, float(joint.rank), joint.df, 1.0 - level)
    )
