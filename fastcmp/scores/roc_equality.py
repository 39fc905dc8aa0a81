"""Venkatraman and Begg's test: do two ROC curves on the same samples differ?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_seed, as_whole
from fastcmp.core.records import Record
from fastcmp.core.report import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.scores.auc import count_pairs
from fastcmp.scores.resampling import (
    REPLICATES,
    permutation_pvalue,
    read_both_classes,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VenkatramanResult(Record):
    """A permutation test of the equality of two ROC curves."""

    #: Venkatraman and Begg's E: the difference between the numbers of misclassified
    #: samples, without its sign, summed over all cuts of the ranks.
    statistic: int
    pvalue: float
    auc_a: float
    auc_b: float
    n_samples: int
    #: The statistic after each exchange, shape (B,).
    null_distribution: NDArray[np.int64]
    #: What the exchanges, and the order of tied scores, are a function of.
    seed: int
    n_missing: int = 0

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"AUC of a {self.auc_a:.4f}, of b {self.auc_b:.4f}, {self.n_samples} "
            "samples",
            f"E = {self.statistic}, p = {format_pvalue(self.pvalue)} (H0: the ROC "
            f"curves are equal; {self.null_distribution.size} exchanges, seed "
            f"{self.seed})",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="Venkatraman's test", text=text)]


def venkatraman(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    n_resamples: int = 9999,
    positive: Any = None,
    rng: Any = None,
    workers: int | None = None,
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
    threads = check_workers(workers)
    n_resamples = as_whole(n_resamples, "n_resamples", 2)
    read = read_both_classes(y_true, {"score_a": score_a, "score_b": score_b}, positive)
    seed = as_seed(rng)
    shuffled = np.random.default_rng(seed).random((2, read.positive.size))
    by_rank = np.stack(
        [np.lexsort(keys) for keys in zip(shuffled, read.columns, strict=True)]
    )
    observed = kernels.venkatraman_statistic(*read.positive[by_rank])
    out = np.empty(n_resamples, np.int64)

    def draw(part: slice) -> None:
        kernels.venkatraman_exchanges(
            by_rank, read.positive, seed, part.start, out[part]
        )

    with ThreadPool(threads) as pool:
        pool.run(draw, parts(n_resamples, REPLICATES))
    return VenkatramanResult(
        statistic=observed,
        pvalue=permutation_pvalue(out, observed, "greater"),
        auc_a=count_pairs(read, 0).auc,
        auc_b=count_pairs(read, 1).auc,
        n_samples=read.positive.size,
        null_distribution=out,
        seed=seed,
        n_missing=read.n_missing,
    )
