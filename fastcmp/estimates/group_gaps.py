"""Gaps of rates between groups of items, such as selection and true positive rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_proportion, check_size, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_ppf, t_tail
from fastcmp.core.records import Record, keep_intervals
from fastcmp.core.sections import Section, beware, format_pvalue, interval_name, table_of, written
from fastcmp.core.sentences import Sentence, dropped_sentences, how
from fastcmp.core.typing import ColumnLike, Flags, Floats, Ints, Label, ModelsLike, Pairs
from fastcmp.counts.pairs import all_pairs
from fastcmp.inputs.binary_labels import Truth, read_labels, read_truth
from fastcmp.inputs.item_groups import Grouping, read_grouping
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns, read_names
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, adjusted_by, promise
from fastcmp.pairwise.model_estimates import RowDistances, listed

_FEW = 10  # items of a rate for a normal limit
#: A rate -> of which items, by the truth (None: all; "+": those predicted positive), and
#: what is counted among them.
RATES: dict[str, tuple[Any, str]] = {
    "selection": (None, "positive"),
    "tpr": (True, "positive"),
    "fpr": (False, "positive"),
    "tnr": (False, "negative"),
    "fnr": (True, "negative"),
    "accuracy": (None, "right"),
    "error": (None, "wrong"),
    "ppv": ("+", "right"),
    "npv": ("-", "right"),
}
_BOTH = "equalised-odds"
_LACKING = {True: "positive", False: "negative", "+": "predicted positive", None: "item"}
_LACKING["-"] = "predicted negative"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GroupGaps(Record):
    """Rates of M models in G groups, and how far apart they are.

    R rates, Q pairs of groups, P pairs of models. A gap is the rate of the first group
    minus that of the second; arrays of gaps have the M models first, and then the P pairs of
    models: the gap of the first minus that of the second.
    """

    rate: tuple[str, ...]
    names: tuple[str, ...]
    groups: tuple[Any, ...]
    #: Items that a rate is of, shape (R, M, G), and the rates; NaN of none.
    n: Ints
    rates: Floats
    #: Indices of the two groups of each pair, shape (Q, 2), and of the two models, (P, 2).
    group_pairs: Pairs
    model_pairs: Pairs
    #: Shape (R, M + P, Q), by Welch's t; intervals (R, M + P, Q, 2).
    gap: Floats
    standard_error: Floats
    df: Floats
    pvalue: Floats
    pvalue_adjusted: Floats
    interval: Floats
    #: The largest gap of a model, of any rate and pair of groups, shape (M,): as it is
    #: seen, its two-sided interval, (M, 2), and its one-sided upper bound.
    max_gap: Floats
    max_gap_interval: Floats
    max_gap_upper: Floats
    #: Standard errors that limits of the interval of the largest gap reach.
    critical_value: float
    adjust: str
    alpha: float
    n_items: int
    n_clusters: int | None = None
    n_missing: int = 0
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval", "max_gap_interval")

    @property
    def models(self) -> tuple[str, ...]:
        """The models, and the pairs of models, that gaps are of, M + P."""
        both = [f"{self.names[i]} - {self.names[j]}" for i, j in self.model_pairs.tolist()]
        return (*self.names, *both)

    def columns(self) -> dict[str, Any]:
        """The gaps as columns, a row a rate, model or pair of models, and pair of groups.

        Returns
        -------
        dict of str to sequence
            Rate, model, both groups, gap, interval and p-values.
        """
        r, m, q = self.gap.shape
        ends = np.asarray(self.interval)
        return {
            "rate": np.repeat(self.rate, m * q).tolist(),
            "model": np.repeat(self.models, q).tolist() * r,
            "group_a": [self.groups[g] for g in self.group_pairs[:, 0]] * (r * m),
            "group_b": [self.groups[g] for g in self.group_pairs[:, 1]] * (r * m),
            "gap": self.gap.ravel(),
            "standard_error": self.standard_error.ravel(),
            "df": self.df.ravel(),
            "low": ends[..., 0].ravel(),
            "high": ends[..., 1].ravel(),
            "pvalue": self.pvalue.ravel(),
            "pvalue_adjusted": self.pvalue_adjusted.ravel(),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Rates of the groups, the largest gap of each model, gaps, and their differences.
        """
        where = f" in {self.n_clusters} clusters" if self.n_clusters is not None else ""
        m, level = len(self.names), interval_name(1.0 - self.alpha)
        pvalues, rule = self.pvalue_adjusted, promise(self.adjust, self.alpha)
        how_adjusted = adjusted_by(self.adjust, f"for {pvalues.size} differences")
        text = (
            how(
                f"{self.n_items} items{where} in {len(self.groups)} groups; "
                f"{'one model' if m == 1 else f'{m} models'}; {', '.join(self.rate)}."
            ),
            Sentence(
                f"Gaps and their differences that are not 0, at {self.alpha:g}: "
                f"{np.count_nonzero(pvalues <= self.alpha)} of {pvalues.size}; p-values "
                f"{how_adjusted}: {rule}.",
                how=f"P-values {how_adjusted}: {rule}.",
            ),
            *dropped_sentences(self.n_missing, 0),
        )
        note = how(
            "The largest of all rates and pairs of groups looks larger than it is. The upper bound "
            f"is one-sided: with {100 * (1 - self.alpha):g}% confidence no gap is above it."
        )
        places = [(k, g) for k in range(len(self.rate)) for g in range(len(self.groups))]
        rates = {
            "rate": [self.rate[k] for k, _ in places],
            "group": [str(self.groups[g]) for _, g in places],
        }
        for i, name in enumerate(self.names):
            rates[name] = written([self.rates[k, i, g] for k, g in places], ".4g")
        most = {
            "model": list(self.names),
            "as seen": written(self.max_gap, ".4g"),
            level: written(self.max_gap_interval, ".4g"),
            "upper bound": written(self.max_gap_upper, ".4g"),
        }
        columns = self.columns()
        gaps = {
            "model": columns["model"],
            "rate": columns["rate"],
            "groups": [
                f"{a} - {b}" for a, b in zip(columns["group_a"], columns["group_b"], strict=True)
            ],
            "gap": written(columns["gap"], "+.4g"),
            level: written(np.asarray(self.interval).reshape(-1, 2), "+.4g"),
            "p": list(map(format_pvalue, columns["pvalue"])),
            "adjusted p": list(map(format_pvalue, columns["pvalue_adjusted"])),
        }
        return [
            Section(title="How far apart are groups?", text=text),
            *beware(self),
            table_of("Rates", rates),
            table_of("Largest gap", most, notes=(note,)),
            table_of("Gaps, and differences in gaps" if m > 1 else "Gaps", gaps),
        ]


def group_gaps(
    y_true: ColumnLike,
    preds: ModelsLike,
    group: ColumnLike,
    *,
    rate: str | Sequence[str] = "selection",
    positive: Label = None,
    groups: ColumnLike | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    names: Sequence[str] | None = None,
) -> GroupGaps:
    """Compare rates between groups of items, and gaps between models.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of two classes. Items with a missing one are dropped and counted.
    preds : array-like of shape (n,) or (M, n), mapping or frame
        Predicted labels of one model, or of M models.
    group : array-like, shape (n,)
        The group of each item, such as the sex or the age band of a person.
    rate : str or sequence of str
        "selection" (predicted positive), "tpr", "fpr", "tnr", "fnr", "accuracy", "error",
        "ppv" or "npv"; several, or "equalised-odds" for both "tpr" and "fpr".
    positive : label, optional
        The positive class; of numbers the larger one where not given.
    groups : array-like, shape (n,), optional
        Cluster of each item, such as its person: items of a cluster are not independent.
    adjust : str
        Adjustment for all gaps and differences in gaps together, as in `adjust`.
    alpha : float
        Error rate of the decisions. Intervals have the level 1 - alpha.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.

    Returns
    -------
    GroupGaps
        Rates, gaps of all pairs of groups, the largest gap with its bounds, and
        differences in gaps of all pairs of models.

    Raises
    ------
    ValueError
        If there are fewer than two groups, lengths differ, predictions are missing, or a
        rate is unknown.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    A gap is tested by Welch's t, with clusters by their sums; so is a difference in gaps,
    which is the gap of the differences item by item. The largest gap is biased upward: five
    equal groups of 50 show one of 0.15. Its interval is the projection of limits of all gaps
    that hold at once (Bonferroni), not clipped to 1; its upper bound the largest of the
    one-sided bounds, which needs no adjustment. A group in which a rate has no item has
    none, and no model a largest gap.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of Student's problem when several different
       population variances are involved", Biometrika 34 (1947) 28-35.
    .. [2] M. Hardt, E. Price, N. Srebro, "Equality of opportunity in supervised learning",
       NeurIPS (2016).

    Examples
    --------
    >>> from fastcmp import group_gaps
    >>> truth = [1, 1, 1, 0, 1, 1, 0, 0]
    >>> result = group_gaps(truth, [1, 1, 0, 0, 1, 0, 1, 0], list("xxxxyyyy"), rate="tpr")
    >>> result.rates.round(3).tolist(), result.gap.round(3).tolist()
    ([[[0.667, 0.5]]], [[[0.167]]])
    """
    raw_names = [rate] if isinstance(rate, str) or not isinstance(rate, Sequence) else list(rate)
    checked = [choose(x, "rate", (*RATES, _BOTH)) for x in raw_names]
    rate_names = [name for x in checked for name in (("tpr", "fpr") if x == _BOTH else (x,))]
    if not rate_names or len(set(rate_names)) < len(rate_names):
        raise BadValueError("`rate` must name different rates, at least one", repr(rate))
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    alpha = as_proportion(alpha, "alpha")
    beside = {"y_true": y_true, "group": group, "groups": groups}
    check_indexes([(name, column) for name, column in beside.items() if column is not None])
    truth = read_truth(y_true, positive)
    model_names, predicted = _predictions(preds, names, truth)
    n, m = truth.kept.size, len(model_names)
    grouping = read_grouping(group, "group", n, truth.kept)
    clusters = read_grouping(groups, "groups", n, truth.kept)
    if grouping is None or len(grouping.labels) < 2:
        raise BadValueError("`group` must hold at least two groups", f"{group!r:.60}")
    n_groups = len(grouping.labels)
    if n_groups > max(10, n // 2):
        raise BadValueError(f"`group` has {n_groups} labels for {n} items: bin numbers first")
    if clusters is not None and len(clusters.labels) < 2:
        raise BadValueError("`groups` must hold at least 2 clusters", "1: it has no variance")
    pairs, between, r = all_pairs(m), all_pairs(n_groups), len(rate_names)
    counts, units = np.zeros((2, r, m, n_groups), np.int64)
    rates = np.full((r, m, n_groups), np.nan)
    gaps, errors, df, still = np.full((4, r, m + len(pairs), len(between)), np.nan)
    for k, name in enumerate(rate_names):
        parts = [
            _rate_in(name, truth.positive, predicted, grouping.codes == g, clusters, pairs)
            for g in range(n_groups)
        ]
        for g, part in enumerate(parts):
            counts[k, :, g], rates[k, :, g], units[k, :, g] = part.n, part.rate[:m], part.units[:m]
        for q, (one, two) in enumerate((parts[g], parts[h]) for g, h in between.tolist()):
            gaps[k, :, q], v, w = one.rate - two.rate, one.variance, two.variance
            both, still[k, :, q] = v + w, np.where((v > 0.0) & (w > 0.0), 0.0, np.nan)
            if clusters is not None:  # of which some may have items of both groups
                both = _variances(one.rows - two.rows, pairs)
            with np.errstate(divide="ignore", invalid="ignore"):
                below = v**2 / (one.units - 1.0) + w**2 / (two.units - 1.0)
                errors[k, :, q], df[k, :, q] = np.sqrt(both), (v + w) ** 2 / below
    positive_errors = np.where(errors > 0.0, errors, np.nan)
    pvalue = np.asarray(t_tail(gaps / positive_errors, "two-sided", df))
    # Of a rate of 0 or 1 it is not known how far it is off.
    pvalue = np.where(gaps == 0.0, np.where(errors == 0.0, 1.0, pvalue), pvalue + 0.0 * still)
    half = -t_ppf(alpha / 2.0, df) * positive_errors
    # The largest gap: limits of all gaps at once, and one-sided ones of each.
    size, spread = (np.moveaxis(x[:, :m], 1, 0).reshape(m, -1) for x in (gaps, positive_errors))
    critical = float(-t_ppf(alpha / (2.0 * size.shape[1]), None))
    low, high = size - critical * spread, size + critical * spread
    least = np.maximum(0.0, np.maximum(low, -high).max(axis=1))
    return GroupGaps(
        rate=tuple(rate_names),
        names=model_names,
        groups=grouping.labels,
        n=counts,
        rates=rates,
        group_pairs=between,
        model_pairs=pairs,
        gap=gaps,
        standard_error=errors,
        df=df,
        pvalue=pvalue,
        pvalue_adjusted=adjust_checked(pvalue.ravel(), adjust).reshape(pvalue.shape),
        interval=np.stack([gaps - half, gaps + half], axis=-1),
        max_gap=np.abs(size).max(axis=1),
        max_gap_interval=np.stack([least, np.maximum(-low, high).max(axis=1)], axis=1),
        max_gap_upper=(np.abs(size) - t_ppf(alpha, None) * spread).max(axis=1),
        critical_value=critical,
        adjust=adjust,
        alpha=alpha,
        n_items=int(truth.positive.size),
        n_clusters=None if clusters is None else len(clusters.labels),
        n_missing=truth.n_missing,
        cautions=_cautions(rate_names, model_names, grouping.labels, counts, units, rates),
    )


def _predictions(raw: Any, names: object, truth: Truth) -> tuple[tuple[str, ...], Flags]:
    """Names of the models, and which items each predicts to be positive, (M, n)."""
    if not has_names(raw) and (hasattr(raw, "iloc") or np.ndim(raw) == 1):
        named = [("model", raw)]
    else:
        named = named_columns(raw, "preds")
    check_size(len(named), "preds", "model", 1)
    flags = [
        read_labels(column, "preds" if len(named) == 1 else f"preds[{name!r}]", truth)
        for name, column in named
    ]
    return read_names(names, len(named), [name for name, _ in named]), np.stack(flags)


class _GroupRate(NamedTuple):
    """One rate in one group: of the models, and then the differences of pairs of these."""

    n: Ints
    #: Items or clusters, of a pair the fewer, shape (M + P,).
    units: Ints
    rate: Floats
    variance: Floats
    #: Influences of items, shape (M, n), or sums of clusters, (M, G), scaled up.
    rows: Floats


def _rate_in(
    name: str,
    positive: Flags,
    predicted: Flags,
    inside: Flags,
    clusters: Grouping | None,
    pairs: Pairs,
) -> _GroupRate:
    """One rate among some items."""
    of, counted = RATES[name]
    selected, truth = predicted[:, inside], positive[inside]
    among = np.ones(selected.shape, bool)
    if isinstance(of, bool):
        among &= truth == of
    elif of is not None:
        among = selected if of == "+" else ~selected
    right = selected == truth
    events = {"positive": selected, "negative": ~selected, "right": right, "wrong": ~right}[counted]
    n = np.count_nonzero(among, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.count_nonzero(among & events, axis=1) / n
        rows, units = np.where(among, events - rate[:, None], 0.0) / n[:, None], n
        if clusters is not None:
            codes, g = clusters.codes[inside], len(clusters.labels)
            rows = np.stack([np.bincount(codes, row, g) for row in rows])
            units = np.array([np.unique(codes[mask]).size for mask in among])
        rows = rows * np.sqrt(units / (units - 1.0))[:, None]
    rows[units < 2] = np.nan
    i, j = pairs.T
    fewer = np.concatenate([units, np.minimum(units[i], units[j])])
    rate = np.concatenate([rate, rate[i] - rate[j]])
    return _GroupRate(n, fewer, rate, _variances(rows, pairs), rows)


def _variances(rows: Floats, pairs: Pairs) -> Floats:
    """Squared lengths of rows, and of the differences of pairs, shape (M + P,)."""
    is_finite: Any = np.isfinite(rows).all(axis=1)
    squares = RowDistances(np.where(is_finite[:, None], rows, 0.0), 1e-28, all_pairs=True)(pairs)
    squares = np.where(is_finite[pairs].all(axis=1), squares, np.nan)
    return np.concatenate([np.einsum("ij,ij->i", rows, rows), squares])


def _cautions(
    rate_names: list[str],
    names: tuple[str, ...],
    labels: tuple[Any, ...],
    counts: Ints,
    units: Ints,
    rates: Floats,
) -> tuple[str, ...]:
    """What makes the answers doubtful, in sentences."""
    cautions = []
    for k, name in enumerate(rate_names):
        of = RATES[name][0]
        for g, label in enumerate(labels):
            none = [x for x, count in zip(names, counts[k, :, g], strict=True) if not count]
            if none:
                whose = f" by {listed(none)}" if isinstance(of, str) else ""
                cautions.append(
                    f"UNDEFINED: group {label} has no {_LACKING[of]}{whose}: no {name}."
                )
    one = [str(x) for g, x in enumerate(labels) if np.any(units[:, :, g] == 1)]
    if one:
        cautions.append(f"Of one item or cluster no variance is known: {listed(one)}.")
    small = [str(x) for g, x in enumerate(labels) if np.any(counts[:, :, g] < _FEW)]
    if small:
        cautions.append(
            f"Fewer than {_FEW} items of a rate, so that limits are rough: {listed(small)}."
        )
    edge = ((rates == 0.0) | (rates == 1.0)) & (counts > 0)
    ends = [str(x) for g, x in enumerate(labels) if edge[:, :, g].any()]
    if ends:
        cautions.append(
            "A rate of 0 or 1 has no observed variance: its gaps have no p-value, and limits are "
            f"too narrow: {listed(ends)}."
        )
    return tuple(cautions)
