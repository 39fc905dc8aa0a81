"""The record of margin tests, and the decision in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import how

BETTER: Final = "better"
NOT_WORSE: Final = "not worse"
EQUIVALENT: Final = "equivalent"
WORSE: Final = "worse"
CANNOT_TELL: Final = "cannot tell"
#: What a decision may be.
DECISIONS = (BETTER, NOT_WORSE, EQUIVALENT, WORSE, CANNOT_TELL)

METHOD_NAMES = {
    "z": "z tests",
    "t": "t tests",
    "score": "Tango's score tests",
    "exact": "exact unconditional tests",
    "miettinen-nurminen": "Miettinen and Nurminen's score tests",
    "mover": "MOVER limits of both areas",
    "bounded": "Gaffke's tests of differences between -1 and 1",
    "dirichlet": "Dirichlet draws with the worst possible sample added",
}
#: Measures whose differences are written in percentage points.
_IN_POINTS = ("accuracy",)


class MarginDecision(NamedTuple):
    """What may be said of model a beside model b, given a margin."""

    #: One of "better", "not worse", "equivalent", "worse" and "cannot tell".
    decision: Any
    #: Whether the difference is shown to be smaller than the margin, either way.
    within_margin: Any
    #: Whether a is shown not to be worse than b by the margin.
    margin_met: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarginTests(Record):
    """Tests of a difference against a margin, and the decision that follows.

    All numbers are arrays of one shape where there are many differences.
    """

    _blocks = "selection:margin_tests"
    _opening = "The difference was tested against a margin by two one-sided tests."

    _cites = (
        "schuirmann",
        ("method", {"score": "tango", "exact": "hsueh", "miettinen-nurminen": "miettinen"}),
    )

    #: The largest difference that does not matter, above 0, in units of the measure.
    margin: Any
    #: The measure of a minus that of b, and its standard error; None where the tests
    #: need none.
    difference: Any
    standard_error: Any = None
    #: The difference plus and minus the margin, in standard errors.
    statistic_lower: Any
    statistic_upper: Any
    #: Of H0: the difference is -margin or less, and of H0: it is the margin or more.
    pvalue_lower: Any
    pvalue_upper: Any
    #: The same, adjusted together for the number of pairs; None for single pairs.
    pvalue_lower_adjusted: Any = None
    pvalue_upper_adjusted: Any = None
    #: Of H0: a is not better than b by more than the margin.
    superiority_pvalue: Any
    #: For the difference, of the levels 1 - alpha and 1 - 2 alpha.
    interval: ConfidenceInterval
    inner_interval: ConfidenceInterval
    #: "better", "not worse", "equivalent", "worse" or "cannot tell": a beside b.
    decision: Any
    #: Whether the difference is shown to be smaller than the margin, either way.
    within_margin: Any
    #: Whether a is shown not to be worse than b by the margin.
    margin_met: Any
    #: Samples beyond those at hand with which the nearest decision has a power of 80%,
    #: by the normal approximation, if the difference and the variance are as observed:
    #: 0 where there is a decision; None, in arrays NaN, where none follows from any
    #: number, or the number at hand is not known.
    n_more: Any = None
    #: "z", "t", "score", "exact", "miettinen-nurminen", "bounded", "dirichlet" or "mover"; an array
    #: where it is not the same for all.
    method: Any
    #: Degrees of freedom of t, else None.
    df: Any = None
    alpha: float = 0.05
    #: Whether all claims follow from one interval, of the level 1 - alpha.
    strict: bool = False
    lower_is_better: Any = False
    #: What `difference` is a difference of; an array where it is not the same for all.
    measure: Any = "difference"
    #: Why these data allow no decision, of several differences some of them; else "".
    reason: str = ""

    _derived = (
        *("noninferiority_statistic", "noninferiority_pvalue"),
        *("superiority_statistic", "equivalence_pvalue"),
    )

    @property
    def noninferiority_pvalue_adjusted(self) -> Any:
        """P-value of non-inferiority, adjusted for the number of pairs; None for one pair."""
        lower, upper = self.pvalue_lower_adjusted, self.pvalue_upper_adjusted
        return None if lower is None else self._either(lower, upper)

    @property
    def equivalence_pvalue_adjusted(self) -> Any:
        """P-value of equivalence, adjusted for the number of pairs; None for one pair."""
        lower, upper = self.pvalue_lower_adjusted, self.pvalue_upper_adjusted
        return None if lower is None else np.maximum(lower, upper)

    def _beside(self) -> dict[str, Any]:
        """What the table of a record that has these tests shows of them."""
        names = ("decision", "noninferiority_pvalue", "equivalence_pvalue")
        return {name: getattr(self, name) for name in names}

    @property
    def noninferiority_statistic(self) -> Any:
        """Statistic of H0: a is worse than b by the margin or more."""
        return self._either(self.statistic_lower, -self.statistic_upper)

    @property
    def noninferiority_pvalue(self) -> Any:
        """P-value of H0: a is worse than b by the margin or more."""
        return self._either(self.pvalue_lower, self.pvalue_upper)

    @property
    def superiority_statistic(self) -> Any:
        """Statistic of H0: a is not better than b by more than the margin."""
        return self._either(self.statistic_upper, -self.statistic_lower)

    @property
    def equivalence_pvalue(self) -> Any:
        """P-value of two one-sided tests: the difference is the margin or more."""
        larger = np.maximum(self.pvalue_lower, self.pvalue_upper)
        return larger if np.ndim(larger) else float(larger)

    def _either(self, higher: Any, lower: Any) -> Any:
        """Take what counts where more is better, or less; no -0."""
        pvalues = np.where(self.lower_is_better, lower, higher) + 0.0
        return pvalues if pvalues.ndim else pvalues.item()

    def columns(self) -> dict[str, Any]:
        """The tests as columns, a row a difference.

        Returns
        -------
        dict of str to list
            All fields.
        """
        values = {name: x for name, x in self._shown().items() if x is not None}
        shape = np.shape(self.pvalue_lower)
        columns: dict[str, Any] = {}
        for name, value in values.items():
            ends = {name: value}
            if isinstance(value, ConfidenceInterval):
                ends = {f"{name}_{end}": x for end, x in value._asdict().items()}
            for key, x in ends.items():
                columns[key] = np.broadcast_to(np.asarray(x), shape).ravel().tolist()
        return columns

    @property
    def sentence(self) -> str:
        """The decision in one sentence; for arrays, how often there is which."""
        lead = f"Decision with a margin of {self.amount}"
        if np.ndim(self.decision):
            return f"{lead}: {count_decisions(self.decision)}."
        return f"{lead}: {self.decision} ({', '.join(self._reasons())})."

    @property
    def amount(self) -> str:
        """The margin in words, such as "2 percentage points"."""
        value = self.margin
        if np.ndim(value):
            return f"{np.min(value):.4g} to {np.max(value):.4g}"
        if not np.ndim(self.measure) and self.measure in _IN_POINTS:
            points = "percentage point" if value == 0.01 else "percentage points"
            return f"{100 * value:.4g} {points}"
        return f"{value:.4g}"

    def _reasons(self) -> list[str]:
        """Say what the decision rests on."""
        if np.isnan(self.noninferiority_pvalue) and self.decision == CANNOT_TELL:
            return [self.reason]
        reasons = []
        if self.decision == BETTER and self.superiority_pvalue <= self.alpha:
            pvalue = format_pvalue(self.superiority_pvalue)
            reasons.append(f"by more than the margin: p = {pvalue}")
        elif self.decision in (BETTER, WORSE):
            within = self.margin_met if self.decision == WORSE else self.within_margin
            reasons += ["by less than the margin"] * within
        elif self.decision == EQUIVALENT:
            reasons.append(f"equivalence: p = {format_pvalue(self.equivalence_pvalue)}")
        elif self.decision in (NOT_WORSE, CANNOT_TELL):
            pvalue = format_pvalue(self.noninferiority_pvalue)
            reasons.append(f"non-inferiority: p = {pvalue}")
        level = 1 - self.alpha if self.strict else 1 - 2 * self.alpha
        low, high = self.interval if self.strict else self.inner_interval
        ends = f"[{low:+.4g}, {high:+.4g}]"
        if self.measure in _IN_POINTS:
            ends = format_interval(100 * low, 100 * high, digits=2, sign="+")
        reasons.append(f"{interval_name(level)} {ends}")
        if self.decision == CANNOT_TELL and self.reason:
            reasons.append(self.reason)
        if self.decision == CANNOT_TELL and self.n_more:
            reasons.append(f"about {self.n_more:,} more samples would probably decide")
        return reasons

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section: the decision, and the method.
        """
        used = [METHOD_NAMES[x] for x in np.unique(self.method)]
        text = (self.sentence, how(f"By {' and '.join(used)}, alpha = {self.alpha:g}."))
        return [Section(title="Is a as good as b?", text=text)]


def count_decisions(decisions: Any) -> str:
    """Say how often there is which decision, such as "3 better, 1 cannot tell"."""
    counts = Counter(np.ravel(decisions).tolist())
    return ", ".join(f"{counts[x]} {x}" for x in DECISIONS if counts[x]) or "none"


def margin_sentences(margins: MarginTests | None, tested_by: str = "") -> tuple[str, ...]:
    """Say the decision, where a record has one, and that its test is another.

    `tested_by` names the test of equality where it is no z or t test of the difference.
    """
    if margins is None:
        return ()
    if not tested_by:
        return (margins.sentence,)
    if np.ndim(margins.method) or margins.method in ("score", "exact"):
        return (margins.sentence,)
    name = METHOD_NAMES[margins.method]
    if margins.method in ("bounded", "dirichlet"):
        return (
            margins.sentence,
            how(f"The margin is tested by {name}, not by the standard error."),
        )
    return (
        margins.sentence,
        how(f"The margin is tested by {name} with the standard error, not by {tested_by}."),
    )
