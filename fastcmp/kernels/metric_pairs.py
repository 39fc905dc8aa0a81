"""Influences of samples on a metric: looked up, added up, and compared in pairs.

The influence of a sample depends on its row (its true class, or stratum and class) and
on what the model predicts: each model has one table of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp._jit import kernel, wide_vectors

if TYPE_CHECKING:
    from fastcmp.kernels.typing import CodeArray, FloatArray, IntArray

_BITS = 64  # codes that a word has a bit for
_CHUNK = 4096  # samples whose squares are added up before they meet the total


@kernel
def mark_codes(codes: CodeArray, marks: CodeArray) -> None:
    """Write 1 to each entry of `marks` whose code occurs."""
    wide_vectors()
    for start in range(0, codes.size, _CHUNK):
        part = codes[start : start + _CHUNK]
        largest = part[0]
        for i in range(part.size):
            largest = max(largest, part[i])
        if largest >= _BITS:
            for i in range(part.size):
                marks[part[i]] = 1
            continue
        found = np.uint64(0)  # a bit a code: no entry waits for another
        for i in range(part.size):
            found |= np.uint64(1) << np.uint64(part[i])
        for code in range(largest + 1):
            if (found >> np.uint64(code)) & np.uint64(1):
                marks[code] = 1


@kernel
def gather_influences(starts: IntArray, pred: CodeArray, lookup: Any, pilot: Any, out: Any) -> None:
    """Look up the influence of each sample, less that of the pilot.

    `lookup` is a table written row by row, and `starts` where the row of each sample
    begins, from `table_starts`.
    """
    wide_vectors()
    for i in range(starts.size):
        out[i] = lookup[starts[i] + np.uint32(pred[i])] - pilot[i]


def table_starts(rows: CodeArray, n_codes: int) -> CodeArray:
    """Give the places where the rows of samples begin in a table of K' columns."""
    return rows.astype(np.uint32) * np.uint32(n_codes)


@kernel
def add_influences(
    rows: CodeArray,
    pred: CodeArray,
    lookup: FloatArray,
    units: IntArray,
    out: FloatArray,
) -> None:
    """Add the influence of each sample to that of its unit."""
    for i in range(rows.size):
        out[units[i]] += lookup[rows[i], pred[i]]


@kernel
def compare_influences(
    rows: CodeArray,
    pred_a: CodeArray,
    pred_b: CodeArray,
    lookup_a: FloatArray,
    lookup_b: FloatArray,
) -> tuple[int, float, float]:
    """Compare the influences of two models, sample by sample.

    How many predictions differ, the sum of the differences, and that of their squares.
    """
    wide_vectors()
    flat_a, flat_b, k = lookup_a.ravel(), lookup_b.ravel(), np.uint32(lookup_a.shape[1])
    differ, total, squares = 0, 0.0, 0.0
    for start in range(0, rows.size, _CHUNK):
        part, part_squares = 0.0, 0.0
        for i in range(start, min(start + _CHUNK, rows.size)):
            row = np.uint32(rows[i]) * k
            a, b = np.uint32(pred_a[i]), np.uint32(pred_b[i])
            difference = flat_a[row + a] - flat_b[row + b]
            differ += a != b
            part += difference
            part_squares += difference * difference
        total += part
        squares += part_squares
    return differ, total, squares


@kernel
def compare_cells(tensors: IntArray, of_a: FloatArray, of_b: FloatArray, out: FloatArray) -> None:
    """Compare the influences of pairs of models, cell by cell.

    `tensors` are samples ``[p, t, a, b]``, `of_a` and `of_b` influences ``[p, t, a]``;
    `out`, shape (P, 3), receives what `compare_influences` gives.
    """
    k = tensors.shape[3]
    for p in range(tensors.shape[0]):
        differ, total, squares = 0, 0.0, 0.0
        for t in range(tensors.shape[1]):
            for a in range(tensors.shape[2]):
                own = of_a[p, t, a]
                for b in range(k):
                    n = tensors[p, t, a, b]
                    if n == 0:
                        continue
                    difference = own - of_b[p, t, b]
                    if a != b:
                        differ += n
                    total += n * difference
                    squares += n * (difference * difference)
        out[p, 0], out[p, 1], out[p, 2] = differ, total, squares
