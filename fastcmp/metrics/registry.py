"""The metrics by name: one entry for each."""

from __future__ import annotations

from typing import NamedTuple

from fastcmp import kernels


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
