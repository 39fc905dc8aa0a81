"""What calibration is made of: isotonic fits, bins, logistic recalibration, and their tests."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.kernels.isotonic import isotonic_fits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Items up to which all outcomes are looked at.
EXACT = 16
_CELLS = 1 << 22  # numbers that are drawn at once
_STEPS, _CONVERGED = 100, 1e-12
_LONGEST = 2.0  # step of Newton's method
_PLAIN = 12  # steps before each is looked at
_FAR = 40.0  # on the logit scale


class Ordered(NamedTuple):
    """Items of one model in the order of their probabilities, equal ones together."""

    #: Item of each place, shape (n,).
    order: Ints
    #: Distinct probabilities, ascending, shape (K,), and how many items have each.
    values: Floats
    sizes: Floats
    #: The distinct probability of each item, shape (n,).
    place: Ints

    @classmethod
    def of(cls, p: Floats) -> Ordered:
        """Sort."""
        order = np.argsort(p)
        ranked = p[order]
        new = np.concatenate([[True], ranked[1:] != ranked[:-1]])
        first = np.flatnonzero(new)
        place = np.empty(p.size, np.int64)
        place[order] = np.cumsum(new) - 1
        return cls(order, ranked[first], np.diff(first, append=p.size).astype(np.float64), place)

    def fits(self, sums: Floats, sizes: Floats | None = None) -> Floats:
        """Isotonic frequencies of sums of outcomes by distinct probability, shape (R, K)."""
        sizes = np.broadcast_to(self.sizes, sums.shape) if sizes is None else sizes
        fitted = np.empty_like(sums)
        isotonic_fits(sums, np.ascontiguousarray(sizes), self.values, fitted)
        return fitted

    def recalibrated(self, y: Floats, folds: Ints | None, n_folds: int) -> tuple[Floats, Floats]:
        """Isotonic frequency of each item, and that by the other folds alone."""
        k, rows = self.values.size, 1 if folds is None else n_folds + 1
        sums, sizes = np.empty((rows, k)), np.empty((rows, k))
        sums[0], sizes[0] = np.bincount(self.place, y, k), self.sizes
        if folds is not None:
            code = folds * k + self.place
            of_fold = np.bincount(code, y, n_folds * k).reshape(n_folds, k)
            np.subtract(sums[0], of_fold, out=sums[1:])
            np.subtract(
                sizes[0], np.bincount(code, minlength=of_fold.size).reshape(-1, k), out=sizes[1:]
            )
        fitted = self.fits(sums, sizes)
        alone = fitted[0][self.place]
        return alone, alone if folds is None else fitted[folds + 1, self.place]

    def shares(self, n_groups: int) -> Ints:
        """Group of each item, of equal sizes; equal probabilities are in that of the first."""
        first = np.cumsum(self.sizes) - self.sizes
        return np.floor(first * n_groups / self.place.size).astype(np.int64)[self.place]


def item_scores(p: Floats, y: Floats, score: str) -> Floats:
    """Brier score or log loss of each item; infinite where the impossible happened."""
    if score == "brier":
        return np.square(p - y)
    with np.errstate(divide="ignore"):
        return -np.log(np.where(y > 0.0, p, 1.0 - p))


# Bins of probabilities.


def width_bins(p: Floats, n_bins: int) -> Ints:
    """Bin (lo, hi] of equal width of each probability; 0 is in the first."""
    edges = np.linspace(0.0, 1.0, n_bins + 1) + 1e-12  # 0.1 + 0.2 is 0.3
    return np.clip(np.searchsorted(edges, p, side="left") - 1, 0, n_bins - 1)


def bin_measures(y: Floats, p: Floats, codes: Ints) -> dict[str, float]:
    """How far probabilities and frequencies lie apart in bins, all averages over items.

    What is corrected for chance is NaN unless the items of each bin have one probability,
    and are two or more; the debiased square leaves out bins of one item.
    """
    count = np.bincount(codes).astype(np.float64)
    used = count > 0.0
    codes, count = (np.cumsum(used) - 1)[codes], count[used]
    share, several = count / y.size, count > 1.0
    rate, mean = np.bincount(codes, y) / count, np.bincount(codes, p) / count
    gap, apart, overall = rate - mean, p - mean[codes], y.mean()
    below = np.maximum(count - 1.0, 1.0)
    spread = np.bincount(codes, np.square(y - p - gap[codes])) / below / count
    kept = np.where(several, share, 0.0)
    reliability, resolution = share @ np.square(gap), share @ np.square(rate - overall)
    chance: Any
    chance, more = share @ (rate * (1.0 - rate) / below), overall * (1.0 - overall) / (y.size - 1.0)
    if not several.all() or np.abs(apart).max() > 1e-12:
        chance = np.nan
    found = {
        "ece": share @ np.abs(gap),
        "mce": np.abs(gap).max(),
        "debiased_square": kept @ (np.square(gap) - spread) / kept.sum()
        if kept.any()
        else math.nan,
        "reliability": reliability,
        "resolution": resolution,
        "within_variance": np.square(apart).mean(),
        "within_covariance": 2.0 * (apart * (y - rate[codes])).mean(),
        "corrected_reliability": reliability - chance,
        "corrected_resolution": resolution - chance + more,
        "corrected_uncertainty": overall * (1.0 - overall) + more + 0.0 * chance,
        "n_single": np.count_nonzero(~several),
    }
    return {name: float(x) for name, x in found.items()}


def hosmer_lemeshow(y: Floats, p: Floats, codes: Ints) -> tuple[float, int]:
    """Statistic of Hosmer and Lemeshow, and the number of groups."""
    count = np.bincount(codes).astype(np.float64)
    used = count > 0.0
    observed, expected = np.bincount(codes, y)[used], np.bincount(codes, p)[used]
    off = np.square(observed - expected)
    spread = expected * (1.0 - expected / count[used])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(off == 0.0, 0.0, off / np.maximum(spread, 0.0))
    return float(terms.sum()), int(np.count_nonzero(used))


def spiegelhalter(y: Floats, p: Floats) -> float:
    """Brier score less its expectation, over its standard deviation; NaN without one."""
    slope = 1.0 - 2.0 * p
    spread, off = float((np.square(slope) * p * (1.0 - p)).sum()), float(((y - p) * slope).sum())
    return off / math.sqrt(spread) if spread > 0.0 else math.nan


# Logistic recalibration: the logit of the truth on that of the probability.


class Recalibration(NamedTuple):
    """Intercept with slope 1, slope with a free intercept, and what items add to both."""

    citl: float
    slope: float
    #: Standard errors of the model.
    citl_model_se: float
    slope_model_se: float
    #: The likelihood ratio against (0, 1).
    likelihood_ratio: float
    #: Shape (n,), each sum is 0; NaN where there is no estimate.
    intercept_influence: Floats
    slope_influence: Floats
    problem: str


def recalibrate(y: Floats, p: Floats) -> Recalibration:
    """Fit both regressions by Newton's method."""
    nan, none = math.nan, np.full(y.size, math.nan)
    n_positives = y.sum()
    endless = math.inf if n_positives else -math.inf
    one_class = n_positives in (0.0, float(y.size))
    if ((p <= 0.0) | (p >= 1.0)).any():
        problem = "probabilities of 0 or 1 have no logit"
        return Recalibration(nan, nan, nan, nan, nan, none, none, problem)
    if one_class:
        problem = "all items are of one class"
        return Recalibration(endless, nan, nan, nan, nan, none, none, problem)
    x = np.log(p) - np.log1p(-p)
    a, below, above = 0.0, -float(x.max()) - _FAR, _FAR - float(x.min())
    for _ in range(_STEPS):
        mu = _expit(a + x)
        information, left = float((mu * (1.0 - mu)).sum()), float((y - mu).sum())
        below, above = (a, above) if left > 0.0 else (below, a)
        step = left / max(information, 1e-300)
        if abs(step) < _CONVERGED * (1.0 + abs(a)):
            break
        a = a + step if below < a + step < above else 0.5 * (below + above)
    information = information or nan  # of probabilities that are all but sure
    first = (a, 1.0 / math.sqrt(information), (y - mu) / information)
    high, low = x[y > 0.0], x[y == 0.0]
    if high.min() >= low.max() or high.max() <= low.min():
        slope, problem = math.inf, "a cutoff separates the classes"
        if high.max() <= low.min():
            slope = -slope
        if x.min() == x.max():
            slope, problem = math.nan, "all probabilities are the same"
        return Recalibration(first[0], slope, first[1], math.nan, math.nan, first[2], none, problem)
    # Standardised, so that steps do not depend on the place of the logits.
    centre, unit = x.mean(), x.std()
    z = (x - centre) / unit
    start = beta = np.array([a + centre, unit])
    for round_ in range(_STEPS):
        mu = _expit(beta[0] + beta[1] * z)
        weight, off = mu * (1.0 - mu), y - mu
        slanted = weight * z
        i, j, k = (float(each.sum()) for each in (weight, slanted, slanted * z))
        determinant = i * k - j * j
        gradient = np.array([off.sum(), (off * z).sum()])
        move = np.array([[k, -j], [-j, i]]) @ gradient / max(determinant, 1e-300)
        if np.abs(move).max() < _CONVERGED * (1.0 + np.abs(beta).max()):
            break
        if round_ == _PLAIN:  # hardly ever: begin again, and never go down
            beta, best = start, _log_likelihood(y, start[0] + start[1] * z)
            continue
        move *= min(1.0, _LONGEST / float(np.abs(move).max()))
        while round_ > _PLAIN:
            ahead = _log_likelihood(y, beta[0] + move[0] + (beta[1] + move[1]) * z)
            if ahead >= best or np.abs(move).max() < _CONVERGED:
                best = ahead
                break
            move *= 0.5
        beta = beta + move
    else:
        problem = "the regression on the logit did not converge"
        return Recalibration(first[0], nan, first[1], nan, nan, first[2], none, problem)
    (b, c), off = beta, y - mu
    ratio = 2.0 * (_log_likelihood(y, b + c * z) - _log_likelihood(y, x))
    return Recalibration(
        first[0],
        c / unit,
        first[1],
        math.sqrt(i / determinant) / unit,
        max(ratio, 0.0),
        first[2],
        off * (i * z - j) / (determinant * unit),
        "",
    )


def _expit(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def _log_likelihood(y: Floats, x: Floats) -> float:
    # Sums, not products: of many short vectors the threads of BLAS cost more than they gain.
    return float((y * x - np.maximum(x, 0.0)).sum() - np.log1p(np.exp(-np.abs(x))).sum())


# Whether miscalibration is 0, as if the probabilities were true.


def miscalibration_pvalue(
    y: Floats, p: Floats, ordered: Ordered, score: str, n_resamples: int, rng: Any
) -> float:
    """P-value of MCB = 0: exact up to 16 items, else by drawn outcomes; NaN for no draws."""
    observed = _miscalibration(y[np.newaxis], p, ordered, score)[0]
    least = observed - 1e-9 * max(1.0, abs(observed))
    if y.size <= EXACT:
        outcomes = (np.arange(1 << y.size)[:, np.newaxis] >> np.arange(y.size)) & 1
        chances = np.where(outcomes == 1, p, 1.0 - p).prod(axis=1)
        possible = chances > 0.0
        found = _miscalibration(outcomes[possible].astype(np.float64), p, ordered, score)
        return float(min(chances[possible][found >= least].sum(), 1.0))
    if not n_resamples:
        return math.nan
    count, size = 0, max(1, _CELLS // y.size)
    for start in range(0, n_resamples, size):
        drawn = rng.random((min(size, n_resamples - start), y.size)) < p
        count += int((_miscalibration(drawn.astype(np.float64), p, ordered, score) >= least).sum())
    return (count + 1.0) / (n_resamples + 1.0)


def _miscalibration(outcomes: Floats, p: Floats, ordered: Ordered, score: str) -> Floats:
    """MCB of each row of outcomes, shape (R,)."""
    starts = (np.cumsum(ordered.sizes) - ordered.sizes).astype(np.int64)
    sums = np.add.reduceat(outcomes[:, ordered.order], starts, axis=1)
    fitted = ordered.fits(np.ascontiguousarray(sums))
    if score == "brier":  # of each group: n (p - g) (p + g - 2 mean)
        values, sizes = ordered.values, ordered.sizes
        gain = (values - fitted) * ((values + fitted) * sizes - 2.0 * sums)
        return np.asarray(gain.sum(axis=1) / p.size)
    from scipy.special import xlogy

    none = ordered.sizes - sums
    gain = xlogy(sums, fitted) + xlogy(none, 1.0 - fitted)
    gain -= xlogy(sums, ordered.values) + xlogy(none, 1.0 - ordered.values)
    return np.asarray(gain.sum(axis=1) / p.size)
