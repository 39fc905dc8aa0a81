"""The record of a metric of one model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, interval_name
from fastcmp.core.sentences import dropped_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricResult(Record):
    """A metric of one model, or several metrics, with intervals.

    Of one metric all entries are numbers; of several, or of each class alone, arrays.
    """

    #: Such as "f1_macro".
    metric: Any
    value: Any
    interval: ConfidenceInterval
    #: By the method of the interval; for those of rates, and "combined", by the jackknife.
    standard_error: Any
    #: How the interval was made, such as "wilson" or "combined, logit".
    method: Any
    #: A `fastcmp.kernels.Status`: where there is no interval DEGENERATE, if no variance was
    #: observed, else UNDEFINED.
    status: Any
    #: Shown names, such as "macro F1".
    title: Any
    confidence_level: float
    n_samples: int
    #: The classes that occur, in order.
    classes: tuple[Any, ...]
    #: Samples by true and predicted class, shape (K, K).
    confusion: NDArray[Any]
    n_clusters: int | None = None
    #: Draws of the bootstrap, and the seed that repeats them.
    n_resamples: int | None = None
    seed: int | None = None
    n_missing: int = 0
    n_excluded: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """Give a row for each metric.

        Returns
        -------
        dict of str to list
            Name, value, standard error, both ends of the interval and its method.
        """
        shown = {
            "metric": self.metric,
            "value": self.value,
            "standard_error": self.standard_error,
            "low": self.interval.low,
            "high": self.interval.high,
            "method": self.method,
        }
        return {name: np.atleast_1d(x).tolist() for name, x in shown.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table with a row a metric, and what to beware of.
        """
        columns = self.columns()
        rows = [
            (title, number(value), limits(low, high), method)
            for title, value, low, high, method in zip(
                np.atleast_1d(self.title).tolist(),
                columns["value"],
                columns["low"],
                columns["high"],
                columns["method"],
                strict=True,
            )
        ]
        text = f"{self.n_samples} samples of {len(self.classes)} classes"
        if self.n_clusters is not None:
            text += f" in {self.n_clusters} clusters"
        sections = [
            Section(
                title="How good is the model?",
                text=(f"{text}.",),
                columns=("metric", "value", interval_name(self.confidence_level), "interval by"),
                rows=tuple(rows),
                notes=dropped_sentences(self.n_missing, self.n_excluded),
            )
        ]
        if self.cautions:
            sections.append(Section(title="Cautions", text=self.cautions))
        return sections


def number(value: float, sign: str = "") -> str:
    """Write a metric with four digits, "-" for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}.4f}" if abs(value) < 100 else f"{value:{sign}.4g}"


def limits(low: float, high: float, sign: str = "") -> str:
    """Write an interval, "-" where there is none."""
    if math.isnan(low) or math.isnan(high):
        return "-"
    return f"[{number(low, sign)}, {number(high, sign)}]"
