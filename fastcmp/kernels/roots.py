"""One step of a bracketed root search, shared by the kernels that invert a function."""

from __future__ import annotations

import math

from fastcmp._jit import helper


@helper
def itp_step(low: float, f_low: float, high: float, f_high: float, reach: float) -> float:
    """Propose the next abscissa by interpolation, truncation and projection.

    Superlinear on smooth functions; slower than bisection by at most the slack in
    `reach`, the distance of the proposal from the midpoint (Oliveira and Takahashi
    2020, ACM TOMS 47, 5). The function values have opposite signs and may be infinite.
    """
    middle = 0.5 * (low + high)
    width = high - low
    if not math.isfinite(f_high - f_low):
        return middle
    secant = (f_high * low - f_low * high) / (f_high - f_low)
    # At least one unit in the last place, or a proposal could fall on an end forever.
    scale = max(abs(low), abs(high))
    shift = max(0.2 * width * width / max(scale, width), 2.3e-16 * scale)
    gap = middle - secant
    guess = middle if shift > abs(gap) else secant + math.copysign(shift, gap)
    if abs(guess - middle) <= reach:
        return guess
    return middle - math.copysign(max(reach, 0.0), gap)
