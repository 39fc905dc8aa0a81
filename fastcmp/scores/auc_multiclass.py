"""The area under the ROC curve for more than two classes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import choose
from fastcmp.inputs.class_scores import ClassScores, has_columns, read_class_scores
from fastcmp.inputs.scores import read_scores
from fastcmp.scores.auc import count_pairs
from fastcmp.scores.averaging import (
    AVERAGES,
    average_classes,
    class_weights,
)
from fastcmp.scores.curves import roc_points
from fastcmp.scores.thresholds import sweep_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def auc_multiclass(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    method: str = "ovr",
    average: str | None = "macro",
    classes: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Average the areas of all classes or labels, or of all pairs of classes.

    Parameters
    ----------
    y_true : array-like, shape (n,) or (n, K)
        True labels; samples with a missing one are dropped. Or 0 and 1 for each of K
        labels, of which a sample may have several (multilabel).
    scores : array-like, shape (n, K)
        A column a class, as ``predict_proba`` gives them, or a label.
    method : {"ovr", "ovo"}
        Each class against the rest, or Hand and Till's mean over pairs of classes.
    average : {"macro", "weighted", "micro", "samples"} or None
        Plain mean; by the frequency of the class, or of the two classes; one area of
        all samples and classes together; mean over samples of the area of a sample's
        K scores; or no average. "micro" and "samples" are for "ovr" only.
    classes : sequence, optional
        Labels of the columns; by default the distinct true labels, sorted.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.

    Returns
    -------
    float or ndarray
        In [0, 1]; without an average of shape (K,), for "ovo" (K (K - 1) / 2,), pairs
        in the order of ``np.triu_indices(K, 1)``.

    Raises
    ------
    ValueError
        If shapes do not fit, a score is NaN, a class has no sample, or options do not
        go together.
    TypeError
        If scores are not numbers.

    References
    ----------
    .. [1] D. J. Hand, R. J. Till, "A simple generalisation of the area under the ROC
       curve for multiple class classification problems", Machine Learning 45 (2001)
       171-186.

    Examples
    --------
    >>> from fastcmp import auc_multiclass
    >>> scores = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]]
    >>> round(auc_multiclass(["a", "b", "c", "c"], scores, method="ovo"), 4)
    0.875
    >>> auc_multiclass(["a", "b", "c", "c"], scores, average=None).round(3).tolist()
    [1.0, 0.667, 0.875]
    """
    method = choose(method, "method", ("ovr", "ovo"))
    average = choose(average, "average", AVERAGES)
    if method == "ovo" and (average in ("micro", "samples") or has_columns(y_true)):
        raise ValueError(
            "method='ovo' compares pairs of classes: y_true must be of shape (n,), and "
            f"average 'macro', 'weighted' or None, got {average!r}"
        )
    read = read_class_scores(y_true, scores, classes, sample_weight)
    if method == "ovr":
        return average_classes(read, _area, average)
    return _average_pairs(read, average)


def _average_pairs(read: ClassScores, average: str | None) -> Any:
    sums = class_weights(read)
    areas, sizes = [], []
    for i, j in combinations(range(len(read.names)), 2):
        both = read.positive[:, i] | read.positive[:, j]
        weights = None if read.weights is None else read.weights[both]
        one, other = (_area(read.positive[both, k], read.scores[both, k], weights) for k in (i, j))
        areas.append((one + other) / 2)
        sizes.append(sums[i] + sums[j])
    if average is None:
        return np.array(areas)
    return float(np.average(areas, weights=sizes if average == "weighted" else None))


def _area(
    flags: NDArray[np.bool_], scores: NDArray[Any], weights: NDArray[np.float64] | None
) -> float:
    read = read_scores(flags, scores, positive=True)
    if not 0 < read.n_positives < flags.size:
        raise ValueError("an area needs both classes, got one")
    if weights is None:
        return count_pairs(read, 0).auc
    return roc_points(sweep_scores(read, weights)).auc
