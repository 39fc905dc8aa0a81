"""Variances of differences of all pairs of models: squared distances of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.kernels.bits import squared_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.int32]

_CANCELLED = 1e-6  # of the squared lengths: nearer rows are subtracted themselves


class RowDistances:
    """Squared distances of the rows of M models, by one matrix product.

    The same to the bit for any number of threads: all pairs come from one product, or,
    where few were chosen, from their rows.
    """

    def __init__(
        self,
        rows: Floats,
        noise: float,
        *,
        all_pairs: bool,
        parts: list[Any] | None = None,
        degrees: Floats | None = None,
    ) -> None:
        """Multiply rows, shape (M, U), which are changed.

        Squared distances up to `noise` are 0. Where there are strata, `parts` are the
        columns of each, whose variances have these degrees of freedom.
        """
        # What all rows have in common is in no distance, but would cost digits.
        rows -= rows.mean(axis=0)
        self._rows, self._noise = rows, noise
        self._parts, self._degrees = parts or [], degrees
        self._gram: Floats | None = None
        self._quotients: Floats | None = None
        if all_pairs:
            self._gram = rows @ rows.T
            self._squares = np.diagonal(self._gram).copy()
            if self._parts:
                self._quotients = self._sum_quotients()

    def __call__(self, pairs: Pairs) -> Floats:
        """Give the squared distances of some pairs, shape (p,)."""
        if self._gram is None:
            found = self._subtracted(pairs)
        else:
            i, j = pairs.T
            both = self._squares[i] + self._squares[j]
            found = both - 2.0 * self._gram[i, j]
            near = found < _CANCELLED * both
            if near.any():
                found[near] = self._subtracted(pairs[near])
        return np.where(found <= self._noise, 0.0, found)

    def df(self, pairs: Pairs, variance: Floats) -> Floats:
        """Give Satterthwaite's degrees of freedom of pairs where there are strata."""
        assert self._degrees is not None
        if self._quotients is not None:
            quotients = self._quotients[tuple(pairs.T)]
        else:
            quotients = np.zeros(len(pairs))
            for part, df in zip(self._parts, self._degrees, strict=True):
                own = np.ascontiguousarray(self._rows[:, part])
                quotients += _distances(own, pairs) ** 2 / df
        with np.errstate(divide="ignore", invalid="ignore"):
            found = variance * variance / quotients
        return np.asarray(np.where(variance > 0.0, found, self._degrees.sum()))

    def _subtracted(self, pairs: Pairs) -> Floats:
        return _distances(self._rows, pairs)

    def _sum_quotients(self) -> Floats:
        """Add up the squared variance of each stratum over its degrees of freedom."""
        total = np.zeros((len(self._rows),) * 2)
        assert self._degrees is not None
        for part, df in zip(self._parts, self._degrees, strict=True):
            own = self._rows[:, part]
            gram = own @ own.T
            squares = np.diagonal(gram).copy()
            gram *= -2.0
            gram += squares
            gram += squares[:, np.newaxis]
            gram *= gram
            gram /= df
            total += gram
        return total


def _distances(rows: Floats, pairs: Pairs) -> Floats:
    found = np.empty(len(pairs))
    squared_distances(rows, pairs.astype(np.int64), found)
    return found
