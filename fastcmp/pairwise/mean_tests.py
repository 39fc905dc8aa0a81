"""Student's t tests of the means of many pairs of models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.numbers import times, wilson_interval
from fastcmp.core.threads import parts
from fastcmp.core.typing import Floats, Ints, Numbers, Pairs
from fastcmp.counts.pairs import Block, PairColumns, RightBits, tile_side
from fastcmp.counts.value_sums import LOST, MeanEstimate, PairMoments
from fastcmp.kernels.cluster_means import mean_t_many, t_quantile
from fastcmp.kernels.status import TWO_SIDED
from fastcmp.paired.margins import BoundedUnits, bounded_interval, stratum_units
from fastcmp.paired.units import constant_pvalue
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.joint_draws import BitPart, bit_flips
from fastcmp.pairwise.model_estimates import Estimates, sums_by_unit

_SIDE = 128  # models of a side of a tile, at most; a multiple of TILE_ROWS
_ZERO = 1e-12  # of the squares; less is rounding where no values are left to look at
_ROUNDED = (64 * np.finfo(np.float64).eps) ** 2  # of squares; less may be rounding of values
_SPAN = 1 << 16
_NONE = np.empty(0)


class PairMeans(NamedTuple):
    """The differences of some pairs, and how sure they are; each of shape (p,)."""

    difference: Floats
    variance: Floats
    df: Floats
    #: Items on which only the first, or the second, has the value 1; None unless all
    #: values are 0 or 1 and were counted.
    only_a: Ints | None = None
    only_b: Ints | None = None


def moment_tests(
    moments: PairMoments,
    confidence_level: float,
    direct: Callable[[int, int], MeanEstimate] | None = None,
    exact: Callable[[int, int], float] | None = None,
    bounded: Callable[[Block], BoundedUnits] | None = None,
) -> PairTests:
    """Tests of pairs by the moments of all; `direct` looks at the values of a pair again.

    It is asked where a variance is a small difference of large numbers; `exact` and
    `bounded` are as in `assemble_tests`.
    """
    relative = moments.mean if moments.relative is None else moments.relative
    covariance, scale = moments.covariance, moments.scale
    variances = np.diagonal(covariance)
    shared = np.ndim(moments.df) == 0
    rounded = _ROUNDED * (moments.mean**2 + moments.n_units * moments.variance)

    def means(block: Block) -> PairMeans:
        i, j = block.pairs.T.astype(np.intp)
        difference = relative[i] - relative[j]
        variance = variances[i] + variances[j] - 2.0 * covariance[i, j]
        df = np.array([float(moments.df)]) if shared else moments.df[i, j]
        size, least = scale[i] + scale[j], rounded[i] + rounded[j]
        if direct is None:
            variance[variance < np.maximum(_ZERO * size, least / moments.n_units)] = 0.0
            return PairMeans(difference, variance, df)
        for p in np.flatnonzero(variance <= np.maximum(LOST * size, least)):
            again = direct(int(i[p]), int(j[p]))
            difference[p], variance[p] = again.difference, again.variance
            if not shared:
                df[p] = again.df
        return PairMeans(difference, variance, df)

    df = moments.df
    if not shared:  # of the pairs of each model, the least
        df = np.where(np.eye(len(df), dtype=bool), np.inf, df).min(axis=1)
    sizes = None if bounded is None else (moments.n_items, 1.0 / moments.largest)
    intervals = mean_intervals(moments.mean, moments.variance, df, confidence_level, sizes)
    return assemble_tests(
        *(moments.n_items, moments.mean, intervals, means, confidence_level),
        shared_df=float(moments.df) if shared else None,
        exact=exact,
        bounded=bounded,
        ranking=relative,
    )


def estimate_tests(estimates: Estimates, confidence_level: float) -> PairTests:
    """Tests of pairs of estimates by t, or by z where their variances are known."""
    rows = estimates.influences
    n_units = estimates.n_units or 1
    df: Any = estimates.df if estimates.pair_df is None else estimates.pair_df
    sign = -1.0 if estimates.lower_is_better else 1.0
    moments = PairMoments(
        n_items=estimates.n_items or 0,
        n_units=n_units,
        mean=estimates.values,
        variance=estimates.variance,
        covariance=estimates.covariance,
        df=df,
        largest=1.0 / n_units,
        scale=estimates.variance,
        relative=sign * estimates.merit,
    )

    def direct(a: int, b: int) -> MeanEstimate:
        """The same of the difference of two rows, which loses no digits."""
        assert rows is not None
        apart = sums_by_unit(rows[[a]] - rows[[b]], estimates.codes)[0]
        variance = apart @ apart * (n_units / (n_units - 1.0) / rows.shape[1] ** 2)
        difference = sign * (estimates.merit[a] - estimates.merit[b])
        if variance <= _ROUNDED * (estimates.variance[a] + estimates.variance[b]):
            variance = 0.0  # all of it is rounding, and perhaps the difference
            if difference**2 <= _ROUNDED * max(estimates.values[a] ** 2, estimates.values[b] ** 2):
                difference = 0.0
        pair_df = df if estimates.pair_df is None else df[a, b]
        return MeanEstimate(difference, variance, pair_df)

    tests = moment_tests(moments, confidence_level, None if rows is None else direct)
    low, high = (float(times(end, -estimates.exponent)) for end in estimates.limits)
    own_df = df if estimates.pair_df is None else np.diagonal(estimates.pair_df)
    alone = mean_intervals(estimates.values, estimates.variance, own_df, confidence_level, None)
    reach = high - low
    columns = tests.columns

    def clipped(block: Block) -> PairColumns:
        unclipped = columns(block)
        low, high = (np.clip(end, -reach, reach) for end in (unclipped.low, unclipped.high))
        return unclipped._replace(low=low, high=high)

    return replace(
        tests,
        columns=clipped,
        score_interval=np.clip(alone, low, high),
        limits=(-reach, reach),
        exponent=estimates.exponent,
    )


def mean_intervals(
    mean: Floats, variance: Floats, df: Numbers, level: float, sizes: tuple[int, float] | None
) -> Floats:
    """Compute the interval of each mean alone, shape (M, 2).

    Means of values between 0 and 1 have `sizes`, of items and of units: their intervals
    are Wilson's for the number of independent items that would have this variance.
    """
    df = np.asarray(df, np.float64)  # of all models, or of each
    quantile: Any = np.array([t_quantile(x, level) for x in df.ravel().tolist()]).reshape(df.shape)
    if sizes is None:
        spread = quantile * np.sqrt(variance)
        return np.stack([mean - spread, mean + spread], axis=1)
    rate = np.clip(mean, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(variance > 0.0, rate * (1.0 - rate) / variance, sizes[0])
    n = np.where((rate == 0.0) | (rate == 1.0), sizes[1], np.minimum(n, sizes[0]))
    return np.stack(wilson_interval(rate, n, quantile), axis=1)


def bit_tests(
    bits: RightBits, n: int, confidence_level: float, df: float, factor: float
) -> PairTests:
    """Tests of pairs by packed rows of values that are 0 or 1.

    `factor` is what each squared residual counts, n / (n - 1) in the usual variance.
    """
    mean = bits.correct / n

    def means(block: Block) -> PairMeans:
        only_a, only_b = bits.discordant(block)
        return of_counts(only_a, only_b)

    def of_counts(only_a: Any, only_b: Any) -> PairMeans:
        gain = only_a - only_b
        # Whole numbers up to the last step.
        squares = n * (only_a + only_b) - gain * gain
        variance = squares * (factor / (float(n) * n * n))
        return PairMeans(gain / n, variance, np.array([df]), only_a, only_b)

    variance = factor * mean * (1.0 - mean) / n
    ends = mean_intervals(mean, variance, df, confidence_level, (n, n))

    def bounded(block: Block) -> BoundedUnits:
        only_a, only_b = (x[:, np.newaxis] for x in bits.discordant(block))
        return stratum_units(only_a, only_b, np.array([n]), np.ones(1))

    tests = assemble_tests(
        *(n, mean, ends, means, confidence_level), shared_df=df, exact=lambda *_: n, bounded=bounded
    )

    def details(_: NDArray[np.int32], columns: PairColumns) -> dict[str, Any]:
        variance = of_counts(columns.only_a, columns.only_b).variance
        return {
            "standard_error": np.sqrt(variance),
            "only_a": columns.only_a,
            "only_b": columns.only_b,
        }

    samples = [BitPart(bits, n)]
    return replace(
        tests, side=tile_side(n), details=details, flips=lambda draws, _: bit_flips(samples, draws)
    )


def assemble_tests(
    n_items: int,
    mean: Floats,
    interval: Floats,
    means_of: Callable[[Block], PairMeans],
    confidence_level: float,
    *,
    shared_df: float | None,
    exact: Callable[[int, int], float] | None = None,
    bounded: Callable[[Block], BoundedUnits] | None = None,
    ranking: Floats | None = None,
) -> PairTests:
    """Tests of pairs whose differences, variances and d.o.f. `means_of` gives.

    Differences without any variance have no t. Where they are the same in all units,
    `exact` has the number of these, and the p-value is that of flipping their signs;
    where they lie between -1 and 1, `bounded` has what an interval follows from.
    """
    limits = (-np.inf, np.inf) if bounded is None else (-1.0, 1.0)

    def test(block: Block, means: PairMeans, level: float) -> Floats:
        out = np.empty((means.difference.size, 5))
        mean_t_many(*means[:3], (TWO_SIDED, level), out)
        for p in np.flatnonzero((means.variance == 0.0) & (means.difference != 0.0)):
            out[p, 2:4] = np.nan
            if exact is not None:
                out[p, 1] = constant_pvalue(means.difference[p], exact(*block.pairs[p].tolist()))
        return out

    def columns(block: Block) -> PairColumns:
        means = means_of(block)
        statistic, pvalue, low, high, _ = test(block, means, confidence_level).T
        still = np.flatnonzero(means.variance == 0.0)
        if bounded is not None and still.size:
            units = bounded(Block(np.arange(still.size), block.pairs[still]))
            low[still], high[still] = bounded_interval(units, confidence_level)
        none = np.full(pvalue.size, -1)
        only_a = none if means.only_a is None else means.only_a
        only_b = none if means.only_b is None else means.only_b
        low, high = (np.clip(end, *limits) for end in (low, high))
        results = (means.difference, low, high, statistic, pvalue, np.sqrt(means.variance))
        return PairColumns(only_a, only_b, *results)

    def details(pairs: Pairs, columns: PairColumns) -> dict[str, Any]:
        if shared_df is not None and columns.standard_error is not None:
            return {"standard_error": columns.standard_error}
        means = [means_of(Block(part, pairs[part])) for part in parts(len(pairs), _SPAN)]
        errors = [np.sqrt(of_part.variance) for of_part in means]
        fields = {"standard_error": np.concatenate([_NONE, *errors])}
        if shared_df is None:
            fields["df"] = np.concatenate([_NONE, *(of_part.df for of_part in means)])
        return fields

    normal = shared_df == np.inf
    return PairTests(
        n_samples=n_items,
        correct=None,
        score=mean,
        score_interval=interval,
        distribution="normal" if normal else "t",
        df=None if normal else shared_df,
        side=_SIDE,
        is_quick=True,
        pvalues=lambda block: test(block, means_of(block), 0.0)[:, 1].copy(),
        columns=columns,
        with_errors=True,
        ranking=mean if ranking is None else ranking,
        details=details,
        spread=lambda block: means_of(block)[:3],
        limits=limits,
        bounded=bounded,
    )
