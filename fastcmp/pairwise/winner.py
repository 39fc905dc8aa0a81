"""The estimate of the best model, corrected for its having been picked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from fastcmp.core.checks import as_numbers, as_proportion, as_resamples, as_seed, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import scaled_back, t_ppf
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, beware, interval_name
from fastcmp.core.sentences import answer, how
from fastcmp.core.threads import ThreadPool
from fastcmp.core.typing import Floats, Seed
from fastcmp.kernels.special import truncated_mean, truncated_survival
from fastcmp.pairwise.max_t import SAME, Maxima, covariance_root, read_draws
from fastcmp.pairwise.model_estimates import Estimates, basis, direction, of_record, simulation

_METHOD_NAMES = {
    "conditional": "given that this model won",
    "hybrid": "hybrid: given that this model won, within a simultaneous interval",
    "projection": "simultaneous for all models, whichever won",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WinnerEstimate(Record):
    """What the model with the best estimate truly achieves.

    The best of several estimates is too good on average: it was picked for it.
    """

    _blocks = "selection:winner"
    _opening = "The estimate of the winner was corrected for having been picked as the largest."
    _cites = ("andrews",)

    #: The model with the best estimate, and its position in the input.
    winner: str
    index: int
    #: As it came, and its standard error.
    estimate: float
    standard_error: float
    #: Corrected: too high as often as too low; NaN by projection.
    median: float
    #: Corrected, at `confidence_level`.
    interval: ConfidenceInterval
    #: What the interval would be had the model not been picked.
    naive_interval: ConfidenceInterval
    #: Between which numbers the estimate had to lie for the model to win, the others as
    #: they are.
    truncation: ConfidenceInterval
    #: "hybrid", "conditional" or "projection".
    method: str
    confidence_level: float
    #: The part of the error that the simultaneous interval may have, and its critical
    #: value; None where there is none.
    beta: float | None
    projection_critical: float | None
    n_models: int
    lower_is_better: bool
    #: Draws that the critical value comes from, and the seed that repeats them; None
    #: where none was simulated.
    n_resamples: int | None = None
    seed: int | None = None
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the estimate doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The estimate and the interval, before and after the correction.
        """
        level = interval_name(self.confidence_level)
        ends = _ends(self.interval)
        corrected = f"Corrected: {self.median:.4g}, {level} {ends}"
        if self.method == "projection":
            corrected = f"Corrected {level}: {ends}"
        text = [
            how(f"{basis(self)}.{direction(self)}"),
            f"The best estimate is that of {self.winner}: {self.estimate:.4g}, {level} "
            f"{_ends(self.naive_interval)} ignoring selection.",
            answer(f"{corrected} ({_METHOD_NAMES[self.method]})."),
        ]
        if self.n_resamples is not None:
            text.append(simulation(self))
        return [Section(title="How good is the winner?", text=tuple(text)), *beware(self)]


def _ends(interval: Sequence[Any]) -> str:
    low, high = interval
    return f"[{low:.4g}, {high:.4g}]"


# The mean of a truncated normal distribution, by a quantile that was observed.


_FARTHEST = 1e200


def conditional_mean(
    x: float, sigma: float, truncation: tuple[float, float], probability: float
) -> float:
    """Mean at which x or more has a probability, given the truncation.

    x, of standard error sigma, was seen only because it lies between the two ends.
    """
    below, above = (x - truncation[0]) / sigma, (truncation[1] - x) / sigma
    ends = [x, x]
    for k, sign in ((0, -1.0), (1, 1.0)):
        step = sigma
        while (
            sign * (truncated_survival((x - ends[k]) / sigma, below, above) - probability) < 0.0
            and step < _FARTHEST * sigma
        ):
            ends[k], step = x + sign * step, 2.0 * step
    two = ends[0], ends[1]
    return truncated_mean(x, sigma, math.inf, truncation, probability, two, math.inf)


_METHODS = ("hybrid", "conditional", "projection")
_TIE = 1e-9  # standard errors


def make_winner_estimate(
    estimates: Estimates,
    pool: ThreadPool,
    n_effective: float | None = None,
    *,
    method: str,
    confidence_level: float,
    beta: float | None,
    projection_critical: float | None,
    n_resamples: int | None,
    rng: Seed,
) -> WinnerEstimate:
    """The record of the corrected estimate.

    `n_effective` is how many items the estimates, proportions, are worth: the standard
    error of a proportion is then that of the value which is tested, as in Wilson's
    interval. The observed one is too small just where a proportion is too high, and the
    winner was picked for a high one.
    """
    level = as_proportion(confidence_level, "confidence_level")
    alpha = 1.0 - level
    beta = alpha / 10.0 if beta is None else as_proportion(beta, "beta")
    if beta >= alpha:
        raise BadValueError(f"`beta` must be below 1 - confidence_level = {alpha:.6g}", beta)
    if n_resamples is not None:
        n_resamples = as_resamples(n_resamples)
    critical: float | None = None
    if projection_critical is not None:
        number = as_numbers(projection_critical, "projection_critical", "a number")
        if number.ndim or not 0.0 < number < np.inf:
            raise BadValueError(
                "`projection_critical` must be a number above 0", repr(projection_critical)
            )
        critical = float(number)
    method, seed = choose(method, "method", _METHODS), as_seed(rng)
    winner = int(np.argmax(estimates.merit))
    sigma = float(np.sqrt(estimates.variance[winner]))
    sign = -1.0 if estimates.lower_is_better else 1.0
    x = sign * float(estimates.values[winner])
    spread = np.sqrt(estimates.variance)
    if n_effective is not None:  # two right and two wrong answers added
        rates = (np.abs(estimates.values) * n_effective + 2.0) / (n_effective + 4.0)
        spread = np.sqrt(rates * (1.0 - rates) / n_effective)
    truncation = _truncation(estimates, winner, x, spread)
    cautions = list(estimates.cautions)
    if spread[winner] == 0.0:
        cautions.append(f"The estimate of {estimates.names[winner]} does not vary.")
    elif min(x - truncation[0], truncation[1] - x) <= _TIE * spread[winner]:
        method = "projection"
        cautions.append(
            "Models tie for first place: an estimate given the win does not exist, and "
            "the interval is the simultaneous one."
        )
    n_draws = None
    if method == "conditional":
        critical = None
    elif critical is None:
        one = level if method == "projection" else 1.0 - beta
        critical, n_draws = _projection(
            estimates, one, alpha, n_resamples, seed, pool, proportions=n_effective is not None
        )
    observed = _Observed(x, sigma, truncation, critical, sign, n_effective)
    left = (alpha - beta) / (1.0 - beta) if method == "hybrid" else alpha
    tails = (0.5, 0.5 * left, 1.0 - 0.5 * left)
    median, low, high = (sign * end for end in observed.correct(method, tails))
    if n_effective is not None:  # corrected for continuity where the win makes x too high
        half = min(0.5 / n_effective, x - min(sign, 0.0))
        moved = (truncation[0] - half, truncation[1] - half)
        moved_by_half = observed._replace(x=x - half, truncation=moved)
        low = sign * moved_by_half.correct(method, tails[1:2])[0]
    fields = of_record(estimates) | {"cautions": tuple(cautions)}
    fields.pop("names")
    fields["estimate"] = sign * x
    record = WinnerEstimate(
        **fields,
        winner=estimates.names[winner],
        index=winner,
        standard_error=sigma,
        median=median,
        interval=_ordered(low, high),
        naive_interval=_ordered(*(sign * end for end in observed.naive(level))),
        truncation=_ordered(*(sign * end for end in truncation)),
        method=method,
        confidence_level=level,
        beta=beta if method == "hybrid" else None,
        projection_critical=critical,
        n_models=len(estimates.names),
        n_resamples=n_draws,
        seed=None if n_draws is None else seed,
    )
    in_unit = ("estimate", "standard_error", "median", "interval", "naive_interval", "truncation")
    return cast("WinnerEstimate", scaled_back(record, estimates.exponent, in_unit))


def _ordered(one: float, two: float) -> ConfidenceInterval:
    return ConfidenceInterval(min(one, two), max(one, two))


def _truncation(estimates: Estimates, winner: int, x: float, spread: Floats) -> tuple[float, float]:
    """Limits between which the winner's estimate had to lie for it to win.

    With c the regression of another estimate on the winner's, its own at the same
    residual is ahead below x - (lead) / (1 - c) for c < 1, above it for c > 1.
    Correlations are the observed ones, standard errors `spread`.
    """
    observed = np.sqrt(estimates.variance)
    between = estimates.errors()[winner] ** 2
    # Variance of the winner's estimate less its covariance with each other.
    apart = 0.5 * (between + estimates.variance[winner] - estimates.variance)
    if not np.array_equal(observed, spread):
        product = estimates.variance[winner] - apart
        unit = observed[winner] * observed
        correlation = np.divide(product, unit, out=np.zeros_like(unit), where=unit > 0.0)
        apart = spread[winner] ** 2 - correlation * spread[winner] * spread
        apart[between == 0.0] = 0.0
    lead = estimates.merit[winner] - estimates.merit
    size = spread[winner] ** 2 + spread**2
    below, above = apart > SAME * size, apart < -SAME * size
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = x - lead * spread[winner] ** 2 / apart
    return (float(np.max(ends[below], initial=-np.inf)), float(np.min(ends[above], initial=np.inf)))


def _projection(
    estimates: Estimates,
    level: float,
    alpha: float,
    n_resamples: int | None,
    seed: int,
    pool: ThreadPool,
    *,
    proportions: bool,
) -> tuple[float, int]:
    """Quantile of the largest of all standardised estimates, and the number of draws."""
    count = read_draws(n_resamples, len(estimates.names), level)
    if n_resamples is None and level > 1.0 - alpha:  # a part of the error: half as exact
        count = count._replace(error=0.5 * read_draws(None, 2, 1.0 - alpha).error)
    covariance = estimates.full_covariance
    if proportions:  # of 0 and 1 too, which do not vary in the data
        covariance = covariance + np.diag(np.where(estimates.variance > 0.0, 0.0, 1.0))
    errors = np.sqrt(np.diagonal(covariance))
    varies = errors > 0.0
    root = covariance_root(covariance)[varies] / errors[varies, None]
    draws, lacking = Maxima.of_root(root, count, seed, pool), True
    while lacking:
        largest = np.abs(draws.draws.values).max(axis=0, initial=0.0)
        critical = float(draws.quantiles(largest[None], level)[0])
        lacking = draws.draw_more()
    return critical, draws.n_draws


class _Observed(NamedTuple):
    """What was observed of the winner, its sign such that more is better."""

    x: float
    sigma: float
    truncation: tuple[float, float]
    critical: float | None
    sign: float
    #: Of proportions; None for other estimates.
    n: float | None

    def within(self, critical: float) -> tuple[float, float]:
        """Means from which the estimate is so many standard errors apart: Wilson's."""
        if self.n is None:
            return self.x - critical * self.sigma, self.x + critical * self.sigma
        p, part = abs(self.x), critical**2 / self.n
        middle = p + 0.5 * part
        half = np.sqrt(part * (p * (1.0 - p) + 0.25 * part))
        low = 0.0 if p == 0.0 else float((middle - half) / (1.0 + part))
        high = 1.0 if p == 1.0 else float((middle + half) / (1.0 + part))
        return (low, high) if self.sign > 0.0 else (-high, -low)

    def naive(self, level: float) -> tuple[float, float]:
        """Interval that ignores that the model was picked."""
        return self.within(float(-t_ppf(0.5 * (1.0 - level), None)))

    def correct(self, method: str, tails: Sequence[float]) -> list[float]:
        """Means at which the estimate or more has these probabilities: 0.5 of the median."""
        x, sigma, truncation, critical, sign, n = self
        if n is None and sigma == 0.0:
            return [x] * len(tails)
        if method == "projection":
            assert critical is not None
            low, high = self.within(critical)
            return [math.nan if p == 0.5 else low if p < 0.5 else high for p in tails]
        if method == "conditional" and n is None:
            return [conditional_mean(x, sigma, truncation, p) for p in tails]
        ends, most = (min(sign, 0.0), max(sign, 0.0)), math.inf
        if critical is not None and method == "hybrid":
            ends, most = self.within(critical), critical
        n = math.inf if n is None else n
        return [truncated_mean(x, sigma, n, truncation, p, ends, most) for p in tails]
