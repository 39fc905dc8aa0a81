"""The tests of Table V, on the designs that the paper names.

Designs are shared: the hold-out is the first split of the repeated one, and the K-fold
cross-validation the first of ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastcmp.crossval import designs
from fastcmp.crossval.outcomes import FoldOutcomes, differences_of
from fastcmp.crossval.registry import TESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fastcmp.crossval.designs import Design

_TWO_THIRDS, _NINE_TENTHS, _10X10 = "two thirds", "nine tenths", "10x10"
_5X2, _BLOCKED_5X2, _BLOCKED_3X2 = "5x2", "blocked 5x2", "blocked 3x2"

#: The designs whose splits are made, from the seed of a data set.
DESIGNS: dict[str, Callable[[int], Design]] = {
    _TWO_THIRDS: lambda seed: designs.repeated_holdout(15, test_size=1 / 3, rng=seed),
    _NINE_TENTHS: lambda seed: designs.repeated_holdout(15, test_size=0.1, rng=seed),
    _10X10: lambda seed: designs.repeated_kfold(10, 10, rng=seed),
    _5X2: lambda seed: designs.two_fold(5, rng=seed),
    _BLOCKED_5X2: lambda seed: designs.two_fold(5, blocked=True, rng=seed),
    _BLOCKED_3X2: lambda seed: designs.two_fold(3, blocked=True, rng=seed),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A test of Table V, and the folds that it takes."""

    test: str
    #: One of `DESIGNS`.
    design: str
    #: Whether it takes only the first repetition.
    first: bool = False

    @property
    def title(self) -> str:
        """Name of the test in tables."""
        return TESTS[self.test].title

    def pvalues(self, tables: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """Test many data sets."""
        design = DESIGNS[self.design](0)
        if self.first:
            design = TESTS[self.test].design(rng=0)
            tables = tables[:, :1]
        n_test = int(tables[0, 0, 0].sum())
        outcomes = FoldOutcomes(
            design=design,
            differences=differences_of(tables),
            tables=tables,
            n_train=n - n_test,
            n_test=n_test,
        )
        return np.asarray(TESTS[self.test].run(outcomes).pvalue)


#: In the order of Table V.
RIVALS = (
    Rival(test="resampled-t", design=_TWO_THIRDS),
    Rival(test="kfold-t", design=_10X10, first=True),
    Rival(test="dietterich-t", design=_5X2),
    Rival(test="nadeau-bengio-t", design=_NINE_TENTHS),
    Rival(test="bouckaert-frank-t", design=_10X10),
    Rival(test="yildiz-t", design=_5X2),
    Rival(test="blocked-t", design=_BLOCKED_3X2),
    Rival(test="alpaydin-f", design=_5X2),
    Rival(test="calibrated-f", design=_BLOCKED_5X2),
    Rival(test="proportion-z", design=_TWO_THIRDS, first=True),
    Rival(test="bayle-z", design=_10X10, first=True),
    Rival(test="holdout-mcnemar", design=_TWO_THIRDS, first=True),
    Rival(test="naive-mcnemar", design=_10X10, first=True),
    Rival(test="bcv-mcnemar", design=_BLOCKED_5X2),
)


def all_pvalues(tables: Mapping[str, NDArray[np.int64]], n: int) -> NDArray[np.float64]:
    """Run all tests on many data sets."""
    columns = [rival.pvalues(tables[rival.design], n) for rival in RIVALS]
    return np.stack(columns, axis=1)
