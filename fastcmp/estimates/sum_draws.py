"""Swaps of items between two models, and the bootstrap, of metrics of sums."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import parts
from fastcmp.estimates.sum_metrics import SumMetric

Floats = NDArray[np.float64]
Pairs = NDArray[np.int32]

#: Units that differ, up to which all swaps are looked at.
MOST_ENUMERATED = 20
_LOW = 1 << 13  # swaps of the first units, which are added to those of the others
_BITS = 1 << 22  # swaps of units that are drawn together
_CELLS = 1 << 19  # totals that are evaluated together
_TIE = 1e-9
_DRAWS = 256  # draws of the bootstrap of one generator


class Swaps(NamedTuple):
    """Permutation tests of pairs, each of shape (P,)."""

    pvalue: Floats
    #: Ways to swap that were looked at: all, or those drawn.
    n_configurations: NDArray[np.int64]
    #: Whether these are all.
    exact: NDArray[np.bool_]


def swap_tests(
    tables: list[Floats], pairs: Pairs, metric: SumMetric, n_resamples: int, seed: int
) -> Swaps:
    """Swap whole units between the models of each pair, in all ways or in drawn ones.

    Units with the same sums of both take no part. Swaps that leave no value count as extreme.
    """
    totals = np.stack([np.ones(len(table)) @ table for table in tables])
    values = metric.values(totals)
    observed = values[pairs[:, 0]] - values[pairs[:, 1]]
    limit = np.abs(observed) - _TIE * np.maximum(1.0, np.abs(observed))
    found = Swaps(
        np.full(len(pairs), np.nan), np.zeros(len(pairs), np.int64), np.ones(len(pairs), np.bool_)
    )
    for p, (i, j) in enumerate(pairs.tolist()):
        apart = tables[i] - tables[j]
        apart = apart[apart.any(axis=1)]
        if len(apart) > MOST_ENUMERATED:
            found.exact[p] = False
        elif not np.isnan(observed[p]):
            n = 1 << len(apart)
            found.n_configurations[p] = n
            found.pvalue[p] = _count_all(apart, totals[i], totals[j], metric, limit[p]) / n
    rest = np.flatnonzero(~found.exact & ~np.isnan(observed))
    if rest.size:
        n_extreme = _count_drawn(
            tables, totals, pairs[rest], metric, limit[rest], n_resamples, seed
        )
        found.pvalue[rest] = (n_extreme + 1.0) / (n_resamples + 1.0)
        found.n_configurations[rest] = n_resamples
    return found


def _count_all(apart: Floats, a: Floats, b: Floats, metric: SumMetric, limit: float) -> int:
    """Count the extreme ones of all swaps; the first unit stays, as its swap turns the sign."""
    if not len(apart):
        return 1
    swapped = np.zeros((apart.shape[1], 1))
    n_low = min(len(apart) - 1, _LOW.bit_length() - 1)
    for unit in apart[1 : 1 + n_low]:
        swapped = np.concatenate([swapped, swapped + unit[:, None]], axis=1)
    others = np.zeros((1, apart.shape[1]))
    for unit in apart[1 + n_low :]:
        others = np.concatenate([others, others + unit])
    n_extreme = 0
    for shift in others:
        moved = swapped + shift[:, None]
        n_extreme += int(_extreme(a[:, None] - moved, b[:, None] + moved, metric, limit))
    return 2 * n_extreme


def _extreme(a: Floats, b: Floats, metric: SumMetric, limit: Any) -> NDArray[np.int64]:
    """Count the extreme differences of totals of shape (..., p, R), shape (...)."""
    apart = metric.values(np.moveaxis(a, -2, -1)) - metric.values(np.moveaxis(b, -2, -1))
    return np.asarray((~(np.abs(apart) < np.asarray(limit)[..., None])).sum(-1))


def _count_drawn(
    tables: list[Floats],
    totals: Floats,
    pairs: Pairs,
    metric: SumMetric,
    limit: Floats,
    n_resamples: int,
    seed: int,
) -> NDArray[np.int64]:
    """Count the extreme ones of drawn swaps, the same for all pairs; one matrix product."""
    m, p = totals.shape
    used = np.unique(pairs)
    differs = np.zeros(len(tables[0]), np.bool_)
    for k in used[1:]:
        differs |= (tables[k] != tables[used[0]]).any(axis=1)
    rows = np.stack([tables[k][differs].T for k in used]).reshape(used.size * p, -1)
    place = np.zeros(m, np.int64)
    place[used] = np.arange(used.size)
    counts = np.zeros(len(pairs), np.int64)
    for some in parts(n_resamples, max(1, _BITS // rows.shape[1])):
        swaps = _drawn_swaps(seed, some, rows.shape[1])
        moved = (rows @ swaps.T).reshape(used.size, p, -1)
        for block in parts(len(pairs), max(1, _CELLS // moved[0].size)):
            i, j = pairs[block].T
            change = moved[place[i]] - moved[place[j]]
            of_a = totals[i][:, :, None] - change
            of_b = totals[j][:, :, None] + change
            counts[block] += _extreme(of_a, of_b, metric, limit[block])
    return counts


def _drawn_swaps(seed: int, draws: slice, n_units: int) -> Floats:
    """Which units are swapped in some draws, 0 or 1, shape (R, G); draw i is a function of i."""
    words = -(-n_units // 256) * 4
    bits = np.random.Philox(key=seed)
    bits.advance(draws.start * (words // 4))
    raw = bits.random_raw((draws.stop - draws.start) * words).reshape(-1, words)
    drawn = np.unpackbits(raw.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return drawn[:, :n_units].astype(np.float64)


class Bootstrap(NamedTuple):
    """Percentile intervals of models (M, 2), and of pairs with p-values and errors, (P, ...)."""

    score_interval: Floats
    pvalue: Floats
    interval: Floats
    standard_error: Floats
    #: Draws in which some model has no value.
    n_undefined: int


def bootstrap_sums(
    tables: list[Floats],
    strata: NDArray[np.int64] | None,
    pairs: Pairs,
    metric: SumMetric,
    n_resamples: int,
    seed: int,
    level: float,
) -> Bootstrap:
    """Draw units with replacement, within strata, the same for all models."""
    m, (g, p) = len(tables), tables[0].shape
    layers = [np.arange(g)]
    if strata is not None:
        layers = [np.flatnonzero(strata == h) for h in range(int(strata.max()) + 1)]
    rows = np.concatenate(tables, axis=1)
    values = np.empty((m, n_resamples))
    for some in parts(n_resamples, _DRAWS):
        generator = np.random.default_rng((seed, some.start // _DRAWS))
        counts = np.zeros((_DRAWS, g))
        for layer in layers:
            units = layer[generator.integers(layer.size, size=(_DRAWS, layer.size))]
            units += g * np.arange(_DRAWS)[:, None]
            counts += np.bincount(units.ravel(), minlength=counts.size).reshape(counts.shape)
        totals = (counts[: some.stop - some.start] @ rows).reshape(-1, m, p)
        values[:, some] = metric.values(totals).T
    observed = metric.values(np.stack([table.sum(0) for table in tables]))
    missing = np.isnan(values[~np.isnan(observed)]).any(axis=0)
    values = values[:, ~missing]
    n = values.shape[1]
    score_interval = np.stack([_quantiles(row, level) for row in values])
    interval = np.full((len(pairs), 2), np.nan)
    pvalue, error = np.full((2, len(pairs)), np.nan)
    for k, (i, j) in enumerate(pairs.tolist()):
        drawn, difference = values[i] - values[j], observed[i] - observed[j]
        if n < 2 or np.isnan(difference):
            continue
        interval[k], error[k] = _quantiles(drawn, level), drawn.std(ddof=1)
        if error[k] > 0.0 or difference == 0.0:
            fewest = min(np.count_nonzero(drawn <= 0.0), np.count_nonzero(drawn >= 0.0))
            pvalue[k] = min(1.0, 2.0 * (fewest + 1.0) / (n + 1.0))
    return Bootstrap(score_interval, pvalue, interval, error, int(missing.sum()))


def _quantiles(drawn: Floats, level: float) -> Floats:
    """Both ends of a percentile interval: least values with this proportion at or below."""
    if not drawn.size:
        return np.full(2, np.nan)
    tails = [0.5 * (1.0 - level), 0.5 * (1.0 + level)]
    return np.asarray(np.quantile(drawn, tails, method="inverted_cdf"))
