"""Margin tests from a difference and its standard error, and the decision.

Right and wrong answers differ by -1, 0 or 1, and so do their means by cluster. A normal
or t interval of such means errs far too often where few clusters differ: with 10
clusters of which a model fails 8% as a whole, none is seen failing in 43% of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import (
    are_counts_given,
    as_counts,
    as_flag,
    as_number,
    as_numbers,
    as_proportion,
    as_rate,
    choose,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_cdf, t_ppf, t_tail
from fastcmp.core.records import ConfidenceInterval, PairedCounts, unwrap
from fastcmp.core.typing import Floats, Ints, Numbers
from fastcmp.kernels import bounded_means
from fastcmp.kernels.cluster_means import POWER, margin_t, margin_t_many
from fastcmp.kernels.intervals import tango_margin_many
from fastcmp.kernels.margins_exact import tango_exact_margins
from fastcmp.paired.margin_result import (
    BETTER,
    CANNOT_TELL,
    EQUIVALENT,
    NOT_WORSE,
    WORSE,
    MarginDecision,
    MarginTests,
)
from fastcmp.paired.mcnemar_counts import CELLS, COUNTS, read_counts

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

    def gain(self, difference: Numbers) -> Any:
        """Turn differences so that above 0 model a is better."""
        return either(self.lower_is_better, -difference, difference)


_UNLIMITED = (-np.inf, np.inf)


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
    limits: tuple[float, float] = _UNLIMITED


def margins_of(of: Estimated, options: MarginOptions) -> MarginTests:
    """Test checked differences by their standard errors."""
    inputs: list[Any] = [of.difference, of.standard_error, options.margin]
    inputs += [np.inf if of.df is None else of.df, np.nan if of.n_samples is None else of.n_samples]
    levels = options.alpha, options.one_sided
    if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
        try:
            numbers = np.array(np.broadcast_arrays(*inputs), np.float64)
        except ValueError:
            raise BadValueError(
                "`difference`, standard_error, margin, df and n_samples must broadcast",
                ", ".join(str(np.shape(x)) for x in inputs),
            ) from None
        d, error, _, df, _ = numbers
        less = np.array(np.broadcast_to(options.lower_is_better, d.shape)).ravel()
        tests: Any = np.empty((10, *d.shape))
        margin_t_many(numbers.reshape(5, -1), levels, less, tests.reshape(10, -1))
        varies, student = bool((error > 0.0).all()), bool((df < np.inf).any())
    else:
        d, error, margin, df, n = map(float, inputs)
        tests = margin_t(d, error, margin, df, n, levels, bool(options.lower_is_better))
        varies, student = error > 0.0, df < np.inf
    ends = tests[5:9] if of.limits == _UNLIMITED else np.clip(tests[5:9], *of.limits)
    if of.pvalue is None:
        measured = either(error > 0.0, error, np.nan)  # else nothing measures the difference
        of = of._replace(pvalue=t_tail(d / measured, "two-sided", df))
    return make_tests(
        of._replace(difference=d, standard_error=error),
        options,
        tests[:5],
        (ConfidenceInterval(*map(plain, ends[:2])), ConfidenceInterval(*map(plain, ends[2:]))),
        None if of.n_samples is None else tests[9],
        method="t" if student else "z",
        df=df if student else None,
        reason="" if varies else NO_VARIANCE,
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
    above, below = intervals[0].low > 0.0, intervals[0].high < 0.0
    different = above | below if of.pvalue is None else of.pvalue <= options.alpha
    up, down = different & (of.difference > 0.0), different & (of.difference < 0.0)
    if of.pvalue is not None and of.alternative == "greater":
        down = below
    elif of.pvalue is not None and of.alternative == "less":
        up = above
    within = (pvalue_lower <= reached) & (pvalue_upper <= reached)
    met = either(turned, pvalue_upper, pvalue_lower) <= reached
    better, worse = either(turned, down, up), either(turned, up, down)
    decision, within, met = decide(better, worse, within, met)
    undecided = decision == CANNOT_TELL
    more = None if needed is None else 0
    # Samples beyond those at hand; 0 where there is a decision.
    if needed is not None and undecided is not False:
        more = np.maximum(np.ceil(needed) - of.n_samples, 1.0)
        more = either(undecided, either(np.isfinite(more), more, np.nan), 0.0)
        if not np.ndim(more):
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
        decision=decision,
        within_margin=within,
        margin_met=met,
        **fields,
    )


_CLAIMS = (BETTER, WORSE, EQUIVALENT, NOT_WORSE, CANNOT_TELL)


def decide(better: Any, worse: Any, within: Any, met: Any) -> MarginDecision:
    """Choose the first decision that holds, for each entry."""
    first = either(worse, 1, either(within, 2, either(met, 3, 4)))
    first = either(better, 0, first)
    if isinstance(first, int):
        return MarginDecision(_CLAIMS[first], bool(within), bool(met))
    shaped = first >= 0
    return MarginDecision(*map(plain, (np.array(_CLAIMS)[first], within & shaped, met & shaped)))


def samples_needed(
    gain: Numbers, margin: Numbers, spreads: tuple[Any, Any, Any], options: MarginOptions
) -> Any:
    """Count samples with which the nearest decision has a power of 80%.

    `spreads` are the standard deviations of one sample: if models are equal, at the
    margin, and as observed.
    """
    equal, at_margin, observed = spreads
    levels = 1.0 - POWER, options.alpha / 2, options.one_sided
    z_power, z_equal, z_margin = (-t_ppf(level, None) for level in levels)
    reach = gain + margin
    with np.errstate(all="ignore"):
        differs = (z_equal * equal + z_power * observed) / either(gain == 0.0, np.nan, gain)
        met = (z_margin * at_margin + z_power * observed) / either(reach > 0.0, reach, np.nan)
        return np.fmin(differs * differs, met * met)


def either(condition: Any, first: Any, second: Any) -> Any:
    """As `numpy.where`, which takes 20 times as long to choose one of two numbers."""
    if isinstance(condition, np.ndarray) or np.ndarray in (type(first), type(second)):
        return np.where(condition, first, second)
    return first if condition else second


def plain(values: Any) -> Any:
    """Numbers for arrays without axes."""
    alone = isinstance(values, (np.generic, np.ndarray)) and not values.ndim
    return values.item() if alone else values


_LOWER = "lower_is_better"


def as_margin(value: object, limit: float = np.inf, name: str = "margin") -> float:
    """Check a margin: above 0, and below the largest possible difference."""
    margin = as_number(value, name, "a number above 0")
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
        raise BadValueError(f"`{name}` must be above 0 and finite", f"{bad:g}")
    if np.any(margins >= limit):
        raise BadValueError(
            f"`{name}` must be below {limit:g}, the largest possible difference",
            f"{margins.max():g}",
        )
    return margins


def as_margin_alpha(value: object) -> float:
    """Check the level of margin tests: 1 - 2 alpha must be a level too."""
    alpha = as_proportion(value, "alpha")
    if alpha >= 0.5:
        raise BadValueError("`alpha` must be below 0.5 for margin tests", value)
    return alpha


def read_margin(
    margin: object, alpha: object = 0.05, limit: float = np.inf
) -> MarginOptions | None:
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
        raise BadValueError(f"`{name}` must be a lower and an upper end", f"shape {ends.shape}")
    if np.any(ends[0] > ends[1]):
        raise BadValueError(f"`{name}` must have its lower end first")
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


def stratum_units(only_a: Ints, only_b: Ints, sizes: Ints, weights: Floats) -> BoundedUnits:
    """Units of the weighted difference: samples of each stratum, counted by difference.

    From counts by stratum, shape (..., H).
    """
    gain = np.concatenate([weights, -weights, 0.0 * weights])
    count = np.concatenate([only_a, only_b, sizes - only_a - only_b], axis=-1)
    return BoundedUnits(gain, np.tile(weights, 3), count.astype(np.float64))


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
    margin, rows = float(options.margin) / largest, []
    for units in parts:
        turned = units._replace(gain=-units.gain)
        lower, upper = (-bounded_score(x, -margin) for x in (units, turned))
        better = -bounded_score(turned if options.lower_is_better else units, margin)
        columns = [lower, -upper, *t_cdf(-np.array([lower, upper, better]), None)]
        for alpha in (options.alpha, 2.0 * options.alpha):
            columns += bounded_interval(units, 1.0 - alpha)
        rows.append(np.stack(np.broadcast_arrays(*columns, units.n_effective)))
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


# Margin tests of two accuracies on the same samples, from the four counts.


TESTS_OF_COUNTS = ("auto", "score", "exact")
#: Samples up to which the default is the exact test: the score test's size is above its
#: level there, 0.053 to 0.071 for 0.05.
SMALL: Final = 200
_WORK = 2e6  # steps of exact tests that nobody asked for: two seconds
_MOST_WORK = 4e8  # that somebody did: a few minutes


def margin_tests(
    difference: ArrayLike | None = None,
    standard_error: ArrayLike | None = None,
    margin: ArrayLike | None = None,
    *,
    table: ArrayLike | PairedCounts | None = None,
    only_a: ArrayLike | None = None,
    only_b: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    df: ArrayLike | None = None,
    n_samples: ArrayLike | None = None,
    method: str | None = None,
    gamma: float | None = None,
    alpha: float = 0.05,
    strict: bool = False,
    lower_is_better: bool = False,
) -> MarginTests:
    """Test a difference against a margin: non-inferiority, superiority, equivalence.

    One decision follows: model a is better than b, worse, equivalent, not worse, or the
    samples cannot tell.

    Parameters
    ----------
    difference : array-like
        The measure of model a minus that of b. All arrays are broadcast.
    standard_error : array-like
        Of the difference, at least 0.
    margin : array-like
        The largest difference that does not matter, above 0; of counts below 1.
    table : array-like of int, shape (..., 2, 2), or PairCounts, optional
        In the place of an estimate, the samples that two models have right, as in
        `mcnemar`: tests of the difference of their accuracies.
    only_a, only_b, both_right, both_wrong : array-like of int, optional
        In the place of a table, as in `mcnemar`; all four.
    df : array-like, optional
        Degrees of freedom of t tests; without, z tests.
    n_samples : array-like of int, optional
        Samples behind the difference, from which follows how many more could tell.
    method : {"auto", "score", "exact"}, optional
        Of counts. "score": Tango's test, which is also Nam's, and his interval. "exact":
        the exact unconditional test by Tango's score, and the interval that inverts it.
        "auto" (default): exact up to 200 samples, unless there are very many tables, else
        the score.
    gamma : float, optional
        For exact tests: above 0 (default), maximise over an interval of the level
        1 - gamma for the probability of a discordant sample, and add gamma (Berger and
        Boos).
    alpha : float
        Error rate of each claim, in (0, 0.5).
    strict : bool
        Whether all claims follow from the one interval of the level 1 - alpha, and are
        right together with that probability.
    lower_is_better : bool
        Whether the measure is a cost or a loss.

    Returns
    -------
    MarginTests
        Statistics, p-values, intervals and the decision. Of counts, whether a is better or
        worse follows from the interval.

    Raises
    ------
    ValueError
        If a margin is not above 0, a standard error is negative, counts are impossible,
        shapes do not fit, or an option is unknown; for exact tests also if there are more
        than 10,000 samples, or too many tables.
    TypeError
        If they are not numbers, or estimates and counts are both given, or neither.

    See Also
    --------
    fastcmp.mcnemar : Its option `margin` gives these tests beside McNemar's.

    Notes
    -----
    With the difference D, statistics are (D + margin) / standard_error and
    (D - margin) / standard_error. Equivalence is shown by two one-sided tests (TOST),
    and its p-value is the larger of theirs. A standard error of 0 measures nothing:
    statistics and p-values are NaN, and the decision is "cannot tell".

    Of counts Wald's test is not offered: at the 5% level it errs in 9% to 21% of samples
    of 30 to 200. The exact p-value is the largest over all values of an unknown
    probability, the ends of its range included; a search of the range without them can
    miss it.

    References
    ----------
    .. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the
       power approach for assessing the equivalence of average bioavailability", J.
       Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.
    .. [2] T. Tango, "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design", Statistics in Medicine 17 (1998)
       891-908.
    .. [3] J.-M. Nam, "Establishing equivalence of two treatments and sample size
       requirements in matched-pairs design", Biometrics 53 (1997) 1422-1430.
    .. [4] H.-M. Hsueh, J.-P. Liu, J. J. Chen, "Unconditional exact tests for
       equivalence or noninferiority for paired binary endpoints", Biometrics 57 (2001)
       478-483.

    Examples
    --------
    >>> from fastcmp import margin_tests
    >>> tests = margin_tests(-0.002, 0.006, 0.02)
    >>> tests.decision, round(tests.equivalence_pvalue, 5)
    ('equivalent', 0.00135)
    >>> tests = margin_tests(table=[[9000, 210], [190, 600]], margin=0.02)
    >>> tests.decision, f"{tests.equivalence_pvalue:.1e}"
    ('equivalent', '4.8e-17')
    >>> tests = margin_tests(table=[[80, 5], [6, 9]], margin=0.05)
    >>> tests.decision, tests.n_more
    ('cannot tell', 355)
    """
    if margin is None:
        raise BadTypeError("`margin` must be given: the largest difference that does not matter")
    counted = dict(zip(COUNTS, (table, only_a, only_b, both_right, both_wrong), strict=True))
    data: dict[str, Any] = {"difference": difference, "standard_error": standard_error}
    with_errors, with_counts = (
        {"df": df, "n_samples": n_samples},
        {"method": method, "gamma": gamma},
    )
    by_counts = are_counts_given(data, counted, with_errors, with_counts)
    options = MarginOptions(
        as_margins(margin, 1.0) if by_counts else as_margins(margin),
        as_margin_alpha(alpha),
        as_flag(strict, "strict"),
        as_flag(lower_is_better, "lower_is_better"),
    )
    if by_counts:
        test = choose("auto" if method is None else method, "method", TESTS_OF_COUNTS)
        gamma = as_rate(0.0 if gamma is None else gamma, "gamma", "[0, 1)")
        if gamma and test == "score":
            raise BadValueError("`gamma` is for `method='exact'`", f"{gamma:g} for 'score'")
        counts, _ = read_counts(**counted)
        if len(counts) < len(CELLS):
            raise BadTypeError(
                "`margin` tests need all four counts: pass both_right and both_wrong"
            )
        n = sum(counts.values(), np.zeros((), np.int64))
        cells = (counts["only_a"], counts["only_b"], n)
        return accuracy_margins(cells, options, method=test, gamma=gamma)
    estimate = as_numbers(data["difference"], "difference").astype(np.float64)
    errors = as_numbers(data["standard_error"], "standard_error").astype(np.float64)
    if np.any(errors < 0.0):
        raise BadValueError("`standard_error` must be at least 0", f"{errors.min():g}")
    degrees = None if df is None else as_numbers(df, "df").astype(np.float64)
    if degrees is not None and not np.all(degrees > 0.0):
        raise BadValueError("`df` must be above 0", f"{degrees.min():g}")
    sizes = None
    if n_samples is not None:
        sizes = as_counts(n_samples, "n_samples").astype(np.float64)
    return margins_of(Estimated(estimate, errors, degrees, sizes), options)


def accuracy_margins(
    counts: tuple[Any, Any, Any],
    options: MarginOptions,
    *,
    method: str = "auto",
    gamma: float = 0.0,
    pvalue: Any = None,
    alternative: str = "two-sided",
    measure: str = "accuracy",
) -> MarginTests:
    """Test checked counts, only a, only b and all, against checked margins.

    `pvalue` is that of a test of equality, with its alternative, from which better and
    worse follow; for None they follow from the interval. Of losses the counts are those
    of 1 for a alone, and for b alone.
    """
    if options.lower_is_better:
        turned = {"greater": "less", "less": "greater"}
        return mirrored(
            accuracy_margins(
                (counts[1], counts[0], counts[2]),
                options._replace(lower_is_better=False),
                method=method,
                gamma=gamma,
                pvalue=pvalue,
                alternative=turned.get(alternative, alternative),
                measure=measure,
            )
        )
    arrays = np.broadcast_arrays(*counts, options.margin)
    a, b, n, margin = (np.array(x) for x in arrays)
    flat = (a.ravel(), b.ravel(), n.ravel(), margin.ravel())
    columns = np.empty((10, a.size))
    tango_margin_many(*flat, options.alpha, columns)
    answers = _exact(flat, method, options.alpha, gamma)
    if answers is not None:
        columns[:9] = answers
    rows = [unwrap(row.copy(), a.shape) for row in columns]
    intervals = ConfidenceInterval(*rows[5:7]), ConfidenceInterval(*rows[7:9])
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, discordant = (a - b) / n, (a + b) / n
        spreads = (
            np.sqrt(discordant),
            np.sqrt(rows[9] / n),
            np.sqrt(np.maximum(discordant - difference**2, 0.0)),
        )
    needed = samples_needed(difference, margin, spreads, options)
    of = Estimated(
        difference, None, n_samples=n, pvalue=pvalue, alternative=alternative, measure=measure
    )
    return make_tests(
        of,
        options,
        tuple(rows[:5]),
        intervals,
        needed,
        method="score" if answers is None else "exact",
    )


def mirrored(tests: MarginTests) -> MarginTests:
    """Turn tests of right answers into those of losses: differences change sign."""
    outer, inner = (
        ConfidenceInterval(plain(0.0 - x.high), plain(0.0 - x.low))
        for x in (tests.interval, tests.inner_interval)
    )
    return replace(
        tests,
        difference=plain(0.0 - tests.difference),
        statistic_lower=plain(0.0 - tests.statistic_upper),
        statistic_upper=plain(0.0 - tests.statistic_lower),
        pvalue_lower=tests.pvalue_upper,
        pvalue_upper=tests.pvalue_lower,
        interval=outer,
        inner_interval=inner,
        lower_is_better=True,
    )


def _exact(tables: tuple[Any, ...], method: str, alpha: float, gamma: float) -> Floats | None:
    """Test each different table once; None where the score is to be used."""
    a, b, n, margin = tables
    largest = int(n.max(initial=0))
    limit = kernels.MARGIN_EXACT_MAX_N
    if method == "score" or (method == "auto" and largest > SMALL):
        return None
    if largest > limit:
        raise BadValueError(
            f"`method='exact'` takes at most {limit} samples",
            largest,
            ": use `method='score'`, which is close at that size",
        )
    distinct, which = np.unique(margin, return_inverse=True)
    keys = np.ravel_multi_index((which, n, a, b), (distinct.size, *[limit + 1] * 3))
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    work = float(np.sum(n[first] * (13.0 * np.sqrt(n[first]) + 64.0)))
    if work > _WORK and method == "auto":
        return None
    if work > _MOST_WORK:
        raise BadValueError(
            f"`method='exact'` takes too long for {first.size} different tables of up to "
            f"{largest} samples",
            remedy=": use `method='score'`",
        )
    answers = np.empty((first.size, 9))
    # Run as Python that calls machine code: Ctrl-C is answered between the parts.
    test = tango_exact_margins.py_func  # type: ignore[attr-defined]
    for k, answer in zip(first, answers, strict=True):
        test(a[k], b[k], n[k], margin[k], alpha, gamma, answer)
    return answers[where.ravel()].T
