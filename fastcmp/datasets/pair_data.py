"""What tests of pairs of models over tasks share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.counts.pairs import PairColumns
from fastcmp.datasets.task_ranks import common_tasks, relative_ranks
from fastcmp.pairwise.pair_tests import PairTests

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.counts.pairs import Block
    from fastcmp.datasets.task_ranks import Gains

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Pairs = NDArray[np.int32]

_SIDE = 64  # models of a side of a tile


class Answers(NamedTuple):
    """The tests of some pairs; each array has the shape (p,)."""

    statistic: Floats
    pvalue: Floats
    #: Above 0 where the test favours the first.
    direction: Floats


@dataclass(frozen=True)
class PairData:
    """Scores and ranks of M models on D tasks."""

    gains: Gains
    #: Shape (M, D), 1 for the best, NaN where there is none.
    ranks: Floats
    #: On how many tasks each model beats each other one, shape (M, M).
    wins: Ints
    alternative: str = "two-sided"

    @cached_property
    def mean_rank(self) -> Floats:
        """Mean over the tasks that have the model, shape (M,)."""
        ranks = relative_ranks(self.ranks)
        known = ~np.isnan(ranks)
        n = np.count_nonzero(known, axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, ranks, 0.0).sum(axis=1) / n)

    @cached_property
    def common(self) -> Ints:
        """Count the tasks that both models of each two have, shape (M, M)."""
        return common_tasks(self.gains)


class PairKind(NamedTuple):
    """What goes with a test beside its answers."""

    distribution: str
    df: Any = None
    #: What an interval of the difference of mean ranks reaches to either side.
    reach: float = np.nan


def pair_tests(data: PairData, found: Callable[[Pairs], Answers], kind: PairKind) -> PairTests:
    """Make tests of pairs for the engine; the direction of each test says which is better."""
    m, n_tasks = data.gains.shape
    favoured = np.zeros((m, m), np.int8)  # of the first of each pair, once it is tested
    mean_rank = data.mean_rank

    def test(block: Block) -> Answers:
        pairs = block.pairs
        answers = found(pairs)
        i, j = pairs.T
        untested = data.common[i, j] < 1
        if untested.any():
            answers.pvalue[untested] = answers.statistic[untested] = np.nan
        side = np.nan_to_num(np.sign(answers.direction)).astype(np.int8)
        favoured[i, j], favoured[j, i] = side, -side
        return answers

    def columns(block: Block) -> PairColumns:
        answers = test(block)
        i, j = block.pairs.T
        wins, losses = data.wins[i, j], data.wins[j, i]
        gap = mean_rank[i] - mean_rank[j]
        ends = gap - kind.reach, gap + kind.reach
        return PairColumns(wins, losses, gap, *ends, answers.statistic, answers.pvalue)

    def difference(pairs: Pairs) -> Floats:
        i, j = pairs.T
        # As of ranks, less is better.
        return np.asarray(0.0 - favoured[i, j])

    def details(pairs: Pairs, _: PairColumns) -> dict[str, Any]:
        i, j = pairs.T
        shown = {"only_a": data.wins[i, j], "only_b": data.wins[j, i]}
        if not data.gains.complete:
            shown["n_tasks_of_pairs"] = data.common[i, j]
            if kind.distribution == "t":
                shown["df"] = data.common[i, j] - 1.0
        return shown

    return PairTests(
        n_samples=n_tasks,
        correct=None,
        score=mean_rank,
        score_interval=np.full((m, 2), np.nan),
        distribution=kind.distribution,
        df=kind.df,
        side=_SIDE,
        pvalues=lambda block: test(block).pvalue,
        columns=columns,
        difference=difference,
        details=details,
    )
