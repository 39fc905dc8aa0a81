"""What several models achieved, and how the estimates vary together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag, as_numbers
from fastcmp.core.scaling import scale_exponent, times
from fastcmp.core.threads import parts
from fastcmp.inputs.model_names import check_distinct_names
from fastcmp.pairwise.gaussian_draws import covariance_root
from fastcmp.pairwise.simulated_maxima import SAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_TOLERANCE = 1e-6
_ROWS = 512
_LOOKED_AT = 256  # columns of a covariance, at most, that its root must give back


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Estimates of M models, and their covariance."""

    names: tuple[str, ...]
    #: As they came, shape (M,).
    value: Floats
    #: The same but for a shift, with a sign such that more is better; differences of
    #: these lose no digits, shape (M,).
    merit: Floats
    #: Shape (M, M); what is common to all models may be left out.
    covariance: Floats
    #: Of each estimate alone, shape (M,).
    variance: Floats
    #: Degrees of freedom of the variances; infinite where these are known.
    df: float = math.inf
    lower_is_better: bool = False
    #: Items, and clusters where there are any; None where only moments are known.
    n_items: int | None = None
    n_clusters: int | None = None
    cautions: tuple[str, ...] = ()
    #: All are in units of 2**exponent, which records multiply them by.
    exponent: int = 0

    @property
    def of_record(self) -> dict[str, Any]:
        """What records say of the estimates."""
        return {
            "names": self.names,
            "estimate": times(self.value, self.exponent),
            "lower_is_better": self.lower_is_better,
            "n_items": self.n_items,
            "n_clusters": self.n_clusters,
            "cautions": self.cautions,
        }

    @property
    def full_covariance(self) -> Floats:
        """The covariance with all that is common, shape (M, M)."""
        if np.array_equal(np.diagonal(self.covariance), self.variance):
            return self.covariance
        own = np.diagonal(self.covariance)
        common = 0.5 * (self.variance - own)
        return self.covariance + common + common[:, None]

    def part(self, models: NDArray[np.int64]) -> Estimates:
        """Keep some models."""
        return replace(
            self,
            names=tuple(self.names[i] for i in models),
            value=self.value[models],
            merit=self.merit[models],
            covariance=self.covariance[np.ix_(models, models)],
            variance=self.variance[models],
        )

    def errors(self) -> Floats:
        """Give the standard error of each difference, 0 where there is no variance."""
        own = np.diagonal(self.covariance)
        errors = -2.0 * self.covariance
        for rows in parts(len(own), _ROWS):
            size = own[rows, None] + own
            errors[rows] += size
            errors[rows][errors[rows] <= SAME * size] = 0.0
        np.fill_diagonal(errors, 0.0)
        return np.sqrt(errors, out=errors)


def distribution_of(estimates: Estimates, resampling: str) -> dict[str, Any]:
    """Name what statistics are compared with, as records do."""
    if resampling == "bootstrap":
        return {"distribution": "bootstrap", "df": None}
    if math.isinf(estimates.df):
        return {"distribution": "normal", "df": None}
    return {"distribution": "t", "df": estimates.df}


def weights_of(errors: Floats) -> Floats:
    """Give one over each standard error, and 0 where there is none."""
    return np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0.0)


def read_estimates(
    estimate: Any, covariance: Any, names: Any, *, lower_is_better: bool
) -> Estimates:
    """Check estimates and a covariance that the user gave."""
    value = as_numbers(estimate, "estimate").astype(np.float64)
    if value.ndim != 1 or value.size < 2 or not np.isfinite(value).all():
        raise ValueError(
            "estimate must hold a finite number for each of at least 2 models, got "
            f"shape {value.shape}"
        )
    raw = as_numbers(covariance, "covariance").astype(np.float64)
    exponent = scale_exponent(value, np.sqrt(np.abs(raw)))
    matrix = _read_covariance(np.ldexp(raw, -2 * exponent), value.size)
    value = np.ldexp(value, -exponent)
    better = -1.0 if as_flag(lower_is_better, "lower_is_better") else 1.0
    return Estimates(
        names=_read_names(names, value.size),
        value=value,
        merit=better * value,
        covariance=matrix,
        variance=np.diagonal(matrix).copy(),
        lower_is_better=lower_is_better,
        exponent=exponent,
    )


def _read_names(names: Iterable[Any] | None, n_models: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"model_{i}" for i in range(n_models))
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise TypeError(f"names must be a sequence of names of models, got {names!r}")
    read = [str(name) for name in names]
    if len(read) != n_models:
        raise ValueError(f"names must name each of {n_models} models, got {len(read)} names")
    check_distinct_names(read, "names")
    return tuple(read)


def _read_covariance(matrix: Floats, n_models: int) -> Floats:
    if matrix.shape == (n_models,):
        matrix = np.diag(matrix)
    if matrix.shape != (n_models, n_models):
        raise ValueError(
            f"covariance must be of shape ({n_models}, {n_models}), or hold "
            f"{n_models} variances of independent estimates, got {matrix.shape}"
        )
    finite = bool(np.isfinite(matrix).all())
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    own = np.diagonal(matrix)
    size = np.sqrt(np.maximum(own, 0.0))
    bound = np.outer(size, size) * (1.0 + _TOLERANCE)
    symmetric = np.abs(matrix - matrix.T) <= _TOLERANCE * bound
    fits = (np.abs(matrix) <= bound) & (own >= 0.0)
    if not (finite and symmetric.all() and fits.all()):
        raise ValueError(
            "covariance must be finite, symmetric and positive semidefinite: entry "
            "[i, j] at most the product of both standard errors"
        )
    matrix = 0.5 * (matrix + matrix.T)
    root = covariance_root(matrix)
    some = slice(None, None, -(-n_models // _LOOKED_AT))
    lost = np.abs(root @ root[some].T - matrix[:, some])
    if (lost > _TOLERANCE * n_models * np.outer(size, size[some])).any():
        raise ValueError(
            "covariance must be positive semidefinite, and has a negative eigenvalue: "
            "no estimates vary together so"
        )
    return matrix
