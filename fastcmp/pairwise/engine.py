"""Test all pairs, decide about them, and keep what is asked for: all, or what memory holds.

Where not all is kept, the pairs are tested twice: once for the p-values, from which all
decisions follow, and once more, those that are kept, for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import Draws, as_flag, as_proportion, as_resamples, as_seed, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import times
from fastcmp.core.saved_states import replacing
from fastcmp.core.threads import ThreadPool, check_memory, parts, read_size
from fastcmp.core.typing import Flags, Floats, Ints, Pairs, Seed
from fastcmp.counts.pairs import (
    Block,
    PairColumns,
    Spread,
    Task,
    all_pairs,
    block_of,
    count_pairs,
    pairs_at,
    places_of,
    tiles_of,
)
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import BoundedUnits, MarginOptions, as_margin
from fastcmp.pairwise.adjust import (
    JOINT,
    LOGICAL,
    OF_MODELS,
    Family,
    adjust_checked,
    check_all_pairs,
    promise,
)
from fastcmp.pairwise.counted_pairs import PairCells
from fastcmp.pairwise.decisions import UNTESTED, decisions_of, decisions_of_all
from fastcmp.pairwise.joint_draws import Joint, joint_of_spread, variances_of
from fastcmp.pairwise.margins import read_pair_margin, with_pair_margins
from fastcmp.pairwise.max_t import critical_value, joint_pvalues
from fastcmp.pairwise.rank_sets import RANK_INTERVALS, rank_bounds
from fastcmp.pairwise.result import PairwiseResult

#: Methods that draw.
DRAWN = ("permutation", "bootstrap")


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
    lower_is_better: bool
    #: Of the method, or of all models together for `adjust` or intervals.
    draws: Draws | None
    #: Whether intervals of differences hold for all pairs at once.
    simultaneous: bool
    #: Where intervals of ranks come from, and the seed of what is drawn for them.
    rank_intervals: str
    rank_seed: int
    #: The largest difference that does not matter; None for none.
    margin: float | None
    #: Whether models are drawn together.
    joint: bool
    #: Whether variances of all pairs are needed, tested or not.
    all_together: bool
    #: 1 where more of the score is better, else -1.
    gain: int


def read_options(
    test: str,
    method: str,
    *,
    adjust: str = "holm",
    alpha: float = 0.05,
    keep: object = "all",
    memory_limit: int | str | None = None,
    margin: float | None = None,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    n_resamples: object = 9999,
    rng: Seed = None,
    adjustments: tuple[str, ...] = OF_MODELS,
    lower_is_better: bool = False,
) -> Options:
    """Check the options of a comparison; the method is checked already."""
    adjust, alpha = choose(adjust, "adjust", adjustments), as_proportion(alpha, "alpha")
    keep, limit = read_keep(keep), None if memory_limit is None else read_size(memory_limit)
    if margin is not None:
        margin = read_pair_margin(margin, alpha, keep=keep)
        if method == "wilcoxon":
            raise BadValueError(
                "`margin=` is of means, of which `method='wilcoxon'` is no test",
                remedy=": use `method='t'`",
            )
    simultaneous, n = as_flag(simultaneous, "simultaneous"), as_resamples(n_resamples)
    draws, joint = None, simultaneous or adjust in JOINT
    if method in DRAWN or joint:
        draws = Draws(n, as_seed(rng))
    elif rng is not None:
        as_seed(rng)
    ranks = choose(rank_intervals, "rank_intervals", RANK_INTERVALS)
    return Options(
        test=test,
        method=method,
        adjust=adjust,
        alpha=alpha,
        keep=keep,
        memory_limit=limit,
        lower_is_better=lower_is_better,
        draws=draws,
        simultaneous=simultaneous,
        rank_intervals=ranks,
        # The same draws unless asked for.
        rank_seed=0 if ranks == "decisions" else as_seed(0 if rng is None else rng),
        margin=margin,
        joint=joint,
        all_together=joint or ranks != "decisions",
        gain=-1 if lower_is_better or test == "cost" else 1,
    )


def read_keep(keep: object) -> str | int | Path:
    """Check which pairs are to be kept; raise ValueError or TypeError."""
    wanted = (
        "must be 'all', 'significant', a number of models from 2 on, or a file "
        "that ends in .npy or .parquet"
    )
    if isinstance(keep, (str, Path)):
        if keep in ("all", "significant"):
            return str(keep)
        if Path(keep).suffix in (".npy", ".parquet"):
            return Path(keep)
        raise BadValueError(f"`keep` {wanted}", repr(str(keep)))
    if isinstance(keep, bool) or not isinstance(keep, Integral):
        raise BadTypeError(f"`keep` {wanted}", repr(keep))
    if keep < 2:
        raise BadValueError(f"`keep` {wanted}", repr(keep))
    return int(keep)


class KeptPairs(NamedTuple):
    """The pairs that are kept, and the decisions about all."""

    pairs: Pairs
    columns: PairColumns
    pvalue_adjusted: Floats
    #: As from `fastcmp.pairwise.decisions.decisions_of`.
    decisions: NDArray[np.int8]
    #: Draws by which p-values were adjusted.
    joint: Joint | None = None
    #: Of simultaneous intervals.
    critical_value: float | None = None


_ROW = 72  # bytes of a pair of which all is kept
_PVALUES = 44  # bytes of a pair while its p-value is adjusted
_MARGINS = 280  # more of them for tests against a margin
_DRAWN = 72  # more of them while that is done by draws
_SPAN = 1 << 18  # chosen pairs that are written together
_HANDED_OVER = 1 << 13  # quick pairs that are worth a task of a thread
_FEW = 64  # models whose pairs are listed to decide about them


def compare_pairs(
    tests: PairTests,
    source: Any,
    some_pairs: NDArray[np.int32] | None,
    options: Options,
    pool: ThreadPool,
    *,
    control: int | str | None = None,
    record: type[PairwiseResult] = PairwiseResult,
    more: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
) -> Any:
    """The record of the chosen pairs, or of all of them for None.

    `source` is the names of the models, or has them and what was dropped; `more` is what
    the record holds beside, or what makes it when all pairs are tested.
    """
    names = getattr(source, "names", source) or ()
    kept = run_tests(tests, some_pairs, names, options, pool)
    columns = kept.columns
    fields: dict[str, Any] = {
        "statistic": columns.statistic,
        "pvalue": columns.pvalue,
        "pvalue_adjusted": kept.pvalue_adjusted,
        "df": tests.df,
        "distribution": tests.distribution,
        "pairs": kept.pairs,
        "difference": columns.difference,
        "interval": np.stack([columns.low, columns.high], axis=1),
        "names": names,
        "correct": tests.correct,
        "score": tests.score,
        "score_interval": tests.score_interval,
        "measure": "cost" if options.test == "cost" else "accuracy",
        "n_samples": tests.n_samples,
        "test": options.test,
        "method": options.method,
        "adjust": options.adjust,
        "alpha": options.alpha,
        "rule": promise(options.adjust, options.alpha),
        "n_missing": getattr(source, "n_missing", 0),
        "n_excluded": getattr(source, "n_excluded", 0),
        "n_outside": getattr(source, "n_outside", ()),
        "kept": options.keep,
        "critical_value": kept.critical_value,
        "all_decisions": kept.decisions,
        "control": None if some_pairs is None or control is None else names[some_pairs[0, 0]],
    }
    if (joint := kept.joint) is not None:
        fields["adjust_draws"] = ("all " if joint.complete else "") + joint.kind
        fields["adjust_resamples"] = joint.n_draws
        fields["adjust_seed"] = None if joint.complete else joint.seed
    if tests.correct is not None:
        fields |= {"only_a": columns.only_a, "only_b": columns.only_b}
    if tests.details is not None:
        fields |= tests.details(kept.pairs, columns)
    if tests.exponent:
        of_unit = fields.keys() & {"score", "score_interval", "standard_error"}
        fields |= {name: times(fields[name], tests.exponent) for name in of_unit}
    if options.rank_intervals != "decisions":
        fields["rank_method"] = options.rank_intervals
        fields["rank_bounds"] = _bounds_of_ranks(tests, options, pool)
    fields |= more() if callable(more) else more or {}
    made = record(**fields)
    return made if options.margin is None else with_pair_margins(made, tests, options.margin)


def _bounds_of_ranks(tests: PairTests, options: Options, pool: ThreadPool) -> Ints:
    """The least and the greatest rank of each model by all correlations, shape (M, 2)."""
    if tests.spread is None:
        raise BadValueError(
            f"`rank_intervals={options.rank_intervals!r}` needs standard errors of all pairs "
            "on the same samples, which this method has not",
            remedy=": use `rank_intervals='decisions'`",
        )
    variance, df = variances_of(tests.spread, tests.score.size, tests.side, pool)
    score = tests.score if tests.ranking is None else tests.ranking
    return rank_bounds(
        options.gain * score,
        variance,
        df,
        simultaneous=options.rank_intervals == "simultaneous",
        level=1.0 - options.alpha,
        seed=options.rank_seed,
        pool=pool,
    )


def run_tests(
    tests: PairTests,
    some_pairs: NDArray[np.int32] | None,
    names: tuple[str, ...],
    options: Options,
    pool: ThreadPool,
) -> KeptPairs:
    """Test the chosen pairs, or all of them for None.

    The result is the same for any number of threads. ValueError if what is to be kept
    does not fit into memory, OSError if a file cannot be written.
    """
    if options.adjust in LOGICAL:
        check_all_pairs(options.adjust, len(names), some=some_pairs is not None)
    if options.margin is not None:
        as_margin(options.margin, tests.limits[1])
    keep, limit = options.keep, options.memory_limit
    joint = critical = None
    if options.joint:
        tests, joint, critical = _draw(tests, some_pairs, options, pool)
    work = _Pairs(tests, some_pairs, options, pool, joint)
    places = work.of_best(keep) if isinstance(keep, int) else None
    in_part = keep == "significant" or places is not None
    n_kept = work.n_pairs if keep == "all" else 0 if places is None else places.size
    cells = tests.cells if some_pairs is None else None
    if in_part and cells is not None and cells.serves(work.n_pairs, options.adjust):
        pool.expect(2 * work.n_pairs)
        counted = cells.decide(options.adjust, options.alpha, pool, limit, places)
        places, decisions, adjusted_of = counted
        pairs, columns = work.test_at(places)
        adjusted = adjusted_of(columns.only_a, columns.only_b)
        return KeptPairs(pairs, columns, adjusted, decisions, joint, critical)
    check_memory(
        work.n_pairs * (_PVALUES + _DRAWN * options.joint + _MARGINS * (options.margin is not None))
        + n_kept * _ROW
        + work.n_models**2,
        limit,
        f"comparing {work.n_pairs} pairs",
        "`keep='significant'`, a number of models or a file takes less"
        if keep == "all"
        else "pass `pairs=`, or compare fewer models",
    )
    if isinstance(keep, Path):
        pool.expect(2 * work.n_pairs)
        # Opened first: that it cannot be written is better known before the work.
        with open_table(keep, names, work.n_pairs) as write:
            adjusted = work.adjust(work.pvalues(), in_place=True)
            significant = adjusted <= options.alpha
            decisions = work.decide(adjusted, significant)
            for span, columns in work.test_by_rows():
                write(work.pairs_at(span), columns, adjusted[span], significant[span])
        return KeptPairs(*read_table(keep), decisions, joint, critical)
    pool.expect(work.n_pairs + (0 if places is None else places.size))
    if keep == "all":
        columns = work.test(work.tasks, 0, work.n_pairs)
        adjusted = work.adjust(columns.pvalue)
        decisions = work.decide(adjusted, adjusted <= options.alpha)
        pairs = work.pairs_at(slice(0, work.n_pairs))
        return KeptPairs(pairs, columns, adjusted, decisions, joint, critical)
    pvalues = work.pvalues()
    if joint is not None or options.adjust in (*LOGICAL, "li"):
        pvalues = work.adjust(pvalues, in_place=True)
        significant, family = pvalues <= options.alpha, None
    else:
        family = Family(pvalues, options.adjust)
        significant = pvalues <= family.largest(options.alpha)
    decisions = work.decide(pvalues, significant)
    if places is None:
        n_kept = int(np.count_nonzero(significant))
        advice = "pass `keep=` a number of models or a file"
        check_memory(n_kept * (_ROW + 16), limit, f"keeping {n_kept} significant pairs", advice)
        places = np.flatnonzero(significant)
        pool.expect(places.size)
    adjusted = pvalues[places] if family is None else family.adjust(pvalues[places])
    return KeptPairs(*work.test_at(places), adjusted, decisions, joint, critical)


def _draw(
    tests: PairTests, some_pairs: NDArray[np.int32] | None, options: Options, pool: ThreadPool
) -> tuple[PairTests, Joint | None, float | None]:
    """Draw all models together: for adjusted p-values, and for intervals that hold at once.

    Tests with these intervals, the draws that adjust p-values, the intervals' critical value.
    """
    assert options.draws is not None
    flips = tests.flips if options.adjust in JOINT else None
    joint = None if flips is None else flips(options.draws, pool)
    if joint is not None and not options.simultaneous:
        return tests, joint, None
    spread, (least, most) = tests.spread, tests.limits
    if spread is None:
        raise BadValueError(
            "`simultaneous=True` and `adjust='maxt'` need standard errors of all pairs on the "
            "same samples, which this method has not",
            remedy=": use `adjust='holm'`",
        )
    normal = joint_of_spread(spread, tests.score.size, tests.side, options.draws, pool)
    if options.adjust in JOINT and joint is None:
        joint = normal
    if not options.simultaneous:
        return tests, joint, None
    work = _Pairs(tests, some_pairs, options, pool)
    pairs, (_, inverse) = work.pairs_at(slice(0, work.n_pairs)), work.standardized(normal)
    critical = critical_value(normal, pairs, inverse, 1.0 - options.alpha, pool)
    columns = tests.columns

    def simultaneous(block: Block) -> PairColumns:
        difference, variance, _ = spread(block)
        half = critical * np.sqrt(variance)
        return columns(block)._replace(
            low=np.clip(difference - half, least, most),
            high=np.clip(difference + half, least, most),
        )

    return replace(tests, columns=simultaneous), joint, critical


class _Pairs:
    """The pairs that are compared, cut into tasks."""

    def __init__(
        self,
        tests: PairTests,
        some_pairs: NDArray[np.int32] | None,
        options: Options,
        pool: ThreadPool,
        joint: Joint | None = None,
    ) -> None:
        self.tests, self.some_pairs, self.pool = tests, some_pairs, pool
        self.options, self.joint = options, joint
        self._whole: Block | None = None  # where all pairs are one tile
        self.n_models = m = tests.score.size
        self.n_pairs = m * (m - 1) // 2 if some_pairs is None else len(some_pairs)
        # A chosen pair is counted alone, and slower than in a tile.
        self._some = max(1, tests.side**2 // 4)
        self._side = tests.side
        self._here = tests.is_quick and self.n_pairs < _HANDED_OVER
        if pool.threads > 1 and not self._here:  # some rows of tiles for each
            rows = -(-m // (4 * pool.threads * TILE_ROWS))
            self._side = min(tests.side, max(rows * TILE_ROWS, 64 * tests.is_quick))
        self.tasks: Sequence[Task] = ()
        self._listed = some_pairs
        if some_pairs is None and 1 < m <= self._side:
            self.tasks = [(0, m, 0, m)]
            self._listed = all_pairs(m)
            self._whole = Block(slice(0, self.n_pairs), self._listed, (0, m, 0, m))
        elif some_pairs is None:
            self.tasks = [tile for tile in tiles_of(m, self._side) if count_pairs(tile)]
        if not self.tasks:
            self.tasks = parts(self.n_pairs, self._some)

    def fill(
        self,
        columns: Iterable[Any],
        find: Callable[[Block], Sequence[Any]],
        tasks: Sequence[Task],
        start: int = 0,
        steps: int | Callable[[Any], int] = count_pairs,
    ) -> None:
        """Write what is found of the pairs of each task into columns, which begin at `start`."""

        def work(task: Task) -> None:
            block = self._whole or block_of(task, self.n_models, self.some_pairs)
            where = block.where
            if isinstance(where, slice):
                where = slice(where.start - start, where.stop - start)
            elif start:
                where = where - start
            for column, values in zip(columns, find(block), strict=True):
                if column is not None:
                    column[where] = values

        self.pool.run(work, tasks, steps=steps, here=self._here)

    def pvalues(self) -> Floats:
        """The p-values of all pairs, and nothing more."""
        pvalues = np.empty(self.n_pairs)
        self.fill([pvalues], lambda block: [self.tests.pvalues(block)], self.tasks)
        return pvalues

    def standardized(self, joint: Joint) -> Floats:
        """The statistics of all pairs that draws have, and their scales, shape (2, P)."""
        assert joint.standardized is not None
        both = np.empty((2, self.n_pairs))
        self.fill(both, joint.standardized, self.tasks, steps=0)
        return both

    def test(self, tasks: Sequence[Task], start: int, end: int) -> PairColumns:
        """All that is found of the pairs from `start` to `end`."""
        size, exponent = end - start, self.tests.exponent
        columns = PairColumns(*np.empty((2, size), np.int64), *np.empty((5, size)))
        if self.tests.with_errors:
            columns = columns._replace(standard_error=np.empty(size))

        def scaled(block: Block) -> PairColumns:
            unscaled = self.tests.columns(block)
            low, high = (times(x, exponent) for x in (unscaled.low, unscaled.high))
            return unscaled._replace(
                difference=times(unscaled.difference, exponent), low=low, high=high
            )

        self.fill(columns, scaled if exponent else self.tests.columns, tasks, start)
        return columns

    def test_at(self, places: Ints) -> tuple[NDArray[np.int32], PairColumns]:
        """Some pairs, and all that is found of them."""
        pairs = self.pairs_at(places)
        some = _Pairs(self.tests, pairs, self.options, self.pool)
        return pairs, some.test(some.tasks, 0, len(pairs))

    def test_by_rows(self) -> Iterator[tuple[slice, PairColumns]]:
        """All that is found of all pairs, some rows of models at a time, in order."""
        if self.some_pairs is not None or self.n_models < 2:
            for span in parts(self.n_pairs, _SPAN):
                tasks = [
                    slice(span.start + part.start, span.start + part.stop)
                    for part in parts(span.stop - span.start, self._some)
                ]
                yield span, self.test(tasks, span.start, span.stop)
            return
        start = 0
        for i0 in range(0, self.n_models, self._side):
            tiles = [task for task in self.tasks if isinstance(task, tuple) and task[0] == i0]
            end = start + sum(map(count_pairs, tiles))
            yield slice(start, end), self.test(tiles, start, end)
            start = end

    def pairs_at(self, places: slice | Ints) -> NDArray[np.int32]:
        """The models of some pairs, shape (p, 2)."""
        if self._listed is not None:
            return self._listed[places]
        if isinstance(places, slice):
            if places.stop - places.start == self.n_pairs:
                return all_pairs(self.n_models)
            places = np.arange(places.start, places.stop)
        pairs = np.empty((places.size, 2), np.int32)

        def find(part: slice) -> None:
            pairs[part] = pairs_at(places[part], self.n_models)

        # In parts, so that an interrupt need not wait for millions of them.
        self.pool.run(find, parts(places.size, _SPAN), steps=0)
        return pairs

    def of_best(self, n_best: int) -> Ints:
        """The places of the pairs of the best models."""
        ranking = np.argsort(-self.options.gain * self.tests.score, kind="stable")
        best = np.sort(ranking[:n_best])
        if self.some_pairs is not None:
            return np.flatnonzero(np.isin(self.some_pairs, best).all(axis=1))
        return places_of(best[all_pairs(best.size)], self.n_models)

    def adjust(self, pvalues: Floats, *, in_place: bool = False) -> Floats:
        """P-values adjusted for all pairs; by draws none is below what it was."""
        method, joint = self.options.adjust, self.joint
        if joint is None:
            return adjust_checked(pvalues, method, in_place=in_place)
        statistic, inverse = self.standardized(joint)
        statistic[np.isnan(pvalues)] = np.nan
        pairs, down = self.pairs_at(slice(0, self.n_pairs)), method == "maxt"
        adjusted = joint_pvalues(joint, pairs, statistic, inverse, self.pool, down=down)
        return np.maximum(adjusted, pvalues)

    def decide(self, pvalues: Floats, significant: Flags) -> NDArray[np.int8]:
        """The decisions as a matrix of models; `pvalues`, adjusted or not, tell what has none."""
        tests, gain = self.tests, self.options.gain
        if self.some_pairs is None and tests.difference is None and self.n_models > _FEW:
            score = tests.score if tests.ranking is None else tests.ranking
            decisions = decisions_of_all(significant, gain * score)
        else:
            pairs = self.pairs_at(slice(0, self.n_pairs))
            difference = gain * tests.differences(pairs)
            decisions = decisions_of(self.n_models, pairs, significant, difference)
        if np.isnan(pvalues.max()):  # a test without an answer says nothing
            i, j = self.pairs_at(np.flatnonzero(np.isnan(pvalues))).T
            decisions[i, j] = decisions[j, i] = UNTESTED
        return decisions


# A test of pairs of models, as the engine runs it.


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTests:
    """One test of pairs of models on given data; threads may share it."""

    n_samples: int
    #: Rightly classified samples of each model, shape (M,); None where values are
    #: compared.
    correct: Ints | None
    #: What the models are ranked by, shape (M,). The `difference` of a pair is that of
    #: its scores.
    score: Floats
    #: Interval for each score alone, shape (M, 2).
    score_interval: Floats
    #: Reference distribution of the statistic, and its degrees of freedom.
    distribution: str
    df: Any
    #: Models of a side of a tile at most, a multiple of `kernels.TILE_ROWS`.
    side: int
    #: P-values of the pairs of a block, and nothing more.
    pvalues: Callable[[Block], Floats]
    #: All that a record holds of the pairs of a block.
    columns: Callable[[Block], PairColumns]
    #: Whether a pair takes some microseconds at most: handing over a few takes longer.
    is_quick: bool = False
    #: Whether the columns have standard errors.
    with_errors: bool = False
    #: By what differences are decided, shape (M,), where the scores have lost digits.
    ranking: Floats | None = None
    #: Difference of each of some pairs, shape (p, 2), where it is not that of the
    #: scores: each pair has samples of its own.
    difference: Callable[[NDArray[np.int32]], Floats] | None = None
    #: What else a record holds of some pairs, by the names of its fields.
    details: Callable[[NDArray[np.int32], PairColumns], dict[str, Any]] | None = None
    #: How differences vary, for intervals that hold at once; None where no normal
    #: numbers of the models do.
    spread: Spread | None = None
    #: Least and largest difference.
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: Tests of all pairs of a record against a margin, where standard errors are no guide.
    margins: Callable[[Any, MarginOptions], MarginTests] | None = None
    #: Values were divided by 2**exponent: differences, intervals and scores are
    #: multiplied by it where they are kept.
    exponent: int = 0
    #: Differences by unit of the pairs of a block, over the largest that there may be
    #: (`limits`): by them margins are tested; None: by `spread`.
    bounded: Callable[[Block], BoundedUnits] | None = None
    #: Where p-values follow from two counts, these.
    cells: PairCells | None = None
    #: Makes draws of all models as if they were equal; None: normal ones, by `spread`.
    flips: Callable[[Draws, ThreadPool], Joint] | None = None

    def differences(self, pairs: Pairs) -> Floats:
        """The difference of each of some pairs, shape (p, 2)."""
        if self.difference is not None:
            return self.difference(pairs)
        score = self.score if self.ranking is None else self.ranking
        i, j = pairs.T
        difference: Floats = score[i] - score[j]
        return difference


# Files of pairs: a ``.npy`` file that can be mapped into memory, or a ``.parquet`` table.


#: Adds the next pairs: their models, what was found, adjusted p-values, significance.
Write = Callable[[NDArray[np.int32], PairColumns, Floats, Flags], None]

#: One row of a ``.npy`` file.
_FILE_ROW = np.dtype(
    [
        ("models", np.int32, 2),
        ("only_a", np.int64),
        ("only_b", np.int64),
        ("difference", np.float64),
        ("low", np.float64),
        ("high", np.float64),
        ("statistic", np.float64),
        ("pvalue", np.float64),
        ("pvalue_adjusted", np.float64),
        ("significant", np.bool_),
    ]
)
#: The columns that a file has; those that only some tests give it has not.
_COLUMNS = [name for name in PairColumns._fields if name in (_FILE_ROW.names or ())]


@contextmanager
def open_table(path: Path, names: tuple[str, ...], n_pairs: int) -> Iterator[Write]:
    """A function that writes pairs to a file, which appears when all is written.

    A ``.npy`` file has one row a pair; a ``.parquet`` file is a table as
    `PairwiseResult.to_frame` gives it, and needs pyarrow, or there is an ImportError.
    """
    if path.suffix == ".npy":
        with replacing(path) as file:
            header = {
                "descr": np.lib.format.dtype_to_descr(_FILE_ROW),
                "fortran_order": False,
                "shape": (n_pairs,),
            }
            np.lib.format.write_array_header_2_0(file, header)

            def write_rows(
                pairs: Pairs, columns: PairColumns, adjusted: Floats, significant: Flags
            ) -> None:
                # Written, not mapped: a mapped file on a full disk would end the process.
                rows = np.empty(len(pairs), _FILE_ROW)
                rows["models"], rows["pvalue_adjusted"] = pairs, adjusted
                rows["significant"] = significant
                for name in _COLUMNS:
                    rows[name] = getattr(columns, name)
                file.write(rows.data)

            yield write_rows
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError(f"writing {path} needs pyarrow: pip install 'fastcmp[cli]'") from None
    labels, writer = pa.array(names), None
    with replacing(path) as file:

        def write_table(
            pairs: Pairs, columns: PairColumns, adjusted: Floats, significant: Flags
        ) -> None:
            nonlocal writer
            coded = pa.DictionaryArray.from_arrays
            a, b = (coded(np.ascontiguousarray(i), labels) for i in pairs.T)
            numbers = {name: getattr(columns, name) for name in _COLUMNS}
            more = {"pvalue_adjusted": adjusted, "significant": significant}
            table = pa.table({"model_a": a, "model_b": b, **numbers, **more})
            if writer is None:
                writer = pq.ParquetWriter(file, table.schema)
            writer.write_table(table)

        yield write_table
        if writer is not None:  # after an error there is no file to end
            writer.close()


def read_table(path: Path) -> tuple[NDArray[np.int32], PairColumns, Floats]:
    """Pairs, columns and adjusted p-values of a file, mapped; none of a ``.parquet`` file."""
    rows = np.load(path, mmap_mode="r") if path.suffix == ".npy" else np.empty(0, _FILE_ROW)
    columns = PairColumns(*(np.asarray(rows[name]) for name in _COLUMNS))
    return np.asarray(rows["models"]), columns, np.asarray(rows["pvalue_adjusted"])
