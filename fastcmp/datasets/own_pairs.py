"""Tests of pairs of models by their own scores, whoever else is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import ALTERNATIVES
from fastcmp.core.scaling import scale_exponent
from fastcmp.core.threads import parts
from fastcmp.counts.pairs import Block
from fastcmp.datasets.pair_data import Answers, PairKind, pair_tests
from fastcmp.datasets.rank_pairs import ratio, tail
from fastcmp.datasets.signed_rank_sums import signed_rank_of
from fastcmp.items.signed_rank import FEW_ITEMS, RankOptions
from fastcmp.items.signed_rank_pairs import signed_rank_tests
from fastcmp.paired.mcnemar_counts import evaluate_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.datasets.pair_data import PairData
    from fastcmp.pairwise.pair_tests import PairTests

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.int32]

_CELLS = 1 << 20  # differences that are looked at together


def sign_tests(data: PairData) -> PairTests:
    """Test pairs by the tasks that each won, without ties."""

    def found(pairs: Pairs) -> Answers:
        i, j = pairs.T
        wins, losses = data.wins[i, j], data.wins[j, i]
        size = np.int64(data.gains.n_tasks)
        side = data.alternative
        _, pvalue, _ = evaluate_counts(wins, losses, size, "exact", side)
        statistic = np.minimum(wins, losses).astype(np.float64)
        return Answers(statistic, pvalue, (wins - losses).astype(np.float64))

    return pair_tests(data, found, PairKind("binomial"))


def t_tests(data: PairData) -> PairTests:
    """Test pairs by Student's t of the differences of their scores."""
    gains, n = data.gains.gains, data.gains.n_tasks
    tolerance = data.gains.tolerance

    def found(pairs: Pairs) -> Answers:
        statistic, size = np.empty(len(pairs)), np.empty(len(pairs))
        for part in parts(len(pairs), max(1, _CELLS // n)):
            i, j = pairs[part].T
            d = gains[i] - gains[j]
            d[np.abs(d) <= tolerance] = 0.0
            size[part] = np.count_nonzero(~np.isnan(d), axis=1)
            statistic[part] = _t_of_rows(d, size[part])
        df = np.maximum(size - 1.0, 1.0)
        pvalue = tail(statistic, df, data.alternative)
        return Answers(statistic, pvalue, statistic.copy())

    df: Any = n - 1
    if not data.gains.complete:
        df = None
    return pair_tests(data, found, PairKind("t", df))


def _t_of_rows(d: Floats, size: Floats) -> Floats:
    """Give t of each row of differences; NaN for fewer than two."""
    with np.errstate(divide="ignore", invalid="ignore"):
        d = np.ldexp(d, -scale_exponent(d))
        mean = np.nansum(d, axis=1) / size
        d -= mean[:, None]
        squares = np.nansum(d * d, axis=1)
        # What is left of equal differences is rounding.
        squares[squares <= size * (1e-14 * mean) ** 2] = 0.0
        error = np.sqrt(squares / (size - 1.0) / size)
    statistic = ratio(mean, error)
    statistic[size < 2] = np.nan
    return statistic


def wilcoxon_tests(data: PairData, options: RankOptions) -> PairTests:
    """Test pairs by Wilcoxon's signed ranks; all are exact, or none."""
    exact = options.is_exact(data.gains.n_tasks, FEW_ITEMS)
    kind = PairKind("permutation" if exact else "normal")
    if not data.gains.complete or data.alternative != "two-sided":
        return pair_tests(data, _one_by_one(data, options, exact=exact), kind)
    base = pair_tests(data, _nothing, kind)
    values = data.gains.gains
    z = signed_rank_tests(values, base, _with(options, "asymptotic"))
    w = signed_rank_tests(values, base, _with(options, "exact")) if exact else z

    def found(pairs: Pairs) -> Answers:
        block = Block(slice(0, len(pairs)), pairs)
        by_z = z.columns(block)
        if not exact:
            return Answers(by_z.statistic, by_z.pvalue, by_z.statistic)
        by_w = w.columns(block)
        return Answers(by_w.statistic, by_w.pvalue, by_z.statistic)

    return pair_tests(data, found, kind)


def _with(options: RankOptions, method: str) -> RankOptions:
    return RankOptions(zero_method=options.zero_method, method=method, continuity=False)


def _nothing(pairs: Pairs) -> Answers:
    """Stand for a test where another one follows."""
    none = np.full(len(pairs), np.nan)
    return Answers(none, none, none)


def _one_by_one(data: PairData, options: RankOptions, *, exact: bool) -> Any:
    """Make a test of each pair on its own tasks, or of one side."""
    gains = data.gains.gains
    side = ALTERNATIVES[data.alternative]
    options = _with(options, "exact" if exact else "asymptotic")

    def found(pairs: Pairs) -> Answers:
        statistic, pvalue, z = np.full((3, len(pairs)), np.nan)
        for p, pair in enumerate(pairs.tolist()):
            test = signed_rank_of(gains, pair, options, side)
            if test is not None:
                statistic[p], pvalue[p] = test["statistic"], test["pvalue"]
                z[p] = test["zscore"]
        return Answers(statistic, pvalue, z)

    return found
