"""Wilcoxon's signed-rank test of two models, with clusters too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag, as_level, keep_side
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.records import ConfidenceInterval
from fastcmp.inputs.model_names import check_indexes, read_pair_names
from fastcmp.inputs.values import as_values
from fastcmp.items.signed_rank_result import SignedRankResult
from fastcmp.kernels import signed_ranks as ranks
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.kernels.walsh_averages import hodges_lehmann

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

METHODS = ("auto", "exact", "asymptotic")
#: What is done with differences of 0, with the code that kernels take.
ZERO_METHODS = {
    "wilcox": ranks.WILCOX,
    "pratt": ranks.PRATT,
    "zsplit": ranks.ZSPLIT,
}
FEW_ITEMS = 50  # up to here "auto" is exact, as in SciPy
_FEW_CLUSTERS = 20
_STEPS = 2.0**32  # that an exact p-value may take: some seconds
UNIT = 1e-12  # differences are rounded to this part of the largest value
_DECIMALS = 13  # that are looked for
_TRIED = 256  # values on which decimals are tried first


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """Which signed-rank test, checked."""

    zero_method: str
    method: str
    continuity: bool

    @classmethod
    def read(cls, zero_method: Any, method: Any, continuity: Any) -> RankOptions:
        """Check what a user chose."""
        return cls(
            zero_method=choose(zero_method, "zero_method", tuple(ZERO_METHODS)),
            method=choose(method, "method", METHODS),
            continuity=as_flag(continuity, "continuity"),
        )

    @property
    def code(self) -> int:
        """The method for zeros, as kernels take it."""
        return ZERO_METHODS[self.zero_method]

    def is_exact(self, n: int, few: int) -> bool:
        """Choose for "auto"."""
        return self.method == "exact" or (self.method == "auto" and n <= few)


def signed_rank(
    values_a: ArrayLike,
    values_b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
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
    options = RankOptions.read(zero_method, method, continuity)
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))
    level = as_level(confidence_level, alternative)
    pair_names = read_pair_names(names)
    a, b, clusters = _read(values_a, values_b, groups)
    if options.continuity and clusters is not None:
        raise ValueError("continuity must be False with groups: no correction is defined there")
    d = _differences(a, b)
    tolerance = 0.5 * UNIT * max(np.abs(a).max(), np.abs(b).max())
    found = rank_differences(d, tolerance, clusters, options, ALTERNATIVES[alternative])
    d.sort()
    estimate, low, high = hodges_lehmann(d, level)
    if clusters is not None:
        low = high = np.nan
    return SignedRankResult(
        **found,
        estimate=estimate,
        interval=ConfidenceInterval(*keep_side((low, high), alternative, (-np.inf, np.inf))),
        mean_difference=float(np.mean(a - b)),
        n_items=d.size,
        n_groups=None if clusters is None else int(clusters.max()) + 1,
        zero_method=options.zero_method,
        continuity=options.continuity,
        alternative=alternative,
        confidence_level=float(confidence_level),
        lower_is_better=bool(lower_is_better),
        names=pair_names,
    )


def _read(
    values_a: Any, values_b: Any, groups: Any
) -> tuple[Floats, Floats, NDArray[np.int64] | None]:
    """Check two columns of values, and number the clusters."""
    given = [("values_a", values_a), ("values_b", values_b)]
    if groups is not None:
        given.append(("groups", groups))
    check_indexes(given)
    columns = []
    for name, raw in given[:2]:
        column = np.asarray(as_values(raw, name), np.float64)
        if column.ndim != 1 or column.size == 0:
            raise ValueError(f"{name} must be of shape (n,), n > 0, got {column.shape}")
        if not np.isfinite(column).all():
            bad = np.flatnonzero(~np.isfinite(column))
            raise ValueError(f"{name} must be finite, got {column[bad[0]]} at item {bad[0]}")
        columns.append(column)
    a, b = columns
    if a.size != b.size:
        raise ValueError(f"values_b must be as many as values_a, {a.size}, got {b.size}")
    return a, b, None if groups is None else _number_groups(groups, a.size)


def _number_groups(groups: Any, n: int) -> NDArray[np.int64]:
    """Give clusters numbers from 0 on."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        message = f"groups must name the cluster of each of {n} items, got shape "
        raise ValueError(message + str(labels.shape))
    n_missing = sum(map(_is_missing, labels)) if labels.dtype.kind in "Of" else 0
    if n_missing:
        raise ValueError(f"groups must name every cluster, got {n_missing} missing")
    try:
        names, number = np.unique(labels, return_inverse=True)
    except TypeError:
        raise TypeError("groups must be labels of one kind") from None
    if names.size < 2:
        raise ValueError(f"groups must be at least two clusters, got {names.size}")
    return number.astype(np.int64)


def _is_missing(label: Any) -> bool:
    return label is None or bool(label != label)  # noqa: PLR0124  # NaN


def _differences(a: Floats, b: Floats) -> Floats:
    """Subtract; decimals as decimals, so that 0.7 - 0.6 is 0.1."""
    coded = decimal_codes(np.stack([a, b]))
    if coded is None:
        return a - b
    codes, scale = coded
    return np.asarray((codes[0] - codes[1]) / scale)


def decimal_codes(values: Floats) -> tuple[Floats, float] | None:
    """Write values with few decimals as whole numbers, and what they were times."""
    some = values.ravel()[:: max(1, values.size // _TRIED)]
    for decimals in range(_DECIMALS):
        scale = 10.0**decimals
        if not np.abs(some).max() * scale < 1.0 / UNIT:
            return None
        if not _are_whole(some * scale) or not _are_whole(values * scale):
            continue
        codes = np.rint(values * scale)
        return None if np.abs(codes).max() > 1.0 / UNIT else (codes, scale)
    return None


def _are_whole(scaled: Floats) -> bool:
    """Tell whether numbers are whole up to the rounding of one product."""
    whole = np.rint(scaled)
    eps = np.finfo(np.float64).eps
    return bool((np.abs(scaled - whole) <= 2.0 * eps * np.abs(whole)).all())


def rank_differences(
    d: Floats,
    tolerance: float,
    clusters: NDArray[np.int64] | None,
    options: RankOptions,
    alternative: int,
) -> dict[str, Any]:
    """Test differences: statistic, p-value, and what goes with them."""
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
        own = np.empty(d.size, np.int64)
        ranks.ranks_of_sorted(packed, tolerance, options.code, own)
        signed[order] = own
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
        pvalue = 1.0 if sums[0] == d.size else ranks.normal_pvalue(z, alternative)
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


def check_steps(signed: NDArray[np.int64]) -> None:
    """Refuse an exact p-value that would take too long."""
    if ranks.signed_sum_steps(signed) > _STEPS:
        raise ValueError(
            "method='exact' takes too long for so many items or clusters: use 'asymptotic'"
        )
