"""Tango's score of a difference of two paired proportions, and its interval.

Only model a is right on ``only_a`` of n samples, only model b on ``only_b``.
"""

from __future__ import annotations

import math

from fastcmp._jit import helper
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.status import Interval

_MAX_STEPS = 120
_NEWTON = 8  # steps, of which three or four are usual


@helper
def _tango_variance(only_a: float, only_b: float, n: float, delta: float) -> float:
    """Variance of the score under H0: difference = delta (Tango 1998, eq. 6)."""
    if delta < 0.0:
        # The mirror image; for delta >= 0 nothing below cancels.
        only_a, only_b, delta = only_b, only_a, -delta
    b = -only_a - only_b + (2.0 * n - only_a + only_b) * delta
    c = -only_b * delta * (1.0 - delta)
    root = math.sqrt(max(b * b - 8.0 * n * c, 0.0))
    # The same root of the quadratic, in the form that does not cancel.
    q = (root - b) / (4.0 * n) if b <= 0.0 else -2.0 * c / (root + b)
    return max(n * (2.0 * q + delta * (1.0 - delta)), 0.0)


@helper
def _tango_score(only_a: float, only_b: float, n: float, delta: float) -> float:
    """Size of the score statistic for H0: difference = delta."""
    variance = _tango_variance(only_a, only_b, n, delta)
    return abs(only_a - only_b - n * delta) / math.sqrt(variance)


@helper
def _tango_slope(only_a: float, only_b: float, n: float, delta: float) -> tuple[float, float]:
    """Size of the score statistic, and its derivative in delta."""
    sign = 1.0
    if delta < 0.0:
        only_a, only_b, delta, sign = only_b, only_a, -delta, -1.0
    rise = 2.0 * n - only_a + only_b
    b = -only_a - only_b + rise * delta
    c = -only_b * delta * (1.0 - delta)
    root = math.sqrt(max(b * b - 8.0 * n * c, 0.0))
    q = (root - b) / (4.0 * n) if b <= 0.0 else -2.0 * c / (root + b)
    variance = n * (2.0 * q + delta * (1.0 - delta))
    # The quadratic, differentiated: root q' + q b' + c' = 0.
    change = 1.0 - 2.0 * delta
    moves = n * (2.0 * (only_b * change - rise * q) / root + change)
    distance = only_a - only_b - n * delta
    part = 1.0 / math.sqrt(variance)
    size = abs(distance) * part
    slope = -math.copysign(n, distance) * part - 0.5 * size * moves * part * part
    return size, sign * slope


@helper
def _tango(only_a: float, only_b: float, n: float, z: float) -> Interval:
    d = (only_a - only_b) / n
    low = -1.0
    high = 1.0
    # Wald's limits with so many samples more that without any they are right.
    more = 0.5 * z * z
    m = n + 2.0 * more
    p_a, p_b = (only_a + more) / m, (only_b + more) / m
    spread = z * math.sqrt((p_a + p_b - (p_a - p_b) * (p_a - p_b)) / m)
    for side in (-1.0, 1.0):
        if d * side >= 1.0:
            continue
        # In t = side * delta the excess z - |score| falls through 0 once, past d.
        near, f_near = side * d, z
        far, f_far = 1.0, -math.inf
        t, end = side * (p_a - p_b) + spread, math.nan
        for _ in range(_NEWTON):
            if not near < t < far:
                break
            size, slope = _tango_slope(only_a, only_b, n, side * t)
            f = z - size
            if f > 0.0:
                near, f_near = t, f
            else:
                far, f_far = t, f
            step = f / (side * slope)
            t += step
            # Twice as many digits with each step: these are all there are.
            if abs(step) <= 1e-8 * min(t - side * d, 1.0 - t):
                end = t
                break
        if math.isnan(end):
            for i in range(_MAX_STEPS):
                reach = 0.5 * (far - near) if i < 60 else 0.0
                t = itp_step(near, f_near, far, f_far, reach)
                f = z - _tango_score(only_a, only_b, n, side * t)
                if f > 0.0:
                    near, f_near = t, f
                else:
                    far, f_far = t, f
                if far - near <= 4e-16 * max(abs(near), 1.0 / n):
                    break
            end = 0.5 * (near + far)
        if side < 0.0:
            low = -end
        else:
            high = end
    return Interval(low, high)
