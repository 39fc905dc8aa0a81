"""All pairs of many models while samples come in: a leaderboard to read at any time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fastcmp.core.checks import as_proportion
from fastcmp.core.options import choose
from fastcmp.core.protocols import are_paired
from fastcmp.core.sections import Section
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.kernels.evalues import (
    extend_tables,
    missing_evidence,
    pair_log_evalues,
)
from fastcmp.sequential.adjustment import METHODS
from fastcmp.sequential.options import read_prior
from fastcmp.sequential.pair_result import PairLooksResult
from fastcmp.stream.accumulator import Accumulator
from fastcmp.stream.saved_checks import check_within, require, saved_names, stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.protocols import PairedCounts
    from fastcmp.stream.accumulator import Arrays

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_LARGEST_TABLE = 1 << 21  # counts in the tables of log-gamma: 32 MB
_PAIRS_PAY = 4  # entries of a table that cost as much as one pair by the formula
_THREADS_PAY = 1 << 16  # pairs; below, one thread is faster
_PART = 1 << 15  # e-values that are worked on at a time
_ROUNDING = 1e-5  # relative error of sums in single precision, and more


class _State(NamedTuple):
    """What one assignment replaces, so that an interrupt never leaves half a look."""

    names: tuple[str, ...] | None
    #: Samples and looks so far.
    totals: Ints
    #: Samples that each model got right at the last look, shape (M,).
    right: Ints
    #: The largest log e-value of each pair so far, shape (P,).
    largest: Floats
    #: Pairs that were decided so far, shape (P,); not for "e-bh".
    decided: NDArray[np.bool_]


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
        self,
        *,
        prior: Sequence[float] = (0.5, 0.5),
        adjust: str = "e-holm",
        alpha: float = 0.05,
    ) -> None:
        s, t = read_prior(prior)
        if s != t:
            message = f"prior must be two equal numbers: pairs have no order, got {prior}"
            raise ValueError(message)
        self._prior = (s, t)
        self._adjust = choose(adjust, "adjust", METHODS)
        self._alpha = as_proportion(alpha, "alpha")
        none = np.zeros(0, np.int64)
        self._state = _State(None, np.zeros(2, np.int64), none, np.zeros(0), none.astype(bool))
        self._tables, self._rests = np.empty((2, 0), np.int64), np.zeros(2)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The models by name; None before the first look."""
        return self._state.names

    @property
    def adjust(self) -> str:
        """What decisions about all pairs keep."""
        return str(self._adjust)

    @property
    def alpha(self) -> float:
        """That error rate."""
        return self._alpha

    @property
    def n_samples(self) -> int:
        """Number of samples at the last look."""
        return int(self._state.totals[0])

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
            message = f"counts must be a fastcmp.stream.PairCounts, got {type(counts).__name__}"
            raise TypeError(message)
        joint, n, names = counts.joint_upper, counts.n_samples, counts.names
        with self._lock:
            state = self._begin(names, n)
            right = joint.diagonal().copy()
            _check_growth(state, right, n)
            found, largest, missing = self._evaluate(joint, right, n, threads)
            decided = state.decided
            if self._adjust == "e-holm":
                decided = _decide(found, missing, 1.0 / self._alpha, decided)
            totals = np.array([n, state.totals[1] + 1])
            self._state = _State(state.names, totals, right, largest, decided)
        return PairLooksResult(
            names=names or (),
            joint=joint,
            n_samples=n,
            n_looks=int(totals[1]),
            log_evalue=found,
            log_evalue_max=largest,
            decided=decided if self._adjust == "e-holm" else None,
            prior=self._prior,
            adjust=self._adjust,
            alpha=self._alpha,
            n_missing=counts.n_missing,
            n_excluded=counts.n_excluded,
        )

    def _begin(self, names: tuple[str, ...] | None, n: int) -> _State:
        """Check the models of a look, and give the state before it."""
        state, m = self._state, len(names or ())
        if m < 2 or n < 1:
            message = f"counts must hold at least 2 models and 1 sample, got {m} and {n}"
            raise ValueError(message)
        if state.names is None:
            p = m * (m - 1) // 2
            decided = np.zeros(p if self._adjust == "e-holm" else 0, bool)
            right = np.zeros(m, np.int64)
            return _State(names, state.totals, right, np.full(p, -np.inf), decided)
        if state.names != names:
            message = (
                f"counts must be of the {len(state.names)} models of the looks before, "
                f"in their order, {state.names[:3]}, got {(names or ())[:3]}"
            )
            raise ValueError(message)
        return state

    def _evaluate(
        self, joint: Ints, right: Ints, n: int, threads: int
    ) -> tuple[Floats, Floats, float]:
        """Find all log e-values, the largest so far, and what is missing of them."""
        m, before = len(right), self._state.largest
        p = m * (m - 1) // 2
        if not before.size:
            before = np.full(p, -np.inf)
        tables = self._extended(n if n < _PAIRS_PAY * p else _LARGEST_TABLE)
        known = (self._prior[0], tables)
        found, largest = np.empty(p), np.empty(p)
        starts = np.arange(m) * m - np.arange(m) * np.arange(1, m + 1) // 2
        threshold = 1.0 / self._alpha if self._adjust == "e-holm" else 0.0

        def evaluate(rows: tuple[int, int]) -> float:
            pair_log_evalues(joint, right, rows, known, before, (found, largest))
            if not threshold:
                return 0.0
            end = starts[rows[1]] if rows[1] < m else p
            return _nearly_missing(found[starts[rows[0]] : end], threshold)

        if threads == 1 or p < _THREADS_PAY:
            return found, largest, evaluate((0, m))
        # Rows are shorter and shorter: parts of equal numbers of pairs.
        cuts = np.searchsorted(starts, np.linspace(0, p, 4 * threads + 1)[1:-1])
        edges = [0, *np.unique(cuts).tolist(), m]
        tasks = [(a, b) for a, b in pairwise(edges) if a < b]
        with ThreadPool(threads) as pool:
            sums = dict(pool.answers(evaluate, tasks))
        return found, largest, math.fsum(sums.values())

    def _extended(self, n: int) -> Ints:
        """Give the tables of log-gamma for counts up to n; none beyond a size."""
        known = self._tables.shape[1]
        if n >= _LARGEST_TABLE:
            return self._tables[:, :0]
        if known <= n:
            tables = np.empty((2, min(2 * n, _LARGEST_TABLE) + 1), np.int64)
            tables[:, :known] = self._tables
            rests = self._rests.copy()
            extend_tables(self._prior[0], known, tables, rests)
            self._tables, self._rests = tables, rests
        return self._tables

    def _settings(self) -> dict[str, Any]:
        return {
            "names": self._state.names,
            "prior": self._prior,
            "adjust": self._adjust,
            "alpha": self._alpha,
        }

    def _arrays(self) -> Arrays:
        _, totals, right, largest, decided = self._state
        return {
            "totals": totals,
            "right": right,
            "largest": largest,
            "decided": np.packbits(decided),
        }

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        names = saved_names(settings)
        m = len(names or ())
        p = m * (m - 1) // 2
        options = {key: settings[key] for key in ("prior", "adjust", "alpha")}
        made = cls(**options)
        kept = p if made._adjust == "e-holm" else 0
        bits = stored(arrays, "decided", (-(-kept // 8),), np.uint8)
        made._state = _State(
            names,
            stored(arrays, "totals", (2,)),
            stored(arrays, "right", (m,)),
            stored(arrays, "largest", (p,), np.float64),
            np.unpackbits(bits, count=kept).astype(bool),
        )
        return made

    def _check(self) -> None:
        names, totals, right, largest, _ = self._state
        begun = names is not None
        require(totals.min() >= (1 if begun else 0), "totals must be numbers")
        require(begun or not totals.any(), "there are looks without models")
        check_within(right, 0, totals[0], "right")
        require(not np.isnan(largest).any(), "largest must be numbers")

    def _check_fit(self, other: Self) -> None:  # noqa: ARG002
        message = "PairLooks do not merge: merge the counts, and look at their sum"
        raise TypeError(message)

    def _join(self, other: Self) -> None:
        """Never reached: `_check_fit` refuses."""

    def _sections(self) -> list[Section]:
        looks = f"{self.n_looks} look{'s' * (self.n_looks != 1)}"
        text = (f"{looks} so far ({self._adjust}).",)
        return [Section(title=self._title(), text=text)]


def _nearly_missing(log_evalues: Floats, threshold: float) -> float:
    """Do what `missing_evidence` does in single precision, four times as fast."""
    total, limits = 0.0, (-80.0, math.log(threshold))
    for part in parts(log_evalues.size, _PART):
        evalues = log_evalues[part].astype(np.float32)
        np.clip(evalues, *limits, out=evalues)
        np.exp(evalues, out=evalues)
        total += float(evalues.sum())
    return threshold * log_evalues.size - total


def _decide(
    log_evalues: Floats, missing: float, threshold: float, decided: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Add the pairs that closed testing rejects at this look.

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


def _check_growth(state: _State, right: Ints, n: int) -> None:
    """Refuse a look at fewer samples than the one before."""
    wrong, wrong_before = n - right, state.totals[0] - state.right
    if (right < state.right).any() or (wrong < wrong_before).any():
        message = (
            "counts must not shrink: looks come in the order of the samples, and each "
            f"counts all samples so far; got {n} after {state.totals[0]}"
        )
        raise ValueError(message)
