"""Scores that are resampled: sorted once, drawn on threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_share
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.inputs.scores import Scores, order_of, read_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

REPLICATES = 64  # replicates that are one task
_MOST = 2**31  # samples of a class that can be drawn from

Floats = NDArray[np.float64]


class Resampled(Record):
    """A record of what was measured on resamples, which are the first axis."""

    __slots__ = ()
    replicates: Floats

    @property
    def standard_error(self) -> Floats:
        """Standard deviation over the resamples; their axis is gone."""
        return np.asarray(self.replicates.std(axis=0, ddof=1))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Percentile interval for each measure by itself.

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
        level = as_share(confidence_level, "confidence_level")
        tails = [(1 - level) / 2, (1 + level) / 2]
        return ConfidenceInterval(*np.quantile(self.replicates, tails, axis=0))


def read_both_classes(y_true: ArrayLike, scores: Any, positive: Any) -> Scores:
    """Read scores of which samples are to be drawn.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels.
    scores : array-like, mapping or frame
        Scores of one or more models.
    positive : label or None
        The positive class.

    Returns
    -------
    Scores
        Of both classes.

    Raises
    ------
    ValueError
        If there is one class only, or more samples than can be drawn from.
    """
    read = read_scores(y_true, scores, positive)
    if not 0 < read.n_positives < read.positive.size:
        message = (
            f"AUC needs both classes, got {read.n_positives} positives and "
            f"{read.n_negatives} negatives"
        )
        raise ValueError(message)
    if read.positive.size >= _MOST:
        message = f"resampling takes fewer than 2**31 samples, got {read.positive.size}"
        raise ValueError(message)
    return read


def sorted_samples(read: Scores) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Sort the samples by the scores of each model.

    Parameters
    ----------
    read : Scores
        Checked scores.

    Returns
    -------
    tuple of ndarray, shape (M, n)
        The orders, and where a score equals the one before.
    """
    orders = np.stack([order_of(column) for column in read.columns])
    ties = [mark_ties(c[o]) for c, o in zip(read.columns, orders, strict=True)]
    return orders, np.stack(ties)


def mark_ties(ascending: NDArray[Any]) -> NDArray[np.uint8]:
    """Mark where a number equals the one before.

    Parameters
    ----------
    ascending : ndarray, shape (n,)
        Numbers in order.

    Returns
    -------
    ndarray of uint8, shape (n,)
        1 where it does.
    """
    tied = np.zeros(ascending.size, np.uint8)
    tied[1:] = ascending[1:] == ascending[:-1]
    return tied


def bootstrap_aucs(read: Scores, n_resamples: int, seed: int, threads: int) -> Floats:
    """Draw stratified samples, and give the AUC of each model on each.

    Parameters
    ----------
    read : Scores
        Checked scores.
    n_resamples, seed, threads : int
        How many samples, what they are a function of, and who draws them.

    Returns
    -------
    ndarray of float64, shape (B, M)
        Areas.
    """
    orders, ties = sorted_samples(read)
    out = np.empty((n_resamples, len(orders)))

    def draw(part: slice) -> None:
        kernels.bootstrap_aucs(orders, ties, read.positive, seed, part.start, out[part])

    with ThreadPool(threads) as pool:
        pool.run(draw, parts(n_resamples, REPLICATES))
    return out


def bootstrap_rocs(
    read: Scores,
    at: Floats,
    drawing: tuple[int, int, int],
    *,
    by_tpr: bool,
    area: bool = False,
) -> Floats:
    """Draw stratified samples, and read the ROC curve of each model on each.

    Parameters
    ----------
    read : Scores
        Checked scores.
    at : ndarray of float64, shape (G,)
        Rates to read at, or the two ends of an area.
    drawing : tuple of three int
        How many samples, the seed, and threads.
    by_tpr : bool
        Whether specificity is read at true positive rates.
    area : bool
        Whether to give the area between the two rates.

    Returns
    -------
    ndarray of float64, shape (B, M, G)
        Rates, or areas with G = 1.
    """
    n_resamples, seed, threads = drawing
    orders, ties = sorted_samples(read)
    out = np.empty((n_resamples, len(orders), 1 if area else at.size))

    def draw(part: slice) -> None:
        kernels.bootstrap_rocs(
            orders, ties, read.positive, by_tpr, at, area, seed, part.start, out[part]
        )

    with ThreadPool(threads) as pool:
        pool.run(draw, parts(n_resamples, REPLICATES))
    return out


def permutation_pvalue(null: Any, observed: float, alternative: str) -> float:
    """Count the exchanges that are as extreme as the data, and the data itself.

    Parameters
    ----------
    null : ndarray, shape (B,)
        The statistic after each exchange.
    observed : float
        That of the data.
    alternative : {"two-sided", "greater", "less"}
        What is extreme.

    Returns
    -------
    float
        In (0, 1].
    """
    # Equal up to rounding counts as extreme.
    slack = 1e-12
    if alternative == "greater":
        extreme = null >= observed - slack
    elif alternative == "less":
        extreme = null <= observed + slack
    else:
        extreme = np.abs(null) >= abs(observed) - slack
    return float((1 + np.count_nonzero(extreme)) / (1 + null.size))
