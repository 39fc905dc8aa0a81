"""What several models achieved, and how the estimates vary together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_flag, as_numbers
from fastcmp.core.numbers import scale_exponent, times
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.threads import parts
from fastcmp.inputs.model_names import read_names
from fastcmp.kernels.bits import squared_distances
from fastcmp.pairwise.max_t import SAME, covariance_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.int32]

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
        names=read_names(names, value.size),
        value=value,
        merit=better * value,
        covariance=matrix,
        variance=np.diagonal(matrix).copy(),
        lower_is_better=lower_is_better,
        exponent=exponent,
    )


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


# Sentences of the records that follow from estimates and their covariance.


_SHOWN = 20  # models that are printed
_LISTED = 8


def basis(record: Any) -> str:
    """Say how many models there are, and on what."""
    n_models = getattr(record, "n_models", None) or len(record.names)
    text = f"{n_models} models"
    if record.n_items is not None:
        text += f" on {record.n_items} items"
    if record.n_clusters is not None:
        text += f" in {record.n_clusters} clusters"
    return text


def direction(record: Any) -> str:
    """Say that lower values are better, where they are."""
    return " Lower values are better." if record.lower_is_better else ""


def simulation(record: Any) -> str:
    """Say where critical values come from."""
    return (
        "Critical values take all correlations of the estimates into account: "
        f"{record.n_resamples} draws, seed {record.seed}."
    )


def listed(names: Sequence[str]) -> str:
    """List some names."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[: _LISTED - 2])} and {len(names) - _LISTED + 2} more"


def table(title: str, columns: dict[str, list[str]]) -> Section:
    """Make a table of the first models."""
    rows = list(zip(*columns.values(), strict=True))
    more = len(rows) - _SHOWN
    return Section(
        title=title,
        columns=tuple(columns),
        rows=tuple(rows[:_SHOWN]),
        notes=(f"... and {more} more models.",) if more > 0 else (),
    )


def beware(record: Any) -> list[Section]:
    """Say what makes the answer doubtful."""
    cautions = record.cautions
    return [Section(title="Cautions", text=cautions)] if cautions else []


def drawn(record: Any) -> str:
    """Say what statistics are compared with."""
    kind = "bootstrap draws"
    if record.distribution != "bootstrap":
        kind = f"draws from the {record.distribution} distribution"
    seed = "as given" if record.seed is None else f"seed {record.seed}"
    return f"P-values by {record.n_resamples} {kind}, {seed}."


def format_drawn(record: Any, pvalue: float) -> str:
    """Write a p-value; 0 where no draw of a bootstrap was above the statistic."""
    if pvalue == 0.0:
        return f"<{1.0 / record.n_resamples:.1e}"
    return format_pvalue(pvalue)


# Variances of differences of all pairs of models: squared distances of their rows.


_CANCELLED = 1e-6  # of the squared lengths: nearer rows are subtracted themselves


class RowDistances:
    """Squared distances of the rows of M models, by one matrix product.

    The same to the bit for any number of threads: all pairs come from one product, or,
    where few were chosen, from their rows.
    """

    def __init__(
        self,
        rows: Floats,
        noise: float,
        *,
        all_pairs: bool,
        parts: list[Any] | None = None,
        degrees: Floats | None = None,
    ) -> None:
        """Multiply rows, shape (M, U), which are changed.

        Squared distances up to `noise` are 0. Where there are strata, `parts` are the
        columns of each, whose variances have these degrees of freedom.
        """
        # What all rows have in common is in no distance, but would cost digits.
        rows -= rows.mean(axis=0)
        self._rows, self._noise = rows, noise
        self._parts, self._degrees = parts or [], degrees
        self._gram: Floats | None = None
        self._quotients: Floats | None = None
        if all_pairs:
            self._gram = rows @ rows.T
            self._squares = np.diagonal(self._gram).copy()
            if self._parts:
                self._quotients = self._sum_quotients()

    def __call__(self, pairs: Pairs) -> Floats:
        """Give the squared distances of some pairs, shape (p,)."""
        if self._gram is None:
            found = self._subtracted(pairs)
        else:
            i, j = pairs.T
            both = self._squares[i] + self._squares[j]
            found = both - 2.0 * self._gram[i, j]
            near = found < _CANCELLED * both
            if near.any():
                found[near] = self._subtracted(pairs[near])
        return np.where(found <= self._noise, 0.0, found)

    def df(self, pairs: Pairs, variance: Floats) -> Floats:
        """Give Satterthwaite's degrees of freedom of pairs where there are strata."""
        assert self._degrees is not None
        if self._quotients is not None:
            quotients = self._quotients[tuple(pairs.T)]
        else:
            quotients = np.zeros(len(pairs))
            for part, df in zip(self._parts, self._degrees, strict=True):
                own = np.ascontiguousarray(self._rows[:, part])
                quotients += _distances(own, pairs) ** 2 / df
        with np.errstate(divide="ignore", invalid="ignore"):
            found = variance * variance / quotients
        return np.asarray(np.where(variance > 0.0, found, self._degrees.sum()))

    def _subtracted(self, pairs: Pairs) -> Floats:
        return _distances(self._rows, pairs)

    def _sum_quotients(self) -> Floats:
        """Add up the squared variance of each stratum over its degrees of freedom."""
        total = np.zeros((len(self._rows),) * 2)
        assert self._degrees is not None
        for part, df in zip(self._parts, self._degrees, strict=True):
            own = self._rows[:, part]
            gram = own @ own.T
            squares = np.diagonal(gram).copy()
            gram *= -2.0
            gram += squares
            gram += squares[:, np.newaxis]
            gram *= gram
            gram /= df
            total += gram
        return total


def _distances(rows: Floats, pairs: Pairs) -> Floats:
    found = np.empty(len(pairs))
    squared_distances(rows, pairs.astype(np.int64), found)
    return found
