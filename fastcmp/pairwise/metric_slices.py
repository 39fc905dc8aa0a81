"""Sums over slices of the samples, of a metric of their counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.threads import check_memory
from fastcmp.pairwise.metric_models import MetricSamples
from fastcmp.pairwise.slice_sums import Flags, Floats, Items, Pairs, Part, SliceSums


class MetricSums(SliceSums):
    """A metric of the samples of each slice, and what each of these adds to it."""

    def __init__(self, items: Items, pairs: Pairs, samples: MetricSamples) -> None:
        """Keep codes of the samples, clusters one after the other."""
        super().__init__(items, pairs)
        self.counted, self.offset, self.common = False, 0.0 * self.offset, np.zeros(0)
        order: Any = slice(None) if self.clusters is None else self.order
        k, m = samples.n_codes, samples.n_models
        check_memory(32.0 * m * k**2, None, f"tables of {k} classes", "compare fewer models")
        self._metric, self._codes_of = samples.metric, k
        rows = samples.rows.astype(np.int64)[order] * k
        self._cells = np.stack([rows + pred[order] for pred in samples.preds])

    def values_at(self, where: NDArray[np.int64]) -> Floats:
        """Values whose mean is the metric, and whose deviations are its influences."""
        k, cells = self._codes_of, self._cells[:, where]
        counts = np.stack([np.bincount(row, minlength=k * k) for row in cells])
        tables = self._metric.table(counts.reshape(-1, k, k))
        estimator = self._metric.estimator
        influences = self._metric.lookup(estimator.influences(tables), k)
        found = estimator.values(tables)[:, None, None] + influences
        return np.take_along_axis(found.reshape(len(cells), -1), cells, axis=1).T

    def rest(self, whole: Part, own: Part, mask: Flags) -> Part:  # noqa: ARG002
        """The samples outside a slice, whose metric does not follow from the others."""
        return self.of(~mask)
