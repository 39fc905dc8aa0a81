"""Many models compared by a metric that is a function of sums over items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_flag, as_resamples, as_seed, choose
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Section
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.counts.pairs import Block, PairColumns, all_pairs, choose_pairs, name_control
from fastcmp.estimates.sum_draws import MOST_ENUMERATED, bootstrap_sums, swap_tests
from fastcmp.estimates.sum_inputs import Sums, read_sums, weigh
from fastcmp.estimates.sum_metrics import SumMetric, counted_classes, logged, read_metric
from fastcmp.pairwise.comparing import draw_for, record_of, with_ranks
from fastcmp.pairwise.comparing import read_options as engine_options
from fastcmp.pairwise.engine import PairTests, run_tests
from fastcmp.pairwise.leaderboard import rank_fields
from fastcmp.pairwise.margins import against
from fastcmp.pairwise.mean_tests import estimate_tests
from fastcmp.pairwise.metric_options import DRAWN
from fastcmp.pairwise.model_estimates import Estimates, make_estimates, some_of
from fastcmp.pairwise.result import PairwiseResult, describe

Floats = NDArray[np.float64]
Pairs = NDArray[np.int32]

METHODS = ("cr2", "delta", "jackknife", "permutation", "bootstrap")
_SCALES = ("difference", "ratio")
_FEW_UNITS = 30.0  # worth as many: a permutation test stands beside
_CONCENTRATED = 15.0
_LARGE_SHARE = 1 / 3
_BESIDE = 1 << 22  # differences that are evaluated for permutation tests beside others
_LOOKED_AT = 1 << 22  # influences of pairs whose concentration is looked at
_BLOCK = 1 << 18  # of them that are looked at together
_ROUNDING = 1e-12
_NOISE = 64 * np.finfo(np.float64).eps  # of a metric: influences that are rounding alone
_NAMED = 3
_TESTS = {
    "cr2": "t test, CR2 by shares of the denominator",
    "delta": "t test, standard errors by influences (delta method)",
    "jackknife": "t test, jackknife standard errors",
}
_SHOWN = ("metric", "lower_is_better", "scale", "shares", "n_resamples", "seed")
_OF_PAIRS = (
    *("standard_error", "n_effective", "largest_share", "permutation_pvalue"),
    "n_configurations",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SumsResult(PairwiseResult):
    """Many models compared in pairs by a metric of sums over items.

    A `PairwiseResult`: `score` holds the metric of each model, NaN where it is not defined;
    pairs of such a model are not tested. With ``scale="ratio"`` scores and differences are
    logarithms, and `ratio` and `ratio_interval` are their exponentials.
    """

    #: Its name, such as "BLEU".
    metric: str
    lower_is_better: bool = False
    #: "difference", or "ratio" where logarithms are compared.
    scale: str = "difference"
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
    #: are of, 0 for none.
    permutation_pvalue: Any = None
    n_configurations: Any = None
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None

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
        known = np.flatnonzero(~np.isnan(self.score + np.diagonal(self.covariance)))
        if known.size < 2:
            raise ValueError(f"fewer than 2 models have a {self.measure} and a standard error")
        of_all = self.__dict__.get("_estimates")
        if of_all is not None:
            return of_all if known.size == len(self.names) else some_of(of_all, known)
        return Estimates(  # of a record that was read back
            self.score[known],
            self.covariance[np.ix_(known, known)],
            df=None if self.df is None else float(np.min(self.df)),
            n_items=self.n_samples,
            names=[self.names[i] for i in known],
            lower_is_better=self.lower_is_better,
            measure=self.measure,
        )

    def columns(self) -> dict[str, Any]:
        """The pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields.
        """
        columns = super().columns()
        if self.scale == "ratio":
            low, high = self.ratio_interval.T
            columns |= {"ratio": self.ratio, "ratio_low": low, "ratio_high": high}
        columns |= {name: getattr(self, name) for name in _OF_PAIRS}
        if np.ndim(self.df):
            columns["df"] = self.df
        return {name: x for name, x in columns.items() if x is not None}

    def _entries(self) -> dict[str, Any]:
        return super()._entries() | {name: readable(getattr(self, name)) for name in _SHOWN}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`.
        """
        unit = "items" if self.n_clusters is None else "clusters"
        drawn = "" if not self.n_resamples else f"{self.n_resamples} draws, seed {self.seed}"
        if self.method == "permutation":
            name = f"swaps of {unit} between both models ({drawn or 'all of them'})"
        elif self.method == "bootstrap":
            name = f"bootstrap of {unit} ({drawn}), percentile"
        else:
            name = _TESTS[self.method]
        sections = describe(self, name, "percentile" if self.method == "bootstrap" else "t")
        text = sections[0].text
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


def compare_sums(
    stats: Any,
    *,
    metric: str | Callable[[Any], Any],
    columns: Sequence[str] | None = None,
    beta: float | None = None,
    labels: Any = None,
    scale: str = "difference",
    method: str | None = None,
    groups: ArrayLike | str | None = None,
    strata: ArrayLike | str | None = None,
    item: str = "item",
    model: str = "model",
    names: Sequence[str] | None = None,
    lower_is_better: bool | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    margin: float | None = None,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    n_resamples: int = 9999,
    rng: Any = None,
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
        scores of sentences.
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
    groups, strata : array-like, shape (n,), optional
        Cluster and stratum of each item; of a long table also the name of a column.
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
    n_resamples = as_resamples(n_resamples)
    seed = as_seed(0 if rng is None and method not in DRAWN else rng)
    lower = of_metric.lower_is_better
    options = engine_options("sums", method or "t", adjust, alpha, lower_is_better=lower)
    options, _ = draw_for(against(options, margin), simultaneous, n_resamples, seed)
    options = with_ranks(options, rank_intervals, seed)
    data = read_sums(stats, of_metric, columns, names, item, model, groups, strata)
    method = _method(method, of_metric, data)
    options = replace(options, method=method)
    chosen = choose_pairs(data.names, pairs, control)
    measured = logged(of_metric) if scale == "ratio" else of_metric
    totals = data.totals()
    if not np.isfinite(totals).all():
        raise ValueError("stats must have finite totals: divide all of them by one number")
    _check_order(of_metric, totals, data)
    fitted = _fit(measured, data, totals, method)
    measure = f"log {of_metric.title}" if scale == "ratio" else of_metric.title
    estimates = _estimates(fitted, data, measured, measure)
    cautions = _cautions(of_metric, data, totals, fitted, method)
    tested = all_pairs(len(data.names)) if chosen is None else chosen
    level = 1.0 - options.alpha
    more: dict[str, Any] = {
        "measure": measure,
        "metric": of_metric.title,
        "scale": scale,
        "limits": of_metric.limits,
        "covariance": estimates.covariance,
        "shares": fitted.shares if method == "cr2" else None,
        "n_clusters": data.n_clusters,
        "n_strata": None if data.strata is None else int(data.strata.max()) + 1,
        "lower_is_better": lower,
    }
    tests = estimate_tests(estimates, level)
    low, high = measured.limits
    tests = replace(tests, score_interval=np.clip(tests.score_interval, low, high))
    if not np.isinf([low, high]).any():
        tests = replace(tests, limits=(low - high, high - low))
    m = len(data.names)
    equal = [
        k
        for k in np.flatnonzero(fitted.kinked[tested].all(axis=1))
        if np.array_equal(*(data.tables[i] for i in tested[k]))
    ]
    if equal:  # without slopes, and yet the same sums
        ends = {"low": 0.0, "high": 0.0, "statistic": 0.0, "pvalue": 1.0}
        own = {name: np.full(len(equal), x) for name, x in ends.items()}
        tests = _with_columns(tests, m, tested[equal], own, None)
    own = {}
    if method == "bootstrap":
        drawn = bootstrap_sums(data.tables, data.strata, tested, measured, n_resamples, seed, level)
        tests = replace(tests, score_interval=drawn.score_interval)
        own = {"pvalue": drawn.pvalue, "standard_error": drawn.standard_error}
        own |= {"low": drawn.interval[:, 0], "high": drawn.interval[:, 1]}
        smoothed = fitted.kinked[tested].any(axis=1)
        own = {name: np.where(smoothed, np.nan, x) for name, x in own.items()}
        if drawn.n_undefined:
            cautions.append(
                f"{drawn.n_undefined} draws were left out: {of_metric.title} is not defined there."
            )
        if data.n_units < 50:
            cautions.append(
                f"Percentile intervals of {data.n_units} units are too short, and reject too "
                f"often: method={_method(None, of_metric, data)!r}."
            )
    n_effective, largest = _concentration(fitted.rows, tested)
    beside = np.zeros(len(tested), np.bool_)
    if method == "permutation":
        beside[:] = True
    elif method != "bootstrap" and n_effective is not None:
        beside = (n_effective < _FEW_UNITS) | (data.n_units <= MOST_ENUMERATED)
        beside |= np.isnan(n_effective)
        each = 1 << (data.n_units - 1) if data.n_units <= MOST_ENUMERATED else n_resamples
        if int(beside.sum()) * each > _BESIDE:
            beside[:] = False
    permuted, n_swaps = np.full(len(tested), np.nan), np.zeros(len(tested), np.int64)
    if beside.any():
        swaps = swap_tests(data.tables, tested[beside], measured, n_resamples, seed)
        permuted[beside], n_swaps[beside] = swaps.pvalue, swaps.n_configurations
        more |= {"permutation_pvalue": permuted, "n_configurations": n_swaps}
        if not swaps.exact.all():
            more |= {"n_resamples": n_resamples, "seed": seed}
        own |= {"pvalue": permuted} if method == "permutation" else {}
    if method == "bootstrap":
        more |= {"n_resamples": n_resamples, "seed": seed}
    more |= {"n_effective": n_effective, "largest_share": largest}
    if own:
        own["statistic"] = np.subtract(*fitted.values[tested.T])
        tests = _with_columns(tests, m, tested, own, method)
    with ThreadPool(check_workers(workers)) as pool:
        kept = run_tests(tests, chosen, data.names, options, pool)
        more |= rank_fields(tests, options, pool)
    errors = estimates.errors()
    cautions += _of_pairs(kept.columns, kept.pairs, errors, data, more, beside, method)
    more["cautions"] = tuple(cautions)
    control = name_control(data.names, chosen, control)
    made = record_of(tests, kept, data.names, options, control, SumsResult, more)
    assert isinstance(made, SumsResult)
    estimates.cautions = made.cautions
    object.__setattr__(made, "_estimates", estimates)
    return made


def _method(method: str | None, metric: SumMetric, data: Sums) -> str:
    """The method, by default the one that keeps its level best."""
    fits = metric.shares is not None and data.strata is None
    if method is None:
        return "cr2" if fits else "jackknife"
    if method == "cr2" and not fits:
        what = "strata" if metric.shares is not None else f"{metric.title}, which has no shares"
        raise ValueError(f"method='cr2' does not go with {what}: use method='jackknife'")
    return method


class _Fit(NamedTuple):
    """Values of models, and rows whose Gram matrix is their covariance."""

    values: Floats
    #: Shape (M, G).
    rows: Floats
    shares: Floats | None
    #: Degrees of freedom, of strata by Satterthwaite's approximation, shape (M, M).
    df: Any
    #: Models whose gradient is not defined, shape (M,).
    kinked: NDArray[np.bool_]


def _fit(metric: SumMetric, data: Sums, totals: Floats, method: str) -> _Fit:
    """Values and influences of all models."""
    values, slopes = metric.values(totals), metric.gradients(totals)
    g, m = data.n_units, len(data.tables)
    kinked = np.asarray(np.isnan(slopes).any(axis=1))
    shares: Floats | None = None
    df: Any = float(g - 1)
    rows = np.empty((m, g))
    for k, table in enumerate(data.tables):
        if kinked[k]:
            rows[k] = np.nan
        elif method in ("cr2", "delta"):
            rows[k] = weigh(table, slopes[k])
        else:
            rows[k] = values[k] - metric.values(totals[k] - table)
        size = np.abs(values[k]) + np.abs(slopes[k] * totals[k]).sum()
        if np.abs(rows[k]).max() <= _NOISE * size:
            rows[k] = 0.0
    if method == "cr2":
        assert metric.shares is not None
        weights = np.array(metric.shares(metric.setting))
        sizes = totals @ weights
        defined = np.flatnonzero(sizes > 0.0)
        shares = np.zeros(g)
        for k in defined.tolist():
            shares += weigh(data.tables[k], weights / (sizes[k] * defined.size))
        rest = np.where(shares < 1.0, 1.0 - shares, np.nan)
        rows /= np.sqrt(rest)
        v = shares**2 / rest
        df = float(1.0 / (shares @ shares + v.sum() ** 2 - v @ v)) if v.any() else np.nan
        return _Fit(values, rows, shares, df, kinked)
    layers: list[Any] = [slice(None)]
    if data.strata is not None:
        layers = [np.flatnonzero(data.strata == h) for h in range(int(data.strata.max()) + 1)]
    squares, total = np.zeros((m, m)), np.zeros((m, m))
    for layer in layers:
        part: Floats = rows[:, layer]
        n: int = part.shape[1]
        if method != "delta" or len(layers) > 1:
            part = part - part.mean(axis=1, keepdims=True)
        part *= np.sqrt((n - 1) / n) if method != "delta" else np.sqrt(n / (n - 1))
        rows[:, layer] = part
        if len(layers) > 1:
            gram = part @ part.T
            own = np.diagonal(gram)
            apart = own[:, None] + own - 2.0 * gram
            np.fill_diagonal(apart, own)
            total += apart
            squares += apart**2 / (n - 1)
    if len(layers) > 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = total**2 / squares
        df_all = float(g - len(layers))
        df = np.where(squares > 0.0, np.minimum(degrees, df_all), df_all)
        df = 0.5 * (df + df.T)
    return _Fit(values, rows, shares, df, kinked)


def _estimates(fitted: _Fit, data: Sums, metric: SumMetric, measure: str) -> Estimates:
    """Estimates of all models, NaN where there is no value."""
    from scipy.linalg.blas import dsyrk

    rows, g = fitted.rows, data.n_units
    rows *= np.sqrt(g * (g - 1.0))  # whose mean over units is the error, as of a mean's
    upper = dsyrk(1.0 / (g * (g - 1.0)), rows.T, trans=1)
    covariance = np.triu(upper) + np.triu(upper, 1).T
    pair_df = fitted.df if np.ndim(fitted.df) else None
    return make_estimates(
        names=data.names,
        values=fitted.values,
        merit=-fitted.values if metric.lower_is_better else fitted.values,
        covariance=covariance,
        variance=np.diagonal(covariance).copy(),
        df=float(np.min(fitted.df)),
        pair_df=pair_df,
        lower_is_better=metric.lower_is_better,
        measure=measure,
        influences=rows,
        n_items=data.n_items,
        n_clusters=data.n_clusters,
    )


def _with_columns(
    tests: PairTests, n_models: int, pairs: Pairs, own: dict[str, Floats], drawn: str | None
) -> PairTests:
    """Tests some of whose columns were worked out before; `drawn` is by which method, if any."""
    place = np.full((n_models, n_models), -1)
    place[tuple(pairs.T)] = np.arange(len(pairs))
    base, details = tests.columns, tests.details
    assert details is not None
    error = own.pop("standard_error", None)

    def columns(block: Block) -> PairColumns:
        found, where = base(block), place[tuple(block.pairs.T)]
        changed = {k: np.where(where < 0, getattr(found, k), x[where]) for k, x in own.items()}
        return found._replace(**changed)

    def of_record(pairs: Pairs, found: PairColumns) -> dict[str, Any]:
        named = {k: x for k, x in details(pairs, found).items() if k != "df"}
        return named if error is None else named | {"standard_error": error[place[tuple(pairs.T)]]}

    tests = replace(tests, columns=columns, pvalues=lambda block: columns(block).pvalue)
    if drawn is None:
        return tests
    return replace(tests, details=of_record, distribution=drawn, df=None)


def _concentration(rows: Floats, pairs: Pairs) -> tuple[Any, Any]:
    """For how many units the variance of each difference stands, and the part of the largest.

    None where pairs and units are many.
    """
    if len(pairs) * rows.shape[1] > _LOOKED_AT:
        return None, None
    found = np.full((2, len(pairs)), np.nan)
    own = np.einsum("mg,mg->m", rows, rows)
    for block in parts(len(pairs), max(1, _BLOCK // rows.shape[1])):
        i, j = pairs[block].T
        squares = rows[i] - rows[j]
        squares *= squares
        total = squares.sum(axis=1)
        varied = total > _ROUNDING**2 * (own[i] + own[j])
        total = np.where(varied, total, np.nan)
        with np.errstate(under="ignore"):
            shares = squares / total[:, None]
            found[:, block] = 1.0 / np.einsum("pg,pg->p", shares, shares), shares.max(axis=1)
    return found[0], found[1]


# What to beware of.


def _check_order(metric: SumMetric, totals: Floats, data: Sums) -> None:
    """Refuse totals that show that columns were mixed up."""
    for k, j in metric.at_most(totals.shape[1]):
        bad = np.flatnonzero(totals[:, k] > totals[:, j] * (1.0 + _ROUNDING))
        if bad.size:
            i = int(bad[0])
            raise ValueError(
                f"stats of {data.names[i]} have a total of {totals[i, k]:g} in column "
                f"{data.columns[k]!r} and {totals[i, j]:g} in {data.columns[j]!r}, which cannot "
                f"be less: the columns must be {', '.join(data.columns)}, in this order"
            )
    if metric.option == "labels" and isinstance(metric.setting, tuple):
        n_classes = int(totals.shape[1] ** 0.5)
        if max(metric.setting) >= n_classes:
            raise ValueError(f"labels must be below {n_classes}, got {max(metric.setting)}")


def _listed(names: Sequence[str], marks: Any) -> str:
    chosen = [names[i] for i in np.flatnonzero(marks).tolist()]
    rest = len(chosen) - _NAMED
    return ", ".join(chosen[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _cautions(
    metric: SumMetric, data: Sums, totals: Floats, fitted: _Fit, method: str
) -> list[str]:
    """What follows from the totals."""
    title, found = metric.title, []
    undefined = np.isnan(fitted.values)
    if undefined.any():
        found.append(
            f"{title} is not defined for {_listed(data.names, undefined)}: what it is divided by "
            "is 0, or not above it. Their pairs are not tested."
        )
    kinked = fitted.kinked & ~undefined
    if kinked.any():
        found.append(
            f"{title} of {_listed(data.names, kinked)} has no derivative, as some total is 0 (of "
            "an order of BLEU without a match, whose value is smoothed). No standard error; "
            "method='permutation' has p-values."
        )
    partial = np.isnan(fitted.rows).any(axis=1) & ~undefined & ~kinked
    if partial.any():
        advice = "method='delta'" if method != "delta" else "method='permutation'"
        found.append(
            f"{title} of {_listed(data.names, partial)} is not defined without some unit, or "
            f"hangs on one alone: no standard error; see {advice}."
        )
    if metric.kink is not None:
        c, r = metric.kink
        apart = np.stack([table[:, c] - table[:, r] for table in data.tables])
        g = data.n_units
        error = np.sqrt(g / (g - 1.0) * ((apart - apart.mean(1, keepdims=True)) ** 2).sum(1))
        near = (np.abs(apart.sum(1)) < 2.0 * error) & (error > 0.0)
        if near.any():
            found.append(
                f"{title} of {_listed(data.names, near)} has a kink nearby: lengths of output and "
                "reference are within 2 standard errors, so that intervals are rough; see "
                "method='permutation'."
            )
    if metric.option == "labels":
        counted = counted_classes(totals, metric.setting)
        differ = np.flatnonzero(counted.any(axis=0) & ~counted.all(axis=0))
        if differ.size:
            found.append(
                f"{title} is not over the same classes for all models: class "
                f"{', '.join(map(str, differ[:_NAMED]))} counts for some only. labels='truth' "
                "averages over those in the truth."
            )
    if title in ("perplexity", "WER", "CER") and np.ptp(totals[:, 1]) > 0.0:
        what = "tokens" if title == "perplexity" else "reference words"
        found.append(
            f"Models have different numbers of {what}: divide by the same words or bytes for "
            "all, or values are not comparable."
        )
    if title.startswith("Pearson") and method == "permutation" and not undefined.any():
        scales = totals[:, 2] - totals[:, 0] ** 2 / totals[:, 5]
        if scales.max() > 1.5 * scales.min():
            found.append(
                "Predictions are on unlike scales, which swaps mix: standardise each model first."
            )
    if fitted.shares is not None and fitted.shares.max() > _LARGE_SHARE:
        found.append(
            f"One unit holds {100 * fitted.shares.max():.0f}% of the denominator: the result is "
            "largely its own."
        )
    least = float(np.min(fitted.df))
    if method in ("cr2", "delta", "jackknife") and least < 5.0:
        found.append(
            f"The data are worth {least:.1f} degrees of freedom: with so few the test depends on "
            "differences being symmetric."
        )
    return found


def _of_pairs(
    columns: PairColumns,
    pairs: Pairs,
    errors: Floats,
    data: Sums,
    more: dict[str, Any],
    beside: NDArray[np.bool_],
    method: str,
) -> list[str]:
    """What follows from the influences of pairs."""
    found, unit = [], "item" if data.n_clusters is None else "cluster"
    if more["n_effective"] is not None and method != "permutation":
        few = more["n_effective"] < _CONCENTRATED
        few |= more["largest_share"] > _LARGE_SHARE
        if few.any():
            what = "the difference" if len(few) == 1 else f"{int(few.sum())} differences"
            where = "permutation_pvalue stands beside" if beside.any() else "method='permutation'"
            found.append(
                f"The variance of {what} hangs on few {unit}s, worth "
                f"{float(np.nanmin(more['n_effective'])):.1f}; {where}."
            )
    if method == "permutation" and len(beside):
        n_swaps = more["n_configurations"]
        least = 2.0 / float(np.min(n_swaps[n_swaps > 1], initial=2**53))
        if least > 0.05:
            found.append(f"With so few {unit}s that differ no p-value is below {least:.3g}.")
    still = np.isnan(columns.pvalue) & (errors[tuple(pairs.T)] == 0.0)
    if still.any():
        found.append(
            f"No variance was observed{'' if len(pairs) == 1 else f' in {int(still.sum())} pairs'}"
            ": there is no t test; see permutation_pvalue, or method='permutation'."
        )
    return found
