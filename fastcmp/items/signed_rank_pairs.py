"""Wilcoxon's signed-rank test of all pairs of models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.threads import parts
from fastcmp.counts.pairs import PairColumns
from fastcmp.items.signed_rank import FEW_ITEMS, UNIT, check_steps, decimal_codes
from fastcmp.kernels import signed_ranks as ranks
from fastcmp.kernels.walsh_averages import hodges_lehmann_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.counts.pairs import Block
    from fastcmp.items.signed_rank import RankOptions
    from fastcmp.pairwise.pair_tests import PairTests

    Floats = NDArray[np.float64]

_ROWS = 1 << 20  # differences that are sorted together
_CACHED = 1 << 18  # the same, where a second-level cache is to hold them
_REACH = 1 << 20  # different differences that are counted
_SIDE = 64  # models of a side of a tile


def signed_rank_tests(
    values: Floats, base: PairTests, options: RankOptions, *, level: float | None = None
) -> PairTests:
    """Test all pairs of models, values (M, n), by Wilcoxon's signed ranks.

    All are exact, or none. With a level, the difference of a pair is Hodges and
    Lehmann's estimate, with its interval; that takes far longer than the test. Without,
    it is that of `base`, and has no interval; where the ranks favour the other model,
    neither is decided to be better.
    """
    n = values.shape[1]
    exact = options.is_exact(n, FEW_ITEMS)
    if exact:
        check_steps(2 * np.arange(1, n + 1))
    test = _by_sorting(values, options, exact=exact)
    coded = decimal_codes(values)
    if coded is not None and not exact:
        codes = coded[0] - coded[0].min()
        reach = int(codes.max())
        if reach <= min(_REACH, max(4 * n, 64)):
            test = _by_counting(codes.astype(np.int32), reach, options)

    def centres(pairs: NDArray[np.int32]) -> Floats:
        if coded is None:
            return _centres(values, pairs, level or 0.5)
        return _centres(coded[0], pairs, level or 0.5) / coded[1]

    def gain(pairs: NDArray[np.int32]) -> Floats:
        """Give the difference of means, 0 where the ranks favour the other model."""
        if level is not None:
            return centres(pairs)[:, 0]
        difference = base.differences(pairs)
        side = centres(pairs)[:, 0] if exact else test(pairs)[:, 0]
        return np.where(side * difference > 0, difference, 0.0)

    def columns(block: Block) -> PairColumns:
        statistic, pvalue = test(block.pairs).T
        nothing, low = np.full(pvalue.size, -1), np.full(pvalue.size, np.nan)
        difference, high = base.differences(block.pairs), low
        if level is not None:
            difference, low, high = centres(block.pairs).T
        return PairColumns(nothing, nothing, difference, low, high, statistic, pvalue)

    return replace(
        base,
        columns=columns,
        pvalues=lambda block: test(block.pairs)[:, 1],
        difference=gain,
        distribution="permutation" if exact else "normal",
        df=None,
        side=_SIDE,
        spread=None,  # ranks have no standard errors
        flips=None,
    )


def _centres(values: Floats, pairs: NDArray[np.int32], level: float) -> Floats:
    """Estimate the centres of differences, with their limits: shape (P, 3)."""
    out = np.empty((len(pairs), 3))
    for part in parts(len(pairs), max(1, _ROWS // values.shape[1])):
        i, j = pairs[part].T
        rows = values[i] - values[j]
        rows.sort(axis=1)
        hodges_lehmann_rows(rows, level, out[part])
    return out


def _by_counting(codes: NDArray[np.int32], reach: int, options: RankOptions) -> Any:
    """Make a test of pairs of whole numbers from 0 to `reach`."""

    def test(pairs: NDArray[np.int32]) -> Floats:
        out = np.empty((len(pairs), 2))
        chosen = (options.code, options.continuity)
        ranks.coded_pairs_tests(codes, np.ascontiguousarray(pairs), reach, chosen, out)
        return out

    return test


def _by_sorting(values: Floats, options: RankOptions, *, exact: bool) -> Any:
    """Make a test of pairs of any values."""
    values = np.ascontiguousarray(values, np.float64)
    largest = np.abs(values).max(axis=1)
    chosen = (options.code, exact, options.continuity)

    def test(pairs: NDArray[np.int32]) -> Floats:
        out = np.empty((len(pairs), 2))
        for part in parts(len(pairs), max(1, _CACHED // values.shape[1])):
            i, j = pairs[part].T
            rows = np.empty((i.size, values.shape[1]))
            ranks.pack_pairs(values, np.ascontiguousarray(pairs[part]), rows)
            rows.sort(axis=1)
            tolerances = 0.5 * UNIT * np.maximum(largest[i], largest[j])
            ranks.sorted_rows_tests(rows, tolerances, chosen, out[part])
        return out

    return test
