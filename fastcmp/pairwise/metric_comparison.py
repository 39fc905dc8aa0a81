"""Many models by a metric of counts: tests of pairs, and the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import Draws
from fastcmp.core.records import LabelledCounts
from fastcmp.core.sections import Column, Section
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.pairs import Block, places_of
from fastcmp.inputs.item_groups import ItemGroups
from fastcmp.inputs.labels import Labels
from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.metrics.cells import Cells, gather_cells
from fastcmp.metrics.intervals import distances_apart, few_samples
from fastcmp.metrics.margins import bounded_draws, margin_test, paired_counts, stacked_margins
from fastcmp.metrics.pairs import pair_of
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import MarginOptions, accuracy_margins
from fastcmp.paired.units import Sampling, cluster_cautions, units_of
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.metric_models import (
    Counted,
    MetricClasses,
    MetricModels,
    bind,
    metric_samples,
    read_models,
)
from fastcmp.pairwise.metric_tests import (
    SIDE,
    Bootstrap,
    CellsOf,
    Differences,
    MetricUnits,
    PairSums,
    Spread,
    WithoutVariance,
    cells_of_samples,
    metric_tests,
    permutation_test,
    places_of_classes,
    pooled_test,
    single_samples,
    spread_of,
    spread_of_cells,
    sums_of,
    sums_of_cells,
    with_units,
)
from fastcmp.pairwise.result import PairwiseResult

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COUNTED = 1 << 20  # cells of the counts of a tile


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCounts(Counted):
    """Samples of each two models by true class and both predictions."""

    source: LabelledCounts

    def counts(self, i: int) -> Ints:
        """Count the samples of a model, ``[stratum, true, predicted]``."""
        # Each model is the first or the second of some pair.
        other = 1 if i == 0 else 0
        codes, samples = self.cells(i, other)
        table = np.zeros((1, self.n_codes, self.n_codes), np.int64)
        np.add.at(table[0], (codes[:, 0], codes[:, 1]), samples)
        return table

    def cells(self, i: int, j: int) -> tuple[Ints, Ints]:
        """List the cells of two models in this order: codes (C, 3), and samples."""
        pair = np.array([(min(i, j), max(i, j))])
        codes, samples = self.source.cells(int(places_of(pair, self.n_models)[0]))
        return (codes if i < j else codes[:, [0, 2, 1]]), samples

    def tensors(self, block: Block) -> Ints:
        """All cells of the pairs of a block, ``[p, t, a, b]``."""
        places = places_of(np.sort(block.pairs, axis=1), self.n_models)
        tensors: Ints = self.source.counts[places]
        turned = block.pairs[:, 0] > block.pairs[:, 1]
        tensors[turned] = tensors[turned].transpose(0, 1, 3, 2)
        return tensors

    @property
    def side(self) -> int:
        """Models of a side of a tile, at most."""
        fitting = int((_COUNTED / self.n_codes**3) ** 0.5) // TILE_ROWS * TILE_ROWS
        return min(SIDE, max(TILE_ROWS, fitting))


def metric_counts(counts: LabelledCounts, metric: Metric) -> MetricCounts:
    """Bind a metric to the classes of a stream."""
    found = tuple(counts.classes)
    return MetricCounts(
        metric=bind(metric, found, range(len(found)), None),
        n_codes=len(found),
        n_models=len(counts.names or ()),
        n_samples=counts.n_samples,
        weights=np.ones(1),
        source=counts,
    )


def spread_of_counts(counts: MetricCounts, models: MetricModels) -> Spread:
    """Find variances from the counts of pairs."""
    assert models.lookups is not None
    lookups = np.where(np.isnan(models.lookups), 0.0, models.lookups)
    if counts.source.is_dense:
        return spread_of_cells(lookups, counts.tensors, counts.side)

    def spread(block: Block) -> tuple[Floats, Any]:
        found = np.array(
            [_compared(counts, i, j, lookups[i], lookups[j]) for i, j in block.pairs]
        ).reshape(-1, 3)
        return found[:, 2].copy(), found[:, 0] == 0

    return Spread(spread)


def sums_of_counts(counts: MetricCounts) -> PairSums:
    """Add up over the cells of pairs."""
    if counts.source.is_dense:
        return sums_of_cells(counts.tensors, counts.side)

    def of(block: Block) -> Callable[[slice, Floats], Floats]:
        def add(span: slice, psi: Floats) -> Floats:
            pairs = zip(block.pairs[span], psi, strict=True)
            found = [_compared(counts, i, j, own, own) for (i, j), own in pairs]
            return np.array(found).reshape(-1, 3)

        return add

    return PairSums(of)


def _compared(
    counts: MetricCounts, i: int, j: int, of_a: Floats, of_b: Floats
) -> tuple[float, float, float]:
    """Compare the influences of two models over the cells that hold samples."""
    codes, samples = counts.cells(int(i), int(j))
    t, a, b = codes.T
    difference = of_a[t, a] - of_b[t, b]
    differ = float(samples[a != b].sum())
    return differ, float(samples @ difference), float(samples @ difference**2)


def cells_of_counts(counts: MetricCounts) -> CellsOf:
    """List the cells of a pair in the order of the metric."""
    place, k = places_of_classes(counts), counts.metric.codes.size

    def cells(i: int, j: int) -> Cells:
        codes, samples = counts.cells(i, j)
        return gather_cells(place[codes], samples, k)

    return cells


# What to beware of where many models are compared by a metric of counts.


_NAMED = 4


def cautions_of(
    metric: MetricClasses, models: MetricModels, names: Sequence[str]
) -> tuple[str, ...]:
    """List what follows from the classes, and from single models."""
    few = np.diag(models.sizes[: len(metric.classes)])
    return (
        *_undefined(metric, models, names),
        *_differing(metric, models, names),
        *_conventions(metric, models, names),
        *distances_apart(
            metric.estimator,
            [] if models.tables is None else list(models.tables),
            names,
            metric.classes,
        ),
        *few_samples(few, metric.classes),
    )


def _undefined(metric: MetricClasses, models: MetricModels, names: Sequence[str]) -> list[str]:
    """Say which models have no value, or no standard error."""
    title, found = metric.estimator.title, []
    without = np.isnan(models.value)
    if without.any():
        found.append(
            f"{title} is not defined for {_named(names, without)}: their pairs are not tested."
        )
    without = ~np.isnan(models.value) & np.isnan(models.standard_error)
    if without.any():
        found.append(
            f"{title} is not defined without some single sample for "
            f"{_named(names, without)}: the jackknife has no standard error, and their "
            "pairs are not tested; method='delta' has one."
        )
    return found


def _differing(metric: MetricClasses, models: MetricModels, names: Sequence[str]) -> list[str]:
    """Say that models are averaged over different classes."""
    flags = models.averaged
    some, all_of = flags.any(axis=0), flags.all(axis=0)
    apart = np.flatnonzero(some & ~all_of)
    if not apart.size:
        return []
    more = np.flatnonzero(flags[:, apart].any(axis=1))
    shown = _listed(str(metric.classes[k]) for k in apart)
    with_them = np.zeros(len(names), np.bool_)
    with_them[more] = True
    return [
        f"{metric.estimator.title} is not over the same classes for all models: only "
        f"for {_named(names, with_them)} also over {shown}. make_metric(..., "
        "labels='truth'), or a list, averages all over the same."
    ]


def _conventions(metric: MetricClasses, models: MetricModels, names: Sequence[str]) -> list[str]:
    """Say where a rate is 0/0, and what it was taken for."""
    marked = np.asarray(models.without.any(axis=1))
    if not marked.any():
        return []
    classes = np.flatnonzero(models.without.any(axis=0))
    shown = _listed(str(metric.classes[k]) for k in classes)
    return [
        f"{metric.estimator.title} of {_named(names, marked)}: 0/0 for class {shown}, "
        "taken as zero_division says."
    ]


def _named(names: Sequence[str], marks: NDArray[np.bool_]) -> str:
    return _listed(names[i] for i in np.flatnonzero(marks).tolist())


def _listed(names: Iterable[str]) -> str:
    known: list[Any] = list(names)
    rest = len(known) - _NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(known[:_NAMED]) + more


# The record of many models compared by a metric of counts.


_TESTS = {
    "jackknife": "test of the difference, standard errors by the jackknife",
    "delta": "test of the difference, standard errors by the delta method",
    "pooled": "z test by the influence of each cell at the counts of both models",
    "permutation": "permutation test",
    "bootstrap": "bootstrap",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MetricsResult(PairwiseResult):
    """Many models compared in pairs by a metric of their confusion matrices.

    A `PairwiseResult`: `score` holds the metric of each model, NaN where it is not
    defined; pairs of such a model are not tested. `only_a`, `only_b` and `correct` are
    None. `measure` is the metric as it is shown.
    """

    #: Its name, such as "f1_macro".
    metric: str
    lower_is_better: bool = False
    #: The least and the largest value that it can take.
    limits: tuple[float, float] = (-math.inf, math.inf)
    #: How the intervals of single models were made, such as "jackknife, logit".
    interval_method: str = ""
    #: Of each difference, shape (P,): by the jackknife or the delta method; by the
    #: bootstrap where pairs are compared by it.
    standard_error: NDArray[np.float64]
    #: The label of each class.
    classes: tuple[Any, ...] = ()
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None

    _columns = (*PairwiseResult._columns, Column("standard_error"))
    _read = (
        *PairwiseResult._read,
        *("metric", "lower_is_better", "interval_method", "classes", "n_resamples", "seed"),
    )

    @property
    def less_is_better(self) -> bool:
        """Whether the better model has the lower metric."""
        return self.lower_is_better

    @property
    def any_size(self) -> bool:
        """Whether the metric may be of any size, not between -1 and 1."""
        return not (self.limits[0] >= -1.0 and self.limits[1] <= 1.0)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`.
        """
        sections = super().sections()
        if self.lower_is_better and self.control is None:
            first = sections[0]
            text = (*first.text, f"Less {self.measure} is better.")
            sections[0] = replace(first, text=text)
        return sections

    @property
    def _score_intervals(self) -> str:
        return self.interval_method

    @property
    def _each_pair(self) -> str:
        if self.n_resamples is not None:
            draws = f"{self.n_resamples} draws, seed {self.seed}"
            unit = "samples" if self.n_clusters is None else "clusters"
            if self.method == "bootstrap":
                return f"{_TESTS['bootstrap']} of {unit} ({draws}), percentile"
            return f"{_TESTS['permutation']} of {unit} (exact, or {draws})"
        if self.method == "pooled":
            return _TESTS["pooled"]
        return f"{self.distribution.replace('normal', 'z')} {_TESTS[self.method]}"


# Many models by a metric of counts: from labels to tests of pairs.


class MetricTests(NamedTuple):
    """Tests of pairs by a metric, and what a record says beside them."""

    tests: PairTests
    fields: Mapping[str, Any] = MappingProxyType({})
    #: Says what to beware of once the tests are done.
    afterwards: Callable[[], tuple[str, ...]] | None = None
    record: type[MetricsResult] = MetricsResult

    def of_record(self) -> dict[str, Any]:
        """What the record holds, by the names of its fields."""
        if self.afterwards is None:
            return dict(self.fields)
        cautions = (*self.fields["cautions"], *self.afterwards())
        return {**self.fields, "cautions": cautions}


class How(NamedTuple):
    """How models are compared."""

    metric: Metric
    method: str
    level: float
    #: Of permutation and bootstrap.
    draws: Draws | None
    classes: Sequence[Any] | None = None


class PairSource(NamedTuple):
    """Where what is known of pairs comes from."""

    spread: Spread
    #: Made ready only for tests that need it.
    sums: Callable[[], PairSums]
    cells: Callable[[], CellsOf]


def compare_labels(
    labels: Labels,
    y_true: Any,
    sampling: Sampling,
    how: How,
    chosen: NDArray[np.int32] | None,
    pool: ThreadPool,
) -> MetricTests:
    """Make the tests of pairs by their labels."""
    samples = metric_samples(labels, how.metric, how.classes, pool)
    units, of_samples = single_samples(samples.n_samples), dict[str, Any]()
    if not sampling.plain:
        found = sampling.read(y_true, labels)
        samples, units = with_units(samples, found)
        of_samples = fields_of_units(units, found)
    models = read_models(samples, units, how.method, how.level, pool)
    m = samples.n_models
    n_pairs = m * (m - 1) // 2 if chosen is None else len(chosen)
    source = PairSource(
        spread_of(samples, models, chosen, pool),
        lambda: sums_of(samples, n_pairs, pool),
        lambda: cells_of_samples(samples, units),
    )
    made = _tests(samples, models, source, how, units.df, labels.names)
    fields = fields_of(how, samples.metric, models) | of_samples
    cautions = (*of_samples.get("cautions", ()), *_cautions(samples, models, labels))
    return made._replace(fields=fields | {"cautions": cautions})


def compare_counts(counts: LabelledCounts, how: How, pool: ThreadPool) -> MetricTests:
    """Make the tests of pairs by counts that a stream has gathered."""
    samples = metric_counts(counts, how.metric)
    units = single_samples(samples.n_samples)
    models = read_models(samples, units, how.method, how.level, pool)
    source = PairSource(
        spread_of_counts(samples, models),
        lambda: sums_of_counts(samples),
        lambda: cells_of_counts(samples),
    )
    made = _tests(samples, models, source, how, units.df, tuple(counts.names or ()))
    fields = fields_of(how, samples.metric, models)
    cautions = _cautions(samples, models, counts)
    return made._replace(fields=fields | {"cautions": cautions})


def _cautions(samples: Counted, models: MetricModels, source: Any) -> tuple[str, ...]:
    return cautions_of(samples.metric, models, source.names)


def _tests(
    samples: Counted,
    models: MetricModels,
    source: PairSource,
    how: How,
    df: float,
    names: Sequence[str],
) -> MetricTests:
    """Make the tests of a method."""
    estimator, n, spread = samples.metric.estimator, samples.n_samples, source.spread
    exact = WithoutVariance(estimator, source.cells)
    test, distribution = None, "normal"
    if how.method == "pooled":
        sums = source.sums()
        spread = spread._replace(side=min(spread.side, sums.side))
        test = pooled_test(samples, models, sums)
    elif how.draws is not None:
        spread = spread._replace(side=TILE_ROWS)
        if how.method == "permutation":
            distribution = "permutation"
            test = permutation_test(estimator, source.cells(), how.draws)
    differences = Differences(models, estimator, spread, df, exact)
    tests = metric_tests(models, differences, n, how.level, test, distribution)
    cautions: Callable[[], tuple[str, ...]] = lambda: exact.cautions(names)  # noqa: E731
    if how.draws is not None and how.method == "bootstrap":
        bootstrap = Bootstrap(estimator, source.cells(), how.draws, how.level)
        tests, cautions = bootstrap.tests(tests), bootstrap.cautions

    def margins(result: Any, options: MarginOptions) -> MarginTests:
        """Test all pairs of a record against a margin."""
        cells_of, pairs = source.cells(), result.pairs.tolist()
        counts = [paired_counts(estimator, cells_of(i, j)) for i, j in pairs]
        if None not in counts:
            columns = np.array(counts).reshape(-1, 3).T
            shared = {"pvalue": result.pvalue_adjusted, "measure": estimator.title}
            return accuracy_margins((columns[0], columns[1], columns[2]), options, **shared)
        found = []
        for p, (i, j) in enumerate(pairs):
            pair = pair_of(estimator, cells_of(i, j))
            found.append(
                margin_test(
                    pair,
                    bounded_draws([estimator], pair.cells)[0],
                    options,
                    standard_error=float(result.standard_error[p]),
                    pvalue=float(result.pvalue_adjusted[p]),
                )
            )
        return stacked_margins(found, (len(found),))

    return MetricTests(replace(tests, margins=margins), afterwards=cautions)


def fields_of_units(units: MetricUnits, found: ItemGroups) -> dict[str, Any]:
    """What the record says of clusters and strata."""
    fields: dict[str, Any] = {}
    if found.strata is not None:
        fields["n_strata"] = units.sizes.size
    if found.clusters is not None:
        fields["n_clusters"] = units.n_clusters
        fields["cautions"] = cluster_cautions(units_of(found).units, "cr1")
    return fields


def fields_of(how: How, metric: MetricClasses, models: MetricModels) -> dict[str, Any]:
    """What the record says of the metric."""
    estimator = metric.estimator
    scale = f"{how.method}, {estimator.entry.scale}"
    return {
        "metric": estimator.name,
        "measure": estimator.title,
        "lower_is_better": estimator.entry.lower_is_better,
        "limits": estimator.entry.limits,
        "classes": metric.classes,
        "interval_method": "; ".join(models.interval_methods) or scale,
        "n_resamples": None if how.draws is None else how.draws.n,
        "seed": None if how.draws is None else how.draws.seed,
    }
