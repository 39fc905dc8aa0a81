"""The record of sets of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_whole
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.pairwise.estimate_sentences import (
    basis,
    beware,
    direction,
    simulation,
    table,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ENDS = {
    "two-sided": "",
    "lower": "lower ends of the ",
    "upper": "upper ends of the ",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankSets(Record):
    """The ranks that each model may have; rank 1 is the best.

    Arrays have one entry for each model that was asked for, in the order of the input.
    """

    names: tuple[str, ...]
    estimate: NDArray[np.float64]
    #: 1 + the number of models with better estimates.
    rank: NDArray[np.int64]
    #: The least and the greatest rank that the model may have.
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    #: "two-sided", "lower" (only `lower` bounds) or "upper".
    side: str
    #: Whether all sets hold at once with the probability `confidence_level`.
    simultaneous: bool
    #: Whether pairs that are shown to differ leave the test of the others.
    step_down: bool
    confidence_level: float
    #: The last critical value; of each model where sets are not simultaneous.
    critical_value: Any
    #: All models, also those that were not asked for.
    n_models: int
    lower_is_better: bool
    #: Draws that critical values come from, and the seed that repeats them.
    n_resamples: int
    seed: int
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the sets doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    def tau_best(self, tau: int) -> tuple[str, ...]:
        """List the models that may be among the best.

        Parameters
        ----------
        tau : int
            How many are the best.

        Returns
        -------
        tuple of str
            Models whose least rank is at most `tau`, best first. All that truly are
            among the `tau` best are in it with the probability `confidence_level`,
            whatever `tau`.

        Raises
        ------
        ValueError
            If the sets do not bound the ranks of all models from below at once.

        Examples
        --------
        >>> from fastcmp import rank_sets_from_moments
        >>> sets = rank_sets_from_moments([0.9, 0.85, 0.5], [0.001, 0.001, 0.001])
        >>> sets.tau_best(1)
        ('model_0', 'model_1')
        """
        return self._among(tau, self.lower, "upper")

    def tau_worst(self, tau: int) -> tuple[str, ...]:
        """List the models that may be among the worst.

        Parameters
        ----------
        tau : int
            How many are the worst.

        Returns
        -------
        tuple of str
            Models whose greatest rank is among the last `tau`, best first; as
            `tau_best`.

        Raises
        ------
        ValueError
            If the sets do not bound the ranks of all models from above at once.

        Examples
        --------
        >>> from fastcmp import rank_sets_from_moments
        >>> sets = rank_sets_from_moments([0.9, 0.85, 0.5], [0.001, 0.001, 0.001])
        >>> sets.tau_worst(1)
        ('model_2',)
        """
        return self._among(tau, self.n_models + 1 - self.upper, "lower")

    def _among(self, tau: int, least: NDArray[np.int64], other: str) -> tuple[str, ...]:
        tau = as_whole(tau, "tau", 1)
        if tau > self.n_models:
            raise ValueError(f"tau must be at most {self.n_models}, got {tau}")
        whole = self.simultaneous and len(self.names) == self.n_models
        if not whole or self.side == other:
            raise ValueError(
                "tau needs simultaneous sets of all models, not those with "
                f"side={other!r}: these have side={self.side!r}, "
                f"simultaneous={self.simultaneous}, and {len(self.names)} of "
                f"{self.n_models} models"
            )
        return tuple(self.names[i] for i in self._order() if least[i] <= tau)

    def _order(self) -> list[int]:
        """Give the models from best to worst."""
        order: list[int] = np.argsort(self.rank, kind="stable").tolist()
        return order

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, estimate, rank and the ends of the set of ranks.
        """
        return {
            "model": list(self.names),
            "estimate": self.estimate,
            "rank": self.rank,
            "rank_low": self.lower,
            "rank_high": self.upper,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What is promised, and the sets.
        """
        level = f"{100 * self.confidence_level:.9g}%"
        ends = _ENDS[self.side]
        promise = (
            f"With {level} confidence the true ranks of all {len(self.names)} models "
            f"lie within the {ends}sets at once."
        )
        if not self.simultaneous:
            promise = (
                f"The true rank of each model lies within the {ends}set with {level} "
                "confidence, of that model alone: not all of them at once."
            )
        steps = "step-down" if self.step_down else "single-step"
        text = (
            f"{basis(self)}.{direction(self)}",
            promise,
            f"{steps.capitalize()} test of differences. {simulation(self)}",
        )
        order = self._order()
        shown = {
            "rank": [str(self.rank[i]) for i in order],
            "model": [self.names[i] for i in order],
            "estimate": [f"{self.estimate[i]:.4g}" for i in order],
            "ranks": [_span(self.lower[i], self.upper[i]) for i in order],
        }
        return [
            Section(title="Which ranks may the models have?", text=text),
            *beware(self),
            table("Sets of ranks", shown),
        ]


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"
