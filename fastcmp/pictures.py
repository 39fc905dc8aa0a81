"""What pictures of curves show, described once: drawn by matplotlib, and as SVG on pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.counts.roc_points import Curve, RocCurve
from fastcmp.estimates.decision_curves import DecisionCurve
from fastcmp.estimates.reliability import ReliabilityDiagram
from fastcmp.scores.curves import DetCurve, PrecisionRecallCurve
from fastcmp.scores.lift import GainCurve
from fastcmp.scores.resampling import RocBand
from fastcmp.sequential.looks_result import LooksResult

_MARKED = 60  # looks that get a point each
_RISING = ((0.0, 0.0), (1.0, 1.0))


class Axis(NamedTuple):
    """An axis, from `low` to `high`; the ends of one that holds all that is drawn are None."""

    title: str
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    #: Whether the greatest number is on the left.
    is_reversed: bool = False


class Line(NamedTuple):
    """A curve, perhaps with a band and with points that say more."""

    name: str
    x: Any
    y: Any
    band: tuple[Any, Any] | None = None
    #: Places, and what is said of each.
    points: tuple[tuple[float, float, str], ...] = ()
    #: "" for a curve, "other" for what is compared with the models, "point" for one place.
    kind: str = ""
    #: How points are joined, as matplotlib calls it.
    joined: str = "default"


class Rule(NamedTuple):
    """A level line across the picture: "zero", or "decided" where it decides."""

    at: float
    text: str = ""
    kind: str = "zero"


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Curves over two axes."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...] = ()
    #: Ends of a dotted line to compare with.
    straight: tuple[tuple[float, float], tuple[float, float]] | None = None
    is_square: bool = False
    #: A sentence that says how to read it, and a heading of the names.
    says: str = ""
    legend: str = ""
    #: Models, where only some of them are drawn.
    n_models: int = 0


class _Drawn(NamedTuple):
    """What of a curve is drawn against what."""

    x: str
    y: str
    title: str
    across: str
    up: str
    straight: tuple[tuple[float, float], tuple[float, float]] | None = None
    says: str = ""
    joined: str = "default"


DRAWN: dict[type[Curve], _Drawn] = {
    RocCurve: _Drawn(
        *("fpr", "tpr", "ROC curve"),
        *("False positive rate (1 - specificity)", "True positive rate (sensitivity)"),
        straight=_RISING,
        says="The nearer a curve is to the upper left corner, the better; the dotted "
        "line is guessing.",
    ),
    PrecisionRecallCurve: _Drawn(
        *("recall", "precision", "Precision and recall"),
        *("Recall (sensitivity)", "Precision (positive predictive value)"),
        joined="steps-post",
    ),
    DetCurve: _Drawn(
        *("fpr", "fnr", "Detection error tradeoff"), *("False positive rate", "False negative rate")
    ),
    GainCurve: _Drawn(
        *("called", "captured", "Gain", "Proportion of the cases, best scores first"),
        "Proportion of the events",
        straight=_RISING,
        says="How many of the events are among the cases with the highest scores; the "
        "dotted line is cases in random order.",
    ),
}


def curves(
    records: Mapping[str, Curve], points: Mapping[str, Any] | None = None, *, n_models: int = 0
) -> Curves:
    """Curves of one kind by name, of which some have marked points (x, y, text)."""
    row = DRAWN[type(next(iter(records.values())))]
    names = {
        name: f"{name}: AUC {record.auc:.4f}".removeprefix(": ")
        if isinstance(record, RocCurve)
        else name
        for name, record in records.items()
    }
    return Curves(
        title=row.title + "s" * (len(records) > 1),
        x=Axis(row.across, 0.0, 1.0),
        y=Axis(row.up, 0.0, 1.0),
        lines=tuple(
            Line(
                *(names[name], getattr(record, row.x), getattr(record, row.y)),
                points=tuple((points or {}).get(name, ())),
                joined=row.joined,
            )
            for name, record in records.items()
        ),
        straight=row.straight,
        is_square=True,
        says=row.says,
        n_models=n_models,
    )


def precision(records: Mapping[str, RocCurve], n_1: int, n_0: int) -> Curves:
    """Precision over recall, as they follow from ROC curves."""
    row, base, lines = DRAWN[PrecisionRecallCurve], n_1 / (n_1 + n_0), []
    for name, record in records.items():
        tp, fp = n_1 * record.tpr, n_0 * record.fpr
        with np.errstate(invalid="ignore"):
            precisions = tp / (tp + fp)  # NaN where none is called positive
            lines.append(Line(name, record.tpr, precisions))
    return Curves(
        title=row.title,
        x=Axis(row.across, 0.0, 1.0),
        y=Axis(row.up, 0.0, 1.0),
        lines=tuple(lines),
        straight=((0.0, base), (1.0, base)),
        is_square=True,
        says=f"The dotted line is the proportion of positives, {base:.3f}: the "
        "precision of guessing.",
    )


def roc_band(record: RocBand, confidence_level: float = 0.95) -> Curves:
    """Rates over given rates, with their bands."""
    order = np.argsort(record.at, kind="stable")
    low, high = record.confidence_interval(confidence_level)
    fixed_rate, measure = record.given.capitalize(), record.measure.capitalize()
    return Curves(
        title=f"{measure} over {fixed_rate.lower()}",
        x=Axis(fixed_rate, 0.0, 1.0, is_reversed=True),
        y=Axis(measure, 0.0, 1.0),
        lines=tuple(
            Line(
                *(name, record.at[order], record.estimate[m, order]),
                band=(low[m, order], high[m, order]),
            )
            for m, name in enumerate(record.names)
        ),
        straight=((1.0, 0.0), (0.0, 1.0)),
        is_square=True,
        says=f"Bands are {100 * confidence_level:g}% intervals of each point on its own.",
        legend=f"{100 * confidence_level:g}% bands",
    )


def net_benefit(record: DecisionCurve, *, differences: bool = False) -> Curves:
    """Net benefits over thresholds, or their differences with the band of all of them."""
    x, what = record.thresholds, "standardised " * record.standardised + "net benefit"
    count, top, low = len(record.names) - 2, float(np.nanmax(record.net_benefit, initial=0.0)), None
    if differences:
        what = f"difference of {what}"
        lines = [
            Line(
                f"{record.names[a]} - {record.names[b]}",
                *(x, record.difference[p]),
                band=tuple(np.moveaxis(np.asarray(record.band)[p], 1, 0)),
            )
            for p, (a, b) in enumerate(record.pairs.tolist())
        ]
    else:
        low = -0.15 * top if top > 0.0 else None
        lines = [
            Line(name, x, record.net_benefit[m]) for m, name in enumerate(record.names[:count])
        ]
        lines.append(Line("treat all", x, record.net_benefit[count], kind="other"))
    return Curves(
        title=f"{what[0].upper()}{what[1:]} over thresholds",
        x=Axis("Threshold probability"),
        y=Axis(what[0].upper() + what[1:], low, None if low is None else 1.05 * top),
        lines=tuple(lines),
        rules=(Rule(0.0, "" if differences else "treat none"),),
        says="" if differences else "The dotted line is treating nobody.",
    )


def reliability(record: ReliabilityDiagram) -> Curves:
    """Isotonic frequencies over probabilities, with their bands."""
    model, lines = np.array(record.model, object), []
    for m, name in enumerate(record.names):
        rows = model == name
        x, observed = record.probability[rows], record.observed[rows]
        points: list[Any] = []
        if record.methods[m] == "binomial":
            points = [(a, b, f"{a:.4g}: {b:.4g}") for a, b in zip(x, observed, strict=True)]
        band = record.band_low[rows], record.band_high[rows]
        lines.append(Line(name, x, record.recalibrated[rows], band=band, points=tuple(points)))
    return Curves(
        title="Frequencies by probability",
        x=Axis("Probability", 0.0, 1.0),
        y=Axis("Frequency", 0.0, 1.0),
        lines=tuple(lines),
        straight=_RISING,
        is_square=True,
        legend=f"{100 * record.confidence_level:g}% {record.band} bands",
    )


def estimates(record: LooksResult) -> Curves | None:
    """The estimate with its interval at each look; None where there is none."""
    if np.isnan(record.low).any() or len(record.n_samples) < 2:
        return None
    points = record.measure == "accuracy"
    scale, unit = (100.0, " (percentage points)") if points else (1.0, "")
    low, value, high = (scale * x for x in (record.low, record.estimate, record.high))
    return Curves(
        title="The difference at each look",
        x=Axis("Samples", 0.0, 1.02 * float(record.n_samples.max())),
        y=Axis(f"{record.measure.capitalize()} of a minus b{unit}"),
        lines=(Line("estimate and interval", record.n_samples, value, band=(low, high)),),
        rules=(Rule(scale * record.null, "H0"),),
        says=f"All intervals hold together with a probability of {1 - record.alpha:g}.",
    )


def evidence(record: LooksResult) -> Curves:
    """log10 of the e-values at each look, which decide where they reach 1 / alpha."""
    heights = record.log_evalue / math.log(10.0)
    # An e-value of 0 has no logarithm: it is drawn at the least of the others.
    finite = heights[np.isfinite(heights)]
    least, most = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    heights, x = np.clip(heights, least - 1.0, most + 1.0), record.n_samples
    places = zip(x.tolist(), heights.tolist(), strict=True)
    points = tuple((float(n), h, f"{n:,} samples: E = 10^{h:.2f}") for n, h in places)
    lines = [Line("a look", x, heights, points=points if len(points) <= _MARKED else ())]
    first = record.first_rejection
    if first is not None:
        lines.append(Line(f"decided at {x[first]}", x[[first]], heights[[first]], kind="point"))
    unit = "Discordant samples" if np.isnan(record.low).any() else "Samples"
    decides = Rule(-math.log10(record.alpha), f"1 / alpha = {1 / record.alpha:.4g}", "decided")
    return Curves(
        title="Evidence",
        x=Axis(unit, 0.0, 1.02 * float(x.max())),
        y=Axis("Evidence (log10 of the e-value)"),
        lines=tuple(lines),
        rules=(decides, Rule(0.0)),
        says="It is decided where the evidence reaches 1 / alpha; the dotted line is no evidence.",
    )


# Maps of models and tasks: ranks within each task, and shades.


def ranks_within(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks within each column, shape (M, D), 1 for the least; ties have their mean."""
    ranks = np.full(losses.shape, np.nan)
    for task, column in enumerate(losses.T):
        is_known = ~np.isnan(column)
        ordered = np.sort(column[is_known])
        before = np.searchsorted(ordered, column[is_known], "left")
        ranks[is_known, task] = (
            before + np.searchsorted(ordered, column[is_known], "right") + 1
        ) / 2
    return ranks


def shades_of(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shades of ranks within columns, near 1 for the best and near 0 for the worst."""
    n_ranked = np.count_nonzero(~np.isnan(ranks), axis=0)
    return np.asarray((n_ranked + 0.5 - ranks) / np.maximum(n_ranked, 1))
