"""The area under the ROC curve, from counts of concordant pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import are_counts_given, as_rate, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Classes, ColumnLike, Flags, Floats, Label, ModelsLike, Numbers
from fastcmp.inputs.scores import (
    ClassScores,
    Scores,
    direction_sentences,
    has_columns,
    read_class_scores,
    read_scores,
    read_weights,
    warn_of_direction,
)
from fastcmp.kernels.roc import PAIR_BASE
from fastcmp.scores.curves import (
    AVERAGES,
    ThresholdSweep,
    average_classes,
    class_weights,
    roc_points,
    sorted_classes,
    sweep_scores,
)
from fastcmp.stream.dask_blocks import are_collections, refuse_options
from fastcmp.stream.score_state import AreaCounts, only_area


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the ROC curve: between two false positive rates, or two true ones."""

    low: float
    high: float
    by_tpr: bool
    standardize: bool

    def area(self, sweep: ThresholdSweep) -> float:
        """Measure the area of one model."""
        curve = roc_points(sweep)
        x, y = curve.fpr, curve.tpr
        if self.by_tpr:
            x, y = curve.tpr, 1.0 - curve.fpr
        inside = (x > self.low) & (x < self.high)
        # At a vertical part the ends take the point that borders the region.
        ends = [_read_at(x, y, self.low, "right"), _read_at(x, y, self.high, "left")]
        xs = np.concatenate([[self.low], x[inside], [self.high]])
        ys = np.concatenate([ends[:1], y[inside], ends[1:]])
        return float(self.scaled(np.diff(xs) @ (ys[1:] + ys[:-1]) / 2))

    def scaled(self, area: Numbers) -> Any:
        """Standardize areas as McClish does, where that is wanted."""
        width = self.high - self.low
        if not self.standardize:
            return np.minimum(area, width)
        middle = (self.high**2 - self.low**2) / 2
        chance = width - middle if self.by_tpr else middle
        return np.minimum((1 + (area - chance) / (width - chance)) / 2, 1.0)

    @property
    def measure(self) -> str:
        """Name what is measured."""
        return "standardized partial AUC" if self.standardize else "partial AUC"

    def __str__(self) -> str:
        """The rates, as text."""
        return f"{'TPR' if self.by_tpr else 'FPR'} {self.low:g} to {self.high:g}"


def _read_at(x: Floats, y: Floats, at: float, side: str) -> float:
    """Interpolate a curve with vertical parts, from the left or from the right."""
    if side == "right":
        right = int(np.searchsorted(x, at, side="right"))
        left = right - 1
    else:
        right = int(np.searchsorted(x, at, side="left"))
        left = max(right - 1, 0)
    right = min(right, x.size - 1)
    if x[right] == x[left]:
        return float(y[left] if side == "right" else y[right])
    part = (at - x[left]) / (x[right] - x[left])
    return float(y[left] + part * (y[right] - y[left]))


def check_region(fpr_range: Any, tpr_range: Any, ties: str, *, standardize: bool) -> Region | None:
    """The part of the curve to measure, or None for all of it."""
    if fpr_range is not None and tpr_range is not None:
        raise BadValueError("`fpr_range` and tpr_range exclude each other: pass one of them")
    bounds = fpr_range if tpr_range is None else tpr_range
    if bounds is None:
        if standardize:
            raise BadValueError(
                "`standardize=True` is for a partial area", remedy=": pass `fpr_range=`"
            )
        return None
    name = "fpr_range" if tpr_range is None else "tpr_range"
    numbers = np.shape(bounds) == (2,) and all(isinstance(x, Real) for x in bounds)
    if not numbers or not 0 <= bounds[0] < bounds[1] <= 1:
        raise BadValueError(f"`{name}` must be two rates with 0 <= low < high <= 1", repr(bounds))
    if ties != "half":
        raise BadValueError("a partial area joins its points by lines: `ties='half'`", repr(ties))
    low, high = map(float, bounds)
    return Region(low, high, tpr_range is not None, standardize)


_TIES = ("half", "concordant", "discordant")
_THREADS_PAY = 1 << 18  # scores; below it one thread is faster


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConcordanceResult(Record):
    """Pairs of a positive and a negative sample, counted exactly."""

    _blocks = "scores:concordance"

    #: Pairs in which the positive, or the negative, scores higher; Python integers.
    concordant: int
    discordant: int
    #: Pairs with equal scores.
    tied: int
    n_positives: int
    n_negatives: int
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    @property
    def auc(self) -> float:
        """Area under the ROC curve: ties count half. NaN without pairs."""
        return self.area("half")

    @property
    def somers_d(self) -> float:
        """Somers' D, 2 AUC - 1."""
        pairs = self.concordant + self.discordant + self.tied
        return (self.concordant - self.discordant) / pairs if pairs else float("nan")

    def area(self, ties: str) -> float:
        """The proportion of concordant pairs.

        Parameters
        ----------
        ties : {"half", "concordant", "discordant"}
            What tied pairs count as.

        Returns
        -------
        float
            In [0, 1]; NaN without pairs.
        """
        pairs = self.concordant + self.discordant + self.tied
        ties = choose(ties, "ties", _TIES)
        twice = {"half": 1, "concordant": 2, "discordant": 0}[ties]
        if not pairs:
            return float("nan")
        return (2 * self.concordant + twice * self.tied) / (2 * pairs)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"AUC {self.auc:.4f}, {self.n_positives} positives and {self.n_negatives} negatives",
            f"{self.concordant} concordant pairs, {self.discordant} discordant, {self.tied} tied",
            *direction_sentences(self),
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="Concordance", text=text)]


def concordance(
    y_true: ColumnLike, score: ArrayLike, *, positive: Label = None
) -> ConcordanceResult:
    """Count concordant, discordant and tied pairs.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.

    Returns
    -------
    ConcordanceResult
        Exact counts, however many pairs there are.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or there are not two classes.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(n log n): the scores of either class are sorted, and merged without branches.

    Examples
    --------
    >>> from fastcmp import concordance
    >>> pairs = concordance([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> pairs.concordant, pairs.discordant, pairs.tied
    (3, 0, 1)
    """
    read = read_scores(y_true, score, positive, single=True)
    pairs = count_pairs(read, 0)
    warn_of_direction(np.array([pairs.auc]), read)
    return pairs


def count_pairs(read: Scores, model: int) -> ConcordanceResult:
    """Count the pairs of one model."""
    negatives, positives = sorted_classes(read.columns[model], read.positive)
    pairs = kernels.concordance_sorted(negatives, positives)
    n0, n1 = negatives.size - 1, positives.size - 1
    concordant = pairs.concordant_high * PAIR_BASE + pairs.concordant_low
    tied = pairs.tied_high * PAIR_BASE + pairs.tied_low
    return ConcordanceResult(
        concordant=concordant,
        discordant=n0 * n1 - concordant - tied,
        tied=tied,
        n_positives=n1,
        n_negatives=n0,
        labels=read.labels,
        n_missing=read.n_missing,
    )


def auc(
    y_true: ColumnLike | None = None,
    scores: ModelsLike | None = None,
    *,
    counts: AreaCounts | None = None,
    ties: str = "half",
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    standardize: bool = False,
    multiclass: str | None = None,
    average: str | None = "macro",
    classes: Classes | None = None,
    on_single_class: str = "raise",
    workers: int | None = None,
) -> Any:
    """Area under the ROC curve, of one model or of many; or of one model for many classes.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes; with `multiclass` of more, or 0 and 1 for each of K
        labels, shape (n, K), of which a sample may have several. Samples with a missing
        one are dropped.
    scores : array-like of shape (n,) or (M, n), mapping or frame
        Higher scores indicate the positive class; the direction is never reversed. With
        `multiclass` of shape (n, K), a column a class, as ``predict_proba`` gives them.
        Dask's arrays and frames are counted where they are, to the bit.
    counts : ScoreCounts, RocSketch or ScoreRefinement, optional
        In their place scores that `fastcmp.stream` has counted in bins.
    ties : {"half", "concordant", "discordant"}
        What pairs with equal scores count as. "half" is the Mann-Whitney statistic and
        the area under the points joined by lines; the others are the areas under the
        upper and the lower staircase.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights of the samples.
    max_fpr : float, optional
        Only the area up to this false positive rate, in (0, 1], scaled as McClish does:
        that is ``fpr_range=(0, max_fpr), standardize=True``, as scikit-learn has it.
    fpr_range : pair of float, optional
        Only the area between these false positive rates.
    tpr_range : pair of float, optional
        Only the area between these true positive rates, of specificity against them.
    standardize : bool
        Scale a partial area as McClish does: 1/2 for chance, 1 for perfection.
    multiclass : {"ovr", "ovo"}, optional
        Each class against the rest, or Hand and Till's mean over pairs of classes.
    average : {"macro", "weighted", "micro", "samples"} or None
        With `multiclass`: plain mean; by the frequency of the class, or of the two
        classes; one area of all samples and classes together; mean over samples of the
        area of a sample's K scores; or no average. "micro" and "samples" are for "ovr".
    classes : sequence, optional
        With `multiclass`: labels of the columns; by default the true labels, sorted.
    on_single_class : {"raise", "nan"}
        What to do where there is only one class.
    workers : int, optional
        Threads for several models; by default as many as there are processors.

    Returns
    -------
    float or ndarray, shape (M,)
        In [0, 1]; a partial area that is not standardized at most its range. Without an
        average of shape (K,), for "ovo" (K (K - 1) / 2,), pairs in the order of
        ``np.triu_indices(K, 1)``. Of counts `fastcmp.records.AreaBounds`: of several
        models by name.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, there are not two classes, or options do not
        go together.
    TypeError
        If scores are not numbers, or data and counts are both given, or neither.

    Notes
    -----
    O(n log n) a model. Without weights and ranges the pairs are counted exactly.

    References
    ----------
    .. [1] J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver
       operating characteristic (ROC) curve", Radiology 143 (1982) 29-36.
    .. [2] D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision
       Making 9 (1989) 190-195.
    .. [3] D. J. Hand, R. J. Till, "A simple generalisation of the area under the ROC
       curve for multiple class classification problems", Machine Learning 45 (2001)
       171-186.

    Examples
    --------
    >>> from fastcmp import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    0.875
    >>> auc([0, 0, 1, 1], [[0.1, 0.4, 0.4, 0.9], [0.3, 0.2, 0.1, 0.4]]).tolist()
    [0.875, 0.5]
    >>> scores = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]]
    >>> round(auc(["a", "b", "c", "c"], scores, multiclass="ovo"), 4)
    0.875
    >>> from fastcmp.stream import ScoreCounts
    >>> auc(counts=ScoreCounts().update([0, 0, 1, 1], [1, 2, 2, 3])).auc
    0.875
    """
    data: dict[str, Any] = {"y_true": y_true, "scores": scores}
    of_data = {"positive": positive, "sample_weight": sample_weight, "classes": classes}
    of_data |= {"max_fpr": max_fpr, "fpr_range": fpr_range, "tpr_range": tpr_range}
    of_data |= {"multiclass": multiclass, "standardize": standardize or None}
    if are_counts_given(data, {"counts": counts}, of_data):
        if not hasattr(type(counts), "areas"):
            raise BadTypeError("`counts` must be a ScoreCounts", type(counts).__name__)
        if choose(ties, "ties", _TIES) != "half":
            raise BadValueError(f"`ties={ties!r}` needs all scores: of counts `ties='half'`")
        bounds = counts.areas  # type: ignore[union-attr]  # which has them
        return only_area(bounds) if len(bounds) == 1 else bounds
    average = choose(average, "average", AVERAGES)
    if multiclass is not None:
        method = choose(multiclass, "multiclass", ("ovr", "ovo"))
        binary = {"positive": positive, "max_fpr": max_fpr, "fpr_range": fpr_range}
        binary |= {"tpr_range": tpr_range, "standardize": standardize or None}
        for name, value in binary.items():
            if value is not None:
                raise BadValueError(
                    f"`{name}=` is for two classes: it does not go with `multiclass=`"
                )
        if method == "ovo" and (average in ("micro", "samples") or has_columns(y_true)):
            raise BadValueError(
                "`multiclass='ovo'` compares pairs of classes: y_true must be of shape (n,), "
                "and average 'macro', 'weighted' or None",
                repr(average),
            )
        table = read_class_scores(**data, classes=classes, sample_weight=sample_weight)
        if method == "ovr":
            return average_classes(table, _area, average)
        return _average_pairs(table, average)
    if classes is not None:
        raise BadValueError(
            "`classes=` are the columns of scores", remedy=": pass `multiclass='ovr'` or 'ovo'"
        )
    ties = choose(ties, "ties", _TIES)
    on_single_class = choose(on_single_class, "on_single_class", ("raise", "nan"))
    if max_fpr is not None:
        if (fpr_range, tpr_range) != (None, None):
            raise BadValueError("`max_fpr` excludes fpr_range and tpr_range: pass one of them")
        fpr_range, standardize = (0.0, as_rate(max_fpr, "max_fpr", "(0, 1]")), True
    region = check_region(fpr_range, tpr_range, ties, standardize=standardize)
    threads = check_workers(workers)
    if are_collections(y_true, scores):
        refuse_options(
            {"sample_weight": sample_weight, "fpr_range": fpr_range, "tpr_range": tpr_range}
        )
        from fastcmp.scores.dask_areas import auc_of_blocks

        return auc_of_blocks(y_true, scores, ties, positive, on_single_class)
    read = read_scores(y_true, scores, positive)
    weights = read_weights(sample_weight, read)
    by_class = [read.n_negatives, read.n_positives]
    if weights is not None:
        # Those of each class divided by a power of two near the largest.
        largest = np.array([weights[read.positive == k].max(initial=0.0) for k in (0, 1)])
        weights = np.ldexp(weights, -np.frexp(largest)[1][read.positive])
        by_class = largest.tolist()
    areas = np.full(len(read.columns), np.nan)
    if not all(by_class):
        if on_single_class == "raise":
            raise BadValueError(
                "AUC needs both classes",
                f"{read.n_positives} positives and {read.n_negatives} negatives",
                " (`on_single_class='nan'` gives NaN)",
                argument="y_true",
            )
        return float("nan") if read.single else areas

    def measure(model: int) -> None:
        if weights is None and region is None:
            areas[model] = count_pairs(read, model).area(ties)
        else:
            sweep = sweep_scores(read, weights, model)
            areas[model] = _staircase(sweep, ties) if region is None else region.area(sweep)

    if areas.size * read.positive.size < _THREADS_PAY:
        threads = 1
    with ThreadPool(min(threads, areas.size)) as pool:
        pool.run(measure, range(areas.size))
    if ties == "half" and region is None:
        warn_of_direction(areas, read, weights)
    return float(areas[0]) if read.single else areas


def _staircase(sweep: ThresholdSweep, ties: str) -> float:
    """Area from weighted counts; what is tied counts half, all or nothing."""
    part = {"half": 0.5, "concordant": 0.0, "discordant": 1.0}[ties]
    before = sweep.tp - np.diff(sweep.tp, prepend=0)
    height = part * before + (1 - part) * sweep.tp
    area = np.diff(sweep.fp, prepend=0) @ height
    return float(min(area / (sweep.n_positives * sweep.n_negatives), 1.0))


def _average_pairs(read: ClassScores, average: str | None) -> Any:
    sums = class_weights(read)
    areas, sizes = [], []
    for i, j in combinations(range(len(read.names)), 2):
        both = read.positive[:, i] | read.positive[:, j]
        weights = None if read.weights is None else read.weights[both]
        one, other = (_area(read.positive[both, k], read.scores[both, k], weights) for k in (i, j))
        areas.append((one + other) / 2)
        sizes.append(sums[i] + sums[j])
    if average is None:
        return np.array(areas)
    return float(np.average(areas, weights=sizes if average == "weighted" else None))


def _area(flags: Flags, scores: NDArray[Any], weights: Floats | None) -> float:
    read = read_scores(flags, scores, positive=True)
    if not 0 < read.n_positives < flags.size:
        raise ValueError("an area needs both classes, got one")
    if weights is None:
        return count_pairs(read, 0).auc
    return roc_points(sweep_scores(read, weights)).auc
