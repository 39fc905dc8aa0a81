"""Normal random numbers, each a pure function of (seed, replicate, draw)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import INTERPRETED as _INTERPRETED
from fastcmp._jit import kernel
from fastcmp.kernels.rng import _word
from fastcmp.kernels.special import ndtri

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

# 52 bits and a half: neither 0 nor 1 can be drawn.
_12 = 12 if _INTERPRETED else np.uint64(12)
_SCALE = 2.0**-52


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
    Quantiles of uniform numbers of 52 bits: none is above 8.2 in size.

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
        for i in range(out.shape[1]):
            word = _word(seed, replicate + r, start + i)
            out[r, i] = ndtri((float(word >> _12) + 0.5) * _SCALE)
