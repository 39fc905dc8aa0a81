"""A metric bound to the classes of some data: values, influences, leaving one out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fastcmp import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

_CHUNK = 1 << 20  # cells of tables whose influences are worked out together
_NONE = np.empty((0, 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimator(ABC):
    """A metric of confusion matrices of K classes, ``[true, predicted]``."""

    #: Such as "f1_macro".
    name: str
    #: Such as "macro F1".
    title: str
    n_classes: int
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: "logit", "atanh", "log" or "identity": where an interval is symmetric.
    scale: str = "identity"
    lower_is_better: bool = False

    @abstractmethod
    def values(self, tables: Floats) -> Floats:
        """Compute the metric of many matrices, (B, K, K) -> (B,); NaN if undefined."""

    @abstractmethod
    def influences(self, tables: Floats) -> Floats:
        """Compute how each cell moves the metric, (B, K, K) -> (B, K, K).

        Weighted by the counts they add up to 0; their mean square over n is the
        variance of the metric.
        """

    @abstractmethod
    def leave_one_out(self, table: Floats) -> Floats:
        """Compute the metric without one sample of each cell; NaN for empty cells."""

    def value(self, table: Floats) -> float:
        """Compute the metric of one matrix."""
        return float(self.values(table[np.newaxis])[0])

    def influence(self, table: Floats) -> Floats:
        """Compute how each cell of one matrix moves the metric."""
        influence: Floats = self.influences(table[np.newaxis])[0]
        return influence

    def standard_errors(self, tables: Floats) -> Floats:
        """Compute the standard errors of the delta method, (B, K, K) -> (B,)."""
        errors = np.empty(len(tables))
        step = max(1, _CHUNK // self.n_classes**2)
        for start in range(0, len(tables), step):
            some = tables[start : start + step]
            squares = (some * self.influences(some) ** 2).sum(axis=(1, 2))
            errors[start : start + step] = np.sqrt(squares) / some.sum(axis=(1, 2))
        return errors

    def check(self, table: Floats) -> Estimator:  # noqa: ARG002
        """Refuse what is no metric of this matrix; only users' functions may be."""
        return self

    def averaged(self, table: Floats) -> Flags | None:  # noqa: ARG002
        """Mark the classes that an average is over; None where there is none."""
        return None

    def without_samples(self, table: Floats) -> Flags | None:  # noqa: ARG002
        """Mark the classes whose rate is 0/0, and set by ``zero_division``."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelEstimator(Estimator):
    """A metric of the registry."""

    spec: kernels.MetricSpec
    listed: NDArray[np.uint8]
    penalty: Floats

    def values(self, tables: Floats) -> Floats:
        """Compute the metric of many matrices."""
        out = np.empty(len(tables))
        kernels.metric_values(tables, self.spec, self.listed, self.penalty, out)
        return out

    def influences(self, tables: Floats) -> Floats:
        """Compute how each cell moves the metric."""
        out = np.empty(tables.shape)
        kernels.metric_influences(tables, self.spec, self.listed, self.penalty, out)
        return out

    def leave_one_out(self, table: Floats) -> Floats:
        """Compute the metric without one sample of each cell."""
        out = np.empty(table.shape)
        kernels.metric_leave_one_out(table, self.spec, self.listed, self.penalty, out)
        return out

    def averaged(self, table: Floats) -> Flags | None:
        """Mark the classes that an average is over."""
        if self.spec.metric >= kernels.ACCURACY:
            return None
        r, c = table.sum(axis=1), table.sum(axis=0)
        if self.spec.average == kernels.ONE_CLASS:
            return np.asarray(np.arange(self.n_classes) == self.spec.label)
        if self.spec.labels == kernels.LISTED:
            return np.asarray(self.listed > 0)
        called = (self.spec.labels == kernels.UNION) & (c > 0)
        return np.asarray((self.listed > 0) & ((r > 0) | called))

    def without_samples(self, table: Floats) -> Flags | None:
        """Mark the classes whose rate is 0/0."""
        if self.spec.metric > kernels.FOWLKES_MALLOWS:
            return None
        counted = self.averaged(table)
        if self.spec.average == kernels.MICRO:
            # One rate of all classes together.
            value, other = (
                replace(self, spec=self.spec._replace(zero_division=zero)).value(table)
                for zero in (0.0, 1.0)
            )
            return np.full(self.n_classes, value != other) & counted
        r, c, n = table.sum(axis=1), table.sum(axis=0), table.sum()
        below = {
            kernels.RECALL: r,
            kernels.PRECISION: c,
            kernels.SPECIFICITY: n - r,
            kernels.NPV: n - c,
            kernels.FOWLKES_MALLOWS: r * c,
        }
        if self.spec.average == kernels.OF_MEANS:
            return np.asarray(counted & ((r == 0) | (c == 0)))
        return np.asarray(counted & (below.get(self.spec.metric, r + c) == 0))
