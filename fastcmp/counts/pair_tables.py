"""Tables of what pairs of models predict, with or without the truth, for many pairs.

Few classes are counted as products of bit slices, many or few pairs sample by sample;
`slices_pay` chooses. Pairs come in blocks, so that the tables of all of them are never
held unless asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Pairs
from fastcmp.counts.label_counts import count_cells
from fastcmp.counts.pairs import Block, Tile, all_pairs, block_of, count_pairs, tiles_of
from fastcmp.inputs.labels import Labels
from fastcmp.kernels.bits import LINE_WORDS, TILE_ROWS, allocate_words
from fastcmp.kernels.slices import (
    count_slices,
    gather_codes,
    order_by_class,
    pack_slices,
    slice_tile,
)

Counts = NDArray[np.int64]

_CELLS = 1 << 18  # cells of the tables of a block: 2 MB stay in a second-level cache
_SIDE = 128  # models of a side of a tile, at most; a multiple of TILE_ROWS
_LARGEST_ARRAY = 1 << 28  # entries: 2 GB
_LARGEST_SLICES = 1 << 30  # bytes of slices that need no comparison with the codes
_SLICED_CLASSES = 256  # codes beyond do not fit in a byte
_THREADS_PAY = 15e6  # nanoseconds on one core; below it one thread is faster
_SEGMENT = 64 * LINE_WORDS  # samples to which each true class is padded

# Nanoseconds on one core of a server processor with AVX-512. Where slices and samples
# are equally fast, K = 8 to 22, these were found to be right within a quarter.
_SCATTER, _SCATTER_CELL = 0.55, 1.5  # a sample, and a cell of the table
_START, _ORDER = 50_000, 4.0  # once, and a sample that is sorted by true class
_GATHER, _PACK = 0.4, 0.1  # a sample of a model, and for each bit of its code
_WORD, _SUM, _CELL = 0.07, 1.5, 1.5  # a word, a sum over words, a cell of the table


def slices_pay(n_models: int, n_pairs: int, n_samples: int, n_classes: int, n_truths: int) -> bool:
    """Whether bit slices are faster than counting sample by sample.

    `n_truths` is K where tables are wanted for each true class, otherwise 1.
    """
    if not 2 <= n_classes <= _SLICED_CLASSES:
        return False
    if (n_classes - 1) * n_samples > 8 * max(_LARGEST_SLICES / n_models, 2 * n_samples):
        return False
    sliced = slices_time(n_models, n_pairs, n_samples, n_classes, n_truths)
    return sliced < _scatter_time(n_pairs, n_samples, n_truths * n_classes**2)


def slices_time(
    n_models: int, n_pairs: int, n_samples: int, n_classes: int, n_truths: int
) -> float:
    """Estimated nanoseconds on one core with bit slices."""
    rows = n_classes - 1
    pack = n_models * n_samples * _PACK * rows.bit_length() + _START
    if n_truths > 1:
        pack += n_samples * (_ORDER + _GATHER * n_models)
    words = n_samples / 64 + n_truths * LINE_WORDS / 2
    products = rows**2 * (_WORD * words + _SUM * n_truths)
    return pack + n_pairs * (products + _CELL * n_truths * n_classes**2)


def _scatter_time(n_pairs: int, n_samples: int, n_cells: int) -> float:
    """Estimated nanoseconds on one core, sample by sample."""
    return n_pairs * (_SCATTER * n_samples + _SCATTER_CELL * n_cells)


class PairTables:
    """Tables of pairs of models, counted block by block.

    `n_pairs` is how many are going to be asked for; with `y_true` there is a table for
    each true class.
    """

    def __init__(
        self,
        preds: Sequence[NDArray[Any]],
        n_classes: int,
        n_pairs: int,
        *,
        y_true: NDArray[Any] | None = None,
    ) -> None:
        self._preds, self._y_true, self._k = preds, y_true, n_classes
        n_truths = 1 if y_true is None else n_classes
        self.n_models, self.n_pairs = len(preds), n_pairs
        n = preds[0].size
        sliced = slices_pay(len(preds), n_pairs, n, n_classes, n_truths)
        self._slices = _Slices(preds, n_classes, y_true) if sliced else None
        #: Cells of the table of a pair.
        self.n_cells = n_truths * n_classes**2
        time = _scatter_time(n_pairs, n, self.n_cells)
        if sliced:
            time = slices_time(len(preds), n_pairs, n, n_classes, n_truths)
        self._here = time < _THREADS_PAY
        rows = TILE_ROWS
        fitting = int((_CELLS / self.n_cells) ** 0.5)
        #: Models of a side of a tile, a multiple of ``TILE_ROWS``.
        self.side = min(_SIDE, max(rows, fitting // rows * rows))

    @property
    def packing(self) -> list[slice]:
        """The models that `pack` takes at a time, all of them before any count."""
        return [] if self._slices is None else self._slices.parts

    def pack(self, part: slice) -> None:
        """Pack the slices of some models, one of `packing`; from any thread."""
        assert self._slices is not None
        self._slices.pack(part)

    def count(self, block: Block, buffer: Counts | None = None) -> Counts:
        """Count the tables of the pairs of a block; from any thread.

        They are ``[p, t, a, b]``, or ``[p, a, b]`` without true codes.
        """
        k, p = self._k, len(block.pairs)
        shape = (p, k, k) if self._y_true is None else (p, k, k, k)
        size = p * self.n_cells
        counts = np.empty(size, np.int64) if buffer is None else buffer[:size]
        counts = counts.reshape(shape)
        if self._slices is not None:
            by_truth = counts.reshape(p, self.n_cells // k**2, k, k)
            self._slices.count(block, by_truth)
            return counts
        counts[...] = 0
        for (i, j), table in zip(block.pairs.tolist(), counts, strict=True):
            if self._y_true is None:
                kernels.count_agreement(self._preds[i], self._preds[j], table)
            else:
                kernels.count_labels(self._y_true, self._preds[i], self._preds[j], table)
        return counts

    def fold(
        self, pairs: Pairs | None, pool: ThreadPool, work: Callable[[Block, Counts], None]
    ) -> None:
        """Pack all models, count all pairs, and call `work` with each block's tables.

        It is called from any thread with a `Block` and its tables, which the next block
        of that thread overwrites: what is kept must be copied.
        """
        pool.expect(self.n_pairs)
        pool.run(self.pack, self.packing, steps=0, here=self._here)
        tasks: list[Tile] | list[slice]
        if pairs is None and self._slices is not None:
            rows = -(-self.n_models // (4 * pool.threads * TILE_ROWS))
            side = min(self.side, rows * TILE_ROWS)
            tasks = tiles_of(self.n_models, side)
        else:
            tasks = parts(self.n_pairs, max(1, _CELLS // self.n_cells))
        buffer = max(map(count_pairs, tasks), default=0) * self.n_cells
        # New memory for each block would cost as much as writing the tables thrice.
        free = [np.empty(buffer, np.int64) for _ in range(pool.threads)]

        def do(task: Tile | slice) -> None:
            block, cells = block_of(task, self.n_models, pairs), free.pop()
            try:
                work(block, self.count(block, cells))
            finally:
                free.append(cells)

        pool.run(do, tasks, count_pairs, here=self._here)


class _Slices:
    """Predicted classes of all models as bit slices."""

    def __init__(self, preds: Sequence[NDArray[Any]], k: int, y_true: NDArray[Any] | None) -> None:
        self._preds, self._k, self._order = preds, k, None
        self._bits = (k - 1).bit_length()
        if y_true is None:
            self._sizes = np.array([preds[0].size])
        else:
            self._sizes = np.bincount(y_true, minlength=k)
        lines = -(-self._sizes // _SEGMENT) * LINE_WORDS
        self._segments = np.concatenate([[0], np.cumsum(lines)])
        n_places = 64 * int(self._segments[-1])
        if y_true is not None:
            # Places that no sample takes read what is behind the last one.
            n = y_true.size
            dtype = np.int32 if n < 1 << 31 else np.int64
            self._order = np.full(n_places, n, dtype)
            places = 64 * self._segments[:-1]
            order_by_class(y_true, places, self._order)
        n_rows = len(preds) * (k - 1)
        self._words = allocate_words(n_rows + TILE_ROWS, n_places)
        self._margins = np.zeros((len(preds), self._sizes.size, k), np.int64)
        # Bringing samples into order takes longest: models share bytes for it.
        shared = 1 if y_true is None else 8 // self._bits
        self.parts = parts(len(preds), shared)

    def pack(self, part: slice) -> None:
        """Pack as many models as share a byte."""
        rows = self._k - 1
        models = range(part.start, part.stop)
        shared = None
        if self._order is not None:
            shared = self._in_order(models, self._order)
        for model in models:
            codes, shift = shared, (model - part.start) * self._bits
            if codes is None:
                codes = self._preds[model].astype(np.uint8, copy=False)
            words = self._words[rows * model : rows * (model + 1)]
            pack_slices(codes, (shift, self._bits), words)
            count_slices(words, self._segments, self._sizes, self._margins[model])

    def _in_order(self, models: range, order: NDArray[Any]) -> NDArray[np.uint8]:
        """The joined codes of some models, sorted by true class."""
        joined = np.zeros(self._preds[0].size + 1, np.uint8)
        for model in reversed(models):
            joined *= np.uint8(1 << self._bits & 255)
            joined[:-1] += self._preds[model].astype(np.uint8, copy=False)
            joined[-1] += np.uint8(self._k - 1)  # the class without a slice
        sorted_codes = np.empty(order.size, np.uint8)
        gather_codes(joined, order, sorted_codes)
        return sorted_codes

    def count(self, block: Block, counts: Counts) -> None:
        """Write the tables of a block, shape (p, T, K, K)."""
        pairs, packed = block.pairs.astype(np.int64), (self._words, self._segments, self._margins)
        if block.tile is not None:
            slice_tile(*packed, block.tile, pairs, counts)
            return
        for p, (i, j) in enumerate(pairs.tolist()):
            slice_tile(*packed, (i, i + 1, j, j + 1), pairs[p : p + 1], counts[p : p + 1])


def all_label_counts(labels: Labels, threads: int, out: Counts | None = None) -> Counts:
    """Count samples by true and predicted classes, ``[p, t, a, b]``, for all pairs.

    Labels are encoded with ``missing=None``; the counts are added to `out` where it is
    given. A ValueError says if they would take more than 2 GB.
    """
    n_models, k = len(labels.preds), len(labels.classes)
    n_pairs = n_models * (n_models - 1) // 2
    fresh = out is None
    if out is None:
        if n_pairs * k**3 > _LARGEST_ARRAY:
            raise BadValueError(
                f"`counts` of {n_pairs} pairs by {k} classes need "
                f"{8 * n_pairs * k**3 / 1e9:.3g} GB: choose fewer pairs"
            )
        out = np.zeros((n_pairs, k, k, k), np.int64)
    if not n_pairs or not labels.n_samples:
        return out
    tables = PairTables(labels.preds, k, n_pairs, y_true=labels.y_true)

    def add(block: Block, counts: Counts) -> None:
        out[block.where] = counts if fresh else out[block.where] + counts

    with ThreadPool(threads) as pool:
        tables.fold(None, pool, add)
    return out


def all_label_cells(labels: Labels) -> list[tuple[Counts, Counts]]:
    """List the cells of all pairs that hold samples, where classes are many.

    Gives ``(t, a, b)``, ascending, shape (C, 3), and samples, for each pair of
    ``np.triu_indices(M, 1)``; labels are encoded with ``missing=None``.
    """
    preds, k = labels.preds, len(labels.classes)
    return [
        count_cells((labels.y_true, preds[i], preds[j]), k)
        for i, j in all_pairs(len(preds)).tolist()
    ]
