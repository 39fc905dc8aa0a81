"""Metrics made of other metrics, and those that a user wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.metrics.estimators import Estimator, KernelEstimator

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

_STEP = 6e-6  # of a central difference, of all samples: the cube root of 2**-53
_COMPLEX = 1e-30  # step of a complex difference, of all samples
_AGREED = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdjustedForChance(Estimator):
    """Balanced accuracy on a scale where guessing has 0."""

    base: Estimator

    def values(self, tables: Floats) -> Floats:
        """Compute the metric of many matrices."""
        return _adjusted(self.base.values(tables), _n_true(tables))

    def influences(self, tables: Floats) -> Floats:
        """Compute how each cell moves the metric."""
        n_true = _n_true(tables)[:, np.newaxis, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.base.influences(tables) / (1 - 1 / n_true)

    def leave_one_out(self, table: Floats) -> Floats:
        """Compute the metric without one sample of each cell."""
        sizes = table.sum(axis=1)
        left = np.count_nonzero(sizes) - (sizes == 1)
        return _adjusted(self.base.leave_one_out(table), left[:, np.newaxis])

    def averaged(self, table: Floats) -> Flags | None:
        """Mark the classes that an average is over."""
        return self.base.averaged(table)


#: Rates and agreements that know predictions of none of the classes.
_WITH_OTHERS = (
    *(kernels.RECALL, kernels.PRECISION, kernels.F_BETA, kernels.JACCARD),
    *(kernels.FOWLKES_MALLOWS, kernels.ACCURACY, kernels.MCC, kernels.KAPPA),
    kernels.SCOTT_PI,
)


def with_others(estimator: Estimator) -> Estimator:
    """Add a last column for predictions of none of the classes, in no average."""
    k = estimator.n_classes + 1
    if isinstance(estimator, AdjustedForChance):
        return replace(estimator, n_classes=k, base=with_others(estimator.base))
    if isinstance(estimator, KernelEstimator):
        spec = estimator.spec
        if spec.metric in _WITH_OTHERS and not estimator.penalty.size:
            listed = np.append(estimator.listed, np.uint8(0))
            return replace(estimator, n_classes=k, listed=listed)
    message = (
        f"missing and classes: metric {estimator.name!r} has no place for predictions "
        "that are none of the classes"
    )
    raise ValueError(message)


def _n_true(tables: Floats) -> NDArray[np.int64]:
    """Count the classes of the truth."""
    return np.asarray(np.count_nonzero(tables.any(axis=2), axis=1))


def _adjusted(values: Floats, n_true: Any) -> Floats:
    """Take guessing off; NaN for one class."""
    with np.errstate(divide="ignore", invalid="ignore"):
        adjusted: Floats = (values - 1 / n_true) / (1 - 1 / n_true)
    return adjusted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AtPrevalence(Estimator):
    """A metric as it would be if the classes had other proportions."""

    base: Estimator
    #: Proportion of each class, shape (K,).
    prevalence: Floats

    def _factors(self, tables: Floats) -> Floats:
        """Tell what a sample of each class counts, shape (B, K)."""
        rows = tables.sum(axis=2)
        shares = rows / rows.sum(axis=1, keepdims=True)
        wanted = np.broadcast_to(self.prevalence, shares.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            # A class that should occur and does not leaves the metric undefined.
            return np.where((wanted == 0) & (shares == 0), 0.0, wanted / shares)

    def values(self, tables: Floats) -> Floats:
        """Compute the metric of many matrices."""
        factors = self._factors(tables)
        known = np.asarray(np.isfinite(factors).all(axis=1))
        factors[~known] = 1.0
        scaled = np.ascontiguousarray(tables * factors[:, :, np.newaxis])
        return np.where(known, self.base.values(scaled), np.nan)

    def influences(self, tables: Floats) -> Floats:
        """Compute how each cell moves the metric."""
        factors = self._factors(tables)[:, :, np.newaxis]
        scaled = np.ascontiguousarray(tables * factors)
        inner = self.base.influences(scaled)
        sizes = scaled.sum(axis=2, keepdims=True)
        means = (scaled * inner).sum(axis=2, keepdims=True)
        means = np.divide(means, sizes, out=np.zeros_like(means), where=sizes > 0)
        return np.asarray(factors * (inner - means))

    def leave_one_out(self, table: Floats) -> Floats:
        """Compute the metric without one sample of each cell."""
        return one_by_one(self, table)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UserEstimator(Estimator):
    """A function of the confusion matrix that a user wrote."""

    function: Callable[[Floats], Any]

    def values(self, tables: Floats) -> Floats:
        """Compute the metric of many matrices."""
        return np.array([self._call(table) for table in tables])

    def _call(self, table: Floats) -> float:
        """Call the function; refuse what is no number."""
        try:
            found = self.function(table)
        except Exception as error:
            message = (
                f"metric {self.name!r} must take a confusion matrix, shape "
                f"({self.n_classes}, {self.n_classes}), true classes in rows; it "
                f"raised {type(error).__name__}: {error}"
            )
            raise ValueError(message) from error
        if np.ndim(found) or not isinstance(found, (int, float, np.number)):
            shape = f"shape {np.shape(found)}" if np.ndim(found) else repr(found)
            message = f"metric {self.name!r} must return one number, got {shape}"
            raise ValueError(message)
        return float(found)

    def check(self, table: Floats) -> UserEstimator:
        """Refuse a function that is not one of the counts alone."""
        copy = table.copy()
        first, second = self._call(copy), self._call(copy)
        if not np.array_equal(copy, table):
            message = f"metric {self.name!r} must leave the confusion matrix as it is"
            raise ValueError(message)
        if first != second and not np.isnan(first):
            message = (
                f"metric {self.name!r} must be a function of the counts alone, and "
                f"gave {first!r} and {second!r} for the same ones"
            )
            raise ValueError(message)
        if np.isnan(first):
            message = f"metric {self.name!r} is NaN for the counts of the samples"
            raise ValueError(message)
        return self

    def influences(self, tables: Floats) -> Floats:
        """Compute how each cell moves the metric."""
        return np.stack([self._influence(table) for table in tables])

    def _influence(self, table: Floats) -> Floats:
        n = float(table.sum())
        slopes = self._by_complex_step(table, n)
        if slopes is None:
            slopes = self._by_differences(table, n)
        return np.where(table > 0, slopes - (table * slopes).sum() / n, 0.0)

    def _by_complex_step(self, table: Floats, n: float) -> Floats | None:
        """Differentiate without cancellation, if the function takes complex numbers."""
        slopes, cells = np.zeros(table.shape), np.argwhere(table > 0)
        for i, (t, y) in enumerate(cells.tolist()):
            moved = table.astype(np.complex128)
            moved[t, y] += 1j * _COMPLEX * n
            try:
                found: Any = self.function(moved)  # type: ignore[arg-type]
                slopes[t, y] = complex(found).imag / _COMPLEX
            except Exception:  # noqa: BLE001  # whatever the function makes of them
                return None
            if i == 0 or i == len(cells) - 1:  # abs() and comparisons lose it
                near = self._by_difference(table, n, t, y)
                if not abs(slopes[t, y] - near) <= _AGREED * (1.0 + abs(near)):
                    return None
        return slopes

    def _by_differences(self, table: Floats, n: float) -> Floats:
        slopes = np.zeros(table.shape)
        for t, y in np.argwhere(table > 0).tolist():
            slopes[t, y] = self._by_difference(table, n, t, y)
        return slopes

    def _by_difference(self, table: Floats, n: float, t: int, y: int) -> float:
        step = float(min(_STEP * n, 0.5 * table[t, y]))
        more, less = table.copy(), table.copy()
        more[t, y] += step
        less[t, y] -= step
        return (self._call(more) - self._call(less)) / (2.0 * step) * n

    def leave_one_out(self, table: Floats) -> Floats:
        """Compute the metric without one sample of each cell."""
        return one_by_one(self, table)


def one_by_one(estimator: Estimator, table: Floats) -> Floats:
    """Compute a metric without one sample of each cell, from as many matrices."""
    out = np.full(table.shape, np.nan)
    for t, y in np.argwhere(table >= 1).tolist():
        less = table.copy()
        less[t, y] -= 1
        out[t, y] = estimator.value(less)
    return out
