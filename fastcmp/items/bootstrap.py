"""The bootstrap of differences of means: of one pair of models, or of all pairs.

Units are drawn within strata. The means of all models on all draws are one matrix
product; a pair is the difference of two rows of it, sorted.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import ALTERNATIVES
from fastcmp.core.threads import ThreadPool, check_draws, parts
from fastcmp.core.typing import Floats, Pairs
from fastcmp.counts.units import UnitSums
from fastcmp.kernels import bootstrap_intervals as kinds
from fastcmp.kernels.item_bootstrap import draw_units, jackknife_acceleration, total_draws

#: The intervals, with the code that kernels take.
INTERVALS = {
    "percentile": kinds.PERCENTILE,
    "basic": kinds.BASIC,
    "bca": kinds.BCA,
    "studentized": kinds.STUDENTIZED,
}
_COUNTS = 1 << 25  # counts of units that are kept for all draws; else drawn again
_BLOCK = 1 << 18  # counts of units that are drawn together
_SORTED = 1 << 17  # draws that are sorted together: what a cache holds
_FEW = 64  # models; for more, one product of BLAS
_ROWS = 64  # pairs whose squares are summed together
_EQUAL = 1e-12  # draws that differ by less, of their size, are equal
SIDE = 32  # models of a side of a tile


class UnitDraws:
    """Means of all models on all draws; threads may share it."""

    def __init__(
        self,
        units: UnitSums,
        level: float,
        pool: ThreadPool,
        *,
        interval: str,
        n_resamples: int,
        seed: int,
        alternative: str = "two-sided",
    ) -> None:
        """Draw units, and work out the means of all models."""
        kind = INTERVALS[interval]
        self._options = kind, ALTERNATIVES[alternative], level
        # Less the first model: what all have in common cancels before it is rounded,
        # and whole numbers stay whole numbers.
        self.units = units._replace(
            sums=np.ascontiguousarray(units.sums - units.sums[:1], np.float64),
            sizes=np.ascontiguousarray(units.sizes, np.float64),
            strata=np.ascontiguousarray(units.strata, np.int64),
            weights=np.ascontiguousarray(units.weights, np.float64),
        )
        self.kind, self.n, self.seed = kind, n_resamples, seed
        n_units = self.units.sizes.size
        starts = np.searchsorted(units.strata, np.arange(len(units.weights) + 1))
        self.strata = [slice(*ends) for ends in pairwise(starts)]
        self._blocks = parts(n_resamples, max(16, _BLOCK // n_units))
        self._counts: dict[int, Floats] = {}
        # Studentized draws are needed again for every pair.
        again = kind == kinds.STUDENTIZED
        self._keep = again and n_resamples * n_units <= _COUNTS
        if again:
            self._residuals = _residuals(self.units, self.strata)
        #: Shape (M, R), and of the data, shape (M,).
        check_draws(n_resamples, 2 * len(units.sums))
        self.means = np.empty((len(units.sums), n_resamples))
        self.estimates = self._means(np.ones((1, n_units)))[:, 0]

        def fill(part: slice) -> None:
            self.means[:, part] = self._means(self._draw(part))

        pool.run(fill, self._blocks, steps=0)
        values = np.abs(units.sums / units.sizes).max(axis=1)
        self._rounding = 8.0 * np.finfo(float).eps * values
        self._slack = self._rounding + _EQUAL * np.abs(self.means).max(axis=1)

    def _draw(self, part: slice) -> Floats:
        """Draw units, shape (r, G)."""
        if part.start in self._counts:
            return self._counts[part.start]
        counts = np.empty((part.stop - part.start, self.units.sizes.size))
        draw_units(self.units.strata, self.seed, part.start, counts)
        if self._keep:
            self._counts[part.start] = counts
        return counts

    def _means(self, counts: Floats) -> Floats:
        """Means of all models on some draws, shape (M, r)."""
        total = np.zeros((len(self.units.sums), len(counts)))
        for stratum, weight in zip(self.strata, self.units.weights, strict=True):
            c, sizes = np.ascontiguousarray(counts[:, stratum]), self.units.sizes[stratum]
            sums = self.units.sums[:, stratum]
            many = len(sums) > _FEW  # BLAS pays
            sums = sums @ c.T if many else _totals(c, np.ascontiguousarray(sums.T)).T
            total += weight * (sums / _total_sizes(c, sizes))
        return total

    def evaluate(self, pairs: Pairs) -> tuple[Floats, NDArray[np.uint8]]:
        """Statistic, p-value and both ends of the interval of each pair, (P, 4), and status.

        The p-value inverts the interval: see `fastcmp.kernels.bootstrap_pvalue`. The statistic
        is the difference divided by its standard error: that of CR1 for studentized intervals,
        else the standard deviation over the draws. Status is degenerate where all draws are
        equal.
        """
        answers, status = np.empty((len(pairs), 4)), np.empty(len(pairs), np.uint8)
        size = _ROWS if self.kind == kinds.STUDENTIZED else max(1, _SORTED // self.n)
        for part in parts(len(pairs), size):
            i, j = pairs[part].T
            rows = self.means[i] - self.means[j]
            # Estimate; acceleration or standard error; tolerance; used draws.
            scales = np.zeros((i.size, 4))
            scales[:, 0] = difference = self.estimates[i] - self.estimates[j]
            scales[:, 2] = self._slack[i] + self._slack[j]
            scales[:, 3] = self.n
            error = rows.std(axis=1, ddof=1) if self.n > 1 else np.zeros(i.size)
            if self.kind == kinds.BCA:
                sums, sizes, strata, weights = self.units[:4]
                for p, (a, b) in enumerate(pairs[part]):
                    apart = sums[a] - sums[b]
                    scales[p, 1] = jackknife_acceleration(apart, sizes, strata, weights)
            elif self.kind == kinds.STUDENTIZED:
                self._studentize(i, j, rows, scales)
                error = scales[:, 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                answers[part, 0] = np.where(difference == 0, 0.0, difference / error)
            rows.sort(axis=1)
            rest_of_answers = np.empty((i.size, 3))
            kinds.bootstrap_rows(rows, scales, self._options, rest_of_answers, status[part])
            answers[part, 1:] = rest_of_answers
        return answers, status

    def pvalues(self, pairs: Pairs) -> Floats:
        """The p-values alone, shape (P,)."""
        return self.evaluate(pairs)[0][:, 1]

    def _studentize(
        self, i: NDArray[np.int32], j: NDArray[np.int32], rows: Floats, scales: Floats
    ) -> None:
        """Divide deviations by their standard errors; infinite where these are 0."""
        residuals = self._residuals[i] - self._residuals[j]
        rounding = (self._rounding[i] + self._rounding[j])[:, np.newaxis]
        residuals[np.abs(residuals) <= rounding * self.units.sizes] = 0.0
        residuals = np.ascontiguousarray(residuals.T)
        ones, nothing = np.ones((1, len(residuals))), np.zeros((1, i.size))
        scales[:, 1] = np.sqrt(self._variances(residuals, ones, nothing)[0])
        rows -= scales[:, :1]
        error = np.empty_like(rows)
        for part in self._blocks:
            variances = self._variances(residuals, self._draw(part), rows[:, part].T)
            error[:, part] = np.sqrt(variances).T
        with np.errstate(divide="ignore", invalid="ignore"):
            rows /= error
        rows[error == 0] = np.inf
        scales[:, 3] = np.count_nonzero(error, axis=1)

    def _variances(self, residuals: Floats, counts: Floats, shift: Floats) -> Floats:
        """Variances by CR1 of pairs with residuals (G, P), in draws: shape (r, P).

        `shift`, what the mean of a draw is above that of the data, is worked out here
        where there are several strata.
        """
        total = np.zeros(shift.shape)
        for stratum, weight in zip(self.strata, self.units.weights, strict=True):
            c, e = np.ascontiguousarray(counts[:, stratum]), residuals[stratum]
            sizes = self.units.sizes[stratum]
            n = _total_sizes(c, sizes)[:, np.newaxis]
            t = shift if len(self.strata) == 1 else _totals(c, e) / n
            plain = _totals(c, e * e)
            if np.all(sizes == sizes[0]):
                v = plain - t * t * (sizes[0] * n)
            else:
                cross = _totals(c, e * sizes[:, np.newaxis])
                squares = (c @ (sizes * sizes))[:, np.newaxis]
                v = plain - t * (2.0 * cross - t * squares)
            v[v <= _EQUAL * plain] = 0.0
            total += weight * weight * sizes.size / (sizes.size - 1.0) * v / (n * n)
        return total


def _total_sizes(counts: Floats, sizes: Floats) -> Floats:
    """Sums of the sizes of the units of draws, shape (r,)."""
    if np.all(sizes == sizes[0]):
        return np.full(len(counts), sizes[0] * sizes.size)
    return _totals(counts, np.ascontiguousarray(sizes[:, np.newaxis]))[:, 0]


def _totals(counts: Floats, columns: Floats) -> Floats:
    """Products of counts (r, G) with columns of pairs (G, P)."""
    totals = np.empty((len(counts), columns.shape[1]))
    total_draws(counts, columns, totals)
    return totals


def _residuals(units: UnitSums, strata: list[slice]) -> Floats:
    """Sums less those that the mean of the stratum predicts, shape (M, G)."""
    residuals = np.empty_like(units.sums)
    for stratum in strata:
        sums, sizes = units.sums[:, stratum], units.sizes[stratum]
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        residuals[:, stratum] = sums - mean * sizes
    return residuals
