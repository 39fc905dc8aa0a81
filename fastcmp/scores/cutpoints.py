"""The best cutoffs of a score by a criterion, with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_positive, as_proportion, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Column, Section, interval_name, table_of, written
from fastcmp.core.sentences import Sentence, answer, dropped_sentences
from fastcmp.core.threads import Progress
from fastcmp.core.typing import ColumnLike, Floats, Ints, Label, Seed
from fastcmp.inputs.binary_labels import as_doubles
from fastcmp.inputs.model_names import check_indexes
from fastcmp.inputs.scores import Scores, read_scores, read_weights
from fastcmp.scores.classification import RULES, ClassificationTable, format_count
from fastcmp.scores.curves import roc_points, sweep_scores
from fastcmp.scores.resampling import Drawing

_Placed = tuple[Ints, Floats | None]

_TOLERANCE = 1e-12  # of values that count as equal
WEIGHTED = ("cost", "weighted-youden", "weighted-topleft")
_MINIMISED = (
    "sensitivity=specificity",
    "closest-topleft",
    "prevalence-matching",
    "cost",
    "weighted-topleft",
)
CRITERIA = ("youden", "accuracy", "prevalence", "weighted-youden", *_MINIMISED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What to optimise, with its options."""

    name: str
    #: A function of counts; None for a criterion of `CRITERIA`.
    function: Callable[..., Any] | None
    #: Whether the function takes arrays.
    takes_arrays: bool
    prevalence: float
    cost_fp: float
    cost_fn: float
    #: Whether counts are sums of weights, and so rounded.
    weighted: bool = False

    @property
    def maximised(self) -> bool:
        """Whether large values are good."""
        return self.name not in _MINIMISED or self.function is not None

    @property
    def scale(self) -> float:
        """Size of terms that cancel in a value; other criteria keep their digits."""
        if self.weighted and self.function is None:
            return 1.0
        return self.prevalence if self.name == "prevalence-matching" else 0.0

    def values(self, tp: Ints, fp: Ints, n1: int, n0: int) -> Floats:
        """Values of candidates."""
        if self.function is not None:
            counts = (tp, fp, n0 - fp, n1 - tp)
            return _call(self.function, counts, takes_arrays=self.takes_arrays)
        if self.name == "accuracy":
            return np.asarray((tp + (n0 - fp)) / (n1 + n0))
        missed, alarmed, p = (n1 - tp) / n1, fp / n0, self.prevalence
        fp_weight = (1.0 - p) * self.cost_fp
        fn_weight = p * self.cost_fn
        match self.name:
            case "youden":
                value = (tp * n0 - fp * n1) / n0 / n1
            case "weighted-youden":
                value = (1.0 - missed) + fp_weight / fn_weight * (1.0 - alarmed)
            case "sensitivity=specificity":
                value = np.abs(tp * n0 - (n0 - fp) * n1) / n0 / n1
            case "closest-topleft":
                value = missed**2 + alarmed**2
            case "weighted-topleft":
                value = missed**2 + fp_weight / fn_weight * alarmed**2
            case "prevalence-matching":
                value = np.abs(p * (1.0 - missed) + (1.0 - p) * alarmed - p)
            case _:
                value = fn_weight * missed + fp_weight * alarmed
        return np.asarray(value)

    def best(self, values: Floats) -> Ints:
        """All candidates with the best value."""
        numbers = values[~np.isnan(values)]
        if not numbers.size:
            return np.empty(0, np.int64)
        best = numbers.max() if self.maximised else numbers.min()
        if not math.isfinite(best):
            return np.flatnonzero(values == best)
        slack = _TOLERANCE * max(abs(best), self.scale)
        return np.flatnonzero(np.abs(values - best) <= slack)


def _call(function: Callable[..., Any], counts: tuple[Ints, ...], *, takes_arrays: bool) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        if takes_arrays:
            return np.asarray(function(*counts), np.float64)
        cells = zip(*(part.tolist() for part in counts), strict=True)
        return np.array([float(function(*cell)) for cell in cells], np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All ways to cut, from calling no sample positive to calling all of them."""

    #: Distinct scores, descending, shape (T,).
    scores: Floats
    #: Positives and negatives called by candidate k: those of the first k scores.
    tp: Ints
    fp: Ints
    rule: str

    def possible(self, steps: NDArray[Any] | None = None) -> Ints:
        """List candidates whose cutoff is a score that occurs, or beyond all scores."""
        occurs = np.ones(self.scores.size, np.bool_) if steps is None else steps > 0
        # No number lies beyond an infinite score.
        if self.rule == ">=":
            return np.flatnonzero(np.append(self.scores[0] < np.inf, occurs))
        return np.flatnonzero(np.append(occurs, self.scores[-1] > -np.inf))

    def cutoffs(self, places: Ints) -> Floats:
        """The observed scores that cut so."""
        if self.rule == ">=":
            return np.append(np.inf, self.scores)[places]
        return np.append(self.scores, -np.inf)[places]

    def midpoints(self, places: Ints) -> Floats:
        """Cutoffs halfway between neighbouring scores that cut so."""
        above, below = self.scores[:-1], self.scores[1:]
        with np.errstate(invalid="ignore"):
            middle = above / 2 + below / 2
        # Nothing lies between neighbouring doubles, nor halfway to an infinite score.
        inside = (below < middle) & (middle < above) & np.isfinite(middle)
        middle = np.where(inside, middle, above if self.rule == ">=" else below)
        return np.concatenate([[np.inf], middle, [-np.inf]])[places]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CutpointResult(Record):
    """The best cutoff by one criterion, or several that are equally good.

    Arrays are of shape (m,), one entry an optimum, cutoffs descending, or ascending where
    low scores are called positive.
    """

    _opening = (
        "The cutoff was chosen by this criterion: {record.criterion}. A sample is called "
        "positive where its score is {record.rule} the cutoff."
    )
    _cites = (("criterion", {"youden": "youden"}),)

    #: What was optimised, and its best value; NaN for "prevalence".
    criterion: str
    value: float
    #: Whether the best value is the largest one.
    maximised: bool
    #: Observed scores; infinite where all samples are called the same and no score
    #: says so. For "prevalence" the prevalence itself.
    cutoffs: Floats
    #: Cutoffs with the same calls, halfway between neighbouring distinct scores;
    #: infinite beyond the first and the last.
    midpoints: Floats
    #: Positives and negatives that are called positive; sums of weights, if samples
    #: have any, as are the numbers of all.
    tp: NDArray[Any]
    fp: NDArray[Any]
    n_positives: Any
    n_negatives: Any
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    #: ">=", ">", "<=" or "<": what score a sample must have to be called positive.
    rule: str
    #: Proportion of positives that the criterion assumes.
    prevalence: float
    cost_fp: float = 1.0
    cost_fn: float = 1.0
    n_missing: int = 0
    #: Best cutoffs of bootstrap samples, shape (n_resamples,); empty without.
    resampled: Floats
    #: Mean value of the criterion on the samples that a bootstrap sample left out, at
    #: its best cutoff; NaN without resampling.
    out_of_bag: float = np.nan
    confidence_level: float = 0.95
    #: What the bootstrap samples are a function of; None without.
    seed: int | None = None

    _columns = (
        Column("cutoff", "cutoffs", ".6g"),
        Column("midpoint", "midpoints", ".6g"),
        Column("value", lambda self: np.full(self.cutoffs.size, self.value)),
        *Column.each("sensitivity specificity", ".4f"),
        *Column.each("tp fp"),
        Column("fn", lambda self: self.n_positives - self.tp),
        Column("tn", lambda self: self.n_negatives - self.fp),
    )
    _read = (
        *("criterion", "value", "maximised", "cutoffs", "midpoints", "tp", "fp", "sensitivity"),
        *("specificity", "n_positives", "n_negatives", "labels", "rule", "prevalence", "cost_fp"),
        *("cost_fn", "n_missing", "seed", "n_resamples", "confidence_level"),
        Column(
            "interval", lambda self: [*self.confidence_interval()] if self.resampled.size else None
        ),
        "out_of_bag",
    )

    @property
    def n_optima(self) -> int:
        """Number of cutoffs that are equally good."""
        return int(self.cutoffs.size)

    @property
    def n_resamples(self) -> int:
        """Number of bootstrap samples that had a best cutoff."""
        return int(self.resampled.size)

    @property
    def cutoff(self) -> float:
        """The first of the best cutoffs: of them it calls the fewest samples positive."""
        return float(self.cutoffs[0])

    @property
    def sensitivity(self) -> Floats:
        """Proportion of positives called positive, shape (m,)."""
        return np.asarray(self.tp / self.n_positives)

    @property
    def specificity(self) -> Floats:
        """Proportion of negatives called negative, shape (m,)."""
        return np.asarray((self.n_negatives - self.fp) / self.n_negatives)

    @property
    def optimism(self) -> float:
        """How much better the value is on the samples that chose the cutoff."""
        gain = self.value - self.out_of_bag
        return gain if self.maximised else -gain

    @property
    def tables(self) -> tuple[ClassificationTable, ...]:
        """The classification table of each optimum."""
        cells = zip(self.cutoffs, self.tp, self.fp, strict=True)
        return tuple(
            ClassificationTable(
                tp=tp.item(),
                fp=fp.item(),
                fn=self.n_positives - tp.item(),
                tn=self.n_negatives - fp.item(),
                weighted=self.tp.dtype.kind == "f",
                cutoff=float(cutoff),
                rule=self.rule,
                confidence_level=self.confidence_level,
                labels=self.labels,
                n_missing=self.n_missing,
            )
            for cutoff, tp, fp in cells
        )

    def confidence_interval(self, confidence_level: float | None = None) -> ConfidenceInterval:
        """Percentile interval of the cutoff from bootstrap samples.

        Parameters
        ----------
        confidence_level : float, optional
            In (0, 1); by default that of the record.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``, cutoffs of two bootstrap samples, perhaps infinite.

        Raises
        ------
        ValueError
            If there was no resampling.

        Examples
        --------
        >>> from fastcmp.scores.cutpoints import optimal_cutpoint
        >>> y_true, score = [0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]
        >>> result = optimal_cutpoint(y_true, score, n_resamples=200, rng=1)
        >>> result.confidence_interval(0.8)
        ConfidenceInterval(low=3.0, high=6.0)
        """
        if not self.resampled.size:
            raise BadValueError("there was no resampling", remedy=": pass `n_resamples=`")
        level = self.confidence_level
        if confidence_level is not None:
            level = as_proportion(confidence_level, "confidence_level")
        tail = 0.5 * (1.0 - level)
        # Cutoffs may be infinite: no interpolation between them.
        low, high = np.quantile(self.resampled, [tail, 1.0 - tail], method="inverted_cdf")
        return ConfidenceInterval(float(low), float(high))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row an optimum.
        """
        notes: list[str] = []
        if self.resampled.size:
            low, high = self.confidence_interval()
            name = f"{interval_name(self.confidence_level)} of the cutoff"
            samples = f"{self.n_resamples} bootstrap samples, seed {self.seed}"
            notes.append(
                Sentence(
                    f"{name} [{low:.6g}, {high:.6g}] ({samples}); {self.criterion} "
                    f"{self.out_of_bag:.4f} on the samples that they left out.",
                    how=f"The {name} is of {samples}.",
                )
            )
        notes += dropped_sentences(self.n_missing, 0)
        columns = {
            "cutoff": written(self.cutoffs, ".6g"),
            "midpoint": written(self.midpoints, ".6g"),
            "sensitivity": written(self.sensitivity, ".4f"),
            "specificity": written(self.specificity, ".4f"),
            "called positive": written(self.tp + self.fp, format_count),
        }
        title = f"Optimal cutoff ({self.criterion})"
        return [table_of(title, columns, text=self._lead(), notes=notes, most=10)]

    def _lead(self) -> tuple[str, ...]:
        samples = (
            f"{format_count(self.n_positives)} positives ({self.labels[0]!r}), "
            f"{format_count(self.n_negatives)} "
            f"negatives ({self.labels[1]!r}); positive where the score is {self.rule} "
            "the cutoff."
        )
        if self.criterion == "prevalence":
            return (samples, "The cutoff is the prevalence: no criterion was optimised.")
        best = f"{'Largest' if self.maximised else 'Smallest'} value: {self.value:.6g}"
        if self.criterion == "youden":
            best = f"Youden index: {self.value:.3f}"
        ties = f", at {self.n_optima} cutoffs" if self.n_optima > 1 else ""
        return (samples, answer(f"{best}{ties}."))


#: Rules for low scores, and what they are of the negated scores.
_TURNED = {"<=": ">=", "<": ">"}


def optimal_cutpoint(
    y_true: ColumnLike,
    score: ArrayLike,
    *,
    criterion: str | Callable[..., Any] = "youden",
    positive: Label = None,
    sample_weight: ArrayLike | None = None,
    rule: str = ">=",
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    prevalence: float | None = None,
    n_resamples: int = 0,
    confidence_level: float = 0.95,
    rng: Seed = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> CutpointResult:
    """Find the best cutoffs of a score by a criterion.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Samples with a missing one are dropped.
    score : array-like, shape (n,)
        Higher scores indicate the positive class.
    criterion : str or callable
        One of those in the notes; or a function of the counts ``(tp, fp, tn, fn)`` to
        maximise. It is called with int64 arrays, one entry a cutoff; where it does not
        take them, or gives no array of their shape, for each cutoff with integers (or
        floats, with weights). NaN stands for no value. It may be compiled by numba.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    sample_weight : array-like, shape (n,), optional
        Weights to add up instead of counting; samples of weight 0 are left out. A
        bootstrap sample draws samples with their weights.
    rule : {">=", ">", "<=", "<"}
        What score is called positive, beside the cutoff: "<=" or "<" where low scores
        indicate the positive class.
    cost_fp, cost_fn : float
        Costs of a false positive and of a false negative, for "cost",
        "weighted-youden" and "weighted-topleft".
    prevalence : float, optional
        Proportion of positives, in (0, 1), for these, "prevalence" and
        "prevalence-matching"; by default that of the samples.
    n_resamples : int
        Number of bootstrap samples, drawn from positives and from negatives separately.
    confidence_level : float
        Level of the bootstrap interval, in (0, 1).
    rng : int or numpy.random.Generator, optional
        Where the seed comes from; the result is the same for any `workers`.
    workers : int, optional
        Threads for bootstrap samples; by default as many as there are processors. A
        function of your own is called from one thread only.
    progress : bool or callable, optional
        True draws a bar on standard error (needs rich); a function is called with the
        resamples done and all of them.

    Returns
    -------
    CutpointResult
        All cutoffs with the best value, with their tables.

    Raises
    ------
    ValueError
        If lengths differ, a score or a weight is NaN, there are not two classes, the
        function has no value at any cutoff, or an option is unknown or not one of the
        criterion.
    TypeError
        If scores are not numbers, or the function gives none.

    Notes
    -----
    With sensitivity Se, specificity Sp, prevalence p and
    ``r = (1 - p) cost_fp / (p cost_fn)`` the criteria are

    - "youden": largest Se + Sp - 1; the area under the curve of that one cutoff is
      (Se + Sp) / 2,
    - "accuracy": largest proportion of samples called correctly,
    - "sensitivity=specificity": smallest abs(Se - Sp),
    - "closest-topleft": smallest (1 - Se)**2 + (1 - Sp)**2,
    - "cost": smallest p cost_fn (1 - Se) + (1 - p) cost_fp (1 - Sp),
    - "weighted-youden": largest Se + r Sp,
    - "weighted-topleft": smallest (1 - Se)**2 + r (1 - Sp)**2,
    - "prevalence-matching": smallest difference between p and the proportion called
      positive, p Se + (1 - p) (1 - Sp),
    - "prevalence": cut at p itself, which optimises nothing.

    Cutoffs that call all samples positive, or none, are candidates too. Values closer
    to the best one than 1e-12 times its size (for "prevalence-matching" also times p)
    count as equal; with weights, by a criterion of those above, closer than 1e-12.
    Scores are compared as float64.

    O(n log n), and O(n) for each bootstrap sample: it counts the draws of each distinct
    score and does not sort. Of equally good cutoffs a bootstrap sample gives the middle
    one, the higher of two.

    References
    ----------
    .. [1] W. J. Youden, "Index for rating diagnostic tests", Cancer 3 (1950) 32-35.
    .. [2] M. Lopez-Raton, M. X. Rodriguez-Alvarez, C. Cadarso-Suarez, F. Gude-Sampedro,
       "OptimalCutpoints: an R package for selecting optimal cutpoints in diagnostic
       tests", J. Statistical Software 61 (2014) issue 8.
    .. [3] N. J. Perkins, E. F. Schisterman, "The inconsistency of 'optimal' cutpoints
       obtained using two criteria based on the receiver operating characteristic
       curve", American J. Epidemiology 163 (2006) 670-675.

    Examples
    --------
    >>> from fastcmp.scores.cutpoints import optimal_cutpoint
    >>> y_true, score = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.7, 0.9]
    >>> result = optimal_cutpoint(y_true, score)
    >>> result.cutoffs.tolist(), result.midpoints.round(2).tolist()
    ([0.7, 0.4], [0.65, 0.35])
    >>> optimal_cutpoint(y_true, score, criterion="cost", cost_fn=3).cutoff
    0.4
    """
    rule = choose(rule, "rule", RULES)
    level = as_proportion(confidence_level, "confidence_level")
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn}
    for name, cost in costs.items():
        as_positive(cost, name)
    function = criterion if callable(criterion) else None
    kind = choose(criterion, "criterion", CRITERIA) if function is None else None
    title = "a function" if kind is None else repr(kind)
    if (cost_fp, cost_fn) != (1.0, 1.0) and kind not in WEIGHTED:
        raise BadValueError(f"`criterion` {title} takes no costs: choose one of {WEIGHTED}")
    takers = (*WEIGHTED, "prevalence", "prevalence-matching")
    if prevalence is not None and kind not in takers:
        raise BadValueError(f"`criterion` {title} takes no prevalence: choose one of {takers}")
    drawing = Drawing.read(n_resamples, rng, workers, progress, least=0)
    if drawing.n and kind == "prevalence":
        raise BadValueError(
            "`criterion` 'prevalence' has nothing to resample: samples are drawn from each "
            "class separately, and the proportion of positives stays"
        )
    check_indexes([("y_true", y_true), ("score", score)])
    read = read_scores(y_true, _as_doubles(score), positive, single=True)
    if rule in _TURNED:
        if kind == "prevalence":
            raise BadValueError(
                "`criterion` 'prevalence' needs `rule='>='` or '>', for a score that is the "
                "probability of the positive class",
                repr(rule),
            )
        read = replace(read, columns=(-read.columns[0],))
    weights = read_weights(sample_weight, read)
    sweep = sweep_scores(read, weights)
    roc_points(sweep)  # needs both classes
    candidates = Candidates(
        scores=sweep.thresholds.astype(np.float64),
        tp=np.append(0, sweep.tp),
        fp=np.append(0, sweep.fp),
        rule=_TURNED.get(rule, rule),
    )
    rate = sweep.n_positives / (sweep.n_positives + sweep.n_negatives)
    if prevalence is not None:
        rate = as_proportion(prevalence, "prevalence")
    target = Criterion(
        name=str(kind or getattr(criterion, "__name__", type(criterion).__name__)),
        function=function,
        takes_arrays=function is None or _takes_arrays(function, candidates),
        prevalence=rate,
        weighted=candidates.tp.dtype.kind == "f",
        cost_fp=float(cost_fp),
        cost_fn=float(cost_fn),
    )
    resampled: dict[str, Any] = {"resampled": np.empty(0)}
    if kind == "prevalence":
        above = candidates.scores > rate
        if candidates.rule == ">=":
            above = candidates.scores >= rate
        best, value = np.array([np.count_nonzero(above)]), math.nan
        cutoffs = np.array([rate])
    else:
        possible = candidates.possible()
        counts = candidates.tp[possible], candidates.fp[possible]
        values = target.values(*counts, sweep.n_positives, sweep.n_negatives)
        places = target.best(values)
        if not places.size:
            raise BadValueError(f"`criterion` {target.name!r} has no value at any cutoff")
        best, value = possible[places], float(values[places[0]])
        cutoffs = candidates.cutoffs(best)
        if drawing.n:
            classes = _place(candidates, read, weights)
            resampled |= _resample(candidates, classes, target, drawing)
    result = CutpointResult(
        **resampled,
        criterion=target.name,
        maximised=target.maximised,
        value=value,
        cutoffs=cutoffs,
        midpoints=candidates.midpoints(best),
        tp=candidates.tp[best],
        fp=candidates.fp[best],
        n_positives=sweep.n_positives,
        n_negatives=sweep.n_negatives,
        labels=sweep.labels,
        rule=candidates.rule,
        prevalence=target.prevalence,
        cost_fp=target.cost_fp,
        cost_fn=target.cost_fn,
        n_missing=sweep.n_missing,
        confidence_level=level,
    )
    if rule not in _TURNED:
        return result
    turned = {x: 0.0 - getattr(result, x) for x in ("cutoffs", "midpoints", "resampled")}
    return replace(result, rule=rule, **turned)


def _as_doubles(score: object) -> Any:
    """Round what has more digits than a cutoff; leave the rest to `read_scores`."""
    if np.ma.is_masked(score):
        return score
    try:
        array = np.asarray(score)
    except ValueError:
        return score
    return as_doubles(array)


def _takes_arrays(function: Callable[..., Any], candidates: Candidates) -> bool:
    tp, fp = candidates.tp, candidates.fp
    counts = tp, fp, fp[-1] - fp, tp[-1] - tp
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = function(*(part.copy() for part in counts))
    except Exception:  # noqa: BLE001  # numba has errors of its own
        values = None
    if np.shape(values) == tp.shape and np.asarray(values).dtype.kind in "biuf":
        return True
    one = function(*(part[0].item() for part in counts))
    if np.ndim(one) or np.asarray(one).dtype.kind not in "biuf":
        raise BadTypeError("`criterion` must give a number for each cutoff", repr(one))
    return False


def _place(candidates: Candidates, read: Scores, weights: Floats | None) -> tuple[_Placed, _Placed]:
    """Where each positive, and each negative, stands among the distinct scores."""
    if weights is None:
        places = np.arange(candidates.scores.size)
        tp, fp = (np.repeat(places, np.diff(x)) for x in (candidates.tp, candidates.fp))
        return (tp, None), (fp, None)
    places = np.searchsorted(-candidates.scores, -read.columns[0].astype(np.float64))
    positive, used = read.positive > 0, weights > 0
    one, other = used & positive, used & ~positive
    return (places[one], weights[one]), (places[other], weights[other])


def _resample(
    candidates: Candidates, classes: tuple[_Placed, _Placed], target: Criterion, drawing: Drawing
) -> dict[str, Any]:
    """Cutoffs of bootstrap samples, and their mean value on the samples left out."""
    pairs = np.full((drawing.n, 2), np.nan)

    def draw(first: int, rows: Floats) -> None:
        for k, row in enumerate(rows, first):
            rng = np.random.default_rng((drawing.seed, k))
            row[:] = _resample_once(candidates, classes, target, rng)

    if target.function is not None:
        drawing = drawing._replace(threads=1)
    drawing.fill(pairs, draw)
    cutoffs, values = (x[~np.isnan(x)] for x in pairs.T)
    return {
        "resampled": cutoffs,
        "out_of_bag": float(values.mean()) if values.size else math.nan,
        "seed": drawing.seed,
    }


def _resample_once(
    candidates: Candidates,
    classes: tuple[_Placed, _Placed],
    target: Criterion,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """The cutoff of a bootstrap sample, and its value on the samples left out."""
    n_scores = candidates.scores.size
    inside, outside = zip(*(_draw(members, n_scores, rng) for members in classes), strict=True)
    possible = candidates.possible(inside[0] + inside[1])
    called = [np.append(0, np.cumsum(x)) for x in inside]
    tp, fp = (x[possible] for x in called)
    best = target.best(target.values(tp, fp, called[0][-1], called[1][-1]))
    if not best.size:
        return math.nan, math.nan
    place = possible[best[(best.size - 1) // 2]]
    value = math.nan
    left1, left0 = (x.sum() for x in outside)
    if left1 and left0:
        tp, fp = (x[:place].sum(keepdims=True) for x in outside)
        value = target.values(tp, fp, left1, left0)[0]
    return candidates.cutoffs(np.array([place]))[0], value


def _draw(members: _Placed, n_scores: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Counts at each score of a class drawn with replacement, and of samples not drawn."""
    places, weights = members
    n = places.size
    drawn = np.bincount(rng.integers(0, n, n), minlength=n)
    if weights is None:
        # A weighted count of integers below 2**53 is exact.
        inside = np.bincount(places, weights=drawn, minlength=n_scores).astype(np.int64)
        return inside, np.bincount(places[drawn == 0], minlength=n_scores)
    inside = np.bincount(places, weights=weights * drawn, minlength=n_scores)
    outside = np.bincount(places, weights=weights * (drawn == 0), minlength=n_scores)
    return inside, outside
