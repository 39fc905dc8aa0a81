"""Studies from options to records; the correlations of disagreements."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from fastcmp.designs import two_fold
from fastcmp.studies import algorithms, populations, run
from fastcmp.studies.algorithms import predict_folds
from fastcmp.studies.correlation_study import correlations, disagreements
from fastcmp.studies.epsilon_folds import epsilon_pvalues
from fastcmp.studies.problems import data_seed
from fastcmp.studies.run import Options, correlation, errors, power, table5

STUDIES = [table5, power, errors, correlation]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"replications": 0}, ValueError, "replications must be .*>= 1, got 0"),
        ({"replications": 2.0}, TypeError, "replications must be a whole number"),
        ({"rng": -1}, ValueError, "rng must be a whole number in .*, got -1"),
        ({"rng": 2**30}, ValueError, "rng must be below 1073741824, got 1073741824"),
        ({"rng": "one"}, TypeError, "rng must be a whole number, a numpy.random"),
        ({"workers": 0}, ValueError, "workers must be at least 1, got 0"),
        ({"workers": 1.5}, TypeError, "workers must be a whole number"),
        ({"steps": 1}, ValueError, "steps must be .*>= 2, got 1"),
        ({"n_sets": 1}, ValueError, "n_sets must be .*>= 2, got 1"),
        ({"dataset": "exp7"}, ValueError, "dataset must be one of .*got 'exp7'"),
    ],
)
def test_bad_options_are_refused_at_once(options, error, said):
    with pytest.raises(error, match=said):
        Options(**options)


def test_seeds_are_drawn_and_kept():
    drawn = Options(rng=np.random.default_rng(3))
    assert 0 <= drawn.seed < 2**30
    assert replace(drawn, replications=2).seed == drawn.seed
    assert Options().seed == 1
    assert Options(rng=None).seed != Options(rng=None).seed


def test_all_seeds_that_are_allowed_work():
    assert table5(Options(replications=2, rng=2**30 - 1, workers=1)).seed == 2**30 - 1
    found = run.problem_pvalues([run.find_contest("iris").problem(1.0)], 2**30 - 1, 0, 1)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("study", [power, errors])
def test_epsilon_has_nothing_to_vary(study):
    with pytest.raises(ValueError, match=r"epsilon has fixed error rates.*'exp6'"):
        study(Options())


@pytest.mark.parametrize("study", [table5, power, errors])
def test_data_that_are_missing(study):
    with pytest.raises(ValueError, match="letter needs path"):
        study(Options(dataset="letter"))


def test_correlations_need_two_data_sets():
    with pytest.raises(ValueError, match="replications must be at least 2, got 1"):
        correlation(Options(replications=1))


def test_missing_letters_are_missed_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(Options, "run", lambda *_, **__: pytest.fail("it worked"))
    with pytest.raises(FileNotFoundError, match="none"):
        correlation(Options(path=tmp_path / "none"))


# The type I errors.


@pytest.mark.parametrize("workers", [1, 2])
def test_epsilon_is_the_same_for_any_workers_and_stops(tmp_path, workers):
    options = Options(replications=1200, workers=workers, folder=tmp_path, rng=4)
    short = table5(replace(options, replications=700))
    study = table5(options)
    expected = epsilon_pvalues(300, 0.1, 4, 0, 1200)
    np.testing.assert_array_equal(study.pvalues, expected)
    np.testing.assert_array_equal(short.pvalues, expected[:700])
    assert (study.dataset, study.seed, study.replications) == ("epsilon", 4, 1200)
    assert (tmp_path / "table5-epsilon.rows").is_file()


def test_another_seed_does_not_go_on(tmp_path):
    options = Options(replications=20, workers=1, folder=tmp_path)
    table5(options)
    with pytest.raises(ValueError, match="seed = 1, asked for was 2"):
        table5(replace(options, rng=2))


@pytest.mark.parametrize("name", ["breast-cancer", "wine", "iris"])
def test_bundled_records(name, tmp_path):
    options = Options(dataset=name, replications=2, n_sets=10, workers=1, folder=tmp_path)
    told = []
    study = table5(replace(options, progress=lambda *step: told.append(step)))
    assert study.pvalues.shape == (2, 14)
    assert ((study.pvalues >= 0) & (study.pvalues <= 1)).all()
    assert "Both error rates are equal at upsilon =" in study.setting
    assert np.isnan(study.printed).all()
    assert told[-1] == (2, 2)
    assert len(told) > 10  # the search for the null hypothesis is told too
    again = table5(replace(options, replications=3))
    np.testing.assert_array_equal(again.pvalues[:2], study.pvalues)


@pytest.mark.full
@pytest.mark.parametrize("name", ["digits", "exp6", "simple"])
def test_larger_records(name):
    study = table5(Options(dataset=name, replications=4, n_sets=10))
    one = table5(Options(dataset=name, replications=4, n_sets=10, workers=1))
    np.testing.assert_array_equal(study.pvalues, one.pvalues)


def test_another_null_hypothesis_does_not_go_on(tmp_path):
    options = Options(dataset="iris", replications=1, n_sets=10, workers=1, folder=tmp_path)
    table5(options)
    with pytest.raises(ValueError, match="holds a study with upsilon = "):
        table5(replace(options, n_sets=12))


# Power and error rates.


@pytest.mark.full
def test_power_and_errors_share_their_values(tmp_path):
    options = Options(dataset="iris", replications=2, n_sets=8, steps=3, workers=1, folder=tmp_path)
    curves, rates = power(options), errors(options)
    assert curves.pvalues.shape == (2, 3, 14)
    np.testing.assert_array_equal(curves.values, rates.values)
    np.testing.assert_array_equal(curves.errors, rates.errors)
    # The first value is the null hypothesis: a column of Table V, on the same data.
    column = table5(options)
    np.testing.assert_array_equal(curves.pvalues[:, 0], column.pvalues)
    more = power(replace(options, replications=3))
    np.testing.assert_array_equal(more.pvalues[:2], curves.pvalues)
    with pytest.raises(ValueError, match="upsilon"):
        power(replace(options, steps=4))


# Correlations.


def simulated(rho1, rho2, n_sets, seed=1):
    """Normal estimates with known correlations, shape (n_sets, 5, 2)."""
    cut = np.repeat(np.arange(5), 2)
    matrix = np.where(cut[:, None] == cut, rho1, rho2)
    np.fill_diagonal(matrix, 1.0)
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_normal(np.full(10, 0.3), 0.01 * matrix, n_sets)
    return drawn.reshape(n_sets, 5, 2)


@pytest.mark.parametrize(("rho1", "rho2"), [(0.0, 0.5), (-0.3, 0.2), (0.4, 0.3), (0, 0)])
def test_correlations_of_normal_estimates(rho1, rho2):
    found = correlations(simulated(rho1, rho2, 4000))
    assert found == pytest.approx((rho1, rho2), abs=0.04)


def test_correlations_by_pairs():
    estimates = simulated(0.1, 0.3, 30)
    flat = estimates.reshape(30, 10)
    variance = flat.var(axis=0, ddof=1).mean()
    same, other = [], []
    for i, j in combinations(range(10), 2):
        covariance = np.cov(flat[:, i], flat[:, j])[0, 1]
        (same if i // 2 == j // 2 else other).append(covariance / variance)
    assert (len(same), len(other)) == (5, 40)
    expected = (np.mean(same), np.mean(other))
    assert correlations(estimates) == pytest.approx(expected, rel=1e-12)
    # Neither scale, place, nor the order of cuts, folds and data sets matters.
    rng = np.random.default_rng(1)
    moved = 3 - 2 * rng.permutation(estimates)[:, rng.permutation(5), ::-1]
    assert correlations(moved) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
def test_correlations_of_what_never_varies(value):
    assert np.isnan(correlations(np.full((7, 5, 2), value))).all()


def test_losses_that_ignore_training():
    """Of lemma 3: rho1 = 0 and rho2 = 1/2, where losses are of the records alone."""
    rng, rows = np.random.default_rng(1), []
    for replicate in range(600):
        folds = two_fold(5, blocked=True, rng=replicate).folds(200)
        differ = rng.random(200) < 0.3
        rows.append([[differ[row == k].mean() for k in (0, 1)] for row in folds])
    rho1, rho2 = correlations(np.array(rows))
    assert rho1 == pytest.approx(0.0, abs=0.1)
    assert rho2 == pytest.approx(0.5, abs=0.08)


def test_disagreements_by_hand():
    population = populations.Exp6(n=48)
    chosen = {
        "mean": algorithms.make("mean"),
        "near": algorithms.NearestNeighbour(),
        "far": algorithms.NearestNeighbour([0.01, 100.0]),
    }
    found = disagreements(population, chosen, 2, 5, 7)
    assert found.shape == (2, 30)
    X, y = population.sample(2, 6)
    folds = two_fold(5, blocked=True, rng=data_seed(2, 6)).folds(48)
    wrong = [predict_folds(each, X, y, folds) != y for each in chosen.values()]
    expected = [
        (wrong[i] != wrong[j])[r][folds[r] == k].mean()
        for i, j in combinations(range(3), 2)
        for r in range(5)
        for k in (0, 1)
    ]
    np.testing.assert_allclose(found[1], expected, rtol=1e-14)
    np.testing.assert_array_equal(disagreements(population, chosen, 2, 6, 7)[0], found[1])


def test_the_study_of_correlations(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "_AT_HAND", ("wine", "iris"))
    monkeypatch.setattr(run, "_ALGORITHMS", ("majority", "mean", "tree"))
    options = Options(replications=6, workers=1, folder=tmp_path)
    study = correlation(options)
    pairs = [("majority", "mean"), ("majority", "tree"), ("mean", "tree")]
    assert study.experiments == tuple((name, *pair) for name in ("wine", "iris") for pair in pairs)
    chosen = {name: algorithms.make(name) for name in ("majority", "mean", "tree")}
    rows = disagreements(populations.load("iris"), chosen, 1, 0, 6)
    expected = correlations(rows.reshape(6, 3, 5, 2)[:, 2])
    assert (study.rho1[5], study.rho2[5]) == expected
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == [
        "correlations-iris.rows",
        "correlations-wine.rows",
    ]
