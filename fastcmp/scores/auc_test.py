"""Records of two AUCs compared, and of linear combinations of AUCs.

DeLong's variance is 0 where both models separate the classes, and much too small where
samples that a model fails on are rare and none was drawn. Here each area has Wilson's
limits for as many independent samples as its variance stands for, and these limits are
combined as Zou and Donner do (MOVER).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_finite, as_level, choose, keep_side
from fastcmp.core.numbers import normal_tail
from fastcmp.core.records import Compared, ConfidenceInterval, Pilot, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import USUAL_ALPHA, difference_sentence, how, null_hypothesis, with_null
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    as_margin_alpha,
    make_tests,
    plain,
    samples_needed,
)

Floats = NDArray[np.float64]

_PRIOR = 2.0  # failed samples that stand for what was not observed


class Areas(NamedTuple):
    """Areas of two models, or of many pairs, as proportions of the largest possible."""

    a: Any
    b: Any
    variance_a: Any
    variance_b: Any
    correlation: Any
    #: Samples, or clusters, of the rarer class.
    n_a: Any
    n_b: Any

    @property
    def df(self) -> Any:
        """Degrees of freedom of the critical values."""
        return np.minimum(self.n_a, self.n_b) - 1.0

    @property
    def mirrored(self) -> Areas:
        """The same with the models exchanged."""
        return Areas(
            *(self.b, self.a, self.variance_b, self.variance_a),
            *(self.correlation, self.n_b, self.n_a),
        )


def _failed(area: Any, n: Any) -> Any:
    """Count the samples of the rarer class that an area is short of 1, or of 0."""
    return n * np.minimum(area, 1.0 - area)


def _wilson(area: Any, variance: Any, n: Any, critical: Any) -> tuple[Any, Any]:
    """Wilson's limits for the number of samples that the variance stands for.

    The variance of an area is at most area (1 - area) / n. Where few samples failed the
    estimate is drawn towards this bound.
    """
    inside = area * (1.0 - area)
    ratio = np.where(inside > 0.0, n * variance / np.where(inside > 0.0, inside, 1.0), 1.0)
    failed = _failed(area, n)
    effective = n * (failed + _PRIOR) / (failed * ratio + _PRIOR)
    k = critical**2 / effective
    middle = (area + 0.5 * k) / (1.0 + k)
    spread = critical / (1.0 + k) * np.sqrt((inside + 0.25 * k) / effective)
    return middle - spread, middle + spread


def lower_limit(areas: Areas, critical: Any) -> Any:
    """Lower limit of the difference, for a critical value of Student's t."""
    a, b = areas.a, areas.b
    low, _ = _wilson(a, areas.variance_a, areas.n_a, critical)
    _, high = _wilson(b, areas.variance_b, areas.n_b, critical)
    failed = _failed(a, areas.n_a) + _failed(b, areas.n_b)
    correlation = areas.correlation * failed / (failed + _PRIOR)
    down, up = a - low, high - b
    squared = down**2 + up**2 - 2.0 * correlation * down * up
    return np.maximum(a - b - np.sqrt(np.maximum(squared, 0.0)), -1.0)


def area_interval(areas: Areas, level: float) -> ConfidenceInterval:
    """Two-sided interval for the difference."""
    from scipy.special import stdtrit

    critical = stdtrit(areas.df, 0.5 * (1.0 + level))
    return ConfidenceInterval(
        lower_limit(areas, critical) + 0.0, -lower_limit(areas.mirrored, critical) + 0.0
    )


def area_tail(areas: Areas, shift: Any) -> tuple[Any, Any]:
    """Statistic and p-value of H0: the difference is at most `shift`.

    The statistic is the critical value with which the limit of the difference on this
    side is `shift`.
    """
    from scipy.special import stdtr

    below = np.asarray(areas.a - areas.b < shift)
    parts = [np.where(below, y, x) for x, y in zip(areas, areas.mirrored, strict=True)]
    turned, limit = Areas(*parts), np.where(below, -np.asarray(shift), shift)
    low, high = np.zeros(limit.shape), np.ones(limit.shape)  # of critical / (1 + critical)
    for _ in range(48):
        middle = np.minimum(0.5 * (low + high), 1.0 - 1e-8)
        above = lower_limit(turned, middle / (1.0 - middle)) > limit
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    statistic = np.where(below, -1.0, 1.0) * low / (1.0 - low)
    return statistic, stdtr(areas.df, -statistic)


def area_margins(
    areas: Areas,
    options: MarginOptions,
    standard_error: Any,
    *,
    n_samples: Any,
    measure: str,
    alternative: str = "two-sided",
    largest: float = 1.0,
    pvalue: Any = None,
) -> MarginTests:
    """Test differences against a margin, in units of the `largest` area.

    `pvalue` is that of equality, from which better and worse follow; for None they
    follow from the same limits as all else.
    """
    difference = np.asarray(areas.a - areas.b)
    margin = options.margin / largest
    lower, pvalue_lower = area_tail(areas, -margin)
    upper, pvalue_upper = area_tail(areas.mirrored, -margin)
    superiority = area_tail(areas, margin)[1]
    if pvalue is None:
        tails = area_tail(areas, 0.0)[1], area_tail(areas.mirrored, 0.0)[1]
        sides = {"greater": tails[0], "less": tails[1]}
        pvalue = sides.get(alternative, np.minimum(2.0 * np.minimum(*tails), 1.0))
    intervals = []
    for level in (1.0 - options.alpha, 1.0 - 2.0 * options.alpha):
        ends = area_interval(areas, level)
        intervals.append(ConfidenceInterval(*(plain(largest * end) for end in ends)))
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = largest * np.abs((difference + margin) / lower)
    error = np.asarray(standard_error, np.float64)
    observed, n = np.where(error > 0.0, error, reach), np.sqrt(float(n_samples))
    spreads = (observed * n, reach * n, observed * n)
    needed = samples_needed(largest * difference, options.margin, spreads, options)
    return make_tests(
        Estimated(
            largest * difference,
            plain(error),
            n_samples=n_samples,
            pvalue=pvalue,
            alternative=alternative,
            measure=measure,
        ),
        options,
        (lower, -upper, pvalue_lower, pvalue_upper, superiority),
        (intervals[0], intervals[1]),
        needed,
        method="mover",
        df=plain(areas.df),
    )


ROUNDING = 1e-13  # of a variance, relative to what was subtracted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AUCComparison(Pilot, Compared, Record):
    """A test of the difference of two AUCs, or of partial areas or rates."""

    _closing = (
        "Standard errors come from the placements of the scores of one class among those of the "
        "other."
    )
    _cites = (("test", {"DeLong's test": "delong sun", "Bootstrap test": "efron"}),)

    #: The difference in standard errors: z, or Student's t where there are `df`. With a
    #: margin and one side, or without variance, Student's t with which the limit of the
    #: difference is that of H0.
    statistic: float
    pvalue: float
    #: "normal" or "t", with its degrees of freedom.
    distribution: str = "normal"
    df: float | None = None
    #: A `fastcmp.kernels.Status`.
    status: int
    #: What is compared: "AUC", "partial AUC", "sensitivity", ...
    measure: str = "AUC"
    #: At which rates, such as "FPR 0 to 0.1"; empty for the whole curve.
    at: str = ""
    #: The measure of a minus that of b.
    difference: float
    standard_error: float
    #: The measure of either model.
    auc_a: float
    auc_b: float
    alternative: str = "two-sided"
    #: For "greater" H0 is: a is worse by the margin; for "less": b is. Two-sided, H0 is
    #: equality, and `margins` has the tests against the margin.
    margin: float = 0.0
    names: tuple[str, str] = ("a", "b")
    #: Of the interval that is printed.
    confidence_level: float = 0.95
    #: What the test is called.
    test: str = "DeLong's test"
    #: Tests against a margin, and the decision; None without, or one-sided.
    margins: MarginTests | None = None
    #: Of the samples that both were measured on; None where they are not the same.
    n_positives: int | None = None
    n_negatives: int | None = None
    #: Standard error of either model's measure, and their correlation.
    standard_error_a: float
    standard_error_b: float
    correlation: float
    #: Samples, or clusters, of the rarer class, for either model.
    n_rarer: tuple[int, int]
    #: The largest possible value of the measure.
    largest: float = 1.0

    _derived = ("better",)

    @property
    def _areas(self) -> Areas:
        """Both measures as proportions of the largest value."""
        largest = self.largest
        return Areas(
            min(max(self.auc_a / largest, 0.0), 1.0),
            min(max(self.auc_b / largest, 0.0), 1.0),
            (self.standard_error_a / largest) ** 2,
            (self.standard_error_b / largest) ** 2,
            self.correlation,
            *self.n_rarer,
        )

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Wald's, clipped to the possible differences. Where the test is of
            non-inferiority, or no variance was observed, Wilson's limits of both areas
            combined (MOVER), from which its p-value is. For "greater" `high` is the
            largest possible difference, for "less" `low` the smallest: a is not worse
            by a margin m where `low` is above -m.
        """
        level, most = as_level(confidence_level, self.alternative), self.largest
        if self._by_limits:
            low, high = (float(most * end) for end in area_interval(self._areas, level))
        else:
            spread = _quantile((1 + level) / 2, self.df) * self.standard_error
            low = max(self.difference - spread, -most)
            high = min(self.difference + spread, most)
        return ConfidenceInterval(*keep_side((low, high), self.alternative, (-most, most)))

    @property
    def _by_limits(self) -> bool:
        one_sided = self.alternative != "two-sided" and self.margin != 0.0
        return one_sided or self.status == kernels.DEGENERATE

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        a, b = self.names
        low, high = self.confidence_interval(self.confidence_level)
        equal = f"{a} and {b} have equal {self.measure}"
        hypothesis = null_hypothesis(self.alternative, equal, self.names)
        if self.margin and self.alternative != "two-sided":
            better, worse = (b, a) if self.alternative == "greater" else (a, b)
            hypothesis = f"{worse} is worse than {better} by {self.margin:g} or more"
        measured = f"{self.measure} ({self.at})" if self.at else self.measure
        name = "z" if self.df is None else "t"
        df = "" if self.df is None else f", df = {self.df:.4g}"
        text = (
            f"{measured} of {a} {self.auc_a:.4f}, of {b} {self.auc_b:.4f}",
            f"difference {self.difference:+.4f}, "
            f"{interval_name(self.confidence_level, self.alternative)} "
            f"{format_interval(low, high, digits=4, sign='+')}",
            with_null(
                f"{name} = {self.statistic:.4g}{df}, p = {format_pvalue(self.pvalue)}", hypothesis
            ),
            *(
                ["No variance was observed: p-value and interval are by MOVER limits."]
                if self.status == kernels.DEGENERATE
                else []
            ),
            *margin_sentences(self.margins),
            *(
                [how(f"The margin is tested by MOVER limits of both areas, not by {self.test}.")]
                if self.margins is not None
                else []
            ),
        )
        return [Section(title=self.test, text=text)]

    def _margin_tests(self, options: MarginOptions, n_samples: int) -> MarginTests:
        """Test the difference against a margin."""
        return area_margins(
            self._areas,
            options,
            self.standard_error,
            n_samples=n_samples,
            measure=self.measure,
            alternative=self.alternative,
            largest=self.largest,
        )


def areas_sentence(record: Any) -> str:
    """Say how areas compare; a model is the best only if a test shows it."""
    auc, measure = record.auc, getattr(record, "measure", "AUC")
    if len(auc) == 1:
        return f"The {measure} is {auc[0]:.4f}."
    if len(auc) == 2:
        test = record.compare(0, 1)
        doubt = "" if test.pvalue <= USUAL_ALPHA else ", not significant"
        return f"{difference_sentence(test).rstrip('.')}{doubt}."
    best = record.names[int(np.argmax(auc))]
    return f"{best} has the highest {measure} in this sample, {auc.max():.4f}: not a test."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ContrastResult(Record):
    """A test of linear combinations of AUCs."""

    _opening = "Test: {title}."
    _cites = ("delong sun",)

    #: Of one combination z, with its sign; of several chi-square with `df` degrees of
    #: freedom.
    statistic: float
    pvalue: float
    #: "normal" or "chi2"; None has no degrees of freedom.
    distribution: str
    df: int | None = None
    #: The combinations, shape (R,).
    estimate: NDArray[np.float64]

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        found = f"z = {self.statistic:.4g}"
        if self.df is not None:
            found = f"chi-square = {self.statistic:.4g}, df = {self.df}"
        n = self.estimate.size
        combinations = "the combination is" if n == 1 else f"the {n} combinations are"
        text = with_null(f"{found}, p = {format_pvalue(self.pvalue)}", f"{combinations} 0")
        text.answer = text if self.df is None else f"C{text[1:]}"
        return [Section(title="Contrast of AUCs", text=(text,))]

    def columns(self) -> dict[str, Any]:
        """The test as columns, one row.

        Returns
        -------
        dict of str to list
            Statistic, p-value, distribution and degrees of freedom.
        """
        return {x: [getattr(self, x)] for x in ("statistic", "pvalue", "distribution", "df")}


def compare_estimates(
    auc_a: float,
    auc_b: float,
    covariance: NDArray[np.float64],
    *,
    n_rarer: tuple[int, int],
    alternative: str = "two-sided",
    margin: float = 0.0,
    names: tuple[str, str] = ("a", "b"),
    df: float | None = None,
    measure: str = "AUC",
    at: str = "",
    largest: float = 1.0,
    test: str = "DeLong's test",
    alpha: float = 0.05,
    n_samples: int = 0,
) -> AUCComparison:
    """Test a difference of AUCs, given their covariance, shape (2, 2)."""
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    margin = as_finite(margin, "margin", 0.0)
    if margin >= largest:
        raise ValueError(
            f"margin must be below {largest:g}, the largest possible difference, got {margin}"
        )
    options = MarginOptions(margin, as_margin_alpha(alpha))
    difference = auc_a - auc_b
    variances = np.maximum(np.diag(covariance), 0.0)
    variance = float(variances.sum() - 2.0 * covariance[0, 1])
    both = float(np.sqrt(variances.prod()))
    status = kernels.OK if variance > ROUNDING * variances.sum() else kernels.DEGENERATE
    if np.isnan(variance):
        status = kernels.UNDEFINED
    error = 0.0 if status == kernels.DEGENERATE else float(np.sqrt(variance))
    z = difference / error if error else 0.0
    result = AUCComparison(
        statistic=z,
        pvalue=float(_tail(z, df, alternative)) if error else 1.0,
        distribution="normal" if df is None else "t",
        df=df,
        status=int(status),
        measure=measure,
        at=at,
        difference=difference,
        standard_error=error,
        auc_a=auc_a,
        auc_b=auc_b,
        alternative=alternative,
        margin=margin,
        names=names,
        test=test,
        standard_error_a=float(np.sqrt(variances[0])),
        standard_error_b=float(np.sqrt(variances[1])),
        correlation=float(np.clip(covariance[0, 1] / both, -1.0, 1.0)) if both else 0.0,
        n_rarer=n_rarer,
        largest=largest,
    )
    if result._by_limits and (difference or margin):
        # Towards a: not worse than by the margin. Towards b: b is not worse by it.
        shift = margin * {"greater": -1, "less": 1}.get(alternative, 0) / largest
        areas = result._areas
        statistic, above = map(float, area_tail(areas, shift))
        below = float(area_tail(areas.mirrored, -shift)[1])
        tails = {"greater": above, "less": below, "two-sided": min(2 * min(above, below), 1.0)}
        result = replace(
            result,
            statistic=statistic,
            pvalue=tails[alternative],
            distribution="t",
            df=float(areas.df),
        )
    if not margin or alternative != "two-sided":
        return result
    return replace(result, margins=result._margin_tests(options, n_samples))


def _tail(z: float, df: float | None, alternative: str) -> Any:
    if df is None:
        return normal_tail(z, alternative)
    if alternative == "two-sided":
        return kernels.student_tails(df, z)
    return kernels.stdtr(df, -z if alternative == "greater" else z)


def _quantile(probability: float, df: float | None) -> float:
    if df is None:
        return float(-kernels.ndtri(1 - probability))
    return float(kernels.stdtrit(df, probability))
