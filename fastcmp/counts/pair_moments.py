"""What the t tests of all pairs of means need, whoever gathered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMoments:
    """What the t tests of all pairs of means need."""

    n_items: int
    #: Number of clusters, or of items where there are none.
    n_units: int
    #: Mean of each model, shape (M,).
    mean: Floats
    #: Variance of each mean alone, shape (M,).
    variance: Floats
    #: Shape (M, M): the variance of the difference of means a and b is
    #: ``[a, a] + [b, b] - 2 [a, b]``. What is common to all models may be left out.
    covariance: Floats
    #: Degrees of freedom, one number for all pairs or an array of shape (M, M).
    df: Any
    #: Largest proportion of the items, by weight, in one cluster.
    largest: float
    #: Sum of squares of each model before its mean was removed, in the units of the
    #: variance, shape (M,): what rounding errors are measured by.
    scale: Floats
    #: The means less what all models have in common, of which differences lose no
    #: digits, shape (M,); None where they are `mean`.
    relative: Floats | None = None
