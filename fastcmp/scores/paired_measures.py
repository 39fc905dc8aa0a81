"""Two classifiers compared by sensitivity, specificity, predictive values and such."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    are_counts_given,
    as_counts,
    as_level,
    as_proportion,
    check_total,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.records import Compared, Record, are_labelled
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import (
    EQUALLY_ACCURATE,
    dropped_sentences,
    how,
    null_sentence,
    sentence_of_test,
    with_null,
)
from fastcmp.core.typing import ColumnLike, Ints, Label
from fastcmp.counts.label_counts import LabelTable
from fastcmp.inputs.binary_labels import positive_label, read_labels, read_truth
from fastcmp.paired.margin_result import METHOD_NAMES as MARGIN_METHODS
from fastcmp.paired.margins import as_margin, as_margin_alpha
from fastcmp.paired.mcnemar import mcnemar
from fastcmp.paired.mcnemar_counts import DIFFERENCE_INTERVALS, METHOD_NAMES, METHODS
from fastcmp.paired.mcnemar_result import McNemarResult
from fastcmp.scores.classification import ClassificationTable
from fastcmp.scores.paired_ratio import (
    LOWER_IS_BETTER,
    PairedRatio,
    format_ends,
    format_ratio,
    measure_ratios,
)

_COLUMNS = (
    *("measure", "test", "value_a", "value_b", "difference", "ratio", "low", "high"),
    *("statistic", "pvalue"),
)
_SHORT = {"generalised score": "score", "weighted generalised score": "weighted"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PredictiveValueTest(Compared, Record):
    """A score test of two models' predictive values on the same samples."""

    _nulls = ("both are equal", EQUALLY_ACCURATE[1])
    _cites = (
        ("test", {"generalised score": "leisenring", "weighted generalised score": "kosinski"}),
    )

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
            sentence_of_test(self),
        )
        title = f"{self.test.capitalize()} test ({self.measure}, {self.alternative})"
        return [Section(title=title, text=text)]


def predictive_value_test(
    measure: str,
    right: tuple[int, int, int],
    wrong: tuple[int, int, int],
    alternative: str,
    *,
    weighted: bool,
) -> PredictiveValueTest:
    """Test of the equality of two predictive values, from counts."""
    right_a, right_b = right[0] + right[1], right[0] + right[2]
    n_a, n_b = right_a + wrong[0] + wrong[1], right_b + wrong[0] + wrong[2]
    statistic = pvalue = value_a = value_b = math.nan
    status = kernels.UNDEFINED
    value_a = right_a / n_a if n_a else math.nan
    value_b = right_b / n_b if n_b else math.nan
    if n_a and n_b:
        pooled = (right_a + right_b) / (n_a + n_b)
        wrong_part = (n_a - right_a + n_b - right_b) / (n_a + n_b)  # 1 - pooled
        both, only_a, only_b = (
            r * wrong_part**2 + w * pooled**2 for r, w in zip(right, wrong, strict=True)
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
            status, pvalue = kernels.OK, float(t_tail(statistic, alternative))
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JointTest(Record):
    """Lachenbruch and Lynch's test: are sensitivity and specificity both equal?"""

    _opening = "Test: {title}."
    _cites = ("lachenbruch",)

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
                text=(with_null(self.sentence, "both are equal"),),
            )
        ]

    def _headline(self) -> str:
        return f"{self.sentence[0].upper()}{self.sentence[1:]} (H0: both are equal)"

    @property
    def sentence(self) -> str:
        """The statistic and the p-value, in words."""
        if not self.df and self.status == kernels.UNDEFINED:
            return "undefined without samples of both classes"
        return (
            f"chi-square = {self.statistic:.4g} with {self.df} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeasureComparison(Record):
    """Sensitivity, specificity, predictive values and likelihood ratios compared."""

    _blocks = "scores:measures"
    _opening = "{a} and {b} were compared on the same samples, measure by measure."

    _cites = (
        "mcnemar",
        ("sensitivity.method", {"midp": "fagerland", "corrected": "edwards"}),
        "leisenring kosinski",
        ("interval", {"newcombe": "newcombe", "tango": "tango"}),
    )

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
    counts: Ints
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

    def _table(self, confusion: Ints) -> ClassificationTable:
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
        """The ratio of one measure, a / b.

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
        >>> from fastcmp import compare_sensitivity_specificity
        >>> counts = [[[900, 15], [25, 60]], [[50, 60], [40, 850]]]
        >>> result = compare_sensitivity_specificity(counts=counts)
        >>> round(result.ratio("recall").ratio, 4)
        0.978
        """
        by_measure = {ratio.measure: ratio for ratio in self.ratios}
        return by_measure[choose(measure, "measure", by_measure)]

    def _rows(self) -> dict[str, tuple[Any, ...]]:
        """A row a test, of `_COLUMNS`."""
        rows: dict[str, tuple[Any, ...]] = {}
        numbers: tuple[Any, ...]
        none, by = math.nan, METHOD_NAMES[self.sensitivity.method]
        for name in ("sensitivity", "specificity"):
            test: McNemarResult = getattr(self, name)
            ends = test.confidence_interval(self.confidence_level, self.interval)
            numbers = (test.accuracy_a, test.accuracy_b, test.difference, none, *ends)
            numbers = (*map(float, numbers), float(test.statistic), float(test.pvalue))
            rows[name] = (name, f"McNemar, {by}", *numbers)
        for name in ("ppv_score", "ppv_weighted", "npv_score", "npv_weighted"):
            x: PredictiveValueTest = getattr(self, name)
            numbers = (x.value_a, x.value_b, x.difference, none, none, none)
            rows[name] = (x.measure, x.test, *numbers, x.statistic, x.pvalue)
        tested = (self.joint.statistic, self.joint.pvalue)
        both = "sensitivity and specificity"
        rows["joint"] = (both, "Lachenbruch and Lynch", *[none] * 6, *tested)
        for of in self.ratios:
            numbers = (of.value_a, of.value_b, none, of.ratio, *of.interval)
            rows[f"{of.measure}_ratio"] = (of.measure, "ratio", *numbers, of.statistic, of.pvalue)
        return rows

    def columns(self) -> dict[str, list[Any]]:
        """The tests as columns, a row a test.

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
        """The entries of `to_dict` that are for reading."""
        values: dict[str, Any] = {
            name: dict(zip(_COLUMNS[1:], row[1:], strict=True))
            for name, row in self._rows().items()
        }
        fields = ("counts", "confidence_level", "interval", "prevalence", "labels")
        values |= {name: getattr(self, name) for name in fields}
        values["alternative"] = self.sensitivity.alternative
        for name in ("sensitivity", "specificity"):
            margins = getattr(self, name).margins
            values[name] |= {} if margins is None else margins._beside()
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
            how(
                f"{positives} positives ({self.labels[0]!r}), {negatives} negatives "
                f"({self.labels[1]!r}); p-values are not adjusted for their number."
            ),
        )
        level = interval_name(self.confidence_level, alternative)
        method = METHOD_NAMES[self.sensitivity.method]
        notes = (
            how(
                f"Tests: McNemar's ({method}), generalised score and weighted generalised "
                f"score; intervals: {self.interval.title()}."
            ),
            f"Sensitivity and specificity together: {self.joint.sentence}.",
        )
        lower = " and ".join(name.replace("_", " ") for name in LOWER_IS_BETTER)
        prevalence = "the proportion of positives in these samples"
        if self.prevalence is not None:
            prevalence = f"a prevalence of {self.prevalence:.4g}"
        ratio_notes = (
            how(f"Less is better of {lower}; ppv and npv are for {prevalence}."),
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
                rows=tuple(
                    (
                        x.measure.replace("_", " "),
                        *map(format_ratio, (x.value_a, x.value_b, x.ratio)),
                        *(format_ends(x.interval), format_pvalue(x.pvalue)),
                    )
                    for x in self.ratios
                ),
                notes=ratio_notes,
            ),
        ]

    def _headline(self) -> str:
        """The differences of sensitivity and specificity."""
        differences = [f"{row[0]} {row[4]} (p = {row[6]})" for row in [*self._differences()][:2]]
        return f"a minus b: {' and '.join(differences)}."

    def _against_margins(self) -> list[Section]:
        """Whether a is non-inferior in sensitivity and in specificity, as a table."""
        tested = [
            (name, margins)
            for name in ("sensitivity", "specificity")
            if (margins := getattr(self, name).margins) is not None
        ]
        if not tested:
            return []
        alpha, p = tested[0][1].alpha, self.noninferiority_pvalue
        notes: list[str] = [
            null_sentence(f"the {name} of a is lower by {x.amount} or more", end=".")
            for name, x in tested
        ]
        if math.isnan(p):
            notes.append("Non-inferior in both: no test, for a class has no samples.")
        else:
            negation = "" if p <= alpha else "not "
            notes.append(f"Non-inferior in both: {negation}shown, p = {format_pvalue(p)}.")
        methods = " and ".join(dict.fromkeys(MARGIN_METHODS[x.method] for _, x in tested))
        rows = tuple(
            (
                *(name, f"{x.difference:+.4f}"),
                format_interval(*x.inner_interval, digits=4, sign="+"),
                *(format_pvalue(x.noninferiority_pvalue), x.decision),
            )
            for name, x in tested
        )
        level = interval_name(1.0 - 2.0 * alpha)
        return [
            Section(
                title="Is a as good as b? (non-inferiority)",
                columns=("measure", "a - b", level, "p", "decision"),
                rows=rows,
                notes=(*notes, how(f"By {methods}, alpha = {alpha:g}.")),
            )
        ]

    def _differences(self) -> Iterator[tuple[str, ...]]:
        """Rows of the tests of differences, as text."""
        for row in list(self._rows().values())[:6]:
            measure, test, a, b, difference, _, low, high, _, p = row
            ends = ""
            if not math.isnan(low):
                ends = format_interval(low, high, digits=4, sign="+")
            short = _SHORT.get(test, "McNemar")
            numbers = (_number(a), _number(b), _number(difference, "+"))
            yield (measure, short, *numbers, ends, format_pvalue(p))


def _number(value: float, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.4f}"


def compare_sensitivity_specificity(
    y_true: object = None,
    pred_a: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    *,
    counts: Any = None,
    positive: Label = None,
    method: str = "midp",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    interval: str = "newcombe",
    prevalence: float | None = None,
    margin: float | tuple[float, float] | None = None,
    alpha: float = 0.05,
) -> MeasureComparison:
    """Compare two models' sensitivity, specificity, predictive values and such.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted, of the same two classes.
    counts : array-like of int, shape (2, 2, 2), or LabelTable, optional
        In the place of labels: ``counts[t, a, b]`` samples of class t that a calls a and b
        calls b; or counts by class, as from `count_labels`, or a
        `fastcmp.stream.LabelCounts` of two models.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    method : {"midp", "exact", "asymptotic", "corrected", "unconditional"}
        Variant of McNemar's test.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better, which for false positive rates and negative
        likelihood ratios means less. Intervals are one-sided where tests are.
    confidence_level : float
        Level of intervals, in (0, 1).
    interval : {"newcombe", "tango", "bonett-price", "agresti-min", "wald"}
        Interval for the differences of sensitivity and of specificity.
    prevalence : float, optional
        Proportion of positives, in (0, 1), for which to compare the ratios of
        predictive values, by Bayes' rule; by default that of the samples.
    margin : float or pair of float, optional
        The largest difference that does not matter, in (0, 1), of sensitivity and of
        specificity: adds tests of both against it, as in `mcnemar`, and
        ``noninferiority_pvalue``, that a is worse in neither by the margin.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    MeasureComparison
        McNemar's tests among positives and among negatives, both together [3]_; for
        either predictive value the generalised score test [1]_ and the weighted one
        [2]_; and the ratios a / b of sensitivity, specificity, false positive rate,
        predictive values [4]_ and likelihood ratios [5]_, with intervals and tests on
        the log scale.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing or not one of two labels, counts are of
        another shape or of more than two classes, negative, fractional or add up to more
        than 2**53, or an option is unknown.
    TypeError
        If labels of different types are compared, counts are not numbers, or there are not
        either labels or counts.

    Notes
    -----
    Both score tests compare the difference of predictive values with its standard error
    under their equality. The residual of a sample is its outcome minus the pooled
    predictive value v. The variance of [1]_ adds the squared residuals that were
    observed for each model, ``S_a / n_a**2 + S_b / n_b**2 - 2 S_ab / (n_a n_b)``, with
    ``S_ab`` those of samples that both call. That of [2]_ puts the pooled ``v (1 - v)``
    in place of ``S_a / n_a`` and ``S_b / n_b``, and is Pearson's chi-square where no
    sample is called by both.

    With b and c samples of a class called by one model only, and x_a and x_b called by
    either, the variance of ``log(x_a / x_b)`` is ``(b + c) / (x_a x_b)``. The ratio of
    likelihood ratios adds those of the two classes: this is the estimate and the
    variance of the regression of [5]_, which is saturated. Predictive values have the
    delta method's variance. Where a count under a logarithm is 0 the ratio is 0,
    infinite or NaN, without interval and test; where the models never differ it is 1
    with p = 1, without an interval.

    References
    ----------
    .. [1] W. Leisenring, T. Alonzo, M. S. Pepe, "Comparisons of predictive values of
       binary medical diagnostic tests for paired designs", Biometrics 56 (2000)
       345-351.
    .. [2] A. S. Kosinski, "A weighted generalized score statistic for comparison of
       predictive values of diagnostic tests", Statistics in Medicine 32 (2013) 964-977.
    .. [3] P. A. Lachenbruch, C. J. Lynch, "Assessing screening tests: extensions of
       McNemar's test", Statistics in Medicine 17 (1998) 2207-2217.
    .. [4] C. S. Moskowitz, M. S. Pepe, "Comparing the predictive values of diagnostic
       tests: sample size and analysis for paired study designs", Clinical Trials 3
       (2006) 272-279.
    .. [5] W. Gu, M. S. Pepe, "Estimating the capacity for improvement in risk
       prediction with a marker", Biostatistics 10 (2009) 172-186.

    Examples
    --------
    >>> from fastcmp import compare_sensitivity_specificity
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> pred_a = [1, 1, 1, 1, 1, 0, 0, 0]
    >>> pred_b = [1, 1, 0, 0, 0, 0, 0, 1]
    >>> result = compare_sensitivity_specificity(y_true, pred_a, pred_b)
    >>> result.sensitivity.pvalue, result.specificity.pvalue
    (0.25, 1.0)
    >>> round(result.ppv_weighted.difference, 4), round(result.ppv_weighted.pvalue, 4)
    (0.1333, 0.6442)
    >>> result.ratio("sensitivity").ratio
    2.0
    >>> more = compare_sensitivity_specificity(y_true, pred_a, pred_b, margin=0.25)
    >>> more.sensitivity.margins.decision, round(more.noninferiority_pvalue, 4)
    ('not worse', 0.3313)
    >>> counts = [[[900, 15], [25, 60]], [[50, 60], [40, 850]]]
    >>> result = compare_sensitivity_specificity(counts=counts)
    >>> round(result.joint.statistic, 4), round(result.joint.pvalue, 4)
    (6.5, 0.0388)
    """
    method = choose(method, "method", METHODS)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_level(confidence_level, alternative)
    interval = choose(interval, "interval", DIFFERENCE_INTERVALS)
    if prevalence is not None:
        prevalence = as_proportion(prevalence, "prevalence")
    margins: list[float | None] = [None, None]
    if margin is not None:
        pair = margin if isinstance(margin, (tuple, list)) else (margin, margin)
        if len(pair) != 2:
            raise BadValueError(
                "`margin` must be one number, or two: of sensitivity and of specificity", len(pair)
            )
        margins = [as_margin(x, 1.0) for x in pair]
    alpha = as_margin_alpha(alpha)
    # Counts with the negative class first.
    data, n_missing = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}, 0
    if not are_counts_given(data, {"counts": counts}):
        truth = read_truth(y_true, positive)
        a = read_labels(pred_a, "pred_a", truth)
        b = read_labels(pred_b, "pred_b", truth)
        labels, n_missing = truth.labels, truth.n_missing
        table = np.bincount(4 * truth.positive + 2 * a + b, minlength=8).reshape(2, 2, 2)
    elif isinstance(counts, LabelTable) or are_labelled(counts):
        counts = counts.label_table() if are_labelled(counts) else counts
        check_total(counts.counts, "counts", counts.counts.ndim)
        n_missing, classes = counts.n_missing, list(counts.classes)
        if not 1 <= len(classes) <= 2:
            raise BadValueError(
                "`counts` must be of two classes",
                f"{len(classes)}: {classes[:10]}",
                "; for one class against the others compare `y_true` == that class, and so on",
            )
        labels = positive_label(classes, positive, "counts")
        # A class that is missing has no samples.
        place = np.array([int(label == labels[0]) for label in classes])
        table = np.zeros((2, 2, 2), np.int64)
        table[np.ix_(place, place, place)] = counts.to_dense()
    else:
        table = as_counts(counts, "counts")
        if table.shape != (2, 2, 2):
            raise BadValueError(
                "`counts` must be of shape (2, 2, 2), [true, predicted by a, predicted by b]",
                table.shape,
            )
        check_total(table, "counts", 3)
        labels = positive_label([0, 1], positive, "counts")
        if labels[0] == 0:
            table = np.ascontiguousarray(table[::-1, ::-1, ::-1])
    ((none0, b0), (a0, both0)), ((none1, b1), (a1, both1)) = table.tolist()
    ppv = ("ppv", (both1, a1, b1), (both0, a0, b0), alternative)
    # What a does not call positive while b does, only a calls negative.
    npv = ("npv", (none0, b0, a0), (none1, b1, a1), alternative)
    tests = []
    for measure, largest, (only_a, only_b, right, wrong) in (
        ("sensitivity", margins[0], (a1, b1, both1, none1)),
        ("specificity", margins[1], (b0, a0, none0, both0)),
    ):
        test = mcnemar(
            only_a=only_a,
            only_b=only_b,
            both_right=right,
            both_wrong=wrong,
            margin=largest if only_a + only_b + right + wrong else None,
            alpha=alpha,
            method=method,
            alternative=alternative,
        )
        if test.margins is not None:
            test = replace(test, margins=replace(test.margins, measure=measure))
        tests.append(test)
    discordant = [test for test in tests if test.only_a + test.only_b]
    statistic, pvalue, status = 0.0, 1.0, kernels.DEGENERATE
    if not all(test.n_samples for test in tests):
        discordant, statistic, pvalue, status = [], math.nan, math.nan, kernels.UNDEFINED
    elif discordant:
        statistic = sum(
            (test.only_a - test.only_b) ** 2 / (test.only_a + test.only_b) for test in discordant
        )
        pvalue, status = math.exp(-0.5 * statistic), kernels.OK
        if len(discordant) == 1:
            pvalue = kernels.chdtrc(1.0, statistic)
    return MeasureComparison(
        sensitivity=tests[0],
        specificity=tests[1],
        ppv_score=predictive_value_test(*ppv, weighted=False),
        npv_score=predictive_value_test(*npv, weighted=False),
        ppv_weighted=predictive_value_test(*ppv, weighted=True),
        npv_weighted=predictive_value_test(*npv, weighted=True),
        joint=JointTest(statistic=statistic, pvalue=pvalue, df=len(discordant), status=int(status)),
        ratios=measure_ratios(table, alternative, float(confidence_level), prevalence),
        counts=table,
        confidence_level=float(confidence_level),
        interval=interval,
        prevalence=prevalence,
        labels=labels,
        n_missing=n_missing,
    )
