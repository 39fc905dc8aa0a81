"""How samples, or whole groups of them, are dealt to folds and halves.

The columns of a Hadamard matrix cut its rows into halves, and any two columns into
quarters. Samples are dealt in rounds, one sample a row. Rounds may use matrices of
different orders, so that any number of samples is cut as evenly as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Flags, Ints
from fastcmp.inputs.columns import count_rows, read_column
from fastcmp.inputs.model_names import check_indexes

Rows = NDArray[np.int16]
Signs = NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Samples or groups, stratum after stratum, before they are shuffled."""

    #: The units in the order of their strata and, within, of the samples, shape (u,).
    order: NDArray[Any]
    #: Where each stratum ends in `order`, shape (S,).
    ends: Ints
    #: The unit of each sample, shape (n,); None where units are samples.
    member: NDArray[Any] | None = None
    #: Samples in each unit; None where units are samples.
    sizes: Ints | None = None

    def __len__(self) -> int:
        """Count the units."""
        return self.order.size

    @property
    def n_samples(self) -> int:
        """Number of samples in them."""
        return self.order.size if self.member is None else self.member.size

    @property
    def noun(self) -> str:
        """What a unit is called in an error."""
        return "samples" if self.member is None else "groups"

    def shuffled(self, seed: int, replicate: int) -> NDArray[Any]:
        """Shuffle within each stratum; of groups, deal the largest first."""
        order = self.order.copy()
        kernels.shuffle_within(seed, replicate, self.ends, order)
        if self.sizes is None:
            return order
        lengths = np.diff(self.ends, prepend=0)
        stratum = np.repeat(np.arange(self.ends.size), lengths)
        return order[np.lexsort((-self.sizes[order], stratum))]

    def part(self, is_member: Flags) -> Units:
        """Some of the units, which keep their numbers."""
        kept = is_member[self.order]
        before = np.concatenate([[0], np.cumsum(kept)])
        return Units(
            order=self.order[kept], ends=before[self.ends], member=self.member, sizes=self.sizes
        )

    def folds_of_samples(self, folds: NDArray[np.int16]) -> NDArray[np.int16]:
        """Fold of each sample: that of its unit."""
        return folds if self.member is None else folds[self.member]


def read_units(n: int, y: object, groups: object) -> Units:
    """Read what is to be dealt: samples, or groups in the strata of their classes.

    A group belongs to its most frequent class; of ties, to that which occurs first.
    """
    small = np.int32 if n < 2**31 else np.int64
    classes = None if y is None else _codes(y, "y", n)
    if groups is None:
        if classes is None:
            return Units(order=np.arange(n, dtype=small), ends=np.array([n]))
        return Units(order=_grouped(classes).astype(small), ends=np.cumsum(np.bincount(classes)))
    member = _codes(groups, "groups", n)
    check_indexes([("y", y), ("groups", groups)])
    sizes = np.bincount(member)
    strata = np.zeros(sizes.size, np.int64)
    if classes is not None:  # the most frequent class of each group, of ties the first
        n_classes = int(classes.max(initial=0)) + 1
        pairs, counts = np.unique(member * n_classes + classes, return_counts=True)
        group, label = np.divmod(pairs, n_classes)
        best = np.lexsort((label, -counts, group))
        first = np.ones(best.size, bool)
        first[1:] = group[best][1:] != group[best][:-1]
        strata = label[best][first]
    ends = np.cumsum(np.bincount(strata))
    return Units(order=_grouped(strata), ends=ends, member=member, sizes=sizes)


def check_length(raw: object, name: str, n: int) -> None:
    """Refuse labels that are not one a sample."""
    if raw is not None and (length := count_rows(raw, name)) != n:
        raise BadValueError(f"`{name}` must hold one label for each of {n} samples", length)


def _codes(raw: object, name: str, n: int) -> Ints:
    """Numbers of labels in the order in which they occur, whatever their names."""
    check_length(raw, name, n)
    column = read_column(raw, name)
    absent = column.missing()
    if absent is not None:
        raise BadValueError(
            f"`{name}` must have no missing labels",
            f"{np.count_nonzero(absent)}, the first in row {int(absent.argmax())}",
        )
    codes = column.factorized().positions()
    first = np.full(int(codes.max(initial=-1)) + 1, n, np.int64)
    np.minimum.at(first, codes, np.arange(n))
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    # Categories that do not occur come last.
    return np.asarray(rank[codes])


def _grouped(codes: Ints) -> Ints:
    # NumPy sorts short integers by counting.
    short = codes.astype(np.int16) if codes.max(initial=0) < 2**15 else codes
    return np.argsort(short, kind="stable")


# Halves of a data set, any two of which share a quarter of it.


_LONGEST = 256  # rows to spread: the time grows with their cube


def smallest_order(m: int) -> int:
    """Order of the smallest matrix with m columns beside the constant one, m >= 2."""
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
    """A Hadamard matrix of 1 and -1 whose first column is constant.

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
    """The rows of a Hadamard matrix in halves 0 and 1, m times: (order, m).

    `spread` orders the rows such that their beginnings are nearly balanced too.
    """
    columns = (_matrix(order)[:, 1 : m + 1] < 0).astype(np.int16)
    if spread and order <= _LONGEST:
        columns = columns[_spread(1.0 - 2.0 * columns)]
    columns.flags.writeable = False
    return columns


def _spread(signs: NDArray[Any]) -> Ints:
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
    """The one or two rounds that bring samples to a multiple of `base`.

    From residues modulo base / 4 to the orders with the fewest rows, both in quarters.
    """
    b = base // 4
    quarters = [k for k in range(b + 1, 3 * b) if _is_known(4 * k)]
    fillers: dict[int, tuple[int, ...]] = {0: ()}
    for count in (1, 2):
        for parts in combinations_with_replacement(quarters, count):
            residue = sum(parts) % b
            if residue not in fillers or sum(parts) < sum(fillers[residue]):
                fillers[residue] = parts
    return fillers


def rounds(n: int, m: int) -> tuple[list[tuple[int, int]], int]:
    """Rounds for n samples: orders with their numbers, and samples left over.

    At most 3 samples are left over, except for small n and m above 11.
    """
    base = smallest_order(m)
    b = base // 4
    fillers = _fillers(base)
    for quarters in range(n // 4, b - 1, -1):
        parts = fillers.get(quarters % b)
        if parts is not None and sum(parts) <= quarters:
            break
    times = (quarters - sum(parts or ())) // b
    counted = [(base, times)] if times else []
    sizes = sorted(set(parts or ()))
    counted += [(4 * k, (parts or ()).count(k)) for k in sizes]
    return counted, n - 4 * quarters


def blocked_pattern(n: int, m: int, *, spread: bool = False) -> Rows:
    """Half of each of n samples, 0 or 1, in each of m cuts: shape (m, n).

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
    out[:, start:] = _deal_left_over(left, m, spread=spread)
    return out


def _deal_left_over(left: int, m: int, *, spread: bool) -> NDArray[Any]:
    """Halves of units that fill no round: rows and their opposites, then the same for all."""
    n_pairs = left // 4 * 2
    rows = halves(smallest_order(m), m, spread)[1 : 1 + n_pairs]
    pairs = np.stack([rows, 1 - rows], axis=1).reshape(2 * n_pairs, m)
    same = np.array([[], [1], [0, 1]][left % 4], np.int16)
    return np.concatenate([pairs.T, np.broadcast_to(same, (m, same.size))], axis=1)
