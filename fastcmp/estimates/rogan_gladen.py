"""Rates of right answers by a judge whose errors are known from other items, or from some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp.core.checks import as_cells, as_proportion, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_ppf
from fastcmp.core.records import Record, keep_intervals
from fastcmp.core.render import visible
from fastcmp.core.sections import Column, Section, beware
from fastcmp.core.typing import Floats, ModelsLike
from fastcmp.estimates.judge_inputs import read_judged
from fastcmp.inputs.model_names import read_names
from fastcmp.pairwise.model_estimates import Estimates

_COUNTS = ("positives", "judged_right", "negatives", "judged_wrong")
INTERVALS = ("lang-reiczigel", "fieller", "delta")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RoganGladen(Record):
    """Rates of right answers of M models, by a judge of known sensitivity and specificity."""

    names: tuple[str, ...]
    #: Shape (M,); may lie outside [0, 1].
    estimate: Floats
    standard_error: Floats
    #: Of each rate alone, within [0, 1], shape (M, 2).
    interval: Any
    #: How often the judge says right, shape (M,).
    judge_rate: Floats
    sensitivity: Floats
    specificity: Floats
    #: Shape (M, M).
    covariance: Floats
    #: "own", "shared" by all models, or "inside" where some of the judged items have labels.
    calibration: str
    method: str
    confidence_level: float
    n_items: int
    cautions: tuple[str, ...] = ()

    _columns = (
        Column("model", "names", visible),
        Column("estimate", form=".4f", head="corrected"),
        Column("standard_error"),
        Column("judge_rate", form=".4f", head="judge"),
        *Column.each("sensitivity specificity", ".4f"),
        Column("interval_low interval_high", "interval", ".4f", "{level}"),
    )

    def __post_init__(self) -> None:
        """Keep intervals of models from being unpacked as one."""
        keep_intervals(self, "interval")

    @property
    def estimates(self) -> Estimates:
        """The rates of at least two models, for what compares estimates."""
        return Estimates(self.estimate, self.covariance, names=self.names, measure="rate")

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A row a model, and what to beware of.
        """
        title = f"Rates of {self.n_items} judged items, corrected by error rates of the judge"
        columns = "model judge_rate sensitivity specificity estimate interval_low"
        return [self._printed(title, columns), *beware(self)]


def rogan_gladen(
    judge: ModelsLike | None = None,
    human: ModelsLike | None = None,
    *,
    counts: tuple[int, int] | None = None,
    calibration: Mapping[str, Any] | None = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
    names: Sequence[str] | None = None,
) -> RoganGladen:
    """Correct rates of right answers by the sensitivity and specificity of the judge.

    For a judge whose errors are known from other items. From labels of some of the judged
    items `judged_values` gives shorter intervals.

    Parameters
    ----------
    judge : array-like of shape (M, N) or (N,), mapping or frame, optional
        0 or 1: what the judge says of the answers of each model.
    human : array-like of shape (M, N) or (N,), mapping or frame, optional
        Labels, 0 or 1, of some of these items, None or NaN for others.
    counts : pair of int, optional
        Of one model, in the place of `judge`: how often the judge says right, and of how many.
    calibration : mapping, optional
        Counts of other items: how many are right, "positives", and of these "judged_right";
        how many are wrong, "negatives", and of these "judged_wrong". Shared by all models; or
        a mapping from each model to such counts.
    interval : {"lang-reiczigel", "fieller", "delta"}, optional
        The first by default; with `human` "delta" alone.
    confidence_level : float
        Of the intervals, in (0, 1).
    names : sequence of str, optional
        Names of the models.

    Returns
    -------
    RoganGladen
        Corrected rates, their covariance and intervals. With shared error rates the models
        keep the order that the judge gives them.

    Raises
    ------
    ValueError
        If values are not 0 or 1, a class has no labels, or the judge calls right answers right
        no more often than wrong ones.
    TypeError
        If counts are no whole numbers, or data are given twice.

    Notes
    -----
    The rate is (p + specificity - 1) / (sensitivity + specificity - 1) [1]_. The default interval
    adds two labels of each class [2]_; Fieller's does not divide by the denominator, and may be
    all of [0, 1]. For labels inside the judged items influences take into account that both
    come from the same items.

    References
    ----------
    .. [1] W. J. Rogan, B. Gladen, "Estimating prevalence from the results of a screening
       test", American Journal of Epidemiology 107 (1978) 71-76.
    .. [2] Z. Lang, J. Reiczigel, "Confidence limits for prevalence of disease adjusted for
       estimated sensitivity and specificity", Preventive Veterinary Medicine 113 (2014) 13-22.

    Examples
    --------
    >>> from fastcmp import rogan_gladen
    >>> known = {"positives": 60, "judged_right": 57, "negatives": 40, "judged_wrong": 34}
    >>> result = rogan_gladen(counts=(760, 1000), calibration=known)
    >>> result.estimate.round(4).tolist(), result.interval.round(4).tolist()
    ([0.7625], [[0.6925, 0.8483]])
    """
    level = as_proportion(confidence_level, "confidence_level")
    if (judge is None) == (counts is None):
        raise BadTypeError("`judge` and `counts=` exclude each other: pass one of them")
    if (human is None) == (calibration is None):
        raise BadTypeError("`human` and `calibration=` exclude each other: pass one of them")
    if human is not None and counts is not None:
        raise BadTypeError("`human` needs judge, not `counts=`: labels belong to judged items")
    if calibration is not None and not (isinstance(calibration, Mapping) and calibration):
        raise BadTypeError(f"`calibration` must map {list(_COUNTS)} to counts", repr(calibration))
    method = choose(interval, "interval", (None, *INTERVALS))
    if human is not None and method not in (None, "delta"):
        raise BadValueError(
            f"`interval={interval!r}` needs `calibration=` by other items: use 'delta'"
        )
    method = method or ("delta" if calibration is None else "lang-reiczigel")
    if counts is not None:
        if not isinstance(counts, (tuple, list)) or len(counts) != 2:
            raise BadTypeError("`counts` must be (judged right, items)", repr(counts))
        n_said, n_items = (as_cells(counts=count)[0] for count in counts)
        if not n_said <= n_items or not n_items:
            raise BadValueError("`counts` must be (judged right, items)", counts)
        model_names, rates = read_names(names, 1), np.array([n_said / n_items])
        covariance = np.array([[rates[0] * (1.0 - rates[0]) / n_items]])
    else:
        data = read_judged(judge, judge if human is None else human, names)
        model_names, n_items, rows = data.names, data.n_items, np.stack(data.judged)
        if not np.isin(rows, (0.0, 1.0)).all():
            raise BadValueError("`judge` must hold 0 and 1: judged_values corrects other values")
        rates = rows.mean(axis=1)
        centred = rows - rates[:, np.newaxis]
        covariance = centred @ centred.T / n_items**2
    shared = calibration is not None and not isinstance(next(iter(calibration.values())), Mapping)
    if calibration is None:
        cells = [_of_labels(*x, name) for x, name in zip(data.labels, model_names, strict=True)]
    else:
        by_model = dict.fromkeys(model_names, calibration) if shared else calibration
        if set(by_model) - set(model_names):
            raise BadValueError(
                f"`calibration` must have the models of judge, {list(model_names)[:10]}",
                list(by_model)[:10],
            )
        cells = [_read_calibration(by_model.get(name), name) for name in model_names]
    n_right, hits, n_wrong, rejections = np.array(cells, np.float64).T
    sensitivity, specificity = hits / n_right, rejections / n_wrong
    false, gain = 1.0 - specificity, sensitivity + specificity - 1.0
    if not (gain > 0.0).all():
        worst = model_names[int(gain.argmin())]
        raise BadValueError(
            f"`{'human' if calibration is None else 'calibration'}` must show that the judge "
            f"says right more often of right answers than of wrong ones, and for {worst} it "
            "does not"
        )
    estimate = (rates - false) / gain
    errors = sensitivity * (1.0 - sensitivity) / n_right
    errors_of_wrong = false * specificity / n_wrong
    if human is not None:
        for m, items in enumerate(data.labelled):
            f, y = data.labels[m]
            taken = estimate[m] * y * (f - sensitivity[m]) / n_right[m]
            taken += (1.0 - estimate[m]) * (1.0 - y) * (f - false[m]) / n_wrong[m]
            centred[m, items] -= n_items * taken
        covariance = centred @ centred.T / n_items**2
    else:
        more = np.outer(estimate, estimate) * errors
        more += np.outer(1.0 - estimate, 1.0 - estimate) * errors_of_wrong
        covariance = covariance + (more if shared else np.diag(np.diagonal(more)))
    covariance = covariance / np.outer(gain, gain)
    error, z = np.sqrt(np.diagonal(covariance)), float(t_ppf(0.5 + 0.5 * level, None))
    if method == "delta":
        half = np.where(error > 0.0, z * error, np.nan)
        ends = np.stack([estimate - half, estimate + half])
    elif method == "fieller":
        a = gain**2 - z**2 * (errors + errors_of_wrong)
        b = z**2 * errors_of_wrong - (rates - false) * gain
        c = (rates - false) ** 2 - z**2 * (rates * (1.0 - rates) / n_items + errors_of_wrong)
        with np.errstate(invalid="ignore", divide="ignore"):
            root = np.sqrt(b**2 - a * c)
            first, last = np.sort(np.stack([(-b - root) / a, (-b + root) / a]), axis=0)
        # Where the quadratic function is at most 0; between 0 and 1 that may be to its other side.
        low = np.where((first >= 0.0) & (first <= 1.0) | (a > 0.0), first, last)
        high = np.where((last >= 0.0) & (last <= 1.0) | (a > 0.0), last, first)
        ends = np.stack([np.where(c <= 0.0, 0.0, low), np.where(a + 2.0 * b + c <= 0.0, 1.0, high)])
    else:
        p = (rates * n_items + 0.5 * z**2) / (n_items + z**2)
        se, sp = (hits + 1.0) / (n_right + 2.0), (rejections + 1.0) / (n_wrong + 2.0)
        middle = (p + sp - 1.0) / (se + sp - 1.0)
        u, v = se * (1.0 - se) / (n_right + 2.0), sp * (1.0 - sp) / (n_wrong + 2.0)
        spread = p * (1.0 - p) / (n_items + z**2) + middle**2 * u + (1.0 - middle) ** 2 * v
        half = z * np.sqrt(spread) / (se + sp - 1.0)
        middle += 2.0 * z**2 * (middle * u - (1.0 - middle) * v)
        ends = np.stack([middle - half, middle + half])
    cautions = ["No variance was observed: there is no interval."] * bool(np.isnan(ends).any())
    if ((ends[0] >= 1.0) | (ends[1] <= 0.0)).any():
        cautions.append("An interval lies outside [0, 1]: only its end is left, which says little.")
    if ((estimate < 0.0) | (estimate > 1.0)).any():
        cautions.append("A corrected rate lies outside [0, 1]: the error rates may not be these.")
    if calibration is None:
        cautions.append("judged_values gives shorter intervals from the same labels.")
    if shared and len(model_names) > 1:
        cautions.append(
            "With the same error rates for all models these keep the order that the judge gives "
            "them: a judge that favours a model is not corrected."
        )
    return RoganGladen(
        names=tuple(model_names),
        estimate=estimate,
        standard_error=error,
        interval=np.clip(ends, 0.0, 1.0).T,
        judge_rate=rates,
        sensitivity=sensitivity,
        specificity=specificity,
        covariance=covariance,
        calibration="inside" if calibration is None else "shared" if shared else "own",
        method=method,
        confidence_level=level,
        n_items=int(n_items),
        cautions=tuple(cautions),
    )


def _read_calibration(counts: object, name: str) -> list[float]:
    """Right answers, those judged right, wrong answers, those judged wrong."""
    if not isinstance(counts, Mapping) or set(counts) != set(_COUNTS):
        raise BadTypeError(
            f"`calibration` must have the counts {list(_COUNTS)} of {name}", repr(counts)
        )
    cells = [as_cells(calibration=counts[key])[0] for key in _COUNTS]
    if not (cells[1] <= cells[0] and cells[3] <= cells[2] and cells[0] and cells[2]):
        raise BadValueError(
            "`calibration` must have right and wrong answers, and at most as many of each "
            "judged so",
            dict(counts),
        )
    return [float(cell) for cell in cells]


def _of_labels(f: Floats, y: Floats, name: str) -> list[float]:
    """The same of items with labels."""
    if not np.isin(y, (0.0, 1.0)).all() or not 0.0 < y.sum() < y.size:
        raise BadValueError(f"`human` must hold right (1) and wrong (0) answers of {name}")
    return [y.sum(), (f * y).sum(), (1.0 - y).sum(), ((1.0 - f) * (1.0 - y)).sum()]
