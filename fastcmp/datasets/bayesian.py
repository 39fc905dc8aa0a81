"""Bayesian tests over tasks: of two models, of all pairs, and of folds of one task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import (
    are_counts_given,
    as_cells,
    as_finite,
    as_flag,
    as_numbers,
    as_proportion,
    as_rate,
    as_resamples,
    as_seed,
    as_whole,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Compared, Record, TaskScores
from fastcmp.core.render import visible
from fastcmp.core.sections import PAIR, Column, Section
from fastcmp.core.sentences import answer, how
from fastcmp.core.threads import Progress, ThreadPool, check_workers, parts, reporting
from fastcmp.core.typing import ColumnLike, Floats, Ints, ModelsLike, Pairs, Seed
from fastcmp.counts.pairs import all_pairs
from fastcmp.datasets.reading import ULPS, dropped_sentence, read_data
from fastcmp.datasets.task_draws import RANK_BY, Costs, count, weighted_tasks
from fastcmp.inputs.model_names import check_indexes, read_pair_names
from fastcmp.kernels.dirichlet import dirichlet_largest
from fastcmp.kernels.fold_tests import correlated_posterior, paired_gains
from fastcmp.kernels.item_values import LARGEST
from fastcmp.kernels.signed_ranks import pairs_above, signed_rank_draws
from fastcmp.kernels.special import betainc

BAYES_CITE = (
    ("method", {"sign": "benavoli", "signed-rank": "benavoli", "correlated t": "corani"}),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BayesComparison(Compared, Record):
    """How probably model a, or b, is better in practice, or neither.

    "Better" counts with the direction of the scores: also of losses, a is better where
    `p_a` is large.
    """

    _blocks = "datasets:bayes"
    _opening = "Probabilities are of the posterior of this test: Bayesian {record.method} test."
    _cites = BAYES_CITE

    names: tuple[str, str]
    #: "sign", "signed-rank" or "correlated t".
    method: str
    #: Probability that a is better by more than the rope, that the two are equal in
    #: practice, and that b is better. For "sign" and "signed-rank" that the
    #: proportion of tasks on which this holds is the largest of the three.
    p_a: float
    p_rope: float
    p_b: float
    #: Probability that a is better than b, whatever the rope holds.
    p_a_above_b: float
    #: Differences up to here mean nothing in practice.
    rope: float
    #: Tasks; for "correlated t" scores of folds.
    n: int
    #: What was compared, "score", or "loss" where less is better.
    measure: str
    #: Mean of a minus mean of b; NaN where only counts are known.
    difference: float
    #: Probability from which on there is a decision.
    threshold: float
    #: Tasks on which a is better, neither, and b, beyond the rope: n_a, n_rope, n_b.
    counts: tuple[int, int, int] | None = None
    #: Posterior mean of the three proportions, shape (3,): a, rope, b.
    posterior_mean: Floats | None = None
    #: Parameters of the Dirichlet distribution, for "sign": a, rope, b.
    alpha: Floats | None = None
    #: Weight of the prior, and where it is: "a", "rope" or "b".
    prior_strength: float | None = None
    prior_place: str | None = None
    #: Difference on the task of the prior, for "signed-rank".
    z0: float | None = None
    #: To whom sums of differences just at the rope count: "half" to each, or "rope".
    boundary: str | None = None
    #: Draws, and the seed that repeats them; None where nothing is drawn.
    n_resamples: int | None = None
    seed: int | None = None
    #: For "correlated t" the Student distribution of the mean difference, above 0 where
    #: a is better; the correlation of two folds; and the runs of cross-validation.
    mean: float | None = None
    scale: float | None = None
    df: int | None = None
    rho: float | None = None
    runs: int | None = None

    @property
    def decision(self) -> str | None:
        """What is at least as probable as the threshold: "a", "rope", "b" or None."""
        return decide(self.p_a, self.p_rope, self.p_b, self.threshold)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The decision, and the probabilities.
        """
        a, b = self.names
        decision = {
            "a": f"{a} is better than {b}.",
            "b": f"{b} is better than {a}.",
            "rope": f"{a} and {b} are equal in practice.",
            None: f"No decision between {a} and {b}.",
        }[self.decision]
        what = "folds" if self.method == "correlated t" else "tasks"
        text: list[str] = [
            answer(
                f"{decision} (Bayesian {self.method} test, {self.n} {what}, rope {self.rope:g}, "
                f"decided at a probability of {self.threshold:g}.)"
            )
        ]
        if self.counts is not None:
            n_a, n_rope, n_b = self.counts
            text.append(f"Tasks: {n_a} to {n_b}, and {n_rope} within the rope.")
        if self.prior_strength is not None:
            where = f"on {self.prior_place}"
            if self.z0 is not None:
                where = f"on a difference of {self.z0:g}"
            text.append(how(f"Prior: {self.prior_strength:g} of a task {where}."))
        if self.mean is not None:
            text.append(
                f"Mean difference {self.mean:+.4g} (above 0: {a} is "
                f"better), scale {self.scale:.3g}, df {self.df}, correlation of folds "
                f"{self.rho:.3g}."
            )
        if self.seed is not None:
            text.append(how(f"{self.n_resamples} draws, seed {self.seed}."))
        rows: list[tuple[str, ...]] = [
            (name, write_probability(p, self.n_resamples))
            for name, p in (
                (f"{a} better", self.p_a),
                ("equal in practice", self.p_rope),
                (f"{b} better", self.p_b),
            )
        ]
        if self.posterior_mean is not None:
            rows = [(*row, f"{x:.3f}") for row, x in zip(rows, self.posterior_mean, strict=True)]
        columns = ("", "probability", "mean proportion")[: len(rows[0])]
        title = "Which model is better in practice?"
        return [Section(title=title, text=tuple(text), columns=columns, rows=tuple(rows))]


def decide(p_a: float, p_rope: float, p_b: float, threshold: float) -> str | None:
    """The outcome that is probable enough, or None."""
    probabilities = {"a": p_a, "rope": p_rope, "b": p_b}
    best = max(probabilities, key=probabilities.__getitem__)
    return best if probabilities[best] >= threshold else None


def write_probability(probability: float, n_draws: int | None = None) -> str:
    """A probability as text: 0 or 1 only where exact, "<1e-05" for none of the draws."""
    if n_draws is not None and probability == 0.0:
        return f"<{1.0 / n_draws:.0e}"
    if 0.0 < probability < 0.001:
        return f"{probability:.1e}"
    if probability > 0.999 and (probability < 1.0 or n_draws is not None):
        return ">0.999"
    return f"{probability:.3f}"


# The record of Bayesian tests of all pairs of models.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BayesPairs(Record):
    """How probably one of two models is better in practice, for all P pairs of M."""

    _blocks = "datasets:bayes_pairs"
    _opening = (
        "Probabilities are of the posterior of this test of each pair: Bayesian {record.method} "
        "test."
    )
    _cites = BAYES_CITE

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: Tasks left out because a model has no score there.
    n_dropped: int
    #: "signed-rank" or "sign".
    method: str
    #: Indices of the two models of each pair, a and b, shape (P, 2).
    pairs: Pairs
    #: Probability that the proportion of tasks on which a is better by more than the
    #: rope is the largest, that of tasks within the rope, and that of b, shape (P,).
    p_a: Floats
    p_rope: Floats
    p_b: Floats
    #: Probability that the proportion of a is larger than that of b, shape (P,).
    p_a_above_b: Floats
    #: Tasks on which a is better, neither, and b, shape (P, 3).
    counts: Ints
    #: Posterior mean of the proportions of a, the rope and b, shape (P, 3).
    posterior_mean: Floats
    #: Probability to be the best of all models, with random weights of the tasks, the
    #: same for all, shape (M,).
    best_probability: Floats
    #: By what the best is chosen, "mean rank" or "mean score".
    rank_by: str
    #: Differences up to here mean nothing in practice.
    rope: float
    #: Weight of the prior, and where it is.
    prior_strength: float
    prior_place: str | None
    z0: float | None
    boundary: str | None
    #: Probability from which on there is a decision.
    threshold: float
    n_resamples: int
    seed: int
    lower_is_better: bool

    _columns = (
        *(Column(name, pair.source) for name, pair in zip("ab", PAIR, strict=True)),
        *Column.each("p_a p_rope p_b p_a_above_b decision"),
    )

    @property
    def decision(self) -> tuple[str | None, ...]:
        """What is at least as probable as the threshold, by pair."""
        rows = zip(self.p_a, self.p_rope, self.p_b, strict=True)
        return tuple(decide(a, rope, b, self.threshold) for a, rope, b in rows)

    @property
    def better(self) -> Floats:
        """[i, j] is the probability that i is better than j in practice, (M, M)."""
        return self._matrix(self.p_a, self.p_b)

    @property
    def equal(self) -> Floats:
        """[i, j] is the probability that they are equal in practice, (M, M)."""
        return self._matrix(self.p_rope, self.p_rope)

    def _matrix(self, upper: Floats, lower: Floats) -> Floats:
        m = len(self.names)
        matrix = np.full((m, m), np.nan)
        first, second = self.pairs.T
        matrix[first, second], matrix[second, first] = upper, lower
        return matrix

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The best model, and a row a pair.
        """
        decisions = self.decision
        n_equal = decisions.count("rope")
        n_open = decisions.count(None)
        n_better = len(decisions) - n_equal - n_open
        order = np.argsort(-self.best_probability, kind="stable")
        text = (
            f"{len(self.names)} models on {len(self.tasks)} tasks, Bayesian "
            f"{self.method} tests, rope {self.rope:g}, decided at a probability of "
            f"{self.threshold:g}.",
            answer(
                f"Of {len(decisions)} pairs one model is better in {n_better}, both are equal "
                f"in practice in {n_equal}, and there is no decision in {n_open}."
            ),
            how("Each probability is about its pair alone."),
            *dropped_sentence(self.n_dropped),
        )
        n_draws = None if self.method == "sign" else self.n_resamples
        rows = []
        pairs = zip(self.pairs, self.p_a, self.p_rope, self.p_b, decisions, strict=True)
        for (i, j), *chances, what in pairs:
            names = visible(self.names[i]), visible(self.names[j])
            better = {"a": names[0], "b": names[1], "rope": "equal", None: ""}[what]
            written = [write_probability(p, n_draws) for p in chances]
            rows.append((*names, *written, better))
        best = [
            (visible(self.names[i]), write_probability(self.best_probability[i], self.n_resamples))
            for i in order
        ]
        return [
            Section(title="Which models are better in practice?", text=text),
            Section(
                title=f"Probability to be the best, by {self.rank_by}",
                columns=("model", "P(best)"),
                rows=tuple(best),
                notes=(how(f"{self.n_resamples} draws, seed {self.seed}."),),
            ),
            Section(
                title="Pairs",
                columns=("a", "b", "P(a)", "P(equal)", "P(b)", "better"),
                rows=tuple(rows),
            ),
        ]


PLACES = ("rope", "a", "b")
BOUNDARIES = ("half", "rope")
#: Width of the rope on each side for scores from 0 to 1.
ROPE = 0.01


def _read_rope(rope: object, low: float, high: float) -> float:
    """Check the rope, or give that of scores from 0 to 1."""
    if rope is not None:
        return as_finite(rope, "rope", 0.0)
    if low < 0.0 or high > 1.0:
        raise BadValueError(
            "`rope` must be given where scores are not between 0 and 1",
            f"scores from {low:g} to {high:g}",
            ": differences up to rope mean nothing in practice; `rope=0` for none",
        )
    return ROPE


class _Pair(NamedTuple):
    """Scores of two models, with such signs that more is better."""

    #: In units of the last decimal, shape (2, D), and what they were times.
    values: Floats
    scale: float
    #: Sums and differences that differ by no more are equal.
    tolerance: float
    #: Differences, above 0 where a is better; equal decimals are equal.
    difference: Floats
    shape: tuple[int, ...]
    #: Fields of the record.
    record: dict[str, Any]


def _read_pair(
    scores_a: ColumnLike,
    scores_b: ColumnLike,
    rope: object,
    threshold: object,
    lower_is_better: object,
    names: object,
    shape: tuple[str, ...] = ("(D,)",),
) -> _Pair:
    """Scores of two models, checked, with the options that all tests of two models have."""
    columns = []
    check_indexes([("scores_a", scores_a), ("scores_b", scores_b)])
    for name, raw in (("scores_a", scores_a), ("scores_b", scores_b)):
        column = as_numbers(raw, name).astype(np.float64)
        if not 1 <= column.ndim <= len(shape):
            raise BadValueError(
                f"`{name}` must be of shape {' or '.join(shape)}",
                f"{column.shape}: folds and repetitions of a task are no tasks",
            )
        columns.append(column)
    a, b = columns
    if a.shape != b.shape:
        raise BadValueError(
            f"`scores_b` must be as many as scores_a, in the same order: {a.shape}", b.shape
        )
    if a.size < 2:
        raise BadValueError("`scores_a` must be two at least", a.size)
    pair = read_pair_names(names)
    lower = as_flag(lower_is_better, "lower_is_better")
    values, difference = np.empty(2 * a.size), np.empty(a.size)
    scale, largest, low, high, mean = paired_gains(a.ravel(), b.ravel(), lower, values, difference)
    if isnan(scale):
        name, column = ("scores_b", b) if np.all(np.abs(a) < LARGEST) else ("scores_a", a)
        bad = np.argwhere(~(np.abs(column) < LARGEST))
        where = int(bad[0, 0]) if column.ndim == 1 else tuple(bad[0].tolist())
        raise BadValueError(
            f"`{name}` must be finite, and below {LARGEST:g} in size",
            f"{column[tuple(bad[0])]} at {where}",
        )
    record = {
        "names": pair,
        "rope": _read_rope(rope, low, high),
        "n": a.size,
        "measure": "loss" if lower else "score",
        "difference": -mean if lower else mean,
        "threshold": as_proportion(threshold, "threshold"),
    }
    return _Pair(values.reshape(2, -1), scale, ULPS * largest, difference, a.shape, record)


def _of_pair(
    record: dict[str, Any], method: str, counts: Ints, probabilities: Floats, **fields: Any
) -> BayesComparison:
    """The record of the first of some pairs."""
    p_a, p_rope, p_b, above = probabilities[0].tolist()
    return BayesComparison(
        **record,
        method=method,
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        counts=tuple(counts[0].tolist()),
        **fields,
    )


_ONE_PAIR = np.array([[0, 1]], np.int32)


def _count_tasks(values: Floats, pairs: Pairs, rope: float, tolerance: float) -> Ints:
    """Count the tasks of a, rope and b for each pair, shape (P, 3)."""
    counts = np.empty((len(pairs), 3), np.int64)
    for p, (i, j) in enumerate(pairs.tolist()):
        d = values[i] - values[j]
        n_a = np.count_nonzero(d > rope + 2.0 * tolerance)
        n_b = np.count_nonzero(d < -rope - 2.0 * tolerance)
        counts[p] = n_a, d.size - n_a - n_b, n_b
    return counts


# The Bayesian sign test: posterior probabilities without draws.


def _sign(counts: Ints, strength: float, place: str) -> tuple[Floats, Floats]:
    """Posterior of pairs: P(a is largest), P(rope), P(b) and P(a > b), (P, 4); alpha (P, 3)."""
    alpha = counts.astype(np.float64)
    alpha[:, ("a", "rope", "b").index(place)] += strength
    posterior: dict[tuple[float, ...], tuple[float, ...]] = {}  # equal numbers once
    for a, rope, b in dict.fromkeys(map(tuple, alpha.tolist())):
        largest = (dirichlet_largest(*x) for x in ((a, rope, b), (rope, a, b), (b, a, rope)))
        # Half where both are 0.
        above = betainc(b, a, 0.5) if a > 0 and b > 0 else 0.5 * (1 + (a > 0) - (b > 0))
        posterior[a, rope, b] = *largest, above
    return np.array([posterior[tuple(row)] for row in alpha.tolist()]), alpha


def bayes_sign(
    scores_a: ArrayLike | None = None,
    scores_b: ArrayLike | None = None,
    *,
    counts: Sequence[int] | None = None,
    rope: float | None = None,
    prior_strength: float = 1.0,
    prior_place: str = "rope",
    threshold: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian sign test of two models over tasks.

    Each task counts for a, for b, or for neither where the scores differ by no more
    than the rope. The proportions of such tasks have a Dirichlet distribution.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (D,)
        One score for each task, in the same order; not of folds, which are not tasks.
    counts : sequence of three int, optional
        In their place the numbers of tasks on which a is better, neither, and b.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float
        How many tasks the prior is worth.
    prior_place : {"rope", "a", "b"}
        Where these tasks are.
    threshold : float
        Probability from which on there is a decision.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        Probabilities that the proportion of a, of the rope, or of b is the largest.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, there are fewer than two
        tasks, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Nothing is drawn: P(a is largest) is one integral over gamma densities, and
    P(a > b) is a beta distribution function. Differences are those of the decimals
    written, so that 0.62 - 0.64 is within a rope of 0.02.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", JMLR 18
       (2017) 1-36, section 4.2.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_sign
    >>> a = [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92]
    >>> b = [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92]
    >>> found = bayes_sign(a, b)
    >>> found.counts, round(found.p_a, 4), found.decision
    ((6, 2, 0), 0.8555, None)
    >>> round(bayes_sign(counts=(21, 4, 5)).p_a, 6)
    0.999098
    """
    data: dict[str, Any] = {"scores_a": scores_a, "scores_b": scores_b}
    if are_counts_given(data, {"counts": counts}, {"lower_is_better": lower_is_better or None}):
        numbers: Any = counts
        if isinstance(numbers, str) or not hasattr(numbers, "__len__") or len(numbers) != 3:
            raise BadValueError(
                "`counts` must be three numbers of tasks, on which a is better, neither, and b",
                repr(numbers),
            )
        tasks = as_cells(**dict(zip(("n_a", "n_rope", "n_b"), numbers, strict=True)))
        if not sum(tasks):
            raise BadValueError("`counts` must hold one task at least", "none")
        record = {
            "names": read_pair_names(names),
            "rope": as_finite(0.0 if rope is None else rope, "rope", 0.0),
            "n": sum(tasks),
            "measure": "score",
            "difference": float("nan"),
            "threshold": as_proportion(threshold, "threshold"),
        }
        n_of_places = np.array([tasks])
    else:
        pair = _read_pair(
            **data, rope=rope, threshold=threshold, lower_is_better=lower_is_better, names=names
        )
        record, width = pair.record, pair.record["rope"] * pair.scale
        n_of_places = _count_tasks(pair.values, _ONE_PAIR, width, pair.tolerance)
    strength = as_finite(prior_strength, "prior_strength", 0.0)
    place = choose(prior_place, "prior_place", PLACES)
    probabilities, alpha = _sign(n_of_places, strength, place)
    return _of_pair(
        record,
        "sign",
        n_of_places,
        probabilities,
        posterior_mean=alpha[0] / alpha[0].sum(),
        alpha=alpha[0],
        prior_strength=strength,
        prior_place=place,
    )


# The Bayesian signed-rank test: draws of the weights of tasks, and their means.


_BLOCK = 1 << 21  # weights that a thread draws at once
_PAIRS = 1 << 20  # places in the order of differences that are kept at once


#: The order of differences, ascending, shape (D + 1,), where D is the task of the prior; and
#: with whom each has a large sum: above and below, shape (2, D + 1), as `signed_rank_draws`
#: takes them.
_Sorted = tuple[Ints, Ints, Ints]


def _sort(z: Floats, boundary: str, rope: float, tolerance: float) -> _Sorted:
    """Order of differences, the prior's last in `z`, and counts of pairs beyond the rope."""
    order = np.argsort(z, kind="stable")
    ordered = z[order]
    n = z.size
    above, mirrored = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
    ends = 2.0 * rope + tolerance, 2.0 * rope - tolerance
    pairs_above(ordered, ends, above)
    pairs_above(np.ascontiguousarray(-ordered[::-1]), ends, mirrored)
    below = np.ascontiguousarray(n - mirrored[:, ::-1])
    if boundary == "rope":
        above[1], below[1] = above[0], below[0]
    return order, above, below


def _posterior_mean(order: Ints, above: Ints, below: Ints, strength: float) -> Floats:
    """Means of the parts of a, the rope and b: moments of a Dirichlet."""
    n = order.size
    alpha = np.ones(n)
    alpha[order == n - 1] = strength
    sums = np.append(0.0, np.cumsum(alpha))
    place = np.arange(n)
    total = sums[-1] * (sums[-1] + 1.0)
    means = []
    for starts, is_above in ((above, True), (below, False)):
        part = 0.0
        for first in starts:
            reach = sums[-1] - sums[first] if is_above else sums[first]
            itself = place >= first if is_above else place < first
            part += 0.5 * float(np.sum(alpha * (reach + itself)))
        means.append(part / total)
    a, b = means
    return np.array([a, max(0.0, 1.0 - a - b), b])


def _count_draws(
    ready: list[_Sorted], strength: float, n_draws: int, seed: int, pool: ThreadPool
) -> Floats:
    """Count for each pair the draws in which a, rope and b are largest, and a above b."""
    order, above, below = (np.stack(x).astype(np.int64) for x in zip(*ready, strict=True))
    blocks = parts(n_draws, max(64, _BLOCK // order.shape[1]) // 64 * 64)
    if len(blocks) < pool.threads:
        blocks = parts(n_draws, max(64, -(-n_draws // pool.threads // 64) * 64))
    counts = np.empty((len(blocks), len(ready), 4))

    def draw(block: int) -> None:
        part = blocks[block]
        where = seed, part.start, part.stop - part.start
        signed_rank_draws(order, above, below, strength, where, counts[block])

    pool.run(draw, range(len(blocks)), here=len(blocks) == 1)
    return np.asarray(counts.sum(axis=0))  # of halves: exact in any order


def _signed_rank(
    values: Floats,
    pairs: Pairs,
    rope: float,
    tolerance: float,
    strength: float,
    z0: float,
    boundary: str,
    n_draws: int,
    seed: int,
    pool: ThreadPool,
    report: Callable[[int, int], object] | None = None,
) -> tuple[Floats, Floats]:
    """Posterior of pairs on the same draws: as of `_sign`, (P, 4), and means, (P, 3)."""
    d = values.shape[1]
    probabilities, means = np.empty((len(pairs), 4)), np.empty((len(pairs), 3))
    for part in parts(len(pairs), max(1, _PAIRS // (d + 1))):
        i, j = pairs[part].T
        ready = [
            _sort(np.append(row, z0), boundary, rope, 4.0 * tolerance)
            for row in values[i] - values[j]
        ]
        counts = _count_draws(ready, strength, n_draws, seed, pool)
        probabilities[part] = counts / n_draws
        means[part] = [_posterior_mean(*differences, strength) for differences in ready]
        if report is not None:
            report(part.stop, len(pairs))
    return probabilities, means


def bayes_signed_rank(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    rope: float | None = None,
    prior_strength: float = 0.5,
    z0: float = 0.0,
    boundary: str = "half",
    threshold: float = 0.95,
    n_resamples: int = 50_000,
    rng: Seed = None,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
    workers: int | None = None,
) -> BayesComparison:
    """Bayesian signed-rank test of two models over tasks.

    As the sign test, but large differences count for more: asked is whether the mean
    difference of two tasks drawn at random is above the rope, within it or below.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (D,)
        One score for each task, in the same order; not of folds, which are not tasks.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float
        Weight of the task of the prior, where a real task has 1.
    z0 : float
        Difference on the task of the prior, above 0 where a is better.
    boundary : {"half", "rope"}
        Where the mean of two differences is just the rope: half of the weight belongs
        to the rope, or all of it.
    threshold : float
        Probability from which on there is a decision.
    n_resamples : int
        Draws of the weights.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.
    workers : int, optional
        Threads; by default as many as there are processors.

    Returns
    -------
    BayesComparison
        Probabilities that the proportion of a, of the rope, or of b is the largest,
        with a standard error of at most 0.5 / sqrt(n_resamples); `posterior_mean` is
        exact.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, there are fewer than two
        tasks, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Weights w of the tasks come from a Dirichlet distribution with parameters 1, and
    `prior_strength` for the task of the prior. The proportion of a is the sum of
    w_i w_j over pairs of tasks with d_i + d_j > 2 rope. One sort, then O(D) a draw.

    References
    ----------
    .. [1] A. Benavoli, F. Mangili, G. Corani, M. Zaffalon, F. Ruggeri, "A Bayesian
       Wilcoxon signed-rank test based on the Dirichlet process", ICML (2014).

    Examples
    --------
    >>> from fastcmp.datasets import bayes_signed_rank
    >>> a = [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92]
    >>> b = [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92]
    >>> found = bayes_signed_rank(a, b, rng=1)
    >>> found.decision, found.posterior_mean.round(3).tolist()
    ('a', [0.836, 0.152, 0.012])
    """
    pair = _read_pair(scores_a, scores_b, rope, threshold, lower_is_better, names)
    strength = as_finite(prior_strength, "prior_strength", 0.0)
    z0, boundary = as_finite(z0, "z0"), choose(boundary, "boundary", BOUNDARIES)
    seed, n_draws = as_seed(rng), as_resamples(n_resamples)
    width = pair.record["rope"] * pair.scale
    differences = (pair.values, _ONE_PAIR, width, pair.tolerance)
    with ThreadPool(check_workers(workers)) as pool:
        probabilities, means = _signed_rank(
            *differences, strength, z0 * pair.scale, boundary, n_draws, seed, pool
        )
    return _of_pair(
        pair.record,
        "signed-rank",
        _count_tasks(*differences),
        probabilities,
        posterior_mean=means[0],
        prior_strength=strength,
        z0=z0,
        boundary=boundary,
        n_resamples=n_draws,
        seed=seed,
    )


# Bayesian tests of all pairs of models over tasks, and which model is the best.


_STRENGTH = {"signed-rank": 0.5, "sign": 1.0}


def bayes_datasets(
    scores: ModelsLike | TaskScores,
    *,
    method: str = "signed-rank",
    rope: float | None = None,
    prior_strength: float | None = None,
    prior_place: str = "rope",
    z0: float = 0.0,
    boundary: str = "half",
    rank_by: str = "mean rank",
    threshold: float = 0.95,
    n_resamples: int = 50_000,
    rng: Seed = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> BayesPairs:
    """Bayesian tests of all pairs of models over tasks, and which model is the best.

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping, frame or results
        One score for each model and task; not of folds, which are not tasks.
    method : {"signed-rank", "sign"}
        As `bayes_signed_rank` or `bayes_sign`.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float, optional
        How many tasks the prior is worth; 0.5 for "signed-rank", 1 for "sign".
    prior_place : {"rope", "a", "b"}
        For "sign": where these tasks are; a is the first model of a pair.
    z0 : float
        For "signed-rank": difference on the task of the prior.
    boundary : {"half", "rope"}
        For "signed-rank": where a mean of two differences that is just the rope
        belongs.
    rank_by : {"mean rank", "mean score"}
        By what the best model is chosen.
    threshold : float
        Probability from which on there is a decision.
    n_resamples : int
        Draws of the weights, the same for all pairs.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    lower_is_better : bool
        Whether scores are losses.
    missing : {"raise", "tasks"}
        Refuse missing scores, or leave out the tasks that a model has none on.
    names, tasks : sequence of str, optional
        Names of the models and tasks, in the place of those that `scores` has.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs.

    Returns
    -------
    BayesPairs
        Probabilities for each pair, and for each model that it is the best.

    Raises
    ------
    ValueError
        If scores are missing or infinite, there are fewer than two models or tasks, or
        no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    A pair has the same probabilities as alone with the same seed. For the best model
    all have one vector of weights, uniform on the simplex of tasks: the Bayesian
    bootstrap of the mean rank. Probabilities of several pairs are not adjusted: each is
    about its pair. "signed-rank" takes O(M**2 D B) for B draws: some 100 models are a
    minute for 1,000 tasks; "sign" draws only for the best model.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", JMLR 18
       (2017) 1-36.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_datasets
    >>> scores = {
    ...     "a": [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92],
    ...     "b": [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92],
    ...     "c": [0.91, 0.88, 0.72, 0.95, 0.81, 0.85, 0.79, 0.93],
    ... }
    >>> found = bayes_datasets(scores, rng=1)
    >>> found.decision
    ('a', 'rope', 'b')
    >>> found.better.round(2).tolist()[0]
    [nan, 0.99, 0.0]
    """
    method = choose(method, "method", tuple(_STRENGTH))
    by = choose(rank_by, "rank_by", RANK_BY)
    data = read_data(
        scores, names=names, tasks=tasks, lower_is_better=lower_is_better, missing=missing
    )
    table, gains = data.table, data.gains
    width = _read_rope(rope, table.scores.min(), table.scores.max())
    strength = _STRENGTH[method] if prior_strength is None else prior_strength
    strength = as_finite(strength, "prior_strength", 0.0)
    place = choose(prior_place, "prior_place", PLACES)
    z0, boundary = as_finite(z0, "z0"), choose(boundary, "boundary", BOUNDARIES)
    probability = as_proportion(threshold, "threshold")
    seed, n_draws = as_seed(rng), as_resamples(n_resamples)
    pairs = all_pairs(len(table.names))
    differences = (gains.values, pairs, width * gains.scale, float(gains.tolerance.max()))
    counts = _count_tasks(*differences)
    costs = Costs.of(gains, by)
    sign = method == "sign"
    with (
        reporting(progress, "pairs", unit="pairs") as report,
        ThreadPool(check_workers(workers)) as pool,
    ):
        best = count(weighted_tasks(costs.values, seed), costs, n_draws, pool).best
        if sign:
            probabilities, alpha = _sign(counts, strength, place)
            means = alpha / alpha.sum(axis=1, keepdims=True)
            report(len(pairs), len(pairs))
        else:
            probabilities, means = _signed_rank(
                *differences, strength, z0 * gains.scale, boundary, n_draws, seed, pool, report
            )
    p_a, p_rope, p_b, above = probabilities.T
    return BayesPairs(
        names=table.names,
        tasks=table.tasks,
        n_dropped=data.n_dropped,
        method=method,
        pairs=pairs,
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        counts=counts,
        posterior_mean=means,
        best_probability=best,
        rank_by=by,
        rope=width,
        prior_strength=strength,
        prior_place=place if sign else None,
        z0=None if sign else z0,
        boundary=None if sign else boundary,
        threshold=probability,
        n_resamples=n_draws,
        seed=seed,
        lower_is_better=table.lower_is_better,
    )


# The Bayesian t test for scores of cross-validation, whose folds are correlated.


def bayes_correlated_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    rope: float | None = None,
    runs: int | None = None,
    rho: float | None = None,
    threshold: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian correlated t test of two models on one task, by its folds.

    The training sets of folds overlap, so their scores are correlated: with K folds two
    of them by about 1/K.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (n,) or (R, K)
        Scores of the same folds in the same order: all of them, or a row a repetition.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    runs : int, optional
        Repetitions of cross-validation; the rows of scores of shape (R, K), else 1.
    rho : float, optional
        Correlation of the scores of two folds, in [0, 1); by default ``runs / n``, one
        over the number of folds.
    threshold : float
        Probability from which on there is a decision.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        Probabilities that a is better by more than the rope, that the mean difference
        is within it, and that b is better.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, ``runs`` does not divide
        their number, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    The mean difference has a Student distribution of n - 1 degrees of freedom about the
    mean of the differences, with squared scale s**2 (1/n + rho / (1 - rho)). Where all
    differences are equal it is that difference; one of 0 with a rope of 0 is half for
    each. This is one task: for several use `bayes_signed_rank` of their means.

    References
    ----------
    .. [1] G. Corani, A. Benavoli, "A Bayesian approach for comparing cross-validated
       algorithms on multiple data sets", Machine Learning 100 (2015) 285-304, eq. 8.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_correlated_t
    >>> a = [0.91, 0.88, 0.90, 0.93, 0.89, 0.92, 0.90, 0.91, 0.94, 0.90]
    >>> b = [0.87, 0.85, 0.88, 0.88, 0.87, 0.86, 0.88, 0.87, 0.89, 0.84]
    >>> found = bayes_correlated_t(a, b)
    >>> round(found.p_a, 4), round(found.mean, 4), found.decision
    (0.9983, 0.039, 'a')
    """
    pair = _read_pair(
        scores_a, scores_b, rope, threshold, lower_is_better, names, ("(n,)", "(R, K)")
    )
    n, shape = pair.record["n"], pair.shape
    n_runs = as_whole(runs, "runs", 1) if runs is not None else 1
    if len(shape) == 2:
        if runs is not None and n_runs != shape[0]:
            raise BadValueError(f"`runs` must be the number of rows of scores_a, {shape[0]}", runs)
        n_runs = shape[0]
    if n % n_runs:
        raise BadValueError(f"`runs` must divide the number of scores, {n}", runs)
    if rho is None and n == n_runs:
        raise BadValueError(
            "`runs` must leave two folds at least to each repetition",
            f"{n_runs} for {n} scores",
            ": pass `rho=` for other designs",
        )
    correlation = n_runs / n if rho is None else as_rate(rho, "rho", "[0, 1)")
    tolerance = 2.0 * pair.tolerance / pair.scale
    p_a, p_rope, p_b, above, mean, scale = correlated_posterior(
        pair.difference, correlation, pair.record["rope"], tolerance
    )
    return BayesComparison(
        **pair.record,
        method="correlated t",
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        mean=mean,
        scale=scale,
        df=n - 1,
        rho=correlation,
        runs=n_runs,
    )
