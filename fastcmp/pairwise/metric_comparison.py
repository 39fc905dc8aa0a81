"""Many models by a metric of counts: from labels to tests of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.kernels.bits import TILE_ROWS
from fastcmp.paired.clustered_result import cluster_cautions
from fastcmp.paired.sample_units import units_of
from fastcmp.pairwise.metric_cautions import cautions_of
from fastcmp.pairwise.metric_models import MetricModels, read_models
from fastcmp.pairwise.metric_pair_tests import (
    Bootstrap,
    cells_of_samples,
    permutation_test,
    pooled_test,
)
from fastcmp.pairwise.metric_samples import (
    MetricClasses,
    MetricSamples,
    metric_samples,
)
from fastcmp.pairwise.metric_spread import SIDE, Spread, count_tables, spread_of
from fastcmp.pairwise.metric_tests import Differences, metric_tests
from fastcmp.pairwise.metric_units import MetricUnits, single_samples, with_units
from fastcmp.pairwise.metrics_result import MetricsResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.labels import Labels
    from fastcmp.metrics.choice import Metric
    from fastcmp.paired.sample_units import Sampling
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.pairwise.pair_tests import PairTests


class MetricTests(NamedTuple):
    """Tests of pairs by a metric, and what a record says beside them."""

    tests: PairTests
    fields: dict[str, Any]
    #: Says what to beware of once the tests are done.
    afterwards: Callable[[], tuple[str, ...]] | None = None
    record: type[MetricsResult] = MetricsResult

    def of_record(self) -> dict[str, Any]:
        """Give what the record holds, by the names of its fields."""
        if self.afterwards is None:
            return self.fields
        cautions = (*self.fields["cautions"], *self.afterwards())
        return self.fields | {"cautions": cautions}


class How(NamedTuple):
    """How models are compared."""

    metric: Metric
    method: str
    level: float
    #: Of permutation and bootstrap.
    draws: Draws | None
    classes: Sequence[Any] | None = None


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
        of_samples["n_strata"] = None if found.strata is None else units.sizes.size
        if found.clusters is not None:
            of_samples["n_clusters"] = units.n_clusters
            of_samples["cautions"] = cluster_cautions(units_of(found).units, "cr1")
    models = read_models(samples, units, how.method, how.level, pool)
    spread = spread_of(samples, models, chosen, pool)
    data = PairData(samples, units, models, spread)
    tests, afterwards = _tests(data, how, chosen, pool)
    fields = fields_of(how, samples.metric, models, labels.names)
    cautions = (*of_samples.pop("cautions", ()), *fields["cautions"])
    fields |= of_samples | {"cautions": cautions}
    return MetricTests(tests, fields, afterwards)


class PairData(NamedTuple):
    """What is known of the samples, and of the models one by one."""

    samples: MetricSamples
    units: MetricUnits
    models: MetricModels
    spread: Spread


def _tests(
    data: PairData, how: How, chosen: NDArray[np.int32] | None, pool: ThreadPool
) -> tuple[PairTests, Callable[[], tuple[str, ...]] | None]:
    """Make the tests of a method, and what says afterwards what to beware of."""
    samples, units, models, spread = data
    estimator, n = samples.metric.estimator, samples.n_samples
    differences = Differences(models, estimator, spread, units.df)
    if how.draws is None and how.method != "pooled":
        return metric_tests(models, differences, n, how.level), None
    if how.draws is None:
        m = len(samples.preds)
        n_pairs = m * (m - 1) // 2 if chosen is None else len(chosen)
        tables = count_tables(samples, n_pairs, pool)
        count = None if tables is None else tables.count
        side = SIDE if tables is None else tables.side
        differences.side = min(differences.side, side)
        pooled = pooled_test(samples, models, count)
        return metric_tests(models, differences, n, how.level, pooled), None
    cells = cells_of_samples(samples, units)
    differences.side = TILE_ROWS
    if how.method == "permutation":
        test = permutation_test(estimator, cells, how.draws)
        tests = metric_tests(models, differences, n, how.level, test, "permutation")
        return tests, None
    tests = metric_tests(models, differences, n, how.level)
    bootstrap = Bootstrap(estimator, cells, how.draws, how.level)
    return bootstrap.tests(tests), bootstrap.cautions


def fields_of(
    how: How, metric: MetricClasses, models: MetricModels, names: Sequence[str]
) -> dict[str, Any]:
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
        "cautions": cautions_of(metric, models, names),
    }
