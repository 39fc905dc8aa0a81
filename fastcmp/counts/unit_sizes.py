"""Sizes of units, clusters or items, as sums: degrees of freedom follow from these.

A unit has the size w, the sum of the weights of its items, and q, the sum of their
squares; without weights both are the number of its items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Variances for which these sums suffice.
SUMMED = ("cr0", "cr1")
_ALIKE = 1e-13  # relative: a coefficient of variation of 3e-7


class SizeSums(NamedTuple):
    """Sums over units."""

    w: float
    q: float
    ww: float
    qw: float
    qq: float
    qww: float
    qqw: float


def sum_sizes(w: Floats, q: Floats) -> SizeSums:
    """Sum up sizes of units, shape (G,) each."""
    products = ((w, w), (q, w), (q, q), (q * w, w), (q * q, w))
    return SizeSums(float(w.sum()), float(q.sum()), *(float(x @ y) for x, y in products))


def are_alike(n_units: int, sums: SizeSums) -> bool:
    """Tell whether all units are of one size."""
    pairs = ((sums.ww, sums.w), (sums.qq, sums.q))
    return all(
        bool(np.isclose(n_units * square, total**2, rtol=_ALIKE, atol=0.0))
        for square, total in pairs
    )


def degrees_of_freedom(df: str, n_units: int, sums: SizeSums) -> float:
    """Give the degrees of freedom; exactly G - 1 where units are of one size."""
    if df == "normal":
        return float("inf")
    if df == "clusters" or are_alike(n_units, sums):
        return n_units - 1.0
    return _satterthwaite(sums)


def _satterthwaite(sums: SizeSums) -> float:
    """Give those of CR0 and CR1, as if items were independent.

    (tr P)**2 / tr(P**2) with P_gh = q_g [g=h] - (q_g w_h + q_h w_g) / W
    + w_g w_h Q / W**2, a diagonal matrix and one of rank 2.
    """
    w, q, ww, qw, qq, qww, qqw = sums
    trace = q - 2 * qw / w + ww * q / w**2
    squares = (
        qq
        - 4 * qqw / w
        + 2 * qww * q / w**2
        + 2 * (qw**2 + qq * ww) / w**2
        - 4 * qw * ww * q / w**3
        + (ww * q / w**2) ** 2
    )
    return trace**2 / squares
