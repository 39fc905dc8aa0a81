"""Means of judged values, corrected by labels of some items: estimates and their influences.

A unit is an item, or a cluster of items. All that is needed of it are sums over its items: of
weights, of weighted judged values, and the same of the labelled items with their labels.
Influences of units are such that the variance is their sum of squares / (G (G - 1)), G units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.core.typing import Floats, Ints, Numbers
from fastcmp.counts.value_sums import mirrored, row_products
from fastcmp.estimates.judge_inputs import NOTHING, Design, Items, Judged, dot, in_threads
from fastcmp.estimates.other_corrections import (
    Other,
    by_label_strata,
    by_probabilities,
    of_these_items,
    outside,
)
from fastcmp.kernels.judged_values import without_each

_BLOCK = 1 << 15  # values at a time: they stay in the cache
_SAME = 1e-14  # of a mean: values that differ by less are one value


class Stratum(NamedTuple):
    """Sums of the units of a stratum, of M models with labels of the same items.

    Of each model there are K sums: w, w f of each of J judges (two where both correct a
    difference), and of labels r, r f of each judge, and r y. The mean of the labels and of what a
    judge adds to it are ratios of their totals, so that without a unit all follows from totals,
    products, and the sums of the unit.
    """

    share: float
    #: The units, which of the labelled ones are here, and where these are among the units.
    units: Items
    labelled: Any
    places: Items
    #: Of all units: w, w f, ... of each model, from which `middle` is to be subtracted, shape
    #: (M, J, 1); of the labelled, shape (M, 2 + J, n_h).
    dense: list[list[Floats]]
    middle: Floats
    sparse: Floats
    #: Shapes (M, K) and (M, K, K).
    total: Floats
    products: Floats

    def sums(self, units: Items) -> Floats:
        """Sums of some units, in their order, shape (M, K, m)."""
        sums = np.zeros((*self.total.shape, units.size))
        n_dense = len(self.dense[0])
        sums[:, :n_dense] = [[x[units] for x in columns] for columns in self.dense]
        sums[:, 1:n_dense] -= self.middle
        _, at, among = np.intersect1d(units, self.places, assume_unique=True, return_indices=True)
        sums[:, n_dense:, at] = self.sparse[:, :, among]
        return sums

    def without(self, x: Floats) -> tuple[Floats, Floats]:
        """Mean of labels, (M, m), and what each judge adds, (M, J, m), without each of m units."""
        n_dense, t = len(self.dense[0]), self.total[..., np.newaxis] - x
        weight, n = t[:, :1], t[:, n_dense : n_dense + 1]
        gaps = t[:, 1:n_dense] / weight - t[:, n_dense + 1 : -1] / n
        return self.share * t[:, -1] / n[:, 0], self.share * gaps

    def moments(self, x: Floats, *, slope: bool = False) -> tuple[Floats, Floats]:
        """Sums of products of influences without each of m units, (M, J, m) and (M, J, J, m).

        U are influences of the mean of the labels, V those of what a judge adds to it; for the
        `slope` of labels on judged values alone those of the judge's mean over the labelled.
        These are U V and V V.
        """
        n_dense, share = len(self.dense[0]), self.share
        t = self.total[..., np.newaxis] - x
        weight, n = t[:, 0], t[:, n_dense]
        rows = np.zeros((len(x), n_dense, *x.shape[1:]))  # by the sums of a unit: u, then v
        rows[:, 0, n_dense], rows[:, 0, -1] = -share * t[:, -1] / n**2, share / n
        for j in range(1, n_dense):
            rows[:, j, n_dense], rows[:, j, n_dense + j] = (
                share * t[:, n_dense + j] / n**2,
                -share / n,
            )
            if not slope:
                rows[:, j, 0], rows[:, j, j] = -share * t[:, j] / weight**2, share / weight
        unit_values = np.einsum("zaku,zku->zau", rows, x)
        products = np.einsum("zaku,zbku->zabu", rows, self.products[:, np.newaxis] @ rows)
        products -= unit_values[:, :, np.newaxis] * unit_values[:, np.newaxis]
        return products[:, 0, 1:], products[:, 1:, 1:]


def strata_of(
    dense: Sequence[Sequence[Floats]],
    sparse: Floats,
    labelled: Items,
    design: Design,
    w: Floats,
    moments: tuple[Floats, Floats] | None = None,
) -> list[Stratum]:
    """The strata of models: by unit w f of the judges of each, and sums of labels (M, 2 + J, n).

    Where items count alike, `moments` are means of f, (M, 1, 1), and products of w and of f less
    these, (M, 2, 2).
    """
    middle, products = moments or (np.zeros((len(dense), len(dense[0]), 1)), None)
    strata = []
    for h, share in enumerate(design.shares):
        units, places, here = np.arange(design.n_units), labelled, np.arange(labelled.size)
        columns = [[w, *judges] for judges in dense]
        if design.strata is not None:
            units = np.flatnonzero(design.strata == h)
            here = np.flatnonzero(design.strata[labelled] == h)
            places = np.searchsorted(units, labelled[here])
            columns = [[x[units] for x in row] for row in columns]
        if products is None:
            dense_products = np.array([[[dot(a, b) for b in row] for a in row] for row in columns])
            sums = np.array([[x.sum() for x in row] for row in columns])
        else:
            dense_products, sums = products, products[:, 0]
        sparse_here = sparse[:, :, here]
        mixed = np.array([[x[places] for x in row] for row in columns])
        mixed[:, 1:] -= middle
        mixed = mixed @ sparse_here.swapaxes(1, 2)
        inner = sparse_here @ sparse_here.swapaxes(1, 2)
        every = np.block([[dense_products, mixed], [mixed.swapaxes(1, 2), inner]])
        total = np.concatenate([sums, sparse_here.sum(axis=2)], axis=1)
        layer = (float(share), units, here, places, columns, middle, sparse_here, total, every)
        strata.append(Stratum(*layer))
    return strata


# Slopes: how much of what the judge says of all items is added to the mean of the labels.


class Slopes(NamedTuple):
    """The slopes of M models, and what they are without a unit."""

    #: Shape (M, H).
    lam: Floats
    #: How many numbers were estimated from labels, shape (M,).
    n_tuned: Items
    #: Whether all strata have the same.
    pooled: bool
    #: What they are without each of some units of a stratum: its number, and the units.
    without: Callable[[int, Items], Any]
    #: What V V must exceed where each model has one of its own, shape (M, 1).
    limit: Any = None


def tuned(strata: list[Stratum], tune: str) -> Slopes:
    """Slopes with the least estimated variance, or for "slope" those of labels on judged values.

    For "common" sums over models, which are deviations from their mean, are made least; for "pair"
    the one model is a difference, of two judges. Slopes of a single judge are at least 0.
    """
    slope, least = tune == "slope", -np.inf if tune == "slope" else 0.0
    n_judges = len(strata[0].dense[0]) - 1
    # What a judge adds and takes away cancels but for rounding where all items have labels.
    limit: Any = 0.0
    for x in strata:
        squares, n = np.diagonal(x.products, 0, 1, 2), x.total[:, n_judges + 1]
        limit = limit + x.share**2 * squares[:, 1 : 1 + n_judges].sum(axis=1) / x.total[:, 0] ** 2
        limit += x.share**2 * squares[:, 2 + n_judges : -1].sum(axis=1) / n**2

    def moments(x: Stratum, sums: Floats) -> tuple[Floats, Floats]:
        products = x.moments(sums, slope=slope)
        return (
            tuple(y.sum(axis=0, keepdims=True) for y in products) if tune == "common" else products
        )

    limit = NOTHING * (limit.sum(keepdims=True) if tune == "common" else limit)[:, np.newaxis]
    by_stratum = [moments(x, np.zeros((*x.total.shape, 1))) for x in strata]
    whole = tuple(sum(x) for x in zip(*by_stratum, strict=True))

    def solved(uv: Floats, vv: Floats) -> Floats:
        """Slopes with the least sum of squares, (M, m); 0 where a judge adds nothing."""
        if n_judges == 1:
            with np.errstate(divide="ignore", invalid="ignore"):
                lam = -uv[:, 0] / vv[:, 0, 0]
            return np.where((vv[:, 0, 0] > limit) & (lam > least), lam, 0.0)
        inverse = np.linalg.pinv(np.moveaxis(vv[0], -1, 0), rcond=1e-12, hermitian=True)
        lam = np.einsum("uab,bu->au", inverse, uv[0]) * np.array([[-1.0], [1.0]])
        return np.asarray(np.where(np.trace(vv[0]) > limit, lam, 0.0))

    def without(h: int, units: Items) -> Floats:
        uv, vv = moments(strata[h], strata[h].sums(units))
        if tune == "stratum":
            return solved(uv, vv)
        return solved(uv + whole[0] - by_stratum[h][0], vv + whole[1] - by_stratum[h][1])

    lam = np.hstack([solved(*(x if tune == "stratum" else whole)) for x in by_stratum])
    is_tuned = np.trace(whole[1], axis1=1, axis2=2)[:, 0] > limit[:, 0]
    n_models = 2 if tune == "pair" else len(strata[0].total)
    n_tuned = np.full(n_models, is_tuned * (len(strata) if tune == "stratum" else n_judges))
    lam = np.broadcast_to(lam, (n_models, len(strata)))
    return Slopes(lam, n_tuned, tune != "stratum", without, limit if tune == "model" else None)


def fixed(lam: float, n_models: int, n_strata: int) -> Slopes:
    """A slope that is a given number."""
    whole = np.full((n_models, n_strata), lam)
    none = np.zeros(n_models, np.int64)
    return Slopes(whole, none, pooled=True, without=lambda *_: lam)


# Estimates and influences.


class Corrected(NamedTuple):
    """Estimates of M models, shape (M,) each; or of one."""

    estimate: Any
    #: The mean of what the judge says of all items, and of the labels, with its variance.
    judge_mean: Any
    labels_mean: Any
    labels_variance: Any
    #: Of the judge's mean less the corrected one.
    bias_variance: Any
    bias_df: Any
    #: How many slopes were estimated from labels, and the slopes, shape (M, H).
    n_tuned: Any
    lam: Any


def of_labels(
    strata: list[Stratum], design: Design, pick: tuple[float, ...] = (0.0, 0.0, 1.0)
) -> tuple[Floats, Floats]:
    """Means over labelled items, (M,), and their influences, (M, n).

    Of labels, or of the combination `pick` of r, r f and r y.
    """
    n_models, n_labelled = len(strata[0].total), sum(x.places.size for x in strata)
    mean, influences = np.zeros(n_models), np.empty((n_models, n_labelled))
    for x in strata:
        r, values, n = x.sparse[:, 0], x.sparse.swapaxes(1, 2) @ pick, np.float64(x.places.size)
        total = r.sum(axis=1, keepdims=True)
        average = values.sum(axis=1, keepdims=True) / total
        mean += x.share * average[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(design.n_units * (design.n_units - 1.0) * n / (n - 1.0))
            influences[:, x.labelled] = scale * x.share / total * (values - r * average)
    return mean, influences


def _curve(x: Stratum, slopes: Slopes) -> tuple[Floats, Floats, float] | None:
    """Of items that count alike: the slope without one that has no label is u / (c - a f**2).

    u and c have shape (M,). None where slopes are others, or V V, which is the divisor, may be
    nothing without some item.
    """
    if slopes.limit is None:
        return None
    n, size, squares = x.total[:, 2], x.units.size, x.products[:, 1, 1]
    with_f, with_y = (x.products[:, 3, k] - x.total[:, 3] * x.total[:, k] / n for k in (3, 4))
    c = squares / (size - 1.0) ** 2 + with_f * (1.0 / n - 2.0 / (size - 1.0)) / n
    a, tuned = size / (size - 1.0) ** 3, slopes.n_tuned > 0
    for all_values in (False, True):
        largest = squares
        if all_values:
            ends = np.array([[f.min(), f.max()] for _, f in x.dense]) - x.middle[:, 0]
            largest = (ends**2).max(axis=1)
        if not (tuned & ~(c - a * largest > slopes.limit[:, 0])).any():
            u = with_y * (1.0 / n - 1.0 / (size - 1.0)) / n
            return np.where(tuned, np.maximum(u, 0.0), 0.0), c, a
    return None


def corrected(
    strata: list[Stratum], slopes: Slopes, design: Design, rows: list[Floats], *, jackknife: bool
) -> Corrected:
    """Means of labels, corrected by what the judge says of all items.

    Influences of units on the corrected means are written to `rows`, where sums of these units
    may be.
    """
    n_units, n_models = design.n_units, len(strata[0].total)
    labels_mean, of_alone = of_labels(strata, design)
    of_taken = of_labels(strata, design, (0.0, 1.0, 0.0))[1]
    at_all = [x.without(np.zeros((n_models, 5, 1))) for x in strata]
    gaps = np.stack([gap[:, 0, 0] for _, gap in at_all], axis=1)
    lam, added = slopes.lam[..., np.newaxis], gaps * slopes.lam
    whole = added.sum(axis=1, keepdims=True)
    squares = np.zeros((2, len(strata), n_models))
    for h, x in enumerate(strata):
        n, size = np.float64(x.places.size), np.float64(x.units.size)
        back = np.sqrt(n_units * (n_units - 1.0) * (size - 1.0) / size)
        total, judged = x.total[:, :1], x.total[:, 1:2]
        curve = _curve(x, slopes) if jackknife and design.plain else None
        among = np.full(x.units.size, -1)
        among[x.places] = np.arange(x.places.size)
        # Of the bias and its squares, of units with labels and of others.
        sums, of_labelled = np.zeros((2, 2, n_models)), np.empty((n_models, x.places.size))
        todo = np.arange(x.units.size) if curve is None else x.places
        for part in parts(todo.size, max(1, _BLOCK // n_models)):
            units = todo[part]
            has, unit_sums = among[units] >= 0, x.sums(units)
            w, f = unit_sums[:, 0], unit_sums[:, 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                if jackknife:
                    left, gap = x.without(unit_sums)
                    slope, others = slopes.without(h, units), whole - added[:, [h]]
                    if slopes.pooled:
                        others = slope * (gaps.sum(axis=1, keepdims=True) - gaps[:, [h]])
                    factor = (
                        np.where(has, np.sqrt((n - 1.0) * size / (n * (size - 1.0))), 1.0) * back
                    )
                    influences = factor * (whole - others + at_all[h][0] - left - slope * gap[:, 0])
                    judge = factor * x.share * (judged / total - (judged - f) / (total - w))
                else:
                    judge = back * x.share * size / (size - 1.0) * (f - w * judged / total) / total
                    influences, spare = lam[:, h] * judge, sum(y.places.size - 1.0 for y in strata)
                    left = np.where(spare > slopes.n_tuned, spare - slopes.n_tuned, np.nan)
                    tuning = np.sqrt(spare / left)[:, np.newaxis]
                    from_labels = tuning * (of_alone - lam[:, h] * of_taken)[:, x.labelled]
                    influences[:, has] += from_labels[:, among[units[has]]]
            for k, mask in enumerate((has, ~has)):
                bias = (judge - influences)[:, mask]
                sums[k] += bias.sum(axis=1), np.einsum("mu,mu->m", bias, bias)
            of_labelled[:, among[units[has]]] = influences[:, has]
            for row, values in zip(rows if curve is None else (), influences, strict=False):
                row[x.units[units]] = values
        if curve is not None:
            fill = partial(_fill, x, curve, back, whole, of_labelled, rows, sums)
            in_threads(fill, n_models, n_units)
        for row in rows if jackknife and curve is None else ():
            row[x.units] -= row[x.units].mean()
        counts, mean = np.array([[n], [size - n]]), sums[:, 0].sum(axis=0) / size
        squares[:, h] = sums[:, 1] - 2.0 * mean * sums[:, 0] + counts * mean**2
    divisor = n_units * (n_units - 1.0)
    squares = np.maximum(squares, 0.0) / divisor
    counts = np.array([[x.places.size] for x in strata])
    n_unlabelled = np.array([[x.units.size] for x in strata]) - counts
    return Corrected(
        labels_mean + whole[:, 0],
        sum(x.share * x.total[:, 1] / x.total[:, 0] for x in strata),
        labels_mean,
        np.einsum("mu,mu->m", of_alone, of_alone) / divisor,
        squares.sum(axis=(0, 1)),
        satterthwaite(squares[0], squares[1], counts, n_unlabelled, slopes.n_tuned, design),
        slopes.n_tuned,
        slopes.lam,
    )


def _fill(
    x: Stratum,
    curve: tuple[Floats, Floats, float],
    back: float,
    whole: Floats,
    of_labelled: Floats,
    rows: list[Floats],
    sums: Floats,
    models: slice,
) -> None:
    """Fill in the influences of items without labels, where items count alike.

    `corrected` has the general case; here the slope is a quotient of a number and a
    quadratic function of f.
    """
    n, (u, c, a) = x.units.size - 1.0, curve
    for m in range(models.start, models.stop):
        row, values, (total, n_labels, taken) = rows[m], x.dense[m][1], x.total[m, 1:4]
        scale, shift = back * u[m] / n, back * whole[m, 0]
        divisor = (c[m] / scale, a / scale) if scale > 0.0 else (np.inf, 0.0)
        away = n * taken / n_labels - total
        numbers = np.array([x.middle[m, 0, 0], back / n, away, *divisor])
        of_all, squares = without_each(values, numbers, row)
        # Without the labelled, which are others; what is common to all was left out.
        other, n_unlabelled = row[x.places], x.units.size - n_labels
        bias = back / n * (values[x.places] - x.middle[m, 0, 0]) - other
        one = back / n * (total - taken) - (of_all - other.sum())
        squares += shift * (n_unlabelled * shift - 2.0 * one) - dot(bias, bias)
        sums[1, :, m] = one - n_unlabelled * shift, squares
        row[x.places] = of_labelled[m] - shift
        row -= (of_all + (row[x.places] - other).sum()) / row.size


# All models.

#: What is known of each model alone.
_BALANCE = ("balance", "balance_variance", "balance_df")
_FIELDS = (*Corrected._fields[:-1], *_BALANCE, "gap")


def _combined(
    x: Other, judged: Floats, of_judge: Numbers, labelled: Items, design: Design
) -> Corrected:
    """The corrected mean by other influences; `of_judge` are those of the judge's mean."""
    squares, divisor = (of_judge - x.row) ** 2, x.row.size * (x.row.size - 1.0)
    strata, n_strata = design.layers, design.shares.size
    labelled_strata = strata[labelled]
    of_labels = np.bincount(labelled_strata, squares[labelled], n_strata) / divisor
    others = np.maximum(np.bincount(strata, squares, n_strata) / divisor - of_labels, 0.0)
    counts = np.bincount(labelled_strata, minlength=n_strata)
    n_unlabelled = np.bincount(strata, minlength=n_strata) - counts
    df = satterthwaite(of_labels, others, counts, n_unlabelled, x.n_tuned, design)
    return Corrected(
        *(x.mean + x.added, float(judged.mean()), x.mean, dot(x.alone, x.alone) / divisor),
        *((of_labels + others).sum(), df, x.n_tuned, np.atleast_1d(x.slopes)),
    )


def label_balance(strata: list[Stratum], design: Design) -> tuple[Floats, ...]:
    """Differences of judged values with and without labels, their variances and df, (M,) each.

    Welch's for items that count alike; else that of what the judge adds, with the weights and
    clusters of the design.
    """
    x = strata[0]
    if not design.plain:
        # The bias of a judge whose labels are what it says itself: of those with labels alone.
        alone = [y._replace(sparse=y.sparse[:, [0, 1, 1]]) for y in strata]
        gap = corrected(alone, fixed(0.0, len(x.total), len(strata)), design, [], jackknife=False)
        return gap.labels_mean - gap.judge_mean, gap.bias_variance, gap.bias_df
    f, n = x.sparse[:, 1], x.places.size
    m = float(x.units.size - n)
    if n < 2 or m < 2.0:
        return (np.full(len(f), np.nan),) * 3
    # Of the others by what is left of sums over all items.
    mean, other = f.mean(axis=1), (x.total[:, 1] - f.sum(axis=1)) / m
    square = np.maximum(x.products[:, 1, 1] - (f**2).sum(axis=1) - m * other**2, 0.0)
    a, b = f.var(axis=1, ddof=1) / n, square / (m - 1.0) / m
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 1.0 / ((a / (a + b)) ** 2 / (n - 1.0) + (b / (a + b)) ** 2 / (m - 1.0))
    return mean - other, a + b, df


def correct_models(
    data: Judged,
    design: Design,
    drawn: Items | None,
    way: str,
    tune: Any,
    variance: str | None,
    rows: Floats,
) -> tuple[dict[str, Any], Floats]:
    """The corrections of all models, those with labels of the same items together.

    Influences of units are written to `rows`, shape (M, G). Returned are what is known of each
    model, and influences of units with labels on the mean of what the judge says less labels.
    """
    n_models, lam = len(data.names), None if isinstance(tune, str) else tune

    def centre(models: slice) -> None:
        column = np.empty(data.n_items)
        for m in range(models.start, models.stop):
            np.subtract(judged[m], middles[m], column)
            square = dot(column, column)
            if square <= column.size * (_SAME * middles[m]) ** 2:
                column[:], constant[m], square, middles[m] = 0.0, True, 0.0, 0.0
                judged[m] = column.copy()
            if not design.plain:
                rows[m] = design.sums(design.weights * column)
            products[m] = [[data.n_items, 0.0], [0.0, square]]

    w, products = design.sums(design.weights), np.empty((n_models, 2, 2))
    constant, judged, middles = np.zeros(n_models, np.bool_), [*data.judged], np.array(data.means)
    in_threads(centre, n_models, data.n_items)
    same: dict[bytes, list[int]] = {}
    for m, items in enumerate(data.labelled):
        same.setdefault(items.tobytes(), []).append(m)
    fields: dict[str, Any] = {x: np.full(n_models, np.nan) for x in _FIELDS}
    fields |= {"lam": np.empty((n_models, design.shares.size)), "constant": constant}
    sets = [design.units(data.labelled[models[0]]) for models in same.values()]
    labelled_units = np.unique(np.concatenate(sets))
    gaps = np.zeros((n_models, labelled_units.size))
    for models in same.values():
        items, unit_sums = data.labelled[models[0]], [rows[m] for m in models]
        r = design.weights[items] / design.probabilities[items]
        f, y = (np.stack([data.labels[m][k] for m in models]) for k in (0, 1))
        middle, shift = np.array([data.means[m] for m in models]), y.mean(axis=1)
        f = np.where(constant[models, np.newaxis], 0.0, f - middle[:, np.newaxis])
        columns = r * np.stack([np.ones(f.shape), f, y - shift[:, np.newaxis]], axis=1)
        sparse = np.array([[design.sums(x, items) for x in one] for one in columns])
        labelled = design.units(items)
        dense, moments = [[row] for row in unit_sums], None
        if design.plain:
            dense = [[judged[m]] for m in models]
            moments = middles[models, np.newaxis, np.newaxis], products[models]
        strata = strata_of(dense, sparse, labelled, design, w, moments)
        for name, values in zip(_BALANCE, label_balance(strata, design), strict=True):
            fields[name][models] = values
        means, influences = of_labels(strata, design, (0.0, 1.0, -1.0))
        fields["gap"][models] = means + middle - shift
        places = np.searchsorted(labelled_units, labelled)
        gaps[np.array(models)[:, np.newaxis], places] = influences
        if way == "inside":
            of_tuning = strata
            if design.plain and tune in ("common", "pair"):
                unit_sums = [judged[m] - middles[m] for m in models]
            if tune == "common":
                apart = sparse - sparse.mean(axis=0) * [[0.0], [1.0], [1.0]]
                dense = [[row] for row in unit_sums - np.mean(unit_sums, axis=0)]
                of_tuning = strata_of(dense, apart, labelled, design, w)
            elif tune == "pair":
                both = [sparse[0, 0], *sparse[:, 1], sparse[0, 2] - sparse[1, 2]]
                of_tuning = strata_of([unit_sums], np.array([both]), labelled, design, w)
            sizes = len(models), len(strata)
            slopes = tuned(of_tuning, tune) if lam is None else fixed(lam, *sizes)
            outputs, jackknife = [rows[m] for m in models], variance == "jackknife"
            answer = corrected(strata, slopes, design, outputs, jackknife=jackknife)
            answer = answer._replace(
                estimate=answer.estimate + shift,
                judge_mean=answer.judge_mean + middle,
                labels_mean=answer.labels_mean + shift,
            )
        else:
            answers = []
            for m in models:
                column, human = data.judged[m], data.labels[m][1]
                if drawn is not None:
                    plain = variance == "plain"
                    other = by_label_strata(column, human, items, drawn, lam, plain=plain)
                elif way == "ppi":
                    column = design.sums(column) / design.sums(np.ones(column.size))
                    other = outside(column, data.human[m], items, design, lam, data.names[m])
                elif way == "these items":
                    other = of_these_items(column, human, items, lam)
                else:
                    other = by_probabilities(column, human, items, lam, design.probabilities)
                of_judge = 0.0 if way == "these items" else column - column.mean()
                rows[m] = other.row
                answers.append(_combined(other, column, of_judge, labelled, design))
            answer = Corrected(*(np.array(x) for x in zip(*answers, strict=True)))
        for name, values in answer._asdict().items():
            fields[name][models] = values
    return fields, gaps


# Degrees of freedom by Satterthwaite: units with labels, for either of two models, and others.


def satterthwaite(
    of_labels: Floats, others: Floats, counts: Ints, sizes: Ints, n_tuned: object, design: Design
) -> Floats:
    """Degrees of freedom of variances that are sums over strata, shape (H, ...), of two parts.

    Parts of units with labels have their `counts` less 1, and those of the slopes that were tuned.
    """
    free, whole = counts - design.n_drawn, (of_labels + others).sum(axis=0)
    spare, of_others = free.sum(axis=0), np.maximum(sizes - 1.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = free * (spare - n_tuned) / spare
        left = np.where(left > 0.0, left, np.nan)
        parts_of = (of_labels / whole) ** 2 / left + (others / whole) ** 2 / of_others
        df = 1.0 / parts_of.sum(axis=0)
    return np.asarray(np.where(whole > 0.0, df, np.maximum(spare - n_tuned, 1.0)))


def degrees(
    rows: Floats, labelled: Sequence[Items], design: Design, n_tuned: Any
) -> tuple[Floats, Floats]:
    """Covariance of M means by influences of units, (M, G), and degrees of freedom, (M, M).

    Those on the diagonal are of each mean alone, the others of differences.
    """
    n_models, n_units = rows.shape
    divisor = n_units * (n_units - 1.0)
    with ThreadPool(check_workers(None)) as pool:
        _, products = row_products(lambda *part: rows[part], n_models, n_units, pool)
    covariance = mirrored(products) / divisor
    same = all(np.array_equal(labelled[0], other) for other in labelled[1:])
    labelled_units = labelled[0] if same else np.unique(np.concatenate(labelled))
    layers = []
    for h in range(design.shares.size):
        columns, gram, size = labelled_units, covariance, n_units
        if design.strata is not None:
            columns, here = (
                labelled_units[design.strata[labelled_units] == h],
                rows[:, design.strata == h],
            )
            gram, size = here @ here.T / divisor, here.shape[1]
        influences = rows[:, columns]
        of_labels = _of_pairs(influences @ influences.T / divisor)
        counts = either = np.full((n_models, n_models), float(columns.size))
        if not same:
            has_labels = np.stack([np.isin(columns, places) for places in labelled]).astype(float)
            lacking = 1.0 - has_labels
            crossed = (lacking * influences**2) @ lacking.T / divisor
            both = (lacking * influences) @ (lacking * influences).T / divisor
            # Units that have labels of neither.
            neither = crossed + crossed.T - 2.0 * both
            np.fill_diagonal(neither, np.diagonal(crossed))
            of_labels -= neither
            n = has_labels.sum(axis=1)
            counts, either = np.minimum.outer(n, n), np.add.outer(n, n) - has_labels @ has_labels.T
        others = np.maximum(_of_pairs(gram) - of_labels, 0.0)
        layers.append((of_labels, others, counts, size - either))
    tuning = np.maximum.outer(n_tuned, n_tuned).astype(np.float64)
    squares, other_squares, counts, sizes = (np.array(x) for x in zip(*layers, strict=True))
    return covariance, satterthwaite(squares, other_squares, counts, sizes, tuning, design)


def _of_pairs(gram: Floats) -> Floats:
    """Variances of all differences, and on the diagonal of each mean."""
    variances = np.diagonal(gram)
    differences = np.add.outer(variances, variances) - 2.0 * gram
    np.fill_diagonal(differences, variances)
    return np.asarray(np.maximum(differences, 0.0))
