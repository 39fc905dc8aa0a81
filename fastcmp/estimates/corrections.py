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
from numpy.typing import NDArray

from fastcmp.core.threads import parts

Floats = NDArray[np.float64]
Items = NDArray[np.int64]

_BLOCK = 1 << 14  # units at a time: their sums stay in the cache
_NOTHING = 1e-13  # of the squares that a judge adds and takes away: rounding


def dot(a: Floats, b: Floats) -> float:
    """Sum of products, in one thread: BLAS would wait for others more than it gains."""
    return float(np.einsum("i,i", a, b))


class Design(NamedTuple):
    """How items make up units and strata, and how those with labels were drawn."""

    n_items: int
    #: Cluster of each item; None where each is its own.
    clusters: Items | None
    #: Stratum of each unit, shape (G,); None for one.
    strata: Items | None
    #: Weights of the strata, which add up to 1, shape (H,).
    shares: Floats
    #: Of each item, shape (N,).
    weights: Floats
    #: With which each item was to be labelled; 1 where all had the same.
    probabilities: Floats | float
    #: Whether units are items that count alike, in one stratum.
    plain: bool

    @property
    def n_units(self) -> int:
        """Number of clusters, or of items."""
        return self.n_items if self.clusters is None else int(self.clusters.max()) + 1


class Sums(NamedTuple):
    """Sums over the items of each unit, of one model."""

    #: Of weights and of weighted judged values, shape (G,).
    w: Floats
    wf: Floats
    #: Units with labels, and their sums of weights r of labels, of r f and r y.
    labelled: Items
    r: Floats
    rf: Floats
    ry: Floats


class Corrected(NamedTuple):
    """Estimate of one model, and influences of the units."""

    estimate: float
    #: Slope, of each stratum where it has its own.
    lam: Floats
    #: Of the corrected mean, and of the bias of the judge, shape (G,) each.
    rows: Any
    #: The mean of what the judge says of all items.
    judge_mean: float
    #: Labels alone, and the variance of their mean.
    labels_only: float
    labels_variance: float
    #: How many slopes were estimated from labels.
    n_tuned: int = 0


def unit_sums(judged: Floats, y: Floats, items: Items, design: Design) -> Sums:
    """Sums of one model, of values less their mean; `y` are the labels of some items."""
    weights = design.weights[items]
    probabilities = design.probabilities
    if isinstance(probabilities, np.ndarray):
        weights = weights / probabilities[items]
    f = judged[items]
    columns = [weights, weights * f, weights * y]
    weighted = judged if design.plain else design.weights * judged
    if design.clusters is None:
        return Sums(design.weights, weighted, items, *columns)
    codes = design.clusters[items]
    labelled = np.unique(codes)

    def by_unit(column: Floats, of: Items) -> Floats:
        return np.bincount(of, column, design.n_units).astype(np.float64)

    of_labels = [by_unit(part, codes)[labelled] for part in columns]
    w, wf = (by_unit(x, design.clusters) for x in (design.weights, weighted))
    return Sums(w, wf, labelled, *of_labels)


# Stratum by stratum: sums w, w f (of each judge), r, r f (of each judge) and r y of units. The
# mean of the labels and of what a judge adds to it are ratios of their totals, so that without
# a unit all follows from totals, products of sums (a matrix), and the sums of the unit.


class Stratum(NamedTuple):
    """Units of a stratum, with one judge or, where two correct a difference, with both."""

    share: float
    #: The units, which of the labelled ones are here, and where these are among the units.
    units: Any
    labelled: Any
    places: Items
    #: Sums of all units: w, None where these are 1, and w f of each judge; and those of the
    #: labelled, shape (2 + J, n_h).
    dense: list[Any]
    sparse: Floats
    #: Shapes (3 + 2 J,) and (3 + 2 J, 3 + 2 J).
    total: Floats
    products: Floats

    def sums(self, places: Any, *, labelled: bool) -> Floats:
        """Sums of some units, of all that have labels, or of others as if they had none, (K, m)."""
        n_dense, size = len(self.dense), self.dense[1][places].size
        found = np.ones((len(self.total), size))
        for row, column in zip(found, self.dense, strict=False):
            row[:] = 1.0 if column is None else column[places]
        found[n_dense:] = self.sparse if labelled else 0.0
        return found

    def without(self, x: Floats) -> tuple[Floats, Floats]:
        """Mean of labels, shape (m,), and what each judge adds, (J, m), without each of m units."""
        n_dense, t = len(self.dense), self.total[:, np.newaxis] - x
        gaps = t[1:n_dense] / t[0] - t[n_dense + 1 : -1] / t[n_dense]
        return self.share * t[-1] / t[n_dense], self.share * gaps

    def moments(self, x: Floats, *, slope: bool = False) -> tuple[Floats, Floats]:
        """Sums of products of influences without each of m units: U V, (J, m), and V V, (J, J, m).

        U are influences of the mean of the labels, V those of what a judge adds to it; for the
        `slope` of labels on judged values alone those of the judge's mean over the labelled.
        """
        n_dense, share = len(self.dense), self.share
        t = self.total[:, np.newaxis] - x
        weight, n = t[0], t[n_dense]
        rows = np.zeros((n_dense, *x.shape))  # influences by the sums of a unit: u, then v
        rows[0, n_dense], rows[0, -1] = -share * t[-1] / n**2, share / n
        for j in range(1, n_dense):
            rows[j, n_dense], rows[j, n_dense + j] = share * t[n_dense + j] / n**2, -share / n
            if not slope:
                rows[j, 0], rows[j, j] = -share * t[j] / weight**2, share / weight
        unit = np.einsum("akm,km->am", rows, x)
        products = (
            np.einsum("akm,bkm->abm", rows, self.products @ rows) - unit[:, np.newaxis] * unit
        )
        return products[0, 1:], products[1:, 1:]

    def curve(self) -> tuple[float, Floats]:
        """U V and the coefficients of V V in f, without an item that has no label."""
        size = float(np.sqrt(self.products[1, 1] / self.total[0])) or 1.0
        x = np.array([[1.0], [size], [0.0], [0.0], [0.0]]) * [1.0, 1.0, 1.0]
        x[1] *= [-1.0, 0.0, 1.0]
        uv, vv = self.moments(x)
        below, middle, above = vv[0, 0]
        slope, bend = 0.5 * (above - below) / size, (0.5 * (above + below) - middle) / size**2
        return float(uv[0, 1]), np.array([middle, slope, bend])


def strata_of(judges: Sequence[Sums], ry: Floats, design: Design) -> list[Stratum]:
    """The strata of one judge, or of two; `ry` are sums of labels, shape (n,)."""
    first, found = judges[0], []
    for h, share in enumerate(design.shares):
        units: Any = slice(None)
        labelled: Any = slice(None)
        places, size = first.labelled, float(design.n_units)
        if design.strata is not None:
            units = np.flatnonzero(design.strata == h)
            labelled = np.flatnonzero(design.strata[places] == h)
            places, size = np.searchsorted(units, places[labelled]), float(units.size)

        def product(a: Any, b: Any, size: float = size) -> float:
            if a is None or b is None:  # values are centred
                return size if a is b else 0.0
            return dot(a, b)

        dense = [None if design.plain else first.w[units], *(x.wf[units] for x in judges)]
        sparse = np.stack([first.r, *(judge.rf for judge in judges), ry])[:, labelled]
        ones = dense[0]  # of weights; None where these are 1
        sums = [size if x is None else 0.0 if ones is None else float(x.sum()) for x in dense]
        total = np.array([*sums, *sparse.sum(axis=1)])
        mixed = np.array(
            [sparse @ (np.ones(places.size) if x is None else x[places]) for x in dense]
        )
        own = np.array([[product(a, b) for b in dense] for a in dense])
        products = np.block([[own, mixed], [mixed.T, sparse @ sparse.T]])
        found.append(Stratum(float(share), units, labelled, places, dense, sparse, total, products))
    return found


# Slopes: how much of what the judge says of all items is added to the mean of the labels.


class Slopes(NamedTuple):
    """The slope of each stratum, and what it is without a unit."""

    #: Shape (H,).
    lam: Floats
    #: How many numbers were estimated from labels.
    n_tuned: int
    #: Whether all strata have the same.
    pooled: bool
    #: What it is without each of some units of a stratum: its number, the units' places, and
    #: whether these are those with labels, or others as if they had none.
    without: Callable[[int, Any, bool], Any]
    #: U V, the coefficients of V V in f, and what V V must exceed, of items that count alike.
    curve: tuple[float, Floats, float] | None = None


def tuned(
    models: Sequence[list[Stratum]], *, by_stratum: bool = False, slope: bool = False
) -> list[Slopes]:
    """Slopes with the least estimated variance, for each judge of `models`; or of the labels.

    Products are summed over `models`, which share their slopes: one model, or the deviations of
    several from their mean. The slope of one judge that is tuned is at least 0.
    """
    n_judges, nothing = len(models[0][0].dense) - 1, np.zeros((len(models[0][0].total), 1))
    layers = list(zip(*models, strict=True))
    own = [_added([x.moments(nothing, slope=slope) for x in layer]) for layer in layers]
    whole = _added(own)
    # What a judge adds and takes away cancels but for rounding where all items have labels.
    limit = 0.0
    for x in (x for layer in layers for x in layer):
        squares = np.diagonal(x.products)
        limit += x.share**2 * squares[1 : 1 + n_judges].sum() / x.total[0] ** 2
        limit += x.share**2 * squares[2 + n_judges : -1].sum() / x.total[1 + n_judges] ** 2
    limit *= _NOTHING
    least = -np.inf if slope else 0.0
    lam = np.hstack([_solved(*(x if by_stratum else whole), limit, least) for x in own])

    def without(j: int, h: int, places: Any, labelled: bool) -> Floats:  # noqa: FBT001
        sums = [(x, x.sums(places, labelled=labelled)) for x in layers[h]]
        uv, vv = _added([x.moments(unit, slope=slope) for x, unit in sums])
        if not by_stratum:
            uv, vv = uv + whole[0] - own[h][0], vv + whole[1] - own[h][1]
        return np.asarray(_solved(uv, vv, limit, least)[j])

    n_tuned, curve = n_judges if np.trace(whole[1])[0] > limit else 0, None
    if models[0][0].dense[0] is None and len(models) == n_judges == 1 and n_tuned and not slope:
        curve = (*models[0][0].curve(), limit)
    return [
        Slopes(lam[j], n_tuned, not by_stratum, partial(without, j), curve) for j in range(n_judges)
    ]


def _added(moments: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Sums of products, over models or strata."""
    uv, vv = zip(*moments, strict=True)
    return sum(uv[1:], uv[0]), sum(vv[1:], vv[0])


def _solved(uv: Floats, vv: Floats, limit: float, least: float) -> Floats:
    """Slopes, shape (J, ...), that make the sum of squares least; 0 where a judge adds nothing."""
    if len(uv) == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            lam = -uv / vv[0]
        return np.asarray(np.where((vv[0] > limit) & (lam > least), lam, 0.0))
    inverse = np.linalg.pinv(np.moveaxis(vv, (0, 1), (-2, -1)), rcond=1e-12, hermitian=True)
    lam = np.moveaxis((inverse @ np.moveaxis(uv, 0, -1)[..., np.newaxis])[..., 0], -1, 0)
    return np.asarray(np.where(np.trace(vv) > limit, -lam, 0.0))


def fixed(lam: float, n_strata: int) -> Slopes:
    """A slope that is a given number."""
    return Slopes(np.full(n_strata, lam), 0, pooled=True, without=lambda *_: lam)


# Estimates and influences.


def of_labels(column: Floats, strata: list[Stratum], design: Design) -> tuple[float, Floats]:
    """Mean of what the labelled have, from its sums by unit, and the influences of these units."""
    n_units, mean, influences = design.n_units, 0.0, np.empty(column.size)
    for x in strata:
        r, own, n = x.sparse[0], column[x.labelled], np.float64(x.places.size)
        average = own.sum() / r.sum()
        mean += x.share * average
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(n_units * (n_units - 1.0) * n / (n - 1.0))
            influences[x.labelled] = scale * x.share / r.sum() * (own - r * average)
    return float(mean), influences


def _fast(
    x: Stratum,
    curve: tuple[float, Floats, float],
    added: float,
    back: float,
    part: Floats,
    bias: Floats,
    f: Floats,
) -> bool:
    """Write what items without labels change, where they count alike, in few steps.

    That is what is said generally in `corrected`, for a slope that is a quotient of a number and
    a quadratic function of f. False where that is not so for some item.
    """
    (uv, coefficients, limit), n = curve, x.total[0]
    np.multiply(f, coefficients[2], part)
    for step, by in ((np.add, coefficients[1]), (np.multiply, f), (np.add, coefficients[0])):
        step(part, by, part)
    if not part.min() > limit:
        return False
    np.divide(back * max(-uv, 0.0), part, part)
    np.multiply(f, -1.0 / (n - 1.0), bias)
    bias -= x.total[3] / x.total[2]  # the mean of all f is 0
    part *= bias
    np.subtract(back * added, part, part)
    np.multiply(f, back / (n - 1.0), bias)
    bias -= part
    return True


def corrected(
    sums: Sums,
    strata: list[Stratum],
    slopes: Slopes,
    design: Design,
    rows: tuple[Floats, Floats],
    *,
    jackknife: bool,
) -> Corrected:
    """Mean of labels, corrected by what the judge says of all items.

    Influences of units, of the corrected mean and of the judge's bias, are written to `rows`.
    """
    n_units = design.n_units
    labels_only, of_alone = of_labels(sums.ry, strata, design)
    of_taken = of_labels(sums.rf, strata, design)[1]
    nothing = np.zeros((5, 1))
    gaps = np.array([x.without(nothing)[1][0, 0] for x in strata])
    added = gaps * slopes.lam
    estimate = labels_only + float(added.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        for h, x in enumerate(strata):
            n, lam, (weight, whole) = np.float64(x.places.size), slopes.lam[h], x.total[:2]
            part, bias = (row[x.units] for row in rows)
            size = np.float64(part.size)
            back = np.sqrt(n_units * (n_units - 1.0) * (size - 1.0) / size)
            if not jackknife:
                w = 1.0 if x.dense[0] is None else x.dense[0]
                np.subtract(x.dense[1], w * (whole / weight), bias)
                bias *= back * x.share * size / (size - 1.0) / weight
                spare = sum(y.places.size - 1.0 for y in (strata if slopes.pooled else [x]))
                tuning = np.sqrt(spare / (spare - slopes.n_tuned))
                np.multiply(lam, bias, part)
                part[x.places] += tuning * (of_alone[x.labelled] - lam * of_taken[x.labelled])
                bias -= part
            else:
                scale = np.sqrt((n - 1.0) * size / (n * (size - 1.0)))
                mean = float(x.without(nothing)[0][0])
                ways: list[tuple[Any, bool, float]] = [(x.places, True, back * scale)]
                for places in parts(part.size, _BLOCK):
                    into = (part[places], bias[places], x.dense[1][places])
                    if slopes.curve is None or not _fast(
                        x, slopes.curve, estimate - mean, back, *into
                    ):
                        ways.insert(0, (places, False, back))
                for places, labelled, factor in ways:
                    unit = x.sums(places, labelled=labelled)
                    slope, (left, (gap,)) = slopes.without(h, places, labelled), x.without(unit)
                    others = slope * (gaps.sum() - gaps[h])
                    others = others if slopes.pooled else added.sum() - added[h]
                    found = factor * (added.sum() - others + (mean - left) - slope * gap)
                    without = (whole - unit[1]) / (weight - unit[0])
                    part[places] = found
                    bias[places] = factor * x.share * (whole / weight - without) - found
                for own in (part, bias):
                    np.subtract(own, own.mean(), own)
            if design.strata is not None:
                rows[0][x.units], rows[1][x.units] = part, bias
    return Corrected(
        estimate,
        slopes.lam,
        rows,
        float(sum(x.share * x.total[1] / x.total[0] for x in strata)),
        labels_only,
        float(of_alone @ of_alone) / (n_units * (n_units - 1.0)),
        slopes.n_tuned,
    )


# Other ways: influences u of the mean of the labels, and of the judge's means over the labelled
# (taken) and over all; the corrected mean has u + lam (of_all - taken).


def _combined(
    judged: Floats, mean: float, added: float, parts: Sequence[Any], lam: Any, n_tuned: int = 0
) -> Corrected:
    """Correct by influences: `parts` are u, taken, of_all, and u for the labels alone."""
    u, taken, of_all, alone = parts
    middle, n = float(judged.mean()), judged.size
    influences = u + lam * (of_all - taken)
    rows = (influences, judged - middle - influences)
    slopes = np.atleast_1d(np.asarray(lam, np.float64))
    return Corrected(
        *(mean + added, slopes, rows, middle, mean), dot(alone, alone) / (n * (n - 1.0)), n_tuned
    )


def by_label_strata(
    judged: Floats, y: Floats, items: Items, strata: Items, lam: float | None, *, plain: bool
) -> Corrected:
    """Correct where only the labels, `y`, were drawn by stratum.

    `plain` is without the factors for small samples, with the divisor N**2.
    """
    n, here, some = judged.size, strata[items], 0.0
    sizes, labels = np.bincount(strata), np.bincount(here).astype(np.float64)
    means_y, means_f = (np.bincount(here, x) / labels for x in (y, judged[items]))
    y_mean, f_mean = float(sizes @ means_y / n), float(sizes @ means_f / n)
    of_all, drawn = judged - judged.mean(), (sizes / labels)[here]
    own_y, own_f = drawn * (y - means_y[here]), drawn * (judged[items] - means_f[here])

    def with_own(factor: Any) -> list[Floats]:
        found = [(means_y - y_mean)[strata], (means_f - f_mean)[strata]]
        for whole, own in zip(found, (own_y, own_f), strict=True):
            whole[items] += factor * own
        return found

    if lam is None:
        u, taken = with_own(1.0)
        v = of_all - taken
        some = float(dot(v, v) > _NOTHING * (dot(of_all, of_all) + dot(taken, taken)))
        lam = max(-dot(u, v) / dot(v, v), 0.0) if some else 0.0
    spare = labels.sum() - labels.size
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.sqrt(labels / (labels - 1.0) * (sizes - 1.0) / sizes)[here]
        alone = with_own(1.0 if plain else small)
        parts = with_own(1.0 if plain else small * np.sqrt(spare / (spare - some)))
    back = np.sqrt((n - 1.0) / n) if plain else 1.0
    every = [back * x for x in (*parts, of_all, alone[0])]
    return _combined(judged, y_mean, lam * float(judged.mean() - f_mean), every, lam, int(some))


def of_these_items(judged: Floats, y: Floats, items: Items, lam: float | None) -> Corrected:
    """Correct the mean of these items alone, which vary in which of them have labels.

    Without a given slope it is that of the regression, by whose weights residuals count.
    """
    size, n, weights, n_tuned = judged.size, np.float64(items.size), 1.0, 0
    f = judged[items] - judged[items].mean()
    gap = float(judged.mean() - judged[items].mean())
    if lam is None:
        lam = 0.0
        if f @ f > _NOTHING * (judged[items] @ judged[items]):
            lam, n_tuned = float(f @ y / (f @ f)), 1
            weights = 1.0 + gap * f * (n / (f @ f))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt((1.0 - n / size) * size * (size - 1.0) / (n * (n - 1.0)))
    u, alone = np.zeros(size), np.zeros(size)
    u[items] = scale * weights * (y - y.mean() - lam * f)
    alone[items] = scale * (y - y.mean())
    made = _combined(judged, float(y.mean()), lam * gap, (u, 0.0, 0.0, alone), lam, n_tuned)
    return made._replace(rows=(u, -u))


def by_probabilities(
    judged: Floats, y: Floats, items: Items, probabilities: Floats, lam: float | None
) -> Corrected:
    """Horvitz and Thompson's estimate: labels over the probabilities of having them."""
    u, taken = np.zeros(judged.size), np.zeros(judged.size)
    u[items], taken[items] = y / probabilities[items], judged[items] / probabilities[items]
    mean, gap = float(u.mean()), float(judged.mean() - taken.mean())
    u, v = u - mean, judged - taken - gap
    if lam is None:
        lam = -dot(u, v) / dot(v, v) if dot(v, v) > 0.0 else 0.0
    return _combined(judged, mean, lam * gap, (u, 0.0, v, u), lam)


def outside(
    judged: Floats, human: Floats, labelled: NDArray[np.bool_], design: Design, lam: float | None
) -> Corrected:
    """The published convention: the judge's mean is over the units without labels.

    Divisors and slopes are those of the programs that published it: n and N - n and a slope
    within [0, 1] of independent units, one less and any slope with strata or `design.clusters`.
    """
    n_units, simple = design.n_units, design.strata is None and design.clusters is None
    parts, mean, added, less = np.zeros((4, n_units)), 0.0, 0.0, 0 if simple else 1
    slopes = []
    for h, share in enumerate(design.shares):
        here = np.ones(n_units, np.bool_) if design.strata is None else design.strata == h
        places, others = (np.flatnonzero(here & mask) for mask in (labelled, ~labelled))
        n, m, f, y = places.size, others.size, judged[places], human[places]
        slope = lam
        if slope is None:
            spread = float(np.var(judged[here], ddof=1)) * (1.0 + n / m)
            cov = float((f - f.mean()) @ (y - y.mean())) / (n - less)
            slope = cov / spread if spread > 0.0 else 0.0
            slope = min(max(slope, 0.0), 1.0) if simple else slope
        for k, (at, x) in enumerate(((places, y), (places, f), (others, judged[others]))):
            stretch = share * np.sqrt(n_units * (n_units - 1.0) / (x.size * (x.size - less)))
            parts[k, at] = stretch * (x - x.mean())
        parts[3, here] = slope
        mean += share * float(y.mean())
        added += share * slope * float(judged[others].mean() - f.mean())
        slopes.append(slope)
    every = (*parts[:3], parts[0])
    return _combined(judged, mean, added, every, parts[3])._replace(lam=np.array(slopes))


# Degrees of freedom by Satterthwaite: units with labels, for either of two models, and others.


def degrees(
    rows: Floats,
    labelled: Sequence[Items],
    design: Design,
    n_tuned: Any,
    *,
    lost: int = 1,
    by_stratum: bool = False,
) -> tuple[Floats, Floats]:
    """Covariance of M means by influences of units, (M, G), and degrees of freedom, (M, M).

    Those on the diagonal are of each mean alone, the others of differences. `lost` are those
    that means of labels take away in each stratum.
    """
    n_models, n_units = rows.shape
    divisor = n_units * (n_units - 1.0)
    covariance = (np.array([[dot(rows[0], rows[0])]]) if n_models == 1 else rows @ rows.T) / divisor
    whole = _of_pairs(covariance)
    same = all(np.array_equal(labelled[0], other) for other in labelled[1:])
    some = labelled[0] if same else np.unique(np.concatenate(labelled))
    layers = []
    for h in range(design.shares.size):
        inside = None if design.strata is None else design.strata == h
        columns = some if inside is None else some[inside[some]]
        own = rows[:, columns]
        gram = own @ own.T / divisor
        of_labels = _of_pairs(gram)
        counts = either = np.full((n_models, n_models), float(columns.size))
        if not same:
            known = np.stack([np.isin(columns, places) for places in labelled]).astype(np.float64)
            lacking = 1.0 - known
            crossed = (lacking * own**2) @ lacking.T / divisor
            both = (lacking * own) @ (lacking * own).T / divisor
            # Units that have labels of neither.
            neither = crossed + crossed.T - 2.0 * both
            np.fill_diagonal(neither, np.diagonal(crossed))
            of_labels -= neither
            n = known.sum(axis=1)
            counts, either = np.minimum.outer(n, n), np.add.outer(n, n) - known @ known.T
        here, size = whole, n_units
        if inside is not None:
            gram = rows[:, inside] @ rows[:, inside].T / divisor
            here, size = _of_pairs(gram), int(inside.sum())
        others = np.maximum(here - of_labels, 0.0)
        layers.append((counts - lost, of_labels, others, np.maximum(size - either - 1.0, 1.0)))
    tuning = np.maximum.outer(n_tuned, n_tuned).astype(np.float64)
    spare = sum(layer[0] for layer in layers)
    quotients = np.zeros_like(whole)
    with np.errstate(divide="ignore", invalid="ignore"):
        for free, of_labels, others, of_others in layers:
            left = free - tuning if by_stratum else free * (spare - tuning) / spare
            quotients += of_labels**2 / np.where(left > 0.0, left, np.nan) + others**2 / of_others
        df = whole**2 / quotients
    return covariance, np.where(whole > 0.0, df, np.maximum(spare - tuning, 1.0))


def _of_pairs(gram: Floats) -> Floats:
    """Variances of all differences, and on the diagonal of each mean."""
    variances = np.diagonal(gram)
    differences = np.add.outer(variances, variances) - 2.0 * gram
    np.fill_diagonal(differences, variances)
    return np.asarray(np.maximum(differences, 0.0))
