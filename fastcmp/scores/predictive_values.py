"""Tests of two models' predictive values, and the record of all such comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fastcmp import kernels
from fastcmp.core.plain import readable
from fastcmp.core.records import Compared, Record
from fastcmp.core.report import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.tails import normal_tail
from fastcmp.paired.mcnemar_result import METHOD_NAMES, McNemarResult

_COLUMNS = ("test", "value_a", "value_b", "difference", "statistic", "pvalue")
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeasureComparison(Record):
    """Sensitivity, specificity and predictive values of two models compared."""

    #: McNemar's tests among the positives, and among the negatives.
    sensitivity: McNemarResult
    specificity: McNemarResult
    #: Generalised score tests (Leisenring, Alonzo and Pepe).
    ppv_score: PredictiveValueTest
    npv_score: PredictiveValueTest
    #: Weighted generalised score tests (Kosinski).
    ppv_weighted: PredictiveValueTest
    npv_weighted: PredictiveValueTest
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    def _rows(self) -> dict[str, tuple[Any, ...]]:
        """Give a row a test, of `_COLUMNS`."""
        rows: dict[str, tuple[Any, ...]] = {}
        for name in ("sensitivity", "specificity"):
            test: McNemarResult = getattr(self, name)
            values = test.accuracy_a, test.accuracy_b, test.difference
            numbers = map(float, (*values, test.statistic, test.pvalue))
            rows[name] = (f"McNemar, {METHOD_NAMES[test.method]}", *numbers)
        for name in ("ppv_score", "ppv_weighted", "npv_score", "npv_weighted"):
            rows[name] = tuple(getattr(getattr(self, name), x) for x in _COLUMNS)
        return rows

    def columns(self) -> dict[str, list[Any]]:
        """Give the tests as columns, a row a test.

        Returns
        -------
        dict of str to list
            Measure, test, values of both models and their difference, the statistic
            (as in the record of each test) and the p-value.
        """
        rows = self._rows()
        columns: dict[str, list[Any]] = {
            "measure": [name.partition("_")[0] for name in rows]
        }
        for name, column in zip(
            _COLUMNS, zip(*rows.values(), strict=True), strict=True
        ):
            columns[name] = list(column)
        return columns

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        values: dict[str, Any] = {
            name: dict(zip(_COLUMNS, row, strict=True))
            for name, row in self._rows().items()
        }
        values["alternative"] = self.sensitivity.alternative
        values["labels"] = self.labels
        values["n_missing"] = self.n_missing
        return {name: readable(value) for name, value in values.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row a test.
        """
        rows = [
            (
                name.partition("_")[0],
                test,
                *("-" if math.isnan(x) else f"{x:.4f}" for x in (a, b)),
                "-" if math.isnan(difference) else f"{difference:+.4f}",
                format_pvalue(pvalue),
            )
            for name, (test, a, b, difference, _, pvalue) in self._rows().items()
        ]
        positives, negatives = self.sensitivity.n_samples, self.specificity.n_samples
        text = (
            f"{positives} positives ({self.labels[0]!r}), {negatives} negatives "
            f"({self.labels[1]!r}); p-values are not adjusted for their number.",
        )
        return [
            Section(
                title=f"Two models compared ({self.sensitivity.alternative})",
                text=text,
                columns=("measure", "test", "a", "b", "a minus b", "p"),
                rows=tuple(rows),
                notes=dropped_sentences(self.n_missing, 0),
            )
        ]


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
