"""What records share that hold a test of two models and the decision at a level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

from fastcmp.core.checks import as_proportion
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.sections import Section, beware, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import STATISTICS, answer, answer_of, statistic_text


def read_alpha(alpha: object, alternative: str) -> float:
    """Check the level of a decision, whose interval has the level 1 - alpha."""
    level = as_proportion(alpha, "alpha")
    if level >= 0.5 and alternative != "two-sided":
        raise BadValueError(
            "`alpha` must be below 0.5 for a one-sided test, because its interval has the "
            "level 1 - alpha",
            alpha,
        )
    return level


def of_comparison(name: str, doc: str) -> Any:
    """A property with what the record of the test has under a name."""
    return property(attrgetter(f"comparison.{name}"), doc=doc)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Decided(Compared, Record, ABC):
    """A test of two models, with the decision at a level."""

    _opening = ""
    #: Columns of its table: of either model, of what was counted, and those of the test that only
    #: some tests have.
    _each: ClassVar[tuple[str, str]] = ("measure_a", "measure_b")
    _counted: ClassVar[tuple[str, ...]]
    _of_some: ClassVar[tuple[str, ...]]
    #: Whose samples accuracies are of, in words.
    _whose: ClassVar[str] = "the"

    #: The test itself, with what it was made from.
    comparison: Any
    alpha: float
    #: What to call the models.
    names: tuple[str, str] = ("a", "b")

    pvalue = of_comparison("pvalue", "P-value; NaN where the test has no answer.")
    statistic = of_comparison("statistic", "That of `comparison`.")
    distribution = of_comparison("distribution", "That of `comparison`.")
    status = of_comparison("status", "A `fastcmp.kernels.Status`.")
    alternative = of_comparison("alternative", 'Which was tested; of costs "two-sided".')
    measure = of_comparison("measure", 'What `difference` is of: "accuracy", "cost", "mean", ...')
    difference = of_comparison("difference", "The measure of a minus that of b.")
    margins = of_comparison("margins", "Tests against a margin at `alpha`; None without.")
    n_missing = of_comparison("n_missing", "Samples dropped because the true label is missing.")

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to beware of."""
        return ()

    @property
    def _about(self) -> tuple[str, ...]:
        """What is said beside the decision."""
        return ()

    @property
    @abstractmethod
    def _sizes(self) -> list[tuple[str, str]]:
        """How many samples there were, as rows of the numbers."""

    @abstractmethod
    def _notes(self) -> tuple[str, ...]:
        """What is said below the numbers."""

    @property
    def measure_a(self) -> float:
        """The measure of a."""
        return float(getattr(self.comparison, f"{self.comparison._value}_a"))

    @property
    def measure_b(self) -> float:
        """The measure of b."""
        return float(getattr(self.comparison, f"{self.comparison._value}_b"))

    @property
    def measured(self) -> tuple[float, float]:
        """The measure of a, and of b."""
        return self.measure_a, self.measure_b

    @property
    def df(self) -> float | None:
        """Degrees of freedom of t or of chi-square, else None."""
        return getattr(self.comparison, "df", None)

    @property
    def reject(self) -> bool:
        """Whether H0 is rejected: the p-value is at most `alpha`."""
        return bool(self.pvalue <= self.alpha)

    @property
    def interval(self) -> ConfidenceInterval:
        """Interval for `difference` at 1 - `alpha`, one-sided if the test is."""
        ends: ConfidenceInterval | None = getattr(self.comparison, "interval", None)
        return ends or self.comparison.confidence_interval(1.0 - self.alpha)

    @property
    def decision(self) -> str:
        """The answer in one sentence."""
        (a, b), (first, second) = self.names, self.measured
        if self.measure == "accuracy":
            measured = f"{a} is right on {100 * first:.2f}% of {self._whose} samples, "
            measured += f"{b} on {100 * second:.2f}%"
        elif self.measure == "cost":
            measured = f"{a} costs {first:.4g}, {b} {second:.4g} per sample"
        else:
            measured = f"the {self.measure} of {a} is {first:.4g}, of {b} {second:.4g}"
        test = f"{self.comparison._test_name}, {statistic_text(self.comparison)}"
        return f"{measured}; {answer_of(self)} ({test})."

    def _shown(self) -> dict[str, Any]:
        a, b = self.names
        low, high = self.interval
        tested = ("statistic", "distribution", "df", "pvalue", "reject", "method")
        row: dict[str, Any] = {"model_a": a, "model_b": b}
        row |= {x: getattr(self, x) for x in ("measure", *self._each, "difference", "better")}
        row |= {"low": float(low), "high": float(high)}
        names = (*tested, "alternative", "alpha", *self._counted)
        row |= {name: getattr(self, name) for name in names}
        of_some = [name for name in self._of_some if hasattr(self.comparison, name)]
        row |= {name: getattr(self.comparison, name) for name in of_some}
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
        (a, b), (first, second), of = self.names, self.measured, self.comparison
        name = interval_name(1.0 - self.alpha, self.alternative)
        ends = format_interval(*self.interval, digits=4, sign="+")
        rows = [
            (f"{self.measure} of {a}", f"{first:.4f}"),
            (f"{self.measure} of {b}", f"{second:.4f}"),
            (f"{a} minus {b}", f"{self.difference:+.4f}"),
            (name, ends),
        ]
        if hasattr(of, "ratio_interval"):
            for what, kind in (("ratio of accuracies", "ratio"), ("odds ratio", "odds_ratio")):
                low, high = getattr(of, f"{kind}_interval")(1.0 - self.alpha)
                interval = format_interval(low, high, digits=4)
                rows.append((f"{what}, {name}", f"{getattr(of, kind):.4g} {interval}"))
        if self.distribution in STATISTICS:
            rows.append((STATISTICS[self.distribution], f"{self.statistic:.4f}"))
        rows += [("p-value", format_pvalue(self.pvalue)), *self._sizes]
        decision = self.decision
        if decision.startswith(f"the {self.measure} of"):
            decision = decision[0].upper() + decision[1:]
        title = f"Numbers ({self.alternative}, alpha = {self.alpha:g})"
        return [
            Section(title="Which model is better?", text=(answer(decision), *self._about)),
            Section(title=title, columns=("", "value"), rows=tuple(rows), notes=self._notes()),
            *beware(self),
        ]
