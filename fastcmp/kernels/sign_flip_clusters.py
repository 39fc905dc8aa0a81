"""The sign-flip test of clusters of unequal sizes, by their t statistic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.flip_words import flip_sums, random_signs
from fastcmp.kernels.flipped_t import (
    StudentDraws,
    Units,
    _measure_pair,
    _ratio,
    student_test_pairs,
)
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, Outcome

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

_FEW_UNITS = 30  # of which all signs are looked at
_BLOCK = 4096  # draws


@kernel
def sign_flip_studentized(
    differences: FloatArray,
    sizes: FloatArray,
    factors: FloatArray,
    n_resamples: int,
    seed: int,
    alternative: int,
) -> Outcome:
    """Sign-flip test by the t statistic of clusters.

    Parameters
    ----------
    differences : ndarray of float64, shape (G,)
        Value of a minus that of b, summed over each cluster (D).
    sizes : ndarray of float64, shape (G,)
        Items of each cluster (n_g).
    factors : ndarray of float64, shape (G,)
        Of the squared residuals in the variance: 1 for CR0, G / (G - 1) for CR1,
        1 / (1 - n_g / n) for CR2.
    n_resamples, seed : int
        Draw r of R is a function of (seed, r). 0 draws: all signs, for up to 30
        clusters.
    alternative : int
        ``TWO_SIDED``, ``GREATER`` (those of a are larger) or ``LESS``.

    Returns
    -------
    Outcome
        t = sum D / sqrt(sum of factors * (D - n_g sum D / n)**2) and the proportion of
        draws that are as extreme, counting the data as one of the R + 1. 0 / 0 is 0, x
        / 0 is infinite. ``DEGENERATE`` if all differences are 0; NaN and ``INVALID``
        for all signs of more than 30 clusters, or a difference that is not finite.

    Notes
    -----
    The wild cluster bootstrap of Cameron, Gelbach and Miller with the null hypothesis
    imposed and Rademacher's weights.

    References
    ----------
    .. [1] A. C. Cameron, J. B. Gelbach, D. L. Miller, "Bootstrap-based improvements for
       inference with clustered errors", Review of Economics and Statistics 90 (2008)
       414-427.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import TWO_SIDED, sign_flip_studentized
    >>> differences, sizes = np.array([3.0, 1.0, 2.0, -1.0]), np.array([5.0, 2, 4, 3])
    >>> sign_flip_studentized(differences, sizes, np.ones(4), 0, 0, TWO_SIDED).pvalue
    0.375
    """
    n = differences.size
    values = np.zeros((2, n))
    values[0] = differences
    units = Units(values, sizes, factors, np.array([0, n]))
    observed = _measure_pair(units, 0, 1)
    statistic = _ratio(observed.total, observed.variance)
    if observed.absolute == 0.0:
        return Outcome(0.0, 1.0, DEGENERATE)
    too_many = n_resamples == 0 and n > _FEW_UNITS
    if too_many or n_resamples < 0 or not math.isfinite(observed.squares):
        return Outcome(math.nan, math.nan, INVALID)
    n_draws = n_resamples if n_resamples > 0 else 1 << n
    columns = np.zeros((n, 6))
    columns[:, 0], columns[:, 2] = differences, sizes
    for g in range(n):
        for k in range(0, 3, 2):
            columns[g, 3 + k] = factors[g] * sizes[g] * columns[g, k]
    pairs, out = np.array([[0, 1]], np.int32), np.empty((1, 2))
    count = 0
    for first in range(0, n_draws, _BLOCK):
        width = min(_BLOCK, n_draws - first)
        words = np.empty(((n + 63) // 64, width), np.uint64)
        random_signs(seed, first, 0, words)
        if n_resamples == 0:
            for r in range(width):
                words[0, r] = first + r
        sums = np.empty((6, width))
        flip_sums(columns, words, sums)
        draws = StudentDraws(sums.reshape(1, 2, 3, width), 0, alternative, 0)
        student_test_pairs(units, draws, pairs, out)
        count += round(out[0, 1] * width)
    added = 1 if n_resamples > 0 else 0
    return Outcome(statistic, (count + added) / float(n_draws + added), OK)
