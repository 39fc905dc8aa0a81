"""Samples as a metric of counts sees them: codes, and how often they occur together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.memory import check_memory
from fastcmp.core.threads import no_step, parts
from fastcmp.inputs.label_order import in_order, sorted_codes
from fastcmp.inputs.labels import code_type
from fastcmp.kernels.metric_slopes import mark_codes
from fastcmp.metrics.others import with_others
from fastcmp.metrics.tables import check_classes_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.labels import Labels
    from fastcmp.metrics.choice import Metric
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_FEW_CELLS = 1 << 12  # of the tables of a model, whatever the samples
_MARKS = 1 << 24  # codes up to which those in use are marked, not sorted


class MetricClasses(NamedTuple):
    """A metric bound to the classes of some data."""

    estimator: Estimator
    #: In the order of the metric, those first that it lists.
    classes: tuple[Any, ...]
    #: Code of each class in the data, shape (K,); -1 where none has it. The last may be
    #: of predictions that are none of the classes.
    codes: Ints

    @property
    def in_order(self) -> bool:
        """Whether codes are in the order of the metric."""
        return bool((self.codes == np.arange(self.codes.size)).all())

    def table(self, counts: NDArray[Any]) -> Floats:
        """Order counts ``[..., t, p]`` by codes as the metric wants them."""
        if self.in_order and counts.shape[-1] == self.codes.size:
            return counts.astype(np.float64)
        known = np.flatnonzero(self.codes >= 0)
        own = self.codes[known]
        table = np.zeros((*counts.shape[:-2], self.codes.size, self.codes.size))
        table[..., known[:, np.newaxis], known] = counts[..., own[:, np.newaxis], own]
        return table

    def lookup(self, influences: Floats, n_codes: int) -> Floats:
        """Order influences ``[..., t, p]`` of the metric by codes."""
        if self.in_order and n_codes == self.codes.size:
            return influences
        known = np.flatnonzero(self.codes >= 0)
        own = self.codes[known]
        found = np.zeros((*influences.shape[:-2], n_codes, n_codes))
        found[..., own[:, np.newaxis], own] = influences[..., known[:, np.newaxis], known]
        return found


def bind(
    metric: Metric, found: Sequence[Any], codes: Sequence[int], others: int | None
) -> MetricClasses:
    """Bind a metric to the classes that were found, with their codes.

    `others` is the code of predictions that are none of them, where there are any.
    """
    classes = metric.classes_of(tuple(found))
    check_classes_fit(len(classes))
    known = dict(zip(found, codes, strict=True))
    made = metric.bind(classes)
    if len(made) > 1 or metric.average is None:
        raise ValueError(
            f"metric must be one number to compare models by, got {metric.full_name!r} "
            "of each class: pass an average, or labels= and positive="
        )
    estimator, of_class = made[0], [known.get(label, -1) for label in classes]
    if others is not None:
        estimator = with_others(estimator)
        of_class.append(others)
    return MetricClasses(estimator, classes, np.array(of_class, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(ABC):
    """Samples of M models that are counted by true and predicted code, below K'."""

    metric: MetricClasses
    n_codes: int
    n_models: int
    n_samples: int
    #: What a sample of each stratum counts, of mean 1 over samples, shape (H,).
    weights: Floats

    @abstractmethod
    def counts(self, i: int) -> Ints:
        """Count the samples of a model, ``[stratum, true, predicted]``."""

    @property
    def many_classes(self) -> bool:
        """Whether tables would take more than the samples."""
        return False

    def table(self, counts: Ints) -> Floats:
        """Make tables of a metric of counts ``[..., stratum, true, predicted]``."""
        if self.weighted:
            weights = self.weights[:, np.newaxis, np.newaxis]
            return self.metric.table((weights * counts).sum(axis=-3))
        return self.metric.table(counts.sum(axis=-3))

    @property
    def weighted(self) -> bool:
        """Whether samples of strata count differently."""
        return bool(np.ptp(self.weights) > 0)

    def check(self) -> None:
        """Refuse a user's metric that is no function of the counts."""
        self.metric.estimator.check(self.table(self.counts(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSamples(Counted):
    """Codes of all samples."""

    #: Row of the tables of each sample: its true class, or stratum and class.
    rows: NDArray[Any]
    preds: tuple[NDArray[Any], ...]

    @property
    def many_classes(self) -> bool:
        """Whether tables would take more than the samples."""
        cells = self.n_codes**2 * self.weights.size
        return cells > max(self.n_samples, _FEW_CELLS)

    def counts(self, i: int) -> Ints:
        """Count the samples of a model, ``[stratum, true, predicted]``."""
        k, h = self.n_codes, self.weights.size
        counts = np.zeros((h * k, k), np.int64)
        kernels.count_agreement(self.rows, self.preds[i], counts)
        return counts.reshape(h, k, k)


def metric_samples(
    labels: Labels, metric: Metric, classes: Sequence[Any] | None, pool: ThreadPool
) -> MetricSamples:
    """Bind a metric to labels; classes that never occur are left out."""
    labels, others = compact(labels, pool, keep=classes is not None)
    n_classes = len(labels.classes)
    codes = list(range(n_classes))
    if classes is None:
        codes = sorted_codes(labels.classes, np.arange(n_classes))
    found = [labels.classes[code] for code in codes]
    return MetricSamples(
        metric=bind(metric, found, codes, n_classes if others else None),
        n_codes=labels.n_codes,
        n_models=len(labels.preds),
        n_samples=labels.n_samples,
        weights=np.ones(1),
        rows=labels.y_true,
        preds=labels.preds,
    )


def compact(labels: Labels, pool: ThreadPool, *, keep: bool) -> tuple[Labels, bool]:
    """Leave out codes that no sample has; all classes stay with `keep`.

    Tells as well whether some predictions are none of the classes: they have the last
    code.
    """
    n_classes = len(labels.classes)
    if n_classes > _MARKS:
        return in_order(labels), False
    used = _used(labels, pool)
    others = bool(used[-1] == n_classes)
    known = np.arange(n_classes) if keep else used[used < n_classes]
    n_codes = known.size + others
    check_memory(
        8.0 * n_codes**2,
        None,
        f"a confusion matrix of {n_codes} classes",
        "a metric of so many classes is not worked out from counts",
    )
    names = [labels.classes[code] for code in known.tolist()]
    as_they_are = replace(labels, classes=names, n_codes=n_codes)
    if known.size == n_classes or (not others and known[-1] == known.size - 1):
        return as_they_are, others
    place = np.zeros(n_classes + 1, code_type(n_codes))
    place[known], place[-1] = np.arange(known.size), n_codes - 1
    columns = (labels.y_true, *labels.preds)
    moved: list[Any] = [None] * len(columns)

    def move(i: int) -> None:
        moved[i] = place[columns[i]]

    pool.run(move, range(len(columns)), steps=no_step)
    y_true, *preds = moved
    return replace(as_they_are, y_true=y_true, preds=tuple(preds)), others


def _used(labels: Labels, pool: ThreadPool) -> Ints:
    """List the codes that occur, ascending."""
    columns = (labels.y_true, *labels.preds)
    groups = parts(len(columns), -(-len(columns) // pool.threads))
    marks = np.zeros((len(groups), len(labels.classes) + 1), np.uint8)

    def mark(group: int) -> None:
        for column in columns[groups[group]]:
            mark_codes(column, marks[group])

    pool.run(mark, range(len(groups)), steps=no_step)
    return np.flatnonzero(marks.any(axis=0))
