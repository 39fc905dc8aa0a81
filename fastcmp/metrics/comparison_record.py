"""From two models, compared by metrics, to the record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import ConfidenceInterval
from fastcmp.metrics.compared import DRAWN, Compared, CompareOptions
from fastcmp.metrics.comparison_result import MetricComparison
from fastcmp.metrics.margins import metric_margins

if TYPE_CHECKING:
    from fastcmp.metrics.cells import Cells
    from fastcmp.metrics.samples import Counted
    from fastcmp.paired.margin_statistics import MarginOptions


def comparison_record(
    tables: list[Counted],
    found: list[list[Compared]],
    shape: tuple[int, ...],
    options: CompareOptions,
    names: tuple[str, str],
    against: MarginOptions | None,
) -> MetricComparison:
    """Make the record: numbers, or arrays of a shape."""
    flat = [one for row in found for one in row]
    sizes = [counted.n_samples for counted in tables for _ in found[0]]

    def column(values: list[Any]) -> Any:
        if not shape and len(values) == 1:
            return values[0]
        return np.array(values).reshape(shape)

    def ends(of: list[tuple[float, float]]) -> ConfidenceInterval:
        return ConfidenceInterval(*(column([x[i] for x in of]) for i in (0, 1)))

    first, cells = tables[0], flat[0].pair.cells
    clusters = None if cells.clusters is None else cells.clusters.n
    exact = options.method == "exact"
    drawn = options.method in DRAWN or any(one.bounds is not None for one in flat)
    degrees = options.degrees(cells)
    distribution = _distribution(options.method, degrees)
    cautions = dict.fromkeys(caution for one in flat for caution in one.cautions)
    return MetricComparison(
        statistic=column([one.test.statistic for one in flat]),
        pvalue=column([one.test.pvalue for one in flat]),
        df=degrees if distribution == "t" else None,
        distribution=distribution,
        status=column([one.test.status for one in flat]),
        metric=column([one.pair.estimator.name for one in flat]),
        measure=column([one.pair.estimator.title for one in flat]),
        difference=column([one.pair.difference for one in flat]),
        standard_error=column([one.errors.difference for one in flat]),
        standard_error_a=column([one.errors.a for one in flat]),
        standard_error_b=column([one.errors.b for one in flat]),
        interval=ends([one.interval for one in flat]),
        ratio=column([one.ratio for one in flat]),
        ratio_interval=ends([one.ratio_interval for one in flat]),
        value_a=column([one.pair.value_a for one in flat]),
        value_b=column([one.pair.value_b for one in flat]),
        method=str(options.method),
        interval_method=column([one.interval_method for one in flat]),
        alternative=options.alternative,
        confidence_level=options.confidence_level,
        lower_is_better=column([one.pair.estimator.lower_is_better for one in flat]),
        names=names,
        n_samples=column(sizes),
        n_discordant=column([_n_discordant(one.pair.cells) for one in flat]),
        classes=first.classes,
        n_configurations=(column([one.n_configurations for one in flat]) if exact else None),
        n_clusters=clusters,
        n_resamples=options.n_resamples if drawn else None,
        seed=options.seed if drawn else None,
        n_missing=first.n_missing,
        n_excluded=first.n_excluded,
        cautions=tuple(cautions),
        margins=metric_margins(found, shape, options, against),
    )


def _distribution(method: str | None, df: float) -> str:
    if method in ("exact", "permutation"):
        return "permutation"
    if method in ("bootstrap", "abc"):
        return str(method)
    return "normal" if df == math.inf else "t"


def _n_discordant(cells: Cells) -> Any:
    """Count the samples, or their weight, for which the predictions differ."""
    _, a, b = cells.codes.T
    n = cells.counts[a != b].sum()
    return float(n) if cells.squares is not None else int(n)
