"""Counter-based random numbers: each is a pure function of (seed, replicate, draw).

No state is kept, so replicates give the same numbers on any number of threads, and in
any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcmp._jit import inlined, kernel

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
    """Give one of the words of a key."""
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
