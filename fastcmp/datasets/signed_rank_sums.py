"""Wilcoxon's rank sums of the pairs of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.datasets.task_ranks import gains_of
from fastcmp.items.signed_rank import UNIT, RankOptions, rank_differences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def signed_rank_of(
    gains: Floats, pair: list[int], options: RankOptions, side: int = 0
) -> dict[str, Any] | None:
    """Test two models on the tasks of both; None without any."""
    a, b = gains[pair]
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    if not a.size:
        return None
    size = max(np.abs(a).max(), np.abs(b).max())
    return rank_differences(a - b, 0.5 * UNIT * size, None, options, side)


def rank_sums(result: Any) -> Floats:
    """Give W+, W- and z of each kept pair, shape (P, 3); NaN without common tasks."""
    sign = -1.0 if result.lower_is_better else 1.0
    gains = gains_of(result.names, result.tasks, sign * result.scores).gains
    zero_method = result.zero_method or "wilcox"
    options = RankOptions(zero_method=zero_method, method="asymptotic", continuity=False)
    found = np.full((len(result.pairs), 3), np.nan)
    for p, pair in enumerate(result.pairs.tolist()):
        test = signed_rank_of(gains, pair, options)
        if test is not None:
            found[p] = test["w_plus"], test["w_minus"], test["zscore"]
    return found
