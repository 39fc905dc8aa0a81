"""Counts of two models: read, tested by McNemar's test, also in strata; and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, LARGEST_COUNT, as_counts, check_total, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_interval
from fastcmp.core.records import are_paired, unwrap
from fastcmp.core.typing import Floats, Ints
from fastcmp.kernels.intervals import difference_interval_many
from fastcmp.kernels.paired import mcnemar_many

Statuses = NDArray[np.uint8]

CELLS = ("both_right", "only_a", "only_b", "both_wrong")  # of a table, in its order
#: Names of counts in place of labels.
COUNTS = ("table", "only_a", "only_b", "both_right", "both_wrong")


def read_counts(**counts: Any) -> tuple[dict[str, Ints], dict[str, Any]]:
    """Check `COUNTS` and give them one shape; and how many samples a stream dropped."""
    counts, dropped = {name: x for name, x in counts.items() if x is not None}, {}
    if "table" in counts:
        if len(counts) > 1:
            raise BadTypeError(f"a `table` holds all four counts: it comes alone, not {[*counts]}")
        table = counts["table"]
        if are_paired(table):
            dropped = {"n_missing": table.n_missing, "n_excluded": table.n_excluded}
            counts = table.paired_counts()
        else:
            cells = as_counts(table, "table")
            if cells.shape[-2:] != (2, 2):
                raise BadValueError("`table` must be of shape (..., 2, 2)", cells.shape)
            check_total(cells, " + ".join(CELLS), 2)
            flat = cells.reshape(*cells.shape[:-2], 4)
            return {name: flat[..., i].copy() for i, name in enumerate(CELLS)}, {}
    elif not {"only_a", "only_b"} <= set(counts):
        raise BadTypeError(
            f"`{'only_b' if 'only_a' in counts else 'only_a'}` must be whole numbers",
            "None",
            ": counts come as `only_a=` and `only_b=`, or as `table=`, of shape (2, 2)",
        )
    numbers = counts.values()
    if all(type(x) is int and x >= 0 for x in numbers) and sum(numbers) <= LARGEST_COUNT:
        return {name: np.array(x) for name, x in counts.items()}, dropped  # of one pair, at once
    checked = {name: as_counts(raw, name) for name, raw in counts.items()}
    try:
        # Copies: numba asks broadcast arrays whether they can be written; NumPy warns.
        arrays = [np.array(x) for x in np.broadcast_arrays(*checked.values())]
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in checked.items())
        raise BadValueError("`counts` must broadcast to one shape", shapes) from None
    total = sum(x.astype(np.float64) for x in arrays)
    if np.size(total) and np.max(total) > LARGEST_COUNT:
        names = " + ".join(checked)
        raise BadValueError(f"`{names}` must be at most 2**53", f"{np.max(total):.6g}")
    return dict(zip(checked, arrays, strict=True)), dropped


METHOD_NAMES = {
    "midp": "mid-p",
    "exact": "exact conditional",
    "asymptotic": "asymptotic",
    "corrected": "continuity-corrected",
    "unconditional": "exact unconditional",
}
#: Codes of the methods for `mcnemar_many`.
CODES = {
    "midp": kernels.MIDP,
    "exact": kernels.EXACT,
    "asymptotic": kernels.ASYMPTOTIC,
    "corrected": kernels.CORRECTED,
}
#: The same of one pair.
_ONE_PAIR = {name: getattr(kernels, f"mcnemar_{name}") for name in CODES}
METHODS = (*CODES, "unconditional")
#: Methods for strata that have weights; the first is the default.
WEIGHTED = ("asymptotic", "exact", "midp")
_UNCONDITIONAL_WORK = 400_000_000  # samples of all tables: one or two minutes


#: In the order of the kernel's codes; the last is no kernel.
DIFFERENCE_INTERVALS = ("wald", "newcombe", "tango", "bonett-price", "agresti-min")


def difference_intervals(
    cells: Iterable[NDArray[Any]], method: str, confidence_level: float
) -> tuple[Floats, Floats]:
    """Compute both ends from counts: both right, only a, only b, both wrong."""
    right, only_a, only_b, wrong = cells
    if method == "agresti-min":  # Wald's interval with half a sample more in each cell
        n = right + only_a + only_b + wrong + 2.0
        difference, discordant = (only_a - only_b) / n, (only_a + only_b + 1.0) / n
        spread = np.sqrt((discordant - difference**2) / n)
        least = np.minimum(np.minimum(right, wrong), np.minimum(only_a, only_b))
        spread[(n <= 2.0) | (least < 0)] = np.nan
        return t_interval(difference, spread, confidence_level, limits=(-1.0, 1.0))
    low, high = np.empty((2, only_a.size))
    code = DIFFERENCE_INTERVALS.index(method)
    difference_interval_many(right, only_a, only_b, wrong, code, confidence_level, low, high)
    return low, high


def reference_distribution(method: str, alternative: str = "two-sided") -> tuple[str, int | None]:
    """Name of the distribution that the p-value comes from, and its degrees of freedom."""
    if method in ("exact", "midp"):
        return "binomial", None
    if method == "unconditional":
        return "trinomial", None
    return ("chi2", 1) if alternative == "two-sided" else ("normal", None)


def choose_method(method: str | None, *, weighted: bool) -> str:
    """The method for strata with or without weights."""
    methods = WEIGHTED if weighted else METHODS
    return str(choose(methods[0] if method is None else method, "method", methods))


def evaluate_counts(
    only_a: Any, only_b: Any, n: object, method: str, alternative: str
) -> tuple[Any, Any, Any]:
    """Statistics, p-values and statuses of McNemar's tests of checked counts.

    Counts are arrays of one shape, or Python's numbers for one pair; only the unconditional
    test needs `n`, all samples.
    """
    tail = ALTERNATIVES[alternative]
    if method == "unconditional":
        chi_square, pvalue, status = _unconditional(only_a, only_b, n, tail)
    elif isinstance(only_a, int):
        chi_square, pvalue, status = _ONE_PAIR[method](only_a, only_b, tail)
    else:
        shape = only_a.shape
        chi_square, pvalue, status = np.empty(shape), np.empty(shape), np.empty(shape, np.uint8)
        mcnemar_many(
            *(only_a.reshape(-1), only_b.reshape(-1), CODES[method], tail),
            *(chi_square.reshape(-1), pvalue.reshape(-1), status.reshape(-1)),
        )
    statistic = reference_statistic(only_a, only_b, chi_square, method, alternative)
    return statistic, pvalue, status


def reference_statistic(
    only_a: Any, only_b: Any, chi_square: Any, method: str, alternative: str = "two-sided"
) -> Any:
    """What `reference_distribution` is the distribution of, for each pair.

    Binomial tests: a count. The others: the chi-square, or z where they are one-sided.
    """
    if method in ("exact", "midp"):
        count = {"greater": only_b, "less": only_a}.get(alternative)
        if isinstance(only_a, int):
            return float(min(only_a, only_b) if count is None else count)
        return np.array(np.minimum(only_a, only_b) if count is None else count, np.float64)
    if alternative == "two-sided":
        return chi_square
    signed = np.sign(only_a - only_b) * np.sqrt(chi_square) + 0.0  # no -0
    return signed if np.ndim(signed) else float(signed)


def _unconditional(only_a: Any, only_b: Any, n: Any, tail: int) -> tuple[Any, ...]:
    if n is None:
        raise BadValueError("`method='unconditional'` needs both_right and both_wrong")
    if (most := np.max(n, initial=0)) > kernels.UNCONDITIONAL_MAX_N:
        raise BadValueError(
            f"`method='unconditional'` takes at most {kernels.UNCONDITIONAL_MAX_N} samples",
            most,
            ": use `method='midp'`, which is close at that size",
        )
    # A table takes up to a second: each different one is tested once.
    shape = np.shape(only_a)
    tables = np.stack(np.broadcast_arrays(only_a, only_b, n), axis=-1).reshape(-1, 3)
    distinct, where = np.unique(tables, axis=0, return_inverse=True)
    if distinct[:, 2].sum() > _UNCONDITIONAL_WORK:
        raise BadValueError(
            f"`method='unconditional'` takes too long for {len(distinct)} different tables of "
            f"{distinct[:, 2].max()} samples",
            remedy=": use `method='midp'`, which is close at that size",
        )
    outcomes = [kernels.mcnemar_unconditional(a, b, m, tail) for a, b, m in distinct]
    statistic, pvalue, status = np.array(outcomes).reshape(-1, 3)[where.ravel()].T
    answers = (statistic.copy(), pvalue.copy(), status.astype(np.uint8))
    return tuple(unwrap(x, shape) for x in answers)


# McNemar's test where samples are in strata, such as the tasks of a benchmark.


_MOST_SUMS = 1 << 22  # different values of a sum: a second or so
_MOST_TABLES = 1 << 23
_SAME = 1e-12  # relative difference of sums that rounding alone makes


def weighted_z(only_a: Floats, only_b: Floats, weights: Floats) -> float:
    """The weighted sum of differences over its standard error under H0."""
    variance = float(weights**2 @ (only_a + only_b))
    if variance == 0.0:
        return 0.0
    return float(weights @ (only_a - only_b)) / math.sqrt(variance)


def weighted_exact(
    only_a: Ints, only_b: Ints, weights: Floats, alternative: str, *, mid: bool
) -> float:
    """P-value over all signs of the discordant samples, by convolution.

    With `mid`, what was observed counts half.
    """
    gain = only_a - only_b
    observed = float(weights @ gain)
    if alternative == "less":
        observed = -observed  # the distribution is symmetric
    counts = [
        (int(n), float(w))
        for n, w in zip(only_a + only_b, weights, strict=True)
        if n > 0 and w > 0.0
    ]
    if not counts:
        return 1.0
    sums, chances = np.zeros(1), np.ones(1)
    noise = _SAME * sum(n * w for n, w in counts)
    for n, weight in sorted(counts, reverse=True):
        if sums.size * (n + 1) > _MOST_SUMS:
            raise BadValueError(
                "`method='exact'` takes too long for weighted strata with "
                f"{int((only_a + only_b).sum())} discordant samples",
                remedy=": use `method='asymptotic'`, which is close at that size",
            )
        pmf = [kernels.binomial_half(float(k), float(n)).pmf for k in range(n + 1)]
        steps = weight * (2.0 * np.arange(n + 1) - n)
        sums, chances = _merged(
            np.add.outer(sums, steps).ravel(), np.outer(chances, pmf).ravel(), noise
        )
    if alternative == "two-sided":
        observed = abs(observed)
    tail = chances[sums >= observed - noise].sum()
    if mid:
        tail -= 0.5 * chances[np.abs(sums - observed) <= noise].sum()
    # The distribution is symmetric: the other side has the same probability.
    return float(min(2.0 * tail if alternative == "two-sided" else tail, 1.0))


def _merged(sums: Floats, chances: Floats, noise: float) -> tuple[Floats, Floats]:
    """Sums, and their chances, with those that are equal but for rounding made one."""
    order = np.argsort(sums, kind="stable")
    sums, chances = sums[order], chances[order]
    first = np.flatnonzero(np.append(True, np.diff(sums) > noise))
    return sums[first], np.add.reduceat(chances, first)


def heterogeneity(only_a: Ints, only_b: Ints) -> tuple[float, int, float]:
    """Pearson's test that strata share one odds ratio: chi-square, d.o.f., p-value.

    Strata without discordant samples say nothing, and do not count.
    """
    used = only_a + only_b > 0
    a, b = only_a[used].astype(np.float64), only_b[used].astype(np.float64)
    df = max(a.size - 1, 0)
    n, total_a, total_b = a + b, a.sum(), b.sum()
    if df == 0 or total_a == 0.0 or total_b == 0.0:
        return 0.0, df, 1.0
    # Both columns of a row are off by the same number.
    off = a - n * (total_a / (total_a + total_b))
    scale = (total_a + total_b) ** 2 / (total_a * total_b)
    statistic = float((off**2 / n).sum() * scale)
    return statistic, df, kernels.chdtrc(float(df), statistic)


def any_difference(only_a: Ints, only_b: Ints) -> tuple[float, int, float]:
    """McNemar's chi-squares of all strata added: chi-square, d.o.f., p-value."""
    n = only_a + only_b
    used = n > 0
    gain = (only_a - only_b)[used].astype(np.float64)
    df = int(np.count_nonzero(used))
    if df == 0:
        return 0.0, 0, 1.0
    statistic = float((gain**2 / n[used]).sum())
    return statistic, df, kernels.chdtrc(float(df), statistic)


def exact_heterogeneity(only_a: Ints, only_b: Ints) -> float:
    """Fisher's exact test of strata by discordant counts, after Freeman and Halton.

    Tables with the same margins that are no more probable than the one observed.
    """
    from scipy.special import gammaln

    used = only_a + only_b > 0
    rows = np.stack([only_a[used], only_b[used]], axis=1).astype(np.float64)
    n, total = rows.sum(axis=1), rows[:, 0].sum()

    def log_ways(taken: Floats, of: float) -> Floats:
        ways = gammaln(of + 1) - gammaln(taken + 1) - gammaln(of - taken + 1)
        return np.asarray(ways)

    # A state is the sum so far and the log of the number of ways; equal ones are one.
    sums, logs, times = np.zeros(1), np.zeros(1), np.ones(1)
    left = n.sum()
    for size in n.tolist():
        left -= size
        if sums.size * (size + 1) > _MOST_TABLES:
            raise ValueError(
                f"the exact test of {n.size} strata with {int(n.sum())} discordant "
                "samples takes too long: heterogeneity_pvalue is close at that size"
            )
        taken = np.arange(size + 1)
        sums = np.add.outer(sums, taken).ravel()
        logs = np.add.outer(logs, log_ways(taken, size)).ravel()
        times = np.repeat(times, taken.size)
        fits = (sums <= total) & (sums + left >= total)
        sums, logs, times = _merged_states(sums[fits], logs[fits], times[fits])
    everything = float(log_ways(np.array(total), n.sum()))
    observed = sum(float(log_ways(a, a + b)) for a, b in rows)
    extreme = logs <= observed + 1e-7  # as R's fisher.test
    return float(min((times * np.exp(logs - everything))[extreme].sum(), 1.0))


def _merged_states(sums: Floats, logs: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
    keys = np.stack([sums, np.round(logs, 9)], axis=1)
    _, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return (sums[first], logs[first], np.bincount(where.ravel(), times).astype(np.float64))


def per_sample(weights: Floats, sizes: Ints) -> Floats | None:
    """Weight of a sample of each stratum; None where all samples count alike."""
    quotient = weights / sizes
    return None if np.ptp(quotient) <= 1e-12 * quotient.max() else quotient
