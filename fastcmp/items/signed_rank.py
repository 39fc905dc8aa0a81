"""Wilcoxon's signed-rank test of two models, with clusters too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import ALTERNATIVES, as_flag, as_level, choose, keep_side
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue, interval_name
from fastcmp.core.sentences import Sentence, how, null_hypothesis, with_null
from fastcmp.core.threads import parts
from fastcmp.core.typing import ColumnLike, Floats, Ints, Pairs
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.model_names import check_indexes, read_pair_names
from fastcmp.inputs.values import as_values
from fastcmp.kernels import signed_ranks as ranks
from fastcmp.kernels.special import normal_pvalue
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.kernels.walsh_averages import hodges_lehmann, hodges_lehmann_rows
from fastcmp.pairwise.engine import PairTests

_ZEROS = {
    "wilcox": "dropped",
    "pratt": "ranked, then dropped (Pratt)",
    "zsplit": "ranked, half as positive",
}
#: What a reader must know of the test.
NOT_OF_MEANS = "This is no test of means: skewed differences with mean 0 may be significant."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SignedRankResult(Compared, Record):
    """Wilcoxon's signed-rank test of two models on the same items."""

    _cites = ("wilcoxon hodges", ("n_groups", "rosner"))
    _nulls = (
        "the differences are symmetric about 0",
        "the differences are symmetric about 0, or {beyond}",
    )

    #: `w_plus` where the test is exact, else `zscore`.
    statistic: float
    pvalue: float
    #: A `fastcmp.kernels.Status`: degenerate where all differences are 0.
    status: int
    #: "exact" or "asymptotic".
    method: str
    #: Sum of the ranks of items on which a has the larger value.
    w_plus: float
    #: Sum of the ranks of items on which b has the larger value.
    w_minus: float
    #: The standardized sum of ranks; by clusters where there are groups.
    zscore: float
    #: Hodges and Lehmann's estimate: the median of all averages of two differences.
    estimate: float
    #: For `estimate`; NaN where there are groups.
    interval: ConfidenceInterval
    #: The mean of a minus that of b, which is not what is tested.
    mean_difference: float
    n_items: int
    #: Items on which both have the same value.
    n_zero: int
    #: Clusters; None where there are none.
    n_groups: int | None
    #: What was done with differences of 0: "wilcox", "pratt" or "zsplit".
    zero_method: str
    continuity: bool
    alternative: str
    confidence_level: float
    lower_is_better: bool
    names: tuple[str, str]

    @property
    def distribution(self) -> str:
        """Where the p-value comes from: "permutation" (of signs) or "normal"."""
        return "permutation" if self.method == "exact" else "normal"

    @property
    def zscore_uncorrected(self) -> float:
        """The normal score with the variance of ranks without ties, as older texts."""
        n, zeros = float(self.n_items), float(self.n_zero)
        n -= zeros * (self.zero_method == "wilcox")
        variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0
        if self.zero_method == "pratt":
            variance -= zeros * (zeros + 1.0) * (2.0 * zeros + 1.0) / 24.0
        if not variance > 0.0:
            return 0.0
        return 0.5 * (self.w_plus - self.w_minus) / math.sqrt(variance)

    @property
    def measure(self) -> str:
        """What is compared: "value", or "loss" where lower is better."""
        return "loss" if self.lower_is_better else "value"

    @property
    def difference(self) -> float:
        """The `estimate`: a typical difference of a minus b."""
        return self.estimate

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        a, b = self.names
        zeros = ""
        if self.n_zero:
            zeros = f", {self.n_zero} of them equal: {_ZEROS[self.zero_method]}"
        clusters = "" if self.n_groups is None else f" in {self.n_groups} clusters"
        statistics = f"W+ = {self.w_plus:.10g}, W- = {self.w_minus:.10g}"
        if self.method == "asymptotic":
            statistics = f"z = {self.zscore:.4g} ({statistics})"
        text = (
            with_null(
                f"{statistics}, p = {format_pvalue(self.pvalue)}",
                null_hypothesis(self),
                more=f"; {self._how()}",
            ),
            how(f"{self.n_items} items{clusters}{zeros}"),
            self._effect(),
            Sentence(
                f"Mean of {a} minus {b}: {self.mean_difference:+.4g}. {NOT_OF_MEANS}",
                how=NOT_OF_MEANS,
            ),
        )
        return [Section(title="Wilcoxon's signed-rank test", text=text)]

    def _how(self) -> str:
        if self.method == "exact":
            return "exact"
        return "normal, corrected" if self.continuity else "normal"

    def _effect(self) -> str:
        """The sentence about which model did better, and by how much."""
        a, b = self.names
        low, high = self.interval
        ends = ""
        if self.n_groups is None:
            name = interval_name(self.confidence_level, self.alternative)
            ends = f", {name} [{low:+.4g}, {high:+.4g}]"
        better = {"a": a, "b": b}.get(self.better or "", "")
        lead = f"; {better} did better" if better else ""
        difference = f"{self.estimate:+.4g}{ends}{lead}"
        estimate = f"Hodges-Lehmann estimate of {a} minus {b}: {difference}"
        return Sentence(
            f"Hodges-Lehmann: {a} minus {b} {difference}.",
            answer=f"{estimate}; p = {format_pvalue(self.pvalue)}.",
        )


METHODS = ("auto", "exact", "asymptotic")
#: What is done with differences of 0, with the code that kernels take.
ZERO_METHODS = {"wilcox": ranks.WILCOX, "pratt": ranks.PRATT, "zsplit": ranks.ZSPLIT}
FEW_ITEMS = 50  # up to here "auto" is exact, as in SciPy
_FEW_CLUSTERS = 20
_STEPS = 2.0**32  # that an exact p-value may take: some seconds
UNIT = 1e-12  # differences are rounded to this part of the largest value


@dataclass(slots=True, kw_only=True)
class RankOptions:
    """Which signed-rank test, checked."""

    zero_method: str
    method: str
    continuity: bool
    #: The method for zeros, as kernels take it.
    code: int = field(init=False)

    def __post_init__(self) -> None:
        """Check the options."""
        self.zero_method = choose(self.zero_method, "zero_method", tuple(ZERO_METHODS))
        self.method = choose(self.method, "method", METHODS)
        self.continuity = as_flag(self.continuity, "continuity")
        self.code = ZERO_METHODS[self.zero_method]

    def is_exact(self, n: int, few: int) -> bool:
        """Whether the test is exact, for "auto" by the number of items."""
        return self.method == "exact" or (self.method == "auto" and n <= few)


def signed_rank(
    values_a: ArrayLike,
    values_b: ArrayLike,
    *,
    groups: ColumnLike | None = None,
    zero_method: str = "wilcox",
    method: str = "auto",
    continuity: bool = False,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> SignedRankResult:
    """Wilcoxon's signed-rank test of two models on the same items.

    It asks whether the differences are symmetric about 0, and is **no test of means**:
    where they are skewed it may find a difference between models of the same mean. For
    means use `compare_means`.

    Parameters
    ----------
    values_a, values_b : array-like, shape (n,)
        One value for each item: a grade, a loss, any measure; in the same order.
    groups : array-like, shape (n,), optional
        Cluster of each item. The signs of a cluster are then exchanged as a whole, and
        ranks are summed by cluster.
    zero_method : {"wilcox", "pratt", "zsplit"}
        Differences of 0 are dropped; ranked and then dropped; or ranked, with half of
        their ranks counted as positive.
    method : {"auto", "exact", "asymptotic"}
        All choices of signs, given the ranks with their ties; or the normal
        distribution. "auto" is exact up to 50 items, or 20 clusters.
    continuity : bool
        Whether z is corrected by one half of a rank.
    alternative : {"two-sided", "greater", "less"}
        "greater": values of a are larger.
    confidence_level : float
        Of the interval.
    lower_is_better : bool
        Whether values are losses; it changes only which model is called better.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    SignedRankResult
        The test, with the Hodges-Lehmann estimate of the centre of the differences and
        its interval.

    Raises
    ------
    ValueError
        If lengths differ, values are missing or infinite, there is no item, one
        cluster, or an exact p-value would take too long.
    TypeError
        If values are not numbers.

    Notes
    -----
    Differences are first rounded to 1e-12 of the largest value, so that 0.7 - 0.6 and
    0.6 - 0.5 are tied. z is as SciPy's. With groups z is the sum of the rank sums of
    the clusters, divided by the root of the sum of their squares [2]_; the estimate is
    that of the items, and has no interval. The exact test takes O(n**3) steps.

    References
    ----------
    .. [1] F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin
       1 (1945) 80-83.
    .. [2] B. Rosner, R. J. Glynn, M.-L. T. Lee, "The Wilcoxon signed rank test for
       paired comparisons of clustered data", Biometrics 62 (2006) 185-192.

    Examples
    --------
    >>> from fastcmp import signed_rank
    >>> a = [0.9, 0.8, 0.7, 1.0, 0.6, 0.9, 0.8, 1.0]
    >>> b = [0.7, 0.8, 0.4, 0.9, 0.7, 0.5, 0.6, 0.7]
    >>> result = signed_rank(a, b)
    >>> result.statistic, result.pvalue, round(result.estimate, 4)
    (26.5, 0.046875, 0.2)
    """
    options = RankOptions(zero_method=zero_method, method=method, continuity=continuity)
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))
    level = as_level(confidence_level, alternative)
    pair_names = read_pair_names(names)
    columns = {"values_a": values_a, "values_b": values_b}
    check_indexes([*columns.items(), *([] if groups is None else [("groups", groups)])])
    read = []
    for name, raw in columns.items():
        column = np.asarray(as_values(raw, name), np.float64)
        if column.ndim != 1 or column.size == 0:
            raise BadValueError(f"`{name}` must be of shape (n,), n > 0", column.shape)
        if not np.isfinite(column).all():
            bad = np.flatnonzero(~np.isfinite(column))
            raise BadValueError(f"`{name}` must be finite", f"{column[bad[0]]} at item {bad[0]}")
        read.append(column)
    a, b = read
    if a.size != b.size:
        raise BadValueError(f"`values_b` must be as many as values_a, {a.size}", b.size)
    item_clusters = read_item_groups(a.size, groups=groups).clusters
    clusters = None if item_clusters is None else item_clusters.codes
    if options.continuity and clusters is not None:
        raise BadValueError(
            "`continuity` must be False with groups: no correction is defined there"
        )
    d, coded = a - b, decimal_codes(np.stack([a, b]))
    if coded is not None:  # decimals as decimals, so that 0.7 - 0.6 is 0.1
        d = (coded[0][0] - coded[0][1]) / coded[1]
    tolerance = 0.5 * UNIT * max(np.abs(a).max(), np.abs(b).max())
    test = _test(d, tolerance, clusters, options, ALTERNATIVES[alternative])
    d.sort()
    estimate, low, high = hodges_lehmann(d, level)
    if clusters is not None:
        low = high = np.nan
    return SignedRankResult(
        **test,
        estimate=estimate,
        interval=ConfidenceInterval(*keep_side((low, high), alternative, (-np.inf, np.inf))),
        mean_difference=float(np.mean(a - b)),
        n_items=d.size,
        n_groups=None if item_clusters is None else len(item_clusters.labels),
        zero_method=options.zero_method,
        continuity=options.continuity,
        alternative=alternative,
        confidence_level=float(confidence_level),
        lower_is_better=bool(lower_is_better),
        names=pair_names,
    )


def decimal_codes(values: Floats) -> tuple[Floats, float] | None:
    """Values with few decimals as whole numbers, and the factor; None for other values."""
    scale = ranks.decimal_scale(values.ravel())
    return (np.rint(values * scale), scale) if scale else None


def _test(
    d: Floats, tolerance: float, clusters: Ints | None, options: RankOptions, alternative: int
) -> dict[str, Any]:
    """The test of the differences: statistic, p-value, and other fields of the record."""
    packed = np.empty(d.size)
    ranks.pack_signs(d, packed)
    exact = options.is_exact(d.size, FEW_ITEMS)
    order = None
    if exact or clusters is not None:
        order = np.argsort(packed)
        packed = packed[order]
    else:
        packed.sort()
    sums = ranks.sums_of_sorted(packed, tolerance, options.code)
    w_plus, w_minus, z = ranks.signed_rank_z(
        *sums, d.size, options.code, options.continuity, alternative
    )
    pvalue = None
    if order is not None:
        signed = np.empty(d.size, np.int64)
        sorted_ranks = np.empty(d.size, np.int64)
        ranks.ranks_of_sorted(packed, tolerance, options.code, sorted_ranks)
        signed[order] = sorted_ranks
        signed[d < 0] *= -1
        if clusters is not None:
            signed = np.bincount(clusters, signed).astype(np.int64)
            size = np.sqrt(np.sum(signed.astype(np.float64) ** 2))
            z = float(signed.sum() / size) if size else 0.0
            exact = options.is_exact(int(np.count_nonzero(signed)), _FEW_CLUSTERS)
        if exact:
            check_steps(signed)
            pvalue = ranks.signed_sum_pvalue(signed, alternative)
    if pvalue is None:  # without any difference 1, as by the exact test
        pvalue = 1.0 if sums[0] == d.size else normal_pvalue(z, alternative)
    return {
        "statistic": w_plus if exact else z,
        "pvalue": pvalue,
        "status": DEGENERATE if sums[0] == d.size else OK,
        "method": "exact" if exact else "asymptotic",
        "w_plus": w_plus,
        "w_minus": w_minus,
        "zscore": z,
        "n_zero": int(sums[0]),
    }


def check_steps(signed: Ints) -> None:
    """Refuse an exact p-value that would take too long."""
    if ranks.signed_sum_steps(signed) > _STEPS:
        raise BadValueError(
            "`method='exact'` takes too long for so many items or clusters: use 'asymptotic'"
        )


# Wilcoxon's signed-rank test of all pairs of models.


_ROWS = 1 << 20  # differences that are sorted together
_CACHED = 1 << 18  # the same, where a second-level cache is to hold them
_REACH = 1 << 20  # different differences that are counted
_SIDE = 64  # models of a side of a tile


def signed_rank_tests(
    values: Floats, base: PairTests, options: RankOptions, *, level: float | None = None
) -> PairTests:
    """Tests of all pairs of models, values (M, n), by Wilcoxon's signed ranks.

    All are exact, or none. With a level, the difference of a pair is Hodges and
    Lehmann's estimate, with its interval; that takes far longer than the test. Without,
    it is that of `base`, and has no interval; where the ranks favour the other model,
    neither is decided to be better.
    """
    n = values.shape[1]
    exact = options.is_exact(n, FEW_ITEMS)
    if exact:
        check_steps(2 * np.arange(1, n + 1))
    test = signed_ranks_on_common(values, options, exact=exact)
    coded = decimal_codes(values)
    if coded is not None and not exact:
        whole = coded[0] - coded[0].min()
        reach = int(whole.max())
        if reach <= min(_REACH, max(4 * n, 64)):
            codes, how = whole.astype(np.int32), (options.code, options.continuity)

            def test(pairs: Pairs) -> Floats:
                """The same by counting."""
                out = np.empty((len(pairs), 2))
                ranks.coded_pairs_tests(codes, np.ascontiguousarray(pairs), reach, how, out)
                return out

    def centres(pairs: Pairs) -> Floats:
        """Estimates of the centres of differences, with their limits: shape (P, 3)."""
        of, scale = (values, 1.0) if coded is None else coded
        out = np.empty((len(pairs), 3))
        for part in parts(len(pairs), max(1, _ROWS // n)):
            i, j = pairs[part].T
            rows = of[i] - of[j]
            rows.sort(axis=1)
            hodges_lehmann_rows(rows, level or 0.5, out[part])
        return out / scale

    def gain(pairs: Pairs) -> Floats:
        """The difference of means, 0 where the ranks favour the other model."""
        if level is not None:
            return centres(pairs)[:, 0]
        difference = base.differences(pairs)
        side = centres(pairs)[:, 0] if exact else test(pairs)[:, 0]
        return np.where(side * difference > 0, difference, 0.0)

    def columns(block: Block) -> PairColumns:
        statistic, pvalue = test(block.pairs).T[:2]
        nothing, low = np.full(pvalue.size, -1), np.full(pvalue.size, np.nan)
        difference, high = base.differences(block.pairs), low
        if level is not None:
            difference, low, high = centres(block.pairs).T
        return PairColumns(nothing, nothing, difference, low, high, statistic, pvalue)

    return replace(
        base,
        columns=columns,
        with_errors=False,
        pvalues=lambda block: test(block.pairs)[:, 1],
        difference=gain,
        distribution="permutation" if exact else "normal",
        df=None,
        side=_SIDE,
        spread=None,  # ranks have no standard errors
        flips=None,
    )


def signed_ranks_on_common(
    values: Floats, options: RankOptions, *, exact: bool, alternative: int = 0
) -> Callable[[NDArray[np.int32]], Floats]:
    """A test of pairs of any values, on the items that both have: rows not NaN.

    It gives statistic, p-value, W+, W- and z of each, shape (P, 5).
    """
    values = np.ascontiguousarray(values, np.float64)
    size = np.nan_to_num(np.abs(values))
    largest, complete = size.max(axis=1), not np.isnan(values).any()
    settings = (options.code, exact, options.continuity, alternative)

    def test(pairs: Pairs) -> Floats:
        out = np.empty((len(pairs), 5))
        for part in parts(len(pairs), max(1, _CACHED // values.shape[1])):
            i, j = pairs[part].T
            rows = np.empty((i.size, values.shape[1]))
            ranks.pack_pairs(values, np.ascontiguousarray(pairs[part]), rows)
            most = np.maximum(largest[i], largest[j])
            if not complete:
                both = ~np.isnan(rows)
                most = np.maximum(*((size[k] * both).max(axis=1) for k in (i, j)))
            rows.sort(axis=1)
            ranks.sorted_rows_tests(rows, 0.5 * UNIT * most, settings, out[part])
        return out

    return test
