"""The record of pairs of estimates that are compared all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.plain import readable
from fastcmp.core.records import Record, keep_intervals
from fastcmp.core.render import plain_columns
from fastcmp.core.sections import Section, format_pvalue, interval_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SHOWN = (
    *("critical_value", "distribution", "df", "alternative", "step"),
    *("confidence_level", "n_resamples", "seed", "control"),
)
_ROWS = 20  # pairs that are printed
_STEPS = {"single": "single-step max-T", "down": "step-down max-T"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimultaneousPairs(Record):
    """All pairs of estimates, with p-values and intervals that hold at once."""

    #: Differences in standard errors, shape (P,).
    statistic: Floats
    #: Of each pair alone, and adjusted for all, shape (P,).
    pvalue: Floats
    pvalue_adjusted: Floats
    #: Degrees of freedom of t; None for the normal distribution.
    df: float | None
    #: "normal" or "t".
    distribution: str
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Estimate of the first minus that of the second, shape (P,), and its standard
    #: error.
    difference: Floats
    standard_error: Floats
    #: Intervals that all contain the true differences at once with the confidence
    #: level, shape (P, 2).
    interval: Floats
    #: Standard errors that an interval reaches to either side.
    critical_value: float
    #: Shape (M,).
    estimate: Floats
    names: tuple[str, ...]
    alternative: str
    #: "single" or "down".
    step: str
    confidence_level: float
    n_resamples: int
    seed: int
    #: The model that all others were compared with; None for all pairs.
    control: str | None = None

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval")

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all that was found.
        """
        return {
            "model_a": [self.names[i] for i in self.pairs[:, 0]],
            "model_b": [self.names[j] for j in self.pairs[:, 1]],
            "difference": self.difference,
            "standard_error": self.standard_error,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        return {
            **{name: readable(getattr(self, name)) for name in _SHOWN},
            "estimates": plain_columns({"model": list(self.names), "estimate": self.estimate}),
            "pairs": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The pairs, and what holds for all of them.
        """
        columns = self.columns()
        interval = interval_name(self.confidence_level, self.alternative)
        rows = [
            (
                *(a, b, f"{difference:+.4g}", f"[{low:+.4g}, {high:+.4g}]"),
                *(format_pvalue(pvalue), format_pvalue(adjusted)),
            )
            for a, b, difference, _, low, high, _, pvalue, adjusted in zip(
                *(list(column)[:_ROWS] for column in columns.values()), strict=True
            )
        ]
        left = len(self.pairs) - len(rows)
        letter = "z" if self.df is None else f"t with {self.df:.4g} degrees of freedom"
        text = (
            f"{len(self.names)} models, {len(self.pairs)} pairs"
            + (f" with {self.control}." if self.control else "."),
        )
        notes = (
            f"Adjusted p: {_STEPS[self.step]} of {letter} ({self.n_resamples} draws, "
            f"seed {self.seed}).",
            f"Intervals: {self.critical_value:.3f} standard errors; all contain the "
            f"true differences with a probability of {100 * self.confidence_level:g}%.",
        )
        more = (f"... and {left} more pairs.",) if left else ()
        names = ("model a", "model b", "difference", f"simultaneous {interval}")
        return [
            Section(
                title="Which estimates differ?",
                text=text,
                columns=(*names, "p", "adjusted p"),
                rows=tuple(rows),
                notes=(*more, *notes),
            )
        ]
