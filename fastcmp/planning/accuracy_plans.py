"""Plans of tests of two accuracies on different samples: enumerated, or normal."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.paired.unpaired_tests import UnpairedOptions, evaluate_counts
from fastcmp.planning.checked import positive, within
from fastcmp.planning.design import check_enumerable
from fastcmp.planning.family import Answer, Family
from fastcmp.planning.given import check_detectable, needed, passed

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats, Inputs, Question

_MOST = 2_000  # samples of a model of which all outcomes are enumerated
_TAIL = 1e-9  # probability of the outcomes at either end that are left out
_SIGNS = {"greater": 1.0, "less": -1.0}
_SAW = 10  # samples below a number of enough ones that are tried too


def _normal_power(side: str, shift: float, level: float, model: tuple[float, ...]) -> float:
    """Power of a one-sided score test against a difference of `shift`, normal."""
    from scipy.special import ndtr, ndtri

    a, b, n, ratio = model
    low, high = max(0.0, -shift), min(1.0, 1.0 - shift)
    for _ in range(60):  # the accuracy of b that is likeliest under H0
        p = 0.5 * (low + high)
        q = p + shift
        slope = (a - q) * p * (1.0 - p) + ratio * (b - p) * q * (1.0 - q)
        low, high = (p, high) if slope > 0.0 else (low, p)
    q = low + shift
    null = sqrt(max(q * (1.0 - q) + low * (1.0 - low) / ratio, 0.0))
    spread = sqrt(a * (1.0 - a) + b * (1.0 - b) / ratio)
    beyond = _SIGNS[side] * (a - b - shift) * sqrt(n) + ndtri(level) * null
    return float(ndtr(beyond / spread)) if spread else float(beyond >= 0.0)


def _power_of(question: Question, alpha: float, margin: float, *model: float) -> float:
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
        powers = [_normal_power(side, shift, level, model) for side, shift in tests]
        return max(sum(powers) - (hypothesis == "equivalence"), 0.0)
    from scipy.special import bdtr

    a, b, n, ratio = model
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
        evaluate_counts(
            counts, np.full(counts.shape[1], shift), UnpairedOptions(question.method, side, "")
        ).pvalue
        <= level * (1.0 + 1e-12)
        for side, shift in tests
    ]
    join = np.all if hypothesis == "equivalence" else np.any
    return float(np.outer(*weights).ravel() @ join(rejected, axis=0))


def _size_of(question: Question, power: float, alpha: float, margin: float, *model: float) -> float:
    """Smallest number of samples of a with the power; infinite where none has it."""
    a, b, ratio = model
    method = question

    def enough(n: float) -> bool:
        return _power_of(method, alpha, margin, a, b, n, ratio) >= power

    method = question._replace(method="normal")
    if not enough(2.0**53):
        return np.inf
    n = _first(enough, 1.0)
    if question.method == "normal":
        return n
    check_enumerable(n * max(1.0, ratio), question.method, _MOST, "normal")
    method = question
    n = _first(enough, max(n // 2, 1.0))
    return min((n - k for k in range(1, _SAW) if n > k and enough(n - k)), default=n)


def _first(enough: Any, low: float) -> float:
    """Smallest whole number from `low` on that is enough, of those that are tried."""
    high = low
    while not enough(high):
        low, high = high, 2.0 * high
    while high - low > 1.0:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low if enough(low) else high


def _difference_of(question: Question, n: float, power: float, *options: float) -> float:
    """Smallest difference to accuracy b that n samples find; NaN where none is."""
    alpha, margin, b, ratio = options
    sign = -1.0 if question.alternative == "less" else 1.0
    far = (1.0 - b) if sign > 0.0 else b
    start = {"noninferiority": -min(margin, b), "superiority": margin}.get(question.hypothesis, 0.0)
    low, high = start, far

    def enough(gap: float) -> bool:
        return _power_of(question, alpha, margin, b + sign * gap, b, n, ratio) >= power

    if low >= high or not enough(high):
        return np.nan
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return sign * high


def _read(question: Question, inputs: Inputs) -> tuple[Any, Any]:
    """Margin and ratio of the samples."""
    margin = 0.0 if question.margin is None else within(question.margin, "margin", 0, 1)
    ratio = positive(inputs.get("ratio", 1.0), "ratio")
    return margin, within(ratio, "ratio", 1e-3, 1e3, closed=True)


def _unit(ratio: Any) -> tuple[str, tuple[str, ...]]:
    """Say what n counts, and how many samples model b needs."""
    if np.all(ratio == 1.0):
        return "samples of each model", ()
    if np.ndim(ratio):
        return "samples of a", ()
    return "samples of a", (f"Model b has {float(ratio):g} times as many samples as a.",)


def _answer(
    inputs: Inputs, ratio: Any, n: Any, power: Any, difference: Any, **fields: Any
) -> Answer:
    unit, cautions = _unit(ratio)
    return Answer(n, power, difference, passed(inputs), unit=unit, cautions=cautions, **fields)


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    margin, ratio = _read(question, inputs)
    a, b = (within(needed(inputs, x), x, 0, 1, closed=True) for x in ("accuracy_a", "accuracy_b"))

    def one(*numbers: float) -> float:
        return _power_of(question, *numbers)

    power = np.vectorize(one, otypes=[float])(question.alpha, margin, a, b, n, ratio)
    return _answer(inputs, ratio, n, power, a - b)


def _sample_size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    margin, ratio = _read(question, inputs)
    a, b = (within(needed(inputs, x), x, 0, 1, closed=True) for x in ("accuracy_a", "accuracy_b"))

    def one(*numbers: float) -> float:
        return _size_of(question, *numbers)

    def reached(n: float, power: float, *numbers: float) -> float:
        if not np.isfinite(n):
            return power
        return _power_of(question, *numbers[:4], n, numbers[4])

    n = np.vectorize(one, otypes=[float])(power, question.alpha, margin, a, b, ratio)
    numbers = (n, power, question.alpha, margin, a, b, ratio)
    found = np.vectorize(reached, otypes=[float])(*numbers)
    status = np.where(np.isinf(n), UNDEFINED, OK)
    return _answer(inputs, ratio, n, found, a - b, status=status)


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    check_detectable(question)
    margin, ratio = _read(question, inputs)
    b = within(needed(inputs, "accuracy_b"), "accuracy_b", 0, 1, closed=True)

    def one(*numbers: float) -> float:
        return _difference_of(question, *numbers)

    found = np.vectorize(one, otypes=[float])(n, power, question.alpha, margin, b, ratio)
    kept = {name: x for name, x in inputs.items() if name != "accuracy_a"}
    status = np.where(np.isnan(found), UNDEFINED, OK)
    return _answer(kept, ratio, n, power, found, status=status)


_TITLES = {
    "score": "score test of accuracies on different samples",
    "miettinen-nurminen": "Miettinen and Nurminen's test of accuracies on different samples",
    "normal": "score test of accuracies on different samples, normal approximation",
}
_MARGIN = ("miettinen-nurminen", "normal")
FAMILY = Family(
    title=lambda method, _: _TITLES[method],
    methods={
        "difference": ("score", "miettinen-nurminen", "normal"),
        "noninferiority": _MARGIN,
        "superiority": _MARGIN,
        "equivalence": _MARGIN,
    },
    inputs={
        "accuracy_a": "accuracy of a",
        "accuracy_b": "accuracy of b",
        "ratio": "samples of b for each one of a, 1 by default",
    },
    power=_power,
    sample_size=_sample_size,
    difference=_difference,
    measure="accuracy",
    unit="samples of each model",
)
