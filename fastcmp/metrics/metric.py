"""A metric of one model: value, standard error and interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.protocols import are_confusions
from fastcmp.metrics.cells import cells_of_table
from fastcmp.metrics.make_metric import read_metrics
from fastcmp.metrics.measured import measured, read_interval_options
from fastcmp.metrics.samples import Counted, count_samples
from fastcmp.metrics.tables import read_classes, read_square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from fastcmp.metrics.metric_result import MetricResult


def metric(
    y_true: ArrayLike,
    pred: ArrayLike,
    *,
    metric: Any = "accuracy",
    average: str | None = "binary",
    beta: float | None = None,
    positive: Any = None,
    labels: Any = "union",
    zero_division: float = 0.0,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str | None = None,
    interval: str = "percentile",
    scale: str | None = None,
    within_classes: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Any = None,
    workers: int | None = None,
) -> MetricResult:
    """Compute a metric of a model, with an interval.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred : array-like, shape (n,)
        Predicted labels; none may be missing.
    metric : str, callable, Metric or sequence of these
        Name of a metric such as "f1_macro", a function of the confusion matrix, or what
        `make_metric` made; of several, all come from one count.
    average : {"binary", "micro", "macro", "weighted"} or None
        How rates of several classes become one, as in `make_metric`.
    beta : float, optional
        For "fbeta": what recall counts beside precision.
    positive : label, optional
        The positive class of two; of numbers or booleans the larger one by default.
    labels : {"union", "truth"} or sequence
        Classes that an average is over, as in `make_metric`.
    zero_division : {0, 1, nan}
        A rate without samples, as in `make_metric`.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient.
    method : str, optional
        How the interval is made: "wilson" or "clopper-pearson" for rates, F1 and Jaccard of
        one class, and the accuracy; "score" for means of recalls or of precisions; "mover"
        [1]_ for means of rates; "combined", "jackknife", "delta", "bootstrap" or "abc" for
        all. By default "wilson", "score" for means of recalls, the delta method on the log
        scale for ratios, the jackknife for weighted kappas, costs and functions, and
        "combined" for others.
    interval : {"percentile", "bca", "basic", "studentized"}
        Which interval of the bootstrap.
    scale : {"identity", "logit", "atanh", "log"}, optional
        Where an interval by "jackknife" or "delta" is symmetric. "delta" alone gives
        the published interval, symmetric about the value.
    within_classes : bool
        Whether the number of samples of each class was fixed beforehand.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        Draws of the bootstrap.
    rng : int, numpy.random.Generator or None
        Where they come from.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    MetricResult
        Numbers for one metric; arrays for several, or with ``average=None``.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing, or an option is unknown or does not
        fit.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(n) to count; what follows does not depend on n. With clusters or weights the
    standard error is that of the delta method, with clusters of their sums and t with
    as many degrees of freedom as clusters, less 1.

    "score" keeps the sums whose distance from the estimate is at most z standard errors,
    computed at the likeliest recalls with that sum. "combined" takes the outer ends of the
    jackknife's interval, on the logit or Fisher's scale, and of another one: for means of
    rates MOVER's with the correlations of the classes, for other metrics the delta method's
    at the counts with two more samples, spread evenly over all cells. The jackknife alone
    sees no variance in a class that is always right. Where the standard
    error is 0 within the range of a metric, as MCC (0/0, taken as 0) and kappa of a model
    that predicts one class only, there is no interval (`DEGENERATE`).

    References
    ----------
    .. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect
       measures", Statistics in Medicine 27 (2008) 1693-1702.

    Examples
    --------
    >>> from fastcmp import metric
    >>> y_true = [0, 0, 0, 0, 0, 1, 1, 1]
    >>> result = metric(y_true, [0, 0, 0, 0, 1, 1, 1, 0], metric="f1")
    >>> round(result.value, 4), [round(end, 3) for end in result.interval]
    (0.6667, [0.261, 0.919])
    """
    options = read_interval_options(
        {
            "method": method,
            "interval": interval,
            "scale": scale,
            "within_classes": within_classes,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "rng": rng,
        }
    )
    metrics = read_metrics(metric, average, beta, positive, labels, zero_division)
    counted = count_samples(
        y_true,
        {"pred": pred},
        groups=groups,
        sample_weight=sample_weight,
        workers=workers,
    )
    several = isinstance(metric, (list, tuple))
    return measured(counted, metrics, options, several=several, workers=workers)


def metric_from_counts(
    table: ArrayLike,
    *,
    metric: Any = "accuracy",
    average: str | None = "binary",
    beta: float | None = None,
    positive: Any = None,
    labels: Any = "union",
    zero_division: float = 0.0,
    classes: Sequence[Any] | None = None,
    method: str | None = None,
    interval: str = "percentile",
    scale: str | None = None,
    within_classes: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Any = None,
    workers: int | None = None,
) -> MetricResult:
    """Compute a metric from a confusion matrix, with an interval.

    Parameters
    ----------
    table : array-like of int, shape (K, K), or fastcmp.stream.ConfusionCounts
        Samples by true class (rows) and predicted class; counts of a stream must be of
        one model, or ``counts.matrix("a")``.
    metric : str, callable, Metric or sequence of these
        As in `metric`.
    average : {"binary", "micro", "macro", "weighted"} or None
        How rates of several classes become one, as in `make_metric`.
    beta : float, optional
        For "fbeta": what recall counts beside precision.
    positive : label, optional
        The positive class of two; of numbers or booleans the larger one by default.
    labels : {"union", "truth"} or sequence
        Classes that an average is over, as in `make_metric`.
    zero_division : {0, 1, nan}
        A rate without samples, as in `make_metric`.
    classes : sequence, optional
        The label of each class; by default 0 to K - 1.
    method : str, optional
        How the interval is made, as in `metric`.
    interval : {"percentile", "bca", "basic", "studentized"}
        Which interval of the bootstrap.
    scale : {"identity", "logit", "atanh", "log"}, optional
        As in `metric`.
    within_classes : bool
        Whether the number of samples of each class was fixed beforehand.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        Draws of the bootstrap.
    rng : int, numpy.random.Generator or None
        Where they come from.
    workers : int, optional
        Threads.

    Returns
    -------
    MetricResult
        As from `metric`.

    Raises
    ------
    ValueError
        If the matrix is not square, a count is negative or fractional, or an option is
        unknown or does not fit.
    TypeError
        If counts are no numbers.

    Examples
    --------
    >>> from fastcmp import metric_from_counts
    >>> result = metric_from_counts([[40, 0], [0, 6]], metric="f1")
    >>> result.value, round(result.interval.low, 4), result.interval.high
    (1.0, 0.7575, 1.0)
    """
    options = read_interval_options(
        {
            "method": method,
            "interval": interval,
            "scale": scale,
            "within_classes": within_classes,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "rng": rng,
        }
    )
    metrics = read_metrics(metric, average, beta, positive, labels, zero_division)
    counted = _of_confusion(table, classes)
    several = isinstance(metric, (list, tuple))
    return measured(counted, metrics, options, several=several, workers=workers)


def _of_confusion(table: Any, classes: Sequence[Any] | None) -> Counted:
    """Take a confusion matrix, as an array or from a stream."""
    if are_confusions(table):
        if len(table.names or ()) != 1:
            raise ValueError(
                f"table is of {len(table.names or ())} models: pass "
                "counts.matrix(model) and classes=counts.classes"
            )
        if classes is not None:
            raise ValueError("classes are those of the counts: pass classes= to ConfusionCounts")
        cells = cells_of_table(table.matrix(0))
        dropped = (table.n_samples, table.n_missing, table.n_excluded)
        return Counted(cells, tuple(table.classes), *dropped)
    counts = read_square(table, "table", 2)
    names = read_classes(classes, len(counts))
    if classes is None and len(counts) > 2:
        # A class that never occurs is no class of the data, as with labels.
        used = np.flatnonzero(counts.any(axis=0) | counts.any(axis=1))
        counts = np.ascontiguousarray(counts[np.ix_(used, used)])
        names = tuple(names[code] for code in used.tolist())
    return Counted(cells_of_table(counts), names, int(counts.sum()))
