"""P-values and critical values from the largest of all statistics of a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import ALTERNATIVES
from fastcmp.core.threads import new_lock, no_step, parts
from fastcmp.inputs.scores import order_of
from fastcmp.kernels.max_t import radial_quantile, radial_tail, step_down, step_down_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.pairwise.joint_draws import Joint

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Pairs = NDArray[np.int32]

#: Draws that are compared together: their numbers stay in a second-level cache.
_DRAWS = 128
#: Pairs times draws whose lengths are integrated, some seconds; and draws of a task.
_INTEGRATED, _INTEGRATED_DRAWS = 10_000_000, 4096
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
    places, least = _in_order(statistic, alternative)
    least -= _TOLERANCE * (1.0 + np.abs(least))
    least[np.isnan(least)] = np.inf  # inf - inf
    counts, largest = _count_draws(joint, pairs[places], inverse[places], least, alternative, pool)
    if down:
        np.maximum.accumulate(counts[::-1], out=counts[::-1])
    else:
        counts = joint.n_draws - np.searchsorted(np.sort(largest), least)
    adjusted = np.full(statistic.size, np.nan)
    adjusted[places] = (counts + joint.added) / (joint.n_draws + joint.added)
    return adjusted


def normal_pvalues(  # the pairs, and how they are tested
    joint: Joint,
    pairs: Pairs,
    statistic: Floats,
    inverse: Floats,
    pool: ThreadPool,
    *,
    down: bool = True,
    alternative: str = "two-sided",
) -> Floats:
    """Do the same with normal draws: the lengths of the drawn vectors are integrated.

    Where pairs and draws are too many for that, draws are counted.
    """
    options: Any = {"down": down, "alternative": alternative}
    if statistic.size * joint.n_draws > _INTEGRATED:
        return joint_pvalues(joint, pairs, statistic, inverse, pool, **options)
    assert joint.radii is not None
    radii, how = joint.radii, (float(joint.rank), joint.df)
    places, size = _in_order(statistic, alternative)
    chosen, scales = pairs[places], inverse[places]
    some = parts(joint.n_draws, _INTEGRATED_DRAWS)
    tails, largest = np.zeros((len(some), size.size)), np.empty(joint.n_draws)

    def integrate(task: int) -> None:
        own = np.ascontiguousarray(joint.draws(some[task]))
        code = ALTERNATIVES[alternative]
        step_down_tails(own, radii[some[task]], chosen, scales, size, (*how, code), tails[task])

    def integrate_one(p: int) -> None:
        tails[0, p] = radial_tail(float(size[p]), largest, radii, *how)

    if down:
        pool.run(integrate, range(len(some)), steps=no_step)
        weights = [part.stop - part.start for part in some]
        found = np.average(tails, axis=0, weights=weights)
        np.maximum.accumulate(found[::-1], out=found[::-1])
    else:
        none = np.zeros(size.size)
        _, largest = _count_draws(joint, chosen, scales, none, alternative, pool)
        pool.run(integrate_one, range(size.size), steps=no_step)
        found = tails[0]
    adjusted = np.full(statistic.size, np.nan)
    adjusted[places] = found
    return adjusted


def critical_value(  # the pairs, and of what
    joint: Joint,
    pairs: Pairs,
    inverse: Floats,
    level: float,
    pool: ThreadPool,
    *,
    alternative: str = "two-sided",
) -> float:
    """Find what no pair's statistic exceeds with a probability of `level`.

    Of normal draws; two-sided its absolute value.
    """
    assert joint.radii is not None
    known = np.flatnonzero(inverse > 0.0)  # NaN is not
    none = np.zeros(known.size)
    _, largest = _count_draws(joint, pairs[known], inverse[known], none, alternative, pool)
    rank, tail = float(joint.rank), 1.0 - level
    return float(radial_quantile(largest, joint.radii, rank, joint.df, tail))


def _in_order(statistic: Floats, alternative: str) -> tuple[Ints, Floats]:
    """Order the pairs that are tested, the least extreme first; tell how extreme."""
    known = np.flatnonzero(~np.isnan(statistic))
    size = statistic[known]
    if alternative == "two-sided":
        size = np.abs(size)
    elif alternative == "less":
        size = -size
    order = order_of(size) if size.size >= _LARGE else np.argsort(size)
    return known[order], size[order]


def _count_draws(  # the draws, the pairs in order, and what to count
    joint: Joint, pairs: Pairs, inverse: Floats, least: Floats, alternative: str, pool: ThreadPool
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
