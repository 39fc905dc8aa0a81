"""The record of a model confidence set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.pairwise.estimate_sentences import (
    basis,
    beware,
    direction,
    drawn,
    format_drawn,
    listed,
    table,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_TESTS = {
    "r": "the largest difference of two models",
    "max": "the largest distance of a model from the mean of all",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelConfidenceSet(Record):
    """The models that are left when worse ones are left out one by one.

    Arrays have the shape (M,), in the order of the input.
    """

    names: tuple[str, ...]
    estimate: Floats
    #: Largest p-value of the tests up to that which leaves the model out, 1 for the
    #: last: a model is in the set where it is above `alpha`.
    pvalue: Floats
    #: Statistic of the test that leaves the model out; 0 for the last.
    statistic: Floats
    #: 1 for the model that is left out first, M for the last.
    step: NDArray[np.int64]
    #: "r" or "max".
    method: str
    alpha: float
    #: What statistics are compared with: draws from the "normal" distribution, of "t"
    #: with `df` degrees of freedom, or a "bootstrap".
    distribution: str
    df: float | None
    lower_is_better: bool
    #: Draws, and the seed that repeats them; None where draws were given.
    n_resamples: int
    seed: int | None
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the set doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    @property
    def included(self) -> tuple[str, ...]:
        """The models of the set, those left out last first."""
        return tuple(self.names[i] for i in self._order() if self.pvalue[i] > self.alpha)

    def _order(self) -> list[int]:
        order: list[int] = np.argsort(-self.step, kind="stable").tolist()
        return order

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, estimate, the step that leaves it out, statistic, p-value and whether
            it is in the set.
        """
        return {
            "model": list(self.names),
            "estimate": self.estimate,
            "step": self.step,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "included": self.pvalue > self.alpha,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The set, what is promised, and the p-values.
        """
        chosen = self.included
        text = (
            f"{basis(self)}.{direction(self)}",
            f"In the set, {len(chosen)} of {len(self.names)}: {listed(chosen)}.",
            f"With {100 * (1 - self.alpha):.9g}% confidence the set holds all models "
            "that are truly as good as the best.",
            f"Each step tests that the models left are equal, by {_TESTS[self.method]}."
            f" {drawn(self)}",
        )
        order = self._order()
        shown = {
            "model": [self.names[i] for i in order],
            "estimate": [f"{self.estimate[i]:.4g}" for i in order],
            "p": [format_drawn(self, self.pvalue[i]) for i in order],
            "in the set": ["yes" if self.pvalue[i] > self.alpha else "" for i in order],
        }
        return [
            Section(title="Which models may be as good as the best?", text=text),
            *beware(self),
            table("Model confidence set", shown),
        ]
