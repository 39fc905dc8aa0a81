"""Records of models compared by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import fastcmp
from fastcmp.core.checks import ALTERNATIVES, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Compared, Drawn, Record, ScoreTable
from fastcmp.core.sections import (
    Column,
    Section,
    format_interval,
    format_pvalue,
    interval_name,
    main_table,
)
from fastcmp.core.sentences import answer, how
from fastcmp.core.typing import Floats
from fastcmp.crossval.designs import UNUSED
from fastcmp.crossval.fold_tests import FOLD_TESTS_CITE, CVTest, FoldTestResult, find_test
from fastcmp.pairwise.result import PairwiseResult

if TYPE_CHECKING:
    from fastcmp.crossval.runs import CVRuns, DesignRun


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CVComparison(Compared, Drawn, Record):
    """Two classifiers compared by cross-validation."""

    _picture: ClassVar[str] = "folds"
    _blocks = "two_models:folds"
    _opening = "{a} and {b} were compared by cross-validation: {record._tests_by_design}."
    _cites = (("tests", FOLD_TESTS_CITE),)

    #: The record of each test that was asked for, by name.
    tests: dict[str, Any]
    #: Predictions and folds, from which `test` works out further tests.
    runs: CVRuns
    alternative: str

    _read = (
        *("names", "measure"),
        Column("score_a", lambda self: self.runs.means(self._run_of(next(iter(self.tests))))[0]),
        Column("score_b", lambda self: self.runs.means(self._run_of(next(iter(self.tests))))[1]),
        *("difference", "better", "alternative", "seed"),
        main_table("tests"),
    )

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

    def scores(self, test: str | None = None) -> Floats:
        """The scores in each fold.

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

    def _design_of(self, test: str) -> str:
        return str(self._run_of(test).design).replace("cross-validation", "CV")

    @property
    def _tests_by_design(self) -> str:
        """The tests with their designs, in words."""
        return "; ".join(f"{find_test(x).title} on {self._design_of(x)}" for x in self.tests)

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
        side = self.alternative if alternative is None else alternative
        side = choose(side, "alternative", ALTERNATIVES)
        return evaluate_pair(self.runs, find_test(name), side)

    def columns(self) -> dict[str, Any]:
        """The tests as columns.

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
            answer(lead),
            f"{self.measure}: {a} {percent * means[0]:.4g}{unit}, "
            f"{b} {percent * means[1]:.4g}{unit}; {self.runs.y.size} samples",
            how(f"alternative: {self.alternative}; seed {self.seed}"),
        )
        level = interval_name(0.95, self.alternative)
        rows = []
        for name, record in self.tests.items():
            ends = percent * difference_interval(record)
            interval = format_interval(*ends, digits=2 if unit else 4, sign="+")
            rows.append(
                (
                    find_test(name).title,
                    self._design_of(name),
                    f"{record.statistic:.4g}",
                    format_pvalue(record.pvalue),
                    "-" if np.isnan(ends).any() else interval,
                )
            )
        return [
            Section(
                title=f"{a} against {b}, cross-validated",
                text=text,
                columns=("test", "design", "statistic", "p", level),
                rows=tuple(rows),
                notes=(f"{level}: {a} minus {b}{', percentage points' * bool(unit)}",),
            )
        ]


def difference_interval(record: Any, level: float = 0.95) -> Floats:
    """The interval of the mean difference that a test has, (..., 2); else NaN.

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
    both = np.array([0, 1], np.int32)
    record = test.run(runs.outcomes(runs.find(test), both), alternative)
    if isinstance(record, FoldTestResult):
        return replace(record, measure=runs.measure)
    return record


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CVPairwiseResult(PairwiseResult):
    """Many classifiers compared in pairs by cross-validation."""

    _pilot = "folds"
    _cites = (("test", FOLD_TESTS_CITE),)

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
    def fold_scores(self) -> Floats:
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

    @property
    def _each_pair(self) -> str:
        return f"{find_test(self.test).title} on {self._run.design}"

    @property
    def _score_intervals(self) -> str:
        design = self._run.design
        if design.n_repeats * design.n_folds > 1:
            return "corrected resampled t"
        return "Wilson" if self.measure == "accuracy" else "none from a single split"


# The record of models compared on the folds of several data sets.


_SHOWN = 20  # data sets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CVDatasetsResult(Record):
    """Models compared on the folds of each of several data sets, and over data sets.

    Folds of a data set belong together, and are never taken for data sets: over data
    sets each model has one score for each, the mean over its folds.
    """

    _blocks = "datasets:several"

    #: The comparison on each data set, by name: `CVPairwiseResult` or `FoldComparison`.
    results: dict[str, Any]
    #: Where the seeds of all data sets come from; None where nothing was fitted.
    seed: int | None = None

    _read = ("names", "tasks", "measure", "scores", "seed", main_table("data_sets"))

    @property
    def _first(self) -> Any:
        return next(iter(self.results.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The models, M of them."""
        return tuple(self._first.names)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The data sets, D of them."""
        return tuple(self.results)

    @property
    def measure(self) -> str:
        """What the models are scored by."""
        return str(self._first.measure)

    @property
    def scores(self) -> Floats:
        """Mean score over the folds, shape (M, D)."""
        return np.stack([result.score for result in self.results.values()], axis=1)

    def task_scores(self) -> ScoreTable:
        """One score for each model and data set, as `compare_datasets` takes them.

        Returns
        -------
        ScoreTable
            The means over folds.
        """
        lower = bool(self._first.less_is_better)
        return ScoreTable(self.names, self.tasks, self.scores, lower)

    def fold_table(self) -> tuple[Floats, tuple[str, ...], tuple[str, ...], Floats]:
        """The scores in all folds, as `fastcmp.datasets.task_table` takes them.

        Returns
        -------
        tuple of ndarray, names, tasks, ndarray
            Scores, shape (M, D, R, K); the models; the data sets; and samples tested
            over samples trained on in a split of each data set, shape (D,).

        Raises
        ------
        ValueError
            If data sets have different numbers of folds.
        """
        parts = [result.fold_scores for result in self.results.values()]
        if len({part.shape for part in parts}) > 1:
            shapes = {name: part.shape[1:] for name, part in zip(self.results, parts, strict=True)}
            raise BadValueError(f"`data` sets have different repetitions and folds: {shapes}")
        ratios = [result.test_train_ratio for result in self.results.values()]
        return np.stack(parts, axis=1), self.names, self.tasks, np.array(ratios)

    def task_table(self, **options: Any) -> Any:
        """Mark models against a baseline on each data set, as WEKA does.

        Parameters
        ----------
        **options
            Those of `fastcmp.datasets.task_table`.

        Returns
        -------
        fastcmp.datasets.TaskTable
            The marked table.
        """
        lower = {"lower_is_better": bool(self._first.less_is_better)}
        scores: Any = self
        return fastcmp.datasets.task_table(scores, **(lower | options))

    def over_datasets(self, **options: Any) -> Any:
        """Compare the models over data sets, by one score for each.

        Parameters
        ----------
        **options
            Those of `fastcmp.compare_datasets`; by default Wilcoxon's signed-rank test
            of each pair, adjusted by Holm's method.

        Returns
        -------
        fastcmp.datasets.DatasetsResult
            Decisions about all pairs over data sets.
        """
        return fastcmp.compare_datasets(self, **options)

    def columns(self) -> dict[str, Any]:
        """The scores as columns, a row for each data set and model.

        Returns
        -------
        dict of str to sequence
            Data set, model, rank, score with its interval, and how many models it is
            significantly better and worse than.
        """
        table: dict[str, list[Any]] = {}
        for name, result in self.results.items():
            board = result.leaderboard
            decisions = result.decisions[board.models]
            part = {
                "data_set": [name] * len(board.names),
                "model": list(board.names),
                "rank": board.rank.tolist(),
                self.measure: board.score.tolist(),
                "low": board.interval[:, 0].tolist(),
                "high": board.interval[:, 1].tolist(),
                "better_than": np.count_nonzero(decisions == 1, axis=1).tolist(),
                "worse_than": np.count_nonzero(decisions == -1, axis=1).tolist(),
            }
            for key, values in part.items():
                table.setdefault(key, []).extend(values)
        return table

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Data set by data set, and for two data sets or more over all of them.
        """
        by_data_set = self._by_data_set()
        if len(self.results) < 2:
            return [by_data_set]
        over = self.over_datasets().sections()
        return [by_data_set, Section(title="Over data sets", text=(how(_ONE_SCORE),)), *over]

    @property
    def _pairs(self) -> Any:
        return self.over_datasets() if len(self.results) > 1 else None

    def _by_data_set(self) -> Section:
        rows = tuple(
            (
                name,
                str(result.n_samples),
                result.leaderboard.names[0],
                f"{result.leaderboard.score[0]:.4g}",
                str(len(result.best) - 1),
                f"{result.n_significant} of {result.n_pairs}",
            )
            for name, result in list(self.results.items())[:_SHOWN]
        )
        first = self._first
        how = f"{first.test} on {first.method}"
        if first.test == "folds":
            how = "corrected resampled t tests of saved scores"
        more = len(self.results) - _SHOWN
        seed = () if self.seed is None else (f"Seed {self.seed}.",)
        return Section(
            title="Models on each data set",
            text=(
                f"{len(self.names)} models on {len(self.results)} data sets, scored by "
                f"{self.measure}: {how}.",
                *seed,
            ),
            columns=("data set", "n", "best", self.measure, "ties", "pairs differ"),
            rows=rows,
            notes=(
                *((f"... and {more} more data sets.",) if more > 0 else ()),
                "ties: models that are not significantly different from the best; "
                f"pairs differ at {first.alpha:g} after adjustment ({first.adjust}) "
                "within a data set, not over data sets.",
            ),
        )


_ONE_SCORE = (
    "Each model has one score for each data set, the mean over its folds: folds are no data sets."
)
