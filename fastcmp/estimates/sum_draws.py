"""Swaps of items between two models, and the bootstrap, of metrics of sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcmp.core.checks import ALTERNATIVES
from fastcmp.core.threads import parts
from fastcmp.core.typing import Flags, Floats, Ints, Pairs
from fastcmp.estimates.sum_inputs import Sums
from fastcmp.estimates.sum_metrics import SumMetric
from fastcmp.kernels.sign_flips import sign_flip_whole

#: Units that differ, up to which all swaps are looked at.
MOST_ENUMERATED = 20
_LOW = 1 << 13  # swaps of the first units, which are added to those of the others
_BITS = 1 << 22  # swaps of units that are drawn together
_CELLS = 1 << 19  # totals that are evaluated together
_TIE = 1e-9
_MOST_BITS = 62  # of a number of swaps that is kept
_FLIPS = 1 << 28  # additions for exact flips of signs, of all pairs
_DRAWS = 256  # draws of the bootstrap of one generator


#: The size of a difference, by the alternative.
_SIZES: dict[str, Any] = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


def swap_tests(
    data: Sums, pairs: Pairs, metric: SumMetric, n_resamples: int, seed: int, alternative: str
) -> tuple[Floats, Ints, Flags]:
    """Tests by swaps of whole units between the models of each pair, all swaps or drawn ones.

    Units with the same sums of both take no part. Swaps that leave no value count as extreme.
    Of each pair the p-value, how many ways were looked at (all, at most 2**62, or those drawn),
    and whether they were drawn.
    """
    stats, totals = data.stats, data.totals
    values, size = metric.values(totals), _SIZES[alternative]
    observed = values[pairs[:, 0]] - values[pairs[:, 1]]
    unit = np.minimum(1.0, np.abs(values)[pairs].max(axis=1))  # metrics may have tiny units
    limit = size(observed) - _TIE * np.maximum(unit, np.abs(observed))
    pvalue, n_ways = np.full(len(pairs), np.nan), np.zeros(len(pairs), np.int64)
    for p in np.flatnonzero(~np.isnan(observed)).tolist():
        i, j = pairs[p].tolist()
        apart = stats[i] - stats[j]
        apart = apart[apart.any(axis=1)]
        n_ways[p] = 1 << min(len(apart), _MOST_BITS)
        if len(apart) <= MOST_ENUMERATED:
            both = (totals[i], totals[j])
            pvalue[p] = _count_all(apart, both, metric, size, limit[p]) / n_ways[p]
        elif metric.shares is not None and len(apart.T) == 2 and not apart[:, 1].any():
            # Of the same denominators: signs of the differences of numerators.
            gains = apart[:, 0] * (np.sign(observed[p]) * np.sign(apart[:, 0].sum()) or 1.0)
            whole = np.array_equal(gains, np.rint(gains))
            if whole and len(pairs) * len(gains) * np.abs(gains).sum() <= _FLIPS:
                flips = sign_flip_whole(gains.astype(np.int64), ALTERNATIVES[alternative])
                pvalue[p] = flips.pvalue
    drawn = np.isnan(pvalue) & ~np.isnan(observed)
    if drawn.any():
        draws = (n_resamples, seed)
        counted = _count_drawn(data, pairs[drawn], metric, size, limit[drawn], draws)
        pvalue[drawn], n_ways[drawn] = (counted + 1.0) / (n_resamples + 1.0), n_resamples
    return pvalue, n_ways, drawn


def _count_all(apart: Floats, totals: Any, metric: SumMetric, size: Any, limit: float) -> int:
    """Number of the extreme ones of all swaps; those of the first unit turn the sign."""
    if not len(apart):
        return 1
    swapped = np.zeros((1, apart.shape[1]))
    n_low = min(len(apart), _LOW.bit_length()) - 1
    for unit in apart[1 : 1 + n_low]:
        swapped = np.concatenate([swapped, swapped + unit])
    others = np.zeros((1, apart.shape[1]))
    for unit in apart[1 + n_low :]:
        others = np.concatenate([others, others + unit])
    n_extreme = 0
    for shift in others:
        moved = swapped + shift
        difference = metric.values(totals[0] - moved) - metric.values(totals[1] + moved)
        n_extreme += int((~(size(difference) < limit)).sum() + (~(size(-difference) < limit)).sum())
    return n_extreme


def _count_drawn(
    data: Sums, pairs: Pairs, metric: SumMetric, size: Any, limit: Floats, draws: tuple[int, int]
) -> Ints:
    """Numbers of extreme drawn swaps, the same for all pairs; one matrix product."""
    stats, totals, (n_resamples, seed) = data.stats, data.totals, draws
    used, p = np.unique(pairs), totals.shape[1]
    differs = (stats[used] != stats[used[0]]).any(axis=(0, 2))
    rows = stats[used][:, differs].swapaxes(1, 2).reshape(used.size * p, -1)
    i, j = np.searchsorted(used, pairs.T)
    counts = np.zeros(len(pairs), np.int64)
    for part in parts(n_resamples, max(1, _BITS // rows.shape[1])):
        swaps = _drawn_swaps(seed, part, rows.shape[1])
        moved = (rows @ swaps.T).reshape(used.size, p, -1)
        for block in parts(len(pairs), max(1, _CELLS // moved[0].size)):
            change = moved[i[block]] - moved[j[block]]
            of_a, of_b = (
                metric.values((totals[of, :, None] + sign * change).swapaxes(1, 2))
                for of, sign in zip(pairs[block].T, (-1.0, 1.0), strict=True)
            )
            counts[block] += (~(size(of_a - of_b) < limit[block, None])).sum(axis=1)
    return counts


def _drawn_swaps(seed: int, draws: slice, n_units: int) -> Floats:
    """Which units are swapped in some draws, 0 or 1, shape (R, G); draw i is a function of i."""
    words = -(-n_units // 256) * 4
    bits = np.random.Philox(key=seed)
    bits.advance(draws.start * (words // 4))
    raw = bits.random_raw((draws.stop - draws.start) * words).reshape(-1, words)
    drawn = np.unpackbits(raw.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return drawn[:, :n_units].astype(np.float64)


def bootstrap_sums(
    data: Sums,
    pairs: Pairs,
    metric: SumMetric,
    draws: tuple[int, int],
    levels: tuple[float, float],
    alternative: str,
) -> tuple[Floats, Floats, Floats, Floats, int]:
    """Bootstrap of units, within strata, with the same draws for all models.

    Percentile intervals of models, (M, 2), and of pairs, (P, 2), at `levels`; p-values and
    standard errors of pairs; and draws in which some model has no value.
    """
    stats, strata, (n_resamples, seed) = data.stats, data.strata, draws
    m, g, p = stats.shape
    layers = [np.arange(g)]
    if strata is not None:
        layers = [np.flatnonzero(strata == h) for h in range(int(strata.max()) + 1)]
    rows = stats.swapaxes(0, 1).reshape(g, m * p)
    values = np.empty((m, n_resamples))
    for part in parts(n_resamples, _DRAWS):
        generator = np.random.default_rng((seed, part.start // _DRAWS))
        counts = np.zeros((_DRAWS, g))
        for layer in layers:
            units = layer[generator.integers(layer.size, size=(_DRAWS, layer.size))]
            units += g * np.arange(_DRAWS)[:, None]
            counts += np.bincount(units.ravel(), minlength=counts.size).reshape(counts.shape)
        totals = (counts[: part.stop - part.start] @ rows).reshape(-1, m, p)
        values[:, part] = metric.values(totals).T
    observed = metric.values(data.totals)
    missing = np.isnan(values[~np.isnan(observed)]).any(axis=0)
    values = values[:, ~missing]
    n = values.shape[1]
    interval = np.full((len(pairs), 2), np.nan)
    pvalue, error = np.full((2, len(pairs)), np.nan)
    for k, (i, j) in enumerate(pairs.tolist()):
        drawn, difference = values[i] - values[j], observed[i] - observed[j]
        if n < 2 or np.isnan(difference):
            continue
        interval[k], error[k] = _quantiles(drawn, levels[1]), drawn.std(ddof=1)
        if error[k] > 0.0 or difference == 0.0:
            below, above = np.count_nonzero(drawn <= 0.0), np.count_nonzero(drawn >= 0.0)
            tails = {"greater": below, "less": above, "two-sided": 2 * min(below, above) + 1}
            pvalue[k] = min(1.0, (tails[alternative] + 1.0) / (n + 1.0))
    return _quantiles(values, levels[0]), interval, pvalue, error, int(missing.sum())


def _quantiles(drawn: Floats, level: float) -> Floats:
    """Both ends of percentile intervals: least values with this proportion at or below."""
    if not drawn.shape[-1]:
        return np.full((*drawn.shape[:-1], 2), np.nan)
    tails = [0.5 * (1.0 - level), 0.5 * (1.0 + level)]
    return np.moveaxis(np.quantile(drawn, tails, axis=-1, method="inverted_cdf"), 0, -1)
