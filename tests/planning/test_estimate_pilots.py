"""Plans from records that hold a difference and its standard error."""

import numpy as np
import pytest
from libraries import stats

import fastcmp
from fastcmp.planning import power, sample_size

COST = [[0, 1], [4, 0]]


def data():
    """Labels, scores of two models, and what they predict."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 240)
    scores = {"a": y + rng.normal(size=240), "b": 0.7 * y + rng.normal(size=240)}
    return y, scores, *(np.array(each > 0.5, int) for each in scores.values())


def records():
    """Records of each kind, and the keywords that say the same."""
    Y, SCORES, A, B = data()
    mean = fastcmp.mean_difference(*SCORES.values())
    cost = fastcmp.cost_test(Y, A, B, COST)
    gaps = np.array(COST)[Y, A] - np.array(COST)[Y, B]
    metric = fastcmp.compare_metric(Y, A, B, metric="f1", rng=1)
    areas = fastcmp.delong(Y, SCORES)
    auc = areas.compare(0, 1)
    return {
        "mean": (mean, "mean", mean.standard_error, {"n_pilot": 240}),
        "cost": (cost, "cost", gaps.std() / 240**0.5, {"n_pilot": 240}),
        "metric": (metric, "metric", metric.standard_error, {"n_pilot": 240}),
        "auc": (
            auc,
            "auc-paired",
            auc.standard_error,
            {"pilot_positives": Y.sum(), "pilot_negatives": 240 - Y.sum()},
        ),
    }


@pytest.mark.parametrize("name", ["mean", "cost", "metric", "auc"])
def test_a_record_plans_what_its_numbers_do(name):
    record, test, error, size = records()[name]
    given = {"difference": record.difference, "standard_error": error, **size}
    plan = record.power(n=500)
    same = power(test=test, n=500, **given)
    assert plan.power == pytest.approx(same.power)
    assert plan.assurance == pytest.approx(same.assurance)
    assert plan.interval == pytest.approx(same.interval)
    need = record.sample_size(power=0.9)
    assert need.n == sample_size(test=test, power=0.9, **given).n
    assert need.interval[0] <= need.n <= need.interval[1]
    text = str(need)
    assert "on average" in text
    assert "The pilot leaves open" in text


def test_the_same_size_again_has_the_power_of_its_statistic():
    """With as many samples, power is P(Z > 1.96 - z), the mean over the pilot's doubt
    that with a variance twice as large."""  # fmt: skip
    Y, SCORES, *_ = data()
    record = fastcmp.delong(Y, SCORES)
    z = record.compare(0, 1).statistic
    plan = record.power(n=int(Y.sum()))
    limit = stats.norm.isf(0.025)
    assert plan.power == pytest.approx(stats.norm.sf(limit - abs(z)))
    tails = stats.norm.sf(np.array([limit - z, limit + z]) / 2**0.5)
    assert plan.assurance == pytest.approx(tails.sum())


def test_assurance_is_the_mean_over_differences():
    options = {"test": "metric", "n": 300, "n_pilot": 100, "standard_error": 0.05}
    plan = power(**options, difference=0.08)
    drawn = np.random.default_rng(2).normal(0.08, 0.05, 200_000)
    some = power(**options, difference=drawn, tails="both")
    assert plan.assurance == pytest.approx(some.power.mean(), abs=0.003)
    for margin in ({"hypothesis": "noninferiority"}, {"hypothesis": "equivalence"}):
        margin |= {"margin": 0.15}
        plan = power(**options, difference=0.03, **margin)
        some = power(**options, difference=drawn - 0.05, **margin)
        assert plan.assurance == pytest.approx(some.power.mean(), abs=0.003)


def test_the_interval_holds_all_differences_of_the_pilots():
    options = {"test": "metric", "n": 300, "n_pilot": 100, "standard_error": 0.05}
    options["tails"] = "both"
    plan = power(**options, difference=0.08)
    ends = 0.08 + stats.norm.isf(0.025) * np.array([-0.05, 0.05])
    among = power(**options, difference=np.linspace(*ends, 1001)).power
    assert plan.interval == pytest.approx((among.min(), among.max()), abs=1e-3)
    assert plan.interval[0] == pytest.approx(0.05)  # a difference of 0 is among them


def test_methods_and_sides_are_those_of_the_record():
    _, SCORES, *_ = data()
    mean = fastcmp.mean_difference(*SCORES.values(), alternative="greater")
    plan = mean.power(n=100)
    assert (plan.alternative, plan.method) == ("greater", "t")
    assert mean.power(n=100, alternative="less").power < 0.1
    assert mean.power(n=100, margin=0.1).hypothesis == "noninferiority"
    loss = fastcmp.mean_difference(*(-each for each in SCORES.values()), lower_is_better=True)
    gain = fastcmp.mean_difference(*SCORES.values())
    assert loss.power(n=100, margin=0.1).power == pytest.approx(gain.power(n=100, margin=0.1).power)


def test_clusters_of_a_pilot_count():
    _, SCORES, *_ = data()
    record = fastcmp.mean_difference(*SCORES.values(), groups=np.repeat(np.arange(24), 10))
    assert dict(record.sample_size(power=0.9).inputs)["cluster_size"] == 10


def test_costs_of_many_tables_are_planned_at_once():
    counts = np.random.default_rng(3).integers(1, 30, (3, 2, 2, 2))
    record = fastcmp.cost_test(counts=counts, cost=COST)
    plan = record.power(n=[[100], [1000]])
    assert plan.power.shape == (2, 3)
    one = fastcmp.cost_test(counts=counts[1], cost=COST)
    assert plan.power[1, 1] == pytest.approx(one.power(n=1000).power)


def test_pilots_without_an_answer_are_refused():
    Y, SCORES, *_ = data()
    rng = np.random.default_rng(3)
    same = fastcmp.mean_difference([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="the pilot must have a standard error > 0"):
        same.power(n=100)
    three = fastcmp.delong(Y, {**SCORES, "c": SCORES["a"] + 0.5 * rng.normal(size=240)})
    with pytest.raises(ValueError, match="this pilot has 3 models"):
        three.power(n=100)
    assert three.compare("a", "c").power(n=100).power < 1
    apart = fastcmp.delong_unpaired(Y, SCORES["a"], Y, SCORES["b"])
    with pytest.raises(ValueError, match="on the same samples by delong"):
        apart.sample_size()
