"""P-values adjusted for the number of tests, so that one error rate holds for all."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import as_numbers, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import parts
from fastcmp.core.typing import Floats, Ints
from fastcmp.inputs.scores import order_of
from fastcmp.kernels.multiplicity import bergmann_hommel, fewest_models
from fastcmp.kernels.score_bins import sort_words

#: Adjustments as papers name them.
PROCEDURES = {
    "bonferroni": "the Bonferroni procedure",
    "sidak": "Sidak's procedure",
    "holm": "Holm's procedure",
    "holm-sidak": "the step-down Sidak procedure",
    "hochberg": "Hochberg's procedure",
    "hommel": "Hommel's procedure",
    "bh": "Benjamini and Hochberg's procedure",
    "by": "Benjamini and Yekutieli's procedure",
    "shaffer": "Shaffer's procedure (static)",
    "bergmann-hommel": "Bergmann and Hommel's procedure",
    "finner": "Finner's procedure",
    "li": "Li's procedure",
    "maxt": "the step-down max-T procedure",
    "single-step": "the single-step max-T procedure",
    "nemenyi": "Nemenyi's studentized range of mean ranks",
    "e-holm": "Holm's procedure for e-values",
    "e-bh": "the e-BH procedure",
}
#: Works that they are from, by the keys of `report.references`.
PROCEDURES_CITE = {
    **{
        name: name for name in ("holm", "hochberg", "hommel", "bh", "by", "shaffer", "finner", "li")
    },
    "bergmann-hommel": "bergmann",
    "nemenyi": "nemenyi",
    "e-holm": "holm",
    "maxt": "westfall",
    "single-step": "hothorn",
}
#: Adjustments for all pairs of models, which equality follows for one another.
LOGICAL = ("shaffer", "bergmann-hommel")
#: Models that Bergmann and Hommel's adjustment takes at most: 4,213,597 partitions.
MOST_MODELS = 12


def adjusted_by(adjust: str, what: str = "", drawn: str = "") -> str:
    """What was done to p-values, in words.

    >>> adjusted_by("holm", "for 3 pairs")
    "adjusted for 3 pairs by Holm's procedure"
    """
    if adjust == "none":
        return "not adjusted"
    text = " ".join(filter(None, ("adjusted", what, f"by {PROCEDURES[adjust]}")))
    return f"{text} ({drawn})" if drawn else text


def check_all_pairs(method: str, n_models: int, *, some: bool = False) -> None:
    """Refuse an adjustment for all pairs where there are others, or too many."""
    if method in LOGICAL and some:
        raise BadValueError(
            f"`adjust={method!r}` is for all pairs of models: with `pairs=` or `control=` use "
            "'holm'"
        )
    if method == "bergmann-hommel" and n_models > MOST_MODELS:
        raise BadValueError(
            f"'bergmann-hommel' looks at all partitions of at most {MOST_MODELS} models",
            n_models,
            ": use 'shaffer'",
            argument="adjust",
        )


def logical_pvalues(pvalues: Floats, method: str) -> Floats:
    """Adjusted p-values of all pairs, shape (P,); one that is NaN counts as 1."""
    n_models = (1 + math.isqrt(1 + 8 * pvalues.size)) // 2
    if n_models * (n_models - 1) // 2 != pvalues.size:
        raise BadValueError(
            f"`method={method!r}` needs p-values of all pairs of M models, M (M - 1) / 2 of them",
            pvalues.size,
        )
    check_all_pairs(method, n_models)
    p = np.where(np.isnan(pvalues), 1.0, pvalues)
    order = _order(p)
    if method == "shaffer":
        bounds = p[order] * _most_true(n_models)[p.size - np.arange(p.size)]
    else:
        bounds = bergmann_hommel(p, n_models)[order]
    # None is below that of a smaller p-value; those of equal ones are equal.
    np.maximum.accumulate(bounds, out=bounds)
    last = np.flatnonzero(np.diff(p[order], append=np.inf))
    bounds = np.repeat(bounds[last], np.diff(last, prepend=-1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(bounds, 1.0)
    adjusted[np.isnan(pvalues)] = np.nan
    return adjusted


@lru_cache(maxsize=8)
def _most_true(n_models: int) -> Floats:
    """The most hypotheses that can be true together of at most 0, 1, ..., P."""
    fewest = fewest_models(n_models * (n_models - 1) // 2)
    possible = np.where(fewest <= n_models, np.arange(fewest.size), 0)
    return np.maximum.accumulate(possible).astype(np.float64)


_PART = 1 << 21  # p-values that are worked on at a time
_SORTED_AT_ONCE, _COUNTS = 1 << 9, 8  # p-values; passes over more of them to sort few
_LARGE = 1 << 12  # p-values; below, np.argsort is as fast as `order_of`


def _at_least_one(p: Floats, m: object) -> Floats:
    """Probability that the smallest of m independent p-values is at most p."""
    with np.errstate(divide="ignore"):  # log1p(-1) is -inf, and the answer 1
        return np.asarray(-np.expm1(m * np.log1p(-p)))


@cache
def _harmonic(m: int) -> float:
    """1 + 1/2 + ... + 1/m, without an array of m numbers."""
    return sum(
        float(np.sum(1.0 / np.arange(part.start + 1.0, part.stop + 1.0)))
        for part in parts(m, _PART)
    )


_NO_FALSE = "the probability of even one false decision is at most {alpha:.3g}"
_FEW_FALSE = "the expected proportion of false decisions is at most {alpha:.3g}"
_WEAK = (
    "if no models differ, the probability of even one false decision is at most "
    "{alpha:.3g}; where some do, it may be larger"
)
_INDEPENDENT = _NO_FALSE + " only where the tests are independent"
_EACH = "each pair alone has the error rate {alpha:.3g}; nothing holds for all of them"
#: How sorted p-values are adjusted: from these, their ranks (1 for the smallest) and their
#: number to a bound for each; an adjusted p-value is the largest bound of the smaller ones
#: ("below"), the smallest bound of the larger ones ("above"), or its own (None).
_PROCEDURES: dict[str, tuple[Callable[[Floats, Floats, int], Floats], str | None]] = {
    "bonferroni": (lambda p, _, m: p * m, None),
    "sidak": (lambda p, _, m: _at_least_one(p, m), None),
    "holm": (lambda p, rank, m: (m + 1 - rank) * p, "below"),
    "holm-sidak": (lambda p, rank, m: _at_least_one(p, m + 1 - rank), "below"),
    "hochberg": (lambda p, rank, m: (m + 1 - rank) * p, "above"),
    "bh": (lambda p, rank, m: p * (m / rank), "above"),
    "by": (lambda p, rank, m: p * (m / rank) * _harmonic(m), "above"),
    "none": (lambda p, _, __: p, None),
    "finner": (lambda p, rank, m: _at_least_one(p, m / rank), "below"),
    # Of all pairs together already, by the range of the ranks.
    "nemenyi": (lambda p, _, __: p, None),
}
#: Adjustments of a p-value by its rank among all.
BY_RANK = tuple(_PROCEDURES)
_OF_ANY = ("bonferroni", "sidak", "holm", "holm-sidak", "hochberg", "hommel")
_OTHER_PROMISES = {"none": _EACH, "finner": _WEAK, "li": _INDEPENDENT}
#: Adjustments by joint draws of all models, which know how alike these are.
JOINT = ("maxt", "single-step")
#: Adjustments that bound the probability of even one false decision. Only after these
#: do intervals of ranks hold.
FAMILYWISE = (*_OF_ANY, *LOGICAL, *JOINT, "nemenyi")
#: Adjustments for any family of tests.
ADJUSTMENTS = (*_OF_ANY, "bh", "by", "finner", "li", "none")
#: Adjustments for tests of all pairs of models, by their p-values.
OF_PAIRS = (*ADJUSTMENTS, *LOGICAL)
#: Adjustments where models can be drawn together as well.
OF_MODELS = (*OF_PAIRS, *JOINT)


def promise(method: str, alpha: float) -> str:
    """Say which error rate decisions at `alpha` keep: the end of a sentence."""
    if method in _OTHER_PROMISES:
        return _OTHER_PROMISES[method].format(alpha=alpha)
    rule = _NO_FALSE if method in FAMILYWISE else _FEW_FALSE
    where = "in large samples " if method in JOINT else ""
    return where + rule.format(alpha=alpha)


def adjust(pvalues: ArrayLike, *, method: str = "holm") -> Any:
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
        Yekutieli). "none" changes nothing. The names of statsmodels, R and MATLAB are
        accepted too: "fdr_bh", "BH", "Benjamini-Hochberg", ... Of comparisons with a
        control: "finner", which keeps the family-wise error only where all hypotheses
        are true, and "li", only for independent tests. For all pairs of M
        models, in the order of ``np.triu_indices(M, 1)``, family-wise and with more
        power than Holm: "shaffer" (static), and up to 12 models "bergmann-hommel".
        They know that a = b and b = c imply a = c; a NaN counts as a pair with p = 1.

    Returns
    -------
    ndarray of float64 or float
        Adjusted p-values in the shape of the input, at most 1.

    Raises
    ------
    ValueError
        If the method is unknown, a p-value is outside [0, 1], or p-values for
        "shaffer" or "bergmann-hommel" are not those of all pairs of models.
    TypeError
        If the p-values are not numbers.

    Notes
    -----
    O(m log m) for all, Hommel's included; Shaffer's takes O(m**1.25) once for each
    number of models, Bergmann and Hommel's looks at all partitions of the models.

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
    .. [5] J. P. Shaffer, "Modified sequentially rejective multiple test procedures",
       JASA 81 (1986) 826-831.
    .. [6] G. Bergmann, G. Hommel, "Improvements of general multiple test procedures for
       redundant systems of hypotheses", in Multiple Hypotheses Testing (1988) 100-115.

    Examples
    --------
    >>> from fastcmp import adjust
    >>> adjust([0.01, 0.02, 0.03, 0.04, 0.05]).round(4).tolist()
    [0.05, 0.08, 0.09, 0.09, 0.09]
    """
    method = choose(method, "method", OF_PAIRS)
    p = as_numbers(pvalues, "pvalues").astype(np.float64)
    flat = p.ravel()
    is_known = ~np.isnan(flat)
    family = flat[is_known]
    if family.size and not (family.min() >= 0.0 and family.max() <= 1.0):
        bad = family[(family < 0.0) | (family > 1.0)][0]
        raise BadValueError("`pvalues` must lie in [0, 1]", f"{bad:g}")
    return adjust_checked(flat, method).reshape(p.shape)[()]


_LIKE_1 = 1.0 - 1e-12  # p-values of 1 are computed to some units in the last place


def adjust_checked(pvalues: Floats, method: str, *, in_place: bool = False) -> Floats:
    """Adjusted p-values of those in [0, 1] or NaN, (P,); `in_place` may overwrite them."""
    if method in LOGICAL:
        return logical_pvalues(pvalues, method)
    adjusted = pvalues if in_place else pvalues.copy()
    if method == "li":  # compared with the largest; 0 becomes 1 where that is 1
        is_known = ~np.isnan(adjusted)
        p = adjusted[is_known]
        last = p.max(initial=0.0)
        adjusted[is_known] = p / (p + (1.0 - last)) if last < _LIKE_1 else 1.0
        return adjusted
    # NaN and 0 stay as they are; of millions of pairs, most may have a p-value of 0, or 1 at once.
    end = _start_of_ones(adjusted, method)
    some: Any = np.flatnonzero((adjusted > 0.0) & (adjusted < end))
    m, n_zeros = some.size, 0
    if m == adjusted.size:
        some = slice(None)
    else:
        n_zeros, is_one = int(np.count_nonzero(adjusted == 0.0)), adjusted >= end
        m += n_zeros + int(np.count_nonzero(is_one))
        adjusted[is_one] = 1.0
    positive = adjusted[some]
    if method in _PROCEDURES and _PROCEDURES[method][1] is None:
        _adjust_sorted(positive, method, n_zeros, m)  # each by itself
    else:
        order = _order(positive)
        ascending = positive[order]
        _adjust_sorted(ascending, method, n_zeros, m)
        positive[order] = ascending
    adjusted[some] = positive
    return adjusted


def _start_of_ones(p: Floats, method: str) -> float:
    """The p-value from which on all are 1 when adjusted by Holm's procedure; infinity: not known.

    The least of them times their number is 1 or more, and no larger one has a smaller bound.
    """
    if method != "holm" or p.size < _SORTED_AT_ONCE:
        return math.inf
    m = int(np.count_nonzero(p >= 0.0))
    end = 1.0 / max(m, 1)
    for _ in range(_COUNTS):
        n_left = m - int(np.count_nonzero(p < end))
        if end * n_left >= 1.0 or n_left == 0:
            return end if n_left else math.inf
        end = (1.0 + 1e-9) / n_left
    return math.inf


def adjust_rows(pvalues: Floats, method: str) -> Floats:
    """Adjusted p-values of rows in [0, 1], each a family of its own, shape (B, P)."""
    if method not in _PROCEDURES:
        return np.stack([adjust_checked(row, method) for row in pvalues])
    order = np.argsort(pvalues, axis=1)
    bounds = np.take_along_axis(pvalues, order, axis=1)
    _adjust_ranked(bounds, 1.0, bounds.shape[1], method)
    adjusted = np.empty_like(bounds)
    np.put_along_axis(adjusted, order, bounds, axis=1)
    return adjusted


def adjust_groups(pvalues: Floats, sizes: Ints, method: str) -> Floats:
    """Adjusted p-values of which each stands for so many, by a method of `BY_RANK`."""
    order = np.argsort(pvalues)
    bounds, last = pvalues[order], np.cumsum(sizes[order])
    # Of equal ones the first rank has the largest bound, the last one the smallest.
    rank = last if _PROCEDURES[method][1] == "above" else last - sizes[order] + 1
    _adjust_ranked(bounds, rank.astype(np.float64), int(last[-1]), method)
    adjusted = np.empty_like(bounds)
    adjusted[order] = bounds
    return adjusted


def _adjust_sorted(p: Floats, method: str, n_zeros: int, m: int) -> None:
    """Adjust ascending p-values in place, the smallest positive ones of m of which some are 0."""
    if method == "hommel":
        p[:] = kernels.hommel_sorted(np.concatenate([np.zeros(n_zeros), p]))[n_zeros:]
    else:
        _adjust_ranked(p, n_zeros + 1.0, m, method)


def _adjust_ranked(p: Floats, ranks: Floats | float, m: int, method: str) -> None:
    """Adjust some of m p-values, ascending along the last axis, by their ranks or the first one."""
    step, within = _PROCEDURES[method]
    for part in parts(p.shape[-1], _PART):
        if isinstance(ranks, float):
            rank = np.arange(ranks + part.start, ranks + part.stop)
        else:
            rank = ranks[part]
        np.minimum(step(p[..., part], rank, m), 1.0, out=p[..., part])
    if within == "below":
        np.maximum.accumulate(p, axis=-1, out=p)
    elif within == "above":
        np.minimum.accumulate(p[..., ::-1], axis=-1, out=p[..., ::-1])


class Family:
    """P-values of a family, in order, of which few are to be adjusted."""

    def __init__(self, pvalues: Floats, method: str) -> None:
        self._end = _start_of_ones(pvalues, method)
        self._sorted = pvalues[(pvalues > 0.0) & (pvalues < self._end)]
        sort_words(self._sorted.view(np.uint64), 0)
        self._adjusted = self._sorted.copy()
        n_zeros, n_ones = (np.count_nonzero(x) for x in (pvalues == 0.0, pvalues >= self._end))
        m = int(n_zeros + self._sorted.size + n_ones)
        _adjust_sorted(self._adjusted, method, int(n_zeros), m)

    def largest(self, alpha: float) -> float:
        """The largest p-value that is at most alpha when adjusted; 0 where none is."""
        n = int(np.searchsorted(self._adjusted, alpha, side="right"))
        return float(self._sorted[n - 1]) if n else 0.0

    def adjust(self, some: Floats) -> Floats:
        """Some of the p-values adjusted; NaN and 0 stay as they are."""
        adjusted, is_known = some.copy(), (some > 0.0) & (some < self._end)
        adjusted[some >= self._end] = 1.0
        adjusted[is_known] = self._adjusted[np.searchsorted(self._sorted, some[is_known])]
        return adjusted


def _order(p: Floats) -> Ints:
    """The order of p-values; see docs/decisions/0011 for the measurements."""
    # A multiple has the same order, and leading bits where the p-value is subnormal.
    return order_of(p * 2.0**900) if p.size >= _LARGE else np.argsort(p)
