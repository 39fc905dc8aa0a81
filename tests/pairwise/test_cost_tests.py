"""All pairs by expected cost: the same answers as pair by pair, ranked by cost."""

from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import pd, pl, stats
from same_bits import assert_same

from fastcmp import adjust, compare_all, cost_test

ADJUSTMENTS = ("holm", "none", "hommel", "bh")
METHODS = ("likelihood", "chi-square")
COST = [[0, 1], [5, 0]]
COST_3 = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
COST_4 = np.array([[0, 0.3, 2, 7.5], [0.1, 0, 0.2, 1], [40, 3, 0, 0], [1.5, 1, 0.3, 0]])


def simulate(n_models, n, n_classes=3, seed=0):
    """Make labels of models that differ in skill and in the mistakes they make."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(n_classes, size=n)
    skill = np.linspace(0.2, 0.9, n_models)[:, None]
    right = rng.random(n) + 0.5 * rng.random((n_models, n)) < 1.2 * skill
    shift = rng.integers(1, n_classes, (n_models, n))
    shift[::2] = np.minimum(shift[::2], 1 + rng.integers(2))
    return y_true, np.where(right, y_true, (y_true + shift) % n_classes)


def compare_costs(y_true, preds, cost, **options):
    return compare_all(y_true, preds, test="cost", cost=cost, **options)


def assert_close(result, expect):
    for name in ("pairs", "only_a", "only_b", "correct"):
        assert getattr(result, name).tolist() == getattr(expect, name).tolist(), name
    for name in ("statistic", "pvalue", "pvalue_adjusted", "difference", "score"):
        ours, theirs = getattr(result, name), getattr(expect, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13, err_msg=name)
    for name in ("interval", "score_interval"):
        ours, theirs = getattr(result, name), getattr(expect, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9, err_msg=name)


def check_pairs(result, y_true, preds, cost, alpha=0.05, method="likelihood"):
    """Every pair against the test of that pair, every model against its costs."""
    cost = np.asarray(cost, float)
    options = {"method": method, "classes": list(range(len(cost)))}
    paid = cost[y_true, preds]
    for p, (i, j) in enumerate(result.pairs.tolist()):
        one = cost_test(y_true, preds[i], preds[j], cost, **options)
        assert result.statistic[p] == pytest.approx(one.statistic, rel=1e-9, abs=1e-12)
        assert result.pvalue[p] == pytest.approx(one.pvalue, rel=1e-9)
        assert result.difference[p] == pytest.approx(one.difference, abs=1e-12)
        assert result.score[i] == pytest.approx(one.loss_a, abs=1e-12)
        assert result.score[j] == pytest.approx(one.loss_b, abs=1e-12)
        interval = one.confidence_interval(1 - alpha, "profile")
        scale = cost.max()
        assert tuple(result.interval[p]) == pytest.approx(interval, abs=1e-8 * scale)
        assert result.only_a[p] == np.count_nonzero(paid[i] < paid[j])
        assert result.only_b[p] == np.count_nonzero(paid[i] > paid[j])
    np.testing.assert_allclose(result.score, paid.mean(axis=1), rtol=1e-12)
    assert result.correct.tolist() == (preds == y_true).sum(axis=1).tolist()


# The same as pair by pair.


@given(
    *(st.integers(2, 7), st.integers(2, 200), st.sampled_from([COST, COST_3, COST_4])),
    *(st.sampled_from(METHODS), st.sampled_from(ADJUSTMENTS)),
    *(st.sampled_from([0.01, 0.05, 0.3]), st.integers(0, 10**6)),
)
def test_equals_a_loop_over_pairs(n_models, n, cost, method, adjustment, alpha, seed):
    k = len(cost)
    y_true, preds = simulate(n_models, n, k, seed)
    options = {"adjust": adjustment, "alpha": alpha, "classes": list(range(k))}
    result = compare_costs(y_true, preds, cost, method=method, **options)
    assert [tuple(p) for p in result.pairs.tolist()] == [*combinations(range(n_models), 2)]
    check_pairs(result, y_true, preds, cost, alpha, method)
    expect = adjust(result.pvalue, method=adjustment)
    np.testing.assert_array_equal(result.pvalue_adjusted, expect)
    assert result.significant.tolist() == (expect <= alpha).tolist()
    assert (result.test, result.method, result.measure) == ("cost", method, "cost")
    assert (result.n_samples, result.adjust) == (n, adjustment)


@given(st.integers(2, 6), st.integers(2, 150), st.integers(0, 10**6))
def test_unit_costs_count_as_mcnemars_test(n_models, n, seed):
    y_true, preds = simulate(n_models, n, seed=seed)
    unit = np.ones((3, 3)) - np.eye(3)
    result = compare_costs(y_true, preds, unit, classes=[0, 1, 2])
    expect = compare_all(y_true, preds)
    assert result.only_a.tolist() == expect.only_a.tolist()
    assert result.only_b.tolist() == expect.only_b.tolist()
    assert result.correct.tolist() == expect.correct.tolist()
    np.testing.assert_allclose(result.score, 1 - expect.accuracy, atol=1e-12)
    np.testing.assert_allclose(result.difference, -expect.difference, atol=1e-12)


@pytest.mark.parametrize("n_levels", [256, 257])
def test_the_most_levels_that_fit_a_byte(n_levels):
    k = 17
    cost = np.zeros((k, k))
    off = ~np.eye(k, dtype=bool)
    cost[off] = np.minimum(np.arange(k * (k - 1)) + 1, n_levels - 1)
    assert np.unique(cost).size == n_levels
    rng = np.random.default_rng(1)
    y_true, *preds = rng.integers(k, size=(3, 1500))
    preds = np.array(preds)
    check_pairs(compare_costs(y_true, preds, cost), y_true, preds, cost)


def test_costs_that_differ_by_rounding_rank_alike():
    # Mistakes of 0.3, 0.1 + 0.2 and 3 x 0.1 in all.
    cost = np.array([[0.0, 0.1, 0.2, 0.3]] + 3 * [[0.0] * 4])
    y_true = np.zeros(10, int)
    preds = np.zeros((3, 10), int)
    preds[0, 0] = 3
    preds[1, :2] = 1, 2
    preds[2, :3] = 1
    result = compare_costs(y_true, preds, cost, classes=range(4))
    assert result.leaderboard.rank.tolist() == [1, 1, 1]
    assert result.matrix("difference").tolist() == np.zeros((3, 3)).tolist()


# Chosen pairs.


# Laws.


def test_the_order_of_classes_does_not_matter():
    y_true, preds = simulate(5, 300, 4)
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order)
    expect = compare_costs(y_true, preds, COST_4)
    moved = COST_4[np.ix_(order, order)]
    assert_same(compare_costs(place[y_true], place[preds], moved), expect)
    assert_same(compare_costs(y_true, preds, moved, classes=order), expect)


# Labels and costs of all kinds.


NAMES = np.array(["cat", "dog", "owl"])


def named_costs(kind):
    """The same costs, as matrix, mapping or frame."""
    frame = pd.DataFrame(COST_3, index=NAMES, columns=NAMES)
    mapping = {t: dict(zip(NAMES, row, strict=True)) for t, row in zip(NAMES, COST_3, strict=True)}
    columns = {"true": NAMES, **dict(zip(NAMES, COST_3.T, strict=True))}
    return {
        "plain": lambda: {"cost": COST_3},
        "backwards": lambda: {"cost": COST_3[::-1, ::-1], "classes": ["owl", "dog", "cat"]},
        "mapping": lambda: {"cost": dict(reversed(mapping.items()))},
        "mapping with classes": lambda: {"cost": mapping, "classes": ["owl", "cat", "dog"]},
        "pandas": lambda: {"cost": frame.iloc[::-1]},
        "polars": lambda: {"cost": pl.DataFrame(columns)},
        "two classes": lambda: {"cost": mapping, "classes": ["owl", "cat"]},
    }[kind]()


@pytest.mark.parametrize(
    "kind", ["plain", "backwards", "mapping", "mapping with classes", "pandas", "polars"]
)
def test_named_costs_and_text_labels(kind):
    y_true, preds = simulate(5, 300)
    expect = compare_costs(y_true, preds, COST_3)
    assert_close(compare_costs(NAMES[y_true], NAMES[preds], **named_costs(kind)), expect)


def test_classes_select():
    y_true, preds = simulate(4, 300)
    kept = (y_true == 1) | (preds != 1).all(axis=0)  # one of another class may be called anything
    y_true, preds = y_true[kept], preds[:, kept]
    result = compare_costs(NAMES[y_true], NAMES[preds], **named_costs("two classes"))
    inside = y_true != 1
    expect = compare_costs(
        y_true[inside] // 2, preds[:, inside] // 2, [[0, 2], [5, 0]], classes=[0, 1]
    )
    assert result.n_excluded == int((~inside).sum()) > 0
    assert result.n_samples == int(inside.sum())
    assert_close(result, expect)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"test": "cost", "cost": None}, "test='cost' needs cost=, the matrix of costs"),
        ({"test": "mcnemar"}, "cost is for test='cost'"),
        ({"missing": "wrong"}, "test='cost' permits only missing='raise', got"),
        ({"cost": COST}, "cost is 2 x 2, but the labels are of 3 classes"),
        ({"classes": [0, 1]}, "cost is 3 x 3, but classes name"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(options, wanted):
    with pytest.raises(ValueError, match=f"^{wanted}"):
        compare_all(*simulate(3, 60), **{"test": "cost", "cost": COST_3} | options)


def test_labels_without_a_cost():
    y_true, cost = ["a", "b", "c", "b", "c"], {"a": {"b": 1}, "b": {"a": 5}}
    wanted = r"^bad predicts 'c', which is not among the classes \(2 such predictions\)"
    with pytest.raises(ValueError, match=wanted + r" \(cost names the classes \['a', 'b'\]\)$"):
        compare_costs(list("abab"), {"good": list("abab"), "bad": list("abcc")}, cost)
    preds = {"m": list("abbba"), "k": list("bbaab")}
    wanted = r"^cost names the classes \['a', 'b'\], but 2 samples have another true la"
    with pytest.raises(ValueError, match=wanted):
        compare_costs(y_true, preds, cost)
    result = compare_costs(y_true, preds, cost, classes=["b", "a"])
    assert (result.n_samples, result.n_excluded) == (3, 2)
    assert result.score.tolist() == pytest.approx([0, 6 / 3])


# The ranking and the intervals.


def test_the_leaderboard_is_ordered_by_cost():
    result = compare_costs(*simulate(8, 500), COST_3)
    board = result.leaderboard
    assert board.measure == "cost"
    assert board.models.tolist() == np.argsort(result.score, kind="stable").tolist()
    assert board.score.tolist() == result.score[board.models].tolist()
    assert board.interval.tolist() == result.score_interval[board.models].tolist()
    better, worse = result.decided
    assert better.size > 0
    assert (result.matrix("difference")[better, worse] < 0).all()


@pytest.mark.parametrize("cost", [COST, COST_4], ids=["2", "4"])
def test_intervals_of_scores_against_their_definition(cost):
    k = len(cost)
    y_true, preds = simulate(3, 90, k)
    result = compare_costs(y_true, preds, cost, alpha=0.1)
    cost = np.asarray(cost, float)
    half = 0.5 * cost.max()
    quantile = stats.chi2.isf(0.1, 1)
    for pred, ends in zip(preds, result.score_interval.tolist(), strict=True):
        values, counts = np.unique(cost[y_true, pred] - half, return_counts=True)
        for end in ends:
            statistic, *_ = naive.cost_profile(values, counts, 90, half, end - half)
            assert float(statistic) == pytest.approx(quantile, rel=1e-5)


def test_levels_of_any_size():
    for test in ({"test": "cost", "cost": COST_3}, {}):
        result = compare_all(*simulate(3, 60), alpha=2e-16, **test)
        assert not np.isnan(np.concatenate([result.interval, result.score_interval])).any()


def test_it_says_cost():
    result = compare_costs(*simulate(4, 400), COST_3, method="chi-square")
    text, board = str(result), result.leaderboard
    assert "cost-sensitive test (chi-square)" in text
    assert f" 1 {board.names[0]} {board.score[0]:.4g} " in " ".join(text.split())
    assert "accuracy" not in text + result._repr_html_()
    assert result.to_dict()["leaderboard"]["cost"] == board.score.tolist()
