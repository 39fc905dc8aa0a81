"""Test all pairs, and keep what is asked for: everything, or less than memory holds.

Where not all is kept, the pairs are tested twice: once for the p-values, from which all
decisions follow, and once more, those that are kept, for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.memory import check_memory
from fastcmp.core.scaling import times
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
from fastcmp.paired.margins import as_margin
from fastcmp.pairwise.adjust import JOINT, adjust_checked
from fastcmp.pairwise.logical_adjust import check_all_pairs
from fastcmp.pairwise.max_t import critical_value, joint_pvalues
from fastcmp.pairwise.output_files import open_table
from fastcmp.pairwise.ranking import UNTESTED, decisions_of, decisions_of_all
from fastcmp.pairwise.simultaneous import JointTests, with_simultaneous

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.pairs import Tile
    from fastcmp.pairwise.joint_draws import Joint
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.pair_tests import PairTests

    #: A tile of models, or a part of the chosen pairs.
    Task = Tile | slice

_ROW = 72  # bytes of a pair of which all is kept
_PVALUES = 44  # bytes of a pair while its p-value is adjusted
_MARGINS = 280  # more of them for tests against a margin
_DRAWN = 72  # more of them while that is done by draws
_SPAN = 1 << 18  # chosen pairs that are written together


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Which test, how to decide, and what to keep."""

    test: str
    method: str
    adjust: str
    alpha: float
    #: "all", "significant", how many of the best models, or the file to write.
    keep: str | int | Path
    #: Bytes; None for what is left.
    memory_limit: int | None
    lower_is_better: bool = False
    #: Draws of all models together, for `adjust` or intervals; None where not needed.
    draws: Draws | None = None
    #: Whether intervals of differences hold for all pairs at once.
    simultaneous: bool = False
    #: Where intervals of ranks come from, and the seed of what is drawn for them.
    rank_intervals: str = "decisions"
    rank_seed: int = 0
    #: The largest difference that does not matter; None for none.
    margin: float | None = None

    @property
    def joint(self) -> bool:
        """Whether models are drawn together."""
        return self.simultaneous or self.adjust in JOINT

    @property
    def all_together(self) -> bool:
        """Whether variances of all pairs are needed, tested or not."""
        return self.joint or self.rank_intervals != "decisions"

    @property
    def gain(self) -> int:
        """1 where more of the score is better, else -1."""
        return -1 if self.lower_is_better or self.test == "cost" else 1


class KeptPairs(NamedTuple):
    """The pairs that are kept, and the decisions about all."""

    pairs: NDArray[np.int32]
    columns: PairColumns
    pvalue_adjusted: NDArray[np.float64]
    #: As from `fastcmp.pairwise.ranking.decisions_of`.
    decisions: NDArray[np.int8]
    #: Draws by which p-values were adjusted.
    joint: Joint | None = None
    #: Of simultaneous intervals.
    critical_value: float | None = None


def read_keep(keep: object) -> str | int | Path:
    """Check which pairs are to be kept; raise ValueError or TypeError."""
    wanted = (
        "keep must be 'all', 'significant', a number of models from 2 on, or a file "
        "that ends in .npy or .parquet"
    )
    if isinstance(keep, (str, Path)):
        if keep in ("all", "significant"):
            return str(keep)
        if Path(keep).suffix in (".npy", ".parquet"):
            return Path(keep)
        raise ValueError(f"{wanted}, got {str(keep)!r}")
    message = f"{wanted}, got {keep!r}"
    if isinstance(keep, bool) or not isinstance(keep, Integral):
        raise TypeError(message)
    if keep < 2:
        raise ValueError(message)
    return int(keep)


def run_tests(
    tests: PairTests,
    chosen: NDArray[np.int32] | None,
    names: tuple[str, ...],
    options: Options,
    pool: ThreadPool,
) -> KeptPairs:
    """Test the chosen pairs, or all of them for None.

    The result is the same for any number of threads. ValueError if what is to be kept
    does not fit into memory, OSError if a file cannot be written.
    """
    check_all_pairs(options.adjust, len(names), chosen=chosen is not None)
    if options.margin is not None:
        as_margin(options.margin, tests.limits[1])
    drawn = _Drawn.of(tests, chosen, options, pool)
    tests, work = drawn.tests, _Work(drawn.tests, chosen, pool)
    places = _of_best(work, options) if isinstance(options.keep, int) else None
    _check_room(work, options, 0 if places is None else places.size)
    if isinstance(options.keep, Path):
        pool.expect(2 * work.n_pairs)
        # Opened first: that it cannot be written is better known before the work.
        with open_table(options.keep, names, work.n_pairs) as table:
            adjusted, significant, decisions = _decide_all(work, options, drawn)
            for span, some in work.test_by_rows():
                pairs = work.pairs_at(span)
                table.write(pairs, some, adjusted[span], significant[span])
        return KeptPairs(*table.read_back(), decisions, drawn.joint, drawn.critical)
    pool.expect(work.n_pairs + (0 if places is None else places.size))
    if options.keep == "all":
        columns = work.test_all()
        adjusted = drawn.adjust(columns.pvalue, work, options.adjust)
        decisions = work.decide(adjusted, adjusted <= options.alpha, options.gain)
        pairs = work.pairs_at(slice(0, work.n_pairs))
    else:
        adjusted, significant, decisions = _decide_all(work, options, drawn)
        if places is None:
            places = _places_of_significant(significant, options)
            pool.expect(places.size)
        pairs, adjusted = work.pairs_at(places), adjusted[places]
        columns = _Work(tests, pairs, pool).test_all()
    return KeptPairs(pairs, columns, adjusted, decisions, drawn.joint, drawn.critical)


def _decide_all(
    work: _Work, options: Options, drawn: _Drawn
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int8]]:
    """Adjust all p-values, compare them with alpha, and decide."""
    pvalues = work.pvalues_of_all()
    adjusted = drawn.adjust(pvalues, work, options.adjust, in_place=True)
    significant = adjusted <= options.alpha
    return adjusted, significant, work.decide(adjusted, significant, options.gain)


def _check_room(work: _Work, options: Options, n_kept: int) -> None:
    """Refuse before the work begins what will not fit."""
    everything = options.keep == "all"
    n_kept = work.n_pairs if everything else n_kept
    each = _PVALUES + _DRAWN * (options.draws is not None)
    each += _MARGINS * (options.margin is not None)
    needed = work.n_pairs * each + n_kept * _ROW + work.n_models**2
    advice = "pass pairs=, or compare fewer models"
    if everything:
        advice = "keep='significant', a number of models or a file takes less"
    what = f"comparing {work.n_pairs} pairs"
    check_memory(needed, options.memory_limit, what, advice)


def _of_best(work: _Work, options: Options) -> NDArray[np.int64]:
    """Find the pairs of the best models."""
    ranking = np.argsort(-options.gain * work.tests.score, kind="stable")
    best = np.sort(ranking[: options.keep])
    if work.chosen is not None:
        return np.flatnonzero(np.isin(work.chosen, best).all(axis=1))
    return places_of(best[all_pairs(best.size)], work.n_models)


def _places_of_significant(significant: NDArray[np.bool_], options: Options) -> NDArray[np.int64]:
    """Find the pairs that differ significantly; how many is known only now."""
    n_kept = int(np.count_nonzero(significant))
    check_memory(
        n_kept * (_ROW + 16),
        options.memory_limit,
        f"keeping {n_kept} significant pairs",
        "pass keep= a number of models or a file",
    )
    return np.flatnonzero(significant)


class _Drawn(NamedTuple):
    """Draws of all models together, where `adjust` or intervals need them."""

    tests: PairTests
    #: Those by which p-values are adjusted.
    joint: Joint | None = None
    critical: float | None = None

    @classmethod
    def of(
        cls,
        tests: PairTests,
        chosen: NDArray[np.int32] | None,
        options: Options,
        pool: ThreadPool,
    ) -> _Drawn:
        """Draw, and find the critical value of simultaneous intervals."""
        if options.draws is None:
            return cls(tests)
        made, joint, critical = JointTests(tests, options.draws, pool), None, None
        if options.adjust in JOINT:
            joint = made.null
        if options.simultaneous:
            work = _Work(tests, chosen, pool)
            _, inverse = work.standardized(made.normal)
            pairs, level = work.pairs_at(slice(0, work.n_pairs)), 1.0 - options.alpha
            critical = critical_value(made.normal, pairs, inverse, level, pool)
            tests = with_simultaneous(tests, critical)
        return cls(tests, joint, critical)

    def adjust(
        self,
        pvalues: NDArray[np.float64],
        work: _Work,
        method: str,
        *,
        in_place: bool = False,
    ) -> NDArray[np.float64]:
        """Adjust p-values; by draws none is below what it was."""
        if self.joint is None:
            return adjust_checked(pvalues, method, in_place=in_place)
        statistic, inverse = work.standardized(self.joint)
        statistic[np.isnan(pvalues)] = np.nan
        pairs, down = work.pairs_at(slice(0, work.n_pairs)), method == "maxt"
        adjusted = joint_pvalues(self.joint, pairs, statistic, inverse, work.pool, down=down)
        return np.maximum(adjusted, pvalues)


class _Work:
    """The pairs, cut into tasks."""

    def __init__(
        self, tests: PairTests, chosen: NDArray[np.int32] | None, pool: ThreadPool
    ) -> None:
        self.tests, self.chosen, self.pool = tests, chosen, pool
        self.n_models = m = tests.score.size
        self.n_pairs = m * (m - 1) // 2 if chosen is None else len(chosen)
        # A chosen pair is counted alone, and slower than in a tile.
        self._some = max(1, tests.side**2 // 4)
        self._side = tests.side
        if pool.threads > 1:  # some rows of tiles for each
            rows = -(-m // (4 * pool.threads * TILE_ROWS))
            self._side = min(tests.side, rows * TILE_ROWS)
        self._tiles = []
        if chosen is None:
            self._tiles = [tile for tile in tiles_of(m, self._side) if count_pairs(tile)]

    def pvalues_of_all(self) -> NDArray[np.float64]:
        """Work out all p-values, and nothing more."""
        pvalues = np.empty(self.n_pairs)

        def test(task: Task) -> None:
            block = block_of(task, self.n_models, self.chosen)
            pvalues[block.where] = self.tests.pvalues(block)

        self.pool.run(test, self._tasks(), steps=count_pairs)
        return pvalues

    def standardized(self, joint: Joint) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the statistics of all pairs that draws have, and their scales."""
        assert joint.standardized is not None
        standardized, found = joint.standardized, np.empty((2, self.n_pairs))

        def find(task: Task) -> None:
            block = block_of(task, self.n_models, self.chosen)
            found[:, block.where] = standardized(block)

        self.pool.run(find, self._tasks(), steps=no_step)
        return found[0], found[1]

    def test_all(self) -> PairColumns:
        """Find out all about all pairs."""
        return self._test(self._tasks(), 0, self.n_pairs)

    def test_by_rows(self) -> Iterator[tuple[slice, PairColumns]]:
        """Find out all about all pairs, some rows of models at a time, in order."""
        if not self._tiles:
            for span in parts(self.n_pairs, _SPAN):
                tasks = [
                    slice(span.start + part.start, span.start + part.stop)
                    for part in parts(span.stop - span.start, self._some)
                ]
                yield span, self._test(tasks, span.start, span.stop)
            return
        start = 0
        for i0 in range(0, self.n_models, self._side):
            tiles = [tile for tile in self._tiles if tile[0] == i0]
            end = start + sum(map(count_pairs, tiles))
            yield slice(start, end), self._test(tiles, start, end)
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

    def decide(
        self,
        adjusted: NDArray[np.float64],
        significant: NDArray[np.bool_],
        gain: int,
    ) -> NDArray[np.int8]:
        """Write the decisions as a matrix of models."""
        tests, chosen = self.tests, self.chosen
        score = gain * (tests.score if tests.ranking is None else tests.ranking)
        if chosen is None and tests.difference is None:
            decisions = decisions_of_all(significant, score)
        else:
            pairs = self.pairs_at(slice(0, self.n_pairs))
            difference = gain * tests.differences(pairs)
            decisions = decisions_of(self.n_models, pairs, significant, difference)
        if np.isnan(adjusted.max()):  # a test without an answer says nothing
            i, j = self.pairs_at(np.flatnonzero(np.isnan(adjusted))).T
            decisions[i, j] = decisions[j, i] = UNTESTED
        return decisions

    def _tasks(self) -> Sequence[Task]:
        return self._tiles or parts(self.n_pairs, self._some)

    def _test(self, tasks: Sequence[Task], start: int, end: int) -> PairColumns:
        size = end - start
        columns = PairColumns(*np.empty((2, size), np.int64), *np.empty((5, size)))
        if self.tests.with_errors:
            columns = columns._replace(standard_error=np.empty(size))

        def test(task: Task) -> None:
            block = block_of(task, self.n_models, self.chosen)
            if isinstance(block.where, slice):
                where: Any = slice(block.where.start - start, block.where.stop - start)
            else:
                where = block.where - start
            found: Any = self.tests.columns(block)
            if exponent := self.tests.exponent:
                ends = (times(x, exponent) for x in (found.difference, found.low, found.high))
                found = found._replace(
                    **dict(zip(("difference", "low", "high"), ends, strict=True))
                )
            for column, own in zip(columns, found, strict=True):
                if column is not None:
                    column[where] = own

        self.pool.run(test, tasks, steps=count_pairs)
        return columns
