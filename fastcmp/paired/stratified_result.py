"""The record of McNemar's test for samples in strata."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences, effect_sentence, outside_sentences
from fastcmp.paired.bounded_margins import BoundedUnits, bounded_interval, bounded_margins
from fastcmp.paired.cluster_variance import combine
from fastcmp.paired.clustered_tests import quantile
from fastcmp.paired.margin_result import margin_entries, margin_sentences
from fastcmp.paired.margin_statistics import Estimated
from fastcmp.paired.mcnemar_result import (
    HYPOTHESES,
    METHOD_NAMES,
    McNemarResult,
    describe_test,
    reference_distribution,
)
from fastcmp.paired.stratified_tests import (
    any_difference,
    exact_heterogeneity,
    heterogeneity,
    stratum_units,
    weighted_z,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions

    Ints = NDArray[np.int64]

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StratifiedMcNemarResult(Compared, Record):
    """A test of two models on the same samples, which are in strata."""

    #: As in `McNemarResult` of all samples. Where strata have weights: z squared, z
    #: where the test is one-sided, and for "exact" and "midp" the weighted sum of
    #: `only_a` - `only_b`.
    statistic: float
    pvalue: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: Samples of each stratum that only a, only b classified correctly, shape (H,).
    only_a: Ints
    only_b: Ints
    #: Samples that both, or none, classified correctly; None where not given.
    both_right: Any = None
    both_wrong: Any = None
    #: What one sample of each stratum counts, shape (H,); None where all count alike.
    weights: Any = None
    strata: tuple[str, ...]
    method: str
    alternative: str
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of a and of b that are labels, but not of the truth.
    n_outside: tuple[int, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def distribution(self) -> str:
        """Where the p-value comes from, such as "binomial", "chi2", "permutation"."""
        if self.weights is not None and self.method in ("exact", "midp"):
            return "permutation"
        return reference_distribution(self.method, self.alternative)[0]

    @property
    def df(self) -> int | None:
        """Degrees of freedom of the chi-square distribution, else None."""
        return 1 if self.distribution == "chi2" else None

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def zscore(self) -> float:
        """The weighted sum of differences over its standard error under H0."""
        weights = np.ones(self.only_a.size) if self.weights is None else self.weights
        return weighted_z(self.only_a.astype(np.float64), self.only_b.astype(np.float64), weights)

    @property
    def odds_ratio(self) -> float:
        """Odds ratio that strata share, sum of `only_a` over that of `only_b`.

        Mantel and Haenszel's estimate, without weights.
        """
        return self._pooled().odds_ratio  # type: ignore[no-any-return]

    @property
    def heterogeneity_statistic(self) -> float:
        """Pearson's chi-square that strata differ in the odds of only a to only b."""
        return heterogeneity(self.only_a, self.only_b)[0]

    @property
    def heterogeneity_df(self) -> int:
        """Its degrees of freedom: strata with discordant samples, less one."""
        return heterogeneity(self.only_a, self.only_b)[1]

    @property
    def heterogeneity_pvalue(self) -> float:
        """Its p-value."""
        return heterogeneity(self.only_a, self.only_b)[2]

    @property
    def total_statistic(self) -> float:
        """McNemar's chi-squares of all strata added: any difference in any stratum."""
        return any_difference(self.only_a, self.only_b)[0]

    @property
    def total_df(self) -> int:
        """Its degrees of freedom: strata with discordant samples."""
        return any_difference(self.only_a, self.only_b)[1]

    @property
    def total_pvalue(self) -> float:
        """Its p-value."""
        return any_difference(self.only_a, self.only_b)[2]

    def heterogeneity_exact(self) -> float:
        """Test by Fisher's exact method that strata share one odds ratio.

        Returns
        -------
        float
            The p-value: all tables with the same margins that are no more probable
            than the one observed (Freeman and Halton).

        Raises
        ------
        ValueError
            If there are too many tables.

        Examples
        --------
        >>> from fastcmp import mcnemar_stratified_from_counts
        >>> result = mcnemar_stratified_from_counts([6, 3, 9], [2, 4, 1])
        >>> round(result.heterogeneity_exact(), 4)
        0.1274
        """
        return exact_heterogeneity(self.only_a, self.only_b)

    @property
    def n_samples(self) -> int:
        """All samples; needs `both_right` and `both_wrong`."""
        return int(self._sizes().sum())

    @property
    def accuracy_a(self) -> float:
        """Accuracy of a, strata weighted by what their samples count."""
        return self._weighted(self.only_a, both=True)

    @property
    def accuracy_b(self) -> float:
        """Accuracy of b, strata weighted by what their samples count."""
        return self._weighted(self.only_b, both=True)

    @property
    def difference(self) -> float:
        """The accuracy of a minus that of b: positive where a is better."""
        return self._weighted(self.only_a - self.only_b, both=False)

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        return {1: "a", -1: "b"}.get(int(np.sign(self.zscore)))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Newcombe's where all samples count alike. With weights Student's t: variances of
        the strata are added, and so are, by Satterthwaite, their degrees of freedom; where
        nothing varies within strata, Gaffke's for differences between -1 and 1.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; for "greater" `high` is 1, for "less" `low` is -1.

        Raises
        ------
        ValueError
            If the level is not in (0, 1), or not above one half for a one-sided
            interval, concordant counts were not given, or a stratum that counts has one
            sample.

        Examples
        --------
        >>> from fastcmp import mcnemar_stratified_from_counts
        >>> result = mcnemar_stratified_from_counts(
        ...     [8, 1], [3, 4], weights=[1, 3], both_right=[30, 9], both_wrong=[9, 6]
        ... )
        >>> low, high = result.confidence_interval()
        >>> round(low, 3), round(high, 3)
        (-0.173, 0.1)
        """
        if self.weights is None:
            return self._pooled().confidence_interval(confidence_level)
        level = as_level(confidence_level, self.alternative)
        variance, df = self._variance()
        half = float(quantile(level, df) * np.sqrt(variance))
        ends: Any = (self.difference - half, self.difference + half)
        if variance == 0.0:
            ends = np.ravel(bounded_interval(self._bounded(), level))
        low, high = np.clip(ends, -1.0, 1.0).tolist()
        sided = keep_side((low, high), self.alternative, (-1.0, 1.0))
        return ConfidenceInterval(*sided)

    @property
    def effect(self) -> str:
        """One sentence that says which model did better, and how surely."""
        interval = self.confidence_interval()
        return effect_sentence(self.difference, interval, self.alternative)

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin."""
        if self.weights is None:
            return self._pooled()._margin_tests(options)
        of = Estimated(
            self.difference,
            math.sqrt(self._variance()[0]),
            n_samples=self.n_samples,
            pvalue=self.pvalue,
            alternative=self.alternative,
            measure=self.measure,
        )
        return bounded_margins([self._bounded()], of, options, "samples")

    def _bounded(self) -> BoundedUnits:
        """Count samples of each stratum by the difference of a and b."""
        return stratum_units(self.only_a, self.only_b, self._sizes(), self.weights)

    def _variance(self) -> tuple[float, float]:
        """Estimate the variance of the weighted difference, with its d.o.f."""
        sizes = self._sizes().astype(np.float64)
        part = self.weights * sizes / (self.weights @ sizes)
        if np.any((sizes < 2) & (part > 0)):
            raise ValueError("an interval needs at least 2 samples in each stratum")
        mean = (self.only_a - self.only_b) / sizes
        spread = (self.only_a + self.only_b) / sizes - mean**2
        parts = part**2 * spread / np.maximum(sizes - 1, 1)
        variance, df = combine(parts, np.maximum(sizes - 1, 1))
        return float(variance), float(df)

    def _sizes(self) -> Ints:
        if self.both_right is None or self.both_wrong is None:
            raise ValueError(
                "this needs all four counts: pass both_right= and both_wrong= to "
                "mcnemar_stratified_from_counts"
            )
        sizes: Ints = self.both_right + self.only_a + self.only_b + self.both_wrong
        return sizes

    def _weighted(self, counts: Ints, *, both: bool) -> float:
        sizes = self._sizes()
        weights = np.ones(sizes.size) if self.weights is None else self.weights
        counts = counts + self.both_right if both else counts
        return float(weights @ counts / (weights @ sizes))

    def _pooled(self) -> McNemarResult:
        cells: dict[str, Any] = {"only_a": self.only_a, "only_b": self.only_b}
        if self.both_right is not None and self.both_wrong is not None:
            cells |= {"both_right": self.both_right, "both_wrong": self.both_wrong}
        totals: dict[str, Any] = {name: int(x.sum()) for name, x in cells.items()}
        return McNemarResult(
            statistic=self.statistic,
            pvalue=self.pvalue,
            status=self.status,
            **totals,
            method=self.method,
            alternative=self.alternative,
        )

    def _shown(self) -> dict[str, Any]:
        names: tuple[str, ...] = (
            *("distribution", "df", "zscore", "odds_ratio", "heterogeneity_statistic"),
            *("heterogeneity_df", "heterogeneity_pvalue", "total_statistic"),
            *("total_df", "total_pvalue", "measure", "better"),
        )
        if self.both_right is not None and self.both_wrong is not None:
            names += ("accuracy_a", "accuracy_b", "difference", "n_samples")
        shown = self._fields() | {name: getattr(self, name) for name in names}
        return shown | margin_entries(self.margins)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, whether strata agree, and the strata.
        """
        weighted = "" if self.weights is None else ", weighted strata"
        name = METHOD_NAMES[self.method]
        text: tuple[str, ...] = (
            f"{describe_test(self)} ({HYPOTHESES[self.alternative]})",
            *margin_sentences(self.margins),
            f"Do strata agree? chi-square = {self.heterogeneity_statistic:.4g} with "
            f"{self.heterogeneity_df} d.o.f., p = "
            f"{format_pvalue(self.heterogeneity_pvalue)}. Any difference in any "
            f"stratum: chi-square = {self.total_statistic:.4g} with {self.total_df} "
            f"d.o.f., p = {format_pvalue(self.total_pvalue)}.",
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        if self.both_right is not None and self.both_wrong is not None:
            accuracies = (
                f"Accuracy of a {self.accuracy_a:.4f}, of b {self.accuracy_b:.4f}, on "
                f"{self.n_samples} samples in {len(self.strata)} strata{weighted}."
            )
            outside = outside_sentences(self.n_outside, ("a", "b"), self.n_samples)
            effect = () if self._without_interval() else (self.effect,)
            text = (*effect, accuracies, *text, *outside)
        left = len(self.strata) - _SHOWN
        table = Section(
            title="Strata",
            columns=("stratum", "only a right", "only b right"),
            rows=tuple(
                (stratum, str(a), str(b))
                for stratum, a, b in zip(
                    self.strata[:_SHOWN],
                    self.only_a.tolist(),
                    self.only_b.tolist(),
                    strict=False,
                )
            ),
            notes=(f"... and {left} more strata.",) if left > 0 else (),
        )
        title = f"McNemar's test in strata ({name}{weighted}, {self.alternative})"
        return [Section(title=title, text=text), table]

    def _without_interval(self) -> bool:
        """Tell whether a stratum that counts is too small for an interval."""
        small = self._sizes() < 2
        return self.weights is not None and bool(np.any(small & (self.weights > 0)))
