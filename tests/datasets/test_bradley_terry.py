"""Bradley and Terry's model: other programs, direct maximisation, laws, refusals."""

from pathlib import Path

import numpy as np
import pytest
import reference_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import optimize

import fastcmp
from fastcmp.datasets import (
    bradley_terry,
    bradley_terry_from_battles,
    bradley_terry_from_scores,
    win_components,
)

# Other programs.


def assert_expected(case, result, **found):
    fields = {"strength": "strength", "se": "standard_error", "nu": "nu", "log_nu": "log_nu"}
    fields |= {"pair_difference": "difference", "pair_se": "difference_standard_error"}
    fields |= {"se_log_nu": "log_nu_standard_error"}
    for name in case["expected"]:
        value = found[name] if name in found else getattr(result, fields[name])
        assert np.asarray(value) == reference_cases.expected(case, name), name


@reference_cases.parametrize("bradley_terry")
def test_counts_as_other_programs(case):
    options = case["options"]
    given = case["input"]
    result = bradley_terry(given["wins"], given["ties"], ties_as=options["ties"])
    assert_expected(case, result, p_first_beats_second=result.win_probability(0, 1))


@reference_cases.parametrize("bradley_terry_ridge")
def test_a_ridge_as_other_programs(case):
    given, options = case["input"], case["options"]
    options = {"ties_as": options["ties"], "ridge": options["lam"]}
    assert_expected(case, bradley_terry(given["wins"], given["ties"], **options))


@reference_cases.parametrize("bradley_terry_sandwich")
def test_the_sandwich_as_other_programs(case):
    given, options = case["input"], case["options"]
    scale = options["elo"]
    known = {"ties_as": options["ties"], "alpha": 1 - options["confidence"]}
    result = bradley_terry(given["wins"], given["ties"], covariance="sandwich", **known)
    elo = result.elo(**scale, confidence_level=options["confidence"])
    assert_expected(case, result, elo=elo.rating, elo_lower=elo.low, elo_upper=elo.high)


@reference_cases.parametrize("bradley_terry_cluster")
def test_clusters_as_other_programs(case):
    given, options = case["input"], {"ties_as": case["options"]["ties"]}
    options["lower_is_better"] = not given["higher_is_better"]
    result = bradley_terry_from_scores(given["scores"], **options)
    naive = bradley_terry_from_scores(given["scores"], covariance="information", **options)
    assert_expected(case, result, pair_se_naive=naive.difference_standard_error)


@reference_cases.parametrize("davidson")
def test_davidson_as_other_programs(case):
    given = case["input"]
    result = bradley_terry(given["wins"], given["ties"], ties_as="davidson")
    assert_expected(case, result)


@reference_cases.parametrize("bt_connectivity")
def test_components_as_other_programs(case):
    given, wanted = case["input"], case["expected"]
    found = win_components(given["wins"], given["ties"])
    assert [*map(list, found.strong_components)] == wanted["strong_components"]
    assert [*map(list, found.weak_components)] == wanted["weak_components"]
    assert found.mle_exists == wanted["mle_exists"]
    if found.mle_exists:
        assert np.isfinite(bradley_terry(given["wins"], given["ties"]).strength).all()
    else:
        with pytest.raises(ValueError, match="wins do not determine the strengths"):
            bradley_terry(given["wins"], given["ties"])


# Direct maximisation, and battles one by one.


def probabilities(theta, i, j, ties_as):
    """Probabilities that i beats j, that j beats i, and of a tie."""
    p, q = np.exp(theta[i]), np.exp(theta[j])
    middle = np.exp(theta[-1]) * np.sqrt(p * q) if ties_as == "davidson" else 0.0
    return np.array([p, q, middle]) / (p + q + middle)


def log_likelihood(theta, battles, ties_as, ridge):
    m = max(max(i, j) for i, j, *_ in battles) + 1
    total = -ridge / 2 * np.sum(theta[:m] ** 2)
    for i, j, points, weight, *_ in battles:
        win, lose, tie = probabilities(theta, i, j, ties_as)
        if points != 0.5:
            total += weight * np.log(win if points else lose)
        elif ties_as == "davidson":
            total += weight * np.log(tie)
        elif ties_as == "half":
            total += weight * (np.log(win) + np.log(lose)) / 2
    return total


def numeric(function, x, eps=1e-5):
    steps = np.eye(x.size) * eps
    return np.array([(function(x + h) - function(x - h)) / (2 * eps) for h in steps])


def naive(battles, m, ties_as="half", ridge=0.0):
    """Maximise by BFGS; give estimates, the information and scores of battles."""
    size = m + (ties_as == "davidson")

    def value(theta):
        # Strengths of sum zero: any other has the same likelihood.
        return log_likelihood(theta, battles, ties_as, ridge) - theta[:m].sum() ** 2

    found = optimize.minimize(
        lambda x: -value(x), np.zeros(size), method="BFGS", options={"gtol": 1e-9}
    ).x
    found[:m] -= found[:m].mean()

    def one(k):
        return numeric(
            lambda x: log_likelihood(x, [battles[k], (m - 1, 0, 0.0, 0.0)], ties_as, 0), found
        )

    scores = np.array([one(k) for k in range(len(battles))])
    information = -numeric(
        lambda x: numeric(lambda y: log_likelihood(y, battles, ties_as, ridge), x, 1e-4),
        found,
        1e-4,
    )
    return found, information, scores


def inverse(information, m):
    """Invert on strengths of sum zero."""
    size = len(information)
    basis = np.zeros((size, size - 1))
    basis[:m, : m - 1] = np.linalg.svd(np.ones((1, m)))[2][1:].T
    if size > m:
        basis[m, m - 1] = 1
    return basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T


def draw_battles(rng, m=4, n=60):
    found = []
    for k in range(n):
        i, j = rng.choice(m, 2, replace=False)
        points = rng.choice([1.0, 0.5, 0.0], p=[0.5, 0.2, 0.3] if i < j else [0.3, 0.2, 0.5])
        found.append((int(i), int(j), float(points), float(rng.integers(1, 4)), k // 5))
    return found


def as_columns(battles):
    first, second, points, weight, item = zip(*battles, strict=True)
    return {
        "model_a": [f"m{i}" for i in first],
        "model_b": [f"m{j}" for j in second],
        "result": points,
        "weight": weight,
        "item": item,
    }


NAMES = ["m0", "m1", "m2", "m3"]


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("ties_as", ["half", "ignored", "davidson"])
def test_battles_as_by_direct_maximisation(ties_as, ridge):
    battles = draw_battles(np.random.default_rng(4))
    theta, information, scores = naive(battles, 4, ties_as, ridge)
    bread = inverse(information, 4)
    options = {"names": NAMES, "ties_as": ties_as, "ridge": ridge}
    table = as_columns(battles)
    items = np.array(table["item"])
    meats = {
        "information": information,
        "sandwich": scores.T @ scores,
        "clustered": sum(np.outer(*[scores[items == k].sum(axis=0)] * 2) for k in set(items)),
    }
    for covariance, meat in meats.items():
        result = bradley_terry_from_battles(table, covariance=covariance, **options)
        assert np.allclose(result.strength, theta[:4], atol=1e-6)
        wanted = bread if covariance == "information" else bread @ meat @ bread
        assert np.allclose(result.covariance, wanted[:4, :4], atol=1e-5)
        if ties_as == "davidson":
            assert np.isclose(result.log_nu, theta[4], atol=1e-6)
            assert np.isclose(result.log_nu_standard_error**2, wanted[4, 4], rtol=1e-4)


@pytest.mark.parametrize("ties_as", ["half", "ignored", "davidson"])
@pytest.mark.parametrize("covariance", ["information", "sandwich", "clustered"])
def test_scores_counts_and_battles_agree(ties_as, covariance):
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 5, (4, 40)) + np.arange(4)[:, None] / 2 // 1
    scores = np.where(rng.random(scores.shape) < 0.1, np.nan, scores)
    groups = np.arange(40) // 2
    rows = [
        (i, j, 0.5 + 0.5 * np.sign(scores[i, t] - scores[j, t]), 1.0, groups[t])
        for t in range(40)
        for i in range(4)
        for j in range(i)
        if np.isfinite(scores[i, t] - scores[j, t])
    ]
    options = {"ties_as": ties_as, "covariance": covariance}
    ours = bradley_terry_from_scores(scores, missing="pairs", groups=groups, names=NAMES, **options)
    others = [bradley_terry_from_battles(as_columns(rows), names=NAMES, **options)]
    if covariance != "clustered":
        wins, ties = np.zeros((2, 4, 4))
        for i, j, points, *_ in rows:
            wins[i, j] += points == 1
            wins[j, i] += points == 0
            ties[[i, j], [j, i]] += points == 0.5
        others.append(bradley_terry(wins, ties, names=NAMES, **options))
    for other in others:
        assert np.allclose(ours.strength, other.strength, atol=1e-10)
        assert np.allclose(ours.covariance, other.covariance, atol=1e-10)
        assert np.isclose(ours.log_nu, other.log_nu, equal_nan=True)
        assert (ours.n_battles, ours.n_ties) == (other.n_battles, other.n_ties)


@pytest.mark.parametrize("ties_as", ["half", "ignored", "davidson"])
def test_the_bootstrap_repeats_the_fit_on_draws(ties_as):
    scores = np.random.default_rng(6).integers(0, 6, (3, 60)) + np.array([[0], [1], [1]])
    options = {"ties_as": ties_as, "covariance": "bootstrap", "n_resamples": 400}
    result = bradley_terry_from_scores(scores, rng=3, **options)
    again = bradley_terry_from_scores(scores, rng=3, workers=1, **options)
    assert result == again
    wanted = bradley_terry_from_scores(scores, ties_as=ties_as)
    ratio = result.standard_error / wanted.standard_error
    assert np.allclose(ratio, 1, atol=0.15)
    low, high = result.percentile_interval.T
    assert ((low < result.strength) & (result.strength < high)).all()
    assert (result.seed, result.n_resamples, result.n_failed) == (3, 400, 0)


# When there is an estimate.


def bounded(wins, ties):
    """Tell by linear programming whether no direction leads up without end."""
    m = len(wins)
    rows = []
    for i, j in zip(*np.nonzero(wins), strict=True):
        win = np.zeros(m + 1)
        win[i], win[j] = 1, -1
        rows += [-win, [*-win[:m] / 2, 1]]
    for i, j in zip(*np.nonzero(ties), strict=True):
        rows.append(np.append((np.eye(m)[i] - np.eye(m)[j]) / 2, -1))
    total = -np.sum(rows, axis=0)
    found = optimize.linprog(
        -total, np.array(rows), np.zeros(len(rows)), bounds=[(-1, 1)] * (m + 1)
    )
    return found.fun > -1e-9


SMALL = st.integers(2, 4).flatmap(
    lambda m: st.lists(st.sampled_from([0, 0, 0, 1]), min_size=2 * m * m, max_size=2 * m * m)
)


@settings(max_examples=150, deadline=None)
@given(SMALL)
def test_estimates_exist_where_no_direction_leads_up(cells):
    m = round((len(cells) / 2) ** 0.5)
    wins, ties = np.reshape(cells, (2, m, m)) * (1 - np.eye(m))
    ties = np.maximum(ties, ties.T)
    if not (wins.any() and ties.any()):
        return
    if len(win_components(wins, ties).weak_components) == 1 and bounded(wins, ties):
        result = bradley_terry(wins, ties, ties_as="davidson")
        assert np.abs(result.strength).max() < 50
    else:
        with pytest.raises(ValueError, match=r"do not determine|no finite estimate"):
            bradley_terry(wins, ties, ties_as="davidson")


def test_what_is_not_linked_is_named():
    never_met = np.kron(np.eye(2), [[0, 2], [3, 0]])
    with pytest.raises(ValueError, match=r"2 groups of models never met: a, b \| c, d"):
        bradley_terry(never_met, names=list("abcd"))
    with pytest.raises(ValueError, match=r"one never lost to the other.*: a \| b, c"):
        bradley_terry([[0, 3, 2], [0, 0, 1], [0, 2, 0]], names=list("abc"))
    with pytest.raises(ValueError, match="ties are ignored"):
        bradley_terry([[0, 3], [0, 0]], [[0, 1], [1, 0]], ties_as="ignored")
    result = bradley_terry([[0, 3], [0, 0]], ridge=1.0)
    assert "The ridge decides" in result.cautions[0]
    assert np.isfinite(result.strength).all()


def test_a_ridge_does_not_hide_ties_that_davidson_lacks():
    with pytest.raises(ValueError, match="there is no tie"):
        bradley_terry([[0, 3], [2, 0]], ties_as="davidson", ridge=1.0)
    with pytest.raises(ValueError, match="all battles are ties"):
        bradley_terry([[0, 0], [0, 0]], [[0, 2], [2, 0]], ties_as="davidson")
    found = bradley_terry([[0, 3], [0, 0]], [[0, 1], [1, 0]], ties_as="davidson", ridge=1)
    assert np.isfinite(found.log_nu)


# Laws.


def test_a_weight_is_a_repetition():
    battles = draw_battles(np.random.default_rng(8))
    repeated = [(*row[:3], 1.0, row[4]) for row in battles for _ in range(int(row[3]))]
    ours = bradley_terry_from_battles(as_columns(battles), names=NAMES)
    other = bradley_terry_from_battles(as_columns(repeated), names=NAMES)
    assert np.allclose(ours.covariance, other.covariance)
    assert ours.n_clusters == other.n_clusters
    table = as_columns(battles)
    del table["weight"], table["item"]
    alone = bradley_terry_from_battles(table, names=NAMES)
    assert (alone.covariance_method, alone.n_battles) == ("sandwich", 60)


def test_one_cluster_has_no_standard_errors():
    wins = {"model_a": list("aab"), "model_b": list("bba"), "result": [1, 0, 1]}
    with pytest.raises(ValueError, match="groups must hold at least 2 clusters"):
        bradley_terry_from_battles(wins | {"item": [1, 1, 1]})
    with pytest.raises(ValueError, match="one cluster only"):
        bradley_terry_from_scores([[1, np.nan], [1, 2]], missing="tasks")
    result = bradley_terry_from_scores([[1, 2, 3, 1], [2, 1, 1, 0]])
    assert "Only 4 clusters" in result.cautions[0]


def test_wrong_battles_are_refused():
    for wins, options, words in (
        ([[1, 2], [3, 0]], {}, "0 on the diagonal"),
        ([[0, 2], [3, 0]], {"ties": [[0, 1], [2, 0]]}, "symmetric"),
        ([[0, 2], [3, 0]], {"covariance": "clustered"}, "which battles belong together"),
    ):
        with pytest.raises(ValueError, match=words):
            bradley_terry(wins, **options)
    for first, second, result, words in (
        (["a"], ["a"], [1], "at least 2 models"),
        (["a", "b"], ["b", "a"], [1, 2], r"must hold 1, 0\.5 or 0, got 2 in row 1"),
    ):
        with pytest.raises(ValueError, match=words):
            bradley_terry_from_battles({"model_a": first, "model_b": second, "result": result})


def test_battles_that_are_read_without_items_have_no_clusters():
    path = Path(__file__).parents[1] / "reference" / "formats" / "battles" / "left_right.csv"
    result = bradley_terry_from_battles(fastcmp.read_battles(path))
    assert (result.covariance_method, result.n_battles) == ("sandwich", 3)


def test_columns_are_found_by_their_names():
    battles = {"a": ["x", "y"], "b": ["y", "x"], "won": [1, 1], "item": [1, 2]}
    names = {"model_a": "a", "model_b": "b", "result": "won"}
    assert bradley_terry_from_battles(battles, **names).n_clusters == 2
    assert bradley_terry_from_battles(battles, group=None, **names).n_clusters is None
    with pytest.raises(ValueError, match="weight='w' is no column"):
        bradley_terry_from_battles(battles, weight="w", **names)
    with pytest.raises(ValueError, match="model_a=None is no column"):
        bradley_terry_from_battles(battles, **names | {"model_a": None})


def test_probabilities_of_ties_are_davidsons():
    wins, ties = [[0, 6, 3], [2, 0, 4], [1, 3, 0]], [[0, 2, 1], [2, 0, 3], [1, 3, 0]]
    result = bradley_terry(wins, ties, ties_as="davidson", names=["a", "b", "c"])
    p, q = np.exp(result.score[:2])
    middle = np.exp(result.log_nu) * np.sqrt(p * q)
    assert result.tie_probability("a", "b") == pytest.approx(middle / (p + q + middle))
    win = result.win_probability()
    apart = ~np.eye(3, dtype=bool)
    total = win + win.T + result.tie_probability()
    np.testing.assert_allclose(total[apart], 1.0, rtol=1e-12)
    half = bradley_terry(wins, ties, names=["a", "b", "c"])
    assert half.tie_probability("a", "c") == 0.0
