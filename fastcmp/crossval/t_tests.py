"""Student's t over all folds of a design: is one of two models better on average?

The tests differ in how much they enlarge the variance for training sets that overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp import kernels
from fastcmp.crossval.fold_inputs import (
    as_positive,
    check_folds,
    read_differences,
    run_fold_t,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastcmp.crossval.fold_result import FoldTestResult


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
    differences: ArrayLike,
    *,
    n_train: float,
    n_test: float,
    alternative: str = "two-sided",
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
