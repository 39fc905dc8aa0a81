"""WEKA's marked table: models on each task, by the folds of its cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_flag, as_numbers, as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record, ScoreTable
from fastcmp.core.sections import Section
from fastcmp.core.sentences import how
from fastcmp.core.threads import check_memory, parts
from fastcmp.core.typing import Floats, Ints, Pairs
from fastcmp.counts.pairs import all_pairs, model_index
from fastcmp.crossval.fold_tests import fold_test
from fastcmp.datasets.reading import name_tasks
from fastcmp.inputs.model_names import position_of, read_names

_SHOWN = 20  # tasks, and models
#: Marks in the order in which a footer counts them.
MARKS = ("v", "", "*")


class Standing(NamedTuple):
    """A model in the ranking by wins minus losses."""

    model: str
    #: Wins minus losses.
    net: int
    #: Tasks and models that this model is significantly better, or worse, than.
    wins: int
    losses: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskTable(Record):
    """Models compared in pairs on each task, by the folds of its cross-validation."""

    _opening = "Each model was compared with {record.baseline}, task by task."
    _cites = ("nadeau",)

    #: Models, M of them, and tasks, D.
    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Mean over all folds, shape (M, D).
    scores: Floats
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: Pairs
    #: By how much the first of a pair is better on average, shape (P, D); NaN where a
    #: model lacks a score.
    difference: Floats
    #: Student's t, positive where the first is better, and its p-value, shape (P, D).
    statistic: Floats
    pvalue: Floats
    df: int
    #: The model that the others are marked against.
    baseline: str
    alpha: float
    lower_is_better: bool
    #: Of each task, shape (D,).
    test_train_ratio: Floats
    #: Folds of all repetitions.
    n_splits: int

    _read = (
        *("names", "tasks", "scores", "df", "baseline", "alpha", "lower_is_better"),
        *("test_train_ratio", "marks", "mark_counts", "wins", "better", "ranking"),
    )

    @property
    def distribution(self) -> str:
        """The reference distribution of the statistics, Student's t."""
        return "t"

    @property
    def others(self) -> tuple[str, ...]:
        """The models that are marked, in the order of the marks."""
        return tuple(name for name in self.names if name != self.baseline)

    @property
    def marks(self) -> NDArray[np.str_]:
        """Marks of the other models, shape (D, M - 1).

        "v" where a model is significantly better than the baseline, "*" where it is
        significantly worse, else "".
        """
        return self.marks_against(self.baseline)

    def marks_against(self, baseline: int | str) -> NDArray[np.str_]:
        """Mark the other models against another baseline.

        Parameters
        ----------
        baseline : int or str
            A model.

        Returns
        -------
        ndarray of str, shape (D, M - 1)
            As `marks`.

        Raises
        ------
        ValueError
            If there is no such model.
        """
        first = position_of(baseline, self.names)
        i, j = self.pairs.T
        places = np.flatnonzero((i == first) | (j == first))
        sign = np.where(i[places] == first, -1, 1)
        better = sign[:, None] * self._decided()[places]
        return np.array(["*", "", "v"])[better + 1].T

    def _decided(self) -> Ints:
        """The significantly better model: 1 the first, -1 the second, 0 none; shape (P, D)."""
        with np.errstate(invalid="ignore"):
            sign = np.where(self.pvalue <= self.alpha, np.sign(self.difference), 0)
        return sign.astype(np.int64)

    @property
    def mark_counts(self) -> Ints:
        """Tasks with "v", no mark and "*" of each other model, shape (M - 1, 3).

        A task on which the pair was not tested is not counted.
        """
        marks, first = self.marks, self.names.index(self.baseline)
        tested = ~np.isnan(self.pvalue[(self.pairs == first).any(axis=1)]).T
        return np.stack([((marks == m) & tested).sum(axis=0) for m in MARKS], axis=1)

    @property
    def wins(self) -> Ints:
        """Tasks on which the model of the row is significantly better, shape (M, M)."""
        return self._table(self._decided())

    @property
    def better(self) -> Ints:
        """Tasks on which the model of the row has the better mean, shape (M, M)."""
        return self._table(np.sign(np.nan_to_num(self.difference)))

    def _table(self, sign: NDArray[Any]) -> Ints:
        n_models = len(self.names)
        counts = np.zeros((n_models, n_models), np.int64)
        i, j = self.pairs.T
        counts[i, j] = (sign > 0).sum(axis=1)
        counts[j, i] = (sign < 0).sum(axis=1)
        return counts

    @property
    def ranking(self) -> tuple[Standing, ...]:
        """Models by significant wins minus losses over all tasks and models."""
        wins = self.wins
        won, lost = wins.sum(axis=1), wins.sum(axis=0)
        order = np.argsort(lost - won, kind="stable")
        return tuple(
            Standing(self.names[i], int(won[i] - lost[i]), int(won[i]), int(lost[i])) for i in order
        )

    def task_scores(self) -> ScoreTable:
        """One score for each model and task, as `compare_datasets` takes them.

        Returns
        -------
        ScoreTable
            The means over folds: folds are no tasks.
        """
        return ScoreTable(self.names, self.tasks, self.scores, self.lower_is_better)

    def columns(self) -> dict[str, Any]:
        """The tests as columns, a row for each pair and task.

        Returns
        -------
        dict of str to sequence
            Names, means, the difference, the statistic and the p-value.
        """
        names = np.array(self.names, dtype=object)
        n_tasks = len(self.tasks)
        i, j = np.repeat(self.pairs, n_tasks, axis=0).T
        task = np.tile(np.arange(n_tasks), len(self.pairs))
        return {
            "task": [self.tasks[t] for t in task],
            "model_a": names[i].tolist(),
            "model_b": names[j].tolist(),
            "score_a": self.scores[i, task],
            "score_b": self.scores[j, task],
            "difference": self.difference.ravel(),
            "statistic": self.statistic.ravel(),
            "pvalue": self.pvalue.ravel(),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The marked table, and the ranking by wins minus losses.
        """
        others, marks = self.others[: _SHOWN - 1], self.marks
        places = [self.names.index(name) for name in others]
        first = self.names.index(self.baseline)
        rows = [
            (
                task,
                f"{self.scores[first, t]:.4g}",
                *(
                    f"{self.scores[i, t]:.4g} {mark}".strip()
                    for i, mark in zip(places, marks[t], strict=False)
                ),
            )
            for t, task in enumerate(self.tasks[:_SHOWN])
        ]
        counts = self.mark_counts[: len(others)].tolist()
        rows.append(("(v/ /*)", "", *("/".join(map(str, c)) for c in counts)))
        notes: tuple[str, ...] = (
            f"v: significantly better than {self.baseline} at {self.alpha:g}, *: "
            f"significantly worse{'; lower is better' * self.lower_is_better}. Each "
            "mark is a test of its own: marks are not adjusted for their number.",
            how(
                f"Corrected resampled t test with {self.df} degrees of freedom on "
                f"{self.n_splits} folds of each task; the last line counts tasks."
            ),
        )
        if left := len(self.tasks) - _SHOWN:
            notes = (f"... and {left} more tasks.", *notes) if left > 0 else notes
        if left := len(self.names) - 1 - len(others):
            notes = (f"... and {left} more models.", *notes)
        marked = Section(
            title=f"Models against {self.baseline}, task by task",
            columns=("task", self.baseline, *others),
            rows=tuple(rows),
            notes=notes,
        )
        standings = Section(
            title="Significant wins minus losses, over all tasks and models",
            columns=("model", "net", "wins", "losses"),
            rows=tuple(
                (place.model, f"{place.net:+d}", str(place.wins), str(place.losses))
                for place in self.ranking[:_SHOWN]
            ),
        )
        return [marked, standings]


MISSING = ("raise", "pairs")
_TOGETHER = 1 << 21  # differences that are worked on at a time
#: Mean differences up to so many units in the last place of the largest score count as 0.
_ULPS = 8.0


def task_table(
    scores: ArrayLike,
    *,
    test_train_ratio: ArrayLike | None = None,
    baseline: int | str = 0,
    alpha: float = 0.05,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
) -> TaskTable:
    """Compare models task by task, by the corrected t test on folds: WEKA's table.

    Parameters
    ----------
    scores : array-like, shape (M, D, R, K) or (M, D, J)
        Scores of M models on D tasks in the K folds of each of R repetitions, the same
        folds for all models; or in J random splits. An answer of `compare_cv_all` about
        several data sets, or of `compare_folds`, is as good.
    test_train_ratio : float or array-like, shape (D,), optional
        Samples tested over samples trained on in a split. By default 1 / (K - 1), that
        of K-fold cross-validation; for other splits it must be given.
    baseline : int or str
        The model that the others are marked against.
    alpha : float
        Error rate of each mark alone, in (0, 1): marks are not adjusted for their
        number.
    lower_is_better : bool
        Whether scores are errors or losses.
    missing : {"raise", "pairs"}
        What to make of missing scores (NaN): refuse them; or leave out, on each task,
        the pairs of a model that lacks one.
    names, tasks : sequence of str, optional
        What to call the models and the tasks.

    Returns
    -------
    TaskTable
        Tests of all pairs on each task, marks against the baseline with their counts,
        wins of each model over each other one, and the ranking by wins minus losses.

    Raises
    ------
    ValueError
        If the shape is another, a score is infinite or missing, there are fewer than
        two models or folds, or the ratio is needed and not given.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Student's t of the mean difference over all J = R K folds, with the variance
    (1 / J + ratio) s**2 and J - 1 degrees of freedom: that of Nadeau and Bengio. Folds
    without spread have p = 1 where the models are equal, else p = 0. WEKA marks a
    larger mean with "v", of an error rate too; here "v" is better.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.datasets import task_table
    >>> folds = np.sin(np.arange(3 * 2 * 10)).reshape(3, 2, 1, 10) / 20
    >>> scores = 0.8 + folds + np.array([0.0, 0.1, -0.01])[:, None, None, None]
    >>> table = task_table(scores, names=["base", "new", "other"])
    >>> table.marks.tolist(), table.mark_counts.tolist()
    ([['v', ''], ['v', '']], [[2, 0, 0], [0, 2, 0]])
    """
    if hasattr(type(scores), "fold_table"):  # of `compare_cv_all` or `compare_folds`
        scores, own_names, own_tasks, ratio = scores.fold_table()  # type: ignore[union-attr]
        names = own_names if names is None else names
        tasks = own_tasks if tasks is None else tasks
        test_train_ratio = ratio if test_train_ratio is None else test_train_ratio
    missing = choose(missing, "missing", MISSING)
    lower_is_better = as_flag(lower_is_better, "lower_is_better")
    alpha = as_proportion(alpha, "alpha")
    array = as_numbers(scores, "scores").astype(np.float64)
    shape_needed = "`scores` must be of shape (M, D, R, K), or (M, D, J) for random splits"
    if array.ndim not in (3, 4):
        raise BadValueError(shape_needed, array.shape)
    table = array.reshape(*array.shape[:2], -1)
    n_models, n_tasks, n_splits = table.shape
    if n_models < 2 or n_tasks < 1 or n_splits < 2:
        raise BadValueError(
            f"{shape_needed}, with at least 2 models, 1 task and 2 folds", array.shape
        )
    models, labels = read_names(names, n_models), name_tasks(tasks, n_tasks)
    bad = ~np.isfinite(table) if missing == "raise" else np.isinf(table)
    if bad.any():
        model, task, split = np.argwhere(bad)[0].tolist()
        advice = ", or pass `missing='pairs'`" if missing == "raise" else ""
        raise BadValueError(
            "`scores` must be finite",
            f"{table[model, task, split]} for {models[model]} on {labels[task]} in fold "
            f"{split} ({np.count_nonzero(bad)} in all): repeat what failed{advice}",
        )
    if test_train_ratio is None:
        if array.ndim == 3 or array.shape[3] < 2:
            raise BadValueError(
                "`test_train_ratio` must be given for splits that are no K-fold "
                "cross-validation: samples tested over samples trained on in a split"
            )
        test_train_ratio = 1.0 / (array.shape[3] - 1)
    ratios = as_numbers(test_train_ratio, "test_train_ratio").astype(np.float64)
    if ratios.shape not in ((), (n_tasks,)):
        raise BadValueError(
            f"`test_train_ratio` must be a number, or one for each of {n_tasks} tasks",
            f"shape {ratios.shape}",
        )
    if not ((ratios > 0) & (ratios < np.inf)).all():
        raise BadValueError("`test_train_ratio` must be positive and finite", test_train_ratio)
    ratios = np.full(n_tasks, ratios)
    first = model_index(baseline, models, "baseline")
    pairs = all_pairs(n_models)
    check_memory(
        40.0 * len(pairs) * n_tasks,
        None,
        f"testing {len(pairs)} pairs on {n_tasks} tasks",
        "take fewer models or tasks at a time",
    )
    gain = -table if lower_is_better else table
    difference, statistic, pvalue = np.full((3, len(pairs), n_tasks), np.nan)
    rounding = _ULPS * np.spacing(np.nan_to_num(np.abs(gain)).max(axis=(0, 2)))
    for t in range(n_tasks):
        there = np.asarray(~np.isnan(gain[:, t]).any(axis=1))
        tested = np.flatnonzero(there[pairs].all(axis=1))
        for part in parts(tested.size, max(1, _TOGETHER // n_splits)):
            block = tested[part]
            i, j = pairs[block].T
            differences = gain[i, t] - gain[j, t]
            # Of equal decimals: no difference.
            differences[np.abs(differences) <= rounding[t]] = 0.0
            record = fold_test(differences, "nadeau-bengio-t", n_train=1.0, n_test=float(ratios[t]))
            estimate = np.asarray(record.estimate)
            level = np.asarray(np.abs(estimate) <= rounding[t])
            difference[block, t] = np.where(level, 0.0, estimate)
            statistic[block, t] = np.where(level, 0.0, record.statistic)
            pvalue[block, t] = np.where(level, 1.0, record.pvalue)
    return TaskTable(
        names=models,
        tasks=labels,
        scores=table.mean(axis=2),
        pairs=pairs,
        difference=difference,
        statistic=statistic,
        pvalue=pvalue,
        df=n_splits - 1,
        baseline=models[first],
        alpha=alpha,
        lower_is_better=lower_is_better,
        test_train_ratio=ratios,
        n_splits=n_splits,
    )
