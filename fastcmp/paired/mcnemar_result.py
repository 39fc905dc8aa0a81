"""The record of McNemar's test, of samples, clusters or strata, and its intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_level, choose, keep_side
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_interval
from fastcmp.core.records import Compared, ConfidenceInterval, Pilot, Record, unwrap
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import (
    EQUALLY_ACCURATE,
    dropped_sentences,
    effect_sentence,
    outside_sentences,
    sentence_of_test,
    several_tests,
    with_pvalue,
)
from fastcmp.core.typing import Ints, Numbers
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import (
    BoundedUnits,
    Estimated,
    MarginOptions,
    accuracy_margins,
    bounded_interval,
    bounded_margins,
    stratum_units,
)
from fastcmp.paired.mcnemar_counts import (
    CELLS,
    DIFFERENCE_INTERVALS,
    METHOD_NAMES,
    any_difference,
    difference_intervals,
    exact_heterogeneity,
    heterogeneity,
    reference_distribution,
    weighted_z,
)
from fastcmp.paired.units import (
    CLUSTER_WEIGHTED,
    CLUSTERED,
    CLUSTERED_NAMES,
    INTERVAL_OF,
    INTERVALS,
    SANDWICH,
    Estimate,
    Units,
    bounded_units,
    check_defined,
    cluster_cautions,
    cluster_interval,
    combine,
    estimate,
    leverage,
)

Statuses = NDArray[np.uint8]

_OF_THE_INTERVAL = (
    "The 95% interval of the difference of accuracies is Newcombe's hybrid of two score "
    "intervals (method 10)."
)
#: What is shown of strata, of clusters, and not of samples.
_OF_STRATA = (
    *("heterogeneity_statistic", "heterogeneity_df", "heterogeneity_pvalue"),
    *("total_statistic", "total_df", "total_pvalue"),
)
_OF_CLUSTERS = (
    *("standard_error", "n_clusters", "largest_cluster", "effective_df", "design_effect"),
    "cautions",
)
_OF_UNITS = ("cluster", "stratum", "stratum_weights", "weights", "strata", "signflip_pvalue")


def ratio(part: Numbers, whole: Numbers) -> Any:
    """A quotient of numbers or arrays; NaN or infinity over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(part, whole)
    return quotient if np.ndim(quotient) else float(quotient)


def _of_strata(test: Callable[[Ints, Ints], tuple[Any, ...]], part: int, doc: str) -> Any:
    """A property with a part of what a test of strata gives; None without strata."""

    def of_strata(record: McNemarResult) -> Any:
        is_stratified = record.design == "strata"
        return test(record.only_a, record.only_b)[part] if is_stratified else None

    return property(of_strata, doc=doc)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class McNemarResult(Pilot, Compared, Record):
    """McNemar's test of two models on the same samples.

    All numbers are arrays of one shape where the counts were. Of samples in clusters or
    in strata counts are arrays with an entry a unit: a cluster, a stratum, or the part
    of a cluster in a stratum. What has no meaning for the design is None.
    """

    _pilot = "mcnemar"
    _closing = "{record._interval_made}"
    _nulls = EQUALLY_ACCURATE
    _value = "accuracy"

    _cites = (
        "mcnemar",
        (
            "method",
            {
                "midp": "fagerland",
                "corrected": "edwards",
                "unconditional": "suissa",
                "cr2": "bell pustejovsky",
                "durkalski": "durkalski",
                "yang": "yang-clusters",
                "obuchowski": "obuchowski",
                "eliasziw": "eliasziw",
            },
        ),
        ("design", {"samples": "newcombe", "strata": "mantel"}),
    )

    #: For "exact" and "midp" the smaller of `only_a` and `only_b`, or the one of them
    #: that a one-sided test bounds: `only_b` for "greater", `only_a` for "less"; of
    #: weighted strata the weighted sum of `only_a` - `only_b`. With clusters t for "cr0"
    #: to "cr3". For other methods a chi-square, such as McNemar's,
    #: (only_a - only_b)**2 / (only_a + only_b), or `zscore` where the test is one-sided;
    #: "corrected" has Edwards' correction.
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
    #: Cluster and stratum of each unit, where clusters are in strata.
    cluster: Any = None
    stratum: Any = None
    #: What each stratum of clusters counts in the mean, shape (H,).
    stratum_weights: Any = None
    #: What one sample of each stratum counts, shape (H,), where samples in strata do not
    #: all count alike.
    weights: Any = None
    #: Names of the strata; empty where there are none.
    strata: tuple[str, ...] = ()
    #: Exact p-value if the sign of each cluster's sum of differences is turned round at
    #: random; None without clusters, with strata, or where there are too many to work
    #: it out.
    signflip_pvalue: float | None = None
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of a and of b that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def design(self) -> str:
        """What is independent: "samples", "clusters", or samples in "strata"."""
        if self.method in CLUSTERED:
            return "clusters"
        return "strata" if self.strata else "samples"

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "binomial", "chi2", "normal", "trinomial", "t".

        "permutation" for exact tests of weighted strata.
        """
        if self.method in SANDWICH:
            return "t"
        if self.weights is not None and self.method in ("exact", "midp"):
            return "permutation"
        return reference_distribution(self.method, self.alternative)[0]

    @property
    def df(self) -> float | None:
        """Degrees of freedom of the chi-square or t distribution, else None."""
        if self.distribution == "t":
            return self._estimate().df
        return 1 if self.distribution == "chi2" else None

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def weighting(self) -> str:
        """What counts once in the accuracies: "samples", "clusters" or "strata".

        "clusters" for "durkalski" and "cluster-weighted"; "strata" where these have
        weights, `stratum_weights` or `weights`.
        """
        if self.method in CLUSTER_WEIGHTED:
            return "clusters"
        weighted = self.weights is not None or self.stratum_weights is not None
        return "strata" if weighted else "samples"

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        names = np.array([None, "a", "b"], dtype=object)
        if self.design == "samples":
            return names[np.sign(self.only_a - self.only_b)]
        return names[int(np.sign(self.zscore))]

    @property
    def n_samples(self) -> Any:
        """All samples; needs `both_right` and `both_wrong`."""
        sizes = self._sizes()
        return sizes if self.design == "samples" else int(sizes.sum())

    @property
    def table(self) -> Ints:
        """The 2 x 2 table, shape (..., 2, 2): rows a right or wrong, columns b."""
        self._sizes()
        stacked = np.stack(np.broadcast_arrays(*self._totals().values()), axis=-1)
        return stacked.reshape(*stacked.shape[:-1], 2, 2)

    @property
    def accuracy_a(self) -> Any:
        """Proportion of samples that model a classified correctly, by `weighting`."""
        return self._mean(self.only_a, both=True)

    @property
    def accuracy_b(self) -> Any:
        """Proportion of samples that model b classified correctly, by `weighting`."""
        return self._mean(self.only_b, both=True)

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        if self.design == "clusters":
            return self._estimate().difference
        return self._mean(self.only_a - self.only_b, both=False)

    @property
    def _test_name(self) -> str:
        return f"{METHOD_NAMES[self.method]} McNemar's test"

    @property
    def standard_error(self) -> Any:
        """Standard error of `difference` with clusters, by which the method divides it."""
        return float(np.sqrt(self._estimate().variance)) if self.design == "clusters" else None

    @property
    def odds_ratio(self) -> Any:
        """Conditional odds ratio only_a / only_b; NaN without discordant samples.

        Of strata, without weights, it is Mantel and Haenszel's of the ratio they share.
        """
        totals = self._totals()
        return ratio(totals["only_a"], totals["only_b"])

    @property
    def zscore(self) -> Any:
        """Root of the chi-square, with the sign of the difference.

        With clusters the difference, and with strata the weighted sum of differences,
        over its standard error.
        """
        if self.design == "clusters":
            return self._estimate().statistic
        if self.design == "strata":
            weights = np.ones(self.only_a.size) if self.weights is None else self.weights
            return weighted_z(
                self.only_a.astype(np.float64), self.only_b.astype(np.float64), weights
            )
        gain = np.subtract(self.only_a, self.only_b)
        correction = 1.0 if self.method == "corrected" else 0.0
        distance = np.maximum(np.abs(gain) - correction, 0.0)
        n = np.maximum(self.only_a + self.only_b, 1)  # without any, z is 0
        root = np.sign(gain) * np.sqrt(distance * distance / n) + 0.0
        return root if np.ndim(root) else float(root)

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters."""
        return self._units().n_clusters if self.design == "clusters" else None

    @property
    def largest_cluster(self) -> float | None:
        """Proportion of the samples that are in the largest cluster."""
        if self.design != "clusters":
            return None
        units = self._units()
        return float(units.cluster_sizes.max() / units.n)

    @property
    def effective_df(self) -> float | None:
        """How many independent clusters of one size, less one, know as much.

        Degrees of freedom of the CR2 variance, from the sizes of the clusters alone.
        """
        if self.design != "clusters":
            return None
        return leverage(self._units().cluster_sizes, "cr2")[1]

    @property
    def design_effect(self) -> float | None:
        """Variance of the difference over that of as many independent samples.

        With clusters; NaN where the latter is 0. The variance is that of the method for
        "cr0" to "cr3", and else CR2.
        """
        if self.design != "clusters":
            return None
        units = self._units()
        method = self.method if self.method in SANDWICH else "cr2"
        sums = (self.only_a - self.only_b).astype(np.float64)
        squares, independent = self.only_a + self.only_b, 0.0
        for place, sizes, weight in units.strata():
            n = sizes.sum()
            if n > 1:
                residual = squares[place].sum() - sums[place].sum() ** 2 / n
                independent += weight**2 * residual / (n * (n - 1))
        variance = estimate(self._cells(), units, method).variance
        return float(variance / independent) if independent > 0 else np.nan

    @property
    def cautions(self) -> tuple[str, ...]:
        """What makes a test of clusters doubtful, in sentences."""
        if self.design != "clusters":
            return ()
        cautions = cluster_cautions(self._units(), self.method)
        if np.isnan(self.statistic):
            what = "the p-value is of the exact permutation test"
            if np.isnan(self.pvalue):
                what = "there is no test"
            cautions += (f"No variance was observed: {what}.",)
        return cautions

    heterogeneity_statistic = _of_strata(
        heterogeneity, 0, "Pearson's chi-square that strata differ in the odds of only a to only b."
    )
    heterogeneity_df = _of_strata(
        heterogeneity, 1, "Its degrees of freedom: strata with discordant samples, less one."
    )
    heterogeneity_pvalue = _of_strata(heterogeneity, 2, "Its p-value.")
    total_statistic = _of_strata(
        any_difference, 0, "McNemar's chi-squares of all strata added: any difference in any."
    )
    total_df = _of_strata(
        any_difference, 1, "Its degrees of freedom: strata with discordant samples."
    )
    total_pvalue = _of_strata(any_difference, 2, "Its p-value.")

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
            If there are no strata, or too many tables.

        Examples
        --------
        >>> from fastcmp import mcnemar
        >>> result = mcnemar(only_a=[6, 3, 9], only_b=[2, 4, 1], strata=["x", "y", "z"])
        >>> round(result.heterogeneity_exact(), 4)
        0.1274
        """
        if self.design != "strata":
            raise BadValueError(
                "heterogeneity_exact is of samples in strata", remedy=": pass `strata=`"
            )
        return exact_heterogeneity(self.only_a, self.only_b)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str | None = None
    ) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : str, optional
            "newcombe" (default), Newcombe's method 10; "tango", his score interval;
            "bonett-price", Wald's with a sample more in each discordant cell;
            "agresti-min", Wald's with half a sample more in each cell; or "wald", which
            is too narrow for small samples.
            With clusters, by default what goes with the test: "cr2", "cr0", "cr1" or
            "cr3", Student's t and that standard error; "obuchowski", the normal
            distribution and CR1; "modified-obuchowski" and "score", those of Yang et al.
            (2012), the latter Tango's interval with the variance of Eliasziw and Donner.
            Where clusters have equal weight there is one, "cluster-weighted": t of the
            clusters' differences.
            With weighted strata there is one, "t": variances of the strata are added,
            and so are, by Satterthwaite, their degrees of freedom; where nothing varies
            within strata, Gaffke's for differences between -1 and 1.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; for "greater" `high` is 1, for "less" `low` is -1.

        Raises
        ------
        ValueError
            If an option is unknown, the level is not above one half for a one-sided
            interval, the concordant counts were not given, the method is not defined for
            clusters in strata, or a stratum that counts has one sample.

        References
        ----------
        .. [1] Z. Yang, X. Sun, J. W. Hardin, "Confidence intervals for the difference
           of marginal probabilities in clustered matched-pair binary data",
           Pharmaceutical Statistics 11 (2012) 386-393.

        Examples
        --------
        >>> from fastcmp import mcnemar
        >>> result = mcnemar(only_a=11, only_b=1, both_right=9959, both_wrong=29)
        >>> low, high = result.confidence_interval(method="tango")
        >>> round(low, 6), round(high, 6)
        (0.000397, 0.00188)
        >>> tables = [[[3, 0], [1, 0]], [[2, 1], [2, 0]], [[1, 0], [1, 2]], [[4, 0], [0, 1]]]
        >>> result = mcnemar(table=tables, groups=[1, 2, 3, 4])
        >>> low, high = result.confidence_interval(method="score")
        >>> round(low, 3), round(high, 3)
        (-0.417, 0.095)
        """
        ends: Any
        methods: tuple[str, ...]
        if self.design == "clusters":
            methods = ("cluster-weighted",) if self.method in CLUSTER_WEIGHTED else INTERVALS
            default = INTERVAL_OF.get(self.method, self.method)
        elif self.weights is not None:
            methods, default = ("t",), "t"
        else:
            methods, default = DIFFERENCE_INTERVALS, "newcombe"
        method = choose(default if method is None else method, "method", methods)
        level = as_level(confidence_level, self.alternative)
        if self.design == "clusters":
            units = self._units()
            if self.strata:
                check_defined(method, units, self.strata)
            ends = cluster_interval(self._cells(), units, method, level)
        elif self.weights is not None:
            difference, variance, df = self._estimate()
            ends = t_interval(difference, np.sqrt(variance), level, df=df, limits=(-1.0, 1.0))
            if variance == 0.0:
                ends = np.clip(np.ravel(bounded_interval(self._bounded(), level)), -1.0, 1.0)
        else:
            both = difference_intervals(self.table.reshape(-1, 4).T.copy(), method, level)
            ends = (unwrap(end, np.shape(self.pvalue)) for end in both)
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
            If an option is unknown, the level is not above one half for a one-sided
            interval, or samples are in clusters, which the interval does not know.

        Examples
        --------
        >>> from fastcmp import mcnemar
        >>> low, high = mcnemar(only_a=11, only_b=1).odds_ratio_interval()
        >>> round(low, 2), round(high, 1)
        (1.6, 473.5)
        """
        method = choose(method, "method", ("exact", "midp"))
        if self.design == "clusters":
            raise BadValueError(
                "the interval of the odds ratio needs independent samples",
                remedy=": leave out `groups=`",
            )
        interval = getattr(kernels, f"odds_ratio_{method}_interval")
        level = as_level(confidence_level, self.alternative)
        totals = self._totals()
        a, b = np.ravel(totals["only_a"]), np.ravel(totals["only_b"])
        ends = [interval(i, j, level) for i, j in zip(a, b, strict=True)]
        both = np.array(ends).reshape(-1, 2).T
        low, high = (unwrap(end, np.shape(self.pvalue)) for end in both)
        return ConfidenceInterval(*keep_side((low, high), self.alternative, (0.0, np.inf)))

    @property
    def effect(self) -> str:
        """One sentence that says which model did better, and how surely."""
        interval = self.confidence_interval()
        return effect_sentence(self.difference, interval, self.alternative)

    @property
    def _interval_made(self) -> str:
        """What a methods section says of the interval of samples."""
        return _OF_THE_INTERVAL if self.design == "samples" else ""

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin; of units by what they could hold at worst."""
        if self.design == "samples" or (self.design == "strata" and self.weights is None):
            totals = self._totals()
            return accuracy_margins(
                (totals["only_a"], totals["only_b"], self.n_samples),
                options,
                pvalue=self.pvalue,
                alternative=self.alternative,
            )
        estimated = self._estimate()
        of = Estimated(
            estimated.difference,
            float(np.sqrt(estimated.variance)),
            n_samples=self.n_samples,
            pvalue=self.pvalue,
            alternative=self.alternative,
            measure=self.measure,
        )
        unit = "clusters" if self.design == "clusters" else "samples"
        return bounded_margins([self._bounded()], of, options, unit)

    def _bounded(self) -> BoundedUnits:
        """What clusters, or weighted samples of strata, could hold at worst."""
        if self.design == "clusters":
            sums = (self.only_a - self.only_b).astype(np.float64)
            return bounded_units(sums, self._units(), self.method)
        return stratum_units(self.only_a, self.only_b, self._sizes(), self.weights)

    @property
    def _has_all_counts(self) -> bool:
        """Whether all four counts are known."""
        return self.both_right is not None and self.both_wrong is not None

    def _totals(self) -> dict[str, Any]:
        """The counts over all units, in the order of a table; None where not given."""
        counts = {name: getattr(self, name) for name in CELLS}
        if self.design == "samples":
            return counts
        return {name: None if x is None else int(x.sum()) for name, x in counts.items()}

    def _sizes(self) -> Any:
        """Samples of each unit."""
        if not self._has_all_counts:
            raise BadValueError(
                "this needs all four counts", remedy=": pass `both_right=` and `both_wrong=`"
            )
        return self.both_right + self.only_a + self.only_b + self.both_wrong

    def _cells(self) -> Ints:
        return np.stack([getattr(self, name) for name in CELLS])

    def _units(self) -> Units:
        sizes = self._sizes().astype(np.float64)
        return Units(sizes, self.cluster, self.stratum, self.stratum_weights)

    def _mean(self, counts: Any, *, both: bool) -> Any:
        """Mean of counts by unit, as `weighting` says; with `both`, of both right too."""
        sizes = self._sizes()
        counts = counts + self.both_right if both else counts
        if self.design == "samples":
            return ratio(counts, sizes)
        if self.design == "strata":
            weights = np.ones(sizes.size) if self.weights is None else self.weights
            return float(weights @ counts / (weights @ sizes))
        if self.method in CLUSTER_WEIGHTED:
            return float((counts / sizes).mean())
        if self.strata:
            return self._units().score(counts.astype(np.float64))
        return float(counts.sum() / sizes.sum())

    def _estimate(self) -> Estimate:
        """The difference of clusters, or of weighted strata, its variance and d.o.f."""
        if self.design == "clusters":
            return estimate(self._cells(), self._units(), self.method)
        sizes = self._sizes().astype(np.float64)
        part = self.weights * sizes / (self.weights @ sizes)
        if np.any((sizes < 2) & (part > 0)):
            raise ValueError("an interval needs at least 2 samples in each stratum")
        mean = (self.only_a - self.only_b) / sizes
        spread = (self.only_a + self.only_b) / sizes - mean**2
        parts = part**2 * spread / np.maximum(sizes - 1, 1)
        variance, df = combine(parts, np.maximum(sizes - 1, 1))
        return Estimate(self.difference, float(variance), float(df))

    def _shown(self) -> dict[str, Any]:
        entries = self._fields()
        names = ["distribution", "df", "measure", "better"]
        if self._has_all_counts:
            names += ["accuracy_a", "accuracy_b", "difference"]
        if self.design == "samples":
            for name in _OF_UNITS:
                del entries[name]
        else:
            names += ["n_samples"] * self._has_all_counts
        if self.design == "strata":
            names += ["zscore", "odds_ratio", *_OF_STRATA]
        if self.design == "clusters":
            entries = {name: x for name, x in entries.items() if not isinstance(x, np.ndarray)}
            entries |= self._totals()
            names += _OF_CLUSTERS
        entries |= {name: getattr(self, name) for name in names}
        return entries | ({} if self.margins is None else self.margins._beside())

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The effect, the test, and what makes it doubtful; of strata whether they
            agree, and their counts; for arrays, what they hold.
        """
        name = (METHOD_NAMES | CLUSTERED_NAMES)[self.method]
        weighted = ", weighted strata" * (self.weights is not None)
        inside = " in strata" * (self.design == "strata")
        title = f"McNemar's test{inside} ({name}{weighted}, {self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (several_tests(self), *margin_sentences(self.margins))
            return [Section(title=title, text=text)]
        totals = self._totals()
        text = (
            with_pvalue(
                f"Only a is right on {totals['only_a']} samples, only b on {totals['only_b']}.",
                self.pvalue,
            ),
            sentence_of_test(self),
        )
        if self._has_all_counts and self.n_samples:
            of = f" in {self.n_clusters} clusters" if self.n_clusters else ""
            of += f" in {len(self.strata)} strata" * bool(self.strata)
            if self.design == "clusters":
                of += {
                    "clusters": ", each cluster counted once",
                    "strata": ", by the weights of the strata",
                }.get(self.weighting, "")
            accuracies = (
                f"Accuracy of a {self.accuracy_a:.4f}, of b {self.accuracy_b:.4f}, on "
                f"{self.n_samples} samples{of}{weighted}."
            )
            small = self.weights is not None and np.any((self._sizes() < 2) & (self.weights > 0))
            text = (*(() if small else (with_pvalue(self.effect, self.pvalue),)), accuracies, *text)
        text += margin_sentences(self.margins)
        if self.design == "strata":
            text += (
                f"Do strata agree? chi-square = {self.heterogeneity_statistic:.4g} with "
                f"{self.heterogeneity_df} d.o.f., p = "
                f"{format_pvalue(self.heterogeneity_pvalue)}. Any difference in any "
                f"stratum: chi-square = {self.total_statistic:.4g} with {self.total_df} "
                f"d.o.f., p = {format_pvalue(self.total_pvalue)}.",
            )
        if self.signflip_pvalue is not None:
            text += (f"Sign flips of clusters: p = {format_pvalue(self.signflip_pvalue)}",)
        effect = self.design_effect
        if effect is not None and not np.isnan(effect):
            text += (
                f"Design effect {effect:.3g}: the variance over that of as many "
                "independent samples.",
            )
        text += self.cautions
        if self._has_all_counts:
            text += outside_sentences(self.n_outside, ("a", "b"), self.n_samples)
        text += dropped_sentences(self.n_missing, self.n_excluded)
        sections = [Section(title=title, text=text)]
        if self.design == "strata":
            rows = zip(self.strata, map(str, self.only_a), map(str, self.only_b), strict=True)
            sections.append(
                Section(
                    title="Strata",
                    columns=("stratum", "only a right", "only b right"),
                    rows=tuple(rows),
                    most=20,
                )
            )
        return sections
