"""True and false positives at every cutoff: the counts at each distinct score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.inputs.scores import Scores, order_of, read_scores, read_weights
from fastcmp.kernels.roc import split_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ThresholdSweep(Record):
    """Classification tables at every distinct score, from the highest down.

    A sample is predicted positive where its score reaches the threshold. All arrays are
    of shape (T,); counts are whole numbers unless samples have weights.
    """

    #: The distinct scores, descending.
    thresholds: NDArray[Any]
    #: Numbers of positives and of negatives that reach the threshold.
    tp: NDArray[Any]
    fp: NDArray[Any]
    #: All positives and all negatives (their weight).
    n_positives: Any
    n_negatives: Any
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    @property
    def fn(self) -> NDArray[Any]:
        """Number of positives below the threshold, shape (T,)."""
        return np.asarray(self.n_positives - self.tp)

    @property
    def tn(self) -> NDArray[Any]:
        """Number of negatives below the threshold, shape (T,)."""
        return np.asarray(self.n_negatives - self.fp)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Give the counts as columns, a row a threshold.

        Returns
        -------
        dict of str to ndarray, shape (T,)
            Thresholds, and the four cells of the table at each.
        """
        cells = {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}
        return {"threshold": self.thresholds} | cells

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"{self.thresholds.size} distinct scores of {self.n_positives:g} positives "
            f"({self.labels[0]!r}) and {self.n_negatives:g} negatives "
            f"({self.labels[1]!r})",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="Threshold sweep", text=text)]


def threshold_sweep(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
) -> ThresholdSweep:
    """Count true and false positives at every distinct score.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights to add up in place of counts.

    Returns
    -------
    ThresholdSweep
        Thresholds, descending, and the table at each. The scores of samples with weight
        0 are left out.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, a weight negative, weights do not add up to a
        finite number, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n): the scores of each class are sorted, then merged.

    Examples
    --------
    >>> from fastcmp import threshold_sweep
    >>> sweep = threshold_sweep([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> sweep.thresholds.tolist(), sweep.tp.tolist(), sweep.fp.tolist()
    ([0.9, 0.4, 0.1], [1, 2, 2], [0, 1, 2])
    """
    read = read_scores(y_true, score, positive, single=True)
    return sweep_scores(read, read_weights(sample_weight, read))


def sweep_scores(
    read: Scores, weights: NDArray[np.float64] | None = None, model: int = 0
) -> ThresholdSweep:
    """Sweep over the scores of one model."""
    column = read.columns[model]
    if weights is None:
        thresholds, fp, tp = _sweep(column, read.positive)
        totals = read.n_positives, read.n_negatives
    else:
        thresholds, fp, tp = _weighted_sweep(column, read.positive, weights)
        totals = tp[-1], fp[-1]
    if (distinct := read.distinct[model]) is not None:
        thresholds = distinct[thresholds.astype(np.int64)]
    return ThresholdSweep(
        thresholds=thresholds,
        tp=tp,
        fp=fp,
        n_positives=totals[0],
        n_negatives=totals[1],
        labels=read.labels,
        n_missing=read.n_missing,
    )


def sorted_classes(
    column: NDArray[Any], positive: NDArray[np.uint8]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort the negatives and the positives, each with +inf in the last place."""
    both = np.empty(column.size + 2, column.dtype)
    counts = split_scores(column, positive, both)
    positives = both[: counts.positives + 1]
    negatives = both[counts.positives + 1 :]
    positives[:-1].sort()
    negatives[:-1].sort()
    return negatives, positives


def _sweep(column: NDArray[Any], positive: NDArray[np.uint8]) -> tuple[Any, Any, Any]:
    negatives, positives = sorted_classes(column, positive)
    thresholds = np.empty_like(column)
    fp, tp = np.empty((2, column.size), np.int64)
    n = kernels.sweep_sorted(negatives[:-1], positives[:-1], thresholds, fp, tp)
    return thresholds[:n].copy(), fp[:n].copy(), tp[:n].copy()


def _weighted_sweep(
    column: NDArray[Any], positive: NDArray[np.uint8], weights: NDArray[np.float64]
) -> tuple[Any, Any, Any]:
    if not (used := weights > 0).all():  # no sample, no threshold
        column, positive, weights = column[used], positive[used], weights[used]
    order = order_of(column)[::-1]
    descending = column[order]
    last = np.flatnonzero(np.append(descending[1:] != descending[:-1], True))
    of_positives = weights[order] * positive[order]
    with np.errstate(over="ignore"):
        tp = np.cumsum(of_positives)[last]
        fp = np.cumsum(weights[order] - of_positives)[last]
        total = tp[-1] + fp[-1]
    if not np.isfinite(total):
        raise ValueError(
            "sample_weight must add up to a finite number, got weights up to "
            f"{weights.max():.3g}: divide all by the largest"
        )
    return descending[last], fp, tp
