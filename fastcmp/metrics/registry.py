"""The metrics by name: one row for each, and names as users write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from fastcmp import kernels
from fastcmp.core.checks import choose
from fastcmp.core.errors import BadValueError


class Entry(NamedTuple):
    """What is known of a metric."""

    #: As it is shown.
    title: str
    #: Code of the kernel; -1 for a user's function.
    code: int = -1
    #: Of d samples of the class predicted rightly, r samples of it, c predictions
    #: of it, and n samples; "sum" is over classes.
    formula: str = ""
    #: Where it was published, and what scikit-learn calls it.
    source: str = ""
    #: Other names.
    names: tuple[str, ...] = ()
    #: The scale on which an interval is symmetric.
    scale: str = "identity"
    #: Least and largest value.
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: Averages that it can take; empty for metrics of all classes at once.
    averages: tuple[str, ...] = ()
    #: The average of rates of classes that it is, of those that take none.
    average: int = kernels.ONE_CLASS
    #: What it needs beside the counts.
    needs: str = ""
    lower_is_better: bool = False
    #: Whether it rises, or falls, with the samples of each of two classes that are predicted
    #: rightly; others are undefined at an end.
    is_monotone: bool = True
    #: Whether predictions that are none of the classes have a place in it: a column without
    #: a row, in no average. For others they would be right.
    takes_others: bool = True


_LIMITS = {"logit": (0.0, 1.0), "atanh": (-1.0, 1.0), "log": (0.0, math.inf)}
_RATE, _MEAN = ("binary", "micro", "macro", "weighted"), ("binary", "macro", "weighted")


def _row(
    title: str,
    code: int,
    formula: str,
    source: str,
    names: str = "",
    *,
    scale: str = "logit",
    limits: tuple[float, float] | None = None,
    **more: Any,
) -> Entry:
    """A metric of all classes at once, with the limits of its scale."""
    ends = _LIMITS[scale] if limits is None else limits
    return Entry(title, code, formula, source, tuple(names.split()), scale, ends, **more)


def _rate(*row: Any, averages: tuple[str, ...] = _RATE, **more: Any) -> Entry:
    """A rate of each class."""
    return _row(*row, averages=averages, needs="a positive class, or an average", **more)


def _contrast(*row: Any, scale: str, averages: tuple[str, ...], **more: Any) -> Entry:
    """A rate of each class that compares it with the others."""
    more |= {"averages": averages, "needs": "a positive class", "takes_others": False}
    return _row(*row, scale=scale, **more)


#: How rates of classes are averaged, and the code of the kernel.
AVERAGES = {
    "binary": kernels.ONE_CLASS,
    "micro": kernels.MICRO,
    "macro": kernels.MACRO,
    "weighted": kernels.WEIGHTED,
}

METRICS = {
    "accuracy": _row("accuracy", kernels.ACCURACY, "sum d / n", "accuracy_score", "acc"),
    "balanced_accuracy": _row(
        "balanced accuracy",
        kernels.RECALL,
        "mean of d / r over the classes of the truth",
        "Brodersen et al. 2010; balanced_accuracy_score",
        "bacc",
        average=kernels.MACRO,
    ),
    "adjusted_balanced_accuracy": _row(
        "adjusted balanced accuracy",
        kernels.RECALL,
        "(balanced accuracy - 1/K) / (1 - 1/K)",
        "balanced_accuracy_score(adjusted=True)",
        "balanced_accuracy_adjusted",
        average=kernels.MACRO,
        scale="identity",
        limits=(-1.0, 1.0),
    ),
    "precision": _rate(
        "precision", kernels.PRECISION, "d / c", "precision_score", "ppv positive_predictive_value"
    ),
    "recall": _rate("recall", kernels.RECALL, "d / r", "recall_score", "sensitivity tpr"),
    "specificity": _rate(
        "specificity",
        kernels.SPECIFICITY,
        "(n - r - c + d) / (n - r)",
        "recall of the other class",
        "tnr selectivity",
        takes_others=False,
    ),
    "npv": _rate(
        "negative predictive value",
        kernels.NPV,
        "(n - r - c + d) / (n - c)",
        "precision of the other class",
        "negative_predictive_value",
        takes_others=False,
    ),
    "fbeta": _rate(
        "F-beta",
        kernels.F_BETA,
        "(1 + beta^2) d / (beta^2 r + c)",
        "van Rijsbergen 1979; fbeta_score",
        "f_beta",
    ),
    "f1": _rate(
        "F1",
        kernels.F_BETA,
        "2 d / (r + c)",
        "van Rijsbergen 1979; f1_score",
        "f f_1 f_measure dice",
    ),
    "f1_of_means": _row(
        "F1 of mean precision and recall",
        kernels.F_BETA,
        "2 P R / (P + R), P and R means over classes",
        "Sokolova and Lapalme 2009; Opitz and Burst 2019",
        average=kernels.OF_MEANS,
    ),
    "jaccard": _rate(
        "Jaccard", kernels.JACCARD, "d / (r + c - d)", "Jaccard 1901; jaccard_score", "iou"
    ),
    "fowlkes_mallows": _rate(
        "Fowlkes-Mallows",
        kernels.FOWLKES_MALLOWS,
        "d / sqrt(r c)",
        "Fowlkes and Mallows 1983",
        averages=_MEAN,
    ),
    "gmean": _row(
        "geometric mean of recalls",
        kernels.RECALL,
        "(product of d / r)^(1/K)",
        "Kubat and Matwin 1997",
        "geometric_mean g_mean",
        average=kernels.GEOMETRIC,
    ),
    "mcc": _row(
        "MCC",
        kernels.MCC,
        "(n sum d - sum r c) / sqrt((n^2 - sum r^2) (n^2 - sum c^2))",
        "Matthews 1975, Gorodkin 2004; matthews_corrcoef",
        "matthews matthews_corrcoef r_k",
        scale="atanh",
    ),
    "kappa": _row(
        "Cohen's kappa",
        kernels.KAPPA,
        "1 - (disagreement / disagreement by chance)",
        "Cohen 1960; cohen_kappa_score",
        "cohen_kappa cohens_kappa weighted_kappa",  # with weights=, see `make_metric`
        scale="atanh",
    ),
    "kappa_linear": _row(
        "linearly weighted kappa",
        kernels.KAPPA,
        "kappa, a disagreement counts abs(i - j)",
        "Cohen 1968; cohen_kappa_score(weights='linear')",
        "linear_kappa linear_weighted_kappa",
        scale="atanh",
        needs="an order of the classes",
    ),
    "kappa_quadratic": _row(
        "quadratically weighted kappa",
        kernels.KAPPA,
        "kappa, a disagreement counts (i - j)^2",
        "Cohen 1968; cohen_kappa_score(weights='quadratic')",
        "quadratic_kappa quadratic_weighted_kappa kappa_squared qwk",
        scale="atanh",
        needs="an order of the classes",
    ),
    "scott_pi": _row(
        "Scott's pi",
        kernels.SCOTT_PI,
        "kappa, chance by the mean of both margins",
        "Scott 1955",
        "scotts_pi",
        scale="atanh",
    ),
    "informedness": _contrast(
        "informedness",
        kernels.INFORMEDNESS,
        "recall + specificity - 1",
        "Youden 1950 (J)",
        "youden youden_j youdens_j bookmaker_informedness j",
        scale="atanh",
        averages=_MEAN,
    ),
    "markedness": _contrast(
        "markedness",
        kernels.MARKEDNESS,
        "precision + npv - 1",
        "Powers 2011",
        scale="atanh",
        averages=_MEAN,
        is_monotone=False,
    ),
    "lr_plus": _contrast(
        "positive likelihood ratio",
        kernels.LR_PLUS,
        "recall / (1 - specificity)",
        "class_likelihood_ratios",
        "positive_likelihood_ratio lr+",
        scale="log",
        averages=("binary",),
        is_monotone=False,
    ),
    "lr_minus": _contrast(
        "negative likelihood ratio",
        kernels.LR_MINUS,
        "(1 - recall) / specificity",
        "class_likelihood_ratios",
        "negative_likelihood_ratio lr-",
        scale="log",
        averages=("binary",),
        is_monotone=False,
        lower_is_better=True,
    ),
    "diagnostic_odds_ratio": _contrast(
        "diagnostic odds ratio",
        kernels.ODDS_RATIO,
        "lr_plus / lr_minus",
        "Glas et al. 2003",
        "dor",
        scale="log",
        averages=("binary",),
        is_monotone=False,
    ),
    "cost": _row(
        "expected cost",
        kernels.COST,
        "sum of cost[t, p] / n",
        "mean of costs",
        "expected_cost",
        scale="identity",
        limits=(0.0, math.inf),
        needs="cost=, the matrix of costs",
        lower_is_better=True,
        takes_others=False,
    ),
}

#: Other names of metrics.
SYNONYMS = {other: name for name, entry in METRICS.items() for other in entry.names}

#: Successes and trials of the rates of a class that are proportions, from d, r, c and n; F1 is
#: 2 x / (1 + x) of Jaccard's.
PROPORTIONS: dict[int, Callable[[Any, Any, Any, Any], tuple[Any, Any]]] = {
    kernels.RECALL: lambda d, r, _c, _n: (d, r),
    kernels.PRECISION: lambda d, _r, c, _n: (d, c),
    kernels.SPECIFICITY: lambda d, r, c, n: (n - r - c + d, n - r),
    kernels.NPV: lambda d, r, c, n: (n - r - c + d, n - c),
    kernels.F_BETA: lambda d, r, c, _n: (d, r + c - d),
    kernels.JACCARD: lambda d, r, c, _n: (d, r + c - d),
}

_BETA = re.compile(r"f_?(\d+\.?\d*|\.\d+)(_of_means)?")


def plain_name(name: str) -> str:
    """A name in one spelling: "Cohen's kappa" as "cohens_kappa"."""
    name = name.strip().lower().replace("'", "")
    if name not in ("lr-", "lr+"):
        name = name.replace("-", "_").replace(" ", "_")
    return name.removesuffix("_score")


@cache
def _spellings() -> dict[str, str]:
    """The name of each spelling of a metric, also of its title."""
    by_title = {plain_name(entry.title): name for name, entry in METRICS.items()}
    return by_title | SYNONYMS | {name: name for name in METRICS}


_AREA = "areas under curves are compared by fastcmp.delong, or the command fastcmp roc"
_LOSS = "losses are values of items ({}), which fastcmp.compare_means compares"
#: What needs scores or values, not labels -> where it is compared.
_ELSEWHERE = {
    **dict.fromkeys(("auc", "roc_auc"), _AREA),
    "average_precision": "it is that of fastcmp.average_precision",
    "log_loss": _LOSS.format("fastcmp.log_loss_values"),
    **dict.fromkeys(("brier", "brier_score_loss"), _LOSS.format("fastcmp.brier_values")),
    **dict.fromkeys(
        ("mse", "rmse", "mae", "mean_squared_error", "mean_absolute_error"),
        _LOSS.format("errors, squared or not"),
    ),
}


def parse_name(
    metric: str, average: str | None, beta: float | None
) -> tuple[str, str | None, float | None]:
    """Metric, average and beta of a name such as "f2_macro"."""
    plain, named = plain_name(metric), None
    if plain not in _spellings():  # others may begin or end with an average
        for average_name in AVERAGES:
            if plain.endswith(average_name):
                stem = plain.removesuffix(average_name).rstrip("_")
                plain, named = stem.removesuffix("_score"), average_name
                break
            if plain.startswith(average_name):
                plain, named = plain.removeprefix(average_name).lstrip("_"), average_name
                break
    if matched := _BETA.fullmatch(plain):
        number = float(matched[1])
        plain = "f1" if number == 1.0 else "fbeta"
        plain = "f1_of_means" if matched[2] else plain
        if number != 1.0 and beta not in (None, number):
            raise BadValueError(f"`metric={metric!r}` and `beta={beta}` differ: pass one of them")
        beta = beta if number == 1.0 else number
    plain = _spellings().get(plain, plain)
    if plain.removeprefix("neg_") in _ELSEWHERE:
        where = _ELSEWHERE[plain.removeprefix("neg_")]
        raise BadValueError("`metric` must be one of predicted labels", repr(metric), f": {where}")
    if plain not in METRICS:
        raise BadValueError(
            "`metric` must be one of",
            repr(metric),
            ": rates may end in '_macro', '_micro' or '_weighted' ``(and metric=f is a function f "
            "of the confusion matrix)``",
            METRICS,
        )
    if average is not None:
        average = choose(average, "average", (*AVERAGES, None))
    if named is not None:
        if average not in ("binary", named):
            raise BadValueError(f"`metric={metric!r}` and `average={average!r}` differ: pass one")
        average = named
    fit = METRICS[plain].averages
    if average != "binary" and average not in ((*fit, None) if fit else ()):
        fitting = f"it takes {fit} or None" if fit else "it is of all classes at once"
        raise BadValueError(f"`average={average!r}` does not fit metric {plain!r}: {fitting}")
    return plain, average, beta
