"""The tests of Table V, on the designs that the paper names.

Designs are shared: the hold-out is the first split of the repeated one, and the K-fold
cross-validation the first of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastcmp.crossval import designs
from fastcmp.crossval.designs import Design
from fastcmp.crossval.fold_tests import TESTS, FoldOutcomes, differences_of

#: Table V: type I errors at the level 0.05, by data set and test.
TABLE_V = {
    "epsilon": {
        "resampled-t": 0.478,
        "kfold-t": 0.043,
        "dietterich-t": 0.034,
        "nadeau-bengio-t": 0.053,
        "bouckaert-frank-t": 0.035,
        "yildiz-t": 0.291,
        "blocked-t": 0.087,
        "alpaydin-f": 0.028,
        "calibrated-f": 0.035,
        "proportion-z": 0.056,
        "bayle-z": 0.046,
        "holdout-mcnemar": 0.031,
        "naive-mcnemar": 0.000,
        "bcv-mcnemar": 0.025,
    },
    "exp6": {
        "resampled-t": 0.272,
        "kfold-t": 0.076,
        "dietterich-t": 0.050,
        "nadeau-bengio-t": 0.040,
        "bouckaert-frank-t": 0.040,
        "yildiz-t": 0.156,
        "blocked-t": 0.005,
        "alpaydin-f": 0.028,
        "calibrated-f": 0.025,
        "proportion-z": 0.016,
        "bayle-z": 0.062,
        "holdout-mcnemar": 0.037,
        "naive-mcnemar": 0.006,
        "bcv-mcnemar": 0.006,
    },
    "simple": {
        "resampled-t": 0.312,
        "kfold-t": 0.109,
        "dietterich-t": 0.084,
        "nadeau-bengio-t": 0.047,
        "bouckaert-frank-t": 0.063,
        "yildiz-t": 0.214,
        "blocked-t": 0.015,
        "alpaydin-f": 0.060,
        "calibrated-f": 0.055,
        "proportion-z": 0.014,
        "bayle-z": 0.106,
        "holdout-mcnemar": 0.029,
        "naive-mcnemar": 0.020,
        "bcv-mcnemar": 0.005,
    },
    "letter": {
        "resampled-t": 0.385,
        "kfold-t": 0.142,
        "dietterich-t": 0.061,
        "nadeau-bengio-t": 0.075,
        "bouckaert-frank-t": 0.082,
        "yildiz-t": 0.236,
        "blocked-t": 0.013,
        "alpaydin-f": 0.057,
        "calibrated-f": 0.042,
        "proportion-z": 0.054,
        "bayle-z": 0.080,
        "holdout-mcnemar": 0.062,
        "naive-mcnemar": 0.039,
        "bcv-mcnemar": 0.015,
    },
    "mnist": {
        "resampled-t": 0.250,
        "kfold-t": 0.090,
        "dietterich-t": 0.080,
        "nadeau-bengio-t": 0.000,
        "bouckaert-frank-t": 0.080,
        "yildiz-t": 0.150,
        "blocked-t": 0.020,
        "alpaydin-f": 0.010,
        "calibrated-f": 0.040,
        "proportion-z": 0.020,
        "bayle-z": 0.090,
        "holdout-mcnemar": 0.060,
        "naive-mcnemar": 0.020,
        "bcv-mcnemar": 0.010,
    },
}
#: Data sets behind each figure: 1,000, and 100 for MNIST.
REPLICATIONS = {"epsilon": 1000, "exp6": 1000, "simple": 1000, "letter": 1000, "mnist": 100}


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
            design = TESTS[self.test].splits.design(rng=0)
            tables = tables[:, :1]
        n_test = int(tables[0, 0, 0].sum())
        outcomes = FoldOutcomes(design, differences_of(tables), tables, n - n_test, n_test)
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
