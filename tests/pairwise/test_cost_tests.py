"""All pairs by expected cost: the same answers as pair by pair, ranked by cost."""

import json
from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import pd, pl
from same_bits import assert_same
from scipy import stats

from fastcmp import adjust, compare_all, cost_test

ADJUSTMENTS = (
    "holm",
    "none",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "hochberg",
    "hommel",
    "bh",
    "by",
)
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
    st.integers(2, 7),
    st.integers(2, 200),
    st.sampled_from([COST, COST_3, COST_4]),
    st.sampled_from(METHODS),
    st.sampled_from(ADJUSTMENTS),
    st.sampled_from([0.01, 0.05, 0.3]),
    st.integers(0, 10**6),
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


def test_unit_costs_without_smoothing_by_hand():
    # 9 samples only a is right on, 2 only b: 2 (9 log(18/11) + 2 log(4/11)).
    y_true = np.zeros(30, int)
    preds = np.zeros((2, 30), int)
    preds[1, :9] = preds[0, 9:11] = 1
    result = compare_costs(y_true, preds, [[0, 1], [1, 0]])
    expect = 2 * (9 * np.log(18 / 11) + 2 * np.log(4 / 11))
    assert result.statistic[0] == pytest.approx(expect, rel=1e-12)
    assert result.pvalue[0] == pytest.approx(stats.chi2.sf(expect, 1), rel=1e-10)
    assert (result.only_a[0], result.only_b[0]) == (9, 2)
    assert result.score.tolist() == pytest.approx([2 / 30, 9 / 30])


def test_costs_scale():
    labels = simulate(5, 300)
    one, thousand = (compare_costs(*labels, COST_3 * c) for c in (1, 1000))
    np.testing.assert_allclose(one.pvalue, thousand.pvalue, rtol=1e-9)
    np.testing.assert_allclose(1000 * one.difference, thousand.difference, rtol=1e-12)
    np.testing.assert_allclose(1000 * one.interval, thousand.interval, atol=1e-5)
    np.testing.assert_allclose(1000 * one.score_interval, thousand.score_interval, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_matrices_of_many_levels(method):
    k = 20
    rng = np.random.default_rng(0)
    cost = rng.lognormal(0, 2, (k, k))
    np.fill_diagonal(cost, 0)
    assert np.unique(cost).size > 256
    y_true, preds = simulate(4, 400, k)
    result = compare_costs(y_true, preds, cost, method=method)
    check_pairs(result, y_true, preds, cost, method=method)


@pytest.mark.parametrize("n_levels", [255, 256, 257])
def test_the_most_levels_that_fit_a_byte(n_levels):
    k = 17
    cost = np.zeros((k, k))
    off = ~np.eye(k, dtype=bool)
    cost[off] = np.minimum(np.arange(k * (k - 1)) + 1, n_levels - 1)
    assert np.unique(cost).size == n_levels
    rng = np.random.default_rng(1)
    y_true, *preds = rng.integers(k, size=(4, 2000))
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


def test_pairs_by_name_and_by_index():
    y_true, preds = simulate(6, 300)
    named = dict(zip("abcdef", preds, strict=True))
    everything = compare_costs(y_true, named, COST_3)
    chosen = [("f", "a"), (1, 3), (np.int64(4), "c")]
    expect = [(5, 0), (1, 3), (4, 2)]
    result = compare_costs(y_true, named, COST_3, pairs=chosen)
    assert [tuple(p) for p in result.pairs.tolist()] == expect
    for field in ("only_a", "only_b", "difference", "pvalue", "statistic"):
        full = everything.matrix(field)
        ours = getattr(result, field)
        np.testing.assert_allclose(ours, [full[p] for p in expect], rtol=1e-9)
    check_pairs(result, y_true, preds, COST_3)
    np.testing.assert_array_equal(result.pvalue_adjusted, adjust(result.pvalue, method="holm"))
    assert result.score.tolist() == everything.score.tolist()


# Laws.


def test_the_order_of_classes_does_not_matter():
    y_true, preds = simulate(5, 300, 4)
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order)
    expect = compare_costs(y_true, preds, COST_4)
    moved = COST_4[np.ix_(order, order)]
    assert_same(compare_costs(place[y_true], place[preds], moved), expect)
    assert_same(compare_costs(y_true, preds, moved, classes=order), expect)


def test_identical_models_are_never_told_apart():
    y_true, preds = simulate(2, 400)
    result = compare_costs(y_true, np.repeat(preds, 2, axis=0), COST_3)
    inner = result.pairs[:, 0] // 2 == result.pairs[:, 1] // 2
    assert (result.pvalue[inner] == 1.0).all()
    assert (result.statistic[inner] == 0.0).all()
    assert (result.difference[inner] == 0.0).all()
    assert not result.significant[inner].any()
    assert result.significant[~inner].all()


def test_mistakes_of_equal_cost_are_no_difference():
    y_true = np.zeros(20, int)
    preds = np.array([[1] * 20, [2] * 20, [0] * 20])
    cost = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    result = compare_costs(y_true, preds, cost)
    assert result.pvalue[0] == 1.0
    assert (result.only_a[0], result.only_b[0]) == (0, 0)
    assert result.score.tolist() == [4.0, 4.0, 0.0]
    assert result.leaderboard.rank.tolist() == [1, 2, 2]


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
@pytest.mark.parametrize("method", METHODS)
def test_named_costs_and_text_labels(kind, method):
    y_true, preds = simulate(5, 300)
    expect = compare_costs(y_true, preds, COST_3, method=method)
    result = compare_costs(NAMES[y_true], NAMES[preds], **named_costs(kind), method=method)
    assert_close(result, expect)


def test_labels_of_any_type():
    y_true, preds = simulate(4, 200)
    expect = compare_costs(y_true, preds, COST_3)
    for dtype in ("u1", "f4", object):
        assert_same(compare_costs(y_true.astype(dtype), preds.astype(dtype), COST_3), expect)
    frame = pd.DataFrame(preds.T, columns=expect.names)
    assert_same(compare_costs(y_true.tolist(), frame, COST_3), expect)
    for labels in map(np.array, [(-7, 0, 10**9), (0.5, 1.5, 2.5)]):
        assert_same(compare_costs(labels[y_true], labels[preds], COST_3), expect)


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


def test_missing_true_labels_are_dropped_and_counted():
    y_true, preds = simulate(4, 300)
    holes = y_true.astype(float)
    holes[::7] = np.nan
    kept = ~np.isnan(holes)
    expect = compare_costs(y_true[kept], preds[:, kept], COST_3)
    result = compare_costs(holes, preds, COST_3)
    assert result.n_missing == int((~kept).sum())
    assert expect.n_missing == 0
    assert_close(result, expect)
    assert f"{result.n_missing} samples without a true label were dropped." in str(result)


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


def test_predictions_without_a_cost():
    y_true = ["a", "b", "a", "b"]
    cost = {"a": {"b": 1}, "b": {"a": 5}}
    preds = {"good": y_true, "bad": ["a", "b", "c", "c"]}
    wanted = r"^bad predicts 'c', which is not among the classes \(2 such predictions\)"
    names = r" \(cost names the classes \['a', 'b'\]\)$"
    with pytest.raises(ValueError, match=wanted + names):
        compare_costs(y_true, preds, cost)
    with pytest.raises(ValueError, match=wanted):
        compare_costs(y_true, preds, COST, classes=["a", "b"])


def test_true_labels_without_a_cost():
    y_true = ["a", "b", "c", "b", "c"]
    cost = {"a": {"b": 1}, "b": {"a": 5}}
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
    assert (np.diff(board.score) >= 0).all()
    assert board.score.tolist() == result.score[board.models].tolist()
    assert board.interval.tolist() == result.score_interval[board.models].tolist()
    assert board.rank[0] == 1
    assert board.names == tuple(result.names[i] for i in board.models)


def test_winners_have_a_negative_difference():
    result = compare_costs(*simulate(8, 500), COST_3)
    better, worse = result.decided
    difference = result.matrix("difference")
    assert better.size > 0
    assert (difference[better, worse] < 0).all()
    assert (result.score[better] < result.score[worse]).all()
    sign = np.sign(result.difference[result.significant])
    low, high = result.interval[result.significant].T
    raw = result.pvalue[result.significant] < 0.049
    assert (np.where(sign < 0, high, -low)[raw] < 0).all()


def test_costs_and_accuracies_may_rank_otherwise():
    y_true = np.array([0] * 50 + [1] * 50)
    wary, bold = y_true.copy(), y_true.copy()
    wary[:20] = 1  # 20 cheap mistakes
    bold[90:] = 0  # 10 dear ones
    preds = {"wary": wary, "bold": bold}
    assert compare_all(y_true, preds).leaderboard.names == ("bold", "wary")
    result = compare_costs(y_true, preds, COST)
    assert result.leaderboard.names == ("wary", "bold")
    assert result.score.tolist() == [0.2, 0.5]
    assert result.accuracy.tolist() == [0.8, 0.9]
    assert (result.only_a[0], result.only_b[0]) == (10, 20)


@pytest.mark.parametrize("cost", [COST, COST_3, COST_4], ids=["2", "3", "4"])
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


def test_models_at_the_ends():
    y_true = np.array([0] * 10 + [1] * 10)
    preds = {"right": y_true, "wrong": 1 - y_true}
    result = compare_costs(y_true, preds, [[0, 2], [2, 0]])
    assert result.score.tolist() == [0.0, 2.0]
    low, high = result.score_interval.T
    assert low[0] == pytest.approx(0, abs=1e-12)
    assert high[1] == pytest.approx(2, abs=1e-12)
    assert 0 < high[0] < 2
    assert low[1] == pytest.approx(2 - high[0])
    assert result.significant.all()


@pytest.mark.parametrize("test", [{"test": "cost", "cost": COST_3}, {}], ids=str)
def test_levels_of_any_size(test):
    result = compare_all(*simulate(3, 60), alpha=2e-16, **test)
    assert not np.isnan(result.interval).any()
    assert not np.isnan(result.score_interval).any()
    json.dumps(result.to_dict(), allow_nan=False)


def test_it_says_cost():
    y_true, preds = simulate(4, 400)
    result = compare_costs(y_true, dict(zip("abcd", preds, strict=True)), COST_3)
    text, board = str(result), result.leaderboard
    assert "cost-sensitive test (likelihood ratio)" in text
    assert "cost-sensitive test (chi-square)" in str(
        compare_costs(y_true, preds, COST_3, method="chi-square")
    )
    assert f" 1 {board.names[0]} {board.score[0]:.4g} " in " ".join(text.split())
    assert "accuracy" not in text + result._repr_html_()
    told = result.to_dict()
    assert told["leaderboard"]["cost"] == board.score.tolist()
    assert "accuracy" not in told["leaderboard"]
