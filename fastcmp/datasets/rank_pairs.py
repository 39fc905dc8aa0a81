"""Tests of pairs of models over tasks: by their own scores, or by ranks among all models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import ALTERNATIVES, as_numbers, as_whole, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import scale_exponent, t_tail
from fastcmp.core.records import unwrap
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Floats, Ints, Pairs
from fastcmp.counts.pairs import Block, PairColumns
from fastcmp.datasets.omnibus import aligned, quade_sums, rank_sums
from fastcmp.datasets.reading import Gains
from fastcmp.items.signed_rank import (
    FEW_ITEMS,
    RankOptions,
    check_steps,
    signed_rank_tests,
    signed_ranks_on_common,
)
from fastcmp.kernels import studentized_range_sf
from fastcmp.kernels.friedman_exact import add_difference
from fastcmp.kernels.multiplicity import fewest_models
from fastcmp.kernels.special import ndtri, studentized_range_isf
from fastcmp.kernels.task_ranks import count_wins
from fastcmp.paired.mcnemar_counts import evaluate_counts
from fastcmp.pairwise.decisions import TIED, UNTESTED, find_ties
from fastcmp.pairwise.engine import PairTests

_SIDE = 64  # models of a side of a tile
_CELLS = 1 << 20  # differences that are looked at together
_FEW_TASKS = 500  # of which a test of a pair is quick
_SMALL = 1 << 18  # scores of pairs, below which one thread counts
_AT_ONCE = 1 << 15  # below which NumPy counts them together

#: Methods that rank all models together, and need all their scores.
POOLED = ("nemenyi", "normal", "conover", "quade", "aligned", "exact")
METHODS = ("wilcoxon", "sign", "t", *POOLED)
#: Where the variance of mean ranks comes from.
VARIANCES = ("published", "permutation")


@dataclass(frozen=True, kw_only=True)
class PairData:
    """Scores and ranks of M models on D tasks, and how pairs of them are tested."""

    gains: Gains
    #: Shape (M, D), 1 for the best, NaN where there is none.
    ranks: Floats
    #: On how many tasks each model beats each other one, shape (M, M).
    wins: Ints
    method: str
    variance: str
    rank_options: RankOptions
    #: That of the gains, of which more is better.
    alternative: str = "two-sided"

    @cached_property
    def mean_rank(self) -> Floats:
        """Mean over the tasks that have the model, shape (M,).

        Ranks of k < M models of a task are stretched to 1, ..., M.
        """
        ranks, m = self.ranks, len(self.ranks)
        k = np.count_nonzero(~np.isnan(ranks), axis=0).astype(np.float64)
        if (k < m).any():
            k[k < 2] = np.nan
            ranks = 1.0 + (ranks - 1.0) * (m - 1.0) / (k - 1.0)
        is_known = ~np.isnan(ranks)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(is_known, ranks, 0.0).sum(axis=1) / is_known.sum(axis=1))

    @cached_property
    def common(self) -> Ints:
        """Tasks that both models of each two have, shape (M, M)."""
        present = (~np.isnan(self.gains.values)).astype(np.float64)
        return np.rint(present @ present.T).astype(np.int64)

    @cached_property
    def scale(self) -> tuple[Floats, float, float]:
        """By what models are compared, less is better; standard error of a difference; df."""
        m, n = self.ranks.shape
        df = (n - 1.0) * (m - 1.0)
        if self.method == "quade":
            sums, _, left = quade_sums(self.gains, self.ranks)
            return sums, math.sqrt(2.0 * n * left / df), df
        if self.method == "aligned":
            ranks, within, _ = aligned(self.gains)
            squares = 2.0 * within / (float(n) * n * (m - 1))
            if self.variance == "published":
                squares = m * (m * n + 1.0) / 6.0
            return ranks.mean(axis=1), math.sqrt(squares), math.inf
        if self.method == "conover":
            added = rank_sums(self.ranks)
            error = math.sqrt(added.left / 2.0 / ((n - 1.0) * (m - 1.0) ** 2))
            return added.doubled / 2.0, error, df
        # The literature's error, or that given the ties.
        added = rank_sums(self.ranks, corrected=self.variance == "permutation")
        squares = added.within / (2.0 * n * n * (m - 1))
        return added.doubled / (2.0 * n), math.sqrt(squares), math.inf

    def critical_difference(self, alpha: float, n_tests: int = 1) -> float:
        """Least difference of mean ranks that is significant.

        By the range of all models (Nemenyi), or of `n_tests` by Bonferroni's inequality,
        Dunn's procedure.
        """
        _, error, _ = self.scale
        if self.method == "nemenyi":
            return float(range_quantile(alpha, len(self.ranks)) / math.sqrt(2.0) * error)
        return float(-ndtri(0.5 * alpha / n_tests) * error)


def count_wins_of(ranks: Floats, pool: ThreadPool) -> Ints:
    """Count on how many tasks each model beats each other one, shape (M, M)."""
    m = len(ranks)
    if m * ranks.size < _AT_ONCE:
        return np.asarray(np.count_nonzero(ranks[:, np.newaxis] < ranks, axis=2))
    wins = np.zeros((m, m), np.int64)
    few = np.ascontiguousarray(ranks, np.float32)

    def count(rows: slice) -> None:
        count_wins(few, rows.start, rows.stop, wins)

    pool.run(count, parts(m, 16), steps=0, here=m * ranks.size < _SMALL)
    return wins


#: Statistics, p-values, and what is above 0 where the test favours the first: (3, p).
Answers = tuple["Floats", "Floats", "Floats"]


def pair_tests(data: PairData, alpha: float) -> PairTests:
    """Tests of pairs for the engine; intervals have the level 1 - alpha."""
    tests = {"wilcoxon": _wilcoxon, "sign": _sign, "t": _t, "exact": _exact}
    answer, distribution, df = tests.get(data.method, _by_scale)(data)
    reach = math.nan
    if data.method == "nemenyi" or (data.method == "normal" and data.alternative == "two-sided"):
        reach = data.critical_difference(alpha)
    return _engine_tests(data, answer, distribution, df, reach)


def _engine_tests(
    data: PairData,
    answer: Callable[[Pairs], Answers],
    distribution: str,
    df: object = None,
    reach: float = math.nan,
) -> PairTests:
    """Tests of which the direction of each says which model is better."""
    m, n_tasks = data.ranks.shape
    favoured = np.zeros((m, m), np.int8)  # of the first of each pair, once it is tested
    mean_rank, complete = data.mean_rank, data.gains.complete

    def test(block: Block) -> tuple[Floats, Floats]:
        i, j = block.pairs.T
        statistic, pvalue, direction = answer(block.pairs)
        if not complete:
            untested = data.common[i, j] < 1
            pvalue[untested] = statistic[untested] = np.nan
        side = np.nan_to_num(np.sign(direction)).astype(np.int8)
        favoured[i, j], favoured[j, i] = side, -side
        return statistic, pvalue

    def columns(block: Block) -> PairColumns:
        i, j = block.pairs.T
        gap = mean_rank[i] - mean_rank[j]
        ends = gap - reach, gap + reach
        return PairColumns(data.wins[i, j], data.wins[j, i], gap, *ends, *test(block))

    def difference(pairs: Pairs) -> Floats:
        i, j = pairs.T
        # As of ranks, less is better.
        return np.asarray(0.0 - favoured[i, j])

    def details(pairs: Pairs, _: PairColumns) -> dict[str, Any]:
        i, j = pairs.T
        columns_of_pairs = {"only_a": data.wins[i, j], "only_b": data.wins[j, i]}
        if not complete:
            columns_of_pairs["n_tasks_of_pairs"] = data.common[i, j]
            if distribution == "t":
                columns_of_pairs["df"] = data.common[i, j] - 1.0
        return columns_of_pairs

    return PairTests(
        n_samples=n_tasks,
        correct=None,
        score=mean_rank,
        score_interval=np.full((m, 2), np.nan),
        distribution=distribution,
        df=df,
        side=_SIDE,
        is_quick=data.method != "exact" and n_tasks < _FEW_TASKS,
        pvalues=lambda block: test(block)[1],
        columns=columns,
        difference=difference,
        details=details,
    )


def _by_scale(data: PairData) -> tuple[Callable[[Pairs], Answers], str, Any]:
    """Test by mean ranks or sums of ranks, in units of their standard error."""
    value, error, df = data.scale

    def answer(pairs: Pairs) -> Answers:
        i, j = pairs.T
        statistic = _ratio(value[j] - value[i], error)
        if data.method == "nemenyi":
            pvalue = range_tails(math.sqrt(2.0) * np.abs(statistic), len(value))
        else:
            pvalue = np.asarray(t_tail(statistic, data.alternative, df))
        return statistic, pvalue, statistic

    if data.method == "nemenyi":
        return answer, "studentized-range", None
    return (answer, "normal", None) if math.isinf(df) else (answer, "t", int(df))


def _ratio(difference: Floats, error: float | Floats) -> Floats:
    """A difference over its standard error; 0 / 0 is 0, and anything else by 0 infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(difference / error)
    ratio[np.asarray(difference == 0.0)] = 0.0
    return ratio


def _sign(data: PairData) -> tuple[Callable[[Pairs], Answers], str, Any]:
    """Test pairs by the tasks that each won, without ties."""

    def answer(pairs: Pairs) -> Answers:
        i, j = pairs.T
        wins, losses = data.wins[i, j], data.wins[j, i]
        size = np.int64(data.ranks.shape[1])
        _, pvalue, _ = evaluate_counts(wins, losses, size, "exact", data.alternative)
        statistic = np.minimum(wins, losses).astype(np.float64)
        return statistic, pvalue, (wins - losses).astype(np.float64)

    return answer, "binomial", None


def _t(data: PairData) -> tuple[Callable[[Pairs], Answers], str, Any]:
    """Test pairs by Student's t of the differences of their scores."""
    gains, n = data.gains.values, data.ranks.shape[1]

    def answer(pairs: Pairs) -> Answers:
        statistic, size = np.empty(len(pairs)), np.empty(len(pairs))
        for part in parts(len(pairs), max(1, _CELLS // n)):
            i, j = pairs[part].T
            d = gains[i] - gains[j]
            d[np.abs(d) <= data.gains.tolerance] = 0.0
            size[part] = n_known = np.count_nonzero(~np.isnan(d), axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                d = np.ldexp(d, -scale_exponent(d))
                mean = np.nansum(d, axis=1) / n_known
                d -= mean[:, None]
                squares = np.nansum(d * d, axis=1)
                # What is left of equal differences is rounding.
                squares[squares <= n_known * (1e-14 * mean) ** 2] = 0.0
                error = np.sqrt(squares / (n_known - 1.0) / n_known)
            statistic[part] = _ratio(mean, error)
        statistic[size < 2] = np.nan
        pvalue = np.asarray(t_tail(statistic, data.alternative, np.maximum(size - 1.0, 1.0)))
        return statistic, pvalue, statistic.copy()

    return answer, "t", n - 1 if data.gains.complete else None


def _wilcoxon(data: PairData) -> tuple[Callable[[Pairs], Answers], str, Any]:
    """Tests of pairs by Wilcoxon's signed ranks; all are exact, or none."""
    gains, zeros = data.gains.values, data.rank_options.zero_method
    exact = data.rank_options.is_exact(gains.shape[1], FEW_ITEMS)
    distribution, side = "permutation" if exact else "normal", ALTERNATIVES[data.alternative]
    if exact:
        most = np.triu(data.common, 1).max()
        check_steps(2 * np.arange(1, most + 1))
    options = RankOptions(zero_method=zeros, method="asymptotic", continuity=False)
    test = signed_ranks_on_common(gains, options, exact=exact, alternative=side)

    def answer(pairs: Pairs) -> Answers:
        statistic, pvalue, _, _, z = test(pairs).T
        return statistic, pvalue, z

    if exact or not data.gains.complete or side:
        return answer, distribution, None
    z_tests = signed_rank_tests(gains, _engine_tests(data, answer, distribution), options)

    def by_z(pairs: Pairs) -> Answers:
        columns = z_tests.columns(Block(slice(0, len(pairs)), pairs))
        return columns.statistic, columns.pvalue, columns.statistic

    return by_z, distribution, None


def signed_rank_sums(gains: Floats, pairs: Pairs, zero_method: str) -> Floats:
    """W+, W- and z of each pair, shape (P, 3); NaN without common tasks."""
    options = RankOptions(zero_method=zero_method, method="asymptotic", continuity=False)
    return signed_ranks_on_common(gains, options, exact=False)(pairs)[:, 2:]


# The exact distribution of the difference of two models' rank sums.


_MOST = 4e9  # steps: some seconds


def _exact(data: PairData) -> tuple[Callable[[Pairs], Answers], str, Any]:
    """Test differences of rank sums given the midranks of each task."""
    doubled = np.rint(2.0 * data.ranks).astype(np.int64)
    sums = doubled.sum(axis=1)
    tails = _tails(np.sort(doubled.T, axis=1))

    def answer(pairs: Pairs) -> Answers:
        i, j = pairs.T
        gain = sums[j] - sums[i]
        statistic = 0.5 * gain
        return statistic, _tail_at(tails, gain, data.alternative), statistic

    return answer, "permutation", None


def friedman_pair_exact(
    rank_sum_difference: ArrayLike, n_models: int, n_tasks: int, *, alternative: str = "two-sided"
) -> Any:
    """Test exactly the difference of the rank sums of two of M models, without ties.

    With ties `compare_datasets` with ``method="exact"`` takes those of each task.

    Parameters
    ----------
    rank_sum_difference : array-like of int
        Rank sum of the second model minus that of the first: positive where the first
        is better.
    n_models, n_tasks : int
        M and D: ranks within each task are 1, ..., M.
    alternative : {"two-sided", "greater", "less"}
        "greater": the first model is better.

    Returns
    -------
    float or ndarray
        P-values, in the shape of the differences.

    Raises
    ------
    ValueError
        If a difference is no whole number or larger than D (M - 1), there are fewer
        than two models, no task, or it would take too long.
    TypeError
        If differences are not numbers.

    Notes
    -----
    O(D**2 M) steps: differences within a task, u = 1 - M, ..., M - 1 but not 0, have
    the weights M - abs(u).

    References
    ----------
    .. [1] R. Eisinga, T. Heskes, B. Pelzer, M. Te Grotenhuis, "Exact p-values for
       pairwise comparison of Friedman rank sums", BMC Bioinformatics 18 (2017) 68.

    Examples
    --------
    >>> from fastcmp.datasets import friedman_pair_exact
    >>> round(friedman_pair_exact(100, n_models=100, n_tasks=100), 7)
    0.8085251
    """
    side = choose(alternative, "alternative", tuple(ALTERNATIVES))
    m = as_whole(n_models, "n_models", 2)
    n = as_whole(n_tasks, "n_tasks", 1)
    differences = as_numbers(rank_sum_difference, "rank_sum_difference")
    beyond = ~(np.abs(differences) <= n * (m - 1))
    if beyond.any():
        raise BadValueError(
            f"`rank_sum_difference` must lie within D (M - 1) = {n * (m - 1)} of 0",
            differences[beyond].flat[0],
        )
    if not np.array_equal(differences, np.trunc(differences)):
        raise BadValueError(
            "`rank_sum_difference` must be whole numbers, as without ties; with ties use "
            "compare_datasets(..., `method='exact'`)"
        )
    tails = _tails(np.tile(np.arange(1, m + 1), (n, 1)))
    return unwrap(
        np.asarray(_tail_at(tails, differences.astype(np.int64), side)), differences.shape
    )


def _tail_at(tails: Floats, gain: Ints, alternative: str) -> Floats:
    """P-values of gains, given P(difference >= d) for d = -R, ..., R."""
    at = {"two-sided": np.abs(gain), "greater": gain, "less": -gain}[alternative]
    pvalue = tails[at + tails.size // 2]
    if alternative == "two-sided":
        pvalue = np.where(gain == 0, 1.0, np.minimum(1.0, 2.0 * pvalue))
    return np.asarray(pvalue)


def _tails(rows: Ints) -> Floats:
    """P(difference >= d), d = -R, ..., R, for the ranks of each task, ascending.

    ValueError where that takes long.
    """
    n, m = rows.shape
    spread = 2.0 * (rows[:, -1] - rows[:, 0])
    even = (np.diff(rows, axis=1) == rows[:, 1:2] - rows[:, :1]).all(axis=1)
    of_task = np.where(even, 4.0, np.minimum(spread, float(m) * m))
    if (np.cumsum(spread) * of_task).sum() + m * m * np.count_nonzero(~even) > _MOST:
        raise BadValueError(
            f"`method='exact'` takes too long for {m} models and {n} tasks: use 'normal'"
        )
    chances = np.ones(1)
    for row in rows:
        if row[-1] > row[0]:
            chances = add_difference(chances, row)
    # From the small end, and by symmetry P(>= d) = P(<= -d).
    return np.cumsum(chances)[::-1].copy()


# Tails of the studentized range for many pairs at once.


_FEW = 2048  # up to here each is worked out by itself: 14 us
_PIECES = 64
_END = 40.0
_DEGREE = 12


@lru_cache(maxsize=64)
def range_quantile(alpha: float, k: int) -> float:
    """What the range of k normal numbers exceeds with probability alpha."""
    return float(studentized_range_isf(alpha, k))


def range_tails(q: Floats, k: int) -> Floats:
    """P(range of k normal numbers > q), for each q.

    Many are read off polynomials of the logarithm, with errors of some 2e-11.
    """
    if q.size <= _FEW:
        distinct, place = np.unique(q, return_inverse=True)
        return _range_tails(distinct, k)[place]
    out = np.empty(q.size)
    beyond = ~(q < _END)
    out[beyond] = _range_tails(q[beyond], k)
    inside = q[~beyond]
    width, coefficients = _END / _PIECES, _coefficients(k)
    piece = (inside / width).astype(np.int64)
    x = 2.0 * (inside / width - piece) - 1.0
    later, last = np.zeros(x.size), np.zeros(x.size)
    for row in coefficients[:0:-1]:  # Clenshaw's recurrence
        later, last = row[piece] + 2.0 * x * later - last, later
    out[~beyond] = np.exp(np.minimum(coefficients[0][piece] + x * later - last, 0.0))
    return out


@lru_cache(maxsize=8)
def _coefficients(k: int) -> Floats:
    """The polynomials of the logarithm, shape (degree + 1, pieces)."""
    width = _END / _PIECES
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    at = width * (np.arange(_PIECES)[:, None] + 0.5 * (nodes + 1.0))
    values = np.log(_range_tails(at.ravel(), k)).reshape(at.shape)
    basis = np.polynomial.chebyshev.chebvander(nodes, _DEGREE)
    return np.asarray(np.linalg.solve(basis, values.T))


def _range_tails(q: Floats, k: int) -> Floats:
    return np.array([studentized_range_sf(x, k) for x in q.tolist()], np.float64)


# Which pairs of models can be equal together, and which models tie with each other.


_MOST_MODELS = 2000


class ShafferCounts(NamedTuple):
    """How many pairs of M models can be equal together."""

    #: All numbers of pairs that can be equal at once, ascending.
    counts: tuple[int, ...]
    #: What Shaffer's adjustment multiplies the i-th smallest p-value with.
    steps: tuple[int, ...]
    #: Sets of pairs that can be equal while all others differ, not counting the empty
    #: one: those that Bergmann and Hommel's adjustment looks at.
    n_exhaustive_sets: int


def shaffer_counts(n_models: int) -> ShafferCounts:
    """Count the pairs of M models that can be equal together.

    Parameters
    ----------
    n_models : int
        M, at least 2 and at most 2,000.

    Returns
    -------
    ShafferCounts
        All such counts; the steps of Shaffer's static adjustment, t_i the largest count
        that is at most P - i + 1 of P pairs; and the number of exhaustive sets, one
        less than there are partitions of the models (Bell's number).

    Raises
    ------
    ValueError
        If there are fewer than 2 models, or too many.
    TypeError
        If the number is not whole.

    References
    ----------
    .. [1] J. P. Shaffer, "Modified sequentially rejective multiple test procedures",
       JASA 81 (1986) 826-831.

    Examples
    --------
    >>> from fastcmp.datasets import shaffer_counts
    >>> found = shaffer_counts(5)
    >>> found.counts, found.steps, found.n_exhaustive_sets
    ((0, 1, 2, 3, 4, 6, 10), (10, 6, 6, 6, 6, 4, 4, 3, 2, 1), 51)
    """
    m = as_whole(n_models, "n_models", 2)
    if m > _MOST_MODELS:
        raise BadValueError(f"`n_models` must be at most {_MOST_MODELS}", m)
    n_pairs = m * (m - 1) // 2
    counts = np.flatnonzero(fewest_models(n_pairs) <= m)
    n_true = n_pairs - np.arange(n_pairs)
    steps = counts[np.searchsorted(counts, n_true, side="right") - 1]
    row = [1]  # of Peirce's triangle, whose last number is Bell's
    for _ in range(m - 1):
        row = list(accumulate(row, initial=row[-1]))
    return ShafferCounts(tuple(counts.tolist()), tuple(steps.tolist()), row[-1] - 1)


def maximal_cliques(
    n_models: int, not_different: Sequence[Sequence[int]] | NDArray[Any]
) -> tuple[tuple[int, ...], ...]:
    """All maximal sets of models of which no two are significantly different.

    Parameters
    ----------
    n_models : int
        M, at least 1.
    not_different : sequence of pairs, or array-like of bool of shape (M, M)
        The pairs of models, by index, that are not significantly different.

    Returns
    -------
    tuple of tuple of int
        Sets in ascending order, each of models in ascending order; a model that is
        different from all others is a set of its own.

    Raises
    ------
    ValueError
        If a pair is not of two models, or there are more than 1,000 sets.
    TypeError
        If these are no pairs.

    Notes
    -----
    By Bron and Kerbosch's search with pivots. The groups of ties of a comparison,
    `PairwiseResult.tie_groups`, are found in the same way.

    References
    ----------
    .. [1] C. Bron, J. Kerbosch, "Finding all cliques of an undirected graph", CACM 16
       (1973) 575-577.

    Examples
    --------
    >>> from fastcmp.datasets import maximal_cliques
    >>> maximal_cliques(4, [(0, 1), (0, 2), (2, 3)])
    ((0, 1), (0, 2), (2, 3))
    """
    m = as_whole(n_models, "n_models", 1)
    needed = f"`not_different` must be pairs of indices below {m}, or bools ({m}, {m})"
    if isinstance(not_different, (str, bytes)) or not isinstance(not_different, Iterable):
        raise BadTypeError(needed, repr(not_different))
    try:
        entries = np.asarray(
            not_different
            if hasattr(not_different, "shape")
            else [tuple(pair) for pair in not_different]
        )
    except (TypeError, ValueError):
        raise BadTypeError(needed, "something else") from None
    tied = np.zeros((m, m), bool)
    if entries.dtype == np.bool_ and entries.shape == (m, m):
        tied |= entries | entries.T
    elif entries.size:
        if entries.dtype.kind not in "iu" or entries.ndim != 2 or entries.shape[1] != 2:
            raise BadTypeError(needed, f"{entries.dtype} of shape {entries.shape}")
        i, j = entries.T
        if entries.min() < 0 or entries.max() >= m or (i == j).any():
            raise BadValueError(needed, f"{entries.tolist()[:3]}")
        tied[i, j] = tied[j, i] = True
    np.fill_diagonal(tied, val=False)
    groups, complete = find_ties(np.arange(m), np.where(tied, np.int8(TIED), np.int8(UNTESTED)))
    if not complete:
        raise BadValueError(
            "`not_different` must have at most 1,000 maximal cliques, and this graph has more",
            remedy=": use fewer models",
        )
    return groups
