"""Tests of repeated cuts in halves, such as 5 x 2 cross-validation.

The two halves of a cut share no training sample, so their spread can be trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp import kernels
from fastcmp.core.records import unwrap
from fastcmp.crossval.fold_tests import as_correlations, read_differences, run_fold_t, run_rows
from fastcmp.kernels.fold_t_tests import (
    ALPAYDIN_F,
    CALIBRATED_F,
    DIETTERICH_T,
    YILDIZ_T,
    two_fold_many,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastcmp.crossval.fold_result import FoldTestResult
    from fastcmp.crossval.fold_tests import Floats, Statuses


def _five_by_two(differences: ArrayLike, method: int, **about: Any) -> FoldTestResult:
    x = read_differences(differences, "5, 2")

    def fill(tail: int, out: Floats, status: Statuses) -> None:
        rows = x.reshape(status.size, 5, 2)
        two_fold_many(rows, method, tail, out, status)

    return run_rows(
        fill,
        x.shape[:-2],
        {"differences": x},
        difference=unwrap(x.mean(axis=(-2, -1)), x.shape[:-2]),
        n_folds=10,
        **about,
    )


def dietterich_t(differences: ArrayLike, *, alternative: str = "two-sided") -> FoldTestResult:
    """Dietterich's 5 x 2 cross-validated t test.

    Parameters
    ----------
    differences : array-like, shape (..., 5, 2)
        Score of a minus that of b in each cut and half. Leading axes hold many tests.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with 5 degrees of freedom; the estimate is the first difference of
        the first cut. See there for differences without spread.

    Raises
    ------
    ValueError
        If the last axes are not 5 x 2, a difference is not finite, or an option is
        unknown.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The numerator is one difference of ten, so the answer depends on the order of cuts
    and halves. `alpaydin_f` uses them all.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> from fastcmp import dietterich_t
    >>> x = [[0.04, 0.01], [0.02, 0.03], [0.0, 0.02], [0.03, 0.03], [0.01, 0.02]]
    >>> result = dietterich_t(x)
    >>> result.estimate, round(result.statistic, 4), round(result.pvalue, 4)
    (0.04, 3.266, 0.0223)
    """
    return _five_by_two(
        differences,
        DIETTERICH_T,
        alternative=alternative,
        df=5,
        test="dietterich-t",
        title="5 x 2 cross-validated t test (Dietterich)",
    )


def yildiz_t(differences: ArrayLike, *, alternative: str = "two-sided") -> FoldTestResult:
    """Yildiz's combined 5 x 2 cross-validated t test.

    Parameters
    ----------
    differences : array-like, shape (..., 5, 2)
        Score of a minus that of b in each cut and half. Leading axes hold many tests.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t with 5 degrees of freedom. See there for differences without spread.

    Raises
    ------
    ValueError
        If the last axes are not 5 x 2, a difference is not finite, or an option is
        unknown.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The ten differences are averaged as if they were independent, which they are not:
    equally good models are found different too often.

    References
    ----------
    .. [1] O. T. Yildiz, "Omnivariate rule induction using a novel pairwise statistical
       test", IEEE Transactions on Knowledge and Data Engineering 25 (2013) 2105-2118.

    Examples
    --------
    >>> from fastcmp import yildiz_t
    >>> x = [[0.04, 0.01], [0.02, 0.03], [0.0, 0.02], [0.03, 0.03], [0.01, 0.02]]
    >>> result = yildiz_t(x)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (5.4222, 0.0029)
    """
    return _five_by_two(
        differences,
        YILDIZ_T,
        alternative=alternative,
        df=5,
        test="yildiz-t",
        title="Combined 5 x 2 cross-validated t test (Yildiz)",
    )


def alpaydin_f(differences: ArrayLike) -> FoldTestResult:
    """Alpaydin's combined 5 x 2 cross-validated F test.

    Parameters
    ----------
    differences : array-like, shape (..., 5, 2)
        Score of a minus that of b in each cut and half. Leading axes hold many tests.

    Returns
    -------
    FoldTestResult
        F with 10 and 5 degrees of freedom, which has no sides. See there for
        differences without spread.

    Raises
    ------
    ValueError
        If the last axes are not 5 x 2, or a difference is not finite.
    TypeError
        If they are not real numbers.

    References
    ----------
    .. [1] E. Alpaydin, "Combined 5 x 2 cv F test for comparing supervised
       classification learning algorithms", Neural Computation 11 (1999) 1885-1892.

    Examples
    --------
    >>> from fastcmp import alpaydin_f
    >>> x = [[0.04, 0.01], [0.02, 0.03], [0.0, 0.02], [0.03, 0.03], [0.01, 0.02]]
    >>> result = alpaydin_f(x)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (3.8, 0.0768)
    """
    return _five_by_two(
        differences,
        ALPAYDIN_F,
        df=(10, 5),
        test="alpaydin-f",
        title="Combined 5 x 2 cross-validated F test (Alpaydin)",
    )


def calibrated_f(differences: ArrayLike) -> FoldTestResult:
    """Refer Alpaydin's F on balanced 5 x 2 cross-validation to F(7, 5).

    Parameters
    ----------
    differences : array-like, shape (..., 5, 2)
        Score of a minus that of b in each cut and half of a balanced design, in which
        halves of two cuts share a quarter of the samples. Leading axes hold many tests.

    Returns
    -------
    FoldTestResult
        F with 7 and 5 degrees of freedom, which has no sides. See there for
        differences without spread.

    Raises
    ------
    ValueError
        If the last axes are not 5 x 2, or a difference is not finite.
    TypeError
        If they are not real numbers.

    Notes
    -----
    The degrees of freedom are those of the article's abstract. That the statistic is
    Alpaydin's without another constant is our reading: the abstract names none, and
    matching two moments gives none.

    References
    ----------
    .. [1] Y. Wang, J. Li, Y. Li, "Choosing between two classification learning
       algorithms based on calibrated balanced 5 x 2 cross-validated F-test", Neural
       Processing Letters 46 (2017) 1-13.

    Examples
    --------
    >>> from fastcmp import calibrated_f
    >>> x = [[0.04, 0.01], [0.02, 0.03], [0.0, 0.02], [0.03, 0.03], [0.01, 0.02]]
    >>> result = calibrated_f(x)
    >>> result.df, round(result.pvalue, 4)
    ((7, 5), 0.0804)
    """
    return _five_by_two(
        differences,
        CALIBRATED_F,
        df=(7, 5),
        test="calibrated-f",
        title="Calibrated F test on balanced 5 x 2 cross-validation (Wang, Li, Li)",
    )


def blocked_t(
    differences: ArrayLike, *, rho1: Any = None, rho2: Any = None, alternative: str = "two-sided"
) -> FoldTestResult:
    """Test m balanced cuts in halves: the blocked 3 x 2 cross-validated t test.

    Parameters
    ----------
    differences : array-like, shape (..., m, 2)
        Score of a minus that of b in each cut and half of a balanced design, in which
        halves of two cuts share a quarter of the samples. Leading axes hold many tests.
    rho1 : float, optional
        Correlation of the two differences of one cut, in (-1, 1].
    rho2 : float, optional
        Correlation of differences of two cuts, in [0, (1 + rho1) / 2]. With neither
        it is the test of 2014.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.

    Returns
    -------
    FoldTestResult
        Student's t; by default with 2 m - 1 degrees of freedom, that is 5 for m = 3.
        See there for differences without spread.

    Raises
    ------
    ValueError
        If there are fewer than two cuts, the last axis is not 2, a difference is not
        finite, correlations are out of bounds or leave nothing to divide by, only one
        of them is given, or an option is unknown.
    TypeError
        If differences or correlations are not real numbers.

    Notes
    -----
    The mean is divided by C sqrt(V), with V the mean squared deviation from it. C = 1
    and 5 degrees of freedom for m = 3 are the configuration in the authors' own
    programs; the article was not at hand. For other m the default is our extension
    of it. With correlations, C and the degrees of freedom,

    C**2 = (1 + rho1 + 2 (m - 1) rho2) / (2 m - 1 - rho1 - 2 (m - 1) rho2),

    are known from those programs only, as `fastcmp.kernels.blocked_constants` gives
    them.

    References
    ----------
    .. [1] Y. Wang, R. Wang, H. Jia, J. Li, "Blocked 3 x 2 cross-validated t-test for
       comparing supervised classification learning algorithms", Neural Computation 26
       (2014) 208-235.

    Examples
    --------
    >>> from fastcmp import blocked_t
    >>> result = blocked_t([[0.04, 0.01], [0.02, 0.03], [0.0, 0.02]])
    >>> result.df, round(result.statistic, 4), round(result.pvalue, 4)
    (5, 1.5492, 0.182)
    """
    x = read_differences(differences, "m, 2")
    m = x.shape[-2]
    if m < 2:
        raise ValueError(f"differences must hold at least 2 cuts in halves, got {m}")
    constant, df = _constants(m, rho1, rho2)
    return run_fold_t(
        x,
        2,
        factor=constant * constant / (2 * m),
        df=df,
        alternative=alternative,
        test="blocked-t",
        title=f"Blocked {m} x 2 cross-validated t test (Wang et al.)",
    )


def _constants(m: int, rho1: Any, rho2: Any) -> tuple[float, float]:
    """C and the degrees of freedom, a whole number without correlations."""
    if rho1 is None and rho2 is None:
        return 1.0, 2 * m - 1
    if rho1 is None or rho2 is None:
        raise ValueError(f"give both rho1 and rho2, or neither, got {rho1!r} and {rho2!r}")
    rho1, rho2 = as_correlations(rho1, rho2)
    constant, df, status = kernels.blocked_constants(m, rho1, rho2)
    if status != kernels.OK:
        raise ValueError(
            f"rho1={rho1} and rho2={rho2} leave no variance to divide by: one of the "
            "mean and the deviations from it would be constant"
        )
    return constant, df
