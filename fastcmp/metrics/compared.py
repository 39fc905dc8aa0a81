"""Two models compared by metrics, from cells of counts: tests and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    as_flag,
    as_level,
    as_proportion,
    as_resamples,
    as_seed,
    choose,
    keep_side,
)
from fastcmp.core.numbers import t_tail
from fastcmp.core.threads import ThreadPool
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.metrics.bootstrap import (
    INTERVALS,
    abc_interval,
    bootstrap_intervals,
    undefined_caution,
)
from fastcmp.metrics.cells import Cells, Counted, arranged
from fastcmp.metrics.estimators import Estimator
from fastcmp.metrics.intervals import (
    contributions,
    conventions,
    degrees_of,
    differing_labels,
    distances_apart,
    few_samples,
    standard_error,
)
from fastcmp.metrics.margins import (
    NO_VALUE,
    Bounds,
    bounded_draws,
    newcombe_limits,
    paired_counts,
    paired_interval,
)
from fastcmp.metrics.permutation import PermutationOutcome, is_exact, permutation_tests

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric

Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """A metric of two models on the same samples."""

    estimator: Estimator
    cells: Cells
    #: Confusion matrices of a and b.
    tables: tuple[Floats, Floats]
    value_a: float
    value_b: float

    @property
    def difference(self) -> float:
        """The metric of a minus that of b; 0 where all predictions agree."""
        return 0.0 if self.same else self.value_a - self.value_b

    @property
    def same(self) -> bool:
        """Whether the two models predict the same for all samples."""
        _, a, b = self.cells.codes.T
        return bool((a == b).all())


class Tested(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    pvalue: float
    status: int


class Errors(NamedTuple):
    """Standard errors of a difference, and of the two values."""

    difference: float
    a: float
    b: float


def pair_of(estimator: Estimator, cells: Cells) -> Pair:
    """Evaluate a metric of two models."""
    tables = cells.table(0), cells.table(1)
    value_a, value_b = estimator.values(np.stack(tables)).tolist()
    return Pair(estimator, cells, tables, value_a, value_b)


def pair_errors(pair: Pair, how: str, *, within_classes: bool = False) -> Errors:
    """Find standard errors by the jackknife or delta method; NaN where undefined."""
    cells = pair.cells
    psi = np.stack([contributions(pair.estimator, x, how) for x in pair.tables])
    both = cells.pick(psi[np.newaxis])[0]
    own = [psi[m][cells.codes[:, 0], cells.codes[:, 1 + m]] for m in range(2)]

    errors = [standard_error(cells, u, how, within_classes=within_classes) for u in (both, *own)]
    least = least_error(cells.n)
    return Errors(*(0.0 if error <= least else error for error in errors))


def least_error(n: float) -> float:
    """Bound the standard errors of values of size 1 that are nothing but rounding."""
    return float((1e-13 + 4.0 * np.finfo(np.float64).eps * n) / math.sqrt(max(n, 1.0)))


def ratio_error(pair: Pair) -> float:
    """Find the standard error of the log ratio, by the delta method."""
    if not (pair.value_a > 0.0 and pair.value_b > 0.0):
        return math.nan
    psi = np.stack(
        [
            pair.estimator.influence(table) / value
            for table, value in zip(pair.tables, (pair.value_a, pair.value_b), strict=True)
        ]
    )
    return math.sqrt(pair.cells.mean_square(pair.cells.pick(psi[np.newaxis])[0]))


def z_test(pair: Pair, error: float, alternative: str, df: float) -> Tested:
    """Compare the difference with its standard error: z, or t."""
    if pair.same or (error == 0.0 and pair.difference == 0.0):
        return Tested(0.0, 1.0, int(kernels.DEGENERATE))
    if not error > 0.0 or math.isnan(pair.difference):
        return Tested(math.nan, math.nan, int(kernels.UNDEFINED))
    return _tested(pair.difference / error, alternative, df)


def pooled_test(pair: Pair, alternative: str) -> Tested:
    """Compare two models by the influences at the counts of both together.

    Only samples with different predictions count; of accuracies it is McNemar's test.
    """
    if pair.same:
        return Tested(0.0, 1.0, int(kernels.DEGENERATE))
    if math.isnan(pair.difference):
        return Tested(math.nan, math.nan, int(kernels.UNDEFINED))
    psi = pair.estimator.influence(pair.tables[0] + pair.tables[1])
    u = pair.cells.pick(np.stack([psi, psi])[np.newaxis])[0]
    square = pair.cells.mean_square(u)
    if square == 0.0 and pair.difference == 0.0:
        return Tested(0.0, 1.0, int(kernels.DEGENERATE))
    if not square > 0.0:
        return Tested(math.nan, math.nan, int(kernels.UNDEFINED))
    total = float(pair.cells.counts @ u) / pair.cells.n
    return _tested(total / math.sqrt(square), alternative, math.inf)


def _tested(statistic: float, alternative: str, df: float) -> Tested:
    return Tested(statistic, float(t_tail(statistic, alternative, df)), int(kernels.OK))


def difference_interval(pair: Pair, error: float, level: float, df: float) -> tuple[float, float]:
    """The interval that is symmetric about the difference.

    None where nothing tells how the difference varies: all of a right, of b wrong.
    """
    if error == 0.0 and not pair.same:
        return math.nan, math.nan
    half = t_quantile(df, level) * error
    return pair.difference - half, pair.difference + half


def ratio_interval(pair: Pair, error: float, level: float, df: float) -> tuple[float, float]:
    """The interval of the ratio, on the log scale."""
    if math.isnan(error):
        return math.nan, math.nan
    ratio = pair.value_a / pair.value_b
    factor = math.exp(min(t_quantile(df, level) * error, 700.0))
    return ratio / factor, ratio * factor


METHODS = ("exact", "permutation", "pooled", "jackknife", "delta", "mover", "bootstrap", "abc")
DRAWN = ("permutation", "bootstrap")


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

    @property
    def bounded(self) -> bool:
        """Whether intervals are those that margins are tested by."""
        return self.margin or self.method in ("exact", "permutation", "pooled")

    def degrees(self, cells: Cells) -> float:
        """The degrees of freedom of a statistic."""
        return math.inf if self.df == "normal" else degrees_of(cells)


class Compared(NamedTuple):
    """One metric of two models, compared."""

    pair: Pair
    test: Tested
    method: str
    errors: Errors
    interval: tuple[float, float]
    interval_method: str
    ratio: float
    ratio_interval: tuple[float, float]
    n_configurations: float = 0
    cautions: tuple[str, ...] = ()
    #: By which margins are tested, unless the metric is a proportion; None where the
    #: interval is of another kind.
    bounds: Bounds | None = None


def read_options(given: Mapping[str, Any]) -> CompareOptions:
    """Check the options of a comparison of two models, of those that a user gave."""
    method, rng = given["method"], given["rng"]
    studentized = as_flag(given["studentized"], "studentized")
    alternative = choose(given["alternative"], "alternative", ALTERNATIVES)
    method = choose(method, "method", (*METHODS, None))
    if studentized and method not in (None, "exact", "permutation"):
        raise ValueError(f"studentized=True is for permutation tests, got method={method!r}")
    return CompareOptions(
        method=method,
        interval=choose(given["interval"], "interval", tuple(INTERVALS)),
        alternative=alternative,
        confidence_level=as_proportion(given["confidence_level"], "confidence_level"),
        level=as_level(given["confidence_level"], alternative),
        studentized=studentized,
        within_classes=as_flag(given["within_classes"], "within_classes"),
        n_resamples=as_resamples(given["n_resamples"]),
        seed=0 if method not in DRAWN and rng is None else as_seed(rng),
        df=choose(given["df"], "df", ("clusters", "normal")),
        margin=given["margin"] is not None,
    )


class _Bound(NamedTuple):
    """Metrics that are bound to the same classes, and the cells of two models."""

    classes: tuple[Any, ...]
    cells: Cells
    estimators: list[Estimator]


def _bind(counted: Counted, metrics: Sequence[Metric]) -> list[_Bound]:
    found = []
    for metric in map(counted.averaging, metrics):
        classes = metric.classes_of(counted.classes)
        cells = arranged(counted, classes)
        found.append(_Bound(classes, cells, metric.bind(classes)))
    return found


def choose_method(
    tables: Sequence[Counted], metrics: Sequence[Metric], options: CompareOptions
) -> CompareOptions:
    """Choose the test where none is named, the same for all; refuse what has no place.

    Exact permutation tests where all of them soon are, else "pooled".
    """
    cells, method = tables[0].cells, options.method
    default: str | None = None
    others: tuple[str, ...] = METHODS
    if cells.squares is not None:
        default = "delta"
        reason = "with sample_weight method is 'delta'"
    elif cells.clusters is not None:
        default, others = "delta", ("jackknife", "pooled", "mover", "abc")
        reason = "with groups method is 'delta', 'exact', 'permutation' or 'bootstrap'"
    if default is not None and method not in (None, default) and method in others:
        raise ValueError(f"{reason}, got {method!r}")
    if method is not None:
        return options
    if options.studentized:
        raise ValueError("studentized=True needs method='exact' or 'permutation'")
    if default is None:
        exact = all(
            is_exact(bound.estimators, bound.cells)
            for counted in tables
            for bound in _bind(counted, metrics)
        )
        default = "exact" if exact else "pooled"
    return options._replace(method=default)


def compare_counted(
    counted: Counted,
    metrics: Sequence[Metric],
    options: CompareOptions,
    names: tuple[str, str],
    pool: ThreadPool,
) -> list[Compared]:
    """Compare two models by metrics, from cells of counts; the method is chosen."""
    found = []
    for classes, cells, estimators in _bind(counted, metrics):
        tables = cells.table(0), cells.table(1)
        cautions: list[str] = []
        for estimator in estimators:
            for table in tables:
                estimator.check(table)
            cautions += conventions(estimator, tables, names, classes)
            cautions += differing_labels(estimator, tables, names, classes)
            cautions += distances_apart(estimator, tables, names, classes)
        cautions += few_samples(tables[0], classes)
        if np.array_equal(*cells.codes.T[1:]):
            cautions.append(f"{names[0]} and {names[1]} predict the same everywhere.")
        found += [
            each._replace(cautions=(*cautions, *each.cautions, *_disagreement(each, options)))
            for each in _compare_bound(estimators, cells, options, pool)
        ]
    return found


def _compare_bound(
    bound: list[Estimator], cells: Cells, options: CompareOptions, pool: ThreadPool
) -> list[Compared]:
    """Compare by metrics that are bound to the same classes, on the same draws."""
    method = str(options.method)
    pairs = [pair_of(estimator, cells) for estimator in bound]
    if method == "bootstrap":
        found = _bootstrapped(pairs, options, pool)
        return _bounded(found, options, pool) if options.margin else found
    outcomes: list[PermutationOutcome | None] = [None] * len(pairs)
    if method in ("exact", "permutation"):
        outcomes[:] = permutation_tests(
            bound,
            cells,
            alternative=options.alternative,
            studentized=options.studentized,
            exact=method == "exact",
            n_resamples=options.n_resamples,
            seed=options.seed,
            pool=pool,
        )
    found = [
        _compared(pair, outcome, method, options)
        for pair, outcome in zip(pairs, outcomes, strict=True)
    ]
    return _bounded(found, options, pool) if options.bounded else found


def _compared(
    pair: Pair, outcome: PermutationOutcome | None, method: str, options: CompareOptions
) -> Compared:
    """Test one metric, with intervals of the difference and the ratio by standard errors."""
    cells, cautions = pair.cells, tuple[str, ...]()
    counted = cells.clusters is None and cells.squares is None
    how = "delta" if method in ("delta", "abc") or not counted else "jackknife"
    errors = pair_errors(pair, how, within_classes=options.within_classes)
    df = options.degrees(cells)
    ends, shown = difference_interval(pair, errors.difference, options.level, df), how
    if outcome is not None:
        test = Tested(outcome.statistic, outcome.pvalue, outcome.status)
    elif method in ("pooled", "mover"):
        test = pooled_test(pair, options.alternative)
    elif method == "abc":
        abc = abc_interval(
            pair.estimator,
            cells,
            confidence_level=options.confidence_level,
            alternative=options.alternative,
        )
        ends, shown = (abc.low, abc.high), "abc"
        test = Tested(abc.estimate, abc.pvalue, abc.status)
        if abc.status == kernels.DEGENERATE:
            ends = difference_interval(pair, 0.0, options.level, df)
            test = z_test(pair, 0.0, options.alternative, df)
    else:
        test = z_test(pair, errors.difference, options.alternative, df)
    if math.isnan(test.pvalue) and not math.isnan(pair.difference) and outcome is None:
        test, told = without_variance(pair, options.alternative, errors.difference)
        cautions = (told,)
    if method == "mover":
        limits = newcombe_limits(pair.estimator, cells, options.level)
        if limits is None:
            raise ValueError(
                "method='mover' needs a metric that is a mean of recalls, such as "
                f"'balanced_accuracy', got {pair.estimator.name!r}"
            )
        ends, shown = limits, "newcombe"
    ratio = of_log = math.nan
    if pair.value_a > 0.0 and pair.value_b > 0.0:
        ratio, of_log = pair.value_a / pair.value_b, ratio_error(pair)
        if of_log == 0.0 and not pair.same:
            of_log = math.nan
    return Compared(
        pair,
        test,
        method,
        errors,
        _one_sided(ends, options, (-math.inf, math.inf)),
        shown,
        ratio,
        _one_sided(ratio_interval(pair, of_log, options.level, df), options, (0.0, math.inf)),
        n_configurations=0 if outcome is None else outcome.n_configurations,
        cautions=cautions,
    )


def without_variance(pair: Pair, alternative: str, error: float = 0.0) -> tuple[Tested, str]:
    """Test of two models whose difference has no standard error, and what to say of it.

    Exact where all exchanges of predictions can be looked at.
    """
    lead = f"No variance of the difference in {pair.estimator.title} was observed"
    if error != 0.0:
        lead = f"The difference in {pair.estimator.title} has no standard error"
    if pair.cells.squares is None and is_exact([pair.estimator], pair.cells):
        (found,) = permutation_tests(
            [pair.estimator], pair.cells, alternative=alternative, exact=True
        )
        return (
            Tested(math.nan, found.pvalue, int(kernels.DEGENERATE)),
            f"{lead}: the p-value is that of the exact permutation test.",
        )
    return (
        Tested(math.nan, math.nan, int(kernels.UNDEFINED)),
        f"{lead}, and there are too many exchanges of predictions to look at all: there is "
        "no test. method='permutation' has one.",
    )


#: Draws of an interval by which no margin is tested: its level is precise to 0.004.
_SHOWN = 1999


def _bounded(found: list[Compared], options: CompareOptions, pool: ThreadPool) -> list[Compared]:
    """Replace intervals by those of the tests against a margin: one procedure."""
    cells = found[0].pair.cells
    counts = [paired_counts(one.pair.estimator, cells) for one in found]
    drawn = iter(
        bounded_draws(
            [one.pair.estimator for one, own in zip(found, counts, strict=True) if own is None],
            cells,
            within_classes=options.within_classes,
            n_resamples=options.n_resamples if options.margin else min(options.n_resamples, _SHOWN),
            seed=options.seed,
            pool=pool,
        )
    )
    made = []
    for one, own in zip(found, counts, strict=True):
        bounds = None
        if own is not None:
            ends, shown = paired_interval(own, options.level)
        else:
            bounds = next(drawn)
            ends, shown = bounds.interval(options.level), "dirichlet"
        told = one.cautions
        if math.isnan(one.pair.difference):
            ends = math.nan, math.nan
        elif math.isnan(ends[0]):
            told += (f"No interval of the difference in {one.pair.estimator.title}: {NO_VALUE}.",)
        ends = _one_sided(ends, options, (-math.inf, math.inf))
        made.append(
            one._replace(interval=ends, interval_method=shown, bounds=bounds, cautions=told)
        )
    return made


def _one_sided(
    ends: tuple[float, float], options: CompareOptions, limits: tuple[float, float]
) -> tuple[float, float]:
    return keep_side(ends, options.alternative, limits)


def _bootstrapped(pairs: list[Pair], options: CompareOptions, pool: ThreadPool) -> list[Compared]:
    """Compare by the bootstrap: intervals of differences and ratios, and p-values."""
    drawn: dict[str, Any] = {
        "interval": options.interval,
        "confidence_level": options.confidence_level,
        "alternative": options.alternative,
        "within_classes": options.within_classes,
        "n_resamples": options.n_resamples,
        "seed": options.seed,
        "pool": pool,
    }
    bound, cells = [pair.estimator for pair in pairs], pairs[0].cells
    logs = [False] * len(bound) + [True] * len(bound)
    outcomes = bootstrap_intervals([*bound, *bound], cells, log=logs, **drawn)
    differences, ratios = outcomes[: len(bound)], outcomes[len(bound) :]
    found = []
    for pair, one, log in zip(pairs, differences, ratios, strict=True):
        told = undefined_caution(one.n_undefined, options.n_resamples)
        test = Tested(one.estimate, one.pvalue, one.status)
        if pair.same:
            test = Tested(0.0, 1.0, int(kernels.DEGENERATE))
        low, high = (math.exp(end) for end in (log.low, log.high))
        found.append(
            Compared(
                pair,
                test,
                "bootstrap",
                pair_errors(pair, "delta")._replace(difference=one.standard_error),
                (one.low, one.high),
                f"bootstrap, {options.interval}",
                math.exp(log.estimate) if log.estimate == log.estimate else math.nan,
                (low, high),
                cautions=() if told is None else (told,),
            )
        )
    return found


def _disagreement(found: Compared, options: CompareOptions) -> tuple[str, ...]:
    """Say that the interval and the test do not say the same."""
    low, high = found.interval
    if math.isnan(low) and found.interval_method == "abc" and not math.isnan(found.pair.difference):
        return (
            "The ABC interval has an end at which samples would have weights below 0, as may be "
            "with few: use method='bootstrap'.",
        )
    if math.isnan(low) or math.isnan(found.test.pvalue) or found.method == "bootstrap":
        return ()
    outside = not low <= 0.0 <= high
    rejected = found.test.pvalue <= 1.0 - options.confidence_level
    if outside == rejected:
        return ()
    return (
        f"The interval of {found.pair.estimator.title} and the test disagree about no "
        "difference: both are near the level.",
    )
