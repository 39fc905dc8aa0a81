"""Concordant pairs and areas under the curve, whole and in part."""

import warnings
from fractions import Fraction
from math import isnan, nan

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_cases import cases, expected, parametrize

from fastcmp import auc, auc_bootstrap, auc_permutation_test, concordance, delong

TIES = ("half", "concordant", "discordant")
SHARE = {"half": Fraction(1, 2), "concordant": Fraction(1), "discordant": Fraction(0)}


@st.composite
def problems(draw, largest=30):
    """Draw labels of both classes and scores with ties or without."""
    n = draw(st.integers(2, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y_true = rng.integers(0, 2, n)
    y_true[rng.permutation(n)[:2]] = 0, 1
    digits = draw(st.sampled_from([0, 1, 12]))
    return y_true, rng.normal(size=n).round(digits)


def large_problem(n=30_000, n_models=9):
    rng = np.random.default_rng(1)
    y_true = rng.integers(0, 2, n)
    scores = rng.normal(size=(n_models, n)) + np.linspace(0, 1, n_models)[:, None] * (y_true)
    scores[1::3] = scores[1::3].round(1)
    return y_true, scores


# Against references.


@parametrize("auc")
def test_reference_auc(case):
    y_true, scores = case["input"]["y"], case["input"]["scores"]
    found = auc(y_true, scores, positive=case["input"]["positive"])
    assert found.tolist() == expected(case, "auc")
    pairs = [concordance(y_true, row) for row in scores]
    for name in ("concordant", "tied", "discordant"):
        assert [getattr(p, name) for p in pairs] == case["expected"][name]
    assert [p.auc for p in pairs] == found.tolist()


def region_of(case):
    options = case["options"]
    if "sensitivity_range" in options:
        return {"tpr_range": options["sensitivity_range"]}
    if "max_fpr" in options:
        return {"fpr_range": (0, options["max_fpr"])}
    return {"fpr_range": options["fpr_range"]}


# An option is a list here, which `parametrize` cannot look up.
@pytest.mark.parametrize("case", cases("partial_auc"), ids=lambda case: case["id"])
def test_reference_partial_auc(case):
    y_true, scores = case["input"]["y"], case["input"]["scores"]
    found = auc(y_true, scores, **region_of(case))
    assert found.tolist() == expected(case, "raw")
    found = auc(y_true, scores, standardize=True, **region_of(case))
    assert found.tolist() == expected(case, "mcclish")


# Against definitions.


@given(problems(), st.sampled_from(TIES))
def test_auc_equals_brute_force(drawn, ties):
    y_true, scores = drawn
    wanted = naive.weighted_auc(y_true, scores, [1] * len(scores), SHARE[ties])
    assert auc(y_true, scores, ties=ties) == float(wanted)
    assert concordance(y_true, scores).area(ties) == float(wanted)


@given(problems(20), st.sampled_from(TIES), st.integers(0, 2**32 - 1))
def test_weighted_auc_equals_brute_force(drawn, ties, seed):
    y_true, scores = drawn
    rng = np.random.default_rng(seed)
    weights = rng.random(len(scores))
    wanted = naive.weighted_auc(y_true, scores, weights, SHARE[ties])
    found = auc(y_true, scores, ties=ties, sample_weight=weights)
    assert found == pytest.approx(float(wanted), rel=1e-12, abs=1e-15)
    turned = auc(y_true, scores, positive=0, ties=ties, sample_weight=weights)
    other = naive.weighted_auc(1 - y_true, scores, weights, SHARE[ties])
    assert turned == pytest.approx(float(other), rel=1e-12, abs=1e-15)
    times = rng.integers(0, 4, len(scores))
    assume(np.unique(y_true[times > 0]).size == 2)
    found = auc(y_true, scores, ties=ties, sample_weight=times)
    wanted = auc(np.repeat(y_true, times), np.repeat(scores, times), ties=ties)
    assert found == pytest.approx(wanted, rel=1e-13, abs=1e-15)


# Laws.


@pytest.mark.parametrize("n", [1, 7, 49, 1000])
def test_never_above_1(n):
    y_true, scores = np.repeat([0, 1], n), np.arange(2 * n)
    weights = np.random.default_rng(n).random(2 * n) + 0.1
    for options in (
        *({"ties": ties} for ties in TIES),
        *({"sample_weight": weights, "ties": ties} for ties in TIES),
        {"fpr_range": (0, 1)},
        {"fpr_range": (0.1, 0.3), "standardize": True},
        {"tpr_range": (0.1, 0.3), "standardize": True},
        {"tpr_range": (0.7, 1), "standardize": True, "sample_weight": weights},
    ):
        found = auc(y_true, scores, **options)
        assert found == pytest.approx(1, abs=1e-13)
        assert found <= 1
        assert auc(y_true, -scores, **options) <= 0.5
    assert auc(y_true, scores, fpr_range=(0.1, 0.4)) <= 0.4 - 0.1


# Parts of the curve.


def test_a_part_by_hand():
    y_true, scores = [0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9]
    # Up to 1/2, a line to (1/2, 1), and level from there.
    assert auc(y_true, scores, fpr_range=(0, 0.5)) == 0.375
    assert auc(y_true, scores, fpr_range=(0.5, 1)) == 0.5
    assert auc(y_true, scores, fpr_range=(0.25, 0.75)) == pytest.approx(0.46875)
    assert auc(y_true, scores, tpr_range=(0, 0.5)) == 0.5
    assert auc(y_true, scores, tpr_range=(0.5, 1)) == 0.375
    found = auc(y_true, scores, fpr_range=(0, 0.5), standardize=True)
    assert found == pytest.approx((1 + (0.375 - 0.125) / (0.5 - 0.125)) / 2)


# Several models.


@pytest.mark.parametrize(
    "options",
    [{}, {"ties": "concordant"}, {"fpr_range": (0.1, 0.5)}, {"sample_weight": True}],
    ids=str,
)
def test_workers_agree(options):
    y_true, scores = large_problem()
    if options.get("sample_weight"):
        options = {"sample_weight": np.random.default_rng(0).random(y_true.size)}
    wanted = auc(y_true, scores, workers=1, **options)
    for workers in (2, 7, None):
        found = auc(y_true, scores, workers=workers, **options)
        np.testing.assert_array_equal(found, wanted)


# One class, and bad input.


def test_single_class():
    for y_true in ([0] * 3, [1] * 3):
        with pytest.raises(ValueError, match=r"both classes.*on_single_class='nan'"):
            auc(y_true, [1, 2, 3])
        found = auc(y_true, [1, 2, 3], on_single_class="nan")
        assert isinstance(found, float)
        assert isnan(found)
        found = auc(y_true, [[1, 2, 3], [3, 2, 1]], on_single_class="nan")
        assert found.shape == (2,)
        assert np.isnan(found).all()
        assert isnan(concordance(y_true, [1, 2, 3]).area("concordant"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"standardize": True}, "standardize=True is for a partial area"),
        ({"fpr_range": (0, 1), "tpr_range": (0, 1)}, "exclude each other"),
        ({"fpr_range": (0.5, 0.5)}, r"fpr_range must be two rates .* got \(0.5, 0.5"),
        ({"tpr_range": (0.1, nan)}, "tpr_range must be two rates"),
        ({"fpr_range": (0, 0.1), "ties": "concordant"}, "ties='half', got 'concordan"),
        ({"max_fpr": 0.5, "tpr_range": (0, 1)}, "max_fpr excludes fpr_ra"),
        ({"max_fpr": 0.5, "ties": "concordant"}, "joins its points by li"),
    ],
    ids=str,
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        auc([0, 1, 1], [1, 2, 3], **options)


# As scikit-learn has it.


@given(problems(), st.floats(0.01, 1), st.integers(0, 99), st.booleans())
def test_max_fpr_equals_that_of_scikit_learn(drawn, high, seed, weighted):
    from sklearn.metrics import roc_auc_score

    y_true, scores = drawn
    weights = np.random.default_rng(seed).random(len(scores)) if weighted else None
    options = {"max_fpr": high, "sample_weight": weights}
    peer = roc_auc_score(y_true, scores, **options)
    assert auc(y_true, scores, **options) == pytest.approx(peer, rel=1e-9)
    part = {"fpr_range": (0, high), "standardize": True, "sample_weight": weights}
    assert auc(y_true, scores, **options) == auc(y_true, scores, **part)


# The wrong positive class.


def reversed_scores(n=200, models=2):
    rng = np.random.default_rng(1)
    y_true = np.arange(n) % 2
    scores = rng.normal(size=(models, n)) - 2 * y_true
    return y_true, {f"m{k}": row for k, row in enumerate(scores)}


@pytest.mark.parametrize("function", [auc, delong, lambda *a: auc_bootstrap(*a, n_resamples=20)])
def test_areas_below_one_half_are_warned_of(function):
    y_true, scores = reversed_scores()
    with pytest.warns(UserWarning, match=r"2 of 2 models .* negate the scores; .* positive=0$"):
        function(y_true, scores)
    with pytest.warns(UserWarning, match=r"^the area under .* pass positive=0$"):
        function(y_true, scores["m0"])
    mixed = scores | {"m1": -scores["m1"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(y_true, mixed)  # one of them ranks well: no warning
        function(1 - y_true, scores)


def test_where_the_warning_points_and_other_functions():
    y_true, scores = reversed_scores()
    with pytest.warns(UserWarning, match="positive=") as caught:
        auc(y_true, scores)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="positive='n'"):
        concordance(np.where(y_true, "y", "n"), scores["m0"], positive="y")
    with pytest.warns(UserWarning, match="positive=0"):
        auc_permutation_test(y_true, *scores.values(), n_resamples=20)
    nine = reversed_scores(models=10)[1] | {"m9": y_true}
    with pytest.warns(UserWarning, match="9 of 10 models"):
        result = delong(y_true, nine)
    assert "The areas of 9 of 10 models are clearly below one half" in str(result)
    assert "Nearly all areas are below one half" in str(result.pairwise())
    assert "below one half" not in str(delong(1 - y_true, scores))


@pytest.mark.filterwarnings("error")
def test_few_samples_or_parts_of_the_curve_are_not_warned_of():
    assert auc([0, 0, 1, 1], [3, 4, 1, 2]) == 0
    assert auc([0, 0, 0, 1, 1, 1], [4, 5, 6, 1, 2, 3]) == 0
    y_true, scores = reversed_scores()
    auc(y_true, scores, ties="discordant")
    auc(y_true, scores, max_fpr=0.1)
    assert auc(y_true, np.zeros(200)) == 0.5
