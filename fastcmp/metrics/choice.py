"""Which metric: a name or a function with options, bound to the classes of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import as_finite, as_number, as_numbers, as_proportion, check_size, choose
from fastcmp.core.errors import ArgumentError, BadTypeError, BadValueError
from fastcmp.core.records import brief, same
from fastcmp.core.typing import ColumnLike, Floats, Label
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.columns import is_missing
from fastcmp.inputs.cost_matrix import read_cost
from fastcmp.metrics.cells import Cells, Counted
from fastcmp.metrics.estimators import (
    AdjustedForChance,
    AtPrevalence,
    Estimator,
    KernelEstimator,
    UserEstimator,
)
from fastcmp.metrics.registry import AVERAGES, METRICS, Entry, parse_name, plain_name

#: Which classes an average is over, with the code that kernels take.
LABELS = {"union": kernels.UNION, "truth": kernels.TRUTH}


def read_labels(labels: object) -> Any:
    """Check which classes an average is over."""
    if isinstance(labels, str):
        return choose(labels, "labels", tuple(LABELS))
    if labels is None:
        return "union"
    try:
        raw = np.asarray(labels, dtype=object)
        listed = tuple(raw.tolist()) if raw.ndim == 1 else None
        repeated = listed is not None and len(set(listed)) < len(listed)
        if listed is not None and any(map(is_missing, listed)):
            repeated = True  # a missing label
    except (TypeError, ValueError):
        listed = None
    if listed is None:  # a set has no order, and the order counts
        raise BadTypeError("`labels` must be 'union', 'truth' or a sequence", repr(labels))
    if repeated or not listed:
        raise BadValueError("`labels` must list different classes, none missing", repr(labels))
    return listed


def read_zero_division(value: object) -> float:
    """Check what a rate without samples is."""
    if isinstance(value, str) and value.lower() in ("warn", "nan"):
        return 0.0 if value.lower() == "warn" else math.nan
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        number = float(value)
        if number in (0.0, 1.0) or math.isnan(number):
            return number
    raise BadValueError("`zero_division` must be 0, 1 or nan", repr(value))


def read_beta(name: str, beta: object) -> float:
    """Check what recall counts beside precision."""
    if beta is None:
        if name == "fbeta":
            raise BadValueError("metric 'fbeta' needs a beta: name it, such as f2 or f0.5")
        return 1.0
    if name not in ("fbeta", "f1_of_means") and as_number(beta, "beta") != 1:
        raise BadValueError("`beta` is for metric 'fbeta'", repr(name))
    return as_finite(beta, "beta", above=0.0)


#: Fields that the name of a metric tells, unless they are None.
_IN_NAME = ("name", "average", "beta", "function")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """A metric with its options, as `make_metric` makes it."""

    #: Its name in the registry; that of the function for a user's own.
    name: str
    average: str | None = "binary"
    beta: float = 1.0
    positive: Label = None
    #: "union", "truth", or labels in their order.
    labels: Any = "union"
    zero_division: float = 0.0
    #: Costs; for kappa what each disagreement counts.
    cost: ColumnLike | Mapping[Any, Any] | None = None
    #: Proportions of the classes for which the metric is wanted.
    prevalence: Any = None
    function: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        texts = [repr(self.full_name)]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _IN_NAME and value is not None:
                continue
            if value is not field.default and not same(value, field.default):
                texts.append(f"{field.name}={brief(value)}")
        return f"Metric({', '.join(texts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return all(map(same, self._values(), other._values()))

    def __hash__(self) -> int:
        return hash((self.name, self.average, self.beta))

    def _values(self) -> list[Any]:
        """The values that make two metrics the same."""
        costs = self.cost
        if costs is not None:
            read = read_cost(costs)
            costs = read.values, read.classes
        prevalences = self.prevalence
        if not isinstance(prevalences, (Mapping, type(None))):
            prevalences = np.asarray(prevalences, dtype=object)
        plain = (self.name, self.average, self.beta, self.positive, self.labels)
        return [*plain, self.zero_division, costs, prevalences, self.function]

    @property
    def entry(self) -> Entry:
        """What is known of the metric."""
        return METRICS[self.name] if self.function is None else Entry(self.name)

    @property
    def is_rate(self) -> bool:
        """Whether it is a rate of each class, which averages may be taken of."""
        return bool(self.entry.averages)

    @property
    def full_name(self) -> str:
        """The name with the average and beta, such as "f1_macro"."""
        name = self.name
        if self.function is None and name in ("fbeta", "f1_of_means"):
            name = f"f{self.beta:g}" + name.removeprefix("fbeta").removeprefix("f1")
        if self.is_rate and self.average not in ("binary", None):
            name += f"_{self.average}"
        return name

    @property
    def title(self) -> str:
        """The name as it is shown, such as "macro F1"."""
        title = self.entry.title
        if self.function is not None:
            return title
        if self.name in ("fbeta", "f1_of_means"):
            title = title.replace("F-beta", "F1").replace("F1", f"F{self.beta:g}")
        if self.name == "kappa" and self.cost is not None:
            title = "weighted kappa"
        if self.is_rate and self.average not in ("binary", None):
            title = f"{self.average} {title}"
        return title

    @property
    def lower_is_better(self) -> bool:
        """Whether less of it is better."""
        return self.entry.lower_is_better

    def classes_of(self, found: Sequence[Any]) -> tuple[Any, ...]:
        """The classes to count: those that are listed first, in their order.

        Parameters
        ----------
        found : sequence
            The classes that occur.

        Returns
        -------
        tuple
            Those of `labels`, then the others; the positive class also where all samples
            are, and are said to be, of the other one.
        """
        if isinstance(self.labels, str):
            one, has_positive = len(found) == 1, self.positive is not None
            if one and has_positive and self.positive not in found and self.average == "binary":
                return (*found, self.positive)
            return tuple(found)
        listed = dict.fromkeys(self.labels)
        if listed.keys().isdisjoint(found):
            raise BadValueError(
                f"`labels` must hold classes of the data, {list(found)[:10]}", list(listed)[:10]
            )
        return (*listed, *(label for label in found if label not in listed))

    def bind(self, classes: Sequence[Any]) -> list[Estimator]:
        """The estimators of the metric for the classes of some data.

        Parameters
        ----------
        classes : sequence
            In the order of `classes_of`.

        Returns
        -------
        list of Estimator
            One; of ``average=None`` one for each class.

        Raises
        ------
        ValueError
            If the metric does not fit the classes.
        """
        estimators: list[Estimator]
        if self.function is not None:
            shared: dict[str, Any] = {"name": self.name, "title": self.title, "entry": self.entry}
            estimators = [UserEstimator(**shared, n_classes=len(classes), function=self.function)]
        elif self.is_rate and self.average is None:
            estimators = [
                self._of_kernel(classes, label, f"[{classes[label]}]")
                for label in range(self._n_listed(classes))
            ]
        else:
            estimators = [self._of_kernel(classes, self._positive(classes), "")]
            if self.name == "adjusted_balanced_accuracy":
                estimators = [AdjustedForChance(**_shared(estimators[0]))]
        if self.prevalence is None:
            return estimators
        prevalence = read_prevalences(self.prevalence, classes, self.positive)
        return [
            AtPrevalence(
                **_shared(base) | {"title": f"{base.title} at the given prevalence"},
                prevalence=prevalence,
            )
            for base in estimators
        ]

    def _n_listed(self, classes: Sequence[Any]) -> int:
        return len(classes) if isinstance(self.labels, str) else len(self.labels)

    def _positive(self, classes: Sequence[Any]) -> int:
        """The position of the positive class, where one is needed."""
        if not self.is_rate or self.average != "binary":
            return 0
        if len(classes) > 2:
            demand = f"metric {self.full_name!r} with `average='binary'` needs two classes"
            remedy = ": pass `average='macro'`, `average='micro'` or `average='weighted'`"
            per_class = " ``(or average=None, for each class)``"
            if set(self.entry.averages) == {"binary"}:
                demand = f"metric {self.full_name!r} needs two classes"
                remedy, per_class = ": pass average=None for each class against the others", ""
            raise BadValueError(demand, len(classes), remedy + per_class)
        how = "`positive=` ``(or metric=make_metric, with it)``"
        label, _ = positive_label(list(classes), self.positive, how=how)
        if label is None or label not in classes:
            raise BadValueError(
                f"the positive class does not occur among {list(classes)}",
                remedy=": pass `positive=`, and `labels=` with both classes",
            )
        return list(classes).index(label)

    def _of_kernel(self, classes: Sequence[Any], label: int, suffix: str) -> Estimator:
        """The estimator of a metric of the registry, of one class that of `label`."""
        entry, n_listed = self.entry, self._n_listed(classes)
        average = entry.average
        if self.is_rate:
            average = AVERAGES["binary" if self.average is None else self.average]
        rule = LABELS[self.labels] if isinstance(self.labels, str) else kernels.LISTED
        if self.name in ("balanced_accuracy", "adjusted_balanced_accuracy"):
            rule = rule or kernels.TRUTH
        others = list(classes)[n_listed:]
        if others and not self.is_rate and average == kernels.ONE_CLASS:
            raise BadValueError(
                f"`labels=` must list all classes for {self.full_name!r}, which is of all at "
                f"once; {others[:5]} also occur"
            )
        listed = np.zeros(len(classes), np.uint8)
        listed[:n_listed] = 1
        return KernelEstimator(
            name=self.full_name + suffix,
            title=self.title + suffix,
            n_classes=len(classes),
            entry=entry,
            spec=kernels.MetricSpec(
                entry.code, average, label, self.beta, self.zero_division, rule
            ),
            listed=listed,
            penalty=penalties_of(self.name, self.cost, classes),
        )


def _shared(base: Estimator) -> dict[str, Any]:
    """What a metric that is made of another one shares with it."""
    names = ("name", "title", "n_classes", "entry")
    return {name: getattr(base, name) for name in names} | {"base": base}


class Bound(NamedTuple):
    """Metrics that are bound to the same classes, and the cells of the samples."""

    classes: tuple[Any, ...]
    cells: Cells
    estimators: list[Estimator]


def bind(counted: Counted, metric: Metric) -> Bound:
    """A metric with the classes and cells of samples that were counted.

    It is averaged over classes without any weight too, as by scikit-learn.
    """
    if isinstance(metric.labels, str) and metric.average in ("macro", "weighted"):
        of_truth = metric.labels == "truth"
        if weightless := counted.weightless[of_truth]:
            sizes = counted.cells.table().sum(axis=1)
            pairs = zip(counted.classes, sizes, strict=True)
            present = [label for label, size in pairs if size > 0 or not of_truth]
            metric = replace(metric, labels=tuple(dict.fromkeys((*present, *weightless))))
    classes = metric.classes_of(counted.classes)
    return Bound(classes, counted.cells_of(classes), metric.bind(classes))


#: A metric's name, a function of the confusion matrix, or what `make_metric` made.
MetricLike: TypeAlias = str | Callable[[Any], Any] | Metric


def make_metric(
    metric: MetricLike,
    *,
    average: str | None = "binary",
    beta: float | None = None,
    positive: Label = None,
    labels: str | Sequence[Any] = "union",
    zero_division: float = 0.0,
    cost: ColumnLike | Mapping[Any, Any] | None = None,
    weights: str | ArrayLike | None = None,
    prevalence: ArrayLike | Mapping[Any, float] | None = None,
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
    raw_options = {
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
        _refuse_options(raw_options)
        return metric
    options: dict[str, Any] = {
        "positive": positive,
        "labels": read_labels(labels),
        "zero_division": read_zero_division(zero_division),
        "prevalence": check_prevalence(prevalence),
    }
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        _refuse_options({**raw_options, "labels": "union", "prevalence": None}, "a function")
        return Metric(name=name.strip("<>"), function=metric, **options)
    if not isinstance(metric, str):
        raise BadTypeError("`metric` must be a name or a function", repr(metric))
    name, average, beta = parse_name(metric, average, beta)
    beta = read_beta(name, beta)
    name, options["cost"] = choose_penalties(name, plain_name(metric), cost, weights)
    return Metric(name=name, average=average, beta=beta, **options)


_DEFAULTS = {"average": "binary", "labels": "union", "zero_division": 0.0}


def _refuse_options(options: dict[str, Any], what: str = "a Metric") -> None:
    """Refuse options that would be ignored."""
    for name, value in options.items():
        default = _DEFAULTS.get(name)
        if value is not default and not (isinstance(value, (str, float, int)) and value == default):
            raise BadValueError(
                f"`{name}=` is for metrics by name; metric is {what}",
                remedy=f": leave `{name}=` out",
            )


def read_metrics(  # what is measured, and its options
    metric: Any,
    average: str | None,
    beta: float | None,
    positive: Label,
    labels: object,
    zero_division: float,
) -> list[Metric]:
    """The metrics that a user means; of several an average is for those that take one."""
    options: dict[str, Any] = {
        "positive": positive,
        "labels": labels,
        "zero_division": zero_division,
    }
    if not isinstance(metric, (list, tuple)):
        return [make_metric(metric, average=average, beta=beta, **options)]
    check_size(len(metric), "metric", "metric", 1, "name")
    metrics = []
    for one_metric in metric:
        if isinstance(one_metric, Metric) or callable(one_metric):
            metrics.append(make_metric(one_metric))
            continue
        plain = make_metric(one_metric, **options)
        takes = plain.is_rate and plain.average == "binary"
        metrics.append(make_metric(one_metric, average=average, **options) if takes else plain)
    return metrics


# Proportions of classes that a user names.


def check_prevalence(raw: object) -> Any:
    """Check what can be checked before the classes are known."""
    if isinstance(raw, Real):
        return as_proportion(raw, "prevalence")
    if raw is not None and not isinstance(raw, Mapping):
        as_numbers(raw, "prevalence")
    return raw


def read_prevalences(raw: object, classes: Sequence[Any], positive: Label = None) -> Floats:
    """The proportion of each class; of two perhaps that of the positive one alone."""
    k = len(classes)
    if isinstance(raw, Real):
        proportion = as_proportion(raw, "prevalence")
        if k != 2:
            raise BadValueError(f"`prevalence` must name {k} proportions, one a class", raw)
        label, _ = positive_label(list(classes), positive)
        proportions = np.full(2, 1.0 - proportion)
        proportions[list(classes).index(label)] = proportion
        return proportions
    if isinstance(raw, Mapping):
        if unknown := [label for label in raw if label not in classes]:
            raise BadValueError(f"`prevalence` names {unknown[:5]}, not among {list(classes)[:10]}")
        raw = [raw.get(label, 0.0) for label in classes]
    proportions = as_numbers(raw, "prevalence").astype(np.float64)
    if proportions.shape != (k,):
        raise BadValueError(f"`prevalence` must have shape ({k},)", proportions.shape)
    if not (np.isfinite(proportions) & (proportions >= 0)).all() or not (
        abs(proportions.sum() - 1.0) <= 1e-9
    ):
        raise BadValueError("`prevalence` must be proportions that add up to 1", repr(raw))
    return proportions


# What disagreements count: costs, and the weights of kappa.


_POWERS = {"kappa_linear": 1.0, "kappa_quadratic": 2.0}


def choose_penalties(name: str, spelled: str, cost: object, weights: object) -> tuple[str, Any]:
    """Check costs, or the weights of kappa; give the metric's name, and a matrix."""
    if weights is not None and name != "kappa":
        raise BadValueError("`weights` are for metric 'kappa'", repr(name))
    if cost is not None and name != "cost":
        raise BadValueError("`cost` is for metric 'cost'", repr(name))
    if spelled == "weighted_kappa" and weights is None:
        raise BadValueError(
            "metric 'weighted_kappa' needs weights: take kappa_linear or kappa_quadratic"
        )
    if name == "cost" and cost is None:
        raise BadValueError("metric 'cost' needs `cost=`, the matrix of costs")
    if isinstance(weights, str):
        return f"kappa_{choose(weights, 'weights', ('linear', 'quadratic'))}", None
    matrix = cost if weights is None else weights
    if matrix is not None:
        with _naming(name):
            read = read_cost(matrix)
        if read.classes is None:
            matrix = read.values  # a copy
    return name, matrix


def penalties_of(name: str, matrix: object, classes: Sequence[Any]) -> Floats:
    """The penalty of each disagreement, (K, K); empty where all count alike."""
    if name in _POWERS:
        places = np.arange(float(len(classes)))
        apart = np.abs(np.subtract.outer(places, places))
        return np.asarray(apart ** _POWERS[name])
    if matrix is None:
        return np.empty((0, 0))
    with _naming(name):
        return read_cost(matrix, classes).values


@contextmanager
def _naming(name: str) -> Generator[None, None, None]:
    """Lets errors about costs speak of the weights of kappa."""
    try:
        yield
    except ArgumentError as error:
        if name == "cost":
            raise
        note = " (weights say what a disagreement counts, and are 0 on the diagonal)"
        raise error.renamed("cost", "`weights`", remedy=error.args[2] + note) from None
