"""Power of Tango's tests against a margin: enumerated, or by a normal approximation.

The approximation has the variance of the constrained estimate under H0, and that of
p10 and p01 under the alternative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.kernels import planned_margins as kernels
from fastcmp.planning.design import Design, Solver, check_enumerable, evaluate, refuse
from fastcmp.planning.mcnemar_normal import normal_quantiles

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats

_CLAIMS = {
    "noninferiority": kernels.NONINFERIORITY,
    "superiority": kernels.SUPERIORITY,
    "equivalence": kernels.EQUIVALENCE,
}
_HALVINGS = 60
_MOST = 1e7  # samples that are enumerated


def _read(design: Design) -> tuple[Any, int]:
    """Give the margin and the claim's code."""
    refuse(design, "a margin", "conditional", "so_far")
    margin: Any = design.question.margin
    if np.any(margin >= 1):
        most = np.max(margin)
        advice = f": write {most / 100:g} for {most:g} percentage points"
        message = (
            f"margin must lie in (0, 1) for accuracies, got {most:g}{advice if most > 1 else ''}"
        )
        raise ValueError(message)
    return margin, _CLAIMS[design.question.hypothesis]


def _exact_powers(design: Design, p10: Floats, p01: Floats, n: Floats) -> Floats:
    margin, claim = _read(design)
    check_enumerable(n, design.question.method, _MOST, "normal")
    rows = (n, p10, p01, margin, design.question.alpha)
    return evaluate(kernels.margin_power, rows, claim)


def _exact_sizes(design: Design, p10: Floats, p01: Floats, power: Floats) -> Floats:
    margin, claim = _read(design)
    estimate = _normal_sizes(design, p10, p01, power)
    check_enumerable(estimate, design.question.method, _MOST, "normal")
    rows = (power, p10, p01, margin, design.question.alpha)
    return evaluate(kernels.margin_sample_size, rows, claim)


def _exact_differences(design: Design, pd: Floats, n: Floats, power: Floats) -> Floats:
    margin, claim = _read(design)
    _refuse_equivalence(claim)
    check_enumerable(n, design.question.method, _MOST, "normal")
    rows = (n, pd, power, margin, design.question.alpha)
    return evaluate(kernels.margin_detectable_difference, rows, claim)


def _null_spread(p10: Floats, p01: Floats, shift: Any) -> Floats:
    """Standard deviation of a sample's difference under H0, whose difference is `shift`."""
    arrays = np.broadcast_arrays(p10, p01, shift)
    plans = np.stack([np.ravel(x).astype(np.float64) for x in arrays])
    variance = np.empty(plans.shape[1])
    kernels.margin_variances(plans, variance)
    return np.sqrt(variance).reshape(arrays[0].shape)


def _shown(p10: Floats, p01: Floats, shift: Any, n: Any, z: Any, side: float = 1.0) -> Floats:
    """Probability of a score beyond z, against H0: the difference is `shift`."""
    from scipy.special import ndtr

    gap = p10 - p01
    null = _null_spread(p10, p01, shift)
    spread = np.sqrt(np.maximum(p10 + p01 - gap**2, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = (side * np.sqrt(n) * (gap - shift) - z * null) / spread
    return np.asarray(ndtr(np.nan_to_num(score, nan=0.0)))


def _normal_powers(design: Design, p10: Floats, p01: Floats, n: Floats) -> Floats:
    margin, claim = _read(design)
    z, _ = normal_quantiles(design.question.alpha, 0.5)
    shift = margin if claim == kernels.SUPERIORITY else -margin
    power = _shown(p10, p01, shift, n, z)
    if claim == kernels.EQUIVALENCE:
        other = _shown(p10, p01, margin, n, z, side=-1.0)
        power = np.maximum(power + other - 1.0, 0.0)
    return power


def _normal_sizes(design: Design, p10: Floats, p01: Floats, power: Floats) -> Floats:
    margin, claim = _read(design)
    gap = p10 - p01
    spread = np.sqrt(np.maximum(p10 + p01 - gap**2, 0.0))

    def closed(shift: Any, lead: Floats, wanted: Any) -> Floats:
        z, z_power = normal_quantiles(design.question.alpha, wanted)
        null = _null_spread(p10, p01, shift)
        root = np.maximum(z * null + z_power * spread, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(lead > 0, (root / lead) ** 2, np.inf))

    if claim != kernels.EQUIVALENCE:
        shift = margin if claim == kernels.SUPERIORITY else -margin
        return closed(shift, gap - shift, power)
    # Each side needs the power, and it is enough if each fails half as often.
    ends = [
        np.maximum(closed(-margin, margin + gap, x), closed(margin, margin - gap, x))
        for x in (power, (1 + power) / 2)
    ]
    low, high = np.broadcast_arrays(*ends)
    for _ in range(_HALVINGS):
        with np.errstate(invalid="ignore"):
            n = np.where(np.isinf(high), 1.0, (low + high) / 2)
        enough = _normal_powers(design, p10, p01, n) >= power
        low = np.where(enough | np.isinf(high), low, n)
        high = np.where(enough & np.isfinite(high), n, high)
    return np.asarray(high)


def _normal_differences(design: Design, pd: Floats, n: Floats, power: Floats) -> Floats:
    """Find the difference by bisection, between H0 and the largest possible."""
    margin, claim = _read(design)
    _refuse_equivalence(claim)
    least = margin if claim == kernels.SUPERIORITY else -margin
    arrays = np.broadcast_arrays(np.maximum(least, -pd), pd, n, power)
    low, high, n, power = (each.astype(np.float64) for each in arrays)
    pd = high
    found = (_normal_powers(design, pd, 0 * pd, n) >= power) & (low < high)
    for _ in range(_HALVINGS):
        gap = (low + high) / 2
        enough = _normal_powers(design, (pd + gap) / 2, (pd - gap) / 2, n) >= power
        low, high = np.where(enough, low, gap), np.where(enough, gap, high)
    return np.asarray(np.where(found, high, np.nan))


def _refuse_equivalence(claim: int) -> None:
    if claim == kernels.EQUIVALENCE:
        message = (
            "hypothesis='equivalence' has no smallest difference: plan its power or its sample size"
        )
        raise ValueError(message)


EXACT = Solver(_exact_powers, _exact_sizes, _exact_differences)
NORMAL = Solver(_normal_powers, _normal_sizes, _normal_differences, closed=True)
