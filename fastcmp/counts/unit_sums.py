"""Sums of values over units: clusters of items, or the items themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class UnitSums(NamedTuple):
    """What is resampled as a whole: G units in strata, with the sums of M models.

    The mean of a model is the sum over strata h of ``weights[h]`` times the sum of its
    values there, divided by the size of the stratum.
    """

    #: Weighted sum of the values of each model over the items of each unit, as they
    #: came: whole numbers where these are, shape (M, G).
    sums: NDArray[np.float64]
    #: Sum of the weights of the items of each unit, shape (G,); 1 for an item alone.
    sizes: NDArray[np.float64]
    #: Stratum of each unit, ascending from 0, shape (G,).
    strata: NDArray[np.int64]
    #: Of the strata, which add up to 1, shape (H,).
    weights: NDArray[np.float64]
    #: To which their values were rounded before, in proportion: single or double precision.
    rounding: float = 2.0**-52
