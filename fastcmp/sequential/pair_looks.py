"""All pairs of many models while samples come in: a leaderboard to read at any time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_proportion, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Drawn, PairedCounts, Record, are_paired
from fastcmp.core.sections import PAIR, Column, Section
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.counts.pairs import all_pairs, model_index
from fastcmp.kernels.evalues import extend_tables, missing_evidence, pair_log_evalues
from fastcmp.pairwise.decisions import TieGroups, rank_intervals
from fastcmp.pairwise.leaderboard import Leaderboard
from fastcmp.pairwise.result import PairwiseResult, describe
from fastcmp.sequential.evalues import PROMISES, adjust_known, evalue_of, pvalue_of, read_prior
from fastcmp.sequential.mcnemar_tests import EvalueResult
from fastcmp.stream.accumulator import NAMES, Accumulator, State, check_within, custom, require

_LARGEST_TABLE = 1 << 21  # counts in the tables of log-gamma: 32 MB
_PAIRS_PAY = 4  # entries of a table that cost as much as one pair by the formula
_THREADS_PAY = 1 << 16  # pairs; below, one thread is faster
_PART = 1 << 15  # e-values that are worked on at a time
_ROUNDING = 1e-5  # relative error of sums in single precision, and more


class EvaluePairs(PairwiseResult):
    """Pairs of models by their e-values, as the leaderboard takes them."""

    _pilot = ""

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The ranking by accuracy, with ranks where no decision is false."""
        board = super().leaderboard
        if self.adjust != "e-holm":
            return board
        ranks = rank_intervals(self.decisions)[board.models]
        return replace(board, rank_interval=ranks, rank_method="decisions")

    @property
    def _each_pair(self) -> str:
        return "McNemar's e-value, which may be looked at any time"

    @property
    def _score_intervals(self) -> str:
        return "valid at every look"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairLooksResult(Drawn, Record):
    """All pairs of many models at one look.

    Arrays of length P have one entry a pair i < j, in the order of ``np.triu_indices(M,
    1)``. What follows from them is worked out when it is first asked for.
    """

    _blocks = "sequential:pairs"
    _picture = PairwiseResult._picture
    _closing = (
        "Evidence is measured by e-values, and intervals are confidence sequences: what they "
        "promise holds at all looks at once, however often one looks."
    )
    _cites = ("mcnemar lindon ramdas",)

    names: tuple[str, ...]
    #: Samples that both models got right, shape (M, M), in the upper triangle; on the
    #: diagonal those of each model.
    joint: Ints
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

    _columns = (
        *PAIR,
        *(Column(name, f"compared.{name}") for name in ("only_a", "only_b", "difference")),
        *Column.each("log_evalue evalue evalue_adjusted pvalue significant"),
    )

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
    def significant(self) -> Flags:
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
        """The test of one pair, with intervals for its difference.

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
        models = {"model_a": model_a, "model_b": model_b}
        a, b = (model_index(model, self.names, name) for name, model in models.items())
        if a == b:
            raise BadValueError("`model_a` and model_b must be different models", f"{a} twice")
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

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, the decisions, and how to read them.
        """
        return describe(self.compared, f" (this is look {self.n_looks})")

    @property
    def _pairs(self) -> PairwiseResult:
        return self.compared


@dataclass(frozen=True, kw_only=True, eq=False)
class _State(State):
    names: Annotated[tuple[str, ...] | None, NAMES] = None
    #: Samples and looks so far.
    totals: Annotated[Ints, custom(2)]
    #: Samples that each model got right at the last look, shape (M,).
    right: Annotated[Ints, custom("m")]
    #: The largest log e-value of each pair so far, shape (P,).
    largest: Annotated[Floats, custom("p", dtype=np.float64)]
    #: Pairs that were decided so far, shape (P,); not for "e-bh".
    decided: Annotated[Flags, custom("n_decided", dtype=np.bool_, form="bits")]

    def check_fit(self, other: Self, kind: str) -> None:  # noqa: ARG002
        raise TypeError(f"{kind} do not merge: merge the counts, and look at their sum")


class PairLooks(Accumulator):
    """All pairs of many models compared by e-values while samples come in.

    Count blocks with a `fastcmp.stream.PairCounts`, and `look` at it whenever you like.
    The leaderboard of each look may be read, and acted on.

    Parameters
    ----------
    prior : sequence of 2 floats
        Beta prior of the proportion of discordant samples that the first of a pair gets
        right: two equal numbers.
    adjust : {"e-holm", "e-bh"}
        What decisions about all pairs keep, as in `e_adjust`: the probability of even
        one false decision at any look, or the expected proportion of false ones at the
        look at which one stops. Only with the first decisions stay, and ranks have
        intervals.
    alpha : float
        That error rate, in (0, 1).

    Raises
    ------
    ValueError
        If an option is unknown or out of range.
    TypeError
        If the prior is not made of numbers.

    See Also
    --------
    McNemarLooks : Two models.
    fastcmp.stream.PairCounts : The counts to look at.

    Notes
    -----
    A look takes three look-ups a pair: with 1,000 models some milliseconds, beside
    those of counting the block. The state holds 9 bytes a pair, and no counts. It does
    not merge: merge the counts, and look at their sum.

    Examples
    --------
    >>> from fastcmp import load_digits
    >>> from fastcmp.sequential import PairLooks
    >>> from fastcmp.stream import PairCounts
    >>> y_true, preds = load_digits()
    >>> counts, state = PairCounts(), PairLooks()
    >>> for start in range(0, len(y_true), 300):
    ...     rows = slice(start, start + 300)
    ...     block = {name: labels[rows] for name, labels in preds.items()}
    ...     result = state.look(counts.update(y_true[rows], block))
    >>> result.n_looks, result.n_significant, result.leaderboard.names[0]
    (3, 21, 'svm_rbf')
    """

    _state: _State

    def __init__(
        self, *, prior: Sequence[float] = (0.5, 0.5), adjust: str = "e-holm", alpha: float = 0.05
    ) -> None:
        s, t = read_prior(prior)
        if s != t:
            raise BadValueError("`prior` must be two equal numbers: pairs have no order", prior)
        self._options = {
            "prior": (s, t),
            "adjust": choose(adjust, "adjust", PROMISES),
            "alpha": as_proportion(alpha, "alpha"),
        }
        self._state = _State.begin(self._sizes({}))
        self._tables, self._rests = np.empty((2, 0), np.int64), np.zeros(2)

    @property
    def adjust(self) -> str:
        """What decisions about all pairs keep."""
        return str(self._options["adjust"])

    @property
    def alpha(self) -> float:
        """That error rate."""
        return float(self._options["alpha"])

    @property
    def n_looks(self) -> int:
        """How many looks were taken."""
        return int(self._state.totals[1])

    def look(self, counts: PairedCounts, *, workers: int | None = None) -> PairLooksResult:
        """Look at the evidence so far.

        Parameters
        ----------
        counts : fastcmp.stream.PairCounts
            All samples so far.
        workers : int, optional
            Threads; by default as many as there are processors.

        Returns
        -------
        PairLooksResult
            E-values of all pairs, decisions and the leaderboard at this look.

        Raises
        ------
        ValueError
            If there are fewer than two models or no sample, the models are others, or a
            count has become smaller: looks come in the order of the samples.
        TypeError
            If `counts` is something else.

        Examples
        --------
        >>> from fastcmp.sequential import PairLooks
        >>> from fastcmp.stream import PairCounts
        >>> counts = PairCounts().update([0, 1] * 8, [[0, 1] * 8, [0, 0] * 8])
        >>> PairLooks().look(counts).evalue.round(2).tolist()
        [50.27]
        """
        threads = check_workers(workers)
        if not are_paired(counts):
            raise BadTypeError(
                "`counts` must be a fastcmp.stream.PairCounts", type(counts).__name__
            )
        joint, n, names = counts.joint_upper, counts.n_samples, counts.names
        with self._lock:
            state, m = self._state, len(names or ())
            if m < 2 or n < 1:
                raise BadValueError(
                    "`counts` must hold at least 2 models and 1 sample", f"{m} and {n}"
                )
            if state.names is None:
                state = _State.begin(self._sizes({"names": names}), names=names)
                state = replace(state, largest=np.full(state.largest.size, -np.inf))
            if state.names != names:
                raise BadValueError(
                    f"`counts` must be of the {len(state.names or ())} models of the looks "
                    f"before, in their order, {(state.names or ())[:3]}",
                    (names or ())[:3],
                )
            right = joint.diagonal().copy()
            wrong, wrong_before = n - right, state.totals[0] - state.right
            if (right < state.right).any() or (wrong < wrong_before).any():
                raise BadValueError(
                    "`counts` must not shrink: looks come in the order of the samples, and "
                    f"each counts all samples so far; got {n} after {state.totals[0]}"
                )
            log_evalues, largest, missing = self._evaluate(joint, right, n, threads)
            decided = state.decided
            if self.adjust == "e-holm":
                decided = _decide(log_evalues, missing, 1.0 / self.alpha, decided)
            totals = np.array([n, state.totals[1] + 1])
            self._state = replace(
                state, totals=totals, right=right, largest=largest, decided=decided
            )
        return PairLooksResult(
            names=names or (),
            joint=joint,
            n_samples=n,
            n_looks=int(totals[1]),
            log_evalue=log_evalues,
            log_evalue_max=largest,
            decided=decided if self.adjust == "e-holm" else None,
            prior=self._options["prior"],
            adjust=self.adjust,
            alpha=self.alpha,
            n_missing=counts.n_missing,
            n_excluded=counts.n_excluded,
        )

    def _evaluate(
        self, joint: Ints, right: Ints, n: int, threads: int
    ) -> tuple[Floats, Floats, float]:
        """All log e-values, the largest so far, and what is missing of them."""
        m, before = len(right), self._state.largest
        p = m * (m - 1) // 2
        if not before.size:
            before = np.full(p, -np.inf)
        tables = self._extended(n if n < _PAIRS_PAY * p else _LARGEST_TABLE)
        prior_tables = (self._options["prior"][0], tables)
        log_evalues, largest = np.empty(p), np.empty(p)
        starts = np.arange(m) * m - np.arange(m) * np.arange(1, m + 1) // 2
        threshold = 1.0 / self.alpha if self.adjust == "e-holm" else 0.0

        def evaluate(rows: tuple[int, int]) -> float:
            pair_log_evalues(joint, right, rows, prior_tables, before, (log_evalues, largest))
            if not threshold:
                return 0.0
            end = starts[rows[1]] if rows[1] < m else p
            return _nearly_missing(log_evalues[starts[rows[0]] : end], threshold)

        if threads == 1 or p < _THREADS_PAY:
            return log_evalues, largest, evaluate((0, m))
        # Rows are shorter and shorter: parts of equal numbers of pairs.
        cuts = np.searchsorted(starts, np.linspace(0, p, 4 * threads + 1)[1:-1])
        edges = [0, *np.unique(cuts).tolist(), m]
        tasks = [(a, b) for a, b in pairwise(edges) if a < b]
        with ThreadPool(threads) as pool:
            sums = dict(pool.answers(evaluate, tasks))
        return log_evalues, largest, math.fsum(sums.values())

    def _extended(self, n: int) -> Ints:
        """The tables of log-gamma for counts up to n; none beyond a size."""
        length = self._tables.shape[1]
        if n >= _LARGEST_TABLE:
            return self._tables[:, :0]
        if length <= n:
            tables = np.empty((2, min(2 * n, _LARGEST_TABLE) + 1), np.int64)
            tables[:, :length] = self._tables
            rests = self._rests.copy()
            extend_tables(self._options["prior"][0], length, tables, rests)
            self._tables, self._rests = tables, rests
        return self._tables

    def _sizes(self, values: dict[str, Any]) -> dict[str, int]:
        m = len(values.get("names") or ())
        p = m * (m - 1) // 2
        return {"m": m, "p": p, "n_decided": p if self.adjust == "e-holm" else 0}

    def _check(self) -> None:
        totals, begun = self._state.totals, self.names is not None
        require(totals.min() >= (1 if begun else 0), "totals must be numbers")
        require(begun or not totals.any(), "there are looks without models")
        check_within(self._state.right, 0, totals[0], "right")
        require(not np.isnan(self._state.largest).any(), "largest must be numbers")

    def _sections(self) -> list[Section]:
        looks = f"{self.n_looks} look{'s' * (self.n_looks != 1)}"
        text = (f"{looks} so far ({self.adjust}).",)
        return [Section(title=self._title(), text=text)]


def _nearly_missing(log_evalues: Floats, threshold: float) -> float:
    """`missing_evidence` in single precision, four times as fast."""
    total, limits = 0.0, np.array([-80.0, math.log(threshold)], np.float32)
    end = np.exp(limits[1:])  # of which nothing is missing, whatever its rounding
    for part in parts(log_evalues.size, _PART):
        evalues = log_evalues[part].astype(np.float32)
        np.clip(evalues, *limits, out=evalues)
        np.exp(evalues, out=evalues)
        np.subtract(end, evalues, out=evalues)
        total += float(evalues.sum())
    return total


def _decide(log_evalues: Floats, missing: float, threshold: float, decided: Flags) -> Flags:
    """Pairs decided so far, with those that closed testing rejects at this look.

    The smallest mean with an e-value is that with all others below the threshold: it
    reaches the threshold where the e-value makes up for all that is missing of them.
    """
    high, low = (math.log(threshold + missing * (1.0 + slack)) for slack in (_ROUNDING, -_ROUNDING))
    new = np.flatnonzero((log_evalues >= low) > decided)
    if not new.size:
        return decided
    values = log_evalues[new]
    if values.min() < high:
        exact = threshold + missing_evidence(log_evalues, threshold)
        new = new[values >= math.log(exact)]
    decided = decided.copy()
    decided[new] = True
    return decided
