"""Tests of pairs of models by their ranks among all models."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import ALTERNATIVES, as_numbers, as_whole, choose
from fastcmp.core.numbers import normal_tail
from fastcmp.core.records import unwrap
from fastcmp.counts.pairs import PairColumns
from fastcmp.datasets.friedman_ranks import RankSums
from fastcmp.datasets.omnibus import AlignedRanks, QuadeSums
from fastcmp.datasets.task_ranks import common_tasks, gains_of, relative_ranks
from fastcmp.items.signed_rank import UNIT, RankOptions, rank_differences
from fastcmp.kernels import studentized_range_sf
from fastcmp.kernels.friedman_exact import add_difference
from fastcmp.kernels.multiplicity import fewest_models
from fastcmp.kernels.special import ndtri, studentized_range_isf
from fastcmp.pairwise.decisions import find_ties
from fastcmp.pairwise.engine import PairTests

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from fastcmp.counts.pairs import Block
    from fastcmp.datasets.task_ranks import Gains

    Ints = NDArray[np.int64]
    Pairs = NDArray[np.int32]

_SIDE = 64  # models of a side of a tile


class Answers(NamedTuple):
    """The tests of some pairs; each array has the shape (p,)."""

    statistic: Floats
    pvalue: Floats
    #: Above 0 where the test favours the first.
    direction: Floats


@dataclass(frozen=True)
class PairData:
    """Scores and ranks of M models on D tasks."""

    gains: Gains
    #: Shape (M, D), 1 for the best, NaN where there is none.
    ranks: Floats
    #: On how many tasks each model beats each other one, shape (M, M).
    wins: Ints
    alternative: str = "two-sided"

    @cached_property
    def mean_rank(self) -> Floats:
        """Mean over the tasks that have the model, shape (M,)."""
        ranks = relative_ranks(self.ranks)
        known = ~np.isnan(ranks)
        n = np.count_nonzero(known, axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, ranks, 0.0).sum(axis=1) / n)

    @cached_property
    def common(self) -> Ints:
        """Count the tasks that both models of each two have, shape (M, M)."""
        return common_tasks(self.gains)


class PairKind(NamedTuple):
    """What goes with a test beside its answers."""

    distribution: str
    df: Any = None
    #: What an interval of the difference of mean ranks reaches to either side.
    reach: float = np.nan


def pair_tests(data: PairData, found: Callable[[Pairs], Answers], kind: PairKind) -> PairTests:
    """Make tests of pairs for the engine; the direction of each test says which is better."""
    m, n_tasks = data.gains.shape
    favoured = np.zeros((m, m), np.int8)  # of the first of each pair, once it is tested
    mean_rank = data.mean_rank

    def test(block: Block) -> Answers:
        pairs = block.pairs
        answers = found(pairs)
        i, j = pairs.T
        untested = data.common[i, j] < 1
        if untested.any():
            answers.pvalue[untested] = answers.statistic[untested] = np.nan
        side = np.nan_to_num(np.sign(answers.direction)).astype(np.int8)
        favoured[i, j], favoured[j, i] = side, -side
        return answers

    def columns(block: Block) -> PairColumns:
        answers = test(block)
        i, j = block.pairs.T
        wins, losses = data.wins[i, j], data.wins[j, i]
        gap = mean_rank[i] - mean_rank[j]
        ends = gap - kind.reach, gap + kind.reach
        return PairColumns(wins, losses, gap, *ends, answers.statistic, answers.pvalue)

    def difference(pairs: Pairs) -> Floats:
        i, j = pairs.T
        # As of ranks, less is better.
        return np.asarray(0.0 - favoured[i, j])

    def details(pairs: Pairs, _: PairColumns) -> dict[str, Any]:
        i, j = pairs.T
        shown = {"only_a": data.wins[i, j], "only_b": data.wins[j, i]}
        if not data.gains.complete:
            shown["n_tasks_of_pairs"] = data.common[i, j]
            if kind.distribution == "t":
                shown["df"] = data.common[i, j] - 1.0
        return shown

    return PairTests(
        n_samples=n_tasks,
        correct=None,
        score=mean_rank,
        score_interval=np.full((m, 2), np.nan),
        distribution=kind.distribution,
        df=kind.df,
        side=_SIDE,
        pvalues=lambda block: test(block).pvalue,
        columns=columns,
        difference=difference,
        details=details,
    )


# The exact distribution of the difference of two models' rank sums.


_MOST = 4e9  # steps: some seconds


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
        If differences are no numbers.

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
    given = as_numbers(rank_sum_difference, "rank_sum_difference")
    if given.size and not (np.abs(given) <= n * (m - 1)).all():
        bad = given[~(np.abs(given) <= n * (m - 1))].flat[0]
        raise ValueError(
            f"rank_sum_difference must lie within D (M - 1) = {n * (m - 1)} of 0, got {bad}"
        )
    if not np.array_equal(given, np.trunc(given)):
        raise ValueError(
            "rank_sum_difference must be whole numbers, as without ties; with ties use "
            "compare_datasets(..., method='exact')"
        )
    gain = given.astype(np.int64)
    tails = _tails(np.tile(np.arange(1, m + 1), (n, 1)))
    reach = tails.size // 2
    at = {"two-sided": np.abs(gain), "greater": gain, "less": -gain}[side]
    pvalue = tails[at + reach]
    if side == "two-sided":
        pvalue = np.where(gain == 0, 1.0, np.minimum(1.0, 2.0 * pvalue))
    return unwrap(np.asarray(pvalue), given.shape)


def difference_tails(doubled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give P(difference >= d), d = -R, ..., R, for doubled midranks, shape (M, D)."""
    return _tails(np.sort(doubled.T, axis=1))


def _tails(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Add up ranks of tasks, each row ascending; ValueError where that takes long."""
    if _steps(rows) > _MOST:
        n, m = rows.shape
        raise ValueError(
            f"method='exact' takes too long for {m} models and {n} tasks: use 'normal'"
        )
    chances = np.ones(1)
    for row in rows:
        if row[-1] > row[0]:
            chances = add_difference(chances, row)
    # From the small end, and by symmetry P(>= d) = P(<= -d).
    return np.cumsum(chances)[::-1].copy()


def _steps(rows: NDArray[np.int64]) -> float:
    """Bound how many steps the convolution takes."""
    m = rows.shape[1]
    spread = 2.0 * (rows[:, -1] - rows[:, 0])
    even = (np.diff(rows, axis=1) == rows[:, 1:2] - rows[:, :1]).all(axis=1)
    each = np.where(even, 4.0, np.minimum(spread, float(m) * m))
    return float((np.cumsum(spread) * each).sum() + m * m * np.count_nonzero(~even))


# Tails of the studentized range for many pairs at once.


Floats = NDArray[np.float64]

_FEW = 2048  # up to here each is worked out by itself: 14 us
_PIECES = 64
_END = 40.0
_DEGREE = 12


def range_tails(q: Floats, k: int) -> Floats:
    """Give P(range of k normal numbers > q), for each q.

    Many are read off polynomials of the logarithm, with errors of some 2e-11.
    """
    if q.size <= _FEW:
        return _each(q, k)
    out = np.empty(q.size)
    beyond = ~(q < _END)
    out[beyond] = _each(q[beyond], k)
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
    """Give the polynomials of the logarithm, shape (degree + 1, pieces)."""
    width = _END / _PIECES
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    at = width * (np.arange(_PIECES)[:, None] + 0.5 * (nodes + 1.0))
    values = np.log(_each(at.ravel(), k)).reshape(at.shape)
    basis = np.polynomial.chebyshev.chebvander(nodes, _DEGREE)
    return np.asarray(np.linalg.solve(basis, values.T))


def _each(q: Floats, k: int) -> Floats:
    return np.array([studentized_range_sf(x, k) for x in q.tolist()], np.float64)


# Tests of pairs of models by their ranks among all models.


#: Methods that rank all models together, and need all their scores.
POOLED = ("nemenyi", "normal", "conover", "quade", "aligned", "exact")
#: Where the variance of mean ranks comes from.
VARIANCES = ("published", "permutation")


class _Scale(NamedTuple):
    """By what models are compared: less is better."""

    value: Floats
    standard_error: float
    df: float = math.inf


def rank_pair_tests(data: PairData, method: str, variance: str, alpha: float) -> PairTests:
    """Test pairs by one of `POOLED`; intervals have the level 1 - alpha."""
    if method == "exact":
        return _exact_tests(data)
    scale = _SCALES[method](data, variance)
    side = data.alternative

    def found(pairs: Pairs) -> Answers:
        i, j = pairs.T
        statistic = ratio(scale.value[j] - scale.value[i], scale.standard_error)
        if method == "nemenyi":
            q = math.sqrt(2.0) * np.abs(statistic)
            return Answers(statistic, range_tails(q, data.gains.n_models), statistic)
        return Answers(statistic, tail(statistic, scale.df, side), statistic)

    if method == "nemenyi":
        reach = critical_difference(data, method, variance, alpha)
        return pair_tests(data, found, PairKind("studentized-range", None, reach))
    if method == "normal":
        reach = -ndtri(0.5 * alpha) * scale.standard_error
        reach = reach if side == "two-sided" else math.nan
        return pair_tests(data, found, PairKind("normal", None, reach))
    if math.isinf(scale.df):
        return pair_tests(data, found, PairKind("normal"))
    return pair_tests(data, found, PairKind("t", int(scale.df)))


def critical_difference(
    data: PairData, method: str, variance: str, alpha: float, n_tests: int = 1
) -> float:
    """Give the least difference of mean ranks that is significant.

    By the range of all models (Nemenyi), or of `n_tests` by Bonferroni's inequality,
    Dunn's procedure.
    """
    error = _SCALES[method](data, variance).standard_error
    m = data.gains.n_models
    if method == "nemenyi":
        return float(studentized_range_isf(alpha, m) / math.sqrt(2.0) * error)
    return float(-ndtri(0.5 * alpha / n_tests) * error)


def ratio(difference: Floats, error: float | Floats) -> Floats:
    """Divide by a standard error; 0 / 0 is 0, and anything else by 0 infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(difference / error)
    found[np.asarray(difference == 0.0)] = 0.0
    return found


def tail(statistic: Floats, df: Any, side: str) -> Floats:
    """Give p-values of t, or of z for infinite degrees of freedom."""
    if np.isinf(df).all():
        return np.asarray(normal_tail(statistic, side))
    from scipy.special import stdtr

    if side == "two-sided":
        return np.asarray(2.0 * stdtr(df, -np.abs(statistic)))
    return np.asarray(stdtr(df, -statistic if side == "greater" else statistic))


def _of_ranks(data: PairData, variance: str) -> _Scale:
    """Compare mean ranks, by the literature's error or by that given the ties."""
    m, n = data.gains.shape
    sums = RankSums.of(data.ranks, corrected=variance == "permutation")
    squares = sums.within / (2.0 * n * n * (m - 1))
    return _Scale(sums.doubled / (2.0 * n), math.sqrt(squares))


def _of_conover(data: PairData, _: str) -> _Scale:
    m, n = data.gains.shape
    sums = RankSums.of(data.ranks)
    error = math.sqrt(sums.left / 2.0 / ((n - 1.0) * (m - 1.0) ** 2))
    return _Scale(sums.doubled / 2.0, error, (n - 1.0) * (m - 1.0))


def _of_quade(data: PairData, _: str) -> _Scale:
    m, n = data.gains.shape
    found = QuadeSums.of(data.ranks, data.gains)
    df = (n - 1.0) * (m - 1.0)
    return _Scale(found.sums, math.sqrt(2.0 * n * found.left / df), df)


def _of_aligned(data: PairData, variance: str) -> _Scale:
    m, n = data.gains.shape
    found = AlignedRanks.of(data.gains)
    squares = 2.0 * found.within / (float(n) * n * (m - 1))
    if variance == "published":
        squares = m * (m * n + 1.0) / 6.0
    return _Scale(found.ranks.mean(axis=1), math.sqrt(squares))


_SCALES: dict[str, Callable[[PairData, str], _Scale]] = {
    "nemenyi": _of_ranks,
    "normal": _of_ranks,
    "conover": _of_conover,
    "quade": _of_quade,
    "aligned": _of_aligned,
}


def _exact_tests(data: PairData) -> PairTests:
    """Test differences of rank sums given the midranks of each task."""
    doubled = np.rint(2.0 * data.ranks).astype(np.int64)
    sums = doubled.sum(axis=1)
    tails = difference_tails(doubled)
    reach = tails.size // 2
    side = data.alternative

    def found(pairs: Pairs) -> Answers:
        i, j = pairs.T
        gain = sums[j] - sums[i]
        at = {"two-sided": np.abs(gain), "greater": gain, "less": -gain}[side]
        pvalue = tails[at + reach]
        if side == "two-sided":
            pvalue = np.where(gain == 0, 1.0, np.minimum(1.0, 2.0 * pvalue))
        return Answers(0.5 * gain, pvalue, gain.astype(np.float64))

    return pair_tests(data, found, PairKind("permutation"))


# Wilcoxon's rank sums of the pairs of a record.


def signed_rank_of(
    gains: Floats, pair: list[int], options: RankOptions, side: int = 0
) -> dict[str, Any] | None:
    """Test two models on the tasks of both; None without any."""
    a, b = gains[pair]
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    if not a.size:
        return None
    size = max(np.abs(a).max(), np.abs(b).max())
    return rank_differences(a - b, 0.5 * UNIT * size, None, options, side)


def rank_sums(result: Any) -> Floats:
    """Give W+, W- and z of each kept pair, shape (P, 3); NaN without common tasks."""
    sign = -1.0 if result.lower_is_better else 1.0
    gains = gains_of(result.names, result.tasks, sign * result.scores).gains
    zero_method = result.zero_method or "wilcox"
    options = RankOptions(zero_method=zero_method, method="asymptotic", continuity=False)
    found = np.full((len(result.pairs), 3), np.nan)
    for p, pair in enumerate(result.pairs.tolist()):
        test = signed_rank_of(gains, pair, options)
        if test is not None:
            found[p] = test["w_plus"], test["w_minus"], test["zscore"]
    return found


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
        raise ValueError(f"n_models must be at most {_MOST_MODELS}, got {m}")
    n_pairs = m * (m - 1) // 2
    counts = np.flatnonzero(fewest_models(n_pairs) <= m)
    wanted = n_pairs - np.arange(n_pairs)
    steps = counts[np.searchsorted(counts, wanted, side="right") - 1]
    return ShafferCounts(tuple(counts.tolist()), tuple(steps.tolist()), _bell(m) - 1)


def _bell(n: int) -> int:
    """Count the partitions of n things, by Peirce's triangle."""
    row = [1]
    for _ in range(n - 1):
        following = [row[-1]]
        for x in row:
            following.append(following[-1] + x)
        row = following
    return row[-1]


def maximal_cliques(n_models: int, not_different: Any) -> tuple[tuple[int, ...], ...]:
    """Find all maximal sets of models of which no two are significantly different.

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
    tied = _as_graph(not_different, m)
    groups, complete = find_ties(np.arange(m), tied)
    if not complete:
        raise ValueError(
            "not_different must have at most 1,000 maximal cliques, and this graph "
            "has more: use fewer models"
        )
    return groups


def _as_graph(not_different: Any, m: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Read pairs, or a matrix of bools, as a symmetric matrix."""
    wanted = f"not_different must be pairs of indices below {m}, or bools ({m}, {m})"
    if isinstance(not_different, (str, bytes)) or not isinstance(not_different, Iterable):
        raise TypeError(f"{wanted}, got {not_different!r}")
    try:
        given = np.asarray(
            not_different
            if hasattr(not_different, "shape")
            else [tuple(pair) for pair in not_different]
        )
    except (TypeError, ValueError):
        raise TypeError(f"{wanted}, got something else") from None
    tied = np.zeros((m, m), bool)
    if given.dtype == np.bool_ and given.shape == (m, m):
        tied |= given | given.T
    elif given.size:
        if given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1] != 2:
            raise TypeError(f"{wanted}, got {given.dtype} of shape {given.shape}")
        i, j = given.T
        if given.min() < 0 or given.max() >= m or (i == j).any():
            raise ValueError(f"{wanted}, got {given.tolist()[:3]}")
        tied[i, j] = tied[j, i] = True
    np.fill_diagonal(tied, val=False)
    return tied
