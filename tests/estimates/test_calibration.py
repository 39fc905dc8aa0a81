"""Calibration, against other programs, isotonic fits of scikit-learn and statsmodels."""

import math

import numpy as np
import pytest
from cases import refuses
from numpy.testing import assert_allclose
from reference_cases import cases, expected, parametrize

from fastcmp import (
    Estimates,
    calibration,
    compare_means,
    decision_curve,
    mean_difference,
    reliability_diagram,
)


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(4)
    logit = rng.normal(0.0, 1.5, 300)
    y = (rng.random(300) < 1 / (1 + np.exp(-logit))).astype(int)
    noisy = logit + rng.normal(0.0, 0.7, (3, 300)) * [[0.0], [1.0], [1.0]]
    p = 1 / (1 + np.exp(-np.array([[1.0], [2.5], [0.4]]) * noisy - [[0.0], [-0.5], [1.0]]))
    return y, dict(zip("abc", p.round(2).clip(0.01, 0.99), strict=True))


def result_of(case, **options):
    given = case["input"]
    p = given["p"] if "p" in given else {k: given[k] for k in "ab" if k in given}
    return calibration(given["y"], p, rng=1, **options)


def assert_agree(case, found):
    for name, value in found.items():
        got = value.tolist() if isinstance(value, np.ndarray) else value
        assert got == expected(case, name), name


def difference(result, measure):
    record = mean_difference(result.estimates_of(measure))
    found = {"difference": record.difference, "se_difference": record.standard_error}
    found |= {"statistic": record.statistic, "pvalue": record.pvalue}
    found |= {"lower": record.interval.low, "upper": record.interval.high}
    return {f"{name}_{measure}": value for name, value in found.items()}


@parametrize("score_decomposition")
def test_the_score_decomposed(case):
    result = result_of(case, score=case["options"]["score"])
    found = {"unc": result.unc[0]}
    for m, name in enumerate("ab"):
        found |= {f"score_{name}": result.mean_score[m], f"mcb_{name}": result.mcb[m]}
        found |= {f"dsc_{name}": result.dsc[m]}
    assert_agree(case, found)
    given = case["input"]
    for name in "ab":
        diagram = reliability_diagram(given["y"], given[name], rng=1, n_resamples=9)
        of_items = dict(zip(diagram.probability, diagram.recalibrated, strict=True))
        assert [of_items[p] for p in given[name]] == expected(case, f"recalibrated_{name}")


@parametrize("score_decomposition_difference")
def test_differences_of_the_parts_of_scores(case):
    plug_in, n = case["options"]["method"] == "pav", len(case["input"]["y"])
    options = {"method": "plug-in"} if plug_in else {"folds": np.arange(n) % 5}
    result = result_of(case, **options)
    found = difference(result, "mcb") | difference(result, "dsc")
    if plug_in:
        found |= difference(result, "score")
        found |= {"se_mcb_a": result.standard_error_of("mcb")[0]}
        found |= {"se_mcb_b": result.standard_error_of("mcb")[1]}
        found |= {"se_dsc_a": result.standard_error_of("dsc")[0]}
    else:
        for m, name in enumerate("ab"):
            found |= {f"mcb_{name}": result.mcb_balanced[m], f"dsc_{name}": result.dsc_balanced[m]}
            found |= {f"mcb_crossfit_{name}": result.mcb_crossfit[m]}
    assert_agree(case, found)


@parametrize("murphy_decomposition")
def test_the_decomposition_by_bins(case):
    result = result_of(case, bins=case["options"]["bins"])
    names = ("reliability", "resolution", "within_variance", "within_covariance")
    found = {name: getattr(result, name)[0] for name in names}
    assert_agree(case, found | {"uncertainty": result.unc[0], "brier": result.mean_score[0]})


@parametrize("calibration_regression_difference")
def test_differences_of_intercepts_and_slopes(case):
    result = result_of(case)
    for measure in ("citl", "slope"):
        found = difference(result, measure)
        found[f"se_{measure}"] = found.pop(f"se_difference_{measure}")
        assert_agree(case, found)


@parametrize("calibration_error")
def test_errors_in_bins(case):
    for bins in (5, 10):
        result = result_of(case, bins=bins)
        names = ("ece", "mce", "rmsce")
        assert_agree(case, {f"{name}_width_{bins}": getattr(result, name)[0] for name in names})


@parametrize("calibration_error_debiased")
def test_the_debiased_square(case):
    result = result_of(case, binning="values")
    found = {"plugin_square": result.reliability[0], "debiased_square": result.debiased_square[0]}
    assert_agree(case, found)


@parametrize("hosmer_lemeshow")
def test_hosmer_and_lemeshow(case):
    options = {"hosmer_lemeshow_groups": case["options"]["groups"]}
    for fitted, name in ((False, ""), (True, "_fitted")):
        result = result_of(case, fitted=fitted, **options)
        found = {f"df{name}": result.hosmer_lemeshow_df[0]}
        assert_agree(case, found | {f"pvalue{name}": result.hosmer_lemeshow_pvalue[0]})
    assert_agree(case, {"statistic": result.hosmer_lemeshow[0]})


@parametrize("spiegelhalter_z")
def test_spiegelhalter(case):
    result = result_of(case)
    found = {"statistic": result.spiegelhalter[0], "pvalue": result.spiegelhalter_pvalue[0]}
    assert_agree(case, found | {"brier": result.mean_score[0]})


@parametrize("multiclass_calibration")
def test_several_classes(case):
    top = result_of(case, bins=10)
    each = result_of(case, bins=10, multiclass="class-wise")
    found = {"top_label_ece": top.ece[0], "overconfidence": top.overconfidence[0]}
    found |= {"classwise_ece": each.ece[0], "brier": each.mean_score[0]}
    found |= {"classwise": each.by_class["ece"][0]}
    found |= {f"{x}_classwise": each.by_class[x][0] for x in ("mcb", "dsc", "unc")}
    assert_agree(case, found)
    assert each.mcb[0] == pytest.approx(sum(case["expected"]["mcb_classwise"]))
    # Halves of two classes are one problem.
    y, p = np.array(case["input"]["y"]) == 1, np.array(case["input"]["p"])[:, 1]
    two = calibration(y, np.stack([1 - p, p], axis=1))
    assert two.mcb == pytest.approx(each.by_class["mcb"][0, 1])


@parametrize("calibration_in_the_large_top")
def test_overconfidence(case):
    result = result_of(case)
    error, (low, high) = (
        result.standard_error_of("overconfidence"),
        result.interval_of("overconfidence")[0],
    )
    found = {
        "overconfidence": result.overconfidence[0],
        "se": error[0],
        "lower": low,
        "upper": high,
    }
    assert_agree(case, found | {"pvalue": result.pvalue_of("overconfidence")[0]})


@parametrize("reliability_band")
def test_binomial_bands(case):
    given = case["input"]
    diagram = reliability_diagram(given["y"], given["p"], rng=1)
    names = {"value": "probability", "n": "n_with", "observed": "observed"}
    names |= {"lower": "band_low", "upper": "band_high"}
    assert_agree(case, {name: getattr(diagram, field) for name, field in names.items()})


def test_edges():
    perfect, one_class, wrong = cases("calibration_edge")
    result = result_of(perfect, score="log_loss")
    assert_agree(
        perfect, {"score_a": result.mean_score[0], "mcb_a": result.mcb[0], "dsc_a": result.dsc[0]}
    )
    assert np.isnan(result.slope[0])
    assert "no logit" in str(result)
    result = result_of(one_class)
    assert_agree(one_class, {"unc": result.unc[0], "dsc": result.dsc[0], "mcb": result.mcb[0]})
    assert result.citl[0] == np.inf
    assert np.isnan(result.slope[0])
    assert "one class" in str(result)
    refuses(ValueError, r"must lie in \[0, 1\]", result_of, wrong)


@pytest.mark.parametrize(
    ("option", "word", "known"),
    [
        ("score", "Brier score", "brier"),
        ("score", "log-loss", "log_loss"),
        ("method", "CORP", "plug-in"),
        ("binning", "equal mass", "mass"),
        ("binning", "uniform", "width"),
    ],
)
def test_common_words_are_taken(option, word, known):
    assert getattr(calibration([1, 0, 1], [0.8, 0.3, 0.6], **{option: word}), option) == known


def test_separated_classes_have_no_finite_slope():
    p = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
    result = calibration([0, 0, 0, 1, 1, 1], [p, p[::-1], [0.4] * 6])
    assert result.slope[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(result.slope[2])
    assert np.isnan(result.standard_error_of("slope")).all()
    assert np.isfinite(result.citl).all()
    refuses(ValueError, "see cautions", result.estimates_of, "slope")


def oracle(y, p, folds, score):
    """Balanced parts by scikit-learn, of one model."""
    from sklearn.isotonic import IsotonicRegression

    def scores(q):
        if score == "brier":
            return (q - y) ** 2
        with np.errstate(divide="ignore"):
            return -np.log(np.where(y == 1, q, 1 - q))

    fit = IsotonicRegression(out_of_bounds="clip")
    alone, others = fit.fit(p, y).predict(p), np.empty(y.size)
    for fold in np.unique(folds):
        inside = folds == fold
        others[inside] = fit.fit(p[~inside], y[~inside]).predict(p[inside])
    s, u = scores(p).mean(), scores(np.full(y.size, y.mean())).mean()
    g, h = scores(alone).mean(), scores(others).mean()
    return {"mean_score": s, "mcb": s - g, "dsc": u - g, "unc": u, "mcb_crossfit": s - h}


@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_parts_are_those_of_scikit_learn(sample, score):
    y, models = sample
    folds = np.random.default_rng(0).integers(0, 7, y.size)
    result = calibration(y, models, score=score, folds=folds)
    for m, p in enumerate(models.values()):
        for name, value in oracle(y, p, folds, score).items():
            if not math.isinf(value):
                assert getattr(result, name)[m] == pytest.approx(value, abs=1e-12), name
    if score == "log_loss":
        assert np.isnan(result.mcb_balanced).any()
        assert "log loss is infinite" in str(result)
        clipped = calibration(y, models, score=score, folds=folds, eps=0.001)
        assert np.isfinite(clipped.mcb_balanced).all()


def test_recalibration_is_that_of_statsmodels(sample):
    import statsmodels.api as sm

    y, models = sample
    result = calibration(y, models)
    n = y.size
    for m, p in enumerate(models.values()):
        x = np.log(p / (1 - p))
        large = sm.GLM(y, np.ones(n), family=sm.families.Binomial(), offset=x).fit(tol=1e-14)
        free = sm.GLM(y, sm.add_constant(x), family=sm.families.Binomial()).fit(tol=1e-14)
        assert result.citl[m] == pytest.approx(large.params[0], rel=1e-8)
        assert result.citl_model_se[m] == pytest.approx(large.bse[0], rel=1e-6)
        assert result.slope[m] == pytest.approx(free.params[1], rel=1e-8)
        assert result.intercept[m] == pytest.approx(free.params[0], rel=1e-7)
        assert result.slope_model_se[m] == pytest.approx(free.bse[1], rel=1e-6)
        robust = sm.GLM(y, sm.add_constant(x), family=sm.families.Binomial()).fit(cov_type="HC0")
        wanted = robust.bse[1] * np.sqrt(n / (n - 1))
        assert result.standard_error_of("slope")[m] == pytest.approx(wanted, rel=1e-6)
        start = (y * x - np.log1p(np.exp(x))).sum()
        assert result.likelihood_ratio[m] == pytest.approx(2 * (free.llf - start), rel=1e-8)
        z = (result.slope[m] - 1) / result.standard_error_of("slope")[m]
        assert result.pvalue_of("slope")[m] == pytest.approx(math.erfc(abs(z) / math.sqrt(2)))


@pytest.mark.parametrize("kind", ["outlier", "heavy tails", "far away"])
def test_slopes_of_logits_with_outliers(kind):
    """Newton's method alone would leave some of these for good."""
    from scipy.optimize import brentq
    from scipy.special import expit

    rng, solved = np.random.default_rng(1), 0
    for _ in range(60):
        x = rng.normal(size=24) * rng.choice([0.1, 1.0])
        x = rng.standard_t(1, 24) * 5 if kind == "heavy tails" else x
        x = x + 8 if kind == "far away" else x
        x[-1] = -300.0 if kind == "outlier" else x[-1]
        p = expit(np.clip(x, -600, 30))
        y = rng.random(24) < 0.5
        result = calibration(y, p, positive=True)
        if not np.isfinite(result.slope[0]):
            continue
        solved += 1
        x = np.log(p) - np.log1p(-p)
        scaled = result.slope[0] * x
        free = brentq(lambda a, z=scaled, y=y: (y - expit(a + z)).sum(), -2e3, 2e3, xtol=1e-14)
        assert ((y - expit(free + scaled)) * x).sum() / x.std() == pytest.approx(0.0, abs=1e-8)
        assert (y - expit(result.citl[0] + x)).sum() == pytest.approx(0.0, abs=1e-8)
    assert solved > 30
    assert np.isnan(calibration([1, 0], expit([-600.0, 600.0])).slope[0])


def test_murphy_corrected_for_chance(sample):
    """Broecker's corrections are unbiased: means over all outcomes are the true terms."""
    sizes, chance = [2, 3, 3], np.array([0.2, 0.5, 0.9])
    p, of = np.repeat([0.1, 0.5, 0.8], sizes), np.repeat(chance, sizes)
    reliability = uncertainty = resolution = 0.0
    for bits in range(2**8):
        y = (bits >> np.arange(8)) & 1
        weight = np.where(y == 1, of, 1 - of).prod()
        result = calibration(y, p, positive=1, binning="values", method="plug-in")
        reliability += weight * result.corrected_reliability[0]
        resolution += weight * result.corrected_resolution[0]
        uncertainty += weight * result.corrected_uncertainty[0]
        terms = result.corrected_reliability - result.corrected_resolution
        assert terms + result.corrected_uncertainty == pytest.approx(result.mean_score, abs=1e-12)
    share = np.array(sizes) / 8
    assert reliability == pytest.approx(share @ (np.array([0.1, 0.5, 0.8]) - chance) ** 2)
    assert np.isnan(calibration([0, 1, 1], [0.1, 0.1, 0.5], binning="values").corrected_reliability)


@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_a_miscalibration_of_0_exactly(score):
    rng = np.random.default_rng(1)
    p = np.array([0.1, 0.1, 0.3, 0.5, 0.5, 0.8, 0.9])
    y = np.array([1, 0, 0, 1, 0, 1, 0])
    result = calibration(y, p, score=score)
    total, observed = 0.0, result.mcb[0]
    for bits in range(2**7):
        other = (bits >> np.arange(7)) & 1
        mcb = calibration(other, p, score=score, positive=1, method="plug-in").mcb[0]
        total += np.where(other == 1, p, 1 - p).prod() * (mcb >= observed - 1e-9)
    assert result.mcb_pvalue[0] == pytest.approx(total)
    p = rng.random(17)
    drawn = calibration(rng.random(17) < p, p, score=score, n_resamples=499, rng=1)
    assert 1 / 500 <= drawn.mcb_pvalue[0] <= 1.0
    assert np.isnan(calibration(rng.random(17) < p, p).mcb_pvalue[0])


def test_drawn_and_exact_pvalues_agree(monkeypatch):
    from fastcmp.estimates import calibration as module
    from fastcmp.estimates import calibration_parts as parts

    p, y = np.linspace(0.05, 0.9, 12), np.array([0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1])
    exact = calibration(y, p).mcb_pvalue[0]
    for held in (module, parts):
        monkeypatch.setattr(held, "EXACT", 0)
    drawn = calibration(y, p, n_resamples=20_000, rng=1).mcb_pvalue[0]
    assert drawn == pytest.approx(exact, abs=0.015)


def test_differences_of_miscalibration_need_a_miscalibrated_model(sample):
    y, models = sample
    result = calibration(y, models)
    assert (result.spiegelhalter_pvalue < 0.05).tolist() == [False, True, True]
    assert isinstance(result.estimates, Estimates)
    assert compare_means(result).pvalue.size == 3
    rng = np.random.default_rng(0)
    right = rng.random(200)
    outcome = rng.random(200) < right
    both = calibration(outcome, {"a": right, "b": np.where(right > 0.5, 0.75, 0.25)})
    refuses(ValueError, "rejects neither 'a' nor 'b'", compare_means, both)
    refuses(ValueError, "rejects neither 'a' nor 'b'", both.estimates_of, "mcb")
    assert isinstance(both.estimates_of("dsc"), Estimates)
    three = calibration(outcome, {"a": right, "b": np.sqrt(right), "c": right.round(1)})
    refuses(ValueError, "rejects neither 'a' nor 'c'", three.estimates_of, "mcb")
    some = three.estimates_of("mcb", models=["c", 1])
    assert some.names == ("c", "b")
    assert_allclose(some.values, three.mcb_balanced[[2, 1]])
    assert_allclose(some.variance, three.standard_error_of("mcb")[[2, 1]] ** 2)
    refuses(ValueError, "two models or more", three.estimates_of, "mcb", models=["a"])
    refuses(ValueError, "models", three.estimates_of, "mcb", models=["a", "z"])
    assert "no sound test" in str(both)


def test_estimates_know_items_and_clusters(sample):
    y, models = sample
    groups = np.arange(y.size) // 5
    of_parts = calibration(y, models, groups=groups).estimates_of("score")
    of_benefit = decision_curve(y, models, thresholds=0.3, groups=groups).estimates
    for estimates in (of_parts, of_benefit):
        record = compare_means(estimates)
        assert (record.n_samples, record.n_clusters) == (y.size, y.size // 5)


def test_which_slope_is_nearer_to_1(sample):
    y, models = sample
    result = calibration(y, {name: models[name] for name in "bc"})
    estimates, slopes = result.estimates_of("slope-distance"), result.estimates_of("slope")
    assert_allclose(estimates.values, np.abs(result.slope - 1))
    assert result.slope[0] < 1 < result.slope[1]
    wanted = slopes.covariance.sum()  # of the sum of both slopes
    assert mean_difference(estimates).standard_error ** 2 == pytest.approx(wanted)
    near = calibration(y, {name: models[name] for name in "ab"})
    refuses(ValueError, "within 2 standard errors of 1", near.estimates_of, "slope-distance")


def test_clusters_are_those_of_estimates(sample):
    y, models = sample
    groups = np.arange(y.size) // 3
    result = calibration(y, models, groups=groups, method="plug-in")
    values = [(p - y) ** 2 for p in models.values()]
    wanted = Estimates([x.mean() for x in values], influences=values, groups=groups)
    assert_allclose(result.covariances["score"], wanted.full_covariance, rtol=1e-9)
    assert result.n_clusters == 100
    assert "not clusters" in str(result)


def test_folds_do_not_depend_on_the_order_of_items(sample):
    y, models = sample
    order = np.random.default_rng(1).permutation(y.size)
    ours = calibration(y[order], {name: p[order] for name, p in models.items()})
    theirs = calibration(y, models)
    assert_allclose(ours.mcb_balanced, theirs.mcb_balanced, atol=1e-12)
    assert_allclose(ours.covariances["mcb"], theirs.covariances["mcb"], atol=1e-12)


def test_the_debiased_square_is_a_mean_over_pairs(sample):
    y, models = sample
    p = models["a"]
    result = calibration(y, p, bins=4, binning="mass")
    order = np.argsort(p, kind="stable")
    first = np.searchsorted(p[order], p)  # of equal ones
    codes, total = first * 4 // y.size, 0.0
    for bin_ in np.unique(codes):
        d = (y - p)[codes == bin_]
        total += d.size / y.size * (d.sum() ** 2 - (d**2).sum()) / (d.size * (d.size - 1))
    assert result.debiased_square[0] == pytest.approx(total)


def test_refusals(sample):
    y, models = sample
    sure = np.where(np.arange(300) == 7, 1.0 - y[7], 0.5)
    refuses(
        ValueError, "leave it out", calibration, y, sure, weights=y + 1, hosmer_lemeshow_groups=5
    )
    assert np.isfinite(calibration(y, sure, score="log_loss", eps=0.01).mcb[0])
    refuses(ValueError, "one form for all models", calibration, y, {"a": sure, "b": np.eye(2)[y]})
    refuses(ValueError, "at least 2 folds", calibration, y, sure, folds=np.zeros(300))
    refuses(TypeError, "folds must be", calibration, y, sure, folds=None)
    refuses(ValueError, "two models or more", calibration(y, sure).estimates_of, "dsc")
    refuses(ValueError, "measure must be one of", calibration(y, models).estimates_of, "ece")


def test_an_infinite_log_loss_is_said(sample):
    y, models = sample
    sure = np.where(np.arange(300) == 7, 1.0 - y[7], 0.5)
    result = calibration(y, {"sure": sure, **models}, score="log_loss", method="plug-in")
    plain = calibration(y, models, score="log_loss", method="plug-in")
    assert result.mean_score[0] == result.mcb[0] == np.inf
    assert np.isfinite(result.dsc).all()
    assert_allclose(result.mcb[1:], plain.mcb)
    assert_allclose(result.covariances["score"][1:, 1:], plain.covariances["score"])
    assert np.isnan(result.standard_error_of("mcb")[0])
    assert any("sure: the log loss is infinite" in x and "item 7" in x for x in result.cautions)
    refuses(ValueError, "'?sure'? has none", result.estimates_of, "score")
    # What cannot happen has happened: no chance is as improbable.
    exact = calibration([0, 1, 1, 0, 1], [0.2, 0.0, 0.7, 0.4, 0.9], score="log_loss")
    assert exact.mcb_pvalue[0] == 0.0
    drawn = calibration(y, sure, score="log_loss", n_resamples=19, rng=1)
    assert drawn.mcb_pvalue[0] == 1 / 20


def test_two_groups_leave_no_degrees_of_freedom(sample):
    y, models = sample
    result = calibration(y, models["a"], hosmer_lemeshow_groups=2, fitted=True)
    assert result.hosmer_lemeshow_df[0] == 0
    assert np.isnan(result.hosmer_lemeshow_pvalue[0])


POINTS = ("mean_score", "mcb", "dsc", "unc", "overconfidence", "citl", "slope", "ece", "mce")
POINTS += ("reliability", "resolution", "within_variance", "within_covariance")


def test_whole_weights_are_items_that_come_again(sample):
    y, models = sample
    times = np.random.default_rng(1).integers(0, 4, y.size)
    ours = calibration(y, models, weights=times, method="plug-in")
    again = {name: np.repeat(p, times) for name, p in models.items()}
    theirs = calibration(np.repeat(y, times), again, method="plug-in")
    for name in POINTS:
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, err_msg=name)
    assert ours.n_items == np.count_nonzero(times)
    assert np.isnan(ours.likelihood_ratio).all()
    assert np.isnan(ours.slope_model_se).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_weighted_errors_are_those_of_numerical_influences(sample, grouped):
    """Derivatives of each measure by the weight of each item, refitted."""
    y, models = sample
    y, models = y[:60], {name: p[:60] for name, p in models.items()}
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 60)
    options = {"groups": np.arange(60) // 2} if grouped else {}
    result = calibration(y, models, weights=weights, method="plug-in", **options)
    measures = ("score", "mcb", "dsc", "overconfidence", "citl", "slope")
    step, slopes = 1e-5, []
    for i in range(60):
        up, down = (
            calibration(
                y, models, method="plug-in", weights=weights * (1 + x * (np.arange(60) == i))
            )
            for x in (step, -step)
        )
        slopes.append([(up._of(x)[0] - down._of(x)[0]) / (2 * step) for x in measures])
    rows = np.array(slopes)
    rows = rows.reshape(30, 2, 6, 3).sum(axis=1) if grouped else rows
    wanted = np.sqrt((rows**2).sum(axis=0) * len(rows) / (len(rows) - 1))
    for name, error in zip(measures, wanted, strict=True):
        assert_allclose(result.standard_error_of(name), error, rtol=2e-4, err_msg=name)


def test_the_weighted_debiased_square_is_a_mean_over_pairs(sample):
    y, models = sample
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 300)
    result = calibration(y, models["a"], weights=weights, bins=4)
    codes, total = np.ceil(models["a"] * 4 - 1e-12).astype(int) - 1, 0.0
    for bin_ in np.unique(codes):
        w, d = weights[codes == bin_], (y - models["a"])[codes == bin_]
        products = np.outer(w, w) * (1 - np.eye(w.size))
        total += w.sum() / weights.sum() * (products @ d @ d) / products.sum()
    assert result.debiased_square[0] == pytest.approx(total)


# Reliability diagrams.


@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_resampled_bands_cover_what_they_should(band):
    rng = np.random.default_rng(5)
    p = rng.random(400).round(2)
    y = rng.random(400) < p
    diagram = reliability_diagram(y, p, band=band, rng=1, n_resamples=199)
    assert diagram.methods == ("resampling",)
    about = diagram.recalibrated if band == "consistency" else diagram.probability
    inside = (diagram.band_low <= about + 1e-9) & (about <= diagram.band_high + 1e-9)
    assert inside.mean() > 0.75
    assert (np.diff(diagram.recalibrated) >= -1e-12).all()
    forced = reliability_diagram(y, p, band=band, method="binomial", rng=1)
    assert forced.methods == ("binomial",)


def test_pictures(sample):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    y, models = sample
    result = calibration(y, models)
    ax = result.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*"abc"]
    diagram = reliability_diagram(y, {"a": models["a"].round(1)}, rng=1)
    ax = diagram.plot()
    assert_allclose(ax.lines[1].get_ydata(), diagram.recalibrated)
    assert_allclose(ax.lines[2].get_ydata(), diagram.observed)
    plt.close("all")


def test_diagrams_of_many_probabilities_are_thinned():
    p = np.linspace(0.0, 1.0, 3000)
    diagram = reliability_diagram(p > 0.4, {"a": p, "b": p**2}, rng=1, n_resamples=9)
    assert len(diagram.model) == 1024
    assert diagram.probability[[0, 511]].tolist() == [0.0, 1.0]
    again = reliability_diagram(p > 0.4, {"a": p, "b": p**2}, rng=1, n_resamples=9, workers=1)
    assert diagram == again
