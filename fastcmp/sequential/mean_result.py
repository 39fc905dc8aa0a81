"""The record of a test of a bounded mean by e-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.sequential.evalue_result import evalue_of, format_evalue, pvalue_of

_METHODS = {
    "bets": "constant bets",
    "empirical-bernstein": "empirical Bernstein; it depends on the order of the values",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeanEvalueResult(Record):
    """A test of the mean of bounded values, which may be looked at any time."""

    #: Natural logarithm of the e-value, of an equal mixture of constant bets.
    log_evalue: float
    #: The mean of the values.
    mean: float
    #: The mean of the null hypothesis.
    mean0: float
    #: Ends of the interval for the mean, which hold at every look.
    low: float
    high: float
    confidence_level: float
    #: Of the interval: "bets", or "empirical-bernstein", which depends on the order in
    #: which the values came.
    method: str
    n_samples: int
    #: Smallest and largest possible value.
    bounds: tuple[float, float]
    alternative: str

    @property
    def evalue(self) -> float:
        """Evidence against the null hypothesis: its expectation there is at most 1."""
        return float(evalue_of(self.log_evalue))

    @property
    def pvalue(self) -> float:
        """A p-value that is valid at every look: 1 / `evalue`, at most 1."""
        return float(pvalue_of(self.log_evalue))

    @property
    def order_dependent(self) -> bool:
        """Whether the same values in another order would give another interval."""
        return self.method == "empirical-bernstein"

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The interval for the mean: ``low`` and ``high``."""
        return ConfidenceInterval(self.low, self.high)

    def _shown(self) -> dict[str, Any]:
        shown = {"evalue": self.evalue, "pvalue": self.pvalue, **self._fields()}
        return shown | {"order_dependent": self.order_dependent}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        name = interval_name(self.confidence_level, self.alternative)
        ends = format_interval(self.low, self.high, digits=4)
        sign = {"two-sided": "is", "greater": "is at most", "less": "is at least"}
        text = (
            f"Mean {self.mean:.4f} of {self.n_samples} values in [{self.bounds[0]:g}, "
            f"{self.bounds[1]:g}], {name} {ends} ({_METHODS[self.method]}).",
            f"E = {format_evalue(self.log_evalue)}, p = {format_pvalue(self.pvalue)} "
            f"(H0: the mean {sign[self.alternative]} {self.mean0:g}), valid at every "
            "look.",
        )
        title = f"Test of a bounded mean by an e-value ({self.alternative})"
        return [Section(title=title, text=text)]
