"""Two models compared by metrics, from cells of counts: tests and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    as_flag,
    as_level,
    as_resamples,
    as_seed,
    choose,
    keep_side,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import ThreadPool
from fastcmp.metrics.bootstrap import (
    INTERVALS,
    abc_interval,
    bootstrap_intervals,
    log_of,
    undefined_cautions,
)
from fastcmp.metrics.cells import Cells
from fastcmp.metrics.choice import Bound
from fastcmp.metrics.intervals import conventions, differing_labels, distances_apart, few_samples
from fastcmp.metrics.margins import (
    NO_VALUE,
    Bounds,
    bounded_draws,
    newcombe_limits,
    paired_counts,
    paired_interval,
)
from fastcmp.metrics.pair_tests import (
    Exchanges,
    Pair,
    Tested,
    difference_interval,
    exact_exchanges,
    pair_of,
    permutation_tests,
    pooled_test,
    ratio_interval,
    standard_errors,
    without_variance,
    z_test,
)

Ends = tuple[float, float]

METHODS = ("exact", "permutation", "pooled", "jackknife", "delta", "mover", "bootstrap", "abc")
EXCHANGED = ("exact", "permutation")
DRAWN = ("permutation", "bootstrap")
#: Draws of an interval by which no margin is tested: its level is precise to 0.004.
_SHOWN = 1999
_EVERYWHERE = (-math.inf, math.inf)


class CompareOptions(NamedTuple):
    """How two models are compared."""

    #: None for the exact permutation test where it can be had, else "pooled".
    method: str | None
    interval: str
    alternative: str
    confidence_level: float
    #: Of the two-sided interval to work out.
    level: float
    studentized: bool
    within_classes: bool
    n_resamples: int
    seed: int
    #: "clusters" for t with as many degrees of freedom, less 1, or "normal".
    df: str = "clusters"
    #: Whether there is a margin: intervals are then those of its tests.
    margin: bool = False

    def degrees(self, cells: Cells) -> float:
        """The degrees of freedom of a statistic."""
        return math.inf if self.df == "normal" else cells.df


class ComparedMetric(NamedTuple):
    """One metric of two models, compared."""

    pair: Pair
    test: Tested
    #: Of the difference, and of both values.
    standard_errors: tuple[float, float, float]
    interval: Ends
    interval_method: str
    ratio: float
    ratio_interval: Ends
    n_configurations: float = 0
    cautions: tuple[str, ...] = ()
    #: By which margins are tested, unless the metric is a proportion; None where the
    #: interval is of another kind.
    bounds: Bounds | None = None


def read_options(options: Mapping[str, Any]) -> CompareOptions:
    """Check the options of a comparison of two models, of those that a user gave."""
    method, rng = options["method"], options["rng"]
    studentized = as_flag(options["studentized"], "studentized")
    alternative = choose(options["alternative"], "alternative", ALTERNATIVES)
    method = choose(method, "method", (*METHODS, None))
    if studentized and method not in (None, *EXCHANGED):
        raise BadValueError("`studentized=True` is for permutation tests", f"`method={method!r}`")
    return CompareOptions(
        method=method,
        interval=choose(options["interval"], "interval", tuple(INTERVALS)),
        alternative=alternative,
        level=as_level(options["confidence_level"], alternative),
        confidence_level=float(options["confidence_level"]),
        studentized=studentized,
        within_classes=as_flag(options["within_classes"], "within_classes"),
        n_resamples=as_resamples(options["n_resamples"]),
        seed=0 if method not in DRAWN and rng is None else as_seed(rng),
        df=choose(options["df"], "df", ("clusters", "normal")),
        margin=options["margin"] is not None,
    )


def choose_method(
    bounds: Sequence[Bound], options: CompareOptions
) -> tuple[CompareOptions, list[Exchanges | None]]:
    """The options with a test, the same for all, and exchanges; refuses options that do not fit it.

    Exact permutation tests where all of them soon are, else "pooled".
    """
    exchanges: list[Exchanges | None] = [None] * len(bounds)
    cells, method = bounds[0].cells, options.method
    default: str | None = None
    others: tuple[str, ...] = METHODS
    if cells.squares is not None:
        default = "delta"
        reason = "with sample_weight `method` is 'delta'"
    elif cells.clusters is not None:
        default, others = "delta", ("jackknife", "pooled", "mover", "abc")
        reason = "with groups `method` is 'delta', 'exact', 'permutation' or 'bootstrap'"
    if default is not None and method not in (None, default) and method in others:
        raise BadValueError(reason, repr(method))
    if method is not None:
        return options, exchanges
    if options.studentized:
        raise BadValueError("`studentized=True` needs `method='exact'` or 'permutation'")
    if default is None:
        for i, bound in enumerate(bounds):
            exchanges[i] = exact_exchanges(bound.estimators, bound.cells)
            if exchanges[i] is None:
                break
        default = "pooled" if None in exchanges else "exact"
    return options._replace(method=default), exchanges


def compare_bound(
    bound: Bound,
    exchanges: Exchanges | None,
    options: CompareOptions,
    names: tuple[str, str],
    pool: ThreadPool,
) -> list[ComparedMetric]:
    """Compare two models by metrics of the same classes; the method is chosen."""
    classes, cells, estimators = bound
    pairs = [pair_of(estimator, cells) for estimator in estimators]
    tables = pairs[0].tables
    cautions: list[str] = []
    for estimator in estimators:
        for table in tables:
            estimator.check(table)
        for caution in (conventions, differing_labels, distances_apart):
            cautions += caution(estimator, tables, names, classes)
    cautions += few_samples(tables[0], classes)
    if pairs[0].same:
        cautions.append(f"{names[0]} and {names[1]} predict the same everywhere.")
    if options.method == "bootstrap":
        comparisons = _bootstrapped(pairs, options, pool)
    else:
        comparisons = _tested(pairs, exchanges, options, pool)
    if options.margin or options.method in (*EXCHANGED, "pooled"):
        comparisons = _bounded(comparisons, options, pool)
    return [
        one._replace(cautions=(*cautions, *one.cautions, *_disagreement(one, options)))
        for one in comparisons
    ]


def _bootstrapped(
    pairs: list[Pair], options: CompareOptions, pool: ThreadPool
) -> list[ComparedMetric]:
    """Compare by the bootstrap: intervals of differences and ratios, and p-values."""
    estimators = [pair.estimator for pair in pairs]
    outcomes = bootstrap_intervals(
        [*estimators, *map(log_of, estimators)],
        pairs[0].cells,
        interval=options.interval,
        confidence_level=options.confidence_level,
        alternative=options.alternative,
        within_classes=options.within_classes,
        n_resamples=options.n_resamples,
        seed=options.seed,
        pool=pool,
    )
    differences, ratios = outcomes[: len(pairs)], outcomes[len(pairs) :]
    comparisons = []
    for pair, one, log in zip(pairs, differences, ratios, strict=True):
        test = Tested(one.estimate, one.pvalue, one.status)
        if pair.same:
            test = Tested(0.0, 1.0, int(kernels.DEGENERATE))
        comparisons.append(
            ComparedMetric(
                pair,
                test,
                (one.standard_error, *standard_errors(pair, "delta")[1:]),
                (one.low, one.high),
                f"bootstrap, {options.interval}",
                math.exp(log.estimate) if log.estimate == log.estimate else math.nan,
                (math.exp(log.low), math.exp(log.high)),
                cautions=undefined_cautions(one, options.n_resamples),
            )
        )
    return comparisons


def _tested(
    pairs: list[Pair], exchanges: Exchanges | None, options: CompareOptions, pool: ThreadPool
) -> list[ComparedMetric]:
    """Compare by a test, with intervals of differences and ratios by standard errors."""
    cells, method, side = pairs[0].cells, options.method, options.alternative
    df, level = options.degrees(cells), options.level
    counted = cells.clusters is None and cells.squares is None
    how = "delta" if method in ("delta", "abc") or not counted else "jackknife"
    permuted = []
    if method in EXCHANGED:
        permuted = permutation_tests(
            [pair.estimator for pair in pairs],
            Exchanges(cells) if exchanges is None else exchanges,
            alternative=side,
            studentized=options.studentized,
            exact=method == "exact",
            n_resamples=options.n_resamples,
            seed=options.seed,
            pool=pool,
        )
    comparisons = []
    for i, pair in enumerate(pairs):
        estimator = pair.estimator
        errors = standard_errors(pair, how, within_classes=options.within_classes)
        ends, interval_method = difference_interval(pair, errors[0], level, df), how
        cautions: list[str] = []
        if permuted:
            test = Tested(*permuted[i][:3])
        elif method in ("pooled", "mover"):
            test = pooled_test(pair, side)
        else:
            test = z_test(pair, errors[0], side, df)
        if method == "abc":
            abc = abc_interval(
                estimator, cells, confidence_level=options.confidence_level, alternative=side
            )
            ends, interval_method = (abc.low, abc.high), "abc"
            test = Tested(abc.estimate, abc.pvalue, abc.status)
            if abc.status == kernels.DEGENERATE:
                ends = difference_interval(pair, 0.0, level, df)
                test = z_test(pair, 0.0, side, df)
        if math.isnan(test.pvalue) and not math.isnan(pair.difference) and not permuted:
            test, *cautions = without_variance(pair, side, errors[0])
        if method == "mover":
            limits, interval_method = newcombe_limits(estimator, cells, level), "newcombe"
            if limits is None:
                raise BadValueError(
                    "`method='mover'` needs a metric that is a mean of recalls, such as "
                    "'balanced_accuracy'",
                    repr(estimator.name),
                )
            ends = limits
        ratio, ratio_ends = ratio_interval(pair, level, df)
        comparisons.append(
            ComparedMetric(
                pair,
                test,
                errors,
                keep_side(ends, side, _EVERYWHERE),
                interval_method,
                ratio,
                keep_side(ratio_ends, side, (0.0, math.inf)),
                permuted[i].n_configurations if permuted else 0,
                tuple(cautions),
            )
        )
    return comparisons


def _bounded(
    comparisons: list[ComparedMetric], options: CompareOptions, pool: ThreadPool
) -> list[ComparedMetric]:
    """Replace intervals by those of the tests against a margin: one procedure."""
    cells = comparisons[0].pair.cells
    counts = [paired_counts(one.pair.estimator, cells) for one in comparisons]
    drawn = iter(
        bounded_draws(
            [
                x.pair.estimator
                for x, paired in zip(comparisons, counts, strict=True)
                if paired is None
            ],
            cells,
            within_classes=options.within_classes,
            n_resamples=options.n_resamples if options.margin else min(options.n_resamples, _SHOWN),
            seed=options.seed,
            pool=pool,
        )
    )
    bounded = []
    for one, paired in zip(comparisons, counts, strict=True):
        bounds, cautions = None, one.cautions
        if paired is not None:
            ends, interval_method = paired_interval(paired, options.level)
        else:
            bounds = next(drawn)
            ends, interval_method = bounds.interval(options.level), "dirichlet"
        if math.isnan(one.pair.difference):
            ends = math.nan, math.nan
        elif math.isnan(ends[0]):
            title = one.pair.estimator.title
            cautions += (f"No interval of the difference in {title}: {NO_VALUE}.",)
        ends = keep_side(ends, options.alternative, _EVERYWHERE)
        bounded.append(
            one._replace(
                interval=ends, interval_method=interval_method, bounds=bounds, cautions=cautions
            )
        )
    return bounded


def _disagreement(comparison: ComparedMetric, options: CompareOptions) -> tuple[str, ...]:
    """The caution that the interval and the test disagree."""
    low, high = comparison.interval
    if (
        math.isnan(low)
        and comparison.interval_method == "abc"
        and not math.isnan(comparison.pair.difference)
    ):
        return (
            "The ABC interval has an end at which samples would have weights below 0, as may be "
            "with few: use method='bootstrap'.",
        )
    if math.isnan(low) or math.isnan(comparison.test.pvalue) or options.method == "bootstrap":
        return ()
    outside = not low <= 0.0 <= high
    rejected = comparison.test.pvalue <= 1.0 - options.confidence_level
    if outside == rejected:
        return ()
    return (
        f"The interval of {comparison.pair.estimator.title} and the test disagree about no "
        "difference: both are near the level.",
    )
