"""A classifier at one cutoff: its table and measures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import are_counts_given, as_cells, as_proportion, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import ConfidenceInterval, Record, TwoClassCounts, are_two_class
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Section, format_interval, interval_name
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.typing import ColumnLike, Flags, Label
from fastcmp.inputs.binary_labels import (
    Truth,
    are_labels,
    as_doubles,
    find_numbers,
    read_labels,
    read_truth,
)
from fastcmp.inputs.model_names import check_indexes
from fastcmp.inputs.scores import Scores, read_scores, read_weights

INTERVALS = ("wilson", "clopper-pearson")
_PROPORTIONS = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
_RATIOS = ("likelihood_ratio_positive", "likelihood_ratio_negative", "diagnostic_odds_ratio")
_PLAIN = ("balanced_accuracy", "f1", "mcc", "youden")
_NOWHERE = ConfidenceInterval(math.nan, math.nan)


def _proportion(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def format_count(count: float) -> str:
    """A count in full, or a sum of weights with six digits, as text."""
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

    _opening = (
        "Each measure is a ratio of the four counts; intervals of proportions: {record.interval}."
    )
    _cites = (("interval", {"wilson": "wilson"}),)

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
        >>> from fastcmp.scores.classification import classification_table
        >>> table = classification_table(tp=13, fp=2, fn=27, tn=158)
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
        """The measures as columns, a row a measure.

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
        """The entries of `to_dict` that are for reading."""
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

    def _headline(self) -> str:
        """The first measure of the table."""
        name, value, interval = self.sections()[1].rows[0][:3]
        return f"The {name} is {value}, {interval_name(self.confidence_level)} {interval}."


#: How a score is compared with a cutoff: below it where low scores indicate positives.
RULES = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}
_DEFAULT_CUTOFF = 0.5


def classification_table(
    y_true: ColumnLike | None = None,
    score_or_label: ArrayLike | None = None,
    *,
    scores: ArrayLike | None = None,
    counts: TwoClassCounts | None = None,
    tp: int | None = None,
    fp: int | None = None,
    fn: int | None = None,
    tn: int | None = None,
    cutoff: float = _DEFAULT_CUTOFF,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    rule: str = ">=",
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    interval: str = "wilson",
) -> ClassificationTable:
    """Count what a classifier calls positive, and measure how well it does.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score_or_label : array-like, shape (n,), optional
        Predicted labels; or scores, where it is a column of floats, or where `cutoff`
        is not 0.5. Floats that are all labels of `y_true` are labels nevertheless: for
        0 and 1 the result is the same.
    scores : array-like, shape (n,), optional
        Scores of any type, in place of `score_or_label`. Higher scores indicate
        the positive class, unless `rule` is "<=" or "<".
    counts : fastcmp.stream.ConfusionCounts, optional
        In the place of labels, counts of one model and two classes.
    tp, fp, fn, tn : int, optional
        Or true and false positives, false and true negatives: one number each.
    cutoff : float
        What scores are compared with; beyond all scores, all samples get the same call.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights to add up instead of counting. The measures then have no intervals.
    rule : {">=", ">", "<=", "<"}
        What score is called positive, beside the cutoff: "<=" or "<" where low scores
        indicate the positive class.
    prevalence : float, optional
        Proportion of positives, in (0, 1), for which to give the predictive values, by
        Bayes' rule; by default that of the samples.
    confidence_level : float
        Level of intervals, in (0, 1).
    interval : {"wilson", "clopper-pearson"}
        Interval for a proportion.

    Returns
    -------
    ClassificationTable
        The four counts, the measures, and intervals for them.

    Raises
    ------
    ValueError
        If lengths differ, a score, a weight or the cutoff is NaN, a prediction is
        missing or not one of two labels, a count is negative, fractional or above 2**53
        with the others, `counts` are of more models or classes, or an option is unknown.
    TypeError
        If labels of different types are compared, a count is not a number, or not one of
        `score_or_label`, `scores` and counts is given.

    Notes
    -----
    O(n).

    Examples
    --------
    >>> from fastcmp.scores.classification import classification_table
    >>> table = classification_table([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])
    >>> table.table.tolist()
    [[1, 1], [0, 2]]
    >>> labels = classification_table(
    ...     ["ill", "well", "ill"], ["ill", "ill", "well"], positive="ill"
    ... )
    >>> labels.sensitivity, labels.specificity
    (0.5, 0.0)
    >>> table = classification_table(tp=13, fp=2, fn=27, tn=158)
    >>> table.accuracy, table.sensitivity, table.specificity
    (0.855, 0.325, 0.9875)
    """
    limit = _check_cutoff(cutoff)
    rule = choose(rule, "rule", RULES)
    options: dict[str, Any] = {
        "interval": choose(interval, "interval", INTERVALS),
        "prevalence": None if prevalence is None else as_proportion(prevalence, "prevalence"),
        "confidence_level": as_proportion(confidence_level, "confidence_level"),
    }
    cells: dict[str, Any] = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    of_labels = {"score_or_label": score_or_label, "scores": scores}
    of_labels["sample_weight"] = sample_weight
    if are_counts_given({"y_true": y_true}, {"counts": counts} | cells, of_labels):
        numbers = [raw for raw in cells.values() if raw is not None]
        if len(numbers) != (4 if counts is None else 0):
            raise BadTypeError(
                "pass all of `tp=`, `fp=`, `fn=` and `tn=`, or `counts=`, not some of both"
            )
        if counts is None:
            if positive is not None:
                raise BadTypeError(
                    "`positive=` is of labels or `counts=`: `tp=` and the others know it"
                )
            options |= dict(zip(cells, as_cells(**cells), strict=True))
            return ClassificationTable(**options)
        if not are_two_class(counts):
            raise BadTypeError("`counts` must be a fastcmp.stream.ConfusionCounts", repr(counts))
        table, labels = counts.two_class_counts(positive)
        options |= {**table, "labels": labels, "n_missing": counts.n_missing}
        return ClassificationTable(**options)
    check_indexes([("y_true", y_true), ("score_or_label", score_or_label), ("scores", scores)])
    numbers, are_scores = _as_numbers(score_or_label, scores, limit)
    read: Scores | Truth
    if numbers is None:
        read = read_truth(y_true, positive)
        calls, cut = read_labels(score_or_label, "score_or_label", read), False
    else:
        read = read_scores(y_true, numbers, positive, single=True)
        column, cut = read.columns[0], True
        if not are_scores:
            cut = not are_labels(column, read.labels)
        calls = _call(column, read.labels, limit if cut else None, rule)
    weights = read_weights(sample_weight, read)
    counted = np.bincount(2 * (read.positive > 0) + calls, weights, minlength=4).tolist()
    return ClassificationTable(
        **dict(zip(("tn", "fp", "fn", "tp"), counted, strict=True)),
        weighted=weights is not None,
        cutoff=limit if cut else None,
        rule=rule if cut else None,
        labels=read.labels,
        n_missing=read.n_missing,
        **options,
    )


def _check_cutoff(cutoff: Any) -> float:
    if isinstance(cutoff, (bool, str, bytes)) or np.ndim(cutoff):
        raise BadTypeError("`cutoff` must be a number", repr(cutoff))
    try:
        value = float(cutoff)
    except (TypeError, ValueError):
        raise BadTypeError("`cutoff` must be a number", repr(cutoff)) from None
    if math.isnan(value):
        raise BadValueError("`cutoff` must be a number", "nan")
    return value


def _as_numbers(score_or_label: object, scores: object, cutoff: float) -> tuple[Any, bool]:
    """The scores, None for labels; and whether they must be scores."""
    if (score_or_label is None) == (scores is None):
        got = "neither" if scores is None else "both"
        raise BadTypeError("pass one of score_or_label and `scores=`", got)
    if scores is not None:
        numbers, _ = find_numbers(scores, "scores")
        return scores if numbers is None else as_doubles(numbers), True
    numbers, whole = find_numbers(score_or_label, "score_or_label")
    has_cutoff = cutoff != _DEFAULT_CUTOFF
    if numbers is None or (whole and not has_cutoff):
        return None, False
    return as_doubles(numbers), has_cutoff


def _call(column: NDArray[Any], labels: tuple[Any, Any], cutoff: float | None, rule: str) -> Flags:
    """Which numbers call positive: labels without a cutoff, scores with one."""
    if cutoff is None:
        yes, no = labels
        return np.asarray(column != no if yes is None else column == yes)
    # In double precision: a float32 next to the cutoff is not rounded onto it.
    return np.asarray(RULES[rule](column, cutoff, signature="dd->?"))
