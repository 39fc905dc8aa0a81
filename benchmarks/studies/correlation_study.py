"""How disagreements on the folds of a blocked 5x2 cross-validation are correlated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.sections import Section
from fastcmp.crossval import designs

from .algorithms import predict_folds
from .problems import data_seed
from .study_record import StudyRecord

_M = 5


def disagreements(
    population: Any, algorithms: Mapping[str, Any], seed: int, first: int, last: int
) -> NDArray[np.float64]:
    """Measure how often each pair of algorithms disagrees, on each fold.

    Gives the estimators E of data sets first to last - 1, shape (B, pairs * 10).
    """
    rows = []
    for replicate in range(first, last):
        X, y = population.sample(seed, replicate)
        design = designs.two_fold(_M, blocked=True, rng=data_seed(seed, replicate))
        folds = design.folds(len(y))
        wrong = np.stack([predict_folds(each, X, y, folds) != y for each in algorithms.values()])
        pairs = np.array(list(combinations(range(len(wrong)), 2)))
        differ = wrong[pairs[:, 0]] != wrong[pairs[:, 1]]
        by_fold = [
            (differ & (folds == fold)).sum(-1) / (folds == fold).sum(-1) for fold in range(2)
        ]
        rows.append(np.stack(by_fold, axis=-1).ravel())
    return np.array(rows)


def correlations(estimates: NDArray[np.float64]) -> tuple[float, float]:
    """Estimate rho1 and rho2 from E of each fold, (B, 5, 2); NaN if E never varies."""
    n_sets, m, _ = estimates.shape
    flat = estimates.reshape(n_sets, 2 * m)
    # The range, as the variance of equal numbers may be rounded to above 0.
    if not np.ptp(flat, axis=0).any():
        return np.nan, np.nan
    covariance = np.cov(flat, rowvar=False)
    cut = np.repeat(np.arange(m), 2)
    same_cut = cut[:, None] == cut
    same = np.eye(2 * m, dtype=bool)
    variance = covariance[same].mean()
    within = covariance[same_cut & ~same].mean() / variance
    across = covariance[~same_cut].mean() / variance
    return float(within), float(across)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CorrelationStudy(StudyRecord):
    """The correlations of many pairs of algorithms on several data sets: Figure 1."""

    _picture: ClassVar[str] = "draw_correlations"
    _table: ClassVar[str] = "experiments"

    #: Data set and two algorithms of each experiment.
    experiments: tuple[tuple[str, str, str], ...]
    rho1: NDArray[np.float64]
    rho2: NDArray[np.float64]
    replications: int
    seed: int

    @property
    def known(self) -> NDArray[np.bool_]:
        """In which experiments the algorithms disagree at all."""
        return np.isfinite(self.rho1)

    @property
    def within_bounds(self) -> NDArray[np.bool_]:
        """Where rho1 <= 1/2 and 0 <= rho2 <= 1/2, equation (10)."""
        return (self.rho1 <= 0.5) & (self.rho2 >= 0) & (self.rho2 <= 0.5)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Where rho2 < (1 + rho1) / 2, equation (9)."""
        return self.rho2 < (1 + self.rho1) / 2

    def columns(self) -> dict[str, Any]:
        """The experiments as columns.

        Returns
        -------
        dict of str to sequence
            A row an experiment.
        """
        dataset, first, second = zip(*self.experiments, strict=True)
        return {
            "dataset": dataset,
            "algorithm_a": first,
            "algorithm_b": second,
            "rho1": self.rho1,
            "rho2": self.rho2,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The three observations of the paper, and a table of the data sets.
        """
        known = int(self.known.sum())
        datasets = list(dict.fromkeys(each[0] for each in self.experiments))
        names = np.array([each[0] for each in self.experiments])
        rows = []
        for name in datasets:
            at = (names == name) & self.known
            cells = [*_spread(self.rho1[at]), *_spread(self.rho2[at])]
            rows.append((name, str(int(at.sum())), *cells))
        text = (
            f"{known} experiments of {len(self.experiments)} in which two algorithms "
            f"disagree; {self.replications} data sets each, seed {self.seed}.",
            f"Within rho1 <= 1/2 and 0 <= rho2 <= 1/2: "
            f"{int((self.within_bounds & self.known).sum())} of {known}.",
            f"Below rho2 = (1 + rho1) / 2: {int((self.possible & self.known).sum())} of {known}.",
            f"rho2 >= rho1: {int((self.rho2 >= self.rho1)[self.known].sum())} of {known}.",
        )
        return [
            Section(
                title="Correlations of disagreements, blocked 5x2 cross-validation",
                text=text,
                columns=("data set", "pairs", "rho1", "its range", "rho2", "its range"),
                rows=tuple(rows),
            )
        ]


def _spread(rho: NDArray[np.float64]) -> tuple[str, str]:
    """Write a median and a range."""
    if not rho.size:
        return "-", "-"
    return f"{np.median(rho):.2f}", f"[{rho.min():.2f}, {rho.max():.2f}]"
