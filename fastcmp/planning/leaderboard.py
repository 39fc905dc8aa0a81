"""Plans of leaderboards: what is found among many models after adjustment.

The means of n samples are normal with the covariance of one sample over n, and the
tests of all pairs are z tests; they are drawn and adjusted as results are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from fastcmp.core.checks import as_seed, as_whole, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import less_is_better
from fastcmp.core.threads import parts
from fastcmp.core.typing import Flags, Floats, Numbers, Pairs
from fastcmp.counts.pairs import all_pairs
from fastcmp.pairwise.adjust import OF_PAIRS, adjust_rows, adjusted_by
from fastcmp.pairwise.max_t import gaussian_draws
from fastcmp.planning.discordance import read_probabilities
from fastcmp.planning.families import Case, Family, Inputs, Question, names_of
from fastcmp.planning.normal import each_size, elementwise

KNOWN = {
    "accuracies": "of the models",
    "means": "of the models, beside sd and correlation",
    "sd": "of the values of each model, or of all",
    "correlation": "of being right, or of values: of all pairs, or a matrix",
    "agreement": "probability that two models are both right or both wrong",
    "discordant": "probability that just one of two models is right",
    "pilot": "record of all pairs of models",
}
_OPTIONS = {
    "find": "'best', 'all', 'any', 'average', or a pair of models by number",
    "adjust": "for the number of pairs, 'holm' by default",
    "n_resamples": "leaderboards that are drawn, 2000 by default",
    "rng": "seed of the draws",
}
_FINDS = {
    "best": "show that the best of {} models is better than each other one",
    "all": "detect all true differences of {} models",
    "any": "detect a true difference of {} models",
    "average": "detect each true difference of {} models, on average",
}
_LUCK = (
    "Differences are taken as the pilot estimates them, and its best model is partly "
    "the best by chance: the power is rather too high."
)
_MOST = 2**53  # samples
_PART = 1 << 20  # p-values at a time
#: What the decisions about the pairs that are to be found make, where not all must be.
_JOINS: dict[str, Callable[..., Any]] = {"any": np.any, "average": np.mean}
_BESIDE = ("agreement", "correlation", "discordant")
_ROUNDING = 1e-9  # of the largest eigenvalue


class Models(NamedTuple):
    """Models and their pairs (i, j), i < j; better models have higher values."""

    value: Floats
    pairs: Pairs
    #: Value of the first minus that of the second, shape (P,).
    difference: Floats
    #: Standard deviation of the difference of one sample; and that with which the test
    #: divides, of accuracies McNemar's without a difference.
    scale: Floats
    null_scale: Floats

    def covariance(self) -> Floats:
        """Covariance of one sample with these variances of differences.

        That of the models less their mean; no other part of it can be told from them.
        """
        m = self.value.size
        square = np.zeros((m, m))
        i, j = self.pairs.T
        square[i, j] = square[j, i] = self.scale**2
        centre = np.eye(m) - 1.0 / m
        covariance = -0.5 * centre @ square @ centre
        values = np.linalg.eigvalsh(covariance)
        if values[0] < -_ROUNDING * values[-1]:
            raise BadValueError(
                "`correlation` must be possible for all models together",
                "one that would give a combination of them a negative variance",
            )
        return np.asarray(covariance)


def read_models(inputs: Inputs) -> Models:
    """Read accuracies or means with what is known of each pair, or a pilot's record."""
    kinds = inputs.passed(("accuracies", "means", "pilot"))
    if len(kinds) != 1:
        raise BadValueError(
            "`accuracies=`, `means=` or `pilot=` must be given, one of them", names_of(kinds)
        )
    (kind,) = kinds
    if kind == "pilot":
        return _from_pilot(inputs)
    right = kind == "accuracies"
    low, high = (0.0, 1.0) if right else (-np.inf, np.inf)
    value = inputs.within(kind, low, high, closed=right)
    if value.ndim != 1 or value.size < 2:
        raise BadValueError(f"`{kind}` must be those of 2 models or more", f"shape {value.shape}")
    name, m, pairs = "correlation", value.size, all_pairs(value.size)
    if right:
        beside = inputs.passed(_BESIDE)
        if len(beside) != 1 or "sd" in inputs:
            raise BadValueError(
                f"one of `{'=, '.join(_BESIDE)}=` must be given beside `accuracies=`",
                names_of(beside),
            )
        (name,) = beside
    else:
        sd = np.broadcast_to(inputs.positive("sd"), value.shape)
    alike = inputs.within(name, -1, 1, closed=True)
    if alike.ndim and (alike.shape != (m, m) or not np.array_equal(alike, alike.T)):
        raise BadValueError(
            f"`{name}` must be a number or a symmetric matrix of shape ({m}, {m})",
            f"shape {alike.shape}",
        )
    i, j = pairs.T
    alike = np.broadcast_to(alike, (m, m))[i, j]
    a, b = value[i], value[j]
    if right:
        cells = read_probabilities(Inputs({"accuracy_a": a, "accuracy_b": b, name: alike}))
        null_square = cells.p10 + cells.p01
        square = null_square - (a - b) ** 2
    else:
        square = null_square = sd[i] ** 2 + sd[j] ** 2 - 2.0 * alike * sd[i] * sd[j]
    if not np.all(square > 0.0):
        raise BadValueError(f"`{name}` must leave each pair of models some difference", "none")
    if np.all(a == b):
        raise BadValueError(f"`{kind}` must differ", f"{value[0]:g} for all")
    return Models(value, pairs, a - b, np.sqrt(square), np.sqrt(null_square))


def _from_pilot(inputs: Inputs) -> Models:
    """Read a record of all pairs: their differences, and how these vary."""
    record = inputs["pilot"]
    extra = [name for name in KNOWN if name != "pilot" and name in inputs]
    if extra:
        raise BadValueError(f"`{extra[0]}=` is known from the pilot: leave one of both out")
    names = getattr(record, "names", ())
    if not hasattr(record, "pairs") or len(record.pairs) != len(all_pairs(len(names))):
        raise BadValueError(
            "`pilot` must be a record of all pairs of models on the same samples, each of them "
            "kept",
            repr(record),
        )
    sign = -1.0 if less_is_better(record) else 1.0
    difference = sign * np.asarray(record.difference, np.float64)
    n = float(record.n_samples)
    if record.measure == "accuracy" and record.only_a is not None:
        null_square = (record.only_a + record.only_b) / n
        square = null_square - difference**2
    else:
        error = getattr(record, "standard_error", None)
        if error is None:
            low, high = np.asarray(record.interval, np.float64).T
            error = (high - low) / (-2.0 * ndtri(record.alpha / 2.0))
        square = null_square = n * np.asarray(error, np.float64) ** 2
    if not np.all(square > 0.0):
        raise BadValueError("`pilot` must have samples on which each pair of models differs")
    pairs = np.asarray(record.pairs, np.int32)
    value = sign * np.asarray(record.score, np.float64)
    return Models(value, pairs, difference, np.sqrt(square), np.sqrt(null_square))


def _leaderboard_case(question: Question, inputs: Inputs) -> Case:
    if question.alternative != "two-sided":
        raise BadValueError(
            "`alternative` must be 'two-sided' for a leaderboard", repr(question.alternative)
        )
    models = read_models(inputs)
    n_resamples = inputs.resamples()
    seed = as_seed(inputs.get("rng"))
    drawn = gaussian_draws(models.covariance(), n_resamples, seed)
    i, j = models.pairs.T
    errors = (drawn[i] - drawn[j]).T / models.scale
    adjust = inputs.choose("adjust", "holm", (*OF_PAIRS, "single-step"))
    find, m = inputs.get("find", "best"), models.value.size
    if isinstance(find, (tuple, list)):
        i, j = (as_whole(index, "find", 0) for index in find) if len(find) == 2 else (0, 0)
        if i == j or max(i, j) >= m:
            raise BadValueError(f"`find` must be a pair of different models below {m}", repr(find))
        find = int(np.flatnonzero((models.pairs == sorted((i, j))).all(axis=1))[0])
        i, j = models.pairs[find]
        claim = f"detect the difference of the models {i} and {j}"
    else:
        find = str(choose(find, "find", tuple(_FINDS)))
        claim = _FINDS[find].format(m)
    difference, single_step = models.difference, adjust == "single-step"
    spread = models.scale / models.null_scale

    def sought(find: str | int) -> Flags:
        """Pairs that are to be found."""
        if isinstance(find, int):
            return np.asarray(np.arange(difference.size) == find)
        best = models.value == models.value.max()
        among = best[models.pairs].any(axis=1) if find == "best" else True
        return np.asarray((difference != 0.0) & among, np.bool_)

    def power(n: float, alpha: float, find: str | int = find) -> float:
        """Proportion of leaderboards of n samples on which it is found."""
        shift = math.sqrt(n) * difference / models.null_scale
        if single_step:  # one limit for the statistics of all pairs
            largest = np.abs(errors).max(axis=1)
            limit = float(np.quantile(largest, 1.0 - alpha, method="higher"))
        total, join, is_sought = 0.0, _JOINS.get(str(find), np.all), sought(find)
        for part in parts(n_resamples, max(_PART // shift.size, 1)):
            z = shift + spread * errors[part]
            if single_step:
                significant = np.abs(z) >= limit
            else:
                significant = adjust_rows(2.0 * ndtr(-np.abs(z)), adjust) <= alpha
            right = (significant & (z * difference > 0.0))[:, is_sought]
            total += float(np.sum(join(right, axis=1)))
        return total / n_resamples

    if not difference[sought(find)].all():
        raise BadValueError("`find` must be a pair of models that differ", "one that does not")
    cautions = (_LUCK,) if "pilot" in inputs else ()

    def sentences(n: Numbers, at: Numbers) -> tuple[str, ...]:
        """How probable the other things to find are, of a single power."""
        if question.solved_for != "power" or np.ndim(at):
            return cautions
        powers = {find: 100.0 * power(float(n), float(question.alpha), find) for find in _FINDS}
        return (
            f"The best model is found with {powers['best']:.1f}%, all true differences with "
            f"{powers['all']:.1f}%, any of them with {powers['any']:.1f}%, and each with "
            f"{powers['average']:.1f}% on average.",
            *cautions,
        )

    return Case(
        difference=np.abs(difference[sought(find)]).min(),
        inputs={**inputs, "n_resamples": n_resamples, "rng": seed},
        power=lambda _, n: elementwise(power, n, question.alpha),
        size=lambda _, target: each_size(power, target, 1.0, question.alpha, most=_MOST),
        cautions=sentences,
        claim=f"{claim}, {adjusted_by(adjust)}",
        n_resamples=n_resamples,
        seed=seed,
    )


FAMILY = Family(
    titles={"normal": "z tests of all pairs, simulated"},
    methods={"difference": ("normal",)},
    inputs=KNOWN | _OPTIONS,
    read=_leaderboard_case,
    measure="score",
    detectable=False,
)
