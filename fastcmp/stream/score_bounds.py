"""The area under the ROC curve from counts in bins: exact bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import mul
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AreaBounds(Record):
    """The area under a ROC curve, as far as counts of scores in bins determine it.

    A positive and a negative in different bins are in order or not, those in a bin of
    one value are tied, and those in another bin are undecided. The area lies between
    `low`, the area if no undecided pair is in order, and `high`, if all are.
    """

    #: Pairs in which the positive scores higher.
    concordant: int
    #: Pairs of equal scores, and pairs that the bins do not decide.
    tied: int
    undecided: int
    n_positives: int
    n_negatives: int
    #: DeLong's standard error with the scores in one bin taken as equal: exact where
    #: each bin holds one value, NaN for fewer than two samples of a class.
    standard_error: float
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    @property
    def low(self) -> float:
        """The area if no undecided pair is in order."""
        return self._area(0)

    @property
    def high(self) -> float:
        """The area if all undecided pairs are in order."""
        return self._area(2)

    @property
    def auc(self) -> float:
        """The area where it is exact, else the middle of `low` and `high`."""
        return self._area(1)

    @property
    def exact(self) -> bool:
        """Whether no pair is undecided."""
        return self.undecided == 0

    @property
    def width(self) -> float:
        """The proportion of undecided pairs: `high` minus `low`."""
        return self.undecided / (self.n_positives * self.n_negatives)

    def _area(self, twice: int) -> float:
        pairs = self.n_positives * self.n_negatives
        # Python's integers, divided once: rounded once.
        halves = 2 * self.concordant + self.tied + twice * self.undecided
        return halves / (2 * pairs)

    def _shown(self) -> dict[str, Any]:
        bounds = {"auc": self.auc, "low": self.low, "high": self.high}
        return bounds | self._fields()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        area = f"AUC {self.auc:.6g}, exact"
        if not self.exact:
            area = f"AUC between {self.low:.8g} and {self.high:.8g}"
        text = (
            f"{area}; {self.n_positives} positives ({self.labels[0]!r}) and "
            f"{self.n_negatives} negatives ({self.labels[1]!r})",
            f"{self.concordant} concordant pairs, {self.tied} tied, {self.undecided} undecided",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="AUC from counts in bins", text=text)]


def total_product(one: Counts, two: Counts) -> int:
    """Add up products of counts exactly; the sum may exceed 2**63."""
    return sum(map(mul, one.tolist(), two.tolist()))


def bound_area(
    negatives: Counts,
    positives: Counts,
    exact: NDArray[np.bool_],
    *,
    labels: tuple[Any, Any],
    n_missing: int = 0,
    within: tuple[int, int] = (0, 0),
    resolved: NDArray[np.bool_] | None = None,
) -> AreaBounds:
    """Bound the area by the counts of both classes in ascending bins.

    `exact` bins hold one value. Of `resolved` bins the pairs have been counted: the
    concordant and the tied ones are `within`.
    """
    below = np.cumsum(negatives) - negatives
    known = np.zeros(exact.size, np.bool_) if resolved is None else resolved
    open_ = ~(exact | known)
    settled = exact & ~known
    return AreaBounds(
        concordant=total_product(positives, below) + within[0],
        tied=total_product(positives[settled], negatives[settled]) + within[1],
        undecided=total_product(positives[open_], negatives[open_]),
        n_positives=int(positives.sum()),
        n_negatives=int(negatives.sum()),
        standard_error=_standard_error(negatives, positives),
        labels=labels,
        n_missing=n_missing,
    )


def _standard_error(negatives: Counts, positives: Counts) -> float:
    """DeLong's standard error of scores that are bins."""
    n0, n1 = int(negatives.sum()), int(positives.sum())
    if min(n0, n1) < 2:
        return math.nan
    of_positive = (np.cumsum(negatives) - 0.5 * negatives) / n0
    of_negative = 1.0 - (np.cumsum(positives) - 0.5 * positives) / n1
    variance = 0.0
    for placed, counts, n in ((of_positive, positives, n1), (of_negative, negatives, n0)):
        mean = (placed @ counts) / n
        variance += float((placed - mean) ** 2 @ counts) / (n - 1) / n
    return math.sqrt(variance)


def only_area(areas: dict[str, AreaBounds]) -> AreaBounds:
    """Take the area of the only model."""
    if len(areas) > 1:
        raise ValueError(f"auc is of one model, got {len(areas)}: use areas")
    return next(iter(areas.values()))


class AreaCounts(Protocol):
    """Counts from which areas follow, such as `fastcmp.stream.ScoreCounts`."""

    @property
    def areas(self) -> dict[str, AreaBounds]: ...  # noqa: D102


def auc_from_counts(counts: AreaCounts) -> AreaBounds | dict[str, AreaBounds]:
    """Bound the area under the ROC curve by counts of scores in bins.

    Parameters
    ----------
    counts : ScoreCounts, RocSketch or ScoreRefinement
        Of one model or of several, from `fastcmp.stream`.

    Returns
    -------
    AreaBounds or dict
        The area of the only model; of several, their areas by name.

    Raises
    ------
    ValueError
        If there is one class only.
    TypeError
        If `counts` is something else.

    Examples
    --------
    >>> from fastcmp import auc_from_counts
    >>> from fastcmp.stream import ScoreCounts
    >>> auc_from_counts(ScoreCounts().update([0, 0, 1, 1], [1, 2, 2, 3])).auc
    0.875
    """
    if not hasattr(type(counts), "areas"):
        raise TypeError(f"counts must be a ScoreCounts, got {type(counts).__name__}")
    areas = counts.areas
    return only_area(areas) if len(areas) == 1 else areas
