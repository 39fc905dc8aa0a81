"""Plans of tests of means, metrics and costs: differences with a standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_flag
from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.planning.checked import names_of, positive, rounded_up, whole, within
from fastcmp.planning.family import Answer, Family
from fastcmp.planning.given import (
    TAILS_INPUT,
    check_detectable,
    is_given,
    needed,
    passed,
    read_tails,
)
from fastcmp.planning.means import (
    Spread,
    UnpairedSpread,
    design_effect,
    item_variance,
    mean_detectable,
    mean_power,
    mean_size,
)
from fastcmp.planning.pilot_range import Pilot, with_pilot

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats, Inputs, Question

_DIFFERENCE = {"difference": "value of a minus that of b"}
_PILOT = {
    "standard_error": "of the difference in a pilot",
    "n_pilot": "samples of the pilot",
}
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
_WHICH = "sd, or variance_between and what belongs to it, or standard_error and n_pilot"


class _Case(NamedTuple):
    """What a plan is made from."""

    #: Value of a minus that of b.
    difference: Floats
    spread: Spread | UnpairedSpread
    #: How much better a is.
    pilot: Pilot
    cautions: tuple[str, ...]


def _read(question: Question, inputs: Inputs) -> _Case:
    difference = within(needed(inputs, "difference"), "difference", -np.inf, np.inf)
    spread, cautions = _read_spread(question, inputs)
    pilot = Pilot(_direction(question, inputs) * difference, None, spread.normal)
    if is_given(inputs, "standard_error"):
        is_t = question.method == "t"
        pilot = pilot._replace(
            error=np.asarray(inputs["standard_error"], np.float64),
            df=np.asarray(inputs["n_pilot"]) - 1.0 if is_t else np.inf,
        )
    return _Case(difference, spread, pilot, cautions)


def _direction(question: Question, inputs: Inputs) -> Any:
    """Give the sign of a difference with which a is better, where there is a margin."""
    lower = inputs.get("lower_is_better", False)
    if not isinstance(lower, np.ndarray) or lower.dtype != np.bool_:
        lower = as_flag(lower, "lower_is_better")
    return np.where(lower, -1.0, 1.0) if question.hypothesis != "difference" else 1.0


def _read_spread(
    question: Question, inputs: Inputs
) -> tuple[Spread | UnpairedSpread, tuple[str, ...]]:
    """Read the variance of one item, and the clusters that the items are in."""
    if "unpaired" in inputs:
        return _read_unpaired(question, inputs)
    names = [x for x in (*_SD, *_PARTS, *_PILOT) if is_given(inputs, x)]
    if names == ["sd"]:
        variance = positive(inputs["sd"], "sd") ** 2
    elif names == ["standard_error", "n_pilot"]:
        n_pilot = whole(inputs["n_pilot"], "n_pilot", 2)
        variance = positive(inputs["standard_error"], "standard_error") ** 2 * n_pilot
    elif "variance_between" in names and set(names) <= set(_PARTS):
        variance = _read_parts(inputs)
    else:
        message = f"{_WHICH} must be given, got {names_of(names)}"
        raise ValueError(message)
    spread, cautions = _in_clusters(variance, inputs)
    return spread._replace(both_tails=read_tails(question, inputs)), cautions


def _read_unpaired(question: Question, inputs: Inputs) -> tuple[UnpairedSpread, tuple[str, ...]]:
    """Read the standard deviations of two models' values on different samples."""
    given = [name for name in ("sd", "sd_a", "sd_b") if is_given(inputs, name)]
    if given not in (["sd"], ["sd_a", "sd_b"]):
        message = f"sd, or sd_a and sd_b must be given, got {names_of(given)}"
        raise ValueError(message)
    a, b = (positive(inputs[name], name) ** 2 for name in (given[0], given[-1]))
    ratio = positive(inputs.get("ratio", 1.0), "ratio")
    ratio = within(ratio, "ratio", 1e-3, 1e3, closed=True)
    cautions: tuple[str, ...] = ()
    if ratio.ndim == 0 and ratio != 1.0:
        cautions = (f"Model b has {float(ratio):g} times as many samples as a.",)
    return UnpairedSpread(a, b, ratio, read_tails(question, inputs)), cautions


def _in_clusters(variance: Floats, inputs: Inputs) -> tuple[Spread, tuple[str, ...]]:
    """Multiply a variance by the design effect; that of a pilot holds it already."""
    size, cv, correlation = _CLUSTERS
    names = [name for name in _CLUSTERS if is_given(inputs, name)]
    if not names:
        return Spread(variance), ()
    if is_given(inputs, "standard_error"):
        if names != [size]:
            message = f"{names[-1]} is in the standard_error of the pilot: leave it out"
            raise ValueError(message)
        return Spread(variance, within(inputs[size], size, 1, np.inf, closed=True)), ()
    given = (
        needed(inputs, size),
        inputs[cv] if is_given(inputs, cv) else 0.0,
        needed(inputs, correlation),
    )
    limits = ((1, np.inf), (0, np.inf), (-1, 1))
    effect = design_effect(
        *(
            within(x, name, low, high, closed=True)
            for x, name, (low, high) in zip(given, _CLUSTERS, limits, strict=True)
        )
    )
    if not np.all(effect > 0.0):
        message = (
            f"{correlation} must leave the mean a variance > 0, got a design effect of "
            f"{np.min(effect):g}"
        )
        raise ValueError(message)
    cautions: tuple[str, ...] = ()
    if effect.ndim == 0:
        cautions = (f"Clusters multiply the variance by {effect:.4g}.",)
    return Spread(variance * effect, np.asarray(given[0], np.float64)), cautions


def _read_parts(inputs: Inputs) -> Floats:
    """Read the variance of an item that is answered several times."""
    given = {name: inputs[name] for name in _PARTS if is_given(inputs, name)}
    read = {
        name: whole(x, name)
        if name.startswith("repeats")
        else within(x, name, 0, np.inf, closed=True)
        for name, x in given.items()
    }
    variance = item_variance(read.pop("variance_between"), **_renamed(read))
    return positive(variance, "variance_between with what belongs to it")


def _renamed(parts: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("variance_"): x for name, x in parts.items()}


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    case = _read(question, inputs)
    _check_items(n, case.spread)

    def found(gain: Any) -> Any:
        return mean_power(question, n, gain, case.spread)

    answer = Answer(
        n=n,
        power=found(case.pilot.gain),
        difference=case.difference,
        inputs=passed(inputs),
        cautions=case.cautions,
    )
    return with_pilot(answer, question, case.pilot, found)


def _sample_size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    case = _read(question, inputs)
    fewest = np.ceil(case.spread.fewest)

    def found(gain: Any) -> Any:
        return mean_size(question, power, gain, case.spread)

    def whole_number(gain: Any) -> Any:
        return np.maximum(rounded_up(found(gain)), fewest)

    real = found(case.pilot.gain)
    n = np.maximum(rounded_up(real), fewest)
    none = np.isinf(n)
    some = np.where(none, fewest, n)
    reached = mean_power(question, some, case.pilot.gain, case.spread)
    answer = Answer(
        n=n,
        power=np.where(none, power, reached),
        difference=case.difference,
        inputs=passed(inputs),
        n_exact=real,
        status=np.where(none, UNDEFINED, OK),
        cautions=case.cautions,
    )
    return with_pilot(answer, question, case.pilot, whole_number)


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    check_detectable(question)
    spread, cautions = _read_spread(question, inputs)
    _check_items(n, spread)
    gain = mean_detectable(question, n, power, spread)
    kept = {key: x for key, x in passed(inputs).items() if key != "difference"}
    return Answer(
        n=n,
        power=power,
        difference=_direction(question, inputs) * gain,
        inputs=kept,
        cautions=cautions,
    )


def _check_items(n: Floats, spread: Spread | UnpairedSpread) -> None:
    """Refuse so few items, or clusters, that there is no variance."""
    if np.any(n < spread.fewest):
        message = f"n must be at least 2 items, or clusters of them, got {np.min(n):g}"
        raise ValueError(message)


_TITLES = {
    "t": "t test of {}",
    "normal": "test of {}, normal approximation",
    "chow": "test of {}, Chow, Shao and Wang's bound",
}


def _family(what: str, measure: str, unit: str, inputs: dict[str, str], *, t: bool) -> Family:
    """Make a family of tests of differences that have a standard error."""
    methods = ("t", "normal") if t else ("normal",)
    return Family(
        title=lambda method, _: _TITLES[method].format(what),
        methods={
            "difference": methods,
            "noninferiority": methods,
            "superiority": methods,
            "equivalence": (*methods, "chow"),
        },
        inputs=_DIFFERENCE | _SD | inputs | _PILOT | _DIRECTION | TAILS_INPUT,
        power=_power,
        sample_size=_sample_size,
        difference=_difference,
        measure=measure,
        unit=unit,
    )


MEANS = _family("mean values", "mean", "items", _PARTS | _CLUSTERS, t=True)


def _unpaired(answer: Any) -> Any:
    """Plan two means on different samples."""

    def planned(question: Question, inputs: Inputs, *numbers: Floats) -> Answer:
        found: Answer = answer(question, {**inputs, "unpaired": True}, *numbers)
        kept = {name: x for name, x in found.inputs.items() if name != "unpaired"}
        one_to_one = np.all(np.asarray(kept.get("ratio", 1.0)) == 1.0)
        return found._replace(inputs=kept, unit=None if one_to_one else "samples of a")

    return planned


MEANS_UNPAIRED = _family("two means", "mean", "samples of each model", {}, t=True)._replace(
    title=lambda method, _: _TITLES[method].format("means on different samples"),
    inputs=_DIFFERENCE
    | {
        "sd": "standard deviation of the values of both models",
        "sd_a": "of the values of a",
        "sd_b": "of the values of b",
        "ratio": "samples of b for each one of a, 1 by default",
    }
    | _DIRECTION
    | TAILS_INPUT,
    power=_unpaired(_power),
    sample_size=_unpaired(_sample_size),
    difference=_unpaired(_difference),
)
METRICS = _family("a metric", "metric", "samples", {}, t=False)
COSTS = _family("expected costs", "cost", "samples", {}, t=False)
