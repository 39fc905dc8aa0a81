"""McNemar's test where samples are in strata, such as the tasks of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_counts, as_numbers, check_total
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.scaling import scale_exponent
from fastcmp.core.tails import normal_tail
from fastcmp.kernels import DEGENERATE, OK
from fastcmp.paired.margins import read_margin, with_margin
from fastcmp.paired.mcnemar_counts import METHODS, evaluate_counts
from fastcmp.paired.stratified_result import StratifiedMcNemarResult
from fastcmp.paired.stratified_tests import weighted_exact, weighted_z

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.inputs.item_groups import ItemGroups
    from fastcmp.inputs.labels import Labels

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: Methods for strata that have weights; the first is the default.
WEIGHTED = ("asymptotic", "exact", "midp")


def compare_strata(
    labels: Labels,
    found: ItemGroups,
    *,
    method: str | None,
    alternative: str,
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
    given = {
        "only_a": only_a,
        "only_b": only_b,
        "both_right": both_right,
        "both_wrong": both_wrong,
    }
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
    cells: dict[str, Any],
    weights: Floats | None,
    method: str | None,
    alternative: str,
    **more: Any,
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
