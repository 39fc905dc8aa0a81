"""The tests of pairs of means, method by method, as the engine runs them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step, parts
from fastcmp.counts.correct_bits import RightBits
from fastcmp.counts.value_sums import MeanEstimate, difference_of, pair_moments, unit_sums
from fastcmp.items.bootstrap import bootstrap_tests
from fastcmp.items.flipped_units import read_units
from fastcmp.items.mean_data import bounded_units, exact_units
from fastcmp.items.missing_pairs import pairwise_tests
from fastcmp.items.sign_flips import flip_tests
from fastcmp.items.signed_rank import RankOptions
from fastcmp.items.signed_rank_pairs import signed_rank_tests
from fastcmp.kernels.bits import allocate_words, pack_equal
from fastcmp.paired.bounded_margins import BoundedUnits
from fastcmp.pairwise.joint_draws import row_flips
from fastcmp.pairwise.mean_tests import bit_tests, moment_tests

if TYPE_CHECKING:
    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.item_units import UnitPlan
    from fastcmp.counts.pairs import Block
    from fastcmp.inputs.values import Values
    from fastcmp.items.mean_data import MeanData, MeanOptions
    from fastcmp.pairwise.joint_draws import Joint
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.pair_tests import PairTests

_PACKED = 1 << 22  # values that one task packs


def mean_tests(data: MeanData, options: MeanOptions, level: float, pool: ThreadPool) -> PairTests:
    """Make the tests of all pairs of models."""
    values, plan = data.values, data.plan
    if values.present is not None:
        return pairwise_tests(data, options, level, pool)
    if options.method == "t" and values.binary and plan.plain:
        df, factor = plan.shared_degrees, plan.strata[0].factors[0]
        bits = pack_right(values, pool)
        return bit_tests(bits, values.n_items, level, df, float(factor))

    def direct(i: int, j: int) -> MeanEstimate:
        return difference_of(values.columns[i], values.columns[j], plan)

    rows: list[Any] = []

    def bounded(block: Block) -> BoundedUnits:
        if not rows:  # of what each unit adds to the mean of each model
            units = [bounded_units(np.asarray(x, np.float64), plan) for x in values.columns]
            rows[:] = [np.stack([unit.gain for unit in units]), units[0].weight]
        i, j = block.pairs.T
        return BoundedUnits(rows[0][i] - rows[0][j], rows[1])

    def exact(i: int, j: int) -> float:
        return exact_units(values.columns[i].astype(np.float64) - values.columns[j], plan)

    base = moment_tests(
        pair_moments(values, plan, pool),
        level,
        direct,
        exact=exact,
        bounded=bounded if values.bounded else None,
    )
    base = replace(base, exponent=values.exponent)
    if plan.across is None:  # clusters across strata are no units that signs have
        base = replace(base, flips=partial(_flips, values, plan))
    if options.method == "t":
        return base
    if options.method == "wilcoxon":
        table = np.stack([column.astype(np.float64) for column in values.columns])
        usual = RankOptions(zero_method="wilcox", method="auto", continuity=False)
        return signed_rank_tests(table, base, usual, level=level if options.interval else None)
    units = unit_sums(values, plan, pool)
    n_resamples, seed = options.n_resamples, options.seed
    if options.method == "permutation":
        return flip_tests(
            units,
            base,
            studentized=options.studentized,
            n_resamples=n_resamples,
            seed=seed,
            level=level,
            pool=pool,
        )
    return bootstrap_tests(
        units,
        base,
        interval=str(options.interval),
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        pool=pool,
    )


def _flips(values: Values, plan: UnitPlan, draws: Draws, pool: ThreadPool) -> Joint:
    """Flip the signs of items or clusters, the same for all models."""
    check_memory(
        24.0 * len(values.names) * plan.n_units,
        None,
        f"sign flips of {len(values.names)} models",
        "compare fewer models",
    )
    return row_flips(read_units(unit_sums(values, plan, pool)).values, draws, pool)


def pack_right(values: Values, pool: ThreadPool) -> RightBits:
    """Pack values that are 0 or 1, a row of bits for each model."""
    m, n = len(values.names), values.n_items
    words = allocate_words(m, n)
    correct = np.empty(m, np.int64)
    ones = np.ones(n, np.uint8)

    def pack(part: slice) -> None:
        for i in range(part.start, part.stop):
            column = values.columns[i].astype(np.uint8, copy=False)
            correct[i] = pack_equal(ones, column, words[i])

    pool.run(pack, parts(m, max(1, _PACKED // n)), steps=no_step)
    return RightBits(words, correct)
