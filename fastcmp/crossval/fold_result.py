"""The record of a test on the folds of a resampling plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.report import Section, format_interval, format_pvalue, interval_name

_HYPOTHESES = {
    "two-sided": "against: a and b score alike",
    "greater": "against: a does not score above b",
    "less": "against: a does not score below b",
}
_ESTIMATES = {
    "dietterich-t": "first difference",
    "proportion-z": "difference of accuracies",
}
_SYMBOLS = {"t": "t", "f": "F", "z": "z"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FoldTestResult(Record):
    """A test of two models on the folds of a resampling plan.

    All numbers but the degrees of freedom are arrays of one shape where the data had
    leading axes.

    Notes
    -----
    Differences without spread have `status` ``DEGENERATE``. "Without spread" means that
    each lies within 1e-12 of what it should vary about, in units of the largest
    difference: scores are rounded. Where what is tested is 0 too, the statistic is 0
    and p is 1; else the statistic is infinite, with the sign of the estimate, and p is
    0, or 1 where it points against a one-sided alternative.
    """

    #: Student's t, Snedecor's F, a normal z or a chi-square, as `test` ends.
    statistic: Any
    pvalue: Any
    #: What is tested against zero: the mean difference, and for Dietterich's t the
    #: first difference; NaN for chi-square.
    estimate: Any
    #: ``statistic`` = `estimate` / `standard_error` for t and z; NaN for the others.
    standard_error: Any
    #: Degrees of freedom: a number for t and chi-square, a pair for F, None for z.
    df: float | tuple[float, float] | None
    #: A `fastcmp.kernels.Status`; ``DEGENERATE`` where the differences have no spread.
    status: Any
    #: Which test, such as "alpaydin-f" or "blocked-t".
    test: str
    #: The same in words.
    title: str
    alternative: str = "two-sided"
    #: Trained pairs of models whose differences make up the estimate.
    n_folds: int

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
            times `standard_error`. For "greater" `high` is infinite, for "less" `low`.

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
        if self._family == "z":
            quantile = -kernels.ndtri(tail)
        elif self._family == "t" and isinstance(self.df, int | float):
            quantile = -kernels.stdtrit(self.df, tail)
        else:
            message = (
                f"test {self.test!r} gives no interval: its statistic is no estimate "
                "divided by a standard error, as it is for the t and z tests"
            )
            raise ValueError(message)
        spread = quantile * self.standard_error
        ends = self.estimate - spread, self.estimate + spread
        return ConfidenceInterval(*keep_side(ends, self.alternative, (-np.inf, np.inf)))

    @property
    def _family(self) -> str:
        return self.test.rpartition("-")[2]

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
        symbol = _SYMBOLS.get(self._family, "chi-square")
        text = (
            f"{symbol} = {self.statistic:.4g}{self._degrees()}, "
            f"p = {format_pvalue(self.pvalue)} ({_HYPOTHESES[self.alternative]})",
        )
        if not np.isnan(self.estimate):
            text = (self._effect(), *text)
        if self.status == kernels.DEGENERATE:
            text += ("there is no spread to divide by: p is a convention",)
        return [Section(title=self.title, text=text)]

    def _degrees(self) -> str:
        if self.df is None:
            return ""
        pair = self.df if isinstance(self.df, tuple) else (self.df,)
        return f" with {' and '.join(f'{df:.4g}' for df in pair)} d.o.f."

    def _effect(self) -> str:
        what = _ESTIMATES.get(self.test, "mean difference")
        effect = f"{what} (a minus b) {self.estimate:+.4f}"
        if self._family in {"t", "z"}:
            low, high = self.confidence_interval()
            shown = format_interval(low, high, digits=4, sign="+")
            effect += f", {interval_name(0.95, self.alternative)} {shown}"
        return effect if self.n_folds == 1 else f"{effect}, {self.n_folds} folds"
