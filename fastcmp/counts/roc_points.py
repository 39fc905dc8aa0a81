"""The ROC curve as its points: rates at each cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.checks import as_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class RocCurve(NamedTuple):
    """Points of a ROC curve, from (0, 0) to (1, 1)."""

    #: False and true positive rates, ascending, shape (T + 1,).
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    #: A sample is positive where its score reaches this. The first point calls none
    #: positive: +inf, or NaN where a score is +inf, for then no number lies above.
    thresholds: NDArray[np.float64]

    def step(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Read the curve as steps: the best rate that a cutoff reaches.

        Parameters
        ----------
        fpr : array-like
            False positive rates in [0, 1].

        Returns
        -------
        ndarray
            The highest true positive rate of a cutoff with no more false positives.
        """
        where = np.searchsorted(self.fpr, _as_rates(fpr), side="right") - 1
        return self.tpr[where]

    def interpolate(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Read the curve with its points joined by lines.

        Parameters
        ----------
        fpr : array-like
            False positive rates in [0, 1].

        Returns
        -------
        ndarray
            True positive rates; at a vertical line the highest.
        """
        x = _as_rates(fpr)
        right = np.clip(np.searchsorted(self.fpr, x, side="right"), 1, None)
        left = right - 1
        right = np.minimum(right, self.fpr.size - 1)
        run = self.fpr[right] - self.fpr[left]
        share = np.divide(x - self.fpr[left], run, out=np.zeros_like(x), where=run > 0)
        return self.tpr[left] + share * (self.tpr[right] - self.tpr[left])


def _as_rates(raw: ArrayLike) -> NDArray[np.float64]:
    rates = as_numbers(raw, "fpr").astype(np.float64)
    if not np.all((rates >= 0) & (rates <= 1)):
        message = "fpr must lie in [0, 1]"
        raise ValueError(message)
    return rates


def with_top(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put a threshold that no score reaches before all others.

    Parameters
    ----------
    thresholds : ndarray of float64, shape (T,)
        Descending.

    Returns
    -------
    ndarray of float64, shape (T + 1,)
        First +inf; NaN where that is a score, which no comparison calls positive.
    """
    top = np.inf if not thresholds.size or thresholds[0] < np.inf else np.nan
    return np.append(top, thresholds)
