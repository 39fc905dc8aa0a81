"""The record of a hold-out comparison: a decision, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import answer_of, dropped_sentences, outside_sentences
from fastcmp.paired.cost_differences import METHOD_NAMES as COST_NAMES
from fastcmp.paired.cost_result import CostResult
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.mcnemar_result import METHOD_NAMES, McNemarResult, describe_test


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HoldoutResult(Compared, Record):
    """Two models on one held-out set, compared by accuracy or by cost."""

    #: The test itself, with its counts: McNemar's, or one of costs.
    comparison: McNemarResult | CostResult
    alpha: float
    #: What to call the models.
    names: tuple[str, str] = ("a", "b")

    @property
    def reject(self) -> bool:
        """Whether H0 is rejected: the p-value is at most `alpha`."""
        return bool(self.pvalue <= self.alpha)

    @property
    def pvalue(self) -> float:
        """P-value; NaN where the test has no answer."""
        return float(self.comparison.pvalue)

    @property
    def statistic(self) -> float:
        """That of `comparison`."""
        return float(self.comparison.statistic)

    @property
    def distribution(self) -> str:
        """That of `comparison`."""
        return self.comparison.distribution

    @property
    def df(self) -> int | None:
        """Degrees of freedom of a chi-square distribution, else None."""
        return self.comparison.df

    @property
    def status(self) -> int:
        """A `fastcmp.kernels.Status`."""
        return int(self.comparison.status)

    @property
    def method(self) -> str:
        """A variant of McNemar's test, or a cost-sensitive test."""
        return self.comparison.method

    @property
    def alternative(self) -> str:
        """Which alternative was tested; of costs "two-sided"."""
        result = self.comparison
        return "two-sided" if isinstance(result, CostResult) else result.alternative

    @property
    def margins(self) -> MarginTests | None:
        """Tests against a margin at `alpha`, and the decision; None without."""
        return self.comparison.margins

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy" or "cost"."""
        return self.comparison.measure

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
        """How many predictions of a are labels that the truth does not hold."""
        return (*self.comparison.n_outside, 0)[0]

    @property
    def n_outside_b(self) -> int:
        """How many predictions of b are labels that the truth does not hold."""
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
    def _measured(self) -> tuple[float, float]:
        """The measure of both models."""
        result = self.comparison
        if isinstance(result, CostResult):
            return self._losses
        return result.accuracy_a, result.accuracy_b

    @property
    def difference(self) -> float:
        """The accuracy, or the cost, of a minus that of b."""
        return float(self.comparison.difference)

    @property
    def interval(self) -> ConfidenceInterval:
        """Interval for `difference` at 1 - `alpha`, one-sided if the test is.

        Newcombe's for accuracies, of profile likelihood for costs. For "greater" `high`
        is 1, for "less" `low` is -1.
        """
        return self.comparison.confidence_interval(1.0 - self.alpha)

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
        """Number of samples dropped because their true label is no chosen class."""
        return self._dropped[1]

    @property
    def _dropped(self) -> tuple[int, int]:
        result = self.comparison
        source = result.counts if isinstance(result, CostResult) else result
        return source.n_missing, source.n_excluded

    @property
    def decision(self) -> str:
        """The answer in one sentence."""
        a, b = self.names
        first, second = self._measured
        result = self.comparison
        if isinstance(result, CostResult):
            measured = f"{a} costs {first:.4g}, {b} {second:.4g} per sample"
            name = COST_NAMES[self.method]
            test = f"{name} test, {describe_test(result)}"
        else:
            measured = (
                f"{a} is right on {100 * first:.2f}% of the samples, {b} on {100 * second:.2f}%"
            )
            test = f"{METHOD_NAMES[self.method]} McNemar's test, {describe_test(result)}"
        return f"{measured}; {answer_of(self)} ({test})."

    def _shown(self) -> dict[str, Any]:
        low, high = self.interval
        names = ("measure", "loss_a", "loss_b", "difference", "better")
        test = ("statistic", "distribution", "df", "pvalue", "reject", "method")
        counted = ("n_samples", "n_missing", "n_excluded", "n_outside_a", "n_outside_b")
        row: dict[str, Any] = {"model_a": self.names[0], "model_b": self.names[1]}
        row |= {name: getattr(self, name) for name in names}
        row |= {"low": float(low), "high": float(high)}
        row |= {name: getattr(self, name) for name in (*test, "alternative", "alpha")}
        row |= {name: getattr(self, name) for name in counted}
        if isinstance(self.comparison, McNemarResult):
            row["only_a"] = self.comparison.only_a
            row["only_b"] = self.comparison.only_b
        if self.margins is not None:
            row["margin_decision"] = self.margins.decision
        return row

    def _entries(self) -> dict[str, Any]:
        return {**Record._entries(self), "decision": self.decision}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, the numbers and remarks on them.
        """
        title = f"Numbers ({self.alternative}, alpha = {self.alpha:g})"
        return [
            Section(title="Which model is better?", text=(self.decision,)),
            Section(title=title, columns=("", "value"), rows=self._rows(), notes=self._notes()),
        ]

    def _rows(self) -> tuple[tuple[str, str], ...]:
        a, b = self.names
        first, second = self._measured
        statistic = {"chi2": "chi-square", "normal": "z"}.get(self.distribution)
        return (
            (f"{self.measure} of {a}", f"{first:.4f}"),
            (f"{self.measure} of {b}", f"{second:.4f}"),
            (f"{a} minus {b}", f"{self.difference:+.4f}"),
            (
                interval_name(1 - self.alpha, self.alternative),
                format_interval(*self.interval, digits=4, sign="+"),
            ),
            *([(statistic, f"{self.statistic:.4f}")] if statistic else []),
            ("p-value", format_pvalue(self.pvalue)),
            ("samples", f"{self.n_samples}"),
        )

    def _notes(self) -> tuple[str, ...]:
        a, b = self.names
        result = self.comparison
        outside = (self.n_outside_a, self.n_outside_b)
        if isinstance(result, CostResult):
            shown = margin_sentences(self.margins, COST_NAMES[self.method])
            notes = [*shown, "Lower is better.", *result.remarks]
        else:
            notes = [
                *margin_sentences(self.margins),
                f"Only {a} is right on {result.only_a} samples, only {b} on {result.only_b}.",
            ]
        return (
            *notes,
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(outside, self.names, self.n_samples),
        )
