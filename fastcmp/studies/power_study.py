"""Power: how often each test tells two algorithms apart as their errors drift apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.core.report import Section
from fastcmp.studies.rivals import RIVALS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVEL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PowerStudy(Record):
    """Rejections along a parameter that drives two error rates apart: Figure 4."""

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
        """Share of data sets on which each test rejects, shape (V, 14)."""
        return np.asarray((self.pvalues < self.alpha).mean(axis=0))

    @property
    def reasonable(self) -> NDArray[np.bool_]:
        """Tell whose type I error is not seen to exceed `alpha`, shape (14,)."""
        rejected = np.rint(self.power[0] * self.replications).astype(int)
        low = [
            kernels.wilson_interval(count, self.replications, _LEVEL).low
            for count in rejected
        ]
        return np.array(low) <= self.alpha

    def columns(self) -> dict[str, Any]:
        """Lay the curves out as columns, a row a test and value.

        Returns
        -------
        dict of str to sequence
            Parameter, error rates, test and power.
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

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        return {
            "dataset": self.dataset,
            "setting": self.setting,
            "replications": self.replications,
            "seed": self.seed,
            "alpha": self.alpha,
            "power": plain_columns(self.columns()),
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
            "in points; the first is the null hypothesis.",
        )
        notes = ("* rejects the true hypothesis too often to be trusted.",)
        return [
            Section(
                title=f"Power, {self.dataset}",
                text=text,
                columns=columns,
                rows=rows,
                notes=notes,
            )
        ]
