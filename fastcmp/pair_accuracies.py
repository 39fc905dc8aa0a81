"""Accuracies of many models, pair by pair: McNemar's tests on packed bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels
from fastcmp.crew import Crew, parts
from fastcmp.paired import evaluate_counts
from fastcmp.pairs import PairOutcomes, all_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.labels import Labels

_TILE = 128  # models a side, at most; a multiple of kernels.TILE_ROWS
_PAIRS = 64  # chosen pairs that are counted in one task
_CHUNK = 16_384  # pairs whose p-values are one task
_PACKED = 1 << 22  # samples whose packing is one task


def compare_accuracies(
    labels: Labels,
    chosen: NDArray[np.int32] | None,
    method: str,
    confidence_level: float,
    crew: Crew,
) -> PairOutcomes:
    """Test pairs of models for equal accuracy.

    Parameters
    ----------
    labels : Labels
        True and predicted codes.
    chosen : ndarray of int32, shape (P, 2), or None
        Pairs to compare; None for all.
    method : str
        Variant of McNemar's test.
    confidence_level : float
        Of all intervals.
    crew : Crew
        Who does the work.

    Returns
    -------
    PairOutcomes
        Newcombe's intervals for differences and Wilson's for accuracies among them.
    """
    n_models, n = len(labels.names), labels.n_samples
    n_pairs = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
    plan = _Plan(
        pack=parts(n_models, max(1, _PACKED // n)),
        count=_tiles(n_models, crew.threads)
        if chosen is None
        else parts(n_pairs, _PAIRS),
        judge=parts(n_pairs, _CHUNK),
    )
    crew.expect(plan.n_tasks)
    counts = _count(labels, chosen, plan, crew)
    statistic, pvalue, interval = _judge(counts, method, confidence_level, plan, crew)
    return PairOutcomes(
        pairs=counts.pairs,
        only_a=counts.only_a,
        only_b=counts.only_b,
        statistic=statistic,
        pvalue=pvalue,
        difference=(counts.only_a - counts.only_b) / n,
        interval=interval,
        correct=counts.correct,
        score=counts.correct / n,
        score_interval=np.array(
            [
                kernels.wilson_interval(right, n, confidence_level)
                for right in counts.correct
            ]
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The tasks of each stage."""

    #: Models whose rows are packed together.
    pack: list[slice]
    #: Tiles of models, or parts of the chosen pairs.
    count: list[tuple[int, int, int, int]] | list[slice]
    #: Parts of the pairs.
    judge: list[slice]

    @property
    def n_tasks(self) -> int:
        return len(self.pack) + len(self.count) + len(self.judge)


@dataclass(frozen=True, slots=True)
class _Counts:
    """What all tests of pairs start from."""

    n_samples: int
    #: Rightly classified samples of each model, shape (M,).
    correct: NDArray[np.int64]
    #: Models of each pair, shape (P, 2), and the samples only one of them got right.
    pairs: NDArray[np.int32]
    only_a: NDArray[np.int64]
    only_b: NDArray[np.int64]


def _count(
    labels: Labels, chosen: NDArray[np.int32] | None, plan: _Plan, crew: Crew
) -> _Counts:
    n_models = len(labels.names)
    words, correct = _pack(labels, plan, crew)
    pairs = all_pairs(n_models) if chosen is None else chosen
    only_a, only_b = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)

    def count_tile(tile: tuple[int, int, int, int]) -> None:
        kernels.discordant_tile(words, correct, tile, only_a, only_b)

    def count_part(part: slice) -> None:
        some = pairs[part].astype(np.int64)
        kernels.discordant_pairs(words, correct, some, only_a[part], only_b[part])

    crew.run(count_tile if chosen is None else count_part, plan.count)
    return _Counts(labels.n_samples, correct, pairs, only_a, only_b)


def _pack(
    labels: Labels, plan: _Plan, crew: Crew
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    n_models = len(labels.names)
    words = kernels.allocate_words(n_models, labels.n_samples)
    correct = np.empty(n_models, np.int64)

    def pack(part: slice) -> None:
        for i in range(part.start, part.stop):
            kernels.pack_equal(labels.y_true, labels.preds[i], words[i])
            correct[i] = kernels.count_bits(words[i])

    crew.run(pack, plan.pack)
    return words, correct


def _tiles(n_models: int, threads: int) -> list[tuple[int, int, int, int]]:
    """Cut the pairs into squares: large ones, but several for each thread."""
    rows = -(-n_models // (4 * threads * kernels.TILE_ROWS))
    side = min(_TILE, rows * kernels.TILE_ROWS)
    starts = range(0, n_models, side)
    return [
        (i, min(i + side, n_models), j, min(j + side, n_models))
        for i in starts
        for j in starts
        if j >= i
    ]


def _judge(
    counts: _Counts, method: str, confidence_level: float, plan: _Plan, crew: Crew
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Statistic, p-value and Newcombe's interval for the difference of each pair."""
    n_pairs, n = len(counts.pairs), counts.n_samples
    statistic, pvalue = np.empty(n_pairs), np.empty(n_pairs)
    interval = np.empty((n_pairs, 2))
    options = (kernels.NEWCOMBE, confidence_level)

    def judge(part: slice) -> None:
        only_a, only_b = counts.only_a[part], counts.only_b[part]
        statistic[part], pvalue[part], _ = evaluate_counts(
            only_a, only_b, np.int64(n), method, "two-sided"
        )
        right = counts.correct[counts.pairs[part, 0]] - only_a
        wrong = n - right - only_a - only_b
        low, high = np.empty(only_a.size), np.empty(only_a.size)
        kernels.difference_interval_many(
            right, only_a, only_b, wrong, options, low, high
        )
        interval[part, 0], interval[part, 1] = low, high

    crew.run(judge, plan.judge)
    return statistic, pvalue, interval
