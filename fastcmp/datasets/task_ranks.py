"""Ranks of models within tasks; ties are ties of the decimals that were written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.threads import no_step, parts
from fastcmp.items.signed_rank import decimal_codes
from fastcmp.kernels.task_ranks import count_wins, midranks_sorted, rank_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

    Floats = NDArray[np.float64]

_ULPS = 8 * np.finfo(np.float64).eps  # values closer than this are tied
_CELLS = 1 << 20  # scores that are sorted together


@dataclass(frozen=True)
class Gains:
    """Scores of M models on D tasks, with such signs that more is better."""

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Shape (M, D); whole numbers, the scores times a power of ten, where decimals were
    #: written; NaN where there is none; least of all where a model is to be last.
    gains: Floats
    #: What the scores were times.
    scale: float = 1.0

    @property
    def n_models(self) -> int:
        """M."""
        return len(self.names)

    @property
    def n_tasks(self) -> int:
        """D."""
        return len(self.tasks)

    @property
    def shape(self) -> tuple[int, int]:
        """M and D."""
        return self.n_models, self.n_tasks

    @cached_property
    def complete(self) -> bool:
        """Whether each model has a score on each task."""
        return not np.isnan(self.gains).any()

    @cached_property
    def tolerance(self) -> Floats:
        """What is too small to be a difference, by task, shape (D,)."""
        size = np.abs(np.where(np.isfinite(self.gains), self.gains, 0.0)).max(axis=0)
        return np.asarray(_ULPS * size)


def gains_of(names: tuple[str, ...], tasks: tuple[str, ...], gains: Floats) -> Gains:
    """Write gains as whole numbers where they have few decimals."""
    finite = np.where(np.isfinite(gains), gains, 0.0)
    coded = decimal_codes(finite)
    if coded is None:
        return Gains(names, tasks, gains)
    codes, scale = coded
    return Gains(names, tasks, np.where(np.isfinite(gains), codes, gains), scale)


def rank_tasks(gains: Gains, pool: ThreadPool) -> Floats:
    """Rank the models within each task, 1 for the best: shape (M, D)."""
    m, n_tasks = gains.shape
    ranks = np.empty((n_tasks, m))

    def rank(some: slice) -> None:
        worse = -gains.gains[:, some].T
        order = np.argsort(worse, axis=1)
        ordered = np.take_along_axis(worse, order, axis=1)
        rank_rows(ordered, order, gains.tolerance[some], ranks[some])

    pool.run(rank, parts(n_tasks, max(1, _CELLS // m)), steps=no_step)
    return np.ascontiguousarray(ranks.T)


def rank_all(values: Floats, gaps: Floats) -> tuple[Floats, float]:
    """Rank numbers; two neighbours are tied up to the larger of their gaps.

    Gives the ranks and the sum of t**3 - t over ties.
    """
    order = np.argsort(values)
    apart = gaps[order]
    apart[1:] = np.maximum(apart[1:], apart[:-1])
    ranks = np.empty(values.size)
    ties = midranks_sorted(values[order], order, apart, ranks)
    return ranks, ties


def wins_of(ranks: Floats, pool: ThreadPool) -> NDArray[np.int64]:
    """Count on how many tasks each model beats each other one, shape (M, M)."""
    wins = np.zeros((len(ranks), len(ranks)), np.int64)
    few = np.ascontiguousarray(ranks, np.float32)

    def count(some: slice) -> None:
        count_wins(few, some.start, some.stop, wins)

    pool.run(count, parts(len(ranks), 16), steps=no_step)
    return wins


def common_tasks(gains: Gains) -> NDArray[np.int64]:
    """Count the tasks on which both models of each two have scores, shape (M, M)."""
    if gains.complete:
        return np.full((gains.n_models,) * 2, gains.n_tasks, np.int64)
    present = (~np.isnan(gains.gains)).astype(np.float64)
    return np.rint(present @ present.T).astype(np.int64)


def relative_ranks(ranks: Floats) -> Floats:
    """Stretch ranks of k < M models of a task to 1, ..., M; NaN where k is 1."""
    m = len(ranks)
    k = np.count_nonzero(~np.isnan(ranks), axis=0).astype(np.float64)
    if (k == m).all():
        return ranks
    k[k < 2] = np.nan
    return np.asarray(1.0 + (ranks - 1.0) * (m - 1.0) / (k - 1.0))


# Scores as whole numbers of their last decimal, so that equal decimals are tied.


# Values that are no decimals are tied where they differ by less, of the largest.
_ULP = 8.0 * float(np.finfo(np.float64).eps)


class Decimals(NamedTuple):
    """Scores in units of their last decimal, or as they are."""

    values: Floats
    #: Units in 1.
    scale: float
    #: Sums and differences that differ by no more are equal.
    tolerance: float

    @classmethod
    def of(cls, scores: Floats) -> Decimals:
        """Write scores as whole numbers where they have few decimals."""
        coded = decimal_codes(scores)
        values, scale = (scores, 1.0) if coded is None else coded
        return cls(values, scale, _ULP * float(np.abs(values).max(initial=0.0)))
