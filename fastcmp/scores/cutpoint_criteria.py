"""The search for the best cutoff: its candidates, and the criteria."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_TOLERANCE = 1e-12  # of values that count as equal
WEIGHTED = ("cost", "weighted-youden", "weighted-topleft")
_MINIMISED = (
    "sensitivity=specificity",
    "closest-topleft",
    "prevalence-matching",
    "cost",
    "weighted-topleft",
)
CRITERIA = ("youden", "accuracy", "prevalence", "weighted-youden", *_MINIMISED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What to optimise, with its options."""

    name: str
    #: A function of counts; None for a criterion of `CRITERIA`.
    function: Callable[..., Any] | None
    #: Whether the function takes arrays.
    takes_arrays: bool
    prevalence: float
    cost_fp: float
    cost_fn: float
    #: Whether counts are sums of weights, and so rounded.
    weighted: bool = False

    @property
    def maximised(self) -> bool:
        """Whether large values are good."""
        return self.name not in _MINIMISED or self.function is not None

    @property
    def scale(self) -> float:
        """Size of terms that cancel in a value; other criteria keep their digits."""
        if self.weighted and self.function is None:
            return 1.0
        return self.prevalence if self.name == "prevalence-matching" else 0.0

    def values(self, tp: Ints, fp: Ints, n1: int, n0: int) -> Floats:
        """Evaluate candidates."""
        if self.function is not None:
            counts = (tp, fp, n0 - fp, n1 - tp)
            return _call(self.function, counts, takes_arrays=self.takes_arrays)
        if self.name == "accuracy":
            return np.asarray((tp + (n0 - fp)) / (n1 + n0))
        missed, alarmed, p = (n1 - tp) / n1, fp / n0, self.prevalence
        fp_weight = (1.0 - p) * self.cost_fp
        fn_weight = p * self.cost_fn
        match self.name:
            case "youden":
                found = (tp * n0 - fp * n1) / n0 / n1
            case "weighted-youden":
                found = (1.0 - missed) + fp_weight / fn_weight * (1.0 - alarmed)
            case "sensitivity=specificity":
                found = np.abs(tp * n0 - (n0 - fp) * n1) / n0 / n1
            case "closest-topleft":
                found = missed**2 + alarmed**2
            case "weighted-topleft":
                found = missed**2 + fp_weight / fn_weight * alarmed**2
            case "prevalence-matching":
                found = np.abs(p * (1.0 - missed) + (1.0 - p) * alarmed - p)
            case _:
                found = fn_weight * missed + fp_weight * alarmed
        return np.asarray(found)

    def best(self, values: Floats) -> Ints:
        """Find all candidates with the best value."""
        known = values[~np.isnan(values)]
        if not known.size:
            return np.empty(0, np.int64)
        best = known.max() if self.maximised else known.min()
        if not math.isfinite(best):
            return np.flatnonzero(values == best)
        slack = _TOLERANCE * max(abs(best), self.scale)
        return np.flatnonzero(np.abs(values - best) <= slack)


def _call(function: Callable[..., Any], counts: tuple[Ints, ...], *, takes_arrays: bool) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        if takes_arrays:
            return np.asarray(function(*counts), np.float64)
        cells = zip(*(part.tolist() for part in counts), strict=True)
        return np.array([float(function(*cell)) for cell in cells], np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All ways to cut, from calling no sample positive to calling all of them."""

    #: Distinct scores, descending, shape (T,).
    scores: Floats
    #: Positives and negatives called by candidate k: those of the first k scores.
    tp: Ints
    fp: Ints
    rule: str

    def possible(self, steps: NDArray[Any] | None = None) -> Ints:
        """List candidates whose cutoff is a score that occurs, or beyond all scores."""
        occurs = np.ones(self.scores.size, np.bool_) if steps is None else steps > 0
        # No number lies beyond an infinite score.
        if self.rule == ">=":
            return np.flatnonzero(np.append(self.scores[0] < np.inf, occurs))
        return np.flatnonzero(np.append(occurs, self.scores[-1] > -np.inf))

    def cutoffs(self, chosen: Ints) -> Floats:
        """Give the observed scores that cut so."""
        if self.rule == ">=":
            return np.append(np.inf, self.scores)[chosen]
        return np.append(self.scores, -np.inf)[chosen]

    def midpoints(self, chosen: Ints) -> Floats:
        """Give cutoffs halfway between neighbouring scores that cut so."""
        above, below = self.scores[:-1], self.scores[1:]
        with np.errstate(invalid="ignore"):
            middle = above / 2 + below / 2
        # Between neighbours among the doubles, or beside an infinite score, is none.
        inside = (below < middle) & (middle < above) & np.isfinite(middle)
        middle = np.where(inside, middle, above if self.rule == ">=" else below)
        return np.concatenate([[np.inf], middle, [-np.inf]])[chosen]
