"""The value of a metric of one model, its standard error and an interval.

An interval is symmetric on the scale on which the metric is nearest to normal; where a
metric is a proportion, or a mean of proportions, Wilson's limits are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import wilson_interval
from fastcmp.core.typing import Floats
from fastcmp.kernels.cluster_means import t_quantile
from fastcmp.kernels.metric_slopes import mean_rate_limits
from fastcmp.metrics.cells import Cells
from fastcmp.metrics.estimators import Estimator, KernelEstimator, Proportions

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


def estimate_tables(
    estimator: Estimator,
    tables: Floats,
    level: float,
    *,
    method: str | None = None,
    scale: str | None = None,
    cells: Cells | None = None,
    within_classes: bool = False,
    errors: Floats | None = None,
) -> list[Estimate]:
    """Estimates of a metric from confusion matrices, each with an interval by `method` on `scale`.

    By default Wilson's interval for a proportion, the score interval for a mean of recalls,
    "combined" for other metrics with two ends, else that of the delta method. `cells` are
    those of the one table, with its weights or clusters; else each is of counted samples, of
    which `errors` may be the standard errors by the jackknife, of ratios by the delta method.
    """
    if method in OF_PROPORTIONS:
        _check_proportions(estimator, method)
    values, entry = estimator.values(tables), estimator.entry
    estimates = [Estimate(value) for value in values.tolist()]
    defined = [i for i, one in enumerate(estimates) if not math.isnan(one.value)]
    marks = estimator.without_samples(tables) if defined else None
    if marks is not None and marks.any():  # a value that is a convention for 0/0 has no interval
        has_value = ~(marks.any(axis=1) & (marks == estimator.averaged(tables)).all(axis=1))
        defined = [i for i in defined if has_value[i]]
    if not defined:
        return estimates
    counted = cells is None or (cells.clusters is None and cells.squares is None)
    plain = counted and not within_classes
    if method in (*OF_PROPORTIONS, "combined") and not plain:
        raise BadValueError(
            f"`method={method!r}` is for independent samples: with `groups=`, `sample_weight=` "
            "or `within_classes=True` pass `method='delta'` or 'jackknife'"
        )
    how = method or ("delta" if entry.scale == "log" else "jackknife")
    by = "delta" if how == "delta" or not counted else "jackknife"
    own_errors, moves = estimator.standard_errors(tables, by)
    if cells is not None and not plain:
        jackknife = by == "jackknife"
        u = (estimator.jackknife_influences if jackknife else estimator.influences)(tables)
        of_cells = cells.pick(u[:, np.newaxis])[0]
        errors = np.array([cells.standard_error(of_cells, by, within_classes=within_classes)])
    errors = own_errors if errors is None else errors
    of = estimator.proportions(tables)
    methods = [method] * len(of)
    if method is None and scale is None and plain:
        methods = [_default(estimator, x) for x in of]
    if scale is None:
        scale = entry.scale if how != "delta" or entry.scale == "log" else "identity"
    label = by if scale == "identity" else f"{by}, {scale}"
    times = t_quantile(math.inf if cells is None else cells.df, level)
    others, (least, most) = dict[int, tuple[float, float]](), entry.limits
    if combined := [i for i in defined if methods[i] == "combined"]:
        smoothed = _smoothed_limits(estimator, tables[combined], [of[i] for i in combined], level)
        others = dict(zip(combined, smoothed, strict=True))
    for i in defined:
        value, error, by_method, parts = estimates[i].value, float(errors[i]), methods[i], of[i]
        error = math.nan if error == math.inf else error
        if by_method in OF_PROPORTIONS:
            if parts is None:
                estimates[i] = Estimate(value, error, method=by_method)
                continue
            if by_method == "score":
                ends = score_limits(parts, level)
            else:
                ends = mover_limits(parts, level, exact=by_method == "clopper-pearson")
            estimates[i] = Estimate(value, error, *ends, by_method, int(kernels.OK))
            continue
        if (error == 0.0 or not moves[i]) and (least < value < most or by_method != "combined"):
            estimates[i] = Estimate(value, 0.0, method=label, status=int(kernels.DEGENERATE))
            continue
        (low, high), its_label = limits_on(scale, value, error, times), label
        if i in others:
            # The outer ends of two intervals, each of which is too short somewhere.
            its_label = f"combined, {scale}"
            if not math.isnan(others[i][0]):
                outer = [x for x in (low, value, high, *others[i]) if not math.isnan(x)]
                low, high = max(min(outer), least), min(max(outer), most)
        status = kernels.UNDEFINED if math.isnan(low) else kernels.OK
        estimates[i] = Estimate(value, error, low, high, its_label, int(status))
    return estimates


def _check_proportions(estimator: Estimator, method: str) -> None:
    """Refuse the limits of proportions for a metric that is not made of them."""
    (of,) = estimator.proportions(np.ones((1, *(estimator.n_classes,) * 2)))
    one = of is not None and of.trials.size == 1
    if of is None or (method in ("wilson", "clopper-pearson") and not one):
        fitting = "means of rates of classes" if method in ("score", "mover") else "single rates"
        raise BadValueError(
            f"`method={method!r}` is for {fitting}, such as "
            f"{'balanced accuracy' if method in ('score', 'mover') else 'recall or F1'}",
            repr(estimator.name),
            ": pass `method='combined'` or 'jackknife'",
        )
    if method == "score" and not of.are_independent:
        raise BadValueError(
            "`method='score'` is for means of recalls or precisions, which are of different "
            "samples",
            repr(estimator.name),
            ": pass `method='combined'` or 'jackknife'",
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
    # Samples that are spread over all cells would weigh too much where errors differ in weight.
    weights = estimator.penalty[~np.eye(len(estimator.penalty), dtype=bool)]
    return "combined" if (weights == weights[:1]).all() else None


def _smoothed_limits(
    estimator: Estimator, tables: Floats, of: Sequence[Proportions | None], level: float
) -> list[tuple[float, float]]:
    """Limits that see variance in a class that is always right, or never; the jackknife sees none.

    MOVER's of a mean of rates, with the correlations of the classes at the counts with two
    more samples, spread evenly over all cells; of other metrics the delta method's there.
    """
    z, limits = t_quantile(math.inf, level), []
    macro = isinstance(estimator, KernelEstimator) and estimator.spec.average == kernels.MACRO
    for table, x in zip(tables, of, strict=True):
        classes = x.classes if macro and x is not None else None
        if x is not None and classes is not None and classes.size <= _MOST_CORRELATED:
            assert isinstance(estimator, KernelEstimator)
            parts = classes, x.successes, x.trials, x.weights, z, x.as_f1
            low, high = mean_rate_limits(table, estimator.spec, *parts)
            limits.append((low + x.constant, high + x.constant))
        else:
            smooth = table[np.newaxis] + 2.0 / estimator.n_classes**2
            error = float(estimator.standard_errors(smooth, "delta")[0][0])
            limits.append(limits_on(estimator.entry.scale, estimator.value(smooth[0]), error, z))
    return limits


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


def mover_limits(of: Proportions, level: float, *, exact: bool = False) -> tuple[float, float]:
    """Combine the limits of independent proportions: Zou and Donner's MOVER.

    Their distances from the estimate add up as standard deviations do.
    """
    rate, low, high = rate_limits(of, level, exact=exact)
    middle = float(of.weights @ rate) + of.constant
    down, up = of.weights * (rate - low), of.weights * (high - rate)
    return middle - math.sqrt(down @ down), middle + math.sqrt(up @ up)


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
    estimator: Estimator, tables: Floats, names: Sequence[str], classes: Sequence[Any]
) -> tuple[str, ...]:
    """Cautions about rates of 0/0, and the values that stand for them."""
    sentences = []
    marks = estimator.without_samples(tables)
    for i, (table, name) in enumerate(zip(tables, names, strict=True)):
        if estimator.name == "mcc" and 1 in (table.any(axis=0).sum(), table.any(axis=1).sum()):
            sentences.append(
                f"MCC of {name}: 0/0, taken as 0, as one class only is true or predicted."
            )
        if marks is None or not marks[i].any():
            continue
        labels = ", ".join(str(classes[k]) for k in np.flatnonzero(marks[i])[:_NAMED])
        sentences.append(
            f"{estimator.title} of {name}: 0/0 for class {labels}, taken as zero_division says."
        )
    return tuple(sentences)


def differing_labels(
    estimator: Estimator, tables: Floats, names: Sequence[str], classes: Sequence[Any]
) -> tuple[str, ...]:
    """The caution that two models are averaged over different classes."""
    sets = estimator.averaged(tables)
    if sets is None:
        return ()
    first = sets[0]
    for other, name in zip(sets[1:], names[1:], strict=True):
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
    estimator: Estimator,
    tables: Sequence[Floats] | Floats,
    names: Sequence[str],
    classes: Sequence[Any],
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
