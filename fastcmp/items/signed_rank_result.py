"""The record of Wilcoxon's signed-rank test of two models."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue, interval_name

#: What is tested, by `alternative`.
HYPOTHESES = {
    "two-sided": "H0: the differences are symmetric about 0",
    "greater": "H0: the differences are symmetric about 0, or below",
    "less": "H0: the differences are symmetric about 0, or above",
}
_ZEROS = {
    "wilcox": "dropped",
    "pratt": "ranked, then dropped (Pratt)",
    "zsplit": "ranked, half as positive",
}
#: What a reader must know of the test.
NOT_OF_MEANS = "This is no test of means: skewed differences with mean 0 may be significant."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SignedRankResult(Compared, Record):
    """Wilcoxon's signed-rank test of two models on the same items."""

    #: `w_plus` where the test is exact, else `zscore`.
    statistic: float
    pvalue: float
    #: A `fastcmp.kernels.Status`: degenerate where all differences are 0.
    status: int
    #: "exact" or "asymptotic".
    method: str
    #: Sum of the ranks of items on which a has the larger value.
    w_plus: float
    #: Sum of the ranks of items on which b has the larger value.
    w_minus: float
    #: The standardized sum of ranks; by clusters where there are groups.
    zscore: float
    #: Hodges and Lehmann's estimate: the median of all averages of two differences.
    estimate: float
    #: For `estimate`; NaN where there are groups.
    interval: ConfidenceInterval
    #: The mean of a minus that of b, which is not what is tested.
    mean_difference: float
    n_items: int
    #: Items on which both have the same value.
    n_zero: int
    #: Clusters; None where there are none.
    n_groups: int | None
    #: What was done with differences of 0: "wilcox", "pratt" or "zsplit".
    zero_method: str
    continuity: bool
    alternative: str
    confidence_level: float
    lower_is_better: bool
    names: tuple[str, str]

    @property
    def distribution(self) -> str:
        """Where the p-value comes from: "permutation" (of signs) or "normal"."""
        return "permutation" if self.method == "exact" else "normal"

    @property
    def zscore_uncorrected(self) -> float:
        """The normal score with the variance of ranks without ties, as older texts."""
        n, zeros = float(self.n_items), float(self.n_zero)
        n -= zeros * (self.zero_method == "wilcox")
        variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0
        if self.zero_method == "pratt":
            variance -= zeros * (zeros + 1.0) * (2.0 * zeros + 1.0) / 24.0
        if not variance > 0.0:
            return 0.0
        return 0.5 * (self.w_plus - self.w_minus) / math.sqrt(variance)

    @property
    def measure(self) -> str:
        """What is compared: "value", or "loss" where lower is better."""
        return "loss" if self.lower_is_better else "value"

    @property
    def difference(self) -> float:
        """The `estimate`: a typical difference of a minus b."""
        return self.estimate

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        a, b = self.names
        zeros = ""
        if self.n_zero:
            zeros = f", {self.n_zero} of them equal: {_ZEROS[self.zero_method]}"
        clusters = "" if self.n_groups is None else f" in {self.n_groups} clusters"
        shown = f"W+ = {self.w_plus:.10g}, W- = {self.w_minus:.10g}"
        if self.method == "asymptotic":
            shown = f"z = {self.zscore:.4g} ({shown})"
        text = (
            f"{shown}, p = {format_pvalue(self.pvalue)} "
            f"({HYPOTHESES[self.alternative]}; {self._how()})",
            f"{self.n_items} items{clusters}{zeros}",
            self._effect(),
            f"Mean of {a} minus {b}: {self.mean_difference:+.4g}. {NOT_OF_MEANS}",
        )
        return [Section(title="Wilcoxon's signed-rank test", text=text)]

    def _how(self) -> str:
        if self.method == "exact":
            return "exact"
        return "normal, corrected" if self.continuity else "normal"

    def _effect(self) -> str:
        """Say which model did better, and by how much."""
        a, b = self.names
        low, high = self.interval
        ends = ""
        if self.n_groups is None:
            name = interval_name(self.confidence_level, self.alternative)
            ends = f", {name} [{low:+.4g}, {high:+.4g}]"
        better = {"a": a, "b": b}.get(self.better or "", "")
        lead = f"; {better} did better" if better else ""
        return f"Hodges-Lehmann: {a} minus {b} {self.estimate:+.4g}{ends}{lead}."
