"""Plans of tests of means, metrics and costs: differences with a standard error."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, nctdtr, ndtr, stdtrit

from fastcmp.core.checks import as_flag
from fastcmp.core.threads import parts
from fastcmp.planning.families import (
    TAILS_INPUT,
    Case,
    Family,
    Floats,
    Inputs,
    Question,
    check_detectable,
    is_given,
    names_of,
    needed,
    passed,
    positive,
    read_tails,
    whole,
    within,
)
from fastcmp.planning.normal import (
    Normal,
    from_shift,
    join,
    normal_difference,
    normal_power,
    normal_size,
    pilot_range,
    shift,
)
from fastcmp.planning.search import least

_NODES = 200  # of a Gauss-Legendre rule
_PART = 1 << 12  # integrals at a time
_SMALLEST = 2.0**-53 - 1.0  # an estimated sd over the true one, less 1

_DIFFERENCE = {"difference": "value of a minus that of b"}
_PILOT = {"standard_error": "of the difference in a pilot", "n_pilot": "samples of the pilot"}
_DIRECTION = {"lower_is_better": "True or False; matters where there is a margin"}
_CLUSTERS = {
    "cluster_size": "mean number of items in a cluster",
    "cluster_size_cv": "standard deviation of the clusters' sizes over their mean",
    "intraclass_correlation": "of the differences of two items of one cluster",
}
_PARTS = {
    "variance_between": "over items, of the difference of the expected values",
    "variance_within_a": "of the answers of a to one item",
    "variance_within_b": "of the answers of b to one item",
    "repeats_a": "answers of a to each item",
    "repeats_b": "answers of b to each item",
}
_SD = {"sd": "standard deviation of the difference of one item"}


class Spread(NamedTuple):
    """How much a mean difference of n items, or samples of a, varies: a variance / n."""

    normal: Normal
    #: Items without which there is no variance.
    fewest: Any
    #: Degrees of freedom of n.
    df: Callable[[Any], Any]


def _read(question: Question, inputs: Inputs, *, unpaired: bool = False) -> Case:
    check_detectable(question)
    detectable = question.solved_for == "difference"
    difference: Any = None
    if not detectable:
        difference = within(needed(inputs, "difference"), "difference", -np.inf, np.inf)
    spread, cautions = (_unpaired_spread if unpaired else _spread)(question, inputs)
    lower = inputs.get("lower_is_better", False)
    if not isinstance(lower, np.ndarray) or lower.dtype != np.bool_:
        lower = as_flag(lower, "lower_is_better")
    # A margin is about how much better a is.
    sign: Any = np.where(lower, -1.0, 1.0) if question.hypothesis != "difference" else 1.0
    if question.n is not None and np.any(question.n < spread.fewest):
        raise ValueError(
            f"n must be at least 2 items, or clusters of them, got {np.min(question.n):g}"
        )
    kept = passed(inputs)
    if detectable:
        difference = sign * _detectable(question, spread)
        kept.pop("difference", None)
    gain, pilot = sign * difference, None
    if is_given(inputs, "standard_error"):
        error = np.asarray(inputs["standard_error"], np.float64)
        df = np.asarray(inputs["n_pilot"]) - 1.0 if question.method == "t" else np.inf
        pilot = pilot_range(question, gain, error, spread.normal, df)
    one_to_one = not unpaired or np.all(np.asarray(kept.get("ratio", 1.0)) == 1.0)
    return Case(
        difference=difference,
        inputs=kept,
        power=lambda gain, n: _power(question, n, gain, spread),
        size=lambda gain, power: _size(question, power, gain, spread),
        effect=gain,
        closed=True,
        fewest=np.ceil(spread.fewest),
        cautions=cautions,
        pilot=pilot,
        unit=None if one_to_one else "samples of a",
    )


def _spread(question: Question, inputs: Inputs) -> tuple[Spread, tuple[str, ...]]:
    """Read the variance of one item, and the clusters that the items are in."""
    names = [x for x in (*_SD, *_PARTS, *_PILOT) if is_given(inputs, x)]
    if names == ["sd"]:
        variance = positive(inputs["sd"], "sd") ** 2
    elif names == ["standard_error", "n_pilot"]:
        n_pilot = whole(inputs["n_pilot"], "n_pilot", 2)
        variance = positive(inputs["standard_error"], "standard_error") ** 2 * n_pilot
    elif "variance_between" in names and set(names) <= set(_PARTS):
        # Each item is answered several times: Miller (2024), equation 9.
        read: dict[str, Any] = dict.fromkeys(_PARTS, 0.0) | {"repeats_a": 1, "repeats_b": 1}
        for name in names:
            if name.startswith("repeats"):
                read[name] = whole(inputs[name], name)
            else:
                read[name] = within(inputs[name], name, 0, np.inf, closed=True)
        between, within_a, within_b, repeats_a, repeats_b = read.values()
        answers = np.divide(within_a, repeats_a) + np.divide(within_b, repeats_b)
        variance = positive(between + answers, "variance_between with what belongs to it")
    else:
        raise ValueError(
            "sd, or variance_between and what belongs to it, or standard_error and n_pilot must be "
            f"given, got {names_of(names)}"
        )
    cautions: tuple[str, ...] = ()
    cluster_size: Any = 1.0
    size, cv, correlation = _CLUSTERS
    names = [name for name in _CLUSTERS if is_given(inputs, name)]
    if names and is_given(inputs, "standard_error"):  # which holds the design effect already
        if names != [size]:
            raise ValueError(f"{names[-1]} is in the standard_error of the pilot: leave it out")
        cluster_size = within(inputs[size], size, 1, np.inf, closed=True)
    elif names:
        given = needed(inputs, size), inputs.get(cv), needed(inputs, correlation)
        cluster_size = within(given[0], size, 1, np.inf, closed=True)
        spread = within(0.0 if given[1] is None else given[1], cv, 0, np.inf, closed=True)
        same = within(given[2], correlation, -1, 1, closed=True)
        effect = np.asarray(1.0 + ((1.0 + np.square(spread)) * cluster_size - 1.0) * same)
        if not np.all(effect > 0.0):
            raise ValueError(
                f"{correlation} must leave the mean a variance > 0, got a design effect of "
                f"{np.min(effect):g}"
            )
        if effect.ndim == 0:
            cautions = (f"Clusters multiply the variance by {effect:.4g}.",)
        variance = variance * effect
    fewest = 2.0 * np.asarray(cluster_size)
    normal = Normal(variance, variance, read_tails(question, inputs))
    return Spread(normal, fewest, lambda n: np.maximum(n, fewest) / cluster_size - 1.0), cautions


def _unpaired_spread(question: Question, inputs: Inputs) -> tuple[Spread, tuple[str, ...]]:
    """Read the standard deviations of two models' values on different samples."""
    given = [name for name in ("sd", "sd_a", "sd_b") if is_given(inputs, name)]
    if given not in (["sd"], ["sd_a", "sd_b"]):
        raise ValueError(f"sd, or sd_a and sd_b must be given, got {names_of(given)}")
    a, b = (positive(inputs[name], name) ** 2 for name in (given[0], given[-1]))
    ratio, cautions = read_ratio(inputs)
    fewest = np.maximum(2.0, 2.0 / np.asarray(ratio))
    variance = a + b / ratio

    def welch(n: Any) -> Floats:
        n = np.maximum(n, fewest)
        parts = a**2 / (n - 1.0) + (b / ratio) ** 2 / (n * ratio - 1.0)
        return np.asarray(variance**2 / parts)

    normal = Normal(variance, variance, read_tails(question, inputs))
    return Spread(normal, fewest, welch), cautions


def read_ratio(inputs: Inputs) -> tuple[Floats, tuple[str, ...]]:
    """Samples of b for each one of a, and a sentence where they differ."""
    ratio = within(positive(inputs.get("ratio", 1.0), "ratio"), "ratio", 1e-3, 1e3, closed=True)
    if ratio.ndim or ratio == 1.0:
        return ratio, ()
    return ratio, (f"Model b has {float(ratio):g} times as many samples as a.",)


def _power(question: Question, n: Any, difference: Any, spread: Spread) -> Floats:
    """Probability that n items show what is asked for.

    By default Student's t counts both tails of a two-sided test, the normal
    approximation the right one.
    """
    if question.method != "t":
        return normal_power(question, n, difference, spread.normal)
    df = spread.df(n)
    scale = np.sqrt(n / np.asarray(spread.normal.variance, np.float64))
    t = -stdtrit(df, question.level)
    if question.hypothesis == "equivalence":
        far = (question.margin + np.abs(difference)) * scale
        return _both_reject(df, shift(question, difference) * scale, far, t)

    def tail(shift: Any) -> Any:
        return _upper_tail(df, shift * scale, t)

    return join(question, tail, difference, both_tails=spread.normal.both_tails is not False)


def _size(question: Question, power: Any, difference: Any, spread: Spread) -> Floats:
    """Real number of items of a power; infinite where none reaches it."""
    n = normal_size(question, power, difference, spread.normal)
    if question.method != "t":
        return n
    return least(
        lambda n: _power(question, n, difference, spread), power, start=n, lowest=spread.fewest
    )


def _detectable(question: Question, spread: Spread) -> Floats:
    """Difference that n items find with the power wanted."""
    n, target = question.n, question.target
    normal = normal_difference(question, n, target, spread.normal)
    if question.method != "t":
        return normal
    beyond = least(
        lambda beyond: _power(question, n, from_shift(question, beyond), spread),
        target,
        start=shift(question, normal),
    )
    return from_shift(question, beyond)


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
    """Nodes and weights of the integrals."""
    return np.polynomial.legendre.leggauss(_NODES)


def _over_sd(df: Any, near: Any, far: Any, t: Any, limits: tuple[Any, Any]) -> Floats:
    """Integrate P(t u - far < Z < near - t u) over u, the estimated over the true sd.

    u**2 df has the chi-square distribution, and u is taken between the limits.
    """
    df, near, far, t, low, high = (
        each[:, np.newaxis] for each in np.broadcast_arrays(df, near, far, t, *limits)
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


def _family(what: str, *methods: str, read: Any = _read, **rest: Any) -> Family:
    """Tests of differences that have a standard error."""
    titles = {
        "t": f"t test of {what}",
        "normal": f"test of {what}, normal approximation",
        "chow": f"test of {what}, Chow, Shao and Wang's bound",
    }
    known = dict.fromkeys(("difference", "noninferiority", "superiority"), methods)
    return Family(titles, known | {"equivalence": (*methods, "chow")}, read=read, **rest)


_OF_ITEMS = _DIRECTION | TAILS_INPUT
MEANS = _family(
    "mean values",
    "t",
    "normal",
    inputs=_DIFFERENCE | _SD | _PARTS | _CLUSTERS | _PILOT | _OF_ITEMS,
    measure="mean",
    unit="items",
)
MEANS_UNPAIRED = _family(
    "means on different samples",
    "t",
    "normal",
    read=partial(_read, unpaired=True),
    inputs=_DIFFERENCE
    | {
        "sd": "standard deviation of the values of both models",
        "sd_a": "of the values of a",
        "sd_b": "of the values of b",
        "ratio": "samples of b for each one of a, 1 by default",
    }
    | _OF_ITEMS,
    measure="mean",
    unit="samples of each model",
)
METRICS, COSTS = (
    _family(what, "normal", inputs=_DIFFERENCE | _SD | _PILOT | _OF_ITEMS, measure=measure)
    for what, measure in (("a metric", "metric"), ("expected costs", "cost"))
)
