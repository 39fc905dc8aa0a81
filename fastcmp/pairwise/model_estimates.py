"""What several models achieved, and how the estimates vary together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_flag, as_number, as_numbers, as_whole
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import scale_exponent, times
from fastcmp.core.records import Record
from fastcmp.core.sections import format_pvalue
from fastcmp.core.sentences import Sentence, how
from fastcmp.core.threads import blas_for, parts
from fastcmp.core.typing import ColumnLike, Floats, Ints, ModelsLike, Pairs
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.model_names import read_names
from fastcmp.kernels.bits import squared_distances
from fastcmp.pairwise.max_t import SAME, covariance_root

_TOLERANCE = 1e-6
_ROWS = 512
_LOOKED_AT = 256  # columns of a covariance, at most, that its root must give back


class Estimates:
    """What several models achieved, and how sure that is, by any measure.

    Parameters
    ----------
    values : array-like, shape (M,)
        Estimates: accuracies, means, areas under curves, coefficients, losses, ...
    covariance : array-like, shape (M, M) or (M,), optional
        Covariance of the estimates (not of single items); of independent estimates the
        variances alone.
    influences : array-like, shape (M, n), optional
        In its place: what each item adds to each estimate, whose error is the mean of
        these, such as ``values - mean`` of a mean.
    groups : array-like, shape (n,), optional
        Cluster of each item, where there are influences.
    df : float or array-like, shape (M, M), optional
        Degrees of freedom of the variances. By default infinite, where these are known;
        of influences one less than there are items or clusters. In a matrix [a, b] those
        of the difference of a and b, [a, a] those of a alone.
    n_items : int, optional
        Number of items, or of clusters, that the estimates come from; known of
        influences. `superior_ability` needs it.
    names : sequence of str, optional
        Names of the models.
    lower_is_better : bool
        Whether the estimates are losses.
    measure : str, optional
        What is estimated, as records name it: "accuracy", "WER", ...
    limits : pair of float
        Least and largest value that the measure can have; intervals end there.

    Raises
    ------
    ValueError
        If the covariance is not positive semidefinite, numbers are not finite, lengths
        differ, or there are both or neither of `covariance` and `influences`.
    TypeError
        If what should be numbers is none.

    Notes
    -----
    What `compare_means`, `mean_difference`, `best_set`, `rank_sets`, `winner_estimate`,
    `model_confidence_set`, `superior_ability` and `simultaneous_pairs` take. The
    covariance of influences is that of their means; with clusters that of the means of
    the sums over clusters, times G / (G - 1) for G clusters.

    Examples
    --------
    >>> from fastcmp import Estimates, best_set, compare_means
    >>> estimates = Estimates([0.9, 0.88, 0.8], [0.0004, 0.0004, 0.0004])
    >>> best_set(estimates).best
    ('model_0', 'model_1')
    >>> compare_means(estimates).pvalue.round(4).tolist()
    [0.4795, 0.0004, 0.0047]
    """

    names: tuple[str, ...]
    #: As they came, in units of 2**exponent as all that follows, shape (M,).
    values: Floats
    #: The same but for a shift, with a sign such that more is better; differences of
    #: these lose no digits, shape (M,).
    merit: Floats
    #: Shape (M, M); what is common to all models may be left out.
    covariance: Floats
    #: Of each estimate alone, shape (M,).
    variance: Floats
    #: The least of all pairs, where they differ.
    df: float
    #: Of each difference, shape (M, M), and on the diagonal of each estimate alone; None
    #: where all have the same.
    pair_df: Floats | None
    lower_is_better: bool
    measure: str
    limits: tuple[float, float]
    #: What each item adds to the estimates, shape (M, n), whose errors are means of these;
    #: and the cluster of each item, shape (n,). None where they are not known.
    influences: Floats | None
    codes: Ints | None
    #: Items, and clusters where there are any; None where they are not known.
    n_items: int | None
    n_clusters: int | None
    cautions: tuple[str, ...]
    exponent: int

    def __init__(
        self,
        values: ArrayLike,
        covariance: ArrayLike | None = None,
        *,
        influences: ArrayLike | None = None,
        groups: ColumnLike | None = None,
        df: Any = None,
        n_items: int | None = None,
        names: Sequence[str] | None = None,
        lower_is_better: bool = False,
        measure: str | None = None,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        """Check the arguments."""
        estimates = as_numbers(values, "values").astype(np.float64)
        if estimates.ndim != 1 or estimates.size < 2 or not np.isfinite(estimates).all():
            raise BadValueError(
                "`values` must hold a finite number for each of at least 2 models",
                f"shape {estimates.shape}",
            )
        if (covariance is None) == (influences is None):
            raise BadValueError("pass `covariance=` or `influences=`, one of them")
        n_clusters = rows = codes = None
        if influences is None:
            if groups is not None:
                raise BadValueError("`groups=` are clusters of `influences=`: pass both")
            raw = as_numbers(covariance, "covariance").astype(np.float64)
            exponent = scale_exponent(estimates, np.sqrt(np.abs(raw)))
            matrix = _read_covariance(np.ldexp(raw, -2 * exponent), estimates.size)
            if n_items is not None:
                n_items = as_whole(n_items, "n_items", 2)
        else:
            parts = as_numbers(influences, "influences").astype(np.float64, order="C")
            if parts.ndim != 2 or len(parts) != estimates.size or parts.shape[1] < 2:
                raise BadValueError(
                    f"`influences` must have shape ({estimates.size}, n): a row for each "
                    f"model, at least 2 items; got shape {parts.shape}"
                )
            if not np.isfinite(parts).all():
                raise BadValueError("`influences` must be finite: drop items that some model lacks")
            n = parts.shape[1]
            if n_items is not None and n_items != n:
                raise BadValueError(f"`n_items` is {n_items}, but influences have {n} items")
            exponent = scale_exponent(estimates, parts)
            rows = np.ldexp(parts, -exponent)
            rows -= rows.mean(axis=1, keepdims=True)
            n_items = n_units = n
            clusters = read_item_groups(n, groups=groups).clusters
            if clusters is not None:
                n_units, codes = len(clusters.labels), clusters.codes
                n_clusters = n_units
            sums = sums_by_unit(rows, codes)
            matrix = sums @ sums.T * (n_units / (n_units - 1.0) / n**2)
            df = n_units - 1.0 if df is None else df
        self.names = read_names(names, estimates.size)
        self.values = np.ldexp(estimates, -exponent)
        self.lower_is_better = as_flag(lower_is_better, "lower_is_better")
        self.merit = -self.values if self.lower_is_better else self.values
        self.covariance, self.variance = matrix, np.diagonal(matrix).copy()
        self.pair_df = None if np.ndim(df) == 0 else _read_pair_df(df, estimates.size)
        self.df = read_df(df) if self.pair_df is None else float(self.pair_df.min())
        self.measure = ("loss" if lower_is_better else "estimate") if measure is None else measure
        if not isinstance(self.measure, str):
            raise BadTypeError("`measure` must be a name", repr(measure))
        ends = as_numbers(limits, "limits").astype(np.float64)
        low, high = ends.tolist() if ends.shape == (2,) else (math.nan, math.nan)
        if not (low < high and low <= estimates.min() and estimates.max() <= high):
            raise BadValueError("`limits` must be (least, largest) about all values", repr(limits))
        self.limits, self.influences, self.codes = (low, high), rows, codes
        self.n_items, self.n_clusters = n_items, n_clusters
        self.cautions, self.exponent = (), exponent

    def __repr__(self) -> str:
        """The class and the number of models."""
        return f"<Estimates of {len(self.names)} models>"

    @property
    def n_units(self) -> int | None:
        """Number of clusters, or of items where there are none."""
        return self.n_items if self.n_clusters is None else self.n_clusters

    @property
    def full_covariance(self) -> Floats:
        """The covariance with all that is common, shape (M, M)."""
        if np.array_equal(np.diagonal(self.covariance), self.variance):
            return self.covariance
        variances = np.diagonal(self.covariance)
        common = 0.5 * (self.variance - variances)
        return self.covariance + common + common[:, None]

    def errors(self) -> Floats:
        """Standard errors of all differences, 0 where there is no variance.

        Returns
        -------
        numpy.ndarray of float64, shape (M, M)
            In units of ``2**exponent``.
        """
        variances = np.diagonal(self.covariance)
        errors = -2.0 * self.covariance
        for rows in parts(len(variances), _ROWS):
            size = variances[rows, None] + variances
            errors[rows] += size
            errors[rows][errors[rows] <= SAME * size] = 0.0
        np.fill_diagonal(errors, 0.0)
        return np.sqrt(errors, out=errors)


#: Values of items, or what has estimates of models.
ValuesLike: TypeAlias = ModelsLike | Estimates | Record


def estimates_of(data: object) -> Estimates | None:
    """The estimates that a user passed, or that a record has; None where it is neither."""
    estimates = data if isinstance(data, Estimates) else None
    if isinstance(data, Record):
        estimates = getattr(data, "estimates", None)
    return estimates if isinstance(estimates, Estimates) else None


def sums_by_unit(rows: Floats, codes: Ints | None) -> Floats:
    """The sums of each row over the items of each cluster, shape (M, G)."""
    if codes is None:
        return rows
    return np.stack([np.bincount(codes, row) for row in rows])


def make_estimates(**fields: object) -> Estimates:
    """Estimates of checked fields; other fields have their defaults."""
    estimates = object.__new__(Estimates)
    defaults: dict[str, Any] = {"df": math.inf, "lower_is_better": False, "n_items": None}
    defaults |= {"n_clusters": None, "cautions": (), "exponent": 0, "pair_df": None}
    defaults |= {"measure": "estimate", "limits": (-math.inf, math.inf)}
    defaults |= {"influences": None, "codes": None}
    for name, value in (defaults | fields).items():
        setattr(estimates, name, value)
    return estimates


def some_of(estimates: Estimates, models: Ints) -> Estimates:
    """The estimates of some models."""
    kept = {
        "names": tuple(estimates.names[i] for i in models),
        "values": estimates.values[models],
        "merit": estimates.merit[models],
        "covariance": estimates.covariance[np.ix_(models, models)],
        "variance": estimates.variance[models],
    }
    if estimates.pair_df is not None:
        kept["pair_df"] = estimates.pair_df[np.ix_(models, models)]
    if estimates.influences is not None:
        kept["influences"] = estimates.influences[models]
    return make_estimates(**vars(estimates) | kept)


def of_record(estimates: Estimates) -> dict[str, Any]:
    """What records say of estimates."""
    return {
        "names": estimates.names,
        "estimate": times(estimates.values, estimates.exponent),
        "lower_is_better": estimates.lower_is_better,
        "n_items": estimates.n_items,
        "n_clusters": estimates.n_clusters,
        "cautions": estimates.cautions,
    }


def distribution_of(estimates: Estimates, *, bootstrap: bool) -> dict[str, Any]:
    """The fields with the distribution that statistics are compared with."""
    if bootstrap:
        return {"distribution": "bootstrap", "df": None}
    if math.isinf(estimates.df):
        return {"distribution": "normal", "df": None}
    return {"distribution": "t", "df": estimates.df}


def weights_of(errors: Floats) -> Floats:
    """One over each standard error, and 0 where there is none."""
    return np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0.0)


def read_df(df: object) -> float:
    """Checked degrees of freedom; None is infinite."""
    if df is None:
        return math.inf
    degrees = as_number(df, "df", "a number > 0 or None")
    if not degrees > 0.0:
        raise BadValueError("`df` must be > 0", df)
    return degrees


def _read_pair_df(df: object, n_models: int) -> Floats:
    """Checked degrees of freedom of all differences."""
    matrix = as_numbers(df, "df").astype(np.float64)
    if matrix.shape != (n_models, n_models) or not (matrix > 0.0).all():
        raise BadValueError(
            f"`df` must be a number, or hold positive ones of shape ({n_models}, {n_models})",
            f"shape {matrix.shape}",
        )
    if not (matrix == matrix.T).all():
        raise BadValueError("`df` of a - b and of b - a differ: make the matrix symmetric")
    return matrix


def _read_covariance(matrix: Floats, n_models: int) -> Floats:
    if matrix.shape == (n_models,):
        matrix = np.diag(matrix)
    if matrix.shape != (n_models, n_models):
        raise BadValueError(
            f"`covariance` of {n_models} values must be of shape ({n_models}, {n_models}), or "
            f"hold {n_models} variances of independent estimates",
            matrix.shape,
        )
    finite = bool(np.isfinite(matrix).all())
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    variances = np.diagonal(matrix)
    size = np.sqrt(np.maximum(variances, 0.0))
    bound = np.outer(size, size) * (1.0 + _TOLERANCE)
    symmetric = np.abs(matrix - matrix.T) <= _TOLERANCE * bound
    fits = (np.abs(matrix) <= bound) & (variances >= 0.0)
    if not (finite and symmetric.all() and fits.all()):
        raise BadValueError(
            "`covariance` must be finite, symmetric and positive semidefinite: entry [i, j] at "
            "most the product of both standard errors"
        )
    matrix = 0.5 * (matrix + matrix.T)
    root = covariance_root(matrix)
    columns = slice(None, None, -(-n_models // _LOOKED_AT))
    lost = np.abs(root @ root[columns].T - matrix[:, columns])
    if (lost > _TOLERANCE * n_models * np.outer(size, size[columns])).any():
        raise BadValueError(
            "`covariance` must be positive semidefinite, and has a negative eigenvalue: no "
            "estimates vary together so"
        )
    return matrix


# Sentences of the records that follow from estimates and their covariance.


_LISTED = 8


def basis(record: Any) -> str:
    """The number of models, and what they are compared on."""
    n_models = getattr(record, "n_models", None) or len(record.names)
    text = f"{n_models} models"
    if record.n_items is not None:
        text += f" on {record.n_items} items"
    if record.n_clusters is not None:
        text += f" in {record.n_clusters} clusters"
    return text


def direction(record: Any) -> str:
    """The sentence that lower values are better, where they are."""
    return " Lower values are better." if record.lower_is_better else ""


def simulation(record: Any) -> Sentence:
    """The sentence about where critical values come from."""
    return how(
        "Critical values take all correlations of the estimates into account: "
        f"{record.n_resamples} draws, seed {record.seed}."
    )


def listed(names: Sequence[str]) -> str:
    """Some names as text."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[: _LISTED - 2])} and {len(names) - _LISTED + 2} more"


def drawn(record: Any) -> Sentence:
    """The sentence about the draws that statistics are compared with."""
    kind = "bootstrap draws"
    if record.distribution != "bootstrap":
        kind = f"draws from the {record.distribution} distribution"
    seed = "as given" if record.seed is None else f"seed {record.seed}"
    return how(f"P-values by {record.n_resamples} {kind}, {seed}.")


def format_drawn(record: Any, pvalue: float) -> str:
    """A p-value as text; 0 where no draw of a bootstrap was above the statistic."""
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
        """Prepare the products of rows, shape (M, U), which are changed.

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
            with blas_for(float(len(rows)) * rows.size):
                self._gram = rows @ rows.T
            self._squares = np.diagonal(self._gram).copy()
            if self._parts:
                self._quotients = self._sum_quotients()

    def __call__(self, pairs: Pairs) -> Floats:
        """The squared distances of some pairs, shape (p,)."""
        if self._gram is None:
            squares = self._subtracted(pairs)
        else:
            i, j = pairs.T
            both = self._squares[i] + self._squares[j]
            squares = both - 2.0 * self._gram[i, j]
            near = squares < _CANCELLED * both
            if near.any():
                squares[near] = self._subtracted(pairs[near])
        return np.where(squares <= self._noise, 0.0, squares)

    def df(self, pairs: Pairs, variance: Floats) -> Floats:
        """Satterthwaite's degrees of freedom of pairs where there are strata, shape (p,)."""
        assert self._degrees is not None
        if self._quotients is not None:
            quotients = self._quotients[tuple(pairs.T)]
        else:
            quotients = np.zeros(len(pairs))
            for part, df in zip(self._parts, self._degrees, strict=True):
                rows = np.ascontiguousarray(self._rows[:, part])
                quotients += _distances(rows, pairs) ** 2 / df
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = variance * variance / quotients
        return np.asarray(np.where(variance > 0.0, degrees, self._degrees.sum()))

    def _subtracted(self, pairs: Pairs) -> Floats:
        return _distances(self._rows, pairs)

    def _sum_quotients(self) -> Floats:
        """Sums over strata of the squared variance over its degrees of freedom, (M, M)."""
        total = np.zeros((len(self._rows),) * 2)
        assert self._degrees is not None
        for part, df in zip(self._parts, self._degrees, strict=True):
            rows = self._rows[:, part]
            gram = rows @ rows.T
            squares = np.diagonal(gram).copy()
            gram *= -2.0
            gram += squares
            gram += squares[:, np.newaxis]
            gram *= gram
            gram /= df
            total += gram
        return total


def _distances(rows: Floats, pairs: Pairs) -> Floats:
    squares = np.empty(len(pairs))
    squared_distances(rows, pairs.astype(np.int64), squares)
    return squares
