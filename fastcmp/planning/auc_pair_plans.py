"""Plans of tests of two AUCs on the same samples; `n` counts positives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from fastcmp.core.options import choose
from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.planning.auc_plans import (
    FEWEST,
    SIZES,
    read_negatives,
    read_ratio,
    round_sizes,
)
from fastcmp.planning.aucs import (
    Areas,
    Binormal,
    Correlations,
    empirical_areas,
    fitted_areas,
)
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
from fastcmp.planning.normal import (
    Normal,
    normal_difference,
    normal_power,
    normal_size,
)
from fastcmp.planning.pilot_range import Pilot, with_pilot

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats, Inputs, Question

_PILOT = {
    "auc_a": "true area of a",
    "auc_b": "true area of b",
    "difference": "area of a minus that of b",
    "standard_error": "of the difference in a pilot",
    "variance_a": "of the area of a in a pilot, DeLong's",
    "variance_b": "of the area of b in a pilot",
    "covariance": "of both areas in a pilot",
    "pilot_positives": "positives of the pilot",
    "pilot_negatives": "negatives of the pilot",
}
_BINORMAL = {
    "intercept_a": "binormal curve of a: true positive rate Phi(intercept + slope z)",
    "slope_a": "its slope, 1 by default",
    "intercept_b": "of the curve of b",
    "slope_b": "of the curve of b, 1 by default",
    "correlation_positives": "of the scores of a and b, of positives",
    "correlation_negatives": "of the scores of a and b, of negatives",
    "fpr_range": "false positive rates of partial areas, such as (0, 0.2)",
}
_NULL = {"null_variance": "under H0: 'both', or that of curve 'a' or 'b' for both"}
_NULLS = ("both", "a", "b")


class _Pair(NamedTuple):
    """Two areas on the same samples."""

    difference: Any
    #: Variances times the positives.
    normal: Normal
    ratio: Floats
    #: What was passed, to be passed again.
    inputs: dict[str, Any]
    #: Standard error of the difference in the pilot; None without one.
    error: Any = None


def _read_pair(question: Question, inputs: Inputs, ratio: Any) -> _Pair:
    """Read what two areas are planned from; `ratio` is None for that of a pilot."""
    if question.margin is not None and np.any(question.margin >= 1):
        message = f"margin must lie in (0, 1) for areas, got {np.max(question.margin):g}"
        raise ValueError(message)
    method = question.method
    given = [name for name in _BINORMAL if is_given(inputs, name)]
    if is_given(inputs, "pilot_positives") or is_given(inputs, "pilot_negatives"):
        if given:
            message = f"{given[0]} is not known from a pilot: leave one of both out"
            raise ValueError(message)
        if method != "delong":
            message = f"method must be 'delong' for a pilot, got {method!r}"
            raise ValueError(message)
        pair = _from_pilot(inputs, ratio)
    else:
        ratio = read_ratio(inputs) if ratio is None else ratio
        pair = _from_binormal(method, inputs, ratio)
    tails = read_tails(question, inputs)
    return pair._replace(normal=pair.normal._replace(both_tails=tails))


def _from_pilot(inputs: Inputs, ratio: Any) -> _Pair:
    positives = whole(needed(inputs, "pilot_positives"), "pilot_positives", 2)
    negatives = whole(needed(inputs, "pilot_negatives"), "pilot_negatives", 2)
    same = negatives / positives
    if ratio is not None and not np.allclose(ratio, same, rtol=1e-9, atol=0.0):
        message = (
            f"ratio must be that of the pilot, {np.ravel(same)[0]:.6g}: DeLong's "
            f"covariance holds for no other, got {np.ravel(ratio)[0]:.6g}"
        )
        raise ValueError(message)
    which = choose(inputs.get("null_variance", "both"), "null_variance", _NULLS)
    if is_given(inputs, "standard_error"):
        if which != "both":
            message = "null_variance must be 'both' where only standard_error is given"
            raise ValueError(message)
        error = positive(inputs["standard_error"], "standard_error")
        normal = Normal(error**2 * positives, error**2 * positives)
    else:
        names = ("variance_a", "variance_b", "covariance")
        parts = [
            within(
                needed(inputs, name),
                name,
                -np.inf if name == "covariance" else 0,
                np.inf,
            )
            for name in names
        ]
        areas = Areas(*(each * positives for each in parts))
        normal = _normal(areas, which)
        error = np.sqrt(areas.difference() / positives)
    return _Pair(_gap(inputs), normal, same, passed(inputs), error)


def _normal(areas: Areas, which: str) -> Normal:
    """Give the variances of a difference, or refuse what is no covariance."""
    variance, null_variance = areas.difference(), areas.null(which)
    for each in (variance, null_variance):
        if not np.all(each > 0.0):
            message = (
                "covariance must leave the difference of the areas a variance > 0, got "
                f"{np.min(each):.6g} times 1 / positives"
            )
            raise ValueError(message)
    return Normal(variance, null_variance)


def _gap(inputs: Inputs) -> Any:
    """Read the difference, or both areas; None without them."""
    if is_given(inputs, "difference"):
        return within(inputs["difference"], "difference", -1, 1)
    if is_given(inputs, "auc_a") and is_given(inputs, "auc_b"):
        a, b = (within(inputs[x], x, 0, 1, closed=True) for x in ("auc_a", "auc_b"))
        return a - b
    return None


def _from_binormal(method: str, inputs: Inputs, ratio: Floats) -> _Pair:
    rates = _rates(inputs.get("fpr_range"))
    if method == "delong" and rates != (0.0, 1.0):
        message = "fpr_range needs method='binormal' or 'obuchowski-mcclish', got 'delong'"
        raise ValueError(message)
    first, second = (_curve_of(inputs, name, rates) for name in ("a", "b"))
    names = ("correlation_positives", "correlation_negatives")
    same = Correlations(*(within(needed(inputs, name), name, -1, 1) for name in names))
    which = choose(inputs.get("null_variance", "both"), "null_variance", _NULLS)
    if method == "delong":
        areas = empirical_areas(first, second, ratio, same)
    else:
        printed = method == "obuchowski-mcclish"
        areas = fitted_areas(first, second, ratio, same, printed=printed)
    gap = _gap(inputs) if is_given(inputs, "difference") else None
    gap = first.area - second.area if gap is None else gap
    kept = {x: y for x, y in passed(inputs).items() if x != "n_negatives"}
    return _Pair(gap, _normal(areas, which), ratio, kept | {"ratio": ratio})


def _curve_of(inputs: Inputs, name: str, rates: tuple[float, float]) -> Binormal:
    """Read a curve by its intercept, or by its whole area."""
    given = inputs.get(f"slope_{name}")
    slope = positive(1.0 if given is None else given, f"slope_{name}")
    names = [x for x in (f"intercept_{name}", f"auc_{name}") if is_given(inputs, x)]
    if len(names) != 1:
        message = f"intercept_{name} or auc_{name} must be given, got {names_of(names)}"
        raise ValueError(message)
    if names[0].startswith("auc"):
        area = within(inputs[names[0]], names[0], 0, 1)
        return Binormal(ndtri(area) * np.sqrt(1.0 + slope**2), slope, rates)
    return Binormal(within(inputs[names[0]], names[0], -np.inf, np.inf), slope, rates)


def _rates(value: Any) -> tuple[float, float]:
    """Read a range of false positive rates."""
    if value is None:
        return 0.0, 1.0
    ends = within(value, "fpr_range", 0, 1, closed=True)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        message = f"fpr_range must be two rates, the lower first, got {value!r}"
        raise ValueError(message)
    return float(ends[0]), float(ends[1])


def _found(pair: _Pair) -> Any:
    if pair.difference is None:
        message = "difference, or auc_a and auc_b, must be given"
        raise ValueError(message)
    return pair.difference


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    ratio = None
    if any(is_given(inputs, name) for name in SIZES):
        _, ratio = read_negatives(inputs, n)
    pair = _read_pair(question, inputs, ratio)
    gap = _found(pair)
    answer = Answer(
        n=n,
        power=normal_power(question, n, gap, pair.normal),
        difference=gap,
        inputs=pair.inputs,
        n_negatives=n * pair.ratio,
    )
    return with_pilot(
        answer,
        question,
        Pilot(gap, pair.error, pair.normal),
        lambda gain: normal_power(question, n, gain, pair.normal),
    )


def _size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    ratio = read_ratio(inputs) if is_given(inputs, "ratio") else None
    pair = _read_pair(question, inputs, ratio)
    gap = _found(pair)
    real = normal_size(question, power, gap, pair.normal)
    n, n_negatives = round_sizes(real, pair.ratio)
    none = np.isinf(n)
    reached = normal_power(question, np.where(none, FEWEST, n), gap, pair.normal)
    answer = Answer(
        n=n,
        power=np.where(none, power, reached),
        difference=gap,
        inputs=pair.inputs,
        n_exact=real,
        n_negatives=n_negatives,
        status=np.where(none, UNDEFINED, OK),
    )
    return with_pilot(
        answer,
        question,
        Pilot(gap, pair.error, pair.normal),
        lambda gain: rounded_up(normal_size(question, power, gain, pair.normal)),
    )


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    check_detectable(question)
    ratio = None
    if any(is_given(inputs, name) for name in SIZES):
        _, ratio = read_negatives(inputs, n)
    pair = _read_pair(question, inputs, ratio)
    return Answer(
        n=n,
        power=power,
        difference=normal_difference(question, n, power, pair.normal),
        inputs=pair.inputs,
        n_negatives=n * pair.ratio,
    )


_TITLES = {
    "delong": "DeLong's test of two AUCs",
    "binormal": "test of two AUCs of fitted binormal curves",
    "obuchowski-mcclish": "test of two AUCs, Obuchowski and McClish's variances",
}
FAMILY = Family(
    title=lambda method, _: _TITLES[method],
    methods=dict.fromkeys(
        ("difference", "noninferiority", "superiority", "equivalence"), tuple(_TITLES)
    ),
    inputs=_PILOT | _BINORMAL | SIZES | _NULL | TAILS_INPUT,
    power=_power,
    sample_size=_size,
    difference=_difference,
    measure="AUC",
    unit="positives",
)
