"""The record of two models on different samples: a decision, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import answer_of, dropped_sentences
from fastcmp.paired.margin_result import margin_sentences
from fastcmp.paired.unpaired_means_result import UnpairedMeans
from fastcmp.paired.unpaired_result import METHOD_NAMES, UnpairedResult

if TYPE_CHECKING:
    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.scores.auc_test import AUCComparison

_LETTERS = {"normal": "z", "t": "t"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedComparison(Compared, Record):
    """Two models on different samples, compared by accuracy, mean or AUC."""

    #: The test itself, with what it was made from.
    comparison: UnpairedResult | UnpairedMeans | AUCComparison
    #: "score", "boschloo", ... of accuracies, "welch", or "normal" or "t" of AUCs.
    method: str
    alpha: float
    #: Samples that each model was tested on.
    n_a: int
    n_b: int
    #: What to call the models.
    names: tuple[str, str] = ("a", "b")
    #: Samples dropped because the true label, or the value, is missing.
    n_missing: int = 0
    #: Tests against a margin at `alpha`, and the decision; None without a margin.
    margins: MarginTests | None = None
    #: What to beware of.
    cautions: tuple[str, ...] = ()

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
    def df(self) -> float | None:
        """Degrees of freedom of t, else None."""
        return getattr(self.comparison, "df", None)

    @property
    def status(self) -> int:
        """A `fastcmp.kernels.Status`."""
        return int(self.comparison.status)

    @property
    def alternative(self) -> str:
        """Which alternative was tested."""
        return self.comparison.alternative

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy", "mean", "AUC", ..."""
        return self.comparison.measure

    @property
    def difference(self) -> float:
        """The measure of a minus that of b."""
        return float(self.comparison.difference)

    @property
    def measured(self) -> tuple[float, float]:
        """The measure of a, and of b."""
        of = self.comparison
        if isinstance(of, UnpairedResult):
            return of.accuracy_a, of.accuracy_b
        if isinstance(of, UnpairedMeans):
            return of.mean_a, of.mean_b
        return of.auc_a, of.auc_b

    @property
    def interval(self) -> ConfidenceInterval:
        """Interval for `difference` at 1 - `alpha`, one-sided if the test is."""
        if isinstance(self.comparison, UnpairedMeans):
            return self.comparison.interval
        return self.comparison.confidence_interval(1.0 - self.alpha)

    @property
    def decision(self) -> str:
        """The answer in one sentence."""
        a, b = self.names
        first, second = self.measured
        if isinstance(self.comparison, UnpairedResult):
            measured = (
                f"{a} is right on {100 * first:.2f}% of its samples, {b} on {100 * second:.2f}%"
            )
        else:
            measured = f"the {self.measure} of {a} is {first:.4g}, of {b} {second:.4g}"
        test = f"{self._test}, p = {format_pvalue(self.pvalue)}"
        return f"{measured}; {answer_of(self)} ({test})."

    @property
    def _test(self) -> str:
        if isinstance(self.comparison, UnpairedMeans):
            return "Welch's t test"
        if isinstance(self.comparison, UnpairedResult):
            return f"{METHOD_NAMES[self.method]} test"
        return self.comparison.test

    def _shown(self) -> dict[str, Any]:
        a, b = self.measured
        low, high = self.interval
        row: dict[str, Any] = {"model_a": self.names[0], "model_b": self.names[1]}
        row |= {"measure": self.measure, "measure_a": a, "measure_b": b}
        row |= {"difference": self.difference, "better": self.better}
        row |= {"low": float(low), "high": float(high)}
        test = ("statistic", "distribution", "df", "pvalue", "reject", "method")
        counted = ("n_a", "n_b", "n_missing")
        row |= {name: getattr(self, name) for name in (*test, "alternative", "alpha", *counted)}
        if isinstance(self.comparison, UnpairedResult):
            row |= {"ratio": float(self.comparison.ratio)}
            row |= {"odds_ratio": float(self.comparison.odds_ratio)}
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
            The answer, the numbers and what to beware of.
        """
        decision = self.decision[0].upper() + self.decision[1:]
        if isinstance(self.comparison, UnpairedResult):
            decision = self.decision  # which begins with a model's name
        text = (
            decision,
            f"Different samples: the models were tested on {self.n_a} and {self.n_b} samples.",
        )
        numbers = Section(
            title=f"Numbers ({self.alternative}, alpha = {self.alpha:g})",
            columns=("", "value"),
            rows=self._rows(),
            notes=(
                *margin_sentences(self.margins),
                *(["Lower is better."] * (self.measure == "mean loss")),
                *dropped_sentences(self.n_missing, 0),
            ),
        )
        sections = [Section(title="Which model is better?", text=text), numbers]
        if self.cautions:
            sections.append(Section(title="Cautions", text=self.cautions))
        return sections

    def _ratio_rows(self) -> list[tuple[str, str]]:
        """Write the ratio of accuracies and the odds ratio, with intervals."""
        of, level = self.comparison, 1.0 - self.alpha
        if not isinstance(of, UnpairedResult):
            return []
        name = interval_name(level, self.alternative)
        pairs = (
            ("ratio of accuracies", of.ratio, of.ratio_interval(level)),
            ("odds ratio", of.odds_ratio, of.odds_ratio_interval(level)),
        )
        return [
            (f"{what}, {name}", f"{value:.4g} {format_interval(*ends, digits=4)}")
            for what, value, ends in pairs
        ]

    def _rows(self) -> tuple[tuple[str, str], ...]:
        a, b = self.names
        first, second = self.measured
        letter = _LETTERS.get(self.distribution)
        return (
            (f"{self.measure} of {a}", f"{first:.4f}"),
            (f"{self.measure} of {b}", f"{second:.4f}"),
            (f"{a} minus {b}", f"{self.difference:+.4f}"),
            (
                interval_name(1 - self.alpha, self.alternative),
                format_interval(*self.interval, digits=4, sign="+"),
            ),
            *self._ratio_rows(),
            *([(letter, f"{self.statistic:.4f}")] if letter else []),
            ("p-value", format_pvalue(self.pvalue)),
            (f"samples of {a}", f"{self.n_a}"),
            (f"samples of {b}", f"{self.n_b}"),
        )
