"""The record of the bootstrap of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.core.record_parts import Drawn
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.datasets.reading import dropped_sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskBootstrap(Drawn, Record):
    """Ranks of M models when D tasks are drawn again with replacement.

    Arrays are in the order of the input.
    """

    _picture: ClassVar[str] = "rank_distribution"

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Tasks left out because a model has no score there.
    n_dropped: int
    #: Rank on the tasks as they are: 1 + the number of models strictly better, (M,).
    rank: NDArray[np.int64]
    #: Mean rank or mean score on the tasks as they are, shape (M,).
    estimate: Floats
    #: Its variance over the draws, shape (M,); exact, except where items are drawn too.
    variance: Floats
    #: Mean rank on the tasks as they are, whatever models are ranked by, shape (M,).
    mean_rank: Floats
    #: Its variance over the draws of tasks, shape (M,); with items, where models are
    #: ranked by it.
    variance_of_mean_rank: Floats
    #: [j, k] is the probability that model j has rank k + 1, shape (M, M).
    rank_distribution: Floats
    #: Least and greatest rank within the confidence level, shape (M, 2).
    rank_interval: NDArray[np.int64]
    #: How many places are the top, and the probability to be among them, shape (M,).
    k: int
    top_k: Floats
    #: Probability to be the best; a place that m models share counts 1/m for each.
    best_probability: Floats
    #: "mean rank" or "mean score".
    rank_by: str
    #: "exact": all D**D draws; or "draws".
    method: str
    #: Whether items were drawn within the tasks, which counts their noise twice.
    nested: bool
    confidence_level: float
    #: Random draws, and the seed that repeats them; None for all draws.
    n_resamples: int | None
    seed: int | None
    lower_is_better: bool

    @property
    def standard_error(self) -> Floats:
        """Standard deviation of the mean rank or score over the draws, shape (M,)."""
        return np.asarray(np.sqrt(self.variance))

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, rank, interval of the rank, mean, its standard error, and the
            probabilities to be the best and among the top.
        """
        return {
            "model": list(self.names),
            "rank": self.rank,
            "rank_low": self.rank_interval[:, 0],
            "rank_high": self.rank_interval[:, 1],
            self.rank_by.replace(" ", "_"): self.estimate,
            "standard_error": self.standard_error,
            "best_probability": self.best_probability,
            "top_k": self.top_k,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What was drawn, and a row a model.
        """
        made = f"all {len(self.tasks)}**{len(self.tasks)} draws"
        if self.seed is not None:
            made = f"{self.n_resamples} draws, seed {self.seed}"
        text = [
            f"{len(self.names)} models on {len(self.tasks)} tasks, ranked by "
            f"{self.rank_by} when tasks are drawn again: {made}.",
            "It describes how far ranks depend on the choice of tasks, and is no test of pairs.",
            *dropped_sentence(self.n_dropped),
        ]
        if self.rank_by == "mean score":
            text.append("Mean scores mean something only for tasks on one scale.")
        if self.nested:
            text.append(
                "Items were drawn within tasks: their noise is counted twice, and the "
                "variance is too large."
            )
        order = np.lexsort((self.estimate, self.rank))
        level = f"{100 * self.confidence_level:.9g}% of draws"
        shown = ["model", "rank", level, self.rank_by, "s.e.", "P(best)"]
        if self.k > 1:
            shown.append(f"P(top {self.k})")
        rows = []
        for j in order:
            low, high = self.rank_interval[j]
            row = [visible(self.names[j]), str(self.rank[j]), f"[{low}, {high}]"]
            row += [f"{self.estimate[j]:.4g}", f"{self.standard_error[j]:.3g}"]
            row += [f"{self.best_probability[j]:.3f}"]
            row += [f"{self.top_k[j]:.3f}"] * (self.k > 1)
            rows.append(tuple(row))
        title = "How far do ranks depend on the tasks?"
        return [Section(title=title, text=tuple(text), columns=tuple(shown), rows=tuple(rows))]
