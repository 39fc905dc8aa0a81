"""The value of a metric of one model, its standard error and an interval.

An interval is symmetric on the scale on which the metric is nearest to normal; where a
metric is a proportion, or a mean of proportions, Wilson's limits are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from fastcmp import kernels
from fastcmp.core.numbers import wilson_interval
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.metrics.cells import Cells
from fastcmp.metrics.estimators import Estimator, KernelEstimator, Proportions

Floats = NDArray[np.float64]

#: How intervals of one model are made, besides by resampling.
OF_PROPORTIONS = ("wilson", "clopper-pearson", "score", "mover")
METHODS = (*OF_PROPORTIONS, "combined", "jackknife", "delta")
_MOST_CORRELATED = 32  # classes; with more the jackknife's interval is the longest
SCALES = ("identity", "logit", "atanh", "log")


class Estimate(NamedTuple):
    """A metric of one model."""

    value: float
    standard_error: float = math.nan
    low: float = math.nan
    high: float = math.nan
    #: Such as "wilson", "score", "combined, logit".
    method: str = ""
    status: int = int(kernels.UNDEFINED)


def estimate(  # the metric, the samples, and how they make an interval
    estimator: Estimator,
    cells: Cells,
    level: float,
    method: str | None = None,
    scale: str | None = None,
    *,
    within_classes: bool = False,
) -> Estimate:
    """The estimate of a metric of one model, with an interval by `method` on `scale`.

    By default Wilson's interval for a proportion, the score interval for a mean of recalls,
    "combined" for other metrics with two ends, else that of the delta method.
    """
    if method in OF_PROPORTIONS:
        _check_proportions(estimator, method)
    table = cells.table()
    value = estimator.value(table)
    if _is_convention(estimator, table, value):
        return Estimate(value)
    counted = cells.clusters is None and cells.squares is None
    plain = counted and not within_classes
    if method in (*OF_PROPORTIONS, "combined") and not plain:
        raise ValueError(
            f"method={method!r} is for independent samples: with groups=, sample_weight= or "
            "within_classes=True pass method='delta' or 'jackknife'"
        )
    of = estimator.proportions(table)
    if method is None and scale is None and plain:
        method = _default(estimator, of)
    how = method or ("delta" if estimator.entry.scale == "log" else "jackknife")
    by = "delta" if how == "delta" or not counted else "jackknife"
    u = cells.pick(contributions(estimator, table, by)[np.newaxis, np.newaxis])[0]
    error = standard_error(cells, u, by, within_classes=within_classes)
    if scale is None:
        keeps = how != "delta" or estimator.entry.scale == "log"
        scale = estimator.entry.scale if keeps else "identity"
    moves = bool(estimator.influence(table)[table > 0].any())
    times = t_quantile(degrees_of(cells), level)
    other = None
    if method == "combined":
        (other,) = _smoothed_limits(estimator, table[np.newaxis], [of], level)
    label = by if scale == "identity" else f"{by}, {scale}"
    return _with_limits(
        estimator, value, error, of, method, scale, label, level, times, other, moves=moves
    )


def estimate_tables(
    estimator: Estimator, tables: Floats, level: float, errors: Floats | None = None
) -> list[Estimate]:
    """Estimates of a metric from confusion matrices of counted samples, as by `estimate`.

    `errors` are standard errors by the jackknife, of ratios by the delta method.
    """
    scale, values = estimator.entry.scale, estimator.values(tables)
    by = "delta" if scale == "log" else "jackknife"
    psi = estimator.influences(tables)
    if errors is None:
        u = psi if scale == "log" else jackknife_influences(estimator, tables)
        n = tables.sum(axis=(1, 2))
        freedom = n if scale == "log" else np.maximum(n - 1.0, 1.0)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt((tables * u * u).sum(axis=(1, 2)) / (n * freedom))
    moves = ((psi != 0.0) & (tables > 0.0)).any(axis=(1, 2)).tolist()
    times, label = t_quantile(math.inf, level), by if scale == "identity" else f"{by}, {scale}"
    defined = [
        i
        for i, value in enumerate(values.tolist())
        if not _is_convention(estimator, tables[i], value)
    ]
    estimates = [Estimate(value) for value in values.tolist()]
    of = {i: estimator.proportions(tables[i]) for i in defined}
    methods = {i: _default(estimator, of[i]) for i in defined}
    combined = [i for i in defined if methods[i] == "combined"]
    outer = _smoothed_limits(estimator, tables[combined], [of[i] for i in combined], level)
    others = dict(zip(combined, outer, strict=True))
    for i in defined:
        value, error, limits = float(values[i]), float(errors[i]), others.get(i)
        estimates[i] = _with_limits(
            *(estimator, value, error, of[i], methods[i], scale, label, level, times, limits),
            moves=moves[i],
        )
    return estimates


def _is_convention(estimator: Estimator, table: Floats, value: float) -> bool:
    """Whether a value is undefined, or a convention for 0/0, which has no interval."""
    marks = estimator.without_samples(table)
    if math.isnan(value) or marks is None or not marks.any():
        return math.isnan(value)
    return bool((marks == estimator.averaged(table)).all())


def _with_limits(
    estimator: Estimator,
    value: float,
    error: float,
    of: Proportions | None,
    method: str | None,
    scale: str,
    label: str,
    level: float,
    times: float,
    other: tuple[float, float] | None,
    *,
    moves: bool,
) -> Estimate:
    """The estimate with its interval: of proportions, or symmetric on a scale.

    `moves` where some sample moves the metric.
    """
    if method in OF_PROPORTIONS:
        if of is None:
            return Estimate(value, error, method=method)
        if method == "score":
            low, high = score_limits(of, level)
        else:
            low, high = mover_limits(of, level, exact=method == "clopper-pearson")
        return Estimate(value, error, low, high, method, int(kernels.OK))
    least, most = estimator.entry.limits
    if (error == 0.0 or not moves) and (least < value < most or method != "combined"):
        return Estimate(value, 0.0, method=label, status=int(kernels.DEGENERATE))
    low, high = limits_on(scale, value, error, times)
    if other is not None:
        # The outer ends of two intervals, each of which is too short somewhere.
        label = f"combined, {scale}"
        if not math.isnan(other[0]):
            ends = [x for x in (low, value, high, *other) if not math.isnan(x)]
            low, high = max(min(ends), least), min(max(ends), most)
    status = kernels.UNDEFINED if math.isnan(low) else kernels.OK
    return Estimate(value, error, low, high, label, int(status))


def _check_proportions(estimator: Estimator, method: str) -> None:
    """Refuse the limits of proportions for a metric that is not made of them."""
    of = estimator.proportions(np.ones((estimator.n_classes,) * 2))
    one = of is not None and of.trials.size == 1
    if of is None or (method in ("wilson", "clopper-pearson") and not one):
        fitting = "means of rates of classes" if method in ("score", "mover") else "single rates"
        raise ValueError(
            f"method={method!r} is for {fitting}, such as "
            f"{'balanced accuracy' if method in ('score', 'mover') else 'recall or F1'}, "
            f"got {estimator.name!r}: pass method='combined' or 'jackknife'"
        )
    if method == "score" and not of.are_independent:
        raise ValueError(
            "method='score' is for means of recalls or precisions, which are of different "
            f"samples, got {estimator.name!r}: pass method='combined' or 'jackknife'"
        )


def _default(estimator: Estimator, of: Proportions | None) -> str | None:
    if of is not None and of.are_independent:
        if of.trials.size == 1 and of.constant == 0.0 and of.weights[0] == 1.0:
            return "wilson"
        if not of.are_precisions:
            return "score"
    if not isinstance(estimator, KernelEstimator) or estimator.entry.scale not in (
        "logit",
        "atanh",
    ):
        return None
    weights = estimator.penalty[~np.eye(len(estimator.penalty), dtype=bool)]
    # Samples that are spread over all cells would weigh too much where errors differ in weight.
    return "combined" if (weights == weights[:1]).all() else None


def _smoothed_limits(
    estimator: Estimator, tables: Floats, of: Sequence[Proportions | None], level: float
) -> list[tuple[float, float]]:
    """Limits that see variance in a class that is always right, or never; the jackknife sees none.

    MOVER's of a mean of rates, with the correlations of the classes at the counts with two
    more samples, spread evenly over all cells; of other metrics the delta method's there.
    """
    smooth = tables + 2.0 / estimator.n_classes**2
    classes = [
        None if x is None or x.classes is None or x.classes.size > _MOST_CORRELATED else x.classes
        for x in of
    ]
    if not isinstance(estimator, KernelEstimator) or estimator.spec.average != kernels.MACRO:
        classes = [None] * len(of)
    labels = np.unique(np.concatenate([x for x in classes if x is not None] or [np.empty(0, int)]))
    psi = np.empty((labels.size, *smooth.shape))
    for label, out in zip(labels.tolist(), psi, strict=True):
        assert isinstance(estimator, KernelEstimator)
        spec = estimator.spec._replace(average=kernels.ONE_CLASS, label=label)
        kernels.metric_influences(smooth, spec, estimator.listed, estimator.penalty, out)
    psi *= np.sqrt(smooth)
    z, intervals = t_quantile(math.inf, level), []
    for i, (of_classes, x) in enumerate(zip(classes, of, strict=True)):
        if of_classes is not None and x is not None:
            class_psi = psi[np.searchsorted(labels, of_classes), i]
            covariance = np.einsum("iab,jab->ij", class_psi, class_psi)
            errors = np.sqrt(np.diagonal(covariance))
            intervals.append(mover_limits(x, level, covariance / np.outer(errors, errors)))
            continue
        error = float(estimator.standard_errors(smooth[i : i + 1])[0])
        intervals.append(limits_on(estimator.entry.scale, estimator.value(smooth[i]), error, z))
    return intervals


# Limits of proportions, and of weighted sums of them.


def rate_limits(of: Proportions, level: float, *, exact: bool = False) -> tuple[Floats, ...]:
    """Each proportion with Wilson's limits, or Clopper and Pearson's; as F1 if that is meant."""
    rate = of.successes / of.trials
    if exact:
        tail, x, failures = 0.5 * (1.0 - level), of.successes, of.trials - of.successes
        low = np.where(x > 0, betaincinv(np.maximum(x, 0.5), failures + 1.0, tail), 0.0)
        high = np.where(
            failures > 0, betaincinv(x + 1.0, np.maximum(failures, 0.5), 1.0 - tail), 1.0
        )
    else:
        low, high = wilson_interval(rate, of.trials, float(-ndtri(0.5 * (1.0 - level))))
    if of.as_f1:
        return tuple(2.0 * x / (1.0 + x) for x in (rate, low, high))
    return rate, low, high


def mover_limits(
    of: Proportions, level: float, correlations: Floats | None = None, *, exact: bool = False
) -> tuple[float, float]:
    """Combine the limits of all proportions: Zou and Donner's MOVER.

    Distances from the estimate add up as standard deviations do: of independent proportions
    without `correlations`.
    """
    rate, low, high = rate_limits(of, level, exact=exact)
    middle = float(of.weights @ rate) + of.constant
    down, up = of.weights * (rate - low), of.weights * (high - rate)
    if correlations is None:
        correlations = np.eye(rate.size)
    return (
        middle - float(np.sqrt(down @ correlations @ down)),
        middle + float(np.sqrt(up @ correlations @ up)),
    )


def score_limits(of: Proportions, level: float) -> tuple[float, float]:
    """Score limits of a sum of independent proportions: Wilson's, where there is one.

    A sum lies within them if its distance from the estimate is at most z standard errors,
    those of the likeliest proportions that have this sum.
    """
    if of.trials.size == 1:
        return mover_limits(of, level)
    z = float(-ndtri(0.5 * (1.0 - level)))
    low = _lowest_sum(of.successes, of.trials, of.weights, z)
    high = of.weights.sum() - _lowest_sum(of.trials - of.successes, of.trials, of.weights, z)
    return low + of.constant, float(high + of.constant)


def _lowest_sum(x: Floats, n: Floats, weights: Floats, z: float) -> float:
    if not x.any():
        return 0.0
    estimate = float(weights @ (x / n))

    def at(multiplier: float) -> tuple[float, float]:
        """The sum for a Lagrange multiplier, and how far it is beyond the limit."""
        slope = multiplier * weights
        root = np.sqrt((n - slope) ** 2 + 4.0 * slope * (n - x))
        p = np.minimum(2.0 * x / (n + slope + root), 1.0)
        total, variance = float(weights @ p), float((weights**2 * p * (1.0 - p) / n).sum())
        return total, estimate - total - z * math.sqrt(variance)

    below, above, tiny = 0.0, z * float(np.sqrt(n.sum()) / weights.max()), 1e-12 * estimate
    while (far := at(above)[1]) <= tiny:
        below, above = above, 4.0 * above
    near, side = at(below)[1], 0
    for _ in range(100):  # the Illinois rule: an end that stays counts half
        middle = 0.5 * (below + above)
        if near < -tiny:
            middle = above - far * (above - below) / (far - near)
        total, beyond = at(middle)
        if above - below <= 1e-12 * above or 0.0 < abs(beyond) < tiny:
            break
        if beyond > tiny:
            above, far, near = middle, beyond, near * (0.5 if side > 0 else 1.0)
        else:
            below, near, far = middle, beyond, far * (0.5 if side < 0 else 1.0)
        side = 1 if beyond > tiny else -1
    return total


def degrees_of(cells: Cells) -> float:
    """The degrees of freedom of t: infinite without clusters."""
    return math.inf if cells.clusters is None else float(max(cells.clusters.n - 1, 1))


def contributions(estimator: Estimator, table: Floats, how: str) -> Floats:
    """Contributions of a sample of each cell, (K, K), of mean 0.

    By the delta method the influences, by the jackknife pseudo-values less their mean.
    """
    if how == "delta":
        return estimator.influence(table)
    return np.asarray(jackknife_influences(estimator, table[np.newaxis])[0])


def jackknife_influences(estimator: Estimator, tables: Floats, weight: float = 1.0) -> Floats:
    """How each cell moves a metric, from the metric without a sample of it.

    ``(n - 1) (mean - without)``, (b, K, K): the sum of squares over samples, divided by
    n (n - 1), is the jackknife variance. NaN in cells without which the metric is not
    defined. `weight` is what a sample counts; cells that weigh less are 0.
    """
    # The metric does not change where all counts are divided by one number.
    scaled = tables / weight
    cells = scaled >= 1.0
    left = np.stack([estimator.leave_one_out(table) for table in scaled])
    left[~cells] = 0.0
    samples = np.where(cells, scaled, 0.0)
    with np.errstate(invalid="ignore"):  # a stratum without any of the samples
        middle = (samples * left).sum(axis=(1, 2)) / samples.sum(axis=(1, 2))
    n_left = scaled.sum(axis=(1, 2)) - 1.0
    apart = middle[:, np.newaxis, np.newaxis] - left
    return np.where(cells, n_left[:, np.newaxis, np.newaxis] * apart, 0.0)


def standard_error(cells: Cells, u: Floats, how: str, *, within_classes: bool = False) -> float:
    """Turn what a sample of each cell contributes into a standard error."""
    if not np.isfinite(u).all():
        return math.nan
    square = cells.mean_square(u, within_classes=within_classes)
    if how == "jackknife" and cells.n > 1:
        square *= cells.n / (cells.n - 1.0)
    return math.sqrt(square)


def limits_on(scale: str, value: float, error: float, times: float) -> tuple[float, float]:
    """Limits that are symmetric on a scale; NaN where it has no such value."""
    half = times * error
    if scale == "identity":
        return value - half, value + half
    with np.errstate(all="ignore"):
        if scale == "log":
            if not value > 0.0:
                return math.nan, math.nan
            ratio = half / value
            return value * math.exp(-ratio), value * math.exp(min(ratio, 700.0))
        if scale == "logit":
            if not 0.0 < value < 1.0:
                return math.nan, math.nan
            step = half / (value * (1.0 - value))
            return _moved_logit(value, -step), _moved_logit(value, step)
        if not -1.0 < value < 1.0:
            return math.nan, math.nan
        step, middle = half / (1.0 - value * value), math.atanh(value)
        return math.tanh(middle - step), math.tanh(middle + step)


def _moved_logit(value: float, step: float) -> float:
    """Move a proportion on the logit scale."""
    odds = value / (1.0 - value)
    if step > 0.0:
        return 1.0 / (1.0 + math.exp(-min(step, 700.0)) / odds)
    moved = odds * math.exp(max(step, -700.0))
    return moved / (1.0 + moved)


# What to beware of in an estimate or a comparison: in the record, and printed.


#: Samples of a class below which intervals and tests are said to be doubtful.
FEW = 10
_TOO_FEW = 5  # below it the mean over classes is also biased
_NAMED = 4


def few_samples(table: Floats, classes: Sequence[Any]) -> tuple[str, ...]:
    """The caution about classes with few samples."""
    sizes = table.sum(axis=1)
    few = np.flatnonzero((sizes > 0) & (sizes < FEW))
    if not few.size:
        return ()
    named = ", ".join(f"{classes[k]} ({sizes[k]:g})" for k in few[:_NAMED])
    more = f" and {few.size - _NAMED} more" if few.size > _NAMED else ""
    one = few.size == 1
    return (
        f"{few.size} class{' has' if one else 'es have'} fewer than {FEW} samples: "
        f"{named}{more}. Intervals may be too short"
        + (
            ", and means over classes too low."
            if (sizes[few] < _TOO_FEW).any() and np.count_nonzero(sizes) > 2
            else "."
        ),
    )


def conventions(
    estimator: Estimator, tables: Sequence[Floats], names: Sequence[str], classes: Any
) -> tuple[str, ...]:
    """Cautions about rates of 0/0, and the values that stand for them."""
    sentences = []
    for table, name in zip(tables, names, strict=True):
        if estimator.name == "mcc" and 1 in (table.any(axis=0).sum(), table.any(axis=1).sum()):
            sentences.append(
                f"MCC of {name}: 0/0, taken as 0, as one class only is true or predicted."
            )
        marks = estimator.without_samples(table)
        if marks is None or not marks.any():
            continue
        labels = ", ".join(str(classes[k]) for k in np.flatnonzero(marks)[:_NAMED])
        sentences.append(
            f"{estimator.title} of {name}: 0/0 for class {labels}, taken as zero_division says."
        )
    return tuple(sentences)


def differing_labels(
    estimator: Estimator, tables: Sequence[Floats], names: Sequence[str], classes: Any
) -> tuple[str, ...]:
    """The caution that two models are averaged over different classes."""
    sets = [estimator.averaged(table) for table in tables]
    first = sets[0]
    if first is None:
        return ()
    for other, name in zip(sets[1:], names[1:], strict=True):
        assert other is not None
        apart = np.flatnonzero(first != other)
        if apart.size:
            labels = ", ".join(str(classes[k]) for k in apart[:_NAMED])
            return (
                f"{estimator.title} is over {int(first.sum())} classes for {names[0]} "
                f"and over {int(other.sum())} for {name} ({labels}): labels='truth', or "
                "a list, averages both over the same.",
            )
    return ()


def distances_apart(
    estimator: Estimator, tables: Sequence[Floats], names: Sequence[str], classes: Sequence[Any]
) -> tuple[str, ...]:
    """The caution about weighted kappa where the order of the classes was not given.

    That it is alphabetical, and that distances count classes which a model alone lacks.
    """
    spec = getattr(estimator, "spec", None)
    if estimator.name not in ("kappa_linear", "kappa_quadratic") or spec is None:
        return ()
    if spec.labels == kernels.LISTED or len(classes) < 3:
        return ()
    if any(isinstance(label, str) for label in classes):
        return (f"{estimator.title} takes words in alphabetical order: labels= gives the order.",)
    for table, name in zip(tables, names, strict=True):
        unseen = np.flatnonzero(~(table.any(axis=0) | table.any(axis=1)))
        if unseen.size:
            labels = ", ".join(str(classes[k]) for k in unseen[:_NAMED])
            return (
                f"{estimator.title} counts distances in the order of all {len(classes)} classes "
                f"that occur, also {labels}, which {name} alone has not: labels= with all classes "
                "in their order makes it independent of the other models.",
            )
    return ()
