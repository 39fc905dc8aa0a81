"""Power of McNemar's test by enumeration, of arrays: the kernels, called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcmp.core.options import ALTERNATIVES
from fastcmp.kernels import mcnemar_plans as kernels
from fastcmp.kernels.paired import ASYMPTOTIC, CORRECTED, EXACT, MIDP
from fastcmp.planning.design import Design, Solver, check_enumerable, evaluate
from fastcmp.planning.mcnemar_normal import SOLVER as NORMAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.planning.family import Floats

    Kernel = Callable[..., None]

CODES = {
    "midp": MIDP,
    "exact": EXACT,
    "asymptotic": ASYMPTOTIC,
    "corrected": CORRECTED,
}


def _options(design: Design) -> tuple[int, int, bool]:
    """Give the codes of method and alternative, and whether both tails count."""
    question = design.question
    both = design.tails != "right-direction"
    return CODES[question.method], ALTERNATIVES[question.alternative], both


_MOST = 1e9  # samples that are enumerated


def _powers(design: Design, p10: Floats, p01: Floats, n: Floats) -> Floats:
    check_enumerable(n, design.question.method, _MOST, "connor")
    rows = (n, p10, p01, design.question.alpha)
    method, alternative, both = _options(design)
    if design.so_far is not None:
        kernel: Kernel = kernels.mcnemar_interim_powers
        return evaluate(kernel, (*rows, *design.so_far), method, alternative)
    kernel = kernels.mcnemar_powers
    if design.conditional:
        kernel = kernels.mcnemar_conditional_powers
    return evaluate(kernel, rows, method, alternative, both)


def _sizes(design: Design, p10: Floats, p01: Floats, power: Floats) -> Floats:
    near = design._replace(question=design.question._replace(method="connor"), conditional=False)
    estimate = NORMAL.sizes(near, p10, p01, power)
    check_enumerable(estimate, design.question.method, _MOST, "connor")
    kernel: Kernel = kernels.mcnemar_sample_sizes
    if design.conditional:
        kernel = kernels.mcnemar_discordant_sizes
    return evaluate(kernel, (power, p10, p01, design.question.alpha), *_options(design))


def _differences(design: Design, pd: Floats, n: Floats, power: Floats) -> Floats:
    if design.conditional:
        message = "conditional=True has no meaning for a difference of accuracies"
        raise ValueError(message)
    check_enumerable(n, design.question.method, _MOST, "connor")
    rows = (n, pd, power, design.question.alpha)
    kernel = kernels.mcnemar_detectable_differences
    return evaluate(kernel, rows, *_options(design))


def assurances(design: Design, counts: tuple[Floats, Floats, Floats], n: Floats) -> Floats:
    """Mean power over what a pilot leaves open: only a right, only b right, all."""
    method, alternative, _ = _options(design)
    rows = (n, *counts, design.question.alpha)
    options = (method, alternative, design.so_far is not None)
    return evaluate(kernels.mcnemar_assurances, rows, *options)


SOLVER = Solver(_powers, _sizes, _differences)
