"""The exact unconditional test of Suissa and Shuster for paired binary data.

The samples are multinomial: only a right, only b right, or concordant. Under the null
both discordant probabilities are pi/2, and pi is unknown. The p-value is the largest
probability, over pi, of a statistic at least as extreme as the observed one:

    p = sup over pi of  sum over k of  a_k * C(n, k) * pi**k * (1 - pi)**(n - k),

with a_k = P(statistic at least as extreme | k discordant samples): a polynomial in
Bernstein form with coefficients in [0, 1].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.bernstein import _largest_probability
from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.status import DEGENERATE, INVALID, OK, TWO_SIDED, Outcome

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

#: Largest sample for which the integer comparison of statistics stays exact in int64.
UNCONDITIONAL_MAX_N: Final = 2_000_000


@kernel
def _extreme_given_discordant(distance: int, discordant: int, n: int, tails: float) -> FloatArray:
    """a_k for k = 0..n: the conditional probability of a statistic as extreme."""
    a = np.zeros(n + 1)
    s = 0
    for k in range(1, n + 1):
        # Smallest s with s**2 / k >= distance**2 / discordant, compared in integers,
        # and of k's parity, since s = abs(2x - k).
        while s * s * discordant < distance * distance * k:
            s += 1
        reach = s + ((k - s) & 1)
        if reach > k:
            continue
        tail = binomial_half(float((k - reach) // 2), float(k))
        a[k] = min(1.0, tails * (tail.mid + 0.5 * tail.pmf))
    return a


@kernel
def mcnemar_unconditional(only_a: int, only_b: int, n: int, alternative: int = 0) -> Outcome:
    """Exact unconditional test of paired proportions (Suissa and Shuster).

    Ordered by McNemar's statistic and maximised over the probability of a discordant
    sample, to 1e-10. The statistic of a table without discordant samples is 0.

    Parameters
    ----------
    only_a, only_b : int
        Samples that only model a, and only model b, classified correctly.
    n : int
        All samples, at most ``UNCONDITIONAL_MAX_N``.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    Outcome
        ``statistic`` as in `mcnemar_asymptotic`, ``pvalue`` and ``status``. NaN and
        ``INVALID`` if the counts are negative or n is too small or too large.

    Notes
    -----
    O(n) tail probabilities, then about 12 sqrt(n) sums of O(sqrt(n)) terms.

    References
    ----------
    .. [1] S. Suissa, J. J. Shuster, "The 2 x 2 matched-pairs trial: exact unconditional
       design and analysis", Biometrics 47 (1991) 361-372.

    Examples
    --------
    >>> from fastcmp.kernels import mcnemar_unconditional
    >>> round(mcnemar_unconditional(1, 7, 21).pvalue, 9)
    0.035316027
    """
    discordant = only_a + only_b
    if only_a < 0 or only_b < 0 or discordant > n or n > UNCONDITIONAL_MAX_N:
        return Outcome(math.nan, math.nan, INVALID)
    if discordant == 0:
        return Outcome(0.0, 1.0, DEGENERATE)
    distance = only_a - only_b
    chi2 = float(distance) * float(distance) / float(discordant)
    tails = 1.0
    if alternative == TWO_SIDED:
        distance = abs(distance)
        tails = 2.0
    else:
        distance *= alternative
    if distance <= 0:
        return Outcome(chi2, 1.0, OK)
    a = _extreme_given_discordant(distance, discordant, n, tails)
    pvalue, status = _largest_probability(a)
    return Outcome(chi2, pvalue, status)
