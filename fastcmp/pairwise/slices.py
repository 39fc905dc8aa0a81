"""Models compared within slices of the items: differences, interaction, the worst slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import (
    Draws,
    as_flag,
    as_proportion,
    as_resamples,
    as_seed,
    as_whole,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_cdf, t_interval, t_ppf, t_tail, times
from fastcmp.core.records import ConfidenceInterval
from fastcmp.core.threads import ThreadPool, check_memory, check_workers
from fastcmp.core.typing import ColumnLike, Flags, Floats, Ints, ModelsLike, Pairs, Seed
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.inputs.item_groups import Grouping, read_item_groups
from fastcmp.inputs.model_names import with_index, with_names
from fastcmp.inputs.values import read_values
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import (
    NO_VARIANCE,
    Estimated,
    MarginOptions,
    as_margin,
    as_margin_alpha,
    bounded_interval,
    bounded_score,
    make_tests,
    samples_needed,
    stratum_units,
)
from fastcmp.paired.units import constant_pvalue
from fastcmp.pairwise.adjust import ADJUSTMENTS, JOINT, LOGICAL, OF_MODELS, adjust_checked
from fastcmp.pairwise.engine import Options
from fastcmp.pairwise.joint_draws import normal_joint
from fastcmp.pairwise.margins import margin_adjustment
from fastcmp.pairwise.max_t import joint_pvalues
from fastcmp.pairwise.model_estimates import Estimates, ValuesLike, estimates_of, listed
from fastcmp.pairwise.slice_sums import Items, Slices, SliceSums, read_slices
from fastcmp.pairwise.slices_result import INTERACTIONS, SlicesResult

POLICIES = ("raise", "common", "wrong")
_FEW, _SMALL = 10, 30  # discordant items for a t test; items of a slice for chi-square
_RANK = 1e-10  # of the largest eigenvalue; less is rounding
_WORK = 1e8  # slices ** 2 * models * items of an interaction that is worth a second


class SliceOptions(NamedTuple):
    """How slices are compared; checked."""

    adjust: str
    alpha: float
    draws: Draws
    lower_is_better: bool
    margin: float | None = None
    interaction: str = "auto"
    min_items: int = 2


def compare_slices(
    values: ValuesLike,
    slices: ModelsLike,
    *,
    groups: ColumnLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    interaction: str = "auto",
    margin: float | None = None,
    min_items: int = 2,
    adjust: str = "holm",
    alpha: float = 0.05,
    n_resamples: int = 9999,
    rng: Seed = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
) -> SlicesResult:
    """Compare models within slices of the items, which may overlap.

    Parameters
    ----------
    values : array-like of shape (M, n), mapping, frame or Estimates
        Values of items, as in `compare_means`; for accuracies those of `correct_values`.
        Of `Estimates` with influences each slice has the estimate plus the mean of its
        influences: exact for means, to first order for other measures.
    slices : mapping, frame, or array-like of shape (n,) or (S, n)
        A mapping or frame from names to columns: True and False (or 1 and 0) say which
        items a slice holds, a column of other labels is one slice a label. One column of
        labels, shape (n,), cuts the items up; an array of shape (S, n) holds True and False.
        Items without a label are in no slice of that column.
    groups : array-like, shape (n,), optional
        Cluster of each item.
    lower_is_better : bool
        Whether values are losses.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `compare_means`.
    interaction : {"auto", "wald", "welch-f", "none"}
        How it is tested whether differences are the same in all slices. Slices that do
        not overlap: Wald's chi-square, or Welch's F, which "auto" takes where a slice has
        fewer than 30 items. Slices that overlap: each minus its rest, all at once by a
        generalised inverse; "auto" leaves it out where it would take many seconds.
    margin : float, optional
        The largest difference that does not matter: adds the tests of "not worse by it
        in any slice" and of "worse in some".
    min_items : int
        Items, or clusters, that a slice needs to be tested; at least 2. Smaller ones are
        shown, and are not counted in the adjustment.
    adjust : str
        Adjustment for all slices and pairs together, as in `compare_means`; "maxt" and
        "single-step" know how slices overlap and models agree.
    alpha : float
        Error rate of the decisions. Intervals have the level 1 - alpha.
    n_resamples : int
        Draws of "maxt" and "single-step".
    rng : int, numpy.random.Generator or None
        Where they come from.
    pairs : sequence of pairs, optional
        Compare only these.
    control : int or str, optional
        Compare only this model with all others.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    workers : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    SlicesResult
        Differences in each slice, slice minus rest, the interaction, and the worst slice.

    Raises
    ------
    ValueError
        If a slice holds no item, lengths differ, values are missing without a policy, or
        an option is unknown.
    TypeError
        If values are no numbers.

    Notes
    -----
    In each slice the paired t test of its items, or the cluster-robust one with G / (G - 1).
    A slice minus its rest is Welch's t. The lower limit of the worst difference is the
    smallest of the unadjusted lower limits, the upper one the smallest of those that hold
    at once (Bonferroni): the naive interval of the slice that looks worst is too low.
    O(M**2) products for each item of each slice.

    References
    ----------
    .. [1] B. L. Welch, "On the comparison of several mean values: an alternative approach",
       Biometrika 38 (1951) 330-336.
    .. [2] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling",
       Technometrics 24 (1982) 295-300.

    Examples
    --------
    >>> from fastcmp import compare_slices, correct_values, load_digits
    >>> truth, preds = load_digits()
    >>> some = {name: preds[name] for name in ("svm_rbf", "mlp")}
    >>> result = compare_slices(correct_values(truth, some), truth, margin=0.05)
    >>> result.slices[result.worst[0, 0]], result.worst_interval[0, 0].round(3).tolist()
    ('8', [-0.063, 0.063])
    """
    lower = as_flag(lower_is_better, "lower_is_better")
    if (estimates := estimates_of(values)) is not None:
        if lower or missing != "raise" or not (groups is None and names is None):
            raise BadValueError(
                "`lower_is_better=`, `missing=`, `groups=` and `names=` are about values",
                remedy=": leave them to Estimates(...)",
            )
        items, keep, lower = items_of_estimates(estimates), None, estimates.lower_is_better
    else:
        policy = choose(missing, "missing", POLICIES)
        read = read_values(with_names(values, names, "values"), policy)
        keep, n = read.kept, read.n_items + read.n_dropped
        clusters = read_item_groups(n, groups=groups, keep=keep).clusters
        matrix = np.stack(read.columns) if read.matrix is None else read.matrix
        items = Items(read.names, matrix, read.binary, clusters, read.exponent)
    adjust = choose(adjust, "adjust", OF_MODELS)
    if adjust in LOGICAL:
        raise BadValueError(
            f"`adjust={adjust!r}` is for all pairs of models of one slice: use 'holm'"
        )
    options = SliceOptions(
        adjust=adjust,
        alpha=as_proportion(alpha, "alpha") if margin is None else as_margin_alpha(alpha),
        draws=Draws(as_resamples(n_resamples), as_seed(rng)),
        lower_is_better=lower,
        margin=None if margin is None else as_margin(margin),
        interaction=choose(interaction, "interaction", INTERACTIONS),
        min_items=as_whole(min_items, "min_items", 2),
    )
    pair_indices = choose_pairs(items.names, pairs, control)
    total = items.matrix.shape[1] if keep is None else keep.size
    masks = read_slices(slices, total, keep, with_index(values))
    with ThreadPool(check_workers(workers)) as pool:
        return slices_record(items, masks, pair_indices, options, pool)


def items_of_estimates(estimates: Estimates) -> Items:
    """Values whose means in a slice are the estimates plus the means of the influences."""
    if estimates.influences is None:
        raise BadValueError(
            "`values` are Estimates without influences, from which no slice can be told",
            remedy=": pass Estimates(values, `influences=`)",
        )
    matrix, codes = estimates.values[:, None] + estimates.influences, estimates.codes
    clusters = None if codes is None else Grouping(codes, tuple(range(int(codes.max()) + 1)))
    return Items(
        estimates.names, matrix, binary=False, clusters=clusters, exponent=estimates.exponent
    )


def slices_record(
    items: Items,
    slices: Slices,
    pair_indices: Pairs | None,
    options: SliceOptions,
    pool: ThreadPool,
    sums_of: Callable[[Items, Pairs], SliceSums] = SliceSums,
) -> SlicesResult:
    """The record of the tests of all slices and pairs."""
    names, masks = slices
    pairs = all_pairs(len(items.names)) if pair_indices is None else pair_indices
    (n_slices, n), p, alpha = masks.shape, len(pairs), options.alpha
    advice = "pass `pairs=` or `control=`, or fewer slices"
    check_memory(200.0 * n_slices * p, None, f"{n_slices} slices of {p} pairs", advice)
    sums, (i, j), level = sums_of(items, pairs), pairs.T, np.zeros((n_slices, 1))
    whole = sums.of(np.ones(n, bool))
    mean, sizes = np.empty((n_slices, len(items.names))), np.zeros((3, n_slices))
    # Of each slice, its rest, and one minus the other; and d.o.f. of this.
    variance, rest_variance, contrast, contrast_variance, contrast_df = np.full(
        (5, n_slices, p), np.nan
    )
    discordant = np.zeros((n_slices, p), np.int64)

    def look(s: int) -> None:
        inside = sums.of(masks[s])
        sizes[:2, s], mean[s], variance[s] = (inside.n, inside.units), inside.mean, inside.variance
        discordant[s] = inside.discordant
        if sums.common.size:
            level[s] = sums.common[masks[s]].mean()
        if inside.n == n:
            return
        outside = sums.rest(whole, inside, masks[s])
        sizes[2, s], v, w = outside.units, inside.variance, outside.variance
        rest_variance[s], contrast_variance[s] = w, v + w
        if items.clusters is not None and min(inside.units, outside.units) > 1:
            # Clusters may have items of both.
            scale = inside.scale * inside.sizes.max() + outside.scale * outside.sizes.max()
            contrast_variance[s] = sums.squares(inside.influences - outside.influences, scale)
        contrast[s] = inside.mean[i] - inside.mean[j] - outside.mean[i] + outside.mean[j]
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = v**2 / (inside.units - 1.0) + w**2 / (outside.units - 1.0)
            contrast_df[s] = (v + w) ** 2 / parts

    pool.run(look, range(n_slices), steps=0)
    n_units = sizes[1][:, None]
    tested = sizes[1] >= options.min_items
    variance[~tested] = contrast_variance[~tested] = np.nan
    mean += sums.offset
    difference, size = mean[:, i] - mean[:, j], np.abs(mean[:, i]) + np.abs(mean[:, j])
    difference[np.abs(difference) <= 8 * np.finfo(np.float64).eps * size] = 0.0
    df = np.where(tested, sizes[1] - 1.0, np.nan)[:, None]
    statistic, pvalue = _t_tests(difference, variance, df)
    constant = (variance == 0.0) & (difference != 0.0)  # of which signs may be flipped
    pvalue = np.where(constant, constant_pvalue(difference, n_units), pvalue)
    family, plain = np.flatnonzero(tested), margin_adjustment(options.adjust)
    drawn = options.adjust in JOINT and family.size > 0
    if drawn:
        adjusted = np.full(pvalue.shape, np.nan)
        of_family = (statistic[family], pvalue[family], variance[family])
        adjusted[family] = _joint_pvalues(sums, masks[family], *of_family, options, pool)
    else:
        adjusted = adjust_checked(pvalue.ravel(), plain).reshape(pvalue.shape)
    _, rest_pvalue = _t_tests(contrast, contrast_variance, contrast_df)
    # Of a slice without variance, or a rest, it is not known how far its difference is off.
    has_variance = (variance > 0.0) & (rest_variance > 0.0)
    rest_pvalue[~has_variance & (contrast != 0.0)] = np.nan
    limits = _Limits(difference, variance, df, sizes[0].astype(np.int64), counted=sums.counted)
    interaction = _interaction(
        sums, names, masks, options, limits, contrast, (tested, has_variance)
    )
    exponent, alone = items.exponent, limits.interval(1.0 - alpha)
    rest_adjusted = adjust_checked(rest_pvalue.ravel(), plain).reshape(pvalue.shape)
    margin = None if options.margin is None else times(options.margin, -exponent)
    margins = None if options.margin is None else limits.margins(options, exponent, adjusted)
    worst = _worst(limits, family, alpha, margin, less=options.lower_is_better)
    scaled = {
        "mean": (mean + level).T,
        "difference": difference.T,
        "standard_error": np.sqrt(variance).T,
        "interval": alone.swapaxes(0, 1),
        "rest_difference": contrast.T,
        "rest_standard_error": np.sqrt(contrast_variance).T,
        "worst_difference": worst.pop("worst_difference"),
        "worst_interval": worst.pop("worst_interval"),
    }
    still, unknown = (variance == 0.0).any(axis=1), np.isnan(pvalue[tested]).any()
    few = tested & ((discordant < _FEW).any(axis=1) if sums.counted else sizes[1] < _FEW)
    cautions = _cautions(sums, slices, tested, few, still, unknown=unknown)
    return SlicesResult(
        names=items.names,
        slices=names,
        n_items_of_slices=sizes[0].astype(np.int64),
        pairs=pairs,
        df=df[:, 0],
        statistic=statistic.T,
        pvalue=pvalue.T,
        pvalue_adjusted=adjusted.T,
        n_discordant=discordant.T if sums.counted else None,
        rest_df=contrast_df.T,
        rest_pvalue=rest_pvalue.T,
        rest_pvalue_adjusted=rest_adjusted.T,
        disjoint=_are_disjoint(masks),
        interaction=interaction.test,
        interaction_statistic=interaction.statistic,
        interaction_df=interaction.df,
        interaction_pvalue=interaction.pvalue,
        interaction_pvalue_adjusted=adjust_checked(interaction.pvalue, plain),
        margins=margins,
        adjust=options.adjust,
        alpha=alpha,
        lower_is_better=options.lower_is_better,
        n_items=n,
        n_clusters=None if items.clusters is None else len(items.clusters.labels),
        adjust_draws="normal draws" if drawn else None,
        adjust_resamples=options.draws.n if drawn else None,
        adjust_seed=options.draws.seed if drawn else None,
        cautions=(*cautions, *interaction.cautions),
        **worst,
        **{name: times(value, exponent) for name, value in scaled.items()},
    )


def with_slices(
    record: Any,
    raw: object,
    items: Items,
    keep: Flags | None,
    pair_indices: Pairs | None,
    options: Options,
    pool: ThreadPool,
    sums_of: Callable[[Items, Pairs], SliceSums] = SliceSums,
    *,
    indexed: tuple[str, Any] | None = None,
) -> Any:
    """A record of all pairs with the comparison within slices, by its own options."""
    masks = read_slices(raw, items.matrix.shape[1] if keep is None else keep.size, keep, indexed)
    adjust = options.adjust if options.adjust in (*ADJUSTMENTS, *JOINT) else "holm"
    draws = Draws(9999, 0) if options.draws is None else options.draws
    spec = SliceOptions(adjust, options.alpha, draws, options.lower_is_better, options.margin)
    return replace(record, slices=slices_record(items, masks, pair_indices, spec, pool, sums_of))


def _t_tests(difference: Floats, variance: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Statistics and p-values; 1 without difference or variance, NaN without variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0.0, 0.0 * variance, difference / np.sqrt(variance))
        pvalue = np.asarray(t_tail(statistic, "two-sided", df))
    pvalue = np.where((variance == 0.0) & (difference != 0.0), np.nan, pvalue)
    return statistic, np.where((variance == 0.0) & (difference == 0.0), 1.0, pvalue)


def _joint_pvalues(
    sums: SliceSums,
    masks: Flags,
    statistic: Floats,
    pvalue: Floats,
    variance: Floats,
    options: SliceOptions,
    pool: ThreadPool,
) -> Floats:
    """P-values by the largest of all slices and pairs, of normal scores as improbable as t."""
    m = len(sums.offset)
    rows = sums.joint(masks, rest=False).reshape(len(masks) * m, -1)
    gram = rows @ rows.T
    squares = np.diagonal(gram)
    between = np.maximum(squares[:, None] + squares - 2.0 * gram, 0.0)
    joint = normal_joint(between, options.draws, np.inf, pool)
    starts = np.arange(len(masks))[:, None, None] * m
    within = (starts + sums.pairs).reshape(-1, 2).astype(np.int32)
    scores = np.where(np.isnan(pvalue), np.nan, np.sign(statistic) * -t_ppf(pvalue / 2.0, None))
    inverse = np.sqrt(np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0.0))
    down = options.adjust == "maxt"
    adjusted = joint_pvalues(joint, within, scores.ravel(), inverse.ravel(), pool, down=down)
    return np.maximum(adjusted.reshape(pvalue.shape), pvalue)


class _Limits:
    """Intervals and one-sided tests of the differences of slices and pairs, (S, P)."""

    def __init__(
        self, difference: Floats, variance: Floats, df: Floats, n_items: Ints, *, counted: bool
    ) -> None:
        """Where values are 0 and 1, and all items of a slice differ alike, count these."""
        self.difference, self.variance, self.df = difference, variance, df
        self.n_items = n_items
        self.still = variance == 0.0
        self._units: Any = None
        if counted and self.still.any():  # each number of items once
            d = np.rint(difference[self.still]).astype(np.int64)
            n = np.broadcast_to(n_items[:, None], variance.shape)[self.still]
            (d, n), self._kinds = np.unique(np.stack([d, n]), axis=1, return_inverse=True)
            a, b, n = (x[:, None] for x in (n * (d > 0), n * (d < 0), n))
            self._units = stratum_units(a, b, n, np.ones(1))

    def interval(self, level: float) -> Floats:
        """Intervals, shape (S, P, 2)."""
        error = np.where(self.still, np.nan, np.sqrt(self.variance))
        ends = np.stack(t_interval(self.difference, error, level, df=self.df), axis=2)
        if self._units is not None:
            by_kind = np.stack(bounded_interval(self._units, level), axis=1)
            ends[self.still] = by_kind[self._kinds.ravel()]
        return ends

    def above(self, at: float, sign: float) -> Floats:
        """P-values of "sign times the difference is above `at`"."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (sign * self.difference - at) / np.sqrt(self.variance)
        pvalue = np.where(self.still, np.nan, t_tail(t, "greater", self.df))
        if self._units is not None:
            turned = self._units._replace(gain=sign * self._units.gain)
            pvalue[self.still] = t_cdf(bounded_score(turned, at), None)[self._kinds.ravel()]
        return pvalue

    def margins(self, options: SliceOptions, exponent: int, pvalue: Floats) -> MarginTests:
        """Tests of all differences against the margin, one by one, (P, S)."""
        assert options.margin is not None
        against = MarginOptions(
            options.margin, options.alpha, lower_is_better=options.lower_is_better
        )
        at = float(times(options.margin, -exponent))
        error = np.sqrt(np.where(self.still, np.nan, self.variance))
        statistics = (self.difference + at) / error, (self.difference - at) / error
        tails = [self.above(-at, 1.0), self.above(-at, -1.0)]
        tails.append(self.above(at, -1.0 if options.lower_is_better else 1.0))
        intervals = [
            ConfidenceInterval(
                *times(np.moveaxis(self.interval(level), (0, 1, 2), (2, 1, 0)), exponent)
            )
            for level in (1.0 - options.alpha, 1.0 - 2.0 * options.alpha)
        ]
        n = np.broadcast_to(self.n_items[:, None], error.shape)
        spread, gain = error * np.sqrt(n), against.gain(self.difference)
        of = Estimated(*(times(x.T, exponent) for x in (self.difference, error)))
        return make_tests(
            of._replace(n_samples=n.T, pvalue=pvalue.T),
            against,
            tuple(x.T for x in (*statistics, *tails)),
            (intervals[0], intervals[1]),
            samples_needed(gain, at, (spread, spread, spread), against).T,
            method="t" if self._units is None else np.where(self.still, "bounded", "t").T,
            df=self.df.T,
            reason=NO_VARIANCE if self._units is None and self.still.any() else "",
        )


def _worst(
    limits: _Limits, family: Ints, alpha: float, margin: float | None, *, less: bool
) -> dict[str, Any]:
    """The slice in which each model of a pair does worst beside the other, with bounds."""
    p = limits.difference.shape[1]
    worst, lead, ends = np.full((p, 2), -1), np.full((p, 2), np.nan), np.full((p, 2, 2), np.nan)
    not_worse, worse = np.full((2, p, 2), np.nan)
    if family.size:
        alone = limits.interval(1.0 - alpha)[family]
        at_once = limits.interval(1.0 - alpha / family.size)[family]
        for side, sign in enumerate((-1.0, 1.0) if less else (1.0, -1.0)):
            advantage, low, high = sign * limits.difference[family], 0, 1
            if sign < 0.0:
                low, high = 1, 0
            unknown = np.isnan(advantage)
            worst[:, side] = family[np.where(unknown, np.inf, advantage).argmin(axis=0)]
            lead[:, side] = np.fmin.reduce(advantage, axis=0)
            ends[:, side, 0] = (sign * alone[..., low]).min(axis=0)
            ends[:, side, 1] = np.fmin.reduce(sign * at_once[..., high], axis=0)
            if margin is not None:
                not_worse[:, side] = limits.above(-margin, sign)[family].max(axis=0)
                pvalues = limits.above(margin, -sign)[family]
                n_known = np.count_nonzero(~np.isnan(pvalues), axis=0)
                worse[:, side] = np.minimum(n_known * np.fmin.reduce(pvalues, axis=0), 1.0)
    return {
        "worst": worst,
        "worst_difference": lead,
        "worst_interval": ends,
        "not_worse_pvalue": None if margin is None else not_worse,
        "worse_pvalue": None if margin is None else worse,
    }


class _InteractionTest(NamedTuple):
    """The test that differences are the same in all slices, by pair."""

    test: str
    statistic: Floats
    #: Of the numerator, and of the denominator (infinite for chi-square), shape (P, 2).
    df: Floats
    pvalue: Floats
    cautions: tuple[str, ...] = ()


def _interaction(
    sums: SliceSums,
    names: tuple[str, ...],
    masks: Flags,
    options: SliceOptions,
    limits: _Limits,
    contrast: Floats,
    usable: tuple[Flags, Flags],
) -> _InteractionTest:
    """Tests of whether the differences of each pair are the same in all slices."""
    from scipy.special import chdtrc

    p, test = len(sums.pairs), options.interaction
    none = np.full(p, np.nan)
    nothing = _InteractionTest("none", none, np.full((p, 2), np.nan), none)
    codes = None if sums.clusters is None else sums.clusters.codes
    if test == "none":
        return nothing
    if test != "auto" and (whole := masks.all(axis=1)).any():
        name = names[int(whole.argmax())]
        raise BadValueError(
            f"`interaction={test!r}` compares slices with each other or their rests, and "
            f"slices[{name!r}] holds all items: leave it out"
        )
    if _are_disjoint(masks) and (codes is None or _nested(codes, masks)):
        used = np.flatnonzero(usable[0])
        if used.size < 2:
            return nothing
        units = limits.df[used, 0] + 1.0
        if test == "auto":
            test = "welch-f" if units.min() < _SMALL else "wald"
        return _homogeneity(limits.difference[used], limits.variance[used], units, test)
    if test == "welch-f":
        raise BadValueError(
            "`interaction='welch-f'` needs slices that do not overlap, of whole clusters",
            remedy=": use 'wald'",
        )
    used = np.flatnonzero(usable[1].any(axis=1))
    if not used.size:
        return nothing
    if test == "auto" and float(len(names)) ** 2 * sums.rows.size > _WORK:
        text = f"The {len(names)} slices overlap, and were not tested together, which takes long: "
        return nothing._replace(cautions=(text + "pass interaction='wald'.",))
    rows = sums.joint(masks[used], rest=True)
    statistic, df = none.copy(), np.full((p, 2), np.inf)
    for k, (i, j) in enumerate(sums.pairs.tolist()):
        has_test = usable[1][used, k]
        differences = (rows[:, i] - rows[:, j])[has_test]
        if len(differences):
            statistic[k], df[k, 0] = _wald(contrast[used[has_test], k], differences @ differences.T)
    pvalue = np.where(df[:, 0] > 0.0, chdtrc(df[:, 0], statistic), np.nan)
    return _InteractionTest("wald", statistic, df, pvalue)


def _are_disjoint(masks: Flags) -> bool:
    """Whether no item is in two slices."""
    return bool((masks.sum(axis=0) <= 1).all())


def _nested(codes: Ints, masks: Flags) -> bool:
    """Whether each cluster lies in one of some disjoint slices, or in none."""
    place = np.where(masks.any(axis=0), masks.argmax(axis=0), -1)
    first = np.full(int(codes.max()) + 1, -2)
    first[codes] = place
    return bool((first[codes] == place).all())


def _wald(contrast: Floats, covariance: Floats) -> tuple[float, float]:
    """Wald's statistic by a generalised inverse, and its rank; NaN where none measures it."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _RANK * max(float(values[-1]), 0.0)
    turned = vectors.T @ contrast
    if np.linalg.norm(turned[~kept]) > 1e-7 * np.linalg.norm(contrast):
        return np.nan, float(kept.sum())
    return float((turned[kept] ** 2 / values[kept]).sum()), float(kept.sum())


def _homogeneity(
    difference: Floats, variance: Floats, units: Floats, test: str
) -> _InteractionTest:
    """Wald's Q, or Welch's F, of slices that do not overlap, (S, P), and have a variance."""
    from scipy.special import chdtrc, fdtrc

    used = variance > 0.0
    k = used.sum(axis=0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(used, 1.0 / variance, 0.0)
        share = weights / weights.sum(axis=0)
        mean = (share * difference).sum(axis=0)
        q = np.where(k > 1.0, (weights * (difference - mean) ** 2).sum(axis=0), np.nan)
        df = np.stack([k - 1.0, np.full(k.size, np.inf)], axis=1)
        if test == "wald":
            return _InteractionTest("wald", q, df, np.asarray(chdtrc(df[:, 0], q)))
        spread = np.where(used, (1.0 - share) ** 2 / (units[:, None] - 1.0), 0.0).sum(axis=0)
        f = q / (k - 1.0) / (1.0 + 2.0 * (k - 2.0) / (k**2 - 1.0) * spread)
        df[:, 1] = (k**2 - 1.0) / (3.0 * spread)
        return _InteractionTest("welch-f", f, df, np.asarray(fdtrc(df[:, 0], df[:, 1], f)))


def _cautions(
    sums: SliceSums, slices: Slices, tested: Flags, few: Flags, still: Flags, *, unknown: Any
) -> list[str]:
    """What makes the answers doubtful, in sentences."""
    (names, masks), cautions = slices, []

    def named(flags: Any) -> str:
        return listed([name for name, flag in zip(names, flags, strict=True) if flag])

    unit = "items" if sums.clusters is None else "clusters"
    if not tested.all():
        cautions.append(f"TOO SMALL to be tested, and not counted: {named(~tested)}.")
    seen: dict[bytes, str] = {}
    for name, row in zip(names, np.packbits(masks, axis=1), strict=True):
        first = seen.setdefault(row.tobytes(), name)
        if first != name:
            cautions.append(f"{first} and {name} hold the same items.")
    if (whole := masks.all(axis=1)).any():
        cautions.append(f"{named(whole)}: all items, and no rest to compare with.")
    if few.any():
        what = f"there are fewer than {_FEW} {unit}"
        if sums.counted:
            what = f"a pair of models differs on fewer than {_FEW} items"
        cautions.append(f"In {named(few)} {what}: t is rough there.")
    if still.any():
        cautions.append(
            f"In {named(still)} some pairs never differ, or always alike: without variance these "
            "are not compared with the rest, nor in the interaction."
        )
    if unknown:
        cautions.append(
            "In some slices no test has an answer: without variance, or the measure is undefined."
        )
    codes = None if sums.clusters is None else sums.clusters.codes
    if codes is not None and _are_disjoint(masks) and not _nested(codes, masks):
        cautions.append("Clusters have items of several slices: these are not independent.")
    return cautions
