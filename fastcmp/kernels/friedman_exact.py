"""The exact distribution of rank sums, and of the difference of two of them.

Given the midranks of each task, all orders of its models are equally likely. Ranks are
doubled, so that midranks are whole numbers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel, look_at_clock

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray

_EMPTY = -1


@kernel
def count_orders(ascending: IntArray) -> float:
    """Count the different orders of numbers, some of them equal."""
    ways = 1.0
    run = 0
    for i in range(ascending.size):
        run = run + 1 if i and ascending[i] == ascending[i - 1] else 1
        ways *= (i + 1.0) / run
    return ways


@kernel
def list_orders(ascending: IntArray, out: IntArray) -> None:
    """Write all different orders of numbers, shape (W, M), in lexicographic order."""
    m = ascending.size
    row = ascending.copy()
    for w in range(out.shape[0]):
        out[w] = row
        i = m - 2
        while i >= 0 and row[i] >= row[i + 1]:
            i -= 1
        if i < 0:
            return
        j = m - 1
        while row[j] <= row[i]:
            j -= 1
        row[i], row[j] = row[j], row[i]
        low, high = i + 1, m - 1
        while low < high:
            row[low], row[high] = row[high], row[low]
            low += 1
            high -= 1


@kernel
def _unpack(key: int, base: int, total: int, state: IntArray) -> None:
    """Write the sorted sums of a key; the largest is what is left of their total."""
    left = total
    for k in range(state.size - 1):
        state[k] = key % base
        key //= base
        left -= state[k]
    state[state.size - 1] = left


@kernel
def _sort(values: IntArray) -> None:
    """Sort a few numbers in place."""
    for i in range(1, values.size):
        x = values[i]
        j = i
        while j > 0 and values[j - 1] > x:
            values[j] = values[j - 1]
            j -= 1
        values[j] = x


@kernel
def _pack(state: IntArray, base: int) -> int:
    key = 0
    for k in range(state.size - 2, -1, -1):
        key = key * base + state[k]
    return key


@kernel
def _place(keys: IntArray, key: int) -> int:
    """Find where a key is, or would be, in a table whose size is a power of two."""
    mask = keys.size - 1
    # Both halves times odd numbers, none above 2**63.
    mixed = (key & 0x7FFFFFFF) * 0x9E3779B1 ^ (key >> 31) * 0x5EBCA6B
    place = (mixed ^ (mixed >> 32)) & mask
    while keys[place] != _EMPTY and keys[place] != key:
        place = (place + 1) & mask
    return place


def _states(keys: IntArray, base: int, total: int, m: int) -> IntArray:
    """Sorted sums of each key, shape (S, M)."""
    digits = keys[:, None] // base ** np.arange(m - 1) % base
    return np.column_stack([digits, total - digits.sum(axis=1)])


def _add_orders_by_numpy(
    keys: IntArray, chances: FloatArray, orders: IntArray, base: int, total: int
) -> tuple[IntArray, FloatArray]:
    """As `add_orders`."""
    n_orders, m = orders.shape
    look_at_clock(10 * keys.size * n_orders)
    after = np.sort(_states(keys, base, total, m)[:, None] + orders, axis=2)
    packed = after[..., :-1] @ base ** np.arange(m - 1)
    kept, places = np.unique(packed, return_inverse=True)
    weights = np.repeat(chances / n_orders, n_orders)
    return kept, np.bincount(places.ravel(), weights).astype(np.float64, copy=False)


@partial(kernel, by_numpy=_add_orders_by_numpy)
def add_orders(
    keys: IntArray, chances: FloatArray, orders: IntArray, base: int, total: int
) -> tuple[IntArray, FloatArray]:
    """Add one task to the distribution of sorted rank sums.

    Parameters
    ----------
    keys : ndarray of int64, shape (S,)
        States: sorted sums of models, all but the largest as digits in `base`.
    chances : ndarray of float64, shape (S,)
        Their probabilities.
    orders : ndarray of int64, shape (W, M)
        The different orders of the task's numbers, all equally likely.
    base : int
        Above any sum; ``base**(M - 1)`` is below 2**63.
    total : int
        What the sums of a state add up to, before this task.

    Returns
    -------
    tuple of ndarray
        Keys and probabilities after the task.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels.friedman_exact import add_orders
    >>> orders = np.array([[0, 2], [2, 0]])
    >>> keys, chances = np.array([0]), np.array([1.0])
    >>> keys, chances = add_orders(keys, chances, orders, 5, 0)
    >>> keys, chances = add_orders(keys, chances, orders, 5, 2)
    >>> sorted(zip(keys.tolist(), chances.tolist()))
    [(0, 0.5), (2, 0.5)]
    """
    m = orders.shape[1]
    size = 1024
    table = np.full(size, _EMPTY)
    found = np.zeros(size)
    used = 0
    state = np.empty(m, np.int64)
    after = np.empty(m, np.int64)
    for s in range(keys.size):
        _unpack(keys[s], base, total, state)
        chance = chances[s] / orders.shape[0]
        for w in range(orders.shape[0]):
            for j in range(m):
                after[j] = state[j] + orders[w, j]
            _sort(after)
            key = _pack(after, base)
            place = _place(table, key)
            if table[place] == _EMPTY:
                table[place] = key
                used += 1
            found[place] += chance
            if 2 * used > size:
                size *= 4
                larger = np.full(size, _EMPTY)
                moved = np.zeros(size)
                for k in range(table.size):
                    if table[k] != _EMPTY:
                        place = _place(larger, table[k])
                        larger[place] = table[k]
                        moved[place] = found[k]
                table, found = larger, moved
    kept = np.flatnonzero(table != _EMPTY)
    kept = kept[np.argsort(table[kept])]
    return table[kept], found[kept]


def _reach_with_orders_by_numpy(
    keys: IntArray,
    chances: FloatArray,
    orders: IntArray,
    base: int,
    total: int,
    shift: int,
    least: int,
) -> float:
    """As `reach_with_orders`."""
    n_orders, m = orders.shape
    look_at_clock(10 * keys.size * n_orders)
    sums = _states(keys, base, total, m)[:, None] + orders + shift
    counts = ((sums * sums).sum(axis=2) >= least).sum(axis=1)
    return min(1.0, float(np.cumsum(chances * counts / n_orders)[-1]))


@partial(kernel, by_numpy=_reach_with_orders_by_numpy)
def reach_with_orders(
    keys: IntArray,
    chances: FloatArray,
    orders: IntArray,
    base: int,
    total: int,
    shift: int,
    least: int,
) -> float:
    """Probability that sums, after a last task, have squares that reach `least`.

    `keys`, `chances`, `orders`, `base` and `total` are as for `add_orders`; `shift` is
    added to each sum before it is squared.
    """
    m = orders.shape[1]
    state = np.empty(m, np.int64)
    reached = 0.0
    for s in range(keys.size):
        _unpack(keys[s], base, total, state)
        count = 0
        for w in range(orders.shape[0]):
            squares = 0
            for j in range(m):
                x = state[j] + orders[w, j] + shift
                squares += x * x
            count += 1 if squares >= least else 0
        reached += chances[s] * count / orders.shape[0]
    return min(1.0, reached)


def _add_difference_by_numpy(chances: FloatArray, ranks: IntArray) -> FloatArray:
    """As `add_difference`."""
    m, spread, steps = ranks.size, ranks[-1] - ranks[0], np.diff(ranks)
    ways = m * (m - 1.0)
    if steps[0] > 0 and (steps == steps[0]).all():
        out = _window(_window(chances, m, steps[0]), m, steps[0])
        out[spread : spread + chances.size] -= m * chances
        return np.maximum(out, 0.0) / ways
    out = np.zeros(chances.size + 2 * spread)
    counts = np.bincount((spread + ranks[:, None] - ranks)[~np.eye(m, dtype=bool)])
    for u in np.flatnonzero(counts):
        out[u : u + chances.size] += counts[u] / ways * chances
    return out


@partial(kernel, by_numpy=_add_difference_by_numpy)
def add_difference(chances: FloatArray, ranks: IntArray) -> FloatArray:
    """Add one task to the distribution of the difference of two models' rank sums.

    Parameters
    ----------
    chances : ndarray of float64, shape (2 R + 1,)
        Probabilities of the differences -R, ..., R so far.
    ranks : ndarray of int64, shape (M,)
        The task's ranks, or twice its midranks, ascending; M at least 2.

    Returns
    -------
    ndarray of float64, shape (2 (R + S) + 1,)
        After the task; S is the largest rank less the smallest.

    Notes
    -----
    Ranks without ties, in equal steps, take O(R) by running sums, others a product of
    two sums; negative tails keep their digits.

    References
    ----------
    .. [1] R. Eisinga, T. Heskes, B. Pelzer, M. Te Grotenhuis, "Exact p-values for
       pairwise comparison of Friedman rank sums", BMC Bioinformatics 18 (2017) 68.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import add_difference
    >>> (6 * add_difference(np.ones(1), np.array([1, 2, 3]))).round(9).tolist()
    [1.0, 2.0, 0.0, 2.0, 1.0]
    """
    m = ranks.size
    spread = ranks[m - 1] - ranks[0]
    out = np.zeros(chances.size + 2 * spread)
    step = ranks[1] - ranks[0]
    even = step > 0
    for i in range(1, m):
        even = even and ranks[i] - ranks[i - 1] == step
    ways = m * (m - 1.0)
    if even:
        once = _window(chances, m, step)
        twice = _window(once, m, step)
        for i in range(out.size):
            out[i] = twice[i]
        for i in range(chances.size):
            out[i + spread] -= m * chances[i]
        for i in range(out.size):
            out[i] = max(out[i], 0.0) / ways
        return out
    counts = np.zeros(2 * spread + 1)
    for i in range(m):
        for j in range(m):
            if i != j:
                counts[spread + ranks[i] - ranks[j]] += 1.0
    for u in range(counts.size):
        if counts[u] > 0.0:
            weight = counts[u] / ways
            for i in range(chances.size):
                out[u + i] += weight * chances[i]
    return out


def _window_by_numpy(values: FloatArray, m: int, step: int) -> FloatArray:
    """As `_window`."""
    out = np.zeros(values.size + (m - 1) * step)
    half = (out.size + 1) // 2
    for start in range(step):
        enters = values[start:half:step]
        moves = np.zeros((out[start:half:step].size, 2))
        moves[: enters.size, 0] = enters
        moves[m:, 1] = -values[start : max(half - m * step, 0) : step]
        out[start:half:step] = np.add.accumulate(moves.ravel())[1::2]
    out[out.size - out.size // 2 :] = out[: out.size // 2][::-1]
    return out


@partial(kernel, by_numpy=_window_by_numpy)
def _window(values: FloatArray, m: int, step: int) -> FloatArray:
    """Add up m copies of a row, each `step` further on."""
    out = np.zeros(values.size + (m - 1) * step)
    half = (out.size + 1) // 2
    # From either end to the middle: small sums are not differences of large ones.
    for start in range(step):
        total = 0.0
        for i in range(start, half, step):
            if i < values.size:
                total += values[i]
            if i - m * step >= 0:
                total -= values[i - m * step]
            out[i] = total
    for i in range(out.size // 2):
        out[out.size - 1 - i] = out[i]
    return out
