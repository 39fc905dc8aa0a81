"""Intervals go with the side of their test: SciPy's convention, and duality."""

from __future__ import annotations

import re

import numpy as np
import pytest
from libraries import plt, stats

import fastcmp
from fastcmp import plot
from fastcmp.kernels import Status

SIDES = ("greater", "less")
COUNTS = {"both_right": 60, "both_wrong": 9}


def two_models(n=80, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, b = (y ^ (rng.random(n) < share) for share in (0.1, 0.25))
    return y, a, b


def records(alternative):
    """One record of each kind, with its limits."""
    y, a, b = two_models()
    noise = np.random.default_rng(1).normal(size=(2, 80))
    curves = fastcmp.delong(y, {"a": y + noise[0], "b": y + 2 * noise[1]})
    tables = [[[[33, 7], [3, 7]], [[36, 7], [2, 5]]]] * 5
    x = [0.04, 0.01, 0.02, 0.03, 0.0]
    both = fastcmp.compare_sensitivity_specificity(y, a, b, alternative=alternative)
    option = {"alternative": alternative}
    return [
        (fastcmp.mcnemar(y, a, b, **option), (-1, 1)),
        (both.sensitivity, (-1, 1)),
        (both.specificity, (-1, 1)),
        (fastcmp.fold_test(x, "kfold-t", **option), (-np.inf, np.inf)),
        (
            fastcmp.fold_test(x, "nadeau-bengio-t", n_train=90, n_test=30, **option),
            (-np.inf, np.inf),
        ),
        (fastcmp.fold_test([[107, 44], [10, 14]], "proportion-z", **option), (-np.inf, np.inf)),
        (fastcmp.bcv_mcnemar(tables, **option), (-1, 1)),
        (curves.compare("a", "b", **option), (-1, 1)),
        (fastcmp.accuracy_unpaired(counts=(56, 70, 48, 80), method="mn", **option), (-1, 1)),
        (fastcmp.delong_unpaired(y, noise[0] + y, y, noise[1], **option), (-1, 1)),
    ]


KINDS = range(len(records("two-sided")))


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_an_end_of_the_two_sided_interval(kind):
    both, limits = records("two-sided")[kind]
    greater, less = (records(side)[kind][0] for side in SIDES)
    for level in (0.9, 0.975):
        low, high = both.confidence_interval(2 * level - 1)
        assert greater.confidence_interval(level) == (low, limits[1])
        assert less.confidence_interval(level) == (limits[0], high)
    assert "one-sided" not in both.summary()
    for record in (greater, less):
        for level in (0.5, 0.2):
            with pytest.raises(ValueError, match=r"above 0\.5 for a one-sided interval"):
                record.confidence_interval(level)
        assert "one-sided 95% CI [" in record.summary()


# Where the interval inverts the test, its end excludes 0 just where the test rejects.


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_duality_of_score_test_and_odds_ratio(alternative, alpha):
    a, b = np.divmod(np.arange(1, 20 * 20), 20)
    given = {**COUNTS, "alternative": alternative}

    def excluded(ends, null):
        return ends.low > null if alternative == "greater" else ends.high < null

    score = fastcmp.mcnemar(only_a=a, only_b=b, method="asymptotic", **given)
    tango = score.confidence_interval(1 - alpha, method="tango")
    assert (excluded(tango, 0) == (score.pvalue < alpha)).all()
    for method in ("exact", "midp"):
        result = fastcmp.mcnemar(only_a=a, only_b=b, method=method, **given)
        ends = result.odds_ratio_interval(1 - alpha, method)
        assert (excluded(ends, 1) == (result.pvalue < alpha)).all()
        assert (ends.high == np.inf if alternative == "greater" else ends.low == 0).all()


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_duality_on_different_samples(alternative, alpha):
    a, b = np.divmod(np.arange(16 * 13), 13)
    given = {"method": "miettinen-nurminen", "alternative": alternative}
    for null in (0.0, -0.1, 0.2):
        test = fastcmp.accuracy_unpaired(counts=(a, 15, b, 12), null_difference=null, **given)
        ends = test.confidence_interval(1 - alpha)
        excluded = ends.low > null if alternative == "greater" else ends.high < null
        assert (excluded == (test.pvalue < alpha)).all()


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize(("a", "b"), [(11, 1), (3, 9), (5, 5), (0, 4), (7, 0)])
def test_odds_ratio_is_clopper_and_pearsons(alternative, a, b):
    result = fastcmp.mcnemar(only_a=a, only_b=b, method="exact", alternative=alternative)
    test = stats.binomtest(a, a + b, alternative=alternative)
    assert result.pvalue == pytest.approx(test.pvalue, rel=1e-12)
    share = test.proportion_ci(0.95)
    with np.errstate(divide="ignore"):
        odds = [p / (1 - p) if p < 1 else np.inf for p in share]
    assert result.odds_ratio_interval() == pytest.approx(odds, rel=1e-9)


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_areas_are_not_inferior_where_the_bound_says_so(margin):
    y, noise = two_models()[0], np.random.default_rng(6).normal(size=(2, 80))
    result = fastcmp.delong(y, {"a": y + noise[0], "b": y + noise[1]})
    better = ("a", "b") if result.auc[0] > result.auc[1] else ("b", "a")
    for alternative, pair in (("greater", better), ("less", better[::-1])):
        test = result.compare(*pair, alternative=alternative, margin=margin)
        if alternative == "less" and margin:
            continue
        low, high = test.confidence_interval(1 - test.pvalue)
        assert test.pvalue < 0.5
        end = low if alternative == "greater" else -high
        assert end == pytest.approx(-margin, abs=1e-9)


# --------------------------------------------------------------- records made of others


@pytest.mark.parametrize("alternative", SIDES)
def test_holdout_interval_has_the_side_of_the_test(alternative):
    y, a, b = two_models()
    result = fastcmp.compare_labels(y, a, b, alternative=alternative, alpha=0.1)
    assert result.interval == result.comparison.confidence_interval(0.9)
    assert result.interval[1 if alternative == "greater" else 0] in {-1.0, 1.0}
    assert "one-sided 90% CI" in str(result)
    with pytest.raises(ValueError, match=r"alpha must be below 0\.5"):
        fastcmp.compare_labels(y, a, b, alternative=alternative, alpha=0.5)
    assert fastcmp.compare_labels(y, a, b, alpha=0.5).interval.low > -1


def test_the_better_model_of_a_one_sided_comparison_of_errors():
    b = np.random.default_rng(2).normal(size=8)
    scores = {"a": b + np.linspace(0.1, 0.9, 8), "b": b}
    options = {"lower_is_better": True, "pairs": [("a", "b")]}
    text = " ".join(str(fastcmp.compare_datasets(scores, alternative="greater", **options)).split())
    assert "the first is worse" in text
    text = " ".join(str(fastcmp.compare_datasets(scores, alternative="less", **options)).split())
    assert "the first is better" in text


def nothing_differs(alternative):
    """Tests of two models that are the same, by name."""
    y, a, _ = two_models()
    values, groups, weights = np.arange(80.0) % 7, np.arange(80) // 4, {0: 1, 1: 3}
    option = {"alternative": alternative}
    strata = {"strata": groups % 2, "stratum_weights": weights, **option}
    return {
        **{
            x: fastcmp.mcnemar(y, a, a, method=x, **option) for x in ("midp", "exact", "asymptotic")
        },
        **{
            f"clusters, {x}": fastcmp.mcnemar(y, a, a, groups=groups, method=x, **option)
            for x in ("cr2", "obuchowski", "durkalski", "eliasziw", "mcnemar")
        },
        **{
            f"strata, {x}": fastcmp.mcnemar(y, a, a, method=x, **strata)
            for x in ("midp", "asymptotic")
        },
        **{
            f"means, {x}": fastcmp.mean_difference(values, values, method=x, rng=1, **option)
            for x in ("t", "permutation", "bootstrap")
        },
        "ranks": fastcmp.signed_rank(values, values, **option),
        "unpaired": fastcmp.means_unpaired([2.0, 2.0], [2.0, 2.0, 2.0], **option),
        "folds": fastcmp.fold_test([0.0] * 5, "kfold-t", **option),
    }


@pytest.mark.parametrize("alternative", ["two-sided", *SIDES])
def test_where_nothing_differs_p_is_1_on_every_side(alternative):
    for name, result in nothing_differs(alternative).items():
        assert (result.pvalue, result.statistic) == (1, 0), name
        assert result.status == Status.DEGENERATE, name


@pytest.mark.parametrize("alternative", SIDES)
def test_cross_validation_says_and_draws_which_side(alternative):
    from sklearn.datasets import load_iris
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    X, y = load_iris(return_X_y=True)
    models = GaussianNB(), KNeighborsClassifier()
    result = fastcmp.compare_cv(*models, X, y, alternative=alternative, rng=1)
    assert re.search(r"one-sided 95 ?%", result.summary())
    assert (", +100.00]" in result.summary()) == (alternative == "greater")
    ax = plot.folds(result)
    gains = 100 * np.subtract(*result.scores())
    low, high = (100 * e for e in next(iter(result.tests.values())).confidence_interval())
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    if alternative == "greater":
        assert (band.x0, band.x1) == pytest.approx((low, max(low, gains.max())))
    else:
        assert (band.x0, band.x1) == pytest.approx((min(high, gains.min()), high))
    assert ax.get_legend().get_texts()[0].get_text() == "one-sided 95% CI"
    plt.close(ax.figure)


LOSSES = {"lower_is_better": True}


OF_LOSSES = {
    **{
        f.__name__: lambda a, b, f=f, **o: f(a, b, **o).pvalue
        for f in (fastcmp.mean_difference, fastcmp.signed_rank, fastcmp.means_unpaired)
    },
    "compare_datasets": lambda a, b, **o: fastcmp.compare_datasets(
        {"a": a, "b": b}, pairs=[("a", "b")], **o
    ).pvalue[0],
    **{
        f"compare_datasets {method}": lambda a, b, m=method, **o: fastcmp.compare_datasets(
            {"a": a, "b": b, "c": np.sort(b)}, method=m, control="a", adjust="none", **o
        ).pvalue[0]
        for method in ("t", "sign", "normal", "exact")
    },
}


@pytest.mark.parametrize("name", OF_LOSSES)
def test_greater_is_the_measure_of_a_also_of_losses(name):
    """As in SciPy, whichever is better."""
    rng = np.random.default_rng(4)
    b = rng.normal(size=12)
    a = b + 0.8 + 0.1 * rng.normal(size=12)  # larger losses
    greater, less = (OF_LOSSES[name](a, b, alternative=x, **LOSSES) for x in SIDES)
    assert greater < 0.1 < less
    turned, back = (OF_LOSSES[name](b, a, alternative=x, **LOSSES) for x in SIDES)
    assert back < 0.5 < turned
    if name == "mean_difference":
        assert greater == pytest.approx(stats.ttest_rel(a, b, alternative="greater").pvalue)
    assert stats.wilcoxon(a, b, alternative="greater").pvalue < 0.1
