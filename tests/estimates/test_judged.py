"""Judged values corrected by labels: other programs' answers, and each unit left out by hand."""

import numpy as np
import pytest
from libraries import stats
from numpy.testing import assert_allclose
from reference_cases import parametrize

import fastcmp
from fastcmp import best_set, compare_means, judged_values, mean_difference

DESIGN = ("groups", "strata", "label_strata", "probabilities")


def corrected(case, **options):
    given = {name: case["input"][name] for name in DESIGN if name in case["input"]}
    return judged_values(case["input"]["judge"], case["input"]["human"], **given, **options)


def assert_agree(case, **found):
    for name, value in found.items():
        wanted = np.asarray(case["expected"][name], float)
        assert_allclose(np.squeeze(value), wanted, rtol=case["tolerance"]["rtol"], atol=1e-12)


def assert_record_agrees(case, result):
    """What a record of one model and a case both have."""
    low, high = result.interval[0]
    found = {"estimate": result.estimate, "se": result.standard_error, "lam": result.lam}
    found |= {"df": result.df, "n_effective": result.n_effective, "low": low, "high": high}
    assert_agree(case, **{name: x for name, x in found.items() if name in case["expected"]})


@parametrize("ppi_mean")
def test_published_convention(case):
    lam = case["options"]["lam"]
    result = corrected(case, convention="ppi", tune="model" if lam is None else lam)
    assert_record_agrees(case, result)
    inside = result.lam * result.n_items / (result.n_items - result.n_labels)
    assert_agree(case, lam_inside=inside)
    again = corrected(case, tune=float(inside[0]))
    assert_allclose(again.estimate, result.estimate, rtol=1e-12)


@parametrize("stratified_ppi")
def test_published_convention_in_strata(case):
    result = corrected(case, convention="ppi", tune=case["options"]["lam"])
    assert_agree(
        case, estimate=result.estimate, se=result.standard_error, low=result.interval[0, 0]
    )


@parametrize("cluster_ppi")
def test_published_convention_of_clusters(case):
    result = corrected(case, convention="ppi", tune=case["options"]["lam"], average="clusters")
    assert_record_agrees(case, result)
    assert_allclose(result.values.mean(), result.estimate[0], rtol=1e-12)


@parametrize("active_mean")
def test_labels_over_their_probabilities(case):
    assert_record_agrees(case, corrected(case, convention="horvitz-thompson"))


@parametrize("corrected_mean")
def test_corrected_means(case):
    options = case["options"]
    lam = {"optimal": "model"}.get(options["lam"], options["lam"])
    if "label_strata" in case["input"]:
        assert_record_agrees(case, corrected(case, tune=lam, variance="plain"))
    elif options.get("variance") == "likelihood":
        # With a 0/1 judge the regression is the mean over what the judge says.
        strata = case["input"]["judge"]
        by_judge = corrected(case, tune=0.0, label_strata=strata, variance="plain")
        assert_agree(case, estimate=by_judge.estimate, se=by_judge.standard_error)
        assert_agree(case, estimate=corrected(case, tune="slope").estimate)
    else:
        for variance in [options["variance"]] if "variance" in options else ["jackknife", None]:
            assert_record_agrees(case, corrected(case, tune=lam, variance=variance, interval="t"))


@parametrize("regression_estimator")
def test_means_of_these_items(case):
    result = corrected(case, target="these items")
    error = result.standard_error
    assert_agree(case, estimate=result.estimate, lam=result.lam, se_these_items=error)
    assert_agree(case, se_design_no_fpc=error / np.sqrt(1 - result.n_labels / result.n_items))


@parametrize("corrected_difference")
def test_corrected_differences(case):
    options = {name: case["options"][name] for name in ("tune", "variance")}
    result = corrected(case, **options)
    assert_agree(case, lam_a=result.lam[0], lam_b=result.lam[1])
    for pair in (compare_means(result), mean_difference(result)):
        low, high = np.squeeze(pair.interval)
        assert_agree(case, difference=pair.difference, se=pair.standard_error, df=pair.df)
        assert_agree(case, low=low, high=high, statistic=pair.statistic, pvalue=pair.pvalue)


@parametrize("corrected_covariance")
def test_covariance_of_all_models(case):
    options = {name: case["options"][name] for name in ("tune", "variance")}
    result = corrected(case, **options)
    assert_agree(case, estimates=result.estimate, covariance=result.covariance)
    assert_allclose(result.estimates.full_covariance, result.covariance, rtol=1e-12)


@parametrize("corrected_values")
def test_values_have_the_corrected_mean_and_error(case):
    result = corrected(case, variance=case["options"]["variance"])
    values = result.values[0]
    assert_agree(case, values=values, mean=values.mean(), se=result.standard_error)
    if "groups" not in case["input"]:
        test = stats.ttest_1samp(values, 0.0)
        assert_allclose(values.mean() / test.statistic, result.standard_error[0], rtol=1e-10)


@parametrize("corrected_interval_binary")
def test_wilson_at_the_effective_number(case):
    result = corrected(case)
    assert result.interval_method == ("wilson",)
    assert_agree(case, estimate=result.estimate, n_effective=result.interval_n)
    assert_agree(case, low=result.interval[0, 0], high=result.interval[0, 1])


@parametrize("judge_bias")
def test_bias_for_a_given_slope_is_the_paired_t_test(case):
    result = corrected(case, tune=case["options"]["lam"])
    half = stats.t.ppf(0.975, result.bias_df) * result.bias_standard_error
    assert_agree(case, bias=result.bias, se=result.bias_standard_error, pvalue=result.bias_pvalue)
    assert_agree(case, low=result.bias - half, high=result.bias + half)
    assert_agree(case, statistic=result.bias / result.bias_standard_error)


@parametrize("judge_bias_equal")
def test_equal_bias(case):
    result = corrected(case)
    assert_agree(case, statistic=result.equal_bias_statistic, pvalue=result.equal_bias_pvalue)
    assert_agree(case, df=result.equal_bias_df)


@parametrize("label_balance")
def test_balance(case):
    result = corrected(case)
    assert_agree(case, difference=result.balance, statistic=result.balance_statistic)
    assert_agree(case, df=result.balance_df, pvalue=result.balance_pvalue)


@parametrize("refusal")
def test_refusals_of_cases(case):
    words = {"refuse_no_labels": "no labels", "refuse_judge_missing": "every item"}
    with pytest.raises(ValueError, match=words.get(case["id"], "at least 2 labels")):
        corrected(case)


@parametrize("uncorrected_judge")
def test_a_judge_alone_finds_what_is_not_there(case):
    rate, n = np.array(case["input"]["rate"]), case["input"]["n_items"]
    hits, false = np.array(case["input"]["sensitivity"]), 1 - np.array(case["input"]["specificity"])
    judged = rate * hits + (1 - rate) * false
    assert_agree(case, judge_rates=judged, judge_difference=judged[0] - judged[1])
    error = np.sqrt((judged * (1 - judged)).sum() / n)
    found = stats.norm.sf(stats.norm.ppf(0.975) - (judged[1] - judged[0]) / error)
    assert_agree(case, probability_b_declared_better_normal=found)


# Each unit left out by hand.


def least(u, v):
    """The slope at least 0 with the least sum of squares of u + slope v; 0 where v is nothing."""
    square = v @ v
    return max(-(u @ v) / square, 0.0) if square > 1e-22 else 0.0


class Problem:
    """Judged values of two models, labels of some, and what is known of the items."""

    def __init__(self, seed, n=60, kind="plain"):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=(2, n)) + rng.normal(size=n)
        self.judge = np.round(truth + 0.7 * rng.normal(size=(2, n)), 2) + 3.0
        self.human = np.where(rng.random((1 + ("disjoint" in kind), n)) < 0.5, truth, np.nan)
        self.options = {}
        self.units = np.arange(n)
        self.strata = np.zeros(n, int)
        self.weights = np.ones(n)
        self.labels = np.ones(n)
        if "groups" in kind:
            self.units = self.options["groups"] = np.arange(n) // 3
        if "strata" in kind:
            self.strata = self.options["strata"] = np.arange(n) // 3 % 2
        if "weights" in kind:
            self.weights = self.options["weights"] = rng.uniform(0.5, 2.0, n)
        if "probabilities" in kind:
            self.options["probabilities"] = rng.uniform(0.2, 1.0, n)
            self.labels = 1 / self.options["probabilities"]

    def sums(self, model, kept):
        """Influences U and V of kept units, and the mean of labels and what the judge adds."""
        shares = np.bincount(self.strata) / self.strata.size
        if "weights" in self.options:
            shares = np.bincount(self.strata, self.weights) / self.weights.sum()
        f, y = self.judge[model], self.human[model]
        u, v = np.zeros(f.size), np.zeros(f.size)
        mean, gap = np.zeros(shares.size), np.zeros(shares.size)
        for h, share in enumerate(shares):
            of_all = kept & (self.strata == h)
            some = of_all & ~np.isnan(y)
            a = share * self.weights * self.labels * some
            a /= a.sum() / share
            b = share * self.weights * of_all / (self.weights * of_all).sum()
            means = [(a[some] @ x[some]) / share for x in (y, f)]
            mean[h] = share * means[0]
            gap[h] = b @ f - share * means[1]
            u[some] = (a * (y - means[0]))[some]
            v += b * (f - (b @ f) / share) - a * (f - means[1])
        by_unit = [np.bincount(self.units, x) for x in (u, v)]
        layer = np.zeros(self.units.max() + 1, int)
        layer[self.units] = self.strata
        return by_unit, layer, mean, gap

    def estimate(self, kept, tune):
        """Estimates of both models without some items."""
        found = [self.sums(m, kept) for m in (0, 1)]
        (u, v), layer = zip(*(x[0] for x in found), strict=True), found[0][1]
        if tune == "common":
            lam = np.full((2, 1), least(u[0] - u[1], v[0] - v[1]))
        elif tune == "pair":
            columns = np.stack([v[0], -v[1]], 1)
            a, b = np.linalg.lstsq(columns, u[1] - u[0], rcond=1e-10)[0]
            lam = np.array([[a], [b]]) * (np.abs(columns).max() > 1e-12)
        elif tune == "stratum":
            places = [layer == h for h in range(layer.max() + 1)]
            lam = np.array([[least(x[p], z[p]) for p in places] for x, z in zip(u, v, strict=True)])
        elif tune == "slope":
            some = kept & ~np.isnan(self.human[0])
            lam = np.array(
                [
                    [np.polyfit(f[some], y[some], 1)[0]]
                    for f, y in zip(self.judge, self.human, strict=True)
                ]
            )
        elif tune == "model":
            lam = np.array([[least(x, z)] for x, z in zip(u, v, strict=True)])
        else:
            lam = np.full((2, 1), tune)
        return np.array([x[2].sum() + (k * x[3]).sum() for x, k in zip(found, lam, strict=True)])

    def judge_mean(self, kept):
        """Means of the judge without some items."""
        shares = np.bincount(self.strata) / self.strata.size
        if "weights" in self.options:
            shares = np.bincount(self.strata, self.weights) / self.weights.sum()
        found = np.zeros(2)
        for h, share in enumerate(shares):
            here = kept & (self.strata == h)
            found += share * (self.judge[:, here] @ self.weights[here]) / self.weights[here].sum()
        return found

    def covariance(self, tune, of=None):
        """Of both estimates, each unit left out once."""
        of = of or (lambda kept: self.estimate(kept, tune))
        whole = of(np.ones(self.units.size, bool))
        n_units = self.units.max() + 1
        d = np.array([whole - of(self.units != g) for g in range(n_units)]).T
        layer = np.zeros(n_units, int)
        layer[self.units] = self.strata
        total = np.zeros((2, 2))
        for h in range(layer.max() + 1):
            here = layer == h
            size, own = here.sum(), d[:, here].copy()
            for m in (0, 1):
                places = self.units[~np.isnan(self.human[m])]
                labelled = np.isin(np.flatnonzero(here), places)
                n = labelled.sum()
                own[m, labelled] *= np.sqrt((n - 1) * size / (n * (size - 1)))
            own -= own.mean(axis=1, keepdims=True)
            total += (size - 1) / size * own @ own.T
        return whole, total


KINDS = ("plain", "groups", "strata", "weights", "groups strata", "groups weights probabilities")


#: Tuned for a stratum where there are strata; slopes by hand where items count alike.
WAYS = [(kind, tune) for kind in KINDS for tune in ("model", "common", "pair", 0.8)]
WAYS += [(kind, "stratum") for kind in KINDS if "strata" in kind] + [("plain", "slope")]
WAYS += [(f"disjoint {kind}", tune) for kind in KINDS for tune in ("model", 0.8)]


@pytest.mark.parametrize(("kind", "tune"), WAYS)
def test_each_unit_left_out(kind, tune):
    problem = Problem(3, kind=kind)
    result = judged_values(problem.judge, problem.human, tune=tune, **problem.options)
    estimate, covariance = problem.covariance(tune)
    assert_allclose(result.estimate, estimate, rtol=1e-10)
    assert_allclose(result.covariance, covariance, rtol=1e-8)
    gram = result.estimates.full_covariance
    assert_allclose(gram, covariance, rtol=1e-8)
    again = fastcmp.Estimates(
        result.estimate, influences=result.influences, groups=problem.options.get("groups")
    )
    assert_allclose(again.full_covariance, covariance, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_bias_with_each_unit_left_out(kind):
    problem = Problem(3, kind=kind)
    problem.judge, problem.human = (
        problem.judge / 15.0 + 0.2,
        problem.human / 15.0 + 0.5,
    )  # one scale
    assert problem.judge.min() > 0 < np.nanmin(problem.human) < np.nanmax(problem.human) < 1
    assert problem.judge.max() < 1
    result = judged_values(problem.judge, problem.human, **problem.options)

    def bias(kept):
        return problem.judge_mean(kept) - problem.estimate(kept, "model")

    estimate, covariance = problem.covariance(None, bias)
    assert_allclose(result.bias, estimate, rtol=1e-9)
    assert_allclose(result.bias_standard_error**2, np.diagonal(covariance), rtol=1e-8)


def by_influence(problem, model, tune):
    """Variance for the slopes as they are, and degrees of freedom, by the textbook."""
    (u, v), layer, mean, gap = problem.sums(model, np.ones(problem.units.size, bool))
    n_strata, n_units = layer.max() + 1, layer.size
    labelled = np.isin(np.arange(n_units), problem.units[~np.isnan(problem.human[model])])
    here = [layer == h for h in range(n_strata)]
    lam = np.full(n_strata, tune)
    if tune == "stratum":
        lam = np.array([least(u[x], v[x]) for x in here])
    elif tune == "model":
        lam = np.full(n_strata, least(u, v))
    p = {"model": 1, "stratum": n_strata}.get(tune, 0)
    free = sum((labelled & x).sum() - 1 for x in here)
    squares = quotient = 0.0
    for h, x in enumerate(here):
        n, size = (labelled & x).sum(), x.sum()
        k = np.sqrt(n / (n - 1) * (size - 1) / size * free / (free - p))
        # What the judge adds consists of its mean over all, and that over the labelled.
        taken = np.where(labelled, v - of_judge(problem, model), 0.0)
        psi = k * (u + lam[h] * taken) + lam[h] * (v - taken)
        of_labels, others = (
            size / (size - 1) * (psi[x & y] ** 2).sum() for y in (labelled, ~labelled)
        )
        squares += of_labels + others
        quotient += of_labels**2 / ((n - 1) * (free - p) / free) + others**2 / max(size - n - 1, 1)
    return (mean + lam * gap).sum(), squares, squares**2 / quotient


def of_judge(problem, model):
    """Influences of units on the judge's mean."""
    f, w = problem.judge[model], problem.weights
    own, total = np.zeros(f.size), w.sum()
    for h in range(problem.strata.max() + 1):
        x = problem.strata == h
        own[x] = w[x] * (f[x] - f[x] @ w[x] / w[x].sum()) / total
    return np.bincount(problem.units, own)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tune", ["model", "stratum", 0.8])
def test_influences_for_a_given_slope(kind, tune):
    if tune == "stratum" and "strata" not in kind:
        tune = 0.0
    problem = Problem(4, n=240, kind=f"disjoint {kind}")
    options = problem.options | {"tune": tune, "variance": "influence"}
    result = judged_values(problem.judge, problem.human, **options)
    for m in (0, 1):
        estimate, variance, df = by_influence(problem, m, tune)
        assert_allclose(result.estimate[m], estimate, rtol=1e-9)
        assert_allclose(result.standard_error[m] ** 2, variance, rtol=1e-9)
        assert_allclose(result.df[m], df, rtol=1e-9)


def test_a_judge_that_says_something_of_one_item_only():
    judge, human = np.zeros((2, 40)), np.where(np.arange(40) < 15, np.arange(40.0), np.nan)
    judge[:, 30] = 1.0
    problem = Problem(3, n=40)
    problem.judge, problem.human = judge, np.stack([human] * 2)
    result = judged_values(judge, np.stack([human] * 2))
    estimate, covariance = problem.covariance("model")
    assert_allclose(result.estimate, estimate, rtol=1e-12)
    assert_allclose(result.covariance, covariance, rtol=1e-9)


def test_models_are_corrected_as_they_are_alone():
    problem = Problem(9, n=70, kind="disjoint")
    judge = np.vstack([problem.judge, problem.judge[::-1] ** 2, np.ones((1, 70))])
    human = problem.human[[0, 1, 1, 0, 0]]
    result = judged_values(judge, human)
    for m in range(5):
        alone = judged_values(judge[m], human[m])
        for name in ("estimate", "standard_error", "df", "bias", "bias_pvalue", "balance_pvalue"):
            found, wanted = getattr(result, name)[m], getattr(alone, name)[0]
            assert_allclose(found, wanted, rtol=1e-10, err_msg=name)
        assert_allclose(result.influences[m], alone.influences[0], rtol=1e-9, atol=1e-12)


def test_intervals_of_labels_alone_and_of_given_slopes_are_by_t():
    rng = np.random.default_rng(8)
    human = np.where(np.arange(80) < 30, rng.random(80) < 0.7, np.nan)
    judge = (rng.random(80) < 0.6).astype(float)
    labels = human[:30]
    wanted = stats.t.interval(0.95, 29, labels.mean(), labels.std(ddof=1) / np.sqrt(30))
    for result in (judged_values(np.ones(80), human), judged_values(judge, human, tune=0.0)):
        assert result.interval_method == ("t",)
        assert_allclose(result.interval[0], wanted, rtol=1e-10)
    assert judged_values(judge, human, tune=1.0).interval_method == ("t",)
    assert judged_values(judge, human, tune="slope").interval_method == ("wilson",)
    assert judged_values(np.ones(80), human, interval="wilson").interval_method == ("wilson",)


@pytest.mark.parametrize("left", [1, 2, 57, 58])
@pytest.mark.parametrize("tune", ["model", "common", "pair", 0.5])
def test_nearly_all_or_hardly_any_labels(left, tune):
    problem = Problem(3, n=60)
    labels = np.random.default_rng(1).normal(size=60) * np.array([[1.0], [0.7]])
    problem.human = np.where(np.arange(60) < 60 - left, labels, np.nan)
    result = judged_values(problem.judge, problem.human, tune=tune)
    estimate, covariance = problem.covariance(tune)
    assert_allclose(result.estimate, estimate, rtol=1e-9)
    assert_allclose(result.covariance, covariance, rtol=1e-7)
    assert (np.isnan(result.df) | (result.df > 0.0)).all()


# What must hold whatever the values.


@pytest.fixture
def problem():
    return Problem(5)


def test_all_labelled_is_the_plain_analysis():
    rng = np.random.default_rng(2)
    judge, human = rng.random((3, 40)), rng.normal(size=(3, 40))
    own, plain = compare_means(judged_values(judge, human)), compare_means(human)
    for field in ("difference", "pvalue", "standard_error", "interval", "score_interval"):
        assert_allclose(getattr(own, field), getattr(plain, field), rtol=1e-9, err_msg=field)
    assert_allclose(judged_values(judge, human).lam, 0.0)
    result = judged_values(judge, human)
    assert np.isnan(result.balance).all()
    assert_allclose(result.n_effective, 40)
    for tune in ("common", "pair", "slope", 0.7):
        other = judged_values(judge[:2], human[:2], tune=tune)
        assert_allclose(other.estimate, human[:2].mean(axis=1), rtol=1e-12)
        assert_allclose(other.covariance, np.cov(human[:2]) / 40, rtol=1e-9)
    right = judged_values(judge[0] > 0.5, human[0] > 0.0)
    low, high = fastcmp.kernels.wilson_interval(int((human[0] > 0).sum()), 40, 0.95)
    assert_allclose(right.interval[0], (low, high), rtol=1e-12)


def test_the_scale_and_the_origin_of_the_judge_do_not_matter(problem):
    own = judged_values(problem.judge, problem.human)
    other = judged_values(10.0 - 0.0 + 100.0 * problem.judge, problem.human + 1000.0)
    assert_allclose(other.estimate, own.estimate + 1000.0, rtol=1e-12)
    assert_allclose(other.covariance, own.covariance, rtol=1e-9)
    assert_allclose(other.lam, own.lam / 100.0, rtol=1e-9)
    # Labels over their probabilities depend on the origin of the labels.
    given = {"convention": "horvitz-thompson", "probabilities": np.full(60, 0.5)}
    own, other = (judged_values(problem.judge, problem.human + x, **given) for x in (0.0, 100.0))
    assert np.abs(other.estimate - own.estimate - 100.0).max() > 0.1


@pytest.mark.parametrize(("of_judge", "of_labels"), [(1e-80, 1e80), (1e60, 1.0), (1e-90, 1e-80)])
@pytest.mark.parametrize("options", [{}, {"tune": "pair"}, {"target": "these items"}])
def test_units_near_the_ends_of_floats_do_not_matter(problem, of_judge, of_labels, options):
    plain = judged_values(problem.judge, problem.human, **options)
    other = judged_values(of_judge * problem.judge, of_labels * problem.human, **options)
    for field in ("df", "n_effective", "balance_pvalue", "pair_df"):
        assert_allclose(getattr(other, field), getattr(plain, field), rtol=1e-8, err_msg=field)
    assert_allclose(other.standard_error / of_labels, plain.standard_error, rtol=1e-8)
    assert_allclose(mean_difference(other).pvalue, mean_difference(plain).pvalue, rtol=1e-8)


def test_labels_of_different_items():
    problem = Problem(7, n=80, kind="disjoint")
    judge = np.vstack([problem.judge, problem.judge[:1] * 0.5])
    human = np.vstack([problem.human, problem.human[::-1][:1]])
    result = judged_values(judge, human, variance="influence")
    known = ~np.isnan(human)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        psi = result.influences[a] - result.influences[b]
        either = known[a] | known[b]
        own, rest = (np.sum(psi[x] ** 2) / (80 * 79) for x in (either, ~either))
        n = min(known[a].sum(), known[b].sum())
        df = (own + rest) ** 2 / (own**2 / (n - 2) + rest**2 / ((~either).sum() - 1))
        assert_allclose(result.pair_df[a, b], df, rtol=1e-9)
        assert_allclose(result.pair_df[b, a], df, rtol=1e-9)
    assert_allclose(np.diagonal(result.pair_df), result.df)
    with pytest.raises(ValueError, match="same items"):
        judged_values(judge, human, tune="common")


def test_one_number_for_all_makes_all_differences_vary_least():
    problem = Problem(11, n=90)
    judge = np.vstack([problem.judge, problem.judge[::-1] @ np.diag(np.linspace(0.5, 1.5, 90))])
    human = np.vstack([problem.human, 0.8 * problem.human[::-1]])

    def total(lam):
        result = judged_values(judge, human, tune=lam, variance="influence")
        rows = result.influences - result.influences.mean(axis=0)
        # Factors for small samples are those of a given slope.
        return (rows**2).sum()

    best = judged_values(judge, human, tune="common").lam
    assert_allclose(best, best[0])
    lower, upper = total(best[0] - 0.05), total(best[0] + 0.05)
    assert total(best[0]) < max(lower, upper)


def test_equal_bias_of_two_is_the_paired_t_test(problem):
    result = judged_values(problem.judge, problem.human)
    known = ~np.isnan(problem.human[0])
    gaps = (problem.judge - problem.human)[:, known]
    test = stats.ttest_rel(gaps[0], gaps[1])
    assert_allclose(result.equal_bias_statistic, test.statistic**2, rtol=1e-9)
    assert_allclose(result.equal_bias_pvalue, test.pvalue, rtol=1e-9)


def test_several_labels_of_an_item_count_by_their_mean():
    judge = [1.0, 2.0, 3.0, 4.0, 2.5, 1.5]
    twice = [[1, 2], [2, None], [None, None], [4, 5], [3, 3], [None, 1]]
    one = [1.5, 2.0, None, 4.5, 3.0, 1.0]
    assert judged_values(judge, twice).estimate == judged_values(judge, one).estimate


def test_several_labels_of_the_answers_of_several_models():
    rng = np.random.default_rng(6)
    judge, human = rng.random((2, 20)), rng.random((2, 20, 3))
    human[:, 12:], human[:, :5, 2] = np.nan, np.nan
    mean = [[np.nan if np.isnan(x).all() else np.nanmean(x) for x in one] for one in human]
    wanted = judged_values(judge, mean)
    for labels in (human, human.tolist()):
        assert_allclose(judged_values(judge, labels).estimate, wanted.estimate, rtol=1e-12)
    named = {"x": judge[0], "y": judge[1]}, {"y": human[1], "x": human[0]}
    assert_allclose(judged_values(*named).estimate, wanted.estimate, rtol=1e-12)


def test_what_is_hardly_meant_is_told():
    judge = [1, 0, 1, 1, 0, 1, 1, 0]
    assert "Labels hold -1" in str(judged_values(judge, [1, 0, -1, -1, 1, -1, 1, 0]))
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="models come first"):
        judged_values(rng.random((9, 6)), rng.random((9, 6)))
    for scale in (1e200, 1e-200):
        for pair in ((np.array(judge) * scale, judge), (judge, np.array(judge) * scale)):
            with pytest.raises(ValueError, match="between 1e-100 and 1e100"):
                judged_values(*pair)
    with pytest.raises(ValueError, match="at least one model"):
        judged_values({}, {})
    with pytest.raises(TypeError, match="one number an item"):
        judged_values(3, judge)
    strata = {"strata": np.arange(80) % 2, "tune": "stratum"}
    labels = np.where(np.arange(80) < 50, rng.normal(size=80), np.nan)
    assert "A slope for each" not in str(judged_values(rng.random(80), labels, **strata))
    labels[: 2 * 8 : 2] = np.nan
    assert "A slope for each" in str(judged_values(rng.random(80), labels, **strata))


@pytest.mark.parametrize("tune", ["model", "slope"])
def test_two_labels_have_no_error_by_influences(tune):
    result = judged_values([1, 0, 0, 1], [1, None, 0, None], tune=tune, variance="influence")
    assert np.isnan(result.standard_error[0])
    assert "Too few labels" in str(result)


def test_few_labels_are_told():
    for target in ("these items", "new items"):
        one = judged_values([1, 0, 1, 1, 0], [1, None, None, None, None], target=target)
        assert one.estimate[0] == 1.0
        assert np.isnan(one.standard_error[0])
        assert np.isnan(one.interval).all()
    assert "Too few labels" in str(one)
    two = judged_values([[1, 0, 1, 1, 0]] * 2, [[1, None, None, None, None]] * 2)
    with pytest.raises(ValueError, match="at least 3 labels"):
        compare_means(two)
    # All of 24 right: no interval of width 0.
    human = np.where(np.arange(60) < 24, 1.0, np.nan)
    sure = judged_values(np.ones(60), human)
    assert sure.standard_error[0] == 0.0
    low, high = sure.interval[0]
    assert 0.8 < low < 0.9
    assert high == 1.0
    assert "The judge says the same of all items" in str(sure)
    graded = judged_values(np.linspace(0, 1, 60), np.where(np.arange(60) < 24, 3.0, np.nan))
    assert np.isnan(graded.interval).all()
    assert np.isnan(graded.bias).all()


def test_a_judge_that_is_off_by_a_number_has_a_bias_without_variance():
    y = np.random.default_rng(2).random(50) * 0.7
    result = judged_values(y + 0.1, np.where(np.arange(50) < 20, y, np.nan), tune=1.0)
    assert_allclose(result.bias, 0.1, rtol=1e-12)
    assert result.bias_standard_error[0] == 0.0
    assert np.isnan(result.bias_pvalue[0])
    same = judged_values(y, np.where(np.arange(50) < 20, y, np.nan), tune=1.0)
    assert_allclose(same.bias, 0.0, atol=1e-15)


def test_a_judge_against_the_labels_adds_nothing(problem):
    result = judged_values(-problem.judge, problem.human)
    assert_allclose(result.lam, 0.0)
    assert_allclose(result.estimate, result.labels_mean)
    assert "goes against" in str(result)


def test_published_slopes_of_strata_are_any():
    problem = Problem(3, n=60, kind="strata")
    result = judged_values(problem.judge, problem.human, convention="ppi", **problem.options)
    total = 0.0
    for h in (0, 1):
        here = problem.strata == h
        f, y = problem.judge[0, here], problem.human[0, here]
        some = ~np.isnan(y)
        cov = np.cov(y[some], f[some])[0, 1]
        lam = cov / ((1 + some.sum() / (~some).sum()) * f.var(ddof=1))
        assert_allclose(result.lam[0, h], lam, rtol=1e-10)
        total += 0.5 * (np.mean(y[some] - lam * f[some]) + lam * f[~some].mean())
    assert_allclose(result.estimate[0], total, rtol=1e-10)


def test_many_items_are_corrected_by_several_threads_as_by_one():
    rng = np.random.default_rng(4)
    judge = rng.random((6, 200_000))
    human = np.where(np.arange(200_000) < 300, judge + rng.normal(size=judge.shape), np.nan)
    result = judged_values(judge, human)
    for m in (0, 5):
        alone = judged_values(judge[m], human[m])
        assert alone.estimate[0] == result.estimate[m]
        assert np.array_equal(alone.influences[0], result.influences[m])


def test_best_sets_and_plain_estimates_take_judged_values(problem):
    result = judged_values(problem.judge, problem.human, names=("x", "y"))
    assert set(best_set(result, rng=1).best) <= {"x", "y"}
    losses = judged_values(problem.judge, problem.human, lower_is_better=True)
    assert compare_means(losses).leaderboard.names[0] == losses.names[losses.estimate.argmin()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": [0, 1] * 30, "strata": [0] * 30 + [1] * 30}, "within strata"),
        ({"convention": "horvitz-thompson"}, "needs probabilities"),
        ({"convention": "ppi", "weights": [1.0] * 60}, "cannot be taken into account"),
        ({"convention": "ppi", "groups": [*range(20)] * 3}, "average='clusters'"),
        ({"average": "clusters"}, "needs groups"),
        ({"target": "these items", "convention": "ppi"}, "convention='inside'"),
        ({"target": "these items", "tune": "common"}, "tune='common'"),
        ({"label_strata": [0, 1] * 30, "groups": [*range(20)] * 3}, "groups="),
        ({"label_strata": [0, 1] * 30, "variance": "jackknife"}, "variance='jackknife'"),
        ({"variance": "plain"}, "variance='plain'"),
        ({"tune": "stratum"}, "needs strata"),
        ({"probabilities": [0.0] + [0.5] * 59}, "probabilities .* in \\(0, 1\\]"),
        ({"probabilities": [0.5] * 59 + [1.5]}, "got 1.5"),
        ({"interval": "wilson"}, "0/1 labels"),
        ({"interval": "wilson", "weights": [1.0, 2.0] * 30}, "count alike"),
        (
            {"convention": "ppi", "average": "clusters", "groups": [*range(20)] * 3},
            "all their items",
        ),
    ],
)
def test_what_excludes_each_other(problem, options, words):
    with pytest.raises(ValueError, match=words):
        judged_values(problem.judge, problem.human, **options)


def test_models_must_be_the_same():
    with pytest.raises(ValueError, match="must have the models of judge"):
        judged_values({"a": [1, 0, 1], "b": [1, 0, 0]}, {"a": [1, 0, None], "c": [1, 0, None]})
    with pytest.raises(ValueError, match="both be of one model"):
        judged_values([[1, 0, 1], [1, 1, 0]], [1, 0, None])
    three = [[1, 0, 1, 0]] * 3
    with pytest.raises(ValueError, match="two models"):
        judged_values(three, three, tune="pair")


@pytest.mark.parametrize(
    ("option", "word", "known"),
    [("tune", "optimal", "model"), ("tune", "GREG", "slope"), ("convention", "PPI++", "ppi")],
)
def test_common_words_are_taken(problem, option, word, known):
    result = judged_values(problem.judge, problem.human, **{option: word})
    assert getattr(result, option) == known
