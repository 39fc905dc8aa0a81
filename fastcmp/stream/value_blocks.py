"""A block of values per item: read, checked, and cut into units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_numbers
from fastcmp.core.render import visible
from fastcmp.core.threads import parts
from fastcmp.inputs.columns import read_column
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns
from fastcmp.inputs.values import as_values
from fastcmp.stream.accumulator import ordered_columns

Floats = NDArray[np.float64]

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
    order: NDArray[np.int64] | None
    #: Where each unit begins in this order, and the end, (U + 1,); None for items.
    edges: NDArray[np.int64] | None
    #: Clusters by name, shape (U,); empty for items.
    ids: tuple[Any, ...]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.rows[0].size

    def sizes(self) -> tuple[Floats, Floats]:
        """Sum weights, and their squares, over each unit."""
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
        """Sum the values of each model, by weights, shape (M,)."""
        if self.weights is None:
            return np.array([row.sum(dtype=np.float64) for row in self.rows])
        return np.array([row @ self.weights for row in self.rows])

    def unit_sums(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Sum values over units, some of them at a time.

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
        """Sum over clusters; a cluster may have more items than `step`."""
        edges = self.edges[units.start : units.stop + 1]  # type: ignore[index]
        own, common = (np.zeros((len(self.rows), edges.size - 1)), np.zeros(edges.size - 1))
        for start in range(edges[0], edges[-1], step):
            stop = min(start + step, edges[-1])
            values, shared = self._values(slice(start, stop))
            low = np.searchsorted(edges, start, "right") - 1
            high = np.searchsorted(edges, stop, "left")
            starts = np.maximum(edges[low:high] - start, 0)
            own[:, low:high] += np.add.reduceat(values, starts, axis=1)
            common[low:high] += np.add.reduceat(shared, starts)
        return own, common

    def _values(self, part: slice) -> tuple[Floats, Floats]:
        """Split values times weights into what is a model's own, and the rest.

        The rest is the mean over the models in 24 bits: sums of whole numbers stay
        exact, and differences of models lose no digits to what all have in common.
        """
        where: Any = part if self.order is None else self.order[part]
        own = np.empty((len(self.rows), part.stop - part.start))
        for i, row in enumerate(self.rows):
            own[i] = row[where]
        mean = own.mean(axis=0)
        with np.errstate(over="ignore"):
            common = mean.astype(np.float32).astype(np.float64)
        common = np.where(np.isfinite(common), common, mean)
        own -= common
        if self.weights is not None:
            weights = self.weights[where]
            own *= weights
            common *= weights
        return own, common


def columns_at_once(m: int) -> int:
    """Choose how many items, or units, of m models are worked on at once."""
    return max(_LEAST, _CHUNK // max(1, m))


def read_values(
    values: Any, groups: Any, weights: Any, names: tuple[str, ...] | None
) -> ValueBlock:
    """Read a block; the models come in the order of `names`."""
    if getattr(values, "ndim", 2) == 3:  # one row of repeats an item
        values = list(np.asanyarray(values))
    listed = named_columns(values, "values")
    named = ordered_columns(listed, names, "values", by_name=has_names(values))
    rows = tuple(_as_values(raw, visible(name)) for name, raw in named.items())
    n = rows[0].size
    for name, row in zip(named, rows, strict=True):
        if row.size != n:
            raise ValueError(
                f"{visible(name)} has {row.size} values, {visible(next(iter(named)))} "
                f"has {n}; models come first: pass values.T"
            )
    others = [("groups", groups), ("weights", weights)]
    check_indexes([*listed, *((name, raw) for name, raw in others if raw is not None)])
    order = edges = None
    ids: tuple[Any, ...] = ()
    if groups is not None:
        order, edges, ids = _by_group(groups, n)
    return ValueBlock(
        names=tuple(named),
        rows=rows,
        weights=None if weights is None else _as_weights(weights, n),
        order=order,
        edges=edges,
        ids=ids,
    )


def _as_values(raw: Any, name: str) -> NDArray[Any]:
    """Read the values of one model; repeats of an item are averaged."""
    if np.ndim(raw) == 2:
        raw = np.ma.filled(np.ma.asanyarray(raw).astype(np.float64), np.nan).mean(axis=1)
    array = as_values(raw, name)
    if array.dtype.kind == "f" and not np.isfinite(array.sum(dtype=np.float64)):
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise ValueError(
                f"{name} has {array[bad[0]]} for item {bad[0]} ({bad.size} of "
                f"{array.size} items): values must be finite numbers; leave out items "
                "that a model lacks"
            )
    return array


def _as_weights(raw: Any, n: int) -> Floats:
    weights = as_numbers(raw, "weights").astype(np.float64)
    if weights.shape != (n,):
        raise ValueError(f"weights must be of shape ({n},), got {weights.shape}")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise ValueError(
            f"weights must be finite and >= 0, got {weights[bad][0]} for item "
            f"{np.flatnonzero(bad)[0]}"
        )
    return weights


def _by_group(
    raw: Any, n: int
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64], tuple[Any, ...]]:
    """Order items by their groups; give where each begins, and their names."""
    column = read_column(raw, "groups")
    if len(column) != n:
        raise ValueError(f"groups has {len(column)} entries, values have {n} items")
    if (absent := column.missing()) is not None:
        items = np.flatnonzero(absent)
        raise ValueError(
            f"groups has no entry for {items.size} items, such as "
            f"{items[:3].tolist()}: every item must have a group"
        )
    column.kind()  # refuses labels of several kinds
    column = column.factorized()
    codes = column.positions().astype(np.int64)
    order = None
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    ids = tuple(column.distinct[code] for code in codes[starts])
    return order, np.append(starts, n), ids
