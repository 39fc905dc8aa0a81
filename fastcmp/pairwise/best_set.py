"""Sets that hold the best model: Hsu's comparisons with the best, and Hansen, Lunde and Nason's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from fastcmp.core.checks import as_proportion, as_seed, choose
from fastcmp.core.numbers import scaled_back
from fastcmp.core.records import Record
from fastcmp.core.sections import (
    MODEL,
    Column,
    Section,
    beware,
    format_pvalue,
    table_of,
    written,
    yes,
)
from fastcmp.core.sentences import answer, how
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Flags, Floats, Ints, Seed
from fastcmp.pairwise.max_t import SAME, Maxima, read_draws, upper_quantile
from fastcmp.pairwise.model_estimates import (
    Estimates,
    basis,
    direction,
    distribution_of,
    drawn,
    format_drawn,
    listed,
    make_estimates,
    of_record,
    simulation,
    some_of,
    weights_of,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BestSet(Record):
    """Multiple comparison with the best: by how much each model leads, or is behind.

    Intervals are for the model minus the best of the others, turned so that more is
    better: at most 0 where the model is shown not to be the best, at least 0 where it
    is shown to be. Arrays have the shape (M,), in the order of the input.
    """

    _blocks = "selection:best_set"
    _opening = "Each model was compared with the best of the others."
    _cites = ("hsu",)

    names: tuple[str, ...]
    estimate: Floats
    #: Interval of the model minus the best of the others.
    lower: Floats
    upper: Floats
    #: Whether the model may be the best.
    may_be_best: Flags
    #: One-sided critical value with this model as the control; NaN where none was
    #: needed, as Bonferroni's already excludes the model.
    critical_value: Floats
    confidence_level: float
    lower_is_better: bool
    #: Draws that critical values come from, and the seed that repeats them.
    n_resamples: int
    seed: int
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the set doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        MODEL,
        Column("estimate", form=".4g"),
        Column("low high", "lower upper", "+.4g", "lead over the best other, {level}"),
        Column("may_be_best", form=yes),
    )

    @property
    def best(self) -> tuple[str, ...]:
        """The models that may be the best, those of better estimates first."""
        models = [i for i in self._order() if self.may_be_best[i]]
        return tuple(self.names[i] for i in models)

    def _order(self) -> list[int]:
        value = self.estimate if self.lower_is_better else -self.estimate
        order: list[int] = np.argsort(value, kind="stable").tolist()
        return order

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The set, what is promised, and the intervals.
        """
        level = f"{100 * self.confidence_level:.9g}%"
        text = (
            how(f"{basis(self)}.{direction(self)}"),
            answer(f"May be the best, {len(self.best)} of {len(self.names)}: {listed(self.best)}."),
            how(
                f"With {level} confidence the truly best model is among them, and all "
                "intervals hold at once."
            ),
            simulation(self),
        )
        return [
            Section(title="Which model may be the best?", text=text),
            *beware(self),
            self._printed("Comparison with the best", order=self._order()),
        ]


_ALL = 16  # models: of so many each has its critical value, needed or not
_ROWS = 512


def make_best_set(
    estimates: Estimates,
    pool: ThreadPool,
    *,
    confidence_level: float,
    n_resamples: int | None,
    rng: Seed,
) -> BestSet:
    """The record of the models that may be the best."""
    level, seed = as_proportion(confidence_level, "confidence_level"), as_seed(rng)
    merit, errors = estimates.merit, estimates.errors()
    count = read_draws(n_resamples, merit.size, level)
    candidates = np.arange(merit.size)
    if merit.size > _ALL:  # only a model that Bonferroni leaves can be the best
        one = (1.0 - level) / (merit.size - 1)
        bound = np.full(merit.size, upper_quantile(one, estimates.df))
        candidates = np.flatnonzero(_reach(merit, errors, candidates, bound) > 0.0)
    draws = Maxima.of(estimates.covariance, count, seed, pool, estimates.df, errors)
    critical = np.full(merit.size, np.nan)
    for part in parts(candidates.size, _ROWS):
        models = candidates[part]
        weights, lacking = weights_of(errors[models]), True
        while lacking:
            maxima = draws.largest(weights, models, apart=True)
            critical[models] = draws.quantiles(maxima, level)
            lacking = draws.draw_more()
    reach = np.full(merit.size, -np.inf)
    reach[candidates] = _reach(merit, errors, candidates, critical[candidates])
    lower, upper = _intervals(merit, errors, reach, critical)
    record = BestSet(
        **of_record(estimates) | {"estimate": estimates.values},
        lower=lower,
        upper=upper,
        may_be_best=reach > 0.0,
        critical_value=critical,
        confidence_level=level,
        n_resamples=draws.n_draws,
        seed=seed,
    )
    in_unit = ("estimate", "lower", "upper")
    return cast("BestSet", scaled_back(record, estimates.exponent, in_unit))


def _same(merit: Floats, errors: Floats, models: Any) -> Flags:
    """Whether other models are the same as each of some models, item by item."""
    return np.asarray((errors[models] == 0.0) & (merit[models, None] == merit))


def _reach(merit: Floats, errors: Floats, models: Any, critical: Floats) -> Floats:
    """Bounds of how far each of some models may be ahead of all that are not the same."""
    reach = np.empty(len(models))
    for part in parts(len(models), _ROWS):
        block = models[part]
        ahead = merit[block, None] - merit + critical[part, None] * errors[block]
        reach[part] = np.where(_same(merit, errors, block), np.inf, ahead).min(axis=1)
    return reach


def _intervals(
    merit: Floats, errors: Floats, reach: Floats, critical: Floats
) -> tuple[Floats, Floats]:
    """The interval of each model minus the best of the others."""
    best = np.flatnonzero(reach > 0.0)
    upper = np.maximum(reach, 0.0)
    ahead = merit[:, None] - merit[best] - critical[best] * errors[:, best]
    ahead[best, np.arange(best.size)] = np.inf
    lower = np.minimum(ahead.min(axis=1), 0.0)
    twins = _same(merit, errors, best).sum(axis=1) > 1
    upper[best[twins]] = 0.0
    return lower, upper


# The model confidence set of Hansen, Lunde and Nason.


_TESTS = {
    "r": "the largest difference of two models",
    "max": "the largest distance of a model from the mean of all",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelConfidenceSet(Record):
    """The models that are left when worse ones are left out one by one.

    Arrays have the shape (M,), in the order of the input.
    """

    _blocks = "selection:confidence_set"
    _opening = (
        "Models were eliminated step by step, until the test that those left are equal did not "
        "reject."
    )
    _cites = ("hansen-set",)

    names: tuple[str, ...]
    estimate: Floats
    #: Largest p-value of the tests up to that which leaves the model out, 1 for the
    #: last: a model is in the set where it is above `alpha`.
    pvalue: Floats
    #: Statistic of the test that leaves the model out; 0 for the last.
    statistic: Floats
    #: 1 for the model that is left out first, M for the last.
    step: Ints
    #: "r" or "max".
    method: str
    alpha: float
    #: What statistics are compared with: draws from the "normal" distribution, of "t"
    #: with `df` degrees of freedom, or a "bootstrap".
    distribution: str
    df: float | None
    lower_is_better: bool
    #: Draws, and the seed that repeats them; None where draws were given.
    n_resamples: int
    seed: int | None
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the set doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        MODEL,
        Column("estimate", form=".4g"),
        Column("step"),
        Column("statistic"),
        Column("pvalue", form=format_pvalue, head="p"),
        Column("included", lambda self: self.pvalue > self.alpha, yes, "in the set"),
    )

    @property
    def included(self) -> tuple[str, ...]:
        """The models of the set, those left out last first."""
        return tuple(self.names[i] for i in self._order() if self.pvalue[i] > self.alpha)

    def _order(self) -> list[int]:
        order: list[int] = np.argsort(-self.step, kind="stable").tolist()
        return order

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The set, what is promised, and the p-values.
        """
        included = self.included
        text = (
            how(f"{basis(self)}.{direction(self)}"),
            answer(f"In the set, {len(included)} of {len(self.names)}: {listed(included)}."),
            how(
                f"With {100 * (1 - self.alpha):.9g}% confidence the set holds all models "
                "that are truly as good as the best."
            ),
            how(
                f"Each step tests that the models left are equal, by {_TESTS[self.method]}."
                f" {drawn(self)}"
            ),
        )
        columns = {
            "model": self.names,
            "estimate": written(self.estimate, ".4g"),
            "p": [format_drawn(self, pvalue) for pvalue in self.pvalue],
            "in the set": written(self.pvalue > self.alpha, yes),
        }
        return [
            Section(title="Which models may be as good as the best?", text=text),
            *beware(self),
            table_of("Model confidence set", columns, order=self._order()),
        ]


# Models left out one by one, the worst first, with the test that leaves each out.


class Step(NamedTuple):
    """A test that all models that are left are equal."""

    #: The model that is left out next.
    model: int
    statistic: float
    #: The statistic of each draw.
    maxima: Floats


def by_range(estimates: Estimates, draws: Maxima) -> Iterator[Step]:
    """Steps by the largest difference of two models, of which the worse is left out."""
    errors = estimates.errors()
    order, statistic = _leave_out(_behind(estimates.merit, errors))
    place = np.argsort(order)
    # Each model with those that are left out later: maxima over the models that are
    # left add up from the end.
    weights = weights_of(errors)[order]
    weights *= place > np.arange(order.size)[:, None]
    maxima = draws.largest(weights, order, apart=True)
    np.maximum(maxima, draws.largest(weights, order, apart=True, sign=-1.0), out=maxima)
    maxima = np.maximum.accumulate(maxima[::-1])[::-1]
    for k in range(order.size - 1):
        yield Step(int(order[k]), float(statistic[k]), maxima[k])


def _behind(merit: Floats, errors: Floats) -> Floats:
    """Standardised distances of each model behind each other, shape (M, M)."""
    behind = merit - merit[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        standardized = behind / errors
    standardized[behind == 0.0] = 0.0
    np.fill_diagonal(standardized, -np.inf)
    return standardized


def _leave_out(behind: Floats) -> tuple[Ints, Floats]:
    """Order in which models are left out, and statistics; overwrites `behind`.

    At each step the model with the largest entry is left out, until one is left.
    """
    n_models = len(behind)
    order, statistic = np.empty(n_models, np.int64), np.zeros(n_models)
    largest, place = behind.max(axis=1), behind.argmax(axis=1)
    left = np.ones(n_models, bool)
    for k in range(n_models - 1):
        worst = int(np.argmax(np.where(left, largest, -np.inf)))
        order[k], statistic[k], left[worst] = worst, largest[worst], False
        behind[:, worst] = -np.inf
        again = np.flatnonzero(left & (place == worst))
        largest[again], place[again] = behind[again].max(axis=1), behind[again].argmax(1)
    order[-1] = np.flatnonzero(left)[0]
    return order, statistic


def by_maximum(estimates: Estimates, draws: Maxima) -> Iterator[Step]:
    """Steps by the largest distance below the mean of all; that model is left out."""
    merit, covariance = estimates.merit, estimates.covariance
    variances, values = np.diagonal(covariance), draws.draws.values
    left = np.arange(merit.size)
    sums, totals = covariance.sum(axis=1), values.sum(axis=0)
    while left.size > 1:
        size = left.size
        common = sums[left].sum() / size**2
        variance = variances[left] - 2.0 * sums[left] / size + common
        variance[variance <= SAME * (variances[left] + common)] = 0.0
        behind = merit[left].mean() - merit[left]
        weights = weights_of(np.sqrt(variance))
        statistic = behind * weights
        sure = (variance == 0.0) & (behind > SAME * np.abs(merit[left]).max())
        statistic[sure] = np.inf
        worst = int(np.argmax(statistic))
        drawn = (totals / size - values[left]) * weights[:, None]
        maxima = drawn.max(axis=0)
        if draws.smooth:
            maxima = np.concatenate([maxima, -drawn.min(axis=0)])
        yield Step(int(left[worst]), float(statistic[worst]), maxima)
        sums -= covariance[:, left[worst]]
        totals = totals - values[left[worst]]
        left = np.delete(left, worst)


METHODS = {"r": by_range, "max": by_maximum}
_TIE = 1e-9


def make_confidence_set(
    estimates: Estimates,
    resampled: Floats | None,
    pool: ThreadPool,
    *,
    method: str,
    alpha: float,
    n_resamples: int,
    seed: int | None,
) -> ModelConfidenceSet:
    """The record of the models that are left when worse ones are left out.

    Bootstrap draws of the estimates about themselves, `resampled` of shape (M, B), take
    the place of normal draws; standard errors are then theirs.
    """
    method, alpha = choose(method, "method", METHODS), as_proportion(alpha, "alpha")
    first = _first_of_same(estimates)
    distinct = np.unique(first)
    tested = some_of(estimates, distinct)
    if resampled is None:
        draws = Maxima.of(tested.covariance, n_resamples, seed or 0, pool, tested.df)
    else:
        values = np.ascontiguousarray(resampled[distinct])
        covariance = values @ values.T / values.shape[1]
        tested = make_estimates(**vars(tested) | {"covariance": covariance})
        draws = Maxima.of_values(values, pool)
    pvalue, statistic, step = np.ones(tested.merit.size), *np.zeros((2, tested.merit.size))
    reached = 0.0
    for k, test in enumerate(METHODS[method](tested, draws), 1):
        if resampled is None:
            tail = draws.tails(test.maxima, np.array([test.statistic]))[0]
        else:
            tail = np.mean(test.maxima > test.statistic + _TIE)
        reached = max(reached, float(tail))
        pvalue[test.model], statistic[test.model] = reached, test.statistic
        step[test.model] = k
    step[step == 0] = tested.merit.size
    place = np.searchsorted(distinct, first)
    return ModelConfidenceSet(
        **of_record(estimates),
        pvalue=pvalue[place],
        statistic=statistic[place],
        step=step[place].astype(np.int64),
        method=method,
        alpha=alpha,
        **distribution_of(estimates, bootstrap=resampled is not None),
        n_resamples=n_resamples,
        seed=seed,
    )


def _first_of_same(estimates: Estimates) -> Ints:
    """For each model the first that is the same, item by item."""
    errors = estimates.errors()
    same = (errors == 0.0) & (estimates.merit[:, None] == estimates.merit)
    return np.asarray(np.argmax(same, axis=1))
