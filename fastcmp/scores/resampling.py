"""Resampling of scores: sorted once, drawn on threads; the bases of its records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_proportion, as_resamples, as_seed
from fastcmp.core.memory import check_draws
from fastcmp.core.progress import Progress, check_progress, reporting
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.inputs.model_names import position_of
from fastcmp.inputs.scores import Scores, order_of, read_scores
from fastcmp.scores.auc_test import AUCComparison, compare_estimates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

_REPLICATES = 64  # that are one task
_MOST = 2**31  # samples that can be drawn from

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Resampled(Record):
    """What was measured on stratified bootstrap samples, the same for all models."""

    #: What is measured, such as "AUC", "partial AUC" or "sensitivity".
    measure: str = "AUC"
    #: The measure on each resample, which are the first axis.
    replicates: Floats
    names: tuple[str, ...]
    n_positives: int
    n_negatives: int
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any] = (1, 0)
    #: What the resamples are a function of.
    seed: int
    n_missing: int = 0

    @property
    def n_resamples(self) -> int:
        """Number of bootstrap samples."""
        return len(self.replicates)

    @property
    def standard_error(self) -> Floats:
        """Standard deviation over the resamples, of the shape of one resample."""
        return np.asarray(self.replicates.std(axis=0, ddof=1))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Percentile interval for each measure on its own.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``, each with the shape of one resample. Of rates over a
            grid they are a band that holds pointwise, not for the curve as a whole.
        """
        level = as_proportion(confidence_level, "confidence_level")
        tails = [(1 - level) / 2, (1 + level) / 2]
        return ConfidenceInterval(*np.quantile(self.replicates, tails, axis=0))

    def _compare(
        self, values: Floats, replicates: Floats, models: Any, **options: Any
    ) -> AUCComparison:
        """Test a difference of measures, shape (M,), given those of resamples."""
        i, j = (position_of(model, self.names) for model in models)
        rarer = min(self.n_positives, self.n_negatives)
        return compare_estimates(
            float(values[i]),
            float(values[j]),
            np.cov(replicates[:, [i, j]].T),
            n_rarer=(rarer, rarer),
            names=(self.names[i], self.names[j]),
            measure=self.measure,
            test="Bootstrap test",
            n_samples=self.n_positives + self.n_negatives,
            **options,
        )

    def _size(self) -> str:
        """Say what was drawn."""
        return (
            f"{self.n_resamples} stratified resamples of {self.n_positives} positives "
            f"and {self.n_negatives} negatives (seed {self.seed})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Exchanged(Compared, Record):
    """A permutation test of two models: their ranks of random samples are exchanged."""

    pvalue: float
    distribution: str = "permutation"
    #: What the models are described by; AUC of a minus that of b.
    measure: str = "AUC"
    difference: float
    auc_a: float
    auc_b: float
    alternative: str = "two-sided"
    #: The statistic after each exchange, shape (B,).
    null_distribution: NDArray[Any]
    #: What the exchanges are a function of.
    seed: int
    n_missing: int = 0

    @property
    def n_resamples(self) -> int:
        """Number of exchanges."""
        return self.null_distribution.size

    def _describe(self, title: str, statistic: str, hypothesis: str) -> list[Section]:
        text = (
            f"AUC of a {self.auc_a:.4f}, of b {self.auc_b:.4f}, difference {self.difference:+.4f}",
            f"{statistic}p = {format_pvalue(self.pvalue)} (H0: {hypothesis})",
            f"{self.n_resamples} exchanges, seed {self.seed}",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title=title, text=text)]


class Drawing(NamedTuple):
    """How many replicates to draw, of which seed, and on how many threads."""

    n: int
    seed: int
    threads: int
    progress: bool | Progress | None

    @classmethod
    def read(
        cls, n_resamples: Any, rng: Any, workers: Any, progress: Any, *, least: int = 2
    ) -> Drawing:
        """Check the options of a user."""
        threads, n = check_workers(workers), as_resamples(n_resamples, least)
        # Without resamples no seed is asked of the operating system.
        check_progress(progress)
        return cls(n, as_seed(0 if rng is None and not n else rng), threads, progress)

    def fill(self, out: NDArray[Any], draw: Callable[[int, Any], None]) -> None:
        """Fill `out`, a row a replicate, by ``draw(first, rows)`` of parts of it."""
        tasks = parts(self.n, _REPLICATES)
        with (
            reporting(self.progress, "resampling") as report,
            ThreadPool(self.threads, report) as pool,
        ):
            pool.expect(self.n)
            pool.run(
                lambda part: draw(part.start, out[part]),
                tasks,
                lambda part: part.stop - part.start,
            )


def read_both_classes(y_true: ArrayLike, scores: Any, positive: Any) -> Scores:
    """Read scores of which samples are to be drawn."""
    read = read_scores(y_true, scores, positive)
    if not 0 < read.n_positives < read.positive.size:
        raise ValueError(
            f"AUC needs both classes, got {read.n_positives} positives and "
            f"{read.n_negatives} negatives"
        )
    if read.positive.size >= _MOST:
        raise ValueError(f"resampling takes fewer than 2**31 samples, got {read.positive.size}")
    return read


def _sorted_samples(read: Scores) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Sort the samples by the scores of each model."""
    orders = np.stack([order_of(column) for column in read.columns])
    ties = [mark_ties(c[o]) for c, o in zip(read.columns, orders, strict=True)]
    return orders, np.stack(ties)


def mark_ties(ascending: NDArray[Any]) -> NDArray[np.uint8]:
    """Mark where a number equals the one before."""
    tied = np.zeros(ascending.size, np.uint8)
    tied[1:] = ascending[1:] == ascending[:-1]
    return tied


def bootstrap_aucs(read: Scores, drawing: Drawing) -> Floats:
    """Draw stratified samples, and give the AUC of each model on each: (B, M)."""
    orders, ties = _sorted_samples(read)
    check_draws(drawing.n, len(orders))
    out = np.empty((drawing.n, len(orders)))

    def draw(first: int, rows: Floats) -> None:
        kernels.bootstrap_aucs(orders, ties, read.positive, drawing.seed, first, rows)

    drawing.fill(out, draw)
    return out


def bootstrap_rocs(
    read: Scores, at: Floats, drawing: Drawing, *, by_tpr: bool, area: bool = False
) -> Floats:
    """Draw stratified samples, and read the ROC curve of each model on each.

    Rates at those of `at`, shape (B, M, G), or the area between its two, (B, M, 1).
    """
    orders, ties = _sorted_samples(read)
    check_draws(drawing.n, len(orders) * (1 if area else at.size))
    out = np.empty((drawing.n, len(orders), 1 if area else at.size))

    def draw(first: int, rows: Floats) -> None:
        kernels.bootstrap_rocs(
            orders, ties, read.positive, by_tpr, at, area, drawing.seed, first, rows
        )

    drawing.fill(out, draw)
    return out


def permutation_pvalue(null: Any, observed: float, alternative: str) -> float:
    """Count the exchanges that are as extreme as the data, and the data itself."""
    # Equal up to rounding counts as extreme.
    slack = 1e-12
    if alternative == "greater":
        extreme = null >= observed - slack
    elif alternative == "less":
        extreme = null <= observed + slack
    else:
        extreme = np.abs(null) >= abs(observed) - slack
    return float((1 + np.count_nonzero(extreme)) / (1 + null.size))
