"""Plans of tests of two accuracies on different samples: enumerated, or normal."""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from fastcmp.core.checks import as_within
from fastcmp.core.typing import Numbers
from fastcmp.paired.unpaired_accuracies import evaluate_counts
from fastcmp.planning.families import Case, Family, Inputs, Question, check_enumerable
from fastcmp.planning.means import read_ratio
from fastcmp.planning.normal import detectable, each_size, elementwise

_MOST = 2_000  # samples of a model of which all outcomes are enumerated
_TAIL = 1e-9  # probability of the outcomes at either end that are left out
_SAW = 9  # samples below a number of enough ones that are tried too


def _normal_power(
    side: str, shift: float, level: float, a: float, b: float, n: float, ratio: float
) -> float:
    """Power of a one-sided score test against a difference of `shift`, normal."""
    low, high = max(0.0, -shift), min(1.0, 1.0 - shift)
    for _ in range(60):  # the accuracy of b that is likeliest under H0
        p = 0.5 * (low + high)
        q = p + shift
        slope = (a - q) * p * (1.0 - p) + ratio * (b - p) * q * (1.0 - q)
        low, high = (p, high) if slope > 0.0 else (low, p)
    q = low + shift
    null = sqrt(max(q * (1.0 - q) + low * (1.0 - low) / ratio, 0.0))
    spread = sqrt(a * (1.0 - a) + b * (1.0 - b) / ratio)
    sign = 1.0 if side == "greater" else -1.0
    beyond = sign * (a - b - shift) * sqrt(n) + ndtri(level) * null
    return float(ndtr(beyond / spread)) if spread else float(beyond >= 0.0)


def _power(
    question: Question, n: float, alpha: float, margin: float, a: float, b: float, ratio: float
) -> float:
    """Power with accuracies a and b, n samples of a and n times the ratio of b."""
    hypothesis = question.hypothesis
    level = alpha
    if hypothesis == "difference":
        two = question.alternative == "two-sided"
        level = alpha / 2 if two else alpha
        tests = [(side, 0.0) for side in (("greater", "less") if two else (question.alternative,))]
    elif hypothesis == "equivalence":
        tests = [("greater", -margin), ("less", margin)]
    else:
        tests = [("greater", margin if hypothesis == "superiority" else -margin)]
    if question.method == "normal":
        powers = [_normal_power(side, shift, level, a, b, n, ratio) for side, shift in tests]
        return max(sum(powers) - (hypothesis == "equivalence"), 0.0)
    sizes = int(n), max(round(n * ratio), 1)
    check_enumerable(max(sizes), question.method, _MOST, "normal")
    right, weights = [], []
    for size, accuracy in zip(sizes, (a, b), strict=True):
        k = np.arange(size + 1.0)
        below = bdtr(k, size, accuracy)
        kept = (below > _TAIL) & (np.append(0.0, below[:-1]) < 1.0 - _TAIL)
        right.append(k[kept].astype(np.int64))
        weights.append(np.diff(below, prepend=0.0)[kept])
    grid = np.meshgrid(right[0], sizes[0], right[1], sizes[1], indexing="ij")
    counts = np.stack([np.ravel(x) for x in grid]).astype(np.int64)
    rejected = [
        evaluate_counts(counts, np.full(counts.shape[1], shift), question.method, side)[1]
        <= level * (1.0 + 1e-12)
        for side, shift in tests
    ]
    join = np.all if hypothesis == "equivalence" else np.any
    return float(np.outer(*weights).ravel() @ join(rejected, axis=0))


def _accuracy_case(question: Question, inputs: Inputs) -> Case:
    margin = 0.0 if question.margin is None else as_within(question.margin, "margin", 0, 1, "()")
    ratio, cautions = read_ratio(inputs)
    has_accuracies = question.solved_for != "difference"
    a = inputs.proportion("accuracy_a") if has_accuracies else None
    alpha, b, kept = question.alpha, inputs.proportion("accuracy_b"), inputs.plain()
    one, normal = (partial(_power, x) for x in (question, question._replace(method="normal")))

    def power(a: Numbers, n: Numbers) -> Any:
        return elementwise(one, n, alpha, margin, a, b, ratio)

    def size(a: Numbers, target: Numbers) -> Any:
        """Smallest numbers of samples of a; infinite where no number has the power."""
        row = alpha, margin, a, b, ratio
        near = np.where(elementwise(normal, 2.0**53, *row) < target, np.inf, 1.0)
        n = each_size(normal, target, near, *row)
        if question.method == "normal":
            return n
        check_enumerable(n * np.maximum(1.0, ratio), question.method, _MOST, "normal")
        return each_size(one, target, n, *row, back=_SAW)

    if has_accuracies:
        gap = a - b
    else:
        kept.pop("accuracy_a", None)
        gap = detectable(
            question,
            lambda gap: power(np.clip(b + gap, 0.0, 1.0), question.n),
            b if question.alternative == "less" else 1.0 - b,
            room=b,
        )
    return Case(
        difference=gap,
        inputs=kept,
        power=power,
        size=size,
        effect=a,
        cautions=cautions,
        unit=None if np.all(ratio == 1.0) else "samples of a",
    )


_MARGIN = ("miettinen-nurminen", "normal")
FAMILY = Family(
    titles={
        "score": "score test of accuracies on different samples",
        "miettinen-nurminen": "Miettinen and Nurminen's test of accuracies on different samples",
        "normal": "score test of accuracies on different samples, normal approximation",
    },
    methods={
        "difference": ("score", *_MARGIN),
        **dict.fromkeys(("noninferiority", "superiority", "equivalence"), _MARGIN),
    },
    inputs={
        "accuracy_a": "accuracy of a",
        "accuracy_b": "accuracy of b",
        "ratio": "samples of b for each one of a, 1 by default",
    },
    read=_accuracy_case,
    unit="samples of each model",
)
