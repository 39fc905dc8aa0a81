"""Metrics that are functions of sums over items: one table of them.

Item i has p numbers; a metric is a function of their totals that stays the same where all
totals are multiplied by one number. So the influence of an item on it is the gradient at the
totals times the item's numbers, and the influences add up to 0. Gradients are exact to
rounding: the imaginary part of the function at totals with a tiny imaginary part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_finite
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.typing import Flags, Floats

#: Of totals of shape (..., p) and the option, also of complex ones; shape (...).
Function = Callable[[Any, Any], Any]

_STEP = 1e-20  # of totals, along the imaginary axis
_REAL_STEP = 6e-6  # of totals, of central differences
_APART = 1e-5  # what both derivatives must agree to, relative
_DEGREE = 1e-6  # of the largest part of the sum of influences
_BETA = re.compile(r"f_?(\d+\.?\d*|\.\d+)")


@dataclass(frozen=True, slots=True)
class SumMetric:
    """A metric of sums."""

    title: str
    #: Names of the columns, or of p columns, None where there cannot be p.
    named: str | Callable[[int], tuple[str, ...] | None]
    function: Function
    lower_is_better: bool = False
    limits: tuple[float, float] = (0.0, math.inf)
    #: Weights of the columns, by the option, of whose sum each item has a share: CR2 holds for
    #: metrics that are fitted with these weights. None for others.
    shares: Callable[[Any], tuple[float, ...]] | None = None
    #: Columns that may be negative; None for all.
    signed: tuple[int, ...] | None = ()
    #: Columns (k, j) such that total k is at most total j.
    at_most: Callable[[int], Sequence[tuple[int, int]]] = lambda _: ()
    #: Totals, shape (..., p), at which there is a value but no derivative.
    no_slope: Callable[[Floats, Floats], Any] = lambda s, _: np.zeros(s.shape[:-1], np.bool_)
    #: Columns of which the metric has a kink where their totals are equal.
    kink: tuple[int, int] | None = None
    #: "beta" or "labels", and its value.
    option: str | None = None
    setting: Any = None
    #: Whether columns of any names are taken as they come.
    any_names: bool = False

    def columns(self, p: int) -> tuple[str, ...] | None:
        """Names of p columns; None where there cannot be p."""
        names = self.named(p) if callable(self.named) else tuple(self.named.split())
        return names if names is not None and len(names) == p else None

    def values(self, totals: Floats) -> Any:
        """Values of totals of shape (..., p), NaN where there is none."""
        with np.errstate(all="ignore"):
            return self.function(totals, self.setting)

    def _slopes(self, totals: Floats, steps: NDArray[Any]) -> Floats:
        """Quotients of differences along each column, of real or imaginary steps, (..., p)."""
        slopes = np.empty(totals.shape)
        for k in range(totals.shape[-1]):
            step = np.zeros_like(steps)
            step[..., k] = steps[..., k]
            ahead, behind = totals + step, totals - step
            rise = self.values(ahead) - self.values(behind)
            slopes[..., k] = np.real(rise / (ahead - behind)[..., k])
        return slopes

    def gradients(self, totals: Floats) -> Floats:
        """Gradients at totals, shape (..., p), NaN where there is none."""
        slopes = self._slopes(totals, 1j * _STEP * _sizes(totals))
        values = self.values(totals)
        slopes[np.isnan(values) | self.no_slope(totals, values)] = np.nan
        return slopes


def _sizes(totals: Floats) -> Floats:
    """Sizes of totals, for those that are 0 of the largest; columns may have unlike scales."""
    size = np.abs(totals)
    largest = size.max(-1, keepdims=True)
    return np.where(size > 0.0, size, np.where(largest > 0.0, largest, 1.0))


def logged(metric: SumMetric) -> SumMetric:
    """The logarithm of a metric, of which differences are ratios."""

    def log(totals: Floats, setting: object) -> Any:
        value = metric.function(totals, setting)
        return np.where(value.real > 0.0, np.log(value), np.nan)

    def no_slope(totals: Floats, values: Floats) -> Any:
        return metric.no_slope(totals, np.exp(values))

    limits = (-math.inf, math.inf)
    changed: dict[str, Any] = {"function": log, "no_slope": no_slope, "limits": limits}
    return replace(metric, title=f"log {metric.title}", **changed)


def _over(numerator: Floats, denominator: Floats) -> Any:
    """Quotients, NaN where the denominator is not above 0."""
    return np.where(denominator.real > 0.0, numerator / denominator, np.nan)


def _ratio(s: NDArray[Any], _: object) -> Any:
    return _over(s[..., 0], s[..., 1])


def _f_beta(s: NDArray[Any], beta: float) -> Any:
    hits = (1.0 + beta * beta) * s[..., 0]
    return _over(hits, hits + s[..., 1] + beta * beta * s[..., 2])


def _perplexity(s: NDArray[Any], _: object) -> Any:
    return np.exp(_over(-s[..., 0], s[..., 1]))


# Overlap of classes, by tables [true class, predicted class].


def _class_columns(p: int) -> tuple[str, ...] | None:
    k = math.isqrt(p)
    between = "" if k <= 10 else "_"
    names = tuple(f"n{t}{between}{c}" for t in range(k) for c in range(k))
    return names if k > 1 and k * k == p else None


def _class_sizes(s: NDArray[Any], labels: Any) -> tuple[Any, Any, Any]:
    """Pixels of each class in both, in either twice, and which classes count; shape (..., K)."""
    k = math.isqrt(s.shape[-1])
    table = s.reshape(*s.shape[:-1], k, k)
    both, true = np.diagonal(table, axis1=-2, axis2=-1), table.sum(-1)
    sizes = true + table.sum(-2)
    counted = (true if isinstance(labels, str) and labels == "truth" else sizes).real > 0.0
    if not isinstance(labels, str):
        counted &= np.isin(np.arange(k), labels)
    return both, sizes, counted


def counted_classes(totals: Floats, labels: object) -> Flags:
    """Which classes a mean overlap is over, shape (..., K)."""
    return np.asarray(_class_sizes(totals, labels)[2])


def _mean_iou(s: NDArray[Any], labels: object) -> Any:
    both, sizes, counted = _class_sizes(s, labels)
    return np.where(counted, both / (sizes - both), 0.0).sum(-1) / counted.sum(-1)


def _mean_dice(s: NDArray[Any], labels: object) -> Any:
    both, sizes, counted = _class_sizes(s, labels)
    return np.where(counted, 2.0 * both / sizes, 0.0).sum(-1) / counted.sum(-1)


# Translations: statistics in the order of sacrebleu.


def _bleu_columns(p: int) -> tuple[str, ...] | None:
    names = (f"{kind}{k}" for kind in "mt" for k in range(1, p // 2))
    return ("hyp_len", "ref_len", *names) if p >= 4 and p % 2 == 0 else None


def _bleu(s: NDArray[Any], _: object) -> Any:
    """BLEU; an order without a match is smoothed as by sacrebleu ("exp")."""
    n = s.shape[-1] // 2 - 1
    logs, halvings = 0.0, 0.0
    for k in range(2, 2 + n):
        matches = s[..., k]
        none = matches == 0.0
        if none.any():
            halvings = halvings + none
            matches = np.where(none, np.exp2(-halvings), matches)
        logs = logs + np.log(matches / s[..., k + n])
    c, r = s[..., 0], s[..., 1]
    short = np.where(c.real < r.real, 1.0 - r / c, 0.0)
    matches, totals = s[..., 2 : 2 + n].real, s[..., 2 + n :].real
    nothing = (matches.max(-1) == 0.0) | (totals.min(-1) == 0.0)
    return np.where(nothing, 0.0, 100.0 * np.exp(logs / n + short))


def _chrf_columns(p: int) -> tuple[str, ...] | None:
    names = (f"{kind}{k}" for k in range(1, p // 3 + 1) for kind in ("hyp", "ref", "match"))
    return tuple(names) if p >= 3 and p % 3 == 0 else None


def _chrf(s: NDArray[Any], beta: float) -> Any:
    """F of precision and recall, each the mean over orders that both have."""
    hyp, ref, match = (s[..., k::3] for k in range(3))
    counted = (hyp.real > 0.0) & (ref.real > 0.0)
    n = np.maximum(counted.sum(-1), 1)
    precision, recall = (np.where(counted, match / x, 0.0).sum(-1) / n for x in (hyp, ref))
    b = beta * beta
    value = 100.0 * (1.0 + b) * precision * recall / (b * precision + recall)
    return np.where(precision.real + recall.real > 0.0, value, 0.0)


# Predictions of numbers.


def _squares(xx: Floats, x: Floats, n: Floats) -> Any:
    """Squares about the mean, NaN where rounding is all that is left of them."""
    squares = xx - x * x / n
    return np.where(squares.real > 1e-12 * xx.real, squares, np.nan)


def _r2(s: NDArray[Any], _: object) -> Any:
    return 1.0 - s[..., 0] / _squares(s[..., 2], s[..., 1], s[..., 3])


def _rmse(s: NDArray[Any], _: object) -> Any:
    return np.sqrt(_over(s[..., 0], s[..., 1]))


def _pearson(s: NDArray[Any], _: object) -> Any:
    x, y, xx, yy, xy, n = (s[..., k] for k in range(6))
    return (xy - x * y / n) / (np.sqrt(_squares(xx, x, n)) * np.sqrt(_squares(yy, y, n)))


# The table.


def _zero(_: Floats, values: Floats) -> Any:
    return values == 0.0


def _second(_: object) -> tuple[float, ...]:
    return (0.0, 1.0)


def _of_f(beta: float) -> tuple[float, ...]:
    return (1.0 + beta * beta, 1.0, beta * beta)


_REAL, _PROPORTION, _PER_CENT = (-math.inf, math.inf), (0.0, 1.0), (0.0, 100.0)
_ERRORS: dict[str, Any] = {"lower_is_better": True, "shares": _second}
_PART: dict[str, Any] = {"limits": _PROPORTION, "shares": _second}
_ANY: dict[str, Any] = {"limits": _REAL, "any_names": True}
_OVERLAP: dict[str, Any] = {"limits": _PROPORTION, "option": "labels", "setting": "union"}
_BLEU: dict[str, Any] = {
    "at_most": lambda p: [(k, k + p // 2 - 1) for k in range(2, 1 + p // 2)],
    "no_slope": lambda s, _: (s[..., 2:] == 0.0).any(-1),
}
_CHRF: dict[str, Any] = {
    "at_most": lambda p: [(k + 2, k + j) for k in range(0, p, 3) for j in (0, 1)],
    "no_slope": _zero,
}
_PEARSON: dict[str, Any] = {"limits": (-1.0, 1.0), "signed": (0, 1, 4)}
_LOGS: dict[str, Any] = {"limits": (1.0, math.inf), "signed": (0,)}

#: The metrics by name.
METRICS: dict[str, SumMetric] = {
    "ratio": SumMetric(
        "ratio", "numerator denominator", _ratio, shares=_second, signed=(0,), **_ANY
    ),
    "wer": SumMetric("WER", "errors reference", _ratio, **_ERRORS),
    "cer": SumMetric("CER", "errors reference", _ratio, **_ERRORS),
    "recall": SumMetric("recall", "found relevant", _ratio, **_PART),
    "precision": SumMetric("precision", "found retrieved", _ratio, **_PART),
    "cost_per_solved": SumMetric("cost per solved", "cost solved", _ratio, **_ERRORS),
    "f_beta": SumMetric(
        "F", "tp fp fn", _f_beta, limits=_PROPORTION, shares=_of_f, option="beta", setting=1.0
    ),
    "mean_iou": SumMetric("mean IoU", _class_columns, _mean_iou, **_OVERLAP),
    "mean_dice": SumMetric("mean Dice", _class_columns, _mean_dice, **_OVERLAP),
    "bleu": SumMetric("BLEU", _bleu_columns, _bleu, limits=_PER_CENT, kink=(0, 1), **_BLEU),
    "chrf": SumMetric(
        "chrF", _chrf_columns, _chrf, limits=_PER_CENT, option="beta", setting=2.0, **_CHRF
    ),
    "r2": SumMetric("R2", "squared_error y yy n", _r2, limits=(-math.inf, 1.0), signed=(1,)),
    "rmse": SumMetric("RMSE", "squared_error n", _rmse, no_slope=_zero, lower_is_better=True),
    "pearson": SumMetric("Pearson correlation", "x y xx yy xy n", _pearson, **_PEARSON),
    "perplexity": SumMetric("perplexity", "log_prob tokens", _perplexity, **_ERRORS, **_LOGS),
}
#: What some metrics are called as well.
SYNONYMS = {"micro_recall": "recall", "micro_precision": "precision", "f": "f_beta"}
SYNONYMS |= {"word_error_rate": "wer", "character_error_rate": "cer", "ppl": "perplexity"}
SYNONYMS |= {"iou": "mean_iou", "miou": "mean_iou", "dice": "mean_dice", "macro_iou": "mean_iou"}
SYNONYMS |= {"fbeta": "f_beta", "jaccard": "mean_iou", "macro_dice": "mean_dice"}
SYNONYMS |= {"correlation": "pearson", "r_squared": "r2"}


def read_metric(metric: object, beta: object, labels: object) -> SumMetric:
    """The metric that a user means, with its option; a function is a metric of its own."""
    if callable(metric):
        sum_metric: SumMetric = _FunctionMetric.of(metric)
        name = sum_metric.title
    elif isinstance(metric, str):
        name = metric.strip().lower().replace("-", "_").replace(" ", "_")
        if name not in METRICS and (matched := _BETA.fullmatch(name)):
            if beta is not None and beta != float(matched[1]):
                raise BadValueError(
                    f"`metric={metric!r}` and `beta={beta!r}` differ: pass one of them"
                )
            name, beta = "f_beta", float(matched[1])
        name = SYNONYMS.get(name, name)
        if name not in METRICS:
            raise BadValueError(
                "`metric` must be one of",
                repr(metric),
                ": F scores are 'f1' or 'f0.5' ``(and metric=f is a function f of totals of shape "
                "(..., p))``",
                METRICS,
            )
        sum_metric = METRICS[name]
    else:
        raise BadTypeError("`metric` must be a name or a function of totals", repr(metric))
    for option, value in (("beta", beta), ("labels", labels)):
        if value is not None and sum_metric.option != option:
            with_it = [key for key, row in METRICS.items() if row.option == option]
            raise BadValueError(f"`{option}=` is for metric {' and '.join(with_it)}", repr(name))
    if beta is not None:
        sum_metric = replace(sum_metric, setting=as_finite(beta, "beta", above=0.0))
    if labels is not None:
        sum_metric = replace(sum_metric, setting=_read_labels(labels))
    return replace(sum_metric, title=f"F{sum_metric.setting:g}") if name == "f_beta" else sum_metric


def _read_labels(labels: object) -> Any:
    """The word "union" or "truth", or classes by number."""
    if isinstance(labels, str) and labels.strip().lower() in ("union", "truth"):
        return labels.strip().lower()
    listed = np.asarray(labels)
    whole = listed.dtype.kind in "iu" and listed.ndim == 1 and listed.size
    if not whole or np.unique(listed).size < listed.size or listed.min() < 0:
        raise BadValueError(
            "`labels` must be 'union', 'truth', or a list of different classes by their number "
            "from 0",
            repr(labels),
        )
    return tuple(listed.tolist())


class _FunctionMetric(SumMetric):
    """A user's function of totals: what it gives is checked, and whether its degree is 0."""

    __slots__ = ()

    @classmethod
    def of(cls, function: Callable[[Any], Any]) -> _FunctionMetric:
        name = getattr(function, "__name__", type(function).__name__)
        return cls(
            title="metric" if name == "<lambda>" else name,
            named=lambda p: tuple(f"column_{k}" for k in range(p)),
            function=lambda totals, _: np.asarray(function(totals)),
            signed=None,
            **_ANY,
        )

    def values(self, totals: Floats) -> Any:
        """Values of totals of shape (..., p)."""
        values = SumMetric.values(self, totals)
        if values.shape != totals.shape[:-1] or values.dtype.kind not in "iufbc":
            raise BadValueError(
                f"`metric` must turn totals of shape {totals.shape} into numbers of shape "
                f"{totals.shape[:-1]}",
                f"{values.dtype} of shape {values.shape}",
                ": write s[..., 0] / s[..., 1], say",
            )
        return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)

    def gradients(self, totals: Floats) -> Floats:
        """Gradients at totals, by central differences where complex numbers mislead."""
        size = _sizes(totals)
        central = self._slopes(totals, _REAL_STEP * size)
        try:
            slopes = SumMetric.gradients(self, totals)
        except (TypeError, ValueError):
            slopes = np.full(totals.shape, np.nan)
        near = np.abs(slopes - central) * size
        same = near <= _APART * np.abs(central * size).max(-1, keepdims=True)
        slopes = np.where(same | np.isnan(central), slopes, central)
        added = slopes * totals
        scale = np.maximum(np.abs(added).max(-1, initial=0.0), np.abs(self.values(totals)))
        if (np.abs(added.sum(-1)) > _DEGREE * scale).any():
            raise BadValueError(
                "`metric` must stay the same where all totals are multiplied by one number, "
                f"and {self.title} is not of degree 0",
                remedy=": add a column of ones to stats, and divide by its total",
            )
        return slopes
