"""The record of all pairs of many models at one look: evidence, decisions, ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.records import Record
from fastcmp.counts.pairs import all_pairs
from fastcmp.pairwise.ranking import rank_intervals
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.summary import describe
from fastcmp.sequential.adjustment import PROMISES, adjust_known
from fastcmp.sequential.evalue_result import EvalueResult, evalue_of, pvalue_of

if TYPE_CHECKING:
    from fastcmp.core.sections import Section
    from fastcmp.pairwise.leaderboard import Leaderboard
    from fastcmp.pairwise.ties import TieGroups

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class EvaluePairs(PairwiseResult):
    """Pairs of models by their e-values, as the leaderboard takes them."""

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The ranking by accuracy, with ranks where no decision is false."""
        board = super().leaderboard
        if self.adjust != "e-holm":
            return board
        ranks = rank_intervals(self.decisions)[board.models]
        return replace(board, rank_interval=ranks)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairLooksResult(Record):
    """All pairs of many models at one look.

    Arrays of length P have one entry a pair i < j, in the order of ``np.triu_indices(M,
    1)``. What follows from them is worked out when it is first asked for.
    """

    names: tuple[str, ...]
    #: Samples that both models got right, shape (M, M), in the upper triangle; on the
    #: diagonal those of each model.
    joint: NDArray[np.int64]
    n_samples: int
    #: Which look it is, from 1.
    n_looks: int
    #: Natural logarithm of each pair's e-value, shape (P,).
    log_evalue: Floats
    #: The largest one so far, at any look, shape (P,).
    log_evalue_max: Floats
    #: Pairs that "e-holm" decided at this or an earlier look, shape (P,); None for
    #: "e-bh", which decides at each look anew.
    decided: Any
    prior: tuple[float, float]
    adjust: str
    alpha: float
    n_missing: int = 0
    n_excluded: int = 0

    @property
    def evalue(self) -> Floats:
        """The e-value of each pair at this look, shape (P,)."""
        return np.asarray(evalue_of(self.log_evalue))

    @property
    def pvalue(self) -> Floats:
        """The p-value of each pair so far: 1 over its largest e-value, at most 1."""
        return np.asarray(pvalue_of(self.log_evalue_max))

    @cached_property
    def evalue_adjusted(self) -> Floats:
        """E-values at this look, adjusted for the number of pairs, shape (P,)."""
        return adjust_known(self.evalue, self.adjust)

    @cached_property
    def significant(self) -> NDArray[np.bool_]:
        """Which pairs are decided: with "e-holm" they stay so, shape (P,)."""
        if self.decided is None:
            return self.evalue_adjusted >= 1.0 / self.alpha
        return np.asarray(self.decided)

    @cached_property
    def pairs(self) -> NDArray[np.int32]:
        """Indices of the two models of each pair, shape (P, 2)."""
        return all_pairs(len(self.names))

    @property
    def correct(self) -> Ints:
        """Rightly classified samples of each model, shape (M,)."""
        return self.joint.diagonal().copy()

    @cached_property
    def compared(self) -> PairwiseResult:
        """The decisions as those of `compare_all`; intervals of pairs are NaN."""
        i, j = self.pairs.T
        right, both = self.correct, self.joint[i, j]
        only_a, only_b = right[i] - both, right[j] - both
        n, level = self.n_samples, 1.0 - self.alpha
        # The smallest alpha at which each pair is decided: at this look, or before.
        adjusted = 1.0 / np.maximum(self.evalue_adjusted, 1.0)
        adjusted[self.significant] = np.minimum(adjusted[self.significant], self.alpha)
        adjusted[~self.significant] = np.maximum(
            adjusted[~self.significant], np.nextafter(self.alpha, 1.0)
        )
        interval = kernels.anytime_proportion_interval
        ends = [interval(x, n - x, *self.prior, level) for x in right]
        return EvaluePairs(
            statistic=self.log_evalue,
            pvalue=self.pvalue,
            pvalue_adjusted=adjusted,
            distribution="e-value",
            pairs=self.pairs,
            only_a=only_a,
            only_b=only_b,
            difference=(only_a - only_b) / n,
            interval=np.full((only_a.size, 2), np.nan),
            names=self.names,
            correct=right,
            score=right / n,
            score_interval=np.array(ends),
            n_samples=n,
            test="mcnemar",
            method="e-value",
            adjust=self.adjust,
            alpha=self.alpha,
            rule=PROMISES[self.adjust].format(alpha=self.alpha),
            n_missing=self.n_missing,
            n_excluded=self.n_excluded,
        )

    @property
    def leaderboard(self) -> Leaderboard:
        """The ranking by accuracy; all of its intervals hold at every look.

        Intervals of ranks are None for "e-bh", which does not bound the probability of
        a false decision.
        """
        return self.compared.leaderboard

    @property
    def decisions(self) -> NDArray[np.int8]:
        """What was decided about each two models, shape (M, M).

        1 where the model of the row is significantly better than that of the column, -1
        where it is significantly worse, 0 where they are not significantly different.
        """
        return self.compared.decisions

    @property
    def groups(self) -> TieGroups:
        """The groups of models of which no pair is significantly different."""
        return self.compared.groups

    @property
    def best(self) -> tuple[str, ...]:
        """The first of the ranking, and all not significantly different from it."""
        return self.compared.best

    @property
    def n_significant(self) -> int:
        """Number of pairs that are decided."""
        return int(np.count_nonzero(self.significant))

    @property
    def all_decided(self) -> bool:
        """Whether each two models are significantly different."""
        return bool(self.significant.all())

    def pair(self, model_a: str | int, model_b: str | int) -> EvalueResult:
        """Give the test of one pair, with intervals for its difference.

        Parameters
        ----------
        model_a, model_b : str or int
            The two models, by name or index.

        Returns
        -------
        EvalueResult
            The e-value of this look.

        Raises
        ------
        ValueError
            If there is no such model, or both are the same.

        Examples
        --------
        >>> from fastcmp import load_digits
        >>> from fastcmp.sequential import PairLooks
        >>> from fastcmp.stream import PairCounts
        >>> result = PairLooks().look(PairCounts().update(*load_digits()))
        >>> low, high = result.pair("svm_rbf", "mlp").confidence_interval()
        >>> round(low, 4), round(high, 4)
        (-0.0001, 0.0375)
        """
        a, b = (self._place(model) for model in (model_a, model_b))
        if a == b:
            message = f"model_a and model_b must be different models, got {a} twice"
            raise ValueError(message)
        both = int(self.joint[min(a, b), max(a, b)])
        only_a, only_b = int(self.joint[a, a]) - both, int(self.joint[b, b]) - both
        return EvalueResult(
            log_evalue=kernels.mcnemar_log_evalue(only_a, only_b, *self.prior),
            only_a=only_a,
            only_b=only_b,
            both_right=both,
            both_wrong=self.n_samples - both - only_a - only_b,
            prior=self.prior,
            alternative="two-sided",
            n_missing=self.n_missing,
            n_excluded=self.n_excluded,
        )

    def _place(self, model: str | int) -> int:
        known = range(len(self.names))
        if isinstance(model, str) and model in self.names:
            return self.names.index(model)
        if isinstance(model, int) and not isinstance(model, bool) and model in known:
            return model
        message = f"model must be one of {self.names[:10]} or an index, got {model!r}"
        raise ValueError(message)

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models, counts, e-values, p-values so far and decisions.
        """
        names = np.array(self.names, dtype=object)
        tests = self.compared
        return {
            "model_a": names[self.pairs[:, 0]].tolist(),
            "model_b": names[self.pairs[:, 1]].tolist(),
            "only_a": tests.only_a,
            "only_b": tests.only_b,
            "difference": tests.difference,
            "log_evalue": self.log_evalue,
            "evalue": self.evalue,
            "evalue_adjusted": self.evalue_adjusted,
            "pvalue": self.pvalue,
            "significant": self.significant,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, the decisions, and how to read them.
        """
        looks = f"look {self.n_looks}"
        each = f"McNemar's e-value, which may be looked at any time (this is {looks})"
        return describe(self.compared, each, "valid at every look")

    def plot(self, kind: str = "leaderboard", **options: Any) -> Any:
        """Draw the look; needs matplotlib.

        Parameters
        ----------
        kind : {"leaderboard", "pvalues", "critical-difference"}
            As in `fastcmp.compare_all`.
        **options
            Those of the function that draws it, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the picture.

        Raises
        ------
        ValueError
            If there is no such picture.
        ImportError
            If matplotlib is not installed.
        """
        return self.compared.plot(kind, **options)
