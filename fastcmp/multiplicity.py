"""P-values of many tests, adjusted so that they can be held against one error rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.checks import as_numbers, check_choice

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]


def _bonferroni(p: Floats) -> Floats:
    return p * p.size


def _sidak(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # log1p(-1) is -inf, and the answer 1
        adjusted: Floats = -np.expm1(p.size * np.log1p(-p))
    return adjusted


def _remaining(p: Floats) -> Floats:
    """How many hypotheses are left at each step of a step-down procedure: m, ..., 1."""
    return np.arange(p.size, 0.0, -1.0)


def _holm(p: Floats) -> Floats:
    return np.maximum.accumulate(_remaining(p) * p)


def _holm_sidak(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.maximum.accumulate(-np.expm1(_remaining(p) * np.log1p(-p)))


def _smallest_above(p: Floats) -> Floats:
    return np.minimum.accumulate(p[::-1])[::-1]


def _hochberg(p: Floats) -> Floats:
    return _smallest_above(_remaining(p) * p)


def _hommel(p: Floats) -> Floats:
    from fastcmp.kernels import hommel_sorted

    return hommel_sorted(p)


def _bh(p: Floats) -> Floats:
    return _smallest_above(p * (p.size / np.arange(1.0, p.size + 1.0)))


def _by(p: Floats) -> Floats:
    return _bh(p) * np.sum(1.0 / np.arange(1.0, p.size + 1.0))


def _none(p: Floats) -> Floats:
    return p


_NO_FALSE = "the probability of even one false decision is at most {alpha:.3g}"
_FEW_FALSE = "of all decisions, a share of at most {alpha:.3g} is expected to be false"
_EACH = "each pair alone errs with probability {alpha:.3g}; nothing holds for all"
#: Procedures by name, each on sorted p-values.
_STEPS: dict[str, Callable[[Floats], Floats]] = {
    "bonferroni": _bonferroni,
    "sidak": _sidak,
    "holm": _holm,
    "holm-sidak": _holm_sidak,
    "hochberg": _hochberg,
    "hommel": _hommel,
    "bh": _bh,
    "by": _by,
    "none": _none,
}
#: Names that `adjust` knows.
ADJUSTMENTS = tuple(_STEPS)
_UNORDERED = ("bonferroni", "sidak", "none")
_FALSE_DISCOVERY = ("bh", "by")


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
    rule = _FEW_FALSE if method in _FALSE_DISCOVERY else _NO_FALSE
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
    check_choice(method, "method", ADJUSTMENTS)
    p = as_numbers(pvalues, "pvalues").astype(np.float64)
    flat = p.ravel()
    known = ~np.isnan(flat)
    family = flat if known.all() else flat[known]
    if family.size and not (family.min() >= 0.0 and family.max() <= 1.0):
        bad = family[(family < 0.0) | (family > 1.0)][0]
        message = f"pvalues must lie in [0, 1], got {bad:g}"
        raise ValueError(message)
    if family.size == 0:
        return p[()]
    if method in _UNORDERED:
        adjusted = _STEPS[method](family)
    else:
        order = np.argsort(family)
        adjusted = np.empty_like(family)
        adjusted[order] = _STEPS[method](family[order])
    adjusted = np.minimum(adjusted, 1.0)
    if family is not flat:
        everywhere = np.full_like(flat, np.nan)
        everywhere[known] = adjusted
        adjusted = everywhere
    return adjusted.reshape(p.shape)[()]
