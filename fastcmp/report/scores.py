"""Contents of records of scores: curves, areas, lift, and reports of classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastcmp.core.sections import interval_name
from fastcmp.report.blocks import Block
from fastcmp.report.charts import (
    Curves,
    Row,
    Scale,
    around,
    bars,
    curve,
    intervals,
    linear,
    straight,
    upright,
)
from fastcmp.report.two_models import difference, with_said

_FPR = "False positive rate (1 - specificity)"
_TPR = "True positive rate (sensitivity)"
_DIAGONAL = ((0.0, 0.0), (1.0, 1.0))
#: Curves that can be distinguished, and rows that are a picture.
MOST_CURVES = 8
MOST_ROWS = 60


def _unit(across: str, up: str, *, is_reversed: bool = False) -> tuple[Scale, Scale]:
    """Make two axes from 0 to 1."""
    x = linear(0.0, 1.0, title=across, is_reversed=is_reversed)
    return x, upright(0.0, 1.0, title=up)


def roc_curve(record: Any) -> list[Block]:
    """Draw one ROC curve."""
    return with_said(record, roc_picture({"": record}))


def roc_curves(record: Any) -> list[Block]:
    """Draw the ROC and the precision-recall curves of several models."""
    marks = record.marks
    return with_said(
        record,
        roc_picture(record.curves, marks, n_models=record.n_models),
        precision_picture(record.curves, record.n_positives, record.n_negatives),
        without="",
    )


def roc_picture(
    curves: Mapping[str, Any], marks: Mapping[str, Any] | None = None, *, n_models: int = 1
) -> Curves:
    """Draw ROC curves by name, of which some have marked points (fpr, tpr, text)."""
    scales = _unit(_FPR, _TPR)
    shown = _first(curves)
    return Curves(
        title="ROC curves" if len(curves) > 1 else "ROC curve",
        x=scales[0],
        y=scales[1],
        curves=tuple(
            curve(
                _named(name, f"AUC {each.auc:.4f}"),
                each.fpr,
                each.tpr,
                scales,
                style=i,
                dots=(marks or {}).get(name, ()),
            )
            for i, (name, each) in enumerate(shown)
        ),
        diagonal=straight(scales, *_DIAGONAL),
        is_square=True,
        says="The nearer a curve is to the upper left corner, the better; the dotted "
        "line is guessing." + _left_out(n_models, len(shown)),
    )


def precision_picture(curves: Mapping[str, Any], n_1: int, n_0: int) -> Curves:
    """Draw precision over recall, as they follow from ROC curves."""
    scales = _unit("Recall (sensitivity)", "Precision")
    shown = _first(curves)
    found = []
    for i, (name, each) in enumerate(shown):
        tp, fp = n_1 * each.tpr, n_0 * each.fpr
        with np.errstate(invalid="ignore"):
            precision = tp / (tp + fp)  # NaN where nothing is called positive
        found.append(curve(name, each.tpr, precision, scales, style=i))
    base = n_1 / (n_1 + n_0)
    return Curves(
        title="Precision and recall",
        x=scales[0],
        y=scales[1],
        curves=tuple(found),
        diagonal=straight(scales, (0.0, base), (1.0, base)),
        is_square=True,
        says=f"The dotted line is the proportion of positives, {base:.3f}: the "
        "precision of guessing.",
    )


def precision_recall(record: Any) -> list[Block]:
    """Draw precision over recall."""
    scales = _unit("Recall", "Precision")
    return with_said(record, _one(record.recall, record.precision, scales, "Precision and recall"))


def det_curve(record: Any) -> list[Block]:
    """Draw one kind of error over the other."""
    ends = around([*record.fpr.tolist(), *record.fnr.tolist(), 0.0])
    top = min(ends[1], 1.0)
    scales = (linear(0.0, top, title="False positive rate"),
              upright(0.0, top, title="False negative rate"))  # fmt: skip
    return with_said(record, _one(record.fpr, record.fnr, scales, "Detection error tradeoff"))


def gain_curve(record: Any) -> list[Block]:
    """Draw captured events over called cases."""
    return with_said(record, _gain(record.called, record.captured))


def _gain(called: Any, captured: Any) -> Curves:
    scales = _unit("Proportion of cases, best scores first", "Proportion of events")
    return Curves(
        title="Gain",
        x=scales[0],
        y=scales[1],
        curves=(curve("", called, captured, scales),),
        diagonal=straight(scales, *_DIAGONAL),
        is_square=True,
        says="How many of the events are among the cases with the highest scores; the "
        "dotted line is cases in random order.",
    )


def _one(x: Any, y: Any, scales: tuple[Scale, Scale], title: str) -> Curves:
    return Curves(
        title=title, x=scales[0], y=scales[1], curves=(curve("", x, y, scales),), is_square=True
    )


def roc_band(record: Any) -> list[Block]:
    """Draw rates over given rates, with their bands."""
    order = np.argsort(record.at, kind="stable")
    low, high = record.confidence_interval()
    given, measure = record.given.capitalize(), record.measure.capitalize()
    scales = _unit(given, measure, is_reversed=True)
    shown = record.names[:MOST_CURVES]
    found = [
        curve(name, record.at[order], record.estimate[m, order], scales, style=m,
              band=(low[m, order], high[m, order]))
        for m, name in enumerate(shown)
    ]  # fmt: skip
    picture = Curves(
        title=f"{measure} over {given.lower()}",
        x=scales[0],
        y=scales[1],
        curves=tuple(found),
        diagonal=straight(scales, (1.0, 0.0), (0.0, 1.0)),
        is_square=True,
        says="Bands are 95% intervals of each point on its own."
        + _left_out(len(record.names), len(shown)),
    )
    return with_said(record, picture, without="")


def sweep(record: Any) -> list[Block]:
    """Draw both rates over the cutoff."""
    known = np.isfinite(np.asarray(record.thresholds, np.float64))
    cutoffs = np.asarray(record.thresholds, np.float64)[known]
    if not cutoffs.size:
        return with_said(record)
    rates = {
        "sensitivity": record.tp[known] / max(record.n_positives, 1),
        "specificity": 1.0 - record.fp[known] / max(record.n_negatives, 1),
    }
    scales = (linear(*around(cutoffs.tolist(), pad=0.0), title="Cutoff"),
              upright(0.0, 1.0, title="Rate"))  # fmt: skip
    picture = Curves(
        title="Rates over the cutoff",
        x=scales[0],
        y=scales[1],
        curves=tuple(
            curve(name, cutoffs, rate, scales, style=i)
            for i, (name, rate) in enumerate(rates.items())
        ),
    )
    return with_said(record, picture)


def areas(record: Any) -> list[Block]:
    """Draw areas with their intervals; of two models, the difference, too."""
    low, high = record.confidence_interval(record.confidence_level, "logit")
    name = f"AUC, {interval_name(record.confidence_level)}"
    pair = None
    if len(record.names) == 2:
        found = record.compare(*record.names)
        pair = difference(found)
    picture = estimates("AUC", "AUC", record.names, (record.auc, low, high), name)
    return with_said(record, picture, pair, without="")


def resampled(record: Any) -> list[Block]:
    """Draw areas with their percentile intervals."""
    low, high = record.confidence_interval()
    names, name = record.names, f"{record.measure}, 95% CI"
    at = record.measure
    picture = estimates(at, at, names, (record.auc, low, high), name)
    return with_said(record, picture, without="")


def estimates(
    title: str,
    axis: str,
    names: Sequence[str],
    numbers: tuple[Any, Any, Any],
    head: str,
    *,
    form: str = ".4f",
    **options: Any,
) -> Block | None:
    """Draw an estimate and its interval for each name, where there are not too many."""
    if not 0 < len(names) <= MOST_ROWS:
        return None
    value, low, high = (np.atleast_1d(np.asarray(x, np.float64)) for x in numbers)
    rows = [
        Row(label=str(name), value=x, low=a, high=b, text=_with_ends(x, a, b, form))
        for name, x, a, b in zip(names, value.tolist(), low.tolist(), high.tolist(),
                                 strict=True)
    ]  # fmt: skip
    heads = (options.pop("label", "model"), head)
    return intervals(rows, title=title, axis=axis, heads=heads, **options)


def _with_ends(value: float, low: float, high: float, form: str) -> str:
    ends = "" if math.isnan(low) else f" [{low:{form}}, {high:{form}}]"
    return f"{value:{form}}{ends}"


def lift(record: Any) -> list[Block]:
    """Draw the gain, and the response rate of each group."""
    whole = record.cumulative
    called = np.concatenate([[0.0], whole.cases / record.n_samples])
    captured = np.concatenate([[0.0], whole.captured])
    rates = record.by_group
    mean = record.n_events / record.n_samples
    numbers = tuple(100 * x for x in (rates.response_rate, *rates.response_rate_interval))
    response = estimates(
        "Response rate by group",
        "Events in percent of cases",
        [str(x) for x in record.group.tolist()],
        numbers,
        interval_name(record.confidence_level),
        form=".1f",
        label="group",
        marks=[(100 * mean, f"all cases: {100 * mean:.1f}")],
    )
    return with_said(record, _gain(called, captured), response)


def class_report(record: Any) -> list[Block]:
    """Draw each metric of classes and averages; of many models, of the averages."""
    head = f"value, {interval_name(record.confidence_level)}"
    titles, kinds = np.array(record.titles), np.array(record.kinds)
    pictures = []
    for title in dict.fromkeys(record.titles):
        of_title = titles == title
        some = (of_title, of_title & (kinds != "class"))
        places = [np.flatnonzero(x).tolist() for x in some]
        n = len(record.names)
        fitting = [x for x in places if 1 < len(x) * n <= MOST_ROWS]
        if fitting:
            pictures.append(_metric_of_classes(record, title, fitting[0], head))
    return with_said(record, *pictures)


def _metric_of_classes(record: Any, title: str, places: list[int], head: str) -> Block | None:
    several = len(record.names) > 1
    labels = [
        _named(record.rows[e], name if several else "") for e in places for name in record.names
    ]
    value, low, high = (
        np.asarray(x)[:, places].T.ravel() for x in (record.value, record.low, record.high)
    )
    label = "class and model" if several else "class"
    return estimates(title, title, labels, (value, low, high), head, label=label)


def metrics(record: Any) -> list[Block]:
    """Draw the values of one or of several metrics."""
    titles = np.atleast_1d(np.array(record.title, dtype=object)).tolist()
    numbers = (record.value, *record.interval)
    name = f"value, {interval_name(record.confidence_level)}"
    return with_said(
        record, estimates("The interval", "Value", titles, numbers, name, label="metric")
    )


def kappa(record: Any) -> list[Block]:
    """Draw a kappa with its interval."""
    numbers = (record.value, *record.interval)
    name = f"kappa, {interval_name(record.confidence_level)}"
    return with_said(
        record,
        estimates("The interval", "Kappa", ["kappa"], numbers, name, label="",
                  marks=[(0.0, "agreement by chance")]),
    )  # fmt: skip


def measures(record: Any) -> list[Block]:
    """Draw differences of sensitivity and specificity, and all ratios."""
    level = interval_name(record.confidence_level)
    rows = {name: getattr(record, name) for name in ("sensitivity", "specificity")}
    ends = [
        test.confidence_interval(record.confidence_level, record.interval) for test in rows.values()
    ]
    gains = ([test.difference for test in rows.values()], *zip(*ends, strict=True))
    differences = estimates(
        *("The differences", "a minus b", list(rows), gains, f"a - b, {level}"),  # type: ignore[arg-type]
        form="+.4f", label="measure", marks=[(0.0, "H0: no difference")],
    )  # fmt: skip
    return with_said(record, differences, ratios(record.ratios, level))


def one_ratio(record: Any) -> list[Block]:
    """Draw a ratio with its interval."""
    level = interval_name(record.confidence_level)
    return with_said(record, ratios([record], level))


def ratios(records: Iterable[Any], level: str) -> Block | None:
    """Draw ratios on a logarithmic axis."""
    known = [x for x in records if 0.0 < x.ratio < math.inf]
    if not known:
        return None
    ends = zip(*(x.interval for x in known), strict=True)
    numbers = ([x.ratio for x in known], *ends)
    names = [x.measure.replace("_", " ") for x in known]
    marks = [(1.0, "H0: the same")]
    return estimates(
        *("The ratios", "a over b", names, numbers, f"a / b, {level}"),  # type: ignore[arg-type]
        label="measure", marks=marks, kind="log",
    )  # fmt: skip


def concordance(record: Any) -> list[Block]:
    """Draw the parts of all pairs of a positive and a negative."""
    counts = record.concordant, record.discordant, record.tied
    texts = [f"{x:,}" for x in counts]
    heads = ("pairs", "the positive higher", "the negative higher", "equal")
    row = ("of all", [float(x) for x in counts], texts)
    kinds = ("a", "b", "both")
    return with_said(record, bars([row], title="Pairs of samples", heads=heads, kinds=kinds))


def _first(curves: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Choose what can be distinguished: the largest areas."""
    found = sorted(curves.items(), key=lambda pair: -pair[1].auc)
    return found[:MOST_CURVES]


def _left_out(n_all: int, n_shown: int) -> str:
    return f" Of {n_all} models {n_shown} are drawn." if n_shown < n_all else ""


def _named(name: str, what: str) -> str:
    return f"{name}: {what}" if name and what else name or what
