"""Pictures of curves that were computed before."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from fastcmp import pictures
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.counts.roc_points import Curve
from fastcmp.crossval.comparison_result import CVComparison
from fastcmp.planning.plan import Plan
from fastcmp.planning.power_points import power_lines
from fastcmp.plot.style import (
    COLOURS,
    GREY,
    PALE,
    as_text,
    check_drawn,
    curve_style,
    draw_curves,
    place_legend,
    place_legend_over,
    prepare_axes,
)
from fastcmp.scores.resampling import RocBand
from fastcmp.sequential.looks_result import LooksResult

Axes: TypeAlias = Any


def curve(result: Curve, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a ROC, precision-recall, DET or gain curve.

    Parameters
    ----------
    result : RocCurve, PrecisionRecallCurve, DetCurve or GainCurve
        From `fastcmp.roc_curve` and its siblings.
    label : str, optional
        Name of the line, for a legend of several.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    TypeError
        If `result`, `label` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot, roc_curve
    >>> ax = plot.curve(roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9]))
    >>> ax.get_ylabel()
    'True positive rate (sensitivity)'
    >>> plt.close(ax.figure)
    """
    if type(result) not in pictures.DRAWN:
        raise BadTypeError(
            "curve draws a curve such as RocCurve", type(result).__name__, argument="result"
        )
    if label is not None and not isinstance(label, str):
        raise BadTypeError("`label` must be text or None", type(label).__name__)
    picture = pictures.curves({"": result})
    ax = prepare_axes(ax, (5.2, 5.2))
    [line] = picture.lines
    style = curve_style(len(ax.lines), 1) | {"drawstyle": line.joined, "label": label}
    draw_curves(replace(picture, lines=(), straight=None), ax)
    ax.plot(line.x, line.y, **style)
    return ax


# Pictures of rates with their bootstrap intervals.


def roc_band(result: RocBand, *, confidence_level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the rates of models over the given rates, each with its pointwise band.

    Parameters
    ----------
    result : RocBand
        From `fastcmp.roc_band`.
    confidence_level : float
        Of the intervals, in (0, 1).
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If the level lies outside (0, 1).
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot, roc_band
    >>> y_true, score = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.7, 0.9]
    >>> ax = plot.roc_band(roc_band(y_true, score, n_resamples=100, rng=1))
    >>> ax.get_xlabel()
    'Specificity'
    >>> plt.close(ax.figure)
    """
    check_drawn(result, RocBand, "roc_band draws a RocBand")
    picture = pictures.roc_band(result, confidence_level)
    ax = prepare_axes(ax, (5.2, 5.2))
    place_legend(ax, draw_curves(picture, ax), picture.legend, inside=True)
    return ax


# The picture of evidence over time: e-values at the looks of one comparison.


def evidence(result: LooksResult, *, ax: Axes | None = None) -> Axes:
    """Draw the e-value at each look, on a logarithmic scale.

    The dashed line is 1 / alpha: where the e-value first reaches it, the test is
    decided, and stays so. Below 1 the samples speak for the null hypothesis.

    Parameters
    ----------
    result : LooksResult
        From the `look` of a state of `fastcmp.sequential`, or `mcnemar_looks`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot, sequential
    >>> looks = sequential.mcnemar_looks([3, 9, 30], [1, 2, 8], n_samples=[40, 90, 300])
    >>> ax = plot.evidence(looks)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Samples', 'Evidence (log10 of the e-value)')
    >>> plt.close(ax.figure)
    """
    check_drawn(result, LooksResult, "evidence draws a LooksResult")
    ax = prepare_axes(ax, (6.2, 3.8))
    handles = draw_curves(pictures.evidence(result), ax)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.margins(y=0.1)
    place_legend_over(ax, handles)
    return ax


# The picture of two classifiers on the folds of a cross-validation.


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
    check_drawn(result, CVComparison, "folds draws a CVComparison")
    if test is not None and not isinstance(test, str):
        raise BadTypeError("`test` must be the name of a test", repr(test))
    picture = pictures.folds(result, test, [as_text(name) for name in result.names])
    n_rows = len(picture.rows)
    ax = prepare_axes(ax, (6.2, 1.9 + 0.22 * min(n_rows, _ROWS)))
    handles = []
    if picture.band is not None:
        low, high, name = picture.band
        handles.append(ax.axvspan(low, high, color=PALE, label=name))
    null, mean = picture.rules
    ax.axvline(null.at, color=GREY, linewidth=1, linestyle="--")
    handles.append(ax.axvline(mean.at, color=COLOURS[1], linewidth=1.8, label=mean.text))
    places = [(x, i) for i, row in enumerate(picture.rows, 1) for x in row.points]
    dots = {"linestyle": "", "marker": "o", "markersize": 6, "color": COLOURS[0], "alpha": 0.75}
    handles += ax.plot(*zip(*places, strict=True), label="a fold", **dots)
    ax.set_ylim(n_rows + 0.6, 0.4)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel=picture.axis.title, ylabel="repetition")
    place_legend_over(ax, handles)
    return ax


# Pictures of plans: power over the number of samples.


_MOST = 20  # curves that can be distinguished
_INSIDE = 6  # curves whose legend stands inside the axes
_TITLE = 40  # letters of a line of the legend's title


def power_curve(result: Plan | Mapping[str, Plan], *, ax: Axes | None = None) -> Axes:
    """Draw the power of plans over the number of samples.

    Parameters
    ----------
    result : Plan or mapping of str to Plan
        From `fastcmp.planning`; of an array of plans a curve for each, but one for all
        that differ only in the number of samples or in the power wanted. Names stand in
        the legend.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If there are more than 20 curves, or none, or plans count different things.
    TypeError
        If `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    A dot is what was planned. Of a plan from a pilot the band holds the middle 95% of
    the power over what the pilot leaves open, and the dashed line is its mean. Powers
    that are simulated have bars of 1.96 standard errors.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import planning, plot
    >>> plan = planning.sample_size(p10=0.15, p01=0.05, power=[0.8, 0.9])
    >>> ax = plot.power_curve(plan)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Samples', 'Power')
    >>> plt.close(ax.figure)
    """
    plans = list(result.items()) if isinstance(result, Mapping) else [("", result)]
    for _, plan in plans:
        if not isinstance(plan, Plan):
            raise BadTypeError(
                "power_curve draws a Plan, or several by name", f"{plan!r:.60}", argument="result"
            )
    units = dict.fromkeys(plan.unit for _, plan in plans)
    if len(units) > 1:
        raise BadValueError("plans must count the same in one picture", ", ".join(units))
    lines = [(as_text(str(name)), line) for name, plan in plans for line in power_lines(plan)]
    if not lines:
        raise BadValueError("`result` must have a difference that is found, to draw its power")
    if len(lines) > _MOST:
        raise BadValueError(
            f"power_curve draws at most {_MOST} curves", len(lines), argument="result"
        )
    ax = prepare_axes(ax, (6.4, 4.4))
    handles = draw_curves(pictures.power(lines, len(lines), simulated=True), ax, str)
    titles = {plan.test_name for _, plan in plans}
    title = textwrap.fill(titles.pop(), _TITLE) if len(titles) == 1 else None
    place_legend(ax, handles, title, inside=len(handles) <= _INSIDE)
    return ax
