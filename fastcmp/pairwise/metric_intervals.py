"""Intervals of a metric from its standard error, on the scale where it is symmetric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastcmp.metrics.estimators import Estimator


def scaled_interval(
    estimator: Estimator, value: float, error: float, quantile: float
) -> tuple[float, float]:
    """Give the interval of a metric; its value alone where the scale has no room."""
    if math.isnan(value) or math.isnan(error):
        return math.nan, math.nan
    low, high = estimator.limits
    if error == 0.0 or not low < value < high:
        return value, value
    reach = quantile * error
    if estimator.scale == "logit":
        middle, reach = math.log(value / (1.0 - value)), reach / (value * (1.0 - value))
        return _expit(middle - reach), _expit(middle + reach)
    if estimator.scale == "atanh":
        middle, reach = math.atanh(value), reach / (1.0 - value * value)
        return math.tanh(middle - reach), math.tanh(middle + reach)
    if estimator.scale == "log":
        middle, reach = math.log(value), reach / value
        return math.exp(middle - reach), math.exp(middle + reach)
    return max(value - reach, low), min(value + reach, high)


def _expit(x: float) -> float:
    if x < 0:
        return math.exp(x) / (1.0 + math.exp(x))
    return 1.0 / (1.0 + math.exp(-x))
