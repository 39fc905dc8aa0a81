"""Counter-based random numbers: each is a pure function of (seed, replicate, draw).

No state is kept, so replicates give the same numbers on any number of threads, and in
any order.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fastcmp._jit import helper, inlined, kernel, look_at_clock, wide_vectors
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.typing import FloatArray, IntArray, OrderArray, PatternArray

_GOLDEN = 0x9E3779B97F4A7C15
_ALL = 0xFFFFFFFFFFFFFFFF
_32 = np.uint64(32)

_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(_GOLDEN)
_1 = np.uint64(1)


@inlined
def _mix(x: Any) -> Any:
    """Scramble 64 bits: the finalizer of SplitMix64."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@inlined
def _next(key: Any, draw: int) -> Any:
    """One of the words of a key."""
    return _mix(key + (np.uint64(draw) + _1) * _STEP)


@inlined
def _word(seed: int, replicate: int, draw: int) -> Any:
    key = _mix(np.uint64(seed) + (np.uint64(replicate) + _1) * _STEP)
    return _next(key, draw)


@kernel
def random_below(seed: int, replicate: int, draw: int, n: int) -> int:
    """Draw a whole number below n.

    Parameters
    ----------
    seed, replicate, draw : int
        The number is a function of these; not negative.
    n : int
        Below 2**31.

    Returns
    -------
    int
        In [0, n), each with probability 1/n to within 2**-32.

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
       generators", OOPSLA (2014) 453-472.

    Examples
    --------
    >>> from fastcmp.kernels import random_below
    >>> [random_below(1, 0, draw, 6) for draw in range(8)]
    [2, 5, 0, 4, 1, 4, 3, 1]
    """
    word = _word(seed, replicate, draw)
    # The leading 32 bits, scaled down: no division.
    return (int(word >> _32) * int(n)) >> 32


# 52 bits and a half: neither 0 nor 1 can be drawn.
_12 = np.uint64(12)
_SCALE = 2.0**-52
_NEAREST = 1e-15  # of a probability to 0 and 1
_MIDDLE = 0.425  # of a probability from one half: a rational function is exact there


@kernel
def random_normals(seed: int, replicate: int, start: int, out: FloatArray) -> None:
    """Draw standard normal numbers.

    Parameters
    ----------
    seed, replicate, start : int
        Number i of row r is a function of (seed, replicate + r, start + i) only; not
        negative.
    out : ndarray of float64, shape (R, n)
        Receives the numbers, a row a replicate.

    Notes
    -----
    Quantiles of uniform numbers of 52 bits: none is above 8.2 in size. Most are in the
    middle, where the quantile is a ratio of polynomials [1]_, of eight at once.

    References
    ----------
    .. [1] M. J. Wichura, "Algorithm AS 241: the percentage points of the normal
       distribution", Applied Statistics 37 (1988) 477-484, PPND16.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import random_normals
    >>> out = np.empty((1, 3))
    >>> random_normals(1, 0, 0, out)
    >>> out.round(3).tolist()
    [[-0.337, 1.585, -1.693]]
    """
    for r in range(out.shape[0]):
        _fill_middle(seed, replicate + r, start, out[r])
        for i in range(out.shape[1]):
            if out[r, i] == np.inf:
                word = _word(seed, replicate + r, start + i)
                out[r, i] = ndtri((float(word >> _12) + 0.5) * _SCALE)


@kernel
def _fill_middle(seed: int, replicate: int, start: int, out: FloatArray) -> None:
    """Write the numbers in the middle of the distribution, infinity for others."""
    wide_vectors()
    for i in range(out.size):
        word = _word(seed, replicate, start + i)
        q = (float(word >> _12) + 0.5) * _SCALE - 0.5
        out[i] = _middle(q) if abs(q) <= _MIDDLE else np.inf


@helper
def _middle(q: float) -> float:
    r = 0.180625 - q * q
    above = 2.5090809287301226727e3
    above = above * r + 3.3430575583588128105e4
    above = above * r + 6.7265770927008700853e4
    above = above * r + 4.5921953931549871457e4
    above = above * r + 1.3731693765509461125e4
    above = above * r + 1.9715909503065514427e3
    above = above * r + 1.3314166789178437745e2
    above = above * r + 3.3871328727963666080
    below = 5.2264952788528545610e3
    below = below * r + 2.8729085735721942674e4
    below = below * r + 3.9307895800092710610e4
    below = below * r + 2.1213794301586595867e4
    below = below * r + 5.3941960214247511077e3
    below = below * r + 6.8718700749205790830e2
    below = below * r + 4.2313330701600911252e1
    below = below * r + 1.0
    return q * above / below


def _lattice_by_numpy(steps: FloatArray, shifts: FloatArray, start: int, out: FloatArray) -> None:
    """As `lattice_normals`."""
    place = steps[:, None] * (np.arange(out.shape[1]) + (start + 1.0)) + shifts[:, None]
    p = np.clip(np.abs(2.0 * (place - np.floor(place)) - 1.0), _NEAREST, 1.0 - _NEAREST)
    look_at_clock(out.size)
    of_middle: Any = _middle
    of_tails: Any = ndtri
    out[...] = np.where(np.abs(p - 0.5) <= _MIDDLE, of_middle(p - 0.5), of_tails(p))


@partial(kernel, by_numpy=_lattice_by_numpy)
def lattice_normals(steps: FloatArray, shifts: FloatArray, start: int, out: FloatArray) -> None:
    """Normal numbers at evenly spread points: Richtmyer's lattice, folded.

    Parameters
    ----------
    steps : ndarray of float64, shape (D,)
        Irrational numbers, such as square roots of primes, one a dimension.
    shifts : ndarray of float64, shape (D,)
        Where the lattice begins, in [0, 1).
    start : int
        Points that come before the first.
    out : ndarray of float64, shape (D, n)
        Receives the numbers, a column a point.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.rng import lattice_normals
    >>> out = np.empty((2, 3))
    >>> lattice_normals(np.sqrt([2.0, 3.0]), np.array([0.1, 0.6]), 0, out)
    >>> out.round(3).tolist()
    [[-1.904, 1.066, -0.483], [-0.424, 1.135, 0.233]]
    """
    for k in range(out.shape[0]):
        _lattice_middle(steps[k], shifts[k], start, out[k])
        for i in range(out.shape[1]):
            if out[k, i] == np.inf:
                place = steps[k] * (i + (start + 1.0)) + shifts[k]
                p = abs(2.0 * (place - np.floor(place)) - 1.0)
                out[k, i] = ndtri(min(max(p, _NEAREST), 1.0 - _NEAREST))


@kernel
def _lattice_middle(step: float, shift: float, start: int, out: FloatArray) -> None:
    """Write the numbers in the middle of the distribution, infinity for others."""
    wide_vectors()
    for i in range(out.size):
        place = step * (i + (start + 1.0)) + shift
        q = abs(2.0 * (place - np.floor(place)) - 1.0) - 0.5
        out[i] = _middle(q) if abs(q) <= _MIDDLE else np.inf


# Random partitions: an order is shuffled, and a fixed pattern dealt along it.
#
# A resampling design is a shuffle and a deal, so that simulations can build it in their
# inner loop. An order depends only on its length, the seed and the replicate.

_LOW = np.uint64(0xFFFFFFFF)


@inlined
def _shuffle_part(seed: int, replicate: int, start: int, end: int, order: Any) -> None:
    """Fisher and Yates, upwards: the word of positions 2 k and 2 k + 1 is word k."""
    for k in range(start >> 1, (end + 1) >> 1):
        word = _word(seed, replicate, k)
        i = 2 * k
        if i >= start:
            j = start + ((int(word >> _32) * (i + 1 - start)) >> 32)
            held = order[i]
            order[i] = order[j]
            order[j] = held
        i += 1
        if i < end:
            j = start + ((int(word & _LOW) * (i + 1 - start)) >> 32)
            held = order[i]
            order[i] = order[j]
            order[j] = held


@kernel
def shuffle(seed: int, replicate: int, order: OrderArray) -> None:
    """Put an array in a random order.

    Parameters
    ----------
    seed, replicate : int
        The order is a function of these; not negative.
    order : ndarray, shape (n,)
        What to shuffle in place, such as the integers below n; n below 2**31.

    References
    ----------
    .. [1] R. Durstenfeld, "Algorithm 235: random permutation", Communications of the
       ACM 7 (1964) 420.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import shuffle
    >>> order = np.arange(8)
    >>> shuffle(1, 0, order)
    >>> order.tolist()
    [4, 5, 2, 1, 7, 6, 0, 3]
    """
    _shuffle_part(seed, replicate, 0, order.size, order)


@kernel
def shuffle_within(seed: int, replicate: int, ends: IntArray, order: OrderArray) -> None:
    """Put each segment of an array in a random order of its own.

    Parameters
    ----------
    seed, replicate : int
        The order is a function of these; not negative.
    ends : ndarray of int, shape (S,)
        Where each segment ends and the next one begins, ascending, at most n. What
        follows the last end stays as it is.
    order : ndarray, shape (n,)
        What to shuffle in place.

    Notes
    -----
    With one segment it is `shuffle`.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import shuffle_within
    >>> order = np.arange(8)
    >>> shuffle_within(1, 0, np.array([3, 8]), order)
    >>> order.tolist()
    [1, 0, 2, 5, 3, 7, 6, 4]
    """
    start = 0
    for k in range(ends.size):
        end = int(ends[k])
        _shuffle_part(seed, replicate, start, end, order)
        start = end


@kernel
def deal(pattern: PatternArray, order: OrderArray, out: PatternArray) -> None:
    """The i-th entry of a pattern for the i-th sample of an order.

    Parameters
    ----------
    pattern : ndarray of int16, shape (n,) or (m, n)
        What to deal, such as the numbers of folds.
    order : ndarray of int, shape (n,)
        A permutation of the integers below n.
    out : ndarray of int16, of the shape of `pattern`
        Receives ``out[..., order[i]] = pattern[..., i]``.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import deal
    >>> pattern, out = np.array([0, 1, 2], np.int16), np.empty(3, np.int16)
    >>> deal(pattern, np.array([2, 0, 1]), out)
    >>> out.tolist()
    [1, 2, 0]
    """
    if pattern.ndim == 1:
        for i in range(order.size):
            out[order[i]] = pattern[i]
    else:
        for j in range(pattern.shape[0]):
            row, dealt = pattern[j], out[j]
            for i in range(order.size):
                dealt[order[i]] = row[i]
