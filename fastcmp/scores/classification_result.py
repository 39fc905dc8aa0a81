"""The record of a classifier at one cutoff: its counts, measures and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_proportion
from fastcmp.core.options import choose
from fastcmp.core.plain import readable
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, interval_name
from fastcmp.core.sentences import dropped_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

INTERVALS = ("wilson", "clopper-pearson")
_PROPORTIONS = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
_RATIOS = ("likelihood_ratio_positive", "likelihood_ratio_negative", "diagnostic_odds_ratio")
_PLAIN = ("balanced_accuracy", "f1", "mcc", "youden")
_NOWHERE = ConfidenceInterval(math.nan, math.nan)


def _proportion(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def format_count(count: float) -> str:
    """Write a count in full, a sum of weights with six digits."""
    return f"{count:.6g}" if isinstance(count, float) else str(count)


def _binomial_interval(x: int, n: int, confidence_level: float, method: str) -> ConfidenceInterval:
    if not n:
        return _NOWHERE
    if method == "wilson":
        return ConfidenceInterval(*kernels.wilson_interval(x, n, confidence_level))
    odds = kernels.odds_ratio_exact_interval(x, n - x, confidence_level)
    return ConfidenceInterval(*map(_probability, odds))


def _probability(odds: float) -> float:
    return 1.0 if odds == math.inf else odds / (1.0 + odds)


def _updated(prevalence: float, ratio: float) -> float:
    """Bayes' rule: from a prevalence and a likelihood ratio to a probability."""
    return _probability(prevalence / (1.0 - prevalence) * ratio)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClassificationTable(Record):
    """What a classifier calls positive and negative, against the truth.

    A measure is NaN where its denominator is 0. Counts are whole numbers unless samples
    have weights.
    """

    #: Positives called positive, negatives called positive, positives called negative
    #: and negatives called negative.
    tp: int
    fp: int
    fn: int
    tn: int
    #: What scores were compared with; None where labels were given.
    cutoff: float | None = None
    #: ">=" or ">": what score a sample must have to be called positive.
    rule: str | None = None
    #: Whether the counts are sums of weights; they have no intervals then.
    weighted: bool = False
    #: Proportion of positives for which `ppv` and `npv` hold; None: as in the samples.
    prevalence: float | None = None
    #: Level and method of intervals, where a call names no others.
    confidence_level: float = 0.95
    interval: str = "wilson"
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any] = (1, 0)
    n_missing: int = 0

    @property
    def n_positives(self) -> int:
        """Number of positives."""
        return self.tp + self.fn

    @property
    def n_negatives(self) -> int:
        """Number of negatives."""
        return self.tn + self.fp

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.n_positives + self.n_negatives

    @property
    def table(self) -> NDArray[Any]:
        """The counts, shape (2, 2): rows truth, columns prediction, negative first."""
        kind = np.float64 if self.weighted else np.int64
        return np.array([[self.tn, self.fp], [self.fn, self.tp]], kind)

    @property
    def accuracy(self) -> float:
        """Proportion of samples that are called correctly."""
        return _proportion(self.tp + self.tn, self.n_samples)

    @property
    def sensitivity(self) -> float:
        """Proportion of positives that are called positive."""
        return _proportion(self.tp, self.n_positives)

    @property
    def specificity(self) -> float:
        """Proportion of negatives that are called negative."""
        return _proportion(self.tn, self.n_negatives)

    @property
    def ppv(self) -> float:
        """Proportion of positives among those called positive, at `prevalence`."""
        if self.prevalence is None:
            return _proportion(self.tp, self.tp + self.fp)
        return _updated(self.prevalence, self.likelihood_ratio_positive)

    @property
    def npv(self) -> float:
        """Proportion of negatives among those called negative, at `prevalence`."""
        if self.prevalence is None:
            return _proportion(self.tn, self.tn + self.fn)
        return 1.0 - _updated(self.prevalence, self.likelihood_ratio_negative)

    @property
    def balanced_accuracy(self) -> float:
        """Mean of sensitivity and specificity: the area under the two-segment curve."""
        return 0.5 * (self.sensitivity + self.specificity)

    @property
    def youden(self) -> float:
        """Sensitivity plus specificity minus 1."""
        return self.sensitivity + self.specificity - 1.0

    @property
    def f1(self) -> float:
        """Twice the true positives over all positives and all calls of them."""
        return _proportion(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def mcc(self) -> float:
        """Matthews' correlation coefficient of truth and prediction."""
        margins = (self.tp + self.fp) * (self.tn + self.fn)
        margins *= self.n_positives * self.n_negatives
        return _proportion(self.tp * self.tn - self.fp * self.fn, math.sqrt(margins))

    @property
    def likelihood_ratio_positive(self) -> float:
        """Sensitivity over 1 - specificity; infinite without false positives."""
        return self._ratio(self.tp, self.fp)

    @property
    def likelihood_ratio_negative(self) -> float:
        """One minus sensitivity, over specificity; infinite without true negatives."""
        return self._ratio(self.fn, self.tn)

    @property
    def diagnostic_odds_ratio(self) -> float:
        """Odds of a positive call among positives, over those among negatives.

        The positive likelihood ratio over the negative one; infinite without errors of
        one kind.
        """
        right, wrong = self.tp * self.tn, self.fp * self.fn
        if not wrong:
            return math.inf if right else math.nan
        return right / wrong

    def _ratio(self, of_positives: int, of_negatives: int) -> float:
        if not (self.n_positives and self.n_negatives):
            return math.nan
        if not of_negatives:
            return math.inf if of_positives else math.nan
        return of_positives / self.n_positives * self.n_negatives / of_negatives

    def confidence_interval(
        self, measure: str, *, confidence_level: float | None = None, method: str | None = None
    ) -> ConfidenceInterval:
        """Interval for one measure.

        Parameters
        ----------
        measure : str
            "accuracy", "sensitivity", "specificity", "ppv", "npv",
            "likelihood_ratio_positive", "likelihood_ratio_negative" or
            "diagnostic_odds_ratio".
        confidence_level : float, optional
            In (0, 1); by default that of the record.
        method : {"wilson", "clopper-pearson"}, optional
            For proportions; by default that of the record. Ratios have intervals on the
            log scale, and those of `ppv` and `npv` at a given prevalence follow from
            them by Bayes' rule.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; NaN where there is no sample, and where samples have
            weights. Of ratios 0 and infinity where a count is 0.

        Raises
        ------
        ValueError
            If an option is unknown.

        References
        ----------
        .. [1] D. L. Simel, G. P. Samsa, D. B. Matchar, "Likelihood ratios with
           confidence", J. Clinical Epidemiology 44 (1991) 763-770.
        .. [2] N. D. Mercaldo, K. F. Lau, X. H. Zhou, "Confidence intervals for
           predictive values with an emphasis to case-control studies", Statistics in
           Medicine 26 (2007) 2170-2183.

        Examples
        --------
        >>> from fastcmp.scores.classification import classification_table_from_counts
        >>> table = classification_table_from_counts(tp=13, fp=2, fn=27, tn=158)
        >>> low, high = table.confidence_interval("sensitivity")
        >>> round(low, 4), round(high, 4)
        (0.2008, 0.4798)
        """
        measure = choose(measure, "measure", (*_PROPORTIONS, *_RATIOS))
        level = self.confidence_level
        if confidence_level is not None:
            level = as_proportion(confidence_level, "confidence_level")
        method = self.interval if method is None else method
        method = choose(method, "method", INTERVALS)
        if self.weighted:
            return _NOWHERE
        if measure in _RATIOS:
            return self._ratio_interval(measure, level)
        if measure in ("ppv", "npv") and self.prevalence is not None:
            p = self.prevalence
            if measure == "ppv":
                low, high = self._ratio_interval(_RATIOS[0], level)
                return ConfidenceInterval(_updated(p, low), _updated(p, high))
            low, high = self._ratio_interval(_RATIOS[1], level)
            return ConfidenceInterval(1.0 - _updated(p, high), 1.0 - _updated(p, low))
        parts = {
            "accuracy": (self.tp + self.tn, self.n_samples),
            "sensitivity": (self.tp, self.n_positives),
            "specificity": (self.tn, self.n_negatives),
            "ppv": (self.tp, self.tp + self.fp),
            "npv": (self.tn, self.tn + self.fn),
        }
        return _binomial_interval(*parts[measure], level, method)

    def _ratio_interval(self, measure: str, level: float) -> ConfidenceInterval:
        n1, n0 = self.n_positives, self.n_negatives
        if not (n1 and n0):
            return _NOWHERE
        if measure == "diagnostic_odds_ratio":
            cells = (self.tp, self.fp, self.fn, self.tn)
            variance = sum(1 / x for x in cells) if all(cells) else math.nan
        else:
            x1, x0 = (self.tp, self.fp) if measure == _RATIOS[0] else (self.fn, self.tn)
            variance = 1 / x1 - 1 / n1 + 1 / x0 - 1 / n0 if x1 and x0 else math.nan
        if math.isnan(variance):
            return ConfidenceInterval(0.0, math.inf)
        z = -kernels.ndtri(0.5 * (1.0 - level))
        spread = math.exp(z * math.sqrt(variance))
        ratio = getattr(self, measure)
        return ConfidenceInterval(ratio / spread, ratio * spread)

    def columns(self) -> dict[str, list[Any]]:
        """Give the measures as columns, a row a measure.

        Returns
        -------
        dict of str to list
            Name and value, and the ends of intervals; NaN for measures without.
        """
        names = [*_PROPORTIONS, *_PLAIN, *_RATIOS]
        ends = [_NOWHERE if name in _PLAIN else self.confidence_interval(name) for name in names]
        return {
            "measure": names,
            "value": [getattr(self, name) for name in names],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        measures = (*_PROPORTIONS, *_PLAIN, *_RATIOS)
        values = self._fields() | {name: getattr(self, name) for name in measures}
        values["intervals"] = {
            name: list(self.confidence_interval(name)) for name in (*_PROPORTIONS, *_RATIOS)
        }
        return {name: readable(value) for name, value in values.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The counts and the measures.
        """
        yes, no = self.labels
        text = (f"Positive is {yes!r}.",)
        if self.cutoff is not None:
            cut = f"{self.rule} {self.cutoff:.6g}"
            text = (f"Positive is {yes!r}, called so where the score is {cut}.",)
        tn, fp, fn, tp = map(format_count, (self.tn, self.fp, self.fn, self.tp))
        counts = ((f"truth negative ({no!r})", tn, fp), (f"truth positive ({yes!r})", fn, tp))
        rows = []
        for name in (*_PROPORTIONS, *_PLAIN, *_RATIOS):
            value, ends = getattr(self, name), ""
            if name not in _PLAIN:
                ends = format_interval(*self.confidence_interval(name), digits=4)
            value = "-" if math.isnan(value) else f"{value:.4f}"
            rows.append((name.replace("_", " "), value, ends.replace("nan", "-")))
        notes: tuple[str, ...]
        if self.prevalence is None:
            notes = ("ppv and npv hold for the proportion of positives in these samples.",)
        else:
            notes = (f"ppv and npv are for a prevalence of {self.prevalence:.4g}.",)
        if self.weighted:
            notes += ("Counts are sums of weights, for which there are no intervals.",)
        columns = ("", "predicted negative", "predicted positive")
        return [
            Section(title="Classification table", text=text, columns=columns, rows=counts),
            Section(
                title=f"Measures of {format_count(self.n_samples)} samples",
                columns=("", "value", interval_name(self.confidence_level)),
                rows=tuple(rows),
                notes=(*notes, *dropped_sentences(self.n_missing, 0)),
            ),
        ]
