"""Scores of different tasks brought to one scale: descriptive only, not for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastcmp.core.records import Record, TaskScores
from fastcmp.core.sections import MODEL, Column, Section
from fastcmp.core.typing import Floats, ModelsLike
from fastcmp.datasets.reading import POLICIES, read_data


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NormalisedScores(Record):
    """Scores of M models on D tasks, on one scale for all tasks."""

    _blocks = "datasets:normalised"

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: From 0 for the worst model of a task to 1 for the best, shape (M, D); NaN on a
    #: task on which all tie, or that lacks the model.
    minmax: Floats
    #: By how much the best model of the task is better, shape (M, D).
    gap_to_best: Floats
    #: Less the task's mean, divided by its standard deviation over the models (with M -
    #: 1), above 0 for better ones, shape (M, D); NaN as for `minmax`.
    standardised: Floats
    #: Means over the tasks that have such a score, shape (M,).
    mean_minmax: Floats
    mean_gap_to_best: Floats
    mean_standardised: Floats
    #: Of the scores as they came, shape (M,).
    mean_score: Floats
    median_score: Floats
    #: Tasks on which all models tie.
    n_constant_tasks: int
    lower_is_better: bool = False

    _columns = (
        MODEL,
        *(
            Column(name, form=".4f", head=head)
            for name, head in (
                ("mean_minmax", "min-max"),
                ("mean_gap_to_best", "gap"),
                ("mean_standardised", "standardised"),
                ("mean_score", "mean"),
                ("median_score", "median"),
            )
        ),
    )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One table.
        """
        order = np.argsort(-self.mean_minmax, kind="stable").tolist()
        notes = [
            "Scores of different tasks are comparable only as far as these scales are; "
            "no test uses them."
        ]
        if self.n_constant_tasks:
            notes.append(
                f"{self.n_constant_tasks} tasks on which all models tie have no min-"
                "max or standardised score."
            )
        title = f"Normalised scores on {len(self.tasks)} data sets"
        return [self._printed(title, order=order, notes=notes)]


def normalised_scores(
    scores: ModelsLike | TaskScores,
    *,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
) -> NormalisedScores:
    """The scores of different tasks on one scale: min-max, gap to the best, z.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping or frame
        One score for each model and task, as for `compare_datasets`.
    lower_is_better : bool
        Whether scores are errors or losses.
    missing : {"raise", "tasks", "pairs"}
        What to make of a model without a score on some task: an error; only the tasks
        that all models have; or means over the tasks that each model has.
    names, tasks : sequence of str, optional
        Names of the models, and of the tasks.

    Returns
    -------
    NormalisedScores
        Scores on three scales and their means, with mean and median of the scores.

    Raises
    ------
    ValueError
        If there are fewer than two models or tasks, or a score is missing without a
        policy or infinite.
    TypeError
        If scores are not numbers.

    Examples
    --------
    >>> from fastcmp.datasets import normalised_scores
    >>> found = normalised_scores([[0.9, 0.5, 0.7], [0.8, 0.6, 0.7], [0.7, 0.3, 0.7]])
    >>> found.mean_minmax.round(4).tolist(), found.n_constant_tasks
    ([0.8333, 0.75, 0.0], 1)
    """
    data = read_data(
        scores,
        lower_is_better=lower_is_better,
        missing=missing,
        names=names,
        tasks=tasks,
        policies=POLICIES[:3],
    )
    x = data.gains.values / data.gains.scale
    constant, scales = _scales(x, data.gains.tolerance / data.gains.scale)
    table = data.table
    return NormalisedScores(
        names=table.names,
        tasks=table.tasks,
        **scales,
        **{f"mean_{name}": _means(values) for name, values in scales.items()},
        mean_score=_means(table.scores),
        median_score=np.nanmedian(table.scores, axis=1),
        n_constant_tasks=constant,
        lower_is_better=table.lower_is_better,
    )


def _scales(x: Floats, tolerance: Floats) -> tuple[int, dict[str, Floats]]:
    """Count the tasks on which all tie, and put the others on three scales."""
    is_known = ~np.isnan(x)
    size = np.maximum(is_known.sum(axis=0), 1)
    has_scores = is_known.any(axis=0)
    least = np.where(is_known, x, np.inf).min(axis=0)
    best = np.where(is_known, x, -np.inf).max(axis=0)
    least, best = np.where(has_scores, least, np.nan), np.where(has_scores, best, np.nan)
    ties = has_scores & ~(best - least > tolerance)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(is_known, x, 0.0).sum(axis=0) / size
        squares = (np.where(is_known, x - mean, 0.0) ** 2).sum(axis=0)
        sd = np.sqrt(squares / (size - 1.0))
        minmax, standardised = (x - least) / (best - least), (x - mean) / sd
    minmax[:, ties] = standardised[:, ties] = np.nan
    scales = {"minmax": minmax, "gap_to_best": best - x, "standardised": standardised}
    return int(np.count_nonzero(ties)), scales


def _means(values: Floats) -> Floats:
    """Means over the scores that are known, NaN where none is."""
    is_known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(is_known, values, 0.0).sum(axis=1) / is_known.sum(axis=1))
