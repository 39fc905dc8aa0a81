"""What calibration is made of: isotonic fits, bins, logistic recalibration, and their tests."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.threads import parts
from fastcmp.core.typing import Floats, Ints

#: Items up to which all outcomes are looked at.
EXACT = 16
_CELLS = 1 << 20  # numbers that are drawn at once
_POOLED = 1 << 14  # groups at once
_STEPS, _CONVERGED = 100, 1e-12
_LONGEST = 2.0  # step of Newton's method
_PLAIN = 12  # steps before each is looked at
_FAR = 40.0  # on the logit scale


class Ordered(NamedTuple):
    """Items of one model in the order of their probabilities, equal ones together."""

    #: Item of each place, shape (n,), and where each distinct probability begins, (K,).
    order: Ints
    first: Ints
    #: Distinct probabilities, ascending, shape (K,), and how many items have each, by weight.
    values: Floats
    sizes: Floats
    #: The distinct probability of each item, and its weight, shape (n,).
    place: Ints
    weights: Floats

    @classmethod
    def of(cls, p: Floats, weights: Floats | None = None) -> Ordered:
        """Sort."""
        order = np.argsort(p)
        ranked = p[order]
        new = np.concatenate([[True], ranked[1:] != ranked[:-1]])
        first, place = np.flatnonzero(new), np.empty(p.size, np.int64)
        place[order] = np.cumsum(new) - 1
        weights = np.ones(p.size) if weights is None else weights
        sizes: Any = np.bincount(place, weights)
        return cls(order, first, ranked[first], sizes, place, weights)

    def recalibrated(self, y: Floats, folds: Ints, n_folds: int) -> tuple[Floats, Floats]:
        """Isotonic frequency of each item, and that by the other folds alone.

        The latter is linear between the probabilities of the other folds.
        """
        k, hits, others = self.values.size, y * self.weights, np.full(y.size, math.nan)
        sums: Any = np.bincount(self.place, hits, k)
        ends = np.cumsum(np.bincount(folds, minlength=n_folds))
        small = folds[self.order].astype(np.min_scalar_type(n_folds))  # which sorts fast
        by_fold = self.order[np.argsort(small, kind="stable")]  # ascending in each
        for inside in np.split(by_fold, ends[:-1]):
            at = self.place[inside]
            left = self.sizes - np.bincount(at, self.weights[inside], k)
            used = np.flatnonzero(left > 1e-9 * self.sizes)  # more than rounding of weights
            if used.size:
                left_sums: Any = (sums - np.bincount(at, hits[inside], k))[used]
                means = isotonic_means(left_sums[np.newaxis], left[used])[0]
                others[inside] = np.interp(self.values[at], self.values[used], means)
        return isotonic_means(sums[np.newaxis], self.sizes)[0][self.place], others

    def shares(self, n_groups: int) -> Ints:
        """Group of each item, of equal sizes; equal probabilities are in that of the first."""
        first = (np.cumsum(self.sizes) - self.sizes) / self.sizes.sum()
        group: Ints = np.floor(first * n_groups + 1e-9).astype(np.int64)[self.place]
        return group


def isotonic_means(sums: Floats, sizes: Floats) -> Floats:
    """Frequencies of groups that do not descend, for rows of sums of the same groups, (R, K).

    All neighbours that descend are pooled at once, round after round, which takes few
    rounds. Many groups by SciPy, whose import takes longer than all work on few.
    """
    fitted, k = np.empty(sums.shape), sizes.size
    if k > _POOLED:
        from scipy.optimize import isotonic_regression

        for row, into in zip(sums, fitted, strict=True):
            into[:] = isotonic_regression(row / sizes, weights=sizes).x
        return np.clip(fitted, 0.0, 1.0, out=fitted)  # but for rounding
    for part in parts(len(sums), max(1, _POOLED // k)):  # that stay in the cache
        total, weight = sums[part].ravel(), np.tile(sizes, part.stop - part.start)
        start, n = np.arange(total.size), total.size
        head = start % k == 0
        while True:
            kept = total[:-1] * weight[1:] < total[1:] * weight[:-1]
            kept |= head[1:]
            if kept.all():
                break
            begin = np.flatnonzero(np.concatenate([[True], kept]))
            total, weight = np.add.reduceat(total, begin), np.add.reduceat(weight, begin)
            head, start = head[begin], start[begin]
        fitted[part] = np.repeat(total / weight, np.diff(start, append=n)).reshape(-1, k)
    return np.clip(fitted, 0.0, 1.0, out=fitted)


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


def bin_measures(y: Floats, p: Floats, codes: Ints, weights: Floats) -> dict[str, float]:
    """How far probabilities and frequencies lie apart in bins, all averages over items.

    What is corrected for chance is NaN unless the items of each bin have one probability,
    are two or more, and have weight 1; the debiased square leaves out bins of one item.
    """
    w, count = weights, np.bincount(codes)
    used = count > 0
    codes, count = (np.cumsum(used) - 1)[codes], count[used]
    size, several, plain = np.bincount(codes, w), count > 1, bool((w == 1.0).all())
    share = size / size.sum()
    rate, mean = np.bincount(codes, w * y) / size, np.bincount(codes, w * p) / size
    gap, apart, overall = rate - mean, p - mean[codes], (w @ y) / size.sum()
    # The mean of products of two items of a bin.
    squares = np.bincount(codes, np.square(w * (y - p)))
    both = np.where(several, np.square(size) - np.bincount(codes, np.square(w)), 1.0)
    products = (np.square(size * gap) - squares) / both
    kept = np.where(several, share, 0.0)
    reliability, resolution = share @ np.square(gap), share @ np.square(rate - overall)
    below = np.maximum(count - 1.0, 1.0)
    chance: Any
    chance, more = share @ (rate * (1.0 - rate) / below), overall * (1.0 - overall) / (y.size - 1.0)
    if not (several.all() and plain) or np.abs(apart).max() > 1e-12:
        chance = np.nan
    measures = {
        "ece": share @ np.abs(gap),
        "mce": np.abs(gap).max(),
        "debiased_square": kept @ products / kept.sum() if kept.any() else math.nan,
        "reliability": reliability,
        "resolution": resolution,
        "within_variance": np.average(np.square(apart), weights=w),
        "within_covariance": 2.0 * np.average(apart * (y - rate[codes]), weights=w),
        "corrected_reliability": reliability - chance,
        "corrected_resolution": resolution - chance + more,
        "corrected_uncertainty": overall * (1.0 - overall) + more + 0.0 * chance,
        "n_single": np.count_nonzero(~several),
    }
    return {name: float(x) for name, x in measures.items()}


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


def spiegelhalter(y: Floats, p: Floats, weights: Floats) -> float:
    """Brier score less its expectation, over its standard deviation; NaN without one."""
    slope = weights * (1.0 - 2.0 * p)
    spread, off = float((np.square(slope) * p * (1.0 - p)).sum()), float(((y - p) * slope).sum())
    return off / math.sqrt(spread) if spread > 0.0 else math.nan


# Logistic recalibration: the logit of the truth on that of the probability.


class Recalibration(NamedTuple):
    """Intercept with slope 1, slope and intercept where both are free, and what items add."""

    citl: float
    slope: float
    intercept: float
    #: Standard errors of the model.
    citl_model_se: float
    slope_model_se: float
    #: The likelihood ratio against (0, 1).
    likelihood_ratio: float
    #: By weight, shape (n,), each weighted sum is 0; NaN where there is no estimate.
    intercept_influence: Floats
    slope_influence: Floats
    problem: str


def recalibrate(y: Floats, p: Floats, w: Floats) -> Recalibration:
    """Both regressions, fitted by Newton's method, with weights."""
    nan, none = math.nan, np.full(y.size, math.nan)
    n_positives = y.sum()
    endless = math.inf if n_positives else -math.inf
    one_class = n_positives in (0.0, float(y.size))
    if ((p <= 0.0) | (p >= 1.0)).any():
        problem = "probabilities of 0 or 1 have no logit"
        return Recalibration(nan, nan, nan, nan, nan, nan, none, none, problem)
    if one_class:
        problem = "all items are of one class"
        return Recalibration(endless, nan, nan, nan, nan, nan, none, none, problem)
    x = np.log(p) - np.log1p(-p)
    a, below, above = 0.0, -float(x.max()) - _FAR, _FAR - float(x.min())
    for _ in range(_STEPS):
        mu = _expit(a + x)
        information, left = float((w * mu * (1.0 - mu)).sum()), float((w * (y - mu)).sum())
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
        return Recalibration(first[0], slope, nan, first[1], nan, nan, first[2], none, problem)
    # Standardised, so that steps do not depend on the place of the logits.
    centre, unit = x.mean(), x.std()
    z = (x - centre) / unit
    start = beta = np.array([a + centre, unit])
    for round_ in range(_STEPS):
        mu = _expit(beta[0] + beta[1] * z)
        weight, off = w * mu * (1.0 - mu), w * (y - mu)
        slanted = weight * z
        i, j, k = (float(row.sum()) for row in (weight, slanted, slanted * z))
        determinant = i * k - j * j
        gradient = np.array([off.sum(), (off * z).sum()])
        move = np.array([[k, -j], [-j, i]]) @ gradient / max(determinant, 1e-300)
        if np.abs(move).max() < _CONVERGED * (1.0 + np.abs(beta).max()):
            break
        if round_ == _PLAIN:  # hardly ever: begin again, and never go down
            beta, best = start, _log_likelihood(y, start[0] + start[1] * z, w)
            continue
        move *= min(1.0, _LONGEST / float(np.abs(move).max()))
        while round_ > _PLAIN:
            ahead = _log_likelihood(y, beta[0] + move[0] + (beta[1] + move[1]) * z, w)
            if ahead >= best or np.abs(move).max() < _CONVERGED:
                best = ahead
                break
            move *= 0.5
        beta = beta + move
    else:
        problem = "the regression on the logit did not converge"
        return Recalibration(first[0], nan, nan, first[1], nan, nan, first[2], none, problem)
    (b, c), off = beta, y - mu
    ratio = 2.0 * (_log_likelihood(y, b + c * z, w) - _log_likelihood(y, x, w))
    return Recalibration(
        first[0],
        c / unit,
        b - c * centre / unit,
        first[1],
        math.sqrt(i / determinant) / unit,
        max(ratio, 0.0),
        first[2],
        off * (i * z - j) / (determinant * unit),
        "",
    )


def _expit(x: Floats) -> Floats:
    with np.errstate(over="ignore"):  # five times as fast as SciPy's, number by number
        return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _log_likelihood(y: Floats, x: Floats, w: Floats) -> float:
    # Sums, not products: of many short vectors the threads of BLAS cost more than they gain.
    return float((w * (y * x - np.maximum(x, 0.0) - np.log1p(np.exp(-np.abs(x))))).sum())


# Whether miscalibration is 0, as if the probabilities were true.


def miscalibration_pvalue(
    y: Floats, p: Floats, ordered: Ordered, score: str, n_resamples: int, rng: np.random.Generator
) -> float:
    """P-value of MCB = 0: exact up to 16 items, else by drawn outcomes; NaN for no draws."""
    observed = _miscalibration(y[np.newaxis], ordered, score)[0]
    least = observed - 1e-9 * max(1.0, abs(observed)) if math.isfinite(observed) else observed
    if y.size <= EXACT:
        outcomes = (np.arange(1 << y.size)[:, np.newaxis] >> np.arange(y.size)) & 1
        chances = np.where(outcomes == 1, p, 1.0 - p).prod(axis=1)
        possible = chances > 0.0
        statistics = _miscalibration(outcomes[possible].astype(np.float64), ordered, score)
        return float(min(chances[possible][statistics >= least].sum(), 1.0))
    if not n_resamples:
        return math.nan
    count, size = 0, max(1, _CELLS // y.size)
    for start in range(0, n_resamples, size):
        drawn = rng.random((min(size, n_resamples - start), y.size)) < p
        count += int((_miscalibration(drawn.astype(np.float64), ordered, score) >= least).sum())
    return (count + 1.0) / (n_resamples + 1.0)


def _miscalibration(outcomes: Floats, ordered: Ordered, score: str) -> Floats:
    """MCB of each row of outcomes, shape (R,)."""
    ranked = (ordered.weights * outcomes)[:, ordered.order]
    sums = np.add.reduceat(ranked, ordered.first, axis=1)
    fitted, values, sizes = isotonic_means(sums, ordered.sizes), ordered.values, ordered.sizes
    if score == "brier":  # of each group: n (p - g) (p + g - 2 mean)
        gain = (values - fitted) * ((values + fitted) * sizes - 2.0 * sums)
    else:
        from scipy.special import xlogy

        none = sizes - sums
        none[none < 1e-12 * sizes] = 0.0  # but for rounding of weights
        gain = xlogy(sums, fitted) + xlogy(none, 1.0 - fitted)
        gain -= xlogy(sums, values) + xlogy(none, 1.0 - values)
    return np.asarray(gain.sum(axis=1) / sizes.sum())
