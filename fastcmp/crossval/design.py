"""A resampling design: which samples are tested in which fold of which repetition.

Every design puts the samples in a random order, stratum after stratum, and deals the
folds along it by a fixed pattern. Only the order is random, and it depends only on the
seed and the number of the repetition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_whole
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.crossval.fold_units import (
    Units,
    blocked_pattern,
    check_length,
    read_units,
    smallest_order,
)
from fastcmp.inputs.columns import count_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Folds = NDArray[np.int16]
    Indices = NDArray[np.int64]

#: In `Design.folds`: never tested in this repetition, always trained on.
TRAIN = -1
#: In `Design.folds`: neither tested nor trained on in this repetition.
UNUSED = -2

_MOST_SAMPLES = 2**31 - 1
_STREAMS = 2**32  # replicates between a cut of paired halves and the next one


@dataclass(frozen=True, slots=True, kw_only=True)
class Design(Record):
    """Splits of any data set, the same ones each time.

    Made by the functions of `fastcmp.designs`. It is a splitter of scikit-learn: pass
    it as ``cv=``.
    """

    #: "holdout", "kfold", "two-fold", "blocked-two-fold" or "paired-halves".
    family: str
    n_repeats: int
    #: Folds that are tested in each repetition.
    n_folds: int
    #: Proportion or number of samples that a hold-out split tests; None for folds.
    test_size: float | int | None = None
    #: How often all data are cut in two halves, which are split separately.
    n_halves: int = 0
    stratify: bool = False
    #: What the splits are a function of.
    seed: int

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (f"{self.get_n_splits()} splits, seed {self.seed}",)
        return [Section(title=str(self), text=text)]

    def __str__(self) -> str:
        """Describe the splits in a few words."""
        stratified = ", stratified" if self.stratify else ""
        many = f"{self.n_repeats} x " if self.n_repeats > 1 else ""
        if self.test_size is None:
            blocked = "blocked " if self.family == "blocked-two-fold" else ""
            return f"{blocked}{many}{self.n_folds}-fold cross-validation{stratified}"
        shown = f"hold-out of test_size={self.test_size:.4g}{stratified}"
        if self.n_halves:
            return f"{many}{shown}, and as many in each half of {self.n_halves} cuts"
        return f"{many}{shown}"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002, N803  # scikit-learn's names
        """Count the pairs of training and test sets.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
            Repetitions times folds.
        """
        return self._n_rows * self.n_folds

    def split(
        self,
        X: Any,  # noqa: N803  # scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[tuple[Indices, Indices]]:
        """List the training and the test set of each fold of each repetition.

        Parameters
        ----------
        X : array-like, shape (n, ...)
            Only its length is used; None for that of `y`.
        y : array-like, shape (n,), optional
            Classes; used only if the design is stratified.
        groups : array-like, shape (n,), optional
            As in `folds`.

        Returns
        -------
        iterator of tuple of ndarray of int64
            Samples to train on and samples to test, ascending.

        Raises
        ------
        ValueError
            As `folds` does.
        TypeError
            As `folds` does.
        """
        n = count_rows(y, "X or y") if X is None else count_rows(X, "X")
        return self._sets(self._rows(self._units(n, y, groups)))

    def folds(
        self, n: int, *, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Folds:
        """Tell in which fold each sample is tested.

        Parameters
        ----------
        n : int
            Number of samples.
        y : array-like, shape (n,), optional
            Classes; needed if the design is stratified, otherwise ignored. Each class
            is dealt separately, so that its numbers in the folds differ by about one
            sample.
        groups : array-like, shape (n,), optional
            Whole groups are dealt, the largest first, so that no group is on both sides
            of a split. Folds then have about equal sizes: within a stratum, two folds
            differ by at most its largest group, except in blocked designs.

        Returns
        -------
        ndarray of int16, shape (R, n)
            0, 1, ..., or `TRAIN`, or `UNUSED`. R is the number of repetitions; for
            paired halves ``n_repeats * (1 + 2 * n_halves)``: first splits of all data,
            then for each cut those of the one and those of the other half.

        Raises
        ------
        ValueError
            If there are too few samples or groups, lengths differ, or labels are
            missing.
        TypeError
            If `n` is no whole number.

        Notes
        -----
        A blocked design deals whole rounds, and a class may begin and end within one.
        Stratified, half of a class is then off by at most 1.5 samples for ``m = 5``,
        and by at most the larger of 2 and the square root of m for ``m`` up to 40.
        """
        units = self._units(as_whole(n, "n", 1), y, groups)
        rows = self._rows(units)
        out = np.empty((self._n_rows, int(n)), np.int16)
        for r, folds in enumerate(rows):
            out[r] = folds
        return out

    def pattern(self, n: int) -> Folds:
        """Give the folds in the order in which they are dealt.

        Parameters
        ----------
        n : int
            Number of samples.

        Returns
        -------
        ndarray of int16, shape (1, n), or (m, n) if blocked
            What `fastcmp.kernels.deal` deals along a shuffled order; the same for each
            repetition. For paired halves, that of the splits of all data. With groups
            the pattern of `folds` is another one, as there are fewer units, and a
            blocked design deals the rows of each round in another order.

        Raises
        ------
        ValueError
            If there are too few samples.
        TypeError
            If `n` is no whole number.

        Examples
        --------
        >>> import numpy as np
        >>> from fastcmp.crossval.designs import two_fold
        >>> from fastcmp.kernels import deal, shuffle
        >>> design, order = two_fold(3, blocked=True, rng=1), np.arange(8)
        >>> folds = np.empty((3, 8), np.int16)
        >>> shuffle(design.seed, 0, order)
        >>> deal(design.pattern(8), order, folds)
        >>> np.array_equal(folds, design.folds(8))
        True
        """
        return self._pattern(self._units(as_whole(n, "n", 1), None, None, free=True))

    @property
    def _n_rows(self) -> int:
        return self.n_repeats * (1 + 2 * self.n_halves)

    def _units(self, n: int, y: Any, groups: Any, *, free: bool = False) -> Units:
        """Read what is dealt; `free` if only its number matters."""
        if n > _MOST_SAMPLES:
            raise ValueError(f"designs take fewer than 2**31 samples, got {n}")
        if self.stratify and y is None and not free:
            raise ValueError("y must be given, because the design is stratified")
        check_length(y, "y", n)
        return read_units(n, y if self.stratify else None, groups)

    def _pattern(self, units: Units) -> Folds:
        u = len(units)
        if self.family == "blocked-two-fold":
            self._need(units, smallest_order(self.n_repeats))
            spread = self.stratify or units.sizes is not None
            return blocked_pattern(u, self.n_repeats, spread=spread)
        if self.test_size is None:
            self._need(units, self.n_folds)
            return np.resize(np.arange(self.n_folds, dtype=np.int16), (1, u))
        return _spread_tests(u, self._n_tested(units))[np.newaxis]

    def _need(self, units: Units, least: int) -> None:
        if len(units) < least:
            name = "n must be" if units.sizes is None else "groups must number"
            raise ValueError(f"{name} at least {least} for {self}, got {len(units)}")

    def _n_tested(self, units: Units) -> int:
        """Count the units that a hold-out split tests."""
        assert self.test_size is not None
        n, u = units.n_samples, len(units)
        whole = isinstance(self.test_size, int)
        tested = int(self.test_size) if whole else int(self.test_size * n + 0.5)
        if not 0 < tested < n:
            raise ValueError(
                f"test_size must leave samples to test and to train on, got "
                f"{self.test_size}, which tests {tested} of {n}"
            )
        if units.sizes is not None:
            self._need(units, 2)
            tested = min(max(int(tested * u / n + 0.5), 1), u - 1)
        if self.n_halves and tested >= u // 2:
            raise ValueError(
                f"test_size must leave {units.noun} to train on in a half of {u // 2}, "
                f"got {self.test_size}, which tests {tested}"
            )
        return tested

    def _rows(self, units: Units) -> Iterator[Folds]:
        """Deal the folds of each repetition, after checking their number."""
        pattern = self._pattern(units)
        return self._deal(units, pattern)

    def _deal(self, units: Units, pattern: Folds) -> Iterator[Folds]:
        is_blocked = len(pattern) > 1
        order = units.shuffled(self.seed, 0) if is_blocked else units.order
        for r in range(self.n_repeats):
            if not is_blocked:
                order = units.shuffled(self.seed, r)
            folds = np.empty(len(units), np.int16)
            kernels.deal(pattern[r if is_blocked else 0], order, folds)
            yield units.folds_of_samples(folds)
        for cut in range(self.n_halves):
            yield from self._deal_halves(units, (cut + 1) * _STREAMS)

    def _deal_halves(self, units: Units, first: int) -> Iterator[Folds]:
        """Cut the units in halves, and split each half separately."""
        u = len(units) // 2
        pattern = _spread_tests(u, self._n_tested(units))
        half = np.full(len(units), UNUSED, np.int16)  # the odd one, if there is one
        order = units.shuffled(self.seed, first)[: 2 * u]
        kernels.deal(np.resize(np.array([0, 1], np.int16), 2 * u), order, half)
        for side in range(2):
            part = units.part(half == side)
            for r in range(self.n_repeats):
                order = part.shuffled(self.seed, first + 1 + 2 * r + side)
                folds = np.full(len(units), UNUSED, np.int16)
                kernels.deal(pattern, order, folds)
                yield units.folds_of_samples(folds)

    def _sets(self, rows: Iterator[Folds]) -> Iterator[tuple[Indices, Indices]]:
        for folds in rows:
            for fold in range(self.n_folds):
                tested = folds == fold
                train = np.flatnonzero(~tested & (folds != UNUSED))
                yield train, np.flatnonzero(tested)


def _spread_tests(u: int, tested: int) -> Folds:
    """Spread the tested evenly: each stretch has its proportion, up to one unit."""
    pattern = np.full(u, TRAIN, np.int16)
    pattern[(2 * np.arange(tested) + 1) * u // (2 * tested)] = 0
    return pattern
