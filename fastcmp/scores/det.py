"""The detection error tradeoff: false negatives against false positives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.counts.roc_points import with_top
from fastcmp.scores.curves import at_changes, roc_points
from fastcmp.scores.thresholds import threshold_sweep

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class DetCurve(NamedTuple):
    """Error rates at each threshold, thresholds ascending, shape (T,)."""

    #: False positive rates, descending to 0.
    fpr: NDArray[np.float64]
    #: False negative rates, ascending from 0.
    fnr: NDArray[np.float64]
    #: A sample is positive where its score reaches this. If no score separates a
    #: positive from all negatives, the last one calls nothing positive: +inf, or NaN
    #: where a score is +inf.
    thresholds: NDArray[np.float64]


def det_curve(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> DetCurve:
    """Compute the two error rates at each cutoff that trades one for the other.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores speak for the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    drop_intermediate : bool
        Whether to leave out points whose false negative rate is that of both
        neighbours.

    Returns
    -------
    DetCurve
        From the highest cutoff without false negatives to the lowest one without false
        positives, in ascending order, as scikit-learn has it.

    Raises
    ------
    ValueError
        As `threshold_sweep`, or if there is one class only.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n). Drawn on the scale of normal deviates the curve is a straight line where
    the scores of both classes are normal [1]_.

    References
    ----------
    .. [1] A. Martin, G. Doddington, T. Kamm, M. Ordowski, M. Przybocki, "The DET curve
       in assessment of detection task performance", Proc. Eurospeech (1997) 1895-1898.

    Examples
    --------
    >>> from fastcmp import det_curve
    >>> fpr, fnr, thresholds = det_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> fpr.tolist(), fnr.tolist(), thresholds.tolist()
    ([0.5, 0.0], [0.0, 0.5], [0.4, 0.9])
    """
    sweep = threshold_sweep(
        y_true, score, positive=positive, sample_weight=sample_weight
    )
    roc_points(sweep)  # needs both classes
    fp, tp = np.append(0, sweep.fp), np.append(0, sweep.tp)
    thresholds = with_top(sweep.thresholds.astype(np.float64))
    if drop_intermediate:
        kept = at_changes(tp)
        fp, tp, thresholds = fp[kept], tp[kept], thresholds[kept]
    first = np.searchsorted(fp, 0, side="right") - 1
    last = np.searchsorted(tp, tp[-1]) + 1
    part = slice(first, last)
    return DetCurve(
        fpr=fp[part][::-1] / sweep.n_negatives,
        fnr=(sweep.n_positives - tp[part])[::-1] / sweep.n_positives,
        thresholds=thresholds[part][::-1],
    )
