"""Bootstrapped partial areas and rates, Venkatraman's test, and t for two samples."""

import numpy as np
import pytest
from libraries import stats

import fastcmp
from fastcmp import auc_bootstrap, delong, delong_unpaired, plot, roc_band, roc_curve, venkatraman


def simulate(n=300, seed=0, gain=(1.0, 0.6)):
    rng = np.random.default_rng(seed)
    y_true = (np.arange(n) % 3 == 0).astype(int)
    common = rng.normal(size=n)
    return y_true, np.array([common + rng.normal(size=n) + g * y_true for g in gain])


# Partial areas.


@pytest.mark.parametrize("standardize", [False, True])
def test_partial_areas_are_those_of_auc(standardize):
    y_true, scores = simulate()
    for options in ({"fpr_range": (0.0, 0.2)}, {"tpr_range": (0.8, 1.0)}):
        options["standardize"] = standardize
        boot = auc_bootstrap(y_true, scores, n_resamples=50, rng=1, **options)
        np.testing.assert_array_equal(boot.auc, fastcmp.auc(y_true, scores, **options))
        # Around the value, and not of another scale.
        centre = boot.replicates.mean(axis=0)
        assert np.all(np.abs(centre - boot.auc) < 4 * boot.standard_error)
    whole = auc_bootstrap(y_true, scores, n_resamples=50, rng=1)
    for options in ({"fpr_range": (0, 1)}, {"tpr_range": (0, 1)}):
        part = auc_bootstrap(y_true, scores, n_resamples=50, rng=1, **options)
        np.testing.assert_allclose(part.replicates, whole.replicates, atol=1e-12)
        assert "partial AUC" in str(part.compare())


# Rates.


def test_rates_are_read_from_the_curve():
    y_true, scores = simulate()
    given = np.linspace(0, 1, 21)
    band = roc_band(y_true, scores, specificity=given, n_resamples=200, rng=1)
    for m in range(2):
        curve = roc_curve(y_true, scores[m])
        np.testing.assert_allclose(band.estimate[m], curve.interpolate(1 - given), atol=1e-12)
    low, high = band.confidence_interval()
    assert np.all(low <= band.estimate + 1e-12)
    assert np.all(band.estimate <= high + 1e-12)
    assert low.shape == (2, 21)
    table = band.columns()
    assert {len(column) for column in table.values()} == {42}


def test_specificity_is_sensitivity_seen_from_the_other_class():
    y_true, scores = simulate(120)
    one = roc_band(y_true, scores, sensitivity=[0.5, 0.9], n_resamples=20, rng=1)
    other = roc_band(1 - y_true, -scores, specificity=[0.5, 0.9], n_resamples=5, rng=1)
    np.testing.assert_allclose(one.estimate, other.estimate, atol=1e-12)
    assert one.measure == "specificity"
    assert one.given == "sensitivity"


def test_sensitivity_at_a_cut_has_the_spread_of_a_proportion():
    # Far from the ends and with many negatives, the cut hardly moves.
    rng = np.random.default_rng(3)
    y_true = np.repeat([1, 0], [200, 20_000])
    score = rng.normal(size=y_true.size) + 1.5 * y_true
    band = roc_band(y_true, score, specificity=0.9, n_resamples=1500, rng=2)
    p = band.estimate[0, 0]
    assert band.standard_error[0, 0] == pytest.approx(np.sqrt(p * (1 - p) / 200), rel=0.15)


def test_rates_of_two_models():
    y_true, scores = simulate(600)
    named = {"a": scores[0], "b": scores[1]}
    band = roc_band(y_true, named, specificity=[0.8, 0.9], n_resamples=500, rng=1)
    test = band.compare("a", "b", at=0.9, alternative="greater")
    assert test == band.compare(0, -1, at=0.9, alternative="greater")
    difference = band.replicates[:, 0, 1] - band.replicates[:, 1, 1]
    z = (band.estimate[0, 1] - band.estimate[1, 1]) / difference.std(ddof=1)
    assert test.pvalue == pytest.approx(stats.norm.sf(z))
    for asked, message in (
        (("a", "b"), "at must be one of"),
        (("a", "b", 0.5), "at must be one of"),
        (("a", "c", 0.9), "no model 'c'"),
    ):
        with pytest.raises(ValueError, match=message):
            band.compare(*asked[:2], **({"at": asked[2]} if asked[2:] else {}))
    for function, options, message in (
        (auc_bootstrap, {"fpr_range": (0, 0.2), "tpr_range": (0, 1)}, "exclude each other"),
        (auc_bootstrap, {"standardize": True}, "standardize=True is for a partial area"),
        (roc_band, {"specificity": 0.5, "sensitivity": 0.5}, "exclude each other"),
    ):
        with pytest.raises(ValueError, match=message):
            function(y_true, scores, **options)


def test_the_same_for_any_number_of_workers():
    y_true, scores = simulate(60)
    options = {"n_resamples": 300, "rng": 2}
    alone = roc_band(y_true, scores, **options, workers=1)
    test = venkatraman(y_true, *scores, **options, workers=1)
    for workers in (2, 7):
        assert roc_band(y_true, scores, **options, workers=workers) == alone
        assert venkatraman(y_true, *scores, **options, workers=workers) == test


# Venkatraman's test.


def test_curves_that_cross_with_equal_areas():
    rng = np.random.default_rng(1)
    n = 400
    y_true = np.repeat([1, 0], n)
    # The same shift in standard deviations, but another spread of the positives.
    a = np.concatenate([rng.normal(1.0, 1.0, n), rng.normal(0.0, 1.0, n)])
    b = np.concatenate([rng.normal(1.58, 2.0, n), rng.normal(0.0, 1.0, n)])
    assert delong(y_true, [a, b]).compare().pvalue > 0.2
    assert venkatraman(y_true, a, b, n_resamples=999, rng=1).pvalue < 0.01


@pytest.mark.full
def test_equal_curves_are_rejected_at_the_level():
    pvalues = []
    for seed in range(300):
        y_true, (a, b) = simulate(60, seed, gain=(0.7, 0.7))
        pvalues.append(venkatraman(y_true, a, b, n_resamples=99, rng=seed).pvalue)
    assert stats.binomtest(int((np.array(pvalues) <= 0.1).sum()), 300, 0.1).pvalue > 1e-3


def test_only_ranks_count():
    y_true, (a, b) = simulate(80)
    plain = venkatraman(y_true, a, b, n_resamples=200, rng=1)
    assert venkatraman(y_true, np.exp(a), b**3, n_resamples=200, rng=1) == plain
    other_way = venkatraman(y_true, b, a, n_resamples=200, rng=1)
    assert other_way.statistic == plain.statistic
    assert venkatraman(y_true, a, a, n_resamples=50, rng=1).pvalue == 1.0


# Student's t for two samples.


def test_welch_degrees_of_freedom():
    y_a, (a, _) = simulate(24, 1)
    y_b, (b, _) = simulate(40, 2)
    test = delong_unpaired(y_a, a, y_b, b, method="t")
    v, w = (delong(y, x).covariance[0, 0] for y, x in ((y_a, a), (y_b, b)))
    df = (v + w) ** 2 / (v**2 / 23 + w**2 / 39)
    assert test.df == pytest.approx(df, rel=1e-12)
    assert test.statistic == delong_unpaired(y_a, a, y_b, b).statistic
    assert test.pvalue == pytest.approx(2 * stats.t.sf(abs(test.statistic), df), rel=1e-10)
    low, high = test.confidence_interval()
    half = stats.t.ppf(0.975, df) * np.sqrt(v + w)
    assert high - low == pytest.approx(2 * half, rel=1e-9)
    for side, tail in (("greater", stats.t.sf), ("less", stats.t.cdf)):
        one = delong_unpaired(y_a, a, y_b, b, method="t", alternative=side)
        assert one.pvalue == pytest.approx(tail(test.statistic, df), rel=1e-10)


@pytest.mark.full
def test_both_methods_keep_their_level_in_small_samples():
    rng = np.random.default_rng(8)
    y, rejected = [0] * 8 + [1] * 8, {"normal": 0, "t": 0}
    n = 1500
    for _ in range(n):
        a, b = rng.normal(size=(2, 16)) + 0.8 * np.array(y)
        for method in rejected:
            test = delong_unpaired(y, a, y, b, method=method)
            rejected[method] += test.pvalue <= 0.05
    assert rejected["t"] <= rejected["normal"]
    assert rejected["normal"] / n < 0.075  # 0.055 in 20,000 pairs of samples
    assert rejected["t"] / n < 0.06  # 0.043


# The picture.


@pytest.mark.parametrize("rates", ["specificity", "sensitivity"])
def test_the_drawn_band_is_the_interval(rates):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    y_true, scores = simulate(90)
    given = np.array([0.9, 0.2, 0.5])
    band = roc_band(y_true, scores, **{rates: given}, n_resamples=100, rng=1)
    ax = plot.roc_band(band, confidence_level=0.9)
    assert ax.get_xlabel().lower() == rates
    low, high = band.confidence_interval(0.9)
    order = np.argsort(given)
    diagonal, *curves = ax.lines
    np.testing.assert_array_equal(diagonal.get_xydata(), [[1, 0], [0, 1]])
    for m, curve in enumerate(curves):
        np.testing.assert_array_equal(curve.get_xdata(), given[order])
        np.testing.assert_array_equal(curve.get_ydata(), band.estimate[m, order])
        corners = ax.collections[m].get_paths()[0].vertices
        wanted = np.stack([low[m], high[m]]).ravel()
        assert set(wanted.tolist()) <= set(corners[:, 1].tolist())
    plt.close(ax.figure)
