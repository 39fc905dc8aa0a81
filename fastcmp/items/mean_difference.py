"""Two models compared by the means of their values per item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import ALTERNATIVES, Draws, as_level, as_proportion, choose, keep_side
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import scaled_back, times
from fastcmp.core.records import Compared, ConfidenceInterval, Pilot, Record
from fastcmp.core.sections import Section, beware, format_pvalue
from fastcmp.core.sentences import direction_of, estimate_sentence, how, sentence_of_test
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import ColumnLike, ModelsLike, Seed
from fastcmp.counts.value_sums import difference_of, plain_estimates, unit_sums
from fastcmp.inputs.model_names import read_pair_names, with_index
from fastcmp.inputs.values import ItemTable
from fastcmp.items.bootstrap import UnitDraws
from fastcmp.items.cautions import (
    FEW_ITEMS,
    cautions_of,
    constant_caution,
    is_skewed,
    skew_caution,
    test_name,
    values_sentences,
)
from fastcmp.items.components import VarianceComponents
from fastcmp.items.mean_data import MeanData, MeanOptions, bounded_units, exact_units, read_data
from fastcmp.items.sign_flips import SignFlips
from fastcmp.kernels.cluster_means import mean_t, t_quantile
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    accuracy_margins,
    as_margin,
    bounded_interval,
    bounded_margins,
    margins_of,
    read_margin,
)
from fastcmp.paired.units import constant_pvalue
from fastcmp.pairwise.model_estimates import Estimates, ValuesLike, estimates_of
from fastcmp.pairwise.slice_sums import read_slices
from fastcmp.pairwise.slices import SliceOptions, compare_slices, slices_record
from fastcmp.pairwise.slices_result import SlicesResult

#: What comparisons of means cite.
MEANS_CITE = (
    ("method", {"permutation": "phipson", "bootstrap": "efron", "wilcoxon": "wilcoxon hodges"}),
    ("interval_method", {"bca": "bca"}),
    lambda self: "bell pustejovsky" if self.n_clusters and self.variance == "cr2" else "",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeanDifference(Pilot, Compared, Record):
    """Two models compared by the means of their values on the same items."""

    _pilot = "mean"
    _opening = "The means of {a} and {b} on the same items were compared."
    _cites = MEANS_CITE

    #: What `distribution` is applied to: t, or z; of permuted means the difference, or
    #: studentized that in standard errors, as of bootstrapped ones.
    statistic: float
    pvalue: float
    #: Degrees of freedom of t, else None.
    df: float | None
    #: "t", "normal", "permutation" or "bootstrap".
    distribution: str
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "mean", where more is better, "mean loss", or what was estimated.
    measure: str
    #: Mean of a minus that of b, its standard error, and the interval for it.
    difference: float
    standard_error: float
    interval: ConfidenceInterval
    mean_a: float
    mean_b: float
    #: Of each mean alone.
    standard_error_a: float
    standard_error_b: float
    #: Of the values of a and b over items; NaN where one of them does not vary.
    correlation: float
    method: str
    alternative: str
    confidence_level: float
    names: tuple[str, str]
    n_items: int
    #: Number of clusters and of strata; None without.
    n_clusters: int | None = None
    n_strata: int | None = None
    variance: str = "cr2"
    #: By how much clusters, strata and weights multiply the variance of the difference,
    #: compared with independent items.
    design_effect: float = 1.0
    #: Items of equal weight that would say as much, (sum w)**2 / (sum w**2); None
    #: without weights.
    n_effective: float | None = None
    #: Largest proportion of the items, by weight, in one cluster.
    largest_cluster: float | None = None
    #: P-value of flipping the signs of the differences of items or clusters, beside
    #: that of t where this alone is not safe.
    signflip_pvalue: float | None = None
    interval_method: str | None = None
    studentized: bool = False
    #: Draws of the p-value, 0 where it is exact, and the seed that repeats them and those of the
    #: interval; None where nothing was drawn.
    n_resamples: int | None = None
    seed: int | None = None
    missing: str = "raise"
    n_missing_values: tuple[int, ...] = ()
    n_dropped: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()
    #: How much of the variance is between items, how much between answers to one;
    #: None where items were answered once, or have clusters, strata or weights.
    variance_components: VarianceComponents | None = None
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None
    #: Whether values are losses; None: as the measure's name says.
    lower_is_better: bool | None = None
    #: The same models within slices of the items; None where none were asked for.
    slices: SlicesResult | None = None

    _derived = ("better",)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, what to beware of, and the parts of the variance.
        """
        text = [
            f"{direction_of(self)}: {self.mean_a:.4g} and {self.mean_b:.4g}"
            + (f" on {self.n_items} items." if self.n_items else "."),
            estimate_sentence(self),
            sentence_of_test(self, end="."),
            *margin_sentences(
                self.margins, "" if self.distribution in ("t", "normal") else self.distribution
            ),
            how(f"Test: {test_name(self)}."),
            *values_sentences(self),
        ]
        if self.n_resamples == 0 and self.seed is not None:
            text.append(f"Interval by random sign flips (seed {self.seed}).")
        if self.n_clusters is not None and self.largest_cluster is not None:
            text.append(
                how(
                    f"The {self.n_clusters} clusters multiply the variance by "
                    f"{self.design_effect:.3g}; the largest has "
                    f"{100 * self.largest_cluster:.3g}% of the items."
                )
            )
        if self.signflip_pvalue is not None:
            text.append(f"Sign flips beside it: p = {format_pvalue(self.signflip_pvalue)}.")
        sections = [Section(title="Which model is better?", text=tuple(text)), *beware(self)]
        if self.variance_components is not None:
            sections += self.variance_components.sections()
        return sections + ([] if self.slices is None else self.slices.sections())


_ONE_PAIR = np.array([[0, 1]], np.int32)
_FLIPPED = 10_000  # units, up to which signs are flipped beside a t test
#: Fields in the unit of the values.
_IN_UNITS = (
    *("difference", "standard_error", "interval", "mean_a", "mean_b"),
    *("standard_error_a", "standard_error_b", "margins"),
)


def mean_difference(
    values_a: ValuesLike,
    values_b: ColumnLike | None = None,
    *,
    method: str = "t",
    alternative: str = "two-sided",
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
    margin: float | None = None,
    slices: ModelsLike | None = None,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Seed = None,
    names: Sequence[str] = ("a", "b"),
    workers: int | None = None,
) -> MeanDifference:
    """Compare two models by the means of their values on the same items.

    Parameters
    ----------
    values_a, values_b : array-like, shape (n,) or (n, R)
        Values of the two models for the same items; with a second axis R answers to
        each item. Or `Estimates` of two models alone, or a record that has them, with
        `alternative`, `margin`, `alpha` and `confidence_level`.
    method : {"t", "permutation", "bootstrap"}
        Paired t test, flips of the signs of differences, or bootstrap, as in
        `compare_means`. For Wilcoxon's test see `signed_rank`.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a has the higher mean, also where lower is better.
    groups, strata : array-like, shape (n,), optional
        Clusters and strata of the items, as in `compare_means`.
    stratum_weights : {"items", "equal"} or mapping
        What the mean of each stratum counts.
    weights : array-like, shape (n,), optional
        Importance of each item.
    lower_is_better : bool
        Whether values are losses. They are never re-signed.
    missing : {"raise", "common", "pairwise", "wrong"}
        What to make of missing values, as in `compare_means`; for two models "common"
        and "pairwise" are the same.
    repeats : {"mean", "pass@k", "pass^k"}
        How the answers to an item become its value, as in `compare_means`.
    k : int, optional
        For "pass@k" and "pass^k".
    average : {"items", "clusters"}
        Whether each item counts the same, or each cluster by its mean.
    variance : {"cr0", "cr1", "cr2", "cr3"}, optional
        How residuals of clusters are scaled up, as in `compare_means`.
    df : {"satterthwaite", "clusters", "normal"}
        Degrees of freedom of t, as in `compare_means`.
    studentized : bool
        Whether permuted means are divided by their standard errors.
    interval : {"studentized", "percentile", "bca", "basic"}, optional
        Kind of the bootstrap interval, "studentized" by default.
    margin : float, optional
        The largest difference of means that does not matter: adds tests of
        non-inferiority, superiority by the margin and equivalence, and a decision, as
        ``margins``. By t of the difference; values of 0 and 1, and their means by item
        or cluster, as in `mcnemar`. Without any variance there is no decision.
    slices : mapping, frame, or array-like of shape (n,) or (S, n), optional
        Slices of the items, within which the models are compared too, as by
        `compare_slices`: the answer is ``slices``, and `gate` looks at each.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5), and of slices.
    confidence_level : float
        Of the interval, in (0, 1).
    n_resamples : int
        Draws of permutation and bootstrap.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    names : sequence of str
        What to call the two models.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    MeanDifference
        Difference, standard error, interval, p-value, and what to beware of.

    Raises
    ------
    ValueError
        As `compare_means`.
    TypeError
        If values are no numbers.

    Notes
    -----
    O(n) for t; the p-value of flipped signs is added with up to 10,000 clusters, with
    fewer than 30 items, and where differences are skewed.

    Examples
    --------
    >>> from fastcmp import mean_difference
    >>> result = mean_difference([1.0, 0.5, 1.0, 0.8], [0.5, 0.25, 0.5, 0.1])
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (5.2909, 0.0132)
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_proportion(confidence_level, "confidence_level")
    as_level(confidence_level, alternative)
    against = read_margin(margin, alpha)
    for name, raw in (("values_a", values_a), ("values_b", values_b)):
        if isinstance(raw, ItemTable):
            raise BadTypeError(f"`{name}` must be values of one model; compare_means takes a table")
    spec = MeanOptions(
        method=method,
        variance=variance,
        df=df,
        studentized=studentized,
        interval=interval,
        repeats=repeats,
        k=k,
        average=average,
        missing="common" if missing == "pairwise" else missing,
        lower_is_better=lower_is_better,
        n_resamples=n_resamples,
        rng=rng,
    )
    if spec.method == "wilcoxon":
        raise BadValueError("`method='wilcoxon'` is signed_rank for two models")
    pair = read_pair_names(names)
    turned = None if alternative == "two-sided" else alternative
    if (estimates := estimates_of(values_a)) is not None:
        about_values: dict[str, Any] = {"values_b": values_b, "groups": groups, "strata": strata}
        about_values |= {"weights": weights, "k": k, "lower_is_better": lower_is_better or None}
        for name, value in about_values.items():
            if value is not None:
                raise BadTypeError(f"`{name}=` is about values: leave it to Estimates(...)")
        result = _of_estimates(estimates, alternative, confidence_level, against)
        if slices is not None:
            spec.refuse_slices(alternative=turned)
            within = compare_slices(estimates, slices, margin=margin, alpha=alpha, workers=workers)
            result = replace(result, slices=within)
        return result
    if values_b is None:
        raise BadTypeError("`values_b` must be given: the values of the second model, shape (n,)")
    both = {"values_a": values_a, "values_b": values_b}
    about: Any = {"groups": groups, "strata": strata, "weights": weights}
    with ThreadPool(check_workers(workers)) as pool:
        data = read_data(both, spec, stratum_weights=stratum_weights, **about)
        result = difference_record(
            *(data, spec, alternative, confidence_level, pool), names=pair, against=against
        )
        if slices is None:
            return result
        spec.refuse_slices(strata=strata, weights=weights, alternative=turned)
        kept, sliced = data.values.kept, data.sliced()._replace(names=pair)
        n = data.values.n_items if kept is None else kept.size
        masks = read_slices(slices, n, kept, with_index(both))
        lower, draws = spec.lower_is_better, Draws(n_resamples, 0)
        options = SliceOptions("holm", as_proportion(alpha, "alpha"), draws, lower, margin)
        return replace(result, slices=slices_record(sliced, masks, None, options, pool))


def _of_estimates(
    estimates: Estimates, alternative: str, confidence_level: float, against: MarginOptions | None
) -> MeanDifference:
    """The comparison of two estimates."""
    if len(estimates.names) != 2:
        raise ValueError(
            f"mean_difference takes estimates of 2 models, got {len(estimates.names)}: "
            "compare_means takes any number"
        )
    lower, exponent = estimates.lower_is_better, estimates.exponent
    error = float(times(estimates.errors()[0, 1], exponent))
    df = estimates.df if estimates.pair_df is None else float(estimates.pair_df[0, 1])
    gain = float(times(estimates.merit[0] - estimates.merit[1], exponent))
    difference = -gain if lower else gain
    reach = estimates.limits[1] - estimates.limits[0]
    fields = _t_test(difference, error**2, df, alternative, confidence_level, (-reach, reach))
    mean_a, mean_b = times(estimates.values, exponent).tolist()
    error_a, error_b = own_errors = times(np.sqrt(estimates.variance), exponent)
    product = float(own_errors.prod())
    common = 0.5 * (float(own_errors @ own_errors) - error**2)
    n_items, measure = estimates.n_items or 0, estimates.measure
    if against is not None:
        of = Estimated(difference, error, df, n_items, fields["pvalue"], alternative, measure)
        fields["margins"] = margins_of(of, against._replace(lower_is_better=lower))
    return MeanDifference(
        measure=measure,
        difference=difference,
        standard_error=error,
        mean_a=mean_a,
        mean_b=mean_b,
        standard_error_a=float(error_a),
        standard_error_b=float(error_b),
        correlation=common / product if product > 0.0 else np.nan,
        method="t",
        alternative=alternative,
        confidence_level=confidence_level,
        names=estimates.names,
        n_items=n_items,
        n_clusters=estimates.n_clusters,
        variance="estimated",
        cautions=estimates.cautions,
        lower_is_better=lower,
        **fields,
    )


def difference_record(
    data: MeanData,
    options: MeanOptions,
    alternative: str,
    confidence_level: float,
    pool: ThreadPool,
    *,
    names: tuple[str, str] | None = None,
    against: MarginOptions | None = None,
) -> MeanDifference:
    """The comparison of the two models of the data."""
    values, plan, method = data.values, data.plan, options.method
    limits = (-1.0, 1.0) if values.bounded else (-np.inf, np.inf)
    if against is not None:
        as_margin(against.margin, limits[1])
        against = against._replace(
            margin=times(against.margin, -values.exponent), lower_is_better=options.lower_is_better
        )
    a, b = values.columns
    paired, one, two, moments = plain = plain_estimates(a, b, plan)
    effect = 1.0
    if not plan.plain:
        zeros = np.zeros_like(a)
        paired = difference_of(a, b, plan)
        one, two = difference_of(a, zeros, plan), difference_of(b, zeros, plan)
        if plain.difference.variance > 0:
            effect = paired.variance / plain.difference.variance
    difference, variance, df = map(float, paired)
    skewed = is_skewed(a.size, moments[1], moments[2])
    cautions = cautions_of(data, options, df)
    fields: dict[str, Any] = data.fields(options)
    draws: Any = {"n_resamples": options.n_resamples, "seed": options.seed}
    if method in ("t", "wilcoxon"):
        if skewed and plan.plain:
            cautions = (*cautions, skew_caution(1))
        fields |= _t_test(difference, variance, df, alternative, confidence_level, limits)
        unsafe = skewed or values.n_items < FEW_ITEMS or not plan.plain
        if unsafe and plan.n_units <= _FLIPPED and plan.across is None:  # t alone is not safe
            units = unit_sums(values, plan, pool)
            flips = SignFlips(units, 0.95, pool, alternative=alternative, alone=True, **draws)
            _, pvalue, exact = flips.test(_ONE_PAIR)[0].tolist()
            n_resamples = 0 if exact else flips.n_draws
            fields |= {"signflip_pvalue": pvalue, "n_resamples": n_resamples}
            fields["seed"] = options.seed if n_resamples else None
        if variance == 0.0 and difference != 0.0:
            n_units = exact_units(a.astype(np.float64) - b, plan)
            pvalue = float(constant_pvalue(difference, n_units, alternative))
            if isnan(pvalue):  # of different signs in different strata
                pvalue = fields.get("signflip_pvalue", np.nan)
            fields |= {"pvalue": pvalue, "status": UNDEFINED if isnan(pvalue) else DEGENERATE}
            cautions = (*cautions, constant_caution(1, exact=not isnan(pvalue)))
    else:
        units = unit_sums(values, plan, pool)
        fields |= {"df": None, "distribution": method, **draws}
        draws["alternative"] = alternative
        if method == "permutation":
            draws |= {"studentized": options.studentized, "alone": True}
            flips = SignFlips(units, confidence_level, pool, **draws)
            answers, exact = flips.evaluate(_ONE_PAIR)
            fields["n_resamples"] = 0 if exact[0] else flips.n_draws
            fields["seed"] = None if flips.complete else options.seed
            fields["status"] = OK if flips.n_nonzero else DEGENERATE
        else:
            level = as_level(confidence_level, alternative)
            drawn = UnitDraws(units, level, pool, interval=str(options.interval), **draws)
            answers, status = drawn.evaluate(_ONE_PAIR)
            fields["status"] = int(status[0])
        statistic, pvalue, *ends = answers[0].tolist()
        fields |= {"statistic": statistic, "pvalue": pvalue}
        fields["interval"] = _interval(ends, alternative, limits)
    if values.bounded and variance == 0.0:
        units_of = bounded_units(a.astype(np.float64) - b, plan)
        ends = np.ravel(bounded_interval(units_of, as_level(confidence_level, alternative)))
        fields["interval"] = _interval(ends.tolist(), alternative, limits)
    if against is not None:
        # By t whatever tests equality; of single values of 0 and 1, where t errs too often, as
        # for accuracies.
        pvalue = fields["pvalue"]
        shared = {"pvalue": pvalue, "alternative": alternative, "measure": options.measure}
        of = Estimated(difference, sqrt(variance), df, values.n_items, **shared)
        if values.binary and plan.plain:
            counts = int(np.count_nonzero(a > b)), int(np.count_nonzero(a < b))
            fields["margins"] = accuracy_margins((*counts, values.n_items), against, **shared)
        elif values.bounded:
            unit = "items" if data.groups.clusters is None else "clusters"
            units_of = bounded_units(a.astype(np.float64) - b, plan)
            fields["margins"] = bounded_margins([units_of], of, against, unit)
        else:
            fields["margins"] = margins_of(of, against)
    weights, size = data.groups.weights, moments[7] * moments[8]
    result = MeanDifference(
        measure=options.measure,
        difference=difference,
        standard_error=sqrt(variance),
        mean_a=float(one.difference),
        mean_b=float(two.difference),
        standard_error_a=sqrt(one.variance),
        standard_error_b=sqrt(two.variance),
        correlation=moments[9] / size**0.5 if size > 0 else np.nan,
        method=method,
        alternative=alternative,
        confidence_level=confidence_level,
        names=names or (values.names[0], values.names[1]),
        n_items=values.n_items,
        design_effect=effect,
        # Kish's effective size.
        n_effective=None if weights is None else float(weights.sum() ** 2 / (weights @ weights)),
        largest_cluster=None if fields["n_clusters"] is None else plan.largest,
        cautions=cautions,
        **fields,
    )
    in_units: tuple[str, ...] = _IN_UNITS
    if method == "permutation" and not options.studentized:
        in_units = (*in_units, "statistic")  # the difference itself
    scaled: MeanDifference = scaled_back(result, values.exponent, in_units)
    return scaled


def _t_test(
    difference: float,
    variance: float,
    df: float,
    alternative: str,
    confidence_level: float,
    limits: tuple[float, float],
) -> dict[str, Any]:
    """Test by t, or by z with infinitely many degrees of freedom."""
    t, pvalue, status = mean_t(difference, variance, df, ALTERNATIVES[alternative])
    spread = t_quantile(df, as_level(confidence_level, alternative)) * variance**0.5
    spread = np.nan if status == UNDEFINED else spread
    normal = df == np.inf
    return {
        "statistic": t,
        "pvalue": pvalue,
        "status": status,
        "df": None if normal else df,
        "distribution": "normal" if normal else "t",
        "interval": _interval((difference - spread, difference + spread), alternative, limits),
    }


def _interval(ends: Any, alternative: str, limits: tuple[float, float]) -> ConfidenceInterval:
    """The side of an interval that the alternative has, between limits; NaN stays."""
    low, high = keep_side(ends, alternative, limits)
    least, most = limits
    return ConfidenceInterval(min(max(low, least), most), min(max(high, least), most))
