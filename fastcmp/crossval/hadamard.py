"""Halves of a data set, any two of which share a quarter of it.

The columns of a Hadamard matrix cut its rows into halves, and any two columns into
quarters. Samples are dealt in rounds, one sample a row. Rounds may use matrices of
different orders, so that any number of samples is cut as evenly as possible.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int16]
    Signs = NDArray[np.int8]

_LONGEST = 256  # rows to spread: the time grows with their cube


def smallest_order(m: int) -> int:
    """Find the smallest matrix with m columns beside the constant one, m >= 2."""
    order = 4 * (m // 4 + 1)
    while not _is_known(order):
        order += 4
    return order


def _is_known(order: int) -> bool:
    return _is_power_of_two(order) or (
        order % 4 == 0 and (_is_prime(order - 1) or _is_known(order // 2))
    )


def _is_power_of_two(order: int) -> bool:
    return order & (order - 1) == 0


def _is_prime(q: int) -> bool:
    return q > 1 and all(q % d for d in range(2, isqrt(q) + 1))


def _matrix(order: int) -> Signs:
    """Make a Hadamard matrix of 1 and -1 whose first column is constant.

    Order q + 1 comes from squares modulo q: Paley, "On orthogonal matrices" (1933).
    """
    if _is_power_of_two(order):
        # Entry (x, c): parity of the bits of x in a mask; first the highest bit.
        top = order >> 1
        masks = np.array([0, top, *(k for k in range(1, order) if k != top)])
        bits = np.arange(order)[:, None] & masks
        parity = sum(bits >> k & 1 for k in range(order.bit_length()))
        return np.asarray(1 - 2 * (parity % 2), np.int8)
    q = order - 1
    if not _is_prime(q):
        half = _matrix(order // 2)
        return np.block([[half, half], [half, -half]])
    numbers = np.arange(q)
    is_square = np.zeros(q, bool)
    is_square[numbers**2 % q] = True
    signs = np.ones((order, order), np.int8)
    signs[1:, 1:] = 2 * is_square[(numbers[:, None] - numbers) % q] - 1
    signs[1:, 0] = -1
    return signs * signs[:, :1]


@lru_cache(maxsize=64)
def halves(order: int, m: int, spread: bool = False) -> Rows:  # noqa: FBT001, FBT002  # a key
    """Cut the rows of a Hadamard matrix in halves 0 and 1, m times: (order, m).

    `spread` orders the rows such that their beginnings are nearly balanced too.
    """
    columns = (_matrix(order)[:, 1 : m + 1] < 0).astype(np.int16)
    if spread and order <= _LONGEST:
        columns = columns[_spread(1.0 - 2.0 * columns)]
    columns.flags.writeable = False
    return columns


def _spread(signs: NDArray[Any]) -> NDArray[np.int64]:
    """Order rows so that no column gets far ahead: always the row that helps most."""
    left = np.arange(len(signs))
    total = np.zeros(signs.shape[1])
    order = []
    while left.size:
        ahead = np.abs(total + signs[left])
        # The largest lead counts, and the number of columns that share it.
        worth = (ahead**6).sum(axis=1)
        best = int(worth.argmin())
        order.append(left[best])
        total += signs[left[best]]
        left = np.delete(left, best)
    return np.array(order)


@lru_cache(maxsize=64)
def _fillers(base: int) -> dict[int, tuple[int, ...]]:
    """Find the one or two rounds that bring samples to a multiple of `base`.

    From residues modulo base / 4 to the orders with the fewest rows, both in quarters.
    """
    b = base // 4
    quarters = [k for k in range(b + 1, 3 * b) if _is_known(4 * k)]
    found: dict[int, tuple[int, ...]] = {0: ()}
    for count in (1, 2):
        for parts in combinations_with_replacement(quarters, count):
            residue = sum(parts) % b
            if residue not in found or sum(parts) < sum(found[residue]):
                found[residue] = parts
    return found


def rounds(n: int, m: int) -> tuple[list[tuple[int, int]], int]:
    """Divide n samples among rounds: orders with their numbers, and samples left over.

    At most 3 samples are left over, except for small n and m above 11.
    """
    base = smallest_order(m)
    b = base // 4
    found = _fillers(base)
    for quarters in range(n // 4, b - 1, -1):
        parts = found.get(quarters % b)
        if parts is not None and sum(parts) <= quarters:
            break
    times = (quarters - sum(parts or ())) // b
    counted = [(base, times)] if times else []
    sizes = sorted(set(parts or ()))
    counted += [(4 * k, (parts or ()).count(k)) for k in sizes]
    return counted, n - 4 * quarters


def blocked_pattern(n: int, m: int, *, spread: bool = False) -> Rows:
    """Give each of n samples its half, 0 or 1, in each of m cuts: shape (m, n).

    A half holds n/2 samples, and two of them share n/4, as nearly as whole numbers
    allow where `rounds` leaves at most 3 samples over.
    """
    if n % 4 == 3:
        # One sample less than a balanced pattern. It would be of half 0 in all cuts, so
        # that the halves of all cuts are of the same sizes.
        whole = blocked_pattern(n + 1, m, spread=spread)
        return whole[:, :-1] ^ whole[:, -1:]
    out = np.empty((m, n), np.int16)
    counted, left = rounds(n, m)
    start = 0
    for order, times in counted:
        rows = halves(order, m, spread)
        for j in range(m):
            part = out[j, start : start + times * order]
            part.reshape(times, order)[:] = rows[:, j]
        start += times * order
    out[:, start:] = _rest(left, m, spread=spread)
    return out


def _rest(left: int, m: int, *, spread: bool) -> NDArray[Any]:
    """Deal what fills no round: rows and their opposites, then the same for all."""
    n_pairs = left // 4 * 2
    rows = halves(smallest_order(m), m, spread)[1 : 1 + n_pairs]
    pairs = np.stack([rows, 1 - rows], axis=1).reshape(2 * n_pairs, m)
    same = np.array([[], [1], [0, 1]][left % 4], np.int16)
    return np.concatenate([pairs.T, np.broadcast_to(same, (m, same.size))], axis=1)
