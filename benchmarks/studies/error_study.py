"""True error rates along a parameter: Figure 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.sections import Section

from .study_record import StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ErrorStudy(StudyRecord):
    """Error rates of two algorithms, the second with a parameter: Figure 3."""

    _picture: ClassVar[str] = "draw_errors"
    _table: ClassVar[str] = "errors"

    dataset: str
    setting: str
    #: The parameter's name and its values, shape (V,).
    parameter: str
    values: NDArray[np.float64]
    #: Error rates of both algorithms at each value, shape (V, 2), and their
    #: Monte-Carlo standard errors.
    errors: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    #: Where both error rates are equal, and the rate there.
    null: float
    null_error: float
    #: Training sets behind each error rate, and their records.
    n_sets: int
    n_train: int
    seed: int

    def columns(self) -> dict[str, Any]:
        """The curves as columns.

        Returns
        -------
        dict of str to sequence
            A row a value: parameter, error rates and their standard errors.
        """
        return {
            self.parameter: self.values,
            "error_a": self.errors[:, 0],
            "se_a": self.standard_errors[:, 0],
            "error_b": self.errors[:, 1],
            "se_b": self.standard_errors[:, 1],
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the curves.
        """
        rows = tuple(
            (f"{value:.4g}", f"{100 * a:.2f}", f"{100 * b:.2f}", f"{200 * max(se):.2f}")
            for value, (a, b), se in zip(
                self.values, self.errors, self.standard_errors, strict=True
            )
        )
        text = (
            f"{self.setting}",
            f"Both error rates are {100 * self.null_error:.2f}% at "
            f"{self.parameter} = {self.null:.4g}.",
            f"Means over {self.n_sets} training sets of {self.n_train} records, seed {self.seed}.",
        )
        return [
            Section(
                title=f"True error rates, {self.dataset}",
                text=text,
                columns=(self.parameter, "error of a, %", "error of b, %", "+-"),
                rows=rows,
            )
        ]
