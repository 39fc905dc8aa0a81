"""Metrics as users name them: a name or a function, and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.metrics.choice import Metric
from fastcmp.metrics.options import (
    parse_name,
    plain_name,
    read_beta,
    read_labels,
    read_zero_division,
)
from fastcmp.metrics.penalties import choose_penalties
from fastcmp.metrics.prevalences import check_prevalence
from fastcmp.metrics.registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: Fields that the name of a metric tells, unless they are None.


def make_metric(
    metric: str | Callable[[Any], Any] | Metric,
    *,
    average: str | None = "binary",
    beta: float | None = None,
    positive: Any = None,
    labels: str | Sequence[Any] = "union",
    zero_division: float = 0.0,
    cost: Any = None,
    weights: Any = None,
    prevalence: Any = None,
) -> Metric:
    """Choose a metric of confusion counts, with its options.

    Parameters
    ----------
    metric : str or callable
        Name of a metric, perhaps with an average: "f1", "f1_macro", "f2_weighted",
        "balanced_accuracy", "mcc", "kappa_quadratic", ...; an unknown name lists the
        known. Or a function of the confusion matrix (true classes in rows, float64,
        shape (K, K)) that returns a number, plain or compiled by numba.
    average : {"binary", "micro", "macro", "weighted"} or None
        How rates of several classes become one, as in scikit-learn; None for each
        class alone.
    beta : float, optional
        For "fbeta": what recall counts beside precision.
    positive : label, optional
        The positive class of two; of numbers or booleans the larger one by default.
    labels : {"union", "truth"} or sequence
        Classes that an average is over: those of the truth and of the model's own
        predictions, as in scikit-learn; those of the truth; or these. A sequence is
        also the order of the classes, in which weighted kappa counts distances; without
        one it is that of all classes of the truth and of all models that are compared.
    zero_division : {0, 1, nan}
        A rate without samples, such as the precision where nothing is predicted; NaN
        leaves it out of averages.
    cost : array-like of shape (K, K), mapping or frame, optional
        For "cost": what it costs to predict p where t is true, as in `cost_test`.
    weights : {"linear", "quadratic"} or array-like of shape (K, K), optional
        For "kappa": what a disagreement counts.
    prevalence : float, mapping or sequence, optional
        Proportions of the classes for which the metric is wanted; of two classes that
        of the positive one.

    Returns
    -------
    Metric
        What ``metric=`` of other functions takes.

    Raises
    ------
    ValueError
        If the name or an option is unknown, or one does not fit the metric.
    TypeError
        If `metric` is neither a name nor a function.

    Examples
    --------
    >>> from fastcmp import make_metric
    >>> make_metric("f1", average="macro").full_name
    'f1_macro'
    >>> make_metric("fbeta", beta=2, labels=["cat", "dog"], average="micro").title
    'micro F2'
    """
    given = {
        "average": average,
        "beta": beta,
        "positive": positive,
        "labels": labels,
        "zero_division": zero_division,
        "cost": cost,
        "weights": weights,
        "prevalence": prevalence,
    }
    if isinstance(metric, Metric):
        _refuse_options(given)
        return metric
    options: dict[str, Any] = {
        "positive": positive,
        "labels": read_labels(labels),
        "zero_division": read_zero_division(zero_division),
        "prevalence": check_prevalence(prevalence),
    }
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        own = Metric(name=name.strip("<>"), function=metric, **options)
        _refuse_options({**given, "labels": "union", "prevalence": None}, "a function")
        return own
    if not isinstance(metric, str):
        raise TypeError(f"metric must be a name or a function, got {metric!r}")
    name, average, beta = parse_name(metric, average, beta)
    beta = read_beta(name, beta)
    name, options["cost"] = choose_penalties(name, plain_name(metric), cost, weights)
    return Metric(name=name, average=average, beta=beta, **options)


_DEFAULTS = {"average": "binary", "labels": "union", "zero_division": 0.0}


def _refuse_options(given: dict[str, Any], what: str = "a Metric") -> None:
    """Refuse options that would be ignored."""
    for name, value in given.items():
        default = _DEFAULTS.get(name)
        if value is not default and not (isinstance(value, (str, float, int)) and value == default):
            raise ValueError(f"{name}= is for metrics by name; metric is {what}: leave {name}= out")


def read_metrics(  # what is measured, and its options
    metric: Any,
    average: str | None,
    beta: float | None,
    positive: Any,
    labels: Any,
    zero_division: float,
) -> list[Metric]:
    """Read one metric or several; of several an average is for those that take one."""
    options: dict[str, Any] = {
        "positive": positive,
        "labels": labels,
        "zero_division": zero_division,
    }
    if not isinstance(metric, (list, tuple)):
        return [make_metric(metric, average=average, beta=beta, **options)]
    if not metric:
        raise ValueError("metric must name at least one metric, got none")
    made = []
    for each in metric:
        if isinstance(each, Metric) or callable(each):
            made.append(make_metric(each))
            continue
        plain = make_metric(each, **options)
        takes = METRICS[plain.name].averages and plain.average == "binary"
        made.append(make_metric(each, average=average, **options) if takes else plain)
    return made
