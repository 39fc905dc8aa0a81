"""Power: how often each test finds the difference of two error rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.sections import Section

from .rivals import RIVALS
from .study_record import StudyRecord
from .type_one_errors import TypeOneErrors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PowerStudy(StudyRecord):
    """Rejections along a parameter that two error rates depend on: Figure 4."""

    _picture: ClassVar[str] = "draw_power"
    _table: ClassVar[str] = "power"

    dataset: str
    setting: str
    #: The parameter's name and its values, the null hypothesis first, shape (V,).
    parameter: str
    values: NDArray[np.float64]
    #: Error rates of both algorithms at each value, shape (V, 2).
    errors: NDArray[np.float64]
    #: P-value of each test on each data set, shape (R, V, 14).
    pvalues: NDArray[np.float64]
    seed: int
    alpha: float = 0.05

    @property
    def replications(self) -> int:
        """Data sets that were drawn."""
        return len(self.pvalues)

    @property
    def power(self) -> NDArray[np.float64]:
        """Proportion of data sets on which each test rejects, shape (V, 14)."""
        return np.asarray((self.pvalues < self.alpha).mean(axis=0))

    @property
    def type_one_errors(self) -> TypeOneErrors:
        """Rejections at the first value, where the null hypothesis is true."""
        return TypeOneErrors(
            dataset=self.dataset,
            setting=self.setting,
            pvalues=self.pvalues[:, 0],
            seed=self.seed,
            alpha=self.alpha,
        )

    @property
    def reasonable(self) -> NDArray[np.bool_]:
        """Which tests keep their level, shape (14,).

        Those of which the 95% interval of the type I error is not all above `alpha`.
        """
        return self.type_one_errors.interval[:, 0] <= self.alpha

    def columns(self) -> dict[str, Any]:
        """The curves as columns.

        Returns
        -------
        dict of str to sequence
            A row a value and test: parameter, error rates, test and power.
        """
        n_tests = len(RIVALS)
        return {
            self.parameter: np.repeat(self.values, n_tests),
            "error_a": np.repeat(self.errors[:, 0], n_tests),
            "error_b": np.repeat(self.errors[:, 1], n_tests),
            "test": [rival.test for rival in RIVALS] * len(self.values),
            "power": self.power.ravel(),
            "reasonable": np.tile(self.reasonable, len(self.values)),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the curves.
        """
        shown = np.linspace(0, len(self.values) - 1, min(6, len(self.values)))
        at = np.unique(shown.round().astype(int))
        gaps = self.errors[at, 1] - self.errors[at, 0]
        points = (100 * gaps).round(1) + 0.0  # no -0.0
        columns = ("test", *(f"{gap:+.1f}" for gap in points))
        order = np.argsort(-self.power.mean(axis=0), kind="stable")
        rows = tuple(
            (
                RIVALS[k].title + ("" if self.reasonable[k] else " *"),
                *(f"{self.power[v, k]:.3f}" for v in at),
            )
            for k in order
        )
        text = (
            f"{self.setting}",
            f"{self.replications} data sets for each value of {self.parameter}, level "
            f"{self.alpha:g}, seed {self.seed}. Columns: error of b minus error of a, "
            "in percentage points; the first is the null hypothesis.",
        )
        notes = ("* rejects a true null hypothesis more often than the level says.",)
        return [
            Section(
                title=f"Power, {self.dataset}", text=text, columns=columns, rows=rows, notes=notes
            )
        ]
