"""What pictures show, described once: drawn by matplotlib, and as SVG on pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.sections import Section, interval_name
from fastcmp.core.typing import Floats
from fastcmp.counts.roc_points import Curve, RocCurve
from fastcmp.datasets.comparison import DatasetsResult
from fastcmp.estimates.decision_curves import DecisionCurve
from fastcmp.estimates.reliability import ReliabilityDiagram
from fastcmp.pairwise.decisions import UNTESTED
from fastcmp.scores.curves import DetCurve, PrecisionRecallCurve
from fastcmp.scores.lift import GainCurve
from fastcmp.scores.resampling import RocBand
from fastcmp.sequential.looks_result import LooksResult

if TYPE_CHECKING:
    from fastcmp.crossval.comparison_result import CVComparison
    from fastcmp.pairwise.result import PairwiseResult
    from fastcmp.planning.power_points import PowerLine

_MARKED = 60  # looks that get a point each
_LED = 6  # points of plans with lines to the axes
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
    """A curve, perhaps with a band, bars, and points that say more."""

    name: str
    x: Any
    y: Any
    band: tuple[Any, Any] | None = None
    #: Places, and what is said of each.
    points: tuple[tuple[float, float, str], ...] = ()
    #: "" for a curve, "mean" for one of the same model, "other" for what is compared with the
    #: models, "point" for one place, "lead" for lines from a point to the axes.
    kind: str = ""
    #: How points are joined, as matplotlib calls it.
    joined: str = "default"
    #: Half lengths of upright bars.
    error: Any = None


class Rule(NamedTuple):
    """A line across the picture: "zero", "mean", "margin", or "decided" where it decides."""

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
    #: Whether points stand out, as rings.
    has_rings: bool = False
    #: A sentence that says how to read it, and a heading of the names.
    says: str = ""
    legend: str = ""
    #: Models, where only some of them are drawn.
    n_models: int = 0


class Row(NamedTuple):
    """An estimate with its interval, and what is written beside it."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    text: str = ""
    #: Further cells.
    cells: tuple[str, ...] = ()
    #: Points beside the estimate, such as one a fold.
    points: tuple[float, ...] = ()
    #: Colour: "", "good", "bad", "a", "b"; of models "best", "other", "untested", "worse".
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Estimates with their intervals on one axis, a row each."""

    title: str
    axis: Axis
    rows: tuple[Row, ...]
    rules: tuple[Rule, ...] = ()
    #: An interval that is shaded in all rows, and its name.
    band: tuple[float, float, str] | None = None
    #: Headings of the further cells.
    heads: tuple[str, ...] = ()
    #: What the kinds of rows mean, of those that there are.
    meanings: tuple[tuple[str, str], ...] = ()
    says: str = ""


class Place(NamedTuple):
    """A model on a line, whose name stands at one side of it, in a row."""

    model: int
    x: float
    value: str
    side: str
    row: int


class Tie(NamedTuple):
    """Models that a bar joins, with their places from left to right, and the bar's level."""

    models: tuple[int, ...]
    x: Floats
    level: int


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Models on the line of their scores or mean ranks, ties joined by bars."""

    title: str
    names: Sequence[str]
    #: What the line is called, and its ends; what is written is the `sign` times the place.
    label: str
    low: float
    high: float
    sign: int
    places: tuple[Place, ...]
    ties: tuple[Tie, ...]
    #: Levels of bars, and rows of names on one side.
    n_levels: int
    n_rows: int
    #: Critical difference, of mean ranks; None where there is none.
    critical: float | None
    alpha: float
    n_untested: int


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


# Plans: power over the number of samples.


def power(lines: list[tuple[str, PowerLine]], n_lines: int, *, simulated: bool = False) -> Curves:
    """Power over samples, of the first of `n_lines` curves, each with a name.

    Powers of plans that are simulated are those of the plans alone, or `simulated` again at
    further numbers of samples, which takes as long as the plan for each.
    """
    from fastcmp.planning import power_points

    ends = np.array([line.ends() for _, line in lines])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    is_log, drawn = high > power_points.WIDE * low, []
    first = low / power_points.BEFORE if is_log else 0.0
    has_leads = sum(len(line.marks) for _, line in lines) <= _LED
    says = "A dot is what was planned."
    if any(line.plan.assurance is not None for _, line in lines):
        says += " The band holds the middle 95% of what the pilot leaves open."
    if n_lines > len(lines):
        says += f" Of {n_lines} curves {len(lines)} are drawn."
    for (_, line), label in zip(lines, power_points.line_labels(lines), strict=True):
        points = tuple(
            (n, power, f"{n:,.0f} samples: power {100 * power:.1f}%")
            for n, power in line.marks
            if math.isfinite(n)
        )
        if line.simulated and not simulated:
            x, y, _ = zip(*sorted(points), strict=True)
            drawn.append(Line(label, x, y, points=points))
            continue
        numbers = power_points.numbers_to_draw(line, low, high, logarithmic=is_log)
        if line.simulated:
            x, y, error = power_points.simulated_powers(line, numbers)
            drawn.append(Line(label, x, y, points=points, error=1.96 * error))
        else:
            plan = line.at(numbers)
            band = plan.interval if plan.assurance is not None else None
            drawn.append(Line(label, numbers, plan.power, band=band, points=points))
            if band is not None:
                mean = "mean over what the pilot leaves open"
                drawn.append(Line(mean, numbers, plan.assurance, kind="mean"))
        leads = points if has_leads else ()
        drawn += [Line("", (n, n, first), (0.0, p, p), kind="lead") for n, p, _ in leads]
    return Curves(
        title="Power",
        x=Axis(lines[0][1].plan.unit.capitalize(), first, 1.04 * high, is_log=is_log),
        y=Axis("Power", 0.0, 1.04),
        lines=tuple(drawn),
        has_rings=True,
        says=says,
    )


# Two models on the folds of a cross-validation.


def folds(
    result: CVComparison, test: str | None = None, names: Sequence[str] | None = None
) -> Intervals:
    """The difference in each fold, a row a repetition, with their mean and a test's interval."""
    from fastcmp.crossval.comparison_result import difference_interval

    test = next(iter(result.tests)) if test is None else test
    record = result.tests.get(test) or result.test(test)
    is_percent = result.measure == "accuracy"
    scale = 100.0 if is_percent else 1.0
    gains = np.subtract(*(scale * result.scores(test)))
    low, high = scale * difference_interval(record)
    # A one-sided interval has no other end: it is drawn as far as the folds lie.
    if record.alternative == "greater":
        high = max(low, gains.max())
    elif record.alternative == "less":
        low = min(high, gains.min())
    name = interval_name(0.95, record.alternative)
    a, b = names or result.names
    axis = f"Accuracy of {a} minus {b} (percentage points)"
    return Intervals(
        title="The folds",
        axis=Axis(axis if is_percent else f"{result.measure} of {a} minus {b}"),
        rows=tuple(
            Row(
                *(f"repetition {r + 1}", row.mean()),
                text=f"{row.mean():+.4g}",
                points=tuple(row.tolist()),
            )
            for r, row in enumerate(gains)
        ),
        rules=(Rule(0.0, "H0: no difference"), Rule(float(gains.mean()), "mean", "mean")),
        band=(low, high, name) if np.isfinite([low, high]).all() else None,
        heads=("", "mean"),
        says="A small dot is a fold. Folds share records: their scatter does not "
        "measure the uncertainty, the interval of a test does.",
    )


# Many models: the leaderboard, and models on a line.


#: What each measure is called on an axis, and what it is multiplied by there.
MEASURES = {
    "accuracy": ("Accuracy (%)", 100.0),
    "cost": ("Cost per sample (lower is better)", 1.0),
    "AUC": ("AUC", 1.0),
    "mean": ("Mean value", 1.0),
    "mean loss": ("Mean loss (lower is better)", 1.0),
    "mean rank": ("Mean rank (1 is best)", 1.0),
}


def leaderboard(result: PairwiseResult, table: Section | None = None) -> Intervals:
    """Models from best to worst with the intervals of their scores.

    Beside them stand ranks and ties as the table of the leaderboard has them, if it is passed.
    """
    board = result.leaderboard
    label, scale = MEASURES.get(result.measure, (result.measure, 1.0))
    is_best = np.isin(board.names, result.best)
    is_untested = (result.decisions == UNTESTED).all(axis=1)[board.models]
    kinds = np.where(is_best, "best", np.where(is_untested, "untested", "other")).tolist()
    words = {
        "best": "significantly worse in no tested pair",
        "other": "significantly worse in a tested pair",
        "untested": "not tested",
    }
    if result.all_pairs_tested:
        words["best"] = "the best, and models not significantly different from it"
        words["other"] = "significantly worse than the best"
    beside: dict[str, Sequence[str]] = {}
    if table is not None:
        columns = zip(table.columns, zip(*table.rows, strict=True), strict=True)
        beside |= {head: cells for head, cells in columns if head in ("ranks", "ties")}
    if table is not None and result.control is not None:
        against = result.against_control()
        results = dict(zip(against["model"], against["result"], strict=True))
        beside["against control"] = [results.get(name, "control") for name in board.names]
    if not np.isnan(board.interval).all():
        label += f"\n{interval_name(1 - result.alpha)} of each model alone"
    numbers = scale * np.column_stack([board.score, board.interval])
    cells = list(zip(*beside.values(), strict=True)) or [()] * len(kinds)
    return Intervals(
        title="Leaderboard",
        axis=Axis(label),
        rows=tuple(
            Row(name, value, low, high, cells=further, kind=kind)
            for name, (value, low, high), further, kind in zip(
                board.names, numbers.tolist(), cells, kinds, strict=True
            )
        ),
        heads=tuple(beside),
        meanings=tuple((kind, text) for kind, text in words.items() if kind in kinds),
    )


def ranking(result: PairwiseResult) -> Ranking:
    """Models on the line of their mean ranks, or without such of their scores, best at the right.

    The outermost models have the highest rows, so that no two of the lines to names cross.
    """
    if isinstance(result, DatasetsResult):
        label, sign, digits = f"Mean rank on {result.n_tasks} data sets (1 is best)", -1, 2
        title, place, critical = (
            *("Critical difference diagram", -result.mean_rank),
            result.critical_difference,
        )
    else:
        label, scale = MEASURES.get(result.measure, (result.measure, 1.0))
        sign, digits = 1, 2 if result.measure == "accuracy" else 4
        title, place, critical = (
            *(f"{result.measure[:1].upper()}{result.measure[1:]} and ties", scale * result.score),
            None,
        )
    n, margin = place.size, 0.03 * (np.ptp(place) or 1.0)
    low, high = place.min() - margin, place.max() + margin
    groups = [group for group in result.groups.groups if len(group) > 1]
    levels = stacked([place[list(group)] for group in groups], margin)
    order = np.argsort(place, kind="stable")
    sides = ("left", order[: n // 2]), ("right", order[: n // 2 - 1 : -1])
    return Ranking(
        title=title,
        names=result.names,
        label=label,
        low=float(low if critical is None else min(low, high - critical - margin)),
        high=float(high),
        sign=sign,
        places=tuple(
            Place(m, float(place[m]), f"{sign * place[m]:.{digits}f}", side, row)
            for side, models in sides
            for row, m in enumerate(models.tolist())
        ),
        ties=tuple(
            Tie(group, np.sort(place[list(group)]), level)
            for group, level in zip(groups, levels, strict=True)
        ),
        n_levels=max(levels, default=-1) + 1,
        n_rows=(n + 1) // 2,
        critical=critical,
        alpha=result.alpha,
        n_untested=n * (n - 1) // 2 - result.n_pairs,
    )


def stacked(members: Sequence[Floats], gap: float) -> list[int]:
    """Level of each bar: the first on which it meets no other bar."""
    levels = [0] * len(members)
    ends_of_levels: list[float] = []  # where the last bar of each level ends
    for k in sorted(range(len(members)), key=lambda k: float(members[k].min())):
        low, high = float(members[k].min()), float(members[k].max())
        free = (level for level, end in enumerate(ends_of_levels) if end + gap < low)
        levels[k] = next(free, len(ends_of_levels))
        ends_of_levels[levels[k] : levels[k] + 1] = [high]
    return levels


# Maps of models and tasks: ranks within each task, and shades.


def ranks_within(losses: Floats) -> Floats:
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


def shades_of(ranks: Floats) -> Floats:
    """Shades of ranks within columns, near 1 for the best and near 0 for the worst."""
    n_ranked = np.count_nonzero(~np.isnan(ranks), axis=0)
    return np.asarray((n_ranked + 0.5 - ranks) / np.maximum(n_ranked, 1))
