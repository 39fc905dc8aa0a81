"""The record of a Bayesian comparison of two models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.records import Compared, Record
from fastcmp.core.render import visible
from fastcmp.core.sections import PAIR, Column, Section
from fastcmp.core.sentences import answer, how
from fastcmp.datasets.reading import dropped_sentence

Floats = NDArray[np.float64]


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
    posterior_mean: NDArray[np.float64] | None = None
    #: Parameters of the Dirichlet distribution, for "sign": a, rope, b.
    alpha: NDArray[np.float64] | None = None
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
        found = {
            "a": f"{a} is better than {b}.",
            "b": f"{b} is better than {a}.",
            "rope": f"{a} and {b} are equal in practice.",
            None: f"No decision between {a} and {b}.",
        }[self.decision]
        what = "folds" if self.method == "correlated t" else "tasks"
        text: list[str] = [
            answer(
                f"{found} (Bayesian {self.method} test, {self.n} {what}, rope {self.rope:g}, "
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
    """Name what is probable enough."""
    found = {"a": p_a, "rope": p_rope, "b": p_b}
    best = max(found, key=found.__getitem__)
    return best if found[best] >= threshold else None


def write_probability(probability: float, n_draws: int | None = None) -> str:
    """Write a probability: 0 or 1 only where exact, "<1e-05" for none of the draws."""
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
    pairs: NDArray[np.int32]
    #: Probability that the proportion of tasks on which a is better by more than the
    #: rope is the largest, that of tasks within the rope, and that of b, shape (P,).
    p_a: Floats
    p_rope: Floats
    p_b: Floats
    #: Probability that the proportion of a is larger than that of b, shape (P,).
    p_a_above_b: Floats
    #: Tasks on which a is better, neither, and b, shape (P, 3).
    counts: NDArray[np.int64]
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
        made = np.full((m, m), np.nan)
        first, second = self.pairs.T
        made[first, second], made[second, first] = upper, lower
        return made

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The best model, and a row a pair.
        """
        found = self.decision
        n_equal = found.count("rope")
        n_open = found.count(None)
        n_better = len(found) - n_equal - n_open
        order = np.argsort(-self.best_probability, kind="stable")
        text = (
            f"{len(self.names)} models on {len(self.tasks)} tasks, Bayesian "
            f"{self.method} tests, rope {self.rope:g}, decided at a probability of "
            f"{self.threshold:g}.",
            answer(
                f"Of {len(found)} pairs one model is better in {n_better}, both are equal "
                f"in practice in {n_equal}, and there is no decision in {n_open}."
            ),
            how("Each probability is about its pair alone."),
            *dropped_sentence(self.n_dropped),
        )
        n_draws = None if self.method == "sign" else self.n_resamples
        rows = []
        shown = zip(self.pairs, self.p_a, self.p_rope, self.p_b, found, strict=True)
        for (i, j), *chances, what in shown:
            names = visible(self.names[i]), visible(self.names[j])
            said = {"a": names[0], "b": names[1], "rope": "equal", None: ""}[what]
            written = [write_probability(p, n_draws) for p in chances]
            rows.append((*names, *written, said))
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
