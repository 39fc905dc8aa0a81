"""t tests of J differences whose training sets overlap, most with a larger variance.

They differ only in the factor of the variance and in the degrees of freedom.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastcmp._jit import kernel
from fastcmp.kernels.fold_t_tests import FoldOutcome, _invalid, fold_t

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray


@kernel
def corrected_factor(n: int, ratio: float) -> float:
    """Factor from a sum of squares to the variance of a mean of dependent differences.

    Parameters
    ----------
    n : int
        Number of differences, two or more.
    ratio : float
        Samples tested on divided by samples trained on; 0 for independent differences.

    Returns
    -------
    float
        (1 / n + ratio) / (n - 1).

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp.kernels import corrected_factor
    >>> corrected_factor(5, 0.8)
    0.25
    """
    return (1.0 / n + ratio) / (n - 1)


@kernel
def resampled_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Test random splits as if their differences were independent.

    Parameters
    ----------
    differences : ndarray of float64, shape (J,)
        Score of a minus that of b in each split.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with J - 1 degrees of freedom.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import resampled_t
    >>> round(resampled_t(np.array([0.02, 0.01, 0.03, 0.02])).statistic, 4)
    4.899
    """
    n = differences.size
    if n < 2:
        return _invalid()
    return fold_t(differences, corrected_factor(n, 0.0), n - 1.0, alternative)


@kernel
def kfold_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Test the folds of one cross-validation as if they were independent.

    Parameters
    ----------
    differences : ndarray of float64, shape (K,)
        Score of a minus that of b in each fold.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with K - 1 degrees of freedom, as `resampled_t`.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import kfold_t
    >>> round(kfold_t(np.array([0.02, 0.01, 0.03, 0.02])).pvalue, 4)
    0.0163
    """
    return resampled_t(differences, alternative)


@kernel
def nadeau_bengio_t(
    differences: FloatArray, n_train: float, n_test: float, alternative: int = 0
) -> FoldOutcome:
    """Nadeau and Bengio's corrected resampled t test.

    Parameters
    ----------
    differences : ndarray of float64, shape (J,)
        Score of a minus that of b in each random split.
    n_train, n_test : float
        Samples trained and tested on in each split.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with J - 1 degrees of freedom. ``INVALID`` also for sizes that are
        not positive.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import nadeau_bengio_t
    >>> outcome = nadeau_bengio_t(np.array([0.02, 0.01, 0.03, 0.02]), 90, 30)
    >>> round(outcome.statistic, 4)
    3.2071
    """
    n = differences.size
    if n < 2 or not 0.0 < n_train < math.inf or not 0.0 < n_test < math.inf:
        return _invalid()
    factor = corrected_factor(n, n_test / n_train)
    return fold_t(differences, factor, n - 1.0, alternative)


@kernel
def bouckaert_frank_t(
    differences: FloatArray, test_ratio: float, alternative: int = 0
) -> FoldOutcome:
    """Bouckaert and Frank's corrected t test of r repetitions of k folds.

    Parameters
    ----------
    differences : ndarray of float64, shape (r, k)
        Score of a minus that of b in each repetition and fold.
    test_ratio : float
        Samples tested on divided by samples trained on: 1 / (k - 1) for k folds.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        Student's t with r k - 1 degrees of freedom. ``INVALID`` also for a ratio that
        is not positive.

    References
    ----------
    .. [1] R. R. Bouckaert, E. Frank, "Evaluating the replicability of significance
       tests for comparing learning algorithms", PAKDD (2004) 3-12.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bouckaert_frank_t
    >>> differences = np.array([[0.02, 0.01], [0.03, 0.02]])
    >>> round(bouckaert_frank_t(differences, 1.0).statistic, 4)
    2.1909
    """
    n = differences.size
    if n < 2 or not 0.0 < test_ratio < math.inf:
        return _invalid()
    factor = corrected_factor(n, test_ratio)
    return fold_t(differences.ravel(), factor, n - 1.0, alternative)


@kernel
def bouckaert_t(differences: FloatArray, alternative: int = 0) -> FoldOutcome:
    """Bouckaert's t test of 10 x 10-fold cross-validation with 10 degrees of freedom.

    Parameters
    ----------
    differences : ndarray of float64, shape (10, 10)
        Score of a minus that of b in each repetition and fold.
    alternative : int, optional
        ``TWO_SIDED`` (0), ``GREATER`` (1, a is better) or ``LESS`` (-1).

    Returns
    -------
    FoldOutcome
        The mean of all 100 divided by the root of their variance over 11, compared
        with t with 10 degrees of freedom. ``INVALID`` also for any other shape.

    References
    ----------
    .. [1] R. R. Bouckaert, "Choosing between two learning algorithms based on
       calibrated tests", ICML (2003) 51-58.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.kernels import bouckaert_t
    >>> differences = 0.02 + np.sin(np.arange(100)).reshape(10, 10) / 20
    >>> round(bouckaert_t(differences).pvalue, 4)
    0.0889
    """
    if differences.shape[0] != 10 or differences.shape[1] != 10:
        return _invalid()
    return fold_t(differences.ravel(), 1.0 / (11.0 * 99.0), 10.0, alternative)
