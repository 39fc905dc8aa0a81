"""Numbers far from 1: units that change nothing, and counts near 2**53."""

import math
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from cases import thinned
from hypothesis import example, given
from hypothesis import strategies as st
from libraries import mpmath, sklearn

import fastcmp
from fastcmp import kernels
from fastcmp.stream import PairCounts

POWERS = st.integers(-900, 900)
HUGE = 2**53


def bits(value):
    """The bytes of numbers, so that only the very same are equal."""
    return np.asarray(value, np.float64).tobytes()


def scaled(value, power):
    return np.ldexp(np.asarray(value, np.float64), power)


# Weights of samples.


@st.composite
def weighted(draw):
    """Draw labels of both classes, scores with ties, and weights, some of them 0."""
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.integers(0, 2, n)
    y_true[:2] = 0, 1
    weights = rng.exponential(size=n) * (rng.random(n) < 0.9)
    weights[:2] = 0.7, 1.3
    return y_true, rng.normal(size=n).round(1), weights


@given(weighted(), POWERS)
def test_weights_in_other_units(problem, power):
    y_true, score, weights = problem
    for function in (
        fastcmp.auc,
        lambda *args, **options: fastcmp.auc(*args, ties="concordant", **options),
        lambda *args, **options: fastcmp.auc(*args, fpr_range=(0.1, 0.6), **options),
        lambda *args, **options: np.stack(fastcmp.roc_curve(*args, **options)),
        lambda *args, **options: np.concatenate(fastcmp.precision_recall_curve(*args, **options)),
        fastcmp.average_precision,
    ):
        plain = function(y_true, score, sample_weight=weights)
        other = function(y_true, score, sample_weight=scaled(weights, power))
        assert bits(plain) == bits(other)
    plain = fastcmp.threshold_sweep(y_true, score, sample_weight=weights)
    other = fastcmp.threshold_sweep(y_true, score, sample_weight=scaled(weights, power))
    for name in ("tp", "fp", "fn", "tn", "n_positives", "n_negatives"):
        want = scaled(getattr(plain, name), power)
        assert bits(getattr(other, name)) == bits(want)


@given(weighted(), st.integers(-900, 900), st.integers(-900, 900))
def test_an_area_asks_for_the_weights_within_a_class(problem, of_zeros, of_ones):
    y_true, score, weights = problem
    powers = np.where(y_true == 1, of_ones, of_zeros)
    other = fastcmp.auc(y_true, score, sample_weight=np.ldexp(weights, powers))
    assert bits(other) == bits(fastcmp.auc(y_true, score, sample_weight=weights))
    want = sklearn.metrics.roc_auc_score(y_true, score, sample_weight=weights)
    assert other == pytest.approx(want, rel=1e-12)


def test_weights_that_do_not_add_up():
    for function in (fastcmp.threshold_sweep, fastcmp.roc_curve, fastcmp.average_precision):
        with pytest.raises(ValueError, match="sample_weight must add up to a finite"):
            function([0, 1, 1], [0.5, 0.9, 0.1], sample_weight=[1e308] * 3)


# Costs.


def labels_of_three(seed, n=60):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 3, n)
    noisy = rng.integers(0, 3, (3, n))
    return y_true, np.where(rng.random((3, n)) < 0.6, y_true, noisy)


COSTS = np.array([[0, 1, 0.3], [5, 0, 2.7], [0.1, 7, 0]])
TESTS = [
    {"method": "likelihood"},
    {"method": "likelihood", "support": "observed"},
    {"method": "chi-square"},
    {"method": "chi-square", "smoothing": 0, "nonnegative": True},
]


@pytest.mark.parametrize("options", TESTS, ids=str)
@given(st.integers(0, 2**32 - 1), POWERS)
def test_costs_in_other_units(options, seed, power):
    y_true, preds = labels_of_three(seed)
    plain = fastcmp.cost_test(y_true, preds[0], preds[1], COSTS, **options)
    other = fastcmp.cost_test(y_true, preds[0], preds[1], scaled(COSTS, power), **options)
    for name in ("statistic", "pvalue", "status", "at_bound"):
        assert bits(getattr(other, name)) == bits(getattr(plain, name)), name
    for name in ("loss_a", "loss_b", "difference"):
        assert bits(getattr(other, name)) == bits(scaled(getattr(plain, name), power))
    assert bits(other.multiplier) == bits(scaled(plain.multiplier, -power))
    for method in ("profile", "wald"):
        found = other.confidence_interval(method=method)
        want = plain.confidence_interval(method=method)
        assert bits(found) == bits(scaled(want, power))
    tensor = plain.counts.counts
    many = fastcmp.cost_test(counts=[tensor], cost=scaled(COSTS, power), **options)
    one = fastcmp.cost_test(counts=[tensor], cost=COSTS, **options)
    for name in ("statistic", "pvalue"):
        assert bits(getattr(many, name)) == bits(getattr(one, name))
    assert bits(many.loss_a) == bits(scaled(one.loss_a, power))
    assert bits(many.confidence_interval()) == bits(scaled(one.confidence_interval(), power))


@pytest.mark.parametrize("small", [1e-300, 1e-130])
def test_a_cost_beyond_all_that_was_seen(small):
    # Samples differ by the small cost alone; the likelihood puts mass on the large one.
    counts = np.zeros((2, 2, 2), int)
    counts[0, 1, 0], counts[0, 0, 1], counts[0, 0, 0] = 9, 2, 30
    cost = [[0, small], [1e300, 0]]
    found = fastcmp.cost_test(counts=counts, cost=cost)
    assert (found.statistic, found.pvalue, found.at_bound) == (0.0, 1.0, True)
    assert fastcmp.cost_test(counts=counts, cost=cost, method="chi-square").pvalue == 1.0
    exact = fastcmp.cost_test(counts=counts, cost=cost, method="chi-square", smoothing=0)
    assert exact.pvalue == fastcmp.mcnemar(only_a=9, only_b=2, method="asymptotic").pvalue
    low, high = found.confidence_interval(method="wald")
    want = fastcmp.mcnemar(only_a=9, only_b=2, both_right=30, both_wrong=0)
    want = want.confidence_interval(method="wald")
    assert (low / small, high / small) == pytest.approx(tuple(want), rel=1e-12)


@given(weighted(), POWERS)
def test_costs_of_a_cut_in_other_units(problem, power):
    y_true, score, _ = problem
    for criterion in ("cost", "weighted-youden", "weighted-topleft"):
        plain, other = (
            fastcmp.optimal_cutpoint(
                y_true, score, criterion=criterion, cost_fp=3 * unit, cost_fn=0.7 * unit
            )
            for unit in (1.0, math.ldexp(1.0, power))
        )
        assert other.cutoff == plain.cutoff


# Differences of folds.

FOLD_TESTS = {"resampled-t": (10,), "kfold-t": (10,), "nadeau-bengio-t": (10,)}
FOLD_TESTS |= {"bouckaert-frank-t": (2, 5), "bouckaert-t": (10, 10), "dietterich-t": (5, 2)}
FOLD_TESTS |= {"yildiz-t": (5, 2), "alpaydin-f": (5, 2), "calibrated-f": (5, 2)}
FOLD_TESTS |= {"blocked-t": (5, 2)}


@pytest.mark.parametrize("name", FOLD_TESTS)
@given(seed=st.integers(0, 2**32 - 1), power=POWERS)
def test_differences_in_other_units(name, seed, power):
    x = np.random.default_rng(seed).normal(0.1, 1.0, FOLD_TESTS[name])
    options = {"n_train": 90, "n_test": 10} if name == "nadeau-bengio-t" else {}
    plain, other = (fastcmp.fold_test(y, name, **options) for y in (x, scaled(x, power)))
    for field in ("statistic", "pvalue", "status"):
        assert bits(getattr(other, field)) == bits(getattr(plain, field))
    for field in ("estimate", "standard_error"):
        assert bits(getattr(other, field)) == bits(scaled(getattr(plain, field), power))


# Counts near 2**53.


def test_counts_whose_sum_no_integer_holds():
    cost = 1 - np.eye(16)
    counts = np.full((16, 16, 16), HUGE)
    with pytest.raises(ValueError, match=r"counts must add up to at most 2\*\*53, got"):
        fastcmp.cost_test(counts=counts, cost=cost)
    with pytest.raises(ValueError, match=r"at most 2\*\*53, got 3.68"):
        fastcmp.cost_test(counts=np.stack([0 * counts, counts]), cost=cost)
    record = fastcmp.records.LabelTable(counts=np.full((2, 2, 2), 2**61), classes=(0, 1))
    for test in (
        lambda: fastcmp.cost_test(counts=record, cost=[[0, 1], [1, 0]]),
        lambda: fastcmp.symmetry(table=record),
        lambda: fastcmp.symmetry(table=record, method="stuart-maxwell"),
        lambda: fastcmp.symmetry(table=np.full((2, 2), HUGE)),
        lambda: fastcmp.symmetry(table=np.full((100, 100), HUGE), method="stuart-maxwell"),
    ):
        with pytest.raises(ValueError, match=r"must add up to at most 2\*\*53, got"):
            test()


def test_the_largest_counts_are_counted():
    counts = np.zeros((2, 2, 2), int)
    counts[1, 1, 1], counts[1, 1, 0] = HUGE - 1, 1
    found = fastcmp.cost_test(counts=counts, cost=[[0, 1], [5, 0]])
    assert (found.n_samples, found.loss_a) == (HUGE, 0.0)
    assert found.loss_b == 5 / HUGE
    assert fastcmp.symmetry(table=[[HUGE - 1, 0], [1, 0]]).statistic == 1.0


def test_models_and_samples_whose_squares_no_integer_holds():
    m, n = 40, 2**53
    counts = PairCounts(m)
    full = np.full((m, m), n)
    counts._state = replace(counts._state, joint=np.triu(full), totals=np.array([n, 0, 0]))
    with pytest.raises(ValueError, match="40 models and 9007199254740992 samples"):
        fastcmp.cochrans_q(counts=counts)


# Against 60 digits.

TABLES = [
    *((2**52, 2**51 - 1, 2**50, 2**50), (2**53 - 10, 3, 4, 3), (10**12, 1, 1, 10**12)),
    *((10**9, 5, 0, 10**3), (1, 10**9, 10**9, 1), (0, 1, 0, 10**9)),
    *((10**15, 10**7, 10**7 + 3, 10**14), (0, 2**53, 0, 0), (0, 2**53 - 1, 1, 0)),
    *((0, 2**52, 2**52, 0), (2**53 - 2, 1, 1, 0), (10**6, 10**3, 10**3, 0), (5, 10**15, 10**3, 7)),
    *((10**15, 1, 0, 10**15), (10**12, 0, 0, 10**12), (90, 6, 3, 1)),
]
LEVELS = [1e-3, 0.95, 1 - 1e-12, 1 - 2**-53]


def wilson(successes, n, z):
    p, n = mpmath.mpf(successes) / n, mpmath.mpf(n)
    middle = p + z * z / (2 * n)
    spread = z * mpmath.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [(middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1)]


def newcombe(a, b, c, d, z):
    a, b, c, d = map(mpmath.mpf, (a, b, c, d))
    n = a + b + c + d
    margins = (a + b) * (a + c) * (c + d) * (b + d)
    association = a * d - b * c
    if association > 0:
        association = max(association - n / 2, mpmath.mpf(0))
    phi = association / mpmath.sqrt(margins) if margins else mpmath.mpf(0)
    p, q = (a + b) / n, (a + c) / n
    (p_low, p_high), (q_low, q_high) = wilson(a + b, n, z), wilson(a + c, n, z)

    def distance(x, y):
        return mpmath.sqrt(x * x + y * y - 2 * phi * x * y)

    return p - q - distance(p - p_low, q_high - q), p - q + distance(p_high - p, q - q_low)


def wald(b, c, n, z):
    b, c, n = map(mpmath.mpf, (b, c, n))
    spread = z * mpmath.sqrt(b + c - (b - c) ** 2 / n) / n
    return max((b - c) / n - spread, -1), min((b - c) / n + spread, mpmath.mpf(1))


def tango(b, c, n, z):
    """Bisect the score of the difference, which falls away from (b - c) / n."""
    b, c, n = map(mpmath.mpf, (b, c, n))

    def score(delta):
        linear = -b - c + (2 * n - b + c) * delta
        root = mpmath.sqrt(linear**2 + 8 * n * c * delta * (1 - delta))
        q = (root - linear) / (4 * n)
        return abs(b - c - n * delta) / mpmath.sqrt(n * (2 * q + delta * (1 - delta)))

    ends = []
    for side in (-1, 1):
        near, far = (b - c) / n, mpmath.mpf(side)
        for _ in range(200 if near != far else 0):
            middle = (near + far) / 2
            near, far = (middle, far) if score(middle) < z else (near, middle)
        ends.append(far)
    return ends


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_intervals_against_60_digits(table, level):
    a, b, c, _ = table
    n = sum(table)
    with mpmath.workdps(60):
        z = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(level))
        for found, want in (
            (kernels.wilson_interval(a + b, n, level), wilson(a + b, n, z)),
            (kernels.newcombe_interval(*table, level), newcombe(*table, z)),
            (kernels.wald_interval(b, c, n, level), wald(b, c, n, z)),
            (kernels.bonett_price_interval(b, c, n, level), wald(b + 1, c + 1, n + 2, z)),
            (kernels.tango_interval(b, c, n, level), tango(b, c, n, z)),
        ):
            for end, exact in zip(found, want, strict=True):
                assert abs(end - exact) <= 1e-11 * abs(exact)


def log_odds(x, y, tail, start, *, midp=False):
    """Log odds of x : y whose upper tail of x (its mid-p) is `tail`.

    The incomplete beta function is integrated over the log odds, and Newton's method
    improves a start.
    """

    def upper(a, b, t):
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)

        def density(s):
            soft = mpmath.log1p(mpmath.exp(s)) if s < 0 else s + mpmath.log1p(mpmath.exp(-s))
            return mpmath.exp(a * s - (a + b) * soft - log_beta)

        sd = mpmath.sqrt(1 / mpmath.mpf(a) + 1 / mpmath.mpf(b))
        steps = (60, 30, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2.5, 2, 1.5, 1, 0.75, 0.5, 0.25)
        points = [t - k * sd for k in (*steps, 0.1, 0)]
        if a < 20:
            points += [t - k / mpmath.mpf(a) for k in (2000, 1000, 500, 200, 100)]
        return mpmath.quad(density, sorted(points)), density(t)

    t = mpmath.mpf(start)
    for _ in range(3):
        terms = [(x, y + 1), (x + 1, y)] if midp else [(x, y + 1)]
        parts = [upper(a, b, t) for a, b in terms if b]
        if midp and not y:  # P(X > x) is 0
            parts.append((mpmath.mpf(0), mpmath.mpf(0)))
        share, slope = (mpmath.fsum(part) / len(parts) for part in zip(*parts, strict=True))
        t -= share / slope * mpmath.log(share / tail)
    return t


ODDS = [
    *((2**53, 0), (10**15, 0), (10**15, 1), (2**52, 2**52), (2**50, 3), (11, 1), (5, 5)),
    (10**6, 10**6 + 5),
]


def assert_odds_have_their_digits(counts, level, method):
    a, b = counts
    low, high = getattr(kernels, f"odds_ratio_{method}_interval")(a, b, level)
    tail = (1 - mpmath.mpf(level)) / 2
    with mpmath.workdps(50):
        for x, y, end in ((a, b, low), (b, a, 1 / high)):
            if x:
                exact = log_odds(x, y, tail, mpmath.log(end), midp=method == "midp")
                slack = 1e-10 * math.sqrt(1 / x + 1 / y) if y else 1e-10
                assert abs(end / mpmath.exp(exact) - 1) <= slack + 1e-15


@pytest.mark.full
@pytest.mark.parametrize("method", ["exact", "midp"])
@pytest.mark.parametrize("level", [0.95, 1 - 2**-53])
@pytest.mark.parametrize("counts", thinned(ODDS, 4), ids=str)
def test_odds_against_50_digits(counts, level, method):
    assert_odds_have_their_digits(counts, level, method)
    a, b = counts
    interval = getattr(kernels, f"odds_ratio_{method}_interval")
    (low, high), turned = interval(a, b, level), interval(b, a, level)
    assert low <= a / b <= high if b else high == inf
    assert turned.low == pytest.approx(1 / high, rel=1e-14)
    assert turned.high == pytest.approx(1 / low, rel=1e-14)


# Where Boost's incomplete beta function, or its inverse, is off by a part of the spread
# or by many of it, is NaN, or is another number altogether.
BOOSTS = [
    (2_320_567_078_252_948, 6_824_166_705_623_431, 0.001),
    (16_733_664_454_532, 3_870_735_241_909, 1 - 2**-53),
    (6_112_123_990_079_706, 2**53, 0.001),
    (22_931_821_504, 2_724_821_705, 1 - 2**-53),
    (1000, 138_934_602, 0.913741365711911),
    (2, 8_746_251_060_918_366, 0.95),
]


@pytest.mark.full
@pytest.mark.parametrize("method", ["exact", "midp"])
@pytest.mark.parametrize("drawn", BOOSTS, ids=str)
def test_odds_where_the_inverse_has_gaps(drawn, method):
    *counts, level = drawn
    assert_odds_have_their_digits(counts, level, method)


@pytest.mark.parametrize("method", ["exact", "midp"])
@pytest.mark.parametrize("level", [1e-3, 0.95, 1 - 1e-12, 1 - 2**-53])
@pytest.mark.parametrize("other", [1, 1.37, 1e3, 2e9])
def test_odds_of_a_few_more_do_not_jump(other, level, method):
    # About 4e6 the search ends and the expansion begins.
    interval = getattr(kernels, f"odds_ratio_{method}_interval")
    counts = [(4_000_000 + i, int(4e6 * other)) for i in range(-3, 4)]
    for turn in (1, -1):
        ends = np.array([interval(*pair[::turn], level) for pair in counts])
        # At most 1.7e-14 with SciPy 1.17, and 4.8e-13 with 1.15.
        assert np.abs(np.diff(ends / ends[0], 3, axis=0)).max() < 1e-12


def test_the_issues_odds():
    low, high = kernels.odds_ratio_exact_interval(HUGE, 0, 0.95)
    assert low == pytest.approx(1 / -math.expm1(math.log(0.025) / HUGE), rel=1e-12)
    assert high == inf


@given(
    st.integers(0, HUGE),
    st.integers(0, HUGE),
    st.sampled_from([1e-3, 0.5, 0.95, 1 - 1e-12, 1 - 2**-53]),
)
@example(*BOOSTS[0])
@example(*BOOSTS[2])
@example(*BOOSTS[4])
def test_odds_are_in_order(a, b, level):
    exact = kernels.odds_ratio_exact_interval(a, b, level)
    midp = kernels.odds_ratio_midp_interval(a, b, level)
    if a + b:
        assert exact.low <= exact.high
        assert midp.low <= midp.high
        assert exact.low <= midp.low * (1 + 1e-9)
        assert midp.high <= exact.high * (1 + 1e-9)


def half_binomial(m, n):
    """Give P(X < m) + P(X = m) / 2 of Bin(n, 1/2), m below n / 2."""
    pmf = mpmath.exp(
        mpmath.loggamma(n + 1)
        - mpmath.loggamma(m + 1)
        - mpmath.loggamma(n - m + 1)
        - n * mpmath.log(2)
    )
    if n > 10**4:  # as the incomplete beta function, over the log odds
        a, b = mpmath.mpf(n - m), mpmath.mpf(m + 1)
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        width = min(mpmath.sqrt(1 / a + 1 / b), 2 / (a - b))
        points = sorted(-k * width for k in (*range(17), 20, 25, 30, 45, 60, 90))
        lower = mpmath.quad(
            lambda s: mpmath.exp(a * s - (a + b) * mpmath.log1p(mpmath.exp(s)) - log_beta), points
        )
    else:
        lower, term = mpmath.mpf(0), mpmath.mpf(1)
        for i in range(m, -1, -1):
            lower += term
            term *= mpmath.mpf(i) / (n - i + 1)
        lower *= pmf
    return lower - pmf / 2, pmf


@pytest.mark.parametrize("sigmas", [0.5, 2, 5, 10, 30])
@pytest.mark.parametrize("n", [1001, 10**6, 10**9, 10**12, 2**53])
def test_mcnemar_against_50_digits(n, sigmas):
    m = int(n // 2 - sigmas * math.isqrt(n) / 2)
    with mpmath.workdps(50):
        mid, pmf = half_binomial(m, n)
        for method, want in (("midp", mid), ("exact", mid + pmf / 2)):
            found = fastcmp.mcnemar(only_a=m, only_b=n - m, method=method).pvalue
            assert abs(found / (2 * want) - 1) < 1e-11


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_chi_squares_of_one_degree_of_freedom_are_mcnemars(only_a, only_b, both):
    want = fastcmp.mcnemar(only_a=only_a, only_b=only_b, method="asymptotic")
    right = np.array([both + only_a, both + only_b])
    squares = only_a + only_b + 4 * both
    n = 1 + only_a + only_b + both
    for found in (
        kernels.cochrans_q(right, squares, n),
        fastcmp.symmetry(table=[[both, only_a], [only_b, 1]]),
        fastcmp.symmetry(table=[[both, only_a], [only_b, 1]], method="stuart-maxwell"),
    ):
        assert found.statistic == want.statistic
        assert found.pvalue == want.pvalue


def test_snedecor_of_an_enormous_ratio():
    assert kernels.snedecor_tail(10.0, 5.0, 1e305) == 0.0
    assert kernels.snedecor_tail(2.0, 1.0, 1e305) == pytest.approx((2e305 + 1) ** -0.5, rel=1e-12)


def test_counts_of_labels_keep_their_costs():
    counts = fastcmp.count_labels([0, 1, 1], [0, 0, 1], [1, 1, 1])
    assert counts.losses([[0, 1e308], [1e308, 0]]) == pytest.approx([1e308 / 3] * 2)
