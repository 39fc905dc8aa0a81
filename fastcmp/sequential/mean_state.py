"""The test of a bounded mean while values come in: sums, and looks at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import LARGEST_COUNT, as_proportion
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.sections import Section
from fastcmp.kernels.bounded_means import lower_mean_limit
from fastcmp.sequential.looks_result import LooksResult
from fastcmp.sequential.mean import read_bounded
from fastcmp.sequential.options import read_bets, read_bounds, read_mean
from fastcmp.stream.accumulator import Accumulator
from fastcmp.stream.saved_checks import check_within, require, stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.stream.accumulator import Arrays

    Floats = NDArray[np.float64]

_N_BINS = 4096
_N_CELLS = 2 * _N_BINS + 1  # the edges, too


class _State(NamedTuple):
    """What one assignment replaces, so that an interrupt never leaves half a block."""

    #: Number of values on each edge and, between them, in each bin; see `_cells`.
    counts: NDArray[np.int64]
    #: Sum of the values, shape (1,).
    total: Floats
    #: Log-wealth of each bet.
    wealth: Floats
    #: At each look samples, mean, both ends of the interval, and log E, shape (L, 5).
    looks: Floats


class MeanLooks(Accumulator):
    """The mean of bounded values tested by betting while values come in.

    Give blocks of values to `update`, and `look` whenever you like: each look adds an
    e-value, and the p-value so far stays valid.

    Parameters
    ----------
    mean0 : float
        The mean of the null hypothesis.
    bounds : sequence of 2 floats
        Smallest and largest possible value, as in `mean_test`.
    bets : sequence of float, optional
        Constant bets, as in `mean_test`.
    alternative : {"two-sided", "greater", "less"}
        "greater": the mean is above `mean0`.
    alpha : float
        Probability of a false decision at any look, in (0, 1).

    Raises
    ------
    ValueError
        If an option is unknown or out of range.
    TypeError
        If a number is none.

    See Also
    --------
    mean_test : All values at once, with narrower intervals.
    McNemarLooks : Labels instead of values.

    Notes
    -----
    The state is a logarithm for each bet, and counts of values in 4,096 bins: it adds
    up, to rounding, in whatever order and on however many machines. Its intervals are
    two-sided, and those of `mean_test` with each value at the worse end of its bin,
    which widens them by some 1/4096 of the range. States merge before the other one has
    looked.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.sequential import MeanLooks
    >>> state = MeanLooks(bounds=(-1, 1))
    >>> for _ in range(5):
    ...     result = state.update(np.resize([0.5, 0.0, -0.25, 0.25], 100)).look()
    >>> result.first_rejection, result.n_samples.tolist()
    (0, [100, 200, 300, 400, 500])
    """

    _state: _State

    def __init__(
        self,
        *,
        mean0: float = 0.0,
        bounds: Sequence[float] = (-1.0, 1.0),
        bets: Sequence[float] | None = None,
        alternative: str = "two-sided",
        alpha: float = 0.05,
    ) -> None:
        self._alternative = choose(alternative, "alternative", ALTERNATIVES)
        self._bounds = read_bounds(bounds)
        self._mean = read_mean(mean0, self._bounds)
        self._bets = read_bets(bets, self._mean, self._bounds, self._alternative)
        self._alpha = as_proportion(alpha, "alpha")
        counts, wealth = np.zeros(_N_CELLS, np.int64), np.zeros(self._bets.size)
        self._state = _State(counts, np.zeros(1), wealth, np.zeros((0, 5)))

    @property
    def names(self) -> None:
        """No names: the values are of no model by itself."""
        return

    @property
    def n_samples(self) -> int:
        """Number of values that were added."""
        return int(self._state.counts.sum())

    @property
    def n_looks(self) -> int:
        """How many looks were taken."""
        return len(self._state.looks)

    def update(self, differences: ArrayLike) -> Self:
        """Add a block of values.

        Parameters
        ----------
        differences : array-like of float, shape (n,)
            Any number of values within the bounds.

        Returns
        -------
        MeanLooks
            This state.

        Raises
        ------
        ValueError
            If a value lies outside of the bounds; nothing is added then.
        TypeError
            If values are not numbers.

        Examples
        --------
        >>> from fastcmp.sequential import MeanLooks
        >>> MeanLooks().update([0.5, -0.25])
        <MeanLooks: 2 samples>
        """
        values = read_bounded(differences, self._bounds, 0)
        counts = np.bincount(_cells(values, self._bounds), minlength=_N_CELLS)
        wealth = np.zeros(self._bets.size)
        kernels.bet_on_values(values, self._mean, self._bets, wealth)
        with self._lock:
            state = self._state
            self._state = state._replace(
                counts=state.counts + counts,
                total=state.total + values.sum(),
                wealth=state.wealth + wealth,
            )
        return self

    def look(self) -> LooksResult:
        """Look at the evidence so far; without new values the last look is repeated.

        Returns
        -------
        LooksResult
            This look, and those before.

        Examples
        --------
        >>> from fastcmp.sequential import MeanLooks
        >>> MeanLooks().update([1.0, 1.0, 1.0]).look().evalue.round(4).tolist()
        [1.25]
        """
        with self._lock:
            state, n = self._state, self.n_samples
            if not len(state.looks) or state.looks[-1, 0] != n:
                log_evalue = kernels.log_mean_exp(state.wealth)
                mean = state.total[0] / n if n else np.nan
                row = [n, mean, *self._interval(state.counts), log_evalue]
                looks = np.vstack([state.looks, row])
                self._state = state = state._replace(looks=looks)
        samples, mean, low, high, log_evalues = state.looks.T.copy()
        return LooksResult(
            log_evalue=log_evalues,
            n_samples=samples.astype(np.int64),
            estimate=mean,
            low=low,
            high=high,
            measure="mean",
            null=self._mean,
            alternative=self._alternative,
            alpha=self._alpha,
        )

    def _interval(self, counts: NDArray[np.int64]) -> tuple[float, float]:
        """Bound the mean by values at the worse ends of their bins."""
        held = np.flatnonzero(counts)
        many, level = counts[held], 1.0 - self._alpha
        below = np.asarray((held // 2) * (2.0 / _N_BINS) - 1.0)
        above = np.asarray(((held + 1) // 2) * (2.0 / _N_BINS) - 1.0)
        low = lower_mean_limit(below, many, level)
        high = -lower_mean_limit(-above, many, level)
        centre, half = _middle(self._bounds)
        return centre + half * low, centre + half * high

    def _settings(self) -> dict[str, Any]:
        return {
            "mean0": self._mean,
            "bounds": self._bounds,
            "bets": tuple(self._bets.tolist()),
            "alternative": self._alternative,
            "alpha": self._alpha,
        }

    def _arrays(self) -> Arrays:
        return self._state._asdict()

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        made = cls(**settings)
        found = arrays.get("looks")
        n_looks = len(found) if found is not None and found.ndim else 0
        made._state = _State(
            stored(arrays, "counts", (_N_CELLS,)),
            stored(arrays, "total", (1,), np.float64),
            stored(arrays, "wealth", (made._bets.size,), np.float64),
            stored(arrays, "looks", (n_looks, 5), np.float64),
        )
        return made

    def _check(self) -> None:
        counts, total, wealth, looks = self._state
        check_within(counts, 0, LARGEST_COUNT)
        samples = looks[:, 0]
        whole = (samples >= 0).all() and (samples == np.floor(samples)).all()
        grown = (np.diff(samples, append=counts.sum()) >= 0).all()
        require(whole and grown, "looks must be numbers of samples that grow")
        require(np.isfinite(total).all(), "total must be a number")
        require(not np.isnan(wealth).any(), "wealth must be numbers")
        require(not np.isnan(looks[:, 2:]).any(), "looks must be numbers")

    def _check_fit(self, other: Self) -> None:
        super()._check_fit(other)
        if other.n_looks:
            message = (
                "MeanLooks merge before the other one has looked: add the values "
                "first, and look at their sum"
            )
            raise ValueError(message)

    def _join(self, other: Self) -> None:
        state, theirs = self._state, other._state
        self._state = _State(
            state.counts + theirs.counts,
            state.total + theirs.total,
            state.wealth + theirs.wealth,
            state.looks,
        )

    def _sections(self) -> list[Section]:
        text = (f"Values in [{self._bounds[0]:g}, {self._bounds[1]:g}].",)
        return [Section(title=self._title(), text=text)]


def _middle(bounds: tuple[float, float]) -> tuple[float, float]:
    """Give the middle of an interval, and half of its length."""
    return 0.5 * (bounds[0] + bounds[1]), 0.5 * (bounds[1] - bounds[0])


def _cells(values: Floats, bounds: tuple[float, float]) -> NDArray[np.int64]:
    """Give the number of the edge, or of the bin between two edges, of each value."""
    place = (values - bounds[0]) * (_N_BINS / (bounds[1] - bounds[0]))
    edge = np.clip(np.floor(place), 0, _N_BINS)
    return 2 * edge.astype(np.int64) + (place > edge) * (edge < _N_BINS)
