"""What a leaderboard is planned from: values of many models, and how alike they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from fastcmp.core.record_parts import LESS_IS_BETTER
from fastcmp.counts.pairs import all_pairs
from fastcmp.planning.checked import names_of, positive, within
from fastcmp.planning.given import is_given, needed
from fastcmp.planning.inputs import read_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.planning.family import Floats, Inputs

KNOWN = {
    "accuracies": "of the models",
    "means": "of the models, beside sd and correlation",
    "sd": "of the values of each model, or of all",
    "correlation": "of being right, or of values: of all pairs, or a matrix",
    "agreement": "probability that two models are both right or both wrong",
    "discordant": "probability that just one of two models is right",
    "pilot": "record of all pairs of models",
}
_BESIDE = ("agreement", "correlation", "discordant")
_ROUNDING = 1e-9  # of the largest eigenvalue


class Models(NamedTuple):
    """Models and their pairs (i, j), i < j; better models have higher values."""

    value: Floats
    pairs: NDArray[np.int32]
    #: Value of the first minus that of the second, shape (P,).
    difference: Floats
    #: Standard deviation of the difference of one sample; and that with which the test
    #: divides, of accuracies McNemar's without a difference.
    scale: Floats
    null_scale: Floats

    def covariance(self) -> Floats:
        """Give a covariance of one sample with these variances of differences.

        That of the models less their mean; no other part of it can be told from them.
        """
        m = self.value.size
        square = np.zeros((m, m))
        i, j = self.pairs.T
        square[i, j] = square[j, i] = self.scale**2
        centre = np.eye(m) - 1.0 / m
        found = -0.5 * centre @ square @ centre
        values = np.linalg.eigvalsh(found)
        if values[0] < -_ROUNDING * values[-1]:
            message = (
                "correlation must be possible for all models together, got one that "
                "would give a combination of them a negative variance"
            )
            raise ValueError(message)
        return np.asarray(found)


def read_models(inputs: Inputs) -> Models:
    """Read accuracies or means with what is known of each pair, or a pilot's record."""
    names = ("accuracies", "means", "pilot")
    given = [name for name in names if is_given(inputs, name)]
    if len(given) != 1:
        message = f"accuracies, means or pilot must be given, one of them, got {names_of(given)}"
        raise ValueError(message)
    if given == ["pilot"]:
        return _from_pilot(inputs)
    models = _from_accuracies(inputs) if given == ["accuracies"] else _from_means(inputs)
    if not models.difference.any():
        message = f"{given[0]} must differ, got {models.value[0]:g} for all"
        raise ValueError(message)
    return models


def _of_pairs(raw: Any, name: str, pairs: NDArray[np.int32]) -> Floats:
    """Read a number for all pairs, or a matrix."""
    value = within(raw, name, -1, 1, closed=True)
    m = int(pairs.max()) + 1
    if value.ndim == 0:
        return np.full(len(pairs), float(value))
    if value.shape != (m, m) or not np.array_equal(value, value.T):
        message = (
            f"{name} must be a number or a symmetric matrix of shape ({m}, {m}), got "
            f"shape {value.shape}"
        )
        raise ValueError(message)
    return np.asarray(value[pairs[:, 0], pairs[:, 1]])


def _vector(raw: Any, name: str, low: float, high: float) -> Floats:
    value = within(raw, name, low, high, closed=np.isfinite(low))
    if value.ndim != 1 or value.size < 2:
        message = f"{name} must be those of 2 models or more, got shape {value.shape}"
        raise ValueError(message)
    return value


def _from_accuracies(inputs: Inputs) -> Models:
    accuracy = _vector(inputs["accuracies"], "accuracies", 0, 1)
    pairs = all_pairs(accuracy.size)
    beside = [name for name in _BESIDE if is_given(inputs, name)]
    if len(beside) != 1 or is_given(inputs, "sd"):
        message = (
            f"one of {', '.join(_BESIDE)} must be given beside accuracies, got {names_of(beside)}"
        )
        raise ValueError(message)
    (name,) = beside
    a, b = accuracy[pairs.T]
    alike = _of_pairs(inputs[name], name, pairs)
    cells = read_probabilities({"accuracy_a": a, "accuracy_b": b, name: alike})
    difference, discordant = a - b, cells.p10 + cells.p01
    if not np.all(discordant > difference**2):
        message = f"{name} must leave each pair of models some difference, got none"
        raise ValueError(message)
    scale = np.sqrt(discordant - difference**2)
    return Models(accuracy, pairs, difference, scale, np.sqrt(discordant))


def _from_means(inputs: Inputs) -> Models:
    mean = _vector(inputs["means"], "means", -np.inf, np.inf)
    pairs = all_pairs(mean.size)
    sd = np.broadcast_to(positive(needed(inputs, "sd"), "sd"), mean.shape)
    correlation = _of_pairs(needed(inputs, "correlation"), "correlation", pairs)
    (a, b), (s, t) = mean[pairs.T], sd[pairs.T]
    square = s * s + t * t - 2.0 * correlation * s * t
    if not np.all(square > 0.0):
        message = "correlation must leave each pair of models some difference, got none"
        raise ValueError(message)
    scale = np.sqrt(square)
    return Models(mean, pairs, a - b, scale, scale)


def _from_pilot(inputs: Inputs) -> Models:
    """Read a record of all pairs: their differences, and how these vary."""
    record = inputs["pilot"]
    extra = [name for name in KNOWN if name != "pilot" and is_given(inputs, name)]
    if extra:
        message = f"{extra[0]} is known from the pilot: leave one of both out"
        raise ValueError(message)
    names = getattr(record, "names", ())
    if not hasattr(record, "pairs") or len(record.pairs) != len(all_pairs(len(names))):
        message = (
            "pilot must be a record of all pairs of models on the same samples, each "
            f"of them kept, got {record!r}"
        )
        raise ValueError(message)
    sign = -1.0 if record.measure in LESS_IS_BETTER else 1.0
    difference = sign * np.asarray(record.difference, np.float64)
    n = float(record.n_samples)
    if record.measure == "accuracy" and record.only_a is not None:
        null_square = (record.only_a + record.only_b) / n
        square = null_square - difference**2
    else:
        square = null_square = n * _errors(record) ** 2
    if not np.all(square > 0.0):
        message = "pilot must have samples on which each pair of models differs"
        raise ValueError(message)
    pairs = np.asarray(record.pairs, np.int32)
    value = sign * np.asarray(record.score, np.float64)
    return Models(value, pairs, difference, np.sqrt(square), np.sqrt(null_square))


def _errors(record: Any) -> Floats:
    """Read standard errors, of records without them from their intervals."""
    if getattr(record, "standard_error", None) is not None:
        return np.asarray(record.standard_error, np.float64)
    low, high = np.asarray(record.interval, np.float64).T
    return np.asarray((high - low) / (-2.0 * ndtri(record.alpha / 2.0)))
