"""Normal random numbers, each a pure function of (seed, replicate, draw)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import helper, kernel, wide_vectors
from fastcmp.kernels.rng import _word
from fastcmp.kernels.special import ndtri

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

# 52 bits and a half: neither 0 nor 1 can be drawn.
_12 = np.uint64(12)
_SCALE = 2.0**-52
_MIDDLE = 0.425  # of a probability from one half: a rational function is exact there


@kernel
def random_normals(seed: int, replicate: int, start: int, out: FloatArray) -> None:
    """Draw standard normal numbers.

    Parameters
    ----------
    seed, replicate, start : int
        Number i of row r is a function of (seed, replicate + r, start + i) only; not
        negative.
    out : ndarray of float64, shape (R, n)
        Receives the numbers, a row a replicate.

    Notes
    -----
    Quantiles of uniform numbers of 52 bits: none is above 8.2 in size. Most are in the
    middle, where the quantile is a ratio of polynomials [1]_, of eight at once.

    References
    ----------
    .. [1] M. J. Wichura, "Algorithm AS 241: the percentage points of the normal
       distribution", Applied Statistics 37 (1988) 477-484, PPND16.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import random_normals
    >>> out = np.empty((1, 3))
    >>> random_normals(1, 0, 0, out)
    >>> out.round(3).tolist()
    [[-0.337, 1.585, -1.693]]
    """
    for r in range(out.shape[0]):
        _fill_middle(seed, replicate + r, start, out[r])
        for i in range(out.shape[1]):
            if out[r, i] == np.inf:
                word = _word(seed, replicate + r, start + i)
                out[r, i] = ndtri((float(word >> _12) + 0.5) * _SCALE)


@kernel
def _fill_middle(seed: int, replicate: int, start: int, out: FloatArray) -> None:
    """Write the numbers in the middle of the distribution, infinity for others."""
    wide_vectors()
    for i in range(out.size):
        word = _word(seed, replicate, start + i)
        q = (float(word >> _12) + 0.5) * _SCALE - 0.5
        out[i] = _middle(q) if abs(q) <= _MIDDLE else np.inf


@helper
def _middle(q: float) -> float:
    r = 0.180625 - q * q
    above = 2.5090809287301226727e3
    above = above * r + 3.3430575583588128105e4
    above = above * r + 6.7265770927008700853e4
    above = above * r + 4.5921953931549871457e4
    above = above * r + 1.3731693765509461125e4
    above = above * r + 1.9715909503065514427e3
    above = above * r + 1.3314166789178437745e2
    above = above * r + 3.3871328727963666080
    below = 5.2264952788528545610e3
    below = below * r + 2.8729085735721942674e4
    below = below * r + 3.9307895800092710610e4
    below = below * r + 2.1213794301586595867e4
    below = below * r + 5.3941960214247511077e3
    below = below * r + 6.8718700749205790830e2
    below = below * r + 4.2313330701600911252e1
    below = below * r + 1.0
    return q * above / below
