"""Venkatraman and Begg's test: do two ROC curves on the same samples differ?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.scores.auc import count_pairs
from fastcmp.scores.resampling import Drawing, Exchanged, permutation_pvalue, read_both_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.core.progress import Progress
    from fastcmp.core.sections import Section


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VenkatramanResult(Exchanged):
    """A permutation test of the equality of two ROC curves."""

    #: Venkatraman and Begg's E: the difference between the numbers of misclassified
    #: samples, without its sign, summed over all cuts of the ranks.
    statistic: int
    n_samples: int

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        statistic = f"E = {self.statistic}, "
        hypothesis = "the ROC curves are equal"
        return self._describe("Venkatraman's test", statistic, hypothesis)


def venkatraman(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    n_resamples: int = 9999,
    positive: Any = None,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> VenkatramanResult:
    """Test whether two models have the same ROC curve on the same samples.

    Two curves that cross may have equal areas; this test sees the difference.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score_a, score_b : array-like, shape (n,)
        Scores of two models; each is replaced by its ranks. Tied scores are ordered at
        random.
    n_resamples : int
        How many times the two ranks of random samples are exchanged.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    rng : int or numpy.random.Generator, optional
        Where the seed comes from; the result is the same for any `workers`.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        True draws a bar on standard error (needs rich); a function is called with the
        resamples done and all of them.

    Returns
    -------
    VenkatramanResult
        The p-value counts the data among the exchanges, so it is never 0.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n) to rank, O(n) an exchange. Where many scores are tied the statistic
    depends on the seed.

    References
    ----------
    .. [1] E. S. Venkatraman, C. B. Begg, "A distribution-free procedure for comparing
       receiver operating characteristic curves from a paired experiment", Biometrika
       83 (1996) 835-848.

    Examples
    --------
    >>> from fastcmp import venkatraman
    >>> y_true, a, b = [0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6], [3, 1, 4, 2, 6, 5]
    >>> venkatraman(y_true, a, b, n_resamples=999, rng=1).statistic
    4
    """
    drawing = Drawing.read(n_resamples, rng, workers, progress)
    read = read_both_classes(y_true, {"score_a": score_a, "score_b": score_b}, positive)
    shuffled = np.random.default_rng(drawing.seed).random((2, read.positive.size))
    by_rank = np.stack([np.lexsort(keys) for keys in zip(shuffled, read.columns, strict=True)])
    observed = kernels.venkatraman_statistic(*read.positive[by_rank])
    out = np.empty(drawing.n, np.int64)

    def draw(first: int, rows: NDArray[np.int64]) -> None:
        kernels.venkatraman_exchanges(by_rank, read.positive, drawing.seed, first, rows)

    drawing.fill(out, draw)
    auc_a, auc_b = (count_pairs(read, m).auc for m in range(2))
    return VenkatramanResult(
        statistic=int(observed),
        pvalue=permutation_pvalue(out, observed, "greater"),
        difference=auc_a - auc_b,
        auc_a=auc_a,
        auc_b=auc_b,
        n_samples=read.positive.size,
        null_distribution=out,
        seed=drawing.seed,
        n_missing=read.n_missing,
    )
