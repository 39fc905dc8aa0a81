"""Net benefit of each item: what decisions by a model's probability gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_flag, as_numbers, as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.core.threads import parts
from fastcmp.core.typing import ColumnLike, Flags, Floats, Label, ModelsLike
from fastcmp.inputs.model_names import read_names
from fastcmp.inputs.ratings import (
    Probabilities,
    check_range,
    mark_positives,
    read_probabilities,
    read_true_labels,
)

#: The two strategies that need no model.
STRATEGIES = ("treat all", "treat none")
_DENSITIES = ("uniform", "brier", "log_loss")
_SAME = 1e-12  # a probability this little below a threshold reaches it
_NODES = 64  # of Gauss-Legendre quadrature


def net_benefit_values(
    y_true: ColumnLike,
    probabilities: ModelsLike,
    *,
    threshold: float | tuple[float, float],
    threshold_density: str | Callable[[Any], Any] = "uniform",
    strategies: bool = False,
    positive: Label = None,
) -> Any:
    """Net benefit of each item: what deciding by a model's probability gains.

    Values for `compare_means`, `best_set`, `rank_sets` and others; their mean is the net
    benefit of a decision curve at a threshold, or its area over a range of thresholds.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes, none of them missing.
    probabilities : array-like of shape (n,) or (M, n), mapping or frame
        Probabilities of the positive class, by one or more models.
    threshold : float, or a tuple of two
        Who has a probability of at least this is treated. A range (low, high) gives the
        area under the curve between both.
    threshold_density : {"uniform", "brier", "log_loss"} or callable
        How much each threshold of a range counts: all the same, so that the values are
        means over the range; 2 (1 - t), by which (0, 1) gives minus the Brier score, and
        the truth; 1 / t, of the net benefit less that of perfect decisions, by which
        (0, 1) gives minus the log loss; or a smooth function of an array of thresholds.
    strategies : bool
        Whether to add "treat all" and "treat none" as models; the answer is then a dict.
    positive : label, optional
        The positive class; of numbers the larger one where not given.

    Returns
    -------
    ndarray of float64, shape (n,) or (M, n), or dict
        Benefits, in true positives for each item; for a mapping or frame a dict from
        names to arrays of shape (n,).

    Raises
    ------
    TypeError
        If probabilities or thresholds are not numbers.
    ValueError
        If a probability is missing or outside [0, 1], a threshold outside (0, 1), a true
        label is missing, or shapes do not fit; if values are infinite.

    Notes
    -----
    An item that is treated, p >= t, counts 1 if it is positive, else -t / (1 - t); one
    that is not treated 0. A probability that is below the threshold by rounding alone
    (1e-12; in float32 its own) reaches it.

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for
       evaluating prediction models", Medical Decision Making 26 (2006) 565-574.
    .. [2] J. Hernandez-Orallo, P. Flach, C. Ferri, "A unified view of performance
       metrics", Journal of Machine Learning Research 13 (2012) 2813-2869.

    Examples
    --------
    >>> from fastcmp import net_benefit_values
    >>> net_benefit_values([0, 1, 1], [0.3, 0.9, 0.1], threshold=0.2).tolist()
    [-0.25, 1.0, 0.0]
    >>> net_benefit_values([0, 1, 1], [0.3, 0.9, 0.1], threshold=(0.1, 0.5)).round(3).tolist()
    [-0.128, 1.0, 0.0]
    """
    if not callable(threshold_density):
        threshold_density = choose(threshold_density, "threshold_density", _DENSITIES)
    low, high = _read_range(threshold, threshold_density)
    read, truth = read_risks(y_true, probabilities, positive)
    tables = dict(zip(read.names, read.tables, strict=True))
    if as_flag(strategies, "strategies"):
        tables |= {name: np.full(truth.size, 1.0 - i) for i, name in enumerate(STRATEGIES)}
    values = {}
    for name, p in tables.items():
        if low == high:
            treated = reached(p, np.array([low])) > 0
            values[name] = treated * np.where(truth, 1.0, -low / (1.0 - low))
            continue
        gain, loss = _areas(np.clip(p.astype(np.float64), low, high), low, high, threshold_density)
        values[name] = np.where(truth, gain, -loss)
        if not np.isfinite(values[name]).all():
            raise BadValueError(
                f"`threshold` must end below 1 for the probabilities of {visible(name)}: its "
                f"net benefit over ({low:g}, {high:g}) is infinite for item "
                f"{int(np.argmin(np.isfinite(values[name])))}"
            )
    if read.named or strategies:
        return values
    return values[read.names[0]] if read.single else np.array(list(values.values()))


def read_risks(
    y_true: object, probabilities: object, positive: Label, names: object = None
) -> tuple[Probabilities, Flags]:
    """Probabilities of the positive class by one or more models, and which items are positive."""
    read = read_probabilities(y_true, probabilities)
    read = replace(read, names=read_names(names, len(read.names), read.names))
    truth = mark_positives(read_true_labels(y_true), positive, None)
    for name, table in zip(read.names, read.tables, strict=True):
        if table.ndim > 1:
            raise BadValueError(
                f"`probabilities` of {visible(name)} have {table.shape[1]} columns",
                remedy=": pass those of the positive class alone, such as p[:, 1]",
            )
        check_range(table, name)
        if name in STRATEGIES:
            raise BadValueError(
                f"`probabilities`: {name!r} is the name of a strategy: rename the model"
            )
    return read, truth


def _read_range(threshold: object, density: object) -> tuple[float, float]:
    """The ends of a range of thresholds; both the same for a single one."""
    if not isinstance(threshold, tuple):
        t = as_proportion(threshold, "threshold")
        if density != "uniform":
            raise BadValueError(
                "`threshold_density=` goes with a range: pass threshold=(low, high)"
            )
        return t, t
    ends = as_numbers(threshold, "threshold", "numbers in (0, 1)").astype(np.float64)
    if ends.shape != (2,) or not 0.0 <= ends[0] < ends[1] <= 1.0:
        raise BadValueError(
            "`threshold` must be a number in (0, 1), or (low, high), ascending", repr(threshold)
        )
    return float(ends[0]), float(ends[1])


def reached(p: NDArray[Any], thresholds: Floats) -> NDArray[np.int16]:
    """How many ascending thresholds each probability reaches, shape (n,)."""
    limits = thresholds
    if p.dtype == np.float32:
        limits = np.minimum(thresholds, thresholds.astype(np.float32).astype(np.float64))
    n_reached = np.searchsorted(limits - _SAME, p.astype(np.float64), side="right")
    return n_reached.astype(np.int16)


def _areas(m: Floats, low: float, high: float, density: Any) -> tuple[Floats, Floats]:
    """Integrals from the low end to m of a density v(t), and of v(t) t / (1 - t)."""
    with np.errstate(divide="ignore"):
        if density == "uniform":
            odds = np.log1p(-low) - np.log1p(-m) - (m - low)
            return (m - low) / (high - low), odds / (high - low)
        if density == "brier":
            return (m - low) * (2.0 - m - low), m * m - low * low
        if density == "log_loss":
            return np.log(m / high), np.log1p(-low) - np.log1p(-m)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    gain, loss = np.empty_like(m), np.empty_like(m)
    for part in parts(m.size, 1 << 14):
        half = 0.5 * (m[part, np.newaxis] - low)
        t = low + half * (1.0 + nodes)
        v = as_numbers(density(t), "threshold_density", "a function that gives numbers")
        if v.shape not in ((), t.shape):
            raise BadValueError(f"`threshold_density` must give {t.shape} numbers", v.shape)
        gain[part] = (half * weights * v).sum(axis=1)
        loss[part] = (half * weights * v * t / (1.0 - t)).sum(axis=1)
    return gain, loss
