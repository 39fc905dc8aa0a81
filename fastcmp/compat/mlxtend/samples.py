"""Two proportions compared, and the bootstrap of a statistic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers, as_proportion, as_whole
from fastcmp.core.numbers import normal_tail
from fastcmp.paired.unpaired_result import score_statistic


def proportion_difference(
    proportion_1: float, proportion_2: float, n_1: int, n_2: int | None = None
) -> tuple[float, float]:
    """Test of two independent proportions, like `mlxtend.evaluate`.

    Parameters
    ----------
    proportion_1, proportion_2 : float
        Such as two accuracies.
    n_1 : int
        Samples behind the first.
    n_2 : int, optional
        Samples behind the second; by default `n_1`.

    Returns
    -------
    z : float
        The difference divided by its standard error where the proportions are equal.
    p : float
        Two-sided.

    Raises
    ------
    ValueError
        If a proportion is outside [0, 1], or there is no sample.
    TypeError
        If `n_1` or `n_2` is no whole number, or a proportion no number.

    See Also
    --------
    fastcmp.mcnemar : Two models on the *same* samples.
    fastcmp.accuracy_unpaired : This test from labels; one-sided, with interval.

    Notes
    -----
    mlxtend 0.25 differs in two ways. Its p-value is the lower tail, so that p of two
    models exchanged is 1 - p, and a larger first proportion is never significant; the
    test of its user guide, and this one, is two-sided. It adds the two variances as
    estimated, where the guide, and this test, takes the variance of the pooled
    proportion: the score test.

    The test is for two sets of samples. Models that are tested on the same samples make
    many errors on the same ones, so their accuracies differ less by chance than this
    test assumes.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import proportion_difference
    >>> z, p = proportion_difference(0.84, 0.92, 100)
    >>> round(z, 3), round(p, 3)
    (-1.741, 0.082)
    """
    n_1 = as_whole(n_1, "n_1", 1)
    n_2 = n_1 if n_2 is None else as_whole(n_2, "n_2", 1)
    first = _as_proportion(proportion_1, "proportion_1")
    second = _as_proportion(proportion_2, "proportion_2")
    z = float(score_statistic(first, second, n_1, n_2))
    return z, float(normal_tail(z, "two-sided"))


def _as_proportion(raw: float, name: str) -> float:
    proportion = as_numbers(raw, name, "a number")
    if proportion.ndim or not 0 <= proportion <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {raw!r}")
    return float(proportion)


def bootstrap(
    x: ArrayLike,
    func: Callable[[NDArray[Any]], float],
    num_rounds: int = 1000,
    ci: float = 0.95,
    ddof: int = 1,
    seed: int | None = None,
) -> tuple[float, float, tuple[float, float]]:
    """Bootstrap a statistic, like `mlxtend.evaluate.bootstrap`.

    Parameters
    ----------
    x : array-like, shape (n, ...)
        Records.
    func : callable
        Takes an array such as `x` and returns a number.
    num_rounds : int
        Number of resamples, at least 2.
    ci : float
        Confidence level, in (0, 1).
    ddof : int
        The standard error divides by ``num_rounds - ddof``.
    seed : int, optional
        Seed of the resamples.

    Returns
    -------
    original : float
        `func` of the data.
    standard_error : float
        Standard deviation of `func` over the resamples.
    interval : tuple of two floats
        Percentile interval.

    Raises
    ------
    ValueError
        If there are no records, `func` returns no number or NaN, or an option is
        outside its range.
    TypeError
        If `num_rounds` is no whole number, or `ci` no number.

    See Also
    --------
    fastcmp.auc_bootstrap : Areas under curves, many models on the same resamples.

    Notes
    -----
    The resamples are mlxtend's for the same seed. The ends of the interval are
    quantiles as `numpy.quantile` gives them. mlxtend 0.25 takes one replicate too low
    at the upper end: for 1000 rounds the 25th from below and the 26th from above. So
    its interval of a mean of -x is not that of x with its sign changed.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.compat.mlxtend import bootstrap
    >>> x = np.arange(100.0)
    >>> original, standard_error, (low, high) = bootstrap(x, np.mean, seed=1)
    >>> float(original), round(standard_error), round(low), round(high)
    (49.5, 3, 44, 55)
    """
    level = as_proportion(ci, "ci")
    num_rounds = as_whole(num_rounds, "num_rounds", 2)
    records = np.asarray(x)
    if not records.ndim or not len(records):
        raise ValueError(f"x must hold at least one record, got shape {records.shape}")
    original = func(records)
    if np.ndim(original):
        raise ValueError(f"func must return a number, got shape {np.shape(original)}")
    replicates = np.array(
        [func(records[rows]) for rows in resamples(len(records), num_rounds, seed)], np.float64
    )
    if np.isnan(replicates).any():
        raise ValueError("func must return numbers, got NaN for a resample")
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(replicates, tails).tolist()
    return original, float(np.std(replicates, ddof=ddof)), (low, high)


def resamples(n: int, rounds: int, seed: int | None) -> Iterator[NDArray[np.intp]]:
    """Draw the positions of bootstrap samples as mlxtend does."""
    states = np.random.RandomState(seed)
    for _ in range(rounds):
        yield states.choice(n, size=n, replace=True)
