"""Pictures of ROC curves, precision and recall, cut-points and lift."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels, pictures
from fastcmp.core.checks import as_number, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import wilson_interval
from fastcmp.core.sections import interval_name
from fastcmp.core.typing import Floats, Ints, Label, ModelsLike
from fastcmp.counts.roc_points import RocCurve
from fastcmp.inputs.scores import Scores, read_scores, read_weights
from fastcmp.pictures import DRAWN, Axis, Curves, Line, Rule
from fastcmp.plot.style import (
    COLOURS,
    LEGEND,
    LINES,
    PALE,
    as_text,
    check_drawn,
    curve_style,
    draw_curves,
    in_doubles,
    place_legend,
    place_legend_above,
    prepare_axes,
)
from fastcmp.scores.curves import (
    PrecisionRecallCurve,
    average_precision,
    precision_recall_curve,
    roc_points,
    sweep_scores,
)
from fastcmp.scores.cutpoints import CutpointResult, optimal_cutpoint
from fastcmp.scores.lift import LiftTable

Axes: TypeAlias = Any

_LEVEL = 0.95  # of the band
_INSIDE = 12  # lines of a legend that fit below good curves


class _Cut(NamedTuple):
    """A cutoff to mark, and the points where it cuts; several are equally good."""

    cutoff: float
    fpr: Floats
    tpr: Floats


def roc(
    y_true: ArrayLike,
    scores: ModelsLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    cutoff: str | float | Callable[..., Any] | None = None,
    band: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the ROC curves of one model or of several.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores indicate the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    cutoff : str, callable or float, optional
        Mark the best cutoff by a criterion of `optimal_cutpoint`, such as "youden"; or
        a cutoff itself: scores that reach it are called positive. Of one model also the
        curve of that cutoff alone is drawn, and its distance from the diagonal,
        Youden's index.
    band : bool
        Whether to draw a 95% band for the points of each curve, see the notes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        As `roc_curve`, or if the cutoff is NaN, the criterion unknown, or a band is
        wanted of samples with weights.
    TypeError
        If scores are not numbers, or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Lines join the points that cutoffs reach, so the area below is the AUC of the
    legend: where scores of both classes are equal the line is slanted, and such pairs
    count half.

    The band is for each cutoff alone. Both its rates have a Wilson interval of
    level ``sqrt(0.95)``; as the classes are independent, the rectangle of the two
    covers both true rates with 95%. The edges of the band join the corners of the
    rectangles, upper left and lower right.
    Read as a band for the curve at a given false positive rate it is wider than 95%
    need (it covers 99% and more); an interval for the true positive rate alone would be
    too short there, as it forgets that the false positive rate is uncertain as well.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot
    >>> y_true, score = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.7, 0.9]
    >>> ax = plot.roc(y_true, score, cutoff="youden")
    >>> ax.get_legend().get_texts()[0].get_text()
    'AUC 0.889'
    >>> plt.close(ax.figure)
    """
    read = read_scores(y_true, in_doubles(scores), positive)
    names = [as_text(name) for name in read.names]
    weights = read_weights(sample_weight, read)
    if band and weights is not None:
        raise BadValueError(
            "`band=True` has no interval for `sample_weight=`: leave one of them out"
        )
    curves = [roc_points(sweep_scores(read, weights, m)) for m in range(len(names))]
    cuts = [_find_cut(read, weights, *numbered, cutoff) for numbered in enumerate(curves)]
    areas = [curve.auc for curve in curves]
    entries = len(curves) * (1 if cutoff is None else 2)
    inside = entries <= _INSIDE and min(areas) > 0.6
    # Beside the axes the legend takes about so much.
    aside = 0.0 if inside else 1.1 + 0.065 * max(map(len, names))
    aside *= -(-entries // LINES)
    ax = prepare_axes(ax, (5.2 + aside, 5.2))
    picture = pictures.curves(dict(zip(read.names, curves, strict=True)))
    handles = []
    lines = draw_curves(replace(picture, is_square=inside), ax)
    for model, (line, curve, cut) in enumerate(zip(lines, curves, cuts, strict=True)):
        line.set_label(
            f"AUC {curve.auc:.3f}" if read.single else f"{curve.auc:.3f}  {names[model]}"
        )
        handles.append(line)
        if band:
            corners = _band(curve, read.n_positives, read.n_negatives)
            ax.fill(*corners.T, color=line.get_color(), alpha=0.18, linewidth=0)
        if cut is not None:
            handles += _mark_cut(ax, cut, line.get_color(), alone=read.single)
    if not inside:  # with a legend outside, equal axes confuse matplotlib's layout
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    place_legend(ax, handles, None if read.single else "AUC", inside=inside)
    return ax


def _find_cut(
    read: Scores, weights: Floats | None, model: int, curve: RocCurve, cutoff: object
) -> _Cut | None:
    if cutoff is None:
        return None
    if isinstance(cutoff, str) or callable(cutoff):
        best = optimal_cutpoint(
            read.positive, read.columns[model], positive=1, criterion=cutoff, sample_weight=weights
        )
        return _Cut(best.cutoff, 1 - best.specificity, best.sensitivity)
    threshold = as_number(cutoff, "cutoff", "a criterion or a number")
    if math.isnan(threshold):
        raise BadValueError("`cutoff` must be a number", "nan")
    # The first point is none of a score.
    last = [np.count_nonzero(curve.thresholds[1:] >= threshold)]
    return _Cut(threshold, curve.fpr[last], curve.tpr[last])


def _mark_cut(ax: Axes, cut: _Cut, color: str, *, alone: bool) -> list[Any]:
    """Mark the points of a cutoff; return what its line in the legend needs."""
    x, y = float(cut.fpr[0]), float(cut.tpr[0])
    label = f"        cut at {cut.cutoff:.4g}"
    if alone:
        label = f"cut at {cut.cutoff:.4g}: sensitivity {y:.3f}, specificity {1 - x:.3f}"
        thin = {"color": COLOURS[1], "linewidth": 1.0}
        ax.plot([0, x, 1], [0, y, 1], linestyle="--", **thin)
        ax.plot([x, x], [x, y], linestyle=":", **thin)
        color = COLOURS[1]
    marks = {"marker": "*", "markersize": 13, "markeredgecolor": "black", "zorder": 4}
    marks["clip_on"] = False
    return list(ax.plot(cut.fpr, cut.tpr, linestyle="none", color=color, label=label, **marks))


def _band(curve: RocCurve, n_positives: int, n_negatives: int) -> Floats:
    """Corners of the band, anticlockwise from (0, 0), shape (k, 2)."""
    z = -kernels.ndtri(0.5 * (1 - math.sqrt(_LEVEL)))
    left, right = wilson_interval(curve.fpr, n_negatives, z)
    low, high = wilson_interval(curve.tpr, n_positives, z)
    ends = np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])
    upper, lower = np.stack([left, high], 1), np.stack([right, low], 1)
    return np.concatenate([ends[0], upper, ends[1], lower[::-1]])


# Pictures of what cut-offs do: precision and recall, cut-points, lift.


_MARKED = ("accuracy", "sensitivity=specificity")  # criteria, where none is asked for
_TICKED = 20  # groups that each get a number
_MEASURES = {
    "lift": ("lift", "Lift (response rate over that of all cases)", 1.0),
    "response": ("response_rate", "Response rate (%)", 100.0),
    "captured": ("captured", "Captured events (% of all events)", 100.0),
}


def cutoffs(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    result: CutpointResult | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw accuracy, sensitivity and specificity against the cutoff.

    Marked are the cutoffs that were found; without any those with the best accuracy,
    and those where sensitivity and specificity are closest.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class; those that reach the cutoff are
        called positive.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    result : CutpointResult, optional
        What `optimal_cutpoint` found for these scores, to be marked.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        As `roc_curve`, or if no score is finite.
    TypeError
        If scores are not numbers, or `result` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot
    >>> y_true, score = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.7, 0.9]
    >>> ax = plot.cutoffs(y_true, score)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][3]
    'best accuracy 0.833 at 0.7'
    >>> plt.close(ax.figure)
    """
    if result is not None and not isinstance(result, CutpointResult):
        raise BadTypeError("`result` must be a CutpointResult", type(result).__name__)
    read = read_scores(y_true, in_doubles(score), positive, single=True)
    weights = read_weights(sample_weight, read)
    curve = roc_points(sweep_scores(read, weights))
    rate = float(np.average(read.positive, weights=weights))
    x, rows = _against_cutoff(curve)
    se, sp = curve.tpr[rows], 1 - curve.fpr[rows]
    ax = prepare_axes(ax, (6.4, 4.6))
    handles = []
    named = {"accuracy": rate * se + (1 - rate) * sp, "sensitivity": se}
    for model, (name, y) in enumerate((named | {"specificity": sp}).items()):
        style = curve_style(model, 1) | {"linestyle": ("-", "--", ":")[model]}
        handles += ax.plot(x, y, drawstyle="steps-pre", label=name, **style)
    if result is not None:
        handles += _mark_result(ax, result, x)
    for criterion in () if result is not None else _MARKED:
        best = optimal_cutpoint(
            read.positive, read.columns[0], positive=1, criterion=criterion, sample_weight=weights
        )
        handles += _mark_cutoffs(ax, best, x)
    ax.set(xlabel="Cutoff (positive where the score reaches it)", ylabel="Proportion")
    ax.margins(x=0)
    place_legend_above(ax, handles)
    return ax


def _mark_result(ax: Axes, result: CutpointResult, drawn: Floats) -> list[Any]:
    """Mark the cutoffs that a search found on the curves of what they do."""
    color = COLOURS[6]
    x = np.clip(result.cutoffs, drawn[0], drawn[-1])
    top = np.maximum(result.sensitivity, result.specificity)
    ax.vlines(x, -0.02, top, color=color, linewidth=0.8, linestyle="-.")
    more = f" and {x.size - 1} more" if x.size > 1 else ""
    value = "" if np.isnan(result.value) else f" {result.value:.4g}"
    label = f"{result.criterion}{value} at {result.cutoff:.4g}{more}"
    y = np.concatenate([result.sensitivity, result.specificity])
    style: dict[str, Any] = {"color": color, "label": label, "zorder": 4}
    style |= {"markersize": 8, "markerfacecolor": "none", "clip_on": False}
    return list(ax.plot(np.concatenate([x, x]), y, "o", **style))


def _mark_cutoffs(ax: Axes, best: CutpointResult, drawn: Floats) -> list[Any]:
    """Mark the best cutoffs by a criterion; infinite ones at the end of the axis."""
    se, sp = best.sensitivity, best.specificity
    at = f"at {best.cutoff:.4g}"
    if best.criterion == "accuracy":
        rate = best.prevalence
        y, marker, color = rate * se + (1 - rate) * sp, "*", COLOURS[0]
        label = f"best accuracy {best.value:.3f} {at}"
    else:
        y, marker, color = 0.5 * (se + sp), "o", COLOURS[6]
        label = f"crossing {se[0]:.3f}, {sp[0]:.3f} {at}"
    x = np.clip(best.cutoffs, drawn[0], drawn[-1])
    ax.vlines(x[0], -0.02, y[0], color=color, linewidth=0.8, linestyle="-.")
    style = {"color": color, "label": label, "clip_on": False, "zorder": 4}
    style |= {"markersize": 10, "markerfacecolor": "none" if marker == "o" else color}
    return list(ax.plot(x, y, marker, **style))


def _against_cutoff(curve: RocCurve) -> tuple[Floats, Ints]:
    """Cutoffs, ascending, and which point of the curve each of them gives.

    One cutoff more at either end shows what happens beyond the scores.
    """
    rows = np.flatnonzero(np.isfinite(curve.thresholds))[::-1]
    if not rows.size:
        raise BadValueError("`score` must have finite values to draw cutoffs", "infinite ones only")
    x = curve.thresholds[rows]
    beyond = 0.03 * (x[-1] - x[0]) or 0.5
    x = np.concatenate([[x[0] - beyond], x, [x[-1] + beyond]])
    return x, np.concatenate([rows[:1], rows, [rows[-1] - 1]])


def precision_recall(
    y_true: ArrayLike,
    scores: ModelsLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw precision against recall, of one model or of several.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores indicate the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        As `precision_recall_curve`.
    TypeError
        If scores are not numbers, or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    The area under the steps is the average precision. The line of the base rate is what
    scores without information reach.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot
    >>> ax = plot.precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['average precision 0.833', 'base rate 0.500']
    >>> plt.close(ax.figure)
    """
    read = read_scores(y_true, scores, positive)
    weights = read_weights(sample_weight, read)
    options: dict[str, Any] = {"positive": 1, "sample_weight": weights}
    names = [as_text(name) for name in read.names]
    lines = []
    for name, column in zip(names, read.columns, strict=True):
        curve = precision_recall_curve(read.positive, column, **options)
        area = average_precision(read.positive, column, **options)
        label = f"average precision {area:.3f}" if read.single else f"{area:.3f}  {name}"
        lines.append(Line(label, curve.recall, curve.precision, joined="steps-post"))
    above = len(lines) <= 5
    aside = 1.1 + 0.065 * max(map(len, names))  # what a legend outside takes
    aside *= 1 + len(names) // LINES
    ax = prepare_axes(ax, (6.4, 4.8) if above else (5.2 + aside, 5.2))
    rate, row = float(np.average(read.positive, weights=weights)), DRAWN[PrecisionRecallCurve]
    picture = Curves(
        title=row.title,
        x=Axis(row.across, -0.01, 1.01),
        y=Axis(row.up, -0.02, 1.02),
        lines=tuple(lines),
        rules=(Rule(rate, f"base rate {rate:.3f}"),),
    )
    handles = draw_curves(picture, ax, str)
    if above:
        place_legend_above(ax, handles)
    else:
        place_legend(ax, handles, "average precision", inside=False)
    return ax


def lift(
    table: LiftTable, *, cumulative: bool = False, kind: str = "lift", ax: Axes | None = None
) -> Axes:
    """Draw a lift table with its intervals: bars by group, or a line added up.

    Parameters
    ----------
    table : LiftTable
        From `lift_table`.
    cumulative : bool
        Whether groups are added up from the first one.
    kind : {"lift", "response", "captured"}
        Lift, response rate, or percentage of all events.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If the kind is unknown.
    TypeError
        If `table` or `ax` is something else.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    The dashed line is what scores without information give on average.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from fastcmp import plot
    >>> from fastcmp.scores.lift import lift_table
    >>> y_true, score = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.3, 0.1]
    >>> ax = plot.lift(lift_table(y_true, score, groups=3))
    >>> [float(bar.get_height()) for bar in ax.patches]
    [2.0, 1.0, 0.0]
    >>> plt.close(ax.figure)
    """
    check_drawn(table, LiftTable, "lift draws a LiftTable", "table")
    kind = choose(kind, "kind", tuple(_MEASURES))
    name, label, scale = _MEASURES[kind]
    rates = table.cumulative if cumulative else table.by_group
    cases = rates.cases / table.n_samples
    chance: Any = {"lift": 1.0, "response": table.n_events / table.n_samples, "captured": cases}[
        kind
    ]
    y = scale * getattr(rates, name)
    low, high = (scale * end for end in getattr(rates, f"{name}_interval"))
    spread = np.maximum([y - low, high - y], 0.0)
    level = interval_name(table.confidence_level)
    if table.weighted:
        level = "without intervals"
    ax = prepare_axes(ax, (6.4, 4.4))
    x: Any = 100 * cases if cumulative else table.group
    if cumulative:
        line = {"fmt": "o-", "color": COLOURS[0], "capsize": 3, "markersize": 5}
        ax.errorbar(x, y, yerr=spread, label=f"cases added up, {level}", **line)
        ax.set_xlabel("Cases called, highest scores first (%)")
    else:
        bars = {"color": COLOURS[5], "edgecolor": "black", "linewidth": 0.6}
        bars |= {"capsize": 3, "width": 0.8}
        ax.bar(x, y, yerr=spread, label=f"by group, {level}", **bars)
        if x.size <= _TICKED:
            ax.set_xticks(x)
        ax.set_xlabel(f"Group of cases (1 of {table.groups}: the highest scores)")
    line = {"color": COLOURS[1], "linestyle": "--", "linewidth": 1.4}
    ax.plot(x, np.broadcast_to(scale * chance, x.shape), label="chance", **line)
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y", color=PALE)
    ax.set_axisbelow(True)
    ax.legend(loc="best", **LEGEND)
    return ax
