"""Slices of the items, which may overlap, and sums over each: all pairs by one product."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.threads import check_memory
from fastcmp.core.typing import Flags, Floats, Ints, Numbers, Pairs
from fastcmp.inputs.columns import count_rows, plain_number, read_column
from fastcmp.inputs.item_groups import Grouping
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns

_ROUNDED = (64 * np.finfo(np.float64).eps) ** 2  # of squares; less may be rounding of values
_LOST = 1e-6  # of squares; less is worked out pair by pair
_WHOLE = 1 << 24  # up to it single precision holds whole numbers


class Slices(NamedTuple):
    """Slices of n items."""

    names: tuple[str, ...]
    #: Shape (S, n).
    masks: Flags


def read_slices(
    raw: Any, n: int, keep: Flags | None = None, indexed: tuple[str, Any] | None = None
) -> Slices:
    """Slices of n items, of which those of `keep` are used.

    `indexed` is the name and the value of an argument whose pandas index they must have.
    """
    named: list[tuple[str, Any]]
    if isinstance(raw, Slices):
        return raw
    if has_names(raw):
        named = named_columns(raw, "slices")
    elif isinstance(raw, (str, bytes)) or not hasattr(raw, "__len__"):
        raise BadTypeError("`slices` must be a mapping, a column of labels or masks", repr(raw))
    elif np.ndim(raw) == 2:
        named = [(f"slice_{i}", row) for i, row in enumerate(raw)]
    else:
        named = [("", raw)]
    check_size(len(named), "slices", "slice", 1)
    frame = [("slices", raw)] if hasattr(raw, "iloc") else [(k or "slices", x) for k, x in named]
    check_indexes([*([] if indexed is None else [indexed]), *frame])
    names: list[str] = []
    masks: list[Flags] = []
    for name, column in named:
        title = f"slices[{name!r}]" if name else "slices"
        if (n_entries := count_rows(column, title)) != n:
            raise BadValueError(
                f"`{title}` must have an entry for each of {n} items",
                f"{n_entries} (arrays of values have one row a model)",
            )
        if name and isinstance(column, np.ndarray) and column.dtype == np.bool_:
            names.append(name)
            masks.append(column)
            continue
        labels = read_column(column, title).factorized()
        codes = labels.positions()
        used = np.unique(codes[codes >= 0])
        values = [plain_number(labels.distinct[code]) for code in used]
        if name and (codes >= 0).all() and set(values) <= {0, 1}:
            names.append(name)
            masks.append(np.asarray(np.isin(codes, used[[bool(x) for x in values]])))
            continue
        if np.ndim(raw) == 2 and not has_names(raw):
            raise BadTypeError("`slices` of shape (S, n) must hold True and False", values[:3])
        if len(values) > max(n // 2, 10):
            raise BadValueError(
                f"`{title}` has {len(values)} labels for {n} items: a slice needs several "
                "items; bin numbers first"
            )
        # An item without a label is in no slice of this column.
        order = np.argsort([str(x) for x in values]) if _mixed(values) else np.argsort(values)
        for k in order.tolist():
            names.append(f"{name}={values[k]}" if name else str(values[k]))
            masks.append(np.asarray(codes == used[k]))
    stacked = np.stack(masks)
    if keep is not None:
        stacked = np.ascontiguousarray(stacked[:, keep])
    if len(set(names)) < len(names):
        twice = next(x for x in names if names.count(x) > 1)
        raise BadValueError(f"`slices` must have names of their own, and {twice!r} is there twice")
    empty = [x for x, mask in zip(names, stacked, strict=True) if not mask.any()]
    if empty:
        dropped = " (items that a model lacks are dropped)" if keep is not None else ""
        raise BadValueError(
            f"`slices`[{empty[0]!r}] holds no item ({len(empty)} in all): leave it out{dropped}"
        )
    return Slices(tuple(names), stacked)


def _mixed(values: list[Any]) -> bool:
    """Whether labels cannot be sorted as they are."""
    return len({isinstance(x, str) for x in values}) > 1 or not all(
        isinstance(x, (str, int, float)) for x in values
    )


class Items(NamedTuple):
    """Values of M models on n items, and how items belong together."""

    names: tuple[str, ...]
    #: Shape (M, n), floats, or uint8 for 0 and 1.
    matrix: NDArray[Any]
    #: Whether all values are 0 or 1.
    binary: bool
    clusters: Grouping | None
    exponent: int = 0


class Part(NamedTuple):
    """Some of the items: means of models, and differences of pairs."""

    n: int
    #: Clusters, or items where there are none.
    units: int
    #: Less what all models have in common.
    mean: Floats
    #: Sums of squares of the differences of units, shape (P,).
    squares: Floats
    discordant: Numbers = 0
    #: Sums of clusters, shape (G, M), and items of each; None without clusters.
    sums: Any = None
    sizes: Any = None

    @property
    def scale(self) -> float:
        """What turns sums of units, about their means, into influences of the mean."""
        return np.sqrt(self.units / (self.units - 1.0)) / self.n if self.units > 1 else np.nan

    @property
    def variance(self) -> Floats:
        """Variances of the differences; NaN of fewer than two units."""
        return self.squares * self.scale**2

    @property
    def influences(self) -> Floats:
        """What clusters add to the means, shape (G, M)."""
        influences: Floats = (self.sums - self.sizes[:, None] * self.mean) * self.scale
        return influences


class SliceSums:
    """Sums over some of the items, by one product for all pairs of models."""

    def __init__(self, items: Items, pairs: Pairs) -> None:
        """Keeps values item by item, a row an item, less what all models have in common."""
        self.items, self.pairs, self.clusters = items, pairs, items.clusters
        self._largest = float(np.abs(items.matrix).max(initial=0.0))
        self.counted = items.binary and items.clusters is None and items.matrix.shape[1] < _WHOLE
        self.offset, self.common = np.zeros(len(items.names)), np.zeros(0)
        if self.counted:
            self.rows = np.ascontiguousarray(items.matrix.T)
            return
        values = items.matrix.astype(np.float64)
        self.offset = values.mean(axis=1)
        values -= self.offset[:, None]
        self.common = values.mean(axis=0)
        values -= self.common
        self.rows = np.ascontiguousarray(values.T)
        if self.clusters is not None:  # one after the other
            self.order = np.argsort(self.clusters.codes, kind="stable")
            self.rows, self._codes = self.rows[self.order], self.clusters.codes[self.order]

    def places(self, mask: Flags) -> Ints:
        """Rows of the items of a mask."""
        return np.flatnonzero(mask if self.clusters is None else mask[self.order])

    def values_at(self, where: Ints) -> Floats:
        """Values of the items of some rows, shape (n, M)."""
        return self.rows[where]

    def of(self, mask: Flags) -> Part:
        """Means and squares of the items of a mask."""
        where, (i, j) = self.places(mask), self.pairs.T
        rows, n = self.values_at(where), where.size
        if self.counted:
            ones = rows.astype(np.float32)
            joint = (ones.T @ ones).astype(np.int64)
            right = np.diagonal(joint)
            only_a, only_b = right[i] - joint[i, j], right[j] - joint[i, j]
            gain, both = only_a - only_b, only_a + only_b
            return Part(n, n, right / n, (n * both - gain * gain) / n, both)
        mean = rows.mean(axis=0)
        if self.clusters is None:
            return Part(n, n, mean, self.squares(rows, 1.0))
        codes, g = self._codes[where], len(self.clusters.labels)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        sums = np.zeros((g, len(mean)))
        sums[codes[starts]] = np.add.reduceat(rows, starts, axis=0)
        return self._of_clusters(n, mean, sums, np.bincount(codes, minlength=g))

    def _of_clusters(self, n: int, mean: Floats, sums: Floats, sizes: Any) -> Part:
        squares = self.squares(sums - sizes[:, None] * mean, float(sizes.max()))
        return Part(n, int(np.count_nonzero(sizes)), mean, squares, 0, sums, sizes)

    def rest(self, whole: Part, inside: Part, mask: Flags) -> Part:  # noqa: ARG002
        """The items outside a slice, by what it and all items have."""
        n, (i, j) = whole.n - inside.n, self.pairs.T
        mean = (whole.n * whole.mean - inside.n * inside.mean) / n
        if self.clusters is not None:
            return self._of_clusters(n, mean, whole.sums - inside.sums, whole.sizes - inside.sizes)
        d, d_own, d_rest = (x[i] - x[j] for x in (whole.mean, inside.mean, mean))
        between = inside.n * (d_own - d) ** 2 + n * (d_rest - d) ** 2
        squares = whole.squares - inside.squares - between
        return Part(n, n, mean, np.where(squares <= 1e-12 * whole.squares, 0.0, squares))

    def squares(self, rows: Floats, scale: float) -> Floats:
        """Sums of squares of the differences of columns about their means, by pair."""
        gram, total, (i, j) = rows.T @ rows, rows.sum(axis=0), self.pairs.T
        norms = np.diagonal(gram)
        size = norms[i] + norms[j]
        squares = size - 2.0 * gram[i, j] - (total[i] - total[j]) ** 2 / len(rows)
        noise = _ROUNDED * len(rows) * (scale * self._largest) ** 2
        for k in np.flatnonzero(squares <= np.maximum(_LOST * size, noise)):
            d = rows[:, i[k]] - rows[:, j[k]]
            d -= d.mean()
            squares[k] = d @ d
        squares[squares <= noise] = 0.0
        return np.asarray(squares)

    def joint(self, masks: Flags, *, rest: bool) -> Floats:
        """What units add to all slices of all models, (S, M, U); with `rest` minus the rest."""
        n_slices, m, n = len(masks), len(self.offset), masks.shape[1]
        units = n if self.clusters is None else len(self.clusters.labels)
        check_memory(
            8.0 * n_slices * m * (2 * units + n_slices * m),
            None,
            f"{n_slices} slices of {m} models together",
            "use `adjust='holm'` and `interaction='none'`",
        )
        out = np.zeros((n_slices, m, units))
        whole = self.of(np.ones(n, bool))
        for mask, into in zip(masks, out, strict=True):
            inside = self.of(mask)
            pieces = [(1.0, inside, mask)]
            if rest:
                pieces.append((-1.0, self.rest(whole, inside, mask), ~mask))
            for sign, part, flags in pieces:
                if self.clusters is None:
                    into[:, flags] = (
                        sign * part.scale * (self.values_at(np.flatnonzero(flags)) - part.mean)
                    ).T
                else:
                    into[...] += sign * part.influences.T
        return out
