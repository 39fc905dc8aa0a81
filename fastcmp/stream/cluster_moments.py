"""Sums kept for each cluster: clusters may be split, and every variance is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fastcmp.core.checks import LARGEST_COUNT
from fastcmp.core.exact_sums import add, exact, value_of
from fastcmp.counts.item_units import VARIANCES
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.kernels.cluster_means import cluster_factors
from fastcmp.stream.saved_checks import check_within, require, saved_labels, stored
from fastcmp.stream.unit_moments import ROUNDING, Gram
from fastcmp.stream.value_blocks import columns_at_once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fastcmp.stream.value_blocks import ValueBlock

    Floats = NDArray[np.float64]
    Arrays = dict[str, NDArray[Any]]


class ClusterMoments(NamedTuple):
    """Sizes and sums of G clusters."""

    #: Names of the clusters, in order.
    ids: tuple[Any, ...]
    #: Items of each, shape (G,).
    counts: NDArray[np.int64]
    #: Exact sums of weights, and of their squares, shape (2, 2, G).
    sizes: Floats
    #: Exact sums of the values of each model without what the models have in common on
    #: an item, and of this, shape (2, G, M + 1).
    sums: Floats

    @classmethod
    def empty(cls, m: int) -> Self:
        """Make the moments of no items."""
        none = np.zeros(0, np.int64)
        return cls((), none, np.zeros((2, 2, 0)), np.zeros((2, 0, m + 1)))

    @classmethod
    def of_block(cls, block: ValueBlock) -> Self:
        """Sum up a block."""
        sums = np.empty((len(block.ids), len(block.rows) + 1))
        for units, own, common in block.unit_sums():
            sums[units, :-1], sums[units, -1] = own.T, common
        edges: Any = block.edges
        counts = np.diff(edges)
        made = cls(block.ids, counts, exact(np.stack(block.sizes())), exact(sums))
        return made._placed(_in_order(block.ids))

    def plus(self, other: Self) -> Self:
        """Merge by the names of clusters; commutes to the bit."""
        ids = _in_order({*self.ids, *other.ids})
        one, two = self._placed(ids), other._placed(ids)
        return type(self)(
            ids,
            one.counts + two.counts,
            add(one.sizes, two.sizes),
            add(one.sums, two.sums),
        )

    def _placed(self, ids: tuple[Any, ...]) -> Self:
        """Put clusters in their places among more of them."""
        if ids == self.ids:
            return self
        place_of = {name: i for i, name in enumerate(ids)}
        place = np.fromiter((place_of[name] for name in self.ids), np.int64)
        g = len(ids)
        counts, sizes = np.zeros(g, np.int64), np.zeros((2, 2, g))
        sums = np.zeros((2, g, self.n_models + 1))
        counts[place], sizes[:, :, place] = self.counts, self.sizes
        sums[:, place] = self.sums
        return type(self)(ids, counts, sizes, sums)

    @property
    def n_models(self) -> int:
        """Number of models, M."""
        return int(self.sums.shape[2]) - 1

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.counts.sum())

    @property
    def n_units(self) -> int:
        """Number of clusters."""
        return len(self.ids)

    @property
    def has_weight(self) -> bool:
        """Whether any cluster has a weight above 0."""
        return bool(self.sizes[0, 0].any())

    @staticmethod
    def knows_all() -> bool:
        """Tell whether all variances follow from the sums: of clusters they do."""
        return True

    def mean(self) -> Floats:
        """Give the mean of each model, shape (M,)."""
        total = value_of(self.sums.sum(axis=1))
        found: Floats = (total[:-1] + total[-1]) / value_of(self.sizes)[0].sum()
        return found

    def unit_sums(self) -> UnitSums:
        """Give what is resampled: the clusters with their sums."""
        w, _ = value_of(self.sizes)
        sums = value_of(self.sums)
        whole = np.ascontiguousarray((sums[:, :-1] + sums[:, -1:]).T)
        return UnitSums(whole, w, np.zeros(w.size, np.int64), np.ones(1))

    def pair_moments(self, variance: str, df: str) -> PairMoments:
        """Give what the tests of all pairs need."""
        w, q = value_of(self.sizes)
        total, factors = w.sum(), np.empty(w.size)
        degrees = cluster_factors(w, q, VARIANCES[variance], factors)
        if df != "satterthwaite":
            degrees = np.inf if df == "normal" else w.size - 1.0
        scale = np.sqrt(factors)
        means = value_of(self.sums.sum(axis=1)) / total
        gram = Gram(self.n_models)
        variances, squares = np.zeros((2, self.n_models))
        step = columns_at_once(self.n_models)
        for start in range(0, w.size, step):
            part = slice(start, start + step)
            sums = value_of(self.sums[:, part]) * scale[part, None]
            residual = sums - np.outer(scale[part] * w[part], means)
            own, shared = residual[:, :-1], residual[:, -1:]
            variances += ((own + shared) ** 2).sum(axis=0)
            squares += (sums[:, :-1] ** 2).sum(axis=0)
            squares += ROUNDING * ((sums[:, :-1] + sums[:, -1:]) ** 2).sum(axis=0)
            gram.add(np.ascontiguousarray(own.T))
        return PairMoments(
            n_items=self.n_items,
            n_units=self.n_units,
            mean=self.mean(),
            variance=variances / total**2,
            covariance=gram.total / total**2,
            df=float(degrees),
            largest=float(w.max() / total),
            scale=squares / total**2,
            relative=means[:-1],
        )

    def arrays(self) -> Arrays:
        """Give the arrays by name."""
        return {"counts": self.counts, "sizes": self.sizes, "sums": self.sums}

    @classmethod
    def restore(cls, m: int, arrays: Arrays, settings: dict[str, Any]) -> Self:
        """Make moments of saved arrays."""
        ids = saved_labels(settings, "ids") or ()
        g = len(ids)
        return cls(
            ids,
            stored(arrays, "counts", (g,)),
            stored(arrays, "sizes", (2, 2, g), np.float64),
            stored(arrays, "sums", (2, g, m + 1), np.float64),
        )

    def check(self) -> None:
        """Refuse moments to which no values can have led."""
        require(_in_order(self.ids) == self.ids, "ids must ascend")
        check_within(self.counts, 1, LARGEST_COUNT)
        for name in ("sizes", "sums"):
            require(np.isfinite(getattr(self, name)).all(), f"{name} must be finite")
        require((self.sizes[0] >= 0).all(), "sizes must not be negative")
        weighty = self.sizes[0] > 0
        require((weighty[0] == weighty[1]).all(), "sizes must fit each other")


def _in_order(ids: Iterable[Any]) -> tuple[Any, ...]:
    """Sort names of clusters, which must be of one kind."""
    try:
        return tuple(sorted(ids))
    except TypeError:
        kinds = sorted({type(name).__name__ for name in ids})
        message = f"groups must be of one kind in all blocks, got {' and '.join(kinds)}"
        raise TypeError(message) from None
