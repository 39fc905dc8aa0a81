"""Cautions about a comparison of means, kept in the record and printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.sentences import how
from fastcmp.core.threads import parts
from fastcmp.core.typing import Pairs
from fastcmp.pairwise.adjust import LOGICAL
from fastcmp.pairwise.decisions import EVEN

if TYPE_CHECKING:
    from fastcmp.inputs.values import Values
    from fastcmp.items.compare_means import MeansResult
    from fastcmp.items.mean_data import MeanData, MeanOptions
    from fastcmp.items.mean_difference import MeanDifference

#: Items, below which skewed differences are told by no test.
FEW_ITEMS = 30
_FEW_DEGREES = 5.0
_LARGE_CLUSTER = 1 / 3
#: Clusters, below which normal quantiles and plain bootstrap intervals are too short.
FEW_UNITS = 50
_LOOKED_AT = 64  # values of a column, before all are
_GRADES = 5  # such as 0, 1 and 2: more are ids or groups
_LEAST_FLIPS = 6  # units: fewer cannot reach 0.05
_MOST_ITEMS = 300  # with more the skewness of all pairs is not looked at
_ROWS = 256  # models, or pairs, that are looked at together
_ROUNDING = 1e-9
_NOT_TRANSITIVE = (
    "This adjustment takes it that two models that equal a third are equal: true of "
    "means, not of what Wilcoxon's test compares; use adjust='holm'."
)
_SKEWED = 25  # n must exceed this times the squared skewness


def cautions_of(data: MeanData, options: MeanOptions, degrees: float) -> tuple[str, ...]:
    """Cautions that follow from the number and the sizes of items and clusters.

    `degrees` are the degrees of freedom, of several pairs the least.
    """
    plan, method, n = data.plan, options.method, data.plan.n_units
    clusters = data.groups.clusters is not None
    units = "clusters" if clusters else "items"
    if options.df != "satterthwaite" or method != "t":
        degrees = np.inf
    df = options.df if method == "t" else ""
    cautions = cautions_of_units(n, degrees, plan.largest, df, clusters=clusters)
    if method == "bootstrap" and n < FEW_UNITS and options.interval != "studentized":
        cautions.append(
            f"Bootstrap intervals of this kind ({options.interval}) are too short with "
            f"{n} {units}: interval='studentized', or method='t'."
        )
    if method == "permutation" and n < _LEAST_FLIPS:
        least = min(1.0, 2.0 * 0.5**n)
        cautions.append(f"With {n} {units} no two-sided p-value is below {least:.3g}.")
    if method == "wilcoxon":
        cautions.append(
            "Wilcoxon's test is not a test of means: it rejects equal means where "
            "differences are not symmetric."
        )
    elif not clusters and n < FEW_ITEMS:
        cautions.append(f"With {n} items no test of means is safe where differences are skewed.")
    cautions += _of_columns(data.values)
    if data.values.present is not None:
        cautions.append(
            "Each pair is compared on the items that both models have: the means are "
            "over different items, and pairs need not agree with their order."
        )
    return tuple(cautions)


def cautions_of_pairs(
    result: MeansResult, data: MeanData, spec: MeanOptions, pairs: Any
) -> tuple[str, ...]:
    """Cautions about the pairs of a record; `pairs` are their indices, or None for all."""
    degrees = np.inf if result.df is None else np.min(result.df, initial=np.inf)
    cautions = cautions_of(data, spec, float(degrees))
    if spec.method == "wilcoxon":
        even = int(np.count_nonzero(result.decisions == EVEN)) // 2
        if even:
            cautions += (
                f"Ranks and means favour different models in {even} significant "
                f"pair{'s' * (even > 1)}: neither is called better.",
            )
        cautions += (_NOT_TRANSITIVE,) if result.adjust in LOGICAL else ()
    if spec.method != "t":
        return cautions
    if data.plan.plain and data.values.present is None:
        skewed = count_skewed(data.values.columns, pairs)
        cautions += (skew_caution(skewed),) if skewed else ()
    still = int(np.count_nonzero((result.standard_error == 0) & (result.difference != 0)))
    exact = not np.isnan(result.pvalue).any()
    return (*cautions, constant_caution(still, exact=exact)) if still else cautions


def cautions_of_units(
    n: int, degrees: float, largest: float, df: str, *, clusters: bool
) -> list[str]:
    """Cautions that follow from n units, of which one has the largest proportion of items.

    `degrees` are Satterthwaite's, infinite for others, and `df` is how they are found.
    """
    units = "clusters" if clusters else "items"
    cautions = []
    if clusters and degrees < _FEW_DEGREES:
        cautions.append(
            f"The {n} clusters are worth {degrees:.1f} degrees of freedom: with so few "
            "the test depends on their differences being symmetric."
        )
    if clusters and largest > _LARGE_CLUSTER:
        cautions.append(
            f"One cluster holds {100 * largest:.0f}% of the items: the result is largely its own."
        )
    if n < FEW_UNITS and df == "normal":
        cautions.append(
            f"Normal quantiles with {n} {units} reject too often: df='satterthwaite' takes "
            "those of Student's t."
        )
    return cautions


def _of_columns(values: Values) -> list[str]:
    """Cautions about columns that look like ids or groups: whole numbers, unlike the others."""
    firsts = [column[:_LOOKED_AT] for column in values.columns]
    whole = [float(x[0]).is_integer() and bool(np.all(x == np.trunc(x))) for x in firsts]
    if 2 * sum(whole) > len(whole):
        return []
    names = [
        name
        for name, column, likely in zip(values.names, values.columns, whole, strict=True)
        if likely and np.all(column == np.trunc(column)) and np.unique(column).size > _GRADES
    ]
    if not names:
        return []
    return [
        f"{', '.join(names[:3])}: whole numbers only, unlike the values of the others. "
        "Is it a model? Ids and groups are not."
    ]


def is_skewed(n: int, squares: float, cubes: float) -> bool:
    """Whether n is too small for the skewness, by Cochran's rule n > 25 G1**2."""
    if squares <= 0.0:
        return False
    skewness = cubes / n / (squares / n) ** 1.5
    return bool(n < _SKEWED * skewness * skewness)


def skew_caution(n_pairs: int) -> str:
    """The caution that differences are skewed."""
    what = "The differences are" if n_pairs == 1 else f"Differences of {n_pairs} pairs are"
    return (
        f"{what} so skewed that a t test needs more items (n > 25 times the squared "
        "skewness): a permutation test is safer (method='permutation')."
    )


def constant_caution(n_pairs: int, *, exact: bool) -> str:
    """The caution that differences do not vary, and whether there is an exact test."""
    where = "" if n_pairs == 1 else f" in {n_pairs} pairs"
    if not exact:
        return f"No variance was observed{where}: there is no test."
    return f"No variance was observed{where}: the p-value is of the exact permutation test."


def count_skewed(columns: Sequence[NDArray[Any]], pairs: Pairs | None) -> int:
    """Count the pairs of models whose differences are skewed, where items are few."""
    m, n = len(columns), columns[0].size
    if n > _MOST_ITEMS:
        return 0
    values = np.stack([column.astype(np.float64) for column in columns])
    values -= values.mean(axis=0)
    values -= values.mean(axis=1, keepdims=True)
    second, third = (values**2).sum(axis=1), (values**3).sum(axis=1)
    n_skewed = 0
    for part in parts(m if pairs is None else len(pairs), _ROWS):
        if pairs is None:  # one row of pairs a model
            i, j = np.arange(m)[part, None], np.arange(m)
            rows = values[part]
            squares = second[i] + second[j] - 2 * rows @ values.T
            cubes = third[i] - third[j]
            cubes += 3 * (rows @ (values**2).T - rows**2 @ values.T)
        else:
            i, j = pairs[part].T
            d = values[i] - values[j]
            squares, cubes = (d**2).sum(axis=1), (d**3).sum(axis=1)
        is_varied = squares > _ROUNDING * (second[i] + second[j])
        if pairs is None:
            is_varied &= i < j
        skewness = cubes[is_varied] / n / (squares[is_varied] / n) ** 1.5
        n_skewed += int(np.count_nonzero(n < _SKEWED * skewness**2))
    return n_skewed


# Sentences about comparisons of means: the test, the items, what is missing.


#: What an interval of a mean alone is called.
INTERVAL_NAMES = {"t": "Student's t", "normal": "normal"}
_VARIANCES = {
    "cr0": "plain cluster-robust standard errors, CR0",
    "cr1": "cluster-robust standard errors, CR1",
    "cr2": "bias-reduced cluster-robust standard errors, CR2",
    "cr3": "jackknife standard errors of clusters, CR3",
}
_BOOTSTRAPS = {
    "studentized": "studentized",
    "percentile": "percentile",
    "bca": "BCa",
    "basic": "basic",
}


def test_name(result: MeansResult | MeanDifference) -> str:
    """The name of the test of a pair."""
    clusters = result.n_clusters is not None
    unit = "clusters" if clusters else "items"
    if result.method == "permutation":
        kind = "studentized sign flips" if result.studentized else "sign flips"
        return f"{kind} of {unit} ({draws(result)})"
    if result.method == "bootstrap":
        kind = _BOOTSTRAPS[str(result.interval_method)]
        return f"{kind} bootstrap of {unit} ({draws(result)})"
    if result.method == "wilcoxon":
        return "Wilcoxon's signed-rank test"
    normal = result.distribution == "normal"
    if result.variance == "estimated":
        return f"{'z' if normal else 't'} test of the difference of the estimates"
    name = "z test of the mean difference" if normal else "paired t test"
    return f"{name} ({_VARIANCES[result.variance]})" if clusters else name


def draws(result: MeansResult | MeanDifference) -> str:
    """The sentence with the number of draws."""
    if not result.n_resamples:
        return "exact"
    return f"{result.n_resamples} draws, seed {result.seed}"


def values_sentences(result: MeansResult | MeanDifference) -> tuple[str, ...]:
    """Sentences about strata, and about what was done with missing values."""
    sentences: list[str] = []
    if result.n_strata is not None:
        sentences.append(
            how(
                f"Means are over {result.n_strata} strata with fixed weights: what is said "
                "holds for these strata."
            )
        )
    n_missing = int(np.sum(result.n_missing_values))
    if n_missing:
        what = {
            "common": f"{result.n_dropped} items that some model lacks were dropped",
            "pairwise": "each pair is compared on the items of both",
            "wrong": "they count as 0",
        }[result.missing]
        sentences.append(how(f"{n_missing} values are missing: {what}."))
    return tuple(sentences)
