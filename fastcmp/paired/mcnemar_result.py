"""The record of McNemar's test, and its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.options import choose
from fastcmp.core.records import (
    ConfidenceInterval,
    Record,
    unwrap,
)
from fastcmp.core.report import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences, effect_sentence, outside_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INTERVALS = ("wald", "newcombe", "tango", "bonett-price")
_ODDS_INTERVALS = ("exact", "midp")
_HYPOTHESES = {
    "two-sided": "against: a and b are equally accurate",
    "greater": "against: a is not better than b",
    "less": "against: a is not worse than b",
}
METHOD_NAMES = {
    "midp": "mid-p",
    "exact": "exact conditional",
    "asymptotic": "asymptotic",
    "corrected": "continuity-corrected",
    "unconditional": "exact unconditional",
}


def _ratio(part: Any, whole: Any) -> Any:
    """Divide numbers or arrays; NaN or infinity for nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(part, whole)
    return quotient if np.ndim(quotient) else float(quotient)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class McNemarResult(Record):
    """McNemar's test of two models on the same samples.

    All numbers are arrays of one shape where the counts were.
    """

    #: McNemar's chi-square, (only_a - only_b)**2 / (only_a + only_b), for every
    #: method; with Edwards' correction for ``method="corrected"``.
    statistic: Any
    pvalue: Any
    #: A `fastcmp.kernels.Status`.
    status: Any
    #: Samples that only model a classified rightly.
    only_a: Any
    #: Samples that only model b classified rightly.
    only_b: Any
    #: Samples that both classified rightly; None where they were not given.
    both_right: Any = None
    #: Samples that both classified wrongly; None where they were not given.
    both_wrong: Any = None
    method: str
    alternative: str
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of a and of b that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()

    @property
    def n_samples(self) -> Any:
        """All samples; needs `both_right` and `both_wrong`."""
        self._need_concordant("n_samples")
        return self.both_right + self.only_a + self.only_b + self.both_wrong

    @property
    def table(self) -> NDArray[np.int64]:
        """The 2 x 2 table, shape (..., 2, 2): rows a right or wrong, columns b."""
        self._need_concordant("table")
        cells = [self.both_right, self.only_a, self.only_b, self.both_wrong]
        stacked = np.stack(np.broadcast_arrays(*cells), axis=-1)
        return stacked.reshape(*stacked.shape[:-1], 2, 2)

    @property
    def accuracy_a(self) -> Any:
        """Share of samples that model a classified rightly."""
        n = self.n_samples
        return _ratio(self.both_right + self.only_a, n)

    @property
    def accuracy_b(self) -> Any:
        """Share of samples that model b classified rightly."""
        n = self.n_samples
        return _ratio(self.both_right + self.only_b, n)

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        return _ratio(self.only_a - self.only_b, self.n_samples)

    @property
    def odds_ratio(self) -> Any:
        """Conditional odds ratio only_a / only_b; NaN without discordant samples."""
        return _ratio(self.only_a, self.only_b)

    @property
    def zscore(self) -> Any:
        """Root of the statistic with the sign of the difference."""
        root = np.sign(self.only_a - self.only_b) * np.sqrt(self.statistic)
        return root if np.ndim(root) else float(root)

    def _need_concordant(self, what: str) -> None:
        if self.both_right is None or self.both_wrong is None:
            message = (
                f"{what} needs all four counts: pass both_right= and both_wrong= to "
                "mcnemar_from_counts"
            )
            raise ValueError(message)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "newcombe"
    ) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"newcombe", "tango", "bonett-price", "wald"}
            Newcombe's method 10, Tango's score interval, Bonett and Price's adjusted
            Wald interval, or Wald's, which is too narrow for small samples.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; for "greater" `high` is 1, for "less" `low` is -1.

        Raises
        ------
        ValueError
            If an option is unknown, the level is not above one half for a one-sided
            interval, or the concordant counts were not given.

        Examples
        --------
        >>> from fastcmp import mcnemar_from_counts
        >>> result = mcnemar_from_counts(11, 1, both_right=9959, both_wrong=29)
        >>> low, high = result.confidence_interval(method="tango")
        >>> round(low, 6), round(high, 6)
        (0.000397, 0.00188)
        """
        from fastcmp.kernels.intervals import difference_interval_many

        method = choose(method, "method", _INTERVALS)
        level = as_level(confidence_level, self.alternative)
        options = (_INTERVALS.index(method), level)
        cells = self.table.reshape(-1, 4).T.copy()
        low, high = np.empty(cells.shape[1]), np.empty(cells.shape[1])
        right, a, b, wrong = cells
        difference_interval_many(right, a, b, wrong, options, low, high)
        ends = (unwrap(end, np.shape(self.pvalue)) for end in (low, high))
        return ConfidenceInterval(*keep_side(ends, self.alternative, (-1.0, 1.0)))

    def odds_ratio_interval(
        self, confidence_level: float = 0.95, method: str = "exact"
    ) -> ConfidenceInterval:
        """Interval for `odds_ratio`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"exact", "midp"}
            Clopper and Pearson's limits, or those of the mid-p test.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; 0 and infinity where nothing bounds them.

        Raises
        ------
        ValueError
            If an option is unknown, or the level is not above one half for a one-sided
            interval.

        Examples
        --------
        >>> from fastcmp import mcnemar_from_counts
        >>> low, high = mcnemar_from_counts(11, 1).odds_ratio_interval()
        >>> round(low, 2), round(high, 1)
        (1.6, 473.5)
        """
        from fastcmp import kernels

        method = choose(method, "method", _ODDS_INTERVALS)
        interval = getattr(kernels, f"odds_ratio_{method}_interval")
        level = as_level(confidence_level, self.alternative)
        a, b = np.ravel(self.only_a), np.ravel(self.only_b)
        ends = [interval(i, j, level) for i, j in zip(a, b, strict=True)]
        both = np.array(ends).reshape(-1, 2).T
        low, high = (unwrap(end, np.shape(self.pvalue)) for end in both)
        return ConfidenceInterval(
            *keep_side((low, high), self.alternative, (0.0, np.inf))
        )

    @property
    def effect(self) -> str:
        """One sentence that says which model did better, and how surely."""
        interval = self.confidence_interval()
        return effect_sentence(self.difference, interval, self.alternative)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        method = METHOD_NAMES[self.method]
        title = f"McNemar's test ({method}, {self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (f"{np.size(self.pvalue)} tests, shape {np.shape(self.pvalue)}",)
            return [Section(title=title, text=text)]
        text = (
            f"{self.only_a} samples only a is right on, {self.only_b} only b",
            f"chi-square = {self.statistic:.4g}, p = {format_pvalue(self.pvalue)} "
            f"({_HYPOTHESES[self.alternative]})",
        )
        if None not in (self.both_right, self.both_wrong) and self.n_samples:
            accuracies = (
                f"accuracy a {self.accuracy_a:.4f}, b {self.accuracy_b:.4f} on "
                f"{self.n_samples} samples"
            )
            outside = outside_sentences(self.n_outside, ("a", "b"), self.n_samples)
            text = (self.effect, accuracies, *text, *outside)
        text += dropped_sentences(self.n_missing, self.n_excluded)
        return [Section(title=title, text=text)]
