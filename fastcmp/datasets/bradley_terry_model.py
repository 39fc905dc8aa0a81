"""Bradley and Terry's likelihood with Davidson's ties: maximum, errors, battles drawn anew.

The parameters are the strengths, which add up to zero, and for Davidson's model the
logarithm of nu. Rows of expected points: a win is one point, a tie one half.

Battles of a cluster (a task, an item) belong together. All that is needed of them are
sums: wins and ties of each two models, and by cluster how much each model did better
than expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.threads import ThreadPool, check_memory, check_workers, parts, reporting
from fastcmp.kernels.task_ranks import count_battles, without_ties

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.core.threads import Progress

Floats = NDArray[np.float64]

#: What is made of ties: half a win for both, nothing, or a parameter of their own.
TIES = ("half", "ignored", "davidson")
_MOST_STEPS = 200
_CLOSE = 1e-9  # a Newton step that small leaves an error of its square


class Expected(NamedTuple):
    """What is expected of a battle of each two models, shape (M, M)."""

    #: Points of the model of the row: its wins and half its ties.
    points: Floats
    #: Probability of a tie; 0 but for Davidson's model.
    tied: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A likelihood of wins and ties, perhaps with a penalty."""

    #: One of `TIES`.
    ties_as: str
    #: The penalty is ridge / 2 times the sum of squared strengths.
    ridge: float

    @property
    def has_nu(self) -> bool:
        """Whether ties have a parameter of their own."""
        return self.ties_as == "davidson"

    def expected(self, theta: Floats, n_models: int) -> Expected:
        """Give expected points and probabilities of ties at some parameters."""
        from scipy.special import expit

        gap = theta[:n_models, None] - theta[:n_models]
        if not self.has_nu:
            return Expected(expit(gap), np.zeros_like(gap))
        # Of win, loss and tie, with logits gap / 2, -gap / 2 and log nu.
        top = np.maximum(np.abs(gap) / 2, theta[-1])
        parts = [np.exp(x - top) for x in (gap / 2, -gap / 2, theta[-1])]
        total = parts[0] + parts[1] + parts[2]
        tied = parts[2] / total
        return Expected(parts[0] / total + tied / 2, tied)

    def counted(self, wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
        """Give wins, and ties, as this model counts them."""
        if self.ties_as == "half":
            return wins + ties / 2, np.zeros_like(ties)
        return (wins, ties) if self.has_nu else (wins, np.zeros_like(ties))

    def start(self, wins: Floats, ties: Floats) -> Floats:
        """Give strengths by proportions of wins, and the nu that fits to equal ones."""
        theta = np.zeros(len(wins) + self.has_nu)
        won, lost = ((x + ties / 2).sum(axis=1) + 0.5 for x in (wins, wins.T))
        theta[: len(wins)] = np.log(won / lost) - np.log(won / lost).mean()
        if self.has_nu:
            theta[-1] = np.log(ties.sum()) - np.log(wins.sum())
        return theta

    def value(self, theta: Floats, wins: Floats, ties: Floats) -> float:
        """Give the logarithm of the penalised likelihood of counted wins and ties."""
        m = len(wins)
        gap = theta[:m, None] - theta[:m]
        penalty = 0.5 * self.ridge * float(theta[:m] @ theta[:m])
        if not self.has_nu:
            return float(-(wins * np.logaddexp(0.0, -gap)).sum()) - penalty
        total = np.logaddexp(np.logaddexp(gap / 2, -gap / 2), theta[-1])
        found = (wins * (gap / 2 - total)).sum()
        return float(found + (ties * (theta[-1] - total)).sum() / 2) - penalty

    def slopes(self, theta: Floats, wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
        """Give the gradient, and minus the Hessian, of the penalised value."""
        m = len(wins)
        points, tied = self.expected(theta, m)
        battles = wins + wins.T + ties
        gradient = np.empty(theta.size)
        gradient[:m] = (wins + ties / 2 - battles * points).sum(axis=1)
        gradient[:m] -= self.ridge * theta[:m]
        # Variance of the points of a battle.
        spread = points * (1.0 - points) - tied / 4
        information = np.zeros((theta.size, theta.size))
        _laplacian(battles * spread, information[:m, :m])
        information[np.arange(m), np.arange(m)] += self.ridge
        if self.has_nu:
            gradient[m] = (ties - battles * tied).sum() / 2
            together = battles * tied * (0.5 - points)
            information[m, :m] = information[:m, m] = together.sum(axis=1)
            information[m, m] = (battles * tied * (1.0 - tied)).sum() / 2
        return gradient, information


def laplacian(weights: Floats) -> Floats:
    """Give the matrix of ``sum over pairs of weights[i, j] (x_i - x_j)**2``."""
    out = np.empty_like(weights)
    _laplacian(weights, out)
    return out


def _laplacian(weights: Floats, out: Floats) -> None:
    np.negative(weights, out=out)
    at = np.arange(len(weights))
    out[at, at] = 0.0
    out[at, at] = -out.sum(axis=1)


def fit(model: Model, wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Find the maximum, which must exist, and minus the Hessian there."""
    wins, ties = model.counted(wins, ties)
    theta = model.start(wins, ties)
    value = model.value(theta, wins, ties)
    for _ in range(_MOST_STEPS):
        gradient, information = model.slopes(theta, wins, ties)
        step = solver(information, len(wins))(gradient)
        theta, value = _advance(model, theta, value, step, (wins, ties))
        if np.abs(step).max() <= _CLOSE * max(1.0, np.abs(theta).max()):
            return theta, model.slopes(theta, wins, ties)[1]
    raise ValueError(
        f"wins lead to no maximum of the likelihood within {_MOST_STEPS} steps: "
        "strengths are too far apart; pass ridge= for a penalised fit"
    )


def _advance(
    model: Model, theta: Floats, value: float, step: Floats, counts: tuple[Floats, ...]
) -> tuple[Floats, float]:
    """Take a step, or a half, a quarter, ... of it that leads upwards."""
    part = 1.0
    while part > 1e-9:
        found = theta + part * step
        new = model.value(found, *counts)
        if new >= value - 1e-12 * abs(value):
            return found, new
        part /= 2
    return theta, value


def two_steps(model: Model, theta: Floats, wins: Floats, ties: Floats) -> Floats:
    """Take two Newton steps from parameters near a maximum; NaN where none is."""
    wins, ties = model.counted(wins, ties)
    for _ in range(2):
        gradient, information = model.slopes(theta, wins, ties)
        try:
            theta = theta + solver(information, len(wins))(gradient)
        except (np.linalg.LinAlgError, ValueError):  # no curvature, or not finite
            return np.full(theta.size, np.nan)
    return theta


def solver(information: Floats, n_models: int) -> Callable[[Floats], Floats]:
    """Make a function that divides by the information on strengths of sum zero.

    A multiple of 11'/M takes the place of the eigenvalue 0 of equal strengths.
    """
    from scipy.linalg import cho_factor, cho_solve

    size = float(np.trace(information[:n_models, :n_models])) / n_models
    full = information.copy()
    full[:n_models, :n_models] += size / n_models
    factor = cho_factor(full, lower=True)

    def solve(right: Floats) -> Floats:
        found: Floats = cho_solve(factor, right)
        strengths = found[:n_models]
        strengths -= strengths.mean(axis=0)
        return found

    return solve


def inverse(information: Floats, n_models: int) -> Floats:
    """Invert the information on strengths of sum zero."""
    found = solver(information, n_models)(np.eye(len(information)))
    # Rows sum to zero by the solver, columns by symmetry.
    found[:, :n_models] -= found[:, :n_models].mean(axis=1, keepdims=True)
    return np.asarray((found + found.T) / 2)


# Battles as they were fought: counted, resampled, and set against what was expected.


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


# How surely strengths are known: covariance of the estimates, and the bootstrap.


COVARIANCES = ("information", "sandwich", "clustered", "bootstrap")
_PART = 16  # draws that a thread makes at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """How often clusters are drawn anew, and from which seed."""

    n_resamples: int
    seed: int
    workers: int | None = None
    progress: bool | Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Parameters at the maximum, wins and ties, and battles where these are known."""

    model: Model
    wins: Floats
    ties: Floats
    theta: Floats
    #: Inverse of the information on strengths of sum zero.
    bread: Floats
    battles: Battles | None

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.wins)

    def covariance(self, method: str) -> Floats:
        """Give the covariance of the parameters: H+, or H+ G H+."""
        bread = self.bread
        if method == "information":
            return bread
        expected = self.model.expected(self.theta, self.n_models)
        if self.battles is None:
            meat = squares_of_counts(self.model, expected, self.wins, self.ties)
        else:
            clusters = self.battles.clusters if method == "clustered" else None
            meat = self.battles.squares(self.model, expected, clusters)
        size = self.theta.size
        found: Floats = bread @ meat[:size, :size] @ bread
        return (found + found.T) / 2

    def resampled(self, draws: Draws) -> Floats:
        """Estimate from draws of clusters by two Newton steps, shape (B, parameters).

        NaN where a draw has no estimate.
        """
        battles = self.battles
        assert battles is not None
        found = np.full((draws.n_resamples, self.theta.size), np.nan)
        stratum = np.zeros(battles.n_clusters, np.int64)

        def draw(some: slice) -> None:
            counts = np.empty((some.stop - some.start, battles.n_clusters))
            kernels.draw_units(stratum, draws.seed, some.start, counts)
            for at, weights in enumerate(counts, some.start):
                wins, ties = battles.count(weights)
                found[at] = two_steps(self.model, self.theta, wins, ties)

        with (
            reporting(draws.progress, "drawing clusters") as report,
            ThreadPool(check_workers(draws.workers), report) as pool,
        ):
            tasks = parts(draws.n_resamples, _PART)
            pool.expect(draws.n_resamples)
            pool.run(draw, tasks, steps=_size)
        return found


def _size(some: slice) -> int:
    return int(some.stop - some.start)


def pair_errors(covariance: Floats, pairs: NDArray[Any], reference: Floats) -> Floats:
    """Give standard errors of the differences of pairs; 0 where only rounding is left.

    `reference` is a covariance of the same size that is not degenerate.
    """
    i, j = pairs.T

    def variance(matrix: Floats) -> Floats:
        d = np.diagonal(matrix)
        found: Floats = d[i] + d[j] - 2.0 * matrix[i, j]
        return found

    squares = variance(covariance)
    squares[squares <= 1e-20 * variance(reference)] = 0.0
    return np.sqrt(squares)
