"""AUCs under resampling: bootstrap intervals, and tests of a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.sections import Section, format_interval
from fastcmp.core.sentences import dropped_sentences
from fastcmp.inputs.score_direction import direction_sentences, warn_of_direction
from fastcmp.inputs.scores import order_of
from fastcmp.scores.auc import count_pairs
from fastcmp.scores.partial_area import check_region
from fastcmp.scores.resampling import (
    Drawing,
    Exchanged,
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

    from fastcmp.core.progress import Progress
    from fastcmp.scores.auc_test import AUCComparison

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BootstrapResult(Resampled):
    """AUCs of models on stratified bootstrap samples, the same ones for all models.

    They may be partial areas: `measure` says so. The replicates are of shape (B, M).
    """

    #: AUC of each model on the data, shape (M,).
    auc: Floats
    #: Between which rates, such as "FPR 0 to 0.1"; empty for the whole curve.
    at: str = ""
    #: The largest possible area.
    largest: float = 1.0

    def compare(
        self,
        a: int | str = 0,
        b: int | str = 1,
        *,
        alternative: str = "two-sided",
        margin: float = 0.0,
        alpha: float = 0.05,
    ) -> AUCComparison:
        """Test a difference against its bootstrap standard error.

        Parameters
        ----------
        a, b : int or str
            The models, by name or position.
        alternative : {"two-sided", "greater", "less"}
            "greater": a is better.
        margin : float
            The largest difference that does not matter, in (0, 1): adds tests of
            non-inferiority, superiority by the margin and equivalence, and a decision,
            as ``margins``. With "greater" the test itself is of non-inferiority:
            whether a is worse by less than this.
        alpha : float
            Error rate of each claim about the margin, in (0, 0.5).

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
        return self._compare(
            self.auc,
            self.replicates,
            (a, b),
            at=self.at,
            largest=self.largest,
            alternative=alternative,
            margin=margin,
            alpha=alpha,
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the models.
        """
        columns = self.columns()
        ends = zip(columns["low"], columns["high"], strict=True)
        cells = (
            columns["model"],
            [f"{area:.4f}" for area in self.auc],
            [f"{error:.4f}" for error in columns["standard_error"]],
            [format_interval(*each, digits=4) for each in ends],
        )
        text = (
            self._size(),
            *(direction_sentences(self) if self.measure == "AUC" else ()),
            *dropped_sentences(self.n_missing, 0),
        )
        title = f"{self.measure} ({self.at})" if self.at else self.measure
        return [
            Section(
                title=f"{title}, bootstrap",
                text=text,
                columns=("model", self.measure, "std. error", "95% CI (percentile)"),
                rows=tuple(zip(*cells, strict=True)),
            )
        ]

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Names, areas, standard errors and 95% intervals.
        """
        low, high = self.confidence_interval()
        return {
            "model": list(self.names),
            self.measure: self.auc,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
        }


def auc_bootstrap(
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
    progress: bool | Progress | None = None,
) -> BootstrapResult:
    """Bootstrap the AUCs of one or more models.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores indicate the positive class.
    fpr_range, tpr_range : pair of float, optional
        Only the area between these rates, as in `auc`.
    standardize : bool
        Scale a partial area as McClish does.
    n_resamples : int
        How many samples to draw with replacement, from positives and negatives
        separately.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    rng : int or numpy.random.Generator, optional
        Where the seed comes from; the replicates are the same for any `workers`.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        True draws a bar on standard error (needs rich); a function is called with the
        resamples done and all of them.

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
    order. The resamples are the same for the whole area and for parts of it.

    Examples
    --------
    >>> from fastcmp import auc_bootstrap
    >>> y_true, scores = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 4, 5]
    >>> result = auc_bootstrap(y_true, scores, n_resamples=500, rng=1)
    >>> result.replicates.shape
    (500, 1)
    """
    region = check_region(fpr_range, tpr_range, "half", standardize=standardize)
    drawing = Drawing.read(n_resamples, rng, workers, progress)
    read = read_both_classes(y_true, scores, positive)
    models = range(len(read.columns))
    if region is None:
        areas = [count_pairs(read, m).auc for m in models]
        warn_of_direction(np.array(areas), read)
        replicates = bootstrap_aucs(read, drawing)
    else:
        areas = [region.area(sweep_scores(read, None, m)) for m in models]
        ends = np.array([region.low, region.high])
        drawn = bootstrap_rocs(read, ends, drawing, by_tpr=region.by_tpr, area=True)
        replicates = region.scaled(drawn[:, :, 0])
    return BootstrapResult(
        auc=np.array(areas),
        replicates=replicates,
        measure="AUC" if region is None else region.measure,
        at="" if region is None else str(region),
        largest=1.0 if region is None or standardize else region.high - region.low,
        names=read.names,
        n_positives=read.n_positives,
        n_negatives=read.n_negatives,
        seed=drawing.seed,
        n_missing=read.n_missing,
        labels=read.labels,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PermutationResult(Exchanged):
    """A permutation test of the difference of two AUCs."""

    #: AUC of a minus that of b.
    statistic: float

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        hypothesis = {
            "two-sided": "a and b have equal AUC",
            "greater": "a is not better than b",
            "less": "a is not worse than b",
        }[self.alternative]
        return self._describe("Permutation test of AUCs", "", hypothesis)


def auc_permutation_test(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    n_resamples: int = 9999,
    alternative: str = "two-sided",
    positive: Any = None,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
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
    progress : bool or callable, optional
        True draws a bar on standard error (needs rich); a function is called with the
        resamples done and all of them.

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
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    drawing = Drawing.read(n_resamples, rng, workers, progress)
    read = read_both_classes(y_true, {"score_a": score_a, "score_b": score_b}, positive)
    ranks = np.concatenate([_midranks(column) for column in read.columns])
    order = order_of(ranks)
    tied = mark_ties(ranks[order])
    out = np.empty(drawing.n)

    def draw(first: int, rows: Floats) -> None:
        kernels.permuted_differences(order, tied, read.positive, drawing.seed, first, rows)

    drawing.fill(out, draw)
    auc_a, auc_b = (count_pairs(read, m).auc for m in range(2))
    warn_of_direction(np.array([auc_a, auc_b]), read)
    observed = auc_a - auc_b
    return PermutationResult(
        statistic=observed,
        pvalue=permutation_pvalue(out, observed, alternative),
        difference=observed,
        auc_a=auc_a,
        auc_b=auc_b,
        alternative=alternative,
        null_distribution=out,
        seed=drawing.seed,
        n_missing=read.n_missing,
    )


def _midranks(column: NDArray[Any]) -> Floats:
    _, code, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - 0.5 * (counts - 1))[code])
