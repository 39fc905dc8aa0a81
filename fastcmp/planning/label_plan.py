"""How many labels correct a judge well enough, and which items to label."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import (
    as_counts,
    as_finite,
    as_numbers,
    as_proportion,
    as_whole,
    as_within,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_cdf, t_ppf
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.typing import Floats, Ints, Numbers

_DISTRIBUTIONS = ("normal", "t")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelPlan(Record):
    """How many labels to draw, what they are worth, and where to draw them."""

    #: Labels, whole; infinity where the items are too few.
    n: float
    #: Items that the judge sees; infinity where it may see as many as wanted.
    n_items: float
    #: The same by least cost, before they were rounded up; NaN without prices.
    exact: tuple[float, float]
    #: Labels that would do without a judge; NaN where neither width nor power was asked for.
    n_without_judge: float
    #: How many labels without a judge these are worth, and at most with ever more items.
    n_effective: float
    n_effective_limit: float
    #: Of judged values and labels, or of their differences of two models.
    correlation: float
    #: Standard deviation of the labels, or of their differences.
    sd: float
    #: Of the interval; NaN where it was not asked for and the deviation is unknown.
    half_width: float
    #: True difference, and with which probability it is found; NaN where none was named.
    difference: float
    power: float
    #: Whether so many items are enough.
    feasible: bool
    alpha: float
    distribution: str
    #: Of labels and judged items, in the unit of their prices; NaN where these are unknown.
    cost: float
    #: Labels of each stratum, shape (H,), or None.
    by_stratum: Ints | None = None
    #: With which to label each item, shape (N,), or None.
    probabilities: Floats | None = None

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The plan, a row for each number that is known.
        """
        entries = {
            "labels": self.n,
            "judged items": self.n_items,
            "correlation of judge and labels": self.correlation,
            "worth, in labels without a judge": self.n_effective,
            "the same with ever more items": self.n_effective_limit,
            "labels needed without a judge": self.n_without_judge,
            f"half-width of the {100 * (1 - self.alpha):g}% interval": self.half_width,
            "difference": self.difference,
            "power": self.power,
            "cost": self.cost,
        }
        rows = [(name, f"{x:,.6g}") for name, x in entries.items() if np.isfinite(x)]
        notes = []
        if not self.feasible:
            notes.append(
                f"No number of labels is enough: judge at least {self.n_without_judge:,.0f} items."
            )
        if self.by_stratum is not None:
            notes.append(f"By stratum: {', '.join(map(str, self.by_stratum.tolist()[:20]))}.")
        if self.probabilities is not None:
            low, high = self.probabilities.min(), self.probabilities.max()
            notes.append(f"Probabilities of being labelled from {low:.3g} to {high:.3g}.")
        title = "Labels to correct a judge"
        return [Section(title=title, columns=("", "plan"), rows=tuple(rows), notes=tuple(notes))]


def labels(
    *,
    n: int | None = None,
    n_items: int | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    worth: int | None = None,
    correlation: float | None = None,
    sd: float | None = None,
    rate: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    cost_label: float | None = None,
    cost_item: float | None = None,
    alpha: float = 0.05,
    distribution: str = "normal",
    stratum_sizes: ArrayLike | None = None,
    stratum_weights: ArrayLike = "items",
    stratum_sd: ArrayLike | None = None,
    stratum_costs: ArrayLike | None = None,
    minimum: int = 2,
    item_sd: ArrayLike | None = None,
    uniform: float = 0.2,
) -> LabelPlan:
    """Plan labels that correct a judge: how many, what they are worth, and where.

    Parameters
    ----------
    n : int, optional
        Labels that there will be, perhaps to find a `difference`; else one of `half_width`,
        `difference` and `worth` says how many are needed.
    n_items : int, optional
        Items that the judge sees; by default as many as wanted.
    half_width : float, optional
        How far the interval is to reach to each side.
    difference : float, optional
        The difference of two models that is to be found with this `power`.
    power : float
        Probability wanted, in (0, 1).
    worth : int, optional
        How many labels without a judge they are to be worth.
    correlation : float, optional
        Of judged values and labels, `judge_agreement` estimates it; for a difference of two
        models that of the differences. By default by `rate`, `sensitivity` and `specificity`.
    sd : float, optional
        Standard deviation of the labels, or of the differences of two models.
    rate : float, optional
        Of right answers, for 0/1 values, in the place of `sd`.
    sensitivity, specificity : float, optional
        How often the judge says right of right answers, and wrong of wrong ones.
    cost_label, cost_item : float, optional
        Prices of a label and of a judged item: both numbers are then chosen for the least cost.
    alpha : float
        One less the level of the interval; error rate of the two-sided test.
    distribution : {"normal", "t"}
        Quantiles; those of t have n - 2 degrees of freedom.
    stratum_sizes : array-like of int, shape (H,), optional
        Items of each stratum.
    stratum_weights : {"items"} or array-like, shape (H,)
        What strata count; by default as many as they have items.
    stratum_sd : array-like, shape (H,), optional
        Standard deviation in each stratum of what the judge leaves open, labels less lam times
        judged values: `n` labels are dealt out so that the variance is least.
    stratum_costs : array-like, shape (H,), optional
        Prices of a label in each stratum.
    minimum : int
        Labels of each stratum at least.
    item_sd : array-like, shape (N,), optional
        The same of each item, such as the root of f (1 - f) for a calibrated probability f:
        `n` labels are to be drawn with `probabilities` in proportion.
    uniform : float
        The part of these that is the same for all items, in (0, 1].

    Returns
    -------
    LabelPlan
        Labels, what they are worth, their half-width or power, strata and probabilities.

    Raises
    ------
    ValueError
        If nothing is asked for, numbers are impossible, or options lack what they need.
    TypeError
        If an input is not a number.

    See Also
    --------
    fastcmp.judged_values : Correct the judge with the labels.

    Notes
    -----
    The variance is sd**2 ((1 - r**2) / n + r**2 / N). Labels are dealt out one by one to the
    stratum with the largest W sd / sqrt(c n (n + 1)), which is optimal in whole numbers [1]_
    where all prices c are the same.

    References
    ----------
    .. [1] T. Wright, "The equivalence of Neyman optimum allocation for sampling and equal
       proportions for apportioning the U.S. House of Representatives", The American
       Statistician 66 (2012) 217-224.

    Examples
    --------
    >>> from fastcmp import planning
    >>> plan = planning.labels(
    ...     n_items=1000, half_width=0.05, rate=0.5, sensitivity=0.8, specificity=0.8
    ... )
    >>> plan.n, plan.n_without_judge
    (286.0, 385.0)
    """
    alpha, power = as_proportion(alpha, "alpha"), as_proportion(power, "power")
    if power <= alpha:
        raise BadValueError(f"`power` must be above alpha, {alpha:g}", f"{power:g}")
    distribution = choose(distribution, "distribution", _DISTRIBUTIONS)
    positive = {"half_width": half_width, "difference": difference, "sd": sd}
    positive |= {"cost_label": cost_label, "cost_item": cost_item}
    for name, value in positive.items():
        if value is not None:
            as_finite(value, name, above=0.0)
    n = n if n is None else as_whole(n, "n", 1)
    items = np.inf if n_items is None else float(as_whole(n_items, "n_items", 2))
    targets = {"half_width": half_width, "difference": difference, "worth": worth}
    goals = [name for name, x in targets.items() if x is not None]
    if goals not in ([], ["difference"]) if n is not None else len(goals) != 1:
        raise BadValueError(
            "pass one of `n=`, `half_width=`, `difference=` and `worth=`: what is wanted"
        )
    if n is not None and n > items:
        raise BadValueError(f"`n` must be at most n_items, {items:.0f}", n)
    sd, r = _spread(sd, correlation, rate, sensitivity, specificity)
    has_correlation, square = not np.isnan(r), 0.0 if np.isnan(r) else r**2
    if n is None and not (has_correlation and (worth is not None or not np.isnan(sd))):
        raise BadValueError(
            f"`{goals[0]}=` needs `correlation=` and `sd=`, or `rate=`, `sensitivity=` and "
            "`specificity=`"
        )
    if (cost_label is None) != (cost_item is None):
        raise BadValueError("`cost_label=` and `cost_item=` go together: pass both")
    count, alone, cost, exact = float(n or 0), np.nan, np.nan, (np.nan, np.nan)
    if worth is not None:
        alone = float(as_whole(worth, "worth", 2))
        left = 1.0 - square * alone / items
        count = max(np.ceil(alone * (1.0 - square) / left - 1e-9), 2.0) if left > 0.0 else np.inf
        count = float(count) if count <= items else np.inf
    elif n is None:
        precision = float(half_width or difference or np.nan) / sd
        of_power = None if difference is None else power
        alone = _needed(precision, 0.0, np.inf, alpha, of_power, distribution)
        count = _needed(precision, square, items, alpha, of_power, distribution)
    if cost_label is not None and cost_item is not None:
        if n_items is not None or n is not None:
            raise BadValueError(
                "`cost_label=` chooses `n=` and `n_items=`", remedy=": pass `half_width=` or such"
            )
        ratio, product = cost_item / cost_label, square * (1.0 - square)
        labels_needed = alone * (1.0 - square + np.sqrt(ratio * product))
        exact = (float(labels_needed), float(alone * (square + np.sqrt(product / ratio))))
        count, items = (float(max(np.ceil(x - 1e-9), 2.0)) for x in exact)
        cost = cost_label * count + cost_item * items
        if count >= items or cost >= cost_label * alone:  # the judge does not pay
            count, items, square, cost = alone, np.inf, 0.0, cost_label * alone
    feasible = bool(np.isfinite(count))
    variance = sd**2 * ((1.0 - square) / count + square / items)
    df = count - 2.0 if distribution == "t" else None
    reach = float(t_ppf(1.0 - 0.5 * alpha, df)) if feasible else np.nan
    reached_power = np.nan
    if difference is not None and feasible:
        reached_power = float(t_cdf(difference / np.sqrt(variance) - reach, df))
    by_stratum = probabilities = None
    effective = limit = np.nan
    if has_correlation and feasible:
        effective = count / (1.0 - square * (1.0 - count / items))
        limit = count / (1.0 - square) if square < 1.0 else np.inf
    if stratum_sd is not None:
        by_stratum = _dealt(
            count, stratum_sd, stratum_sizes, stratum_weights, stratum_costs, minimum
        )
    elif stratum_sizes is not None or stratum_costs is not None:
        raise BadValueError("`stratum_sizes=` and `stratum_costs=` need `stratum_sd=`")
    if item_sd is not None:
        probabilities = _drawn(count, item_sd, uniform)
    return LabelPlan(
        n=count,
        n_items=items,
        exact=exact,
        n_without_judge=alone,
        n_effective=effective,
        n_effective_limit=limit,
        correlation=r,
        sd=sd,
        half_width=reach * float(np.sqrt(variance)),
        difference=np.nan if difference is None else float(difference),
        power=reached_power,
        feasible=feasible,
        alpha=alpha,
        distribution=distribution,
        cost=float(cost),
        by_stratum=by_stratum,
        probabilities=probabilities,
    )


def _spread(
    sd: Any, correlation: Any, rate: Any, sensitivity: Any, specificity: Any
) -> tuple[float, float]:
    """Standard deviation of labels, and correlation with the judge; NaN where unknown."""
    limits = {"rate": rate, "sensitivity": sensitivity, "specificity": specificity}
    for name, value in (limits | {"correlation": correlation}).items():
        least = -1.0 if name == "correlation" else 0.0
        if value is not None:
            as_within(as_finite(value, name), name, least, 1.0)
    if rate in (0, 1):
        raise BadValueError("`rate` must lie in (0, 1)", rate)
    if rate is not None and sd is not None:
        raise BadValueError("`rate=` and `sd=` exclude each other: pass one of them")
    spread = np.sqrt(rate * (1.0 - rate)) if rate is not None else np.nan if sd is None else sd
    n_rates = (sensitivity is not None) + (specificity is not None)
    if correlation is not None and n_rates:
        raise BadValueError(
            "`correlation=` is what `sensitivity=` and `specificity=` tell: pass one"
        )
    if n_rates == 1 or (n_rates and rate is None):
        raise BadValueError("`sensitivity=` and `specificity=` need each other, and `rate=`")
    r = np.nan if correlation is None else correlation
    if n_rates:
        judged = rate * sensitivity + (1.0 - rate) * (1.0 - specificity)
        both = judged * (1.0 - judged)
        r = rate * (sensitivity - judged) / (spread * np.sqrt(both)) if both > 0.0 else 0.0
    return float(spread), float(np.maximum(r, 0.0))


def _needed(
    precision: float, square: float, items: float, alpha: float, power: float | None, kind: str
) -> float:
    """Labels that give a half-width, or find a difference, in deviations; infinity for none."""

    def reach(n: float) -> float:
        df = n - 2.0 if kind == "t" and np.isfinite(n) else None
        more = 0.0 if power is None else float(t_ppf(power, df))
        return float(t_ppf(1.0 - 0.5 * alpha, df)) + more

    left = (precision / reach(np.inf)) ** 2 - square / items
    if not left > 0.0:
        return np.inf
    n = max(float(np.ceil((1.0 - square) / left * (1.0 - 1e-12))), 2.0 if kind == "normal" else 3.0)
    while kind == "t" and n <= items:  # a few more than by normal quantiles
        if reach(n) * np.sqrt((1.0 - square) / n + square / items) <= precision:
            break
        n += 1.0
    return n if n <= items else np.inf


def _dealt(
    n: float, sd: object, sizes: object, weights: object, costs: object, minimum: object
) -> Ints:
    """Labels of each stratum that make the variance least, in whole numbers."""
    spread, least = _deviations(sd, "stratum_sd", "stratum"), as_whole(minimum, "minimum", 1)
    if sizes is None:
        raise BadValueError(
            "`stratum_sd=` needs `stratum_sizes=`: no stratum has more labels than items"
        )
    caps = as_counts(sizes, "stratum_sizes")
    if isinstance(weights, str):
        choose(weights, "stratum_weights", ("items",))
    parts = {
        "stratum_sizes": caps,
        "stratum_weights": caps if isinstance(weights, str) else weights,
    }
    parts["stratum_costs"] = np.ones(spread.size) if costs is None else costs
    columns = {name: as_numbers(x, name).astype(np.float64) for name, x in parts.items()}
    for name, column in columns.items():
        if column.shape != spread.shape or not (np.isfinite(column) & (column > 0.0)).all():
            raise BadValueError(
                f"`{name}` must hold a number > 0 for each of the strata of stratum_sd"
            )
    counts = np.minimum(least, caps)
    if not counts.sum() <= n <= caps.sum():
        raise BadValueError(
            f"`n` must be from {counts.sum()} to {caps.sum()} for these strata, by "
            "stratum_sizes and minimum",
            f"{n:g}",
        )
    gain = columns["stratum_weights"] * spread / np.sqrt(columns["stratum_costs"])

    def priority(h: int) -> tuple[float, int]:
        k = counts[h]
        return (-gain[h] / np.sqrt(k * (k + 1.0)) if k < caps[h] else np.inf), h

    heap = [priority(h) for h in range(caps.size)]
    heapq.heapify(heap)
    for _ in range(int(n) - int(counts.sum())):
        h = heap[0][1]
        counts[h] += 1
        heapq.heapreplace(heap, priority(h))
    return np.asarray(counts)


def _deviations(raw: object, name: str, what: str) -> Floats:
    """Standard deviations of items or strata, checked."""
    spread = as_numbers(raw, name).astype(np.float64)
    if spread.ndim != 1 or not spread.size or not (np.isfinite(spread) & (spread >= 0.0)).all():
        raise BadValueError(f"`{name}` must hold a finite number >= 0 for each {what}", repr(raw))
    return spread


def _drawn(n: float, item_sd: ArrayLike, uniform: Numbers) -> Floats:
    """Probabilities of being labelled, in proportion to deviations, at most 1, with the sum n."""
    spread = _deviations(item_sd, "item_sd", "item")
    if not spread.any():
        raise BadValueError("`item_sd` must not be 0 for all items: draw them alike")
    as_within(as_finite(uniform, "uniform"), "uniform", 0.0, 1.0, "(]")
    if not n <= spread.size:
        raise BadValueError(f"`n` must be at most the {spread.size} items of item_sd", f"{n:g}")
    probability, sure = np.full(spread.size, np.inf), np.zeros(spread.size, np.bool_)
    while (probability > 1.0).any():  # those that are sure take a label each
        open_spread, left = np.where(sure, 0.0, spread), n - np.count_nonzero(sure)
        if not open_spread.any():
            open_spread = np.where(sure, 0.0, 1.0)
        probability = np.where(sure, 1.0, open_spread * (left / max(open_spread.sum(), 1e-300)))
        sure |= probability > 1.0
    return np.asarray((1.0 - uniform) * probability + uniform * n / spread.size)
