"""The bootstrap of metrics, against resampled samples and against enumeration."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from count_metrics import METRICS, read_cells, sample_codes
from hypothesis import given
from hypothesis import strategies as st
from naive import small_if_interpreted
from reference_cases import expected, parametrize
from scipy import stats

from fastcmp.core.threads import ThreadPool
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED, bca_levels, draw_cells
from fastcmp.metrics.bootstrap import (
    INTERVALS,
    bootstrap_intervals,
    bootstrap_replicates,
    undefined_caution,
)
from fastcmp.metrics.cells import gather_cells
from fastcmp.metrics.jackknife import acceleration


def cells_of(n, k, seed, clusters=None):
    codes = np.column_stack(sample_codes(n, k, seed))
    return gather_cells(codes, np.ones(n), k, clusters)


def replicates(name, cells, **options):
    return bootstrap_replicates([METRICS[name]], cells, **options)


def one_interval(name, cells, **options):
    return bootstrap_intervals([METRICS[name]], cells, **options)[0]


def value(name, codes, k):
    """Evaluate samples: rows of true class and one or two predictions."""
    tables = np.zeros((codes.shape[1] - 1, k, k))
    for table, predicted in zip(tables, codes.T[1:], strict=True):
        np.add.at(table, (codes[:, 0], predicted), 1)
    values = METRICS[name].values(tables)
    return values[0] - values[1] if len(values) > 1 else values[0]


@parametrize("metric_bootstrap_bca_levels")
def test_reference_levels(case):
    given, options = case["input"], case["options"]
    found = acceleration(METRICS[options["metric"]], read_cells(case))
    assert found == expected(case, "acceleration")
    draws = given["n_below"], given["n_equal"], given["n_resamples"]
    low, high, z0 = bca_levels(*draws, found, options["confidence"])
    assert low == expected(case, "lower_level")
    assert high == expected(case, "upper_level")
    assert z0 == expected(case, "z0")


@parametrize("metric_bootstrap_ideal")
def test_reference_limits_of_many_draws(case):
    n = 20_000
    cells = read_cells(case)
    found = replicates(case["options"]["metric"], cells, n_resamples=n, seed=1)
    values = found.values[0]
    wanted = case["expected"]
    assert values.mean() == pytest.approx(wanted["mean"], abs=4 * values.std() / n**0.5)
    assert values.std() == pytest.approx(wanted["se"], rel=4 / (2 * n) ** 0.5)
    share = wanted["share_not_above_zero"]
    error = (share * (1 - share) / n) ** 0.5
    assert np.mean(values <= 1e-12) == pytest.approx(share, abs=4 * error)


@pytest.mark.parametrize("name", ["f1_macro", "kappa"])
@pytest.mark.parametrize("columns", [2, 3])
def test_draws_are_distributed_as_resampled_samples(name, columns):
    codes = np.column_stack(sample_codes(40, 3, 2))[:, :columns]
    cells = gather_cells(codes, np.ones(40), 3)
    found = replicates(name, cells, n_resamples=3000, seed=1).values[0]
    rng = np.random.default_rng(3)
    others = [value(name, codes[rng.integers(0, 40, 40)], 3) for _ in range(1500)]
    assert stats.ks_2samp(found, others).pvalue > 1e-3


def test_draws_within_classes():
    # Recalls of a fixed number of samples: their mean has this variance.
    cells = cells_of(90, 3, 5)
    options = {"n_resamples": 8000, "seed": 2, "within_classes": True}
    found = replicates("balanced_accuracy", cells, **options).values[0]
    t, a, b = np.repeat(cells.codes, cells.counts, axis=0).T
    d = (t == a).astype(float) - (t == b)
    wanted = sum(d[t == k].var() / np.sum(t == k) for k in range(3)) / 9
    assert found.var() == pytest.approx(wanted, rel=4 * (2 / 8000) ** 0.5)
    # Accuracy varies less than without classes.
    within = replicates("accuracy", cells, **options).values[0]
    spread = replicates("accuracy", cells, n_resamples=8000, seed=2).values[0]
    assert spread.var() == pytest.approx(d.var() / 90, rel=4 * (2 / 8000) ** 0.5)
    squares = sum(((d[t == k] - d[t == k].mean()) ** 2).sum() for k in range(3))
    assert within.var() == pytest.approx(squares / 8100, rel=4 * (2 / 8000) ** 0.5)


def test_clusters_are_drawn_as_a_whole():
    clusters = np.repeat(np.arange(6), [3, 1, 4, 2, 5, 3])
    codes = np.column_stack(sample_codes(18, 2, 7))
    cells = gather_cells(codes, np.ones(18), 2, clusters)
    found = replicates("accuracy", cells, n_resamples=500, errors=True)
    hits = (codes[:, 0] == codes[:, 1]) * 1.0 - (codes[:, 0] == codes[:, 2])
    sums, sizes = np.bincount(clusters, hits), np.bincount(clusters)
    possible = {}
    for drawn in itertools.combinations_with_replacement(range(6), 6):
        own = list(drawn)
        mean = sums[own].sum() / sizes[own].sum()
        squares = ((sums[own] - mean * sizes[own]) ** 2).sum()
        error = math.sqrt(6 / 5 * squares) / sizes[own].sum()
        possible[round(mean, 9), round(error, 9)] = True
    rows = zip(found.values[0], found.errors[0], strict=True)
    assert {(round(v, 9), round(e, 9)) for v, e in rows} <= possible.keys()
    assert len(np.unique(found.values)) > 30


def test_one_cluster_a_sample_is_no_cluster():
    cells, alone = cells_of(60, 3, 1), cells_of(60, 3, 1, np.arange(60))
    for name in ("f1_macro", "kappa"):
        a, b = acceleration(METRICS[name], cells), acceleration(METRICS[name], alone)
        assert a == pytest.approx(b, rel=1e-9)
    one = one_interval("kappa", cells, n_resamples=4000)
    two = one_interval("kappa", alone, n_resamples=4000)
    assert one.standard_error == pytest.approx(two.standard_error, rel=0.06)


@pytest.mark.parametrize("columns", [2, 3])
def test_accelerations_without_samples(columns):
    codes = np.column_stack(sample_codes(30, 3, 4))[:, :columns]
    cells = gather_cells(codes, np.ones(30), 3)
    left = [value("f1_macro", np.delete(codes, i, axis=0), 3) for i in range(30)]
    u = np.mean(left) - left
    wanted = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    found = acceleration(METRICS["f1_macro"], cells)
    assert found == pytest.approx(wanted, rel=1e-9)
    t = codes[:, 0]
    squares = cubes = 0.0
    for k in range(3):
        own = np.array(left)[t == k]
        u = (own.size - 1) / own.size * (own.mean() - own)
        squares, cubes = squares + (u**2).sum(), cubes + (u**3).sum()
    found = acceleration(METRICS["f1_macro"], cells, cells.codes[:, 0])
    assert found == pytest.approx(cubes / (6 * squares**1.5), rel=1e-9)


@pytest.mark.parametrize("kind", INTERVALS)
@pytest.mark.parametrize("columns", [2, 3])
def test_intervals_as_scipy(kind, columns):
    codes = np.column_stack(sample_codes(150, 2, 9))[:, :columns]
    cells = gather_cells(codes, np.ones(150), 2)
    found = one_interval("accuracy", cells, interval=kind, n_resamples=6000, seed=4)
    assert found.estimate == pytest.approx(value("accuracy", codes, 2))
    right = (codes[:, :1] == codes[:, 1:]) * 1.0
    d = right[:, 0] - right[:, 1] if columns > 2 else right[:, 0]
    error = d.std() / 150**0.5
    assert found.standard_error == pytest.approx(error, rel=0.05)
    rng = np.random.default_rng(5)
    if kind == "studentized":
        drawn = d[rng.integers(0, 150, (6000, 150))]
        t = (drawn.mean(axis=1) - d.mean()) / drawn.std(axis=1) * 150**0.5
        wanted = d.mean() - error * np.quantile(t, [0.975, 0.025])
    else:
        method = {"bca": "BCa"}.get(kind, kind)
        made = stats.bootstrap((d,), np.mean, n_resamples=6000, rng=rng, method=method)
        wanted = tuple(made.confidence_interval)
    # The next possible mean; means above have smaller standard errors.
    tolerance = (2 if kind == "studentized" else 1.01) / 150
    assert (found.low, found.high) == pytest.approx(wanted, abs=tolerance)
    assert found.low < found.estimate < found.high
    assert found.status == OK
    assert found.n_used == 6000


def test_studentized_draws_have_their_own_errors():
    cells = cells_of(40, 3, 3)
    found = replicates("kappa", cells, errors=True, n_resamples=5, seed=2)
    draws = np.empty((5, len(cells.codes)))
    draw_cells(cells.counts, np.zeros(len(cells.codes), np.int64), 2, 0, draws)
    for r, row in enumerate(draws):
        t, a, b = np.repeat(cells.codes, row.astype(int), axis=0).T
        tables = np.zeros((2, 3, 3))
        np.add.at(tables[0], (t, a), 1)
        np.add.at(tables[1], (t, b), 1)
        psi = METRICS["kappa"].influences(tables)
        u = psi[0, t, a] - psi[1, t, b]
        assert found.errors[0, r] == pytest.approx(math.sqrt((u**2).sum()) / 40)
        assert found.values[0, r] == pytest.approx(METRICS["kappa"].values(tables) @ [1, -1])


def exchanged(cells):
    return gather_cells(cells.codes[:, [0, 2, 1]], cells.counts, cells.n_classes)


@pytest.mark.parametrize("kind", INTERVALS)
def test_exchanged_models(kind):
    cells = cells_of(100, 2, 9)
    one = one_interval("kappa", cells, interval=kind, n_resamples=4000)
    two = one_interval("kappa", exchanged(cells), interval=kind, n_resamples=4000)
    assert one.estimate == pytest.approx(-two.estimate)
    if kind == "bca":
        assert one.acceleration == pytest.approx(-two.acceleration)
    assert one.low == pytest.approx(-two.high, abs=0.2 * one.standard_error)
    assert one.high == pytest.approx(-two.low, abs=0.2 * one.standard_error)


@given(st.integers(0, 50), st.booleans())
def test_differences_of_logarithms(seed, one_model):
    codes = np.column_stack(sample_codes(60, 2, seed))
    codes = codes[:, :2] if one_model else codes
    cells = gather_cells(codes, np.ones(60), 2)
    found = replicates("f1", cells, log=True, n_resamples=20, seed=seed).values
    plain = METRICS["f1"].values(cells.as_drawn().tables[0])
    wanted = np.log(plain[0]) - (0 if one_model else np.log(plain[1]))
    interval = one_interval("f1", cells, log=True, n_resamples=20, seed=seed)
    assert interval.estimate == pytest.approx(wanted)
    assert interval.mean == pytest.approx(found[np.isfinite(found)].mean())


@pytest.mark.parametrize("options", [{}, {"within_classes": True}, {"errors": True}])
@pytest.mark.parametrize("clustered", [False, True])
def test_any_number_of_threads(options, clustered):
    if clustered and "within_classes" in options:
        return
    cells = cells_of(400, 4, 2, np.arange(400) // 7 if clustered else None)
    metrics = [METRICS["f1_macro"], METRICS["kappa"]]
    n = small_if_interpreted(3001, 99)
    wanted = bootstrap_replicates(metrics, cells, n_resamples=n, seed=3, **options)
    for threads in (4, 7):
        with ThreadPool(threads) as pool:
            given = {"n_resamples": n, "seed": 3, "pool": pool, **options}
            found = bootstrap_replicates(metrics, cells, **given)
        np.testing.assert_array_equal(found.values, wanted.values)
        np.testing.assert_equal(found.errors, wanted.errors)
    fewer = bootstrap_replicates(metrics[1:], cells, n_resamples=20, seed=3, **options)
    np.testing.assert_array_equal(fewer.values[0], wanted.values[1, :20])


def test_undefined_draws_are_left_out():
    # b seldom calls class 1: without a call its precision is undefined.
    cells = gather_cells([[0, 0, 0], [1, 1, 0], [1, 1, 1]], [20, 10, 2], 2)
    found = one_interval("precision", cells, n_resamples=2000, seed=1)
    none = (30 / 32) ** 32
    assert found.n_undefined / 2000 == pytest.approx(none, abs=0.035)
    assert found.n_used == 2000 - found.n_undefined
    assert math.isfinite(found.low)
    assert "undefined in" in undefined_caution(found.n_undefined, 2000)
    assert undefined_caution(20, 2000) is None
    assert undefined_caution(21, 2000) is not None


@pytest.mark.parametrize("kind", INTERVALS)
def test_undefined_metrics_and_equal_models(kind):
    none = gather_cells([[0, 0, 0], [1, 0, 1]], [5, 5], 2)
    found = one_interval("precision", none, interval=kind, n_resamples=50)
    assert math.isnan(found.estimate)
    assert math.isnan(found.low)
    assert found.status == UNDEFINED
    same = gather_cells([[0, 0, 0], [1, 0, 0], [1, 1, 1]], [5, 5, 9], 2)
    found = one_interval("f1", same, interval=kind, n_resamples=50)
    assert (found.low, found.high, found.status) == (0.0, 0.0, DEGENERATE)
    assert found.pvalue == 1.0


@pytest.mark.parametrize("kind", INTERVALS)
@pytest.mark.parametrize("log", [False, True])
def test_infinite_draws_are_left_out(kind, log):
    # Without the one false positive of b its likelihood ratio is infinite.
    counts = [30, 2, 1, 10, 3, 3, 12]
    codes = [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0]]
    cells = gather_cells([*codes, [1, 1, 1]], counts, 2)
    options = {"interval": kind, "log": log, "n_resamples": 1000}
    found = one_interval("positive_likelihood_ratio", cells, **options)
    assert found.n_undefined / 1000 == pytest.approx(0.37 + 0.13 - 0.05, abs=0.06)
    assert found.low < found.estimate
    assert math.isfinite(found.high)


def test_one_sided_bounds():
    cells = cells_of(60, 2, 1)
    options = {"n_resamples": 500, "seed": 1}
    both = one_interval("f1", cells, confidence_level=0.9, **options)
    greater = one_interval("f1", cells, alternative="greater", **options)
    less = one_interval("f1", cells, alternative="less", **options)
    assert (greater.low, greater.high) == (pytest.approx(both.low), math.inf)
    assert (less.low, less.high) == (-math.inf, pytest.approx(both.high))
    assert both.pvalue == pytest.approx(2 * min(greater.pvalue, less.pvalue))


def test_clusters_are_not_drawn_within_classes():
    cells = cells_of(20, 2, 1, np.arange(20) // 2)
    with pytest.raises(ValueError, match="clusters are drawn as a whole"):
        one_interval("f1", cells, within_classes=True)


def test_memory_is_that_of_a_block():
    k = 400  # two tables take 2.6 MB

    class Sum:
        def values(self, tables):
            return tables[:, 0].sum(axis=1)

    cells = cells_of(1000, k, 1)
    tracemalloc.start()
    bootstrap_replicates([Sum()], cells, n_resamples=40)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6
