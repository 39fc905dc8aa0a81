"""Halves of a data set, any two of which share a quarter of it.

The columns of a Hadamard matrix cut its rows into halves, and any two columns into
quarters. Samples are dealt in rounds, one sample a row; rounds may be of matrices of
different orders, so that every number of samples is cut as evenly as it can be.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int16]
    Signs = NDArray[np.int8]

_LONGEST = 256  # rows to spread: the time grows with their cube


def smallest_order(m: int) -> int:
    """Find the smallest matrix with m columns beside the constant one.

    Parameters
    ----------
    m : int
        At least 1.

    Returns
    -------
    int
        A power of two or a multiple of 4, above m.

    Examples
    --------
    >>> [smallest_order(m) for m in (1, 2, 3, 4, 8, 89)]
    [2, 4, 4, 8, 12, 96]
    """
    order = 2 if m < 2 else 4 * (m // 4 + 1)
    while not _is_at_hand(order):
        order += 4
    return order


def halves(order: int, m: int, *, spread: bool = False) -> Rows:
    """Cut the rows of a Hadamard matrix in halves.

    Parameters
    ----------
    order : int
        An order at hand.
    m : int
        How many columns, below `order`.
    spread : bool
        Whether to put the rows in an order in which also their beginnings are about
        balanced, up to order 256.

    Returns
    -------
    ndarray of int16, shape (order, m)
        0 and 1, read-only; each equally often in a column, and each pair equally often
        in two columns.

    Notes
    -----
    Row x of column c is the parity of the bits of x in a mask, for an order that is a
    power of two: first the highest bit, then 1, 2, 3 and so on. Others are made by
    Paley's constructions from the squares modulo a prime, or among the p**2 elements of
    a field, or by doubling. That is all orders up to 88 and most of the others.

    References
    ----------
    .. [1] R. E. A. C. Paley, "On orthogonal matrices", Journal of Mathematics and
       Physics 12 (1933) 311-320.
    .. [2] R. L. Plackett, J. P. Burman, "The design of optimum multifactorial
       experiments", Biometrika 33 (1946) 305-325.

    Examples
    --------
    >>> halves(4, 3).T.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    """
    return _halves(order, m, bool(spread))


def _is_power_of_two(order: int) -> bool:
    return order & (order - 1) == 0


def _is_prime(q: int) -> bool:
    return q > 1 and all(q % d for d in range(2, isqrt(q) + 1))


def _is_at_hand(order: int) -> bool:
    if _is_power_of_two(order):
        return True
    if order % 4:
        return False
    return _paley(order) > 0 or _is_at_hand(order // 2)


def _paley(order: int) -> int:
    """Return the size of the field whose squares make a matrix, or 0."""
    if _is_prime(order - 1):
        return order - 1  # 3 modulo 4
    q = order // 2 - 1
    if q % 4 == 1 and (_is_prime(q) or (isqrt(q) ** 2 == q and _is_prime(isqrt(q)))):
        return q
    return 0


def _characters(p: int) -> Signs:
    """0 for 0, 1 for squares, -1 for other numbers modulo a prime."""
    chi = np.full(p, -1, np.int8)
    chi[np.arange(p, dtype=np.int64) ** 2 % p] = 1
    chi[0] = 0
    return chi


def _differences(q: int) -> Signs:
    """Characters of all differences of two elements of the field of q elements."""
    a = np.arange(q, dtype=np.int64)
    if _is_prime(q):
        return np.asarray(_characters(q)[(a[:, None] - a) % q])
    # The field of p**2 elements u + v sqrt(r): a square is what has a square norm.
    p = isqrt(q)
    chi = _characters(p)
    r = int(np.flatnonzero(chi == -1)[0])
    u, v = ((part[:, None] - part) % p for part in np.divmod(a, p))
    return np.asarray(chi[(u * u - r * v * v) % p])


def _signs(order: int) -> Signs:
    """Make a Hadamard matrix of 1 and -1 that is no power of two."""
    q = _paley(order)
    if not q:
        half = _matrix(order // 2)
        return np.block([[half, half], [half, -half]])
    core = np.ones((q + 1, q + 1), np.int8)
    core[0, 0] = 0
    core[1:, 1:] = _differences(q)
    if q % 4 == 3:
        core[1:, 0] = -1
        return np.asarray(core + np.eye(q + 1, dtype=np.int8))
    two = np.array([[1, 1], [1, -1]], np.int8)
    other = np.array([[1, -1], [-1, -1]], np.int8)
    return np.asarray(np.kron(core, two) + np.kron(np.eye(q + 1, dtype=np.int8), other))


def _matrix(order: int) -> Signs:
    """Make a Hadamard matrix whose first column is constant."""
    if not _is_power_of_two(order):
        signs = _signs(order)
        return signs * signs[:, :1]
    top = order >> 1
    masks = [0, *([top] if top else []), *(k for k in range(1, order) if k != top)]
    parity = np.array([[0]], np.int8)
    while len(parity) < order:
        parity = np.block([[parity, parity], [parity, 1 - parity]])
    return np.asarray(1 - 2 * parity[:, masks], np.int8)


@lru_cache(maxsize=64)
def _halves(order: int, m: int, spread: bool) -> Rows:  # noqa: FBT001  # a key
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
def _shortest(base: int) -> dict[int, tuple[int, ...]]:
    """Reach each residue modulo base / 4 with the fewest samples, in quarters."""
    b = base // 4
    quarters = [k for k in range(b + 1, 3 * b) if _is_at_hand(4 * k)]
    found: dict[int, tuple[int, ...]] = {}
    queue: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while queue:
        total, parts = heappop(queue)
        if total % b in found:
            continue
        found[total % b] = parts
        for k in quarters:
            if (total + k) % b not in found:
                heappush(queue, (total + k, (*parts, k)))
    return found


def rounds(n: int, m: int) -> tuple[list[tuple[int, int]], int]:
    """Divide samples among rounds.

    Parameters
    ----------
    n : int
        Number of samples, at least ``smallest_order(m)``.
    m : int
        Number of halves to cut, at least 2.

    Returns
    -------
    tuple of list of (int, int), and int
        Orders and how many rounds to deal with each, the smallest order first; and how
        many samples are left. These are at most 3, but for some n below 4 m and m above
        43, where an order is missing.

    Examples
    --------
    >>> rounds(300, 5), rounds(301, 5)
    (([(8, 36), (12, 1)], 0), ([(8, 36), (12, 1)], 1))
    """
    base = smallest_order(m)
    b = base // 4
    found = _shortest(base)
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
    """Cut samples in halves m times, any two cuts across each other.

    Parameters
    ----------
    n : int
        Number of samples, at least ``smallest_order(m)``.
    m : int
        Number of cuts, at least 2.
    spread : bool
        As in `halves`, within each round.

    Returns
    -------
    ndarray of int16, shape (m, n)
        Half 0 or 1 of each sample. A half holds n/2 samples, and two of them share n/4,
        as nearly as whole numbers allow where `rounds` leaves at most 3 samples.

    Examples
    --------
    >>> blocked_pattern(6, 3).tolist()
    [[0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1]]
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
        rows = halves(order, m, spread=spread)
        for j in range(m):
            part = out[j, start : start + times * order]
            part.reshape(times, order)[:] = rows[:, j]
        start += times * order
    out[:, start:] = _rest(left, m, spread=spread)
    return out


def _rest(left: int, m: int, *, spread: bool) -> NDArray[Any]:
    """Deal what fills no round: rows and their opposites, then the same for all."""
    n_pairs = left // 4 * 2
    rows = halves(smallest_order(m), m, spread=spread)[1 : 1 + n_pairs]
    pairs = np.stack([rows, 1 - rows], axis=1).reshape(2 * n_pairs, m)
    same = np.array([[], [1], [0, 1]][left % 4], np.int16)
    return np.concatenate([pairs.T, np.broadcast_to(same, (m, same.size))], axis=1)
