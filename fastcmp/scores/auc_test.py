"""Records of two AUCs compared, and of linear combinations of AUCs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.record_parts import Compared, Pilot
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.tails import normal_tail
from fastcmp.paired.margin_result import MarginTests, margin_entries, margin_sentences
from fastcmp.paired.margin_statistics import Estimated, MarginOptions, margins_of
from fastcmp.paired.margins import as_margin_alpha

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AUCComparison(Pilot, Compared, Record):
    """A test of the difference of two AUCs, or of partial areas or rates."""

    #: The difference plus or minus the margin, in standard errors: z, or Student's t
    #: where there are `df`. Infinite without variance.
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
    #: One-sided, H0 is difference = -margin: a is worse by the margin. Two-sided, H0 is
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

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Wald's, clipped to [-1, 1]. For "greater" `high` is 1, for "less" `low` is
            -1: a is not worse by a margin m where `low` is above -m.
        """
        level = as_level(confidence_level, self.alternative)
        spread = _quantile((1 + level) / 2, self.df) * self.standard_error
        low = max(self.difference - spread, -1.0)
        high = min(self.difference + spread, 1.0)
        return ConfidenceInterval(*keep_side((low, high), self.alternative, (-1.0, 1.0)))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        a, b = self.names
        low, high = self.confidence_interval(self.confidence_level)
        hypothesis = {
            "two-sided": f"{a} and {b} have equal {self.measure}",
            "greater": f"{a} is not better than {b}",
            "less": f"{a} is not worse than {b}",
        }[self.alternative]
        if self.margin and self.alternative != "two-sided":
            hypothesis += f", with a margin of {self.margin:g}"
        measured = f"{self.measure} ({self.at})" if self.at else self.measure
        name = "z" if self.df is None else "t"
        df = "" if self.df is None else f", df = {self.df:.4g}"
        text = (
            f"{measured} of {a} {self.auc_a:.4f}, of {b} {self.auc_b:.4f}",
            f"difference {self.difference:+.4f}, "
            f"{interval_name(self.confidence_level, self.alternative)} "
            f"{format_interval(low, high, digits=4, sign='+')}",
            f"{name} = {self.statistic:.4g}{df}, p = {format_pvalue(self.pvalue)} "
            f"(H0: {hypothesis})",
            *margin_sentences(self.margins),
        )
        return [Section(title=self.test, text=text)]

    def _margin_tests(self, options: MarginOptions, n_samples: int) -> MarginTests:
        """Test the difference against a margin."""
        of = Estimated(
            self.difference,
            self.standard_error,
            df=self.df,
            n_samples=n_samples or None,
            pvalue=self.pvalue,
            measure=self.measure,
            limits=(-1.0, 1.0),
        )
        return margins_of(of, options)

    def _shown(self) -> dict[str, Any]:
        shown = {**self._fields(), "better": self.better}
        return shown | margin_entries(self.margins)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ContrastResult(Record):
    """A test of linear combinations of AUCs."""

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
        text = (f"{found}, p = {format_pvalue(self.pvalue)} (H0: {combinations} 0)",)
        return [Section(title="Contrast of AUCs", text=text)]

    def columns(self) -> dict[str, Any]:
        """Give the test as columns, one row.

        Returns
        -------
        dict of str to list
            Statistic, p-value, distribution and degrees of freedom.
        """
        names = ("statistic", "pvalue", "distribution", "df")
        return {name: [getattr(self, name)] for name in names}


def compare_estimates(
    auc_a: float,
    auc_b: float,
    variance: float,
    rounding: float,
    *,
    alternative: str = "two-sided",
    margin: float = 0.0,
    names: tuple[str, str] = ("a", "b"),
    df: float | None = None,
    measure: str = "AUC",
    at: str = "",
    test: str = "DeLong's test",
    alpha: float = 0.05,
    n_samples: int = 0,
) -> AUCComparison:
    """Test a difference of AUCs, given its variance."""
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    _check_margin(margin)
    level = as_margin_alpha(alpha)
    difference = auc_a - auc_b
    # Towards a: not worse than by the margin. Towards b: a is worse by more than it.
    shifted = difference + margin * {"greater": 1, "less": -1}.get(alternative, 0)
    if np.isnan(variance):
        z, error, status = np.nan, np.nan, kernels.UNDEFINED
    elif variance > rounding:
        error, status = float(np.sqrt(variance)), kernels.OK
        z = shifted / error
    else:
        z, error, status = 0.0, 0.0, kernels.DEGENERATE
        if shifted:
            z = float(np.copysign(np.inf, shifted))
    pvalue = float(_tail(z, df, alternative))
    if status == kernels.DEGENERATE and not shifted:
        pvalue = 1.0
    result = AUCComparison(
        statistic=float(z),
        pvalue=pvalue,
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
    )
    if not margin or alternative != "two-sided":
        return result
    options = MarginOptions(float(margin), level)
    return replace(result, margins=result._margin_tests(options, n_samples))


def _check_margin(margin: Any) -> None:
    if isinstance(margin, (bool, np.bool_)) or not isinstance(margin, Real):
        message = f"margin must be a number >= 0, got {margin!r}"
        raise TypeError(message)
    if not 0 <= float(margin) < np.inf:
        message = f"margin must be finite and >= 0, got {margin}"
        raise ValueError(message)
    if float(margin) >= 1:
        message = f"margin must be below 1, the largest possible difference, got {margin}"
        raise ValueError(message)


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
