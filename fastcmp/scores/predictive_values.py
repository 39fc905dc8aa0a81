"""Tests of two models' predictive values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fastcmp import kernels
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.tails import normal_tail

_HYPOTHESES = {
    "two-sided": "both are equal",
    "greater": "a is not better than b",
    "less": "a is not worse than b",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PredictiveValueTest(Compared, Record):
    """A score test of two models' predictive values on the same samples."""

    #: z, positive where a is better; its square is the published chi-square.
    statistic: float
    pvalue: float
    distribution: str = "normal"
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "generalised score" or "weighted generalised score".
    test: str
    #: "ppv" or "npv".
    measure: str
    #: The predictive values; NaN where a model makes no such call.
    value_a: float
    value_b: float
    alternative: str

    @property
    def difference(self) -> float:
        """Predictive value of a minus that of b: positive where a is better."""
        return self.value_a - self.value_b

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"{self.measure} of a {self.value_a:.4f}, of b {self.value_b:.4f}, "
            f"difference {self.difference:+.4f}",
            f"z = {self.statistic:.4g}, p = {format_pvalue(self.pvalue)} "
            f"(H0: {_HYPOTHESES[self.alternative]})",
        )
        title = f"{self.test.capitalize()} test ({self.measure}, {self.alternative})"
        return [Section(title=title, text=text)]


def predictive_value_test(
    measure: str,
    right: tuple[int, int, int],
    wrong: tuple[int, int, int],
    alternative: str,
    *,
    weighted: bool,
) -> PredictiveValueTest:
    """Test the equality of two predictive values, from counts."""
    right_a, right_b = right[0] + right[1], right[0] + right[2]
    n_a, n_b = right_a + wrong[0] + wrong[1], right_b + wrong[0] + wrong[2]
    statistic = pvalue = value_a = value_b = math.nan
    status = kernels.UNDEFINED
    value_a = right_a / n_a if n_a else math.nan
    value_b = right_b / n_b if n_b else math.nan
    if n_a and n_b:
        pooled = (right_a + right_b) / (n_a + n_b)
        rest = (n_a - right_a + n_b - right_b) / (n_a + n_b)  # 1 - pooled
        both, only_a, only_b = (
            r * rest**2 + w * pooled**2 for r, w in zip(right, wrong, strict=True)
        )
        if weighted:
            # (v (1 - v) - 2 S_ab / (n_a + n_b)) (1 / n_a + 1 / n_b), not cancelling.
            variance = (only_a + only_b) / n_a / n_b
        else:
            variance = only_a / n_a**2 + only_b / n_b**2
            variance += both * ((n_b - n_a) / n_a / n_b) ** 2
        status, statistic, pvalue = kernels.DEGENERATE, 0.0, 1.0
        if variance > 0.0:
            difference = (right_a * n_b - right_b * n_a) / n_a / n_b
            statistic = difference / math.sqrt(variance)
            status, pvalue = kernels.OK, float(normal_tail(statistic, alternative))
    return PredictiveValueTest(
        statistic=statistic,
        pvalue=pvalue,
        status=int(status),
        test="weighted generalised score" if weighted else "generalised score",
        measure=measure,
        value_a=value_a,
        value_b=value_b,
        alternative=alternative,
    )
