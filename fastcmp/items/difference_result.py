"""The record of two models compared by the means of their values."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from fastcmp.core.record_parts import Compared, Pilot
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue, interval_name
from fastcmp.items.sentences import test_name, values_sentences
from fastcmp.paired.margin_result import MarginTests, margin_entries, margin_sentences

if TYPE_CHECKING:
    from fastcmp.items.components_result import VarianceComponents

_LETTERS = {"t": "t", "normal": "z"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeanDifference(Pilot, Compared, Record):
    """Two models compared by the means of their values on the same items."""

    #: What `distribution` is applied to: t, or z; of permuted means the difference, or
    #: studentized that in standard errors, as of bootstrapped ones.
    statistic: float
    pvalue: float
    #: Degrees of freedom of t, else None.
    df: float | None
    #: "t", "normal", "permutation" or "bootstrap".
    distribution: str
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
    #: Of the values of a and b over items; NaN where one of them does not vary.
    correlation: float
    method: str
    alternative: str
    confidence_level: float
    names: tuple[str, str]
    n_items: int
    #: Number of clusters and of strata; None without.
    n_clusters: int | None = None
    n_strata: int | None = None
    variance: str = "cr2"
    #: By how much clusters, strata and weights multiply the variance of the difference,
    #: compared with independent items.
    design_effect: float = 1.0
    #: Items of equal weight that would say as much, (sum w)**2 / (sum w**2); None
    #: without weights.
    n_effective: float | None = None
    #: Largest proportion of the items, by weight, in one cluster.
    largest_cluster: float | None = None
    #: P-value of flipping the signs of the differences of items or clusters, beside
    #: that of t where this alone is not safe.
    signflip_pvalue: float | None = None
    interval_method: str | None = None
    studentized: bool = False
    #: Draws of the p-value, 0 where it is exact, and the seed that repeats them and those of the
    #: interval; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None
    missing: str = "raise"
    n_missing_values: tuple[int, ...] = ()
    n_dropped: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()
    #: How much of the variance is between items, how much between answers to one;
    #: None where items were answered once, or have clusters, strata or weights.
    variance_components: VarianceComponents | None = None
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, what to beware of, and the parts of the variance.
        """
        a, b = self.names
        low, high = self.interval
        which = "higher" if self.difference > 0 else "lower"
        lead = f"{a} and {b} have the same {self.measure}"
        if self.difference:
            lead = f"{a} has a {which} {self.measure} than {b}"
        name = interval_name(self.confidence_level, self.alternative)
        interval = "" if isnan(low) else f", {name} [{low:+.4g}, {high:+.4g}]"
        hypothesis = {
            "two-sided": f"{a} and {b} have the same {self.measure}",
            "greater": f"the {self.measure} of {a} is not higher",
            "less": f"the {self.measure} of {a} is not lower",
        }[self.alternative]
        text = [
            f"{lead}: {self.mean_a:.4g} and {self.mean_b:.4g} on {self.n_items} items.",
            f"Difference {self.difference:+.4g}{interval}, standard error "
            f"{self.standard_error:.3g}.",
            f"{self._found()} (H0: {hypothesis}).",
            *margin_sentences(self.margins, self._drawn()),
            f"Test: {test_name(self)}.",
            *values_sentences(self),
        ]
        if self.n_resamples == 0 and self.seed is not None:
            text.append(f"Interval by random sign flips (seed {self.seed}).")
        if self.n_clusters is not None:
            text.append(
                f"The {self.n_clusters} clusters multiply the variance by "
                f"{self.design_effect:.3g}; the largest has "
                f"{100 * (self.largest_cluster or 0.0):.3g}% of the items."
            )
        if self.signflip_pvalue is not None:
            text.append(f"Sign flips beside it: p = {format_pvalue(self.signflip_pvalue)}.")
        sections = [Section(title="Which model is better?", text=tuple(text))]
        if self.cautions:
            sections.append(Section(title="Cautions", text=self.cautions))
        if self.variance_components is not None:
            sections += self.variance_components.sections()
        return sections

    def _drawn(self) -> str:
        """Name a test that draws, from which the margin is not tested."""
        return self.distribution if self.distribution not in _LETTERS else ""

    def _found(self) -> str:
        """Write the statistic and the p-value."""
        shown = f"p = {format_pvalue(self.pvalue)}"
        if self.distribution not in _LETTERS or isnan(self.statistic):
            return shown
        df = "" if self.df is None else f", df = {self.df:.4g}"
        return f"{_LETTERS[self.distribution]} = {self.statistic:.4g}{df}, {shown}"

    def _shown(self) -> dict[str, Any]:
        shown = {**self._fields(), "better": self.better}
        return shown | margin_entries(self.margins)
