"""McNemar's tests of many pairs of models on samples in strata that have weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.tails import normal_tail
from fastcmp.counts.correct_bits import RightBits
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.paired.bounded_margins import BoundedUnits, bounded_interval
from fastcmp.paired.cluster_variance import combine
from fastcmp.paired.clustered_tests import quantile, standardized
from fastcmp.paired.stratified_tests import stratum_units, weighted_exact
from fastcmp.pairwise.accuracy_tests import tile_side
from fastcmp.pairwise.joint_draws import BitPart, bit_flips
from fastcmp.pairwise.mean_tests import mean_intervals
from fastcmp.pairwise.pair_tests import PairTests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.labels import Labels

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


class _Strata(NamedTuple):
    """The samples of each stratum."""

    bits: tuple[RightBits, ...]
    sizes: Ints
    #: What one sample of each counts; that of all samples adds up to 1.
    weights: Floats

    def discordant(self, block: Block) -> tuple[Ints, Ints]:
        """Count samples that only the first, only the second got right, (H, p)."""
        counts = [bits.discordant(block) for bits in self.bits]
        only_a, only_b = zip(*counts, strict=True)
        return np.stack(only_a), np.stack(only_b)

    def total(self, counts: Ints, power: int = 1) -> Floats:
        """Weighted sums over strata, (p,): not by BLAS, whose bits depend on the block."""
        weights = self.weights[:, np.newaxis] ** power
        return np.asarray(np.add.accumulate(weights * counts, axis=0)[-1])

    def spread(self, gain: Ints, squares: Ints) -> tuple[Floats, Floats]:
        """Variance and degrees of freedom of weighted means, from sums, (H, p)."""
        n = self.sizes[:, np.newaxis]
        factor = self.weights[:, np.newaxis] * n
        parts = factor**2 * np.maximum(squares / n - (gain / n) ** 2, 0.0) / (n - 1)
        return combine(parts, np.asarray(self.sizes - 1.0))


def stratified_tests(  # the samples, how they are tested, and by which threads
    labels: Labels,
    codes: Ints,
    weights: Floats,
    method: str,
    level: float,
    pool: ThreadPool,
) -> PairTests:
    """Test pairs by right answers in each stratum, of which a sample has a weight."""
    sizes = np.bincount(codes)
    order = np.argsort(codes, kind="stable")
    places = np.split(order, np.cumsum(sizes)[:-1])
    packed = tuple(RightBits.pack(_taken(labels, place), pool) for place in places)
    strata = _Strata(packed, sizes, weights / (weights @ sizes))
    right = np.stack([bits.correct for bits in packed])
    score = strata.weights @ right
    variance, df = strata.spread(right, right)
    n = labels.n_samples

    def bounded(block: Block) -> BoundedUnits:
        only_a, only_b = (x.T for x in strata.discordant(block))
        return stratum_units(only_a, only_b, sizes, strata.weights)

    n_effective = float(1.0 / (strata.weights**2 @ sizes))
    score_interval = mean_intervals(score, variance, df, level, (n, n_effective))

    def spread(block: Block) -> tuple[Floats, Floats, Floats]:
        only_a, only_b = strata.discordant(block)
        found = strata.spread(only_a - only_b, only_a + only_b)
        return strata.total(only_a - only_b), *found

    samples = list(map(BitPart, packed, sizes.tolist(), strata.weights.tolist()))

    def test(block: Block) -> tuple[Ints, Ints, Floats, Floats]:
        only_a, only_b = strata.discordant(block)
        gain = strata.total(only_a - only_b)
        z = standardized(gain, strata.total(only_a + only_b, 2))
        if method == "asymptotic":
            return only_a, only_b, z * z, np.asarray(normal_tail(z, "two-sided"))
        pairs = zip(only_a.T, only_b.T, strict=True)
        pvalue = [
            weighted_exact(a, b, strata.weights, "two-sided", mid=method == "midp")
            for a, b in pairs
        ]
        return only_a, only_b, gain, np.array(pvalue)

    def columns(block: Block) -> PairColumns:
        only_a, only_b, statistic, pvalue = test(block)
        variance, df = strata.spread(only_a - only_b, only_a + only_b)
        i, j = block.pairs.T
        difference = score[i] - score[j]
        half = quantile(level, df) * np.sqrt(variance)
        low, high = (np.clip(difference + x, -1.0, 1.0) for x in (-half, half))
        if (still := np.flatnonzero(variance == 0.0)).size:
            units = bounded(Block(np.arange(still.size), block.pairs[still]))
            low[still], high[still] = bounded_interval(units, level)
        counts = (only_a.sum(axis=0), only_b.sum(axis=0))
        return PairColumns(*counts, difference, low, high, statistic, pvalue)

    return PairTests(
        n_samples=n,
        correct=right.sum(axis=0),
        score=score,
        score_interval=score_interval,
        distribution="chi2" if method == "asymptotic" else "permutation",
        df=1 if method == "asymptotic" else None,
        side=tile_side(n),
        pvalues=lambda block: test(block)[-1],
        columns=columns,
        spread=spread,
        limits=(-1.0, 1.0),
        bounded=bounded,
        flips=lambda draws, _: bit_flips(samples, draws),
    )


def _taken(labels: Labels, place: Ints) -> Labels:
    """Select samples."""
    preds = tuple(pred[place] for pred in labels.preds)
    return replace(labels, y_true=labels.y_true[place], preds=preds)
