"""The record of several paired comparisons, adjusted for all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.plain import readable
from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.core.sections import Section, format_pvalue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SHOWN = (*("alternative", "step", "n_items", "n_clusters", "n_resamples", "exact", "seed"),)
_ROWS = 20  # comparisons that are printed
_STEPS = {"single": "Single-step", "down": "Step-down"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MaxTResult(Record):
    """Paired comparisons on the same items: p-values of each, and for all at once."""

    #: Paired t over items or clusters, shape (C,).
    statistic: Floats
    #: By sign flips, of each comparison alone, and adjusted for all; shape (C,).
    pvalue: Floats
    pvalue_adjusted: Floats
    #: "permutation".
    distribution: str = "permutation"
    #: Mean over items, shape (C,).
    difference: Floats
    names: tuple[str, ...]
    alternative: str
    #: "down" or "single".
    step: str
    n_items: int
    #: None where each item is flipped by itself.
    n_clusters: int | None
    #: Draws; where `exact`, all signs that there are.
    n_resamples: int
    exact: bool
    #: None where nothing was drawn.
    seed: int | None

    def columns(self) -> dict[str, Any]:
        """Give the comparisons as columns, a row each.

        Returns
        -------
        dict of str to sequence
            Names, mean differences, statistics and p-values.
        """
        return {
            "comparison": list(self.names),
            "difference": self.difference,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        shown = {name: readable(getattr(self, name)) for name in _SHOWN}
        return shown | {"comparisons": plain_columns(self.columns())}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The comparisons, and how they were adjusted.
        """
        rows = tuple(
            (
                *(name, f"{difference:+.4g}", f"{statistic:+.4g}"),
                *(format_pvalue(pvalue), format_pvalue(adjusted)),
            )
            for name, difference, statistic, pvalue, adjusted in zip(
                *(list(column)[:_ROWS] for column in self.columns().values()), strict=True
            )
        )
        unit = "items" if self.n_clusters is None else "clusters"
        drawn = f"{self.n_resamples} sign flips of {unit}, seed {self.seed}"
        if self.exact:
            drawn = f"all {self.n_resamples} sign flips of {unit}"
        n, left = len(self.names), len(self.names) - len(rows)
        more = (f"... and {left} more comparisons.",) if left else ()
        clusters = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        return [
            Section(
                title="Which comparisons differ?",
                text=(f"{n} comparison{'s' * (n != 1)} on {self.n_items} items{clusters}.",),
                columns=("comparison", "difference", "t", "p", "adjusted p"),
                rows=rows,
                notes=(*more, f"{_STEPS[self.step]} max-T by {drawn}."),
            )
        ]
