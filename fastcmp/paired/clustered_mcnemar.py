"""McNemar's test where samples come in clusters, such as sentences of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_counts, check_total
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.kernels.sign_flips import sign_flip_whole
from fastcmp.paired.cluster_variance import CLUSTERED, Units
from fastcmp.paired.clustered_result import ClusteredMcNemarResult
from fastcmp.paired.clustered_tests import evaluate
from fastcmp.paired.margins import read_margin, with_margin
from fastcmp.paired.sample_units import check_defined, default_method, units_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.inputs.item_groups import ItemGroups
    from fastcmp.inputs.labels import Labels

    Ints = NDArray[np.int64]

_FLIP_STEPS = 1 << 28  # of the exact sign-flip test: a second or less
_CELLS = ("both_right", "only_a", "only_b", "both_wrong")


def compare_clusters(
    labels: Labels,
    found: ItemGroups,
    *,
    method: str | None,
    alternative: str,
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
