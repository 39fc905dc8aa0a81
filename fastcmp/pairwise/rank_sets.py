"""Simultaneous and marginal confidence sets for the ranks of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp.core.checks import as_flag, as_proportion, as_seed, as_whole, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import MODEL, Column, Section, beware, span
from fastcmp.core.sentences import Sentence, how
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Flags, Floats, Ints, Seed
from fastcmp.inputs.model_names import choose_models
from fastcmp.pairwise.joint_draws import covariance_of
from fastcmp.pairwise.max_t import DrawCount, Maxima, order_statistics, read_draws, upper_quantile
from fastcmp.pairwise.model_estimates import (
    Estimates,
    basis,
    direction,
    make_estimates,
    of_record,
    simulation,
    weights_of,
)

SIDES = ("two-sided", "lower", "upper")
#: Where intervals of ranks come from: the adjusted decisions about pairs, or sets of
#: ranks that hold for all models at once, or for each alone.
RANK_INTERVALS = ("decisions", "simultaneous", "marginal")
_ROWS = 512
_AGAIN = 4  # times alpha: the part of the draws that is looked at again first


def find_ranks(
    estimates: Estimates,
    models: Ints,
    pool: ThreadPool,
    *,
    side: str = "two-sided",
    simultaneous: bool = True,
    step_down: bool = True,
    level: float = 0.95,
    count: DrawCount,
    seed: int,
) -> tuple[Ints, Ints, Any, int]:
    """The least and the greatest rank of the chosen models, last critical values, and draws."""
    merit, errors = estimates.merit, estimates.errors()
    draws = Maxima.of(estimates.covariance, count, seed, pool, estimates.df, errors)
    # Differences that do not vary, and are not 0, are shown without a test.
    sure, weights = (errors == 0.0) & (merit[:, None] > merit), weights_of(errors)
    critical: Any
    if simultaneous:
        beats, beaten, critical = _find_together(
            merit, weights, sure, models, draws, side, level, step_down=step_down
        )
    else:
        bounds = [
            _find_alone(merit, weights, sure, block, draws, side, level, step_down=step_down)
            for block in (models[part] for part in parts(models.size, _ROWS))
        ]
        beats, beaten, critical = (np.concatenate(x) for x in zip(*bounds, strict=True))
    lower = 1 + beaten if side != "upper" else np.ones_like(beaten)
    upper = merit.size - beats if side != "lower" else np.full_like(beats, merit.size)
    return lower, upper, critical, draws.n_draws


def rank_bounds(
    merit: Floats,
    variance: Floats,
    df: float,
    *,
    simultaneous: bool,
    level: float,
    seed: int,
    pool: ThreadPool,
) -> Ints:
    """The least and the greatest rank of each model by variances of differences, (M, 2)."""
    m = merit.size
    bounds = np.tile(np.array([1, m], np.int64), (m, 1))
    models, covariance = covariance_of(variance)
    if models.size < 2:
        return bounds
    estimates = make_estimates(
        names=tuple(map(str, models)),
        values=merit[models],
        merit=merit[models],
        covariance=covariance,
        variance=np.diagonal(covariance).copy(),
        df=df,
    )
    lower, upper, _, _ = find_ranks(
        *(estimates, np.arange(models.size), pool),
        simultaneous=simultaneous,
        level=level,
        count=read_draws(None, models.size, level),
        seed=seed,
    )
    # A model without a standard error may be better or worse than all others.
    bounds[models, 0] = lower
    bounds[models, 1] = upper + m - models.size
    return bounds


def _find_together(
    merit: Floats,
    weights: Floats,
    sure: Flags,
    models: Ints,
    draws: Maxima,
    side: str,
    level: float,
    *,
    step_down: bool,
) -> tuple[Ints, Ints, float]:
    """How many models each beats, and is beaten by; all ordered pairs tested at once.

    Step by step; the critical value is that of the last step.
    """
    kept = np.zeros(sure.shape, bool)
    if side != "lower":
        kept[models] = True
    if side != "upper":
        kept[:, models] = True
    weights[~kept] = 0.0
    better = sure & kept

    def show(critical: float) -> int:
        """Mark differences above the critical value, and take them out of the test."""
        n_new = 0
        for rows in parts(merit.size, _ROWS):
            new = (merit[rows, None] - merit) * weights[rows] > critical
            better[rows] |= new
            weights[rows][new] = 0.0
            n_new += int(np.count_nonzero(new))
        return n_new

    if step_down:  # what Bonferroni shows, the first step shows too
        show(upper_quantile((1.0 - level) / max(int(np.count_nonzero(weights)), 2), draws.df))
    maxima: Floats | None = None
    while True:
        maxima = _next_maxima(draws, weights, level, maxima)
        critical = float(draws.quantiles(maxima, level)[0])
        if draws.draw_more():
            maxima = None
        elif not show(critical) or not step_down:
            return better.sum(axis=1)[models], better.sum(axis=0)[models], critical


def _next_maxima(draws: Maxima, weights: Floats, level: float, before: Floats | None) -> Floats:
    """The maxima over the pairs that are left.

    Maxima only fall from step to step. Only draws that were large are looked at again,
    unless the quantile falls among the others.
    """
    if before is None or draws.smooth:
        return draws.largest(weights)
    maxima = before.copy()
    large = np.sort(np.argsort(-before[0])[: int(_AGAIN * (1 - level) * before.size)])
    maxima[:, large] = draws.largest(weights, only=large)
    others = np.setdiff1d(np.arange(before.size), large)
    if others.size and order_statistics(maxima, level)[0] <= before[0, others].max():
        maxima[:, others] = draws.largest(weights, only=others)
    return maxima


def _find_alone(
    merit: Floats,
    weights: Floats,
    sure: Flags,
    models: Ints,
    draws: Maxima,
    side: str,
    level: float,
    *,
    step_down: bool,
) -> tuple[Ints, Ints, Floats]:
    """How many models each beats, and is beaten by, with a critical value for each model."""
    better = [sure[models], sure[:, models].T.copy()]
    ahead = merit[models, None] - merit
    gains = [ahead, -ahead]
    left = [weights[models], weights[models]]
    if side != "two-sided":
        left[0 if side == "lower" else 1][:] = 0.0
    critical, active = np.zeros(models.size), np.arange(models.size)
    while active.size:
        tested = models[active]
        maxima = draws.largest(left[0][active], tested, apart=True)
        others = draws.largest(left[1][active], tested, apart=True, sign=-1.0)
        np.maximum(maxima, others, out=maxima)
        critical[active] = draws.quantiles(maxima, level)
        if draws.draw_more():
            continue
        new = np.zeros(active.size, bool)
        for k in (0, 1):
            above = gains[k][active] * left[k][active] > critical[active, None]
            better[k][active] |= above
            left[k][active] *= ~above
            new |= above.any(axis=1)
        active = active[new] if step_down else active[:0]
    beats, beaten = (flags.sum(axis=1) for flags in better)
    return beats, beaten, critical


# The record of sets of ranks.


_ENDS = {"two-sided": "", "lower": "lower ends of the ", "upper": "upper ends of the "}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankSets(Record):
    """The ranks that each model may have; rank 1 is the best.

    Arrays have one entry for each model that was asked for, in the order of the input.
    """

    _blocks = "selection:rank_sets"
    _opening = "Sets of ranks come from tests of the differences of all models."
    _cites = ("mogstad",)

    names: tuple[str, ...]
    estimate: Floats
    #: 1 + the number of models with better estimates.
    rank: Ints
    #: The least and the greatest rank that the model may have.
    lower: Ints
    upper: Ints
    #: "two-sided", "lower" (only `lower` bounds) or "upper".
    side: str
    #: Whether all sets hold at once with the probability `confidence_level`.
    simultaneous: bool
    #: Whether pairs that are shown to differ leave the test of the others.
    step_down: bool
    confidence_level: float
    #: The last critical value; of each model where sets are not simultaneous.
    critical_value: Any
    #: All models, also those that were not asked for.
    n_models: int
    lower_is_better: bool
    #: Draws that critical values come from, and the seed that repeats them.
    n_resamples: int
    seed: int
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the sets doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        MODEL,
        Column("estimate", form=".4g"),
        Column("rank"),
        Column("rank_low rank_high", "lower upper", span, "ranks"),
    )

    def tau_best(self, tau: int) -> tuple[str, ...]:
        """The models that may be among the best.

        Parameters
        ----------
        tau : int
            How many are the best.

        Returns
        -------
        tuple of str
            Models whose least rank is at most `tau`, best first. All that truly are
            among the `tau` best are in it with the probability `confidence_level`,
            whatever `tau`.

        Raises
        ------
        ValueError
            If the sets do not bound the ranks of all models from below at once.

        Examples
        --------
        >>> from fastcmp import Estimates, rank_sets
        >>> sets = rank_sets(Estimates([0.9, 0.85, 0.5], [0.001, 0.001, 0.001]))
        >>> sets.tau_best(1)
        ('model_0', 'model_1')
        """
        return self._among(tau, self.lower, "upper")

    def tau_worst(self, tau: int) -> tuple[str, ...]:
        """The models that may be among the worst.

        Parameters
        ----------
        tau : int
            How many are the worst.

        Returns
        -------
        tuple of str
            Models whose greatest rank is among the last `tau`, best first; as
            `tau_best`.

        Raises
        ------
        ValueError
            If the sets do not bound the ranks of all models from above at once.

        Examples
        --------
        >>> from fastcmp import Estimates, rank_sets
        >>> sets = rank_sets(Estimates([0.9, 0.85, 0.5], [0.001, 0.001, 0.001]))
        >>> sets.tau_worst(1)
        ('model_2',)
        """
        return self._among(tau, self.n_models + 1 - self.upper, "lower")

    def _among(self, tau: int, least: Ints, other: str) -> tuple[str, ...]:
        tau = as_whole(tau, "tau", 1)
        if tau > self.n_models:
            raise BadValueError(f"`tau` must be at most {self.n_models}", tau)
        whole = self.simultaneous and len(self.names) == self.n_models
        if not whole or self.side == other:
            raise BadValueError(
                "`tau` needs simultaneous sets of all models, not those with "
                f"`side={other!r}`: these have `side={self.side!r}`, "
                f"`simultaneous={self.simultaneous}`, and {len(self.names)} of {self.n_models} "
                "models"
            )
        return tuple(self.names[i] for i in self._order() if least[i] <= tau)

    def _order(self) -> list[int]:
        """The models from best to worst."""
        order: list[int] = np.argsort(self.rank, kind="stable").tolist()
        return order

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What is promised, and the sets.
        """
        level = f"{100 * self.confidence_level:.9g}%"
        ends = _ENDS[self.side]
        promise = (
            f"With {level} confidence the true ranks of all {len(self.names)} models "
            f"lie within the {ends}sets at once."
        )
        if not self.simultaneous:
            promise = (
                f"The true rank of each model lies within the {ends}set with {level} "
                "confidence, of that model alone: not all of them at once."
            )
        steps = "step-down" if self.step_down else "single-step"
        text = (
            how(f"{basis(self)}.{direction(self)}"),
            Sentence(promise, answer=promise, how=promise),
            how(f"{steps.capitalize()} test of differences. {simulation(self)}"),
        )
        return [
            Section(title="Which ranks may the models have?", text=text),
            *beware(self),
            self._printed("Sets of ranks", "rank model estimate rank_low", order=self._order()),
        ]


def make_rank_sets(
    estimates: Estimates,
    models: Sequence[int | str] | None,
    pool: ThreadPool,
    *,
    side: str,
    simultaneous: bool,
    step_down: bool,
    confidence_level: float,
    n_resamples: int | None,
    rng: Seed,
) -> RankSets:
    """The record of the sets of ranks of the chosen models."""
    level, n_models = as_proportion(confidence_level, "confidence_level"), len(estimates.names)
    how: dict[str, Any] = {
        "side": choose(side, "side", SIDES),
        "simultaneous": as_flag(simultaneous, "simultaneous"),
        "step_down": as_flag(step_down, "step_down"),
        "seed": as_seed(rng),
    }
    count = read_draws(n_resamples, n_models, level)
    indices = choose_models(models, estimates.names)
    lower, upper, critical, n_draws = find_ranks(
        estimates, indices, pool, level=level, count=count, **how
    )
    order = np.sort(-estimates.merit)
    rank = 1 + np.searchsorted(order, -estimates.merit)
    of_models = of_record(estimates)
    of_models["names"] = tuple(estimates.names[i] for i in indices)
    of_models["estimate"] = of_models["estimate"][indices]
    return RankSets(
        **of_models,
        **how,
        rank=rank[indices].astype(np.int64),
        lower=lower,
        upper=upper,
        confidence_level=level,
        critical_value=critical,
        n_models=n_models,
        n_resamples=n_draws,
    )
