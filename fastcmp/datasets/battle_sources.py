"""Battles as they were fought: counted, resampled, and set against what was expected.

Battles of a cluster (a task, an item) belong together. All that is needed of them are
sums: wins and ties of each two models, and by cluster how much each model did better
than expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.memory import check_memory
from fastcmp.datasets.bradley_terry_model import laplacian
from fastcmp.kernels.task_ranks import count_battles, without_ties

if TYPE_CHECKING:
    from fastcmp.datasets.bradley_terry_model import Expected, Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class Battles(Protocol):
    """Battles that are more than their sum."""

    @property
    def clusters(self) -> Ints:
        """Cluster of each task or battle, from 0."""

    @property
    def n_clusters(self) -> int: ...  # noqa: D102

    def count(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Count wins and ties, clusters as often as `weights` says."""

    def squares(self, model: Model, expected: Expected, clusters: Ints | None) -> Any:
        """Sum up squares of scores by cluster; by battle for None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBattles:
    """A battle of each two models on each task, by who scores more."""

    #: Scores as whole numbers, -1 for none, shape (M, D).
    codes: Ints
    clusters: Ints
    n_clusters: int

    def count(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Count wins and ties, shape (M, M)."""
        m, n_tasks = self.codes.shape
        wins, ties = np.zeros((2, m, m))
        of_tasks = np.ones(n_tasks, np.int64)
        if weights is not None:
            of_tasks = weights[self.clusters].astype(np.int64)
        count_battles(self.codes, of_tasks, wins, ties)
        return wins, ties

    def squares(self, model: Model, expected: Expected, clusters: Ints | None) -> Floats:
        """Sum up squares of scores, shape (M + 1, M + 1), the last for log nu."""
        if clusters is None:
            return squares_of_counts(model, expected, *self.count())
        m, n_tasks = self.codes.shape
        n_clusters = int(clusters.max()) + 1
        check_memory(
            8.0 * (n_clusters + 5 * n_tasks) * (m + 1),
            None,
            f"scores of {m} models in {n_clusters} clusters",
            "pass covariance='sandwich'",
        )
        sums = np.zeros((n_clusters, m + 1))
        by_task = np.ascontiguousarray(self.codes.T)
        if model.ties_as == "ignored":
            without_ties(by_task, clusters, np.ascontiguousarray(expected[0]), sums)
        else:
            np.add.at(sums, clusters, _surprises(by_task, expected))
        return sums.T @ sums


def _surprises(codes: Ints, expected: Expected) -> Floats:
    """Give points minus those expected, and ties, of codes (D, M): (D, M + 1)."""
    n_tasks, m = codes.shape
    present = (codes >= 0).astype(np.float64)
    found = np.empty((n_tasks, m + 1))
    for own, row in zip(found, codes, strict=True):
        ascending = np.sort(row)
        start, end = (np.searchsorted(ascending, row, side) for side in _SIDES)
        lacking = np.searchsorted(ascending, 0)
        own[:m] = (start + end - 1) / 2 - lacking
        own[m] = (end - start - 1)[row >= 0].sum() / 2
    points, tied = (x - np.diag(np.diagonal(x)) for x in expected)
    found[:, :m] -= present @ points.T
    found[:, :m] *= present
    found[:, m] -= ((present @ tied) * present).sum(axis=1) / 2
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBattles:
    """Battles one by one."""

    #: The two models of each, the points of the first (1, 0.5 or 0) and the weight.
    first: Ints
    second: Ints
    points: Floats
    weights: Floats
    n_models: int
    clusters: Ints
    n_clusters: int

    def count(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Count wins and ties, shape (M, M)."""
        m, own = self.n_models, self.weights
        if weights is not None:
            own = own * weights[self.clusters]
        places = np.concatenate([self.first * m + self.second, self.second * m + self.first])
        tables = [
            _added(places, np.concatenate(parts), m)
            for parts in (
                (own * (self.points == 1.0), own * (self.points == 0.0)),
                (own * (self.points == 0.5),) * 2,
            )
        ]
        return tables[0], tables[1]

    def squares(self, model: Model, expected: Expected, clusters: Ints | None) -> Floats:
        """Sum up squares of scores, shape (M + 1, M + 1), the last for log nu."""
        from scipy.sparse import csr_array

        n, m = self.first.size, self.n_models
        if clusters is None:
            clusters = np.arange(n)
        tie = self.points == 0.5
        surprise = self.points - expected.points[self.first, self.second]
        own = self.weights * (tie - expected.tied[self.first, self.second])
        surprise *= self.weights
        if model.ties_as == "ignored":
            surprise[tie] = own[tie] = 0.0
        entries = np.concatenate([surprise, -surprise, own])
        columns = np.concatenate([self.first, self.second, np.full(n, m)])
        shape = (int(clusters.max()) + 1, m + 1)
        sums = csr_array((entries, (np.tile(clusters, 3), columns)), shape=shape)
        found: Floats = (sums.T @ sums).toarray()
        return found


def _added(places: Ints, weights: Floats, m: int) -> Floats:
    found: Floats = np.bincount(places, weights, m * m).astype(np.float64)
    return found.reshape(m, m)


def squares_of_counts(model: Model, expected: Expected, wins: Floats, ties: Floats) -> Floats:
    """Sum up squares of the scores of battles that have nothing in common."""
    m = len(wins)
    points, tied = expected
    if model.ties_as == "ignored":
        ties = np.zeros_like(ties)
    found = np.zeros((m + 1, m + 1))
    won = wins * (1.0 - points) ** 2
    found[:m, :m] = laplacian(won + won.T + ties * (0.5 - points) ** 2)
    if model.has_nu:
        # Of the model of the row: what it won, lost and tied.
        together = wins * (1.0 - points) * -tied + wins.T * -points * -tied
        together += ties * (0.5 - points) * (1.0 - tied)
        found[m, :m] = found[:m, m] = together.sum(axis=1)
        found[m, m] = (wins * tied**2 + ties * (1.0 - tied) ** 2 / 2).sum()
    return found
