"""Which samples each of many models got right, packed 64 to a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.threads import no_step, parts
from fastcmp.counts.pairs import above
from fastcmp.kernels.bits import TILE_ROWS, add_tile, allocate_words, discordant_pairs

if TYPE_CHECKING:
    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Block
    from fastcmp.inputs.labels import Labels

_PACKED = 1 << 22  # samples whose packing is one task

Counts = NDArray[np.int64]


class RightBits(NamedTuple):
    """Packed rows, one a model, and what they add up to."""

    words: NDArray[np.uint64]
    #: Rightly classified samples of each model, shape (M,).
    correct: Counts

    @classmethod
    def pack(cls, labels: Labels, pool: ThreadPool) -> RightBits:
        """Compare predictions with the truth, a row of bits for each model."""
        n_models, n = len(labels.names), labels.n_samples
        words = allocate_words(n_models, n)
        correct = np.empty(n_models, np.int64)

        def pack(part: slice) -> None:
            for i in range(part.start, part.stop):
                pred = labels.preds[i]
                correct[i] = kernels.pack_equal(labels.y_true, pred, words[i])

        pool.run(pack, parts(n_models, max(1, _PACKED // n)), steps=no_step)
        return cls(words, correct)

    def discordant(self, block: Block) -> tuple[Counts, Counts]:
        """Count the samples that only the first, and only the second, got right."""
        words, correct = self
        if block.tile is None:
            pairs = block.pairs.astype(np.int64)
            only_a, only_b = np.empty((2, len(pairs)), np.int64)
            discordant_pairs(words, correct, pairs, only_a, only_b)
            return only_a, only_b
        i0, i1, j0, j1 = block.tile
        # `common_tile` without the array that it allocates: twice as fast to compile.
        counts = np.zeros((i1 - i0 + TILE_ROWS, j1 - j0 + TILE_ROWS), np.int64)
        add_tile(words, block.tile, counts)
        joint = counts[: i1 - i0, : j1 - j0]
        only_a = correct[i0:i1, None] - joint
        only_b = correct[j0:j1] - joint
        return above(only_a, block.tile), above(only_b, block.tile)
