"""Tests over folds that refer a mean to the normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.checks import as_numbers
from fastcmp.core.options import choose
from fastcmp.crossval.fold_inputs import check_folds, read_differences, run_rows
from fastcmp.kernels.fold_z import bayle_z_many, conservative_z_many

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.crossval.fold_inputs import Floats, Statuses
    from fastcmp.crossval.fold_result import FoldTestResult

_VARIANCES = ("out", "in")


def conservative_z(
    differences: ArrayLike,
    half_differences: ArrayLike,
    *,
    alternative: str = "two-sided",
) -> FoldTestResult:
    """Nadeau and Bengio's conservative z test.

    Parameters
    ----------
    differences : array-like, shape (..., J)
        Score of a minus that of b in J random splits of all samples. Leading axes hold
        many tests.
    half_differences : array-like, shape (..., M, 2, J)
        The same in J splits of either half, with as many samples to test on, for M
        random cuts of the samples in two halves.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        A normal z; the estimate is the mean of `differences`. See there for differences
        without spread.

    Raises
    ------
    ValueError
        If the shapes do not fit each other, there are no differences, one is not
        finite, or an option is unknown.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The variance is half the mean squared difference between the means of two halves.
    Models trained on half of the samples vary more, so it tends to be too large.
    The authors take J = 15 and M = 10.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp import conservative_z
    >>> halves = [[[0.02, 0.01], [0.03, 0.02]], [[0.0, 0.03], [0.01, 0.01]]]
    >>> result = conservative_z([0.01, 0.02], halves)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (2.6833, 0.0073)
    """
    x = read_differences(differences, "J")
    halves = read_differences(half_differences, "M, 2, J", "half_differences")
    if halves.shape[:-3] != x.shape[:-1] or halves.shape[-1] != x.shape[-1]:
        wanted = ", ".join([*map(str, x.shape[:-1]), "M", "2", str(x.shape[-1])])
        raise ValueError(
            f"half_differences must have shape ({wanted}) beside differences of shape "
            f"{x.shape}, got shape {halves.shape}"
        )

    def fill(tail: int, out: Floats, status: Statuses) -> None:
        rows = x.reshape(status.size, x.shape[-1])
        blocks = halves.reshape(status.size, *halves.shape[-3:])
        conservative_z_many(rows, blocks, tail, out, status)

    return run_rows(
        fill,
        x.shape[:-1],
        {"differences": x, "half_differences": halves},
        df=None,
        test="conservative-z",
        title="Conservative z test (Nadeau, Bengio)",
        alternative=alternative,
        n_folds=x.shape[-1],
    )


def bayle_z(
    differences: ArrayLike,
    folds: ArrayLike,
    *,
    variance: str = "out",
    alternative: str = "two-sided",
) -> FoldTestResult:
    """Test a cross-validated mean by the central limit theorem of Bayle et al.

    Parameters
    ----------
    differences : array-like, shape (..., n)
        Score of a minus that of b on each sample, tested once in one cross-validation;
        for accuracy 1 where only a is right, -1 where only b is. Leading axes hold many
        tests.
    folds : array-like of int, shape (n,)
        The fold in which each sample was tested, numbered from 0 without gaps.
    variance : {"out", "in"}
        Of all samples about the common mean, or the mean of the variances within the
        folds, which need two samples each; folds of unequal size count alike.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        A normal z; the estimate is the mean over all samples. See there for differences
        without spread.

    Raises
    ------
    ValueError
        If lengths differ, a fold is empty or too small, there are fewer than two
        folds, a difference is not finite, or an option is unknown.
    TypeError
        If they are not real numbers, or folds not whole ones.

    Notes
    -----
    O(n). The authors divide into folds of equal size; that unequal ones count alike is
    our extension. What is tested is the mean over the models of this cross-validation.

    References
    ----------
    .. [1] P. Bayle, A. Bayle, L. Janson, L. Mackey, "Cross-validation confidence
       intervals for test error", Advances in Neural Information Processing Systems 33
       (2020).

    Examples
    --------
    >>> from fastcmp import bayle_z
    >>> x, folds = [1, 0, 0, 1, 0, 1, -1, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(bayle_z(x, folds).statistic, 4)
    1.524
    >>> round(bayle_z(x, folds, variance="in").statistic, 4)
    1.3416
    """
    variance = choose(variance, "variance", _VARIANCES)
    x = read_differences(differences, "n")
    check_folds(x.shape[-1], "samples")
    number, sizes = _read_folds(folds, x.shape[-1])
    if variance == "in" and sizes.min() < 2:
        raise ValueError(
            f"variance='in' needs 2 samples in each fold, got 1 in fold {sizes.argmin()}"
        )

    def fill(tail: int, out: Floats, status: Statuses) -> None:
        rows = x.reshape(status.size, x.shape[-1])
        n_folds = sizes.size if variance == "in" else 0
        bayle_z_many(rows, number, n_folds, tail, out, status)

    return run_rows(
        fill,
        x.shape[:-1],
        {"differences": x},
        df=None,
        test="bayle-z",
        title=f"K-fold cross-validated z test (Bayle et al., variance {variance})",
        alternative=alternative,
        n_folds=sizes.size,
    )


def _read_folds(raw: ArrayLike, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Check the fold of each sample, and count them."""
    folds = as_numbers(raw, "folds", "whole numbers")
    if folds.dtype.kind == "f":
        raise TypeError(f"folds must be whole numbers, got {folds.dtype} values")
    if folds.shape != (n,):
        raise ValueError(f"folds must have shape ({n},), one for each sample, got {folds.shape}")
    if not 0 <= folds.min() <= folds.max() < n:
        bad = folds.min() if folds.min() < 0 else folds.max()
        raise ValueError(f"folds must be numbered from 0 and below {n}, got {bad}")
    number = np.ascontiguousarray(folds, np.int64)
    sizes = np.bincount(number)
    if not sizes.all():
        raise ValueError(
            f"folds must be numbered from 0 without gaps, got no sample in fold {sizes.argmin()}"
        )
    if sizes.size < 2:
        raise ValueError(f"folds must hold at least 2 folds, got {sizes.size}")
    return number, sizes
