"""Means of values per item, and the covariances that tests of all pairs need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMoments:
    """What the t tests of all pairs of means need."""

    n_items: int
    #: Clusters, or items where there are none.
    n_units: int
    #: Of each model, weighted and by strata, shape (M,).
    mean: NDArray[np.float64]
    #: Of each mean alone, shape (M,).
    variance: NDArray[np.float64]
    #: C, with Var(mean_a - mean_b) = C_aa + C_bb - 2 C_ab, after an item constant was
    #: removed, shape (M, M).
    covariance: NDArray[np.float64]
    #: One number for all pairs, or shape (M, M).
    df: float | NDArray[np.float64]
    #: The largest share of the items, or of their weight, that one unit has.
    largest: float
    #: Sum of squares before centring / n**2, shape (M,): what rounding errors are
    #: measured by; a variance below 1e-12 of it is 0.
    mean_scale: NDArray[np.float64]
