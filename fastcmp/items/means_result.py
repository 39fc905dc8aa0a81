"""The record of many models compared by the means of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.plain import readable
from fastcmp.core.sections import Section
from fastcmp.items.sentences import INTERVAL_NAMES, test_name, values_sentences
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.items.components_result import VarianceComponents
    from fastcmp.items.difference_result import MeanDifference


_SHOWN = (
    *("variance", "interval_method", "studentized", "n_resamples", "seed"),
    *("missing", "n_missing_values", "n_dropped"),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeansResult(PairwiseResult):
    """Many models compared in pairs by the means of their values on the same items.

    A `PairwiseResult`: `score` holds the means. `only_a` and `only_b` are None unless
    all values are 0 or 1.
    """

    #: Of each difference, shape (P,).
    standard_error: NDArray[np.float64]
    #: "cr0", "cr1", "cr2" or "cr3": how residuals of clusters are scaled up.
    variance: str = "cr2"
    #: Kind of the intervals of bootstrap and of Wilcoxon's test; None for others.
    interval_method: str | None = None
    #: Whether permuted means were divided by their standard errors.
    studentized: bool = False
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None
    #: What was made of missing values, how many each model has, and how many items were
    #: dropped for them.
    missing: str = "raise"
    n_missing_values: tuple[int, ...] = ()
    n_dropped: int = 0
    #: Items of both models of each pair, shape (P,), where these differ.
    n_items_of_pairs: Any = None
    #: The two models in full, where there are no more.
    pair: MeanDifference | None = None
    #: How much of the variance is between items, how much between answers to one;
    #: None where items were answered once, or have clusters, strata or weights.
    variance_components: VarianceComponents | None = None

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields.
        """
        columns = super().columns()
        columns["standard_error"] = self.standard_error
        if np.ndim(self.df):
            columns["df"] = self.df
        if self.n_items_of_pairs is not None:
            columns["n_items"] = self.n_items_of_pairs
        return columns

    def _entries(self) -> dict[str, Any]:
        own = {name: readable(getattr(self, name)) for name in _SHOWN}
        for name in ("pair", "variance_components"):
            record = getattr(self, name)
            own[name] = None if record is None else record._entries()
        return super()._entries() | own

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`, and what to beware of.
        """
        intervals = "t" if self.df is not None or self.method != "t" else "normal"
        sections = describe(self, test_name(self), INTERVAL_NAMES[intervals])
        first = sections[0]
        text = (*first.text, *values_sentences(self))
        sections[0] = Section(title=first.title, text=text)
        if self.pair is not None:
            own = self.pair.sections()[0]
            sections.insert(1, Section(title="The two models", text=own.text[:3]))
        if self.variance_components is not None:
            sections[-1:-1] = self.variance_components.sections()
        return sections
