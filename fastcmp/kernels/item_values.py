"""Values of items, a row a model: what they are, and how two rows differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

#: What a row of values holds, at most.
ZERO_ONE: Final = 0
FINITE: Final = 1
NOT_FINITE: Final = 2

_FEW = 64


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
            # The difference is NaN for what is not finite.
            bad += values[i] - values[i] != 0
        if bad:
            return NOT_FINITE
        start = end
    return FINITE


@kernel
def difference_moments(values_a: Any, values_b: Any, out: FloatArray) -> None:
    """Add up the moments of the differences of two rows of values, in two passes.

    Parameters
    ----------
    values_a, values_b : ndarray of float64, float32 or uint8, shape (n,)
        Values of the same items.
    out : ndarray of float64, shape (5,)
        Receives the mean of the differences, the sums of the squares and of the cubes
        of their distances from it, the largest such distance, and the largest value
        without its sign.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import difference_moments
    >>> out = np.empty(5)
    >>> difference_moments(np.array([1.0, 3.0]), np.array([1.0, 1.0]), out)
    >>> out.tolist()
    [1.0, 2.0, 0.0, 1.0, 3.0]
    """
    n = values_a.size
    pilot = np.float64(values_a[0]) - np.float64(values_b[0])
    total = 0.0
    start = 0
    while start < n:
        end = min(start + 512, n)
        a, b = values_a[start:end], values_b[start:end]
        # Eight sums: one alone would wait for each addition.
        part = np.zeros(8)
        whole = (end - start) // 8 * 8
        for i in range(0, whole, 8):
            for j in range(8):
                part[j] += (np.float64(a[i + j]) - np.float64(b[i + j])) - pilot
        for i in range(whole, end - start):
            part[0] += (np.float64(a[i]) - np.float64(b[i])) - pilot
        for j in range(8):
            total += part[j]
        start = end
    shift = total / n
    squares = cubes = largest = scale = 0.0
    start = 0
    while start < n:
        end = min(start + 512, n)
        a, b = values_a[start:end], values_b[start:end]
        second, third = np.zeros(8), np.zeros(8)
        most, size = np.zeros(8), np.zeros(8)
        whole = (end - start) // 8 * 8
        for i in range(0, whole, 8):
            for j in range(8):
                x, y = np.float64(a[i + j]), np.float64(b[i + j])
                d = (x - y) - pilot - shift
                second[j] += d * d
                third[j] += d * d * d
                most[j] = max(most[j], abs(d))
                size[j] = max(size[j], abs(x), abs(y))
        for i in range(whole, end - start):
            x, y = np.float64(a[i]), np.float64(b[i])
            d = (x - y) - pilot - shift
            second[0] += d * d
            third[0] += d * d * d
            most[0] = max(most[0], abs(d))
            size[0] = max(size[0], abs(x), abs(y))
        for j in range(8):
            squares += second[j]
            cubes += third[j]
            largest = max(largest, most[j])
            scale = max(scale, size[j])
        start = end
    out[0], out[1], out[2] = pilot + shift, squares, cubes
    out[3], out[4] = largest, scale
    if n == 0:
        out[:] = math.nan
