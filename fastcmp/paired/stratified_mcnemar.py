"""McNemar's test where samples are in strata, such as the tasks of a benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    as_counts,
    as_level,
    as_numbers,
    check_total,
    choose,
    keep_side,
)
from fastcmp.core.numbers import normal_tail, scale_exponent, t_ppf
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.sections import (
    Section,
    dropped_sentences,
    effect_sentence,
    format_pvalue,
    outside_sentences,
)
from fastcmp.inputs.item_groups import ItemGroups
from fastcmp.kernels import DEGENERATE, OK
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
from fastcmp.paired.mcnemar_result import (
    HYPOTHESES,
    METHOD_NAMES,
    METHODS,
    McNemarResult,
    describe_test,
    evaluate_counts,
    reference_distribution,
)
from fastcmp.paired.units import combine

if TYPE_CHECKING:
    from fastcmp.inputs.labels import Labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_SUMS = 1 << 22  # different values of a sum: a second or so
_MOST_TABLES = 1 << 23
_SAME = 1e-12  # relative difference of sums that rounding alone makes


def weighted_z(only_a: Floats, only_b: Floats, weights: Floats) -> float:
    """Divide the weighted sum of differences by its standard error under H0."""
    variance = float(weights**2 @ (only_a + only_b))
    if variance == 0.0:
        return 0.0
    return float(weights @ (only_a - only_b)) / math.sqrt(variance)


def weighted_exact(
    only_a: Ints, only_b: Ints, weights: Floats, alternative: str, *, mid: bool
) -> float:
    """Find the p-value over all signs of the discordant samples, by convolution.

    With `mid`, what was observed counts half.
    """
    gain = only_a - only_b
    observed = float(weights @ gain)
    if alternative == "less":
        observed = -observed  # the distribution is symmetric
    counts = [
        (int(n), float(w))
        for n, w in zip(only_a + only_b, weights, strict=True)
        if n > 0 and w > 0.0
    ]
    if not counts:
        return 1.0
    sums, chances = np.zeros(1), np.ones(1)
    noise = _SAME * sum(n * w for n, w in counts)
    for n, weight in sorted(counts, reverse=True):
        if sums.size * (n + 1) > _MOST_SUMS:
            raise ValueError(
                "method='exact' takes too long for weighted strata with "
                f"{int((only_a + only_b).sum())} discordant samples: use "
                "method='asymptotic', which is close at that size"
            )
        pmf = [kernels.binomial_half(float(k), float(n)).pmf for k in range(n + 1)]
        steps = weight * (2.0 * np.arange(n + 1) - n)
        sums, chances = _merged(
            np.add.outer(sums, steps).ravel(), np.outer(chances, pmf).ravel(), noise
        )
    if alternative == "two-sided":
        observed = abs(observed)
    tail = chances[sums >= observed - noise].sum()
    if mid:
        tail -= 0.5 * chances[np.abs(sums - observed) <= noise].sum()
    # The distribution is symmetric: the other side has the same probability.
    return float(min(2.0 * tail if alternative == "two-sided" else tail, 1.0))


def stratum_units(only_a: Ints, only_b: Ints, sizes: Ints, weights: Floats) -> BoundedUnits:
    """Units of the weighted difference: samples of each stratum, counted by difference.

    From counts by stratum, shape (..., H).
    """
    gain = np.concatenate([weights, -weights, 0.0 * weights])
    count = np.concatenate([only_a, only_b, sizes - only_a - only_b], axis=-1)
    return BoundedUnits(gain, np.tile(weights, 3), count.astype(np.float64))


def _merged(sums: Floats, chances: Floats, noise: float) -> tuple[Floats, Floats]:
    """Add up the chances of sums that are equal but for rounding."""
    order = np.argsort(sums, kind="stable")
    sums, chances = sums[order], chances[order]
    first = np.flatnonzero(np.append(True, np.diff(sums) > noise))
    return sums[first], np.add.reduceat(chances, first)


def heterogeneity(only_a: Ints, only_b: Ints) -> tuple[float, int, float]:
    """Pearson's test that strata share one odds ratio: chi-square, d.o.f., p-value.

    Strata without discordant samples say nothing, and do not count.
    """
    used = only_a + only_b > 0
    a, b = only_a[used].astype(np.float64), only_b[used].astype(np.float64)
    df = max(a.size - 1, 0)
    n, total_a, total_b = a + b, a.sum(), b.sum()
    if df == 0 or total_a == 0.0 or total_b == 0.0:
        return 0.0, df, 1.0
    # Both columns of a row are off by the same number.
    off = a - n * (total_a / (total_a + total_b))
    scale = (total_a + total_b) ** 2 / (total_a * total_b)
    statistic = float((off**2 / n).sum() * scale)
    return statistic, df, kernels.chdtrc(float(df), statistic)


def any_difference(only_a: Ints, only_b: Ints) -> tuple[float, int, float]:
    """McNemar's chi-squares of all strata added: chi-square, d.o.f., p-value."""
    n = only_a + only_b
    used = n > 0
    gain = (only_a - only_b)[used].astype(np.float64)
    df = int(np.count_nonzero(used))
    if df == 0:
        return 0.0, 0, 1.0
    statistic = float((gain**2 / n[used]).sum())
    return statistic, df, kernels.chdtrc(float(df), statistic)


def exact_heterogeneity(only_a: Ints, only_b: Ints) -> float:
    """Fisher's exact test of strata by discordant counts, after Freeman and Halton.

    Tables with the same margins that are no more probable than the one observed.
    """
    from scipy.special import gammaln

    used = only_a + only_b > 0
    rows = np.stack([only_a[used], only_b[used]], axis=1).astype(np.float64)
    n, total = rows.sum(axis=1), rows[:, 0].sum()

    def log_ways(taken: Floats, of: float) -> Floats:
        ways = gammaln(of + 1) - gammaln(taken + 1) - gammaln(of - taken + 1)
        return np.asarray(ways)

    # A state is the sum so far and the log of the number of ways; equal ones are one.
    sums, logs, times = np.zeros(1), np.zeros(1), np.ones(1)
    left = n.sum()
    for size in n.tolist():
        left -= size
        if sums.size * (size + 1) > _MOST_TABLES:
            raise ValueError(
                f"the exact test of {n.size} strata with {int(n.sum())} discordant "
                "samples takes too long: heterogeneity_pvalue is close at that size"
            )
        taken = np.arange(size + 1)
        sums = np.add.outer(sums, taken).ravel()
        logs = np.add.outer(logs, log_ways(taken, size)).ravel()
        times = np.repeat(times, taken.size)
        fits = (sums <= total) & (sums + left >= total)
        sums, logs, times = _merged_states(sums[fits], logs[fits], times[fits])
    everything = float(log_ways(np.array(total), n.sum()))
    observed = sum(float(log_ways(a, a + b)) for a, b in rows)
    extreme = logs <= observed + 1e-7  # as R's fisher.test
    return float(min((times * np.exp(logs - everything))[extreme].sum(), 1.0))


def _merged_states(sums: Floats, logs: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
    keys = np.stack([sums, np.round(logs, 9)], axis=1)
    _, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return (sums[first], logs[first], np.bincount(where.ravel(), times).astype(np.float64))


# The record of McNemar's test for samples in strata.


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
        half = float(-t_ppf(0.5 * (1.0 - level), df) * np.sqrt(variance))
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
                    self.strata[:_SHOWN], self.only_a.tolist(), self.only_b.tolist(), strict=False
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


# McNemar's test where samples are in strata, such as the tasks of a benchmark.


#: Methods for strata that have weights; the first is the default.
WEIGHTED = ("asymptotic", "exact", "midp")


def compare_strata(
    labels: Labels, found: ItemGroups, *, method: str | None, alternative: str
) -> StratifiedMcNemarResult:
    """Test two models whose labels are encoded, by the strata of their samples."""
    layers = found.strata
    assert layers is not None
    cells = np.zeros((4, len(layers.labels)), np.int64)
    pred_a, pred_b = labels.preds
    kernels.count_clusters(labels.y_true, pred_a, pred_b, layers.codes, cells)
    weights = per_sample(found.stratum_weights, cells.sum(axis=0))
    return _record(
        dict(zip(("both_right", "only_a", "only_b", "both_wrong"), cells, strict=True)),
        weights,
        method,
        alternative,
        strata=tuple(map(str, layers.labels)),
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
        n_outside=labels.n_outside,
    )


def per_sample(weights: Floats, sizes: Ints) -> Floats | None:
    """Divide weights of strata by their sizes; None where all samples count alike."""
    each = weights / sizes
    return None if np.ptp(each) <= 1e-12 * each.max() else each


def mcnemar_stratified_from_counts(
    only_a: ArrayLike,
    only_b: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
) -> StratifiedMcNemarResult:
    """McNemar's test from the counts of each stratum.

    Parameters
    ----------
    only_a, only_b : array-like of int, shape (H,)
        Samples of each stratum that only model a, only model b, classified correctly.
    weights : array-like of float, shape (H,), optional
        What one sample of each stratum counts: the weight of the stratum in the mean,
        divided by its size. By default all samples count alike; then strata drop out
        of the test, and only tell whether they agree.
    both_right, both_wrong : array-like of int, shape (H,), optional
        Samples that both classified correctly, wrongly: for accuracies and intervals.
    method : str, optional
        As in `mcnemar`: "midp" by default. With weights "asymptotic" (default), "exact"
        or "midp", by convolution of the strata's binomial distributions.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    margin : float, optional
        As in `mcnemar`.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    StratifiedMcNemarResult
        Statistic, p-value, and whether strata agree.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, their lengths differ, weights
        are negative or all 0, an option is unknown, or an exact test takes too long.
    TypeError
        If counts or weights are not numbers.

    References
    ----------
    .. [1] N. Mantel, W. Haenszel, "Statistical aspects of the analysis of data from
       retrospective studies of disease", J. Nat. Cancer Inst. 22 (1959) 719-748.

    Examples
    --------
    >>> from fastcmp import mcnemar_stratified_from_counts
    >>> result = mcnemar_stratified_from_counts([8, 1], [3, 4], weights=[1, 3])
    >>> round(result.pvalue, 4), round(result.heterogeneity_pvalue, 4)
    (0.593, 0.0488)
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    against = read_margin(margin, alpha, 1.0)
    given = {"only_a": only_a, "only_b": only_b, "both_right": both_right, "both_wrong": both_wrong}
    cells = {name: as_counts(x, name) for name, x in given.items() if x is not None}
    for name in ("only_a", "only_b"):
        if name not in cells:
            raise TypeError(f"{name} must be whole numbers, got None")
    each = None if weights is None else as_numbers(weights, "weights")
    shapes = {name: x.shape for name, x in cells.items()}
    if each is not None:
        shapes["weights"] = each.shape
    if len(set(shapes.values())) > 1 or len(shapes["only_a"]) != 1:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"there must be one entry a stratum, got the shapes {told}")
    if not shapes["only_a"][0]:
        raise ValueError("only_a must hold at least 1 stratum, got none")
    check_total(np.stack([*cells.values()]), " + ".join(cells), 2)
    if each is not None:
        if not np.isfinite(each).all() or each.min() < 0 or not each.any():
            shown = each.tolist()[:10]
            raise ValueError(f"weights must be finite, >= 0, and not all 0, got {shown}")
        each = np.ldexp(each.astype(np.float64), -scale_exponent(each))
        each = per_sample(each, np.ones(each.size, np.int64))
    names = tuple(str(i) for i in range(cells["only_a"].size))
    result = _record(cells, each, method, alternative, strata=names)
    return with_margin(result, against)  # type: ignore[no-any-return]


def choose_method(method: str | None, *, weighted: bool) -> str:
    """Choose the method for strata with or without weights."""
    known = WEIGHTED if weighted else METHODS
    return str(choose(known[0] if method is None else method, "method", known))


def _record(
    cells: dict[str, Any], weights: Floats | None, method: str | None, alternative: str, **more: Any
) -> StratifiedMcNemarResult:
    method = choose_method(method, weighted=weights is not None)
    only_a, only_b = cells["only_a"], cells["only_b"]
    if weights is None:
        n = sum(x.sum() for x in cells.values()) if len(cells) == 4 else None
        totals = (only_a.sum(keepdims=True), only_b.sum(keepdims=True))
        found = evaluate_counts(*totals, n, method, alternative)
        statistic, pvalue = found[0].item(), found[1].item()
        status = int(found[2].item())
    else:
        statistic, pvalue, status = _weighted(only_a, only_b, weights, method, alternative)
    return StratifiedMcNemarResult(
        statistic=statistic,
        pvalue=pvalue,
        status=status,
        **cells,
        weights=weights,
        method=method,
        alternative=alternative,
        **more,
    )


def _weighted(
    only_a: Ints, only_b: Ints, weights: Floats, method: str, alternative: str
) -> tuple[float, float, int]:
    counted = (only_a + only_b)[weights > 0.0].sum()
    status = OK if counted else DEGENERATE
    if method in ("exact", "midp"):
        mid = method == "midp"
        pvalue = weighted_exact(only_a, only_b, weights, alternative, mid=mid)
        gain = float(weights @ (only_a - only_b)) + 0.0
        return gain, pvalue, status
    z = weighted_z(only_a.astype(np.float64), only_b.astype(np.float64), weights)
    pvalue = float(normal_tail(z, alternative)) if counted else 1.0
    return z * z if alternative == "two-sided" else z, pvalue, status
