"""Fold differences as the kernels take them, and their answers as records."""

from __future__ import annotations

from math import prod
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_numbers
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.records import unwrap
from fastcmp.crossval.fold_result import FoldTestResult
from fastcmp.kernels.fold_t_tests import fold_t_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]
Statuses = NDArray[np.uint8]


def read_differences(raw: ArrayLike, axes: str = "J", name: str = "differences") -> Floats:
    """Convert fold differences to one C-ordered float64 array."""
    array = as_numbers(raw, name)
    sizes = axes.split(", ")
    last = array.shape[-len(sizes) :]
    fits = array.ndim >= len(sizes) and all(
        got == int(wanted) if wanted.isdigit() else got > 0
        for got, wanted in zip(last, sizes, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape (..., {axes}), got shape {array.shape}")
    return np.ascontiguousarray(array, np.float64)


def check_folds(n: int, what: str) -> None:
    """Refuse fewer than two differences."""
    if n < 2:
        raise ValueError(f"differences must hold at least 2 {what}, got {n}")


def as_real(value: Any, name: str) -> float:
    """Refuse what is no number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def as_positive(value: Any, name: str) -> float:
    """Check a number of samples, a ratio of two, or the like."""
    number = as_real(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def as_correlations(rho1: Any, rho2: Any) -> tuple[float, float]:
    """Check correlations within a cut and between cuts: possible for any m."""
    within, between = as_real(rho1, "rho1"), as_real(rho2, "rho2")
    # At -1 the mean would have no variance.
    if not -1 < within <= 1:
        raise ValueError(f"rho1 must lie in (-1, 1], got {rho1}")
    largest = (1 + within) / 2
    if not 0 <= between <= largest:
        raise ValueError(f"rho2 must lie in [0, (1 + rho1) / 2] = [0, {largest:g}], got {rho2}")
    return within, between


def run_rows(
    fill: Callable[[int, Floats, Statuses], None],
    shape: tuple[int, ...],
    given: Mapping[str, Floats],
    *,
    alternative: str = "two-sided",
    difference: Any = None,
    **about: Any,
) -> FoldTestResult:
    """Let a kernel test all rows of what was given, and wrap what it wrote.

    `fill` takes the code of the alternative, numbers (4, N) and statuses (N,).
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    n_tests = prod(shape)
    out, status = np.empty((4, n_tests)), np.empty(n_tests, np.uint8)
    fill(ALTERNATIVES[alternative], out, status)
    # The kernels saw every number, so the data need no pass of their own before.
    if (status == kernels.INVALID).any():
        _refuse(given)
    statistic, pvalue, estimate, standard_error = (unwrap(x, shape) for x in out)
    return FoldTestResult(
        statistic=statistic,
        pvalue=pvalue,
        difference=estimate if difference is None else difference,
        estimate=estimate,
        standard_error=standard_error,
        status=unwrap(status, shape),
        alternative=alternative,
        **about,
    )


def run_fold_t(
    x: Floats,
    n_axes: int,
    *,
    factor: float,
    df: float,
    **about: Any,
) -> FoldTestResult:
    """Test the mean over the last axes by Student's t."""
    n_folds = prod(x.shape[-n_axes:])

    def fill(tail: int, out: Floats, status: Statuses) -> None:
        rows = x.reshape(status.size, n_folds)
        fold_t_many(rows, factor, float(df), tail, out, status)

    return run_rows(
        fill,
        x.shape[:-n_axes],
        {"differences": x},
        df=df,
        n_folds=n_folds,
        **about,
    )


def _refuse(given: Mapping[str, Floats]) -> None:
    for name, array in given.items():
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            where = tuple(bad[0].tolist())
            place = ", ".join(map(str, where))
            raise ValueError(f"{name} must be finite, got {array[where]} at [{place}]")
