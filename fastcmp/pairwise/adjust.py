"""P-values of many tests, adjusted so that they can be held against one error rate."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_numbers
from fastcmp.core.options import choose
from fastcmp.core.threads import parts
from fastcmp.pairwise.ranking import FAMILYWISE
from fastcmp.pairwise.sorting import apply_sorted, apply_steps, monotone

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.core.threads import ThreadPool

_LARGE = 1 << 21  # p-values; below it one sort of an index is as fast

Floats = NDArray[np.float64]


class _Procedure(NamedTuple):
    """How sorted p-values are adjusted: one by one, and then made monotone."""

    #: From p-values, their ranks (1 for the smallest) and their number (m) to a bound
    #: for each.
    step: Callable[[Floats, Floats, int], Floats]
    #: An adjusted p-value is the largest bound of the smaller ones ("below"), the
    #: smallest bound of the larger ones ("above"), or its own (None).
    within: str | None = None


def _bonferroni(p: Floats, _: Floats, m: int) -> Floats:
    return p * m


def _sidak(p: Floats, _: Floats, m: int) -> Floats:
    return _at_least_one(p, m)


def _at_least_one(p: Floats, m: Any) -> Floats:
    """Probability that the smallest of m independent p-values is at most p."""
    with np.errstate(divide="ignore"):  # log1p(-1) is -inf, and the answer 1
        return np.asarray(-np.expm1(m * np.log1p(-p)))


def _times_remaining(p: Floats, rank: Floats, m: int) -> Floats:
    return (m + 1 - rank) * p


def _holm_sidak(p: Floats, rank: Floats, m: int) -> Floats:
    return _at_least_one(p, m + 1 - rank)


def _bh(p: Floats, rank: Floats, m: int) -> Floats:
    return p * (m / rank)


def _by(p: Floats, rank: Floats, m: int) -> Floats:
    return _bh(p, rank, m) * _harmonic(m)


@cache
def _harmonic(m: int) -> float:
    """1 + 1/2 + ... + 1/m, without an array of m numbers."""
    return sum(
        float(np.sum(1.0 / np.arange(part.start + 1.0, part.stop + 1.0)))
        for part in parts(m, _LARGE)
    )


def _none(p: Floats, _: Floats, __: int) -> Floats:
    return p


_NO_FALSE = "the probability of even one false decision is at most {alpha:.3g}"
_FEW_FALSE = "of all decisions, a share of at most {alpha:.3g} is expected to be false"
_EACH = "each pair alone errs with probability {alpha:.3g}; nothing holds for all"
_PROCEDURES = {
    "bonferroni": _Procedure(_bonferroni),
    "sidak": _Procedure(_sidak),
    "holm": _Procedure(_times_remaining, "below"),
    "holm-sidak": _Procedure(_holm_sidak, "below"),
    "hochberg": _Procedure(_times_remaining, "above"),
    "bh": _Procedure(_bh, "above"),
    "by": _Procedure(_by, "above"),
    "none": _Procedure(_none),
}
#: Names that `adjust` knows.
ADJUSTMENTS = (*FAMILYWISE, "bh", "by", "none")


def promise(method: str, alpha: float) -> str:
    """Say what rejecting at `alpha` promises after this adjustment.

    Parameters
    ----------
    method : str
        Name of a procedure.
    alpha : float
        The error rate.

    Returns
    -------
    str
        The end of a sentence.
    """
    if method == "none":
        return _EACH.format(alpha=alpha)
    rule = _NO_FALSE if method in FAMILYWISE else _FEW_FALSE
    return rule.format(alpha=alpha)


def adjust(pvalues: ArrayLike, method: str = "holm") -> Any:
    """Adjust p-values for the number of tests.

    Parameters
    ----------
    pvalues : array-like of float
        P-values in [0, 1], of any shape: one family of tests. NaN stays NaN and is not
        counted.
    method : str
        Family-wise error: "bonferroni", "sidak", "holm", "holm-sidak", "hochberg" and
        "hommel"; the last two need independent or positively dependent tests. False
        discovery rate: "bh" (Benjamini and Hochberg) and "by" (Benjamini and
        Yekutieli). "none" changes nothing.

    Returns
    -------
    ndarray of float64 or float
        Adjusted p-values in the shape of the input, at most 1.

    Raises
    ------
    ValueError
        If the method is unknown or a p-value is outside [0, 1].
    TypeError
        If the p-values are not numbers.

    Notes
    -----
    O(m log m) for all, Hommel's included.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian J. Statistics 6 (1979) 65-70.
    .. [2] Y. Hochberg, "A sharper Bonferroni procedure for multiple tests of
       significance", Biometrika 75 (1988) 800-802.
    .. [3] G. Hommel, "A stagewise rejective multiple test procedure based on a modified
       Bonferroni test", Biometrika 75 (1988) 383-386.
    .. [4] Y. Benjamini, D. Yekutieli, "The control of the false discovery rate in
       multiple testing under dependency", Annals of Statistics 29 (2001) 1165-1188.

    Examples
    --------
    >>> from fastcmp import adjust
    >>> adjust([0.01, 0.02, 0.03, 0.04, 0.05]).round(4).tolist()
    [0.05, 0.08, 0.09, 0.09, 0.09]
    """
    method = choose(method, "method", ADJUSTMENTS)
    p = as_numbers(pvalues, "pvalues").astype(np.float64)
    flat = p.ravel()
    known = ~np.isnan(flat)
    family = flat[known]
    if family.size and not (family.min() >= 0.0 and family.max() <= 1.0):
        bad = family[(family < 0.0) | (family > 1.0)][0]
        message = f"pvalues must lie in [0, 1], got {bad:g}"
        raise ValueError(message)
    return adjust_checked(flat, method).reshape(p.shape)[()]


def adjust_checked(
    pvalues: Floats,
    method: str,
    pool: ThreadPool | None = None,
    *,
    in_place: bool = False,
) -> Floats:
    """Adjust p-values that are known to be some.

    Parameters
    ----------
    pvalues : ndarray of float64, shape (P,)
        In [0, 1] or NaN.
    method : str
        Name of a procedure.
    pool : ThreadPool, optional
        Who sorts them where they are millions.
    in_place : bool
        Whether `pvalues` may be overwritten: new memory takes time.

    Returns
    -------
    ndarray of float64, shape (P,)
        Adjusted p-values, at most 1.
    """
    if pvalues.size == 0 or not np.isnan(pvalues.max()):  # NaN if any is
        if pool is None or pvalues.size < _LARGE:
            return _adjust_family(pvalues, method)
        adjusted = pvalues if in_place else pvalues.copy()
        _adjust_millions(adjusted, method, pool)
        return adjusted
    known = ~np.isnan(pvalues)
    everywhere = np.full_like(pvalues, np.nan)
    everywhere[known] = adjust_checked(pvalues[known], method, pool, in_place=True)
    return everywhere


def _adjust_family(p: Floats, method: str) -> Floats:
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    if method == "hommel":
        adjusted[order] = kernels.hommel_sorted(p[order])
        return adjusted
    step, within = _PROCEDURES[method]
    bounds = np.minimum(step(p[order], np.arange(1.0, p.size + 1.0), p.size), 1.0)
    adjusted[order] = bounds if within is None else monotone(bounds, within)
    return adjusted


def _adjust_millions(p: Floats, method: str, pool: ThreadPool) -> None:
    """Replace p-values by adjusted ones."""
    if method == "hommel":
        apply_sorted(p, kernels.hommel_sorted, pool)
        return
    step, within = _PROCEDURES[method]

    def bound(values: Floats, rank: Floats) -> Floats:
        return np.minimum(step(values, rank, p.size), 1.0)

    if within is None:
        for part in parts(p.size, _LARGE):
            p[part] = bound(p[part], p[part])
        return
    apply_steps(p, bound, within, pool)
