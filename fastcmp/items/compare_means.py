"""Many models compared by the means of their values per item, all pairs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import ValueCounts, are_valued
from fastcmp.core.sections import Column, Section
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.core.typing import ColumnLike, Floats, ModelsLike, Seed
from fastcmp.counts.pairs import choose_pairs
from fastcmp.inputs.model_names import with_index
from fastcmp.items.cautions import (
    INTERVAL_NAMES,
    cautions_of_pairs,
    cautions_of_units,
    test_name,
    values_sentences,
)
from fastcmp.items.components import VarianceComponents
from fastcmp.items.mean_data import MeanData, MeanOptions, mean_tests, read_data
from fastcmp.items.mean_difference import MEANS_CITE, MeanDifference, difference_record
from fastcmp.pairwise.adjust import JOINT
from fastcmp.pairwise.engine import DRAWN, Options, PairTests, compare_pairs
from fastcmp.pairwise.engine import read_options as engine_options
from fastcmp.pairwise.mean_tests import estimate_tests, moment_tests
from fastcmp.pairwise.model_estimates import ValuesLike, estimates_of
from fastcmp.pairwise.result import DF_OF_PAIRS, PairwiseResult
from fastcmp.pairwise.slices import items_of_estimates, with_slices
from fastcmp.stream.dask_blocks import are_collections, gather, models_of, renamed
from fastcmp.stream.value_moments import ValueMoments


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeansResult(PairwiseResult):
    """Many models compared in pairs by the means of their values on the same items.

    A `PairwiseResult`: `score` holds the means. `only_a` and `only_b` are None unless
    all values are 0 or 1.
    """

    _cites = MEANS_CITE

    #: Of each difference, shape (P,).
    standard_error: Floats
    #: "cr0", "cr1", "cr2" or "cr3": how residuals of clusters are scaled up; "estimated":
    #: by the `Estimates` that were compared.
    variance: str = "cr2"
    #: Kind of the intervals of bootstrap and of Wilcoxon's test; None for others.
    interval_method: str | None = None
    #: Whether permuted means were divided by their standard errors.
    studentized: bool = False
    #: Draws, and the seed that repeats them; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None
    #: Whether values are losses; None: as the measure's name says.
    lower_is_better: bool | None = None
    #: What was made of missing values, how many each model has, and how many items were
    #: dropped for them.
    missing: str = "raise"
    n_missing_values: tuple[int, ...] = ()
    n_dropped: int = 0
    #: Items of both models of each pair, shape (P,), where these differ.
    n_items_of_pairs: Any = None
    #: The two models in full, where there are no more.
    pair: MeanDifference | None = None
    #: How much of the variance is between items, how much between answers to one;
    #: None where items were answered once, or have clusters, strata or weights.
    variance_components: VarianceComponents | None = None

    _columns = (
        *PairwiseResult._columns,
        *(Column("standard_error"), DF_OF_PAIRS, Column("n_items", "n_items_of_pairs")),
    )
    _read = (
        *PairwiseResult._read,
        *("variance", "lower_is_better", "interval_method", "studentized", "n_resamples", "seed"),
        *("missing", "n_missing_values", "n_dropped"),
        Column("pair", lambda self: self.pair and self.pair._entries()),
        Column(
            "variance_components",
            lambda self: self.variance_components and self.variance_components._entries(),
        ),
    )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`, and what to beware of.
        """
        sections = super().sections()
        first = sections[0]
        text = (*first.text, *values_sentences(self))
        sections[0] = Section(title=first.title, text=text)
        if self.pair is not None:
            of_pair = self.pair.sections()[0]
            sections.insert(1, Section(title="The two models", text=of_pair.text[:3]))
        if self.variance_components is not None:
            sections[-1:-1] = self.variance_components.sections()
        return sections

    @property
    def _each_pair(self) -> str:
        return test_name(self)

    @property
    def _score_intervals(self) -> str:
        return INTERVAL_NAMES["t" if self.df is not None or self.method != "t" else "normal"]


def pair_options(
    spec: MeanOptions, rng: Seed, *, rank_intervals: str = "decisions", **options: Any
) -> Options:
    """The checked options of all pairs; refuses draws of means over different items."""
    engine = engine_options(
        "means",
        spec.method,
        rank_intervals=rank_intervals,
        n_resamples=spec.n_resamples,
        rng=None if rng is None and spec.method not in DRAWN else spec.seed,
        lower_is_better=spec.lower_is_better,
        **options,
    )
    if engine.joint and (spec.method == "wilcoxon" or spec.missing == "pairwise"):
        unfit, advice = "method='wilcoxon'", "method='permutation'"
        if spec.missing == "pairwise":
            unfit, advice = "missing='pairwise'", "missing='common'"
        what = "simultaneous=True"
        if engine.adjust in JOINT:
            what = f"adjust={engine.adjust!r}"
        raise BadValueError(
            f"`{what}` needs means on the same items, not `{unfit}`: use `{advice}`"
        )
    if engine.all_together and spec.missing == "pairwise":
        raise BadValueError(
            f"`rank_intervals={rank_intervals!r}` needs means on the same items, not "
            "`missing='pairwise'`",
            remedy=": use `missing='common'`",
        )
    return engine


def compare_means(
    values: ValuesLike | ValueCounts,
    *,
    method: str = "t",
    groups: ColumnLike | None = None,
    strata: ColumnLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    weights: ArrayLike | None = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    repeats: str = "mean",
    k: int | None = None,
    average: str = "items",
    variance: str | None = None,
    df: str = "satterthwaite",
    studentized: bool = False,
    interval: str | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    margin: float | None = None,
    slices: ModelsLike | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> MeansResult:
    """Compare many models by the means of their values on the same items.

    A value is whatever was measured of a model on one item: right or wrong, a grade, a
    loss. All pairs are tested at once.

    Parameters
    ----------
    values : array-like of shape (M, n) or (M, n, R), mapping, frame or ItemTable
        Numbers or bools: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models, or what `from_long`
        made of a long table. With a third axis there are R answers to each item. Or a
        `fastcmp.stream.ValueMoments`, for ``method="t"``: what was added up of the values,
        their clusters and weights. Dask's arrays and frames are added up where they are.
        Or `Estimates` of any measure, or a record that has them.
    method : {"t", "permutation", "bootstrap", "wilcoxon"}
        Paired t test, with clusters by cluster-robust standard errors; flips of the
        signs of the differences of items or clusters; bootstrap of items or clusters;
        Wilcoxon's signed-rank test, which is no test of means.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its document or patient. Clusters are taken
        as independent, items of a cluster are not.
    strata : array-like, shape (n,), optional
        The stratum of each item, such as its task or subset.
    stratum_weights : {"items", "equal"} or mapping
        What the mean of each stratum counts: as many as it has items, all the same, or
        a number for each.
    weights : array-like, shape (n,), optional
        Importance of each item. Counts of equal items are no weights: repeat the items.
    lower_is_better : bool
        Whether values are losses. They are never re-signed.
    missing : {"raise", "common", "pairwise", "wrong"}
        What to make of missing values: refuse them; compare on the items that all
        models have; compare each pair on the items that both have; count them as 0.
    repeats : {"mean", "pass@k", "pass^k"}
        How the answers to an item become its value: their mean, the probability that
        one of k is right, or that all k are; unbiased.
    k : int, optional
        For "pass@k" and "pass^k".
    average : {"items", "clusters"}
        Whether each item counts the same, or each cluster by its mean.
    variance : {"cr0", "cr1", "cr2", "cr3"}, optional
        How residuals of clusters are scaled up; by default CR2, and CR1 where clusters
        lie across strata.
    df : {"satterthwaite", "clusters", "normal"}
        Degrees of freedom of t: Bell and McCaffrey's, one less than there are clusters
        (less one for each further stratum), or the normal distribution instead.
    studentized : bool
        Whether permuted means are divided by their standard errors.
    interval : {"studentized", "percentile", "bca", "basic", "hodges-lehmann"}, optional
        Kind of the bootstrap intervals, "studentized" by default. Wilcoxon's test has
        none by default; with "hodges-lehmann" the differences are Hodges and Lehmann's
        estimates, with their intervals, which takes several times as long.
    n_resamples : int
        Draws of permutation and bootstrap, of ``adjust="maxt"`` and of simultaneous
        intervals.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
        "maxt" (step-down) and "single-step" flip the signs of items or clusters, the
        same for all models, so that they know how alike these are, and have more power.
    alpha : float
        Error rate of the decisions, in (0, 1). Intervals have the level 1 - alpha.
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once, whatever the
        method: difference +- c standard errors, where c is the quantile of the largest
        of all.
    rank_intervals : {"decisions", "simultaneous", "marginal"}
        Where the intervals of ranks come from, as in `compare_all`.
    margin : float, optional
        The largest difference of means that does not matter: adds tests of all pairs
        against it, adjusted together, and a decision about each, as ``margins``; needs
        ``keep="all"``. By t; values of 0 and 1 as in `compare_all`.
    slices : mapping, frame, or array-like of shape (n,) or (S, n), optional
        Parts of the items, which may overlap, in which all is compared once more, as by
        `compare_slices`: the answer is ``slices``.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    names : sequence of str, optional
        Names of the models, in the place of those that `values` has.
    keep : {"all", "significant"}, int or Path
        Which pairs the record keeps, as in `compare_all`.
    memory_limit : int or str, optional
        As in `compare_all`.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    MeansResult
        Differences, p-values, decisions, leaderboard and groups of ties. From
        `ValueMoments` what the values give, to rounding, but for the draws of "maxt",
        which are then normal numbers with the covariance of the models.

    Raises
    ------
    ValueError
        If values are missing without a policy, infinite, or of different lengths, there
        are fewer than two models, items or clusters, a stratum has one unit only, or an
        option is unknown.
    TypeError
        If values are no numbers: labels go to `compare_all`.
    OSError
        If a file cannot be written.

    Notes
    -----
    For t one matrix product, O(M**2 n), or O(M n + M**2 G) with G clusters; the degrees
    of freedom follow from the sizes of clusters, and are one number for all pairs
    except with several strata or missing values. Values are not copied as a whole.

    References
    ----------
    .. [1] E. Miller, "Adding error bars to evals", arXiv:2411.00640 (2024).
    .. [2] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear
       regression with multi-stage samples", Survey Methodology 28 (2002) 169-181.

    Examples
    --------
    >>> from fastcmp import compare_means
    >>> values = {"a": [1.0, 0.5, 1.0, 0.8], "b": [0.5, 0.25, 0.5, 0.1]}
    >>> result = compare_means(values)
    >>> result.pvalue.round(4).tolist()
    [0.0132]
    >>> from fastcmp.stream import ValueMoments
    >>> compare_means(ValueMoments().update(values)).pvalue.round(4).tolist()
    [0.0132]
    """
    spec = MeanOptions(
        method=method,
        variance=variance,
        df=df,
        studentized=studentized,
        interval=interval,
        repeats=repeats,
        k=k,
        average=average,
        missing=missing,
        lower_is_better=lower_is_better,
        n_resamples=n_resamples,
        rng=rng,
    )
    options = pair_options(
        spec,
        rng,
        rank_intervals=rank_intervals,
        adjust=adjust,
        alpha=alpha,
        keep=keep,
        memory_limit=memory_limit,
        margin=margin,
        simultaneous=simultaneous,
    )
    if slices is not None:
        spec.refuse_slices(strata=strata, weights=weights)
    by_blocks = are_collections(values, groups, weights)
    estimates = estimates_of(values)
    if by_blocks or estimates is not None or are_valued(values):
        of_items = {"strata": strata, "stratum_weights": stratum_weights, "k": k}
        if not by_blocks:
            of_items |= {"groups": groups, "weights": weights, "names": names}
        _refuse_items(spec, of_items)
    if by_blocks:
        columns = (groups, weights)
        values = renamed(values, names, columns)
        if (model_names := models_of(values, columns)) is not None:  # before anything is computed
            choose_pairs(model_names, pairs, control)
        moments = ValueMoments(groups=None if groups is None else "ids")
        values = gather(moments, values, groups=groups, weights=weights)
    level = 1 - options.alpha
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        data = None
        more: Any
        if estimates is not None:
            if spec.lower_is_better or (spec.variance, spec.df) != (None, "satterthwaite"):
                raise BadTypeError(
                    "`lower_is_better=`, `variance=` and `df=` are about values",
                    remedy=": leave them to Estimates(...)",
                )
            options = replace(options, lower_is_better=estimates.lower_is_better)
            all_names, tests = estimates.names, estimate_tests(estimates, level)
            shared = ("measure", "lower_is_better", "n_clusters", "cautions")
            more = {name: getattr(estimates, name) for name in shared} | {"variance": "estimated"}
        elif are_valued(values):
            all_names = values.names or ()
            tests, more = _of_moments(values, spec, level)
        else:
            data = read_data(
                values,
                spec,
                names=names,
                groups=groups,
                strata=strata,
                stratum_weights=stratum_weights,
                weights=weights,
                run=partial(pool.run, steps=0),
            )
            all_names, tests = data.values.names, mean_tests(data, spec, level, pool)
            more = partial(_of_data, data, spec, level, pool)
        pair_indices = choose_pairs(all_names, pairs, control)
        result: MeansResult = compare_pairs(
            *(tests, all_names, pair_indices, options, pool),
            control=control,
            record=MeansResult,
            more=more,
        )
        if slices is not None:
            if data is not None:
                sliced = data.sliced(), data.values.kept
            elif estimates is not None:
                sliced = items_of_estimates(estimates), None
            else:
                raise BadValueError(
                    "`slices=` needs values item by item, not sums of them",
                    remedy=": pass values, shape (M, n)",
                )
            indexed = with_index(values)
            result = with_slices(
                result, slices, *sliced, pair_indices, options, pool, indexed=indexed
            )
    if data is None:
        return result
    return replace(result, cautions=cautions_of_pairs(result, data, spec, pair_indices))


def _of_data(data: MeanData, spec: MeanOptions, level: float, pool: ThreadPool) -> dict[str, Any]:
    """Fields of the record beside the tests."""
    fields = {**data.fields(spec), "measure": spec.measure, "seed": None}
    if spec.method in ("permutation", "bootstrap"):
        fields |= {"n_resamples": spec.n_resamples, "seed": spec.seed}
    two = len(data.values.names) == 2 and data.values.present is None
    if two and spec.method != "wilcoxon":
        fields["pair"] = difference_record(data, spec, "two-sided", level, pool)
    return fields


def _refuse_items(spec: MeanOptions, of_items: dict[str, Any]) -> None:
    """Refuse what needs values item by item, where moments are compared."""
    if spec.method != "t" or spec.studentized or spec.interval is not None:
        raise BadValueError(f"`method={spec.method!r}` needs all values: of sums of them use 't'")
    usual = {"missing": "raise", "average": "items", "repeats": "mean", "stratum_weights": "items"}
    options = {"missing": spec.missing, "average": spec.average, "repeats": spec.repeats} | of_items
    for name, value in options.items():
        if value is not None and not (isinstance(value, str) and value == usual.get(name)):
            raise BadTypeError(
                f"`{name}=` is about values",
                remedy=": pass these, shape (M, n), not what was made of them",
            )


def _of_moments(
    moments: ValueCounts, spec: MeanOptions, level: float
) -> tuple[PairTests, dict[str, Any]]:
    """Tests by moments that a stream has gathered, and other fields of the record."""
    if len(moments.names or ()) < 2 or moments.n_samples < 2:
        raise ValueError(
            "ValueMoments must hold at least 2 models and 2 items, got "
            f"{len(moments.names or ())} and {moments.n_samples}"
        )
    pair_moments = moments.pair_moments(variance=spec.variance, df=spec.df)
    clusters = getattr(moments, "groups", None) is not None
    degrees = float(np.min(pair_moments.df)) if spec.df == "satterthwaite" else np.inf
    cautions = cautions_of_units(
        pair_moments.n_units, degrees, pair_moments.largest, spec.df, clusters=clusters
    )
    return moment_tests(pair_moments, level), {
        "measure": spec.measure,
        "n_clusters": pair_moments.n_units if clusters else None,
        "variance": spec.variance or getattr(moments, "variance", "cr2"),
        "cautions": tuple(cautions),
    }
