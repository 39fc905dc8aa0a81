"""Resampling of scores, sorted once: bootstrap of areas and rates, and permutation tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    as_numbers,
    as_proportion,
    as_resamples,
    as_seed,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Compared, ConfidenceInterval, Drawn, Record
from fastcmp.core.sections import MODEL, Column, Section, format_pvalue
from fastcmp.core.sentences import answer, dropped_sentences, how, null_hypothesis, with_null
from fastcmp.core.threads import (
    Progress,
    ThreadPool,
    check_draws,
    check_progress,
    check_workers,
    parts,
    reporting,
)
from fastcmp.core.typing import ColumnLike, Floats, Ints, Label, ModelsLike, Seed
from fastcmp.inputs.model_names import position_of
from fastcmp.inputs.scores import (
    Scores,
    direction_sentences,
    order_of,
    read_scores,
    warn_of_direction,
)
from fastcmp.scores.auc import check_region, count_pairs
from fastcmp.scores.curves import roc_points, sweep_scores
from fastcmp.scores.delong import AUCComparison, areas_sentence, compare_estimates

_REPLICATES = 64  # that are one task
_MOST = 2**31  # samples that can be drawn from


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Resampled(Record):
    """What was measured on stratified bootstrap samples, the same for all models."""

    #: What is measured, such as "AUC", "partial AUC" or "sensitivity".
    measure: str = "AUC"
    #: The measure on each resample, which are the first axis.
    replicates: Floats
    names: tuple[str, ...]
    n_positives: int
    n_negatives: int
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any] = (1, 0)
    #: What the resamples are a function of.
    seed: int
    n_missing: int = 0

    @property
    def n_resamples(self) -> int:
        """Number of bootstrap samples."""
        return len(self.replicates)

    @property
    def standard_error(self) -> Floats:
        """Standard deviation over the resamples, of the shape of one resample."""
        return np.asarray(self.replicates.std(axis=0, ddof=1))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Percentile interval for each measure on its own.

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
        level = as_proportion(confidence_level, "confidence_level")
        tails = [(1 - level) / 2, (1 + level) / 2]
        return ConfidenceInterval(*np.quantile(self.replicates, tails, axis=0))

    def _compare(
        self, values: Floats, replicates: Floats, models: Any, **options: Any
    ) -> AUCComparison:
        """Test a difference of measures, shape (M,), given those of resamples."""
        i, j = (position_of(model, self.names) for model in models)
        rarer = min(self.n_positives, self.n_negatives)
        return compare_estimates(
            float(values[i]),
            float(values[j]),
            np.cov(replicates[:, [i, j]].T),
            n_rarer=(rarer, rarer),
            names=(self.names[i], self.names[j]),
            measure=self.measure,
            test="Bootstrap test",
            n_samples=self.n_positives + self.n_negatives,
            **options,
        )

    def _size(self) -> str:
        """A sentence on what was drawn."""
        return how(
            f"{self.n_resamples} stratified resamples of {self.n_positives} positives "
            f"and {self.n_negatives} negatives (seed {self.seed})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Exchanged(Compared, Record):
    """A permutation test of two models: their ranks of random samples are exchanged."""

    _blocks = ""

    pvalue: float
    distribution: str = "permutation"
    #: What the models are described by; AUC of a minus that of b.
    measure: str = "AUC"
    difference: float
    auc_a: float
    auc_b: float
    alternative: str = "two-sided"
    #: The statistic after each exchange, shape (B,).
    null_distribution: NDArray[Any]
    #: What the exchanges are a function of.
    seed: int
    n_missing: int = 0

    @property
    def n_resamples(self) -> int:
        """Number of exchanges."""
        return self.null_distribution.size

    def _describe(self, title: str, statistic: str, hypothesis: str) -> list[Section]:
        text = (
            f"AUC of a {self.auc_a:.4f}, of b {self.auc_b:.4f}, difference {self.difference:+.4f}",
            with_null(f"{statistic}p = {format_pvalue(self.pvalue)}", hypothesis),
            how(f"{self.n_resamples} exchanges, seed {self.seed}"),
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title=title, text=text)]


class Drawing(NamedTuple):
    """How many replicates to draw, of which seed, and on how many threads."""

    n: int
    seed: int
    threads: int
    progress: bool | Progress | None

    @classmethod
    def read(
        cls, n_resamples: object, rng: Seed, workers: int | None, progress: Any, *, least: int = 2
    ) -> Drawing:
        """Check the options of a user."""
        threads, n = check_workers(workers), as_resamples(n_resamples, least)
        # Without resamples no seed is asked of the operating system.
        check_progress(progress)
        return cls(n, as_seed(0 if rng is None and not n else rng), threads, progress)

    def described(self, read: Scores) -> dict[str, Any]:
        """What all records say of the samples and the draws."""
        return {
            "names": read.names,
            "n_positives": read.n_positives,
            "n_negatives": read.n_negatives,
            "seed": self.seed,
            "n_missing": read.n_missing,
            "labels": read.labels,
        }

    def fill(self, out: NDArray[Any], draw: Callable[[int, Any], None]) -> None:
        """Fill `out`, a row a replicate, by ``draw(first, rows)`` of parts of it."""
        tasks = parts(self.n, _REPLICATES)
        with (
            reporting(self.progress, "resampling") as report,
            ThreadPool(self.threads, report) as pool,
        ):
            pool.expect(self.n)
            pool.run(
                lambda part: draw(part.start, out[part]), tasks, lambda part: part.stop - part.start
            )


def read_both_classes(y_true: object, scores: object, positive: Label) -> Scores:
    """Read scores of which samples are to be drawn."""
    read = read_scores(y_true, scores, positive)
    if not 0 < read.n_positives < read.positive.size:
        raise BadValueError(
            "AUC needs both classes",
            f"{read.n_positives} positives and {read.n_negatives} negatives",
            argument="y_true",
        )
    if read.positive.size >= _MOST:
        raise BadValueError("`resampling` takes fewer than 2**31 samples", read.positive.size)
    return read


def _bootstrapped(
    read: Scores,
    drawing: Drawing,
    at: Floats | None = None,
    *,
    by_tpr: bool = False,
    area: bool = False,
) -> Floats:
    """AUC of each model on stratified samples, (B, M); of rates `at` points of the ROC curve.

    They are true positive rates at false ones, or with `by_tpr` specificities at true ones, (B,
    M, G); or the `area` between two of them, (B, M, 1).
    """
    orders = np.stack([order_of(column) for column in read.columns])
    ties = [_mark_ties(c[o]) for c, o in zip(read.columns, orders, strict=True)]
    samples = orders, np.stack(ties), read.positive
    shape: tuple[int, ...] = (len(orders),)
    if at is not None:
        shape += (1 if area else at.size,)
    check_draws(drawing.n, math.prod(shape))
    out = np.empty((drawing.n, *shape))

    def draw(first: int, rows: Floats) -> None:
        if at is None:
            kernels.bootstrap_aucs(*samples, drawing.seed, first, rows)
        else:
            kernels.bootstrap_rocs(*samples, by_tpr, at, area, drawing.seed, first, rows)

    drawing.fill(out, draw)
    return out


def _mark_ties(ascending: NDArray[Any]) -> NDArray[np.uint8]:
    """Where a number equals the one before."""
    tied = np.zeros(ascending.size, np.uint8)
    tied[1:] = ascending[1:] == ascending[:-1]
    return tied


def _exchanged(
    kind: Any,
    read: Scores,
    drawing: Drawing,
    statistic: Any,
    null: Any,
    tail: str,
    **fields: object,
) -> Any:
    """The record of a permutation test, of which a `tail` counts."""
    # Equal up to rounding counts as extreme.
    slack = 1e-12
    if tail == "greater":
        extreme = null >= statistic - slack
    elif tail == "less":
        extreme = null <= statistic + slack
    else:
        extreme = np.abs(null) >= abs(statistic) - slack
    auc_a, auc_b = (count_pairs(read, m).auc for m in range(2))
    return kind(
        statistic=statistic,
        pvalue=float((1 + np.count_nonzero(extreme)) / (1 + null.size)),
        difference=auc_a - auc_b,
        auc_a=auc_a,
        auc_b=auc_b,
        null_distribution=null,
        seed=drawing.seed,
        n_missing=read.n_missing,
        **fields,
    )


# AUCs under resampling: bootstrap intervals, and tests of a difference.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BootstrapResult(Resampled):
    """AUCs of models on stratified bootstrap samples, the same ones for all models.

    They may be partial areas: `measure` says so. The replicates are of shape (B, M).
    """

    _blocks = "scores:resampled"
    _opening = "Intervals are percentiles over samples drawn again."
    _cites = ("efron",)

    #: AUC of each model on the data, shape (M,).
    auc: Floats
    #: Between which rates, such as "FPR 0 to 0.1"; empty for the whole curve.
    at: str = ""
    #: The largest possible area.
    largest: float = 1.0

    _columns = (
        MODEL,
        Column("{self.measure}", "auc", ".4f"),
        Column("standard_error", form=".4f", head="std. error"),
        Column("low high", lambda self: self._ends(), ".4f", "95% CI (percentile)"),
    )

    def _ends(self) -> Floats:
        return np.transpose(self.confidence_interval())

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
        text = (
            self._size(),
            *(direction_sentences(self) if self.measure == "AUC" else ()),
            *dropped_sentences(self.n_missing, 0),
        )
        title = f"{self.measure} ({self.at})" if self.at else self.measure
        return [self._printed(f"{title}, bootstrap", text=text, most=None)]

    def _headline(self) -> str:
        return areas_sentence(self)


def auc_bootstrap(
    y_true: ColumnLike,
    scores: ModelsLike,
    *,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    standardize: bool = False,
    n_resamples: int = 2000,
    positive: Label = None,
    rng: Seed = None,
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
        replicates = _bootstrapped(read, drawing)
    else:
        areas = [region.area(sweep_scores(read, None, m)) for m in models]
        ends = np.array([region.low, region.high])
        drawn = _bootstrapped(read, drawing, ends, by_tpr=region.by_tpr, area=True)
        replicates = region.scaled(drawn[:, :, 0])
    return BootstrapResult(
        auc=np.array(areas),
        replicates=replicates,
        measure="AUC" if region is None else region.measure,
        at="" if region is None else str(region),
        largest=1.0 if region is None or standardize else region.high - region.low,
        **drawing.described(read),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PermutationResult(Exchanged):
    """A permutation test of the difference of two AUCs."""

    _cites = ("bandos phipson",)
    _nulls = AUCComparison._nulls

    #: AUC of a minus that of b.
    statistic: float

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        return self._describe("Permutation test of AUCs", "", null_hypothesis(self))


def auc_permutation_test(
    y_true: ColumnLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    n_resamples: int = 9999,
    alternative: str = "two-sided",
    positive: Label = None,
    rng: Seed = None,
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
    ranks = []
    for column in read.columns:
        _, code, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(counts) - 0.5 * (counts - 1))[code])  # midranks
    together = np.concatenate(ranks)
    order = order_of(together)
    tied = _mark_ties(together[order])
    out = np.empty(drawing.n)

    def draw(first: int, rows: Floats) -> None:
        kernels.permuted_differences(order, tied, read.positive, drawing.seed, first, rows)

    drawing.fill(out, draw)
    areas = np.array([count_pairs(read, m).auc for m in range(2)])
    warn_of_direction(areas, read)
    result: PermutationResult = _exchanged(
        *(PermutationResult, read, drawing, float(areas[0] - areas[1]), out, alternative),
        alternative=alternative,
    )
    return result


# Rates read from ROC curves.


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

    def _ends(self) -> Floats:
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
            raise BadValueError(f"`at` must be one of {self.at.tolist()[:10]}", repr(at))
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
        columns = "model {self.given} {self.measure} low"
        return [self._printed(title, columns, text=text, most=None)]


def roc_band(
    y_true: ColumnLike,
    scores: ModelsLike,
    *,
    specificity: ArrayLike | None = None,
    sensitivity: ArrayLike | None = None,
    n_resamples: int = 2000,
    positive: Label = None,
    rng: Seed = None,
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
        raise BadValueError("`specificity` and sensitivity exclude each other: pass one of them")
    by_tpr = sensitivity is not None
    name, raw = ("sensitivity", sensitivity) if by_tpr else ("specificity", specificity)
    rates = np.linspace(0.0, 1.0, 101)
    if raw is not None:
        rates = np.atleast_1d(as_numbers(raw, name)).astype(np.float64)
        if rates.ndim != 1 or not rates.size or not np.all((rates >= 0) & (rates <= 1)):
            raise BadValueError(f"`{name}` must be one or more rates in [0, 1]", repr(raw))
    at = rates if by_tpr else 1.0 - rates
    drawing = Drawing.read(n_resamples, rng, workers, progress)
    read = read_both_classes(y_true, scores, positive)
    estimates = []
    for model in range(len(read.columns)):
        curve = roc_points(sweep_scores(read, None, model))
        x, y = (curve.tpr, 1.0 - curve.fpr) if by_tpr else (curve.fpr, curve.tpr)
        estimates.append(np.array([kernels.highest_at(x, y, rate) for rate in at]))
    return RocBand(
        measure="specificity" if by_tpr else "sensitivity",
        at=rates,
        estimate=np.stack(estimates),
        replicates=_bootstrapped(read, drawing, at, by_tpr=by_tpr),
        **drawing.described(read),
    )


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
    y_true: ColumnLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    n_resamples: int = 9999,
    positive: Label = None,
    rng: Seed = None,
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

    def draw(first: int, rows: Ints) -> None:
        kernels.venkatraman_exchanges(by_rank, read.positive, drawing.seed, first, rows)

    drawing.fill(out, draw)
    result: VenkatramanResult = _exchanged(
        *(VenkatramanResult, read, drawing, int(observed), out, "greater"),
        n_samples=read.positive.size,
    )
    return result
