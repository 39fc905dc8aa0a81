"""The record of a chi-square test on two models' predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.plain import readable
from fastcmp.core.records import Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.kernels.status import UNDEFINED

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SymmetryResult(Record):
    """A chi-square test on the K x K table of two models' predictions."""

    statistic: float
    pvalue: float
    df: int
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "Bowker's test of symmetry", or Stuart and Maxwell's, or Bhapkar's, "test of
    #: marginal homogeneity".
    test: str
    #: ``table[i, j]`` samples for which a predicted class i and b class j.
    table: NDArray[np.int64]

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "chi2"."""
        return "chi2"

    def _shown(self) -> dict[str, Any]:
        shown = {**self._fields(), "distribution": self.distribution}
        del shown["table"]
        return shown

    def _entries(self) -> dict[str, Any]:
        return {**Record._entries(self), "table": readable(self.table)}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        # Exact up to 2**53, and without the overflow of whole numbers beyond.
        n = int(self.table.sum(dtype=np.float64))
        agreed = np.trace(self.table, dtype=np.float64) / max(n, 1)
        text: tuple[str, ...] = (
            f"chi-square = {self.statistic:.4g} with {self.df} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}",
            f"The models agree on {100 * agreed:.1f}% of {n} samples.",
        )
        if self.status == UNDEFINED:
            text += (
                "The differences of the margins do not vary in these samples, and are "
                "not 0: the statistic is undefined.",
            )
        return [Section(title=self.test, text=text)]
