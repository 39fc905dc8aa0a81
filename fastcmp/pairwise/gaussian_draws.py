"""Draws of normal numbers with the covariance of several models' estimates.

Draw i is a function of the seed and i, whatever the number of draws and of workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.memory import check_draws
from fastcmp.core.threads import ThreadPool, no_step, parts
from fastcmp.kernels.rng import random_below, random_normals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Of products: their size must not depend on the number of draws, or rounding would.
_DRAWS, _SAMPLES = 512, 4096
_RANK = 1e-13  # of a variance; what is left of one below it is rounding
_SMALL = 1 << 16  # numbers that are not worth threads
#: Of so few dimensions draws are the points of a lattice; and the first primes.
LATTICE = 32
_PRIMES = [n for n in range(2, 132) if all(n % k for k in range(2, n))]


class Directions(NamedTuple):
    """Draws, and the lengths of the vectors of normal numbers they are made of."""

    #: Shape (M, B).
    values: Floats
    #: Shape (B,).
    lengths: Floats
    #: The squared lengths have the chi-square distribution with so many degrees.
    df: int


def gaussian_draws(
    covariance: Floats, n_draws: int, seed: int, pool: ThreadPool | None = None
) -> Floats:
    """Draw from N(0, covariance), shape (M, B); the covariance may be singular."""
    return multiplier_draws(covariance_root(covariance), n_draws, seed, pool)


def multiplier_draws(
    centred: Floats, n_draws: int, seed: int, pool: ThreadPool | None = None
) -> Floats:
    """Multiply rows, shape (M, n), by normal numbers, shape (n, B), one a sample.

    The draws have the covariance ``centred @ centred.T``. Of clusters `centred` holds
    sums.
    """
    return _multiply(centred, n_draws, seed, pool)


def directions(
    covariance: Floats,
    n_draws: int,
    seed: int,
    pool: ThreadPool | None = None,
    *,
    single: bool = False,
) -> Directions:
    """Draw from N(0, covariance), and keep the lengths.

    With `single`, many models are drawn in single precision. In few dimensions from a
    lattice with a random shift: averages over its points are some seven times as
    precise as over random ones.
    """
    root = covariance_root(covariance)
    df = root.shape[1]
    if single and df > LATTICE:
        root = root.astype(np.float32)
    if df <= LATTICE:
        numbers = _lattice(df, n_draws, seed)
        return Directions(root @ numbers, np.sqrt((numbers**2).sum(axis=0)), df)
    squares = np.zeros(n_draws)
    values = _multiply(root, n_draws, seed, pool, squares)
    return Directions(values, np.sqrt(squares), df)


def _lattice(df: int, n_draws: int, seed: int) -> Floats:
    """Make quasi-random normal numbers, (df, B), of Richtmyer's lattice, folded."""
    from scipy.special import ndtri

    check_draws(n_draws, 4 * df)
    shifts = [(random_below(seed, 0, k, 2**30) + 0.5) / 2**30 for k in range(df)]
    steps = np.sqrt(np.array(_PRIMES[:df], np.float64))
    place = steps[:, None] * np.arange(1, n_draws + 1) + np.array(shifts)[:, None]
    folded = np.abs(2.0 * (place % 1.0) - 1.0)
    return np.asarray(ndtri(np.clip(folded, 1e-15, 1.0 - 1e-15)))


def t_scales(n_draws: int, seed: int, start: int, df: float) -> Floats:
    """Draw what makes normal numbers those of t, shape (B,), beside `start` others."""
    from scipy.special import chdtri, ndtr

    numbers = np.empty((n_draws, 1))
    random_normals(seed, 0, start, numbers)
    return np.asarray(np.sqrt(df / chdtri(df, ndtr(numbers[:, 0]))))


def covariance_root(covariance: Floats) -> Floats:
    """Find a root of a covariance, R with R R' equal to it, shape (M, rank).

    By pivoted Cholesky decomposition of the correlations, so that models of unequal
    precision keep theirs; a model of variance 0 has a row of zeros.
    """
    from scipy.linalg.lapack import dpstrf

    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    unit = np.where(deviation > 0.0, deviation, 1.0)
    correlation = covariance / np.outer(unit, unit)
    # To the bit: the first pivot is then no matter of rounding, and draws are stable.
    np.fill_diagonal(correlation, deviation > 0.0)
    lower, pivots, rank, _ = dpstrf(correlation, tol=_RANK, lower=1, overwrite_a=1)
    root = np.empty((len(lower), rank))
    root[pivots - 1] = np.tril(lower[:, :rank])
    root *= deviation[:, None]
    return root


def _multiply(
    rows: Floats, n_draws: int, seed: int, pool: ThreadPool | None, squares: Floats | None = None
) -> Floats:
    """Multiply rows by normal numbers; `squares` receives their sums of squares."""
    m, n = rows.shape
    check_draws(n_draws, m)
    out = np.zeros((m, n_draws), rows.dtype)
    numbers = np.empty((_DRAWS, min(n, _SAMPLES)))
    with ThreadPool(1) as own:
        for some in parts(n_draws, _DRAWS):
            total = np.zeros((m, _DRAWS), rows.dtype)
            for samples in parts(n, _SAMPLES):
                drawn = numbers[:, : samples.stop - samples.start]
                _fill(drawn, (seed, some.start, samples.start), pool or own)
                total += rows[:, samples] @ drawn.T.astype(rows.dtype, copy=False)
                if squares is not None:
                    used = drawn[: some.stop - some.start]
                    squares[some] += np.einsum("ij,ij->i", used, used)
            out[:, some] = total[:, : some.stop - some.start]
    return out


def _fill(numbers: Floats, first: tuple[int, int, int], pool: ThreadPool) -> None:
    """Draw a block of numbers, a row a draw; `first` has seed, draw and sample."""
    seed, start, sample = first

    def draw(rows: slice) -> None:
        random_normals(seed, start + rows.start, sample, numbers[rows])

    tasks = parts(len(numbers), len(numbers) // 8)
    pool.run(draw, tasks, steps=no_step, here=numbers.size < _SMALL)
