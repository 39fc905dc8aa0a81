"""The record of the test that none of many models is better than a control."""

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

_CENTRES = {
    "lower": "models worse than the control count as they seem",
    "consistent": "models clearly worse than the control do not count",
    "upper": "all models count as equal to the control",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SuperiorAbility(Record):
    """Whether any model is better than the control, and which are.

    Arrays have one entry for each other model, (M - 1,), in the order of the input.
    Differences are the model minus the control, turned so that more is better.
    """

    control: str
    names: tuple[str, ...]
    estimate: Floats
    #: Of the control.
    control_estimate: float
    difference: Floats
    standard_error: Floats
    #: What the largest is taken of: the difference, or it over its standard error.
    statistic: Floats
    #: P-value of each model, adjusted for all of them, step down.
    pvalue_adjusted: Floats
    #: P-values of H0: no model is better than the control.
    pvalue_lower: float
    pvalue_consistent: float
    pvalue_upper: float
    #: Which of the three `pvalue` is, and `pvalue_adjusted` follows.
    recentring: str
    studentized: bool
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
    #: What makes the test doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    @property
    def n_models(self) -> int:
        """Number of models, the control among them."""
        return len(self.names) + 1

    @property
    def pvalue(self) -> float:
        """P-value of H0 with the recentring that was chosen."""
        found = {
            "lower": self.pvalue_lower,
            "consistent": self.pvalue_consistent,
            "upper": self.pvalue_upper,
        }
        return found[self.recentring]

    @property
    def superior(self) -> tuple[str, ...]:
        """The models shown to be better than the control, best first."""
        shown = self.pvalue_adjusted <= self.alpha
        return tuple(self.names[i] for i in self._order() if shown[i])

    def _order(self) -> list[int]:
        order: list[int] = np.argsort(-self.difference, kind="stable").tolist()
        return order

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, estimate, difference from the control, standard error, statistic,
            adjusted p-value, and whether the model is shown to be better.
        """
        return {
            "model": list(self.names),
            "estimate": self.estimate,
            "difference": self.difference,
            "standard_error": self.standard_error,
            "statistic": self.statistic,
            "pvalue_adjusted": self.pvalue_adjusted,
            "superior": self.pvalue_adjusted <= self.alpha,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test of all at once, and the models.
        """
        shown = self.superior
        pvalues = (self.pvalue_lower, self.pvalue_consistent, self.pvalue_upper)
        three = [format_drawn(self, pvalue) for pvalue in pvalues]
        found = f"better than {self.control}: {listed(shown)}" if shown else "none"
        text = (
            f"{basis(self)}.{direction(self)}",
            f"H0: no model is better than {self.control}. "
            f"p = {format_drawn(self, self.pvalue)} ({self.recentring}: "
            f"{_CENTRES[self.recentring]}); lower {three[0]}, consistent {three[1]}, "
            f"upper {three[2]}.",
            f"Shown at {self.alpha:g}, step down: {found}. The probability of even one "
            f"false decision is at most {self.alpha:g}.",
            drawn(self),
        )
        order = self._order()
        columns = {
            "model": [self.names[i] for i in order],
            "estimate": [f"{self.estimate[i]:.4g}" for i in order],
            "difference": [f"{self.difference[i]:+.4g}" for i in order],
            "standard error": [f"{self.standard_error[i]:.3g}" for i in order],
            "adjusted p": [format_drawn(self, self.pvalue_adjusted[i]) for i in order],
        }
        return [
            Section(title=f"Is any model better than {self.control}?", text=text),
            *beware(self),
            table(f"Against {self.control}", columns),
        ]
