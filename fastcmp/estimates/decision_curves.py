"""Decision curves: net benefits of models over thresholds, and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_finite, as_flag, as_numbers, as_proportion, as_resamples, as_seed
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_ppf, t_tail
from fastcmp.core.records import Drawn, Record, keep_intervals
from fastcmp.core.render import visible
from fastcmp.core.sections import Section, beware, format_interval, table_of
from fastcmp.core.sentences import how
from fastcmp.core.threads import ThreadPool, check_memory, check_workers, parts
from fastcmp.core.typing import (
    ColumnLike,
    Flags,
    Floats,
    Ints,
    Label,
    ModelsLike,
    Numbers,
    Pairs,
    Seed,
)
from fastcmp.counts.pairs import choose_pairs
from fastcmp.estimates.net_benefit import STRATEGIES, reached, read_risks
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.pairwise.max_t import LATTICE, Maxima, directions, order_statistics, read_draws
from fastcmp.pairwise.model_estimates import Estimates

_FEW = 10  # discordant decisions
_UNITS = 1024  # of more items random blocks are drawn together
_JOINT = 400  # differences whose correlations are written out
_MOST_DRAWS, _FEWEST_DRAWS = 10_000, 1000  # critical values to 0.3% and 1%
_ZERO = 1e-14  # of the squares: less is rounding
_RIDGE = 1e-9  # added to correlations that may be singular
_ADVICE = (
    "To decide, take the larger net benefit, whatever the p-value; bands say how sure it is that "
    "it is larger."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DecisionCurve(Drawn, Record):
    """Net benefit of models over thresholds, and differences with a simultaneous band.

    The last two of the M + 2 names are the strategies "treat all" and "treat none". With
    one threshold, `estimates` goes to `compare_means`, `best_set` and others.
    """

    _picture: ClassVar[str] = "decision_curve"
    _blocks = "scores:decision_curve"
    _opening = "Models were compared by their net benefit at each threshold."
    _cites = ("vickers",)

    #: Of each difference, shape (P, T).
    statistic: Floats
    #: Of each difference at its threshold alone, not adjusted, shape (P, T).
    pvalue: Floats
    #: Shape (P, T).
    df: Floats
    distribution: str = "t"
    names: tuple[str, ...]
    #: Ascending, shape (T,).
    thresholds: Floats
    #: Shape (M + 2, T); where `standardised`, a share of that of perfect decisions.
    net_benefit: Floats
    standard_error: Floats
    #: At each threshold alone, shape (M + 2, T, 2).
    net_benefit_interval: Floats
    #: Treatments that are spared for each item, without a positive left untreated more
    #: than by treating all, shape (M + 2, T).
    interventions_avoided: Floats
    interventions_avoided_interval: Floats
    #: Shape (P, 2).
    pairs: Pairs
    #: Net benefit of the first of a pair less that of the second, shape (P, T).
    difference: Floats
    difference_standard_error: Floats
    #: At each threshold alone, shape (P, T, 2).
    interval: Floats
    #: For all pairs and thresholds at once, shape (P, T, 2).
    band: Floats
    #: Standard errors on each side of the band.
    critical_value: float
    #: Items that only one of a pair treats, shape (P, T).
    n_discordant: Ints
    #: Share of positives that the net benefit is for, and its standard error where it
    #: was estimated elsewhere; None for that of these items.
    prevalence: float | None
    prevalence_se: float | None
    standardised: bool
    n_items: int
    n_positives: int
    n_clusters: int | None
    confidence_level: float
    n_resamples: int
    seed: int
    #: With one threshold, of the M + 2 net benefits and of their differences.
    covariance: Floats | None
    covariance_df: Floats | None
    cautions: tuple[str, ...]

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(
            *(self, "net_benefit_interval", "interventions_avoided_interval", "interval", "band")
        )

    @property
    def estimates(self) -> Estimates:
        """Net benefits of all models and strategies; a ValueError with several thresholds."""
        if self.covariance is None:
            raise BadValueError(
                f"a decision curve at {self.thresholds.size} thresholds has no one net benefit",
                remedy=": pass `thresholds=` one number, or take "
                "net_benefit_values(threshold=(low, high))",
            )
        if not np.isfinite(self.covariance).all():
            raise BadValueError(
                "no item is positive: there is no standardised net benefit", argument="y_true"
            )
        df = self.covariance_df if self.prevalence is not None else float(self.df.flat[0])
        options: Any = {"df": df, "n_items": self.n_items, "names": self.names}
        values = self.net_benefit[:, 0]
        estimates = Estimates(values, self.covariance, measure="net benefit", **options)
        estimates.n_clusters = self.n_clusters
        return estimates

    @property
    def test_tradeoff(self) -> Floats:
        """Items of the first model for one more true positive, infinite for none, (P, T)."""
        return _inverse(self.difference)

    @property
    def test_tradeoff_interval(self) -> Floats:
        """At each threshold alone, shape (P, T, 2)."""
        return _inverse(self.interval[..., ::-1])

    def columns(self) -> dict[str, Any]:
        """The differences as columns, a row a pair and threshold.

        Returns
        -------
        dict of str to list
            Names, thresholds, net benefits, differences, intervals, bands and p-values.
        """
        count, columns = self.thresholds.size, {}
        for k, side in enumerate("ab"):
            models = self.pairs[:, k]
            columns[side] = np.repeat(np.array(self.names, object)[models], count)
            columns[f"net_benefit_{side}"] = self.net_benefit[models]
        columns["threshold"] = np.tile(self.thresholds, len(self.pairs))
        for name in ("difference", "difference_standard_error", "statistic", "pvalue"):
            columns[name] = getattr(self, name)
        for first, ends in (("", self.interval), ("band_", self.band)):
            columns |= {f"{first}low": ends[..., 0], f"{first}high": ends[..., 1]}
        return {name: np.ravel(x).tolist() for name, x in columns.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Net benefits at some thresholds, and where differences are not 0.
        """
        names, t, count = [*map(visible, self.names)], self.thresholds, len(self.names) - 2
        text = f"{count} {'model' if count == 1 else 'models'} on {self.n_items} items"
        text += "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        text += f", {self.n_positives} of them positive; {t.size} thresholds from {t[0]:g} to "
        text += f"{t[-1]:g}: who has at least this probability is treated."
        text += "" if self.prevalence is None else f" The prevalence is given: {self.prevalence:g}."
        rows = [*range(min(count, 4)), count]
        places = np.unique(np.linspace(0, t.size - 1, 9).round().astype(int)).tolist()
        benefits = [[f"{t[k]:g}" for k in places]]
        benefits += [[_cell(x, ".4f") for x in self.net_benefit[m, places]] for m in rows]
        level, band = f"{100 * self.confidence_level:.9g}% band", np.asarray(self.band)
        size = np.nan_to_num(np.abs(self.difference), nan=-1.0)
        order, best = np.argsort(-size.max(axis=1), kind="stable"), size.argmax(axis=1)
        columns = {
            "pair": [" - ".join(names[m] for m in self.pairs[p]) for p in order],
            "largest": [_cell(self.difference[p, best[p]], "+.4f") for p in order],
            "at": [f"{t[best[p]]:g}" for p in order],
            level: [_interval(band[p, best[p]]) for p in order],
            "above 0 at": [_ranges(t, band[p, :, 0] > 0.0) for p in order],
            "below 0 at": [_ranges(t, band[p, :, 1] < 0.0) for p in order],
        }
        return [
            Section(
                title="Decision curve: " + "standardised " * self.standardised + "net benefit",
                text=(how(text),),
                columns=("threshold", *(names[m] for m in rows)),
                rows=tuple(zip(*benefits, strict=True)),
                notes=(f"... and {count - 4} more models.",) if count > 4 else (),
            ),
            table_of(
                "Differences of net benefit",
                columns,
                text=(
                    how(
                        f"The {level} holds for all thresholds and pairs at once: difference "
                        f"± {self.critical_value:.3f} standard errors."
                    ),
                ),
                notes=(_ADVICE,),
            ),
            *beware(self),
        ]


def _cell(value: float, style: str) -> str:
    return "-" if np.isnan(value) else f"{value:{style}}"


def _interval(ends: Floats) -> str:
    return "-" if np.isnan(ends[0]) else format_interval(*ends, digits=4, sign="+")


def _inverse(gain: Numbers) -> Floats:
    """One over each positive number, infinite for others; NaN stays."""
    gain = np.asarray(gain, np.float64)
    with np.errstate(divide="ignore"):
        return np.where(gain <= 0.0, np.inf, 1.0 / gain)


def _ranges(thresholds: Floats, marked: Flags) -> str:
    """The marked thresholds as ranges, such as "0.1-0.3"; at most two of them."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(int)))
    ends = [(thresholds[i], thresholds[j - 1]) for i, j in edges.reshape(-1, 2).tolist()]
    texts = [f"{a:g}" if a == b else f"{a:g}-{b:g}" for a, b in ends[:2]]
    return ", ".join(texts + ["..."] * (len(ends) > 2)) or "-"


class _Items(NamedTuple):
    """Items of two classes, and which thresholds the models' probabilities reach."""

    #: Shape (M + 2, n): models, treat all, treat none.
    passed: NDArray[np.int16]
    #: 1 for positives, else 0, shape (n,).
    truth: NDArray[np.int16]
    weights: Floats
    thresholds: Floats
    #: Unit of each item, and how many there are.
    units: Ints
    n_units: int

    def treated(self, m: int, weights: Floats) -> Floats:
        """Weights of the items that a model treats, negatives and positives, (2, T, U)."""
        n_bins = self.thresholds.size + 1
        codes = (n_bins * self.truth.astype(np.int64) + self.passed[m]) * self.n_units + self.units
        sums = np.bincount(codes, weights, 2 * n_bins * self.n_units)
        return np.asarray(np.cumsum(sums.reshape(2, n_bins, -1)[:, :0:-1], axis=1)[:, ::-1], float)

    def both(self, weights: Any, pairs: Any) -> Floats:
        """Weights of the items that both of a pair treat, negatives and positives, (2, P, T)."""
        n_bins = self.thresholds.size + 1
        of_class = n_bins * self.truth.astype(np.int64)
        counts = np.empty((len(pairs), 2, n_bins))
        for into, (i, j) in zip(counts, pairs, strict=True):
            codes = of_class + np.minimum(self.passed[i], self.passed[j])
            into[:] = np.bincount(codes, weights, 2 * n_bins).reshape(2, n_bins)
        return np.cumsum(counts[:, :, :0:-1], axis=2)[:, :, ::-1].swapaxes(0, 1)


class _Scale(NamedTuple):
    """Net benefits on some scale, and the influence of each item on them.

    That of a positive is weight * (worth[1] * treated - level[1]), of a negative
    -weight * (worth[0] * treated - level[0]); `slope` is that of the prevalence.
    """

    #: Shape (M + 2, T).
    values: Floats
    #: Shape (2, 1, T).
    worth: Floats
    #: Shape (2, M + 2, T).
    level: Floats
    slope: Floats

    @classmethod
    def of(cls, items: _Items, prevalence: float | None, *, standardised: bool) -> _Scale:
        """The scale, with net benefits; NaN where they have no scale."""
        total = np.bincount(items.truth, items.weights, 2)[:, np.newaxis, np.newaxis]
        alone = [(m, m) for m in range(len(items.passed))]
        treated = items.both(items.weights, alone)
        odds = items.thresholds / (1.0 - items.thresholds)
        share = total[1, 0, 0] / total.sum() if prevalence is None else prevalence
        size = np.full((2, 1, 1), total.sum())
        if prevalence is not None:
            size = total / np.array([1.0 - share, share])[:, np.newaxis, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.stack([odds, np.ones_like(odds)])[:, np.newaxis] / size
            worth = worth / (share or np.nan) if standardised else worth
            parts = worth * treated
            values = parts[1] - parts[0]
            if prevalence is not None:
                level = parts / total
                slope = treated[1] / total[1] + odds * treated[0] / total[0]
                slope = odds * treated[0] / total[0] / share**2 if standardised else slope
                return cls(values, worth, level, slope)
            level = np.stack([-values, values]) / total.sum()
            if standardised:
                level = np.stack([np.zeros_like(values), values / total[1]])
        return cls(values, worth, level, np.zeros_like(values))

    def influences(self, items: _Items, m: int) -> Floats:
        """What each unit adds to the net benefit of a model, shape (T, U)."""
        codes = items.truth * np.int64(items.n_units) + items.units
        total = np.bincount(codes, items.weights, 2 * items.n_units).reshape(2, 1, -1)
        parts = self.worth[:, 0, :, np.newaxis] * items.treated(m, items.weights)
        parts -= self.level[:, m, :, np.newaxis] * total
        return np.asarray(parts[1] - parts[0])


def decision_curve(
    y_true: ColumnLike,
    probabilities: ModelsLike,
    *,
    thresholds: ArrayLike | None = None,
    prevalence: float | None = None,
    prevalence_se: float | None = None,
    standardised: bool = False,
    groups: ColumnLike | None = None,
    weights: ArrayLike | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    positive: Label = None,
    names: Sequence[str] | None = None,
    rng: Seed = None,
    workers: int | None = None,
) -> DecisionCurve:
    """Net benefit of treating by models' probabilities, over thresholds.

    A threshold t says what a treatment in vain is worth against one in time: t / (1 - t).
    So one curve shows which model to use for every such preference, or whether to treat
    all or nobody instead.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes, none of them missing.
    probabilities : array-like of shape (n,) or (M, n), mapping or frame
        Probabilities of the positive class, by one or more models.
    thresholds : float or array-like, shape (T,), optional
        In (0, 1); by default 0.01, 0.02, ..., 0.99.
    prevalence : float, optional
        Share of positives where decisions will be made, if items were sampled by
        their class, as in a case-control study.
    prevalence_se : float, optional
        Standard error of `prevalence`, where it was estimated elsewhere.
    standardised : bool
        Whether net benefits are divided by the prevalence: shares of what perfect
        decisions gain.
    groups : array-like, shape (n,), optional
        The cluster of each item, such as its patient.
    weights : array-like, shape (n,), optional
        Importance of each item.
    pairs : sequence of pairs, optional
        Compare only these, by name or index; "treat all" and "treat none" are names.
    control : int or str, optional
        Compare only this model with all others and both strategies, or all models with
        this strategy. By default all pairs of models, or one model with both strategies.
    confidence_level : float
        Of intervals and of the band.
    n_resamples : int, optional
        Draws for the critical value of the band; as many as it needs by default.
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
    DecisionCurve
        Net benefits, treatments avoided and differences, with intervals.

    Raises
    ------
    TypeError
        If probabilities or thresholds are not numbers.
    ValueError
        If a probability is missing or outside [0, 1], a threshold outside (0, 1), a true
        label is missing, shapes do not fit, there are fewer than two items or clusters,
        or with `prevalence` fewer than two items of a class.

    Notes
    -----
    Intervals at one threshold are those of `compare_means` of `net_benefit_values`,
    by t with n - 1 degrees of freedom, or G - 1 with G clusters; with `prevalence` the
    classes are two strata, with Satterthwaite's degrees of freedom. The band takes the
    largest of all standardised differences, which are jointly normal. Of more than
    1,024 items it draws blocks of them, at random, together. O(M n + P n + T (M + P) B).

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for
       evaluating prediction models", Medical Decision Making 26 (2006) 565-574.
    .. [2] R. M. Pfeiffer, M. H. Gail, "Estimating the decision curve and its precision
       from three study designs", Biometrical Journal 62 (2020) 764-776.
    .. [3] A. J. Vickers, B. Van Calster, L. Wynants, E. W. Steyerberg, "Decision curve
       analysis: confidence intervals and hypothesis testing for net benefit",
       Diagnostic and Prognostic Research 7 (2023) 11.

    Examples
    --------
    >>> from fastcmp import decision_curve
    >>> y_true = [0, 1, 1, 0, 1, 0]
    >>> risks = {"a": [0.3, 0.9, 0.6, 0.1, 0.7, 0.2], "b": [0.6, 0.4, 0.8, 0.3, 0.2, 0.1]}
    >>> curve = decision_curve(y_true, risks, thresholds=[0.25, 0.5], rng=1)
    >>> curve.net_benefit[:2].round(3).tolist()
    [[0.444, 0.5], [0.222, 0.0]]
    >>> curve.difference.round(3).tolist()
    [[0.222, 0.5]]
    """
    at = _read_thresholds(thresholds)
    level, seed = as_proportion(confidence_level, "confidence_level"), as_seed(rng)
    standardised = as_flag(standardised, "standardised")
    prevalence = None if prevalence is None else as_proportion(prevalence, "prevalence")
    if prevalence_se is not None:
        as_finite(prevalence_se, "prevalence_se", 0.0)
        if prevalence is None:
            raise BadValueError("`prevalence_se=` goes with `prevalence=`: pass both")
    read, truth = read_risks(y_true, probabilities, positive, names)
    all_names = (*read.names, *STRATEGIES)
    compared, m = _choose(all_names, pairs, control), len(all_names)
    n_draws = _MOST_DRAWS if len(compared) * at.size <= _JOINT else _FEWEST_DRAWS
    n_draws = max(n_draws, int(np.ceil(50.0 / (1.0 - level))))
    if n_resamples is not None:
        n_draws = read_draws(as_resamples(n_resamples), m, level).first
    belongs = read_item_groups(
        truth.size, groups=groups, weights=weights, indexed=("y_true", y_true)
    )
    weight = np.ones(truth.size) if belongs.weights is None else belongs.weights
    keep, tables = weight > 0.0, read.tables
    with ThreadPool(check_workers(workers)) as pool:
        reach = dict(pool.answers(lambda k: reached(tables[k][keep], at), range(m - 2)))
    rows = [reach[k] for k in range(m - 2)]
    rows += [np.full_like(rows[0], at.size), np.zeros_like(rows[0])]
    units = np.arange(np.count_nonzero(keep))
    if belongs.clusters is not None:
        units = np.unique(belongs.clusters.codes[keep], return_inverse=True)[1]
    n_units, positives = int(units.max(initial=-1)) + 1, truth[keep].astype(np.int16)
    items = _Items(np.stack(rows), positives, weight[keep], at, units, n_units)
    n, n_positives = items.truth.size, int(items.truth.sum())
    if items.n_units < 2:
        raise BadValueError("`y_true` must hold at least 2 items", n)
    if prevalence is not None and min(n_positives, n - n_positives) < 2:
        raise BadValueError(
            "`prevalence=` needs at least 2 items of each class in `y_true`",
            f"{n_positives} positives and {n - n_positives} negatives",
        )
    scale = _Scale.of(items, prevalence, standardised=standardised)
    plain = _Scale.of(items, prevalence, standardised=False)
    every = np.arange(m)
    several = [(scale, compared)]
    several += [(scale, np.stack([every, np.full(m, m - 1)], axis=1))]  # less nothing
    several += [(plain, np.stack([every, np.full(m, m - 2)], axis=1))]  # less treating all
    several += [(scale, np.stack(np.triu_indices(m, 1), axis=1))] if at.size == 1 else []
    error_of = None if prevalence is None else float(prevalence_se or 0.0)
    variances = [_variances(items, on_scale, of_pairs, error_of) for on_scale, of_pairs in several]
    (variance, df, discordant), (alone, alone_df, _), (spared, spared_df, _), *of_all_pairs = (
        variances
    )
    error = np.sqrt(variance)
    with ThreadPool(check_workers(workers)) as pool:
        critical = _critical_value(
            *(items, scale, compared, error, error_of or 0.0, level, n_draws, seed, pool)
        )
    difference = scale.values[compared[:, 0]] - scale.values[compared[:, 1]]
    difference[(discordant == 0) & np.isfinite(difference)] = 0.0  # but for rounding of weights
    same = (difference == 0.0) & (error == 0.0)
    error = np.where(same | (error > 0.0), error, np.nan)  # without variance no test
    statistic = np.divide(difference, error, out=np.zeros_like(error), where=~same)
    quantile = np.asarray(t_ppf(0.5 + 0.5 * level, df))
    avoided = (plain.values - plain.values[-2]) * (1.0 - at) / at
    spared = np.sqrt(spared) * (1.0 - at) / at * t_ppf(0.5 + 0.5 * level, spared_df)
    covariance, covariance_df = None, None
    if of_all_pairs:
        i, j = several[-1][1].T
        covariance, covariance_df = np.diag(alone[:, 0]), np.diag(alone_df[:, 0])
        common = 0.5 * (alone[i, 0] + alone[j, 0] - of_all_pairs[0][0][:, 0])
        common[(alone[i, 0] == 0.0) | (alone[j, 0] == 0.0)] = 0.0
        covariance[i, j] = covariance[j, i] = common
        covariance_df[i, j] = covariance_df[j, i] = of_all_pairs[0][1][:, 0]
    return DecisionCurve(
        statistic=statistic,
        pvalue=np.asarray(t_tail(statistic, "two-sided", df)),
        df=df,
        names=all_names,
        thresholds=at,
        net_benefit=scale.values,
        standard_error=np.sqrt(alone),
        net_benefit_interval=_around(
            scale.values, np.sqrt(alone) * t_ppf(0.5 + 0.5 * level, alone_df)
        ),
        interventions_avoided=avoided,
        interventions_avoided_interval=_around(avoided, spared),
        pairs=compared,
        difference=difference,
        difference_standard_error=error,
        interval=_around(difference, quantile * error),
        band=_around(difference, np.maximum(quantile, critical) * error),
        critical_value=critical,
        n_discordant=discordant,
        prevalence=prevalence,
        prevalence_se=error_of,
        standardised=standardised,
        n_items=n,
        n_positives=n_positives,
        n_clusters=None if belongs.clusters is None else items.n_units,
        confidence_level=level,
        n_resamples=n_draws,
        seed=seed,
        covariance=covariance,
        covariance_df=covariance_df,
        cautions=_cautions(discordant, statistic, scale.values, n_positives),
    )


def _read_thresholds(raw: object) -> Floats:
    """Different thresholds in ascending order, shape (T,)."""
    if raw is None:
        return np.arange(1, 100) / 100.0
    at = np.atleast_1d(as_numbers(raw, "thresholds", "numbers in (0, 1)")).astype(np.float64)
    if at.ndim != 1 or not at.size or not ((at > 0.0) & (at < 1.0)).all():
        raise BadValueError(
            "`thresholds` must be one or more numbers in (0, 1)",
            f"{raw!r}: at 0 all are treated, and at 1 nobody is, whatever the model",
        )
    if at.size > np.iinfo(np.int16).max:
        raise BadValueError("`thresholds` must be at most 32,767", at.size)
    return np.unique(at)


def _choose(names: tuple[str, ...], pairs: Any, control: Any) -> NDArray[np.int32]:
    """The pairs to compare, of models and strategies, shape (P, 2)."""
    m = len(names) - 2
    if pairs is None and control is None:
        if m == 1:
            return np.array([[0, 1], [0, 2]], np.int32)
        return np.stack(np.triu_indices(m, 1), axis=1).astype(np.int32)
    indices = choose_pairs(names, pairs, control)
    assert indices is not None
    if pairs is None and indices[0, 0] >= m:  # models less the strategy
        indices = indices[indices[:, 1] < m, ::-1]
    return np.ascontiguousarray(indices, np.int32)


def _variances(
    items: _Items, scale: _Scale, pairs: NDArray[Any], error_of: float | None
) -> tuple[Floats, Floats, Ints]:
    """Variances of differences, their degrees of freedom, and discordant items, (P, T).

    `error_of` is the standard error of a prevalence that is given.
    """
    pairs, count, n = np.ascontiguousarray(pairs, np.int32), items.thresholds.size, items.n_units
    (i, j), clusters = pairs.T, items.truth.size > n
    check_memory(
        *(64.0 * len(pairs) * count, None, f"{len(pairs)} pairs at {count} thresholds"),
        "compare fewer `pairs=` at fewer `thresholds=`",
    )

    alone = [(m, m) for m in range(len(items.passed))]

    def sums(weights: object) -> tuple[Floats, Floats]:
        """Weights of all that each model treats, and that only one of each pair does."""
        treated = items.both(weights, alone)
        return treated, treated[:, i] + treated[:, j] - 2.0 * items.both(weights, pairs.tolist())

    treated, counted = sums(None)
    df = np.full(counted.shape[1:], n - 1.0)
    if clusters:
        variance = np.empty_like(df)
        for block in parts(count, max(1, (1 << 24) // (len(items.passed) * n))):
            few = np.clip(items.passed - block.start, 0, block.stop - block.start)
            part = items._replace(thresholds=items.thresholds[block], passed=few)
            part_scale = _Scale(*(x[..., block] for x in scale))
            rows = {m: part_scale.influences(part, m) for m in np.unique(pairs).tolist()}
            for p, (a, b) in enumerate(pairs.tolist()):
                variance[p, block] = np.square(rows[a] - rows[b]).sum(axis=1)
        variance *= n / (n - 1.0)
    else:
        weights = np.square(items.weights)
        linear, squares = (treated, counted) if (weights == 1.0).all() else sums(weights)
        total = np.bincount(items.truth, weights, 2)
        level, linear = (x[:, i] - x[:, j] for x in (scale.level, linear))
        by_class = scale.worth**2 * squares - 2.0 * scale.worth * level * linear
        by_class += level**2 * total[:, np.newaxis, np.newaxis]
        rounding = _ZERO * (scale.worth**2 * squares).sum(axis=0)
        size = np.full((2, 1, 1), float(n))
        if error_of is not None:
            size[:, 0, 0] = np.bincount(items.truth, minlength=2)
        by_class *= size / (size - 1.0)
        variance = by_class.sum(axis=0)
        variance[(variance <= rounding) | ~counted.any(axis=0)] = 0.0
    if error_of is not None:
        variance = variance + np.square((scale.slope[i] - scale.slope[j]) * error_of)
        if not clusters:  # Satterthwaite's
            divisor = (np.square(by_class) / (size - 1.0)).sum(axis=0)
            df = np.where((variance > 0.0) & (divisor == 0.0), np.inf, df)
            df = np.divide(np.square(variance), divisor, out=df, where=divisor > 0.0)
    return variance, df, counted.sum(axis=0).round().astype(np.int64)


def _critical_value(
    items: _Items,
    scale: _Scale,
    pairs: Pairs,
    error: Floats,
    error_of: float,
    level: float,
    n_draws: int,
    seed: int,
    pool: ThreadPool,
) -> float:
    """The value below which the largest standardised difference is, with this probability."""
    tested, rng = error > 0.0, np.random.default_rng(seed)
    if np.count_nonzero(tested) < 2:
        return float(t_ppf(0.5 + 0.5 * level, None))
    if items.n_units > _UNITS:
        blocks = rng.permutation(items.n_units) % _UNITS
        items = items._replace(units=blocks[items.units], n_units=_UNITS)
    models = np.unique(pairs)
    i, j = np.searchsorted(models, pairs).T
    check_memory(
        *(12.0 * models.size * items.thresholds.size * items.n_units, None, "influences of units"),
        "compare fewer models at fewer `thresholds=`",
    )
    influences = dict(pool.answers(lambda m: scale.influences(items, m), models.tolist()))
    rows = np.stack([influences[m] for m in models.tolist()])
    rows = np.concatenate([rows, scale.slope[models][:, :, np.newaxis] * error_of], axis=2)
    if error.size <= _JOINT:
        difference = (rows[i] - rows[j])[tested]
        difference /= np.linalg.norm(difference, axis=1, keepdims=True)
        correlation = difference @ difference.T
        if len(difference) <= LATTICE:
            drawn = directions(correlation, n_draws, seed, pool)
            largest = np.abs(drawn.values).max(axis=0)
            return float(Maxima(drawn, pool).quantiles(largest[np.newaxis], level)[0])
        root = np.linalg.cholesky(correlation + _RIDGE * np.eye(len(correlation)))
        drawn_of = root @ rng.standard_normal((len(root), n_draws))
        return float(order_statistics(np.abs(drawn_of).max(axis=0), level))
    products = np.matmul(rows.transpose(1, 0, 2), rows.transpose(1, 2, 0))  # (T, R, R)
    alone = np.diagonal(products, axis1=1, axis2=2)
    squares = alone[:, i] + alone[:, j] - 2.0 * products[:, i, j]
    inverse = tested.T / np.sqrt(np.where(tested.T & (squares > 0.0), squares, 1.0))
    inverse = inverse[:, :, np.newaxis].astype(np.float32)
    flat, maxima = rows.reshape(-1, rows.shape[2]).astype(np.float32), np.zeros(n_draws)
    for block in parts(n_draws, 256):
        normals = rng.standard_normal((block.stop - block.start, flat.shape[1]), np.float32)
        values = (flat @ normals.T).reshape(*rows.shape[:2], -1)

        def look(k: int, values: NDArray[np.float32] = values) -> Any:
            standardized = values[i, k]
            standardized -= values[j, k]
            standardized *= inverse[k]
            return np.maximum(standardized.max(axis=0), -standardized.min(axis=0))

        for _, largest in pool.answers(look, range(items.thresholds.size)):
            maxima[block] = np.maximum(maxima[block], largest)
    return float(order_statistics(maxima, level))


def _around(values: Floats, half: Floats) -> Floats:
    """Intervals, shape (..., 2)."""
    return np.stack([values - half, values + half], axis=-1)


def _cautions(
    discordant: Ints, statistic: Floats, values: Floats, n_positives: int
) -> tuple[str, ...]:
    """What makes the answer doubtful."""
    cautions, few = [], (discordant > 0) & (discordant < _FEW)
    if not np.isfinite(values).all():
        return ("No item is positive: there is no standardised net benefit.",)
    if alike := np.count_nonzero(~discordant.any(axis=1)):
        cautions.append(
            f"{alike} of {len(discordant)} pairs decide alike on all items: there is no "
            "difference to test, and p is 1."
        )
    if not n_positives:
        cautions.append("No item is positive: net benefits show losses alone.")
    if np.isnan(statistic).any():
        cautions.append(
            f"{np.count_nonzero(np.isnan(statistic))} differences are the same for all items: "
            "there is no variance to test them by."
        )
    if few.any():
        cautions.append(
            f"{np.count_nonzero(few)} of {few.size} differences come from fewer than {_FEW} items "
            "with unlike decisions: t is not sure there. compare_means(net_benefit_values(...), "
            "method='permutation') is exact."
        )
    return tuple(cautions)
