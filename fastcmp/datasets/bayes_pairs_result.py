"""The record of Bayesian tests of all pairs of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.datasets.bayes_result import decide, write_probability
from fastcmp.datasets.reading import dropped_sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BayesPairs(Record):
    """How probably one of two models is better in practice, for all P pairs of M."""

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

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Both names, the probabilities, and the decision.
        """
        first, second = self.pairs.T
        return {
            "a": [self.names[i] for i in first],
            "b": [self.names[i] for i in second],
            "p_a": self.p_a,
            "p_rope": self.p_rope,
            "p_b": self.p_b,
            "p_a_above_b": self.p_a_above_b,
            "decision": list(self.decision),
        }

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
            f"Of {len(found)} pairs one model is better in {n_better}, both are equal "
            f"in practice in {n_equal}, and there is no decision in {n_open}.",
            "Each probability is about its pair alone.",
            *dropped_sentence(self.n_dropped),
        )
        n_draws = None if self.method == "sign" else self.n_resamples
        rows = []
        shown = zip(self.pairs, self.p_a, self.p_rope, self.p_b, found, strict=True)
        for (i, j), *chances, what in shown:
            names = visible(self.names[i]), visible(self.names[j])
            said = {"a": names[0], "b": names[1], "rope": "equal", None: ""}[what]
            written = [write_probability(float(p), n_draws) for p in chances]
            rows.append((*names, *written, said))
        best = [
            (
                visible(self.names[i]),
                write_probability(float(self.best_probability[i]), self.n_resamples),
            )
            for i in order
        ]
        return [
            Section(title="Which models are better in practice?", text=text),
            Section(
                title=f"Probability to be the best, by {self.rank_by}",
                columns=("model", "P(best)"),
                rows=tuple(best),
                notes=(f"{self.n_resamples} draws, seed {self.seed}.",),
            ),
            Section(
                title="Pairs",
                columns=("a", "b", "P(a)", "P(equal)", "P(b)", "better"),
                rows=tuple(rows),
            ),
        ]
