"""Judge all pairs, and keep what is asked for: everything, or less than memory holds.

Where not all is kept, the pairs are judged twice: once for the p-values, from which all
decisions follow, and once more, those that are kept, for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step, parts
from fastcmp.counts.pairs import (
    PairColumns,
    all_pairs,
    block_of,
    count_pairs,
    pairs_at,
    places_of,
    tiles_of,
)
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.pairwise.adjust import adjust_checked
from fastcmp.pairwise.output_files import open_table
from fastcmp.pairwise.ranking import UNTESTED, verdicts_of, verdicts_of_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Judge, Tile

    #: A tile of models, or a part of the chosen pairs.
    Task = Tile | slice

_ROW = 72  # bytes of a pair of which all is kept
_PVALUES = 44  # bytes of a pair while its p-value is adjusted
_SPAN = 1 << 18  # chosen pairs that are written together


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How pairs are judged."""

    adjust: str
    alpha: float
    #: "all", "significant", how many of the best models, or the file to write.
    keep: str | int | Path
    #: Bytes; None for what is left.
    memory_limit: int | None
    #: 1 where more of the score is better, else -1.
    gain: int


class Judged(NamedTuple):
    """What is known of all pairs, and all about those that are kept."""

    pairs: NDArray[np.int32]
    columns: PairColumns
    pvalue_adjusted: NDArray[np.float64]
    #: Pairs that were judged.
    n_pairs: int
    #: As from `fastcmp.pairwise.ranking.verdicts_of`.
    verdicts: NDArray[np.int8]


def read_keep(keep: object) -> str | int | Path:
    """Check which pairs are to be kept.

    Parameters
    ----------
    keep : object
        As in `fastcmp.compare_all`.

    Returns
    -------
    str, int or Path
        "all", "significant", a number of models or a file.

    Raises
    ------
    ValueError
        If it is none of these.
    TypeError
        If it is neither a number nor a name.
    """
    wanted = (
        "keep must be 'all', 'significant', a number of models from 2 on, or a file "
        "that ends in .npy or .parquet"
    )
    if isinstance(keep, (str, Path)):
        if keep in ("all", "significant"):
            return str(keep)
        if Path(keep).suffix in (".npy", ".parquet"):
            return Path(keep)
        message = f"{wanted}, got {str(keep)!r}"
        raise ValueError(message)
    message = f"{wanted}, got {keep!r}"
    if isinstance(keep, bool) or not isinstance(keep, Integral):
        raise TypeError(message)
    if keep < 2:
        raise ValueError(message)
    return int(keep)


def judge_pairs(
    judge: Judge,
    chosen: NDArray[np.int32] | None,
    names: tuple[str, ...],
    options: Options,
    pool: ThreadPool,
) -> Judged:
    """Judge pairs of models.

    Parameters
    ----------
    judge : Judge
        Which test, on which data.
    chosen : ndarray of int32, shape (P, 2), or None
        The pairs; None for all.
    names : tuple of str
        The models, for a file.
    options : Options
        What to keep, and how to decide.
    pool : ThreadPool
        Who does the work.

    Returns
    -------
    Judged
        The same for any pool.

    Raises
    ------
    ValueError
        If what is to be kept does not fit into memory.
    OSError
        If a file cannot be written.
    """
    work = _Work(judge, chosen, pool)
    places = _of_best(work, options) if isinstance(options.keep, int) else None
    _check_room(work, options, 0 if places is None else places.size)
    if isinstance(options.keep, Path):
        pool.expect(2 * work.n_pairs)
        # Opened first: that it cannot be written is better known before the work.
        with open_table(options.keep, names, work.n_pairs) as table:
            adjusted, told, verdicts = _decide_all(work, options)
            for span, some in work.judge_by_rows():
                table.write(work.pairs_at(span), some, adjusted[span], told[span])
        return Judged(*table.read_back(), work.n_pairs, verdicts)
    pool.expect(work.n_pairs + (0 if places is None else places.size))
    if options.keep == "all":
        columns = work.judge_all()
        adjusted = adjust_checked(columns.pvalue, options.adjust)
        verdicts = work.verdicts(adjusted, adjusted <= options.alpha, options.gain)
        pairs = work.pairs_at(slice(0, work.n_pairs))
    else:
        adjusted, told, verdicts = _decide_all(work, options)
        if places is None:
            places = _significant(told, options)
            pool.expect(places.size)
        pairs, adjusted = work.pairs_at(places), adjusted[places]
        columns = work.judge_chosen(pairs)
    return Judged(pairs, columns, adjusted, work.n_pairs, verdicts)


def _decide_all(
    work: _Work, options: Options
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int8]]:
    """Adjust all p-values, hold them against alpha, and say who beats whom."""
    pvalues = work.test_all()
    adjusted = adjust_checked(pvalues, options.adjust, in_place=True)
    told = adjusted <= options.alpha
    return adjusted, told, work.verdicts(adjusted, told, options.gain)


def _check_room(work: _Work, options: Options, n_kept: int) -> None:
    """Refuse before the work begins what will not fit."""
    everything = options.keep == "all"
    n_kept = work.n_pairs if everything else n_kept
    needed = work.n_pairs * _PVALUES + n_kept * _ROW + work.n_models**2
    advice = "pass pairs=, or compare fewer models"
    if everything:
        advice = "keep='significant', a number of models or a file takes less"
    what = f"comparing {work.n_pairs} pairs"
    check_memory(needed, options.memory_limit, what, advice)


def _of_best(work: _Work, options: Options) -> NDArray[np.int64]:
    """Find the pairs of the best models."""
    ranking = np.argsort(-options.gain * work.judge.score, kind="stable")
    best = np.sort(ranking[: options.keep])
    if work.chosen is not None:
        return np.flatnonzero(np.isin(work.chosen, best).all(axis=1))
    return places_of(best[all_pairs(best.size)], work.n_models)


def _significant(told: NDArray[np.bool_], options: Options) -> NDArray[np.int64]:
    """Find the pairs that are told apart; how many these are is known only now."""
    n_kept = int(np.count_nonzero(told))
    check_memory(
        n_kept * (_ROW + 16),
        options.memory_limit,
        f"keeping {n_kept} significant pairs",
        "pass keep= a number of models or a file",
    )
    return np.flatnonzero(told)


class _Work:
    """The pairs, cut into tasks."""

    def __init__(
        self, judge: Judge, chosen: NDArray[np.int32] | None, pool: ThreadPool
    ) -> None:
        self.judge, self.chosen, self.pool = judge, chosen, pool
        self.n_models = m = judge.score.size
        self.n_pairs = m * (m - 1) // 2 if chosen is None else len(chosen)
        # A chosen pair is counted by itself, and slower than in a tile.
        self._some = max(1, judge.side**2 // 4)
        rows = -(-m // (4 * pool.threads * TILE_ROWS))
        self._side = min(judge.side, rows * TILE_ROWS)
        self._tiles = []
        if chosen is None:
            self._tiles = [
                tile for tile in tiles_of(m, self._side) if count_pairs(tile)
            ]

    def test_all(self) -> NDArray[np.float64]:
        """Work out all p-values, and nothing more."""
        pvalues = np.empty(self.n_pairs)

        def test(task: Task) -> None:
            block = block_of(task, self.n_models, self.chosen)
            pvalues[block.where] = self.judge.pvalues(block)

        self._run(test, self._tiles or parts(self.n_pairs, self._some))
        return pvalues

    def judge_all(self) -> PairColumns:
        """Find out all about all pairs."""
        return self._judge(
            self._tiles or parts(self.n_pairs, self._some), 0, self.n_pairs
        )

    def judge_chosen(self, pairs: NDArray[np.int32]) -> PairColumns:
        """Find out all about some pairs."""
        return _Work(self.judge, pairs, self.pool).judge_all()

    def judge_by_rows(self) -> Iterator[tuple[slice, PairColumns]]:
        """Find out all about all pairs, some rows of models at a time, in order."""
        if not self._tiles:
            for span in parts(self.n_pairs, _SPAN):
                tasks = [
                    slice(span.start + part.start, span.start + part.stop)
                    for part in parts(span.stop - span.start, self._some)
                ]
                yield span, self._judge(tasks, span.start, span.stop)
            return
        start = 0
        for i0 in range(0, self.n_models, self._side):
            tiles = [tile for tile in self._tiles if tile[0] == i0]
            end = start + sum(map(count_pairs, tiles))
            yield slice(start, end), self._judge(tiles, start, end)
            start = end

    def pairs_at(self, places: slice | NDArray[np.int64]) -> NDArray[np.int32]:
        """List the models of some pairs."""
        if self.chosen is not None:
            return self.chosen[places]
        if isinstance(places, slice):
            if places.stop - places.start == self.n_pairs:
                return all_pairs(self.n_models)
            places = np.arange(places.start, places.stop)
        pairs = np.empty((places.size, 2), np.int32)

        def find(part: slice) -> None:
            pairs[part] = pairs_at(places[part], self.n_models)

        # In parts, so that an interrupt need not wait for millions of them.
        self.pool.run(find, parts(places.size, _SPAN), steps=no_step)
        return pairs

    def verdicts(
        self, adjusted: NDArray[np.float64], told: NDArray[np.bool_], gain: int
    ) -> NDArray[np.int8]:
        """Decide who beats whom."""
        score = gain * self.judge.score
        if self.chosen is None:
            verdicts = verdicts_of_all(told, score)
        else:
            i, j = self.chosen.T
            verdicts = verdicts_of(
                self.n_models, self.chosen, told, score[i] - score[j]
            )
        if np.isnan(adjusted.max()):  # a test without an answer says nothing
            i, j = self.pairs_at(np.flatnonzero(np.isnan(adjusted))).T
            verdicts[i, j] = verdicts[j, i] = UNTESTED
        return verdicts

    def _judge(self, tasks: Sequence[Task], start: int, end: int) -> PairColumns:
        columns = PairColumns(
            *np.empty((2, end - start), np.int64), *np.empty((5, end - start))
        )

        def judge(task: Task) -> None:
            block = block_of(task, self.n_models, self.chosen)
            if isinstance(block.where, slice):
                where: Any = slice(block.where.start - start, block.where.stop - start)
            else:
                where = block.where - start
            for column, own in zip(columns, self.judge.outcomes(block), strict=True):
                column[where] = own

        self._run(judge, tasks)
        return columns

    def _run(self, work: Callable[[Task], None], tasks: Sequence[Task]) -> None:
        self.pool.run(work, tasks, steps=count_pairs)
