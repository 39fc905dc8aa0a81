"""Two models on the folds of one design: counts, scores and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.crossval.designs import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldOutcomes:
    """Two models on the folds of one design, or many pairs of models at once."""

    design: Design
    #: Score of a minus that of b in each fold, shape (..., R, K).
    differences: NDArray[np.float64]
    #: ``table[a is wrong, b is wrong]`` of each fold, shape (..., R, K, 2, 2); None
    #: where the score is not accuracy.
    tables: Any = None
    #: Samples that the first fold trained on, and tested.
    n_train: int
    n_test: int

    def pair(self, at: int) -> FoldOutcomes:
        """Choose one pair of many."""
        return FoldOutcomes(
            design=self.design,
            differences=self.differences[at],
            tables=None if self.tables is None else self.tables[at],
            n_train=self.n_train,
            n_test=self.n_test,
        )


def differences_of(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Subtract the accuracies in each fold."""
    gain = tables[..., 0, 1] - tables[..., 1, 0]
    return np.asarray(gain / tables.sum(axis=(-2, -1)))
