"""The record of Fleiss' kappa."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.records import Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.metrics.kappa_result import describe_agreement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fastcmp.core.records import ConfidenceInterval

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FleissResult(Record):
    """Agreement of many raters beyond chance, with a test that there is none."""

    #: z: `value` over `standard_error_null`.
    statistic: float
    pvalue: float
    distribution: str = "normal"
    #: A `fastcmp.kernels.Status`.
    status: int
    #: Kappa: 1 where all raters agree, 0 for as much agreement as by chance.
    value: float
    #: By linearization over the items; 0 where all raters agree.
    standard_error: float
    #: Of raters who label by chance.
    standard_error_null: float
    #: For `value`, at `confidence_level`; NaN where the standard error is 0.
    interval: ConfidenceInterval
    confidence_level: float
    #: "atanh" or "wald".
    interval_method: str
    alternative: str
    n_items: int
    n_raters: int
    labels: tuple[Any, ...]
    #: Proportion of all ratings that each label has, shape (K,).
    label_shares: Floats
    #: Kappa of each label against all others, and p-values of no agreement on it beyond
    #: chance, shape (K,); NaN for a label that never occurs.
    label_kappas: Floats
    label_pvalues: Floats
    #: Items with a label that was not chosen.
    n_excluded: int = 0

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row a label.
        """
        text = describe_agreement(self, "kappa")
        text += (f"{self.n_raters} raters of {self.n_items} items.",)
        if self.n_excluded:
            text += (f"{self.n_excluded} items with other labels were left out.",)
        rows = tuple(
            (
                str(label),
                f"{100 * proportion:.1f}%",
                "-" if math.isnan(kappa) else f"{kappa:.4f}",
                format_pvalue(pvalue),
            )
            for label, proportion, kappa, pvalue in zip(
                self.labels,
                self.label_shares.tolist(),
                self.label_kappas.tolist(),
                self.label_pvalues.tolist(),
                strict=True,
            )
        )
        return [
            Section(
                title=f"Fleiss' kappa ({self.alternative})",
                text=text,
                columns=("label", "ratings", "kappa", "p"),
                rows=rows,
            )
        ]
