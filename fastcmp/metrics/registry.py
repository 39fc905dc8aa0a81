"""The metrics by name: one entry for each."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from fastcmp import kernels
from fastcmp.core.numbers import wilson_interval
from fastcmp.metrics.estimators import AdjustedForChance, Estimator, KernelEstimator

Floats = NDArray[np.float64]


class Entry(NamedTuple):
    """What is known of a metric."""

    #: As it is shown.
    title: str
    #: Code of the kernel.
    code: int
    #: Of d samples of the class predicted rightly, r samples of it, c predictions
    #: of it, and n samples; "sum" is over classes.
    formula: str
    #: Averages that it can take; empty for metrics of all classes at once.
    averages: tuple[str, ...]
    #: Least and largest value.
    limits: tuple[float, float]
    #: The scale on which an interval is symmetric.
    scale: str
    #: What it needs beside the counts.
    needs: str
    #: Where it was published, and what scikit-learn calls it.
    source: str
    lower_is_better: bool = False


_INF = float("inf")
_RATE = ("binary", "micro", "macro", "weighted")
_SHARE = (0.0, 1.0)
_SIGNED = (-1.0, 1.0)
_ONE = "a positive class, or an average"
_TWO = "a positive class"

#: How rates of classes are averaged, and the code of the kernel.
AVERAGES = {
    "binary": kernels.ONE_CLASS,
    "micro": kernels.MICRO,
    "macro": kernels.MACRO,
    "weighted": kernels.WEIGHTED,
}

METRICS = {
    "accuracy": Entry(
        "accuracy", kernels.ACCURACY, "sum d / n", (), _SHARE, "logit", "", "accuracy_score"
    ),
    "balanced_accuracy": Entry(
        "balanced accuracy",
        kernels.RECALL,
        "mean of d / r over the classes of the truth",
        (),
        _SHARE,
        "logit",
        "",
        "Brodersen et al. 2010; balanced_accuracy_score",
    ),
    "adjusted_balanced_accuracy": Entry(
        "adjusted balanced accuracy",
        kernels.RECALL,
        "(balanced accuracy - 1/K) / (1 - 1/K)",
        (),
        _SIGNED,
        "identity",
        "",
        "balanced_accuracy_score(adjusted=True)",
    ),
    "precision": Entry(
        "precision", kernels.PRECISION, "d / c", _RATE, _SHARE, "logit", _ONE, "precision_score"
    ),
    "recall": Entry(
        "recall", kernels.RECALL, "d / r", _RATE, _SHARE, "logit", _ONE, "recall_score"
    ),
    "specificity": Entry(
        "specificity",
        kernels.SPECIFICITY,
        "(n - r - c + d) / (n - r)",
        _RATE,
        _SHARE,
        "logit",
        _ONE,
        "recall of the other class",
    ),
    "npv": Entry(
        "negative predictive value",
        kernels.NPV,
        "(n - r - c + d) / (n - c)",
        _RATE,
        _SHARE,
        "logit",
        _ONE,
        "precision of the other class",
    ),
    "fbeta": Entry(
        "F-beta",
        kernels.F_BETA,
        "(1 + beta^2) d / (beta^2 r + c)",
        _RATE,
        _SHARE,
        "logit",
        _ONE,
        "van Rijsbergen 1979; fbeta_score",
    ),
    "f1": Entry(
        "F1",
        kernels.F_BETA,
        "2 d / (r + c)",
        _RATE,
        _SHARE,
        "logit",
        _ONE,
        "van Rijsbergen 1979; f1_score",
    ),
    "f1_of_means": Entry(
        "F1 of mean precision and recall",
        kernels.F_BETA,
        "2 P R / (P + R), P and R means over classes",
        (),
        _SHARE,
        "logit",
        "",
        "Sokolova and Lapalme 2009; Opitz and Burst 2019",
    ),
    "jaccard": Entry(
        "Jaccard",
        kernels.JACCARD,
        "d / (r + c - d)",
        _RATE,
        _SHARE,
        "logit",
        _ONE,
        "Jaccard 1901; jaccard_score",
    ),
    "fowlkes_mallows": Entry(
        "Fowlkes-Mallows",
        kernels.FOWLKES_MALLOWS,
        "d / sqrt(r c)",
        ("binary", "macro", "weighted"),
        _SHARE,
        "logit",
        _ONE,
        "Fowlkes and Mallows 1983",
    ),
    "gmean": Entry(
        "geometric mean of recalls",
        kernels.RECALL,
        "(product of d / r)^(1/K)",
        (),
        _SHARE,
        "logit",
        "",
        "Kubat and Matwin 1997",
    ),
    "mcc": Entry(
        "MCC",
        kernels.MCC,
        "(n sum d - sum r c) / sqrt((n^2 - sum r^2) (n^2 - sum c^2))",
        (),
        _SIGNED,
        "atanh",
        "",
        "Matthews 1975, Gorodkin 2004; matthews_corrcoef",
    ),
    "kappa": Entry(
        "Cohen's kappa",
        kernels.KAPPA,
        "1 - (disagreement / disagreement by chance)",
        (),
        _SIGNED,
        "atanh",
        "",
        "Cohen 1960; cohen_kappa_score",
    ),
    "kappa_linear": Entry(
        "linearly weighted kappa",
        kernels.KAPPA,
        "kappa, a disagreement counts abs(i - j)",
        (),
        _SIGNED,
        "atanh",
        "an order of the classes",
        "Cohen 1968; cohen_kappa_score(weights='linear')",
    ),
    "kappa_quadratic": Entry(
        "quadratically weighted kappa",
        kernels.KAPPA,
        "kappa, a disagreement counts (i - j)^2",
        (),
        _SIGNED,
        "atanh",
        "an order of the classes",
        "Cohen 1968; cohen_kappa_score(weights='quadratic')",
    ),
    "scott_pi": Entry(
        "Scott's pi",
        kernels.SCOTT_PI,
        "kappa, chance by the mean of both margins",
        (),
        _SIGNED,
        "atanh",
        "",
        "Scott 1955",
    ),
    "informedness": Entry(
        "informedness",
        kernels.INFORMEDNESS,
        "recall + specificity - 1",
        ("binary", "macro", "weighted"),
        _SIGNED,
        "atanh",
        _TWO,
        "Youden 1950 (J)",
    ),
    "markedness": Entry(
        "markedness",
        kernels.MARKEDNESS,
        "precision + npv - 1",
        ("binary", "macro", "weighted"),
        _SIGNED,
        "atanh",
        _TWO,
        "Powers 2011",
    ),
    "lr_plus": Entry(
        "positive likelihood ratio",
        kernels.LR_PLUS,
        "recall / (1 - specificity)",
        ("binary",),
        (0.0, _INF),
        "log",
        _TWO,
        "class_likelihood_ratios",
    ),
    "lr_minus": Entry(
        "negative likelihood ratio",
        kernels.LR_MINUS,
        "(1 - recall) / specificity",
        ("binary",),
        (0.0, _INF),
        "log",
        _TWO,
        "class_likelihood_ratios",
        lower_is_better=True,
    ),
    "diagnostic_odds_ratio": Entry(
        "diagnostic odds ratio",
        kernels.ODDS_RATIO,
        "lr_plus / lr_minus",
        ("binary",),
        (0.0, _INF),
        "log",
        _TWO,
        "Glas et al. 2003",
    ),
    "cost": Entry(
        "expected cost",
        kernels.COST,
        "sum of cost[t, p] / n",
        (),
        (0.0, _INF),
        "identity",
        "cost=, the matrix of costs",
        "mean of costs",
        lower_is_better=True,
    ),
}

#: Other names of metrics.
SYNONYMS = {
    "ppv": "precision",
    "positive_predictive_value": "precision",
    "sensitivity": "recall",
    "tpr": "recall",
    "tnr": "specificity",
    "negative_predictive_value": "npv",
    "f": "f1",
    "f_1": "f1",
    "f_measure": "f1",
    "f_beta": "fbeta",
    "dice": "f1",
    "iou": "jaccard",
    "bacc": "balanced_accuracy",
    "acc": "accuracy",
    "balanced_accuracy_adjusted": "adjusted_balanced_accuracy",
    "matthews": "mcc",
    "matthews_corrcoef": "mcc",
    "r_k": "mcc",
    "cohen_kappa": "kappa",
    "cohens_kappa": "kappa",
    "weighted_kappa": "kappa",  # with weights=, see `make_metric`
    "linear_kappa": "kappa_linear",
    "linear_weighted_kappa": "kappa_linear",
    "quadratic_kappa": "kappa_quadratic",
    "quadratic_weighted_kappa": "kappa_quadratic",
    "kappa_squared": "kappa_quadratic",
    "qwk": "kappa_quadratic",
    "scotts_pi": "scott_pi",
    "geometric_mean": "gmean",
    "g_mean": "gmean",
    "youden": "informedness",
    "youden_j": "informedness",
    "youdens_j": "informedness",
    "bookmaker_informedness": "informedness",
    "selectivity": "specificity",
    "j": "informedness",
    "positive_likelihood_ratio": "lr_plus",
    "lr+": "lr_plus",
    "negative_likelihood_ratio": "lr_minus",
    "lr-": "lr_minus",
    "dor": "diagnostic_odds_ratio",
    "expected_cost": "cost",
}


# Metrics that are proportions of counted samples, or means of such proportions.


class Proportions(NamedTuple):
    """A metric as sum of weights times proportions, plus a constant."""

    successes: Floats
    trials: Floats
    weights: Floats = np.ones(1)
    constant: float = 0.0
    #: Whether F1 is meant where the proportions are Jaccard's.
    as_f1: bool = False
    #: Of an average, the classes of the proportions.
    classes: NDArray[np.int64] | None = None


def proportions_of(estimator: Estimator, table: Floats) -> Proportions | None:
    """Write a metric as proportions of independent samples, if it is of that form."""
    if isinstance(estimator, KernelEstimator):
        return _of_rates(estimator, table)
    if not isinstance(estimator, AdjustedForChance):
        return None
    base = proportions_of(estimator.base, table)
    k = np.count_nonzero(table.any(axis=1))
    if base is None or k < 2:
        return None
    rest = 1.0 - 1.0 / k
    shift = (base.constant - 1.0 / k) / rest
    return base._replace(weights=base.weights / rest, constant=shift)


def _of_rates(estimator: KernelEstimator, table: Floats) -> Proportions | None:
    """Write a rate, or a mean of rates, as proportions."""
    spec, d = estimator.spec, np.diagonal(table)
    if spec.metric == kernels.ACCURACY:
        return Proportions(d.sum(keepdims=True), table.sum(keepdims=True)[0])
    trials = None
    if spec.average <= kernels.WEIGHTED:
        r, c = table.sum(axis=1), table.sum(axis=0)
        trials = class_trials(spec, d, r, c, table.sum())
    if trials is None:
        return None
    as_f1, k = spec.metric == kernels.F_BETA, spec.label
    if spec.metric == kernels.INFORMEDNESS:
        if spec.average != kernels.ONE_CLASS:
            return None
        r, c, n = table[k].sum(), table[:, k].sum(), table.sum()
        if not 0 < r < n:
            return None
        both = np.array([d[k], n - r - c + d[k]]), np.array([r, n - r])
        return Proportions(*both, weights=np.ones(2), constant=-1.0)
    if spec.average == kernels.ONE_CLASS:
        if not trials[1][k] > 0:
            return None
        at = slice(k, k + 1)
        return Proportions(trials[0][at], trials[1][at], as_f1=as_f1)
    return _averaged(estimator, table, *trials, as_f1=as_f1)


def class_trials(
    spec: kernels.MetricSpec, d: Floats, r: Floats, c: Floats, n: Floats | float
) -> tuple[Floats, Floats] | None:
    """Give successes and trials of classes, from the sums of their tables."""
    rest = n - r - c + d
    if spec.metric == kernels.F_BETA and spec.beta != 1.0:
        return None
    known = {
        kernels.RECALL: (d, r),
        kernels.PRECISION: (d, c),
        kernels.SPECIFICITY: (rest, n - r),
        kernels.NPV: (rest, n - c),
        kernels.F_BETA: (d, r + c - d),
        kernels.JACCARD: (d, r + c - d),
        kernels.INFORMEDNESS: (d, r),
    }
    return known.get(spec.metric)


def _averaged(
    estimator: KernelEstimator, table: Floats, successes: Floats, trials: Floats, *, as_f1: bool
) -> Proportions | None:
    """Write an average over classes; those without samples add a constant."""
    counted = estimator.averaged(table)
    assert counted is not None
    zero = estimator.spec.zero_division
    known = counted & (trials > 0)
    if np.isnan(zero):
        counted = known
    weights = counted.astype(np.float64)
    if estimator.spec.average == kernels.WEIGHTED:
        weights *= table.sum(axis=1)
    if not weights.sum() > 0:
        return None
    weights /= weights.sum()
    constant = float(weights[~known].sum() * (0.0 if np.isnan(zero) else zero))
    rates = (successes[known], trials[known], weights[known])
    return Proportions(*rates, constant, as_f1, np.flatnonzero(known))


def rate_limits(of: Proportions, level: float, *, exact: bool = False) -> tuple[Floats, ...]:
    """Each proportion with Wilson's limits, or Clopper and Pearson's; as F1 if that is meant."""
    rate = of.successes / of.trials
    if exact:
        tail, x, rest = 0.5 * (1.0 - level), of.successes, of.trials - of.successes
        low = np.where(x > 0, betaincinv(np.maximum(x, 0.5), rest + 1.0, tail), 0.0)
        high = np.where(rest > 0, betaincinv(x + 1.0, np.maximum(rest, 0.5), 1.0 - tail), 1.0)
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
        """Compute the sum for a Lagrange multiplier, and how far it is beyond the limit."""
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


def are_independent(estimator: Estimator, of: Proportions) -> bool:
    """Whether the proportions are of different samples: recalls of classes, or precisions.

    Not where they are weighted by class, as these weights are estimates too.
    """
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    rates = (kernels.RECALL, kernels.INFORMEDNESS, kernels.PRECISION)
    return of.trials.size == 1 or (
        isinstance(estimator, KernelEstimator)
        and estimator.spec.metric in rates
        and estimator.spec.average != kernels.WEIGHTED
    )


def of_recalls(estimator: Estimator) -> bool:
    """Whether a metric is a mean of recalls, or of recall and specificity."""
    if isinstance(estimator, AdjustedForChance):
        estimator = estimator.base
    return isinstance(estimator, KernelEstimator) and estimator.spec.metric != kernels.PRECISION


# Predictions that are none of the classes: a column without a row, in no average.


#: Rates and agreements that know such predictions; for the others they would be right.
_WITH_OTHERS = (
    *(kernels.RECALL, kernels.PRECISION, kernels.F_BETA, kernels.JACCARD),
    *(kernels.FOWLKES_MALLOWS, kernels.ACCURACY, kernels.MCC, kernels.KAPPA),
    kernels.SCOTT_PI,
)


def with_others(estimator: Estimator) -> Estimator:
    """Add a last class for them; raise ValueError where they have no place."""
    k = estimator.n_classes + 1
    if isinstance(estimator, AdjustedForChance):
        return replace(estimator, n_classes=k, base=with_others(estimator.base))
    if isinstance(estimator, KernelEstimator):
        spec = estimator.spec
        if spec.metric in _WITH_OTHERS and not estimator.penalty.size:
            listed = np.append(estimator.listed, np.uint8(0))
            return replace(estimator, n_classes=k, listed=listed)
    raise ValueError(
        f"metric {estimator.name!r} has no place for predictions that are none of the "
        "classes: with it missing='wrong' counts none, and classes= must name all"
    )
