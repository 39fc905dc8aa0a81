"""Power and sample sizes where an estimate is normal, with a variance of so much / n.

Under the null hypothesis its variance is `null_variance` / n, under the alternative
`variance` / n. Everything broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from fastcmp.planning.families import Floats, Question
from fastcmp.planning.search import least


class Normal(NamedTuple):
    """Variances of an estimate, times the number of samples."""

    variance: Any
    null_variance: Any
    #: Whether a two-sided test that finds the wrong direction counts too; None: only
    #: without a difference, where no direction is wrong.
    both_tails: bool | None = None


def shift(question: Question, difference: Any) -> Floats:
    """How far a true difference lies beyond the nearest of H0.

    Two-sided, and for equivalence, on the side where it lies.
    """
    d = np.asarray(difference, np.float64)
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


def from_shift(question: Question, beyond: Any) -> Floats:
    """Difference that lies so far beyond H0; two-sided the positive one."""
    step = beyond - shift(question, 0.0)
    return np.asarray(-step if question.alternative == "less" else step)


def join(
    question: Question, tail: Callable[[Any], Any], difference: Any, *, both_tails: bool | None
) -> Floats:
    """Power of the test asked for, from that of one-sided tests.

    `tail` gives the power of a one-sided test whose alternative lies at a shift.
    """
    near = tail(shift(question, difference))
    if question.hypothesis == "equivalence":
        # Chow, Shao and Wang take the nearer margin for both.
        chow = question.method == "chow"
        far = near if chow else tail(question.margin + np.abs(difference))
        return np.asarray(np.maximum(near + far - 1.0, 0.0))
    if question.hypothesis != "difference" or question.alternative != "two-sided":
        return np.asarray(near)
    counted = np.equal(difference, 0.0) if both_tails is None else both_tails
    return np.asarray(near + np.where(counted, tail(-np.abs(difference)), 0.0))


def normal_power(question: Question, n: Any, difference: Any, normal: Normal) -> Floats:
    """Probability that n samples show what is asked for."""
    z = -ndtri(question.level)
    scale, null_scale = np.sqrt(normal.variance), np.sqrt(normal.null_variance)

    def tail(shift: Any) -> Any:
        return ndtr((np.sqrt(n) * shift - z * null_scale) / scale)

    return join(question, tail, difference, both_tails=normal.both_tails)


def normal_size(question: Question, power: Any, difference: Any, normal: Normal) -> Floats:
    """Real n of a power; infinite where no n reaches it."""
    beyond = shift(question, difference)
    target = np.asarray(power, np.float64)
    if question.hypothesis == "equivalence":
        # Both ends count alike without a true difference; else it is a bound.
        target = 0.5 + 0.5 * target
    reach = _reach(question, target, normal)
    with np.errstate(divide="ignore"):
        n = np.where(beyond > 0.0, (reach / beyond) ** 2, np.inf)
    if question.hypothesis != "equivalence" and not normal.both_tails:
        return n
    return least(lambda n: normal_power(question, n, difference, normal), power, start=n)


def normal_difference(question: Question, n: Any, power: Any, normal: Normal) -> Floats:
    """Difference that n samples find, or show the margin with."""
    beyond = _reach(question, power, normal) / np.sqrt(n)
    if normal.both_tails:
        beyond = least(
            lambda beyond: normal_power(question, n, from_shift(question, beyond), normal),
            power,
            start=beyond,
        )
    return from_shift(question, beyond)


def _reach(question: Question, power: Any, normal: Normal) -> Any:
    """What the shift times the root of n must be."""
    z, z_power = -ndtri(question.level), ndtri(power)
    reach = z * np.sqrt(normal.null_variance) + z_power * np.sqrt(normal.variance)
    return np.maximum(reach, 0.0)  # where less power is wanted than there is


def pilot_range(
    question: Question, gain: Any, error: Any, normal: Normal, df: Any = np.inf
) -> Callable[[Callable[[Any], Any], Any], tuple[Any, Any]]:
    """Mean power and interval over what a pilot leaves open, as `Case.pilot` has them.

    The difference is taken to be normal about `gain`, that of the pilot, with a standard
    `error`; the interval is that of the answers for all differences in the pilot's 95% interval.
    """

    def pilot(solve: Callable[[Any], Any], n: Any) -> tuple[Any, Any]:
        none = np.isinf(n)
        n = np.where(none, 1.0, n)
        variance = normal.variance + n * np.square(error)
        doubt = normal._replace(variance=variance, both_tails=True)
        assurance = normal_power(question, n, gain, doubt)
        reach = -stdtrit(df, 0.025) * error
        low, high = gain - reach, gain + reach
        # Two-sided, and of equivalence, the answer turns at 0.
        answers = [solve(each) for each in (low, high, np.clip(0.0, low, high))]
        fewest, most = np.min(answers, axis=0), np.max(answers, axis=0)
        return (
            None if np.all(none) else np.where(none, np.nan, assurance),
            None if np.all(np.isinf(fewest)) else (fewest, most),
        )

    return pilot
