"""Means of bounded values by betting: at once, or while values come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    LARGEST_COUNT,
    as_finite,
    as_flag,
    as_level,
    as_proportion,
    choose,
    keep_side,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import null_value, with_null
from fastcmp.core.typing import Floats, Ints
from fastcmp.inputs.columns import read_values
from fastcmp.kernels.bounded_means import N_SCALES, bernstein_limits, lower_mean_limit
from fastcmp.sequential.evalues import evalue_of, format_evalue, pvalue_of
from fastcmp.sequential.looks_result import LooksResult
from fastcmp.stream.accumulator import Accumulator, State, check_within, looks, require, summed

_N_BINS = 4096
_N_CELLS = 2 * _N_BINS + 1  # the edges, too
_METHODS = {
    "bets": "constant bets",
    "empirical-bernstein": "empirical Bernstein; it depends on the order of the values",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeanEvalueResult(Record):
    """A test of the mean of bounded values, which may be looked at any time."""

    _blocks = "sequential:mean"
    _closing = (
        "Evidence is measured by e-values, and intervals are confidence sequences: what they "
        "promise holds at all looks at once, however often one looks."
    )
    _opening = "Test: {title}."
    _cites = ("waudby ramdas",)

    #: Natural logarithm of the e-value, of an equal mixture of constant bets.
    log_evalue: float
    #: The mean of the values.
    mean: float
    #: The mean of the null hypothesis.
    mean0: float
    #: Ends of the interval for the mean, which hold at every look.
    low: float
    high: float
    confidence_level: float
    #: Of the interval: "bets", or "empirical-bernstein", which depends on the order in
    #: which the values came.
    method: str
    n_samples: int
    #: Smallest and largest possible value.
    bounds: tuple[float, float]
    alternative: str

    @property
    def evalue(self) -> float:
        """Evidence against the null hypothesis: its expectation there is at most 1."""
        return float(evalue_of(self.log_evalue))

    @property
    def pvalue(self) -> float:
        """A p-value that is valid at every look: 1 / `evalue`, at most 1."""
        return float(pvalue_of(self.log_evalue))

    @property
    def order_dependent(self) -> bool:
        """Whether the same values in another order would give another interval."""
        return self.method == "empirical-bernstein"

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The interval for the mean: ``low`` and ``high``."""
        return ConfidenceInterval(self.low, self.high)

    def _shown(self) -> dict[str, Any]:
        entries = {"evalue": self.evalue, "pvalue": self.pvalue, **self._fields()}
        return entries | {"order_dependent": self.order_dependent}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        name = interval_name(self.confidence_level, self.alternative)
        ends = format_interval(self.low, self.high, digits=4)
        text = (
            f"Mean {self.mean:.4f} of {self.n_samples} values in [{self.bounds[0]:g}, "
            f"{self.bounds[1]:g}], {name} {ends} ({_METHODS[self.method]}).",
            with_null(
                f"E = {format_evalue(self.log_evalue)}, p = {format_pvalue(self.pvalue)}",
                null_value(self.alternative, "the mean", f"{self.mean0:g}"),
                end=", valid at every look.",
            ),
        )
        title = f"Test of a bounded mean by an e-value ({self.alternative})"
        return [Section(title=title, text=text)]


def read_bounds(bounds: object) -> tuple[float, float]:
    """Check the smallest and the largest possible value."""
    if isinstance(bounds, (str, bytes)) or not isinstance(bounds, Iterable):
        raise BadTypeError("`bounds` must be two numbers", repr(bounds))
    ends = tuple(as_finite(x, "bounds") for x in bounds)
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise BadValueError("`bounds` must be two numbers, the lower one first", repr(bounds))
    return ends[0], ends[1]


def read_mean(mean0: object, bounds: tuple[float, float]) -> float:
    """Check the mean of the null hypothesis."""
    mean = as_finite(mean0, "mean0")
    if not bounds[0] <= mean <= bounds[1]:
        raise BadValueError(f"`mean0` must lie within bounds, {bounds}", mean0)
    return mean


def read_bets(bets: object, mean: float, bounds: tuple[float, float], alternative: str) -> Floats:
    """Check bets, or make those of all scales for the sides of a test."""
    if bets is None:
        half = 0.5 * (bounds[1] - bounds[0])
        centre = 0.5 * (bounds[0] + bounds[1])
        scales = 2.0 ** (-0.5 * np.arange(N_SCALES)) / (half + abs(mean - centre))
        sides = {"greater": [scales], "less": [-scales]}
        return np.concatenate(sides.get(alternative, [scales, -scales]))
    try:
        array = np.array(bets, np.float64)
    except (TypeError, ValueError):
        raise BadTypeError("`bets` must be numbers", repr(bets)) from None
    if array.ndim != 1 or not array.size:
        raise BadValueError("`bets` must be a sequence of numbers", f"shape {array.shape}")
    # At either bound the wealth must not become negative, but for rounding.
    least = [np.min(1.0 + array * (end - mean)) for end in bounds]
    if not min(least) >= -1e-12:
        raise BadValueError(
            "`bets` must keep 1 + bet * (value - mean0) at 0 or above for all values within "
            f"bounds, {bounds}; got one for which it is {min(least):.3g}"
        )
    if alternative != "two-sided":
        sign = 1.0 if alternative == "greater" else -1.0
        if np.any(sign * array < 0.0):
            raise BadValueError(
                f"`bets` must not be {'negative' if sign > 0 else 'positive'} for "
                f"`alternative={alternative!r}`"
            )
    return array


def read_bounded(raw: object, bounds: tuple[float, float], least: int) -> Floats:
    """Check values that must lie within bounds."""
    values = read_values(raw, "differences")
    if values.size < least:
        raise BadValueError(f"`differences` must hold at least {least} value", "none")
    inside = (values >= bounds[0]) & (values <= bounds[1])
    if not inside.all():
        raise BadValueError(f"`differences` must lie within bounds, {bounds}", values[~inside][0])
    return values


def mean_test(
    differences: ArrayLike,
    *,
    mean0: float = 0.0,
    bounds: Sequence[float] = (-1.0, 1.0),
    bets: Sequence[float] | None = None,
    alternative: str = "two-sided",
    method: str = "bets",
    confidence_level: float = 0.95,
    truncation: float = 0.5,
    running_intersection: bool = False,
) -> MeanEvalueResult:
    """Test the mean of bounded values, valid whenever and however often one looks.

    Parameters
    ----------
    differences : array-like of float, shape (n,)
        All values so far: differences of two models' grades or losses, or any values
        that cannot be outside of `bounds`.
    mean0 : float
        The mean of the null hypothesis.
    bounds : sequence of 2 floats
        Smallest and largest possible value: of differences of values in [0, 1] these
        are -1 and 1.
    bets : sequence of float, optional
        Constant bets r, which multiply the wealth by 1 + r (x - mean0) for each value
        x; the e-value is their mean wealth. By default 24 on each side, from the
        largest one that is possible on, each smaller by the root of 2.
    alternative : {"two-sided", "greater", "less"}
        "greater": the mean is above `mean0`. Only bets on that side are made.
    method : {"bets", "empirical-bernstein"}
        Of the interval: the means that the bets by default do not reject, in any order
        of the values; or a predictable plug-in bound, which depends on the order and is
        mostly wider.
    confidence_level : float
        Of the interval, in (0, 1).
    truncation : float
        Of the empirical Bernstein bound: the largest bet, in (0, 1).
    running_intersection : bool
        Of the same: whether the ends are the best ones of all times so far.

    Returns
    -------
    MeanEvalueResult
        The e-value, and an interval that is valid at every look.

    Raises
    ------
    ValueError
        If a value lies outside of the bounds, no value is given, bets could make the wealth
        negative, or an option is unknown or out of range.
    TypeError
        If values are not numbers.

    See Also
    --------
    MeanLooks : The same while values come in.

    Notes
    -----
    O(n) for each bet and, for the interval, each of some twenty means. The two limits
    have half of the error each, so that an interval can hold `mean0` where the e-value
    just reaches 1 / (1 - confidence_level).

    References
    ----------
    .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
       betting", J. Royal Statistical Society B 86 (2024) 1-27.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp.sequential import mean_test
    >>> result = mean_test(np.resize([0.5, 0.0, -0.25, 0.25], 400))
    >>> bool(result.evalue > 1e6), result.mean
    (True, 0.125)
    >>> round(result.low, 4), round(result.high, 4)
    (0.0767, 0.1733)
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    method = choose(method, "method", _METHODS)
    ends = read_bounds(bounds)
    mean = read_mean(mean0, ends)
    level = as_level(confidence_level, alternative)
    largest = as_proportion(truncation, "truncation")
    best_of_all = as_flag(running_intersection, "running_intersection")
    wagers = read_bets(bets, mean, ends, alternative)
    values = read_bounded(differences, ends, 1)
    wealth = np.zeros(wagers.size)
    kernels.bet_on_values(values, mean, wagers, wealth)
    if method == "bets":
        centre, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
        scaled = np.clip((values - centre) / half, -1.0, 1.0)
        low, high = kernels.anytime_mean_interval(scaled, level)
        low, high = centre + half * low, centre + half * high
    else:  # both sides, each with half of the error
        width = ends[1] - ends[0]
        scaled = np.clip((values - ends[0]) / width, 0.0, 1.0)
        lows, highs = np.empty((2, values.size))
        bernstein_limits(scaled, 0.5 * (1.0 - level), largest, lows, highs)
        if best_of_all:
            lows, highs = lows.max(keepdims=True), highs.min(keepdims=True)
        low, high = ends[0] + width * float(lows[-1]), ends[0] + width * float(highs[-1])
    low, high = keep_side((low, high), alternative, ends)
    return MeanEvalueResult(
        log_evalue=float(kernels.log_mean_exp(wealth)),
        mean=float(np.mean(values)),
        mean0=mean,
        low=low,
        high=high,
        confidence_level=float(confidence_level),
        method=method,
        n_samples=values.size,
        bounds=ends,
        alternative=alternative,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _State(State):
    #: Number of values on each edge and, between them, in each bin.
    counts: Annotated[Ints, summed(_N_CELLS)]
    #: Sum of the values, shape (1,).
    total: Annotated[Floats, summed(1, dtype=np.float64)]
    #: Log-wealth of each bet.
    wealth: Annotated[Floats, summed("n_bets", dtype=np.float64)]
    #: At each look samples, mean, both ends of the interval, and log E, shape (L, 5).
    looks: Annotated[Floats, looks(None, 5, dtype=np.float64)]


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
        If an argument is not a number.

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
        alternative = choose(alternative, "alternative", ALTERNATIVES)
        self._bounds = read_bounds(bounds)
        self._mean = read_mean(mean0, self._bounds)
        self._bets = read_bets(bets, self._mean, self._bounds, alternative)
        self._options = {
            "mean0": self._mean,
            "bounds": self._bounds,
            "bets": tuple(self._bets.tolist()),
            "alternative": alternative,
            "alpha": as_proportion(alpha, "alpha"),
        }
        self._state = _State.begin(self._sizes({}))

    def _sizes(self, _: object) -> dict[str, int]:
        return {"n_bets": self._bets.size}

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
        # The number of the edge, or of the bin between two edges, of each value.
        place = (values - self._bounds[0]) * (_N_BINS / (self._bounds[1] - self._bounds[0]))
        edge = np.clip(np.floor(place), 0, _N_BINS)
        cells = 2 * edge.astype(np.int64) + (place > edge) * (edge < _N_BINS)
        counts = np.bincount(cells, minlength=_N_CELLS)
        wealth = np.zeros(self._bets.size)
        kernels.bet_on_values(values, self._mean, self._bets, wealth)
        with self._lock:
            state = self._state
            self._state = replace(
                state,
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
                # Values at the worse ends of their bins bound the mean.
                held = np.flatnonzero(state.counts)
                many, level = state.counts[held], 1.0 - self._options["alpha"]
                below = np.asarray((held // 2) * (2.0 / _N_BINS) - 1.0)
                above = np.asarray(((held + 1) // 2) * (2.0 / _N_BINS) - 1.0)
                low = lower_mean_limit(below, many, level)
                high = -lower_mean_limit(-above, many, level)
                start, end = self._bounds
                centre, half = 0.5 * (start + end), 0.5 * (end - start)
                row = [n, mean, centre + half * low, centre + half * high, log_evalue]
                looks = np.vstack([state.looks, row])
                self._state = state = replace(state, looks=looks)
        samples, means, lows, highs, log_evalues = state.looks.T.copy()
        return LooksResult(
            log_evalue=log_evalues,
            n_samples=samples.astype(np.int64),
            estimate=means,
            low=lows,
            high=highs,
            measure="mean",
            null=self._mean,
            alternative=self._options["alternative"],
            alpha=self._options["alpha"],
        )

    def _check(self) -> None:
        state = self._state
        counts, looks = state.counts, state.looks
        check_within(counts, 0, LARGEST_COUNT)
        samples = looks[:, 0]
        whole = (samples >= 0).all() and (samples == np.floor(samples)).all()
        grown = (np.diff(samples, append=counts.sum()) >= 0).all()
        require(whole and grown, "looks must be numbers of samples that grow")
        require(np.isfinite(state.total).all(), "total must be a number")
        require(not np.isnan(state.wealth).any(), "wealth must be numbers")
        require(not np.isnan(looks[:, 2:]).any(), "looks must be numbers")

    def _sections(self) -> list[Section]:
        text = (f"Values in [{self._bounds[0]:g}, {self._bounds[1]:g}].",)
        return [Section(title=self._title(), text=text)]
