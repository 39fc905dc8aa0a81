"""Which metric: a name or a function, and its options, bound to the classes of data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.fields import brief, same
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.cost_matrix import read_cost
from fastcmp.metrics.derived import AdjustedForChance, AtPrevalence, UserEstimator
from fastcmp.metrics.estimators import Estimator, KernelEstimator
from fastcmp.metrics.options import LABELS
from fastcmp.metrics.penalties import penalties_of
from fastcmp.metrics.prevalences import read_prevalences
from fastcmp.metrics.registry import AVERAGES, METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: Fields that the name of a metric tells, unless they are None.
_IN_NAME = ("name", "average", "beta", "function")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """A metric with its options, as `make_metric` makes it."""

    #: Its name in the registry; that of the function for a user's own.
    name: str
    average: str | None = "binary"
    beta: float = 1.0
    positive: Any = None
    #: "union", "truth", or labels in their order.
    labels: Any = "union"
    zero_division: float = 0.0
    #: Costs; for kappa what each disagreement counts.
    cost: Any = None
    #: Proportions of the classes for which the metric is wanted.
    prevalence: Any = None
    function: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        told = [repr(self.full_name)]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _IN_NAME and value is not None:
                continue
            if value is not field.default and not same(value, field.default):
                told.append(f"{field.name}={brief(value)}")
        return f"Metric({', '.join(told)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return all(map(same, self._values(), other._values()))

    def __hash__(self) -> int:
        return hash((self.name, self.average, self.beta))

    def _values(self) -> list[Any]:
        """List what makes two metrics the same."""
        costs: Any = self.cost
        if costs is not None:
            read = read_cost(costs)
            costs = read.values, read.classes
        prevalences = self.prevalence
        if not isinstance(prevalences, (Mapping, type(None))):
            prevalences = np.asarray(prevalences, dtype=object)
        plain = (self.name, self.average, self.beta, self.positive, self.labels)
        return [*plain, self.zero_division, costs, prevalences, self.function]

    @property
    def full_name(self) -> str:
        """The name with the average and beta, such as "f1_macro"."""
        if self.function is not None:
            return self.name
        name = self.name
        if name == "fbeta":
            name = f"f{self.beta:g}"
        elif name == "f1_of_means":
            name = f"f{self.beta:g}_of_means"
        averages = METRICS[self.name].averages
        if averages and self.average not in ("binary", None):
            name += f"_{self.average}"
        return name

    @property
    def title(self) -> str:
        """The name as it is shown, such as "macro F1"."""
        if self.function is not None:
            return self.name
        title = METRICS[self.name].title
        if self.name in ("fbeta", "f1_of_means"):
            title = title.replace("F-beta", "F1").replace("F1", f"F{self.beta:g}")
        if self.name == "kappa" and self.cost is not None:
            title = "weighted kappa"
        if METRICS[self.name].averages and self.average not in ("binary", None):
            title = f"{self.average} {title}"
        return title

    @property
    def lower_is_better(self) -> bool:
        """Whether less of it is better."""
        return self.function is None and METRICS[self.name].lower_is_better

    def classes_of(self, found: Sequence[Any]) -> tuple[Any, ...]:
        """List the classes to count: those that are listed first, in their order.

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
            one, given = len(found) == 1, self.positive is not None
            if one and given and self.positive not in found and self.average == "binary":
                return (*found, self.positive)
            return tuple(found)
        listed = dict.fromkeys(self.labels)
        if listed.keys().isdisjoint(found):
            raise ValueError(
                f"labels must hold classes of the data, {list(found)[:10]}, got {list(listed)[:10]}"
            )
        return (*listed, *(label for label in found if label not in listed))

    def bind(self, classes: Sequence[Any]) -> list[Estimator]:
        """Bind to the classes of some data.

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
        k = len(classes)
        found: list[Estimator]
        if self.function is not None:
            made = UserEstimator(
                name=self.name, title=self.title, n_classes=k, function=self.function
            )
            found = [made]
        elif METRICS[self.name].averages and self.average is None:
            found = [
                self._bound(classes, label, f"[{classes[label]}]")
                for label in range(self._n_listed(k))
            ]
        else:
            found = [self._bound(classes, self._positive(classes), "")]
        if self.prevalence is not None:
            prevalences = read_prevalences(self.prevalence, classes, self.positive)
            found = [_at(each, prevalences) for each in found]
        return found

    def _n_listed(self, k: int) -> int:
        return k if isinstance(self.labels, str) else len(self.labels)

    def _positive(self, classes: Sequence[Any]) -> int:
        """Find the positive class, where one is needed."""
        if not METRICS[self.name].averages or self.average != "binary":
            return 0
        if len(classes) > 2:
            message = (
                f"metric {self.full_name!r} with average='binary' needs two classes, "
                f"got {len(classes)}: pass average='macro', 'micro', 'weighted' or None"
            )
            if set(METRICS[self.name].averages) == {"binary"}:
                message = (
                    f"metric {self.full_name!r} needs two classes, got {len(classes)}: "
                    "pass average=None for each class against the others"
                )
            raise ValueError(message)
        how = "positive= (or to make_metric)"  # which functions take that have no positive=
        label, _ = positive_label(list(classes), self.positive, how=how)
        if label is None or label not in classes:
            raise ValueError(
                f"the positive class does not occur among {list(classes)}: pass "
                "positive=, and labels= with both classes"
            )
        return list(classes).index(label)

    def _bound(self, classes: Sequence[Any], label: int, suffix: str) -> Estimator:
        entry, k = METRICS[self.name], len(classes)
        average = AVERAGES["binary" if self.average is None else self.average]
        rule = kernels.LISTED
        if isinstance(self.labels, str):
            rule = LABELS[self.labels]
        if self.name in ("balanced_accuracy", "adjusted_balanced_accuracy"):
            average, rule = kernels.MACRO, rule or kernels.TRUTH
        elif self.name == "gmean":
            average = kernels.GEOMETRIC
        elif self.name == "f1_of_means":
            average = kernels.OF_MEANS
        listed = np.zeros(k, np.uint8)
        listed[: self._n_listed(k)] = 1
        spec = kernels.MetricSpec(
            entry.code,
            average if entry.code < kernels.ACCURACY else kernels.ONE_CLASS,
            label,
            self.beta,
            self.zero_division,
            rule,
        )
        made = KernelEstimator(
            name=self.full_name + suffix,
            title=self.title + suffix,
            n_classes=k,
            limits=entry.limits,
            scale=entry.scale,
            lower_is_better=entry.lower_is_better,
            spec=spec,
            listed=listed,
            penalty=self._penalty(classes),
        )
        if self.name != "adjusted_balanced_accuracy":
            return made
        return AdjustedForChance(
            name=made.name,
            title=made.title,
            n_classes=k,
            limits=entry.limits,
            scale=entry.scale,
            base=made,
        )

    def _penalty(self, classes: Sequence[Any]) -> NDArray[np.float64]:
        """Tell what each disagreement counts; empty where all count alike."""
        if METRICS[self.name].code >= kernels.ACCURACY:
            self._refuse_others(classes)
        return penalties_of(self.name, self.cost, classes)

    def _refuse_others(self, classes: Sequence[Any]) -> None:
        others = list(classes)[self._n_listed(len(classes)) :]
        if others:
            raise ValueError(
                f"labels= must list all classes for {self.full_name!r}, which is of "
                f"all at once; {others[:5]} also occur"
            )


def _at(base: Estimator, prevalences: NDArray[np.float64]) -> Estimator:
    return AtPrevalence(
        name=base.name,
        title=f"{base.title} at the given prevalence",
        n_classes=base.n_classes,
        limits=base.limits,
        scale=base.scale,
        lower_is_better=base.lower_is_better,
        base=base,
        prevalence=prevalences,
    )
