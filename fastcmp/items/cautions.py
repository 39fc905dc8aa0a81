"""What to beware of in a comparison of means: said in the record, and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fastcmp.items.mean_data import MeanData, MeanOptions

#: Items, below which skewed differences are told by no test.
FEW_ITEMS = 30
_FEW_DEGREES = 5.0
_LARGE_CLUSTER = 1 / 3
#: Clusters, below which normal quantiles and plain bootstrap intervals are too short.
FEW_UNITS = 50
_LEAST_FLIPS = 6  # units: fewer cannot reach 0.05
_SKEWED = 25  # n must exceed this times the squared skewness


def cautions_of(data: MeanData, options: MeanOptions) -> tuple[str, ...]:
    """List what follows from the number and the sizes of items and clusters."""
    plan, method = data.plan, options.method
    found = []
    units = "items" if data.groups.clusters is None else "clusters"
    n = plan.n_units
    if units == "clusters":
        df = min(stratum.df for stratum in plan.strata)
        if method == "t" and df < _FEW_DEGREES and options.df == "satterthwaite":
            found.append(
                f"The {n} clusters are worth {df:.1f} degrees of freedom: with so few "
                "the test depends on their differences being symmetric."
            )
        if plan.largest > _LARGE_CLUSTER:
            found.append(
                f"One cluster holds {100 * plan.largest:.0f}% of the items: the result "
                "is largely its own."
            )
    if n < FEW_UNITS and options.df == "normal" and method == "t":
        found.append(
            f"Normal quantiles with {n} {units} reject too often: df='satterthwaite' "
            "takes those of Student's t."
        )
    if n < FEW_UNITS and method == "bootstrap" and options.interval != "studentized":
        found.append(
            f"Bootstrap intervals of this kind ({options.interval}) are too short with "
            f"{n} {units}: interval='studentized', or method='t'."
        )
    if method == "permutation" and n < _LEAST_FLIPS:
        found.append(
            f"With {n} {units} no p-value can be below {2.0 ** (1 - n):.3g} (two-sided)."
        )
    if units == "items" and n < FEW_ITEMS and method != "wilcoxon":
        found.append(
            f"With {n} items no test of means is safe where differences are skewed."
        )
    if method == "wilcoxon":
        found.append(
            "Wilcoxon's test is not a test of means: it rejects equal means where "
            "differences are not symmetric."
        )
    if data.values.present is not None:
        found.append(
            "Each pair is compared on the items that both models have: the means are "
            "over different items, and pairs need not agree with their order."
        )
    return tuple(found)


def is_skewed(n: int, squares: float, cubes: float) -> bool:
    """Tell whether n is too small for the skewness, by Cochran's rule n > 25 G1**2."""
    if squares <= 0.0:
        return False
    skewness = cubes / n / (squares / n) ** 1.5
    return bool(n < _SKEWED * skewness * skewness)


def skew_caution(n_pairs: int) -> str:
    """Say that differences are skewed."""
    what = "The differences are" if n_pairs == 1 else f"Differences of {n_pairs} pairs are"
    return (
        f"{what} so skewed that a t test needs more items (n > 25 times the squared "
        "skewness): compare with method='permutation'."
    )


def count_skewed(values: np.ndarray, limit: int = 300) -> int:
    """Count the pairs of models with few items and skewed differences.

    Only with few items: values have the shape (M, n), n up to `limit`.
    """
    m, n = values.shape
    if n > limit:
        return 0
    centred = values - values.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    second = centred @ centred.T
    own = np.diagonal(second)
    squares = own[:, None] + own - 2 * second
    mixed = (centred**2) @ centred.T
    third = (centred**3).sum(axis=1)
    cubes = third[:, None] - third - 3 * mixed + 3 * mixed.T
    i, j = np.triu_indices(m, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = cubes[i, j] / n / (squares[i, j] / n) ** 1.5
    return int(np.count_nonzero(n < _SKEWED * skewness**2))
