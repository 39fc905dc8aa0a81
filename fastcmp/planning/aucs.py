"""Variances of AUCs, and plans of tests of one AUC against a value, and of two.

The variance of an area is V / n_positives, with V a function of the area and of the
negatives for each positive; `n` counts positives. Everything broadcasts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats, Numbers
from fastcmp.planning.families import (
    TAILS_INPUT,
    Case,
    Family,
    Inputs,
    Question,
    names_of,
    rounded_up,
)
from fastcmp.planning.normal import (
    Normal,
    detectable,
    least,
    normal_case,
    normal_power,
    normal_size,
    shift,
)

_FEWEST = 2.0  # of either class, for a variance
_SIZES = {"n_negatives": "negatives, beside n positives", "ratio": "negatives for each positive"}
_ENDS = (1e-15, 1.0 - 1e-15)  # between which a detectable area is looked for
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


def read_ratio(inputs: Inputs, n: Floats | None) -> tuple[Floats, Floats | None]:
    """Negatives for each positive; and the negatives beside n positives, where n is known."""
    if n is not None and np.any(n < _FEWEST):
        raise BadValueError("`n` must be at least 2 positives", f"{np.min(n):g}")
    names = inputs.passed(_SIZES)
    if n is not None and names == ["n_negatives"]:
        negatives = inputs.whole("n_negatives", 2)
        return negatives / n, negatives
    if names != ["ratio"]:
        needed = "`ratio=` alone" if names else "`n_negatives=` or `ratio=`"
        raise BadValueError(f"{needed} must be given beside the positives", names_of(names))
    ratio = inputs.positive("ratio")
    return ratio, None if n is None else np.asarray(n * ratio)


def whole_negatives(n: Numbers, ratio: Numbers) -> Floats:
    """Negatives beside n positives, in whole numbers."""
    return np.maximum(rounded_up(n * ratio), _FEWEST)


def _one_area_case(question: Question, inputs: Inputs) -> Case:
    obuchowski = question.method == "obuchowski"
    null = inputs.within("auc_null", 0, 1, default=0.5)
    if obuchowski and np.any(null != 0.5):
        raise BadValueError("auc_null must be 0.5 for `method='obuchowski'`", "another one")
    both_tails = inputs.tails(question)
    n = question.n
    area = None
    if question.solved_for != "difference":
        area = inputs.within("auc", 0.5 if obuchowski else 0, 1)
    ratio, negatives = read_ratio(inputs, n)

    def variances(n: Numbers, ratio: Numbers, area: Numbers) -> Normal:
        if obuchowski:
            at_half = 0.0792 * (1.0 + 1.0 / np.asarray(ratio))
            return Normal(obuchowski_variance(area, ratio), at_half, both_tails)
        variance, null_variance = (
            n * hanley_mcneil_variance(x, n, n * np.asarray(ratio)) for x in (area, null)
        )
        return Normal(variance, null_variance, both_tails)

    def power(area: Numbers, n: Numbers, ratio: Numbers) -> Any:
        gain = np.asarray(area, np.float64) - null
        return normal_power(question, n, gain, variances(n, ratio, area))

    def size(area: Numbers, target: Numbers) -> Any:
        gain = np.asarray(area, np.float64) - null
        if obuchowski:
            return normal_size(question, target, gain, variances(1.0, ratio, area))
        fewest = 1.0 / np.minimum(ratio, 1.0)  # a positive, and a negative
        start = np.where(shift(question, gain) > 0.0, fewest, np.inf)
        return least(lambda n: power(area, n, ratio), target, start=start, lowest=fewest)

    if area is None:  # the nearest that is found with the power
        most = np.abs(_ENDS[question.alternative != "less"] - np.asarray(null))
        area = null + detectable(question, lambda gap: power(null + gap, n, ratio), most)
    kept = {name: inputs[name] for name in TAILS_INPUT if name in inputs}
    return Case(
        difference=area - null,
        inputs={"auc": area, "auc_null": null, "ratio": ratio, **kept},
        power=lambda area, n: power(
            area, n, ratio if question.n is not None else whole_negatives(n, ratio) / n
        ),
        size=size,
        effect=area,
        closed=True,
        fewest=_FEWEST,
        negatives=lambda n: whole_negatives(n, ratio) if negatives is None else negatives,
    )


ONE = Family(
    titles={
        "hanley-mcneil": "test of an AUC against a value, Hanley and McNeil's variances",
        "obuchowski": "test of an AUC against 0.5, Obuchowski's variances",
    },
    methods={"difference": ("hanley-mcneil", "obuchowski")},
    inputs={"auc": "true area", "auc_null": "area under H0, 0.5 by default"} | _SIZES | TAILS_INPUT,
    read=_one_area_case,
    measure="AUC",
    unit="positives",
)


def obuchowski_variance(area: Numbers, ratio: Numbers) -> Floats:
    """Variance times n_positives of a binormal area; Obuchowski (2004), equation 3.

    With 1.414 for the root of 2, as printed there and in pROC.
    """
    square = (1.414 * ndtri(area)) ** 2
    scale = 0.0099 * np.exp(-0.5 * square)
    spread = 5.0 * square + 8.0 + (square + 8.0) / np.asarray(ratio)
    return np.asarray(scale * spread)


def hanley_mcneil_variance(area: Numbers, n_positives: Numbers, n_negatives: Numbers) -> Floats:
    """Variance of an area; Hanley and McNeil (1982)."""
    area = np.asarray(area, np.float64)
    two_positives = area * (1.0 - area) ** 2 / (2.0 - area)
    two_negatives = area**2 * (1.0 - area) / (1.0 + area)
    total = area * (1.0 - area) + (n_positives - 1.0) * two_positives
    total = total + (n_negatives - 1.0) * two_negatives
    return np.asarray(total / (n_positives * n_negatives))


class Areas(NamedTuple):
    """Variances and covariance of two areas on the same samples, times n_positives."""

    variance_a: Floats
    variance_b: Floats
    covariance: Floats

    def difference(self) -> Floats:
        """Variance of the difference of the areas."""
        return np.asarray(self.variance_a + self.variance_b - 2.0 * self.covariance)

    def null(self, which: str) -> Floats:
        """Variance of the difference under H0.

        "both" is that of the alternative, which does not change where a and b are
        swapped; "a" and "b" take the variance of one of the curves for both, as pROC
        does with its first.
        """
        if which == "both":
            return self.difference()
        variance = self.variance_a if which == "a" else self.variance_b
        return np.asarray(2.0 * (variance - self.covariance))


class Binormal(NamedTuple):
    """A binormal curve: the true positive rate is Phi(a + b Phi^-1(t)).

    Scores of positives are N(a, 1), those of negatives N(0, b**2).
    """

    a: Numbers
    b: Numbers
    #: Range of false positive rates of a partial area; (0, 1) for the whole.
    fpr_range: tuple[float, float] = (0.0, 1.0)

    @property
    def scale(self) -> Floats:
        """Standard deviation of a positive's score minus a negative's."""
        return np.asarray(np.sqrt(1.0 + np.square(self.b)))

    @property
    def area(self) -> Floats:
        """The area, partial or whole: P(Z <= z, W <= h) with the correlation -b / s."""
        h = self.a / self.scale
        ends = [
            both_below(h, ndtri(end), -np.asarray(self.b) / self.scale)
            if 0.0 < end < 1.0
            else end * ndtr(h)
            for end in self.fpr_range
        ]
        return np.asarray(ends[1] - ends[0])

    def slopes(self) -> tuple[Floats, Floats]:
        """Derivatives of the area by a and by b, f and g of the article."""
        a, b = np.asarray(self.a, np.float64), np.asarray(self.b, np.float64)
        square = 1.0 + b * b
        height = np.exp(-0.5 * a * a / square)
        low, high = ((ndtri(end) + a * b / square) * np.sqrt(square) for end in self.fpr_range)
        f = height / np.sqrt(2.0 * np.pi * square) * (ndtr(high) - ndtr(low))
        falling = np.exp(-0.5 * low * low) - np.exp(-0.5 * high * high)
        g = height / (2.0 * np.pi * square) * falling - a * b / square * f
        return f, g


class Correlations(NamedTuple):
    """Of the scores of two models, for the same positives and the same negatives."""

    positives: Numbers
    negatives: Numbers


def fitted_areas(
    first: Binormal,
    second: Binormal,
    ratio: Numbers,
    correlations: Correlations,
    *,
    printed: bool = False,
) -> Areas:
    """Variances of areas of fitted binormal curves; Obuchowski, McClish (1997), (4, 5).

    `printed` leaves the covariance of a and b, f g a b, out of the variance of an area,
    as pROC does; the covariance of two equal curves with correlation 1 has it.
    """
    ratio = np.asarray(ratio, np.float64)
    ra, rn = (np.asarray(correlation, np.float64) for correlation in correlations)
    (f1, g1), (f2, g2) = first.slopes(), second.slopes()
    a1, b1, a2, b2 = (np.asarray(x, np.float64) for x in (*first[:2], *second[:2]))

    def variance(f: Floats, g: Floats, a: Floats, b: Floats) -> Floats:
        by_a = f * f * (1.0 + b * b / ratio + 0.5 * a * a)
        by_b = g * g * b * b * (1.0 + ratio) / (2.0 * ratio)
        return np.asarray(by_a + by_b + (0.0 if printed else f * g * a * b))

    both = f1 * f2 * (ra + rn * b1 * b2 / ratio + 0.5 * ra**2 * a1 * a2)
    both = both + g1 * g2 * b1 * b2 * (rn**2 + ratio * ra**2) / (2.0 * ratio)
    both = both + 0.5 * ra**2 * (f1 * g2 * a1 * b2 + f2 * g1 * a2 * b1)
    return Areas(variance(f1, g1, a1, b1), variance(f2, g2, a2, b2), both)


def empirical_areas(
    first: Binormal, second: Binormal, ratio: Numbers, correlations: Correlations
) -> Areas:
    """Variances of empirical areas, for many samples with binormal scores.

    What DeLong's covariance estimates: that of the placements, which are probabilities
    that two normal numbers are both below a limit.
    """

    def covariance(one: Binormal, two: Binormal, same: Correlations) -> Floats:
        h, k = one.a / one.scale, two.a / two.scale
        apart = ndtr(h) * ndtr(k)
        scales = one.scale * two.scale
        of_positives = both_below(h, k, same.positives / scales) - apart
        negatives = same.negatives * np.asarray(one.b) * two.b / scales
        of_negatives = both_below(h, k, negatives) - apart
        return np.asarray(of_positives + of_negatives / np.asarray(ratio))

    identical = Correlations(1.0, 1.0)
    return Areas(
        covariance(first, first, identical),
        covariance(second, second, identical),
        covariance(first, second, correlations),
    )


def both_below(h: Numbers, k: Numbers, r: Numbers) -> Floats:
    """P(X <= h, Y <= k) of standard normals with the correlation r (Owen 1956)."""
    root = np.sqrt(1.0 - np.square(r))
    h, k = (np.where(np.abs(x) < 1e-300, 1e-300, x) for x in (h, k))  # no 0 / 0
    total = 0.5 * (ndtr(h) + ndtr(k))
    total = total - owens_t(h, (k / h - r) / root) - owens_t(k, (h / k - r) / root)
    return np.asarray(np.where((h < 0.0) != (k < 0.0), total - 0.5, total))


def _two_area_case(question: Question, inputs: Inputs) -> Case:
    n, ratio = question.n, None
    named = inputs.passed(_SIZES)
    if named and (n is not None or "ratio" in named):
        ratio, _ = read_ratio(inputs, n)
    if question.margin is not None and np.any(question.margin >= 1):
        raise BadValueError("`margin` must lie in (0, 1) for areas", f"{np.max(question.margin):g}")
    curve_inputs = inputs.passed(_BINORMAL)
    if "pilot_positives" in inputs or "pilot_negatives" in inputs:
        if curve_inputs:
            raise BadValueError(
                f"`{curve_inputs[0]}=` is not known from a pilot: leave one of both out"
            )
        if question.method != "delong":
            raise BadValueError("`method` must be 'delong' for a pilot", repr(question.method))
        normal, error, ratio = _pilot(inputs, ratio)
        kept, gap = inputs.plain(), None
        if {"auc_a", "auc_b"} <= kept.keys() and "difference" not in kept:
            a, b = (inputs.proportion(x) for x in ("auc_a", "auc_b"))
            gap = a - b
    else:
        if ratio is None:
            ratio, _ = read_ratio(inputs, None)
        normal, gap = _binormal(question.method, inputs, ratio)
        error = None
        kept = {x: y for x, y in inputs.plain().items() if x != "n_negatives"}
        kept["ratio"] = ratio
    if "difference" in inputs:
        gap = inputs.within("difference", -1, 1)
    if gap is None and question.solved_for != "difference":
        raise BadValueError("`difference=`, or `auc_a=` and `auc_b=`, must be given")
    return normal_case(
        question,
        kept,
        normal._replace(both_tails=inputs.tails(question)),
        gap,
        error=error,
        fewest=_FEWEST,
        negatives=lambda x: x * ratio if n is not None else whole_negatives(x, ratio),
    )


def _pilot(inputs: Inputs, ratio: Any) -> tuple[Normal, Any, Any]:
    """Variances, standard error and ratio of a pilot."""
    positives = inputs.whole("pilot_positives", 2)
    negatives = inputs.whole("pilot_negatives", 2)
    same = negatives / positives
    if ratio is not None and not np.allclose(ratio, same, rtol=1e-9, atol=0.0):
        raise BadValueError(
            f"`ratio` must be that of the pilot, {np.ravel(same)[0]:.6g}: DeLong's covariance "
            "holds for no other",
            f"{np.ravel(ratio)[0]:.6g}",
        )
    if "standard_error" in inputs:
        if inputs.choose("null_variance", "both", _NULLS) != "both":
            raise BadValueError("`null_variance` must be 'both' where only standard_error is given")
        error = inputs.positive("standard_error")
        return Normal(error**2 * positives, error**2 * positives), error, same
    lowest = {"variance_a": 0, "variance_b": 0, "covariance": -np.inf}
    areas = Areas(*(inputs.within(x, low, np.inf) * positives for x, low in lowest.items()))
    return _variances(areas, inputs), np.sqrt(areas.difference() / positives), same


def _binormal(method: str, inputs: Inputs, ratio: Numbers) -> tuple[Normal, Any]:
    """Variances and difference of the areas of two curves."""
    rates = (0.0, 1.0)
    if "fpr_range" in inputs:
        ends = inputs.proportion("fpr_range")
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise BadValueError(
                "`fpr_range` must be two rates, the lower first", repr(inputs["fpr_range"])
            )
        rates = float(ends[0]), float(ends[1])
    if method == "delong" and rates != (0.0, 1.0):
        raise BadValueError(
            "`fpr_range` needs `method='binormal'` or 'obuchowski-mcclish'", "'delong'"
        )
    curves = []
    for name in ("a", "b"):
        slope = inputs.positive(f"slope_{name}", default=1.0)
        names = inputs.passed((f"intercept_{name}", f"auc_{name}"))
        if len(names) != 1:
            needed = f"`intercept_{name}=` or `auc_{name}=`"
            raise BadValueError(f"{needed} must be given", names_of(names))
        if names[0].startswith("auc"):
            area = inputs.within(names[0], 0, 1)
            intercept = ndtri(area) * np.sqrt(1.0 + slope**2)
        else:
            intercept = inputs.within(names[0], -np.inf, np.inf)
        curves.append(Binormal(intercept, slope, rates))
    names = ["correlation_positives", "correlation_negatives"]
    same = Correlations(*(inputs.within(name, -1, 1) for name in names))
    if method == "delong":
        areas = empirical_areas(curves[0], curves[1], ratio, same)
    else:
        printed = method == "obuchowski-mcclish"
        areas = fitted_areas(curves[0], curves[1], ratio, same, printed=printed)
    return _variances(areas, inputs), curves[0].area - curves[1].area


def _variances(areas: Areas, inputs: Inputs) -> Normal:
    """Variances of a difference; an impossible covariance is refused."""
    null_variance = inputs.choose("null_variance", "both", _NULLS)
    normal = Normal(areas.difference(), areas.null(null_variance))
    for variance in normal[:2]:
        if not np.all(variance > 0.0):
            raise BadValueError(
                "`covariance` must leave the difference of the areas a variance > 0",
                f"{np.min(variance):.6g} times 1 / positives",
            )
    return normal


_TITLES = {
    "delong": "DeLong's test of two AUCs",
    "binormal": "test of two AUCs of fitted binormal curves",
    "obuchowski-mcclish": "test of two AUCs, Obuchowski and McClish's variances",
}
TWO = Family(
    titles=_TITLES,
    methods=dict.fromkeys(
        ("difference", "noninferiority", "superiority", "equivalence"), tuple(_TITLES)
    ),
    inputs=_PILOT | _BINORMAL | _SIZES | _NULL | TAILS_INPUT,
    read=_two_area_case,
    measure="AUC",
    unit="positives",
)
