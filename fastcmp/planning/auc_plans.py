"""Plans of tests of one AUC against a value; `n` counts positives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.planning.aucs import Curve
from fastcmp.planning.checked import names_of, positive, rounded_up, whole, within
from fastcmp.planning.family import Answer, Family
from fastcmp.planning.given import TAILS_INPUT, is_given, needed, read_tails

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats, Inputs, Question

FEWEST = 2.0  # of either class, for a variance
SIZES = {
    "n_negatives": "negatives, beside n positives",
    "ratio": "negatives for each positive",
}
_INPUTS = {"auc": "true area", "auc_null": "area under H0, 0.5 by default"}


def read_negatives(inputs: Inputs, n: Floats) -> tuple[Floats, Floats]:
    """Read how many negatives there are beside n positives, and their ratio."""
    if np.any(n < FEWEST):
        message = f"n must be at least 2 positives, got {np.min(n):g}"
        raise ValueError(message)
    if is_given(inputs, "n_negatives") and not is_given(inputs, "ratio"):
        n_negatives = whole(inputs["n_negatives"], "n_negatives", 2)
        return n_negatives, n_negatives / n
    ratio = read_ratio(inputs)
    return np.asarray(n * ratio), ratio


def read_ratio(inputs: Inputs) -> Floats:
    """Read how many negatives there are for each positive, where n is not known."""
    given = [name for name in SIZES if is_given(inputs, name)]
    if given == ["ratio"]:
        return positive(inputs["ratio"], "ratio")
    wanted = "ratio alone" if given else "n_negatives or ratio"
    message = f"{wanted} must be given beside the positives, got {names_of(given)}"
    raise ValueError(message)


def round_sizes(real: Floats, ratio: Floats) -> tuple[Floats, Floats]:
    """Round positives up, and the negatives beside them."""
    n = np.maximum(rounded_up(real), FEWEST)
    return n, np.maximum(rounded_up(n * ratio), FEWEST)


def _curve(question: Question, inputs: Inputs) -> Curve:
    given = inputs.get("auc_null")
    null = within(0.5 if given is None else given, "auc_null", 0, 1)
    if question.method == "obuchowski" and np.any(null != 0.5):
        message = "auc_null must be 0.5 for method='obuchowski', got another one"
        raise ValueError(message)
    return Curve(null, question.method, read_tails(question, inputs))


def _area(question: Question, inputs: Inputs) -> Floats:
    low = 0.5 if question.method == "obuchowski" else 0
    return within(needed(inputs, "auc"), "auc", low, 1)


def _kept(inputs: Inputs, **read: Floats) -> dict[str, Any]:
    """Give what was read, and the options, as they can be passed again."""
    return read | {name: inputs[name] for name in TAILS_INPUT if is_given(inputs, name)}


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    curve, area = _curve(question, inputs), _area(question, inputs)
    n_negatives, ratio = read_negatives(inputs, n)
    return Answer(
        n=n,
        power=curve.power(question, n, ratio, area),
        difference=area - curve.null,
        inputs=_kept(inputs, auc=area, auc_null=curve.null, ratio=ratio),
        n_negatives=n_negatives,
    )


def _size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    curve, area = _curve(question, inputs), _area(question, inputs)
    ratio = read_ratio(inputs)
    real = curve.size(question, power, ratio, area)
    n, n_negatives = round_sizes(real, ratio)
    none = np.isinf(n)
    some, beside = (np.where(none, FEWEST, each) for each in (n, n_negatives))
    reached = curve.power(question, some, beside / some, area)
    return Answer(
        n=n,
        power=np.where(none, power, reached),
        difference=area - curve.null,
        inputs=_kept(inputs, auc=area, auc_null=curve.null, ratio=ratio),
        n_exact=real,
        n_negatives=n_negatives,
        status=np.where(none, UNDEFINED, OK),
    )


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    curve = _curve(question, inputs)
    n_negatives, ratio = read_negatives(inputs, n)
    area = curve.detectable(question, n, ratio, power)
    return Answer(
        n=n,
        power=power,
        difference=area - curve.null,
        inputs=_kept(inputs, auc=area, auc_null=curve.null, ratio=ratio),
        n_negatives=n_negatives,
        status=np.where(np.isnan(area), UNDEFINED, OK),
    )


_TITLES = {
    "hanley-mcneil": "test of an AUC against a value, Hanley and McNeil's variances",
    "obuchowski": "test of an AUC against 0.5, Obuchowski's variances",
}
FAMILY = Family(
    title=lambda method, _: _TITLES[method],
    methods={"difference": tuple(_TITLES)},
    inputs=_INPUTS | SIZES | TAILS_INPUT,
    power=_power,
    sample_size=_size,
    difference=_difference,
    measure="AUC",
    unit="positives",
)
