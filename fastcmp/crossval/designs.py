"""Resampling designs: index sets for comparing models.

Each function makes a `Design`, which is a splitter of scikit-learn and gives the fold
of each sample as an array. A repetition depends only on the seed and its number: the
first of ten repetitions is the same as a single one.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from fastcmp.core.checks import as_flag, as_seed, as_whole
from fastcmp.crossval.design import TRAIN, UNUSED, Design

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

_MOST_FOLDS = 2**15 - 1  # their numbers are int16


def kfold(n_folds: int = 10, *, stratify: bool = False, rng: Any = None) -> Design:
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
    n_repeats: int = 10, n_folds: int = 10, *, stratify: bool = False, rng: Any = None
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
        raise ValueError(f"n_folds must be at most {_MOST_FOLDS}, got {folds}")
    return Design(
        family="kfold",
        n_repeats=as_whole(n_repeats, "n_repeats", 1),
        n_folds=folds,
        stratify=as_flag(stratify, "stratify"),
        seed=as_seed(rng),
    )


def repeated_holdout(
    n_repeats: int = 15,
    *,
    test_size: float = 1 / 3,
    stratify: bool = False,
    rng: Any = None,
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
    return Design(
        family="holdout",
        n_repeats=as_whole(n_repeats, "n_repeats", 1),
        n_folds=1,
        test_size=_check_size(test_size),
        stratify=as_flag(stratify, "stratify"),
        seed=as_seed(rng),
    )


def two_fold(
    m: int = 5, *, blocked: bool = False, stratify: bool = False, rng: Any = None
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
    return Design(
        family="blocked-two-fold" if is_blocked else "two-fold",
        n_repeats=as_whole(m, "m", 2 if is_blocked else 1),
        n_folds=2,
        stratify=as_flag(stratify, "stratify"),
        seed=as_seed(rng),
    )


def paired_halves(
    n_halves: int = 10,
    n_repeats: int = 15,
    *,
    test_size: float = 0.1,
    stratify: bool = False,
    rng: Any = None,
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
    return Design(
        family="paired-halves",
        n_repeats=as_whole(n_repeats, "n_repeats", 1),
        n_folds=1,
        test_size=_check_size(test_size),
        n_halves=as_whole(n_halves, "n_halves", 1),
        stratify=as_flag(stratify, "stratify"),
        seed=as_seed(rng),
    )


def _check_size(value: Any) -> float | int:
    wanted = "test_size must be a proportion in (0, 1) or a whole number >= 1"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{wanted}, got {value!r}")
    if isinstance(value, Integral) and int(value) >= 1:
        return int(value)
    proportion = float(value)
    if not 0.0 < proportion < 1.0:
        raise ValueError(f"{wanted}, got {value}")
    return proportion
