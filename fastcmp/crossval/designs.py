"""Resampling designs: which samples are tested in which fold of which repetition.

Each function makes a `Design`, which is a splitter of scikit-learn and gives the fold
of each sample as an array. Every design puts the samples in a random order, stratum
after stratum, and deals the folds along it by a fixed pattern. Only the order is
random, and it depends only on the seed and the number of the repetition: the first of
ten repetitions is the same as a single one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_flag, as_seed, as_whole
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import how
from fastcmp.core.typing import ColumnLike, Seed
from fastcmp.crossval.fold_units import (
    Units,
    blocked_pattern,
    check_length,
    read_units,
    smallest_order,
)
from fastcmp.inputs.columns import count_rows

Folds = NDArray[np.int16]
Indices = NDArray[np.int64]

__all__ = [
    "TRAIN",
    "UNUSED",
    "Design",
    "kfold",
    "paired_halves",
    "repeated_holdout",
    "repeated_kfold",
    "two_fold",
]

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
        text = (how(f"{self.get_n_splits()} splits, seed {self.seed}"),)
        return [Section(title=str(self), text=text)]

    def __str__(self) -> str:
        """The splits in a few words."""
        stratified = ", stratified" if self.stratify else ""
        many = f"{self.n_repeats} x " if self.n_repeats > 1 else ""
        if self.test_size is None:
            blocked = "blocked " if self.family == "blocked-two-fold" else ""
            return f"{blocked}{many}{self.n_folds}-fold cross-validation{stratified}"
        hold_out = f"hold-out of test_size={self.test_size:.4g}{stratified}"
        if self.n_halves:
            return f"{many}{hold_out}, and as many in each half of {self.n_halves} cuts"
        return f"{many}{hold_out}"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002  # scikit-learn's names
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
        return self.n_repeats * (1 + 2 * self.n_halves) * self.n_folds

    def split(
        self, X: Any, y: ColumnLike | None = None, groups: ColumnLike | None = None
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
        units = self._units(n, y, groups)
        return (
            (np.flatnonzero((folds != fold) & (folds != UNUSED)), np.flatnonzero(folds == fold))
            for folds in self._deal(units, self._pattern(units))
            for fold in range(self.n_folds)
        )

    def folds(
        self, n: int, *, y: ColumnLike | None = None, groups: ColumnLike | None = None
    ) -> Folds:
        """The fold in which each sample is tested.

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
        out = np.empty((self.get_n_splits() // self.n_folds, int(n)), np.int16)
        for r, folds in enumerate(self._deal(units, self._pattern(units))):
            out[r] = folds
        return out

    def pattern(self, n: int) -> Folds:
        """The folds in the order in which they are dealt.

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

    def _units(self, n: int, y: object, groups: object, *, free: bool = False) -> Units:
        """Read what is dealt; `free` if only its number matters."""
        if n > _MOST_SAMPLES:
            raise ValueError(f"designs take fewer than 2**31 samples, got {n}")
        if self.stratify and y is None and not free:
            raise BadValueError("`y` must be given, because the design is stratified")
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
            raise BadValueError(f"`{name}` at least {least} for {self}", len(units))

    def _n_tested(self, units: Units) -> int:
        """Count the units that a hold-out split tests."""
        assert self.test_size is not None
        n, u = units.n_samples, len(units)
        whole = isinstance(self.test_size, int)
        tested = int(self.test_size) if whole else int(self.test_size * n + 0.5)
        if not 0 < tested < n:
            raise BadValueError(
                "`test_size` must leave samples to test and to train on",
                f"{self.test_size}, which tests {tested} of {n}",
            )
        if units.sizes is not None:
            self._need(units, 2)
            tested = min(max(int(tested * u / n + 0.5), 1), u - 1)
        if self.n_halves and tested >= u // 2:
            raise BadValueError(
                f"`test_size` must leave {units.noun} to train on in a half of {u // 2}",
                f"{self.test_size}, which tests {tested}",
            )
        return tested

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
        """Folds of random halves of the units, each half split separately."""
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


def _spread_tests(u: int, tested: int) -> Folds:
    """Spread the tested evenly: each stretch has its proportion, up to one unit."""
    pattern = np.full(u, TRAIN, np.int16)
    pattern[(2 * np.arange(tested) + 1) * u // (2 * tested)] = 0
    return pattern


_MOST_FOLDS = 2**15 - 1  # their numbers are int16


def kfold(n_folds: int = 10, *, stratify: bool = False, rng: Seed = None) -> Design:
    """Test each sample once, in one of K folds.

    Parameters
    ----------
    n_folds : int
        K, at least 2. Folds differ by at most one sample.
    stratify : bool
        Whether to deal each class separately; its numbers in the folds then differ by
        at most one sample too.
    rng : int or numpy.random.Generator, optional
        Source of the seed.

    Returns
    -------
    Design
        One repetition.

    Raises
    ------
    ValueError
        If `n_folds` is below 2 or above 32767.
    TypeError
        If an argument is of another type.

    Examples
    --------
    >>> from fastcmp.crossval.designs import kfold
    >>> kfold(3, rng=1).folds(7).tolist()
    [[0, 0, 2, 1, 0, 1, 2]]
    """
    return repeated_kfold(1, n_folds, stratify=stratify, rng=rng)


def repeated_kfold(
    n_repeats: int = 10, n_folds: int = 10, *, stratify: bool = False, rng: Seed = None
) -> Design:
    """Repeat K-fold cross-validation, shuffled anew each time.

    Parameters
    ----------
    n_repeats : int
        Repetitions.
    n_folds : int
        K, at least 2.
    stratify : bool
        As for `kfold`.
    rng : int or numpy.random.Generator, optional
        Source of the seed.

    Returns
    -------
    Design
        The first repetition is `kfold` with the same seed.

    Raises
    ------
    ValueError
        If a number is too small, or `n_folds` above 32767.
    TypeError
        If an argument is of another type.

    References
    ----------
    .. [1] R. R. Bouckaert, E. Frank, "Evaluating the replicability of significance
       tests for comparing learning algorithms", PAKDD (2004) 3-12.

    Examples
    --------
    >>> from fastcmp.crossval.designs import repeated_kfold
    >>> repeated_kfold(10, 5, rng=1).get_n_splits()
    50
    """
    folds = as_whole(n_folds, "n_folds", 2)
    if folds > _MOST_FOLDS:
        raise BadValueError(f"`n_folds` must be at most {_MOST_FOLDS}", folds)
    return _design("kfold", as_whole(n_repeats, "n_repeats", 1), folds, stratify, rng)


def repeated_holdout(
    n_repeats: int = 15, *, test_size: float = 1 / 3, stratify: bool = False, rng: Seed = None
) -> Design:
    """Test a random part of the samples and train on the others, several times.

    Parameters
    ----------
    n_repeats : int
        Splits, each independent of the others.
    test_size : float or int
        Proportion of the samples to test, in (0, 1), rounded to whole samples; or their
        number. With groups it becomes the nearest proportion of the groups.
    stratify : bool
        Whether to test the same proportion of each class, up to one sample.
    rng : int or numpy.random.Generator, optional
        Source of the seed.

    Returns
    -------
    Design
        One fold a repetition.

    Raises
    ------
    ValueError
        If a number is outside of its range.
    TypeError
        If an argument is of another type.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.
    .. [2] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp.crossval.designs import repeated_holdout
    >>> repeated_holdout(2, test_size=2, rng=1).folds(6).tolist()
    [[-1, -1, -1, 0, -1, 0], [-1, 0, 0, -1, -1, -1]]
    """
    repeats = as_whole(n_repeats, "n_repeats", 1)
    return _design("holdout", repeats, 1, stratify, rng, _check_size(test_size))


def two_fold(
    m: int = 5, *, blocked: bool = False, stratify: bool = False, rng: Seed = None
) -> Design:
    """Cut the samples in halves m times; train on one half and test the other.

    Parameters
    ----------
    m : int
        How many cuts, at least 1; at least 2 if blocked.
    blocked : bool
        Whether two halves of different cuts always share n/4 samples (block-regularized
        cross-validation). Otherwise each cut is random.
    stratify : bool
        Whether to deal each class separately.
    rng : int or numpy.random.Generator, optional
        Source of the seed.

    Returns
    -------
    Design
        Fold 0 and fold 1 are the halves of a cut.

    Raises
    ------
    ValueError
        If `m` is too small.
    TypeError
        If an argument is of another type.

    Notes
    -----
    A blocked design needs as many samples, or groups, as the smallest known Hadamard
    matrix with more than m columns has rows: 4 for ``m = 3``, 8 for ``m = 5``. A half
    then has n/2 samples, and two halves of different cuts share n/4; where n is not a
    multiple of 4, both are rounded up or down. This holds for any n up to ``m = 11``,
    and beyond for n of at least 3 m. With ``m = 5`` and n a multiple of 8 there are 8
    equal blocks, combined as in Table III of [2]_.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.
    .. [2] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms".

    Examples
    --------
    >>> from fastcmp.crossval.designs import two_fold
    >>> folds = two_fold(5, blocked=True, rng=1).folds(300)
    >>> int(((folds[0] == 0) & (folds[1] == 0)).sum())
    75
    """
    is_blocked = as_flag(blocked, "blocked")
    family = "blocked-two-fold" if is_blocked else "two-fold"
    return _design(family, as_whole(m, "m", 2 if is_blocked else 1), 2, stratify, rng)


def paired_halves(
    n_halves: int = 10,
    n_repeats: int = 15,
    *,
    test_size: float = 0.1,
    stratify: bool = False,
    rng: Seed = None,
) -> Design:
    """Split all data, and then both halves of random cuts, by hold-out.

    Parameters
    ----------
    n_halves : int
        How many cuts in two halves.
    n_repeats : int
        Splits of all data, and of each half.
    test_size : float or int
        Samples to test, as a proportion of all data or their number. In a half as many
        are tested, and the other half is not used.
    stratify : bool
        Whether to deal each class separately.
    rng : int or numpy.random.Generator, optional
        Source of the seed.

    Returns
    -------
    Design
        The splits of all data are those of `repeated_holdout` with the same seed. If n
        is odd, one sample is in neither half of a cut.

    Raises
    ------
    ValueError
        If a number is outside of its range.
    TypeError
        If an argument is of another type.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp.crossval.designs import paired_halves
    >>> folds = paired_halves(1, 1, test_size=1, rng=1).folds(6)
    >>> for row in folds.tolist():
    ...     print(row)
    [-1, 0, -1, -1, -1, -1]
    [-2, -1, -1, -2, -2, 0]
    [0, -2, -2, -1, -1, -2]
    """
    repeats, halves = as_whole(n_repeats, "n_repeats", 1), as_whole(n_halves, "n_halves", 1)
    return _design("paired-halves", repeats, 1, stratify, rng, _check_size(test_size), halves)


def _design(
    family: str,
    n_repeats: int,
    n_folds: int,
    stratify: object,
    rng: Seed,
    test_size: float | None = None,
    n_halves: int = 0,
) -> Design:
    return Design(
        family=family,
        n_repeats=n_repeats,
        n_folds=n_folds,
        test_size=test_size,
        n_halves=n_halves,
        stratify=as_flag(stratify, "stratify"),
        seed=as_seed(rng),
    )


def _check_size(value: object) -> float | int:
    needed = "`test_size` must be a proportion in (0, 1) or a whole number >= 1"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadTypeError(needed, repr(value))
    if isinstance(value, Integral) and int(value) >= 1:
        return int(value)
    proportion = float(value)
    if not 0.0 < proportion < 1.0:
        raise BadValueError(needed, value)
    return proportion
