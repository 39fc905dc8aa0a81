"""Records of models compared by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.report import Section, format_interval, format_pvalue
from fastcmp.crossval.registry import CVTest, find_test
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.crossval.runs import CVRuns


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CVComparison(Record):
    """Two classifiers compared by cross-validation."""

    #: The record of each test that was asked for, by name.
    tests: dict[str, Any]
    #: Predictions and folds, from which `test` works out further tests.
    runs: CVRuns
    alternative: str

    @property
    def statistic(self) -> float:
        """Statistic of the first test."""
        return float(self._first.statistic)

    @property
    def pvalue(self) -> float:
        """P-value of the first test."""
        return float(self._first.pvalue)

    @property
    def _first(self) -> Any:
        return next(iter(self.tests.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the two models."""
        return self.runs.names

    @property
    def measure(self) -> str:
        """What the models are compared by, such as "accuracy"; more is better."""
        return self.runs.measure

    @property
    def seed(self) -> int:
        """Where all splits and random states came from."""
        return self.runs.seed

    def scores(self, test: str | None = None) -> NDArray[np.float64]:
        """Give the scores in each fold.

        Parameters
        ----------
        test : str, optional
            On whose design; the first that was asked for by default.

        Returns
        -------
        ndarray of float64, shape (2, R, K)
            For both models, all repetitions and their folds.
        """
        name = next(iter(self.tests)) if test is None else test
        return self.runs.scores(self.runs.find(find_test(name)))

    def test(self, name: str, *, alternative: str | None = None) -> Any:
        """Run another test on what was fitted already.

        Parameters
        ----------
        name : str
            As in `compare_cv`.
        alternative : {"two-sided", "greater", "less"}, optional
            That of the comparison by default.

        Returns
        -------
        FoldTestResult, BCVMcNemarResult or McNemarResult
            The record of the test.

        Raises
        ------
        ValueError
            If the test is unknown, or its design was not fitted.
        """
        chosen = self.alternative if alternative is None else alternative
        return evaluate_pair(self.runs, find_test(name), chosen)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Both scores, and a table of the tests.
        """
        a, b = self.names
        means = self.runs.means(self.runs.find(find_test(next(iter(self.tests)))))
        percent = 100 if self.measure == "accuracy" else 1
        unit = " %" if percent == 100 else ""
        better = a if means[0] > means[1] else b
        lead = (
            f"{a} and {b} score the same on average."
            if means[0] == means[1]
            else f"{better} is better by {percent * abs(means[0] - means[1]):.4g}"
            f"{' points' if unit else ''} of {self.measure}, on average over the folds."
        )
        text = (
            lead,
            f"{self.measure}: {a} {percent * means[0]:.4g}{unit}, "
            f"{b} {percent * means[1]:.4g}{unit}; {self.runs.y.size} samples",
            f"alternative: {self.alternative}; seed {self.seed}",
        )
        level = "95 %" if self.alternative == "two-sided" else "one-sided 95 %"
        rows = tuple(
            (
                find_test(name).title,
                str(self.runs.find(find_test(name)).design),
                f"{record.statistic:.4g}",
                format_pvalue(record.pvalue),
                _shown(percent * difference_interval(record), 2 if unit else 4),
            )
            for name, record in self.tests.items()
        )
        return [
            Section(
                title=f"{a} against {b}, cross-validated",
                text=text,
                columns=("test", "design", "statistic", "p", f"{a} minus {b}, {level}"),
                rows=rows,
            )
        ]


def _shown(ends: NDArray[np.float64], digits: int) -> str:
    if np.isnan(ends).any():
        return "-"
    return format_interval(*ends, digits=digits, sign="+")


def difference_interval(record: Any, level: float = 0.95) -> NDArray[np.float64]:
    """Give the interval of the mean difference that belongs to a test."""
    nothing = np.full((*np.shape(record.pvalue), 2), np.nan)
    if getattr(record, "test", "") == "dietterich-t":
        return nothing
    try:
        return np.stack(record.confidence_interval(level), axis=-1)
    except ValueError:
        return nothing


def evaluate_pair(runs: CVRuns, test: CVTest, alternative: str) -> Any:
    """Run a test on the two models of a comparison."""
    both = np.array([[0, 1]], np.int32)
    outcomes = runs.outcomes(runs.find(test), both)
    return test.run(outcomes.pair(0), alternative)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CVPairwiseResult(PairwiseResult):
    """Many classifiers compared in pairs by cross-validation."""

    runs: CVRuns

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, who beats whom, and the rule.
        """
        test = find_test(self.test)
        design = self.runs.find(test).design
        intervals = "corrected resampled t"
        if design.n_repeats * design.n_folds == 1:
            counted = self.measure == "accuracy"
            intervals = "Wilson" if counted else "none from a single split"
        return describe(
            self, each_pair=f"{test.title} on {design}", intervals=intervals
        )
