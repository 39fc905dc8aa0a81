"""Pictures of quality against cost, and of models by slices of the items."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.estimates.pareto import ParetoSet
from fastcmp.inputs.model_names import position_of
from fastcmp.pairwise.slices_result import SlicesResult
from fastcmp.plot.maps import draw_cells
from fastcmp.plot.style import COLOURS, GREY, LINES, as_text, place_legend, prepare_axes

Axes: TypeAlias = Any

_SETS = {"surely on the front": COLOURS[2], "not dominated": COLOURS[0], "dominated": GREY}
_MARKERS = "os^DvP<X>pd"


def pareto(
    result: ParetoSet, *, x: str | None = None, y: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw models by two criteria, with intervals in both directions.

    Parameters
    ----------
    result : ParetoSet
        What `pareto_set` found.
    x, y : str, optional
        Criteria of the axes; by default the second and the first.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What the picture was drawn on.

    Raises
    ------
    TypeError
        If `result` is no such record, or `ax` is no axes.
    ValueError
        If there is no such criterion.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    The dashed line is the front of these two criteria as it is seen. Intervals are for each
    model alone; colours say what is shown, by all criteria.

    Examples
    --------
    >>> from fastcmp import exact, pareto_set
    >>> values = {"a": [1, 0, 1, 1], "b": [0, 0, 1, 0]}
    >>> criteria = {"accuracy": values, "cost": exact([2.0, 1.0])}
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> pareto_set(criteria, lower_is_better=["cost"]).plot(ax=ax).get_xlabel()
    'cost (lower is better)'
    """
    if not isinstance(result, ParetoSet):
        raise BadTypeError(
            "`result` must be what pareto_set returns; pareto draws a ParetoSet",
            type(result).__name__,
        )
    places = []
    for name, argument, default in ((x, "x", 1), (y, "y", 0)):
        if not (name is None or (isinstance(name, str) and name in result.criteria)):
            raise BadValueError(f"`{argument}` must be one of {result.criteria}", repr(name))
        places.append(default if name is None else result.criteria.index(name))
    ax = prepare_axes(ax, (6.0, 4.4))
    kinds = [
        "surely on the front"
        if name in result.inner
        else "not dominated"
        if name in result.not_dominated
        else "dominated"
        for name in result.names
    ]
    across, up = (result.estimate[c] for c in places)
    ends = [np.abs(result.interval[c].T - result.estimate[c]) for c in places]
    gains = [-1.0 if result.lower_is_better[c] else 1.0 for c in places]
    best = np.lexsort((-gains[1] * up, -gains[0] * across))
    best_so_far = np.maximum.accumulate(gains[1] * up[best])
    front = best[np.diff(best_so_far, prepend=-np.inf) > 0.0]
    ax.plot(across[front], up[front], color=GREY, linestyle="--", linewidth=1.0, zorder=1)
    handles = []
    for i, (name, kind) in enumerate(zip(result.names, kinds, strict=True)):
        style = {"color": _SETS[kind], "marker": _MARKERS[i % len(_MARKERS)], "markersize": 5.5}
        reach = (ends[1][:, i : i + 1], ends[0][:, i : i + 1])
        options = {"linestyle": "", "elinewidth": 1.0, "capsize": 2, "label": as_text(name)}
        handles.append(ax.errorbar(across[i], up[i], *reach, **style, **options))
    if len(handles) > LINES:
        handles = []
    for kind in dict.fromkeys(kinds):
        handles += ax.plot([], [], color=_SETS[kind], linewidth=4, label=kind)
    titles = [
        f"{as_text(result.criteria[c])} "
        f"({'lower' if result.lower_is_better[c] else 'higher'} is better)"
        for c in places
    ]
    ax.set(xlabel=titles[0], ylabel=titles[1])
    place_legend(ax, handles, None, inside=False)
    return ax


def slice_map(
    result: SlicesResult, *, control: int | str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw models by slices as a map of cells.

    Parameters
    ----------
    result : SlicesResult
        What `compare_slices` found.
    control : int or str, optional
        Show differences from this model, with a star where they are significant; by
        default the mean of each model in each slice.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What the map was drawn on.

    Raises
    ------
    TypeError
        If `result` is no such record, or `ax` is no axes.
    ValueError
        If there is no such model, or it was compared with no other.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Dark is the best of all cells, light the worst.

    Examples
    --------
    >>> from fastcmp import compare_slices
    >>> values = {"a": [1, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> result = compare_slices(values, ["s", "s", "t", "t"])
    >>> from matplotlib.figure import Figure
    >>> ax = result.plot(control="b", ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['s', 't']
    """
    if not isinstance(result, SlicesResult):
        raise BadTypeError(
            "`result` must be what compare_slices returns; slice_map draws a SlicesResult",
            type(result).__name__,
        )
    names, cells, stars = list(result.names), result.mean, None
    if control is not None:
        try:
            k = position_of(control, result.names)
        except ValueError as error:
            raise BadValueError(f"`control`: {error}") from None
        rows = np.flatnonzero((result.pairs == k).any(axis=1))
        if not rows.size:
            raise BadValueError(f"`control` must be compared with others, and {names[k]!r} was not")
        turned = result.pairs[rows, 0] == k
        others = np.where(turned, result.pairs[rows, 1], result.pairs[rows, 0])
        cells = np.where(turned, -1.0, 1.0)[:, None] * result.difference[rows] + 0.0
        names, stars = [names[i] for i in others], result.significant[rows]
    gain = -cells if result.lower_is_better else cells
    low, high = np.nanmin(gain), np.nanmax(gain)
    shade = (gain - low) / (high - low) if high > low else np.full(gain.shape, 0.5)
    sign = "" if stars is None else "+"
    texts = np.array([[f"{x:{sign}.3g}" for x in row] for row in cells], object)
    if stars is not None:
        texts = np.where(stars, texts + "*", texts)
    ax = draw_cells(shade, names, result.slices, texts, ax=ax)
    what = "mean" if control is None else f"minus {as_text(result.names[k])}; * significant"
    ax.set_xlabel(f"{what} (dark: best, light: worst)")
    return ax
