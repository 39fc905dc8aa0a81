"""Models by several criteria, such as quality and cost: which are dominated, and which are not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import Draws, as_numbers, as_proportion, as_resamples, as_seed, choose
from fastcmp.core.errors import ArgumentError, BadTypeError, BadValueError
from fastcmp.core.numbers import t_ppf, t_tail, times
from fastcmp.core.records import Drawn, Record
from fastcmp.core.sections import Section, beware, format_pvalue, interval_name, table_of, written
from fastcmp.core.sentences import Sentence, how
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Flags, Floats, ModelsLike, Pairs, Seed
from fastcmp.counts.pairs import all_pairs
from fastcmp.inputs.model_names import read_names
from fastcmp.items.best_models import read_means
from fastcmp.pairwise.adjust import ADJUSTMENTS, FAMILYWISE, adjust_checked, adjusted_by, promise
from fastcmp.pairwise.joint_draws import normal_joint, standardize
from fastcmp.pairwise.max_t import critical_value
from fastcmp.pairwise.model_estimates import Estimates, estimates_of, listed, some_of

LIMITS = ("maxt", "bonferroni")


class ExactValues(NamedTuple):
    """Numbers of models that are known without error, such as prices."""

    #: Shape (M,).
    values: Floats
    names: tuple[str, ...] | None


def exact(values: ModelsLike) -> ExactValues:
    """Mark numbers of models as known without error, for `pareto_set`.

    Parameters
    ----------
    values : array-like, shape (M,), or mapping
        A number for each model, such as its price, or a mapping from models to numbers.

    Returns
    -------
    ExactValues
        The numbers, marked as exact.

    Raises
    ------
    ValueError
        If there are fewer than two numbers, or one is not finite.
    TypeError
        If they are no numbers.

    Examples
    --------
    >>> from fastcmp import exact
    >>> exact({"small": 0.15, "large": 2.5}).names
    ('small', 'large')
    """
    names = None
    if isinstance(values, Mapping):
        names, values = tuple(map(str, values)), list(values.values())
    numbers = as_numbers(values, "values").astype(np.float64)
    if numbers.ndim == 1 and not np.isfinite(numbers).all():
        k = int(np.isfinite(numbers).argmin())
        of = f"model {k}" if names is None else names[k]
        raise BadValueError("`values` must be finite", f"{numbers[k]} for {of}")
    if numbers.ndim != 1 or numbers.size < 2:
        raise BadValueError(
            "`values` must hold a number for each of at least 2 models",
            f"shape {numbers.shape}: values of items go to pareto_set as they are",
        )
    return ExactValues(numbers, names)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ParetoSet(Drawn, Record):
    """Models by several criteria: which are shown to be dominated, and which are not.

    C criteria, M models, P = M (M - 1) ordered pairs: the first of a pair may dominate the
    second. Advantages are those of the first, above 0 where it is better.
    """

    _picture = "pareto"
    _cites = ("berger",)

    criteria: tuple[str, ...]
    names: tuple[str, ...]
    #: Of each criterion: whether less is better, whether it has no error, and the
    #: largest difference that does not matter (0 in strict dominance).
    lower_is_better: tuple[bool, ...]
    is_exact: tuple[bool, ...]
    margin: tuple[float, ...]
    #: Shape (C, M), and the interval of each alone, (C, M, 2).
    estimate: Floats
    interval: Floats
    #: Ordered pairs, shape (P, 2); p-values of dominance, alone and adjusted, shape (P,).
    pairs: Pairs
    pvalue: Floats
    pvalue_adjusted: Floats
    #: Pairs that no exact criterion refutes: those that were adjusted for, shape (P,).
    is_open: Flags
    #: By criterion, shape (C, P).
    advantage: Floats
    standard_error: Floats
    #: One-sided: better; not worse by the margin; better by more than the margin, (C, P).
    pvalue_better: Floats
    pvalue_not_worse: Floats
    pvalue_better_by_margin: Floats
    #: Whether the first of a pair is shown to dominate the second, shape (P,).
    dominates: Flags
    #: Models not shown to be dominated: they hold the true front.
    not_dominated: tuple[str, ...]
    #: By simultaneous limits: surely on the front, and not shown to be off it.
    inner: tuple[str, ...]
    outer: tuple[str, ...]
    #: Models that no other dominates by the estimates as they are.
    observed_front: tuple[str, ...]
    #: Models that are shown to dominate each other in a circle.
    cycles: tuple[tuple[str, ...], ...]
    #: "strict" or "practical".
    dominance: str
    adjust: str
    alpha: float
    #: "maxt" or "bonferroni", and standard errors that limits reach, shape (C,); of
    #: t of several degrees of freedom the largest, NaN for exact criteria.
    limits: str
    critical_value: Floats
    n_resamples: int | None = None
    seed: int | None = None
    cautions: tuple[str, ...] = ()

    @property
    def dominated_by(self) -> dict[str, tuple[str, ...]]:
        """The models that each dominated one is shown to be dominated by."""
        dominators: dict[str, tuple[str, ...]] = {}
        for i, j in self.pairs[self.dominates].tolist():
            dominators[self.names[j]] = (*dominators.get(self.names[j], ()), self.names[i])
        return dominators

    def columns(self) -> dict[str, Any]:
        """The models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, estimate and interval by each criterion, whether the model is not
            dominated, surely on the front, and on the observed one, and what dominates it.
        """
        columns: dict[str, Any] = {"model": list(self.names)}
        for c, name in enumerate(self.criteria):
            columns[name] = self.estimate[c]
            columns[f"{name}_low"], columns[f"{name}_high"] = self.interval[c].T
        sets = {"not_dominated": self.not_dominated, "inner": self.inner}
        for name, members in (sets | {"observed_front": self.observed_front}).items():
            columns[name] = [model in members for model in self.names]
        by = self.dominated_by
        columns["dominated_by"] = [", ".join(by.get(model, ())) for model in self.names]
        return columns

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The sets, what is promised, and a table of the models.
        """
        n, level = len(self.names), f"{100 * (1 - self.alpha):.9g}%"
        ways = [
            f"{name} ({'lower' if low else 'higher'} is better{', exact' if sure else ''})"
            for name, low, sure in zip(
                self.criteria, self.lower_is_better, self.is_exact, strict=True
            )
        ]
        what = "better by each criterion with error, and worse by no exact one"
        if self.dominance == "practical":
            margins = [f"{k} {x:g}" for k, x in zip(self.criteria, self.margin, strict=True)]
            what = (
                "by no criterion worse by its margin, and by one better by more than it "
                f"(margins: {', '.join(margins)})"
            )
        held = f" With {level} confidence the true front is among them."
        if self.adjust not in FAMILYWISE:
            held = f" Of what is said to be dominated {promise(self.adjust, self.alpha)}."
        n_open = int(np.count_nonzero(self.is_open))
        surely = listed(self.inner) if self.inner else "none"
        text = (
            f"{n} models by {', '.join(ways)}.",
            Sentence(
                f"Not shown to be dominated, {len(self.not_dominated)} of {n}: "
                f"{listed(self.not_dominated)}.{held}",
                how=held.replace("them", "those not shown to be dominated").strip(),
            ),
            f"Surely on the front: {surely}. Observed front: {listed(self.observed_front)}.",
            how(
                f"A model dominates another that is {what}: the largest of the one-sided p-values "
                f"of the criteria, {adjusted_by(self.adjust, f'for {n_open} ordered pairs')}."
            ),
        )
        table = {"model": list(self.names)}
        for c, name in enumerate(self.criteria):
            ends = [""] * n if self.is_exact[c] else written(self.interval[c], ".4g")
            both = zip(written(self.estimate[c], ".4g"), ends, strict=True)
            table[name] = [f"{x} {end}".strip() for x, end in both]
        by = self.dominated_by
        least = np.full(n, np.nan)
        np.fmin.at(least, self.pairs[:, 1], self.pvalue_adjusted)
        table["least adjusted p of being dominated"] = list(map(format_pvalue, least))
        words = {model: f"dominated by {listed(dominators)}" for model, dominators in by.items()}
        words |= dict.fromkeys(self.not_dominated, "not dominated")
        words |= dict.fromkeys(self.inner, "surely on it")
        table["front"] = [words[model] for model in self.names]
        limits = "largest t of all pairs" if self.limits == "maxt" else "Bonferroni"
        notes = (
            how(f"Each {interval_name(1 - self.alpha)} is for that model and criterion alone."),
            f"Surely on the front: by simultaneous limits ({limits}).",
        )
        return [
            Section(title="Which models are worth their cost?", text=text),
            *beware(self),
            table_of("Models", table, notes=notes),
        ]


def pareto_set(
    criteria: Mapping[str, Any],
    *,
    lower_is_better: Mapping[str, bool] | Collection[str] | None = None,
    margins: Mapping[str, float] | None = None,
    groups: ModelsLike | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
    adjust: str = "holm",
    limits: str = "maxt",
    n_resamples: int = 4000,
    rng: Seed = None,
    workers: int | None = None,
) -> ParetoSet:
    """The models that are worth their cost: those that no other dominates.

    Parameters
    ----------
    criteria : mapping
        From names of two or more criteria to what each says of the same M models: values
        of items, shape (M, n), a mapping from models to columns, or a frame; `Estimates`,
        or a record that has them as ``estimates``; or `exact` numbers. Each criterion may
        have items of its own.
    lower_is_better : mapping or collection of str
        From each criterion to True or False; or the names of those of which less is
        better, and of no others.
    margins : mapping, optional
        From criteria to the largest difference that does not matter, in units of the
        criterion, one for each that has an error; an exact one not named has 0. Without
        margins a model dominates another that is better by each criterion with error, and
        worse by no exact one. With them, that is by no criterion worse by its margin, and
        by one better by more than that.
    groups : array-like, shape (n,), or mapping, optional
        Clusters of the items, of all criteria that are values, or by the names of some.
    missing : {"raise", "common", "wrong"}
        What to make of missing values, as in `best_set`.
    names : sequence of str, optional
        Names of the models, in the place of those that the criteria have.
    alpha : float
        Probability, at most, that a model of the true front is said to be dominated.
    adjust : str
        Adjustment for the ordered pairs that no exact criterion refutes, as in `adjust`.
    limits : {"maxt", "bonferroni"}
        How limits of the inner set hold for all pairs at once: by the largest statistic of
        all pairs by one criterion, or by Bonferroni's inequality; of several criteria by
        Bonferroni's.
    n_resamples : int
        Draws of "maxt".
    rng : int, numpy.random.Generator or None
        Where they come from.
    workers : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    ParetoSet
        P-values of dominance, models that are not dominated, those that surely are on
        the front, and the observed front.

    Raises
    ------
    ValueError
        If there are fewer than two criteria or models, a direction or a margin is missing,
        models differ, or an option is unknown.
    TypeError
        If `criteria` is no mapping, or values are no numbers.

    Notes
    -----
    The p-value of dominance is the largest of those of the criteria (intersection-union):
    it needs no adjustment for their number, and no covariance between them. With margins
    it is the larger of that of "not worse by the margin", and of the smallest of "better
    by more than the margin", times the number of criteria with error. With a familywise
    adjustment the true front is a subset of `not_dominated` with probability 1 - alpha;
    by simultaneous limits ``inner`` is one of the front, and this of ``outer``, at once.
    Where ratios count, as of latencies, pass logarithms, and those of 1.1 as a margin of a
    tenth.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling",
       Technometrics 24 (1982) 295-300.

    Examples
    --------
    >>> from fastcmp import correct_values, exact, load_digits, pareto_set
    >>> truth, preds = load_digits()
    >>> some = {name: preds[name] for name in ("svm_rbf", "mlp", "naive_bayes")}
    >>> cost = exact({"svm_rbf": 3.0, "mlp": 1.0, "naive_bayes": 2.0})
    >>> criteria = {"accuracy": correct_values(truth, some), "cost": cost}
    >>> result = pareto_set(criteria, lower_is_better=["cost"])
    >>> result.dominated_by, result.inner
    ({'naive_bayes': ('mlp',)}, ('svm_rbf', 'mlp'))
    """
    if not isinstance(criteria, Mapping):
        raise BadTypeError(
            "`criteria` must be a mapping from names to values, Estimates or exact(...)",
            type(criteria).__name__,
        )
    titles = tuple(map(str, criteria))
    if len(titles) < 2:
        raise BadValueError(
            "`criteria` must be at least two",
            f"{list(titles)}: by one criterion best_set finds the best models",
        )
    lower = _directions(lower_is_better, titles)
    alpha = as_proportion(alpha, "alpha")
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    limits = choose(limits, "limits", LIMITS)
    draws = Draws(as_resamples(n_resamples), as_seed(rng))
    strict = margins is None
    of_items = tuple(
        title
        for title, raw in zip(titles, criteria.values(), strict=True)
        if not isinstance(raw, ExactValues) and estimates_of(raw) is None
    )
    if isinstance(groups, Mapping):
        _some_of(groups, "groups", of_items)
    elif groups is not None and not of_items:
        raise BadValueError("`groups=` are clusters of values of items, and no criterion has such")
    with ThreadPool(check_workers(workers)) as pool:
        sources = [
            _read_criterion(k, criteria[k], groups, missing, pool, less=lower[str(k)])
            for k in criteria
        ]
    models, read = _same_models(sources, titles, names)
    amounts = _margins(margins, titles, read)
    m, is_exact = len(models), np.array([isinstance(source, ExactValues) for source in read])
    random = np.flatnonzero(~is_exact)
    estimate, deviation = np.zeros((2, len(read), m))
    error, df = np.zeros((len(read), m, m)), np.full((len(read), m, m), np.nan)
    for c, source in enumerate(read):
        estimate[c] = source.values
        if isinstance(source, Estimates):
            exponent = source.exponent
            estimate[c], error[c] = (times(x, exponent) for x in (source.values, source.errors()))
            deviation[c] = times(np.sqrt(source.variance), exponent)
            df[c] = source.df if source.pair_df is None else source.pair_df
    half = -t_ppf(alpha / 2.0, np.diagonal(df, axis1=1, axis2=2)) * deviation
    half[is_exact] = 0.0
    first, second = np.nonzero(~np.eye(m, dtype=bool))
    gain = np.array([-1.0 if lower[title] else 1.0 for title in titles])[:, None]
    advantage = gain * (estimate[:, first] - estimate[:, second])
    spread, degrees = error[:, first, second], df[:, first, second]
    margin = np.array([amounts[title] for title in titles])[:, None]

    def above(shift: Floats) -> Floats:
        """P-values of "better by more than `shift`", (C, P); NaN where nothing measures it."""
        gain = advantage - shift
        with np.errstate(divide="ignore", invalid="ignore"):
            pvalues = np.asarray(t_tail(gain / spread, "greater", degrees))
        # Models that are equal on each item: neither is better.
        none = np.where((advantage == 0.0) & (shift >= 0.0), 1.0, np.nan)
        pvalues = np.where(spread > 0.0, pvalues, none)
        return np.where(is_exact[:, None], np.where(gain > 0.0, 0.0, 1.0), pvalues)

    better, not_worse, by_margin = above(0.0 * margin), above(-margin), above(margin)
    not_worse[is_exact] = np.where(advantage >= -margin, 0.0, 1.0)[is_exact]
    refuted = (advantage < -margin)[is_exact].any(axis=0)
    surely = (advantage > margin)[is_exact].any(axis=0)
    if strict and random.size:
        pvalue = _largest(better[random])
    else:
        # The smallest of the criteria, times their number.
        least = np.fmin.reduce(by_margin[random], axis=0, initial=1.0)
        by_any = np.where(surely, 0.0, np.minimum(1.0, random.size * least))
        pvalue = _largest(np.stack([*not_worse, np.where(random.size, by_any, 1.0 - surely)]))
    pvalue = np.where(refuted, 1.0, pvalue)
    adjusted = np.where(refuted, np.nan, pvalue)
    adjusted = np.where(refuted, 1.0, adjust_checked(adjusted, adjust))
    dominates = adjusted <= alpha

    def matrix(flags: object) -> Flags:
        table = np.zeros((m, m), bool)
        table[first, second] = flags
        return table

    off_front, cycles = _without_cycles(matrix(dominates))
    reach = np.full(advantage.shape, np.nan)
    if limits == "bonferroni" and random.size:
        reach = -t_ppf(alpha / (random.size * m * (m - 1.0)), degrees)
    elif random.size:
        with ThreadPool(check_workers(workers)) as pool:
            for c in random.tolist():
                level, i_j = 1.0 - alpha / random.size, all_pairs(m)
                squares = (error[c] / (error[c].max() or 1.0)) ** 2
                joint = normal_joint(squares, draws, float(degrees[c].min()), pool)
                _, inverse = standardize(np.zeros(len(i_j)), squares[tuple(i_j.T)])
                reach[c] = critical_value(joint, i_j, inverse, level, pool)
    low = advantage - np.where(spread > 0.0, reach * spread, np.inf)
    low[is_exact] = advantage[is_exact]
    by_limits = np.where(is_exact[:, None], low >= -margin, low > -margin).all(axis=0)
    by_limits &= (low > margin).any(axis=0)
    # The second cannot dominate the first: it is worse by one criterion, or better by none.
    cannot = (low > margin).any(axis=0) | (-low <= margin).all(axis=0)
    seen = (advantage >= 0.0).all(axis=0) & (advantage > 0.0).any(axis=0)

    def named(flags: Any) -> tuple[str, ...]:
        return tuple(models[i] for i in np.flatnonzero(flags))

    unknown = (spread == 0.0) & ~is_exact[:, None] & (first < second)
    unknown &= (advantage != 0.0) | (not strict)
    still = [
        f"{titles[c]}: {models[first[k]]} and {models[second[k]]}"
        for c, k in np.argwhere(unknown).tolist()
    ]
    cautions: list[str] = []
    if still:
        cautions.append(
            f"No variance was observed, so that nothing measures the difference: {listed(still)}."
        )
    if cycles:
        rings = "; ".join(listed([models[i] for i in ring]) for ring in cycles)
        cautions.append(
            f"Shown to dominate each other in a circle, and kept: {rings}. Smaller margins "
            "break circles."
        )
    drawn = limits == "maxt" and bool(random.size)
    return ParetoSet(
        criteria=titles,
        names=models,
        lower_is_better=tuple(lower[title] for title in titles),
        is_exact=tuple(is_exact.tolist()),
        margin=tuple(amounts[title] for title in titles),
        estimate=estimate,
        interval=np.stack([estimate - half, estimate + half], axis=2),
        pairs=np.stack([first, second], axis=1).astype(np.int32),
        pvalue=pvalue,
        pvalue_adjusted=adjusted,
        is_open=~refuted,
        advantage=advantage,
        standard_error=spread,
        pvalue_better=better,
        pvalue_not_worse=not_worse,
        pvalue_better_by_margin=by_margin,
        dominates=dominates,
        not_dominated=named(~off_front),
        inner=named(matrix(cannot).sum(axis=1) == m - 1),
        outer=named(~matrix(by_limits).any(axis=0)),
        observed_front=named(~matrix(seen).any(axis=0)),
        cycles=tuple(tuple(models[i] for i in ring) for ring in cycles),
        dominance="strict" if strict else "practical",
        adjust=adjust,
        alpha=alpha,
        limits=limits,
        critical_value=np.fmax.reduce(reach, axis=1),
        n_resamples=draws.n if drawn else None,
        seed=draws.seed if drawn else None,
        cautions=tuple(cautions),
    )


def _directions(raw: object, titles: tuple[str, ...]) -> dict[str, bool]:
    """Whether less is better, by criterion."""
    if isinstance(raw, Mapping):
        lacking = [title for title in titles if title not in raw]
    else:
        lacking = list(titles) if raw is None else []
    if lacking:
        raise BadValueError(
            f"say which direction is better for {', '.join(lacking)}: pass "
            f"`lower_is_better={dict.fromkeys(titles, False)!r}` with True where less is better"
        )
    if isinstance(raw, Mapping):
        _some_of(raw, "lower_is_better", titles)
        bad = [k for k, x in raw.items() if not isinstance(x, (bool, np.bool_))]
        if bad:
            raise BadTypeError(
                f"`lower_is_better`[{bad[0]!r}] must be True or False", repr(raw[bad[0]])
            )
        return {title: bool(raw[title]) for title in titles}
    return _some_of(raw, "lower_is_better", titles)


def _some_of(raw: object, argument: str, titles: tuple[str, ...]) -> dict[str, bool]:
    """Whether each criterion is among some that are named."""
    if isinstance(raw, str) or not isinstance(raw, Collection):
        raise BadTypeError(f"`{argument}` must name criteria of {list(titles)}", repr(raw))
    strangers = [name for name in raw if name not in titles]
    if strangers:
        raise BadValueError(
            f"`{argument}` must name criteria of {list(titles)}", repr(strangers[0])
        )
    return {title: title in raw for title in titles}


def _margins(
    raw: object, titles: tuple[str, ...], read: list[Estimates | ExactValues]
) -> dict[str, float]:
    """The largest difference that does not matter, by criterion."""
    if raw is None:
        return dict.fromkeys(titles, 0.0)
    if not isinstance(raw, Mapping):
        raise BadTypeError("`margins` must be a mapping from criteria to numbers", repr(raw))
    _some_of(raw, "margins", titles)
    margins = {}
    for title, source in zip(titles, read, strict=True):
        if title not in raw and isinstance(source, Estimates):
            raise BadValueError(
                "`margins` must hold a number for each criterion with error, and lack "
                f"{title!r}: pass 0 where any difference matters"
            )
        amount = as_numbers(raw.get(title, 0.0), f"margins[{title!r}]")
        if amount.ndim or not (np.isfinite(amount) and amount >= 0.0):
            raise BadValueError(
                f"`margins`[{title!r}] must be a finite number >= 0", repr(raw[title])
            )
        margins[title] = float(amount)
    return margins


def _read_criterion(
    name: object, raw: Any, groups: object, missing: str, pool: ThreadPool, *, less: bool
) -> Estimates | ExactValues:
    """Estimates of one criterion, or its exact numbers."""
    title = str(name)
    if isinstance(raw, ExactValues):
        return raw
    if (estimates := estimates_of(raw)) is not None:
        if estimates.lower_is_better and not less:
            raise BadValueError(
                f"`criteria`[{title!r}] are Estimates with `lower_is_better=True`, and "
                f"`lower_is_better=` says that more {title} is better: change one of them"
            )
        return estimates
    if isinstance(groups, Mapping):
        groups = groups.get(name)
    named = hasattr(raw, "keys") or hasattr(raw, "columns") or hasattr(raw, "column_names")
    numbers = isinstance(raw, Mapping) and all(np.ndim(x) == 0 for x in raw.values())
    if numbers or (not named and np.ndim(raw[:1] if isinstance(raw, (list, tuple)) else raw) == 1):
        raise BadValueError(
            f"`criteria`[{title!r}] hold one number for each model: pass exact(...) where these "
            "have no error, else values of items, shape (M, n), or Estimates(values, covariance)"
        )
    try:
        return read_means(raw, groups, missing, None, pool, lower=False)[0]
    except ArgumentError as error:
        raise error.but(demand=f"criteria[{title!r}]: {error.args[0]}") from None


def _same_models(
    read: list[Estimates | ExactValues], titles: tuple[str, ...], names: object
) -> tuple[tuple[str, ...], list[Estimates | ExactValues]]:
    """Names of the models, and all criteria in the order of the first that has names."""
    sizes = [len(source.values) for source in read]
    if len(set(sizes)) > 1:
        numbers = ", ".join(f"{title} {n}" for title, n in zip(titles, sizes, strict=True))
        raise BadValueError("`criteria` must be of the same models", f"numbers of them: {numbers}")
    m, ordered = sizes[0], []
    default = tuple(f"model_{i}" for i in range(m))
    names_of_sources = [
        None if source.names in (None, default) else source.names for source in read
    ]
    reference = next(
        (source_names for source_names in names_of_sources if source_names is not None), None
    )
    reference = default if reference is None else reference
    for source, title, source_names in zip(read, titles, names_of_sources, strict=True):
        if source_names is None or source_names == reference:
            ordered.append(source)
            continue
        if set(source_names) != set(reference):
            odd = min(set(source_names) ^ set(reference))
            raise BadValueError(
                f"`criteria`[{title!r}] must be of the same models as the others, and {odd!r} "
                "is in one of them only"
            )
        order = np.array([source_names.index(model) for model in reference])
        if isinstance(source, Estimates):
            ordered.append(some_of(source, order))
        else:
            ordered.append(ExactValues(source.values[order], reference))
    return read_names(names, m, reference), ordered


def _largest(pvalues: Floats) -> Floats:
    """The largest p-value by column; NaN where one that is unknown may be larger."""
    largest: Floats = np.fmax.reduce(pvalues)
    unknown = np.isnan(pvalues).any(axis=0) & ~(largest >= 1.0)
    return np.where(unknown, np.nan, largest)


def _without_cycles(dominates: Flags) -> tuple[Flags, list[list[int]]]:
    """Models that one outside their own circle dominates, and the circles."""
    reach = dominates | np.eye(len(dominates), dtype=bool)
    for _ in range(int(np.ceil(np.log2(max(len(dominates), 2))))):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0.0
    circle = reach & reach.T
    beaten = (dominates & ~circle).any(axis=0)
    # One of a circle that is beaten takes the others with it.
    off = (circle & beaten).any(axis=1)
    rings = {tuple(np.flatnonzero(row).tolist()) for row in circle}
    return np.asarray(off), sorted(list(ring) for ring in rings if len(ring) > 1)
