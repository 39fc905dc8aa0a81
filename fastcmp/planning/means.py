"""Power and sample sizes of tests of the mean difference of values per item."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln, nctdtr, ndtr, stdtrit

from fastcmp.core.threads import parts
from fastcmp.planning.normal import (
    Normal,
    from_shift,
    join,
    least,
    normal_difference,
    normal_power,
    normal_size,
    shift,
)

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats, Question

_NODES = 200  # of a Gauss-Legendre rule
_PART = 1 << 12  # integrals at a time
_SMALLEST = 2.0**-53 - 1.0  # an estimated sd over the true one, less 1
_FEWEST = 2.0  # items or clusters that have a variance


class Spread(NamedTuple):
    """How much a mean difference of n items varies: `variance` / n."""

    variance: Any
    #: Mean number of items in a cluster; 1 where items are independent.
    cluster_size: Any = 1.0
    #: Whether both tails of a two-sided test count; None is as the method has it.
    both_tails: bool | None = None

    @property
    def normal(self) -> Normal:
        """The same with and without a difference."""
        return Normal(self.variance, self.variance, self.both_tails)

    @property
    def fewest(self) -> Any:
        """Items without which there is no variance."""
        return _FEWEST * np.asarray(self.cluster_size)

    def df(self, n: Any) -> Floats:
        """Degrees of freedom: clusters less 1."""
        return np.asarray(np.maximum(n, self.fewest) / self.cluster_size - 1.0)


class UnpairedSpread(NamedTuple):
    """How much a difference of two means on different samples varies, times n of a."""

    variance_a: Any
    variance_b: Any
    #: Samples of b for each one of a.
    ratio: Any = 1.0
    both_tails: bool | None = None

    @property
    def variance(self) -> Any:
        """Variance of the difference, times the samples of a."""
        return self.variance_a + self.variance_b / self.ratio

    @property
    def normal(self) -> Normal:
        """The same with and without a difference."""
        return Normal(self.variance, self.variance, self.both_tails)

    @property
    def fewest(self) -> Any:
        """Samples of a with which both models have a variance."""
        return np.maximum(_FEWEST, _FEWEST / np.asarray(self.ratio))

    def df(self, n: Any) -> Floats:
        """Welch's degrees of freedom."""
        n = np.maximum(n, self.fewest)
        parts = self.variance_a**2 / (n - 1.0)
        parts = parts + (self.variance_b / self.ratio) ** 2 / (n * self.ratio - 1.0)
        return np.asarray(self.variance**2 / parts)


def item_variance(
    between: Any,
    within_a: Any = 0.0,
    within_b: Any = 0.0,
    repeats_a: Any = 1,
    repeats_b: Any = 1,
) -> Floats:
    """Variance of the difference of one item, each answered several times.

    Miller (2024), equation 9: `between` is the variance over items of the difference of
    expected values, the others are variances of the answers to one item.
    """
    answers = np.divide(within_a, repeats_a) + np.divide(within_b, repeats_b)
    return np.asarray(between + answers)


def design_effect(size: Any, size_cv: Any, correlation: Any) -> Floats:
    """By how much clusters multiply the variance of a mean.

    `size` is the mean number of items in a cluster, `size_cv` its coefficient of
    variation, and `correlation` that of the differences of two items of one cluster.
    """
    return np.asarray(1.0 + ((1.0 + np.square(size_cv)) * size - 1.0) * correlation)


def mean_power(
    question: Question, n: Any, difference: Any, spread: Spread | UnpairedSpread
) -> Floats:
    """Give the probability that n items show what is asked for.

    By default Student's t counts both tails of a two-sided test, the normal
    approximation the right one.
    """
    if question.method != "t":
        return normal_power(question, n, difference, spread.normal)
    df = spread.df(n)
    scale = np.sqrt(n / np.asarray(spread.variance, np.float64))
    t = -stdtrit(df, question.level)
    if question.hypothesis == "equivalence":
        far = (question.margin + np.abs(difference)) * scale
        return _both_reject(df, shift(question, difference) * scale, far, t)

    def tail(shift: Any) -> Any:
        return _upper_tail(df, shift * scale, t)

    return join(question, tail, difference, both_tails=spread.both_tails is not False)


def mean_size(
    question: Question, power: Any, difference: Any, spread: Spread | UnpairedSpread
) -> Floats:
    """Give the real number of items of a power; infinite where none reaches it."""
    n = normal_size(question, power, difference, spread.normal)
    if question.method != "t":
        return n
    return least(
        lambda n: mean_power(question, n, difference, spread),
        power,
        start=n,
        lowest=spread.fewest,
    )


def mean_detectable(
    question: Question, n: Any, power: Any, spread: Spread | UnpairedSpread
) -> Floats:
    """Give the difference that n items find with a power."""
    normal = normal_difference(question, n, power, spread.normal)
    if question.method != "t":
        return normal

    def found(beyond: Any) -> Any:
        return mean_power(question, n, from_shift(question, beyond), spread)

    return from_shift(question, least(found, power, start=shift(question, normal)))


def _upper_tail(df: Any, shift: Any, t: Any) -> Floats:
    """P(T > t) of noncentral t, also where SciPy's function gives no answer."""
    df, shift, t = np.broadcast_arrays(df, shift, t)
    tail = np.asarray(nctdtr(df, -shift, -t))  # mirrored, for digits near 0
    tail = np.where(np.isnan(tail), 1.0 - nctdtr(df, shift, t), tail)
    lost = np.isnan(tail)
    if np.any(lost):
        f, d, k = (each[lost] for each in (df, shift, t))
        middle = d / k
        tail[lost] = _over_sd(f, d, np.inf, k, (0.0, middle))
        tail[lost] += _over_sd(f, d, np.inf, k, (middle, np.inf))
    return tail


def _both_reject(df: Any, near: Any, far: Any, t: Any) -> Floats:
    """Probability that both of two one-sided t tests reject (Owen 1965).

    They share the standard deviation; beyond (near + far) / (2 t) no mean satisfies
    both.
    """
    df, near, far, t = np.broadcast_arrays(df, near, far, t)
    flat = [np.ravel(each) for each in (df, near, far, t)]
    found = np.empty(flat[0].size)
    for part in parts(found.size, _PART):
        f, a, b, k = (each[part] for each in flat)
        found[part] = _over_sd(f, a, b, k, (0.0, (a + b) / (2.0 * k)))
    return np.clip(found, 0.0, 1.0).reshape(df.shape)


@cache
def _rule() -> tuple[Floats, Floats]:
    """Give the nodes and the weights of the integrals."""
    return np.polynomial.legendre.leggauss(_NODES)


def _over_sd(df: Any, near: Any, far: Any, t: Any, limits: tuple[Any, Any]) -> Floats:
    """Integrate P(t u - far < Z < near - t u) over u, the estimated over the true sd.

    u**2 df has the chi-square distribution, and u is taken between the limits.
    """
    df, near, far, t, low, high = (
        each[:, np.newaxis] for each in np.broadcast_arrays(df, near, far, t, *limits)
    )
    x, weight = _rule()
    half = 10.0 / np.sqrt(2.0 * df)
    # In e = u - 1, which many degrees of freedom make small.
    low = np.clip(low - 1.0, np.maximum(-half, -1.0), half)
    width = 0.5 * np.maximum(np.clip(high - 1.0, -1.0, half) - low, 0.0)
    e = np.maximum(low + width * (x + 1.0), _SMALLEST)
    log_density = df * (np.log1p(e) - e - 0.5 * e * e) - np.log1p(e)
    density = np.exp(_log_scale(df) + log_density)
    u = 1.0 + e
    inside = ndtr(near - t * u) - ndtr(t * u - far)
    return np.asarray((width * weight * density * inside).sum(axis=-1))


def _log_scale(df: Floats) -> Floats:
    """Log of 2 (df / 2)**(df / 2) exp(-df / 2) / Gamma(df / 2)."""
    x = 0.5 * df
    exact = x * np.log(x) - x - gammaln(x) + np.log(2.0)
    stirling = 0.5 * np.log(2.0 * x / np.pi) - 1.0 / (12.0 * x) + 1.0 / (360.0 * x**3)
    return np.where(x > 100.0, stirling, exact)
