"""Lift: how many events are among the cases with the highest scores, by group."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_proportion, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import wilson_interval
from fastcmp.core.records import ConfidenceInterval, Drawn, Record
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import answer, dropped_sentences, how, with_null
from fastcmp.core.typing import ColumnLike, Floats, Ints, Label
from fastcmp.counts.roc_points import Curve
from fastcmp.inputs.scores import Scores, effective_sizes, read_scores, read_weights
from fastcmp.scores.curves import ThresholdSweep, sweep_scores

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

    cases: Ints
    events: NDArray[Any]
    #: Proportion of a group's cases that are events.
    response_rate: Floats
    #: Proportion of all events that a group holds.
    captured: Floats
    #: Response rate over that of all cases.
    lift: Floats
    response_rate_interval: ConfidenceInterval
    captured_interval: ConfidenceInterval
    lift_interval: ConfidenceInterval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LiftTable(Drawn, Record):
    """Events in groups of cases, from the highest scores down.

    Arrays are of shape (G,), one entry for each group that holds a case.
    """

    _picture: ClassVar[str] = "lift"
    _blocks = "scores:lift"
    _closing = (
        "Response has Wilson's intervals; intervals of lift and of captured events take into "
        "account that the scores themselves cut the groups."
    )
    _cites = ("wilson jiang",)

    #: Numbers of the groups; 1 has the highest scores.
    group: Ints
    #: The lowest score in each group.
    lowest_score: NDArray[Any]
    #: Cases and events from the first group to this one.
    cumulative_cases: Ints
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

    def _rates(self, cases: Ints, events: NDArray[Any]) -> LiftRates:
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
        """The groups as columns, a row for each.

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
        """The entries of `to_dict` that are for reading."""
        event, other = self.labels
        entries = {"n_samples": self.n_samples, "n_events": self.n_events}
        entries |= {"event": event, "other": other}
        names = ("groups", "ties", "weighted", "confidence_level", "n_missing")
        entries |= {name: getattr(self, name) for name in names}
        return {name: readable(x) for name, x in (entries | self.columns()).items()}

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
            answer(
                f"The {_number(table.cases[0])} cases with the highest scores "
                f"({100 * table.cases[0] / self.n_samples:.1f}%) hold "
                f"{100 * table.captured[0]:.1f}% of the events: lift {table.lift[0]:.2f}"
                f"{interval}."
            ),
            *dropped_sentences(self.n_missing, 0),
        )
        notes: list[str] = [how(TIES[self.ties])]
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
    cases: Ints, events: NDArray[Any], n: int, total: int, z: float
) -> tuple[Floats, Floats]:
    """Intervals by inverting the score test of each group against the rest, by halving."""
    inner = np.tile(events / total, (2, 1))
    outer = np.zeros_like(inner)
    outer[1] = 1.0
    rest = (n - cases).astype(np.float64)
    for _ in range(_HALVINGS):
        part = 0.5 * (inner + outer)
        # Variance of events - part * total where the proportion of events is `part`: cases and
        # rest, each times the other's part of the events.
        one, other = part * rest, (1.0 - part) * cases
        b = (cases + total - events) * one + (rest + events) * other
        root = b + np.sqrt(np.maximum(b * b - 4.0 * n * total * one * other, 0.0))
        root = np.where(root > 0.0, root, 1.0)  # no rest, and no part left for it
        rate, rest_rate = 2.0 * total * one / root, 2.0 * total * other / root
        variance = (1.0 - part) ** 2 * cases * rate * (1.0 - rate)
        variance += part**2 * rest * rest_rate * (1.0 - rest_rate)
        excluded = (events - part * total) ** 2 >= z * z * np.maximum(variance, 0.0)
        outer = np.where(excluded, part, outer)
        inner = np.where(excluded, inner, part)
    return inner[0], inner[1]


def lift_table(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    groups: int = 10,
    ties: str = "expected",
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> LiftTable:
    """Sort cases by score, cut them into groups, and count the events in each.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    groups : int
        Number of groups; 10 for deciles.
    ties : {"expected", "better", "worse", "first"}
        Where equal scores go that lie on both sides of an edge between groups: divided
        at random, with the expected number of events; all to the better group; all to
        the worse; or divided in the order of the samples.
    positive : label, optional
        The class of the events; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the cases, which groups then hold in equal parts, with ties
        "expected" only. There are no intervals.
    confidence_level : float
        Of all intervals, in (0, 1).

    Returns
    -------
    LiftTable
        Counts; ``by_group`` and ``cumulative`` hold rates and intervals.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, there are not two classes, there are more
        groups than samples, or options are unknown or do not go together.
    TypeError
        If scores are not numbers, or `groups` no whole number.

    Notes
    -----
    Rank r of n belongs to group ``ceil(r G / n)``. With ``"expected"`` and
    ``"first"`` group g thus ends at rank ``floor(g n / G)``: sizes differ by one at
    most. With ``"better"`` and ``"worse"`` equal scores share their smallest or largest
    rank, sizes differ more, and groups may be empty; these are left out. Where there
    are no more distinct scores than groups, each score is a group of its own.
    Only ``"first"`` depends on the order of the samples.

    All intervals take the groups as given: events in a group of n_g cases are
    binomial, independently of the other n - n_g cases. Response rates have Wilson's
    intervals [1]_. A captured proportion c is a ratio of such rates:
    ``c / (1 - c)`` is rate times size of the group over rate times size of the rest; so
    its interval is that of the ratio by the score test [2]_. Lift is c divided
    by the group's proportion of the cases, and so are its ends. This counts the overlap
    of group and whole. Wilson's interval for c of E events would not: where scores
    say nothing, it is too wide by a factor of about ``1 / sqrt(1 - E / n)``.

    If the best tenth of a population is meant, not the cases above a given score, the
    edges vary as well, which no interval covers. It matters where the response rate at
    an edge is far from that of the group, as for models that separate the classes
    almost completely: there intervals are too short [3]_. Expected events vary less
    than the intervals suppose.

    O(n log n).

    References
    ----------
    .. [1] Wilson, E. B. (1927). "Probable inference, the law of succession, and
       statistical inference." Journal of the American Statistical Association 22.
    .. [2] Koopman, P. A. R. (1984). "Confidence intervals for the ratio of two binomial
       proportions." Biometrics 40.
    .. [3] Jiang, W. and Zhao, Y. (2015). "On asymptotic distributions and confidence
       intervals for LIFT measures in data mining." Journal of the American Statistical
       Association 110.

    Examples
    --------
    >>> from fastcmp.scores.lift import lift_table
    >>> score = [0.9, 0.8, 0.7, 0.6, 0.6, 0.3, 0.2, 0.1]
    >>> table = lift_table([1, 1, 0, 1, 0, 0, 0, 0], score, groups=2)
    >>> table.by_group.events.tolist(), table.cumulative.lift.round(3).tolist()
    ([2.5, 0.5], [1.667, 1.0])
    """
    ties = choose(ties, "ties", tuple(TIES))
    level = as_proportion(confidence_level, "confidence_level")
    if sample_weight is not None and ties != "expected":
        raise BadValueError("`sample_weight=` goes with `ties='expected'`", repr(ties))
    read, weights, sweep = _read_two_classes(y_true, score, positive, sample_weight, "lift")
    n = read.positive.size
    if isinstance(groups, (bool, np.bool_)) or not hasattr(groups, "__index__"):
        raise BadTypeError("`groups` must be a whole number", repr(groups))
    n_groups = operator.index(groups)
    if not 1 <= n_groups <= n:
        raise BadValueError(f"`groups` must be from 1 to the number of samples, {n}", n_groups)
    if weights is None:
        group, lowest, cases, events = _cut(read, sweep, n_groups, ties)
    else:  # in parts of equal weight, ties in random order
        group = np.arange(1, n_groups + 1)
        called = np.append(0.0, sweep.tp + sweep.fp)
        cases = called[-1] * group / n_groups
        cases[-1] = called[-1]
        block = np.searchsorted(called[1:], cases * (1 - 1e-12))  # edges are rounded
        lowest = sweep.thresholds[block]
        events = np.interp(cases, called, np.append(0.0, sweep.tp))
    return LiftTable(
        group=group,
        lowest_score=lowest,
        cumulative_cases=cases,
        cumulative_events=events,
        n_samples=sweep.n_positives + sweep.n_negatives,
        n_events=sweep.n_positives,
        labels=read.labels,
        weighted=weights is not None,
        groups=n_groups,
        ties=ties,
        confidence_level=level,
        n_missing=read.n_missing,
    )


def _read_two_classes(
    y_true: object, score: object, positive: Label, sample_weight: object, what: str
) -> tuple[Scores, Floats | None, ThresholdSweep]:
    read = read_scores(y_true, score, positive, single=True)
    weights = read_weights(sample_weight, read)
    sweep = sweep_scores(read, weights)
    if not sweep.n_positives or not sweep.n_negatives:
        held = "no events" if not sweep.n_positives else "nothing but events"
        raise BadValueError(f"{what} needs both classes: `y_true` holds {held}")
    return read, weights, sweep


def _cut(read: Scores, sweep: ThresholdSweep, groups: int, ties: str) -> tuple[Any, Any, Any, Any]:
    """Each group's number and lowest score, and cases and events down to it."""
    n, called = read.positive.size, sweep.tp + sweep.fp
    if ties in ("better", "worse"):
        rank = called if ties == "worse" else np.append(0, called[:-1]) + 1
        group = -(-rank * groups // n)
        if called.size <= groups:
            group = np.arange(1, called.size + 1)
        last = np.flatnonzero(np.append(group[1:] != group[:-1], True))
        return group[last], sweep.thresholds[last], called[last], sweep.tp[last]
    group = np.arange(1, groups + 1)
    edge = group * n // groups
    block = np.searchsorted(called, edge)
    if ties == "first":
        order = np.argsort(-read.columns[0], kind="stable")
        events = np.cumsum(read.positive[order], dtype=np.int64)[edge - 1]
    else:
        called, tp = np.append(0, called), np.append(0, sweep.tp)
        more = (edge - called[block]) * (tp[block + 1] - tp[block])
        events = tp[block] + more / (called[block + 1] - called[block])
    return group, sweep.thresholds[block], edge, events


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GainCurve(Curve):
    """Points of a gain curve, from (0, 0) to (1, 1), shape (T + 1,)."""

    _title: ClassVar[str] = "Gain curve"
    _n_unpacked: ClassVar[int] = 2
    _blocks = "scores:curve_of"

    #: Proportion of the cases that are called, the highest scores first.
    called: Floats
    #: Proportion of the events among them.
    captured: Floats


def gain_curve(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
) -> GainCurve:
    """Compute what proportion of the events each proportion of the cases holds.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    positive : label, optional
        The class of the events; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the cases.

    Returns
    -------
    GainCurve
        ``called`` and ``captured``: (0, 0) and a point for each distinct score.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n). Lines between the points are what equal scores give in random order.

    Examples
    --------
    >>> from fastcmp.scores.lift import gain_curve
    >>> called, captured = gain_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> called.tolist(), captured.tolist()
    ([0.0, 0.25, 0.75, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    _, _, sweep = _read_two_classes(y_true, score, positive, sample_weight, "a gain curve")
    called = sweep.tp + sweep.fp
    return GainCurve(
        called=np.append(0.0, called / called[-1]),
        captured=np.append(0.0, sweep.tp / sweep.n_positives),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KsResult(Record):
    """Kolmogorov-Smirnov distance between the scores of two classes."""

    _opening = "Test: {title}."
    _cites = ("smirnov",)

    #: D, the largest distance between true and false positive rate.
    statistic: float
    #: H0: the scores of both classes have one distribution; asymptotic.
    pvalue: float
    #: Kolmogorov's limit, of D times the root of ``n0 n1 / (n0 + n1)``.
    distribution: str = "kolmogorov"
    #: Where the distance is reached, descending: positive at this score or above.
    thresholds: NDArray[Any]
    n_positives: int
    n_negatives: int
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        where = [f"{score:.4g}" for score in self.thresholds[:5]]
        if self.thresholds.size > 5:
            where.append("...")
        text = (
            with_null(
                f"D = {self.statistic:.4f}, p = {format_pvalue(self.pvalue)}",
                "the scores of both classes have one distribution",
            ),
            f"reached by calling scores of at least {', '.join(where)} positive",
            f"{self.n_positives} positives ({self.labels[0]!r}), {self.n_negatives} "
            f"negatives ({self.labels[1]!r})",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="Kolmogorov-Smirnov distance", text=text)]


def ks_statistic(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
) -> KsResult:
    """Kolmogorov-Smirnov distance between the scores of events and of other cases.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Numbers whose distribution may differ between the classes.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the cases.

    Returns
    -------
    KsResult
        The distance, where it is reached, and a p-value.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    The distance is that of the ROC curve from its diagonal, the largest
    ``|tpr - fpr|``, and the same with the classes swapped. The p-value is Kolmogorov's
    limit at ``sqrt(n0 n1 / (n0 + n1)) D``. Where the exact p-value is below 0.1 the
    limit is hardly ever smaller (by less than 0.5%, for all classes of up to 40 and 60
    different scores), and somewhat larger for small classes; equal scores make it
    larger still. O(n log n).

    With weights n1 and n0 are Kish's effective sizes, ``sum(w)**2 / sum(w**2)`` of each
    class, in the limit. That is right where weights have nothing to do with the scores.

    References
    ----------
    .. [1] Smirnov, N. (1948). "Table for estimating the goodness of fit of empirical
       distributions." Annals of Mathematical Statistics 19.

    Examples
    --------
    >>> from fastcmp.scores.lift import ks_statistic
    >>> result = ks_statistic([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    >>> round(result.statistic, 4), result.thresholds.tolist(), round(result.pvalue, 2)
    (0.6667, [5.0, 3.0], 0.52)
    """
    from scipy.special import kolmogorov

    read, weights, sweep = _read_two_classes(
        y_true, score, positive, sample_weight, "the Kolmogorov-Smirnov distance"
    )
    n1, n0 = sweep.n_positives, sweep.n_negatives
    if weights is None:
        # Whole numbers, so ties are seen.
        distance = np.abs(sweep.tp * n0 - sweep.fp * n1)
        reached = distance == distance.max()
        statistic = float(distance.max() / (n0 * n1))
    else:
        distance = np.abs(sweep.tp / n1 - sweep.fp / n0)
        statistic = float(distance.max())
        reached = distance >= statistic - 1e-12
        n1, n0 = effective_sizes(read, weights)
    return KsResult(
        statistic=statistic,
        pvalue=float(kolmogorov((n0 * n1 / (n0 + n1)) ** 0.5 * statistic)),
        thresholds=sweep.thresholds[reached],
        n_positives=read.n_positives,
        n_negatives=read.n_negatives,
        labels=read.labels,
        n_missing=read.n_missing,
    )
