"""Many models compared by a metric that is a function of sums over items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsyrk

from fastcmp.core.checks import (
    ALTERNATIVES,
    as_flag,
    as_level,
    as_resamples,
    as_seed,
    choose,
    keep_side,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.sections import Column, Section
from fastcmp.core.sentences import how
from fastcmp.core.threads import ThreadPool, blas_for, check_workers
from fastcmp.core.typing import ColumnLike, Flags, Floats, ModelsLike, Pairs, Seed
from fastcmp.counts.pairs import Block, PairColumns, all_pairs, choose_pairs
from fastcmp.estimates.corrections import degrees
from fastcmp.estimates.judge_inputs import Design
from fastcmp.estimates.sum_draws import MOST_ENUMERATED, bootstrap_sums, swap_tests
from fastcmp.estimates.sum_inputs import Sums, read_sums
from fastcmp.estimates.sum_metrics import SumMetric, counted_classes, logged, read_metric
from fastcmp.pairwise.engine import DRAWN, Options, compare_pairs
from fastcmp.pairwise.engine import read_options as engine_options
from fastcmp.pairwise.mean_tests import estimate_tests
from fastcmp.pairwise.model_estimates import Estimates, listed, make_estimates, some_of
from fastcmp.pairwise.result import DF_OF_PAIRS, PairwiseResult
from fastcmp.pairwise.slice_sums import Items, Part, SliceSums
from fastcmp.pairwise.slices import with_slices

METHODS = ("cr2", "delta", "jackknife", "permutation", "bootstrap")
_SCALES = ("difference", "ratio")
_FEW_UNITS = 30.0  # worth as many: a permutation test stands beside
_FEW_DRAWN = 50  # units: with fewer percentile intervals are too short
_FEW_DEGREES = 5.0
_CONCENTRATED = 15.0
_LARGE_SHARE = 1 / 3
_BESIDE = 1 << 22  # differences that are evaluated for permutation tests beside others
_LOOKED_AT = 1 << 21  # influences of pairs whose concentration is looked at
_THREADS_PAY = 1 << 15  # pairs; fewer are tested sooner by one thread
_ROUNDING = 1e-12
_NOISE = 64 * np.finfo(np.float64).eps  # of a metric: influences that are rounding alone
#: By what all models should be divided alike.
_SHARED = {"perplexity": "tokens", "WER": "reference words", "CER": "reference words"}
_TESTS = {
    "cr2": "t test, CR2 by shares of the denominator",
    "delta": "t test, standard errors by influences (delta method)",
    "jackknife": "t test, jackknife standard errors",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SumsResult(PairwiseResult):
    """Many models compared in pairs by a metric of sums over items.

    A `PairwiseResult`: `score` holds the metric of each model, NaN where it is not defined;
    pairs of such a model are not tested. With ``scale="ratio"`` scores and differences are
    logarithms, and `ratio` and `ratio_interval` are their exponentials.
    """

    _cites = (
        (
            "method",
            {
                "cr2": "bell pustejovsky",
                "jackknife": "miller",
                "bootstrap": "efron",
                "permutation": "phipson",
            },
        ),
    )

    #: Its name, such as "BLEU".
    metric: str
    lower_is_better: bool = False
    #: "difference", or "ratio" where logarithms are compared.
    scale: str = "difference"
    #: "two-sided", or what is tested of the first of each pair: "greater" or "less".
    alternative: str = "two-sided"
    #: The least and the largest value of the metric.
    limits: tuple[float, float] = (-np.inf, np.inf)
    #: Of each difference, shape (P,): by the method; of a permutation test the jackknife's.
    standard_error: Floats
    #: Covariance of the scores, shape (M, M).
    covariance: Floats
    #: Share of each item or cluster in the denominator, mean over models, shape (G,); None
    #: unless ``method="cr2"``.
    shares: Any = None
    #: Number of units that would vary as much as those of each pair, were they alike, and
    #: the largest part of one in its variance, shape (P,); None where pairs are too many.
    n_effective: Any = None
    largest_share: Any = None
    #: P-values of exact or drawn swaps of items between both models, shape (P,), NaN where
    #: items are many and none counts much; None where no pair has one. How many swaps these
    #: are of, 0 for none; at most 2**62.
    permutation_pvalue: Any = None
    n_configurations: Any = None
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None

    _columns = (
        *PairwiseResult._columns,
        Column("ratio", lambda self: self.ratio if self.scale == "ratio" else None),
        Column(
            "ratio_low ratio_high",
            lambda self: self.ratio_interval if self.scale == "ratio" else None,
        ),
        *Column.each("standard_error n_effective largest_share permutation_pvalue"),
        *(Column("n_configurations"), DF_OF_PAIRS),
    )
    _read = (
        *PairwiseResult._read,
        *("metric", "lower_is_better", "scale", "alternative", "shares", "n_resamples", "seed"),
    )

    @property
    def any_size(self) -> bool:
        """Whether the metric may be of any size, not between -1 and 1."""
        return self.scale == "ratio" or self.limits[0] < -1.0 or self.limits[1] > 1.0

    @property
    def ratio(self) -> Any:
        """The metric of the first model over that of the second; None on another scale."""
        return np.exp(self.difference) if self.scale == "ratio" else None

    @property
    def ratio_interval(self) -> Any:
        """Intervals of the ratios, shape (P, 2); None on another scale."""
        return np.exp(np.asarray(self.interval)) if self.scale == "ratio" else None

    @property
    def estimates(self) -> Estimates:
        """Scores and their covariance, of the models that have both; needs two of them."""
        models = np.flatnonzero(~np.isnan(self.score + np.diagonal(self.covariance)))
        if models.size < 2:
            raise ValueError(f"fewer than 2 models have a {self.measure} and a standard error")
        of_all = self.__dict__.get("_estimates")
        if of_all is not None:
            return of_all if models.size == len(self.names) else some_of(of_all, models)
        return Estimates(  # of a record that was read back
            self.score[models],
            self.covariance[np.ix_(models, models)],
            df=None if self.df is None else float(np.min(self.df)),
            n_items=self.n_samples,
            names=[self.names[i] for i in models],
            lower_is_better=self.lower_is_better,
            measure=self.measure,
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`.
        """
        unit = "items" if self.n_clusters is None else "clusters"
        sections = super().sections()
        text = sections[0].text
        if self.alternative != "two-sided":
            first = "the first of each pair" if self.control is None else self.control
            first = self.names[self.pairs[0, 0]] if len(self.pairs) == 1 else first
            text += (
                how(
                    f"P-values and intervals are one-sided: whether {first} has the "
                    f"{'larger' if self.alternative == 'greater' else 'smaller'} {self.metric}."
                ),
            )
        if self.scale == "ratio" and len(self.pairs) == 1:
            (low, high), (a, b) = self.ratio_interval[0].tolist(), self.pairs[0]
            text += (
                f"{self.names[a]} has {self.ratio[0]:.4g} times the {self.metric} of "
                f"{self.names[b]}, {100 * (1 - self.alpha):.9g}% CI [{low:.4g}, {high:.4g}].",
            )
        beside = None if self.method == "permutation" else self.permutation_pvalue
        if beside is not None and len(self.pairs) == 1 and not np.isnan(beside[0]):
            text += (f"Swaps of {unit} beside it: p = {beside[0]:.3g}.",)
        return [replace(sections[0], text=text), *sections[1:]]

    @property
    def _each_pair(self) -> str:
        unit = "items" if self.n_clusters is None else "clusters"
        drawn = "" if not self.n_resamples else f"{self.n_resamples} draws, seed {self.seed}"
        if self.method == "permutation":
            return f"swaps of {unit} between both models ({drawn or 'all of them'})"
        if self.method == "bootstrap":
            return f"bootstrap of {unit} ({drawn}), percentile"
        return _TESTS[self.method]

    @property
    def _score_intervals(self) -> str:
        return "percentile" if self.method == "bootstrap" else "t"


def compare_sums(
    stats: ColumnLike | Mapping[Any, Any],
    *,
    metric: str | Callable[[Any], Any],
    columns: Sequence[str] | None = None,
    beta: float | None = None,
    labels: ColumnLike | None = None,
    scale: str = "difference",
    method: str | None = None,
    alternative: str = "two-sided",
    groups: ColumnLike | str | None = None,
    strata: ColumnLike | str | None = None,
    weights: ArrayLike | str | None = None,
    item: str = "item",
    model: str = "model",
    names: Sequence[str] | None = None,
    lower_is_better: bool | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    margin: float | None = None,
    slices: ModelsLike | None = None,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    workers: int | None = None,
) -> SumsResult:
    """Compare many models by a metric that is a function of sums over items.

    Word error rate, F1 of entities, BLEU, mean IoU, RMSE: such a metric is no mean over items,
    but follows from totals of a few numbers that each item adds. All pairs are tested at once.

    Parameters
    ----------
    stats : array-like of shape (M, n, p), mapping of tables, or long table
        The p numbers that each item adds, by model: tables of shape (n, p), or frames or
        mappings with the columns of the metric; or one long table with a row for each item
        and model. Also what ``jiwer.process_words`` returns, and lists of sacrebleu's
        scores of sentences. Of logs a mapping from the columns of the metric to what
        `read_results` or `from_long` gave, such as ``{"cost": ..., "solved": ...}``: answers
        to one item add up; tasks are strata and clusters groups unless these are passed.
    metric : str or callable
        With its columns: "ratio" (numerator, denominator), "wer" and "cer" (errors,
        reference), "recall" (found, relevant), "precision" (found, retrieved),
        "cost_per_solved" (cost, solved), "f1" or any "f0.5", "f2" (tp, fp, fn), "mean_iou"
        and "mean_dice" (n00, n01, ...: pixels by true and predicted class), "bleu"
        (hyp_len, ref_len, m1, ..., t1, ...: matches and totals of each order), "chrf" (hyp1,
        ref1, match1, hyp2, ...), "r2", "rmse" and "pearson" (see `regression_sums`),
        "perplexity" (log_prob, tokens). Or a function of totals of shape (..., p), for
        example ``lambda s: s[..., 0] / s[..., 1]``.
    columns : sequence of str, optional
        Columns of frames that are the metric's, in its order, where they are called
        otherwise.
    beta : float, optional
        What recall counts beside precision: of "f_beta" 1, of "chrf" 2 by default.
    labels : {"union", "truth"} or sequence of int, optional
        Classes of "mean_iou" and "mean_dice": those in truth or prediction (default), those
        in the truth, or some by number.
    scale : {"difference", "ratio"}
        Whether metrics are subtracted or divided; ratios by logarithms.
    method : {"cr2", "delta", "jackknife", "permutation", "bootstrap"}, optional
        How p-values and standard errors are made. By default "cr2" for ratios, F and
        perplexity without strata, else "jackknife". "permutation" swaps items between both
        models, all ways if no more than 2**20, with intervals of the jackknife; "bootstrap"
        has percentile intervals, which are too short with few items.
    alternative : {"two-sided", "greater", "less"}
        Of the first of each pair, which with ``control=`` is the control: whether its metric
        is different, greater or less. One-sided p-values have one-sided intervals; they need
        two models, ``pairs=`` or ``control=``.
    groups, strata : array-like, shape (n,), optional
        Cluster and stratum of each item; of a long table also the name of a column.
    weights : array-like, shape (n,), optional
        Importance of each item, by which its numbers are multiplied; of a long table also
        the name of a column. Counts of equal items are no weights: repeat the items.
    item, model : str
        Columns of a long table.
    names : sequence of str, optional
        Names of the models.
    lower_is_better : bool, optional
        Whether the metric is a loss; by default as the metric is.
    adjust : str
        Adjustment for the number of pairs, as in `compare_means`; "maxt" and "single-step"
        draw normal numbers with the covariance of the models.
    alpha : float
        Error rate of the decisions, in (0, 1). Intervals have the level 1 - alpha.
    margin : float, optional
        The largest difference that does not matter, as in `compare_means`; with
        ``scale="ratio"`` a logarithm.
    slices : mapping, frame, or array-like of shape (n,) or (S, n), optional
        Parts of the items, which may overlap, in each of which all is compared once more,
        as by `compare_slices`: the metric of the totals there, with the influences of its
        items and G - 1 degrees of freedom; the answer is ``slices``. Of a long table also
        the name of a column.
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once.
    rank_intervals : {"decisions", "simultaneous", "marginal"}
        Where the intervals of ranks come from, as in `compare_all`.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    n_resamples : int
        Draws of permutation and bootstrap, of ``adjust="maxt"`` and of simultaneous
        intervals.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    SumsResult
        Differences, p-values, decisions and leaderboard; ``estimates`` for `best_set`,
        `rank_sets` and others.

    Raises
    ------
    ValueError
        If sums are not finite, or negative where they count, there are fewer than two items
        or models, columns are not those of the metric, or an option does not fit.
    TypeError
        If sums are no numbers.

    Notes
    -----
    The influence of an item is the gradient of the metric at the totals times its numbers;
    their Gram matrix is the covariance of all models. By CR2 each squared influence counts
    1 / (1 - h), where h is the share of the item in the denominator (mean over the models),
    and t has 1 / (sum h^2 + (sum v)^2 - sum v^2) degrees of freedom, v = h^2 / (1 - h): for a
    word error rate the CR2 of words in clusters that are utterances [1]_. In simulations with
    15 items of skewed sizes a test at 5 % of F1 rejected equal models in 4.6 % by CR2, in 9.7
    % by the delta method, in 7.1 % by the jackknife, in 3.1 % by swaps and in 14 % by
    percentile bootstrap. Where fewer than 30 items of the same influence would vary as much,
    or there are 20 or fewer, `permutation_pvalue` stands beside.

    References
    ----------
    .. [1] J. E. Pustejovsky, E. Tipton, "Small-sample methods for cluster-robust variance
       estimation and hypothesis testing in fixed effects models", J. Business & Economic
       Statistics 36 (2018) 672-683.
    .. [2] B. Efron, "Nonparametric estimates of standard error: the jackknife, the bootstrap
       and other methods", Biometrika 68 (1981) 589-599.

    Examples
    --------
    >>> from fastcmp import compare_sums
    >>> errors_and_words = {
    ...     "a": [[1, 8], [0, 8], [0, 5], [2, 9], [2, 14], [1, 5]],
    ...     "b": [[2, 8], [4, 8], [1, 5], [5, 9], [5, 14], [2, 5]],
    ... }
    >>> result = compare_sums(errors_and_words, metric="wer")
    >>> result.score.round(3).tolist(), result.pvalue.round(4).tolist()
    ([0.122, 0.388], [0.0067])
    """
    of_metric = read_metric(metric, beta, labels)
    scale = choose(scale, "scale", _SCALES)
    if lower_is_better is not None:
        flag = as_flag(lower_is_better, "lower_is_better")
        of_metric = replace(of_metric, lower_is_better=flag)
    if method is not None:
        method = str(choose(method, "method", METHODS))
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))
    n_resamples = as_resamples(n_resamples)
    seed = as_seed(0 if rng is None and method not in DRAWN else rng)
    lower = of_metric.lower_is_better
    options = engine_options(
        *("sums", method or "t"),
        adjust=adjust,
        alpha=alpha,
        margin=margin,
        simultaneous=simultaneous,
        rank_intervals=rank_intervals,
        n_resamples=n_resamples,
        rng=seed,
        lower_is_better=lower,
    )
    of_items = {"groups": groups, "strata": strata, "weights": weights, "slices": slices}
    data = read_sums(stats, of_metric, columns, names, item, model, of_items)
    unit = "items" if data.clusters is None else "clusters"
    fits = of_metric.shares is not None and data.strata is None
    if method == "cr2" and not fits:
        what = f"{of_metric.title}, which has no shares" if data.strata is None else "strata"
        raise BadValueError(
            f"`method='cr2'` does not go with {what}", remedy=": use `method='jackknife'`"
        )
    usual = "cr2" if fits else "jackknife"
    method = method or usual
    options = replace(options, method=method)
    pair_indices = choose_pairs(data.names, pairs, control)
    tested = all_pairs(len(data.names)) if pair_indices is None else pair_indices
    _check_options(alternative, options, data, several=pair_indices is None and len(tested) > 1)
    measured = logged(of_metric) if scale == "ratio" else of_metric
    _check_totals(of_metric, data)
    estimates, shares, kinked = _fit(measured, data, method)
    g, level = data.stats.shape[1], 1.0 - options.alpha
    more: dict[str, Any] = {
        "measure": measured.title,
        "metric": of_metric.title,
        "scale": scale,
        "alternative": alternative,
        "limits": of_metric.limits,
        "covariance": estimates.covariance,
        "shares": shares,
        "n_clusters": estimates.n_clusters,
        "n_strata": None if data.strata is None else int(data.strata.max()) + 1,
        "lower_is_better": lower,
    }
    tests = estimate_tests(estimates, level)
    low, high = measured.limits
    alone = np.clip(tests.score_interval, low, high)
    tests = replace(tests, score_interval=alone, limits=(low - high, high - low))
    # What of the columns of the pairs is not that of a two-sided t test.
    replaced: dict[str, Any] = {}
    cautions = _cautions(of_metric, data, estimates, shares, kinked, method)
    rows: Any = estimates.influences
    plain = rows if shares is None else rows * np.sqrt(1.0 - shares)  # without CR2's factor
    n_effective, largest = _concentration(plain, tested)
    if method == "bootstrap":
        levels, draws = (level, as_level(level, alternative)), (n_resamples, seed)
        drawn = bootstrap_sums(data, tested, measured, draws, levels, alternative)
        alone, ends, pvalue, error, n_undefined = drawn
        tests = replace(tests, score_interval=alone)
        of_draws = np.where(kinked[tested].any(axis=1), np.nan, (pvalue, error, *ends.T))
        low, high = keep_side(of_draws[2:], alternative, tests.limits)
        replaced = {"pvalue": of_draws[0], "low": low, "high": high}
        more |= {"standard_error": of_draws[1], "n_resamples": n_resamples, "seed": seed}
        if n_undefined:
            cautions.append(
                f"{n_undefined} draws were left out: {of_metric.title} is not defined there."
            )
        if g < _FEW_DRAWN:
            cautions.append(
                f"Percentile intervals of {g} units are too short, and reject too "
                f"often: method={usual!r}."
            )
    elif alternative != "two-sided":
        replaced = _one_sided(estimates, tested, level, alternative, tests.limits)
    beside = np.full(len(tested), method == "permutation")
    if method not in ("permutation", "bootstrap") and n_effective is not None:
        few = g <= MOST_ENUMERATED
        beside = ~(n_effective >= _FEW_UNITS) | few
        n_per_pair = 1 << (g - 1) if few else n_resamples
        beside &= int(beside.sum()) * n_per_pair <= _BESIDE
    permuted, n_swaps = np.full(len(tested), np.nan), np.zeros(len(tested), np.int64)
    if beside.any():
        swaps = swap_tests(data, tested[beside], measured, n_resamples, seed, alternative)
        permuted[beside], n_swaps[beside], by_draws = swaps
        more |= {"permutation_pvalue": permuted, "n_configurations": n_swaps}
        if by_draws.any():
            more |= {"n_resamples": n_resamples, "seed": seed}
        replaced |= {"pvalue": permuted} if method == "permutation" else {}
    more |= {"n_effective": n_effective, "largest_share": largest}
    smoothed = (kinked & ~np.isnan(estimates.values))[tested].all(axis=1)
    equal = [k for k in np.flatnonzero(smoothed) if np.array_equal(*data.stats[tested[k]])]
    if replaced or equal:
        base: Any = tests.columns(Block(slice(0, len(tested)), tested))._replace(**replaced)
        for name, end in {"low": 0.0, "high": 0.0, "statistic": 0.0, "pvalue": 1.0}.items():
            getattr(base, name)[equal] = end  # without slopes, and yet the same sums
        if method in DRAWN:
            base = base._replace(statistic=np.subtract(*estimates.values[tested.T]))
            tests, more["df"] = replace(tests, distribution=method, df=None), None
        tests = replace(
            tests,
            columns=lambda block: PairColumns(*(x[block.where] for x in base[:7])),
            pvalues=lambda block: base.pvalue[block.where],
        )
    threads = check_workers(workers)
    with ThreadPool(threads if len(tested) > _THREADS_PAY else 1) as pool:
        result = compare_pairs(
            *(tests, data.names, pair_indices, options, pool),
            control=control,
            record=SumsResult,
            more=more,
        )
        errors = estimates.errors()[tuple(tested.T)]
        cautions += _of_pairs(result.pvalue, errors, unit, more | {"method": method})
        estimates.cautions = tuple(cautions)
        result = replace(result, cautions=estimates.cautions)
        if data.slices is not None:
            of_slices = partial(_SliceSums, stats=data.items, metric=measured)
            items = Items(data.names, data.items[:, :, 0], binary=False, clusters=data.clusters)
            result = with_slices(
                result, data.slices, items, None, pair_indices, options, pool, of_slices
            )
    object.__setattr__(result, "_estimates", estimates)
    return result  # type: ignore[no-any-return]


def _check_options(alternative: str, options: Options, data: Sums, *, several: bool) -> None:
    """Refuse options that do not go together."""
    one, sliced = alternative != "two-sided", data.slices is not None
    side, drawn = f"`alternative={alternative!r}`", options.method in DRAWN
    ranked = options.rank_intervals != "decisions"
    reasons = {
        f"{side} needs to know which model is first: pass `pairs=` or `control=`": one and several,
        f"{side}: `margin=` has one-sided tests itself": one and options.margin is not None,
        f"{side} does not go with `simultaneous=`: use `adjust='holm'`": one and options.joint,
        f"{side} does not go with `rank_intervals=`: leave it out": one and ranked,
        f"{side} does not go with `slices=`, whose tests are two-sided": one and sliced,
        f"{side} needs `alpha` below 0.5, got {options.alpha:g}": one and options.alpha >= 0.5,
        "`slices=` does not go with `strata=`: slice by these": sliced and data.strata is not None,
        f"`slices=` are compared by t, not by `method={options.method!r}`": sliced and drawn,
    }
    for reason, applies in reasons.items():
        if applies:
            raise BadValueError(reason)


def _one_sided(
    estimates: Estimates, pairs: Pairs, level: float, alternative: str, limits: tuple[float, float]
) -> dict[str, Any]:
    """P-values and intervals of one-sided t tests."""
    block = Block(slice(0, len(pairs)), pairs)
    tests = estimate_tests(estimates, as_level(level, alternative))
    assert tests.spread is not None
    _, variance, df = tests.spread(block)
    columns = tests.columns(block)
    pvalue = np.asarray(t_tail(columns.statistic, alternative, df))
    low, high = keep_side((columns.low, columns.high), alternative, limits)
    return {"pvalue": np.where(variance > 0.0, pvalue, columns.pvalue), "low": low, "high": high}


class _SliceSums(SliceSums):
    """A metric of the sums of each slice, and what each of its items adds to it."""

    def __init__(self, items: Items, pairs: Pairs, stats: Floats, metric: SumMetric) -> None:
        """Keep sums of items, clusters one after the other."""
        super().__init__(items, pairs)
        self.offset, self.common = 0.0 * self.offset, np.zeros(0)
        self._stats = stats if self.clusters is None else stats[:, self.order]
        self._metric = metric
        values = self.values_at(np.arange(stats.shape[1]))
        self._largest = float(np.nan_to_num(np.abs(values)).max())

    def values_at(self, where: Any) -> Floats:
        """Values whose mean is the metric, and whose deviations are its influences."""
        stats = self._stats[:, where]
        totals = stats.sum(axis=1)
        slopes = self._metric.gradients(totals)[:, :, None]
        values = self._metric.values(totals)[:, None]
        return np.asarray((values + len(where) * (stats @ slopes)[..., 0]).T)

    def rest(self, whole: Part, inside: Part, mask: Any) -> Part:  # noqa: ARG002
        """The items outside a slice, whose metric does not follow from the others."""
        return self.of(~mask)


def _fit(metric: SumMetric, data: Sums, method: str) -> tuple[Estimates, Floats | None, Flags]:
    """Estimates, shares of the units in the denominator, and models without a gradient."""
    totals, (m, g, p) = data.totals, data.stats.shape
    values, slopes = metric.values(totals), metric.gradients(totals)
    kinked = np.asarray(np.isnan(slopes).any(axis=1))
    size, shares, df = np.abs(values) + np.abs(slopes * totals).sum(axis=1), None, g - 1.0
    if method in ("cr2", "delta"):
        rows = (data.stats @ slopes[:, :, None])[..., 0]
    else:
        rows = np.empty((m, g))
        for k in np.arange(m):
            rows[k] = np.nan if kinked[k] else values[k] - metric.values(totals[k] - data.stats[k])
    if method == "cr2":
        assert metric.shares is not None
        weights = np.array(metric.shares(metric.setting))
        sizes = totals @ weights
        parts = np.divide(1.0, sizes, out=np.zeros(m), where=sizes > 0.0)
        parts /= max(1, np.count_nonzero(parts))
        # Not by BLAS, whose threads wait for each other here.
        shares = np.einsum("m,mk->k", parts, data.stats.reshape(m, -1)).reshape(g, p) @ weights
        left = np.where(shares < 1.0, 1.0 - shares, np.nan)
        rows *= np.sqrt(g * (g - 1.0) / left)
        v = shares**2 / left
        # The square of the sum of v less its squares, without what cancels.
        df = 1.0 / (shares @ shares + 2.0 * (v[1:] @ np.cumsum(v)[:-1])) if v.any() else np.nan
    else:
        strata = np.zeros(g, np.int64) if data.strata is None else data.strata
        sizes = np.bincount(strata)
        for h, n in enumerate(sizes.tolist()):
            stratum = strata == h if len(sizes) > 1 else slice(None)
            factor = n / (n - 1.0) if method == "delta" else (n - 1.0) / n
            rows[:, stratum] -= rows[:, stratum].mean(axis=1, keepdims=True)
            rows[:, stratum] *= np.sqrt(g * (g - 1.0) * factor)
    if data.strata is None:
        with blas_for(float(m) * m * g):
            upper = dsyrk(1.0 / (g * (g - 1.0)), rows.T, trans=1)
        covariance = np.triu(upper) + np.triu(upper, 1).T
    else:
        alike = np.ones(g)
        design = Design(g, None, strata, np.ones(len(sizes)), alike, alike, plain=False, n_drawn=1)
        covariance, df = degrees(rows, [np.arange(g)] * m, design, 0)
    # Influences that are rounding alone.
    none = np.diagonal(covariance) <= (_NOISE * size) ** 2 * g
    rows[none], covariance[none], covariance[:, none] = 0.0, 0.0, 0.0
    estimates = make_estimates(
        names=data.names,
        values=values,
        merit=-values if metric.lower_is_better else values,
        covariance=covariance,
        variance=np.diagonal(covariance).copy(),
        df=float(np.min(df)),
        pair_df=df if np.ndim(df) else None,
        lower_is_better=metric.lower_is_better,
        measure=metric.title,
        influences=rows,
        n_items=data.items.shape[1],
        n_clusters=None if data.clusters is None else len(data.clusters.labels),
    )
    return estimates, shares, kinked


def _concentration(rows: Any, pairs: Pairs) -> tuple[Any, Any]:
    """For how many units the variance of each difference stands, and the part of the largest.

    None where pairs and units are many.
    """
    if len(pairs) * rows.shape[1] > _LOOKED_AT:
        return None, None
    squares_of_both = np.einsum("mg,mg->m", rows, rows)[pairs].sum(axis=1)
    squares = np.square(rows[pairs[:, 0]] - rows[pairs[:, 1]])
    total = squares.sum(axis=1)
    total[~(total > _ROUNDING**2 * squares_of_both)] = np.nan
    with np.errstate(under="ignore"):
        shares = squares / total[:, None]
        return 1.0 / np.einsum("pg,pg->p", shares, shares), shares.max(axis=1)


# What to beware of.


def _check_totals(metric: SumMetric, data: Sums) -> None:
    """Refuse totals, and values, that show that columns were mixed up."""
    totals = data.totals
    order = f"the columns must be {', '.join(data.columns)}, in this order"
    for k, j in metric.at_most(totals.shape[1]):
        for i in np.flatnonzero(totals[:, k] > totals[:, j] * (1.0 + _ROUNDING))[:1]:
            raise BadValueError(
                f"`stats` of {data.names[i]} have a total of {totals[i, k]:g} in column "
                f"{data.columns[k]!r} and {totals[i, j]:g} in {data.columns[j]!r}, which "
                f"cannot be less: {order}"
            )
    (low, high), values = metric.limits, metric.values(totals)
    slack = 1e-6 * (1.0 + np.abs(values))
    for i in np.flatnonzero((values < low - slack) | (values > high + slack))[:1]:
        logs = "; log_prob are minus the losses" if metric.title == "perplexity" else ""
        raise BadValueError(
            f"`stats` of {data.names[i]} would have {metric.title} {values[i]:.4g}, which "
            f"cannot be {'below' if values[i] < low else 'above'} "
            f"{low if values[i] < low else high:g}: {order}{logs}"
        )
    if metric.option == "labels" and isinstance(metric.setting, tuple):
        n_classes = int(totals.shape[1] ** 0.5)
        if max(metric.setting) >= n_classes:
            raise BadValueError(f"`labels` must be below {n_classes}", max(metric.setting))


def _cautions(
    metric: SumMetric,
    data: Sums,
    estimates: Estimates,
    shares: Floats | None,
    kinked: Flags,
    method: str,
) -> list[str]:
    """What follows from the totals."""
    title, totals, g = metric.title, data.totals, data.stats.shape[1]
    undefined = np.isnan(estimates.values)
    kinked = kinked & ~undefined
    partial = np.isnan(estimates.variance) & ~undefined & ~kinked
    near = np.zeros(len(totals), np.bool_)
    if metric.kink is not None:
        c, r = metric.kink
        apart = data.stats[:, :, c] - data.stats[:, :, r]
        error = np.sqrt(g * g / (g - 1.0) * apart.var(axis=1))
        near = (np.abs(apart.sum(axis=1)) < 2.0 * error) & (error > 0.0)
    advice = "'delta'" if method != "delta" else "'permutation'"
    about = {
        "is not defined for {}: what it is divided by is 0, or not above it. Their pairs are not "
        "tested.": undefined,
        "of {} has no derivative, as some total is 0 (of an order of BLEU without a match, whose "
        "value is smoothed). No standard error; method='permutation' has p-values.": kinked,
        "of {} is not defined without some unit, or hangs on one alone: no standard error; see "
        f"method={advice}.": partial,
        "of {} has a kink nearby: lengths of output and reference are within 2 standard errors, "
        "so that intervals are rough; see method='permutation'.": near,
    }
    sentences = [
        f"{title} {text.format(listed([data.names[i] for i in np.flatnonzero(marks)]))}"
        for text, marks in about.items()
        if marks.any()
    ]
    classes: Any = []  # classes that count for some models only
    if metric.option == "labels":
        counted = counted_classes(totals, metric.setting)
        classes = np.flatnonzero(counted.any(axis=0) & ~counted.all(axis=0))
    unlike = False
    if title.startswith("Pearson") and method == "permutation" and not undefined.any():
        scales = totals[:, 2] - totals[:, 0] ** 2 / totals[:, 5]
        unlike = scales.max() > 1.5 * scales.min()
    differ = title in _SHARED and np.ptp(totals[:, 1]) > 0.0
    above = title in ("WER", "CER") and (metric.values(totals) > 1.0).all()
    largest = 0.0 if shares is None else shares.max()
    others = {
        f"{title} is not over the same classes for all models: class "
        f"{listed([*map(str, classes)])} counts for some only. labels='truth' averages over "
        "those in the truth.": len(classes),
        f"Models have different numbers of {_SHARED.get(title)}: divide by the same words or bytes "
        "for all, or values are not comparable.": differ,
        f"{title} is above 1 for all models: errors come first, then the reference.": above,
        "Predictions are on unlike scales, which swaps mix: standardise each model first.": unlike,
        f"One unit holds {100 * largest:.0f}% of the denominator: the result is largely its "
        "own.": largest > _LARGE_SHARE,
        f"The data are worth {estimates.df:.1f} degrees of freedom: with so few the test depends "
        "on differences being symmetric.": method in _TESTS and estimates.df < _FEW_DEGREES,
    }
    return sentences + [text for text, so in others.items() if so]


def _of_pairs(pvalue: Floats, errors: Floats, unit: str, more: dict[str, Any]) -> list[str]:
    """What follows from the influences of pairs; permutation tests may stand beside."""
    n_effective, by_swaps = more["n_effective"], more["method"] == "permutation"
    few, still = np.zeros(len(pvalue), np.bool_), np.isnan(pvalue) & (errors == 0.0)
    worth, least = np.nan, 0.0
    if n_effective is not None and not by_swaps:
        few = (n_effective < _CONCENTRATED) | (more["largest_share"] > _LARGE_SHARE)
        worth = np.nanmin(n_effective, initial=np.inf)
    if by_swaps and len(pvalue):
        n_swaps, sides = more["n_configurations"], 1.0 + (more["alternative"] == "two-sided")
        least = sides / np.min(n_swaps[n_swaps > 1], initial=2**53)
    beside = "permutation_pvalue stands beside"
    beside = beside if "permutation_pvalue" in more else "method='permutation'"
    what = "the difference" if len(few) == 1 else f"{few.sum()} differences"
    where = "" if len(still) == 1 else f" in {still.sum()} pairs"
    sentences = {
        f"The variance of {what} hangs on few {unit}, worth {worth:.1f}; {beside}.": few.any(),
        f"With so few {unit} that differ no p-value is below {least:.3g}.": least > 0.05,
        f"No variance was observed{where}: there is no t test; see permutation_pvalue, or "
        "method='permutation'.": still.any(),
    }
    return [text for text, so in sentences.items() if so]
