"""Pictures of the studies, on matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.plot.style import COLOURS, GREY, PALE, curve_style, prepare_axes

from .rivals import RIVALS

if TYPE_CHECKING:
    from .correlation_study import CorrelationStudy
    from .error_study import ErrorStudy
    from .power_study import PowerStudy
    from .type_one_errors import TypeOneErrors

_SMALL = {"fontsize": 8}
_OUTSIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


def draw_type_one_errors(study: TypeOneErrors, ax: Any = None) -> Any:
    """Draw type I errors with intervals, and what the paper prints."""
    ax = prepare_axes(ax, (7.0, 4.8))
    places = np.arange(len(RIVALS))[::-1]
    low, high = study.interval.T
    ax.axvline(study.alpha, color=GREY, linewidth=1, linestyle="--", zorder=1)
    ax.errorbar(
        study.rate,
        places,
        xerr=[study.rate - low, high - study.rate],
        fmt="o",
        markersize=4.5,
        color=COLOURS[0],
        label="here, 95% CI",
    )
    if np.isfinite(study.printed).any():
        ax.plot(study.printed, places, "x", color=COLOURS[1], label="paper")
    ax.set_yticks(places, [rival.title for rival in RIVALS], **_SMALL)
    ax.set_xlabel(f"type I error at the level {study.alpha:g}")
    ax.set_xlim(left=0)
    title = f"{study.dataset}: {study.replications} data sets"
    return _finish(ax, title, loc="center right")


def draw_power(study: PowerStudy, ax: Any = None) -> Any:
    """Draw the power curves of the tests that keep their level."""
    ax = prepare_axes(ax, (8.0, 4.8))
    gaps = 100 * np.abs(study.errors[:, 1] - study.errors[:, 0])
    shown = np.flatnonzero(study.reasonable)
    for at, k in enumerate(shown):
        style = curve_style(at, len(shown))
        if RIVALS[k].test == "bcv-mcnemar":
            style |= {"color": "#000000", "linewidth": 2.6, "linestyle": "-"}
        ax.plot(gaps, study.power[:, k], label=RIVALS[k].title, **style)
    ax.axhline(study.alpha, color=GREY, linewidth=1, linestyle="--", zorder=1)
    ax.set_xlabel("difference of the error rates, percentage points")
    ax.set_ylabel(f"proportion of {study.replications} data sets rejected")
    ax.set_ylim(0, 1)
    ax.set_xlim(left=0)
    return _finish(ax, f"Power, {study.dataset}", **_OUTSIDE)


def draw_errors(study: ErrorStudy, ax: Any = None) -> Any:
    """Draw two error rates along the parameter of the second."""
    ax = prepare_axes(ax, (6.0, 4.0))
    for k, name in enumerate("ab"):
        rate, spread = 100 * study.errors[:, k], 196 * study.standard_errors[:, k]
        ax.plot(
            study.values,
            rate,
            color=COLOURS[k],
            marker="os"[k],
            markersize=3.5,
            label=f"algorithm {name}",
        )
        ax.fill_between(
            study.values, rate - spread, rate + spread, color=COLOURS[k], alpha=0.2, linewidth=0
        )
    ax.axvline(study.null, color=GREY, linewidth=1, linestyle="--", zorder=1)
    if study.values.min() * 10 < study.values.max() and study.values.min() > 0:
        ax.set_xscale("log")
    # The curves begin at this end.
    leftmost = study.null <= study.values.min()
    ax.annotate(
        f"equal at {study.null:.4g}",
        (study.null, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(5 if leftmost else -5, -2),
        textcoords="offset points",
        va="top",
        ha="left" if leftmost else "right",
        **_SMALL,
    )
    ax.set_xlabel(study.parameter)
    ax.set_ylabel("true error, %")
    return _finish(ax, f"True error rates, {study.dataset}")


def draw_correlations(study: CorrelationStudy, ax: Any = None) -> Any:
    """Draw rho1 against rho2, and the bounds of equations (9) and (10)."""
    ax = prepare_axes(ax, (6.4, 5.0))
    ax.fill_between([-1, 0.5], 0, 0.5, color=PALE, zorder=0, label="bounds (10)")
    ends = np.array([-1.0, 1.0])
    ax.plot(ends, (1 + ends) / 2, color=COLOURS[1], label="bound (9)")
    ax.plot(ends, ends, color=GREY, linestyle=":", label="rho2 = rho1")
    datasets = list(dict.fromkeys(each[0] for each in study.experiments))
    names = np.array([each[0] for each in study.experiments])
    for k, name in enumerate(datasets):
        at = (names == name) & study.known
        ax.plot(
            study.rho1[at],
            study.rho2[at],
            linestyle="",
            marker="os^DvP<X>p"[k % 10],
            markersize=4.5,
            color=COLOURS[k % len(COLOURS)],
            label=name,
        )
    # Few data sets give correlations that lie far out.
    ax.set_xlim(min(-0.6, np.nanmin(study.rho1, initial=1.0) - 0.05), 1.0)
    ax.set_ylim(min(-0.2, np.nanmin(study.rho2, initial=1.0) - 0.05), 1.0)
    ax.set_xlabel("rho1, folds of one cut")
    ax.set_ylabel("rho2, folds of two cuts")
    return _finish(ax, "Correlations of disagreements", **_OUTSIDE)


def _finish(ax: Any, title: str, **legend: Any) -> Any:
    ax.set_title(title, loc="left", fontsize=10)
    ax.legend(frameon=False, **_SMALL, **legend)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
