"""Plans of tests of two AUCs on the same samples; `n` counts positives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from fastcmp.core.checks import choose
from fastcmp.planning.aucs import (
    FEWEST,
    SIZES,
    Areas,
    Binormal,
    Correlations,
    empirical_areas,
    fitted_areas,
    read_ratio,
    whole_negatives,
)
from fastcmp.planning.families import (
    TAILS_INPUT,
    Case,
    Family,
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
    normal_difference,
    normal_power,
    normal_size,
    pilot_range,
)

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


def _read(question: Question, inputs: Inputs) -> Case:
    check_detectable(question)
    n, target, ratio = question.n, question.target, None
    named = [name for name in SIZES if is_given(inputs, name)]
    if named and (n is not None or "ratio" in named):
        ratio, _ = read_ratio(inputs, n)
    if question.margin is not None and np.any(question.margin >= 1):
        raise ValueError(f"margin must lie in (0, 1) for areas, got {np.max(question.margin):g}")
    given = [name for name in _BINORMAL if is_given(inputs, name)]
    if is_given(inputs, "pilot_positives") or is_given(inputs, "pilot_negatives"):
        if given:
            raise ValueError(f"{given[0]} is not known from a pilot: leave one of both out")
        if question.method != "delong":
            raise ValueError(f"method must be 'delong' for a pilot, got {question.method!r}")
        normal, error, ratio = _pilot(inputs, ratio)
        kept, gap = passed(inputs), None
        if {"auc_a", "auc_b"} <= kept.keys() and "difference" not in kept:
            a, b = (within(inputs[x], x, 0, 1, closed=True) for x in ("auc_a", "auc_b"))
            gap = a - b
    else:
        if ratio is None:
            ratio, _ = read_ratio(inputs, None)
        normal, gap = _binormal(question.method, inputs, ratio)
        error = None
        kept = {x: y for x, y in passed(inputs).items() if x != "n_negatives"}
        kept["ratio"] = ratio
    if is_given(inputs, "difference"):
        gap = within(inputs["difference"], "difference", -1, 1)
    normal = normal._replace(both_tails=read_tails(question, inputs))
    if question.solved_for == "difference":
        gap = normal_difference(question, n, target, normal)
    elif gap is None:
        raise ValueError("difference, or auc_a and auc_b, must be given")
    return Case(
        difference=gap,
        inputs=kept,
        power=lambda gap, n: normal_power(question, n, gap, normal),
        size=lambda gap, power: normal_size(question, power, gap, normal),
        effect=gap,
        closed=True,
        fewest=FEWEST,
        pilot=None if error is None else pilot_range(question, gap, error, normal),
        negatives=lambda x: x * ratio if n is not None else whole_negatives(x, ratio),
    )


def _pilot(inputs: Inputs, ratio: Any) -> tuple[Normal, Any, Any]:
    """Variances, standard error and ratio of a pilot."""
    positives = whole(needed(inputs, "pilot_positives"), "pilot_positives", 2)
    negatives = whole(needed(inputs, "pilot_negatives"), "pilot_negatives", 2)
    same = negatives / positives
    if ratio is not None and not np.allclose(ratio, same, rtol=1e-9, atol=0.0):
        raise ValueError(
            f"ratio must be that of the pilot, {np.ravel(same)[0]:.6g}: DeLong's "
            f"covariance holds for no other, got {np.ravel(ratio)[0]:.6g}"
        )
    if is_given(inputs, "standard_error"):
        if choose(inputs.get("null_variance", "both"), "null_variance", _NULLS) != "both":
            raise ValueError("null_variance must be 'both' where only standard_error is given")
        error = positive(inputs["standard_error"], "standard_error")
        return Normal(error**2 * positives, error**2 * positives), error, same
    lowest = {"variance_a": 0, "variance_b": 0, "covariance": -np.inf}
    areas = Areas(
        *(within(needed(inputs, x), x, low, np.inf) * positives for x, low in lowest.items())
    )
    return _variances(areas, inputs), np.sqrt(areas.difference() / positives), same


def _binormal(method: str, inputs: Inputs, ratio: Any) -> tuple[Normal, Any]:
    """Variances and difference of the areas of two curves."""
    rates = (0.0, 1.0)
    if inputs.get("fpr_range") is not None:
        ends = within(inputs["fpr_range"], "fpr_range", 0, 1, closed=True)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ValueError(
                f"fpr_range must be two rates, the lower first, got {inputs['fpr_range']!r}"
            )
        rates = float(ends[0]), float(ends[1])
    if method == "delong" and rates != (0.0, 1.0):
        raise ValueError("fpr_range needs method='binormal' or 'obuchowski-mcclish', got 'delong'")
    curves = []
    for name in ("a", "b"):
        given = inputs.get(f"slope_{name}")
        slope = positive(1.0 if given is None else given, f"slope_{name}")
        names = [x for x in (f"intercept_{name}", f"auc_{name}") if is_given(inputs, x)]
        if len(names) != 1:
            raise ValueError(f"intercept_{name} or auc_{name} must be given, got {names_of(names)}")
        if names[0].startswith("auc"):
            area = within(inputs[names[0]], names[0], 0, 1)
            intercept = ndtri(area) * np.sqrt(1.0 + slope**2)
        else:
            intercept = within(inputs[names[0]], names[0], -np.inf, np.inf)
        curves.append(Binormal(intercept, slope, rates))
    names = ["correlation_positives", "correlation_negatives"]
    same = Correlations(*(within(needed(inputs, name), name, -1, 1) for name in names))
    if method == "delong":
        areas = empirical_areas(curves[0], curves[1], ratio, same)
    else:
        printed = method == "obuchowski-mcclish"
        areas = fitted_areas(curves[0], curves[1], ratio, same, printed=printed)
    return _variances(areas, inputs), curves[0].area - curves[1].area


def _variances(areas: Areas, inputs: Inputs) -> Normal:
    """Variances of a difference; what is no covariance is refused."""
    which = choose(inputs.get("null_variance", "both"), "null_variance", _NULLS)
    normal = Normal(areas.difference(), areas.null(which))
    for variance in normal[:2]:
        if not np.all(variance > 0.0):
            raise ValueError(
                "covariance must leave the difference of the areas a variance > 0, got "
                f"{np.min(variance):.6g} times 1 / positives"
            )
    return normal


_TITLES = {
    "delong": "DeLong's test of two AUCs",
    "binormal": "test of two AUCs of fitted binormal curves",
    "obuchowski-mcclish": "test of two AUCs, Obuchowski and McClish's variances",
}
FAMILY = Family(
    titles=_TITLES,
    methods=dict.fromkeys(
        ("difference", "noninferiority", "superiority", "equivalence"), tuple(_TITLES)
    ),
    inputs=_PILOT | _BINORMAL | SIZES | _NULL | TAILS_INPUT,
    read=_read,
    measure="AUC",
    unit="positives",
)
