"""Ratios of two models' sensitivities and the like on the same samples.

A measure is a quotient of products of counts. A cell of the counts has an influence u on
the logarithm of a ratio, and its variance is the sum of N u**2 over the cells: the delta
method. Numbers are whole until they are divided, so that nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_cells, as_level, choose, keep_side
from fastcmp.core.numbers import t_tail
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue, interval_name
from fastcmp.core.sentences import SPOKEN, Sentence, how, null_value, statistic_text, with_null
from fastcmp.core.typing import Ints

#: Of which less is better.
LOWER_IS_BETTER = ("false_positive_rate", "likelihood_ratio_negative")
_SCREENED = ("sensitivity", "false_positive_rate")
_OPPOSITE = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairedRatio(Record):
    """A measure of model a over that of b on the same samples, on the log scale."""

    _blocks = "scores:one_ratio"
    _opening = "Test: {title}."
    _cites = ("cheng",)

    #: z: the logarithm of the ratio over its standard error; positive for a ratio > 1.
    statistic: float
    pvalue: float
    distribution: str = "normal"
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "sensitivity", "specificity", "false_positive_rate", "ppv", "npv",
    #: "likelihood_ratio_positive" or "likelihood_ratio_negative".
    measure: str
    #: The measure of a over that of b.
    ratio: float
    #: Of the logarithm of the ratio.
    standard_error: float
    #: For `ratio`, at `confidence_level`; NaN without a standard error, or one of 0.
    interval: ConfidenceInterval
    confidence_level: float
    #: The measures; NaN in a screen-positive design, which gives their ratio only.
    value_a: float = math.nan
    value_b: float = math.nan
    #: "greater": a is better, also where `lower_is_better`.
    alternative: str

    @property
    def lower_is_better(self) -> bool:
        """Whether the model with less of the measure is better."""
        return self.measure in LOWER_IS_BETTER

    @property
    def difference(self) -> float:
        """The measure of a minus that of b."""
        return self.value_a - self.value_b

    @property
    def better(self) -> str | None:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        if math.isnan(self.ratio) or self.ratio == 1.0:
            return None
        return "a" if (self.ratio > 1.0) != self.lower_is_better else "b"

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        name = self.measure.replace("_", " ")
        level = interval_name(self.confidence_level, self.alternative)
        ends = format_ends(self.interval) or "-"
        side = _OPPOSITE[self.alternative] if self.lower_is_better else self.alternative
        ratio, pvalue = f"{format_ratio(self.ratio)}, {level} {ends}", format_pvalue(self.pvalue)
        of = SPOKEN.get(name, name)
        text: list[str] = [
            Sentence(
                f"a / b = {ratio}", answer=f"Ratio of the {of}, a over b, {ratio}; p = {pvalue}."
            ),
            with_null(statistic_text(self), null_value(side, "the ratio", "1")),
        ]
        if not math.isnan(self.value_a):
            a, b = map(format_ratio, (self.value_a, self.value_b))
            text.insert(0, f"{name} of a {a}, of b {b}")
        if self.lower_is_better:
            text.append(how("Less is better."))
        title = f"Ratio of two models' {name} ({self.alternative})"
        return [Section(title=title, text=tuple(text))]


def format_ratio(value: float) -> str:
    """A ratio as text: four decimals, or three digits where it is far from 1."""
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 else f"{value:.3g}"


def format_ends(interval: ConfidenceInterval) -> str:
    """The ends of an interval for a ratio as text; "" without an interval."""
    if math.isnan(interval.low):
        return ""
    return "[" + ", ".join(map(format_ratio, interval)) + "]"


class _Estimate(NamedTuple):
    """A measure of both models, their ratio, and its logarithm where that exists."""

    value_a: float
    value_b: float
    ratio: float
    log_ratio: float = math.nan
    variance: float = math.nan


def _quotient(part: float, whole: float) -> float:
    """A quotient; infinite or NaN where the divisor is 0."""
    if whole:
        return part / whole
    return math.inf if part > 0 else math.nan


#: The factors of each measure, above and below: samples by (true class, call), None for any.
_FACTORS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "sensitivity": (((1, 1),), ((1, None),)),
    "specificity": (((0, 0),), ((0, None),)),
    "false_positive_rate": (((0, 1),), ((0, None),)),
    "ppv": (((1, 1),), ((None, 1),)),
    "npv": (((0, 0),), ((None, 0),)),
    "likelihood_ratio_positive": (((1, 1), (0, None)), ((0, 1), (1, None))),
    "likelihood_ratio_negative": (((1, 0), (0, None)), ((0, 0), (1, None))),
}


#: All factors, and which cells of ``counts.ravel()`` they hold: of a, and of b, shape (2, F, 8).
_KEYS = sorted({x for sides in _FACTORS.values() for side in sides for x in side}, key=str)
_CELLS = np.array(
    [
        [
            [
                true in (None, t) and call in (None, calls[model])
                for t, *calls in np.ndindex(2, 2, 2)
            ]
            for true, call in _KEYS
        ]
        for model in (0, 1)
    ],
    np.int64,
)
#: Places of the factors of each measure, above and below.
_PLACES = {
    measure: [[_KEYS.index(x) for x in side] for side in sides]
    for measure, sides in _FACTORS.items()
}
#: 1 for a factor above, -1 below, shape (measures, F).
_SIGNS = np.array(
    [[(f in above) - (f in below) for f in range(len(_KEYS))] for above, below in _PLACES.values()]
)


def measure_ratios(
    table: Ints, alternative: str, confidence_level: float, prevalence: float | None
) -> tuple[PairedRatio, ...]:
    """Ratios of all measures that have one, from ``table[t, a, b]``."""
    counts, ratios = table.ravel(), []
    sizes = _CELLS @ counts
    of_a, of_b = sizes.tolist()
    at_least_1 = np.maximum(sizes, 1)
    of_cells = _CELLS / at_least_1[:, :, None]
    influences = _SIGNS @ (of_cells[0] - of_cells[1])
    variances = (influences**2 @ counts).tolist()
    # Without cancellation.
    logs = (_SIGNS @ np.log1p((at_least_1[0] - at_least_1[1]) / at_least_1[1])).tolist()
    for k, (measure, (above, below)) in enumerate(_PLACES.items()):
        over_a, over_b = (math.prod([n[f] for f in above]) for n in (of_a, of_b))
        under_a, under_b = (math.prod([n[f] for f in below]) for n in (of_a, of_b))
        values = _quotient(over_a, under_a), _quotient(over_b, under_b)
        estimate = _Estimate(*values, _quotient(over_a * under_b, over_b * under_a))
        if over_a and over_b and under_a and under_b:
            estimate = estimate._replace(log_ratio=logs[k], variance=variances[k])
        if prevalence is not None and measure == "ppv":
            estimate = _at_prevalence(counts, prevalence)
        if prevalence is not None and measure == "npv":
            estimate = _at_prevalence(counts[::-1], 1.0 - prevalence)
        ratios.append(_make_ratio(measure, estimate, alternative, confidence_level))
    return tuple(ratios)


def _at_prevalence(counts: Ints, prevalence: float) -> _Estimate:
    """Compare predictive values at another prevalence, by Bayes' rule.

    With odds o of the prevalence, PPV = LR o / (1 + LR o), and the logarithm of PPV
    moves with that of LR by 1 - PPV.
    """
    places = [_KEYS.index(x) for x in ((1, 1), (0, 1), (1, None), (0, None))]
    sizes = (_CELLS @ counts)[:, places]
    right, wrong, yes, no = sizes.T.tolist()
    if not (yes[0] and no[0]):
        return _Estimate(math.nan, math.nan, math.nan)
    # Proportions of all samples that are called and right, and called and wrong.
    a, b = (
        (prevalence * x / yes[0], (1.0 - prevalence) * y / no[0])
        for x, y in zip(right, wrong, strict=True)
    )
    value_a, value_b = (_quotient(x, x + y) for x, y in (a, b))
    estimate = _Estimate(value_a, value_b, _quotient(value_a, value_b))
    if not min(*right, *wrong):
        return estimate
    # Influences on the logarithm of LR of a, and of b.
    of_a, of_b = np.array([1, -1, -1, 1]) @ (_CELLS[:, places] / sizes[:, :, None])
    influence = a[1] / sum(a) * of_a - b[1] / sum(b) * of_b
    # Of PPV_a / PPV_b, by what is wrong: (x_a y_b - x_b y_a) / (x_b sum(a)) + 1.
    return estimate._replace(
        log_ratio=math.log1p((a[0] * b[1] - b[0] * a[1]) / (b[0] * sum(a))),
        variance=float(influence**2 @ counts),
    )


def _make_ratio(
    measure: str, estimate: _Estimate, alternative: str, confidence_level: float
) -> PairedRatio:
    """Test that a ratio is 1, and give an interval for it."""
    error = math.sqrt(estimate.variance)
    statistic = pvalue = math.nan
    interval = ConfidenceInterval(math.nan, math.nan)
    status = kernels.UNDEFINED
    side = _OPPOSITE[alternative] if measure in LOWER_IS_BETTER else alternative
    if error == 0.0:
        status, statistic, pvalue = kernels.DEGENERATE, 0.0, 1.0
    elif error > 0.0:
        status, statistic = kernels.OK, estimate.log_ratio / error
        pvalue = float(t_tail(statistic, side))
        level = as_level(confidence_level, alternative)
        spread = math.exp(-kernels.ndtri(0.5 * (1.0 - level)) * error)
        ends = (estimate.ratio / spread, estimate.ratio * spread)
        interval = ConfidenceInterval(*keep_side(ends, side, (0.0, math.inf)))
    return PairedRatio(
        statistic=statistic,
        pvalue=pvalue,
        status=int(status),
        measure=measure,
        ratio=estimate.ratio,
        standard_error=error,
        interval=interval,
        confidence_level=confidence_level,
        value_a=estimate.value_a,
        value_b=estimate.value_b,
        alternative=alternative,
    )


def screen_positive_ratio(  # options by keyword
    both_positive: int,
    only_a_positive: int,
    only_b_positive: int,
    *,
    measure: str = "sensitivity",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> PairedRatio:
    """Compare two models where the truth is known of what either calls positive.

    In a screen-positive design those that both models call negative are not followed
    up. Neither sensitivity is known then, but their ratio is; and so is that of the
    false positive rates.

    Parameters
    ----------
    both_positive : int
        Samples of one true class that both models call positive.
    only_a_positive, only_b_positive : int
        Samples of that class that only a, and only b, calls positive.
    measure : {"sensitivity", "false_positive_rate"}
        Which ratio: the first where the three counts are of positives, the second where
        they are of negatives.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better: more sensitive, or with fewer false positives.
    confidence_level : float
        Level of the interval, in (0, 1).

    Returns
    -------
    PairedRatio
        The ratio a / b, its interval, z and p-value.

    Raises
    ------
    ValueError
        If a count is negative, fractional or above 2**53 with the others, or an option
        is unknown.
    TypeError
        If a count is not one number.

    Notes
    -----
    With x samples called by both, b only by a and c only by b, the variance of the
    logarithm of (x + b) / (x + c) is (b + c) / ((x + b) (x + c)). Where a model calls
    none of the class there is no logarithm: the ratio is 0 or infinite, the test NaN.
    Without a sample that only one calls, the ratio is 1 and p = 1, without an interval.

    References
    ----------
    .. [1] H. Cheng, M. Macaluso, "Comparison of the accuracy of two tests with a
       confirmatory procedure limited to positive results", Epidemiology 8 (1997)
       104-106.

    Examples
    --------
    >>> from fastcmp import screen_positive_ratio
    >>> result = screen_positive_ratio(10, 21, 24)
    >>> round(result.ratio, 4), round(result.pvalue, 4)
    (0.9118, 0.6548)
    >>> [round(end, 4) for end in result.interval]
    [0.6081, 1.367]
    """
    measure = choose(measure, "measure", _SCREENED)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_level(confidence_level, alternative)
    both, only_a, only_b = as_cells(
        both_positive=both_positive,
        only_a_positive=only_a_positive,
        only_b_positive=only_b_positive,
    )
    a, b = both + only_a, both + only_b
    estimate = _Estimate(math.nan, math.nan, _quotient(a, b))
    if a and b:
        variance = (only_a + only_b) / a / b
        estimate = estimate._replace(log_ratio=math.log1p((a - b) / b), variance=variance)
    return _make_ratio(measure, estimate, alternative, float(confidence_level))
