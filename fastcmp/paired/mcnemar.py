"""McNemar's test: is one of two models right more often on the same samples?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, choose
from fastcmp.core.records import PairedCounts, unwrap
from fastcmp.inputs.labels import Labels, encode
from fastcmp.paired.accuracy_margins import CELLS, cells_of, read_counts
from fastcmp.paired.clustered_mcnemar import ClusteredMcNemarResult, compare_clusters
from fastcmp.paired.margins import read_margin, with_margin
from fastcmp.paired.mcnemar_result import METHODS, McNemarResult, evaluate_counts
from fastcmp.paired.stratified_mcnemar import StratifiedMcNemarResult, compare_strata
from fastcmp.paired.units import Sampling

Ints = NDArray[np.int64]


@overload
def mcnemar(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str | None = None,
    alternative: str = "two-sided",
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    groups: None = None,
    strata: None = None,
    stratum_weights: str = "items",
    margin: float | None = None,
    alpha: float = 0.05,
) -> McNemarResult: ...


@overload
def mcnemar(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str | None = None,
    alternative: str = "two-sided",
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    groups: ArrayLike,
    strata: ArrayLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    margin: float | None = None,
    alpha: float = 0.05,
) -> ClusteredMcNemarResult: ...


@overload
def mcnemar(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str | None = None,
    alternative: str = "two-sided",
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    groups: None = None,
    strata: ArrayLike,
    stratum_weights: str | Mapping[Any, float] = "items",
    margin: float | None = None,
    alpha: float = 0.05,
) -> StratifiedMcNemarResult: ...


def mcnemar(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str | None = None,
    alternative: str = "two-sided",
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    margin: float | None = None,
    alpha: float = 0.05,
) -> McNemarResult | ClusteredMcNemarResult | StratifiedMcNemarResult:
    """McNemar's test of two models on the same samples.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of any type that can be compared. Samples with a missing one are
        dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    method : str, optional
        "midp" (default), "exact", "asymptotic", "corrected" or "unconditional": mid-p
        test, exact conditional test, normal approximation, the same with Edwards'
        continuity correction, or Suissa and Shuster's exact unconditional test (up to
        2 million samples).
        With `groups` "cr2" (default): Student's t of the bias-reduced standard error
        over clusters, with degrees of freedom that follow from the clusters' sizes;
        "cr0", "cr1", "cr3": other such errors; "obuchowski", "durkalski", "eliasziw",
        "yang": the tests of that name; "cluster-weighted": each cluster counts once;
        "mcnemar": clusters are ignored, for comparison.
        With weighted `strata` "asymptotic" (default), "exact" or "midp".
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient: samples of a cluster
        may depend on each other, clusters may not.
    strata : array-like, shape (n,), optional
        Stratum of each sample, such as its task. Without weights they drop out of
        McNemar's test, and only tell whether they agree. With `groups` variances are
        those within strata; where a cluster lies in several only "cr1" (then the
        default) and "cr0" are defined.
    stratum_weights : {"items", "equal"} or mapping, optional
        What strata count in the accuracies: by their samples (default), equally, or a
        weight for each.
    margin : float, optional
        The largest difference of accuracies that does not matter, in (0, 1): adds tests
        of non-inferiority, superiority by the margin and equivalence, and a decision,
        as ``margins``. By exact tests up to 200 samples, else Tango's score;
        `margin_tests_from_counts` has the choice. With `groups` or weighted `strata` by
        Gaffke's bound, which claims nothing for fewer clusters (of weighted samples,
        samples) than log(alpha) / log(1 - margin), the heaviest counting as one.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    McNemarResult, ClusteredMcNemarResult or StratifiedMcNemarResult
        Statistic, p-value, the table, accuracies and intervals; the second with
        `groups`, the third with `strata` alone.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two, there is one cluster, a
        stratum has one, or an option is unknown or not defined for such samples.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(n): one pass over the codes.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12 (1947) 153-157.
    .. [2] M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional",
       BMC Medical Research Methodology 13 (2013) 91.
    .. [3] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear
       regression with multi-stage samples", Survey Methodology 28 (2002) 169-181.
    .. [4] Z. Yang, X. Sun, J. W. Hardin, "A note on the tests for clustered
       matched-pair binary data", Biometrical J. 52 (2010) 638-652.
    .. [5] M. Eliasziw, A. Donner, "Application of the McNemar test to non-independent
       matched pair data", Statistics in Medicine 10 (1991) 1981-1991.

    Examples
    --------
    >>> from fastcmp import mcnemar
    >>> y_true = ["cat", "dog", "dog", "cat", "dog", "cat"]
    >>> pred_a = ["cat", "dog", "dog", "cat", "dog", "dog"]
    >>> pred_b = ["dog", "cat", "dog", "dog", "dog", "dog"]
    >>> result = mcnemar(y_true, pred_a, pred_b)
    >>> result.pvalue
    0.125
    >>> result.table.tolist()
    [[2, 3], [0, 1]]
    >>> result = mcnemar(y_true, pred_a, pred_b, groups=[1, 1, 2, 2, 3, 3])
    >>> round(result.df, 2), round(result.pvalue, 4)
    (2.0, 0.2254)
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    against = read_margin(margin, alpha, 1.0)
    sampling = Sampling(groups, strata, stratum_weights)
    if sampling.plain:
        sampling.refuse_weights()
        method = choose("midp" if method is None else method, "method", METHODS)
    models = {"pred_a": pred_a, "pred_b": pred_b}
    labels = encode(y_true, models, classes=classes, missing=missing)
    options: dict[str, Any] = {"method": method, "alternative": alternative}
    if not sampling.plain:
        test = compare_strata if groups is None else compare_clusters
        found = test(labels, sampling.read(y_true, labels), **options)
        return with_margin(found, against)  # type: ignore[no-any-return]
    dropped = {x: getattr(labels, x) for x in ("n_missing", "n_excluded", "n_outside")}
    result = _evaluate(cells_of(_table(labels)), **options, **dropped)
    return with_margin(result, against)  # type: ignore[no-any-return]


def mcnemar_from_counts(
    only_a: ArrayLike | PairedCounts | None = None,
    only_b: ArrayLike | None = None,
    *,
    table: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    method: str = "midp",
    alternative: str = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
) -> McNemarResult:
    """McNemar's test from counts, of any shape.

    Parameters
    ----------
    only_a, only_b : array-like of int
        Samples that only model a, only model b, classified correctly. The arrays are
        broadcast against each other. A `fastcmp.stream.PairCounts`, or a 2 x 2 table,
        comes alone and holds all four counts: of two models, or of all pairs in the
        order of ``np.triu_indices(M, 1)``.
    table : array-like of int, shape (..., 2, 2), optional
        All four counts at once, as `mcnemar_table` gives them: rows a right, a wrong;
        columns b right, b wrong.
    both_right, both_wrong : array-like of int, optional
        Samples that both classified correctly, wrongly. The unconditional test,
        accuracies and intervals for the difference need them.
    method : {"midp", "exact", "asymptotic", "corrected", "unconditional"}
        As in `mcnemar`.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    margin : float, optional
        As in `mcnemar`; needs all four counts.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    McNemarResult
        Arrays of the broadcast shape, or numbers for numbers.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, do not broadcast, a table is
        not of shape (..., 2, 2), or an option is unknown; for the unconditional test
        also if there are more than 2 million samples.
    TypeError
        If counts are not numbers, are absent, or are given twice.

    Examples
    --------
    >>> from fastcmp import mcnemar_from_counts
    >>> mcnemar_from_counts([11, 25, 0], [1, 15, 0]).pvalue.round(4).tolist()
    [0.0034, 0.1173, 1.0]
    >>> round(mcnemar_from_counts(table=[[873, 16], [3, 7]]).pvalue, 4)
    0.0026
    """
    method = choose(method, "method", METHODS)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    against = read_margin(margin, alpha, 1.0)
    counts, dropped = read_counts(
        only_a=only_a, only_b=only_b, both_right=both_right, both_wrong=both_wrong, table=table
    )
    result = _evaluate(counts, method, alternative, **dropped)
    return with_margin(result, against)  # type: ignore[no-any-return]


def _evaluate(
    counts: dict[str, Ints], method: str, alternative: str, **dropped: Any
) -> McNemarResult:
    """Test checked counts of one shape."""
    shape = counts["only_a"].shape
    flat = {name: x.ravel() for name, x in counts.items()}
    n = None
    if method == "unconditional" and len(flat) == len(CELLS):
        n = sum(flat.values(), np.zeros((), np.int64))
    statistic, pvalue, status = evaluate_counts(
        flat["only_a"], flat["only_b"], n, method, alternative
    )
    return McNemarResult(
        statistic=unwrap(statistic, shape),
        pvalue=unwrap(pvalue, shape),
        status=unwrap(status, shape),
        **{name: unwrap(x, shape) for name, x in flat.items()},
        method=method,
        alternative=alternative,
        **dropped,
    )


def mcnemar_table(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> Ints:
    """Count on which samples two models are right.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    classes : sequence, optional
        As in `mcnemar`.
    missing : {"raise", "wrong"}
        As in `mcnemar`.

    Returns
    -------
    ndarray of int64, shape (2, 2)
        Rows: a right, a wrong; columns: b right, b wrong. ``table[0, 1]`` counts the
        samples that only a got right.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two.
    TypeError
        If labels cannot be compared.

    Examples
    --------
    >>> from fastcmp import mcnemar_table
    >>> mcnemar_table([0, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1]).tolist()
    [[1, 2], [1, 0]]
    """
    models = {"pred_a": pred_a, "pred_b": pred_b}
    return _table(encode(y_true, models, classes=classes, missing=missing))


def _table(labels: Labels) -> Ints:
    table = np.zeros((2, 2), np.int64)
    pred_a, pred_b = labels.preds
    kernels.count_paired(labels.y_true, pred_a, pred_b, table)
    return table
