"""The map of models by tasks: scores, and ranks within each task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import choose
from fastcmp.core.protocols import ScoreTable
from fastcmp.datasets.datasets_result import DatasetsResult
from fastcmp.datasets.score_input import read_scores
from fastcmp.plot.heat_map import draw_cells

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Axes: TypeAlias = Any
    Floats = NDArray[np.float64]

_WRITTEN = 2000  # cells that have a text each
_KINDS = {
    "rank": "dark: best of the task, light: worst",
    "score": "dark: best score of all, light: worst",
}


def task_scores(
    scores: Any,
    *,
    kind: str = "rank",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    lower_is_better: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw scores of models on tasks as a map, the best mean rank first.

    Each cell has its score written in it, where there is space; one without a score is
    grey.

    Parameters
    ----------
    scores : results, mapping, frame or array_like, shape (M, D)
        What `compare_datasets` takes, or returns: one score for each model and task.
        NaN: the model has none.
    kind : {"rank", "score"}
        What the shade means: the rank within the task, which compares scores of one
        task alone; or the score itself, if scores of all tasks are on one scale.
    names, tasks : sequence of str, optional
        Names of models and tasks, where `scores` has none.
    lower_is_better : bool
        Whether scores are errors or losses.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What the map was drawn on.

    Raises
    ------
    TypeError
        If `ax` is no axes, or scores are no numbers.
    ValueError
        For an unknown `kind`, fewer than two models or tasks, or infinite scores.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import load_demsar, plot
    >>> tasks, areas = load_demsar()
    >>> ax = plot.task_scores(areas, tasks=tasks)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['C4.5+m+cf', 'C4.5+m', 'C4.5+cf', 'C4.5']
    >>> plt.close(ax.figure)
    """
    kind = choose(kind, "kind", _KINDS)
    table = _read(scores, names, tasks, lower_is_better=lower_is_better)
    ranks = task_ranks(-table.scores if table.lower_is_better else table.scores)
    known = np.count_nonzero(~np.isnan(ranks), axis=1)
    mean = np.nansum(ranks, axis=1) / np.where(known > 0, known, np.nan)
    order = np.argsort(mean, kind="stable")
    ranks, found = ranks[order], table.scores[order]
    shade = _by_rank(ranks) if kind == "rank" else _by_score(found, table)
    texts = None
    if found.size <= _WRITTEN:
        texts = _written(found)
    rows = [table.names[i] for i in order]
    ax = draw_cells(shade, rows, table.tasks, texts, ax=ax)
    meaning = _KINDS[kind]
    if np.isnan(found).any():
        meaning += "; grey: no score"
    ax.set_xlabel(f"{meaning}\nmodels by their mean rank", fontsize=8)
    return ax


def _read(scores: Any, names: Any, tasks: Any, *, lower_is_better: bool) -> ScoreTable:
    """Read scores, or take them from a comparison of them."""
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, DatasetsResult):
        lower = scores.lower_is_better
        return ScoreTable(scores.names, scores.tasks, scores.scores, lower)
    return read_scores(scores, names, tasks, lower_is_better=lower_is_better)


def task_ranks(scores: Floats) -> Floats:
    """Rank models within each task, 1 the best, ties by their mean; NaN stays."""
    ranks = np.full(scores.shape, np.nan)
    for task, column in enumerate(scores.T):
        known = ~np.isnan(column)
        losses = -column[known]
        ordered = np.sort(losses)
        before = np.searchsorted(ordered, losses, "left")
        ranks[known, task] = (before + np.searchsorted(ordered, losses, "right") + 1) / 2
    return ranks


def _by_rank(ranks: Floats) -> Floats:
    """Shade the best of each task by 1, the worst by 0, models that all tie by 1/2."""
    known = np.count_nonzero(~np.isnan(ranks), axis=0)
    return np.asarray((known + 0.5 - ranks) / np.maximum(known, 1))


def _by_score(scores: Floats, table: ScoreTable) -> Floats:
    low, high = np.nanmin(scores), np.nanmax(scores)
    shade = (scores - low) / (high - low) if high > low else scores * 0 + 0.5
    return 1 - shade if table.lower_is_better else shade


def _written(scores: Floats) -> NDArray[Any]:
    """Write scores with three digits, nothing where there is none."""
    largest = np.nanmax(np.abs(scores), initial=0.0)
    form = ".3f" if largest < 10 else ".3g"
    texts = [["" if np.isnan(x) else f"{x:{form}}" for x in row] for row in scores]
    return np.array(texts, dtype=object)
