"""A metric bound to the classes of some data: values, influences, leaving one out."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.kernels.metric_jackknife import metric_errors
from fastcmp.metrics.registry import PROPORTIONS, Entry


class Proportions(NamedTuple):
    """A metric as sum of weights times proportions of counted samples, plus a constant."""

    successes: Floats
    trials: Floats
    weights: Floats = np.ones(1)
    constant: float = 0.0
    #: Whether F1 is meant where the proportions are Jaccard's.
    as_f1: bool = False
    #: Of an average, the classes of the proportions.
    classes: Ints | None = None
    #: Whether they are of different samples: recalls of classes, or precisions. Not where
    #: they are weighted by class, as these weights are estimates too.
    are_independent: bool = True
    #: Whether they are precisions, whose trials are predictions.
    are_precisions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimator(ABC):
    """A metric of confusion matrices of K classes, ``[true, predicted]``."""

    #: Such as "f1_macro".
    name: str
    #: Such as "macro F1".
    title: str
    n_classes: int
    #: What is known of the metric.
    entry: Entry

    @abstractmethod
    def values(self, tables: Floats) -> Floats:
        """The metric of many matrices, (B, K, K) -> (B,); NaN if undefined."""

    @abstractmethod
    def influences(self, tables: Floats) -> Floats:
        """How each cell moves the metric, (B, K, K) -> (B, K, K).

        Weighted by the counts they add up to 0; their mean square over n is the
        variance of the metric.
        """

    def leave_one_out(self, tables: Floats) -> Floats:
        """The metric without one sample of each cell, (B, K, K); NaN for empty cells."""
        out = np.full(tables.shape, np.nan)
        for i, t, y in np.argwhere(tables >= 1).tolist():
            less = tables[i].copy()
            less[t, y] -= 1
            out[i, t, y] = self.value(less)
        return out

    def value(self, table: Floats) -> float:
        """The metric of one matrix."""
        return float(self.values(table[np.newaxis])[0])

    def influence(self, table: Floats) -> Floats:
        """How each cell of one matrix moves the metric."""
        influence: Floats = self.influences(table[np.newaxis])[0]
        return influence

    def jackknife_influences(self, tables: Floats, weight: float = 1.0) -> Floats:
        """How each cell moves the metric, from the metric without a sample of it.

        ``(n - 1) (mean - without)``, (B, K, K): the sum of squares over samples, divided by
        n (n - 1), is the jackknife variance. NaN in cells without which the metric is not
        defined. `weight` is what a sample counts; cells that weigh less are 0.
        """
        # The metric does not change where all counts are divided by one number.
        scaled = tables / weight
        cells = scaled >= 1.0
        left = self.leave_one_out(scaled)
        left[~cells] = 0.0
        samples = np.where(cells, scaled, 0.0)
        with np.errstate(invalid="ignore"):  # a stratum without any of the samples
            middle = (samples * left).sum(axis=(1, 2)) / samples.sum(axis=(1, 2))
        n_left = scaled.sum(axis=(1, 2)) - 1.0
        apart = middle[:, np.newaxis, np.newaxis] - left
        return np.where(cells, n_left[:, np.newaxis, np.newaxis] * apart, 0.0)

    def standard_errors(self, tables: Floats, how: str) -> tuple[Floats, Flags]:
        """Standard errors by the jackknife or the delta method, and if samples move it, (B,)."""
        u = psi = self.influences(tables)
        n = freedom = tables.sum(axis=(1, 2))
        if how == "jackknife":
            u, freedom = self.jackknife_influences(tables), np.maximum(n - 1.0, 1.0)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt((tables * u * u).sum(axis=(1, 2)) / (n * freedom))
        return errors, ((psi != 0.0) & (tables > 0.0)).any(axis=(1, 2))

    def check(self, table: Floats) -> Estimator:  # noqa: ARG002
        """Refuse a function that is not a metric of this matrix."""
        return self

    def averaged(self, tables: Floats) -> Flags | None:  # noqa: ARG002
        """Which classes an average is over, (B, K, K) -> (B, K); None where there is none."""
        return None

    def without_samples(self, tables: Floats) -> Flags | None:  # noqa: ARG002
        """Which classes have a rate of 0/0, set by ``zero_division``, (B, K, K) -> (B, K)."""
        return None

    def proportions(self, tables: Floats) -> list[Proportions | None]:
        """The metric of each matrix as proportions of samples, where it is of that form."""
        return [None] * len(tables)

    @property
    def is_monotone(self) -> bool:
        """Whether it rises, or falls, with the samples of two classes predicted rightly."""
        return False

    @property
    def needs_two_classes(self) -> bool:
        """Whether it says nothing where the truth holds one class only."""
        return False

    def with_others(self) -> Estimator:
        """The metric with a last class for predictions outside the classes."""
        raise BadValueError(
            f"metric {self.name!r} has no place for predictions that are none of the "
            "classes: with it `missing='wrong'` counts none, and `classes=` must name all"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelEstimator(Estimator):
    """A metric of the registry."""

    spec: kernels.MetricSpec
    listed: NDArray[np.uint8]
    penalty: Floats

    def values(self, tables: Floats) -> Floats:
        """The metric of many matrices."""
        out = np.empty(len(tables))
        kernels.metric_values(tables, self.spec, self.listed, self.penalty, out)
        return out

    def influences(self, tables: Floats) -> Floats:
        """How each cell moves the metric."""
        out = np.empty(tables.shape)
        kernels.metric_influences(tables, self.spec, self.listed, self.penalty, out)
        return out

    def leave_one_out(self, tables: Floats) -> Floats:
        """The metric without one sample of each cell."""
        out = np.empty(tables.shape)
        for table, left in zip(tables, out, strict=True):
            kernels.metric_leave_one_out(table, self.spec, self.listed, self.penalty, left)
        return out

    def standard_errors(self, tables: Floats, how: str) -> tuple[Floats, Flags]:
        """Standard errors by the jackknife or the delta method, and if samples move it."""
        out, of = np.empty((len(tables), 2)), (self.spec, self.listed, self.penalty)
        metric_errors(tables, *of, how == "jackknife", out)
        return out[:, 0], out[:, 1] > 0.0

    @property
    def _is_of_classes(self) -> bool:
        return bool(self.entry.averages) or self.entry.average != kernels.ONE_CLASS

    def averaged(self, tables: Floats) -> Flags | None:
        """Which classes an average is over."""
        if not self._is_of_classes:
            return None
        counted = self.listed > 0
        if self.spec.average == kernels.ONE_CLASS:
            counted = np.arange(self.n_classes) == self.spec.label
        elif self.spec.labels != kernels.LISTED:
            seen = np.logical_or.reduce(tables, axis=2)
            if self.spec.labels == kernels.UNION:
                seen |= np.logical_or.reduce(tables, axis=1)
            return np.asarray(counted & seen)
        return counted[np.newaxis].repeat(len(tables), axis=0)

    def without_samples(self, tables: Floats) -> Flags | None:
        """Which classes have a rate of 0/0."""
        if self.spec.metric not in PROPORTIONS and self.spec.metric != kernels.FOWLKES_MALLOWS:
            return None
        counted = self.averaged(tables)
        if self.spec.average == kernels.MICRO:
            # One rate of all classes together.
            value, other = (
                replace(self, spec=self.spec._replace(zero_division=zero)).values(tables)
                for zero in (0.0, 1.0)
            )
            return np.asarray((value != other)[:, np.newaxis] & counted)
        rate, d, r, c, n = self._sums(tables)
        if self.spec.average == kernels.OF_MEANS or rate == kernels.FOWLKES_MALLOWS:
            return np.asarray(counted & ((r == 0) | (c == 0)))
        return np.asarray(counted & (PROPORTIONS[rate](d, r, c, n)[1] == 0))

    def _sums(self, tables: Floats) -> tuple[int, Floats, Floats, Floats, Floats]:
        """Which rate, and what it is of: d, r and c of the classes, (B, K), and n, (B, 1)."""
        d = tables.reshape(len(tables), -1)[:, :: self.n_classes + 1]
        r, c = np.add.reduce(tables, axis=2), np.add.reduce(tables, axis=1)
        return self.spec.metric, d, r, c, np.add.reduce(r, axis=1, keepdims=True)

    def proportions(self, tables: Floats) -> list[Proportions | None]:
        """A rate, or a mean of rates, as proportions."""
        spec, (rate, d, r, c, n) = self.spec, self._sums(tables)
        if rate == kernels.ACCURACY:
            return list(map(Proportions, d.sum(axis=1, keepdims=True), n))
        k, is_f1 = [spec.label], rate == kernels.F_BETA
        if rate == kernels.INFORMEDNESS and spec.average == kernels.ONE_CLASS:
            right = np.hstack([d[:, k], n - r[:, k] - c[:, k] + d[:, k]])
            return [
                Proportions(x, size, weights=np.ones(2), constant=-1.0) if size.min() > 0 else None
                for x, size in zip(right, np.hstack([r[:, k], n - r[:, k]]), strict=True)
            ]
        if (
            rate not in PROPORTIONS
            or spec.average > kernels.WEIGHTED
            or (is_f1 and spec.beta != 1.0)
        ):
            return [None] * len(tables)
        successes, trials = PROPORTIONS[rate](d, r, c, n)
        precisions = rate == kernels.PRECISION
        if spec.average == kernels.ONE_CLASS:
            rows = zip(successes[:, k], trials[:, k], strict=True)
            return [
                Proportions(x, size, as_f1=is_f1, are_precisions=precisions) if size > 0 else None
                for x, size in rows
            ]
        # Classes without samples add a constant.
        counted = self.averaged(tables)
        assert counted is not None
        has_trials = counted & (trials > 0)
        if np.isnan(spec.zero_division):
            counted = has_trials
        weights = counted * (r if spec.average == kernels.WEIGHTED else 1.0)
        zero = 0.0 if np.isnan(spec.zero_division) else spec.zero_division
        of_classes = rate in (kernels.RECALL, kernels.PRECISION)
        parts: list[Proportions | None] = []
        for x, size, weight, used in zip(successes, trials, weights, has_trials, strict=True):
            total = np.add.reduce(weight)
            if not total > 0:
                parts.append(None)
                continue
            share, (labels,) = weight / total, used.nonzero()
            apart = labels.size == 1 or (of_classes and spec.average != kernels.WEIGHTED)
            constant = float(share[~used].sum() * zero) if zero else 0.0
            of = x[labels], size[labels], share[labels], constant, is_f1, labels, apart, precisions
            parts.append(Proportions(*of))
        return parts

    @property
    def is_monotone(self) -> bool:
        """Whether it rises, or falls, with the samples of two classes predicted rightly."""
        # A rate of 1 for 0/0 is a jump.
        plain = self.n_classes == 2 and self.spec.zero_division == 0.0
        return plain and self.entry.is_monotone

    @property
    def needs_two_classes(self) -> bool:
        """Whether it says nothing where the truth holds one class only."""
        if self._is_of_classes:
            return self.spec.average not in (kernels.ONE_CLASS, kernels.MICRO)
        return self.spec.metric in (kernels.MCC, kernels.KAPPA, kernels.SCOTT_PI)

    def with_others(self) -> Estimator:
        """The metric with a last class for predictions outside the classes."""
        if not self.entry.takes_others or self.penalty.size:
            return Estimator.with_others(self)
        listed = np.append(self.listed, np.uint8(0))
        return replace(self, n_classes=self.n_classes + 1, listed=listed)


# Metrics made of other metrics, and those that a user wrote.


_STEP = 3e-3  # of a difference, of the samples of a cell
_COMPLEX = 1e-30  # step of a complex difference, of all samples
_AGREED = 1e-6
_N_CHECKS = 2
_ROUNDING = 1e-11


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdjustedForChance(Estimator):
    """Balanced accuracy on a scale where guessing has 0."""

    base: Estimator

    def values(self, tables: Floats) -> Floats:
        """The metric of many matrices."""
        return _adjusted(self.base.values(tables), _n_true(tables))

    def influences(self, tables: Floats) -> Floats:
        """How each cell moves the metric."""
        n_true = _n_true(tables)[:, np.newaxis, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = self.base.influences(tables) / (1 - 1 / n_true)
        return np.where(n_true > 1, scaled, np.nan)

    def leave_one_out(self, tables: Floats) -> Floats:
        """The metric without one sample of each cell."""
        sizes = tables.sum(axis=2)
        left = np.count_nonzero(sizes, axis=1)[:, np.newaxis] - (sizes == 1)
        return _adjusted(self.base.leave_one_out(tables), left[:, :, np.newaxis])

    def averaged(self, tables: Floats) -> Flags | None:
        """Which classes an average is over."""
        return self.base.averaged(tables)

    def without_samples(self, tables: Floats) -> Flags | None:
        """Which classes have a rate of 0/0."""
        return self.base.without_samples(tables)

    def proportions(self, tables: Floats) -> list[Proportions | None]:
        """The metric as proportions, as its base is."""
        parts: list[Proportions | None] = []
        for base, k in zip(self.base.proportions(tables), _n_true(tables).tolist(), strict=True):
            if base is None or k < 2:
                parts.append(None)
                continue
            span = 1.0 - 1.0 / k
            shift = (base.constant - 1.0 / k) / span
            parts.append(base._replace(weights=base.weights / span, constant=shift))
        return parts

    @property
    def is_monotone(self) -> bool:
        """Whether it rises, or falls, with the samples of two classes predicted rightly."""
        return self.base.is_monotone

    @property
    def needs_two_classes(self) -> bool:
        """Whether it says nothing where the truth holds one class only."""
        return True

    def with_others(self) -> Estimator:
        """The metric with a last class for predictions outside the classes."""
        base = self.base.with_others()
        return replace(self, n_classes=base.n_classes, base=base)


def _n_true(tables: Floats) -> Ints:
    """Number of classes of the truth."""
    return np.asarray(np.count_nonzero(tables.any(axis=2), axis=1))


def _adjusted(values: Floats, n_true: NDArray[Any]) -> Floats:
    """Values with guessing taken off; NaN for one class."""
    with np.errstate(divide="ignore", invalid="ignore"):
        adjusted: Floats = (values - 1 / n_true) / (1 - 1 / n_true)
    return np.where(np.asarray(n_true) > 1, adjusted, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AtPrevalence(Estimator):
    """A metric as it would be if the classes had other proportions."""

    base: Estimator
    #: Proportion of each class, shape (K,).
    prevalence: Floats

    def _scaled(self, tables: Floats) -> tuple[Floats, Floats, Flags]:
        """Tables at the prevalence, factors of samples, and where these are known."""
        rows = tables.sum(axis=2)
        expected = np.broadcast_to(self.prevalence, rows.shape)
        # A class that should occur and does not leaves the metric undefined.
        is_known = ((rows > 0) | (expected == 0)).all(axis=1) & (rows.sum(axis=1) > 0)
        factors = np.ones_like(rows)
        expected = expected * rows.sum(axis=1, keepdims=True)
        np.divide(expected, rows, out=factors, where=is_known[:, np.newaxis] & (rows > 0))
        factors = factors[:, :, np.newaxis]
        return np.ascontiguousarray(tables * factors), factors, is_known

    def values(self, tables: Floats) -> Floats:
        """The metric of many matrices."""
        scaled, _, is_known = self._scaled(tables)
        values = np.full(len(tables), np.nan)
        values[is_known] = self.base.values(scaled[is_known])
        return values

    def influences(self, tables: Floats) -> Floats:
        """How each cell moves the metric."""
        scaled, factors, is_known = self._scaled(tables)
        out = np.full(tables.shape, np.nan)
        inner = self.base.influences(scaled[is_known])
        sizes = scaled[is_known].sum(axis=2, keepdims=True)
        means = (scaled[is_known] * inner).sum(axis=2, keepdims=True)
        means = np.divide(means, sizes, out=np.zeros_like(means), where=sizes > 0)
        out[is_known] = factors[is_known] * (inner - means)
        return out

    def check(self, table: Floats) -> Estimator:
        """Refuse a function that is not one of the counts alone."""
        self.base.check(self._scaled(table[np.newaxis])[0][0])
        return self

    @property
    def needs_two_classes(self) -> bool:
        """Whether it says nothing where the truth holds one class only."""
        return True

    def averaged(self, tables: Floats) -> Flags | None:
        """Which classes an average is over."""
        return self.base.averaged(self._scaled(tables)[0])

    def without_samples(self, tables: Floats) -> Flags | None:
        """Which classes have a rate of 0/0."""
        return self.base.without_samples(self._scaled(tables)[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UserEstimator(Estimator):
    """A function of the confusion matrix that a user wrote."""

    function: Callable[[Floats], Any]

    def values(self, tables: Floats) -> Floats:
        """The metric of many matrices."""
        return np.array([self._call(table) for table in tables])

    def _call(self, table: Floats) -> float:
        """The value of the function; anything but a number is refused."""
        try:
            with np.errstate(all="ignore"):
                value = self.function(table)
        except ZeroDivisionError:
            return math.nan
        except Exception as error:
            raise BadValueError(
                f"metric {self.name!r} must take a confusion matrix, shape "
                f"({self.n_classes}, {self.n_classes}), true classes in rows; it raised "
                f"{type(error).__name__}: {error}"
            ) from error
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, (Real, np.bool_)):
            shape = f"shape {np.shape(value)}" if np.ndim(value) else repr(value)
            raise BadValueError(f"metric {self.name!r} must return one number", shape)
        return float(value)

    def check(self, table: Floats) -> Estimator:
        """Refuse a function that is not one of the counts alone."""
        copy = table.copy()
        first, second = self._call(copy), self._call(copy)
        if not np.array_equal(copy, table):
            raise BadValueError(f"metric {self.name!r} must leave the confusion matrix as it is")
        if first != second and not np.isnan(first):
            raise BadValueError(
                f"metric {self.name!r} must be a function of the counts alone, and gave "
                f"{first!r} and {second!r} for the same ones"
            )
        if np.isnan(first):
            raise BadValueError(f"metric {self.name!r} is NaN for the counts of the samples")
        return self

    def influences(self, tables: Floats) -> Floats:
        """How each cell moves the metric."""
        influences = [self._influence(table) for table in tables]
        return np.array(influences).reshape(tables.shape)

    def _influence(self, table: Floats) -> Floats:
        n = float(table.sum())
        for differentiate in (self._by_complex_steps, self._by_differences):
            slopes = differentiate(table)
            if slopes is not None and self._agree(table, slopes):
                return np.where(table > 0, slopes * n - (table * slopes).sum(), 0.0)
        return np.full(table.shape, np.nan)  # no derivative here

    def _by_complex_steps(self, table: Floats) -> Floats | None:
        """Derivatives without cancellation, if the function takes complex numbers, else None."""
        slopes, step = np.zeros(table.shape), _COMPLEX * float(table.sum())
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of parts that are thrown away
            for t, y in np.argwhere(table > 0).tolist():
                moved = table.astype(np.complex128)
                moved[t, y] += 1j * step
                try:
                    value = self.function(moved)  # type: ignore[arg-type]
                    slopes[t, y] = complex(value).imag / step
                except Exception:  # noqa: BLE001  # whatever the function makes of them
                    return None
        return slopes

    def _by_differences(self, table: Floats) -> Floats | None:
        slopes = np.zeros(table.shape)
        for t, y in np.argwhere(table > 0).tolist():
            direction = np.zeros(table.shape)
            direction[t, y] = table[t, y]
            slopes[t, y] = self._along(table, direction) / table[t, y]
        return slopes

    def _along(self, table: Floats, direction: Floats) -> float:
        """The derivative along a direction, by differences of the fourth order."""
        far, near = (
            self._call(table + step * direction) - self._call(table - step * direction)
            for step in (2.0 * _STEP, _STEP)
        )
        return (8.0 * near - far) / (12.0 * _STEP)

    def _agree(self, table: Floats, slopes: Floats) -> bool:
        """Check slopes along other directions: abs() and comparisons lose some."""
        random = np.random.default_rng(0)
        rounding = _ROUNDING * (1.0 + abs(self._call(table)))
        for _ in range(_N_CHECKS):
            direction = table * random.uniform(-1.0, 1.0, table.shape)
            parts = slopes * direction
            size = _AGREED * float(np.abs(parts).sum()) + rounding
            if not abs(self._along(table, direction) - parts.sum()) <= size:
                return False
        return True
