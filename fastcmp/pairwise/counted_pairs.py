"""All pairs of very many models, by how many pairs have which counts.

Where the p-value of a pair follows from two counts, the p-values of billions of pairs
are those of some millions of cells: they are worked out, sorted and adjusted once a
cell. Pairs are counted twice: to fill the cells, and to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import ThreadPool, check_memory, parts
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.counts.pairs import RightBits, Tile, count_pairs, places_of, tiles_of
from fastcmp.kernels.bits import TILE_ROWS, add_tile
from fastcmp.kernels.pair_cells import count_cells, decide_cells
from fastcmp.pairwise.adjust import BY_RANK, adjust_groups
from fastcmp.pairwise.decisions import UNTESTED, write_tile

_MANY = 1 << 27  # pairs from which on they are counted by cell
_SIDE = 512  # models of a side of a tile
_KEPT = 88  # bytes of a pair that is kept


class PairCells(NamedTuple):
    """Rightly classified samples, and the p-values of pairs by their counts."""

    bits: RightBits
    n_samples: int
    #: P-values of samples that only the first, only the second model has right.
    pvalues: Callable[[Ints, Ints], Floats]

    @property
    def n_cells(self) -> int:
        """Cells that pairs may be in."""
        least, most = int(self.bits.correct.min()), int(self.bits.correct.max())
        discordant = min(2 * most, 2 * (self.n_samples - least), self.n_samples)
        return (discordant + 2) ** 2 // 4

    def serves(self, n_pairs: int, adjust: str) -> bool:
        """Whether counting by cell is less than a p-value for each pair."""
        return adjust in BY_RANK and n_pairs >= max(_MANY, 4 * self.n_cells)

    def decide(
        self, adjust: str, alpha: float, pool: ThreadPool, limit: int | None, places: Ints | None
    ) -> tuple[Ints, NDArray[np.int8], Callable[[Ints, Ints], Floats]]:
        """Places of the pairs that are kept, decisions, and adjusted p-values by counts.

        Without `places` the significant pairs are kept. Nothing else depends on the number
        of pairs but the decisions, a byte for each two models.
        """
        m, size = self.bits.correct.size, self.n_cells
        n_pairs = m * (m - 1) // 2
        check_memory(
            float(m) ** 2 + 8.0 * size * (pool.threads + 2),
            limit,
            f"decisions about {n_pairs} pairs",
            "compare fewer models",
        )
        counts = self._count(size, pool)
        occupied = np.flatnonzero(counts)
        pairs_in = counts[occupied]
        del counts
        d = np.sqrt(4.0 * occupied + 3.0).astype(np.int64) - 1
        k = occupied - (d + 1) ** 2 // 4
        pvalue = np.empty(occupied.size)

        def test(part: slice) -> None:
            pvalue[part] = self.pvalues(d[part] - k[part], k[part])

        pool.run(test, parts(occupied.size, 1 << 16), steps=0)
        adjusted = adjust_groups(pvalue, pairs_in, adjust)
        decided = adjusted <= alpha
        if places is None:
            n_kept = int(pairs_in[decided].sum())
            check_memory(
                float(m) ** 2 + float(_KEPT * n_kept),
                limit,
                f"keeping {n_kept} significant pairs",
                "pass `keep=` a number of models",
            )
        significant = np.zeros(size, np.bool_)
        significant[occupied[decided]] = True
        decisions, kept_places = self._decide(significant, pool, keep=places is None)

        def adjusted_of(only_a: Ints, only_b: Ints) -> Floats:
            cells = (only_a + only_b + 1) ** 2 // 4 + np.minimum(only_a, only_b)
            return adjusted[np.searchsorted(occupied, cells)]

        return kept_places if places is None else places, decisions, adjusted_of

    def _tiles(self) -> list[Tile]:
        m = self.bits.correct.size
        return [tile for tile in tiles_of(m, _SIDE) if count_pairs(tile)]

    def _joint(self, tile: Tile) -> Ints:
        """Samples that both models of each pair of a tile have right."""
        i0, i1, j0, j1 = tile
        counts = np.zeros((i1 - i0 + TILE_ROWS, j1 - j0 + TILE_ROWS), np.int64)
        add_tile(self.bits.words, tile, counts)
        return counts

    def _right(self, tile: Tile) -> tuple[Ints, Ints]:
        i0, i1, j0, j1 = tile
        return self.bits.correct[i0:i1], self.bits.correct[j0:j1]

    def _count(self, size: int, pool: ThreadPool) -> Ints:
        """How many pairs are in which cell, shape (C,)."""
        tables: SimpleQueue[Ints] = SimpleQueue()
        for _ in range(pool.threads):
            tables.put(np.zeros(size, np.int64))

        def count(tile: Tile) -> None:
            counts = tables.get()  # one that no other thread has
            try:
                count_cells(self._joint(tile), self._right(tile), tile[0] == tile[2], counts)
            finally:
                tables.put(counts)

        pool.run(count, self._tiles(), steps=count_pairs)
        total = tables.get()
        while not tables.empty():
            total += tables.get()
        return total

    def _decide(
        self, significant: Flags, pool: ThreadPool, *, keep: bool
    ) -> tuple[NDArray[np.int8], Ints]:
        """Decisions about all models, (M, M), and the places of significant pairs."""
        m = self.bits.correct.size
        decisions = np.empty((m, m), np.int8)
        kept: list[Ints] = []

        def decide(tile: Tile) -> None:
            i0, i1, j0, j1 = tile
            of_tile = np.full((i1 - i0, j1 - j0), UNTESTED, np.int8)
            decide_cells(self._joint(tile), self._right(tile), i0 == j0, significant, of_tile)
            write_tile(decisions, of_tile, tile)
            if keep:
                i, j = np.nonzero(np.abs(of_tile) == 1)
                kept.append(places_of(np.stack([i + i0, j + j0], axis=1), m))

        pool.run(decide, self._tiles(), steps=count_pairs)
        return decisions, np.sort(np.concatenate(kept)) if kept else np.empty(0, np.int64)
