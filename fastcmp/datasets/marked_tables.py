"""WEKA's marked table: models on each task, by the folds of its cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_flag, as_numbers, as_proportion
from fastcmp.core.memory import check_memory
from fastcmp.core.options import choose
from fastcmp.core.threads import parts
from fastcmp.counts.pairs import all_pairs, model_index
from fastcmp.crossval.t_tests import nadeau_bengio_t
from fastcmp.datasets.task_table_result import TaskTable
from fastcmp.datasets.win_tables import read_names
from fastcmp.inputs.model_names import check_distinct_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]

MISSING = ("raise", "pairs")
_TOGETHER = 1 << 21  # differences that are worked on at a time
#: A mean difference of so many units in the last place of the largest score is none.
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
    given = scores
    if hasattr(type(given), "fold_table"):  # of `compare_cv_all` or `compare_folds`
        scores, own_names, own_tasks, ratio = given.fold_table()  # type: ignore[union-attr]
        names = own_names if names is None else names
        tasks = own_tasks if tasks is None else tasks
        test_train_ratio = ratio if test_train_ratio is None else test_train_ratio
    missing = choose(missing, "missing", MISSING)
    lower_is_better = as_flag(lower_is_better, "lower_is_better")
    alpha = as_proportion(alpha, "alpha")
    table, n_folds = _read_scores(scores)
    n_models, n_tasks, n_splits = table.shape
    chosen = read_names(names, None, n_models)
    named_tasks = _read_tasks(tasks, n_tasks)
    _check_finite(table, missing, chosen, named_tasks)
    ratios = _read_ratios(test_train_ratio, n_folds, n_tasks)
    first = model_index(baseline, chosen, "baseline")
    pairs = all_pairs(n_models)
    gain = -table if lower_is_better else table
    found = _test(gain, pairs, ratios)
    return TaskTable(
        names=chosen,
        tasks=named_tasks,
        scores=table.mean(axis=2),
        pairs=pairs,
        **found,
        df=n_splits - 1,
        baseline=chosen[first],
        alpha=alpha,
        lower_is_better=lower_is_better,
        test_train_ratio=ratios,
        n_splits=n_splits,
    )


def _read_scores(scores: Any) -> tuple[Floats, int | None]:
    """Read scores, shape (M, D, J), and the folds of a repetition."""
    array = as_numbers(scores, "scores").astype(np.float64)
    wanted = "scores must be of shape (M, D, R, K), or (M, D, J) for random splits"
    if array.ndim not in (3, 4):
        raise ValueError(f"{wanted}, got {array.shape}")
    n_folds = array.shape[3] if array.ndim == 4 else None
    table = array.reshape(*array.shape[:2], -1)
    if table.shape[0] < 2 or table.shape[1] < 1 or table.shape[2] < 2:
        raise ValueError(f"{wanted}, with at least 2 models, 1 task and 2 folds, got {array.shape}")
    return table, n_folds


def _read_tasks(tasks: Any, n_tasks: int) -> tuple[str, ...]:
    if tasks is None:
        return tuple(f"task_{t}" for t in range(n_tasks))
    if isinstance(tasks, str):
        raise TypeError(f"tasks must be a sequence of names of tasks, got {tasks!r}")
    try:
        named = [str(task) for task in tasks]
    except TypeError:
        raise TypeError(f"tasks must be a sequence of names of tasks, got {tasks!r}") from None
    if len(named) != n_tasks:
        raise ValueError(f"tasks must name each of {n_tasks} tasks, got {len(named)} names")
    check_distinct_names(named, "tasks")
    return tuple(named)


def _check_finite(
    table: Floats, missing: str, names: tuple[str, ...], tasks: tuple[str, ...]
) -> None:
    bad = ~np.isfinite(table) if missing == "raise" else np.isinf(table)
    if bad.any():
        model, task, split = np.argwhere(bad)[0].tolist()
        advice = ", or pass missing='pairs'" if missing == "raise" else ""
        raise ValueError(
            f"scores must be finite, got {table[model, task, split]} for "
            f"{names[model]} on {tasks[task]} in fold {split} ({np.count_nonzero(bad)} "
            f"in all): repeat what failed{advice}"
        )


def _read_ratios(raw: Any, n_folds: int | None, n_tasks: int) -> Floats:
    """Read n_test / n_train of each task."""
    if raw is None:
        if n_folds is None or n_folds < 2:
            raise ValueError(
                "test_train_ratio must be given for splits that are no K-fold "
                "cross-validation: samples tested over samples trained on in a split"
            )
        return np.full(n_tasks, 1.0 / (n_folds - 1))
    ratios = as_numbers(raw, "test_train_ratio").astype(np.float64)
    if ratios.shape not in ((), (n_tasks,)):
        raise ValueError(
            f"test_train_ratio must be a number, or one for each of {n_tasks} tasks, "
            f"got shape {ratios.shape}"
        )
    if not ((ratios > 0) & (ratios < np.inf)).all():
        raise ValueError(f"test_train_ratio must be positive and finite, got {raw}")
    return np.full(n_tasks, 1.0) * ratios


def _test(gain: Floats, pairs: NDArray[np.int32], ratios: Floats) -> dict[str, Any]:
    """Test all pairs on all tasks; NaN where a model lacks a score."""
    n_tasks, n_splits = gain.shape[1:]
    check_memory(
        40.0 * len(pairs) * n_tasks,
        None,
        f"testing {len(pairs)} pairs on {n_tasks} tasks",
        "take fewer models or tasks at a time",
    )
    found = {
        name: np.full((len(pairs), n_tasks), np.nan)
        for name in ("statistic", "pvalue", "difference")
    }
    largest = np.nan_to_num(np.abs(gain)).max(axis=(0, 2))
    rounding = _ULPS * np.spacing(largest)
    step = max(1, _TOGETHER // n_splits)
    for t in range(n_tasks):
        there = np.asarray(~np.isnan(gain[:, t]).any(axis=1))
        known = np.flatnonzero(there[pairs].all(axis=1))
        for part in parts(known.size, step):
            some = known[part]
            i, j = pairs[some].T
            differences = gain[i, t] - gain[j, t]
            # Of equal decimals: no difference.
            differences[np.abs(differences) <= rounding[t]] = 0.0
            record = nadeau_bengio_t(differences, n_train=1.0, n_test=float(ratios[t]))
            estimate = np.asarray(record.estimate)
            level = np.asarray(np.abs(estimate) <= rounding[t])
            found["difference"][some, t] = np.where(level, 0.0, estimate)
            found["statistic"][some, t] = np.where(level, 0.0, record.statistic)
            found["pvalue"][some, t] = np.where(level, 1.0, record.pvalue)
    return found
