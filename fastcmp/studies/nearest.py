"""The nearest neighbour under a weighted distance, by trying all records.

A squared distance is the sum over predictors, in their order, of weight times squared
difference. Records at the same computed distance rank as they stand in the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.kernels.typing import FloatArray

    Codes = NDArray[np.int16]
    Neighbours = NDArray[np.int32]

# Points whose distances stay in the first-level cache, and fill its vectors.
_BLOCK = 512


@kernel
def _add_predictor(column: FloatArray, x: float, weight: float, out: FloatArray) -> None:
    # The loop over points is the inner one: it becomes vector code.
    for i in range(out.size):
        difference = column[i] - x
        out[i] += weight * (difference * difference)


@kernel
def _keep_nearer(
    column: FloatArray,
    x: float,
    weight: float,
    others: FloatArray,
    code: float,
    least: FloatArray,
    label: FloatArray,
) -> None:
    # The last predictor is added on the way. Labels are floats: as wide as distances,
    # they share the vector comparison (0.7 ns a point with whole numbers, 0.3 so).
    for i in range(others.size):
        difference = column[i] - x
        distance = others[i] + weight * (difference * difference)
        nearest = least[i]
        label[i] = code if distance < nearest else label[i]
        least[i] = min(distance, nearest)


@kernel
def nearest_labels(
    columns: FloatArray, train: FloatArray, labels: Codes, weights: FloatArray, out: Codes
) -> None:
    """Give each point, columns (p, n), the label of its nearest training record.

    O(m n p), about half a nanosecond for each predictor of a pair.
    """
    last = weights.size - 1
    # Slices of one array would no longer count as contiguous.
    all_sums, all_least, all_label = (np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK))
    for start in range(0, out.size, _BLOCK):
        stop = min(start + _BLOCK, out.size)
        sums, least = all_sums[: stop - start], all_least[: stop - start]
        label = all_label[: stop - start]
        least[:] = np.inf
        label[:] = labels[0]
        for j in range(train.shape[0]):
            sums[:] = 0.0
            for k in range(last):
                _add_predictor(columns[k, start:stop], train[j, k], weights[k], sums)
            column, code = columns[last, start:stop], float(labels[j])
            _keep_nearer(column, train[j, last], weights[last], sums, code, least, label)
        for i in range(start, stop):
            out[i] = int(label[i - start])


@kernel
def nearest_first(columns: FloatArray, weights: FloatArray, out: Neighbours) -> None:
    """List the k nearest other records of each record, the nearest one first: (n, k).

    O(n^2 p), and almost no sorting: few records are nearer than k seen before.
    """
    n, k = out.shape
    distance = np.empty(n)
    kept = np.empty(k)
    for i in range(n):
        distance[:] = 0.0
        for p in range(weights.size):
            _add_predictor(columns[p], columns[p, i], weights[p], distance)
        kept[:] = np.inf
        out[i] = -1
        for j in range(n):
            if j == i or not distance[j] < kept[k - 1]:
                continue
            place = k - 1
            while place > 0 and distance[j] < kept[place - 1]:
                kept[place] = kept[place - 1]
                out[i, place] = out[i, place - 1]
                place -= 1
            kept[place] = distance[j]
            out[i, place] = j


@kernel
def _nearest_that_trains(columns: FloatArray, weights: FloatArray, i: int, folds: Codes) -> int:
    least, nearest = np.inf, -1
    for j in range(folds.size):
        if folds[j] == folds[i] or folds[j] == -2:
            continue
        distance = 0.0
        for k in range(weights.size):
            difference = columns[k, j] - columns[k, i]
            distance += weights[k] * (difference * difference)
        if distance < least:
            least, nearest = distance, j
    return nearest


@kernel
def predict_nearest(
    columns: FloatArray,
    weights: FloatArray,
    neighbours: Neighbours,
    labels: Codes,
    folds: Codes,
    out: Codes,
) -> None:
    """Predict each tested record by the nearest one that trains; -1 without one.

    With half of the records in training, the second nearest is reached on average.
    """
    n_repetitions, n = folds.shape
    for r in range(n_repetitions):
        row = folds[r]
        for i in range(n):
            out[r, i] = -1
            if row[i] < 0:
                continue
            nearest = -1
            for j in neighbours[i]:
                if j >= 0 and row[j] != row[i] and row[j] != -2:
                    nearest = j
                    break
            if nearest < 0:
                nearest = _nearest_that_trains(columns, weights, i, row)
            if nearest >= 0:
                out[r, i] = labels[nearest]
