"""McNemar's test of two accuracies: power, sample size and detectable difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.planning import mcnemar_normal as normal
from fastcmp.planning.family import Answer, Family, Floats, Inputs, Question
from fastcmp.planning.inputs import KNOWN, read_discordant, read_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

_METHODS = {"difference": ("connor", "miettinen", "lachenbruch")}
_TITLES = {
    "connor": "McNemar's test, Connor's normal approximation",
    "miettinen": "McNemar's test, Miettinen's normal approximation",
    "lachenbruch": "McNemar's test, Lachenbruch's normal approximation",
}


def _direction(question: Question, difference: Floats) -> Any:
    """Sign of the side on which a difference is found."""
    if question.alternative == "two-sided":
        return np.where(difference < 0, -1.0, 1.0)
    return 1.0 if question.alternative == "greater" else -1.0


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    p10, p01, cautions = read_probabilities(inputs)
    gap, pd = p10 - p01, p10 + p01
    z, _ = normal.normal_quantiles(question.level, 0.5)
    gain = gap * _direction(question, gap)
    power = normal.power_of(n, gain, pd, z, question.method)
    # Without a difference there is no right direction: both sides count.
    power = np.where((gap == 0) & (pd > 0), question.alpha, power)
    return Answer(
        n=n,
        power=power,
        difference=gap,
        inputs={"p10": p10, "p01": p01},
        status=_status(pd),
        cautions=cautions,
    )


def _sample_size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    p10, p01, cautions = read_probabilities(inputs)
    gap, pd = p10 - p01, p10 + p01
    z, z_power = normal.normal_quantiles(question.level, power)
    gain = gap * _direction(question, gap)
    real = normal.sample_size_of(gain, pd, z, z_power, question.method)
    n = rounded_up(real)
    found = normal.power_of(np.where(np.isinf(n), 1, n), gain, pd, z, question.method)
    return Answer(
        n=n,
        n_exact=real,
        power=np.where(np.isinf(n), power, found),
        difference=gap,
        inputs={"p10": p10, "p01": p01},
        status=np.where(np.isinf(n), UNDEFINED, OK),
        cautions=cautions,
    )


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    pd = read_discordant(inputs)
    z, z_power = normal.normal_quantiles(question.level, power)
    gain = normal.difference_of(n, pd, z, z_power, question.method)
    return Answer(
        n=n,
        power=power,
        difference=gain * (-1.0 if question.alternative == "less" else 1.0),
        inputs={"discordant": pd},
        status=np.where(np.isnan(gain), UNDEFINED, OK),
    )


def rounded_up(real: Floats) -> Floats:
    """Round up to whole numbers, at least 1; a rounding error is no sample."""
    return np.asarray(np.maximum(np.ceil(real * (1 - 1e-12)), 1.0))


def _status(pd: Floats) -> NDArray[np.int64]:
    """Say where no sample can be discordant."""
    return np.where(pd == 0, DEGENERATE, OK)


FAMILY = Family(
    title=lambda method, _: _TITLES[method],
    methods=_METHODS,
    inputs=KNOWN,
    power=_power,
    sample_size=_sample_size,
    difference=_difference,
)
