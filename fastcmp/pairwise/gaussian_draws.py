"""Draws of normal numbers with the covariance of several models' estimates.

Draw i is a function of the seed and i, whatever the number of draws and of workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.threads import ThreadPool, no_step, parts
from fastcmp.kernels.normal_draws import random_normals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Of products: their size must not depend on the number of draws, or rounding would.
_DRAWS, _SAMPLES = 512, 4096
_RANK = 1e-12  # of a variance; what is left of one below it is rounding
_SMALL = 1 << 16  # numbers that are not worth threads


def gaussian_draws(
    covariance: Floats, n_draws: int, seed: int, pool: ThreadPool | None = None
) -> Floats:
    """Draw from N(0, covariance), shape (M, B); the covariance may be singular."""
    return multiplier_draws(covariance_root(covariance), n_draws, seed, pool)


def multiplier_draws(
    centred: Floats, n_draws: int, seed: int, pool: ThreadPool | None = None
) -> Floats:
    """Multiply rows, shape (M, n), by normal numbers, shape (n, B), one a sample.

    The draws have the covariance ``centred @ centred.T``. Of clusters `centred` holds
    sums.
    """
    m, n = centred.shape
    out = np.zeros((m, n_draws))
    numbers = np.empty((_DRAWS, min(n, _SAMPLES)))
    with ThreadPool(1) as own:
        for some in parts(n_draws, _DRAWS):
            total = np.zeros((m, _DRAWS))
            for samples in parts(n, _SAMPLES):
                drawn = numbers[:, : samples.stop - samples.start]

                def draw(
                    rows: slice,
                    drawn: Floats = drawn,
                    first: tuple[int, int] = (some.start, samples.start),
                ) -> None:
                    random_normals(seed, first[0] + rows.start, first[1], drawn[rows])

                tasks = parts(_DRAWS, _DRAWS // 8)
                few = drawn.size < _SMALL
                (pool or own).run(draw, tasks, steps=no_step, here=few)
                total += centred[:, samples] @ drawn.T
            out[:, some] = total[:, : some.stop - some.start]
    return out


def covariance_root(covariance: Floats) -> Floats:
    """Find a root of a covariance, R with R R' equal to it, shape (M, rank).

    By pivoted Cholesky decomposition of the correlations, so that models of unequal
    precision keep theirs; a model of variance 0 has a row of zeros.
    """
    from scipy.linalg.lapack import dpstrf

    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    unit = np.where(deviation > 0.0, deviation, 1.0)
    lower, pivots, rank, _ = dpstrf(
        covariance / np.outer(unit, unit), tol=_RANK, lower=1
    )
    root = np.empty((len(lower), rank))
    root[pivots - 1] = np.tril(lower)[:, :rank]
    root *= deviation[:, None]
    return root
