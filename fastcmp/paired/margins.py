"""Margin tests from a difference and its standard error, and the decision.

Right and wrong answers differ by -1, 0 or 1, and so do their means by cluster. A normal
or t interval of such means errs far too often where few clusters differ: with 10
clusters of which a model fails 8% as a whole, none is seen failing in 43% of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_flag, as_numbers, as_proportion
from fastcmp.core.numbers import t_cdf, t_ppf, t_tail
from fastcmp.core.records import ConfidenceInterval
from fastcmp.kernels import bounded_means
from fastcmp.paired.margin_result import (
    BETTER,
    CANNOT_TELL,
    EQUIVALENT,
    NOT_WORSE,
    WORSE,
    MarginDecision,
    MarginTests,
)

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
    #: alternative that they are for; None for those of t or z, or of the interval.
    pvalue: Any = None
    alternative: str = "two-sided"
    measure: str = "difference"
    #: Ends that intervals are clipped to.
    limits: tuple[float, float] = (-np.inf, np.inf)


def margins_of(of: Estimated, options: MarginOptions) -> MarginTests:
    """Test checked differences by their standard errors."""
    arrays = [of.difference, of.standard_error, options.margin]
    if of.df is not None:
        arrays.append(of.df)
    try:
        d, error, margins, *degrees = (np.array(x) for x in np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(str(np.shape(x)) for x in arrays)
        raise ValueError(
            f"difference, standard_error, margin and df must broadcast, got {shapes}"
        ) from None
    unknown = ~(error > 0.0)  # without variance nothing measures the difference
    error = np.where(unknown, np.nan, error)
    df = degrees[0] if degrees else None
    if df is not None and np.isinf(df).all():
        df = None
    lower, upper = _standardized(d, error, margins), _standardized(d, error, -margins)
    better = np.where(options.lower_is_better, -lower, upper)
    tails = (lower, upper, *t_cdf(np.stack([-lower, upper, -better]), df))
    intervals, (least, most) = [], of.limits
    for level in (options.alpha / 2, options.alpha):
        spread = -t_ppf(level, df) * error
        ends = (np.minimum(np.maximum(x, least), most) for x in (d - spread, d + spread))
        intervals.append(ConfidenceInterval(*map(plain, ends)))
    if of.pvalue is None:
        z = _standardized(d, error, 0.0)
        of = of._replace(pvalue=t_tail(z, "two-sided", df))
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
    tails: tuple[Any, ...],
    intervals: tuple[ConfidenceInterval, ConfidenceInterval],
    needed: Any,
    **fields: Any,
) -> MarginTests:
    """Decide, and make the record; p-values and decisions never contradict.

    `tails` are the statistics against the lower and the upper margin, their p-values, and
    that of superiority. Without a p-value of equality better and worse follow from the
    interval, and so does the side that a one-sided test does not show.
    """
    lower, upper, pvalue_lower, pvalue_upper, superiority = tails
    reached, turned = options.one_sided, options.lower_is_better
    above, below = np.asarray(intervals[0].low) > 0.0, np.asarray(intervals[0].high) < 0.0
    different = above | below if of.pvalue is None else np.asarray(of.pvalue) <= options.alpha
    up, down = different & (of.difference > 0.0), different & (of.difference < 0.0)
    if of.pvalue is not None and of.alternative == "greater":
        down = below
    elif of.pvalue is not None and of.alternative == "less":
        up = above
    within = np.maximum(pvalue_lower, pvalue_upper) <= reached
    met = np.where(turned, pvalue_upper, pvalue_lower) <= reached
    better, worse = np.where(turned, down, up), np.where(turned, up, down)
    decided = decide(better, worse, within, met)
    more = None
    if needed is not None:  # samples beyond those at hand; 0 where there is a decision
        open_ = np.asarray(decided.decision) == CANNOT_TELL
        needed, n, open_ = np.broadcast_arrays(needed, of.n_samples, open_)
        more = np.maximum(np.ceil(needed) - n, 1.0)
        more = np.where(open_, np.where(np.isfinite(more), more, np.nan), 0.0)
        if not more.ndim:
            more = None if np.isnan(more) else int(more)
    return MarginTests(
        margin=plain(options.margin),
        difference=plain(of.difference),
        standard_error=of.standard_error,
        statistic_lower=plain(lower),
        statistic_upper=plain(upper),
        pvalue_lower=plain(pvalue_lower),
        pvalue_upper=plain(pvalue_upper),
        superiority_pvalue=plain(superiority),
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


def decide(better: Any, worse: Any, within: Any, met: Any) -> MarginDecision:
    """Choose the first decision that holds, for each entry."""
    claims = np.array([BETTER, WORSE, EQUIVALENT, NOT_WORSE, CANNOT_TELL])
    first = np.where(worse, 1, np.where(within, 2, np.where(met, 3, 4)))
    first = np.where(better, 0, first)
    words, shaped = claims[first], first >= 0
    return MarginDecision(*map(plain, (words, within & shaped, met & shaped)))


def samples_needed(
    gain: Any, margin: Any, spreads: tuple[Any, Any, Any], options: MarginOptions
) -> Any:
    """Count samples with which the nearest decision has a power of 80%.

    `spreads` are the standard deviations of one sample: if models are equal, at the
    margin, and as observed.
    """
    equal, at_margin, observed = spreads
    z_power = -float(t_ppf(1.0 - _POWER, None))
    z_equal = -float(t_ppf(options.alpha / 2, None))
    z_margin = -float(t_ppf(options.one_sided, None))
    with np.errstate(all="ignore"):
        differs = ((z_equal * equal + z_power * observed) / gain) ** 2
        reach = gain + margin
        met = ((z_margin * at_margin + z_power * observed) / reach) ** 2
    met = np.where(reach > 0.0, met, np.inf)
    return np.fmin(np.where(gain == 0.0, np.inf, differs), met)


def _standardized(difference: Floats, error: Floats, shift: Any) -> Floats:
    """Divide difference + shift by its standard error."""
    with np.errstate(all="ignore"):
        return np.asarray((difference + shift) / error + 0.0)


def plain(values: Any) -> Any:
    """Numbers for arrays without axes."""
    array = np.asarray(values)
    return array if array.ndim else array.item()


_LOWER = "lower_is_better"


def as_margin(value: Any, limit: float = np.inf, name: str = "margin") -> float:
    """Check a margin: above 0, and below the largest possible difference."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number above 0, got {value!r}")
    margin = float(value)
    if not 0.0 < margin < min(limit, np.inf):
        _checked(np.array(margin), limit, name)
    return margin


def as_margins(value: ArrayLike, limit: float = np.inf) -> Floats:
    """Check margins of any shape."""
    margins = as_numbers(value, "margin", "numbers above 0").astype(np.float64)
    return _checked(margins, limit, "margin")


def _checked(margins: Floats, limit: float, name: str) -> Floats:
    if not np.all((margins > 0.0) & np.isfinite(margins)):
        bad = margins[~((margins > 0.0) & np.isfinite(margins))].flat[0]
        raise ValueError(f"{name} must be above 0 and finite, got {bad:g}")
    if np.any(margins >= limit):
        raise ValueError(
            f"{name} must be below {limit:g}, the largest possible difference, got "
            f"{margins.max():g}"
        )
    return margins


def as_margin_alpha(value: Any) -> float:
    """Check the level of margin tests: 1 - 2 alpha must be a level too."""
    alpha = as_proportion(value, "alpha")
    if alpha >= 0.5:
        raise ValueError(f"alpha must be below 0.5 for margin tests, got {value}")
    return alpha


def read_margin(margin: Any, alpha: Any = 0.05, limit: float = np.inf) -> MarginOptions | None:
    """Check a margin, and the level of its tests, before the work; None for none."""
    level = as_margin_alpha(alpha)
    return None if margin is None else MarginOptions(as_margin(margin, limit), level)


def with_margin(result: Any, options: MarginOptions | None, limit: float = np.inf) -> Any:
    """Test the difference of a record against a checked margin, if there is one.

    `limit` is the largest possible difference where it was not known before.
    """
    if options is None:
        return result
    as_margins(options.margin, limit)
    return replace(result, margins=result._margin_tests(options))


def margin_decision(
    interval: ArrayLike,
    inner_interval: ArrayLike,
    margin: ArrayLike,
    *,
    strict: bool = False,
    lower_is_better: bool = False,
) -> MarginDecision:
    """Decide from two intervals for a difference and a margin.

    The first that holds: "better" (the interval lies above 0), "worse" (below 0),
    "equivalent" (the inner interval lies between -margin and margin), "not worse" (it
    lies above -margin), "cannot tell".

    Parameters
    ----------
    interval : ConfidenceInterval or array-like, shape (2, ...)
        Lower and upper ends of the interval for the difference a minus b, of the level
        1 - alpha.
    inner_interval : ConfidenceInterval or array-like, shape (2, ...)
        Those of the interval of the level 1 - 2 alpha, whose ends are those of
        one-sided tests with the error rate alpha.
    margin : array-like
        The largest difference that does not matter, above 0.
    strict : bool
        Whether all claims follow from `interval`, and are right together with the
        probability 1 - alpha. Else each claim is wrong with at most alpha.
    lower_is_better : bool
        Whether the difference is one of costs or losses.

    Returns
    -------
    MarginDecision
        ``decision``, ``within_margin`` (the difference is smaller than the margin) and
        ``margin_met`` (a is not worse by the margin): "worse" may lie within the
        margin.

    Raises
    ------
    ValueError
        If the margin is not above 0, or shapes do not fit.
    TypeError
        If they are not numbers.

    Examples
    --------
    >>> from fastcmp import margin_decision
    >>> margin_decision((-0.013, 0.015), (-0.010, 0.012), 0.02).decision
    'equivalent'
    >>> margin_decision((-0.013, 0.025), (-0.010, 0.022), 0.02)
    MarginDecision(decision='not worse', within_margin=False, margin_met=True)
    """
    margins = as_margins(margin)
    low, high = _read_ends(interval, "interval")
    inner = (low, high)
    if not as_flag(strict, "strict"):
        inner = _read_ends(inner_interval, "inner_interval")
    if as_flag(lower_is_better, _LOWER):
        low, high, inner = -high, -low, (-inner[1], -inner[0])
    met = inner[0] > -margins
    return decide(low > 0.0, high < 0.0, met & (inner[1] < margins), met)


def _read_ends(interval: ArrayLike, name: str) -> tuple[Floats, Floats]:
    ends = as_numbers(interval, name).astype(np.float64)
    if ends.ndim == 0 or ends.shape[0] != 2:
        raise ValueError(f"{name} must be a lower and an upper end, got shape {ends.shape}")
    if np.any(ends[0] > ends[1]):
        raise ValueError(f"{name} must have its lower end first")
    return ends[0], ends[1]


class BoundedUnits(NamedTuple):
    """Differences of two models by unit: what they sum to, and the most they could.

    A row a pair of models, a column a unit; either may be one for all.
    """

    #: Weighted sums of the differences of each unit, shape (P, J).
    gain: Floats
    #: Sum of the weights of each unit: its gain lies between -weight and weight.
    weight: Floats
    #: Units of this kind.
    count: Any = 1.0

    def rows(self) -> Iterator[Any]:
        """The units of each pair, as kernels take them."""
        arrays = np.broadcast_arrays(*(np.atleast_2d(np.asarray(x, np.float64)) for x in self))
        return zip(*map(np.ascontiguousarray, arrays), strict=True)

    @property
    def n_effective(self) -> Any:
        """Number of units, the heaviest counting as one, shape (P,)."""
        heaviest = np.where(self.count > 0.0, self.weight, 0.0).max(axis=-1)
        with np.errstate(invalid="ignore"):  # a pair without any unit
            return (self.count * self.weight).sum(axis=-1) / heaviest


def bounded_score(units: BoundedUnits, at: float) -> Floats:
    """Compute normal scores of the p-values of H0: the mean is `at` or less, shape (P,)."""
    return np.array([bounded_means.bounded_score(g, w, k, at) for g, w, k in units.rows()])


def bounded_interval(units: BoundedUnits, level: float) -> tuple[Floats, Floats]:
    """Compute both ends of intervals for the means, shape (P,)."""
    alpha, turned = 0.5 * (1.0 - level), units._replace(gain=-units.gain)
    low, high = (
        np.array([bounded_means.bounded_limit(g, w, k, alpha) for g, w, k in x.rows()])
        for x in (units, turned)
    )
    return low, 0.0 - high


def bounded_margins(
    parts: Iterable[BoundedUnits],
    of: Estimated,
    options: MarginOptions,
    unit: str,
    largest: float = 1.0,
) -> MarginTests:
    """Test differences whose units are bounded against a margin, and decide.

    Differences lie between -`largest` and `largest`; units hold them in this unit.
    The units of some pairs at a time. Where there are too few no test can decide: a model
    that fails a share of them as large as the margin, each as a whole, shows none that
    fails with a probability above alpha.
    """
    from scipy.special import ndtr

    margin, rows = float(options.margin) / largest, []
    for units in parts:
        turned = units._replace(gain=-units.gain)
        lower, upper = (-bounded_score(x, -margin) for x in (units, turned))
        better = -bounded_score(turned if options.lower_is_better else units, margin)
        found = [lower, -upper, ndtr(-lower), ndtr(-upper), ndtr(-better)]
        for alpha in (options.alpha, 2.0 * options.alpha):
            found += bounded_interval(units, 1.0 - alpha)
        rows.append(np.stack(np.broadcast_arrays(*found, units.n_effective)))
    shape = np.shape(of.difference)
    *tests, n_effective = np.concatenate(rows or [np.empty((10, 0))], axis=1)
    tests, n_effective = [x.reshape(shape) for x in tests], n_effective.reshape(shape)
    # So many units of which none fails are needed, and more where differences vary.
    fewest = np.log(options.one_sided) / np.log1p(-margin)
    n = np.asarray(of.n_samples, np.float64)
    spread = of.standard_error * np.sqrt(n)
    gain = options.gain(of.difference)
    needed = samples_needed(gain, options.margin, (spread,) * 3, options)
    needed = needed + fewest * n / n_effective
    reason = ""
    if (short := n_effective < fewest).any():
        least = float(np.min(n_effective[short]))
        reason = (
            f"this margin needs at least {np.ceil(fewest):.0f} {unit}, and these are worth "
            f"{least:.4g}: a model that fails {100 * margin:.3g}% of all may fail none of so few"
        )
    intervals = [
        ConfidenceInterval(*(plain(largest * end) for end in tests[k : k + 2])) for k in (5, 7)
    ]
    return make_tests(
        of,
        options,
        tuple(tests[:5]),
        (intervals[0], intervals[1]),
        np.where(needed > n, needed, np.inf),
        method="bounded",
        reason=reason,
    )
