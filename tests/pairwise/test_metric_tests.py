"""All pairs of models by a metric of counts, against sums over samples and cells."""

from functools import cache

import numpy as np
import pytest
from reference_cases import parametrize

import fastcmp
from fastcmp.stream import LabelCounts, PairCounts

N, K = 150, 3
GROUPS = np.minimum(np.arange(N) * 7 % 30, 24)
STRATA = GROUPS % 4


@cache
def labels():
    """True labels, and predictions by name."""
    rng = np.random.default_rng(5)
    y = rng.choice(K, N, p=[0.5, 0.3, 0.2])
    skills = zip("abcde", (0.9, 0.7, 0.8, 0.5, 0.75), strict=True)
    return y, {
        name: np.where(rng.random(N) < right, y, rng.integers(0, K, N)) for name, right in skills
    }


PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]
METRICS = ("f1_macro", "mcc", "balanced_accuracy", "kappa_quadratic", "accuracy")


def table_of(y, pred, weights=None):
    """Count a confusion matrix."""
    table = np.zeros((K, K))
    np.add.at(table, (y, pred), 1.0 if weights is None else weights)
    return table


def influences(estimator, y, pred, method, weights=None):
    """What each sample contributes, one by one."""
    weights = np.ones(y.size) if weights is None else weights
    table = table_of(y, pred, weights)
    if method == "delta":
        return estimator.influence(table)[y, pred]
    without = []
    for t, p, w in zip(y, pred, weights, strict=True):
        less = table.copy()
        less[t, p] -= w
        without.append(estimator.value(less))
    without = np.array(without)
    # (n - 1) (mean - without), in units of the sample's weight.
    return (table.sum() / weights - 1.0) * ((weights @ without) / weights.sum() - without)


def of_metric(metric):
    return fastcmp.make_metric(metric).bind(range(K))[0]


def brute_force(metric, method, i, j, groups=None, strata=None, weights=None):
    """The difference of two models and its variance, sample by sample."""
    y_true, named = labels()
    estimator, names = of_metric(metric), list(named)
    weights = np.ones(N) if weights is None else weights
    u = np.zeros(N)
    values = []
    for sign, name in ((1, names[i]), (-1, names[j])):
        values.append(estimator.value(table_of(y_true, named[name], weights)))
        u += sign * influences(estimator, y_true, named[name], method, weights)
    u *= weights / weights.sum()
    if groups is None:
        units, of_unit = u, np.zeros(N, int) if strata is None else strata
    else:
        kinds = np.unique(groups)
        units = np.array([u[groups == g].sum() for g in kinds])
        of_unit = np.zeros(kinds.size, int)
        if strata is not None:
            of_unit = np.array([strata[groups == g][0] for g in kinds])
    variance = 0.0
    for h in np.unique(of_unit):
        own = units[of_unit == h]
        centre = own.mean() if strata is not None else 0.0
        corrected = method == "jackknife" or groups is not None
        factor = own.size / (own.size - 1) if corrected else 1.0
        variance += factor * ((own - centre) ** 2).sum()
    return values[0] - values[1], variance


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["jackknife", "delta"])
def test_standard_errors_are_sums_over_samples(metric, method):
    y_true, named = labels()
    result = fastcmp.compare_all(y_true, named, metric=metric, method=method)
    for pair, (i, j) in enumerate(PAIRS):
        difference, variance = brute_force(metric, method, i, j)
        assert result.difference[pair] == pytest.approx(difference, abs=1e-14)
        assert result.standard_error[pair] == pytest.approx(variance**0.5, rel=1e-9)
        assert result.statistic[pair] == pytest.approx(difference / variance**0.5, rel=1e-8)
    for _ in same_as_two(result, {"method": method}, metric):
        pass


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["jackknife", "delta"])
@pytest.mark.parametrize("given", ["items", {0: 1, 1: 2, 2: 0.5, 3: 3}])
def test_strata(metric, method, given):
    y_true, named = labels()
    result = fastcmp.compare_all(
        y_true, named, metric=metric, method=method, strata=STRATA, stratum_weights=given
    )
    assert result.n_strata == 4
    n = np.bincount(STRATA)
    each = n if given == "items" else np.array([given[h] for h in range(4)])
    weights = (each / each.sum() * N / n)[STRATA]
    for pair, (i, j) in enumerate(PAIRS):
        found = brute_force(metric, method, i, j, strata=STRATA, weights=weights)
        assert result.difference[pair] == pytest.approx(found[0], abs=1e-13)
        assert result.standard_error[pair] ** 2 == pytest.approx(found[1], rel=1e-8)


@pytest.mark.parametrize("metric", METRICS)
def test_clusters_in_strata(metric):
    y_true, named = labels()
    result = fastcmp.compare_all(y_true, named, metric=metric, strata=STRATA, groups=GROUPS)
    assert (result.df, result.n_strata, result.n_clusters) == (21, 4, 25)
    for pair, (i, j) in enumerate(PAIRS):
        found = brute_force(metric, "delta", i, j, GROUPS, STRATA)
        assert result.standard_error[pair] ** 2 == pytest.approx(found[1], rel=1e-9)


def test_clusters_across_strata():
    y_true, named = labels()
    strata = np.arange(N) % 3
    result = fastcmp.compare_all(y_true, named, metric="f1_macro", strata=strata, groups=GROUPS)
    estimator = of_metric("f1_macro")
    u = influences(estimator, y_true, named["a"], "delta")
    u = (u - influences(estimator, y_true, named["b"], "delta")) / N
    u -= (np.bincount(strata, u) / np.bincount(strata))[strata]
    sums = np.bincount(GROUPS, u)
    assert result.standard_error[0] ** 2 == pytest.approx(25 / 24 * sums @ sums)


@parametrize("metric_covariance")
def test_covariances_of_reference(case):
    samples = np.repeat(*_cells(case))
    y, *preds = samples.T
    result = fastcmp.compare_all(y, preds, metric=case["options"]["metric"], method="delta")
    wanted = np.array(case["expected"]["covariance"])
    i, j = result.pairs.T
    variance = wanted[i, i] + wanted[j, j] - 2 * wanted[i, j]
    rtol = case["tolerance"]["rtol"]
    assert result.standard_error**2 == pytest.approx(variance, rel=rtol)
    assert result.score == pytest.approx(case["expected"]["values"], rel=rtol)


def _cells(case):
    cells = np.array(case["input"]["cells"])
    return cells[:, :-1], cells[:, -1], 0


@parametrize("metric_difference_cluster")
def test_clusters_of_reference(case):
    rows = np.array(case["input"]["cluster_cells"])
    cluster, y, a, b = np.repeat(rows[:, :4], rows[:, 4], axis=0).T
    metric = fastcmp.make_metric("kappa", weights=case["options"]["weights"])
    result = fastcmp.compare_all(y, [a, b], metric=metric, groups=cluster)
    wanted, rtol = case["expected"], case["tolerance"]["rtol"]
    assert result.difference[0] == pytest.approx(wanted["difference"], rel=rtol)
    assert result.standard_error[0] == pytest.approx(wanted["se"], rel=rtol)
    assert result.statistic[0] == pytest.approx(wanted["statistic"], rel=rtol)
    assert result.n_clusters == wanted["n_clusters"]


# The methods that look at each pair.


def same_as_two(result, options, metric):
    y_true, named = labels()
    names = list(result.names)
    for pair, (i, j) in enumerate(result.pairs):
        two = fastcmp.compare_metric(
            y_true, named[names[i]], named[names[j]], metric=metric, **options
        )
        assert result.difference[pair] == pytest.approx(two.difference, abs=1e-14)
        assert result.statistic[pair] == pytest.approx(two.statistic, rel=1e-9)
        assert result.pvalue[pair] == pytest.approx(two.pvalue, rel=1e-9)
        yield two


@pytest.mark.parametrize("metric", METRICS)
def test_pooled_z(metric):
    y_true, named = labels()
    result = fastcmp.compare_all(y_true, named, metric=metric, method="pooled")
    jackknife = fastcmp.compare_all(y_true, named, metric=metric)
    for _ in same_as_two(result, {"method": "pooled"}, metric):
        pass
    np.testing.assert_allclose(result.interval, jackknife.interval, rtol=1e-12)
    np.testing.assert_allclose(result.standard_error, jackknife.standard_error)
    if metric == "accuracy":
        mcnemar = fastcmp.compare_all(y_true, named, method="asymptotic")
        np.testing.assert_allclose(result.statistic**2, mcnemar.statistic)
        np.testing.assert_allclose(result.pvalue, mcnemar.pvalue)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_bootstrap(groups):
    y_true, named = labels()
    options = {"method": "bootstrap", "n_resamples": 200, "rng": 7, "groups": groups}
    result = fastcmp.compare_all(y_true, named, metric="mcc", control="a", **options)
    for pair, two in enumerate(same_as_two(result, options, "mcc")):
        assert result.interval[pair].tolist() == pytest.approx(list(two.interval))
        assert result.standard_error[pair] == pytest.approx(two.standard_error)
    assert (result.n_resamples, result.seed) == (200, 7)
    assert result.distribution == "bootstrap"


def test_permutation_draws_where_it_cannot_enumerate():
    y_true, named = labels()
    options = {"method": "permutation", "n_resamples": 99, "rng": 7}
    result = fastcmp.compare_all(y_true, named, metric="f1_macro", control="d", **options)
    two = fastcmp.compare_metric(y_true, named["d"], named["a"], metric="f1_macro", **options)
    assert result.pvalue[0] == two.pvalue
    assert result.distribution == "permutation"


def test_permutation_is_exact_where_it_can_be():
    y_true, named = labels()
    y, preds = y_true > 0, {name: pred > 0 for name, pred in named.items()}
    result = fastcmp.compare_all(y, preds, metric="f1", method="permutation", rng=1)
    two = fastcmp.compare_metric(y, preds["a"], preds["b"], metric="f1", method="exact")
    assert result.pvalue[0] == pytest.approx(two.pvalue, rel=1e-12)
    assert result.statistic[0] == two.statistic


# Which pairs, and from where.


@pytest.mark.parametrize("method", ["jackknife", "pooled"])
def test_parts_of_all_pairs(method):
    y_true, named = labels()
    options = {"metric": "f1_macro", "method": method}
    result = fastcmp.compare_all(y_true, named, **options, adjust="none")
    some = fastcmp.compare_all(y_true, named, **options, adjust="none", pairs=[("b", "e"), (4, 0)])
    whole = result.matrix("pvalue")
    np.testing.assert_allclose(some.pvalue, [whole[1, 4], whole[0, 4]])
    assert some.difference[1] == -result.difference[3]
    control = fastcmp.compare_all(y_true, named, **options, adjust="none", control="c")
    np.testing.assert_allclose(control.pvalue, whole[2, [0, 1, 3, 4]], rtol=1e-9)
    best = fastcmp.compare_all(y_true, named, **options, keep=2)
    np.testing.assert_allclose(best.pvalue, result.pvalue[1:2])
    np.testing.assert_allclose(best.standard_error, result.standard_error[1:2])
    significant = fastcmp.compare_all(y_true, named, **options, keep="significant")
    kept = result.matrix("difference")[tuple(significant.pairs.T)]
    np.testing.assert_allclose(significant.difference, kept)


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_pairs_in_a_file(tmp_path, suffix):
    y_true, named = labels()
    result = fastcmp.compare_all(y_true, named, metric="mcc")
    file = fastcmp.compare_all(y_true, named, metric="mcc", keep=tmp_path / f"pairs.{suffix}")
    assert file.best == result.best
    if suffix == "npy":
        np.testing.assert_array_equal(file.pvalue, result.pvalue)
        np.testing.assert_array_equal(file.standard_error, result.standard_error)


@pytest.mark.parametrize("method", ["jackknife", "delta", "pooled", "bootstrap"])
def test_streams(method):
    y_true, named = labels()
    options = {"metric": "f1_macro", "method": method, "rng": 3, "n_resamples": 99}
    counts = LabelCounts()
    for part in np.array_split(np.arange(N), 4):
        counts.update(y_true[part], {name: x[part] for name, x in named.items()})
    whole = fastcmp.compare_all(y_true, named, **options)
    found = fastcmp.compare_all(counts=counts, **options)
    for name in ("difference", "statistic", "pvalue", "standard_error", "interval"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name))
    np.testing.assert_array_equal(found.score, whole.score)
    np.testing.assert_array_equal(found.score_interval, whole.score_interval)
    assert (found.classes, found.metric) == (whole.classes, whole.metric)
    turned = fastcmp.compare_all(counts=counts, **options, pairs=[("c", "a")])
    np.testing.assert_allclose(turned.difference, -whole.difference[1:2])
    near = 0.1 if method == "bootstrap" else 1e-9  # other draws
    np.testing.assert_allclose(turned.standard_error, whole.standard_error[1:2], near)


# Laws.


def test_lower_is_better():
    y_true, named = labels()
    y, preds = y_true > 0, {name: pred > 0 for name, pred in named.items()}
    result = fastcmp.compare_all(y, preds, metric="lr_minus")
    assert result.names[int(np.argmin(result.score))] == result.leaderboard.names[0]
    assert result.less_is_better
    text = str(fastcmp.compare_all(y, preds, metric="lr-", control="a"))
    assert "lower is better" in " ".join(text.split())
    cost = [[0, 1, 2], [4, 0, 1], [3, 2, 0]]
    by_cost = fastcmp.compare_all(y_true, named, metric=fastcmp.make_metric("cost", cost=cost))
    plain = fastcmp.compare_all(y_true, named, test="cost", cost=cost)
    np.testing.assert_allclose(by_cost.score, plain.score)
    assert by_cost.leaderboard.names == plain.leaderboard.names


# What is special.


def test_equal_models_and_undefined_ones():
    y = np.array([0, 0, 1, 1, 0, 1, 0, 1] * 4)
    some = np.where(np.arange(32) % 5 == 0, 1 - y, y)
    preds = {"a": some, "again": some.copy(), "never": np.zeros(32, int)}
    result = fastcmp.compare_all(y, preds, metric="lr_plus")
    assert np.isnan(result.score[2])
    assert np.isnan(result.pvalue[1:]).all()
    assert (result.difference[0], result.statistic[0], result.pvalue[0]) == (0, 0, 1)
    assert result.standard_error[0] == 0
    assert "not defined for never" in " ".join(result.cautions)
    assert result.n_pairs == 1
    assert "-" in str(result)


def test_label_sets_that_differ_are_said():
    y = np.array([0, 1] * 20)
    b = y.copy()
    b[0], b[3] = 2, 0
    preds = {"a": np.where(np.arange(40) % 7 == 1, 1 - y, y), "b": b}
    result = fastcmp.compare_all(y, preds, metric="f1_macro")
    said = " ".join(result.cautions)
    assert "only for b also over 2" in said
    same = fastcmp.compare_all(y, preds, metric=fastcmp.make_metric("f1_macro", labels="truth"))
    assert not any("same classes" in caution for caution in same.cautions)
    assert same.score[1] > result.score[1]


def test_few_samples_and_rates_without_any():
    y = np.array([0] * 20 + [1] * 8 + [2] * 20)
    preds = {"a": np.where(y == 1, 0, y), "b": np.roll(y, 1)}
    said = " ".join(fastcmp.compare_all(y, preds, metric="precision_macro").cautions)
    assert "1 class has fewer than 10 samples: 1 (8)" in said
    assert "of a: 0/0 for class 1" in said


def test_margins_of_a_rate_are_those_of_each_pair():
    rng = np.random.default_rng(3)
    y_true = (rng.random(120) < 0.1).astype(int)
    preds = {name: np.where(rng.random(120) < 0.1, 1 - y_true, y_true) for name in "abc"}
    options = {"metric": "recall", "margin": 0.2}
    result = fastcmp.compare_all(y_true, preds, **options)
    for p, (a, b) in enumerate(("ab", "ac", "bc")):
        pair = fastcmp.compare_metric(y_true, preds[a], preds[b], **options).margins
        assert result.margins.pvalue_lower[p] == pytest.approx(pair.pvalue_lower, rel=1e-9)


def test_missing_predictions_are_wrong():
    y_true, named = labels()
    preds = {name: x.astype(object) for name, x in named.items()}
    preds["a"] = preds["a"].copy()
    preds["a"][:5] = None
    y = y_true.astype(object)
    result = fastcmp.compare_all(y, preds, metric="recall_macro", missing="wrong")
    right = np.array([x == t for x, t in zip(preds["a"], y_true, strict=True)])
    recalls = [right[k == y_true].mean() for k in range(K)]
    assert result.score[0] == pytest.approx(np.mean(recalls))
    f1 = fastcmp.compare_all(y, preds, metric="f1_macro", missing="wrong")
    calls = [sum(x == k for x in preds["a"]) for k in range(K)]
    hits = [right[k == y_true].sum() for k in range(K)]
    own = 2 * np.array(hits) / (np.bincount(y_true) + calls)
    assert f1.score[0] == pytest.approx(own.mean())
    with pytest.raises(ValueError, match="missing"):
        fastcmp.compare_all(y, preds, metric="kappa_quadratic", missing="wrong")


def test_chosen_classes():
    y_true, named = labels()
    result = fastcmp.compare_all(y_true, named, metric="recall_macro", classes=[0, 1])
    inside = y_true < 2
    a = named["a"][inside]
    wanted = np.mean([(a[y_true[inside] == k] == k).mean() for k in (0, 1)])
    assert result.score[0] == pytest.approx(wanted)
    assert result.classes == (0, 1)
    assert result.n_excluded == np.count_nonzero(~inside)


def test_a_users_metric():
    y_true, named = labels()

    def mean_diagonal(table):
        return np.trace(table) / table.sum()

    result = fastcmp.compare_all(y_true, named, metric=mean_diagonal, method="delta")
    known = fastcmp.compare_all(y_true, named, metric="accuracy", method="delta")
    np.testing.assert_allclose(result.standard_error, known.standard_error, rtol=1e-6)
    assert result.measure == "mean_diagonal"
    assert result.any_size
    assert "%" not in str(result.leaderboard).replace("95%", "")


def test_many_classes():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 90, 400)
    preds = {c: np.where(rng.random(400) < 0.7, y, rng.integers(0, 90, 400)) for c in "ab"}
    result = fastcmp.compare_all(y, preds, metric="mcc")
    two = fastcmp.compare_metric(y, preds["a"], preds["b"], metric="mcc", method="jackknife")
    assert result.pvalue[0] == pytest.approx(two.pvalue, rel=1e-9)
    pooled = fastcmp.compare_all(y, preds, metric="mcc", method="pooled")
    two = fastcmp.compare_metric(y, preds["a"], preds["b"], metric="mcc", method="pooled")
    assert pooled.pvalue[0] == pytest.approx(two.pvalue, rel=1e-9)


# Equality of all.


@parametrize("metric_covariance")
def test_equality_of_reference(case):
    y, *preds = np.repeat(*_cells(case)).T
    result = fastcmp.metric_equality(y, preds, metric=case["options"]["metric"], method="delta")
    wanted, rtol = case["expected"], case["tolerance"]["rtol"]
    assert result.values == pytest.approx(wanted["values"], rel=rtol)
    np.testing.assert_allclose(result.covariance, wanted["covariance"], rtol=rtol)
    assert result.statistic == pytest.approx(wanted["statistic"], rel=rtol)
    assert result.pvalue == pytest.approx(wanted["pvalue"], rel=rtol)
    assert result.df == wanted["df"]


def test_a_model_twice_is_no_contrast():
    y_true, named = labels()
    one = fastcmp.metric_equality(y_true, named, metric="mcc")
    more = fastcmp.metric_equality(y_true, named | {"again": named["b"]}, metric="mcc")
    assert (one.df, more.df) == (4, 4)
    assert fastcmp.metric_equality(y_true, [y_true, y_true, y_true], metric="mcc").pvalue == 1.0
    np.testing.assert_allclose(more.covariance[:5, :5], one.covariance)


def test_equality_by_contrasts():
    y_true, named = labels()
    result = fastcmp.metric_equality(y_true, named, metric="f1_macro")
    contrasts = np.diff(np.eye(5), axis=0)
    m = contrasts @ result.values
    wanted = m @ np.linalg.solve(contrasts @ result.covariance @ contrasts.T, m)
    assert result.statistic == pytest.approx(wanted)
    accuracy = fastcmp.metric_equality(y_true, named, method="delta")
    right = np.array([x == y_true for x in named.values()]).astype(float)
    np.testing.assert_allclose(accuracy.covariance, np.cov(right, bias=True) / N)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"test": "cost"}, "metric= or test='cost'"),
        ({"cost": [[0, 1], [1, 0]]}, "make_metric"),
        ({"metric": ["mcc", "f1_macro"]}, "metric must be one metric"),
        ({"metric": "f1"}, "needs two classes"),
        ({"method": "jackknife", "groups": GROUPS}, "method='jackknife' does not go"),
        ({"method": "pooled", "strata": STRATA}, "method='pooled' does not go"),
        ({"metric": lambda _: np.nan}, "NaN"),
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(x),
)
def test_refused(options, said):
    y, preds = labels()
    with pytest.raises((ValueError, TypeError), match=said):
        fastcmp.compare_all(y, preds, **{"metric": "f1_macro"} | options)


def test_counts_that_know_no_classes():
    y_true, named = labels()
    counts = PairCounts().update(y_true, named)
    with pytest.raises(ValueError, match="LabelCounts"):
        fastcmp.compare_all(counts=counts, metric="mcc")


@pytest.mark.parametrize(
    "name", ["balanced_accuracy", "mcc", "kappa", "recall_macro", "informedness", "gmean"]
)
def test_a_perfect_model_and_a_constant_one(name):
    """No variance and a difference: as `compare_metric`, by the exact permutation test."""
    y_true = np.repeat([0, 1], [30, 60])
    preds = {"perfect": y_true, "constant": np.ones_like(y_true)}
    wanted = 2 * 0.5**30  # all exchanges of the 30 samples that the models predict differently
    for method in ("jackknife", "delta"):
        found = fastcmp.compare_all(y_true, preds, metric=name, method=method)
        assert found.pvalue == pytest.approx([wanted], rel=1e-9)
        assert found.best == ("perfect",)
        assert np.isnan(found.statistic).all()
        assert "No variance" in found.cautions[0]
    pair = fastcmp.compare_metric(y_true, *preds.values(), metric=name, method="jackknife")
    assert pair.pvalue == pytest.approx(wanted, rel=1e-9)
    assert pair.status == fastcmp.kernels.DEGENERATE
    equal = fastcmp.metric_equality(y_true, preds, metric=name)
    assert equal.pvalue == pytest.approx(wanted, rel=1e-9)
    more = fastcmp.metric_equality(y_true, preds | {"wrong": 1 - y_true}, metric=name)
    assert np.isnan(more.pvalue)
    assert "there is no test" in more.cautions[-1]


@pytest.mark.parametrize(
    "sampling", [{"groups": 40}, {"strata": 3}, {"strata": 3, "stratum_weights": "equal"}]
)
def test_margins_of_models_that_are_always_right(sampling):
    y_true = np.repeat([0, 1], [114, 6])
    options = {k: np.arange(120) % v if k != "stratum_weights" else v for k, v in sampling.items()}
    preds = {"a": y_true, "b": y_true}
    result = fastcmp.compare_all(y_true, preds, metric="f1_macro", margin=0.05, **options)
    assert result.margins.decision.tolist() == ["cannot tell"]
    assert result.interval[0, 0] < -0.05
