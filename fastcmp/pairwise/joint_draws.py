"""Numbers of all models that are drawn together, as if all were equally good.

Differences of them show how far the statistics of all pairs go by chance, at once:
models that err on the same samples are drawn alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import Draws
from fastcmp.core.threads import ThreadPool, check_draws, check_memory
from fastcmp.core.typing import Floats, Ints
from fastcmp.counts.pairs import Block, RightBits, Spread, count_pairs, tiles_of
from fastcmp.counts.units import SignDraws, signed_sums
from fastcmp.kernels.bits import allocate_words, count_bits, cross_counts
from fastcmp.pairwise.max_t import directions, t_scales
from fastcmp.pairwise.model_estimates import RowDistances

#: All signs are looked at where there are so many or fewer.
_ALL = 1 << 14
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


class Joint(NamedTuple):
    """Draws of all models together, and the statistics of pairs that they are for."""

    #: Numbers of the models in some draws, (M, r).
    draws: Callable[[slice], Floats]
    n_draws: int
    seed: int
    #: "sign flips" or "normal draws".
    kind: str
    #: The draws are all there are.
    complete: bool = False
    #: Of normal draws: the length of the vector of independent numbers that each is
    #: made of, on its scale, shape (B,), and how many these are.
    radii: Floats | None = None
    rank: int = 0
    #: Degrees of freedom of the statistics; infinite for normal ones.
    df: float = math.inf
    #: From a block of pairs to its statistics, NaN for no test, and what makes
    #: differences of draws such statistics.
    standardized: Callable[[Block], tuple[Floats, Floats]] | None = None

    @property
    def added(self) -> int:
        """What is added to a count of draws, and to their number, for a p-value."""
        return 0 if self.complete else 1


class BitPart(NamedTuple):
    """Samples, and what one of them counts."""

    bits: RightBits
    n_samples: int
    weight: float = 1.0


def bit_flips(samples: Sequence[BitPart], draws: Draws) -> Joint:
    """Flip which model of each pair is right, sample by sample, the same for all pairs.

    A sum with signs is twice the right answers whose sign is +, less all of them.
    """
    n_models = samples[0].bits.correct.size
    informative = [_informative(part, n_models) for part in samples]
    signs = SignDraws.of(sum(x.size for x in informative), _ALL, *draws)
    used = list(samples)
    if signs.complete:
        used = [_selected(*selection) for selection in zip(samples, informative, strict=True)]

    def flip(span: slice) -> Floats:
        size = span.stop - span.start
        total, start, word = np.zeros((n_models, size)), 0, 0
        for bits, n, weight in used:
            drawn = signs.words(span, slice(start, start + n), word)
            rows = allocate_words(size, n)
            rows[:size, : len(drawn)] = drawn.T
            counts = np.empty((len(bits.words), len(rows)), np.int64)
            cross_counts(bits.words, rows, counts)
            sums = 2 * counts[:n_models, :size] - bits.correct[:, np.newaxis]
            total += weight * sums
            start, word = start + n, word + len(drawn)
        return total

    def standardized(block: Block) -> tuple[Floats, Floats]:
        gain, squares = np.zeros((2, len(block.pairs)))
        for bits, _, weight in samples:
            only_a, only_b = bits.discordant(block)
            gain += weight * (only_a - only_b)
            squares += weight**2 * (only_a + only_b)
        return _divided(gain, squares)

    return Joint(
        flip, *(signs.n_draws, signs.seed, "sign flips", signs.complete), standardized=standardized
    )


def _informative(part: BitPart, n_models: int) -> Ints:
    """The samples that not all models got right, nor all wrong."""
    words = part.bits.words[:n_models]
    differ = np.bitwise_or.reduce(words, axis=0) ^ np.bitwise_and.reduce(words, axis=0)
    bits = np.unpackbits(differ.view(np.uint8), bitorder="little")
    return np.flatnonzero(bits[: part.n_samples])


def _selected(part: BitPart, samples: Ints) -> BitPart:
    """The same models on a few samples."""
    n_models = part.bits.correct.size
    words = allocate_words(n_models, max(samples.size, 1))
    for bit, sample in enumerate(samples.tolist()):
        bits = part.bits.words[:n_models, sample // 64] >> np.uint64(sample % 64)
        words[:n_models, 0] |= (bits & np.uint64(1)) << np.uint64(bit)
    correct = np.array([count_bits(row) for row in words[:n_models]])
    return BitPart(RightBits(words, correct), samples.size, part.weight)


def row_flips(rows: Floats, draws: Draws, pool: ThreadPool, most: int = _ALL) -> Joint:
    """Flip the signs of units, such as items or clusters, the same for all models.

    `rows`, shape (M, G), has what each unit adds to the score of a model, up to a
    factor; it is changed. All signs are looked at where there are `most` or fewer.
    """
    n_models, largest = len(rows), np.abs(rows).max(axis=0, initial=0.0)
    noise = _ROUNDING**2 * float(largest @ largest)
    distances = RowDistances(rows, noise, all_pairs=True)
    differ = np.abs(rows).max(axis=0) > _ROUNDING * largest
    signs = SignDraws.of(int(np.count_nonzero(differ)), most, *draws)
    if signs.complete:
        rows = np.ascontiguousarray(rows[:, differ])
    check_draws(signs.n_draws, n_models, of=f" of {n_models} models")
    sums = signed_sums(rows, slice(0, rows.shape[1]), 0, signs, pool)
    totals = rows.sum(axis=1)

    def standardized(block: Block) -> tuple[Floats, Floats]:
        i, j = block.pairs.T
        return _divided(totals[i] - totals[j], distances(block.pairs))

    return Joint(
        lambda span: sums[:, span],
        *(signs.n_draws, signs.seed, "sign flips", signs.complete),
        standardized=standardized,
    )


def _divided(gain: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Divide by standard deviations; a pair that never differs has the statistic 0."""
    unequal = squares > 0.0
    inverse = np.zeros_like(squares)
    inverse[unequal] = 1.0 / np.sqrt(squares[unequal])
    return gain * inverse, inverse


def joint_of_spread(
    spread: Spread, n_models: int, side: int, draws: Draws, pool: ThreadPool
) -> Joint:
    """Draw normal numbers whose differences have the variances of the pairs."""
    variance, df = variances_of(spread, n_models, side, pool)

    def standardized(block: Block) -> tuple[Floats, Floats]:
        return standardize(*spread(block)[:2])

    joint = normal_joint(variance, draws, df, pool)
    return joint._replace(standardized=standardized)


def variances_of(
    spread: Spread, n_models: int, side: int, pool: ThreadPool
) -> tuple[Floats, float]:
    """The variances of all differences, (M, M), and the least d.o.f."""
    check_memory(
        32.0 * n_models**2,
        None,
        f"the variances of all pairs of {n_models} models",
        "compare fewer models",
    )
    variance = np.zeros((n_models, n_models))
    degrees = [np.inf]

    def fill(tile: Any) -> None:
        block = Block.of_tile(tile, n_models)
        i, j = block.pairs.T
        _, of_block, df = spread(block)
        variance[i, j] = variance[j, i] = of_block
        degrees.append(float(np.min(df, initial=np.inf)))

    tiles = [tile for tile in tiles_of(n_models, side) if count_pairs(tile)]
    pool.run(fill, tiles, steps=0)
    return variance, min(degrees)


def standardize(difference: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Divide by standard errors; without variance a difference is infinite, or 0."""
    error, varies = np.sqrt(variance), variance > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = difference / error
    statistic[(difference == 0.0) & (variance == 0.0)] = 0.0
    inverse = np.where(np.isnan(variance), np.nan, 0.0)
    inverse[varies] = 1.0 / error[varies]
    return statistic, inverse


def normal_joint(variance: Floats, draws: Draws, df: float, pool: ThreadPool) -> Joint:
    """Draw normal numbers whose differences have these variances, (M, M).

    With finite degrees of freedom those of each draw have a common scale, as the
    statistics of a multivariate t. Models without variances have zeros.
    """
    check_draws(draws.n, len(variance), of=f" of {len(variance)} models")
    models, covariance = covariance_of(variance)
    drawn, lengths, rank = np.zeros((len(variance), draws.n)), np.zeros(draws.n), 0
    if models.size:
        vectors, lengths, rank = directions(covariance, draws.n, draws.seed, pool)
        if math.isfinite(df):
            scales = t_scales(draws.n, draws.seed, rank, df)
            vectors, lengths = vectors * scales, lengths * scales
        drawn[models] = vectors
    return Joint(
        lambda span: drawn[:, span],
        *(draws.n, draws.seed, "normal draws"),
        radii=lengths,
        rank=rank,
        df=df,
    )


def covariance_of(variance: Floats) -> tuple[Ints, Floats]:
    """The models with variances of differences, and a covariance with these.

    That about the mean of all such models, by Gower's centring.
    """
    lacking = np.count_nonzero(np.isnan(variance), axis=0)
    models = np.flatnonzero(lacking < len(variance) - 1)
    if not models.size:
        return models, np.zeros((0, 0))
    between = variance[np.ix_(models, models)]
    of_model = between.mean(axis=0)
    centred = between - of_model - of_model[:, np.newaxis] + of_model.mean()
    return models, -0.5 * centred
