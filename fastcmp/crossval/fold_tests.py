"""Tests of two models by differences of their scores in the folds of a design.

The tests differ in how much they enlarge the variance for training sets that overlap.
"""

from __future__ import annotations

from math import prod
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_numbers, choose
from fastcmp.core.records import unwrap
from fastcmp.crossval.fold_result import FoldTestResult
from fastcmp.kernels.fold_t_tests import fold_t_many
from fastcmp.kernels.fold_z import bayle_z_many, conservative_z_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]
Statuses = NDArray[np.uint8]


def read_differences(raw: ArrayLike, axes: str = "J", name: str = "differences") -> Floats:
    """Convert fold differences to one C-ordered float64 array."""
    array = as_numbers(raw, name)
    sizes = axes.split(", ")
    last = array.shape[-len(sizes) :]
    fits = array.ndim >= len(sizes) and all(
        got == int(wanted) if wanted.isdigit() else got > 0
        for got, wanted in zip(last, sizes, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape (..., {axes}), got shape {array.shape}")
    return np.ascontiguousarray(array, np.float64)


def check_folds(n: int, what: str) -> None:
    """Refuse fewer than two differences."""
    if n < 2:
        raise ValueError(f"differences must hold at least 2 {what}, got {n}")


def as_real(value: Any, name: str) -> float:
    """Refuse what is no number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def as_positive(value: Any, name: str) -> float:
    """Check a number of samples, a ratio of two, or the like."""
    number = as_real(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def as_correlations(rho1: Any, rho2: Any) -> tuple[float, float]:
    """Check correlations within a cut and between cuts: possible for any m."""
    within, between = as_real(rho1, "rho1"), as_real(rho2, "rho2")
    # At -1 the mean would have no variance.
    if not -1 < within <= 1:
        raise ValueError(f"rho1 must lie in (-1, 1], got {rho1}")
    largest = (1 + within) / 2
    if not 0 <= between <= largest:
        raise ValueError(f"rho2 must lie in [0, (1 + rho1) / 2] = [0, {largest:g}], got {rho2}")
    return within, between


def run_rows(
    fill: Callable[[int, Floats, Statuses], None],
    shape: tuple[int, ...],
    given: Mapping[str, Floats],
    *,
    alternative: str = "two-sided",
    difference: Any = None,
    **about: Any,
) -> FoldTestResult:
    """Let a kernel test all rows of what was given, and wrap what it wrote.

    `fill` takes the code of the alternative, numbers (4, N) and statuses (N,).
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    n_tests = prod(shape)
    out, status = np.empty((4, n_tests)), np.empty(n_tests, np.uint8)
    fill(ALTERNATIVES[alternative], out, status)
    # The kernels saw every number, so the data need no pass of their own before.
    if (status == kernels.INVALID).any():
        _refuse(given)
    statistic, pvalue, estimate, standard_error = (unwrap(x, shape) for x in out)
    return FoldTestResult(
        statistic=statistic,
        pvalue=pvalue,
        difference=estimate if difference is None else difference,
        estimate=estimate,
        standard_error=standard_error,
        status=unwrap(status, shape),
        alternative=alternative,
        **about,
    )


def run_fold_t(x: Floats, n_axes: int, *, factor: float, df: float, **about: Any) -> FoldTestResult:
    """Test the mean over the last axes by Student's t."""
    n_folds = prod(x.shape[-n_axes:])

    def fill(tail: int, out: Floats, status: Statuses) -> None:
        rows = x.reshape(status.size, n_folds)
        fold_t_many(rows, factor, float(df), tail, out, status)

    return run_rows(fill, x.shape[:-n_axes], {"differences": x}, df=df, n_folds=n_folds, **about)


def _refuse(given: Mapping[str, Floats]) -> None:
    for name, array in given.items():
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            where = tuple(bad[0].tolist())
            place = ", ".join(map(str, where))
            raise ValueError(f"{name} must be finite, got {array[where]} at [{place}]")


# Student's t over all folds of a design: is one of two models better on average?.


def resampled_t(differences: ArrayLike, *, alternative: str = "two-sided") -> FoldTestResult:
    """Test random splits by the paired t test, as if they were independent.

    Parameters
    ----------
    differences : array-like, shape (..., J)
        Score of a minus that of b in each random split into training and test set.
        Leading axes hold many tests.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with J - 1 degrees of freedom. See there for differences without
        spread.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, or an option is
        unknown.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The splits share samples, so the variance is estimated too small: equally good
    models are found different far too often. Use `nadeau_bengio_t` instead.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> from fastcmp import resampled_t
    >>> result = resampled_t([0.02, 0.01, 0.03, 0.02])
    >>> round(result.statistic, 4), round(result.pvalue, 4), result.df
    (4.899, 0.0163, 3)
    """
    x = read_differences(differences, "J")
    n = x.shape[-1]
    check_folds(n, "splits")
    return run_fold_t(
        x,
        1,
        factor=kernels.corrected_factor(n, 0.0),
        df=n - 1,
        alternative=alternative,
        test="resampled-t",
        title="Resampled paired t test",
    )


def kfold_t(differences: ArrayLike, *, alternative: str = "two-sided") -> FoldTestResult:
    """Test the folds of one cross-validation by the paired t test.

    Parameters
    ----------
    differences : array-like, shape (..., K)
        Score of a minus that of b in each fold. Leading axes hold many tests.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with K - 1 degrees of freedom. See there for differences without
        spread.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, or an option is
        unknown.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The training sets overlap, which the test ignores: it rejects a true null hypothesis
    more often than its level says. For repeated cross-validation use
    `bouckaert_frank_t`.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> from fastcmp import kfold_t
    >>> result = kfold_t([0.02, 0.01, 0.03, 0.02], alternative="greater")
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (4.899, 0.0081)
    """
    x = read_differences(differences, "K")
    n = x.shape[-1]
    check_folds(n, "folds")
    return run_fold_t(
        x,
        1,
        factor=kernels.corrected_factor(n, 0.0),
        df=n - 1,
        alternative=alternative,
        test="kfold-t",
        title="K-fold cross-validated paired t test",
    )


def nadeau_bengio_t(
    differences: ArrayLike, *, n_train: float, n_test: float, alternative: str = "two-sided"
) -> FoldTestResult:
    """Nadeau and Bengio's corrected resampled t test.

    Parameters
    ----------
    differences : array-like, shape (..., J)
        Score of a minus that of b in each random split. Leading axes hold many tests.
    n_train, n_test : float
        Samples trained and tested on in each split, or their proportions: only the
        ratio counts.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with J - 1 degrees of freedom. See there for differences without
        spread.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, a size is not
        positive, or an option is unknown.
    TypeError
        If differences or sizes are not real numbers.

    Notes
    -----
    The variance s**2 / J of the mean becomes (1 / J + n_test / n_train) s**2, with s**2
    the variance of the differences: their correlation is guessed as
    n_test / (n_train + n_test).

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp import nadeau_bengio_t
    >>> result = nadeau_bengio_t([0.02, 0.01, 0.03, 0.02], n_train=90, n_test=30)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (3.2071, 0.0491)
    """
    x = read_differences(differences, "J")
    n = x.shape[-1]
    check_folds(n, "splits")
    return run_fold_t(
        x,
        1,
        factor=kernels.corrected_factor(n, _test_ratio(n_train, n_test)),
        df=n - 1,
        alternative=alternative,
        test="nadeau-bengio-t",
        title="Corrected resampled t test (Nadeau, Bengio)",
    )


def _test_ratio(n_train: Any, n_test: Any) -> float:
    train, test = as_positive(n_train, "n_train"), as_positive(n_test, "n_test")
    # Two finite sizes can have a ratio that is not.
    return as_positive(test / train, "n_test / n_train")


def bouckaert_frank_t(
    differences: ArrayLike,
    *,
    n_train: float | None = None,
    n_test: float | None = None,
    alternative: str = "two-sided",
) -> FoldTestResult:
    """Bouckaert and Frank's corrected t test of repeated K-fold cross-validation.

    Parameters
    ----------
    differences : array-like, shape (..., r, k)
        Score of a minus that of b in each repetition and fold. Leading axes hold many
        tests.
    n_train, n_test : float, optional
        As in `nadeau_bengio_t`. By default those of k equal folds, k - 1 and 1.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with r k - 1 degrees of freedom. See there for differences without
        spread.

    Raises
    ------
    ValueError
        If there are fewer than two differences, one is not finite, a size is not
        positive, only one of the sizes is given, or an option is unknown.
    TypeError
        If differences or sizes are not real numbers.

    Notes
    -----
    It is `nadeau_bengio_t` on all r k differences; `bouckaert_t` is another test.

    References
    ----------
    .. [1] R. R. Bouckaert, E. Frank, "Evaluating the replicability of significance
       tests for comparing learning algorithms", PAKDD (2004) 3-12.

    Examples
    --------
    >>> from fastcmp import bouckaert_frank_t
    >>> result = bouckaert_frank_t([[0.02, 0.01], [0.03, 0.02]])
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (2.1909, 0.1162)
    """
    x = read_differences(differences, "r, k")
    n, n_folds = x.shape[-2] * x.shape[-1], x.shape[-1]
    check_folds(n, "folds")
    if (n_train is None) != (n_test is None):
        raise ValueError(f"give both n_train and n_test, got {n_train!r} and {n_test!r}")
    if n_train is None:
        if n_folds < 2:
            raise ValueError(
                "differences must hold at least 2 folds a repetition, got shape "
                f"{x.shape}: for other splits give n_train and n_test"
            )
        n_train, n_test = n_folds - 1, 1
    return run_fold_t(
        x,
        2,
        factor=kernels.corrected_factor(n, _test_ratio(n_train, n_test)),
        df=n - 1,
        alternative=alternative,
        test="bouckaert-frank-t",
        title="Corrected repeated K-fold t test (Bouckaert, Frank)",
    )


def bouckaert_t(differences: ArrayLike, *, alternative: str = "two-sided") -> FoldTestResult:
    """Bouckaert's t test of 10 x 10-fold cross-validation with 10 degrees of freedom.

    Parameters
    ----------
    differences : array-like, shape (..., 10, 10)
        Score of a minus that of b in each repetition and fold. Leading axes hold many
        tests.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with 10 degrees of freedom. See there for differences without
        spread.

    Raises
    ------
    ValueError
        If the last axes are not 10 x 10, a difference is not finite, or an option is
        unknown.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The mean of all 100 over the root of s**2 / 11, with s**2 their variance; MATLAB's
    ``testckfold`` calls it ``"10x10t"``. Bouckaert chose the degrees of freedom by
    simulation.

    References
    ----------
    .. [1] R. R. Bouckaert, "Choosing between two learning algorithms based on
       calibrated tests", ICML (2003) 51-58.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp import bouckaert_t
    >>> result = bouckaert_t(0.02 + np.sin(np.arange(100)).reshape(10, 10) / 20)
    >>> result.df, round(result.pvalue, 4)
    (10, 0.0889)
    """
    x = read_differences(differences, "10, 10")
    return run_fold_t(
        x,
        2,
        factor=1.0 / (11.0 * 99.0),
        df=10,
        alternative=alternative,
        test="bouckaert-t",
        title="10 x 10-fold cross-validated t test with 10 df (Bouckaert)",
    )


# Tests over folds that refer a mean to the normal distribution.


_VARIANCES = ("out", "in")


def conservative_z(
    differences: ArrayLike, half_differences: ArrayLike, *, alternative: str = "two-sided"
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
