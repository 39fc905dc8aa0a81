"""AUCs under resampling: bootstrap intervals, and tests of a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_seed, as_whole
from fastcmp.core.options import choose
from fastcmp.core.records import Record
from fastcmp.core.report import Section, format_interval, format_pvalue
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.inputs.model_names import position_of
from fastcmp.inputs.score_direction import direction_sentences, warn_of_direction
from fastcmp.inputs.scores import order_of
from fastcmp.scores.auc import count_pairs
from fastcmp.scores.auc_test import AUCComparison, compare_estimates
from fastcmp.scores.partial_area import check_region
from fastcmp.scores.resampling import (
    REPLICATES,
    Resampled,
    bootstrap_aucs,
    bootstrap_rocs,
    mark_ties,
    permutation_pvalue,
    read_both_classes,
)
from fastcmp.scores.thresholds import sweep_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_ALTERNATIVES = ("two-sided", "greater", "less")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BootstrapResult(Resampled):
    """AUCs of models on stratified bootstrap samples, the same ones for all models.

    They may be partial areas: `measure` says so.
    """

    #: AUC of each model on the data, shape (M,).
    auc: Floats
    #: AUC of each model on each resample, shape (B, M).
    replicates: Floats
    names: tuple[str, ...]
    n_positives: int
    n_negatives: int
    #: What the resamples are a function of.
    seed: int
    n_missing: int = 0
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any] = (1, 0)
    #: What is measured.
    measure: str = "AUC"

    def compare(
        self,
        a: int | str = 0,
        b: int | str = 1,
        *,
        alternative: str = "two-sided",
        margin: float = 0.0,
    ) -> AUCComparison:
        """Test a difference against its bootstrap standard error.

        Parameters
        ----------
        a, b : int or str
            The models, by name or position.
        alternative : {"two-sided", "greater", "less"}
            "greater": a is better.
        margin : float
            Non-inferiority: with "greater", whether a is worse by less than this.

        Returns
        -------
        AUCComparison
            With z = difference / standard deviation of the resampled differences.

        Raises
        ------
        ValueError
            If there is no such model, or an option is unknown.

        Examples
        --------
        >>> from fastcmp import auc_bootstrap
        >>> y_true = [0, 0, 0, 1, 1, 1]
        >>> scores = {"new": [1, 2, 3, 2, 4, 5], "old": [3, 1, 2, 2, 3, 4]}
        >>> result = auc_bootstrap(y_true, scores, rng=1)
        >>> round(result.compare("new", "old").difference, 4)
        0.0556
        """
        i, j = position_of(a, self.names), position_of(b, self.names)
        difference = self.replicates[:, i] - self.replicates[:, j]
        return compare_estimates(
            float(self.auc[i]),
            float(self.auc[j]),
            float(difference.var(ddof=1)),
            1e-28,
            alternative=alternative,
            margin=margin,
            names=(self.names[i], self.names[j]),
            measure=self.measure,
            test="Bootstrap test",
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the models.
        """
        low, high = self.confidence_interval()
        rows = tuple(
            (
                self.names[k],
                f"{self.auc[k]:.4f}",
                f"{self.standard_error[k]:.4f}",
                format_interval(low[k], high[k], digits=4),
            )
            for k in range(self.auc.size)
        )
        text = (
            f"{len(self.replicates)} stratified resamples of {self.n_positives} "
            f"positives and {self.n_negatives} negatives (seed {self.seed})",
            *(direction_sentences(self) if self.measure == "AUC" else ()),
            *dropped_sentences(self.n_missing, 0),
        )
        columns = ("model", self.measure, "std. error", "95 % (percentile)")
        return [
            Section(
                title=f"{self.measure}, bootstrap",
                text=text,
                columns=columns,
                rows=rows,
            )
        ]


def auc_bootstrap(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    scores: Any,
    *,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    standardize: bool = False,
    n_resamples: int = 2000,
    positive: Any = None,
    rng: Any = None,
    workers: int | None = None,
) -> BootstrapResult:
    """Bootstrap the AUCs of one or more models.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores speak for the positive class.
    fpr_range, tpr_range : pair of float, optional
        Only the area between these rates, as in `auc`.
    standardize : bool
        Scale a partial area as McClish does.
    n_resamples : int
        How many samples to draw, positives and negatives apart, with replacement.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    rng : int or numpy.random.Generator, optional
        Where the seed comes from; the replicates are the same for any `workers`.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    BootstrapResult
        Replicates, standard errors, percentile intervals and comparisons.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Scores are sorted once. A resample costs O(M n): drawing, and a walk along each
    order. The resamples are the same ones for the whole area and for parts of it.

    Examples
    --------
    >>> from fastcmp import auc_bootstrap
    >>> y_true, scores = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 4, 5]
    >>> result = auc_bootstrap(y_true, scores, n_resamples=500, rng=1)
    >>> result.replicates.shape
    (500, 1)
    """
    threads = check_workers(workers)
    n_resamples = as_whole(n_resamples, "n_resamples", 2)
    region = check_region(fpr_range, tpr_range, "half", standardize=standardize)
    read = read_both_classes(y_true, scores, positive)
    seed = as_seed(rng)
    models = range(len(read.columns))
    if region is None:
        areas = [count_pairs(read, m).auc for m in models]
        warn_of_direction(np.array(areas), read)
        replicates = bootstrap_aucs(read, n_resamples, seed, threads)
    else:
        areas = [region.area(sweep_scores(read, None, m)) for m in models]
        ends = np.array([region.low, region.high])
        drawn = bootstrap_rocs(
            read,
            ends,
            (n_resamples, seed, threads),
            by_tpr=region.by_tpr,
            area=True,
        )
        replicates = region.scaled(drawn[:, :, 0])
    return BootstrapResult(
        auc=np.array(areas),
        replicates=replicates,
        measure="AUC" if region is None else str(region),
        names=read.names,
        n_positives=read.n_positives,
        n_negatives=read.n_negatives,
        seed=seed,
        n_missing=read.n_missing,
        labels=read.labels,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PermutationResult(Record):
    """A permutation test of the difference of two AUCs."""

    #: AUC of a minus that of b.
    statistic: float
    pvalue: float
    auc_a: float
    auc_b: float
    alternative: str
    #: The difference after each exchange, shape (B,).
    null_distribution: Floats
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
            f"AUC of a {self.auc_a:.4f}, of b {self.auc_b:.4f}, difference "
            f"{self.statistic:+.4f}",
            f"p = {format_pvalue(self.pvalue)} ({self.alternative}; "
            f"{self.null_distribution.size} exchanges, seed {self.seed})",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="Permutation test of AUCs", text=text)]


def auc_permutation_test(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    n_resamples: int = 9999,
    alternative: str = "two-sided",
    positive: Any = None,
    rng: Any = None,
    workers: int | None = None,
) -> PermutationResult:
    """Test a difference of AUCs by exchanging the models' ranks of random samples.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score_a, score_b : array-like, shape (n,)
        Scores of two models; each is replaced by its mid-ranks, so that they can be
        exchanged.
    n_resamples : int
        How many exchanges to try.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    rng : int or numpy.random.Generator, optional
        Where the seed comes from; the result is the same for any `workers`.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    PermutationResult
        The p-value counts the data among the exchanges, so it is never 0.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    The null hypothesis is that the two ranks of a sample may be exchanged, which is
    more than equal AUCs. All ranks are sorted once.

    References
    ----------
    .. [1] A. I. Bandos, H. E. Rockette, D. Gur, "A permutation test sensitive to
       differences in areas for comparing ROC curves from a paired design", Statistics
       in Medicine 24 (2005) 2873-2893.

    Examples
    --------
    >>> from fastcmp import auc_permutation_test
    >>> y_true, a, b = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]
    >>> auc_permutation_test(y_true, a, b, n_resamples=999, rng=1).pvalue > 0.5
    True
    """
    threads = check_workers(workers)
    n_resamples = as_whole(n_resamples, "n_resamples", 2)
    alternative = choose(alternative, "alternative", _ALTERNATIVES)
    read = read_both_classes(y_true, {"score_a": score_a, "score_b": score_b}, positive)
    ranks = np.concatenate([_midranks(column) for column in read.columns])
    order = order_of(ranks)
    tied = mark_ties(ranks[order])
    seed = as_seed(rng)
    out = np.empty(n_resamples)

    def draw(part: slice) -> None:
        kernels.permuted_differences(
            order, tied, read.positive, seed, part.start, out[part]
        )

    with ThreadPool(threads) as pool:
        pool.run(draw, parts(n_resamples, REPLICATES))
    auc_a, auc_b = (count_pairs(read, m).auc for m in range(2))
    warn_of_direction(np.array([auc_a, auc_b]), read)
    observed = auc_a - auc_b
    return PermutationResult(
        statistic=observed,
        pvalue=permutation_pvalue(out, observed, alternative),
        auc_a=auc_a,
        auc_b=auc_b,
        alternative=alternative,
        null_distribution=out,
        seed=seed,
        n_missing=read.n_missing,
    )


def _midranks(column: NDArray[Any]) -> Floats:
    _, code, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - 0.5 * (counts - 1))[code])
