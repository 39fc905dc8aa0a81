"""Values of items, a row a model: what they are, and how two rows differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

#: What a row of values holds, at most.
ZERO_ONE: Final = 0
FINITE: Final = 1
NOT_FINITE: Final = 2
#: Values must be below this in size, so that their cubes are finite.
LARGEST: Final = 1e100


@kernel
def _kind_of_values(values: FloatArray) -> int:
    """Tell whether all values are 0 or 1, all are finite, or not even that."""
    n = values.size
    zero_one = True
    for i in range(n):
        x = values[i]
        if x != 0 and x != 1:  # noqa: PLR1714  # sets are slow in kernels
            zero_one = False
            break
    if zero_one:
        return ZERO_ONE
    start = 0
    while start < n:
        end = min(start + 1024, n)
        bad = 0
        for i in range(start, end):
            bad += not abs(values[i]) < LARGEST
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
    products: FloatArray,
    scale: float,
    df: float,
    covariance: FloatArray,
    squares: FloatArray,
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
    """Add up the moments of the differences of two rows of values, in two passes.

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
    first, second = np.float64(values_a[0]), np.float64(values_b[0])
    sums = np.zeros(3)
    start = 0
    while start < n:
        end = min(start + 512, n)
        a, b = values_a[start:end], values_b[start:end]
        # Eight sums of each: one alone would wait for each addition.
        da, db, dd = np.zeros(8), np.zeros(8), np.zeros(8)
        whole = (end - start) // 8 * 8
        for i in range(0, whole, 8):
            for j in range(8):
                x, y = np.float64(a[i + j]), np.float64(b[i + j])
                da[j] += x - first
                db[j] += y - second
                dd[j] += x - y
        for i in range(whole, end - start):
            x, y = np.float64(a[i]), np.float64(b[i])
            da[0] += x - first
            db[0] += y - second
            dd[0] += x - y
        sums[0] += da.sum()
        sums[1] += db.sum()
        sums[2] += dd.sum()
        start = end
    mean_a, mean_b, mean = first + sums[0] / n, second + sums[1] / n, sums[2] / n
    rest = np.zeros(5)
    largest = scale = left = 0.0
    start = 0
    while start < n:
        end = min(start + 512, n)
        a, b = values_a[start:end], values_b[start:end]
        part = np.zeros((6, 8))
        most, size = np.zeros(8), np.zeros(8)
        whole = (end - start) // 8 * 8
        for i in range(0, whole, 8):
            for j in range(8):
                x, y = np.float64(a[i + j]), np.float64(b[i + j])
                d = (x - y) - mean
                part[0, j] += d * d
                part[1, j] += d * d * d
                part[5, j] += d
                most[j] = max(most[j], abs(d))
                size[j] = max(size[j], abs(x), abs(y))
                x -= mean_a
                y -= mean_b
                part[2, j] += x * x
                part[3, j] += y * y
                part[4, j] += x * y
        for i in range(whole, end - start):
            x, y = np.float64(a[i]), np.float64(b[i])
            d = (x - y) - mean
            part[0, 0] += d * d
            part[1, 0] += d * d * d
            part[5, 0] += d
            most[0] = max(most[0], abs(d))
            size[0] = max(size[0], abs(x), abs(y))
            x -= mean_a
            y -= mean_b
            part[2, 0] += x * x
            part[3, 0] += y * y
            part[4, 0] += x * y
        for j in range(8):
            for k in range(5):
                rest[k] += part[k, j]
            left += part[5, j]
            largest = max(largest, most[j])
            scale = max(scale, size[j])
        start = end
    # What rounding left of the mean is added to it.
    out[0], out[1], out[2] = mean + left / n, rest[0] - left * left / n, rest[1]
    out[3], out[4], out[5], out[6] = largest, scale, mean_a, mean_b
    out[7], out[8], out[9] = rest[2], rest[3], rest[4]
