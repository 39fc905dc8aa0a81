"""The record of two models compared by a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp.core.records import Compared, ConfidenceInterval, Pilot, Record
from fastcmp.core.sections import Section, beware, format_pvalue, interval_name
from fastcmp.core.sentences import dropped_sentences, how, null_hypothesis, with_null
from fastcmp.metrics.metric import limits, number
from fastcmp.paired.margin_result import MarginTests, margin_sentences

_TESTS = {
    "exact": "permutation test, all exchanges of predictions",
    "permutation": "permutation test, random exchanges of predictions",
    "pooled": "the influences of discordant samples at the counts of both models",
    "jackknife": "the difference in standard errors of the jackknife",
    "delta": "the difference in standard errors of the delta method",
    "mover": "the influences of discordant samples at the counts of both models",
    "abc": "the level of the ABC interval that ends at 0",
    "bootstrap": "bootstrap of the samples",
}
#: Tests of equality from which those of a margin differ.
_OTHERS = {
    "exact": "exchanges of predictions",
    "permutation": "exchanges of predictions",
    "pooled": "influences at the counts of both models",
    "mover": "influences at the counts of both models",
    "bootstrap": "the p-value of the bootstrap",
    "abc": "the ABC interval",
}
_COLUMNS = (
    *("measure", "value_a", "value_b", "difference"),
    *("interval_low", "interval_high", "pvalue"),
)

#: Methods of intervals in words, where they are not their own.
_BY = {"dirichlet": "Dirichlet draws"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricComparison(Pilot, Compared, Record):
    """Two models compared by a metric, or by several.

    Of one metric all entries are numbers; of several metrics, or many tables of counts,
    arrays whose last axis is that of the metrics.
    """

    _pilot = "metric"
    _opening = "{a} and {b} were compared by metrics of their predictions for the same samples."

    _cites = (
        (
            "method",
            {"jackknife": "miller", "exact": "chung", "permutation": "chung", "bootstrap": "efron"},
        ),
    )

    #: What `distribution` is applied to: z, with clusters t; of permutations the
    #: difference, or what was studentized.
    statistic: Any
    pvalue: Any
    #: Degrees of freedom of t, else None.
    df: float | None
    #: "permutation", "normal", "t", "bootstrap" or "abc".
    distribution: str
    #: A `fastcmp.kernels.Status`.
    status: Any
    #: Such as "f1_macro", and as it is shown, such as "macro F1".
    metric: Any
    measure: Any
    #: Value of a minus that of b.
    difference: Any
    standard_error: Any
    interval: ConfidenceInterval
    #: Value of a over that of b, with an interval on the log scale; NaN where one of
    #: them is not positive.
    ratio: Any
    ratio_interval: ConfidenceInterval
    value_a: Any
    value_b: Any
    #: Of each value alone; of the bootstrap, clusters and weights by the delta method.
    standard_error_a: Any
    standard_error_b: Any
    #: "exact", "permutation", "pooled", "jackknife", "delta", "mover", "bootstrap" or "abc".
    method: str
    #: Such as "dirichlet", "exact", "score" or "jackknife".
    interval_method: Any
    alternative: str
    confidence_level: float
    lower_is_better: Any
    names: tuple[str, str]
    n_samples: Any
    #: Samples for which the predictions differ.
    n_discordant: Any
    #: The classes that occur, in order.
    classes: tuple[Any, ...]
    #: Configurations that an exact permutation test looked at.
    n_configurations: Any = None
    n_clusters: int | None = None
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None
    n_missing: int = 0
    n_excluded: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None
    #: The same models within slices of the samples, a `SlicesResult`; None where none were
    #: asked for.
    slices: Record | None = None

    _derived = ("better",)

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        gain = np.sign(self.difference) * np.where(self.lower_is_better, -1.0, 1.0)
        if not np.ndim(gain):
            return {1: "a", -1: "b"}.get(int(np.nan_to_num(gain)))
        names = np.array(["b", None, "a"], dtype=object)
        return names[np.where(np.isnan(gain), 0, gain).astype(int) + 1]

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, and what to beware of.
        """
        pages = [self._table() if np.ndim(self.pvalue) else self._answer(), *beware(self)]
        return pages + ([] if self.slices is None else self.slices.sections())

    def _answer(self) -> Section:
        """The sentences about which model is better."""
        a, b = self.names
        name = interval_name(self.confidence_level, self.alternative)
        lead = f"{a} and {b} have the same {self.measure}"
        if math.isnan(self.difference):
            lead = f"{self.measure} of {a} and {b} cannot be compared"
        elif self.difference:
            direction = "higher" if self.difference > 0 else "lower"
            lead = f"{a} has a {direction} {self.measure} than {b}"
        values = f"{number(self.value_a)} and {number(self.value_b)}"
        hypothesis = f"the predictions of {a} and {b} can be exchanged"
        if self.distribution != "permutation":
            equal = f"{a} and {b} have the same {self.measure}"
            hypothesis = null_hypothesis(self.alternative, equal, self.names, self.measure)
        by = _BY.get(self.interval_method, self.interval_method)
        text = [
            f"{lead}: {values} on {self._drawn()}, of which "
            f"{self.n_discordant} are predicted differently.",
            f"Difference {number(self.difference, '+')}, {name} "
            f"{limits(*self.interval, sign='+')}, by {by}.",
        ]
        if not math.isnan(self.ratio):
            text.append(f"Ratio {number(self.ratio)}, {name} {limits(*self.ratio_interval)}.")
        text += [
            with_null(self._test_text(), hypothesis, end="."),
            *margin_sentences(self.margins, _OTHERS.get(self.method, "")),
            how(f"Test: {_TESTS[self.method]}."),
            *dropped_sentences(self.n_missing, self.n_excluded),
        ]
        return Section(title="Which model is better?", text=tuple(text))

    def _drawn(self) -> str:
        """The number of samples, as text."""
        clusters = ""
        if self.n_clusters is not None:
            clusters = f" in {self.n_clusters} clusters"
        return f"{self.n_samples} samples{clusters}"

    def _test_text(self) -> str:
        """The statistic and the p-value, as text."""
        pvalue = f"p = {format_pvalue(self.pvalue)}"
        if self.distribution == "normal":
            return f"z = {number(self.statistic)}, {pvalue}"
        if self.distribution == "t":
            return f"t = {number(self.statistic)}, df = {self.df:g}, {pvalue}"
        return pvalue

    def _table(self) -> Section:
        """A row for each metric, and each table of counts."""
        columns = self.columns()
        taken = [columns[name] for name in _COLUMNS]
        rows: list[tuple[str, ...]] = [
            (
                measure,
                number(value_a),
                number(value_b),
                number(difference, "+"),
                limits(low, high, sign="+"),
                format_pvalue(pvalue),
            )
            for measure, value_a, value_b, difference, low, high, pvalue in zip(*taken, strict=True)
        ]
        interval = interval_name(self.confidence_level, self.alternative)
        decision_column: tuple[str, ...] = ()
        if self.margins is not None:
            decision_column = ("decision",)
            decisions = np.broadcast_to(self.margins.decision, np.shape(self.pvalue))
            words = decisions.ravel().tolist()
            rows = [(*row, word) for row, word in zip(rows, words, strict=True)]
        return Section(
            title="Which model is better?",
            text=(how("P-values are not adjusted for their number."),),
            columns=("metric", *self.names, "difference", interval, "p", *decision_column),
            rows=tuple(rows),
            notes=margin_sentences(self.margins, _OTHERS.get(self.method, ""))
            + dropped_sentences(self.n_missing, self.n_excluded),
        )
