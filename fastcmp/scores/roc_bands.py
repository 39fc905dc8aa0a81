"""Sensitivity at given specificities, and the reverse, with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_numbers
from fastcmp.core.records import Drawn
from fastcmp.core.sections import Column, Section
from fastcmp.core.sentences import answer, dropped_sentences
from fastcmp.core.threads import Progress
from fastcmp.inputs.scores import Scores
from fastcmp.scores.auc import count_pairs
from fastcmp.scores.auc_test import AUCComparison
from fastcmp.scores.curves import roc_points, sweep_scores
from fastcmp.scores.resampling import (
    Drawing,
    Exchanged,
    Resampled,
    bootstrap_rocs,
    permutation_pvalue,
    read_both_classes,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RocBand(Drawn, Resampled):
    """Rates of models read from their ROC curves, on bootstrap samples too.

    The measure is "sensitivity" at given specificities, or "specificity" at given
    sensitivities. The replicates are of shape (B, M, G).
    """

    _picture: ClassVar[str] = "roc_band"
    _blocks = "scores:roc_band"
    _opening = "Intervals of the rates are percentiles over samples drawn again."
    _cites = ("efron",)

    #: Specificities, or sensitivities, to read at, shape (G,).
    at: Floats
    #: The rate of each model, shape (M, G).
    estimate: Floats

    _columns = (
        Column("model", lambda self: np.repeat(np.array(self.names, object), self.at.size)),
        Column("{self.given}", lambda self: np.tile(self.at, len(self.names)), "g"),
        Column("{self.measure}", lambda self: self.estimate.ravel(), ".4f"),
        Column("standard_error", lambda self: self.standard_error.ravel()),
        Column("low high", lambda self: self._ends(), ".4f", "95% CI (percentile)"),
    )

    def _ends(self) -> NDArray[np.float64]:
        return np.reshape(self.confidence_interval(), (2, -1)).T

    @property
    def given(self) -> str:
        """What is given: "specificity" or "sensitivity"."""
        return "specificity" if self.measure == "sensitivity" else "sensitivity"

    def compare(
        self,
        a: int | str = 0,
        b: int | str = 1,
        *,
        at: float | None = None,
        alternative: str = "two-sided",
        margin: float = 0.0,
        alpha: float = 0.05,
    ) -> AUCComparison:
        """Test a difference of rates against its bootstrap standard error.

        Parameters
        ----------
        a, b : int or str
            The models, by name or position.
        at : float, optional
            Which of the given rates; not needed where there is one.
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
            If there is no such model or rate, or an option is unknown.
        """
        where = np.flatnonzero(self.at == (self.at[0] if at is None else at))
        if where.size == 0 or (at is None and self.at.size > 1):
            raise ValueError(f"at must be one of {self.at.tolist()[:10]}, got {at!r}")
        g = where[0]
        return self._compare(
            self.estimate[:, g],
            self.replicates[:, :, g],
            (a, b),
            at=f"at {self.given} {self.at[g]:g}",
            alternative=alternative,
            margin=margin,
            alpha=alpha,
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of models and given rates.
        """
        text = (self._size(), *dropped_sentences(self.n_missing, 0))
        title = answer(f"{self.measure.capitalize()} at given {self.given}")
        shown = "model {self.given} {self.measure} low"
        return [self._printed(title, shown, text=text, most=None)]


def roc_band(
    y_true: ArrayLike,
    scores: Any,
    *,
    specificity: ArrayLike | None = None,
    sensitivity: ArrayLike | None = None,
    n_resamples: int = 2000,
    positive: Any = None,
    rng: Any = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> RocBand:
    """Read sensitivity at given specificities, or the reverse, with intervals.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores indicate the positive class.
    specificity : float or array-like, shape (G,), optional
        Read the sensitivity at these; by default at 0, 0.01, ..., 1, which makes a band
        around the whole curve.
    sensitivity : float or array-like, shape (G,), optional
        Read the specificity at these instead.
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
    RocBand
        Rates, standard errors, percentile intervals and comparisons.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, a rate lies outside [0, 1], both kinds of
        rates are given, or there are not two classes.
    TypeError
        If scores or rates are not numbers.

    Notes
    -----
    The points of a curve are joined by lines; where it is vertical, the highest point
    is read. A resample costs O(M (n + G log n)), and 8 M G bytes.

    Examples
    --------
    >>> from fastcmp import roc_band
    >>> y_true, scores = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 4, 5]
    >>> band = roc_band(y_true, scores, specificity=[0.5, 0.9], rng=1)
    >>> band.estimate.round(3).tolist()
    [[0.833, 0.667]]
    """
    if specificity is not None and sensitivity is not None:
        raise ValueError("specificity and sensitivity exclude each other: pass one of them")
    by_tpr = sensitivity is not None
    given = _read_rates(
        sensitivity if by_tpr else specificity, "sensitivity" if by_tpr else "specificity"
    )
    at = given if by_tpr else 1.0 - given
    drawing = Drawing.read(n_resamples, rng, workers, progress)
    read = read_both_classes(y_true, scores, positive)
    return RocBand(
        measure="specificity" if by_tpr else "sensitivity",
        at=given,
        estimate=np.stack([_rates(read, m, at, by_tpr=by_tpr) for m in range(len(read.columns))]),
        replicates=bootstrap_rocs(read, at, drawing, by_tpr=by_tpr),
        names=read.names,
        n_positives=read.n_positives,
        n_negatives=read.n_negatives,
        seed=drawing.seed,
        n_missing=read.n_missing,
        labels=read.labels,
    )


def _read_rates(raw: Any, name: str) -> Floats:
    if raw is None:
        return np.linspace(0.0, 1.0, 101)
    rates = np.atleast_1d(as_numbers(raw, name)).astype(np.float64)
    if rates.ndim != 1 or not rates.size or not np.all((rates >= 0) & (rates <= 1)):
        raise ValueError(f"{name} must be one or more rates in [0, 1], got {raw!r}")
    return rates


def _rates(read: Scores, model: int, at: Floats, *, by_tpr: bool) -> Floats:
    curve = roc_points(sweep_scores(read, None, model))
    x, y = (curve.tpr, 1.0 - curve.fpr) if by_tpr else (curve.fpr, curve.tpr)
    return np.array([kernels.highest_at(x, y, rate) for rate in at])


# Venkatraman and Begg's test: do two ROC curves on the same samples differ?.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VenkatramanResult(Exchanged):
    """A permutation test of the equality of two ROC curves."""

    _cites = ("venkatraman phipson",)

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
