"""The largest value of a polynomial in Bernstein form.

An exact unconditional p-value is the largest probability of a result at least as
extreme, over a probability pi that is not known:

    sup over pi of  sum over k of  a_k * C(n, k) * pi**k * (1 - pi)**(n - k),

with a_k = P(at least as extreme | k), in [0, 1]. In phi = arcsin(sqrt(pi)) it cannot
bend on a scale below 1/(2 sqrt(n)), so that a grid of 1/(8 sqrt(n)) finds every
maximum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from fastcmp._jit import kernel
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.special import _gammaln, square
from fastcmp.kernels.status import NOT_CONVERGED, OK

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray

_TOLERANCE = 1e-12
_NEGLIGIBLE = 1e-306  # as a_k <= 1, a smaller weight changes no p-value above it


class _Point(NamedTuple):
    value: float
    slope: float


@kernel
def _bernstein(a: FloatArray, pi: float) -> _Point:
    """Value and slope in pi of sum a_k Bin(k; n, pi), summed outward from the mode."""
    n = a.size - 1
    mode = min(n, int((n + 1) * pi))
    log_pmf = (
        _gammaln(n + 1.0, 0)
        - _gammaln(mode + 1.0, 0)
        - _gammaln(n - mode + 1.0, 0)
        + mode * math.log(pi)
        + (n - mode) * math.log1p(-pi)
    )
    peak = math.exp(log_pmf)
    odds = pi / (1.0 - pi)
    value = peak * a[mode]
    slope = value * (mode - n * pi)
    mass = peak
    weight = peak
    for k in range(mode + 1, n + 1):
        weight *= odds * (n - k + 1) / k
        mass += weight
        value += weight * a[k]
        slope += weight * a[k] * (k - n * pi)
        if weight < max(1e-19 * value / n, _NEGLIGIBLE):
            break
    weight = peak
    for k in range(mode - 1, -1, -1):
        weight *= (k + 1) / (odds * (n - k))
        mass += weight
        value += weight * a[k]
        slope += weight * a[k] * (k - n * pi)
        if weight < max(1e-19 * value / n, _NEGLIGIBLE):
            break
    # Dividing by the mass removes the rounding of log_pmf, which grows with n.
    return _Point(value / mass, slope / mass / (pi * (1.0 - pi)))


@kernel
def _climb(a: FloatArray, low: float, high: float) -> _Point:
    """Find the one maximum between two angles with slopes of opposite signs."""
    f_low = _bernstein(a, square(math.sin(low))).slope
    f_high = _bernstein(a, square(math.sin(high))).slope
    best = _bernstein(a, square(math.sin(low)))
    for i in range(100):
        reach = 0.5 * (high - low) if i < 60 else 0.0
        angle = itp_step(low, f_low, high, f_high, reach)
        point = _bernstein(a, square(math.sin(angle)))
        if point.value > best.value:
            best = point
        if point.slope > 0.0:
            low, f_low = angle, point.slope
        else:
            high, f_high = angle, point.slope
        # How much higher the concave top can be, under its two tangents.
        hidden = (high - low) * max(f_low, 0.0) * math.sin(2.0 * angle)
        if hidden <= _TOLERANCE * best.value or high - low < 1e-16:
            return _Point(best.value, 0.0)
    return _Point(best.value, math.nan)


@kernel
def _largest_probability(a: FloatArray) -> tuple[float, int]:
    """Find the largest value over pi in [0, 1], to 1e-10, and a status."""
    n = a.size - 1
    best = max(a[0], a[n])  # the limits at 0 and 1
    if best >= 1.0 or a.max() == 0.0:
        return best, OK
    cells = 8 * math.ceil(0.5 * math.pi * math.sqrt(n)) + 64
    step = 0.5 * math.pi / cells
    status = OK
    left = _Point(0.0, math.inf)
    angle = 0.0
    for i in range(1, cells + 1):
        before = angle
        angle = min(i * step, 0.5 * math.pi - 1e-6)
        right = _bernstein(a, square(math.sin(angle)))
        best = max(best, right.value)
        if left.slope > 0.0 and right.slope <= 0.0 and i > 1:
            # How much higher the top may be: by a tangent, or, where the curve turns
            # within the cell, by a thousandth.
            up, down = left.slope * math.sin(2.0 * before), right.slope
            rise = step * max(up, -down * math.sin(2.0 * angle))
            if max(left.value, right.value) + rise > 0.999 * best:
                top = _climb(a, before, angle)
                best = max(best, top.value)
                if math.isnan(top.slope):
                    status = NOT_CONVERGED
        left = right
    return min(best, 1.0), status
