"""Calibration: how far probabilities are from frequencies, with tests, and comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import (
    as_flag,
    as_proportion,
    as_resamples,
    as_seed,
    as_whole,
    check_size,
    choose,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_ppf, t_tail
from fastcmp.core.records import Drawn, Intervals, Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Section, beware, format_interval, format_pvalue, table_of
from fastcmp.core.sentences import how
from fastcmp.core.threads import ThreadPool, check_memory, check_workers
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints, Label, ModelsLike, Seed
from fastcmp.counts.pairs import model_index
from fastcmp.estimates.calibration_parts import (
    EXACT,
    Ordered,
    bin_measures,
    hosmer_lemeshow,
    item_scores,
    miscalibration_pvalue,
    recalibrate,
    spiegelhalter,
    width_bins,
)
from fastcmp.inputs.item_groups import Grouping, read_grouping, read_item_groups
from fastcmp.inputs.model_names import read_names
from fastcmp.inputs.ratings import (
    check_range,
    check_sums,
    mark_positives,
    read_probabilities,
    read_true_labels,
    true_columns,
)
from fastcmp.items.losses import check_eps
from fastcmp.pairwise.model_estimates import Estimates, sums_by_unit

SCORES = ("brier", "log_loss")
METHODS = ("balanced", "plug-in")
BINNINGS = ("width", "mass", "values")
MULTICLASS = ("top-label", "class-wise")
#: What models can be compared by: its name in records, and whether less is better.
MEASURES = {
    "score": ("mean score", True),
    "mcb": ("miscalibration", True),
    "dsc": ("discrimination", False),
    "overconfidence": ("mean probability less frequency", False),
    "citl": ("calibration in the large", False),
    "slope": ("calibration slope", False),
    "slope-distance": ("distance of the calibration slope from 1", True),
}
_NORMAL = ("citl", "slope", "slope-distance")
#: What classes add up to; of the rest the mean is taken.
_ADDED = {"mean_score", "mcb", "dsc", "unc", "mcb_balanced", "dsc_balanced", "mcb_crossfit"}
#: What only a problem of two classes has; the first as `recalibrate` names them.
_OF_ONE = (
    *("citl", "slope", "intercept", "citl_model_se", "slope_model_se", "likelihood_ratio"),
    *("overconfidence", "mcb_pvalue", "hosmer_lemeshow", "hosmer_lemeshow_df", "spiegelhalter"),
)
_ROUNDING = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Calibration(Drawn, Record):
    """How far probabilities of M models are from frequencies.

    Arrays of shape (M,) unless said otherwise. `estimates` are those of miscalibration,
    for `compare_means` and others, where all their differences are sound; `estimates_of`
    has those of other measures.
    """

    _picture: ClassVar[str] = "calibration"
    _cites = ("dimitriadis spiegelhalter",)

    names: tuple[str, ...]
    #: Mean Brier score or log loss: mcb - dsc + unc.
    mean_score: Floats
    #: Miscalibration: what recalibration by isotonic regression would gain.
    mcb: Floats
    #: Discrimination: what a calibrated model gains over the frequency alone.
    dsc: Floats
    #: Score of the frequency alone.
    unc: Floats
    #: Without the optimism of a fit to the same items: the mean of the recalibrated
    #: score and of that by the other folds, which `mcb_crossfit` takes alone.
    mcb_balanced: Floats
    dsc_balanced: Floats
    mcb_crossfit: Floats
    #: P-value of a miscalibration of 0; NaN where it was not asked for.
    mcb_pvalue: Floats
    #: Mean probability less the frequency.
    overconfidence: Floats
    #: Calibration in the large: intercept of the logit of the truth on that of the
    #: probability; slope and intercept where both are free; and standard errors of the model.
    citl: Floats
    citl_model_se: Floats
    slope: Floats
    intercept: Floats
    slope_model_se: Floats
    #: Likelihood ratio of intercept 0 and slope 1, with 2 degrees of freedom.
    likelihood_ratio: Floats
    likelihood_ratio_pvalue: Floats
    #: Spiegelhalter's z.
    spiegelhalter: Floats
    spiegelhalter_pvalue: Floats
    #: Expected calibration error of the bins, and the largest.
    ece: Floats
    mce: Floats
    #: The mean square without what chance adds to it; may be negative.
    debiased_square: Floats
    #: Murphy's decomposition of the Brier score by the bins, its terms within bins, and what
    #: it is without chance.
    reliability: Floats
    resolution: Floats
    within_variance: Floats
    within_covariance: Floats
    corrected_reliability: Floats
    corrected_resolution: Floats
    corrected_uncertainty: Floats
    hosmer_lemeshow: Floats
    hosmer_lemeshow_df: Floats
    hosmer_lemeshow_pvalue: Floats
    #: Bins of one item.
    n_single: Floats
    #: With ``multiclass="class-wise"`` ece, mcb, dsc, ... of each class, shape (M, K).
    by_class: dict[str, Floats] | None
    #: Covariances of the measures of `estimates_of`, shape (M, M) each.
    covariances: dict[str, Floats]
    score: str
    method: str
    multiclass: str | None
    n_bins: int
    binning: str
    n_folds: int
    n_items: int
    n_clusters: int | None
    confidence_level: float
    n_resamples: int
    seed: int
    cautions: tuple[str, ...]

    @property
    def rmsce(self) -> Floats:
        """Root mean square calibration error of the bins."""
        return np.asarray(np.sqrt(self.reliability))

    @property
    def estimates(self) -> Estimates:
        """Miscalibrations; a ValueError where some difference of them has no sound test."""
        return self.estimates_of("mcb")

    def estimates_of(self, measure: str, *, models: Sequence[int | str] | None = None) -> Estimates:
        """Estimates of the models, to compare them by `compare_means` and others.

        Parameters
        ----------
        measure : {"mcb", "dsc", "score", "overconfidence", "citl", "slope", "slope-distance"}
            Miscalibration and discrimination by the record's method, the mean score, and
            others. Of slopes "slope-distance" says which is nearer to 1.
        models : sequence of int or str, optional
            Only these, at least two; all by default.

        Returns
        -------
        Estimates
            With their covariance.

        Raises
        ------
        ValueError
            If the measure or a model is unknown, there is one model, a model has no such
            estimate, or differences have no sound test: of miscalibration where
            Spiegelhalter's test rejects neither of two models; of distances where a slope
            may be 1.
        """
        measure = choose(measure, "measure", tuple(MEASURES))
        listed = range(len(self.names)) if models is None else models
        kept = np.array([model_index(model, self.names, "models") for model in listed], np.int64)
        names = tuple(self.names[m] for m in kept)
        if len(names) < 2 or len(set(names)) < len(names):
            raise BadValueError(f"`measure={measure!r}` compares two models or more", names)
        values, covariance, df = self._of(measure)
        values = values[kept]
        if not np.isfinite(values).all():
            lacking = np.flatnonzero(~np.isfinite(values))
            raise BadValueError(
                f"`measure={measure!r}`: {visible(names[lacking[0]])} has none ({lacking.size} "
                "such models; see cautions)"
            )
        doubtful = np.flatnonzero(~(self.spiegelhalter_pvalue[kept] < 1.0 - self.confidence_level))
        if measure == "mcb" and doubtful.size > 1:
            i, j = doubtful[:2]
            raise BadValueError(
                f"`measure='mcb'`: Spiegelhalter's test rejects neither {names[i]!r} nor "
                f"{names[j]!r}, and where both may be calibrated the difference has no sound "
                "test",
                remedy=": pass estimates_of('score') or estimates_of('dsc') of the record, or "
                "estimates_of('mcb', `models=`) without one of them",
            )
        error = self.standard_error_of("slope")[kept]
        near = np.flatnonzero(~(np.abs(self.slope[kept] - 1.0) > 2.0 * error))
        if measure == "slope-distance" and near.size:
            raise BadValueError(
                f"`measure='slope-distance'`: the slope of {names[near[0]]!r} is within 2 "
                "standard errors of 1, where its distance has no normal error",
                remedy=": compare by 'slope'",
            )
        what, lower = MEASURES[measure]
        estimates = Estimates(
            values,
            covariance[np.ix_(kept, kept)],
            df=df,
            n_items=self.n_items,
            names=names,
            lower_is_better=lower,
            measure=what,
        )
        estimates.n_clusters = self.n_clusters
        return estimates

    def standard_error_of(self, measure: str) -> Floats:
        """Standard errors of a measure: of slopes and intercepts sandwich ones.

        Parameters
        ----------
        measure : str
            As in `estimates_of`.

        Returns
        -------
        ndarray of float64, shape (M,)
            NaN where there is none.
        """
        measure = choose(measure, "measure", tuple(MEASURES))
        return np.asarray(np.sqrt(np.diagonal(self._of(measure)[1])), np.float64)

    def interval_of(self, measure: str) -> Any:
        """Intervals of a measure of each model, at the record's level.

        Parameters
        ----------
        measure : str
            As in `estimates_of`.

        Returns
        -------
        ndarray of float64, shape (M, 2)
            By t, of slopes and intercepts by the normal distribution.
        """
        error = self.standard_error_of(measure)
        values, _, df = self._of(choose(measure, "measure", tuple(MEASURES)))
        half = t_ppf(0.5 + 0.5 * self.confidence_level, df) * error
        return np.stack([values - half, values + half], axis=1).view(Intervals)

    def pvalue_of(self, measure: str) -> Floats:
        """Test an overconfidence or intercept of 0, or a slope of 1, of each model.

        Parameters
        ----------
        measure : {"overconfidence", "citl", "slope"}
            What is tested.

        Returns
        -------
        ndarray of float64, shape (M,)
            Two-sided, not adjusted for several models.
        """
        measure = choose(measure, "measure", ("overconfidence", "citl", "slope"))
        values, _, df = self._of(measure)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = (values - (measure == "slope")) / self.standard_error_of(measure)
        return np.asarray(t_tail(statistic, "two-sided", df))

    def _of(self, measure: str) -> tuple[Floats, Floats, float | None]:
        """Values of a measure, their covariance, and degrees of freedom, None for z."""
        n = self.n_items if self.n_clusters is None else self.n_clusters
        df = None if measure in _NORMAL else n - 1.0  # of means over items, or clusters
        if measure == "slope-distance":
            off = self.slope - 1.0
            sign = np.sign(off)
            return np.abs(off), self.covariances["slope"] * sign * sign[:, np.newaxis], df
        field = "mean_score" if measure == "score" else measure
        if self.method == "balanced" and measure in ("mcb", "dsc"):
            field += "_balanced"
        return getattr(self, field), self.covariances[measure], df

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The decomposition of the score, tests, recalibration, and bins.
        """
        level, count = f"{100 * self.confidence_level:.9g}% CI", len(self.names)
        what = "Brier score" if self.score == "brier" else "log loss"
        of = {"top-label": " of the most probable class", "class-wise": " of each class"}
        text = [
            how(
                f"{count} {'model' if count == 1 else 'models'} on {self.n_items} items"
                + ("" if self.n_clusters is None else f" in {self.n_clusters} clusters")
                + f": probabilities{of.get(self.multiclass or '', '')} against frequencies."
            ),
            "MCB is miscalibration (best 0), DSC discrimination, UNC the score of the frequency "
            "alone; recalibration is isotonic.",
        ]
        if self.method == "balanced":
            text.append(
                how(
                    "With intervals: balanced values, half of them recalibrated by the other "
                    f"of {self.n_folds} folds; a fit to the same items is too good."
                )
            )
        scores = {"score": self.mean_score, "MCB": self.mcb, "DSC": self.dsc, "UNC": self.unc}
        columns = {name: _cells(x) for name, x in scores.items()}
        for name in ("mcb", "dsc"):
            columns[f"{name.upper()}, {level}"] = _cells(self._of(name)[0], self.interval_of(name))
        numbers = {"p - y": self.overconfidence, "z (Spiegelhalter)": self.spiegelhalter}
        pvalues = {"p (z)": self.spiegelhalter_pvalue, "p (MCB = 0)": self.mcb_pvalue}
        pvalues |= {"p (logits)": self.likelihood_ratio_pvalue}
        pvalues |= {"p (Hosmer-Lemeshow)": self.hosmer_lemeshow_pvalue}
        tests = {name: _cells(x) for name, x in numbers.items()}
        tests |= {k: [*map(format_pvalue, x)] for k, x in pvalues.items() if not np.isnan(x).all()}
        logits = {
            f"{name}, {level}": _cells(self._of(measure)[0], self.interval_of(measure))
            for name, measure in (("intercept", "citl"), ("slope", "slope"))
        }
        bins = {"ECE": self.ece, "largest": self.mce, "root mean square": self.rmsce}
        bins |= {"debiased square": self.debiased_square}
        binnings = {"width": f"{self.n_bins} bins of equal width", "values": "bins of one value"}
        tables = {
            f"Calibration: {what} = MCB - DSC + UNC": columns,
            "Are the probabilities right?": tests,
            "Recalibration on the logit scale": logits,
            "Calibration error in "
            + binnings.get(self.binning, f"{self.n_bins} bins of equal size"): {
                name: _cells(x) for name, x in bins.items()
            },
        }
        names = {"model": [*map(visible, self.names)]}
        sections = [
            table_of(title, names | cells)
            for title, cells in tables.items()
            if any(cell != "-" for cells in cells.values() for cell in cells)
        ]
        note = (
            "ECE is above 0 for calibrated models too, by chance: differences of it are not tested."
        )
        sections[0] = replace(sections[0], text=tuple(text))
        sections[-1] = replace(sections[-1], notes=(*sections[-1].notes, note))
        return [*sections, *beware(self)]


def _cells(values: Floats, ends: object = None) -> list[str]:
    """Numbers, perhaps with their intervals."""
    cells = ["-" if np.isnan(x) else f"{x:.4f}" for x in values]
    for i, (low, high) in enumerate([] if ends is None else np.asarray(ends)):
        cells[i] += "" if np.isnan(low) else f" {format_interval(low, high, digits=4)}"
    return cells


class Problem(NamedTuple):
    """Probabilities of one model, and what happened."""

    #: Probability, and 1 where it happened, else 0, shape (n,).
    p: Floats
    y: Floats


def read_problems(
    y_true: object,
    probabilities: object,
    multiclass: str,
    classes: object,
    positive: Label,
    names: object,
) -> tuple[tuple[str, ...], list[list[Problem]], str | None, tuple[Floats, Floats]]:
    """Problems of two classes: one a model, or one a class with ``"class-wise"``.

    Also whether there are several classes, and two keys by which items are ordered.
    """
    read = read_probabilities(y_true, probabilities)
    read = replace(read, names=read_names(names, len(read.names), read.names))
    column = read_true_labels(y_true)
    if len({table.shape[1:] for table in read.tables}) > 1:
        raise BadValueError(
            "`probabilities` must have one form for all models: shape (n,), or (n, K) with a "
            "column a class"
        )
    problems, keys, kind = [], np.zeros((2, len(column))), None
    for name, raw in zip(read.names, read.tables, strict=True):
        check_range(raw, name)
        ordering = wide = raw.astype(np.float64)
        if wide.ndim == 1:
            of_model = [Problem(wide, mark_positives(column, positive, classes).astype(np.float64))]
        else:
            codes, several = true_columns(column, raw, classes, positive, name), wide.shape[1] > 2
            check_sums(raw, name)
            hits = (codes[:, np.newaxis] == np.arange(wide.shape[1])).astype(np.float64)
            ordering, kind = wide.max(axis=1), multiclass if several else None
            if kind == "top-label":
                top = np.arange(codes.size), wide.argmax(axis=1)
                of_model = [Problem(wide[top], hits[top])]
            else:
                indices = range(wide.shape[1]) if several else (1,)
                of_model = [Problem(wide[:, k].copy(), hits[:, k].copy()) for k in indices]
        ordering = ordering if kind else of_model[0].p
        keys += [ordering, np.square(ordering)]
        problems.append(of_model)
    return read.names, problems, kind, (keys[0], keys[1])


def _read_folds(
    raw: Any, n: int, keys: Any, clusters: Grouping | None, keep: Any
) -> tuple[Ints, int]:
    """The fold of each item, and how many there are.

    Items, or clusters, are dealt out in the order of what happened and of the mean
    probability, so that folds are alike and do not depend on the order of the rows.
    """
    if isinstance(raw, (bool, str, bytes)) or raw is None:
        raise BadTypeError(
            "`folds` must be a whole number >= 2, or the fold of each item", repr(raw)
        )
    if np.ndim(raw):
        grouping = read_grouping(raw, "folds", n, keep)
        assert grouping is not None
        check_size(len(grouping.labels), "folds", "folds")
        return grouping.codes, len(grouping.labels)
    k = as_whole(raw, "folds", 2)
    if clusters is not None:
        size = np.bincount(clusters.codes)
        keys = [np.bincount(clusters.codes, key) / size for key in keys]
    order, k = np.lexsort(keys), min(k, len(keys[0]))
    codes = np.empty(order.size, np.int64)
    codes[order] = np.arange(order.size) % k
    return codes if clusters is None else codes[clusters.codes], k


def calibration(
    y_true: ColumnLike,
    probabilities: ModelsLike,
    *,
    score: str = "brier",
    method: str = "balanced",
    folds: int | ColumnLike = 10,
    bins: int = 15,
    binning: str = "width",
    multiclass: str = "top-label",
    hosmer_lemeshow_groups: int | None = None,
    fitted: bool = False,
    eps: float | None = None,
    groups: ColumnLike | None = None,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 0,
    classes: Classes | None = None,
    positive: Label = None,
    names: Sequence[str] | None = None,
    rng: Seed = None,
    workers: int | None = None,
) -> Calibration:
    """The distances of models' probabilities from frequencies, and tests of them.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, none of them missing.
    probabilities : array-like, or mapping or frame of models
        Of one model: of shape (n,), the probability of the positive class; or (n, K), a
        column a class, as ``predict_proba`` gives them. Of M models: an array of shape
        (M, n) or (M, n, K), a mapping from names to arrays, or a frame with a column
        a model.
    score : {"brier", "log_loss"}
        What is decomposed.
    method : {"balanced", "plug-in"}
        Which miscalibration and discrimination are compared and have intervals: half by
        a fit to the other folds, or as they are.
    folds : int or array-like, shape (n,)
        Number of folds, or the fold of each item, common to all models.
    bins : int
        Number of bins of the expected calibration error.
    binning : {"width", "mass", "values"}
        Bins (lo, hi] of equal width; of equally many items, equal probabilities together;
        or one for each distinct probability.
    multiclass : {"top-label", "class-wise"}
        Of more than two classes: the most probable class and whether it is right, or
        each class against the others: scores are added up, errors averaged.
    hosmer_lemeshow_groups : int, optional
        Adds the test of Hosmer and Lemeshow with so many groups, for comparison with
        others: its answer depends on the groups.
    fitted : bool
        Whether the models were fitted to these very items, for its degrees of freedom.
    eps : float, optional
        Clip probabilities to [eps, 1 - eps]. By default none is.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its patient. Standard errors know it; tests
        that probabilities are right take items as independent.
    weights : array-like, shape (n,), optional
        Importance of each item. The likelihood ratio, the test of Hosmer and Lemeshow and
        corrections of Murphy's terms count items, and are left out.
    confidence_level : float
        Of the intervals.
    n_resamples : int
        Draws of outcomes from the probabilities for the p-value of a miscalibration of
        0. Up to 16 items it is exact, without draws.
    classes : sequence, optional
        Labels of the K columns; the sorted labels of ``y_true`` where not given.
    positive : label, optional
        The positive class; of numbers the larger one where not given.
    names : sequence of str, optional
        Names of the models, in the place of those that `probabilities` has.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    Calibration
        Decomposed scores, recalibration, tests and errors in bins, of each model.

    Raises
    ------
    TypeError
        If probabilities are not numbers.
    ValueError
        If one is missing or outside [0, 1], those of an item do not add up to 1, a true
        label is missing or not among the classes, shapes do not fit, there are fewer than
        two items or clusters, or an option does not go with weights.

    Notes
    -----
    The recalibrated probabilities g minimise the score among all that ascend with p, so
    that they add nothing to the influence of an item on MCB, s(p) - s(g), nor on DSC. But
    S(g) is too small: an interval of the plug-in MCB of 0.01 held it in 59% of samples of
    200, and one of the difference of a continuous and a two-valued model in 5%. The mean
    with g of the other folds, linear between the probabilities of these, mends most
    of it. No difference of MCB is tested where Spiegelhalter's test rejects neither
    model: its influence is then 0, and its standard error too small.

    Standard errors of intercept and slope are sandwich ones, times n / (n - 1). Where a
    probability is 0 or 1 there is no logit; where a cutoff separates the classes, the slope
    is infinite. O(M n log n).

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting, A. I. Jordan, "Stable reliability diagrams for
       probabilistic classifiers", PNAS 118 (2021) e2016191118.
    .. [2] D. J. Spiegelhalter, "Probabilistic prediction in patient management and
       clinical trials", Statistics in Medicine 5 (1986) 421-433.
    .. [3] D. R. Cox, "Two further applications of a model for binary regression",
       Biometrika 45 (1958) 562-565.
    .. [4] J. Broecker, "Estimating reliability and resolution of probability forecasts
       through decomposition of the empirical score", Climate Dynamics 39 (2012) 655-667.
    .. [5] A. Kumar, P. Liang, T. Ma, "Verified uncertainty calibration", NeurIPS 32 (2019).

    Examples
    --------
    >>> from fastcmp import calibration
    >>> y_true = [0, 0, 1, 0, 1, 1, 0, 1]
    >>> risks = {"a": [0.1, 0.2, 0.4, 0.4, 0.7, 0.8, 0.3, 0.9], "b": [0.4] * 4 + [0.6] * 4}
    >>> result = calibration(y_true, risks)
    >>> result.mcb.round(4).tolist(), result.dsc.round(4).tolist()
    ([0.0375, 0.0225], [0.1875, 0.0625])
    """
    score, method = choose(score, "score", SCORES), choose(method, "method", METHODS)
    binning = choose(binning, "binning", BINNINGS)
    multiclass = choose(multiclass, "multiclass", MULTICLASS)
    bins, level = as_whole(bins, "bins", 1), as_proportion(confidence_level, "confidence_level")
    n_resamples, seed = as_resamples(n_resamples, 0), as_seed(rng)
    if hosmer_lemeshow_groups is not None:
        as_whole(hosmer_lemeshow_groups, "hosmer_lemeshow_groups", 2)
        if weights is not None:
            raise BadValueError(
                "`hosmer_lemeshow_groups=` counts items", remedy=": leave it out with `weights=`"
            )
    fewer = 2 if as_flag(fitted, "fitted") else 0
    from scipy.special import chdtrc

    eps = check_eps(eps)
    model_names, problems, kind, keys = read_problems(
        *(y_true, probabilities, multiclass, classes, positive, names)
    )
    total, m = problems[0][0].y.size, len(problems)
    importance = read_item_groups(total, weights=weights, indexed=("y_true", y_true)).weights
    used = None if importance is None else importance > 0.0
    if used is not None:
        problems = [[Problem(p[used], y[used]) for p, y in of_model] for of_model in problems]
        keys = keys[0][used], keys[1][used]
    belongs = read_item_groups(total, groups=groups, keep=used, indexed=("y_true", y_true))
    n, clusters, n_units = belongs.n_items, belongs.clusters, belongs.n_units
    if n_units < 2:
        raise BadValueError("`y_true` must hold at least 2 items", n)
    weight = np.ones(n)
    if importance is not None:
        weight = importance[importance > 0.0]
        weight = weight / weight.mean()
    happened = sum(k * problem.y for k, problem in enumerate(problems[0], 1))
    # Who is right differs by model: then by probability alone.
    by = keys[::-1] if kind == "top-label" else (keys[1], keys[0], happened)
    fold, n_folds = _read_folds(folds, total, by, clusters, used)
    check_memory(64.0 * m * n, None, f"values of {m} models on {n} items", "compare fewer models")
    # What items add to each measure: their means are its values, but for intercept and slope.
    rows = {name: np.zeros((m, n)) for name in MEASURES if name != "slope-distance"}
    measures: list[list[dict[str, float]]] = [[] for _ in range(m)]

    def work(model: int) -> None:
        for p, y in problems[model]:
            clipped = p if eps is None else np.clip(p, eps, 1.0 - eps)
            ordered = Ordered.of(clipped, weight)
            alone, others = ordered.recalibrated(y, fold, n_folds)
            if score == "log_loss" and eps is not None:
                others = np.clip(others, eps, 1.0 - eps)
            mean = np.full_like(y, np.average(y, weights=weight))
            scores, overall, plug_in, crossfit = (
                item_scores(x, y, score) for x in (clipped, mean, alone, others)
            )
            crossfit[np.isinf(crossfit)] = np.nan
            balanced = 0.5 * (plug_in + crossfit)
            s, u, g, b = (
                float(np.average(x, weights=weight)) for x in (scores, overall, plug_in, balanced)
            )
            part = {"mean_score": s, "mcb": s - g, "dsc": u - g, "unc": u}
            part |= {"mcb_balanced": s - b, "dsc_balanced": u - b, "mcb_crossfit": s - 2.0 * b + g}
            mixed = balanced if method == "balanced" else plug_in
            # What each item adds to what is compared.
            added = {"score": scores, "mcb": scores - mixed, "dsc": overall - mixed}
            if math.isinf(part["mean_score"]):
                item = int(np.isinf(added["score"]).argmax())
                item = item if used is None else int(np.flatnonzero(used)[item])
                cautions[model].append(
                    "the log loss is infinite, because an outcome had probability 0, such as that "
                    f"of item {item}: eps= clips, or take score='brier'"
                )
            codes = ordered.place if binning == "values" else ordered.shares(bins)
            codes = width_bins(clipped, bins) if binning == "width" else codes
            part |= bin_measures(y, clipped, codes, weight)
            part |= dict.fromkeys(_OF_ONE, math.nan)
            if kind != "class-wise":
                added["overconfidence"] = clipped - y
                part["overconfidence"] = float(np.average(clipped - y, weights=weight))
                fit = recalibrate(y, clipped, weight)
                added |= {"citl": n * fit.intercept_influence, "slope": n * fit.slope_influence}
                part |= {name: getattr(fit, name) for name in _OF_ONE[: 6 if used is None else 3]}
                part["spiegelhalter"] = spiegelhalter(y, clipped, weight)
                cautions[model] += [fit.problem] if fit.problem else []
                if n_resamples or n <= EXACT:
                    draws = np.random.default_rng([seed, model])
                    part["mcb_pvalue"] = miscalibration_pvalue(
                        *(y, clipped, ordered, score, n_resamples, draws)
                    )
                if hosmer_lemeshow_groups is not None:
                    part["hosmer_lemeshow"], part["hosmer_lemeshow_df"] = hosmer_lemeshow(
                        y, clipped, ordered.shares(hosmer_lemeshow_groups)
                    )
            for name, row in added.items():
                rows[name][model] += row
            measures[model].append(part)
        if kind == "class-wise":
            p, y = (np.stack(x) for x in zip(*problems[model], strict=True))
            square = np.square(p).sum(axis=0)
            spread = float(np.square(weight) @ ((p**3).sum(axis=0) - np.square(square)))
            off = float(weight @ (square - (p * y).sum(axis=0)))
            z = off / math.sqrt(spread) if spread > _ROUNDING * n else math.nan
            for part in measures[model]:
                part["spiegelhalter"] = z  # of the Brier score of all classes
            for name in ("overconfidence", "citl", "slope"):
                rows[name][model] = math.nan

    cautions: list[list[str]] = [[] for _ in range(m)]
    with ThreadPool(check_workers(workers)) as pool:
        pool.run(work, range(m), steps=0, here=m * n < 1 << 14)
    parts = {
        name: np.array([[part[name] for part in of_model] for of_model in measures])
        for name in measures[0][0]
    }
    columns = {
        name: x.sum(axis=1) if name in _ADDED else x.mean(axis=1) for name, x in parts.items()
    }
    columns["hosmer_lemeshow_df"] = columns["hosmer_lemeshow_df"] - fewer
    for name, df in (("hosmer_lemeshow", columns["hosmer_lemeshow_df"]), ("likelihood_ratio", 2.0)):
        pvalue = np.where(np.greater(df, 0.0), chdtrc(np.maximum(df, 1.0), columns[name]), np.nan)
        columns[f"{name}_pvalue"] = pvalue
    columns["spiegelhalter_pvalue"] = np.asarray(t_tail(columns["spiegelhalter"], "two-sided"))
    fields: dict[str, Any] = {"score": score, "method": method, "multiclass": kind, "n_bins": bins}
    fields |= {"binning": binning, "n_folds": n_folds, "n_items": n, "confidence_level": level}
    fields |= {"n_clusters": None if clusters is None else n_units, "n_resamples": n_resamples}
    return Calibration(
        names=model_names,
        by_class=parts if kind == "class-wise" else None,
        covariances={name: _covariance(x, clusters, weight) for name, x in rows.items()},
        cautions=_cautions(
            columns, model_names, cautions, 1.0 - level, clustered=clusters is not None
        ),
        seed=seed,
        **columns,
        **fields,
    )


def _covariance(rows: Floats, clusters: Grouping | None, weights: Floats) -> Floats:
    """Covariance of the means of rows over items, or clusters; NaN of rows with NaN."""
    n = rows.shape[1]
    means = rows @ weights / n
    rows = rows - np.where(np.isfinite(means), means, np.nan)[:, np.newaxis]
    if (weights != 1.0).any():
        rows *= weights
    rows = sums_by_unit(rows, None if clusters is None else clusters.codes)
    return np.asarray(rows @ rows.T * (rows.shape[1] / (rows.shape[1] - 1.0) / n**2))


def _cautions(
    columns: dict[str, Floats],
    names: tuple[str, ...],
    problems: list[list[str]],
    alpha: float,
    *,
    clustered: bool,
) -> tuple[str, ...]:
    """What makes the answer doubtful."""
    cautions = []
    for problem in dict.fromkeys(text for of_model in problems for text in of_model):
        models = [
            visible(name)
            for name, of_model in zip(names, problems, strict=True)
            if problem in of_model
        ]
        more = f" and {len(models) - 3} more" if len(models) > 3 else ""
        cautions.append(f"{', '.join(models[:3])}{more}: {problem}.")
    if np.isnan(columns["mcb_crossfit"]).any():
        cautions.append(
            "By the other folds some outcome had probability 0, and its log loss is infinite: "
            "take score='brier', eps= or method='plug-in'."
        )
    if n_single := int(columns["n_single"].max()):
        cautions.append(
            f"Up to {n_single} bins hold one item: the debiased square leaves them out."
        )
    if clustered:
        cautions.append(
            "Spiegelhalter's test, the likelihood ratio and Hosmer and Lemeshow's test take items "
            "as independent, not clusters."
        )
    doubtful = int(np.count_nonzero(~(columns["spiegelhalter_pvalue"] < alpha)))
    if len(names) > 1 and doubtful > 1:
        cautions.append(
            f"Spiegelhalter's test does not reject {doubtful} of {len(names)} models: where "
            "both of two may be calibrated, a difference of MCB has no sound test."
        )
    return tuple(cautions)
