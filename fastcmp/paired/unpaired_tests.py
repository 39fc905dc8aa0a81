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

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    flat, shift = counts.reshape(4, -1), null_difference.ravel()
    z, pvalue = np.empty(shift.size), np.empty(shift.size)
    status = np.empty(shift.size, np.uint8)
    code = ALTERNATIVES[options.alternative]
    if options.method == "miettinen-nurminen":
        kernels.miettinen_nurminen_many(
            np.ascontiguousarray(flat), shift, code, z, pvalue, status
        )
    else:
        check_few(counts, options.method)
        for k in range(shift.size):
            cells = flat[:, k].tolist()
            z[k], pvalue[k], status[k] = _exact(cells, float(shift[k]), options)
    shape = null_difference.shape
    return UnpairedAnswers(*(unwrap(x, shape) for x in (z, pvalue, status)))


def check_few(counts: Ints, method: str) -> None:
    """Refuse more samples than exact tests take."""
    most = max(counts[1].max(initial=0), counts[3].max(initial=0))
    if most > kernels.UNPAIRED_EXACT_MAX_N:
        message = (
            f"method={method!r} takes at most {kernels.UNPAIRED_EXACT_MAX_N} samples "
            f"of a model, got {most}: use 'miettinen-nurminen', which is close there"
        )
        raise ValueError(message)


def _exact(
    cells: list[int], shift: float, options: UnpairedOptions
) -> tuple[float, float, int]:
    """Run one exact test."""
    if options.alternative != "two-sided" or options.two_sided == "ordering":
        return _one(cells, shift, options.method, ALTERNATIVES[options.alternative])
    sides = (_one(cells, shift, options.method, x) for x in (GREATER, LESS))
    statistic, pvalue, status = min(sides, key=itemgetter(1))
    return statistic, min(2.0 * pvalue, 1.0), status


def _one(
    cells: list[int], shift: float, method: str, alternative: int
) -> tuple[float, float, int]:
    a, n_a, b, n_b = cells
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
        check_few(counts, method)
        for k in range(low.size):
            a, n_a, b, n_b = flat[:, k].tolist()
            low[k], high[k] = kernels.score_exact_interval(a, n_a, b, n_b, level)
    else:
        options = (INTERVALS.index(method), level)
        kernels.unpaired_interval_many(flat, options, low, high)
    shape = counts.shape[1:]
    return unwrap(low, shape), unwrap(high, shape)
