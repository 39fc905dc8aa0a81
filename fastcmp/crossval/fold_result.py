"""The record of a test on the folds of a resampling design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name

_HYPOTHESES = {
    "two-sided": "H0: a and b score equally well",
    "greater": "H0: a does not score higher than b",
    "less": "H0: a does not score lower than b",
}
_ESTIMATES = {"dietterich-t": "first difference", "proportion-z": "difference of accuracies"}
#: By what the name of a test ends with.
_DISTRIBUTIONS = {"t": "t", "f": "F", "z": "normal", "mcnemar": "chi2"}
_SYMBOLS = {"t": "t", "F": "F", "normal": "z", "chi2": "chi-square"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FoldTestResult(Compared, Record):
    """A test of two models on the folds of a resampling design.

    All numbers but the degrees of freedom are arrays of one shape where the data had
    leading axes.

    Notes
    -----
    Differences are without spread where each lies within 1e-12 of what it should vary
    about, in units of the largest difference: scores are rounded. If what is tested is
    0 too, the statistic is 0, p is 1 and `status` ``DEGENERATE``. Otherwise nothing
    measures the estimate: statistic and p are NaN, and `status` is ``UNDEFINED``.
    """

    #: Student's t, Snedecor's F, a normal z or a chi-square: see `distribution`.
    statistic: Any
    pvalue: Any
    #: Mean score of a minus that of b.
    difference: Any
    #: What is tested against zero: `difference`, except that it is the first difference
    #: for Dietterich's t, and NaN for chi-square.
    estimate: Any
    #: ``statistic`` = `estimate` / `standard_error` for t and z; NaN for the others.
    standard_error: Any
    #: Degrees of freedom: a number for t and chi-square, a pair for F, None for z.
    df: float | tuple[float, float] | None
    #: A `fastcmp.kernels.Status`; not ``OK`` where the differences have no spread.
    status: Any
    #: Which test, such as "alpaydin-f" or "blocked-t".
    test: str
    #: The same in words.
    title: str
    #: What the models are scored by: "score" where only differences are known.
    measure: str = "score"
    alternative: str = "two-sided"
    #: Number of folds that the estimate is made of.
    n_folds: int

    @property
    def distribution(self) -> str:
        """The reference distribution: "t", "F", "normal" or "chi2"."""
        return _DISTRIBUTIONS[self.test.rpartition("-")[2]]

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for what `estimate` estimates, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            `estimate` plus and minus a quantile, of t or of the normal distribution,
            times `standard_error`; NaN where that is 0. For "greater" `high` is
            infinite, for "less" `low`.

        Raises
        ------
        ValueError
            For a test that has no standard error (F and chi-square), and for a
            one-sided interval at a level that is not above one half.

        Examples
        --------
        >>> from fastcmp import kfold_t
        >>> low, high = kfold_t([0.02, 0.01, 0.03, 0.02]).confidence_interval()
        >>> round(low, 4), round(high, 4)
        (0.007, 0.033)
        """
        level = as_level(confidence_level, self.alternative)
        tail = (1 - level) / 2
        if self.distribution == "normal":
            quantile = -kernels.ndtri(tail)
        elif self.distribution == "t" and isinstance(self.df, int | float):
            quantile = -kernels.stdtrit(self.df, tail)
        else:
            raise ValueError(
                f"test {self.test!r} gives no interval: its statistic is no estimate "
                "divided by a standard error, as it is for the t and z tests"
            )
        error = np.asarray(self.standard_error, np.float64)
        spread = (quantile * np.where(error > 0.0, error, np.nan))[()]
        ends = self.estimate - spread, self.estimate + spread
        return ConfidenceInterval(*keep_side(ends, self.alternative, (-np.inf, np.inf)))

    def _shown(self) -> dict[str, Any]:
        df, df2 = self.df if isinstance(self.df, tuple) else (self.df, None)
        shown = {**self._fields(), "df": df, "df2": df2}
        return {**shown, "distribution": self.distribution, "better": self.better}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section; for arrays, what they hold.
        """
        if np.ndim(self.pvalue):
            text: tuple[str, ...] = (
                f"{np.size(self.pvalue)} tests, shape {np.shape(self.pvalue)}",
            )
            return [Section(title=f"{self.title} ({self.alternative})", text=text)]
        symbol = _SYMBOLS[self.distribution]
        text = (
            f"{symbol} = {self.statistic:.4g}{self._degrees()}, "
            f"p = {format_pvalue(self.pvalue)} ({_HYPOTHESES[self.alternative]})",
        )
        if not np.isnan(self.estimate):
            text = (self._effect(), *text)
        if self.status == kernels.DEGENERATE:
            text += ("the differences have no spread: p is a convention",)
        elif self.status == kernels.UNDEFINED:
            text += ("the differences have no spread: nothing measures the estimate, no answer",)
        return [Section(title=self.title, text=text)]

    def _degrees(self) -> str:
        if self.df is None:
            return ""
        pair = self.df if isinstance(self.df, tuple) else (self.df,)
        plural = "" if pair == (1,) else "s"
        shown = " and ".join(f"{df:.4g}" for df in pair)
        return f" with {shown} degree{plural} of freedom"

    def _effect(self) -> str:
        what = _ESTIMATES.get(self.test, "mean difference")
        effect = f"{what} (a minus b) {self.estimate:+.4f}"
        if self.distribution in {"t", "normal"} and self.standard_error > 0.0:
            low, high = self.confidence_interval()
            shown = format_interval(low, high, digits=4, sign="+")
            effect += f", {interval_name(0.95, self.alternative)} {shown}"
        return effect if self.n_folds == 1 else f"{effect}, {self.n_folds} folds"
