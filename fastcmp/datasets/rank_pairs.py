"""Tests of pairs of models by their ranks among all models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.tails import normal_tail
from fastcmp.datasets.friedman_ranks import RankSums
from fastcmp.datasets.omnibus import AlignedRanks, QuadeSums
from fastcmp.datasets.pair_data import Answers, PairKind, pair_tests
from fastcmp.datasets.ranges import range_tails
from fastcmp.datasets.rank_differences import difference_tails
from fastcmp.kernels.special import ndtri, studentized_range_isf

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.datasets.pair_data import PairData
    from fastcmp.pairwise.pair_tests import PairTests

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.int32]

#: Methods that rank all models together, and need all their scores.
POOLED = ("nemenyi", "normal", "conover", "quade", "aligned", "exact")
#: Where the variance of mean ranks comes from.
VARIANCES = ("published", "permutation")


class _Scale(NamedTuple):
    """By what models are compared: less is better."""

    value: Floats
    standard_error: float
    df: float = math.inf


def rank_pair_tests(data: PairData, method: str, variance: str, alpha: float) -> PairTests:
    """Test pairs by one of `POOLED`; intervals have the level 1 - alpha."""
    if method == "exact":
        return _exact_tests(data)
    scale = _SCALES[method](data, variance)
    side = data.alternative

    def found(pairs: Pairs) -> Answers:
        i, j = pairs.T
        statistic = ratio(scale.value[j] - scale.value[i], scale.standard_error)
        if method == "nemenyi":
            q = math.sqrt(2.0) * np.abs(statistic)
            return Answers(statistic, range_tails(q, data.gains.n_models), statistic)
        return Answers(statistic, tail(statistic, scale.df, side), statistic)

    if method == "nemenyi":
        reach = critical_difference(data, method, variance, alpha)
        return pair_tests(data, found, PairKind("studentized-range", None, reach))
    if method == "normal":
        reach = -ndtri(0.5 * alpha) * scale.standard_error
        reach = reach if side == "two-sided" else math.nan
        return pair_tests(data, found, PairKind("normal", None, reach))
    if math.isinf(scale.df):
        return pair_tests(data, found, PairKind("normal"))
    return pair_tests(data, found, PairKind("t", int(scale.df)))


def critical_difference(
    data: PairData, method: str, variance: str, alpha: float, n_tests: int = 1
) -> float:
    """Give the least difference of mean ranks that is significant.

    By the range of all models (Nemenyi), or of `n_tests` by Bonferroni's inequality,
    Dunn's procedure.
    """
    error = _SCALES[method](data, variance).standard_error
    m = data.gains.n_models
    if method == "nemenyi":
        return float(studentized_range_isf(alpha, m) / math.sqrt(2.0) * error)
    return float(-ndtri(0.5 * alpha / n_tests) * error)


def ratio(difference: Floats, error: float | Floats) -> Floats:
    """Divide by a standard error; 0 / 0 is 0, and anything else by 0 infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(difference / error)
    found[np.asarray(difference == 0.0)] = 0.0
    return found


def tail(statistic: Floats, df: Any, side: str) -> Floats:
    """Give p-values of t, or of z for infinite degrees of freedom."""
    if np.isinf(df).all():
        return np.asarray(normal_tail(statistic, side))
    from scipy.special import stdtr

    if side == "two-sided":
        return np.asarray(2.0 * stdtr(df, -np.abs(statistic)))
    return np.asarray(stdtr(df, -statistic if side == "greater" else statistic))


def _of_ranks(data: PairData, variance: str) -> _Scale:
    """Compare mean ranks, by the literature's error or by that given the ties."""
    m, n = data.gains.shape
    sums = RankSums.of(data.ranks, corrected=variance == "permutation")
    squares = sums.within / (2.0 * n * n * (m - 1))
    return _Scale(sums.doubled / (2.0 * n), math.sqrt(squares))


def _of_conover(data: PairData, _: str) -> _Scale:
    m, n = data.gains.shape
    sums = RankSums.of(data.ranks)
    error = math.sqrt(sums.left / 2.0 / ((n - 1.0) * (m - 1.0) ** 2))
    return _Scale(sums.doubled / 2.0, error, (n - 1.0) * (m - 1.0))


def _of_quade(data: PairData, _: str) -> _Scale:
    m, n = data.gains.shape
    found = QuadeSums.of(data.ranks, data.gains)
    df = (n - 1.0) * (m - 1.0)
    return _Scale(found.sums, math.sqrt(2.0 * n * found.left / df), df)


def _of_aligned(data: PairData, variance: str) -> _Scale:
    m, n = data.gains.shape
    found = AlignedRanks.of(data.gains)
    squares = 2.0 * found.within / (float(n) * n * (m - 1))
    if variance == "published":
        squares = m * (m * n + 1.0) / 6.0
    return _Scale(found.ranks.mean(axis=1), math.sqrt(squares))


_SCALES: dict[str, Callable[[PairData, str], _Scale]] = {
    "nemenyi": _of_ranks,
    "normal": _of_ranks,
    "conover": _of_conover,
    "quade": _of_quade,
    "aligned": _of_aligned,
}


def _exact_tests(data: PairData) -> PairTests:
    """Test differences of rank sums given the midranks of each task."""
    doubled = np.rint(2.0 * data.ranks).astype(np.int64)
    sums = doubled.sum(axis=1)
    tails = difference_tails(doubled)
    reach = tails.size // 2
    side = data.alternative

    def found(pairs: Pairs) -> Answers:
        i, j = pairs.T
        gain = sums[j] - sums[i]
        at = {"two-sided": np.abs(gain), "greater": gain, "less": -gain}[side]
        pvalue = tails[at + reach]
        if side == "two-sided":
            pvalue = np.where(gain == 0, 1.0, np.minimum(1.0, 2.0 * pvalue))
        return Answers(0.5 * gain, pvalue, gain.astype(np.float64))

    return pair_tests(data, found, PairKind("permutation"))
