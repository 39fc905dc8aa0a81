"""Ratios of two models' sensitivities and the like on the same samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, LARGEST_COUNT, as_counts, as_level, choose, keep_side
from fastcmp.core.numbers import normal_tail
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue, interval_name, null_value

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Of which less is better.
LOWER_IS_BETTER = ("false_positive_rate", "likelihood_ratio_negative")
_SCREENED = ("sensitivity", "false_positive_rate")
_OPPOSITE = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairedRatio(Record):
    """A measure of model a over that of b on the same samples, on the log scale."""

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
        text = [
            f"a / b = {format_ratio(self.ratio)}, {level} {ends}",
            f"z = {format_ratio(self.statistic)}, p = {format_pvalue(self.pvalue)} "
            f"(H0: {null_value(side, 'the ratio', '1')})",
        ]
        if not math.isnan(self.value_a):
            a, b = map(format_ratio, (self.value_a, self.value_b))
            text.insert(0, f"{name} of a {a}, of b {b}")
        if self.lower_is_better:
            text.append("Less is better.")
        title = f"Ratio of two models' {name} ({self.alternative})"
        return [Section(title=title, text=tuple(text))]


def format_ratio(value: float) -> str:
    """Write a ratio with four decimals, or three digits where it is far from 1."""
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 else f"{value:.3g}"


def format_ends(interval: ConfidenceInterval) -> str:
    """Write the ends of an interval for a ratio; nothing where there is none."""
    if math.isnan(interval.low):
        return ""
    return "[" + ", ".join(map(format_ratio, interval)) + "]"


class Proportion(NamedTuple):
    """How many samples of one class a and b call alike, and how many only one does."""

    a: int
    b: int
    only_one: int

    @property
    def log_ratio(self) -> float:
        """Logarithm of a / b, without cancellation."""
        return math.log1p((self.a - self.b) / self.b)

    @property
    def variance(self) -> float:
        """Of `log_ratio`."""
        return self.only_one / self.a / self.b


class Estimate(NamedTuple):
    """A measure of both models, their ratio, and its logarithm where that exists."""

    value_a: float
    value_b: float
    ratio: float
    log_ratio: float = math.nan
    variance: float = math.nan


def quotient(part: float, whole: float) -> float:
    """Divide; infinite or NaN where the divisor is 0."""
    if whole:
        return part / whole
    return math.inf if part > 0 else math.nan


def estimate_product(
    values: tuple[float, float], over: Proportion, under: Proportion | None = None
) -> Estimate:
    """Estimate the ratio of proportions of a class, or of quotients of two classes."""
    below = under or Proportion(1, 1, 0)
    ratio = quotient(over.a * below.b, over.b * below.a)
    if not min(*over[:2], *below[:2]):
        return Estimate(*values, ratio)
    return Estimate(
        *values, ratio, over.log_ratio - below.log_ratio, over.variance + below.variance
    )


def make_ratio(
    measure: str, estimate: Estimate, alternative: str, confidence_level: float
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
        pvalue = float(normal_tail(statistic, side))
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
    given = {
        "both_positive": both_positive,
        "only_a_positive": only_a_positive,
        "only_b_positive": only_b_positive,
    }
    both, a, b = _read_counts(given.items())
    proportions = Proportion(both + a, both + b, a + b)
    estimate = estimate_product((math.nan, math.nan), proportions)
    return make_ratio(measure, estimate, alternative, float(confidence_level))


def _read_counts(given: Iterable[tuple[str, int]]) -> list[int]:
    """Read one whole number each; all together at most 2**53."""
    counts = []
    for name, raw in given:
        array = as_counts(raw, name)
        if array.ndim:
            raise TypeError(f"{name} must be one number, got shape {array.shape}")
        counts.append(int(array))
    if (total := sum(counts)) > LARGEST_COUNT:
        raise ValueError(f"both_positive and the others must add up to at most 2**53: {total}")
    return counts
