"""Permutation tests of metrics, against exchanges of samples one by one."""

import itertools
import math

import numpy as np
import pytest
from count_metrics import BY_NAME, METRICS, read_cells, sample_codes
from hypothesis import example, given
from hypothesis import strategies as st
from naive import small_if_interpreted
from reference_cases import expected, parametrize
from scipy import stats

from fastcmp.core.threads import ThreadPool
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED
from fastcmp.metrics import exchanges
from fastcmp.metrics.cell_draws import standard_errors
from fastcmp.metrics.cells import gather_cells
from fastcmp.metrics.exchanges import Exchanges
from fastcmp.metrics.permutation import permutation_tests

SIDES = ("two-sided", "greater", "less")


def one_test(name, cells, **options):
    return permutation_tests([METRICS[name]], cells, **options)[0]


@parametrize("metric_difference_permutation")
def test_reference(case):
    options = case["options"]
    keys = {"two-sided": "pvalue", "greater": "pvalue_greater", "less": "pvalue_less"}
    for alternative, key in keys.items():
        found = one_test(
            options["metric"],
            read_cells(case),
            alternative=alternative,
            studentized="studentized" in options,
        )
        assert (found.status, found.n_resamples, found.standard_error) == (OK, 0, 0.0)
        if key in case["expected"]:
            assert found.pvalue == expected(case, key)
        for name in ("difference", "statistic", "n_configurations", "n_discordant"):
            if name in case["expected"]:
                assert getattr(found, name) == expected(case, name), name


def by_samples(metric, y_true, a, b, k, clusters=None):
    """Exchange samples, or clusters, in all ways: p-values of the three sides."""
    clusters = np.arange(y_true.size) if clusters is None else clusters
    tables = np.zeros((2, k, k))
    statistics = []
    for flips in itertools.product((False, True), repeat=clusters.max() + 1):
        flipped = np.array(flips)[clusters]
        tables[:] = 0
        np.add.at(tables[0], (y_true, np.where(flipped, b, a)), 1)
        np.add.at(tables[1], (y_true, np.where(flipped, a, b)), 1)
        one, two = metric.values(tables)
        with np.errstate(invalid="ignore"):  # two infinite ratios
            statistics.append(one - two)
    t = np.array(statistics)
    slack = 1e-9 * max(1, abs(t[0])) if np.isfinite(t[0]) else 0.0
    inside = np.abs(t) < abs(t[0]) - slack, t < t[0] - slack, t > t[0] + slack
    return t[0], [1 - each.mean() for each in inside]


samples = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=8)


@given(samples, st.sampled_from([*BY_NAME]), st.sampled_from([2, 3]))
@example([(0, 0, 1), (1, 1, 0)], "positive_likelihood_ratio", 2)  # infinite
@example([(0, 0, 0), (1, 1, 0), (1, 1, 1)], "positive_likelihood_ratio", 2)
def test_all_exchanges_of_samples(rows, name, k):
    y_true, a, b = np.array(rows).T % k
    wanted, pvalues = by_samples(METRICS[name], y_true, a, b, k)
    cells = gather_cells(np.column_stack([y_true, a, b]), np.ones(len(rows)), k)
    for alternative, pvalue in zip(SIDES, pvalues, strict=True):
        found = one_test(name, cells, alternative=alternative)
        if np.array_equal(a, b):  # also where the metric of both is undefined
            assert found.difference == 0.0
            assert (found.pvalue, found.status) == (1.0, DEGENERATE)
        elif math.isnan(wanted):
            assert math.isnan(found.pvalue)
            assert found.status == UNDEFINED
        else:
            assert found.difference == pytest.approx(wanted, abs=1e-12)
            assert found.pvalue == pytest.approx(pvalue, rel=1e-12)
            assert found.n_discordant == np.count_nonzero(a != b)


@given(samples, st.lists(st.integers(0, 4), min_size=8, max_size=8))
def test_all_exchanges_of_clusters(rows, clusters):
    y_true, a, b = np.array(rows).T
    clusters = np.unique(clusters[: len(rows)], return_inverse=True)[1]
    _, pvalues = by_samples(METRICS["accuracy"], y_true, a, b, 3, clusters)
    codes = np.column_stack([y_true, a, b])
    cells = gather_cells(codes, np.ones(len(rows)), 3, clusters * 7 + 3)
    for alternative, pvalue in zip(SIDES, pvalues, strict=True):
        found = one_test("accuracy", cells, alternative=alternative)
        if found.n_discordant:
            assert found.pvalue == pytest.approx(pvalue, rel=1e-12)
        assert found.n_resamples == 0
    changed = {c for c, x, y in zip(clusters, a, b, strict=True) if x != y}
    assert found.n_configurations == 2 ** len(changed)


@pytest.mark.parametrize("alternative", SIDES)
def test_as_scipy(alternative):
    y_true, a, b = sample_codes(12, 3, seed=4)

    def statistic(one, two):
        tables = np.zeros((2, 3, 3))
        np.add.at(tables[0], (y_true, one), 1)
        np.add.at(tables[1], (y_true, two), 1)
        return METRICS["kappa"].values(tables) @ [1, -1]

    wanted = stats.permutation_test(
        (a, b),
        statistic,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=np.inf,
    )
    cells = gather_cells(np.column_stack([y_true, a, b]), np.ones(12), 3)
    found = one_test("kappa", cells, alternative=alternative)
    assert found.difference == pytest.approx(wanted.statistic)
    assert found.pvalue == pytest.approx(wanted.pvalue, rel=1e-12)


def cells_of(n, k, seed, clusters=None):
    codes = np.column_stack(sample_codes(n, k, seed))
    return gather_cells(codes, np.ones(n), k, clusters)


def exchanged(cells):
    return gather_cells(cells.codes[:, [0, 2, 1]], cells.counts, cells.n_classes)


@pytest.mark.parametrize("studentized", [False, True])
def test_exchanged_models(studentized):
    cells = cells_of(40, 2, 1)
    names = ["f1", "mcc", "kappa"]
    metrics = [METRICS[name] for name in names]
    options = {"studentized": studentized}
    one = permutation_tests(metrics, cells, alternative="greater", **options)
    two = permutation_tests(metrics, exchanged(cells), alternative="less", **options)
    for a, b in zip(one, two, strict=True):
        assert a.pvalue == pytest.approx(b.pvalue, rel=1e-12)
        assert a.statistic == pytest.approx(-b.statistic)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("studentized", [False, True])
def test_random_exchanges_are_near_the_exact_test(clustered, studentized):
    clusters = np.arange(60) % 11 if clustered else None
    cells = cells_of(60, 2, 3, clusters)
    for alternative in SIDES:
        options = {"alternative": alternative, "studentized": studentized}
        exact = one_test("mcc", cells, **options)
        found = one_test("mcc", cells, exact=False, n_resamples=2999, seed=5, **options)
        assert (exact.n_resamples, found.n_resamples) == (0, 2999)
        assert found.pvalue != exact.pvalue
        error = math.sqrt(found.pvalue * (1 - found.pvalue) / 2999)
        assert found.standard_error == pytest.approx(error)
        assert abs(found.pvalue - exact.pvalue) < 4 * error + 1 / 2999


def test_a_random_pvalue_counts_the_data():
    codes = [[0, 0, 1], [1, 1, 0]]
    cells = gather_cells(codes, [300, 300], 2)
    found = one_test("accuracy", cells, exact=False, n_resamples=99)
    assert found.pvalue == 0.01
    assert one_test("accuracy", cells).pvalue == pytest.approx(0.5**599, rel=1e-9)


@pytest.mark.parametrize("clustered", [False, True])
def test_any_number_of_threads(clustered):
    cells = cells_of(500, 4, 2, np.arange(500) // 7 if clustered else None)
    metrics = [METRICS["f1_macro"], METRICS["kappa"]]
    options = {"n_resamples": small_if_interpreted(5001, 99), "seed": 3, "exact": False}
    wanted = permutation_tests(metrics, cells, **options)
    for threads in (4, 7):
        with ThreadPool(threads) as pool:
            assert permutation_tests(metrics, cells, pool=pool, **options) == wanted
    assert permutation_tests(metrics[1:], cells, **options) == wanted[1:]


def test_any_number_of_threads_of_an_exact_test():
    cells = gather_cells(
        [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]],
        [900, 130, 100, 80, 100, 400],
        2,
    )
    wanted = one_test("mcc", cells)
    with ThreadPool(4) as pool:
        assert one_test("mcc", cells, pool=pool) == wanted


def test_far_configurations_are_left_out(monkeypatch):
    cells = gather_cells(
        [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]],
        [900, 130, 110, 110, 130, 400],
        2,
    )
    wanted = [one_test("f1", cells, alternative=side) for side in SIDES]
    looked_at = exchanges.Exchanges(cells).enumerate()
    assert looked_at.beyond == 0.0
    monkeypatch.setattr(exchanges, "MOST_CONFIGURATIONS", 1000)
    cut = exchanges.Exchanges(cells).enumerate()
    assert cut.n < 0.7 * looked_at.n
    assert 0.0 < cut.beyond < 1e-18
    for side, one in zip(SIDES, wanted, strict=True):
        found = one_test("f1", cells, alternative=side)
        assert found.pvalue == pytest.approx(one.pvalue, rel=1e-12, abs=1e-17)
        assert found.n_configurations == one.n_configurations == 241**2


def test_two_classes_are_exact_for_many_samples():
    # With fixed calls of class 0, F1 is a matter of the calls of class 1.
    n = 10**7
    codes = [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    cells = gather_cells(codes, [n, n, 50_000_000, 50_012_345, n], 2)
    assert Exchanges(cells).can_enumerate
    found = one_test("f1", cells)
    wanted = stats.binomtest(50_000_000, 100_012_345).pvalue
    assert found.pvalue == pytest.approx(wanted, rel=1e-9)


def test_what_cannot_be_enumerated():
    cells = cells_of(3000, 3, 1)
    assert not Exchanges(cells).can_enumerate
    with pytest.raises(ValueError, match="too many configurations"):
        one_test("kappa", cells, exact=True)
    found = one_test("kappa", cells, n_resamples=50)
    assert found.n_resamples == 50
    counts = cells.counts.reshape(3, 3, 3)
    upper = counts + counts.transpose(0, 2, 1)
    pairs = [upper[t, i, j] for t in range(3) for i in range(3) for j in range(i)]
    assert found.n_configurations == math.prod(int(m) + 1 for m in pairs)


def test_numbers_of_configurations_that_no_one_reads():
    cells = gather_cells([[0, 0, 1], [1, 1, 2], [2, 0, 2]], [2**51, 5, 1], 3)
    found = one_test("accuracy", cells, n_resamples=9)
    assert found.n_configurations == (2**51 + 1) * 6 * 2
    codes = np.argwhere(np.ones((9, 9, 9)))
    many = gather_cells(codes, np.full(729, 10), 9)
    assert one_test("accuracy", many, n_resamples=9).n_configurations == math.inf


def test_undefined_configurations_are_extreme():
    # Precision needs a call of class 1 from both models: not in the first and last.
    cells = gather_cells([[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]], [1, 0, 2, 1], 2)
    y_true, a, b = np.repeat(cells.codes, cells.counts, axis=0).T
    _, pvalues = by_samples(METRICS["precision"], y_true, a, b, 2)
    for alternative, pvalue in zip(SIDES, pvalues, strict=True):
        found = one_test("precision", cells, alternative=alternative)
        assert found.pvalue == pytest.approx(pvalue)
        assert found.n_undefined == 2
    found = one_test("precision", cells, exact=False, n_resamples=400)
    assert found.n_undefined > 10
    assert found.pvalue == pytest.approx(pvalues[0], abs=4 * found.standard_error)


def test_studentized_statistics_without_a_variance():
    # All of a is right and all of b wrong: the difference is 1, and has no variance.
    cells = gather_cells([[0, 0, 1], [1, 1, 0]], [3, 4], 2)
    found = one_test("accuracy", cells, studentized=True)
    assert found.statistic == math.inf
    assert found.pvalue == pytest.approx(2 / 2**7)
    less = one_test("accuracy", cells, studentized=True, alternative="less")
    assert less.pvalue == 1.0
    same = gather_cells([[0, 1, 1], [1, 1, 1]], [3, 4], 2)
    found = one_test("accuracy", same, studentized=True)
    assert (found.statistic, found.pvalue, found.status) == (0.0, 1.0, DEGENERATE)


def test_differences_of_logarithms():
    cells = cells_of(30, 2, 6)
    wanted = np.log(METRICS["f1"].values(cells.as_drawn().tables[0])) @ [1, -1]
    found = one_test("f1", cells, log=True)
    assert found.difference == pytest.approx(wanted)
    metric = METRICS["f1"]

    class LogF1:
        def values(self, tables):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log(metric.values(tables))

    plain = permutation_tests([LogF1()], cells)[0]
    assert found.pvalue == pytest.approx(plain.pvalue, rel=1e-12)


# Standard errors.


def samples_of(cells):
    t, a, b = np.repeat(cells.codes, cells.counts, axis=0).T
    table = cells.as_drawn().tables
    psi = METRICS["kappa"].influences(table[0])
    return t, psi[0, t, a] - psi[1, t, b]


def test_standard_errors_by_samples():
    cells = cells_of(50, 3, 8)
    t, u = samples_of(cells)
    data = cells.as_drawn()
    found = standard_errors(METRICS["kappa"], cells, data, log=False)
    assert found == pytest.approx([math.sqrt((u * u).sum()) / 50])
    strata = cells.codes[:, 0]
    found = standard_errors(METRICS["kappa"], cells, data, log=False, strata=strata)
    squares = sum(((u[t == k] - u[t == k].mean()) ** 2).sum() for k in range(3))
    assert found == pytest.approx([math.sqrt(squares) / 50])


def test_standard_errors_of_clusters():
    clusters = np.arange(50) % 11
    codes = np.column_stack(sample_codes(50, 3, 8))
    cells = gather_cells(codes, np.ones(50), 3, clusters)
    psi = METRICS["kappa"].influences(cells.as_drawn().tables[0])
    t, a, b = codes.T
    u = psi[0, t, a] - psi[1, t, b]
    sums = np.bincount(clusters, u)
    found = standard_errors(METRICS["kappa"], cells, cells.as_drawn(), log=False)
    assert found == pytest.approx([math.sqrt(1.1 * (sums**2).sum()) / 50])
