"""What models achieve by a cheap judge of all items, corrected by human labels of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_finite, as_flag, as_numbers, as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_ppf, t_tail, wilson_interval
from fastcmp.core.records import Record, keep_intervals
from fastcmp.core.render import visible
from fastcmp.core.sections import Column, Section, beware, format_pvalue, main_table
from fastcmp.core.sentences import how
from fastcmp.core.threads import BlasThreads
from fastcmp.core.typing import ColumnLike, Flags, Floats, Ints, ModelsLike
from fastcmp.estimates.corrections import correct_models, degrees
from fastcmp.estimates.judge_checks import equal_means
from fastcmp.estimates.judge_inputs import Design, Items, Judged, correlated, read_judged
from fastcmp.inputs.item_groups import read_grouping, read_item_groups
from fastcmp.pairwise.model_estimates import Estimates, listed, make_estimates

TUNES = ("model", "common", "pair", "slope", "stratum")
CONVENTIONS = ("inside", "ppi", "horvitz-thompson")
VARIANCES = ("jackknife", "influence", "plain")
TARGETS = ("new items", "these items")
_NOTHING = 1e-24  # of the variance of labels: rounding


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgedValues(Record):
    """What M models achieve by a judge of all items, corrected by labels of some.

    What compares means or estimates takes it in the place of values. What is undefined is NaN.
    """

    names: tuple[str, ...]
    #: Corrected means, shape (M,), their standard errors and degrees of freedom.
    estimate: Floats
    standard_error: Floats
    df: Floats
    #: Of each model alone, shape (M, 2).
    interval: Any
    #: How much of what the judge says is added: a number for each model, shape (M,), or, with
    #: ``tune="stratum"``, for each model and stratum, shape (M, H).
    lam: Floats
    #: Items with labels, shape (M,).
    n_labels: Ints
    #: Of labels and judged values of the items that have both, shape (M,).
    correlation: Floats
    #: How many labels without a judge would tell as much, shape (M,).
    n_effective: Floats
    #: Means of the judge over all items, and of the labels, shape (M,).
    judge_mean: Floats
    labels_mean: Floats
    labels_standard_error: Floats
    #: The judge's mean less the corrected one, its standard error, and the t test that it is 0,
    #: shape (M,); NaN where judge and labels have different scales.
    bias: Floats
    bias_standard_error: Floats
    bias_statistic: Floats
    bias_df: Floats
    bias_pvalue: Floats
    #: How much higher the judge rates items with labels than those without, and the test that
    #: both are alike, as they are if labels were drawn at random; shape (M,).
    balance: Floats
    balance_standard_error: Floats
    balance_statistic: Floats
    balance_df: Floats
    balance_pvalue: Floats
    #: F test that the bias is the same for all models, its degrees of freedom, and p-value.
    equal_bias_statistic: float
    equal_bias_df: tuple[float, float]
    equal_bias_pvalue: float
    #: Of the corrected means, shape (M, M); degrees of freedom of all differences, and on the
    #: diagonal of each mean.
    covariance: Floats
    pair_df: Floats
    #: What each item adds to each mean, whose error is the mean of these, shape (M, N).
    influences: Floats
    #: Cluster of each item, shape (N,), or None.
    codes: Ints | None
    n_items: int
    n_clusters: int | None
    tune: str | float
    variance: str | None
    convention: str
    target: str
    #: "t", "normal" or "wilson" for each model.
    interval_method: tuple[str, ...]
    #: Labels of equal information that Wilson's interval takes, shape (M,); NaN for others.
    interval_n: Floats
    confidence_level: float
    lower_is_better: bool
    #: What makes the answer doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        Column("model", "names", visible),
        Column("estimate", form=".4f", head="corrected"),
        *Column.each("standard_error df"),
        Column("n_labels"),
        Column("correlation", form=".3f"),
        Column("n_effective", form=".0f", head="worth"),
        Column("judge_mean", form=".4f", head="judge"),
        Column("labels_mean", form=".4f", head="labels"),
        Column("labels_standard_error"),
        Column("bias", form="+.4f"),
        Column("bias_pvalue", form=format_pvalue, head="p (bias)"),
        Column("balance"),
        Column("balance_pvalue", form=format_pvalue, head="p (balance)"),
        Column("lam", lambda self: self.lam if self.lam.ndim == 1 else None, ".3g"),
        Column("interval_low interval_high", "interval", ".4f", "{level}"),
    )
    _read = (
        main_table("models"),
        *("tune", "variance", "convention", "target", "confidence_level"),
        *("lower_is_better", "n_items", "n_clusters", "equal_bias_pvalue", "cautions"),
    )

    def __post_init__(self) -> None:
        """Keep intervals of models from being unpacked as one."""
        keep_intervals(self, "interval")

    @property
    def values(self) -> Floats:
        """Values of items with the corrected means as means, and their errors; shape (M, N)."""
        return np.asarray(self.estimate[:, np.newaxis] + self.influences)

    @property
    def estimates(self) -> Estimates:
        """Corrected means of at least two models, for what compares estimates."""
        if len(self.names) < 2 or not np.isfinite(self.covariance).all():
            raise BadValueError(
                "`estimates` of judged values need at least 2 models with at least 3 labels",
                f"{len(self.names)} models with {self.n_labels.min()} or more",
            )
        same = (
            *("names", "covariance", "pair_df", "influences", "codes", "n_items", "n_clusters"),
            *("lower_is_better", "cautions"),
        )
        return make_estimates(
            **{name: getattr(self, name) for name in same},
            values=self.estimate,
            merit=-self.estimate if self.lower_is_better else self.estimate,
            variance=np.diagonal(self.covariance).copy(),
            df=float(self.pair_df.min()),
            measure="mean loss" if self.lower_is_better else "mean",
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Corrected means, tests of the judge, and what to beware of.
        """
        labels = " to ".join(map(str, sorted({self.n_labels.min(), self.n_labels.max()})))
        clusters = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        text = (
            how(
                f"{len(self.names)} models, {self.n_items} judged items{clusters}, {labels} of "
                "them with labels."
            ),
            f"Means of {self.target}: of the judge over all items, corrected by the labels."
            + " Lower values are better." * self.lower_is_better,
        )
        worth = "Worth: how many labels without a judge would tell as much."
        p = format_pvalue(self.equal_bias_pvalue)
        equal = (f"The same bias for all models: p = {p} (F test).",) * (p != "-")
        balance = "Balance: are items with labels judged as the others are?"
        means = "model judge_mean labels_mean estimate interval_low n_effective"
        checks = "model correlation lam bias bias_pvalue balance_pvalue"
        return [
            self._printed("Judged values, corrected by labels", means, text=text, notes=(worth,)),
            self._printed("The judge", checks, notes=(*equal, balance)),
            *beware(self),
        ]


def judged_values(
    judge: ModelsLike,
    human: ModelsLike,
    *,
    groups: ColumnLike | None = None,
    strata: ColumnLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    label_strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    average: str = "items",
    tune: str | float = "model",
    variance: str | None = None,
    convention: str = "inside",
    target: str = "new items",
    interval: str | None = None,
    confidence_level: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] | None = None,
) -> JudgedValues:
    """Correct what a cheap judge says of all items by human labels of some of them.

    The answer goes to `compare_means`, `mean_difference`, `best_set`, `rank_sets` and others,
    in the place of values.

    Parameters
    ----------
    judge : array-like of shape (M, N) or (N,), mapping or frame
        What the judge gives to the answers of each model: right or wrong, a grade, a probability.
        None may be missing. Its scale need not be that of the labels.
    human : array-like of shape (M, N) or (N,), mapping or frame
        Labels by people of the same answers, None or NaN where there is none. Models may have
        labels of different items. Of several labels of an item, a third axis, the mean counts.
    groups : array-like, shape (N,), optional
        Cluster of each item; some of its items may have labels.
    strata : array-like, shape (N,), optional
        Stratum of each item, with weights that are fixed. Each needs two labels.
    stratum_weights : {"items", "equal"} or mapping
        What the mean of each stratum counts: as many as it has items, all the same, or
        a number for each.
    label_strata : array-like, shape (N,), optional
        Strata by which only the labels were drawn, from items that are a random sample.
    weights : array-like, shape (N,), optional
        Importance of each item.
    probabilities : array-like, shape (N,), optional
        With which each item was to be labelled, in (0, 1], where they differ.
    average : {"items", "clusters"}
        Whether each item counts the same, or each cluster by its mean.
    tune : {"model", "common", "pair", "slope", "stratum"} or float
        How much of the judge counts: what makes the variance of each model least, that of
        all differences together with one number, or of the difference of two models with two;
        the slope of labels on judged values; a number for each stratum; or a given number,
        0 for the labels alone, 1 for their difference to the judge.
    variance : {"jackknife", "influence", "plain"}, optional
        Leave out each item or cluster, and tune again; or influences for a given slope.
        "plain", with `label_strata`, has no factor for small samples.
    convention : {"inside", "ppi", "horvitz-thompson"}
        "inside": the judge's mean is over all items. "ppi": over those without labels, with
        normal intervals, as published; its slope times N / (N - n) is that of "inside".
        "horvitz-thompson": labels over their `probabilities`, as in active inference.
    target : {"new items", "these items"}
        Whether means are those of new items of the same kind, or of these alone.
    interval : {"wilson", "t"}, optional
        Of each model alone; Wilson's, at the effective number of labels, where judge and
        labels are 0 or 1, items count alike, and `tune` is "model" or "slope".
    confidence_level : float
        Of the intervals, in (0, 1).
    lower_is_better : bool
        Whether values are losses.
    names : sequence of str, optional
        Names of the models, in the place of those that `judge` has.

    Returns
    -------
    JudgedValues
        Corrected means, intervals, how many labels these are worth, and tests of the judge.

    Raises
    ------
    ValueError
        If the judge lacks an item, a model or stratum has no labels, probabilities are outside
        (0, 1], or options exclude each other.
    TypeError
        If values are no numbers.

    See Also
    --------
    judge_agreement : How alike judge and people are.
    rogan_gladen : Error rates of the judge that are known from other items.
    fastcmp.planning.labels : How many labels are needed.

    Notes
    -----
    The corrected mean is that of the labels plus lam times what the judge's mean over all
    items is above its mean over the labelled [1]_ [2]_. For 0/1 values with ``tune="slope"``
    it is the maximum-likelihood estimate [3]_. With all items labelled it is the plain mean.
    Each model has a slope of its own, which is at least 0 and may exceed 1; intervals are by
    t with Satterthwaite's degrees of freedom, O(M N + M**2 N).

    References
    ----------
    .. [1] A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: Efficient prediction-powered
       inference", arXiv:2311.01453 (2023).
    .. [2] C.-E. Saerndal, B. Swensson, J. Wretman, "Model assisted survey sampling",
       Springer (1992).
    .. [3] A. Tenenbein, "A double sampling scheme for estimating from binomial data with
       misclassifications", JASA 65 (1970) 1350-1361.

    Examples
    --------
    >>> from fastcmp import judged_values
    >>> judge = [[1, 1, 0, 1, 1, 0, 1, 1], [1, 0, 0, 1, 0, 0, 1, 1]]
    >>> human = [[1, 1, 0, None, 0, None, 1, None], [1, 0, 0, None, 0, None, 1, None]]
    >>> judged_values(judge, human).estimate.round(3).tolist()
    [0.571, 0.494]
    """
    level = as_proportion(confidence_level, "confidence_level")
    lower_is_better = as_flag(lower_is_better, "lower_is_better")
    convention = choose(convention, "convention", CONVENTIONS)
    target = choose(target, "target", TARGETS)
    average = choose(average, "average", ("items", "clusters"))
    variance = choose(variance, "variance", (None, *VARIANCES))
    interval = choose(interval, "interval", (None, "wilson", "t"))
    tune = choose(tune, "tune", TUNES) if isinstance(tune, str) else as_finite(tune, "tune")
    data = read_judged(judge, human, names)
    every = (groups, strata, weights, probabilities, label_strata)
    plan = {name: x for name, x in zip(_DESIGN, every, strict=True) if x is not None}
    way = "label_strata" if label_strata is not None else convention
    if target == "these items":
        if convention != "inside":
            raise BadValueError("`target='these items'` needs `convention='inside'`")
        way = "these items"
    variance = _check_options(way, [*plan], tune, variance, average, data)
    design, drawn = _read_design(data, plan, stratum_weights, average)
    by_labels = tune in ("model", "slope")
    wilson = interval != "t" and way == "inside" and design.plain and by_labels
    if interval == "wilson" and not wilson:
        raise BadValueError(
            "`interval='wilson'` needs items that count alike, labels that were drawn from "
            "all, and `tune='model'`"
        )
    normal = way in ("ppi", "horvitz-thompson")
    n_models, n_units = len(data.names), design.n_units
    rows = np.empty((n_models, n_units))
    units = [design.units(items) for items in data.labelled]
    with BlasThreads(1):  # products are small, or in pieces of which each has a thread
        fields, gaps = correct_models(data, design, drawn, way, tune, variance, rows)
        n_tuned, constant, lam, gap = map(fields.pop, ("n_tuned", "constant", "lam", "gap"))
        covariance, pair_df = degrees(rows, units, design, n_tuned)
        covariance_of_gaps = gaps @ gaps.T / (n_units * (n_units - 1.0))
    if normal:
        pair_df[:] = fields["bias_df"][:] = np.inf
    fields["bias_variance"][fields["bias_variance"] <= _NOTHING * fields["labels_variance"]] = 0.0
    fields["labels_standard_error"] = np.sqrt(fields.pop("labels_variance"))
    fields["correlation"] = np.array([correlated(*x) for x in data.labels])
    fields["bias"] = fields["judge_mean"] - fields["estimate"]
    scales = [[x.min() >= 0.0 and x.max() <= 1.0 for x in pair] for pair in data.labels]
    of_two_scales = np.ptp(np.array(scales, np.int64), axis=1) > 0
    for name in ("bias", "bias_variance", "bias_df"):
        fields[name][of_two_scales] = np.nan
    for name in ("bias", "balance"):
        estimate, error = fields[name], np.sqrt(fields.pop(f"{name}_variance"))
        statistic = np.where(estimate == 0.0, 0.0, np.nan)
        np.divide(estimate, error, statistic, where=error != 0.0)
        p = t_tail(statistic, "two-sided", fields[f"{name}_df"])
        fields[f"{name}_pvalue"] = np.where(statistic == 0.0, 1.0, p)
        fields |= {f"{name}_standard_error": error, f"{name}_statistic": statistic}
    equal: tuple[Any, ...] = (np.nan, (np.nan, np.nan), np.nan)
    if n_models > 1 and not of_two_scales.any():
        # Judged less human values of the labelled have the same mean for all models.
        free = min(len(places) for places in units) - design.shares.size
        equal = equal_means(gap, covariance_of_gaps, free)
    n_labels = np.array([items.size for items in data.labelled])
    errors, df = np.sqrt(np.diagonal(covariance)), np.diagonal(pair_df).copy()
    whole = (n_labels == data.n_items) & (target == "these items")  # nothing is left open
    with np.errstate(divide="ignore", invalid="ignore"):
        n_effective = n_labels * (fields["labels_standard_error"] / errors) ** 2
        half = t_ppf(0.5 + 0.5 * level, df) * np.where((errors > 0.0) | whole, errors, np.nan)
    ends = fields["estimate"][:, np.newaxis] + half[:, np.newaxis] * np.array([-1.0, 1.0])
    methods, interval_n = ["normal" if normal else "t"] * n_models, np.full(n_models, np.nan)
    for m, (f, y) in enumerate(data.labels if wilson else []):
        is_binary = all(((x == 0.0) | (x == 1.0)).all() for x in (y, f, data.judged[m]))
        if interval == "wilson" and not is_binary:
            raise BadValueError(
                f"`interval='wilson'` needs 0/1 labels and judge, {data.names[m]} has others"
            )
        # With a judge that says the same of all, that of the labels alone, where it has a width.
        as_alone = constant[m] and n_labels[m] < data.n_items and errors[m] > 0.0
        if is_binary and (interval == "wilson" or not as_alone):
            ends[m], interval_n[m] = _wilson(f, y, data.n_items, fields["estimate"][m], level)
            methods[m] = "wilson"
    if design.clusters is not None:
        rows *= data.n_items / (design.n_units * np.bincount(design.clusters))
        rows = rows[:, design.clusters]
    result = JudgedValues(
        names=data.names,
        **fields,
        standard_error=errors,
        df=df,
        interval=ends,
        lam=lam[:, 0] if tune != "stratum" and np.ptp(lam, axis=1).max() == 0.0 else lam,
        n_labels=n_labels,
        n_effective=n_effective,
        equal_bias_statistic=equal[0],
        equal_bias_df=equal[1],
        equal_bias_pvalue=equal[2],
        covariance=covariance,
        pair_df=pair_df,
        influences=rows,
        codes=design.clusters,
        n_items=data.n_items,
        n_clusters=None if design.clusters is None else design.n_units,
        tune=tune,
        variance=variance,
        convention=convention,
        target=target,
        interval_method=tuple(methods),
        interval_n=interval_n,
        confidence_level=level,
        lower_is_better=lower_is_better,
    )
    return replace(result, cautions=_cautions(result, data, design, units, constant))


_DESIGN = ("groups", "strata", "weights", "probabilities", "label_strata")

#: Ways of correcting: what of the design each takes, slopes that it tunes, variances that it
#: knows, the first by default, and why no more.
_WAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[Any, ...], str]] = {
    "inside": (_DESIGN[:4], TUNES, VARIANCES[:2], "label_strata= goes with no other"),
    "label_strata": (_DESIGN[4:], TUNES[:1], VARIANCES[1:], "label_strata= goes with no other"),
    "these items": ((), ("model", "slope"), (None,), "labels must be drawn among all these items"),
    "ppi": (_DESIGN[:2], TUNES[:1], (None,), "published for items, strata and whole clusters"),
    "horvitz-thompson": (_DESIGN[3:4], TUNES[:1], (None,), "of independent items"),
}


def _check_options(
    name: str,
    item_options: list[str],
    tune: object,
    variance: str | None,
    average: str,
    data: Judged,
) -> str | None:
    """The variance, by name; refuses options that exclude each other."""
    design, tunes, variances, reason = _WAYS[name]
    for option in item_options:
        if option not in design:
            raise BadValueError(f"`{option}=` cannot be taken into account here: {reason}")
    if name == "horvitz-thompson" and not item_options:
        raise BadValueError("`convention='horvitz-thompson'` needs `probabilities=`")
    if average == "clusters" and item_options != ["groups"]:
        raise BadValueError(
            "`average='clusters'` needs `groups=`, and no strata, weights or probabilities"
        )
    if name == "ppi" and "groups" in item_options and average == "items":
        raise BadValueError(
            "`groups=` with `convention='ppi'` are published for `average='clusters'` only"
        )
    if isinstance(tune, str) and tune not in tunes:
        raise BadValueError(
            f"`tune={tune!r}` needs `convention='inside'` of new items: use 'model'"
        )
    if tune == "stratum" and "strata" not in item_options:
        raise BadValueError("`tune='stratum'` needs `strata=`")
    n_models = len(data.names)
    if (tune == "pair" and n_models != 2) or (tune == "common" and n_models < 2):
        what = "two models" if tune == "pair" else "several models"
        raise BadValueError(f"`tune={tune!r}` is for {what}", n_models, ": use 'model' or 'common'")
    if tune in ("common", "pair") and not data.same_labels:
        raise BadValueError(f"`tune={tune!r}` needs labels of the same items for all models")
    if variance is not None and variance not in variances:
        allowed = [x for x in variances if x] or "none: leave it out"
        raise BadValueError(f"`variance={variance!r}` is not known here, but {allowed}")
    return variances[0] if variance is None else variance


def _read_design(
    data: Judged, plan: dict[str, Any], stratum_weights: object, average: str
) -> tuple[Design, Items | None]:
    """How items make up units and strata, and strata by which labels alone were drawn."""
    n = data.n_items
    item_columns = {name: plan.get(name) for name in ("groups", "strata", "weights")}
    groups = read_item_groups(n, **item_columns, stratum_weights=stratum_weights)
    if groups.crossed:
        raise BadValueError(
            "`groups` must lie within strata: a cluster has items of several strata"
        )
    clusters = None if groups.clusters is None else groups.clusters.codes
    weights = np.ones(n) if groups.weights is None else groups.weights
    if average == "clusters" and clusters is not None:
        weights = 1.0 / np.bincount(clusters)[clusters]
    probabilities = np.ones(n)
    if "probabilities" in plan:
        probabilities = as_numbers(plan["probabilities"], "probabilities").astype(np.float64)
        outside = probabilities[~((probabilities > 0.0) & (probabilities <= 1.0))]
        if probabilities.shape != (n,) or outside.size:
            raise BadValueError(
                f"`probabilities` of being labelled must lie in (0, 1], one for each of {n} items",
                outside[0] if outside.size else probabilities.shape,
            )
    drawn = read_grouping(plan.get("label_strata"), "label_strata", n)
    strata = None if groups.strata is None else groups.strata.codes
    if clusters is not None and strata is not None:
        strata = strata[np.unique(clusters, return_index=True)[1]]
    n_drawn, shares = 1 if drawn is None else len(drawn.labels), groups.stratum_weights
    layout = (clusters, strata, shares, weights, probabilities, not plan, n_drawn)
    design = Design(groups.n_units, *layout)
    option, layers = ("strata", groups.strata) if drawn is None else ("label_strata", drawn)
    for name, items in zip(data.names, data.labelled, strict=True):
        if not weights[items].sum() > 0.0:
            raise BadValueError(f"`weights` must not be 0 for all items with labels of {name}")
        codes = design.layers if drawn is None else drawn.codes
        counts = np.bincount(codes[design.units(items)], minlength=max(shares.size, n_drawn))
        if layers is not None and counts.min() < 2:
            label = layers.labels[int(counts.argmin())]
            raise BadValueError(
                f"`{option}` must have at least 2 labels (or clusters with such) each, and "
                f"{label!r} has {counts.min()} of {name}: label more there, or merge strata"
            )
    return design, None if drawn is None else drawn.codes


def _wilson(
    f: Floats, y: Floats, n_items: int, rate: float, level: float
) -> tuple[tuple[float, float], float]:
    """Wilson's interval at the effective number of labels, and that number."""
    n = n_effective = float(y.size)
    df = None if n == n_items else n - 2.0
    if df is not None and df < 1.0:
        return (np.nan, np.nan), np.nan
    if df is not None:
        table = np.bincount((2 * y + f).astype(np.int64), minlength=4).reshape(2, 2) + 0.25
        margins = table.sum(axis=0).prod() * table.sum(axis=1).prod()
        phi = max(table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0], 0.0) / np.sqrt(margins)
        n_effective = (n - 1.0) / (1.0 - phi**2 * (1.0 - n / n_items))
    quantile = float(t_ppf(0.5 + 0.5 * level, df))
    low, high = wilson_interval(min(max(rate, 0.0), 1.0), n_effective, quantile)
    return (float(low), float(high)), n_effective


def _cautions(
    result: JudgedValues, data: Judged, design: Design, units: list[Items], constant: Flags
) -> tuple[str, ...]:
    """What makes the answer doubtful, in sentences."""
    n, y = result.n_labels, [y for _, y in data.labels]
    few = [bool((x * x == x).all()) and min(x.sum(), (1 - x).sum()) < 5 for x in y]
    beyond = [not x.min() <= mean <= x.max() for x, mean in zip(y, result.estimate, strict=True)]
    in_clusters, is_tuned = result.n_clusters is not None, isinstance(result.tune, str)
    n_strata, layers, n_units = design.shares.size, design.layers, np.array([*map(len, units)])
    least = np.array([np.bincount(layers[x], minlength=n_strata).min() for x in units])
    most = data.n_items < 2 * n
    minus = [bool(x.min() == -1.0 and (x * x * x == x).all()) for x in y]
    rules: list[tuple[Any, str]] = [
        (n < 20, "Fewer than 20 labels: look at the labels alone as well"),
        (few, "Fewer than 5 labels of a class: intervals by t are short"),
        (in_clusters & (n_units < 10), "Fewer than 10 clusters with labels"),
        (
            (least < 20) & (result.tune == "stratum"),
            "A slope for each stratum needs 20 labels in each",
        ),
        (minus, "Labels hold -1: where it stands for no label, pass None"),
        (constant & (n < data.n_items), "The judge says the same of all items, and adds nothing"),
        (is_tuned & (result.correlation < 0.0), "The judge goes against the labels"),
        (most & (n < data.n_items), "Most items have labels: the judge hardly helps"),
        (result.standard_error == 0.0, "No variance was observed: there is no interval by t"),
        (np.isnan(result.standard_error), "Too few labels for a standard error"),
        (np.isnan(result.bias), "Judge and labels have different scales: a bias has no meaning"),
        (beyond, "The corrected mean lies outside the labels that were given"),
    ]
    sentences = []
    for mask, text in rules:
        models = np.flatnonzero(mask)
        if models.size:
            of = f" ({listed([data.names[i] for i in models])})" * (models.size < len(data.names))
            sentences.append(f"{text}{of}.")
    return tuple(sentences)
