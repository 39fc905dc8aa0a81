"""Exchanges of the predictions of two models: all configurations, or random ones.

Of the samples in the cells (t, a, b) and (t, b, a), a not b, a binomial number lies in
the first. Clusters are exchanged as a whole.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.kernels.binomial import binomial_half
from fastcmp.kernels.count_draws import enumerate_swaps, half_chances, swap_cells
from fastcmp.kernels.item_bootstrap import cluster_cells
from fastcmp.kernels.sign_flips import random_signs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.metrics.cells import Cells

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Fill = Callable[[slice, Floats], tuple[Floats | None, Floats | None]]

#: Configurations that are all looked at; of two classes many more.
MOST_CONFIGURATIONS = 2_000_000
_MOST_OF_TWO = 4_000_000_000
_MOST_NUMBERS = 4_000_000_000  # in the tables of all configurations
_CUT = 9.0  # standard deviations of a count; less than 3e-19 lies beyond


class Configurations(NamedTuple):
    """All configurations but those that an exchange of the models makes of others."""

    n: int
    fill: Fill
    #: Probability of those that are left out because they are so improbable.
    beyond: float


class Exchanges:
    """The cells of two models, and what can be exchanged."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.partner = _with_partners(cells)
        self._discordant = self.partner != np.arange(self.partner.size)
        first = self.partner > np.arange(self.partner.size)
        totals = (self.cells.counts + self.cells.counts[self.partner])[first]
        #: Samples of each pair of cells.
        self.totals = totals[totals > 0]
        self.n_discordant = int(self.totals.sum())

    @cached_property
    def _flipped(self) -> NDArray[np.bool_]:
        """Tell which clusters an exchange changes."""
        clusters = self.cells.clusters
        assert clusters is not None
        changed = self._discordant[clusters.places].astype(np.int64)
        return np.asarray(np.add.reduceat(changed, clusters.starts[:-1]) > 0)

    @cached_property
    def n_configurations(self) -> float:
        """Count the configurations, of samples or of clusters: an integer.

        Infinite if it has more than 300 digits, which no one reads.
        """
        totals = self.totals
        if self.cells.clusters is not None:
            totals = np.ones(int(self._flipped.sum()), np.int64)
        if np.log10(totals + 1.0).sum() > 300.0:
            return math.inf
        return math.prod(int(total) + 1 for total in totals)

    @cached_property
    def can_enumerate(self) -> bool:
        """Whether all configurations can be looked at."""
        k = self.cells.n_classes
        n = self.n_configurations
        if k == 2 and self.cells.clusters is None:
            return math.prod(self._radices(self._least)) <= _MOST_OF_TWO
        return n <= MOST_CONFIGURATIONS and 2 * n * k * k <= _MOST_NUMBERS

    @cached_property
    def _least(self) -> Ints:
        """Give the least number of each pair of cells that is looked at."""
        least = np.zeros(self.totals.size, np.int64)
        if self.n_configurations > MOST_CONFIGURATIONS:
            far = self.totals / 2 - _CUT / 2 * np.sqrt(self.totals)
            least = np.maximum(np.floor(far), 0.0).astype(np.int64)
        return least

    def _radices(self, least: Ints) -> list[int]:
        return [int(total) + 1 for total in self.totals - 2 * least]

    def enumerate(self) -> Configurations:
        """Enumerate the configurations."""
        return self._all_cells() if self.cells.clusters is None else self._all_signs()

    def _all_cells(self) -> Configurations:
        least, radices = self._least, self._radices(self._least)
        chances = np.zeros((len(radices), max(radices, default=1)))
        for row, radix, total, low in zip(chances, radices, self.totals, least, strict=True):
            half_chances(int(total), int(low), row[:radix])
        n = math.prod(radices)

        def fill(part: slice, draws: Floats) -> tuple[None, Floats]:
            weights = np.empty(len(draws))
            where = self.cells.counts, self.partner, least, chances
            enumerate_swaps(*where, part.start, draws, weights)
            if 2 * part.stop > n:  # its own mirror image, which is counted twice
                weights[-1] *= 0.5
            return None, weights

        return Configurations((n + 1) // 2, fill, self._beyond(least))

    def _beyond(self, least: Ints) -> float:
        total = 0.0
        for low, n in zip(least.tolist(), self.totals.tolist(), strict=True):
            if low > 0:
                mid, pmf = binomial_half(float(low), float(n))
                total += 2.0 * max(mid - 0.5 * pmf, 0.0)
        return total

    def _all_signs(self) -> Configurations:
        n_flipped = int(self._flipped.sum())
        bits = np.arange(max(n_flipped - 1, 0))  # the last one stays as it is

        def fill(part: slice, draws: Floats) -> tuple[Floats, Floats]:
            numbers = np.arange(part.start, part.stop)[:, np.newaxis]
            signs = np.ones((len(draws), n_flipped))
            signs[:, : bits.size] -= 2.0 * (numbers >> bits & 1)
            times = np.ones((len(draws), self._flipped.size))
            times[:, self._flipped] = signs
            self._exchange(times, draws)
            return times, np.full(len(draws), 0.5)

        return Configurations(1 << bits.size, fill, 0.0)

    def random(self, seed: int) -> Fill:
        """Exchange at random: draw i is a function of (seed, i)."""

        def fill(part: slice, draws: Floats) -> tuple[Floats | None, None]:
            clusters = self.cells.clusters
            if clusters is None:
                counts = self.cells.counts
                swap_cells(counts, self.partner, seed, part.start, draws)
                return None, None
            words = np.empty((-(-clusters.n // 64), len(draws)), np.uint64)
            random_signs(seed, part.start, 0, words)
            rows = np.ascontiguousarray(words.T).astype("<u8").view(np.uint8)
            bits = np.unpackbits(rows, axis=1, count=clusters.n, bitorder="little")
            times: Floats = 1.0 - 2.0 * bits.astype(np.float64)
            self._exchange(times, draws)
            return times, None

        return fill

    def _exchange(self, times: Floats, draws: Floats) -> None:
        assert self.cells.clusters is not None
        cluster_cells(*self.cells.clusters, self.partner, times, draws)


def _with_partners(cells: Cells) -> tuple[Cells, Ints]:
    """Add the cells with exchanged predictions, and tell where they stand."""
    k = cells.n_classes
    base = np.array([k * k, k, 1])
    keys, swapped = cells.codes @ base, cells.codes[:, [0, 2, 1]] @ base
    both = np.sort(np.concatenate([keys, swapped]))  # faster than np.union1d
    both = both[np.diff(both, prepend=-1) > 0]
    place = np.searchsorted(both, keys)
    counts = np.zeros(both.size, np.int64)
    counts[place] = cells.counts
    codes = both[:, np.newaxis] // base % k
    partner = np.searchsorted(both, codes[:, [0, 2, 1]] @ base).astype(np.int64)
    clusters = cells.clusters
    if clusters is not None:
        clusters = clusters._replace(places=place[clusters.places].astype(np.int64))
    return cells._replace(codes=codes, counts=counts, clusters=clusters), partner
