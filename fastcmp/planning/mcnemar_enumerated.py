"""Power of McNemar's test by enumeration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcmp import kernels
from fastcmp.core.options import ALTERNATIVES
from fastcmp.paired.mcnemar_counts import CODES
from fastcmp.planning.design import Design, Solver, check_enumerable, evaluate
from fastcmp.planning.mcnemar_normal import SOLVER as NORMAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.planning.family import Floats


def _options(design: Design) -> tuple[int, int, bool]:
    """Give the codes of method and alternative, and whether both tails count."""
    question = design.question
    both = design.tails != "right-direction"
    return CODES[question.method], ALTERNATIVES[question.alternative], both


_MOST = 1e9  # samples that are enumerated


def _powers(design: Design, p10: Floats, p01: Floats, n: Floats) -> Floats:
    check_enumerable(n, design.question.method, _MOST, "connor")
    rows = (n, p10, p01, design.question.alpha)
    if design.so_far is not None:
        method, alternative, _ = _options(design)

        def power(
            n: float, p10: float, p01: float, alpha: float, only_a: float, only_b: float
        ) -> float:
            p = (p10, p01)
            return kernels.mcnemar_interim_power(only_a, only_b, n, p, alpha, method, alternative)

        return evaluate(power, (*rows, *design.so_far))
    kernel: Callable[..., float] = kernels.mcnemar_power
    if design.conditional:
        kernel = kernels.mcnemar_conditional_power
    return evaluate(kernel, rows, *_options(design))


def _sizes(design: Design, p10: Floats, p01: Floats, power: Floats) -> Floats:
    near = design._replace(question=design.question._replace(method="connor"), conditional=False)
    estimate = NORMAL.sizes(near, p10, p01, power)
    check_enumerable(estimate, design.question.method, _MOST, "connor")
    kernel: Callable[..., float] = kernels.mcnemar_sample_size
    if design.conditional:
        kernel = kernels.mcnemar_discordant_size
    return evaluate(kernel, (power, p10, p01, design.question.alpha), *_options(design))


def _differences(design: Design, pd: Floats, n: Floats, power: Floats) -> Floats:
    if design.conditional:
        message = "conditional=True has no meaning for a difference of accuracies"
        raise ValueError(message)
    check_enumerable(n, design.question.method, _MOST, "connor")
    rows = (n, pd, power, design.question.alpha)
    return evaluate(kernels.mcnemar_detectable_difference, rows, *_options(design))


def assurances(design: Design, counts: tuple[Floats, Floats, Floats], n: Floats) -> Floats:
    """Mean power over what a pilot leaves open: only a right, only b right, all."""
    method, alternative, _ = _options(design)
    alpha = design.question.alpha
    if design.so_far is None:
        return evaluate(kernels.mcnemar_assurance, (n, *counts, alpha), method, alternative)
    rows = (*counts, n, alpha)
    return evaluate(kernels.mcnemar_predictive_power, rows, method, alternative)


SOLVER = Solver(_powers, _sizes, _differences)
