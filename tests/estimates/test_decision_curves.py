"""Net benefits and decision curves, against other programs and the values of each item."""

import numpy as np
import pytest
from cases import refuses
from numpy.testing import assert_allclose
from reference_cases import agree, cases, expected, parametrize

from fastcmp import (
    Estimates,
    best_set,
    brier_values,
    compare_means,
    decision_curve,
    log_loss_values,
    mean_difference,
    net_benefit_values,
)


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(2)
    y = (rng.random(150) < 0.4).astype(int)
    p = np.clip(0.25 + 0.3 * y + rng.normal(0.0, 0.2, (3, 150)), 0.0, 1.0).round(2)
    return y, dict(zip("abc", p, strict=True))


def curve_of(case, **options):
    given, t = case["input"], case["options"]
    models = {"a": given["a"]}
    if not isinstance(given.get("b", "none"), str):
        models["b"] = given["b"]
    at = t.get("threshold", t.get("thresholds"))
    options |= {"prevalence": t["prevalence"]} if "prevalence" in t else {}
    return decision_curve(given["y"], models, thresholds=at, rng=1, positive=1, **options)


def check(case, curve):
    """All values of a case of one threshold."""
    low, high = curve.interval[0, 0]
    found = {
        "value_a": curve.net_benefit[0, 0],
        "value_b": curve.net_benefit[1, 0],
        "treat_all": curve.net_benefit[-2, 0],
        "treat_none": curve.net_benefit[-1, 0],
        "se_a": curve.standard_error[0, 0],
        "difference": curve.difference[0, 0],
        "se_difference": curve.difference_standard_error[0, 0],
        "statistic": curve.statistic[0, 0],
        "df": curve.df[0, 0],
        "pvalue": curve.pvalue[0, 0],
        "lower": low,
        "upper": high,
    }
    for name in set(found) & set(case["expected"]):
        assert found[name] == expected(case, name), name


@parametrize("net_benefit_difference")
def test_differences_at_one_threshold(case):
    curve = curve_of(case)
    check(case, curve)
    pair = ("a", "b" if "b" in curve.names else "treat all")
    result = compare_means(curve.estimates, pairs=[pair])
    assert result.pvalue[0] == pytest.approx(case["expected"]["pvalue"], rel=1e-9)
    if "prevalence" not in case["options"]:
        given, b = case["input"], case["input"]["b"]
        threshold = case["options"]["threshold"]
        models = {"a": given["a"]} | ({} if isinstance(b, str) else {"b": b})
        values = net_benefit_values(given["y"], models, threshold=threshold, strategies=True)
        agree(case, mean_difference(*(values[name] for name in pair)), "difference", "pvalue")


@parametrize("standardised_net_benefit_difference")
def test_standardised_net_benefit(case):
    check(case, curve_of(case, standardised=True))


@parametrize("test_tradeoff")
def test_items_for_one_more_true_positive(case):
    curve = curve_of(case)
    assert curve.test_tradeoff[0, 0] == expected(case, "tradeoff")
    assert curve.test_tradeoff_interval[0, 0, 0] == expected(case, "lower")
    assert curve.test_tradeoff_interval[0, 0, 1] == np.inf


@parametrize("net_benefit_band")
def test_the_band_holds_for_all_thresholds(case):
    curve = curve_of(case)
    for name, found in (
        ("difference", curve.difference[0]),
        ("se", curve.difference_standard_error[0]),
        ("lower", curve.band.low[0]),
        ("upper", curve.band.high[0]),
    ):
        assert found.tolist() == expected(case, name), name
    assert curve.critical_value == expected(case, "critical_value")


@parametrize("net_benefit_area")
def test_areas_over_a_range(case):
    given, low_high = case["input"], tuple(case["options"]["thresholds"])
    values = net_benefit_values(given["y"], {k: given[k] for k in "ab"}, threshold=low_high)
    assert values["a"].mean() == expected(case, "value_a")
    result = mean_difference(values["a"], values["b"])
    agree(case, result, "difference", "statistic", "pvalue")


@parametrize("net_benefit_value")
def test_a_threshold_is_reached_but_for_rounding(case):
    given, threshold = case["input"], case["options"]["threshold"]
    for p in (given["a"], np.array(given["a"], np.float32)):
        values = net_benefit_values(given["y"], p, threshold=threshold)
        assert values.mean() == expected(case, "value_ge")
    curve = decision_curve(given["y"], given["a"], thresholds=[threshold], rng=1)
    assert curve.net_benefit[0, 0] == expected(case, "value_ge")


def test_edges():
    wrong, no_events, same_calls = cases("net_benefit_edge")
    refuses(ValueError, r"thresholds must be .* in \(0, 1\)", curve_of, wrong)
    curve = curve_of(no_events)
    assert curve.net_benefit[:2, 0].tolist() == [-0.2, 0.0]
    assert "losses alone" in str(curve)
    undefined = curve_of(no_events, standardised=True)
    assert np.isnan(undefined.net_benefit[0, 0])
    refuses(ValueError, "no item is positive", compare_means, undefined)
    assert "no standardised" in str(undefined)
    curve = curve_of(same_calls)
    check(same_calls, curve)
    assert "decide alike" in str(curve)
    assert curve.interval.tolist() == [[[0.0, 0.0]]]


def test_areas_are_brier_scores_and_log_losses(sample):
    y, models = sample
    p = np.clip(models["a"], 0.01, 0.99)
    brier = net_benefit_values(y, p, threshold=(0.0, 1.0), threshold_density="brier")
    assert_allclose(brier, y - brier_values(y, p), atol=1e-15)
    loss = net_benefit_values(y, p, threshold=(0.0, 1.0), threshold_density="log_loss")
    assert_allclose(-loss, log_loss_values(y, p), atol=1e-14)


@pytest.mark.parametrize("density", ["uniform", "brier", "log_loss"])
def test_areas_are_sums_over_thresholds(sample, density):
    y, models = sample
    low, high = 0.15, 0.7
    found = net_benefit_values(y, models, threshold=(low, high), threshold_density=density)
    step = 1e-4
    grid = np.arange(low + step / 2, high, step)
    weight = {"uniform": 1.0 / (high - low), "brier": 2 - 2 * grid, "log_loss": 1 / grid}[density]
    odds = grid / (1.0 - grid)
    for name, p in models.items():
        gain = (p[:, None] >= grid) * np.where(y[:, None] == 1, 1.0, -odds)
        wanted = ((gain - (density == "log_loss") * y[:, None]) * weight * step).sum(axis=1)
        assert_allclose(found[name], wanted, atol=3e-4)
    functions = {"uniform": lambda t: 0 * t + 1 / 0.55, "brier": lambda t: 2 * (1 - t)}
    if density in functions:
        given = {"threshold": (low, high), "threshold_density": functions[density]}
        assert_allclose(net_benefit_values(y, models, **given)["b"], found["b"], atol=1e-13)


def test_shapes_follow_the_probabilities(sample):
    y, models = sample
    named = net_benefit_values(y, models, threshold=0.3, strategies=True)
    assert [*named] == ["a", "b", "c", "treat all", "treat none"]
    assert_allclose(named["treat all"], np.where(y == 1, 1.0, -3 / 7))
    assert not named["treat none"].any()
    assert net_benefit_values(y, models["a"], threshold=0.3).shape == (150,)
    assert net_benefit_values(y, np.stack([*models.values()]), threshold=0.3).shape == (3, 150)


OPTIONS = {
    "plain": {},
    "standardised": {"standardised": True},
    "prevalence": {"prevalence": 0.1},
    "prevalence, standardised": {"prevalence": 0.1, "standardised": True},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_of_numerical_influences(sample, options, weighted):
    """The infinitesimal jackknife: derivatives of the curve by the weight of each item."""
    y, models = sample
    n, at = y.size, [0.1, 0.35, 0.8]
    weights = np.random.default_rng(3).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    curve = decision_curve(y, models, thresholds=at, rng=1, weights=weights, **options)
    step, slopes = 1e-5, []
    for i in range(n):
        moved = [
            decision_curve(
                y, models, thresholds=at, rng=1, n_resamples=99,
                weights=weights + sign * step * weights * (np.arange(n) == i), **options,
            ).net_benefit
            for sign in (1, -1)
        ]  # fmt: skip
        slopes.append((moved[0] - moved[1]) / (2 * step))
    slopes = np.array(slopes)[:, [0, 1, 2, 3]]
    pairs = curve.pairs
    of_pairs = slopes[:, pairs[:, 0]] - slopes[:, pairs[:, 1]]
    for rows, found in (
        (slopes, curve.standard_error[:4]),
        (of_pairs, curve.difference_standard_error),
    ):
        if "prevalence" in options:
            size = np.bincount(y)
            parts = [(rows[y == k] ** 2).sum(axis=0) * size[k] / (size[k] - 1) for k in (0, 1)]
            wanted = np.sqrt(parts[0] + parts[1])
        else:
            wanted = np.sqrt((rows**2).sum(axis=0) * n / (n - 1))
        assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)


def test_items_that_come_twice_are_one_cluster(sample):
    y, models = sample
    weights, groups = (
        np.random.default_rng(3).uniform(0.5, 2.0, y.size),
        np.repeat(np.arange(150), 2),
    )
    twice = {name: np.repeat(p, 2) for name, p in models.items()}
    for options in ({}, {"standardised": True}, {"weights": weights}, {"thresholds": [0.1, 0.5]}):
        both = options | ({"weights": np.repeat(weights, 2)} if "weights" in options else {})
        ours = decision_curve(np.repeat(y, 2), twice, groups=groups, rng=1, **both)
        theirs = decision_curve(y, models, rng=1, **options)
        assert_allclose(ours.standard_error, theirs.standard_error, rtol=1e-9)
        assert_allclose(ours.interval, theirs.interval, atol=1e-12)
        assert ours.critical_value == pytest.approx(theirs.critical_value, rel=0.02)


def test_clusters_are_those_of_compare_means(sample):
    y, models = sample
    groups = np.arange(y.size) // 4
    curve = decision_curve(y, models, thresholds=0.4, groups=groups, rng=1)
    values = net_benefit_values(y, models, threshold=0.4)
    means = compare_means(values, groups=groups, variance="cr1", df="clusters")
    assert_allclose(curve.pvalue[:, 0], means.pvalue, rtol=1e-9)
    assert curve.n_clusters == 38


def test_weights_are_those_of_compare_means(sample):
    y, models = sample
    weights = np.random.default_rng(3).uniform(0.5, 2.0, y.size)
    curve = decision_curve(y, models, thresholds=0.4, weights=weights, rng=1)
    values = net_benefit_values(y, models, threshold=0.4)
    means = compare_means(values, weights=weights, variance="cr1", df="clusters")
    assert_allclose(curve.difference[:, 0], means.difference, rtol=1e-9)
    assert_allclose(curve.pvalue[:, 0], means.pvalue, rtol=1e-9)


def test_treatments_avoided_are_those_of_each_item(sample):
    y, models = sample
    at = np.array([0.2, 0.6])
    curve = decision_curve(y, models, thresholds=at, rng=1, standardised=True)
    for k, t in enumerate(at):
        for m, p in enumerate(models.values()):
            values = (p < t) * ((1.0 - y) - y * (1.0 - t) / t)
            mean, error = values.mean(), values.std(ddof=1) / np.sqrt(y.size)
            assert curve.interventions_avoided[m, k] == pytest.approx(mean)
            half = np.diff(curve.interventions_avoided_interval[m, k])[0] / 2
            assert half == pytest.approx(error * 1.976013177679155)  # t, 149 degrees


def test_a_prevalence_estimated_elsewhere_adds_its_error(sample):
    y, models = sample
    options = {"thresholds": 0.4, "prevalence": 0.2, "rng": 1}
    known = decision_curve(y, models, **options)
    guessed = decision_curve(y, models, **options, prevalence_se=0.05)
    step = 1e-6
    up, down = (
        decision_curve(y, models, **options | {"prevalence": 0.2 + x}) for x in (step, -step)
    )
    slope = (up.difference - down.difference) / (2 * step)
    wanted = known.difference_standard_error**2 + (0.05 * slope) ** 2
    assert_allclose(guessed.difference_standard_error**2, wanted, rtol=1e-6)
    assert (guessed.df > known.df).all()


def test_the_same_critical_value_from_units_and_from_correlations(sample, monkeypatch):
    y, models = sample
    options = {"thresholds": np.arange(1, 10) / 10, "rng": 1, "n_resamples": 20_000}
    first = decision_curve(y, models, **options)
    from fastcmp.estimates import decision_curves

    monkeypatch.setattr(decision_curves, "_JOINT", 0)
    second = decision_curve(y, models, **options)
    assert first.critical_value == pytest.approx(second.critical_value, rel=0.015)
    monkeypatch.setattr(decision_curves, "_UNITS", 100)
    third = decision_curve(y, models, **options)
    assert first.critical_value == pytest.approx(third.critical_value, rel=0.04)


def test_pairs_and_controls(sample):
    y, models = sample
    options = {"thresholds": [0.2, 0.4], "rng": 1}

    def names(curve):
        return [tuple(curve.names[m] for m in pair) for pair in curve.pairs]

    assert names(decision_curve(y, models["a"], names=["x"], **options)) == [
        ("x", "treat all"),
        ("x", "treat none"),
    ]
    against_all = decision_curve(y, models, control="treat all", **options)
    assert names(against_all) == [(name, "treat all") for name in "abc"]
    by_name = decision_curve(y, models, pairs=[("c", "treat none")], **options)
    assert names(by_name) == [("c", "treat none")]
    assert_allclose(by_name.difference[0], by_name.net_benefit[2])
    assert len(decision_curve(y, models, control="b", **options).pairs) == 4


def test_estimates_go_to_other_functions(sample):
    y, models = sample
    curve = decision_curve(y, models, thresholds=0.4, rng=1)
    assert isinstance(curve.estimates, Estimates)
    assert set(best_set(curve.estimates, rng=1).best) <= set(curve.names)
    two = decision_curve(y, models, thresholds=[0.2, 0.4], rng=1)
    refuses(ValueError, "at 2 thresholds has no one net benefit", compare_means, two)


def test_pictures(sample):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    y, models = sample
    curve = decision_curve(y, models, thresholds=[0.1, 0.2, 0.4], standardised=True, rng=1)
    ax = curve.plot()
    assert ax.get_ylabel() == "Standardised net benefit"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [*"abc", "treat all", "treat none"]
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert_allclose(drawn["a"], curve.net_benefit[0])
    ax = curve.plot(differences=True)
    assert len(ax.collections) == 3
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert_allclose(drawn["a - c"], curve.difference[1])
    plt.close("all")


def test_refusals(sample):
    y, models = sample
    refuses(
        ValueError, r"threshold must lie in \(0, 1\)", net_benefit_values, y, models, threshold=1.0
    )
    refuses(ValueError, "ascending", net_benefit_values, y, models, threshold=(0.5, 0.2))
    refuses(
        ValueError,
        "infinite for item",
        net_benefit_values,
        [0, 1],
        [1.0, 0.2],
        threshold=(0.1, 1.0),
    )
    odd = {"threshold": 0.2, "threshold_density": "brier"}
    refuses(ValueError, "goes with a range", net_benefit_values, y, models, **odd)
    refuses(ValueError, "those of the positive class", decision_curve, [0, 1], [[0.5, 0.5]] * 2)
    refuses(ValueError, "name of a strategy", decision_curve, y, {"treat all": models["a"]})
    refuses(ValueError, "prevalence_se= goes with", decision_curve, y, models, prevalence_se=0.1)
    one = np.arange(150) == 3
    refuses(ValueError, "2 items of each class", decision_curve, one, models, prevalence=0.1)


def test_differences_without_variance_are_not_tested():
    curve = decision_curve([0, 0, 0], [0.1, 0.2, 0.3], thresholds=0.5, rng=1)
    assert curve.difference[0].tolist() == [1.0]
    assert np.isnan(curve.pvalue[0, 0])
    assert np.isnan(curve.band[0]).all()
    assert curve.pvalue[1, 0] == 1.0
    assert "no variance" in str(curve)
