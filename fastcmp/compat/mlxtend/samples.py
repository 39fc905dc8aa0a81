"""Samples of numbers: two proportions, the bootstrap of a statistic, permutation tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers, as_proportion, as_whole, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.typing import ColumnLike, Floats
from fastcmp.paired.unpaired_accuracies import score_statistic


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
    return z, float(t_tail(z, "two-sided"))


def _as_proportion(raw: float, name: str) -> float:
    proportion = as_numbers(raw, name, "a number")
    if proportion.ndim or not 0 <= proportion <= 1:
        raise BadValueError(f"`{name}` must be a number in [0, 1]", repr(raw))
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
        raise BadValueError("`x` must hold at least one record", f"shape {records.shape}")
    original = func(records)
    if np.ndim(original):
        raise BadValueError("`func` must return a number", f"shape {np.shape(original)}")
    replicates = np.array(
        [func(records[rows]) for rows in resamples(len(records), num_rounds, seed)], np.float64
    )
    if np.isnan(replicates).any():
        raise BadValueError("`func` must return numbers", "NaN for a resample")
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(replicates, tails).tolist()
    return original, float(np.std(replicates, ddof=ddof)), (low, high)


def resamples(n: int, rounds: int, seed: int | None) -> Iterator[NDArray[np.intp]]:
    """Draw the positions of bootstrap samples as mlxtend does."""
    states = np.random.RandomState(seed)
    for _ in range(rounds):
        yield states.choice(n, size=n, replace=True)


# The permutation test of two samples of numbers.


_MEANS: dict[str, Callable[[Any, Any], Any]] = {
    "x_mean != y_mean": lambda x, y: abs(np.mean(x) - np.mean(y)),
    "x_mean > y_mean": lambda x, y: np.mean(x) - np.mean(y),
    "x_mean < y_mean": lambda x, y: np.mean(y) - np.mean(x),
}
_SLACK = 1e-12  # statistics that differ by less, relative to their scale, are equal
_MOST_SUMS = 2**22  # sums of one half of the data
_MOST_CALLS = 10**7  # of a function of the user's


def permutation_test(
    x: ArrayLike,
    y: ColumnLike,
    func: Any = "x_mean != y_mean",
    method: str = "exact",
    num_rounds: int = 1000,
    seed: int | None = None,
    paired: bool = False,
) -> float:
    """Permutation test of two samples, like `mlxtend.evaluate.permutation_test`.

    Parameters
    ----------
    x, y : array-like, shape (m,) and (n,)
        Two samples of numbers.
    func : {"x_mean != y_mean", "x_mean > y_mean", "x_mean < y_mean"} or callable
        The alternative; or a function of two samples whose large values are evidence
        against H0.
    method : {"exact", "approximate"}
        All exchanges, or random ones.
    num_rounds : int
        Number of random exchanges, at least 1.
    seed : int, optional
        Seed of the random exchanges.
    paired : bool
        Exchange only x[i] and y[i], for equal lengths.

    Returns
    -------
    float
        Proportion of the exchanges whose statistic is at least that of the data. The
        data are one of them, so it is never 0.

    Raises
    ------
    ValueError
        If a sample is empty or holds NaN, `paired` samples have unequal lengths, an
        option is unknown, or there are too many exchanges for "exact".
    TypeError
        If samples are not numbers.

    See Also
    --------
    fastcmp.auc_permutation_test : The same idea for areas under two curves.

    Notes
    -----
    mlxtend 0.25 treats statistics as equal to that of the data if they are within 1e-5
    of it, relatively, or within 1e-8. So p is too large for samples with differences
    that small, and is 1 where all are below 1e-8. Here they are equal within rounding,
    1e-12 of the scale. Otherwise both methods give the same p, for the same seed.

    The exact test of means adds up halves of the data, and counts pairs of sums by
    sorting: O(2**(N / 2) N) for N numbers instead of 2**N sums, which is feasible for
    20 + 20 numbers. A function is called for each exchange, at most 10**7 times.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import permutation_test
    >>> round(permutation_test([4.1, 5.0, 5.2, 6.3], [1.5, 2.2, 3.9, 4.0]), 4)
    0.0286
    """
    method = choose(method, "method", ("exact", "approximate"))
    first, second = _read_sample(x, "x"), _read_sample(y, "y")
    if paired and first.size != second.size:
        raise BadValueError(
            "`x` and y must have the same length if paired", f"{first.size} and {second.size}"
        )
    if not callable(func):
        func = choose(func, "func", tuple(_MEANS))
        if method == "exact":
            return _exact_means(first, second, func, paired=paired)
    statistic = func if callable(func) else _MEANS[func]
    if method == "exact":
        exchanges = _all_exchanges(first, second, paired=paired)
    else:
        rounds = as_whole(num_rounds, "num_rounds", 1)
        exchanges = _random_exchanges(first, second, rounds, seed, paired=paired)
    observed = float(statistic(first, second))
    drawn = np.array([float(statistic(*exchange)) for exchange in exchanges])
    if method == "approximate":
        drawn = np.append(drawn, observed)  # the data are one of the exchanges
    if np.isnan(observed) or np.isnan(drawn).any():
        raise BadValueError("`func` must return numbers", f"NaN; {observed} for the data")
    finite = np.abs(drawn[np.isfinite(drawn)])
    extreme = drawn >= observed - _SLACK * finite.max(initial=0.0)
    return float(extreme.mean())


def _read_sample(raw: object, name: str) -> Floats:
    sample = as_numbers(raw, name).astype(np.float64)
    if sample.ndim != 1 or not sample.size:
        raise BadValueError(f"`{name}` must be a list of numbers", f"shape {sample.shape}")
    if not np.isfinite(sample).all():
        raise BadValueError(f"`{name}` must be finite", sample[~np.isfinite(sample)][0])
    return sample


def _exact_means(x: Floats, y: Floats, func: str, *, paired: bool) -> float:
    """Count exchanges by the sum of the differences, or of the smaller sample.

    Numbers are centred first, so that the other sample's sum is the negative one.
    """
    side = {"x_mean > y_mean": 1, "x_mean < y_mean": -1}.get(func, 0)
    if paired:
        values = x - y
        half = values.size // 2
        _check_size(2 ** (values.size - half))
        sums = [(_signed_sums(values[:half]), _signed_sums(values[half:]))]
        observed, total = float(values.sum()), 1 << values.size
    else:
        pooled = np.concatenate([x, y])
        values = pooled - pooled.mean()
        small = min(x.size, y.size)
        half = values.size // 2
        most = min(small, values.size - half)
        _check_size(sum(comb(values.size - half, k) for k in range(most + 1)))
        left = _subset_sums(values[:half], small)
        right = _subset_sums(values[half:], small)
        sums = [(left[k], right[small - k]) for k in range(small + 1)]
        observed, total = float(values[: x.size].sum()), comb(values.size, small)
        side *= 1 if small == x.size else -1
        observed *= 1 if small == x.size else -1
    slack = _SLACK * float(np.abs(values).sum())
    if side:
        return _count_from(sums, side, side * observed - slack) / total
    if abs(observed) <= slack:
        return 1.0
    least = abs(observed) - slack
    return (_count_from(sums, 1, least) + _count_from(sums, -1, least)) / total


def _check_size(n_sums: int) -> None:
    if n_sums > _MOST_SUMS:
        raise BadValueError(
            "`method='exact'` would need more than 2**22 sums of half of the numbers",
            remedy="; use `method='approximate'`",
        )


def _signed_sums(values: Floats) -> Floats:
    """Add up values with every choice of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def _subset_sums(values: Floats, most: int) -> list[Floats]:
    """Add up the subsets of values, for each of the sizes 0, 1, ..., most."""
    sums = [np.zeros(1), *(np.empty(0) for _ in range(most))]
    for value in values:
        for k in range(most, 0, -1):
            sums[k] = np.concatenate([sums[k], sums[k - 1] + value])
    return sums


def _count_from(sums: list[tuple[Floats, Floats]], side: int, least: float) -> int:
    """Count pairs of a left and a right sum with side * (left + right) >= least."""
    count = 0
    for left, right in sums:
        ordered = np.sort(side * right)
        below = np.searchsorted(ordered, least - np.sort(side * left))
        count += left.size * right.size - int(below.sum())
    return count


def _all_exchanges(x: Floats, y: Floats, *, paired: bool) -> Iterator[tuple[Floats, Floats]]:
    n = x.size + y.size
    calls = 2**x.size if paired else comb(n, x.size)
    if calls > _MOST_CALLS:
        raise BadValueError(
            f"`method='exact'` would call func {calls} times, more than the limit of {_MOST_CALLS}",
            remedy="; use `method='approximate'`",
        )
    if paired:
        for flips in product((False, True), repeat=x.size):
            flip = np.array(flips)
            yield np.where(flip, y, x), np.where(flip, x, y)
        return
    pooled = np.concatenate([x, y])
    for positions in combinations(range(n), x.size):
        mask = np.zeros(n, bool)
        mask[list(positions)] = True
        yield pooled[mask], pooled[~mask]


def _random_exchanges(
    x: Floats, y: Floats, rounds: int, seed: int | None, *, paired: bool
) -> Iterator[tuple[Floats, Floats]]:
    """Draw as mlxtend does: shuffle what was shuffled before, or flip by normals."""
    states = np.random.RandomState(seed)
    pooled = np.concatenate([x, y])
    for _ in range(rounds):
        if paired:
            flip = states.randn(x.size) > 0.0
            yield np.where(flip, y, x), np.where(flip, x, y)
        else:
            states.shuffle(pooled)
            yield pooled[: x.size].copy(), pooled[x.size :].copy()
