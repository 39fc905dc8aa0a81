"""McNemar's test where samples come in clusters, such as sentences of a document."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_counts, as_level, check_total, choose, keep_side
from fastcmp.core.numbers import t_ppf, t_tail
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.sections import (
    Section,
    dropped_sentences,
    effect_sentence,
    format_pvalue,
    outside_sentences,
)
from fastcmp.inputs.item_groups import ItemGroups
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED
from fastcmp.kernels.sign_flips import sign_flip_whole
from fastcmp.paired.margin_result import MarginTests, margin_entries, margin_sentences
from fastcmp.paired.margins import (
    BoundedUnits,
    Estimated,
    MarginOptions,
    bounded_interval,
    bounded_margins,
    read_margin,
    with_margin,
)
from fastcmp.paired.mcnemar_result import HYPOTHESES
from fastcmp.paired.units import (
    CLUSTER_WEIGHTED,
    CLUSTERED,
    SANDWICH,
    Units,
    check_defined,
    default_method,
    eliasziw_correlation,
    leverage,
    sandwich_df,
    unit_rows,
    units_of,
)

if TYPE_CHECKING:
    from fastcmp.inputs.labels import Labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Intervals for the difference that belong to no method of the test.
ONLY_INTERVALS = ("modified-obuchowski", "score")
_BY_METHOD = {
    "durkalski": "cluster-weighted",
    "yang": "modified-obuchowski",
    "eliasziw": "score",
    "mcnemar": "cr2",
}


class Estimate(NamedTuple):
    """A difference of scores, its variance, and the degrees of freedom of that."""

    difference: float
    variance: float
    #: None where the normal distribution is the reference.
    df: float | None


def estimate(cells: Ints, units: Units, method: str) -> Estimate:
    """Estimate a difference and its variance from counts by unit, shape (4, U).

    The cells are both right, only a, only b, both wrong.
    """
    sums = (cells[1] - cells[2]).astype(np.float64)
    if method in ("eliasziw", "mcnemar"):
        variance = float(cells[1:3].sum()) / units.n**2
        if method == "eliasziw":
            variance *= design_factor(cells, units, "discordant")
        return Estimate(float(sums.sum()) / units.n, variance, None)
    difference, row = unit_rows(sums, units, method)
    df = sandwich_df(row, units, method) if method in SANDWICH else None
    return Estimate(difference, float(row @ row), df)


def design_factor(cells: Ints, units: Units, average: str) -> float:
    """Inflate the variance of independent samples by 1 + (n_c - 1) rho.

    n_c averages the discordant samples of a cluster for the test of Eliasziw and
    Donner, and all of its samples for the score interval of Yang et al.
    """
    discordant = cells[1] + cells[2]
    total = float(discordant.sum())
    if total == 0.0:
        return 1.0
    squares = (cells.astype(np.float64) ** 2 / units.sizes).sum()
    rho = float(eliasziw_correlation(units, cells.sum(axis=1) / units.n, squares, total))
    counted = discordant if average == "discordant" else units.sizes
    counted = counted.astype(np.float64)
    return 1.0 + (float(counted @ counted / counted.sum()) - 1.0) * rho


def evaluate(cells: Ints, units: Units, method: str, alternative: str) -> dict[str, Any]:
    """Test counts by unit; give statistic, p-value, degrees of freedom and status."""
    difference, variance, df = estimate(cells, units, method)
    signed = standardized(np.array([difference]), np.array([variance]))
    pvalue = float(t_tail(signed, alternative, df).item())
    statistic, status = signed.item(), OK
    if variance == 0.0:
        pvalue, status = 1.0, DEGENERATE
        if difference != 0.0:
            signs = np.sign(units.by_cluster((cells[1] - cells[2]) * units.sample_weights))
            n_units = signs.size if abs(signs.sum()) == signs.size else np.nan
            statistic, pvalue = np.nan, float(constant_pvalue(difference, n_units, alternative))
            status = UNDEFINED if np.isnan(pvalue) else DEGENERATE
    if df is None and alternative == "two-sided":
        statistic, df = statistic * statistic, 1
    return {"statistic": statistic, "pvalue": pvalue, "df": df, "status": status}


def constant_pvalue(difference: Any, n_units: Any, alternative: str = "two-sided") -> Any:
    """Exact p-values of sign flips where the difference is the same in all units.

    It is the most extreme one of the 2**n_units that may be.
    """
    if alternative == "two-sided":
        return np.minimum(np.exp2(1.0 - n_units), 1.0)
    expected = 1.0 if alternative == "greater" else -1.0
    return np.where(np.sign(difference) == expected, np.exp2(-1.0 * n_units), 1.0)[()]


def bounded_units(sums: Floats, units: Units, method: str) -> BoundedUnits:
    """Weigh the sums of differences of each cluster as the method does."""
    if method in CLUSTER_WEIGHTED:
        return BoundedUnits(sums / units.sizes, np.ones(sums.size))
    weights = units.sample_weights
    return BoundedUnits(units.by_cluster(sums * weights), units.by_cluster(units.sizes * weights))


def standardized(difference: Floats, variance: Floats) -> Floats:
    """Divide by standard errors: 0 / 0 is 0, anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference / np.sqrt(variance)
    return np.where((variance == 0.0) & (difference == 0.0), 0.0, ratio) + 0.0


def interval(cells: Ints, units: Units, method: str, level: float) -> tuple[float, float]:
    """Give the ends of a two-sided interval for the difference.

    Without any variance they are Gaffke's, of means by cluster between -1 and 1.
    """
    if method == "score":
        return _score_interval(cells, units, level)
    difference, variance, df = interval_estimate(cells, units, method)
    if variance == 0.0:
        sums = (cells[1] - cells[2]).astype(np.float64)
        low, high = bounded_interval(bounded_units(sums, units, method), level)
        return low.item(), high.item()
    half = -float(t_ppf(0.5 * (1.0 - level), df)) * math.sqrt(variance)
    return max(difference - half, -1.0), min(difference + half, 1.0)


def interval_estimate(cells: Ints, units: Units, method: str) -> Estimate:
    """Estimate what an interval is made of; "score" has none."""
    if method not in ("obuchowski", "modified-obuchowski"):
        found = estimate(cells, units, method)
        if method == "cluster-weighted":
            found = found._replace(df=units.n_clusters - 1.0)
        return found
    sums = (cells[1] - cells[2]).astype(np.float64)
    g, n = units.n_clusters, units.n
    difference = float(sums.sum()) / n
    squares = ((sums - units.sizes * difference) ** 2).sum()
    if method == "modified-obuchowski":
        squares = 0.5 * (squares + ((sums - sums.mean()) ** 2).sum())
    return Estimate(difference, float(squares * g / (g - 1.0) / n**2), None)


def _score_interval(cells: Ints, units: Units, level: float) -> tuple[float, float]:
    """Tango's interval of counts that are divided by the design factor."""
    from fastcmp.paired.mcnemar_result import difference_intervals

    shrunk = cells.sum(axis=1) / design_factor(cells, units, "all")
    low, high = difference_intervals(shrunk[:, np.newaxis], "tango", level)
    return low.item(), high.item()


def interval_of(method: str) -> str:
    """Name the interval that goes with a method of the test."""
    return _BY_METHOD.get(method, method)


# The record of McNemar's test for samples in clusters.


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


# McNemar's test where samples come in clusters, such as sentences of a document.


_FLIP_STEPS = 1 << 28  # of the exact sign-flip test: a second or less
_CELLS = ("both_right", "only_a", "only_b", "both_wrong")


def compare_clusters(
    labels: Labels, found: ItemGroups, *, method: str | None, alternative: str
) -> ClusteredMcNemarResult:
    """Test two models whose labels are encoded, by the clusters of their samples."""
    if method is not None:
        method = choose(method, "method", CLUSTERED)
    codes, units, names = units_of(found)
    cells = np.zeros((4, units.sizes.size), np.int64)
    pred_a, pred_b = labels.preds
    kernels.count_clusters(labels.y_true, pred_a, pred_b, codes, cells)
    return _record(
        cells,
        units,
        default_method(units) if method is None else method,
        alternative,
        strata=names,
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
        n_outside=labels.n_outside,
    )


def mcnemar_clustered_from_counts(
    both_right: ArrayLike,
    only_a: ArrayLike,
    only_b: ArrayLike,
    both_wrong: ArrayLike,
    *,
    method: str = "cr2",
    alternative: str = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
) -> ClusteredMcNemarResult:
    """McNemar's test from the counts of each cluster of samples.

    Parameters
    ----------
    both_right, only_a, only_b, both_wrong : array-like of int, shape (G,)
        Samples of each cluster that both models, only model a, only model b, or none
        classified correctly. Each cluster holds at least one sample.
    method : str
        As in `mcnemar` with ``groups``.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    margin : float, optional
        As in `mcnemar`.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    ClusteredMcNemarResult
        Statistic, p-value, and what the clusters do to them.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, their lengths differ, there
        are fewer than two clusters, one is empty, or an option is unknown.
    TypeError
        If counts are not numbers.

    References
    ----------
    .. [1] N. A. Obuchowski, "On the comparison of correlated proportions for clustered
       data", Statistics in Medicine 17 (1998) 1495-1507.
    .. [2] V. L. Durkalski, Y. Y. Palesch, S. R. Lipsitz, P. F. Rust, "Analysis of
       clustered matched-pair data", Statistics in Medicine 22 (2003) 2417-2428.

    Examples
    --------
    >>> from fastcmp import mcnemar_clustered_from_counts
    >>> cells = [3, 2, 1, 4], [0, 1, 0, 0], [1, 2, 1, 0], [0, 0, 2, 1]
    >>> result = mcnemar_clustered_from_counts(*cells, method="obuchowski")
    >>> result.statistic, round(result.pvalue, 4)
    (2.25, 0.1336)
    """
    method = choose(method, "method", CLUSTERED)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    against = read_margin(margin, alpha, 1.0)
    given = (both_right, only_a, only_b, both_wrong)
    columns = [as_counts(raw, name) for raw, name in zip(given, _CELLS, strict=True)]
    shapes = {column.shape for column in columns}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        told = ", ".join(
            f"{name} {column.shape}" for name, column in zip(_CELLS, columns, strict=True)
        )
        raise ValueError(f"counts must have one entry a cluster, got the shapes {told}")
    cells = np.stack(columns)
    check_total(cells, " + ".join(_CELLS), 2)
    sizes = cells.sum(axis=0)
    if sizes.size < 2:
        raise ValueError(f"{', '.join(_CELLS)} must hold at least 2 clusters, got {sizes.size}")
    if not sizes.all():
        raise ValueError(
            f"{', '.join(_CELLS)} must hold a sample in each cluster, cluster "
            f"{int(np.argmin(sizes))} has none"
        )
    result = _record(cells, Units(sizes.astype(np.float64)), method, alternative)
    return with_margin(result, against)  # type: ignore[no-any-return]


def _record(
    cells: Ints, units: Units, method: str, alternative: str, **more: Any
) -> ClusteredMcNemarResult:
    strata = more.get("strata", ())
    check_defined(method, units, strata)
    return ClusteredMcNemarResult(
        **evaluate(cells, units, method, alternative),
        **dict(zip(_CELLS, cells, strict=True)),
        cluster=units.cluster if strata else None,
        stratum=units.stratum if strata else None,
        stratum_weights=units.weights if strata else None,
        method=method,
        alternative=alternative,
        signflip_pvalue=_signflip_pvalue(cells[1] - cells[2], units, alternative),
        **more,
    )


def _signflip_pvalue(sums: Ints, units: Units, alternative: str) -> float | None:
    """Give the exact p-value of sign flips of clusters; None where it takes long."""
    if units.stratum is not None:  # sums have weights, and are no whole numbers
        return None
    if np.count_nonzero(sums) * int(np.abs(sums).sum()) > _FLIP_STEPS:
        return None
    return float(sign_flip_whole(sums, ALTERNATIVES[alternative]).pvalue)
