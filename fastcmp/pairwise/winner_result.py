"""The record of the best model's estimate, corrected for its having been picked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, interval_name
from fastcmp.pairwise.estimate_sentences import basis, beware, direction, simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

_METHODS = {
    "conditional": "given that this model won",
    "hybrid": "hybrid: given that this model won, within a simultaneous interval",
    "projection": "simultaneous for all models, whichever won",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WinnerEstimate(Record):
    """What the model with the best estimate truly achieves.

    The best of several estimates is too good on average: it was picked for it.
    """

    #: The model with the best estimate, and its position in the input.
    winner: str
    index: int
    #: As it came, and its standard error.
    estimate: float
    standard_error: float
    #: Corrected: too high as often as too low; NaN by projection.
    median: float
    #: Corrected, at `confidence_level`.
    interval: ConfidenceInterval
    #: What the interval would be had the model not been picked.
    naive_interval: ConfidenceInterval
    #: Between which numbers the estimate had to lie for the model to win, the others as
    #: they are.
    truncation: ConfidenceInterval
    #: "hybrid", "conditional" or "projection".
    method: str
    confidence_level: float
    #: The part of the error that the simultaneous interval may have, and its critical
    #: value; None where there is none.
    beta: float | None
    projection_critical: float | None
    n_models: int
    lower_is_better: bool
    #: Draws that the critical value comes from, and the seed that repeats them; None
    #: where none was simulated.
    n_resamples: int | None = None
    seed: int | None = None
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the estimate doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The estimate and the interval, before and after the correction.
        """
        level = interval_name(self.confidence_level)
        ends = _ends(self.interval)
        corrected = f"Corrected: {self.median:.4g}, {level} {ends}"
        if self.method == "projection":
            corrected = f"Corrected {level}: {ends}"
        text = [
            f"{basis(self)}.{direction(self)}",
            f"The best estimate is that of {self.winner}: {self.estimate:.4g}, {level} "
            f"{_ends(self.naive_interval)} ignoring selection.",
            f"{corrected} ({_METHODS[self.method]}).",
        ]
        if self.n_resamples is not None:
            text.append(simulation(self))
        return [Section(title="How good is the winner?", text=tuple(text)), *beware(self)]


def _ends(interval: Sequence[Any]) -> str:
    low, high = interval
    return f"[{low:.4g}, {high:.4g}]"
