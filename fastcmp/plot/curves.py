"""Pictures of curves that were computed before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.counts.roc_points import Curve, RocCurve
from fastcmp.plot.style import curve_style, prepare_axes
from fastcmp.scores.curves import DetCurve, PrecisionRecallCurve
from fastcmp.scores.lift import GainCurve

if TYPE_CHECKING:
    from typing import TypeAlias

    Axes: TypeAlias = Any

#: Of each kind, what is drawn against what, the names of the axes, and how points are
#: joined.
_DRAWN: dict[type[Curve], tuple[str, str, str, str, str]] = {
    RocCurve: (
        "fpr",
        "tpr",
        "False positive rate (1 - specificity)",
        "True positive rate (sensitivity)",
        "default",
    ),
    PrecisionRecallCurve: (
        "recall",
        "precision",
        "Recall (sensitivity)",
        "Precision (positive predictive value)",
        "steps-post",
    ),
    DetCurve: ("fpr", "fnr", "False positive rate", "False negative rate", "default"),
    GainCurve: (
        "called",
        "captured",
        "Proportion of the cases",
        "Proportion of the events",
        "default",
    ),
}


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
    if type(result) not in _DRAWN:
        raise TypeError(f"curve draws a curve such as RocCurve, got {type(result).__name__}")
    if label is not None and not isinstance(label, str):
        raise TypeError(f"label must be text or None, got {type(label).__name__}")
    x, y, x_label, y_label, joined = _DRAWN[type(result)]
    ax = prepare_axes(ax, (5.2, 5.2))
    style = curve_style(len(ax.lines), 1) | {"drawstyle": joined, "label": label}
    ax.plot(getattr(result, x), getattr(result, y), **style)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel=x_label, ylabel=y_label)
    ax.set_aspect("equal")
    return ax
