"""The record of Cohen's kappa, and intervals of coefficients of agreement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.plain import readable
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.status import DEGENERATE, UNDEFINED

if TYPE_CHECKING:
    from numpy.typing import NDArray

INTERVALS = ("atanh", "wald")
METHODS = {"cohen": "Cohen's kappa", "scott": "Scott's pi"}
_HYPOTHESES = {
    "two-sided": "the coefficient is 0",
    "greater": "the coefficient is at most 0",
    "less": "the coefficient is at least 0",
}


def agreement_interval(
    value: float, error: float, method: str, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Give an interval for a coefficient that ends at -1 and 1; NaN for an error of 0.

    On the scale of atanh, whose slope is 1 / (1 - value**2), or on that of the value.
    """
    slope = (1.0 - value) * (1.0 + value)
    if not (error > 0.0 and slope > 0.0):
        return ConfidenceInterval(math.nan, math.nan)
    level = as_level(confidence_level, alternative)
    half = -ndtri(0.5 * (1.0 - level)) * error
    if method == "atanh":
        middle, half = math.atanh(value), half / slope
        ends = math.tanh(middle - half), math.tanh(middle + half)
    else:
        ends = value - half, value + half
    return ConfidenceInterval(*keep_side(ends, alternative, (-1.0, 1.0)))


def describe_agreement(result: Any, symbol: str) -> tuple[str, ...]:
    """Write a coefficient, its interval and its test."""
    if result.status == UNDEFINED:
        why = "by chance alone the raters would always agree"
        return (f"{symbol} is undefined: {why if result.n_items else 'no items'}.",)
    level = interval_name(result.confidence_level, result.alternative)
    ends = format_interval(*result.interval, digits=4).replace("nan", "-")
    error = "-"
    if not math.isnan(result.standard_error):
        error = f"{result.standard_error:.4f}"
    text: tuple[str, ...] = (
        f"{symbol} = {result.value:.4f}, {level} {ends}, standard error {error}",
        f"z = {result.statistic:.4g}, p = {format_pvalue(result.pvalue)} "
        f"(H0: {_HYPOTHESES[result.alternative]})",
    )
    if result.status == DEGENERATE:
        text += ("A rater who gives one label only agrees as by chance.",)
    elif result.standard_error == 0.0:
        text += ("The standard error is 0 here, which gives no interval.",)
    return text


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KappaResult(Record):
    """Agreement of two raters beyond chance, with a test that there is none."""

    #: z: `value` over `standard_error_null`.
    statistic: float
    pvalue: float
    distribution: str = "normal"
    #: A `fastcmp.kernels.Status`.
    status: int
    #: The coefficient: 1 for equal labels, 0 for as much agreement as by chance.
    value: float
    #: By the delta method; 0 where all labels agree.
    standard_error: float
    #: Of raters who label independently, with the same margins.
    standard_error_null: float
    #: For `value`, at `confidence_level`; NaN where the standard error is 0.
    interval: ConfidenceInterval
    confidence_level: float
    #: "atanh" or "wald".
    interval_method: str
    alternative: str
    #: "cohen" or "scott".
    method: str
    #: None, "linear", "quadratic", or what each disagreement weighs, shape (K, K).
    weights: Any
    #: ``table[i, j]`` items that a labelled i and b j.
    table: NDArray[np.int64]
    labels: tuple[Any, ...]
    #: Items with a label that was not chosen.
    n_excluded: int = 0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.table.sum())

    @property
    def agreement(self) -> float:
        """Proportion of items with equal labels."""
        n = self.n_items
        return int(np.trace(self.table)) / n if n else math.nan

    def _shown(self) -> dict[str, Any]:
        shown = self._fields()
        shown |= {"agreement": self.agreement, "n_items": self.n_items}
        for name in ("table", "labels", "weights"):
            del shown[name]
        return shown

    def _entries(self) -> dict[str, Any]:
        more = {name: getattr(self, name) for name in ("table", "labels", "weights")}
        return {name: readable(x) for name, x in (self._shown() | more).items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        title = METHODS[self.method]
        if self.weights is not None:
            named = isinstance(self.weights, str)
            title += f" ({self.weights if named else 'own'} weights)"
        symbol = "kappa" if self.method == "cohen" else "pi"
        text = describe_agreement(self, symbol)
        if self.n_items:
            text += (f"The raters agree on {100 * self.agreement:.1f}% of {self.n_items} items.",)
        if self.n_excluded:
            text += (f"{self.n_excluded} items with other labels were left out.",)
        if isinstance(self.weights, str) and _has_gap(self.labels):
            text += (
                "Weights count places among the labels, which are not consecutive "
                "numbers: labels= with all of them keeps the gaps.",
            )
        return [Section(title=title, text=text)]


def _has_gap(labels: tuple[Any, ...]) -> bool:
    """Tell whether whole numbers leave out some between them."""
    if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in labels):
        return False
    return bool(max(labels) - min(labels) >= len(labels))
