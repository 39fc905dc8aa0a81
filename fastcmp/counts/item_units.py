"""Units of resampling, clusters or items, stratum by stratum, and what follows of them.

Everything here depends on which items belong together, and on no value.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.kernels.cluster_means import CR0, CR1, CR2, CR3, cluster_factors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.inputs.item_groups import ItemGroups

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

VARIANCES = {"cr0": CR0, "cr1": CR1, "cr2": CR2, "cr3": CR3}
#: The factor of each of n items that are units alone.
_ITEM_FACTORS: dict[int, Callable[[Any], Any]] = {
    CR0: lambda n: n / n,
    CR1: lambda n: n / (n - 1.0),
    CR2: lambda n: n / (n - 1.0),
    CR3: lambda n: (n / (n - 1.0)) ** 2,
}
DEGREES = ("satterthwaite", "clusters", "normal")


def item_factor(variance: str | None, n: Any) -> Any:
    """Give what the squared residual of each of n items counts."""
    return _ITEM_FACTORS[VARIANCES[variance or "cr2"]](n)


class Stratum(NamedTuple):
    """The units of one stratum, or of all items."""

    #: Its items, shape (n,); None for all.
    items: Ints | None
    #: The unit of each of its items, from 0; None where each item is one.
    units: Ints | None
    #: Weights of its items; None where all are 1.
    weights: Floats | None
    #: Sum of the weights of each unit, shape (G,).
    sizes: Floats
    #: What the squared residual of each unit counts, shape (G,).
    factors: Floats
    df: float
    #: Weight of the stratum divided by the sum of its sizes.
    scale: float


class UnitPlan(NamedTuple):
    """How items make up units, and these the variance of a mean."""

    strata: tuple[Stratum, ...]
    #: Where clusters lie across strata: the cluster of each pair of a cluster and a
    #: stratum, which are the units above; None elsewhere.
    across: Ints | None
    n_units: int
    #: "satterthwaite", "clusters" or "normal".
    df: str
    #: Largest proportion of the weight that one unit has.
    largest: float

    #: Weights of the items, shape (n,); None where all are 1.
    weights: Floats | None

    @property
    def places(self) -> tuple[slice, ...]:
        """Where the units of each stratum are among all, stratum by stratum."""
        ends = np.cumsum([0, *(stratum.sizes.size for stratum in self.strata)])
        return tuple(slice(int(i), int(j)) for i, j in pairwise(ends))

    @property
    def codes(self) -> Ints:
        """Unit of each item among all, stratum by stratum, shape (n,)."""
        strata = self.strata
        n = sum((x.sizes if x.units is None else x.units).size for x in strata)
        codes = np.empty(n, np.int64)
        for stratum, where in zip(strata, self.places, strict=True):
            own = np.arange(stratum.sizes.size)
            own = own if stratum.units is None else stratum.units
            codes[slice(None) if stratum.items is None else stratum.items] = own + where.start
        return codes

    @property
    def plain(self) -> bool:
        """Whether items are their own units, in one stratum and without weights."""
        one = self.strata[0]
        return len(self.strata) == 1 and one.units is None and one.weights is None

    @property
    def shared_degrees(self) -> float:
        """Degrees of freedom of all pairs; without variance, those of any pair."""
        if self.df == "normal":
            return math.inf
        if self.across is not None:
            return self.n_units - 1.0
        return float(sum(stratum.df for stratum in self.strata))

    @property
    def needs_variances(self) -> bool:
        """Whether degrees of freedom depend on the variances of the strata."""
        one = len(self.strata) == 1 or self.across is not None
        return not one and self.df == "satterthwaite"

    def degrees(self, total: Floats, squares: Floats) -> Floats:
        """Give the degrees of freedom where they depend on the variances v.

        `total` and `squares` are the sums over strata of v and of v**2 / df.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            found = total * total / squares
        return np.asarray(np.where(total > 0, found, self.shared_degrees))


def plan_units(
    groups: ItemGroups, variance: str | None = None, df: str = "satterthwaite"
) -> UnitPlan:
    """Sort items into units; `variance` None is CR2, or CR1 across strata."""
    if groups.crossed:
        if variance not in (None, "cr1"):
            raise ValueError(
                f"variance={variance!r} needs clusters that lie within strata: those "
                "across strata have variance='cr1' only"
            )
        return _across(groups, df)
    code = VARIANCES[variance or "cr2"]
    strata, clusters = groups.strata, groups.clusters
    lists: list[Ints | None] = [None]
    if strata is not None:
        order = np.argsort(strata.codes, kind="stable")
        ends = np.cumsum(np.bincount(strata.codes))
        lists = list(np.split(order, ends[:-1]))
    found = []
    for items, weight in zip(lists, groups.stratum_weights, strict=True):
        own = None if clusters is None else clusters.codes
        weights = groups.weights
        if items is not None:
            own = None if own is None else own[items]
            weights = None if weights is None else weights[items]
            if own is not None:
                own = np.unique(own, return_inverse=True)[1].reshape(-1)
        n = groups.n_items if items is None else items.size
        found.append(_stratum(items, own, weights, n, code, df, float(weight)))
    largest = _largest(groups)
    return UnitPlan(tuple(found), None, groups.n_units, df, largest, groups.weights)


def _stratum(  # the items of a stratum, and how they count
    items: Ints | None,
    units: Ints | None,
    weights: Floats | None,
    n: int,
    code: int,
    df: str,
    stratum_weight: float,
) -> Stratum:
    scale = stratum_weight / n
    if units is None and weights is None:
        factor = np.array(_ITEM_FACTORS[code](float(n)))
        ones = np.broadcast_to(np.ones(1), n)
        same = np.broadcast_to(factor, n)
        return Stratum(items, None, None, ones, same, n - 1.0, scale)
    if units is None:
        assert weights is not None
        sizes: Floats = weights
        squares: Floats = sizes * sizes
    else:
        sizes = np.bincount(units, weights).astype(np.float64)
        squares = sizes
        if weights is not None:
            squares = np.asarray(np.bincount(units, weights * weights), np.float64)
    factors = np.empty(sizes.size)
    degrees = cluster_factors(sizes, squares, code, factors)
    if df == "clusters":
        degrees = sizes.size - 1.0
    scale = stratum_weight / sizes.sum()
    return Stratum(items, units, weights, sizes, factors, degrees, scale)


def _across(groups: ItemGroups, df: str) -> UnitPlan:
    """Take as units the items of a cluster in a stratum; residuals add by cluster."""
    assert groups.clusters is not None
    assert groups.strata is not None
    n_units = groups.n_units
    found, across = [], []
    for h, weight in enumerate(groups.stratum_weights):
        items = np.flatnonzero(groups.strata.codes == h)
        clusters, units = np.unique(groups.clusters.codes[items], return_inverse=True)
        weights = None if groups.weights is None else groups.weights[items]
        sizes = np.bincount(units.reshape(-1), weights).astype(np.float64)
        factors = np.full(sizes.size, n_units / (n_units - 1.0))
        scale = float(weight) / sizes.sum()
        one = Stratum(items, units.reshape(-1), weights, sizes, factors, n_units - 1.0, scale)
        found.append(one)
        across.append(clusters)
    return UnitPlan(
        tuple(found),
        np.concatenate(across),
        n_units,
        df,
        _largest(groups),
        groups.weights,
    )


def _largest(groups: ItemGroups) -> float:
    """Find the largest proportion of the weight that one unit has."""
    weights = groups.weights
    if groups.clusters is not None:
        sizes = np.bincount(groups.clusters.codes, weights).astype(np.float64)
    elif weights is None:
        return 1.0 / groups.n_items
    else:
        sizes = weights
    return float(sizes.max() / sizes.sum())
