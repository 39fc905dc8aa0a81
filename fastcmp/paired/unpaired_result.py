"""The record of two accuracies on different samples, and its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.options import choose
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences, effect_sentence
from fastcmp.paired.margin_result import margin_entries, margin_sentences
from fastcmp.paired.mcnemar_result import HYPOTHESES, describe_test
from fastcmp.paired.unpaired_margins import unpaired_margins
from fastcmp.paired.unpaired_tests import (
    EXACT,
    INTERVALS,
    interval_of,
    odds_ratio_interval_of,
    ratio_interval_of,
)

if TYPE_CHECKING:
    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions

_UNEVEN = 100_000  # tables of two sets of uneven sizes that are enumerated for a margin
METHOD_NAMES: Final = {
    "score": "score",
    "miettinen-nurminen": "Miettinen and Nurminen's score",
    "boschloo": "Boschloo's exact",
    "barnard": "Barnard's exact",
    "barnard-unpooled": "Barnard's exact unpooled",
}


def _divide(a: Any, b: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(a, np.float64) / np.asarray(b, np.float64)
    return ratio if ratio.ndim else ratio.item()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedResult(Compared, Record):
    """A test of two accuracies from different samples.

    All numbers are arrays of one shape where the counts were.
    """

    #: The difference, less that of H0, in standard errors under H0; 0 where there is
    #: none. For "boschloo" Fisher's p-value.
    statistic: Any
    pvalue: Any
    #: A `fastcmp.kernels.Status`.
    status: Any = 0
    #: Samples that each model classified correctly, of all that it was tested on.
    correct_a: Any
    n_a: Any
    correct_b: Any
    n_b: Any
    method: str = "score"
    alternative: str
    #: The accuracy of a minus that of b under H0.
    null_difference: Any = 0.0
    #: How an exact test is two-sided: "ordering" or "doubled".
    two_sided: str = "ordering"
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "normal", or "binomial" of exact tests."""
        return "binomial" if self.method in EXACT else "normal"

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def accuracy_a(self) -> Any:
        """Proportion of its samples that model a classified correctly."""
        return self.correct_a / self.n_a

    @property
    def accuracy_b(self) -> Any:
        """Proportion of its samples that model b classified correctly."""
        return self.correct_b / self.n_b

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        return self.accuracy_a - self.accuracy_b

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str | None = None
    ) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"newcombe", "miettinen-nurminen", "exact"}, optional
            Newcombe's hybrid of two Wilson intervals, by default for the test "score";
            Miettinen and Nurminen's, the differences that their test does not reject,
            by default for all other tests; or Chan and Zhang's, which inverts an exact
            test and takes up to a second for 1,000 samples.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; for "greater" `high` is 1, for "less" `low` is -1.

        Raises
        ------
        ValueError
            If an option is unknown, the level is not above one half for a one-sided
            interval, or there are more than 5,000 samples for "exact".

        References
        ----------
        .. [1] R. G. Newcombe, "Interval estimation for the difference between
           independent proportions: comparison of eleven methods", Statistics in
           Medicine 17 (1998) 873-890, method 10.
        .. [2] O. Miettinen, M. Nurminen, "Comparative analysis of two rates",
           Statistics in Medicine 4 (1985) 213-226.
        .. [3] I. S. F. Chan, Z. Zhang, "Test-based exact confidence intervals for the
           difference of two binomial proportions", Biometrics 55 (1999) 1202-1209.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired_from_counts
        >>> result = accuracy_unpaired_from_counts(56, 70, 48, 80)
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (0.0524, 0.3339)
        >>> low, high = result.confidence_interval(method="miettinen-nurminen")
        >>> round(low, 4), round(high, 4)
        (0.0528, 0.3382)
        """
        chosen = choose(method, "method", (*INTERVALS, None))
        if chosen is None:
            chosen = INTERVALS[self.method != "score"]
        level = as_level(confidence_level, self.alternative)
        counts = np.broadcast_arrays(self.correct_a, self.n_a, self.correct_b, self.n_b)
        ends = interval_of(np.array(counts), chosen, level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (-1.0, 1.0)))

    @property
    def ratio(self) -> Any:
        """The accuracy of a over that of b, the relative risk of being right; 0 / 0 is NaN."""
        return _divide(self.accuracy_a, self.accuracy_b)

    @property
    def odds_ratio(self) -> Any:
        """The odds of a to be right over those of b; 0 / 0 is NaN."""
        wrong_a, wrong_b = (np.subtract(self.n_a, self.correct_a), self.n_b - self.correct_b)
        return _divide(
            np.multiply(self.correct_a, 1.0) * wrong_b, np.multiply(self.correct_b, 1.0) * wrong_a
        )

    def ratio_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `ratio`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            The ratios that Miettinen and Nurminen's score test does not reject
            (Koopman's with a correction). `low` is 0 where a is never right, `high` is
            infinite where b never is, and both where neither is.

        References
        ----------
        .. [1] P. A. R. Koopman, "Confidence intervals for the ratio of two binomial
           proportions", Biometrics 40 (1984) 513-517.
        .. [2] O. Miettinen, M. Nurminen, "Comparative analysis of two rates",
           Statistics in Medicine 4 (1985) 213-226.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired_from_counts
        >>> result = accuracy_unpaired_from_counts(56, 70, 48, 80)
        >>> low, high = result.ratio_interval()
        >>> round(result.ratio, 4), round(low, 4), round(high, 4)
        (1.3333, 1.079, 1.6721)
        """
        level = as_level(confidence_level, self.alternative)
        counts = np.broadcast_arrays(self.correct_a, self.n_a, self.correct_b, self.n_b)
        ends = ratio_interval_of(np.array(counts), level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (0.0, np.inf)))

    def odds_ratio_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Exact interval for the odds ratio, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Cornfield's exact interval given the margins of the table, as SciPy's
            ``odds_ratio(kind="conditional")`` has it.

        References
        ----------
        .. [1] J. Cornfield, "A statistical problem arising from retrospective studies",
           Proceedings of the Third Berkeley Symposium 4 (1956) 135-148.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired_from_counts
        >>> result = accuracy_unpaired_from_counts(56, 70, 48, 80)
        >>> low, high = result.odds_ratio_interval()
        >>> round(result.odds_ratio, 4), round(low, 4), round(high, 4)
        (2.6667, 1.2091, 6.0399)
        """
        level = as_level(confidence_level, self.alternative)
        counts = np.broadcast_arrays(self.correct_a, self.n_a, self.correct_b, self.n_b)
        ends = odds_ratio_interval_of(np.array(counts), level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (0.0, np.inf)))

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin."""
        # With sets of very different sizes, the smaller one small, score tests find a
        # model that is worse by the margin not worse in up to 10% of samples.
        sizes = np.sort([np.max(self.n_a), np.max(self.n_b)])
        uneven = sizes[1] > 4 * sizes[0] and sizes.prod() <= _UNEVEN
        return unpaired_margins(
            (self.correct_a, self.n_a, self.correct_b, self.n_b),
            options,
            exact=self.method in EXACT or bool(uneven and not np.ndim(self.pvalue)),
            pvalue=None if np.any(self.null_difference) else self.pvalue,
            alternative=self.alternative,
        )

    def _shown(self) -> dict[str, Any]:
        derived = (
            *("accuracy_a", "accuracy_b", "difference", "ratio", "odds_ratio"),
            *("measure", "better", "distribution"),
        )
        shown = {**self._fields(), **{name: getattr(self, name) for name in derived}}
        return shown | margin_entries(self.margins)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        name = METHOD_NAMES[self.method]
        title = f"Two accuracies on different samples ({name} test, {self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (f"{np.size(self.pvalue)} tests, shape {np.shape(self.pvalue)}",)
            text += margin_sentences(self.margins)
            return [Section(title=title, text=text)]
        text = (
            effect_sentence(self.difference, self.confidence_interval(), self.alternative),
            f"Accuracy of a {self.accuracy_a:.4f} on {self.n_a} samples, "
            f"of b {self.accuracy_b:.4f} on {self.n_b}.",
            f"{describe_test(self)} ({self._hypothesis})",
            *margin_sentences(self.margins),
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        return [Section(title=title, text=text)]

    @property
    def _hypothesis(self) -> str:
        """What is tested."""
        if not self.null_difference:
            return HYPOTHESES[self.alternative]
        relation = {"two-sided": "is", "greater": "is at most", "less": "is at least"}
        points = f"{100 * self.null_difference:+.4g} percentage points"
        return f"H0: a minus b {relation[self.alternative]} {points}"
