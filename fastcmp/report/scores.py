"""Contents of records of scores: curves, areas, lift, and reports of classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import pictures
from fastcmp.core.sections import interval_name
from fastcmp.pictures import Row
from fastcmp.report.blocks import Block
from fastcmp.report.charts import N_STYLES, around, bars, drawn, intervals
from fastcmp.report.two_models import difference, with_said
from fastcmp.scores.curves import DetCurve
from fastcmp.scores.lift import GainCurve

if TYPE_CHECKING:
    from fastcmp.counts.roc_points import Curve
    from fastcmp.estimates.decision_curves import DecisionCurve
    from fastcmp.estimates.reliability import ReliabilityDiagram
    from fastcmp.metrics.kappa import Agreement
    from fastcmp.metrics.metric import MetricResult
    from fastcmp.scores.auc import ConcordanceResult
    from fastcmp.scores.classification_report_result import ClassificationReport
    from fastcmp.scores.curves import ThresholdSweep
    from fastcmp.scores.delong import DelongResult
    from fastcmp.scores.lift import LiftTable
    from fastcmp.scores.paired_measures import MeasureComparison
    from fastcmp.scores.paired_ratio import PairedRatio
    from fastcmp.scores.resampling import BootstrapResult, RocBand

#: Rows that are a picture.
MOST_ROWS = 60


def curve_of(record: Curve) -> list[Block]:
    """Draw one curve: ROC, precision over recall, of errors, or of gain."""
    picture = pictures.curves({"": record})
    if isinstance(record, DetCurve):
        top = min(around([*record.fpr.tolist(), *record.fnr.tolist(), 0.0])[1], 1.0)
        x, y = picture.x._replace(high=top), picture.y._replace(high=top)
        picture = replace(picture, x=x, y=y)
    return with_said(record, drawn(picture))


def roc_curves(record: Any) -> list[Block]:
    """Draw the ROC and the precision-recall curves of several models."""
    largest = dict(sorted(record.curves.items(), key=lambda pair: -pair[1].auc)[:N_STYLES])
    return with_said(
        record,
        drawn(pictures.curves(largest, record.marks, n_models=record.n_models)),
        drawn(pictures.precision(largest, record.n_positives, record.n_negatives)),
        without="",
    )


def roc_band(record: RocBand) -> list[Block]:
    """Draw rates over given rates, with their bands."""
    return with_said(record, drawn(pictures.roc_band(record)), without="")


def decision_curve(record: DecisionCurve) -> list[Block]:
    """Draw net benefits over thresholds."""
    picture = pictures.net_benefit(record)
    if record.thresholds.size < 2 or picture.y.low is None:
        return with_said(record)
    return with_said(record, drawn(picture))


def reliability(record: ReliabilityDiagram) -> list[Block]:
    """Draw isotonic frequencies over probabilities, with their bands."""
    return with_said(record, drawn(pictures.reliability(record)))


def sweep(record: ThresholdSweep) -> list[Block]:
    """Draw both rates over the cutoff."""
    is_finite = np.isfinite(np.asarray(record.thresholds, np.float64))
    cutoffs = np.asarray(record.thresholds, np.float64)[is_finite]
    if not cutoffs.size:
        return with_said(record)
    rates = {
        "sensitivity": record.tp[is_finite] / max(record.n_positives, 1),
        "specificity": 1.0 - record.fp[is_finite] / max(record.n_negatives, 1),
    }
    picture = pictures.Curves(
        title="Rates over the cutoff",
        x=pictures.Axis("Cutoff"),
        y=pictures.Axis("Rate", 0.0, 1.0),
        lines=tuple(pictures.Line(name, cutoffs, rate) for name, rate in rates.items()),
    )
    return with_said(record, drawn(picture))


def areas(record: DelongResult) -> list[Block]:
    """Draw areas with their intervals; of two models, the difference, too."""
    low, high = record.confidence_interval(record.confidence_level, "logit")
    name = f"AUC, {interval_name(record.confidence_level)}"
    pair = None
    if len(record.names) == 2:
        comparison = record.compare(*record.names)
        pair = difference(comparison)
    picture = estimates("AUC", "AUC", record.names, (record.auc, low, high), name)
    return with_said(record, picture, pair, without="")


def resampled(record: BootstrapResult) -> list[Block]:
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
    numbers: Sequence[Any],
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


def lift(record: LiftTable) -> list[Block]:
    """Draw the gain, and the response rate of each group."""
    cumulative = record.cumulative
    called = np.concatenate([[0.0], cumulative.cases / record.n_samples])
    captured = np.concatenate([[0.0], cumulative.captured])
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
    gain = pictures.curves({"": GainCurve(called=called, captured=captured)})
    return with_said(record, drawn(gain), response)


def class_report(record: ClassificationReport) -> list[Block]:
    """Draw each metric of classes and averages; of many models, of the averages."""
    head = f"value, {interval_name(record.confidence_level)}"
    titles, kinds = np.array(record.titles), np.array(record.kinds)
    pictures = []
    for title in dict.fromkeys(record.titles):
        of_title = titles == title
        masks = (of_title, of_title & (kinds != "class"))
        places = [np.flatnonzero(x).tolist() for x in masks]
        n = len(record.names)
        fitting = [x for x in places if 1 < len(x) * n <= MOST_ROWS]
        if fitting:
            pictures.append(_metric_of_classes(record, title, fitting[0], head))
    return with_said(record, *pictures)


def _metric_of_classes(
    record: ClassificationReport, title: str, places: list[int], head: str
) -> Block | None:
    several = len(record.names) > 1
    labels = [
        _named(record.rows[e], name if several else "") for e in places for name in record.names
    ]
    value, low, high = (
        np.asarray(x)[:, places].T.ravel() for x in (record.value, record.low, record.high)
    )
    label = "class and model" if several else "class"
    return estimates(title, title, labels, (value, low, high), head, label=label)


def metrics(record: MetricResult) -> list[Block]:
    """Draw the values of one or of several metrics."""
    titles = np.atleast_1d(np.array(record.title, dtype=object)).tolist()
    numbers = (record.value, *record.interval)
    name = f"value, {interval_name(record.confidence_level)}"
    return with_said(
        record, estimates("The interval", "Value", titles, numbers, name, label="metric")
    )


def kappa(record: Agreement) -> list[Block]:
    """Draw a kappa with its interval."""
    numbers = (record.value, *record.interval)
    name = f"kappa, {interval_name(record.confidence_level)}"
    return with_said(
        record,
        estimates("The interval", "Kappa", ["kappa"], numbers, name, label="",
                  marks=[(0.0, "agreement by chance")]),
    )  # fmt: skip


def measures(record: MeasureComparison) -> list[Block]:
    """Draw differences of sensitivity and specificity, and all ratios."""
    level = interval_name(record.confidence_level)
    rows = {name: getattr(record, name) for name in ("sensitivity", "specificity")}
    ends = [
        test.confidence_interval(record.confidence_level, record.interval) for test in rows.values()
    ]
    gains = ([test.difference for test in rows.values()], *zip(*ends, strict=True))
    differences = estimates(
        "The differences", "a minus b", list(rows), gains, f"a - b, {level}",
        form="+.4f", label="measure", marks=[(0.0, "H0: no difference")],
    )  # fmt: skip
    return with_said(record, differences, ratios(record.ratios, level))


def one_ratio(record: PairedRatio) -> list[Block]:
    """Draw a ratio with its interval."""
    level = interval_name(record.confidence_level)
    return with_said(record, ratios([record], level))


def ratios(records: Iterable[PairedRatio], level: str) -> Block | None:
    """Draw ratios on a logarithmic axis."""
    positive = [x for x in records if 0.0 < x.ratio < math.inf]
    if not positive:
        return None
    ends = zip(*(x.interval for x in positive), strict=True)
    numbers = ([x.ratio for x in positive], *ends)
    names = [x.measure.replace("_", " ") for x in positive]
    marks = [(1.0, "H0: the same")]
    return estimates(
        "The ratios", "a over b", names, numbers, f"a / b, {level}",
        label="measure", marks=marks, kind="log",
    )  # fmt: skip


def concordance(record: ConcordanceResult) -> list[Block]:
    """Draw the parts of all pairs of a positive and a negative."""
    counts = record.concordant, record.discordant, record.tied
    texts = [f"{x:,}" for x in counts]
    heads = ("pairs", "the positive higher", "the negative higher", "equal")
    row = ("of all", [float(x) for x in counts], texts)
    kinds = ("a", "b", "both")
    return with_said(record, bars([row], title="Pairs of samples", heads=heads, kinds=kinds))


def _named(name: str, what: str) -> str:
    return f"{name}: {what}" if name and what else name or what
