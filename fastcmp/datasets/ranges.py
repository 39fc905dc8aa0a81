"""Tails of the studentized range for many pairs at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fastcmp.kernels import studentized_range_sf

Floats = NDArray[np.float64]

_FEW = 2048  # up to here each is worked out by itself: 14 us
_PIECES = 64
_END = 40.0
_DEGREE = 12


def range_tails(q: Floats, k: int) -> Floats:
    """Give P(range of k normal numbers > q), for each q.

    Many are read off polynomials of the logarithm, with errors of some 2e-11.
    """
    if q.size <= _FEW:
        return _each(q, k)
    out = np.empty(q.size)
    beyond = ~(q < _END)
    out[beyond] = _each(q[beyond], k)
    inside = q[~beyond]
    width, coefficients = _END / _PIECES, _coefficients(k)
    piece = (inside / width).astype(np.int64)
    x = 2.0 * (inside / width - piece) - 1.0
    later, last = np.zeros(x.size), np.zeros(x.size)
    for row in coefficients[:0:-1]:  # Clenshaw's recurrence
        later, last = row[piece] + 2.0 * x * later - last, later
    out[~beyond] = np.exp(np.minimum(coefficients[0][piece] + x * later - last, 0.0))
    return out


@lru_cache(maxsize=8)
def _coefficients(k: int) -> Floats:
    """Give the polynomials of the logarithm, shape (degree + 1, pieces)."""
    width = _END / _PIECES
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    at = width * (np.arange(_PIECES)[:, None] + 0.5 * (nodes + 1.0))
    values = np.log(_each(at.ravel(), k)).reshape(at.shape)
    basis = np.polynomial.chebyshev.chebvander(nodes, _DEGREE)
    return np.asarray(np.linalg.solve(basis, values.T))


def _each(q: Floats, k: int) -> Floats:
    return np.array([studentized_range_sf(x, k) for x in q.tolist()], np.float64)
