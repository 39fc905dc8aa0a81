"""The record of McNemar's test for samples in clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_level, keep_side
from fastcmp.core.options import choose
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences, effect_sentence, outside_sentences
from fastcmp.paired.bounded_margins import bounded_margins
from fastcmp.paired.cluster_variance import CLUSTER_WEIGHTED, SANDWICH, Units, leverage
from fastcmp.paired.clustered_tests import (
    ONLY_INTERVALS,
    bounded_units,
    estimate,
    interval,
    interval_of,
)
from fastcmp.paired.margin_result import margin_entries, margin_sentences
from fastcmp.paired.margin_statistics import Estimated
from fastcmp.paired.mcnemar_result import HYPOTHESES
from fastcmp.paired.sample_units import check_defined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions

    Ints = NDArray[np.int64]

#: What a method is called in print.
CLUSTERED_NAMES = {
    "cr2": "clusters, CR2",
    "cr0": "clusters, CR0",
    "cr1": "clusters, CR1",
    "cr3": "clusters, CR3",
    "obuchowski": "clusters, Obuchowski",
    "yang": "clusters, Yang, Sun and Hardin",
    "durkalski": "clusters, Durkalski",
    "cluster-weighted": "clusters of equal weight",
    "eliasziw": "clusters, Eliasziw and Donner",
    "mcnemar": "clusters ignored",
}
_INTERVALS = (*SANDWICH, "obuchowski", *ONLY_INTERVALS)
_FEW_DEGREES = 5
_FEW_CLUSTERS = 10
_LARGE_CLUSTER = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusteredMcNemarResult(Compared, Record):
    """A test of two models on the same samples, which come in clusters."""

    #: t of the difference for "cr0" to "cr3"; for other methods a chi-square, or z
    #: where the test is one-sided.
    statistic: float
    pvalue: float
    #: Degrees of freedom of t or chi-square; None for z.
    df: float | None
    #: A `fastcmp.kernels.Status`.
    status: int
    #: Samples of each unit that both, only a, only b, or none classified correctly,
    #: shape (U,). A unit is a cluster, or the part of it in a stratum.
    both_right: Ints
    only_a: Ints
    only_b: Ints
    both_wrong: Ints
    #: Cluster and stratum of each unit; None where there are no strata.
    cluster: Any = None
    stratum: Any = None
    #: What each stratum counts in the mean, shape (H,), and its name.
    stratum_weights: Any = None
    strata: tuple[str, ...] = ()
    method: str
    alternative: str
    #: Exact p-value if the sign of each cluster's sum of differences is turned round at
    #: random; None with strata, or where there are too many to work it out.
    signflip_pvalue: float | None = None
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of a and of b that are labels, but not of the truth.
    n_outside: tuple[int, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def distribution(self) -> str:
        """Where the p-value comes from: "t", "chi2" or "normal"."""
        if self.method in SANDWICH:
            return "t"
        return "chi2" if self.alternative == "two-sided" else "normal"

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def weighting(self) -> str:
        """What counts once in the accuracies that are compared.

        "samples"; for "durkalski" and "cluster-weighted" "clusters", and with strata
        "strata", as `stratum_weights` says.
        """
        if self.method in CLUSTER_WEIGHTED:
            return "clusters"
        return "strata" if self.strata else "samples"

    @property
    def table(self) -> Ints:
        """All samples, shape (2, 2): rows a right or wrong, columns b."""
        return np.asarray(self._cells().sum(axis=1)).reshape(2, 2)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.table.sum())

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self._units().n_clusters

    @property
    def largest_cluster(self) -> float:
        """Proportion of the samples that are in the largest cluster."""
        units = self._units()
        return float(units.cluster_sizes.max() / units.n)

    @property
    def effective_df(self) -> float:
        """How many independent clusters of one size, less one, know as much.

        Degrees of freedom of the CR2 variance, from the sizes of the clusters alone.
        """
        return leverage(self._units().cluster_sizes, "cr2")[1]

    @property
    def accuracy_a(self) -> float:
        """Proportion of samples that model a classified correctly, by `weighting`."""
        return self._accuracy(self.both_right + self.only_a)

    @property
    def accuracy_b(self) -> float:
        """Proportion of samples that model b classified correctly, by `weighting`."""
        return self._accuracy(self.both_right + self.only_b)

    @property
    def difference(self) -> float:
        """The accuracy of a minus that of b: positive where a is better."""
        return estimate(self._cells(), self._units(), self.method).difference

    @property
    def standard_error(self) -> float:
        """Standard error of `difference` by which the method divides it."""
        found = estimate(self._cells(), self._units(), self.method)
        return float(np.sqrt(found.variance))

    @property
    def design_effect(self) -> float:
        """Variance of the difference over that of as many independent samples.

        NaN where the latter is 0. The variance is that of the method for "cr0" to
        "cr3", and else CR2.
        """
        units = self._units()
        method = self.method if self.method in SANDWICH else "cr2"
        sums = (self.only_a - self.only_b).astype(np.float64)
        squares, alone = self.only_a + self.only_b, 0.0
        for place, sizes, weight in units.strata():
            n = sizes.sum()
            if n > 1:
                rest = squares[place].sum() - sums[place].sum() ** 2 / n
                alone += weight**2 * rest / (n * (n - 1))
        own = estimate(self._cells(), units, method).variance
        return float(own / alone) if alone > 0 else np.nan

    @property
    def cautions(self) -> tuple[str, ...]:
        """What makes this test doubtful, in sentences."""
        found = cluster_cautions(self._units(), self.method)
        if np.isnan(self.statistic):
            what = "the p-value is of the exact permutation test"
            if np.isnan(self.pvalue):
                what = "there is no test"
            found += (f"No variance was observed: {what}.",)
        return found

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str | None = None
    ) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : str, optional
            "cr2", "cr0", "cr1" or "cr3": Student's t and that standard error.
            "obuchowski": the normal distribution and CR1; "modified-obuchowski" and
            "score": those of Yang et al. (2012), the latter Tango's interval with the
            variance of Eliasziw and Donner. By default what goes with the test. Where
            clusters have equal weight there is one, "cluster-weighted": t of the
            clusters' differences.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; for "greater" `high` is 1, for "less" `low` is -1.

        Raises
        ------
        ValueError
            If an option is unknown, the level is not above one half for a one-sided
            interval, or the method is not defined for strata.

        References
        ----------
        .. [1] Z. Yang, X. Sun, J. W. Hardin, "Confidence intervals for the difference
           of marginal probabilities in clustered matched-pair binary data",
           Pharmaceutical Statistics 11 (2012) 386-393.

        Examples
        --------
        >>> from fastcmp import mcnemar_clustered_from_counts
        >>> cells = [3, 2, 1, 4], [0, 1, 0, 0], [1, 2, 1, 0], [0, 0, 2, 1]
        >>> result = mcnemar_clustered_from_counts(*cells)
        >>> low, high = result.confidence_interval(method="score")
        >>> round(low, 3), round(high, 3)
        (-0.417, 0.095)
        """
        level = as_level(confidence_level, self.alternative)
        weighted = self.method in CLUSTER_WEIGHTED
        known = ("cluster-weighted",) if weighted else _INTERVALS
        method = interval_of(self.method) if method is None else method
        method = choose(method, "method", known)
        if self.strata:
            check_defined(method, self._units(), self.strata)
        ends = interval(self._cells(), self._units(), method, level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (-1.0, 1.0)))

    @property
    def effect(self) -> str:
        """One sentence that says which model did better, and how surely."""
        interval = self.confidence_interval()
        return effect_sentence(self.difference, interval, self.alternative)

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin, by what clusters could hold at worst."""
        units = self._units()
        of = Estimated(
            self.difference,
            self.standard_error,
            n_samples=self.n_samples,
            pvalue=self.pvalue,
            alternative=self.alternative,
            measure=self.measure,
        )
        sums = (self.only_a - self.only_b).astype(np.float64)
        return bounded_margins([bounded_units(sums, units, self.method)], of, options, "clusters")

    def _cells(self) -> Ints:
        cells = (self.both_right, self.only_a, self.only_b, self.both_wrong)
        return np.stack(cells)

    def _units(self) -> Units:
        sizes = self._cells().sum(axis=0).astype(np.float64)
        return Units(sizes, self.cluster, self.stratum, self.stratum_weights)

    def _accuracy(self, right: Ints) -> float:
        units = self._units()
        if self.method in CLUSTER_WEIGHTED:
            return float((right / units.sizes).mean())
        if not self.strata:
            return float(right.sum() / units.n)
        return units.score(right.astype(np.float64))

    def _shown(self) -> dict[str, Any]:
        shown = {
            name: value
            for name, value in self._fields().items()
            if not isinstance(value, np.ndarray)
        }
        cells = dict(
            zip(
                ("both_right", "only_a", "only_b", "both_wrong"),
                self.table.ravel().tolist(),
                strict=True,
            )
        )
        names = (
            *("distribution", "measure", "better", "accuracy_a", "accuracy_b"),
            *("difference", "standard_error", "n_samples", "n_clusters"),
            *("largest_cluster", "effective_df", "design_effect", "cautions"),
        )
        shown |= cells | {name: getattr(self, name) for name in names}
        return shown | margin_entries(self.margins)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The effect, the test, the clusters, and what makes it doubtful.
        """
        title = f"McNemar's test ({CLUSTERED_NAMES[self.method]}, {self.alternative})"
        (_, only_a), (only_b, _) = self.table.tolist()
        each = {
            "clusters": ", each cluster counted once",
            "strata": ", by the weights of the strata",
        }.get(self.weighting, "")
        inside = f" in {len(self.strata)} strata" if self.strata else ""
        text = (
            self.effect,
            f"Accuracy of a {self.accuracy_a:.4f}, of b {self.accuracy_b:.4f}, on "
            f"{self.n_samples} samples in {self.n_clusters} clusters{inside}{each}.",
            f"Only a is right on {only_a} samples, only b on {only_b}.",
            f"{_describe(self)} ({HYPOTHESES[self.alternative]})",
            *margin_sentences(self.margins),
            *self._flips(),
            *self._design(),
            *self.cautions,
            *outside_sentences(self.n_outside, ("a", "b"), self.n_samples),
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        return [Section(title=title, text=text)]

    def _flips(self) -> tuple[str, ...]:
        if self.signflip_pvalue is None:
            return ()
        return (f"Sign flips of clusters: p = {format_pvalue(self.signflip_pvalue)}",)

    def _design(self) -> tuple[str, ...]:
        if np.isnan(effect := self.design_effect):
            return ()
        return (
            f"Design effect {effect:.3g}: the variance over that of as many independent samples.",
        )


def cluster_cautions(units: Units, method: str) -> tuple[str, ...]:
    """Say what the number and sizes of clusters make of a test."""
    found = []
    if (effective := leverage(units.cluster_sizes, "cr2")[1]) < _FEW_DEGREES:
        found.append(
            f"The {units.n_clusters} clusters are worth {effective:.1f} degrees of "
            "freedom: too few for a test to rely on."
        )
    if (largest := units.cluster_sizes.max() / units.n) > _LARGE_CLUSTER:
        found.append(
            f"One cluster holds {100 * largest:.0f}% of the samples: the result is largely its own."
        )
    if method == "obuchowski" and units.n_clusters <= _FEW_CLUSTERS:
        found.append(f"With {units.n_clusters} clusters Obuchowski's test rarely rejects.")
    if method == "mcnemar":
        found.append(
            "Clusters are ignored: where samples of a cluster are alike, equal models "
            "are found different far too often."
        )
    return tuple(found)


def _describe(result: ClusteredMcNemarResult) -> str:
    """Write the statistic and the p-value."""
    name = {"chi2": "chi-square", "normal": "z", "t": "t"}[result.distribution]
    if np.isnan(result.statistic):
        return f"p = {format_pvalue(result.pvalue)}"
    degrees = f" with {result.df:.4g} d.o.f." if result.distribution == "t" else ""
    return f"{name} = {result.statistic:.4g}{degrees}, p = {format_pvalue(result.pvalue)}"
