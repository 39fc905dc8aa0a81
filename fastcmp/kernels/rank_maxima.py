"""Largest standardised differences of each model from the others, draw by draw."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel, wide_vectors

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_TILE = 32  # models, of which some hundred draws stay in a first-level cache


def _maxima_by_numpy(
    draws: FloatArray,
    weights: FloatArray,
    rows: IntArray,
    targets: IntArray,
    out: FloatArray,
) -> None:
    """As `difference_maxima`."""
    fours = draws.shape[0] // 4 * 4
    models = np.arange(draws.shape[0])
    models[:fours] ^= 3  # of four equal differences the last is taken: zeros have signs
    for r in range(rows.size):
        counts = weights[r] != 0.0
        counts[:fours] = np.repeat(counts[:fours].reshape(-1, 4).any(axis=1), 4)
        for j in models[counts[models]]:
            difference = (draws[rows[r]] - draws[j]) * weights[r, j]
            np.copyto(out[targets[r]], difference, where=difference > out[targets[r]])


@partial(kernel, by_numpy=_maxima_by_numpy)
def difference_maxima(
    draws: FloatArray,
    weights: FloatArray,
    rows: IntArray,
    targets: IntArray,
    out: FloatArray,
) -> None:
    """Raise entries to the largest weighted differences from other models.

    Parameters
    ----------
    draws : ndarray of float64 or float32, shape (M, B)
        Of M models; a column a draw. Some hundred columns stay in a cache.
    weights : ndarray of the same type, shape (R, M)
        What the difference of model ``rows[r]`` minus model j is multiplied by: one
        over its standard error, or 0 where the pair does not count.
    rows : ndarray of int64, shape (R,)
        Models whose differences are looked at.
    targets : ndarray of int64, shape (R,)
        Row of `out` that each raises.
    out : ndarray of the same type, shape (T, B)
        ``out[targets[r]]`` becomes the maximum of itself and of
        ``(draws[rows[r]] - draws[j]) * weights[r, j]`` over all j.

    Notes
    -----
    O(R M B). Raised entries are 0 at least where a weight of 0 stands among others.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import difference_maxima
    >>> draws = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 0.5]])
    >>> rows, out = np.arange(3), np.zeros((3, 2))
    >>> difference_maxima(draws, np.ones((3, 3)), rows, rows, out)
    >>> out.tolist()
    [[0.0, 0.5], [1.0, 0.5], [3.0, 0.0]]
    """
    n_models = draws.shape[0]
    for first in range(0, n_models, _TILE):
        last = min(first + _TILE, n_models)
        _raise_by_tile(draws, weights, (rows, targets), (first, last), out)


@kernel
def _raise_by_tile(
    draws: FloatArray,
    weights: FloatArray,
    which: tuple[IntArray, IntArray],
    tile: tuple[int, int],
    out: FloatArray,
) -> None:
    """Raise maxima by the differences from some models, four at a time."""
    wide_vectors()
    rows, targets = which
    first, last = tile
    fours = first + (last - first) // 4 * 4
    for r in range(rows.size):
        i, t = rows[r], targets[r]
        for j in range(first, fours, 4):
            w0, w1 = weights[r, j], weights[r, j + 1]
            w2, w3 = weights[r, j + 2], weights[r, j + 3]
            if w0 != 0.0 or w1 != 0.0 or w2 != 0.0 or w3 != 0.0:
                for b in range(draws.shape[1]):
                    x = draws[i, b]
                    d0, d1 = (x - draws[j, b]) * w0, (x - draws[j + 1, b]) * w1
                    d2, d3 = (x - draws[j + 2, b]) * w2, (x - draws[j + 3, b]) * w3
                    d0 = max(d1, d0)
                    d2 = max(d3, d2)
                    d0 = max(d2, d0)
                    out[t, b] = max(out[t, b], d0)
        for j in range(fours, last):
            w0 = weights[r, j]
            if w0 != 0.0:
                for b in range(draws.shape[1]):
                    d0 = (draws[i, b] - draws[j, b]) * w0
                    out[t, b] = max(out[t, b], d0)
