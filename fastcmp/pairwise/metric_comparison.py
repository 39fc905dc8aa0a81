"""Many models by a metric of counts: tests of pairs, and the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import Draws
from fastcmp.core.records import LabelledCounts
from fastcmp.core.sections import Column, Section
from fastcmp.core.threads import ThreadPool
from fastcmp.inputs.labels import Labels
from fastcmp.metrics.choice import Metric
from fastcmp.metrics.intervals import distances_apart, few_samples
from fastcmp.paired.units import Sampling, cluster_cautions, units_of
from fastcmp.pairwise.engine import PairTests
from fastcmp.pairwise.metric_models import (
    Counted,
    MetricModels,
    MetricSamples,
    metric_counts,
    metric_samples,
    read_models,
)
from fastcmp.pairwise.metric_tests import MetricPairs
from fastcmp.pairwise.result import PairwiseResult

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


# Many models by a metric of counts: from labels, or what a stream counted, to tests of pairs.


def metric_tests(
    source: Labels | LabelledCounts,
    y_true: Any,
    sampling: Sampling,
    metric: Metric,
    method: str,
    level: float,
    draws: Draws | None,
    classes: Sequence[Any] | None,
    pair_indices: NDArray[np.int32] | None,
    pool: ThreadPool,
) -> tuple[PairTests, Callable[[], dict[str, Any]]]:
    """The tests of pairs, and what makes the fields of the record once they are done."""
    names = tuple(source.names or ())
    samples: Counted
    if isinstance(source, Labels):
        samples, fields = sampled(source, y_true, sampling, metric, classes, pool)
    else:
        samples, fields = metric_counts(source, metric), {}
    models = read_models(samples, method, level, pool)
    pairs = MetricPairs(samples, models, method, level, draws, pair_indices, pool)
    entry = samples.metric.estimator.entry
    fields |= {
        "metric": samples.metric.estimator.name,
        "measure": samples.metric.estimator.title,
        "lower_is_better": entry.lower_is_better,
        "limits": entry.limits,
        "classes": samples.metric.classes,
        "interval_method": "; ".join(sorted(models.interval_methods)) or f"{method}, {entry.scale}",
        "n_resamples": None if draws is None else draws.n,
        "seed": None if draws is None else draws.seed,
    }
    cautions = (*fields.get("cautions", ()), *cautions_of(samples, models, names))
    return pairs.tests(), lambda: fields | {"cautions": (*cautions, *pairs.cautions(names))}


def sampled(
    labels: Labels,
    y_true: Any,
    sampling: Sampling,
    metric: Metric,
    classes: Sequence[Any] | None,
    pool: ThreadPool,
) -> tuple[MetricSamples, dict[str, Any]]:
    """The samples of a metric with labels, clusters and strata, and the fields of a record."""
    groups = None if sampling.plain else sampling.read(y_true, labels)
    samples, fields = metric_samples(labels, metric, classes, pool, groups), dict[str, Any]()
    if groups is not None and groups.strata is not None:
        fields["n_strata"] = samples.units.sizes.size
    if groups is not None and groups.clusters is not None:
        fields["n_clusters"] = samples.units.n_clusters
        fields["cautions"] = cluster_cautions(units_of(groups).units, "cr1")
    return samples, fields


_NAMED = 4


def cautions_of(samples: Counted, models: MetricModels, names: Sequence[str]) -> tuple[str, ...]:
    """What to beware of: of the classes, and of single models."""
    estimator, classes = samples.metric.estimator, samples.metric.classes
    title, cautions = estimator.title, []

    def of_models(marks: Any) -> str:
        return _listed(names[i] for i in np.flatnonzero(marks).tolist())

    def of_classes(marks: Any) -> str:
        return _listed(str(classes[k]) for k in np.flatnonzero(marks))

    without = np.isnan(models.value)
    if without.any():
        cautions.append(
            f"{title} is not defined for {of_models(without)}: their pairs are not tested."
        )
    without = ~np.isnan(models.value) & np.isnan(models.standard_error)
    if without.any():
        cautions.append(
            f"{title} is not defined without some single sample for {of_models(without)}: the "
            "jackknife has no standard error, and their pairs are not tested; method='delta' has "
            "one."
        )
    flags = models.averaged
    apart = flags.any(axis=0) & ~flags.all(axis=0)
    if apart.any():
        cautions.append(
            f"{title} is not over the same classes for all models: only for "
            f"{of_models(flags[:, apart].any(axis=1))} also over {of_classes(apart)}. "
            "make_metric(..., labels='truth'), or a list, averages all over the same."
        )
    marked = np.asarray(models.without.any(axis=1))
    if marked.any():
        cautions.append(
            f"{title} of {of_models(marked)}: 0/0 for class "
            f"{of_classes(models.without.any(axis=0))}, taken as zero_division says."
        )
    tables = [] if models.tables is None else list(models.tables)
    cautions += distances_apart(estimator, tables, names, classes)
    cautions += few_samples(np.diag(models.sizes[: len(classes)]), classes)
    return tuple(cautions)


def _listed(names: Iterable[str]) -> str:
    all_names = list(names)
    n_more = len(all_names) - _NAMED
    more = f" and {n_more} more" if n_more > 0 else ""
    return ", ".join(all_names[:_NAMED]) + more
