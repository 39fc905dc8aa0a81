"""The record of two means of values on different samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue, interval_name
from fastcmp.paired.margin_result import margin_entries, margin_sentences
from fastcmp.paired.margin_statistics import Estimated, margins_of

if TYPE_CHECKING:
    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedMeans(Compared, Record):
    """Two models compared by the means of their values on different samples."""

    #: Welch's t: the difference, less that of H0, in standard errors. Infinite, or 0
    #: without a difference, where no value varies; NaN with one value of a model.
    statistic: float
    pvalue: float
    #: Degrees of freedom, of Welch and Satterthwaite.
    df: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "mean", where more is better, or "mean loss".
    measure: str
    #: Mean of a minus that of b, its standard error, and the interval for it.
    difference: float
    standard_error: float
    interval: ConfidenceInterval
    mean_a: float
    mean_b: float
    #: Of each mean alone.
    standard_error_a: float
    standard_error_b: float
    #: Values of each model that were compared.
    n_a: int
    n_b: int
    alternative: str
    #: The mean of a minus that of b under H0.
    null_difference: float = 0.0
    confidence_level: float
    names: tuple[str, str]
    missing: str = "raise"
    #: Missing values of each model.
    n_missing_values: tuple[int, int] = (0, 0)
    #: What to beware of.
    cautions: tuple[str, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "t"."""
        return "t"

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin."""
        of = Estimated(
            self.difference,
            self.standard_error,
            df=self.df,
            n_samples=self.n_a + self.n_b,
            pvalue=None if self.null_difference else self.pvalue,
            alternative="two-sided" if self.null_difference else self.alternative,
            measure=self.measure,
        )
        return margins_of(of, options._replace(lower_is_better=self.measure == "mean loss"))

    def _shown(self) -> dict[str, Any]:
        derived = {"better": self.better, "distribution": self.distribution}
        return {**self._fields(), **derived, **margin_entries(self.margins)}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, and what to beware of.
        """
        a, b = self.names
        low, high = self.interval
        name = interval_name(self.confidence_level, self.alternative)
        interval = "" if np.isnan(low) else f", {name} [{low:+.4g}, {high:+.4g}]"
        which = "higher" if self.difference > 0 else "lower"
        lead = f"{a} has a {which} {self.measure} than {b}"
        if not self.difference:
            lead = f"{a} and {b} have the same {self.measure}"
        text = [
            f"{lead}: {self.mean_a:.4g} on {self.n_a} samples, {self.mean_b:.4g} on "
            f"{self.n_b} others.",
            f"Difference {self.difference:+.4g}{interval}, standard error "
            f"{self.standard_error:.3g}.",
            f"{self.tested} (H0: {self._hypothesis}).",
            "Test: Welch's t test.",
            *margin_sentences(self.margins),
            *self._missing_sentences(),
        ]
        sections = [Section(title="Two means on different samples", text=tuple(text))]
        if self.cautions:
            sections.append(Section(title="Cautions", text=self.cautions))
        return sections

    @property
    def tested(self) -> str:
        """The statistic and the p-value, in words."""
        if np.isnan(self.statistic):
            return f"p = {format_pvalue(self.pvalue)}"
        return f"t = {self.statistic:.4g}, df = {self.df:.4g}, p = {format_pvalue(self.pvalue)}"

    @property
    def _hypothesis(self) -> str:
        """What is tested."""
        a, b = self.names
        if self.null_difference:
            relation = {"two-sided": "is", "greater": "is at most"}
            how = relation.get(self.alternative, "is at least")
            return f"the difference {how} {self.null_difference:+.4g}"
        return {
            "two-sided": f"{a} and {b} have the same {self.measure}",
            "greater": f"the {self.measure} of {a} is not higher",
            "less": f"the {self.measure} of {a} is not lower",
        }[self.alternative]

    def _missing_sentences(self) -> tuple[str, ...]:
        n = sum(self.n_missing_values)
        what = {"drop": "they were left out", "wrong": "they count as 0"}
        return (f"{n} values are missing: {what[self.missing]}.",) if n else ()
