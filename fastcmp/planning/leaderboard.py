"""Plans of leaderboards: what is found among many models after adjustment.

The means of n samples are normal with the covariance of one sample over n, and the
tests of all pairs are z tests; they are drawn and adjusted as results are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from fastcmp.core.checks import as_seed, as_whole
from fastcmp.core.options import choose
from fastcmp.core.threads import parts
from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.pairwise.adjust import OF_PAIRS, adjust_rows
from fastcmp.pairwise.gaussian_draws import gaussian_draws
from fastcmp.planning.checked import resamples
from fastcmp.planning.family import Answer, Family
from fastcmp.planning.models import KNOWN, Models, read_models

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.planning.family import Floats, Inputs, Question

_OWN = {
    "find": "'best', 'all', 'any', 'average', or a pair of models by number",
    "adjust": "for the number of pairs, 'holm' by default",
    "n_resamples": "leaderboards that are drawn, 2000 by default",
    "rng": "seed of the draws",
}
_FINDS = {
    "best": "show that the best of {} models is better than each other one",
    "all": "detect all true differences of {} models",
    "any": "detect a true difference of {} models",
    "average": "detect each true difference of {} models, on average",
}
_LUCK = (
    "Differences are taken as the pilot estimates them, and its best model is partly "
    "the best by chance: the power is rather too high."
)
_ADJUSTMENTS = (*OF_PAIRS, "single-step")
_MOST = 2**53  # samples
_PART = 1 << 20  # p-values at a time
#: What the decisions about the pairs that are to be found make, where not all must be.
_JOINS: dict[str, Callable[..., Any]] = {"any": np.any, "average": np.mean}


class _Board(NamedTuple):
    """Models whose leaderboard is drawn."""

    models: Models
    #: Errors of the differences of one sample, in standard errors, shape (B, P).
    errors: Floats
    adjust: str
    #: One of `_FINDS`, or the number of a pair.
    find: str | int
    n_resamples: int
    seed: int

    def power(self, n: float, alpha: float) -> float:
        """Give the proportion of leaderboards of n samples on which it is found."""
        models, wanted = self.models, self._wanted()
        shift = math.sqrt(n) * models.difference / models.null_scale
        spread = models.scale / models.null_scale
        total, limit = 0.0, self._limit(alpha)
        for part in parts(len(self.errors), max(_PART // shift.size, 1)):
            z = shift + spread * self.errors[part]
            if limit is None:
                pvalues = 2.0 * ndtr(-np.abs(z))
                significant = adjust_rows(pvalues, self.adjust) <= alpha
            else:
                significant = np.abs(z) >= limit
            right = (significant & (z * models.difference > 0.0))[:, wanted]
            join = _JOINS.get(str(self.find), np.all)
            total += float(np.sum(join(right, axis=1)))
        return total / self.n_resamples

    def _wanted(self) -> NDArray[np.bool_]:
        """Choose the pairs that are to be found."""
        models = self.models
        if isinstance(self.find, int):
            return np.asarray(np.arange(models.difference.size) == self.find)
        true = np.asarray(models.difference != 0.0)
        if self.find != "best":
            return true
        best = models.value == models.value.max()
        return np.asarray(true & best[models.pairs].any(axis=1), np.bool_)

    def _limit(self, alpha: float) -> float | None:
        """Give what a statistic must exceed, where it is one for all pairs."""
        if self.adjust != "single-step":
            return None
        largest = np.abs(self.errors).max(axis=1)
        return float(np.quantile(largest, 1.0 - alpha, method="higher"))

    def size(self, target: float, alpha: float) -> float:
        """Find the smallest number of samples with the power wanted."""
        high = 1
        while self.power(high, alpha) < target:
            high *= 2
            if high > _MOST:
                return np.inf
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if self.power(middle, alpha) < target:
                low = middle
            else:
                high = middle
        return float(high)


def _read(question: Question, inputs: Inputs) -> _Board:
    if question.alternative != "two-sided":
        message = f"alternative must be 'two-sided' for a leaderboard, got {question.alternative!r}"
        raise ValueError(message)
    models = read_models(inputs)
    n_resamples = resamples(inputs.get("n_resamples", 2000))
    seed = as_seed(inputs.get("rng"))
    drawn = gaussian_draws(models.covariance(), n_resamples, seed)
    i, j = models.pairs.T
    errors = (drawn[i] - drawn[j]).T / models.scale
    adjust = choose(inputs.get("adjust", "holm"), "adjust", _ADJUSTMENTS)
    board = _Board(models, errors, adjust, "all", n_resamples, seed)
    board = board._replace(find=_read_find(inputs.get("find", "best"), models))
    if not models.difference[board._wanted()].all():
        message = "find must be a pair of models that differ, got one that does not"
        raise ValueError(message)
    return board


def _read_find(find: Any, models: Models) -> str | int:
    if not isinstance(find, (tuple, list)):
        return str(choose(find, "find", tuple(_FINDS)))
    m = models.value.size
    i, j = (as_whole(each, "find", 0) for each in find) if len(find) == 2 else (0, 0)
    if i == j or max(i, j) >= m:
        message = f"find must be a pair of different models below {m}, got {find!r}"
        raise ValueError(message)
    low, high = sorted((i, j))
    return int(np.flatnonzero((models.pairs == (low, high)).all(axis=1))[0])


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    board = _read(question, inputs)
    power = np.vectorize(board.power, otypes=[np.float64])(n, question.alpha)
    answer = _answer(board, inputs, n, power)
    if np.ndim(power):
        return answer
    beside = _beside(board, float(n), float(question.alpha))
    return answer._replace(cautions=(beside, *answer.cautions))


def _sample_size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    board = _read(question, inputs)
    n = np.vectorize(board.size, otypes=[np.float64])(power, question.alpha)
    some = np.where(np.isinf(n), 1.0, n)
    reached = np.vectorize(board.power, otypes=[np.float64])(some, question.alpha)
    reached = np.where(np.isinf(n), power, reached)
    status = np.where(np.isinf(n), UNDEFINED, OK)
    return _answer(board, inputs, n, reached)._replace(status=status)


def _beside(board: _Board, n: float, alpha: float) -> str:
    """Say how probable the other things to find are."""
    shown = {
        find: 100.0 * board._replace(find=find).power(n, alpha)
        for find in ("best", "all", "any", "average")
    }
    return (
        f"The best model is found with {shown['best']:.1f}%, all true differences with "
        f"{shown['all']:.1f}%, any of them with {shown['any']:.1f}%, and each with "
        f"{shown['average']:.1f}% on average."
    )


def _adjusted(name: str) -> str:
    return "not adjusted" if name == "none" else f"adjusted by {name}"


def _answer(board: _Board, inputs: Inputs, n: Any, power: Any) -> Answer:
    given = {name: x for name, x in inputs.items() if x is not None}
    settled = {"n_resamples": board.n_resamples, "rng": board.seed}
    if isinstance(board.find, int):
        i, j = board.models.pairs[board.find]
        claim = f"detect the difference of the models {i} and {j}"
    else:
        claim = _FINDS[board.find].format(board.models.value.size)
    return Answer(
        n=n,
        power=power,
        difference=np.abs(board.models.difference[board._wanted()]).min(),
        inputs=given | settled,
        power_standard_error=np.sqrt(power * (1.0 - power) / board.n_resamples),
        seed=board.seed,
        claim=f"{claim}, {_adjusted(board.adjust)}",
        cautions=(_LUCK,) if "pilot" in given else (),
    )


FAMILY = Family(
    title=lambda *_: "z tests of all pairs, simulated",
    methods={"difference": ("normal",)},
    inputs=KNOWN | _OWN,
    power=_power,
    sample_size=_sample_size,
    difference=None,
    measure="score",
)
