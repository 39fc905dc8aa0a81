"""The picture of two classifiers on the folds of a cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.sections import interval_name
from fastcmp.crossval.comparison_result import CVComparison, difference_interval
from fastcmp.plot.style import COLOURS, GREY, LEGEND, PALE, as_text, prepare_axes

if TYPE_CHECKING:
    from typing import TypeAlias

    Axes: TypeAlias = Any

_ROWS = 30  # repetitions that each get a row of their own


def folds(result: CVComparison, *, test: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the difference in each fold, their mean, and its interval.

    Points to the right of zero favour the first model. Folds share records: their
    scatter does not measure the uncertainty; the interval does.

    Parameters
    ----------
    result : CVComparison
        From `compare_cv`.
    test : str, optional
        Whose folds and interval to draw; those of the first test by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    TypeError
        If `result` or `ax` is something else.
    ValueError
        If the test is unknown, or its design was not fitted.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from fastcmp import compare_cv, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot.folds(compare_cv(GaussianNB(), KNeighborsClassifier(), X, y, rng=1))
    >>> ax.get_xlabel()
    'Accuracy of a minus b (percentage points)'
    >>> plt.close(ax.figure)
    """
    if not isinstance(result, CVComparison):
        raise TypeError(f"folds draws a CVComparison, got {type(result).__name__}")
    if test is not None and not isinstance(test, str):
        raise TypeError(f"test must be the name of a test, got {test!r}")
    name = next(iter(result.tests)) if test is None else test
    record = result.tests.get(name) or result.test(name)
    percent = result.measure == "accuracy"
    scale = 100.0 if percent else 1.0
    first, second = scale * result.scores(name)
    gains = first - second
    n_rows = len(gains)
    ax = prepare_axes(ax, (6.2, 1.9 + 0.22 * min(n_rows, _ROWS)))
    low, high = scale * difference_interval(record)
    # A one-sided interval has no other end: it is drawn as far as the folds lie.
    if record.alternative == "greater":
        high = max(low, gains.max())
    elif record.alternative == "less":
        low = min(high, gains.min())
    handles = []
    if np.isfinite([low, high]).all():
        name = interval_name(0.95, record.alternative)
        handles.append(ax.axvspan(low, high, color=PALE, label=name))
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle="--")
    handles.append(ax.axvline(gains.mean(), color=COLOURS[1], linewidth=1.8, label="mean"))
    rows = np.repeat(np.arange(1, n_rows + 1), gains.shape[1])
    handles += ax.plot(
        gains.ravel(),
        rows,
        linestyle="",
        marker="o",
        markersize=6,
        color=COLOURS[0],
        alpha=0.75,
        label="a fold",
    )
    ax.set_ylim(n_rows + 0.6, 0.4)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set_ylabel("repetition")
    a, b = map(as_text, result.names)
    measure = f"Accuracy of {a} minus {b} (percentage points)"
    ax.set_xlabel(measure if percent else f"{result.measure} of {a} minus {b}")
    ax.spines[["top", "right"]].set_visible(False)
    # Above the axes, where no fold can be.
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        frameon=False,
        **LEGEND,
    )
    return ax
