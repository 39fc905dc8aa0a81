"""Hsu's multiple comparison with the best, of correlated estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_proportion, as_seed
from fastcmp.core.numbers import scaled_back
from fastcmp.core.records import Record
from fastcmp.core.sections import MODEL, Column, Section, beware, yes
from fastcmp.core.sentences import answer, how
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.pairwise.max_t import Maxima, read_draws, upper_quantile
from fastcmp.pairwise.model_estimates import (
    Estimates,
    basis,
    direction,
    listed,
    of_record,
    simulation,
    weights_of,
)

Floats = NDArray[np.float64]


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
    may_be_best: NDArray[np.bool_]
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
    rng: Any,
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


def _same(merit: Floats, errors: Floats, models: Any) -> NDArray[np.bool_]:
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
