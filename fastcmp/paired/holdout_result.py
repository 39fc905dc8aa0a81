"""The record of a hold-out comparison: a decision, and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fastcmp.core.records import (
    ConfidenceInterval,
    Record,
)
from fastcmp.core.report import (
    Section,
    format_interval,
    format_pvalue,
    interval_name,
)
from fastcmp.core.sentences import dropped_sentences, outside_sentences
from fastcmp.paired.cost_differences import METHOD_NAMES as COST_NAMES
from fastcmp.paired.cost_result import CostResult
from fastcmp.paired.mcnemar_result import METHOD_NAMES, McNemarResult


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HoldoutResult(Record):
    """Two models on one held-out set, compared by error rate or by cost."""

    #: The test itself, with its counts: of McNemar's kind, or of costs.
    comparison: McNemarResult | CostResult
    #: What was tested: a variant of McNemar's test, or a cost-sensitive test.
    test: str
    alternative: str
    alpha: float
    #: What to call the models.
    names: tuple[str, str] = ("a", "b")

    @property
    def reject(self) -> bool:
        """Whether equality is rejected: the p-value is at most `alpha`."""
        return bool(self.pvalue <= self.alpha)

    @property
    def pvalue(self) -> float:
        """P-value; NaN where the test has no answer."""
        return float(self.comparison.pvalue)

    @property
    def statistic(self) -> float:
        """McNemar's chi-square, the likelihood ratio or the chi-square of costs."""
        return float(self.comparison.statistic)

    @property
    def status(self) -> int:
        """A `fastcmp.kernels.Status`."""
        return int(self.comparison.status)

    @property
    def loss_a(self) -> float:
        """Error rate of a, or its expected cost; lower is better."""
        return self._losses[0]

    @property
    def loss_b(self) -> float:
        """Error rate of b, or its expected cost; lower is better."""
        return self._losses[1]

    @property
    def n_outside_a(self) -> int:
        """How many predictions of a are labels, but not of the truth."""
        return (*self.comparison.n_outside, 0)[0]

    @property
    def n_outside_b(self) -> int:
        """How many predictions of b are labels, but not of the truth."""
        return (*self.comparison.n_outside, 0, 0)[1]

    @property
    def _losses(self) -> tuple[float, float]:
        result = self.comparison
        if isinstance(result, CostResult):
            return float(result.loss_a), float(result.loss_b)
        wrong = result.both_wrong
        n = result.n_samples
        return (wrong + result.only_b) / n, (wrong + result.only_a) / n

    @property
    def difference(self) -> float:
        """Loss of a minus that of b: negative where a is better."""
        if isinstance(self.comparison, CostResult):
            return float(self.comparison.difference)
        return -float(self.comparison.difference)

    @property
    def interval(self) -> ConfidenceInterval:
        """Interval for `difference` at 1 - `alpha`, one-sided if the test is.

        Newcombe's for error rates, of profile likelihood for costs. For "greater" `low`
        is -1, for "less" `high` is 1: the difference is of losses.
        """
        low, high = self.comparison.confidence_interval(1.0 - self.alpha)
        if isinstance(self.comparison, CostResult):
            return ConfidenceInterval(low, high)
        return ConfidenceInterval(-high, -low)

    @property
    def n_samples(self) -> int:
        """Number of samples that were compared."""
        return int(self.comparison.n_samples)

    @property
    def n_missing(self) -> int:
        """Number of samples dropped because the true label is missing."""
        return self._dropped[0]

    @property
    def n_excluded(self) -> int:
        """Number of samples dropped, their true label not being a chosen class."""
        return self._dropped[1]

    @property
    def _dropped(self) -> tuple[int, int]:
        result = self.comparison
        source = result.counts if isinstance(result, CostResult) else result
        return source.n_missing, source.n_excluded

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        a, b = self.names
        if isinstance(self.comparison, CostResult):
            losses = f"{a} costs {self.loss_a:.4g}, {b} {self.loss_b:.4g} per sample"
            name = COST_NAMES[self.test]
        else:
            losses = (
                f"{a} is wrong on {100 * self.loss_a:.2f} % of the samples, {b} on "
                f"{100 * self.loss_b:.2f} %"
            )
            name = f"{METHOD_NAMES[self.test]} McNemar's test, chi-square"
        numbers = f"({name} {self.statistic:.4g}, p = {format_pvalue(self.pvalue)})"
        if math.isnan(self.pvalue):
            return f"{losses}; the test has no answer here {numbers}."
        return f"{losses}; {self._decision} {numbers}."

    @property
    def _decision(self) -> str:
        a, b = self.names
        if self.alternative == "two-sided":
            return f"the difference is {'' if self.reject else 'not '}significant"
        first, second = (a, b) if self.alternative == "greater" else (b, a)
        how = "is significantly" if self.reject else "is not significantly"
        return f"{first} {how} better than {second}"

    def columns(self) -> dict[str, list[Any]]:
        """Lay out the record as columns of one row.

        Returns
        -------
        dict of str to list
            Names, losses, test and decision; without a cost also on how many samples
            only one model is right.
        """
        low, high = self.interval
        cost = isinstance(self.comparison, CostResult)
        row = {
            "model_a": self.names[0],
            "model_b": self.names[1],
            "loss": "cost" if cost else "error rate",
            "loss_a": self.loss_a,
            "loss_b": self.loss_b,
            "difference": self.difference,
            "low": float(low),
            "high": float(high),
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "reject": self.reject,
            "test": self.test,
            "alternative": self.alternative,
            "alpha": self.alpha,
            "n_samples": self.n_samples,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
            "n_outside_a": self.n_outside_a,
            "n_outside_b": self.n_outside_b,
        }
        if not isinstance(self.comparison, CostResult):
            row["only_a"] = self.comparison.only_a
            row["only_b"] = self.comparison.only_b
        return {name: [value] for name, value in row.items()}

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        values = {name: column[0] for name, column in self.columns().items()}
        values["verdict"] = self.verdict
        return {
            name: None if isinstance(x, float) and math.isnan(x) else x
            for name, x in values.items()
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, the numbers and remarks on them.
        """
        a, b = self.names
        cost = isinstance(self.comparison, CostResult)
        loss = "cost" if cost else "error rate"
        side = "two" if self.alternative == "two-sided" else "one"
        level = f"{interval_name(1 - self.alpha)}, {side}-sided"
        rows = (
            (f"{loss} of {a}", f"{self.loss_a:.4f}"),
            (f"{loss} of {b}", f"{self.loss_b:.4f}"),
            (f"{a} minus {b}", f"{self.difference:+.4f}"),
            (level, format_interval(*self.interval, digits=4, sign="+")),
            ("statistic", f"{self.statistic:.4f}"),
            ("p-value", format_pvalue(self.pvalue)),
            ("samples", f"{self.n_samples}"),
        )
        outside = (self.n_outside_a, self.n_outside_b)
        notes = (
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(outside, self.names, self.n_samples),
        )
        if isinstance(self.comparison, CostResult):
            notes = (*self.comparison.remarks, *notes)
        else:
            counts = self.comparison
            notes = (
                f"Samples on which only {a} is right: {counts.only_a}, only {b}: "
                f"{counts.only_b}.",
                *notes,
            )
        return [
            Section(title="Which model is better?", text=(self.verdict,)),
            Section(
                title=f"Numbers ({self.alternative}, at {self.alpha:g})",
                columns=("", "value"),
                rows=rows,
                notes=("Lower is better.", *notes),
            ),
        ]
