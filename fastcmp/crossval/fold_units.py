"""What is dealt to folds: samples, or whole groups of them, in strata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.inputs.columns import count_rows, read_column
from fastcmp.inputs.model_names import check_indexes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Samples or groups, stratum after stratum, before they are shuffled."""

    #: The units in the order of their strata and, within, of the samples, shape (u,).
    order: NDArray[Any]
    #: Where each stratum ends in `order`, shape (S,).
    ends: NDArray[np.int64]
    #: The unit of each sample, shape (n,); None where units are samples.
    member: NDArray[Any] | None = None
    #: Samples in each unit; None where units are samples.
    sizes: NDArray[np.int64] | None = None

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

    def part(self, chosen: NDArray[np.bool_]) -> Units:
        """Select units, which keep their numbers."""
        kept = chosen[self.order]
        before = np.concatenate([[0], np.cumsum(kept)])
        return Units(
            order=self.order[kept],
            ends=before[self.ends],
            member=self.member,
            sizes=self.sizes,
        )

    def folds_of_samples(self, folds: NDArray[np.int16]) -> NDArray[np.int16]:
        """Give each sample the fold of its unit."""
        return folds if self.member is None else folds[self.member]


def read_units(n: int, y: Any, groups: Any) -> Units:
    """Read what is to be dealt: samples, or groups in the strata of their classes.

    A group belongs to its most frequent class; of ties, to that which occurs first.
    """
    small = np.int32 if n < 2**31 else np.int64
    classes = None if y is None else _codes(y, "y", n)
    if groups is None:
        if classes is None:
            return Units(order=np.arange(n, dtype=small), ends=np.array([n]))
        return Units(order=_grouped(classes).astype(small), ends=_ends(classes))
    member = _codes(groups, "groups", n)
    check_indexes([("y", y), ("groups", groups)])
    sizes = np.bincount(member)
    strata = np.zeros(sizes.size, np.int64)
    if classes is not None:
        strata = _most_frequent(member, classes)
    return Units(order=_grouped(strata), ends=_ends(strata), member=member, sizes=sizes)


def check_length(raw: Any, name: str, n: int) -> None:
    """Refuse labels that are not one a sample."""
    if raw is not None and (length := count_rows(raw, name)) != n:
        raise ValueError(f"{name} must hold one label for each of {n} samples, got {length}")


def _codes(raw: Any, name: str, n: int) -> NDArray[np.int64]:
    """Give numbers to labels in the order in which they occur, whatever their names."""
    check_length(raw, name, n)
    column = read_column(raw, name)
    absent = column.missing()
    if absent is not None:
        raise ValueError(
            f"{name} must have no missing labels, got {np.count_nonzero(absent)}, the "
            f"first in row {int(absent.argmax())}"
        )
    codes = column.factorized().positions()
    first = np.full(int(codes.max(initial=-1)) + 1, n, np.int64)
    np.minimum.at(first, codes, np.arange(n))
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    # Categories that do not occur come last.
    return np.asarray(rank[codes])


def _grouped(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    # NumPy sorts short integers by counting.
    short = codes.astype(np.int16) if codes.max(initial=0) < 2**15 else codes
    return np.argsort(short, kind="stable")


def _ends(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(np.bincount(codes))


def _most_frequent(member: NDArray[np.int64], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give each group its most frequent class."""
    n_classes = int(classes.max(initial=0)) + 1
    pairs, counts = np.unique(member * n_classes + classes, return_counts=True)
    group, label = np.divmod(pairs, n_classes)
    best = np.lexsort((label, -counts, group))
    first = np.ones(best.size, bool)
    first[1:] = group[best][1:] != group[best][:-1]
    return np.asarray(label[best][first])
