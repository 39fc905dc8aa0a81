"""The record of many models compared by saved scores of folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.sections import Section


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoldComparison(PairwiseResult):
    """Many models compared in pairs by their scores in the folds of one data set."""

    #: Shape (M, R, K): repetitions and folds; R is 1 for random splits.
    fold_scores: NDArray[np.float64]
    #: Samples tested over samples trained on in a split.
    test_train_ratio: float

    @property
    def any_size(self) -> bool:
        """Whether scores may be of any size: outside 0 to 1 they are."""
        return bool(np.abs(self.fold_scores).max() > 1)

    def fold_table(
        self,
    ) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...], NDArray[np.float64]]:
        """Give the scores as `fastcmp.datasets.task_table` takes them.

        Returns
        -------
        tuple of ndarray, names, tasks, ndarray
            As of `CVDatasetsResult`, with one data set.
        """
        table = self.fold_scores[:, None]
        return table, self.names, ("data",), np.array([self.test_train_ratio])

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, which models beat which, and the rule.
        """
        ratio = f"ratio of test to training samples {self.test_train_ratio:.4g}"
        return describe(
            self,
            each_pair=f"corrected resampled t test, {ratio}",
            intervals="corrected resampled t",
        )
