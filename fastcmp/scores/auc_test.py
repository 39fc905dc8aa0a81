"""Records of two AUCs compared, and of linear combinations of AUCs."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.options import choose
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.report import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.tails import normal_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AUCComparison(Record):
    """A test of the difference of two AUCs, or of partial areas or rates."""

    #: The difference, less the margin, in standard errors; infinite without variance.
    zscore: float
    pvalue: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: AUC of a minus that of b.
    difference: float
    standard_error: float
    #: What is compared, of either model.
    auc_a: float
    auc_b: float
    alternative: str = "two-sided"
    #: The null hypothesis is difference = -margin: a is worse by the margin.
    margin: float = 0.0
    names: tuple[str, str] = ("a", "b")
    #: Of the interval that is printed.
    confidence_level: float = 0.95
    #: Degrees of freedom of Student's t; infinite where the reference is normal.
    df: float = np.inf
    #: What is compared, and by which test.
    measure: str = "AUC"
    test: str = "DeLong's test"

    @property
    def statistic(self) -> float:
        """Chi-square, the square of the z-score."""
        return self.zscore**2

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
        return ConfidenceInterval(
            *keep_side((low, high), self.alternative, (-1.0, 1.0))
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        a, b = self.names
        low, high = self.confidence_interval(self.confidence_level)
        against = {
            "two-sided": f"{a} and {b} have equal {self.measure}",
            "greater": f"{a} is not better than {b}",
            "less": f"{a} is not worse than {b}",
        }[self.alternative]
        if self.margin:
            against += f", with a margin of {self.margin:g}"
        text = (
            f"{self.measure} of {a} {self.auc_a:.4f}, of {b} {self.auc_b:.4f}",
            f"difference {self.difference:+.4f}, "
            f"{interval_name(self.confidence_level, self.alternative)} "
            f"{format_interval(low, high, digits=4, sign='+')}",
            f"{self._score()}, p = {format_pvalue(self.pvalue)} (against: {against})",
        )
        return [Section(title=self.test, text=text)]

    def _score(self) -> str:
        if np.isinf(self.df):
            return f"z = {self.zscore:.4g}"
        return f"t = {self.zscore:.4g} with {self.df:.4g} d.o.f."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ContrastResult(Record):
    """A test of linear combinations of AUCs."""

    #: Chi-square with `df` degrees of freedom.
    statistic: float
    pvalue: float
    df: int
    #: The combinations, shape (R,).
    estimate: NDArray[np.float64]

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"chi-square = {self.statistic:.4g} with {self.df} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}",
        )
        return [Section(title="Contrast of AUCs", text=text)]


def compare_estimates(  # noqa: PLR0913  # two estimates and what is asked of them
    auc_a: float,
    auc_b: float,
    variance: float,
    rounding: float,
    *,
    alternative: str = "two-sided",
    margin: float = 0.0,
    names: tuple[str, str] = ("a", "b"),
    df: float = np.inf,
    measure: str = "AUC",
    test: str = "DeLong's test",
) -> AUCComparison:
    """Test a difference of AUCs, given its variance.

    Parameters
    ----------
    auc_a, auc_b : float
        The areas.
    variance : float
        Of their difference.
    rounding : float
        A variance no larger than this is 0.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.
    margin : float
        By how much a may be worse under the null hypothesis.
    names : tuple of two str
        What to call the models.
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    measure : str
        What is compared.
    test : str
        What to call the test.

    Returns
    -------
    AUCComparison
        With p = 1 where neither the difference nor the variance is other than 0.

    Raises
    ------
    ValueError
        If an option is unknown, or the margin is no finite number >= 0.
    """
    alternative = choose(alternative, "alternative", _ALTERNATIVES)
    if isinstance(margin, bool) or not isinstance(margin, Real):
        message = f"margin must be a number >= 0, got {margin!r}"
        raise TypeError(message)
    if not 0 <= margin < np.inf:
        message = f"margin must be finite and >= 0, got {margin}"
        raise ValueError(message)
    if margin and alternative == "two-sided":
        message = "a margin needs a side: alternative='greater' tests non-inferiority"
        raise ValueError(message)
    difference = auc_a - auc_b
    # Towards a: not worse than by the margin. Towards b: a is worse by more than it.
    shifted = difference + margin if alternative == "greater" else difference - margin
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
    return AUCComparison(
        zscore=z,
        pvalue=pvalue,
        status=status,
        difference=difference,
        standard_error=error,
        auc_a=auc_a,
        auc_b=auc_b,
        alternative=alternative,
        margin=margin,
        names=names,
        df=df,
        measure=measure,
        test=test,
    )


def _tail(z: float, df: float, alternative: str) -> Any:
    if np.isinf(df):
        return normal_tail(z, alternative)
    if alternative == "two-sided":
        return kernels.student_tails(df, z)
    return kernels.stdtr(df, -z if alternative == "greater" else z)


def _quantile(probability: float, df: float) -> float:
    if np.isinf(df):
        return float(-kernels.ndtri(1 - probability))
    return float(kernels.stdtrit(df, probability))
