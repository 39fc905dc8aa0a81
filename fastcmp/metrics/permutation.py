"""Permutation tests of metrics of two models, on the cells of their counts.

Under the null hypothesis the predictions of both models can be exchanged in each
sample. The statistic changes its sign where all of them are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.kernels.count_draws import add_tails
from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics.cell_draws import evaluate_draws, measure, standard_errors
from fastcmp.metrics.derived import UserEstimator
from fastcmp.metrics.exchanges import MOST_CONFIGURATIONS, Exchanges
from fastcmp.metrics.two_class_exact import exact_pvalue, rises_with_hits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.metrics.cells import Cells, Drawn
    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]

_EQUAL = 1e-9  # statistics that differ by less, also of their size, are equal
_NOTHING = 1e-12
_MOST_CELLS = 64  # discordant; more have over 2**32 configurations
_MOST_CALLS = 10_000  # of a user's function
_SIDES = ("two-sided", "greater", "less")


class PermutationOutcome(NamedTuple):
    """A permutation test of one metric."""

    #: Of a minus b, also of logarithms; and studentized, divided by its standard error.
    difference: float
    statistic: float
    pvalue: float
    #: Of the p-value, from random configurations; 0 where it is exact.
    standard_error: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: How many there are, an integer; infinite if it has more than 300 digits.
    n_configurations: float
    #: Random ones that were looked at; 0 where all were.
    n_resamples: int
    #: Samples whose two predictions differ.
    n_discordant: int
    #: Configurations looked at in which the metric is undefined: they are extreme.
    n_undefined: int


def is_exact(estimators: Sequence[Estimator], cells: Cells) -> bool:
    """Tell whether the test is soon exact: of two classes nearly always."""
    if cells.clusters is None:
        if all(rises_with_hits(estimator) for estimator in estimators):
            return True
        _, a, b = cells.codes.T
        if np.count_nonzero(a != b) > _MOST_CELLS:  # not one factor of 2 a pair
            return False
    most = MOST_CONFIGURATIONS
    if any(isinstance(estimator, UserEstimator) for estimator in estimators):
        most = _MOST_CALLS
    exchanges = Exchanges(cells)
    return exchanges.can_enumerate and exchanges.n_configurations <= most


def permutation_tests(
    estimators: Sequence[Estimator],
    cells: Cells,
    *,
    alternative: str = "two-sided",
    studentized: bool = False,
    log: bool = False,
    exact: bool | None = None,
    n_resamples: int = 9999,
    seed: int = 0,
    pool: ThreadPool | None = None,
) -> list[PermutationOutcome]:
    """Test whether two models can be exchanged, by several metrics on the same draws.

    With `log` the difference of logarithms is looked at. `exact` None looks at all
    configurations where `can_enumerate`, and else at random ones.
    """
    exchanges = Exchanges(cells)
    if exact and not studentized and not log:
        found = [exact_pvalue(each, cells, alternative) for each in estimators]
        if None not in found:
            return _sorted_out(estimators, exchanges, found)
    if exact and not exchanges.can_enumerate:
        raise ValueError("there are too many configurations to look at all of them")
    statistics = [
        _Statistic(estimator, exchanges, studentized=studentized, log=log)
        for estimator in estimators
    ]
    if exchanges.can_enumerate if exact is None else exact:
        n_resamples = 0
        tails, n_undefined = _look_at_all(statistics, exchanges, pool)
    else:
        tails, n_undefined = _draw(statistics, exchanges, (n_resamples, seed), pool)
    side = _SIDES.index(alternative)
    return [
        _outcome(statistic, exchanges, float(own[side]), (n_resamples, int(n)))
        for statistic, own, n in zip(statistics, tails, n_undefined, strict=True)
    ]


def _sorted_out(
    estimators: Sequence[Estimator], exchanges: Exchanges, found: list[float | None]
) -> list[PermutationOutcome]:
    """Give p-values that needed no look at each configuration."""
    outcomes = []
    for estimator, pvalue in zip(estimators, found, strict=True):
        assert pvalue is not None
        statistic = _Statistic(estimator, exchanges, studentized=False, log=False)
        outcomes.append(_outcome(statistic, exchanges, pvalue, (0, 0)))
    return outcomes


def _outcome(
    statistic: _Statistic, exchanges: Exchanges, pvalue: float, n: tuple[int, int]
) -> PermutationOutcome:
    n_resamples, n_undefined = n
    status = OK
    observed, difference = statistic.observed, statistic.difference
    if exchanges.n_discordant == 0:  # also where the metric of both is undefined
        observed = difference = 0.0
        pvalue, status = 1.0, DEGENERATE
    elif math.isnan(observed):
        pvalue, status = math.nan, UNDEFINED
    return PermutationOutcome(
        difference=difference,
        statistic=observed,
        pvalue=pvalue,
        standard_error=math.sqrt(pvalue * (1.0 - pvalue) / (n_resamples or math.inf)),
        status=status,
        n_configurations=exchanges.n_configurations,
        n_resamples=n_resamples,
        n_discordant=exchanges.n_discordant,
        n_undefined=n_undefined,
    )


class _Statistic:
    """The statistic of one metric, in the data and in any draw."""

    def __init__(
        self,
        estimator: Estimator,
        exchanges: Exchanges,
        *,
        studentized: bool,
        log: bool,
    ) -> None:
        self._estimator, self._exchanges = estimator, exchanges
        self._studentized, self._log = studentized, log
        data = exchanges.cells.as_drawn()
        self.difference = float(measure(estimator, data.tables, log=log)[0])
        self.observed = float(self.of(data)[0])
        self.tolerance = 0.0
        if math.isfinite(self.observed):
            self.tolerance = _EQUAL * max(1.0, abs(self.observed))

    def of(self, drawn: Drawn) -> Floats:
        """Evaluate draws; studentized, 0 / 0 is 0 and x / 0 infinite."""
        t = measure(self._estimator, drawn.tables, log=self._log)
        if not self._studentized:
            return t
        error = standard_errors(
            self._estimator,
            self._exchanges.cells,
            drawn,
            log=self._log,
            partner=self._exchanges.partner,
        )
        t[np.abs(t) <= _NOTHING] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((t == 0.0) & (error == 0.0), 0.0, t / error)

    def count_extreme(self, t: Floats) -> list[int]:
        """Count the draws that are extreme: on both sides, above and below."""
        low, high = self.observed - self.tolerance, self.observed + self.tolerance
        inside = np.abs(t) < abs(self.observed) - self.tolerance
        return [int(np.count_nonzero(~each)) for each in (inside, t < low, t > high)]


def _look_at_all(
    statistics: list[_Statistic], exchanges: Exchanges, pool: ThreadPool | None
) -> tuple[Floats, Floats]:
    """Give the exact p-values of all sides, (E, 3), and count undefined ones, (E,)."""
    configurations = exchanges.enumerate()
    found: dict[int, Floats] = {}

    def take(part: slice, drawn: Drawn) -> None:
        own = np.zeros((len(statistics), 5))
        assert drawn.weights is not None
        for row, statistic in zip(own, statistics, strict=True):
            t = statistic.of(drawn)
            observed = statistic.observed, statistic.tolerance
            add_tails(t, drawn.weights, *observed, row[:4])
            row[4] = 2 * np.count_nonzero(np.isnan(t))
        found[part.start] = own

    evaluate_draws(exchanges.cells, configurations.n, configurations.fill, take, pool)
    total = np.zeros((len(statistics), 5))
    for start in sorted(found):
        total += found[start]
    beyond = configurations.beyond
    pvalues = (total[:, :3] + beyond) / (total[:, 3:4] + beyond)
    return np.minimum(pvalues, 1.0), total[:, 4]


def _draw(
    statistics: list[_Statistic],
    exchanges: Exchanges,
    draws: tuple[int, int],
    pool: ThreadPool | None,
) -> tuple[Floats, Floats]:
    """Give the p-values of random draws, (E, 3), and count undefined ones, (E,)."""
    n_resamples, seed = draws
    t = np.empty((len(statistics), n_resamples))

    def take(part: slice, drawn: Drawn) -> None:
        for row, statistic in zip(t, statistics, strict=True):
            row[part] = statistic.of(drawn)

    evaluate_draws(exchanges.cells, n_resamples, exchanges.random(seed), take, pool)
    extreme = np.array([each.count_extreme(row) for each, row in zip(statistics, t, strict=True)])
    return (extreme + 1.0) / (n_resamples + 1.0), np.isnan(t).sum(axis=1)
