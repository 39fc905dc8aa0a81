"""Type I errors of all tests on one data set: a column of Table V."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.sections import Section, format_interval

from .rivals import REPLICATIONS, RIVALS, TABLE_V
from .study_record import StudyRecord

_LEVEL = 0.95
_QUANTILE = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TypeOneErrors(StudyRecord):
    """How often each test rejects a true null hypothesis: a column of Table V."""

    _picture: ClassVar[str] = "draw_type_one_errors"
    _table: ClassVar[str] = "tests"

    dataset: str
    #: What was compared on what, in words.
    setting: str
    #: P-value of each test on each data set, shape (R, 14), in the order of `RIVALS`.
    pvalues: NDArray[np.float64]
    seed: int
    alpha: float = 0.05

    @property
    def replications(self) -> int:
        """Data sets that were drawn."""
        return len(self.pvalues)

    @property
    def rejected(self) -> NDArray[np.int64]:
        """Data sets on which each test rejects, shape (14,)."""
        return np.asarray((self.pvalues < self.alpha).sum(axis=0))

    @property
    def rate(self) -> NDArray[np.float64]:
        """Proportion of data sets on which each test rejects, shape (14,)."""
        return np.asarray(self.rejected / self.replications)

    @property
    def interval(self) -> NDArray[np.float64]:
        """Wilson's 95% interval for each rate, shape (14, 2)."""
        ends = [
            kernels.wilson_interval(count, self.replications, _LEVEL) for count in self.rejected
        ]
        return np.array(ends)

    @property
    def printed(self) -> NDArray[np.float64]:
        """What the paper prints, shape (14,); NaN where it has no such data set."""
        column = TABLE_V.get(self.dataset, {}) if self.alpha == 0.05 else {}
        return np.array([column.get(rival.test, np.nan) for rival in RIVALS])

    @property
    def zscore(self) -> NDArray[np.float64]:
        """The rate minus the paper's, in Monte-Carlo standard errors, shape (14,).

        Both rates are proportions of data sets, and vary; they are pooled.
        """
        theirs = REPLICATIONS.get(self.dataset, 1)
        counted = self.rejected + self.printed * theirs
        pooled = counted / (self.replications + theirs)
        variance = pooled * (1 - pooled) * (1 / self.replications + 1 / theirs)
        gap = self.rate - self.printed
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(gap == 0, 0.0 * gap, gap / np.sqrt(variance))

    def columns(self) -> dict[str, Any]:
        """The tests as columns.

        Returns
        -------
        dict of str to sequence
            A row a test: rate, interval, and the paper's figure.
        """
        return {
            "test": [rival.test for rival in RIVALS],
            "rejected": self.rejected,
            "replications": [self.replications] * len(RIVALS),
            "type_i_error": self.rate,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "paper": self.printed,
            "z": self.zscore,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the tests.
        """
        compared = np.isfinite(self.printed).any()
        z = self.zscore
        rows = []
        for k, rival in enumerate(RIVALS):
            row: tuple[str, ...] = (
                rival.title,
                f"{self.rate[k]:.3f}",
                format_interval(*self.interval[k], digits=3),
            )
            if compared:
                row += (
                    f"{self.printed[k]:.3f}",
                    "yes" if abs(z[k]) <= _QUANTILE else f"no (z = {z[k]:+.1f})",
                )
            rows.append(row)
        columns: tuple[str, ...] = ("test", "type I error", "95% CI")
        notes: tuple[str, ...] = ()
        if compared:
            columns += ("paper", "within Monte-Carlo error")
            notes = (
                "Within Monte-Carlo error: the two rates, each a proportion of data "
                "sets, differ by less than 1.96 standard errors. Even if all 14 true "
                "rates agree, 0.7 of the tests are expected to fail this.",
            )
        text = (
            f"{self.setting}",
            f"{self.replications} data sets, level {self.alpha:g}, seed {self.seed}.",
        )
        return [
            Section(
                title=f"Type I errors, {self.dataset}",
                text=text,
                columns=columns,
                rows=tuple(rows),
                notes=notes,
            )
        ]
