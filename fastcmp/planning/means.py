"""Plans of tests of means, metrics and costs: differences with a standard error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fastcmp.core.checks import as_flag
from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats, Numbers
from fastcmp.planning.families import (
    TAILS_INPUT,
    Case,
    Family,
    Inputs,
    Question,
    names_of,
    positive,
)
from fastcmp.planning.normal import Normal, normal_case

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
_SPREADS = tuple(_SD | _PARTS | _PILOT)


#: A variance times the number of items, or samples of a; the degrees of freedom of n of them;
#: the fewest that have a variance; and cautions.
_Spread = tuple[Any, Callable[[Any], Any], Any, tuple[str, ...]]


def _mean_case(question: Question, inputs: Inputs, *, unpaired: bool = False) -> Case:
    kept, error = inputs.plain(), None
    difference = 0.0
    if question.solved_for == "difference":
        kept.pop("difference", None)
    else:
        difference = inputs.within("difference", -np.inf, np.inf)
    both_tails, student = inputs.tails(question), question.method == "t"
    variance, df, fewest, cautions = (_unpaired_spread if unpaired else _spread)(inputs)
    # By default Student's t counts both tails of a two-sided test.
    if student:
        normal = Normal(variance, variance, both_tails is not False, df, fewest)
    else:
        normal = Normal(variance, variance, both_tails)
    lower = inputs.get("lower_is_better", False)
    if not isinstance(lower, np.ndarray) or lower.dtype != np.bool_:
        lower = as_flag(lower, "lower_is_better")
    # A margin is about how much better a is.
    sign = np.where(lower, -1.0, 1.0) if question.hypothesis != "difference" else 1.0
    few = question.n is not None and question.n < fewest
    if few if isinstance(few, (bool, np.bool_)) else few.any():
        raise BadValueError(
            "`n` must be at least 2 items, or clusters of them", f"{np.min(question.n):g}"
        )
    if "standard_error" in inputs:
        error = np.asarray(inputs["standard_error"], np.float64)
    one_to_one = not unpaired or np.all(np.asarray(kept.get("ratio", 1.0)) == 1.0)
    return normal_case(
        question,
        kept,
        normal,
        sign * difference,
        error=error,
        df=np.asarray(inputs["n_pilot"]) - 1.0 if student and error is not None else np.inf,
        sign=sign,
        fewest=np.ceil(fewest),
        cautions=cautions,
        unit=None if one_to_one else "samples of a",
    )


def _spread(inputs: Inputs) -> _Spread:
    """Read the variance of one item, and the clusters that the items are in."""
    names = inputs.passed(_SPREADS)
    if names == ["sd"]:
        variance = inputs.positive("sd") ** 2
    elif names == ["standard_error", "n_pilot"]:
        n_pilot = inputs.whole("n_pilot", 2)
        variance = inputs.positive("standard_error") ** 2 * n_pilot
    elif "variance_between" in names and set(names) <= set(_PARTS):
        # Each item is answered several times: Miller (2024), equation 9.
        read: dict[str, Any] = dict.fromkeys(_PARTS, 0.0) | {"repeats_a": 1, "repeats_b": 1}
        for name in names:
            if name.startswith("repeats"):
                read[name] = inputs.whole(name)
            else:
                read[name] = inputs.within(name, 0, np.inf, closed=True)
        between, within_a, within_b, repeats_a, repeats_b = read.values()
        answers = np.divide(within_a, repeats_a) + np.divide(within_b, repeats_b)
        variance = positive(between + answers, "variance_between with what belongs to it")
    else:
        raise BadValueError(
            "`sd=`, or `variance_between=` and what belongs to it, or `standard_error=` and "
            "`n_pilot=` must be given",
            names_of(names),
        )
    cautions: tuple[str, ...] = ()
    cluster_size = 1.0
    size, cv, correlation = _CLUSTERS
    names = inputs.passed(_CLUSTERS)
    if names and "standard_error" in inputs:  # which holds the design effect already
        if names != [size]:
            raise BadValueError(
                f"`{names[-1]}=` is in `standard_error=` of the pilot: leave it out"
            )
        cluster_size = inputs.within(size, 1, np.inf, closed=True)
    elif names:
        cluster_size = inputs.within(size, 1, np.inf, closed=True)
        same = inputs.within(correlation, -1, 1, closed=True)
        spread = inputs.within(cv, 0, np.inf, closed=True, default=0.0)
        effect = np.asarray(1.0 + ((1.0 + np.square(spread)) * cluster_size - 1.0) * same)
        if not np.all(effect > 0.0):
            raise BadValueError(
                f"`{correlation}` must leave the mean a variance > 0",
                f"a design effect of {np.min(effect):g}",
            )
        if effect.ndim == 0:
            cautions = (f"Clusters multiply the variance by {effect:.4g}.",)
        variance = variance * effect
    fewest = 2.0 * cluster_size
    return variance, lambda n: np.maximum(n, fewest) / cluster_size - 1.0, fewest, cautions


def _unpaired_spread(inputs: Inputs) -> _Spread:
    """Read the standard deviations of two models' values on different samples."""
    names = inputs.passed(("sd", "sd_a", "sd_b"))
    if names not in (["sd"], ["sd_a", "sd_b"]):
        raise BadValueError("`sd=`, or `sd_a=` and `sd_b=` must be given", names_of(names))
    a, b = (inputs.positive(name) ** 2 for name in (names[0], names[-1]))
    ratio, cautions = read_ratio(inputs)
    fewest = np.maximum(2.0, 2.0 / np.asarray(ratio))
    variance = a + b / ratio

    def welch(n: Numbers) -> Floats:
        n = np.maximum(n, fewest)
        parts = a**2 / (n - 1.0) + (b / ratio) ** 2 / (n * ratio - 1.0)
        return np.asarray(variance**2 / parts)

    return variance, welch, fewest, cautions


def read_ratio(inputs: Inputs) -> tuple[Floats, tuple[str, ...]]:
    """Samples of b for each one of a, and a sentence where they differ."""
    ratio = inputs.within("ratio", 1e-3, 1e3, closed=True, default=1.0)
    if ratio.ndim or ratio == 1.0:
        return ratio, ()
    return ratio, (f"Model b has {float(ratio):g} times as many samples as a.",)


def _family(what: str, *methods: str, read: Any = _mean_case, **fields: Any) -> Family:
    """Tests of differences that have a standard error."""
    titles = {
        "t": f"t test of {what}",
        "normal": f"test of {what}, normal approximation",
        "chow": f"test of {what}, Chow, Shao and Wang's bound",
    }
    by_hypothesis = dict.fromkeys(("difference", "noninferiority", "superiority"), methods)
    return Family(titles, by_hypothesis | {"equivalence": (*methods, "chow")}, read=read, **fields)


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
    read=partial(_mean_case, unpaired=True),
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
