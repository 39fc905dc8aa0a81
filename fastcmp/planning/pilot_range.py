"""What a pilot leaves open: its difference is known but for a standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from fastcmp.planning.normal import Normal, normal_power

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.planning.family import Answer, Question


class Pilot(NamedTuple):
    """The difference that a pilot found, in the direction of the question."""

    gain: Any
    #: Standard error of it; None without a pilot.
    error: Any
    normal: Normal
    #: Degrees of freedom of the interval.
    df: Any = np.inf


def with_pilot(
    answer: Answer, question: Question, pilot: Pilot, found: Callable[[Any], Any]
) -> Answer:
    """Add the mean power over what the pilot leaves open, and the answer's interval.

    The difference is taken to be normal about that of the pilot. `found` gives what was
    asked for, from a difference; the interval holds it for all differences in the
    pilot's 95% interval.
    """
    if pilot.error is None:
        return answer
    none = np.isinf(answer.n)
    n = np.where(none, 1.0, answer.n)
    variance = pilot.normal.variance + n * np.square(pilot.error)
    doubt = pilot.normal._replace(variance=variance, both_tails=True)
    assurance = normal_power(question, n, pilot.gain, doubt)
    reach = -stdtrit(pilot.df, 0.025) * pilot.error
    low, high = pilot.gain - reach, pilot.gain + reach
    # Two-sided, and of equivalence, the answer turns at 0.
    answers = [found(gain) for gain in (low, high, np.clip(0.0, low, high))]
    least, most = np.min(answers, axis=0), np.max(answers, axis=0)
    return answer._replace(
        assurance=None if np.all(none) else np.where(none, np.nan, assurance),
        interval=None if np.all(np.isinf(least)) else (least, most),
    )
