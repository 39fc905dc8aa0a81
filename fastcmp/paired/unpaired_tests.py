"""Tests of two accuracies on different samples, and intervals, from checked counts."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.options import ALTERNATIVES
from fastcmp.core.records import unwrap
from fastcmp.core.tails import normal_tail
from fastcmp.kernels.status import GREATER, LESS
from fastcmp.kernels.unpaired import miettinen_nurminen_many, unpaired_interval_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fastcmp.kernels.status import Interval

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: Those that enumerate all tables.
EXACT: Final = ("boschloo", "barnard", "barnard-unpooled")
METHODS: Final = ("score", "miettinen-nurminen", *EXACT, "auto")
#: Those with which H0 may be a difference.
SHIFTED: Final = ("miettinen-nurminen", "barnard", "auto")
INTERVALS: Final = ("newcombe", "miettinen-nurminen", "exact")
#: Samples of either model up to which "auto" takes an exact test.
SMALL: Final = 200


class UnpairedOptions(NamedTuple):
    """How accuracies are compared; checked."""

    method: str
    alternative: str
    two_sided: str


class UnpairedAnswers(NamedTuple):
    """What a test found, of the shape of the counts."""

    statistic: Any
    pvalue: Any
    status: Any


def choose_method(method: str, n_a: Any, n_b: Any, null_difference: Any) -> str:
    """Take for "auto" an exact test where neither model has many samples."""
    if method != "auto":
        return method
    if max(np.max(n_a, initial=0), np.max(n_b, initial=0)) > SMALL:
        return "miettinen-nurminen"
    return "barnard" if np.any(null_difference) else "boschloo"


def evaluate_counts(
    counts: Ints, null_difference: Floats, options: UnpairedOptions
) -> UnpairedAnswers:
    """Test counts, shape (4, ...): right and all samples of a, then of b."""
    if options.method == "score":
        return _pooled(counts, options.alternative)
    flat = np.ascontiguousarray(counts.reshape(4, -1))
    shift = np.array(null_difference).ravel()  # a copy of what was broadcast
    z, pvalue = np.empty(shift.size), np.empty(shift.size)
    status = np.empty(shift.size, np.uint8)
    if options.method == "miettinen-nurminen":
        code = ALTERNATIVES[options.alternative]
        miettinen_nurminen_many(flat, shift, code, z, pvalue, status)
    else:
        _check_few(counts, options.method)
        tables = np.vstack([flat, shift])
        found = _each(tables, 3, lambda *table: _exact(table, options))
        z, pvalue, status = found[0], found[1], found[2].astype(np.uint8)
    shape = null_difference.shape
    return UnpairedAnswers(*(unwrap(x, shape) for x in (z, pvalue, status)))


def _each(tables: NDArray[Any], n_answers: int, function: Callable[..., Sequence[float]]) -> Floats:
    """Call a function once for each different column, the first four whole numbers."""
    known, where = np.unique(tables, axis=1, return_inverse=True)
    found = np.empty((n_answers, known.shape[1]))
    for k, x in enumerate(known.T.tolist()):
        found[:, k] = function(*map(int, x[:4]), *x[4:])
    return found[:, where.ravel()]


def _check_few(counts: Ints, method: str) -> None:
    """Refuse more samples than exact tests take."""
    most = max(counts[1].max(initial=0), counts[3].max(initial=0))
    if most > kernels.UNPAIRED_EXACT_MAX_N:
        raise ValueError(
            f"method={method!r} takes at most {kernels.UNPAIRED_EXACT_MAX_N} samples "
            f"of a model, got {most}: use 'miettinen-nurminen', which is close there"
        )


def _exact(table: Sequence[Any], options: UnpairedOptions) -> tuple[float, float, int]:
    """Run one exact test."""
    if options.alternative != "two-sided" or options.two_sided == "ordering":
        return _one(table, options.method, ALTERNATIVES[options.alternative])
    sides = (_one(table, options.method, x) for x in (GREATER, LESS))
    statistic, pvalue, status = min(sides, key=itemgetter(1))
    return statistic, min(2.0 * pvalue, 1.0), status


def _one(table: Sequence[Any], method: str, alternative: int) -> tuple[float, float, int]:
    a, n_a, b, n_b, shift = table
    if method == "boschloo":
        found = kernels.boschloo_exact(a, n_a, b, n_b, alternative)
    elif shift:
        found = kernels.score_exact(a, n_a, b, n_b, shift, alternative)
    else:
        pooled = method == "barnard"
        found = kernels.barnard_exact(a, n_a, b, n_b, alternative, pooled)
    return found.statistic, found.pvalue, found.status


def _pooled(counts: Ints, alternative: str) -> UnpairedAnswers:
    """Test equality by the pooled score test."""
    correct_a, n_a, correct_b, n_b = counts
    z = score_statistic(correct_a / n_a, correct_b / n_b, n_a, n_b)
    right = correct_a + correct_b
    same = (right == 0) | (right == n_a + n_b)
    pvalue = np.where(same, 1.0, normal_tail(z, alternative))
    status = np.where(same, kernels.DEGENERATE, kernels.OK).astype(np.uint8)
    shape = counts.shape[1:]
    return UnpairedAnswers(*(unwrap(np.asarray(x), shape) for x in (z, pvalue, status)))


def score_statistic(rate_a: Any, rate_b: Any, n_a: Any, n_b: Any) -> Any:
    """Divide a difference of independent proportions by its standard error under H0."""
    pooled = (rate_a * n_a + rate_b * n_b) / (n_a + n_b)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 0.0) * (1 / n_a + 1 / n_b))
    difference = np.subtract(rate_a, rate_b)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(difference == 0, 0.0, difference / error)
    return z if z.ndim else float(z)


def interval_of(counts: Ints, method: str, level: float) -> tuple[Any, Any]:
    """Give two-sided intervals for the differences of counts, shape (4, ...)."""
    flat = np.ascontiguousarray(counts.reshape(4, -1))
    low, high = np.empty(flat.shape[1]), np.empty(flat.shape[1])
    if method == "exact":
        _check_few(counts, method)

        def interval(a: int, n_a: int, b: int, n_b: int) -> Interval:
            return kernels.score_exact_interval(a, n_a, b, n_b, level)

        low, high = _each(flat, 2, interval)
    else:
        options = (INTERVALS.index(method), level)
        unpaired_interval_many(flat, options, low, high)
    shape = counts.shape[1:]
    return unwrap(low, shape), unwrap(high, shape)


def ratio_interval_of(counts: Ints, level: float) -> tuple[Any, Any]:
    """Give two-sided score intervals for accuracy a over accuracy b, shape (4, ...)."""
    from scipy.special import ndtri

    a, n_a, b, n_b = counts.reshape(4, -1).astype(np.float64)
    critical, n = float(-ndtri((1.0 - level) / 2.0)), n_a + n_b

    def score(log_ratio: Floats) -> Floats:
        ratio = np.exp(log_ratio)
        linear = n_a * ratio + a + n_b + b * ratio
        root = np.sqrt(np.maximum(linear**2 - 4.0 * n * ratio * (a + b), 0.0))
        rate_b = 2.0 * (a + b) / (linear + root)  # the likeliest under H0
        rate_a = np.minimum(ratio * rate_b, 1.0)
        variance = rate_a * (1.0 - rate_a) / n_a + ratio**2 * rate_b * (1.0 - rate_b) / n_b
        distance = a / n_a - ratio * b / n_b
        with np.errstate(divide="ignore", invalid="ignore"):
            z = distance / np.sqrt(variance * n / (n - 1.0))
        return np.where(distance == 0.0, 0.0, z)

    ends = []
    for z in (critical, -critical):
        low, high = np.full(a.size, -60.0), np.full(a.size, 60.0)
        for _ in range(100):
            middle = 0.5 * (low + high)
            above = score(middle) > z
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        ends.append(np.exp(low))
    ends[0] = np.where(a == 0.0, 0.0, ends[0])
    ends[1] = np.where(b == 0.0, np.inf, ends[1])
    low, high = (unwrap(end, counts.shape[1:]) for end in ends)
    return low, high


def odds_ratio_interval_of(counts: Ints, level: float) -> tuple[Any, Any]:
    """Give exact conditional intervals for odds ratios of counts, shape (4, ...)."""

    def interval(a: int, n_a: int, b: int, n_b: int) -> tuple[float, float]:
        from scipy.special import gammaln

        right = a + b
        k = np.arange(max(0, right - n_b), min(n_a, right) + 1.0)
        x, y = n_a - k, right - k
        log_ways = -(gammaln(k + 1) + gammaln(x + 1) + gammaln(y + 1) + gammaln(n_b - y + 1))
        ends = [0.0, np.inf]
        for side, (tail, open_) in enumerate(((k >= a, a == k[0]), (k <= a, a == k[-1]))):
            if open_:
                continue
            low, high = -700.0, 700.0
            for _ in range(100):
                middle = 0.5 * (low + high)
                log_weight = log_ways + middle * (k - a)
                weight = np.exp(log_weight - log_weight.max())
                rare = weight[tail].sum() / weight.sum() < (1.0 - level) / 2.0
                low, high = (middle, high) if rare == (side == 0) else (low, middle)
            ends[side] = float(np.exp(0.5 * (low + high)))
        return ends[0], ends[1]

    low, high = _each(counts.reshape(4, -1), 2, interval)
    shape = counts.shape[1:]
    return unwrap(low, shape), unwrap(high, shape)
