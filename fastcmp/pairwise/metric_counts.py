"""A metric of counts of many pairs, from counts by class that a stream has gathered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.counts.pairs import places_of
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.metrics.cells import Cells, gather_cells
from fastcmp.pairwise.metric_pair_tests import places_of_classes
from fastcmp.pairwise.metric_samples import Counted, bind
from fastcmp.pairwise.metric_spread import SIDE, PairSums, Spread, spread_of_cells, sums_of_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.protocols import LabelledCounts
    from fastcmp.counts.pairs import Block
    from fastcmp.metrics.choice import Metric
    from fastcmp.pairwise.metric_models import MetricModels
    from fastcmp.pairwise.metric_pair_tests import CellsOf

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_COUNTED = 1 << 20  # cells of the counts of a tile


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCounts(Counted):
    """Samples of each two models by true class and both predictions."""

    source: LabelledCounts

    def counts(self, i: int) -> Ints:
        """Count the samples of a model, ``[stratum, true, predicted]``."""
        # Each model is the first or the second of some pair.
        other = 1 if i == 0 else 0
        codes, samples = self.cells(i, other)
        table = np.zeros((1, self.n_codes, self.n_codes), np.int64)
        np.add.at(table[0], (codes[:, 0], codes[:, 1]), samples)
        return table

    def cells(self, i: int, j: int) -> tuple[Ints, Ints]:
        """List the cells of two models in this order: codes (C, 3), and samples."""
        pair = np.array([(min(i, j), max(i, j))])
        codes, samples = self.source.cells(int(places_of(pair, self.n_models)[0]))
        return (codes if i < j else codes[:, [0, 2, 1]]), samples

    def tensors(self, block: Block) -> Ints:
        """Give all cells of the pairs of a block, ``[p, t, a, b]``."""
        places = places_of(np.sort(block.pairs, axis=1), self.n_models)
        tensors: Ints = self.source.counts[places]
        turned = block.pairs[:, 0] > block.pairs[:, 1]
        tensors[turned] = tensors[turned].transpose(0, 1, 3, 2)
        return tensors

    @property
    def side(self) -> int:
        """Models of a side of a tile, at most."""
        fitting = int((_COUNTED / self.n_codes**3) ** 0.5) // TILE_ROWS * TILE_ROWS
        return min(SIDE, max(TILE_ROWS, fitting))


def metric_counts(counts: LabelledCounts, metric: Metric) -> MetricCounts:
    """Bind a metric to the classes of a stream."""
    found = tuple(counts.classes)
    return MetricCounts(
        metric=bind(metric, found, range(len(found)), None),
        n_codes=len(found),
        n_models=len(counts.names or ()),
        n_samples=counts.n_samples,
        weights=np.ones(1),
        source=counts,
    )


def spread_of_counts(counts: MetricCounts, models: MetricModels) -> Spread:
    """Find variances from the counts of pairs."""
    assert models.lookups is not None
    lookups = np.where(np.isnan(models.lookups), 0.0, models.lookups)
    if counts.source.is_dense:
        return spread_of_cells(lookups, counts.tensors, counts.side)

    def spread(block: Block) -> tuple[Floats, Any]:
        found = np.array(
            [_compared(counts, i, j, lookups[i], lookups[j]) for i, j in block.pairs]
        ).reshape(-1, 3)
        return found[:, 2].copy(), found[:, 0] == 0

    return Spread(spread)


def sums_of_counts(counts: MetricCounts) -> PairSums:
    """Add up over the cells of pairs."""
    if counts.source.is_dense:
        return sums_of_cells(counts.tensors, counts.side)

    def of(block: Block) -> Callable[[slice, Floats], Floats]:
        def add(span: slice, psi: Floats) -> Floats:
            pairs = zip(block.pairs[span], psi, strict=True)
            found = [_compared(counts, i, j, own, own) for (i, j), own in pairs]
            return np.array(found).reshape(-1, 3)

        return add

    return PairSums(of)


def _compared(
    counts: MetricCounts, i: int, j: int, of_a: Floats, of_b: Floats
) -> tuple[float, float, float]:
    """Compare the influences of two models over the cells that hold samples."""
    codes, samples = counts.cells(int(i), int(j))
    t, a, b = codes.T
    difference = of_a[t, a] - of_b[t, b]
    differ = float(samples[a != b].sum())
    return differ, float(samples @ difference), float(samples @ difference**2)


def cells_of_counts(counts: MetricCounts) -> CellsOf:
    """List the cells of a pair in the order of the metric."""
    place, k = places_of_classes(counts), counts.metric.codes.size

    def cells(i: int, j: int) -> Cells:
        codes, samples = counts.cells(i, j)
        return gather_cells(place[codes], samples, k)

    return cells
