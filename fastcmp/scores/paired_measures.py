"""Two classifiers compared by sensitivity, specificity, predictive values and such."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    as_counts,
    as_level,
    as_proportion,
    check_total,
    choose,
)
from fastcmp.core.numbers import normal_tail
from fastcmp.core.records import Compared, Record, are_labelled
from fastcmp.core.sections import Section, format_pvalue, null_hypothesis
from fastcmp.counts.label_counts import LabelTable
from fastcmp.inputs.binary_labels import positive_label, read_labels, read_truth
from fastcmp.paired.margins import as_margin, as_margin_alpha
from fastcmp.paired.mcnemar import mcnemar_from_counts
from fastcmp.paired.mcnemar_result import DIFFERENCE_INTERVALS, METHODS
from fastcmp.scores.measure_comparison import (
    MeasureComparison,
    joint_test,
    measure_ratios,
    read_calls,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.inputs.scores import ClassScores

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PredictiveValueTest(Compared, Record):
    """A score test of two models' predictive values on the same samples."""

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
            f"z = {self.statistic:.4g}, p = {format_pvalue(self.pvalue)} "
            f"(H0: {null_hypothesis(self.alternative, 'both are equal')})",
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
    """Test the equality of two predictive values, from counts."""
    right_a, right_b = right[0] + right[1], right[0] + right[2]
    n_a, n_b = right_a + wrong[0] + wrong[1], right_b + wrong[0] + wrong[2]
    statistic = pvalue = value_a = value_b = math.nan
    status = kernels.UNDEFINED
    value_a = right_a / n_a if n_a else math.nan
    value_b = right_b / n_b if n_b else math.nan
    if n_a and n_b:
        pooled = (right_a + right_b) / (n_a + n_b)
        rest = (n_a - right_a + n_b - right_b) / (n_a + n_b)  # 1 - pooled
        both, only_a, only_b = (
            r * rest**2 + w * pooled**2 for r, w in zip(right, wrong, strict=True)
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
            status, pvalue = kernels.OK, float(normal_tail(statistic, alternative))
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


# Two classifiers compared by sensitivity, specificity, predictive values and such.


def compare_sensitivity_specificity(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    positive: Any = None,
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
        If lengths differ, a prediction is missing or not one of two labels, or an
        option is unknown.
    TypeError
        If labels of different types are compared.

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
    """
    options = _check_options(method, alternative, confidence_level, interval, prevalence)
    margins, alpha = _read_margins(margin), as_margin_alpha(alpha)
    truth = read_truth(y_true, positive)
    a = read_labels(pred_a, "pred_a", truth)
    b = read_labels(pred_b, "pred_b", truth)
    cells = 4 * truth.positive + 2 * a + b
    counts = np.bincount(cells, minlength=8).reshape(2, 2, 2)
    return _compare(counts, truth.labels, truth.n_missing, options, margins, alpha)


def compare_sensitivity_specificity_from_counts(
    counts: Any,
    *,
    positive: Any = None,
    method: str = "midp",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    interval: str = "newcombe",
    prevalence: float | None = None,
    margin: float | tuple[float, float] | None = None,
    alpha: float = 0.05,
) -> MeasureComparison:
    """Compare two models' sensitivity, specificity and so on, from counts.

    Parameters
    ----------
    counts : array-like of int, shape (2, 2, 2), or LabelTable
        ``counts[t, a, b]`` samples of class t that a calls a and b calls b; or counts
        by class, as from `count_labels`, or a `fastcmp.stream.LabelCounts` of two
        models.
    positive : label, optional
        The positive class, 0 or 1 for an array; of two numbers or booleans the larger
        one by default.
    method : {"midp", "exact", "asymptotic", "corrected", "unconditional"}
        As in `compare_sensitivity_specificity`.
    alternative : {"two-sided", "greater", "less"}
        As in `compare_sensitivity_specificity`.
    confidence_level : float
        Level of intervals, in (0, 1).
    interval : {"newcombe", "tango", "bonett-price", "agresti-min", "wald"}
        As in `compare_sensitivity_specificity`.
    prevalence : float, optional
        As in `compare_sensitivity_specificity`.
    margin : float or pair of float, optional
        As in `compare_sensitivity_specificity`.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    MeasureComparison
        As from `compare_sensitivity_specificity`.

    Raises
    ------
    ValueError
        If the counts are of another shape or of more than two classes, negative,
        fractional or add up to more than 2**53, or an option is unknown.
    TypeError
        If the counts are not numbers.

    Examples
    --------
    >>> from fastcmp import compare_sensitivity_specificity_from_counts
    >>> counts = [[[900, 15], [25, 60]], [[50, 60], [40, 850]]]
    >>> result = compare_sensitivity_specificity_from_counts(counts)
    >>> round(result.joint.statistic, 4), round(result.joint.pvalue, 4)
    (6.5, 0.0388)
    """
    options = _check_options(method, alternative, confidence_level, interval, prevalence)
    margins, alpha = _read_margins(margin), as_margin_alpha(alpha)
    if are_labelled(counts):
        counts = counts.label_table()
    n_missing = 0
    if isinstance(counts, LabelTable):
        check_total(counts.counts, "counts", counts.counts.ndim)
        n_missing = counts.n_missing
        array, labels = _of_classes(counts, positive)
    else:
        array = as_counts(counts, "counts")
        if array.shape != (2, 2, 2):
            raise ValueError(
                "counts must be of shape (2, 2, 2), [true, predicted by a, predicted "
                f"by b], got {array.shape}"
            )
        check_total(array, "counts", 3)
        labels = positive_label([0, 1], positive, "counts")
        if labels[0] == 0:
            array = array[::-1, ::-1, ::-1]
    return _compare(np.ascontiguousarray(array), labels, n_missing, options, margins, alpha)


def _of_classes(table: LabelTable, positive: Any) -> tuple[NDArray[np.int64], tuple[Any, Any]]:
    """Put the negative class first, and one without samples where it is missing."""
    found = list(table.classes)
    if not 1 <= len(found) <= 2:
        raise ValueError(
            f"counts must be of two classes, got {len(found)}: {found[:10]}; for one "
            "class against the others compare y_true == that class, and so on"
        )
    labels = positive_label(found, positive, "counts")
    place = np.array([int(label == labels[0]) for label in found])
    counts = np.zeros((2, 2, 2), np.int64)
    counts[np.ix_(place, place, place)] = table.to_dense()
    return counts, labels


def _check_options(
    method: str, alternative: str, confidence_level: float, interval: str, prevalence: float | None
) -> dict[str, Any]:
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_level(confidence_level, alternative)
    return {
        "method": choose(method, "method", METHODS),
        "alternative": alternative,
        "confidence_level": float(confidence_level),
        "interval": choose(interval, "interval", DIFFERENCE_INTERVALS),
        "prevalence": None if prevalence is None else as_proportion(prevalence, "prevalence"),
    }


def _read_margins(margin: Any) -> tuple[float | None, float | None]:
    """Read one margin, or those of sensitivity and of specificity."""
    if margin is None:
        return None, None
    if not isinstance(margin, (tuple, list)):
        margin = (margin, margin)
    if len(margin) != 2:
        raise ValueError(
            "margin must be one number, or two: of sensitivity and of specificity, got "
            f"{len(margin)}"
        )
    first, second = (as_margin(x, 1.0) for x in margin)
    return first, second


def _compare(
    counts: NDArray[np.int64],
    labels: tuple[Any, Any],
    n_missing: int,
    options: dict[str, Any],
    margins: tuple[float | None, float | None],
    alpha: float,
) -> MeasureComparison:
    """Run all tests on counts with the negative class first."""
    yes, no = read_calls(counts)
    alternative, level = options["alternative"], options["confidence_level"]
    test = {"method": options["method"], "alternative": alternative}
    ppv = ("ppv", yes[:3], no[:3], alternative)
    # What a does not call positive while b does, only a calls negative.
    npv = ("npv", no.swapped()[:3], yes.swapped()[:3], alternative)
    cells = {
        "sensitivity": (yes.only_a, yes.only_b, yes.both, yes.neither),
        "specificity": (no.only_b, no.only_a, no.neither, no.both),
    }
    tests = []
    for (measure, (a, b, right, wrong)), margin in zip(cells.items(), margins, strict=True):
        against = margin if a + b + right + wrong else None
        found = mcnemar_from_counts(
            a, b, both_right=right, both_wrong=wrong, margin=against, alpha=alpha, **test
        )
        if found.margins is not None:
            found = replace(found, margins=replace(found.margins, measure=measure))
        tests.append(found)
    sensitivity, specificity = tests
    return MeasureComparison(
        sensitivity=sensitivity,
        specificity=specificity,
        ppv_score=predictive_value_test(*ppv, weighted=False),
        npv_score=predictive_value_test(*npv, weighted=False),
        ppv_weighted=predictive_value_test(*ppv, weighted=True),
        npv_weighted=predictive_value_test(*npv, weighted=True),
        joint=joint_test(sensitivity, specificity),
        ratios=measure_ratios(yes, no, alternative, level, options["prevalence"]),
        counts=counts,
        confidence_level=level,
        interval=options["interval"],
        prevalence=options["prevalence"],
        labels=labels,
        n_missing=n_missing,
    )


# Averages of measures over classes, labels or samples.


AVERAGES = ("macro", "weighted", "micro", "samples", None)


def class_weights(read: ClassScores) -> Floats:
    """Add up the weights of the samples of each class."""
    ones = np.ones(len(read.positive)) if read.weights is None else read.weights
    sums = np.asarray(ones @ read.positive, np.float64)
    if not sums.all():
        empty = [label for label, n in zip(read.names, sums, strict=True) if not n]
        raise ValueError(f"y_true holds no sample of {empty[:10]}")
    return sums


def average_classes(
    read: ClassScores,
    measure: Callable[[Flags, NDArray[Any], Floats | None], float],
    average: str | None,
) -> float | Floats:
    """Average a measure of two classes over classes, labels or samples."""
    weights = read.weights
    if average == "micro":
        each = None if weights is None else np.repeat(weights, len(read.names))
        return measure(read.positive.ravel(), read.scores.ravel(), each)
    if average == "samples":
        rows = zip(read.positive, read.scores, strict=True)
        found = np.array([_of_sample(measure, i, *row) for i, row in enumerate(rows)])
        return float(np.average(found, weights=weights))
    sums = class_weights(read)
    columns = zip(read.positive.T, np.ascontiguousarray(read.scores.T), strict=True)
    found = np.array([measure(flags, column, weights) for flags, column in columns])
    if average is None:
        return found
    return float(np.average(found, weights=sums if average == "weighted" else None))


def _of_sample(
    measure: Callable[..., float], sample: int, flags: Flags, scores: NDArray[Any]
) -> float:
    try:
        return measure(flags, scores, None)
    except ValueError as error:
        message = f"average='samples' has nothing to measure for sample {sample}: "
        raise ValueError(message + str(error)) from None
