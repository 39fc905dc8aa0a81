"""The record of a test that all models do equally well on many tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.kernels.status import DEGENERATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 20  # models that are printed
_NAMES = {
    "friedman": "Friedman's test",
    "quade": "Quade's test",
    "aligned": "Friedman's test of aligned ranks",
    "skillings-mack": "Skillings and Mack's test",
}
_SYMBOLS = {"chi2": "chi-square", "F": "F", "permutation": "chi-square"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OmnibusTest(Record):
    """The test that M models do equally well, from one score a model and task."""

    #: What `distribution` is applied to.
    statistic: float
    pvalue: float
    #: Degrees of freedom, one number or, of F, two; None for permutations.
    df: Any = None
    #: "chi2", "F", or "permutation", where the p-value comes from orders of the models.
    distribution: str
    #: A `fastcmp.kernels.Status`: DEGENERATE where all models tie on all tasks.
    status: int
    #: "friedman", "quade", "aligned" or "skillings-mack".
    test: str
    #: Of Friedman's test: "exact", "chi2", "iman-davenport" or "monte-carlo".
    method: str
    #: "corrected" or "uncorrected": whether the statistic knows of ties.
    ties: str = "corrected"
    names: tuple[str, ...]
    n_tasks: int
    #: Mean rank of each model, shape (M,), 1 for the best; of "aligned" the mean rank
    #: among all aligned scores. Of the tasks that have the model.
    mean_rank: NDArray[np.float64]
    #: Sums S of Quade's test, or A of Skillings and Mack's, shape (M,); else None.
    weighted_sum: Any = None
    #: Of Friedman's test, whatever the method: chi-square, Iman and Davenport's F,
    #: their p-values, and Kendall's coefficient of concordance W. None for others.
    chi2_statistic: float | None = None
    chi2_pvalue: float | None = None
    f_statistic: float | None = None
    f_df: Any = None
    f_pvalue: float | None = None
    kendall_w: float | None = None
    #: Draws of "monte-carlo", and the seed that repeats them.
    n_resamples: int | None = None
    seed: int | None = None

    @property
    def sentence(self) -> str:
        """The test in one sentence."""
        how = ""
        if self.test == "friedman" and self.method == "iman-davenport":
            how = " (Iman and Davenport's F)"
        elif self.method == "exact":
            how = " (exact)"
        elif self.method == "monte-carlo":
            how = f" ({self.n_resamples} draws, seed {self.seed})"
        degrees = ""
        if self.df is not None:
            numbers = [f"{x:g}" for x in np.atleast_1d(self.df)]
            degrees = f" with {' and '.join(numbers)} d.o.f."
        agreement = ""
        if self.kendall_w is not None:
            agreement = f"; Kendall's W = {self.kendall_w:.3f}"
        return (
            f"{_NAMES[self.test]}{how}: {_SYMBOLS[self.distribution]} = "
            f"{self.statistic:.4g}{degrees}, p = {format_pvalue(self.pvalue)}"
            f"{agreement}."
        )

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, mean rank and weighted sum.
        """
        columns: dict[str, Any] = {"model": list(self.names), "mean_rank": self.mean_rank}
        if self.weighted_sum is not None:
            columns["weighted_sum"] = self.weighted_sum
        return columns

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, and the mean ranks.
        """
        text = [
            f"{len(self.names)} models on {self.n_tasks} data sets",
            "H0: all models do equally well, so that in each data set any order of "
            "them is equally likely",
            self.sentence,
        ]
        if self.status == DEGENERATE:
            text.append("All models tie on all data sets: there is nothing to test.")
        order = np.argsort(self.mean_rank, kind="stable")[:_SHOWN].tolist()
        more = len(self.names) - len(order)
        table = Section(
            title="Mean ranks, 1 for the best",
            columns=("model", "mean rank"),
            rows=tuple((self.names[i], f"{self.mean_rank[i]:.3f}") for i in order),
            notes=(f"... and {more} more models.",) if more > 0 else (),
        )
        title = "Do any of these models differ?"
        return [Section(title=title, text=tuple(text)), table]
