"""The record of McNemar's test, and its intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_level, choose, keep_side
from fastcmp.core.records import Compared, ConfidenceInterval, Pilot, Record, unwrap
from fastcmp.core.sections import (
    Section,
    dropped_sentences,
    effect_sentence,
    format_pvalue,
    outside_sentences,
)
from fastcmp.kernels.intervals import difference_interval_many
from fastcmp.kernels.paired import mcnemar_many
from fastcmp.paired.accuracy_margins import accuracy_margins
from fastcmp.paired.margin_result import MarginTests, margin_entries, margin_sentences
from fastcmp.paired.margins import MarginOptions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statuses = NDArray[np.uint8]

#: In the order of the kernel's codes; the last is no kernel.
DIFFERENCE_INTERVALS = ("wald", "newcombe", "tango", "bonett-price", "agresti-min")


def difference_intervals(
    cells: Iterable[NDArray[Any]], method: str, confidence_level: float
) -> tuple[Floats, Floats]:
    """Compute both ends from counts: both right, only a, only b, both wrong."""
    right, only_a, only_b, wrong = cells
    if method == "agresti-min":  # Wald's interval with half a sample more in each cell
        n = right + only_a + only_b + wrong + 2.0
        difference, discordant = (only_a - only_b) / n, (only_a + only_b + 1.0) / n
        spread = np.sqrt((discordant - difference**2) / n)
        half = -ndtri(0.5 * (1.0 - confidence_level)) * spread
        least = np.minimum(np.minimum(right, wrong), np.minimum(only_a, only_b))
        half[(n <= 2.0) | (least < 0)] = np.nan
        return np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0)
    low, high = np.empty((2, only_a.size))
    code = DIFFERENCE_INTERVALS.index(method)
    difference_interval_many(right, only_a, only_b, wrong, code, confidence_level, low, high)
    return low, high


# The record of McNemar's test, and its intervals.


_ODDS_INTERVALS = ("exact", "midp")
#: What is tested, by `alternative`.
HYPOTHESES = {
    "two-sided": "H0: a and b are equally accurate",
    "greater": "H0: a is not better than b",
    "less": "H0: a is not worse than b",
}
METHOD_NAMES = {
    "midp": "mid-p",
    "exact": "exact conditional",
    "asymptotic": "asymptotic",
    "corrected": "continuity-corrected",
    "unconditional": "exact unconditional",
}


def reference_distribution(method: str, alternative: str = "two-sided") -> tuple[str, int | None]:
    """Name the distribution that the p-value comes from, and its degrees of freedom."""
    if method in ("exact", "midp"):
        return "binomial", None
    if method == "unconditional":
        return "trinomial", None
    return ("chi2", 1) if alternative == "two-sided" else ("normal", None)


def _ratio(part: Any, whole: Any) -> Any:
    """Divide numbers or arrays; NaN or infinity for nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(part, whole)
    return quotient if np.ndim(quotient) else float(quotient)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class McNemarResult(Pilot, Compared, Record):
    """McNemar's test of two models on the same samples.

    All numbers are arrays of one shape where the counts were.
    """

    #: For "exact" and "midp" the smaller of `only_a` and `only_b`, or the one of them
    #: that a one-sided test bounds: `only_b` for "greater", `only_a` for "less". For
    #: other methods McNemar's chi-square, (only_a - only_b)**2 / (only_a + only_b), or
    #: `zscore` where the test is one-sided; "corrected" has Edwards' correction.
    statistic: Any
    pvalue: Any
    #: A `fastcmp.kernels.Status`.
    status: Any
    #: Samples that only model a classified correctly.
    only_a: Any
    #: Samples that only model b classified correctly.
    only_b: Any
    #: Samples that both classified correctly; None where they were not given.
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
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def distribution(self) -> str:
        """Where the p-value comes from: "binomial", "chi2", "normal" or "trinomial"."""
        return reference_distribution(self.method, self.alternative)[0]

    @property
    def df(self) -> int | None:
        """Degrees of freedom of the chi-square distribution, else None."""
        return reference_distribution(self.method, self.alternative)[1]

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        names = np.array([None, "a", "b"], dtype=object)
        return names[np.sign(self.only_a - self.only_b)]

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
        """Proportion of samples that model a classified correctly."""
        n = self.n_samples
        return _ratio(self.both_right + self.only_a, n)

    @property
    def accuracy_b(self) -> Any:
        """Proportion of samples that model b classified correctly."""
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
        """Root of the chi-square, with the sign of the difference."""
        gain = np.subtract(self.only_a, self.only_b)
        correction = 1.0 if self.method == "corrected" else 0.0
        distance = np.maximum(np.abs(gain) - correction, 0.0)
        n = np.maximum(self.only_a + self.only_b, 1)  # without any, z is 0
        root = np.sign(gain) * np.sqrt(distance * distance / n) + 0.0
        return root if np.ndim(root) else float(root)

    def _need_concordant(self, what: str) -> None:
        if self.both_right is None or self.both_wrong is None:
            raise ValueError(
                f"{what} needs all four counts: pass both_right= and both_wrong= to "
                "mcnemar_from_counts"
            )

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "newcombe"
    ) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"newcombe", "tango", "bonett-price", "agresti-min", "wald"}
            Newcombe's method 10, Tango's score interval, Wald's with a sample more in each
            discordant cell (Bonett and Price) or half a sample more in each cell (Agresti
            and Min), or Wald's, which is too narrow for small samples.

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
        method = choose(method, "method", DIFFERENCE_INTERVALS)
        level = as_level(confidence_level, self.alternative)
        cells = self.table.reshape(-1, 4).T.copy()
        found = difference_intervals(cells, method, level)
        ends = (unwrap(end, np.shape(self.pvalue)) for end in found)
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
        return ConfidenceInterval(*keep_side((low, high), self.alternative, (0.0, np.inf)))

    @property
    def effect(self) -> str:
        """One sentence that says which model did better, and how surely."""
        interval = self.confidence_interval()
        return effect_sentence(self.difference, interval, self.alternative)

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin."""
        return accuracy_margins(
            (self.only_a, self.only_b, self.n_samples),
            options,
            pvalue=self.pvalue,
            alternative=self.alternative,
        )

    def _shown(self) -> dict[str, Any]:
        shown = {
            **self._fields(),
            "distribution": self.distribution,
            "df": self.df,
            "measure": self.measure,
            "better": self.better,
            **margin_entries(self.margins),
        }
        if self.both_right is not None and self.both_wrong is not None:
            for name in ("accuracy_a", "accuracy_b", "difference"):
                shown[name] = getattr(self, name)
        return shown

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
            text += margin_sentences(self.margins)
            return [Section(title=title, text=text)]
        text = (
            f"Only a is right on {self.only_a} samples, only b on {self.only_b}.",
            f"{describe_test(self)} ({HYPOTHESES[self.alternative]})",
        )
        if None not in (self.both_right, self.both_wrong) and self.n_samples:
            accuracies = (
                f"Accuracy of a {self.accuracy_a:.4f}, of b {self.accuracy_b:.4f}, on "
                f"{self.n_samples} samples."
            )
            outside = outside_sentences(self.n_outside, ("a", "b"), self.n_samples)
            text = (self.effect, accuracies, *text, *outside)
        text += margin_sentences(self.margins)
        text += dropped_sentences(self.n_missing, self.n_excluded)
        return [Section(title=title, text=text)]


def describe_test(result: Any) -> str:
    """Write the p-value of a single test, and a statistic that is not a count."""
    names = {"chi2": "chi-square", "normal": "z"}
    shown = f"p = {format_pvalue(result.pvalue)}"
    if result.distribution not in names:
        return shown
    return f"{names[result.distribution]} = {result.statistic:.4g}, {shown}"


# McNemar's test of many pairs of counts.


#: Codes of the methods for `mcnemar_many`.
CODES = {
    "midp": kernels.MIDP,
    "exact": kernels.EXACT,
    "asymptotic": kernels.ASYMPTOTIC,
    "corrected": kernels.CORRECTED,
}
METHODS = (*CODES, "unconditional")
_UNCONDITIONAL_WORK = 400_000_000  # samples of all tables: one or two minutes


def evaluate_counts(
    only_a: Ints, only_b: Ints, n: Ints | np.int64 | None, method: str, alternative: str
) -> tuple[Floats, Floats, Statuses]:
    """Results of McNemar's tests of many pairs of checked counts.

    All arrays have the shape (P,); only the unconditional test needs `n`, all samples.
    """
    tail = ALTERNATIVES[alternative]
    if method == "unconditional":
        chi_square, pvalue, status = _unconditional(only_a, only_b, n, tail)
    else:
        chi_square, pvalue = np.empty(only_a.size), np.empty(only_a.size)
        status = np.empty(only_a.size, np.uint8)
        mcnemar_many(only_a, only_b, CODES[method], tail, chi_square, pvalue, status)
    statistic = reference_statistic(only_a, only_b, chi_square, method, alternative)
    return statistic, pvalue, status


def reference_statistic(
    only_a: Ints, only_b: Ints, chi_square: Floats, method: str, alternative: str = "two-sided"
) -> Floats:
    """Give what `reference_distribution` is the distribution of, for each pair.

    Binomial tests: a count. The others: the chi-square, or z where they are one-sided.
    """
    if method in ("exact", "midp"):
        count = {"greater": only_b, "less": only_a}.get(alternative)
        smaller = np.minimum(only_a, only_b) if count is None else count
        return smaller.astype(np.float64)
    if alternative == "two-sided":
        return chi_square
    signed: Floats = np.sign(only_a - only_b) * np.sqrt(chi_square)
    return signed + 0.0  # no -0


def _unconditional(
    only_a: Ints, only_b: Ints, n: Ints | np.int64 | None, tail: int
) -> tuple[Floats, Floats, Statuses]:
    if n is None:
        raise ValueError("method='unconditional' needs both_right and both_wrong")
    if n.size and n.max() > kernels.UNCONDITIONAL_MAX_N:
        raise ValueError(
            f"method='unconditional' takes at most {kernels.UNCONDITIONAL_MAX_N} "
            f"samples, got {n.max()}: use method='midp', which is close at that size"
        )
    # A table takes up to a second: each different one is tested once.
    tables = np.stack(np.broadcast_arrays(only_a, only_b, n), axis=1)
    distinct, where = np.unique(tables, axis=0, return_inverse=True)
    if distinct[:, 2].sum() > _UNCONDITIONAL_WORK:
        raise ValueError(
            f"method='unconditional' takes too long for {len(distinct)} different "
            f"tables of {distinct[:, 2].max()} samples: use method='midp', which is "
            "close at that size"
        )
    outcomes = [kernels.mcnemar_unconditional(a, b, m, tail) for a, b, m in distinct]
    statistic, pvalue, status = np.array(outcomes).reshape(-1, 3)[where.ravel()].T
    return statistic.copy(), pvalue.copy(), status.astype(np.uint8)
