"""The arithmetic of margin tests: statistics, p-values, decisions, samples needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.paired.margin_result import (
    BETTER,
    CANNOT_TELL,
    EQUIVALENT,
    NOT_WORSE,
    WORSE,
    MarginDecision,
    MarginTests,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_POWER = 0.8  # with which `n_more` samples tell
#: Why there is no decision by standard errors where there are none.
NO_VARIANCE = "no variance was observed, so that nothing measures the difference"


class MarginOptions(NamedTuple):
    """Against what a difference is tested, and how; checked."""

    margin: Any
    alpha: float = 0.05
    strict: bool = False
    #: Of all differences, or of each.
    lower_is_better: Any = False

    @property
    def one_sided(self) -> float:
        """The level of one-sided tests against the margin."""
        return self.alpha / 2 if self.strict else self.alpha

    def gain(self, difference: Any) -> Any:
        """Turn differences so that above 0 model a is better."""
        return np.where(self.lower_is_better, -difference, difference)


class Estimated(NamedTuple):
    """Differences with their standard errors."""

    difference: Any
    standard_error: Any
    #: Degrees of freedom of t; None for z.
    df: Any = None
    #: Samples; None where they are not known.
    n_samples: Any = None
    #: The p-values of equality that decide between better and worse, and the
    #: alternative that they are for; None for those of t or z, two-sided.
    pvalue: Any = None
    alternative: str = "two-sided"
    measure: str = "difference"
    #: Ends that intervals are clipped to.
    limits: tuple[float, float] = (-np.inf, np.inf)


class Tails(NamedTuple):
    """One-sided tests of a difference against both margins."""

    lower: Any
    upper: Any
    pvalue_lower: Any
    pvalue_upper: Any
    superiority: Any


def margins_of(of: Estimated, options: MarginOptions) -> MarginTests:
    """Test checked differences by their standard errors."""
    arrays = [of.difference, of.standard_error, options.margin]
    if of.df is not None:
        arrays.append(of.df)
    d, error, margins, *degrees = _broadcast(arrays)
    unknown = ~(error > 0.0)  # without variance nothing measures the difference
    error = np.where(unknown, np.nan, error)
    df = degrees[0] if degrees else None
    if df is not None and np.isinf(df).all():
        df = None
    lower, upper = _standardized(d, error, margins), _standardized(d, error, -margins)
    better = np.where(options.lower_is_better, -lower, upper)
    tails = Tails(
        *(lower, upper, upper_tail(lower, df), upper_tail(-upper, df)),
        upper_tail(better, df),
    )
    intervals = []
    for level in (options.alpha / 2, options.alpha):
        spread = -_quantile(level, df) * error
        ends = (np.clip(d - spread, *of.limits), np.clip(d + spread, *of.limits))
        intervals.append(ConfidenceInterval(*map(plain, ends)))
    if of.pvalue is None:
        z = _standardized(d, error, 0.0)
        of = of._replace(pvalue=np.minimum(2.0 * upper_tail(np.abs(z), df), 1.0))
    needed = None
    if of.n_samples is not None:
        n = np.asarray(of.n_samples, np.float64)
        spread = error * np.sqrt(n)
        gain = options.gain(d)
        needed = samples_needed(gain, margins, (spread, spread, spread), options)
    return make_tests(
        of._replace(difference=d, standard_error=plain(np.where(unknown, arrays[1], error))),
        options,
        tails,
        (intervals[0], intervals[1]),
        needed,
        method="z" if df is None else "t",
        df=None if df is None else plain(df),
        reason=NO_VARIANCE if unknown.any() else "",
    )


def make_tests(
    of: Estimated,
    options: MarginOptions,
    tails: Tails,
    intervals: tuple[ConfidenceInterval, ConfidenceInterval],
    needed: Any,
    **fields: Any,
) -> MarginTests:
    """Decide, and make the record; p-values and decisions never contradict."""
    reached, turned = options.one_sided, options.lower_is_better
    up, down = _directions(of, options.alpha, intervals[0])
    within = np.maximum(tails.pvalue_lower, tails.pvalue_upper) <= reached
    met = np.where(turned, tails.pvalue_upper, tails.pvalue_lower) <= reached
    better, worse = np.where(turned, down, up), np.where(turned, up, down)
    decided = decide(better, worse, within, met)
    more = None
    if needed is not None:
        more = further_samples(needed, of.n_samples, decided.decision)
    return MarginTests(
        margin=plain(options.margin),
        difference=plain(of.difference),
        standard_error=of.standard_error,
        statistic_lower=plain(tails.lower),
        statistic_upper=plain(tails.upper),
        pvalue_lower=plain(tails.pvalue_lower),
        pvalue_upper=plain(tails.pvalue_upper),
        superiority_pvalue=plain(tails.superiority),
        interval=intervals[0],
        inner_interval=intervals[1],
        n_more=more,
        alpha=options.alpha,
        strict=options.strict,
        lower_is_better=turned,
        measure=of.measure,
        **decided._asdict(),
        **fields,
    )


def _directions(of: Estimated, alpha: float, interval: ConfidenceInterval) -> tuple[Any, Any]:
    """Whether the difference is shown to be above 0, and below 0.

    A one-sided test shows one of them; the other one follows from the interval.
    """
    shown = np.asarray(of.pvalue) <= alpha
    up, down = shown & (of.difference > 0.0), shown & (of.difference < 0.0)
    if of.alternative == "greater":
        down = np.asarray(interval.high) < 0.0
    elif of.alternative == "less":
        up = np.asarray(interval.low) > 0.0
    return up, down


def decide(better: Any, worse: Any, within: Any, met: Any) -> MarginDecision:
    """Choose the first decision that holds, for each entry."""
    claims = np.broadcast_arrays(better, worse, within, met)
    words = np.select(claims, [BETTER, WORSE, EQUIVALENT, NOT_WORSE], CANNOT_TELL)
    parts = (words, claims[2].copy(), claims[3].copy())
    return MarginDecision(*(x if x.ndim else x.item() for x in parts))


def samples_needed(
    gain: Any, margin: Any, spreads: tuple[Any, Any, Any], options: MarginOptions
) -> Any:
    """Count samples with which the nearest decision has a power of 80%.

    `spreads` are the standard deviations of one sample: if models are equal, at the
    margin, and as observed.
    """
    equal, at_margin, observed = spreads
    z_power = upper_quantile(1.0 - _POWER)
    z_equal = upper_quantile(options.alpha / 2)
    z_margin = upper_quantile(options.one_sided)
    with np.errstate(all="ignore"):
        differs = ((z_equal * equal + z_power * observed) / gain) ** 2
        reach = gain + margin
        met = ((z_margin * at_margin + z_power * observed) / reach) ** 2
    met = np.where(reach > 0.0, met, np.inf)
    return np.fmin(np.where(gain == 0.0, np.inf, differs), met)


def further_samples(needed: Any, n_samples: Any, decision: Any) -> Any:
    """Count the samples beyond those at hand; 0 where there is a decision."""
    needed, n, told = np.broadcast_arrays(needed, n_samples, np.asarray(decision) != CANNOT_TELL)
    more = np.maximum(np.ceil(needed) - n, 1.0)
    more = np.where(told, 0.0, np.where(np.isfinite(more), more, np.nan))
    if more.ndim:
        return more
    return None if np.isnan(more) else int(more)


def _standardized(difference: Floats, error: Floats, shift: Any) -> Floats:
    """Divide difference + shift by its standard error."""
    with np.errstate(all="ignore"):
        return np.asarray((difference + shift) / error + 0.0)


def upper_tail(z: Any, df: Any) -> Any:
    """P(Z >= z), of Student's t where there are degrees of freedom."""
    from scipy.special import ndtr, stdtr

    if df is None:
        return ndtr(-z)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(df), ndtr(-z), stdtr(df, -z))


def _quantile(probability: float, df: Any) -> Any:
    from scipy.special import ndtri, stdtrit

    if df is None:
        return ndtri(probability)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(df), ndtri(probability), stdtrit(df, probability))


def upper_quantile(probability: float) -> float:
    """Give the normal quantile that is exceeded with this probability."""
    return -float(_quantile(probability, None))


def _broadcast(arrays: list[Any]) -> list[Floats]:
    try:
        return [np.array(x) for x in np.broadcast_arrays(*arrays)]
    except ValueError:
        shapes = ", ".join(str(np.shape(x)) for x in arrays)
        raise ValueError(
            f"difference, standard_error, margin and df must broadcast, got {shapes}"
        ) from None


def plain(values: Any) -> Any:
    """Give numbers for arrays without axes."""
    array = np.asarray(values)
    return array if array.ndim else array.item()
