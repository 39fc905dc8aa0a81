"""Power of tests on the folds of a cross-validation, by simulation."""

import numpy as np
import pytest

from fastcmp import designs
from fastcmp.kernels import Status
from fastcmp.planning import detectable_difference, power, sample_size

CHANCES = {"p10": 0.12, "p01": 0.05}
FEW = {"test": "cv", "n_resamples": 300, "rng": 1}
TESTS = (
    *("resampled-t", "kfold-t", "dietterich-t", "nadeau-bengio-t", "bouckaert-frank-t"),
    *("bouckaert-t", "yildiz-t", "blocked-t", "alpaydin-f", "calibrated-f", "proportion-z"),
    *("conservative-z", "bayle-z", "holdout-mcnemar", "naive-mcnemar", "bcv-mcnemar"),
)


def test_one_split_has_the_power_of_its_test():
    """A hold-out of 100 samples is McNemar's test of 100, worked out by enumeration."""
    design = designs.repeated_holdout(1, test_size=100, rng=1)
    options = {"design": design, "training_sd": 0.0, "n_resamples": 8000, "rng": 2, **CHANCES}
    plan = power(test="cv", method="holdout-mcnemar", n=300, **options)
    wanted = power(n=100, method="corrected", **CHANCES).power
    assert plan.power == pytest.approx(wanted, abs=4 * plan.power_standard_error)
    assert plan.power_standard_error == pytest.approx(0.005, abs=0.001)


@pytest.mark.parametrize("method", TESTS)
def test_each_test_finds_what_is_there(method):
    options = FEW | {"accuracy_a": 0.9, "accuracy_b": 0.6, "agreement": 0.6}
    if method == "conservative-z":
        options["design"] = designs.paired_halves(4, 5, rng=1)
    plan = power(method=method, n=160, **options)
    even = options | {"accuracy_a": 0.75, "accuracy_b": 0.75}
    assert plan.power > 0.2 + power(method=method, n=160, **even).power
    assert plan.difference == pytest.approx(0.3)
    assert plan.seed == 1
    assert "simulated" in str(plan)


def test_a_test_that_rejects_too_often_is_said_to():
    options = {"n": 200, **CHANCES, **FEW}
    said = power(method="resampled-t", **options)
    assert any("more than alpha" in each for each in said.cautions)
    assert power(method="alpaydin-f", **options).cautions == ()


def test_the_seed_repeats_a_plan():
    options = {"test": "cv", "n": 100, "n_resamples": 50, **CHANCES}
    first = power(**options, rng=np.random.default_rng(3))
    assert power(**options, rng=first.seed) == first
    known = dict(first.inputs)
    again = power(test="cv", n=100, **known)
    assert again.power == first.power
    assert isinstance(power(**options).seed, int)


def test_sample_size_reaches_the_power():
    options = {"method": "dietterich-t", "p10": 0.3, "p01": 0.1, **FEW}
    plan = sample_size(power=0.7, **options)
    assert plan.power >= 0.7
    assert plan.power == power(n=plan.n, **options).power
    assert power(n=int(0.8 * plan.n), **options).power < 0.7


def test_a_power_that_is_out_of_reach_is_said():
    options = FEW | {"n_resamples": 20, "training_sd": 0.0}
    plan = sample_size(p10=0.1, p01=0.1, method="holdout-mcnemar", **options)
    assert plan.n == np.inf
    assert plan.status == Status.UNDEFINED
    assert "do not reach the power wanted" in plan.cautions[-1]


@pytest.mark.parametrize(("alternative", "sign"), [("two-sided", 1), ("less", -1)])
def test_detectable_differences_have_the_power(alternative, sign):
    options = {"method": "bcv-mcnemar", "n": 200, "alternative": alternative, **FEW}
    plan = detectable_difference(discordant=0.2, power=0.8, **options)
    assert 0 < sign * plan.difference < 0.2
    cells = {"difference": plan.difference, "discordant": 0.2}
    assert power(**cells, **options).power >= 0.8
    cells["difference"] *= 0.9
    assert power(**cells, **options).power < 0.8
    none = detectable_difference(discordant=0.01, power=0.8, **options)
    assert np.isnan(none.difference)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "alpaydin-f", "alternative": "less"}, "two-sided only"),
        ({"n": 4}, "n does not suit the design"),
        ({"repeat_correlation": 1.5}, "repeat_correlation must lie in"),
        ({"method": "proportion-z"}, "accuracy_a must be given"),
        ({"margin": 0.1}, "hypothesis must be one of"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        power(**{"n": 100, **CHANCES, **FEW, **wrong})


def test_designs_that_do_not_suit_are_refused():
    stratified = designs.two_fold(5, blocked=True, stratify=True, rng=1)
    for design, message in (
        (designs.kfold(5, rng=1), "needs two_fold"),
        (stratified, "design must be made by fastcmp.designs, not stratified"),
    ):
        with pytest.raises(ValueError, match=message):
            power(n=100, design=design, **CHANCES, **FEW)
