"""The values of a comparison of means, its options, and how items belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import Draws, as_flag, as_resamples, as_seed, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import times
from fastcmp.core.render import visible
from fastcmp.core.threads import ThreadPool, check_memory, parts
from fastcmp.core.typing import Flags, Floats, Pairs, Seed
from fastcmp.counts.pairs import Block, PairColumns, RightBits
from fastcmp.counts.units import DEGREES, VARIANCES, UnitPlan, item_factor, plan_units
from fastcmp.counts.value_sums import MeanEstimate, difference_of, pair_moments, unit_sums
from fastcmp.inputs.item_groups import ItemGroups, read_item_groups
from fastcmp.inputs.model_names import named_columns, with_index, with_names
from fastcmp.inputs.values import POLICIES, ItemTable, Values, read_values
from fastcmp.items.bootstrap import SIDE, UnitDraws
from fastcmp.items.components import VarianceComponents, variance_components
from fastcmp.items.repeats import (
    REPEATS,
    as_floats,
    check_k,
    count_answers,
    mean_of_answers,
    pass_values,
    settle_missing,
    side_by_side,
)
from fastcmp.items.sign_flips import SignFlips, read_units
from fastcmp.items.signed_rank import RankOptions, signed_rank_tests
from fastcmp.kernels.bits import allocate_words, pack_equal
from fastcmp.paired.margins import BoundedUnits
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.joint_draws import Joint, row_flips
from fastcmp.pairwise.mean_tests import (
    PairMeans,
    assemble_tests,
    bit_tests,
    mean_intervals,
    moment_tests,
)
from fastcmp.pairwise.slice_sums import Items as SlicedItems

METHODS = ("t", "permutation", "bootstrap", "wilcoxon")
#: Kinds of intervals that a method offers; the first is the default.
INTERVALS: dict[str, tuple[str | None, ...]] = {
    "bootstrap": ("studentized", "percentile", "bca", "basic"),
    "wilcoxon": (None, "hodges-lehmann"),
}


@dataclass(slots=True, kw_only=True)
class MeanOptions:
    """How means are compared; checked."""

    method: str = "t"
    #: None for CR2, or CR1 where clusters lie across strata.
    variance: str | None = None
    df: str = "satterthwaite"
    studentized: bool = False
    #: None where the method has one kind only.
    interval: str | None = None
    repeats: str = "mean"
    k: int | None = None
    average: str = "items"
    missing: str = "raise"
    lower_is_better: bool = False
    n_resamples: int = 9999
    rng: InitVar[Any] = None
    seed: int = field(init=False)

    def __post_init__(self, rng: Seed) -> None:
        """Check all options."""
        self.method = method = choose(self.method, "method", METHODS)
        self.studentized = as_flag(self.studentized, "studentized")
        self.lower_is_better = as_flag(self.lower_is_better, "lower_is_better")
        if self.studentized and method != "permutation":
            raise BadValueError("`studentized=True` needs `method='permutation'`", repr(method))
        self.missing = choose(self.missing, "missing", POLICIES)
        if self.missing == "pairwise" and method != "t":
            raise BadValueError("`missing='pairwise'` needs `method='t'`", repr(method))
        self.repeats = choose(self.repeats, "repeats", REPEATS)
        check_k(self.repeats, self.k)
        self.variance = choose(self.variance, "variance", (None, *VARIANCES))
        self.df = choose(self.df, "df", DEGREES)
        kinds = INTERVALS.get(method, (None,))
        if self.interval is None:
            self.interval = kinds[0]
        elif kinds == (None,):
            raise BadValueError(
                f"`interval={self.interval!r}` needs `method='bootstrap'` or 'wilcoxon'",
                f"`method={method!r}`, which has one kind only",
            )
        else:
            self.interval = choose(self.interval, "interval", [x for x in kinds if x is not None])
        self.average = choose(self.average, "average", ("items", "clusters"))
        self.n_resamples = as_resamples(self.n_resamples)
        # Beside a t test signs are flipped, always the same ones unless asked for.
        self.seed = as_seed(0 if rng is None and method in ("t", "wilcoxon") else rng)

    @property
    def measure(self) -> str:
        """What is compared, by name."""
        return "mean loss" if self.lower_is_better else "mean"

    def check_items(self, groups: object, strata: object, weights: object) -> None:
        """Refuse what a method, or an average, cannot take into account of the items."""
        item_columns = {"strata": strata, "weights": weights, "groups": groups}
        names = [name for name, x in item_columns.items() if x is not None]
        if self.average == "clusters" and names != ["groups"]:
            raise BadValueError("`average='clusters'` needs groups, and no strata or weights")
        if self.method == "wilcoxon" and names:
            raise BadValueError(
                f"`method='wilcoxon'` takes no {' and '.join(names)}: signed_rank takes "
                "groups, and `method='t'` all of them"
            )

    def refuse_slices(self, **item_columns: object) -> None:
        """Refuse what differences within slices do not take into account."""
        unfit = {
            "method": self.method != "t",
            "missing": self.missing == "pairwise",
            "average": self.average == "clusters",
        }
        names = [name for name, value in item_columns.items() if value is not None]
        if names := names + [name for name, unusual in unfit.items() if unusual]:
            raise BadValueError(
                f"`slices=` are compared by paired t tests of their items, not with `{names[0]}=`",
                remedy=f": leave `{names[0]}=` out, or pass the items of each slice alone",
            )


class MeanData(NamedTuple):
    """Values, read and checked, and how items make up units."""

    values: Values
    groups: ItemGroups
    plan: UnitPlan
    #: Parts of the variance, where each of independent items was asked several times.
    components: VarianceComponents | None

    def fields(self, options: MeanOptions) -> dict[str, Any]:
        """What records say of items, clusters, strata and missing values."""
        clusters, strata = self.groups.clusters, self.groups.strata
        return {
            "n_clusters": None if clusters is None else len(clusters.labels),
            "n_strata": None if strata is None else len(strata.labels),
            "variance": options.variance or ("cr2" if self.plan.across is None else "cr1"),
            "interval_method": options.interval,
            "studentized": options.studentized,
            "missing": options.missing,
            "n_missing_values": self.values.n_missing,
            "n_dropped": self.values.n_dropped,
            "variance_components": self.components,
        }

    def sliced(self) -> SlicedItems:
        """Values of items for slices."""
        values = self.values
        matrix = np.stack(values.columns) if values.matrix is None else values.matrix
        clusters = self.groups.clusters
        return SlicedItems(values.names, matrix, values.binary, clusters, values.exponent)


def read_data(
    values: object,
    options: MeanOptions,
    *,
    names: object = None,
    groups: object = None,
    strata: object = None,
    stratum_weights: object = "items",
    weights: object = None,
    run: Callable[[Callable[[slice], None], Sequence[slice]], None] | None = None,
) -> MeanData:
    """Checked values and the groups of their items; `run` does tasks, perhaps at once."""
    labels = None
    if isinstance(values, ItemTable):
        labels = values.items
        groups = values.groups if groups is None else groups
        strata = values.strata if strata is None else strata
        weights = values.weights if weights is None else weights
    options.check_items(groups, strata, weights)
    columns, answers, n_missing = _one_an_item(values, options)
    read = read_values(with_names(columns, names, "values"), options.missing, run=run, items=labels)
    if options.missing == "wrong" and np.any(n_missing):
        lacking = np.add(n_missing, read.n_missing or 0)
        read = replace(read, n_missing=tuple(map(int, lacking)))
    item_groups = read_item_groups(
        read.n_items + read.n_dropped,
        groups=groups,
        strata=strata,
        stratum_weights=stratum_weights,
        weights=weights,
        keep=read.kept,
        indexed=with_index(values),
    )
    if options.average == "clusters":  # the mean of each is one value, and all count the same
        assert item_groups.clusters is not None
        if read.present is not None:
            raise BadValueError(
                "`average='clusters'` needs a value for each item: `missing='common'`"
            )
        codes = item_groups.clusters.codes
        sizes = np.bincount(codes)
        means = tuple(np.bincount(codes, column) / sizes for column in read.columns)
        read, item_groups = (
            replace(read, columns=means, matrix=None, binary=False),
            read_item_groups(sizes.size),
        )
    if options.method != "t" and item_groups.crossed:
        raise BadValueError(
            f"`method={options.method!r}` needs clusters within strata; `method='t'` does not"
        )
    components = None
    if answers is not None:
        if item_groups.plain:  # of independent items that count alike
            components = _components(answers, read, options)
        if np.isin(answers[~np.isnan(answers)], (0.0, 1.0)).all():
            read = replace(read, bounded=True)
    plan = plan_units(item_groups, options.variance, options.df)
    return MeanData(read, item_groups, plan, components)


def _components(answers: Floats, read: Values, options: MeanOptions) -> VarianceComponents | None:
    """Parts of the variance where each model answered each item at least twice, else None."""
    if read.kept is not None:
        answers = answers[:, read.kept]
    least = int(count_answers(answers).min())
    if least < 2 or (options.k is not None and least < 2 * options.k):
        return None
    return variance_components(answers, names=read.names, repeats=options.repeats, k=options.k)


def _one_an_item(values: object, options: MeanOptions) -> tuple[Any, Any, Any]:
    """One value for each item, its answers, and how many of each model are missing."""
    names: Sequence[str] | None = None
    answers = n_answers = None
    columns = values
    if isinstance(values, ItemTable):
        columns = dict(zip(values.names, values.values, strict=True))
        if values.n_answers is not None:
            names, answers, n_answers = values.names, values.values, values.n_answers
    elif (isinstance(values, (dict, Mapping)) and any(map(_is_table, values.values()))) or (
        isinstance(values, (list, tuple)) and any(map(_is_table, values[:1]))
    ):
        named = dict(named_columns(values, "values"))
        tables = {name: as_floats(raw, visible(name)) for name, raw in named.items()}
        names, answers = tuple(named), side_by_side(tables)
        widths = [table.shape[1] for table in tables.values()]
        n_answers = np.repeat(np.array(widths)[:, None], answers.shape[1], axis=1)
    elif getattr(values, "ndim", 2) == 3:
        answers = as_floats(values, "values")
        n_answers = np.full(answers.shape[:2], answers.shape[2])
    if answers is None:
        if options.repeats != "mean":
            raise BadValueError(
                f"`repeats={options.repeats!r}` needs several answers an item: values of shape "
                "(M, n, R), or a table of from_long with `repeat=`"
            )
        return columns, None, 0
    assert n_answers is not None
    answers, n_missing = settle_missing(answers, n_answers, options.missing)
    way, k = options.repeats, options.k
    reduced: Any = mean_of_answers(answers) if k is None else pass_values(way, answers, k, names)[0]
    if names is not None:
        reduced = dict(zip(names, reduced, strict=True))
    return reduced, answers, n_missing


def _is_table(raw: Any) -> bool:
    """Whether there are several answers to each item, also in ragged lists."""
    if type(raw) is np.ndarray:
        return raw.ndim == 2
    with suppress(ValueError):
        return np.ndim(raw) == 2
    return True


def bounded_units(difference: NDArray[Any], plan: UnitPlan) -> BoundedUnits:
    """Sums of the differences of items, between -1 and 1, by unit; shape (J,)."""
    weighted = difference if plan.weights is None else difference * plan.weights
    scales = np.concatenate([np.full(x.sizes.size, x.scale) for x in plan.strata])
    weight = scales * np.concatenate([x.sizes for x in plan.strata])
    gain: Floats = scales * np.bincount(plan.codes, weighted, scales.size)
    if plan.across is not None:
        gain, weight = (np.bincount(plan.across, x).astype(np.float64) for x in (gain, weight))
    return BoundedUnits(gain, weight)


def exact_units(difference: Floats, plan: UnitPlan) -> float:
    """Number of the units of differences that are all above, or all below 0; NaN for others.

    No flip of their signs but that of all is as extreme.
    """
    gain, weight, _ = bounded_units(difference, plan)
    signs = np.sign(gain[weight > 0.0])
    return float(signs.size) if abs(signs.sum()) == signs.size else np.nan


# Pairs of models on the items that both have a value for.


_LOST = 1e-6  # of the squares: what a small difference of them is not worth


def _by_products(data: MeanData, options: MeanOptions, table_of_pairs: Floats) -> None:
    """Fill in all pairs by four matrix products; NaN where digits are lost."""
    values = data.values
    assert values.present is not None
    mask = values.present.astype(np.float64)
    table = np.stack([column.astype(np.float64) for column in values.columns])
    table[~values.present] = 0.0
    # What the models that are there have in common is taken from each item.
    table -= table.sum(axis=0) / np.maximum(mask.sum(axis=0), 1.0)
    table *= mask
    n = mask @ mask.T
    sums = table @ mask.T
    sums -= sums.T
    squares = (table**2) @ mask.T
    squares += squares.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - 2.0 * table @ table.T - sums**2 / n
        variance = spread * item_factor(options.variance, n) / n**2
        table_of_pairs[0] = sums / n
        table_of_pairs[1] = np.where((n > 1) & (spread > _LOST * squares), variance, np.nan)
    table_of_pairs[2], table_of_pairs[3] = n - 1.0, n


def _plan_on(data: MeanData, options: MeanOptions, items: Flags) -> UnitPlan | None:
    """Some items sorted into units; None where they are too few."""
    groups = data.groups
    strata, clusters = groups.strata, groups.clusters
    weights: Any = "items"
    if strata is not None:
        weights = dict(enumerate(groups.stratum_weights))
    try:
        if np.count_nonzero(items) < 2:
            return None
        item_groups = read_item_groups(
            groups.n_items,
            groups=None if clusters is None else clusters.codes,
            strata=None if strata is None else strata.codes,
            stratum_weights=weights,
            weights=groups.weights,
            keep=items,
        )
    except ValueError:  # one cluster, or a stratum without items of both
        return None
    # Clusters that lie across strata may lie within them on these items.
    variance = options.variance if data.plan.across is None else "cr1"
    return plan_units(item_groups, variance, options.df)


def pairwise_tests(
    data: MeanData, options: MeanOptions, level: float, pool: ThreadPool
) -> PairTests:
    """Tests of each pair on the items of both; all pairs are computed at once."""
    values, strata = data.values, data.groups.strata
    present, m = values.present, len(values.names)
    assert present is not None
    for name, has_item in zip(values.names, present, strict=True):
        if strata is None:
            break
        n_items = np.bincount(strata.codes[has_item], minlength=len(strata.labels))
        if not n_items.all():
            label = strata.labels[int(np.argmin(n_items))]
            raise BadValueError(
                f"`values` must have some of each model in each stratum, and {name} has none "
                f"in stratum {label!r}: leave out the model, or the stratum"
            )

    def on_items(
        items: Flags, a: NDArray[Any], b: NDArray[Any]
    ) -> tuple[MeanEstimate, Floats, UnitPlan | None]:
        """The difference on some items, NaN where they are too few, item by item, and units."""
        plan, d = _plan_on(data, options, items), a[items].astype(np.float64) - b[items]
        if plan is None:
            return MeanEstimate(np.nan, np.nan, np.nan), d, None
        return difference_of(a[items], b[items], plan), d, plan

    def of_pair(i: int, j: int) -> tuple[MeanEstimate, Floats, UnitPlan | None]:
        return on_items(present[i] & present[j], values.columns[i], values.columns[j])

    of_pairs = np.full((4, m, m), np.nan)  # difference, variance, d.o.f., items
    again = np.stack(np.triu_indices(m, 1), axis=1)
    if data.groups.plain:
        _by_products(data, options, of_pairs)
        again = again[np.isnan(of_pairs[1][tuple(again.T)])]

    def look(part: slice) -> None:
        for i, j in again[part].tolist():
            one, difference, _ = of_pair(i, j)
            of_pairs[:, i, j] = of_pairs[:, j, i] = *one, difference.size
            of_pairs[0, j, i] = -one.difference

    pool.run(look, parts(len(again), 64), steps=0)
    if options.df == "normal":
        of_pairs[2] = np.inf
    alone, ends = np.empty(m), np.empty((m, 2))
    for i, column in enumerate(values.columns):
        estimate, of_model, _ = on_items(present[i], column, np.zeros_like(column))
        alone[i], n = estimate.difference, of_model.size
        sizes = (n, min(n, data.plan.n_units)) if values.bounded else None
        mean, variance = np.array([estimate.difference]), np.array([estimate.variance])
        ends[i] = mean_intervals(mean, variance, estimate.df, level, sizes)[0]

    def bounded(block: Block) -> BoundedUnits:
        rows = np.zeros((2, len(block.pairs), values.n_items))
        for k, (i, j) in enumerate(block.pairs.tolist()):
            _, difference, plan = of_pair(i, j)
            if plan is not None:
                gain, weight, _ = bounded_units(difference, plan)
                rows[:, k, : gain.size] = gain, weight
        return BoundedUnits(*rows)

    def means(block: Block) -> PairMeans:
        i, j = block.pairs.T
        return PairMeans(*(np.ascontiguousarray(x[i, j]) for x in of_pairs[:3]))

    def exact(i: int, j: int) -> float:
        _, difference, plan = of_pair(i, j)
        assert plan is not None
        return exact_units(difference, plan)

    df = np.inf if options.df == "normal" else None
    tests = assemble_tests(
        *(values.n_items, alone, ends, means, level),
        shared_df=df,
        exact=exact,
        bounded=bounded if values.bounded else None,
    )
    details = tests.details
    assert details is not None

    def more(pairs: Pairs, columns: PairColumns) -> dict[str, Any]:
        n_items = np.nan_to_num(of_pairs[3][tuple(pairs.T)]).astype(np.int64)
        return {**details(pairs, columns), "n_items_of_pairs": n_items}

    return replace(
        tests,
        difference=lambda pairs: of_pairs[0][tuple(pairs.T)],
        details=more,
        exponent=values.exponent,
        spread=None,  # of each pair on samples of its own
    )


# The tests of pairs of means, method by method, as the engine runs them.


_PACKED = 1 << 22  # values that one task packs


def mean_tests(data: MeanData, options: MeanOptions, level: float, pool: ThreadPool) -> PairTests:
    """The tests of all pairs of models."""
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

    def flips(draws: Draws, pool: ThreadPool) -> Joint:
        """Flip the signs of items or clusters, the same for all models."""
        size, n_models = 24.0 * len(values.names) * plan.n_units, len(values.names)
        check_memory(size, None, f"sign flips of {n_models} models", "compare fewer models")
        return row_flips(read_units(unit_sums(values, plan, pool)).values, draws, pool)

    if plan.across is None:  # clusters across strata are no units that signs have
        base = replace(base, flips=flips)
    if options.method == "t":
        return base
    if options.method == "wilcoxon":
        table = np.stack([column.astype(np.float64) for column in values.columns])
        usual = RankOptions(zero_method="wilcox", method="auto", continuity=False)
        return signed_rank_tests(table, base, usual, level=level if options.interval else None)
    units = unit_sums(values, plan, pool)
    draws: dict[str, Any] = {"n_resamples": options.n_resamples, "seed": options.seed}
    drawn: SignFlips | UnitDraws
    if options.method == "permutation":
        drawn = SignFlips(units, level, pool, studentized=options.studentized, **draws)
    else:
        drawn = UnitDraws(units, level, pool, interval=str(options.interval), **draws)
        base = replace(base, side=SIDE)

    def columns(block: Block) -> PairColumns:
        statistic, pvalue, low, high = drawn.evaluate(block.pairs)[0].T
        if options.method == "permutation" and not options.studentized:  # the difference itself
            statistic = times(statistic, base.exponent)
        nothing, difference = np.full(pvalue.size, -1), base.differences(block.pairs)
        return PairColumns(nothing, nothing, difference, low, high, statistic, pvalue)

    return replace(
        base,
        columns=columns,
        with_errors=False,
        pvalues=lambda block: drawn.pvalues(block.pairs),
        distribution=options.method,
        df=None,
    )


def pack_right(values: Values, pool: ThreadPool) -> RightBits:
    """Values that are 0 or 1 as bits, a row for each model."""
    m, n = len(values.names), values.n_items
    words = allocate_words(m, n)
    correct = np.empty(m, np.int64)
    ones = np.ones(n, np.uint8)

    def pack(part: slice) -> None:
        for i in range(part.start, part.stop):
            column = values.columns[i].astype(np.uint8, copy=False)
            correct[i] = pack_equal(ones, column, words[i])

    pool.run(pack, parts(m, max(1, _PACKED // n)), steps=0, here=m * n < 1 << 14)
    return RightBits(words, correct)
