"""P-values and critical values from the largest of all statistics of a draw.

Draw i is a function of the seed and i, whatever the number of draws and of workers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, as_resamples
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_ppf
from fastcmp.core.threads import ThreadPool, blas_for, check_draws, new_lock, parts
from fastcmp.core.typing import Floats, Ints, Pairs
from fastcmp.inputs.scores import order_of
from fastcmp.kernels.max_t import (
    difference_maxima,
    radial_quantile,
    radial_tail,
    step_down,
    step_down_tails,
)
from fastcmp.kernels.rng import lattice_normals, random_below, random_normals

if TYPE_CHECKING:
    from fastcmp.pairwise.joint_draws import Joint


#: Draws that are compared together: their numbers stay in a second-level cache.
_DRAWS = 128
#: Pairs times draws whose lengths are integrated, some seconds; and draws of a task.
_INTEGRATED, _INTEGRATED_DRAWS = 10_000_000, 4096
_LARGE = 1 << 12  # pairs; below, np.argsort is as fast
#: By so much a statistic may be smaller than another that it equals but for rounding.
_TOLERANCE = 1e-9


def joint_pvalues(
    joint: Joint,
    pairs: Pairs,
    statistic: Floats,
    inverse: Floats,
    pool: ThreadPool,
    *,
    down: bool = True,
    alternative: str = "two-sided",
    integrated: bool = False,
) -> Floats:
    """P-values adjusted for all pairs by the largest statistic of each draw; NaN stays NaN.

    A p-value is the proportion of draws in which the largest statistic, of the pair and
    all less extreme ones, reaches that of the pair; none is below that of a more
    extreme pair. Not `down`, the largest is over all pairs. Of normal draws the lengths of
    the drawn vectors may be `integrated`, where pairs and draws are not too many for that.
    """
    tested = np.flatnonzero(~np.isnan(statistic))
    size = statistic[tested]
    if alternative == "two-sided":
        size = np.abs(size)
    elif alternative == "less":
        size = -size
    order = order_of(size) if size.size >= _LARGE else np.argsort(size)
    places, size = tested[order], size[order]  # the least extreme first
    ordered_pairs, scales, n = pairs[places], inverse[places], joint.n_draws
    if integrated and statistic.size * n <= _INTEGRATED:
        pvalues = _integrate(joint, ordered_pairs, scales, size, alternative, pool, down=down)
    else:
        least = size - _TOLERANCE * (1.0 + np.abs(size))
        least[np.isnan(least)] = np.inf  # inf - inf
        counts, largest = _count_draws(joint, ordered_pairs, scales, least, alternative, pool)
        if not down:
            counts = n - np.searchsorted(np.sort(largest), least)
        pvalues = (counts + joint.added) / (n + joint.added)
    if down:
        np.maximum.accumulate(pvalues[::-1], out=pvalues[::-1])
    adjusted = np.full(statistic.size, np.nan)
    adjusted[places] = pvalues
    return adjusted


def _integrate(
    joint: Joint,
    pairs: Pairs,
    inverse: Floats,
    size: Floats,
    alternative: str,
    pool: ThreadPool,
    *,
    down: bool,
) -> Floats:
    """Probabilities that the largest statistics reach each size, averaged over lengths."""
    assert joint.radii is not None
    radii, how = joint.radii, (float(joint.rank), joint.df)
    if not down:
        tails = np.empty(size.size)
        _, largest = _count_draws(joint, pairs, inverse, np.zeros(size.size), alternative, pool)

        def integrate_one(p: int) -> None:
            tails[p] = radial_tail(float(size[p]), largest, radii, *how)

        pool.run(integrate_one, range(size.size), steps=0)
        return tails
    spans = parts(joint.n_draws, _INTEGRATED_DRAWS)
    tails_by_part = np.zeros((len(spans), size.size))

    def integrate(task: int) -> None:
        drawn, code = np.ascontiguousarray(joint.draws(spans[task])), ALTERNATIVES[alternative]
        step_down_tails(
            drawn, radii[spans[task]], pairs, inverse, size, (*how, code), tails_by_part[task]
        )

    pool.run(integrate, range(len(spans)), steps=0)
    return np.average(tails_by_part, axis=0, weights=[part.stop - part.start for part in spans])


def critical_value(  # the pairs, and of what
    joint: Joint,
    pairs: Pairs,
    inverse: Floats,
    level: float,
    pool: ThreadPool,
    *,
    alternative: str = "two-sided",
) -> float:
    """The value that no pair's statistic exceeds, with a probability of `level`.

    Of normal draws; two-sided its absolute value.
    """
    assert joint.radii is not None
    varied = np.flatnonzero(inverse > 0.0)  # NaN is not
    none = np.zeros(varied.size)
    _, largest = _count_draws(joint, pairs[varied], inverse[varied], none, alternative, pool)
    rank, tail = float(joint.rank), 1.0 - level
    return float(radial_quantile(largest, joint.radii, rank, joint.df, tail))


def _count_draws(  # the draws, the pairs in order, and what to count
    joint: Joint, pairs: Pairs, inverse: Floats, least: Floats, alternative: str, pool: ThreadPool
) -> tuple[Ints, Floats]:
    """Counts as by `kernels.step_down`, and the largest statistic of each draw."""
    pairs, code = np.ascontiguousarray(pairs), ALTERNATIVES[alternative]
    counts, largest = np.zeros(len(pairs), np.int64), np.empty(joint.n_draws)
    lock = new_lock()

    def count(span: slice) -> None:
        nonlocal counts
        part_counts = np.zeros_like(counts)
        drawn = np.ascontiguousarray(joint.draws(span))
        step_down(drawn, pairs, inverse, least, code, part_counts, largest[span])
        with lock:
            counts += part_counts

    pool.run(count, parts(joint.n_draws, _DRAWS), steps=0)
    return counts, largest


# Draws of normal numbers with the covariance of several models' estimates.


# Of products: their size must not depend on the number of draws, or rounding would.
_DRAWS_AT_ONCE, _SAMPLES = 512, 4096
_RANK = 1e-13  # of a variance; what is left of one below it is rounding
_SMALL = 1 << 16  # numbers that are not worth threads
_LARGE_PRODUCT = 1e9  # multiplications in which BLAS may have several threads
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
    """Draws from N(0, covariance), shape (M, B); the covariance may be singular."""
    return normal_products(covariance_root(covariance), n_draws, seed, pool)


def directions(
    covariance: Floats, n_draws: int, seed: int, pool: ThreadPool | None = None
) -> Directions:
    """Draws from N(0, covariance), and their lengths."""
    return directions_of_root(covariance_root(covariance), slice(0, n_draws), seed, pool)


def directions_of_root(
    root: Floats, span: slice, seed: int, pool: ThreadPool | None = None
) -> Directions:
    """Some draws from N(0, root root'), and their lengths.

    In few dimensions from a lattice with a random shift: averages over its points are
    some seven times as precise as over random ones.
    """
    df = root.shape[1]
    if df <= LATTICE:
        check_draws(span.stop - span.start, 4 * df)
        shifts = [(random_below(seed, 0, k, 2**30) + 0.5) / 2**30 for k in range(df)]
        numbers = np.empty((df, span.stop - span.start))
        lattice_normals(np.sqrt(_PRIMES[:df]), np.array(shifts), span.start, numbers)
        with blas_for(root.size * numbers.shape[1]):
            values = root @ numbers
        return Directions(values, np.sqrt(np.einsum("ij,ij->j", numbers, numbers)), df)
    squares = np.zeros(span.stop - span.start)
    values = normal_products(root, span.stop, seed, pool, squares, span.start)
    return Directions(values, np.sqrt(squares), df)


def t_scales(n_draws: int, seed: int, start: int, df: float) -> Floats:
    """Factors that make normal numbers those of t, shape (B,), drawn after `start` others."""
    from scipy.special import chdtri, ndtr

    numbers = np.empty((n_draws, 1))
    random_normals(seed, 0, start, numbers)
    return np.asarray(np.sqrt(df / chdtri(df, ndtr(numbers[:, 0]))))


def covariance_root(covariance: Floats) -> Floats:
    """A root of a covariance, R with R R' equal to it, shape (M, rank).

    By pivoted Cholesky decomposition of the correlations, so that models of unequal
    precision keep theirs; a model of variance 0 has a row of zeros.
    """
    from scipy.linalg.lapack import dpstrf

    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    unit = np.where(deviation > 0.0, deviation, 1.0)
    correlation = covariance / np.outer(unit, unit)
    # To the bit: the first pivot is then no matter of rounding, and draws are stable.
    np.fill_diagonal(correlation, deviation > 0.0)
    with blas_for(len(correlation) ** 3 / 3.0):
        lower, pivots, rank, _ = dpstrf(correlation, tol=_RANK, lower=1, overwrite_a=1)
    root = np.empty((len(lower), rank))
    root[pivots - 1] = np.tril(lower[:, :rank])
    root *= deviation[:, None]
    return root


def normal_products(
    rows: Floats,
    n_draws: int,
    seed: int,
    pool: ThreadPool | None,
    squares: Floats | None = None,
    first: int = 0,
) -> Floats:
    """Rows, (M, n), times normal numbers, one a sample: draws `first` to B, (M, B - first).

    They have the covariance ``rows @ rows.T``; `squares` receives the sums of squares of the
    numbers.
    """
    m, n = rows.shape
    check_draws(n_draws - first, m)
    out = np.zeros((m, n_draws - first), rows.dtype)
    spans, work = parts(n_draws - first, _DRAWS_AT_ONCE), float(m) * n * _DRAWS_AT_ONCE

    def multiply(span: slice) -> None:
        numbers = np.empty((_DRAWS_AT_ONCE, min(n, _SAMPLES)))
        total = np.zeros((m, _DRAWS_AT_ONCE), rows.dtype)
        for samples in parts(n, _SAMPLES):
            drawn = numbers[:, : samples.stop - samples.start]
            _fill(drawn, (seed, first + span.start, samples.start), inner)
            total += rows[:, samples] @ drawn.T.astype(rows.dtype, copy=False)
            if squares is not None:
                used = drawn[: span.stop - span.start]
                squares[span] += np.einsum("ij,ij->i", used, used)
        out[:, span] = total[:, : span.stop - span.start]

    with ThreadPool(1) as own_pool, blas_for(work):
        outer, inner = own_pool, pool or own_pool
        if len(spans) > 1 and _SMALL < work < _LARGE_PRODUCT:  # each in one thread, also of BLAS
            outer, inner = inner, outer
        outer.run(multiply, spans, steps=0)
    return out


def _fill(numbers: Floats, first: tuple[int, int, int], pool: ThreadPool) -> None:
    """Draw a block of numbers, a row a draw; `first` has seed, draw and sample."""
    seed, start, sample = first

    def draw(rows: slice) -> None:
        random_normals(seed, start + rows.start, sample, numbers[rows])

    tasks = parts(len(numbers), len(numbers) // 8)
    pool.run(draw, tasks, steps=0, here=numbers.size < _SMALL)


# Quantiles of the largest of many correlated normal statistics, by simulation.


_BLOCK = 1 << 15  # numbers of a block of draws: tiles of models stay in a first-level cache
_LEAST_BLOCK = 120  # draws
_WORK = 2e8  # pairs times draws that are worth it: a part of a second
_FEWEST = 1000
_PILOT = _DRAWS_AT_ONCE  # draws that tell how many are needed
#: Of 1 - level: standard error of the level at a critical value, as of 12,000 draws that are
#: counted where the level is 0.95.
_EXACT = 0.04
_SMOOTH = 128  # models, at most, whose lengths are averaged where draws are made as needed
_TAIL = 50  # draws beyond the critical value, at least
_BINS = 512
_PRECISION = 1e-6  # of the last of Newton's steps: the next would be 1e-12
_MOST_STEPS = 100
_LONG = 1e3  # no vector of so few normal numbers is as long
_FAR = 1e100  # of a statistic; its square is finite
#: Of the variances of both; less is rounding: the models are the same but for a shift.
SAME = 1e-10
_ALIKE = 3e-3  # of the largest standard error: less is too little for single precision
_TIE = 1e-9  # statistics that differ by less are equal


class DrawCount(NamedTuple):
    """How many draws there are at first, and at most, if the level is not exact."""

    first: int
    most: int
    #: The standard error that the level at a critical value may have.
    error: float = 0.0


_AS_IT_IS = DrawCount(0, 0)


def read_draws(n_resamples: int | None, n_models: int, level: float) -> DrawCount:
    """The checked number of draws; None is as many as make the level exact to 4 % of the rest.

    Of many models fewer, but some in the tail.
    """
    if n_resamples is None:
        tail, error = 1.0 - level, _EXACT * (1.0 - level)
        most = min(max(int(_WORK / n_models**2), _FEWEST), math.ceil(level * tail / error**2))
        most = max(most, math.ceil(_TAIL / tail))
        first = _PILOT if n_models <= _SMOOTH else most
        return DrawCount(min(first, most), most, error)
    n_draws = as_resamples(n_resamples)
    least = int(np.ceil(1.0 / (1.0 - level) - 1e-9))
    if n_draws < least:
        raise BadValueError(
            f"`n_resamples` must be at least {least} for the level {level:g}", n_draws
        )
    return DrawCount(n_draws, n_draws)


def upper_quantile(alpha: float, df: float) -> float:
    """The number that a statistic alone is above with the probability alpha."""
    return float(-t_ppf(alpha, df))


@dataclass
class Maxima:
    """Draws of models' estimates about their true values, and what is largest in them.

    Where there are few models, a quantile is an average over the lengths that a draw
    could have had as well: only its direction is drawn. And each draw counts with its
    mirror image too. That is worth five to twenty times as many draws.

    Statistics with standard errors of their own, from the same few items, are less
    alike than those of a multivariate t, which share one: its critical values are too
    low. So normal numbers are drawn, and turned into t one by one, each as probable as
    before (Hasler and Hothorn, Biometrical Journal 50 (2008) 793-800).
    """

    draws: Directions
    pool: ThreadPool
    #: Degrees of freedom of the standard errors: of t, infinite for normal statistics.
    df: float = math.inf
    #: Models, at most, whose lengths are averaged.
    most_smooth: int = LATTICE
    #: How more is drawn, where the number of draws follows from their precision.
    count: DrawCount = _AS_IT_IS
    root: Floats | None = None
    seed: int = 0
    #: Of the level at a quantile, of one draw.
    _variance: float = 0.0

    @classmethod
    def of(
        cls,
        covariance: Floats,
        count: int | DrawCount,
        seed: int,
        pool: ThreadPool,
        df: float = math.inf,
        errors: Floats | None = None,
    ) -> Maxima:
        """Draw; what is common to all models is left out.

        `errors` are the standard errors of differences, 0 where there is none to test:
        where none is tiny, many models are drawn in single precision.
        """
        m = len(covariance)
        count = count if isinstance(count, DrawCount) else DrawCount(count, count)
        check_draws(count.most, 2 * m + 5 * m * m / count.most, of=f" of {m} models")
        means = covariance.mean(axis=0)
        centred = covariance - means
        centred -= (means - means.mean())[:, None]
        root = covariance_root(centred)
        if errors is not None and root.shape[1] > LATTICE:
            least = np.min(errors, where=errors > 0.0, initial=np.inf)
            if least > _ALIKE * np.sqrt(np.diagonal(centred).max()):
                root = root.astype(np.float32)
        return cls.of_root(root, count, seed, pool, df)

    @classmethod
    def of_root(
        cls, root: Floats, count: DrawCount, seed: int, pool: ThreadPool, df: float = math.inf
    ) -> Maxima:
        """Draw from N(0, root root')."""
        drawn = directions_of_root(root, slice(0, count.first), seed, pool)
        most_smooth = LATTICE if count.first == count.most else _SMOOTH
        return cls(drawn, pool, df, most_smooth, count, root, seed)

    @classmethod
    def of_values(cls, values: Floats, pool: ThreadPool) -> Maxima:
        """Take draws as they are, shape (M, B)."""
        return cls(Directions(values, np.ones(values.shape[1]), LATTICE + 1), pool)

    @property
    def smooth(self) -> bool:
        """Whether quantiles are averages over lengths."""
        return 0 < self.draws.df <= self.most_smooth

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.draws.lengths.size

    def draw_more(self) -> bool:
        """Draw more where the level of quantiles is not exact yet; False where it is."""
        n, most = self.n_draws, self.count.most
        if n >= most or self._variance <= n * self.count.error**2:
            return False
        n_needed = math.ceil(self._variance / self.count.error**2 / _DRAWS_AT_ONCE) * _DRAWS_AT_ONCE
        assert self.root is not None
        span = slice(n, min(most, n_needed))
        more = directions_of_root(self.root, span, self.seed, self.pool)
        values = np.concatenate([self.draws.values, more.values], axis=1)
        lengths = np.concatenate([self.draws.lengths, more.lengths])
        self.draws = Directions(values, lengths, more.df)
        self.count = self.count._replace(most=lengths.size)  # the first draws told enough
        return True

    def largest(
        self,
        weights: Floats,
        rows: Ints | None = None,
        *,
        apart: bool = False,
        sign: float = 1.0,
        only: Ints | None = None,
    ) -> Floats:
        """The largest weighted differences of each draw, at least 0.

        Those of models `rows` from the others, row by row of `weights`, (R, M): of all
        together, shape (1, N), or `apart`, (R, N). N is the number of draws, twice it
        where each has a mirror image; of draws with another `sign`, or `only` of some.
        """
        m = weights.shape[1]
        rows = np.arange(m) if rows is None else rows
        targets = np.arange(rows.size) if apart else np.zeros(rows.size, np.int64)
        values = self.draws.values if only is None else self.draws.values[:, only]
        n, kind = values.shape[1], values.dtype
        weights = np.ascontiguousarray(weights, kind)
        # Of all ordered pairs a draw and its mirror image have the same.
        same = not apart and weights.shape == (m, m) and np.array_equal(weights, weights.T)
        signs = (sign, -sign) if self.smooth and not same else (sign,)
        maxima = np.zeros((rows.size if apart else 1, len(signs) * n))

        def look(span: slice) -> None:
            block = np.ascontiguousarray(values[:, span])
            for k, direction in enumerate(signs):
                out = np.zeros((len(maxima), block.shape[1]), kind)
                turned = block if direction > 0.0 else -block
                difference_maxima(turned, weights, rows, targets, out)
                maxima[:, k * n + span.start : k * n + span.stop] = out

        tasks = parts(n, max(_LEAST_BLOCK, _BLOCK // m))
        small = rows.size * m * n < 1 << 24  # some milliseconds
        self.pool.run(look, tasks, steps=0, here=small)
        return np.tile(maxima, 2) if self.smooth and same else maxima

    def quantiles(self, maxima: Floats, level: float) -> Floats:
        """Quantile of the statistics of each row of drawn maxima, shape (T,)."""
        near = order_statistics(maxima, level)
        if not self.smooth:
            return as_t(near, self.df)
        lengths = np.resize(self.draws.lengths, maxima.shape[1])
        numbers, nodes = _grouped(maxima, lengths)
        quantile = _smooth(numbers, nodes, self.draws.df, level, near)
        if self.n_draws < self.count.most:
            from scipy.special import gammaincc

            above = gammaincc(0.5 * self.draws.df, 0.5 * (quantile[:, None] / nodes) ** 2)
            for row, *curve in zip(maxima / lengths, nodes, above, strict=True):
                # A draw and its mirror image count as one.
                levels = np.interp(row, *curve).reshape(-1, self.n_draws).mean(axis=0)
                self._variance = max(self._variance, float(levels.var()))
        return as_t(quantile, self.df)

    def tails(self, maxima: Floats, at: Floats) -> Floats:
        """Probability that one row of maxima, (N,), reaches each of some statistics."""
        from scipy.special import gammaincc, ndtri, stdtr

        if math.isfinite(self.df):
            at = np.where(at > 0.0, -ndtri(stdtr(self.df, -at)), at)
        if not self.smooth:
            behind = maxima.size - np.searchsorted(np.sort(maxima), at - _TIE)
            return np.asarray((1.0 + behind) / (1.0 + maxima.size))
        lengths = np.resize(self.draws.lengths, maxima.size)
        numbers, nodes = _grouped(maxima.reshape(1, -1), lengths)
        squares = (np.clip(at, 0.0, _FAR)[:, None] / nodes) ** 2
        upper = gammaincc(0.5 * self.draws.df, 0.5 * squares) @ numbers[0] / maxima.size
        return np.where(at <= 0.0, 1.0, upper)


def as_t(normal: Floats, df: float) -> Floats:
    """Statistics that are as improbable by t as some are by the normal distribution."""
    from scipy.special import ndtr, stdtrit

    if math.isinf(df):
        return normal
    return np.asarray(-np.sign(normal) * stdtrit(df, ndtr(-np.abs(normal))))


def order_statistics(values: Floats, level: float) -> Floats:
    """The order statistic of each row above which at most 1 - level lie."""
    n = values.shape[-1]
    place = min(int(np.ceil(level * (n + 1) - 1e-9)), n) - 1
    return np.asarray(np.partition(values, place, axis=-1)[..., place], np.float64)


def _grouped(maxima: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """Numbers of drawn maxima over their lengths, (R, N), at nodes, and the nodes.

    Both have a row a row and a column a node, _BINS or as many as are near a draw; the first is
    for maxima of 0. Levels are within 5e-6 of those of every draw by itself.
    """
    numbers, nodes = np.empty((2, len(maxima), _BINS))
    for row, counts, at in zip(maxima, numbers, nodes, strict=True):
        ratios = row / lengths
        width = ratios.max() / (_BINS - 1) or 1.0
        place = ratios / width
        left = np.minimum(place.astype(np.int64), _BINS - 2)
        part = np.bincount(left, place - left, _BINS)  # to the node on the right
        counts[:] = np.bincount(left, minlength=_BINS) - part
        counts[1:] += part[:-1]
        at[:] = width * np.arange(_BINS)
        at[0] = 1e-3 * width  # maxima of 0, which no number is below
    kept = np.asarray(numbers.any(axis=0))
    kept[0] = True
    return numbers[:, kept], nodes[:, kept]


def _smooth(numbers: Floats, nodes: Floats, df: int, level: float, start: Floats) -> Floats:
    """The q of each row with mean P(node * length <= q) = level, by Newton's method."""
    from scipy.special import gammainc, gammaln

    scale = (1.0 - 0.5 * df) * np.log(2.0) - gammaln(0.5 * df)
    total, quantiles = numbers.sum(axis=1), np.zeros(len(start))
    used = total - numbers[:, 0] > (1.0 - level) * total
    numbers, nodes, q, target = numbers[used], nodes[used], start[used], level * total[used]
    for _ in range(_MOST_STEPS):
        length = np.minimum(q[:, None] / nodes, _LONG)
        below = gammainc(0.5 * df, 0.5 * length**2)
        density = np.exp((df - 1.0) * np.log(length) - 0.5 * length**2 + scale)
        step = (np.vecdot(numbers, below) - target) / np.vecdot(numbers / nodes, density)
        before, q = q, np.clip(q - step, 0.8 * q, 1.25 * q)
        if np.all(np.abs(q - before) <= _PRECISION * q):
            break
    quantiles[used] = q
    return quantiles
