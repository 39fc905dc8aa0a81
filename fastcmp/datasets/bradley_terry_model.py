"""Bradley and Terry's likelihood with Davidson's ties: maximum, errors, battles drawn anew.

The parameters are the strengths, which add up to zero, and for Davidson's model the
logarithm of nu. Rows of expected points: a win is one point, a tie one half.

Battles of a cluster (a task, an item) belong together. All that is needed of them are
sums: wins and ties of each two models, and by cluster how much each model did better
than expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import (
    BlasThreads,
    ThreadPool,
    check_memory,
    check_workers,
    parts,
    reporting,
)
from fastcmp.core.typing import Floats, Ints
from fastcmp.kernels.task_ranks import battle_slopes, count_battles, without_ties

#: What is made of ties: half a win for both, nothing, or a parameter of their own.
TIES = ("half", "ignored", "davidson")
COVARIANCES = ("information", "sandwich", "clustered", "bootstrap")
_MOST_STEPS = 200
_CLOSE = 1e-9  # a Newton step that small changes nothing
_SURE = 0.1  # one that small leads upwards: curvatures change by less than a quarter
_MANY = 150  # models of which Cholesky's factor takes longer than some sums over all pairs
_TRIANGLE = 64  # rows that LAPACK inverts as fast as it can
_STRONGEST = 300.0  # strength of which the odds can be added and divided
_LEAST = 1e-300  # probability of which there is a logarithm
_PART = 16  # draws that a thread makes at a time


class Counts(NamedTuple):
    """Battles of each two models as a model counts them, shape (M, M)."""

    wins: Floats
    ties: Floats
    #: All, on both sides of the diagonal.
    battles: Floats
    #: Points of each model: its wins and half its ties, shape (M,).
    points: Floats


class Expected(NamedTuple):
    """What is expected of a battle of each two models, shape (M, M)."""

    #: Probability that the model of the row wins.
    won: Floats
    #: Probability of a tie; 0 but for Davidson's model.
    tied: Floats
    #: Points of the model of the row: its wins and half its ties.
    points: Floats


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
        """What is expected at some parameters."""
        if not self.has_nu:
            odds = _odds(theta)
            won = odds[:, None] + odds
            np.divide(odds[:, None], won, out=won)
            return Expected(won, np.broadcast_to(0.0, won.shape), won)
        gap = theta[:n_models, None] - theta[:n_models]
        # Of win, loss and tie, with logits gap / 2, -gap / 2 and log nu.
        top = np.maximum(np.abs(gap) / 2, theta[-1])
        parts = [np.exp(x - top) for x in (gap / 2, -gap / 2, theta[-1])]
        total = parts[0] + parts[1] + parts[2]
        won, tied = parts[0] / total, parts[2] / total
        return Expected(won, tied, won + tied / 2)

    def counted(self, wins: Floats, ties: Floats) -> Counts:
        """Battles as this model counts them."""
        if self.has_nu:
            return Counts(wins, ties, wins + wins.T + ties, (wins + ties / 2).sum(axis=1))
        if self.ties_as == "half" and ties.any():
            wins = wins + ties / 2
        return Counts(wins, np.broadcast_to(0.0, wins.shape), wins + wins.T, wins.sum(axis=1))

    def start(self, counts: Counts) -> Floats:
        """Strengths by proportions of wins, and the nu that fits to equal ones."""
        m, wins = len(counts.wins), counts.wins
        theta = np.zeros(m + self.has_nu)
        logits = np.log((counts.points + 0.5) / (counts.battles.sum(axis=1) - counts.points + 0.5))
        theta[:m] = logits - logits.mean()
        if self.has_nu:
            theta[-1] = np.log(counts.ties.sum()) - np.log(wins.sum())
        return theta

    def value(self, theta: Floats, counts: Counts) -> float:
        """The logarithm of the penalised likelihood."""
        m = len(counts.wins)
        expected = self.expected(theta, m)
        value = -0.5 * self.ridge * float(theta[:m] @ theta[:m])
        parts = [(counts.wins, expected.won, 1.0), (counts.ties, expected.tied, 0.5)]
        for n, probability, multiple in parts[: 1 + self.has_nu]:
            logs = np.maximum(probability, _LEAST)
            value += multiple * float(np.einsum("ij,ij->", n, np.log(logs, out=logs)))
        return value

    def slopes(self, theta: Floats, counts: Counts) -> tuple[Floats, Floats]:
        """The gradient, and minus the Hessian, of the penalised value."""
        m, (_, ties, battles, scored) = len(counts.wins), counts
        at = np.arange(m)
        if not self.has_nu:
            sums, information = np.empty((2, m)), np.empty((m, m))
            battle_slopes(_odds(theta), battles, sums, information)
            information[at, at] = sums[1] + self.ridge
            return scored - sums[0] - self.ridge * theta, information
        _, tied, points = self.expected(theta, m)
        gradient = np.empty(m + 1)
        gradient[:m] = scored - np.einsum("ij,ij->i", battles, points) - self.ridge * theta[:m]
        # Variance of the points of a battle.
        information = laplacian(battles * ((1.0 - points) * points - tied / 4))
        information[at, at] += self.ridge
        information = np.pad(information, (0, 1))
        gradient[m] = (ties - battles * tied).sum() / 2
        together = battles * tied * (0.5 - points)
        information[m, :m] = information[:m, m] = together.sum(axis=1)
        information[m, m] = (battles * tied * (1.0 - tied)).sum() / 2
        return gradient, information


def _odds(theta: Floats) -> Floats:
    """Odds of models against one of strength 0; of all, one multiple that keeps them finite."""
    return np.asarray(np.exp(np.minimum(np.maximum(theta, -_STRONGEST), _STRONGEST)))


def laplacian(weights: Floats) -> Floats:
    """Matrix of ``sum over pairs of weights[i, j] (x_i - x_j)**2``, in the place of the weights."""
    out = np.negative(weights, out=weights)
    at = np.arange(len(weights))
    out[at, at] = 0.0
    out[at, at] = -out.sum(axis=1)
    return out


def fit(model: Model, wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """The maximum, which must exist, and the factor of minus the Hessian there."""
    m, counts = len(wins), model.counted(wins, ties)
    theta = model.start(counts)
    if m >= _MANY and not model.has_nu:
        theta = _by_diagonal(model, theta, counts)
    for _ in range(_MOST_STEPS):
        gradient, information = model.slopes(theta, counts)
        factor = factored(information, m)
        step = solved(factor, gradient, m)
        largest = np.abs(step).max()
        if largest <= _CLOSE * max(1.0, np.abs(theta).max()):
            return theta, factor
        if largest > _SURE:  # the step, or a half, a quarter, ... of it that leads upwards
            value = model.value(theta, counts)
            while model.value(theta + step, counts) < value - 1e-12 * abs(value):
                step /= 2
        theta = theta + step
    raise BadValueError(
        f"`wins` lead to no maximum of the likelihood within {_MOST_STEPS} steps: strengths "
        "are too far apart",
        remedy="; pass `ridge=` for a penalised fit",
    )


def _by_diagonal(model: Model, theta: Floats, counts: Counts) -> Floats:
    """Strengths nearer to the maximum, by steps with the diagonal of the information alone.

    Where most models met, the information is close to its diagonal on strengths of sum zero, and
    each step is a small part of the one before; where it is not, Newton's method goes on.
    """
    largest, last = 1.0, np.inf
    while 1e-12 < largest < last / 4:
        gradient, information = model.slopes(theta, counts)
        step = gradient / np.diagonal(information)
        step -= step.mean()
        last, largest = largest, float(np.abs(step).max())
        if largest < last / 4:
            theta = theta + step
    return theta


def factored(information: Floats, n_models: int) -> Floats:
    """Cholesky's factor, lower, of the information with something on the mean, in its place.

    A multiple of 11'/M takes the place of the eigenvalue 0 of equal strengths.
    """
    from scipy.linalg.lapack import dpotrf

    size = float(np.diagonal(information)[:n_models].sum()) / n_models
    information[:n_models, :n_models] += size / n_models
    factor, failed = dpotrf(information.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the likelihood has no curvature in some direction")
    return np.asarray(factor)


def solved(factor: Floats, right: Floats, n_models: int) -> Floats:
    """Solution of the equations of the information on strengths of sum zero."""
    from scipy.linalg.lapack import dpotrs

    solution: Floats = dpotrs(factor, right, lower=1)[0]
    solution[:n_models] -= solution[:n_models].sum() / n_models
    return solution


def inverse(factor: Floats, n_models: int) -> Floats:
    """Inverse of the information on strengths of sum zero."""
    from scipy.linalg.lapack import dlauum

    lower = dlauum(_inverse_triangle(factor), lower=1, overwrite_c=1)[0]
    inverted = lower + lower.T
    inverted[np.diag_indices(len(lower))] /= 2
    means = inverted[:, :n_models].mean(axis=1)
    means[:n_models] -= means[:n_models].mean() / 2
    inverted[:n_models, :n_models] -= np.add.outer(means[:n_models], means[:n_models])
    inverted[:n_models, n_models:] -= means[n_models:]
    inverted[n_models:, :n_models] -= means[n_models:, None]
    return np.asarray(inverted)


def _inverse_triangle(lower: Floats) -> Floats:
    """Inverse of a lower triangle, half by half: LAPACK's own takes twice as long in one thread."""
    from scipy.linalg.blas import dtrmm
    from scipy.linalg.lapack import dtrtri

    half = len(lower) // 2
    if len(lower) <= _TRIANGLE:
        return np.asarray(dtrtri(lower, lower=1)[0])
    inverted = np.zeros(lower.shape, order="F")
    inverted[:half, :half] = first = _inverse_triangle(lower[:half, :half])
    inverted[half:, half:] = last = _inverse_triangle(lower[half:, half:])
    between = dtrmm(1.0, first, lower[half:, :half], side=1, lower=1)
    inverted[half:, :half] = dtrmm(-1.0, last, between, lower=1)
    return inverted


# Battles as they were fought: counted, resampled, and set against what was expected.


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBattles:
    """A battle of each two models on each task, by who scores more."""

    #: Scores as whole numbers, -1 for none, shape (M, D).
    codes: Ints
    #: Cluster of each task, from 0.
    clusters: Ints
    n_clusters: int

    def count(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Count wins and ties, shape (M, M), clusters as often as `weights` says."""
        m, n_tasks = self.codes.shape
        wins, ties = np.zeros((2, m, m))
        of_tasks = np.ones(n_tasks, np.int64)
        if weights is not None:
            of_tasks = weights[self.clusters].astype(np.int64)
        count_battles(self.codes, of_tasks, wins, ties)
        return wins, ties

    def squares(self, model: Model, expected: Expected, clusters: Ints | None) -> Floats:
        """Sums of squares of scores by cluster, (M + 1, M + 1), the last for log nu.

        By battle where `clusters` is None.
        """
        if clusters is None:
            return squares_of_counts(model, expected, *self.count())
        m, n_tasks = self.codes.shape
        n_clusters = int(clusters.max()) + 1
        check_memory(
            8.0 * (n_clusters + 5 * n_tasks) * (m + 1),
            None,
            f"scores of {m} models in {n_clusters} clusters",
            "pass `covariance='sandwich'`",
        )
        sums = np.zeros((n_clusters, m + 1))
        by_task = np.ascontiguousarray(self.codes.T)
        if model.ties_as == "ignored":
            without_ties(by_task, clusters, np.ascontiguousarray(expected.points), sums)
        else:
            np.add.at(sums, clusters, _surprises(by_task, expected))
        return sums.T @ sums


def _surprises(codes: Ints, expected: Expected) -> Floats:
    """Points minus those expected, and ties, of codes (D, M): (D, M + 1)."""
    n_tasks, m = codes.shape
    present = (codes >= 0).astype(np.float64)
    surprises = np.empty((n_tasks, m + 1))
    for surprise, row in zip(surprises, codes, strict=True):
        ascending = np.sort(row)
        start = np.searchsorted(ascending, row, "left")
        end = np.searchsorted(ascending, row, "right")
        surprise[:m] = (start + end - 1) / 2 - np.searchsorted(ascending, 0)
        surprise[m] = (end - start - 1)[row >= 0].sum() / 2
    points, tied = (x - np.diag(np.diagonal(x)) for x in (expected.points, expected.tied))
    surprises[:, :m] -= present @ points.T
    surprises[:, :m] *= present
    surprises[:, m] -= ((present @ tied) * present).sum(axis=1) / 2
    return surprises


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBattles:
    """Battles one by one."""

    #: The two models of each, the points of the first (1, 0.5 or 0) and the weight.
    first: Ints
    second: Ints
    points: Floats
    weights: Floats
    n_models: int
    #: Cluster of each battle, from 0.
    clusters: Ints
    n_clusters: int

    def count(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Count wins and ties, shape (M, M), clusters as often as `weights` says."""
        m, multiples = self.n_models, self.weights
        if weights is not None:
            multiples = multiples * weights[self.clusters]
        places = np.concatenate([self.first * m + self.second, self.second * m + self.first])
        won, lost, tied = (multiples * (self.points == result) for result in (1.0, 0.0, 0.5))
        wins, ties = (
            np.bincount(places, np.concatenate(both), m * m).astype(np.float64).reshape(m, m)
            for both in ((won, lost), (tied, tied))
        )
        return wins, ties

    def squares(self, model: Model, expected: Expected, clusters: Ints | None) -> Floats:
        """Sums of squares of scores by cluster, (M + 1, M + 1), the last for log nu.

        By battle where `clusters` is None.
        """
        n, m = self.first.size, self.n_models
        tie = self.points == 0.5
        surprise = self.points - expected.points[self.first, self.second]
        tie_surprise = self.weights * (tie - expected.tied[self.first, self.second])
        surprise *= self.weights
        if model.ties_as == "ignored":
            surprise[tie] = tie_surprise[tie] = 0.0
        if clusters is None:
            squares, pairs = np.zeros((m + 1, m + 1)), self.first * m + self.second
            own_squares = np.bincount(pairs, surprise**2, m * m).astype(np.float64).reshape(m, m)
            squares[:m, :m] = laplacian(own_squares + own_squares.T)
            with_nu = (
                np.bincount(x, surprise * tie_surprise, m) for x in (self.first, self.second)
            )
            squares[m, :m] = squares[:m, m] = np.subtract(*with_nu)
            squares[m, m] = tie_surprise @ tie_surprise
            return squares
        from scipy.sparse import csr_array

        entries = np.concatenate([surprise, -surprise, tie_surprise])
        columns = np.concatenate([self.first, self.second, np.full(n, m)])
        shape = (int(clusters.max()) + 1, m + 1)
        sums = csr_array((entries, (np.tile(clusters, 3), columns)), shape=shape)
        return np.asarray((sums.T @ sums).toarray())


def squares_of_counts(model: Model, expected: Expected, wins: Floats, ties: Floats) -> Floats:
    """Sums of squares of the scores of battles that have nothing in common."""
    m = len(wins)
    _, tied, points = expected
    if model.ties_as == "ignored":
        ties = np.zeros_like(ties)
    squares = np.zeros((m + 1, m + 1))
    won = wins * (1.0 - points) ** 2
    squares[:m, :m] = laplacian(won + won.T + ties * (0.5 - points) ** 2)
    if model.has_nu:
        # Of the model of the row: what it won, lost and tied.
        together = wins * (1.0 - points) * -tied + wins.T * -points * -tied
        together += ties * (0.5 - points) * (1.0 - tied)
        squares[m, :m] = squares[:m, m] = together.sum(axis=1)
        squares[m, m] = (wins * tied**2 + ties * (1.0 - tied) ** 2 / 2).sum()
    return squares


# How surely strengths are known: covariance of the estimates, and the bootstrap.


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Parameters at the maximum, wins and ties, and battles where these are known."""

    model: Model
    wins: Floats
    ties: Floats
    theta: Floats
    #: Inverse of the information on strengths of sum zero.
    bread: Floats
    battles: TableBattles | RowBattles | None

    def covariance(self, method: str) -> Floats:
        """Covariance of the parameters: H+, or H+ G H+."""
        if method == "information":
            return self.bread
        expected = self.model.expected(self.theta, len(self.wins))
        if self.battles is None:
            meat = squares_of_counts(self.model, expected, self.wins, self.ties)
        else:
            clusters = self.battles.clusters if method == "clustered" else None
            meat = self.battles.squares(self.model, expected, clusters)
        size = self.theta.size
        covariance: Floats = self.bread @ meat[:size, :size] @ self.bread
        return (covariance + covariance.T) / 2

    def resampled(
        self, n_resamples: int, seed: int, workers: int | None, progress: object
    ) -> Floats:
        """Estimates from draws of clusters by two Newton steps, shape (B, parameters).

        NaN where a draw has no estimate.
        """
        battles, model, m = self.battles, self.model, len(self.wins)
        assert battles is not None
        thetas = np.full((n_resamples, self.theta.size), np.nan)
        stratum = np.zeros(battles.n_clusters, np.int64)

        def draw(part: slice) -> None:
            counts = np.empty((part.stop - part.start, battles.n_clusters))
            kernels.draw_units(stratum, seed, part.start, counts)
            for at, weights in enumerate(counts, part.start):
                counted = model.counted(*battles.count(weights))
                theta = self.theta
                try:
                    for _ in range(2):
                        gradient, information = model.slopes(theta, counted)
                        theta = theta + solved(factored(information, m), gradient, m)
                except np.linalg.LinAlgError:  # no curvature, or not finite
                    continue
                thetas[at] = theta

        with (
            BlasThreads(1),  # for each of ours
            reporting(progress, "drawing clusters") as report,
            ThreadPool(check_workers(workers), report) as pool,
        ):
            pool.expect(n_resamples)
            pool.run(draw, parts(n_resamples, _PART), steps=lambda part: part.stop - part.start)
        return thetas


def pair_errors(covariance: Floats, pairs: NDArray[Any], reference: Floats) -> Floats:
    """Standard errors of the differences of pairs; 0 where only rounding is left.

    `reference` is a covariance of the same size that is not degenerate.
    """
    i, j = np.array(pairs.T, np.intp, order="C")
    places = i * len(covariance) + j
    covariances = (covariance,) if covariance is reference else (covariance, reference)
    squares, *least = (
        np.diagonal(x).take(i) + np.diagonal(x).take(j) - 2.0 * x.take(places) for x in covariances
    )
    squares[squares <= 1e-20 * (least or [squares])[0]] = 0.0
    return np.asarray(np.sqrt(squares))
