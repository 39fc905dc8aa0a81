"""Bradley and Terry's likelihood, with Davidson's for ties, and its maximum.

The parameters are the strengths, which add up to zero, and for Davidson's model the
logarithm of nu. Rows of expected points: a win is one point, a tie one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

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
