"""Sums kept for each cluster: clusters may be split, and every variance is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import LARGEST_COUNT
from fastcmp.core.exact_sums import add, exact, value_of
from fastcmp.counts.item_units import VARIANCES
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.unit_sums import UnitSums
from fastcmp.kernels.cluster_means import cluster_factors
from fastcmp.stream.saved_checks import State, check_within, kept, require, summed
from fastcmp.stream.unit_moments import ROUNDING, Gram
from fastcmp.stream.value_blocks import ValueBlock, columns_at_once

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterMoments(State):
    """Sizes and sums of G clusters."""

    #: Names of the clusters, in order.
    ids: tuple[Any, ...]
    #: Items of each, shape (G,).
    counts: Annotated[NDArray[np.int64], summed("g")]
    #: Exact sums of weights, and of their squares, shape (2, 2, G).
    sizes: Annotated[Floats, kept(2, 2, "g", dtype=np.float64)]
    #: Exact sums of the values of each model without what the models have in common on
    #: an item, and of this, shape (2, G, M + 1).
    sums: Annotated[Floats, kept(2, "g", "n_sums", dtype=np.float64)]

    @classmethod
    def empty(cls, m: int) -> Self:
        """Make the moments of no items."""
        return cls.begin({"g": 0, "n_sums": m + 1}, ids=())

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
        counts, sizes = one.counts + two.counts, add(one.sizes, two.sizes)
        return type(self)(ids, counts, sizes, add(one.sums, two.sums))

    def _placed(self, ids: tuple[Any, ...]) -> Self:
        """Put clusters in their places among more of them."""
        if ids == self.ids:
            return self
        place_of = {name: i for i, name in enumerate(ids)}
        place = np.fromiter((place_of[name] for name in self.ids), np.int64)
        made = self.begin({"g": len(ids), "n_sums": self.n_models + 1}, ids=ids)
        made.counts[place], made.sizes[:, :, place] = self.counts, self.sizes
        made.sums[:, place] = self.sums
        return made

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
        raise TypeError(
            f"groups must be of one kind in all blocks, got {' and '.join(kinds)}"
        ) from None
