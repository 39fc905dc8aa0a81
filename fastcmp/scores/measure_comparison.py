"""The record of two models compared by sensitivity, predictive values and the like.

A cell of the counts has an influence u on the logarithm of a ratio, and its variance
is the sum of N u**2 over the cells: the delta method. Numbers are whole until they are
divided, so that nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp import kernels
from fastcmp.core.checks import choose
from fastcmp.core.records import Record
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import (
    Section,
    dropped_sentences,
    format_interval,
    format_pvalue,
    interval_name,
)
from fastcmp.paired.margin_result import METHOD_NAMES as MARGIN_METHODS
from fastcmp.paired.margin_result import margin_entries
from fastcmp.paired.mcnemar_result import METHOD_NAMES, McNemarResult
from fastcmp.scores.classification import ClassificationTable
from fastcmp.scores.paired_ratio import (
    LOWER_IS_BETTER,
    Estimate,
    PairedRatio,
    Proportion,
    estimate_product,
    format_ends,
    format_ratio,
    make_ratio,
    quotient,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from fastcmp.scores.paired_measures import PredictiveValueTest

_COLUMNS = (
    *("measure", "test", "value_a", "value_b", "difference", "ratio", "low", "high"),
    *("statistic", "pvalue"),
)
_SHORT = {"generalised score": "score", "weighted generalised score": "weighted"}
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JointTest(Record):
    """Lachenbruch and Lynch's test: are sensitivity and specificity both equal?"""

    #: Sum of McNemar's chi-squares among positives and among negatives.
    statistic: float
    pvalue: float
    distribution: str = "chi2"
    #: Of the two classes, those in which the models ever differ.
    df: int
    #: A `fastcmp.kernels.Status`.
    status: int

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        return [
            Section(
                title="Sensitivity and specificity together (Lachenbruch and Lynch)",
                text=(f"{self.sentence} (H0: both are equal)",),
            )
        ]

    @property
    def sentence(self) -> str:
        """The statistic and the p-value, in words."""
        if not self.df and self.status == kernels.UNDEFINED:
            return "undefined without samples of both classes"
        return (
            f"chi-square = {self.statistic:.4g} with {self.df} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}"
        )


def joint_test(sensitivity: McNemarResult, specificity: McNemarResult) -> JointTest:
    """Test both from the discordant samples of either class."""
    tests = (sensitivity, specificity)
    if not all(test.n_samples for test in tests):
        return JointTest(statistic=math.nan, pvalue=math.nan, df=0, status=int(kernels.UNDEFINED))
    discordant = [test for test in tests if test.only_a + test.only_b]
    statistic, pvalue, status = 0.0, 1.0, kernels.DEGENERATE
    if discordant:
        statistic = sum(
            (test.only_a - test.only_b) ** 2 / (test.only_a + test.only_b) for test in discordant
        )
        pvalue, status = math.exp(-0.5 * statistic), kernels.OK
        if len(discordant) == 1:
            pvalue = kernels.chdtrc(1.0, statistic)
    return JointTest(statistic=statistic, pvalue=pvalue, df=len(discordant), status=int(status))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeasureComparison(Record):
    """Sensitivity, specificity, predictive values and likelihood ratios compared."""

    #: McNemar's tests among the positives, and among the negatives.
    sensitivity: McNemarResult
    specificity: McNemarResult
    #: Generalised score tests (Leisenring, Alonzo and Pepe).
    ppv_score: PredictiveValueTest
    npv_score: PredictiveValueTest
    #: Weighted generalised score tests (Kosinski).
    ppv_weighted: PredictiveValueTest
    npv_weighted: PredictiveValueTest
    #: Lachenbruch and Lynch's test of sensitivity and specificity together.
    joint: JointTest
    #: Ratios a / b of all measures; see `ratio`.
    ratios: tuple[PairedRatio, ...]
    #: ``counts[t, a, b]``, shape (2, 2, 2): true, called by a and called by b, the
    #: negative class first.
    counts: NDArray[np.int64]
    #: Level of intervals, and the method of those of differences.
    confidence_level: float
    interval: str
    #: Proportion of positives for which the ratios of `ppv` and `npv` hold; None: as in
    #: the samples. The score tests' hypotheses are the same at any prevalence.
    prevalence: float | None = None
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    @property
    def noninferiority_pvalue(self) -> float:
        """P-value of H0: a is worse in sensitivity, or specificity, by the margin or more.

        The larger one of both, so that no adjustment is needed; NaN without a margin.
        """
        both = [test.margins for test in (self.sensitivity, self.specificity)]
        pvalues = [math.nan if x is None else float(x.noninferiority_pvalue) for x in both]
        return max(pvalues) if not any(map(math.isnan, pvalues)) else math.nan

    @property
    def table_a(self) -> ClassificationTable:
        """Counts, measures and intervals of model a."""
        return self._table(self.counts.sum(axis=2))

    @property
    def table_b(self) -> ClassificationTable:
        """Counts, measures and intervals of model b."""
        return self._table(self.counts.sum(axis=1))

    def _table(self, confusion: NDArray[np.int64]) -> ClassificationTable:
        (tn, fp), (fn, tp) = confusion.tolist()
        return ClassificationTable(
            tp=tp,
            fp=fp,
            fn=fn,
            tn=tn,
            prevalence=self.prevalence,
            confidence_level=self.confidence_level,
            labels=self.labels,
            n_missing=self.n_missing,
        )

    def ratio(self, measure: str) -> PairedRatio:
        """Give the ratio of one measure, a / b.

        Parameters
        ----------
        measure : str
            "sensitivity", "specificity", "false_positive_rate", "ppv", "npv",
            "likelihood_ratio_positive" or "likelihood_ratio_negative".

        Returns
        -------
        PairedRatio
            The ratio, its interval on the log scale, z and p-value.

        Raises
        ------
        ValueError
            If there is no such measure.

        Examples
        --------
        >>> from fastcmp import compare_sensitivity_specificity_from_counts
        >>> counts = [[[900, 15], [25, 60]], [[50, 60], [40, 850]]]
        >>> result = compare_sensitivity_specificity_from_counts(counts)
        >>> round(result.ratio("recall").ratio, 4)
        0.978
        """
        found = {ratio.measure: ratio for ratio in self.ratios}
        return found[choose(measure, "measure", found)]

    def _rows(self) -> dict[str, Row]:
        """Give a row a test, of `_COLUMNS`."""
        rows: dict[str, Row] = {}
        for name in ("sensitivity", "specificity"):
            test: McNemarResult = getattr(self, name)
            values = test.accuracy_a, test.accuracy_b, test.difference, math.nan
            ends = test.confidence_interval(self.confidence_level, self.interval)
            numbers = map(float, (*values, *ends, test.statistic, test.pvalue))
            rows[name] = (name, f"McNemar, {METHOD_NAMES[test.method]}", *numbers)
        unknown = (math.nan, math.nan, math.nan)
        for name in ("ppv_score", "ppv_weighted", "npv_score", "npv_weighted"):
            own: PredictiveValueTest = getattr(self, name)
            pair = (own.value_a, own.value_b, own.difference)
            rows[name] = (own.measure, own.test, *pair, *unknown, *_result(own))
        joint = ("Lachenbruch and Lynch", *unknown, *unknown)
        rows["joint"] = ("sensitivity and specificity", *joint, *_result(self.joint))
        for ratio in self.ratios:
            values = ratio.value_a, ratio.value_b, math.nan, ratio.ratio
            row = (ratio.measure, "ratio", *values, *ratio.interval, *_result(ratio))
            rows[f"{ratio.measure}_ratio"] = row
        return rows

    def columns(self) -> dict[str, list[Any]]:
        """Give the tests as columns, a row a test.

        Returns
        -------
        dict of str to list
            Measure, test, values of both models, their difference or ratio, the ends of
            its interval, the statistic (as in the record of each test) and the p-value;
            NaN for what a test has not.
        """
        columns = zip(*self._rows().values(), strict=True)
        return dict(zip(_COLUMNS, map(list, columns), strict=True))

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        values: dict[str, Any] = {
            name: dict(zip(_COLUMNS[1:], row[1:], strict=True))
            for name, row in self._rows().items()
        }
        shown = ("counts", "confidence_level", "interval", "prevalence", "labels")
        values |= {name: getattr(self, name) for name in shown}
        values["alternative"] = self.sensitivity.alternative
        for name in ("sensitivity", "specificity"):
            values[name] |= margin_entries(getattr(self, name).margins)
        values["noninferiority_pvalue"] = self.noninferiority_pvalue
        values["n_missing"] = self.n_missing
        return {name: readable(value) for name, value in values.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Differences with a row a test, and ratios with a row a measure.
        """
        alternative = self.sensitivity.alternative
        positives, negatives = self.sensitivity.n_samples, self.specificity.n_samples
        text = (
            f"{positives} positives ({self.labels[0]!r}), {negatives} negatives "
            f"({self.labels[1]!r}); p-values are not adjusted for their number.",
        )
        level = interval_name(self.confidence_level, alternative)
        method = METHOD_NAMES[self.sensitivity.method]
        notes = (
            f"Tests: McNemar's ({method}), generalised score and weighted generalised "
            f"score; intervals: {self.interval.title()}.",
            f"Sensitivity and specificity together: {self.joint.sentence}.",
        )
        lower = " and ".join(name.replace("_", " ") for name in LOWER_IS_BETTER)
        prevalence = "the proportion of positives in these samples"
        if self.prevalence is not None:
            prevalence = f"a prevalence of {self.prevalence:.4g}"
        ratio_notes = (
            f"Less is better of {lower}; ppv and npv are for {prevalence}.",
            *dropped_sentences(self.n_missing, 0),
        )
        return [
            Section(
                title=f"Two models compared ({alternative})",
                text=text,
                columns=("measure", "test", "a", "b", "a - b", level, "p"),
                rows=tuple(self._differences()),
                notes=notes,
            ),
            *self._against_margins(),
            Section(
                title=f"Ratios a / b ({alternative})",
                columns=("measure", "a", "b", "a / b", level, "p"),
                rows=tuple(map(_ratio_row, self.ratios)),
                notes=ratio_notes,
            ),
        ]

    def _against_margins(self) -> list[Section]:
        """Say of sensitivity and specificity whether a is non-inferior."""
        known = [
            (name, margins)
            for name in ("sensitivity", "specificity")
            if (margins := getattr(self, name).margins) is not None
        ]
        if not known:
            return []
        alpha, p = known[0][1].alpha, self.noninferiority_pvalue
        notes = [f"H0: the {name} of a is lower by {x.amount} or more." for name, x in known]
        if math.isnan(p):
            notes.append("Non-inferior in both: no test, for a class has no samples.")
        else:
            shown = "" if p <= alpha else "not "
            notes.append(f"Non-inferior in both: {shown}shown, p = {format_pvalue(p)}.")
        methods = " and ".join(dict.fromkeys(MARGIN_METHODS[x.method] for _, x in known))
        rows = tuple(
            (
                *(name, f"{x.difference:+.4f}"),
                format_interval(*x.inner_interval, digits=4, sign="+"),
                *(format_pvalue(x.noninferiority_pvalue), x.decision),
            )
            for name, x in known
        )
        level = interval_name(1.0 - 2.0 * alpha)
        return [
            Section(
                title="Is a as good as b? (non-inferiority)",
                columns=("measure", "a - b", level, "p", "decision"),
                rows=rows,
                notes=(*notes, f"By {methods}, alpha = {alpha:g}."),
            )
        ]

    def _differences(self) -> Iterator[tuple[str, ...]]:
        """Write the rows of tests of differences."""
        for row in list(self._rows().values())[:6]:
            measure, test, a, b, difference, _, low, high, _, p = row
            ends = ""
            if not math.isnan(low):
                ends = format_interval(low, high, digits=4, sign="+")
            short = _SHORT.get(test, "McNemar")
            shown = (_number(a), _number(b), _number(difference, "+"))
            yield (measure, short, *shown, ends, format_pvalue(p))


def _result(test: Any) -> tuple[float, float]:
    return test.statistic, test.pvalue


def _number(value: float, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.4f}"


def _ratio_row(test: PairedRatio) -> tuple[str, ...]:
    numbers = map(format_ratio, (test.value_a, test.value_b, test.ratio))
    shown = (*numbers, format_ends(test.interval), format_pvalue(test.pvalue))
    return (test.measure.replace("_", " "), *shown)


# Ratios of two models' measures, from the counts of two classes.


class Calls(NamedTuple):
    """Samples of one class: called positive by both, only by a, only by b, by none."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        """All samples of the class."""
        return sum(self)

    @property
    def positive(self) -> Proportion:
        """Calls of positive."""
        both, a, b, _ = self
        return Proportion(both + a, both + b, a + b)

    @property
    def negative(self) -> Proportion:
        """Calls of negative."""
        _, a, b, neither = self
        return Proportion(neither + b, neither + a, a + b)

    def swapped(self) -> Calls:
        """Exchange positive and negative calls."""
        both, a, b, neither = self
        return Calls(neither, b, a, both)


def read_calls(counts: NDArray[np.int64]) -> tuple[Calls, Calls]:
    """List the calls of positives and of negatives, from ``counts[t, a, b]``."""
    ((none0, b0), (a0, both0)), ((none1, b1), (a1, both1)) = counts.tolist()
    return Calls(both1, a1, b1, none1), Calls(both0, a0, b0, none0)


def measure_ratios(
    positives: Calls,
    negatives: Calls,
    alternative: str,
    confidence_level: float,
    prevalence: float | None,
) -> tuple[PairedRatio, ...]:
    """Compare all measures that have a ratio."""
    yes, no = positives, negatives
    swapped = no.swapped(), yes.swapped()
    sick = None if prevalence is None else prevalence
    well = None if prevalence is None else 1.0 - prevalence
    estimates = {
        "sensitivity": _of_class(yes.positive, yes.n),
        "specificity": _of_class(no.negative, no.n),
        "false_positive_rate": _of_class(no.positive, no.n),
        "ppv": _predictive_value(yes, no, sick),
        "npv": _predictive_value(*swapped, well),
        "likelihood_ratio_positive": _likelihood_ratio(yes, no),
        "likelihood_ratio_negative": _likelihood_ratio(yes.swapped(), no.swapped()),
    }
    return tuple(
        make_ratio(measure, estimate, alternative, confidence_level)
        for measure, estimate in estimates.items()
    )


def _of_class(calls: Proportion, n: int) -> Estimate:
    return estimate_product((quotient(calls.a, n), quotient(calls.b, n)), calls)


def _likelihood_ratio(yes: Calls, no: Calls) -> Estimate:
    """Compare how much more often each model calls positives than negatives."""
    if not (yes.n and no.n):
        return Estimate(math.nan, math.nan, math.nan)
    over, under = yes.positive, no.positive
    values = (quotient(over.a * no.n, under.a * yes.n), quotient(over.b * no.n, under.b * yes.n))
    return estimate_product(values, over, under)


def _predictive_value(yes: Calls, no: Calls, prevalence: float | None) -> Estimate:
    """Compare how often each model is right where it calls positive."""
    if prevalence is not None:
        return _at_prevalence(yes, no, prevalence)
    right, wrong = yes.positive, no.positive
    n_a, n_b = right.a + wrong.a, right.b + wrong.b
    values = quotient(right.a, n_a), quotient(right.b, n_b)
    if not (n_a and n_b):
        return Estimate(*values, math.nan)
    ratio = quotient(right.a * n_b, right.b * n_a)
    if not (right.a and right.b):
        return Estimate(*values, ratio)
    # Moskowitz and Pepe's delta method: u is 1 / right - 1 / called where a call is
    # right, - 1 / called where it is wrong, for a, and the negative for b.
    u_a, u_b = wrong.a / (right.a * n_a), wrong.b / (right.b * n_b)
    both = (wrong.a * right.b * n_b - wrong.b * right.a * n_a) / (right.a * n_a)
    both /= right.b * n_b
    variance = yes.both * both**2 + yes.only_a * u_a**2 + yes.only_b * u_b**2
    variance += no.both * ((n_a - n_b) / (n_a * n_b)) ** 2
    variance += no.only_a / n_a**2 + no.only_b / n_b**2
    called = Proportion(n_a, n_b, 0)
    return Estimate(*values, ratio, right.log_ratio - called.log_ratio, variance)


def _at_prevalence(yes: Calls, no: Calls, prevalence: float) -> Estimate:
    """Compare predictive values at another prevalence, by Bayes' rule.

    With odds o of the prevalence, PPV = LR o / (1 + LR o), and the logarithm of PPV
    moves with that of LR by 1 - PPV.
    """
    right, wrong = yes.positive, no.positive
    if not (yes.n and no.n):
        return Estimate(math.nan, math.nan, math.nan)
    # Proportions of all samples that are called and right, and called and wrong.
    a, b = (
        (prevalence * x / yes.n, (1.0 - prevalence) * y / no.n)
        for x, y in zip(right[:2], wrong[:2], strict=True)
    )
    value_a, value_b = (quotient(x, x + y) for x, y in (a, b))
    ratio = quotient(value_a, value_b)
    if not min(right.a, right.b, wrong.a, wrong.b):
        return Estimate(value_a, value_b, ratio)
    move = a[1] / sum(a), b[1] / sum(b)
    variance = _spread(yes, move[0] / right.a, move[1] / right.b)
    variance += _spread(no, move[0] / wrong.a, move[1] / wrong.b)
    # Of PPV_a / PPV_b, by what is wrong: (x_a y_b - x_b y_a) / (x_b sum(a)) + 1.
    log_ratio = math.log1p((a[0] * b[1] - b[0] * a[1]) / (b[0] * sum(a)))
    return Estimate(value_a, value_b, ratio, log_ratio, variance)


def _spread(calls: Calls, u_a: float, u_b: float) -> float:
    """Sum N (u - mean u)**2 over a class; u_a counts for calls of a, -u_b for b's."""
    influence = (u_a - u_b, u_a, -u_b, 0.0)
    mean = sum(x * u for x, u in zip(calls, influence, strict=True)) / calls.n
    return sum(x * (u - mean) ** 2 for x, u in zip(calls, influence, strict=True))
