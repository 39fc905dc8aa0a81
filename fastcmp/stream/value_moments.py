"""Means and covariances of values per item, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import LARGEST_COUNT, as_weights, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import add, exact, value_of
from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.core.threads import check_workers, parts
from fastcmp.core.typing import ColumnLike, Floats, Ints, ModelsLike
from fastcmp.counts.units import (
    DEGREES,
    SUMMED,
    VARIANCES,
    SizeSums,
    UnitSums,
    are_alike,
    degrees_of_freedom,
    sum_sizes,
)
from fastcmp.counts.value_sums import PairMoments
from fastcmp.inputs.columns import read_column
from fastcmp.inputs.model_names import check_indexes, ordered_columns
from fastcmp.inputs.values import as_values
from fastcmp.kernels.cluster_means import cluster_factors
from fastcmp.stream.accumulator import (
    LABELS,
    NAMES,
    Accumulator,
    Arrays,
    State,
    check_names,
    check_within,
    custom,
    require,
    summed,
)

_CHUNK = 1 << 18  # values that are worked on at once: 2 MB, as the cache holds
_LEAST = 1 << 11  # items: products of fewer columns are slower


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBlock:
    """Values of M models for b items, in U units: clusters, or the items themselves."""

    names: tuple[str, ...]
    #: One array a model, of the type it came in, shape (b,).
    rows: tuple[NDArray[Any], ...]
    #: Of the items; None where all are 1.
    weights: Floats | None
    #: Items by clusters; None where the items are the units, or come in this order.
    order: Ints | None
    #: Where each unit begins in this order, and the end, (U + 1,); None for items.
    edges: Ints | None
    #: Clusters by name, shape (U,); empty for items.
    ids: tuple[Any, ...]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.rows[0].size

    def sizes(self) -> tuple[Floats, Floats]:
        """Sums of weights, and of their squares, over each unit."""
        if self.edges is None:
            w = np.ones(self.n_items) if self.weights is None else self.weights
            return w, w * w
        if self.weights is None:
            n = np.diff(self.edges).astype(np.float64)
            return n, n
        weights = self.weights if self.order is None else self.weights[self.order]
        starts = self.edges[:-1]
        return np.add.reduceat(weights, starts), np.add.reduceat(weights**2, starts)

    def totals(self) -> Floats:
        """Weighted sums of the values of each model, shape (M,)."""
        if self.weights is None:
            return np.array([row.sum(dtype=np.float64) for row in self.rows])
        return np.array([row @ self.weights for row in self.rows])

    def unit_sums(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Sums of values over units, some of them at a time.

        Gives which units; for each model the sum of its values without what the models
        have in common on an item, shape (M, u); and the sum of this, shape (u,).
        """
        step = columns_at_once(len(self.rows))
        if self.edges is None:
            for part in parts(self.n_items, step):
                yield part, *self._values(part)
            return
        first, n_units = 0, self.edges.size - 1
        while first < n_units:
            fitting = np.searchsorted(self.edges, self.edges[first] + step, "right") - 1
            last = max(first + 1, int(fitting))
            yield slice(first, last), *self._summed(slice(first, last), step)
            first = last

    def _summed(self, units: slice, step: int) -> tuple[Floats, Floats]:
        """Sums over clusters; a cluster may have more items than `step`."""
        edges = self.edges[units.start : units.stop + 1]  # type: ignore[index]
        sums, common = (np.zeros((len(self.rows), edges.size - 1)), np.zeros(edges.size - 1))
        for start in range(edges[0], edges[-1], step):
            stop = min(start + step, edges[-1])
            values, shared = self._values(slice(start, stop))
            low = np.searchsorted(edges, start, "right") - 1
            high = np.searchsorted(edges, stop, "left")
            starts = np.maximum(edges[low:high] - start, 0)
            sums[:, low:high] += np.add.reduceat(values, starts, axis=1)
            common[low:high] += np.add.reduceat(shared, starts)
        return sums, common

    def _values(self, part: slice) -> tuple[Floats, Floats]:
        """Values times weights, split into each model's residual and what models have in common.

        The rest is the mean over the models in 24 bits: sums of whole numbers stay
        exact, and differences of models lose no digits to what all have in common.
        """
        where = part if self.order is None else self.order[part]
        residual = np.empty((len(self.rows), part.stop - part.start))
        for i, row in enumerate(self.rows):
            residual[i] = row[where]
        mean = residual.mean(axis=0)
        with np.errstate(over="ignore"):
            common = mean.astype(np.float32).astype(np.float64)
        common = np.where(np.isfinite(common), common, mean)
        residual -= common
        if self.weights is not None:
            weights = self.weights[where]
            residual *= weights
            common *= weights
        return residual, common


def columns_at_once(m: int) -> int:
    """How many items, or units, of m models are worked on at once."""
    return max(_LEAST, _CHUNK // max(1, m))


def read_values(
    values: object, groups: object, weights: object, names: tuple[str, ...] | None
) -> ValueBlock:
    """Read a block; the models come in the order of `names`."""
    if getattr(values, "ndim", 2) == 3:  # one row of repeats an item
        values = list(np.asanyarray(values))
    named = ordered_columns(values, names, "values")
    rows = tuple(_as_values(raw, visible(name)) for name, raw in named.items())
    n = rows[0].size
    for name, row in zip(named, rows, strict=True):
        if row.size != n:
            raise BadValueError(
                f"{visible(name)} has {row.size} values, {visible(next(iter(named)))} "
                f"has {n}; models come first: pass values.T",
                argument="values",
            )
    others = [("groups", groups), ("weights", weights)]
    check_indexes([*named.items(), *((name, raw) for name, raw in others if raw is not None)])
    if weights is not None:
        weights = as_weights(weights, "weights", n)
    order = edges = None
    ids: tuple[Any, ...] = ()
    if groups is not None:
        column = read_column(groups, "groups")
        if len(column) != n:
            raise BadValueError(f"`groups` has {len(column)} entries, values have {n} items")
        column.refuse_missing(
            "`{name}` has no entry for {n} items, such as [{rows}]: every item must have a group"
        )
        column.kind()  # refuses labels of several kinds
        column = column.trimmed()
        ids, codes = column.distinct, column.positions().astype(np.int64)
        if (codes[1:] < codes[:-1]).any():
            order = np.argsort(codes, kind="stable")
            codes = codes[order]
        edges = np.append(np.flatnonzero(np.diff(codes, prepend=-1)), n)
    return ValueBlock(
        names=tuple(named), rows=rows, weights=weights, order=order, edges=edges, ids=ids
    )


def _as_values(raw: Any, name: str) -> NDArray[Any]:
    """Read the values of one model; repeats of an item are averaged."""
    if np.ndim(raw) == 2:
        raw = np.ma.filled(np.ma.asanyarray(raw).astype(np.float64), np.nan).mean(axis=1)
    array = as_values(raw, name)
    if array.dtype.kind == "f" and not np.isfinite(array.sum(dtype=np.float64)):
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise BadValueError(
                f"{name} has {array[bad[0]]} for item {{row}} ({bad.size}{{among}}): values "
                "must be finite numbers; leave out items that a model lacks",
                argument="values",
                row=int(bad[0]),
                among=f" of {array.size} items",
            )
    return array


# Sums over units, items or whole clusters, that add up: no unit is kept.


_N_SIZES = len(SizeSums._fields)
#: What rounding of the values themselves may leave: (8 eps)**2 / 1e-12.
ROUNDING = (8 * np.finfo(np.float64).eps) ** 2 / 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class _Moments(State):
    """What the moments of items, and those of clusters, have in common."""

    names: Annotated[tuple[str, ...] | None, NAMES] = None
    #: Names of the clusters, in order; empty where only sums over units are kept.
    ids: Annotated[tuple[Any, ...], LABELS] = ()

    @classmethod
    def empty(cls, names: tuple[str, ...] | None, ids: tuple[Any, ...] = ()) -> Self:
        """The moments of no items."""
        return cls.begin(cls.lengths(names, ids), names=names, ids=ids)

    @staticmethod
    def lengths(names: tuple[str, ...] | None, ids: tuple[Any, ...]) -> dict[str, int]:
        """Sizes by which the arrays are declared."""
        m = len(names or ())
        return {"m": m, "m + 1": m + 1, "n_sums": _N_SIZES + 3 * m, "g": len(ids)}


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitMoments(_Moments):
    """Sizes, sums, and scatter about the centre of units.

    For unit u with size w_u and sums s_u the scatter is K = sum z z', z = s_u - w_u c,
    about the centre c = sum w_u s_u / sum w_u**2: the mean, where units are items. So
    K is of full precision, and merges as in Chan, Golub and LeVeque (1983), with
    weights w_u**2.
    """

    #: Items, and units.
    counts: Annotated[Ints, custom(2)]
    #: Exact sums, shape (2, 7 + 3 M): sizes, then three numbers a model: the sum of its
    #: values; of these without what models share on an item; its own scatter, with it.
    sums: Annotated[Floats, custom(2, "n_sums", dtype=np.float64)]
    #: Exact sum: K of the values without what models share, shape (2, M, M).
    scatter: Annotated[Floats, custom(2, "m", "m", dtype=np.float64, form="symmetric")]
    #: c of the values, and of those without what models share, shape (2, M).
    centres: Annotated[Floats, custom(2, "m", dtype=np.float64)]
    #: The largest w_u, shape (1,).
    largest: Annotated[Floats, custom(1, dtype=np.float64)]

    @classmethod
    def of_block(cls, block: ValueBlock) -> Self:
        """The moments of a block."""
        w, q = block.sizes()
        counts = np.array([block.n_items, w.size], np.int64)
        if not w.any():
            return replace(cls.empty(block.names), counts=counts)
        totals, weight = block.totals(), w.sum()
        pilot = totals / weight
        pilots = np.stack([pilot, pilot - pilot.mean()])
        # Products about the pilots, and what tells how far these are off: sums of
        # w_u z_u, squares of the values, and sums without what models share.
        m = len(block.rows)
        gram, offsets, alone, over = np.zeros((m, m)), np.zeros((2, m)), np.zeros(m), np.zeros(m)
        for units, centred, common in block.unit_sums():
            size, away = w[units], pilots[:, :, None]
            if block.weights is not None or block.edges is not None:
                away = away * size
            raw = centred + common
            raw -= away[0]
            np.subtract(centred, away[1], out=centred)
            offsets += np.stack([raw @ size, centred @ size])
            alone += np.einsum("ij,ij->i", raw, raw)
            over += centred.sum(axis=1)
            gram += centred @ centred.T  # by NumPy's BLAS: threads of SciPy's would wait for it
        ww = w @ w
        shifts = offsets / ww  # from the pilots to the centres
        gram -= ww * np.outer(shifts[1], shifts[1])
        alone = np.maximum(alone - ww * shifts[0] ** 2, 0.0)
        over += weight * pilots[1]
        return cls(
            names=block.names,
            counts=counts,
            sums=exact(np.concatenate([sum_sizes(w, q), totals, over, alone])),
            scatter=exact(gram),
            centres=pilots + shifts,
            largest=np.array([w.max()]),
        )

    def plus(self, other: Self) -> Self:
        """Merge; commutes to the bit."""
        if not self.has_weight or not other.has_weight:
            filled, none = (self, other) if self.has_weight else (other, self)
            return replace(filled, counts=filled.counts + none.counts)
        one, two = self.size_sums().ww, other.size_sums().ww
        between = one * two / (one + two)
        shift = self.centres - other.centres
        sums = add(self.sums, other.sums)
        m = len(self.names or ())
        sums[:, -m:] = add(sums[:, -m:].copy(), exact(between * shift[0] ** 2))
        scatter = add(self.scatter, other.scatter)
        scatter = add(scatter, exact(between * np.outer(shift[1], shift[1])))
        return replace(
            self,
            counts=self.counts + other.counts,
            sums=sums,
            scatter=scatter,
            centres=(one * self.centres + two * other.centres) / (one + two),
            largest=np.maximum(self.largest, other.largest),
        )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.counts[0])

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.counts[1])

    @property
    def has_weight(self) -> bool:
        """Whether any unit has a weight above 0."""
        return bool(self.sums[0, 0] > 0)

    def knows_all(self) -> bool:
        """Whether all variances follow from the sums: units are of one size."""
        return not self.has_weight or are_alike(self.n_units, self.size_sums())

    def size_sums(self) -> SizeSums:
        """The sums of sizes."""
        return SizeSums(*value_of(self.sums)[:_N_SIZES].tolist())

    def mean(self) -> Floats:
        """The mean of each model, shape (M,)."""
        return np.asarray(self._of_models()[0] / self.size_sums().w)

    def pair_moments(self, variance: str, df: str) -> PairMoments:
        """What the tests of all pairs need."""
        sizes, n = self.size_sums(), self.n_units
        if variance not in SUMMED and not self.knows_all():
            raise BadValueError(
                f"`variance` must be one of {SUMMED} where only sums over units are kept",
                repr(variance),
                ": keep them by cluster, ValueMoments(`groups='ids'`)",
            )
        power = {"cr0": 0, "cr1": 1, "cr2": 1, "cr3": 2}[variance]
        factor = (n / (n - 1)) ** power / sizes.w**2
        totals, over, squares_of_models = self._of_models()
        means = np.stack([totals, over]) / sizes.w
        apart = self.centres - means
        scatter = value_of(self.scatter)
        scatter += sizes.ww * np.outer(apart[1], apart[1])
        squares_of_models = squares_of_models + sizes.ww * apart[0] ** 2
        # Squares about 0: about the centre, and that of the centre.
        squares = value_of(self.scatter).diagonal() + sizes.ww * self.centres[1] ** 2
        squares += ROUNDING * (squares_of_models + sizes.ww * self.centres[0] ** 2)
        return PairMoments(
            n_items=self.n_items,
            n_units=n,
            mean=means[0],
            variance=squares_of_models * factor,
            covariance=scatter * factor,
            df=degrees_of_freedom(df, n, sizes),
            largest=float(self.largest[0] / sizes.w),
            scale=squares * factor,
            relative=means[1],
        )

    def check(self) -> None:
        """Refuse moments to which no values can have led."""
        n_items, n_units = self.counts.tolist()
        possible = 0 <= n_units <= n_items <= LARGEST_COUNT
        require(possible, "counts must be of items and of units")
        require(not self.ids, "ids are not kept")
        arrays = {name: getattr(self, name) for name in self._declared}
        for name, array in arrays.items():
            require(np.isfinite(array).all(), f"{name} must be finite")
        sizes = self.size_sums()
        w = sizes.w
        if not self.has_weight:
            del arrays["counts"]
            require(not any(x.any() for x in arrays.values()), "there are no weights")
            return
        require(min(sizes) > 0, "sizes must be positive")
        require(0 < self.largest[0] <= w * (1 + 1e-9), "largest must fit the sizes")
        fits = sizes.ww <= w * w * (1 + 1e-9) <= n_units * sizes.ww * (1 + 2e-9)
        require(fits, "sizes must fit each other")
        require((self._of_models()[2] >= 0).all(), "scatter must not be negative")
        spread = np.sqrt(np.maximum(self.scatter[0].diagonal(), 0))
        most = np.outer(spread, spread) * (1 + 1e-9)
        # Of one item, or of equal ones, nothing but rounding may be left.
        slack = 1e-9 * spread.max(initial=0) ** 2
        slack += 1e-12 * sizes.ww * np.square(self.centres[1]).max(initial=0)
        near = np.abs(self.scatter[0]) <= most + slack
        require(near.all(), "scatter must be that of products of values")

    def _of_models(self) -> Floats:
        return np.asarray(value_of(self.sums)[_N_SIZES:].reshape(3, -1))


# Sums kept for each cluster: clusters may be split, and every variance is known.


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterMoments(_Moments):
    """Sizes and sums of G clusters."""

    #: Items of each, shape (G,).
    counts: Annotated[Ints, summed("g")]
    #: Exact sums of weights, and of their squares, shape (2, 2, G).
    sizes: Annotated[Floats, custom(2, 2, "g", dtype=np.float64)]
    #: Exact sums of the values of each model without what the models have in common on
    #: an item, and of this, shape (2, G, M + 1).
    sums: Annotated[Floats, custom(2, "g", "m + 1", dtype=np.float64)]

    @classmethod
    def of_block(cls, block: ValueBlock) -> Self:
        """The moments of a block."""
        sums = np.empty((len(block.ids), len(block.rows) + 1))
        for units, values, common in block.unit_sums():
            sums[units, :-1], sums[units, -1] = values.T, common
        edges: Any = block.edges
        moments = cls(
            names=block.names,
            ids=block.ids,
            counts=np.diff(edges),
            sizes=exact(np.stack(block.sizes())),
            sums=exact(sums),
        )
        return moments._placed(_in_order(block.ids))

    def plus(self, other: Self) -> Self:
        """Merge by the names of clusters; commutes to the bit."""
        ids = _in_order({*self.ids, *other.ids})
        one, two = self._placed(ids), other._placed(ids)
        counts, sizes = one.counts + two.counts, add(one.sizes, two.sizes)
        return replace(one, counts=counts, sizes=sizes, sums=add(one.sums, two.sums))

    def _placed(self, ids: tuple[Any, ...]) -> Self:
        """Moments with the clusters in their places among more of them."""
        if ids == self.ids:
            return self
        place_of = {name: i for i, name in enumerate(ids)}
        place = np.fromiter((place_of[name] for name in self.ids), np.int64)
        moments = self.empty(self.names, ids)
        moments.counts[place], moments.sizes[:, :, place] = self.counts, self.sizes
        moments.sums[:, place] = self.sums
        return moments

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
        """Whether all variances follow from the sums: of clusters they do."""
        return True

    def mean(self) -> Floats:
        """The mean of each model, shape (M,)."""
        total = value_of(self.sums.sum(axis=1))
        return np.asarray((total[:-1] + total[-1]) / value_of(self.sizes)[0].sum())

    def unit_sums(self) -> UnitSums:
        """What is resampled: the clusters with their sums."""
        w, _ = value_of(self.sizes)
        sums = value_of(self.sums)
        whole = np.ascontiguousarray((sums[:, :-1] + sums[:, -1:]).T)
        return UnitSums(whole, w, np.zeros(w.size, np.int64), np.ones(1))

    def pair_moments(self, variance: str, df: str) -> PairMoments:
        """What the tests of all pairs need."""
        w, q = value_of(self.sizes)
        total, factors = w.sum(), np.empty(w.size)
        degrees = cluster_factors(w, q, VARIANCES[variance], factors)
        if df != "satterthwaite":
            degrees = np.inf if df == "normal" else w.size - 1.0
        scale = np.sqrt(factors)
        means = value_of(self.sums.sum(axis=1)) / total
        m = len(self.names or ())
        gram = np.zeros((m, m))
        variances, squares = np.zeros((2, m))
        step = columns_at_once(m)
        for start in range(0, w.size, step):
            part = slice(start, start + step)
            sums = value_of(self.sums[:, part]) * scale[part, None]
            residual = sums - np.outer(scale[part] * w[part], means)
            of_models, shared = residual[:, :-1], residual[:, -1:]
            variances += ((of_models + shared) ** 2).sum(axis=0)
            squares += (sums[:, :-1] ** 2).sum(axis=0)
            squares += ROUNDING * ((sums[:, :-1] + sums[:, -1:]) ** 2).sum(axis=0)
            of_models = np.ascontiguousarray(of_models.T)
            gram += of_models @ of_models.T
        return PairMoments(
            n_items=self.n_items,
            n_units=self.n_units,
            mean=self.mean(),
            variance=variances / total**2,
            covariance=gram / total**2,
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
    """Names of clusters, ascending; they must be of one kind."""
    try:
        return tuple(sorted(ids))
    except TypeError:
        kinds = sorted({type(name).__name__ for name in ids})
        raise BadTypeError(
            "`groups` must be of one kind in all blocks", " and ".join(kinds)
        ) from None


# The accumulator.


_GROUPS = (None, "whole", "ids")


class ValueMoments(Accumulator):
    """Means of values per item, and the covariances of all pairs of models.

    From this `compare_means` tests all pairs. Give blocks of items to
    `update`; combine parts, which may be counted in other processes, with `merge`,
    ``+`` or ``sum``. The result is that of all items at once but for rounding.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    groups : {None, "whole", "ids"}
        What is drawn independently: items, or groups of them (clusters). "whole": no
        group is split between two blocks, and only sums over groups are kept. "ids":
        sums of each group are kept by its name, and blocks may split groups.

    Raises
    ------
    ValueError
        If names repeat, or an option is unknown.
    TypeError
        If names are not strings.

    See Also
    --------
    PairCounts : For right and wrong predictions of labels, to the last bit.
    load : Read what ``save`` wrote.

    Notes
    -----
    What is exact: without groups and with "ids", all variances (CR0 to CR3) are those
    of all items at once. With "whole" that holds for CR0 and CR1 and their degrees of
    freedom, provided that no group is split; CR2 and CR3 are refused unless all groups
    are of one size. Sums are kept in two numbers each (TwoSum), products about the mean
    of a block and merged as in [1]_: parts merged in any order agree to a few units in
    the last place.

    Before products are taken, the mean over the models is subtracted from each item.
    It changes no difference between two models.

    For M models the state takes 16 M**2 bytes whatever the number of items, with "ids"
    16 M for each group; while a block is counted as much again and some 100 MB. Large
    blocks are faster: a block of b items costs one matrix product of M**2 b.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub and R. J. LeVeque (1983). Algorithms for computing
       the sample variance: analysis and recommendations. The American Statistician 37,
       242-247.

    Examples
    --------
    >>> from fastcmp.stream import ValueMoments
    >>> moments = ValueMoments()
    >>> _ = moments.update({"a": [0.5, 1.0, 0.25], "b": [0.5, 0.5, 0.0]})
    >>> moments.update({"a": [1.0, 0.75], "b": [0.0, 1.0]})
    <ValueMoments: 5 items of 2 models>
    >>> moments.mean
    array([0.7, 0.4])
    """

    _state: UnitMoments | ClusterMoments

    def __init__(
        self, names: int | Sequence[str] | None = None, *, groups: str | None = None
    ) -> None:
        self._options = {"groups": choose(groups, "groups", _GROUPS)}
        kind = ClusterMoments if self.groups == "ids" else UnitMoments
        self._state = kind.empty(check_names(names))

    @property
    def groups(self) -> str | None:
        """What of groups is kept: None, "whole" or "ids"."""
        return self._options["groups"]  # type: ignore[no-any-return]

    @property
    def variance(self) -> str:
        """Variance by default: "cr2" where what it needs is kept, else "cr1"."""
        return "cr2" if self._state.knows_all() else "cr1"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._state.n_items

    @property
    def n_samples(self) -> int:
        """Number of items."""
        return self.n_items

    @property
    def n_missing(self) -> int:
        """Number of items dropped for missing values: none, these are refused."""
        return 0

    @property
    def n_excluded(self) -> int:
        """Number of items dropped for another reason: none."""
        return 0

    @property
    def n_units(self) -> int:
        """Number of groups, or of items where there are none."""
        return self._state.n_units

    @property
    def mean(self) -> Floats:
        """Mean of each model, by weights, shape (M,); NaN without items."""
        return self._state.mean() if self._state.has_weight else np.full(self.n_models, np.nan)

    def update(
        self,
        values: ModelsLike,
        *,
        groups: ColumnLike | None = None,
        weights: Any = None,
        workers: int | None = None,
    ) -> Self:
        """Count a block of items.

        Parameters
        ----------
        values : array-like of shape (M, n) or (M, n, R), mapping or frame
            Values of any number of items, as in `compare_means`; of R repeats an item
            the mean counts. Columns with names may come in any order, rows without
            names come in that of `names`.
        groups : array-like of shape (n,), optional
            The group of each item, where groups are counted.
        weights : array-like of shape (n,), optional
            Importance of each item, at least 0; 1 by default.
        workers : int, optional
            As in the other accumulators; here nearly all work is a product of matrices,
            which BLAS does in threads of its own.

        Returns
        -------
        ValueMoments
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ, or values are missing or
            infinite; nothing of it is counted then.
        TypeError
            If values are not numbers, or groups are missing or not expected.

        Notes
        -----
        O(M n) to read, and one matrix product of M**2 n.

        Examples
        --------
        >>> from fastcmp.stream import ValueMoments
        >>> moments = ValueMoments(2, groups="ids")
        >>> _ = moments.update([[1, 0, 1], [0, 0, 1]], groups=["x", "x", "y"])
        >>> moments.update([[1, 0], [0, 0]], groups=["z", "x"])
        <ValueMoments: 5 items in 3 groups of 2 models>
        """
        check_workers(workers)
        if (groups is None) != (self.groups is None):
            raise BadTypeError(
                "`groups` must be given where ValueMoments(`groups=...`) keeps them, and only "
                f"there: this one has `groups={self.groups!r}`"
            )
        with self._lock:
            block = read_values(values, groups, weights, self.names)
            state: Any = self._state
            self._state = state.merged(state.of_block(block))
        return self

    def pair_moments(
        self, *, variance: str | None = None, df: str = "satterthwaite"
    ) -> PairMoments:
        """The means and the covariances that t tests of all pairs need.

        Parameters
        ----------
        variance : {"cr0", "cr1", "cr2", "cr3"}, optional
            Of the mean difference, by default the attribute `variance`. For items
            without weights "cr2" and "cr1" are s**2 / n; with weights, and for "whole"
            groups that are not of one size, "cr2" needs sums by "ids".
        df : {"satterthwaite", "clusters", "normal"}
            Degrees of freedom as if items were independent (Bell and McCaffrey), or the
            number of units less one, the same where these are of one size; or infinite.

        Returns
        -------
        PairMoments
            With the variance of each mean, and of all differences.

        Raises
        ------
        ValueError
            If there are fewer than two models or units, or the variance is not known
            from what was kept.

        Examples
        --------
        >>> from fastcmp.stream import ValueMoments
        >>> moments = ValueMoments(2).update([[1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])
        >>> found = moments.pair_moments()
        >>> c = found.covariance
        >>> round(float(c[0, 0] + c[1, 1] - 2 * c[0, 1]), 12), found.df
        (0.194444444444, 2.0)
        """
        usual = "cr2" if self.groups == "ids" else "cr1"
        variance = choose(usual if variance is None else variance, "variance", VARIANCES)
        df = choose(df, "df", DEGREES)
        moments = self._filled(2)
        if (n := moments.n_units) < 2:
            what = "items" if self.groups is None else "groups"
            raise ValueError(f"ValueMoments must hold at least 2 {what}, got {n}")
        if not moments.has_weight:
            raise BadValueError("`weights` must not be 0 for all items")
        return moments.pair_moments(variance, df)

    def unit_sums(self) -> UnitSums:
        """The sums of each group, which permutations and the bootstrap need.

        Returns
        -------
        UnitSums
            Sums and sizes of groups, in the order of their names.

        Raises
        ------
        ValueError
            If groups are not kept by "ids".

        Examples
        --------
        >>> from fastcmp.stream import ValueMoments
        >>> moments = ValueMoments(1, groups="ids")
        >>> moments.update([[1, 0, 1]], groups=["y", "x", "y"]).unit_sums().sums
        array([[0., 2.]])
        """
        moments = self._filled(1)
        if not isinstance(moments, ClusterMoments):
            raise BadValueError(
                "`groups` must be kept by their names, ValueMoments(`groups='ids'`)"
            )
        return moments.unit_sums()

    def _filled(self, least: int) -> UnitMoments | ClusterMoments:
        if self.n_models < least:
            raise ValueError(f"ValueMoments must hold at least {least} models, got {self.n_models}")
        return self._state

    def _title(self) -> str:
        n, m, g = self.n_items, self.n_models, self.n_units
        title = f"ValueMoments: {n} item{'s' * (n != 1)}"
        if self.groups is not None:
            title += f" in {g} group{'s' * (g != 1)}"
        return title + (f" of {m} model{'s' * (m > 1)}" if m else "")

    def _sections(self) -> list[Section]:
        if self.names is None:
            return [Section(title=self._title())]
        errors = ["-"] * self.n_models
        if self.n_models > 1 and self.n_units > 1 and not np.isnan(self.mean[0]):
            variance = self.pair_moments().variance
            errors = [f"{error:.4g}" for error in np.sqrt(variance)]
        means = ["-" if np.isnan(x) else f"{x:.6g}" for x in self.mean]
        rows = tuple(zip(self.names, means, errors, strict=True))
        columns = ("model", "mean", "standard error")
        return [Section(title=self._title(), columns=columns, rows=rows)]

    def _sizes(self, values: dict[str, Any]) -> dict[str, Any]:
        return self._state.lengths(**values)

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        if settings["names"] is None and not arrays:  # as older files without models are
            return cls(groups=settings["groups"])
        return super()._restore(settings, arrays)
