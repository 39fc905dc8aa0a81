"""The record of the models that may be the best, and of by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.sections import Section, interval_name
from fastcmp.pairwise.estimate_sentences import basis, beware, direction, listed, simulation, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BestSet(Record):
    """Multiple comparison with the best: by how much each model leads, or is behind.

    Intervals are for the model minus the best of the others, turned so that more is
    better: at most 0 where the model is shown not to be the best, at least 0 where it
    is shown to be. Arrays have the shape (M,), in the order of the input.
    """

    names: tuple[str, ...]
    estimate: Floats
    #: Interval of the model minus the best of the others.
    lower: Floats
    upper: Floats
    #: Whether the model may be the best.
    may_be_best: NDArray[np.bool_]
    #: One-sided critical value with this model as the control; NaN where none was
    #: needed, as Bonferroni's already excludes the model.
    critical_value: Floats
    confidence_level: float
    lower_is_better: bool
    #: Draws that critical values come from, and the seed that repeats them.
    n_resamples: int
    seed: int
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the set doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[str, ...]:
        """The models that may be the best, those of better estimates first."""
        chosen = [i for i in self._order() if self.may_be_best[i]]
        return tuple(self.names[i] for i in chosen)

    def _order(self) -> list[int]:
        value = self.estimate if self.lower_is_better else -self.estimate
        order: list[int] = np.argsort(value, kind="stable").tolist()
        return order

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, estimate, interval of the lead over the best of the others, and
            whether the model may be the best.
        """
        return {
            "model": list(self.names),
            "estimate": self.estimate,
            "low": self.lower,
            "high": self.upper,
            "may_be_best": self.may_be_best,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The set, what is promised, and the intervals.
        """
        level = f"{100 * self.confidence_level:.9g}%"
        text = (
            f"{basis(self)}.{direction(self)}",
            f"May be the best, {len(self.best)} of {len(self.names)}: {listed(self.best)}.",
            f"With {level} confidence the truly best model is among them, and all "
            "intervals hold at once.",
            simulation(self),
        )
        order = self._order()
        shown = {
            "model": [self.names[i] for i in order],
            "estimate": [f"{self.estimate[i]:.4g}" for i in order],
            f"lead over the best other, {interval_name(self.confidence_level)}": [
                f"[{self.lower[i]:+.4g}, {self.upper[i]:+.4g}]" for i in order
            ],
            "may be best": ["yes" if self.may_be_best[i] else "" for i in order],
        }
        return [
            Section(title="Which model may be the best?", text=text),
            *beware(self),
            table("Comparison with the best", shown),
        ]
