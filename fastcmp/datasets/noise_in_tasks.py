"""How much of the spread between tasks is noise of the items or folds within them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_numbers
from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Column, Section
from fastcmp.core.sentences import answer
from fastcmp.datasets.reading import name_tasks
from fastcmp.kernels.item_values import LARGEST

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskNoise(Record):
    """The spread of differences over D tasks, between and within these.

    A task counts as one observation, the mean of its items.
    """

    tasks: tuple[str, ...]
    #: Items, folds or repetitions of each task, shape (D,).
    n_items: NDArray[np.int64]
    #: Mean difference of each task, shape (D,), and variance of its items (divisor
    #: n - 1).
    task_means: Floats
    task_variances: Floats
    #: Mean of the task means.
    mean: float
    #: Variance of the mean when tasks alone are drawn again (divisor D), which holds
    #: the noise of the items already.
    variance_tasks_only: float
    #: What drawing items too adds: that noise a second time.
    within_term: float
    #: Variance of the mean of the differences over new tasks, without bias: that of
    #: the task means (divisor D - 1) over D.
    unbiased_variance_of_mean: float
    #: Variance of the true differences between tasks, 0 where the estimate is below 0.
    between_task_variance: float
    #: The same, without that limit.
    between: float
    #: Variance of the items within tasks: the mean over tasks.
    within: float
    #: Mean squares between and within tasks; None where tasks differ in their number of
    #: items.
    ms_between: float | None
    ms_within: float | None

    _columns = (
        *(Column("task", "tasks"), Column("n_items"), Column("mean", "task_means")),
        Column("variance", "task_variances"),
    )

    @property
    def variance_nested(self) -> float:
        """Variance of the mean when tasks and then items are drawn: too large."""
        return self.variance_tasks_only + self.within_term

    @property
    def se_of_mean(self) -> float:
        """Standard error of the mean over new tasks."""
        return float(np.sqrt(self.unbiased_variance_of_mean))

    @property
    def noise_proportion(self) -> float:
        """Part of the variance of the task means that is noise of their items; NaN
        where there is no variance.
        """  # noqa: D205
        spread = self.unbiased_variance_of_mean * len(self.tasks)
        return 1.0 - self.between_task_variance / spread if spread else float("nan")

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The parts of the variance.
        """
        least, most = int(self.n_items.min()), int(self.n_items.max())
        number = f"{least}" if least == most else f"{least} to {most}"
        spread = self.unbiased_variance_of_mean * len(self.tasks)
        text = [
            f"{len(self.tasks)} tasks of {number} items or folds: mean difference "
            f"{self.mean:+.4g}, standard error over tasks {self.se_of_mean:.3g}.",
            answer(
                f"Variance of the task means {spread:.4g}, of which "
                f"{self.between_task_variance:.4g} is between tasks"
                + (
                    f" and {100 * self.noise_proportion:.3g}% noise of their items."
                    if spread
                    else "."
                )
            ),
        ]
        if self.between < 0.0:
            text.append("The items alone explain more than all the spread of tasks.")
        rows = (
            ("tasks drawn again", f"{self.variance_tasks_only:.4g}"),
            ("tasks, then items drawn again", f"{self.variance_nested:.4g}"),
            ("without bias", f"{self.unbiased_variance_of_mean:.4g}"),
        )
        return [
            Section(
                title="How much of the spread of tasks is noise?",
                text=tuple(text),
                columns=("variance of the mean", "value"),
                rows=rows,
                notes=(
                    "Drawing items within tasks counts their noise twice: the first "
                    "or the last is meant where tasks are a sample.",
                ),
            )
        ]


def task_noise(differences: Any, *, tasks: Sequence[str] | None = None) -> TaskNoise:
    """Split the spread of differences over tasks: between tasks, and within them.

    Parameters
    ----------
    differences : sequence or mapping of array-like, shape (n_t,), or array (D, n)
        Differences of two models on the items of each task, or on its folds or
        repetitions; two at least to each task.
    tasks : sequence of str, optional
        Names of the tasks.

    Returns
    -------
    TaskNoise
        Variances, and the proportion of noise.

    Raises
    ------
    ValueError
        If there are fewer than two tasks, or two items of a task, or differences are
        missing or infinite.
    TypeError
        If differences are not numbers.

    Notes
    -----
    With s2_t the variance of the n_t items of task t and s2 that of the task means, the
    variance between tasks is s2 - mean(s2_t / n_t). With equal n_t this is the analysis
    of variance, (MSB - MSW) / n, and where positive the estimate of REML. Drawing tasks
    and then items has the variance of drawing tasks plus mean((1 - 1/n_t) s2_t / n_t)
    / D. Folds of a task are dependent: their variance is no test within a task.

    Examples
    --------
    >>> from fastcmp.datasets import task_noise
    >>> found = task_noise([[1, 0, -1, 1], [2, 2, 1, 0], [0, -1, 0, 0]])
    >>> round(found.variance_tasks_only, 4), round(found.variance_nested, 4)
    (0.1296, 0.173)
    >>> round(found.between_task_variance, 4), round(found.noise_proportion, 4)
    (0.4097, 0.2976)
    """
    if isinstance(differences, Mapping):
        tasks = list(differences) if tasks is None else tasks
        differences = list(differences.values())
    if isinstance(differences, (str, bytes)) or not isinstance(differences, Iterable):
        raise TypeError(
            f"differences must be a sequence of arrays, one a task, got {differences!r}"
        )
    differences = list(differences)
    if len(differences) < 2:
        raise ValueError(f"differences must be of at least two tasks, got {len(differences)}")
    labels, columns = name_tasks(tasks, len(differences)), []
    for task, raw in zip(labels, differences, strict=True):
        name = f"differences of {visible(task)}"
        x = np.asarray(as_numbers(raw, name).astype(np.float64))
        if x.ndim != 1 or x.size < 2:
            raise ValueError(f"{name} must be of shape (n,), n >= 2 items or folds, got {x.shape}")
        if not (np.abs(x) < LARGEST).all():
            raise ValueError(f"{name} must be finite, and below {LARGEST:g} in size")
        columns.append(x)
    n_tasks = len(columns)
    sizes = np.array([x.size for x in columns], np.int64)
    means = np.array([x.mean() for x in columns])
    own = np.array([x.var(ddof=1) if np.ptp(x) else 0.0 for x in columns])
    spread = float(means.var(ddof=1)) if np.ptp(means) else 0.0
    noise = own / sizes
    between = spread - float(noise.mean())
    n = int(sizes[0]) if (sizes == sizes[0]).all() else None
    return TaskNoise(
        tasks=labels,
        n_items=sizes,
        task_means=means,
        task_variances=own,
        mean=float(means.mean()),
        variance_tasks_only=spread * (n_tasks - 1) / n_tasks**2,
        within_term=float(np.mean(noise * (1.0 - 1.0 / sizes))) / n_tasks,
        unbiased_variance_of_mean=spread / n_tasks,
        between_task_variance=max(0.0, between),
        between=between,
        within=float(own.mean()),
        ms_between=None if n is None else n * spread,
        ms_within=None if n is None else float(own.mean()),
    )
