"""The record of many models compared by a metric of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastcmp.core.plain import readable
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fastcmp.core.sections import Section

_SHOWN = (*("metric", "lower_is_better", "interval_method", "classes"), *("n_resamples", "seed"))
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

    @property
    def less_is_better(self) -> bool:
        """Whether the better model has the lower metric."""
        return self.lower_is_better

    @property
    def any_size(self) -> bool:
        """Whether the metric may be of any size, not between -1 and 1."""
        return not (self.limits[0] >= -1.0 and self.limits[1] <= 1.0)

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields.
        """
        return super().columns() | {"standard_error": self.standard_error}

    def _entries(self) -> dict[str, Any]:
        own = {name: readable(getattr(self, name)) for name in _SHOWN}
        return super()._entries() | own

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`.
        """
        sections = describe(self, self._test_name(), self.interval_method)
        if self.lower_is_better and self.control is None:
            first = sections[0]
            text = (*first.text, f"Less {self.measure} is better.")
            sections[0] = replace(first, text=text)
        return sections

    def _test_name(self) -> str:
        """Name the test of a pair."""
        if self.n_resamples is not None:
            draws = f"{self.n_resamples} draws, seed {self.seed}"
            unit = "samples" if self.n_clusters is None else "clusters"
            if self.method == "bootstrap":
                return f"{_TESTS['bootstrap']} of {unit} ({draws}), percentile"
            return f"{_TESTS['permutation']} of {unit} (exact, or {draws})"
        if self.method == "pooled":
            return _TESTS["pooled"]
        return f"{self.distribution.replace('normal', 'z')} {_TESTS[self.method]}"
