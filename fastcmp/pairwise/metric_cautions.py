"""What to beware of where many models are compared by a metric of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.metrics.cautions import distances_apart, few_samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fastcmp.pairwise.metric_models import MetricModels
    from fastcmp.pairwise.metric_samples import MetricClasses

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
