"""Pictures of ROC curves, with bands and cutoffs."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.tails import wilson_interval
from fastcmp.inputs.scores import read_scores, read_weights
from fastcmp.plot.style import (
    COLOURS,
    GREY,
    LINES,
    as_text,
    curve_style,
    in_doubles,
    place_legend,
    prepare_axes,
)
from fastcmp.scores.curves import roc_points
from fastcmp.scores.cutpoints import optimal_cutpoint
from fastcmp.scores.thresholds import sweep_scores

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.counts.roc_points import RocCurve
    from fastcmp.inputs.scores import Scores

    Axes: TypeAlias = Any
    Floats = NDArray[np.float64]

_LEVEL = 0.95  # of the band
_INSIDE = 12  # lines of a legend that fit below good curves


class _Cut(NamedTuple):
    """A cutoff to mark, and the points where it cuts; several are equally good."""

    cutoff: float
    fpr: Floats
    tpr: Floats


def roc(
    y_true: ArrayLike,
    scores: Any,
    *,
    positive: Any = None,
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
        raise ValueError("band=True has no interval for sample_weight=: leave one of them out")
    curves = [roc_points(sweep_scores(read, weights, m)) for m in range(len(names))]
    cuts = [_find_cut(read, weights, *each, cutoff) for each in enumerate(curves)]
    areas = [curve.auc for curve in curves]
    entries = len(curves) * (1 if cutoff is None else 2)
    inside = entries <= _INSIDE and min(areas) > 0.6
    # Beside the axes the legend takes about so much.
    aside = 0.0 if inside else 1.1 + 0.065 * max(map(len, names))
    aside *= -(-entries // LINES)
    ax = prepare_axes(ax, (5.2 + aside, 5.2))
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
    handles = []
    for model, curve in enumerate(curves):
        style = curve_style(model, len(curves))
        style["label"] = f"AUC {areas[model]:.3f}"
        if not read.single:
            style["label"] = f"{areas[model]:.3f}  {names[model]}"
        if band:
            corners = _band(curve, read.n_positives, read.n_negatives)
            ax.fill(*corners.T, color=style["color"], alpha=0.18, linewidth=0)
        handles += ax.plot(curve.fpr, curve.tpr, **style)
        if (cut := cuts[model]) is not None:
            handles += _mark_cut(ax, cut, style["color"], alone=read.single)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    if inside:  # with a legend outside, equal axes confuse matplotlib's layout
        ax.set_aspect("equal")
    ax.set(xlabel="False positive rate (1 - specificity)")
    ax.set(ylabel="True positive rate (sensitivity)")
    place_legend(ax, handles, None if read.single else "AUC", inside=inside)
    return ax


def _find_cut(
    read: Scores, weights: Floats | None, model: int, curve: RocCurve, cutoff: Any
) -> _Cut | None:
    if cutoff is None:
        return None
    if isinstance(cutoff, str) or callable(cutoff):
        found = optimal_cutpoint(
            read.positive,
            read.columns[model],
            positive=1,
            criterion=cutoff,
            sample_weight=weights,
        )
        return _Cut(found.cutoff, 1 - found.specificity, found.sensitivity)
    if isinstance(cutoff, bool) or not isinstance(cutoff, Real):
        raise TypeError(f"cutoff must be a criterion or a number, got {cutoff!r}")
    if math.isnan(cutoff):
        raise ValueError("cutoff must be a number, got nan")
    # The first point is none of a score.
    last = [np.count_nonzero(curve.thresholds[1:] >= cutoff)]
    return _Cut(float(cutoff), curve.fpr[last], curve.tpr[last])


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
