"""Many models by a metric of counts: from labels to tests of pairs."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.metrics.bounded_draws import bounded_draws
from fastcmp.metrics.margins import margin_test, stacked_margins
from fastcmp.metrics.pair_estimates import pair_of
from fastcmp.metrics.paired_recalls import paired_counts
from fastcmp.paired.accuracy_margins import accuracy_margins
from fastcmp.paired.clustered_result import cluster_cautions
from fastcmp.paired.sample_units import units_of
from fastcmp.pairwise.metric_cautions import cautions_of
from fastcmp.pairwise.metric_counts import (
    cells_of_counts,
    metric_counts,
    spread_of_counts,
    sums_of_counts,
)
from fastcmp.pairwise.metric_models import MetricModels, read_models
from fastcmp.pairwise.metric_pair_tests import (
    Bootstrap,
    WithoutVariance,
    cells_of_samples,
    permutation_test,
    pooled_test,
)
from fastcmp.pairwise.metric_samples import Counted, MetricClasses, metric_samples
from fastcmp.pairwise.metric_spread import PairSums, Spread, spread_of, sums_of
from fastcmp.pairwise.metric_tests import Differences, metric_tests
from fastcmp.pairwise.metric_units import MetricUnits, single_samples, with_units
from fastcmp.pairwise.metrics_result import MetricsResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fastcmp.core.protocols import LabelledCounts
    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.item_groups import ItemGroups
    from fastcmp.inputs.labels import Labels
    from fastcmp.metrics.choice import Metric
    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions
    from fastcmp.paired.sample_units import Sampling
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.metric_pair_tests import CellsOf
    from fastcmp.pairwise.pair_tests import PairTests


class MetricTests(NamedTuple):
    """Tests of pairs by a metric, and what a record says beside them."""

    tests: PairTests
    fields: Mapping[str, Any] = MappingProxyType({})
    #: Says what to beware of once the tests are done.
    afterwards: Callable[[], tuple[str, ...]] | None = None
    record: type[MetricsResult] = MetricsResult

    def of_record(self) -> dict[str, Any]:
        """Give what the record holds, by the names of its fields."""
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
    """Give what the record says of clusters and strata."""
    fields: dict[str, Any] = {}
    if found.strata is not None:
        fields["n_strata"] = units.sizes.size
    if found.clusters is not None:
        fields["n_clusters"] = units.n_clusters
        fields["cautions"] = cluster_cautions(units_of(found).units, "cr1")
    return fields


def fields_of(how: How, metric: MetricClasses, models: MetricModels) -> dict[str, Any]:
    """Give what the record says of the metric."""
    estimator = metric.estimator
    scale = f"{how.method}, {estimator.scale}"
    return {
        "metric": estimator.name,
        "measure": estimator.title,
        "lower_is_better": estimator.lower_is_better,
        "limits": estimator.limits,
        "classes": metric.classes,
        "interval_method": "; ".join(models.interval_methods) or scale,
        "n_resamples": None if how.draws is None else how.draws.n,
        "seed": None if how.draws is None else how.draws.seed,
    }
