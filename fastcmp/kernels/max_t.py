"""The largest of many statistics that are drawn together: step-down max-T."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel, wide_vectors
from fastcmp.kernels.status import GREATER, LESS

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray, OrderArray


@kernel
def step_down(
    draws: FloatArray,
    pairs: OrderArray,
    inverse: FloatArray,
    least: FloatArray,
    alternative: int,
    counts: IntArray,
    largest: FloatArray,
) -> None:
    """Count the draws in which some pair, from the first on, is as extreme as each.

    Parameters
    ----------
    draws : ndarray of float64, shape (M, B)
        A number for each model in each draw.
    pairs : ndarray of int32, shape (P, 2)
        Models of each pair, from the least extreme pair to the most extreme one.
    inverse : ndarray of float64, shape (P,)
        What makes differences of draws the statistic of a pair: 1 over a standard
        error, 0 for a pair that never differs.
    least : ndarray of float64, shape (P,)
        What a statistic must reach to be as extreme as the observed one of each pair,
        ascending: the observed one less what rounding may take away.
    alternative : int
        ``TWO_SIDED``, where absolute values are compared, ``GREATER`` or ``LESS``.
    counts : ndarray of int64, shape (P,)
        To entry p is added in how many draws a statistic of the pairs 0, ..., p reaches
        ``least[p]``.
    largest : ndarray of float64, shape (B,)
        Receives the largest statistic of each draw; two-sided the largest absolute one.

    Notes
    -----
    O(P B). With counts c of B random draws the adjusted p-values are (1 + c) / (1 + B),
    made monotone: none is below one of a more extreme pair.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing (1993),
       algorithm 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, step_down
    >>> draws = np.array([[1.0, -2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    >>> pairs = np.array([[0, 2], [0, 1]], np.int32)
    >>> counts, largest = np.zeros(2, np.int64), np.empty(3)
    >>> observed = np.array([0.0, 2.0])
    >>> step_down(draws, pairs, np.ones(2), observed, TWO_SIDED, counts, largest)
    >>> counts.tolist(), largest.tolist()
    ([3, 1], [1.0, 3.0, 1.0])
    """
    sided = alternative in (GREATER, LESS)
    largest[:] = -np.inf if sided else 0.0
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        scale = -inverse[p] if alternative == LESS else inverse[p]
        if sided:
            n = _raise_sided(draws[i], draws[j], scale, least[p], largest)
        else:
            n = _raise(draws[i], draws[j], scale, least[p], largest)
        counts[p] += n


@kernel
def _raise(
    a: FloatArray, b: FloatArray, scale: float, least: float, largest: FloatArray
) -> int:
    wide_vectors()
    n = 0
    for r in range(largest.size):
        value = abs(a[r] - b[r]) * scale
        # `max` looks for NaN, and is no vector.
        value = value if value > largest[r] else largest[r]  # noqa: FURB136
        largest[r] = value
        n += value >= least
    return n


@kernel
def _raise_sided(
    a: FloatArray, b: FloatArray, scale: float, least: float, largest: FloatArray
) -> int:
    wide_vectors()
    n = 0
    for r in range(largest.size):
        value = (a[r] - b[r]) * scale
        value = value if value > largest[r] else largest[r]  # noqa: FURB136
        largest[r] = value
        n += value >= least
    return n
