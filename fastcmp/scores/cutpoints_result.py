"""The record of a search for the best cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_proportion
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Column, Section, interval_name
from fastcmp.core.sentences import Sentence, answer, dropped_sentences
from fastcmp.scores.classification import ClassificationTable, format_count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CutpointResult(Record):
    """The best cutoff by one criterion, or several that are equally good.

    Arrays are of shape (m,), one entry an optimum, cutoffs descending, or ascending where
    low scores are called positive.
    """

    _opening = (
        "The cutoff was chosen by this criterion: {record.criterion}. A sample is called "
        "positive where its score is {record.rule} the cutoff."
    )
    _cites = (("criterion", {"youden": "youden"}),)

    #: What was optimised, and its best value; NaN for "prevalence".
    criterion: str
    value: float
    #: Whether the best value is the largest one.
    maximised: bool
    #: Observed scores; infinite where all samples are called the same and no score
    #: says so. For "prevalence" the prevalence itself.
    cutoffs: NDArray[np.float64]
    #: Cutoffs with the same calls, halfway between neighbouring distinct scores;
    #: infinite beyond the first and the last.
    midpoints: NDArray[np.float64]
    #: Positives and negatives that are called positive; sums of weights, if samples
    #: have any, as are the numbers of all.
    tp: NDArray[Any]
    fp: NDArray[Any]
    n_positives: Any
    n_negatives: Any
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    #: ">=", ">", "<=" or "<": what score a sample must have to be called positive.
    rule: str
    #: Proportion of positives that the criterion assumes.
    prevalence: float
    cost_fp: float = 1.0
    cost_fn: float = 1.0
    n_missing: int = 0
    #: Best cutoffs of bootstrap samples, shape (n_resamples,); empty without.
    resampled: NDArray[np.float64]
    #: Mean value of the criterion on the samples that a bootstrap sample left out, at
    #: its best cutoff; NaN without resampling.
    out_of_bag: float = np.nan
    confidence_level: float = 0.95
    #: What the bootstrap samples are a function of; None without.
    seed: int | None = None

    _columns = (
        Column("cutoff", "cutoffs", ".6g"),
        Column("midpoint", "midpoints", ".6g"),
        Column("value", lambda self: np.full(self.cutoffs.size, self.value)),
        *Column.each("sensitivity specificity", ".4f"),
        *Column.each("tp fp"),
        Column("fn", lambda self: self.n_positives - self.tp),
        Column("tn", lambda self: self.n_negatives - self.fp),
    )
    _read = (
        *("criterion", "value", "maximised", "cutoffs", "midpoints", "tp", "fp", "sensitivity"),
        *("specificity", "n_positives", "n_negatives", "labels", "rule", "prevalence", "cost_fp"),
        *("cost_fn", "n_missing", "seed", "n_resamples", "confidence_level"),
        Column(
            "interval", lambda self: [*self.confidence_interval()] if self.resampled.size else None
        ),
        "out_of_bag",
    )

    @property
    def n_optima(self) -> int:
        """Number of cutoffs that are equally good."""
        return int(self.cutoffs.size)

    @property
    def n_resamples(self) -> int:
        """Number of bootstrap samples that had a best cutoff."""
        return int(self.resampled.size)

    @property
    def cutoff(self) -> float:
        """The first of the best cutoffs: of them it calls the fewest samples positive."""
        return float(self.cutoffs[0])

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """Proportion of positives called positive, shape (m,)."""
        return np.asarray(self.tp / self.n_positives)

    @property
    def specificity(self) -> NDArray[np.float64]:
        """Proportion of negatives called negative, shape (m,)."""
        return np.asarray((self.n_negatives - self.fp) / self.n_negatives)

    @property
    def optimism(self) -> float:
        """How much better the value is on the samples that chose the cutoff."""
        gain = self.value - self.out_of_bag
        return gain if self.maximised else -gain

    @property
    def tables(self) -> tuple[ClassificationTable, ...]:
        """The classification table of each optimum."""
        cells = zip(self.cutoffs, self.tp, self.fp, strict=True)
        return tuple(
            ClassificationTable(
                tp=tp.item(),
                fp=fp.item(),
                fn=self.n_positives - tp.item(),
                tn=self.n_negatives - fp.item(),
                weighted=self.tp.dtype.kind == "f",
                cutoff=float(cutoff),
                rule=self.rule,
                confidence_level=self.confidence_level,
                labels=self.labels,
                n_missing=self.n_missing,
            )
            for cutoff, tp, fp in cells
        )

    def confidence_interval(self, confidence_level: float | None = None) -> ConfidenceInterval:
        """Percentile interval of the cutoff from bootstrap samples.

        Parameters
        ----------
        confidence_level : float, optional
            In (0, 1); by default that of the record.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``, cutoffs of two bootstrap samples, perhaps infinite.

        Raises
        ------
        ValueError
            If there was no resampling.

        Examples
        --------
        >>> from fastcmp.scores.cutpoints import optimal_cutpoint
        >>> y_true, score = [0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]
        >>> result = optimal_cutpoint(y_true, score, n_resamples=200, rng=1)
        >>> result.confidence_interval(0.8)
        ConfidenceInterval(low=3.0, high=6.0)
        """
        if not self.resampled.size:
            raise ValueError("there was no resampling: pass n_resamples=")
        level = self.confidence_level
        if confidence_level is not None:
            level = as_proportion(confidence_level, "confidence_level")
        tail = 0.5 * (1.0 - level)
        # Cutoffs may be infinite: no interpolation between them.
        low, high = np.quantile(self.resampled, [tail, 1.0 - tail], method="inverted_cdf")
        return ConfidenceInterval(float(low), float(high))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row an optimum.
        """
        columns = ("cutoff", "midpoint", "sensitivity", "specificity", "called positive")
        optima = (self.cutoffs, self.midpoints, self.sensitivity, self.specificity)
        rows = tuple(
            (f"{c:.6g}", f"{m:.6g}", f"{se:.4f}", f"{sp:.4f}", f"{format_count(n)}")
            for c, m, se, sp, n in zip(*optima, self.tp + self.fp, strict=True)
        )
        notes: list[str] = []
        if self.resampled.size:
            low, high = self.confidence_interval()
            name = f"{interval_name(self.confidence_level)} of the cutoff"
            samples = f"{self.n_resamples} bootstrap samples, seed {self.seed}"
            notes.append(
                Sentence(
                    f"{name} [{low:.6g}, {high:.6g}] ({samples}); {self.criterion} "
                    f"{self.out_of_bag:.4f} on the samples that they left out.",
                    how=f"The {name} is of {samples}.",
                )
            )
        notes += dropped_sentences(self.n_missing, 0)
        return [
            Section(
                title=f"Optimal cutoff ({self.criterion})",
                text=self._lead(),
                columns=columns,
                rows=rows,
                notes=tuple(notes),
                most=10,
            )
        ]

    def _lead(self) -> tuple[str, ...]:
        samples = (
            f"{format_count(self.n_positives)} positives ({self.labels[0]!r}), "
            f"{format_count(self.n_negatives)} "
            f"negatives ({self.labels[1]!r}); positive where the score is {self.rule} "
            "the cutoff."
        )
        if self.criterion == "prevalence":
            return (samples, "The cutoff is the prevalence: no criterion was optimised.")
        best = f"{'Largest' if self.maximised else 'Smallest'} value: {self.value:.6g}"
        if self.criterion == "youden":
            best = f"Youden index: {self.value:.3f}"
        ties = f", at {self.n_optima} cutoffs" if self.n_optima > 1 else ""
        return (samples, answer(f"{best}{ties}."))
