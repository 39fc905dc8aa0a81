"""A test of pairs of models, as the engine runs it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Block, PairColumns
    from fastcmp.paired.bounded_margins import BoundedUnits
    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions
    from fastcmp.pairwise.joint_draws import Joint
    from fastcmp.pairwise.metric_options import Draws

    Floats = NDArray[np.float64]
    #: From a block to the differences of its pairs, their variances, NaN where these
    #: are not known, and degrees of freedom.
    Spread = Callable[[Block], tuple[Floats, Floats, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTests:
    """One test of pairs of models on given data; threads may share it."""

    n_samples: int
    #: Rightly classified samples of each model, shape (M,); None where values are
    #: compared.
    correct: NDArray[np.int64] | None
    #: What the models are ranked by, shape (M,). The `difference` of a pair is that of
    #: its scores.
    score: NDArray[np.float64]
    #: Interval for each score alone, shape (M, 2).
    score_interval: NDArray[np.float64]
    #: Reference distribution of the statistic, and its degrees of freedom.
    distribution: str
    df: Any
    #: Models of a side of a tile at most, a multiple of `kernels.TILE_ROWS`.
    side: int
    #: P-values of the pairs of a block, and nothing more.
    pvalues: Callable[[Block], NDArray[np.float64]]
    #: All that a record holds of the pairs of a block.
    columns: Callable[[Block], PairColumns]
    #: Whether the columns have standard errors.
    with_errors: bool = False
    #: By what differences are decided, shape (M,), where the scores have lost digits.
    ranking: NDArray[np.float64] | None = None
    #: Difference of each of some pairs, shape (p, 2), where it is not that of the
    #: scores: each pair has samples of its own.
    difference: Callable[[NDArray[np.int32]], NDArray[np.float64]] | None = None
    #: What else a record holds of some pairs, by the names of its fields.
    details: Callable[[NDArray[np.int32], PairColumns], dict[str, Any]] | None = None
    #: How differences vary, for intervals that hold at once; None where no normal
    #: numbers of the models do.
    spread: Spread | None = None
    #: Least and largest difference.
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: Tests of all pairs of a record against a margin, where standard errors are no guide.
    margins: Callable[[Any, MarginOptions], MarginTests] | None = None
    #: Values were divided by 2**exponent: differences, intervals and scores are
    #: multiplied by it where they are kept.
    exponent: int = 0
    #: Differences by unit of the pairs of a block, over the largest that there may be
    #: (`limits`): by them margins are tested; None: by `spread`.
    bounded: Callable[[Block], BoundedUnits] | None = None
    #: Makes draws of all models as if they were equal; None: normal ones, by `spread`.
    flips: Callable[[Draws, ThreadPool], Joint] | None = None

    def differences(self, pairs: NDArray[np.int32]) -> NDArray[np.float64]:
        """Give the difference of each of some pairs, shape (p, 2)."""
        if self.difference is not None:
            return self.difference(pairs)
        score = self.score if self.ranking is None else self.ranking
        i, j = pairs.T
        difference: NDArray[np.float64] = score[i] - score[j]
        return difference
