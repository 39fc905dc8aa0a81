"""Values of items, a row a model: what they are, and how two rows differ."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from fastcmp._jit import kernel, wide_vectors
from fastcmp.kernels.typing import FloatArray, IntArray

#: What a row of values holds, at most.
ZERO_ONE: Final = 0
FINITE: Final = 1
NOT_FINITE: Final = 2
#: Values must be below this in size, so that their cubes are finite.
LARGEST: Final = 1e100
#: Values from here on are divided by a power of two first (`core.numbers`).
_PLAIN: Final = 1e30


@kernel
def _kind_of_values(values: FloatArray) -> int:
    """Tell whether all values are 0 or 1, all are below 1e30 in size, or neither."""
    n = values.size
    zero_one = True
    for i in range(n):
        x = values[i]
        if x != 0 and x != 1:  # sets are slow in kernels
            zero_one = False
            break
    if zero_one:
        return ZERO_ONE
    wide_vectors()
    start = 0
    while start < n:
        end = min(start + 1024, n)
        bad = 0
        for i in range(start, end):
            bad += not abs(values[i]) < _PLAIN
        if bad:
            return NOT_FINITE
        start = end
    return FINITE


@kernel
def copy_values(
    values: Any,
    block: tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray],
    middle: FloatArray,
    row: tuple[int, int, bool],
    out: FloatArray,
    sums: FloatArray,
) -> None:
    """Copy some values of a model, less what is near them, and add up moments.

    `block` holds the positions of items, or of the first alone; the ends of strata;
    what to subtract from each item; weights w and counts c of items or strata. `middle`
    has two numbers for each stratum: what to subtract as well, and instead. `row` is
    the model, the number of models, and whether w and c are those of items. `out`, a
    row a model for each stratum, receives the differences d times the root of c, and
    `sums` grow by those of w d, c d, and with the second number alone w x, c x, c x**2.
    """
    where, ends, pilot, sizes, counts = block
    model, n_models, of_items = row
    listed = where.size == pilot.size and pilot.size > 1
    for h in range(ends.size - 1):
        near, own = middle[h, 0], middle[h, 1]
        start, end = ends[h], ends[h + 1]
        place = n_models * start + model * (end - start) - start
        if of_items:
            for i in range(start, end):
                x = np.float64(values[where[i] if listed else where[0] + i])
                d, y, c = x - pilot[i] - near, x - own, counts[i]
                out[place + i] = d * math.sqrt(c)
                sums[h, 0] += sizes[i] * d
                sums[h, 1] += c * d
                sums[h, 2] += sizes[i] * y
                sums[h, 3] += c * y
                sums[h, 4] += c * y * y
            continue
        root = math.sqrt(counts[h])
        ds, ys, squares = 0.0, 0.0, 0.0
        for i in range(start, end):
            x = np.float64(values[where[i] if listed else where[0] + i])
            d, y = x - pilot[i] - near, x - own
            out[place + i] = d * root
            ds += d
            ys += y
            squares += y * y
        sums[h, 0] += sizes[h] * ds
        sums[h, 1] += counts[h] * ds
        sums[h, 2] += sizes[h] * ys
        sums[h, 3] += counts[h] * ys
        sums[h, 4] += counts[h] * squares


@kernel
def _centre_products(
    products: FloatArray, shift: FloatArray, crossed: FloatArray, count: float
) -> None:
    """Move the lower half of products to the means, by `shift` from where they were."""
    for i in range(shift.size):
        a, b = shift[i], crossed[i]
        row = products[i]
        for j in range(i + 1):
            row[j] += a * (count * shift[j] - crossed[j]) - b * shift[j]


@kernel
def add_products(
    products: FloatArray, scale: float, df: float, covariance: FloatArray, squares: FloatArray
) -> None:
    """Add the products of a stratum to the covariances, and its squared variances.

    Lower halves are read and written; `squares` may be empty.
    """
    m = products.shape[0]
    own = np.empty(m)
    for i in range(m):
        own[i] = products[i, i]
    for i in range(m):
        row, out = products[i], covariance[i]
        for j in range(i + 1):
            out[j] += scale * row[j]
        if squares.size:
            out = squares[i]
            for j in range(i + 1):
                v = max(scale * (own[i] + own[j] - 2.0 * row[j]), 0.0)
                out[j] += v * v / df


@kernel
def difference_moments(values_a: Any, values_b: Any, out: FloatArray) -> None:
    """Add up the moments of the differences of two rows of values, in one pass.

    Parameters
    ----------
    values_a, values_b : ndarray of float64, float32 or uint8, shape (n,)
        Values of the same items.
    out : ndarray of float64, shape (10,)
        Receives the mean of the differences, the sums of the squares and of the cubes
        of their distances from it, the largest such distance, and the largest value
        without its sign; the means of both models, the sums of the squares of their
        distances from these, and of the products of both.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import difference_moments
    >>> out = np.empty(10)
    >>> difference_moments(np.array([1.0, 3.0]), np.array([1.0, 1.0]), out)
    >>> out.tolist()
    [1.0, 2.0, 0.0, 1.0, 3.0, 2.0, 1.0, 2.0, 0.0, 0.0]
    """
    n = values_a.size
    if n == 0:
        out[:] = math.nan
        return
    wide_vectors()
    # Near the means, so that one pass about these numbers loses hardly a digit.
    few = min(n, 256)
    near_a = near_b = 0.0
    for i in range(few):
        near_a += np.float64(values_a[i]) / few
        near_b += np.float64(values_b[i]) / few
    near = near_a - near_b
    # Four sums of each: one alone would wait for each addition.
    total = np.zeros(9)
    low, high, scale = math.inf, -math.inf, 0.0
    start = 0
    while start < n:
        end = min(start + 512, n)
        a, b = values_a[start:end], values_b[start:end]
        part = np.zeros((8, 4))
        least, most, size = np.full(4, math.inf), np.full(4, -math.inf), np.zeros(4)
        whole = (end - start) // 4 * 4
        for i in range(0, whole, 4):
            for j in range(4):
                x, y = np.float64(a[i + j]), np.float64(b[i + j])
                d = (x - y) - near
                least[j], most[j] = min(least[j], d), max(most[j], d)
                size[j] = max(size[j], abs(x), abs(y))
                x -= near_a
                y -= near_b
                part[0, j] += d
                part[1, j] += d * d
                part[2, j] += d * d * d
                part[3, j] += x
                part[4, j] += y
                part[5, j] += x * x
                part[6, j] += y * y
                part[7, j] += x * y
        for i in range(whole, end - start):
            x, y = np.float64(a[i]), np.float64(b[i])
            d = (x - y) - near
            least[0], most[0] = min(least[0], d), max(most[0], d)
            size[0] = max(size[0], abs(x), abs(y))
            x -= near_a
            y -= near_b
            part[0, 0] += d
            part[1, 0] += d * d
            part[2, 0] += d * d * d
            part[3, 0] += x
            part[4, 0] += y
            part[5, 0] += x * x
            part[6, 0] += y * y
            part[7, 0] += x * y
        for j in range(4):
            for k in range(8):
                total[k] += part[k, j]
            low, high = min(low, least[j]), max(high, most[j])
            scale = max(scale, size[j])
        start = end
    d, a_more, b_more = total[0] / n, total[3] / n, total[4] / n
    squares = total[1] - n * d * d
    out[0], out[1] = near + d, max(squares, 0.0)
    out[2] = total[2] - 3.0 * d * total[1] + 2.0 * n * d * d * d
    out[3], out[4] = max(high - d, d - low), scale
    out[5], out[6] = near_a + a_more, near_b + b_more
    out[7] = max(total[5] - n * a_more * a_more, 0.0)
    out[8] = max(total[6] - n * b_more * b_more, 0.0)
    out[9] = total[7] - n * a_more * b_more
