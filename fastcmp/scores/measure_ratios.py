"""Ratios of two models' measures, from the counts of two classes.

A cell of the counts has an influence u on the logarithm of a ratio, and its variance
is the sum of N u**2 over the cells: the delta method. Numbers are whole until they are
divided, so that nothing cancels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from fastcmp.scores.paired_ratio import (
    Estimate,
    PairedRatio,
    Proportion,
    estimate_product,
    make_ratio,
    quotient,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Calls(NamedTuple):
    """Samples of one class: called positive by both, only by a, only by b, by none."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        """All samples of the class."""
        return sum(self)

    @property
    def positive(self) -> Proportion:
        """Calls of positive."""
        both, a, b, _ = self
        return Proportion(both + a, both + b, a + b)

    @property
    def negative(self) -> Proportion:
        """Calls of negative."""
        _, a, b, neither = self
        return Proportion(neither + b, neither + a, a + b)

    def swapped(self) -> Calls:
        """Exchange positive and negative calls."""
        both, a, b, neither = self
        return Calls(neither, b, a, both)


def read_calls(counts: NDArray[np.int64]) -> tuple[Calls, Calls]:
    """List the calls of positives and of negatives, from ``counts[t, a, b]``."""
    ((none0, b0), (a0, both0)), ((none1, b1), (a1, both1)) = counts.tolist()
    return Calls(both1, a1, b1, none1), Calls(both0, a0, b0, none0)


def measure_ratios(
    positives: Calls,
    negatives: Calls,
    alternative: str,
    confidence_level: float,
    prevalence: float | None,
) -> tuple[PairedRatio, ...]:
    """Compare all measures that have a ratio."""
    yes, no = positives, negatives
    swapped = no.swapped(), yes.swapped()
    sick = None if prevalence is None else prevalence
    well = None if prevalence is None else 1.0 - prevalence
    estimates = {
        "sensitivity": _of_class(yes.positive, yes.n),
        "specificity": _of_class(no.negative, no.n),
        "false_positive_rate": _of_class(no.positive, no.n),
        "ppv": _predictive_value(yes, no, sick),
        "npv": _predictive_value(*swapped, well),
        "likelihood_ratio_positive": _likelihood_ratio(yes, no),
        "likelihood_ratio_negative": _likelihood_ratio(yes.swapped(), no.swapped()),
    }
    return tuple(
        make_ratio(measure, estimate, alternative, confidence_level)
        for measure, estimate in estimates.items()
    )


def _of_class(calls: Proportion, n: int) -> Estimate:
    return estimate_product((quotient(calls.a, n), quotient(calls.b, n)), calls)


def _likelihood_ratio(yes: Calls, no: Calls) -> Estimate:
    """Compare how much more often each model calls positives than negatives."""
    if not (yes.n and no.n):
        return Estimate(math.nan, math.nan, math.nan)
    over, under = yes.positive, no.positive
    values = (quotient(over.a * no.n, under.a * yes.n), quotient(over.b * no.n, under.b * yes.n))
    return estimate_product(values, over, under)


def _predictive_value(yes: Calls, no: Calls, prevalence: float | None) -> Estimate:
    """Compare how often each model is right where it calls positive."""
    if prevalence is not None:
        return _at_prevalence(yes, no, prevalence)
    right, wrong = yes.positive, no.positive
    n_a, n_b = right.a + wrong.a, right.b + wrong.b
    values = quotient(right.a, n_a), quotient(right.b, n_b)
    if not (n_a and n_b):
        return Estimate(*values, math.nan)
    ratio = quotient(right.a * n_b, right.b * n_a)
    if not (right.a and right.b):
        return Estimate(*values, ratio)
    # Moskowitz and Pepe's delta method: u is 1 / right - 1 / called where a call is
    # right, - 1 / called where it is wrong, for a, and the negative for b.
    u_a, u_b = wrong.a / (right.a * n_a), wrong.b / (right.b * n_b)
    both = (wrong.a * right.b * n_b - wrong.b * right.a * n_a) / (right.a * n_a)
    both /= right.b * n_b
    variance = yes.both * both**2 + yes.only_a * u_a**2 + yes.only_b * u_b**2
    variance += no.both * ((n_a - n_b) / (n_a * n_b)) ** 2
    variance += no.only_a / n_a**2 + no.only_b / n_b**2
    called = Proportion(n_a, n_b, 0)
    return Estimate(*values, ratio, right.log_ratio - called.log_ratio, variance)


def _at_prevalence(yes: Calls, no: Calls, prevalence: float) -> Estimate:
    """Compare predictive values at another prevalence, by Bayes' rule.

    With odds o of the prevalence, PPV = LR o / (1 + LR o), and the logarithm of PPV
    moves with that of LR by 1 - PPV.
    """
    right, wrong = yes.positive, no.positive
    if not (yes.n and no.n):
        return Estimate(math.nan, math.nan, math.nan)
    # Proportions of all samples that are called and right, and called and wrong.
    a, b = (
        (prevalence * x / yes.n, (1.0 - prevalence) * y / no.n)
        for x, y in zip(right[:2], wrong[:2], strict=True)
    )
    value_a, value_b = (quotient(x, x + y) for x, y in (a, b))
    ratio = quotient(value_a, value_b)
    if not min(right.a, right.b, wrong.a, wrong.b):
        return Estimate(value_a, value_b, ratio)
    move = a[1] / sum(a), b[1] / sum(b)
    variance = _spread(yes, move[0] / right.a, move[1] / right.b)
    variance += _spread(no, move[0] / wrong.a, move[1] / wrong.b)
    # Of PPV_a / PPV_b, by what is wrong: (x_a y_b - x_b y_a) / (x_b sum(a)) + 1.
    log_ratio = math.log1p((a[0] * b[1] - b[0] * a[1]) / (b[0] * sum(a)))
    return Estimate(value_a, value_b, ratio, log_ratio, variance)


def _spread(calls: Calls, u_a: float, u_b: float) -> float:
    """Sum N (u - mean u)**2 over a class; u_a counts for calls of a, -u_b for b's."""
    influence = (u_a - u_b, u_a, -u_b, 0.0)
    mean = sum(x * u for x, u in zip(calls, influence, strict=True)) / calls.n
    return sum(x * (u - mean) ** 2 for x, u in zip(calls, influence, strict=True))
