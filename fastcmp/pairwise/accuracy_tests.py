"""Accuracies of many models, pair by pair: McNemar's tests on joint counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.counts.correct_bits import RightBits
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.paired.mcnemar import evaluate_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.labels import Labels

    Counts = tuple[NDArray[np.int64], NDArray[np.int64]]

_SIDE = 128  # models of a side of a tile, at most; a multiple of TILE_ROWS
_TILE_WORK = 1 << 29  # words that one tile reads at most: some 30 ms


class AccuracyJudge:
    """McNemar's test of pairs of models, from the counts of samples both got right.

    Parameters
    ----------
    correct : ndarray of int64, shape (M,)
        Rightly classified samples of each model.
    n_samples : int
        How many samples there are.
    method : str
        Variant of the test, checked.
    confidence_level : float
        Of all intervals: Newcombe's for differences, Wilson's for accuracies.
    discordant : callable
        From a `Block` to the samples that only the first, only the second model of each
        pair got right.
    """

    def __init__(
        self,
        correct: NDArray[np.int64],
        n_samples: int,
        method: str,
        confidence_level: float,
        discordant: Callable[[Block], Counts],
    ) -> None:
        self.correct, self.n_samples = correct, n_samples
        self.score = correct / n_samples
        self.side = tile_side(n_samples)
        self._method, self._level = method, confidence_level
        self._discordant = discordant

    @property
    def score_interval(self) -> NDArray[np.float64]:
        """Wilson's interval for each accuracy, shape (M, 2)."""
        n, level = self.n_samples, self._level
        return np.array([kernels.wilson_interval(x, n, level) for x in self.correct])

    def pvalues(self, block: Block) -> NDArray[np.float64]:
        """Test the pairs of a block.

        Parameters
        ----------
        block : Block
            Pairs of models.

        Returns
        -------
        ndarray of float64, shape (p,)
            P-values.
        """
        return self._test(*self._discordant(block))[1]

    def outcomes(self, block: Block) -> PairColumns:
        """Test the pairs of a block, and bound their differences.

        Parameters
        ----------
        block : Block
            Pairs of models.

        Returns
        -------
        PairColumns
            All that a record tells of them.
        """
        from fastcmp.kernels.intervals import NEWCOMBE, difference_interval_many

        only_a, only_b = self._discordant(block)
        statistic, pvalue = self._test(only_a, only_b)
        n = self.n_samples
        right = self.correct[block.pairs[:, 0]] - only_a
        wrong = n - right - only_a - only_b
        low, high = np.empty(only_a.size), np.empty(only_a.size)
        options = (NEWCOMBE, self._level)
        difference_interval_many(right, only_a, only_b, wrong, options, low, high)
        difference = (only_a - only_b) / n
        return PairColumns(only_a, only_b, difference, low, high, statistic, pvalue)

    def _test(
        self, only_a: NDArray[np.int64], only_b: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        statistic, pvalue, _ = evaluate_counts(
            only_a, only_b, np.int64(self.n_samples), self._method, "two-sided"
        )
        return statistic, pvalue


def tile_side(n_samples: int) -> int:
    """Choose how many models a side a tile has, so that none takes long.

    Parameters
    ----------
    n_samples : int
        How many samples there are.

    Returns
    -------
    int
        A multiple of ``TILE_ROWS``.
    """
    models = int((_TILE_WORK / (1 + n_samples / 64)) ** 0.5)
    rows = TILE_ROWS
    return min(_SIDE, max(rows, models // rows * rows))


def judge_accuracies(
    labels: Labels, method: str, confidence_level: float, pool: ThreadPool
) -> AccuracyJudge:
    """Pack right and wrong of all models, and judge pairs by these bits.

    Parameters
    ----------
    labels : Labels
        True and predicted codes.
    method : str
        Variant of McNemar's test.
    confidence_level : float
        Of all intervals.
    pool : ThreadPool
        Who packs.

    Returns
    -------
    AccuracyJudge
        Which counts the common bits of a block when it is asked.
    """
    bits = RightBits.pack(labels, pool)
    n = labels.n_samples
    return AccuracyJudge(bits.correct, n, method, confidence_level, bits.discordant)


def judge_joint_counts(
    joint: NDArray[np.int64], n_samples: int, method: str, confidence_level: float
) -> AccuracyJudge:
    """Judge pairs by a matrix of counts.

    Parameters
    ----------
    joint : ndarray of int64, shape (M, M)
        ``joint[i, j]`` samples that models i and j classified rightly.
    n_samples : int
        How many samples there are.
    method : str
        Variant of McNemar's test.
    confidence_level : float
        Of all intervals.

    Returns
    -------
    AccuracyJudge
        Which looks the counts up.
    """
    correct = np.ascontiguousarray(np.diagonal(joint))

    def look_up(block: Block) -> Counts:
        i, j = block.pairs.T
        both = joint[i, j]
        return correct[i] - both, correct[j] - both

    return AccuracyJudge(correct, n_samples, method, confidence_level, look_up)
