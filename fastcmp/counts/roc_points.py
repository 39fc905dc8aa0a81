"""The ROC curve as its points: rates at each cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_within
from fastcmp.core.records import Drawn, Record, Unpacked
from fastcmp.core.sections import Section
from fastcmp.core.sentences import answer
from fastcmp.core.typing import Floats


class Curve(Unpacked, Drawn, Record):
    """Points of a curve: arrays that unpack, and a row of the table for each point."""

    _opening = "Each point of the curve is one cutoff: scores that reach it are called positive."

    __slots__ = ()
    _title: ClassVar[str]
    _picture: ClassVar[str] = "curve"

    def columns(self) -> dict[str, Any]:
        """The points as columns, a row a point.

        Returns
        -------
        dict of str to ndarray
            The arrays of the curve.
        """
        return self._fields()

    def sections(self) -> list[Section]:
        """Describe the curve, without its points.

        Returns
        -------
        list of Section
            One section.
        """
        return [Section(title=answer(self._title), text=(self._size(),))]

    def _size(self) -> str:
        """How many points there are, in words."""
        return f"{self._parts()[0].size} points; to_frame() lists them."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RocCurve(Curve):
    """Points of a ROC curve, from (0, 0) to (1, 1)."""

    _title: ClassVar[str] = "ROC curve"
    _n_unpacked: ClassVar[int] = 3
    _blocks = "scores:curve_of"

    #: False and true positive rates, ascending, shape (T + 1,).
    fpr: Floats
    tpr: Floats
    #: A sample is positive where its score reaches this. The first point calls none
    #: positive: +inf, or NaN where a score is +inf, for then no number lies above.
    thresholds: Floats

    @property
    def auc(self) -> float:
        """Area under the points joined by lines."""
        return float(np.diff(self.fpr) @ (self.tpr[1:] + self.tpr[:-1]) / 2)

    def _size(self) -> str:
        return f"{self.fpr.size} points, AUC {self.auc:.4f}; to_frame() lists them."

    def step(self, fpr: ArrayLike) -> Floats:
        """Read the curve as a staircase: the best rate that a cutoff reaches.

        Parameters
        ----------
        fpr : array-like
            False positive rates in [0, 1].

        Returns
        -------
        ndarray
            The highest true positive rate of a cutoff with no more false positives.
        """
        x: Floats = as_within(fpr, "fpr", 0, 1)
        where = np.searchsorted(self.fpr, x, side="right") - 1
        return self.tpr[where]

    def interpolate(self, fpr: ArrayLike) -> Floats:
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
        x: Floats = as_within(fpr, "fpr", 0, 1)
        right = np.clip(np.searchsorted(self.fpr, x, side="right"), 1, None)
        left = right - 1
        right = np.minimum(right, self.fpr.size - 1)
        run = self.fpr[right] - self.fpr[left]
        part = np.divide(x - self.fpr[left], run, out=np.zeros_like(x), where=run > 0)
        return self.tpr[left] + part * (self.tpr[right] - self.tpr[left])

    def _headline(self) -> str:
        return f"The area under the ROC curve is {self.auc:.4f}."


def with_top(thresholds: Floats) -> Floats:
    """Thresholds after one that no score reaches: +inf, or NaN where a score is +inf."""
    top = np.inf if not thresholds.size or thresholds[0] < np.inf else np.nan
    return np.append(top, thresholds)
