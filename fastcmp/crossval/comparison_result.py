"""Records of models compared by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.record_parts import Compared, Drawn
from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.crossval.designs import UNUSED
from fastcmp.crossval.fold_result import FoldTestResult
from fastcmp.crossval.registry import CVTest, find_test
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.crossval.runs import CVRuns, DesignRun


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CVComparison(Compared, Drawn, Record):
    """Two classifiers compared by cross-validation."""

    _picture: ClassVar[str] = "folds"

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
    def df(self) -> Any:
        """Degrees of freedom of the first test; None where it has none."""
        return getattr(self._first, "df", None)

    @property
    def distribution(self) -> str:
        """Reference distribution of the first test."""
        return str(self._first.distribution)

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
    def difference(self) -> float:
        """Mean score of a minus that of b, on the design of the first test."""
        a, b = self.runs.means(self._run_of(next(iter(self.tests))))
        return float(a - b)

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
        return self.runs.scores(self._run_of(name))

    def _run_of(self, test: str) -> DesignRun:
        return self.runs.find(find_test(test))

    def test(self, name: str, *, alternative: str | None = None) -> Any:
        """Run another test, without fitting again.

        Parameters
        ----------
        name : str
            A test, as in `compare_cv`.
        alternative : {"two-sided", "greater", "less"}, optional
            By default that of the comparison.

        Returns
        -------
        FoldTestResult, BCVMcNemarResult or McNemarResult
            The record of the test.

        Raises
        ------
        ValueError
            If the test is unknown, or models were not fitted on its design.
        """
        chosen = self.alternative if alternative is None else alternative
        chosen = choose(chosen, "alternative", ALTERNATIVES)
        return evaluate_pair(self.runs, find_test(name), chosen)

    def columns(self) -> dict[str, Any]:
        """Give the tests as columns.

        Returns
        -------
        dict of str to sequence
            A row a test, with its interval for the mean difference.
        """
        records = list(self.tests.values())
        ends = np.array([difference_interval(record) for record in records])
        degrees = [getattr(record, "df", None) for record in records]
        pairs = [df if isinstance(df, tuple) else (df, None) for df in degrees]
        return {
            "test": list(self.tests),
            "design": [str(self._run_of(name).design) for name in self.tests],
            "statistic": [float(record.statistic) for record in records],
            "df": [np.nan if df is None else float(df) for df, _ in pairs],
            "df2": [np.nan if df is None else float(df) for _, df in pairs],
            "pvalue": [float(record.pvalue) for record in records],
            "low": ends[:, 0],
            "high": ends[:, 1],
        }

    def _entries(self) -> dict[str, Any]:
        a, b = self.runs.means(self._run_of(next(iter(self.tests)))).tolist()
        return {
            "names": list(self.names),
            "measure": self.measure,
            "score_a": a,
            "score_b": b,
            "difference": self.difference,
            "better": self.better,
            "alternative": self.alternative,
            "seed": self.seed,
            "tests": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Both scores, and a table of the tests.
        """
        a, b = self.names
        means = self.runs.means(self._run_of(next(iter(self.tests))))
        percent = 100 if self.measure == "accuracy" else 1
        unit = "%" if percent == 100 else ""
        gap = f"{percent * abs(self.difference):.4g}"
        amount = f"{gap} percentage points" if unit else gap
        better, worse = (a, b) if self.better == "a" else (b, a)
        lead = (
            f"{a} and {b} score the same on average."
            if self.better is None
            else f"The {self.measure} of {better} is {amount} above that of {worse}, "
            "on average over the folds."
        )
        text = (
            lead,
            f"{self.measure}: {a} {percent * means[0]:.4g}{unit}, "
            f"{b} {percent * means[1]:.4g}{unit}; {self.runs.y.size} samples",
            f"alternative: {self.alternative}; seed {self.seed}",
        )
        level = interval_name(0.95, self.alternative)
        rows = tuple(
            (
                find_test(name).title,
                str(self._run_of(name).design).replace("cross-validation", "CV"),
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
                columns=("test", "design", "statistic", "p", level),
                rows=rows,
                notes=(f"{level}: {a} minus {b}{', percentage points' * bool(unit)}",),
            )
        ]


def _shown(ends: NDArray[np.float64], digits: int) -> str:
    if np.isnan(ends).any():
        return "-"
    return format_interval(*ends, digits=digits, sign="+")


def difference_interval(record: Any, level: float = 0.95) -> NDArray[np.float64]:
    """Give the interval of the mean difference that a test has, (..., 2); else NaN.

    That of Dietterich's t is for the first difference, not for the mean.
    """
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
    record = test.run(outcomes.pair(0), alternative)
    if isinstance(record, FoldTestResult):
        return replace(record, measure=runs.measure)
    return record


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CVPairwiseResult(PairwiseResult):
    """Many classifiers compared in pairs by cross-validation."""

    #: Predictions and folds of all models.
    runs: CVRuns

    @property
    def seed(self) -> int:
        """Where all splits and random states came from."""
        return self.runs.seed

    @property
    def _run(self) -> DesignRun:
        return self.runs.find(find_test(self.test))

    @property
    def fold_scores(self) -> NDArray[np.float64]:
        """Score of each model in each fold of the whole data, shape (M, R, K)."""
        run = self._run
        return self.runs.scores(run)[:, : run.design.n_repeats]

    @property
    def test_train_ratio(self) -> float:
        """Samples tested over samples trained on, in all splits of the whole data."""
        run = self._run
        whole = run.folds[: run.design.n_repeats]
        n_test = np.count_nonzero(whole >= 0)
        used = np.count_nonzero(whole != UNUSED)
        return n_test / (run.design.n_folds * used - n_test)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, which models beat which, and the rule.
        """
        test = find_test(self.test)
        design = self.runs.find(test).design
        intervals = "corrected resampled t"
        if design.n_repeats * design.n_folds == 1:
            counted = self.measure == "accuracy"
            intervals = "Wilson" if counted else "none from a single split"
        return describe(self, each_pair=f"{test.title} on {design}", intervals=intervals)
