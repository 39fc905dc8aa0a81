"""DeLong's comparison of AUCs on the same samples, or on different ones."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import choose
from fastcmp.core.threads import ThreadPool, check_memory, check_workers, read_size
from fastcmp.inputs.columns import read_column
from fastcmp.inputs.model_names import check_indexes
from fastcmp.inputs.scores import Scores, order_of, read_scores, warn_of_direction
from fastcmp.scores.auc_test import AUCComparison, compare_estimates
from fastcmp.scores.delong_result import DelongResult
from fastcmp.stream.dask_blocks import are_collections, refuse_options

_THREADS_PAY = 1 << 18  # scores; below it one thread is faster
_TASK = 4 * 10**9  # bytes that a task of Dask may take


def delong(
    y_true: ArrayLike,
    scores: Any,
    *,
    positive: Any = None,
    groups: ArrayLike | None = None,
    memory_limit: int | str | None = None,
    workers: int | None = None,
) -> DelongResult:
    """DeLong's covariance of the AUCs of one, two or many models.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores indicate the positive class; the direction is never reversed. Dask's
        arrays and frames are ranked where they are, a model in one task.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    groups : array-like, shape (n,), optional
        Clusters of samples that are not independent, such as patients with several
        lesions; the covariance is then Obuchowski's.
    memory_limit : int or str, optional
        Bytes, or such as "4GB", that the placements of all models may take: 8 M n; of
        Dask's blocks the ranks of one model in a task, 56 n, at most 4 GB by default.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    DelongResult
        AUCs, covariance, intervals; `compare`, `contrast` and `pairwise` test them.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not at least two positives and
        two negatives (or clusters with each).
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(M n log n + M**2 n): each model is sorted once, and its placements (the
    proportions of the other class that samples are ranked correctly against) give the
    covariance by one matrix product. Dask's blocks send the scores of a model to one task,
    and the placements come back, 16 bytes a score in all: data must be the same whenever
    they are computed. The covariance then differs by rounding.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under
       two or more correlated receiver operating characteristic curves", Biometrics 44
       (1988) 837-845.
    .. [2] X. Sun, W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal
       Processing Letters 21 (2014) 1389-1393.
    .. [3] N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data",
       Biometrics 53 (1997) 567-578.

    Examples
    --------
    >>> from fastcmp import delong
    >>> y_true = [0, 0, 0, 1, 1, 1]
    >>> result = delong(y_true, {"a": [1, 2, 3, 2, 4, 5], "b": [3, 1, 2, 2, 3, 4]})
    >>> result.auc.round(4).tolist(), result.standard_error.round(4).tolist()
    ([0.8333, 0.7778], [0.1925, 0.2079])
    """
    threads = check_workers(workers)
    limit = None if memory_limit is None else read_size(memory_limit)
    if are_collections(y_true, scores):
        refuse_options({"groups": groups})
        from fastcmp.scores.dask_areas import delong_of_blocks

        return delong_of_blocks(y_true, scores, positive, _TASK if limit is None else limit)
    read = read_scores(y_true, scores, positive)
    needed = 8.0 * len(read.columns) * read.positive.size
    check_memory(needed, limit, "the placements of all models", "compare fewer models")
    if groups is None:
        return _delong(read, None, threads)
    column = read_column(groups, "groups")
    n = read.positive.size if read.kept is None else read.kept.size
    if len(column) != n:
        raise ValueError(f"groups has {len(column)} entries, y_true has {n} labels")
    check_indexes([("y_true", read.y_true), ("groups", groups)])
    if read.kept is not None:
        column = column.take(read.kept)
    if column.missing() is not None:
        raise ValueError("groups has missing entries")
    _, codes = np.unique(column.factorized().positions(), return_inverse=True)
    return _delong(read, codes.astype(np.int64), threads)


def _delong(read: Scores, clusters: NDArray[np.int64] | None, threads: int) -> DelongResult:
    n1, n0, positive = read.n_positives, read.n_negatives, read.positive.astype(bool)
    n_clusters = held = None
    if clusters is not None:
        n_clusters = int(clusters.max()) + 1
        held = np.unique(clusters[positive]).size, np.unique(clusters[~positive]).size
    what, (units1, units0) = ("clusters", held) if held else ("samples", (n1, n0))
    if min(units1, units0) < 2:
        raise ValueError(
            f"DeLong's variance needs at least 2 {what} of each class, got {units1} with "
            f"positives and {units0} with negatives"
        )
    values = place(read, threads)
    # Over either class the mean of the placements is the AUC; of the positives, without the
    # product's rounding: it is a multiple of one over twice the pairs.
    areas = np.asarray(values @ (read.positive / n1))
    if (units := 2.0 * n1 * n0) < 2.0**48:
        areas = np.rint(areas * units) / units
    warn_of_direction(areas, read)
    values -= areas[:, None]
    if clusters is None or n_clusters is None:
        # The covariances of the class means, by one product of scaled deviations.
        scales = 1 / np.sqrt([float(n0) * (n0 - 1.0), float(n1) * (n1 - 1.0)])
        values *= scales[read.positive]
        covariance = values @ values.T
    else:
        # Obuchowski's: sums of placements over clusters vary, not samples.
        sums1, sums0 = (
            np.stack([np.bincount(clusters, x * part, n_clusters) for x in values])
            for part in (positive / n1, ~positive / n0)
        )
        within = sums1 @ sums1.T * (units1 / (units1 - 1.0))
        within += sums0 @ sums0.T * (units0 / (units0 - 1.0))
        across = sums1 @ sums0.T * (n_clusters / (n_clusters - 1.0))
        covariance = np.asarray(within + across + across.T)
    return DelongResult(
        auc=areas,
        covariance=covariance,
        names=read.names,
        n_positives=n1,
        n_negatives=n0,
        labels=read.labels,
        n_clusters=n_clusters,
        class_clusters=held,
        n_missing=read.n_missing,
    )


def place(read: Scores, threads: int) -> NDArray[np.float64]:
    """Compute the placements of all models."""
    values = np.empty((len(read.columns), read.positive.size))

    def fill(model: int) -> None:
        column = read.columns[model]
        kernels.placements(order_of(column), column, read.positive, values[model])

    if values.size < _THREADS_PAY:
        threads = 1
    with ThreadPool(min(threads, len(values))) as pool:
        pool.run(fill, range(len(values)))
    return values


def delong_unpaired(
    y_a: ArrayLike,
    score_a: ArrayLike,
    y_b: ArrayLike,
    score_b: ArrayLike,
    *,
    positive: Any = None,
    alternative: str = "two-sided",
    margin: float = 0.0,
    alpha: float = 0.05,
    method: str = "normal",
) -> AUCComparison:
    """Compare the AUCs of two models on different samples.

    Parameters
    ----------
    y_a : array-like, shape (n_a,)
        True labels of two classes, for model a.
    score_a : array-like, shape (n_a,)
        Higher scores indicate the positive class.
    y_b, score_b : array-like, shape (n_b,)
        The same for model b.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.
    margin : float
        The largest difference that does not matter, in (0, 1): adds tests of
        non-inferiority, superiority by the margin and equivalence, and a decision,
        as ``margins``. With "greater" the test itself is of non-inferiority:
        whether a is worse by less than this.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).
    method : {"normal", "t"}
        Distribution of the score under the null hypothesis: normal, or Student's t with
        the degrees of freedom of Welch and Satterthwaite, each model's variance having
        as many as it has samples, less one.

    Returns
    -------
    AUCComparison
        Score, p-value and interval.

    Raises
    ------
    ValueError
        As `delong`.
    TypeError
        If scores are not numbers.

    Notes
    -----
    In small samples t keeps the level better: with 8 positives and 8 negatives a model
    and normal scores, tests at 5% reject two equal areas of 0.5 in 6.2% of 20,000 pairs
    of samples by the normal reference and in 5.2% by t, areas of 0.71 in 5.5% and 4.3%.

    Examples
    --------
    >>> from fastcmp import delong_unpaired
    >>> y_true = [0, 0, 0, 1, 1, 1]
    >>> test = delong_unpaired(y_true, [1, 2, 3, 2, 4, 5], y_true, [3, 1, 2, 2, 3, 4])
    >>> round(test.pvalue, 4)
    0.8445
    """
    method = choose(method, "method", ("normal", "t"))
    a, b = areas_unpaired(y_a, score_a, y_b, score_b, positive)
    options = {"alternative": alternative, "margin": margin, "alpha": alpha}
    return compare_areas(a, b, method, **options)


def areas_unpaired(
    y_a: ArrayLike, score_a: ArrayLike, y_b: ArrayLike, score_b: ArrayLike, positive: Any
) -> tuple[DelongResult, DelongResult]:
    """Read the scores of two models on different samples; their areas."""
    return tuple(  # type: ignore[return-value]
        _delong(read_scores(y, {name: score}, positive, truth=truth), None, 1)
        for y, truth, score, name in (
            (y_a, "y_a", score_a, "score_a"),
            (y_b, "y_b", score_b, "score_b"),
        )
    )


def compare_areas(a: DelongResult, b: DelongResult, method: str, **options: Any) -> AUCComparison:
    """Compare two areas on different samples."""
    variances = np.array([a.covariance[0, 0], b.covariance[0, 0]])
    df = None
    if method == "t" and variances.any():
        sizes = [x.n_positives + x.n_negatives for x in (a, b)]
        parts = variances / variances.sum()
        df = float(1 / (parts**2 @ (1 / (np.array(sizes) - 1.0))))
    return compare_estimates(
        *(float(a.auc[0]), float(b.auc[0]), np.diag(variances)),
        df=df,
        n_rarer=(a.n_rarer, b.n_rarer),
        n_samples=sum(x.n_positives + x.n_negatives for x in (a, b)),
        **options,
    )


def hanley_mcneil(auc: float, n_positives: int, n_negatives: int) -> float:
    """Hanley and McNeil's standard error of an AUC, from its value and class sizes.

    Parameters
    ----------
    auc : float
        In [0, 1].
    n_positives, n_negatives : int
        Samples of each class, at least 1.

    Returns
    -------
    float
        By Hanley and McNeil's formula, which assumes negative exponential scores. Where
        scores are available, `delong` is better.

    Raises
    ------
    ValueError
        If a number is outside its range.

    References
    ----------
    .. [1] J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver
       operating characteristic (ROC) curve", Radiology 143 (1982) 29-36.

    Examples
    --------
    >>> from fastcmp import hanley_mcneil
    >>> round(hanley_mcneil(0.75, 110, 110), 6)
    0.03282
    """
    if isinstance(auc, bool) or not isinstance(auc, Real) or not 0 <= auc <= 1:
        raise ValueError(f"auc must lie in [0, 1], got {auc!r}")
    for name, n in (("n_positives", n_positives), ("n_negatives", n_negatives)):
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise ValueError(f"{name} must be a whole number >= 1, got {n!r}")
    area = float(auc)
    # Q1 - A**2 and Q2 - A**2, without the subtraction.
    two_positives = area * (1 - area) ** 2 / (2 - area)
    two_negatives = area**2 * (1 - area) / (1 + area)
    variance = area * (1 - area)
    variance += (n_positives - 1) * two_positives + (n_negatives - 1) * two_negatives
    return float(np.sqrt(variance / (float(n_positives) * n_negatives)))
