"""The record of a lift table: counts by group, rates and intervals from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.plain import readable
from fastcmp.core.record_parts import Drawn
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, interval_name
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.tails import wilson_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Where equal scores on both sides of a group's edge go, and the sentence for it.
TIES = {
    "expected": "Equal scores are in random order; events are their expected number.",
    "better": "Equal scores stay together, in the best group that one of them reaches.",
    "worse": "Equal scores stay together, in the worst group that one of them reaches.",
    "first": "Equal scores are in the order in which they came.",
}
_HALVINGS = 60  # of an interval within [0, 1]: the last one is below 1e-18
_MEASURES = ("response_rate", "captured", "lift")


class LiftRates(NamedTuple):
    """Events in groups: arrays with an entry for each group, and their intervals."""

    cases: NDArray[np.int64]
    events: NDArray[Any]
    #: Proportion of a group's cases that are events.
    response_rate: NDArray[np.float64]
    #: Proportion of all events that a group holds.
    captured: NDArray[np.float64]
    #: Response rate over that of all cases.
    lift: NDArray[np.float64]
    response_rate_interval: ConfidenceInterval
    captured_interval: ConfidenceInterval
    lift_interval: ConfidenceInterval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LiftTable(Drawn, Record):
    """Events in groups of cases, from the highest scores down.

    Arrays are of shape (G,), one entry for each group that holds a case.
    """

    _picture: ClassVar[str] = "lift"

    #: Numbers of the groups; 1 has the highest scores.
    group: NDArray[np.int64]
    #: The lowest score in each group.
    lowest_score: NDArray[Any]
    #: Cases and events from the first group to this one.
    cumulative_cases: NDArray[np.int64]
    cumulative_events: NDArray[Any]
    n_samples: Any
    n_events: Any
    #: The labels of events and of the other cases.
    labels: tuple[Any, Any]
    #: Number of groups wanted.
    groups: int
    ties: str
    confidence_level: float
    n_missing: int = 0
    #: Whether cases and events are sums of weights; they have no intervals then.
    weighted: bool = False

    @property
    def by_group(self) -> LiftRates:
        """What each group holds on its own."""
        return self._rates(
            np.diff(self.cumulative_cases, prepend=0), np.diff(self.cumulative_events, prepend=0)
        )

    @property
    def cumulative(self) -> LiftRates:
        """What all groups from the first to each one hold."""
        return self._rates(self.cumulative_cases, self.cumulative_events)

    def _rates(self, cases: NDArray[np.int64], events: NDArray[Any]) -> LiftRates:
        n, total = self.n_samples, self.n_events
        z = -kernels.ndtri(0.5 * (1.0 - self.confidence_level))
        response = ConfidenceInterval(*wilson_interval(events / cases, cases, z))
        low, high = _captured_interval(cases, events, n, total, z)
        if self.weighted:
            low = high = np.full(cases.shape, np.nan)
            response = ConfidenceInterval(low, high)
        return LiftRates(
            cases=cases,
            events=events,
            response_rate=events / cases,
            captured=events / total,
            lift=events * n / (total * cases),
            response_rate_interval=response,
            captured_interval=ConfidenceInterval(low, high),
            lift_interval=ConfidenceInterval(low * n / cases, high * n / cases),
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """Give the groups as columns, a row for each.

        Returns
        -------
        dict of str to ndarray, shape (G,)
            Rates with their intervals; names of cumulative ones say so.
        """
        columns = {"group": self.group, "lowest_score": self.lowest_score}
        for prefix, rates in (("", self.by_group), ("cumulative_", self.cumulative)):
            columns[f"{prefix}cases"] = rates.cases
            columns[f"{prefix}events"] = rates.events
            for name in _MEASURES:
                low, high = getattr(rates, f"{name}_interval")
                columns[prefix + name] = getattr(rates, name)
                columns[f"{prefix}{name}_low"] = low
                columns[f"{prefix}{name}_high"] = high
        return columns

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        shown = {
            "n_samples": self.n_samples,
            "n_events": self.n_events,
            "event": self.labels[0],
            "other": self.labels[1],
            "groups": self.groups,
            "ties": self.ties,
            "weighted": self.weighted,
            "confidence_level": self.confidence_level,
            "n_missing": self.n_missing,
        }
        return {name: readable(x) for name, x in (shown | self.columns()).items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Groups on their own, and cumulated.
        """
        table = self.cumulative
        ends = format_interval(*(end[0] for end in table.lift_interval), digits=2)
        interval = f", {interval_name(self.confidence_level)} {ends}"
        if self.weighted:
            interval = ""
        text = (
            f"{_number(self.n_events)} of {_number(self.n_samples)} cases are events "
            f"({self.labels[0]!r}): {100 * self.n_events / self.n_samples:.2f}%.",
            f"The {_number(table.cases[0])} cases with the highest scores "
            f"({100 * table.cases[0] / self.n_samples:.1f}%) hold "
            f"{100 * table.captured[0]:.1f}% of the events: lift {table.lift[0]:.2f}"
            f"{interval}.",
            *dropped_sentences(self.n_missing, 0),
        )
        notes = [TIES[self.ties]]
        if self.weighted:
            notes.append("Cases are sums of weights, in equal parts, without intervals.")
        if self.group.size < self.groups:
            notes.append(f"Ties leave {self.group.size} of {self.groups} groups with cases.")
        return [
            self._section("Lift by group", self.by_group, text=text),
            self._section("Cumulated from the first group", table, notes=tuple(notes)),
        ]

    def _section(self, title: str, rates: LiftRates, **around: Any) -> Section:
        level = interval_name(self.confidence_level)
        names = ("response %", "captured %", "lift")
        columns = ["group", "lowest score", "cases", "events"]
        cells = [
            [str(number) for number in self.group],
            [f"{score:.4g}" for score in self.lowest_score],
            [_number(count) for count in rates.cases],
            [_number(count) for count in rates.events],
        ]
        for name, measure in zip(names, _MEASURES, strict=True):
            scale, digits = (1, 2) if name == "lift" else (100, 1)
            ends = getattr(rates, f"{measure}_interval")
            cells.append([f"{scale * x:.{digits}f}" for x in getattr(rates, measure)])
            columns.append(name)
            if self.weighted:
                continue
            columns.append(level)
            cells.append(
                [
                    format_interval(scale * low, scale * high, digits=digits)
                    for low, high in zip(*ends, strict=True)
                ]
            )
        rows = tuple(zip(*cells, strict=True))
        return Section(title=title, columns=tuple(columns), rows=rows, **around)


def _number(count: float) -> str:
    return f"{count:.2f}".removesuffix(".00")


def _captured_interval(
    cases: NDArray[np.int64], events: NDArray[Any], n: int, total: int, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Invert the score test of a group against the rest, by halving, for all groups."""
    inner = np.tile(events / total, (2, 1))
    outer = np.zeros_like(inner)
    outer[1] = 1.0
    for _ in range(_HALVINGS):
        part = 0.5 * (inner + outer)
        variance = _score_variance(part, cases, events, n, total)
        excluded = (events - part * total) ** 2 >= z * z * variance
        outer = np.where(excluded, part, outer)
        inner = np.where(excluded, inner, part)
    return inner[0], inner[1]


def _score_variance(
    part: NDArray[np.float64], cases: NDArray[np.int64], events: NDArray[Any], n: int, total: int
) -> NDArray[np.float64]:
    """Variance of events - part * total where the proportion of events is `part`."""
    rest = (n - cases).astype(np.float64)
    # Cases and rest, each times the other's part of the events.
    one, other = part * rest, (1.0 - part) * cases
    b = (cases + total - events) * one + (rest + events) * other
    root = b + np.sqrt(np.maximum(b * b - 4.0 * n * total * one * other, 0.0))
    root = np.where(root > 0.0, root, 1.0)  # no rest, and no part left for it
    rate, rest_rate = 2.0 * total * one / root, 2.0 * total * other / root
    variance = (1.0 - part) ** 2 * cases * rate * (1.0 - rate)
    variance += part**2 * rest * rest_rate * (1.0 - rest_rate)
    return np.asarray(np.maximum(variance, 0.0))
