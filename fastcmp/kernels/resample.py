"""AUCs of resampled data, without sorting again.

Samples are sorted once for each model. A resample is a weight for each sample, and its
AUC one pass along the order.
"""

from __future__ import annotations

import math

import numpy as np

from fastcmp._jit import kernel
from fastcmp.kernels.rng import random_below
from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray


@kernel
def weighted_auc(order: IntArray, tied: CodeArray, positive: CodeArray, weights: IntArray) -> float:
    """Compute the AUC of samples that occur several times, or not at all.

    Parameters
    ----------
    order : ndarray of int64, shape (n,)
        Samples in ascending order of their scores.
    tied : ndarray of uint8, shape (n,)
        1 where ``order[k]`` has the score of ``order[k - 1]``.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.
    weights : ndarray of int64, shape (n,)
        How often each sample occurs.

    Returns
    -------
    float
        Ties count half; NaN if a class does not occur.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import weighted_auc
    >>> order, positive = np.array([0, 1, 2]), np.array([0, 1, 0], np.uint8)
    >>> area = weighted_auc(order, np.zeros(3, np.uint8), positive, np.array([2, 1, 1]))
    >>> round(float(area), 4)
    0.6667
    """
    below = twice = all_positive = 0
    run_0 = run_1 = 0
    for k in range(order.size):
        if not tied[k]:
            twice += run_1 * (2 * below + run_0)
            below += run_0
            all_positive += run_1
            run_0 = run_1 = 0
        sample = order[k]
        weight = weights[sample]
        of_positive = weight * int(positive[sample])
        run_1 += of_positive
        run_0 += weight - of_positive
    twice += run_1 * (2 * below + run_0)
    below += run_0
    all_positive += run_1
    if below == 0 or all_positive == 0:
        return math.nan
    return twice / (2.0 * below * all_positive)


@kernel
def bootstrap_aucs(
    orders: IntArray, ties: CodeArray, positive: CodeArray, seed: int, first: int, out: FloatArray
) -> None:
    """Draw stratified bootstrap samples and compute the AUC of each model on each.

    Parameters
    ----------
    orders : ndarray of int64, shape (M, n)
        Samples in ascending order of each model's scores.
    ties : ndarray of uint8, shape (M, n)
        As `tied` of `weighted_auc`.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives; each class is drawn with replacement.
    seed, first : int
        Replicate i is a function of (seed, first + i).
    out : ndarray of float64, shape (B, M)
        Receives the AUCs.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bootstrap_aucs
    >>> orders, positive = np.array([[0, 1, 2, 3]]), np.array([0, 1, 0, 1], np.uint8)
    >>> out = np.empty((3, 1))
    >>> bootstrap_aucs(orders, np.zeros((1, 4), np.uint8), positive, 1, 0, out)
    >>> bool(((out >= 0) & (out <= 1)).all())
    True
    """
    members, n1 = _members(positive)
    weights = np.empty(positive.size, np.int64)
    for b in range(out.shape[0]):
        _draw_classes(members, n1, seed, first + b, weights)
        for m in range(orders.shape[0]):
            out[b, m] = weighted_auc(orders[m], ties[m], positive, weights)


@kernel
def _members(positive: CodeArray) -> tuple[IntArray, int]:
    """List the positives, then the negatives; count the positives."""
    n = positive.size
    members = np.empty(n, np.int64)
    n1 = 0
    for i in range(n):
        if positive[i]:
            members[n1] = i
            n1 += 1
    n0 = 0
    for i in range(n):
        if not positive[i]:
            members[n1 + n0] = i
            n0 += 1
    return members, n1


@kernel
def _draw_classes(members: IntArray, n1: int, seed: int, replicate: int, weights: IntArray) -> None:
    """Draw each class with replacement: count how often each sample is drawn."""
    n = members.size
    weights[:] = 0
    for draw in range(n1):
        weights[members[random_below(seed, replicate, draw, n1)]] += 1
    for draw in range(n1, n):
        weights[members[n1 + random_below(seed, replicate, draw, n - n1)]] += 1


@kernel
def permuted_differences(
    order: IntArray, tied: CodeArray, positive: CodeArray, seed: int, first: int, out: FloatArray
) -> None:
    """Exchange the two models' scores of random samples; write the AUC differences.

    Parameters
    ----------
    order : ndarray of int64, shape (2 n,)
        Entries of both models in ascending order of scores that can be exchanged: entry
        i is sample i of the first model, entry n + i that of the second.
    tied : ndarray of uint8, shape (2 n,)
        As in `weighted_auc`.
    positive : ndarray of uint8, shape (n,)
        1 for positives, 0 for negatives.
    seed, first : int
        Replicate i is a function of (seed, first + i).
    out : ndarray of float64, shape (B,)
        Receives the AUC of the first model minus that of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import permuted_differences
    >>> positive, out = np.array([0, 1], np.uint8), np.empty(4)
    >>> order, tied = np.array([0, 3, 2, 1]), np.zeros(4, np.uint8)
    >>> permuted_differences(order, tied, positive, 1, 0, out)
    >>> sorted(set(out.tolist()))
    [0.0, 1.0]
    """
    n = positive.size
    both = np.empty(2 * n, np.uint8)
    both[:n] = positive
    both[n:] = positive
    weights = np.empty(2 * n, np.int64)
    for b in range(out.size):
        for i in range(n):
            swapped = random_below(seed, first + b, i, 2)
            weights[i] = 1 - swapped
            weights[n + i] = swapped
        one = weighted_auc(order, tied, both, weights)
        for i in range(2 * n):
            weights[i] = 1 - weights[i]
        out[b] = one - weighted_auc(order, tied, both, weights)


@kernel
def weighted_roc(
    order: IntArray, tied: CodeArray, positive: CodeArray, weights: IntArray, points: FloatArray
) -> int:
    """Find the ROC curve of samples that occur several times, or not at all.

    Parameters
    ----------
    order, tied, positive, weights : ndarray, shape (n,)
        As in `weighted_auc`.
    points : ndarray of float64, shape (2, n + 1)
        Receives false and true positive rates, from (0, 0) to (1, 1).

    Returns
    -------
    int
        Number of points; rates are NaN if a class does not occur.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import weighted_roc
    >>> order, positive = np.array([0, 1, 2]), np.array([0, 1, 0], np.uint8)
    >>> points, ones = np.empty((2, 4)), np.ones(3, np.int64)
    >>> n = weighted_roc(order, np.zeros(3, np.uint8), positive, ones, points)
    >>> points[:, :n].tolist()
    [[0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0]]
    """
    n = order.size
    below = all_positive = 0
    for i in range(n):
        of_positive = weights[i] * int(positive[i])
        all_positive += of_positive
        below += weights[i] - of_positive
    all_0 = float(below) if below > 0 else math.nan
    all_1 = float(all_positive) if all_positive > 0 else math.nan
    points[0, 0] = points[1, 0] = 0.0
    n_points, fp, tp, seen = 1, 0, 0, 0
    for k in range(n - 1, -1, -1):
        weight = weights[order[k]]
        of_positive = weight * int(positive[order[k]])
        tp += of_positive
        fp += weight - of_positive
        seen += weight
        if seen and not tied[k]:
            points[0, n_points], points[1, n_points] = fp / all_0, tp / all_1
            n_points += 1
            seen = 0
    return n_points


@kernel
def partial_area(x: FloatArray, y: FloatArray, low: float, high: float) -> float:
    """Area under points that are joined by lines, between two values of x.

    Parameters
    ----------
    x : ndarray of float64, shape (T,)
        Not descending.
    y : ndarray of float64, shape (T,)
        Heights.
    low, high : float
        Within the range of `x`.

    Returns
    -------
    float
        The area.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import partial_area
    >>> partial_area(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0]), 0.0, 0.5)
    0.3125
    """
    area = 0.0
    for k in range(1, x.size):
        left, right = max(x[k - 1], low), min(x[k], high)
        if left < right:
            slope = (y[k] - y[k - 1]) / (x[k] - x[k - 1])
            middle = 0.5 * (left + right)
            area += (right - left) * (y[k - 1] + slope * (middle - x[k - 1]))
    return area


@kernel
def highest_at(x: FloatArray, y: FloatArray, at: float) -> float:
    """Height of points that are joined by lines; of several at one x, the highest.

    Parameters
    ----------
    x : ndarray of float64, shape (T,)
        Not descending.
    y : ndarray of float64, shape (T,)
        Heights.
    at : float
        Within the range of `x`.

    Returns
    -------
    float
        The height.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import highest_at
    >>> highest_at(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0]), 0.5)
    0.75
    """
    right = np.searchsorted(x, at)
    if right == x.size or math.isnan(x[right]):
        return math.nan
    if x[right] == at:
        highest = y[right]
        while right + 1 < x.size and x[right + 1] == at:
            right += 1
            highest = max(highest, y[right])
        return float(highest)
    slope = (y[right] - y[right - 1]) / (x[right] - x[right - 1])
    return float(y[right - 1] + slope * (at - x[right - 1]))


@kernel
def bootstrap_rocs(
    orders: IntArray,
    ties: CodeArray,
    positive: CodeArray,
    by_tpr: bool,
    at: FloatArray,
    area: bool,
    seed: int,
    first: int,
    out: FloatArray,
) -> None:
    """Draw stratified bootstrap samples, and read the ROC curve of each model on each.

    Parameters
    ----------
    orders, ties, positive : ndarray
        As in `bootstrap_aucs`, which draws the same samples.
    by_tpr : bool
        Whether to read the specificity at true positive rates, instead of the true
        positive rate at false positive rates.
    at : ndarray of float64, shape (G,)
        The rates to read at, or the two ends of a partial area.
    area : bool
        Whether to give the area between ``at[0]`` and ``at[1]``.
    seed, first : int
        Replicate i is a function of (seed, first + i).
    out : ndarray of float64, shape (B, M, G)
        Receives the rates, or the area at index 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bootstrap_rocs
    >>> orders, positive = np.array([[0, 1, 2, 3]]), np.array([0, 1, 0, 1], np.uint8)
    >>> ties, out = np.zeros((1, 4), np.uint8), np.empty((3, 1, 1))
    >>> at = np.array([0.5])
    >>> bootstrap_rocs(orders, ties, positive, False, at, False, 1, 0, out)
    >>> bool(((out >= 0) & (out <= 1)).all())
    True
    """
    members, n1 = _members(positive)
    weights = np.empty(positive.size, np.int64)
    points = np.empty((2, positive.size + 1))
    for b in range(out.shape[0]):
        _draw_classes(members, n1, seed, first + b, weights)
        for m in range(orders.shape[0]):
            n = weighted_roc(orders[m], ties[m], positive, weights, points)
            x, y = points[0, :n], points[1, :n]
            if by_tpr:
                x, y = points[1, :n], 1.0 - points[0, :n]
            if area:
                out[b, m, 0] = partial_area(x, y, at[0], at[1])
            else:
                for g in range(at.size):
                    out[b, m, g] = highest_at(x, y, at[g])
