"""Power and sample sizes where an estimate is normal, with a variance of so much / n; searches.

Under the null hypothesis its variance is `null_variance` / n, under the alternative
`variance` / n; with degrees of freedom both are estimated, and the test is a t test.
Everything broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincc, chdtri, gammaln, nctdtr, ndtr, ndtri, stdtrit

from fastcmp.core.threads import parts
from fastcmp.core.typing import Floats, Numbers
from fastcmp.planning.families import Case, Question

_NODES = 200  # of a Gauss-Legendre rule
_PART = 1 << 12  # integrals at a time
_MANY = 64  # shifts of one t and df, for which a series is quicker than as many tails
_FARTHEST = 18.0  # of those, over the root of 2: beyond, the series has many terms
_SMALLEST = 2.0**-53 - 1.0  # an estimated sd over the true one, less 1


class Normal(NamedTuple):
    """Variances of an estimate, times the number of samples."""

    variance: Numbers
    null_variance: Numbers
    #: Whether a two-sided test that finds the wrong direction counts too; None: only
    #: without a difference, where no direction is wrong.
    both_tails: bool | None = None
    #: Degrees of freedom of n samples, for a t test.
    df: Callable[[Any], Any] | None = None
    #: Samples without which there is no t test.
    fewest: Numbers = 0.0
    #: Under H0 at the farther margin of equivalence, where that is another.
    far_variance: Numbers | None = None


def shift(question: Question, difference: Numbers) -> Floats | np.float64:
    """How far a true difference lies beyond the nearest of H0.

    Two-sided, and for equivalence, on the side where it lies.
    """
    d = difference if isinstance(difference, np.float64) else np.asarray(difference, np.float64)
    margin: Any = question.margin
    if question.hypothesis == "noninferiority":
        return np.asarray(d + margin)
    if question.hypothesis == "superiority":
        return np.asarray(d - margin)
    if question.hypothesis == "equivalence":
        return np.asarray(margin - np.abs(d))
    if question.alternative == "two-sided":
        return np.abs(d)
    return d if question.alternative == "greater" else -d


def normal_power(question: Question, n: Numbers, difference: Numbers, normal: Normal) -> Any:
    """Power of a test of n samples."""
    near = shift(question, difference)
    if normal.df is not None:
        df = normal.df(n)
        t, units = -stdtrit(df, question.level), np.sqrt(n / normal.variance)
        if question.hypothesis == "equivalence":
            return _both_reject(df, near * units, (question.margin + np.abs(difference)) * units, t)
    else:
        z, root, scale = -ndtri(question.level), np.sqrt(n), np.sqrt(normal.variance)

    def tail(shift: Numbers, null_variance: Numbers = normal.null_variance) -> Any:
        """Power of a one-sided test whose alternative lies at a shift."""
        return ndtr((root * shift - z * np.sqrt(null_variance)) / scale)

    two_sided = question.hypothesis == "difference" and question.alternative == "two-sided"
    if normal.df is not None:
        return _t_power(df, near * units, t, both_tails=two_sided and normal.both_tails)
    power = tail(near)
    if question.hypothesis == "equivalence":
        # Chow, Shao and Wang take the nearer margin for both.
        other = normal.null_variance if normal.far_variance is None else normal.far_variance
        chow = question.method == "chow"
        far = power if chow else tail(question.margin + np.abs(difference), other)
        return np.asarray(np.maximum(power + far - 1.0, 0.0))
    if not two_sided:
        return np.asarray(power)
    counted = np.equal(difference, 0.0) if normal.both_tails is None else normal.both_tails
    return np.asarray(power + np.where(counted, tail(-np.abs(difference)), 0.0))


def _reach(question: Question, power: Numbers, normal: Normal) -> Any:
    """What the shift times the root of n must be."""
    z, z_power = -ndtri(question.level), ndtri(power)
    reach = z * np.sqrt(normal.null_variance) + z_power * np.sqrt(normal.variance)
    return np.maximum(reach, 0.0)  # where less power is wanted than there is


def normal_size(question: Question, power: Numbers, difference: Numbers, normal: Normal) -> Floats:
    """Real n of a power; infinite where no n reaches it."""
    beyond = shift(question, difference)
    target = np.asarray(power, np.float64)
    if question.hypothesis == "equivalence":
        # Both ends count alike without a true difference; else it is a bound.
        target = 0.5 + 0.5 * target
    reach = _reach(question, target, normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(beyond > 0.0, (reach / beyond) ** 2, np.inf)
    if normal.df is None and question.hypothesis != "equivalence" and not normal.both_tails:
        return n
    return least(
        lambda n: normal_power(question, n, difference, normal),
        power,
        start=n,
        lowest=normal.fewest,
    )


def normal_difference(question: Question, n: Numbers, power: Numbers, normal: Normal) -> Floats:
    """Difference that n samples find, or show the margin with; two-sided the positive one."""

    def difference(beyond: Numbers) -> Floats:
        step = beyond - shift(question, 0.0)
        return np.asarray(-step if question.alternative == "less" else step)

    beyond = _reach(question, power, normal) / np.sqrt(n)
    if normal.df is not None or normal.both_tails:
        beyond = least(
            lambda beyond: normal_power(question, n, difference(beyond), normal),
            power,
            start=beyond,
        )
    return difference(beyond)


def normal_case(
    question: Question,
    inputs: dict[str, Any],
    normal: Normal,
    gain: Any,
    *,
    error: Any = None,
    df: Numbers = np.inf,
    sign: Numbers = 1.0,
    **fields: Any,
) -> Case:
    """How power and samples depend on each other where a difference is normal.

    `gain` is `sign` times the difference. That of a pilot has a standard `error` with so many
    degrees of freedom: the mean power is over all that are so distributed about it, the
    interval that of the answers for all in its 95% interval.
    """
    if question.solved_for == "difference":
        gain = normal_difference(question, question.n, question.target, normal)

    def pilot(solve: Callable[[Any], Any], n: Numbers) -> tuple[Any, Any]:
        none = np.isinf(n)
        n = np.where(none, 1.0, n)
        variance = normal.variance + n * np.square(error)
        doubt = normal._replace(variance=variance, both_tails=True, df=None)
        assurance = normal_power(question, n, gain, doubt)
        reach = -stdtrit(df, 0.025) * error
        low, high = gain - reach, gain + reach
        # Two-sided, and of equivalence, the answer turns at 0.
        answers = [solve(gain_at) for gain_at in (low, high, np.clip(0.0, low, high))]
        fewest, most = np.min(answers, axis=0), np.max(answers, axis=0)
        return (
            None if np.all(none) else np.where(none, np.nan, assurance),
            None if np.all(np.isinf(fewest)) else (fewest, most),
        )

    return Case(
        difference=sign * gain,
        inputs=inputs,
        power=lambda gain, n: normal_power(question, n, gain, normal),
        size=lambda gain, power: normal_size(question, power, gain, normal),
        effect=gain,
        closed=True,
        pilot=None if error is None else pilot,
        **fields,
    )


def _t_power(df: Numbers, shift: Numbers, t: Numbers, *, both_tails: object) -> Any:
    """P(T > t) of noncentral t, or P(|T| > t)."""
    if (
        isinstance(shift, np.ndarray)
        and shift.size >= _MANY
        and np.size(df) == np.size(t) == 1
        and np.all(shift >= 0.0)
    ):
        # Beyond it T > t but for a probability of 1e-17.
        reach = t * np.sqrt(chdtri(df, 1e-17) / df) + 9.0
        half = np.minimum(shift, reach) * np.sqrt(0.5)
        if (most := np.max(half)) < _FARTHEST:
            return _tail_series(df, half, most, t, 2 if both_tails else 1)
    tail = nctdtr(df, -shift, -t)  # mirrored, for digits near 0
    power = tail + nctdtr(df, shift, -t) if both_tails else tail
    if not (np.isnan(power).any() if isinstance(power, np.ndarray) else isnan(power)):
        return power
    power = _upper_tail(df, shift, t)
    return power + _upper_tail(df, -shift, t) if both_tails else power


def _tail_series(df: Numbers, half: Numbers, most: Numbers, t: Numbers, step: int) -> Floats:
    r"""Tails of noncentral t with one t and df, at shifts of sqrt(2) y up to that of `most`.

    .. math:: P(T > t) = \frac{e^{-y^2}}{2} \sum_k \frac{y^k}{\Gamma(k / 2 + 1)}
              P(B_k < \tfrac{\nu}{\nu + t^2}),\quad B_k \sim \mathrm{Beta}(\nu/2, (k + 1)/2)

    (Johnson, Kotz and Balakrishnan 1995, 31.15): a polynomial of positive terms, of which the
    tail beyond -t has the same with the odd ones negative.
    """
    terms = np.arange(0, 2 * int(most * (most + 12.0) + 25.0), step)
    # most**k / Gamma(k / 2 + 1), each from that of k - 2: y / most is the variable.
    ratios = (2.0 * most * most / np.maximum(terms, 1)).reshape(-1, 3 - step)
    ratios[0] = (1.0, most * 2.0 / np.sqrt(np.pi))[: 3 - step]
    scale = np.cumprod(ratios, axis=0).ravel()
    coefficients = scale * betaincc(0.5 * (terms + 1.0), 0.5 * df, t * t / (df + t * t))
    x = half / most
    sums = np.polynomial.polynomial.polyval(x if step == 1 else x * x, coefficients)
    return np.asarray(np.minimum(0.5 * step * sums * np.exp(-half * half), 1.0))


def _upper_tail(df: Numbers, shift: Numbers, t: Numbers) -> Floats:
    """P(T > t) of noncentral t where SciPy's function gives no answer."""
    df, shift, t = np.broadcast_arrays(df, shift, t)
    tail = np.asarray(nctdtr(df, -shift, -t))
    tail = np.where(np.isnan(tail), 1.0 - nctdtr(df, shift, t), tail)
    lost = np.isnan(tail)
    f, d, k = (column[lost] for column in (df, shift, t))
    middle = d / k
    tail[lost] = _over_sd(f, d, np.inf, k, (0.0, middle))
    tail[lost] += _over_sd(f, d, np.inf, k, (middle, np.inf))
    return tail


def _both_reject(df: Numbers, near: Numbers, far: Numbers, t: Numbers) -> Floats:
    """Probability that both of two one-sided t tests reject (Owen 1965).

    They share the standard deviation; beyond (near + far) / (2 t) no mean satisfies
    both.
    """
    df, near, far, t = np.broadcast_arrays(df, near, far, t)
    flat = [np.ravel(column) for column in (df, near, far, t)]
    probability = np.empty(flat[0].size)
    for part in parts(probability.size, _PART):
        f, a, b, k = (column[part] for column in flat)
        probability[part] = _over_sd(f, a, b, k, (0.0, (a + b) / (2.0 * k)))
    return np.clip(probability, 0.0, 1.0).reshape(df.shape)


@cache
def _rule() -> tuple[Floats, Floats]:
    """Nodes and weights of the integrals."""
    return np.polynomial.legendre.leggauss(_NODES)


def _over_sd(
    df: Numbers, near: Numbers, far: Numbers, t: Numbers, limits: tuple[Any, Any]
) -> Floats:
    """Integrate P(t u - far < Z < near - t u) over u, the estimated over the true sd.

    u**2 df has the chi-square distribution, and u is taken between the limits.
    """
    df, near, far, t, low, high = (
        column[:, np.newaxis] for column in np.broadcast_arrays(df, near, far, t, *limits)
    )
    nodes, weight = _rule()
    half = 10.0 / np.sqrt(2.0 * df)
    # In e = u - 1, which many degrees of freedom make small.
    low = np.clip(low - 1.0, np.maximum(-half, -1.0), half)
    width = 0.5 * np.maximum(np.clip(high - 1.0, -1.0, half) - low, 0.0)
    e = np.maximum(low + width * (nodes + 1.0), _SMALLEST)
    log_density = df * (np.log1p(e) - e - 0.5 * e * e) - np.log1p(e)
    # log_scale: log of 2 (df / 2)**(df / 2) exp(-df / 2) / Gamma(df / 2)
    x = 0.5 * df
    exact = x * np.log(x) - x - gammaln(x) + np.log(2.0)
    stirling = 0.5 * np.log(2.0 * x / np.pi) - 1.0 / (12.0 * x) + 1.0 / (360.0 * x**3)
    log_scale = np.where(x > 100.0, stirling, exact)
    density = np.exp(log_scale + log_density)
    u = 1.0 + e
    inside = ndtr(near - t * u) - ndtr(t * u - far)
    return np.asarray((width * weight * density * inside).sum(axis=-1))


_STEPS = 200  # of a search, at most
_FACTOR = 1.05  # by which a search goes first
_NEAR = 1e-15  # relative width at which it ends
_ENOUGH = 1e-13  # quantiles from the target at which it ends too


def elementwise(function: Callable[..., float], *numbers: Numbers) -> Floats:
    """Answers of a function of numbers, for arrays that broadcast."""
    if not any(np.ndim(x) for x in numbers):
        return np.asarray(function(*map(float, numbers)))
    arrays = np.broadcast_arrays(*numbers)
    rows = zip(*(x.astype(np.float64).ravel().tolist() for x in arrays), strict=True)
    return np.array([function(*row) for row in rows], np.float64).reshape(arrays[0].shape)


def each_size(
    power: Callable[..., float],
    target: Numbers,
    near: Numbers,
    *numbers: Numbers,
    back: Numbers = 0.0,
    **limits: float,
) -> Floats:
    """Smallest whole numbers with which power(n, *numbers) reaches a target, as `smallest`."""

    def one(target: float, near: float, back: float, *row: float) -> float:
        return smallest(lambda n: power(n, *row) >= target, near, back=back, **limits)

    return elementwise(one, target, near, back, *numbers)


def smallest(
    enough: Callable[[float], bool],
    near: float,
    *,
    fewest: float = 0.0,
    most: float = np.inf,
    step: float = 0.0,
    width: float = 0.0,
    back: float = 0.0,
) -> float:
    """Smallest whole number that is enough; infinite where none up to `most` is.

    From `near` by doubled steps, the first of `step` or a 100th of it, to the other side, and not
    below `fewest`, which is not enough; and then by halving, to a difference of 1, or of `width`
    times the number. Of a power that does not always rise, up to `back` numbers below are tried.
    """
    if np.isinf(near):
        return near
    enough = cache(enough)
    step = step or max(near // 100, 1.0)
    low = high = near
    if enough(near):
        while low > fewest:
            low = max(high - step, fewest)
            if low == fewest or not enough(low):
                break
            high, step = low, 2 * step
    else:
        while True:
            low, high, step = high, high + step, 2 * step
            if high > most:
                return np.inf
            if enough(high):
                break
    while high - low > max(1.0, width * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    first = max((high - back) // 1, fewest + 1.0)
    below = (first + k for k in range(int(high - first)))
    return float(next((n for n in below if enough(n)), high))


def least(
    function: Callable[[Any], Any], target: Numbers, *, start: Numbers, lowest: Numbers = 0.0
) -> Floats:
    """Least numbers > 0 at which an increasing function reaches a target.

    The search goes from `start` by growing factors to the other side, and not below
    `lowest`; where the start is infinite, so is the answer.
    """
    shape = np.broadcast_shapes(np.shape(start), np.shape(target), np.shape(lowest))
    start, lowest = (np.broadcast_to(x, shape).astype(float) for x in (start, lowest))
    is_finite = np.isfinite(start)
    near = np.maximum(np.where(is_finite, start, 1.0), lowest)
    rising = function(near) < target
    far, pending, factor = near.copy(), is_finite.copy(), _FACTOR
    for _ in range(_STEPS):
        moved = np.where(rising, far * factor, np.maximum(far / factor, lowest))
        near, far = np.where(pending, far, near), np.where(pending, moved, far)
        pending &= ((function(far) < target) == rising) & (far != lowest)
        if not pending.any():
            break
        factor = min(factor * factor, 4.0)
    low, high = np.where(rising, near, far), np.where(rising, far, near)
    return np.where(is_finite, solve(function, target, low, high), start)


def detectable(
    question: Question, power: Callable[[Any], Any], most: Numbers, room: Numbers = 0.0
) -> Floats:
    """Difference that is found with the power wanted, up to `most` in size; NaN where none is.

    With its sign; a is at worst by `room` worse.
    """
    sign = -1.0 if question.alternative == "less" else 1.0
    low: Any = 0.0
    if question.margin is not None:
        below = -np.minimum(question.margin, room)
        low = question.margin if question.hypothesis == "superiority" else below
    gap = solve(lambda gap: power(sign * gap), question.target, low, most)
    return np.where(low < most, sign * gap, np.nan)


def solve(function: Callable[[Any], Any], target: Numbers, low: Numbers, high: Numbers) -> Floats:
    """Least numbers between two bounds at which an increasing probability reaches a target, or NaN.

    Chandrupatla (1997): inverse quadratic interpolation where that is safe, else
    bisection; for all entries at once, and on the scale of normal quantiles.
    `scipy.optimize.elementwise` has it too, and takes longer to import than all of this.
    """
    low, high, _ = np.broadcast_arrays(low, high, target)
    aim = ndtri(target)
    at_low, at_high = (ndtri(function(x)) - aim for x in (low, high))
    x1, f1, x2, f2 = high, at_high, low, at_low
    t: Any = 0.5
    best = x1
    for _ in range(_STEPS):
        x = x1 + t * (x2 - x1)
        f = ndtri(function(x)) - aim
        same = np.sign(f) == np.sign(f1)
        x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
        x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
        x1, f1 = x, f
        best = np.where(np.abs(f1) < np.abs(f2), x1, x2)
        width = np.abs(x2 - x1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least_t = np.where(width > 0.0, _NEAR * np.abs(best) / width, 1.0)
            if np.all((least_t > 0.5) | (np.abs(f) < _ENOUGH)):
                break
            xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
            safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
            inner = f1 / (f2 - f1) * f3 / (f2 - f3)
            inner = inner + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            inner = np.where(safe & np.isfinite(inner), inner, 0.5)
            t = np.clip(inner, least_t, 1.0 - least_t)
    root = np.where(np.abs(f1) < _ENOUGH, x1, best)
    return np.where(at_low >= 0.0, low, np.where(at_high >= 0.0, root, np.nan))
