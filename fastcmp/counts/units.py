"""Units of resampling, clusters or items: their sums, sizes and signs.

Everything here depends on which items belong together, and on no value.

A unit has the size w, the sum of the weights of its items, and q, the sum of their
squares; without weights both are the number of its items.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import ThreadPool, check_draws, parts
from fastcmp.core.typing import Floats, Ints, Numbers
from fastcmp.inputs.item_groups import ItemGroups
from fastcmp.kernels.cluster_means import CR0, CR1, CR2, CR3, cluster_factors
from fastcmp.kernels.sign_flips import flip_sums, random_signs

VARIANCES = {"cr0": CR0, "cr1": CR1, "cr2": CR2, "cr3": CR3}
#: The factor of each of n items that are units alone.
_ITEM_FACTORS: dict[int, Callable[[Any], Any]] = {
    CR0: lambda n: n / n,
    CR1: lambda n: n / (n - 1.0),
    CR2: lambda n: n / (n - 1.0),
    CR3: lambda n: (n / (n - 1.0)) ** 2,
}
DEGREES = ("satterthwaite", "clusters", "normal")


def item_factor(variance: str | None, n: Numbers) -> Any:
    """What the squared residual of each of n items counts."""
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
            units = np.arange(stratum.sizes.size)
            units = units if stratum.units is None else stratum.units
            codes[slice(None) if stratum.items is None else stratum.items] = units + where.start
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
        """The degrees of freedom where they depend on the variances v.

        `total` and `squares` are the sums over strata of v and of v**2 / df.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = total * total / squares
        return np.asarray(np.where(total > 0, degrees, self.shared_degrees))


def plan_units(
    groups: ItemGroups, variance: str | None = None, df: str = "satterthwaite"
) -> UnitPlan:
    """The units of items; `variance` None is CR2, or CR1 across strata."""
    if groups.crossed:
        if variance not in (None, "cr1"):
            raise BadValueError(
                f"`variance={variance!r}` needs clusters that lie within strata: those across "
                "strata have `variance='cr1'` only"
            )
        return _across(groups, df)
    variance = variance or "cr2"
    if groups.plain:
        return _plan_items(groups.n_items, variance, df)
    code = VARIANCES[variance]
    strata, clusters = groups.strata, groups.clusters
    lists: list[Ints | None] = [None]
    if strata is not None:
        order = np.argsort(strata.codes, kind="stable")
        ends = np.cumsum(np.bincount(strata.codes))
        lists = list(np.split(order, ends[:-1]))
    planned = []
    for items, weight in zip(lists, groups.stratum_weights, strict=True):
        units = None if clusters is None else clusters.codes
        weights = groups.weights
        if items is not None:
            units = None if units is None else units[items]
            weights = None if weights is None else weights[items]
            if units is not None:
                units = np.unique(units, return_inverse=True)[1].reshape(-1)
        if units is None and weights is None:
            assert items is not None
            alike = _plan_items(items.size, variance, df).strata[0]
            planned.append(alike._replace(items=items, scale=float(weight) / items.size))
            continue
        if units is None:
            assert weights is not None
            sizes: Floats = weights
            square_sums: Floats = sizes * sizes
        else:
            sizes = square_sums = np.bincount(units, weights).astype(np.float64)
            if weights is not None:
                square_sums = np.asarray(np.bincount(units, weights * weights), np.float64)
        factors = np.empty(sizes.size)
        degrees = cluster_factors(sizes, square_sums, code, factors)
        if df == "clusters":
            degrees = sizes.size - 1.0
        scale = float(weight) / sizes.sum()
        planned.append(Stratum(items, units, weights, sizes, factors, degrees, scale))
    largest = _largest(groups)
    return UnitPlan(tuple(planned), None, groups.n_units, df, largest, groups.weights)


@lru_cache(maxsize=32)
def _plan_items(n: int, variance: str, df: str) -> UnitPlan:
    """Items that are units alone and count alike, in one stratum."""
    ones = np.broadcast_to(np.ones(1), n)
    same = np.broadcast_to(np.array(_ITEM_FACTORS[VARIANCES[variance]](float(n))), n)
    alone = Stratum(None, None, None, ones, same, n - 1.0, 1.0 / n)
    return UnitPlan((alone,), None, n, df, 1.0 / n, None)


def _across(groups: ItemGroups, df: str) -> UnitPlan:
    """Units: the items of a cluster in a stratum; residuals add by cluster."""
    assert groups.clusters is not None
    assert groups.strata is not None
    n_units = groups.n_units
    planned, across = [], []
    for h, weight in enumerate(groups.stratum_weights):
        items = np.flatnonzero(groups.strata.codes == h)
        clusters, units = np.unique(groups.clusters.codes[items], return_inverse=True)
        weights = None if groups.weights is None else groups.weights[items]
        sizes = np.bincount(units.reshape(-1), weights).astype(np.float64)
        factors = np.full(sizes.size, n_units / (n_units - 1.0))
        scale = float(weight) / sizes.sum()
        one = Stratum(items, units.reshape(-1), weights, sizes, factors, n_units - 1.0, scale)
        planned.append(one)
        across.append(clusters)
    return UnitPlan(
        tuple(planned), np.concatenate(across), n_units, df, _largest(groups), groups.weights
    )


def _largest(groups: ItemGroups) -> float:
    """The largest proportion of the weight that one unit has."""
    weights = groups.weights
    if groups.clusters is not None:
        sizes = np.bincount(groups.clusters.codes, weights).astype(np.float64)
    elif weights is None:
        return 1.0 / groups.n_items
    else:
        sizes = weights
    return float(sizes.max() / sizes.sum())


# Sums of the units of many models with random signs, or with all signs.


# Measured: tables of signs are paid back by some thousand draws, and columns of models
# are summed 40 at a time.
_DRAWS, _COLUMNS, _WORDS = 4096, 40, 256


class SignDraws(NamedTuple):
    """Which signs are drawn."""

    n_draws: int
    seed: int
    #: The draws are all signs.
    complete: bool

    @classmethod
    def of(cls, n_units: int, most: int, n_resamples: int, seed: int) -> SignDraws:
        """Drawn signs of units, or all where these are no more than `most`."""
        complete = n_units < 30 and 2**n_units <= max(most, n_resamples)
        return cls(2**n_units if complete else n_resamples, seed, complete)

    def words(self, draws: slice, units: slice, start: int) -> NDArray[np.uint64]:
        """The signs of some units in some draws; word `start` is their first."""
        n_words = -(-(units.stop - units.start) // 64)
        if self.complete:
            numbers = np.arange(draws.start, draws.stop, dtype=np.uint64)
            return (numbers >> np.uint64(units.start))[None]
        words = np.empty((n_words, draws.stop - draws.start), np.uint64)
        random_signs(self.seed, draws.start, start, words)
        return words


def signed_sums(
    rows: Floats, units: slice, start: int, signs: SignDraws, pool: ThreadPool
) -> Floats:
    """Sums of rows over some units with the signs of each draw, shape (K, R)."""
    n_rows = len(rows)
    check_draws(signs.n_draws, n_rows)
    out = np.empty((n_rows, signs.n_draws))
    n_parts = -(-signs.n_draws // _DRAWS)
    # In eights, as they are summed.
    n_columns = -(-n_rows // (8 * -(-n_rows // _COLUMNS))) * 8
    tasks = product(parts(n_rows, n_columns), parts(signs.n_draws, -(-signs.n_draws // n_parts)))

    def work(task: tuple[slice, slice]) -> None:
        models, draws = task
        sums = np.zeros((models.stop - models.start, draws.stop - draws.start))
        part_sums = np.empty_like(sums)
        for part in parts(units.stop - units.start, 64 * _WORDS):
            columns = slice(units.start + part.start, units.start + part.stop)
            words = signs.words(draws, columns, start + part.start // 64)
            flip_sums(np.ascontiguousarray(rows[models, columns].T), words, part_sums)
            sums += part_sums
        out[models, draws] = sums

    pool.run(work, tasks, steps=0)
    return out


# Sizes of units, clusters or items, as sums: degrees of freedom follow from these.


#: Variances for which these sums suffice.
SUMMED = ("cr0", "cr1")
_ALIKE = 1e-13  # relative: a coefficient of variation of 3e-7


class SizeSums(NamedTuple):
    """Sums over units."""

    w: float
    q: float
    ww: float
    qw: float
    qq: float
    qww: float
    qqw: float


def sum_sizes(w: Floats, q: Floats) -> SizeSums:
    """Sums of the sizes of units, shape (G,) each."""
    products = ((w, w), (q, w), (q, q), (q * w, w), (q * q, w))
    return SizeSums(float(w.sum()), float(q.sum()), *(float(x @ y) for x, y in products))


def are_alike(n_units: int, sums: SizeSums) -> bool:
    """Whether all units are of one size."""
    pairs = ((sums.ww, sums.w), (sums.qq, sums.q))
    return all(
        bool(np.isclose(n_units * square, total**2, rtol=_ALIKE, atol=0.0))
        for square, total in pairs
    )


def degrees_of_freedom(df: str, n_units: int, sums: SizeSums) -> float:
    """The degrees of freedom; exactly G - 1 where units are of one size."""
    if df == "normal":
        return float("inf")
    if df == "clusters" or are_alike(n_units, sums):
        return n_units - 1.0
    # Of CR0 and CR1, as if items were independent: (tr P)**2 / tr(P**2) with
    # P_gh = q_g [g=h] - (q_g w_h + q_h w_g) / W + w_g w_h Q / W**2, a diagonal matrix
    # and one of rank 2.
    w, q, ww, qw, qq, qww, qqw = sums
    trace = q - 2 * qw / w + ww * q / w**2
    squares = (
        qq
        - 4 * qqw / w
        + 2 * qww * q / w**2
        + 2 * (qw**2 + qq * ww) / w**2
        - 4 * qw * ww * q / w**3
        + (ww * q / w**2) ** 2
    )
    return trace**2 / squares


# Sums of values over units: clusters of items, or the items themselves.


class UnitSums(NamedTuple):
    """What is resampled as a whole: G units in strata, with the sums of M models.

    The mean of a model is the sum over strata h of ``weights[h]`` times the sum of its
    values there, divided by the size of the stratum.
    """

    #: Weighted sum of the values of each model over the items of each unit, as they
    #: came: whole numbers where these are, shape (M, G).
    sums: Floats
    #: Sum of the weights of the items of each unit, shape (G,); 1 for an item alone.
    sizes: Floats
    #: Stratum of each unit, ascending from 0, shape (G,).
    strata: Ints
    #: Of the strata, which add up to 1, shape (H,).
    weights: Floats
    #: To which their values were rounded before, in proportion: single or double precision.
    rounding: float = 2.0**-52
