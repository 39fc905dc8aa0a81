"""What a classification report shows: rows, columns and metrics of all classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.metrics.choice import Metric
from fastcmp.metrics.make_metric import make_metric
from fastcmp.metrics.options import read_labels, read_zero_division
from fastcmp.metrics.registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastcmp.scores.report_counts import ReportCounts

COLUMNS = ("precision", "recall", "f1")
_AVERAGES = ("macro", "weighted")
_ACCURACY = make_metric("accuracy")


class Number(NamedTuple):
    """One number of the report, of each model."""

    #: Of the class, or "macro avg" and the like.
    row: str
    #: "class", "average" or "overall".
    kind: str
    metric: Metric
    support: int

    @property
    def name(self) -> str:
        """Name the metric without its average, which the row says."""
        return self._plain.full_name

    @property
    def title(self) -> str:
        """Name it as it is shown."""
        return self._plain.title

    @property
    def _plain(self) -> Metric:
        if self.kind == "overall":
            return self.metric
        return replace(self.metric, average="binary")


class Plan(NamedTuple):
    """Which numbers a report has, in their order: rows of classes come first."""

    columns: tuple[Metric, ...]
    #: Classes as they are counted: those that are listed come first.
    classes: tuple[Any, ...]
    #: Places of the classes that have a row, and the names of the rows.
    shown: np.ndarray[Any, Any]
    rows: tuple[str, ...]
    support: tuple[int, ...]
    #: Whether all classes are listed: then micro averages are the accuracy.
    whole: bool
    n_samples: int
    averages: tuple[Number, ...]
    #: Metrics of all classes, and the order of the classes for them.
    overall: tuple[Number, ...]
    order: tuple[Any, ...]

    def numbers(self) -> Iterator[Number]:
        """List all numbers."""
        for row, support in zip(self.rows, self.support, strict=True):
            for metric in self.columns:
                yield Number(row, "class", metric, support)
        if self.whole:
            yield Number("accuracy", "overall", _ACCURACY, self.n_samples)
        yield from self.averages
        yield from self.overall


class Chosen(NamedTuple):
    """What the user wants to see."""

    columns: tuple[Metric, ...]
    overall: tuple[Metric, ...]
    labels: Any
    positive: Any


def read_chosen(
    metrics: Any, overall: Any, labels: Any, positive: Any, zero_division: Any
) -> Chosen:
    """Check which metrics and classes are wanted."""
    zero = read_zero_division(zero_division)
    columns = tuple(
        _of_classes(each, zero)
        for each in _listed(COLUMNS if metrics is None else metrics, "metrics")
    )
    if not columns:
        raise ValueError("metrics must name at least one metric, got none")
    _refuse_twice([metric.full_name for metric in columns], "metrics")
    whole = tuple(
        _made(each, "overall", positive=positive, zero_division=zero)
        if isinstance(each, str)
        else _made(each, "overall")
        for each in _listed(overall, "overall")
    )
    _refuse_twice([metric.full_name for metric in whole], "overall")
    return Chosen(columns, whole, read_labels(labels), positive)


def _listed(raw: Any, name: str) -> list[Any]:
    """Read one metric or several."""
    if isinstance(raw, (str, Metric)) or callable(raw):
        return [raw]
    if not isinstance(raw, (list, tuple)):
        raise TypeError(f"{name} must be a list of metrics, got {raw!r}")
    return list(raw)


def _made(given: Any, argument: str, **options: Any) -> Metric:
    """Make a metric; an error names the argument that it came by."""
    try:
        return make_metric(given, **options)
    except (ValueError, TypeError) as error:
        text = str(error)
        of = f"{argument} must" if text.startswith("metric must") else f"{argument}: "
        raise type(error)(of + text.removeprefix("metric must")) from None


def _of_classes(given: Any, zero_division: float) -> Metric:
    """Read a metric of each class."""
    metric = _made(given, "metrics")
    own = METRICS.get(metric.name)
    if own is None or metric.function is not None or not own.averages:
        raise ValueError(
            f"metrics must be rates of classes, such as 'precision', and "
            f"{metric.full_name!r} is of all classes at once: pass it as overall="
        )
    if metric.average not in ("binary", None) or metric.prevalence is not None:
        raise ValueError(
            f"metrics are of each class, and their averages stand below: pass "
            f"{metric.name!r}, got {given if isinstance(given, str) else 'a Metric'!r}"
            " with an average or a prevalence"
        )
    if not isinstance(given, Metric):
        metric = replace(metric, zero_division=zero_division)
    return replace(metric, average="binary", positive=None, labels="union")


def _refuse_twice(names: list[str], argument: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{argument} must name different metrics, got {names}")


def make_plan(chosen: Chosen, counts: ReportCounts, target_names: Any) -> Plan:
    """Settle which numbers there are."""
    sizes = _sizes(counts)
    found, labels = counts.classes, chosen.labels
    if isinstance(labels, str):
        listed = tuple(x for x in found if labels == "union" or sizes[x])
        wanted = labels if labels == "union" else listed
    else:
        listed = wanted = tuple(labels)
        if not set(listed) & set(found):
            raise ValueError(
                f"labels must be classes of the data ({_some(found)}), got {_some(listed)}"
            )
    classes = (*listed, *(label for label in found if label not in set(listed)))
    whole = len(classes) == len(listed)
    shown = _shown(chosen.positive, listed)
    support = tuple(sizes.get(listed[code], 0) for code in shown)
    names = _row_names(target_names, listed)
    n_listed = sum(sizes.get(label, 0) for label in listed)
    kinds = _AVERAGES if whole else ("micro", *_AVERAGES)
    averages = tuple(
        Number(
            f"{kind} avg",
            "average",
            replace(metric, average=kind, labels=wanted),
            n_listed,
        )
        for kind in kinds
        for metric in chosen.columns
        if kind in METRICS[metric.name].averages
    )
    overall = tuple(
        Number(metric.title, "overall", _whole(metric, found), counts.n_samples)
        for metric in chosen.overall
    )
    return Plan(
        columns=chosen.columns,
        classes=classes,
        shown=np.array(shown, np.int64),
        rows=tuple(names[code] for code in shown),
        support=support,
        whole=whole,
        n_samples=counts.n_samples,
        averages=averages,
        overall=overall,
        order=classes if whole else found,
    )


def _whole(metric: Metric, classes: Sequence[Any]) -> Metric:
    """Refuse a rate of one class where there are many."""
    rate = metric.function is None and METRICS[metric.name].averages
    if rate and metric.average in ("binary", None) and len(classes) > 2:
        raise ValueError(
            f"overall must be of all {len(classes)} classes, and {metric.name!r} is a "
            f"rate of each: pass it as metrics=, or an average of it, such as "
            f"'{metric.name}_macro'"
        )
    return metric


def _sizes(counts: ReportCounts) -> dict[Any, int]:
    """Count the samples of each class."""
    first = counts.cells[0]
    sizes = np.bincount(first.codes[:, 0], first.counts, len(counts.classes))
    return dict(zip(counts.classes, sizes.astype(np.int64).tolist(), strict=True))


def _shown(positive: Any, listed: tuple[Any, ...]) -> list[int]:
    """Tell which classes have a row: all, or only the positive one."""
    if positive is None:
        return list(range(len(listed)))
    if positive not in listed:
        raise ValueError(f"positive must be one of {_some(listed)}, got {positive!r}")
    return [listed.index(positive)]


def _row_names(target_names: Any, listed: tuple[Any, ...]) -> tuple[str, ...]:
    """Name the rows of classes."""
    if target_names is None:
        return tuple(map(str, listed))
    if isinstance(target_names, str) or not hasattr(target_names, "__len__"):
        raise TypeError(f"target_names must be a sequence of names, got {target_names!r}")
    names = tuple(map(str, target_names))
    if len(names) != len(listed):
        raise ValueError(
            f"target_names must name each of the {len(listed)} classes "
            f"{_some(listed)}, got {len(names)} names"
        )
    return names


def _some(labels: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, labels[:4]))
    return f"{shown}, ... ({len(labels)} in all)" if len(labels) > 4 else shown
