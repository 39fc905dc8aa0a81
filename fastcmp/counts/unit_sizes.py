"""Sizes of clusters: what degrees of freedom, and corrected variances, depend on.

Units are clusters, or items where there are none. A unit has the size w, the sum of the
weights of its items, and q, the sum of their squares; without weights both are the
number of its items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Variances that sums over whole clusters give, and those that need each of them.
SUMMED = ("cr0", "cr1")
VARIANCES = (*SUMMED, "cr2", "cr3")
DF = ("satterthwaite", "design")
_ALIKE = 1e-13  # relative: a coefficient of variation of 3e-7


class SizeSums(NamedTuple):
    """Sums over units, where the residuals of unit g are scaled by a_g.

    Scaled sizes are aw and aq; d is a**2 q.
    """

    w: float
    q: float
    d: float
    dd: float
    qw: float
    qq: float
    ww: float
    dqw: float
    dww: float


def sum_sizes(w: Floats, q: Floats, scale: Floats | float = 1.0) -> SizeSums:
    """Sum up sizes of units, shape (G,) each."""
    aw, aq, d = scale * w, scale * q, scale * scale * q
    sums = (
        (d, np.ones_like(d)),
        (d, d),
        (aq, aw),
        (aq, aq),
        (aw, aw),
        (d * aq, aw),
        (d * aw, aw),
    )
    own = (float(x @ y) for x, y in sums)
    return SizeSums(float(w.sum()), float(q.sum()), *own)


def satterthwaite(sums: SizeSums) -> float:
    """Give the degrees of freedom of a variance, as if items were independent.

    (tr P)**2 / tr(P**2) with P_gh = a_g a_h (q_g [g=h] - (q_g w_h + q_h w_g) / W
    + w_g w_h Q / W**2); P is diagonal but for a matrix of rank 2. See Bell and
    McCaffrey (2002).
    """
    w, q, d, dd, qw, qq, ww, dqw, dww = sums
    trace = d - 2 * qw / w + ww * q / w**2
    squares = (
        dd
        - 4 * dqw / w
        + 2 * dww * q / w**2
        + 2 * (qw**2 + qq * ww) / w**2
        - 4 * qw * ww * q / w**3
        + (ww * q / w**2) ** 2
    )
    return trace**2 / squares


def residual_scale(variance: str, w: Floats, q: Floats) -> Floats:
    """Give a_g, by which the residuals of each unit are multiplied, shape (G,)."""
    n = np.count_nonzero(w)
    if variance == "cr0":
        return np.ones_like(w)
    if variance == "cr1":
        return np.full_like(w, np.sqrt(n / (n - 1)))
    total = w.sum()
    if variance == "cr3":
        jackknife: Floats = 1 / (1 - w / total)
        return jackknife
    ratio = np.divide(w * w, q, out=np.zeros_like(w), where=q > 0)
    share = 2 * w / total - ratio * q.sum() / total**2
    scale: Floats = 1 / np.sqrt(1 - share)
    return scale


def are_alike(n_units: int, sums: SizeSums) -> bool:
    """Tell whether all units are of one size, by sums that are not scaled."""
    sizes = np.isclose(n_units * sums.ww, sums.w**2, rtol=_ALIKE, atol=0.0)
    return bool(sizes and np.isclose(n_units * sums.qq, sums.q**2, rtol=_ALIKE, atol=0))


def degrees_of_freedom(
    df: str, n_units: int, sums: SizeSums, scaled: SizeSums | None = None
) -> float:
    """Give the degrees of freedom; exactly G - 1 where units are of one size."""
    if df == "design" or are_alike(n_units, sums):
        return n_units - 1.0
    return satterthwaite(scaled or sums)
