"""True error rates along a parameter, and where two of them are equal: Figure 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.core.report import Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_STEPS = 40


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ErrorStudy(Record):
    """Error rates of two algorithms, the second with a parameter."""

    dataset: str
    setting: str
    #: The parameter's name and its values, shape (V,).
    parameter: str
    values: NDArray[np.float64]
    #: Error rates of both algorithms at each value, shape (V, 2), and their
    #: Monte-Carlo standard errors.
    errors: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    #: Where both err alike, and the error rate there.
    null: float
    null_error: float
    #: Training sets behind each error rate, and their records.
    n_sets: int
    n_train: int
    seed: int

    def columns(self) -> dict[str, Any]:
        """Lay the curves out as columns, a row a value.

        Returns
        -------
        dict of str to sequence
            Parameter, error rates and their standard errors.
        """
        return {
            self.parameter: self.values,
            "error_a": self.errors[:, 0],
            "se_a": self.standard_errors[:, 0],
            "error_b": self.errors[:, 1],
            "se_b": self.standard_errors[:, 1],
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        return {
            "dataset": self.dataset,
            "setting": self.setting,
            "n_sets": self.n_sets,
            "n_train": self.n_train,
            "seed": self.seed,
            "null": {self.parameter: self.null, "error": self.null_error},
            "errors": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the curves.
        """
        rows = tuple(
            (
                f"{value:.4g}",
                f"{100 * a:.2f}",
                f"{100 * b:.2f}",
                f"{200 * max(se):.2f}",
            )
            for value, (a, b), se in zip(
                self.values, self.errors, self.standard_errors, strict=True
            )
        )
        text = (
            f"{self.setting}",
            f"Both err alike, {100 * self.null_error:.2f} %, at "
            f"{self.parameter} = {self.null:.4g}.",
            f"Means over {self.n_sets} training sets of {self.n_train} records, seed "
            f"{self.seed}.",
        )
        return [
            Section(
                title=f"True error rates, {self.dataset}",
                text=text,
                columns=(self.parameter, "error of a, %", "error of b, %", "+-"),
                rows=rows,
            )
        ]


def find_equal(
    error: Callable[[float], float],
    target: float,
    low: float,
    high: float,
    tolerance: float,
) -> float:
    """Find where an error rate, measured with noise held fixed, reaches a target."""
    left, right = np.log([low, high])
    at_left, at_right = error(low) - target, error(high) - target
    if at_left * at_right > 0:
        message = (
            f"error rates cross nowhere between {low:g} and {high:g}: they differ by "
            f"{at_left:+.4f} and {at_right:+.4f} at the ends"
        )
        raise ValueError(message)
    for _ in range(_STEPS):
        if right - left <= tolerance:
            break
        middle = 0.5 * (left + right)
        gap = error(float(np.exp(middle))) - target
        if gap * at_left > 0:
            left = middle
        else:
            right = middle
    return float(np.exp(0.5 * (left + right)))
